/// Numbers nodes, coordinates and degrees of freedom.
///
/// Parents come before children in the spec, so every tree walk is a loop over bodies: from the last to the first to
/// gather a subtree, from the first to the last to hand out what the parent knows. Nothing recurses, and everything
/// is O(n).
/// - Coordinates are numbered depth first, children in the order of their ids: a child starts where its parent's
///   earlier children end.
/// - Nodes are ordered by depth, ties by body id: a counting sort over the depths.
#include <string.h>

#include "model/compile.h"
#include "model/joint.h"

/// Arrays in the caller's scratch. Bodies: coordinates in the subtree, where the next child starts, depth of the node
/// it rides on.
typedef struct scratch_arrays {
    int32_t *subtree_nq, *subtree_nv; ///< [nbody]
    int32_t *next_q, *next_v;         ///< [nbody]
    int32_t *depth;                   ///< [nbody]
    int32_t *place;                   ///< [nnode + 1] number of the next node at each depth
} scratch_arrays;

size_t kki_order_scratch(const kk_model *m) {
    return 5 * (size_t)m->nbody + (size_t)m->nnode + 1;
}

static scratch_arrays split_scratch(const kk_model *m, int32_t *scratch) {
    const int32_t n = m->nbody;
    return (scratch_arrays){scratch, scratch + n, scratch + 2 * n, scratch + 3 * n, scratch + 4 * n, scratch + 5 * n};
}

// ---- bodies

static void copy_structure(const kk_spec *spec, kk_model *m) {
    for (int i = 0; i < m->nbody; i++) {
        kki_body *body = &m->body[i];
        const kk_joint_type type = i == KK_WORLD ? KK_JOINT_FIXED : spec->body[i].joint.type;
        body->parent = i == KK_WORLD ? -1 : spec->body[i].parent;
        body->joint_type = (int32_t)type;
        body->nq = kki_joint_type_of(type)->nq;
        body->nv = kki_joint_type_of(type)->nv;
    }
}

static void measure_subtrees(const kk_model *m, scratch_arrays s) {
    for (int i = 0; i < m->nbody; i++) {
        s.subtree_nq[i] = m->body[i].nq;
        s.subtree_nv[i] = m->body[i].nv;
    }
    for (int i = m->nbody - 1; i > 0; i--) {
        s.subtree_nq[m->body[i].parent] += s.subtree_nq[i];
        s.subtree_nv[m->body[i].parent] += s.subtree_nv[i];
    }
}

static void number_coordinates(kk_model *m, scratch_arrays s) {
    s.next_q[0] = s.next_v[0] = 0;
    for (int i = 0; i < m->nbody; i++) {
        kki_body *body = &m->body[i];
        const int32_t parent = i == KK_WORLD ? 0 : body->parent;
        body->q_index = s.next_q[parent];
        body->v_index = s.next_v[parent];
        s.next_q[parent] += s.subtree_nq[i];
        s.next_v[parent] += s.subtree_nv[i];
        // its own children start behind its own coordinates
        s.next_q[i] = body->q_index + body->nq;
        s.next_v[i] = body->v_index + body->nv;
    }
}

// ---- nodes

static void count_depths(const kk_model *m, scratch_arrays s) {
    memset(s.place, 0, ((size_t)m->nnode + 1) * sizeof *s.place);
    s.depth[0] = 0;
    s.place[0] = 1;
    for (int i = 1; i < m->nbody; i++) {
        const int nnode = kki_joint_type_of((kk_joint_type)m->body[i].joint_type)->nnode;
        s.depth[i] = s.depth[m->body[i].parent];
        for (int k = 0; k < nnode; k++) {
            s.place[++s.depth[i]]++;
        }
    }
}

/// Counts become the number of the first node at each depth.
static void sum_depths(const kk_model *m, scratch_arrays s) {
    int32_t next = 0;
    for (int d = 0; d <= m->nnode; d++) {
        const int32_t count = s.place[d];
        s.place[d] = next;
        next += count;
    }
}

static void place_world(kk_model *m) {
    m->node[0].type = KKI_NODE_WORLD;
    m->node[0].parent = -1;
    m->node_nv[0] = m->node_body[0] = m->node_mount[0] = 0;
    m->body[0].node = 0;
    m->body[0].first_node = -1;
}

static void place_node(kk_model *m, int32_t n, kki_node_type type, int32_t parent, int32_t body) {
    m->node[n].type = (int32_t)type;
    m->node[n].parent = parent;
    m->node_nv[n] = kki_node_type_nv(type);
    m->node_body[n] = body;
    m->node_mount[n] = m->body[body].parent;
}

/// A body's chain of nodes, each behind the last.
static void place_chain(kk_model *m, scratch_arrays s, int32_t b) {
    kki_body *body = &m->body[b];
    const kki_joint_type *type = kki_joint_type_of((kk_joint_type)body->joint_type);
    int32_t parent = m->body[body->parent].node, q = body->q_index, v = body->v_index;
    body->first_node = -1;
    for (int k = 0; k < type->nnode; k++) {
        const int32_t n = s.place[s.depth[b] - type->nnode + 1 + k]++;
        place_node(m, n, type->node[k].type, parent, b);
        m->node[n].q_index = q;
        m->node[n].v_index = v;
        q += kki_node_type_nq(type->node[k].type);
        v += kki_node_type_nv(type->node[k].type);
        body->first_node = k == 0 ? n : body->first_node;
        parent = n;
    }
    body->node = parent;
}

// ---- degrees of freedom

/// The last degree of freedom of a node, −1 for the world.
static int32_t last_dof(const kk_model *m, int32_t node) {
    return node == 0 ? -1 : m->node[node].v_index + m->node_nv[node] - 1;
}

static void link_dofs(kk_model *m, scratch_arrays s) {
    for (int32_t n = 1; n < m->nnode; n++) {
        const kki_body *body = &m->body[m->node_body[n]];
        const int32_t first = m->node[n].v_index;
        for (int32_t i = first; i < first + m->node_nv[n]; i++) {
            m->dof_node[i] = n;
            m->dof_parent[i] = i == first ? last_dof(m, m->node[n].parent) : i - 1;
            m->dof_subtree[i] = body->v_index + s.subtree_nv[m->node_body[n]];
        }
    }
}

void kki_order(const kk_spec *spec, kk_model *m, int32_t *scratch) {
    const scratch_arrays s = split_scratch(m, scratch);
    copy_structure(spec, m);
    measure_subtrees(m, s);
    number_coordinates(m, s);
    count_depths(m, s);
    sum_depths(m, s);
    place_world(m);
    for (int i = 1; i < m->nbody; i++) {
        place_chain(m, s, i);
    }
    link_dofs(m, s);
}
