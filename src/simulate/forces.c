/// What drives the joints: actuators, springs and dampers, and what the caller adds.
///
/// Springs, dampers and servos are implicit: their force is that of a share θ of the step (implicit.h),
///     f = c + b₁ (L + (θ − ½) h rate) + b₂ rate + θ (h/2 b₁ + b₂) Δrate,    rate that of the start, L the length at the middle,
/// whose part in Δv goes to the diagonal of the kick, −h gear² θ (h/2 b₁ + b₂), and the rest is a force. The contacts then
/// see the same operator. Stable for any stiffness, and of second order where the step follows (S3 3.2, S4 2.3 have θ = 1).
///
/// A limit of force holds at the step's end, too. A servo that seems to stay beyond it is taken to give its limit, and one that turns out to be beyond gives it
/// when the kick is taken again (step.c). Alone, a joint that its servo pushes less lags behind more, so that is the answer; among others it may be that a
/// servo at its limit would have to be inside. Then it becomes a row with bounds, which the contact solver settles with everything else.
#include <string.h>

#include "base/error.h"
#include "base/float_bits.h"
#include "simulate/activation.h"
#include "simulate/crank.h"
#include "simulate/implicit.h"
#include "simulate/simulator.h"
#include "simulate/tendons.h"

static double clamp(double x, double low, double high) {
    const double most = x > high ? high : x; // one after the other: that is two instructions
    return most < low ? low : most;
}

// ---- springs and dampers of joints

static void find_ways_along_line(int count, const double *restrict q, const double *restrict neutral,
                                 double *restrict way) {
    for (int k = 0; k < count; k++) {
        way[k] = q[k] - neutral[k];
    }
}

/// How far joints are from their neutral places. Turns are not asked for where no spring asks: their logarithms take long.
static void find_ways(const kk_model *m, const kk_simulator *s, double *way) {
    const double *q = s->motion.q, *neutral = s->data->neutral;
    for (int i = 0; i < m->nstretch; i++) {
        const kki_stretch *x = &m->stretch[i];
        find_ways_along_line(x->count, q + x->q_index, neutral + x->q_index, way + x->v_index);
    }
    for (int i = 0; i < m->nbroad; i++) {
        const kki_node *n = &m->node[m->broad[i]];
        double stiffest = 0;
        for (int k = n->v_index; k < n->v_index + m->node_nv[m->broad[i]]; k++) {
            way[k] = 0; // any number will do where there is no spring
            stiffest = s->forces.stiffness[k] > stiffest ? s->forces.stiffness[k] : stiffest;
        }
        if (stiffest > 0) {
            kki_node_difference(n, neutral, q, way);
        }
    }
}

/// Forces with the velocities of the step's start, and how they answer a change of those; nothing else has a part in τ and the diagonal yet.
/// @param way  becomes twice the energy of each
static void load_springs(int nv, double h, const double *restrict stiffness, const double *restrict damping,
                         const double *restrict mobility, const double *restrict rest, const double *restrict armature,
                         const double *restrict v, double *restrict way, double *restrict force,
                         double *restrict passive, double *restrict tau, double *restrict diagonal) {
    const double half = 0.5 * h;
    for (int k = 0; k < nv; k++) {
        const double stretch = way[k] - rest[k], steep = half * stiffness[k] + damping[k];
        const double theta = kki_theta(h * steep * mobility[k]), slope = theta * steep;
        const double f = -stiffness[k] * (way[k] + (theta - 0.5) * h * v[k] - rest[k]) - damping[k] * v[k];
        force[k] = tau[k] = 0.0 + f; // no −0
        passive[k] = slope;
        diagonal[k] = armature[k] + h * slope;
        way[k] = stiffness[k] * (stretch * stretch);
    }
}

/// The same, to the bit, where no joint has a spring.
static void load_dampers(int nv, double h, const double *restrict damping, const double *restrict mobility,
                         const double *restrict armature, const double *restrict v, double *restrict force,
                         double *restrict passive, double *restrict tau, double *restrict diagonal) {
    for (int k = 0; k < nv; k++) {
        force[k] = tau[k] = 0.0 - damping[k] * v[k];
        const double slope = kki_theta(h * damping[k] * mobility[k]) * damping[k];
        passive[k] = slope;
        diagonal[k] = armature[k] + h * slope;
    }
}

static void begin_with_springs(const kk_model *m, kk_simulator *s) {
    double *way = s->kick.dv; // free until the kick is applied
    double even = 0, odd = 0; // one sum would wait for itself
    if (!s->traits.has_stiffness) {
        load_dampers(m->nv, s->h, s->forces.damping, s->forces.mobility, m->dof_armature, s->motion.v,
                     s->forces.by_source[KK_FORCE_PASSIVE], s->forces.passive_slope, s->forces.tau, s->forces.diagonal);
        return;
    }
    find_ways(m, s, way);
    load_springs(m->nv, s->h, s->forces.stiffness, s->forces.damping, s->forces.mobility, s->forces.rest,
                 m->dof_armature, s->motion.v, way, s->forces.by_source[KK_FORCE_PASSIVE], s->forces.passive_slope,
                 s->forces.tau, s->forces.diagonal);
    for (int k = 0; k < m->nv; k += 2) { // padded with zeros
        even += way[k];
        odd += way[k + 1];
    }
    s->forces.spring_energy = 0.5 * (even + odd);
}

// ---- actuators

/// A saturated actuator does not answer.
typedef kki_drive drive;

/// A muscle pulls with the length of now and answers its rate.
static drive drive_of_muscle(const kk_simulator *s, const kki_model_actuator *a, double u, double length, double rate) {
    const double f = kk_muscle_force(&a->muscle, length, rate, u), clamped = clamp(f, a->force_lower, a->force_upper);
    const double slope = s->options.explicit_servos ? 0 : kki_muscle_slope(&a->muscle, length, rate, u);
    return slope < 0 && s->forces.settles ? (drive){f, slope} : (drive){clamped, clamped == f ? slope : 0};
}

/// Inlined: handed over in memory, the two numbers would be waited for. @param mobility  of what it moves
static inline __attribute__((always_inline)) drive drive_of(const kk_simulator *s, const kki_model_actuator *a,
                                                            double u, double length, double rate, double mobility) {
    const double half = 0.5 * s->h;
    if (a->type == KK_ACTUATOR_MUSCLE) {
        return drive_of_muscle(s, a, u, length, rate);
    }
    const double b1 = a->bias[1], b2 = a->type == KK_ACTUATOR_DAMPER ? -a->gain * u : a->bias[2];
    const double constant = a->bias[0] + (a->type == KK_ACTUATOR_DAMPER ? 0 : a->gain * u);
    const double steep = half * b1 + b2;
    const int is_implicit = !s->options.explicit_servos && steep < 0;
    const double theta = is_implicit ? kki_theta(-s->h * a->gear * a->gear * steep * mobility) : 0.5;
    const double f = constant + b1 * (length + (theta - 0.5) * s->h * rate) + b2 * rate, implicit = theta * steep;
    const double clamped = clamp(f, a->force_lower, a->force_upper);
    if (!is_implicit || !s->forces.settles) {
        return (drive){clamped, is_implicit && clamped == f ? implicit : 0};
    }
    return (drive){f, implicit};
}

/// How much more than its own body a joint moves, or leans on, when it is asked whether its servo stays beyond its limit. Measured over thrown quadrupeds and
/// humanoids: 5, 20 and 100 times as much take 0.78, 0.71 and 0.68 of the time that 1 does; the answer does not depend on it.
static const double CARRIES = 100;

static double carried(const kk_model *m, int dof) {
    const kki_node *n = &m->node[m->dof_node[dof]];
    const double body = n->type == KKI_NODE_SLIDE ? n->mass : n->type == KKI_NODE_HINGE ? n->inertia[2][2] : 0;
    return CARRIES * (body + m->dof_armature[dof]);
}

static kki_servo_mode mode_of(const kki_model_actuator *a, double force) {
    return force > a->force_upper ? KKI_SERVO_AT_UPPER : force < a->force_lower ? KKI_SERVO_AT_LOWER : KKI_SERVO_FREE;
}

/// Where a servo begins whose force is beyond its limits with the velocity of the step's start.
static kki_servo_mode first_mode(const kk_model *m, const kk_simulator *s, const kki_model_actuator *a, drive d) {
    const double own = carried(m, a->v_index), yields = s->h * a->gear * a->gear * d.slope;
    return mode_of(a, d.force * (own / (own - yields)));
}

/// What a servo gives here; one that is a row gives nothing.
static inline __attribute__((always_inline)) drive settled(const kk_model *m, kk_simulator *s, int i, drive d) {
    const kki_model_actuator *a = &m->actuator[i];
    s->forces.wanted[i].force =
        d.force; // one by one: as a whole the processor would wait for the two to be stored first
    s->forces.wanted[i].slope = d.slope;
    if (!s->forces.settles || d.slope == 0) {
        return d;
    }
    if (s->forces.servo_mode[i] == KKI_SERVO_NEW) {
        s->forces.servo_mode[i] =
            (int8_t)(mode_of(a, d.force) == KKI_SERVO_FREE ? KKI_SERVO_FREE : first_mode(m, s, a, d));
    }
    switch (s->forces.servo_mode[i]) {
    case KKI_SERVO_FREE: return d;
    case KKI_SERVO_AT_LOWER: return (drive){a->force_lower, 0};
    case KKI_SERVO_AT_UPPER: return (drive){a->force_upper, 0};
    default: return (drive){0, 0};
    }
}

/// As drive_joint, of all that is left of it where there is no bias; of what it wants nobody asks.
static void drive_motor(const kki_model_actuator *a, double control, double *given, double *force, double *tau) {
    const int k = a->v_index;
    const double u = clamp(control, a->control_lower, a->control_upper);
    const double f = clamp(0.0 + a->gain * u, a->force_lower, a->force_upper), torque = a->gear * f; // no −0
    *given = f;
    force[k] += torque;
    tau[k] += torque;
}

static void drive_joint(const kk_model *m, kk_simulator *s, const kki_model_actuator *a, double u) {
    const int k = a->v_index;
    const int i = (int)(a - m->actuator);
    const drive d = settled(
        m, s, i, drive_of(s, a, u, a->gear * s->motion.q[a->q_index], a->gear * s->motion.v[k], s->forces.mobility[k]));
    s->forces.drive[i] = d.force;
    s->forces.by_source[KK_FORCE_ACTUATOR][k] += a->gear * d.force;
    s->forces.tau[k] += a->gear * d.force;
    if (d.slope != 0) {
        s->forces.servo_slope[k] -= a->gear * a->gear * d.slope;
        s->forces.diagonal[k] -= s->h * a->gear * a->gear * d.slope;
    }
    if (s->forces.wanted[i].slope != 0) {
        s->forces.has_servos = 1;
    }
}

/// All that pulls on a tendon is added up first (tendons.c). Its limits of force are those of the rate at the step's start.
static void drive_tendon(const kk_model *m, kk_simulator *s, const kki_model_actuator *a, double u) {
    kki_tendon_load *t = &s->forces.tendon[a->tendon];
    const drive d = drive_of(s, a, u, a->gear * t->length, a->gear * t->rate, t->mobility);
    const double f = clamp(d.force, a->force_lower, a->force_upper);
    const int i = (int)(a - m->actuator);
    s->forces.drive[i] = f;
    s->forces.wanted[i] = (drive){f, t->is_implicit && f == d.force ? d.slope : 0};
    t->given += f;
    t->actuator += a->gear * f;
    t->actuator_slope += a->gear * a->gear * s->forces.wanted[i].slope;
}

static void drive_crank(const kk_model *m, kk_simulator *s, const kki_model_actuator *a, double u) {
    const kki_crank x = kki_crank_measure(m, s->readout.view, a);
    const double f = clamp(drive_of(s, a, u, a->gear * x.length, a->gear * x.rate, KKI_ANY_MOBILITY).force,
                           a->force_lower, a->force_upper);
    s->forces.drive[a - m->actuator] = f;
    for (int k = 0; k < 2; k++) {
        kki_push(
            s, x.node[k], x.at[k],
            kk_force_make(kk_vec3_scale(x.unit[k].angular, a->gear * f), kk_vec3_scale(x.unit[k].linear, a->gear * f)));
    }
}

static void drive_contacts(const kk_model *m, kk_simulator *s, const kki_model_actuator *a, double u) {
    const double f = drive_of(s, a, u, 0, 0, 0).force;
    s->forces.drive[a - m->actuator] = f;
    kki_adhere(m, s, a->body, f);
}

void kki_push(kk_simulator *s, int node, kk_vec3 point, kk_force f) {
    const kk_vec3 arm = kk_vec3_sub(point, kki_vec3(kki_pose_of(s->data, node)->p));
    f.angular = kk_vec3_add(f.angular, kk_vec3_cross(arm, f.linear));
    if (node > 0) {
        s->data->kernels->aba_push(&s->data->scratch, node, f);
        s->readout.outside[node] = kk_force_add(s->readout.outside[node], f);
        s->forces.is_pushed = 1;
    }
}

static void drive_frame(const kk_model *m, kk_simulator *s, const kki_model_actuator *a, double u) {
    const kki_frame *f = &m->frame[a->frame];
    const kki_body *b = &m->body[f->body];
    const kk_transform X = kk_transform_mul(kki_node_transform(s->data, b->node), kk_transform_mul(b->X_NB, f->X_BF));
    s->forces.drive[a - m->actuator] = drive_of(s, a, u, 0, 0, 0).force;
    const double force = a->gear * s->forces.drive[a - m->actuator];
    const kk_force wrench = kk_force_make(kk_mat3_mul_vec(X.R, kk_vec3_scale(a->direction.angular, force)),
                                          kk_mat3_mul_vec(X.R, kk_vec3_scale(a->direction.linear, force)));
    kki_push(s, b->node, X.p, wrench);
}

/// The control behind its delay, its limits and its activation. Most have neither delay nor activation.
static inline double command(kk_simulator *s, const kki_model_actuator *a, double control) {
    const double now = a->history_index < 0 ? control : kki_delayed_control(s, a, control);
    return a->activation == KK_ACTIVATION_NONE ? clamp(now, a->control_lower, a->control_upper)
                                               : kki_activate(s, a, now);
}

static void drive_other(const kk_model *m, kk_simulator *s, const kki_model_actuator *a, double control) {
    const double u = command(s, a, control);
    switch (a->transmission) {
    case KK_TRANSMISSION_JOINT: drive_joint(m, s, a, u); break;
    case KK_TRANSMISSION_TENDON: drive_tendon(m, s, a, u); break;
    case KK_TRANSMISSION_BODY: drive_contacts(m, s, a, u); break;
    case KK_TRANSMISSION_CRANK: drive_crank(m, s, a, u); break;
    default: drive_frame(m, s, a, u); break;
    }
}

/// As drive_motor, of all of them.
static void drive_motors(const kki_motors *x, const double *restrict control, double *restrict given,
                         double *restrict force, double *restrict tau) {
    for (int i = 0; i < x->count; i++) {
        const double u = clamp(control[i], x->control_lower[i], x->control_upper[i]);
        given[i] = clamp(0.0 + x->gain[i] * u, x->force_lower[i], x->force_upper[i]);
    }
    for (int i = 0; i < x->count; i++) {
        const double torque = x->gear[i] * given[i];
        force[x->dof[i]] += torque;
        tau[x->dof[i]] += torque;
    }
}

/// @param control  NULL: all zero
static kk_status drive_actuators(const kk_model *m, kk_simulator *s, const double *control, kk_error *error) {
    if (s->forces.motors.count > 0 && control && kki_are_finite(control, s->forces.motors.count)) {
        drive_motors(&s->forces.motors, control, s->forces.drive, s->forces.by_source[KK_FORCE_ACTUATOR],
                     s->forces.tau);
        return KK_OK;
    }
    double *const given = s->forces.drive, *const force = s->forces.by_source[KK_FORCE_ACTUATOR],
                  *const tau = s->forces.tau;
    for (int i = 0; i < m->nactuator; i++) {
        const kki_model_actuator *a = &m->actuator[i];
        const double u = control ? control[i] : 0;
        if (!__builtin_isfinite(u)) {
            return kki_error_set(error, KK_NOT_FINITE,
                                 "forces: the control of actuator \"%s\" (number %d) is not a number",
                                 kki_model_name(m, a->name), i);
        }
        if (a->is_motor) {
            drive_motor(a, u, &given[i], force, tau);
        } else {
            drive_other(m, s, a, u);
        }
    }
    return KK_OK;
}

// ---- the caller's

static kk_status add_applied(const kk_model *m, kk_simulator *s, const double *tau, kk_error *error) {
    for (int k = 0; k < m->nv; k++) {
        if (!__builtin_isfinite(tau[k])) {
            const int body = m->node_body[m->dof_node[k]];
            return kki_error_set(error, KK_NOT_FINITE, "forces: the force given for joint \"%s\" is not a number",
                                 kki_model_name(m, m->body[body].joint_name));
        }
        s->forces.by_source[KK_FORCE_APPLIED][k] = tau[k];
        s->forces.tau[k] += tau[k];
    }
    return KK_OK;
}

/// Sum of the magnitudes: zero for none at all, and no number where one of them is none.
static double size_of(const kk_force *f) {
    return __builtin_fabs(f->angular.x) + __builtin_fabs(f->angular.y) + __builtin_fabs(f->angular.z) +
           __builtin_fabs(f->linear.x) + __builtin_fabs(f->linear.y) + __builtin_fabs(f->linear.z);
}

static int is_no_force(const kk_force *f) {
    return f->angular.x == 0 && f->angular.y == 0 && f->angular.z == 0 && f->linear.x == 0 && f->linear.y == 0 &&
           f->linear.z == 0;
}

static kk_status add_wrenches(const kk_model *m, kk_simulator *s, const kk_force *wrench, kk_error *error) {
    for (int i = 1; i < m->nbody; i++) {
        const kki_body *b = &m->body[i];
        const double size = size_of(&wrench[i]);
        if (size == 0) {
            continue; // most bodies, in most steps
        }
        if (!__builtin_isfinite(size)) {
            return kki_error_set(error, KK_NOT_FINITE, "forces: the wrench given for body \"%s\" is not a number",
                                 kk_model_body_name(m, i));
        }
        if (is_no_force(&wrench[i])) {
            continue;
        }
        const kk_transform X = kk_transform_mul(kki_node_transform(s->data, b->node), b->X_NB);
        kki_push(s, b->node, X.p,
                 kk_force_make(kk_mat3_mul_vec(X.R, wrench[i].angular), kk_mat3_mul_vec(X.R, wrench[i].linear)));
    }
    return KK_OK;
}

/// Bodies that are relieved of their weight are held at their centers of mass.
static void add_compensation(const kk_model *m, kk_simulator *s) {
    for (int i = 1; i < m->nbody; i++) {
        const kki_body *b = &m->body[i];
        const double held = -b->gravity_compensation * b->inertia.mass;
        if (held != 0) {
            const kk_transform X = kk_transform_mul(kki_node_transform(s->data, b->node), b->X_NB);
            kki_push(s, b->node, kk_transform_point(X, b->inertia.com),
                     kk_force_make(kk_vec3_make(0, 0, 0), kk_vec3_scale(kki_vec3(m->gravity), held)));
        }
    }
}

kk_status kki_apply_forces(const kk_model *model, kk_simulator *s, const kk_input *input, kk_error *error) {
    static const kk_input nothing = {0};
    input = input ? input : &nothing;
    const size_t bytes = (size_t)model->nv * sizeof(double);
    if (s->traits.has_springs) {
        begin_with_springs(model, s);
    } else if (!s->forces.no_tau) { // forces of springs are zero for ever
        memset(s->forces.tau, 0, bytes);
    }
    if (s->forces.has_applied) {
        memset(s->forces.by_source[KK_FORCE_APPLIED], 0, bytes);
    }
    s->forces.has_applied = input->tau != NULL;
    s->forces.no_tau = s->forces.only_touches && !input->tau;
    if (!s->forces.only_touches) { // else they are as they were made
        if (!s->traits.has_springs) {
            memcpy(s->forces.diagonal, model->dof_armature, bytes);
        }
        memset(s->forces.by_source[KK_FORCE_ACTUATOR], 0, bytes);
        if (s->forces.motors.count == 0) { // else none is a servo
            memset(s->forces.servo_slope, 0, bytes);
        }
    }
    s->forces.has_servos = 0;
    s->forces.may_drive = !s->forces.only_touches || input->tau;
    s->forces.is_pushed = 0;
    s->forces.no_pushes = s->traits.has_only_free_bodies && s->forces.only_touches &&
                          !input->wrench; // then free_bodies/stepper.c and free_bodies/end.c write them
    if (!s->forces.no_pushes) {
        memset(s->readout.outside, 0, (size_t)model->nnode * sizeof *s->readout.outside);
    }
    if (!s->forces.no_pushes && s->traits.has_only_free_bodies && s->forces.only_touches) {
        s->data->kernels->kick_load_some(model, &s->data->scratch, 1, model->nnode);
    }
    if (s->traits.has_spatial_tendons) {
        kk_kinematics_velocity(model, s->readout.view, s->motion.q, s->motion.v);
    }
    kki_tendon_begin(model, s);
    kk_status status = drive_actuators(model, s, input->control, error);
    kki_tendon_drive(model, s);
    for (int k = 0; k < model->nv && s->traits.has_dry_friction; k++) {
        s->forces.tau[k] += s->forces.saturated[k];
    }
    status = status || !input->tau ? status : add_applied(model, s, input->tau, error);
    if (s->traits.has_compensation) {
        add_compensation(model, s);
    }
    return status || !input->wrench ? status : add_wrenches(model, s, input->wrench, error);
}

// ---- limits of servos

/// What a servo is, with the velocities after the kick: as it was where it gave what it must.
static kki_servo_mode next_mode(const kk_simulator *s, const kki_model_actuator *a, int i) {
    const drive d = s->forces.wanted[i];
    const double f = d.force + d.slope * a->gear * (s->motion.v_after[a->v_index] - s->motion.v[a->v_index]);
    switch (s->forces.servo_mode[i]) {
    case KKI_SERVO_FREE: return mode_of(a, f);
    case KKI_SERVO_AT_LOWER: return f <= a->force_lower ? KKI_SERVO_AT_LOWER : KKI_SERVO_ROW;
    case KKI_SERVO_AT_UPPER: return f >= a->force_upper ? KKI_SERVO_AT_UPPER : KKI_SERVO_ROW;
    default: return KKI_SERVO_ROW;
    }
}

int kki_find_saturated(const kk_model *m, kk_simulator *s) {
    int more = 0;
    for (int i = 0; i < m->nactuator && s->forces.has_servos; i++) {
        const kki_model_actuator *a = &m->actuator[i];
        if (a->transmission == KK_TRANSMISSION_JOINT && s->forces.wanted[i].slope != 0) {
            const kki_servo_mode next = next_mode(s, a, i);
            more |= (int)next != s->forces.servo_mode[i];
            s->forces.servo_mode[i] = (int8_t)next;
        }
    }
    return more;
}
