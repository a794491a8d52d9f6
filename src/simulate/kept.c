/// Islands in which all goes on as it did, as under a robot that shifts its weight or slides along: no search is needed.
///
/// What held in the last step, inside its cone or between its bounds, is taken to hold in this one; what was open or at a bound to stay there; and contacts that
/// slid to slide on (contact/modes.h).
///
/// Where that is no solution and a robot moves, something has landed, slipped or come to rest. A few sweeps over what is in question (contact/modes.h) show what, and the modes
/// they end in are tried likewise, and where that tells which of them is wrong, others; what is left then is the search's, which begins where the sweeps ended.
#include <string.h>

#include "contact/cones.h"
#include "contact/modes.h"
#include "contact/tuning.h"
#include "simulate/island.h"

/// Of one contact alone the search makes as short work.
enum { LEAST_ROWS = 4 };
/// ε as a share of the diagonal; and of modes that may hold rows which contradict each other. Those do where so many times as much is left of velocities as ε leaves.
static const double SHIFT = 1e-10, SOFT_SHIFT = 1e-7, AWAY = 100;
/// What the result may be off by, as a share of the tolerance or in floors (which the search would leave so): else it looks. And where nothing better is to be had of what moves.
static const double GOOD = 1e-3, REST = 5, LEAST = 0.5;
/// Sweeps over what is in question, at most.
enum { SWEEPS = 20 };

/// An island, and what is tried on it.
typedef struct trial {
    kki_modes x;
    kk_simulator *s;
    kki_island *I;
    const kki_problem *p;
    double *lambda, *u; ///< as far as one got
    kki_modes_goal goal;
    kki_certificate proof;
    kki_solver_stats stats;
} trial;

/// The factor of what holds is in I->scratch->A, where it may take another's place.
static bool factor(kki_island *I, const kki_problem *p, kki_modes *x) {
    I->factored = I->factor == I->scratch->A ? 0 : I->factored;
    return kki_modes_factor(p, I->scratch->solver.kernels, I->scratch->A, x);
}

/// Of few rows at rest friction at its bound has to point against what slips, however slowly.
static bool creeps(const trial *t) {
    return t->I->nrow <= KKI_LAST_DIGITS_ROWS && t->proof.creep > KKI_TELLING_CREEP * t->proof.residual;
}

/// λ of the modes that are listed, from λ as it is. @param off  by kki_modes_off
static bool solve(trial *t, double off) {
    t->stats.factorizations++;
    return factor(t->I, t->p, &t->x) &&
           kki_modes_solve(t->p, t->I->scratch->solver.kernels, t->I->scratch->A, &t->x, off, &t->goal, t->lambda, t->u,
                           &t->proof, &t->stats) &&
           !creeps(t);
}

// ---- what does not go on

/// Whether sweeps are worth it: what rests would only be stirred, and loops that say the same twice need every digit. And whether they know all laws.
static int may_revise(const kk_simulator *s, const kki_island *I, const kki_solver_options *options) {
    int plain = options->moves && s->effort.newton == 0;
    for (int b = I->first_block; b < I->first_block + I->nblock && plain; b++) {
        const kki_block *block = &s->solution.block[b];
        plain = block->law < KKI_LAW_TORSION && !(block->law == KKI_LAW_CONTACT && block->adhesion != 0);
    }
    return plain;
}

/// Whether something that is open comes nearer, faster than all that holds or slides is off: then it lands, whatever becomes of the others.
static int lands(const kk_simulator *s, const kki_island *I, double off, const double *lambda, const double *u) {
    for (int b = I->first_block; b < I->first_block + I->nblock; b++) {
        const kki_block *block = &s->solution.block[b];
        if ((block->law == KKI_LAW_CONTACT || block->law == KKI_LAW_LIMIT) && lambda[block->row] == 0 &&
            -u[block->row] > off) {
            return 1;
        }
    }
    return 0;
}

/// Other modes than the last step's, by sweeps over all but what held in the attempt, or in the last step where there was none.
static int revise(trial *t) {
    kk_simulator *s = t->s;
    kki_island *I = t->I;
    double *l = s->solution.lambda + I->first_row, *v = s->solution.u + I->first_row;
    int8_t is_open[KKI_MODES_ROWS];
    I->is_swept = 1;
    I->factored = I->factor == I->scratch->A ? 0 : I->factored;
    kki_modes_ask(t->p, t->lambda, is_open);
    t->x.shift = SOFT_SHIFT;
    kki_modes_sweep(t->p, I->scratch->solver.kernels, SWEEPS, is_open, I->scratch->A, &t->x, l, v);
    t->stats.sweeps += SWEEPS;
    if (!kki_modes_list(t->p, l, &t->x)) {
        return 0;
    }
    memcpy(t->lambda, l, (size_t)I->stride * sizeof *l);
    return solve(t, kki_modes_off(&t->x, v)) || kki_modes_amend(t->p, I->scratch->solver.kernels, I->scratch->A, &t->x,
                                                                &t->goal, l, t->lambda, t->u, &t->proof, &t->stats);
}

// ---- what does

/// Rows that say the same, and contradict each other by a trace, send λ along what they have in common, by the trace over ε: two flat soles under a robot whose legs have five joints. More is left of
/// their velocities then than ε leaves. @param off  what there was of them
static int runs_away(trial *t, double off) {
    return t->x.slides.n == 0 && kki_modes_off(&t->x, t->u) > AWAY * SHIFT * off;
}

/// The modes of the last step, which are listed. @param may  with a larger ε as well
static int go_on(trial *t, double off, int may) {
    const double *l = t->s->solution.lambda + t->I->first_row, *v = t->s->solution.u + t->I->first_row;
    t->x.shift = SHIFT;
    t->proof.residual = -1;
    if (solve(t, off)) {
        return 1;
    }
    if (!may || t->proof.residual < 0 || !runs_away(t, off)) {
        return 0;
    }
    t->x.shift = SOFT_SHIFT;
    memcpy(t->lambda, l, (size_t)t->I->stride * sizeof *l);
    return solve(t, kki_modes_off(&t->x, v));
}

kki_kept kki_kept_solve(const kk_model *m, kk_simulator *s, kki_island *I) {
    double *l = s->solution.lambda + I->first_row, *v = s->solution.u + I->first_row;
    if (I->nrow < LEAST_ROWS || I->nrow > KKI_MODES_ROWS || I->is_soft || I->has_dependent_rows ||
        (I->has_loops && I->nrow == I->nblock) || s->effort.sweeps > 0) {
        return KKI_KEPT_UNASKED;
    }
    const kki_solver_options options = kki_island_solver_options(s, I);
    const kki_problem problem = kki_island_problem(s, I, 1);
    const double share = GOOD * options.tolerance, rest = REST * options.floor, good = share > rest ? share : rest;
    trial t;
    t.s = s, t.I = I, t.p = &problem;
    t.goal = (kki_modes_goal){options.floor, good, options.moves ? LEAST * options.tolerance : good};
    t.lambda = s->solution.lambda2 + I->first_row, t.u = s->solution.u2 + I->first_row;
    t.stats = (kki_solver_stats){.solved = true};
    const int is_known = kki_modes_list(&problem, l, &t.x), may = may_revise(s, I, &options);
    if (!is_known && !may) {
        return KKI_KEPT_UNASKED;
    }
    kki_rows_matrix(m, s, I);
    memcpy(t.lambda, l, (size_t)I->stride * sizeof *l);
    I->scratch->solver.kernels->multiply(I->nrow, I->stride, I->scratch->G, l, s->solution.g + I->first_row, v);
    const double off = is_known ? kki_modes_off(&t.x, v) : 0;
    const int may_go_on = is_known && !(may && lands(s, I, off, l, v));
    if (!(may_go_on && go_on(&t, off, may)) && !(may && revise(&t))) {
        kki_note_work(I, &t.stats);
        return KKI_KEPT_NOT;
    }
    memcpy(l, t.lambda, (size_t)I->stride * sizeof *l);
    memcpy(v, t.u, (size_t)I->nrow * sizeof *v);
    kki_island_note(m, s, I, &t.proof, &t.stats);
    return KKI_KEPT_SOLVED;
}

// ---- what has to come out of each other

/// Contacts and limits that bear, or overlap without; their first rows. False where there are none, or more to it than these.
static int list_bearing(const kk_simulator *s, const kki_island *I, double floor, kki_modes *x) {
    x->n = x->slides.n = 0;
    for (int b = 0; b < I->nblock; b++) {
        const kki_block *block = &s->solution.block[I->first_block + b];
        const int row = I->first_row + block->row, is_free = block->lower == 0 && block->upper == 0;
        if (block->law == KKI_LAW_EQUALITY || (block->law == KKI_LAW_BOX && !is_free)) {
            return 0;
        }
        if ((block->law == KKI_LAW_CONTACT || block->law == KKI_LAW_LIMIT) &&
            (s->solution.lambda[row] > 0 || s->solution.g[row] < -floor)) {
            x->row[x->n++] = block->row;
        }
    }
    x->nheld = x->first = x->n;
    x->stride = kki_round4(x->n);
    return x->n > 0;
}

/// Whether nothing overlaps, and nothing is drawn by more than what it bears. @param v  velocities of the pass, g included
static int is_repaired(const kk_simulator *s, const kki_island *I, double floor, const double *lambda,
                       const double *v) {
    int good = 1;
    for (int b = 0; b < I->nblock; b++) {
        const kki_block *block = &s->solution.block[I->first_block + b];
        const int r = block->row, is_fine = v[r] >= -floor && s->solution.lambda[I->first_row + r] + lambda[r] >= 0;
        good &= is_fine || (block->law != KKI_LAW_CONTACT && block->law != KKI_LAW_LIMIT);
    }
    return good;
}

int kki_kept_repair(kk_simulator *s, kki_island *I, double floor, double *lambda) {
    const kki_dense_kernels *kernels = I->scratch->solver.kernels;
    double *v = s->solution.u2 + I->first_row;
    const double *g = s->solution.g + I->first_row;
    kki_modes x;
    x.shift = SHIFT;
    if (!I->has_robot || !I->has_matrix || I->nrow > KKI_MODES_ROWS || I->is_soft || s->effort.sweeps > 0 ||
        !list_bearing(s, I, floor, &x)) {
        return 0;
    }
    const kki_problem problem = kki_island_problem(s, I, 1);
    if (!factor(I, &problem, &x)) {
        return 0;
    }
    I->report->factorizations++;
    for (int i = 0; i < x.stride; i++) {
        x.b[i] = i < x.n && g[x.row[i]] < 0 ? -g[x.row[i]] : 0;
    }
    memset(x.x, 0, (size_t)x.stride * sizeof *x.x);
    kernels->ldl_solve(x.n, x.stride, I->scratch->A, x.inverse, x.b, x.y, x.x);
    memset(lambda, 0, (size_t)I->stride * sizeof *lambda);
    for (int i = 0; i < x.n; i++) {
        lambda[x.row[i]] = x.x[i];
    }
    kernels->multiply(I->nrow, I->stride, I->scratch->G, lambda, g, v);
    return is_repaired(s, I, floor, lambda, v);
}
