/// One Newton step on a λ that all but solves its problem already, for the digits that a search leaves; see simulate/rest.c.
#include <string.h>

#include "contact/sparse_scratch.h"

/// Shift of the step: it leaves this share of the error, and rounding over it moves λ along self-stress by less than anyone sees.
static const double SHIFT = 1e-8;

bool kki_sparse_refine(const kki_sparse_problem *p, kki_sparse_work *work, double *lambda, kki_solver_stats *stats) {
    kki_sparse_scratch *w = work->scratch;
    kki_sparse_iterate *it = &w->iterate[0];
    if (!kki_sparse_order(p, &work->size, &w->pattern, &w->graph, w->factor.spot)) {
        return false;
    }
    kki_sparse_system_make(p, work->kernels, 0, w);
    memset(w->mode, -1, (size_t)p->rows.nblock);
    memcpy(it->lambda, lambda, sizeof *lambda * (size_t)p->rows.nrow);
    kki_sparse_judge(&w->system, it);
    if (!kki_sparse_newton_step(w, it, SHIFT, 1, stats)) {
        return false;
    }
    memcpy(lambda, it->lambda, sizeof *lambda * (size_t)p->rows.nrow);
    return true;
}
