/// Layout of what a state remembers, the part of fixed size.
#include "model/warm.h"

#include "base/mark.h"

static int64_t count_colliding(const kk_model *m) {
    int64_t colliding = 0;
    for (int i = 0; i < m->nshape; i++) {
        colliding += (m->shape[i].purpose & KK_SHAPE_COLLIDES) != 0;
    }
    return colliding;
}

int kki_can_touch(const kk_model *model) {
    return count_colliding(model) > 1;
}

int kki_has_plain_contacts(const kk_model *m) {
    int plain = 1;
    for (int i = 0; i < m->nlaw; i++) {
        plain &= !(m->law[i].torsion > 0) && !(m->law[i].rolling > 0);
    }
    for (int i = 0; i < m->nshape; i++) {
        plain &= !m->shape[i].runs;
    }
    return plain;
}

int kki_warm_old_room(const kk_model *model) {
    if (model->options.max_contacts > 0) {
        return model->options.max_contacts;
    }
    const int64_t colliding = count_colliding(model);
    if (colliding < 2) {
        return 0;
    }
    const int64_t by_shape = 64 + 16 * colliding, by_pair = 8 * (int64_t)model->npair;
    return (int)(model->npair > 0 && by_pair < by_shape ? by_pair : by_shape);
}

/// Whether any joint can have a limit's or dry friction's force.
static int has_joint_forces(const kk_model *m) {
    for (int k = 0; k < m->nv; k++) {
        const kk_dof_def *d = &m->dof[k];
        if (d->friction > 0 || d->lower > -__builtin_inf() || d->upper < __builtin_inf()) {
            return 1;
        }
    }
    return 0;
}

/// Whether any tendon's length is held.
static int has_held_tendons(const kk_model *m) {
    int any = 0;
    for (int i = 0; i < m->ntendon; i++) {
        any |= m->tendon[i].is_held;
    }
    return any;
}

int kki_is_flyer(const kk_model *model, int node) {
    const kki_node *n = &model->node[node];
    return n->type == KKI_NODE_FREE && n->parent == 0 && !n->is_leaf;
}

int kki_is_lone(const kk_model *model, int node) {
    const kki_node *n = &model->node[node];
    return n->type == KKI_NODE_FREE && n->parent == 0 && n->is_leaf && n->mass > 0;
}

static int count_nodes(const kk_model *m, int (*is)(const kk_model *, int)) {
    int count = 0;
    for (int i = 1; i < m->nnode; i++) {
        count += is(m, i);
    }
    return count;
}

/// Whether all bodies are free or on hinges, some on hinges, and nothing else ties them: springs may then stand for the hinges.
static int may_have_springs(const kk_model *m) {
    int hinges = 0;
    for (int i = 1; i < m->nnode; i++) {
        if (m->node[i].type != KKI_NODE_HINGE && m->node[i].type != KKI_NODE_FREE) {
            return 0;
        }
        hinges += m->node[i].type == KKI_NODE_HINGE;
    }
    return hinges > 0 && !m->has_armature && m->ncoupling == 0 && m->nloop == 0 && m->ntendon == 0;
}

int kki_has_bias(const kk_model *model, int tree) {
    const int first = model->dof_node[model->tree_first_dof[tree]];
    return !model->node[first].is_leaf || model->node_nv[first] == 3; // a body on a ball joint: a top
}

uint64_t kki_tree_mark(const kk_model *model, int tree, const double *q, const double *v, uint64_t mark) {
    const int first = model->tree_first_dof[tree], end = model->tree_first_dof[tree + 1];
    const int q_first = model->node[model->dof_node[first]].q_index;
    const int q_end = end < model->nv ? model->node[model->dof_node[end]].q_index : model->nq;
    return kki_mark(v + first, (size_t)(end - first), kki_mark(q + q_first, (size_t)(q_end - q_first), mark));
}

/// Whether any tree has several nodes: what version 2 asked.
static int has_links(const kk_model *m) {
    int any = 0;
    for (int t = 0; t < m->ntree; t++) {
        any |= !m->node[m->dof_node[m->tree_first_dof[t]]].is_leaf;
    }
    return any;
}

static int has_bias_forces(const kk_model *m) {
    int any = 0;
    for (int t = 0; t < m->ntree; t++) {
        any |= kki_has_bias(m, t);
    }
    return any;
}

kki_warm_layout kki_warm_layout_of(const kk_model *model) {
    kki_warm_layout w = {.first_dof = 0};
    w.first_coupling = w.first_dof + (has_joint_forces(model) ? KKI_WARM_DOF_SIZE * model->nv : 0);
    w.first_loop = w.first_coupling + model->ncoupling;
    w.first_tendon = w.first_loop + 6 * model->nloop;
    w.first_held = w.first_tendon + KKI_WARM_TENDON_SIZE * model->ntendon;
    w.first_switch = w.first_held + (has_held_tendons(model) ? model->ntendon : 0);
    w.first_flight = w.first_switch + model->nloop;
    w.first_lone = w.first_flight + KKI_WARM_FLIGHT_SIZE * count_nodes(model, kki_is_flyer);
    w.first_body = w.first_lone + KKI_WARM_LONE_SIZE * count_nodes(model, kki_is_lone);
    w.first_change = w.first_body + (may_have_springs(model) ? KKI_WARM_BODY_SIZE * model->nnode : 0);
    w.size_1 = w.first_change;
    w.size_2 = w.first_change + (has_links(model) ? model->nv + KKI_WARM_CHANGE_HASHES : 0);
    w.size = w.first_change + (has_bias_forces(model) ? KKI_WARM_CHANGES * model->nv + KKI_WARM_CHANGE_HASHES : 0);
    return w;
}
