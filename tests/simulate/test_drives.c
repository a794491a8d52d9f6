/// What drives joints, the ways that are taken where all are alike against the one that takes each as it is.
#include <math.h>
#include <string.h>

#include "stage.h"

enum { LINKS = 5, MOTORS = 7 };

static void add_link(stage *s, int i, int parent, double stiffness) {
    char name[16];
    kk_body_def def = kk_body_def_default();
    snprintf(name, sizeof name, "link%d", i);
    def.name = name;
    def.parent = parent;
    def.joint.type = KK_JOINT_HINGE;
    def.joint.axis = i % 2 ? kk_vec3_make(1, 0, 0) : kk_vec3_make(0, 1, 0);
    def.joint.placement.p = kk_vec3_make(0, parent == KK_WORLD ? i : 0, -0.3);
    def.joint.dof[0].damping = 0.1 * i;
    def.joint.dof[0].stiffness = stiffness;
    def.joint.dof[0].armature = 0.01;
    def.inertia = kk_inertia_solid_box(1, 0.1, 0.2, 0.3);
    KK_CHECK_EQ_INT(kk_spec_add_body(s->spec, &def, NULL, &s->error), KK_OK);
}

/// The last two are on joints that have one already.
static void add_motor(stage *s, int i) {
    char target[24];
    kk_actuator_def def = kk_actuator_def_default();
    snprintf(target, sizeof target, "link%d_joint", i % LINKS);
    def.target = target;
    def.gain = 1 + i;
    def.gear = 2 - 0.3 * i;
    def.control_lower = -0.8;
    def.control_upper = 0.7;
    def.force_lower = -1.5;
    def.force_upper = 1.2;
    KK_CHECK_EQ_INT(kk_spec_add_actuator(s->spec, &def, NULL, &s->error), KK_OK);
}

/// An arm with dampers and motors; where it is not alone, with a link beside it that has a spring and is held by a servo.
static stage arm(int is_alone) {
    stage s = stage_begin(9.81);
    for (int i = 0; i < LINKS; i++) {
        add_link(&s, i, i == 0 ? KK_WORLD : i, 0);
    }
    for (int i = 0; i < MOTORS; i++) {
        add_motor(&s, i);
    }
    if (!is_alone) {
        add_link(&s, LINKS, KK_WORLD, 3);
        kk_actuator_def servo = kk_actuator_def_default();
        servo.target = "link5_joint";
        servo.type = KK_ACTUATOR_POSITION;
        servo.gain = 10;
        servo.bias[1] = -10;
        KK_CHECK_EQ_INT(kk_spec_add_actuator(s.spec, &servo, NULL, &s.error), KK_OK);
    }
    stage_ready(&s, NULL);
    return s;
}

// whether all actuators are motors and all joints without springs is nothing to the others
KK_TEST(motors_and_dampers_are_the_same_among_others) {
    stage alone = arm(1), among = arm(0);
    double control[MOTORS + 1] = {0};
    const kk_input input = {.control = control};
    for (int i = 0; i < 200; i++) {
        for (int k = 0; k < MOTORS; k++) {
            control[k] = sin(0.1 * (i + 3 * k));
        }
        if (!stage_run(&alone, 1, &input) || !stage_run(&among, 1, &input)) {
            break;
        }
        const int at_q = kk_model_joint(among.model, 1).q_index, at_v = kk_model_joint(among.model, 1).v_index;
        KK_CHECK(!memcmp(kk_state_q(alone.state), kk_state_q(among.state) + at_q, LINKS * sizeof(double)));
        KK_CHECK(!memcmp(kk_state_v(alone.state), kk_state_v(among.state) + at_v, LINKS * sizeof(double)));
    }
    stage_end(&alone);
    stage_end(&among);
}

// no control is one of zeros, and one that is no number is told
KK_TEST(motors_without_control) {
    stage without = arm(1), zeros = arm(1);
    double control[MOTORS] = {0};
    const kk_input input = {.control = control};
    stage_run(&without, 50, NULL);
    stage_run(&zeros, 50, &input);
    KK_CHECK(!memcmp(kk_state_q(without.state), kk_state_q(zeros.state), LINKS * sizeof(double)));
    control[3] = NAN;
    KK_CHECK_EQ_INT(kk_step(zeros.model, zeros.state, zeros.simulator, &input, &zeros.error), KK_NOT_FINITE);
    control[3] = INFINITY;
    KK_CHECK_EQ_INT(kk_step(zeros.model, zeros.state, zeros.simulator, &input, &zeros.error), KK_NOT_FINITE);
    stage_end(&without);
    stage_end(&zeros);
}

/// What a step multiplies the square of a spring's amplitude by, by three places in a row. @param turn  ωh
static double damping_of(double turn, int is_servo) {
    const double h = 1e-3, mass = 2, k = mass * (turn / h) * (turn / h);
    stage s = stage_begin(0);
    kk_body_def def = kk_body_def_default();
    def.name = "mass";
    def.joint.type = KK_JOINT_SLIDE;
    def.joint.dof[0].stiffness = is_servo ? 0 : k;
    def.inertia = kk_inertia_solid_sphere(mass, 0.1);
    KK_CHECK_EQ_INT(kk_spec_add_body(s.spec, &def, NULL, &s.error), KK_OK);
    kk_actuator_def servo = kk_actuator_def_default();
    servo.target = "mass_joint";
    servo.type = KK_ACTUATOR_POSITION;
    servo.gain = is_servo ? k : 0;
    servo.bias[1] = -servo.gain;
    KK_CHECK_EQ_INT(kk_spec_add_actuator(s.spec, &servo, NULL, &s.error), KK_OK);
    const kk_step_options options = {.timestep = h};
    stage_ready(&s, &options);
    double x[4] = {1e-3, 0, 0, 0};
    kk_state_q(s.state)[0] = x[0];
    for (int i = 1; i < 4; i++) {
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
        x[i] = kk_state_q(s.state)[0];
    }
    stage_end(&s);
    return (x[1] * x[3] - x[2] * x[2]) / (x[0] * x[2] - x[1] * x[1]);
}

// nothing is lost where the step follows the spring; beyond, (1 + (1 − θ) x)/(1 + θ x) with x = (ωh)²/2, and Euler's backward rule from ωh = 2.06 on
KK_TEST(springs_and_servos_lose_what_the_rule_says) {
    static const double turns[] = {0.02, 0.1, 0.3, 0.49, 0.51, 1, 1.5, 2, 3, 10};
    for (int i = 0; i < 10; i++) {
        const double x = 0.5 * turns[i] * turns[i];
        const double theta = x <= 0.125 ? 0.5 : x >= 2.125 ? 1 : 0.5 + 0.25 * (x - 0.125);
        const double expected = (1 + (1 - theta) * x) / (1 + theta * x);
        KK_CHECK_NEAR(damping_of(turns[i], 0), expected, 1e-9);
        KK_CHECK_NEAR(damping_of(turns[i], 1), expected, 1e-9);
    }
}

// a stop ends the motion where it stands: however fast it was, nothing is left beyond it at the end of the step (it was v h/2)
KK_TEST(fast_joint_ends_at_its_stop) {
    for (double speed = 1; speed < 1000; speed *= 10) {
        const double h = 0.01;
        stage s = stage_begin(0);
        kk_body_def def = kk_body_def_default();
        def.name = "link";
        def.joint.dof[0].upper = 1;
        def.inertia = kk_inertia_solid_box(1, 0.1, 0.1, 0.5);
        KK_CHECK_EQ_INT(kk_spec_add_body(s.spec, &def, NULL, &s.error), KK_OK);
        const kk_step_options options = {.timestep = h};
        stage_ready(&s, &options);
        kk_state_q(s.state)[0] = 1 - 2.37 * speed * h;
        kk_state_v(s.state)[0] = speed;
        for (int i = 0; i < 5; i++) {
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
            const double left = 1 - (2.37 - (i + 1)) * speed * h;
            KK_CHECK_NEAR(kk_state_q(s.state)[0], left < 1 ? left : 1, 1e-9);
        }
        KK_CHECK(kk_state_v(s.state)[0] == 0);
        stage_end(&s);
    }
}
