// Inverse dynamics against the principle of virtual power, which needs kinematics alone; forces on bodies; energy.
#include "support/scene.h"

#include <math.h>
#include <string.h>

/// tau by d'Alembert: every degree of freedom does the virtual work that the loads of all bodies ask for. O(nv nbody), no recursion.
static void virtual_power(scene *s, int with_external, double *tau) {
    kk_motion V[32];
    kk_force load[32];
    kk_kinematics_acceleration(s->model, s->data, s->q, s->v, s->a);
    for (int b = 0; b < s->nbody; b++) {
        load[b] = scene_body_load(s, b);
        load[b] = with_external ? kk_force_sub(load[b], scene_body_external(s, b)) : load[b];
    }
    for (int i = 0; i < s->nv; i++) {
        tau[i] = kk_model_dof(s->model, i).armature * s->a[i];
        scene_unit_velocities(s, s->q, i, V);
        for (int b = 1; b < s->nbody; b++) {
            tau[i] += kk_motion_dot(V[b], load[b]);
        }
    }
}

// scale: the largest torque of the scene. The sum of virtual_power is about the world's origin, a few meters away, and loses a digit.
KK_TEST(torques_do_the_virtual_work_of_all_loads) {
    worst plain = {0}, external = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *tau = scene_take(&s, nv), *expected = scene_take(&s, nv);
        virtual_power(&s, 0, expected);
        kk_inverse_dynamics(s.model, s.data, s.q, s.v, s.a, tau);
        worst_compare(&plain, &s, tau, expected, nv, 0);
        virtual_power(&s, 1, expected);
        kk_inverse_dynamics_external(s.model, s.data, s.q, s.v, s.a, s.external, tau);
        worst_compare(&external, &s, tau, expected, nv, 0);
        scene_free(&s);
    }
    WORST_CHECK(plain, 1e-11);
    WORST_CHECK(external, 1e-11);
}

KK_TEST(bias_and_gravity_are_inverse_dynamics_with_zeros) {
    for (int i = 0; i < 50; i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *zero = scene_take(&s, nv), *tau = scene_take(&s, nv), *expected = scene_take(&s, nv);
        kk_inverse_dynamics(s.model, s.data, s.q, s.v, zero, expected);
        kk_bias_force(s.model, s.data, s.q, s.v, tau);
        KK_CHECK_BYTES(tau, expected, nv * sizeof *tau);
        kk_inverse_dynamics(s.model, s.data, s.q, zero, zero, expected);
        kk_gravity_force(s.model, s.data, s.q, tau);
        KK_CHECK_BYTES(tau, expected, nv * sizeof *tau);
        scene_free(&s);
    }
}

KK_TEST(result_may_lie_on_the_acceleration) {
    for (int i = 0; i < 100; i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *tau = scene_take(&s, nv), *both = scene_take(&s, nv);
        kk_inverse_dynamics(s.model, s.data, s.q, s.v, s.a, tau);
        memcpy(both, s.a, nv * sizeof *both);
        kk_inverse_dynamics(s.model, s.data, s.q, s.v, both, both);
        KK_CHECK_BYTES(both, tau, nv * sizeof *tau);
        kk_inverse_dynamics_external(s.model, s.data, s.q, s.v, s.a, s.external, tau);
        memcpy(both, s.a, nv * sizeof *both);
        kk_inverse_dynamics_external(s.model, s.data, s.q, s.v, both, s.external, both);
        KK_CHECK_BYTES(both, tau, nv * sizeof *tau);
        scene_free(&s);
    }
}

/// The same forest with everything that hangs on the world moved by p.
static scene moved_forest(uint64_t seed, kk_vec3 p, int turned) {
    scene s = scene_forest(seed);
    for (int b = 1; b < s.nbody; b++) {
        kk_body_def *def = kk_spec_body(s.spec, b);
        if (def->parent == KK_WORLD) {
            def->joint.placement.p = kk_vec3_add(def->joint.placement.p, p);
        }
    }
    (void)turned;
    kk_model *model = NULL;
    kk_data *data = NULL;
    KK_CHECK_EQ_INT(kk_model_compile(s.spec, NULL, &model, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_data_create(model, NULL, &data), KK_OK);
    kk_data_free(s.data);
    kk_model_free(s.model);
    s.model = model;
    s.data = data;
    return s;
}

// a robot a kilometer away feels and does the same
KK_TEST(results_do_not_depend_on_the_place) {
    worst tau_error = {0}, a_error = {0}, M_error = {0};
    for (int i = 0; i < scene_count() / 4; i++) {
        scene near = scene_forest((uint64_t)i), far = moved_forest((uint64_t)i, kk_vec3_make(1000, -700, 500), 0);
        const size_t nv = (size_t)near.nv;
        double *x = scene_take(&near, nv * nv), *y = scene_take(&near, nv * nv);
        kk_inverse_dynamics(near.model, near.data, near.q, near.v, near.a, x);
        kk_inverse_dynamics(far.model, far.data, near.q, near.v, near.a, y);
        worst_compare(&tau_error, &near, x, y, nv, 0);
        kk_forward_dynamics(near.model, near.data, near.q, near.v, near.tau, x);
        kk_forward_dynamics(far.model, far.data, near.q, near.v, near.tau, y);
        worst_compare(&a_error, &near, x, y, nv, 0);
        kk_inertia_matrix(near.model, near.data, near.q, x);
        kk_inertia_matrix(far.model, far.data, near.q, y);
        worst_compare(&M_error, &near, x, y, nv * nv, 0);
        scene_free(&near);
        scene_free(&far);
    }
    WORST_CHECK(tau_error, 1e-11);
    WORST_CHECK(a_error, 1e-11);
    WORST_CHECK(M_error, 1e-11);
}
