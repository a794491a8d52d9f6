/// Many states of one model, a laneful at a time.
///
/// Where coordinates of neighboring states lie side by side, a kernel reads and writes the caller's arrays in place. Everything
/// else (states one after the other, a last handful that does not fill the lanes) passes through small buffers of one laneful; idle
/// lanes repeat the last state, so that they compute something finite that nobody reads.
#include <karakuri/batch.h>

#include "base/allocator.h"
#include "base/missing.h"
#include "dynamics/kernels/kernels.h"

enum { MAX_INPUTS = 3 };

struct kk_batch {
    kk_allocator allocator;
    const kk_model *model;
    const kki_kernels *kernels;
    kki_scratch scratch;
    double *input[MAX_INPUTS], *output; ///< one laneful of each array of a call, [number][lane]
    void *block;                        ///< holds scratch and buffers; made anew when another variant is chosen
    size_t block_size;
};

// ---- making

/// Poses, a matrix where there can be one, or nv numbers.
static size_t largest_result(const kk_model *m) {
    const size_t nv = (size_t)m->nv, poses = 12 * (size_t)m->nbody;
    const size_t numbers = m->nv <= KK_MATRIX_LIMIT ? nv * nv : nv;
    return numbers > poses ? numbers : poses;
}

static void place(kki_layout *layout, kk_batch *b) {
    const kk_model *m = b->model;
    const size_t lanes = (size_t)b->kernels->lanes;
    b->scratch.has_matrices = m->nv <= KK_MATRIX_LIMIT;
    b->kernels->place(layout, m, &b->scratch);
    for (int i = 0; i < MAX_INPUTS; i++) {
        KKI_LAYOUT_ARRAY(layout, b->input[i], (size_t)m->nq * lanes);
    }
    KKI_LAYOUT_ARRAY(layout, b->output, largest_result(m) * lanes);
}

static kk_status use(kk_batch *b, const kki_kernels *kernels) {
    kk_batch next = *b;
    next.kernels = kernels;
    kki_layout layout = kki_layout_over(NULL);
    place(&layout, &next);
    next.block_size = layout.size;
    next.block = kki_allocate_zeroed(&b->allocator, layout.size);
    if (!next.block) {
        return KK_OUT_OF_MEMORY;
    }
    layout = kki_layout_over(next.block);
    place(&layout, &next);
    kernels->fill(next.model, &next.scratch);
    if (b->block) {
        kki_release(&b->allocator, b->block, b->block_size);
    }
    *b = next;
    return KK_OK;
}

kk_status kk_batch_create(const kk_model *model, const kk_allocator *allocator, kk_batch **batch) {
    if (!model || !batch) {
        return KK_INVALID_ARGUMENT;
    }
    *batch = NULL;
    const kk_allocator chosen = kki_allocator_or_default(allocator);
    kk_batch *b = kki_allocate_zeroed(&chosen, sizeof *b);
    if (!b) {
        return KK_OUT_OF_MEMORY;
    }
    b->allocator = chosen;
    b->model = model;
    const kk_status status = use(b, kki_kernels_widest());
    if (status != KK_OK) {
        kk_batch_free(b);
        return status;
    }
    *batch = b;
    return KK_OK;
}

void kk_batch_free(kk_batch *batch) {
    if (batch) {
        const kk_allocator allocator = batch->allocator;
        if (batch->block) {
            kki_release(&allocator, batch->block, batch->block_size);
        }
        kki_release(&allocator, batch, sizeof *batch);
    }
}

// ---- choosing

static int same_text(const char *a, const char *b) {
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

const char *kk_batch_variant_name(int index) {
    const kki_kernels *kernels = kki_kernels_at(index);
    return kernels ? kernels->name : NULL;
}

kk_status kk_batch_choose(kk_batch *batch, const char *variant) {
    if (!variant) {
        return KK_INVALID_ARGUMENT;
    }
    for (int i = 0; kki_kernels_at(i); i++) {
        if (same_text(kki_kernels_at(i)->name, variant)) {
            return use(batch, kki_kernels_at(i));
        }
    }
    return KK_NOT_FOUND;
}

const char *kk_batch_variant(const kk_batch *batch) {
    return batch->kernels->name;
}
int kk_batch_lanes(const kk_batch *batch) {
    return batch->kernels->lanes;
}

// ---- running

/// One input of a call: `rows` numbers a state. NULL where the call has fewer inputs.
typedef struct input {
    const double *values;
    size_t rows;
} input;

/// A call over all states: its inputs, its result, and the kernel on one laneful.
typedef struct job {
    input in[MAX_INPUTS];
    double *out;
    size_t out_rows;
    void (*run)(const kk_model *m, kk_batch *b, const double *const in[MAX_INPUTS], double *out, size_t stride);
} job;

/// Number `i` of state `s`.
static size_t at(kk_batch_layout layout, size_t states, size_t rows, size_t s, size_t i) {
    return layout == KK_BY_STATE ? s * rows + i : i * states + s;
}

static void gather(const input *a, kk_batch_layout layout, size_t states, size_t first, size_t lanes, double *buffer) {
    for (size_t lane = 0; lane < lanes; lane++) {
        const size_t s = first + lane < states ? first + lane : states - 1;
        for (size_t i = 0; i < a->rows; i++) {
            buffer[i * lanes + lane] = a->values[at(layout, states, a->rows, s, i)];
        }
    }
}

static void scatter(const job *j, kk_batch_layout layout, size_t states, size_t first, size_t lanes,
                    const double *buffer) {
    for (size_t lane = 0; lane < lanes && first + lane < states; lane++) {
        for (size_t i = 0; i < j->out_rows; i++) {
            j->out[at(layout, states, j->out_rows, first + lane, i)] = buffer[i * lanes + lane];
        }
    }
}

/// One laneful through the buffers.
static void run_copied(kk_batch *b, const job *j, kk_batch_layout layout, size_t states, size_t first) {
    const size_t lanes = (size_t)b->kernels->lanes;
    const double *in[MAX_INPUTS] = {NULL, NULL, NULL};
    for (int i = 0; i < MAX_INPUTS && j->in[i].values; i++) {
        gather(&j->in[i], layout, states, first, lanes, b->input[i]);
        in[i] = b->input[i];
    }
    j->run(b->model, b, in, b->output, lanes);
    scatter(j, layout, states, first, lanes, b->output);
}

/// One laneful in place: states side by side, or one state by itself.
static void run_in_place(kk_batch *b, const job *j, size_t first, size_t stride, int by_state) {
    const double *in[MAX_INPUTS] = {NULL, NULL, NULL};
    for (int i = 0; i < MAX_INPUTS && j->in[i].values; i++) {
        in[i] = j->in[i].values + (by_state ? first * j->in[i].rows : first);
    }
    j->run(b->model, b, in, j->out + (by_state ? first * j->out_rows : first), stride);
}

static kk_status run(const kk_model *model, kk_batch *b, const job *j, kk_batch_layout layout, size_t states) {
    if (model != b->model || (layout != KK_BY_COORDINATE && layout != KK_BY_STATE)) {
        return KK_INVALID_ARGUMENT;
    }
    for (int i = 0; i < MAX_INPUTS; i++) {
        if (states > 0 && (kki_is_missing(j->out) || (j->in[i].rows > 0 && kki_is_missing(j->in[i].values)))) {
            return KK_INVALID_ARGUMENT;
        }
    }
    const size_t lanes = (size_t)b->kernels->lanes;
    for (size_t first = 0; first < states; first += lanes) {
        if (lanes == 1 && layout == KK_BY_STATE) {
            run_in_place(b, j, first, 1, 1);
        } else if (lanes > 1 && layout == KK_BY_COORDINATE && first + lanes <= states) {
            run_in_place(b, j, first, states, 0);
        } else {
            run_copied(b, j, layout, states, first);
        }
    }
    return KK_OK;
}

// ---- the calls

static void run_rnea(const kk_model *m, kk_batch *b, const double *const in[MAX_INPUTS], double *out, size_t stride) {
    b->kernels->rnea(m, &b->scratch, in[0], in[1], in[2], out, stride);
}
static void run_aba(const kk_model *m, kk_batch *b, const double *const in[MAX_INPUTS], double *out, size_t stride) {
    b->kernels->aba(m, &b->scratch, in[0], in[1], in[2], out, stride);
}
static void run_crba(const kk_model *m, kk_batch *b, const double *const in[MAX_INPUTS], double *out, size_t stride) {
    b->kernels->crba(m, &b->scratch, in[0], stride);
    b->kernels->read_inertia(m, &b->scratch, out, stride);
}
static void run_kinematics(const kk_model *m, kk_batch *b, const double *const in[MAX_INPUTS], double *out,
                           size_t stride) {
    b->kernels->kinematics(m, &b->scratch, in[0], stride);
    b->kernels->read_poses(m, &b->scratch, out, stride);
}

kk_status kk_batch_inverse_dynamics(const kk_model *model, kk_batch *batch, kk_batch_layout layout, size_t count,
                                    const double *q, const double *v, const double *a, double *tau) {
    if (kki_is_missing(model, batch)) {
        return KK_INVALID_ARGUMENT;
    }
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    const job j = {{{q, nq}, {v, nv}, {a, nv}}, tau, nv, run_rnea};
    return run(model, batch, &j, layout, count);
}

kk_status kk_batch_forward_dynamics(const kk_model *model, kk_batch *batch, kk_batch_layout layout, size_t count,
                                    const double *q, const double *v, const double *tau, double *a) {
    if (kki_is_missing(model, batch)) {
        return KK_INVALID_ARGUMENT;
    }
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    const job j = {{{q, nq}, {v, nv}, {tau, nv}}, a, nv, run_aba};
    return run(model, batch, &j, layout, count);
}

kk_status kk_batch_inertia_matrix(const kk_model *model, kk_batch *batch, kk_batch_layout layout, size_t count,
                                  const double *q, double *M) {
    if (kki_is_missing(model, batch)) {
        return KK_INVALID_ARGUMENT;
    }
    const size_t nv = (size_t)model->nv;
    if (!batch->scratch.has_matrices) {
        return KK_LIMIT_EXCEEDED;
    }
    const job j = {{{q, (size_t)model->nq}, {NULL, 0}, {NULL, 0}}, M, nv * nv, run_crba};
    return run(model, batch, &j, layout, count);
}

kk_status kk_batch_kinematics(const kk_model *model, kk_batch *batch, kk_batch_layout layout, size_t count,
                              const double *q, double *poses) {
    if (kki_is_missing(model, batch)) {
        return KK_INVALID_ARGUMENT;
    }
    const job j = {{{q, (size_t)model->nq}, {NULL, 0}, {NULL, 0}}, poses, 12 * (size_t)model->nbody, run_kinematics};
    return run(model, batch, &j, layout, count);
}
