// Geometry of COLLADA 1.4 and 1.5: sources, inputs with offsets, triangles, polylists, polygons, strips and fans.
//
// A primitive interleaves the indices of several inputs: of every `stride` numbers the one at the offset of its VERTEX
// input names a vertex. VERTEX leads over <vertices> to the POSITION source, and that over its accessor to the numbers.
#include "base/allocator.h"
#include "io/collada.h"

// ---- inputs

// child <input> of that semantic
static int32_t find_input(const kki_collada *d, int32_t element, const char *semantic) {
    int32_t input = kki_xml_first(d->xml, element, "input");
    while (input != KKI_XML_NONE) {
        const char *value = kki_xml_value(d->xml, input, "semantic");
        if (value && strcmp(value, semantic) == 0) {
            break;
        }
        input = kki_xml_next(d->xml, input, "input");
    }
    return input;
}

// the largest offset of a primitive's inputs, plus one
static kk_status find_stride(kki_collada *d, int32_t primitive, int32_t *stride) {
    *stride = 1;
    for (int32_t i = kki_xml_first(d->xml, primitive, "input"); i != KKI_XML_NONE;
         i = kki_xml_next(d->xml, i, "input")) {
        int32_t offset;
        const kk_status status = kki_collada_attribute(d, i, "offset", 0, &offset);
        if (status != KK_OK || offset > 255) {
            return status ? status
                          : kki_xml_error(d->xml, d->xml->node[i].place, d->in->error, KK_LIMIT_EXCEEDED,
                                          "offset %d of an input — more than 256 indices a vertex are no mesh", offset);
        }
        *stride = offset >= *stride ? offset + 1 : *stride;
    }
    return KK_OK;
}

static kk_status missing(const kki_collada *d, int32_t element, const char *what) {
    return kki_xml_error(d->xml, d->xml->node[element].place, d->in->error, KK_SYNTAX,
                         "<%s> leads to no %s — export the mesh again", kki_xml_name(d->xml, element), what);
}

// the source of positions of a VERTEX (over <vertices>) or POSITION input
static int32_t find_position_source(const kki_collada *d, int32_t primitive, int32_t *input) {
    *input = find_input(d, primitive, "VERTEX");
    if (*input == KKI_XML_NONE) {
        *input = find_input(d, primitive, "POSITION");
        return *input == KKI_XML_NONE ? KKI_XML_NONE : kki_collada_find(d, kki_xml_value(d->xml, *input, "source"));
    }
    const int32_t vertices = kki_collada_find(d, kki_xml_value(d->xml, *input, "source"));
    const int32_t position = vertices == KKI_XML_NONE ? KKI_XML_NONE : find_input(d, vertices, "POSITION");
    return position == KKI_XML_NONE ? KKI_XML_NONE : kki_collada_find(d, kki_xml_value(d->xml, position, "source"));
}

// ---- positions

typedef struct accessor {
    int32_t array; // element
    int32_t count, stride, offset;
} accessor;

static kk_status read_accessor(kki_collada *d, int32_t source, accessor *a) {
    const int32_t common = kki_xml_first(d->xml, source, "technique_common");
    const int32_t element = common == KKI_XML_NONE ? KKI_XML_NONE : kki_xml_first(d->xml, common, "accessor");
    if (element == KKI_XML_NONE) {
        return missing(d, source, "accessor");
    }
    a->array = kki_collada_find(d, kki_xml_value(d->xml, element, "source"));
    if (a->array == KKI_XML_NONE) {
        return missing(d, element, "float_array");
    }
    kk_status status = kki_collada_attribute(d, element, "count", 0, &a->count);
    status = status ? status : kki_collada_attribute(d, element, "stride", 1, &a->stride);
    status = status ? status : kki_collada_attribute(d, element, "offset", 0, &a->offset);
    if (status == KK_OK && (a->stride < 3 || a->stride > 255)) {
        return kki_xml_error(d->xml, d->xml->node[element].place, d->in->error, KK_UNSUPPORTED,
                             "positions with %d numbers each — they take x, y and z", a->stride);
    }
    return status;
}

// A number and a blank are at least two bytes, so a count can be checked before memory is taken.
static kk_status check_count(const kki_collada *d, const accessor *a, const kki_collada_text *text) {
    const uint64_t needed = (uint64_t)a->offset + (uint64_t)a->count * (uint64_t)a->stride;
    if (needed <= ((uint64_t)(text->c.end - text->c.at) + 1) / 2 + (uint64_t)a->stride) {
        return KK_OK;
    }
    return kki_xml_error(d->xml, d->xml->node[a->array].place, d->in->error, KK_SYNTAX,
                         "the array is shorter than the %d vertices its accessor promises — the file is damaged",
                         a->count);
}

static kk_status builder_status(const kki_collada *d, int32_t element, kk_status status) {
    if (status == KK_OK) {
        return KK_OK;
    }
    return kki_xml_error(d->xml, d->xml->node[element].place, d->in->error, status, "<%s>: %s — simplify the mesh",
                         kki_xml_name(d->xml, element), kk_status_text(status));
}

static kk_status add_positions(kki_collada *d, const accessor *a, kki_collada_text *text, const kki_affine *X) {
    double value[256] = {0};
    kk_status status = builder_status(d, a->array, kki_mesh_builder_reserve_about(d->in->builder, (size_t)a->count, 0));
    for (int32_t i = 0; i < a->offset && status == KK_OK; i++) {
        status = kki_collada_numbers(d, text, "a number before the positions", value, 1);
    }
    for (int32_t i = 0; i < a->count && status == KK_OK; i++) {
        // the last vertex need not be followed by the rest of its stride
        status = kki_collada_numbers(d, text, "a position", value, i + 1 < a->count ? (size_t)a->stride : 3);
        if (status == KK_OK) {
            const kk_vec3 p = kki_affine_point(X, (kk_vec3){value[0], value[1], value[2]});
            status = builder_status(d, a->array, kki_mesh_builder_add_vertex(d->in->builder, p));
        }
    }
    return status;
}

// positions are added once for all primitives of a geometry
static kk_status use_positions(kki_collada *d, int32_t source, const kki_affine *X) {
    accessor a = {KKI_XML_NONE, 0, 3, 0};
    if (source == d->source) {
        return KK_OK;
    }
    kk_status status = read_accessor(d, source, &a);
    if (status != KK_OK) {
        return status;
    }
    kki_collada_text text = kki_collada_text_of(d, a.array);
    status = check_count(d, &a, &text);
    status = status ? status : kki_collada_work(d, a.array, (size_t)(text.c.end - text.c.at));
    d->first_vertex = d->in->builder->vertex_count;
    d->vertex_count = a.count;
    status = status ? status : add_positions(d, &a, &text, X);
    d->source = status ? KKI_XML_NONE : source;
    return status;
}

// ---- corners

// the indices of one <p>, of which those at `offset` count
typedef struct corners {
    kki_collada_text text;
    int32_t element, stride, offset;
    bool mirror;
} corners;

// The next corner as a vertex of the builder; *is_end where no full set of indices is left.
static kk_status next_corner(kki_collada *d, corners *s, int32_t *vertex, bool *is_end) {
    for (int32_t i = 0; i < s->stride; i++) {
        int32_t index = 0;
        const kk_status status = kki_collada_index(d, &s->text, &index, is_end);
        if (status != KK_OK || *is_end) {
            return status;
        }
        if (i == s->offset && index >= d->vertex_count) {
            const uint32_t at = (uint32_t)(s->text.c.at - s->text.start);
            return kki_xml_error(d->xml, kki_xml_place_in_text(d->xml, s->text.node, at), d->in->error, KK_SYNTAX,
                                 "index %d names a vertex, and there are %d — the file is damaged", index,
                                 d->vertex_count);
        }
        *vertex = i == s->offset ? d->first_vertex + index : *vertex;
    }
    return KK_OK;
}

static kk_status add_face(const kki_collada *d, const corners *s, int32_t a, int32_t b, int32_t c) {
    const kk_status status = kki_mesh_builder_add_face(d->in->builder, a, s->mirror ? c : b, s->mirror ? b : c);
    return builder_status(d, s->element, status);
}

typedef enum run { RUN_TRIANGLES, RUN_STRIP, RUN_FAN } run;

// triangles as they follow from the sequence of corners
static kk_status read_run(kki_collada *d, corners *s, run kind) {
    int32_t a = 0, b = 0, c = 0;
    bool is_end = false;
    kk_status status = KK_OK;
    for (int32_t n = 0; status == KK_OK; n++) {
        status = next_corner(d, s, &c, &is_end);
        if (status != KK_OK || is_end) {
            break;
        }
        const bool is_face = kind == RUN_TRIANGLES ? n % 3 == 2 : n >= 2;
        const bool turned = kind == RUN_STRIP && (n & 1) != 0;
        if (is_face) {
            status = add_face(d, s, turned ? b : a, turned ? a : b, c);
        }
        const bool keeps_first = kind == RUN_FAN && n > 0;
        a = keeps_first ? a : b;
        b = c;
        if (kind == RUN_FAN && n == 0) {
            a = c;
        }
    }
    return status;
}

static kk_status ensure_corners(kki_collada *d, int32_t element, size_t count) {
    if (count <= d->corner_room) {
        return KK_OK;
    }
    const size_t room = 2 * count;
    int32_t *corner = kki_allocate_array(&d->in->allocator, room, sizeof *corner);
    if (!corner) {
        return builder_status(d, element, KK_OUT_OF_MEMORY);
    }
    if (d->corner) {
        memcpy(corner, d->corner, d->corner_room * sizeof *corner);
    }
    kki_release_array(&d->in->allocator, d->corner, d->corner_room, sizeof *corner);
    d->corner = corner;
    d->corner_room = room;
    return KK_OK;
}

static void turn_corners(int32_t *corner, int32_t count) {
    for (int32_t i = 0, k = count - 1; i < k; i++, k--) {
        const int32_t swap = corner[i];
        corner[i] = corner[k];
        corner[k] = swap;
    }
}

// A polygon of `count` corners; of as many as there are for a negative count.
static kk_status read_polygon(kki_collada *d, corners *s, int32_t count) {
    int32_t n = 0;
    bool is_end = false;
    while (count < 0 || n < count) {
        kk_status status = ensure_corners(d, s->element, (size_t)n + 1);
        status = status ? status : next_corner(d, s, &d->corner[n], &is_end);
        if (status != KK_OK) {
            return status;
        }
        if (is_end) {
            break;
        }
        n++;
    }
    if (n < count) {
        return kki_xml_error(d->xml, d->xml->node[s->element].place, d->in->error, KK_SYNTAX,
                             "<p> ends before the polygons that vcount promises — the file is damaged");
    }
    if (s->mirror) {
        turn_corners(d->corner, n);
    }
    return n < 3 ? KK_OK : builder_status(d, s->element, kki_mesh_builder_add_polygon(d->in->builder, d->corner, n));
}

static kk_status read_polylist(kki_collada *d, corners *s, int32_t primitive) {
    const int32_t element = kki_xml_first(d->xml, primitive, "vcount");
    if (element == KKI_XML_NONE) {
        return missing(d, primitive, "vcount");
    }
    kki_collada_text counts = kki_collada_text_of(d, element);
    kk_status status = kki_collada_work(d, element, (size_t)(counts.c.end - counts.c.at));
    while (status == KK_OK) {
        int32_t count = 0;
        bool is_end = false;
        status = kki_collada_index(d, &counts, &count, &is_end);
        if (status != KK_OK || is_end) {
            break;
        }
        status = read_polygon(d, s, count);
    }
    return status;
}

// ---- primitives

static kk_status read_indices(kki_collada *d, int32_t primitive, corners *s) {
    const char *name = kki_xml_name(d->xml, primitive);
    if (strcmp(name, "polylist") == 0) {
        return read_polylist(d, s, primitive);
    }
    if (strcmp(name, "polygons") == 0) {
        return read_polygon(d, s, -1);
    }
    return read_run(d, s, name[3] == 's' ? RUN_STRIP : name[3] == 'f' ? RUN_FAN : RUN_TRIANGLES);
}

static kk_status read_lists(kki_collada *d, int32_t primitive, corners *s) {
    kk_status status = KK_OK;
    for (int32_t p = kki_xml_first(d->xml, primitive, "p"); p != KKI_XML_NONE && status == KK_OK;
         p = kki_xml_next(d->xml, p, "p")) {
        s->element = p;
        s->text = kki_collada_text_of(d, p);
        status = kki_collada_work(d, p, (size_t)(s->text.c.end - s->text.c.at));
        status = status ? status : read_indices(d, primitive, s);
    }
    const int32_t with_holes = kki_xml_first(d->xml, primitive, "ph");
    if (status == KK_OK && with_holes != KKI_XML_NONE) {
        return kki_xml_error(d->xml, d->xml->node[with_holes].place, d->in->error, KK_UNSUPPORTED,
                             "polygons with holes are not supported — triangulate the mesh on export");
    }
    return status;
}

static kk_status start_part(kki_collada *d, int32_t geometry, int32_t instance, int32_t primitive) {
    const char *name = kki_xml_value(d->xml, geometry, "name"), *id = kki_xml_value(d->xml, geometry, "id");
    int32_t material = -1;
    const kk_status status = kki_collada_material(d, instance, kki_xml_value(d->xml, primitive, "material"), &material);
    name = name ? name : id ? id : "";
    return status
               ? status
               : builder_status(d, primitive, kki_mesh_builder_set_part(d->in->builder, name, strlen(name), material));
}

static kk_status read_primitive(kki_collada *d, int32_t geometry, int32_t instance, int32_t primitive,
                                const kki_affine *X) {
    corners s = {.mirror = kki_affine_mirrors(X)};
    int32_t input;
    if (kki_xml_first(d->xml, primitive, "p") == KKI_XML_NONE &&
        kki_xml_first(d->xml, primitive, "ph") == KKI_XML_NONE) {
        return KK_OK; // count="0"
    }
    const int32_t source = find_position_source(d, primitive, &input);
    if (source == KKI_XML_NONE) {
        return missing(d, primitive, "source of positions");
    }
    kk_status status = find_stride(d, primitive, &s.stride);
    status = status ? status : kki_collada_attribute(d, input, "offset", 0, &s.offset);
    status = status ? status : use_positions(d, source, X);
    status = status ? status : start_part(d, geometry, instance, primitive);
    d->in->builder->tidying.mirrored_parts += s.mirror;
    return status ? status : read_lists(d, primitive, &s);
}

static bool is_primitive(const kki_collada *d, int32_t element) {
    static const char *const NAMES[] = {"triangles", "polylist", "polygons", "tristrips", "trifans"};
    for (int i = 0; i < 5; i++) {
        if (kki_xml_is(d->xml, element, NAMES[i])) {
            return true;
        }
    }
    return false;
}

kk_status kki_collada_geometry(kki_collada *d, int32_t geometry, int32_t instance, const kki_affine *X) {
    const int32_t mesh = kki_xml_first(d->xml, geometry, "mesh");
    kk_status status = kki_collada_work(d, geometry, 64);
    d->source = KKI_XML_NONE; // another place, other vertices
    if (mesh == KKI_XML_NONE) {
        return status; // a spline or a convex_mesh that names another
    }
    for (int32_t e = kki_xml_first(d->xml, mesh, NULL); e != KKI_XML_NONE && status == KK_OK;
         e = kki_xml_next(d->xml, e, NULL)) {
        status = is_primitive(d, e) ? read_primitive(d, geometry, instance, e, X) : kki_collada_work(d, e, 8);
    }
    return status;
}
