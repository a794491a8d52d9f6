/// Every degree of freedom must have something to move, or the inertia matrix is singular.
///
/// What is refused here is singular in every configuration: a joint with no mass behind it, and at the end of a chain a
/// joint whose node has no inertia about its own axes. Armature counts for its own degree of freedom only. Inner joints
/// whose inertia only vanishes together with that of others are left to check_pivots.c.
#include "math/dense.h"
#include "model/compile.h"
#include "model/joint.h"

/// A moment this much smaller than the trace of its matrix is rounding.
static const double NOTHING = 1e-15;

static double trace(const kki_node *node) {
    return node->inertia[0][0] + node->inertia[1][1] + node->inertia[2][2];
}

/// About a node's z, a screw's travel included.
static int turns_about_z(const kki_node *node, double armature) {
    return node->inertia[2][2] + node->mass * node->pitch * node->pitch + armature > NOTHING * trace(node);
}

static kk_sym3 moment_about_origin(const kki_node *node) {
    const double(*I)[4] = node->inertia;
    return (kk_sym3){I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2]};
}

/// About the center of mass where the node can also travel, about its origin where it cannot.
static int turns_every_way(const kki_node *node, const double *armature) {
    kk_sym3 I = moment_about_origin(node);
    if (node->type == KKI_NODE_FREE && node->mass > 0) {
        const double s = 1 / node->mass;
        const kk_vec3 c = kk_vec3_make(node->h[0] * s, node->h[1] * s, node->h[2] * s);
        I = kk_sym3_add(I, kk_sym3_point_mass(-node->mass, c));
    }
    double e[3];
    kki_sym3_eigenvalues(kk_sym3_add(I, (kk_sym3){armature[0], armature[1], armature[2], 0, 0, 0}), e);
    return e[0] > NOTHING * (trace(node) + e[2]);
}

/// A joint at the end of a chain can turn what rides on it.
static int end_turns(const kk_model *m, const kki_body *body) {
    const kki_node *node = &m->node[body->node];
    const double *armature = m->dof_armature + body->v_index;
    switch ((kk_joint_type)body->joint_type) {
    case KK_JOINT_HINGE:
    case KK_JOINT_SCREW:
    case KK_JOINT_CYLINDRICAL: return turns_about_z(node, armature[0]);
    case KK_JOINT_UNIVERSAL: return turns_about_z(node, armature[1]);
    case KK_JOINT_PLANAR: return turns_about_z(node, armature[2]);
    case KK_JOINT_BALL:
    case KK_JOINT_FREE: return turns_every_way(node, armature);
    default: return 1;
    }
}

static kk_status check_body(const kk_spec *spec, const kk_model *m, int b, double mass_behind, kk_error *error) {
    const kki_body *body = &m->body[b];
    const kki_item item = kki_item_joint(&spec->body[b]);
    for (int i = body->v_index; i < body->v_index + body->nv; i++) {
        if (!(mass_behind + m->dof_armature[i] > 0)) {
            return kki_item_error(error, KK_INVALID_MODEL, item,
                                  "nothing behind it has mass, so no force could move it; give a body behind "
                                  "it an inertia, or the joint an armature");
        }
    }
    const int is_end = body->nv > 0 && m->dof_subtree[body->v_index] == body->v_index + body->nv;
    if (is_end && !end_turns(m, body)) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "what it turns has no moment of inertia about it; give the body a moment of "
                              "inertia, or the joint an armature");
    }
    return KK_OK;
}

static kk_status check_finite(const kk_spec *spec, const kk_model *m, int b, kk_error *error) {
    const kki_node *node = &m->node[m->body[b].node];
    const double travel =
        m->body[b].X_NB.p.x + m->body[b].X_NB.p.y + m->body[b].X_NB.p.z + node->p[0] + node->p[1] + node->p[2];
    if (__builtin_isfinite(trace(node) + node->mass + travel + node->h[0] + node->h[1] + node->h[2])) {
        return KK_OK;
    }
    return kki_item_error(error, KK_NOT_FINITE, kki_item_body(&spec->body[b]),
                          "its inertia or position overflows once folded with its neighbors; check the units");
}

void kki_mass_behind(const kk_spec *spec, double *mass) {
    for (int i = 0; i < spec->nbody; i++) {
        mass[i] = spec->body[i].inertia.mass;
    }
    for (int i = spec->nbody - 1; i > 0; i--) {
        const int parent = spec->body[i].parent;
        mass[parent >= 0 && parent < i ? parent : KK_WORLD] += mass[i];
    }
}

bool kki_moves_nothing(const kk_joint_def *joint, double mass_behind) {
    const int nv = kki_joint_type_of(joint->type)->nv;
    bool has_all = true;
    for (int i = 0; i < nv; i++) {
        has_all = has_all && mass_behind + joint->dof[i].armature > 0;
    }
    return !has_all;
}

kk_status kki_check_motion(const kk_spec *spec, const kk_model *m, double *scratch, kk_error *error) {
    double *mass_behind = scratch;
    for (int i = 0; i < m->nbody; i++) {
        mass_behind[i] = m->body[i].inertia.mass;
    }
    for (int i = m->nbody - 1; i > 0; i--) {
        mass_behind[m->body[i].parent] += mass_behind[i];
    }
    kk_status status = KK_OK;
    for (int i = 0; i < m->nbody && status == KK_OK; i++) {
        status = check_finite(spec, m, i, error);
        status = status ? status : check_body(spec, m, i, mass_behind[i], error);
    }
    return status;
}
