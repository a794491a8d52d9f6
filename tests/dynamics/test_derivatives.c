// Derivatives against central differences at two steps: the error falls with the square of the step, and is small.
#include "support/scene.h"

#include <math.h>
#include <string.h>

typedef enum variable { BY_Q, BY_V, BY_A } variable; // BY_A: the third argument, a or tau

typedef kk_status (*dynamics)(const kk_model *, kk_data *, const double *, const double *, const double *, double *);

/// d f / d x by central differences, [nv × nv]; x moves along the tangent of kk_integrate.
static void central(scene *s, dynamics f, const double *third, variable x, double step, double *out) {
    const size_t nv = (size_t)s->nv;
    double *q = scene_take(s, (size_t)s->nq), *v = scene_take(s, nv), *a = scene_take(s, nv), *move = scene_take(s, nv);
    double *side[2] = {scene_take(s, nv), scene_take(s, nv)};
    for (size_t j = 0; j < nv; j++) {
        for (int k = 0; k < 2; k++) {
            memcpy(q, s->q, (size_t)s->nq * sizeof *q);
            memcpy(v, s->v, nv * sizeof *v);
            memcpy(a, third, nv * sizeof *a);
            const double h = k ? step : -step;
            move[j] = h;
            if (x == BY_Q) {
                kk_integrate(s->model, s->q, move, q);
            }
            v[j] += x == BY_V ? h : 0;
            a[j] += x == BY_A ? h : 0;
            move[j] = 0;
            f(s->model, s->data, q, v, a, side[k]);
        }
        for (size_t i = 0; i < nv; i++) {
            out[i * nv + j] = (side[1][i] - side[0][i]) / (2 * step);
        }
    }
}

/// Fourth order from two steps of the second; what is left of the error of the larger step falls with its square.
static void richardson(const double *coarse, const double *fine, size_t n, double *out) {
    for (size_t i = 0; i < n; i++) {
        out[i] = fine[i] + (fine[i] - coarse[i]) / 3;
    }
}

typedef struct findings {
    worst error;        // of the analytic derivative against differences with the small step
    worst extrapolated; // against the two steps extrapolated
    double least, most; // ratio of the errors of both steps
} findings;

static void compare(scene *s, dynamics f, const double *third, variable x, const double *analytic, findings *found) {
    const size_t n = (size_t)s->nv * (size_t)s->nv;
    double *coarse = scene_take(s, n), *fine = scene_take(s, n), *better = scene_take(s, n);
    central(s, f, third, x, 0x1p-9, coarse);
    central(s, f, third, x, 0x1p-10, fine);
    richardson(coarse, fine, n, better);
    worst_compare(&found->extrapolated, s, analytic, better, n, 1);
    const double large = relative_error(analytic, coarse, n, 1), small = relative_error(analytic, fine, n, 1);
    if (small > 1e-9) { // above rounding, which is 1e-16 / step
        found->least = fmin(found->least, large / small);
        found->most = fmax(found->most, large / small);
    }
    central(s, f, third, x, 0x1p-15, fine);
    worst_compare(&found->error, s, analytic, fine, n, 1);
}

static findings nothing(void) {
    return (findings){.least = 4, .most = 4};
}

static void expect_second_order(const findings *f) {
    const worst error = f->error, extrapolated = f->extrapolated;
    WORST_CHECK(error, 1e-7);
    WORST_CHECK(extrapolated, 1e-8);
    KK_CHECK_NEAR(f->least, 4, 0.1);
    KK_CHECK_NEAR(f->most, 4, 0.1);
}

// scale: the largest entry of each matrix
KK_TEST(inverse_dynamics_by_position_and_velocity) {
    findings by_q = nothing();
    worst by_v = {0};
    for (int i = 0; i < scene_count() / 5; i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t n = (size_t)s.nv * (size_t)s.nv;
        double *dq = scene_take(&s, n), *dv = scene_take(&s, n), *expected = scene_take(&s, n);
        kk_inverse_dynamics_derivatives(s.model, s.data, s.q, s.v, s.a, dq, dv);
        compare(&s, kk_inverse_dynamics, s.a, BY_Q, dq, &by_q);
        // tau is quadratic in v: central differences of it are exact, whatever the step
        central(&s, kk_inverse_dynamics, s.a, BY_V, 1, expected);
        worst_compare(&by_v, &s, dv, expected, n, largest(dq, n));
        scene_free(&s);
    }
    expect_second_order(&by_q);
    WORST_CHECK(by_v, 1e-12);
}

// d tau / d a is M: left behind as by kk_crba
KK_TEST(inverse_dynamics_by_acceleration_is_the_inertia) {
    worst w = {0};
    for (int i = 0; i < scene_count() / 5; i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv, stride = kk_crba_stride(s.model);
        double *dq = scene_take(&s, nv * nv), *dv = scene_take(&s, nv * nv), *M = scene_take(&s, nv * nv);
        double *left = scene_take(&s, nv * stride);
        kk_inverse_dynamics_derivatives(s.model, s.data, s.q, s.v, s.a, dq, dv);
        memcpy(left, kk_crba_result(s.data), nv * stride * sizeof *left);
        kk_inertia_matrix(s.model, s.data, s.q, M);
        for (size_t j = 0; j < nv; j++) {
            for (size_t k = j; k < nv && M[j * nv + k] != 0; k++) {
                worst_compare(&w, &s, &left[j * stride + k], &M[j * nv + k], 1, largest(M, nv * nv));
            }
        }
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-13);
}

// scale: the largest entry of each matrix
KK_TEST(forward_dynamics_by_position_velocity_and_torque) {
    findings by_q = nothing();
    worst by_v = {0}, by_tau = {0};
    for (int i = 0; i < scene_count() / 5; i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv, n = nv * nv;
        double *dq = scene_take(&s, n), *dv = scene_take(&s, n), *dtau = scene_take(&s, n), *a = scene_take(&s, nv);
        double *expected = scene_take(&s, n), *direct = scene_take(&s, nv);
        kk_forward_dynamics_derivatives(s.model, s.data, s.q, s.v, s.tau, a, dq, dv, dtau);
        kk_forward_dynamics(s.model, s.data, s.q, s.v, s.tau, direct);
        KK_CHECK_BYTES(a, direct, nv * sizeof *a);
        compare(&s, kk_forward_dynamics, s.tau, BY_Q, dq, &by_q);
        // quadratic in v and linear in tau: central differences are exact, whatever the step
        central(&s, kk_forward_dynamics, s.tau, BY_V, 1, expected);
        worst_compare(&by_v, &s, dv, expected, n, largest(dq, n));
        central(&s, kk_forward_dynamics, s.tau, BY_A, 1, expected);
        worst_compare(&by_tau, &s, dtau, expected, n, 0);
        scene_free(&s);
    }
    expect_second_order(&by_q);
    WORST_CHECK(by_v, 1e-11);
    WORST_CHECK(by_tau, 1e-11);
}

/// Y = A X, all [n × n], and the largest Σ |A| |X|.
static double multiply(const double *A, const double *X, size_t n, double *Y) {
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            double sum = 0, size = 0;
            for (size_t k = 0; k < n; k++) {
                sum += A[i * n + k] * X[k * n + j];
                size += fabs(A[i * n + k] * X[k * n + j]);
            }
            Y[i * n + j] = sum;
            most = fmax(most, size);
        }
    }
    return most;
}

// M ∂a/∂q = −∂τ/∂q at the acceleration found, M ∂a/∂v = −∂τ/∂v, M ∂a/∂τ = 1; scale: the terms of the products
KK_TEST(derivatives_of_both_ways_fit) {
    worst by_q = {0}, by_v = {0}, by_tau = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv, n = nv * nv;
        double *dq = scene_take(&s, n), *dv = scene_take(&s, n), *dtau = scene_take(&s, n), *a = scene_take(&s, nv);
        double *tq = scene_take(&s, n), *tv = scene_take(&s, n), *M = scene_take(&s, n), *product = scene_take(&s, n);
        double *one = scene_take(&s, n);
        kk_forward_dynamics_derivatives(s.model, s.data, s.q, s.v, s.tau, a, dq, dv, dtau);
        kk_inverse_dynamics_derivatives(s.model, s.data, s.q, s.v, a, tq, tv);
        kk_inertia_matrix(s.model, s.data, s.q, M);
        for (size_t k = 0; k < n; k++) {
            dq[k] = -dq[k];
            dv[k] = -dv[k];
            one[k] = k % (nv + 1) == 0;
        }
        double scale = multiply(M, dq, nv, product);
        worst_compare(&by_q, &s, product, tq, n, scale);
        scale = multiply(M, dv, nv, product);
        worst_compare(&by_v, &s, product, tv, n, scale);
        scale = multiply(M, dtau, nv, product);
        worst_compare(&by_tau, &s, product, one, n, scale);
        scene_free(&s);
    }
    WORST_CHECK(by_q, 1e-11);
    WORST_CHECK(by_v, 1e-11);
    WORST_CHECK(by_tau, 1e-11);
}

KK_TEST(robots_of_our_own) {
    findings inverse = nothing(), forward = nothing();
    for (const robots_entry *robot = robots_table; robot->name; robot++) {
        scene s = scene_robot(robot->name, 3);
        const size_t nv = (size_t)s.nv, n = nv * nv;
        double *dq = scene_take(&s, n), *dv = scene_take(&s, n), *dtau = scene_take(&s, n), *a = scene_take(&s, nv);
        kk_inverse_dynamics_derivatives(s.model, s.data, s.q, s.v, s.a, dq, dv);
        compare(&s, kk_inverse_dynamics, s.a, BY_Q, dq, &inverse);
        kk_forward_dynamics_derivatives(s.model, s.data, s.q, s.v, s.tau, a, dq, dv, dtau);
        compare(&s, kk_forward_dynamics, s.tau, BY_Q, dq, &forward);
        scene_free(&s);
    }
    expect_second_order(&inverse);
    expect_second_order(&forward);
}
