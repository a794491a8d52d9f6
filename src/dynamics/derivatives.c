/// Derivatives of inverse and forward dynamics: the public calls around the kernels.
///
/// With a = M⁻¹ (τ − h): ∂a/∂q = −M⁻¹ ∂τ/∂q, ∂a/∂v = −M⁻¹ ∂τ/∂v, both of inverse dynamics at the a found, and ∂a/∂τ = M⁻¹.
#include "dynamics/data.h"

static void clear(double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        x[i] = 0;
    }
}

void kk_inverse_dynamics_derivatives(const kk_model *model, kk_data *data, const double *q, const double *v, const double *a,
                                     double *dtau_dq, double *dtau_dv) {
    const size_t nv = (size_t)model->nv;
    clear(dtau_dq, nv * nv);
    clear(dtau_dv, nv * nv);
    data->kernels->rnea_derivatives(model, &data->scratch, q, v, a, dtau_dq, dtau_dv, nv);
}
