// Random shapes and poses for tests of collision.
//
// Numbers are drawn one statement after the other, here and in the tests: the order in which arguments and lists of
// initial values are evaluated is the compiler's choice, and all compilers are to test the same bodies.
#ifndef KK_TESTS_COLLISION_BODIES_H
#define KK_TESTS_COLLISION_BODIES_H

#include <karakuri/random.h>

#include "geometry/convex.h"
#include "geometry/hull.h"
#include "harness.h"

enum { BODIES_HULLS = 6 };

static inline double bodies_between(kk_random *random, double low, double high) {
    return kk_random_next_between(random, low, high);
}

static inline kk_vec3 bodies_unit(kk_random *random) {
    for (;;) {
        const double x = bodies_between(random, -1, 1), y = bodies_between(random, -1, 1);
        const kk_vec3 v = {x, y, bodies_between(random, -1, 1)};
        const double n = kk_vec3_norm(v);
        if (n > 0.1 && n < 1) {
            return kk_vec3_scale(v, 1 / n);
        }
    }
}

/// A vector of any direction, its length between `low` and `high`.
static inline kk_vec3 bodies_offset(kk_random *random, double low, double high) {
    const kk_vec3 u = bodies_unit(random);
    return kk_vec3_scale(u, bodies_between(random, low, high));
}

static inline kk_mat3 bodies_rotation(kk_random *random) {
    const double a = kk_random_next_normal(random), b = kk_random_next_normal(random);
    const double c = kk_random_next_normal(random), d = kk_random_next_normal(random);
    return kk_quat_to_mat3(kk_quat_normalize((kk_quat){a, b, c, d}));
}

/// The hull of `count` points on a unit sphere, squeezed a little at random.
static inline kki_convex *bodies_hull(kk_random *random, int count) {
    static kk_vec3 point[4096];
    kki_mesh *mesh = NULL;
    kki_convex *convex = NULL;
    kk_error error = {0};
    const double sx = bodies_between(random, 0.5, 1), sy = bodies_between(random, 0.5, 1);
    for (int i = 0; i < count; i++) {
        const kk_vec3 p = bodies_unit(random);
        point[i] = kk_vec3_make(sx * p.x, sy * p.y, p.z);
    }
    if (kki_hull_of_points(point, count, NULL, NULL, &mesh, &error) != KK_OK ||
        kki_convex_create(mesh, NULL, &convex, &error) != KK_OK) {
        KK_FAIL("hull: %s", error.text);
    }
    kki_mesh_free(mesh);
    return convex;
}

/// A convex shape of the type, its sizes between 0.2 and 1.
static inline kki_shape bodies_shape(kk_random *random, int type, const kki_convex *hull) {
    kki_shape s = {.type = type};
    for (int i = 0; i < 3; i++) {
        s.half[i] = bodies_between(random, 0.2, 1);
    }
    s.convex = type == KK_SHAPE_HULL ? hull : NULL;
    s.margin = kk_random_next_below(random, 4) == 0 ? bodies_between(random, 0.01, 0.2) : 0;
    return s;
}

static inline kk_transform bodies_pose(kk_random *random, double reach) {
    const kk_mat3 R = bodies_rotation(random);
    return kk_transform_make(R, bodies_offset(random, 0, reach));
}

#endif
