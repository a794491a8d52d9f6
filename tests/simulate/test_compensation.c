// Bodies that are relieved of their weight: in a step they move as under the gravity that is left.
#include <math.h>

#include "stage.h"

/// An arm of two links whose masses are off their axes, with a share of its weight taken off, or under as much less gravity.
static stage arm(double gravity, double share, kk_integrator integrator) {
    stage s = stage_begin(gravity);
    int link = KK_WORLD;
    for (int i = 0; i < 2; i++) {
        kk_inertia I = kk_inertia_solid_box(2 - i, 0.4, 0.1, 0.1);
        link = stage_hinge(&s, i ? "lower" : "upper", link, kk_vec3_make(0.4 * i, 0, 0), kk_vec3_make(0, 1, 0),
                           kk_inertia_to((kk_transform){kk_mat3_identity(), kk_vec3_make(0.2, 0.03, 0)}, I));
        kk_spec_body(s.spec, link)->gravity_compensation = share;
    }
    kk_spec_options(s.spec)->integrator = integrator;
    stage_ready(&s, NULL);
    return s;
}

/// What is not pushed keeps its energy besides, so the default's two runs differ by its error of second order.
static void compare_with_less_gravity(kk_integrator integrator, double most) {
    stage a = arm(9.81, 0.6, integrator), b = arm(9.81 * 0.4, 0, integrator);
    for (int i = 0; i < 1000 && a.simulator && b.simulator; i++) {
        KK_CHECK(stage_run(&a, 1, NULL));
        KK_CHECK(stage_run(&b, 1, NULL));
        for (int k = 0; k < 2; k++) {
            KK_CHECK_NEAR(kk_state_q(a.state)[k], kk_state_q(b.state)[k], most);
        }
    }
    KK_CHECK(fabs(kk_state_q(a.state)[0]) > 0.5); // it did swing
    stage_end(&a);
    stage_end(&b);
}

KK_TEST(what_is_relieved_of_a_share_moves_as_under_less_gravity) {
    compare_with_less_gravity(KK_INTEGRATOR_MIDPOINT, 1e-5);
    compare_with_less_gravity(KK_INTEGRATOR_RK4, 1e-9);
}

KK_TEST(what_is_relieved_of_all_its_weight_floats) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.5, 0);
    const int floats = stage_box(&s, 3, 0.2, 0.3, 0.4, material), falls = stage_ball(&s, 1, 0.1, material);
    kk_spec_body(s.spec, floats)->gravity_compensation = 1;
    if (stage_ready(&s, NULL)) {
        stage_place(&s, floats, 1, 0, 5);
        stage_place(&s, falls, -1, 0, 5);
        KK_CHECK(stage_run(&s, 300, NULL));
        KK_CHECK_NEAR(stage_q(&s, floats)[6], 5, 1e-12);
        KK_CHECK(stage_q(&s, falls)[6] < 4.6);
    }
    stage_end(&s);
}
