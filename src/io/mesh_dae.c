// COLLADA 1.4 and 1.5 (Khronos): the scene's nodes, their transforms, units and axes, materials.
//
// The visual scene is walked with a stack of nodes; instance_node may name a node many times, and even itself, so the depth
// is bounded and every step counts as work, of which a file gets an amount in proportion to its size. Units become meters
// and the up axis becomes z, unless the caller wants them kept.
#include "base/allocator.h"
#include "base/error.h"
#include "io/collada.h"
#include "io/text.h"
#include <karakuri/elementary.h>
#include <karakuri/hash.h>
#include <karakuri/number.h>

enum { MOST_DEPTH = 256, WORK_TIMES_FILE = 64, LEAST_WORK = 1 << 20 };

typedef struct visit {
    int32_t node; // XML element <node>
    int32_t depth;
    kki_affine X_WP; // of the parent
} visit;

typedef struct walk {
    kki_collada *d;
    visit *stack;
    size_t size, room;
} walk;

static bool is_certain(const unsigned char *bytes, size_t size) {
    const char *text = (const char *)bytes;
    const size_t end = size < 4096 ? size : 4096;
    bool is_xml = false;
    for (size_t i = 0; i + 8 <= end; i++) {
        is_xml = is_xml || text[i] == '<';
        if (!is_xml && (unsigned char)text[i] > ' ' && (unsigned char)text[i] < 0x80) {
            return false;
        }
        if (text[i] == '<' && memcmp(text + i + 1, "COLLADA", 7) == 0) {
            return true;
        }
    }
    return false;
}

// ---- ids

static size_t find_slot(const kki_collada *d, const char *id) {
    size_t s = (size_t)kk_hash_bytes(id, strlen(id), 0) & d->slot_mask;
    while (d->slot[s] >= 0 && strcmp(kki_xml_value(d->xml, d->slot[s], "id"), id) != 0) {
        s = (s + 1) & d->slot_mask;
    }
    return s;
}

int32_t kki_collada_find(const kki_collada *d, const char *url) {
    if (!url) {
        return KKI_XML_NONE;
    }
    return d->slot[find_slot(d, url + (url[0] == '#'))];
}

static size_t count_ids(const kki_xml *xml) {
    size_t count = 0;
    for (int32_t i = 0; i < xml->node_count; i++) {
        count += kki_xml_is_element(xml, i) && kki_xml_find(xml, i, "id") != KKI_XML_NONE;
    }
    return count;
}

// the first of several elements with one id counts
static kk_status index_ids(kki_collada *d) {
    size_t room = 16;
    while (room < 2 * count_ids(d->xml)) {
        room *= 2;
    }
    d->slot = kki_allocate_array(&d->in->allocator, room, sizeof *d->slot);
    if (!d->slot) {
        return kki_mesh_builder_error(d->in, 0, true, KK_OUT_OF_MEMORY);
    }
    memset(d->slot, 0xff, room * sizeof *d->slot);
    d->slot_mask = room - 1;
    for (int32_t i = 0; i < d->xml->node_count; i++) {
        const char *id = kki_xml_is_element(d->xml, i) ? kki_xml_value(d->xml, i, "id") : NULL;
        const size_t s = id ? find_slot(d, id) : 0;
        if (id && d->slot[s] < 0) {
            d->slot[s] = i;
        }
    }
    return KK_OK;
}

kk_status kki_collada_work(kki_collada *d, int32_t element, size_t bytes) {
    d->work += bytes;
    return d->work <= d->most_work
               ? KK_OK
               : kki_xml_error(
                     d->xml, d->xml->node[element].place, d->in->error, KK_LIMIT_EXCEEDED,
                     "the file uses its nodes or geometries too often, or in a cycle — make one mesh of them");
}

// ---- numbers

kki_collada_text kki_collada_text_of(const kki_collada *d, int32_t element) {
    int32_t n = d->xml->node[element].first_child;
    while (n != KKI_XML_NONE && kki_xml_is_element(d->xml, n)) {
        n = d->xml->node[n].next;
    }
    const char *text = n == KKI_XML_NONE ? "" : kki_xml_string(d->xml, d->xml->node[n].text);
    const size_t length = n == KKI_XML_NONE ? 0 : d->xml->node[n].length;
    return (kki_collada_text){n == KKI_XML_NONE ? element : n, text, {text, text + length}};
}

static kk_status text_error(const kki_collada *d, const kki_collada_text *text, const char *what, kk_status status) {
    const bool is_text = !kki_xml_is_element(d->xml, text->node);
    const uint32_t at = (uint32_t)(text->c.at - text->start);
    const uint32_t place = is_text ? kki_xml_place_in_text(d->xml, text->node, at) : d->xml->node[text->node].place;
    kki_cursor c = text->c;
    const kki_word w = kki_take_word(&c);
    return kki_xml_error(d->xml, place, d->in->error, status == KK_NOT_FINITE ? status : KK_SYNTAX,
                         "%s should be a finite number, found '%s' — export the mesh again", what,
                         kki_shorten(w.start, w.length).text);
}

static bool ends_word(const char *at, const char *end) {
    return at == end || kki_is_blank(*at) || (*at >= '\n' && *at <= '\r');
}

kk_status kki_collada_numbers(kki_collada *d, kki_collada_text *text, const char *what, double *value, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t used;
        kki_skip_space(&text->c);
        const kk_status status = kk_number_parse(text->c.at, (size_t)(text->c.end - text->c.at), &value[i], &used);
        if (status != KK_OK || !ends_word(text->c.at + used, text->c.end)) {
            return text_error(d, text, what, status);
        }
        text->c.at += used;
    }
    return KK_OK;
}

kk_status kki_collada_index(kki_collada *d, kki_collada_text *text, int32_t *value, bool *is_end) {
    int64_t whole = 0;
    size_t used = 0;
    kki_skip_space(&text->c);
    *is_end = text->c.at == text->c.end;
    if (*is_end) {
        return KK_OK;
    }
    const kk_status status = kk_number_parse_int(text->c.at, (size_t)(text->c.end - text->c.at), &whole, &used);
    if (status != KK_OK || whole < 0 || whole > INT32_MAX || !ends_word(text->c.at + used, text->c.end)) {
        return text_error(d, text, "an index", KK_SYNTAX);
    }
    *value = (int32_t)whole;
    text->c.at += used;
    return KK_OK;
}

kk_status kki_collada_attribute(kki_collada *d, int32_t element, const char *name, int32_t otherwise, int32_t *value) {
    const int32_t attribute = kki_xml_find(d->xml, element, name);
    int64_t whole = 0;
    size_t used = 0;
    *value = otherwise;
    if (attribute == KKI_XML_NONE) {
        return KK_OK;
    }
    const kki_xml_attribute *a = &d->xml->attribute[attribute];
    const kk_status status = kk_number_parse_int(kki_xml_string(d->xml, a->value), a->value_length, &whole, &used);
    if (status != KK_OK || used != a->value_length || whole < 0 || whole > INT32_MAX) {
        return kki_xml_error(d->xml, a->value_place, d->in->error, KK_SYNTAX,
                             "%s should be a whole number from 0 to 2147483647 — export the mesh again", name);
    }
    *value = (int32_t)whole;
    return KK_OK;
}

// ---- materials

// child of that name, KKI_XML_NONE also for no element at all
static int32_t child(const kki_collada *d, int32_t element, const char *name) {
    return element == KKI_XML_NONE ? KKI_XML_NONE : kki_xml_first(d->xml, element, name);
}

// <bind_material><technique_common><instance_material symbol target>, else the material of that id
static int32_t find_material(const kki_collada *d, int32_t instance, const char *symbol) {
    const int32_t common = child(d, child(d, instance, "bind_material"), "technique_common");
    for (int32_t i = child(d, common, "instance_material"); i != KKI_XML_NONE;
         i = kki_xml_next(d->xml, i, "instance_material")) {
        const char *value = kki_xml_value(d->xml, i, "symbol");
        if (value && strcmp(value, symbol) == 0) {
            return kki_collada_find(d, kki_xml_value(d->xml, i, "target"));
        }
    }
    return kki_collada_find(d, symbol);
}

// the color element of a material's effect, under whichever shading model
static int32_t find_diffuse(const kki_collada *d, int32_t material) {
    const int32_t instance = child(d, material, "instance_effect");
    const int32_t effect =
        instance == KKI_XML_NONE ? KKI_XML_NONE : kki_collada_find(d, kki_xml_value(d->xml, instance, "url"));
    const int32_t technique = child(d, child(d, effect, "profile_COMMON"), "technique");
    for (int32_t model = child(d, technique, NULL); model != KKI_XML_NONE; model = kki_xml_next(d->xml, model, NULL)) {
        const int32_t color = child(d, child(d, model, "diffuse"), "color");
        if (color != KKI_XML_NONE) {
            return color;
        }
    }
    return KKI_XML_NONE;
}

static kk_status set_color(kki_collada *d, int32_t element, int32_t material) {
    double color[4];
    kki_collada_text text = kki_collada_text_of(d, element);
    const kk_status status = kki_collada_numbers(d, &text, "a color", color, 4);
    if (status == KK_OK) {
        kki_mesh_builder_set_color(d->in->builder, material, color);
    }
    return status;
}

kk_status kki_collada_material(kki_collada *d, int32_t instance, const char *symbol, int32_t *id) {
    const int32_t material = symbol ? find_material(d, instance, symbol) : KKI_XML_NONE;
    *id = -1;
    if (!symbol || !symbol[0]) {
        return KK_OK;
    }
    const char *name = material == KKI_XML_NONE ? symbol : kki_xml_value(d->xml, material, "id");
    const int32_t before = d->in->builder->material_count;
    const kk_status status = kki_mesh_builder_material(d->in->builder, name, strlen(name), id);
    if (status != KK_OK) {
        return kki_mesh_builder_error(d->in, 0, true, status);
    }
    const int32_t diffuse = material == KKI_XML_NONE ? KKI_XML_NONE : find_diffuse(d, material);
    const bool is_new = d->in->builder->material_count > before;
    return is_new && diffuse != KKI_XML_NONE ? set_color(d, diffuse, *id) : KK_OK;
}

// ---- transforms

static const kki_affine IDENTITY = {{{1, 0, 0, 0, 1, 0, 0, 0, 1}}, {0, 0, 0}};

static kk_status read_matrix(kki_collada *d, int32_t element, kki_affine *X) {
    double m[16]; // by rows
    kki_collada_text text = kki_collada_text_of(d, element);
    const kk_status status = kki_collada_numbers(d, &text, "a matrix", m, 16);
    if (status == KK_OK) {
        *X = (kki_affine){{{m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]}}, {m[3], m[7], m[11]}};
    }
    return status;
}

static kk_status read_translate(kki_collada *d, int32_t element, kki_affine *X) {
    double v[3];
    kki_collada_text text = kki_collada_text_of(d, element);
    const kk_status status = kki_collada_numbers(d, &text, "a translation", v, 3);
    *X = IDENTITY;
    X->p = status ? X->p : kk_vec3_make(v[0], v[1], v[2]);
    return status;
}

// degrees about an axis that need not be of length 1
static kk_status read_rotate(kki_collada *d, int32_t element, kki_affine *X) {
    double v[4];
    kki_collada_text text = kki_collada_text_of(d, element);
    const kk_status status = kki_collada_numbers(d, &text, "a rotation", v, 4);
    *X = IDENTITY;
    if (status != KK_OK) {
        return status;
    }
    const kk_vec3 axis = {v[0], v[1], v[2]};
    const double norm = kk_vec3_norm(axis);
    if (norm > 1e-100 && norm < 1e100) {
        X->A = kk_mat3_from_axis_angle(kk_vec3_scale(axis, 1 / norm), v[3] * (KK_PI / 180));
    }
    return KK_OK;
}

static kk_status read_scale(kki_collada *d, int32_t element, kki_affine *X) {
    double v[3];
    kki_collada_text text = kki_collada_text_of(d, element);
    const kk_status status = kki_collada_numbers(d, &text, "a scale", v, 3);
    *X = IDENTITY;
    for (int k = 0; status == KK_OK && k < 3; k++) {
        X->A.m[4 * k] = v[k];
    }
    return status;
}

static kk_status read_unsupported(kki_collada *d, int32_t element, kki_affine *X) {
    *X = IDENTITY;
    return kki_xml_error(d->xml, d->xml->node[element].place, d->in->error, KK_UNSUPPORTED,
                         "<%s> is not supported — export transforms as <matrix>", kki_xml_name(d->xml, element));
}

typedef struct transform {
    const char *name;
    kk_status (*read)(kki_collada *d, int32_t element, kki_affine *X);
} transform;

static const transform TRANSFORMS[] = {
    {.name = "matrix", .read = read_matrix},    {.name = "translate", .read = read_translate},
    {.name = "rotate", .read = read_rotate},    {.name = "scale", .read = read_scale},
    {.name = "skew", .read = read_unsupported}, {.name = "lookat", .read = read_unsupported},
};

// X = X_WP times the transforms of a node, in their order
static kk_status place_node(kki_collada *d, int32_t node, kki_affine *X) {
    kk_status status = KK_OK;
    for (int32_t e = kki_xml_first(d->xml, node, NULL); e != KKI_XML_NONE && status == KK_OK;
         e = kki_xml_next(d->xml, e, NULL)) {
        for (size_t k = 0; k < sizeof TRANSFORMS / sizeof TRANSFORMS[0] && status == KK_OK; k++) {
            if (kki_xml_is(d->xml, e, TRANSFORMS[k].name)) {
                kki_affine step = IDENTITY;
                status = TRANSFORMS[k].read(d, e, &step);
                *X = kki_affine_mul(X, &step);
            }
        }
    }
    return status;
}

// ---- nodes

static kk_status push(walk *w, int32_t node, int32_t depth, const kki_affine *X) {
    kki_collada *d = w->d;
    if (depth > MOST_DEPTH) {
        return kki_xml_error(
            d->xml, d->xml->node[node].place, d->in->error, KK_LIMIT_EXCEEDED,
            "nodes in nodes more than 256 deep, or in a cycle — remove the instance_node that closes it");
    }
    if (w->size == w->room) {
        const size_t room = w->room ? 2 * w->room : 16;
        visit *stack = kki_allocate_array(&d->in->allocator, room, sizeof *stack);
        if (!stack) {
            return kki_mesh_builder_error(d->in, 0, true, KK_OUT_OF_MEMORY);
        }
        if (w->stack) {
            memcpy(stack, w->stack, w->size * sizeof *stack);
        }
        kki_release_array(&d->in->allocator, w->stack, w->room, sizeof *stack);
        w->stack = stack;
        w->room = room;
    }
    w->stack[w->size++] = (visit){node, depth, *X};
    return kki_collada_work(d, node, 64);
}

// the element that an instance_… names
static kk_status find_target(const kki_collada *d, int32_t instance, const char *kind, int32_t *target) {
    const char *url = kki_xml_value(d->xml, instance, "url");
    *target = kki_collada_find(d, url);
    if (*target != KKI_XML_NONE && kki_xml_is(d->xml, *target, kind)) {
        return KK_OK;
    }
    return kki_xml_error(d->xml, d->xml->node[instance].place, d->in->error, KK_NOT_FOUND,
                         "there is no <%s> '%s' in this file — export everything into one file", kind,
                         kki_shorten_string(url ? url : "").text);
}

static kk_status read_geometry(kki_collada *d, int32_t instance, const kki_affine *X) {
    int32_t geometry;
    const kk_status status = find_target(d, instance, "geometry", &geometry);
    return status ? status : kki_collada_geometry(d, geometry, instance, X);
}

// a skinned geometry in its bind pose
static kk_status read_controller(kki_collada *d, int32_t instance, const kki_affine *X) {
    int32_t controller;
    kki_affine bind = IDENTITY;
    kk_status status = find_target(d, instance, "controller", &controller);
    if (status != KK_OK) {
        return status;
    }
    const int32_t skin = child(d, controller, "skin");
    const int32_t geometry =
        skin == KKI_XML_NONE ? KKI_XML_NONE : kki_collada_find(d, kki_xml_value(d->xml, skin, "source"));
    const int32_t matrix = child(d, skin, "bind_shape_matrix");
    if (geometry == KKI_XML_NONE) {
        return kki_xml_error(d->xml, d->xml->node[controller].place, d->in->error, KK_UNSUPPORTED,
                             "a controller without a skin over a geometry — export plain meshes");
    }
    status = matrix == KKI_XML_NONE ? KK_OK : read_matrix(d, matrix, &bind);
    const kki_affine placed = kki_affine_mul(X, &bind);
    return status ? status : kki_collada_geometry(d, geometry, instance, &placed);
}

static kk_status read_child(walk *w, int32_t e, int32_t depth, const kki_affine *X) {
    kki_collada *d = w->d;
    if (kki_xml_is(d->xml, e, "node")) {
        return push(w, e, depth + 1, X);
    }
    if (kki_xml_is(d->xml, e, "instance_node")) {
        int32_t node;
        const kk_status status = find_target(d, e, "node", &node);
        return status ? status : push(w, node, depth + 1, X);
    }
    if (kki_xml_is(d->xml, e, "instance_geometry")) {
        return read_geometry(d, e, X);
    }
    return kki_xml_is(d->xml, e, "instance_controller") ? read_controller(d, e, X) : kki_collada_work(d, e, 8);
}

static kk_status read_node(walk *w, visit v) {
    kki_affine X = v.X_WP;
    kk_status status = place_node(w->d, v.node, &X);
    for (int32_t e = kki_xml_first(w->d->xml, v.node, NULL); e != KKI_XML_NONE && status == KK_OK;
         e = kki_xml_next(w->d->xml, e, NULL)) {
        status = read_child(w, e, v.depth, &X);
    }
    return status;
}

static kk_status walk_scene(kki_collada *d, int32_t scene, const kki_affine *X) {
    walk w = {.d = d};
    kk_status status = KK_OK;
    for (int32_t e = kki_xml_first(d->xml, scene, NULL); e != KKI_XML_NONE && status == KK_OK;
         e = kki_xml_next(d->xml, e, NULL)) {
        status = read_child(&w, e, 0, X);
        while (w.size > 0 && status == KK_OK) {
            status = read_node(&w, w.stack[--w.size]);
        }
    }
    kki_release_array(&d->in->allocator, w.stack, w.room, sizeof *w.stack);
    return status;
}

// ---- the document

static kk_status read_unit(kki_collada *d, int32_t asset, double *meters) {
    const int32_t unit = child(d, asset, "unit");
    const int32_t attribute = unit == KKI_XML_NONE ? KKI_XML_NONE : kki_xml_find(d->xml, unit, "meter");
    size_t used;
    *meters = 1;
    if (attribute == KKI_XML_NONE) {
        return KK_OK;
    }
    const kki_xml_attribute *a = &d->xml->attribute[attribute];
    const kk_status status = kk_number_parse(kki_xml_string(d->xml, a->value), a->value_length, meters, &used);
    if (status == KK_OK && used == a->value_length && *meters > 0) {
        return KK_OK;
    }
    return kki_xml_error(d->xml, a->value_place, d->in->error, KK_SYNTAX,
                         "the unit's meter should be a positive number — write meter=\"1\" for meters");
}

static kki_affine up_transform(const kki_collada *d, int32_t asset) {
    const int32_t element = child(d, asset, "up_axis");
    kki_collada_text text = kki_collada_text_of(d, element == KKI_XML_NONE ? 0 : element);
    kki_skip_space(&text.c);
    const kki_word w = element == KKI_XML_NONE ? (kki_word){"Y_UP", 4} : kki_take_word(&text.c);
    if (kki_word_is(w, "Z_UP")) {
        return IDENTITY;
    }
    // X_UP has -y to the right and z towards the viewer, where Z_UP has x and -y
    return kki_word_is(w, "X_UP") ? (kki_affine){{{0, -1, 0, 0, 0, -1, 1, 0, 0}}, {0, 0, 0}} : kki_affine_y_to_z();
}

static kk_status root_transform(kki_collada *d, kki_affine *X) {
    const int32_t asset = child(d, KKI_XML_ROOT, "asset");
    double meters;
    const kk_status status = read_unit(d, asset, &meters);
    *X = d->in->options->keep_axes ? IDENTITY : up_transform(d, asset);
    for (int i = 0; i < 9 && !d->in->options->keep_unit; i++) {
        X->A.m[i] *= meters;
    }
    return status;
}

// the scene's visual scene, or the first one of the library
static int32_t find_scene(const kki_collada *d) {
    const int32_t instance = child(d, child(d, KKI_XML_ROOT, "scene"), "instance_visual_scene");
    const int32_t scene =
        instance == KKI_XML_NONE ? KKI_XML_NONE : kki_collada_find(d, kki_xml_value(d->xml, instance, "url"));
    return scene != KKI_XML_NONE ? scene : child(d, child(d, KKI_XML_ROOT, "library_visual_scenes"), "visual_scene");
}

static kk_status read_library(kki_collada *d, const kki_affine *X) {
    const int32_t library = child(d, KKI_XML_ROOT, "library_geometries");
    kk_status status = KK_OK;
    for (int32_t g = child(d, library, "geometry"); g != KKI_XML_NONE && status == KK_OK;
         g = kki_xml_next(d->xml, g, "geometry")) {
        status = kki_collada_geometry(d, g, KKI_XML_NONE, X);
    }
    return status;
}

static kk_status read_document(kki_collada *d) {
    kki_affine X = IDENTITY;
    if (!kki_xml_is(d->xml, KKI_XML_ROOT, "COLLADA")) {
        return kki_xml_error(d->xml, d->xml->node[0].place, d->in->error, KK_SYNTAX,
                             "the root is <%s> and should be <COLLADA> — this is another kind of file",
                             kki_shorten_string(kki_xml_name(d->xml, 0)).text);
    }
    kk_status status = index_ids(d);
    status = status ? status : root_transform(d, &X);
    if (status != KK_OK) {
        return status;
    }
    const int32_t scene = find_scene(d);
    return scene == KKI_XML_NONE ? read_library(d, &X) : walk_scene(d, scene, &X);
}

static kk_status read(kki_mesh_input *in) {
    kki_collada d = {.in = in, .source = KKI_XML_NONE};
    d.most_work = WORK_TIMES_FILE * (uint64_t)in->size + LEAST_WORK;
    kk_status status =
        kki_xml_parse(in->file, (const char *)in->bytes, in->size, NULL, &in->allocator, &d.xml, in->error);
    status = status ? status : read_document(&d);
    kki_release_array(&in->allocator, d.slot, d.slot_mask + 1, sizeof *d.slot);
    kki_release_array(&in->allocator, d.corner, d.corner_room, sizeof *d.corner);
    kki_xml_free(d.xml);
    return status;
}

const kki_mesh_format kki_mesh_format_dae = {.name = "dae", .extension = "dae", .is_certain = is_certain, .read = read};
