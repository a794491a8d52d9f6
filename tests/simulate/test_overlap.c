// What starts deep inside other things, or between things that overlap, is eased apart: in bounded effort, with bounded forces and without a gain of energy.
#include <math.h>

#include "stage.h"

enum { LINKS = 5 };

static int add_capsule(stage *s, int body, double radius, double half, int material) {
    kk_shape_def def = kk_shape_def_default();
    def.type = KK_SHAPE_CAPSULE;
    def.body = body;
    def.size[0] = radius;
    def.size[1] = half;
    def.placement.R = kk_mat3_from_axis_angle(kk_vec3_make(0, 1, 0), 1.5707963267948966);
    def.material = material;
    return KK_CHECK_EQ_INT(kk_spec_add_shape(s->spec, &def, NULL, &s->error), KK_OK);
}

/// A chain of links, thicker than the slot between the floor and the deck of a treadmill that it lies in, bent by its springs.
static stage under_the_deck(double height, double bend) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 1, 0);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    const int deck = stage_shape(&s, KK_SHAPE_BOX, KK_WORLD, 0.6, 0.3, 0.05, material);
    kk_spec_shape(s.spec, deck)->placement.p = kk_vec3_make(0, 0, 0.15);
    int link = stage_body(&s, kk_inertia_solid_box(4, 0.3, 0.1, 0.1));
    const int root = link;
    add_capsule(&s, link, 0.07, 0.1, material);
    for (int i = 1; i < LINKS; i++) {
        char name[16];
        snprintf(name, sizeof name, "link%d", i);
        const kk_vec3 axis = i & 1 ? kk_vec3_make(0, 1, 0) : kk_vec3_make(0, 0.6, 0.8);
        link = stage_hinge(&s, name, link, kk_vec3_make(0.25, 0, 0), axis, kk_inertia_solid_box(2, 0.25, 0.1, 0.1));
        add_capsule(&s, link, 0.04 + 0.01 * i, 0.08, material);
    }
    kk_spec_options(s.spec)->timestep = 0.005;
    if (stage_ready(&s, NULL)) {
        stage_place(&s, root, -0.5, 0, height);
        for (int i = 1; i < LINKS; i++) {
            stage_q(&s, root + i)[0] = i & 1 ? bend : -bend;
        }
    }
    return s;
}

static double largest_force(const stage *s) {
    double most = 0;
    for (int i = 0; i < kk_simulator_ncontact(s->simulator); i++) {
        most = fmax(most, kk_vec3_norm(kk_simulator_contacts(s->simulator)[i].force));
    }
    return most;
}

// Rigid contacts that contradict each other braced the links with 1e9 N, and a step in ten was degraded.
KK_TEST(what_is_jammed_is_eased_apart) {
    for (int k = 0; k < 8; k++) {
        stage s = under_the_deck(0.07 + 0.02 * (k / 2), k % 2 ? 0.5 : 0.2);
        for (int i = 0; i < 300 && s.simulator; i++) {
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
            const kk_report r = *kk_simulator_report(s.simulator);
            KK_CHECK_EQ_INT(r.quality, KK_STEP_CERTIFIED);
            KK_CHECK(r.audit.kinetic[1] < 5); // no more than the weight can give
            KK_CHECK(largest_force(&s) < 5e3);
        }
        stage_end(&s);
    }
}

// a box that starts in the floor comes out of it in a few steps, without a speed from that
KK_TEST(what_starts_in_the_floor_comes_up) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.5, 0);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    const int box = stage_box(&s, 1, 0.2, 0.2, 0.1, material);
    if (stage_ready(&s, NULL)) {
        stage_place(&s, box, 0, 0, 0.01); // 40 mm deep
    }
    double fastest = 0;
    for (int i = 0; i < 10 && s.simulator; i++) {
        KK_CHECK(stage_run(&s, 1, NULL));
        fastest = fmax(fastest, fabs(stage_v(&s, box)[5]));
    }
    KK_CHECK_NEAR(stage_q(&s, box)[6], 0.05, 1e-6);
    KK_CHECK(fastest < 1e-3);
    stage_end(&s);
}

/// A ball on two hinges whose axes meet in the middle of the ball that carries them: no motion takes one out of the other.
static stage ball_joint_jam(double x, double y, double z) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 1, 0);
    const int base = stage_ball(&s, 2, 0.1, material);
    const int yoke =
        stage_hinge(&s, "yoke", base, kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 1), kk_inertia_solid_sphere(0.1, 0.02));
    const int link =
        stage_hinge(&s, "link", yoke, kk_vec3_make(0, 0, 0), kk_vec3_make(1, 0, 0), kk_inertia_solid_sphere(0.5, 0.05));
    const int shape = stage_shape(&s, KK_SHAPE_SPHERE, link, 0.08, 0, 0, material);
    kk_spec_shape(s.spec, shape)->placement.p = kk_vec3_make(x, y, z);
    stage_ready(&s, NULL);
    return s;
}

// The row's element of G is rounding there, and the impulse was 1e20 N s or no number at all: steps failed, and others made energy.
KK_TEST(what_no_motion_parts_is_not_pressed_without_bound) {
    const double at[3][3] = {{0, 0, 0}, {0.05, 0.02, 0}, {0.01, -0.03, 0.07}};
    for (int k = 0; k < 3; k++) {
        stage s = ball_joint_jam(at[k][0], at[k][1], at[k][2]);
        double tau[8] = {0};
        for (int i = 0; i < 200 && s.simulator; i++) {
            tau[6] = 0.5 * cos(0.1 * i);
            tau[7] = 0.3 * sin(0.07 * i);
            const kk_input input = {.tau = tau};
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, &input, &s.error), KK_OK);
            KK_CHECK_EQ_INT(kk_simulator_report(s.simulator)->quality, KK_STEP_CERTIFIED);
            KK_CHECK(largest_force(&s) < 1e4);
        }
        stage_end(&s);
    }
}
