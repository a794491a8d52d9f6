// Contact points: closed forms of resting bodies, properties that every manifold has, ids that stay.
#include "collision/manifold.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "bodies.h"
#include "collision/distance.h"
#include "collision/patch.h"

static kki_shape box(double x, double y, double z) {
    return (kki_shape){.type = KK_SHAPE_BOX, .half = {x, y, z}};
}

static kki_shape of_type(int type, double x, double y, double z) {
    return (kki_shape){.type = type, .half = {x, y, z}};
}

static kk_transform at(double x, double y, double z) {
    return kk_transform_translation(x, y, z);
}

static double deepest(const kki_manifold *m) {
    double d = INFINITY;
    for (int i = 0; i < m->count; i++) {
        d = fmin(d, m->point[i].gap);
    }
    return d;
}

// The moment a unit force spread evenly has about z's foot: zero where the points surround it evenly.
static kk_vec3 mean_point(const kki_manifold *m) {
    kk_vec3 sum = {0, 0, 0};
    for (int i = 0; i < m->count; i++) {
        sum = kk_vec3_add(sum, kk_vec3_scale(m->point[i].position, 1.0 / m->count));
    }
    return sum;
}

// a body standing on another has the contact of its own face, for every flat-footed type
KK_TEST(standing_bodies_have_four_points) {
    const kki_shape below[] = {box(1, 1, 0.5), of_type(KK_SHAPE_CYLINDER, 1, 0.5, 0), {.type = KK_SHAPE_PLANE}};
    const double top[] = {0.5, 0.5, 0};
    const kki_shape above[] = {box(0.3, 0.2, 0.4), of_type(KK_SHAPE_CYLINDER, 0.3, 0.4, 0),
                               of_type(KK_SHAPE_CONE, 0.3, 0.4, 0)};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            for (int k = -1; k <= 1; k++) {
                const double gap = 1e-4 * k;
                const kk_transform A = at(0, 0, 0), B = at(0.1, 0.05, top[i] + 0.4 + gap);
                kki_pair_memory memory = {0};
                kki_manifold m;
                KK_CHECK_EQ_INT(kki_collide(&below[i], &A, &above[j], &B, 1e-3, &memory, &m, 1), 1);
                KK_CHECK_EQ_INT(m.count, 4);
                KK_CHECK_NEAR(m.normal.x, 0, 0);
                KK_CHECK_NEAR(m.normal.y, 0, 0);
                KK_CHECK_NEAR(m.normal.z, 1, 0);
                for (int p = 0; p < m.count; p++) {
                    KK_CHECK_NEAR(m.point[p].gap, gap, 1e-15);
                    KK_CHECK_NEAR(m.point[p].position.z, top[i], 1e-15);
                }
                KK_CHECK_NEAR(kk_vec3_norm(kk_vec3_sub(mean_point(&m), kk_vec3_make(0.1, 0.05, top[i]))), 0, 1e-15);
            }
        }
    }
}

// capsule and cylinder on their side touch along a line, whose ends are the points
KK_TEST(lying_bodies_have_two_points) {
    const kki_shape ground[] = {box(3, 3, 0.5), {.type = KK_SHAPE_PLANE}};
    const double top[] = {0.5, 0};
    const int types[] = {KK_SHAPE_CAPSULE, KK_SHAPE_CYLINDER};
    for (int i = 0; i < 4; i++) {
        const kki_shape b = of_type(types[i % 2], 0.2, 0.6, 0);
        const kk_mat3 R = kk_mat3_from_rpy(0, KK_HALF_PI, 0.3);
        const kk_transform A = at(0, 0, 0), B = kk_transform_make(R, kk_vec3_make(0.2, 0.1, top[i / 2] + 0.2 - 1e-5));
        kki_pair_memory memory = {0};
        kki_manifold m;
        KK_CHECK_EQ_INT(kki_collide(&ground[i / 2], &A, &b, &B, 0.01, &memory, &m, 1), 1);
        if (!KK_CHECK_EQ_INT(m.count, 2)) {
            continue;
        }
        KK_CHECK_NEAR(m.normal.z, 1, 0);
        KK_CHECK_NEAR(m.point[0].gap, -1e-5, 1e-14);
        KK_CHECK_NEAR(m.point[1].gap, -1e-5, 1e-14);
        KK_CHECK_NEAR(kk_vec3_norm(kk_vec3_sub(m.point[0].position, m.point[1].position)), 1.2, 1e-12);
    }
}

// two capsules side by side share the stretch where they overlap
KK_TEST(parallel_capsules_share_a_stretch) {
    const kki_shape a = of_type(KK_SHAPE_CAPSULE, 0.1, 1, 0), b = of_type(KK_SHAPE_CAPSULE, 0.2, 0.5, 0);
    const kk_transform A = at(0, 0, 0), B = at(0.29, 0, 0.8);
    kki_pair_memory memory = {0};
    kki_manifold m;
    KK_CHECK_EQ_INT(kki_collide(&a, &A, &b, &B, 0.01, &memory, &m, 1), 1);
    KK_CHECK_EQ_INT(m.count, 2);
    KK_CHECK_NEAR(m.normal.x, 1, 1e-15);
    KK_CHECK_NEAR(fmin(m.point[0].position.z, m.point[1].position.z), 0.3, 1e-14);
    KK_CHECK_NEAR(fmax(m.point[0].position.z, m.point[1].position.z), 1, 1e-14);
    KK_CHECK_NEAR(deepest(&m), -0.01, 1e-15);
}

// a box pushed over an edge: the overhanging corners become crossings exactly on the edge
KK_TEST(overhang_is_cut_at_the_edge) {
    const kki_shape a = box(1, 1, 0.5), b = box(0.5, 0.5, 0.5);
    const kk_transform A = at(0, 0, 0), B = at(0.8, 0, 1);
    kki_pair_memory memory = {0};
    kki_manifold m;
    KK_CHECK_EQ_INT(kki_collide(&a, &A, &b, &B, 0.01, &memory, &m, 1), 1);
    KK_CHECK_EQ_INT(m.count, 4);
    KK_CHECK_NEAR(mean_point(&m).x, (0.3 + 1.0) / 2, 1e-14);
}

static int has_feature(const kki_manifold *m, uint64_t feature) {
    for (int i = 0; i < m->count; i++) {
        if (m->point[i].feature == feature) {
            return 1;
        }
    }
    return 0;
}

// equal boxes on each other, jittered by less than the slack: the same four features in every step
KK_TEST(features_stay_under_jitter) {
    kk_random random = {8, 1, 0};
    const kki_shape a = box(0.5, 0.4, 0.3);
    kki_pair_memory memory = {0};
    kki_manifold first = {0};
    for (int step = 0; step < 200; step++) {
        const double e = 1e-5;
        double jitter[6];
        for (int k = 0; k < 6; k++) {
            jitter[k] = bodies_between(&random, -e, e);
        }
        const kk_mat3 R = kk_mat3_from_rpy(jitter[0], jitter[1], jitter[2]);
        const kk_transform A = at(0, 0, 0), B = {R, {jitter[3], jitter[4], 0.6 + jitter[5]}};
        kki_manifold m;
        KK_CHECK_EQ_INT(kki_collide(&a, &A, &a, &B, 1e-3, &memory, &m, 1), 1);
        KK_CHECK_EQ_INT(m.count, 4);
        if (step == 0) {
            first = m;
        }
        for (int i = 0; i < m.count; i++) {
            KK_CHECK(has_feature(&first, m.point[i].feature));
        }
    }
}

// ---- properties of all

// How far p is from the surface of a body.
static double off_surface(const kki_shape *s, const kk_transform *X, kk_vec3 p) {
    const kki_shape point = {.type = KK_SHAPE_SPHERE};
    const kk_transform P = at(p.x, p.y, p.z);
    kki_separation r = {0};
    KK_CHECK(kki_distance(s, X, &point, &P, NULL, &r));
    return r.distance;
}

static double measure(const kki_shape *s) {
    const double r = kk_vec3_norm(kk_vec3_make(s->half[0], s->half[1], s->type == KK_SHAPE_BOX ? s->half[2] : 0));
    return s->type == KK_SHAPE_HULL ? s->convex->outer : r + s->margin;
}

static void check_manifold(const kki_shape *a, const kk_transform *A, const kki_shape *b, const kk_transform *B,
                           const kki_manifold *m, double distance, double reach) {
    const double r = fmin(measure(a), measure(b));
    KK_CHECK_NEAR(kk_vec3_norm(m->normal), 1, 1e-12);
    KK_CHECK(m->count >= 1 && m->count <= 5);
    KK_CHECK_NEAR(deepest(m), distance, 3e-3 * r);
    for (int i = 0; i < m->count; i++) {
        const kki_contact_point *p = &m->point[i];
        const kk_vec3 on_b = kk_vec3_add(p->position, kk_vec3_scale(m->normal, p->gap));
        KK_CHECK(p->gap <= reach);
        // beside an edge by the slack of 2e-3, at a pointed corner by that over the sine of half its angle
        KK_CHECK(off_surface(a, A, p->position) < 2e-2 * r && off_surface(b, B, on_b) < 2e-2 * r);
        for (int k = 0; k < i; k++) {
            KK_CHECK(p->feature != m->point[k].feature);
        }
    }
}

// the deepest gap is the signed distance, points lie on both bodies, the order of the bodies does not matter
KK_TEST(manifolds_of_random_pairs) {
    kk_random random = {5, 1, 0};
    kki_convex *hull[BODIES_HULLS];
    for (int i = 0; i < BODIES_HULLS; i++) {
        hull[i] = bodies_hull(&random, 4 << i);
    }
    for (int round = 0; round < (kk_test_is_quick() ? 1000 : 10000); round++) {
        const int ta = (int)kk_random_next_below(&random, KK_SHAPE_HULL + 1);
        const int tb = 1 + (int)kk_random_next_below(&random, KK_SHAPE_HULL);
        const kki_shape a = bodies_shape(&random, ta, hull[kk_random_next_below(&random, BODIES_HULLS)]);
        const kki_shape b = bodies_shape(&random, tb, hull[kk_random_next_below(&random, BODIES_HULLS)]);
        const kk_transform A = bodies_pose(&random, 0.5), B = bodies_pose(&random, 2);
        kki_pair_memory memory = {0}, other = {0};
        kki_separation d = {0};
        kki_manifold m, n;
        KK_CHECK(kki_distance(&a, &A, &b, &B, NULL, &d));
        const double reach = 0.05;
        const int found = kki_collide(&a, &A, &b, &B, reach, &memory, &m, 1);
        KK_CHECK_EQ_INT(found, d.distance <= reach);
        KK_CHECK_EQ_INT(kki_collide(&b, &B, &a, &A, reach, &other, &n, 1), found);
        if (found == 1) {
            check_manifold(&a, &A, &b, &B, &m, d.distance, reach);
            KK_CHECK_NEAR(deepest(&m), deepest(&n), 3e-3);
            // asked again with what it remembers, it says the same
            kki_manifold again;
            KK_CHECK_EQ_INT(kki_collide(&a, &A, &b, &B, reach, &memory, &again, 1), 1);
            KK_CHECK_NEAR(deepest(&again), deepest(&m), 1e-3);
        }
    }
    for (int i = 0; i < BODIES_HULLS; i++) {
        kki_convex_free(hull[i]);
    }
}

// boxes alone, many: the fifteen axes give what the general search gives
KK_TEST(boxes_agree_with_general_search) {
    kk_random random = {15, 1, 0};
    for (int round = 0; round < 3000; round++) {
        const kki_shape a = bodies_shape(&random, KK_SHAPE_BOX, NULL), b = bodies_shape(&random, KK_SHAPE_BOX, NULL);
        const kk_transform A = bodies_pose(&random, 0.5), B = bodies_pose(&random, 2);
        kki_pair_memory memory = {0};
        kki_separation d = {0};
        kki_manifold m;
        KK_CHECK(kki_distance(&a, &A, &b, &B, NULL, &d));
        if (kki_collide(&a, &A, &b, &B, 0.05, &memory, &m, 1) == 1 && d.distance <= 0) {
            // deeper only where a face is preferred to edges better by 1e-5 of the smaller radius; less deep only where a
            // corner stands for a witness within 1e-3 of it
            KK_CHECK(deepest(&m) >= d.distance - 3e-5 && deepest(&m) <= d.distance + 2e-3);
        }
    }
}

// The way of every convex shape: by its core and the patch that faces the floor.
static int collide_by_patch(const kki_shape *a, const kk_transform *A, const kki_shape *b, const kk_transform *B,
                            double reach, kki_pair_memory *memory, kki_manifold *m) {
    const kki_core core = kki_core_of(b);
    const kk_transform X_AB = kk_transform_mul(kk_transform_inverse(*A), *B);
    const kk_vec3 down = {-X_AB.R.m[6], -X_AB.R.m[7], -X_AB.R.m[8]};
    int id = -1;
    const kk_vec3 low = kk_transform_point(X_AB, kki_core_support(&core, down, &id));
    const kki_floor_meeting meeting = {low, a->margin, core.radius, reach};
    m->count = 0;
    memory->reference = 0;
    if (low.z - (a->margin + core.radius) > reach) {
        return 0;
    }
    kki_patch_meets_floor(&meeting, &core, &X_AB, A, memory, m);
    return m->count > 0;
}

// capsules over planes have a way of their own, which comes to the same bits: lying, standing, short ones whose ends are one point, out of reach
KK_TEST(capsules_meet_planes_as_patches_do) {
    kk_random random = {17, 0, 0};
    int points[3] = {0};
    for (int i = 0; i < 4000; i++) {
        const double radius = bodies_between(&random, 0.01, 0.2), long_one = bodies_between(&random, 0.01, 0.5);
        const double half = i % 5 ? long_one : 0.01 * radius, height = bodies_between(&random, -0.3, 0.5);
        kki_shape plane = {.type = KK_SHAPE_PLANE, .margin = i % 3 ? 0 : 0.01};
        kki_shape capsule = of_type(KK_SHAPE_CAPSULE, radius, half, 0);
        capsule.margin = i % 7 ? 0 : 0.02;
        const kk_vec3 p = bodies_offset(&random, 0, 1);
        const kk_transform A = {bodies_rotation(&random), p};
        const kk_quat tilt = kk_quat_exp(kk_vec3_make(1.57 + bodies_between(&random, -0.1, 0.1), 0, 0));
        const kk_mat3 any = bodies_rotation(&random);
        const kk_transform in_a = {i % 2 ? any : kk_quat_to_mat3(tilt), kk_vec3_make(0.1, -0.2, height)};
        const kk_transform B = kk_transform_mul(A, in_a);
        kki_pair_memory memory = {0}, other = {0};
        kki_manifold m = {.count = 0}, expected = {.count = 0};
        const int found = kki_collide(&plane, &A, &capsule, &B, 0.05, &memory, &m, 1);
        KK_CHECK_EQ_INT(found, collide_by_patch(&plane, &A, &capsule, &B, 0.05, &other, &expected));
        if (found) {
            KK_CHECK(memcmp(&m, &expected, offsetof(kki_manifold, point) + (size_t)m.count * sizeof *m.point) == 0);
            KK_CHECK(memcmp(&memory, &other, sizeof memory) == 0);
        }
        points[found ? m.count : 0]++;
    }
    KK_CHECK(points[0] > 100 && points[1] > 100 && points[2] > 100);
}
