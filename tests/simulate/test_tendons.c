// Tendons in the step, by closed form: actuators, springs and limits of spatial and fixed ones.
#include <math.h>

#include "stage.h"

static int add_frame(stage *s, const char *name, int body, double x, double y, double z) {
    kk_frame_def def = kk_frame_def_default();
    def.name = name;
    def.body = body;
    def.placement.p = kk_vec3_make(x, y, z);
    int id = 0;
    KK_CHECK_EQ_INT(kk_spec_add_frame(s->spec, &def, &id, &s->error), KK_OK);
    return id;
}

/// A rope from "anchor" to "end".
static kk_tendon_def rope(const kk_tendon_item item[2]) {
    kk_tendon_def def = kk_tendon_def_default();
    def.name = "rope";
    def.type = KK_TENDON_SPATIAL;
    def.item = item;
    def.item_count = 2;
    return def;
}

static const kk_tendon_item ends[2] = {{.name = "anchor", .coefficient = 1}, {.name = "end", .coefficient = 1}};

/// A ball of 2 kg, and a rope from the world's origin to its center.
static int rope_stage(stage *s, double gravity, kk_tendon_def def) {
    *s = stage_begin(gravity);
    const int ball = stage_body(s, kk_inertia_solid_sphere(2, 0.1));
    add_frame(s, "anchor", KK_WORLD, 0, 0, 0);
    add_frame(s, "end", ball, 0, 0, 0);
    KK_CHECK_EQ_INT(kk_spec_add_tendon(s->spec, &def, NULL, &s->error), KK_OK);
    return ball;
}

// a winch pulls the ball straight towards it
KK_TEST(spatial_tendon_is_driven) {
    stage s;
    const int ball = rope_stage(&s, 0, rope(ends));
    kk_actuator_def motor = kk_actuator_def_default();
    motor.name = "winch";
    motor.transmission = KK_TRANSMISSION_TENDON;
    motor.target = "rope";
    KK_CHECK_EQ_INT(kk_spec_add_actuator(s.spec, &motor, NULL, &s.error), KK_OK);
    stage_ready(&s, NULL);
    stage_place(&s, ball, 3, 0, 4);
    const double control = -6;
    const kk_input input = {.control = &control};
    for (int i = 0; i < 100; i++) {
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, &input, &s.error), KK_OK);
    }
    // 3 m/s² along (0.6, 0, 0.8), for 0.1 s
    KK_CHECK_NEAR(stage_v(&s, ball)[3], -0.3 * 0.6, 1e-12);
    KK_CHECK_NEAR(stage_v(&s, ball)[5], -0.3 * 0.8, 1e-12);
    stage_end(&s);
}

// behind a pulley of two only half of it counts, so half the force acts
KK_TEST(pulley_divides_the_force) {
    stage s = stage_begin(0);
    const int ball = stage_body(&s, kk_inertia_solid_sphere(2, 0.1));
    add_frame(&s, "anchor", KK_WORLD, 0, 0, 0);
    add_frame(&s, "end", ball, 0, 0, 0);
    add_frame(&s, "other", KK_WORLD, 0, 1, 0);
    const kk_tendon_item item[5] = {{.name = "other", .coefficient = 1},
                                    {.name = "anchor", .coefficient = 1},
                                    {.coefficient = 2},
                                    {.name = "anchor", .coefficient = 1},
                                    {.name = "end", .coefficient = 1}};
    kk_tendon_def def = rope(item);
    def.item_count = 5;
    def.stiffness = 10;
    KK_CHECK_EQ_INT(kk_spec_add_tendon(s.spec, &def, NULL, &s.error), KK_OK);
    stage_ready(&s, NULL);
    stage_place(&s, ball, 4, 0, 0);
    KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
    KK_CHECK_NEAR(stage_v(&s, ball)[3], -1e-3 * (10 * 3) * 0.5 / 2, 1e-12); // length 1 + 4/2, share 1/2, 2 kg
    stage_end(&s);
}

// a ball on a rubber rope that is slack up to 1 m swings about where weight and spring are equal
KK_TEST(rope_is_a_spring_behind_its_slack) {
    stage s;
    kk_tendon_def def = rope(ends);
    def.stiffness = 200;
    def.damping = 20;
    def.rest_upper = 1;
    const int ball = rope_stage(&s, 9.81, def);
    stage_ready(&s, NULL);
    stage_place(&s, ball, 0, 0, -0.5);
    KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
    KK_CHECK_NEAR(stage_v(&s, ball)[5], -9.81e-3, 1e-4);
    for (int i = 0; i < 5000; i++) {
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
    }
    KK_CHECK_NEAR(kk_state_q(s.state)[6], -1 - 2 * 9.81 / 200, 1e-6);
    stage_end(&s);
}

// a rope of 1 m that cannot give: the ball falls freely, is caught, hangs
KK_TEST(rope_catches_at_its_length) {
    stage s;
    kk_tendon_def def = rope(ends);
    def.upper = 1;
    const int ball = rope_stage(&s, 9.81, def);
    stage_ready(&s, NULL);
    stage_place(&s, ball, 0, 0, -0.5);
    double lowest = 0;
    for (int i = 0; i < 1000; i++) {
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
        lowest = kk_state_q(s.state)[6] < lowest ? kk_state_q(s.state)[6] : lowest;
    }
    KK_CHECK_NEAR(lowest, -1, 1e-6);
    KK_CHECK_NEAR(kk_state_q(s.state)[6], -1, 1e-6);
    KK_CHECK(kk_hypot(stage_v(&s, ball)[5], 0) < 1e-9);
    stage_end(&s);
}

// a fixed tendon q₁ − 2 q₂ ≤ 0.3 between two sliders that are pushed apart
KK_TEST(fixed_tendon_has_limits) {
    stage s = stage_begin(0);
    for (int i = 0; i < 2; i++) {
        kk_body_def def = kk_body_def_default();
        def.name = i ? "right" : "left";
        def.joint.name = i ? "second" : "first";
        def.joint.type = KK_JOINT_SLIDE;
        def.joint.axis = kk_vec3_make(1, 0, 0);
        def.inertia = kk_inertia_solid_sphere(1, 0.1);
        KK_CHECK_EQ_INT(kk_spec_add_body(s.spec, &def, NULL, &s.error), KK_OK);
    }
    const kk_tendon_item item[2] = {{.name = "first", .coefficient = 1}, {.name = "second", .coefficient = -2}};
    kk_tendon_def def = kk_tendon_def_default();
    def.name = "string";
    def.item = item;
    def.item_count = 2;
    def.upper = 0.3;
    KK_CHECK_EQ_INT(kk_spec_add_tendon(s.spec, &def, NULL, &s.error), KK_OK);
    stage_ready(&s, NULL);
    const double tau[2] = {3, 1};
    const kk_input input = {.tau = tau};
    for (int i = 0; i < 1000; i++) {
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, &input, &s.error), KK_OK);
    }
    const double *q = kk_state_q(s.state), *f = kk_simulator_force(s.simulator, KK_FORCE_LIMIT);
    KK_CHECK_NEAR(q[0] - 2 * q[1], 0.3, 1e-9);
    // accelerations a = 2 b, 3 − T = a, 1 + 2 T = b: T = 1/5
    KK_CHECK_NEAR(f[0], -0.2, 1e-9);
    KK_CHECK_NEAR(f[1], 0.4, 1e-9);
    stage_end(&s);
}

/// A carriage of 2 kg on a rail, and a fixed tendon with a dry friction of 3 N that counts its way twice: 6 N on the carriage.
static int rubbing_stage(stage *s) {
    static const kk_tendon_item item[1] = {{.name = "rail", .coefficient = 2}};
    *s = stage_begin(0);
    kk_body_def carriage = kk_body_def_default();
    carriage.name = "carriage";
    carriage.joint.name = "rail";
    carriage.joint.type = KK_JOINT_SLIDE;
    carriage.joint.axis = kk_vec3_make(1, 0, 0);
    carriage.inertia = kk_inertia_solid_sphere(2, 0.1);
    KK_CHECK_EQ_INT(kk_spec_add_body(s->spec, &carriage, NULL, &s->error), KK_OK);
    kk_tendon_def def = kk_tendon_def_default();
    def.name = "cord";
    def.type = KK_TENDON_FIXED;
    def.item = item;
    def.item_count = 1;
    def.friction = 3;
    KK_CHECK_EQ_INT(kk_spec_add_tendon(s->spec, &def, NULL, &s->error), KK_OK);
    return stage_ready(s, NULL);
}

// it stops after v²/(2 · 3 m/s²), inside a step, and holds up to 6 N
KK_TEST(tendon_friction_stops_and_holds) {
    stage s;
    if (rubbing_stage(&s)) {
        kk_state_v(s.state)[0] = 1.5;
        stage_run(&s, 700, NULL);
        KK_CHECK_NEAR(kk_state_q(s.state)[0], 0.375, 1e-12);
        double force = 5.999;
        stage_run(&s, 100, &(kk_input){.tau = &force});
        KK_CHECK_NEAR(kk_state_v(s.state)[0], 0, 1e-13);
        KK_CHECK_NEAR(kk_simulator_force(s.simulator, KK_FORCE_FRICTION)[0], -5.999, 1e-10);
        force = 7;
        stage_run(&s, 100, &(kk_input){.tau = &force});
        KK_CHECK_NEAR(kk_state_v(s.state)[0], 0.05, 1e-12); // (7 − 6)/2 m/s² for 0.1 s
    }
    stage_end(&s);
}

// a rope in space, likewise: its friction acts along it
KK_TEST(rope_friction_acts_along_the_rope) {
    stage s;
    kk_tendon_def def = rope(ends);
    def.friction = 6;
    const int ball = rope_stage(&s, 0, def);
    if (stage_ready(&s, NULL)) {
        stage_place(&s, ball, 3, 0, 4);
        stage_v(&s, ball)[3] = 0.6;
        stage_v(&s, ball)[5] = 0.8;
        stage_run(&s, 100, NULL);
        KK_CHECK_NEAR(stage_v(&s, ball)[3], 0.7 * 0.6, 1e-12); // 3 m/s² for 0.1 s
        KK_CHECK_NEAR(stage_v(&s, ball)[5], 0.7 * 0.8, 1e-12);
        stage_run(&s, 400, NULL);
        KK_CHECK_NEAR(stage_q(&s, ball)[4] - 3, 0.6 / 6, 1e-12); // v²/(2 a) along the rope
        KK_CHECK_NEAR(kk_hypot(stage_v(&s, ball)[3], stage_v(&s, ball)[5]), 0, 1e-12);
    }
    stage_end(&s);
}

// a tendon over two fingers of one hand, each on its own branch, and one over both links of a chain: what its limit does is felt by both joints, so the
// tendon stops while momentum along everything else stays. (Rows were once felt by the first joint alone.)
static void check_limit_over_two_joints(int is_chain) {
    static const kk_tendon_item item[2] = {{.name = "first_joint", .coefficient = 1},
                                           {.name = "second_joint", .coefficient = 1}};
    stage s = stage_begin(0);
    kk_inertia link = kk_inertia_solid_sphere(1, 0.05);
    link.com = kk_vec3_make(0.2, 0, 0);
    const kk_vec3 z = kk_vec3_make(0, 0, 1);
    const int palm = stage_hinge(&s, "palm", KK_WORLD, kk_vec3_make(0, 0, 0), z, kk_inertia_solid_sphere(2, 0.1));
    const int first = stage_hinge(&s, "first", palm, kk_vec3_make(0.1, 0.1, 0), z, link);
    const int second = stage_hinge(&s, "second", is_chain ? first : palm, kk_vec3_make(0.3, -0.1, 0), z, link);
    kk_tendon_def def = kk_tendon_def_default();
    def.name = "string";
    def.item = item;
    def.item_count = 2;
    def.upper = 0.1;
    KK_CHECK_EQ_INT(kk_spec_add_tendon(s.spec, &def, NULL, &s.error), KK_OK);
    stage_ready(&s, NULL);
    kk_data *data = NULL;
    KK_CHECK_EQ_INT(kk_data_create(s.model, NULL, &data), KK_OK);
    stage_v(&s, first)[0] = 1;
    stage_v(&s, second)[0] = 2;
    const double before = kk_kinetic_energy(s.model, data, kk_state_q(s.state), kk_state_v(s.state));
    double longest = 0;
    for (int i = 0; i < 60 && stage_run(&s, 1, NULL); i++) {
        longest = fmax(longest, stage_q(&s, first)[0] + stage_q(&s, second)[0]);
    }
    KK_CHECK_NEAR(longest, 0.1, 1e-5);
    KK_CHECK(stage_v(&s, first)[0] + stage_v(&s, second)[0] < 1e-6);
    KK_CHECK(kk_kinetic_energy(s.model, data, kk_state_q(s.state), kk_state_v(s.state)) < before);
    kk_data_free(data);
    stage_end(&s);
}

KK_TEST(tendon_limit_is_felt_by_all_branches) {
    check_limit_over_two_joints(0);
    check_limit_over_two_joints(1);
}
