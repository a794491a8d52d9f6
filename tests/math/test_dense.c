// Small dense linear algebra against products and known spectra.
#include <karakuri/random.h>

#include "harness.h"
#include "math/dense.h"

enum { N = 7 };

static void fill_random(double *a, int count, uint64_t stream) {
    for (int i = 0; i < count; i++) {
        a[i] = 2 * kk_random_uniform_at(9, stream, (uint64_t)i) - 1;
    }
}

static void multiply(const double *a, const double *x, double *y) {
    for (int i = 0; i < N; i++) {
        y[i] = 0;
        for (int j = 0; j < N; j++) {
            y[i] += a[i * N + j] * x[j];
        }
    }
}

static void check_solution(const double *x, const double *y) {
    for (int i = 0; i < N; i++) {
        KK_CHECK_NEAR(x[i], y[i], 1e-12);
    }
}

KK_TEST(ldl_solves_positive_definite_systems) {
    for (uint64_t stream = 0; stream < 20; stream++) {
        double b[N * N], a[N * N], x[N], y[N];
        fill_random(b, N * N, stream);
        fill_random(x, N, 100 + stream);
        for (int i = 0; i < N * N; i++) {
            a[i] = i / N == i % N;
            for (int k = 0; k < N; k++) {
                a[i] += b[(i / N) * N + k] * b[(i % N) * N + k];
            }
        }
        multiply(a, x, y);
        KK_CHECK_EQ_INT(kki_ldl_factor(N, a, 1e-14), KK_OK);
        kki_ldl_solve(N, a, y);
        check_solution(y, x);
    }
}

KK_TEST(ldl_refuses_what_is_not_positive_definite) {
    double semidefinite[4] = {1, 1, 1, 1}, negative[4] = {1, 2, 2, 1}, nan[1] = {__builtin_nan("")};
    KK_CHECK_EQ_INT(kki_ldl_factor(2, semidefinite, 1e-14), KK_SINGULAR);
    KK_CHECK_EQ_INT(kki_ldl_factor(2, negative, 0), KK_SINGULAR);
    KK_CHECK_EQ_INT(kki_ldl_factor(1, nan, 0), KK_SINGULAR);
}

// a turned diagonal matrix keeps its spectrum
KK_TEST(eigenvalues_survive_a_turn) {
    const double spectra[][3] = {{1, 2, 3}, {0, 0, 5}, {1, 1, 1}, {1e-9, 1, 1e3}, {-2, 0, 1}, {0, 0, 0}};
    for (int i = 0; i < 6; i++) {
        const double *e = spectra[i];
        for (int k = 0; k < 20; k++) {
            const kk_mat3 R = kk_mat3_from_rpy(0.31 * k, 1.7 - 0.2 * k, 0.77 * k);
            double values[3];
            kki_sym3_eigenvalues(kk_sym3_rotate(R, (kk_sym3){e[1], e[2], e[0], 0, 0, 0}), values);
            for (int j = 0; j < 3; j++) {
                KK_CHECK_NEAR(values[j], e[j], 4e-15 * (e[2] - e[0]) + 1e-15 * e[2]);
            }
        }
    }
}
