/// The classical Runge-Kutta method of fourth order for motion without constraints (S0 uses it throughout).
///
/// Configurations are a manifold, so stages live in the tangent at the start: q = q₀ ⊕ σ with
///     σ̇ = v + [σ, v]/2 + [σ, [σ, v]]/12,
/// the first terms of the inverse of dexp (Munthe-Kaas 1998); for hinges and slides the brackets vanish. Springs, servos
/// and the caller's forces are evaluated at every stage, explicitly.
#include <string.h>

#include "simulate/simulator.h"

static kk_vec3 load3(const double *x) {
    return kk_vec3_make(x[0], x[1], x[2]);
}

static void store3(double *x, kk_vec3 a) {
    x[0] = a.x;
    x[1] = a.y;
    x[2] = a.z;
}

/// [a, b] of rotation vectors, or of twists [ω; u].
static void bracket(int n, const double *a, const double *b, double *out) {
    const kk_vec3 aw = load3(a), bw = load3(b);
    store3(out, kk_vec3_cross(aw, bw));
    if (n == 6) {
        store3(out + 3, kk_vec3_add(kk_vec3_cross(aw, load3(b + 3)), kk_vec3_cross(load3(a + 3), bw)));
    }
}

/// σ̇ of every joint. @param slope [nv] result
static void slopes(const kk_model *m, const double *sigma, const double *v, double *slope) {
    memcpy(slope, v, (size_t)m->nv * sizeof *v);
    for (int i = 1; i < m->nnode; i++) {
        const kki_node *n = &m->node[i];
        if (n->type != KKI_NODE_BALL && n->type != KKI_NODE_FREE) {
            continue;
        }
        const int k = n->v_index, size = n->type == KKI_NODE_FREE ? 6 : 3;
        double once[6], twice[6];
        bracket(size, sigma + k, v + k, once);
        bracket(size, sigma + k, once, twice);
        for (int j = 0; j < size; j++) {
            slope[k + j] += 0.5 * once[j] + twice[j] / 12;
        }
    }
}

/// Acceleration at s->q, s->v.
static kk_status accelerate(const kk_model *m, kk_simulator *s, const kk_input *input, double *a, kk_error *error) {
    const double h = s->h;
    s->data->kernels->aba_prepare(m, &s->data->scratch, s->q, s->v);
    s->h = 0; // forces of this moment
    const kk_status status = kki_apply_forces(m, s, input, error);
    s->h = h;
    if (status == KK_OK) {
        s->data->kernels->aba_solve(m, &s->data->scratch, s->tau, a);
    }
    return status;
}

/// One stage: from the start by `share` of the step along the last stage's slopes.
static kk_status stage(const kk_model *m, kk_simulator *s, const kk_input *input, const double *q0, const double *v0,
                       double share, double weight, kk_error *error) {
    // a and slope hold the last stage's on entry, this one's on return
    double *slope = s->y, *a = s->E, *sigma = s->y_free;
    for (int k = 0; k < m->nv; k++) {
        sigma[k] = share * s->h * slope[k];
        s->v[k] = v0[k] + share * s->h * a[k];
    }
    kk_integrate(m, q0, sigma, s->q);
    slopes(m, sigma, s->v, slope);
    const kk_status status = accelerate(m, s, input, a, error);
    for (int k = 0; k < m->nv; k++) {
        s->y_end[k] += weight * a[k];
        s->y_drift[k] += weight * slope[k];
    }
    return status;
}

kk_status kki_rk4(const kk_model *model, kk_simulator *s, const kk_state *state, const kk_input *input,
                  kk_error *error) {
    const double *q0 = kk_state_q_const(state), *v0 = kk_state_v_const(state);
    static const double share[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    const size_t bytes = (size_t)model->nv * sizeof(double);
    memset(s->y, 0, bytes);
    memset(s->E, 0, bytes);
    memset(s->y_end, 0, bytes);
    memset(s->y_drift, 0, bytes);
    kk_status status = KK_OK;
    for (int i = 0; i < 4 && status == KK_OK; i++) {
        status = stage(model, s, input, q0, v0, share[i], weight[i], error);
    }
    if (status != KK_OK) {
        return status;
    }
    for (int k = 0; k < model->nv; k++) {
        s->acceleration[k] = s->y_end[k];
        s->v_kick[k] = v0[k];
        s->v[k] = s->v_kicked[k] = v0[k] + s->h * s->y_end[k];
        s->drift[k] = s->h * s->y_drift[k];
        s->servo[k] = s->passive[k] = 0;
    }
    kk_integrate(model, q0, s->drift, s->q);
    return KK_OK;
}
