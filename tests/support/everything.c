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

// ---- one call and its readers each

static void read_motion(const scene *s, results *r, int rates) {
    for (int i = 0; i < 3; i++) {
        const kk_reference reference = (kk_reference)i;
        const int b = i * (s->nbody - 1) / 2, has_frame = kk_model_nframe(s->model) > 0;
        put_transform(r, kk_body_pose(s->model, s->data, b));
        if (has_frame) {
            put_transform(r, kk_frame_pose(s->model, s->data, 0));
        }
        if (rates >= 1) {
            put_motion(r, kk_body_velocity(s->model, s->data, b, reference));
        }
        if (rates >= 1 && has_frame) {
            put_motion(r, kk_frame_velocity(s->model, s->data, 0, reference));
        }
        if (rates >= 2) {
            put_motion(r, kk_body_acceleration(s->model, s->data, b, reference));
            put_motion(r, kk_body_classical_acceleration(s->model, s->data, b, reference));
        }
        if (rates >= 2 && has_frame) {
            put_motion(r, kk_frame_acceleration(s->model, s->data, 0, reference));
            put_motion(r, kk_frame_classical_acceleration(s->model, s->data, 0, reference));
        }
    }
}

static void kinematics(const scene *s, results *r) {
    kk_kinematics(s->model, s->data, s->q);
    read_motion(s, r, 0);
}
static void kinematics_velocity(const scene *s, results *r) {
    kk_kinematics_velocity(s->model, s->data, s->q, s->v);
    read_motion(s, r, 1);
}
static void kinematics_acceleration(const scene *s, results *r) {
    kk_kinematics_acceleration(s->model, s->data, s->q, s->v, s->a);
    read_motion(s, r, 2);
}

static void read_wrenches(const scene *s, results *r) {
    for (int b = 0; b < s->nbody; b += 1 + s->nbody / 20) {
        put_force(r, kk_joint_wrench(s->model, s->data, b));
    }
    put_force(r, kk_floor_wrench(s->model, s->data));
}

static void inverse_dynamics(const scene *s, results *r) {
    kk_inverse_dynamics(s->model, s->data, s->q, s->v, s->a, take(r, (size_t)s->nv));
    read_wrenches(s, r);
}
static void inverse_dynamics_external(const scene *s, results *r) {
    kk_inverse_dynamics_external(s->model, s->data, s->q, s->v, s->a, s->external, take(r, (size_t)s->nv));
    read_wrenches(s, r);
}
static void bias_force(const scene *s, results *r) {
    kk_bias_force(s->model, s->data, s->q, s->v, take(r, (size_t)s->nv));
}
static void gravity_force(const scene *s, results *r) {
    kk_gravity_force(s->model, s->data, s->q, take(r, (size_t)s->nv));
}
static void passive_force(const scene *s, results *r) {
    kk_passive_force(s->model, s->data, s->q, s->v, take(r, (size_t)s->nv));
}
static void forward_dynamics(const scene *s, results *r) {
    kk_forward_dynamics(s->model, s->data, s->q, s->v, s->tau, take(r, (size_t)s->nv));
}
static void forward_dynamics_external(const scene *s, results *r) {
    kk_forward_dynamics_external(s->model, s->data, s->q, s->v, s->tau, s->external, take(r, (size_t)s->nv));
}
static void forward_dynamics_coupled(const scene *s, results *r) {
    double *a = take(r, (size_t)s->nv);
    *take(r, 1) = kk_forward_dynamics_coupled(s->model, s->data, s->q, s->v, s->tau, a);
}

static void read_jacobians(const scene *s, results *r) {
    for (int i = 0; i < 3; i++) {
        kk_body_jacobian(s->model, s->data, s->nbody - 1, (kk_reference)i, take(r, 6 * (size_t)s->nv));
    }
    if (kk_model_nframe(s->model) > 0) {
        kk_frame_jacobian(s->model, s->data, 0, KK_LOCAL, take(r, 6 * (size_t)s->nv));
    }
}
static void jacobians(const scene *s, results *r) {
    kk_jacobians(s->model, s->data, s->q);
    read_jacobians(s, r);
}
static void jacobians_rate(const scene *s, results *r) {
    kk_jacobians_rate(s->model, s->data, s->q, s->v);
    read_jacobians(s, r);
    for (int i = 0; i < 3; i++) {
        kk_body_jacobian_rate(s->model, s->data, s->nbody - 1, (kk_reference)i, take(r, 6 * (size_t)s->nv));
    }
    if (kk_model_nframe(s->model) > 0) {
        kk_frame_jacobian_rate(s->model, s->data, 0, KK_LOCAL, take(r, 6 * (size_t)s->nv));
    }
}

static void center_of_mass(const scene *s, results *r) {
    put_vec(r, kk_center_of_mass(s->model, s->data, s->q));
}
static void center_of_mass_jacobian(const scene *s, results *r) {
    double *J = take(r, 3 * (size_t)s->nv);
    put_vec(r, kk_center_of_mass_jacobian(s->model, s->data, s->q, J));
}
static void centroidal(const scene *s, results *r) {
    kk_centroidal(s->model, s->data, s->q, take(r, 6 * (size_t)s->nv));
}
static void centroidal_rate(const scene *s, results *r) {
    double *A = take(r, 6 * (size_t)s->nv), *dA = take(r, 6 * (size_t)s->nv);
    kk_centroidal_rate(s->model, s->data, s->q, s->v, A, dA);
}
static void centroidal_momentum(const scene *s, results *r) {
    put_force(r, kk_centroidal_momentum(s->model, s->data, s->q, s->v));
}
static void kinetic_energy(const scene *s, results *r) {
    *take(r, 1) = kk_kinetic_energy(s->model, s->data, s->q, s->v);
}
static void potential_energy(const scene *s, results *r) {
    *take(r, 1) = kk_potential_energy(s->model, s->data, s->q);
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
        read_wrenches(s, r);
    }
}

// ---- with matrices

static void inertia_matrix(const scene *s, results *r) {
    kk_inertia_matrix(s->model, s->data, s->q, take(r, (size_t)s->nv * (size_t)s->nv));
}
static void factor(const scene *s, results *r) {
    const size_t nv = (size_t)s->nv;
    kk_crba(s->model, s->data, s->q);
    kk_inertia_matrix_mul(s->model, s->data, s->a, take(r, nv));
    *take(r, 1) = kk_inertia_matrix_factor(s->model, s->data);
    double *x = take(r, nv);
    memcpy(x, s->tau, nv * sizeof *x);
    kk_inertia_matrix_solve(s->model, s->data, x);
}
static void inertia_matrix_inverse(const scene *s, results *r) {
    kk_inertia_matrix_inverse(s->model, s->data, s->q, take(r, (size_t)s->nv * (size_t)s->nv));
}
static void inverse_derivatives(const scene *s, results *r) {
    const size_t n = (size_t)s->nv * (size_t)s->nv;
    double *dq = take(r, n), *dv = take(r, n);
    kk_inverse_dynamics_derivatives(s->model, s->data, s->q, s->v, s->a, dq, dv);
}
static void forward_derivatives(const scene *s, results *r) {
    const size_t n = (size_t)s->nv * (size_t)s->nv;
    double *a = take(r, (size_t)s->nv), *dq = take(r, n), *dv = take(r, n), *dtau = take(r, n);
    kk_forward_dynamics_derivatives(s->model, s->data, s->q, s->v, s->tau, a, dq, dv, dtau);
}
static void coriolis_matrix(const scene *s, results *r) {
    kk_coriolis_matrix(s->model, s->data, s->q, s->v, take(r, (size_t)s->nv * (size_t)s->nv));
}
static void torque_regressor(const scene *s, results *r) {
    kk_torque_regressor(s->model, s->data, s->q, s->v, s->a, take(r, (size_t)s->nv * 10 * (size_t)(s->nbody - 1)));
}

// ---- all of them

typedef void (*algorithm)(const scene *s, results *r);

static const algorithm linear[] = {kinematics,
                                   kinematics_velocity,
                                   kinematics_acceleration,
                                   inverse_dynamics,
                                   inverse_dynamics_external,
                                   bias_force,
                                   gravity_force,
                                   passive_force,
                                   forward_dynamics,
                                   forward_dynamics_external,
                                   forward_dynamics_coupled,
                                   jacobians,
                                   jacobians_rate,
                                   center_of_mass,
                                   center_of_mass_jacobian,
                                   centroidal,
                                   centroidal_rate,
                                   centroidal_momentum,
                                   kinetic_energy,
                                   potential_energy,
                                   delassus,
                                   pinned};
static const algorithm with_matrices[] = {
    inertia_matrix,      factor,          inertia_matrix_inverse, inverse_derivatives,
    forward_derivatives, coriolis_matrix, torque_regressor};
enum { LINEAR = sizeof linear / sizeof linear[0], WITH_MATRICES = sizeof with_matrices / sizeof with_matrices[0] };

int everything_part(int part, const scene *s, results *r) {
    if (part < LINEAR) {
        linear[part](s, r);
    } else if (part < LINEAR + WITH_MATRICES) {
        with_matrices[part - LINEAR](s, r);
    }
    return part < LINEAR + WITH_MATRICES;
}

void everything_linear(const scene *s, results *r) {
    for (int i = 0; i < LINEAR; i++) {
        linear[i](s, r);
    }
}

void everything_with_matrices(const scene *s, results *r) {
    for (int i = 0; i < WITH_MATRICES; i++) {
        with_matrices[i](s, r);
    }
}

size_t everything_room(const scene *s) {
    const size_t nv = (size_t)s->nv;
    return 12 * nv * nv + 200 * nv + 20 * nv * (size_t)s->nbody + 2000;
}

results everything(scene *s) {
    results r = {scene_take(s, everything_room(s)), 0};
    everything_linear(s, &r);
    everything_with_matrices(s, &r);
    return r;
}
