/// How many of everything a model has, and where it lies in the model's block.
#include "base/arena.h"
#include "model/compile.h"
#include "model/joint.h"

// ---- counting

// with at most 10⁷ bodies the largest count, nq, stays below 7 · 10⁷
static void count_tree(const kk_spec *spec, kk_model *m) {
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

static void count_shapes(const kk_spec *spec, kk_model *m) {
    m->nshape = spec->nshape;
    m->nmesh = spec->nmesh;
    m->nfield = spec->nheight_field;
    m->nvisual = spec->nvisual;
    m->nmaterial = spec->nmaterial;
    m->nexplicit = spec->npair;
    m->nexclude = spec->nexclude;
    for (int i = 0; i < spec->nshape; i++) {
        m->ncollider += (spec->shape[i].purpose & KK_SHAPE_COLLIDES) != 0;
    }
}

static kk_status count_tendon_terms(const kk_spec *spec, kk_model *m, kk_error *error) {
    for (int i = 0; i < spec->ntendon; i++) {
        if (spec->tendon[i].item_count > KKI_SPEC_MAX_ITEMS - m->ntendon_term) {
            return kki_item_error(error, KK_LIMIT_EXCEEDED, KKI_ITEM(spec, tendon, "tendon", i),
                                  "the tendons have more than %d items together", KKI_SPEC_MAX_ITEMS);
        }
        m->ntendon_term += spec->tendon[i].item_count;
    }
    return KK_OK;
}

static void count_control(const kk_spec *spec, kk_model *m) {
    m->nloop = spec->nloop;
    m->ntendon = spec->ntendon;
    m->nactuator = spec->nactuator;
    m->nsensor = spec->nsensor;
    m->nkeyframe = spec->nkeyframe;
}

kk_status kki_count(const kk_spec *spec, kk_model *m, kk_error *error) {
    count_tree(spec, m);
    count_shapes(spec, m);
    count_control(spec, m);
    return count_tendon_terms(spec, m, error);
}

// ---- placing

static void place_tree(kki_layout *layout, kk_model *m) {
    const size_t nv = (size_t)m->nv, nnode = (size_t)m->nnode, padded = (nnode + 3) & ~(size_t)3;
    KKI_LAYOUT_ARRAY(layout, m->node, nnode);
    KKI_LAYOUT_ARRAY(layout, m->body, (size_t)m->nbody);
    KKI_LAYOUT_ARRAY(layout, m->frame, (size_t)m->nframe);
    KKI_LAYOUT_ARRAY(layout, m->coupling, (size_t)m->ncoupling);
    KKI_LAYOUT_ARRAY(layout, m->dof, nv);
    KKI_LAYOUT_ARRAY(layout, m->dof_armature, nv);
    KKI_LAYOUT_ARRAY(layout, m->dof_node, nv);
    KKI_LAYOUT_ARRAY(layout, m->dof_parent, nv);
    KKI_LAYOUT_ARRAY(layout, m->dof_subtree, nv);
    KKI_LAYOUT_ARRAY(layout, m->dof_halves, nv);
    KKI_LAYOUT_ARRAY(layout, m->angle_index, padded);
    KKI_LAYOUT_ARRAY(layout, m->turn_rest, padded);
    KKI_LAYOUT_ARRAY(layout, m->turn_quarters, padded);
    KKI_LAYOUT_ARRAY(layout, m->node_nv, nnode);
    KKI_LAYOUT_ARRAY(layout, m->broad, nnode);
    KKI_LAYOUT_ARRAY(layout, m->stretch, nnode);
    KKI_LAYOUT_ARRAY(layout, m->loop_from, nnode);
    KKI_LAYOUT_ARRAY(layout, m->node_body, nnode);
    KKI_LAYOUT_ARRAY(layout, m->node_mount, nnode);
    KKI_LAYOUT_ARRAY(layout, m->node_tree, nnode);
    KKI_LAYOUT_ARRAY(layout, m->tree_first_dof, nv + 1); // at most a tree for each
    KKI_LAYOUT_ARRAY(layout, m->follower_of, nv);
}

/// Arrays inside an array: over no block there is no place yet to note theirs.
static void place_meshes(kki_layout *layout, const kk_spec *spec, kk_model *m) {
    for (int i = 0; i < m->nmesh; i++) {
        const kk_mesh_def *def = &spec->mesh[i];
        kki_model_mesh unused, *mesh = m->mesh ? &m->mesh[i] : &unused;
        KKI_LAYOUT_ARRAY(layout, mesh->vertex, (size_t)def->vertex_count);
        KKI_LAYOUT_ARRAY(layout, mesh->face, (size_t)def->face_count);
        KKI_LAYOUT_ARRAY(layout, mesh->part, (size_t)def->part_count);
    }
}

static void place_fields(kki_layout *layout, const kk_spec *spec, kk_model *m) {
    for (int i = 0; i < m->nfield; i++) {
        const kk_height_field_def *def = &spec->height_field[i];
        double *height = kki_layout_take(layout, (size_t)def->rows * (size_t)def->columns, sizeof *height);
        if (m->field) {
            m->field[i].def.height = height;
        }
    }
}

static void place_shapes(kki_layout *layout, const kk_spec *spec, kk_model *m) {
    KKI_LAYOUT_ARRAY(layout, m->shape, (size_t)m->nshape);
    KKI_LAYOUT_ARRAY(layout, m->collider, (size_t)m->ncollider);
    KKI_LAYOUT_ARRAY(layout, m->mesh, (size_t)m->nmesh);
    KKI_LAYOUT_ARRAY(layout, m->field, (size_t)m->nfield);
    KKI_LAYOUT_ARRAY(layout, m->visual, (size_t)m->nvisual);
    KKI_LAYOUT_ARRAY(layout, m->material, (size_t)m->nmaterial);
    KKI_LAYOUT_ARRAY(layout, m->material_class, (size_t)m->nmaterial);
    KKI_LAYOUT_ARRAY(layout, m->explicit_pair, (size_t)m->nexplicit);
    KKI_LAYOUT_ARRAY(layout, m->exclude, (size_t)m->nexclude);
    place_meshes(layout, spec, m);
    place_fields(layout, spec, m);
}

static void place_keyframes(kki_layout *layout, kk_model *m) {
    KKI_LAYOUT_ARRAY(layout, m->keyframe, (size_t)m->nkeyframe);
    for (int i = 0; i < m->nkeyframe; i++) {
        kki_model_keyframe unused, *keyframe = m->keyframe ? &m->keyframe[i] : &unused;
        KKI_LAYOUT_ARRAY(layout, keyframe->q, (size_t)m->nq);
        KKI_LAYOUT_ARRAY(layout, keyframe->v, (size_t)m->nv);
        KKI_LAYOUT_ARRAY(layout, keyframe->control, (size_t)m->nactuator);
    }
}

static void place_control(kki_layout *layout, kk_model *m) {
    KKI_LAYOUT_ARRAY(layout, m->loop, (size_t)m->nloop);
    KKI_LAYOUT_ARRAY(layout, m->tendon, (size_t)m->ntendon);
    KKI_LAYOUT_ARRAY(layout, m->tendon_term, (size_t)m->ntendon_term);
    KKI_LAYOUT_ARRAY(layout, m->actuator, (size_t)m->nactuator);
    KKI_LAYOUT_ARRAY(layout, m->sensor, (size_t)m->nsensor);
    place_keyframes(layout, m);
}

void kki_place_model(kki_layout *layout, const kk_spec *spec, kk_model *m, size_t names_size) {
    place_tree(layout, m);
    place_shapes(layout, spec, m);
    place_control(layout, m);
    for (int k = 0; k < KKI_NAMED_COUNT; k++) {
        KKI_LAYOUT_ARRAY(layout, m->by_name[k], (size_t)kki_named_count(m, (kki_named)k));
    }
    KKI_LAYOUT_ARRAY(layout, m->names, names_size);
}
