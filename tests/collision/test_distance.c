// Signed distances of all convex pairs against the search over directions, identities of the answer, degenerate bodies.
#include "collision/distance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../support/directions.h"
#include "bodies.h"

static double size_of(const kki_shape *s) {
    return s->type == KK_SHAPE_HULL ? s->convex->outer : s->half[0] + s->half[1] + s->half[2];
}

// Both witness points are on the bodies' support planes, a distance apart along the normal.
static void check_witness(const kki_shape *a, const kk_transform *A, const kki_shape *b, const kk_transform *B,
                          const kki_separation *r, double tolerance) {
    const kk_vec3 off = kk_vec3_sub(r->on_b, r->on_a);
    KK_CHECK_NEAR(kk_vec3_norm(r->normal), 1, 1e-12);
    KK_CHECK_NEAR(kk_vec3_dot(off, r->normal), r->distance, tolerance);
    KK_CHECK_NEAR(directions_separation(a, A, b, B, r->normal), r->distance, tolerance);
}

static int compare(const kki_shape *a, const kk_transform *A, const kki_shape *b, const kk_transform *B) {
    kki_separation r, s;
    const double size = size_of(a) + size_of(b) + kk_vec3_norm(kk_vec3_sub(A->p, B->p));
    if (!KK_CHECK(kki_distance(a, A, b, B, NULL, &r)) || !KK_CHECK(kki_distance(b, B, a, A, NULL, &s))) {
        return 0;
    }
    const directions_answer exact = directions_search(a, A, b, B, 2e-10 * size);
    int good = KK_CHECK(r.distance >= exact.lower - 1e-9 * size) && KK_CHECK(r.distance <= exact.upper + 1e-9 * size);
    good &= KK_CHECK_NEAR(r.distance, s.distance, 1e-9 * size);
    check_witness(a, A, b, B, &r, 1e-9 * size);
    return good;
}

// every combination of convex types, apart and overlapping
KK_TEST(distances_agree_with_search_over_directions) {
    kk_random random = {4, 1, 0};
    kki_convex *hull[BODIES_HULLS];
    for (int i = 0; i < BODIES_HULLS; i++) {
        hull[i] = bodies_hull(&random, 4 << i);
    }
    const char *asked = getenv("KK_COLLISION_ROUNDS");
    const int rounds = asked ? atoi(asked) : kk_test_is_quick() ? 1 : 6;
    for (int round = 0; round < rounds; round++) {
        for (int ta = KK_SHAPE_SPHERE; ta <= KK_SHAPE_HULL; ta++) {
            for (int tb = KK_SHAPE_SPHERE; tb <= ta; tb++) {
                const kki_shape a = bodies_shape(&random, ta, hull[kk_random_next_below(&random, BODIES_HULLS)]);
                const kki_shape b = bodies_shape(&random, tb, hull[kk_random_next_below(&random, BODIES_HULLS)]);
                const kk_transform A = bodies_pose(&random, 0.5), B = bodies_pose(&random, 2);
                if (!compare(&a, &A, &b, &B)) {
                    printf("  types %d %d, round %d\n", ta, tb, round);
                }
            }
        }
    }
    for (int i = 0; i < BODIES_HULLS; i++) {
        kki_convex_free(hull[i]);
    }
}
