/// MJCF's <attach>: a body, a frame or the whole of another model takes the element's place, in a frame of its own, and what
/// refers to it comes along behind the main model's sections.
///
/// The models of <asset><model> are read as files of their own, their includes and attachments first. Names and references get the
/// prefix where they are copied; "world" stays the world. An element outside the tree of bodies comes along if everything it refers
/// to does, as in MuJoCo. Default classes hang below the attached model's own outermost class, not below the parent's.
#include "io/mjcf_attach.h"

#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/print.h"
#include "io/mjcf.h"
#include "io/name_table.h"
#include "io/path.h"
#include "io/text.h"
#include "io/xml_build.h"

enum { MOST_DEPTH = 16, MOST_BYTES = 256 << 20, MOST_STRINGS = 1 << 29, MOST_NODES = 32 << 20, MOST_TEXTS = 1 << 29 };

/// A model of the assets, read where it is first attached.
typedef struct child {
    const char *name;
    int32_t node; ///< <model>
    char path[KKI_PATH_SIZE];
    kki_xml *file, *whole; ///< whole: with includes, NULL where it has none
    kki_mjcf_tree tree;
    uint32_t base; ///< of its places in the result
    bool is_read;
} child;

/// One <attach>.
typedef struct use {
    int child; ///< −1: this model itself
    const char *prefix, *main_class;
    int32_t node;       ///< <attach>
    int32_t first, end; ///< what is attached, in the child's tree, or in the result for the model itself
    int32_t to, to_end; ///< the frame round it in the result
    int scope;          ///< of the child's main model
    bool is_whole;      ///< the contents of its world
    bool is_again;      ///< the same model had this prefix before: classes, assets and keyframes are there
} use;

/// Nodes that were copied in a row.
typedef struct piece {
    int use;
    int32_t first, end, to;
} piece;

typedef struct attacher {
    kki_loader *loader;
    kk_error *error;
    const kki_xml *xml; ///< the model, with includes in place
    kki_xml *result;
    kki_mjcf_tree *tree;
    child *child;
    use *use;
    piece *piece;
    int child_count, child_room, use_count, use_room, piece_count, piece_room, depth;
    const struct attacher *outer; ///< whose model this is read for
    const char *path;
    kki_name_table inside; ///< names of what is attached, with a letter for their kind
} attacher;

// ---- reports and memory

static kk_status no_room(const attacher *x, kk_status status) {
    return kki_error_set(x->error, status,
                         status == KK_OUT_OF_MEMORY ? "no memory to attach models"
                                                    : "the model with what is attached is too large; attach less");
}

static kk_status fail(const attacher *x, int32_t node, const char *attribute, kk_status status, const char *text,
                      const char *name) {
    const int32_t a = attribute ? kki_xml_find(x->xml, node, attribute) : KKI_XML_NONE;
    const uint32_t place = a == KKI_XML_NONE ? x->xml->node[node].place : x->xml->attribute[a].value_place;
    return kki_xml_error(x->xml, place, x->error, status, "%s%s", text, kki_shorten_string(name).text);
}

static bool make_room(const attacher *x, void **array, int count, int *room, size_t size) {
    if (count < *room) {
        return true;
    }
    const int larger = *room ? 2 * *room : 8;
    void *moved = kki_allocate_array_zeroed(&x->loader->allocator, (size_t)larger, size);
    if (!moved) {
        return false;
    }
    if (*array) {
        memcpy(moved, *array, (size_t)count * size);
        kki_release_array(&x->loader->allocator, *array, (size_t)*room, size);
    }
    *array = moved;
    *room = larger;
    return true;
}

#define ROOM(x, in, what) \
    make_room((x), (void **)&(in)->what, (in)->what##_count, &(in)->what##_room, sizeof *(in)->what)

/// NULL: no memory
static const char *join(attacher *x, const char *first, const char *second) {
    const size_t a = strlen(first), b = strlen(second);
    char *text = kki_pool_take(&x->tree->pool, a + b + 1);
    if (text) {
        memcpy(text, first, a);
        memcpy(text + a, second, b + 1);
    }
    return text;
}

// ---- what attributes name

/// Letters of kinds of names. Kinds of the tree of bodies and what stands on it are lower case.
enum {
    NAME = 'N',
    CLASS = 'C',
    ASSET = 'A',
    OBJECT = 'O',
    BODY = 'b',
    JOINT = 'j',
    GEOM = 'g',
    SITE = 's',
    CAMERA = 'c',
    TENDON = 't',
    ACTUATOR = 'a',
};

static int kind_of_attribute(const char *name) {
    static const kki_keyword words[] = {
        {"name", NAME},      {"class", CLASS},   {"childclass", CLASS},    {"mesh", ASSET},
        {"hfield", ASSET},   {"texture", ASSET}, {"material", ASSET},      {"objname", OBJECT},
        {"refname", OBJECT}, {"body", BODY},     {"target", BODY},         {"subtree", BODY},
        {"joint", JOINT},    {"geom", GEOM},     {"jointinparent", JOINT}, {"site", SITE},
        {"refsite", SITE},   {"sidesite", SITE}, {"cranksite", SITE},      {"slidersite", SITE},
        {"camera", CAMERA},  {"tendon", TENDON}, {"actuator", ACTUATOR},   {NULL, 0}};
    size_t length = strlen(name);
    length -= length > 1 && (name[length - 1] == '1' || name[length - 1] == '2') ? 1 : 0;
    for (int i = 0; words[i].word; i++) {
        if (strlen(words[i].word) == length && memcmp(words[i].word, name, length) == 0) {
            return words[i].value;
        }
    }
    return 0;
}

static int kind_of_object(const char *type) {
    static const kki_keyword words[] = {{"body", BODY}, {"xbody", BODY},    {"geom", GEOM},
                                        {"site", SITE}, {"camera", CAMERA}, {NULL, 0}};
    for (int i = 0; type && words[i].word; i++) {
        if (strcmp(words[i].word, type) == 0) {
            return words[i].value;
        }
    }
    return BODY;
}

/// What an attribute refers to; 0: nothing.
static int kind_at(const kki_xml *xml, int32_t node, int32_t attribute) {
    const char *name = kki_xml_string(xml, xml->attribute[attribute].name);
    const int kind = kind_of_attribute(name);
    if (kind != OBJECT) {
        return kind;
    }
    return kind_of_object(kki_xml_value(xml, node, strcmp(name, "objname") == 0 ? "objtype" : "reftype"));
}

static int kind_of_element(const char *name) {
    static const kki_keyword words[] = {{"body", BODY}, {"joint", JOINT}, {"freejoint", JOINT},
                                        {"geom", GEOM}, {"site", SITE},   {"camera", CAMERA},
                                        {NULL, 0}};
    for (int i = 0; words[i].word; i++) {
        if (strcmp(words[i].word, name) == 0) {
            return words[i].value;
        }
    }
    return 0;
}

// ---- what is inside

static kk_status put_inside(attacher *x, int kind, const char *name) {
    const char letter[2] = {(char)kind, 0};
    const char *key = name && name[0] ? join(x, letter, name) : "";
    return !key ? KK_OUT_OF_MEMORY : key[0] ? kki_name_table_set(&x->inside, key, 0) : KK_OK;
}

static kk_status collect_inside(attacher *x, const kki_xml *xml, const use *u) {
    kki_name_table_destroy(&x->inside);
    kki_name_table_create(&x->inside, &x->loader->allocator);
    kk_status status = KK_OK;
    for (int32_t i = u->first; i < u->end && status == KK_OK; i++) {
        const int kind = kki_xml_is_element(xml, i) ? kind_of_element(kki_xml_name(xml, i)) : 0;
        status = kind ? put_inside(x, kind, kki_xml_value(xml, i, "name")) : KK_OK;
    }
    return status;
}

/// Whether a name is of what is attached: its own, or that of a copy which <replicate> will make of it.
static bool is_inside(const attacher *x, int kind, const char *name) {
    char key[512];
    const size_t length = strlen(name);
    if (length + 2 > sizeof key) {
        return false;
    }
    key[0] = (char)kind;
    memcpy(key + 1, name, length + 1);
    bool is_found = kki_name_table_find(&x->inside, key) >= 0;
    const bool may_be_copy = length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9';
    for (size_t n = length - 1; may_be_copy && n > 0 && !is_found; n--) {
        key[n + 1] = 0;
        is_found = kki_name_table_find(&x->inside, key) >= 0;
    }
    return is_found;
}

static bool is_world(int kind, const char *name) {
    return kind == BODY && strcmp(name, "world") == 0;
}

typedef struct references {
    int inside, outside;
} references;

static void count_references(const attacher *x, const kki_xml *xml, int32_t node, references *r) {
    const kki_xml_node *n = &xml->node[node];
    for (int32_t i = n->first_attribute; i < n->first_attribute + n->attribute_count; i++) {
        const char *value = kki_xml_string(xml, xml->attribute[i].value);
        const int kind = kind_at(xml, node, i);
        if (kind >= 'a' && value[0] && !is_world(kind, value)) {
            const bool is_in = is_inside(x, kind, value);
            r->inside += is_in;
            r->outside += !is_in;
        }
    }
}

/// Nodes from an element to its end; they stand one after the other.
static int32_t end_of(const kki_xml *xml, int32_t node) {
    while (node != KKI_XML_NONE && xml->node[node].next == KKI_XML_NONE) {
        node = xml->node[node].parent;
    }
    return node == KKI_XML_NONE ? xml->node_count : xml->node[node].next;
}

/// Whether an element of a section comes along.
static bool comes_along(const attacher *x, const kki_xml *xml, int32_t node, const use *u) {
    references r = {0, 0};
    const int32_t end = end_of(xml, node);
    if (u->is_whole && u->child >= 0) {
        return true;
    }
    for (int32_t i = node; i < end; i++) {
        if (kki_xml_is_element(xml, i)) {
            count_references(x, xml, i, &r);
        }
    }
    const bool is_of_model = u->child >= 0 && !u->is_again; // a clock
    return u->child < 0 ? r.inside > 0 : r.outside == 0 && (r.inside > 0 || is_of_model);
}

// ---- copying

/// The value with its prefix; NULL: no memory.
static const char *renamed(attacher *x, const use *u, int kind, const char *value) {
    const bool is_self = u->child < 0;
    if (!value[0] || is_world(kind, value) || (is_self && (kind == CLASS || kind == ASSET))) {
        return value;
    }
    if (is_self && kind >= 'a' && !is_inside(x, kind, value)) {
        return value;
    }
    return kind == CLASS && strcmp(value, "main") == 0 ? u->main_class : join(x, u->prefix, value);
}

static kk_status add_attribute(attacher *x, kki_xml_attribute to, const char *name, const char *value, size_t length) {
    kk_status status = kki_xml_add_string(x->result, name, strlen(name), &to.name);
    status = status ? status : kki_xml_add_string(x->result, value, length, &to.value);
    return status ? status : kki_xml_add_attribute(x->result, &to);
}

static kk_status copy_attribute(attacher *x, const kki_xml *from, int32_t node, int32_t i, uint32_t base,
                                const use *u) {
    const kki_xml_attribute a = from->attribute[i];
    const kki_xml_attribute to = {
        .place = a.place + base, .value_place = a.value_place + base, .value_length = a.value_length};
    const char *name = kki_xml_string(from, a.name), *value = kki_xml_string(from, a.value);
    const int kind = u ? kind_at(from, node, i) : 0;
    if (from == x->result) { // its strings may move
        name = join(x, name, "");
        value = join(x, value, "");
    }
    if (!name || !value) {
        return KK_OUT_OF_MEMORY;
    }
    if (!kind) {
        return add_attribute(x, to, name, value, a.value_length);
    }
    const char *text = renamed(x, u, kind, value);
    kki_xml_attribute made = to;
    made.value_length = text ? (uint32_t)strlen(text) : 0;
    return text ? add_attribute(x, made, name, text, made.value_length) : KK_OUT_OF_MEMORY;
}

static bool is_asset_of_file(const char *name) {
    return strcmp(name, "mesh") == 0 || strcmp(name, "hfield") == 0 || strcmp(name, "texture") == 0;
}

/// A name that the file gives an asset has the prefix, too.
static const char *name_of_file(attacher *x, const use *u, const char *file) {
    const char *last = kki_path_last(file), *dot = strrchr(last, '.');
    char *stem = kki_pool_copy(&x->tree->pool, last, dot && dot != last ? (size_t)(dot - last) : strlen(last));
    return stem ? join(x, u->prefix, stem) : NULL;
}

/// What the child's file leaves unsaid, because a model's own names need no prefix.
static kk_status add_unsaid(attacher *x, const kki_xml *from, int32_t node, uint32_t base, const use *u) {
    const char *element = kki_xml_name(from, node), *own = kki_xml_value(from, node, "name");
    const char *file = kki_xml_value(from, node, "file");
    const kki_xml_attribute to = {.place = from->node[node].place + base, .value_place = from->node[node].place + base};
    const char *name = NULL, *value = NULL;
    if (strcmp(element, "default") == 0 && from->node[node].parent == KKI_XML_ROOT &&
        !kki_xml_value(from, node, "class")) {
        name = "class";
        value = u->main_class;
    } else if (is_asset_of_file(element) && !own && file && file[0]) {
        name = "name";
        value = name_of_file(x, u, file);
    }
    if (!name) {
        return KK_OK;
    }
    kki_xml_attribute made = to;
    made.value_length = value ? (uint32_t)strlen(value) : 0;
    return value ? add_attribute(x, made, name, value, made.value_length) : KK_OUT_OF_MEMORY;
}

/// The scope of the node that comes next.
static kk_status note_scope(attacher *x, int scope) {
    kki_mjcf_tree *t = x->tree;
    if (!make_room(x, (void **)&t->of, x->result->node_count, &t->of_room, sizeof *t->of)) {
        return KK_OUT_OF_MEMORY;
    }
    t->of[x->result->node_count] = scope;
    return KK_OK;
}

static kk_status copy_node(attacher *x, const kki_xml *from, int32_t node, uint32_t base, const use *u) {
    const kki_xml_node n = from->node[node];
    uint32_t text = n.text;
    kk_status status = KK_OK;
    if (x->result->node_count >= MOST_NODES || x->result->string_size >= MOST_STRINGS) {
        return KK_LIMIT_EXCEEDED;
    }
    if (from != x->result) {
        status = kki_xml_add_string(x->result, kki_xml_string(from, n.text), n.length, &text);
    }
    if (status == KK_OK && n.attribute_count < 0) {
        return kki_xml_add_text(x->result, n.place + base, text, n.length);
    }
    status = status ? status : kki_xml_open_element(x->result, n.place + base, text, n.length);
    for (int32_t i = n.first_attribute; i < n.first_attribute + n.attribute_count && status == KK_OK; i++) {
        status = copy_attribute(x, from, node, i, base, u);
    }
    return status == KK_OK && u && u->child >= 0 ? add_unsaid(x, from, node, base, u) : status;
}

/// Nodes first … end − 1, which are whole elements beside each other.
static kk_status copy_nodes(attacher *x, const use *u, int32_t first, int32_t end) {
    const child *c = u->child < 0 ? NULL : &x->child[u->child];
    const bool is_from_result = !c && first >= 0 && u->first == first;
    const kki_xml *from = c ? c->tree.xml : is_from_result ? x->result : x->xml;
    int32_t open = from->node[first].parent;
    const int32_t top = open;
    kk_status status = KK_OK;
    for (int32_t i = first; i < end && status == KK_OK; i++) {
        for (; open != from->node[i].parent; open = from->node[open].parent) {
            kki_xml_close_element(x->result);
        }
        const int scope = c ? u->scope + (c->tree.of ? c->tree.of[i] : 0) : is_from_result ? x->tree->of[i] : 0;
        status = note_scope(x, scope);
        status = status ? status : copy_node(x, from, i, c ? c->base : 0, u);
        open = from->node[i].attribute_count < 0 ? open : i;
    }
    for (; status == KK_OK && open != top; open = from->node[open].parent) {
        kki_xml_close_element(x->result);
    }
    return status ? no_room(x, status) : KK_OK;
}

static kk_status open_made(attacher *x, const char *name, uint32_t place, int scope) {
    uint32_t text;
    kk_status status = note_scope(x, scope);
    status = status ? status : kki_xml_add_string(x->result, name, strlen(name), &text);
    return status ? status : kki_xml_open_element(x->result, place, text, (uint32_t)strlen(name));
}

// ---- children

static kk_status expand(attacher *x);
static void release(attacher *x);

static bool is_open(const attacher *x, const char *path) {
    for (; x; x = x->outer) {
        if (strcmp(x->path, path) == 0) {
            return true;
        }
    }
    return false;
}

static kk_status find_file(attacher *x, child *c) {
    const char *file = kki_xml_value(x->xml, c->node, "file");
    kk_error own = {.status = KK_OK};
    if (!file || !file[0]) {
        return fail(x, c->node, NULL, KK_NOT_FOUND, "<model> names no file; add file=\"...\"", "");
    }
    kk_status status = kki_resolve(&x->loader->resolver, x->path, file, c->path, &own);
    if (status != KK_OK) {
        const kk_origin origin = kki_origin_of_node(x->xml, c->node);
        status = kki_resolve(&x->loader->resolver, origin.file, file, c->path, &own);
    }
    return status ? fail(x, c->node, "file", status, own.text, "") : KK_OK;
}

/// Reads its file and puts its includes in place.
static kk_status read_file(attacher *x, child *c) {
    const kki_file_source *source = &x->loader->resolver.source;
    kki_file_data data = {0};
    kk_status status = source->read(source->user, c->path, MOST_BYTES, &x->loader->allocator, &data, x->error);
    if (status != KK_OK) {
        return fail(x, c->node, "file", status, "the attached model cannot be read: ", c->path);
    }
    status = kki_loader_parse(x->loader, c->path, &data, &c->file, x->error);
    kki_file_release(&data, &x->loader->allocator);
    if (status == KK_OK && !kki_xml_is(c->file, KKI_XML_ROOT, "mujoco")) {
        return fail(x, c->node, "file", KK_UNSUPPORTED, "the attached model is no MJCF file: it starts with ",
                    kki_xml_name(c->file, KKI_XML_ROOT));
    }
    if (status == KK_OK) {
        const char *path = x->loader->path;
        x->loader->path = c->path;
        status = kki_mjcf_include(x->loader, c->file, &c->whole, x->error);
        x->loader->path = path;
    }
    return status;
}

static kk_status attach_inside(attacher *x, child *c) {
    attacher inner = {.loader = x->loader,
                      .error = x->error,
                      .xml = c->whole ? c->whole : c->file,
                      .tree = &c->tree,
                      .depth = x->depth + 1,
                      .outer = x,
                      .path = c->path};
    const kk_status status = expand(&inner);
    release(&inner);
    return status;
}

static kk_status add_sources(attacher *x, const kki_xml *xml, uint32_t *base) {
    kk_status status = KK_OK;
    int32_t first = -1;
    for (int32_t i = 0; i < xml->source_count && status == KK_OK; i++) {
        int32_t source;
        const kki_xml_source *s = &xml->source[i];
        status = kki_xml_add_source(x->result, s->file, s->text, s->length, &source);
        first = i == 0 ? source : first;
    }
    *base = status || first < 0 ? 0 : x->result->source[first].base - xml->source[0].base;
    return status ? no_room(x, status) : KK_OK;
}

static kk_status read_child(attacher *x, int index) {
    child *c = &x->child[index];
    if (c->is_read) {
        return KK_OK;
    }
    c->is_read = true;
    kk_status status = find_file(x, c);
    if (status == KK_OK && is_open(x, c->path)) {
        return fail(x, c->node, "file", KK_INVALID_ARGUMENT, "the model is attached to itself; remove one: ", c->path);
    }
    if (status == KK_OK && x->depth == MOST_DEPTH) {
        return fail(x, c->node, NULL, KK_LIMIT_EXCEEDED, "models are attached too deep; join some of them", "");
    }
    status = status ? status : read_file(x, c);
    status = status ? status : attach_inside(x, c);
    return status ? status : add_sources(x, c->tree.xml, &c->base);
}

/// The model's name is that of its file where <model> has none, so the file is read at once.
static kk_status add_child(attacher *x, int32_t node) {
    if (!ROOM(x, x, child)) {
        return no_room(x, KK_OUT_OF_MEMORY);
    }
    child *c = &x->child[x->child_count];
    *c = (child){.node = node, .name = kki_xml_value(x->xml, node, "name")};
    x->child_count++;
    if (c->name && c->name[0]) {
        return KK_OK;
    }
    const kk_status status = read_child(x, x->child_count - 1);
    const char *name = status ? NULL : kki_xml_value(c->tree.xml, KKI_XML_ROOT, "model");
    c->name = name ? name : "MuJoCo Model";
    return status;
}

static kk_status find_children(attacher *x) {
    kk_status status = KK_OK;
    for (int32_t a = kki_xml_first(x->xml, KKI_XML_ROOT, "asset"); a != KKI_XML_NONE && status == KK_OK;
         a = kki_xml_next(x->xml, a, "asset")) {
        for (int32_t c = kki_xml_first(x->xml, a, "model"); c != KKI_XML_NONE && status == KK_OK;
             c = kki_xml_next(x->xml, c, "model")) {
            status = add_child(x, c);
        }
    }
    return status;
}

// ---- one <attach>

/// An element of a name below a node, itself left out; KKI_XML_NONE: none.
static int32_t find_named(const kki_xml *xml, int32_t top, const char *element, const char *name) {
    const int32_t end = end_of(xml, top);
    for (int32_t i = top + 1; i < end; i++) {
        const char *own = kki_xml_is(xml, i, element) ? kki_xml_value(xml, i, "name") : NULL;
        if (own && strcmp(own, name) == 0) {
            return i;
        }
    }
    return KKI_XML_NONE;
}

static int32_t find_attached(const kki_xml *xml, const char *element, const char *name) {
    int32_t found = KKI_XML_NONE;
    for (int32_t w = kki_xml_first(xml, KKI_XML_ROOT, "worldbody"); w != KKI_XML_NONE && found == KKI_XML_NONE;
         w = kki_xml_next(xml, w, "worldbody")) {
        found = find_named(xml, w, element, name);
    }
    return found;
}

static bool is_being_built(const kki_xml *xml, int32_t node) {
    for (int32_t i = xml->open; i != KKI_XML_NONE; i = xml->node[i].parent) {
        if (i == node) {
            return true;
        }
    }
    return false;
}

/// What an <attach> means, but for its place in the result.
static kk_status read_use(attacher *x, int32_t node, use *u) {
    const char *model = kki_xml_value(x->xml, node, "model"), *body = kki_xml_value(x->xml, node, "body");
    const char *frame = kki_xml_value(x->xml, node, "frame");
    *u = (use){.child = -1, .node = node, .prefix = kki_xml_value(x->xml, node, "prefix"), .scope = 0};
    if (!u->prefix) {
        return fail(x, node, NULL, KK_NOT_FOUND, "<attach> needs a prefix; add prefix=\"...\"", "");
    }
    if (body && frame) {
        return fail(x, node, "frame", KK_INVALID_ARGUMENT, "<attach> names a body and a frame; leave one out", "");
    }
    for (int i = 0; model && i < x->child_count; i++) {
        u->child = strcmp(x->child[i].name, model) == 0 ? i : u->child;
    }
    if (model && u->child < 0) {
        return fail(x, node, "model", KK_NOT_FOUND, "<asset> has no model of this name; check its spelling: ", model);
    }
    if (!model && !body && !frame) {
        return fail(x, node, NULL, KK_NOT_FOUND, "<attach> says neither model nor body nor frame; add one", "");
    }
    const kk_status status = model ? read_child(x, u->child) : KK_OK;
    u->is_whole = model && !frame && (!body || strcmp(body, "world") == 0);
    if (status != KK_OK || u->is_whole) {
        return status;
    }
    const kki_xml *from = model ? x->child[u->child].tree.xml : x->result;
    u->first = find_attached(from, body ? "body" : "frame", body ? body : frame);
    if (u->first == KKI_XML_NONE) {
        return fail(x, node, body ? "body" : "frame", KK_NOT_FOUND,
                    model ? "the model has none of this name; check its spelling: "
                          : "none of this name stands before this <attach>; check its spelling: ",
                    body ? body : frame);
    }
    if (!model && is_being_built(x->result, u->first)) {
        return fail(x, node, body ? "body" : "frame", KK_INVALID_ARGUMENT,
                    "it would be attached inside itself: ", body ? body : frame);
    }
    u->end = end_of(from, u->first);
    return KK_OK;
}

/// New scopes for those of the child, or those that it has under this prefix.
static kk_status add_scopes(attacher *x, use *u) {
    if (u->child < 0) {
        return KK_OK;
    }
    const child *c = &x->child[u->child];
    for (int i = 0; i < x->use_count; i++) {
        if (x->use[i].child == u->child && strcmp(x->use[i].prefix, u->prefix) == 0) {
            u->scope = x->use[i].scope;
            u->main_class = x->use[i].main_class;
            u->is_again = true;
            return KK_OK;
        }
    }
    u->scope = x->tree->scope_count;
    for (int i = 0; i < c->tree.scope_count; i++) {
        if (!ROOM(x, x->tree, scope)) {
            return KK_OUT_OF_MEMORY;
        }
        const kki_mjcf_scope *from = &c->tree.scope[i];
        kki_mjcf_scope *made = &x->tree->scope[x->tree->scope_count];
        *made = (kki_mjcf_scope){.outer = i == 0 ? 0 : u->scope + from->outer};
        made->path = join(x, from->path, "");
        made->model = join(x, i == 0 ? c->name : from->model, "");
        made->main_class = u->prefix[0] || i > 0 ? join(x, u->prefix, from->main_class) : join(x, c->name, "/main");
        if (!made->path || !made->model || !made->main_class) {
            return KK_OUT_OF_MEMORY;
        }
        x->tree->scope_count++;
    }
    u->main_class = x->tree->scope[u->scope].main_class;
    return KK_OK;
}

/// The class that elements without one have where the attached one stands in the child.
static const char *class_round(const attacher *x, const use *u) {
    const kki_xml *from = u->child < 0 ? x->result : x->child[u->child].tree.xml;
    const char *class = NULL;
    for (int32_t i = u->is_whole ? KKI_XML_NONE : from->node[u->first].parent; i != KKI_XML_NONE && !class;
         i = from->node[i].parent) {
        class = kki_xml_value(from, i, "childclass");
        class = class && class[0] ? class : NULL;
    }
    return class ? class : "main";
}

static kk_status copy_piece(attacher *x, use *u, int32_t first, int32_t end) {
    if (!ROOM(x, x, piece)) {
        return no_room(x, KK_OUT_OF_MEMORY);
    }
    x->piece[x->piece_count++] = (piece){x->use_count, first, end, x->result->node_count};
    return first < end ? copy_nodes(x, u, first, end) : KK_OK;
}

static kk_status copy_attached(attacher *x, use *u) {
    if (!u->is_whole) {
        return copy_piece(x, u, u->first, u->end);
    }
    const kki_xml *from = x->child[u->child].tree.xml;
    kk_status status = KK_OK;
    for (int32_t w = kki_xml_first(from, KKI_XML_ROOT, "worldbody"); w != KKI_XML_NONE && status == KK_OK;
         w = kki_xml_next(from, w, "worldbody")) {
        status = copy_piece(x, u, w + 1, end_of(from, w));
    }
    return status;
}

static kk_status attach(attacher *x, int32_t node) {
    use u;
    kk_status status = read_use(x, node, &u);
    if (status != KK_OK) {
        return status;
    }
    status = add_scopes(x, &u);
    const kki_xml *from = u.child < 0 ? x->result : x->child[u.child].tree.xml;
    status = status || u.is_whole ? status : collect_inside(x, from, &u);
    const uint32_t place = x->xml->node[node].place;
    const kki_xml_attribute to = {.place = place, .value_place = place};
    const char *class = status ? NULL : renamed(x, &u, CLASS, join(x, class_round(x, &u), ""));
    status = status ? status : !class ? KK_OUT_OF_MEMORY : KK_OK;
    u.to = x->result->node_count;
    status = status ? status : open_made(x, "frame", place, u.child < 0 ? 0 : u.scope);
    if (status == KK_OK) {
        kki_xml_attribute made = to;
        made.value_length = (uint32_t)strlen(class);
        status = add_attribute(x, made, "childclass", class, made.value_length);
    }
    if (status != KK_OK) {
        return no_room(x, status);
    }
    status = copy_attached(x, &u);
    if (status == KK_OK) {
        kki_xml_close_element(x->result);
        u.to_end = x->result->node_count;
        if (!ROOM(x, x, use)) {
            return no_room(x, KK_OUT_OF_MEMORY);
        }
        x->use[x->use_count++] = u;
    }
    return status;
}

// ---- what comes along

/// Sections in the order of references: tendons before what pulls at them.
typedef struct section {
    const char *name;
    bool is_once, is_filtered;
} section;

static const section sections[] = {
    {"compiler", true, false}, {"option", true, false},  {"default", true, false},    {"extension", true, false},
    {"asset", true, false},    {"contact", false, true}, {"tendon", false, true},     {"equality", false, true},
    {"actuator", false, true}, {"sensor", false, true},  {"deformable", true, false},
};

static const kki_xml *tree_of(const attacher *x, const use *u) {
    return u->child < 0 ? x->xml : x->child[u->child].tree.xml;
}

static kk_status open_section(attacher *x, const use *u, const kki_xml *from, int32_t node) {
    const child *c = u->child < 0 ? NULL : &x->child[u->child];
    const int scope = c ? u->scope + (c->tree.of ? c->tree.of[node] : 0) : 0;
    const kk_status status = open_made(x, kki_xml_name(from, node), from->node[node].place + (c ? c->base : 0), scope);
    return status ? no_room(x, status) : KK_OK;
}

/// What can be referred to itself.
static kk_status note_named(attacher *x, const kki_xml *from, int32_t node, const char *where) {
    const int kind = strcmp(where, "tendon") == 0 ? TENDON : strcmp(where, "actuator") == 0 ? ACTUATOR : 0;
    return kind ? put_inside(x, kind, kki_xml_value(from, node, "name")) : KK_OK;
}

static kk_status copy_filtered(attacher *x, const use *u, int32_t node, const section *s, uint8_t *kept) {
    const kki_xml *from = tree_of(x, u);
    kk_status status = open_section(x, u, from, node);
    for (int32_t c = kki_xml_first(from, node, NULL); c != KKI_XML_NONE && status == KK_OK;
         c = kki_xml_next(from, c, NULL)) {
        if (comes_along(x, from, c, u)) {
            kept[c] = 1;
            status = note_named(x, from, c, s->name);
            status = status ? no_room(x, status) : copy_nodes(x, u, c, end_of(from, c));
        }
    }
    if (status == KK_OK) {
        kki_xml_close_element(x->result);
    }
    return status;
}

static kk_status copy_section(attacher *x, const use *u, const section *s, uint8_t *kept) {
    const kki_xml *from = tree_of(x, u);
    kk_status status = KK_OK;
    if (s->is_once && (u->is_again || u->child < 0)) {
        return KK_OK;
    }
    for (int32_t n = kki_xml_first(from, KKI_XML_ROOT, s->name); n != KKI_XML_NONE && status == KK_OK;
         n = kki_xml_next(from, n, s->name)) {
        status = s->is_filtered ? copy_filtered(x, u, n, s, kept) : copy_nodes(x, u, n, end_of(from, n));
    }
    return status;
}

// ---- keyframes

/// Whether a scope is another or one attached to it.
static bool is_within(const kki_mjcf_tree *t, int scope, int outer) {
    while (scope > outer) {
        scope = t->scope[scope].outer;
    }
    return scope == outer;
}

/// 'y' or 'n' for each actuator of a scope of the child. @param inner  what a model attached to the child had kept; NULL: all
static const char *control_layout(attacher *x, const use *u, int scope, const char *inner, const uint8_t *kept) {
    const kki_mjcf_tree *t = &x->child[u->child].tree;
    const kki_xml *from = t->xml;
    int count = 0;
    for (int pass = 0;; pass++) {
        char *text = pass == 0 ? NULL : kki_pool_take(&x->tree->pool, (size_t)count + strlen(inner ? inner : "") + 1);
        const char *before = inner;
        int n = 0;
        if (pass == 1 && !text) {
            return NULL;
        }
        for (int32_t s = kki_xml_first(from, KKI_XML_ROOT, "actuator"); s != KKI_XML_NONE;
             s = kki_xml_next(from, s, "actuator")) {
            for (int32_t c = kki_xml_first(from, s, NULL); c != KKI_XML_NONE; c = kki_xml_next(from, c, NULL)) {
                if (!is_within(t, t->of ? t->of[c] : 0, scope)) {
                    continue;
                }
                for (; before && *before == 'n'; before++, n++) {
                    if (text) {
                        text[n] = 'n';
                    }
                }
                before += before && *before ? 1 : 0;
                if (text) {
                    text[n] = kept[c] ? 'y' : 'n';
                }
                n++;
            }
        }
        for (; before && *before; before++, n++) {
            if (text) {
                text[n] = 'n';
            }
        }
        if (text) {
            text[n] = 0;
            return text;
        }
        count = n;
    }
}

/// Where a node of the child went; KKI_XML_NONE: nowhere.
static int32_t where_is(const attacher *x, const use *u, int32_t node) {
    for (int i = 0; i < x->piece_count; i++) {
        const piece *p = &x->piece[i];
        if (&x->use[p->use] == u && node >= p->first && node < p->end) {
            return p->to + (node - p->first);
        }
    }
    return KKI_XML_NONE;
}

/// The keyframe of a model that is attached to the child.
static bool lay_out_inner(attacher *x, const use *u, int32_t key, const uint8_t *kept, kki_mjcf_key_layout *made) {
    const kki_mjcf_tree *t = &x->child[u->child].tree;
    for (int i = 0; i < t->layout_count; i++) {
        const kki_mjcf_key_layout *l = &t->layout[i];
        if (l->key == key) {
            const int32_t first = where_is(x, u, l->first), last = where_is(x, u, l->end - 1);
            made->first = first;
            made->end = last + 1;
            made->joints = join(x, l->joints, "");
            made->controls = control_layout(x, u, t->of ? t->of[key] : 0, l->controls, kept);
            return first != KKI_XML_NONE && last != KKI_XML_NONE;
        }
    }
    return false;
}

static kk_status copy_key(attacher *x, const use *u, int32_t key, const char *joints, const uint8_t *kept) {
    const kki_mjcf_tree *t = &x->child[u->child].tree;
    kki_mjcf_key_layout made = {.first = u->to, .end = u->to_end, .joints = joints};
    if ((t->of ? t->of[key] : 0) == 0) {
        made.controls = control_layout(x, u, 0, NULL, kept);
    } else if (!lay_out_inner(x, u, key, kept, &made)) {
        return KK_OK; // what it describes did not come along
    }
    if (!made.joints || !made.controls || !ROOM(x, x->tree, layout)) {
        return no_room(x, KK_OUT_OF_MEMORY);
    }
    made.key = x->result->node_count;
    x->tree->layout[x->tree->layout_count++] = made;
    return copy_nodes(x, u, key, end_of(t->xml, key));
}

static kk_status copy_keys(attacher *x, const use *u, const uint8_t *kept) {
    const child *c = u->child < 0 || u->is_again ? NULL : &x->child[u->child];
    const kki_xml *from = c ? c->tree.xml : NULL;
    int32_t n = c ? kki_xml_first(from, KKI_XML_ROOT, "keyframe") : KKI_XML_NONE;
    const char *joints = NULL;
    kk_status status = KK_OK;
    if (n != KKI_XML_NONE) {
        status = kki_mjcf_joint_layout(x->loader, &c->tree, u->is_whole ? 0 : u->first,
                                       u->is_whole ? INT32_MAX : u->end, &x->tree->pool, &joints);
    }
    for (; n != KKI_XML_NONE && status == KK_OK; n = kki_xml_next(from, n, "keyframe")) {
        status = open_section(x, u, from, n);
        for (int32_t k = kki_xml_first(from, n, "key"); k != KKI_XML_NONE && status == KK_OK;
             k = kki_xml_next(from, k, "key")) {
            status = copy_key(x, u, k, joints, kept);
        }
        if (status == KK_OK) {
            kki_xml_close_element(x->result);
        }
    }
    return status;
}

static kk_status copy_sections(attacher *x, use *u) {
    const kki_xml *from = tree_of(x, u), *named = u->child < 0 ? x->result : from;
    const size_t count = (size_t)from->node_count;
    uint8_t *kept = kki_allocate_array_zeroed(&x->loader->allocator, count, sizeof *kept);
    kk_status status = !kept ? KK_OUT_OF_MEMORY : u->is_whole ? KK_OK : collect_inside(x, named, u);
    status = status ? no_room(x, status) : KK_OK;
    use at = *u;
    at.first = u->child < 0 ? KKI_XML_NONE : u->first; // sections come from the file, not from the result
    for (size_t i = 0; i < sizeof sections / sizeof *sections && status == KK_OK; i++) {
        status = copy_section(x, &at, &sections[i], kept);
    }
    status = status ? status : copy_keys(x, u, kept);
    kki_release_array(&x->loader->allocator, kept, count, sizeof *kept);
    return status;
}

// ---- the whole

/// The model's own nodes, with what is attached in the place of <attach>.
static kk_status copy_model(attacher *x) {
    const kki_xml *from = x->xml;
    int32_t open = KKI_XML_NONE;
    kk_status status = KK_OK;
    for (int32_t i = 0; i < from->node_count && status == KK_OK;) {
        for (; open != from->node[i].parent; open = from->node[open].parent) {
            kki_xml_close_element(x->result);
        }
        const bool is_model = kki_xml_is(from, i, "model") && kki_xml_is(from, from->node[i].parent, "asset");
        if (is_model || kki_xml_is(from, i, "attach")) {
            status = is_model ? KK_OK : attach(x, i);
            i = end_of(from, i);
            continue;
        }
        status = note_scope(x, 0);
        status = status ? status : copy_node(x, from, i, 0, NULL);
        status = status ? no_room(x, status) : KK_OK;
        open = from->node[i].attribute_count < 0 ? open : i;
        i++;
    }
    for (; status == KK_OK && open != KKI_XML_ROOT && open != KKI_XML_NONE; open = from->node[open].parent) {
        kki_xml_close_element(x->result);
    }
    return status;
}

static bool has_models(const kki_xml *xml) {
    for (int32_t i = 0; i < xml->node_count; i++) {
        const int32_t parent = xml->node[i].parent;
        if (kki_xml_is(xml, i, "attach") ||
            (kki_xml_is(xml, i, "model") && parent != KKI_XML_NONE && kki_xml_is(xml, parent, "asset"))) {
            return true;
        }
    }
    return false;
}

static kk_status begin(attacher *x) {
    kki_mjcf_tree *t = x->tree;
    *t = (kki_mjcf_tree){.xml = x->xml};
    kki_pool_create(&t->pool, &x->loader->allocator, MOST_TEXTS);
    if (!ROOM(x, t, scope)) {
        return no_room(x, KK_OUT_OF_MEMORY);
    }
    const char *path = join(x, x->path, "");
    t->scope[t->scope_count++] = (kki_mjcf_scope){.path = path, .main_class = "main", .model = "", .outer = -1};
    return path ? KK_OK : no_room(x, KK_OUT_OF_MEMORY);
}

static kk_status expand(attacher *x) {
    uint32_t base;
    kk_status status = begin(x);
    if (status != KK_OK || !has_models(x->xml)) {
        return status;
    }
    status = kki_xml_create(&x->loader->allocator, &x->tree->owned);
    if (status != KK_OK) {
        return no_room(x, status);
    }
    x->result = x->tree->owned;
    kki_name_table_create(&x->inside, &x->loader->allocator);
    status = add_sources(x, x->xml, &base);
    status = status ? status : find_children(x);
    status = status ? status : copy_model(x);
    for (int i = 0; i < x->use_count && status == KK_OK; i++) {
        status = copy_sections(x, &x->use[i]);
    }
    if (status == KK_OK) {
        kki_xml_close_element(x->result);
        x->tree->xml = x->result;
    }
    return status;
}

static void release(attacher *x) {
    const kk_allocator *a = &x->loader->allocator;
    for (int i = 0; i < x->child_count; i++) {
        kki_mjcf_tree_release(&x->child[i].tree, a);
        kki_xml_free(x->child[i].whole);
        kki_xml_free(x->child[i].file);
    }
    kki_release_array(a, x->child, (size_t)x->child_room, sizeof *x->child);
    kki_release_array(a, x->use, (size_t)x->use_room, sizeof *x->use);
    kki_release_array(a, x->piece, (size_t)x->piece_room, sizeof *x->piece);
    if (x->result) {
        kki_name_table_destroy(&x->inside);
    }
}

kk_status kki_mjcf_attach(kki_loader *loader, const kki_xml *xml, kki_mjcf_tree *tree, kk_error *error) {
    attacher x = {.loader = loader, .error = error, .xml = xml, .tree = tree, .path = loader->path};
    char path[KKI_PATH_SIZE] = "";
    const kki_file_source *source = &loader->resolver.source;
    if (source->canonical(source->user, loader->path, path) == KK_OK) {
        x.path = path;
    }
    const kk_status status = expand(&x);
    release(&x);
    return status;
}

void kki_mjcf_tree_release(kki_mjcf_tree *tree, const kk_allocator *allocator) {
    kki_xml_free(tree->owned);
    kki_release_array(allocator, tree->of, (size_t)tree->of_room, sizeof *tree->of);
    kki_release_array(allocator, tree->scope, (size_t)tree->scope_room, sizeof *tree->scope);
    kki_release_array(allocator, tree->layout, (size_t)tree->layout_room, sizeof *tree->layout);
    if (tree->scope_room > 0) {
        kki_pool_destroy(&tree->pool);
    }
}
