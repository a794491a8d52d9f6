/// The mean velocity of a step, predicted from the last one: v̄ = v + h a/2 with its mean acceleration a.
///
/// Coriolis and centrifugal forces are quadratic in the velocity. Those of the step's start make the kick a rule of first order, which pumps
/// energy into whatever turns; those of the mean velocity, of second (the implicit midpoint rule takes them at (v₀ + v₁)/2, and v̄ differs from that by
/// O(h²)). The acceleration is history, so it belongs to the state. A hash of q and v tells whether they are still those that it led to, and where
/// something came to bear or struck, the last step says nothing about the next one: v̄ is then v, once.
#include "simulate/predict.h"

#include <karakuri/hash.h>
#include <string.h>

static int is_asked(const kk_simulator *s) {
    return s->layout.size > s->layout.first_change;
}

/// Of all trees that have bias forces.
static uint64_t hash_of(const kk_model *m, const double *q, const double *v) {
    uint64_t h = 1;
    for (int t = 0; t < m->ntree; t++) {
        if (kki_has_bias(m, t)) {
            const int first = m->tree_first_dof[t], end = m->tree_first_dof[t + 1];
            const int q_first = m->node[m->dof_node[first]].q_index;
            const int q_end = end < m->nv ? m->node[m->dof_node[end]].q_index : m->nq;
            h = kk_hash_doubles(q + q_first, (size_t)(q_end - q_first), h);
            h = kk_hash_doubles(v + first, (size_t)(end - first), h);
        }
    }
    return h;
}

static int goes_on(const kk_model *m, const kk_simulator *s, const kk_state *state) {
    const double *hash = kki_state_warm_const(state) + s->layout.first_change + m->nv;
    const uint64_t kept = (uint64_t)hash[KKI_WARM_CHANGE_HASH_HIGH] << 32 | (uint64_t)hash[KKI_WARM_CHANGE_HASH_LOW];
    return kept != 0 && kept == hash_of(m, kk_state_q_const(state), kk_state_v_const(state));
}

void kki_predict_velocity(const kk_model *m, kk_simulator *s, const kk_state *state) {
    double *restrict bias = s->v_bias;
    s->is_predicted = 0;
    const double *v = s->v;
    if (!is_asked(s) || !goes_on(m, s, state)) {
        memcpy(bias, v, (size_t)m->nv * sizeof *bias);
        return;
    }
    const double *a = kki_state_warm_const(state) + s->layout.first_change, half = 0.5 * s->h;
    s->is_predicted = 1;
    memcpy(s->warm + s->layout.first_change, a, (size_t)m->nv * sizeof *a);
    for (int k = 0; k < m->nv; k++) {
        bias[k] = v[k] + half * a[k];
    }
}

/// Trees of islands in which something came to carry load or struck have no acceleration to go on with.
static void forget_struck(const kk_model *m, const kk_simulator *s, double *a) {
    for (int i = 0; i < s->nisland; i++) {
        const kki_island *I = &s->island[i];
        for (int k = 0; k < I->ntree && I->was_struck; k++) {
            const int t = s->tree_order[I->first_tree + k], first = m->tree_first_dof[t];
            memset(a + first, 0, (size_t)(m->tree_first_dof[t + 1] - first) * sizeof *a);
        }
    }
}

/// The mean of what was predicted and what came of it. Loops are held in the mean of a step's start and end, so what of their velocity is off changes sign
/// from step to step; the last acceleration alone would amplify that. @param a  [nv] the prediction, and the result
static void average(int nv, int is_predicted, const double *restrict acceleration, double *restrict a) {
    for (int k = 0; k < nv; k++) {
        a[k] = is_predicted ? 0.5 * (a[k] + acceleration[k]) : acceleration[k];
    }
}

void kki_remember_acceleration(const kk_model *m, kk_simulator *s) {
    if (!is_asked(s)) {
        return;
    }
    double *a = s->warm + s->layout.first_change, *hash = a + m->nv;
    if (s->is_smooth || s->degrades || s->paper) {
        memset(a, 0, (size_t)(m->nv + KKI_WARM_CHANGE_HASHES) * sizeof *a);
        return;
    }
    average(m->nv, s->is_predicted, s->acceleration, a);
    forget_struck(m, s, a);
    const uint64_t h = hash_of(m, s->q, s->v);
    hash[KKI_WARM_CHANGE_HASH_HIGH] = (double)(h >> 32);
    hash[KKI_WARM_CHANGE_HASH_LOW] = (double)(h & 0xffffffffu);
}
