/// Islands in which all goes on as it did, as under a robot that shifts its weight: no ladder is needed.
///
/// What held in the last step, inside its cone or between its bounds, is taken to hold in this one; what was open or at a bound to stay there. That leaves
///     (G + ε) Δλ = −u    over the rows that hold.
/// ε makes rows that say together what others say (four corners of a sole) regular; rounds take it out again. The certificate says whether the
/// result is a solution.
#include <string.h>

#include "contact/cones.h"
#include "contact/dense_kernels.h"
#include "simulate/island.h"

/// Rows: of one contact alone the ladder makes as short work.
enum { LEAST_ROWS = 4, MOST_ROWS = 64 };
enum { MOST_ROUNDS = 3 };
/// ε as a share of the diagonal.
static const double SHIFT = 1e-10;
/// Share of its bound that friction keeps clear of, and that of the tolerance the result may be off by; else the ladder looks.
static const double CLEAR = 1e-9, GOOD = 1e-3;

typedef struct kept {
    int n, row[MOST_ROWS]; ///< rows that hold
    int stride;
    _Alignas(32) double b[MOST_ROWS], x[MOST_ROWS], scratch[MOST_ROWS], inverse[MOST_ROWS];
} kept;

enum { HOLDS, STAYS, UNKNOWN };

/// A number between bounds, or at one.
static int mode_between(double lower, double upper, double l) {
    return l > lower && l < upper ? HOLDS : l == lower || l == upper ? STAYS : UNKNOWN;
}

static int mode_of_contact(const kki_block *block, const double *l) {
    const double rim = (1 - CLEAR) * block->friction * l[0];
    if (block->adhesion != 0) {
        return UNKNOWN;
    }
    if (l[0] > 0 && l[1] * l[1] + l[2] * l[2] < rim * rim) {
        return HOLDS;
    }
    return l[0] == 0 && l[1] == 0 && l[2] == 0 ? STAYS : UNKNOWN;
}

/// What a block did, by what it bore. @param lambda  of the island
static int mode_of(const kki_block *all, const kki_block *block, const double *lambda) {
    const double *l = lambda + block->row;
    switch (block->law) {
    case KKI_LAW_EQUALITY: return HOLDS;
    case KKI_LAW_CONTACT: return mode_of_contact(block, l);
    case KKI_LAW_LIMIT: return mode_between(0, __builtin_inf(), *l);
    case KKI_LAW_BOX: return mode_between(block->lower, block->upper, *l);
    case KKI_LAW_TORSION: {
        const double bound = (1 - CLEAR) * block->friction * lambda[all[block->contact].row];
        return *l > -bound && *l < bound ? HOLDS : bound == 0 && *l == 0 ? STAYS : UNKNOWN;
    }
    default: return UNKNOWN;
    }
}

/// Rows that hold. False where there are none, or something slides.
static int list_rows(const kk_simulator *s, const kki_island *I, const double *lambda, kept *x) {
    const kki_block *all = s->block + I->first_block;
    x->n = 0;
    for (int b = 0; b < I->nblock; b++) {
        const int mode = mode_of(all, &all[b], lambda), count = kki_law_rows(all[b].law);
        if (mode == UNKNOWN) {
            return 0;
        }
        for (int k = 0; k < count && mode == HOLDS; k++) {
            x->row[x->n++] = all[b].row + k;
        }
    }
    return x->n > 0;
}

/// A = G + ε of the rows that hold; its factor.
static int factor(kk_simulator *s, const kki_island *I, kept *x) {
    x->stride = kki_round4(x->n);
    for (int i = 0; i < x->n; i++) {
        const double *G = s->G + (size_t)x->row[i] * (size_t)I->stride;
        double *A = s->A + i * x->stride;
        for (int k = 0; k < x->n; k++) {
            A[k] = G[x->row[k]];
        }
        for (int k = x->n; k < x->stride; k++) {
            A[k] = 0;
        }
        A[i] += SHIFT * A[i];
    }
    return s->solver.kernels->ldl(x->n, x->n, x->stride, s->A, x->inverse);
}

/// The right side −u of the rows that hold; the fastest of them.
static double right_side(kept *x, const double *u) {
    for (int i = 0; i < x->n; i++) {
        x->b[i] = -u[x->row[i]];
    }
    for (int i = x->n; i < x->stride; i++) {
        x->b[i] = 0;
    }
    return kki_largest(x->n, x->b);
}

/// λ and u at which what holds is at rest, from what they were; gives the rounds it took.
static int hold(const kk_simulator *s, const kki_island *I, kept *x, double floor, double *lambda, double *u) {
    const kki_dense_kernels *kernels = s->solver.kernels;
    double size = right_side(x, u), last = __builtin_inf();
    int rounds = 0;
    for (; size > floor && size < 0.5 * last && rounds < MOST_ROUNDS; rounds++) {
        kernels->ldl_solve(x->n, x->stride, s->A, x->inverse, x->b, x->scratch, x->x);
        for (int i = 0; i < x->n; i++) {
            lambda[x->row[i]] += x->x[i];
        }
        kernels->multiply(I->nrow, I->stride, s->G, lambda, s->g + I->first_row, u);
        last = size;
        size = right_side(x, u);
    }
    return rounds;
}

kki_kept kki_kept_solve(const kk_model *m, kk_simulator *s, kki_island *I) {
    double *lambda = s->lambda2 + I->first_row, *u = s->u2 + I->first_row;
    kept x;
    if (I->nrow < LEAST_ROWS || I->nrow > MOST_ROWS || I->is_soft || I->closes || s->options.budget > 0 ||
        !list_rows(s, I, s->lambda + I->first_row, &x)) {
        return KKI_KEPT_UNASKED;
    }
    const kki_solver_options options = kki_island_solver_options(s, I);
    kki_solver_stats stats = {.factorisations = 1, .solved = true};
    kki_rows_matrix(m, s, I);
    memcpy(lambda, s->lambda + I->first_row, (size_t)I->stride * sizeof *lambda);
    s->solver.kernels->multiply(I->nrow, I->stride, s->G, lambda, s->g + I->first_row, u);
    memcpy(s->u + I->first_row, u, (size_t)I->nrow * sizeof *u);
    if (!factor(s, I, &x)) {
        return KKI_KEPT_NOT;
    }
    stats.newton = hold(s, I, &x, options.floor, lambda, u);
    const kki_problem problem = kki_island_problem(s, I, 1);
    kki_certificate proof;
    s->solver.kernels->certify(&problem, lambda, u, &proof);
    if (!(proof.residual <= GOOD * options.tolerance)) {
        return KKI_KEPT_NOT;
    }
    memcpy(s->lambda + I->first_row, lambda, (size_t)I->stride * sizeof *lambda);
    memcpy(s->u + I->first_row, u, (size_t)I->nrow * sizeof *u);
    kki_island_note(m, s, I, &proof, &stats);
    return KKI_KEPT_SOLVED;
}
