/// Torque regressor: tau = Y π, linear in the inertial parameters of every body.
///
/// In a body's frame, with ω, α and a the classical acceleration of its origin minus gravity, Newton and Euler read
///     f = m a + (α × + ω × ω ×) h,   n = J α + ω × J ω + h × a,   h = m c, J about the origin,
/// which is a 6 × 10 matrix times π = (m, h, Jxx, Jxy, Jyy, Jxz, Jyz, Jzz) (Atkeson, An and Hollerbach 1986). A degree
/// of freedom before the body feels of it the projection on its axis, S · [n; f], both in the body's frame.
#include <string.h>

#include "base/missing.h"
#include "dynamics/data.h"

enum { PARAMETERS = 10 };

/// A body's motion in its own frame.
typedef struct moved {
    kk_transform X_WB;
    kk_vec3 w, al, a; ///< a: classical acceleration of the origin, minus gravity
} moved;

static moved motion_of(const kk_model *m, const kk_data *d, int body) {
    const kk_motion v = kk_body_velocity(m, d, body, KK_LOCAL),
                    a = kk_body_classical_acceleration(m, d, body, KK_LOCAL);
    const kk_transform X = kk_body_pose(m, d, body);
    return (moved){X, v.angular, a.angular, kk_vec3_sub(a.linear, kk_mat3_tmul_vec(X.R, kki_vec3(m->gravity)))};
}

/// s · (E_ij α + ω × E_ij ω) = s · E_ij α + (s × ω) · E_ij ω for the symmetric unit matrix E_ij.
static void project_moments(kk_vec3 s, kk_vec3 w, kk_vec3 al, double *y) {
    const kk_vec3 t = kk_vec3_cross(s, w);
    y[0] = s.x * al.x + t.x * w.x;
    y[1] = (s.x * al.y + s.y * al.x) + (t.x * w.y + t.y * w.x);
    y[2] = s.y * al.y + t.y * w.y;
    y[3] = (s.x * al.z + s.z * al.x) + (t.x * w.z + t.z * w.x);
    y[4] = (s.y * al.z + s.z * al.y) + (t.y * w.z + t.z * w.y);
    y[5] = s.z * al.z + t.z * w.z;
}

/// What an axis S, in the body's frame, feels of each parameter.
static void project(kk_motion S, const moved *b, double *y) {
    const kk_vec3 s = S.angular, l = S.linear;
    y[0] = kk_vec3_dot(l, b->a);
    // l · (α × h + ω × (ω × h)) + s · (h × a) = h · (l × α + ω × (ω × l) + a × s)
    const kk_vec3 spin = kk_vec3_add(kk_vec3_cross(l, b->al), kk_vec3_cross(b->w, kk_vec3_cross(b->w, l)));
    const kk_vec3 h = kk_vec3_add(spin, kk_vec3_cross(b->a, s));
    y[1] = h.x;
    y[2] = h.y;
    y[3] = h.z;
    project_moments(s, b->w, b->al, y + 4);
}

kk_motion kki_axis_of(const kk_model *model, const kk_data *data, int dof) {
    const kki_node *b = &model->node[model->dof_node[dof]];
    const kki_pose *x = kki_pose_of(data, model->dof_node[dof]);
    const kk_vec3 none = kk_vec3_make(0, 0, 0);
    if (b->type == KKI_NODE_BALL || b->type == KKI_NODE_FREE) {
        const int j = dof - b->v_index;
        return j < 3 ? kk_motion_make(kki_vec3(x->R[j]), none) : kk_motion_make(none, kki_vec3(x->R[j - 3]));
    }
    const kk_vec3 z = kki_vec3(x->R[2]);
    return b->type == KKI_NODE_SLIDE ? kk_motion_make(none, z) : kk_motion_make(z, kk_vec3_scale(z, b->pitch));
}

/// The columns of one body, in the rows of the degrees of freedom before it.
static void put_body(const kk_model *m, const kk_data *d, int body, double *Y, size_t stride) {
    const int node = m->body[body].node;
    const moved b = motion_of(m, d, body);
    for (int k = node == 0 ? -1 : m->node[node].v_index + m->node_nv[node] - 1; k >= 0; k = m->dof_parent[k]) {
        const kk_vec3 from_body = kk_vec3_sub(kki_vec3(kki_pose_of(d, m->dof_node[k])->p), b.X_WB.p);
        const kk_motion S = kki_axis_of(m, d, k);
        const kk_vec3 linear = kk_vec3_add(S.linear, kk_vec3_cross(from_body, S.angular));
        const kk_motion S_B = kk_motion_make(kk_mat3_tmul_vec(b.X_WB.R, S.angular), kk_mat3_tmul_vec(b.X_WB.R, linear));
        project(S_B, &b, Y + (size_t)k * stride);
    }
}

kk_status kk_torque_regressor(const kk_model *model, kk_data *data, const double *q, const double *v, const double *a,
                              double *Y) {
    if (kki_is_missing(model, data, q, v, a, Y)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    const size_t stride = PARAMETERS * (size_t)(model->nbody - 1);
    memset(Y, 0, (size_t)model->nv * stride * sizeof *Y);
    kk_kinematics_acceleration(model, data, q, v, a);
    for (int b = 1; b < model->nbody; b++) {
        put_body(model, data, b, Y + PARAMETERS * (size_t)(b - 1), stride);
    }
    return KK_OK;
}
