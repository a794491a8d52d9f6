/// What an island is asked for, and what it is asked for instead where that has no answer.
#include <string.h>

#include "simulate/island.h"

/// Compliance of contacts that give way, as a share of their largest own element of G, step by step; and how fast they may: by this share of the fastest that one of
/// them stops, or by this many m/s.
static const double GIVES = 1e-7, GIVES_MORE = 30, MOST_GIVEN = 1e-2, GIVEN_ANYWAY = 1e-4;

/// All rigid contacts of the island give way; those that do already, more.
static void soften(kk_simulator *s, kki_island *I) {
    for (int i = 0; i < I->nconstraint; i++) {
        kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        double own[6], *const r = &s->solution.compliance[c->row];
        if (c->kind != KKI_ON_CONTACT || (!c->gives && *r != 0)) {
            continue;
        }
        kki_rows_own(s, I, c->row - I->first_row, 3, own);
        const double across = own[3] > own[5] ? own[3] : own[5];
        *r = c->gives ? GIVES_MORE * *r : GIVES * (own[0] > across ? own[0] : across);
        c->gives = I->is_soft = 1;
    }
}

/// How fast they do; infinitely, where that is too fast.
static double given(const kk_simulator *s, const kki_island *I) {
    double most = 0, stopped = 0;
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        const double speed = c->gives ? s->solution.compliance[c->row] * s->solution.lambda[c->row] : 0;
        most = speed > most ? speed : most;
        stopped = c->kind == KKI_ON_CONTACT && -s->solution.g[c->row] > stopped ? -s->solution.g[c->row] : stopped;
    }
    return most <= GIVEN_ANYWAY || most <= MOST_GIVEN * stopped ? most : __builtin_inf();
}

/// A problem is posed with all that makes a step good, and some of it may contradict the rest, by nanometers or micrometers a second. Where the ladder finds that out,
/// the step goes without it.
typedef enum posing {
    ALL, ///< as it is posed
    /// Without what closes within the dead band: feet that tilt down to the floor would press each other apart with all the friction they have. They stay as they are.
    STAYS_UP,
    /// Without what turns about its contacts: a link that is wedged so that friction locks it cannot go the way that its joints' turning asks for, however hard it is
    /// pressed (the force that does nothing lies inside its cone). It is held at the end of the step; there rest is an answer.
    TURNS_NOT,
    /// Rows that are all but locked answer micrometers a second with thousands of newton seconds. Where shorter steps have not helped either, contacts give way, and
    /// impulses that have run away begin anew.
    GIVES_WAY,
    GIVES_MOST = GIVES_WAY + 2,
    POSINGS
} posing;

/// Which posings an island has.
static void list_posings(const kk_model *m, const kk_simulator *s, const kki_island *I, int8_t has[POSINGS]) {
    const int is_exact = kki_is_exact(s);
    has[ALL] = 1;
    has[STAYS_UP] = (int8_t)(is_exact && kki_island_may_close_gaps(s, I));
    has[TURNS_NOT] =
        (int8_t)(is_exact && I->has_robot && kki_island_is_reflected(m, s, I)); // joints lock, nothing else does
    for (int k = GIVES_WAY; k <= GIVES_MOST; k++) {
        has[k] = (int8_t)(is_exact && s->retry.may_yield && !I->is_sparse);
    }
}

static void pose_anew(const kk_model *m, kk_simulator *s, kki_island *I, posing which, kki_problem *problem) {
    problem->start = which == ALL ? problem->start : NULL;
    if (which == STAYS_UP) {
        kki_island_keep_gaps(m, s, I);
    } else if (which == TURNS_NOT) {
        kki_island_drop_reflection(m, s, I);
    } else if (which >= GIVES_WAY) {
        soften(s, I);
        problem->compliance = s->solution.compliance + I->first_row;
        memset(s->solution.lambda + I->first_row, 0, (size_t)I->stride * sizeof *s->solution.lambda);
        problem->before = NULL;
    }
}

kk_status kki_island_settle(const kk_model *m, kk_simulator *s, kki_island *I, kki_problem *problem, kk_error *error) {
    kki_certificate proof;
    kki_solver_stats stats = {0};
    kki_solver_options options = kki_island_solver_options(s, I);
    double *lambda = s->solution.lambda + I->first_row, *u = s->solution.u + I->first_row;
    kki_problem posed = *problem;
    int8_t has[POSINGS];
    kk_status status = KK_OK;
    list_posings(m, s, I, has);
    for (int which = ALL; which < POSINGS && status == KK_OK && !stats.solved; which++) {
        if (!has[which]) {
            continue;
        }
        const kki_solver_stats before = stats;
        pose_anew(m, s, I, (posing)which, &posed);
        options.tried = which == ALL && I->is_swept;
        options.brief = (which < STAYS_UP && has[STAYS_UP]) || (which < TURNS_NOT && has[TURNS_NOT]);
        status = kki_island_solve(s, I, &posed, &options, lambda, u, &proof, &stats);
        stats.sweeps += before.sweeps;
        stats.newton += before.newton;
        stats.factorizations += before.factorizations;
        if (which >= GIVES_WAY && status == KK_OK && stats.solved) {
            const double speed = given(s, I);
            stats.solved = speed < __builtin_inf();
            I->report->contact_yield =
                stats.solved && speed > I->report->contact_yield ? speed : I->report->contact_yield;
        }
    }
    problem->compliance = posed.compliance;
    if (status != KK_OK) {
        return kki_island_error(m, s, I, stats.block, status, 0, error);
    }
    kki_island_note(m, s, I, &proof, &stats);
    if (!stats.solved && kki_is_exact(s)) {
        return kki_island_error(m, s, I, proof.worst, KK_NOT_CONVERGED, proof.residual, error);
    }
    I->report->hit_iteration_limit |= !stats.solved;
    return KK_OK;
}
