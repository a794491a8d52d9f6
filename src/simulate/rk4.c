/// The classical Runge-Kutta method of fourth order for motion without constraints (S0 uses it throughout).
///
/// Configurations are a manifold, so stages live in the tangent at the start: q = q₀ ⊕ σ with
///     σ̇ = v + [σ, v]/2 + [σ, [σ, v]]/12,
/// the first terms of the inverse of dexp (Munthe-Kaas 1998); for hinges and slides the brackets vanish. Springs, servos
/// and the caller's forces are evaluated at every stage, explicitly.
///
/// Where nothing but gravity acts, the energy of a tree is known at the end of the step: its velocities are scaled by what is missing, of
/// the order of the method's error, so that it is (projection; Hairer, Lubich and Wanner, Geometric numerical integration,
/// IV.4).
///
/// Dry friction of joints is a constant force while they slide. Where one turns round inside the step, the step is cut at the
/// root of its velocity and goes on with the friction's sign changed; where it would stick, the step is left to the
/// midpoint rule.
#include <string.h>

#include "simulate/simulator.h"
#include "simulate/tendons.h"

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
void kki_rk4_slopes(const kk_model *m, const double *sigma, const double *v, double *slope) {
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

/// Whether a force from outside acts on any body.
static int is_pushed(const kk_model *m, const kk_simulator *s) {
    int any = 0;
    for (int i = 1; i < m->nnode; i++) {
        const double *f = &s->readout.outside[i].angular.x;
        any |= f[0] != 0 || f[1] != 0 || f[2] != 0 || f[3] != 0 || f[4] != 0 || f[5] != 0;
    }
    return any;
}

enum { MOST_TURNS = 8, MOST_ROOT_STEPS = 80 };

/// Acceleration at s->motion.q, s->motion.v, with the friction of sliding joints.
static kk_status accelerate(const kk_model *m, kk_simulator *s, const kk_input *input, double *a, kk_error *error) {
    const double h = s->h;
    s->data->kernels->aba_prepare(m, &s->data->scratch, s->motion.q, s->motion.v);
    s->h = 0; // forces of this moment
    const kk_status status = kki_apply_forces(m, s, input, error);
    s->h = h;
    if (status == KK_OK) {
        for (int k = 0; k < m->nv; k++) {
            s->forces.tau[k] += s->rk4.slip[k];
            s->rk4.is_driven |= s->forces.tau[k] != 0;
        }
        s->rk4.is_driven |= is_pushed(m, s);
        s->data->kernels->aba_solve(m, &s->data->scratch, s->forces.tau, a);
    }
    return status;
}

/// A moment of the motion, and its time since the step's start.
typedef struct moment {
    double *q, *v, time;
} moment;

/// One stage: from the start by `share` of the time along the last stage's slopes.
static kk_status stage(const kk_model *m, kk_simulator *s, const kk_input *input, moment from, double time,
                       double share, double weight, kk_error *error) {
    // a and slope hold the last stage's on entry, this one's on return
    double *slope = s->kick.y, *a = s->kick.E, *sigma = s->kick.y_free;
    for (int k = 0; k < m->nv; k++) {
        sigma[k] = share * time * slope[k];
        s->motion.v[k] = from.v[k] + share * time * a[k];
    }
    kk_integrate(m, from.q, sigma, s->motion.q);
    kki_rk4_slopes(m, sigma, s->motion.v, slope);
    s->rk4.moment = from.time + share * time;
    const kk_status status = accelerate(m, s, input, a, error);
    for (int k = 0; k < m->nv; k++) {
        s->kick.y_end[k] += weight * a[k];
        s->kick.y_drift[k] += weight * slope[k];
    }
    return status;
}

/// Four stages over `time`; the result in s->motion.q and s->motion.v. @param energy  of the trees at the start, whose poses the first stage has; or NULL
static kk_status go(const kk_model *m, kk_simulator *s, const kk_input *input, moment from, double time,
                    kki_energy *energy, kk_error *error) {
    static const double share[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double *const vectors[4] = {s->kick.y, s->kick.E, s->kick.y_end, s->kick.y_drift};
    for (int i = 0; i < 4; i++) {
        memset(vectors[i], 0, (size_t)m->nv * sizeof(double));
    }
    kk_status status = KK_OK;
    for (int i = 0; i < 4 && status == KK_OK; i++) {
        status = stage(m, s, input, from, time, share[i], weight[i], error);
        if (i == 0 && energy) {
            (void)kki_tree_energies(m, s, from.q, from.v, energy);
            s->report.potential_before = s->forces.tendon_energy;
        }
    }
    for (int k = 0; k < m->nv; k++) {
        s->motion.v[k] = from.v[k] + time * s->kick.y_end[k];
        s->motion.v_drift[k] = time * s->kick.y_drift[k];
    }
    kk_integrate(m, from.q, s->motion.v_drift, s->motion.q);
    return status;
}

// ---- joints that turn round

/// The joint with dry friction that turns first, by its mean acceleration; −1: none.
static int first_to_turn(const kk_model *m, const kk_simulator *s, moment from) {
    int first = -1;
    double least = 2;
    for (int k = 0; k < m->nv; k++) {
        if (s->rk4.slip[k] != 0 && from.v[k] != 0 && from.v[k] * s->motion.v[k] < 0) {
            const double share = from.v[k] / (from.v[k] - s->motion.v[k]);
            first = share < least ? k : first;
            least = share < least ? share : least;
        }
    }
    return first;
}

/// The time at which joint k stands, by bisection sharpened with secants; s->motion.q and s->motion.v are left there.
static kk_status find_turn(const kk_model *m, kk_simulator *s, const kk_input *input, moment from, int k, double time,
                           double *root, kk_error *error) {
    double low = 0, high = time, v_low = from.v[k], v_high = s->motion.v[k];
    kk_status status = KK_OK;
    for (int i = 0; i < MOST_ROOT_STEPS && status == KK_OK && high - low > 1e-15 * time; i++) {
        const double secant = low + (high - low) * (v_low / (v_low - v_high)), middle = 0.5 * (low + high);
        *root = i % 3 == 2 ? middle : secant;
        status = go(m, s, input, from, *root, NULL, error);
        if (s->motion.v[k] == 0) {
            break;
        }
        const int before = (s->motion.v[k] > 0) == (from.v[k] > 0);
        low = before ? *root : low;
        v_low = before ? s->motion.v[k] : v_low;
        high = before ? high : *root;
        v_high = before ? v_high : s->motion.v[k];
    }
    return status;
}

/// Which way a joint that stands begins to slide: its slip force is set. False where it sticks.
static int begin_to_slide(const kk_model *m, kk_simulator *s, const kk_input *input, int k, kk_error *error) {
    const double friction = m->dof[k].friction;
    s->rk4.slip[k] = 0;
    if (accelerate(m, s, input, s->kick.E, error) != KK_OK) {
        return 0;
    }
    const double free = s->kick.E[k];
    s->rk4.slip[k] = free > 0 ? -friction : friction;
    return accelerate(m, s, input, s->kick.E, error) == KK_OK && free * s->kick.E[k] > 0;
}

/// Friction of all joints at the start. False where one sticks.
static int set_slips(const kk_model *m, kk_simulator *s, const kk_input *input, moment from, kk_error *error) {
    memcpy(s->motion.q, from.q, (size_t)m->nq * sizeof *s->motion.q);
    memcpy(s->motion.v, from.v, (size_t)m->nv * sizeof *s->motion.v);
    s->rk4.moment = from.time;
    for (int k = 0; k < m->nv; k++) {
        s->rk4.slip[k] = from.v[k] > 0 ? -m->dof[k].friction : from.v[k] < 0 ? m->dof[k].friction : 0;
    }
    for (int k = 0; k < m->nv; k++) {
        if (m->dof[k].friction > 0 && from.v[k] == 0 && !begin_to_slide(m, s, input, k, error)) {
            return 0;
        }
    }
    return 1;
}

// ---- the step

/// Velocities of trees that nothing drove, so that they have the energy they began with. What is missing must be small: a body almost at
/// rest on a height would be scaled by anything.
static void keep_energy(const kk_model *m, kk_simulator *s) {
    kki_energy *before = s->energy.tree_energy, *after = before + m->ntree;
    for (int t = 0; t < m->ntree && !s->rk4.is_driven; t++) {
        const double missing = before[t].kinetic + before[t].potential - after[t].kinetic - after[t].potential;
        const double share = missing / after[t].kinetic;
        if (__builtin_fabs(share) < 1e-6) {
            const double grown = share / (1 + kk_sqrt(1 + share)); // √(1 + x) − 1
            for (int k = m->tree_first_dof[t]; k < m->tree_first_dof[t + 1]; k++) {
                s->motion.v[k] += grown * s->motion.v[k];
            }
            after[t].kinetic += missing;
        }
    }
}

static void note_energies(const kk_model *m, kk_simulator *s) {
    kk_report *r = &s->report;
    r->potential_after = kki_tendon_energy(m, s->readout.view, s->motion.q); // those of the start are there
    for (int t = 0; t < m->ntree; t++) {
        r->kinetic_before += s->energy.tree_energy[t].kinetic;
        r->potential_before += s->energy.tree_energy[t].potential;
        r->kinetic_after += s->energy.tree_energy[m->ntree + t].kinetic;
        r->potential_after += s->energy.tree_energy[m->ntree + t].potential;
    }
}

static void note(const kk_model *m, kk_simulator *s, const kk_state *state) {
    const double *v0 = kk_state_v_const(state);
    for (int k = 0; k < m->nv; k++) {
        s->motion.acceleration[k] = (s->motion.v[k] - v0[k]) / s->h;
        s->motion.v_before[k] = v0[k];
        s->motion.v_after[k] = s->motion.v[k];
        s->forces.servo_slope[k] = s->forces.passive_slope[k] = 0;
    }
    for (int i = 0; i < s->constraints.count; i++) {
        s->solution.lambda[s->constraints.list[i].row] = s->solution.kept[s->constraints.list[i].row] =
            s->h * s->rk4.slip[s->constraints.list[i].item];
    }
}

kk_status kki_rk4(const kk_model *model, kk_simulator *s, const kk_state *state, const kk_input *input, int *sticks,
                  kk_error *error) {
    moment from = {s->rk4.q_part, s->rk4.v_part, 0};
    double left = s->h;
    memcpy(from.q, kk_state_q_const(state), (size_t)model->nq * sizeof(double));
    memcpy(from.v, kk_state_v_const(state), (size_t)model->nv * sizeof(double));
    s->rk4.is_driven = 0;
    *sticks = !set_slips(model, s, input, from, error);
    for (int i = 0; i < MOST_TURNS && !*sticks; i++) {
        kk_status status = go(model, s, input, from, left, i == 0 ? s->energy.tree_energy : NULL, error);
        const int k = status == KK_OK ? first_to_turn(model, s, from) : -1;
        if (k < 0) {
            (void)kki_tree_energies(model, s, s->motion.q, s->motion.v, s->energy.tree_energy + model->ntree);
            keep_energy(model, s);
            note_energies(model, s);
            note(model, s, state);
            return status;
        }
        double root = 0;
        status = find_turn(model, s, input, from, k, left, &root, error);
        if (status != KK_OK) {
            return status;
        }
        left -= root;
        from.time += root;
        s->rk4.moment = from.time;
        s->motion.v[k] = 0;
        s->report.events++;
        memcpy(from.q, s->motion.q, (size_t)model->nq * sizeof(double));
        memcpy(from.v, s->motion.v, (size_t)model->nv * sizeof(double));
        *sticks = !begin_to_slide(model, s, input, k, error);
    }
    *sticks = 1;
    return KK_OK;
}
