// Every algorithm once.
#include "support/everything.h"

#include <string.h>

static double *take(results *r, size_t n) {
    double *x = r->start + r->count;
    r->count += n;
    return x;
}

static void put_motion(results *r, kk_motion m) {
    memcpy(take(r, 6), &m, sizeof m);
}
static void put_force(results *r, kk_force f) {
    memcpy(take(r, 6), &f, sizeof f);
}
static void put_vec(results *r, kk_vec3 v) {
    memcpy(take(r, 3), &v, sizeof v);
}
static void put_transform(results *r, kk_transform X) {
    memcpy(take(r, 9), X.R.m, sizeof X.R.m);
    put_vec(r, X.p);
}

static void kinematics(const scene *s, results *r) {
    kk_kinematics(s->model, s->data, s->q);
    kk_kinematics_velocity(s->model, s->data, s->q, s->v);
    kk_kinematics_acceleration(s->model, s->data, s->q, s->v, s->a);
    for (int i = 0; i < 3; i++) {
        const kk_reference reference = (kk_reference)i;
        const int b = i * (s->nbody - 1) / 2;
        put_transform(r, kk_body_pose(s->model, s->data, b));
        put_motion(r, kk_body_velocity(s->model, s->data, b, reference));
        put_motion(r, kk_body_acceleration(s->model, s->data, b, reference));
        put_motion(r, kk_body_classical_acceleration(s->model, s->data, b, reference));
        if (kk_model_nframe(s->model) > 0) {
            put_transform(r, kk_frame_pose(s->model, s->data, 0));
            put_motion(r, kk_frame_velocity(s->model, s->data, 0, reference));
            put_motion(r, kk_frame_acceleration(s->model, s->data, 0, reference));
            put_motion(r, kk_frame_classical_acceleration(s->model, s->data, 0, reference));
        }
    }
}

static void forces(const scene *s, results *r) {
    const size_t nv = (size_t)s->nv;
    kk_inverse_dynamics(s->model, s->data, s->q, s->v, s->a, take(r, nv));
    kk_bias_force(s->model, s->data, s->q, s->v, take(r, nv));
    kk_gravity_force(s->model, s->data, s->q, take(r, nv));
    kk_inverse_dynamics_external(s->model, s->data, s->q, s->v, s->a, s->external, take(r, nv));
    kk_forward_dynamics(s->model, s->data, s->q, s->v, s->tau, take(r, nv));
    kk_passive_force(s->model, s->data, s->q, s->v, take(r, nv));
    kk_forward_dynamics_external(s->model, s->data, s->q, s->v, s->tau, s->external, take(r, nv));
    (void)kk_forward_dynamics_coupled(s->model, s->data, s->q, s->v, s->tau, take(r, nv));
}

static void wrenches(const scene *s, results *r) {
    double *tau = take(r, (size_t)s->nv);
    kk_inverse_dynamics_external(s->model, s->data, s->q, s->v, s->a, s->external, tau);
    for (int b = 0; b < s->nbody; b += 1 + s->nbody / 20) {
        put_force(r, kk_joint_wrench(s->model, s->data, b));
    }
    put_force(r, kk_floor_wrench(s->model, s->data));
}

static void delassus(const scene *s, results *r) {
    enum { ROWS = 7 };
    kk_constraint_row rows[ROWS];
    for (int i = 0; i < ROWS; i++) {
        const kk_force F = {{0.1 * i, 0, 0.2}, {0.3, i % 2, 1}};
        rows[i] = (kk_constraint_row){i * (s->nbody - 1) / ROWS, i % 3 ? KK_WORLD : s->nbody - 1, F};
    }
    (void)kk_delassus(s->model, s->data, s->q, rows, ROWS, take(r, (size_t)ROWS * ROWS));
}

/// Pins the last body, if it belongs to a robot with a free base. Works on copies.
static void pinned(const scene *s, results *r) {
    const size_t nq = (size_t)s->nq, nv = (size_t)s->nv;
    double *q = take(r, nq), *v = take(r, nv), *a = take(r, nv), *tau = take(r, nv);
    memcpy(q, s->q, nq * sizeof *q);
    memcpy(v, s->v, nv * sizeof *v);
    memcpy(a, s->a, nv * sizeof *a);
    const kk_pin pin = {s->nbody - 1, kk_transform_translation(1, 2, 3)};
    kk_pinned_result result;
    if (kk_pinned_inverse_dynamics(s->model, s->data, &pin, 0.1, q, v, a, tau, &result, NULL) == KK_OK) {
        put_force(r, result.floor);
        put_vec(r, result.zmp);
        put_vec(r, result.com);
    }
}

static void jacobians(const scene *s, results *r) {
    const size_t nv = (size_t)s->nv;
    kk_jacobians(s->model, s->data, s->q);
    for (int i = 0; i < 3; i++) {
        kk_body_jacobian(s->model, s->data, s->nbody - 1, (kk_reference)i, take(r, 6 * nv));
    }
    kk_jacobians_rate(s->model, s->data, s->q, s->v);
    for (int i = 0; i < 3; i++) {
        kk_body_jacobian_rate(s->model, s->data, s->nbody - 1, (kk_reference)i, take(r, 6 * nv));
    }
    if (kk_model_nframe(s->model) > 0) {
        kk_frame_jacobian(s->model, s->data, 0, KK_LOCAL, take(r, 6 * nv));
        kk_frame_jacobian_rate(s->model, s->data, 0, KK_LOCAL, take(r, 6 * nv));
    }
}

static void momentum(const scene *s, results *r) {
    const size_t nv = (size_t)s->nv;
    put_vec(r, kk_center_of_mass(s->model, s->data, s->q));
    put_vec(r, kk_center_of_mass_jacobian(s->model, s->data, s->q, take(r, 3 * nv)));
    kk_centroidal(s->model, s->data, s->q, take(r, 6 * nv));
    double *A = take(r, 6 * nv), *dA = take(r, 6 * nv);
    kk_centroidal_rate(s->model, s->data, s->q, s->v, A, dA);
    put_force(r, kk_centroidal_momentum(s->model, s->data, s->q, s->v));
    *take(r, 1) = kk_kinetic_energy(s->model, s->data, s->q, s->v);
    *take(r, 1) = kk_potential_energy(s->model, s->data, s->q);
}

void everything_linear(const scene *s, results *r) {
    kinematics(s, r);
    forces(s, r);
    jacobians(s, r);
    momentum(s, r);
    wrenches(s, r);
    delassus(s, r);
    pinned(s, r);
}

void everything_with_matrices(const scene *s, results *r) {
    const size_t nv = (size_t)s->nv;
    kk_crba(s->model, s->data, s->q);
    kk_inertia_matrix(s->model, s->data, s->q, take(r, nv * nv));
    double *dq = take(r, nv * nv), *dv = take(r, nv * nv);
    kk_inverse_dynamics_derivatives(s->model, s->data, s->q, s->v, s->a, dq, dv);
    double *a = take(r, nv), *da_dq = take(r, nv * nv), *da_dv = take(r, nv * nv), *da_dtau = take(r, nv * nv);
    kk_forward_dynamics_derivatives(s->model, s->data, s->q, s->v, s->tau, a, da_dq, da_dv, da_dtau);
    kk_crba(s->model, s->data, s->q);
    kk_inertia_matrix_mul(s->model, s->data, s->a, take(r, nv));
    *take(r, 1) = kk_inertia_matrix_factor(s->model, s->data);
    double *x = take(r, nv);
    memcpy(x, s->tau, nv * sizeof *x);
    kk_inertia_matrix_solve(s->model, s->data, x);
    kk_inertia_matrix_inverse(s->model, s->data, s->q, take(r, nv * nv));
    kk_coriolis_matrix(s->model, s->data, s->q, s->v, take(r, nv * nv));
    kk_torque_regressor(s->model, s->data, s->q, s->v, s->a, take(r, nv * 10 * (size_t)(s->nbody - 1)));
}

results everything(scene *s) {
    const size_t nv = (size_t)s->nv;
    results r = {scene_take(s, 12 * nv * nv + 200 * nv + 20 * nv * (size_t)s->nbody + 1000), 0};
    everything_linear(s, &r);
    everything_with_matrices(s, &r);
    return r;
}
