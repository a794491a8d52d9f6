/// Sensors: encoders and poses of the state as it is after the step; forces, accelerations and contacts of the step, at
/// its middle.
///
/// Noise comes from the counter-based generator, by seed, reading and number of the step, so a replay reads the same.
#include <karakuri/random.h>
#include <string.h>

#include "base/error.h"
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

static void read_joint(const source *x, const kki_model_sensor *k, double *out) {
    const kki_body *b = &x->m->body[k->target];
    const double *q = kk_state_q_const(x->state) + b->q_index, *v = kk_state_v_const(x->state) + b->v_index;
    const int dof = b->v_index + k->dof;
    switch (k->type) {
    case KK_SENSOR_JOINT_POSITION: out[0] = q[k->dof]; break;
    case KK_SENSOR_JOINT_VELOCITY: out[0] = v[k->dof]; break;
    case KK_SENSOR_JOINT_FORCE: out[0] = x->s->force[KK_FORCE_ACTUATOR][dof]; break;
    case KK_SENSOR_JOINT_LIMIT_FORCE: out[0] = x->s->force[KK_FORCE_LIMIT][dof]; break;
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

/// Normal forces on the body, summed.
static double read_contact(const source *x, const kki_model_sensor *k) {
    const int body = k->target_is_body ? k->target : x->m->frame[k->target].body;
    double sum = 0;
    for (int i = 0; i < x->s->ncontact; i++) {
        const kki_contact *c = &x->s->contact[i];
        if (x->m->shape[c->shape[0]].body == body || x->m->shape[c->shape[1]].body == body) {
            sum += kk_vec3_dot(c->impulse, c->normal) / x->s->h;
        }
    }
    return sum;
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
    const kk_vec3 centre = kk_vec3_scale(moment, inverse);
    if (k->type == KK_SENSOR_CENTRE_OF_MASS) {
        put(out, centre);
    } else if (k->type == KK_SENSOR_CENTRE_OF_MASS_VELOCITY) {
        put(out, kk_vec3_scale(momentum, inverse));
    } else {
        put(out, kk_vec3_sub(L, kk_vec3_cross(centre, momentum)));
    }
}

// ---- all

static void read_sensor(const source *x, const kki_model_sensor *k, double *out) {
    double motion[2];
    if (k->type <= KK_SENSOR_BALL_VELOCITY) {
        read_joint(x, k, out);
    } else if (k->type <= KK_SENSOR_TENDON_VELOCITY) {
        tendon_motion(x, k->target, motion);
        out[0] = motion[k->type == KK_SENSOR_TENDON_VELOCITY];
    } else if (k->type == KK_SENSOR_ACTUATOR_LENGTH || k->type == KK_SENSOR_ACTUATOR_VELOCITY) {
        actuator_motion(x, k->target, motion);
        out[0] = motion[k->type == KK_SENSOR_ACTUATOR_VELOCITY];
    } else if (k->type == KK_SENSOR_ACTUATOR_FORCE) {
        out[0] = x->s->drive[k->target];
    } else if (k->type == KK_SENSOR_CLOCK) {
        out[0] = kk_state_time(x->state);
    } else if (k->type >= KK_SENSOR_CENTRE_OF_MASS) {
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
        if (k->cutoff > 0) {
            out[i] = out[i] > k->cutoff ? k->cutoff : out[i] < -k->cutoff ? -k->cutoff : out[i];
        }
    }
}

kk_status kk_simulator_read_sensors(kk_simulator *simulator, const kk_state *state, uint64_t seed, double *readings,
                                    kk_error *error) {
    kk_simulator *s = simulator;
    const kk_model *m = s->model;
    if (!state || !readings) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "the state or the place for the readings is NULL");
    }
    kki_settle_energies(s);
    kk_kinematics_velocity(m, s->data, kk_state_q_const(state), kk_state_v_const(state));
    const source x = {m, s, state, s->data, kki_simulator_view(s)};
    const uint64_t step = (uint64_t)(kk_state_time(state) / s->h + 0.5);
    for (int i = 0; i < m->nsensor; i++) {
        const kki_model_sensor *k = &m->sensor[i];
        read_sensor(&x, k, readings + k->first);
        finish(k, seed, step, readings + k->first);
    }
    return KK_OK;
}
