/// Many rows on few degrees of freedom: with G = Yᵀ Y the reduced matrix is A = D + R Cᵀ, R and C [n × nv], and
///     A⁻¹ b = D⁻¹ (b − R z),    (1 + Cᵀ D⁻¹ R) z = Cᵀ D⁻¹ b,
/// one nv × nv system instead of an n × n one (Sherman, Morrison, Woodbury). D is small where the rows are rigid, so a step loses
/// digits; the next one wins them back, because the residual is always that of the true problem.
#include <string.h>

#include "contact/scratch.h"

bool kki_low_rank_wanted(const kki_problem *p) {
    return p->Y && p->nrow > KKI_DENSE_ROWS && p->nrow > p->nv;
}

void kki_low_rank_form(const kki_problem *p, double *G) {
    memset(G, 0, sizeof(double) * (size_t)(p->nrow * p->stride));
    for (int t = 0; t < p->nv; t++) {
        const double *row = p->Y + t * p->stride;
        for (int i = 0; i < p->nrow; i++) {
            if (row[i] == 0) {
                continue; // a robot's row touches one branch only
            }
            for (int j = 0; j < p->nrow; j++) {
                G[i * p->stride + j] += row[i] * row[j];
            }
        }
    }
}

/// Yᵀ times a sparse vector, as a row.
static void combine(const kki_system *s, int count, const int32_t *index, const double *value, int width, double *out) {
    const int nv = s->problem->nv;
    for (int t = 0; t < width; t++) {
        double sum = 0;
        for (int k = 0; k < count && t < nv; k++) {
            sum += value[k] * s->Y[t * s->stride + index[k]];
        }
        out[t] = sum;
    }
}

static void make_test(const kki_system *s, const kki_reduced *r, int k, int width, double *out) {
    const int32_t index[2] = {r->row[k], r->row[k] + 1};
    const double plain[1] = {1};
    const bool turns = r->turn[2 * k] != 0 || r->turn[2 * k + 1] != 0;
    combine(s, turns ? 2 : 1, index, turns ? r->turn + 2 * k : plain, width, out);
}

bool kki_low_rank_factor(const kki_system *s, kki_reduced *r) {
    const int nv = s->problem->nv, width = kki_round4(nv);
    for (int k = 0; k < r->n; k++) {
        make_test(s, r, k, width, r->R + k * width);
        if (!r->symmetric) {
            const int first = r->start[k];
            combine(s, r->start[k + 1] - first, r->index + first, r->value + first, width, r->C + k * width);
        }
        r->y[k] = 1 / r->diagonal[k];
    }
    s->kernels->gather(r->n, nv, width, r->symmetric ? r->R : r->C, r->R, r->y, r->W);
    return r->symmetric ? s->kernels->ldl(nv, width, r->W, r->inverse)
                        : s->kernels->lu(nv, width, r->W, r->inverse, r->pivot, r->line);
}

void kki_low_rank_solve(const kki_system *s, kki_reduced *r) {
    const int nv = s->problem->nv, width = kki_round4(nv);
    const double *C = r->symmetric ? r->R : r->C;
    double *right = r->line, *z = r->line + width, *scratch = r->line + 2 * width;
    memset(right, 0, sizeof(double) * (size_t)width);
    for (int k = 0; k < r->n; k++) {
        s->kernels->add(width, r->b[k] / r->diagonal[k], C + k * width, right);
    }
    if (r->symmetric) {
        s->kernels->ldl_solve(nv, width, r->W, r->inverse, right, scratch, z);
    } else {
        s->kernels->lu_solve(nv, width, r->W, r->inverse, r->pivot, right, scratch, z);
    }
    for (int k = 0; k < r->n; k++) {
        double sum = r->b[k];
        for (int t = 0; t < nv; t++) {
            sum -= r->R[k * width + t] * z[t];
        }
        r->x[k] = sum / r->diagonal[k];
    }
}
