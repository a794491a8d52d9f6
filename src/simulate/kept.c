/// Islands in which all goes on as it did, as under a robot that shifts its weight or slides along: no ladder is needed.
///
/// What held in the last step, inside its cone or between its bounds, is taken to hold in this one; what was open or at a bound to stay there; and contacts that
/// slid to slide on (contact/modes.h).
///
/// Where that is no solution and a robot moves, something has landed, slipped or come to rest. A few sweeps over what is in question (contact/modes.h) show what, and the modes
/// they end in are tried likewise, and where that tells which of them is wrong, others; what is left then is the ladder's, which begins where the sweeps ended.
#include <string.h>

#include "contact/cones.h"
#include "contact/modes.h"
#include "simulate/island.h"

/// Of one contact alone the ladder makes as short work.
enum { LEAST_ROWS = 4 };
/// ε as a share of the diagonal; and where sweeps have found the modes, which may hold rows that contradict each other.
static const double SHIFT = 1e-10, REVISED_SHIFT = 1e-7;
/// What the result may be off by, as a share of the tolerance or in floors (which the ladder would leave so): else it looks.
static const double GOOD = 1e-3, REST = 5;
/// Sweeps over what is in question, at most.
enum { SWEEPS = 20 };

/// The factor of what holds is in s->A, where it may take another's place.
static bool factor(kk_simulator *s, kki_island *I, const kki_problem *p, kki_modes *x) {
    I->factored = I->factor == s->A ? 0 : I->factored;
    return kki_modes_factor(p, s->solver.kernels, s->A, x);
}

// ---- what does not go on

/// Whether sweeps are worth it: what rests would only be stirred, and loops that say the same twice need every digit. And whether they know all laws.
static int may_revise(const kk_simulator *s, const kki_island *I, const kki_solver_options *options) {
    int plain = options->moves && s->options.max_newton == 0;
    for (int b = I->first_block; b < I->first_block + I->nblock && plain; b++) {
        const kki_block *block = &s->block[b];
        plain = block->law < KKI_LAW_TORSION && !(block->law == KKI_LAW_CONTACT && block->adhesion != 0);
    }
    return plain;
}

/// Whether something that is open comes nearer, faster than all that holds or slides is off: then it lands, whatever becomes of the others.
static int lands(const kk_simulator *s, const kki_island *I, double off, const double *lambda, const double *u) {
    for (int b = I->first_block; b < I->first_block + I->nblock; b++) {
        const kki_block *block = &s->block[b];
        if ((block->law == KKI_LAW_CONTACT || block->law == KKI_LAW_LIMIT) && lambda[block->row] == 0 &&
            -u[block->row] > off) {
            return 1;
        }
    }
    return 0;
}

/// Other modes than the last step's, by sweeps over all but what held in the attempt, or in the last step where there was none. @param lambda  as far as one got
static int revise(kk_simulator *s, kki_island *I, const kki_problem *p, const kki_modes_goal *goal, kki_modes *x,
                  double *lambda, double *u, kki_certificate *proof, kki_solver_stats *stats) {
    const kki_dense_kernels *kernels = s->solver.kernels;
    double *l = s->lambda + I->first_row, *v = s->u + I->first_row;
    int8_t is_open[KKI_MODES_ROWS];
    I->is_revised = 1;
    I->factored = I->factor == s->A ? 0 : I->factored;
    kki_modes_ask(p, lambda, is_open);
    x->shift = REVISED_SHIFT;
    kki_modes_sweep(p, kernels, SWEEPS, is_open, s->A, x, l, v);
    stats->sweeps += SWEEPS;
    if (!kki_modes_list(p, l, x) || !factor(s, I, p, x)) {
        return 0;
    }
    stats->factorisations++;
    memcpy(lambda, l, (size_t)I->stride * sizeof *lambda);
    return kki_modes_solve(p, kernels, s->A, x, kki_modes_off(x, v), goal, lambda, u, proof, stats) ||
           kki_modes_amend(p, kernels, s->A, x, goal, l, lambda, u, proof, stats);
}

kki_kept kki_kept_solve(const kk_model *m, kk_simulator *s, kki_island *I) {
    double *lambda = s->lambda2 + I->first_row, *u = s->u2 + I->first_row, *v = s->u + I->first_row;
    kki_modes x;
    x.shift = SHIFT;
    if (I->nrow < LEAST_ROWS || I->nrow > KKI_MODES_ROWS || I->is_soft || I->repeats ||
        (I->closes && I->nrow == I->nblock) || s->options.budget > 0) {
        return KKI_KEPT_UNASKED;
    }
    const kki_solver_options options = kki_island_solver_options(s, I);
    const kki_problem problem = kki_island_problem(s, I, 1);
    const int is_known = kki_modes_list(&problem, s->lambda + I->first_row, &x), may = may_revise(s, I, &options);
    if (!is_known && !may) {
        return KKI_KEPT_UNASKED;
    }
    kki_solver_stats stats = {.solved = true};
    kki_rows_matrix(m, s, I);
    memcpy(lambda, s->lambda + I->first_row, (size_t)I->stride * sizeof *lambda);
    s->solver.kernels->multiply(I->nrow, I->stride, s->G, lambda, s->g + I->first_row, v);
    const double share = GOOD * options.tolerance, rest = REST * options.floor;
    const kki_modes_goal goal = {options.floor, share > rest ? share : rest};
    kki_certificate proof;
    const double off = is_known ? kki_modes_off(&x, v) : 0;
    const int may_go_on = is_known && !(may && lands(s, I, off, lambda, v));
    stats.factorisations = may_go_on;
    const int goes_on = may_go_on && factor(s, I, &problem, &x) &&
                        kki_modes_solve(&problem, s->solver.kernels, s->A, &x, off, &goal, lambda, u, &proof, &stats);
    if (!goes_on && !(may && revise(s, I, &problem, &goal, &x, lambda, u, &proof, &stats))) {
        kki_note_work(s, &stats);
        return KKI_KEPT_NOT;
    }
    memcpy(s->lambda + I->first_row, lambda, (size_t)I->stride * sizeof *lambda);
    memcpy(v, u, (size_t)I->nrow * sizeof *u);
    kki_island_note(m, s, I, &proof, &stats);
    return KKI_KEPT_SOLVED;
}

// ---- what has to come out of each other

/// Contacts and limits that bear, or overlap without; their first rows. False where there are none, or more to it than these.
static int list_bearing(const kk_simulator *s, const kki_island *I, double floor, kki_modes *x) {
    x->n = x->slides.n = 0;
    for (int b = 0; b < I->nblock; b++) {
        const kki_block *block = &s->block[I->first_block + b];
        const int row = I->first_row + block->row, is_free = block->lower == 0 && block->upper == 0;
        if (block->law == KKI_LAW_EQUALITY || (block->law == KKI_LAW_BOX && !is_free)) {
            return 0;
        }
        if ((block->law == KKI_LAW_CONTACT || block->law == KKI_LAW_LIMIT) &&
            (s->lambda[row] > 0 || s->g[row] < -floor)) {
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
        const kki_block *block = &s->block[I->first_block + b];
        const int r = block->row, is_fine = v[r] >= -floor && s->lambda[I->first_row + r] + lambda[r] >= 0;
        good &= is_fine || (block->law != KKI_LAW_CONTACT && block->law != KKI_LAW_LIMIT);
    }
    return good;
}

int kki_kept_repair(kk_simulator *s, kki_island *I, double floor, double *lambda) {
    const kki_dense_kernels *kernels = s->solver.kernels;
    double *v = s->u2 + I->first_row;
    const double *g = s->g + I->first_row;
    kki_modes x;
    x.shift = SHIFT;
    if (!I->has_robot || !I->has_matrix || I->nrow > KKI_MODES_ROWS || I->is_soft || s->options.budget > 0 ||
        !list_bearing(s, I, floor, &x)) {
        return 0;
    }
    const kki_problem problem = kki_island_problem(s, I, 1);
    if (!factor(s, I, &problem, &x)) {
        return 0;
    }
    s->report.factorisations++;
    for (int i = 0; i < x.stride; i++) {
        x.b[i] = i < x.n && g[x.row[i]] < 0 ? -g[x.row[i]] : 0;
    }
    memset(x.x, 0, (size_t)x.stride * sizeof *x.x);
    kernels->ldl_solve(x.n, x.stride, s->A, x.inverse, x.b, x.y, x.x);
    memset(lambda, 0, (size_t)I->stride * sizeof *lambda);
    for (int i = 0; i < x.n; i++) {
        lambda[x.row[i]] = x.x[i];
    }
    kernels->multiply(I->nrow, I->stride, s->G, lambda, g, v);
    return is_repaired(s, I, floor, lambda, v);
}
