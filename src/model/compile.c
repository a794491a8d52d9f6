/// From spec to model, as a story: check every item, count, get one block, number everything, fold bodies into nodes,
/// place the shapes, name, see that everything that can move has something to move, couple, look up what actuators and
/// sensors name, find what may touch what, hash.
///
/// The model is one block of memory, but for what collision needs (a block of laws and pairs, and one for each hull,
/// surface and grid); another holds scratch arrays while compiling. Time is O(n log n) for the names, O(n) for the rest
/// but the list of pairs, which is bounded; nothing recurses.
#include "model/compile.h"

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"
#include "model/joint.h"

/// Scratch of the stages.
typedef struct workspace {
    int32_t *order, *names, *couple, *child;
    double *mass, *turn, *pivots;
    kki_coupling *unsorted;
    kki_sort_item *sort;
    void *block;
    size_t size;
} workspace;

static size_t most_names(const kk_model *m) {
    int32_t most = 0;
    for (int k = 0; k < KKI_NAMED_COUNT; k++) {
        const int32_t count = kki_named_count(m, (kki_named)k);
        most = count > most ? count : most;
    }
    return (size_t)most;
}

static void place_workspace(kki_layout *layout, workspace *w, const kk_model *m) {
    const size_t nbody = (size_t)m->nbody, ncoupling = (size_t)m->ncoupling;
    KKI_LAYOUT_ARRAY(layout, w->order, kki_order_scratch(m));
    KKI_LAYOUT_ARRAY(layout, w->names, most_names(m));
    KKI_LAYOUT_ARRAY(layout, w->couple, 2 * ncoupling);
    KKI_LAYOUT_ARRAY(layout, w->mass, nbody);
    KKI_LAYOUT_ARRAY(layout, w->child, (size_t)m->nnode);
    KKI_LAYOUT_ARRAY(layout, w->turn, 2 * (size_t)m->nnode);
    KKI_LAYOUT_ARRAY(layout, w->pivots, kki_pivots_scratch(m));
    KKI_LAYOUT_ARRAY(layout, w->unsorted, ncoupling);
    KKI_LAYOUT_ARRAY(layout, w->sort, kki_contacts_scratch(m));
}

/// The block, zeroed, with counts and array pointers set.
static kk_status allocate_model(const kk_spec *spec, const kk_allocator *allocator, kk_model **model, kk_error *error) {
    const size_t names_size = kki_names_size(spec);
    if (names_size > INT32_MAX) {
        return kki_error_set(error, KK_LIMIT_EXCEEDED, "the names take more than %d bytes together; shorten them",
                             INT32_MAX);
    }
    kk_model counts = {.allocator = kki_allocator_or_default(allocator)};
    const kk_status status = kki_count(spec, &counts, error);
    if (status != KK_OK) {
        return status;
    }
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof counts);
    kki_place_model(&layout, spec, &counts, names_size);
    kk_model *m = kki_allocate_zeroed(&counts.allocator, layout.size);
    if (!m) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for a model of %d bodies", (int)counts.nbody);
    }
    *m = counts;
    m->size = layout.size;
    layout = kki_layout_over(m);
    kki_layout_take(&layout, 1, sizeof *m);
    kki_place_model(&layout, spec, m, names_size);
    *model = m;
    return KK_OK;
}

static kk_status allocate_workspace(const kk_model *m, workspace *w, kk_error *error) {
    kki_layout layout = kki_layout_over(NULL);
    place_workspace(&layout, w, m);
    w->size = layout.size;
    w->block = kki_allocate(&m->allocator, w->size);
    if (!w->block) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory to compile a model of %d bodies", (int)m->nbody);
    }
    layout = kki_layout_over(w->block);
    place_workspace(&layout, w, m);
    return KK_OK;
}

/// Nodes and what rides on them.
static void fill_tree(const kk_spec *spec, kk_model *m, const workspace *w) {
    m->options = spec->options;
    m->gravity[0] = spec->options.gravity.x;
    m->gravity[1] = spec->options.gravity.y;
    m->gravity[2] = spec->options.gravity.z;
    kki_order(spec, m, w->order);
    kki_fold(spec, m);
    kki_align(m, w->child, w->turn);
    kki_roots(m);
    kki_trees(m);
}

/// What names others, or belongs to others.
static kk_status fill_scene(const kk_spec *spec, kk_model *m, const kk_model *donor, const workspace *w,
                            kk_error *error) {
    kk_status status = kki_couple(spec, m, w->couple, w->unsorted, error);
    status = status ? status : kki_compile_loops(spec, m, error);
    status = status ? status : kki_compile_tendons(spec, m, error);
    status = status ? status : kki_compile_actuators(spec, m, error);
    status = status ? status : kki_compile_sensors(spec, m, error);
    status = status ? status : kki_compile_keyframes(spec, m, error);
    status = status ? status : kki_compile_contacts(spec, m, w->sort, error);
    return status ? status : kki_make_geometry(spec, m, donor, error);
}

static kk_status fill(const kk_spec *spec, kk_model *m, const kk_model *donor, const workspace *w, kk_error *error) {
    fill_tree(spec, m, w);
    kki_compile_shapes(spec, m);
    kk_status status = kki_names(spec, m, w->names, error);
    status = status ? status : kki_check_motion(spec, m, w->mass, error);
    status = status ? status : kki_check_pivots(spec, m, w->pivots, error);
    status = status ? status : fill_scene(spec, m, donor, w, error);
    if (status == KK_OK) {
        m->hash = kki_model_hash(m);
    }
    return status;
}

/// Fills a model whose block is there, with scratch memory for as long as it takes.
static kk_status fill_with_workspace(const kk_spec *spec, kk_model *m, const kk_model *donor, kk_error *error) {
    workspace w = {0};
    kk_status status = allocate_workspace(m, &w, error);
    status = status ? status : fill(spec, m, donor, &w, error);
    kki_release(&m->allocator, w.block, w.size);
    return status;
}

kk_status kki_model_recompile(const kk_spec *spec, const kk_model *donor, const kk_allocator *allocator,
                              kk_model **model, kk_error *error) {
    if (!spec || !model) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "kk_model_compile: the spec or the place for the model is NULL");
    }
    *model = NULL;
    kk_status status = kki_check_spec(spec, error);
    kk_model *m = NULL;
    status = status ? status : allocate_model(spec, allocator, &m, error);
    if (!m) {
        return status;
    }
    status = fill_with_workspace(spec, m, donor, error);
    if (status != KK_OK) {
        kk_model_free(m);
        return status;
    }
    *model = m;
    return KK_OK;
}

kk_status kk_model_compile(const kk_spec *spec, const kk_allocator *allocator, kk_model **model, kk_error *error) {
    return kki_model_recompile(spec, NULL, allocator, model, error);
}

void kk_model_free(kk_model *model) {
    if (model) {
        const kk_allocator allocator = model->allocator;
        if (!model->base) { // a variation's are its model's
            kki_free_geometry(model);
            kki_release(&allocator, model->contact, model->contact_size);
        }
        kki_release(&allocator, (void *)(uintptr_t)model->constants, model->constants_size);
        kki_release(&allocator, model, model->size);
    }
}
