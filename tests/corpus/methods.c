#include "methods.h"

#include <string.h>

#include "contact/interior.h"
#include "contact/scratch.h"
#include "contact/sparse_scratch.h"
#include "simulate/degrade.h"

// ---- rungs that can be taken away: the program is linked with --wrap for each of them

enum {
    SWEEPS = 1,
    NEWTON = 2,
    PATH = 4,
    INTERIOR = 8,
    CONVEX = 16,
    PROXIMAL = 32,
    ANDERSON = 64,
    ADMM = 128,
    SPARSE_NEWTON = 256,
    SPARSE_SWEEPS = 512,
    SPARSE_INTERIOR = 1024,
    SPARSE_PROXIMAL = 2048,
    AMEND_STICK = 4096
};
static unsigned taken_away;

#define WRAPPED(type, name, ...)     \
    type __real_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)

WRAPPED(void, kki_rung_sweep, const kki_system *s, kki_iterate *it, int limit, double patience,
        kki_solver_stats *stats) {
    if (!(taken_away & SWEEPS)) {
        __real_kki_rung_sweep(s, it, limit, patience, stats);
    }
}

WRAPPED(bool, kki_rung_newton, const kki_system *s, kki_solver_scratch *w, kki_iterate *it, const kki_newton_options *o,
        kki_solver_stats *stats) {
    return !(taken_away & NEWTON) && __real_kki_rung_newton(s, w, it, o, stats);
}

WRAPPED(void, kki_rung_path, const kki_system *s, kki_solver_scratch *w, kki_iterate *it, const kki_path_options *o,
        kki_solver_stats *stats) {
    if (!(taken_away & PATH)) {
        __real_kki_rung_path(s, w, it, o, stats);
    }
}

WRAPPED(bool, kki_interior_walk, kki_interior *x, int limit, double share, kki_solver_stats *stats) {
    return !(taken_away & INTERIOR) && __real_kki_interior_walk(x, limit, share, stats);
}

WRAPPED(bool, kki_rung_convex, const kki_system *s, kki_solver_scratch *w, kki_iterate *it, int limit, double settled,
        kki_solver_stats *stats) {
    return !(taken_away & CONVEX) && __real_kki_rung_convex(s, w, it, limit, settled, stats);
}

WRAPPED(void, kki_rung_proximal, const kki_system *s, kki_solver_scratch *w, kki_iterate *it,
        const kki_solver_options *o, kki_solver_stats *stats) {
    if (!(taken_away & PROXIMAL)) {
        __real_kki_rung_proximal(s, w, it, o, stats);
    }
}

WRAPPED(void, kki_rung_anderson, const kki_system *s, kki_solver_scratch *w, kki_iterate *it, int limit,
        kki_solver_stats *stats) {
    if (!(taken_away & ANDERSON)) {
        __real_kki_rung_anderson(s, w, it, limit, stats);
    }
}

WRAPPED(void, kki_rung_admm, const kki_system *s, kki_solver_scratch *w, kki_iterate *it, int limit,
        kki_solver_stats *stats) {
    if (!(taken_away & ADMM)) {
        __real_kki_rung_admm(s, w, it, limit, stats);
    }
}

WRAPPED(bool, kki_newton_stick, const kki_system *s, kki_solver_scratch *w, kki_iterate *it, kki_solver_stats *stats) {
    return !(taken_away & AMEND_STICK) && __real_kki_newton_stick(s, w, it, stats);
}

WRAPPED(bool, kki_sparse_newton_step, kki_sparse_scratch *w, kki_sparse_iterate *it, double epsilon, double share,
        kki_solver_stats *stats) {
    return !(taken_away & SPARSE_NEWTON) && __real_kki_sparse_newton_step(w, it, epsilon, share, stats);
}

WRAPPED(void, kki_sparse_anderson, kki_sparse_scratch *w, kki_sparse_iterate *it, kki_sparse_iterate *best,
        double enough, int limit, int length, kki_solver_stats *stats) {
    if (!(taken_away & SPARSE_SWEEPS)) {
        __real_kki_sparse_anderson(w, it, best, enough, limit, length, stats);
    }
}

WRAPPED(bool, kki_sparse_inside_advance, kki_sparse_scratch *w, kki_sparse_iterate *it, kki_solver_stats *stats) {
    return !(taken_away & SPARSE_INTERIOR) && __real_kki_sparse_inside_advance(w, it, stats);
}

WRAPPED(bool, kki_sparse_proximal, kki_sparse_scratch *w, kki_sparse_iterate *it, double epsilon, double accuracy,
        int convex_steps, int exact_steps, kki_solver_stats *stats) {
    if (taken_away & SPARSE_PROXIMAL) {
        stats->factorizations++; // who asks again and again stops by their number
        return false;
    }
    return __real_kki_sparse_proximal(w, it, epsilon, accuracy, convex_steps, exact_steps, stats);
}

bool method_try(const method *m, corpus_case *c, kki_solver_stats *stats) {
    taken_away = m->without;
    const bool applies = m->run(c, stats);
    taken_away = 0;
    return applies;
}

// ---- over rows, with G

/// A dense method under way: the problem in the solver's variables, and the best λ so far.
typedef struct dense_run {
    kki_problem problem;
    kki_solver_options options;
    kki_system *s;
    kki_solver_scratch *w;
    kki_iterate *best, *now;
    kki_solver_stats *stats;
    double start;
} dense_run;

enum { MOST_STEPS = 30, MOST_SWEEPS = 2000, MOST_PATH = 40, MOST_CONVEX = 30, MOST_ANDERSON = 600, MOST_ADMM = 3000 };

static bool begin_dense(corpus_case *c, kki_solver_stats *stats, dense_run *r) {
    if (!c->has_dense) {
        return false;
    }
    *stats = (kki_solver_stats){0};
    *r = (dense_run){.problem = c->dense.problem, .options = corpus_options(c->p), .stats = stats};
    r->problem.G = c->dense.G;
    r->w = c->dense_work.scratch;
    r->s = &r->w->system;
    r->best = &r->w->iterate[KKI_IT_BEST];
    r->now = &r->w->iterate[KKI_IT_TRY];
    r->start = corpus_seconds();
    kki_system_make(r->s, &r->problem, r->w, c->dense_work.kernels, r->options.floor);
    kki_system_load(r->s, c->p->lambda, r->best);
    return true;
}

static bool end_dense(corpus_case *c, dense_run *r) {
    c->seconds = corpus_seconds() - r->start;
    kki_system_store(r->s, r->best, c->lambda);
    return true;
}

/// Share of the tolerance at which a method ends: the judge's sums are other ones, and impulses that are large round.
static const double ENOUGH = 0.5;

static bool is_solved(const dense_run *r) {
    return r->best->residual <= ENOUGH * r->options.tolerance;
}

static void keep(dense_run *r) {
    if (r->now->residual < r->best->residual) {
        kki_iterate_copy(r->s, r->now, r->best);
    }
}

static void newton_from(dense_run *r, const kki_iterate *from, kki_newton_options o) {
    o.target = r->s->floor;
    o.limit = o.limit > 0 ? o.limit : MOST_STEPS;
    o.slack = 30;
    kki_iterate_copy(r->s, from, r->now);
    kki_rung_newton(r->s, r->w, r->now, &o, r->stats);
    keep(r);
}

static void zero(dense_run *r, kki_iterate *it) {
    memset(it->lambda, 0, sizeof(double) * (size_t)r->s->stride);
    kki_system_judge(r->s, it);
}

static bool run_warm(corpus_case *c, kki_solver_stats *stats) {
    dense_run r;
    return begin_dense(c, stats, &r) && end_dense(c, &r);
}

static bool run_sweeps(corpus_case *c, kki_solver_stats *stats) {
    dense_run r;
    if (!begin_dense(c, stats, &r)) {
        return false;
    }
    kki_iterate_copy(r.s, r.best, r.now);
    for (int k = 0; k < MOST_SWEEPS && !is_solved(&r); k += 10) {
        kki_rung_sweep(r.s, r.now, 10, 1e300, stats);
        keep(&r);
    }
    return end_dense(c, &r);
}

/// From the start as it is, from zero, and from where four sweeps lead.
static bool run_newton(corpus_case *c, kki_solver_stats *stats) {
    dense_run r;
    if (!begin_dense(c, stats, &r)) {
        return false;
    }
    kki_iterate *other = &r.w->iterate[KKI_IT_PROXIMAL];
    kki_iterate_copy(r.s, r.best, other);
    if (!is_solved(&r)) {
        newton_from(&r, other, (kki_newton_options){.careful = true});
    }
    if (!is_solved(&r)) {
        kki_rung_sweep(r.s, other, 4, 0.9, stats);
        newton_from(&r, other, (kki_newton_options){.rescue = 3});
    }
    if (!is_solved(&r)) {
        zero(&r, other);
        newton_from(&r, other, (kki_newton_options){.careful = true, .stubborn = true});
    }
    return end_dense(c, &r);
}

/// From the start alone, a few steps: what an active set known from the last step is worth.
static bool run_newton_once(corpus_case *c, kki_solver_stats *stats) {
    dense_run r;
    if (!begin_dense(c, stats, &r)) {
        return false;
    }
    kki_iterate *other = &r.w->iterate[KKI_IT_PROXIMAL];
    kki_iterate_copy(r.s, r.best, other);
    if (!is_solved(&r)) {
        newton_from(&r, other, (kki_newton_options){.limit = 6, .careful = true});
    }
    return end_dense(c, &r);
}

static bool run_path(corpus_case *c, kki_solver_stats *stats) {
    dense_run r;
    if (!begin_dense(c, stats, &r)) {
        return false;
    }
    kki_path_options o = {r.problem.before, 0, MOST_PATH, r.options.moves};
    for (int k = 0; k < 2 && !is_solved(&r); k++) { // from the start, then from zero
        kki_iterate_copy(r.s, r.best, r.now);
        if (k > 0) {
            zero(&r, r.now);
            o.before = NULL;
        }
        kki_rung_path(r.s, r.w, r.now, &o, stats);
        keep(&r);
    }
    return end_dense(c, &r);
}

/// The walk, and Newton from it as soon as its modes are clear.
static void walk_inside(dense_run *r, kki_solver_stats *stats) {
    static kki_interior walk; // long
    kki_iterate *inside = &r->w->iterate[KKI_IT_PATH];
    bool goes_on = true;
    kki_interior_begin(&walk, r->s, r->w, inside);
    double share = 1e-6;
    for (int k = 0; k < 3 && goes_on && !is_solved(r); k++) {
        goes_on = kki_interior_walk(&walk, MOST_STEPS, share, stats);
        share *= 1e-2;
        newton_from(r, inside, (kki_newton_options){.limit = 6, .careful = true});
    }
}

static bool run_interior(corpus_case *c, kki_solver_stats *stats) {
    dense_run r;
    if (c->p->nrow > KKI_INTERIOR_ROWS || !begin_dense(c, stats, &r)) {
        return false;
    }
    if (!is_solved(&r)) {
        walk_inside(&r, stats);
    }
    return end_dense(c, &r);
}

static bool run_convex(corpus_case *c, kki_solver_stats *stats) {
    dense_run r;
    if (!begin_dense(c, stats, &r)) {
        return false;
    }
    if (!is_solved(&r)) {
        const kki_system *s = r.s;
        s->kernels->transpose(s->problem->nv, s->nrow, s->stride, s->Y, s->width, s->columns);
        kki_iterate_copy(s, r.best, r.now);
        kki_rung_sweep(s, r.now, 3, 1e300, stats);
        kki_rung_convex(s, r.w, r.now, MOST_CONVEX, 0.1 * r.options.tolerance, stats);
        keep(&r);
    }
    return end_dense(c, &r);
}

static bool run_proximal(corpus_case *c, kki_solver_stats *stats) {
    dense_run r;
    if (!begin_dense(c, stats, &r)) {
        return false;
    }
    if (!is_solved(&r)) {
        r.options.proximal = c->p->nrow > KKI_ROBOT_ROWS ? KKI_ISLAND_PROXIMAL : 60;
        kki_iterate_copy(r.s, r.best, r.now);
        kki_rung_proximal(r.s, r.w, r.now, &r.options, stats);
        keep(&r);
    }
    return end_dense(c, &r);
}

static bool run_anderson(corpus_case *c, kki_solver_stats *stats) {
    dense_run r;
    if (!begin_dense(c, stats, &r)) {
        return false;
    }
    if (!is_solved(&r)) {
        kki_iterate_copy(r.s, r.best, r.now);
        kki_rung_anderson(r.s, r.w, r.now, MOST_ANDERSON, stats);
        keep(&r);
    }
    return end_dense(c, &r);
}

static bool run_admm(corpus_case *c, kki_solver_stats *stats) {
    dense_run r;
    if (!begin_dense(c, stats, &r)) {
        return false;
    }
    if (!is_solved(&r)) {
        zero(&r, r.now);
        kki_rung_admm(r.s, r.w, r.now, c->p->nrow > KKI_ROBOT_ROWS ? MOST_ADMM / 6 : MOST_ADMM, stats);
        keep(&r);
    }
    return end_dense(c, &r);
}

/// The ladder for many bodies, and the dense one, whichever the problem was posed for.
static bool run_ladder(corpus_case *c, kki_solver_stats *stats, bool dense) {
    kki_certificate proof;
    kki_solver_options o = corpus_options(c->p);
    if (dense && !c->has_dense) {
        return false;
    }
    memcpy(c->lambda, c->p->lambda, (size_t)c->p->nrow * sizeof *c->lambda);
    const double start = corpus_seconds();
    if (dense) {
        kki_problem problem = c->dense.problem;
        problem.G = c->has_matrix ? c->dense.G : NULL;
        kki_contact_solve(&problem, &o, &c->dense_work, c->lambda, c->u, &proof, stats);
    } else {
        o.factors = 0;
        kki_sparse_solve(&c->sparse.problem, &o, &c->sparse_work, c->lambda, c->u, &proof, stats);
    }
    c->seconds = corpus_seconds() - start;
    return true;
}

static bool run_dense_ladder(corpus_case *c, kki_solver_stats *stats) {
    return run_ladder(c, stats, true);
}

static bool run_sparse_ladder(corpus_case *c, kki_solver_stats *stats) {
    return run_ladder(c, stats, false);
}

static bool run_engine(corpus_case *c, kki_solver_stats *stats) {
    corpus_engine(c, stats);
    return true;
}

// ---- tie by tie

typedef struct sparse_run {
    kki_sparse_scratch *w;
    const kki_sparse_system *s;
    kki_sparse_iterate *best, *now, *other;
    kki_solver_options options;
    kki_solver_stats *stats;
    double start;
} sparse_run;

static void shift(const corpus_problem *p, double sign, double *lambda) {
    for (int b = 0; b < p->nblock; b++) {
        lambda[p->block[b].row] += p->block[b].law == KKI_LAW_CONTACT ? sign * p->block[b].adhesion : 0;
    }
}

static void begin_sparse(corpus_case *c, kki_solver_stats *stats, sparse_run *r) {
    *stats = (kki_solver_stats){0};
    *r = (sparse_run){.w = c->sparse_work.scratch, .options = corpus_options(c->p), .stats = stats};
    r->start = corpus_seconds();
    kki_sparse_system_make(&c->sparse.problem, c->sparse_work.kernels, r->options.floor, r->w);
    r->s = &r->w->system;
    r->best = &r->w->iterate[0];
    r->now = &r->w->iterate[1];
    r->other = &r->w->iterate[2];
    memset(r->w->mode, -1, (size_t)c->p->nblock);
    memcpy(r->best->lambda, c->p->lambda, (size_t)c->p->nrow * sizeof(double));
    shift(c->p, 1, r->best->lambda);
    kki_sparse_judge(r->s, r->best);
}

static bool end_sparse(corpus_case *c, sparse_run *r) {
    c->seconds = corpus_seconds() - r->start;
    memcpy(c->lambda, r->best->lambda, (size_t)c->p->nrow * sizeof(double));
    shift(c->p, -1, c->lambda);
    return true;
}

static bool is_done(const sparse_run *r) {
    return r->best->residual <= ENOUGH * r->options.tolerance;
}

static bool has_order(corpus_case *c, sparse_run *r) {
    return kki_sparse_order(&c->sparse.problem, &c->sparse_work.size, &r->w->pattern, &r->w->graph, r->w->factor.spot);
}

static void keep_sparse(sparse_run *r, const kki_sparse_iterate *it) {
    if (it->residual < r->best->residual) {
        kki_sparse_copy(r->s, it, r->best);
    }
}

/// Newton from the best, its shift by what comes of it.
static void newton_sparse(sparse_run *r, int limit) {
    double epsilon = 1e-5;
    for (int k = 0; k < limit && !is_done(r); k++) {
        const double before = r->best->residual;
        kki_sparse_copy(r->s, r->best, r->now);
        if (!kki_sparse_newton_step(r->w, r->now, epsilon, 1, r->stats)) {
            return;
        }
        kki_sparse_judge(r->s, r->now);
        keep_sparse(r, r->now);
        if (r->best->residual > 0.1 * before) {
            for (int n = 0; n < 3; n++) {
                r->s->kernels->sweep(r->s, r->now->lambda, r->now->z);
            }
            kki_sparse_judge(r->s, r->now);
            keep_sparse(r, r->now);
        }
        epsilon *= r->best->residual < 0.3 * before ? 0.1 : 30;
        epsilon = epsilon < 1e-7 ? 1e-7 : epsilon > 1e-2 ? 1e-2 : epsilon;
    }
}

static bool run_sparse_sweeps(corpus_case *c, kki_solver_stats *stats) {
    sparse_run r;
    begin_sparse(c, stats, &r);
    if (!is_done(&r)) {
        kki_sparse_anderson(r.w, r.now, r.best, 0.5 * r.options.tolerance, MOST_SWEEPS, 4, stats);
    }
    return end_sparse(c, &r);
}

static bool run_sparse_newton(corpus_case *c, kki_solver_stats *stats) {
    sparse_run r;
    begin_sparse(c, stats, &r);
    if (!is_done(&r) && has_order(c, &r)) {
        newton_sparse(&r, MOST_STEPS);
    }
    return end_sparse(c, &r);
}

static bool run_sparse_interior(corpus_case *c, kki_solver_stats *stats) {
    sparse_run r;
    begin_sparse(c, stats, &r);
    if (!kki_sparse_inside_fits(r.s)) {
        return false;
    }
    if (!is_done(&r) && has_order(c, &r)) {
        kki_sparse_iterate *it = &r.w->iterate[3];
        kki_sparse_inside_begin(r.w, r.best, 1, false, it);
        for (int k = 0; k < 40 && !is_done(&r) && kki_sparse_inside_advance(r.w, it, stats); k++) {
            keep_sparse(&r, it);
        }
        newton_sparse(&r, 5);
    }
    return end_sparse(c, &r);
}

/// Proximal steps on Coulomb's law itself, their weight falling while Newton solves them at once (pseudo-transient continuation).
static bool run_sparse_flow(corpus_case *c, kki_solver_stats *stats) {
    sparse_run r;
    begin_sparse(c, stats, &r);
    if (!is_done(&r) && has_order(c, &r)) {
        double epsilon = 1e-2;
        kki_sparse_copy(r.s, r.best, r.other);
        while (!is_done(&r) && stats->factorizations < 600) {
            const int before = stats->factorizations;
            kki_sparse_copy(r.s, r.other, r.now);
            const bool solved = kki_sparse_proximal(r.w, r.now, epsilon, 0.01 * r.other->residual, 0, 15, stats);
            const int steps = stats->factorizations - before;
            if (solved) {
                kki_sparse_copy(r.s, r.now, r.other);
                keep_sparse(&r, r.now);
            }
            epsilon *= !solved ? 3 : steps <= 2 ? 0.36 : steps <= 4 ? 0.65 : 1;
            epsilon = epsilon < 1e-7 ? 1e-7 : epsilon > 1 ? 1 : epsilon;
            if (steps == 0) {
                break;
            }
        }
    }
    return end_sparse(c, &r);
}

/// Proximal steps with the convex problem first.
static bool run_sparse_proximal(corpus_case *c, kki_solver_stats *stats) {
    sparse_run r;
    begin_sparse(c, stats, &r);
    if (!is_done(&r) && has_order(c, &r)) {
        double epsilon = 1e-2;
        kki_sparse_copy(r.s, r.best, r.other);
        for (int k = 0; k < MOST_STEPS && !is_done(&r); k++) {
            kki_sparse_copy(r.s, r.other, r.now);
            const bool solved = kki_sparse_proximal(r.w, r.now, epsilon, 0.05 * r.other->residual, 10, 10, stats);
            keep_sparse(&r, r.now);
            if (solved) {
                kki_sparse_copy(r.s, r.now, r.other);
            }
            epsilon *= solved ? 0.1 : 4;
            epsilon = epsilon < 1e-6 ? 1e-6 : epsilon > 1 ? 1 : epsilon;
        }
    }
    return end_sparse(c, &r);
}

// ---- two methods together: what a small solver would be

/// λ of one solver as the start of the other's Newton, adhesion shifted in both; judged, and kept where it is better.
static void polish(dense_run *r, const kki_sparse_iterate *from) {
    kki_iterate *other = &r->w->iterate[KKI_IT_PROXIMAL];
    memcpy(other->lambda, from->lambda, (size_t)r->s->nrow * sizeof *other->lambda);
    kki_system_judge(r->s, other);
    newton_from(r, other, (kki_newton_options){.limit = 5, .careful = true});
}

/// Pseudo-transient continuation from the problem's start, with Newton tried whenever it has come ten times nearer.
static void flow_with_newton(corpus_case *c, dense_run *r, kki_solver_stats *stats) {
    sparse_run f;
    kki_solver_stats before = *stats;
    begin_sparse(c, stats, &f);
    double epsilon = 1e-2, tried = f.best->residual;
    kki_sparse_copy(f.s, f.best, f.other);
    for (int k = 0; k < 200 && has_order(c, &f) && !is_solved(r) && stats->factorizations < 600; k++) {
        const int first = stats->factorizations;
        kki_sparse_copy(f.s, f.other, f.now);
        const bool solved = kki_sparse_proximal(f.w, f.now, epsilon, 0.01 * f.other->residual, 0, 15, stats);
        const int steps = stats->factorizations - first;
        if (solved) {
            kki_sparse_copy(f.s, f.now, f.other);
            if (f.now->residual < 0.1 * tried) {
                tried = f.now->residual;
                polish(r, f.now);
            }
            if (f.now->residual <= ENOUGH * r->options.tolerance && !is_solved(r)) {
                memcpy(r->now->lambda, f.now->lambda, (size_t)r->s->nrow * sizeof(double));
                kki_system_judge(r->s, r->now);
                keep(r);
            }
        }
        epsilon *= !solved ? 3 : steps <= 2 ? 0.36 : steps <= 4 ? 0.65 : 1;
        epsilon = epsilon < 1e-7 ? 1e-7 : epsilon > 1 ? 1 : epsilon;
    }
    stats->factorizations += before.factorizations;
}

/// The same where G would be too large: Newton in velocity space.
static bool run_two_sparse(corpus_case *c, kki_solver_stats *stats) {
    sparse_run r;
    begin_sparse(c, stats, &r);
    if (!is_done(&r) && has_order(c, &r)) {
        double epsilon = 1e-2, tried = 1e300;
        newton_sparse(&r, 10);
        memcpy(r.other->lambda, c->p->lambda, (size_t)c->p->nrow * sizeof(double));
        shift(c->p, 1, r.other->lambda);
        kki_sparse_judge(r.s, r.other);
        for (int k = 0; k < 200 && !is_done(&r) && stats->factorizations < 600; k++) {
            const int first = stats->factorizations;
            kki_sparse_copy(r.s, r.other, r.now);
            const bool solved = kki_sparse_proximal(r.w, r.now, epsilon, 0.01 * r.other->residual, 0, 15, stats);
            const int steps = stats->factorizations - first;
            if (solved) {
                kki_sparse_copy(r.s, r.now, r.other);
                keep_sparse(&r, r.now);
                if (r.now->residual < 0.1 * tried && r.best->residual == r.now->residual) {
                    tried = r.now->residual;
                    newton_sparse(&r, 2);
                }
            }
            epsilon *= !solved ? 3 : steps <= 2 ? 0.36 : steps <= 4 ? 0.65 : 1;
            epsilon = epsilon < 1e-7 ? 1e-7 : epsilon > 1 ? 1 : epsilon;
        }
    }
    return end_sparse(c, &r);
}

enum { WITH_ZERO = 1, WITH_SWEEPS = 4, WITH_PATH = 8, WITH_CONVEX = 16, WITH_INTERIOR = 32 };

/// The continuation is asked last but for what is for those where all fail.
/// @param more  path, convex, interior: behind Newton; Newton from zero, accelerated sweeps: where all fail
static bool run_few(corpus_case *c, kki_solver_stats *stats, int more) {
    dense_run r;
    if (!begin_dense(c, stats, &r)) {
        return run_two_sparse(c, stats);
    }
    kki_iterate *other = &r.w->iterate[KKI_IT_PROXIMAL];
    kki_iterate_copy(r.s, r.best, other);
    if (!is_solved(&r)) {
        newton_from(&r, other, (kki_newton_options){.limit = 10, .careful = true});
    }
    if (!is_solved(&r)) {
        kki_iterate *swept = &r.w->iterate[KKI_IT_PATH];
        kki_iterate_copy(r.s, other, swept);
        kki_rung_sweep(r.s, swept, 4, 0.9, stats);
        newton_from(&r, swept, (kki_newton_options){.limit = 10, .careful = true});
    }
    if (!is_solved(&r) && (more & WITH_PATH)) {
        const kki_path_options o = {r.problem.before, 0, MOST_PATH, r.options.moves};
        kki_iterate_copy(r.s, r.best, r.now);
        kki_rung_path(r.s, r.w, r.now, &o, stats);
        keep(&r);
    }
    if (!is_solved(&r) && (more & WITH_CONVEX)) {
        const kki_system *s = r.s;
        s->kernels->transpose(s->problem->nv, s->nrow, s->stride, s->Y, s->width, s->columns);
        kki_iterate_copy(s, r.best, r.now);
        kki_rung_convex(s, r.w, r.now, 8, 0.1 * r.options.tolerance, stats);
        keep(&r);
    }
    if (!is_solved(&r) && (more & WITH_INTERIOR) && r.s->nrow <= KKI_INTERIOR_ROWS) {
        walk_inside(&r, stats);
    }
    if (!is_solved(&r)) {
        flow_with_newton(c, &r, stats);
    }
    if (!is_solved(&r) && (more & (WITH_ZERO | WITH_SWEEPS))) {
        zero(&r, other);
        newton_from(&r, other, (kki_newton_options){.careful = true, .stubborn = true});
    }
    for (int k = 0; k < 2 && !is_solved(&r) && (more & WITH_SWEEPS); k++) {
        if (k == 0) { // what is best by now may lie far along the self-stress
            kki_system_load(r.s, c->p->lambda, r.now);
        } else {
            kki_iterate_copy(r.s, r.best, r.now);
        }
        kki_rung_anderson(r.s, r.w, r.now, MOST_ANDERSON, stats);
        kki_iterate_copy(r.s, r.now, other);
        keep(&r);
        newton_from(&r, other, (kki_newton_options){.careful = true, .stubborn = true});
    }
    return end_dense(c, &r);
}

static bool run_two(corpus_case *c, kki_solver_stats *stats) {
    return run_few(c, stats, 0);
}

static bool run_two_zero(corpus_case *c, kki_solver_stats *stats) {
    return run_few(c, stats, WITH_ZERO);
}

static bool run_two_sweeps(corpus_case *c, kki_solver_stats *stats) {
    return run_few(c, stats, WITH_SWEEPS);
}

static bool run_two_path(corpus_case *c, kki_solver_stats *stats) {
    return run_few(c, stats, WITH_SWEEPS | WITH_PATH);
}

static bool run_two_convex(corpus_case *c, kki_solver_stats *stats) {
    return run_few(c, stats, WITH_SWEEPS | WITH_CONVEX);
}

static bool run_two_interior(corpus_case *c, kki_solver_stats *stats) {
    return run_few(c, stats, WITH_SWEEPS | WITH_INTERIOR);
}

static bool run_two_both(corpus_case *c, kki_solver_stats *stats) {
    return run_few(c, stats, WITH_SWEEPS | WITH_PATH | WITH_CONVEX);
}

// clang-format off
const method methods[] = {
    {"engine", "the solver of today as a whole", run_engine, METHOD_LADDER, 0},
    {"dense ladder", "the ladder with G, or Y where rows are many", run_dense_ladder, METHOD_LADDER, 0},
    {"sparse ladder", "the ladder of many bodies, tie by tie", run_sparse_ladder, METHOD_LADDER, 0},
    {"two", "newton from the start and from four sweeps, then continuation with newton", run_two, METHOD_LADDER, 0},
    {"two+zero", "and newton from zero where both fail", run_two_zero, METHOD_LADDER, 0},
    {"two+sweeps", "and accelerated sweeps where these fail", run_two_sweeps, METHOD_LADDER, 0},
    {"two+path", "the same, with the path before the continuation", run_two_path, METHOD_LADDER, 0},
    {"two+convex", "the same, with the convex problem there", run_two_convex, METHOD_LADDER, 0},
    {"two+interior", "the same, with the interior point there", run_two_interior, METHOD_LADDER, 0},
    {"two+both", "the same, with path and convex problem there", run_two_both, METHOD_LADDER, 0},
    {"no sweeps", "the engine without this rung", run_engine, METHOD_WITHOUT, SWEEPS},
    {"no newton", "", run_engine, METHOD_WITHOUT, NEWTON},
    {"no path", "", run_engine, METHOD_WITHOUT, PATH},
    {"no interior", "", run_engine, METHOD_WITHOUT, INTERIOR},
    {"no convex", "", run_engine, METHOD_WITHOUT, CONVEX},
    {"no proximal", "", run_engine, METHOD_WITHOUT, PROXIMAL},
    {"no anderson", "", run_engine, METHOD_WITHOUT, ANDERSON},
    {"no admm", "", run_engine, METHOD_WITHOUT, ADMM},
    {"no stick", "", run_engine, METHOD_WITHOUT, AMEND_STICK},
    {"no s-newton", "", run_engine, METHOD_WITHOUT, SPARSE_NEWTON},
    {"no s-sweeps", "", run_engine, METHOD_WITHOUT, SPARSE_SWEEPS},
    {"no s-interior", "", run_engine, METHOD_WITHOUT, SPARSE_INTERIOR},
    {"no s-proximal", "", run_engine, METHOD_WITHOUT, SPARSE_PROXIMAL},
    {"no last three", "without proximal, anderson and admm", run_engine, METHOD_WITHOUT, PROXIMAL | ANDERSON | ADMM},
    {"path+interior", "newton, path and interior alone", run_engine, METHOD_WITHOUT, PROXIMAL | ANDERSON | ADMM | CONVEX},
    {"interior+convex", "newton, interior and convex alone", run_engine, METHOD_WITHOUT, PROXIMAL | ANDERSON | ADMM | PATH},
    {"path+convex", "newton, path and convex alone", run_engine, METHOD_WITHOUT, PROXIMAL | ANDERSON | ADMM | INTERIOR},
    {"newton+convex", "newton and convex alone", run_engine, METHOD_WITHOUT, PROXIMAL | ANDERSON | ADMM | INTERIOR | PATH},
    {"warm", "the start as it is", run_warm, METHOD_SINGLE, 0},
    {"sweeps", "block Gauss-Seidel, at most 2000", run_sweeps, METHOD_SINGLE, 0},
    {"newton", "semismooth Newton from the start, from four sweeps, from zero", run_newton, METHOD_SINGLE, 0},
    {"newton-6", "semismooth Newton from the start, six steps", run_newton_once, METHOD_SINGLE, 0},
    {"path", "parametric active set, from the start and from zero", run_path, METHOD_SINGLE, 0},
    {"interior", "interior point, then Newton", run_interior, METHOD_SINGLE, 0},
    {"convex", "convex problem in velocities with De Saxce's shift, then Newton", run_convex, METHOD_SINGLE, 0},
    {"proximal", "proximal point over Newton", run_proximal, METHOD_SINGLE, 0},
    {"anderson", "sweeps with Anderson's acceleration, at most 600", run_anderson, METHOD_SINGLE, 0},
    {"admm", "proximal ADMM, at most 3000", run_admm, METHOD_SINGLE, 0},
    {"s-sweeps", "colored sweeps, accelerated, at most 2000", run_sparse_sweeps, METHOD_SINGLE, 0},
    {"s-newton", "semismooth Newton in velocity space with a shift", run_sparse_newton, METHOD_SINGLE, 0},
    {"s-interior", "interior point in velocity space, then Newton", run_sparse_interior, METHOD_SINGLE, 0},
    {"s-proximal", "proximal steps, convex first, in velocity space", run_sparse_proximal, METHOD_SINGLE, 0},
    {"s-flow", "pseudo-transient continuation in velocity space", run_sparse_flow, METHOD_SINGLE, 0},
};
// clang-format on
const int method_count = sizeof methods / sizeof *methods;
