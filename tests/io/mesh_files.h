// Words for tests of mesh readers: reading from strings, binary files byte by byte, and what must come out.
#ifndef KK_TESTS_IO_MESH_FILES_H
#define KK_TESTS_IO_MESH_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/mass.h"
#include "harness.h"
#include "io/mesh_read.h"

/// A file that grows.
typedef struct bytes {
    unsigned char data[4096];
    size_t size;
} bytes;

static inline void put(bytes *b, const void *data, size_t size) {
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static inline void put_number(bytes *b, uint64_t value, int size, int is_big) {
    for (int i = 0; i < size; i++) {
        b->data[b->size++] = (unsigned char)(value >> (8 * (is_big ? size - 1 - i : i)));
    }
}

static inline void put32(bytes *b, uint32_t value) {
    put_number(b, value, 4, 0);
}

static inline void put_float(bytes *b, float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    put32(b, bits);
}

static inline void put_text(bytes *b, const char *text) {
    put(b, text, strlen(text));
}

// the tetrahedron at the origin, outward faces; volume 1/6
static const float TETRA[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const int TETRA_FACE[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};

/// Reads, or fails the test with the message.
static inline kki_mesh *read_with(const void *data, size_t size, const char *file,
                                  const kki_mesh_read_options *options) {
    kki_mesh *mesh = NULL;
    kk_error error = {0};
    if (kki_mesh_read(data, size, file, options, NULL, &mesh, &error) != KK_OK) {
        KK_FAIL("%s:%d:%d: %s", error.file, error.line, error.column, error.text);
    }
    return mesh;
}

static inline kki_mesh *read_text(const char *text, const char *file) {
    return read_with(text, strlen(text), file, NULL);
}

static inline kki_mesh *read_bytes(const bytes *b, const char *file) {
    return read_with(b->data, b->size, file, NULL);
}

/// A closed mesh of that volume; frees it.
static inline void check_volume(kki_mesh *mesh, int vertices, int faces, double volume) {
    kki_mass mass = {0};
    kk_error error = {0};
    if (!mesh) {
        return;
    }
    bool inside_out = true;
    KK_CHECK_EQ_INT(mesh->vertex_count, vertices);
    KK_CHECK_EQ_INT(mesh->face_count, faces);
    if (kki_mass_of_mesh(mesh, KKI_MASS_SOLID, NULL, &mass, &inside_out, &error) != KK_OK) {
        KK_FAIL("%s", error.text);
    }
    KK_CHECK_REL(mass.volume, volume, 1e-14);
    KK_CHECK(!inside_out);
    kki_mesh_free(mesh);
}

/// Reading must fail with this status, at this place (0: any), with these words.
static inline void refused(const void *data, size_t size, const char *file, kk_status status, int line, int column,
                           const char *words) {
    kki_mesh *mesh = NULL;
    kk_error error = {0};
    const kk_status found = kki_mesh_read(data, size, file, NULL, NULL, &mesh, &error);
    const int has_remedy = strstr(error.text, "—") || strstr(error.text, "; "); // ours and the XML reader's
    const int is_there = (line == 0 || error.line == line) && (column == 0 || error.column == column);
    if (found != status || !strstr(error.text, words) || !has_remedy || !is_there || mesh) {
        KK_FAIL("%s:%d:%d: %s: %s\n  should be %s at %d:%d with: %s", error.file, error.line, error.column,
                kk_status_name(found), error.text, kk_status_name(status), line, column, words);
    }
    KK_CHECK_STR(error.file, file);
    kki_mesh_free(mesh);
}

static inline void refused_text(const char *text, const char *file, kk_status status, int line, int column,
                                const char *words) {
    refused(text, strlen(text), file, status, line, column, words);
}

/// The whole file, to be freed; NULL where there is none.
static inline unsigned char *load_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    const long end = ftell(file);
    rewind(file);
    unsigned char *data = end >= 0 ? malloc((size_t)end + 1) : NULL;
    *size = data ? fread(data, 1, (size_t)end, file) : 0;
    fclose(file);
    return data;
}

#endif
