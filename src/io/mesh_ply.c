// PLY, ASCII and binary of both byte orders (Turk, "The PLY polygon file format", 1994).
//
// The header describes elements and their properties; of these are read the vertices' x, y, z, the faces' list
// vertex_indices (or vertex_index), and Stanford's tristrips. Everything else is passed over by its type.
#include "base/allocator.h"
#include "base/print.h"
#include "io/mesh_input.h"
#include "io/text.h"

enum { MOST_ELEMENTS = 32, MOST_PROPERTIES = 256, NONE = -1 };

typedef enum type { INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT32, FLOAT64, TYPES } type;

static const struct {
    const char *name, *other_name;
    size_t size;
} TYPE[TYPES] = {
    [INT8] = {"char", "int8", 1},        [UINT8] = {"uchar", "uint8", 1},      [INT16] = {"short", "int16", 2},
    [UINT16] = {"ushort", "uint16", 2},  [INT32] = {"int", "int32", 4},        [UINT32] = {"uint", "uint32", 4},
    [FLOAT32] = {"float", "float32", 4}, [FLOAT64] = {"double", "float64", 8},
};

typedef struct property {
    kki_word name;
    int count_type; // of a list, NONE for a single value
    int type;
} property;

typedef struct element {
    kki_word name;
    size_t count, at; // `at` is where the header tells the count
    int first_property, property_count;
} element;

typedef enum encoding { ASCII, LITTLE, BIG } encoding;

typedef struct ply {
    kki_mesh_input *in;
    kki_cursor c;
    int encoding; // NONE before the format line
    int element_count, property_count;
    element element[MOST_ELEMENTS];
    property property[MOST_PROPERTIES];
    size_t vertex_count; // of all elements, as the header has it
    int32_t *corner;
    size_t corner_room;
} ply;

static bool is_certain(const unsigned char *bytes, size_t size) {
    return size > 4 && memcmp(bytes, "ply", 3) == 0 && (bytes[3] == '\n' || bytes[3] == '\r');
}

// ---- header

static kk_status header_error(const ply *p, kki_word w, const char *text) {
    return kki_mesh_error_in_text(p->in, kki_offset(p->in, w.start), KK_SYNTAX, "%s", text);
}

static kki_word header_word(ply *p) {
    kki_skip_blanks(&p->c);
    return kki_take_word(&p->c);
}

// to the start of the next line: LF, CR LF or CR
static void end_line(kki_cursor *c) {
    while (c->at < c->end && !kki_is_line_end(*c->at)) {
        c->at++;
    }
    if (c->at < c->end && *c->at++ == '\r' && c->at < c->end && *c->at == '\n') {
        c->at++;
    }
}

static int type_of(kki_word w) {
    for (int t = 0; t < TYPES; t++) {
        if (kki_word_is(w, TYPE[t].name) || kki_word_is(w, TYPE[t].other_name)) {
            return t;
        }
    }
    return NONE;
}

static kk_status read_format(ply *p) {
    const kki_word w = header_word(p);
    p->encoding = kki_word_is(w, "ascii")                  ? (int)ASCII
                  : kki_word_is(w, "binary_little_endian") ? (int)LITTLE
                  : kki_word_is(w, "binary_big_endian")    ? (int)BIG
                                                           : (int)NONE;
    return p->encoding != NONE
               ? KK_OK
               : header_error(p, w,
                              "the format is not ascii, binary_little_endian or binary_big_endian — convert the file");
}

static kk_status read_element(ply *p) {
    const kki_word name = header_word(p);
    int64_t count;
    kki_skip_blanks(&p->c);
    const size_t at = kki_offset(p->in, p->c.at);
    const kk_status status = kki_mesh_int(p->in, &p->c, "an element's count", &count);
    if (status != KK_OK) {
        return status;
    }
    // a row of an element has at least one byte, so no more rows than bytes
    if (count < 0 || (uint64_t)count > p->in->size) {
        return kki_mesh_error_in_text(p->in, at, KK_SYNTAX,
                                      "element %s has a count that the file is too short for — the file is cut off",
                                      kki_shorten(name.start, name.length).text);
    }
    if (p->element_count == MOST_ELEMENTS) {
        return header_error(p, name, "more than 32 elements — remove those that are not vertex and face");
    }
    p->element[p->element_count++] = (element){name, (size_t)count, at, p->property_count, 0};
    return KK_OK;
}

static kk_status read_property(ply *p) {
    kki_word w = header_word(p);
    property q = {w, NONE, NONE};
    if (kki_word_is(w, "list")) {
        w = header_word(p);
        q.count_type = type_of(w);
        if (q.count_type == NONE || q.count_type >= FLOAT32) {
            return header_error(p, w,
                                "a list's count must be of a whole type such as uchar or int — correct the header");
        }
        w = header_word(p);
    }
    q.type = type_of(w);
    if (q.type == NONE) {
        return header_error(
            p, w, "this is no type of PLY — take one of char, uchar, short, ushort, int, uint, float, double");
    }
    q.name = header_word(p);
    if (p->element_count == 0 || p->property_count == MOST_PROPERTIES || q.name.length == 0) {
        return header_error(p, q.name,
                            "a property without a name or an element, or more than 256 — correct the header");
    }
    p->property[p->property_count++] = q;
    p->element[p->element_count - 1].property_count++;
    return KK_OK;
}

static kk_status read_header_line(ply *p, kki_word w) {
    if (kki_word_is(w, "format")) {
        return read_format(p);
    }
    if (kki_word_is(w, "element")) {
        return read_element(p);
    }
    if (kki_word_is(w, "property")) {
        return read_property(p);
    }
    if (kki_word_is(w, "comment") || kki_word_is(w, "obj_info") || w.length == 0) {
        return KK_OK;
    }
    return header_error(p, w, "expected format, element, property, comment or end_header — the header is damaged");
}

static kk_status read_header(ply *p) {
    kk_status status = KK_OK;
    end_line(&p->c); // "ply"
    while (status == KK_OK) {
        const kki_word w = header_word(p);
        if (kki_word_is(w, "end_header")) {
            end_line(&p->c);
            return p->encoding != NONE ? KK_OK
                                       : header_error(p, w, "the header has no format line — the file is damaged");
        }
        if (p->c.at == p->c.end) {
            return header_error(p, w, "the header has no end_header — the file is cut off");
        }
        status = read_header_line(p, w);
        end_line(&p->c);
    }
    return status;
}

// ---- values

static kk_status data_error(const ply *p, const char *at, kk_status status, const char *text) {
    const size_t offset = kki_offset(p->in, at);
    return p->encoding == ASCII ? kki_mesh_error_in_text(p->in, offset, status, "%s", text)
                                : kki_mesh_error_in_binary(p->in, offset, status, "%s", text);
}

static kk_status cut_off(const ply *p) {
    return data_error(p, p->c.at, KK_SYNTAX, "the file ends before its data — it is cut off");
}

static uint64_t join_bytes(const char *at, size_t size, bool is_big) {
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++) {
        const size_t place = is_big ? size - 1 - i : i;
        bits |= (uint64_t)(unsigned char)at[i] << (8 * place);
    }
    return bits;
}

static double value_of_bits(uint64_t bits, int t) {
    double x;
    switch ((type)t) {
    case INT8: return (double)(int8_t)(uint8_t)bits;
    case INT16: return (double)(int16_t)(uint16_t)bits;
    case INT32: return (double)(int32_t)(uint32_t)bits;
    case FLOAT32: return (double)kki_float_of_bits((uint32_t)bits);
    case FLOAT64: memcpy(&x, &bits, sizeof x); return x;
    case UINT8:
    case UINT16:
    case UINT32:
    case TYPES: break;
    }
    return (double)bits;
}

static kk_status read_value(ply *p, int t, double *value) {
    if (p->encoding == ASCII) {
        kki_skip_space(&p->c);
        return p->c.at == p->c.end ? cut_off(p) : kki_mesh_number(p->in, &p->c, "a value", value);
    }
    const size_t size = TYPE[t].size;
    if ((size_t)(p->c.end - p->c.at) < size) {
        return cut_off(p);
    }
    *value = value_of_bits(join_bytes(p->c.at, size, p->encoding == BIG), t);
    p->c.at += size;
    return KK_OK;
}

// where the next value stands, for its errors
static const char *next_value(ply *p) {
    if (p->encoding == ASCII) {
        kki_skip_space(&p->c);
    }
    return p->c.at;
}

// passes over values; words of a text need not be numbers
static kk_status skip_values(ply *p, int t, size_t count) {
    if (p->encoding != ASCII) {
        if ((size_t)(p->c.end - p->c.at) / TYPE[t].size < count) {
            return cut_off(p);
        }
        p->c.at += count * TYPE[t].size;
        return KK_OK;
    }
    for (size_t i = 0; i < count; i++) {
        kki_skip_space(&p->c);
        if (kki_take_word(&p->c).length == 0) {
            return cut_off(p);
        }
    }
    return KK_OK;
}

static kk_status read_count(ply *p, const property *q, size_t *count) {
    const char *at = next_value(p);
    double value;
    const kk_status status = read_value(p, q->count_type, &value);
    if (status != KK_OK) {
        return status;
    }
    if (!(value >= 0) || value > (double)(p->c.end - p->c.at)) {
        return data_error(p, at, KK_SYNTAX, "a list is longer than the file — it is cut off or damaged");
    }
    *count = (size_t)value;
    return KK_OK;
}

static kk_status skip_property(ply *p, const property *q) {
    size_t count = 1;
    const kk_status status = q->count_type == NONE ? KK_OK : read_count(p, q, &count);
    return status ? status : skip_values(p, q->type, count);
}

// ---- elements

static kk_status skip_row(ply *p, const element *e) {
    kk_status status = KK_OK;
    for (int i = 0; i < e->property_count && status == KK_OK; i++) {
        status = skip_property(p, &p->property[e->first_property + i]);
    }
    return status;
}

static int axis_of(const property *q) {
    if (q->count_type != NONE || q->name.length != 1) {
        return NONE;
    }
    const char c = q->name.start[0];
    return c >= 'x' && c <= 'z' ? c - 'x' : NONE;
}

static kk_status read_vertex(ply *p, const element *e) {
    const char *at = p->c.at;
    double x[3] = {0, 0, 0};
    kk_status status = KK_OK;
    for (int i = 0; i < e->property_count && status == KK_OK; i++) {
        const property *q = &p->property[e->first_property + i];
        const int axis = axis_of(q);
        status = axis == NONE ? skip_property(p, q) : read_value(p, q->type, &x[axis]);
    }
    if (status != KK_OK) {
        return status;
    }
    status = kki_mesh_builder_add_vertex(p->in->builder, (kk_vec3){x[0], x[1], x[2]});
    return kki_mesh_builder_error(p->in, kki_offset(p->in, at), p->encoding == ASCII, status);
}

static kk_status check_vertex_element(const ply *p, const element *e) {
    int axes = 0;
    for (int i = 0; i < e->property_count; i++) {
        const int axis = axis_of(&p->property[e->first_property + i]);
        axes |= axis == NONE ? 0 : 1 << axis;
    }
    return axes == 7 ? KK_OK : header_error(p, e->name, "the vertices have no x, y and z — add the properties");
}

static kk_status ensure_corners(ply *p, size_t count) {
    if (count <= p->corner_room) {
        return KK_OK;
    }
    int32_t *corner = kki_allocate_array(&p->in->allocator, count, sizeof *corner);
    if (!corner) {
        return kki_mesh_builder_error(p->in, kki_offset(p->in, p->c.at), p->encoding == ASCII, KK_OUT_OF_MEMORY);
    }
    kki_release_array(&p->in->allocator, p->corner, p->corner_room, sizeof *corner);
    p->corner = corner;
    p->corner_room = count;
    return KK_OK;
}

static kk_status read_corners(ply *p, const property *q, size_t count, double least) {
    for (size_t i = 0; i < count; i++) {
        const char *at = next_value(p);
        double value;
        const kk_status status = read_value(p, q->type, &value);
        if (status != KK_OK) {
            return status;
        }
        // also refuses fractions
        if (!(value >= least) || value > INT32_MAX || value != (double)(int32_t)value) {
            return data_error(p, at, KK_SYNTAX,
                              "a face names a vertex that is no whole number from 0 — correct the index");
        }
        if (value >= (double)p->vertex_count) {
            char text[120];
            kki_print(text, sizeof text,
                      "a face names vertex %d, and there are %d — correct the index or add the vertex", (int)value,
                      (int)p->vertex_count);
            return data_error(p, at, KK_INVALID_ARGUMENT, text);
        }
        p->corner[i] = (int32_t)value;
    }
    return KK_OK;
}

// triangles of a strip, every other one turned; -1 starts a new strip
static kk_status add_strip(ply *p, size_t count) {
    kk_status status = KK_OK;
    size_t start = 0;
    for (size_t i = 0; i < count && status == KK_OK; i++) {
        if (p->corner[i] < 0) {
            start = i + 1;
        } else if (i >= start + 2) {
            const bool turned = ((i - start) & 1) != 0;
            const int32_t a = p->corner[i - 2], b = p->corner[i - 1], c = p->corner[i];
            status = kki_mesh_builder_add_face(p->in->builder, turned ? b : a, turned ? a : b, c);
        }
    }
    return status;
}

static kk_status add_corners(ply *p, size_t count, bool is_strip) {
    if (is_strip) {
        return add_strip(p, count);
    }
    return count < 3 ? KK_OK : kki_mesh_builder_add_polygon(p->in->builder, p->corner, (int)count);
}

static kk_status read_list(ply *p, const property *q, bool is_strip) {
    size_t count = 0;
    const size_t at = kki_offset(p->in, p->c.at);
    kk_status status = read_count(p, q, &count);
    if (status == KK_OK && count >= KKI_MESH_MAX_ITEMS) {
        return kki_mesh_builder_error(p->in, at, p->encoding == ASCII, KK_LIMIT_EXCEEDED);
    }
    status = status ? status : ensure_corners(p, count);
    status = status ? status : read_corners(p, q, count, is_strip ? -1 : 0);
    if (status != KK_OK) {
        return status;
    }
    return kki_mesh_builder_error(p->in, at, p->encoding == ASCII, add_corners(p, count, is_strip));
}

static bool is_index_list(const property *q) {
    return q->count_type != NONE && (kki_word_is(q->name, "vertex_indices") || kki_word_is(q->name, "vertex_index"));
}

static kk_status read_face(ply *p, const element *e, bool is_strip) {
    kk_status status = KK_OK;
    for (int i = 0; i < e->property_count && status == KK_OK; i++) {
        const property *q = &p->property[e->first_property + i];
        status = is_index_list(q) ? read_list(p, q, is_strip) : skip_property(p, q);
    }
    return status;
}

static kk_status read_rows(ply *p, const element *e) {
    const bool is_vertex = kki_word_is(e->name, "vertex"), is_face = kki_word_is(e->name, "face");
    const bool is_strip = kki_word_is(e->name, "tristrips");
    kk_status status = is_vertex ? check_vertex_element(p, e) : KK_OK;
    if (status == KK_OK && (size_t)(p->c.end - p->c.at) < e->count && e->property_count > 0) {
        return kki_mesh_error_in_text(p->in, e->at, KK_SYNTAX,
                                      "element %s has more rows than the file has bytes — the file is cut off",
                                      kki_shorten(e->name.start, e->name.length).text);
    }
    if (status == KK_OK && (is_vertex || is_face)) {
        status = kki_mesh_builder_reserve(p->in->builder, is_vertex ? e->count : 0, is_face ? e->count : 0);
        status = kki_mesh_builder_error(p->in, e->at, true, status);
    }
    // an element without properties has no bytes, however many rows it has
    for (size_t i = 0; i < e->count && e->property_count > 0 && status == KK_OK; i++) {
        status = is_vertex ? read_vertex(p, e) : is_face || is_strip ? read_face(p, e, is_strip) : skip_row(p, e);
    }
    return status;
}

static kk_status read(kki_mesh_input *in) {
    ply p = {.in = in, .encoding = NONE, .c = {(const char *)in->bytes, (const char *)in->bytes + in->size}};
    if (!is_certain(in->bytes, in->size)) {
        return kki_mesh_error_in_text(in, 0, KK_SYNTAX, "a PLY file starts with a line 'ply' — this is another format");
    }
    kk_status status = read_header(&p);
    for (int i = 0; i < p.element_count && status == KK_OK; i++) {
        p.vertex_count += kki_word_is(p.element[i].name, "vertex") ? p.element[i].count : 0;
    }
    for (int i = 0; i < p.element_count && status == KK_OK; i++) {
        status = read_rows(&p, &p.element[i]);
    }
    kki_release_array(&in->allocator, p.corner, p.corner_room, sizeof *p.corner);
    return status;
}

const kki_mesh_format kki_mesh_format_ply = {.name = "ply", .extension = "ply", .is_certain = is_certain, .read = read};
