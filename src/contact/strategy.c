/// The order in which methods are tried: one table for both storages of the operator, each method from the best λ so far, judged by one residual, the best kept.
///
/// A method is asked only where the residual is above what its price is worth: a sweep or a Newton step is worth the last digit, a continuation is not worth more than the
/// tolerance. What each of them solves on the corpus, and what the table costs without it: docs/lab/solver-methods.md.
#include <string.h>

#include "contact/cones.h"
#include "contact/strategy.h"
#include "contact/tuning.h"

static double residual(const kki_search *x) {
    return x->rows ? x->best->residual : x->ties->iterate[KKI_IT_TIES_BEST].residual;
}

/// Factors that are left, `most` at most.
static int allowed(const kki_search *x, int most) {
    const int left = x->options->factors - x->stats->factorizations;
    return x->options->factors == 0 || left > most ? most : left < 0 ? 0 : left;
}

// ---- over rows

static void keep(kki_search *x, int method) {
    if (x->trial->residual < x->best->residual) {
        kki_iterate_copy(x->rows, x->trial, x->best);
        x->stats->method = method;
    }
}

static bool has_many_rows(const kki_search *x) {
    return x->rows->nrow > KKI_LAST_DIGITS_ROWS;
}

/// Residual at which a standstill is accepted.
static double last_digits(const kki_search *x) {
    return has_many_rows(x) ? KKI_LAST_DIGITS * x->options->tolerance : 10 * x->rows->floor;
}

/// At the floor, or at what rounding allows.
static bool is_at_floor(const kki_search *x) {
    if (x->best->residual <= x->rows->floor || x->settled) {
        return true;
    }
    return x->best->residual <= x->options->tolerance &&
           x->best->residual <= 4 * kki_system_rounding(x->rows, x->best->lambda, x->w->vector[0]);
}

/// Of many rows a tenth of the tolerance, of what approaches, is worth no more than sweeps and Newton steps. Of what moves half of it is enough, but of the absolute
/// one: it will not creep.
static double fine_residual(const kki_search *x) {
    const kki_system *s = x->rows;
    if (s->low_rank || !has_many_rows(x) || x->is_cold) {
        return 0;
    }
    const double fastest = s->floor / x->options->floor, share = KKI_FINE * (s->size > 1 ? s->size : 1) / fastest;
    const double moving = x->options->moves ? KKI_FINE_MOVING / fastest : 0;
    return (share > moving ? share : moving) * x->options->tolerance;
}

/// What has many rows and is warm is not worth dear methods once it is certain to be within the tolerance.
static double proven_residual(const kki_search *x) {
    return has_many_rows(x) && !x->is_cold ? KKI_PROVEN * x->options->tolerance : x->rows->floor;
}

/// Residual down to which a method is asked: what its price is worth.
typedef enum worth { LAST_DIGIT, FINE, PROVEN, TOLERANCE } worth;

static bool is_worth(const kki_search *x, worth w) {
    const double r = residual(x);
    if (!x->rows) {
        return w == TOLERANCE || w == PROVEN ? r > x->options->tolerance : r > x->enough;
    }
    switch (w) {
    case LAST_DIGIT: return !is_at_floor(x);
    case FINE: return !is_at_floor(x) && r > fine_residual(x);
    case PROVEN: return !is_at_floor(x) && r > proven_residual(x);
    default: return r > x->options->tolerance;
    }
}

static void newton_from(kki_search *x, const kki_iterate *from, int limit, int shifts) {
    const kki_newton_options o = {x->rows->floor, limit, shifts, KKI_NEWTON_SLACK};
    kki_iterate_copy(x->rows, from, x->trial);
    const bool settled = kki_newton(x->rows, x->w, x->trial, &o, x->stats);
    keep(x, KKI_METHOD_NEWTON);
    // far below the tolerance, what is left is the rows' own contradiction: near-parallel ones made of rounded numbers
    x->settled = x->settled || (settled && x->trial->residual <= last_digits(x));
    x->contradicts = x->contradicts || (settled && x->trial->residual > last_digits(x));
}

/// Statuses at their edges, which Newton's steps throw from one side to the other. Well below the floor, so that the next steps need none.
static void sweep_near(kki_search *x) {
    kki_system lower = *x->rows;
    lower.floor *= 0.01;
    kki_iterate_copy(x->rows, x->best, x->trial);
    kki_sweeps(&lower, x->trial, KKI_LAST_SWEEPS, 0.3, x->stats);
    keep(x, KKI_METHOD_SWEEPS);
}

static bool is_near(const kki_search *x) {
    return !x->rows || (!x->is_cold && x->best->residual <= KKI_NEAR * x->rows->floor);
}

static void newton(kki_search *x) {
    newton_from(x, &x->w->iterate[KKI_IT_WARM],
                x->options->newton < KKI_FIRST_NEWTON ? x->options->newton : KKI_FIRST_NEWTON, 1);
}

/// Sweeps find the statuses of a cold start.
static void newton_from_sweeps(kki_search *x) {
    kki_iterate *swept = &x->w->iterate[KKI_IT_PATH];
    kki_iterate_copy(x->rows, &x->w->iterate[KKI_IT_WARM], x->trial);
    kki_sweeps(x->rows, x->trial, x->options->sweeps, 0.9, x->stats);
    kki_iterate_copy(x->rows, x->trial, swept);
    keep(x, KKI_METHOD_SWEEPS);
    newton_from(x, swept, x->options->newton, 1);
}

/// Of rows that were worked with as Yᵀ Y: the path wants G.
static void form_matrix(kki_search *x) {
    kki_system *s = &x->w->system;
    if (s->low_rank) {
        kki_low_rank_form(s->problem, s->kernels, x->w->G);
        s->G = x->w->G;
        s->low_rank = false;
        x->w->reduced.split.is_ready = false;
    }
}

static bool has_path(const kki_search *x) {
    return x->rows->nrow <= x->most_formed && (!x->is_cold || x->options->any);
}

static void path(kki_search *x) {
    form_matrix(x);
    const bool is_warm = x->best->residual == x->w->iterate[KKI_IT_WARM].residual;
    const kki_path_options o = {is_warm ? x->rows->problem->before : NULL, fine_residual(x), KKI_LONGEST_PATH,
                                x->options->moves};
    kki_iterate_copy(x->rows, x->best, x->trial);
    kki_path(x->rows, x->w, x->trial, &o, x->stats);
    keep(x, KKI_METHOD_PATH);
}

/// Once more from nothing: a warm start may lie where the edge of friction leads nowhere. It is forgotten by that.
static void newton_from_zero(kki_search *x) {
    kki_iterate *from = &x->w->iterate[KKI_IT_PATH];
    memset(from->lambda, 0, sizeof *from->lambda * (size_t)x->rows->stride);
    kki_system_judge(x->rows, from);
    newton_from(x, from, x->options->newton, 3);
}

static bool is_warm(const kki_search *x) {
    return !x->is_cold;
}

/// λ over ties in the variables of rows, which are the same, and Newton from it.
static void refine_rows(kki_search *x, const kki_sparse_iterate *it, int method, int steps) {
    kki_iterate *from = &x->w->iterate[KKI_IT_PATH];
    memset(from->lambda, 0, sizeof *from->lambda * (size_t)x->rows->stride);
    memcpy(from->lambda, it->lambda, sizeof *from->lambda * (size_t)x->rows->nrow);
    kki_system_judge(x->rows, from);
    kki_iterate_copy(x->rows, from, x->trial);
    keep(x, method);
    newton_from(x, from, steps, 1);
}

/// Whether there is room: who gives G alone has as many coordinates as rows.
static bool has_one_body(const kki_search *x) {
    return x->rows->problem->Y || kki_round8(x->rows->nrow) <= x->w->body.work.size.width;
}

/// The same problem over one body, by the methods over ties, from the warm start.
static void search_one_body(kki_search *x) {
    kki_one_body *body = &x->w->body;
    kki_sparse_scratch *ties = body->work.scratch;
    kki_sparse_iterate *it = &ties->iterate[KKI_IT_TIES_BEST];
    const kki_sparse_problem p = kki_one_body_problem(x->rows, body, x->w->vector[0]);
    kki_solver_options options = *x->options;
    options.tolerance = proven_residual(x);
    kki_search over_ties = {.options = &options, .stats = x->stats, .ties = ties, .work = &body->work};
    kki_sparse_system_make(&p, body->work.kernels, x->options->floor, ties);
    memcpy(it->lambda, x->w->iterate[KKI_IT_WARM].lambda, sizeof *it->lambda * (size_t)x->rows->nrow);
    kki_sparse_judge(&ties->system, it);
    memset(ties->mode, -1, (size_t)x->rows->nblock);
    kki_search_run(&over_ties);
    x->was_hard = true;
    refine_rows(x, it, x->stats->method, KKI_REFINING_NEWTON);
}

// ---- over ties

static bool keep_tied(kki_search *x, const kki_sparse_iterate *it, int method) {
    kki_sparse_iterate *best = &x->ties->iterate[KKI_IT_TIES_BEST];
    if (!(it->residual < best->residual)) {
        return false;
    }
    kki_sparse_copy(&x->ties->system, it, best);
    x->stats->method = method;
    return true;
}

static kki_sparse_iterate *copy_best(kki_search *x) {
    kki_sparse_iterate *now = &x->ties->iterate[KKI_IT_TIES_NOW];
    kki_sparse_copy(&x->ties->system, &x->ties->iterate[KKI_IT_TIES_BEST], now);
    return now;
}

static void sweep_ties(kki_search *x, kki_sparse_iterate *it, int count) {
    const kki_sparse_system *s = &x->ties->system;
    for (int k = 0; k < count; k++) {
        s->kernels->sweep(s, it->lambda, it->z);
        x->stats->sweeps++;
    }
    kki_sparse_judge(s, it);
}

static bool is_coarse(const kki_search *x) {
    return x->options->tolerance >= KKI_SPARSE_COARSE_TOLERANCE;
}

/// In small bundles while they contract. A cold start goes without: sweeps would brace bodies against each other, and statuses that hold from zero give the least
/// impulses that hold.
static void sweep_warm_ties(kki_search *x) {
    for (int k = 0; k < 12 && residual(x) > x->enough && !x->is_cold && !is_coarse(x); k += 4) {
        const double before = residual(x);
        kki_sparse_iterate *now = copy_best(x);
        sweep_ties(x, now, 4);
        keep_tied(x, now, KKI_METHOD_SWEEPS);
        if (!(residual(x) < 0.25 * before)) {
            return;
        }
    }
}

/// Newton from the best as long as each step is a clear gain. The shift follows what comes of it (Levenberg and Marquardt): where rows contradict each other, a small one sends λ far
/// along the self-stress, and projecting it back spoils what was gained; where heavy bodies rest on light ones, a large one holds λ back.
static void newton_ties(kki_search *x, int limit, bool is_patient) {
    double epsilon = x->epsilon;
    for (int k = 0; k < limit && residual(x) > x->enough && allowed(x, 1); k++) {
        const double before = residual(x);
        kki_sparse_iterate *now = copy_best(x);
        if (!kki_sparse_newton_step(x->ties, now, epsilon, x->stats)) {
            return;
        }
        kki_sparse_judge(&x->ties->system, now);
        const bool helps = keep_tied(x, now, KKI_METHOD_NEWTON);
        if (residual(x) > 0.1 * before) {
            sweep_ties(x, now, 3);
            keep_tied(x, now, KKI_METHOD_NEWTON);
        }
        const bool gains = residual(x) < 0.3 * before,
                   held_back = helps && x->ties->is_steady && epsilon > KKI_LEAST_SHIFT;
        if (!gains && !held_back && (!is_patient || epsilon >= KKI_LARGEST_SHIFT)) {
            return;
        }
        epsilon = kki_clamp(epsilon * (gains ? 0.1 : held_back ? 0.01 : 100), KKI_LEAST_SHIFT, KKI_LARGEST_SHIFT);
    }
    x->epsilon = epsilon;
}

static void newton_of_ties(kki_search *x) {
    if (x->has_order) {
        newton_ties(x, x->options->newton, true);
    }
}

static bool refine_flow_of_ties(void *context, const kki_sparse_iterate *it) {
    kki_search *x = context;
    if (residual(x) == it->residual) { // the flow has the best
        newton_ties(x, 2, false);
    }
    return !is_worth(x, TOLERANCE) || allowed(x, 1) == 0;
}

static void continue_ties(kki_search *x) {
    const kki_continuation c = {x->options->tolerance, allowed(x, KKI_CONTINUATION_FACTORS), refine_flow_of_ties, x};
    if (x->has_order) {
        kki_sparse_copy(&x->ties->system, &x->ties->iterate[KKI_IT_TIES_WARM], &x->ties->iterate[KKI_IT_TIES_FLOW]);
        kki_continuation_run(x->ties, &c, x->stats);
    }
}

/// How many sweeps take as long as some factors: W = Σ n² over columns of n blocks is what a factor takes, and a sweep 0.6 for each tie.
static int affordable_sweeps(const kki_search *x) {
    const kki_sparse_pattern *p = &x->ties->pattern;
    int64_t work = 0;
    for (int k = 0; k < p->nbody; k++) {
        const int64_t n = p->column[k + 1] - p->column[k];
        work += n * n;
    }
    const int64_t sweeps = KKI_FACTORS_WORTH * (3 + 5 * work / (3 * x->ties->system.problem->ntie));
    return sweeps < KKI_MOST_QUICK_SWEEPS ? (int)sweeps : KKI_MOST_QUICK_SWEEPS;
}

static void accelerate(kki_search *x, double share, int limit, int turn) {
    kki_sparse_anderson(x->ties, &x->ties->iterate[KKI_IT_TIES_NOW], &x->ties->iterate[KKI_IT_TIES_BEST],
                        share * x->options->tolerance, limit, turn, x->stats);
}

/// Before any factor: where few digits are asked for as many sweeps as some factors are worth; where a factor costs hundreds of them, or does not fit, more.
static void accelerate_first(kki_search *x) {
    if (!x->has_order) {
        accelerate(x, KKI_UNFACTORED, KKI_ONLY_ACCELERATED, KKI_TURN);
    } else if (x->ties->system.nrow > KKI_MANY_TIED_ROWS) {
        accelerate(x, KKI_UNFACTORED, KKI_FIRST_ACCELERATED, KKI_TURN);
    } else if (is_coarse(x) && !x->is_cold) {
        accelerate(x, KKI_UNSEARCHED, affordable_sweeps(x), KKI_QUICK_TURN);
    }
}

static void accelerate_last(kki_search *x) {
    for (int k = 0; k < 2 && is_worth(x, TOLERANCE) && allowed(x, 1) && x->has_order; k++) {
        accelerate(x, KKI_UNFACTORED, KKI_LAST_ACCELERATED, KKI_TURN);
        x->epsilon = KKI_FIRST_SHIFT;
        newton_ties(x, 5, true);
    }
}

// ---- the table

typedef struct strategy {
    const char *name;
    int method;   ///< KKI_METHOD_…, which options may leave out
    worth worth;  ///< residual above which its price is paid
    bool is_slow; ///< not for a caller who can pose the problem anew
    bool (*applies)(const kki_search *);
    void (*rows)(kki_search *); ///< over rows; NULL: not there
    void (*ties)(kki_search *); ///< over ties
} strategy;

static bool always(const kki_search *x) {
    (void)x;
    return true;
}

static bool has_many_bodies(const kki_search *x) {
    return x->ties->system.problem->nbody > 1;
}

/// Whether the statuses that λ shows have not been tried yet.
static bool is_untried(const kki_search *x) {
    return !x->rows || !x->options->tried;
}

// clang-format off
static const strategy strategies[] = {
    // name                      method                   worth       slow   applies           over rows           over ties
    {"sweeps",                   KKI_METHOD_SWEEPS,       LAST_DIGIT, false, is_near,          sweep_near,         sweep_warm_ties},
    {"first accelerated sweeps", KKI_METHOD_ACCELERATED,  LAST_DIGIT, false, has_many_bodies,  NULL,               accelerate_first},
    {"newton",                   KKI_METHOD_NEWTON,       LAST_DIGIT, false, is_untried,       newton,             newton_of_ties},
    {"newton from sweeps",       KKI_METHOD_NEWTON,       FINE,       false, always,           newton_from_sweeps, NULL},
    {"path",                     KKI_METHOD_PATH,         FINE,       false, has_path,         path,               NULL},
    {"newton from zero",         KKI_METHOD_NEWTON,       PROVEN,     false, is_warm,          newton_from_zero,   NULL},
    {"over one body",            KKI_METHOD_CONTINUATION, PROVEN,     false, has_one_body,     search_one_body,    NULL},
    {"continuation",             KKI_METHOD_CONTINUATION, PROVEN,     false, always,           NULL,               continue_ties},
    {"accelerated sweeps",       KKI_METHOD_ACCELERATED,  TOLERANCE,  true,  has_many_bodies,  NULL,               accelerate_last},
};
// clang-format on

static bool is_asked(const kki_search *x, const strategy *m) {
    const bool gives_up = x->options->brief && (m->is_slow || (x->contradicts && m->worth >= PROVEN));
    return (x->rows ? m->rows : m->ties) && (m->method & x->options->methods) && !gives_up && allowed(x, 1) > 0 &&
           is_worth(x, m->worth) && m->applies(x);
}

/// Real time: so many sweeps and nothing else; the best of them is kept.
static void sweep_budget(kki_search *x) {
    kki_iterate_copy(x->rows, x->best, x->trial);
    for (int k = 0; k < x->options->fixed_sweeps && !is_at_floor(x); k++) {
        kki_sweeps(x->rows, x->trial, 1, 1e300, x->stats);
        keep(x, KKI_METHOD_SWEEPS);
    }
}

static bool is_zero(int n, const double *x) {
    for (int i = 0; i < n; i++) {
        if (x[i] != 0) {
            return false;
        }
    }
    return true;
}

/// A few floors, or a share of the tolerance: with so many bodies the last digits cost a factor each.
static double enough_of_ties(const kki_search *x, double floor) {
    const double enough = kki_sparse_share(KKI_ENOUGH_OF_TIES, x->options->tolerance) * x->options->tolerance;
    return KKI_REST * floor > enough ? KKI_REST * floor : enough;
}

/// What a search knows before it begins. False where the warm start is good enough.
static bool begin_ties(kki_search *x) {
    kki_sparse_scratch *w = x->ties;
    kki_sparse_iterate *best = &w->iterate[KKI_IT_TIES_BEST];
    x->is_cold = is_zero(w->system.nrow, best->lambda);
    x->epsilon = x->is_cold ? 10 * KKI_FIRST_SHIFT : KKI_FIRST_SHIFT;
    x->enough = enough_of_ties(x, w->system.floor);
    if (best->residual <= x->enough) {
        return false;
    }
    if (!is_coarse(x)) {
        const double rounding = kki_sparse_rounding(&w->system, best, w->dz);
        w->system.floor = rounding > w->system.floor ? rounding : w->system.floor;
        x->enough = enough_of_ties(x, w->system.floor);
    }
    kki_sparse_copy(&w->system, best, &w->iterate[KKI_IT_TIES_WARM]);
    x->has_order = kki_sparse_order(w->system.problem, &x->work->size, &w->pattern, &w->graph, w->factor.spot);
    return true;
}

static bool begin_rows(kki_search *x) {
    x->is_cold = is_zero(x->rows->nrow, x->best->lambda);
    kki_iterate_copy(x->rows, x->best, &x->w->iterate[KKI_IT_WARM]);
    // what rests is left alone: a warm start a little above the floor would only be stirred
    return !(x->best->residual <= KKI_REST * x->rows->floor) && !is_at_floor(x);
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
static void settle_slip(kki_search *x) {
    const double before = has_many_rows(x) ? 0 : creep(x->rows, x->best);
    if (!(before > KKI_TELLING_CREEP * x->best->residual)) {
        return;
    }
    kki_iterate_copy(x->rows, x->best, x->trial);
    const bool good = kki_newton_stick(x->rows, x->w, x->trial, x->stats);
    const double most = x->best->residual > x->rows->floor ? x->best->residual : x->rows->floor;
    if (good && x->trial->residual <= most && creep(x->rows, x->trial) < before) {
        kki_iterate_copy(x->rows, x->trial, x->best);
        x->stats->method = KKI_METHOD_NEWTON;
    }
}

/// The last digits of what is solved: by sweeps where statuses are at their edges, and, of what rests or was dear, by Newton's steps, in turns.
static void refine(kki_search *x) {
    kki_iterate *from = &x->w->iterate[KKI_IT_PATH];
    for (int k = 0; k < KKI_LAST_TURNS && is_worth(x, LAST_DIGIT); k++) {
        sweep_near(x);
        if ((x->was_hard || x->is_cold) && is_worth(x, LAST_DIGIT)) {
            kki_iterate_copy(x->rows, x->best, from);
            newton_from(x, from, KKI_LAST_NEWTON, 3);
        }
    }
}

/// The last digits of what is solved.
static void polish(kki_search *x) {
    if (residual(x) > x->options->tolerance) {
        return;
    }
    if (x->rows && !x->options->moves && !x->options->any) {
        refine(x);
    } else if (!x->rows && x->has_order && !is_coarse(x)) {
        x->epsilon = KKI_FIRST_SHIFT;
        newton_ties(x, 4, false);
    }
}

static void try_methods(kki_search *x) {
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
        if (is_asked(x, &strategies[i])) {
            (x->rows ? strategies[i].rows : strategies[i].ties)(x);
        }
    }
    polish(x);
}

void kki_search_run(kki_search *x) {
    if (x->rows && x->options->fixed_sweeps > 0) {
        sweep_budget(x);
    } else if (x->rows ? begin_rows(x) : begin_ties(x)) {
        try_methods(x);
    }
    if (x->rows && x->options->fixed_sweeps == 0 && (x->options->methods & KKI_METHOD_NEWTON)) {
        settle_slip(x);
    }
    x->stats->cut_short = x->rows ? !is_at_floor(x) : residual(x) > x->ties->system.floor;
}
