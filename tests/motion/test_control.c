// Control: closed forms of servo laws, feed-forward that leaves no error, playback.
#include <karakuri/control.h>
#include <karakuri/elementary.h>
#include <math.h>
#include <string.h>

#include "our_models.h"
#include "support/allocations.h"
#include "support/scene.h"

KK_TEST(pid_law) {
    kk_pid pid = {.kp = 2, .ki = 10, .kd = 0.5};
    KK_CHECK_NEAR(kk_pid_torque(&pid, 1, 0.2, 0.4, 0.1, 0.1), 2 * 0.6 + 10 * 0.06 + 0.5 * 0.1, 1e-15);
    KK_CHECK_NEAR(kk_pid_torque(&pid, 1, 0, 1, 0, 0.1), 0.6, 1e-15);
    // cut off: the integral does not grow on in that direction, and shrinks at once in the other
    pid = (kk_pid){.kp = 1, .ki = 10, .limit = 3};
    for (int i = 0; i < 100; i++) {
        KK_CHECK(kk_pid_torque(&pid, 1, 0, 0, 0, 0.1) <= 3);
    }
    KK_CHECK(pid.integral <= 0.3);
    KK_CHECK(kk_pid_torque(&pid, -1, 0, 0, 0, 0.1) < 1.5);
}

// the error of computed torque is that of the linear oscillator ë + kd ė + kp e = 0, whatever the robot: its acceleration is checked at once
KK_TEST(computed_torque_is_linear) {
    scene f = scene_robot("arm7", 5);
    double *q = scene_take(&f, (size_t)f.nq), *tau = scene_take(&f, (size_t)f.nv), *a = scene_take(&f, (size_t)f.nv);
    double *kp = scene_take(&f, (size_t)f.nv), *kd = scene_take(&f, (size_t)f.nv), *v = scene_take(&f, (size_t)f.nv);
    for (int k = 0; k < f.nv; k++) {
        q[k] = f.q[k] + 0.1 * k;
        v[k] = 0.3 - 0.1 * k;
        kp[k] = 100 + k;
        kd[k] = 20;
    }
    KK_CHECK_EQ_INT(kk_computed_torque(f.model, f.data, f.q, f.v, q, v, f.a, kp, kd, tau), KK_OK);
    kk_forward_dynamics(f.model, f.data, f.q, f.v, tau, a);
    for (int k = 0; k < f.nv; k++) {
        KK_CHECK_NEAR(a[k], f.a[k] + kp[k] * (q[k] - f.q[k]) + kd[k] * (v[k] - f.v[k]), 1e-9);
    }
    // data of another robot is refused, and nothing is written
    scene other = scene_robot("quadruped", 5);
    tau[0] = 12345;
    KK_CHECK_EQ_INT(kk_computed_torque(f.model, other.data, f.q, f.v, q, v, f.a, kp, kd, tau), KK_INVALID_ARGUMENT);
    KK_CHECK_BITS(tau[0], 12345.0);
    scene_free(&other);
    scene_free(&f);
}

// ---- feed-forward

/// A state of the scene's model with its q and v.
static kk_state *state_of(const scene *f) {
    kk_state *s = NULL;
    KK_CHECK_EQ_INT(kk_state_create(f->model, NULL, &s), KK_OK);
    memcpy(kk_state_q(s), f->q, (size_t)f->nq * sizeof *f->q);
    memcpy(kk_state_v(s), f->v, (size_t)f->nv * sizeof *f->v);
    return s;
}

static double worst_of(const double *a, const double *b, int n) {
    double most = 0;
    for (int k = 0; k < n; k++) {
        most = fmax(most, fabs(a[k] - b[k]));
    }
    return most;
}

// given the torques, a step brings every driven joint to the asked velocity, and a free base goes where it goes
KK_TEST(feedforward_reaches_the_velocity) {
    const char *const robots[] = {"arm7", "humanoid36"};
    for (int r = 0; r < 2; r++) {
        scene f = scene_robot(robots[r], 5);
        kk_feedforward *x = NULL;
        kk_simulator *simulator = NULL;
        kk_error error = {0};
        const kk_step_options options = {.timestep = 1e-3};
        double *change = scene_take_random(&f, (size_t)f.nv, 0.05, 3), *tau = scene_take(&f, (size_t)f.nv);
        double *wanted = scene_take(&f, (size_t)f.nv);
        kk_state *s = state_of(&f);
        KK_CHECK_EQ_INT(kk_feedforward_create(f.spec, NULL, 0, 1e-3, NULL, &x, &error), KK_OK);
        KK_CHECK_EQ_INT(kk_simulator_create(f.model, &options, NULL, &simulator, &error), KK_OK);
        const long before = allocations_so_far();
        if (!KK_CHECK_EQ_INT(kk_feedforward_torque(x, s, change, tau, &error), KK_OK)) {
            KK_FAIL("%s", error.text);
        }
        KK_CHECK_EQ_INT(allocations_so_far(), before);
        for (int k = 0; k < f.nv; k++) {
            wanted[k] = f.v[k] + change[k];
        }
        const kk_input input = {.tau = tau};
        KK_CHECK_EQ_INT(kk_step(f.model, s, simulator, &input, &error), KK_OK);
        const int base = r == 1 ? 6 : 0;
        KK_CHECK(worst_of(kk_state_v(s) + base, wanted + base, f.nv - base) < 1e-9);
        for (int k = 0; k < base; k++) {
            KK_CHECK(tau[k] == 0);
        }
        kk_state_free(s);
        kk_simulator_free(simulator);
        kk_feedforward_free(x);
        scene_free(&f);
    }
}

/// A four-bar whose crank is driven, its loop closed or open, as the state says: the crank's velocity after a step with the torque.
static double crank_after_step(int closed, double change) {
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    kk_state *s = NULL;
    kk_simulator *simulator = NULL;
    kk_feedforward *x = NULL;
    kk_error error = {0};
    const char *const crank[] = {"crank"};
    KK_CHECK_EQ_INT(kk_load_file(OUR_MODEL("four_bar/four_bar.xml"), NULL, NULL, &spec, NULL, &error), KK_OK);
    kk_spec_actuator(spec, 0)->gain = kk_spec_actuator(spec, 0)->bias[2] = 0;
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &model, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(model, NULL, &s), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(model, NULL, NULL, &simulator, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_feedforward_create(spec, crank, 1, 0, NULL, &x, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_state_set_loop(model, s, 0, closed), KK_OK);
    double tau[3], wanted[3] = {change, 0, 0};
    for (int i = 0; i < 20; i++) { // on its way already
        KK_CHECK_EQ_INT(kk_feedforward_torque(x, s, wanted, tau, &error), KK_OK);
        const kk_input input = {.tau = tau};
        KK_CHECK_EQ_INT(kk_step(model, s, simulator, &input, &error), KK_OK);
    }
    const double v = kk_state_v(s)[0];
    kk_feedforward_free(x);
    kk_simulator_free(simulator);
    kk_state_free(s);
    kk_model_free(model);
    kk_spec_free(spec);
    return v;
}

// what holds in the state holds in the twin: a loop that is switched off, too
KK_TEST(feedforward_copies_the_whole_state) {
    if (!HAS_OUR_MODELS) {
        return;
    }
    for (int closed = 0; closed <= 1; closed++) {
        KK_CHECK(fabs(crank_after_step(closed, 0)) < 1e-9);
        KK_CHECK_NEAR(crank_after_step(closed, 0.02), 0.4, 1e-9);
    }
}

KK_TEST(feedforward_refuses) {
    scene f = scene_robot("humanoid36", 5);
    kk_feedforward *x = NULL;
    kk_error error;
    const char *const unknown[] = {"nose"}, *const wide[] = {"pelvis_joint"};
    KK_CHECK_EQ_INT(kk_feedforward_create(f.spec, unknown, 1, 0, NULL, &x, &error), KK_NOT_FOUND);
    KK_CHECK(strstr(error.text, "nose"));
    KK_CHECK_EQ_INT(kk_feedforward_create(f.spec, wide, 1, 0, NULL, &x, &error), KK_INVALID_ARGUMENT);
    KK_CHECK(x == NULL);
    scene_free(&f);
    scene arm = scene_robot("arm7", 5);
    kk_status status = KK_OUT_OF_MEMORY;
    for (int n = 0; status == KK_OUT_OF_MEMORY && n < 1000; n++) {
        faulty memory = {.fail_at = n};
        const kk_allocator allocator = {faulty_allocate, faulty_release, &memory};
        status = kk_feedforward_create(arm.spec, NULL, 0, 0, &allocator, &x, &error);
        kk_feedforward_free(x);
        KK_CHECK_EQ_INT(memory.blocks, 0);
        x = NULL;
    }
    KK_CHECK_EQ_INT(status, KK_OK);
    scene_free(&arm);
}

// ---- runs

static kk_status push(void *user, const kk_model *model, const kk_state *state, double dt, kk_command *command,
                      kk_error *error) {
    (void)model;
    (void)error;
    (void)dt;
    KK_CHECK(command->tau[0] == 0); // cleared before every call
    command->tau[0] = kk_state_time(state) < 0.5 ? 2 : 0;
    *(int *)user += 1;
    return *(int *)user > 1500 ? KK_LIMIT_EXCEEDED : KK_OK;
}

// 2 N m on 0.5 kg m² for half a second: 2 rad/s; the controller's own status ends the run
KK_TEST(run_asks_the_controller) {
    kk_spec *spec = NULL;
    kk_body_def body = kk_body_def_default();
    body.name = "wheel";
    body.inertia.mass = 1;
    body.inertia.moment = (kk_sym3){.xx = 1, .yy = 1, .zz = 0.5};
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, NULL, NULL), KK_OK);
    scene f = scene_of(spec, 1);
    kk_state *s = NULL;
    kk_simulator *simulator = NULL;
    kk_command *command = NULL;
    int calls = 0;
    KK_CHECK_EQ_INT(kk_state_create(f.model, NULL, &s), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(f.model, NULL, NULL, &simulator, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_command_create(f.model, NULL, &command), KK_OK);
    KK_CHECK_EQ_INT(kk_run(f.model, s, simulator, command, push, &calls, 1000, NULL), KK_OK);
    KK_CHECK_NEAR(kk_state_v(s)[0], 2, 1e-9);
    KK_CHECK_EQ_INT(kk_run(f.model, s, simulator, command, push, &calls, 1000, NULL), KK_LIMIT_EXCEEDED);
    KK_CHECK_EQ_INT(calls, 1501);
    kk_command_free(command);
    kk_simulator_free(simulator);
    kk_state_free(s);
    scene_free(&f);
}

static void add_actuator(kk_spec *spec, kk_actuator_type type, const char *joint, double gain) {
    kk_actuator_def def = kk_actuator_def_default();
    def.type = type;
    def.target = joint;
    def.gain = gain;
    def.bias[1] = type == KK_ACTUATOR_POSITION ? -gain : 0;
    def.bias[2] = type == KK_ACTUATOR_POSITION ? -0.1 * gain : type == KK_ACTUATOR_VELOCITY ? -gain : 0;
    KK_CHECK_EQ_INT(kk_spec_add_actuator(spec, &def, NULL, NULL), KK_OK);
}

// three wheels with the three kinds of drive follow one sequence
KK_TEST(player_drives_every_kind) {
    kk_spec *spec = NULL;
    const char *const name[3] = {"a", "b", "c"}, *const joint[3] = {"a_joint", "b_joint", "c_joint"};
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    for (int i = 0; i < 3; i++) {
        kk_body_def body = kk_body_def_default();
        body.name = name[i];
        body.inertia = kk_inertia_solid_sphere(1, 0.3);
        KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, NULL, NULL), KK_OK);
    }
    add_actuator(spec, KK_ACTUATOR_POSITION, joint[0], 500);
    add_actuator(spec, KK_ACTUATOR_VELOCITY, joint[1], 50);
    add_actuator(spec, KK_ACTUATOR_FORCE, joint[2], 1);
    scene f = scene_of(spec, 1);
    const double time[2] = {0, 1}, value[6] = {0, 0, 0, 1, 1, 1};
    const kk_sequence_def def = {.model = f.model,
                                 .interpolation = KK_INTERPOLATE_MINIMUM_JERK,
                                 .count = 2,
                                 .width = 3,
                                 .time = time,
                                 .value = value};
    kk_sequence *sequence = NULL;
    kk_player *player = NULL;
    kk_state *s = NULL;
    kk_simulator *simulator = NULL;
    kk_command *command = NULL;
    kk_pid pid[3] = {[2] = {.kp = 60, .ki = 40, .kd = 4}};
    KK_CHECK_EQ_INT(kk_sequence_create(&def, NULL, &sequence, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_player_create(f.model, sequence, NULL, &player, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(f.model, NULL, &s), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(f.model, NULL, NULL, &simulator, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_command_create(f.model, NULL, &command), KK_OK);
    player->velocity_gain = 20;
    player->pid = pid;
    const long before = allocations_so_far();
    KK_CHECK_EQ_INT(kk_run(f.model, s, simulator, command, kk_player_control, player, 500, NULL), KK_OK);
    for (int k = 0; k < 3; k++) {
        KK_CHECK_NEAR(kk_state_q(s)[k], 0.5, 0.25);
    }
    KK_CHECK_EQ_INT(kk_run(f.model, s, simulator, command, kk_player_control, player, 4000, NULL), KK_OK);
    KK_CHECK_EQ_INT(allocations_so_far(), before);
    for (int k = 0; k < 3; k++) {
        KK_CHECK_NEAR(kk_state_q(s)[k], 1, 1e-3);
    }
    kk_command_free(command);
    kk_simulator_free(simulator);
    kk_state_free(s);
    kk_player_free(player);
    kk_sequence_free(sequence);
    scene_free(&f);
}
