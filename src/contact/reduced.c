/// The matrix of a Newton step from the problem's rows: A_kl = test_k · G column_l, with a diagonal added; factor and solve.
///
/// Columns that are rows of G come first, A = [P Q; Qᵀ S] over these and over the rows that the others move, those bound to a direction of sliding. P = L D Lᵀ, and what
/// the others see of each other is the Schur complement S − Qᵀ P⁻¹ Q with their tests in front and their columns behind: a small matrix, and the only one that is not
/// symmetric. Directions turn from step to step while P stays, so nothing but the small one is made anew then.
#include <string.h>

#include "contact/scratch.h"

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

static bool is_bound(const kki_reduced *r, int k) {
    return r->start[k + 1] - r->start[k] > 1 || r->turn[2 * k] != 0 || r->turn[2 * k + 1] != 0;
}

/// Where the rows that bound columns move begin.
static int first_bound(const kki_reduced *r) {
    return r->n > r->split.nplain ? kki_round4(r->split.nplain) : r->split.nplain;
}

/// One more row among those that bound columns move; a turn moves what its normal has moved. True where it was there the last time, too.
static bool list_row(kki_split *p, int first, int *n, int row) {
    const int at = p->place[row];
    if (at >= first && at < *n && p->row[at] == row) {
        return true;
    }
    const bool same = *n < p->nrow && p->row[*n] == row;
    p->row[*n] = row;
    p->place[row] = (*n)++;
    return same;
}

static bool list_bound(const kki_reduced *r, kki_split *p) {
    const int first = first_bound(r);
    bool same = true;
    int n = first;
    for (int b = p->nplain; b < r->n; b++) {
        const int k = p->column[b];
        for (int e = r->start[k]; e < r->start[k + 1]; e++) {
            same = list_row(p, first, &n, r->index[e]) && same;
        }
    }
    same = same && n == p->nrow;
    p->nrow = n;
    return same;
}

/// Sorts columns and lists rows. True where the rows are those that have been factored.
static bool split_columns(kki_reduced *r) {
    kki_split *p = &r->split;
    int plain = 0, bound = 0;
    bool same = p->is_ready;
    for (int k = 0; k < r->n; k++) {
        if (is_bound(r, k)) {
            p->bound[bound++] = k;
            continue;
        }
        same = same && plain < p->nplain && p->row[plain] == r->row[k] && p->diagonal[plain] == r->diagonal[k];
        p->row[plain] = r->row[k];
        p->diagonal[plain] = r->diagonal[k];
        p->column[plain++] = k;
    }
    same = same && plain == p->nplain;
    p->nplain = plain;
    memcpy(p->column + plain, p->bound, sizeof *p->bound * (size_t)bound);
    return list_bound(r, p) && same;
}

static void fill_split(const kki_system *s, kki_reduced *r) {
    kki_split *p = &r->split;
    const int first = first_bound(r), stride = r->stride = kki_round4(p->nrow);
    for (int i = p->nplain; i < first; i++) {
        p->row[i] = 0;
    }
    s->kernels->pick(p->nrow, p->nplain, first, stride, p->row, s->G, s->stride, r->A);
    for (int i = 0; i < p->nplain; i++) {
        r->A[i * (stride + 1)] += p->diagonal[i];
    }
}

/// The Schur complement, of which the upper triangle is known.
static void mirror(int first, int n, int stride, double *A) {
    for (int i = first; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            A[j * stride + i] = A[i * stride + j];
        }
    }
}

/// What column k's test sees of v.
static inline double tested(const kki_reduced *r, int k, const double *v) {
    const double *at = v + r->split.place[r->row[k]], a = r->turn[2 * k], b = r->turn[2 * k + 1];
    return a == 0 && b == 0 ? at[0] : a * at[0] + b * at[1];
}

/// What is left of the others by a bound column, over the rows from `first` on.
static void seen_by(const kki_reduced *r, int k, int first, double *restrict v) {
    const int32_t *place = r->split.place;
    const double *a = r->A + place[r->index[r->start[k]]] * r->stride, f = r->value[r->start[k]];
    for (int i = first; i < r->stride; i++) {
        v[i] = f * a[i];
    }
    for (int e = r->start[k] + 1; e < r->start[k + 1]; e++) {
        const double *more = r->A + place[r->index[e]] * r->stride, g = r->value[e];
        for (int i = first; i < r->stride; i++) {
            v[i] += g * more[i];
        }
    }
}

static bool factor_bound(const kki_system *s, kki_reduced *r) {
    kki_split *p = &r->split;
    const int n = r->n - p->nplain, stride = kki_round4(n);
    const int32_t *bound = p->column + p->nplain;
    memset(p->K, 0, sizeof(double) * (size_t)(n * stride));
    for (int l = 0; l < n; l++) {
        seen_by(r, bound[l], first_bound(r), p->x);
        for (int k = 0; k < n; k++) {
            p->K[k * stride + l] = tested(r, bound[k], p->x);
        }
        p->K[l * stride + l] += r->diagonal[bound[l]];
    }
    return s->kernels->lu(n, stride, p->K, p->inverse, p->pivot);
}

bool kki_reduced_factor(const kki_system *s, kki_reduced *r) {
    kki_split *p = &r->split;
    if (s->low_rank) {
        return kki_low_rank_factor(s, r);
    }
    if (!split_columns(r)) {
        fill_split(s, r);
        p->is_ready = s->kernels->ldl(first_bound(r), p->nrow, r->stride, r->A, r->inverse);
        mirror(first_bound(r), p->nrow, r->stride, r->A);
    }
    return p->is_ready && factor_bound(s, r);
}

/// Unknowns of bound columns, from b and what the plain ones have left in `left`; and what they move, into p->x.
static void solve_bound(const kki_system *s, kki_reduced *r, double *left) {
    kki_split *p = &r->split;
    const int n = r->n - p->nplain, stride = kki_round4(n);
    const int32_t *bound = p->column + p->nplain;
    memset(r->line, 0, sizeof(double) * (size_t)stride);
    for (int k = 0; k < n; k++) {
        r->line[k] = r->b[bound[k]] + tested(r, bound[k], left);
    }
    s->kernels->lu_solve(n, stride, p->K, p->inverse, p->pivot, r->line, r->y, left);
    for (int k = 0; k < n; k++) {
        r->x[bound[k]] = left[k];
        for (int e = r->start[bound[k]]; e < r->start[bound[k] + 1]; e++) {
            p->x[p->place[r->index[e]]] += r->value[e] * left[k];
        }
    }
}

void kki_reduced_solve(const kki_system *s, kki_reduced *r) {
    kki_split *p = &r->split;
    const int first = first_bound(r);
    if (s->low_rank) {
        kki_low_rank_solve(s, r);
        return;
    }
    // down through the plain columns, across by the small matrix, and up again
    memset(p->b, 0, sizeof(double) * (size_t)r->stride);
    memset(p->x, 0, sizeof(double) * (size_t)r->stride);
    for (int i = 0; i < p->nplain; i++) {
        p->b[i] = r->b[p->column[i]];
    }
    s->kernels->ldl_forward(first, r->stride, r->A, r->inverse, p->b, p->y);
    solve_bound(s, r, p->b);
    s->kernels->ldl_backward(first, r->stride, r->A, r->inverse, p->y, p->x);
    for (int i = 0; i < p->nplain; i++) {
        r->x[p->column[i]] = p->x[i];
    }
}
