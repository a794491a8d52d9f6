/// Forward dynamics with the couplings held: q̈_follower = ratio q̈_leader.
///
/// A coupling is a constraint row J = e_f − ratio e_l on the joints. With a₀ the accelerations without couplings,
///     (J M⁻¹ Jᵀ) λ = −J a₀,   a = forward dynamics of tau + Jᵀ λ.
/// A unit torque on one degree of freedom is a unit wrench along its axis on its node with the opposite on the node's
/// parent, so the rows climb the articulated-body factor like any others (kernels/delassus.h). Every follower has one
/// leader and no leaders go in a circle, so the rows are independent and the matrix is positive definite up to
/// rounding.
#include "base/missing.h"
#include "dynamics/data.h"
#include "math/dense.h"

static void add_wrench(double w[6][4], int lane, kk_vec3 n, kk_vec3 f, double scale) {
    const double x[6] = {n.x, n.y, n.z, f.x, f.y, f.z};
    for (int c = 0; c < 6; c++) {
        w[c][lane] = scale * x[c];
    }
}

/// A torque (or force) of size `scale` on one degree of freedom climbs into a column of Y.
static void climb_dof(const kk_model *m, const kk_data *d, int dof, double scale, double *Y, int column) {
    _Alignas(32) double w[6][4] = {{0}}, reaction[6][4] = {{0}};
    const int node = m->dof_node[dof], lane = column & 3;
    const kki_node *b = &m->node[node];
    const kki_pose *x = kki_pose_of(d, node);
    const kk_vec3 z = kki_vec3(x->R[2]), none = kk_vec3_make(0, 0, 0);
    if (b->type == KKI_NODE_SLIDE) {
        add_wrench(w, lane, none, z, scale);
        add_wrench(reaction, lane, kk_vec3_cross(kki_vec3(x->r), z), z, -scale);
    } else {
        add_wrench(w, lane, z, none, scale);
        add_wrench(reaction, lane, z, none, -scale);
    }
    d->kernels->delassus_climb(m, &d->scratch, node, w, b->parent, reaction, 0, Y + (column & ~3), d->rows.capacity);
}

static void climb_couplings(const kk_model *m, const kk_data *d, const void *rows, int first, int count, double *Y) {
    const kki_coupling *coupling = (const kki_coupling *)rows + first;
    for (int c = 0; c < count; c++) {
        climb_dof(m, d, coupling[c].follower_v, 1, Y, c);
        climb_dof(m, d, coupling[c].leader_v, -coupling[c].ratio, Y, c);
    }
}

static int support_of_coupling(const kk_model *m, const void *rows, int row, int32_t *list) {
    const kki_coupling *coupling = (const kki_coupling *)rows + row;
    return kki_union_of_branches(m, coupling->follower_v, coupling->leader_v, list);
}

/// λ with G λ = x, G scaled to a unit diagonal first so that a light finger is not lost beside a heavy hip.
static kk_status solve(int n, double *G, double *scale, double *x) {
    for (int i = 0; i < n; i++) {
        scale[i] = 1 / __builtin_sqrt(G[(size_t)i * (size_t)n + (size_t)i]);
    }
    for (size_t i = 0; i < (size_t)n; i++) {
        for (size_t j = 0; j < (size_t)n; j++) {
            G[i * (size_t)n + j] *= scale[i] * scale[j];
        }
        x[i] *= scale[i];
    }
    const kk_status status = kki_ldl_factor(n, G, 1e-13);
    if (status == KK_OK) {
        kki_ldl_solve(n, G, x);
        for (int i = 0; i < n; i++) {
            x[i] *= scale[i];
        }
    }
    return status;
}

kk_status kk_forward_dynamics_coupled(const kk_model *model, kk_data *data, const double *q, const double *v,
                                      const double *tau, double *a) {
    if (kki_is_missing(model, data, q, v, tau, a)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    const int n = model->ncoupling;
    double *total = data->vector, *lambda = data->coupling_force;
    if (n > 0 && !data->coupling_matrix) {
        return KK_LIMIT_EXCEEDED;
    }
    for (int k = 0; k < model->nv; k++) {
        total[k] = tau[k];
    }
    kk_forward_dynamics(model, data, q, v, total, a);
    if (n == 0) {
        return KK_OK;
    }
    for (int c = 0; c < n; c++) {
        const kki_coupling *k = &model->coupling[c];
        lambda[c] = k->ratio * a[k->leader_v] - a[k->follower_v];
    }
    const kki_row_source source = {model->coupling, climb_couplings, support_of_coupling};
    data->kernels->delassus_prepare(model, &data->scratch, q, data->zero);
    kki_delassus(model, data, &source, n, data->coupling_matrix);
    const kk_status status = solve(n, data->coupling_matrix, data->coupling_force + n, lambda);
    if (status != KK_OK) {
        return status;
    }
    for (int c = 0; c < n; c++) {
        const kki_coupling *k = &model->coupling[c];
        total[k->follower_v] += lambda[c];
        total[k->leader_v] -= k->ratio * lambda[c];
    }
    kk_forward_dynamics(model, data, q, v, total, a);
    return KK_OK;
}
