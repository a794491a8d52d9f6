/// Derivatives of inverse and forward dynamics: the public calls around the kernels.
///
/// With a = M⁻¹ (τ − h): ∂a/∂q = −M⁻¹ ∂τ/∂q, ∂a/∂v = −M⁻¹ ∂τ/∂v, both of inverse dynamics at the a found, and ∂a/∂τ = M⁻¹.
#include "base/missing.h"
#include "dynamics/data.h"

static void clear(double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        x[i] = 0;
    }
}

kk_status kk_inverse_dynamics_derivatives(const kk_model *model, kk_data *data, const double *q, const double *v,
                                          const double *a, double *dtau_dq, double *dtau_dv) {
    if (kki_is_missing(model, data, q, v, a, dtau_dq, dtau_dv)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!data->scratch.has_matrices) {
        return KK_LIMIT_EXCEEDED;
    }
    const size_t nv = (size_t)model->nv;
    clear(dtau_dq, nv * nv);
    clear(dtau_dv, nv * nv);
    data->kernels->rnea_derivatives(model, &data->scratch, q, v, a, dtau_dq, dtau_dv, nv);
    return KK_OK;
}

/// −X without the padding.
static void copy_negative(const double *X, size_t stride, size_t n, double *out) {
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            out[i * n + j] = -X[i * stride + j];
        }
    }
}

kk_status kk_forward_dynamics_derivatives(const kk_model *model, kk_data *data, const double *q, const double *v,
                                          const double *tau, double *a, double *da_dq, double *da_dv, double *da_dtau) {
    if (kki_is_missing(model, data, q, v, tau, a, da_dq, da_dv, da_dtau)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!data->scratch.has_matrices) {
        return KK_LIMIT_EXCEEDED;
    }
    const size_t nv = (size_t)model->nv, padded = kki_padded(model->nv), stride = 2 * padded;
    double *X = data->tangent;
    kk_forward_dynamics(model, data, q, v, tau, a);
    clear(X, nv * stride);
    data->kernels->rnea_derivatives(model, &data->scratch, q, v, a, X, X + padded, stride);
    const kk_status status = kk_inertia_matrix_factor(model, data);
    if (status != KK_OK) {
        return status;
    }
    data->kernels->solve_rows(model, &data->factor, X, stride, stride);
    copy_negative(X, stride, nv, da_dq);
    copy_negative(X + padded, stride, nv, da_dv);
    data->kernels->inverse(model, &data->factor, da_dtau);
    return KK_OK;
}
