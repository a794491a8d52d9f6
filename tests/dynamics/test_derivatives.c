// Derivatives against central differences at two steps: the error falls with the square of the step, and is small.
#include "support/scene.h"

#include <math.h>
#include <string.h>

typedef enum variable { BY_Q, BY_V, BY_A } variable; // BY_A: the third argument, a or tau

typedef void (*dynamics)(const kk_model *, kk_data *, const double *, const double *, const double *, double *);

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
    worst error;               // of the analytic derivative against differences with the small step
    worst extrapolated;        // against the two steps extrapolated
    double least, most;        // ratio of the errors of both steps
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
