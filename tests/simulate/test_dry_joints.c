// Dry friction of joints: while they slide it is a force and no row; where they stop, it holds them.
#include <karakuri/simulate.h>
#include <math.h>

#include "stage.h"

enum { INERTIA_HALF = 2 }; // 0.5 kg m²
static const double FRICTION = 0.1;

typedef struct wheel {
    kk_model *model;
    kk_state *state;
    kk_simulator *simulator;
} wheel;

static wheel wheel_by(kk_integrator integrator, double speed, double dt) {
    wheel w = {0};
    kk_spec *spec = NULL;
    kk_error error = {0};
    const kk_step_options options = {.timestep = dt};
    kk_body_def body = kk_body_def_default();
    body.name = "wheel";
    body.inertia.mass = 1;
    body.inertia.moment = (kk_sym3){.xx = 1, .yy = 1, .zz = 1.0 / INERTIA_HALF};
    body.joint.dof[0].friction = FRICTION;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    kk_spec_options(spec)->integrator = integrator;
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, NULL, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &w.model, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(w.model, NULL, &w.state), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(w.model, &options, NULL, &w.simulator, &error), KK_OK);
    kk_spec_free(spec);
    kk_state_v(w.state)[0] = speed;
    return w;
}

static wheel wheel_make(double speed, double dt) {
    return wheel_by(KK_INTEGRATOR_MIDPOINT, speed, dt);
}

static void wheel_free(wheel *w) {
    kk_simulator_free(w->simulator);
    kk_state_free(w->state);
    kk_model_free(w->model);
}

static kk_report wheel_step(wheel *w, double tau) {
    const kk_input input = {.tau = &tau};
    KK_CHECK_EQ_INT(kk_step(w->model, w->state, w->simulator, &input, NULL), KK_OK);
    return *kk_simulator_report(w->simulator);
}

static double speed(const wheel *w) {
    return kk_state_v_const(w->state)[0];
}

static double angle(const wheel *w) {
    return kk_state_q_const(w->state)[0];
}

// 1 rad/s is gone after 5 s and 2.5 rad, at steps that do not divide this either; then it stands to the bit
KK_TEST(a_wheel_runs_down_and_stands) {
    static const double steps[] = {0.01, 0.0123, 0.07};
    for (int i = 0; i < 3; i++) {
        const double dt = steps[i], slowing = FRICTION * INERTIA_HALF;
        wheel w = wheel_make(1, dt);
        int rows = 0;
        for (int k = 1; k * dt < 5 - 2 * dt; k++) {
            const double before = angle(&w);
            const kk_report r = wheel_step(&w, 0);
            rows += k > 1 ? r.rows : 0;
            KK_CHECK_NEAR(speed(&w), 1 - slowing * k * dt, 1e-12);
            KK_CHECK_NEAR(kk_simulator_force(w.simulator, KK_FORCE_FRICTION)[0], -FRICTION, 1e-15);
            KK_CHECK_NEAR(r.constraint_work, -FRICTION * (angle(&w) - before), 1e-14);
        }
        KK_CHECK_EQ_INT(rows, 0);
        for (int k = 0; k < 10; k++) {
            wheel_step(&w, 0);
        }
        KK_CHECK(speed(&w) == 0);
        KK_CHECK_NEAR(angle(&w), 2.5, 1e-12);
        wheel_free(&w);
    }
}

// a push nobody could foresee turns the wheel round inside a step: slowed by tau + f, then driven by tau − f
KK_TEST(a_wheel_that_is_turned_round_slides_the_other_way) {
    const double dt = 0.01, v = 1, push = 100;
    wheel w = wheel_make(v, dt);
    wheel_step(&w, 0);
    const double start = speed(&w), at = angle(&w);
    wheel_step(&w, -push);
    const double slowing = INERTIA_HALF * (push + FRICTION), driving = INERTIA_HALF * (push - FRICTION);
    const double turn = start / slowing, rest = dt - turn;
    KK_CHECK(turn > 0 && turn < dt);
    KK_CHECK_NEAR(speed(&w), -driving * rest, 1e-12);
    KK_CHECK_NEAR(angle(&w), at + 0.5 * start * turn - 0.5 * driving * rest * rest, 1e-12);
    wheel_step(&w, -push);
    KK_CHECK_NEAR(speed(&w), -driving * (rest + dt), 1e-12);
    KK_CHECK_NEAR(kk_simulator_force(w.simulator, KK_FORCE_FRICTION)[0], FRICTION, 1e-12);
    wheel_free(&w);
}

// less than friction stops it inside a step, and what is left of the step it stands
KK_TEST(a_wheel_that_is_braked_stops_inside_the_step) {
    const double dt = 0.01;
    wheel w = wheel_make(2e-3, dt);
    wheel_step(&w, 0.0999); // all but balanced: it slides on
    const double start = speed(&w), at = angle(&w), slowing = INERTIA_HALF * (0.05 + FRICTION);
    wheel_step(&w, -0.05);
    KK_CHECK(start / slowing < dt);
    KK_CHECK_NEAR(speed(&w), 0, 1e-12);
    KK_CHECK_NEAR(angle(&w), at + 0.5 * start * start / slowing, 1e-15);
    KK_CHECK(wheel_step(&w, -0.05).residual <= 1e-9);
    KK_CHECK_NEAR(speed(&w), 0, 1e-12);
    KK_CHECK_NEAR(kk_simulator_force(w.simulator, KK_FORCE_FRICTION)[0], 0.05, 1e-10);
    wheel_free(&w);
}

/// Wheels on a heavy body that floats, all of them about to stop inside the next step, each at its own instant; that step.
static kk_report stop_wheels(int count) {
    stage s = stage_begin(0);
    const int base = stage_body(&s, kk_inertia_solid_sphere(1e4, 1));
    kk_body_def body = kk_body_def_default();
    body.inertia.mass = 1;
    body.inertia.moment = (kk_sym3){.xx = 1, .yy = 1, .zz = 1};
    body.joint.dof[0].friction = FRICTION;
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "wheel%d", i);
        body.name = name;
        body.parent = base;
        KK_CHECK_EQ_INT(kk_spec_add_body(s.spec, &body, NULL, &s.error), KK_OK);
    }
    const kk_step_options options = {.timestep = 0.01};
    stage_ready(&s, &options);
    for (int i = 0; i < count; i++) {
        kk_state_v(s.state)[6 + i] = 1e-5 * (1 + 0.3 * i * i);
    }
    KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
    const kk_report report = *kk_simulator_report(s.simulator);
    for (int i = 0; i < count; i++) {
        KK_CHECK_NEAR(kk_state_v_const(s.state)[6 + i], 0, 1e-12);
        KK_CHECK(kk_state_q_const(s.state)[7 + i] >= 0 && kk_state_q_const(s.state)[7 + i] < 1e-6);
    }
    KK_CHECK(report.residual <= 1e-9 && report.constraint_work <= 0);
    stage_end(&s);
    return report;
}

// one or two joints are stopped at their instants; where many stop within a step it is taken whole, for each would cost a solution
KK_TEST(a_step_in_which_many_joints_stop_is_taken_whole) {
    KK_CHECK(stop_wheels(1).events >= 1);
    KK_CHECK(stop_wheels(2).events >= 1);
    KK_CHECK_EQ_INT(stop_wheels(5).events, 0);
}

// Runge and Kutta's step has islands that nobody solves; a touch that none of them saw is no reason to take the step in parts, without end
KK_TEST(a_wheel_slides_in_whole_steps_of_runge_and_kutta) {
    wheel w = wheel_by(KK_INTEGRATOR_RK4, 3, 0.02);
    for (int i = 0; i < 50; i++) {
        KK_CHECK_EQ_INT(wheel_step(&w, 0).substeps, 1);
    }
    KK_CHECK_NEAR(speed(&w), 3 - FRICTION * INERTIA_HALF, 1e-12);
    wheel_free(&w);
}
