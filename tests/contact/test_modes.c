// Modes that are known, and sweeps that find them while what holds is eliminated.
#include <math.h>
#include <string.h>

#include <karakuri/random.h>

#include "contact/dense_kernels.h"
#include "contact/modes.h"
#include "harness.h"

enum { BLOCKS = 9, ROWS = 3 * BLOCKS, STRIDE = 28, NV = 20 };

typedef struct scene {
    _Alignas(64) double G[ROWS * STRIDE + 4], g[STRIDE];
    kki_problem p;
    kki_block block[BLOCKS];
} scene;

/// Nine contacts on twenty coordinates, G = Yᵀ Y: four that surely hold, others that press, slip or part.
static void make(scene *x, uint64_t seed) {
    kk_random random = {seed, 1, 0};
    double Y[NV][ROWS];
    memset(x, 0, sizeof *x);
    for (int t = 0; t < NV; t++) {
        for (int i = 0; i < ROWS; i++) {
            Y[t][i] = kk_random_next_uniform(&random) - 0.5;
        }
    }
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < ROWS; k++) {
            for (int t = 0; t < NV; t++) {
                x->G[i * STRIDE + k] += Y[t][i] * Y[t][k];
            }
        }
    }
    double lambda[ROWS];
    for (int b = 0; b < BLOCKS; b++) {
        x->block[b] = (kki_block){.law = KKI_LAW_CONTACT, .row = 3 * b, .friction = 0.8};
        lambda[3 * b] = b < 4 ? 1 : 0.3 * kk_random_next_uniform(&random);
        lambda[3 * b + 1] = lambda[3 * b + 2] = 0;
    }
    for (int i = 0; i < ROWS; i++) { // those would rest with these impulses, but for what the others are given
        x->g[i] = i < 12 ? 0 : 0.2 * (kk_random_next_uniform(&random) - 0.5);
        for (int k = 0; k < ROWS; k++) {
            x->g[i] -= x->G[i * STRIDE + k] * lambda[k];
        }
    }
    x->p = (kki_problem){.nblock = BLOCKS, .nrow = ROWS, .stride = STRIDE, .block = x->block, .G = x->G, .g = x->g};
}

/// The ladder's answer.
static double solve(const scene *x, double *lambda) {
    kki_solver_work work = {0};
    kki_certificate proof = {.residual = INFINITY};
    kki_solver_stats stats;
    kki_solver_options options = kki_solver_options_default();
    double u[STRIDE];
    KK_CHECK_EQ_INT(kki_solver_work_create(&work, NULL, (kki_solver_size){ROWS, BLOCKS, ROWS, 0}), KK_OK);
    memset(lambda, 0, STRIDE * sizeof *lambda);
    KK_CHECK_EQ_INT(kki_contact_solve(&x->p, &options, &work, lambda, u, &proof, &stats), KK_OK);
    kki_solver_work_destroy(&work);
    return proof.residual;
}

/// Whether the modes that λ shows lead to a solution; or do so where one or the other is changed.
static bool leads_on(const scene *x, const kki_dense_kernels *kernels, bool may_amend, double *lambda) {
    static _Alignas(64) double A[KKI_MODES_ROOM * KKI_MODES_ROOM];
    _Alignas(64) double u[STRIDE], from[STRIDE];
    static kki_modes modes;
    kki_certificate proof;
    kki_solver_stats stats = {0};
    const kki_modes_goal goal = {1e-13, 1e-10, 1e-10};
    modes.shift = 1e-7;
    memcpy(from, lambda, sizeof from);
    kernels->multiply(ROWS, STRIDE, x->G, lambda, x->g, u);
    if (!kki_modes_list(&x->p, lambda, &modes) || !kki_modes_factor(&x->p, kernels, A, &modes)) {
        return false;
    }
    const double off = kki_modes_off(&modes, u);
    return kki_modes_solve(&x->p, kernels, A, &modes, off, &goal, lambda, u, &proof, &stats) ||
           (may_amend && kki_modes_amend(&x->p, kernels, A, &modes, &goal, from, lambda, u, &proof, &stats));
}

static bool goes_on(const scene *x, const kki_dense_kernels *kernels, double *lambda) {
    return leads_on(x, kernels, false, lambda);
}

// from impulses that are off by a tenth, but show the right modes
KK_TEST(known_modes_are_solved_to_the_floor_by_all_kernels) {
    static scene x;
    int solved = 0, known = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        _Alignas(64) double right[STRIDE], first[STRIDE];
        make(&x, seed);
        if (!(solve(&x, right) < 1e-9)) {
            continue;
        }
        known++;
        bool good = false;
        for (int k = 0; kki_dense_kernels_at(k); k++) {
            _Alignas(64) double lambda[STRIDE] = {0};
            for (int i = 0; i < ROWS; i++) {
                lambda[i] = (1 + 0.1 * (i / 3 % 2)) * right[i];
            }
            good = goes_on(&x, kki_dense_kernels_at(k), lambda);
            memcpy(first, k == 0 ? lambda : first, sizeof first);
            KK_CHECK(memcmp(first, lambda, ROWS * sizeof *lambda) == 0);
        }
        solved += good;
    }
    KK_CHECK(known >= 35 && solved >= 0.9 * known);
}

// all that is known is that four hold: sweeps over the others find modes that are right, where as many sweeps over all of them mostly do not
KK_TEST(sweeps_over_what_is_in_question_find_modes) {
    static scene x;
    static _Alignas(64) double A[KKI_MODES_ROOM * KKI_MODES_ROOM];
    static kki_modes modes;
    const kki_dense_kernels *kernels = kki_dense_kernels_best();
    int found = 0, plainly = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        _Alignas(64) double lambda[STRIDE] = {0}, u[STRIDE], v[STRIDE], plain[STRIDE] = {0};
        int8_t is_open[BLOCKS];
        make(&x, seed);
        for (int b = 0; b < BLOCKS; b++) {
            lambda[3 * b] = plain[3 * b] = b < 4;
            is_open[b] = b >= 4;
        }
        kernels->multiply(ROWS, STRIDE, x.G, lambda, x.g, u);
        memcpy(v, u, sizeof v);
        modes.shift = 1e-7;
        kki_modes_sweep(&x.p, kernels, 10, is_open, A, &modes, lambda, u);
        kernels->glance(&x.p, 10, plain, v);
        kernels->multiply(ROWS, STRIDE, x.G, lambda, x.g, v);
        for (int i = 0; i < ROWS; i++) {
            KK_CHECK(fabs(u[i] - v[i]) < 1e-12); // u has followed λ
        }
        for (int b = 0; b < BLOCKS; b++) { // which is on its cones
            const double *l = lambda + 3 * b;
            KK_CHECK(l[0] >= 0 && hypot(l[1], l[2]) <= 0.8 * l[0] * (1 + 1e-12));
        }
        found += goes_on(&x, kernels, lambda);
        plainly += goes_on(&x, kernels, plain);
    }
    KK_CHECK(found >= 25 && found > 2 * plainly);
}

// nothing holds, or a block does not tell: no modes, and no harm
KK_TEST(modes_that_nobody_knows_are_refused) {
    static scene x;
    static kki_modes modes;
    _Alignas(64) double lambda[STRIDE] = {0};
    make(&x, 1);
    KK_CHECK(!kki_modes_list(&x.p, lambda, &modes)); // all open: nothing is listed
    lambda[0] = 1;
    KK_CHECK(kki_modes_list(&x.p, lambda, &modes));
    KK_CHECK_EQ_INT(modes.nheld, 3);
    lambda[1] = 3; // far outside of its cone
    KK_CHECK(!kki_modes_list(&x.p, lambda, &modes));
    lambda[1] = 0;
    x.block[1].adhesion = 1;
    KK_CHECK(!kki_modes_list(&x.p, lambda, &modes));
}

/// One contact that slides is taken to hold, or what it would slide towards is turned round.
static int spoil(const double *right, double share, double *lambda) {
    memcpy(lambda, right, STRIDE * sizeof *lambda);
    for (int b = 0; b < BLOCKS; b++) {
        double *l = lambda + 3 * b;
        if (l[0] > 0.01 && hypot(l[1], l[2]) > 0.8 * l[0] * (1 - 1e-9)) {
            l[1] *= share;
            l[2] *= share;
            return 1;
        }
    }
    return 0;
}

// modes of which one is wrong lead to no solution, but often tell which it is (of contacts as entangled as these, 27 and 16 of 60); the bits are those of all kernels
KK_TEST(modes_that_are_nearly_right_are_amended) {
    static scene x;
    for (int turns = 0; turns < 2; turns++) {
        int spoilt = 0, plainly = 0, amended = 0;
        for (uint64_t seed = 1; seed <= 60; seed++) {
            _Alignas(64) double right[STRIDE], lambda[STRIDE], first[STRIDE] = {0};
            make(&x, seed);
            if (!(solve(&x, right) < 1e-9) || !spoil(right, turns ? -1 : 0.7, lambda)) {
                continue;
            }
            spoilt++;
            plainly += goes_on(&x, kki_dense_kernels_best(), lambda);
            bool good = false;
            for (int k = 0; kki_dense_kernels_at(k); k++) {
                spoil(right, turns ? -1 : 0.7, lambda);
                good = leads_on(&x, kki_dense_kernels_at(k), true, lambda);
                memcpy(first, k == 0 ? lambda : first, sizeof first);
                KK_CHECK(memcmp(first, lambda, ROWS * sizeof *lambda) == 0);
            }
            amended += good;
        }
        KK_CHECK(spoilt >= 50 && plainly <= 2 && amended >= (turns ? 10 : 20));
    }
}

// where most of what holds cannot, nothing is amended
KK_TEST(modes_that_are_all_wrong_are_left) {
    static scene x;
    int tried = 0, found = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        _Alignas(64) double lambda[STRIDE] = {0};
        make(&x, seed);
        for (int b = 0; b < BLOCKS; b++) {
            lambda[3 * b] = 1;
        }
        tried += !goes_on(&x, kki_dense_kernels_best(), lambda);
        for (int i = 0; i < ROWS; i++) {
            lambda[i] = i % 3 == 0;
        }
        found += leads_on(&x, kki_dense_kernels_best(), true, lambda);
    }
    KK_CHECK(tried == 40 && found == 0);
}

// two rows that say the same and contradict each other by 2e-10 m/s: each is left with half of that, and it is a solution where so much may be left
KK_TEST(rows_that_contradict_each_other_are_shared_out) {
    static _Alignas(64) double A[KKI_MODES_ROOM * KKI_MODES_ROOM];
    static kki_modes modes;
    _Alignas(64) double G[12] = {1, 1, 0, 0, 1, 1}, g[4] = {-1, -1 + 2e-10};
    const kki_block block[2] = {{.law = KKI_LAW_EQUALITY, .row = 0}, {.law = KKI_LAW_EQUALITY, .row = 1}};
    const kki_problem p = {.nblock = 2, .nrow = 2, .stride = 4, .block = block, .G = G, .g = g};
    for (int most = 0; most < 2; most++) {
        for (int k = 0; kki_dense_kernels_at(k); k++) {
            const kki_dense_kernels *kernels = kki_dense_kernels_at(k);
            _Alignas(64) double lambda[4] = {0}, u[4] = {g[0], g[1]};
            kki_certificate proof = {.residual = INFINITY};
            kki_solver_stats stats = {0};
            const kki_modes_goal goal = {1e-13, 5e-11, most ? 5e-10 : 9e-11};
            modes.shift = 1e-7;
            KK_CHECK(kki_modes_list(&p, lambda, &modes) && kki_modes_factor(&p, kernels, A, &modes));
            const double off = kki_modes_off(&modes, u);
            KK_CHECK(kki_modes_solve(&p, kernels, A, &modes, off, &goal, lambda, u, &proof, &stats) == (most == 1));
            KK_CHECK_NEAR(u[0], -1e-10, 1e-13);
            KK_CHECK_NEAR(u[1], 1e-10, 1e-13);
            KK_CHECK_NEAR(lambda[0] + lambda[1], 1 - 1e-10, 1e-12);
        }
    }
}
