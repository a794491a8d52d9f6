/// What one does with the joint-space inertia once kk_crba has left it: factor, solve, multiply, invert.
///
/// The hot loops are kernels/factor.h, which also has the equations; a single right-hand side is solved here, entry by
/// entry.
#include "base/missing.h"
#include "dynamics/data.h"

kk_status kk_inertia_matrix_factor(const kk_model *model, kk_data *data) {
    if (kki_is_missing(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!data->scratch.has_matrices) {
        return KK_LIMIT_EXCEEDED;
    }
    return data->kernels->factor(model, &data->factor, data->scratch.inertia) ? KK_OK : KK_SINGULAR;
}

void kki_inertia_solve_rows(const kk_model *model, const kk_data *data, double *X, size_t columns, size_t stride) {
    data->kernels->solve_rows(model, &data->factor, X, columns, stride);
}

kk_status kk_inertia_matrix_solve(const kk_model *model, const kk_data *data, double *x) {
    if (kki_is_missing(model, data, x)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    const kki_factor *F = &data->factor;
    // inwards: x ← L⁻ᵀ x
    for (int k = model->nv - 1; k >= 0; k--) {
        const double *L = F->L + (size_t)k * F->stride, y = x[k];
        for (int i = model->dof_parent[k], d = F->depth[k] - 1; i >= 0; i = model->dof_parent[i], d--) {
            x[i] -= L[d] * y;
        }
    }
    // outwards: x ← L⁻¹ D⁻¹ x
    for (int k = 0; k < model->nv; k++) {
        const double *L = F->L + (size_t)k * F->stride;
        double y = x[k] * F->inverse_D[k];
        for (int i = model->dof_parent[k], d = F->depth[k] - 1; i >= 0; i = model->dof_parent[i], d--) {
            y -= L[d] * x[i];
        }
        x[k] = y;
    }
    return KK_OK;
}

kk_status kk_inertia_matrix_mul(const kk_model *model, const kk_data *data, const double *x, double *y) {
    if (kki_is_missing(model, data, x, y)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    const size_t padded = kki_padded(model->nv);
    for (int i = 0; i < model->nv; i++) {
        y[i] = 0;
    }
    // each row of the upper triangle serves twice: as a row, and as a column below the diagonal
    for (int j = 0; j < model->nv; j++) {
        const double *M = data->scratch.inertia + (size_t)j * padded;
        double sum = M[j] * x[j];
        for (int i = j + 1; i < model->dof_subtree[j]; i++) {
            sum += M[i] * x[i];
            y[i] += M[i] * x[j];
        }
        y[j] += sum;
    }
    return KK_OK;
}

kk_status kk_inertia_matrix_inverse(const kk_model *model, kk_data *data, const double *q, double *Minv) {
    if (kki_is_missing(model, data, q, Minv)) {
        return KK_INVALID_ARGUMENT;
    }
    kk_status status = kk_crba(model, data, q);
    status = status ? status : kk_inertia_matrix_factor(model, data);
    if (status == KK_OK) {
        data->kernels->inverse(model, &data->factor, Minv);
    }
    return status;
}
