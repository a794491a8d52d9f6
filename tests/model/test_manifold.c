// The configuration manifold: q ⊕ v against direct integration, and its inverse at every scale.
#include "fixture.h"
#include "model/model.h"

/// A hinge, a slide, a ball and a free joint side by side: q = [θ, d, quat, quat, p].
static kk_model *one_of_each(void) {
    kk_spec *spec = fixture_spec();
    fixture_add_box(spec, "hinge", KK_WORLD, KK_JOINT_HINGE);
    fixture_add_box(spec, "slide", KK_WORLD, KK_JOINT_SLIDE);
    fixture_add_box(spec, "ball", KK_WORLD, KK_JOINT_BALL);
    fixture_add_box(spec, "free", KK_WORLD, KK_JOINT_FREE);
    return fixture_compile(spec);
}

enum { NQ = 13, NV = 11, BALL_Q = 2, BALL_V = 2, FREE_Q = 6, FREE_V = 5 };

static kk_model *lone_free_body(void) {
    kk_spec *spec = fixture_spec();
    fixture_add_box(spec, "free", KK_WORLD, KK_JOINT_FREE);
    return fixture_compile(spec);
}

KK_TEST(neutral_is_zero_with_unit_quaternions) {
    kk_model *m = one_of_each();
    double q[NQ];
    kk_model_neutral(m, q);
    for (int i = 0; i < NQ; i++) {
        KK_CHECK_BITS(q[i], i == BALL_Q || i == FREE_Q ? 1.0 : 0.0);
    }
    KK_CHECK_EQ_INT(kk_model_check_q(m, q, NULL), KK_OK);
    kk_model_free(m);
}

KK_TEST(check_q_names_the_joint) {
    kk_model *m = one_of_each();
    double q[NQ];
    kk_error error = {0};
    kk_model_neutral(m, q);
    q[1] = __builtin_inf();
    KK_CHECK_EQ_INT(kk_model_check_q(m, q, &error), KK_NOT_FINITE);
    KK_CHECK_STR(error.text, "joint \"slide_joint\": coordinate 0 (q[1]) is inf; it must be finite");
    kk_model_neutral(m, q);
    q[FREE_Q + 5] = __builtin_nan("");
    KK_CHECK_EQ_INT(kk_model_check_q(m, q, &error), KK_NOT_FINITE);
    KK_CHECK_STR(error.text, "joint \"free_joint\": coordinate 5 (q[11]) is nan; it must be finite");
    kk_model_neutral(m, q);
    q[BALL_Q] = 1.25;
    KK_CHECK_EQ_INT(kk_model_check_q(m, q, &error), KK_INVALID_ARGUMENT);
    KK_CHECK_STR(error.text,
                 "joint \"ball_joint\": its quaternion q[2..5] has length 1.25; it must be 1, see kk_normalize");
    kk_normalize(m, q);
    KK_CHECK_EQ_INT(kk_model_check_q(m, q, &error), KK_OK);
    kk_model_free(m);
}

/// Time derivative of a free joint's q under a constant twist: quat' = quat (0, ω)/2, p' = R u.
static void free_rate(const double *q, const double *v, double *rate) {
    const kk_quat quat = {q[0], q[1], q[2], q[3]}, half = {0, v[0] / 2, v[1] / 2, v[2] / 2};
    const kk_quat dq = kk_quat_mul(quat, half);
    const kk_vec3 dp = kk_mat3_mul_vec(kk_quat_to_mat3(quat), kk_vec3_make(v[3], v[4], v[5]));
    const double r[7] = {dq.w, dq.x, dq.y, dq.z, dp.x, dp.y, dp.z};
    memcpy(rate, r, sizeof r);
}

static void advance(const double *q, const double *rate, double h, double *out) {
    for (int i = 0; i < 7; i++) {
        out[i] = q[i] + h * rate[i];
    }
}

/// Classical Runge-Kutta over one unit of time.
static void integrate_finely(const double *q0, const double *v, int steps, double *q) {
    const double h = 1.0 / steps;
    memcpy(q, q0, 7 * sizeof *q);
    for (int s = 0; s < steps; s++) {
        double k1[7], k2[7], k3[7], k4[7], x[7];
        free_rate(q, v, k1);
        advance(q, k1, h / 2, x);
        free_rate(x, v, k2);
        advance(q, k2, h / 2, x);
        free_rate(x, v, k3);
        advance(q, k3, h, x);
        free_rate(x, v, k4);
        for (int i = 0; i < 7; i++) {
            q[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
        }
    }
}

KK_TEST(integrate_follows_a_constant_twist) {
    kk_model *m = lone_free_body();
    kk_random random = {6, 0, 0};
    const int cases = kk_test_is_quick() ? 4 : 40;
    for (int i = 0; i < cases; i++) {
        double q[7], v[6], fine[7], whole[7];
        kk_model_random_q(m, 8, (uint64_t)i, q);
        for (int k = 0; k < 6; k++) {
            v[k] = 2.5 * fixture_uniform(&random) * (i % 4 == 0 ? 0.1 : 1);
        }
        kk_integrate(m, q, v, whole);
        integrate_finely(q, v, 2000, fine);
        for (int k = 0; k < 7; k++) {
            KK_CHECK_NEAR(whole[k], fine[k], 1e-12);
        }
    }
    kk_model_free(m);
}

// every size of angle from nothing to almost a half turn, through both thresholds of the series
KK_TEST(difference_undoes_integrate_at_every_scale) {
    kk_model *m = one_of_each();
    kk_random random = {7, 0, 0};
    double angle = 3.1415;
    for (int step = 0; step < 600; step++) {
        double q[NQ], v[NV], moved[NQ], back[NV];
        kk_model_random_q(m, 3, random.counter, q);
        for (int i = 0; i < NV; i++) {
            v[i] = fixture_uniform(&random);
        }
        for (int i = BALL_V; i <= FREE_V; i += FREE_V - BALL_V) {
            const double norm = kk_vec3_norm(kk_vec3_make(v[i], v[i + 1], v[i + 2]));
            for (int k = 0; k < 3; k++) {
                v[i + k] *= angle / norm;
            }
        }
        kk_integrate(m, q, v, moved);
        kk_difference(m, q, moved, back);
        for (int i = 0; i < NV; i++) {
            const int is_turn = i >= BALL_V && i < FREE_V + 3;
            KK_CHECK_NEAR(back[i], v[i], is_turn ? 2e-15 + 1e-15 * angle : 1e-14);
        }
        angle *= angle > 0.2 ? 0.99 : 0.2;
    }
    kk_model_free(m);
}

// relative precision from rest: a small twist comes back as itself, not drowned in the rounding of q
KK_TEST(small_twists_from_neutral_keep_their_digits) {
    kk_model *m = lone_free_body();
    double size = 1;
    for (int step = 0; step < 87; step++) {
        const double v[6] = {0.3 * size, -0.7 * size, 0.5 * size, 0.2 * size, 0.9 * size, -0.4 * size};
        double q[7], moved[7], back[6];
        kk_model_neutral(m, q);
        kk_integrate(m, q, v, moved);
        kk_difference(m, q, moved, back);
        for (int k = 0; k < 6; k++) {
            KK_CHECK_REL(back[k], v[k], 2e-15);
        }
        size *= 0.07;
    }
    kk_model_free(m);
}

KK_TEST(integrate_of_difference_arrives) {
    kk_model *m = one_of_each();
    for (uint64_t i = 0; i < 200; i++) {
        double q0[NQ], q1[NQ], v[NV], arrived[NQ];
        kk_model_random_q(m, 11, 2 * i, q0);
        kk_model_random_q(m, 11, 2 * i + 1, q1);
        kk_difference(m, q0, q1, v);
        kk_integrate(m, q0, v, arrived);
        kk_difference(m, arrived, q1, v);
        for (int k = 0; k < NV; k++) {
            KK_CHECK_NEAR(v[k], 0, 1e-14);
        }
    }
    kk_model_free(m);
}

// q and −q are one place; the way is never longer than a half turn
KK_TEST(difference_takes_the_short_way) {
    kk_model *m = one_of_each();
    for (uint64_t i = 0; i < 50; i++) {
        double q0[NQ], q1[NQ], v[NV], w[NV];
        kk_model_random_q(m, 12, 2 * i, q0);
        kk_model_random_q(m, 12, 2 * i + 1, q1);
        kk_difference(m, q0, q1, v);
        for (int k = 0; k < 4; k++) {
            q1[BALL_Q + k] = -q1[BALL_Q + k];
            q1[FREE_Q + k] = -q1[FREE_Q + k];
        }
        kk_difference(m, q0, q1, w);
        for (int k = 0; k < NV; k++) {
            KK_CHECK_NEAR(v[k], w[k], 0);
        }
        KK_CHECK(kk_vec3_norm(kk_vec3_make(v[2], v[3], v[4])) <= KK_PI + 1e-15);
    }
    kk_model_free(m);
}

KK_TEST(standing_still_keeps_every_bit_and_aliasing_works) {
    kk_model *m = one_of_each();
    const double rest[NV] = {0};
    for (uint64_t i = 0; i < 50; i++) {
        double q[NQ], moved[NQ], v[NV];
        kk_model_random_q(m, 13, i, q);
        kk_integrate(m, q, rest, moved);
        KK_CHECK_BYTES(moved, q, sizeof q);
        for (int k = 0; k < NV; k++) {
            v[k] = 0.1 * k - 0.4;
        }
        kk_integrate(m, q, v, moved);
        kk_integrate(m, q, v, q);
        KK_CHECK_BYTES(moved, q, sizeof q);
    }
    kk_model_free(m);
}

// a million small turns do not wear the quaternion out
KK_TEST(length_of_quaternions_does_not_drift) {
    kk_model *m = lone_free_body();
    const double v[6] = {1e-3, 2e-3, -1.5e-3, 1e-4, 0, 0};
    double q[7];
    kk_model_neutral(m, q);
    const int steps = kk_test_is_quick() ? 10000 : 300000;
    for (int i = 0; i < steps; i++) {
        kk_integrate(m, q, v, q);
    }
    KK_CHECK_NEAR(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, 2e-15);
    kk_model_free(m);
}

KK_TEST(random_q_fills_the_limits) {
    kk_spec *spec = fixture_spec();
    const double lower[] = {-0.25, -__builtin_inf(), 2, -__builtin_inf()};
    const double upper[] = {0.5, -1, __builtin_inf(), __builtin_inf()};
    static const char *const names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) {
        kk_body_def body = fixture_box(names[i], KK_WORLD, i == 2 ? KK_JOINT_SLIDE : KK_JOINT_HINGE);
        body.joint.dof[0].lower = lower[i];
        body.joint.dof[0].upper = upper[i];
        fixture_add(spec, body);
    }
    kk_body_def ball = fixture_box("ball", KK_WORLD, KK_JOINT_BALL);
    ball.joint.dof[0].upper = 0.3;
    fixture_add(spec, ball);
    kk_model *m = fixture_compile(spec);
    double least[4] = {9, 9, 9, 9}, most[4] = {-9, -9, -9, -9}, widest = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        double q[8];
        kk_model_random_q(m, 1, i, q);
        for (int k = 0; k < 4; k++) {
            least[k] = q[k] < least[k] ? q[k] : least[k];
            most[k] = q[k] > most[k] ? q[k] : most[k];
        }
        const double angle = kk_vec3_norm(kk_quat_log((kk_quat){q[4], q[5], q[6], q[7]}));
        widest = angle > widest ? angle : widest;
    }
    const double expect_least[] = {-0.25, -1 - KK_TWO_PI, 2, -KK_PI}, expect_most[] = {0.5, -1, 4, KK_PI};
    for (int k = 0; k < 4; k++) {
        KK_CHECK(least[k] >= expect_least[k] && most[k] <= expect_most[k]);
        KK_CHECK_NEAR(least[k], expect_least[k], 0.02);
        KK_CHECK_NEAR(most[k], expect_most[k], 0.02);
    }
    KK_CHECK(widest <= 0.3 + 1e-15 && widest > 0.28);
    kk_model_free(m);
}

// uniform rotations: the mean of R is 0 and the squares of components average 1/4, fourth powers 1/8
KK_TEST(random_quaternions_are_uniform) {
    kk_model *m = lone_free_body();
    const int count = 20000;
    double square[4] = {0}, fourth[4] = {0}, entry[9] = {0};
    for (int i = 0; i < count; i++) {
        double q[7];
        kk_model_random_q(m, 2, (uint64_t)i, q);
        const kk_mat3 R = kk_quat_to_mat3((kk_quat){q[0], q[1], q[2], q[3]});
        for (int k = 0; k < 9; k++) {
            entry[k] += R.m[k] / count;
        }
        for (int k = 0; k < 4; k++) {
            square[k] += q[k] * q[k] / count;
            fourth[k] += q[k] * q[k] * q[k] * q[k] / count;
        }
        KK_CHECK(q[4] >= -1 && q[4] <= 1 && q[5] >= -1 && q[5] <= 1 && q[6] >= -1 && q[6] <= 1);
    }
    for (int k = 0; k < 9; k++) {
        KK_CHECK_NEAR(entry[k], 0, 0.02);
    }
    for (int k = 0; k < 4; k++) {
        KK_CHECK_NEAR(square[k], 0.25, 0.01);
        KK_CHECK_NEAR(fourth[k], 0.125, 0.01);
    }
    kk_model_free(m);
}
