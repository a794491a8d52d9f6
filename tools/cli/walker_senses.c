// Noisy sensors and an observer; see walker_senses.h.
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "walker_senses.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_CALLS = 1 << 20, TWINS = 3 };

struct walker_senses {
    const kk_model *model;
    const walker_noise *noise;
    kk_observer
        *observer[TWINS]; ///< the first is listened to; the others tell how long a call takes that nothing interrupts
    kk_observation seen;
    kk_data *data;
    double dt, *q;
    int imu, sole[2];
    kk_vec3 rate; ///< of the sensor, world, in the period before
    bool has_rate;
    uint64_t counter;
    float *seconds; ///< of each call
    size_t calls;
    double zmp_sum, torque_sum;
    size_t zmps, torques;
};

// ---- making

/// Degrees that nothing drives and a spring holds: the rubber under the ankles. To be freed.
static unsigned char *find_rubber(const kk_model *m) {
    unsigned char *is_rubber = cli_allocate((size_t)kk_model_nv(m), 1);
    for (int k = 6; k < kk_model_nv(m); k++) {
        is_rubber[k] = kk_model_dof(m, k).stiffness > 0;
    }
    for (int i = 0; i < kk_model_nactuator(m); i++) {
        const kk_actuator_info a = kk_model_actuator(m, i);
        if (a.transmission == KK_TRANSMISSION_JOINT) {
            is_rubber[a.v_index] = 0;
        }
    }
    return is_rubber;
}

static int frame_named(const kk_model *m, const char *name, const char *usual, kk_error *error) {
    const int frame = kk_model_find_frame(m, name ? name : usual);
    if (frame < 0) {
        snprintf(error->text, sizeof error->text, "the model has no frame '%s' for the observer", name ? name : usual);
        error->status = KK_NOT_FOUND;
    }
    return frame;
}

kk_status walker_senses_create(const kk_model *model, const walker_options *o, double dt, walker_senses **senses,
                               kk_error *error) {
    walker_senses *s = *senses = cli_allocate(1, sizeof *s);
    unsigned char *rubber = find_rubber(model);
    s->model = model;
    s->noise = &o->noise;
    s->dt = dt;
    s->imu = frame_named(model, o->imu, "waist_imu", error);
    s->sole[0] = frame_named(model, o->sole[0], "left_sole", error);
    s->sole[1] = frame_named(model, o->sole[1], "right_sole", error);
    kk_status status = error->status;
    if (!status) {
        const kk_observer_def def = {
            .imu = s->imu, .foot = {s->sole[0], s->sole[1]}, .foot_count = 2, .unmeasured = rubber, .period = dt};
        for (int i = 0; i < TWINS && !status; i++) {
            status = kk_observer_create(model, &def, NULL, &s->observer[i], error);
        }
    }
    status = status ? status : kk_data_create(model, NULL, &s->data);
    s->q = cli_allocate((size_t)kk_model_nq(model), sizeof *s->q);
    s->seconds = cli_allocate(MOST_CALLS, sizeof *s->seconds);
    free(rubber);
    return status;
}

void walker_senses_free(walker_senses *s) {
    if (s) {
        for (int i = 0; i < TWINS; i++) {
            kk_observer_free(s->observer[i]);
        }
        kk_data_free(s->data);
        free(s->q);
        free(s->seconds);
        free(s);
    }
}

void walker_senses_start(walker_senses *s, const kk_state *state) {
    for (int i = 0; i < TWINS; i++) {
        kk_observer_reset(s->observer[i], kk_state_q_const(state));
    }
}

// ---- sensors

static double noise(walker_senses *s) {
    return kk_random_normal_at(s->noise->seed, 0x5e15e, s->counter++);
}

static kk_vec3 shaken(walker_senses *s, kk_vec3 a, double size) {
    return kk_vec3_make(a.x + size * noise(s), a.y + size * noise(s), a.z + size * noise(s));
}

/// Every component reads a share too much or too little.
static kk_vec3 scaled(walker_senses *s, kk_vec3 a) {
    const double share = s->noise->force;
    return kk_vec3_make(a.x * (1 + share * noise(s)), a.y * (1 + share * noise(s)), a.z * (1 + share * noise(s)));
}

static void read_encoders(walker_senses *s, const kk_state *state, kk_observer_input *in) {
    memcpy(s->q, kk_state_q_const(state), (size_t)kk_model_nq(s->model) * sizeof *s->q);
    for (int b = 2; b < kk_model_nbody(s->model); b++) {
        const kk_joint_info j = kk_model_joint(s->model, b);
        for (int k = 0; k < j.nq; k++) {
            s->q[j.q_index + k] += s->noise->encoder * noise(s);
        }
    }
    in->q = s->q;
}

/// The sensor's own mean acceleration over the period, as its velocities before and after tell.
static void read_imu(walker_senses *s, const kk_state *state, kk_observer_input *in) {
    const double *q = kk_state_q_const(state), *v = kk_state_v_const(state);
    kk_kinematics_velocity(s->model, s->data, q, v);
    const kk_transform X = kk_frame_pose(s->model, s->data, s->imu);
    const kk_motion V = kk_frame_velocity(s->model, s->data, s->imu, KK_WORLD_ALIGNED);
    const kk_vec3 own = s->has_rate ? kk_vec3_scale(kk_vec3_sub(V.linear, s->rate), 1 / s->dt) : kk_vec3_make(0, 0, 0);
    const kk_vec3 felt = kk_vec3_sub(own, kk_model_gravity(s->model));
    in->gyro = shaken(s, kk_mat3_tmul_vec(X.R, V.angular), s->noise->gyro);
    in->accelerometer = shaken(s, kk_mat3_tmul_vec(X.R, felt), s->noise->accelerometer);
    s->rate = V.linear;
    s->has_rate = true;
}

static void read_feet(walker_senses *s, const kk_force floor[2], kk_observer_input *in) {
    for (int i = 0; i < 2; i++) {
        const kk_force own = kk_force_from(kk_frame_pose(s->model, s->data, s->sole[i]), floor[i]);
        in->foot[i] = kk_force_make(scaled(s, own.angular), scaled(s, own.linear));
    }
}

// ---- how good it is

static void judge(walker_senses *s, const kk_state *state, kk_simulator *simulator, const kk_force floor[2],
                  walker_result *r) {
    const kk_vec3 com = kk_center_of_mass(s->model, s->data, kk_state_q_const(state));
    const double off = kk_vec3_norm(kk_vec3_sub(s->seen.com, com));
    r->com_error = off > r->com_error ? off : r->com_error;
    const kk_vec3 zmp = kk_zero_moment_point(kk_force_add(floor[0], floor[1]), 0);
    const double far = kk_hypot(zmp.x - s->seen.zmp.x, zmp.y - s->seen.zmp.y);
    if (far == far) {
        s->zmp_sum += far * far;
        s->zmps++;
    }
    const double *given = simulator ? kk_simulator_force(simulator, KK_FORCE_ACTUATOR) : NULL;
    for (int i = 0; i < kk_model_nactuator(s->model) && given; i++) {
        const int k = kk_model_actuator(s->model, i).v_index;
        s->torque_sum += (s->seen.tau[k] - given[k]) * (s->seen.tau[k] - given[k]);
        s->torques++;
    }
}

static double seconds_of(kk_observer *observer, const kk_observer_input *input, kk_observation *seen) {
    struct timespec start, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    kk_observer_step(observer, input, seen);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

/// The least of three observers with the same input: interrupts of the machine are none of the call's.
static void observe(walker_senses *s, const kk_observer_input *input) {
    kk_observation same;
    double least = seconds_of(s->observer[0], input, &s->seen);
    for (int i = 1; i < TWINS; i++) {
        const double seconds = seconds_of(s->observer[i], input, &same);
        least = seconds < least ? seconds : least;
    }
    if (s->calls < MOST_CALLS) {
        s->seconds[s->calls++] = (float)least;
    }
}

void walker_senses_read(walker_senses *s, const kk_state *state, kk_simulator *simulator, const kk_force floor[2],
                        walker_result *r, kk_stabilizer_input *in) {
    kk_observer_input input;
    read_encoders(s, state, &input);
    read_imu(s, state, &input);
    read_feet(s, floor, &input);
    observe(s, &input);
    judge(s, state, simulator, floor, r);
    in->q = s->seen.q;
    in->v = s->seen.v;
    in->floor[0] = s->seen.foot[0];
    in->floor[1] = s->seen.foot[1];
}

static int in_order(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

void walker_senses_conclude(walker_senses *s, walker_result *r) {
    if (s->calls == 0) {
        return;
    }
    qsort(s->seconds, s->calls, sizeof *s->seconds, in_order);
    r->observer_time[0] = (double)s->seconds[s->calls / 2];
    r->observer_time[1] = (double)s->seconds[s->calls - 1 - s->calls / 10000];
    r->zmp_observed = s->zmps ? kk_sqrt(s->zmp_sum / (double)s->zmps) : 0;
    r->torque_error = s->torques ? kk_sqrt(s->torque_sum / (double)s->torques) : 0;
}
