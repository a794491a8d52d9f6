/// The least change of impulses that takes away what motion is left of bodies that are held; see simulate/rest.c.
///
///     Y Δλ = −z over the rows that are held,   Δλ = −w Yᵀ (1 + w Y Yᵀ)⁻¹ z
///
/// with w so large that the 1 is next to nothing; what it leaves, another step takes away by the same factor. Δλ lies in the range of Yᵀ: unlike Newton's
/// steps, which answer the rounding of u, it does not travel along self-stress.
#include <string.h>

#include "contact/sparse_scratch.h"

/// w, in inverses of the largest mobility of a row.
static const double SHARPNESS = 1e9;

/// The largest |Y|² of a row.
static double largest_mobility(const kki_sparse_problem *p) {
    double most = 0;
    for (int i = 0; i < 2 * p->ntie; i++) {
        const kki_tie *t = &p->tie[i >> 1];
        const int body = t->body[i & 1], width = body < 0 ? 0 : p->first[body + 1] - p->first[body];
        for (int r = 0; r < t->nrow; r++) {
            const double *y = p->Y + t->side[i & 1] + r * width, x = kki_sparse_dot(width, y, y);
            most = x > most ? x : most;
        }
    }
    return most;
}

bool kki_sparse_refine_begin(const kki_sparse_problem *p, kki_sparse_work *work, const double *held) {
    kki_sparse_scratch *w = work->scratch;
    const double most = largest_mobility(p);
    if (!(most > 0) || !kki_sparse_order(p, &work->size, &w->pattern, &w->graph, w->factor.spot)) {
        return false;
    }
    w->sharpness = SHARPNESS / most;
    memset(w->R, 0, sizeof *w->R * 6 * (size_t)p->rows.nrow);
    for (int i = 0; i < p->ntie; i++) {
        const kki_tie *t = &p->tie[i];
        for (int r = 0; r < t->nrow; r++) {
            w->R[6 * (size_t)(t->row + r) + (size_t)r] = w->sharpness * held[t->row + r];
        }
    }
    w->factor.symmetric = true;
    work->kernels->assemble(p, w->R, &w->factor);
    return work->kernels->factor(&w->factor);
}

void kki_sparse_refine(const kki_sparse_problem *p, kki_sparse_work *work, const double *held, const double *z,
                       double *lambda) {
    kki_sparse_scratch *w = work->scratch;
    memcpy(w->dz, z, sizeof *z * (size_t)p->first[p->nbody]);
    work->kernels->solve(p, &w->factor, w->dz);
    work->kernels->velocity(p, w->dz, w->du);
    for (int r = 0; r < p->rows.nrow; r++) {
        lambda[r] -= w->sharpness * held[r] * w->du[r];
    }
}
