/// Center of mass and momentum of everything: the public calls around the kernels.
#include "base/missing.h"
#include "dynamics/data.h"

kk_vec3 kk_center_of_mass(const kk_model *model, kk_data *data, const double *q) {
    return kki_fits(model, data) ? data->kernels->center_of_mass(model, &data->scratch, q, NULL) : kki_nowhere();
}

kk_vec3 kk_center_of_mass_jacobian(const kk_model *model, kk_data *data, const double *q, double *J) {
    return kki_fits(model, data) ? data->kernels->center_of_mass(model, &data->scratch, q, J) : kki_nowhere();
}

kk_status kk_centroidal(const kk_model *model, kk_data *data, const double *q, double *A) {
    if (kki_is_missing(model, data, q, A)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    data->kernels->centroidal(model, &data->scratch, q, A);
    return KK_OK;
}

kk_status kk_centroidal_rate(const kk_model *model, kk_data *data, const double *q, const double *v, double *A,
                             double *dA) {
    if (kki_is_missing(model, data, q, v, A, dA)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    data->kernels->centroidal_rate(model, &data->scratch, q, v, data->zero, A, dA);
    return KK_OK;
}

/// Momentum of one node in world axes about its own origin.
static kk_force node_momentum(const kki_node *b, const kki_pose *x, const kki_rates *r) {
    const kk_mat3 R = kki_mat3(x->R), J = kki_mat3(b->inertia);
    const kk_vec3 w = kki_vec3(r->w), u = kki_vec3(r->u), h = kk_mat3_mul_vec(R, kki_vec3(b->h));
    const kk_vec3 turning = kk_mat3_mul_vec(R, kk_mat3_mul_vec(J, kk_mat3_tmul_vec(R, w)));
    return kk_force_make(kk_vec3_add(turning, kk_vec3_cross(h, u)),
                         kk_vec3_add(kk_vec3_scale(u, b->mass), kk_vec3_cross(w, h)));
}

kk_force kk_centroidal_momentum(const kk_model *model, kk_data *data, const double *q, const double *v) {
    if (!kki_fits(model, data)) {
        return kk_force_make(kki_nowhere(), kki_nowhere());
    }
    const kk_vec3 com = kk_center_of_mass(model, data, q);
    kk_force sum = kk_force_make(kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 0));
    kk_kinematics_velocity(model, data, q, v);
    for (int i = 1; i < model->nnode; i++) {
        const kki_pose *x = kki_pose_of(data, i);
        kk_force h = node_momentum(&model->node[i], x, kki_rates_of(data, i));
        h.angular = kk_vec3_add(h.angular, kk_vec3_cross(kk_vec3_sub(kki_vec3(x->p), com), h.linear));
        sum = kk_force_add(sum, h);
    }
    return sum;
}
