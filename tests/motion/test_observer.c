// The observer: what a standing and swaying robot is told of itself by exact sensors is true; what is refused.
#include <karakuri/analysis.h>
#include <karakuri/control.h>
#include <karakuri/load.h>
#include <karakuri/observer.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "our_models.h"
#include "support/allocations.h"

/// HRP-2 on its rubber bushes, its servos told to sway, sensors without noise.
typedef struct swaying {
    kk_model *model;
    kk_state *state;
    kk_simulator *simulator;
    kk_data *data;
    kk_observer *observer;
    double *control, *start;
    int imu, sole[2];
    kk_vec3 rate;
} swaying;

enum { DEGREES = 64 };

static swaying begin(unsigned char rubber[DEGREES]) {
    swaying s = {.model = load_our_model(OUR_MODEL("hrp2/hrp2_bush.xml"))};
    const char *const joints[] = {"left_bush_z",  "left_bush_pitch",  "left_bush_roll",
                                  "right_bush_z", "right_bush_pitch", "right_bush_roll"};
    memset(rubber, 0, DEGREES);
    for (int i = 0; i < 6; i++) {
        rubber[kk_model_joint(s.model, kk_model_find_joint(s.model, joints[i])).v_index] = 1;
    }
    s.imu = kk_model_find_frame(s.model, "waist_imu");
    s.sole[0] = kk_model_find_frame(s.model, "left_sole");
    s.sole[1] = kk_model_find_frame(s.model, "right_sole");
    KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &s.state), KK_OK);
    KK_CHECK_EQ_INT(kk_state_set_keyframe(s.model, s.state, 0), KK_OK);
    KK_CHECK_EQ_INT(kk_data_create(s.model, NULL, &s.data), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(s.model, NULL, NULL, &s.simulator, NULL), KK_OK);
    s.control = calloc((size_t)kk_model_nactuator(s.model), sizeof *s.control);
    s.start = calloc((size_t)kk_model_nq(s.model), sizeof *s.start);
    memcpy(s.start, kk_state_q(s.state), (size_t)kk_model_nq(s.model) * sizeof *s.start);
    return s;
}

static void end(swaying *s) {
    kk_observer_free(s->observer);
    kk_simulator_free(s->simulator);
    kk_data_free(s->data);
    kk_state_free(s->state);
    kk_model_free(s->model);
    free(s->control);
    free(s->start);
}

/// Hips and ankles swing a little.
static void sway(swaying *s) {
    const double t = kk_state_time(s->state), lean = 0.01 * sin(4 * t);
    for (int i = 0; i < kk_model_nactuator(s->model); i++) {
        const kk_actuator_info a = kk_model_actuator(s->model, i);
        s->control[i] = s->start[kk_model_joint(s->model, a.joint).q_index];
        const int rolls = strstr(a.name, "hip_roll") != NULL, ankle = strstr(a.name, "_foot") != NULL;
        s->control[i] += rolls ? lean : ankle ? -lean : 0;
    }
    const kk_input input = {.control = s->control};
    KK_CHECK_EQ_INT(kk_step(s->model, s->state, s->simulator, &input, NULL), KK_OK);
}

static kk_observer_input sense(swaying *s) {
    kk_observer_input in = {.q = kk_state_q_const(s->state)};
    kk_kinematics_velocity(s->model, s->data, in.q, kk_state_v_const(s->state));
    const kk_mat3 R = kk_frame_pose(s->model, s->data, s->imu).R;
    const kk_motion V = kk_frame_velocity(s->model, s->data, s->imu, KK_WORLD_ALIGNED);
    const kk_vec3 a = kk_vec3_scale(kk_vec3_sub(V.linear, s->rate), 1000);
    s->rate = V.linear;
    in.gyro = kk_mat3_tmul_vec(R, V.angular);
    in.accelerometer = kk_mat3_tmul_vec(R, kk_vec3_add(a, kk_vec3_make(0, 0, 9.81)));
    for (int i = 0; i < 2; i++) {
        const kk_force floor = kk_simulator_contact_wrench(s->simulator, kk_model_frame_body(s->model, s->sole[i]), -1);
        in.foot[i] = kk_force_from(kk_frame_pose(s->model, s->data, s->sole[i]), floor);
    }
    return in;
}

static double torque_error(const swaying *s, const double *tau) {
    const double *given = kk_simulator_force(s->simulator, KK_FORCE_ACTUATOR);
    double worst = 0;
    for (int i = 0; i < kk_model_nactuator(s->model); i++) {
        const int k = kk_model_actuator(s->model, i).v_index;
        worst = fmax(worst, fabs(tau[k] - given[k]));
    }
    return worst;
}

// on both feet, with rubber that no encoder measures: where it is to a fifth of a millimeter, what its joints give to a thousandth
KK_TEST(observer_of_a_swaying_robot) {
    if (!HAS_OUR_MODELS) {
        return;
    }
    unsigned char rubber[DEGREES];
    swaying s = begin(rubber);
    kk_error error = {0};
    const kk_observer_def def = {.imu = s.imu, .foot = {s.sole[0], s.sole[1]}, .foot_count = 2, .unmeasured = rubber};
    KK_CHECK_EQ_INT(kk_observer_create(s.model, &def, NULL, &s.observer, &error), KK_OK);
    double com = 0, rate = 0, zmp = 0, torque = 0, largest = 0, base = 0;
    for (int i = 0; i < 3000; i++) {
        sway(&s);
        if (i == 0) {
            kk_observer_reset(s.observer, kk_state_q_const(s.state));
        }
        const kk_observer_input in = sense(&s);
        kk_observation x;
        const long before = allocations_so_far();
        KK_CHECK_EQ_INT(kk_observer_step(s.observer, &in, &x), KK_OK);
        KK_CHECK_EQ_INT(allocations_so_far(), before);
        if (i < 1000) {
            continue; // it sinks into its rubber at first
        }
        const double *q = kk_state_q_const(s.state);
        const kk_vec3 true_com = kk_center_of_mass(s.model, s.data, q);
        const kk_vec3 true_rate = kk_vec3_scale(
            kk_centroidal_momentum(s.model, s.data, q, kk_state_v_const(s.state)).linear, 1 / kk_model_mass(s.model));
        const kk_vec3 true_zmp = kk_zero_moment_point(kk_simulator_floor_wrench(s.simulator, s.model), 0);
        com = fmax(com, kk_vec3_norm(kk_vec3_sub(x.com, true_com)));
        rate = fmax(rate, kk_vec3_norm(kk_vec3_sub(x.com_rate, true_rate)));
        zmp = fmax(zmp, kk_vec3_norm(kk_vec3_sub(x.zmp, true_zmp)));
        torque = fmax(torque, torque_error(&s, x.tau));
        for (int k = 0; k < kk_model_nv(s.model); k++) {
            largest = fmax(largest, fabs(x.tau[k]));
        }
        base = fmax(base, fabs(x.tau[2]) + fabs(x.tau[5]));
        KK_CHECK_NEAR(x.load[0] + x.load[1], x.floor.linear.z / (kk_model_mass(s.model) * 9.81), 1e-12);
    }
    KK_CHECK(com < 2e-4);
    KK_CHECK(rate < 1e-3);
    KK_CHECK(zmp < 2e-4);
    KK_CHECK(torque < 1e-3 * largest);
    KK_CHECK(base < 1e-9); // nothing drives it
    end(&s);
}

KK_TEST(observer_refuses) {
    if (!HAS_OUR_MODELS) {
        return;
    }
    unsigned char rubber[DEGREES];
    swaying s = begin(rubber);
    kk_error error = {0};
    kk_observer_def def = {.imu = s.imu, .foot = {s.sole[0], -1}, .foot_count = 2};
    KK_CHECK_EQ_INT(kk_observer_create(s.model, &def, NULL, &s.observer, &error), KK_NOT_FOUND);
    def = (kk_observer_def){.imu = s.sole[0], .foot = {s.sole[0]}, .foot_count = 1};
    KK_CHECK_EQ_INT(kk_observer_create(s.model, &def, NULL, &s.observer, &error), KK_INVALID_ARGUMENT);
    KK_CHECK(strstr(error.text, "inertial"));
    rubber[kk_model_joint(s.model, kk_model_find_joint(s.model, "left_shin")).v_index] = 1;
    def = (kk_observer_def){.imu = s.imu, .foot = {s.sole[0]}, .foot_count = 1, .unmeasured = rubber};
    KK_CHECK_EQ_INT(kk_observer_create(s.model, &def, NULL, &s.observer, &error), KK_INVALID_ARGUMENT);
    KK_CHECK(strstr(error.text, "left_shin"));
    KK_CHECK(s.observer == NULL);
    end(&s);
}
