// Laws of materials in the step, by closed form: static and sliding friction, laws of restitution.
#include <math.h>

#include "stage.h"

/// A block of 1 kg on a floor with static and sliding friction, pulled by a force along x that grows to `force` in a second.
typedef struct pulled {
    double held, let_go;  ///< largest force at which it stood; speed at the end
    double held_friction; ///< μ of the contact at the end
} pulled;

static pulled pull(double standing, double sliding, double force, double angle) {
    stage s = stage_begin(9.8);
    kk_material_def def = kk_material_def_default();
    def.friction = sliding;
    def.static_friction = standing;
    int material = 0;
    KK_CHECK_EQ_INT(kk_spec_add_material(s.spec, &def, &material, &s.error), KK_OK);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    const int block = stage_box(&s, 1, 0.2, 0.2, 0.1, material);
    stage_ready(&s, NULL);
    stage_place(&s, block, 0, 0, 0.05);
    pulled result = {0, 0, 0};
    for (int i = 0; i < 2000; i++) {
        const double f = i < 1000 ? force * i / 1000 : force;
        kk_force wrench[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {f * kk_cos(angle), f * kk_sin(angle), 0}}};
        const kk_input input = {.wrench = wrench};
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, &input, &s.error), KK_OK);
        const double *v = stage_v(&s, block);
        result.let_go = kk_hypot(v[3], v[4]);
        result.held = result.let_go < 1e-9 ? f : result.held;
    }
    result.held_friction = kk_simulator_contacts(s.simulator)[0].friction;
    stage_end(&s);
    return result;
}

// it stands up to μs m g, and from there on it is the sliding friction that brakes it
KK_TEST(static_friction_lets_go) {
    for (int k = 0; k < 4; k++) {
        const pulled x = pull(0.6, 0.4, 8, 0.7 * k);
        KK_CHECK_NEAR(x.held, 5.88, 0.009);
        KK_CHECK_NEAR(x.held_friction, 0.4, 0);
        // from t₀ = 0.736 s on the surplus over 3.92 N, to 8 N at 1 s and then constant
        const double t0 = (x.held + 0.008) / 8, speed = 4 * (1 - t0 * t0) - 3.92 * (1 - t0) + 8 - 3.92;
        KK_CHECK_NEAR(x.let_go, speed, 0.01);
    }
}

KK_TEST(static_friction_holds) {
    const pulled x = pull(0.6, 0.4, 5.87, 0.3);
    KK_CHECK(x.let_go < 1e-12);
    KK_CHECK_NEAR(x.held_friction, 0.6, 0);
}

// thrown, it is braked by the sliding friction and then stands by the static one
KK_TEST(sliding_friction_brakes_to_a_stand) {
    stage s = stage_begin(9.8);
    kk_material_def def = kk_material_def_default();
    def.friction = 0.5;
    def.static_friction = 0.9;
    int material = 0;
    KK_CHECK_EQ_INT(kk_spec_add_material(s.spec, &def, &material, &s.error), KK_OK);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    const int block = stage_box(&s, 1, 0.2, 0.2, 0.1, material);
    const kk_step_options options = {.timestep = 1.0 / 70.3};
    stage_ready(&s, &options);
    stage_place(&s, block, 0, 0, 0.05);
    stage_v(&s, block)[3] = 4.9;
    for (int i = 0; i < 100; i++) {
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
    }
    KK_CHECK_NEAR(kk_state_q(s.state)[4], 2.45, 1e-10);
    KK_CHECK(kk_hypot(stage_v(&s, block)[3], stage_v(&s, block)[4]) < 1e-12);
    stage_end(&s);
}

/// Three equal balls in a row that touch; the first comes with 1 m/s. e₁₂ and e₂₃ are given; speeds along x behind the impact.
static void cradle(kk_restitution_law law, double e12, double e23, double speed[3]) {
    stage s = stage_begin(0);
    int material[3];
    for (int i = 0; i < 3; i++) {
        material[i] = stage_material(&s, 0, 0);
    }
    for (int i = 0; i < 2; i++) {
        kk_material_pair_def pair = kk_material_pair_def_default();
        pair.material[0] = material[i];
        pair.material[1] = material[i + 1];
        pair.together.friction = 0;
        pair.together.restitution = i == 0 ? e12 : e23;
        KK_CHECK_EQ_INT(kk_spec_add_material_pair(s.spec, &pair, NULL, &s.error), KK_OK);
    }
    int ball[3];
    for (int i = 0; i < 3; i++) {
        ball[i] = stage_ball(&s, 1, 0.05, material[i]);
    }
    const kk_step_options options = {.restitution_law = law};
    stage_ready(&s, &options);
    stage_place(&s, ball[0], -0.1034, 0, 0);
    stage_place(&s, ball[2], 0.1, 0, 0);
    stage_v(&s, ball[0])[3] = 1;
    for (int i = 0; i < 10; i++) {
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
    }
    for (int i = 0; i < 3; i++) {
        speed[i] = stage_v(&s, ball[i])[3];
    }
    stage_end(&s);
}

static void check_cradle(kk_restitution_law law, double e12, double e23, double a, double b, double c) {
    double speed[3];
    cradle(law, e12, e23, speed);
    KK_CHECK_NEAR(speed[0], a, 1e-12);
    KK_CHECK_NEAR(speed[1], b, 1e-12);
    KK_CHECK_NEAR(speed[2], c, 1e-12);
}

KK_TEST(restitution_by_its_three_laws) {
    check_cradle(KK_RESTITUTION_SEQUENTIAL, 1, 1, 0, 0, 1);
    // all at once: (−1, 2, 2)/3
    check_cradle(KK_RESTITUTION_NEWTON, 1, 1, -1.0 / 3, 2.0 / 3, 2.0 / 3);
    check_cradle(KK_RESTITUTION_POISSON, 1, 1, -1.0 / 3, 2.0 / 3, 2.0 / 3);
    // only the second pair bounces: it does not approach, so Newton's law leaves it; Poisson gives its impulse of compression, 1/3, back,
    // and the first two balls go on together
    check_cradle(KK_RESTITUTION_NEWTON, 0, 1, 1.0 / 3, 1.0 / 3, 1.0 / 3);
    check_cradle(KK_RESTITUTION_POISSON, 0, 1, 1.0 / 6, 1.0 / 6, 2.0 / 3);
}

// the edge of friction is at μ m g in every direction: four points that pull a little against each other would give way before it
KK_TEST(friction_holds_to_its_edge_in_every_direction) {
    const double edge = 0.5 * 9.8, share = 1e-10;
    for (int k = 0; k < 12; k++) {
        const double angle = 0.02 + k * (6.283185307179586 / 12);
        KK_CHECK(pull(0.5, 0.5, edge * (1 - share), angle).let_go < 1e-12);
        KK_CHECK_NEAR(pull(0.5, 0.5, edge * (1 + share), angle).let_go, edge * share, 1e-12);
    }
}

/// A block of 1 kg on feet that creep, pushed along a direction from rest; its speed along it at the end. Every step is certified and audited.
static double creep(double slip, double across, double force, double angle, int steps, int *points) {
    stage s = stage_begin(9.8);
    int material[2];
    for (int i = 0; i < 2; i++) {
        kk_material_def def = kk_material_def_default();
        def.friction = 0.5;
        def.friction_across = i == 0 ? across : -1;
        def.slip = slip / 2; // of both surfaces together: slip
        KK_CHECK_EQ_INT(kk_spec_add_material(s.spec, &def, &material[i], &s.error), KK_OK);
    }
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material[1]);
    const int block = stage_box(&s, 1, 0.2, 0.2, 0.02, material[0]);
    stage_ready(&s, NULL);
    stage_place(&s, block, 0, 0, 0.01);
    const kk_force push = {{0, 0, 0}, {force * kk_cos(angle), force * kk_sin(angle), 0}};
    for (int i = 0; i < steps; i++) {
        kk_force wrench[2] = {{{0, 0, 0}, {0, 0, 0}}, push};
        const kk_input input = {.wrench = wrench};
        KK_CHECK(stage_run(&s, 1, &input));
        const kk_audit audit = kk_simulator_report(s.simulator)->audit;
        KK_CHECK(audit.error <= 1e-9 * audit.scale && audit.dissipated >= -1e-9 * audit.scale);
    }
    *points = kk_simulator_report(s.simulator)->contacts;
    const double *v = stage_v(&s, block);
    // what a contact tells of its velocity is how fast it creeps
    KK_CHECK_NEAR(kk_simulator_contacts(s.simulator)[0].velocity.x, v[3], 1e-9);
    const double speed = v[3] * kk_cos(angle) + v[4] * kk_sin(angle);
    stage_end(&s);
    return speed;
}

// inside the cone the speed is slip times the force of a point, in every direction, with a grain too
KK_TEST(creep_is_slip_times_force) {
    int n;
    for (int k = 0; k < 6; k++) {
        const double speed = creep(0.002, k % 2 ? 0.3 : -1, 1, 0.3 + k, 400, &n);
        KK_CHECK_EQ_INT(n, 4);
        KK_CHECK_REL(speed, 0.002 * 1.0 / 4, 1e-6);
    }
}

// m v' = F − n v / slip by Euler's implicit rule
KK_TEST(creep_comes_in_by_its_time_constant) {
    int n;
    double v = 0;
    for (int steps = 1; steps < 40; steps += 13) {
        v = 0;
        for (int i = 0; i < steps; i++) {
            v = (v + 1e-3 * 1.0) / (1 + 1e-3 * 4 / 0.02);
        }
        KK_CHECK_REL(creep(0.02, -1, 1, 0, steps, &n), v, 1e-6);
    }
}

// above μ m g it slides as what does not creep
KK_TEST(creep_ends_at_the_cone) {
    int n;
    KK_CHECK_REL(creep(0.002, -1, 8, 0.4, 100, &n), 0.1 * (8 - 4.9), 1e-6);
    KK_CHECK_REL(creep(0, -1, 8, 0.4, 100, &n), 0.1 * (8 - 4.9), 1e-6);
}

// a ball that bounces on what creeps gains nothing
KK_TEST(creep_where_it_bounces) {
    stage s = stage_begin(9.8);
    kk_material_def def = kk_material_def_default();
    int material = 0;
    def.restitution = 0.7;
    def.slip = 0.01;
    KK_CHECK_EQ_INT(kk_spec_add_material(s.spec, &def, &material, &s.error), KK_OK);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    const int ball = stage_ball(&s, 1, 0.05, material);
    stage_ready(&s, NULL);
    stage_place(&s, ball, 0, 0, 0.5);
    stage_v(&s, ball)[3] = 1;
    double least = INFINITY;
    for (int i = 0; i < 1500; i++) {
        KK_CHECK(stage_run(&s, 1, NULL));
        const kk_audit audit = kk_simulator_report(s.simulator)->audit;
        const double energy = audit.kinetic[1] + audit.potential[1];
        KK_CHECK(energy <= least + 1e-4);
        least = energy < least ? energy : least;
    }
    KK_CHECK(stage_q(&s, ball)[6] < 0.3);
    stage_end(&s);
}
