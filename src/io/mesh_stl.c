// STL, ASCII and binary (3D Systems 1989; the binary layout as everyone writes it).
//
// Binary: 80 bytes of anything, the count of triangles, and for each 50 bytes: normal, three corners, a word that some
// programs use for a color. Normals are not read; the order of corners says the same. Many exporters start the 80 bytes
// with "solid", so the size decides: a file that has exactly the bytes its count asks for is binary.
//
// ASCII: solid NAME { facet normal x y z  outer loop  { vertex x y z } x 3  endloop  endfacet } endsolid NAME, any number of
// solids, words in any case.
#include "io/mesh_input.h"

enum { HEADER = 84, RECORD = 50 };

// ---- binary

static bool has_binary_size(const unsigned char *bytes, size_t size) {
    return size >= HEADER && (uint64_t)kki_little32(bytes + 80) * RECORD + HEADER == size;
}

static bool starts_with_solid(const unsigned char *bytes, size_t size) {
    kki_cursor c = {(const char *)bytes, (const char *)bytes + size};
    kki_skip_space(&c);
    return kki_word_is_any_case(kki_take_word(&c), "solid");
}

static bool has_zero_byte(const unsigned char *bytes, size_t size) {
    return memchr(bytes, 0, size < 512 ? size : 512) != NULL;
}

static bool is_certain(const unsigned char *bytes, size_t size) {
    return has_binary_size(bytes, size) || (starts_with_solid(bytes, size) && !has_zero_byte(bytes, size));
}

static kk_status read_record(kki_mesh_input *in, size_t at) {
    kki_mesh_builder *b = in->builder;
    const int32_t first = b->vertex_count;
    kk_status status = KK_OK;
    for (size_t k = 0; k < 3 && status == KK_OK; k++) {
        status = kki_mesh_builder_add_vertex(b, kki_little_point(in->bytes + at + 12 * (k + 1)));
    }
    status = status ? status : kki_mesh_builder_add_face(b, first, first + 1, first + 2);
    return kki_mesh_builder_error(in, at, false, status);
}

static kk_status read_binary(kki_mesh_input *in) {
    if (in->size < HEADER) {
        return kki_mesh_error_in_binary(in, in->size, KK_SYNTAX,
                                        "an STL file has at least 84 bytes — the file is cut off or is no STL");
    }
    const uint64_t count = kki_little32(in->bytes + 80);
    if (count * RECORD > in->size - HEADER) {
        return kki_mesh_error_in_binary(
            in, 80, KK_SYNTAX, "the file promises %d triangles and has bytes for %d — it is cut off, or no STL",
            (int)(count < INT32_MAX ? count : INT32_MAX), (int)((in->size - HEADER) / RECORD));
    }
    kk_status status =
        kki_mesh_builder_error(in, 80, false, kki_mesh_builder_reserve(in->builder, 3 * (size_t)count, (size_t)count));
    for (size_t i = 0; i < count && status == KK_OK; i++) {
        status = read_record(in, HEADER + i * RECORD);
    }
    return status;
}

// ---- ASCII

static kk_status expected(const kki_mesh_input *in, kki_word found, const char *words) {
    return kki_mesh_error_in_text(in, kki_offset(in, found.start), KK_SYNTAX,
                                  "expected %s — the STL file is cut off or damaged here", words);
}

static kki_word next_word(kki_cursor *c) {
    kki_skip_space(c);
    return kki_take_word(c);
}

static kk_status expect_word(const kki_mesh_input *in, kki_cursor *c, const char *text) {
    const kki_word w = next_word(c);
    return kki_word_is_any_case(w, text) ? KK_OK : expected(in, w, text);
}

static kk_status read_vertex(kki_mesh_input *in, kki_cursor *c) {
    kk_vec3 p;
    const kk_status status = kki_mesh_point(in, c, "a vertex's coordinate", &p);
    if (status != KK_OK) {
        return status;
    }
    return kki_mesh_builder_error(in, kki_offset(in, c->at), true, kki_mesh_builder_add_vertex(in->builder, p));
}

// from behind "outer" to the loop's end: three corners or more, which some programs write
static kk_status read_loop(kki_mesh_input *in, kki_cursor *c) {
    const int32_t first = in->builder->vertex_count;
    kk_status status = expect_word(in, c, "loop");
    kki_word w = next_word(c);
    while (status == KK_OK && kki_word_is_any_case(w, "vertex")) {
        status = read_vertex(in, c);
        w = status ? w : next_word(c);
    }
    if (status != KK_OK || !kki_word_is_any_case(w, "endloop")) {
        return status ? status : expected(in, w, "vertex or endloop");
    }
    if (in->builder->vertex_count - first < 3) {
        return kki_mesh_error_in_text(in, kki_offset(in, w.start), KK_SYNTAX,
                                      "a facet with %d corners — the STL file is damaged here",
                                      in->builder->vertex_count - first);
    }
    for (int32_t v = first + 2; v < in->builder->vertex_count && status == KK_OK; v++) {
        status = kki_mesh_builder_add_face(in->builder, first, v - 1, v);
    }
    return kki_mesh_builder_error(in, kki_offset(in, w.start), true, status);
}

// from behind "facet" to "endfacet"; the normal is skipped whatever it is, since some write nan for zero area
static kk_status read_facet(kki_mesh_input *in, kki_cursor *c) {
    kki_word w = next_word(c);
    for (int i = 0; i < 4 && w.length > 0 && !kki_word_is_any_case(w, "outer"); i++) {
        w = next_word(c);
    }
    if (!kki_word_is_any_case(w, "outer")) {
        return expected(in, w, "outer loop");
    }
    const kk_status status = read_loop(in, c);
    return status ? status : expect_word(in, c, "endfacet");
}

static kki_word rest_of_line(kki_cursor *c) {
    kki_skip_blanks(c);
    const char *start = c->at;
    while (c->at < c->end && !kki_is_line_end(*c->at)) {
        c->at++;
    }
    const char *end = c->at;
    while (end > start && kki_is_blank(end[-1])) {
        end--;
    }
    return (kki_word){start, (size_t)(end - start)};
}

static kk_status read_statement(kki_mesh_input *in, kki_cursor *c, kki_word w) {
    if (kki_word_is_any_case(w, "facet")) {
        return read_facet(in, c);
    }
    if (kki_word_is_any_case(w, "solid")) {
        const kki_word name = rest_of_line(c);
        return kki_mesh_builder_error(in, kki_offset(in, w.start), true,
                                      kki_mesh_builder_set_part(in->builder, name.start, name.length, -1));
    }
    if (kki_word_is_any_case(w, "endsolid")) {
        rest_of_line(c);
        return KK_OK;
    }
    return expected(in, w, "facet, solid or endsolid");
}

static kk_status read_ascii(kki_mesh_input *in) {
    kki_cursor c = {(const char *)in->bytes, (const char *)in->bytes + in->size};
    kk_status status = KK_OK;
    kki_word w = next_word(&c), last = {c.at, 0};
    while (status == KK_OK && w.length > 0) {
        status = read_statement(in, &c, w);
        last = w;
        w = next_word(&c);
    }
    if (status == KK_OK && !kki_word_is_any_case(last, "endsolid")) {
        return expected(in, w, "endsolid at the end");
    }
    return status;
}

static kk_status read(kki_mesh_input *in) {
    const bool is_ascii = !has_binary_size(in->bytes, in->size) && starts_with_solid(in->bytes, in->size) &&
                          !has_zero_byte(in->bytes, in->size);
    return is_ascii ? read_ascii(in) : read_binary(in);
}

const kki_mesh_format kki_mesh_format_stl = {.name = "stl", .extension = "stl", .is_certain = is_certain, .read = read};
