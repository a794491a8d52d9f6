/// Forward dynamics: the public calls around the articulated-body kernel.
#include "base/missing.h"
#include "dynamics/data.h"

kk_status kk_forward_dynamics(const kk_model *model, kk_data *data, const double *q, const double *v, const double *tau,
                              double *a) {
    if (kki_is_missing(model, data, q, v, tau, a)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    data->kernels->aba(model, &data->scratch, q, v, tau, a, 1);
    return KK_OK;
}

/// A wrench on a body, given in its own frame, in world axes about its node's origin.
static kk_force at_node(const kk_model *m, const kk_data *d, int body, kk_force F_B) {
    const kk_force F_N = kk_force_to(m->body[body].X_NB, F_B);
    const kk_mat3 R_WN = kki_mat3(kki_pose_of(d, m->body[body].node)->R);
    return kk_force_make(kk_mat3_mul_vec(R_WN, F_N.angular), kk_mat3_mul_vec(R_WN, F_N.linear));
}

kk_status kk_forward_dynamics_external(const kk_model *model, kk_data *data, const double *q, const double *v,
                                       const double *tau, const kk_force *external, double *a) {
    if (kki_is_missing(model, data, q, v, tau, external, a)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    data->kernels->aba_prepare(model, &data->scratch, q, v);
    for (int b = 0; b < model->nbody; b++) {
        data->kernels->aba_push(&data->scratch, model->body[b].node, at_node(model, data, b, external[b]));
    }
    data->kernels->aba_solve(model, &data->scratch, tau, a);
    return KK_OK;
}
