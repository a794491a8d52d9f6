// Times of impact: closed forms, and random motions sampled finely.
#include "collision/impact.h"

#include <math.h>

#include "bodies.h"

static kki_moving moving(const kki_shape *s, kk_vec3 p, kk_vec3 v, kk_vec3 w) {
    return (kki_moving){s, kk_transform_make(kk_mat3_identity(), p), kk_motion_make(w, v)};
}

// a cube at 1000 m/s against a plate of 1 mm
KK_TEST(fast_cube_hits_thin_plate) {
    const kki_shape cube = {.type = KK_SHAPE_BOX, .half = {0.005, 0.005, 0.005}};
    const kki_shape plate = {.type = KK_SHAPE_BOX, .half = {1, 1, 0.0005}};
    const kki_moving a = moving(&plate, kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 0));
    const kki_moving b = moving(&cube, kk_vec3_make(0, 0, 5.0055), kk_vec3_make(0, 0, -1000), kk_vec3_make(0, 0, 0));
    kki_impact r;
    KK_CHECK(kki_impact_find(&a, &b, 1.0 / 60, 0, &r));
    KK_CHECK_EQ_INT(r.kind, KKI_IMPACT_HIT);
    KK_CHECK_NEAR(r.time, 0.005, 1e-12);
    KK_CHECK(kki_impact_find(&a, &b, 0.0049, 0, &r));
    KK_CHECK_EQ_INT(r.kind, KKI_IMPACT_NONE);
}

// a rod at 1000 rad/s meets a ball that stands on its circle: the angle is that at which its side touches
KK_TEST(spinning_rod_meets_ball) {
    const kki_shape rod = {.type = KK_SHAPE_CAPSULE, .half = {0.01, 0.5}};
    const kki_shape ball = {.type = KK_SHAPE_SPHERE, .half = {0.05}};
    const kki_moving a = moving(&rod, kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 0), kk_vec3_make(0, 1000, 0));
    const kki_moving b = moving(&ball, kk_vec3_make(0.3, 0, 0), kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 0));
    kki_impact r;
    KK_CHECK(kki_impact_find(&a, &b, 0.01, 0, &r));
    KK_CHECK_EQ_INT(r.kind, KKI_IMPACT_HIT);
    KK_CHECK_NEAR(1000 * r.time, KK_HALF_PI - asin(0.06 / 0.3), 1e-9);
    KK_CHECK(r.iterations <= 40);
}

// A rod that whirls for ever beside a wall, and one that comes on for seconds while it does: as balls they are clear, so its
// thousands of turns need not be followed.
KK_TEST(what_whirls_is_clear_as_a_ball) {
    const kki_shape rod = {.type = KK_SHAPE_CYLINDER, .half = {0.01, 1}},
                    wall = {.type = KK_SHAPE_BOX, .half = {1, 1, 1}};
    const kk_vec3 none = {0, 0, 0}, spin = {0, 1e4, 0};
    const double reach = sqrt(1 + 1e-4);
    for (int i = 0; i < 2; i++) {
        const kki_shape *s = i ? &rod : &wall, *u = i ? &wall : &rod;
        kki_moving a = moving(s, none, none, i ? spin : none);
        kki_moving b = moving(u, kk_vec3_make(1 + reach + 1e-3, 0, 0), none, i ? none : spin);
        kki_impact r;
        KK_CHECK(kki_impact_find(&a, &b, 1e6, 0, &r));
        KK_CHECK_EQ_INT(r.kind, KKI_IMPACT_NONE);
        // ten meters on at 1 m/s: within half a turn after the balls meet
        b = moving(u, kk_vec3_make(11 + reach, 0, 0), kk_vec3_make(-1, 0, 0), i ? none : spin);
        KK_CHECK(kki_impact_find(&a, &b, 100, 0, &r));
        KK_CHECK_EQ_INT(r.kind, KKI_IMPACT_HIT);
        KK_CHECK(r.time >= 10 && r.time < 10 + 2 * KK_HALF_PI / 1e4 + 1e-6);
    }
}

static double distance_at(const kki_moving *a, const kki_moving *b, double t) {
    const kk_transform A = kki_moving_pose(a, t), B = kki_moving_pose(b, t);
    kki_separation r = {0};
    KK_CHECK(kki_distance(a->shape, &A, b->shape, &B, NULL, &r));
    return r.distance;
}

static kk_vec3 random_vector(kk_random *random, double size) {
    return bodies_offset(random, 0, size);
}

// nothing touches before the time given, and then it does
static void check_motion(const kki_moving *a, const kki_moving *b, double duration, int *hits, int *most) {
    kki_impact r;
    KK_CHECK(kki_impact_find(a, b, duration, 0, &r));
    KK_CHECK(r.kind != KKI_IMPACT_UNSURE);
    *most = r.iterations > *most ? r.iterations : *most;
    const int samples = 200;
    for (int i = 0; i < samples; i++) {
        const double t = r.time * i / samples;
        KK_CHECK(r.time == 0 || distance_at(a, b, t) > 0);
    }
    if (r.kind == KKI_IMPACT_HIT && r.time > 0) {
        ++*hits;
        KK_CHECK_NEAR(distance_at(a, b, r.time), 0, 1e-9);
    } else if (r.kind == KKI_IMPACT_NONE) {
        KK_CHECK_NEAR(r.time, duration, 0);
    }
}

KK_TEST(random_motions_never_tunnel) {
    kk_random random = {6, 1, 0};
    kki_convex *hull = bodies_hull(&random, 32);
    int hits = 0, most = 0;
    for (int round = 0; round < (kk_test_is_quick() ? 50 : 500); round++) {
        const int ta = (int)kk_random_next_below(&random, KK_SHAPE_HULL + 1);
        const int tb = 1 + (int)kk_random_next_below(&random, KK_SHAPE_HULL);
        const kki_shape s = bodies_shape(&random, ta, hull), u = bodies_shape(&random, tb, hull);
        const kk_vec3 p = kk_vec3_scale(bodies_unit(&random), 5);
        const kk_transform A = bodies_pose(&random, 0.5), B = {bodies_rotation(&random), p};
        kki_moving a = {&s, A, {{0, 0, 0}, {0, 0, 0}}}, b = {&u, B, {{0, 0, 0}, {0, 0, 0}}};
        a.velocity.linear = random_vector(&random, 2);
        b.velocity.linear = kk_vec3_add(kk_vec3_scale(p, -0.8), random_vector(&random, 2));
        a.velocity.angular = random_vector(&random, ta == KK_SHAPE_PLANE ? 1 : 10);
        b.velocity.angular = random_vector(&random, 10);
        check_motion(&a, &b, 2, &hits, &most);
    }
    KK_CHECK(hits > (kk_test_is_quick() ? 15 : 150));
    KK_CHECK(most <= 100);
    kki_convex_free(hull);
}

// long rods that whirl: the direction of contact turns far within a step, so a bound of first order alone would be late
KK_TEST(whirling_rods_are_never_late) {
    kk_random random = {16, 1, 0};
    const kki_shape rod = {.type = KK_SHAPE_BOX, .half = {0.02, 0.05, 1}};
    const kki_shape ball = {.type = KK_SHAPE_SPHERE, .half = {0.1}};
    int hits = 0, most = 0;
    for (int round = 0; round < 300; round++) {
        kki_moving a = {.shape = &rod, .X_WS = bodies_pose(&random, 0.1)};
        a.velocity.angular = random_vector(&random, 20);
        a.velocity.linear = random_vector(&random, 1);
        kki_moving b = {.shape = round % 2 ? &rod : &ball, .X_WS = bodies_pose(&random, 2)};
        b.velocity.linear = random_vector(&random, 1);
        if (round % 2) {
            b.velocity.angular = random_vector(&random, 20);
        }
        const int turned = round % 3 == 0;
        check_motion(turned ? &b : &a, turned ? &a : &b, 0.5, &hits, &most);
    }
    KK_CHECK(hits > 50);
}
