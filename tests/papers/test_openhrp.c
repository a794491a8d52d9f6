/// S0's method: what it can do is checked against closed forms and against the exact solver, what it cannot is refused.
#include <karakuri/elementary.h>

#include "scenes.h"

static const kk_step_options OPENHRP = {.solver = KK_SOLVER_OPENHRP, .timestep = 1e-3};

// μ = 0.5 holds a slope of 26 degrees and not one of 30; there the box slides by g (sin − μ cos)
KK_TEST(openhrp_holds_and_slides_on_slopes) {
    static const double slopes[2] = {26, 30};
    for (int i = 0; i < 2; i++) {
        const double angle = slopes[i] * 0.017453292519943295, g = 9.81;
        stage s = stage_begin(g);
        const int box = paper_slope(&s, angle, 0.5, g);
        if (stage_ready(&s, &OPENHRP)) {
            stage_place(&s, box, 0, 0, 0.5);
            paper_run(&s, 1000, NULL);
            const double a = g * (kk_sin(angle) - 0.5 * kk_cos(angle));
            KK_CHECK_NEAR(stage_q(&s, box)[4], a > 0 ? 0.5 * a : 0, a > 0 ? 5e-3 : 1e-4);
            KK_CHECK_NEAR(stage_q(&s, box)[6], 0.5, 2e-5);
            KK_CHECK(paper_report(&s).contacts == 4);
            KK_CHECK(paper_report(&s).residual < 1e-5);
        }
        stage_end(&s);
    }
}

// a tower on a slope leans on itself: all contact forces together carry the weight
KK_TEST(openhrp_carries_the_weight_of_a_tower) {
    const double angle = 0.3, g = 9.81;
    stage s = stage_begin(g);
    int box[3] = {paper_slope(&s, angle, 0.8, g)};
    box[1] = stage_box(&s, 1, 1, 1, 0.5, 1);
    box[2] = stage_box(&s, 2, 0.8, 0.8, 0.4, 1);
    if (stage_ready(&s, &OPENHRP)) {
        stage_place(&s, box[0], 0, 0, 0.5);
        stage_place(&s, box[1], 0, 0, 1.25);
        stage_place(&s, box[2], 0, 0, 1.7);
        paper_run(&s, 1000, NULL);
        kk_vec3 f = {0, 0, 0}; // mean of a tenth of a second: 120 sweeps leave each step a little wrong
        for (int i = 0; i < 100; i++) {
            paper_run(&s, 1, NULL);
            f = kk_vec3_add(f, kk_simulator_contact_wrench(s.simulator, box[0], KK_WORLD).linear);
        }
        KK_CHECK_REL(0.01 * f.z, 4 * g * kk_cos(angle), 1e-2);
        KK_CHECK_REL(0.01 * f.x, -4 * g * kk_sin(angle), 1e-2);
        KK_CHECK_NEAR(stage_q(&s, box[2])[4], 0, 1e-3);
        KK_CHECK(paper_report(&s).sweeps <= 120);
    }
    stage_end(&s);
}

/// A hanging four-bar, three rods of 1 m under two pivots 1.5 m apart, from rest with its first rod 0.9 rad below the horizontal.
static int four_bar(stage *s, double *gap, double dt) {
    const kk_inertia link = paper_rod();
    const int a = paper_hinge(s, KK_WORLD, kk_vec3_make(0, 0, 0), link, "crank");
    const int b = paper_hinge(s, a, kk_vec3_make(1, 0, 0), link, "rod");
    const int c = paper_hinge(s, b, kk_vec3_make(1, 0, 0), link, "rocker");
    kk_loop_def loop = kk_loop_def_default();
    loop.type = KK_LOOP_POINT;
    loop.body[0] = KK_WORLD;
    loop.body[1] = c;
    loop.placement[0].p = kk_vec3_make(1.5, 0, 0);
    loop.placement[1].p = kk_vec3_make(1, 0, 0);
    KK_CHECK_EQ_INT(kk_spec_add_loop(s->spec, &loop, NULL, &s->error), KK_OK);
    kk_step_options o = OPENHRP;
    o.timestep = dt;
    if (!stage_ready(s, &o)) {
        return 0;
    }
    // the third joint lies 1 m from the second and from the far pivot; hinges about y turn x towards −z
    const double x = kk_cos(0.9), z = -kk_sin(0.9), dx = 1.5 - x, dz = -z, far = kk_sqrt(dx * dx + dz * dz);
    const double out = kk_sqrt(1 - 0.25 * far * far) / far, x3 = x + 0.5 * dx + out * dz, z3 = z + 0.5 * dz - out * dx;
    const double rod = kk_atan2(-(z3 - z), x3 - x), rocker = kk_atan2(z3, 1.5 - x3);
    stage_q(s, a)[0] = 0.9;
    stage_q(s, b)[0] = rod - 0.9;
    stage_q(s, c)[0] = rocker - rod;
    const int good = paper_run(s, (int)(2 / dt + 0.5), NULL);
    kk_data *d = NULL;
    KK_CHECK_EQ_INT(kk_data_create(s->model, NULL, &d), KK_OK);
    kk_kinematics(s->model, d, kk_state_q(s->state));
    const kk_vec3 end = kk_transform_point(kk_body_pose(s->model, d, c), kk_vec3_make(1, 0, 0));
    *gap = kk_vec3_norm(kk_vec3_sub(end, kk_vec3_make(1.5, 0, 0)));
    kk_data_free(d);
    return good;
}

// Fig. 3: the connection keeps a four-bar closed while it swings. It holds velocities alone and Euler's (4) foresees them to first order, so
// that the gap grows: to a micrometer in 2 s at the paper's 1 ms, a quarter of that at half the step
KK_TEST(openhrp_closes_the_closed_link) {
    double gap[2] = {1, 1};
    for (int i = 0; i < 2; i++) {
        stage s = stage_begin(9.81);
        if (four_bar(&s, &gap[i], i ? 5e-4 : 1e-3)) {
            KK_CHECK(__builtin_fabs(stage_q(&s, 1)[0] - 0.9) > 0.1);
            KK_CHECK(paper_report(&s).residual < 1e-6);
        }
        stage_end(&s);
    }
    KK_CHECK(gap[0] < 1e-5);
    KK_CHECK_REL(gap[0] / gap[1], 4, 0.05);
}

// without contact the method is Runge and Kutta's: halving the step divides the error of a double pendulum by sixteen
KK_TEST(openhrp_integrates_to_fourth_order) {
    double angle[4] = {0};
    for (int i = 0; i < 4; i++) {
        stage s = stage_begin(9.81);
        const kk_inertia rod = paper_rod();
        const int a = paper_hinge(&s, KK_WORLD, kk_vec3_make(0, 0, 0), rod, "upper");
        const int b = paper_hinge(&s, a, kk_vec3_make(1, 0, 0), rod, "lower");
        const int steps = i == 3 ? 6400 : 100 << i;
        kk_step_options o = OPENHRP;
        o.timestep = 1.0 / steps;
        if (stage_ready(&s, &o)) {
            stage_q(&s, b)[0] = 0.7;
            paper_run(&s, steps, NULL);
            angle[i] = stage_q(&s, b)[0];
        }
        stage_end(&s);
    }
    const double first = __builtin_fabs(angle[1] - angle[3]), second = __builtin_fabs(angle[2] - angle[3]);
    KK_CHECK(first / second > 11 && first / second < 24);
}

// the same step from a saved state gives the same bytes: everything that counts is in the state
KK_TEST(openhrp_state_is_all_there_is) {
    stage s = stage_begin(9.81);
    const int box = paper_slope(&s, 0.2, 0.6, 9.81);
    if (stage_ready(&s, &OPENHRP)) {
        stage_place(&s, box, 0, 0, 0.6);
        paper_run(&s, 300, NULL);
        kk_state *copy = NULL;
        kk_simulator *other = NULL;
        KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &copy), KK_OK);
        KK_CHECK_EQ_INT(kk_state_copy(copy, s.state), KK_OK);
        KK_CHECK_EQ_INT(kk_simulator_create(s.model, &OPENHRP, NULL, &other, &s.error), KK_OK);
        paper_run(&s, 50, NULL);
        for (int i = 0; i < 50; i++) {
            KK_CHECK_EQ_INT(kk_step(s.model, copy, other, NULL, &s.error), KK_OK);
        }
        KK_CHECK(kk_state_equal(copy, s.state));
        kk_simulator_free(other);
        kk_state_free(copy);
    }
    stage_end(&s);
}

// what the paper has no word for is refused, and a simulator keeps its solver
KK_TEST(openhrp_refuses_bouncing_and_changing) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.5, 0.5);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    stage_box(&s, 1, 1, 1, 1, material);
    KK_CHECK_EQ_INT(kk_model_compile(s.spec, NULL, &s.model, &s.error), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(s.model, &OPENHRP, NULL, &s.simulator, &s.error), KK_UNSUPPORTED);
    KK_CHECK(__builtin_strstr(s.error.text, "restitution") != NULL);
    KK_CHECK_EQ_INT(kk_simulator_create(s.model, NULL, NULL, &s.simulator, &s.error), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_set_options(s.simulator, &OPENHRP, &s.error), KK_INVALID_ARGUMENT);
    const kk_step_options none = {.solver = (kk_solver)9};
    KK_CHECK_EQ_INT(kk_simulator_set_options(s.simulator, &none, &s.error), KK_INVALID_ARGUMENT);
    stage_end(&s);
}
