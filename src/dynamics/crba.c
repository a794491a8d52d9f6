/// Joint-space inertia: the public calls around the composite-rigid-body kernel.
#include "base/missing.h"
#include "dynamics/data.h"

kk_status kk_crba(const kk_model *model, kk_data *data, const double *q) {
    if (kki_is_missing(model, data, q)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!data->scratch.has_matrices) {
        return KK_LIMIT_EXCEEDED;
    }
    data->kernels->crba(model, &data->scratch, q, 1);
    return KK_OK;
}

const double *kk_crba_result(const kk_data *data) {
    return data->scratch.inertia;
}

size_t kk_crba_stride(const kk_model *model) {
    return kki_padded(model->nv);
}

kk_status kk_inertia_matrix(const kk_model *model, kk_data *data, const double *q, double *M) {
    if (kki_is_missing(model, data, q, M)) {
        return KK_INVALID_ARGUMENT;
    }
    const kk_status status = kk_crba(model, data, q);
    if (status == KK_OK) {
        data->kernels->read_inertia(model, &data->scratch, M, 1);
    }
    return status;
}
