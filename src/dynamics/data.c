/// Making and freeing the data: one block with everything the algorithms write.
#include "dynamics/data.h"

#include "base/allocator.h"

static void place(kki_layout *layout, const kk_model *m, kk_data *d) {
    d->kernels->place(layout, m, &d->scratch);
    KKI_LAYOUT_ARRAY(layout, d->zero, kki_padded(m->nv));
    KKI_LAYOUT_ARRAY(layout, d->vector, kki_padded(m->nv));
    KKI_LAYOUT_ARRAY(layout, d->neutral, (size_t)m->nq);
    KKI_LAYOUT_ARRAY(layout, d->external, (size_t)m->nbody);
}

static kk_status create(const kk_model *model, const kk_allocator *allocator, int has_matrices, kk_data **data) {
    if (!model || !data) {
        return KK_INVALID_ARGUMENT;
    }
    *data = NULL;
    kk_data header = {.allocator = kki_allocator_or_default(allocator), .kernels = kki_kernels_one()};
    header.scratch.has_matrices = has_matrices;
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof header);
    place(&layout, model, &header);
    kk_data *d = kki_allocate_zeroed(&header.allocator, layout.size);
    if (!d) {
        return KK_OUT_OF_MEMORY;
    }
    *d = header;
    d->size = layout.size;
    layout = kki_layout_over(d);
    kki_layout_take(&layout, 1, sizeof *d);
    place(&layout, model, d);
    kk_model_neutral(model, d->neutral);
    *data = d;
    return KK_OK;
}

kk_status kk_data_create(const kk_model *model, const kk_allocator *allocator, kk_data **data) {
    return create(model, allocator, model && model->nv <= KK_MATRIX_LIMIT, data);
}

kk_status kk_data_create_with_matrices(const kk_model *model, const kk_allocator *allocator, kk_data **data) {
    return create(model, allocator, 1, data);
}

int kk_data_has_matrices(const kk_data *data) { return data->scratch.has_matrices; }

void kk_data_free(kk_data *data) {
    if (data) {
        const kk_allocator allocator = data->allocator;
        kki_release(&allocator, data, data->size);
    }
}
