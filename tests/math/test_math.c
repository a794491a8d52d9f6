// Rotations in their other forms, and welded bodies.
#include <karakuri/elementary.h>
#include <karakuri/math.h>
#include <karakuri/random.h>

#include "harness.h"

static double uniform(kk_random *random) {
    return kk_random_next_between(random, -1, 1);
}

static kk_vec3 random_vec(kk_random *random) {
    const double x = uniform(random), y = uniform(random), z = uniform(random);
    return kk_vec3_make(x, y, z);
}

static kk_vec3 random_unit(kk_random *random) {
    const kk_vec3 v = random_vec(random);
    return kk_vec3_scale(v, 1 / kk_vec3_norm(v));
}

static void check_vec(kk_vec3 a, kk_vec3 b, double tolerance) {
    KK_CHECK_NEAR(a.x, b.x, tolerance);
    KK_CHECK_NEAR(a.y, b.y, tolerance);
    KK_CHECK_NEAR(a.z, b.z, tolerance);
}

static void check_mat(kk_mat3 a, kk_mat3 b, double tolerance) {
    for (int i = 0; i < 9; i++) {
        KK_CHECK_NEAR(a.m[i], b.m[i], tolerance);
    }
}

// log undoes exp with full relative precision from the smallest angles up to pi
KK_TEST(quat_log_undoes_exp_at_every_scale) {
    kk_random random = {1, 0, 0};
    double angle = 3.1415926535;
    for (int i = 0; i < 570; i++) {
        const kk_vec3 r = kk_vec3_scale(random_unit(&random), angle);
        check_vec(kk_quat_log(kk_quat_exp(r)), r, 1e-15 * angle);
        angle *= 0.3;
    }
}

KK_TEST(quat_exp_is_unit_and_turns_by_the_angle) {
    kk_random random = {2, 0, 0};
    for (int i = 0; i < 100; i++) {
        const kk_vec3 axis = random_unit(&random);
        const double angle = 10 * uniform(&random);
        const kk_quat q = kk_quat_exp(kk_vec3_scale(axis, angle));
        KK_CHECK_NEAR(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-15);
        check_mat(kk_quat_to_mat3(q), kk_mat3_from_axis_angle(axis, angle), 2e-15);
    }
}

// the two quaternions of a rotation have one logarithm, never longer than pi
KK_TEST(quat_log_takes_the_short_way) {
    const kk_quat q = kk_quat_exp(kk_vec3_make(0, 0, 3)), opposite = {-q.w, -q.x, -q.y, -q.z};
    check_vec(kk_quat_log(opposite), kk_vec3_make(0, 0, 3), 1e-15);
    check_vec(kk_quat_log(kk_quat_exp(kk_vec3_make(0, 4, 0))), kk_vec3_make(0, 4 - KK_TWO_PI, 0), 1e-15);
    check_vec(kk_quat_log((kk_quat){0, 1, 0, 0}), kk_vec3_make(KK_PI, 0, 0), 0);
}

// every one of the four branches, half turns among them
KK_TEST(quat_from_mat3_inverts_to_mat3) {
    kk_random random = {3, 0, 0};
    for (int i = 0; i < 400; i++) {
        const double angle = i % 4 == 0 ? KK_PI : KK_PI * uniform(&random);
        const kk_mat3 R = kk_quat_to_mat3(kk_quat_exp(kk_vec3_scale(random_unit(&random), angle)));
        const kk_quat q = kk_quat_from_mat3(R);
        KK_CHECK(q.w >= 0);
        check_mat(kk_quat_to_mat3(q), R, 2e-15);
    }
}

KK_TEST(rpy_is_the_product_of_three_turns) {
    const kk_vec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    const kk_mat3 product = kk_mat3_mul(kk_mat3_from_axis_angle(z, 0.3),
                                        kk_mat3_mul(kk_mat3_from_axis_angle(y, -1.1), kk_mat3_from_axis_angle(x, 2.2)));
    check_mat(kk_mat3_from_rpy(2.2, -1.1, 0.3), product, 1e-15);
}

// two halves of a box make the box
KK_TEST(welded_half_boxes_are_one_box) {
    const double m = 3, x = 0.4, y = 0.6, z = 1.0, yy = m / 24 * ((x * x) / 4 + z * z);
    const kk_sym3 half = {m / 24 * (y * y + z * z), yy, m / 24 * ((x * x) / 4 + y * y), 0, 0, 0};
    const kk_inertia left = {m / 2, {-x / 4, 0, 0}, half}, right = {m / 2, {x / 4, 0, 0}, half};
    const kk_inertia box = kk_inertia_add(left, right);
    KK_CHECK_NEAR(box.mass, m, 1e-15);
    check_vec(box.com, kk_vec3_make(0, 0, 0), 1e-16);
    KK_CHECK_NEAR(box.moment.xx, m / 12 * (y * y + z * z), 1e-15);
    KK_CHECK_NEAR(box.moment.yy, m / 12 * (x * x + z * z), 1e-15);
    KK_CHECK_NEAR(box.moment.zz, m / 12 * (x * x + y * y), 1e-15);
    KK_CHECK_NEAR(box.moment.xy, 0, 0);
}

KK_TEST(massless_bodies_weld_without_nan) {
    const kk_inertia none = {0}, ball = {2, {1, 2, 3}, {1, 1, 1, 0, 0, 0}};
    const kk_inertia a = kk_inertia_add(none, none), b = kk_inertia_add(none, ball), c = kk_inertia_add(ball, none);
    KK_CHECK_NEAR(a.mass + a.com.x + a.moment.xx, 0, 0);
    KK_CHECK_BYTES(&b, &ball, sizeof ball);
    KK_CHECK_BYTES(&c, &ball, sizeof ball);
}

// the same momentum whether two bodies are welded or counted one by one
KK_TEST(momentum_of_welded_bodies_is_the_sum) {
    kk_random random = {4, 0, 0};
    for (int i = 0; i < 50; i++) {
        const kk_inertia a = {0.3, random_vec(&random), {1, 2, 2.5, 0.1, 0.2, -0.1}};
        const kk_inertia b = {2.3, random_vec(&random), {0.5, 0.4, 0.3, 0.01, 0.02, -0.1}};
        const kk_vec3 angular = random_vec(&random), linear = random_vec(&random);
        const kk_motion v = {angular, linear};
        const kk_force sum = kk_force_add(kk_inertia_mul(a, v), kk_inertia_mul(b, v));
        const kk_force whole = kk_inertia_mul(kk_inertia_add(a, b), v);
        check_vec(whole.angular, sum.angular, 1e-14);
        check_vec(whole.linear, sum.linear, 1e-14);
    }
}
