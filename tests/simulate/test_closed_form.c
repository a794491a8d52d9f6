// Scenes with an answer on paper. The long versions are rows of `karakuri exam`.
#include "stage.h"

/// A block of 1 kg, friction 0.5, 9.8 m/s², at rest on the floor.
static int block_on_floor(stage *s, double dt) {
    const int material = stage_material(s, 0.5, 0);
    stage_shape(s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    const int block = stage_box(s, 1, 0.2, 0.2, 0.1, material);
    const kk_step_options options = {.timestep = dt};
    if (stage_ready(s, &options)) {
        stage_place(s, block, 0, 0, 0.05);
    }
    return block;
}

// a sliding block stops after v²/(2 μ g), whether or not the step divides the time it takes
KK_TEST(step_block_slides_and_stops) {
    static const double steps[] = {1.0 / 50, 1.0 / 200, 0.0123, 1 / 70.3};
    for (int i = 0; i < 4; i++) {
        stage s = stage_begin(9.8);
        const int block = block_on_floor(&s, steps[i]);
        stage_v(&s, block)[3] = 9.8 * 0.6;
        stage_v(&s, block)[4] = 9.8 * 0.8;
        stage_run(&s, (int)(2.5 / steps[i]), NULL);
        KK_CHECK_NEAR(stage_q(&s, block)[4], 9.8 * 0.6, 1e-12);
        KK_CHECK_NEAR(stage_q(&s, block)[5], 9.8 * 0.8, 1e-12);
        KK_CHECK_NEAR(stage_q(&s, block)[6], 0.05, 1e-12);
        KK_CHECK_NEAR(stage_v(&s, block)[3], 0, 1e-12);
        stage_end(&s);
    }
}

// below μ m g a block does not creep; above, it accelerates by the difference
KK_TEST(step_static_threshold) {
    static const double pulls[] = {4.9 - 1e-6, 4.9 + 1e-6};
    for (int i = 0; i < 2; i++) {
        stage s = stage_begin(9.8);
        const int block = block_on_floor(&s, 0.01);
        kk_force wrench[2] = {{{0, 0, 0}, {0, 0, 0}}};
        wrench[1].linear = kk_vec3_make(0, pulls[i], 0);
        const kk_input input = {.wrench = wrench};
        stage_run(&s, 200, &input);
        KK_CHECK_NEAR(stage_v(&s, block)[4], i ? 2e-6 : 0, 1e-11);
        stage_end(&s);
    }
}

KK_TEST(step_incline) {
    static const double off[] = {-1e-6, 1e-3};
    for (int i = 0; i < 2; i++) {
        const double angle = kk_atan(0.5) + off[i];
        stage s = stage_begin(9.81);
        const int material = stage_material(&s, 0.5, 0);
        const int plane = stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
        kk_spec_shape(s.spec, plane)->placement.R = kk_mat3_from_rpy(0, angle, 0);
        const int box = stage_box(&s, 2, 0.3, 0.2, 0.1, material);
        const kk_step_options options = {.timestep = 1e-3};
        if (stage_ready(&s, &options)) {
            double *q = stage_q(&s, box);
            q[0] = kk_cos(angle / 2);
            q[2] = kk_sin(angle / 2);
            stage_place(&s, box, 0.05 * kk_sin(angle), 0, 0.05 * kk_cos(angle));
            stage_run(&s, 500, NULL);
            const double a = 9.81 * (kk_sin(angle) - 0.5 * kk_cos(angle));
            KK_CHECK_NEAR(stage_v(&s, box)[3], i ? 0.5 * a : 0, 1e-11);
            KK_CHECK_NEAR(stage_v(&s, box)[5], 0, 1e-11);
        }
        stage_end(&s);
    }
}

// 2 v₀/(7 μ g) after it was thrown a sphere rolls at 5/7 of its speed
KK_TEST(step_sphere_slides_then_rolls) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.3, 0);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    const int ball = stage_ball(&s, 1, 0.1, material);
    const kk_step_options options = {.timestep = 1e-3};
    if (stage_ready(&s, &options)) {
        stage_place(&s, ball, 0, 0, 0.1);
        stage_v(&s, ball)[3] = 5;
        stage_run(&s, 1000, NULL);
        const double rolls = 10 / (7 * 0.3 * 9.81), x = 5 * rolls - 0.15 * 9.81 * rolls * rolls;
        KK_CHECK_NEAR(stage_q(&s, ball)[4], x + 25.0 / 7 * (1 - rolls), 1e-10);
        KK_CHECK_NEAR(stage_v(&s, ball)[1], 250.0 / 7, 1e-9); // turned about y: the axes stay
    }
    stage_end(&s);
}

// the last of five touching balls leaves with the speed of the first, without friction as well
KK_TEST(step_cradle) {
    stage s = stage_begin(0);
    const int material = stage_material(&s, 0, 1);
    for (int i = 0; i < 5; i++) {
        stage_ball(&s, 1, 0.05, material);
    }
    const kk_step_options options = {.timestep = 1e-3};
    if (stage_ready(&s, &options)) {
        for (int i = 0; i < 5; i++) {
            stage_place(&s, 1 + i, i ? 0.1 * i : -0.053, 0, 0);
        }
        stage_v(&s, 1)[3] = 1;
        stage_run(&s, 100, NULL);
        for (int i = 0; i < 5; i++) {
            KK_CHECK_NEAR(stage_v(&s, 1 + i)[3], i == 4, 1e-12);
        }
    }
    stage_end(&s);
}

// a perfect bounce keeps its energy at any step, and where it meets the floor does not matter
KK_TEST(step_bounce_keeps_energy) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.5, 1);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    const int ball = stage_ball(&s, 1, 0.1, material);
    const kk_step_options options = {.timestep = 0.01};
    if (stage_ready(&s, &options)) {
        stage_place(&s, ball, 0, 0, 1.1);
        for (int i = 0; i < 1000; i++) {
            stage_run(&s, 1, NULL);
            const double z = stage_q(&s, ball)[6] - 0.1, v = stage_v(&s, ball)[5];
            KK_CHECK_NEAR(9.81 * z + 0.5 * v * v, 9.81, 1e-11);
        }
    }
    stage_end(&s);
}

// e = 1/2 from 1 m: at rest after 3 √(2/g), many of the last bounces in one step
KK_TEST(step_bounce_comes_to_rest) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.5, 0.5);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    const int ball = stage_ball(&s, 1, 0.1, material);
    const kk_step_options options = {.timestep = 1e-3, .restitution_speed = 1e-4};
    if (stage_ready(&s, &options)) {
        stage_place(&s, ball, 0, 0, 1.1);
        double rest = 0;
        for (int i = 1; i <= 1600; i++) {
            stage_run(&s, 1, NULL);
            rest = __builtin_fabs(stage_v(&s, ball)[5]) > 1e-9 ? 1e-3 * i : rest;
        }
        KK_CHECK_NEAR(rest, 3 * kk_sqrt(2 / 9.81), 1e-3);
        KK_CHECK_NEAR(stage_q(&s, ball)[6], 0.1, 1e-7);
    }
    stage_end(&s);
}

// a free body turning about its middle axis keeps momentum and energy; rounding has no bias that adds up
KK_TEST(step_free_spin) {
    stage s = stage_begin(0);
    const kk_inertia inertia = {.mass = 1, .moment = {1, 2, 3, 0, 0, 0}};
    const int body = stage_body(&s, inertia);
    if (stage_ready(&s, &(kk_step_options){.timestep = 1e-3})) {
        double *v = stage_v(&s, body), *q = stage_q(&s, body);
        v[0] = v[2] = 1e-3;
        v[1] = 5;
        stage_run(&s, 50000, NULL);
        const kk_vec3 L =
            kk_mat3_mul_vec(kk_quat_to_mat3((kk_quat){q[0], q[1], q[2], q[3]}), kk_vec3_make(v[0], 2 * v[1], 3 * v[2]));
        KK_CHECK_NEAR(L.x, 1e-3, 1e-12);
        KK_CHECK_NEAR(L.y, 10, 1e-12);
        KK_CHECK_NEAR(L.z, 3e-3, 1e-12);
        KK_CHECK_REL(v[0] * v[0] + 2 * v[1] * v[1] + 3 * v[2] * v[2], 50 + 4e-6, 1e-11); // it swings, and stays
    }
    stage_end(&s);
}

// an implicit servo, at a step far too long for an explicit one, ends where its pull is the weight's: K sag = m g l cos sag
KK_TEST(step_servo_equilibrium) {
    static const double gains[] = {2, 200, 2e6}, sags[] = {1.103550701, 0.024492652, 2.45e-6};
    for (int i = 0; i < 3; i++) {
        stage s = stage_begin(9.8);
        kk_body_def body = kk_body_def_default();
        body.name = "arm";
        body.joint.name = "hinge";
        body.joint.axis = kk_vec3_make(0, 1, 0);
        body.inertia = (kk_inertia){.mass = 1, .com = {0.5, 0, 0}};
        KK_CHECK_EQ_INT(kk_spec_add_body(s.spec, &body, NULL, &s.error), KK_OK);
        kk_actuator_def servo = kk_actuator_def_default();
        servo.type = KK_ACTUATOR_POSITION;
        servo.target = "hinge";
        servo.gain = gains[i];
        servo.bias[1] = -gains[i];
        servo.bias[2] = -0.5 * gains[i];
        KK_CHECK_EQ_INT(kk_spec_add_actuator(s.spec, &servo, NULL, &s.error), KK_OK);
        if (stage_ready(&s, &(kk_step_options){.timestep = 0.1})) {
            stage_q(&s, 1)[0] = 1.5707963267948966;
            stage_run(&s, 600, NULL);
            KK_CHECK_NEAR(stage_q(&s, 1)[0], sags[i], 1e-9);
        }
        stage_end(&s);
    }
}

// a box ten thousand times as heavy as the one it stands on does not sink
KK_TEST(step_heavy_on_light) {
    stage s = stage_begin(9.81);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, 0);
    const int low = stage_box(&s, 1, 0.2, 0.2, 0.2, 0), high = stage_box(&s, 1e4, 0.2, 0.2, 0.2, 0);
    if (stage_ready(&s, &(kk_step_options){.timestep = 1e-3})) {
        stage_place(&s, low, 0, 0, 0.1);
        stage_place(&s, high, 0, 0, 0.3);
        stage_run(&s, 1000, NULL);
        KK_CHECK_NEAR(stage_q(&s, high)[6], 0.3, 1e-11);
        double weight = 0;
        for (int i = 0; i < kk_simulator_ncontact(s.simulator); i++) {
            const kk_contact c = kk_simulator_contacts(s.simulator)[i];
            weight += c.body[0] == KK_WORLD || c.body[1] == KK_WORLD ? __builtin_fabs(c.force.z) : 0;
        }
        KK_CHECK_REL(weight, 10001 * 9.81, 1e-10);
    }
    stage_end(&s);
}

// a rotor behind a motor with a lag: ẋ = (u − x)/T, I ω̇ = x; Runge and Kutta follow the lag inside the step
KK_TEST(rk4_follows_activations) {
    stage s = stage_begin(0);
    kk_spec_options(s.spec)->integrator = KK_INTEGRATOR_RK4;
    kk_body_def rotor = kk_body_def_default();
    rotor.name = "rotor";
    rotor.joint.name = "axle";
    rotor.joint.type = KK_JOINT_HINGE;
    rotor.joint.axis = kk_vec3_make(0, 0, 1);
    rotor.inertia = kk_inertia_solid_sphere(1, 0.5); // 0.1 kg m²
    KK_CHECK_EQ_INT(kk_spec_add_body(s.spec, &rotor, NULL, &s.error), KK_OK);
    kk_actuator_def motor = kk_actuator_def_default();
    motor.target = "axle";
    motor.activation = KK_ACTIVATION_FILTER;
    motor.time_constant = 0.3;
    KK_CHECK_EQ_INT(kk_spec_add_actuator(s.spec, &motor, NULL, &s.error), KK_OK);
    if (stage_ready(&s, &(kk_step_options){.timestep = 0.01})) {
        const double u = 0.2, T = 0.3, I = 0.1, time = 1;
        stage_run(&s, 100, &(kk_input){.control = &u});
        const double decay = kk_exp(-time / T), spun = u / I * (time - T * (1 - decay));
        KK_CHECK_NEAR(kk_state_activation(s.state)[0], u * (1 - decay), 1e-13);
        KK_CHECK_NEAR(kk_state_v(s.state)[0], spun, 1e-9);
        KK_CHECK_NEAR(kk_state_q(s.state)[0], u / I * (time * time / 2 - T * time + T * T * (1 - decay)), 1e-8);
    }
    stage_end(&s);
}
