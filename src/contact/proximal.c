/// L3, proximal point: a sequence of problems with w (λ − λ̄) added to u, each regular and solved by mode Newton, λ̄ moving to the
/// solution of the last (Rockafellar 1976). w shrinks while the inner solve converges and is held above where it did not; after each
/// the modes are read off and tried on the true problem.
#include "contact/scratch.h"

typedef struct progress {
    double weight, least; ///< w relative to the block's scale, and how small it may become
    int good, stalled;
} progress;

/// Inner solve around `center`; true if it converged. `out` is then judged on the true problem.
static bool inner(const kki_system *s, kki_solver_scratch *w, double weight, const kki_iterate *center,
                  kki_iterate *out, kki_solver_stats *stats) {
    double target = 1e-2 * center->residual;
    target = target > 1e-6 ? 1e-6 : target < 1e-14 ? 1e-14 : target;
    kki_system_regularize(s, weight, center->lambda, &w->proximal);
    w->proximal.floor = 10 * target;
    kki_iterate_copy(s, center, out);
    kki_system_judge(&w->proximal, out);
    const kki_newton_options o = {.target = target, .limit = 25, .rescue = 3, .slack = 1e4};
    kki_rung_newton(&w->proximal, w, out, &o, stats);
    const bool converged = out->residual <= 10 * target;
    kki_system_judge(s, out);
    return converged;
}

/// Modes kept, shift gone: often the last step.
static void polish(const kki_system *s, kki_solver_scratch *w, kki_iterate *it, kki_iterate *trial,
                   kki_solver_stats *stats) {
    kki_iterate_copy(s, it, trial);
    kki_newton_read_modes(s, w, trial->lambda);
    kki_newton_fixed(s, w, trial, false, stats);
    if (trial->residual < 0.5 * it->residual) {
        kki_iterate_copy(s, trial, it);
    }
}

static void loosen(progress *p) {
    p->least = 3 * p->weight;
    p->weight = p->weight * 5 < 10 ? p->weight * 5 : 10;
    p->good = 0;
}

static void tighten(progress *p, double ratio) {
    if (ratio > 0.3 && 0.2 * p->weight >= p->least) {
        p->weight *= 0.2;
    }
    if (++p->good >= 8) {
        p->least *= 0.2;
        p->good = 0;
    }
}

/// Below the tolerance, six rounds without gain are the end.
static bool gave_up(progress *p, double residual, double last, double tolerance) {
    p->stalled = residual <= tolerance && residual > 0.9 * last ? p->stalled + 1 : 0;
    return p->stalled >= 6;
}

void kki_rung_proximal(const kki_system *s, kki_solver_scratch *w, kki_iterate *it, const kki_solver_options *options,
                       kki_solver_stats *stats) {
    kki_iterate *center = &w->iterate[KKI_IT_PROXIMAL], *next = center + 1, *trial = center + 2;
    progress p = {.weight = 1e-2, .least = 1e-9};
    kki_iterate_copy(s, it, center);
    kki_rung_sweep(s, center, 3, 1e300, stats);
    if (center->residual < it->residual) {
        kki_iterate_copy(s, center, it);
    } else {
        kki_iterate_copy(s, it, center);
    }
    double last = 1e300;
    for (int k = 0; k < options->proximal && center->residual > s->floor; k++) {
        if (gave_up(&p, center->residual, last, options->tolerance)) {
            break;
        }
        stats->proximal++;
        last = center->residual;
        if (inner(s, w, p.weight, center, next, stats)) {
            polish(s, w, next, trial, stats);
            tighten(&p, next->residual / center->residual);
            kki_iterate_copy(s, next, center);
        } else {
            loosen(&p);
            if (next->residual < 0.5 * center->residual) {
                kki_iterate_copy(s, next, center);
            }
        }
        if (center->residual < it->residual) {
            kki_iterate_copy(s, center, it);
        }
    }
}
