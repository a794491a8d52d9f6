// Analysis of motions: polygons by brute force, the zero-moment point in closed form, hand-over without a jump, energy's balance.
#include <karakuri/analysis.h>
#include <karakuri/elementary.h>
#include <math.h>
#include <string.h>

#include "support/allocations.h"
#include "support/scene.h"

// ---- polygons

/// A point is on the hull's border or inside: to the left of every edge.
static int is_within(const kk_vec3 *p, int n, kk_vec3 x) {
    for (int i = 0; i < n; i++) {
        const kk_vec3 a = p[i], b = p[(i + 1) % n];
        if ((b.x - a.x) * (x.y - a.y) - (b.y - a.y) * (x.x - a.x) < -1e-12) {
            return 0;
        }
    }
    return 1;
}

KK_TEST(polygon_hull_holds_all_points) {
    enum { MOST = 40 };
    for (uint64_t seed = 0; seed < 200; seed++) {
        const int n = 3 + (int)(seed % (MOST - 3));
        kk_vec3 given[MOST], p[MOST];
        for (int i = 0; i < n; i++) {
            // on a coarse grid, so that many lie on common lines or on one another
            given[i] = kk_vec3_make(floor(8 * kk_random_uniform_at(seed, 1, (uint64_t)i)),
                                    floor(8 * kk_random_uniform_at(seed, 2, (uint64_t)i)), 0);
        }
        memcpy(p, given, sizeof p);
        const int count = kk_polygon_hull(p, n);
        for (int i = 0; i < n && count > 2; i++) {
            KK_CHECK(is_within(p, count, given[i]));
        }
        for (int i = 0; i < count && count > 2; i++) { // strictly convex
            const kk_vec3 a = p[i], b = p[(i + 1) % count], c = p[(i + 2) % count];
            KK_CHECK((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) > 0);
        }
    }
}

KK_TEST(polygon_margin_closed_form) {
    kk_vec3 square[6] = {{1, 1, 0}, {-1, 1, 0}, {0, 1, 0}, {-1, -1, 0}, {1, -1, 0}, {0.2, 0.1, 0}};
    const int n = kk_polygon_hull(square, 6);
    KK_CHECK_EQ_INT(n, 4);
    KK_CHECK_NEAR(kk_polygon_margin(square, n, kk_vec3_make(0, 0, 5)), 1, 0);
    KK_CHECK_NEAR(kk_polygon_margin(square, n, kk_vec3_make(0.25, -0.5, 0)), 0.5, 1e-15);
    KK_CHECK_NEAR(kk_polygon_margin(square, n, kk_vec3_make(1, 0, 0)), 0, 0);
    KK_CHECK_NEAR(kk_polygon_margin(square, n, kk_vec3_make(4, 5, 0)), -5, 1e-15);
    KK_CHECK_NEAR(kk_polygon_margin(square, 1, kk_vec3_make(1, 1, 0)) + 1,
                  1 - kk_hypot(square[0].x - 1, square[0].y - 1), 1e-15);
    KK_CHECK(kk_polygon_margin(square, 0, kk_vec3_make(0, 0, 0)) == -INFINITY);
    kk_vec3 line[4] = {{0, 0, 0}, {2, 2, 0}, {1, 1, 0}, {0.5, 0.5, 0}};
    KK_CHECK_EQ_INT(kk_polygon_hull(line, 4), 2);
    KK_CHECK_NEAR(kk_polygon_margin(line, 2, kk_vec3_make(1, 0, 0)), -sqrt(0.5), 1e-15);
}

// ---- the zero-moment point

// a point mass that the floor pushes at height 0: the force goes through the mass, so ZMP = x − z ẍ/(z̈ + g)
KK_TEST(zmp_of_a_cart) {
    const double m = 3, g = 9.81, x = 0.4, y = -0.2, z = 0.9, ax = 1.3, ay = -0.7, az = 0.5;
    const kk_vec3 f = {m * ax, m * ay, m * (az + g)};
    const kk_force floor = {kk_vec3_cross(kk_vec3_make(x, y, z), f), f};
    const kk_vec3 zmp = kk_zero_moment_point(floor, 0);
    KK_CHECK_NEAR(zmp.x, x - z * ax / (az + g), 1e-15);
    KK_CHECK_NEAR(zmp.y, y - z * ay / (az + g), 1e-15);
    const kk_vec3 higher = kk_zero_moment_point(floor, 0.3);
    KK_CHECK_NEAR(higher.x, x - (z - 0.3) * ax / (az + g), 1e-15);
}

// ---- frames

enum { LEGS = 2 };
typedef struct walker {
    scene s;
    int foot[LEGS];
} walker;

static walker walker_make(void) {
    walker w = {.s = scene_robot("humanoid36", 3)};
    w.foot[0] = kk_model_find_body(w.s.model, "left_foot");
    w.foot[1] = kk_model_find_body(w.s.model, "right_foot");
    return w;
}

/// Every joint swings smoothly; the base as given stays where it is.
static void move(walker *w, double t) {
    kk_model_neutral(w->s.model, w->s.q);
    for (int k = 0; k < w->s.nv; k++) {
        w->s.v[k] = w->s.a[k] = 0;
    }
    for (int b = 1; b < w->s.nbody; b++) {
        const kk_joint_info j = kk_model_joint(w->s.model, b);
        if (j.type == KK_JOINT_HINGE) {
            const double amplitude = 0.2 * kk_random_uniform_at(9, 1, (uint64_t)b), rate = 2 + b % 3;
            w->s.q[j.q_index] = amplitude * kk_sin(rate * t);
            w->s.v[j.v_index] = amplitude * rate * kk_cos(rate * t);
            w->s.a[j.v_index] = -amplitude * rate * rate * kk_sin(rate * t);
        }
    }
}

static double distance(kk_vec3 a, kk_vec3 b) {
    return kk_vec3_norm(kk_vec3_sub(a, b));
}

// the base must be in the same place whichever foot is pinned at the moment of the change, and every frame lands on its neighbors
KK_TEST(analysis_hands_over_without_a_jump) {
    walker w = walker_make();
    const kk_support plan[2] = {{0, w.foot[0], -1}, {0.5, w.foot[1], -1}};
    const kk_analysis_def def = {.support = plan, .support_count = 2};
    kk_analysis *x = NULL;
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_analysis_create(w.s.model, &def, NULL, &x, &error), KK_OK);
    const int base = kk_model_joint(w.s.model, kk_model_find_joint(w.s.model, "pelvis_joint")).q_index;
    kk_vec3 last = {0}, foot[LEGS] = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i <= 100; i++) {
        kk_analysis_frame f;
        move(&w, 0.01 * i);
        KK_CHECK_EQ_INT(kk_analysis_add(x, 0.01 * i, w.s.q, w.s.v, w.s.a, &f, &error), KK_OK);
        KK_CHECK_EQ_INT(f.support, i >= 50);
        const kk_vec3 p = kk_vec3_make(f.q[base + 4], f.q[base + 5], f.q[base + 6]);
        const kk_vec3 stance = kk_body_pose(w.s.model, kk_analysis_data(x), w.foot[f.support]).p;
        KK_CHECK(i == 0 || distance(p, last) < 0.03);
        KK_CHECK(i == 0 || i == 50 || distance(stance, foot[f.support]) < 1e-12);
        // the floor carries the weight and what accelerates the center of mass, and no base torque is left
        for (int k = 0; k < 6; k++) {
            KK_CHECK(f.tau[k] == 0);
        }
        last = p;
        foot[f.support] = stance;
    }
    kk_analysis_free(x);
    scene_free(&w.s);
}

// work of all joints is the change of energy, since the pinned foot does none
KK_TEST(analysis_work_is_energy) {
    walker w = walker_make();
    const kk_support plan = {0, w.foot[1], -1};
    const kk_analysis_def def = {.support = &plan, .support_count = 1};
    kk_analysis *x = NULL;
    KK_CHECK_EQ_INT(kk_analysis_create(w.s.model, &def, NULL, &x, NULL), KK_OK);
    double first = 0, energy = 0, work = 0;
    kk_analysis_frame f;
    for (int i = 0; i <= 1000; i++) {
        move(&w, 0.001 * i);
        KK_CHECK_EQ_INT(kk_analysis_add(x, 0.001 * i, w.s.q, w.s.v, w.s.a, &f, NULL), KK_OK);
        energy = kk_kinetic_energy(w.s.model, w.s.data, f.q, f.v) + kk_potential_energy(w.s.model, w.s.data, f.q);
        first = i == 0 ? energy : first;
    }
    for (int k = 0; k < w.s.nv; k++) {
        const kk_joint_effort e = kk_analysis_effort(x, k);
        work += e.positive_work + e.negative_work;
        KK_CHECK(e.positive_work >= 0 && e.negative_work <= 0 && e.rms_torque <= e.peak_torque * (1 + 1e-12));
    }
    KK_CHECK_NEAR(work, energy - first, 2e-4);
    kk_analysis_free(x);
    scene_free(&w.s);
}

// a free base whose motion is given: the floor's wrench is that of inverse dynamics with the same base
KK_TEST(analysis_without_pin) {
    walker w = walker_make();
    const kk_support plan = {0, w.foot[0], -1};
    const kk_analysis_def pinned = {.support = &plan, .support_count = 1}, loose = {0};
    kk_analysis *x = NULL, *y = NULL;
    KK_CHECK_EQ_INT(kk_analysis_create(w.s.model, &pinned, NULL, &x, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_analysis_create(w.s.model, &loose, NULL, &y, NULL), KK_OK);
    kk_analysis_frame f, g;
    move(&w, 0.3);
    KK_CHECK_EQ_INT(kk_analysis_add(x, 0, w.s.q, w.s.v, w.s.a, &f, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_analysis_add(y, 0, f.q, f.v, f.a, &g, NULL), KK_OK);
    KK_CHECK_NEAR(distance(f.zmp, g.zmp), 0, 1e-12);
    KK_CHECK_NEAR(distance(f.com, g.com), 0, 1e-12);
    KK_CHECK_NEAR(distance(f.floor.linear, g.floor.linear), 0, 1e-9);
    KK_CHECK_NEAR(distance(f.floor.angular, g.floor.angular), 0, 1e-9);
    kk_analysis_free(x);
    kk_analysis_free(y);
    scene_free(&w.s);
}

KK_TEST(analysis_allocates_nothing_a_frame) {
    walker w = walker_make();
    const kk_support plan[2] = {{0, w.foot[0], -1}, {0.05, w.foot[1], -1}};
    const kk_analysis_def def = {.support = plan, .support_count = 2};
    kk_analysis *x = NULL;
    KK_CHECK_EQ_INT(kk_analysis_create(w.s.model, &def, NULL, &x, NULL), KK_OK);
    const long before = allocations_so_far();
    for (int i = 0; i < 10; i++) {
        kk_analysis_frame f;
        move(&w, 0.01 * i);
        kk_analysis_add(x, 0.01 * i, w.s.q, w.s.v, w.s.a, &f, NULL);
    }
    KK_CHECK_EQ_INT(allocations_so_far(), before);
    kk_analysis_free(x);
    scene_free(&w.s);
}

KK_TEST(analysis_refuses) {
    walker w = walker_make();
    const kk_support unknown = {0, 9999, -1}, falling[2] = {{1, w.foot[0], -1}, {0, w.foot[1], -1}};
    kk_analysis_def def = {.support = &unknown, .support_count = 1};
    kk_analysis *x = NULL;
    kk_error error;
    KK_CHECK_EQ_INT(kk_analysis_create(w.s.model, &def, NULL, &x, &error), KK_NOT_FOUND);
    def = (kk_analysis_def){.support = falling, .support_count = 2};
    KK_CHECK_EQ_INT(kk_analysis_create(w.s.model, &def, NULL, &x, &error), KK_INVALID_ARGUMENT);
    for (int n = 0; n < 2; n++) {
        faulty f = {.fail_at = n};
        const kk_allocator allocator = {faulty_allocate, faulty_release, &f};
        KK_CHECK_EQ_INT(kk_analysis_create(w.s.model, NULL, &allocator, &x, &error), KK_OUT_OF_MEMORY);
        KK_CHECK(x == NULL && f.blocks == 0);
    }
    KK_CHECK_EQ_INT(kk_analysis_create(w.s.model, NULL, NULL, &x, &error), KK_OK);
    move(&w, 0);
    KK_CHECK_EQ_INT(kk_analysis_add(x, 1, w.s.q, w.s.v, w.s.a, NULL, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_analysis_add(x, 1, w.s.q, w.s.v, w.s.a, NULL, &error), KK_INVALID_ARGUMENT);
    kk_analysis_free(x);
    scene_free(&w.s);
}
