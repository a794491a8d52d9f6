// Fast pairs: who is followed along its motion, in how many parts, and that none gets through.
#include "simulate/stage.h"

// links of an arm that is flung about as a whole move fast and not against each other: nobody follows them
KK_TEST(links_that_move_together_need_no_parts) {
    stage s = stage_begin(0);
    const int base = stage_box(&s, 1, 0.02, 0.02, 0.02, 0);
    for (int k = 0, parent = base; k < 3; k++) {
        char name[32];
        kk_body_def def = kk_body_def_default();
        snprintf(name, sizeof name, "link%d", k);
        def.name = name;
        def.parent = parent;
        def.joint.type = KK_JOINT_HINGE;
        def.joint.axis = kk_vec3_make(0, 1, 0);
        def.joint.placement.p = kk_vec3_make(0.5 * (k == 0) + 0.03 * (k > 0), 0, 0);
        def.inertia = kk_inertia_solid_sphere(0.1, 0.01);
        KK_CHECK_EQ_INT(kk_spec_add_body(s.spec, &def, &parent, &s.error), KK_OK);
        stage_shape(&s, KK_SHAPE_BOX, parent, 0.01, 0.01, 0.01, 0);
    }
    kk_spec_options(s.spec)->timestep = 2e-3;
    if (stage_ready(&s, NULL)) {
        kk_state_v(s.state)[3] = 100; // 0.2 m a step, twenty times as far as the links are thick
        for (int k = 0; k < 50; k++) {
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
            KK_CHECK_EQ_INT(kk_simulator_report(s.simulator)->substeps, 1);
        }
    }
    stage_end(&s);
}

// a card that spins on the floor moves far along its face: it is no reason to cut a step
KK_TEST(cards_that_slide_on_each_other_need_no_parts) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.2, 0);
    stage_shape(&s, KK_SHAPE_BOX, KK_WORLD, 4, 4, 1, material);
    const int card = stage_box(&s, 2e-3, 0.09, 0.06, 3e-4, material);
    if (stage_ready(&s, NULL)) {
        double *v = stage_v(&s, card);
        stage_place(&s, card, 0, 0, 0.5 + 1.5e-4);
        v[2] = 10;
        v[3] = 2;
        for (int k = 0; k < 100; k++) {
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
            KK_CHECK_EQ_INT(kk_simulator_report(s.simulator)->substeps, 1);
        }
        KK_CHECK(stage_q(&s, card)[4] > 0.1);
    }
    stage_end(&s);
}

enum { PLATES = 120 };

/// Thin plates above each other, turned any way, that fall on a sheet thirty times as thin as their way in a step.
static stage leaves(int plate[PLATES]) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.3, 0);
    stage_shape(&s, KK_SHAPE_BOX, KK_WORLD, 2, 2, 1e-3, material);
    for (int i = 0; i < PLATES; i++) {
        plate[i] = stage_box(&s, 1e-3, 0.05, 0.03, 2e-3, material);
    }
    kk_spec_options(s.spec)->timestep = 5e-3;
    kk_random r = {7, 0, 0};
    if (stage_ready(&s, NULL)) {
        for (int i = 0; i < PLATES; i++) {
            double *q = stage_q(&s, plate[i]), *v = stage_v(&s, plate[i]);
            const double x = kk_random_next_between(&r, -1, 1), y = kk_random_next_between(&r, -1, 1);
            const double f = 1 / kk_sqrt(1 + x * x + y * y);
            stage_place(&s, plate[i], 0.06 * (i % 4), 0.06 * (i / 4 % 4), 0.06 + 0.06 * (i / 16));
            q[0] = f, q[1] = f * x, q[2] = f * y, q[3] = 0;
            const kk_quat back = {q[0], -q[1], -q[2], -q[3]};
            const kk_vec3 u = kk_mat3_mul_vec(kk_quat_to_mat3(back), kk_vec3_make(0, 0, -6));
            v[3] = u.x, v[4] = u.y, v[5] = u.z;
        }
    }
    return s;
}

// where many meet in every step each gets a contact of its impact: steps stay few parts, nothing is refused, nothing gets through
KK_TEST(heaps_of_what_is_thin_are_not_cut_for_each_meeting) {
    int plate[PLATES];
    stage s = leaves(plate);
    int most = 0;
    for (int k = 0; k < 24; k++) {
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
        const int parts = kk_simulator_report(s.simulator)->substeps;
        most = parts > most ? parts : most;
    }
    int through = 0;
    for (int i = 0; i < PLATES && s.state; i++) {
        const double *q = stage_q(&s, plate[i]);
        through += q[6] < 0 && q[4] * q[4] < 1 && q[5] * q[5] < 1;
    }
    KK_CHECK_EQ_INT(through, 0);
    KK_CHECK(most <= 64);
    stage_end(&s);
}
