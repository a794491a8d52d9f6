// What the fuzz targets of mesh formats share: read, and check what no input may break.
//
// scripts/fuzz.sh stl builds and runs a target. The corpora in tests/fuzz/corpus/{stl,obj,ply,msh,gltf,dae} are replayed,
// cut and damaged by tests/io/test_mesh_faults.c.
#ifndef KARAKURI_TESTS_FUZZ_MESH_H
#define KARAKURI_TESTS_FUZZ_MESH_H

#include "geometry/hull.h"
#include "geometry/mass.h"
#include "io/mesh_read.h"

static inline void fuzz_require(int holds) {
    if (!holds) {
        __builtin_trap();
    }
}

static inline int fuzz_is_finite(double x) {
    return x - x == 0;
}

static inline void fuzz_check_mesh(const kki_mesh *m) {
    fuzz_require(m->vertex_count > 0);
    for (int i = 0; i < m->vertex_count; i++) {
        fuzz_require(fuzz_is_finite(m->vertex[i].x) && fuzz_is_finite(m->vertex[i].y) &&
                     fuzz_is_finite(m->vertex[i].z));
    }
    for (int i = 0; i < m->face_count; i++) {
        for (int k = 0; k < 3; k++) {
            fuzz_require(m->face[i].vertex[k] >= 0 && m->face[i].vertex[k] < m->vertex_count);
        }
    }
    int faces = 0;
    for (int i = 0; i < m->part_count; i++) {
        fuzz_require(m->part[i].first_face == faces && m->part[i].material < m->material_count);
        faces += m->part[i].face_count;
    }
    fuzz_require(m->part_count == 0 || faces == m->face_count);
}

static inline void fuzz_check_surface(const kki_mesh *m) {
    kki_topology *t = NULL;
    fuzz_require(kki_topology_create(m, NULL, &t) == KK_OK);
    fuzz_require(!t->check.is_closed || !t->check.is_manifold || 2 * t->edge_count == 3 * m->face_count);
    kki_topology_free(t);
}

static inline void fuzz_check_masses(const kki_mesh *m) {
    for (int mode = KKI_MASS_SOLID; mode <= KKI_MASS_CONES; mode++) {
        kki_mass mass;
        kk_error error;
        if (kki_mass_of_mesh(m, (kki_mass_mode)mode, NULL, &mass, NULL, &error) == KK_OK) {
            fuzz_require(mass.volume > 0 && fuzz_is_finite(mass.moment.xx) && fuzz_is_finite(mass.center.x));
        }
    }
}

/// One input, by the name of its format's extension.
static inline void fuzz_mesh(const uint8_t *bytes, size_t size, const char *file) {
    kki_mesh *mesh = NULL;
    kk_error error = {0};
    const kk_status status = kki_mesh_read(bytes, size, file, NULL, NULL, &mesh, &error);
    fuzz_require((status == KK_OK) == (mesh != NULL));
    fuzz_require(status == KK_OK || (error.status == status && error.text[0] && error.file[0]));
    if (mesh) {
        fuzz_check_mesh(mesh);
        fuzz_check_surface(mesh);
        fuzz_check_masses(mesh);
    }
    kki_mesh_free(mesh);
}

#endif
