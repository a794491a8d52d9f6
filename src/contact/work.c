/// The solver's memory: one block, laid out for the largest problem.
#include "base/allocator.h"
#include "contact/modes.h"
#include "contact/scratch.h"

static void place_system(kki_layout *layout, const kki_solver_size *size, kki_system *s) {
    KKI_LAYOUT_ARRAY(layout, s->g, (size_t)size->rows);
    KKI_LAYOUT_ARRAY(layout, s->shift, (size_t)size->rows);
    KKI_LAYOUT_ARRAY(layout, s->own, 6 * (size_t)size->blocks);
    KKI_LAYOUT_ARRAY(layout, s->scale, (size_t)size->blocks);
}

/// Dense: dense × dense. Low rank: rows × nv.
static void place_reduced(kki_layout *layout, const kki_solver_size *size, kki_reduced *r) {
    const size_t rows = (size_t)size->rows, dense = (size_t)size->dense, nv = (size_t)size->nv,
                 side = rows > nv ? rows : nv;
    KKI_LAYOUT_ARRAY(layout, r->row, rows);
    KKI_LAYOUT_ARRAY(layout, r->turn, 2 * rows);
    KKI_LAYOUT_ARRAY(layout, r->start, rows + 1);
    KKI_LAYOUT_ARRAY(layout, r->index, 3 * rows);
    KKI_LAYOUT_ARRAY(layout, r->value, 3 * rows);
    KKI_LAYOUT_ARRAY(layout, r->diagonal, rows);
    KKI_LAYOUT_ARRAY(layout, r->inverse, side);
    KKI_LAYOUT_ARRAY(layout, r->pivot, side);
    KKI_LAYOUT_ARRAY(layout, r->A, dense * dense);
    KKI_LAYOUT_ARRAY(layout, r->R, rows * nv);
    KKI_LAYOUT_ARRAY(layout, r->C, rows * nv);
    KKI_LAYOUT_ARRAY(layout, r->W, nv * nv);
    KKI_LAYOUT_ARRAY(layout, r->range, 2 * nv);
    KKI_LAYOUT_ARRAY(layout, r->b, rows);
    KKI_LAYOUT_ARRAY(layout, r->x, rows);
    KKI_LAYOUT_ARRAY(layout, r->y, rows);
    KKI_LAYOUT_ARRAY(layout, r->line, rows + 3 * nv);
    kki_split *p = &r->split;
    KKI_LAYOUT_ARRAY(layout, p->row, rows + 4);
    KKI_LAYOUT_ARRAY(layout, p->column, rows);
    KKI_LAYOUT_ARRAY(layout, p->bound, rows);
    KKI_LAYOUT_ARRAY(layout, p->place, rows);
    KKI_LAYOUT_ARRAY(layout, p->diagonal, rows);
    KKI_LAYOUT_ARRAY(layout, p->K, dense * dense);
    KKI_LAYOUT_ARRAY(layout, p->inverse, dense);
    KKI_LAYOUT_ARRAY(layout, p->pivot, dense);
    KKI_LAYOUT_ARRAY(layout, p->b, rows + 4);
    KKI_LAYOUT_ARRAY(layout, p->x, rows + 4);
    KKI_LAYOUT_ARRAY(layout, p->y, rows + 4);
}

/// Coordinates of the problem over one body: no more than there are rows with G, where there are fewer than coordinates.
static int body_width(const kki_solver_size *size) {
    return kki_round8(size->nv > 0 && size->nv < size->rows ? size->nv : size->rows);
}

static void place(kki_layout *layout, const kki_solver_size *size, kki_solver_scratch *w) {
    const size_t rows = (size_t)size->rows;
    place_system(layout, size, &w->system);
    KKI_LAYOUT_ARRAY(layout, w->system.columns, rows * (size_t)size->nv);
    place_system(layout, size, &w->proximal);
    place_reduced(layout, size, &w->reduced);
    KKI_LAYOUT_ARRAY(layout, w->G, (size_t)size->dense * (size_t)size->dense + 4); // pieces of rows are read in fours
    KKI_LAYOUT_ARRAY(layout, w->held, (size_t)KKI_MODES_ROOM * KKI_MODES_ROOM);
    KKI_LAYOUT_ARRAY(layout, w->mode, (size_t)size->blocks);
    KKI_LAYOUT_ARRAY(layout, w->old_mode, (size_t)size->blocks);
    KKI_LAYOUT_ARRAY(layout, w->unknown, rows);
    KKI_LAYOUT_ARRAY(layout, w->direction, 2 * (size_t)size->blocks);
    for (int k = 0; k < KKI_ITERATES; k++) {
        KKI_LAYOUT_ARRAY(layout, w->iterate[k].lambda, rows);
        KKI_LAYOUT_ARRAY(layout, w->iterate[k].u, rows);
    }
    for (int k = 0; k < KKI_VECTORS; k++) {
        KKI_LAYOUT_ARRAY(layout, w->vector[k], rows);
    }
    for (int k = 0; k < KKI_WALK; k++) {
        KKI_LAYOUT_ARRAY(layout, w->walk[k], rows);
    }
    KKI_LAYOUT_ARRAY(layout, w->body.tie, (size_t)size->blocks);
    KKI_LAYOUT_ARRAY(layout, w->body.Y, rows * (size_t)body_width(size));
}

static bool fits(const kki_solver_work *work, kki_solver_size size) {
    return work->memory && work->size.rows == size.rows && work->size.blocks == size.blocks &&
           work->size.nv == size.nv && work->size.dense == size.dense;
}

kk_status kki_solver_work_create(kki_solver_work *work, const kk_allocator *allocator, kki_solver_size size) {
    size.dense = size.dense > 0 && size.dense < size.rows ? size.dense : size.rows;
    if (fits(work, size)) {
        return KK_OK;
    }
    *work = (kki_solver_work){.allocator = kki_allocator_or_default(allocator), .size = size};
    if (size.rows < 0 || size.blocks < 0 || size.nv < 0 || size.rows > INT16_MAX || size.nv > INT16_MAX) {
        return KK_INVALID_ARGUMENT;
    }
    // whole vectors, and one more in front of what a caller may pad beyond them
    const kki_solver_size padded = {kki_round4(size.rows) + 4, size.blocks, kki_round4(size.nv),
                                    kki_round4(size.dense) + 4};
    kki_solver_scratch header = {0};
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof header);
    place(&layout, &padded, &header);
    work->memory = kki_allocate_zeroed(&work->allocator, layout.size);
    if (!work->memory) {
        return KK_OUT_OF_MEMORY;
    }
    work->bytes = layout.size;
    work->scratch = work->memory;
    layout = kki_layout_over(work->memory);
    kki_layout_take(&layout, 1, sizeof header);
    place(&layout, &padded, work->scratch);
    work->kernels = kki_dense_kernels_best();
    const int width = body_width(&padded);
    return kki_sparse_work_create(&work->scratch->body.work, &work->allocator,
                                  kki_sparse_size_for(1, size.blocks, padded.rows, size.blocks, width, width));
}

void kki_solver_work_destroy(kki_solver_work *work) {
    if (work->scratch) {
        kki_sparse_work_destroy(&work->scratch->body.work);
    }
    kki_release(&work->allocator, work->memory, work->bytes);
    *work = (kki_solver_work){0};
}
