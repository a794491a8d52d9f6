/// Frame Jacobians and their rates, read off the motion axes in world axes about each root's origin.
///
/// With an axis [s; l] about the root's origin O and a point at x from O, its column in world axes about the point is [s; l + s × x].
/// Rates follow by the product rule: [ṡ; l̇ + ṡ × x + s × ẋ], and turning into a moving frame's own axes adds −ω × column.
#include "base/missing.h"
#include "dynamics/data.h"

kk_status kk_jacobians(const kk_model *model, kk_data *data, const double *q) {
    if (kki_is_missing(model, data, q)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    data->kernels->axes(model, &data->scratch, q);
    return KK_OK;
}

kk_status kk_jacobians_rate(const kk_model *model, kk_data *data, const double *q, const double *v) {
    if (kki_is_missing(model, data, q, v)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    data->kernels->axes_rates(model, &data->scratch, q, v, data->zero);
    return KK_OK;
}

/// A place on a node, and about which point and in which axes its Jacobian is wanted.
typedef struct target {
    int node;
    kk_mat3 R;       ///< R_WF
    kk_vec3 x;       ///< the reference point, from the root's origin, world axes
    kk_vec3 w, rate; ///< angular velocity of the frame; velocity of the reference point
    kk_reference reference;
} target;

static target target_of(const kk_model *m, const kk_data *d, int body, kk_transform X_BF, kk_reference reference) {
    const int node = m->body[body].node;
    const kk_transform X_NF = kk_transform_mul(m->body[body].X_NB, X_BF);
    const kki_pose *pose = kki_pose_of(d, node);
    const kki_rates *rates = kki_rates_of(d, node);
    const kk_vec3 arm = kk_mat3_mul_vec(kki_mat3(pose->R), X_NF.p), w = kki_vec3(rates->w);
    target t = {node,
                kk_mat3_mul(kki_mat3(pose->R), X_NF.R),
                kk_vec3_add(kki_vec3(pose->o), arm),
                w,
                kk_vec3_add(kki_vec3(rates->u), kk_vec3_cross(w, arm)),
                reference};
    if (reference == KK_WORLD_ORIGIN) {
        t.x = kk_vec3_sub(kki_vec3(pose->o), kki_vec3(pose->p)); // the world's origin seen from the root's
        t.rate = kk_vec3_make(0, 0, 0);
    }
    return t;
}

static kk_motion column_of(const void *vectors, size_t k) {
    const kki_spatial *x = (const kki_spatial *)vectors + k;
    return kk_motion_make(kki_vec3(x->a), kki_vec3(x->l));
}

static void store_column(double *J, size_t nv, size_t k, kk_motion c) {
    J[k] = c.angular.x;
    J[nv + k] = c.angular.y;
    J[2 * nv + k] = c.angular.z;
    J[3 * nv + k] = c.linear.x;
    J[4 * nv + k] = c.linear.y;
    J[5 * nv + k] = c.linear.z;
}

static kk_motion turn_in(kk_mat3 R, kk_motion c) {
    return kk_motion_make(kk_mat3_tmul_vec(R, c.angular), kk_mat3_tmul_vec(R, c.linear));
}

static kk_motion jacobian_column(const kk_data *d, size_t k, const target *t) {
    kk_motion c = column_of(d->scratch.axis, k);
    c.linear = kk_vec3_add(c.linear, kk_vec3_cross(c.angular, t->x));
    return t->reference == KK_LOCAL ? turn_in(t->R, c) : c;
}

static kk_motion rate_column(const kk_data *d, size_t k, const target *t) {
    const kk_motion axis = column_of(d->scratch.axis, k);
    kk_motion c = column_of(d->scratch.axis_rate, k);
    c.linear = kk_vec3_add(c.linear, kk_vec3_add(kk_vec3_cross(c.angular, t->x), kk_vec3_cross(axis.angular, t->rate)));
    if (t->reference != KK_LOCAL) {
        return c;
    }
    const kk_vec3 linear = kk_vec3_add(axis.linear, kk_vec3_cross(axis.angular, t->x));
    c.angular = kk_vec3_sub(c.angular, kk_vec3_cross(t->w, axis.angular));
    c.linear = kk_vec3_sub(c.linear, kk_vec3_cross(t->w, linear));
    return turn_in(t->R, c);
}

/// Fills the columns of the degrees of freedom between the root and the target; the others do not move it.
static void fill(const kk_model *m, const kk_data *d, const target *t,
                 kk_motion (*column)(const kk_data *, size_t, const target *), double *J) {
    const size_t nv = (size_t)m->nv;
    for (size_t i = 0; i < 6 * nv; i++) {
        J[i] = 0;
    }
    for (int k = t->node > 0 ? m->node[t->node].v_index + m->node_nv[t->node] - 1 : -1; k >= 0; k = m->dof_parent[k]) {
        store_column(J, nv, (size_t)k, column(d, (size_t)k, t));
    }
}

static void fill_nowhere(const kk_model *m, double *J) {
    for (size_t i = 0; i < 6 * (size_t)m->nv; i++) {
        J[i] = __builtin_nan("");
    }
}

void kk_body_jacobian(const kk_model *model, const kk_data *data, int body, kk_reference reference, double *J) {
    if (!kki_fits(model, data) || !kki_has_body(model, body)) {
        fill_nowhere(model, J);
        return;
    }
    const target t = target_of(model, data, body, kk_transform_identity(), reference);
    fill(model, data, &t, jacobian_column, J);
}

void kk_frame_jacobian(const kk_model *model, const kk_data *data, int frame, kk_reference reference, double *J) {
    if (!kki_fits(model, data) || !kki_has_frame(model, frame)) {
        fill_nowhere(model, J);
        return;
    }
    const target t = target_of(model, data, model->frame[frame].body, model->frame[frame].X_BF, reference);
    fill(model, data, &t, jacobian_column, J);
}

void kk_body_jacobian_rate(const kk_model *model, const kk_data *data, int body, kk_reference reference, double *dJ) {
    if (!kki_fits(model, data) || !kki_has_body(model, body)) {
        fill_nowhere(model, dJ);
        return;
    }
    const target t = target_of(model, data, body, kk_transform_identity(), reference);
    fill(model, data, &t, rate_column, dJ);
}

void kk_frame_jacobian_rate(const kk_model *model, const kk_data *data, int frame, kk_reference reference, double *dJ) {
    if (!kki_fits(model, data) || !kki_has_frame(model, frame)) {
        fill_nowhere(model, dJ);
        return;
    }
    const target t = target_of(model, data, model->frame[frame].body, model->frame[frame].X_BF, reference);
    fill(model, data, &t, rate_column, dJ);
}
