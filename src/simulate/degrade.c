/// Degraded steps: bounded effort, no energy from nowhere, and a name for what falls short.
///
/// The rungs, from the best answer to the last resort, island by island:
///   sweeps   λ of a fixed number of block Gauss-Seidel sweeps over the true cone; its residual is reported
///   shorter  λ scaled by the largest share t ≤ 1 with |y_free + t Y λ|² ≤ max(|y_free|², |y|²): |y|²/2 is the kinetic energy of scaled
///            velocities (dynamics/kernels/kick.h), so impulses take energy and never give it
///   held     velocities zero, positions kept, where numbers ran out of range
#include "simulate/degrade.h"

#include <string.h>

#include "base/error.h"
#include "base/float_bits.h"
#include "simulate/audit.h"

const char *kk_flaw_name(kk_flaw flaw) {
    static const char *const names[KK_FLAW_COUNT] = {"",
                                                     "residual",
                                                     "energy from nowhere",
                                                     "impulse out of proportion",
                                                     "fast pair",
                                                     "numbers out of range",
                                                     "contacts beyond the room",
                                                     "limit passed or loop opened"};
    return (unsigned)flaw < KK_FLAW_COUNT ? names[flaw] : "";
}

// ---- what may be degraded

static int are_good(const double *x, int count) {
    return !x || kki_are_finite(x, count);
}

int kki_may_degrade(const kk_model *m, const kk_simulator *s, const kk_input *input, kk_status failure) {
    const int is_of_step = failure == KK_NOT_CONVERGED || failure == KK_NOT_FINITE || failure == KK_SINGULAR;
    const int is_good = !input || (are_good(input->control, m->nactuator) && are_good(input->tau, m->nv) &&
                                   are_good(input->wrench ? &input->wrench->angular.x : NULL, 6 * m->nbody));
    return is_of_step && is_good && !s->options.strict && !s->paper;
}

void kki_note_flaw(kk_report *r, kk_step_quality quality, kk_flaw flaw, kk_stage stage, const int body[2],
                   double amount) {
    if (quality > r->quality || (quality == r->quality && flaw == r->flaw && amount > r->flaw_amount)) {
        r->quality = quality;
        r->flaw = flaw;
        r->flaw_stage = stage;
        r->flaw_body[0] = body ? body[0] : -1;
        r->flaw_body[1] = body ? body[1] : -1;
        r->flaw_amount = amount;
    }
}

// ---- islands

static double square_of(const double *x, int count) {
    double sum = 0;
    for (int k = 0; k < count; k++) {
        sum += x[k] * x[k];
    }
    return sum;
}

/// The largest t ≤ 1 with |a + t (b − a)|² ≤ most, where |a|² ≤ most: a root of a convex parabola.
static double longest_share(int n, const double *a, const double *b, double most) {
    double aa = 0, ad = 0, dd = 0;
    for (int k = 0; k < n; k++) {
        const double d = b[k] - a[k];
        aa += a[k] * a[k];
        ad += a[k] * d;
        dd += d * d;
    }
    if (!(aa + 2 * ad + dd > most) || !(dd > 0)) {
        return 1;
    }
    const double room = most > aa ? most - aa : 0;
    const double t = (kk_sqrt(ad * ad + dd * room) - ad) / dd;
    return t > 0 ? (t < 1 ? t : 1) : 0;
}

static void shorten(int n, double t, const double *from, double *x) {
    for (int k = 0; k < n; k++) {
        x[k] = from[k] + t * (x[k] - from[k]);
    }
}

/// A body of the island's first tree, for the report.
static int body_of(const kk_model *m, const kk_simulator *s, const kki_island *I) {
    return m->node_body[m->dof_node[m->tree_first_dof[s->islands.tree_order[I->first_tree]]]];
}

static void hold(const kk_model *m, kk_simulator *s, kki_island *I, double *y_end, double *y_drift) {
    const int body[2] = {body_of(m, s, I), -1};
    memset(s->solution.lambda + I->first_row, 0, (size_t)I->stride * sizeof *s->solution.lambda);
    memset(s->solution.kept + I->first_row, 0, (size_t)I->stride * sizeof *s->solution.kept);
    memset(s->solution.u + I->first_row, 0, (size_t)I->stride * sizeof *s->solution.u);
    memset(y_end, 0, (size_t)I->nv * sizeof *y_end);
    memset(y_drift, 0, (size_t)I->nv * sizeof *y_drift);
    I->report->residual = 0; // of rows that nothing was asked of
    kki_note_flaw(I->report, KK_STEP_HELD, KK_FLAW_RANGE, KK_STAGE_SOLVE, body, 0);
}

void kki_island_degrade(const kk_model *m, kk_simulator *s, kki_island *I, kk_status solved, const double *y,
                        const double *y_free, double *y_end, double *y_drift) {
    const double start = square_of(y, I->nv), free = square_of(y_free, I->nv), most = start > free ? start : free;
    const int is_good = kki_are_finite(y_end, I->nv) && kki_are_finite(y_drift, I->nv) &&
                        kki_are_finite(s->solution.lambda + I->first_row, I->nrow) && most < __builtin_inf();
    if (solved != KK_OK || !is_good) {
        hold(m, s, I, y_end, y_drift);
        return;
    }
    const double share = longest_share(I->nv, y_free, y_end, most), impulse = I->report->impulse;
    const double t = impulse * share > KKI_MOST_IMPULSE ? KKI_MOST_IMPULSE / impulse : share;
    if (t < 1) {
        const int body[2] = {I->report->worst_body[0], I->report->worst_body[1]};
        kki_note_flaw(I->report, KK_STEP_DEGRADED, t < share ? KK_FLAW_IMPULSE : KK_FLAW_ENERGY, KK_STAGE_SOLVE, body,
                      t < share ? impulse : 0.5 * (square_of(y_end, I->nv) - most));
        I->report->impulse = impulse * t;
        shorten(I->nv, t, y_free, y_end);
        for (int r = I->first_row; r < I->first_row + I->nrow; r++) {
            s->solution.lambda[r] *= t;
            s->solution.kept[r] *= t;
        }
        kki_rows_velocity(s, I, y_end, s->solution.u + I->first_row);
        for (int r = I->first_row; r < I->first_row + I->nrow; r++) {
            s->solution.u[r] += s->solution.bias[r] + s->solution.compliance[r] * s->solution.lambda[r];
        }
    }
    // taking overlap back may not throw what it moves
    double off = 0;
    for (int k = 0; k < I->nv; k++) {
        off += (y_drift[k] - y_end[k]) * (y_drift[k] - y_end[k]);
    }
    if (t < 1 || off > most) {
        memcpy(y_drift, y_end, (size_t)I->nv * sizeof *y_drift);
    }
}

// ---- trees

static int is_bad(const kk_model *m, const kk_simulator *s, int tree, int *q_first, int *q_end) {
    const int first = m->tree_first_dof[tree], end = m->tree_first_dof[tree + 1];
    *q_first = m->node[m->dof_node[first]].q_index;
    *q_end = end < m->nv ? m->node[m->dof_node[end]].q_index : m->nq;
    return !kki_are_finite(s->motion.v + first, end - first) ||
           !kki_are_finite(s->motion.q + *q_first, *q_end - *q_first);
}

void kki_hold_bad_trees(const kk_model *m, kk_simulator *s, const kk_state *state) {
    for (int tree = 0; tree < m->ntree; tree++) {
        const int first = m->tree_first_dof[tree], end = m->tree_first_dof[tree + 1];
        int q_first, q_end;
        if (is_bad(m, s, tree, &q_first, &q_end)) {
            const int body[2] = {m->node_body[m->dof_node[first]], -1};
            memset(s->motion.v + first, 0, (size_t)(end - first) * sizeof *s->motion.v);
            memcpy(s->motion.q + q_first, kk_state_q_const(state) + q_first,
                   (size_t)(q_end - q_first) * sizeof *s->motion.q);
            kki_note_flaw(&s->report, KK_STEP_HELD, KK_FLAW_RANGE, KK_STAGE_MOVE, body, 0);
        }
    }
}
