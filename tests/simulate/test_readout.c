// Forces one reads after a step.
#include "stage.h"

// a foot fixed under a leg that slides freely up and down: the floor bears both, so the leg's weight goes through the fixed joint
KK_TEST(readout_force_through_a_fixed_joint) {
    stage s = stage_begin(9.81);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, 0);
    kk_body_def leg = kk_body_def_default(), foot = kk_body_def_default();
    int id = 0;
    leg.name = "leg";
    leg.joint.type = KK_JOINT_SLIDE;
    leg.joint.axis = kk_vec3_make(0, 0, 1);
    leg.inertia = kk_inertia_solid_box(3, 0.1, 0.1, 0.4);
    KK_CHECK_EQ_INT(kk_spec_add_body(s.spec, &leg, &id, &s.error), KK_OK);
    foot.name = "foot";
    foot.parent = id;
    foot.joint.type = KK_JOINT_FIXED;
    foot.joint.placement.p = kk_vec3_make(0.2, 0, -0.3);
    foot.inertia = kk_inertia_solid_sphere(1, 0.05);
    KK_CHECK_EQ_INT(kk_spec_add_body(s.spec, &foot, &id, &s.error), KK_OK);
    stage_shape(&s, KK_SHAPE_SPHERE, id, 0.05, 0, 0, 0);
    if (stage_ready(&s, &(kk_step_options){.timestep = 1e-3})) {
        kk_state_q(s.state)[0] = 0.35;
        stage_run(&s, 10, NULL);
        const kk_force *wrench = kk_simulator_joint_wrenches(s.simulator);
        KK_CHECK_NEAR(wrench[2].linear.z, -3 * 9.81, 1e-9);
        KK_CHECK_NEAR(wrench[2].angular.y, 0, 1e-9);
        // the slide holds the moment of the floor's force, 0.2 m aside, and of the foot's weight
        KK_CHECK_NEAR(wrench[1].linear.z, 0, 1e-9);
        KK_CHECK_NEAR(wrench[1].angular.y, 0.2 * 3 * 9.81, 1e-9);
        KK_CHECK_NEAR(kk_simulator_contact_wrench(s.simulator, 2, KK_WORLD).linear.z, 4 * 9.81, 1e-9);
    }
    stage_end(&s);
}
