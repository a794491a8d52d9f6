// Energies by sums over bodies; power in is the rate of energy.
#include "support/scene.h"

#include <math.h>

KK_TEST(kinetic_energy_is_the_sum_over_bodies) {
    worst w = {0}, quadratic = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *M = scene_take(&s, nv * nv), T = 0, form = 0;
        kk_inertia_matrix(s.model, s.data, s.q, M);
        for (size_t k = 0; k < nv; k++) {
            form += 0.5 * s.v[k] * dot(M + k * nv, s.v, nv);
            T += 0.5 * kk_model_dof(s.model, (int)k).armature * s.v[k] * s.v[k];
        }
        kk_kinematics_velocity(s.model, s.data, s.q, s.v);
        for (int b = 1; b < s.nbody; b++) {
            const kk_motion V = kk_body_velocity(s.model, s.data, b, KK_LOCAL);
            T += 0.5 * kk_motion_dot(V, kk_inertia_mul(kk_model_body_inertia(s.model, b), V));
        }
        const double found = kk_kinetic_energy(s.model, s.data, s.q, s.v);
        worst_compare(&w, &s, &found, &T, 1, 0);
        worst_compare(&quadratic, &s, &found, &form, 1, 0);
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-13);
    WORST_CHECK(quadratic, 1e-11);
}

// zero at the world's origin; scale: the sum of the bodies' |m g c|
KK_TEST(potential_energy_is_weight_times_height) {
    worst w = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        double U = 0, scale = 0;
        kk_kinematics(s.model, s.data, s.q);
        for (int b = 1; b < s.nbody; b++) {
            const kk_inertia I = kk_model_body_inertia(s.model, b);
            const kk_vec3 c = kk_transform_point(kk_body_pose(s.model, s.data, b), I.com);
            U -= I.mass * kk_vec3_dot(kk_model_gravity(s.model), c);
            scale += I.mass * kk_vec3_norm(kk_model_gravity(s.model)) * kk_vec3_norm(c);
        }
        const double found = kk_potential_energy(s.model, s.data, s.q);
        worst_compare(&w, &s, &found, &U, 1, scale);
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-13);
}

static void energy(const scene *s, const double *q, const double *v, double *out) {
    out[0] = kk_kinetic_energy(s->model, s->data, q, v) + kk_potential_energy(s->model, s->data, q);
}

/// Power of the external forces at (q, v).
static double external_power(const scene *s, double *size) {
    double power = 0;
    kk_kinematics_velocity(s->model, s->data, s->q, s->v);
    for (int b = 1; b < s->nbody; b++) {
        const double p = kk_motion_dot(kk_body_velocity(s->model, s->data, b, KK_LOCAL), s->external[b]);
        power += p;
        *size += fabs(p);
    }
    return power;
}

// scale: the power of each torque and force by itself, and the energy a second
KK_TEST(power_is_the_rate_of_energy) {
    worst w = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *tau = scene_take(&s, nv), rate, now, scale = 0;
        scene_rate(&s, 0x1p-7, energy, 1, &rate);
        energy(&s, s.q, s.v, &now);
        kk_inverse_dynamics_external(s.model, s.data, s.q, s.v, s.a, s.external, tau);
        for (size_t k = 0; k < nv; k++) {
            scale += fabs(tau[k] * s.v[k]);
        }
        const double power = dot(tau, s.v, nv) + external_power(&s, &scale);
        worst_compare(&w, &s, &power, &rate, 1, scale + fabs(now));
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-11);
}
