/// Islands of a few rows and no contact, as the coupled fingers of a gripper with their limits, or the loops of a leg: no search is needed.
///
/// The modes of the last step are tried: rows that bore, and equalities, end at rest; the others bear what they bore at their bounds. That is one
/// small linear system, G a λ = −g, and the certificate says whether its solution is one. Where it is not, the modes that λ − u/G shows are tried.
/// The same system takes gaps out of loops.
#include <string.h>

#include "contact/cones.h"
#include "contact/dense_kernels.h"
#include "simulate/island.h"

/// Rows; rows whose products are formed here, where nobody else has needed them; and modes that are tried.
enum { FEW = KKI_FEW_ROWS, VERY_FEW = 4, MOST_ROUNDS = 3 };
/// Share of the tolerance that the result may be off by; else the search looks.
static const double GOOD = 1e-3;
/// Share of its diagonal's element that is left of a pivot.
static const double CLEARLY = 1e-9;

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

/// The rows that rest, the others, and what the first have to answer.
typedef struct few {
    int n, row[FEW], other[FEW];
    double A[FEW][FEW], b[FEW];
} few;

static void note_row(few *x, int row, int rests) {
    if (rests) {
        x->row[x->n++] = row;
    } else {
        x->other[row - x->n] = row;
    }
}

/// Products of rows where there is no matrix of them.
static void multiply(const kki_island *I, double own[FEW][FEW]) {
    for (int i = 0; i < I->nrow; i++) {
        for (int k = 0; k <= i; k++) {
            own[i][k] = 0;
        }
    }
    for (int t = 0; t < I->nv; t++) {
        const double *y = I->scratch->Y + (size_t)t * (size_t)I->stride;
        for (int i = 0; i < I->nrow; i++) {
            for (int k = 0; k <= i; k++) {
                own[i][k] += y[i] * y[k];
            }
        }
    }
    for (int i = 0; i < I->nrow; i++) {
        for (int k = 0; k < i; k++) {
            own[k][i] = own[i][k];
        }
    }
}

/// What the rows that rest have to answer: g, and what those at a bound bear. @param G  products of rows, `stride` apart
static void pose_right(const kk_simulator *s, const kki_island *I, const double *G, int stride, const double *lambda,
                       few *x) {
    for (int i = 0; i < x->n; i++) {
        x->b[i] = -s->solution.g[I->first_row + x->row[i]];
    }
    for (int j = 0; j < I->nrow - x->n; j++) {
        // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): every row is noted, in one list or the other
        const int k = x->other[j];
        for (int i = 0; i < x->n && lambda[k] != 0; i++) {
            x->b[i] -= G[x->row[i] * stride + k] * lambda[k];
        }
    }
}

static void pose_left(const kk_simulator *s, const kki_island *I, const double *G, int stride, few *x) {
    for (int i = 0; i < x->n; i++) {
        const int r = x->row[i];
        for (int k = 0; k <= i; k++) {
            x->A[i][k] = G[r * stride + x->row[k]];
        }
        x->A[i][i] += s->solution.compliance[I->first_row + r];
    }
}

double kki_factor_few(int n, int stride, double *restrict A, double least) {
    double product = 1;
    for (int i = 0; i < n; i++) {
        double *restrict row = A + i * stride, left = row[i];
        for (int k = 0; k < i; k++) { // D L on the way
            for (int j = 0; j < k; j++) {
                row[k] -= row[j] * A[k * stride + j];
            }
        }
        for (int k = 0; k < i; k++) {
            const double l = row[k] * A[k * stride + k];
            left -= row[k] * l;
            row[k] = l;
        }
        if (!(left > least * row[i])) {
            return 0;
        }
        product *= left / row[i];
        row[i] = 1 / left;
    }
    return product;
}

/// b ← A⁻¹ b. What is known is taken out of all that follow at once: a sum for each of them would wait for itself.
static void solve(int n, int stride, const double *restrict L, double *restrict b) {
    for (int k = 0; k < n; k++) {
        const double x = b[k];
        for (int i = k + 1; i < n; i++) {
            b[i] -= L[i * stride + k] * x;
        }
    }
    for (int k = 0; k < n; k++) {
        b[k] *= L[k * stride + k];
    }
    for (int k = n - 1; k > 0; k--) {
        const double x = b[k];
        for (int i = 0; i < k; i++) {
            b[i] -= L[k * stride + i] * x;
        }
    }
}

/// Whether the rows that rest are the rigid equalities, factored when dependent ones were looked for.
static int is_factored(const kki_island *I, const few *x) {
    return I->factored == x->n && x->n > 0;
}

/// b of the rows that rest, given what the others bear. False where their matrix is not clearly positive.
static int answer(const kk_simulator *s, const kki_island *I, const double *lambda, few *x) {
    double own[FEW][FEW];
    const double *G = I->has_matrix ? I->scratch->G : own[0];
    const int stride = I->has_matrix ? I->stride : FEW;
    if (!I->has_matrix) {
        multiply(I, own);
    }
    pose_right(s, I, G, stride, lambda, x);
    if (is_factored(I, x)) {
        solve(x->n, x->n, I->factor, x->b);
        return 1;
    }
    pose_left(s, I, G, stride, x);
    if (kki_factor_few(x->n, FEW, x->A[0], CLEARLY) == 0) {
        return 0;
    }
    solve(x->n, FEW, x->A[0], x->b);
    return 1;
}

/// Whether the island has few rows, each of a law of its own.
static int is_small(const kki_island *I) {
    const int most = I->has_matrix || I->factored ? FEW : VERY_FEW;
    return I->nrow <= most && I->nrow == I->nblock && !I->is_sparse && !I->has_wrench_basis;
}

/// Which rows rest. False where there are others than of this file's laws. @param lambda  what they bear, those at a bound exactly
static int list_rows(const kk_simulator *s, const kki_island *I, double *lambda, few *x) {
    x->n = 0;
    for (int b = 0; b < I->nblock; b++) {
        const kki_block *block = &s->solution.block[I->first_block + b];
        if (!is_one_row(block)) {
            return 0;
        }
        note_row(x, b, rests(block, &lambda[b]));
    }
    return 1;
}

/// Whether what rows did by λ solves the island; λ is then its solution, and proven. @param lambda  [stride]
static int is_solution(kk_simulator *s, const kki_island *I, double *lambda, kki_certificate *proof) {
    few x;
    if (!list_rows(s, I, lambda, &x) || !answer(s, I, lambda, &x)) {
        *proof = (kki_certificate){.residual = __builtin_inf()};
        return 0;
    }
    for (int i = 0; i < x.n; i++) {
        lambda[x.row[i]] = x.b[i] + 0.0; // no −0, which would come back as 0
    }
    const kki_problem problem = kki_island_problem(s, I, I->has_matrix);
    I->scratch->solver.kernels->certify(&problem, lambda, s->solution.u + I->first_row, proof);
    return proof->residual <= GOOD * s->options.tolerance || proof->residual <= GOOD * kki_island_tolerance(s, I);
}

/// λ whose bounds tell what rows would do that were off: one that pulled lets go, one that was overrun bears.
static void change_modes(const kk_simulator *s, const kki_island *I, double *lambda) {
    for (int r = 0; r < I->nrow; r++) {
        const double own = I->scratch->G[r * I->stride + r] + s->solution.compliance[I->first_row + r];
        lambda[r] -= own > 0 ? s->solution.u[I->first_row + r] / own : 0;
    }
}

int kki_few_rows_solved(const kk_model *m, kk_simulator *s, const kki_island *I) {
    const kki_solver_stats stats = {.sweeps = 1, .solved = true};
    double lambda[FEW], *const out = s->solution.lambda + I->first_row;
    kki_certificate proof;
    int solved = 0;
    if (s->effort.sweeps > 0 || !is_small(I)) {
        return 0;
    }
    memcpy(lambda, out, (size_t)I->stride * sizeof *lambda);
    for (int round = 0; round < MOST_ROUNDS && !solved; round++) {
        if (round > 0) {
            change_modes(s, I, lambda);
        }
        solved = is_solution(s, I, lambda, &proof);
        if (!I->has_matrix || proof.residual == __builtin_inf()) {
            break;
        }
    }
    if (solved) {
        memcpy(out, lambda, (size_t)I->nrow * sizeof *lambda);
        kki_island_note(m, s, I, &proof, &stats);
    }
    return solved;
}

/// Limits and friction are left out: what is moved is far less than what they may be overrun by.
int kki_few_rows_drawn(const kk_simulator *s, const kki_island *I, double *lambda) {
    few x;
    static const double none[FEW] = {0};
    if (!is_small(I)) {
        return 0;
    }
    x.n = 0;
    for (int b = 0; b < I->nblock; b++) {
        note_row(&x, b, s->solution.block[I->first_block + b].law == KKI_LAW_EQUALITY);
    }
    if (is_factored(I, &x)) {
        pose_right(s, I, NULL, 0, none, &x);
        solve(x.n, x.n, I->factor, x.b);
    } else if (!answer(s, I, none, &x)) {
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
