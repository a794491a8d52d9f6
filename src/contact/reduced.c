/// The matrix of a Newton step from the problem's rows: A_kl = test_k · G column_l, with a diagonal added; factor and solve.
#include <string.h>

#include "contact/scratch.h"

/// test_k · G as a row over all impulses: G's own row, or two of them turned.
static const double *tested_row(const kki_system *s, const kki_reduced *r, int k) {
    const double *first = s->G + r->row[k] * s->stride, *second = first + s->stride;
    const double a = r->turn[2 * k], b = r->turn[2 * k + 1];
    if (a == 0 && b == 0) {
        return first;
    }
    for (int i = 0; i < s->stride; i++) {
        r->line[i] = a * first[i] + b * second[i];
    }
    return r->line;
}

/// One row of A: first entries, nearly all there is, in one go, then what columns that slide have more.
static void fill_row(const kki_reduced *r, const double *restrict row, double *restrict a) {
    const int32_t *restrict head = r->head, *restrict index = r->index, *restrict start = r->start;
    const double *restrict weight = r->weight, *restrict value = r->value;
    for (int l = 0; l < r->n; l++) {
        a[l] = weight[l] * row[head[l]];
    }
    for (int k = 0; k < r->nlong; k++) {
        const int l = r->longer[k];
        double sum = a[l];
        for (int e = start[l] + 1; e < start[l + 1]; e++) {
            sum += value[e] * row[index[e]];
        }
        a[l] = sum;
    }
    for (int l = r->n; l < r->stride; l++) {
        a[l] = 0;
    }
}

static void assemble(const kki_system *s, kki_reduced *r) {
    r->stride = kki_round4(r->n);
    r->nlong = 0;
    for (int l = 0; l < r->n; l++) {
        r->head[l] = r->index[r->start[l]];
        r->weight[l] = r->value[r->start[l]];
        r->longer[r->nlong] = l;
        r->nlong += r->start[l + 1] - r->start[l] > 1;
    }
    for (int k = 0; k < r->n; k++) {
        double *a = r->A + k * r->stride;
        if (r->plain) {
            memcpy(a, s->G + k * s->stride, sizeof(double) * (size_t)r->stride);
        } else {
            fill_row(r, tested_row(s, r, k), a);
        }
        a[k] += r->diagonal[k];
    }
}

void kki_reduced_all(const kki_system *s, kki_reduced *r) {
    r->n = s->nrow;
    r->symmetric = r->constant = r->plain = true;
    for (int i = 0; i <= s->nrow; i++) {
        r->start[i] = i;
    }
    for (int i = 0; i < s->nrow; i++) {
        r->row[i] = r->index[i] = i;
        r->value[i] = 1;
        r->turn[2 * i] = r->turn[2 * i + 1] = 0;
    }
}

bool kki_reduced_factor(const kki_system *s, kki_reduced *r) {
    if (s->low_rank) {
        return kki_low_rank_factor(s, r);
    }
    assemble(s, r);
    return r->symmetric ? s->kernels->ldl(r->n, r->stride, r->A, r->inverse)
                        : s->kernels->lu(r->n, r->stride, r->A, r->inverse, r->pivot);
}

void kki_reduced_solve(const kki_system *s, kki_reduced *r) {
    if (s->low_rank) {
        kki_low_rank_solve(s, r);
    } else if (r->symmetric) {
        memset(r->b + r->n, 0, sizeof(double) * (size_t)(r->stride - r->n));
        s->kernels->ldl_solve(r->n, r->stride, r->A, r->inverse, r->b, r->y, r->x);
    } else {
        s->kernels->lu_solve(r->n, r->stride, r->A, r->inverse, r->pivot, r->b, r->y, r->x);
    }
}
