/// What workers have for the island at hand. The first one's stands in the room of the simulator, the others' in blocks of their own.
#include "base/allocator.h"
#include "contact/dense_kernels.h"
#include "simulate/simulator.h"

/// An island that is sparse.
static void place_wide(kki_layout *layout, const kk_model *m, const kk_simulator *s, kki_sparse_rows *x) {
    const size_t trees = s->islands.padded_width > 0 ? (size_t)m->ntree : 0, widest = (size_t)s->islands.widest_tree;
    const size_t bodies = (size_t)s->room.sparse_bodies, ties = (size_t)s->room.sparse_ties;
    KKI_LAYOUT_ARRAY(layout, x->Y, 2 * (size_t)s->room.sparse_rows * widest);
    KKI_LAYOUT_ARRAY(layout, x->tie, ties);
    KKI_LAYOUT_ARRAY(layout, x->is_built, ties);
    KKI_LAYOUT_ARRAY(layout, x->first, bodies + 1);
    KKI_LAYOUT_ARRAY(layout, x->nv, bodies);
    KKI_LAYOUT_ARRAY(layout, x->body_of_tree, trees);
    KKI_LAYOUT_ARRAY(layout, x->unit, 48 * bodies);
    KKI_LAYOUT_ARRAY(layout, x->climbed, 4 * widest);
}

static size_t padded_nv(const kk_model *m) {
    return ((size_t)m->nv + 7) & ~(size_t)3;
}

/// Coordinates of any island.
static size_t widest_island(const kk_model *m, const kk_simulator *s) {
    const int handed = s->islands.most_dense_width, room = s->room.sparse_coordinates;
    return s->islands.padded_width > 0 ? (size_t)(handed > room ? handed : room) + 16 : padded_nv(m);
}

enum { VECTORS = 7 };
static void list_vectors(kki_island_scratch *x, double **list[VECTORS]) {
    double **const all[VECTORS] = {&x->y_end, &x->y_drift, &x->y_free, &x->change, &x->sum, &x->product, &x->y_start};
    for (int i = 0; i < VECTORS; i++) {
        list[i] = all[i];
    }
}

void kki_scratch_place(kki_layout *layout, const kk_model *m, const kk_simulator *s, kki_island_scratch *x) {
    const kki_solver_size largest = kki_simulator_dense_size(m, s);
    const size_t padded = padded_nv(m), most = KKI_MOST_MATRIX_ROWS, constraints = (size_t)s->constraints.max;
    const size_t island_rows = (size_t)largest.rows + 8, island_nv = ((size_t)largest.nv + 7) & ~(size_t)3;
    const size_t dense = island_rows < most ? island_rows : most;
    const size_t narrow = padded < KKI_WRENCH_DOFS ? padded : KKI_WRENCH_DOFS;
    double **vector[VECTORS];
    KKI_LAYOUT_ARRAY(layout, x->verdict, constraints);
    KKI_LAYOUT_ARRAY(layout, x->held, island_rows);
    KKI_LAYOUT_ARRAY(layout, x->waiting, constraints);
    KKI_LAYOUT_ARRAY(layout, x->stopping, constraints);
    KKI_LAYOUT_ARRAY(layout, x->A, 128 * 128);
    x->Y_room = island_nv * island_rows;
    KKI_LAYOUT_ARRAY(layout, x->rows.Y, x->Y_room);
    x->Y = x->rows.Y;
    KKI_LAYOUT_ARRAY(layout, x->G, dense * dense + 4); // pieces of rows are read in fours
    KKI_LAYOUT_ARRAY(layout, x->wrench_basis.Q, narrow * narrow);
    KKI_LAYOUT_ARRAY(layout, x->wrench_basis.R, narrow * narrow);
    KKI_LAYOUT_ARRAY(layout, x->wrench_basis.wrench, 6 * island_rows);
    KKI_LAYOUT_ARRAY(layout, x->support, 2 * padded);
    KKI_LAYOUT_ARRAY(layout, x->span, 2 * padded);
    KKI_LAYOUT_ARRAY(layout, x->touch, KKI_GRAM_ROWS / 4);
    list_vectors(x, vector);
    for (int i = 0; i < VECTORS; i++) {
        KKI_LAYOUT_ARRAY(layout, *vector[i], widest_island(m, s));
    }
    place_wide(layout, m, s, &x->sparse);
}

static kk_status make_solvers(const kk_model *m, const kk_simulator *s, kki_island_scratch *x) {
    kk_status status = kki_solver_work_create(&x->solver, &s->allocator, kki_simulator_dense_size(m, s));
    if (status == KK_OK && s->islands.padded_width > 0) {
        const kki_room *r = &s->room;
        const kki_sparse_size size = {.bodies = r->sparse_bodies,
                                      .ties = r->sparse_ties,
                                      .rows = r->sparse_rows,
                                      .blocks = r->sparse_blocks,
                                      .width = r->sparse_coordinates,
                                      .widest = s->islands.widest_tree};
        status = kki_sparse_work_create(&x->sparse.solver, &s->allocator, kki_sparse_size_within(size, m->ntree));
    }
    return status;
}

static kk_status make_block(const kk_model *m, const kk_simulator *s, kki_island_scratch *x) {
    kki_layout layout = kki_layout_over(NULL);
    kki_scratch_place(&layout, m, s, x);
    x->size = layout.size;
    x->memory = kki_allocate_zeroed(&s->allocator, layout.size);
    if (!x->memory) {
        return KK_OUT_OF_MEMORY;
    }
    layout = kki_layout_over(x->memory);
    kki_scratch_place(&layout, m, s, x);
    return KK_OK;
}

kk_status kki_scratch_create(const kk_model *m, kk_simulator *s) {
    kk_status status = make_solvers(m, s, &s->workers.scratch[0]);
    for (int i = 1; i < s->workers.count && status == KK_OK; i++) {
        status = make_block(m, s, &s->workers.scratch[i]);
        status = status ? status : make_solvers(m, s, &s->workers.scratch[i]);
    }
    return status;
}

void kki_scratch_free(kk_simulator *s) {
    for (int i = 0; i < s->workers.count; i++) {
        kki_island_scratch *x = &s->workers.scratch[i];
        kki_solver_work_destroy(&x->solver);
        kki_sparse_work_destroy(&x->sparse.solver);
        kki_release(&s->allocator, x->memory, x->size);
        x->memory = NULL;
    }
}

void kki_scratch_poison(const kk_simulator *s, kki_island_scratch *x) {
#ifndef NDEBUG
    double **vector[VECTORS];
    list_vectors(x, vector);
    for (int i = 0; i < VECTORS; i++) {
        for (size_t k = 0; k < widest_island(s->model, s); k++) {
            (*vector[i])[k] = __builtin_nan("");
        }
    }
#else
    (void)s;
    (void)x;
#endif
}
