// Writers go through a sink that counts all bytes and keeps those that fit, so one function tells the size and writes.
#include "mesh_write.h"

#include <string.h>

#include "base/float_bits.h"
#include <karakuri/elementary.h>
#include <karakuri/number.h>

typedef struct sink {
    unsigned char *bytes;
    size_t room, size;
} sink;

static void put(sink *s, const void *bytes, size_t size) {
    if (s->bytes && s->size <= s->room && size <= s->room - s->size) {
        memcpy(s->bytes + s->size, bytes, size);
    }
    s->size += size;
}

static kk_status conclude(const sink *s, size_t *size) {
    *size = s->size;
    return !s->bytes || s->size <= s->room ? KK_OK : KK_SIZE_MISMATCH;
}

// ---- binary STL

static void put32(sink *s, uint32_t x) {
    const unsigned char bytes[4] = {(unsigned char)x, (unsigned char)(x >> 8), (unsigned char)(x >> 16),
                                    (unsigned char)(x >> 24)};
    put(s, bytes, 4);
}

static void put_float(sink *s, double x) {
    const float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    put32(s, bits);
}

static void put_point(sink *s, kk_vec3 p) {
    put_float(s, p.x);
    put_float(s, p.y);
    put_float(s, p.z);
}

// unit normal of a face, zero for one without area
static kk_vec3 face_normal(const kki_mesh *mesh, const int32_t *v) {
    const kk_vec3 a = mesh->vertex[v[0]];
    const kk_vec3 n = kk_vec3_cross(kk_vec3_sub(mesh->vertex[v[1]], a), kk_vec3_sub(mesh->vertex[v[2]], a));
    const double norm = kk_vec3_norm(n);
    return norm > 0 && kki_is_finite(norm) ? kk_vec3_scale(n, 1 / norm) : (kk_vec3){0, 0, 0};
}

static bool fits_float(double x) {
    return kki_abs(x) <= (double)FLT_MAX;
}

kk_status kki_mesh_write_stl(const kki_mesh *mesh, void *bytes, size_t room, size_t *size) {
    sink s = {bytes, room, 0};
    char header[80] = "karakuri";
    put(&s, header, sizeof header);
    put32(&s, (uint32_t)mesh->face_count);
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        const kk_vec3 p = mesh->vertex[i];
        if (!fits_float(p.x) || !fits_float(p.y) || !fits_float(p.z)) {
            *size = 0;
            return KK_NOT_FINITE;
        }
    }
    for (int32_t i = 0; i < mesh->face_count; i++) {
        const int32_t *v = mesh->face[i].vertex;
        put_point(&s, face_normal(mesh, v));
        for (int k = 0; k < 3; k++) {
            put_point(&s, mesh->vertex[v[k]]);
        }
        put(&s, "\0", 2);
    }
    return conclude(&s, size);
}

// ---- OBJ

static void put_text(sink *s, const char *text) {
    put(s, text, strlen(text));
}

static void put_number(sink *s, double x) {
    char text[KK_NUMBER_TEXT_SIZE];
    put_text(s, " ");
    put(s, text, kk_number_format(x, text));
}

static void put_line(sink *s, const char *word, const char *name) {
    put_text(s, word);
    put_text(s, name);
    put_text(s, "\n");
}

static void put_vertex(sink *s, kk_vec3 p) {
    put_text(s, "v");
    put_number(s, p.x);
    put_number(s, p.y);
    put_number(s, p.z);
    put_text(s, "\n");
}

static void put_face(sink *s, const int32_t *v) {
    put_text(s, "f");
    for (int k = 0; k < 3; k++) {
        char text[KK_NUMBER_TEXT_SIZE];
        put_text(s, " ");
        put(s, text, kk_number_format_int((int64_t)v[k] + 1, text));
    }
    put_text(s, "\n");
}

static void put_part(sink *s, const kki_mesh *mesh, const kki_mesh_part *part) {
    put_line(s, "g ", part->name);
    if (part->material >= 0) {
        put_line(s, "usemtl ", mesh->material[part->material].name);
    }
}

kk_status kki_mesh_write_obj(const kki_mesh *mesh, void *bytes, size_t room, size_t *size) {
    sink s = {bytes, room, 0};
    int32_t part = 0;
    if (mesh->library[0]) {
        put_line(&s, "mtllib ", mesh->library);
    }
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        put_vertex(&s, mesh->vertex[i]);
    }
    for (int32_t i = 0; i < mesh->face_count; i++) {
        for (; part < mesh->part_count && mesh->part[part].first_face == i; part++) {
            put_part(&s, mesh, &mesh->part[part]);
        }
        put_face(&s, mesh->face[i].vertex);
    }
    return conclude(&s, size);
}
