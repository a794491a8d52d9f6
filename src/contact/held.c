/// λ where it is known what holds and what slides which way: one linear system, refined against its shift.
#include <string.h>

#include "contact/modes.h"
#include "contact/scratch.h"

/// Of the matrix's diagonal, added to it: four points on a face share any forces that add up. Low rank divides by it.
static const double DENSE_SHIFT = 1e-10, LOW_RANK_SHIFT = 1e-7;
enum { MOST_ROUNDS = 8 };

/// Column k as listed, tested against its own row.
static void list_columns(const kki_system *s, int n, const kki_held *held, kki_reduced *r) {
    const double share = s->low_rank ? LOW_RANK_SHIFT : DENSE_SHIFT;
    r->n = n;
    r->symmetric = r->constant = true;
    r->start[0] = 0;
    for (int k = 0; k < n; k++) {
        const int row = held[k].row, e = r->start[k], slides = held[k].d[0] != 0 || held[k].d[1] != 0;
        r->row[k] = row;
        r->turn[2 * k] = r->turn[2 * k + 1] = 0;
        r->diagonal[k] = s->shift[row] + share * s->largest;
        r->value[e] = 1;
        for (int i = 0; i <= (slides ? 2 : 0); i++) {
            r->index[e + i] = row + i;
            r->value[e + i] = i > 0 ? held[k].d[i - 1] : 1;
        }
        r->start[k + 1] = e + (slides ? 3 : 1);
        r->symmetric = r->symmetric && !slides;
    }
    r->plain = n == s->nrow && r->symmetric;
}

/// What the listed rows are off by, turned round, and the largest of it.
static double right_side(kki_reduced *r, const double *u) {
    double most = 0;
    for (int k = 0; k < r->n; k++) {
        r->b[k] = -u[r->row[k]];
        most = __builtin_fabs(r->b[k]) > most ? __builtin_fabs(r->b[k]) : most;
    }
    return most;
}

static void add_columns(const kki_reduced *r, double *lambda) {
    for (int k = 0; k < r->n; k++) {
        for (int e = r->start[k]; e < r->start[k + 1]; e++) {
            lambda[r->index[e]] += r->value[e] * r->x[k];
        }
    }
}

/// Of a robot: what holds is eliminated (modes.h). False where that cannot be.
static bool hold_few(const kki_problem *p, kki_solver_work *work, double floor, int n, const kki_held *held,
                     double *lambda) {
    kki_iterate *it = &work->scratch->iterate[KKI_IT_TRY];
    const size_t bytes = sizeof *lambda * (size_t)p->nrow;
    if (n == 0 || !p->G || p->compliance || p->nrow > KKI_MODES_ROWS) {
        return false;
    }
    memset(it->lambda + p->nrow, 0, sizeof *lambda * (size_t)(p->stride - p->nrow));
    memcpy(it->lambda, lambda, bytes);
    if (!kki_modes_hold(p, work->kernels, work->scratch->held, floor, n, held, it->lambda, it->u)) {
        return false;
    }
    memcpy(lambda, it->lambda, bytes);
    return true;
}

bool kki_contact_hold(const kki_problem *p, kki_solver_work *work, double floor, int n, const kki_held *held,
                      double *lambda) {
    kki_solver_scratch *w = work->scratch;
    kki_system *s = &w->system;
    kki_reduced *r = &w->reduced;
    kki_iterate *it = &w->iterate[KKI_IT_TRY];
    if (hold_few(p, work, floor, n, held, lambda)) {
        return true;
    }
    kki_system_make(s, p, w, work->kernels, floor);
    kki_system_load(s, lambda, it);
    list_columns(s, n, held, r);
    if (n > 0 && !kki_reduced_factor(s, r)) {
        return false;
    }
    double last = 1e300, now = right_side(r, it->u);
    for (int round = 0; round < MOST_ROUNDS && n > 0 && now > s->floor && now < 0.5 * last; round++) {
        kki_reduced_solve(s, r);
        add_columns(r, it->lambda);
        kki_system_judge(s, it);
        last = now;
        now = right_side(r, it->u);
    }
    kki_system_store(s, it, lambda);
    return now - now == 0;
}
