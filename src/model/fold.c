/// Frames and inertias: from bodies behind joints to nodes.
///
/// With Np the node that the parent body P rides on, J the joint's frame at q = 0 and N a node of the joint's chain:
///     X_NpJ = X_NpP X_PJ,   X_NpN = X_NpJ R_JN,   X_NB = R_JNᵀ X_JB,
/// where R_JN turns z to the node's axis. Inside a chain all nodes share J's origin, so X_NN' = R_JNᵀ R_JN'. A node's
/// inertia is the sum over the bodies that ride on it of mass, first moment m c and moments about N's origin (parallel
/// axes); these add without a division, so massless bodies need no care.
#include "model/compile.h"
#include "model/joint.h"

// ---- storing, padded; adding 0 turns −0 into 0, so that equal models have equal bytes

static void store_vec(double out[4], kk_vec3 a) {
    out[0] = a.x + 0.0;
    out[1] = a.y + 0.0;
    out[2] = a.z + 0.0;
    out[3] = 0;
}

static void store_columns(double out[3][4], kk_mat3 R) {
    for (int j = 0; j < 3; j++) {
        store_vec(out[j], kk_mat3_column(R, j));
    }
}

static void store_placement(kki_node *node, kk_transform X_PN) {
    store_columns(node->R, X_PN.R);
    store_columns(node->Rt, kk_mat3_transpose(X_PN.R));
    store_vec(node->p, X_PN.p);
}

// ---- frames

static kk_transform turned(kk_mat3 R) {
    return kk_transform_make(R, kk_vec3_make(0, 0, 0));
}

static int same_direction(kk_vec3 a, kk_vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/// Places the nodes of a body's chain; gives R_JN of the last one.
static kk_mat3 place_chain(kk_model *m, const kki_body *body, const kk_joint_def *joint, kk_transform X_NpJ) {
    const kki_joint_type *type = kki_joint_type_of(joint->type);
    const kki_joint_axes axes = kki_joint_axes_of(joint);
    kk_mat3 R_JL = kk_mat3_identity(); // of the last node placed
    int32_t n = body->node;
    // from the last node to the first, because only a node's parent is known
    for (int k = type->nnode - 1; k >= 0; k--, n = m->node[n].parent) {
        const kki_joint_axis axis = type->node[k].axis;
        const kk_mat3 R_JN = axis == KKI_AXIS_NONE ? kk_mat3_identity() : kki_rotation_with_z(axes.unit[axis]);
        R_JL = k == type->nnode - 1 ? R_JN : R_JL;
        if (k == 0) {
            store_placement(&m->node[n], axis == KKI_AXIS_NONE ? X_NpJ : kk_transform_mul(X_NpJ, turned(R_JN)));
            continue;
        }
        // one axis twice (cylindrical): exactly no turn
        const kk_vec3 before = axes.unit[type->node[k - 1].axis];
        const int same = same_direction(before, axes.unit[axis]);
        const kk_mat3 R_BN = kk_mat3_mul(kk_mat3_transpose(kki_rotation_with_z(before)), R_JN);
        store_placement(&m->node[n], turned(same ? kk_mat3_identity() : R_BN));
    }
    return R_JL;
}

static void place_body(const kk_spec *spec, kk_model *m, int b) {
    kki_body *body = &m->body[b];
    const kk_body_def *def = &spec->body[b];
    const kk_transform X_PJ = kki_clean_transform(def->joint.placement), X_JB = kki_clean_transform(def->offset);
    const kk_transform X_NpJ = kk_transform_mul(m->body[body->parent].X_NB, X_PJ);
    body->X_PB = kk_transform_mul(X_PJ, X_JB);
    if (body->first_node < 0) {
        body->X_NB = kk_transform_mul(X_NpJ, X_JB);
        return;
    }
    const kk_mat3 R_JN = place_chain(m, body, &def->joint, X_NpJ);
    body->X_NB = kk_transform_mul(turned(kk_mat3_transpose(R_JN)), X_JB);
    m->node[body->node].pitch = def->joint.type == KK_JOINT_SCREW ? def->joint.pitch : 0;
}

// ---- inertias

static void add_inertia(kki_node *node, kk_transform X_NB, kk_inertia inertia) {
    const kk_inertia I = kk_inertia_to(X_NB, inertia);
    const kk_mat3 about_origin = kk_sym3_to_mat3(kk_sym3_add(I.moment, kk_sym3_point_mass(I.mass, I.com)));
    node->mass += I.mass;
    node->h[0] += I.mass * I.com.x;
    node->h[1] += I.mass * I.com.y;
    node->h[2] += I.mass * I.com.z;
    for (int k = 0; k < 9; k++) {
        node->inertia[k / 3][k % 3] += about_origin.m[k];
    }
}

/// Cholesky root of a node's moments. A moment that is zero to rounding (a rod about its own axis, a massless node) leaves its
/// column zero: the moments are positive semi-definite, so nothing but rounding is lost.
static void store_root(kki_node *node) {
    const double(*A)[4] = node->inertia;
    double(*L)[4] = node->inertia_root;
    const double floor = 1e-15 * (A[0][0] + A[1][1] + A[2][2]);
    for (int j = 0; j < 3; j++) {
        for (int i = j; i < 3; i++) {
            double s = A[j][i];
            for (int k = 0; k < j; k++) {
                s -= L[k][i] * L[k][j];
            }
            if (i == j) {
                L[j][j] = s > floor ? __builtin_sqrt(s) : 0;
            } else {
                L[j][i] = L[j][j] > 0 ? s / L[j][j] : 0;
            }
        }
    }
}

// ---- degrees of freedom

static void copy_dofs(const kk_spec *spec, kk_model *m, int b) {
    const kki_body *body = &m->body[b];
    for (int k = 0; k < body->nv; k++) {
        kk_dof_def dof = spec->body[b].joint.dof[k];
        dof.armature += dof.rotor_inertia * dof.gear_ratio * dof.gear_ratio;
        m->dof[body->v_index + k] = dof;
        m->dof_armature[body->v_index + k] = dof.armature;
    }
}

/// Children of every body in a list, in their order.
static void link_bodies(kk_model *m) {
    for (int i = 0; i < m->nbody; i++) {
        m->body[i].first_child = m->body[i].next_sibling = -1;
    }
    for (int i = m->nbody - 1; i > KK_WORLD; i--) {
        kki_body *parent = &m->body[m->body[i].parent];
        m->body[i].next_sibling = parent->first_child;
        parent->first_child = i;
    }
}

/// A node of one degree of freedom goes on with the stretch before it where no other lies between them.
static void stretch_to(kk_model *m, const kki_node *n) {
    kki_stretch *last = m->stretch + (m->nstretch > 0 ? m->nstretch - 1 : 0);
    if (m->nstretch > 0 && last->q_index + last->count == n->q_index && last->v_index + last->count == n->v_index) {
        last->count++;
    } else {
        m->stretch[m->nstretch++] = (kki_stretch){n->q_index, n->v_index, 1};
    }
}

static void finish_nodes(kk_model *m) {
    for (int i = 1; i < m->nnode; i++) {
        kki_node *n = &m->node[i];
        m->angle_index[i] = n->q_index;
        n->armature = 0;
        if (m->node_nv[i] != 1) {
            m->broad[m->nbroad++] = i;
        }
    }
    for (int k = 0; k < m->nv; k++) { // in this order: nodes are sorted by depth, and those of a branch lie apart
        const int i = m->dof_node[k];
        if (m->node_nv[i] == 1) {
            m->node[i].armature = m->dof_armature[k];
            stretch_to(m, &m->node[i]);
        }
    }
}

static void copy_frames(const kk_spec *spec, kk_model *m) {
    for (int i = 0; i < m->nframe; i++) {
        m->frame[i].body = spec->frame[i].body;
        m->frame[i].X_BF = kki_clean_transform(spec->frame[i].placement);
    }
}

void kki_fold(const kk_spec *spec, kk_model *m) {
    store_placement(&m->node[0], kk_transform_identity());
    m->body[0].X_NB = m->body[0].X_PB = kk_transform_identity();
    for (int i = 0; i < m->nbody; i++) {
        if (i != KK_WORLD) {
            place_body(spec, m, i);
            copy_dofs(spec, m, i);
        }
        m->body[i].inertia = spec->body[i].inertia;
        m->body[i].gravity_compensation = spec->body[i].gravity_compensation;
        m->total_mass += spec->body[i].inertia.mass;
        add_inertia(&m->node[m->body[i].node], m->body[i].X_NB, spec->body[i].inertia);
    }
    link_bodies(m);
    finish_nodes(m);
    copy_frames(spec, m);
}

void kki_roots(kk_model *m) {
    for (int n = 0; n < m->nnode; n++) {
        store_root(&m->node[n]);
    }
}
