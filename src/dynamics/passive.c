/// Springs and dampers of the joints: tau_k = −stiffness_k (δ_k − rest_k) − damping_k v_k.
///
/// δ is the way of the joint from its neutral pose, q ⊖ neutral: the coordinate itself for angles and travels, the
/// rotation vector for a ball, the twist for a free joint; so a spring works on every joint along the axes of its v.
#include "base/missing.h"
#include "dynamics/data.h"

kk_status kk_passive_force(const kk_model *model, kk_data *data, const double *q, const double *v, double *tau) {
    if (kki_is_missing(model, data, q, v, tau)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    double *way = data->vector;
    kk_difference(model, data->neutral, q, way);
    for (int k = 0; k < model->nv; k++) {
        const kk_dof_def *dof = &model->dof[k];
        tau[k] = -dof->stiffness * (way[k] - dof->rest) - dof->damping * v[k];
    }
    return KK_OK;
}
