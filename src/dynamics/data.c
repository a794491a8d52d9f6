/// Making and freeing the data: one block with everything the algorithms write.
#include "dynamics/data.h"

#include "base/allocator.h"

/// Degrees of freedom on the longest way from the world to a tip.
static int longest_branch(const kk_model *m) {
    int longest = 0;
    for (int k = 0; k < m->nv; k++) {
        int length = 0;
        // only tips are walked from, so a chain is walked once
        for (int i = m->dof_subtree[k] == k + 1 ? k : -1; i >= 0; i = m->dof_parent[i]) {
            length++;
        }
        longest = length > longest ? length : longest;
    }
    return longest;
}

static void place_factor(kki_layout *layout, const kk_model *m, kki_factor *F) {
    const size_t nv = (size_t)m->nv, padded = kki_padded(m->nv);
    F->stride = kki_padded(longest_branch(m));
    KKI_LAYOUT_ARRAY(layout, F->depth, nv);
    KKI_LAYOUT_ARRAY(layout, F->path, F->stride);
    KKI_LAYOUT_ARRAY(layout, F->T, nv * F->stride);
    KKI_LAYOUT_ARRAY(layout, F->L, nv * F->stride);
    KKI_LAYOUT_ARRAY(layout, F->inverse_D, nv);
    KKI_LAYOUT_ARRAY(layout, F->inverse, padded * padded);
}

/// A robot's usual contacts at once; a long chain's in portions, so that memory stays proportional to nv.
static void place_rows(kki_layout *layout, const kk_model *m, kki_rows *rows) {
    rows->capacity = m->nv <= 128 ? 256 : 64;
    KKI_LAYOUT_ARRAY(layout, rows->Y, (size_t)m->nv * rows->capacity);
    KKI_LAYOUT_ARRAY(layout, rows->product, rows->capacity);
    KKI_LAYOUT_ARRAY(layout, rows->support, (size_t)m->nv);
}

static void place(kki_layout *layout, const kk_model *m, kk_data *d) {
    d->kernels->place(layout, m, &d->scratch);
    if (d->scratch.lacks == KKI_LACKS_ALL_BUT_POSES) {
        return;
    }
    KKI_LAYOUT_ARRAY(layout, d->zero, kki_padded(m->nv));
    KKI_LAYOUT_ARRAY(layout, d->vector, kki_padded(m->nv));
    KKI_LAYOUT_ARRAY(layout, d->neutral, (size_t)m->nq);
    KKI_LAYOUT_ARRAY(layout, d->external, (size_t)m->nbody);
    if (!(d->scratch.lacks & KKI_LACKS_OTHER) || m->ncoupling > 0) {
        place_rows(layout, m, &d->rows);
    }
    const size_t ncoupling = (size_t)m->ncoupling;
    if (d->scratch.has_matrices || m->ncoupling <= KK_MATRIX_LIMIT) {
        KKI_LAYOUT_ARRAY(layout, d->coupling_matrix, ncoupling * ncoupling);
        KKI_LAYOUT_ARRAY(layout, d->coupling_force, 2 * ncoupling);
    }
    if (d->scratch.has_matrices) {
        place_factor(layout, m, &d->factor);
        KKI_LAYOUT_ARRAY(layout, d->tangent, 2 * (size_t)m->nv * kki_padded(m->nv) + 4);
        KKI_LAYOUT_ARRAY(layout, d->gathered, (size_t)m->nnode);
        KKI_LAYOUT_ARRAY(layout, d->moving_axis, (size_t)m->nv);
    }
}

static kk_status create(const kk_model *model, const kk_allocator *allocator, int has_matrices, unsigned lacks,
                        kk_data **data) {
    if (!model || !data) {
        return KK_INVALID_ARGUMENT;
    }
    *data = NULL;
    kk_data header = {.allocator = kki_allocator_or_default(allocator), .kernels = kki_kernels_one()};
    header.scratch.has_matrices = has_matrices;
    header.scratch.lacks = lacks;
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof header);
    place(&layout, model, &header);
    kk_data *d = kki_allocate_zeroed(&header.allocator, layout.size);
    if (!d) {
        return KK_OUT_OF_MEMORY;
    }
    *d = header;
    d->size = layout.size;
    d->model_hash = model->hash;
    layout = kki_layout_over(d);
    kki_layout_take(&layout, 1, sizeof *d);
    place(&layout, model, d);
    d->kernels->fill(model, &d->scratch);
    if (d->neutral) {
        kk_model_neutral(model, d->neutral);
    }
    for (int k = 0; k < model->nv && has_matrices; k++) {
        d->factor.depth[k] = model->dof_parent[k] < 0 ? 0 : d->factor.depth[model->dof_parent[k]] + 1;
    }
    *data = d;
    return KK_OK;
}

kk_status kk_data_create(const kk_model *model, const kk_allocator *allocator, kk_data **data) {
    return create(model, allocator, model && model->nv <= KK_MATRIX_LIMIT, 0, data);
}

kk_status kk_data_create_with_matrices(const kk_model *model, const kk_allocator *allocator, kk_data **data) {
    return create(model, allocator, 1, 0, data);
}

kk_status kki_data_create_without(const kk_model *model, unsigned lacks, const kk_allocator *allocator,
                                  kk_data **data) {
    return create(model, allocator, 0, lacks, data);
}

kk_status kki_data_create_for_poses(const kk_model *model, const kk_allocator *allocator, kk_data **data) {
    return create(model, allocator, 0, KKI_LACKS_ALL_BUT_POSES, data);
}

void kki_data_turn_to(kk_data *data, const kk_model *model) {
    if (data->model_hash != model->hash) {
        data->model_hash = model->hash;
        data->kernels->fill(model, &data->scratch);
    }
}

int kk_data_has_matrices(const kk_data *data) {
    return data->scratch.has_matrices;
}

void kk_data_free(kk_data *data) {
    if (data) {
        const kk_allocator allocator = data->allocator;
        kki_release(&allocator, data, data->size);
    }
}
