/// What each task of inverse kinematics misses, and how it changes with the coordinates.
#include <string.h>

#include "motion/ik.h"

/// Rows of a task in a level: error and weight in, Jacobian from task_J.
static void add_rows(kk_ik *ik, const double *e, const double *J, const double *weight, int n, int nv) {
    for (int k = 0; k < n; k++) {
        if (weight[k] > 0) {
            memcpy(ik->J + (size_t)ik->rows * (size_t)nv, J + (size_t)k * (size_t)nv, (size_t)nv * sizeof *J);
            ik->e[ik->rows] = e[k];
            ik->weight[ik->rows++] = weight[k];
        }
    }
}

static void add_frame(const kk_model *m, kk_ik *ik, const kk_ik_task *t, const double *q) {
    if (!ik->has_axes) {
        kk_jacobians(m, ik->data, q);
        ik->has_axes = 1;
    }
    const kk_transform X = t->frame >= 0 ? kk_frame_pose(m, ik->data, t->frame) : kk_body_pose(m, ik->data, t->body);
    if (t->frame >= 0) {
        kk_frame_jacobian(m, ik->data, t->frame, KK_WORLD_ALIGNED, ik->task_J);
    } else {
        kk_body_jacobian(m, ik->data, t->body, KK_WORLD_ALIGNED, ik->task_J);
    }
    // the rotation vector that still turns the frame to its goal, world axes
    const kk_mat3 turn = kk_mat3_mul(t->goal.R, kk_mat3_transpose(X.R));
    const kk_vec3 r = kk_quat_log(kk_quat_from_mat3(turn)), d = kk_vec3_sub(t->goal.p, X.p);
    const double e[6] = {r.x, r.y, r.z, d.x, d.y, d.z};
    add_rows(ik, e, ik->task_J, t->weight, 6, kk_model_nv(m));
}

static void add_com(const kk_model *m, kk_ik *ik, const kk_ik_task *t, const double *q) {
    ik->has_axes = 0; // the data holds something else now
    const kk_vec3 c = kk_center_of_mass_jacobian(m, ik->data, q, ik->task_J), d = kk_vec3_sub(t->goal.p, c);
    const double e[3] = {d.x, d.y, d.z};
    add_rows(ik, e, ik->task_J, t->weight + 3, 3, kk_model_nv(m));
}

/// A(q_start) (q ⊖ q_start) stands for the momentum of the motion from the start, times its duration.
static void add_momentum(const kk_model *m, kk_ik *ik, const kk_ik_task *t, const double *q) {
    const int nv = kk_model_nv(m);
    ik->has_axes = 0;
    kk_centroidal(m, ik->data, ik->q_start, ik->task_J);
    kk_difference(m, ik->q_start, q, ik->scratch);
    const double goal[6] = {t->momentum.angular.x, t->momentum.angular.y, t->momentum.angular.z,
                            t->momentum.linear.x,  t->momentum.linear.y,  t->momentum.linear.z};
    const double per_mass = 1 / kk_model_mass(m); // lengths, as in the other tasks
    double e[6];
    for (int k = 0; k < 6; k++) {
        e[k] = per_mass * goal[k];
        for (int i = 0; i < nv; i++) {
            ik->task_J[k * nv + i] *= per_mass;
            e[k] -= ik->task_J[k * nv + i] * ik->scratch[i];
        }
    }
    add_rows(ik, e, ik->task_J, t->weight, 6, nv);
}

static void add_posture(const kk_model *m, kk_ik *ik, const kk_ik_task *t, const double *q) {
    const int nv = kk_model_nv(m);
    kk_difference(m, q, t->posture, ik->scratch);
    for (int i = 0; i < nv && t->weight[0] > 0; i++) {
        double *row = ik->J + (size_t)ik->rows * (size_t)nv;
        memset(row, 0, (size_t)nv * sizeof *row);
        row[i] = 1;
        ik->e[ik->rows] = ik->scratch[i];
        ik->weight[ik->rows++] = t->weight[0];
    }
}

void kki_ik_evaluate(const kk_model *model, kk_ik *ik, const kk_ik_task *tasks, int count, const double *q) {
    ik->rows = 0;
    ik->has_axes = 0;
    for (int level = 0; level < ik->levels; level++) {
        ik->first[level] = ik->rows;
        if (level < ik->mechanism) {
            kki_ik_add_mechanism(model, ik, q);
            continue;
        }
        for (int i = 0; i < count; i++) {
            if (tasks[i].priority + ik->mechanism != level) {
                continue;
            }
            switch (tasks[i].type) {
            case KK_IK_FRAME: add_frame(model, ik, &tasks[i], q); break;
            case KK_IK_COM: add_com(model, ik, &tasks[i], q); break;
            case KK_IK_MOMENTUM: add_momentum(model, ik, &tasks[i], q); break;
            case KK_IK_POSTURE: add_posture(model, ik, &tasks[i], q); break;
            }
        }
    }
    ik->first[ik->levels] = ik->rows;
}
