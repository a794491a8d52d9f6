/// Poses of all nodes in the world, R_WN and p_WN, and the arm r from each parent's origin, all in world axes.
#ifndef KKI_DYNAMICS_KERNELS_KINEMATICS_H
#define KKI_DYNAMICS_KERNELS_KINEMATICS_H

#include "model/model.h"
#include "scratch.h"
#include "trig.h"

KKI_INLINE vec3 load3(const double *x, size_t i, size_t stride) {
    return v_make(r_load(x, i, stride), r_load(x, i + 1, stride), r_load(x, i + 2, stride));
}
KKI_INLINE void store3(double *x, size_t i, size_t stride, vec3 a) {
    r_store(x, i, stride, v_x(a));
    r_store(x, i + 1, stride, v_y(a));
    r_store(x, i + 2, stride, v_z(a));
}
KKI_INLINE mat3 load_quat(const double *q, size_t i, size_t stride) {
    return m_from_quat(r_load(q, i, stride), r_load(q, i + 1, stride), r_load(q, i + 2, stride), r_load(q, i + 3, stride));
}

KKI_INLINE void pose_of_world(world_node *x) {
    const real o = r_const(0.0), i = r_const(1.0);
    x->R = (mat3){{v_make(i, o, o), v_make(o, i, o), v_make(o, o, i)}};
    x->r = x->o = x->p = v_zero();
}

/// One node from its parent.
KKI_INLINE void pose_of_node(const kki_node *b, const double *q, size_t stride, real sine, real cosine, const world_node *parent,
                             world_node *x) {
    const size_t i = (size_t)b->q_index;
    const mat3 R0 = m_mul_m_const(&parent->R, b->R);
    vec3 r = m_mul_const(&parent->R, b->p);
    if (b->type == KKI_NODE_HINGE || b->type == KKI_NODE_SCREW) {
        x->R.c[0] = v_add(v_scale(R0.c[0], cosine), v_scale(R0.c[1], sine));
        x->R.c[1] = v_sub(v_scale(R0.c[1], cosine), v_scale(R0.c[0], sine));
        x->R.c[2] = R0.c[2];
        if (b->type == KKI_NODE_SCREW) {
            r = v_add(r, v_scale(R0.c[2], r_load(q, i, stride) * r_const(b->pitch)));
        }
    } else if (b->type == KKI_NODE_SLIDE) {
        x->R = R0;
        r = v_add(r, v_scale(R0.c[2], r_load(q, i, stride)));
    } else {
        const mat3 Q = load_quat(q, i, stride);
        x->R = m_mul_m(&R0, &Q);
        if (b->type == KKI_NODE_FREE) {
            r = v_add(r, m_mul(&R0, load3(q, i + 4, stride)));
        }
    }
    x->r = r;
    x->o = b->parent > 0 ? v_add(parent->o, r) : v_zero();
    x->p = v_add(parent->p, r);
}

KKI_INLINE void poses_of_nodes(const kk_model *m, kki_scratch *S, const double *q, size_t stride) {
    const real *sine = (const real *)S->sine, *cosine = (const real *)S->cosine;
    world_node *x = S->pose;
    trig_of_nodes(m, q, stride, S);
    pose_of_world(&x[0]);
    for (int i = 1; i < m->nnode; i++) {
        const kki_node *b = &m->node[i];
        pose_of_node(b, q, stride, sine[i], cosine[i], &x[b->parent], &x[i]);
    }
}

#endif
