// Forward dynamics is the inverse of inverse dynamics, both ways, with and without forces on bodies.
#include "support/scene.h"

#include <string.h>

// scale: the largest acceleration, or torque, of the scene
KK_TEST(forward_of_inverse_gives_the_acceleration_back) {
    worst plain = {0}, external = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *tau = scene_take(&s, nv), *a = scene_take(&s, nv);
        kk_inverse_dynamics(s.model, s.data, s.q, s.v, s.a, tau);
        kk_forward_dynamics(s.model, s.data, s.q, s.v, tau, a);
        worst_compare(&plain, &s, a, s.a, nv, 0);
        kk_inverse_dynamics_external(s.model, s.data, s.q, s.v, s.a, s.external, tau);
        kk_forward_dynamics_external(s.model, s.data, s.q, s.v, tau, s.external, a);
        worst_compare(&external, &s, a, s.a, nv, 0);
        scene_free(&s);
    }
    WORST_CHECK(plain, 1e-11);
    WORST_CHECK(external, 1e-11);
}

KK_TEST(inverse_of_forward_gives_the_torque_back) {
    worst plain = {0}, external = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *tau = scene_take(&s, nv), *a = scene_take(&s, nv);
        kk_forward_dynamics(s.model, s.data, s.q, s.v, s.tau, a);
        kk_inverse_dynamics(s.model, s.data, s.q, s.v, a, tau);
        worst_compare(&plain, &s, tau, s.tau, nv, 0);
        kk_forward_dynamics_external(s.model, s.data, s.q, s.v, s.tau, s.external, a);
        kk_inverse_dynamics_external(s.model, s.data, s.q, s.v, a, s.external, tau);
        worst_compare(&external, &s, tau, s.tau, nv, 0);
        scene_free(&s);
    }
    WORST_CHECK(plain, 1e-11);
    WORST_CHECK(external, 1e-11);
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
