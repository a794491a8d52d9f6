/// What the mechanism itself asks of inverse kinematics: followers of couplings where their leaders put them, loops closed.
///
/// These rows come before all tasks. A point p that two bodies share moves against itself by e · (v_B + ω_B × p − v_A − ω_A × p) along e, so with
/// both Jacobians about the world's origin and D = J_B − J_A a row is e · D_linear + (p × e) · D_angular. Errors are those of the step
/// (simulate/constrain.c): in A's axes, the force on A acting where B is.
#include <string.h>

#include "dynamics/data.h"
#include "model/model.h"
#include "motion/ik.h"

/// Loops that springs hold or that are switched off ask for nothing.
static int is_rigid(const kki_model_loop *l) {
    return l->is_active && !__builtin_isfinite(l->stiffness);
}

static int rows_of(const kki_model_loop *l) {
    return l->type == KK_LOOP_POINT ? 3 : l->type == KK_LOOP_AXIS ? 5 : l->type == KK_LOOP_WELD ? 6 : 1;
}

int kki_ik_mechanism_rows(const kk_model *model) {
    int rows = model->ncoupling;
    for (int i = 0; i < model->nloop; i++) {
        rows += is_rigid(&model->loop[i]) ? rows_of(&model->loop[i]) : 0;
    }
    return rows;
}

/// A row with what is still missing, to be filled.
static double *begin_row(kk_ik *ik, double missing) {
    double *row = ik->J + (size_t)ik->rows * (size_t)ik->model->nv;
    memset(row, 0, (size_t)ik->model->nv * sizeof *row);
    ik->e[ik->rows] = missing;
    ik->weight[ik->rows++] = 1;
    return row;
}

static void add_coupling(kk_ik *ik, const kki_coupling *c, const double *q) {
    double *row = begin_row(ik, c->ratio * q[c->leader_q] + c->offset - q[c->follower_q]);
    row[c->follower_v] += 1;
    row[c->leader_v] -= c->ratio;
}

/// The row of a moment and a force on B, and against A, about the world's origin.
static void add_wrench(kk_ik *ik, double missing, kk_vec3 moment, kk_vec3 force) {
    const double w[6] = {moment.x, moment.y, moment.z, force.x, force.y, force.z};
    const int nv = ik->model->nv;
    double *row = begin_row(ik, missing);
    for (int r = 0; r < 6; r++) {
        for (int k = 0; k < nv; k++) {
            row[k] += w[r] * (ik->task_J[r * nv + k] - ik->other_J[r * nv + k]);
        }
    }
}

static void jacobian_of(kk_ik *ik, int body, double *J) {
    if (body == KK_WORLD) {
        memset(J, 0, (size_t)(6 * ik->model->nv) * sizeof *J);
    } else {
        kk_body_jacobian(ik->model, ik->data, body, KK_WORLD_ORIGIN, J);
    }
}

static void add_turns(kk_ik *ik, kk_transform A, kk_transform B, int count) {
    const kk_vec3 none = {0, 0, 0};
    const kk_mat3 R = kk_mat3_mul(kk_mat3_transpose(A.R), B.R);
    const kk_vec3 theta = count == 3 ? kk_quat_log(kk_quat_from_mat3(R)) : kk_vec3_make(-R.m[5], R.m[2], 0);
    const double missing[3] = {-theta.x, -theta.y, -theta.z};
    for (int k = 0; k < count; k++) {
        add_wrench(ik, missing[k], kk_mat3_column(A.R, k), none);
    }
}

static void add_loop(kk_ik *ik, const kki_model_loop *l) {
    const kk_transform A = kk_transform_mul(kki_node_transform(ik->data, l->node[0]), l->X_NA);
    const kk_transform B = kk_transform_mul(kki_node_transform(ik->data, l->node[1]), l->X_NB);
    const kk_vec3 d = kk_vec3_sub(B.p, A.p);
    jacobian_of(ik, l->body[1], ik->task_J);
    jacobian_of(ik, l->body[0], ik->other_J);
    if (l->type == KK_LOOP_DISTANCE) {
        const double length = kk_vec3_norm(d);
        const kk_vec3 e = length > 0 ? kk_vec3_scale(d, 1 / length) : kk_vec3_make(0, 0, 1);
        add_wrench(ik, l->distance - length, kk_vec3_cross(B.p, e), e); // A and B lie on the line of e
        return;
    }
    for (int k = 0; k < 3; k++) {
        const kk_vec3 e = kk_mat3_column(A.R, k);
        add_wrench(ik, -kk_vec3_dot(e, d), kk_vec3_cross(B.p, e), e);
    }
    if (l->type != KK_LOOP_POINT && !__builtin_isfinite(l->angular_stiffness)) {
        add_turns(ik, A, B, l->type == KK_LOOP_AXIS ? 2 : 3);
    }
}

void kki_ik_add_mechanism(const kk_model *model, kk_ik *ik, const double *q) {
    for (int i = 0; i < model->ncoupling; i++) {
        add_coupling(ik, &model->coupling[i], q);
    }
    for (int i = 0; i < model->nloop; i++) {
        if (is_rigid(&model->loop[i])) {
            if (!ik->has_axes) {
                kk_jacobians(model, ik->data, q);
                ik->has_axes = 1;
            }
            add_loop(ik, &model->loop[i]);
        }
    }
}
