// What the readers of mesh formats share: the input, errors with their place, text and binary cursors.
#ifndef KARAKURI_IO_MESH_INPUT_H
#define KARAKURI_IO_MESH_INPUT_H

#include <string.h>

#include "io/mesh_read.h"

typedef struct kki_mesh_input {
    const unsigned char *bytes;
    size_t size;
    const char *file;
    const kki_mesh_read_options *options;
    kk_allocator allocator; // counts what is in use; for scratch
    kki_mesh_builder *builder;
    kk_error *error;
} kki_mesh_input;

/// One row of the table of formats.
typedef struct kki_mesh_format {
    const char *name;
    const char *extension;
    /// true where the content can be nothing else
    bool (*is_certain)(const unsigned char *bytes, size_t size);
    /// fills the builder
    kk_status (*read)(kki_mesh_input *in);
} kki_mesh_format;

extern const kki_mesh_format kki_mesh_format_stl, kki_mesh_format_obj, kki_mesh_format_ply, kki_mesh_format_msh,
    kki_mesh_format_glb, kki_mesh_format_dae;

// ---- errors

/// An error at a byte of a text: line and column are counted now, so reading need not count them.
__attribute__((format(printf, 4, 5))) kk_status kki_mesh_error_in_text(const kki_mesh_input *in, size_t at,
                                                                       kk_status status, const char *format, ...);
/// An error at a byte of a binary file, which the text names.
__attribute__((format(printf, 4, 5))) kk_status kki_mesh_error_in_binary(const kki_mesh_input *in, size_t at,
                                                                         kk_status status, const char *format, ...);
/// What the builder answered, in words; for texts and for binary files.
kk_status kki_mesh_builder_error(const kki_mesh_input *in, size_t at, bool is_text, kk_status status);

// ---- text

/// A place in the input that moves forward.
typedef struct kki_cursor {
    const char *at, *end;
} kki_cursor;

static inline bool kki_is_blank(char c) {
    return c == ' ' || c == '\t';
}

static inline bool kki_is_line_end(char c) {
    return c == '\n' || c == '\r';
}

static inline void kki_skip_blanks(kki_cursor *c) {
    while (c->at < c->end && kki_is_blank(*c->at)) {
        c->at++;
    }
}

/// Also over line ends, form feeds and vertical tabs.
static inline void kki_skip_space(kki_cursor *c) {
    while (c->at < c->end && (kki_is_blank(*c->at) || (*c->at >= '\n' && *c->at <= '\r'))) {
        c->at++;
    }
}

typedef struct kki_word {
    const char *start;
    size_t length;
} kki_word;

/// The characters up to the next space; empty at the end.
static inline kki_word kki_take_word(kki_cursor *c) {
    const char *start = c->at;
    while (c->at < c->end && (unsigned char)*c->at > ' ') {
        c->at++;
    }
    return (kki_word){start, (size_t)(c->at - start)};
}

static inline bool kki_word_is(kki_word w, const char *text) {
    return strlen(text) == w.length && memcmp(w.start, text, w.length) == 0;
}

/// The same in any case of the letters; `text` in small ones.
bool kki_word_is_any_case(kki_word w, const char *text);

static inline size_t kki_offset(const kki_mesh_input *in, const char *at) {
    return (size_t)(at - (const char *)in->bytes);
}

/// Reads a finite number; blanks before it are skipped. `what` names it in the error.
kk_status kki_mesh_number(const kki_mesh_input *in, kki_cursor *c, const char *what, double *value);
/// Three of them.
kk_status kki_mesh_point(const kki_mesh_input *in, kki_cursor *c, const char *what, kk_vec3 *p);
/// Reads a whole number.
kk_status kki_mesh_int(const kki_mesh_input *in, kki_cursor *c, const char *what, int64_t *value);

// ---- binary

static inline uint16_t kki_little16(const unsigned char *p) {
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t kki_little32(const unsigned char *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline float kki_float_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline kk_vec3 kki_little_point(const unsigned char *p) {
    return (kk_vec3){(double)kki_float_of_bits(kki_little32(p)), (double)kki_float_of_bits(kki_little32(p + 4)),
                     (double)kki_float_of_bits(kki_little32(p + 8))};
}

// ---- placing

/// A linear map and a translation: meshes may be scaled and mirrored by the nodes they hang on.
typedef struct kki_affine {
    kk_mat3 A;
    kk_vec3 p;
} kki_affine;

static inline kk_vec3 kki_affine_point(const kki_affine *t, kk_vec3 p) {
    return kk_vec3_add(kk_mat3_mul_vec(t->A, p), t->p);
}

static inline kki_affine kki_affine_mul(const kki_affine *a, const kki_affine *b) {
    return (kki_affine){kk_mat3_mul(a->A, b->A), kki_affine_point(a, b->p)};
}

static inline bool kki_affine_mirrors(const kki_affine *t) {
    const kk_vec3 x = kk_mat3_column(t->A, 0), y = kk_mat3_column(t->A, 1), z = kk_mat3_column(t->A, 2);
    return kk_vec3_dot(x, kk_vec3_cross(y, z)) < 0;
}

/// Turns y up into z up: a quarter about x.
static inline kki_affine kki_affine_y_to_z(void) {
    return (kki_affine){{{1, 0, 0, 0, 0, -1, 0, 1, 0}}, {0, 0, 0}};
}

#endif
