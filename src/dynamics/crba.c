/// Joint-space inertia: the public calls around the composite-rigid-body kernel.
#include "dynamics/data.h"

void kk_crba(const kk_model *model, kk_data *data, const double *q) {
    data->kernels->crba(model, &data->scratch, q, 1);
}

const double *kk_crba_result(const kk_data *data) {
    return data->scratch.inertia;
}

size_t kk_crba_stride(const kk_model *model) {
    return kki_padded(model->nv);
}

void kk_inertia_matrix(const kk_model *model, kk_data *data, const double *q, double *M) {
    kk_crba(model, data, q);
    data->kernels->read_inertia(model, &data->scratch, M, 1);
}
