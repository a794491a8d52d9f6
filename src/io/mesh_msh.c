// MuJoCo's binary .msh: four counts (vertices, normals, texture coordinates, faces), then these as float and int arrays.
#include "io/mesh_input.h"

enum { HEADER = 16 };

typedef struct counts {
    uint32_t vertex, normal, texture, face;
} counts;

static counts read_counts(const unsigned char *bytes) {
    return (counts){kki_little32(bytes), kki_little32(bytes + 4), kki_little32(bytes + 8), kki_little32(bytes + 12)};
}

static uint64_t size_for(counts n) {
    return HEADER + 12 * (uint64_t)n.vertex + 12 * (uint64_t)n.normal + 8 * (uint64_t)n.texture + 12 * (uint64_t)n.face;
}

static bool is_certain(const unsigned char *bytes, size_t size) {
    return size > HEADER && size_for(read_counts(bytes)) == size && read_counts(bytes).vertex > 0;
}

static kk_status read_vertices(kki_mesh_input *in, counts n) {
    kk_status status = KK_OK;
    size_t at = HEADER;
    for (uint32_t i = 0; i < n.vertex && status == KK_OK; i++, at += 12) {
        status = kki_mesh_builder_error(in, at, false,
                                        kki_mesh_builder_add_vertex(in->builder, kki_little_point(in->bytes + at)));
    }
    return status;
}

static kk_status read_face(kki_mesh_input *in, size_t at, uint32_t vertex_count) {
    int32_t v[3];
    for (size_t k = 0; k < 3; k++) {
        const uint32_t index = kki_little32(in->bytes + at + 4 * k);
        if (index >= vertex_count) {
            return kki_mesh_error_in_binary(in, at + 4 * k, KK_SYNTAX,
                                            "a face names vertex %d, and there are %d — the file is damaged",
                                            (int)(index & 0x7fffffff), (int)vertex_count);
        }
        v[k] = (int32_t)index;
    }
    return kki_mesh_builder_error(in, at, false, kki_mesh_builder_add_face(in->builder, v[0], v[1], v[2]));
}

static kk_status read(kki_mesh_input *in) {
    if (in->size < HEADER || size_for(read_counts(in->bytes)) != in->size) {
        return kki_mesh_error_in_binary(
            in, 0, KK_SYNTAX,
            "the four counts at the start do not fit the size of the file — it is cut off, or no MuJoCo .msh");
    }
    const counts n = read_counts(in->bytes);
    kk_status status = kki_mesh_builder_error(in, 0, false, kki_mesh_builder_reserve(in->builder, n.vertex, n.face));
    status = status ? status : read_vertices(in, n);
    size_t at = in->size - 12 * (size_t)n.face;
    for (uint32_t i = 0; i < n.face && status == KK_OK; i++, at += 12) {
        status = read_face(in, at, n.vertex);
    }
    return status;
}

const kki_mesh_format kki_mesh_format_msh = {.name = "msh", .extension = "msh", .is_certain = is_certain, .read = read};
