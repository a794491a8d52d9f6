// Optimizers: known minima, bounds, the same search whatever the order of evaluation.
#include <karakuri/elementary.h>
#include <karakuri/optimize.h>
#include <math.h>
#include <string.h>

#include "harness.h"
#include "math/eigen.h"
#include "support/allocations.h"

enum { MOST = 12 };

static kk_status sphere(void *user, const double *x, double *cost, kk_error *error) {
    (void)error;
    *cost = 0;
    for (int k = 0; k < *(int *)user; k++) {
        *cost += (x[k] - 0.3 * k) * (x[k] - 0.3 * k);
    }
    return KK_OK;
}

static kk_status rosenbrock(void *user, const double *x, double *cost, kk_error *error) {
    (void)error;
    *cost = 0;
    for (int k = 0; k + 1 < *(int *)user; k++) {
        const double a = x[k + 1] - x[k] * x[k], b = 1 - x[k];
        *cost += 100 * a * a + b * b;
    }
    return KK_OK;
}

/// Axes that differ by 10⁶ in their curvature, turned.
static kk_status ellipsoid(void *user, const double *x, double *cost, kk_error *error) {
    const int n = *(int *)user;
    (void)error;
    *cost = 0;
    for (int k = 0; k < n; k++) {
        double y = 0;
        for (int i = 0; i < n; i++) { // a reflection
            y += ((i == k) - 2.0 / n) * x[i];
        }
        *cost += kk_pow(1e6, (double)k / (n - 1)) * y * y;
    }
    return KK_OK;
}

static kk_status rastrigin(void *user, const double *x, double *cost, kk_error *error) {
    (void)error;
    *cost = 0;
    for (int k = 0; k < *(int *)user; k++) {
        *cost += 10 + x[k] * x[k] - 10 * kk_cos(KK_TWO_PI * x[k]);
    }
    return KK_OK;
}

static double search(kk_optimizer_type type, int n, kk_cost *cost, int generations, uint64_t seed, double *x) {
    double lower[MOST], upper[MOST], start[MOST];
    for (int k = 0; k < n; k++) {
        lower[k] = -5;
        upper[k] = 5;
        start[k] = 2.5;
    }
    const kk_optimizer_def def = {.type = type, .n = n, .lower = lower, .upper = upper, .start = start, .seed = seed};
    kk_optimizer *o = NULL;
    KK_CHECK_EQ_INT(kk_optimizer_create(&def, NULL, &o, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_optimizer_run(o, cost, &n, generations, NULL), KK_OK);
    const double best = kk_optimizer_best(o, x);
    kk_optimizer_free(o);
    return best;
}

KK_TEST(cma_es_finds_minima) {
    double x[MOST];
    KK_CHECK(search(KK_OPTIMIZE_CMA_ES, 6, sphere, 150, 1, x) < 1e-12);
    KK_CHECK_NEAR(x[5], 1.5, 1e-5);
    KK_CHECK(search(KK_OPTIMIZE_CMA_ES, 8, ellipsoid, 600, 2, x) < 1e-9);
    KK_CHECK(search(KK_OPTIMIZE_CMA_ES, 5, rosenbrock, 500, 1, x) <
             1e-9); // not every start misses the valley at (−1, 1, …)
    KK_CHECK(search(KK_OPTIMIZE_CMA_ES, 1, sphere, 60, 3, x) < 1e-9);
}

KK_TEST(genetic_finds_minima) {
    double x[MOST];
    KK_CHECK(search(KK_OPTIMIZE_GENETIC, 4, sphere, 150, 1, x) < 1e-4);
    int solved = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        solved += search(KK_OPTIMIZE_GENETIC, 3, rastrigin, 150, seed, x) < 0.1;
    }
    KK_CHECK(solved >= 8); // eleven valleys along every axis
}

// bounds hold, and a minimum on them is found
KK_TEST(optimizer_keeps_bounds) {
    const double lower[2] = {1, -INFINITY}, upper[2] = {3, -0.5};
    for (int type = 0; type <= KK_OPTIMIZE_GENETIC; type++) {
        const kk_optimizer_def def = {
            .type = (kk_optimizer_type)type, .n = 2, .lower = lower, .upper = upper, .seed = 4};
        kk_optimizer *o = NULL;
        double x[200 * 2], cost[200];
        KK_CHECK_EQ_INT(kk_optimizer_create(&def, NULL, &o, NULL), KK_OK);
        const int population = kk_optimizer_population(o);
        for (int g = 0; g < 80; g++) {
            kk_optimizer_ask(o, x);
            for (int i = 0; i < population; i++) {
                const double *c = x + 2 * i;
                KK_CHECK(c[0] >= 1 && c[0] <= 3 && c[1] <= -0.5);
                cost[i] = c[0] * c[0] + c[1] * c[1];
            }
            kk_optimizer_tell(o, cost);
        }
        KK_CHECK_NEAR(kk_optimizer_best(o, x), 1.25, 1e-3);
        KK_CHECK(kk_optimizer_spread(o) < 0.5);
        kk_optimizer_free(o);
    }
}

// the same bits with costs told again and again, and a candidate that cannot be judged only counts as the worst
KK_TEST(optimizer_is_reproducible) {
    const int n = 4;
    for (int type = 0; type <= KK_OPTIMIZE_GENETIC; type++) {
        const kk_optimizer_def def = {.type = (kk_optimizer_type)type, .n = n, .seed = 11};
        kk_optimizer *a = NULL, *b = NULL;
        double x[200 * 4], y[200 * 4], cost[200];
        KK_CHECK_EQ_INT(kk_optimizer_create(&def, NULL, &a, NULL), KK_OK);
        KK_CHECK_EQ_INT(kk_optimizer_create(&def, NULL, &b, NULL), KK_OK);
        const int population = kk_optimizer_population(a);
        for (int g = 0; g < 20; g++) {
            kk_optimizer_ask(a, x);
            kk_optimizer_ask(b, y);
            kk_optimizer_ask(b, y);
            KK_CHECK_BYTES(x, y, (size_t)(population * n) * sizeof *x);
            for (int i = population - 1; i >= 0; i--) {
                int count = n;
                rosenbrock(&count, x + i * n, &cost[i], NULL);
            }
            cost[3] = NAN;
            kk_optimizer_tell(a, cost);
            kk_optimizer_tell(b, cost);
            kk_optimizer_tell(b, cost); // nothing was asked: nothing happens
            KK_CHECK_EQ_INT(kk_optimizer_generation(b), g + 1);
        }
        KK_CHECK(isfinite(kk_optimizer_best(a, NULL)) && kk_optimizer_best(a, x) == kk_optimizer_best(b, y));
        kk_optimizer_free(a);
        kk_optimizer_free(b);
    }
}

KK_TEST(optimizer_refuses) {
    const double lower[1] = {1}, upper[1] = {1};
    const kk_optimizer_def none = {.n = 0}, wrong = {.n = 1, .lower = lower, .upper = upper}, good = {.n = 3};
    kk_optimizer *o = NULL;
    kk_error error;
    KK_CHECK_EQ_INT(kk_optimizer_create(&none, NULL, &o, &error), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_optimizer_create(&wrong, NULL, &o, &error), KK_INVALID_ARGUMENT);
    faulty f = {.fail_at = 0};
    const kk_allocator allocator = {faulty_allocate, faulty_release, &f};
    KK_CHECK_EQ_INT(kk_optimizer_create(&good, &allocator, &o, &error), KK_OUT_OF_MEMORY);
    KK_CHECK(o == NULL);
}

// V diag(λ) Vᵀ is the matrix, and V is a rotation
KK_TEST(symmetric_eigen_rebuilds) {
    enum { N = 7 };
    double a[N * N], kept[N * N], V[N * N], values[N];
    for (int i = 0; i < N; i++) {
        for (int k = 0; k <= i; k++) {
            kept[i * N + k] = kept[k * N + i] = sin(1.0 + 3 * i + k * k) + (i == k ? i - 2 : 0);
        }
    }
    memcpy(a, kept, sizeof a);
    kki_symmetric_eigen(N, a, V, values);
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < N; k++) {
            double sum = 0, turned = 0;
            for (int j = 0; j < N; j++) {
                sum += V[i * N + j] * values[j] * V[k * N + j];
                turned += V[j * N + i] * V[j * N + k];
            }
            KK_CHECK_NEAR(sum, kept[i * N + k], 1e-13);
            KK_CHECK_NEAR(turned, i == k, 1e-14);
        }
    }
}

KK_TEST(optimizer_refuses_a_type_that_is_none) {
    kk_optimizer *optimizer = NULL;
    kk_error error = {0};
    const kk_optimizer_def def = {.type = (kk_optimizer_type)7, .n = 2};
    KK_CHECK_EQ_INT(kk_optimizer_create(&def, NULL, &optimizer, &error), KK_INVALID_ARGUMENT);
    KK_CHECK(optimizer == NULL);
}
