/// Islands of a few rows and no contact, as the coupled fingers of a gripper with their limits, or the loops of a leg: no ladder is needed.
///
/// The modes of the last step are tried: rows that bore, and equalities, end at rest; the others bear what they bore at their bounds. That is one
/// small linear system, G a λ = −g, and the certificate says whether its solution is one. The same system takes gaps out of loops.
#include "contact/cones.h"
#include "contact/dense_kernels.h"
#include "simulate/island.h"

/// Rows; and rows whose products are formed here, where nobody else has needed them.
enum { FEW = 16, VERY_FEW = 4 };
/// Share of the tolerance that the result may be off by; else the ladder looks.
static const double GOOD = 1e-3;

static int is_one_row(const kki_block *b) {
    return b->law == KKI_LAW_EQUALITY || b->law == KKI_LAW_LIMIT || b->law == KKI_LAW_BOX;
}

/// Whether a row was at rest: within its bounds. λ of one at a bound is put there.
static int rests(const kki_block *b, double *lambda) {
    if (b->law == KKI_LAW_EQUALITY) {
        return 1;
    }
    const double lower = b->law == KKI_LAW_LIMIT ? 0 : b->lower,
                 upper = b->law == KKI_LAW_LIMIT ? __builtin_inf() : b->upper;
    *lambda = kki_clamp(*lambda, lower, upper);
    return *lambda > lower && *lambda < upper;
}

typedef struct few {
    int n, row[FEW];
    double A[FEW][FEW], b[FEW];
} few;

/// Products of rows, own[i][k] for k ≤ i.
static void multiply(const kk_simulator *s, const kki_island *I, double own[FEW][FEW]) {
    for (int i = 0; i < I->nrow; i++) {
        for (int k = 0; k <= i; k++) {
            own[i][k] = I->has_matrix ? s->G[i * I->stride + k] : 0;
        }
    }
    for (int t = 0; t < I->nv && !I->has_matrix; t++) {
        const double *y = s->Y + (size_t)t * (size_t)I->stride;
        for (int i = 0; i < I->nrow; i++) {
            for (int k = 0; k <= i; k++) {
                own[i][k] += y[i] * y[k];
            }
        }
    }
}

/// Rows that rest, and what the others leave for them to answer.
static void pose(const kk_simulator *s, const kki_island *I, const double *lambda, few *x) {
    double own[FEW][FEW];
    int8_t is_free[FEW] = {0};
    multiply(s, I, own);
    for (int k = 0; k < x->n; k++) {
        is_free[x->row[k]] = 1;
    }
    for (int i = 0; i < x->n; i++) {
        const int r = x->row[i];
        x->b[i] = -s->g[I->first_row + r];
        for (int k = 0; k < I->nrow && x->n < I->nrow; k++) {
            x->b[i] -= is_free[k] ? 0 : (r > k ? own[r][k] : own[k][r]) * lambda[k];
        }
        for (int k = 0; k <= i; k++) {
            x->A[i][k] = own[r][x->row[k]];
        }
        x->A[i][i] += s->compliance[I->first_row + r];
    }
}

/// x = A⁻¹ b by Cholesky's square-root-free factor. False where A is not clearly positive.
static int solve(few *x) {
    double inverse[FEW];
    for (int i = 0; i < x->n; i++) {
        double *row = x->A[i], left = row[i];
        for (int k = 0; k < i; k++) { // D L on the way
            for (int j = 0; j < k; j++) {
                row[k] -= row[j] * x->A[k][j];
            }
        }
        for (int k = 0; k < i; k++) {
            const double l = row[k] * inverse[k];
            left -= row[k] * l;
            row[k] = l;
        }
        if (!(left > 1e-9 * row[i])) {
            return 0;
        }
        inverse[i] = 1 / left;
    }
    for (int i = 0; i < x->n; i++) {
        for (int k = 0; k < i; k++) {
            x->b[i] -= x->A[i][k] * x->b[k];
        }
    }
    for (int i = x->n - 1; i >= 0; i--) {
        x->b[i] *= inverse[i];
        for (int k = i + 1; k < x->n; k++) {
            x->b[i] -= x->A[k][i] * x->b[k];
        }
    }
    return 1;
}

/// Whether the island has few rows, each of a law of its own.
static int is_small(const kki_island *I) {
    return I->nrow <= (I->has_matrix ? FEW : VERY_FEW) && I->nrow == I->nblock && !I->is_wide && !I->is_narrow;
}

/// Whether the island is one for this file, and which of its rows rest. @param lambda  what they bear, those at a bound exactly
static int list_rows(const kk_simulator *s, const kki_island *I, double *lambda, few *x) {
    x->n = 0;
    if (!is_small(I)) {
        return 0;
    }
    for (int b = 0; b < I->nblock; b++) {
        const kki_block *block = &s->block[I->first_block + b];
        lambda[b] = s->lambda[I->first_row + b];
        if (!is_one_row(block)) {
            return 0;
        }
        if (rests(block, &lambda[b])) {
            x->row[x->n++] = b;
        }
    }
    return 1;
}

int kki_few_rows_solved(const kk_model *m, kk_simulator *s, const kki_island *I) {
    few x;
    double lambda[FEW];
    if (s->options.budget > 0 || !list_rows(s, I, lambda, &x)) {
        return 0;
    }
    pose(s, I, lambda, &x);
    if (!solve(&x)) {
        return 0;
    }
    for (int i = 0; i < x.n; i++) {
        lambda[x.row[i]] = x.b[i];
    }
    const kki_problem problem = kki_island_problem(s, I, I->has_matrix);
    const kki_solver_options options = kki_island_solver_options(s, I);
    const kki_solver_stats stats = {.sweeps = 1, .solved = true};
    kki_certificate proof;
    double padded[FEW] = {0};
    for (int r = 0; r < I->nrow; r++) {
        padded[r] = lambda[r] + 0.0; // no −0, which would come back as 0
    }
    s->solver.kernels->certify(&problem, padded, s->u + I->first_row, &proof);
    if (!(proof.residual <= GOOD * options.tolerance)) {
        return 0;
    }
    for (int r = 0; r < I->nrow; r++) {
        s->lambda[I->first_row + r] = padded[r];
    }
    kki_island_note(m, s, I, &proof, &stats);
    return 1;
}

/// Limits and friction are left out: what is moved is far less than what they may be overrun by.
int kki_few_rows_drawn(const kk_simulator *s, const kki_island *I, double *lambda) {
    few x;
    const double none[FEW] = {0};
    if (!is_small(I)) {
        return 0;
    }
    x.n = 0;
    for (int b = 0; b < I->nblock; b++) {
        if (s->block[I->first_block + b].law == KKI_LAW_EQUALITY) {
            x.row[x.n++] = b;
        }
    }
    pose(s, I, none, &x);
    if (!solve(&x)) {
        return 0;
    }
    for (int r = 0; r < I->stride; r++) {
        lambda[r] = 0;
    }
    for (int i = 0; i < x.n; i++) {
        lambda[x.row[i]] = x.b[i];
    }
    return 1;
}
