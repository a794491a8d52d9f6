/// What tendons and actuators do in a step: armature, held lengths, stiff springs, muscles, adhesion, delays.
#include <math.h>
#include <string.h>

#include "stage.h"

static void add_frame(stage *s, const char *name, int body, double x, double y, double z) {
    kk_frame_def def = kk_frame_def_default();
    def.name = name;
    def.body = body;
    def.placement.p = kk_vec3_make(x, y, z);
    KK_CHECK_EQ_INT(kk_spec_add_frame(s->spec, &def, NULL, &s->error), KK_OK);
}

static int add_slide(stage *s, const char *name, double mass) {
    char joint[32];
    snprintf(joint, sizeof joint, "%s_rail", name);
    kk_body_def def = kk_body_def_default();
    def.name = name;
    def.joint.name = joint;
    def.joint.type = KK_JOINT_SLIDE;
    def.joint.axis = kk_vec3_make(1, 0, 0);
    def.inertia = kk_inertia_solid_sphere(mass, 0.1);
    int id = 0;
    KK_CHECK_EQ_INT(kk_spec_add_body(s->spec, &def, &id, &s->error), KK_OK);
    return id;
}

static kk_tendon_def sum_of(const char *name, const kk_tendon_item *item, int count) {
    kk_tendon_def def = kk_tendon_def_default();
    def.name = name;
    def.item = item;
    def.item_count = count;
    return def;
}

static kk_tendon_def rope_of(const char *name, const kk_tendon_item *item, int count) {
    kk_tendon_def def = sum_of(name, item, count);
    def.type = KK_TENDON_SPATIAL;
    return def;
}

static void add_tendon(stage *s, const kk_tendon_def *def) {
    KK_CHECK_EQ_INT(kk_spec_add_tendon(s->spec, def, NULL, &s->error), KK_OK);
}

/// Of the step's middle: kinetic energy is told before and behind the kick there.
static double total(const stage *s) {
    const kk_report r = *kk_simulator_report(s->simulator);
    return 0.5 * (r.kinetic_before + r.kinetic_after + r.potential_before + r.potential_after);
}

/// What a tendon's row does is among the works of the energy audit.
static void check_audit(const stage *s) {
    const kk_audit a = kk_simulator_report(s->simulator)->audit;
    KK_CHECK(fabs(a.error) <= 1e-4 * a.scale);
}

// ---- armature

// a slider of 2 kg under a tendon 3 q with 0.5 kg of armature weighs 2 + 9 · 0.5
KK_TEST(armature_of_a_fixed_tendon_adds_to_the_inertia) {
    static const kk_tendon_item item[1] = {{.name = "car_rail", .coefficient = 3}};
    stage s = stage_begin(0);
    const int car = add_slide(&s, "car", 2);
    kk_tendon_def def = sum_of("sum", item, 1);
    def.armature = 0.5;
    add_tendon(&s, &def);
    stage_ready(&s, NULL);
    const double push = 13;
    const kk_input input = {.tau = &push};
    if (stage_run(&s, 100, &input)) {
        KK_CHECK_NEAR(stage_v(&s, car)[0], 0.1 * 13 / 6.5, 1e-12);
        KK_CHECK_NEAR(kk_simulator_report(s.simulator)->kinetic_after, 0.5 * 6.5 * 0.2 * 0.2, 1e-12);
        check_audit(&s);
    }
    stage_end(&s);
}

// a ball on a rope of armature m about the origin: m counts along the rope only, so (M + m) r̈ = M r θ̇², and angular momentum and energy stay
static double armature_drift(double h) {
    static const kk_tendon_item item[2] = {{.name = "anchor"}, {.name = "end"}};
    stage s = stage_begin(0);
    const int ball = stage_body(&s, kk_inertia_solid_sphere(2, 0.1));
    add_frame(&s, "anchor", KK_WORLD, 0, 0, 0);
    add_frame(&s, "end", ball, 0, 0, 0);
    kk_tendon_def def = rope_of("rope", item, 2);
    def.armature = 3;
    add_tendon(&s, &def);
    const kk_step_options options = {.timestep = h};
    stage_ready(&s, &options);
    stage_place(&s, ball, 1, 0, 0);
    stage_v(&s, ball)[3] = 0.5;
    stage_v(&s, ball)[4] = 2;
    double drift = 1;
    if (stage_run(&s, (int)(1 / h + 0.5), NULL)) {
        const double *p = stage_q(&s, ball) + 4, *v = stage_v(&s, ball) + 3;
        const double r = kk_hypot(p[0], p[1]), rate = (p[0] * v[0] + p[1] * v[1]) / r;
        const double energy = v[0] * v[0] + v[1] * v[1] + 1.5 * rate * rate;
        KK_CHECK_NEAR(p[0] * v[1] - p[1] * v[0], 2, 1e-9);
        drift = fabs(energy - (4.25 + 1.5 * 0.25));
        check_audit(&s);
    }
    stage_end(&s);
    return drift;
}

KK_TEST(armature_of_a_rope_keeps_energy_and_momentum) {
    const double coarse = armature_drift(4e-3), fine = armature_drift(1e-3);
    KK_CHECK(fine < 2e-3);
    KK_CHECK(fine < 0.35 * coarse);
}

// ---- held lengths

// L₁ = 0.1 + 0.5 L₂ + 2 L₂² between two sliders, pushed
KK_TEST(tendons_follow_tendons) {
    static const kk_tendon_item first[1] = {{.name = "left_rail", .coefficient = 1}},
                                second[1] = {{.name = "right_rail", .coefficient = -1}};
    stage s = stage_begin(0);
    const int left = add_slide(&s, "left", 1), right = add_slide(&s, "right", 2);
    kk_tendon_def led = sum_of("led", first, 1), leader = sum_of("leader", second, 1);
    led.is_held = 1;
    led.leader = "leader";
    memcpy(led.held, (const double[5]){0.1, 0.5, 2, 0, 0}, sizeof led.held);
    add_tendon(&s, &led);
    add_tendon(&s, &leader);
    stage_ready(&s, NULL);
    stage_q(&s, left)[0] = 0.1;
    const double push[2] = {1, -1};
    const kk_input input = {.tau = push};
    if (stage_run(&s, 1000, &input)) {
        const double x = -stage_q(&s, right)[0];
        KK_CHECK(x > 0.1);
        KK_CHECK_NEAR(stage_q(&s, left)[0], 0.1 + 0.5 * x + 2 * x * x, 1e-6);
        // what pushes goes into the motion
        const double work = (stage_q(&s, left)[0] - 0.1) + x;
        KK_CHECK_NEAR(total(&s) / work, 1, 1e-2);
    }
    stage_end(&s);
}

// a rope held at 2 m round a cylinder: the ball keeps the length, whatever pulls
KK_TEST(held_rope_goes_round_a_cylinder) {
    static const kk_tendon_item item[3] = {{.name = "anchor"}, {.wrap = "drum", .side = "top"}, {.name = "end"}};
    stage s = stage_begin(9.81);
    kk_shape_def drum = kk_shape_def_default();
    drum.type = KK_SHAPE_CYLINDER;
    drum.name = "drum";
    drum.size[0] = 0.3;
    drum.size[1] = 1;
    drum.purpose = KK_SHAPE_VISIBLE;
    drum.placement.R = kk_mat3_from_axis_angle(kk_vec3_make(1, 0, 0), 1.5707963267948966);
    KK_CHECK_EQ_INT(kk_spec_add_shape(s.spec, &drum, NULL, &s.error), KK_OK);
    const int ball = stage_body(&s, kk_inertia_solid_sphere(1, 0.05));
    add_frame(&s, "anchor", KK_WORLD, -1, 0, 0.3);
    add_frame(&s, "top", KK_WORLD, 0, 0, 1);
    add_frame(&s, "end", ball, 0, 0, 0);
    kk_tendon_def def = rope_of("rope", item, 3);
    const double arc = 0.3 * 1.5707963267948966; // a quarter round the top
    def.is_held = 1;
    def.held[0] = 1 + arc + 0.5;
    add_tendon(&s, &def);
    stage_ready(&s, NULL);
    stage_place(&s, ball, 0.3, 0, -0.5);
    if (stage_run(&s, 2000, NULL)) {
        KK_CHECK_NEAR(stage_q(&s, ball)[4], 0.3, 1e-6); // hangs plumb below the rim
        KK_CHECK_NEAR(stage_q(&s, ball)[6], -0.5, 1e-6);
        stage_v(&s, ball)[3] = 1; // a push sideways: it swings round the rim
        double widest = 0;
        kk_data *data = NULL;
        KK_CHECK_EQ_INT(kk_data_create(s.model, NULL, &data), KK_OK);
        for (int i = 0; i < 50; i++) {
            stage_run(&s, 10, NULL);
            kk_kinematics(s.model, data, kk_state_q(s.state));
            widest = fmax(widest, fabs(kk_tendon_length(s.model, data, 0, kk_state_q(s.state)) - def.held[0]));
        }
        KK_CHECK(widest < 1e-5);
        kk_data_free(data);
    }
    stage_end(&s);
}

// ---- springs

// a rope too stiff for the time step: a weight on 1e6 N/m with 10 ms, which explicit forces would throw away
KK_TEST(stiff_rope_is_implicit) {
    static const kk_tendon_item item[2] = {{.name = "anchor"}, {.name = "end"}};
    stage s = stage_begin(9.81);
    const int ball = stage_body(&s, kk_inertia_solid_sphere(1, 0.1));
    add_frame(&s, "anchor", KK_WORLD, 0, 0, 0);
    add_frame(&s, "end", ball, 0, 0, 0);
    kk_tendon_def def = rope_of("rope", item, 2);
    def.stiffness = 1e6;
    def.damping = 100;
    def.rest_upper = 1;
    add_tendon(&s, &def);
    const kk_step_options options = {.timestep = 0.01};
    stage_ready(&s, &options);
    stage_place(&s, ball, 0, 0, -0.99);
    if (stage_run(&s, 1000, NULL)) {
        KK_CHECK_NEAR(stage_q(&s, ball)[6], -1 - 9.81e-6, 1e-7);
        KK_CHECK_NEAR(stage_v(&s, ball)[5], 0, 1e-6);
    }
    stage_end(&s);
}

// a spring round a ball in the way: kinetic and potential energy together stay
static double wrapped_drift(double h, kk_integrator integrator) {
    static const kk_tendon_item item[3] = {{.name = "anchor"}, {.wrap = "stone", .side = "side"}, {.name = "end"}};
    stage s = stage_begin(0);
    kk_spec_options(s.spec)->integrator = integrator;
    kk_shape_def stone = kk_shape_def_default();
    stone.type = KK_SHAPE_SPHERE;
    stone.name = "stone";
    stone.size[0] = 0.3;
    stone.purpose = KK_SHAPE_VISIBLE;
    KK_CHECK_EQ_INT(kk_spec_add_shape(s.spec, &stone, NULL, &s.error), KK_OK);
    const int ball = stage_body(&s, kk_inertia_solid_sphere(1, 0.05));
    add_frame(&s, "anchor", KK_WORLD, -0.6, 0.05, 0);
    add_frame(&s, "side", KK_WORLD, 0, 0, 0.5);
    add_frame(&s, "end", ball, 0, 0, 0);
    kk_tendon_def def = rope_of("rope", item, 3);
    def.stiffness = 40;
    def.rest_lower = 0.9;
    def.rest_upper = 1.1; // slack in between
    add_tendon(&s, &def);
    const kk_step_options options = {.timestep = h};
    stage_ready(&s, &options);
    stage_place(&s, ball, 0.9, 0, 0);
    stage_v(&s, ball)[4] = 0.7;
    double first = 0, most = 0;
    for (int i = 0; i < (int)(1 / h + 0.5) && stage_run(&s, 1, NULL); i++) {
        first = i == 0 ? total(&s) : first;
        most = fmax(most, fabs(total(&s) - first));
    }
    KK_CHECK(first > 1);
    stage_end(&s);
    return most;
}

KK_TEST(springs_of_wrapped_tendons_keep_energy) {
    KK_CHECK(wrapped_drift(1e-3, KK_INTEGRATOR_MIDPOINT) < 3e-3);
    KK_CHECK(wrapped_drift(1e-3, KK_INTEGRATOR_RK4) < 1e-4);
}

// ---- muscles

static kk_actuator_def muscle_on(const char *tendon) {
    kk_actuator_def def = kk_actuator_def_default();
    def.name = "muscle";
    def.type = KK_ACTUATOR_MUSCLE;
    def.transmission = KK_TRANSMISSION_TENDON;
    def.target = tendon;
    def.activation = KK_ACTIVATION_MUSCLE;
    def.muscle.force = 50;
    def.muscle.length_lower = 0.5;
    def.muscle.length_upper = 1.5;
    return def;
}

static int muscle_stage(stage *s, double stiffness) {
    static const kk_tendon_item item[1] = {{.name = "car_rail", .coefficient = 1}};
    *s = stage_begin(0);
    const int car = add_slide(s, "car", 1);
    kk_tendon_def def = sum_of("cord", item, 1);
    add_tendon(s, &def);
    kk_dof_def *dof = &kk_spec_body(s->spec, car)->joint.dof[0];
    dof->stiffness = stiffness;
    dof->damping = 10;
    dof->rest = 1.2;
    const kk_actuator_def muscle = muscle_on("cord");
    KK_CHECK_EQ_INT(kk_spec_add_actuator(s->spec, &muscle, NULL, &s->error), KK_OK);
    stage_ready(s, NULL);
    stage_q(s, car)[0] = 1.2;
    return car;
}

// the muscle and a spring come to rest where both pull alike, with the activation of the control
KK_TEST(muscle_pulls_until_a_spring_holds_it) {
    stage s;
    const int car = muscle_stage(&s, 100);
    const double control = 0.6;
    const kk_input input = {.control = &control};
    if (stage_run(&s, 5000, &input)) {
        const double x = stage_q(&s, car)[0];
        const kk_muscle_def muscle = muscle_on("cord").muscle;
        KK_CHECK_NEAR(kk_state_activation(s.state)[0], 0.6, 1e-9);
        KK_CHECK(x < 1.1);
        KK_CHECK_NEAR(100 * (1.2 - x), -kk_muscle_force(&muscle, x, 0, 0.6), 1e-6);
    }
    stage_end(&s);
}

// a control of one from rest: t = τ (½ a' + 3/2 (−a' − ln(1 − a) …)) has the closed form ∫ (½ + 3/2 a)/(1 − a) da = −2 ln(1 − a) − 3/2 a
KK_TEST(activation_rises_by_its_law) {
    stage s;
    muscle_stage(&s, 1e6);
    const kk_step_options options = {.timestep = 1e-5};
    KK_CHECK_EQ_INT(kk_simulator_set_options(s.simulator, &options, &s.error), KK_OK);
    const double control = 3; // counts as one
    const kk_input input = {.control = &control};
    if (stage_run(&s, 1000, &input)) {
        const double a = kk_state_activation(s.state)[0];
        KK_CHECK_NEAR(0.01 * (-2 * log(1 - a) - 1.5 * a), 0.01, 2e-5);
    }
    stage_end(&s);
}

// ---- adhesion

/// A box of 1 kg below a ceiling, drawn to it by `force`; how far it has fallen after half a second.
static double fallen(double force, double tilt) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.5, 0);
    const int ceiling = stage_shape(&s, KK_SHAPE_BOX, KK_WORLD, 2, 2, 0.2, material);
    kk_spec_shape(s.spec, ceiling)->placement =
        kk_transform_make(kk_mat3_from_axis_angle(kk_vec3_make(0, 1, 0), tilt), kk_vec3_make(0, 0, 0));
    const int box = stage_box(&s, 1, 0.2, 0.2, 0.2, material);
    kk_actuator_def cup = kk_actuator_def_default();
    cup.name = "cup";
    cup.transmission = KK_TRANSMISSION_BODY;
    cup.target = "body1";
    cup.gain = 10;
    cup.control_lower = 0;
    KK_CHECK_EQ_INT(kk_spec_add_actuator(s.spec, &cup, NULL, &s.error), KK_OK);
    stage_ready(&s, NULL);
    const kk_vec3 down =
        kk_mat3_mul_vec(kk_mat3_from_axis_angle(kk_vec3_make(0, 1, 0), tilt), kk_vec3_make(0, 0, -0.2));
    stage_place(&s, box, down.x, down.y, down.z);
    const kk_quat turned = kk_quat_from_mat3(kk_mat3_from_axis_angle(kk_vec3_make(0, 1, 0), tilt));
    memcpy(stage_q(&s, box), &turned, sizeof turned);
    const double control = force / 10;
    const kk_input input = {.control = &control};
    stage_run(&s, 500, &input);
    const double z = stage_q(&s, box)[6];
    KK_CHECK_NEAR(kk_simulator_report(s.simulator)->residual, 0, 1e-9);
    stage_end(&s);
    return down.z - z;
}

// held by more than its weight, it stays; by less, it falls freely as soon as it has parted
KK_TEST(adhesion_holds_a_box_below_a_ceiling) {
    KK_CHECK_NEAR(fallen(10.0, 0), 0, 1e-5);
    KK_CHECK(fallen(9.0, 0) > 0.5);
    KK_CHECK(fallen(0, 0) > 1.2);
}

// below a ceiling that leans by α it slides unless μ (f − m g cos α) holds m g sin α
KK_TEST(adhesion_bears_friction) {
    const double tilt = 0.4, least = 9.81 * (cos(tilt) + sin(tilt) / 0.5);
    KK_CHECK_NEAR(fallen(1.02 * least, tilt), 0, 1e-4);
    KK_CHECK(fallen(0.95 * least, tilt) > 0.01);
}

// ---- delays

static int delay_stage(stage *s, double delay, int samples, kk_delay_interpolation interpolation) {
    *s = stage_begin(0);
    const int car = add_slide(s, "car", 1);
    kk_actuator_def motor = kk_actuator_def_default();
    motor.name = "motor";
    motor.target = "car_rail";
    motor.delay = delay;
    motor.delay_samples = samples;
    motor.delay_interpolation = interpolation;
    KK_CHECK_EQ_INT(kk_spec_add_actuator(s->spec, &motor, NULL, &s->error), KK_OK);
    stage_ready(s, NULL);
    return car;
}

/// Velocities after each of eight steps with controls 1, 2, 3, …, as multiples of h.
static void delayed(double delay, int samples, kk_delay_interpolation interpolation, double v[8]) {
    stage s;
    const int car = delay_stage(&s, delay, samples, interpolation);
    for (int i = 0; i < 8; i++) {
        const double control = i + 1;
        const kk_input input = {.control = &control};
        stage_run(&s, 1, &input);
        v[i] = stage_v(&s, car)[0] / 1e-3;
    }
    stage_end(&s);
}

KK_TEST(controls_come_after_their_delay) {
    double v[8];
    delayed(3e-3, 3, KK_DELAY_HOLD, v); // three steps late: 0 0 0 1 2 3 4 5
    KK_CHECK_NEAR(v[2], 0, 1e-12);
    KK_CHECK_NEAR(v[3], 1, 1e-9);
    KK_CHECK_NEAR(v[7], 15, 1e-9);
    delayed(2.5e-3, 4, KK_DELAY_HOLD, v); // held since three steps ago
    KK_CHECK_NEAR(v[3], 1, 1e-9);
    delayed(2.5e-3, 4, KK_DELAY_LINEAR, v); // half way: 0 0 0.5 1.5 2.5 …
    KK_CHECK_NEAR(v[2], 0.5, 1e-9);
    KK_CHECK_NEAR(v[3], 2, 1e-9);
    KK_CHECK_NEAR(v[4], 4.5, 1e-9);
    delayed(2.5e-3, 4, KK_DELAY_CUBIC, v); // a straight line of samples is one for the cubic, too
    KK_CHECK_NEAR(v[7] - v[6], 5.5, 1e-9);
}

// what waits in the delay is part of the state: saved in the middle, it goes on with the same bits
KK_TEST(delayed_controls_are_part_of_the_state) {
    stage s;
    delay_stage(&s, 5e-3, 5, KK_DELAY_HOLD);
    for (int i = 0; i < 7; i++) {
        const double control = 1 + i * i;
        const kk_input input = {.control = &control};
        stage_run(&s, 1, &input);
    }
    unsigned char saved[4096];
    const size_t size = kk_state_saved_size(s.state);
    KK_CHECK(size <= sizeof saved);
    KK_CHECK_EQ_INT(kk_state_save(s.state, saved, size), KK_OK);
    stage_run(&s, 20, NULL);
    const uint64_t end = kk_state_hash(s.state);
    KK_CHECK_EQ_INT(kk_state_restore(s.state, saved, size, &s.error), KK_OK);
    stage_run(&s, 20, NULL);
    KK_CHECK(kk_state_hash(s.state) == end);
    KK_CHECK_NEAR(kk_state_v(s.state)[0], 1e-3 * (1 + 2 + 5 + 10 + 17 + 26 + 37), 1e-9);
    stage_end(&s);
}
