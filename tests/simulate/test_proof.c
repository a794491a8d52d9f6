// What a step's proof covers beside its kick: positions at its end, works, numerical damping.
#include "simulate/stage.h"

// a light link that a heavy ball throws at its stop, all within one step: the stop is seen when the step is taken again
KK_TEST(a_joint_thrown_at_its_limit_stops_there) {
    stage s = stage_begin(0);
    const int link = stage_hinge(&s, "link", KK_WORLD, kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 1),
                                 kk_inertia_solid_box(0.2, 0.4, 0.02, 0.02));
    stage_shape(&s, KK_SHAPE_BOX, link, 0.4, 0.02, 0.02, 0);
    kk_spec_body(s.spec, link)->joint.dof[0].upper = 0.03;
    const int ball = stage_ball(&s, 10, 0.05, 0);
    if (stage_ready(&s, NULL)) {
        stage_place(&s, ball, 0.18, -0.065, 0);
        stage_v(&s, ball)[4] = 9;
        double beyond = 0;
        int met = 0;
        for (int i = 0; i < 20; i++) {
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
            const double over = stage_q(&s, link)[0] - 0.03;
            beyond = over > beyond ? over : beyond;
            met |= over > -1e-4;
            KK_CHECK(kk_simulator_report(s.simulator)->overshoot >= over);
        }
        KK_CHECK(met);
        KK_CHECK(beyond <= 1e-6);
    }
    stage_end(&s);
}

static kk_audit sum_of_audits(double stiffness) {
    kk_audit sum = {.damping = 0, .dissipated = 0};
    stage s = stage_begin(0);
    const int link = stage_hinge(&s, "link", KK_WORLD, kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 1),
                                 kk_inertia_solid_box(1, 0.4, 0.1, 0.1));
    kk_spec_body(s.spec, link)->joint.dof[0].stiffness = stiffness;
    if (stage_ready(&s, NULL)) {
        stage_v(&s, link)[0] = 1;
        for (int i = 0; i < 100; i++) {
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
            const kk_audit *a = &kk_simulator_report(s.simulator)->audit;
            sum.damping += a->damping;
            sum.dissipated += a->dissipated;
        }
    }
    stage_end(&s);
    return sum;
}

// what a stiff spring loses to the rule is told apart from what dampers take
KK_TEST(numerical_damping_is_told_apart) {
    const double kinetic = 0.5 * (1.0 / 12 * (0.16 + 0.01));
    const kk_audit soft = sum_of_audits(1), stiff = sum_of_audits(1e6);
    KK_CHECK(soft.damping < 1e-9 * kinetic && soft.damping > -1e-9 * kinetic);
    KK_CHECK(stiff.damping > 0.9 * kinetic && stiff.damping < 1.001 * kinetic);
    KK_CHECK(stiff.dissipated < 1e-9 * kinetic && stiff.dissipated > -1e-9 * kinetic);
}

// a belt speeds a box up: its work is told as that, and what friction takes is positive
KK_TEST(the_work_of_a_belt_is_told) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.5, 0);
    const int belt = stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    kk_spec_shape(s.spec, belt)->surface.linear = kk_vec3_make(1, 0, 0);
    const int base = stage_box(&s, 2, 0.2, 0.2, 0.2, material);
    // a link on the box: bodies alone have no audit
    stage_hinge(&s, "arm", base, kk_vec3_make(0, 0, 0.1), kk_vec3_make(0, 0, 1),
                kk_inertia_solid_box(1e-3, 0.1, 0.1, 0.1));
    double moved = 0, dissipated = 0;
    if (stage_ready(&s, NULL)) {
        stage_place(&s, base, 0, 0, 0.1);
        for (int i = 0; i < 500; i++) {
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
            const kk_audit *a = &kk_simulator_report(s.simulator)->audit;
            moved += a->moved;
            dissipated += a->dissipated;
        }
        // it comes to 1 m/s: half of what the belt gives becomes heat
        KK_CHECK_NEAR(moved, 2.001, 0.01);
        KK_CHECK_NEAR(dissipated, 1.0005, 0.01);
    }
    stage_end(&s);
}

/// Speed behind a stop that gives `e` of it back, over that before.
static double bounced(double e, int by_tendon) {
    stage s = stage_begin(0);
    const int link = stage_hinge(&s, "link", KK_WORLD, kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 1),
                                 kk_inertia_solid_box(1, 0.4, 0.1, 0.1));
    kk_spec_body(s.spec, link)->joint.name = "hinge";
    if (by_tendon) {
        const kk_tendon_item item = {.name = "hinge", .coefficient = 1};
        kk_tendon_def tendon = kk_tendon_def_default();
        tendon.name = "tendon";
        tendon.item = &item;
        tendon.item_count = 1;
        tendon.upper = 0.5;
        tendon.restitution = e;
        KK_CHECK_EQ_INT(kk_spec_add_tendon(s.spec, &tendon, NULL, &s.error), KK_OK);
    } else {
        kk_spec_body(s.spec, link)->joint.dof[0].upper = 0.5;
        kk_spec_body(s.spec, link)->joint.dof[0].restitution = e;
    }
    double speed = 0;
    if (stage_ready(&s, NULL)) {
        stage_v(&s, link)[0] = 7;
        for (int i = 0; i < 100; i++) {
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
        }
        speed = stage_v(&s, link)[0];
        const double exact = 0.5 - e * (7 * kk_state_time(s.state) - 0.5);
        KK_CHECK_NEAR(stage_q(&s, link)[0], exact, 1e-9);
    }
    stage_end(&s);
    return speed / 7;
}

KK_TEST(stops_give_back_what_they_are_asked_to) {
    for (int by_tendon = 0; by_tendon < 2; by_tendon++) {
        KK_CHECK_NEAR(bounced(0.6, by_tendon), -0.6, 1e-12);
        KK_CHECK_NEAR(bounced(1, by_tendon), -1, 1e-12);
    }
}
