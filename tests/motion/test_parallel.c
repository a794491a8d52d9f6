// Legs whose motors sit elsewhere: the same power, whatever the motors turn.
#include <karakuri/walk.h>

#include "harness.h"

enum { MOST = 6 };

static double random_number(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 23) - 1;
}

static void fill(double *x, int n, uint32_t *state) {
    for (int i = 0; i < n; i++) {
        x[i] = random_number(state);
    }
}

static double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// of random legs of every size: the foot goes as fast by either, and the power is the same
KK_TEST(parallel_legs_keep_foot_and_power) {
    uint32_t state = 7;
    for (int round = 0; round < 600; round++) {
        const int n = 1 + round % MOST;
        double Js[MOST * MOST], Jp[MOST * MOST], v[MOST], tau[MOST], w[MOST], sigma[MOST];
        fill(Js, n * n, &state);
        fill(Jp, n * n, &state);
        fill(v, n, &state);
        fill(tau, n, &state);
        for (int i = 0; i < n; i++) { // not singular
            Js[i * n + i] += 4;
            Jp[i * n + i] += 4;
        }
        KK_CHECK_EQ_INT(kk_map_velocity(n, Js, Jp, v, w, NULL), KK_OK);
        KK_CHECK_EQ_INT(kk_map_torque(n, Js, Jp, tau, sigma, NULL), KK_OK);
        for (int i = 0; i < n; i++) {
            KK_CHECK_NEAR(dot(Js + i * n, v, n), dot(Jp + i * n, w, n), 1e-13);
        }
        KK_CHECK_NEAR(dot(tau, v, n), dot(sigma, w, n), 1e-13);
        KK_CHECK_EQ_INT(kk_map_torque(n, Js, Js, tau, tau, NULL), KK_OK); // in place
    }
}

// a shin that a wire turns against the body: its motor's angle is the sum of thigh and knee (TITAN-VIII)
KK_TEST(parallel_legs_of_wires) {
    const double thigh = 0.155, shin = 0.213, a = 0.3, b = -0.8;
    const double c1 = kk_cos(a), s1 = kk_sin(a), c2 = kk_cos(a + b), s2 = kk_sin(a + b);
    const double Js[4] = {-thigh * s1 - shin * s2, -shin * s2, thigh * c1 + shin * c2, shin * c2};
    const double Jp[4] = {-thigh * s1, -shin * s2, thigh * c1, shin * c2};
    const double v[2] = {1, 2}, tau[2] = {10, 3};
    double w[2], sigma[2];
    KK_CHECK_EQ_INT(kk_map_velocity(2, Js, Jp, v, w, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_map_torque(2, Js, Jp, tau, sigma, NULL), KK_OK);
    KK_CHECK_NEAR(w[0], 1, 1e-14);
    KK_CHECK_NEAR(w[1], 3, 1e-14);
    KK_CHECK_NEAR(sigma[0], 7, 1e-13);
    KK_CHECK_NEAR(sigma[1], 3, 1e-13);
}

KK_TEST(parallel_legs_that_are_stretched_out) {
    const double J[4] = {1, 0, 0, 1}, flat[4] = {1, 2, 2, 4}, x[2] = {1, 1};
    double y[2];
    kk_error error = {.status = KK_OK};
    KK_CHECK_EQ_INT(kk_map_torque(2, flat, J, x, y, &error), KK_SINGULAR);
    KK_CHECK_EQ_INT(kk_map_velocity(2, J, flat, x, y, &error), KK_SINGULAR);
    KK_CHECK_EQ_INT(kk_map_torque(7, J, J, x, y, &error), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_map_torque(2, NULL, J, x, y, &error), KK_INVALID_ARGUMENT);
}
