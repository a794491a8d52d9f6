/// Coriolis matrix C with bias = C v + gravity and Ṁ − 2C skew-symmetric, O(nv depth).
///
/// Echeandia and Wensing, Numerical methods to compute the Coriolis matrix and Christoffel symbols for rigid-body
/// systems, 2021:
///     C_ij = S_i · (B S_j + I Ṡ_j)  for i before j,   C_ji = Ṡ_i · I S_j + S_i · Bᵀ S_j  for i before j,
/// I and B those of everything behind j, B of a body with velocity v = [ω; u] being ½ ((v ×*) I + (I v) ×̄* − I (v ×)).
/// In world axes about a point, with h the first moment and J the moments there, p = m u + ω × h the momentum and Σ = ½
/// tr(J) 1 − J,
///     2B [α; a] = [Θ α; −2 p × α],   Θ = −2 [ω] Σ + 2 ((h · u) 1 − u hᵀ),
/// twelve numbers instead of thirty-six. They add over bodies, and about a point −r away
///     p' = p,   Θ' = Θ + 2 (r · p) 1 − 2 p rᵀ.
/// Here everything is about the origin of the tree's root node, where nothing separates the nodes of a branch.
#include <string.h>

#include "base/missing.h"
#include "dynamics/data.h"

// ---- rigid bodies

static kk_mat3 mat3_add(kk_mat3 A, kk_mat3 B) {
    for (int k = 0; k < 9; k++) {
        A.m[k] += B.m[k];
    }
    return A;
}

/// The moments about a point −o away, where the first moment about the old one is h: J + 2 (t · o) 1 − t oᵀ − o tᵀ, t =
/// h + m o/2.
static kk_sym3 moments_shifted(kk_sym3 J, kk_vec3 h, double mass, kk_vec3 o) {
    const kk_vec3 t = kk_vec3_add(h, kk_vec3_scale(o, 0.5 * mass));
    const double d = 2 * kk_vec3_dot(t, o);
    const kk_sym3 shift = {d - 2 * t.x * o.x,        d - 2 * t.y * o.y,        d - 2 * t.z * o.z,
                           -(t.x * o.y + o.x * t.y), -(t.x * o.z + o.x * t.z), -(t.y * o.z + o.y * t.z)};
    return kk_sym3_add(J, shift);
}

/// Θ/2 = −[ω] Σ + (h · u) 1 − u hᵀ.
static kk_mat3 half_theta(kk_sym3 J, kk_vec3 h, kk_vec3 w, kk_vec3 u) {
    const double s = 0.5 * (J.xx + J.yy + J.zz), d = kk_vec3_dot(h, u);
    const kk_vec3 x = kk_vec3_cross(kk_vec3_make(s - J.xx, -J.xy, -J.xz), w);
    const kk_vec3 y = kk_vec3_cross(kk_vec3_make(-J.xy, s - J.yy, -J.yz), w);
    const kk_vec3 z = kk_vec3_cross(kk_vec3_make(-J.xz, -J.yz, s - J.zz), w);
    const kk_mat3 outer = {{d - u.x * h.x, -u.x * h.y, -u.x * h.z, -u.y * h.x, d - u.y * h.y, -u.y * h.z, -u.z * h.x,
                            -u.z * h.y, d - u.z * h.z}};
    return mat3_add(kk_mat3_from_columns(x, y, z), outer);
}

/// One node by itself, about its root's origin.
static kki_gathered gathered_of_node(const kk_model *m, const kk_data *d, int i) {
    const kki_node *b = &m->node[i];
    const kki_pose *x = kki_pose_of(d, i);
    const kki_rates *s = kki_rates_of(d, i);
    const kk_mat3 R = kki_mat3(x->R), I = kki_mat3(b->inertia);
    const kk_sym3 moments = {I.m[0], I.m[4], I.m[8], I.m[1], I.m[2], I.m[5]};
    const kk_vec3 o = kki_vec3(x->o), w = kki_vec3(s->w), h = kk_mat3_mul_vec(R, kki_vec3(b->h));
    const kk_vec3 u = kk_vec3_sub(kki_vec3(s->u), kk_vec3_cross(w, o)),
                  h_root = kk_vec3_add(h, kk_vec3_scale(o, b->mass));
    const kk_sym3 J = moments_shifted(kk_sym3_rotate(R, moments), h, b->mass, o);
    return (kki_gathered){.mass = b->mass,
                          .h = h_root,
                          .p = kk_vec3_add(kk_vec3_scale(u, b->mass), kk_vec3_cross(w, h_root)),
                          .J = J,
                          .half = half_theta(J, h_root, w, u)};
}

static void gather(const kk_model *m, const kk_data *d, kki_gathered *C) {
    for (int i = 1; i < m->nnode; i++) {
        C[i] = gathered_of_node(m, d, i);
    }
    for (int i = m->nnode - 1; i > 0; i--) {
        kki_gathered *P = &C[m->node[i].parent];
        if (m->node[i].parent > 0) {
            P->mass += C[i].mass;
            P->h = kk_vec3_add(P->h, C[i].h);
            P->p = kk_vec3_add(P->p, C[i].p);
            P->J = kk_sym3_add(P->J, C[i].J);
            P->half = mat3_add(P->half, C[i].half);
        }
    }
}

static kk_force inertia_times(const kki_gathered *C, kk_motion x) {
    return kk_force_make(kk_vec3_add(kk_sym3_mul_vec(C->J, x.angular), kk_vec3_cross(C->h, x.linear)),
                         kk_vec3_sub(kk_vec3_scale(x.linear, C->mass), kk_vec3_cross(C->h, x.angular)));
}

/// B x and Bᵀ x.
static kk_force b_times(const kki_gathered *C, kk_motion x) {
    return kk_force_make(kk_mat3_mul_vec(C->half, x.angular), kk_vec3_cross(x.angular, C->p));
}
static kk_force b_transpose_times(const kki_gathered *C, kk_motion x) {
    return kk_force_make(kk_vec3_sub(kk_mat3_tmul_vec(C->half, x.angular), kk_vec3_cross(x.linear, C->p)),
                         kk_vec3_make(0, 0, 0));
}

// ---- axes and their rates

/// Axes of a node's degrees of freedom about its root's origin, and their rates Ṡ = v × S.
static void put_axes(const kk_model *m, const kk_data *d, int i, kki_moving_axis *axis) {
    const kki_pose *x = kki_pose_of(d, i);
    const kki_rates *s = kki_rates_of(d, i);
    const kk_vec3 w = kki_vec3(s->w), o = kki_vec3(x->o);
    const kk_motion v = kk_motion_make(w, kk_vec3_sub(kki_vec3(s->u), kk_vec3_cross(w, o)));
    for (int k = m->node[i].v_index; k < m->node[i].v_index + m->node_nv[i]; k++) {
        const kk_motion S = kki_axis_of(m, d, k);
        axis[k].S = kk_motion_make(S.angular, kk_vec3_add(S.linear, kk_vec3_cross(o, S.angular)));
        axis[k].rate = kk_motion_cross(v, axis[k].S);
    }
}

kk_status kk_coriolis_matrix(const kk_model *model, kk_data *data, const double *q, const double *v, double *C) {
    if (kki_is_missing(model, data, q, v, C)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!data->scratch.has_matrices) {
        return KK_LIMIT_EXCEEDED;
    }
    const size_t nv = (size_t)model->nv;
    kki_moving_axis *axis = data->moving_axis;
    memset(C, 0, nv * nv * sizeof *C);
    kk_kinematics_velocity(model, data, q, v);
    gather(model, data, data->gathered);
    for (int i = 1; i < model->nnode; i++) {
        put_axes(model, data, i, axis);
    }
    for (int j = 0; j < model->nv; j++) {
        const kki_gathered *behind = &data->gathered[model->dof_node[j]];
        const kk_motion S = axis[j].S;
        const kk_force F1 = kk_force_add(b_times(behind, S), inertia_times(behind, axis[j].rate));
        const kk_force F2 = inertia_times(behind, S), F3 = b_transpose_times(behind, S);
        C[(size_t)j * nv + (size_t)j] = kk_motion_dot(S, F1);
        for (int i = model->dof_parent[j]; i >= 0; i = model->dof_parent[i]) {
            C[(size_t)i * nv + (size_t)j] = kk_motion_dot(axis[i].S, F1);
            C[(size_t)j * nv + (size_t)i] = kk_motion_dot(axis[i].rate, F2) + kk_motion_dot(axis[i].S, F3);
        }
    }
    return KK_OK;
}
