// The mesh object: one block with all arrays and names, laid out in two passes.
#include "mesh.h"

#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/float_bits.h"

void kki_mesh_free(kki_mesh *mesh) {
    if (mesh) {
        const kk_allocator allocator = mesh->allocator;
        kki_release(&allocator, mesh, mesh->block_size);
    }
}

int kki_mesh_part_of_face(const kki_mesh *mesh, int face) {
    int low = 0, high = mesh->part_count;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (mesh->part[middle].first_face <= face) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return mesh->part_count > 0 ? low : -1;
}

static kk_status fill_builder(kki_mesh_builder *builder, const kk_vec3 *vertex, int vertex_count, const kki_face *face,
                              int face_count, kk_error *error) {
    kk_status status = kki_mesh_builder_reserve(builder, (size_t)vertex_count, (size_t)face_count);
    for (int i = 0; i < vertex_count && status == KK_OK; i++) {
        status = kki_mesh_builder_add_vertex(builder, vertex[i]);
        if (status == KK_NOT_FINITE) {
            return kki_error_set(error, status, "vertex %d is not finite", i);
        }
    }
    for (int i = 0; i < face_count && status == KK_OK; i++) {
        const int32_t *v = face[i].vertex;
        status = kki_mesh_builder_add_face(builder, v[0], v[1], v[2]);
    }
    return status == KK_OK ? KK_OK : kki_error_set(error, status, "mesh: %s", kk_status_text(status));
}

kk_status kki_mesh_create(const kk_vec3 *vertex, int vertex_count, const kki_face *face, int face_count,
                          const kk_allocator *allocator, kki_mesh **mesh, kk_error *error) {
    const kki_mesh_tidy_options as_given = {.weld_tolerance = -1, .keep_degenerate = true, .keep_unused = true};
    kki_mesh_builder builder;
    *mesh = NULL;
    if (vertex_count < 0 || face_count < 0) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "a mesh cannot have a negative number of vertices or faces");
    }
    kki_mesh_builder_begin(&builder, allocator);
    kk_status status = fill_builder(&builder, vertex, vertex_count, face, face_count, error);
    if (status == KK_OK) {
        status = kki_mesh_builder_end(&builder, &as_given, allocator, mesh, error);
    }
    kki_mesh_builder_free(&builder);
    return status;
}
