/// The model's nodes as the kernels read them.
#ifndef KKI_DYNAMICS_KERNELS_NODE_H
#define KKI_DYNAMICS_KERNELS_NODE_H

#include "algebra.h"
#include "kernels.h"

#if KKI_LANES == 1

typedef kki_node knode;

KKI_INLINE const knode *node_of(const kk_model *m, const kki_scratch *S, int i) {
    (void)S;
    return &m->node[i];
}

#else

/// kki_node with its numbers spread over the lanes.
typedef struct {
    konst R[3][3], p[3];
    konst inertia[3][3], inertia_root[3][3], h[3], mass;
    konst pitch, armature;
    int32_t type, parent, q_index, v_index, has_arm, is_leaf, is_last, aligned, is_bare, is_central;
} knode;

KKI_INLINE const knode *node_of(const kk_model *m, const kki_scratch *S, int i) {
    (void)m;
    return (const knode *)S->nodes + i;
}

KKI_INLINE void spread3(konst out[3], const double in[4]) {
    for (int k = 0; k < 3; k++) {
        out[k] = r_const(in[k]);
    }
}

KKI_INLINE void spread_node(knode *out, const kki_node *in) {
    for (int j = 0; j < 3; j++) {
        spread3(out->R[j], in->R[j]);
        spread3(out->inertia[j], in->inertia[j]);
        spread3(out->inertia_root[j], in->inertia_root[j]);
    }
    spread3(out->p, in->p);
    spread3(out->h, in->h);
    out->mass = r_const(in->mass);
    out->pitch = r_const(in->pitch);
    out->armature = r_const(in->armature);
    out->type = in->type;
    out->parent = in->parent;
    out->q_index = in->q_index;
    out->v_index = in->v_index;
    out->aligned = in->aligned;
    out->has_arm = in->has_arm;
    out->is_leaf = in->is_leaf;
    out->is_last = in->is_last;
    out->is_bare = in->is_bare;
    out->is_central = in->is_central;
}

#endif

/// R_PN(0)ᵀ x, with a full matrix.
KKI_INLINE vec3 placement_in(const knode *b, vec3 x) {
#if KKI_LANES == 1
    const mat3 Rt = m_const(b->Rt);
    return m_mul(&Rt, x);
#else
    const mat3 R = m_const(b->R);
    const mat3 Rt = m_transpose(R);
    return m_mul(&Rt, x);
#endif
}

#endif
