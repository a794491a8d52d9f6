// Forward dynamics is the inverse of inverse dynamics, both ways, with and without forces on bodies.
#include "support/scene.h"

#include <string.h>

#include "model/model.h"

/// An error that is the scene's own: a scene that multiplies rounding by more than this cannot be asked for 1e-11 of the acceleration.
/// Measured: solving with the exact factor of the same M, in long double, gives the same errors as the articulated-body algorithm.
static const double ILL = 1e4;

static void compare_accelerations(scene *s, const double *a, int with_external, worst *scaled, worst *plain) {
    const double scale = scene_acceleration_scale(s, s->a, with_external);
    worst_compare(scaled, s, a, s->a, (size_t)s->nv, scale);
    if (scale < ILL * largest(s->a, (size_t)s->nv)) {
        worst_compare(plain, s, a, s->a, (size_t)s->nv, 0);
    }
}

// scales: of what rounding of the torques does to accelerations (scene.h); and plainly the largest acceleration
KK_TEST(forward_of_inverse_gives_the_acceleration_back) {
    worst scaled = {0}, plain = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *tau = scene_take(&s, nv), *a = scene_take(&s, nv);
        kk_inverse_dynamics(s.model, s.data, s.q, s.v, s.a, tau);
        kk_forward_dynamics(s.model, s.data, s.q, s.v, tau, a);
        compare_accelerations(&s, a, 0, &scaled, &plain);
        kk_inverse_dynamics_external(s.model, s.data, s.q, s.v, s.a, s.external, tau);
        kk_forward_dynamics_external(s.model, s.data, s.q, s.v, tau, s.external, a);
        compare_accelerations(&s, a, 1, &scaled, &plain);
        scene_free(&s);
    }
    WORST_CHECK(scaled, 1e-14);
    WORST_CHECK(plain, 1e-11);
}

// scales: the terms the torque is the sum of; and plainly the largest torque
KK_TEST(inverse_of_forward_gives_the_torque_back) {
    worst scaled = {0}, plain = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *tau = scene_take(&s, nv), *a = scene_take(&s, nv);
        for (int external = 0; external < 2; external++) {
            if (external) {
                kk_forward_dynamics_external(s.model, s.data, s.q, s.v, s.tau, s.external, a);
                kk_inverse_dynamics_external(s.model, s.data, s.q, s.v, a, s.external, tau);
            } else {
                kk_forward_dynamics(s.model, s.data, s.q, s.v, s.tau, a);
                kk_inverse_dynamics(s.model, s.data, s.q, s.v, a, tau);
            }
            const double scale = scene_torque_scale(&s, a, external);
            worst_compare(&scaled, &s, tau, s.tau, nv, scale);
            if (scale < ILL * largest(s.tau, nv)) {
                worst_compare(&plain, &s, tau, s.tau, nv, 0);
            }
        }
        scene_free(&s);
    }
    WORST_CHECK(scaled, 1e-13);
    WORST_CHECK(plain, 1e-11);
}

KK_TEST(result_may_lie_on_the_torque) {
    for (int i = 0; i < 100; i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *a = scene_take(&s, nv), *both = scene_take(&s, nv);
        kk_forward_dynamics(s.model, s.data, s.q, s.v, s.tau, a);
        memcpy(both, s.tau, nv * sizeof *both);
        kk_forward_dynamics(s.model, s.data, s.q, s.v, both, both);
        KK_CHECK_BYTES(both, a, nv * sizeof *a);
        kk_forward_dynamics_external(s.model, s.data, s.q, s.v, s.tau, s.external, a);
        memcpy(both, s.tau, nv * sizeof *both);
        kk_forward_dynamics_external(s.model, s.data, s.q, s.v, both, s.external, both);
        KK_CHECK_BYTES(both, a, nv * sizeof *a);
        scene_free(&s);
    }
}

KK_TEST(robots_of_our_own_go_both_ways) {
    worst w = {0};
    for (const robots_entry *robot = robots_table; robot->name; robot++) {
        scene s = scene_robot(robot->name, 3);
        const size_t nv = (size_t)s.nv;
        double *tau = scene_take(&s, nv), *a = scene_take(&s, nv);
        for (uint64_t k = 0; k < 50; k++) {
            scene_draw(&s, k);
            kk_inverse_dynamics_external(s.model, s.data, s.q, s.v, s.a, s.external, tau);
            kk_forward_dynamics_external(s.model, s.data, s.q, s.v, tau, s.external, a);
            worst_compare(&w, &s, a, s.a, nv, 0);
        }
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-11);
}

// ---- link frames against world axes: two programs of one algorithm

enum { KINDS = KKI_ALIGNED_Y_BACK + 1 };

KK_TEST(every_alignment_of_hinges_gives_what_world_axes_give) {
    scene s = scene_alignments(1);
    int seen[KINDS][2][2] = {{{0}}};
    for (int i = 1; i < s.model->nnode; i++) {
        const kki_node *n = &s.model->node[i];
        if (n->type == KKI_NODE_HINGE && n->parent > 0) {
            seen[n->aligned][n->has_arm != 0][n->is_bare]++;
        }
    }
    for (int kind = 0; kind < KINDS; kind++) {
        KK_CHECK(seen[kind][0][0] && seen[kind][0][1] && seen[kind][1][0] && seen[kind][1][1]);
    }
    const size_t nv = (size_t)s.nv;
    double *links = scene_take(&s, nv), *world = scene_take(&s, nv), *tau = scene_take(&s, nv);
    kk_force *none = scene_take_forces(&s, (size_t)kk_model_nbody(s.model));
    worst agree = {0}, back = {0};
    for (uint64_t k = 0; k < 20; k++) {
        scene_draw(&s, k);
        kk_forward_dynamics(s.model, s.data, s.q, s.v, s.tau, links);
        kk_forward_dynamics_external(s.model, s.data, s.q, s.v, s.tau, none, world);
        worst_compare(&agree, &s, links, world, nv, 0);
        kk_inverse_dynamics(s.model, s.data, s.q, s.v, links, tau);
        worst_compare(&back, &s, tau, s.tau, nv, 0);
    }
    WORST_CHECK(agree, 1e-12);
    WORST_CHECK(back, 1e-12);
    scene_free(&s);
}
