/// Tendons, muscles and slider-cranks against stored results of MuJoCo (tests/golden/tendons, made by make_tendons.py).
#include <karakuri/dynamics.h>
#include <karakuri/load.h>

#include "dynamics/data.h"
#include "harness.h"
#include "simulate/crank.h"
#include <karakuri/simulate.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tendons/arm26.inc"
#include "tendons/cranks.inc"
#include "tendons/motions.inc"
#include "tendons/muscles.inc"
#include "tendons/wraps.inc"

#define KK_REQUIRE(condition)          \
    do {                               \
        if (!(condition)) {            \
            KK_FAIL("%s", #condition); \
            return;                    \
        }                              \
    } while (0)
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static kk_spec *spec_of(const char *xml) {
    kk_error error = {0};
    kk_spec *spec = NULL;
    const kk_file file = {"model.xml", xml, strlen(xml)};
    const kk_load_options o = {.file = &file, .file_count = 1};
    if (kk_load_file("model.xml", &o, NULL, &spec, NULL, &error) != KK_OK) {
        KK_FAIL("%s", error.text);
    }
    return spec;
}

/// MuJoCo's coordinates of hinges, slides and balls stand in the order of the joints; ours are found by name.
static const double *put_q(const kk_model *m, const char *const *joint, int count, const double *from, double *q) {
    for (int j = 0; j < count; j++) {
        const kk_joint_info info = kk_model_joint(m, kk_model_find_joint(m, joint[j]));
        memcpy(q + info.q_index, from, (size_t)info.nq * sizeof *q);
        from += info.nq;
    }
    return from;
}

static double worst_moment(const kk_model *m, const char *const *joint, int count, const double *theirs,
                           const double *ours) {
    double worst = 0;
    for (int j = 0; j < count; j++) {
        const kk_joint_info info = kk_model_joint(m, kk_model_find_joint(m, joint[j]));
        for (int k = 0; k < info.nv; k++) {
            worst = fmax(worst, fabs(*theirs++ - ours[info.v_index + k]));
        }
    }
    return worst;
}

/// Lengths and moment arms of all tendons at every stored pose.
static void compare(const kk_spec *spec, const char *const *joint, int joints, const double *state, int numbers) {
    kk_error error = {0};
    kk_model *m = NULL;
    kk_data *d = NULL;
    KK_REQUIRE(spec != NULL);
    KK_REQUIRE(kk_model_compile(spec, NULL, &m, &error) == KK_OK);
    KK_REQUIRE(kk_data_create(m, NULL, &d) == KK_OK);
    double q[64], moment[64], far = 0, off = 0;
    int tendons = 0;
    for (const double *at = state; at < state + numbers;) {
        at = put_q(m, joint, joints, at, q);
        kk_kinematics(m, d, q);
        for (int t = 0; t < kk_model_ntendon(m); t++, tendons++) {
            kk_tendon_moment(m, d, t, moment);
            far = fmax(far, fabs(kk_tendon_length(m, d, t, q) - at[0]));
            off = fmax(off, worst_moment(m, joint, joints, at + 1, moment));
            at += 1 + kk_model_nv(m);
        }
    }
    KK_CHECK(tendons > 100);
    KK_CHECK_NEAR(far, 0, 1e-9);
    KK_CHECK_NEAR(off, 0, 1e-9);
    kk_data_free(d);
    kk_model_free(m);
}

// spheres and cylinders, free, with a side and from inside; pulleys; obstacles on moving bodies and in the world
KK_TEST(wrapped_tendons_are_those_of_mujoco) {
    kk_spec *spec = spec_of(wraps_xml);
    compare(spec, wraps_joint, COUNT(wraps_joint), wraps_state, COUNT(wraps_state));
    kk_spec_free(spec);
}

static const char ARM[] = KK_SOURCE_DIR "/../shared/zoo/mujoco/tendon_arm/arm26.xml";

// MuJoCo's own arm; peak forces of its muscles by the inertia that they move
KK_TEST(arm26_is_that_of_mujoco) {
    kk_error error = {0};
    kk_spec *spec = NULL;
    FILE *file = fopen(ARM, "rb");
    if (!file) {
        KK_SKIP("no ../shared/zoo here");
    }
    fclose(file);
    KK_REQUIRE(kk_load_file(ARM, NULL, NULL, &spec, NULL, &error) == KK_OK);
    compare(spec, arm26_joint, COUNT(arm26_joint), arm26_state, COUNT(arm26_state));
    KK_CHECK_EQ_INT(kk_spec_actuator_count(spec), COUNT(arm26_muscle));
    for (int i = 0; i < COUNT(arm26_muscle); i++) {
        KK_CHECK_NEAR(kk_spec_actuator_const(spec, i)->muscle.force / arm26_muscle[i], 1, 1e-9);
    }
    kk_spec_free(spec);
}

KK_TEST(muscles_are_those_of_mujoco) {
    enum { NUMBERS = 20 };
    double passive = 0, whole = 0, rate = 0;
    KK_REQUIRE(COUNT(muscle_sample) % NUMBERS == 0);
    for (const double *x = muscle_sample; x < muscle_sample + COUNT(muscle_sample); x += NUMBERS) {
        const kk_muscle_def m = {.range = {x[0], x[1]},
                                 .force = x[2],
                                 .lmin = x[3],
                                 .lmax = x[4],
                                 .vmax = x[5],
                                 .fpmax = x[6],
                                 .fvmax = x[7],
                                 .length_lower = x[8],
                                 .length_upper = x[9],
                                 .time_constant = {x[10], x[11]},
                                 .smoothing = x[12]};
        passive = fmax(passive, fabs(kk_muscle_force(&m, x[13], x[14], 0) - x[17]));
        whole = fmax(whole, fabs(kk_muscle_force(&m, x[13], x[14], x[16]) - x[18]));
        rate = fmax(rate, fabs(kk_muscle_activation_rate(&m, x[15], x[16]) - x[19]));
    }
    KK_CHECK_NEAR(passive, 0, 1e-9);
    KK_CHECK_NEAR(whole, 0, 1e-9);
    KK_CHECK_NEAR(rate, 0, 1e-9);
}

/// What a unit of force along the slider does to the degrees of freedom.
static void add_wrench(const kk_model *m, const kk_data *d, int node, kk_vec3 at, kk_force f, double *tau) {
    for (int k = node > 0 ? m->node[node].v_index : -1; k >= 0; k = m->dof_parent[k]) {
        const kk_motion S = kki_axis_of(m, d, k);
        const kk_vec3 arm = kk_vec3_sub(at, kki_vec3(kki_pose_of(d, m->dof_node[k])->p));
        tau[k] += kk_vec3_dot(f.angular, S.angular) +
                  kk_vec3_dot(f.linear, kk_vec3_add(S.linear, kk_vec3_cross(S.angular, arm)));
    }
}

KK_TEST(slider_cranks_are_those_of_mujoco) {
    static const char *const joint[] = {"spin", "tip", "sway", "lift"};
    enum { DOFS = 4, NUMBERS = 2 * DOFS + 2 * (2 + DOFS) };
    kk_error error = {0};
    kk_spec *spec = spec_of(crank_xml);
    kk_model *m = NULL;
    kk_data *d = NULL;
    double length = 0, rate = 0, off = 0;
    KK_REQUIRE(spec && kk_model_compile(spec, NULL, &m, &error) == KK_OK);
    KK_REQUIRE(kk_data_create(m, NULL, &d) == KK_OK);
    for (const double *x = crank_state; x < crank_state + COUNT(crank_state); x += NUMBERS) {
        double q[DOFS], v[DOFS];
        put_q(m, joint, DOFS, x, q);
        put_q(m, joint, DOFS, x + DOFS, v);
        kk_kinematics_velocity(m, d, q, v);
        for (int i = 0; i < 2; i++) {
            const double *theirs = x + 2 * DOFS + i * (2 + DOFS), gear = m->actuator[i].gear;
            const kki_crank crank = kki_crank_measure(m, d, &m->actuator[i]);
            double tau[DOFS] = {0};
            for (int k = 0; k < 2; k++) {
                add_wrench(m, d, crank.node[k], crank.at[k], crank.unit[k], tau);
            }
            for (int k = 0; k < DOFS; k++) {
                tau[k] *= gear;
            }
            length = fmax(length, fabs(gear * crank.length - theirs[0]));
            rate = fmax(rate, fabs(gear * crank.rate - theirs[1]));
            off = fmax(off, worst_moment(m, joint, DOFS, theirs + 2, tau));
        }
    }
    KK_CHECK_NEAR(length, 0, 1e-9);
    KK_CHECK_NEAR(rate, 0, 1e-9);
    KK_CHECK_NEAR(off, 0, 1e-9);
    kk_data_free(d);
    kk_model_free(m);
    kk_spec_free(spec);
}

/// Where the chain is, and the worst residual on the way.
static void go(const kk_spec *spec, double time, const double *control, double q[2], double *residual) {
    kk_error error = {0};
    kk_model *m = NULL;
    kk_state *state = NULL;
    kk_simulator *simulator = NULL;
    const kk_input input = {.control = control};
    KK_REQUIRE(spec && kk_model_compile(spec, NULL, &m, &error) == KK_OK);
    KK_REQUIRE(kk_state_create(m, NULL, &state) == KK_OK);
    KK_REQUIRE(kk_simulator_create(m, NULL, NULL, &simulator, &error) == KK_OK);
    for (int i = 0; i < (int)(time / kk_model_options(m).timestep + 0.5); i++) {
        KK_REQUIRE(kk_step(m, state, simulator, &input, &error) == KK_OK);
        *residual = fmax(*residual, kk_simulator_report(simulator)->residual);
    }
    q[0] = kk_state_q(state)[kk_model_joint(m, kk_model_find_joint(m, "a")).q_index];
    q[1] = kk_state_q(state)[kk_model_joint(m, kk_model_find_joint(m, "b")).q_index];
    kk_simulator_free(simulator);
    kk_state_free(state);
    kk_model_free(m);
}

// two links swing under tendons and actuators of all kinds; both engines are of first order here, MuJoCo with a tenth of our time step
KK_TEST(chain_moves_as_that_of_mujoco) {
    for (int i = 0; i < COUNT(motion); i++) {
        kk_spec *spec = spec_of(motion[i].xml);
        double q[2] = {0, 0}, residual = 0;
        go(spec, motion[i].time, motion[i].control, q, &residual);
        const double off = fmax(fabs(q[0] - motion[i].q[0]), fabs(q[1] - motion[i].q[1]));
        if (off > 1e-3) {
            KK_FAIL("%s: %.6f %.6f, MuJoCo %.6f %.6f", motion[i].name, q[0], q[1], motion[i].q[0], motion[i].q[1]);
        }
        KK_CHECK(residual <= 1e-9);
        kk_spec_free(spec);
    }
}
