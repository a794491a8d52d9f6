// Motion sequences: closed forms, continuity, exact derivatives of quaternions, limits kept.
#include <karakuri/elementary.h>
#include <karakuri/sequence.h>
#include <math.h>
#include <string.h>

#include "support/allocations.h"
#include "support/scene.h"

static kk_sequence *make(kk_interpolation kind, kk_sequence_ends ends, int count, int width, const double *time,
                         const double *value) {
    const kk_sequence_def def = {
        .interpolation = kind, .ends = ends, .count = count, .width = width, .time = time, .value = value};
    kk_sequence *s = NULL;
    kk_error error = {0};
    if (!KK_CHECK_EQ_INT(kk_sequence_create(&def, NULL, &s, &error), KK_OK)) {
        KK_FAIL("%s", error.text);
    }
    return s;
}

// a spline of degree three (five) through samples of a parabola bent as its ends ask gives that very curve back: a straight line and a constant
KK_TEST(sequence_keeps_straight_lines) {
    const double time[5] = {0, 0.1, 0.4, 0.45, 1}, value[5] = {1, 1.2, 1.8, 1.9, 3};
    for (int kind = KK_INTERPOLATE_LINEAR; kind <= KK_INTERPOLATE_QUINTIC; kind++) {
        kk_sequence *s = make((kk_interpolation)kind, KK_ENDS_FREE, 5, 1, time, value);
        double t = 0;
        while (t <= 1) {
            double p, v, a;
            kk_sequence_sample(s, t, &p, &v, &a);
            KK_CHECK_NEAR(p, 1 + 2 * t, 1e-13);
            KK_CHECK_NEAR(v, 2, 1e-11);
            KK_CHECK_NEAR(a, 0, 1e-9);
            t += 0.013;
        }
        kk_sequence_free(s);
    }
}

// through samples of a parabola the quintic spline with free ends has no jerk to spend, so it is the parabola
KK_TEST(sequence_quintic_is_least_jerk) {
    double time[7], value[7];
    for (int i = 0; i < 7; i++) {
        time[i] = 0.2 * i + 0.03 * (i % 2);
        value[i] = 0.5 - time[i] + 3 * time[i] * time[i];
    }
    kk_sequence *s = make(KK_INTERPOLATE_QUINTIC, KK_ENDS_FREE, 7, 1, time, value);
    double t = time[0];
    while (t <= time[6]) {
        double p, v, a;
        kk_sequence_sample(s, t, &p, &v, &a);
        KK_CHECK_NEAR(p, 0.5 - t + 3 * t * t, 1e-12);
        KK_CHECK_NEAR(v, 6 * t - 1, 1e-10);
        KK_CHECK_NEAR(a, 6, 1e-8);
        t += 0.01;
    }
    kk_sequence_free(s);
}

// a cubic clamped at rest through samples of 3t² − 2t³, which is at rest at 0 and 1
KK_TEST(sequence_cubic_is_the_cubic) {
    const double time[4] = {0, 0.3, 0.5, 1};
    double value[4];
    for (int i = 0; i < 4; i++) {
        value[i] = time[i] * time[i] * (3 - 2 * time[i]);
    }
    kk_sequence *s = make(KK_INTERPOLATE_CUBIC, KK_ENDS_AT_REST, 4, 1, time, value);
    double t = 0;
    while (t <= 1) {
        double p, v, a;
        kk_sequence_sample(s, t, &p, &v, &a);
        KK_CHECK_NEAR(p, t * t * (3 - 2 * t), 1e-14);
        KK_CHECK_NEAR(v, 6 * t - 6 * t * t, 1e-13);
        KK_CHECK_NEAR(a, 6 - 12 * t, 1e-11);
        t += 0.01;
    }
    kk_sequence_free(s);
}

// two rows at rest: quintic and minimum jerk are both 10 s³ − 15 s⁴ + 6 s⁵
KK_TEST(sequence_minimum_jerk_closed_form) {
    const double time[2] = {1, 3}, value[2] = {2, 5};
    for (int kind = KK_INTERPOLATE_QUINTIC; kind <= KK_INTERPOLATE_MINIMUM_JERK; kind++) {
        kk_sequence *s = make((kk_interpolation)kind, KK_ENDS_AT_REST, 2, 1, time, value);
        double t = 1;
        while (t <= 3) {
            const double u = (t - 1) / 2;
            double p, v, a;
            kk_sequence_sample(s, t, &p, &v, &a);
            KK_CHECK_NEAR(p, 2 + 3 * u * u * u * (10 - 15 * u + 6 * u * u), 1e-13);
            KK_CHECK_NEAR(v, 1.5 * 30 * u * u * (1 - u) * (1 - u), 1e-13);
            KK_CHECK_NEAR(a, 0.75 * 60 * u * (1 - u) * (1 - 2 * u), 1e-12);
            t += 0.01;
        }
        double p, v, a;
        kk_sequence_sample(s, 0, &p, &v, &a);
        KK_CHECK(p == 2 && v == 0 && a == 0);
        kk_sequence_sample(s, 4, &p, &v, &a);
        KK_CHECK(p == 5 && v == 0 && a == 0);
        kk_sequence_free(s);
    }
}

/// Value and derivatives just before and behind a row.
static double jump_at(const kk_sequence *s, double time, int order) {
    const double e = 1e-9;
    double before[3], behind[3];
    kk_sequence_sample(s, time - e, &before[0], &before[1], &before[2]);
    kk_sequence_sample(s, time + e, &behind[0], &behind[1], &behind[2]);
    return fabs(before[order] - behind[order]);
}

KK_TEST(sequence_is_as_smooth_as_said) {
    double time[9], value[9];
    for (int i = 0; i < 9; i++) {
        time[i] = i + 0.3 * kk_random_uniform_at(1, 1, (uint64_t)i);
        value[i] = kk_random_normal_at(1, 2, (uint64_t)i);
    }
    for (int kind = KK_INTERPOLATE_CUBIC; kind <= KK_INTERPOLATE_MINIMUM_JERK; kind++) {
        for (int ends = KK_ENDS_FREE; ends <= KK_ENDS_AT_REST; ends++) {
            kk_sequence *s = make((kk_interpolation)kind, (kk_sequence_ends)ends, 9, 1, time, value);
            for (int i = 0; i < 9; i++) {
                double p;
                kk_sequence_sample(s, time[i], &p, NULL, NULL);
                KK_CHECK_NEAR(p, value[i], 1e-13);
            }
            for (int i = 1; i < 8; i++) {
                KK_CHECK_NEAR(jump_at(s, time[i], 0), 0, 1e-7);
                KK_CHECK_NEAR(jump_at(s, time[i], 1), 0, 1e-6);
                KK_CHECK_NEAR(jump_at(s, time[i], 2), 0, 1e-5);
            }
            kk_sequence_free(s);
        }
    }
}

// derivatives are derivatives: velocities and accelerations of a whole state against differences along the manifold
KK_TEST(sequence_state_derivatives) {
    enum { ROWS = 6 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        scene f = scene_forest(seed);
        if (f.nq == 0) {
            scene_free(&f);
            continue;
        }
        double time[ROWS];
        double *value = scene_take(&f, ROWS * (size_t)f.nq), *moved = scene_take(&f, (size_t)f.nv);
        kk_model_neutral(f.model, value);
        for (int i = 0; i < ROWS; i++) {
            time[i] = i;
            for (int k = 0; k < f.nv; k++) {
                moved[k] = 0.4 * kk_random_normal_at(seed, 7, (uint64_t)i * (uint64_t)f.nv + (uint64_t)k);
            }
            if (i > 0) {
                kk_integrate(f.model, value + (i - 1) * f.nq, moved, value + i * f.nq);
            }
        }
        const kk_sequence_def def = {.model = f.model,
                                     .interpolation = KK_INTERPOLATE_QUINTIC,
                                     .count = ROWS,
                                     .width = f.nq,
                                     .time = time,
                                     .value = value};
        kk_sequence *s = NULL;
        KK_CHECK_EQ_INT(kk_sequence_create(&def, NULL, &s, NULL), KK_OK);
        const double h = 1e-4;
        double *q[2] = {scene_take(&f, (size_t)f.nq), scene_take(&f, (size_t)f.nq)};
        double *v[2] = {scene_take(&f, (size_t)f.nv), scene_take(&f, (size_t)f.nv)};
        double t = 0.37;
        while (t < 5) {
            kk_sequence_state(s, t, f.q, f.v, f.a);
            KK_CHECK_EQ_INT(kk_model_check_q(f.model, f.q, NULL), KK_OK);
            kk_sequence_state(s, t - h, q[0], v[0], NULL);
            kk_sequence_state(s, t + h, q[1], v[1], NULL);
            kk_difference(f.model, q[0], q[1], moved);
            for (int k = 0; k < f.nv; k++) {
                // the manifold's own bend enters the difference in second order
                KK_CHECK_NEAR(moved[k] / (2 * h), f.v[k], 1e-5);
                KK_CHECK_NEAR((v[1][k] - v[0][k]) / (2 * h), f.a[k], 1e-5);
            }
            t += 0.61;
        }
        kk_sequence_free(s);
        scene_free(&f);
    }
}

/// Largest |rate| and |second| by looking.
static void look(const kk_sequence *s, double *rate, double *second) {
    *rate = *second = 0;
    for (int i = 0; i <= 20000; i++) {
        double p, v, a;
        kk_sequence_sample(s, kk_sequence_start(s) + (kk_sequence_end(s) - kk_sequence_start(s)) * i / 20000.0, &p, &v,
                           &a);
        *rate = fmax(*rate, fabs(v));
        *second = fmax(*second, fabs(a));
    }
}

KK_TEST(sequence_peaks_are_the_largest) {
    double time[8], value[8];
    for (uint64_t seed = 0; seed < 20; seed++) {
        for (int i = 0; i < 8; i++) {
            time[i] = i + 0.5 * kk_random_uniform_at(seed, 1, (uint64_t)i);
            value[i] = kk_random_normal_at(seed, 2, (uint64_t)i);
        }
        for (int kind = 0; kind <= KK_INTERPOLATE_MINIMUM_JERK; kind++) {
            kk_sequence *s = make((kk_interpolation)kind, KK_ENDS_FREE, 8, 1, time, value);
            double rate, second, seen_rate, seen_second;
            kk_sequence_peaks(s, &rate, &second);
            look(s, &seen_rate, &seen_second);
            KK_CHECK(rate >= seen_rate - 1e-12 && rate <= seen_rate * (1 + 1e-4));
            KK_CHECK(second >= seen_second - 1e-12 && second <= seen_second * (1 + 2e-3) + 1e-12);
            kk_sequence_free(s);
        }
    }
}

// the fastest minimum-jerk motion over a way D: 1.875 D/T = v or 10/√3 D/T² = a
KK_TEST(sequence_retime_closed_form) {
    const double time[3] = {0, 1, 2}, value[3] = {0, 2, 2.5};
    kk_sequence *s = make(KK_INTERPOLATE_MINIMUM_JERK, KK_ENDS_FREE, 3, 1, time, value);
    const double rate = 1.5, second = 4;
    KK_CHECK_EQ_INT(kk_sequence_retime(s, KK_RETIME_PIECES, &rate, &second, NULL), KK_OK);
    const double first = fmax(1.875 * 2 / 1.5, sqrt(10 / sqrt(3) * 2 / 4));
    const double next = fmax(1.875 * 0.5 / 1.5, sqrt(10 / sqrt(3) * 0.5 / 4));
    KK_CHECK_NEAR(kk_sequence_end(s), first + next, 1e-12);
    kk_sequence_free(s);
}

KK_TEST(sequence_retime_keeps_limits) {
    double time[8], value[16];
    const double rate[2] = {1.3, INFINITY}, second[2] = {5, 2};
    for (int i = 0; i < 8; i++) {
        time[i] = 0.3 * i;
        value[2 * i] = kk_random_normal_at(5, 2, (uint64_t)i);
        value[2 * i + 1] = kk_random_normal_at(5, 3, (uint64_t)i);
    }
    for (int kind = 0; kind <= KK_INTERPOLATE_MINIMUM_JERK; kind++) {
        double whole = 0;
        for (int how = KK_RETIME_WHOLE; how <= KK_RETIME_PIECES; how++) {
            kk_sequence *s = make((kk_interpolation)kind, KK_ENDS_AT_REST, 8, 2, time, value);
            double v[2], a[2];
            KK_CHECK_EQ_INT(kk_sequence_retime(s, (kk_retiming)how, rate, second, NULL), KK_OK);
            kk_sequence_peaks(s, v, a);
            const int is_linear = kind == KK_INTERPOLATE_LINEAR;
            const double most = fmax(v[0] / rate[0], is_linear ? 0 : fmax(a[0] / second[0], a[1] / second[1]));
            KK_CHECK_NEAR(most, 1, 1e-9); // as fast as the limits allow
            if (how == KK_RETIME_WHOLE) {
                whole = kk_sequence_end(s);
            } else {
                KK_CHECK(kk_sequence_end(s) <= whole * (1 + 1e-12));
            }
            kk_sequence_free(s);
        }
    }
}

KK_TEST(sequence_refuses) {
    const double time[3] = {0, 1, 1}, value[3] = {0, 1, NAN}, good[3] = {0, 1, 2}, zero = 0;
    kk_sequence_def def = {.count = 3, .width = 1, .time = time, .value = good};
    kk_sequence *s = NULL;
    kk_error error;
    KK_CHECK_EQ_INT(kk_sequence_create(&def, NULL, &s, &error), KK_INVALID_ARGUMENT);
    KK_CHECK(s == NULL && strstr(error.text, "time"));
    def.time = good;
    def.value = value;
    KK_CHECK_EQ_INT(kk_sequence_create(&def, NULL, &s, &error), KK_NOT_FINITE);
    def.value = good;
    def.count = 0;
    KK_CHECK_EQ_INT(kk_sequence_create(&def, NULL, &s, &error), KK_INVALID_ARGUMENT);
    def.count = 3;
    KK_CHECK_EQ_INT(kk_sequence_create(&def, NULL, &s, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_sequence_state(s, 0, NULL, NULL, NULL), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_sequence_retime(s, KK_RETIME_WHOLE, &zero, NULL, &error), KK_INVALID_ARGUMENT);
    kk_sequence_free(s);
}

KK_TEST(sequence_out_of_memory) {
    const double time[3] = {0, 1, 2}, value[3] = {0, 1, 0};
    const kk_sequence_def def = {
        .interpolation = KK_INTERPOLATE_QUINTIC, .count = 3, .width = 1, .time = time, .value = value};
    for (int n = 0; n < 2; n++) {
        faulty f = {.fail_at = n};
        const kk_allocator allocator = {faulty_allocate, faulty_release, &f};
        kk_sequence *s = NULL;
        KK_CHECK_EQ_INT(kk_sequence_create(&def, &allocator, &s, NULL), KK_OUT_OF_MEMORY);
        KK_CHECK(s == NULL && f.blocks == 0);
    }
}

static const char *const table_text =
    "time [s],left_shin_joint.q [rad],pelvis_joint.q.qw,pelvis_joint.q.z,left_shin_joint.v\n"
    "0,0.1,1,0.7,9\n"
    "1,0.3,1,0.8,9\n";

KK_TEST(sequence_from_table) {
    scene f = scene_robot("humanoid36", 1);
    kk_table *table = NULL;
    kk_sequence *s = NULL;
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_table_read_text("t", table_text, strlen(table_text), NULL, NULL, &table, &error), KK_OK);
    if (!KK_CHECK_EQ_INT(kk_sequence_from_table(f.model, table, NULL, NULL, NULL, &s, &error), KK_OK)) {
        KK_FAIL("%s", error.text);
    } else {
        const kk_joint_info knee = kk_model_joint(f.model, kk_model_find_joint(f.model, "left_shin_joint"));
        const kk_joint_info base = kk_model_joint(f.model, kk_model_find_joint(f.model, "pelvis_joint"));
        KK_CHECK_EQ_INT(kk_sequence_state(s, 0.25, f.q, f.v, f.a), KK_OK);
        KK_CHECK_NEAR(f.q[knee.q_index], 0.15, 1e-15);
        KK_CHECK_NEAR(f.v[knee.v_index], 0.2, 1e-15);
        KK_CHECK_NEAR(f.q[base.q_index + 6], 0.725, 1e-15);
        KK_CHECK_NEAR(f.v[base.v_index + 5], 0.1, 1e-15);
    }
    kk_sequence_free(s);
    kk_table_free(table);
    const char *wrong = "time,left_shinn.q\n0,1\n";
    KK_CHECK_EQ_INT(kk_table_read_text("t", wrong, strlen(wrong), NULL, NULL, &table, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_sequence_from_table(f.model, table, NULL, NULL, NULL, &s, &error), KK_NOT_FOUND);
    KK_CHECK(strstr(error.text, "left_shinn.q") && error.line == 1);
    kk_table_free(table);
    scene_free(&f);
}
