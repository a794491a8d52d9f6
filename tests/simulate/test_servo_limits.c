// Servos with a limit of force: however stiff, they are never beyond it, and leave it in the step in which they reach their target.
#include <karakuri/simulate.h>
#include <math.h>
#include <stdlib.h>

#include "stage.h"

typedef struct wheel {
    kk_spec *spec;
    kk_model *model;
    kk_state *state;
    kk_simulator *simulator;
} wheel;

/// 0.5 kg m² about a vertical axis with one actuator.
static wheel wheel_make(const kk_actuator_def *actuator, double dt) {
    wheel w = {0};
    kk_body_def body = kk_body_def_default();
    kk_error error = {0};
    const kk_step_options options = {.timestep = dt};
    body.name = "wheel";
    body.inertia.mass = 1;
    body.inertia.moment = (kk_sym3){.xx = 1, .yy = 1, .zz = 0.5};
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &w.spec), KK_OK);
    KK_CHECK_EQ_INT(kk_spec_add_body(w.spec, &body, NULL, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_spec_add_actuator(w.spec, actuator, NULL, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_model_compile(w.spec, NULL, &w.model, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(w.model, NULL, &w.state), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(w.model, &options, NULL, &w.simulator, &error), KK_OK);
    return w;
}

static void wheel_free(wheel *w) {
    kk_simulator_free(w->simulator);
    kk_state_free(w->state);
    kk_model_free(w->model);
    kk_spec_free(w->spec);
}

static double wheel_step(wheel *w, double control) {
    const kk_input input = {.control = &control};
    KK_CHECK_EQ_INT(kk_step(w->model, w->state, w->simulator, &input, NULL), KK_OK);
    return kk_simulator_force(w->simulator, KK_FORCE_ACTUATOR)[0];
}

static kk_actuator_def velocity_servo(double gain, double limit) {
    kk_actuator_def a = kk_actuator_def_default();
    a.type = KK_ACTUATOR_VELOCITY;
    a.target = "wheel_joint";
    a.gain = gain;
    a.bias[2] = -gain;
    a.force_lower = -limit;
    a.force_upper = limit;
    return a;
}

// 2 N m on 0.5 kg m²: 4 rad/s² until the target, then nothing, at any gain and any step
KK_TEST(velocity_servo_reaches_its_target_and_stays) {
    static const double gains[] = {10, 1e3, 1e6, 1e9}, steps[] = {1e-3, 7e-3, 0.03};
    for (int g = 0; g < 4; g++) {
        for (int k = 0; k < 3; k++) {
            const kk_actuator_def a = velocity_servo(gains[g], 2);
            wheel w = wheel_make(&a, steps[k]);
            double t = 0;
            while (t < 4) {
                const double force = wheel_step(&w, 10);
                KK_CHECK(force <= 2 && force >= -1e-6);
                KK_CHECK(kk_state_v(w.state)[0] <= 10 * (1 + 1e-12));
                if (t + steps[k] < 2.4) {
                    KK_CHECK_NEAR(force, 2, 1e-9);
                    KK_CHECK_NEAR(kk_state_v(w.state)[0], 4 * kk_state_time(w.state), 1e-9);
                }
                t += steps[k];
            }
            KK_CHECK_NEAR(kk_state_v(w.state)[0], 10, 1e-6);
            wheel_free(&w);
        }
    }
}

// the same through a gear, whose other side turns the limits round
KK_TEST(velocity_servo_with_a_gear) {
    kk_actuator_def a = velocity_servo(1e6, 2);
    a.gear = -3;
    wheel w = wheel_make(&a, 1e-3);
    for (int i = 0; i < 100; i++) {
        KK_CHECK_NEAR(wheel_step(&w, 300), -6, 1e-9); // torque at the joint
    }
    KK_CHECK_NEAR(kk_state_v(w.state)[0], -12 * 0.1, 1e-9);
    wheel_free(&w);
}

// a stiff position servo swings in at the limit and does not chatter at the end: it comes to rest
KK_TEST(position_servo_does_not_chatter) {
    kk_actuator_def a = velocity_servo(0, 5);
    a.type = KK_ACTUATOR_POSITION;
    a.gain = 1e5;
    a.bias[1] = -1e5;
    a.bias[2] = -5e4;
    wheel w = wheel_make(&a, 1e-3);
    for (int i = 0; i < 15000; i++) {
        KK_CHECK(fabs(wheel_step(&w, 1)) <= 5 * (1 + 1e-12));
    }
    KK_CHECK_NEAR(kk_state_q(w.state)[0], 1, 1e-9);
    KK_CHECK_NEAR(kk_state_v(w.state)[0], 0, 1e-9);
    wheel_free(&w);
}

// at its limit a servo is a force that is known, and no row
KK_TEST(servo_at_its_limit_is_no_row) {
    const kk_actuator_def a = velocity_servo(10, 2);
    wheel w = wheel_make(&a, 1e-3);
    for (int i = 0; i < 2000; i++) { // 8 rad/s of 10: it would give 20 N m and more
        KK_CHECK(wheel_step(&w, 10) == 2);
        KK_CHECK_EQ_INT(kk_simulator_report(w.simulator)->rows, 0);
    }
    wheel_free(&w);
}

// a servo so weak that it gets back inside its limit by a trace of its force: a row that asks for 2 · 10⁸ rad/s, and is as exact as any
KK_TEST(weak_servo_that_comes_off_its_limit) {
    const double gain = 1e-5, h = 0.1, wanted = 100;
    kk_actuator_def a = velocity_servo(0, 0);
    a.type = KK_ACTUATOR_POSITION;
    a.gain = gain;
    a.bias[1] = -gain;
    a.force_lower = -wanted;
    a.force_upper = wanted - 2.5e-6;
    wheel w = wheel_make(&a, h);
    const double force = wheel_step(&w, wanted / gain), answers = 0.5 * gain * 0.5 * h * h / 0.5;
    KK_CHECK_EQ_INT(kk_simulator_report(w.simulator)->rows, 1);
    KK_CHECK(kk_simulator_report(w.simulator)->residual <= 1e-12);
    KK_CHECK_NEAR(force, wanted / (1 + answers), 1e-11);
    KK_CHECK_NEAR(kk_state_v(w.state)[0], h * force / 0.5, 1e-12);
    wheel_free(&w);
}

/// A box that swings on its edge, and far away an arm whose servo runs into its limit again and again where it has one.
static uint64_t box_beside_servo(double limit) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 1, 0);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    const int box = stage_box(&s, 1, 0.2, 0.2, 0.2, material);
    stage_hinge(&s, "wheel", KK_WORLD, kk_vec3_make(5, 0, 5), kk_vec3_make(0, 1, 0),
                kk_inertia_solid_box(1, 0.1, 0.1, 1));
    kk_actuator_def servo = velocity_servo(100, limit);
    servo.type = KK_ACTUATOR_POSITION;
    servo.bias[1] = -100;
    servo.bias[2] = -1;
    KK_CHECK_EQ_INT(kk_spec_add_actuator(s.spec, &servo, NULL, &s.error), KK_OK);
    kk_spec_options(s.spec)->timestep = 0.002;
    uint64_t hash = 0;
    if (stage_ready(&s, NULL)) {
        const double lean = 0.35, speed = 2;
        double *q = stage_q(&s, box), *v = stage_v(&s, box);
        q[0] = cos(lean / 2);
        q[2] = sin(lean / 2);
        q[6] = 0.1 * (cos(lean) + sin(lean));
        v[1] = speed;
        v[3] = v[5] = 0.1 * speed; // the edge rests
        for (int i = 0; i < 150; i++) {
            const double control = i % 2 ? 0.008 : -0.012;
            const kk_input input = {.control = &control};
            KK_CHECK(stage_run(&s, 1, &input));
        }
        hash = kk_hash_doubles(q, 7, 0);
    }
    stage_end(&s);
    return hash;
}

// a step that is kicked twice, because of a servo, kicks what is not tied to it as once
KK_TEST(second_kick_leaves_others_alone) {
    KK_CHECK(box_beside_servo(1) == box_beside_servo(1e9));
}
