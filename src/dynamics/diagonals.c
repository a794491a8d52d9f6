/// Diagonals by two sweeps over the degrees of freedom k with axes S, each about the origin of its own node, in world axes.
///
/// Inward, with C the inertia of everything behind k and A its articulated inertia (Featherstone 1983):
///     M_kk = Sᵀ C S + armature     D = Sᵀ A S + armature     U = A S     A' = A − U Uᵀ/D goes on to the parent
/// Outward, with Ω the motion that a force on the body behind k gives it (Rodriguez, Jain, Kreutz-Delgado 1991):
///     (M⁻¹)_kk = 1/D + Uᵀ Ω_parent U/D²     Ω = L Ω_parent Lᵀ + S Sᵀ/D,   L = 1 − S Uᵀ/D
#include "dynamics/diagonals.h"

#include "base/allocator.h"
#include "dynamics/data.h"
#include "model/model.h"

typedef struct matrix6 {
    double m[6][6];
} matrix6;

/// A degree of freedom on its way; A becomes Ω on the way back.
typedef struct joint {
    double S[6], U[6], D;
    matrix6 A, C;
} joint;

/// A ← X A Xᵀ
static void congruence(const double X[6][6], matrix6 *A) {
    matrix6 B;
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            B.m[i][j] = 0;
            for (int k = 0; k < 6; k++) {
                B.m[i][j] += X[i][k] * A->m[k][j];
            }
        }
    }
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            A->m[i][j] = 0;
            for (int k = 0; k < 6; k++) {
                A->m[i][j] += B.m[i][k] * X[j][k];
            }
        }
    }
}

/// The shift of motions by r, v' = v + ω × r; transposed that of forces the other way.
static void shift(kk_vec3 r, bool transposed, double X[6][6]) {
    const double cross[3][3] = {{0, r.z, -r.y}, {-r.z, 0, r.x}, {r.y, -r.x, 0}};
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            X[i][j] = i == j;
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            X[transposed ? j : i + 3][transposed ? i + 3 : j] = cross[i][j];
        }
    }
}

static void add(matrix6 *A, const matrix6 *B) {
    for (int i = 0; i < 36; i++) {
        A->m[i / 6][i % 6] += B->m[i / 6][i % 6];
    }
}

/// A += s a bᵀ
static void add_product(matrix6 *A, double s, const double a[6], const double b[6]) {
    for (int i = 0; i < 36; i++) {
        A->m[i / 6][i % 6] += s * a[i / 6] * b[i % 6];
    }
}

static double times(const matrix6 *A, const double x[6], double y[6]) {
    double sum = 0;
    for (int i = 0; i < 6; i++) {
        y[i] = 0;
        for (int j = 0; j < 6; j++) {
            y[i] += A->m[i][j] * x[j];
        }
        sum += x[i] * y[i];
    }
    return sum;
}

/// A node's own inertia about its origin in world axes.
static matrix6 inertia_of(const kk_model *m, const kk_data *d, int node) {
    const kki_node *n = &m->node[node];
    const kk_mat3 R = kk_mat3_from_columns(kki_vec3(kki_pose_of(d, node)->R[0]), kki_vec3(kki_pose_of(d, node)->R[1]),
                                           kki_vec3(kki_pose_of(d, node)->R[2]));
    const kk_mat3 J = kk_mat3_mul(kk_mat3_mul(R, kki_mat3(n->inertia)), kk_mat3_transpose(R));
    const kk_vec3 h = kk_mat3_mul_vec(R, kki_vec3(n->h));
    const double cross[3][3] = {{0, -h.z, h.y}, {h.z, 0, -h.x}, {-h.y, h.x, 0}};
    matrix6 A = {0};
    for (int i = 0; i < 3; i++) {
        A.m[i + 3][i + 3] = n->mass;
        for (int j = 0; j < 3; j++) {
            A.m[i][j] = J.m[3 * i + j];
            A.m[i][j + 3] = cross[i][j];
            A.m[j + 3][i] = cross[i][j];
        }
    }
    return A;
}

static kk_vec3 origin_of(const kk_model *m, const kk_data *d, int dof) {
    return kki_vec3(kki_pose_of(d, m->dof_node[dof])->p);
}

static kk_status sweep_inward(const kk_model *m, const kk_data *d, joint *j, double *M) {
    for (int k = m->nv - 1; k >= 0; k--) {
        const int node = m->dof_node[k], parent = m->dof_parent[k];
        const kk_motion axis = kki_axis_of(m, d, k);
        const double S[6] = {axis.angular.x, axis.angular.y, axis.angular.z,
                             axis.linear.x,  axis.linear.y,  axis.linear.z};
        double F[6], X[6][6];
        if (k == m->node[node].v_index + m->node_nv[node] - 1) {
            const matrix6 own = inertia_of(m, d, node);
            add(&j[k].A, &own);
            add(&j[k].C, &own);
        }
        M[k] = times(&j[k].C, S, F) + m->dof_armature[k];
        j[k].D = times(&j[k].A, S, j[k].U) + m->dof_armature[k];
        if (!(j[k].D > 0)) {
            return KK_SINGULAR;
        }
        for (int i = 0; i < 6; i++) {
            j[k].S[i] = S[i];
        }
        if (parent >= 0) {
            matrix6 A = j[k].A, C = j[k].C;
            add_product(&A, -1 / j[k].D, j[k].U, j[k].U);
            shift(kk_vec3_sub(origin_of(m, d, k), origin_of(m, d, parent)), true, X);
            congruence(X, &A);
            congruence(X, &C);
            add(&j[parent].A, &A);
            add(&j[parent].C, &C);
        }
    }
    return KK_OK;
}

static void sweep_outward(const kk_model *m, const kk_data *d, joint *j, double *inverse) {
    for (int k = 0; k < m->nv; k++) {
        const int parent = m->dof_parent[k];
        double X[6][6], y[6];
        matrix6 O = {0};
        if (parent >= 0) {
            O = j[parent].A;
            shift(kk_vec3_sub(origin_of(m, d, k), origin_of(m, d, parent)), false, X);
            congruence(X, &O);
        }
        inverse[k] = 1 / j[k].D + times(&O, j[k].U, y) / (j[k].D * j[k].D);
        for (int i = 0; i < 36; i++) {
            X[i / 6][i % 6] = (i / 6 == i % 6) - j[k].S[i / 6] * j[k].U[i % 6] / j[k].D;
        }
        congruence(X, &O);
        add_product(&O, 1 / j[k].D, j[k].S, j[k].S);
        j[k].A = O;
    }
}

kk_status kki_inertia_diagonals(const kk_model *model, kk_data *data, const double *q, const kk_allocator *allocator,
                                double *M, double *inverse) {
    const size_t room = (size_t)model->nv + 1;
    joint *j = kki_allocate_zeroed(allocator, room * sizeof *j);
    if (!j) {
        return KK_OUT_OF_MEMORY;
    }
    kk_status status = kk_kinematics(model, data, q);
    status = status ? status : sweep_inward(model, data, j, M);
    if (status == KK_OK) {
        sweep_outward(model, data, j, inverse);
    }
    kki_release(allocator, j, room * sizeof *j);
    return status;
}
