// Meshes for tests: box, tetrahedron, grids of points.
#ifndef KK_TESTS_GEOMETRY_SHAPES_H
#define KK_TESTS_GEOMETRY_SHAPES_H

#include <karakuri/random.h>

#include "geometry/mesh.h"
#include "harness.h"

static const kki_face SHAPES_BOX_FACES[12] = {{{0, 2, 3}}, {{0, 3, 1}}, {{4, 5, 7}}, {{4, 7, 6}},
                                              {{0, 1, 5}}, {{0, 5, 4}}, {{2, 6, 7}}, {{2, 7, 3}},
                                              {{0, 4, 6}}, {{0, 6, 2}}, {{1, 3, 7}}, {{1, 7, 5}}};

static inline void shapes_box_corners(double x, double y, double z, kk_vec3 corner[8]) {
    for (int i = 0; i < 8; i++) {
        corner[i] = kk_vec3_make(i & 1 ? x / 2 : -x / 2, i & 2 ? y / 2 : -y / 2, i & 4 ? z / 2 : -z / 2);
    }
}

static inline kki_mesh *shapes_mesh(const kk_vec3 *vertex, int vertices, const kki_face *face, int faces) {
    kki_mesh *mesh = NULL;
    kk_error error = {0};
    if (kki_mesh_create(vertex, vertices, face, faces, NULL, &mesh, &error) != KK_OK) {
        KK_FAIL("mesh: %s", error.text);
    }
    return mesh;
}

/// A box placed by X.
static inline kki_mesh *shapes_box(double x, double y, double z, kk_transform X) {
    kk_vec3 corner[8];
    shapes_box_corners(x, y, z, corner);
    for (int i = 0; i < 8; i++) {
        corner[i] = kk_transform_point(X, corner[i]);
    }
    return shapes_mesh(corner, 8, SHAPES_BOX_FACES, 12);
}

static inline kki_topology *shapes_topology(const kki_mesh *mesh) {
    kki_topology *t = NULL;
    KK_CHECK_EQ_INT(kki_topology_create(mesh, NULL, &t), KK_OK);
    return t;
}

static inline double shapes_uniform(kk_random *random) {
    return kk_random_next_between(random, -1, 1);
}

static inline kk_vec3 shapes_point(kk_random *random) {
    const double x = shapes_uniform(random), y = shapes_uniform(random), z = shapes_uniform(random);
    return kk_vec3_make(x, y, z);
}

#endif
