/// Many rows on few degrees of freedom: with G = Yᵀ Y the reduced matrix is A = D + R Cᵀ, R and C [n × nv], and
///     A⁻¹ b = D⁻¹ (b − R z),    (1 + Cᵀ D⁻¹ R) z = Cᵀ D⁻¹ b,
/// one nv × nv system instead of an n × n one (Sherman, Morrison, Woodbury). D is small where the rows are rigid, so a step loses
/// digits; the next one wins them back, because the residual is always that of the true problem.
#include <string.h>

#include "contact/scratch.h"

bool kki_low_rank_wanted(const kki_problem *p) {
    return p->Y && !p->G && p->nrow > p->nv && (p->nrow > KKI_DENSE_ROWS || p->nrow >= 3 * p->nv);
}

void kki_low_rank_form(const kki_problem *p, const kki_dense_kernels *kernels, double *G) {
    kernels->gather(p->nv, p->nrow, p->stride, true, p->Y, p->Y, G);
    for (int i = 0; i < p->nrow; i++) {
        for (int j = 0; j < i; j++) {
            G[i * p->stride + j] = G[j * p->stride + i];
        }
    }
}

/// A combination of columns of Y.
static void combine(const kki_system *s, int count, const int32_t *index, const double *value, double *out) {
    const double *column = s->columns + index[0] * s->width;
    for (int t = 0; t < s->width; t++) {
        out[t] = value[0] * column[t];
    }
    for (int k = 1; k < count; k++) {
        s->kernels->add(s->width, value[k], s->columns + index[k] * s->width, out);
    }
}

static void make_test(const kki_system *s, const kki_reduced *r, int k, double *out) {
    const int32_t index[2] = {r->row[k], r->row[k] + 1};
    const double plain[1] = {1};
    const bool turns = r->turn[2 * k] != 0 || r->turn[2 * k + 1] != 0;
    combine(s, turns ? 2 : 1, index, turns ? r->turn + 2 * k : plain, out);
}

/// Rows that an unknown may reach behind its own: a contact's with torsion and rolling.
enum { REACH = 6 };

void kki_low_rank_gather(const kki_system *s, kki_reduced *r, bool upper) {
    const int32_t *span = s->problem->span;
    const int nv = s->problem->nv;
    if (!span) {
        s->kernels->gather(r->n, nv, s->width, upper, r->C, r->R, r->W);
        return;
    }
    for (int t = 0; t < nv; t++) {
        int first = 0, end = r->n;
        while (first < r->n && r->row[first] + REACH <= 4 * span[2 * t]) {
            first++;
        }
        while (end > first && r->row[end - 1] >= 4 * span[2 * t + 1]) {
            end--;
        }
        r->range[2 * t] = first;
        r->range[2 * t + 1] = end;
    }
    s->kernels->gather_ranges(r->range, nv, s->width, upper, r->C, r->R, r->W);
}

/// All rows, each by itself: R and C are Y's own columns, and are not made. y keeps 1/D.
static bool factor_plain(const kki_system *s, kki_reduced *r) {
    const int nv = s->problem->nv;
    for (int k = 0; k < s->stride; k++) {
        r->y[k] = k < r->n ? 1 / r->diagonal[k] : 0;
    }
    s->kernels->weigh(nv, s->stride, s->problem->span, s->Y, r->y, s->width, r->line, r->W);
    return s->kernels->ldl(nv, nv, s->width, r->W, r->inverse);
}

static bool is_plain(const kki_system *s, const kki_reduced *r) {
    return r->plain && s->problem->span;
}

/// C is kept divided by D: that is how both the matrix and the right-hand side want it.
bool kki_low_rank_factor(const kki_system *s, kki_reduced *r) {
    const int nv = s->problem->nv, width = s->width;
    if (is_plain(s, r)) {
        return factor_plain(s, r);
    }
    for (int k = 0; k < r->n; k++) {
        double *column = r->C + k * width;
        const int first = r->start[k];
        make_test(s, r, k, r->R + k * width);
        combine(s, r->start[k + 1] - first, r->index + first, r->value + first, column);
        const double f = 1 / r->diagonal[k];
        for (int t = 0; t < width; t++) {
            column[t] *= f;
        }
    }
    kki_low_rank_gather(s, r, r->symmetric);
    for (int t = 0; t < nv; t++) {
        r->W[t * width + t] += 1;
    }
    return r->symmetric ? s->kernels->ldl(nv, nv, width, r->W, r->inverse)
                        : s->kernels->lu(nv, width, r->W, r->inverse, r->pivot);
}

static void solve_plain(const kki_system *s, kki_reduced *r) {
    const int nv = s->problem->nv;
    double *right = r->line, *z = r->line + s->width, *scratch = r->line + 2 * s->width;
    memset(right, 0, sizeof(double) * (size_t)s->width);
    memset(r->b + r->n, 0, sizeof(double) * (size_t)(s->stride - r->n));
    for (int k = 0; k < s->stride; k++) {
        r->x[k] = r->b[k] * r->y[k];
    }
    s->kernels->spread(nv, s->stride, s->problem->span, s->Y, r->x, right);
    s->kernels->ldl_solve(nv, s->width, r->W, r->inverse, right, scratch, z);
    s->kernels->project(nv, s->stride, s->problem->span, s->Y, z, r->x);
    for (int k = 0; k < s->stride; k++) {
        r->x[k] = (r->b[k] - r->x[k]) * r->y[k];
    }
}

void kki_low_rank_solve(const kki_system *s, kki_reduced *r) {
    const int nv = s->problem->nv, width = s->width;
    double *right = r->line, *z = r->line + width, *scratch = r->line + 2 * width;
    if (is_plain(s, r)) {
        solve_plain(s, r);
        return;
    }
    memset(right, 0, sizeof(double) * (size_t)width);
    for (int k = 0; k < r->n; k++) {
        s->kernels->add(width, r->b[k], r->C + k * width, right);
    }
    if (r->symmetric) {
        s->kernels->ldl_solve(nv, width, r->W, r->inverse, right, scratch, z);
    } else {
        s->kernels->lu_solve(nv, width, r->W, r->inverse, r->pivot, right, scratch, z);
    }
    for (int k = 0; k < r->n; k++) {
        r->x[k] = (r->b[k] - s->kernels->dot(width, r->R + k * width, z)) / r->diagonal[k];
    }
}
