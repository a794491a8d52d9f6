/// The observer of a robot on feet; see karakuri/observer.h.
///
/// Joints: a tracker of second order, â = ω² (q − q̂) − 2 ω v̂ with ω = 1/filter, gives their rates; encoders are taken as they are.
/// Rubber: of a spring and damper −k δ − d δ̇ that carries the force τ, δ goes to −τ/k with the time d/k, by backward Euler; τ is that of inverse dynamics
/// with the measured forces in the period before.
/// Base: the gyro turns it on, the accelerometer moves it on; then every foot that stands says where it is, base = anchor · (foot seen from the base)⁻¹, and both
/// are brought together, R ← exp(α e) R for the orientation and an α-β filter for position and velocity. The weight of a foot is s = smooth step of its load; its
/// anchor is held as s says and follows the foot as 1 − s says, upright and on the floor.
/// Torques: inverse dynamics with the measured forces; what is left on the base, which nothing drives, goes to the feet by their loads.
#include <karakuri/analysis.h>
#include <karakuri/elementary.h>
#include <karakuri/observer.h>
#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/missing.h"
#include "dynamics/data.h"

struct kk_observer {
    kk_allocator allocator;
    size_t size;
    const kk_model *model;
    kk_observer_def def; ///< filled in
    kk_data *data;
    int base_q, base_v;         ///< first coordinate and degree of freedom of the base
    kk_transform zero, in_node; ///< node of the base at zero, in the world; the body in its node
    kk_transform imu;           ///< in the node
    int is_started;             ///< encoders were read once
    double *q, *v, *a, *tau;
    double *track, *track_rate;  ///< [nv] of the joints' tracker
    double *felt;                ///< [nv] forces by what was measured, before they are balanced: what rubber carries
    unsigned char *is_rubber;    ///< [nv]
    int *coordinate;             ///< [nv] of a joint's degree; −1: of the base
    kk_force *external;          ///< [nbody]
    kk_transform X;              ///< the base's node in the world
    kk_vec3 rate, spin, turning; ///< velocity, world; angular velocity, smoothed, and acceleration, own axes
    kk_vec3 push;                ///< acceleration, world
    kk_transform anchor[KK_OBSERVER_FEET];
    double weight; ///< N
};

static double clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

// ---- making

static void set_default(double *x, double value) {
    *x = *x > 0 ? *x : value;
}

static void fill(kk_observer_def *d) {
    set_default(&d->period, 0.001);
    set_default(&d->joint_filter, 0.005);
    set_default(&d->orientation_filter, 0.1);
    set_default(&d->position_filter, 0.02);
    set_default(&d->load[0], 0.1);
    set_default(&d->load[1], 0.4);
}

static void place(kki_layout *layout, kk_observer *o) {
    const size_t nq = (size_t)kk_model_nq(o->model), nv = (size_t)kk_model_nv(o->model);
    kki_layout_take(layout, 1, sizeof *o);
    KKI_LAYOUT_ARRAY(layout, o->q, nq);
    double **const small[] = {&o->v, &o->a, &o->tau, &o->track, &o->track_rate, &o->felt};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        KKI_LAYOUT_ARRAY(layout, *small[i], nv);
    }
    KKI_LAYOUT_ARRAY(layout, o->is_rubber, nv);
    KKI_LAYOUT_ARRAY(layout, o->coordinate, nv);
    KKI_LAYOUT_ARRAY(layout, o->external, (size_t)kk_model_nbody(o->model));
}

static int is_frame(const kk_model *m, int frame) {
    return frame >= 0 && frame < kk_model_nframe(m);
}

/// Encoders tell angles and lengths, and where there is none a spring does.
static kk_status check_joints(const kk_model *m, const unsigned char *unmeasured, kk_error *error) {
    for (int b = 2; b < kk_model_nbody(m); b++) {
        const kk_joint_info j = kk_model_joint(m, b);
        if (j.nq != j.nv) {
            return kki_error_set(error, KK_UNSUPPORTED, "observer: joint '%s' turns as a ball; encoders tell angles",
                                 j.name);
        }
        for (int k = j.v_index; k < j.v_index + j.nv && unmeasured; k++) {
            if (unmeasured[k] && !(kk_model_dof(m, k).stiffness > 0)) {
                return kki_error_set(
                    error, KK_INVALID_ARGUMENT,
                    "observer: joint '%s' has neither encoder nor spring, so nothing tells where it is", j.name);
            }
        }
    }
    return KK_OK;
}

static kk_status check(const kk_model *m, const kk_observer_def *d, kk_error *error) {
    if (kk_model_nbody(m) < 2 || kk_model_joint(m, 1).nv != 6 || kk_model_body_parent(m, 1) != KK_WORLD) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "observer: the first body has no free joint on the world");
    }
    int good = is_frame(m, d->imu) && d->foot_count >= 1 && d->foot_count <= KK_OBSERVER_FEET;
    for (int i = 0; i < d->foot_count && good; i++) {
        good = is_frame(m, d->foot[i]);
    }
    if (!good) {
        return kki_error_set(error, KK_NOT_FOUND, "observer: the sensor's frame or a foot's is none of the model's");
    }
    if (kk_model_frame_body(m, d->imu) != 1) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "observer: the inertial sensor is not on the first body");
    }
    return check_joints(m, d->unmeasured, error);
}

/// Which coordinate belongs to a degree of freedom, and which degrees are rubber.
static void sort_degrees(kk_observer *o) {
    const kk_model *m = o->model;
    for (int b = 1; b < kk_model_nbody(m); b++) {
        const kk_joint_info j = kk_model_joint(m, b);
        for (int k = 0; k < j.nv; k++) {
            o->coordinate[j.v_index + k] = b > 1 ? j.q_index + k : -1;
        }
    }
    if (o->def.unmeasured) {
        memcpy(o->is_rubber, o->def.unmeasured, (size_t)kk_model_nv(m));
    }
}

/// The node behind body 1: its coordinates are a pose from `zero`, its velocity is in its own axes.
static void find_base(kk_observer *o) {
    const kki_node *n = &o->model->node[o->model->body[1].node];
    o->base_q = n->q_index;
    o->base_v = n->v_index;
    o->zero = kk_transform_make(kki_mat3(n->R), kki_vec3(n->p));
    kk_model_neutral(o->model, o->q);
    kk_kinematics(o->model, o->data, o->q);
    o->in_node = kk_transform_mul(kk_transform_inverse(o->zero), kk_body_pose(o->model, o->data, 1));
    o->imu = kk_transform_mul(o->in_node, kk_model_frame_placement(o->model, o->def.imu));
}

kk_status kk_observer_create(const kk_model *model, const kk_observer_def *def, const kk_allocator *allocator,
                             kk_observer **observer, kk_error *error) {
    if (kki_is_missing(model, def, observer)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "observer: model, definition and observer must be given");
    }
    *observer = NULL;
    const kk_status status = check(model, def, error);
    if (status) {
        return status;
    }
    kk_observer plan = {.allocator = kki_allocator_or_default(allocator), .model = model, .def = *def};
    fill(&plan.def);
    kki_layout layout = kki_layout_over(NULL);
    place(&layout, &plan);
    plan.size = layout.size;
    kk_observer *o = kki_allocate_zeroed(&plan.allocator, plan.size);
    if (!o || kk_data_create(model, allocator, &plan.data)) {
        kki_release(&plan.allocator, o, plan.size);
        return kki_error_set(error, KK_OUT_OF_MEMORY, "observer: no memory");
    }
    layout = kki_layout_over(o);
    place(&layout, &plan);
    *o = plan;
    find_base(o);
    o->weight = -kk_model_gravity(model).z * kk_model_mass(model);
    sort_degrees(o);
    o->def.unmeasured = NULL; // the caller's
    kk_model_start(model, o->q);
    kk_observer_reset(o, o->q);
    *observer = o;
    return KK_OK;
}

void kk_observer_free(kk_observer *observer) {
    if (observer) {
        const kk_allocator allocator = observer->allocator;
        kk_data_free(observer->data);
        kki_release(&allocator, observer, observer->size);
    }
}

static kk_vec3 vector_at(const double *x) {
    return kk_vec3_make(x[0], x[1], x[2]);
}

static void put_vector(double *x, kk_vec3 a) {
    x[0] = a.x, x[1] = a.y, x[2] = a.z;
}

void kk_observer_reset(kk_observer *o, const double *q) {
    const size_t nv = (size_t)kk_model_nv(o->model);
    memmove(o->q, q, (size_t)kk_model_nq(o->model) * sizeof *q);
    double *const zeros[] = {o->v, o->a, o->tau, o->track, o->track_rate, o->felt};
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        memset(zeros[i], 0, nv * sizeof *zeros[i]);
    }
    kk_kinematics(o->model, o->data, o->q);
    o->X = kk_transform_mul(kk_body_pose(o->model, o->data, 1), kk_transform_inverse(o->in_node));
    o->rate = o->spin = o->turning = o->push = kk_vec3_make(0, 0, 0);
    for (int i = 0; i < o->def.foot_count; i++) {
        o->anchor[i] = kk_frame_pose(o->model, o->data, o->def.foot[i]);
    }
    o->is_started = 0;
}

// ---- joints

/// Tracks an encoder: rate and acceleration.
static void track(kk_observer *o, int dof, double angle) {
    const double w = 1 / o->def.joint_filter, dt = o->def.period;
    double *x = &o->track[dof], *rate = &o->track_rate[dof];
    if (!o->is_started) {
        *x = angle;
    }
    o->a[dof] = w * (w * (angle - *x) - 2 * *rate);
    *rate += dt * o->a[dof];
    *x += dt * *rate;
    o->v[dof] = *rate;
}

/// Rubber under the force that inverse dynamics gave it in the period before.
static void squeeze(kk_observer *o, int dof) {
    const kk_dof_def d = kk_model_dof(o->model, dof);
    double *x = &o->q[o->coordinate[dof]];
    const double goal = d.rest - o->felt[dof] / d.stiffness, dt = o->def.period;
    const double part = d.stiffness * dt / (d.damping + d.stiffness * dt), before = *x;
    *x += part * (goal - *x);
    o->v[dof] = (*x - before) / dt;
    o->a[dof] = 0;
}

static void read_joints(kk_observer *o, const double *q) {
    for (int k = 0; k < kk_model_nv(o->model); k++) {
        const int at = o->coordinate[k];
        if (at >= 0 && o->is_rubber[k]) {
            squeeze(o, k);
        } else if (at >= 0) {
            o->q[at] = q[at];
            track(o, k, q[at]);
        }
    }
    o->is_started = 1;
}

// ---- the base

/// Turned and moved on by the inertial sensor.
static void predict(kk_observer *o, const kk_observer_input *in) {
    const double dt = o->def.period;
    const kk_vec3 spin = kk_mat3_mul_vec(o->imu.R, in->gyro), g = kk_model_gravity(o->model);
    o->turning = kk_vec3_scale(kk_vec3_sub(spin, o->spin), 1 / o->def.joint_filter);
    o->spin = kk_vec3_add(o->spin, kk_vec3_scale(o->turning, dt));
    // the sensor's own acceleration, without what the base's rotation gives it
    const kk_vec3 lever =
        kk_vec3_add(kk_vec3_cross(o->turning, o->imu.p), kk_vec3_cross(o->spin, kk_vec3_cross(o->spin, o->imu.p)));
    const kk_vec3 felt = kk_vec3_sub(kk_mat3_mul_vec(o->imu.R, in->accelerometer), lever);
    o->push = kk_vec3_add(kk_mat3_mul_vec(o->X.R, felt), g);
    o->X.p = kk_vec3_add(o->X.p, kk_vec3_add(kk_vec3_scale(o->rate, dt), kk_vec3_scale(o->push, 0.5 * dt * dt)));
    o->rate = kk_vec3_add(o->rate, kk_vec3_scale(o->push, dt));
    const kk_quat turn = kk_quat_exp(kk_vec3_scale(spin, dt));
    o->X.R = kk_mat3_mul(o->X.R, kk_quat_to_mat3(turn));
}

/// Writes the base into the coordinates.
static void put_base(kk_observer *o) {
    const kk_transform X = kk_transform_mul(kk_transform_inverse(o->zero), o->X);
    const kk_quat turn = kk_quat_normalize(kk_quat_from_mat3(X.R));
    double *q = o->q + o->base_q, *v = o->v + o->base_v, *a = o->a + o->base_v;
    o->X.R = kk_mat3_mul(o->zero.R, kk_quat_to_mat3(turn)); // orthonormal again
    q[0] = turn.w, q[1] = turn.x, q[2] = turn.y, q[3] = turn.z;
    put_vector(q + 4, X.p);
    const kk_vec3 rate = kk_mat3_tmul_vec(o->X.R, o->rate), push = kk_mat3_tmul_vec(o->X.R, o->push);
    put_vector(v, o->spin);
    put_vector(v + 3, rate);
    put_vector(a, o->turning);
    put_vector(a + 3, kk_vec3_sub(push, kk_vec3_cross(o->spin, rate)));
}

/// 0 where a foot moves, 1 where it stands.
static double standing(const kk_observer *o, double load) {
    const double s = clamp((load - o->def.load[0]) / (o->def.load[1] - o->def.load[0]), 0, 1);
    return s * s * (3 - 2 * s);
}

/// Feet bring the base to where they are. @param load [feet] shares of the weight
static void correct(kk_observer *o, const double *load) {
    kk_vec3 turn = {0, 0, 0}, way = {0, 0, 0};
    double sum = 0;
    for (int i = 0; i < o->def.foot_count; i++) {
        const kk_transform X = kk_frame_pose(o->model, o->data, o->def.foot[i]);
        const double w = standing(o, load[i]) * load[i];
        const kk_mat3 off = kk_mat3_mul(o->anchor[i].R, kk_mat3_transpose(X.R));
        const kk_vec3 e = kk_quat_log(kk_quat_from_mat3(off));
        // as seen after the base has turned about its origin
        const kk_vec3 arm = kk_vec3_sub(X.p, o->X.p);
        const kk_vec3 gap = kk_vec3_sub(kk_vec3_sub(o->anchor[i].p, X.p), kk_vec3_cross(e, arm));
        turn = kk_vec3_add(turn, kk_vec3_scale(e, w));
        way = kk_vec3_add(way, kk_vec3_scale(gap, w));
        sum += w;
    }
    if (!(sum > 0)) {
        return; // in the air
    }
    const double dt = o->def.period, l = 1 / o->def.position_filter;
    turn = kk_vec3_scale(turn, dt / (o->def.orientation_filter * sum));
    way = kk_vec3_scale(way, 1 / sum);
    o->X.R = kk_mat3_mul(kk_quat_to_mat3(kk_quat_exp(turn)), o->X.R);
    o->X.p = kk_vec3_add(o->X.p, kk_vec3_scale(way, 2 * l * dt));
    o->rate = kk_vec3_add(o->rate, kk_vec3_scale(way, l * l * dt));
}

/// A foot on the floor: its place, and its direction about the vertical.
static kk_transform set_down(const kk_observer *o, kk_transform X) {
    const double yaw = kk_atan2(X.R.m[3], X.R.m[0]);
    X.R = kk_mat3_from_rpy(0, 0, yaw);
    X.p.z = o->def.floor;
    return X;
}

static void move_anchors(kk_observer *o, const double *load) {
    for (int i = 0; i < o->def.foot_count; i++) {
        const double s = standing(o, load[i]);
        const kk_transform X = set_down(o, kk_frame_pose(o->model, o->data, o->def.foot[i]));
        const double part = s > 0 ? clamp((1 - s) * o->def.period / o->def.joint_filter, 0, 1) : 1;
        const kk_vec3 e = kk_quat_log(kk_quat_from_mat3(kk_mat3_mul(X.R, kk_mat3_transpose(o->anchor[i].R))));
        const kk_mat3 turn = kk_quat_to_mat3(kk_quat_exp(kk_vec3_scale(e, part)));
        o->anchor[i].R = kk_mat3_mul(turn, o->anchor[i].R);
        o->anchor[i].p = kk_vec3_add(o->anchor[i].p, kk_vec3_scale(kk_vec3_sub(X.p, o->anchor[i].p), part));
    }
}

// ---- forces

/// Measured forces in the world about its origin, and the feet's loads.
static void read_forces(const kk_observer *o, const kk_observer_input *in, kk_observation *x) {
    x->floor = kk_force_make(kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 0));
    for (int i = 0; i < o->def.foot_count; i++) {
        x->foot[i] = kk_force_to(kk_frame_pose(o->model, o->data, o->def.foot[i]), in->foot[i]);
        x->floor = kk_force_add(x->floor, x->foot[i]);
        x->load[i] = clamp(x->foot[i].linear.z / o->weight, 0, 10);
    }
}

static void take_torques(kk_observer *o, const kk_force *foot) {
    for (int i = 0; i < o->def.foot_count; i++) {
        const int body = kk_model_frame_body(o->model, o->def.foot[i]);
        o->external[body] = kk_force_from(kk_body_pose(o->model, o->data, body), foot[i]);
    }
    kk_inverse_dynamics_external(o->model, o->data, o->q, o->v, o->a, o->external, o->tau);
}

/// What nothing drives must carry nothing: what is left on the base goes to the feet by their loads.
static void balance(kk_observer *o, kk_observation *x) {
    const double *left = o->tau + o->base_v;
    const kk_force off = kk_force_to(o->X, kk_force_make(vector_at(left), vector_at(left + 3)));
    kk_force foot[KK_OBSERVER_FEET];
    double sum = 0;
    for (int i = 0; i < o->def.foot_count; i++) {
        sum += x->load[i];
    }
    x->unbalanced = kk_vec3_norm(off.linear);
    for (int i = 0; i < o->def.foot_count && sum > 0; i++) {
        const double part = x->load[i] / sum;
        foot[i] =
            kk_force_add(x->foot[i], kk_force_make(kk_vec3_scale(off.angular, part), kk_vec3_scale(off.linear, part)));
    }
    if (sum > 0) {
        take_torques(o, foot);
    }
}

// ---- a period

kk_status kk_observer_step(kk_observer *o, const kk_observer_input *input, kk_observation *observation) {
    if (kki_is_missing(o, input, observation) || !input->q) {
        return KK_INVALID_ARGUMENT;
    }
    const kk_model *m = o->model;
    kk_observation x = {.q = o->q, .v = o->v, .a = o->a, .tau = o->tau};
    read_joints(o, input->q);
    predict(o, input);
    put_base(o);
    kk_kinematics(m, o->data, o->q);
    read_forces(o, input, &x);
    correct(o, x.load);
    put_base(o);
    kk_kinematics(m, o->data, o->q);
    move_anchors(o, x.load);
    read_forces(o, input, &x);
    take_torques(o, x.foot);
    memcpy(o->felt, o->tau, (size_t)kk_model_nv(m) * sizeof *o->felt);
    balance(o, &x);
    x.zmp = kk_zero_moment_point(x.floor, o->def.floor);
    x.com = kk_center_of_mass(m, o->data, o->q);
    x.com_rate = kk_vec3_scale(kk_centroidal_momentum(m, o->data, o->q, o->v).linear, 1 / kk_model_mass(m));
    *observation = x;
    return __builtin_isfinite(x.com.x + x.com.y + x.com.z) ? KK_OK : KK_NOT_FINITE;
}
