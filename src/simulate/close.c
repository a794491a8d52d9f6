/// Closing loops and couplings at the end of a step, to rounding.
///
/// The position pass of a step works with the rows of its middle, which leaves errors of second order in the way moved.
/// Where there are loops or couplings, positions are therefore projected once more at the end: with rows and factor of
/// that configuration, the smallest change in the sense of M that takes the error away, twice or thrice until it is gone
/// (Newton's method; S0's closed links). What the velocity has along the same rows, of third order in the step, is taken away alike:
/// the mirror that loops see in a step (resolve.c) would otherwise keep it for ever.
#include <string.h>

#include "simulate/island.h"

enum { MOST_ROUNDS = 4 };

/// Errors below this are rounding, m or rad; and those of which a round, whose error is that of a square, leaves only rounding.
static const double CLOSED = 1e-13, SMALL = 1e-8;
/// Speed along a loop's rows that is left, m/s or rad/s.
static const double STEADY = 1e-7;

static int is_held(const kk_model *m) {
    return m->nloop > 0 || m->ncoupling > 0;
}

/// The rows' errors as g; the largest.
static double errors(kk_simulator *s, const kki_island *I) {
    double worst = 0;
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraint[s->order[I->first_constraint + i]];
        for (int r = 0; r < c->nrow; r++) {
            const double error = s->compliance[c->row + r] == 0 ? c->gap[r] : 0;
            s->g[c->row + r] = error;
            worst = __builtin_fabs(error) > worst ? __builtin_fabs(error) : worst;
        }
    }
    return worst;
}

/// The rows' velocities as g; the largest.
static double speeds(const kk_model *m, kk_simulator *s, const kki_island *I) {
    double *y = s->local[1], worst = 0;
    kki_island_gather(m, s, I, s->y, y);
    kki_rows_velocity(s, I, y, s->g + I->first_row);
    for (int r = I->first_row; r < I->first_row + I->nrow; r++) {
        s->g[r] = s->compliance[r] == 0 ? s->g[r] : 0;
        worst = __builtin_fabs(s->g[r]) > worst ? __builtin_fabs(s->g[r]) : worst;
    }
    return worst;
}

/// Change of the island's positions or velocities that takes g away, in scaled coordinates, added to `change`.
static int take_away(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_problem *problem,
                     double *change) {
    double *dy = s->local[0], *lambda = s->lambda + I->first_row;
    kki_certificate proof;
    kki_solver_stats stats;
    const kki_solver_options options = kki_island_solver_options(s, I);
    memset(lambda, 0, (size_t)I->stride * sizeof *lambda);
    if (kki_island_solve(s, I, problem, &options, lambda, s->u + I->first_row, &proof, &stats) != KK_OK) {
        return 0;
    }
    memset(dy, 0, (size_t)I->nv * sizeof *dy);
    kki_rows_add(s, I, lambda, dy);
    kki_island_scatter(m, s, I, dy, change);
    return 1;
}

/// Changes of the island's positions, into y_drift, and velocities, into y_end.
static int project(const kk_model *m, kk_simulator *s, const kki_island *I) {
    const kki_warm_layout w = s->layout;
    kki_island_begin(m, s, I, &w, s->warm);
    const double gap = errors(s, I);
    if (gap <= CLOSED) {
        return 0;
    }
    kki_rows_build(m, s, I);
    kki_island_free_dead_rows(s, I);
    if (gap > SMALL) {
        kki_island_free_dependent_rows(m, s, I);
    }
    const int wants_matrix = !I->is_wide && I->nrow <= s->most_dense_rows;
    if (wants_matrix) {
        kki_rows_matrix(m, s, I);
    }
    const kki_problem problem = kki_island_problem(s, I, wants_matrix);
    const int changed = take_away(m, s, I, &problem, s->y_drift);
    if (changed && speeds(m, s, I) > STEADY) {
        take_away(m, s, I, &problem, s->y_end);
    }
    return changed;
}

/// The widest gap of a loop or coupling, soft ones included.
static double widest(const kk_simulator *s) {
    double worst = 0;
    for (int i = 0; i < s->nconstraint; i++) {
        for (int r = 0; r < s->constraint[i].nrow; r++) {
            const double gap = __builtin_fabs(s->constraint[i].gap[r]);
            worst = gap > worst ? gap : worst;
        }
    }
    return worst;
}

/// One round of Newton's method; true where another may be needed.
static int close_once(const kk_model *m, kk_simulator *s) {
    const size_t bytes = (size_t)m->nv * sizeof(double);
    memset(s->dv, 0, bytes);
    memset(s->y_drift, 0, bytes);
    memset(s->y_end, 0, bytes);
    s->ncontact = 0;
    if (m->nloop > 0) {
        s->data->kernels->kick_prepare(m, &s->data->scratch, s->q, s->v);
    }
    kki_constrain_loops(m, s);
    const double gap = widest(s);
    if (gap <= CLOSED || kki_divide(m, s, NULL) != KK_OK) {
        return 0;
    }
    if (m->nloop == 0) { // couplings are seen in q alone
        s->data->kernels->kick_prepare(m, &s->data->scratch, s->q, s->v);
    }
    s->data->kernels->kick_factor(m, &s->data->scratch, m->dof_armature, s->dv, s->v, s->E, s->y);
    int changed = 0;
    for (int i = 0; i < s->nisland; i++) {
        changed |= project(m, s, &s->island[i]);
    }
    if (changed) {
        s->data->kernels->kick_apply(m, &s->data->scratch, s->y_drift, s->dv);
        kk_integrate(m, s->q, s->dv, s->q);
        s->data->kernels->kick_apply(m, &s->data->scratch, s->y_end, s->dv);
        for (int k = 0; k < m->nv; k++) {
            s->v[k] += s->dv[k];
        }
    }
    return changed && gap > SMALL;
}

void kki_close_loops(const kk_model *model, kk_simulator *s) {
    if (!is_held(model)) {
        return;
    }
    const int contacts = s->ncontact, constraints = s->nconstraint, islands = s->nisland;
    for (int round = 0; round < MOST_ROUNDS && close_once(model, s); round++) {
    }
    s->ncontact = contacts;
    s->nconstraint = constraints;
    s->nisland = islands;
}
