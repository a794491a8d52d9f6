/// Loops: their two frames on the nodes.
#include "model/compile.h"

static double arm_of(const kki_model_loop *l) {
    double arm = __builtin_inf();
    for (int side = 0; side < 2; side++) {
        const kk_vec3 p = side ? l->X_NB.p : l->X_NA.p;
        const double d = kk_vec3_norm(p);
        arm = l->node[side] != 0 && d > 0 && d < arm ? d : arm;
    }
    return arm;
}

static void compile_loop(const kk_model *m, const kk_loop_def *def, kki_model_loop *loop) {
    const kki_body *a = &m->body[def->body[0]], *b = &m->body[def->body[1]];
    *loop = (kki_model_loop){.type = def->type,
                             .name = loop->name,
                             .body = {def->body[0], def->body[1]},
                             .node = {a->node, b->node},
                             .X_NA = kk_transform_mul(a->X_NB, kki_clean_transform(def->placement[0])),
                             .X_NB = kk_transform_mul(b->X_NB, kki_clean_transform(def->placement[1])),
                             .distance = def->type == KK_LOOP_DISTANCE ? def->distance : 0,
                             .stiffness = def->stiffness,
                             .damping = def->damping,
                             .angular_stiffness = def->angular_stiffness,
                             .angular_damping = def->angular_damping,
                             .break_force = def->break_force,
                             .break_moment = def->break_moment,
                             .is_active = def->is_active != 0};
    loop->arm = arm_of(loop);
}

/// How a loop is open depends on its ends and the nodes between them and where their branches meet. What lies beyond moves both ends alike.
static void mark_between(kk_model *m, int a, int b) {
    m->loop_from[a] = m->loop_from[b] = 0;
    while (a != b) { // a node comes behind its parent
        int *const deeper = a > b ? &a : &b;
        m->loop_from[*deeper] = 0;
        *deeper = m->node[*deeper].parent;
    }
}

static void find_between(kk_model *m) {
    for (int i = 0; i < m->nnode; i++) {
        m->loop_from[i] = -1;
    }
    for (int i = 0; i < m->nloop; i++) {
        mark_between(m, m->loop[i].node[0], m->loop[i].node[1]);
    }
    for (int i = 1; i < m->nnode; i++) {
        const int parent = m->node[i].parent;
        if (m->loop_from[i] >= 0 && m->loop_from[parent] >= 0) {
            m->loop_from[i] = parent;
        }
    }
}

kk_status kki_compile_loops(const kk_spec *spec, kk_model *m, kk_error *error) {
    for (int i = 0; i < m->nloop; i++) {
        compile_loop(m, &spec->loop[i], &m->loop[i]);
        if (m->loop[i].node[0] == m->loop[i].node[1]) {
            return kki_item_error(
                error, KK_INVALID_MODEL, KKI_ITEM(spec, loop, "loop", i),
                "bodies \"%s\" and \"%s\" are fixed together already; name two that move against each other",
                spec->body[spec->loop[i].body[0]].name, spec->body[spec->loop[i].body[1]].name);
        }
    }
    find_between(m);
    return KK_OK;
}
