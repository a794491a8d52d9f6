/// Tendons in a step: the forces that springs, dampers and actuators pull them with, and their limits. Their paths are those of dynamics/tendon.c.
///
/// A force f along a spatial tendon (that lengthens it) is f e/d at p₂ and its opposite at p₁ of each straight piece, with e the unit vector from
/// p₁ to p₂ and d the divisor of the pulley before it.
///
/// Springs, dampers and actuators act with the length and the rate of the step's middle; where that would take more than a tenth of the rate away in a
/// step they are implicit, as those of joints are (forces.c): a row of the contact problem with a compliance, together with the tendon's armature. Limits,
/// dry friction and held lengths are rows, too.
#include "simulate/tendons.h"

#include <string.h>

#include "base/error.h"
#include "simulate/drift.h"
#include "simulate/implicit.h"

// ---- forces along them

/// A force along the tendon, positive where it lengthens it, on the joints or bodies it runs over.
static void pull(const kk_model *model, kk_simulator *s, int tendon, double force, kk_force_source source) {
    const kki_model_tendon *t = &model->tendon[tendon];
    for (int i = 0; i < t->term_count && t->type == KK_TENDON_FIXED; i++) {
        const kki_tendon_term *x = &model->tendon_term[t->first_term + i];
        s->forces.by_source[source][x->v_index] += x->coefficient * force;
        s->forces.tau[x->v_index] += x->coefficient * force;
    }
    kki_tendon_walk walk = {.share = 1};
    for (kki_tendon_leg leg; t->type == KK_TENDON_SPATIAL && kki_tendon_next(model, s->data, t, &walk, &leg);) {
        for (int k = 0; k < leg.count; k++) {
            const kki_tendon_piece *p = &leg.piece[k];
            const kk_vec3 f = kk_vec3_scale(p->e, leg.share * force), none = kk_vec3_make(0, 0, 0);
            kki_push(s, p->node[1], p->at[1], kk_force_make(none, f));
            kki_push(s, p->node[0], p->at[0], kk_force_make(none, kk_vec3_scale(f, -1)));
        }
    }
}

void kki_tendon_book(const kk_model *m, kk_simulator *s, int tendon, double force, kk_force_source source) {
    const kki_model_tendon *t = &m->tendon[tendon];
    for (int i = 0; i < t->term_count && t->type == KK_TENDON_FIXED; i++) {
        const kki_tendon_term *x = &m->tendon_term[t->first_term + i];
        s->forces.by_source[source][x->v_index] += x->coefficient * force;
    }
}

/// How far a spring is drawn out, or pressed together; slack in between.
static double stretch_of(const kki_model_tendon *t, double length) {
    return length > t->rest_upper ? length - t->rest_upper : length < t->rest_lower ? length - t->rest_lower : 0;
}

static double spring_energy(const kki_model_tendon *t, double length) {
    const double stretch = stretch_of(t, length);
    return 0.5 * t->stiffness * (stretch * stretch);
}

double kki_tendon_energy(const kk_model *model, const kk_data *poses, const double *q) {
    double sum = 0;
    for (int i = 0; i < model->ntendon; i++) {
        if (model->tendon[i].stiffness != 0) {
            sum += spring_energy(&model->tendon[i], kki_tendon_measure(model, poses, i, q, NULL).length);
        }
    }
    return sum;
}

/// Limits and dry friction of a tendon over more than two trees, which no row can tell of: a critically damped spring of ten time steps.
static double soft_bounds(const kk_simulator *s, const kki_model_tendon *t, const kki_tendon_load *x, double *energy) {
    const double h = s->options.timestep, mass = x->mobility > 0 ? 1 / x->mobility : 0;
    const double k = 0.01 * mass / (h * h), d = 0.2 * mass / h; // critically damped
    const double over = x->length > t->upper ? x->length - t->upper : x->length < t->lower ? x->length - t->lower : 0;
    const double back = -k * over - d * x->rate, rubs = -d * x->rate;
    *energy = 0.5 * k * (over * over);
    return (over * back < 0 ? back : 0) + (rubs > t->friction    ? t->friction
                                           : rubs < -t->friction ? -t->friction
                                                                 : rubs);
}

/// Springs and dampers with the length of the middle and the rate before the kick; implicit ones answer its change (implicit.h).
static void load_spring(kk_simulator *s, const kki_model_tendon *t, kki_tendon_load *x) {
    const double stretch = stretch_of(t, x->length), k = stretch != 0 ? t->stiffness : 0;
    const double steep = 0.5 * s->h * k + t->damping;
    const double theta = x->is_implicit ? kki_theta(s->h * steep * x->mobility) : 0.5;
    x->passive = -k * (stretch + (theta - 0.5) * s->h * x->rate) - t->damping * x->rate;
    x->passive_slope = x->is_implicit ? -theta * steep : -0.0;
    s->forces.tendon_energy += spring_energy(t, x->length);
    if (x->is_scattered) {
        double energy;
        x->passive += soft_bounds(s, t, x, &energy);
        s->forces.tendon_energy += energy;
    }
}

int kki_tendon_is_driven(const kk_model *m, const kk_simulator *s, int tendon) {
    return s->h > 0 && (m->tendon[tendon].armature > 0 || s->forces.tendon[tendon].is_implicit);
}

/// What rates of tendons with armature change by while all moves on without forces: from half a step before the middle to half a step behind it, with the
/// velocity that Coriolis forces are those of (predict.c).
static void find_turns(const kk_model *m, kk_simulator *s) {
    const double *v = s->paper ? s->motion.v : s->motion.v_bias;
    const size_t nq = (size_t)m->nq * sizeof(double), nv = (size_t)m->nv * sizeof(double);
    for (int side = 0; side < 2; side++) {
        memcpy(s->rk4.q_part, s->motion.q, nq);
        memcpy(s->rk4.v_part, v, nv);
        kki_drift(m, side ? 0.5 * s->h : -0.5 * s->h, s->rk4.q_part, s->rk4.v_part);
        kk_kinematics_velocity(m, s->readout.view, s->rk4.q_part, s->rk4.v_part);
        for (int i = 0; i < m->ntendon; i++) {
            if (m->tendon[i].armature > 0 && m->tendon[i].type == KK_TENDON_SPATIAL) {
                const double rate = kki_tendon_measure(m, s->readout.view, i, s->rk4.q_part, s->rk4.v_part).rate;
                s->forces.tendon[i].turn += side ? rate : -rate;
            }
        }
    }
    kk_kinematics_velocity(m, s->readout.view, s->motion.q, s->motion.v);
}

static int has_turns(const kk_model *m) {
    int any = 0;
    for (int i = 0; i < m->ntendon; i++) {
        any |= m->tendon[i].armature > 0 && m->tendon[i].type == KK_TENDON_SPATIAL;
    }
    return any;
}

void kki_tendon_begin(const kk_model *model, kk_simulator *s) {
    s->forces.tendon_energy = s->forces.tendon_kinetic[0] = s->forces.tendon_kinetic[1] = 0;
    for (int i = 0; i < model->ntendon; i++) {
        const kki_model_tendon *t = &model->tendon[i];
        kki_tendon_load *x = &s->forces.tendon[i];
        x->passive = x->passive_slope = x->actuator = x->actuator_slope = x->given = x->turn = 0;
        if (x->is_driven || t->stiffness != 0 || t->damping != 0 || t->armature > 0 || x->is_scattered) {
            const kki_tendon_motion motion = kki_tendon_measure(model, s->readout.view, i, s->motion.q, s->motion.v);
            x->length = motion.length;
            x->rate = motion.rate;
            load_spring(s, t, x);
            s->forces.tendon_kinetic[0] += 0.5 * t->armature * (x->rate * x->rate);
        }
    }
    if (s->h > 0 && has_turns(model)) {
        find_turns(model, s);
    }
}

/// Actuators of a tendon that pull with more than it may be pulled with give less, all by the same share.
static void limit_pull(const kk_model *m, kk_simulator *s, int tendon) {
    const kki_model_tendon *t = &m->tendon[tendon];
    kki_tendon_load *x = &s->forces.tendon[tendon];
    const double most = x->given > t->pull_upper ? t->pull_upper : x->given < t->pull_lower ? t->pull_lower : x->given;
    if (most == x->given) {
        return;
    }
    const double share = most / x->given;
    x->actuator *= share;
    x->actuator_slope = 0;
    for (int i = 0; i < m->nactuator; i++) {
        if (m->actuator[i].transmission == KK_TRANSMISSION_TENDON && m->actuator[i].tendon == tendon) {
            s->forces.drive[i] *= share;
            s->forces.wanted[i] = (kki_drive){s->forces.drive[i], 0};
        }
    }
}

void kki_tendon_drive(const kk_model *model, kk_simulator *s) {
    for (int i = 0; i < model->ntendon; i++) {
        const kki_tendon_load *x = &s->forces.tendon[i];
        if (x->is_driven) {
            limit_pull(model, s, i);
        }
        if (kki_tendon_is_driven(model, s, i) && kki_tendon_drive_mass(model, s, i) > 0) {
            continue; // by a row
        }
        if (model->tendon[i].type == KK_TENDON_SPATIAL) {
            if (x->passive != 0 || x->actuator != 0) {
                pull(model, s, i, x->passive + x->actuator, KK_FORCE_PASSIVE);
            }
            continue;
        }
        if (x->passive != 0) {
            pull(model, s, i, x->passive, KK_FORCE_PASSIVE);
        }
        if (x->is_driven) {
            pull(model, s, i, x->actuator, KK_FORCE_ACTUATOR);
        }
    }
}

// ---- rows of armature and of implicit forces

double kki_tendon_drive_mass(const kk_model *model, const kk_simulator *s, int tendon) {
    const kki_tendon_load *x = &s->forces.tendon[tendon];
    return model->tendon[tendon].armature - s->h * (x->passive_slope + x->actuator_slope);
}

double kki_tendon_drive_impulse(const kk_model *model, const kk_simulator *s, int tendon) {
    const kki_tendon_load *x = &s->forces.tendon[tendon];
    return s->h * (x->passive + x->actuator) - model->tendon[tendon].armature * x->turn;
}

void kki_tendon_finish(const kk_model *model, kk_simulator *s, int tendon, double lambda) {
    const kki_tendon_load *x = &s->forces.tendon[tendon];
    const double mass = kki_tendon_drive_mass(model, s, tendon);
    if (mass <= 0) {
        return;
    }
    const double change = (kki_tendon_drive_impulse(model, s, tendon) - lambda) / mass, end = x->rate + change;
    const double actuator = x->actuator + x->actuator_slope * change;
    if (model->tendon[tendon].type == KK_TENDON_SPATIAL) { // among the forces on nodes, as those without a row are
        s->energy.pushed_work += 0.5 * lambda * (x->rate + end);
    }
    kki_tendon_book(model, s, tendon, actuator, KK_FORCE_ACTUATOR);
    kki_tendon_book(model, s, tendon, lambda / s->h - actuator, KK_FORCE_PASSIVE);
    s->forces.tendon_kinetic[1] += 0.5 * model->tendon[tendon].armature * (end * end);
    for (int i = 0; i < model->nactuator && x->actuator_slope != 0; i++) {
        const kki_model_actuator *a = &model->actuator[i];
        if (a->transmission == KK_TRANSMISSION_TENDON && a->tendon == tendon) {
            s->forces.drive[i] = s->forces.wanted[i].force + s->forces.wanted[i].slope * a->gear * change;
        }
    }
}

// ---- limits

/// Degree of freedom that moves a node; −1: none does.
static int last_dof(const kk_model *m, int node) {
    return node == 0 ? -1 : m->node[node].v_index + m->node_nv[node] - 1;
}

/// Takes a branch among the two that a constraint can tell of. False where it belongs to a third tree.
static int take_branch(const kk_model *m, int dof, int32_t branch[2]) {
    if (dof < 0) {
        return 1;
    }
    const int tree = m->node_tree[m->dof_node[dof]];
    for (int k = 0; k < 2; k++) {
        if (branch[k] < 0 || m->node_tree[m->dof_node[branch[k]]] == tree) {
            branch[k] = branch[k] < 0 ? dof : branch[k];
            return 1;
        }
    }
    return 0;
}

/// −1: it pulls on nothing that moves.
static int dof_of_term(const kk_model *m, const kki_tendon_term *x) {
    switch (x->kind) {
    case KKI_TERM_JOINT: return x->v_index;
    case KKI_TERM_FRAME: return last_dof(m, m->body[m->frame[x->frame].body].node);
    case KKI_TERM_WRAP: return last_dof(m, m->shape[x->shape].node);
    default: return -1;
    }
}

int kki_tendon_more_branches(const kk_model *m, const kki_model_tendon *t, int32_t branch[2]) {
    int room = 1;
    for (int i = 0; i < t->term_count; i++) {
        const kki_tendon_term *x = &m->tendon_term[t->first_term + i];
        room &= take_branch(m, dof_of_term(m, x), branch);
    }
    return room;
}

/// Branches of all terms. False where they are of more than two trees.
int kki_tendon_branches(const kk_model *m, const kki_model_tendon *t, int32_t branch[2]) {
    branch[0] = branch[1] = -1;
    return kki_tendon_more_branches(m, t, branch);
}

int kki_tendon_has_limits(const kki_model_tendon *t) {
    return t->lower > -__builtin_inf() || t->upper < __builtin_inf();
}

/// Whether it must have a row. Implicit forces, limits and dry friction do without where it runs over too much (soft_bounds).
static int has_rows(const kki_model_tendon *t) {
    return t->armature > 0 || t->is_held;
}

kk_status kki_check_tendons(const kk_model *model, kk_error *error) {
    for (int i = 0; i < model->ntendon; i++) {
        int32_t branch[2];
        const kki_model_tendon *t = &model->tendon[i];
        int fits = kki_tendon_branches(model, t, branch);
        fits = fits && (t->leader < 0 || kki_tendon_more_branches(model, &model->tendon[t->leader], branch));
        if (has_rows(t) && !fits) {
            return kki_error_set(
                error, KK_INVALID_MODEL,
                "tendon \"%s\" has armature or a held length and runs over more than two robots or bodies; "
                "split it",
                kki_model_name(model, model->tendon[i].name));
        }
    }
    return KK_OK;
}

int kki_tendon_part_count(const kk_model *model) {
    int count = 0;
    for (int i = 0; i < model->ntendon; i++) {
        const kki_model_tendon *t = &model->tendon[i];
        const int rows = 2 * kki_tendon_has_limits(t) + (t->friction > 0) + 1 + (t->is_held != 0);
        count += 2 * rows * t->term_count;
        count += t->is_held && t->leader >= 0 ? 2 * model->tendon[t->leader].term_count : 0;
    }
    return count;
}

/// How much a force along the tendon may answer its rate at most.
static double steepest(const kk_model *m, const kk_simulator *s, int tendon) {
    const double half = 0.5 * s->options.timestep;
    double slope = half * m->tendon[tendon].stiffness + m->tendon[tendon].damping;
    for (int i = 0; i < m->nactuator; i++) {
        const kki_model_actuator *a = &m->actuator[i];
        if (a->transmission != KK_TRANSMISSION_TENDON || a->tendon != tendon) {
            continue;
        }
        const kk_muscle_def *x = &a->muscle;
        const double optimal = (x->length_upper - x->length_lower) / (x->range[1] - x->range[0]);
        const double most = a->type == KK_ACTUATOR_MUSCLE ? 2 * x->force / (optimal * x->vmax)
                            : a->type == KK_ACTUATOR_DAMPER
                                ? __builtin_fabs(a->gain) * (a->control_upper < __builtin_inf() ? a->control_upper : 1)
                                : half * __builtin_fabs(a->bias[1]) + __builtin_fabs(a->bias[2]);
        slope += a->gear * a->gear * most;
    }
    return slope;
}

/// Share of its rate that an explicit force may take away in a step; twice as much would turn it round.
static const double MOST_TAKEN = 0.1;

void kki_tendons_choose(const kk_model *model, kk_simulator *s) {
    const int may = !s->paper && !s->options.explicit_servos && model->options.integrator != KK_INTEGRATOR_RK4;
    for (int i = 0; i < model->ntendon; i++) {
        kki_tendon_load *x = &s->forces.tendon[i];
        int32_t branch[2];
        x->is_implicit = may && kki_tendon_branches(model, &model->tendon[i], branch) && branch[0] >= 0 &&
                         s->options.timestep * steepest(model, s, i) * x->mobility > MOST_TAKEN;
    }
}

/// J M⁻¹ Jᵀ at a pose.
static double mobility_at(const kk_model *m, kk_simulator *s, int tendon, const double *q) {
    double *moment = s->forces.tau, *with = s->kick.E, *without = s->kick.y, sum = 0;
    kk_kinematics(m, s->readout.view, q);
    kk_tendon_moment(m, s->readout.view, tendon, moment);
    kk_forward_dynamics(m, s->data, q, s->data->zero, s->data->zero, without);
    kk_forward_dynamics(m, s->data, q, s->data->zero, moment, with);
    for (int k = 0; k < m->nv; k++) {
        sum += moment[k] * (with[k] - without[k]);
    }
    return sum > 0 ? sum : 0; // no number: 0
}

enum { POSES = 4 };

/// At all joints zero two ends may lie on each other, so some poses by lot are looked at as well.
void kki_tendons_fill(const kk_model *model, kk_simulator *s) {
    const size_t bytes = (size_t)model->nv * sizeof(double);
    for (int i = 0; i < model->nactuator; i++) {
        if (model->actuator[i].transmission == KK_TRANSMISSION_TENDON) {
            s->forces.tendon[model->actuator[i].tendon].is_driven = 1;
        }
    }
    for (int i = 0; i < model->ntendon; i++) {
        const kki_model_tendon *t = &model->tendon[i];
        int32_t branch[2];
        s->forces.tendon[i].is_scattered =
            (kki_tendon_has_limits(t) || t->friction > 0) && !kki_tendon_branches(model, t, branch);
    }
    for (int i = 0; i < model->ntendon * POSES; i++) {
        double *most = &s->forces.tendon[i / POSES].mobility;
        memcpy(s->rk4.q_part, s->data->neutral, (size_t)model->nq * sizeof(double));
        if (i % POSES > 0) {
            kk_model_random_q(model, 1, (uint64_t)(i % POSES), s->rk4.q_part);
        }
        const double mobility = mobility_at(model, s, i / POSES, s->rk4.q_part);
        *most = mobility > *most ? mobility : *most;
    }
    memset(s->forces.tau, 0, bytes);
    memset(s->kick.E, 0, bytes);
    memset(s->kick.y, 0, bytes);
}
