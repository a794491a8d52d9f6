/// From spec to model, as a story: check every item, count, get one block, number everything, fold bodies into nodes,
/// see that everything that can move has something to move, name, couple, hash.
///
/// The model is one block of memory; a second one holds scratch arrays while compiling. Time is O(n log n) for the
/// names, O(n) for the rest; nothing recurses.
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
    void *block;
    size_t size;
} workspace;

static void place_model(kki_layout *layout, kk_model *m, size_t names_size) {
    const size_t nv = (size_t)m->nv, nbody = (size_t)m->nbody, nnode = (size_t)m->nnode, nframe = (size_t)m->nframe;
    KKI_LAYOUT_ARRAY(layout, m->node, nnode);
    KKI_LAYOUT_ARRAY(layout, m->body, nbody);
    KKI_LAYOUT_ARRAY(layout, m->frame, nframe);
    KKI_LAYOUT_ARRAY(layout, m->coupling, (size_t)m->ncoupling);
    KKI_LAYOUT_ARRAY(layout, m->dof, nv);
    KKI_LAYOUT_ARRAY(layout, m->dof_armature, nv);
    KKI_LAYOUT_ARRAY(layout, m->dof_node, nv);
    KKI_LAYOUT_ARRAY(layout, m->dof_parent, nv);
    KKI_LAYOUT_ARRAY(layout, m->dof_subtree, nv);
    KKI_LAYOUT_ARRAY(layout, m->dof_halves, nv);
    KKI_LAYOUT_ARRAY(layout, m->angle_index, (nnode + 3) & ~(size_t)3);
    KKI_LAYOUT_ARRAY(layout, m->turn_rest, (nnode + 3) & ~(size_t)3);
    KKI_LAYOUT_ARRAY(layout, m->turn_quarters, (nnode + 3) & ~(size_t)3);
    KKI_LAYOUT_ARRAY(layout, m->node_nv, nnode);
    KKI_LAYOUT_ARRAY(layout, m->node_body, nnode);
    KKI_LAYOUT_ARRAY(layout, m->node_mount, nnode);
    KKI_LAYOUT_ARRAY(layout, m->follower_of, nv);
    KKI_LAYOUT_ARRAY(layout, m->body_by_name, nbody);
    KKI_LAYOUT_ARRAY(layout, m->frame_by_name, nframe);
    KKI_LAYOUT_ARRAY(layout, m->joint_by_name, nbody);
    KKI_LAYOUT_ARRAY(layout, m->names, names_size);
}

static void place_workspace(kki_layout *layout, workspace *w, const kk_model *m) {
    const size_t nbody = (size_t)m->nbody, nframe = (size_t)m->nframe, ncoupling = (size_t)m->ncoupling;
    KKI_LAYOUT_ARRAY(layout, w->order, kki_order_scratch(m));
    KKI_LAYOUT_ARRAY(layout, w->names, nbody > nframe ? nbody : nframe);
    KKI_LAYOUT_ARRAY(layout, w->couple, 2 * ncoupling);
    KKI_LAYOUT_ARRAY(layout, w->mass, nbody);
    KKI_LAYOUT_ARRAY(layout, w->child, (size_t)m->nnode);
    KKI_LAYOUT_ARRAY(layout, w->turn, 2 * (size_t)m->nnode);
    KKI_LAYOUT_ARRAY(layout, w->pivots, kki_pivots_scratch(m));
    KKI_LAYOUT_ARRAY(layout, w->unsorted, ncoupling);
}

// with at most 10⁷ bodies the largest count, nq, stays below 7 · 10⁷
static void count(const kk_spec *spec, kk_model *m) {
    m->nbody = spec->nbody;
    m->nframe = spec->nframe;
    m->ncoupling = spec->ncoupling;
    m->nnode = 1;
    for (int i = 1; i < spec->nbody; i++) {
        const kki_joint_type *type = kki_joint_type_of(spec->body[i].joint.type);
        m->nq += type->nq;
        m->nv += type->nv;
        m->nnode += type->nnode;
    }
}

/// The block, zeroed, with counts and array pointers set.
static kk_status allocate_model(const kk_spec *spec, const kk_allocator *allocator, kk_model **model, kk_error *error) {
    const size_t names_size = kki_names_size(spec);
    if (names_size > INT32_MAX) {
        return kki_error_set(error, KK_LIMIT_EXCEEDED, "the names take more than %d bytes together; shorten them",
                             INT32_MAX);
    }
    kk_model counts = {.allocator = kki_allocator_or_default(allocator)};
    count(spec, &counts);
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof counts);
    place_model(&layout, &counts, names_size);
    kk_model *m = kki_allocate_zeroed(&counts.allocator, layout.size);
    if (!m) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for a model of %d bodies", (int)counts.nbody);
    }
    *m = counts;
    m->size = layout.size;
    layout = kki_layout_over(m);
    kki_layout_take(&layout, 1, sizeof *m);
    place_model(&layout, m, names_size);
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

static kk_status fill(const kk_spec *spec, kk_model *m, const workspace *w, kk_error *error) {
    m->gravity[0] = spec->options.gravity.x;
    m->gravity[1] = spec->options.gravity.y;
    m->gravity[2] = spec->options.gravity.z;
    kki_order(spec, m, w->order);
    kki_fold(spec, m);
    kki_align(m, w->child, w->turn);
    kki_roots(m);
    kk_status status = kki_names(spec, m, w->names, error);
    status = status ? status : kki_check_motion(spec, m, w->mass, error);
    status = status ? status : kki_check_pivots(spec, m, w->pivots, error);
    status = status ? status : kki_couple(spec, m, w->couple, w->unsorted, error);
    if (status == KK_OK) {
        m->hash = kki_model_hash(m);
    }
    return status;
}

/// Fills a model whose block is there, with scratch memory for as long as it takes.
static kk_status fill_with_workspace(const kk_spec *spec, kk_model *m, kk_error *error) {
    workspace w = {0};
    kk_status status = allocate_workspace(m, &w, error);
    status = status ? status : fill(spec, m, &w, error);
    kki_release(&m->allocator, w.block, w.size);
    return status;
}

kk_status kk_model_compile(const kk_spec *spec, const kk_allocator *allocator, kk_model **model, kk_error *error) {
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
    status = fill_with_workspace(spec, m, error);
    if (status != KK_OK) {
        kk_model_free(m);
        return status;
    }
    *model = m;
    return KK_OK;
}

void kk_model_free(kk_model *model) {
    if (model) {
        const kk_allocator allocator = model->allocator;
        kki_release(&allocator, model, model->size);
    }
}
