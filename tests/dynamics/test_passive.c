// Springs and dampers: one law for every degree of freedom, along the joint's own coordinates.
#include "support/scene.h"

#include <string.h>

static scene sprung_forest(uint64_t seed) {
    scene s = scene_forest(seed);
    kk_spec *spec = s.spec;
    kk_random random = {seed, 31, 0};
    for (int b = 1; b < s.nbody; b++) {
        for (int k = 0; k < KK_MAX_JOINT_DOFS; k++) {
            kk_dof_def *dof = &kk_spec_body(spec, b)->joint.dof[k];
            dof->stiffness = kk_random_next_between(&random, 0, 100);
            dof->damping = kk_random_next_between(&random, 0, 10);
            dof->rest = kk_random_next_between(&random, -1, 1);
        }
    }
    s.spec = NULL;
    scene_free(&s);
    return scene_of(spec, seed);
}

// δ from the neutral pose: the coordinate itself, or the rotation vector of a quaternion; scale: the largest force
KK_TEST(springs_pull_back_and_dampers_brake) {
    worst w = {0};
    for (int i = 0; i < scene_count() / 4; i++) {
        scene s = sprung_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *neutral = scene_take(&s, (size_t)s.nq), *way = scene_take(&s, nv), *tau = scene_take(&s, nv),
               *expected = scene_take(&s, nv);
        kk_model_neutral(s.model, neutral);
        kk_difference(s.model, neutral, s.q, way);
        for (int k = 0; k < s.nv; k++) {
            const kk_dof_def dof = kk_model_dof(s.model, k);
            expected[k] = -dof.stiffness * (way[k] - dof.rest) - dof.damping * s.v[k];
        }
        kk_passive_force(s.model, s.data, s.q, s.v, tau);
        worst_compare(&w, &s, tau, expected, nv, 0);
        memcpy(expected, tau, nv * sizeof *tau);
        memcpy(way, s.v, nv * sizeof *way);
        kk_passive_force(s.model, s.data, s.q, way, way); // the result may lie on v
        KK_CHECK_BYTES(way, expected, nv * sizeof *way);
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-14);
}

KK_TEST(a_ball_turned_about_an_axis_is_pulled_back_about_it) {
    kk_spec *spec = NULL;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    kk_body_def body = kk_body_def_default();
    body.name = "ball";
    body.joint.type = KK_JOINT_BALL;
    body.inertia = kk_inertia_solid_sphere(1, 0.1);
    body.joint.dof[0].stiffness = body.joint.dof[1].stiffness = body.joint.dof[2].stiffness = 7;
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, NULL, NULL), KK_OK);
    scene s = scene_of(spec, 1);
    const kk_quat turn = kk_quat_exp(kk_vec3_make(0.3, -0.4, 1.2));
    const double q[4] = {turn.w, turn.x, turn.y, turn.z}, v[3] = {1, 2, 3};
    double tau[3];
    kk_passive_force(s.model, s.data, q, v, tau);
    KK_CHECK_REL(tau[0], -7 * 0.3, 1e-14);
    KK_CHECK_REL(tau[1], 7 * 0.4, 1e-14);
    KK_CHECK_REL(tau[2], -7 * 1.2, 1e-14);
    scene_free(&s);
}
