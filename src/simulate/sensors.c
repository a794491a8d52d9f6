/// Sensors: encoders and poses of the state as it is after the step; forces, accelerations and contacts of the step, at
/// its middle.
///
/// Noise comes from the counter-based generator, by seed, reading and number of the step, so a replay reads the same.
#include <karakuri/random.h>
#include <string.h>

#include "base/error.h"
#include "base/missing.h"
#include "simulate/crank.h"
#include "simulate/simulator.h"
#include "simulate/tendons.h"

/// What a reading is made from.
typedef struct source {
    const kk_model *m;
    kk_simulator *s;
    const kk_state *state;
    const kk_data *now;    ///< kinematics of the state
    const kk_data *middle; ///< kinematics of the step's middle, with accelerations
} source;

static void put(double *out, kk_vec3 a) {
    out[0] = a.x;
    out[1] = a.y;
    out[2] = a.z;
}

static void put_quat(double *out, kk_mat3 R) {
    const kk_quat q = kk_quat_from_mat3(R);
    out[0] = q.w;
    out[1] = q.x;
    out[2] = q.y;
    out[3] = q.z;
}

// ---- joints, tendons, actuators

/// How far a value is beyond a limit, ≤ 0, and how fast that changes.
static void limit_motion(double at, double rate, double lower, double upper, double out[2]) {
    const int is_below = at<lower, is_above = at> upper;
    out[0] = is_below ? at - lower : is_above ? upper - at : 0;
    out[1] = is_below ? rate : is_above ? -rate : 0;
}

/// Of a ball the limit is that of the whole angle.
static double read_joint_limit(const source *x, const kki_model_sensor *k) {
    const kki_body *b = &x->m->body[k->target];
    const double *q = kk_state_q_const(x->state) + b->q_index, *v = kk_state_v_const(x->state) + b->v_index;
    const kk_dof_def dof = kk_model_dof(x->m, b->v_index + k->dof);
    double motion[2], at = q[k->dof], rate = v[k->dof];
    if (b->joint_type == KK_JOINT_BALL) {
        const kk_vec3 turn = kk_quat_log((kk_quat){q[0], q[1], q[2], q[3]});
        const double angle = kk_vec3_norm(turn);
        at = angle;
        rate = angle > 0 ? kk_vec3_dot(turn, kk_vec3_make(v[0], v[1], v[2])) / angle : 0;
    }
    limit_motion(at, rate, b->joint_type == KK_JOINT_BALL ? 0 : dof.lower, dof.upper, motion);
    return motion[k->type == KK_SENSOR_JOINT_LIMIT_VELOCITY];
}

static void read_joint(const source *x, const kki_model_sensor *k, double *out) {
    const kki_body *b = &x->m->body[k->target];
    const double *q = kk_state_q_const(x->state) + b->q_index, *v = kk_state_v_const(x->state) + b->v_index;
    const int dof = b->v_index + k->dof;
    switch (k->type) {
    case KK_SENSOR_JOINT_POSITION: out[0] = q[k->dof]; break;
    case KK_SENSOR_JOINT_VELOCITY: out[0] = v[k->dof]; break;
    case KK_SENSOR_JOINT_FORCE: out[0] = x->s->forces.by_source[KK_FORCE_ACTUATOR][dof]; break;
    case KK_SENSOR_JOINT_LIMIT_FORCE: out[0] = x->s->forces.by_source[KK_FORCE_LIMIT][dof]; break;
    case KK_SENSOR_BALL_ORIENTATION: memcpy(out, q, 4 * sizeof *out); break;
    default: memcpy(out, v, 3 * sizeof *out); break;
    }
}

static void tendon_motion(const source *x, int tendon, double out[2]) {
    const kki_tendon_motion t =
        kki_tendon_measure(x->m, x->now, tendon, kk_state_q_const(x->state), kk_state_v_const(x->state));
    out[0] = t.length;
    out[1] = t.rate;
}

static void actuator_motion(const source *x, int actuator, double out[2]) {
    const kki_model_actuator *a = &x->m->actuator[actuator];
    out[0] = out[1] = 0;
    if (a->transmission == KK_TRANSMISSION_JOINT) {
        out[0] = kk_state_q_const(x->state)[a->q_index];
        out[1] = kk_state_v_const(x->state)[a->v_index];
    } else if (a->transmission == KK_TRANSMISSION_TENDON) {
        tendon_motion(x, a->tendon, out);
    } else if (a->transmission == KK_TRANSMISSION_CRANK) {
        const kki_crank crank = kki_crank_measure(x->m, x->now, a);
        out[0] = crank.length;
        out[1] = crank.rate;
    }
    out[0] *= a->gear;
    out[1] *= a->gear;
}

// ---- frames

static kk_transform pose_of(const source *x, const kk_data *d, int id, int is_body) {
    return is_body ? kk_body_pose(x->m, d, id) : kk_frame_pose(x->m, d, id);
}

static kk_motion velocity_of(const source *x, const kk_data *d, int id, int is_body, kk_reference reference) {
    return is_body ? kk_body_velocity(x->m, d, id, reference) : kk_frame_velocity(x->m, d, id, reference);
}

static kk_motion acceleration_of(const source *x, const kki_model_sensor *k, kk_reference reference) {
    return k->target_is_body ? kk_body_classical_acceleration(x->m, x->middle, k->target, reference)
                             : kk_frame_classical_acceleration(x->m, x->middle, k->target, reference);
}

/// The frame against the reference, or against the world.
static void read_pose(const source *x, const kki_model_sensor *k, double *out) {
    kk_transform X = pose_of(x, x->now, k->target, k->target_is_body);
    if (k->reference >= 0) {
        X = kk_transform_mul(kk_transform_inverse(pose_of(x, x->now, k->reference, k->reference_is_body)), X);
    }
    if (k->type == KK_SENSOR_POSITION) {
        put(out, X.p);
    } else if (k->type == KK_SENSOR_ORIENTATION) {
        put_quat(out, X.R);
    } else {
        put(out, kk_mat3_column(X.R, k->type == KK_SENSOR_AXIS_X ? 0 : k->type == KK_SENSOR_AXIS_Y ? 1 : 2));
    }
}

/// Velocity against the reference, in its axes.
static void read_velocity(const source *x, const kki_model_sensor *k, double *out) {
    kk_motion V = velocity_of(x, x->now, k->target, k->target_is_body, KK_WORLD_ALIGNED);
    if (k->reference >= 0) {
        const kk_transform X = pose_of(x, x->now, k->reference, k->reference_is_body);
        const kk_motion U = velocity_of(x, x->now, k->reference, k->reference_is_body, KK_WORLD_ALIGNED);
        const kk_vec3 arm = kk_vec3_sub(pose_of(x, x->now, k->target, k->target_is_body).p, X.p);
        V.linear = kk_vec3_sub(V.linear, kk_vec3_add(U.linear, kk_vec3_cross(U.angular, arm)));
        V.angular = kk_vec3_sub(V.angular, U.angular);
        V = kk_motion_make(kk_mat3_tmul_vec(X.R, V.angular), kk_mat3_tmul_vec(X.R, V.linear));
    }
    put(out, k->type == KK_SENSOR_LINEAR_VELOCITY ? V.linear : V.angular);
}

static void read_inertial(const source *x, const kki_model_sensor *k, double *out) {
    if (k->type == KK_SENSOR_GYRO || k->type == KK_SENSOR_VELOCIMETER) {
        const kk_motion V = velocity_of(x, x->now, k->target, k->target_is_body, KK_LOCAL);
        put(out, k->type == KK_SENSOR_GYRO ? V.angular : V.linear);
    } else if (k->type == KK_SENSOR_ACCELEROMETER) {
        const kk_vec3 a = acceleration_of(x, k, KK_WORLD_ALIGNED).linear;
        const kk_transform X = pose_of(x, x->middle, k->target, k->target_is_body);
        put(out, kk_mat3_tmul_vec(X.R, kk_vec3_sub(a, kk_model_gravity(x->m))));
    } else if (k->type == KK_SENSOR_PROPER_ACCELERATION) {
        put(out, kk_vec3_sub(acceleration_of(x, k, KK_WORLD_ALIGNED).linear, kk_model_gravity(x->m)));
    } else {
        const kk_motion A = acceleration_of(x, k, KK_WORLD_ALIGNED);
        put(out, k->type == KK_SENSOR_LINEAR_ACCELERATION ? A.linear : A.angular);
    }
}

/// What the frame's body gets from its parent, in the frame.
static void read_wrench(const source *x, const kki_model_sensor *k, double *out) {
    const int body = k->target_is_body ? k->target : x->m->frame[k->target].body;
    const kk_transform X_BF = k->target_is_body ? kk_transform_identity() : x->m->frame[k->target].X_BF;
    const kk_force F = kk_force_from(X_BF, kk_simulator_joint_wrenches(x->s)[body]);
    put(out, k->type == KK_SENSOR_FORCE ? F.linear : F.angular);
}

/// Normal forces on the body, summed; of contacts in the zone where there is one.
static double read_contact(const source *x, const kki_model_sensor *k) {
    const int body = k->target_is_body ? k->target : x->m->frame[k->target].body;
    const kk_transform X = pose_of(x, x->middle, k->target, k->target_is_body);
    double sum = 0;
    for (int i = 0; i < x->s->contacts.count; i++) {
        const kki_contact *c = &x->s->contacts.list[i];
        const int is_first = x->m->shape[c->shape[0]].body == body;
        const double force = kk_vec3_dot(c->impulse, c->normal) / x->s->h;
        if ((is_first || x->m->shape[c->shape[1]].body == body) && force > 0 &&
            kki_zone_feels(k, &X, c->position, is_first ? c->normal : kk_vec3_neg(c->normal))) {
            sum += force;
        }
    }
    return sum;
}

static void read_magnetic(const source *x, const kki_model_sensor *k, double *out) {
    put(out, kk_mat3_tmul_vec(pose_of(x, x->now, k->target, k->target_is_body).R, x->m->options.magnetic));
}

static double read_inside(const source *x, const kki_model_sensor *k) {
    const kk_transform X = pose_of(x, x->now, k->reference, k->reference_is_body);
    return k->zone < 0 ? 1 : kki_is_in_zone(k, &X, pose_of(x, x->now, k->target, k->target_is_body).p);
}

static void read_frame(const source *x, const kki_model_sensor *k, double *out) {
    switch (k->type) {
    case KK_SENSOR_POSITION:
    case KK_SENSOR_ORIENTATION:
    case KK_SENSOR_AXIS_X:
    case KK_SENSOR_AXIS_Y:
    case KK_SENSOR_AXIS_Z: read_pose(x, k, out); break;
    case KK_SENSOR_LINEAR_VELOCITY:
    case KK_SENSOR_ANGULAR_VELOCITY: read_velocity(x, k, out); break;
    case KK_SENSOR_FORCE:
    case KK_SENSOR_TORQUE: read_wrench(x, k, out); break;
    case KK_SENSOR_CONTACT: out[0] = read_contact(x, k); break;
    case KK_SENSOR_MAGNETIC_FIELD: read_magnetic(x, k, out); break;
    case KK_SENSOR_INSIDE: out[0] = read_inside(x, k); break;
    default: read_inertial(x, k, out); break;
    }
}

// ---- bodies and everything behind them

static int is_behind(const kk_model *m, int body, int root) {
    while (body > root) {
        body = m->body[body].parent;
    }
    return body == root;
}

static void read_subtree(const source *x, const kki_model_sensor *k, double *out) {
    const kk_model *m = x->m;
    double mass = 0;
    kk_vec3 moment = {0, 0, 0}, momentum = {0, 0, 0}, L = {0, 0, 0};
    for (int i = k->target > 0 ? k->target : 1; i < m->nbody; i++) {
        if (is_behind(m, i, k->target)) {
            const kk_inertia *I = &m->body[i].inertia;
            const kk_transform X = kk_body_pose(m, x->now, i);
            const kk_motion V = kk_body_velocity(m, x->now, i, KK_WORLD_ALIGNED);
            const kk_vec3 arm = kk_mat3_mul_vec(X.R, I->com), c = kk_vec3_add(X.p, arm);
            const kk_vec3 p = kk_vec3_scale(kk_vec3_add(V.linear, kk_vec3_cross(V.angular, arm)), I->mass);
            mass += I->mass;
            moment = kk_vec3_add(moment, kk_vec3_scale(c, I->mass));
            momentum = kk_vec3_add(momentum, p);
            L = kk_vec3_add(
                L, kk_vec3_add(kk_vec3_cross(c, p), kk_sym3_mul_vec(kk_sym3_rotate(X.R, I->moment), V.angular)));
        }
    }
    const double inverse = mass > 0 ? 1 / mass : 0;
    const kk_vec3 center = kk_vec3_scale(moment, inverse);
    if (k->type == KK_SENSOR_CENTER_OF_MASS) {
        put(out, center);
    } else if (k->type == KK_SENSOR_CENTER_OF_MASS_VELOCITY) {
        put(out, kk_vec3_scale(momentum, inverse));
    } else {
        put(out, kk_vec3_sub(L, kk_vec3_cross(center, momentum)));
    }
}

// ---- all

/// Of all actuators on the tendon, before their gears.
static double read_tendon_force(const source *x, const kki_model_sensor *k) {
    double sum = 0;
    for (int i = 0; i < x->m->nactuator; i++) {
        const kki_model_actuator *a = &x->m->actuator[i];
        sum += a->transmission == KK_TRANSMISSION_TENDON && a->tendon == k->target ? x->s->forces.drive[i] : 0;
    }
    return sum;
}

static double read_tendon_limit(const source *x, const kki_model_sensor *k) {
    double motion[2], beyond[2];
    tendon_motion(x, k->target, motion);
    limit_motion(motion[0], motion[1], x->m->tendon[k->target].lower, x->m->tendon[k->target].upper, beyond);
    return beyond[k->type == KK_SENSOR_TENDON_LIMIT_VELOCITY];
}

/// Of the springs of a joint's degrees of freedom; a turn of a ball is its rotation vector.
static double joint_spring_energy(const kk_model *m, const kki_body *b, const double *q) {
    double way[KK_MAX_JOINT_DOFS] = {0}, sum = 0;
    const int turns = b->joint_type == KK_JOINT_BALL || b->joint_type == KK_JOINT_FREE;
    const double *rest_of = turns ? q + 4 : q;
    if (turns) {
        put(way, kk_quat_log((kk_quat){q[0], q[1], q[2], q[3]}));
    }
    for (int k = turns ? 3 : 0; k < b->nv; k++) {
        way[k] = *rest_of++;
    }
    for (int k = 0; k < b->nv; k++) {
        const kk_dof_def *dof = &m->dof[b->v_index + k];
        sum += 0.5 * dof->stiffness * ((way[k] - dof->rest) * (way[k] - dof->rest));
    }
    return sum;
}

static double potential_energy(const source *x, const double *q) {
    double sum = kki_tendon_energy(x->m, x->now, q);
    for (int i = 1; i < x->m->nbody; i++) {
        sum += joint_spring_energy(x->m, &x->m->body[i], q + x->m->body[i].q_index);
    }
    return sum + kk_potential_energy(x->m, x->s->data, q);
}

/// Energies are computed on the data that has the state's poses and velocities, which come back.
static double read_energy(const source *x, const kki_model_sensor *k) {
    const double *q = kk_state_q_const(x->state), *v = kk_state_v_const(x->state);
    const double energy =
        k->type == KK_SENSOR_KINETIC_ENERGY ? kk_kinetic_energy(x->m, x->s->data, q, v) : potential_energy(x, q);
    kk_kinematics_velocity(x->m, x->s->data, q, v);
    return energy;
}

/// Types that came later; false: an older one.
static int read_newer(const source *x, const kki_model_sensor *k, double *out) {
    switch (k->type) {
    case KK_SENSOR_TENDON_FORCE: out[0] = read_tendon_force(x, k); break;
    case KK_SENSOR_JOINT_LIMIT_POSITION:
    case KK_SENSOR_JOINT_LIMIT_VELOCITY: out[0] = read_joint_limit(x, k); break;
    case KK_SENSOR_TENDON_LIMIT_POSITION:
    case KK_SENSOR_TENDON_LIMIT_VELOCITY: out[0] = read_tendon_limit(x, k); break;
    case KK_SENSOR_DISTANCE:
    case KK_SENSOR_DIRECTION:
    case KK_SENSOR_SEGMENT: kki_read_separation(x->m, x->now, k, out); break;
    case KK_SENSOR_CONTACTS: kki_read_contacts(x->s, x->middle, k, out); break;
    case KK_SENSOR_KINETIC_ENERGY:
    case KK_SENSOR_POTENTIAL_ENERGY: out[0] = read_energy(x, k); break;
    default: return 0;
    }
    return 1;
}

static void read_sensor(const source *x, const kki_model_sensor *k, double *out) {
    double motion[2];
    if (read_newer(x, k, out)) {
        return;
    }
    if (k->type <= KK_SENSOR_BALL_VELOCITY) {
        read_joint(x, k, out);
    } else if (k->type <= KK_SENSOR_TENDON_VELOCITY) {
        tendon_motion(x, k->target, motion);
        out[0] = motion[k->type == KK_SENSOR_TENDON_VELOCITY];
    } else if (k->type == KK_SENSOR_ACTUATOR_LENGTH || k->type == KK_SENSOR_ACTUATOR_VELOCITY) {
        actuator_motion(x, k->target, motion);
        out[0] = motion[k->type == KK_SENSOR_ACTUATOR_VELOCITY];
    } else if (k->type == KK_SENSOR_ACTUATOR_FORCE) {
        out[0] = x->s->forces.drive[k->target];
    } else if (k->type == KK_SENSOR_CLOCK) {
        out[0] = kk_state_time(x->state);
    } else if (k->type >= KK_SENSOR_CENTER_OF_MASS && k->type <= KK_SENSOR_ANGULAR_MOMENTUM) {
        read_subtree(x, k, out);
    } else if (k->type == KK_SENSOR_RANGE) {
        out[0] = kki_read_range(x->m, x->now, k);
    } else {
        read_frame(x, k, out);
    }
}

/// Noise, then the cutoff.
static void finish(const kki_model_sensor *k, uint64_t seed, uint64_t step, double *out) {
    for (int i = 0; i < k->count; i++) {
        if (k->noise > 0) {
            out[i] += k->noise * kk_random_normal_at(seed, (uint64_t)k->first + (uint64_t)i, step);
        }
        if (k->cutoff > 0 && k->type < KK_SENSOR_DISTANCE) { // of distances it is the reach
            out[i] = out[i] > k->cutoff ? k->cutoff : out[i] < -k->cutoff ? -k->cutoff : out[i];
        }
    }
}

kk_status kk_simulator_read_sensors(kk_simulator *simulator, const kk_state *state, uint64_t seed, double *sensor_data,
                                    kk_error *error) {
    if (kki_is_missing(simulator)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_simulator *s = simulator;
    const kk_model *m = s->model;
    if (!state || !sensor_data) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "the state or the place for the sensor data is NULL");
    }
    if (kki_state_model_hash(state) != simulator->model_hash) {
        return kki_error_set(error, KK_SIZE_MISMATCH, "the state is of another model than the simulator");
    }
    kki_simulator_see(s, state);
    const source x = {m, s, state, s->data, kki_simulator_view(s)};
    const uint64_t step = (uint64_t)(kk_state_time(state) / s->h + 0.5);
    for (int i = 0; i < m->nsensor; i++) {
        const kki_model_sensor *k = &m->sensor[i];
        read_sensor(&x, k, sensor_data + k->first);
        finish(k, seed, step, sensor_data + k->first);
    }
    return KK_OK;
}
