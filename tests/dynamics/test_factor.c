// The factor of the joint-space inertia: multiply, solve, inverse.
#include "support/scene.h"

#include <math.h>
#include <string.h>

static void multiply(const double *M, const double *x, size_t n, double *y) {
    for (size_t i = 0; i < n; i++) {
        y[i] = dot(M + i * n, x, n);
    }
}

/// The largest of Σ |A_ij| |x_j|.
static double size_of_terms(const double *A, const double *x, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++) {
            sum += fabs(A[i * n + j] * x[j]);
        }
        most = fmax(most, sum);
    }
    return most;
}

// scale: for M x the terms of the product, for M⁻¹ x those of |M⁻¹| |M x|, which is what rounding of M x is multiplied by
KK_TEST(solve_undoes_multiply) {
    worst product = {0}, solution = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *M = scene_take(&s, nv * nv), *Minv = scene_take(&s, nv * nv);
        double *expected = scene_take(&s, nv), *y = scene_take(&s, nv);
        scene_inverse_inertia(&s, s.q, Minv);
        kk_inertia_matrix(s.model, s.data, s.q, M);
        multiply(M, s.a, nv, expected);
        kk_inertia_matrix_mul(s.model, s.data, s.a, y);
        worst_compare(&product, &s, y, expected, nv, size_of_terms(M, s.a, nv));
        KK_CHECK_EQ_INT(kk_inertia_matrix_factor(s.model, s.data), KK_OK);
        kk_inertia_matrix_solve(s.model, s.data, expected);
        multiply(M, s.a, nv, y);
        worst_compare(&solution, &s, expected, s.a, nv, size_of_terms(Minv, y, nv));
        scene_free(&s);
    }
    WORST_CHECK(product, 1e-14);
    WORST_CHECK(solution, 1e-14);
}

// scale of M⁻¹ M: the terms of the product; of M⁻¹ itself: its largest entry. Not 1: with a condition number κ, the rounding of q alone
// moves M⁻¹ by κ ulp and the entries of M⁻¹ M by as much, whatever the algorithm (docs/decisions/0012). What an algorithm can be held to is that
// its result is the exact one of a matrix that is M but for rounding (Oettli and Prager 1964).
KK_TEST(inverse_times_inertia_is_one) {
    worst one = {0}, both = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *M = scene_take(&s, nv * nv), *Minv = scene_take(&s, nv * nv), *reference = scene_take(&s, nv * nv);
        double *column = scene_take(&s, nv), *unit = scene_take(&s, nv);
        scene_inverse_inertia(&s, s.q, reference);
        kk_inertia_matrix(s.model, s.data, s.q, M);
        kk_inertia_matrix_inverse(s.model, s.data, s.q, Minv);
        worst_compare(&both, &s, Minv, reference, nv * nv, 0);
        for (size_t j = 0; j < nv; j++) {
            multiply(M, Minv + j * nv, nv, column); // rows of M⁻¹ are its columns
            unit[j] = 1;
            worst_compare(&one, &s, column, unit, nv, size_of_terms(M, Minv + j * nv, nv));
            unit[j] = 0;
        }
        scene_free(&s);
    }
    WORST_CHECK(one, 1e-12);
    WORST_CHECK(both, 1e-11);
}

KK_TEST(inverse_is_symmetric_to_the_bit) {
    for (int i = 0; i < 100; i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *Minv = scene_take(&s, nv * nv);
        kk_inertia_matrix_inverse(s.model, s.data, s.q, Minv);
        int symmetric = 1;
        for (size_t j = 0; j < nv * nv; j++) {
            symmetric &= same_bits(Minv[j], Minv[j % nv * nv + j / nv]);
        }
        KK_CHECK(symmetric);
        scene_free(&s);
    }
}

// M⁻¹ (tau − bias) is forward dynamics
KK_TEST(solve_agrees_with_forward_dynamics) {
    worst w = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *a = scene_take(&s, nv), *x = scene_take(&s, nv);
        kk_forward_dynamics(s.model, s.data, s.q, s.v, s.tau, a);
        kk_bias_force(s.model, s.data, s.q, s.v, x);
        for (size_t k = 0; k < nv; k++) {
            x[k] = s.tau[k] - x[k];
        }
        kk_crba(s.model, s.data, s.q);
        KK_CHECK_EQ_INT(kk_inertia_matrix_factor(s.model, s.data), KK_OK);
        kk_inertia_matrix_solve(s.model, s.data, x);
        worst_compare(&w, &s, x, a, nv, scene_acceleration_scale(&s, a, 0));
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-13);
}
