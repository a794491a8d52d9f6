/// S3's method: few sweeps leave a residual and many do not; implicit PD is stable where explicit is not.
#include <karakuri/elementary.h>

#include "scenes.h"

static kk_step_options springhead(double h, int sweeps) {
    return (kk_step_options){
        .solver = KK_SOLVER_SPRINGHEAD, .timestep = h, .effort = KK_EFFORT_SWEEPS, .iterations = sweeps};
}

/// Five boxes on each other, heavier upwards; the worst residual of the last step.
static double tower_residual(int sweeps, double *sunk) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0, 0); // or the box of friction would be part of the residual
    int box[5];
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    for (int i = 0; i < 5; i++) {
        box[i] = stage_box(&s, 1 + 3 * i, 1, 1, 0.5, material);
    }
    const kk_step_options o = springhead(0.01, sweeps);
    double residual = -1;
    if (stage_ready(&s, &o)) {
        for (int i = 0; i < 5; i++) {
            stage_place(&s, box[i], 0, 0, 0.25 + 0.5 * i);
        }
        paper_run(&s, 100, NULL);
        residual = paper_report(&s).residual;
        *sunk = 2.25 - stage_q(&s, box[4])[6];
    }
    stage_end(&s);
    return residual;
}

// 2.4: "few iterations leave a residual error"; it falls with every further one
KK_TEST(springhead_leaves_a_residual_after_few_sweeps) {
    double sunk[3];
    const double few = tower_residual(2, &sunk[0]), some = tower_residual(15, &sunk[1]),
                 many = tower_residual(1500, &sunk[2]);
    KK_CHECK(few > 1e-2);
    KK_CHECK(some < few && many < some);
    KK_CHECK(many < 1e-9);
    KK_CHECK(sunk[0] > sunk[1] && sunk[1] > sunk[2] && sunk[2] < 0.02);
}

/// Fig. 6: a pendulum of 0.5 m and 1 kg with a spring and damper at its pivot, from 90 degrees; the largest angle of the last second.
static double fig6(double K, double D, int is_explicit) {
    stage s = stage_begin(9.81);
    kk_body_def def = kk_body_def_default();
    def.name = "pendulum";
    def.joint.type = KK_JOINT_HINGE;
    def.joint.axis = kk_vec3_make(0, 1, 0);
    def.joint.dof[0].stiffness = K;
    def.joint.dof[0].damping = D;
    def.inertia = (kk_inertia){.mass = 1, .com = {0, 0, -0.5}};
    KK_CHECK_EQ_INT(kk_spec_add_body(s.spec, &def, NULL, &s.error), KK_OK);
    kk_step_options o = springhead(0.1, 0);
    o.explicit_servos = is_explicit;
    double largest = 0;
    if (stage_ready(&s, &o)) {
        stage_q(&s, 1)[0] = 1.5707963267948966;
        for (int i = 0; i < 50; i++) {
            if (kk_step(s.model, s.state, s.simulator, NULL, &s.error) != KK_OK) {
                largest = __builtin_inf(); // ran away
                break;
            }
            const double angle = __builtin_fabs(stage_q(&s, 1)[0]);
            largest = i >= 40 && angle > largest ? angle : largest;
        }
    }
    stage_end(&s);
    return largest;
}

// the implicit rule dies down for every gain; the explicit one for the softest only (eigenvalue −3.8 at the middle gains)
KK_TEST(springhead_figure_6) {
    KK_CHECK(fig6(2, 1, 0) < 0.05 && fig6(20, 10, 0) < 0.05 && fig6(200, 100, 0) < 0.05);
    KK_CHECK(fig6(2, 1, 1) < 0.05);
    KK_CHECK(fig6(20, 10, 1) > 10 && fig6(200, 100, 1) > 1e10);
}

// (8) in closed form: one linear row on one degree of freedom is implicit Euler, w' = (I w + h (−K θ))/(I + h D + h² K)
KK_TEST(springhead_linear_row_is_implicit_euler) {
    const double K = 20, D = 10, h = 0.1, I = 0.25;
    stage s = stage_begin(0);
    kk_body_def def = kk_body_def_default();
    def.name = "pendulum";
    def.joint.type = KK_JOINT_HINGE;
    def.joint.axis = kk_vec3_make(0, 1, 0);
    def.inertia = (kk_inertia){.mass = 1, .com = {0, 0, -0.5}};
    KK_CHECK_EQ_INT(kk_spec_add_body(s.spec, &def, NULL, &s.error), KK_OK);
    kk_actuator_def servo = kk_actuator_def_default();
    servo.type = KK_ACTUATOR_POSITION;
    servo.target = "pendulum_joint";
    servo.gain = K;
    servo.bias[1] = -K;
    servo.bias[2] = -D;
    KK_CHECK_EQ_INT(kk_spec_add_actuator(s.spec, &servo, NULL, &s.error), KK_OK);
    const kk_step_options o = springhead(h, 0);
    if (stage_ready(&s, &o)) {
        double theta = 1, w = 0.5;
        const double target = 0.3;
        const kk_input input = {.control = &target};
        stage_q(&s, 1)[0] = theta;
        stage_v(&s, 1)[0] = w;
        for (int i = 0; i < 20; i++) {
            paper_run(&s, 1, &input);
            const double before = w;
            w = (I * w + h * K * (target - theta)) / (I + h * D + h * h * K);
            theta += h * w;
            KK_CHECK_NEAR(stage_q(&s, 1)[0], theta, 1e-12);
            KK_CHECK_NEAR(stage_v(&s, 1)[0], w, 1e-12);
            KK_CHECK_NEAR(kk_simulator_force(s.simulator, KK_FORCE_ACTUATOR)[0], I * (w - before) / h, 1e-9);
            KK_CHECK(paper_report(&s).residual < 1e-12);
        }
    }
    stage_end(&s);
}

// friction is bounded axis by axis: pushed along the diagonal, a box holds up to √2 of what the round cone holds
KK_TEST(springhead_friction_is_a_box) {
    static const double share[2] = {1.3, 1.5}; // of μ m g along the diagonal: between 1 and √2, and beyond
    for (int i = 0; i < 2; i++) {
        stage s = stage_begin(10);
        const int material = stage_material(&s, 0.5, 0);
        stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
        const int box = stage_box(&s, 1, 1, 1, 0.2, material);
        const kk_step_options o = springhead(1e-3, 200);
        if (stage_ready(&s, &o)) {
            kk_force push[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
            push[box].linear = kk_vec3_make(5 * share[i] * 0.7071067811865476, 5 * share[i] * 0.7071067811865476, 0);
            const kk_input input = {.wrench = push};
            stage_place(&s, box, 0, 0, 0.1);
            paper_run(&s, 300, NULL);
            const double start[2] = {stage_q(&s, box)[4], stage_q(&s, box)[5]};
            paper_run(&s, 300, &input);
            for (int k = 0; k < 2; k++) {
                const double way = stage_q(&s, box)[4 + k] - start[k];
                KK_CHECK(i == 0 ? way < 1e-5 : way > 1e-3);
            }
            // the exact law would not have it
            KK_CHECK(i == 1 || paper_report(&s).residual > 1e-4);
        }
        stage_end(&s);
    }
}
