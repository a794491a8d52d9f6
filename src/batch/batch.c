/// Many states of one model, a laneful at a time.
///
/// Where coordinates of neighbouring states lie side by side, a kernel reads and writes the caller's arrays in place. Everything
/// else (states one after the other, a last handful that does not fill the lanes) passes through small buffers of one laneful; idle
/// lanes repeat the last state, so that they compute something finite that nobody reads.
#include <karakuri/batch.h>

#include "base/allocator.h"
#include "dynamics/kernels/kernels.h"

enum { MAX_LANES = 8, MAX_ARRAYS = 4 };

struct kk_batch {
    kk_allocator allocator;
    const kk_model *model;
    const kki_kernels *kernels;
    kki_scratch scratch;
    double *buffer[MAX_ARRAYS]; ///< one laneful of each array of a call, [coordinate][lane]
    void *block;                ///< holds scratch and buffers; made anew when another variant is chosen
    size_t block_size;
};

// ---- making

static size_t largest_array(const kk_model *m) {
    const size_t nv = (size_t)m->nv, poses = 12 * (size_t)m->nbody;
    const size_t matrix = m->nv <= KK_MATRIX_LIMIT ? nv * nv : (size_t)m->nq;
    return matrix > poses ? matrix : poses;
}

static void place(kki_layout *layout, kk_batch *b) {
    const kk_model *m = b->model;
    const size_t lanes = (size_t)b->kernels->lanes;
    b->scratch.has_matrices = m->nv <= KK_MATRIX_LIMIT;
    b->kernels->place(layout, m, &b->scratch);
    for (int i = 0; i < MAX_ARRAYS - 1; i++) {
        KKI_LAYOUT_ARRAY(layout, b->buffer[i], (size_t)m->nq * lanes);
    }
    KKI_LAYOUT_ARRAY(layout, b->buffer[MAX_ARRAYS - 1], (largest_array(m) + (size_t)m->nq) * lanes);
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

/// One array of a call: `rows` numbers a state.
typedef struct array {
    const double *in; ///< NULL for a result
    double *out;      ///< NULL for an input
    size_t rows;
} array;

/// A call over all states: its arrays, and the kernel on one laneful.
typedef struct job {
    array arrays[MAX_ARRAYS];
    int count; ///< of arrays
    void (*run)(const kk_model *m, kk_batch *b, double *const x[MAX_ARRAYS], size_t stride);
} job;

/// Number `i` of state `s`.
static size_t at(kk_batch_layout layout, size_t states, size_t rows, size_t s, size_t i) {
    return layout == KK_BY_STATE ? s * rows + i : i * states + s;
}

static void gather(const array *a, kk_batch_layout layout, size_t states, size_t first, size_t lanes, double *buffer) {
    for (size_t lane = 0; lane < lanes; lane++) {
        const size_t s = first + lane < states ? first + lane : states - 1;
        for (size_t i = 0; i < a->rows; i++) {
            buffer[i * lanes + lane] = a->in[at(layout, states, a->rows, s, i)];
        }
    }
}

static void scatter(const array *a, kk_batch_layout layout, size_t states, size_t first, size_t lanes,
                    const double *buffer) {
    for (size_t lane = 0; lane < lanes && first + lane < states; lane++) {
        for (size_t i = 0; i < a->rows; i++) {
            a->out[at(layout, states, a->rows, first + lane, i)] = buffer[i * lanes + lane];
        }
    }
}

/// One laneful through the buffers.
static void run_copied(kk_batch *b, const job *j, kk_batch_layout layout, size_t states, size_t first) {
    const size_t lanes = (size_t)b->kernels->lanes;
    for (int i = 0; i < j->count; i++) {
        if (j->arrays[i].in) {
            gather(&j->arrays[i], layout, states, first, lanes, b->buffer[i]);
        }
    }
    j->run(b->model, b, b->buffer, lanes);
    for (int i = 0; i < j->count; i++) {
        if (j->arrays[i].out) {
            scatter(&j->arrays[i], layout, states, first, lanes, b->buffer[i]);
        }
    }
}

/// One laneful in place; `step` apart lie the states, `stride` the coordinates.
static void run_in_place(kk_batch *b, const job *j, size_t first, size_t stride, int by_state) {
    double *x[MAX_ARRAYS] = {NULL, NULL, NULL, NULL};
    for (int i = 0; i < j->count; i++) {
        const array *a = &j->arrays[i];
        const size_t offset = by_state ? first * a->rows : first;
        x[i] = a->out ? a->out + offset : (double *)(uintptr_t)(a->in + offset); // inputs are only read
    }
    j->run(b->model, b, x, stride);
}

static void run(kk_batch *b, const job *j, kk_batch_layout layout, size_t states) {
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
}

// ---- the calls

static void run_rnea(const kk_model *m, kk_batch *b, double *const x[MAX_ARRAYS], size_t stride) {
    b->kernels->rnea(m, &b->scratch, x[0], x[1], x[2], x[3], stride);
}
static void run_aba(const kk_model *m, kk_batch *b, double *const x[MAX_ARRAYS], size_t stride) {
    b->kernels->aba(m, &b->scratch, x[0], x[1], x[2], x[3], stride);
}
static void run_crba(const kk_model *m, kk_batch *b, double *const x[MAX_ARRAYS], size_t stride) {
    b->kernels->crba(m, &b->scratch, x[0], stride);
    b->kernels->read_inertia(m, &b->scratch, x[3], stride);
}
static void run_kinematics(const kk_model *m, kk_batch *b, double *const x[MAX_ARRAYS], size_t stride) {
    b->kernels->kinematics(m, &b->scratch, x[0], stride);
    b->kernels->read_poses(m, &b->scratch, x[3], stride);
}

static void run_dynamics(kk_batch *b, kk_batch_layout layout, size_t count, const double *q, const double *v,
                         const double *x, double *y,
                         void (*kernel)(const kk_model *, kk_batch *, double *const[MAX_ARRAYS], size_t)) {
    const size_t nq = (size_t)b->model->nq, nv = (size_t)b->model->nv;
    const job j = {{{q, NULL, nq}, {v, NULL, nv}, {x, NULL, nv}, {NULL, y, nv}}, MAX_ARRAYS, kernel};
    run(b, &j, layout, count);
}

void kk_batch_inverse_dynamics(const kk_model *model, kk_batch *batch, kk_batch_layout layout, size_t count,
                               const double *q, const double *v, const double *a, double *tau) {
    (void)model;
    run_dynamics(batch, layout, count, q, v, a, tau, run_rnea);
}

void kk_batch_forward_dynamics(const kk_model *model, kk_batch *batch, kk_batch_layout layout, size_t count,
                               const double *q, const double *v, const double *tau, double *a) {
    (void)model;
    run_dynamics(batch, layout, count, q, v, tau, a, run_aba);
}

void kk_batch_inertia_matrix(const kk_model *model, kk_batch *batch, kk_batch_layout layout, size_t count,
                             const double *q, double *M) {
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    const job j = {{{q, NULL, nq}, {NULL, NULL, 0}, {NULL, NULL, 0}, {NULL, M, nv * nv}}, MAX_ARRAYS, run_crba};
    run(batch, &j, layout, count);
}

void kk_batch_kinematics(const kk_model *model, kk_batch *batch, kk_batch_layout layout, size_t count, const double *q,
                         double *poses) {
    const size_t nq = (size_t)model->nq, rows = 12 * (size_t)model->nbody;
    const job j = {{{q, NULL, nq}, {NULL, NULL, 0}, {NULL, NULL, 0}, {NULL, poses, rows}}, MAX_ARRAYS, run_kinematics};
    run(batch, &j, layout, count);
}
