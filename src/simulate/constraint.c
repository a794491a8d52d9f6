/// What must not happen: every constraint of the step as rows on nodes, with its law and its position error, kind by kind.
#include "simulate/constraint.h"

#include <string.h>

#include "simulate/constraint/wrench.h"

#define ROW(KIND, name) [KKI_ON_##KIND] = &kki_constraint_##name,
const kki_constraint_type *const kki_constraint_types[KKI_CONSTRAINT_KIND_COUNT] = {KKI_CONSTRAINT_KINDS(ROW)};

// ---- rows on degrees of freedom

/// The axis of a degree of freedom in world axes, and whether it slides.
static kk_vec3 dof_axis(const kk_model *m, const kk_simulator *s, int dof, int *slides) {
    const int node = m->dof_node[dof], k = dof - m->node[node].v_index;
    const kki_pose *x = kki_pose_of(s->data, node);
    const int type = m->node[node].type;
    *slides = type == KKI_NODE_SLIDE || (type == KKI_NODE_FREE && k >= 3);
    const int many = type == KKI_NODE_BALL || type == KKI_NODE_FREE;
    return kki_vec3(x->R[many ? k % 3 : 2]);
}

void kki_constraint_dof_part(const kk_model *m, kk_simulator *s, int row, int dof, double scale) {
    const int node = m->dof_node[dof];
    int slides = 0;
    const kk_vec3 z = dof_axis(m, s, dof, &slides), none = kk_vec3_make(0, 0, 0);
    kki_row_part *p = kki_constraint_part(s, row, node, m->node[node].parent);
    p->dof = m->node_nv[node] == 1 ? dof : -1;
    if (slides) {
        put(p->wi, none, z, scale);
        put(p->wj, kk_vec3_cross(kki_vec3(kki_pose_of(s->data, node)->r), z), z, -scale);
    } else {
        put(p->wi, z, none, scale);
        put(p->wj, z, none, -scale);
    }
}

kki_constraint *kki_constraint_on_dof(const kk_model *model, kk_simulator *s, kki_constraint_kind kind, int item,
                                      int dof, double scale) {
    kki_constraint *c = kki_constraint_begin(s, kind, item);
    c->nrow = c->nblock = 1;
    c->dof[0] = dof;
    kki_constraint_dof_part(model, s, 0, dof, scale);
    kki_constraint_end(s, c);
    return c;
}

int kki_last_dof(const kk_model *m, int node) {
    return node == 0 ? -1 : m->node[node].v_index + m->node_nv[node] - 1;
}

// ---- laws that several kinds have

void kki_stop_law(const kk_model *m, kk_simulator *s, kki_constraint *c, const double *warm) {
    (void)m;
    s->solution.block[c->block] = (kki_block){.law = KKI_LAW_LIMIT};
    s->solution.bias[c->row] = c->gap[0] > 0 ? c->gap[0] / (0.5 * s->h) : 0;
    s->solution.lambda[c->row] = s->h * warm[0];
}

/// Exactly none is none yet, and does not stick.
void kki_dry_law(kk_simulator *s, kki_constraint *c, double most, double warm) {
    const double last[2] = {s->h * warm, 0};
    s->solution.block[c->block] = (kki_block){.law = KKI_LAW_BOX, .lower = -most, .upper = most};
    s->solution.lambda[c->row] = last[0];
    c->sticks = last[0] != 0 && kki_is_stuck(last, most);
}

void kki_equality_law(const kk_model *m, kk_simulator *s, kki_constraint *c, const double *warm) {
    (void)m;
    for (int r = 0; r < c->nrow; r++) {
        s->solution.block[c->block + r] = (kki_block){.law = KKI_LAW_EQUALITY, .row = r};
        s->solution.lambda[c->row + r] = s->h * warm[r];
    }
}

// ---- all

double kki_widest_opening(const kk_model *model, const kk_simulator *s, const kk_data *poses) {
    double widest = 0;
    for (int k = 0; k < KKI_CONSTRAINT_KIND_COUNT; k++) {
        const kki_constraint_type *t = kki_constraint_types[k];
        const double gap = t->opening ? t->opening(model, s, poses) : 0;
        widest = gap > widest ? gap : widest;
    }
    return widest;
}

void kki_constrain_loops(const kk_model *model, kk_simulator *s) {
    s->constraints.count = s->constraints.nparts = 0;
    for (int k = 0; k < KKI_CONSTRAINT_KIND_COUNT; k++) {
        if (kki_constraint_types[k]->gaps) {
            kki_constraint_types[k]->assemble(model, s);
        }
    }
}

kk_status kki_constrain(const kk_model *model, kk_simulator *s) {
    s->constraints.count = s->constraints.nparts = 0;
    kki_free_bodies_choose(model, s);
    if (!kki_room_is_lacking(s)) { // else it is not known yet which bodies are free
        kki_room_ask(s->contacts.count - s->free_bodies.npoint, s->room.held, &s->lacking.room.held);
    }
    if (kki_room_is_lacking(s)) {
        return KK_LIMIT_EXCEEDED;
    }
    for (int k = 0; k < KKI_CONSTRAINT_KIND_COUNT; k++) {
        if (kki_constraint_types[k]->assemble) {
            kki_constraint_types[k]->assemble(model, s);
        }
    }
    return KK_OK;
}
