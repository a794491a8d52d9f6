/// The ladder: the cheap rung first, each judged by the same residual, the best λ kept; see solver.h and docs/maths/contact.md.
#include <string.h>

#include "contact/cones.h"
#include "contact/interior.h"
#include "contact/scratch.h"

/// Residual of a warm start, in floors, that is left as it is.
static const double REST = 5;
/// Residual of a warm start, in floors, that sweeps may take away.
static const double NEAR = 1e3;
/// Contradiction of the rows among themselves, in tolerances, that is accepted.
static const double SETTLED = 0.2;
/// Residual, in tolerances, below which what has many rows is not worth the slow rungs.
static const double FINE = 0.1;
/// The same behind the walk inside all bounds.
static const double PROVEN = 0.5;
/// Rows up to which the last digits are always worth their price.
enum { LAST_DIGITS = 18 };
/// Residual, as a share of the speeds, at which the walk inside the bounds hands over; and the last that is tried.
static const double CLEAR = 1e-6, CLEAREST = 1e-10;
enum { LONGEST_WALK = 30 };
/// Changes of mode on one path.
enum { LONGEST_PATH = 40 };
/// Newton steps for what holds to go on holding.
enum { FAITHFUL = 3 };
/// Proximal steps over velocities: for a hint before the path, for an attempt before the walk, and as the last resort.
enum { HINT = 1, ATTEMPT = 2, RESORT = 8 };

kki_solver_options kki_solver_options_default(void) {
    return (kki_solver_options){.tolerance = 1e-9,
                                .floor = 1e-13,
                                .rungs = KKI_RUNG_ALL,
                                .sweeps = 4,
                                .newton = 10,
                                .proximal = 250,
                                .anderson = 600,
                                .admm = 3000};
}

// ---- input

static bool finite(double x) {
    return x - x == 0;
}

static bool rides(const kki_block *block) {
    return block->law == KKI_LAW_TORSION || block->law == KKI_LAW_ROLLING;
}

static bool block_is_sound(const kki_problem *p, int b, int row) {
    const kki_block *block = &p->block[b];
    if (block->law < KKI_LAW_CONTACT || block->law > KKI_LAW_ROLLING || block->row != row) {
        return false;
    }
    if (block->law == KKI_LAW_BOX) {
        return block->lower <= block->upper && block->lower < 1e300 && block->upper > -1e300;
    }
    if (rides(block)) {
        // right behind its contact, or behind another one that rides on the same
        const bool behind =
            b > 0 && (block->contact == b - 1 || (rides(block - 1) && block[-1].contact == block->contact));
        return behind && p->block[block->contact].law == KKI_LAW_CONTACT && block->friction >= 0 &&
               finite(block->friction);
    }
    return block->law != KKI_LAW_CONTACT ||
           (block->friction >= 0 && finite(block->friction) && block->adhesion >= 0 && finite(block->adhesion));
}

/// KK_OK, or what is wrong, with the block at fault.
static kk_status check_blocks(const kki_problem *p, int32_t *fault) {
    int row = 0;
    for (int b = 0; b < p->nblock; b++) {
        if (!block_is_sound(p, b, row)) {
            *fault = b;
            return KK_INVALID_ARGUMENT;
        }
        row += kki_law_rows(p->block[b].law);
        for (int k = p->block[b].row; p->compliance && k < row; k++) {
            if (!(p->compliance[k] >= 0) || !finite(p->compliance[k])) {
                *fault = b;
                return KK_INVALID_ARGUMENT;
            }
        }
    }
    return row == p->nrow ? KK_OK : KK_INVALID_ARGUMENT;
}

static kk_status check(const kki_problem *p, const kki_solver_work *work, int32_t *fault) {
    if (p->nrow < 0 || p->nblock < 0 || p->stride < p->nrow || p->stride % 4 ||
        (p->nrow > 0 && (!p->g || (!p->G && !p->Y)))) {
        return KK_INVALID_ARGUMENT;
    }
    const int rows = kki_low_rank_wanted(p) ? work->size.rows : work->size.dense;
    const bool fits = p->nrow <= rows && p->nblock <= work->size.blocks &&
                      p->stride <= kki_round4(work->size.rows) + 4 && (!p->Y || p->nv <= work->size.nv);
    return fits ? check_blocks(p, fault) : KK_LIMIT_EXCEEDED;
}

/// Whatever is not finite in G, g or λ is so in u = G λ + g, because 0 × ∞ is none either; but the map of an open contact hides it.
static bool all_finite(int n, const double *u) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += u[i] - u[i];
    }
    return sum == 0;
}

/// The first block with a number that is not finite in its own rows.
static int find_not_finite(const kki_problem *p, const double *lambda) {
    for (int b = 0; b < p->nblock; b++) {
        for (int k = 0; k < kki_law_rows(p->block[b].law); k++) {
            const int i = p->block[b].row + k;
            bool good = finite(p->g[i]) && finite(lambda[i]);
            for (int j = 0; good && p->G && j < p->nrow; j++) {
                good = finite(p->G[i * p->stride + j]);
            }
            for (int t = 0; good && p->Y && t < p->nv; t++) {
                good = finite(p->Y[t * p->stride + i]);
            }
            if (!good) {
                return b;
            }
        }
    }
    return 0; // all finite, but their products are not
}

// ---- the climb

typedef struct climb {
    const kki_system *system;
    kki_solver_scratch *scratch;
    const kki_solver_options *options;
    kki_solver_stats *stats;
    kki_iterate *best, *trial;
    bool settled;     ///< nothing more is to be gained
    bool contradicts; ///< modes stood still at more than the last digits
} climb;

/// Whether all factors that the caller allows have been made: what has been found until then is the answer.
static bool spent(const climb *c) {
    return c->options->factors != 0 && c->stats->factorizations >= c->options->factors;
}

/// At the floor, or at what rounding allows, or at the end of the effort.
static bool arrived(const climb *c) {
    if (spent(c)) {
        return true;
    }
    if (c->best->residual <= c->system->floor || c->settled) {
        return true;
    }
    return c->best->residual <= c->options->tolerance &&
           c->best->residual <= 4 * kki_system_rounding(c->system, c->best->lambda, c->scratch->vector[7]);
}

static void keep(climb *c, int rung) {
    if (c->trial->residual < c->best->residual) {
        kki_iterate_copy(c->system, c->trial, c->best);
        c->stats->rung = rung;
    }
}

static bool has_convex(const climb *c) {
    return c->system->problem->Y && (c->options->rungs & KKI_RUNG_PROXIMAL);
}

/// Residual at which a standstill is accepted.
static double last_digits(const climb *c) {
    return c->system->nrow > LAST_DIGITS ? 1e-2 * c->options->tolerance : 10 * c->system->floor;
}

static void newton_from(climb *c, const kki_iterate *from, kki_newton_options o) {
    o.target = c->system->floor;
    o.limit = o.limit > 0 ? o.limit : c->options->newton;
    o.slack = 30;
    kki_iterate_copy(c->system, from, c->trial);
    const bool settled = kki_rung_newton(c->system, c->scratch, c->trial, &o, c->stats);
    keep(c, KKI_RUNG_NEWTON);
    // far below the tolerance, what is left is the rows' own contradiction: near-parallel ones made of rounded numbers
    c->settled = c->settled || (settled && c->trial->residual <= last_digits(c));
    c->contradicts = c->contradicts || (settled && c->trial->residual > last_digits(c));
}

static void newton_from_zero(climb *c, kki_iterate *zero) {
    memset(zero->lambda, 0, sizeof(double) * (size_t)c->system->stride);
    kki_system_judge(c->system, zero);
    newton_from(c, zero, (kki_newton_options){0});
}

/// Sweeps find the modes of a cold start; a warm start has them.
static bool climb_sweep(climb *c) {
    kki_iterate_copy(c->system, c->best, c->trial);
    kki_rung_sweep(c->system, c->trial, c->options->sweeps, 0.7, c->stats);
    keep(c, KKI_RUNG_SWEEP);
    return arrived(c);
}

static bool is_cold(const kki_system *s, const double *lambda) {
    for (int i = 0; i < s->nrow; i++) {
        if (lambda[i] != 0) {
            return false;
        }
    }
    return true;
}

/// So many more rows than coordinates that modes must change by the dozen: feet that stick while all joints turn round.
static bool is_crowded(const climb *c) {
    const kki_system *s = c->system;
    return s->problem->Y && !s->low_rank && s->nrow > LAST_DIGITS && 3 * s->nrow >= 5 * s->problem->nv;
}

/// Velocities instead of impulses: gets there from anywhere, at the price of a few factors of their own.
static bool climb_convex(climb *c, int steps) {
    kki_iterate_copy(c->system, c->best, c->trial);
    if (is_cold(c->system, c->best->lambda)) {
        kki_rung_sweep(c->system, c->trial, 3, 1e300, c->stats);
    }
    if (!c->system->low_rank) {
        const kki_system *s = c->system;
        s->kernels->transpose(s->problem->nv, s->nrow, s->stride, s->Y, s->width, s->columns);
    }
    const bool is_small = c->system->nrow <= LAST_DIGITS;
    const double enough = is_small ? last_digits(c) : SETTLED * c->options->tolerance;
    const bool settled = kki_rung_convex(c->system, c->scratch, c->trial, steps, enough, c->stats);
    keep(c, KKI_RUNG_PROXIMAL);
    c->settled = c->settled || (settled && c->best->residual <= enough);
    return arrived(c);
}

/// Of a large problem the last digits are not worth the slow rungs; of a small one they are, or what is just held creeps.
static bool enough(const climb *c) {
    return c->system->nrow > LAST_DIGITS && c->best->residual <= last_digits(c);
}

/// What has cost the walk already and is below the tolerance is left so.
static bool proven(const climb *c) {
    return c->system->nrow > LAST_DIGITS && c->best->residual <= PROVEN * c->options->tolerance;
}

/// Bounds approached from inside, all at once, until the modes are clear; Newton from there.
static bool climb_interior(climb *c) {
    if (c->system->low_rank || c->system->nrow <= LAST_DIGITS || c->system->nrow > KKI_INTERIOR_ROWS) {
        return false;
    }
    kki_interior walk;
    kki_iterate *inside = &c->scratch->iterate[KKI_IT_PATH];
    kki_interior_begin(&walk, c->system, c->scratch, inside);
    bool goes_on = true;
    double share = CLEAR;
    while (share >= CLEAREST && goes_on && !arrived(c) && !enough(c)) {
        goes_on = kki_interior_walk(&walk, LONGEST_WALK, share, c->stats);
        newton_from(c, inside, (kki_newton_options){.limit = 6, .careful = true});
        share *= 1e-2;
    }
    return arrived(c);
}

/// What has many rows and is a tenth of the tolerance from its law is not worth the slow rungs. The tolerance is that of the fastest row;
/// here it is that of what approaches. Of what moves half of it is enough, but of the absolute one: it will not creep.
static double fine_residual(const climb *c) {
    const kki_system *s = c->system;
    const double fastest = s->floor / c->options->floor, share = (s->size > 1 ? s->size : 1) / fastest;
    const double part = c->options->moves && FINE * share < PROVEN / fastest ? PROVEN / fastest : FINE * share;
    return !s->low_rank && s->nrow > LAST_DIGITS ? part * c->options->tolerance : 0;
}

static bool fine(const climb *c) {
    return c->best->residual <= fine_residual(c);
}

/// Modes found one by one, from where Newton's steps got to.
static bool climb_path(climb *c, const kki_iterate *warm, double fine) {
    const bool is_warm = c->best->residual == warm->residual;
    kki_iterate_copy(c->system, c->best, c->trial);
    const kki_path_options o = {is_warm ? c->system->problem->before : NULL, fine, LONGEST_PATH, c->options->moves};
    kki_rung_path(c->system, c->scratch, c->trial, &o, c->stats);
    keep(c, KKI_RUNG_NEWTON);
    return arrived(c);
}

/// Rows that contradict each other are posed anew by a caller who can.
static bool gives_up(const climb *c) {
    return c->options->brief && c->contradicts && c->best->residual > c->options->tolerance;
}

/// Joints that dry friction holds go on being held: their bounds are so near each other that q = λ − u/g says more of the error of the warm
/// start than of λ. That is right where a robot stands and wrong where it moves, so it is tried for a few steps.
static bool climb_faithfully(climb *c, const kki_iterate *warm) {
    kki_iterate_copy(c->system, warm, c->trial);
    const kki_newton_options o = {
        .target = c->system->floor, .limit = FAITHFUL, .slack = 0.1, .brisk = true, .faithful = true};
    kki_rung_newton(c->system, c->scratch, c->trial, &o, c->stats);
    if (c->trial->residual <= c->system->floor) {
        keep(c, KKI_RUNG_NEWTON);
    }
    return arrived(c);
}

/// The warm start's modes, then the sure way.
static bool climb_quickly(climb *c, kki_iterate *warm) {
    const bool cold = is_cold(c->system, warm->lambda);
    if (!cold && warm->residual <= NEAR * c->system->floor) {
        // well below the floor, so that the next steps need none
        kki_system lower = *c->system;
        lower.floor *= 0.01;
        kki_iterate_copy(c->system, warm, c->trial);
        kki_rung_sweep(&lower, c->trial, 3, 0.3, c->stats);
        keep(c, KKI_RUNG_SWEEP);
        if (arrived(c)) {
            return true;
        }
    }
    // where there is another way, a first attempt that wanders is not followed for long; a warm start of a large problem not at all
    const int few = c->options->newton < 6 ? c->options->newton : 6;
    const bool brisk =
        !c->system->low_rank && c->system->nrow > LAST_DIGITS && !cold && warm->residual > NEAR * c->system->floor;
    const kki_outlook outlook = brisk ? kki_newton_outlook(c->system, c->scratch, warm) : KKI_OUTLOOK_CLEAR;
    if (outlook == KKI_OUTLOOK_DOUBTFUL && climb_faithfully(c, warm)) {
        return true;
    }
    if (outlook != KKI_OUTLOOK_STUCK && !(brisk && c->options->tried)) {
        newton_from(c, warm, (kki_newton_options){.limit = few, .brisk = brisk, .careful = !brisk});
    }
    if (arrived(c)) {
        return true;
    }
    if (((cold ? c->options->any : c->system->low_rank && c->best->residual <= 1e-3) && climb_sweep(c)) ||
        (!cold && fine(c))) {
        return true;
    }
    if (!cold && is_crowded(c) && climb_convex(c, HINT)) {
        return true;
    }
    if (!c->system->low_rank && (!cold || c->options->any) &&
        (climb_path(c, warm, cold ? 0 : fine_residual(c)) || (!cold && fine(c)))) {
        return true;
    }
    if (brisk) {
        newton_from(c, c->best, (kki_newton_options){.limit = few, .careful = true, .stubborn = true});
    }
    return arrived(c) || (!cold && fine(c)) || enough(c) || gives_up(c) ||
           (is_crowded(c) && climb_convex(c, ATTEMPT)) || climb_interior(c) || (cold ? enough(c) : proven(c)) ||
           climb_convex(c, RESORT) || c->best->residual <= last_digits(c);
}

/// Once more from nothing: a warm start may lie where the edge of friction leads nowhere. It is forgotten by that.
static bool climb_anew(climb *c, kki_iterate *warm, kki_iterate *saved) {
    if (is_cold(c->system, warm->lambda)) {
        return false;
    }
    kki_iterate_copy(c->system, c->best, saved);
    memset(c->best->lambda, 0, sizeof(double) * (size_t)c->system->stride);
    kki_system_judge(c->system, c->best);
    kki_iterate_copy(c->system, c->best, warm);
    const bool arrives = climb_quickly(c, warm);
    if (saved->residual < c->best->residual) {
        kki_iterate_copy(c->system, saved, c->best);
    }
    return arrives;
}

static bool climb_newton(climb *c, kki_iterate *warm, kki_iterate *zero) {
    const bool cold = is_cold(c->system, warm->lambda);
    newton_from(c, warm, (kki_newton_options){0});
    if (!arrived(c) && !cold) {
        newton_from_zero(c, zero);
    }
    if (!arrived(c) && !cold) {
        newton_from(c, warm, (kki_newton_options){.restart = true});
    }
    if (!arrived(c)) {
        kki_rung_sweep(c->system, warm, c->options->sweeps, 0.9, c->stats);
        newton_from(c, warm, (kki_newton_options){0});
    }
    return arrived(c);
}

static bool climb_proximal(climb *c) {
    kki_iterate_copy(c->system, c->best, c->trial);
    kki_rung_proximal(c->system, c->scratch, c->trial, c->options, c->stats);
    keep(c, KKI_RUNG_PROXIMAL);
    if (!arrived(c) && (c->options->rungs & KKI_RUNG_NEWTON)) {
        newton_from(c, c->best, (kki_newton_options){0});
    }
    return arrived(c) || c->best->residual <= c->options->tolerance;
}

static bool climb_last(climb *c) {
    const int32_t rungs = c->options->rungs;
    if (rungs & KKI_RUNG_ANDERSON) {
        kki_iterate_copy(c->system, c->best, c->trial);
        kki_rung_anderson(c->system, c->scratch, c->trial, c->options->anderson, c->stats);
        keep(c, KKI_RUNG_ANDERSON);
    }
    if (c->best->residual > c->options->tolerance && (rungs & KKI_RUNG_ADMM)) {
        memset(c->trial->lambda, 0, sizeof(double) * (size_t)c->system->stride);
        kki_system_judge(c->system, c->trial);
        kki_rung_admm(c->system, c->scratch, c->trial, c->options->admm, c->stats);
        kki_iterate *from = &c->scratch->iterate[KKI_IT_PROXIMAL];
        kki_iterate_copy(c->system, c->trial, from);
        keep(c, KKI_RUNG_ADMM);
        if (rungs & KKI_RUNG_NEWTON) {
            newton_from(c, from, (kki_newton_options){0});
        }
    }
    return arrived(c);
}

/// True if it arrived at the floor.
static bool climb_all(climb *c) {
    const int32_t rungs = c->options->rungs;
    // what rests is left alone: a warm start a little above the floor would only be stirred
    if (c->best->residual <= REST * c->system->floor || arrived(c)) {
        return true;
    }
    if (!(rungs & KKI_RUNG_NEWTON) && (rungs & KKI_RUNG_SWEEP) && climb_sweep(c)) {
        return true;
    }
    // the convex rung leaves these two alone
    kki_iterate *warm = &c->scratch->iterate[KKI_IT_PROXIMAL], *zero = warm + 2;
    kki_iterate_copy(c->system, c->best, warm);
    if ((rungs & KKI_RUNG_NEWTON) && has_convex(c) && climb_quickly(c, warm)) {
        return true;
    }
    if (c->options->brief) {
        return false;
    }
    if ((rungs & KKI_RUNG_NEWTON) && has_convex(c) && climb_anew(c, warm, zero)) {
        return true;
    }
    if ((rungs & KKI_RUNG_NEWTON) && climb_newton(c, warm, zero)) {
        return true;
    }
    if ((rungs & KKI_RUNG_PROXIMAL) && climb_proximal(c)) {
        return arrived(c);
    }
    return climb_last(c);
}

// ---- what could stick

/// The fastest slip that friction does not point against.
static double creep(const kki_system *s, const kki_iterate *it) {
    double most = 0;
    for (int b = 0; b < s->nblock; b++) {
        const kki_block *block = &s->problem->block[b];
        const double x =
            block->law == KKI_LAW_CONTACT ? kki_creep(block->friction, it->lambda + block->row, it->u + block->row) : 0;
        most = x > most ? x : most;
    }
    return most;
}

/// What creeps either sticks or slides with all its friction against it. Of a large problem such digits are not worth their price.
static void settle(climb *c) {
    const double before = c->system->nrow > LAST_DIGITS ? 0 : creep(c->system, c->best);
    if (!(before > KKI_TELLING_CREEP * c->best->residual)) {
        return;
    }
    kki_iterate_copy(c->system, c->best, c->trial);
    const bool good = kki_newton_stick(c->system, c->scratch, c->trial, c->stats);
    const double most = c->best->residual > c->system->floor ? c->best->residual : c->system->floor;
    if (good && c->trial->residual <= most && creep(c->system, c->trial) < before) {
        kki_iterate_copy(c->system, c->trial, c->best);
        c->stats->rung = KKI_RUNG_NEWTON;
    }
}

/// Real time: so many sweeps and nothing else; the best of them is kept.
static bool sweep_budget(climb *c) {
    kki_iterate_copy(c->system, c->best, c->trial);
    for (int k = 0; k < c->options->fixed_sweeps && !arrived(c); k++) {
        kki_rung_sweep(c->system, c->trial, 1, 1e300, c->stats);
        keep(c, KKI_RUNG_SWEEP);
    }
    return arrived(c);
}

// ---- in and out

static kk_status refuse(kk_status status, int block, const kki_problem *p, double *lambda, double *u,
                        kki_certificate *certificate, kki_solver_stats *stats) {
    for (int i = 0; i < p->nrow; i++) {
        lambda[i] = u[i] = 0;
    }
    *certificate = (kki_certificate){.residual = __builtin_inf(), .worst = block};
    stats->block = block;
    return status;
}

kk_status kki_contact_solve(const kki_problem *p, const kki_solver_options *options, kki_solver_work *work,
                            double *lambda, double *u, kki_certificate *certificate, kki_solver_stats *stats) {
    kki_solver_scratch *w = work->scratch;
    kki_system *s = &w->system;
    *stats = (kki_solver_stats){.block = -1};
    const kk_status status = check(p, work, &stats->block);
    if (status != KK_OK) {
        return refuse(status, stats->block, p, lambda, u, certificate, stats);
    }
    kki_system_make(s, p, w, work->kernels, options->floor);
    climb c = {s, w, options, stats, &w->iterate[KKI_IT_BEST], &w->iterate[KKI_IT_TRY], false, false};
    kki_system_load(s, lambda, c.best);
    if (!finite(c.best->residual) || !all_finite(s->nrow, c.best->u)) {
        return refuse(KK_NOT_FINITE, find_not_finite(p, lambda), p, lambda, u, certificate, stats);
    }
    stats->cut_short = !(options->fixed_sweeps > 0 ? sweep_budget(&c) : climb_all(&c));
    if (options->fixed_sweeps == 0 && (options->rungs & KKI_RUNG_NEWTON)) {
        settle(&c);
    }
    kki_system_store(s, c.best, lambda);
    work->kernels->certify(p, lambda, u, certificate);
    stats->block = certificate->worst;
    stats->solved = certificate->residual <= options->tolerance;
    return KK_OK;
}
