/// Sweeps over what is in question; see question.h.
#include "contact/question.h"

#include <string.h>

#include "contact/cones.h"
#include "contact/glance.h"

enum { ROOM = KKI_QUESTION_ROWS + 4, MOST_ROUNDS = 3 };
/// What is eliminated may say the same twice: share of the diagonal. And share of its bound that friction keeps clear of where it holds.
static const double SHIFT = 1e-7, CLEAR = 1e-9;

typedef struct question {
    int n, nheld, first, stride; ///< rows listed; those that hold, and whole vectors of them
    int32_t row[ROOM];
    int nblock;
    kki_block block[KKI_GLANCE_BLOCKS]; ///< in question, as a problem of their own
    _Alignas(32) double inverse[ROOM], b[ROOM], y[ROOM], x[ROOM], lambda[ROOM], u[ROOM];
    _Alignas(32) double S[KKI_QUESTION_OPEN * KKI_QUESTION_OPEN];
} question;

/// Rows that hold, and those in question behind them. False where it is not worth it.
static bool list(const kki_problem *p, const int8_t *is_open, question *q) {
    q->n = q->nblock = 0;
    for (int b = 0; b < p->nblock; b++) {
        for (int k = 0; k < kki_law_rows(p->block[b].law) && !is_open[b]; k++) {
            q->row[q->n++] = p->block[b].row + k;
        }
    }
    q->nheld = q->n;
    q->first = kki_round4(q->n);
    while (q->n < q->first) {
        q->row[q->n++] = 0;
    }
    for (int b = 0; b < p->nblock; b++) {
        if (is_open[b]) {
            q->block[q->nblock] = p->block[b];
            q->block[q->nblock++].row = q->n - q->first;
        }
        for (int k = 0; k < kki_law_rows(p->block[b].law) && is_open[b]; k++) {
            q->row[q->n++] = p->block[b].row + k;
        }
    }
    q->stride = kki_round4(q->n);
    return q->nheld > 0 && q->n - q->first <= KKI_QUESTION_OPEN;
}

/// S of what is in question, and its u with all else at rest.
static bool eliminate(const kki_problem *p, const kki_dense_kernels *kernels, const double *u, double *A, question *q) {
    const int first = q->first, n = q->n - first, stride = q->stride, wide = kki_round4(n);
    kernels->pick(q->n, q->nheld, first, stride, q->row, p->G, p->stride, A);
    for (int i = 0; i < q->nheld; i++) {
        A[i * (stride + 1)] *= 1 + SHIFT;
    }
    if (!kernels->ldl(first, q->n, stride, A, q->inverse)) {
        return false;
    }
    for (int i = 0; i < stride; i++) {
        q->b[i] = i < q->nheld || (i >= first && i < q->n) ? -u[q->row[i]] : 0;
    }
    kernels->ldl_forward(first, stride, A, q->inverse, q->b, q->y);
    memset(q->S, 0, sizeof *q->S * (size_t)(n * wide));
    for (int i = 0; i < n; i++) {
        const double *from = A + (first + i) * stride + first;
        for (int k = i; k < n; k++) {
            q->S[i * wide + k] = q->S[k * wide + i] = from[k];
        }
    }
    return true;
}

/// Sweeps of the few; what that changes in those that hold.
static void sweep(const kki_dense_kernels *kernels, int sweeps, const double *A, question *q, double *lambda) {
    const int first = q->first, n = q->n - first, wide = kki_round4(n);
    const kki_problem few = {.nblock = q->nblock, .nrow = n, .stride = wide, .block = q->block, .G = q->S};
    for (int i = 0; i < wide; i++) {
        q->lambda[i] = i < n ? lambda[q->row[first + i]] : 0;
        q->u[i] = i < n ? -q->b[first + i] : 0;
    }
    kernels->glance(&few, sweeps, q->lambda, q->u);
    memset(q->x, 0, sizeof *q->x * (size_t)q->stride);
    for (int i = 0; i < n; i++) {
        q->x[first + i] = q->lambda[i] - lambda[q->row[first + i]];
        lambda[q->row[first + i]] = q->lambda[i];
    }
    kernels->ldl_backward(first, q->stride, A, q->inverse, q->y, q->x);
    for (int i = 0; i < q->nheld; i++) {
        lambda[q->row[i]] += q->x[i];
    }
}

/// Whether a block that was to hold does, inside its cone or between its bounds.
static bool holds(const kki_block *block, const double *l) {
    const double rim = (1 - CLEAR) * block->friction * l[0];
    switch (block->law) {
    case KKI_LAW_CONTACT: return l[0] > 0 && l[1] * l[1] + l[2] * l[2] < rim * rim;
    case KKI_LAW_LIMIT: return l[0] > 0;
    case KKI_LAW_BOX: return l[0] > block->lower && l[0] < block->upper;
    default: return true;
    }
}

/// Those that do not are in question as well, and on their sets. False where there are none.
static bool find_more(const kki_problem *p, int8_t *is_open, double *lambda) {
    bool any = false;
    for (int b = 0; b < p->nblock; b++) {
        const kki_block *block = &p->block[b];
        if (!is_open[b] && !holds(block, lambda + block->row)) {
            kki_project_block(block, 1, 0, lambda + block->row);
            is_open[b] = 1;
            any = true;
        }
    }
    return any;
}

void kki_question_sweep(const kki_problem *p, const kki_dense_kernels *kernels, int sweeps, int8_t *is_open, double *A,
                        double *lambda, double *u) {
    question q;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        if (!list(p, is_open, &q) || !eliminate(p, kernels, u, A, &q)) {
            kernels->glance(p, sweeps, lambda, u);
            return;
        }
        sweep(kernels, sweeps, A, &q, lambda);
        const bool again = find_more(p, is_open, lambda);
        kernels->multiply(p->nrow, p->stride, p->G, lambda, p->g, u);
        if (!again) {
            return;
        }
    }
}
