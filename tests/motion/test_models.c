// Our models: they load without a word, are what their READMEs say, and stand or move as they should.
#include <string.h>

#include "our_models.h"

typedef struct model_facts {
    const char *path;
    int nv;
    double mass; ///< of what moves; 0: not asked
} model_facts;

static const model_facts facts[] = {
    {OUR_MODEL("hrp2/hrp2.xml"), 36, 58},
    {OUR_MODEL("hrp2/hrp2_bush.xml"), 42, 58},
    {OUR_MODEL("h6/h6.xml"), 39, 55},
    {OUR_MODEL("titan8/titan8.xml"), 22, 22},
    {OUR_MODEL("titan8/titan8_torque.xml"), 22, 22},
    {OUR_MODEL("crane/crane.urdf"), 23, 0},
    {OUR_MODEL("boxes_on_slope/boxes_on_slope.xml"), 144, 0},
    {OUR_MODEL("closed_link/closed_link.xml"), 4, 4.4},
    {OUR_MODEL("double_pendulum/double_pendulum.xml"), 2, 10},
    {OUR_MODEL("four_bar/four_bar.xml"), 3, 1.5},
    {OUR_MODEL("slider_crank/slider_crank.xml"), 3, 3.7},
    {OUR_MODEL("chebyshev/chebyshev.xml"), 3, 2.4},
};
enum { MODELS = sizeof facts / sizeof *facts };

static void check_without_findings(const char *path) {
    kk_spec *spec = NULL;
    kk_messages *messages = NULL;
    kk_error error = {0};
    if (kk_load_file(path, NULL, NULL, &spec, &messages, &error) != KK_OK) {
        KK_FAIL("%s: %s", path, error.text);
    } else {
        KK_CHECK_EQ_INT(kk_doctor_examine(spec, NULL, messages, &error), KK_OK);
        KK_CHECK_EQ_INT(kk_messages_count_of(messages, KK_SEVERITY_ERROR), 0);
        KK_CHECK_EQ_INT(kk_messages_count_of(messages, KK_SEVERITY_WARNING), 0);
    }
    kk_messages_free(messages);
    kk_spec_free(spec);
}

KK_TEST(our_models_pass_the_doctor) {
    if (!HAS_OUR_MODELS) {
        KK_SKIP("there are no files here");
    }
    for (int i = 0; i < MODELS; i++) {
        check_without_findings(facts[i].path);
        kk_model *m = load_our_model(facts[i].path);
        if (m) {
            KK_CHECK_EQ_INT(kk_model_nv(m), facts[i].nv);
            KK_CHECK(facts[i].mass == 0 ||
                     (kk_model_mass(m) > facts[i].mass - 1e-9 && kk_model_mass(m) < facts[i].mass + 1e-9));
        }
        kk_model_free(m);
    }
}

typedef struct run {
    kk_model *model;
    kk_state *state;
    kk_simulator *simulator;
    kk_data *data;
    double control[64];
} run;

static int begin(run *r, const char *path) {
    *r = (run){.model = load_our_model(path)};
    return r->model && KK_CHECK_EQ_INT(kk_state_create(r->model, NULL, &r->state), KK_OK) &&
           KK_CHECK_EQ_INT(kk_simulator_create(r->model, NULL, NULL, &r->simulator, NULL), KK_OK) &&
           KK_CHECK_EQ_INT(kk_data_create(r->model, NULL, &r->data), KK_OK);
}

static void step(run *r, int steps) {
    const kk_input input = {.control = r->control};
    for (int i = 0; i < steps; i++) {
        kk_error error = {0};
        if (kk_step(r->model, r->state, r->simulator, &input, &error) != KK_OK) {
            KK_FAIL("step %d: %s", i, error.text);
            return;
        }
    }
}

static void end(run *r) {
    kk_data_free(r->data);
    kk_simulator_free(r->simulator);
    kk_state_free(r->state);
    kk_model_free(r->model);
}

static void check_standing(const char *path) {
    run r;
    if (begin(&r, path)) {
        KK_CHECK_EQ_INT(kk_state_set_keyframe(r.model, r.state, 0), KK_OK);
        memcpy(r.control, kk_model_keyframe(r.model, 0).control, (size_t)kk_model_nactuator(r.model) * sizeof(double));
        const double height = kk_center_of_mass(r.model, r.data, kk_state_q_const(r.state)).z;
        step(&r, 500);
        const kk_vec3 c = kk_center_of_mass(r.model, r.data, kk_state_q_const(r.state));
        KK_CHECK_NEAR(c.z, height, 0.02);
        KK_CHECK_NEAR(kk_simulator_floor_wrench(r.simulator, r.model).linear.z, 9.81 * kk_model_mass(r.model),
                      0.1 * 9.81 * kk_model_mass(r.model));
    }
    end(&r);
}

KK_TEST(humanoids_stand) {
    if (!HAS_OUR_MODELS) {
        KK_SKIP("there are no files here");
    }
    check_standing(OUR_MODEL("hrp2/hrp2.xml"));
    check_standing(OUR_MODEL("hrp2/hrp2_bush.xml"));
    check_standing(OUR_MODEL("h6/h6.xml"));
}

// the standing knee carries (22 − 2)/4 · 9.81 = 49.05 N, straight down (S4)
KK_TEST(titan8_knees_carry_a_quarter) {
    if (!HAS_OUR_MODELS) {
        KK_SKIP("there are no files here");
    }
    run r;
    if (begin(&r, OUR_MODEL("titan8/titan8.xml"))) {
        step(&r, 300);
        static const char *const shins[] = {"left_fore_shin", "right_fore_shin", "left_hind_shin", "right_hind_shin"};
        for (int i = 0; i < 4; i++) {
            const kk_force f = kk_simulator_joint_wrenches(r.simulator)[kk_model_find_body(r.model, shins[i])];
            KK_CHECK_NEAR(f.linear.z, -49.05, 0.05); // the thigh presses the shin down; servos creep a little
        }
    }
    end(&r);
}

static double loop_opening(run *r, const char *a, kk_vec3 on_a, const char *b, kk_vec3 on_b) {
    kk_kinematics(r->model, r->data, kk_state_q_const(r->state));
    const kk_transform A = kk_body_pose(r->model, r->data, kk_model_find_body(r->model, a));
    const kk_transform B = kk_body_pose(r->model, r->data, kk_model_find_body(r->model, b));
    return kk_vec3_norm(kk_vec3_sub(kk_transform_point(A, on_a), kk_transform_point(B, on_b)));
}

// x = r cos α + √(l² − r² sin²α) while the crank turns (slider_crank/README.md)
KK_TEST(slider_crank_follows_its_formula) {
    if (!HAS_OUR_MODELS) {
        KK_SKIP("there are no files here");
    }
    run r;
    if (begin(&r, OUR_MODEL("slider_crank/slider_crank.xml"))) {
        r.control[0] = 3; // rad/s
        const int crank = kk_model_joint(r.model, kk_model_find_joint(r.model, "crank")).q_index;
        const int slider = kk_model_joint(r.model, kk_model_find_joint(r.model, "slider")).q_index;
        const double zero = kk_sqrt(0.09 - 0.01);
        for (int i = 0; i < 20; i++) {
            step(&r, 100);
            const double angle = KK_HALF_PI - kk_state_q_const(r.state)[crank], s = 0.1 * kk_sin(angle);
            const double x = 0.1 * kk_cos(angle) + kk_sqrt(0.09 - s * s);
            KK_CHECK_NEAR(kk_state_q_const(r.state)[slider], x - zero, 1e-9);
        }
        KK_CHECK(kk_state_q_const(r.state)[crank] > 5); // it did turn
    }
    end(&r);
}

// the middle of Chebyshev's coupler stays within 1 % of a straight line over its stroke
KK_TEST(chebyshev_draws_a_line) {
    if (!HAS_OUR_MODELS) {
        KK_SKIP("there are no files here");
    }
    run r;
    if (begin(&r, OUR_MODEL("chebyshev/chebyshev.xml"))) {
        const int tracer = kk_model_find_frame(r.model, "tracer");
        double low = 1e9, high = -1e9, least = 1e9, most = -1e9;
        for (int i = 0; i < 30; i++) {
            r.control[0] = i < 10 ? 0.5 : -0.5;
            step(&r, 100);
            kk_kinematics(r.model, r.data, kk_state_q_const(r.state));
            const kk_vec3 p = kk_frame_pose(r.model, r.data, tracer).p;
            low = p.z < low ? p.z : low, high = p.z > high ? p.z : high;
            least = p.x < least ? p.x : least, most = p.x > most ? p.x : most;
        }
        KK_CHECK(most - least > 0.3);
        KK_CHECK(high - low < 0.01 * (most - least));
        KK_CHECK(loop_opening(&r, "coupler", kk_vec3_make(-0.2, 0, 0), "right_arm", kk_vec3_make(-0.3, 0, 0.4)) < 1e-9);
    }
    end(&r);
}
