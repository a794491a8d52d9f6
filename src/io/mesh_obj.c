// Wavefront OBJ: the polygons of it (Wavefront, Advanced Visualizer manual, appendix B).
//
// Read are v, f (v, v/vt, v//vn, v/vt/vn; negative indices count back), g, o, usemtl and mtllib; normals, texture
// coordinates, lines and free-form surfaces are passed over. A backslash continues a line. Three walks over the text: count,
// vertices, faces; so that all memory is known before it is taken and faces may come before their vertices.
#include "base/allocator.h"
#include "io/mesh_input.h"
#include "io/text.h"
#include <karakuri/number.h>

typedef struct obj {
    size_t vertices, triangles, most_corners;
    int32_t *corner; // [most_corners]
    kki_cursor text;
} obj;

// ---- lines and words

// the next line without its end; a continued one is taken with the lines it continues on
static bool next_line(kki_cursor *text, kki_cursor *line) {
    if (text->at == text->end) {
        return false;
    }
    line->at = text->at;
    const char *end = NULL;
    const char *search = text->at;
    do {
        end = memchr(search, '\n', (size_t)(text->end - search));
        search = end ? end + 1 : text->end;
        // step back over the CR of CR LF
        const char *last = (end ? end : text->end) - 1;
        last -= last > line->at && *last == '\r';
        if (last < line->at || *last != '\\') {
            break;
        }
    } while (end && search < text->end);
    line->end = end ? end : text->end;
    text->at = search;
    return true;
}

// blanks, and what a continued line has at its seam; a table, because most of the time goes into asking this
static const bool IS_GAP[256] = {[' '] = true, ['\t'] = true, ['\\'] = true, ['\n'] = true, ['\r'] = true};

static bool is_gap(char c) {
    return IS_GAP[(unsigned char)c];
}

static void skip_gap(kki_cursor *c) {
    const char *at = c->at;
    while (at < c->end && is_gap(*at)) {
        at++;
    }
    c->at = at;
}

static kki_word take_word(kki_cursor *c) {
    skip_gap(c);
    const char *start = c->at, *at = start;
    while (at < c->end && !is_gap(*at)) {
        at++;
    }
    c->at = at;
    return (kki_word){start, (size_t)(at - start)};
}

static size_t count_words(kki_cursor line) {
    size_t count = 0;
    while (take_word(&line).length > 0) {
        count++;
    }
    return count;
}

// what follows a keyword, names with blanks included
static kki_word rest(kki_cursor c) {
    skip_gap(&c);
    const char *end = c.end;
    while (end > c.at && (kki_is_blank(end[-1]) || kki_is_line_end(end[-1]))) {
        end--;
    }
    return (kki_word){c.at, (size_t)(end - c.at)};
}

static bool is_certain(const unsigned char *bytes, size_t size) {
    size = size < 65536 ? size : 65536;
    if (size == 0 || memchr(bytes, 0, size)) {
        return false;
    }
    kki_cursor text = {(const char *)bytes, (const char *)bytes + size}, line;
    while (next_line(&text, &line)) {
        const kki_word w = take_word(&line);
        if (kki_word_is(w, "v") && count_words(line) >= 3) {
            return true;
        }
    }
    return false;
}

// ---- first walk

static void count_line(obj *o, kki_cursor line) {
    const kki_word w = take_word(&line);
    if (kki_word_is(w, "v")) {
        o->vertices++;
    } else if (kki_word_is(w, "f")) {
        const size_t corners = count_words(line);
        o->triangles += corners > 2 ? corners - 2 : 0;
        o->most_corners = corners > o->most_corners ? corners : o->most_corners;
    }
}

// ---- second walk

static kk_status read_vertex(kki_mesh_input *in, kki_cursor line) {
    double x[3];
    for (int k = 0; k < 3; k++) {
        skip_gap(&line);
        const kk_status status = kki_mesh_number(in, &line, "a vertex's coordinate", &x[k]);
        if (status != KK_OK) {
            return status;
        }
    }
    const kk_status status = kki_mesh_builder_add_vertex(in->builder, (kk_vec3){x[0], x[1], x[2]});
    return kki_mesh_builder_error(in, kki_offset(in, line.at), true, status);
}

// ends with the last vertex: most of a file comes behind it
static kk_status read_vertices(kki_mesh_input *in, const obj *o) {
    kki_cursor text = o->text, line;
    kk_status status = KK_OK;
    for (size_t count = 0; count < o->vertices && status == KK_OK && next_line(&text, &line);) {
        const kki_word w = take_word(&line);
        if (kki_word_is(w, "v")) {
            status = read_vertex(in, line);
            count++;
        }
    }
    return status;
}

// ---- third walk

static kk_status corner_error(const kki_mesh_input *in, kki_word w) {
    return kki_mesh_error_in_text(in, kki_offset(in, w.start), KK_SYNTAX,
                                  "'%s' is no corner of a face — write v, v/vt, v//vn or v/vt/vn",
                                  kki_shorten(w.start, w.length).text);
}

// what may follow the vertex: up to two more whole numbers between slashes
static bool is_tail(const char *at, const char *end) {
    for (int slashes = 0; at < end; slashes++) {
        int64_t ignored;
        size_t used;
        if (slashes == 2 || *at != '/') {
            return false;
        }
        at++;
        kk_number_parse_int(at, (size_t)(end - at), &ignored, &used);
        at += used;
    }
    return true;
}

static kk_status read_corner(kki_mesh_input *in, kki_word w, size_t before, int32_t *corner) {
    int64_t index;
    size_t used;
    if (kk_number_parse_int(w.start, w.length, &index, &used) != KK_OK ||
        !is_tail(w.start + used, w.start + w.length)) {
        return corner_error(in, w);
    }
    const int64_t vertex = index < 0 ? (int64_t)before + index : index - 1, count = in->builder->vertex_count;
    if (vertex < 0 || vertex >= count || index == 0) {
        return kki_mesh_error_in_text(in, kki_offset(in, w.start), KK_SYNTAX,
                                      "a face names vertex %s, and there are %d (counted from 1) — correct the index",
                                      kki_shorten(w.start, w.length).text, (int)count);
    }
    *corner = (int32_t)vertex;
    return KK_OK;
}

// `before` is the number of vertices up to this line, from which negative indices count
static kk_status read_face(kki_mesh_input *in, const obj *o, kki_cursor line, size_t before) {
    int count = 0;
    const size_t at = kki_offset(in, line.at);
    for (kki_word w = take_word(&line); w.length > 0; w = take_word(&line)) {
        const kk_status status = read_corner(in, w, before, &o->corner[count++]);
        if (status != KK_OK) {
            return status;
        }
    }
    if (count < 3) {
        return kki_mesh_error_in_text(in, at, KK_SYNTAX, "a face with %d corners — it takes three or more", count);
    }
    return kki_mesh_builder_error(in, at, true, kki_mesh_builder_add_polygon(in->builder, o->corner, count));
}

static kk_status use_material(kki_mesh_input *in, kki_word name) {
    int32_t id = -1;
    const kk_status status = kki_mesh_builder_material(in->builder, name.start, name.length, &id);
    if (status == KK_OK) {
        kki_mesh_builder_set_material(in->builder, id);
    }
    return status;
}

static kk_status read_name(kki_mesh_input *in, kki_word w, kki_cursor line) {
    kki_mesh_builder *b = in->builder;
    const kki_word name = rest(line);
    if (kki_word_is(w, "g") || kki_word_is(w, "o")) {
        return kki_mesh_builder_set_part(b, name.start, name.length, b->next_part.material);
    }
    if (kki_word_is(w, "usemtl")) {
        return use_material(in, name);
    }
    return kki_word_is(w, "mtllib") ? kki_mesh_builder_set_library(b, name.start, name.length) : KK_OK;
}

static kk_status read_faces(kki_mesh_input *in, const obj *o) {
    kki_cursor text = o->text, line;
    kk_status status = KK_OK;
    size_t before = 0;
    while (status == KK_OK && next_line(&text, &line)) {
        const kki_word w = take_word(&line);
        if (kki_word_is(w, "f")) {
            status = read_face(in, o, line, before);
        } else if (kki_word_is(w, "v")) {
            before++;
        } else if (w.length > 0) {
            status = kki_mesh_builder_error(in, kki_offset(in, w.start), true, read_name(in, w, line));
        }
    }
    return status;
}

static kk_status read_counted(kki_mesh_input *in, obj *o) {
    kk_status status =
        kki_mesh_builder_error(in, 0, true, kki_mesh_builder_reserve(in->builder, o->vertices, o->triangles));
    status = status ? status : read_vertices(in, o);
    if (status != KK_OK) {
        return status;
    }
    o->corner = kki_allocate_array(&in->allocator, o->most_corners, sizeof *o->corner);
    status = o->corner ? read_faces(in, o) : kki_mesh_builder_error(in, 0, true, KK_OUT_OF_MEMORY);
    kki_release_array(&in->allocator, o->corner, o->most_corners, sizeof *o->corner);
    return status;
}

static kk_status read(kki_mesh_input *in) {
    obj o = {.text = {(const char *)in->bytes, (const char *)in->bytes + in->size}};
    kki_cursor text = o.text, line;
    while (next_line(&text, &line)) {
        count_line(&o, line);
    }
    return read_counted(in, &o);
}

const kki_mesh_format kki_mesh_format_obj = {.name = "obj", .extension = "obj", .is_certain = is_certain, .read = read};
