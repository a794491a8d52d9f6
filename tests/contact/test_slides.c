// Contacts that slide, behind what holds: Newton's method in lanes.
#include <karakuri/random.h>
#include <math.h>
#include <string.h>

#include "contact/dense_kernels.h"
#include "contact/slides.h"
#include "harness.h"

enum { N = 3 * KKI_MOST_SLIDES };

/// n contacts that press and slip, S = 1 + B Bᵀ/20, whose rows see little of each other: they begin near an answer.
static kki_slides some_slides(int n, uint64_t seed) {
    kki_slides x = {.n = n};
    double B[N][N];
    kk_random random = {seed, 1, 0};
    for (int i = 0; i < 3 * n; i++) {
        for (int k = 0; k < 3 * n; k++) {
            B[i][k] = kk_random_next_uniform(&random) - 0.5;
        }
    }
    for (int i = 0; i < 3 * n; i++) {
        for (int k = 0; k < 3 * n; k++) {
            double sum = i == k;
            for (int j = 0; j < 3 * n; j++) {
                sum += 0.05 * B[i][j] * B[k][j];
            }
            x.S[i][k % 3][k / 3] = sum;
        }
    }
    for (int a = 0; a < KKI_MOST_SLIDES; a++) {
        const double angle = 6 * kk_random_next_uniform(&random);
        x.friction[a] = a < n ? 0.3 + 0.5 * kk_random_next_uniform(&random) : 1;
        x.normal[a] = 1;
        x.d[0][a] = a < n ? cos(angle) : 1;
        x.d[1][a] = a < n ? sin(angle) : 0;
        x.u[0][a] = a < n ? 0.1 * (kk_random_next_uniform(&random) - 0.5) : 0;
        x.u[1][a] = a < n ? -2 * cos(angle + 0.3) : 0;
        x.u[2][a] = a < n ? -2 * sin(angle + 0.3) : 0;
    }
    return x;
}

/// From x->u on.
static int slide(const kki_dense_kernels *kernels, kki_slides *x) {
    double b[N];
    for (int k = 0; k < 3 * x->n; k++) {
        b[k] = -x->u[k % 3][k / 3];
    }
    return kernels->slide(x, b, 1e-13);
}

KK_TEST(slides_end_on_their_law_by_all_kernels) {
    for (int n = 1; n <= KKI_MOST_SLIDES; n++) {
        kki_slides first;
        for (int k = 0; kki_dense_kernels_at(k); k++) {
            kki_slides x = some_slides(n, (uint64_t)n);
            KK_CHECK(slide(kki_dense_kernels_at(k), &x));
            for (int a = 0; a < n; a++) {
                const double along = x.d[0][a] * x.u[1][a] + x.d[1][a] * x.u[2][a];
                const double across = x.d[0][a] * x.u[2][a] - x.d[1][a] * x.u[1][a];
                KK_CHECK(fabs(x.u[0][a]) < 1e-12 && fabs(across) < 1e-12 && along < -1 && x.normal[a] > 0);
            }
            first = k == 0 ? x : first;
            KK_CHECK(memcmp(&first.normal, &x.normal, sizeof x.normal) == 0 && memcmp(&first.d, &x.d, sizeof x.d) == 0);
        }
    }
}

// one that would have to be drawn to what it slides on lets go, and the others slide on without it
KK_TEST(slides_that_would_draw_let_go) {
    for (int k = 0; kki_dense_kernels_at(k); k++) {
        kki_slides x = some_slides(3, 7);
        x.u[0][1] = 5;
        KK_CHECK(slide(kki_dense_kernels_at(k), &x));
        KK_CHECK(x.normal[1] == 0 && x.u[0][1] > 1);
        for (int a = 0; a < 3; a += 2) {
            const double across = x.d[0][a] * x.u[2][a] - x.d[1][a] * x.u[1][a];
            KK_CHECK(x.normal[a] > 0 && fabs(x.u[0][a]) < 1e-12 && fabs(across) < 1e-12);
        }
    }
}

// a direction that is far off turns there by and by
KK_TEST(slides_turn_round) {
    kki_slides x = some_slides(1, 5);
    const double c = cos(2), s = sin(2), d0 = x.d[0][0], d1 = x.d[1][0];
    x.d[0][0] = c * d0 - s * d1;
    x.d[1][0] = c * d1 + s * d0;
    KK_CHECK(slide(kki_dense_kernels_best(), &x));
    const double along = x.d[0][0] * x.u[1][0] + x.d[1][0] * x.u[2][0];
    const double across = x.d[0][0] * x.u[2][0] - x.d[1][0] * x.u[1][0];
    KK_CHECK(fabs(across) < 1e-12 && along < -0.5 && x.normal[0] > 0);
}
