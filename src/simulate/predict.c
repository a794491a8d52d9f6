/// The mean velocity of a step, predicted from the last three: v̄ = v + h a/2, with a what their mean accelerations lead to.
///
/// Coriolis and centrifugal forces are quadratic in the velocity. Those of the step's start make the kick a rule of first order, which pumps
/// energy into whatever turns; those of the mean velocity, of second (the implicit midpoint rule takes them at (v₀ + v₁)/2, and what v̄ differs from that
/// by drains or pumps energy for ever). a is that of a parabola through the last three, so v̄ is off by O(h⁴) only; where they do not change evenly, as
/// those of loops that close and of what sticks and slips do not, it is the mean of two. They are remembered in the axes of the parent, those of ball and free joints, too: in
/// its own axes a top's acceleration goes round with its spin. Accelerations are history, so they belong to the state. A mark of q and v tells whether they
/// are still those that it led to; where something came to bear or struck, the last steps say nothing about the next one, and v̄ is v, once.
#include "simulate/predict.h"

#include <string.h>

#include "simulate/drift.h"

static int is_asked(const kk_simulator *s) {
    return s->warm_start.layout.size > s->warm_start.layout.first_change;
}

/// Of all trees that have bias forces.
static uint64_t mark_of(const kk_model *m, const double *q, const double *v) {
    uint64_t mark = 1;
    for (int t = 0; t < m->ntree; t++) {
        mark = kki_has_bias(m, t) ? kki_tree_mark(m, t, q, v, mark) : mark;
    }
    return mark;
}

static int goes_on(const kk_model *m, const kk_simulator *s, const kk_state *state) {
    const double *hash = kki_state_warm_const(state) + s->warm_start.layout.first_change + KKI_WARM_CHANGES * m->nv;
    const uint64_t kept = (uint64_t)hash[KKI_WARM_CHANGE_HASH_HIGH] << 32 | (uint64_t)hash[KKI_WARM_CHANGE_HASH_LOW];
    return kept != 0 && kept == mark_of(m, kk_state_q_const(state), kk_state_v_const(state));
}

static void turn(kk_mat3 R, double *a) {
    const kk_vec3 x = kk_mat3_mul_vec(R, kk_vec3_make(a[0], a[1], a[2]));
    a[0] = x.x;
    a[1] = x.y;
    a[2] = x.z;
}

/// Accelerations of ball and free joints from their own axes at q to those of the parent, or back.
static void turn_all(const kk_model *m, const double *q, int is_back, double *a) {
    for (int i = 0; i < m->nbroad; i++) {
        const int node = m->broad[i], k = m->node[node].v_index;
        const double *at = q + m->angle_index[node];
        const kk_mat3 R = kk_quat_to_mat3((kk_quat){at[0], at[1], at[2], at[3]});
        for (int n = 0; n < m->node_nv[node]; n += 3) {
            turn(is_back ? kk_mat3_transpose(R) : R, a + k + n);
        }
    }
}

/// Share of the last two changes by which they may differ where they tell of a third.
static const double STEADY = 0.4;

/// What comes behind c, b, a: on a parabola where their changes are alike, else the mean of the last two.
static inline double foretell(double a, double b, double c) {
    const double d = a - b, before = b - c, off = __builtin_fabs(d - before);
    const double x = __builtin_fabs(d), y = __builtin_fabs(before);
    return off <= STEADY * (x > y ? x : y) ? a + 2 * d - before : 0.5 * (a + b);
}

/// a of the last three, [nv] each.
static void extrapolate(int nv, const double *restrict last, double *restrict a) {
    for (int k = 0; k < nv; k++) {
        a[k] = foretell(last[k], last[nv + k], last[2 * nv + k]);
    }
}

void kki_predict_velocity(const kk_model *m, kk_simulator *s, const kk_state *state) {
    double *restrict bias = s->motion.v_bias;
    s->motion.is_predicted = s->motion.is_fresh = 0;
    const double *v = s->motion.v;
    if (!is_asked(s) || !goes_on(m, s, state)) {
        s->motion.is_fresh = is_asked(s) && !kki_is_zero(v, m->nv);
        memcpy(bias, v, (size_t)m->nv * sizeof *bias);
        return;
    }
    const double *a = kki_state_warm_const(state) + s->warm_start.layout.first_change, half = 0.5 * s->h;
    s->motion.is_predicted = 1;
    memcpy(s->warm_start.value + s->warm_start.layout.first_change, a, KKI_WARM_CHANGES * (size_t)m->nv * sizeof *a);
    extrapolate(m->nv, a, bias);
    turn_all(m, s->motion.q, 1, bias);
    for (int k = 0; k < m->nv; k++) {
        bias[k] = v[k] + half * bias[k];
    }
}

/// Trees of islands in which something came to carry load or struck have no acceleration to go on with.
static void forget_struck(const kk_model *m, const kk_simulator *s, double *a) {
    for (int i = 0; i < s->islands.count; i++) {
        const kki_island *I = &s->islands.list[i];
        for (int k = 0; k < I->ntree && I->has_impacts; k++) {
            const int t = s->islands.tree_order[I->first_tree + k], first = m->tree_first_dof[t];
            for (int n = 0; n < KKI_WARM_CHANGES; n++) {
                memset(a + n * m->nv + first, 0, (size_t)(m->tree_first_dof[t + 1] - first) * sizeof *a);
            }
        }
    }
}

/// The last acceleration comes in front of those before it. Where there is none before, or nothing was known of it, it stands for them.
static void remember(int nv, int is_predicted, const double *restrict last, double *restrict a) {
    double *b = a + nv, *c = b + nv;
    for (int k = 0; k < nv; k++) {
        const int is_new = !is_predicted || (a[k] == 0 && b[k] == 0);
        c[k] = is_new ? last[k] : b[k];
        b[k] = is_new ? last[k] : a[k];
        a[k] = last[k];
    }
}

/// Of a substep that is this much shorter than a step, or more, no acceleration is taken over: a trace of velocity that it corrects is, over its length, one that a
/// whole step would multiply. What was known before goes on.
static const double SHORT_SUBSTEP = 0.25;

void kki_remember_acceleration(const kk_model *m, kk_simulator *s) {
    if (!is_asked(s)) {
        return;
    }
    double *a = s->warm_start.value + s->warm_start.layout.first_change, *hash = a + KKI_WARM_CHANGES * m->nv;
    const int is_short = s->h <= SHORT_SUBSTEP * s->options.timestep;
    if (s->rk4.is_used || s->retry.degrades || s->paper || (is_short && !s->motion.is_predicted)) {
        memset(a, 0, (size_t)(KKI_WARM_CHANGES * m->nv + KKI_WARM_CHANGE_HASHES) * sizeof *a);
        return;
    }
    if (!is_short) {
        memcpy(s->rk4.v_part, s->motion.acceleration, (size_t)m->nv * sizeof *s->rk4.v_part); // free by now
        turn_all(m, s->motion.q_middle, 0, s->rk4.v_part);
        remember(m->nv, s->motion.is_predicted, s->rk4.v_part, a);
    }
    forget_struck(m, s, a);
    const uint64_t h = mark_of(m, s->motion.q, s->motion.v);
    hash[KKI_WARM_CHANGE_HASH_HIGH] = (double)(h >> 32);
    hash[KKI_WARM_CHANGE_HASH_LOW] = (double)(h & 0xffffffffu);
}
