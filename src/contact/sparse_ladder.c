/// The ladder for many bodies: each rung starts from the best λ so far; see docs/maths/contact.md, "Many bodies".
#include <string.h>

#include "contact/cones.h"
#include "contact/sparse_scratch.h"

/// Where the search ends: so many floors, or that share of the tolerance.
static const double REST = 5, ENOUGH = 1e-3;
/// Share of the tolerance below which only Newton goes on.
static const double FINE = 0.03;
/// The same where there is no factor and digits cost sweeps.
static const double UNFACTORED = 0.3;
/// The same where few digits are asked for.
static const double UNSEARCHED = 0.9;
/// Tolerance from which on what it allows is good enough, m/s.
static const double LOOSE = 1e-7;
/// Residual, in those at which a search ends, from which on slow sweeps are worth it.
static const double NEARLY = 100;
/// Shift of a Newton step, as a share of a block's scale.
static const double EXACT = 1e-7, COARSE = 1e-2;

/// A walk inside begins that many times its start's error away from it, at least that far, one behind it so much further, and it looks for sweeps'
/// help at that many tolerances.
static const double MARGIN = 20, LEAST_MARGIN = 1e-4, FURTHER = 30, CLOSE = 100, CLOSER = 0.3;

enum { BEST, NOW, TRY, INSIDE }; // iterates
enum {
    TURN = 4,
    QUICK_TURN = 6,
    MOST_SWEEPS = 6000,
    LAST_SWEEPS = 2000,
    FIRST_SWEEPS = 1500,
    MANY_ROWS = 10000,
    MOST_PROXIMAL = 30,
    MORE_SWEEPS = 60,
    POLISHING_SWEEPS = 60,
    FACTORS_WORTH = 10,
    MOST_QUICK = 800,
    MOST_INSIDE = 40,
    MOST_WALKS = 2,
    SHORT_WALK = 10,
    FLOW_FACTORS = 600,
    FLOW_STEPS = 15
};

/// Weight of the first step of the flow, bounds of the others', share of the residual to which each is solved, and what becomes of the weight behind one
/// that was not solved, that took up to two Newton steps, and up to four.
static const double FLOW_START = 1e-2, FLOW_LEAST = 1e-7, FLOW_ACCURACY = 0.01, SLOWER = 3, MUCH_FASTER = 0.36,
                    FASTER = 0.65;

typedef struct climb {
    kki_sparse_scratch *w;
    const kki_sparse_system *s;
    kki_solver_stats *stats;
    kki_sparse_iterate *best, *now, *try;
    double tolerance;
    double epsilon; ///< shift to begin with
    double enough;  ///< residual at which the search ends
    int factors;    ///< at most; 0: no limit; −1: none
    bool brief;     ///< the slow rungs are for what the caller cannot pose anew
} climb;

static void sweeps(climb *c, kki_sparse_iterate *it, int count) {
    for (int k = 0; k < count; k++) {
        c->s->kernels->sweep(c->s, it->lambda, it->z);
        c->stats->sweeps++;
    }
    kki_sparse_judge(c->s, it);
}

/// Takes an iterate over where it is better. True if so.
static bool keep(climb *c, const kki_sparse_iterate *it, int rung) {
    if (!(it->residual < c->best->residual)) {
        return false;
    }
    kki_sparse_copy(c->s, it, c->best);
    c->stats->rung = rung;
    return true;
}

/// Factors that are left, `most` at most.
static int allowed(const climb *c, int most) {
    const int left = c->factors - c->stats->factorizations;
    return c->factors == 0 || left > most ? most : left < 0 ? 0 : left;
}

static bool done(const climb *c) {
    return c->best->residual <= c->enough;
}

/// L1: sweeps in small bundles while they contract. Near the end of a search for few digits, they may do so slowly: a factor costs as much
/// as dozens of them.
static void rung_sweep(climb *c, int limit) {
    for (int k = 0; !done(c); k += 4) {
        const double before = c->best->residual;
        const bool nearly = c->tolerance >= LOOSE && before < NEARLY * c->enough;
        if (k >= (nearly ? MORE_SWEEPS : limit)) {
            return;
        }
        kki_sparse_copy(c->s, c->best, c->now);
        sweeps(c, c->now, 4);
        keep(c, c->now, KKI_RUNG_SWEEP);
        if (!(c->best->residual < (nearly ? 0.8 : 0.25) * before)) {
            return;
        }
    }
}

/// L2: Newton from the best as long as each step is a clear gain. The shift follows what comes of it (Levenberg and Marquardt): where rows
/// contradict each other, a small one sends λ far along the self-stress, and projecting it back spoils what was gained; where heavy bodies rest on light
/// ones, a large one holds λ back. Without patience it ends at the first step that makes things worse.
static void rung_newton(climb *c, int limit, bool patient) {
    double epsilon = c->epsilon;
    for (int k = 0; k < limit && !done(c) && allowed(c, 1); k++) {
        const double before = c->best->residual;
        kki_sparse_copy(c->s, c->best, c->now);
        if (!kki_sparse_newton_step(c->w, c->now, epsilon, 1, c->stats)) {
            return;
        }
        kki_sparse_judge(c->s, c->now);
        const bool helps = keep(c, c->now, KKI_RUNG_NEWTON);
        if (c->best->residual > 0.1 * before) {
            sweeps(c, c->now, 3);
            keep(c, c->now, KKI_RUNG_NEWTON);
        }
        const bool gains = c->best->residual < 0.3 * before, held_back = helps && c->w->is_steady && epsilon > EXACT;
        if (!gains && !held_back && (!patient || epsilon >= COARSE)) {
            return;
        }
        epsilon *= gains ? 0.1 : held_back ? 0.01 : 100;
        epsilon = epsilon < EXACT ? EXACT : epsilon > COARSE ? COARSE : epsilon;
    }
    c->epsilon = epsilon;
}

/// Without a warm start sweeps would brace bodies against each other; held rows from zero give the least impulses that hold them.
static bool is_cold(const climb *c) {
    double sum = 0;
    for (int i = 0; i < c->s->nrow; i++) {
        sum += c->best->lambda[i] * c->best->lambda[i];
    }
    return sum == 0;
}

/// L2½: proximal steps, each followed by Newton on the bare laws. The weight begins with the error's share of the speeds and shrinks as long as steps
/// succeed: λ has to travel along the self-stress, and with a large weight it does so slowly. The residual need not fall on the way.
static void rung_proximal(climb *c, int limit, double target) {
    const double share = c->best->residual / c->s->size;
    double epsilon = share < 1e-6 ? 1e-6 : share > COARSE ? COARSE : share, shrink = 0.1;
    kki_sparse_copy(c->s, c->best, c->try); // the last that was solved
    for (int k = 0; k < limit && c->best->residual > target && allowed(c, 1); k++) {
        const double before = c->try->residual;
        kki_sparse_copy(c->s, c->try, c->now);
        const bool solved = kki_sparse_proximal(c->w, c->now, epsilon, 0.05 * before, allowed(c, 10),
                                                allowed(c, 20) - allowed(c, 10), c->stats);
        const bool better = keep(c, c->now, KKI_RUNG_PROXIMAL);
        if (solved) {
            kki_sparse_copy(c->s, c->now, c->try);
        }
        if (better && c->best->residual > target) {
            c->epsilon = 1e-5;
            rung_newton(c, 3, false);
            if (c->best->residual < 0.1 * c->try->residual) {
                kki_sparse_copy(c->s, c->best, c->try);
            }
        }
        epsilon = solved ? shrink * epsilon : 4 * epsilon;
        shrink = !solved ? 0.5 : 0.6 * shrink < 0.1 ? 0.1 : 0.6 * shrink;
        epsilon = epsilon < 1e-6 ? 1e-6 : epsilon > 1 ? 1 : epsilon;
    }
}

/// How many sweeps take as long as some factors: W = Σ n² over columns of n blocks is what a factor takes, and a sweep 0.6 for each tie.
static int affordable_sweeps(const climb *c) {
    const kki_sparse_pattern *p = &c->w->pattern;
    int64_t work = 0;
    for (int k = 0; k < p->nbody; k++) {
        const int64_t n = p->column[k + 1] - p->column[k];
        work += n * n;
    }
    const int64_t sweeps = FACTORS_WORTH * (3 + 5 * work / (3 * c->s->problem->ntie));
    return sweeps < MOST_QUICK ? (int)sweeps : MOST_QUICK;
}

/// Sweeps from where the walk is: what they do not see through becomes clear in the walk, and what is slow there, contacts that are about to open
/// or to slide, is theirs.
static void polish(climb *c) {
    kki_sparse_copy(c->s, &c->w->iterate[INSIDE], c->try);
    kki_sparse_anderson(c->w, c->now, c->try, UNSEARCHED * c->tolerance, POLISHING_SWEEPS, QUICK_TURN, c->stats);
    keep(c, c->try, KKI_RUNG_PROXIMAL);
}

/// A walk from the best, `share` of the speeds away from it.
static void walk_inside(climb *c, double share, bool is_careful) {
    kki_sparse_iterate *it = &c->w->iterate[INSIDE];
    double close = CLOSE * c->tolerance;
    kki_sparse_inside_begin(c->w, c->best, share, is_careful, it);
    for (int k = 0; k < MOST_INSIDE && c->best->residual > c->tolerance && allowed(c, 1); k++) {
        if (!kki_sparse_inside_advance(c->w, it, c->stats)) {
            return;
        }
        keep(c, it, KKI_RUNG_PROXIMAL);
        if (it->residual <= close && c->best->residual > c->tolerance) {
            polish(c);
            close = CLOSER * it->residual;
        }
    }
}

/// For few digits L1½, for many behind Newton: walks inside all cones, each from further away than the one that failed. Their path is one and the same, and in a pile that
/// gives way it may fold; the flow behind them gets further than a third walk.
static void rung_inside(climb *c) {
    double further = 1;
    for (int k = 0; k < (c->brief ? 1 : MOST_WALKS) && c->best->residual > c->tolerance; k++) {
        const int least = k > 0 ? SHORT_WALK : 1;
        if (allowed(c, least) < least) {
            return;
        }
        const double near = MARGIN * c->best->residual / c->s->size, share = further * kki_clamp(near, LEAST_MARGIN, 1);
        walk_inside(c, share < 1 ? share : 1, k > 0);
        further *= FURTHER;
    }
}

/// For few digits L2½, for many the last: implicit steps of the flow that sweeps follow, λ' = −(natural map): proximal steps on Coulomb's law from where sweeps ended, as long as Newton
/// solves them at once. Where the path of a walk folds, this goes over to the next branch, as sweeps do, in hundreds of factors instead of
/// a hundred thousand sweeps (pseudo-transient continuation: Kelley & Keyes 1998).
static void rung_flow(climb *c) {
    const int first = c->stats->factorizations;
    double epsilon = FLOW_START;
    kki_sparse_copy(c->s, c->best, c->try); // where the flow is
    while (c->best->residual > c->tolerance && c->stats->factorizations - first < FLOW_FACTORS && allowed(c, 1)) {
        const int before = c->stats->factorizations;
        kki_sparse_copy(c->s, c->try, c->now);
        const bool solved = kki_sparse_proximal(c->w, c->now, epsilon, FLOW_ACCURACY * c->try->residual, 0,
                                                allowed(c, FLOW_STEPS), c->stats);
        const int steps = c->stats->factorizations - before;
        if (solved) {
            kki_sparse_copy(c->s, c->now, c->try);
            keep(c, c->now, KKI_RUNG_PROXIMAL);
        }
        epsilon *= !solved ? SLOWER : steps <= 2 ? MUCH_FASTER : steps <= 4 ? FASTER : 1;
        epsilon = kki_clamp(epsilon, FLOW_LEAST, 1);
    }
}

/// Few digits of an island that is not too large for a factor: sweeps while they are cheap, walks, the flow. True where nothing is to follow.
static bool climb_loosely(climb *c) {
    if (!is_cold(c)) {
        kki_sparse_anderson(c->w, c->now, c->best, UNSEARCHED * c->tolerance, affordable_sweeps(c), QUICK_TURN,
                            c->stats);
    }
    const bool fits = kki_sparse_inside_fits(c->s);
    if (c->best->residual > c->tolerance && fits) {
        rung_inside(c);
    }
    if (c->best->residual > c->tolerance && fits && !c->brief) {
        rung_flow(c);
    }
    return c->best->residual <= c->tolerance || fits;
}

/// L3: accelerated sweeps, which go round what Newton leaps into, and Newton from where they end. From the warm start first: what is best by then may
/// lie far along the self-stress.
static void rung_anderson(climb *c) {
    for (int k = 0; k < 2 && c->best->residual > c->tolerance && allowed(c, 1); k++) {
        kki_sparse_anderson(c->w, c->now, c->best, UNFACTORED * c->tolerance, LAST_SWEEPS, TURN, c->stats);
        c->epsilon = 1e-5;
        rung_newton(c, 5, true);
    }
}

/// Many digits: Newton, walks, and the slow rungs where there is nothing else.
static void climb_tightly(climb *c, int newton) {
    const bool fits = kki_sparse_inside_fits(c->s);
    rung_newton(c, newton, true);
    if (c->best->residual > c->tolerance && fits) {
        rung_inside(c);
    }
    if (c->best->residual <= c->tolerance || c->brief) {
        return;
    }
    rung_proximal(c, MOST_PROXIMAL, c->tolerance);
    rung_anderson(c);
    if (fits) {
        rung_flow(c);
    }
}

/// A few floors, or a share of the tolerance: with so many bodies the last digits cost a factor each.
static double enough_of(const climb *c, double floor) {
    const double enough = kki_sparse_share(ENOUGH, c->tolerance) * c->tolerance;
    return REST * floor > enough ? REST * floor : enough;
}

static void climb_all(climb *c, const kki_solver_options *o, kki_sparse_work *work) {
    kki_sparse_scratch *w = work->scratch;
    c->enough = enough_of(c, c->s->floor);
    if (done(c)) {
        return;
    }
    if (c->tolerance < LOOSE) {
        const double rounding = kki_sparse_rounding(c->s, c->best, c->w->dz);
        c->w->system.floor = rounding > c->s->floor ? rounding : c->s->floor;
        c->enough = enough_of(c, c->s->floor);
    }
    if (is_cold(c)) {
        c->epsilon = 1e-4;
    } else if (c->tolerance < LOOSE) {
        rung_sweep(c, 12);
    }
    if (done(c)) {
        return;
    }
    if (c->s->nrow > MANY_ROWS) { // a factor costs as much as hundreds of sweeps
        kki_sparse_anderson(w, c->now, c->best, UNFACTORED * c->tolerance, FIRST_SWEEPS, TURN, c->stats);
        if (c->best->residual <= UNFACTORED * c->tolerance) {
            return;
        }
    }
    if (!kki_sparse_order(c->s->problem, &work->size, &w->pattern, &w->graph, w->factor.spot)) {
        // no room for a factor
        kki_sparse_anderson(w, c->now, c->best, UNFACTORED * c->tolerance, MOST_SWEEPS, TURN, c->stats);
        return;
    }
    if (c->tolerance >= LOOSE && climb_loosely(c)) {
        return;
    }
    climb_tightly(c, o->newton);
    if (c->best->residual <= c->tolerance && c->tolerance < LOOSE) { // and on to the floor, but not at any price
        c->epsilon = 1e-5;
        rung_newton(c, 4, false);
        rung_proximal(c, c->best->residual > FINE * c->tolerance ? 4 : 0, c->enough);
    }
}

static bool all_finite(int n, const double *x) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i] - x[i];
    }
    return sum == 0;
}

static int find_not_finite(const kki_problem *p, const double *u) {
    for (int i = 0; i < p->nblock; i++) {
        if (u[p->block[i].row] - u[p->block[i].row] != 0) {
            return i;
        }
    }
    return 0;
}

static void shift(const kki_problem *p, const double *from, double sign, double *to) {
    memcpy(to, from, sizeof *to * (size_t)p->nrow);
    for (int b = 0; b < p->nblock; b++) {
        to[p->block[b].row] += p->block[b].law == KKI_LAW_CONTACT ? sign * p->block[b].adhesion : 0;
    }
}

static kk_status check(const kki_sparse_problem *p, const kki_sparse_size *size) {
    const bool fits = p->nbody <= size->bodies && p->ntie <= size->ties && p->rows.nrow <= size->rows &&
                      p->rows.nblock <= size->blocks && p->first[p->nbody] <= size->width;
    return fits ? KK_OK : KK_LIMIT_EXCEEDED;
}

static kk_status refuse(const kki_problem *p, double *lambda, double *u, kki_solver_stats *stats) {
    stats->block = find_not_finite(p, u);
    memset(lambda, 0, sizeof *lambda * (size_t)p->nrow);
    memset(u, 0, sizeof *u * (size_t)p->nrow);
    return KK_NOT_FINITE;
}

static void judge_result(const kki_sparse_problem *problem, const kki_solver_options *options, kki_sparse_scratch *w,
                         const double *lambda, double *u, kki_certificate *certificate, kki_solver_stats *stats) {
    w->system.kernels->certify(problem, lambda, w->dz, u, certificate);
    stats->block = certificate->worst;
    stats->solved = certificate->residual <= options->tolerance;
    stats->cut_short = certificate->residual > w->system.floor;
}

/// Real-time mode: so many sweeps from the warm start, and nothing else.
static kk_status sweep_only(const kki_sparse_problem *problem, const kki_solver_options *options, kki_sparse_work *work,
                            double *lambda, double *u, kki_certificate *certificate, kki_solver_stats *stats) {
    kki_sparse_scratch *w = work->scratch;
    kki_sparse_iterate *it = &w->iterate[BEST];
    kki_sparse_system_begin(problem, work->kernels, options->floor, w);
    kki_bundles_make(problem, w->system.soft, &w->bundles);
    for (int i = 0; i < w->bundles.nrest; i++) {
        kki_sparse_system_own(&w->system, &problem->tie[w->bundles.rest[i]]);
    }
    shift(&problem->rows, lambda, 1, it->lambda);
    memset(it->z, 0, sizeof *it->z * (size_t)w->system.width);
    work->kernels->motion(problem, it->lambda, it->z);
    if (!all_finite(problem->rows.nrow, w->system.g) || !all_finite(w->system.width, it->z)) {
        work->kernels->certify(problem, lambda, w->dz, u, certificate);
        return refuse(&problem->rows, lambda, u, stats);
    }
    kki_bundles_sweep(&w->system, &w->bundles, options->fixed_sweeps, it->lambda, it->z);
    stats->sweeps = options->fixed_sweeps;
    stats->rung = KKI_RUNG_SWEEP;
    shift(&problem->rows, it->lambda, -1, lambda);
    if (!options->unproven) {
        judge_result(problem, options, w, lambda, u, certificate, stats);
    }
    return KK_OK;
}

kk_status kki_sparse_solve(const kki_sparse_problem *problem, const kki_solver_options *options, kki_sparse_work *work,
                           double *lambda, double *u, kki_certificate *certificate, kki_solver_stats *stats) {
    kki_sparse_scratch *w = work->scratch;
    *stats = (kki_solver_stats){.block = -1};
    *certificate = (kki_certificate){.worst = -1};
    kk_status status = check(problem, &work->size);
    if (status != KK_OK) {
        return status;
    }
    if (options->fixed_sweeps > 0) {
        return sweep_only(problem, options, work, lambda, u, certificate, stats);
    }
    kki_sparse_system_make(problem, work->kernels, options->floor, w);
    climb c = {w,
               &w->system,
               stats,
               &w->iterate[BEST],
               &w->iterate[NOW],
               &w->iterate[TRY],
               options->tolerance,
               1e-5,
               0,
               options->factors,
               options->brief};
    memset(w->mode, -1, (size_t)problem->rows.nblock);
    shift(&problem->rows, lambda, 1, c.best->lambda);
    kki_sparse_judge(c.s, c.best);
    if (!all_finite(problem->rows.nrow, c.best->u)) {
        memcpy(u, c.best->u, sizeof *u * (size_t)problem->rows.nrow);
        return refuse(&problem->rows, lambda, u, stats);
    }
    climb_all(&c, options, work);
    shift(&problem->rows, c.best->lambda, -1, lambda);
    judge_result(problem, options, w, lambda, u, certificate, stats);
    return KK_OK;
}
