/// L3, sweeps with Anderson's acceleration (Anderson 1965; Walker & Ni 2011): the next λ is the combination of the last ones whose
/// changes cancel best. A step that makes the residual worse than twice the plain sweep's is dropped with the history.
#include <string.h>

#include "contact/cones.h"
#include "contact/scratch.h"
#include "math/dense.h"

typedef struct history {
    int count, n;
    double **point, **change; ///< [KKI_HISTORY + 1][stride], as rings
} history;

static int slot(const history *h, int back) {
    return (h->count - 1 - back) % (KKI_HISTORY + 1);
}

/// Σ (newest change − change i)(newest change − change j); j < 0: times the newest change itself.
static double product(const history *h, int i, int j) {
    const double *f = h->change[slot(h, 0)], *a = h->change[slot(h, i)], *b = j < 0 ? NULL : h->change[slot(h, j)];
    double sum = 0;
    for (int k = 0; k < h->n; k++) {
        sum += (f[k] - a[k]) * (b ? f[k] - b[k] : f[k]);
    }
    return sum;
}

/// Least squares over the history by its normal equations, slightly shifted; moves λ.
static void combine(const history *h, double *lambda) {
    const int m = h->count - 1 < KKI_HISTORY ? h->count - 1 : KKI_HISTORY;
    double a[KKI_HISTORY * KKI_HISTORY], b[KKI_HISTORY], trace = 0;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j <= i; j++) {
            a[i * m + j] = a[j * m + i] = product(h, i + 1, j + 1);
        }
        b[i] = product(h, i + 1, -1);
        trace += a[i * m + i];
    }
    for (int i = 0; i < m; i++) {
        a[i * m + i] += 1e-13 * trace + 1e-300;
    }
    if (m == 0 || kki_ldl_factor(m, a, 0) != KK_OK) {
        return;
    }
    kki_ldl_solve(m, a, b);
    for (int i = 0; i < m; i++) {
        const double *newest = h->point[slot(h, 0)], *old = h->point[slot(h, i + 1)];
        for (int k = 0; k < h->n; k++) {
            lambda[k] -= b[i] * (newest[k] - old[k]);
        }
    }
}

static void remember(history *h, const double *point, const double *from) {
    h->count++;
    for (int k = 0; k < h->n; k++) {
        h->point[slot(h, 0)][k] = point[k];
        h->change[slot(h, 0)][k] = point[k] - from[k];
    }
}

void kki_rung_anderson(const kki_system *s, kki_solver_scratch *w, kki_iterate *it, int limit,
                       kki_solver_stats *stats) {
    kki_iterate *current = &w->iterate[KKI_IT_PROXIMAL], *swept = current + 1;
    history h = {.n = s->nrow, .point = w->history, .change = w->history + KKI_HISTORY + 1};
    kki_iterate_copy(s, it, current);
    for (int k = 0; k < limit && it->residual > s->floor; k++) {
        kki_iterate_copy(s, current, swept);
        kki_sweep(s, swept->lambda, swept->u);
        stats->anderson++;
        kki_system_judge(s, swept);
        remember(&h, swept->lambda, current->lambda);
        memcpy(current->lambda, swept->lambda, sizeof(double) * (size_t)s->stride);
        combine(&h, current->lambda);
        kki_project_all(s->problem, current->lambda);
        kki_system_judge(s, current);
        if (!(current->residual < 2 * swept->residual)) {
            kki_iterate_copy(s, swept, current);
            h.count = 0;
        }
        if (current->residual < it->residual) {
            kki_iterate_copy(s, current, it);
        }
    }
}
