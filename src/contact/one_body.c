/// A problem of rows as one of ties: one body, and a tie for each contact with what rides on it and for each other block. So the methods in velocity space
/// (continuation.c) are there for both.
///
/// The body's coordinates are those of Y, or, where there are fewer rows than that, the rows of a factor G = Lᵀ L by Cholesky's method with pivoting, which ends where rounding begins:
/// any Y with Yᵀ Y = G poses the same problem.
#include <string.h>

#include "contact/cones.h"
#include "contact/scratch.h"

/// Share of the largest diagonal element below which a pivot is rounding.
static const double LEAST_PIVOT = 1e-15;

static bool rides(const kki_block *block) {
    return block->law == KKI_LAW_TORSION || block->law == KKI_LAW_ROLLING;
}

static int list_ties(const kki_problem *p, int width, kki_tie *tie) {
    int ties = 0;
    for (int b = 0; b < p->nblock; b++) {
        const kki_block *block = &p->block[b];
        const int rows = kki_law_rows(block->law);
        if (rides(block)) {
            tie[ties - 1].nrow += rows;
            tie[ties - 1].nblock++;
        } else {
            tie[ties++] = (kki_tie){block->row, rows, b, 1, {0, -1}, {block->row * width, 0}};
        }
    }
    return ties;
}

/// Rows of Yᵀ.
static void copy_rows(const kki_problem *p, int width, double *Y) {
    for (int r = 0; r < p->nrow; r++) {
        for (int t = 0; t < p->nv; t++) {
            Y[r * width + t] = p->Y[t * p->stride + r];
        }
    }
}

/// The row with the most left on its diagonal; −1 where all is rounding.
static int next_pivot(int n, const double *left, double least) {
    int pivot = -1;
    for (int r = 0; r < n; r++) {
        if (left[r] > least) {
            least = left[r];
            pivot = r;
        }
    }
    return pivot;
}

/// Column t of L for all rows, row `pivot` of it first. @param left [nrow] what is left of the diagonal
static void eliminate(const kki_problem *p, const double *G, int pivot, int t, int width, double *left, double *L) {
    const double root = __builtin_sqrt(left[pivot]);
    for (int r = 0; r < p->nrow; r++) {
        double sum = G[pivot * p->stride + r];
        for (int k = 0; k < t; k++) {
            sum -= L[pivot * width + k] * L[r * width + k];
        }
        const bool is_done = left[r] == 0;
        L[r * width + t] = r == pivot ? root : is_done ? 0 : sum / root;
        left[r] = r == pivot || is_done ? 0 : left[r] - L[r * width + t] * L[r * width + t];
    }
}

static void factor_matrix(const kki_problem *p, const double *G, int width, double *left, double *L) {
    double largest = 0;
    for (int r = 0; r < p->nrow; r++) {
        left[r] = G[r * (p->stride + 1)];
        largest = left[r] > largest ? left[r] : largest;
    }
    int pivot = next_pivot(p->nrow, left, LEAST_PIVOT * largest);
    for (int t = 0; t < p->nrow && pivot >= 0; t++) {
        eliminate(p, G, pivot, t, width, left, L);
        pivot = next_pivot(p->nrow, left, LEAST_PIVOT * largest);
    }
}

kki_sparse_problem kki_one_body_problem(const kki_system *s, kki_one_body *x, double *scratch) {
    const kki_problem *p = s->problem;
    const bool has_few_rows = !s->low_rank && (!p->Y || p->nrow < p->nv);
    x->nv = has_few_rows ? p->nrow : p->nv;
    x->first[0] = 0;
    x->first[1] = kki_round8(x->nv);
    memset(x->Y, 0, sizeof *x->Y * (size_t)(p->nrow * x->first[1]));
    if (has_few_rows) {
        factor_matrix(p, s->G, x->first[1], scratch, x->Y);
    } else {
        copy_rows(p, x->first[1], x->Y);
    }
    kki_sparse_problem out = {.rows = *p, .nbody = 1, .first = x->first, .nv = &x->nv, .tie = x->tie, .Y = x->Y};
    out.ntie = list_ties(p, x->first[1], x->tie);
    out.rows.G = out.rows.Y = NULL;
    return out;
}
