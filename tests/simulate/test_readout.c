// Forces one reads after a step.
#include <math.h>

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

// a brick that falls over its lower edge: the edge sticks, and reads so, though the brick turns about it ever faster
KK_TEST(readout_of_an_edge_that_sticks) {
    stage s = stage_begin(9.81);
    const int stone = stage_material(&s, 0.9, 0);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, stone);
    const int brick = stage_box(&s, 3, 0.2, 0.3, 0.1, stone);
    if (stage_ready(&s, &(kk_step_options){.timestep = 1e-3})) {
        const double lean = 0.7,
                     up = 0.5 * (0.2 * sin(lean) + 0.1 * cos(lean)); // about y, less than the diagonal's 1.1
        double *q = stage_q(&s, brick), fastest = 0;
        q[0] = cos(0.5 * lean);
        q[2] = sin(0.5 * lean);
        q[6] = up;
        for (int i = 0; i < 150 && kk_simulator_ncontact(s.simulator) <= 2; i++) {
            stage_run(&s, 1, NULL);
            for (int k = 0; k < kk_simulator_ncontact(s.simulator); k++) {
                const kk_contact c = kk_simulator_contacts(s.simulator)[k];
                const double across = hypot(c.force.x, c.force.y);
                if (c.force.z > 0 && across < 0.99 * c.friction * c.force.z) {
                    KK_CHECK(hypot(c.velocity.x, c.velocity.y) <= 1e-9);
                }
            }
            fastest = fmax(fastest, fabs(stage_v(&s, brick)[1]));
        }
        KK_CHECK(fastest > 2); // rad/s
    }
    stage_end(&s);
}

// a ball that has sunk into a floor of 1 kN/m and lies still has no speed
KK_TEST(readout_of_a_soft_contact) {
    stage s = stage_begin(9.81);
    kk_material_def def = kk_material_def_default();
    int soft = 0;
    def.stiffness = 1e3;
    def.damping = 50;
    KK_CHECK_EQ_INT(kk_spec_add_material(s.spec, &def, &soft, &s.error), KK_OK);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, soft);
    const int ball = stage_ball(&s, 2, 0.1, soft);
    if (stage_ready(&s, &(kk_step_options){.timestep = 1e-3})) {
        stage_place(&s, ball, 0, 0, 0.1);
        stage_run(&s, 3000, NULL);
        KK_CHECK_EQ_INT(kk_simulator_ncontact(s.simulator), 1);
        KK_CHECK_REL(kk_simulator_contacts(s.simulator)[0].force.z, 2 * 9.81, 1e-6);
        KK_CHECK_NEAR(kk_simulator_contacts(s.simulator)[0].velocity.z, 0, 1e-6);
    }
    stage_end(&s);
}
