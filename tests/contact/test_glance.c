// Sweeps that find modes: where rows see little of each other they go all the way, by all kernels.
#include <karakuri/random.h>
#include <math.h>
#include <string.h>

#include "contact/dense_kernels.h"
#include "contact/glance.h"
#include "contact/solver.h"
#include "harness.h"

enum { BLOCKS = 11, MOST = 3 * BLOCKS + 3 };

typedef struct scene {
    kki_problem p;
    kki_block block[BLOCKS];
    _Alignas(64) double G[MOST * MOST], g[MOST];
} scene;

/// Contacts, with a limit, a box and an equality among them; G = 1 + B Bᵀ/20.
static void make(scene *x, uint64_t seed) {
    static const int laws[BLOCKS] = {KKI_LAW_CONTACT, KKI_LAW_LIMIT,   KKI_LAW_CONTACT, KKI_LAW_CONTACT,
                                     KKI_LAW_BOX,     KKI_LAW_CONTACT, KKI_LAW_CONTACT, KKI_LAW_EQUALITY,
                                     KKI_LAW_CONTACT, KKI_LAW_LIMIT,   KKI_LAW_CONTACT};
    kk_random random = {seed, 1, 0};
    double B[MOST][MOST];
    memset(x, 0, sizeof *x);
    for (int b = 0; b < BLOCKS; b++) {
        x->block[b] = (kki_block){.law = laws[b], .row = x->p.nrow, .friction = 0.2 + kk_random_next_uniform(&random)};
        x->block[b].lower = -0.1;
        x->block[b].upper = 0.1;
        x->p.nrow += laws[b] == KKI_LAW_CONTACT ? 3 : 1;
    }
    const int n = x->p.nrow, stride = kki_round4(n);
    for (int i = 0; i < n; i++) {
        x->g[i] = 2 * kk_random_next_uniform(&random) - 1;
        for (int k = 0; k < n; k++) {
            B[i][k] = kk_random_next_uniform(&random) - 0.5;
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) {
            double sum = i == k;
            for (int j = 0; j < n; j++) {
                sum += 0.05 * B[i][j] * B[k][j];
            }
            x->G[i * stride + k] = sum;
        }
    }
    x->p.nblock = BLOCKS;
    x->p.stride = stride;
    x->p.block = x->block;
    x->p.G = x->G;
    x->p.g = x->g;
}

KK_TEST(glances_end_on_all_laws_by_all_kernels) {
    static scene x;
    int slide = 0, hold = 0, open = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        make(&x, seed);
        _Alignas(64) double first[MOST] = {0};
        for (int k = 0; kki_dense_kernels_at(k); k++) {
            _Alignas(64) double lambda[MOST] = {0}, u[MOST], v[MOST];
            kki_certificate proof;
            memcpy(u, x.g, sizeof u);
            for (int sweep = 0; sweep < 60; sweep++) { // each is one at least
                kki_dense_kernels_at(k)->glance(&x.p, 1, lambda, u);
            }
            kki_certify_baseline(&x.p, lambda, v, &proof);
            KK_CHECK(proof.residual < 1e-10);
            for (int i = 0; i < x.p.nrow; i++) {
                KK_CHECK(fabs(u[i] - v[i]) < 1e-13); // u has followed λ
            }
            memcpy(first, k == 0 ? lambda : first, sizeof first);
            KK_CHECK(memcmp(first, lambda, sizeof first) == 0);
        }
        for (int b = 0; b < BLOCKS; b++) {
            const double *l = first + x.block[b].row, rim = x.block[b].friction * l[0];
            const int is_contact = x.block[b].law == KKI_LAW_CONTACT, bears = is_contact && l[0] > 0;
            const int is_held = bears && hypot(l[1], l[2]) < (1 - 1e-9) * rim;
            open += is_contact && !bears;
            hold += is_held;
            slide += bears && !is_held;
        }
    }
    KK_CHECK(open > 50 && hold > 10 && slide > 50);
}

// a glance ends where nothing changes by much any more, and is near the end then
KK_TEST(glances_end_where_they_stand_still) {
    static scene x;
    int same = 0, count = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        make(&x, seed);
        _Alignas(64) double brief[MOST] = {0}, whole[MOST] = {0}, u[MOST], v[MOST];
        memcpy(u, x.g, sizeof u);
        memcpy(v, x.g, sizeof v);
        kki_dense_kernels_at(0)->glance(&x.p, 60, brief, u);
        for (int sweep = 0; sweep < 60; sweep++) {
            kki_dense_kernels_at(0)->glance(&x.p, 1, whole, v);
        }
        KK_CHECK(memcmp(brief, whole, sizeof brief) != 0);
        for (int i = 0; i < x.p.nrow; i++) {
            KK_CHECK(fabs(brief[i] - whole[i]) < 0.1);
        }
        for (int b = 0; b < BLOCKS; b++) {
            count += x.block[b].law == KKI_LAW_CONTACT;
            same += x.block[b].law == KKI_LAW_CONTACT && (brief[x.block[b].row] > 0) == (whole[x.block[b].row] > 0);
        }
    }
    KK_CHECK(same >= 0.99 * count);
}

// what no impulse moves gets none, and everything stays finite
KK_TEST(glances_leave_dead_contacts_alone) {
    static scene x;
    make(&x, 3);
    const int row = x.block[2].row, stride = x.p.stride;
    for (int i = row; i < row + 3; i++) {
        for (int k = 0; k < x.p.nrow; k++) {
            x.G[i * stride + k] = x.G[k * stride + i] = 0;
        }
        x.g[i] = -1;
    }
    for (int k = 0; kki_dense_kernels_at(k); k++) {
        _Alignas(64) double lambda[MOST] = {0}, u[MOST];
        memcpy(u, x.g, sizeof u);
        kki_dense_kernels_at(k)->glance(&x.p, 10, lambda, u);
        for (int i = 0; i < x.p.nrow; i++) {
            KK_CHECK(isfinite(lambda[i]) && isfinite(u[i]));
        }
        KK_CHECK(lambda[row] == 0 && lambda[row + 1] == 0 && lambda[row + 2] == 0);
    }
}
