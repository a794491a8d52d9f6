/// The position pass: overlap and open loops are repaired by a second solution that moves positions alone (docs/maths/step.md).
#include <string.h>

#include "simulate/constraint.h"
#include "simulate/island.h"

/// Overlap that is repaired in a pile, m, and by how many sweeps: it is gone after some steps.
static const double LEAST_OF_PILES = 1e-8;
/// The same of links that their joints jam: no answer is better than another. (Two robots that overlap come apart by a good one: two arms were rid of each
/// other in 0.1 s, and stay jammed for ever by six sweeps.)
enum { SWEEPS_OF_PILES = 10, SWEEPS_OF_JAMS = 6 };
/// Of more rows than this, and where bodies overlap deeply, what is found with few factors will do, where effort is bounded at all: the rest is eased out in the next steps.
enum { ROWS_OF_LADDER = 96, FEW_FACTORS = 8 };
/// What is left alone, m: overlap, which does not grow, for nothing moves it; and a gap in a loop or coupling, which is closed later. Where that takes no
/// ladder, a much smaller one is closed at once: a trace in every step would add up to what has to be closed later.
static const double OVERLAP = 1e-7, OPEN_LOOP = 1e-6, TRACE_OF_LOOP = 3e-11;

/// Share of the overlap that is left alone to which it is repaired.
static const double ENOUGH = 1e-2;

/// What the position pass has to do: speeds of the rows that it repairs, and whether any is worth it.
typedef struct repair {
    double half, rate, most, least; ///< half a step and its inverse; fastest repair, m/s; overlap that is left alone, m
    int needed, opens;              ///< some row asks for it; some loop is open by a trace
} repair;

/// Whether a contact is that of an impact, and its bodies go back to where they met.
static int was_struck(const kk_simulator *s, const kki_constraint *c) {
    const kki_contact *k = &s->contacts.list[c->kind == KKI_ON_CONTACT ? c->item : 0];
    return s->fast.nstruck > 0 && c->kind == KKI_ON_CONTACT && kki_struck_pair(s, k->shape[0], k->shape[1]);
}

/// Fastest repair of a row. A stop of a joint or tendon, or an impact, that was met in the first half of the step is where the motion ended: all of what came
/// behind it is taken back, however fast it was.
static double most_of(const kk_simulator *s, const kki_constraint *c, const repair *x) {
    const int is_stop = kki_is_stop(c) && c->kind != KKI_ON_OVERLAP;
    return was_struck(s, c)                               ? __builtin_inf()
           : is_stop && -s->solution.u0[c->row] > x->most ? -s->solution.u0[c->row]
                                                          : x->most;
}

/// Speed at which row r of a constraint comes out wrong in the half step that is left, capped. @param u  of the row, as it drifts
static double wrong_rate(const kk_simulator *s, const kki_constraint *c, int r, double u, repair *x) {
    const int both = kki_is_closure(c);
    if (r >= c->npositions || (s->solution.compliance[c->row + r] != 0 && c->kind != KKI_ON_OVERLAP)) {
        return 0;
    }
    // what swings through the middle comes down by less than its speed there says
    const double swing = c->kind == KKI_ON_CONTACT ? (r == 0 ? 0.5 * s->contacts.list[c->item].swing : 0)
                         : c->kind == KKI_ON_LOOP  ? 0.5 * s->solution.bias[c->row + r] // reflected
                                                   : 0;
    const double rate = u + swing + c->gap[r] * x->rate, most = most_of(s, c, x);
    const double capped = rate < -most ? -most : both && rate > most ? most : rate;
    x->needed |= both ? __builtin_fabs(capped) * x->half > OPEN_LOOP : capped * x->half < -x->least;
    x->opens |= both && __builtin_fabs(capped) * x->half > TRACE_OF_LOOP;
    return capped;
}

/// @param u  velocities of the rows as they drift    @param g  what the pass is asked for; may be u
static void find_repair(const kk_simulator *s, const kki_island *I, const double *u, double *g, repair *x) {
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        const int row = c->row - I->first_row;
        g[row] = wrong_rate(s, c, 0, u[row], x);
        for (int r = 1; c->kind != KKI_ON_CONTACT && r < c->nrow; r++) {
            g[row + r] = wrong_rate(s, c, r, u[row + r], x);
        }
    }
}

/// Of contacts only the first row is a position, and of what moves positions nothing meets friction in joints: they are pushed to where they have to be. (Nobody
/// asks for these bounds again in this step.)
static void forget_friction(kk_simulator *s, const kki_island *I) {
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        if (c->kind == KKI_ON_CONTACT) {
            memset(s->solution.g + c->row + 1, 0, (size_t)(c->nrow - 1) * sizeof *s->solution.g);
        } else if (kki_is_dry(c)) {
            s->solution.block[c->block].lower = s->solution.block[c->block].upper = 0;
        }
    }
}

/// How many times as far as its rows ask for, one by one, a repair may move things.
static const double FARTHEST = 100;

/// Rows that say almost the same of a mechanism near a dead point ask it to go meters for millimeters: it goes that way, but not that far.
static void add_repair(const kk_simulator *s, const kki_island *I, double *lambda, double *y_drift) {
    double *dy = I->scratch->change, way = 0, asked = 0;
    if (I->is_sparse) { // of bodies without joints
        kki_rows_add(s, I, lambda, y_drift);
        return;
    }
    memset(dy, 0, (size_t)I->nv * sizeof *dy);
    kki_rows_add(s, I, lambda, dy);
    for (int k = 0; k < I->nv; k++) {
        way += dy[k] * dy[k];
    }
    for (int r = 0; r < I->nrow; r++) {
        const double g = s->solution.g[I->first_row + r];
        double own = 0;
        if (lambda[r] != 0 && g != 0) {
            kki_rows_own(s, I, r, 1, &own);
            asked += own > 0 ? g * g / own : 0;
        }
    }
    const double most = FARTHEST * FARTHEST * asked, share = way > most ? __builtin_sqrt(most / way) : 1;
    for (int k = 0; k < I->nv; k++) {
        y_drift[k] += share * dy[k];
    }
}

/// Whether all that overlaps deeply is within robots, whose joints hold it there.
static int is_jammed(const kk_model *m, const kk_simulator *s, const kki_island *I) {
    for (int i = 0; i < I->nconstraint && I->has_overlap; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        if (c->kind == KKI_ON_OVERLAP && !kki_is_within_tree(m, &s->contacts.list[c->item])) {
            return 0;
        }
    }
    return I->has_overlap;
}

/// The second half drift must not leave overlap or open loops: the same operator and laws, for a velocity that moves
/// positions alone and is then thrown away.
kk_status kki_island_repair(const kk_model *m, kk_simulator *s, kki_island *I, const kki_problem *problem,
                            const double *y_end, double *y_drift) {
    const double half = 0.5 * s->h;
    repair x = {half, 1 / half, s->options.correction / half, I->is_sparse ? LEAST_OF_PILES : OVERLAP, 0, 0};
    double *g = s->solution.g + I->first_row, *lambda = s->solution.lambda2 + I->first_row;
    const double *u = s->solution.u_end + I->first_row; // known from the books
    if (memcmp(y_drift, y_end, (size_t)I->nv * sizeof *y_end) != 0) {
        kki_rows_velocity(s, I, y_drift, g);
        u = g;
    }
    find_repair(s, I, u, g, &x);
    const int needed = x.needed, opens = x.opens;
    if (!needed) {
        if (opens && kki_few_rows_drawn(s, I, lambda)) {
            kki_rows_add(s, I, lambda, y_drift);
        }
        return KK_OK;
    }
    forget_friction(s, I);
    kki_certificate proof;
    kki_solver_stats stats;
    kki_solver_options options = kki_island_solver_options(s, I);
    options.fixed_sweeps = I->is_sparse ? SWEEPS_OF_PILES : is_jammed(m, s, I) ? SWEEPS_OF_JAMS : options.fixed_sweeps;
    const int is_large = I->nrow > ROWS_OF_LADDER || I->has_overlap;
    options.factors = is_large && options.factors > FEW_FACTORS ? FEW_FACTORS : options.factors;
    options.any = options.unproven = options.brief =
        true; // overlap on all sides has no answer: what is found soon will do
    options.floor = I->has_loops ? options.floor : ENOUGH * x.least / half; // what is left of it is left alone
    options.tolerance = options.tolerance > options.floor ? options.tolerance : options.floor;
    if (kki_kept_repair(s, I, options.floor, lambda)) {
        add_repair(s, I, lambda, y_drift);
        return KK_OK;
    }
    memset(lambda, 0, (size_t)I->stride * sizeof *lambda);
    const kk_status status =
        kki_island_solve(s, I, problem, &options, lambda, s->solution.u2 + I->first_row, &proof, &stats);
    if (status == KK_OK) {
        add_repair(s, I, lambda, y_drift);
        kki_note_work(I, &stats);
    }
    return status;
}

/// Whether a contact overlaps by so much that the position pass will move it.
int kki_island_overlaps(const kk_simulator *s, const kki_island *I) {
    const double least = I->is_sparse ? LEAST_OF_PILES : OVERLAP;
    int any = 0;
    for (int i = 0; i < I->nconstraint && !any; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        any = c->kind == KKI_ON_OVERLAP || (c->kind == KKI_ON_CONTACT && c->gap[0] < -least);
    }
    return any;
}
