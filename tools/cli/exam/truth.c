// Fine solutions: Runge and Kutta over forward dynamics, and over a ball that slides.
#include "truth.h"

#include <string.h>

void truth_step(truth_rate rate, const void *system, int n, double h, double *y) {
    static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double slope[TRUTH_MOST] = {0}, stage[TRUTH_MOST], sum[TRUTH_MOST] = {0};
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < n; k++) {
            stage[k] = y[k] + at[i] * h * slope[k];
        }
        rate(system, stage, slope);
        for (int k = 0; k < n; k++) {
            sum[k] += weight[i] * slope[k];
        }
    }
    for (int k = 0; k < n; k++) {
        y[k] += h * sum[k];
    }
}

// ---- trees

/// q̇ of a joint: quaternions follow the spin, places of free joints the velocity in their axes.
static void joint_rate(const kk_joint_info *joint, const double *q, const double *v, double *rate) {
    if (joint->nq == joint->nv) {
        memcpy(rate, v, (size_t)joint->nv * sizeof *v);
        return;
    }
    const kk_quat r = {q[0], q[1], q[2], q[3]}, turned = kk_quat_mul(r, (kk_quat){0, v[0], v[1], v[2]});
    rate[0] = 0.5 * turned.w;
    rate[1] = 0.5 * turned.x;
    rate[2] = 0.5 * turned.y;
    rate[3] = 0.5 * turned.z;
    if (joint->nv == 6) {
        const kk_vec3 u = kk_mat3_mul_vec(kk_quat_to_mat3(kk_quat_normalize(r)), kk_vec3_make(v[3], v[4], v[5]));
        rate[4] = u.x;
        rate[5] = u.y;
        rate[6] = u.z;
    }
}

void truth_tree_rate(const void *system, const double *y, double *rate) {
    const truth_tree *x = system;
    const int nq = kk_model_nq(x->model), nv = kk_model_nv(x->model);
    double q[TRUTH_MOST], tau[TRUTH_MOST] = {0};
    memcpy(q, y, (size_t)nq * sizeof *q);
    kk_normalize(x->model, q);
    for (int i = 1; i < kk_model_nbody(x->model); i++) {
        const kk_joint_info joint = kk_model_joint(x->model, i);
        joint_rate(&joint, y + joint.q_index, y + nq + joint.v_index, rate + joint.q_index);
    }
    if (x->add_forces) {
        x->add_forces(x->forces, q, y + nq, tau);
    }
    (void)nv;
    if (x->is_coupled) {
        kk_forward_dynamics_coupled(x->model, x->data, q, y + nq, tau, rate + nq);
    } else {
        kk_forward_dynamics(x->model, x->data, q, y + nq, tau, rate + nq);
    }
}

// ---- a ball that slides

static kk_vec3 load(const double *x) {
    return kk_vec3_make(x[0], x[1], x[2]);
}

static void store(double *x, kk_vec3 a) {
    x[0] = a.x;
    x[1] = a.y;
    x[2] = a.z;
}

/// I⁻¹ τ of a body that is round about `axis`.
static kk_vec3 answer(const truth_top *x, kk_vec3 axis, kk_vec3 moment) {
    const double extra = (1 / x->along - 1 / x->across) * kk_vec3_dot(moment, axis);
    return kk_vec3_add(kk_vec3_scale(moment, 1 / x->across), kk_vec3_scale(axis, extra));
}

/// The floor's force N (z − μ s/|s|) at the lowest point keeps the center at the height of the radius:
///     m c̈_z = N − m g,    c_z = R − below · axis_z,
/// and both sides are linear in N.
void truth_top_rate(const void *system, const double *y, double *rate) {
    const truth_top *x = system;
    const kk_vec3 axis = load(y + 4), w = load(y + 7);
    const kk_vec3 turn = kk_vec3_cross(w, axis),
                  lowest = kk_vec3_sub(kk_vec3_scale(axis, x->below), kk_vec3_make(0, 0, x->radius));
    const kk_vec3 slip = kk_vec3_add(kk_vec3_make(y[2], y[3], 0), kk_vec3_cross(w, lowest));
    const double speed = kk_hypot(slip.x, slip.y) + 1e-300;
    const kk_vec3 push = kk_vec3_make(-x->friction * slip.x / speed, -x->friction * slip.y / speed, 1);
    const kk_vec3 momentum =
        kk_vec3_add(kk_vec3_scale(w, x->across), kk_vec3_scale(axis, (x->along - x->across) * kk_vec3_dot(w, axis)));
    const kk_vec3 own = answer(x, axis, kk_vec3_neg(kk_vec3_cross(w, momentum)));
    const kk_vec3 pushed = answer(x, axis, kk_vec3_cross(lowest, push));
    const double mb = x->mass * x->below;
    const double fixed = -mb * (kk_vec3_cross(own, axis).z + kk_vec3_cross(w, turn).z) + x->mass * x->gravity;
    const double N = fixed / (1 + mb * kk_vec3_cross(pushed, axis).z);
    rate[0] = y[2];
    rate[1] = y[3];
    rate[2] = N * push.x / x->mass;
    rate[3] = N * push.y / x->mass;
    store(rate + 4, turn);
    store(rate + 7, kk_vec3_add(own, kk_vec3_scale(pushed, N)));
}
