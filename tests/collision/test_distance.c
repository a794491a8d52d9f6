// Signed distances of all convex pairs against the search over directions, identities of the answer, degenerate bodies.
#include "collision/distance.h"

#include <math.h>
#include <stdio.h>

#include "../geometry/shapes.h"
#include "../support/directions.h"
#include "bodies.h"
#include "geometry/hull.h"

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
    const directions_answer exact = directions_search(a, A, b, B, r.normal, 2e-10 * size);
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
    const int rounds = kk_test_is_quick() ? 10 : 50;
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

// ---- degenerate bodies

static double odd_size(kk_random *random) {
    static const double size[] = {0, 1, 1, 0.5, 1e-9, 1e9, 1e-3};
    return size[kk_random_next_below(random, sizeof size / sizeof size[0])];
}

static kk_transform odd_pose(kk_random *random) {
    static const double offset[] = {0, 0, 1, -1, 0.5, 1e-12, 2};
    const size_t n = sizeof offset / sizeof offset[0];
    kk_transform X = kk_transform_identity();
    X.p.x = offset[kk_random_next_below(random, n)];
    X.p.y = offset[kk_random_next_below(random, n)];
    X.p.z = offset[kk_random_next_below(random, n)];
    if (kk_random_next_below(random, 2)) {
        X.R = kk_mat3_from_rpy(KK_HALF_PI * (double)kk_random_next_below(random, 3), 0, 0);
    } else if (kk_random_next_below(random, 2)) {
        X.R = bodies_rotation(random);
    }
    return X;
}

static int is_finite_vector(kk_vec3 v) {
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

static void check_finite(const kki_shape *a, const kk_transform *A, const kki_shape *b, const kk_transform *B) {
    kki_separation r;
    kki_manifold m;
    kki_pair_memory memory = {0};
    KK_CHECK(kki_distance(a, A, b, B, &memory, &r));
    const int good = KK_CHECK(isfinite(r.distance)) & KK_CHECK(is_finite_vector(r.on_a) && is_finite_vector(r.on_b)) &
                     KK_CHECK_NEAR(kk_vec3_norm(r.normal), 1, 1e-9) & KK_CHECK(r.iterations <= 1000);
    const int found = kki_collide(a, A, b, B, 1e-3, &memory, &m, 1);
    for (int i = 0; found == 1 && i < m.count; i++) {
        KK_CHECK(isfinite(m.point[i].gap) && is_finite_vector(m.point[i].position));
    }
    // the normal separates by the distance; not asked of bodies of 1e9, whose corners leave no such normal after rounding
    const double size = size_of(a) + size_of(b) + a->margin + b->margin + kk_vec3_norm(kk_vec3_sub(A->p, B->p));
    const double along = directions_separation(a, A, b, B, r.normal);
    if (!good || !KK_CHECK_NEAR(along, r.distance, size < 1e3 ? 1e-7 * size : INFINITY)) {
        printf("  types %d %d, halves %g %g %g and %g %g %g\n", a->type, b->type, a->half[0], a->half[1], a->half[2],
               b->half[0], b->half[1], b->half[2]);
    }
}

// Sanitizers and debuggers have times of their own.
static int is_timed(void) {
#ifdef __OPTIMIZE__
    return !kk_test_is_quick();
#else
    return 0;
#endif
}

// Seconds of the slower of both queries, without memory of an earlier one.
static double time_once(const kki_shape *a, const kk_transform *A, const kki_shape *b, const kk_transform *B) {
    kki_separation r;
    kki_manifold m;
    kki_pair_memory memory[2] = {{0}, {0}};
    const double start = kk_test_seconds();
    kki_distance(a, A, b, B, &memory[0], &r);
    const double middle = kk_test_seconds();
    kki_collide(a, A, b, B, 1e-3, &memory[1], &m, 1);
    return fmax(middle - start, kk_test_seconds() - middle);
}

// The least of several, where the first is above the bar: other work on the machine takes its share of any one.
static double time_of_pair(const kki_shape *a, const kk_transform *A, const kki_shape *b, const kk_transform *B,
                           double bar) {
    double least = time_once(a, A, b, B);
    for (int i = 1; i < 200 && least > bar; i++) {
        least = fmin(least, time_once(a, A, b, B));
    }
    return least;
}

// zero sizes, needles and sheets, equal and touching bodies: finite, in bounded time, and the normal separates as said
KK_TEST(degenerate_pairs_are_finite) {
    kk_random random = {7, 1, 0};
    for (int round = 0; round < (kk_test_is_quick() ? 1000 : 10000); round++) {
        kki_shape s[2];
        for (int i = 0; i < 2; i++) {
            s[i] = (kki_shape){.type = 1 + (int)kk_random_next_below(&random, KK_SHAPE_BOX)};
            for (int k = 0; k < 3; k++) {
                s[i].half[k] = odd_size(&random);
            }
            s[i].margin = kk_random_next_below(&random, 4) ? 0 : odd_size(&random);
        }
        if (kk_random_next_below(&random, 4) == 0) {
            s[1] = s[0];
        }
        const kk_transform A = odd_pose(&random), B = odd_pose(&random);
        check_finite(&s[0], &A, &s[1], &B);
        if (is_timed()) {
            const double seconds = time_of_pair(&s[0], &A, &s[1], &B, 100e-6);
            if (!KK_CHECK(seconds <= 100e-6)) {
                printf("  round %d, types %d %d: %.0f us\n", round, s[0].type, s[1].type, 1e6 * seconds);
            }
        }
    }
}

// ---- several ways out of one length

// how far a point lies outside a shape, told by a small ball around it
static double outside(const kki_shape *s, const kk_transform *X, kk_vec3 p) {
    const kki_shape ball = {.type = KK_SHAPE_SPHERE, .half = {1e-3}};
    const kk_transform P = {kk_mat3_identity(), p};
    kki_separation r;
    return kki_distance(s, X, &ball, &P, NULL, &r) ? r.distance + 1e-3 : 1;
}

// The witness points must belong to the way that was chosen: on their bodies, each in its plane across the normal.
static void check_way_out(const kki_shape *a, const kk_transform *A, const kki_shape *b, const kk_transform *B) {
    kki_separation r;
    KK_CHECK(kki_distance(a, A, b, B, NULL, &r));
    check_witness(a, A, b, B, &r, 1e-9);
    KK_CHECK(outside(a, A, r.on_a) < 1e-6);
    KK_CHECK(outside(b, B, r.on_b) < 1e-6);
}

KK_TEST(witness_points_of_concentric_bodies) {
    kk_random random = {8, 1, 0};
    kk_vec3 corner[8];
    shapes_box_corners(1, 1, 1, corner);
    kki_mesh *mesh = NULL;
    kki_convex *cube = NULL;
    KK_CHECK(kki_hull_of_points(corner, 8, NULL, NULL, &mesh, NULL) == KK_OK);
    KK_CHECK(kki_convex_create(mesh, NULL, &cube, NULL) == KK_OK);
    for (int ta = KK_SHAPE_SPHERE; ta <= KK_SHAPE_HULL; ta++) {
        for (int tb = KK_SHAPE_SPHERE; tb <= KK_SHAPE_HULL; tb++) {
            const kki_shape a = {.type = ta, .half = {0.5, 0.5, 0.5}, .convex = ta == KK_SHAPE_HULL ? cube : NULL};
            const kki_shape b = {.type = tb, .half = {0.5, 0.5, 0.5}, .convex = tb == KK_SHAPE_HULL ? cube : NULL};
            const kk_transform I = kk_transform_identity(), R = {bodies_rotation(&random), {0, 0, 0}};
            check_way_out(&a, &I, &b, &I);
            check_way_out(&a, &R, &b, &R);
        }
    }
    kki_convex_free(cube);
    kki_mesh_free(mesh);
}

// An almost round ellipsoid in a cone or cylinder of one axis: along the edge of the difference that the side makes hardly
// anything changes, and the search used to end up to a tenth of a radian beside the best normal.
KK_TEST(almost_round_bodies_of_one_axis) {
    const kk_transform I = kk_transform_identity();
    for (int i = 0; i < 20; i++) {
        const double rounder = 1e-4 * (1 << i % 10), r = i < 10 ? 0.6 : 0.67;
        const kki_shape egg = {.type = KK_SHAPE_ELLIPSOID, .half = {r, r * (1 - rounder), 0.9 * r}};
        const kki_shape other = {.type = i % 2 ? KK_SHAPE_CONE : KK_SHAPE_CYLINDER, .half = {0.84, i % 2 ? 0.4 : 2}};
        compare(&other, &I, &egg, &I);
        compare(&egg, &I, &other, &I);
    }
}

// ---- closed forms

KK_TEST(distances_in_closed_form) {
    const kki_shape ball = {.type = KK_SHAPE_SPHERE, .half = {0.5}}, box = {.type = KK_SHAPE_BOX, .half = {1, 2, 3}};
    const kki_shape egg = {.type = KK_SHAPE_ELLIPSOID, .half = {1, 2, 3}};
    const kk_transform O = kk_transform_identity(), X = kk_transform_translation(4, 6, 7);
    kki_separation r;
    KK_CHECK(kki_distance(&box, &O, &ball, &X, NULL, &r));
    KK_CHECK_NEAR(r.distance, sqrt(9 + 16 + 16) - 0.5, 1e-15);
    const kk_transform Y = kk_transform_translation(0.9, 0, 0);
    KK_CHECK(kki_distance(&box, &O, &ball, &Y, NULL, &r)); // inside, nearest to the face x = 1
    KK_CHECK_NEAR(r.distance, -0.6, 1e-15);
    KK_CHECK_NEAR(r.normal.x, 1, 0);
    KK_CHECK(kki_distance(&egg, &O, &ball, &O, NULL, &r)); // from the center the shortest axis is the way out
    KK_CHECK_NEAR(r.distance, -1.5, 1e-15);
    const kk_transform Z = kk_transform_translation(2.25, 0, 0);
    KK_CHECK(kki_distance(&box, &O, &box, &Z, NULL, &r));
    KK_CHECK_NEAR(r.distance, 0.25, 1e-15);
    KK_CHECK_NEAR(r.normal.x, 1, 0);
}
