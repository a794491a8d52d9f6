/// Poses of all nodes in the world, R_WN and p_WN, and the arm r from each parent's origin, all in world axes.
///
/// Consecutive axes often meet in a point (hips, shoulders, wrists). Such a node has no arm, and everything that an arm would carry
/// (shifts of inertias, leverage of forces) is left out.
#ifndef KKI_DYNAMICS_KERNELS_KINEMATICS_H
#define KKI_DYNAMICS_KERNELS_KINEMATICS_H

#include "node.h"
#include "rows.h"
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
    return m_from_quat(r_load(q, i, stride), r_load(q, i + 1, stride), r_load(q, i + 2, stride),
                       r_load(q, i + 3, stride));
}

KKI_INLINE void pose_of_world(world_node *x) {
    m_identity(&x->R);
    x->r = x->o = x->p = v_zero();
}

/// From the parent's origin to the node's, with what the joint slides.
KKI_INLINE vec3 arm_of_node(const knode *b, const double *q, size_t stride, const world_node *parent, const mat3 *R0) {
    const size_t i = (size_t)b->q_index;
    const vec3 r = b->parent == 0 ? v_const(b->p) : m_mul_const(&parent->R, b->p);
    if (b->type == KKI_NODE_SLIDE) {
        return v_add(r, v_scale(R0->c[2], r_load(q, i, stride)));
    }
    if (b->type == KKI_NODE_SCREW) {
        return v_add(r, v_scale(R0->c[2], r_load(q, i, stride) * b->pitch));
    }
    if (b->type == KKI_NODE_FREE) {
        return v_add(r, m_mul(R0, load3(q, i + 4, stride)));
    }
    return r;
}

/// Which positions a pose needs beside the arm: from the root, from the world. Constants at every call.
enum { POSE_ARM = 0, POSE_OFFSET = 1, POSE_POSITION = 2 };

/// Axes of a node whose joint has not moved, R_WP R_PN(0).
KKI_INLINE void axes_at_rest(const knode *b, const mat3 *P, mat3 *R0) {
    const vec3 x = v_load(&P->c[0]), y = v_load(&P->c[1]), z = v_load(&P->c[2]);
    const vec3 o = v_zero(); // 0 − x: a pose has no zeros with a sign
    switch (b->aligned) {
    case KKI_ALIGNED_SAME: *R0 = (mat3){{x, y, z}}; return;
    case KKI_ALIGNED_X_FORTH: *R0 = (mat3){{x, z, v_sub(o, y)}}; return;
    case KKI_ALIGNED_X_BACK: *R0 = (mat3){{x, v_sub(o, z), y}}; return;
    case KKI_ALIGNED_Y_FORTH: *R0 = (mat3){{v_sub(o, z), y, x}}; return;
    case KKI_ALIGNED_Y_BACK: *R0 = (mat3){{z, y, v_sub(o, x)}}; return;
    case KKI_ALIGNED_X:
        R0->c[0] = x;
        R0->c[1] = v_add(v_scale(P->c[1], b->R[1][1]), v_scale(P->c[2], b->R[1][2]));
        R0->c[2] = v_sub(v_scale(P->c[2], b->R[1][1]), v_scale(P->c[1], b->R[1][2]));
        return;
    case KKI_ALIGNED_Y:
        R0->c[0] = v_sub(v_scale(P->c[0], b->R[2][2]), v_scale(P->c[2], b->R[2][0]));
        R0->c[1] = y;
        R0->c[2] = v_add(v_scale(P->c[2], b->R[2][2]), v_scale(P->c[0], b->R[2][0]));
        return;
    default: *R0 = m_mul_m_const(P, b->R);
    }
}

/// One node from its parent.
KKI_INLINE void pose_of_node(const knode *b, const double *q, size_t stride, real sine, real cosine,
                             const world_node *parent, world_node *x, int wanted) {
    mat3 R0;
    if (b->parent == 0) {
        R0 = m_const(b->R); // the world's axes are the world's axes
    } else {
        axes_at_rest(b, &parent->R, &R0);
    }
    if (b->type == KKI_NODE_HINGE || b->type == KKI_NODE_SCREW) {
        x->R.c[0] = v_add(v_scale(R0.c[0], cosine), v_scale(R0.c[1], sine));
        x->R.c[1] = v_sub(v_scale(R0.c[1], cosine), v_scale(R0.c[0], sine));
        x->R.c[2] = R0.c[2];
    } else if (b->type == KKI_NODE_SLIDE) {
        x->R = R0;
    } else {
        const mat3 Q = load_quat(q, (size_t)b->q_index, stride);
        x->R = m_mul_m(&R0, &Q);
    }
    if (b->has_arm) {
        x->r = arm_of_node(b, q, stride, parent, &R0);
    } else {
        x->r = v_zero();
    }
    if (wanted & POSE_OFFSET) {
        x->o = b->parent > 0 ? v_add(parent->o, x->r) : v_zero();
    }
    if (wanted & POSE_POSITION) {
        x->p = v_add(parent->p, x->r);
    }
}

/// @param from  NULL, or poses only of nodes with from[i] ≥ 0, as if that one were their parent: another of them, or the world
KKI_INLINE void poses_of_nodes(const kk_model *m, kki_scratch *S, world_node *x, int wanted, const double *q,
                               size_t stride, const int32_t *from) {
    const real *sine = (const real *)S->sine, *cosine = (const real *)S->cosine;
    trig_of_nodes(m, q, stride, S);
    pose_of_world(&x[0]);
    for (int i = 1; i < m->nnode; i++) {
        const knode *b = node_of(m, S, i);
        const int parent = from ? from[i] : b->parent;
        if (parent >= 0) {
            pose_of_node(b, q, stride, sine[i], cosine[i], &x[parent], &x[i], wanted);
        }
    }
}

/// The joint's own velocity and acceleration, in the node's frame.
typedef struct {
    vec3 w, al; ///< angular
    vec3 u, du; ///< linear
} joint_motion;

KKI_INLINE joint_motion joint_motion_of(const knode *b, const double *v, const double *a, size_t stride) {
    const size_t i = (size_t)b->v_index;
    joint_motion m = {v_zero(), v_zero(), v_zero(), v_zero()};
    if (b->type == KKI_NODE_HINGE) {
        m.w = v_add_z(v_zero(), r_load(v, i, stride));
        m.al = v_add_z(v_zero(), r_load(a, i, stride));
    } else if (b->type == KKI_NODE_SLIDE) {
        m.u = v_add_z(v_zero(), r_load(v, i, stride));
        m.du = v_add_z(v_zero(), r_load(a, i, stride));
    } else if (b->type == KKI_NODE_SCREW) {
        m.w = v_add_z(v_zero(), r_load(v, i, stride));
        m.al = v_add_z(v_zero(), r_load(a, i, stride));
        m.u = v_scale(m.w, b->pitch);
        m.du = v_scale(m.al, b->pitch);
    } else {
        m.w = load3(v, i, stride);
        m.al = load3(a, i, stride);
        if (b->type == KKI_NODE_FREE) {
            m.u = load3(v, i + 3, stride);
            m.du = load3(a, i + 3, stride);
        }
    }
    return m;
}

/// Its velocity alone.
KKI_INLINE joint_motion joint_speed_of(const knode *b, const double *v, size_t stride) {
    joint_motion m = joint_motion_of(b, v, v, stride);
    m.al = m.du = v_zero();
    return m;
}

/// Velocity and acceleration of one node, behind its pose.
KKI_INLINE void rates_of_node(const knode *b, const double *v, const double *a, size_t stride, const world_node *x,
                              const world_rates *p, world_rates *s) {
    const joint_motion j = joint_motion_of(b, v, a, stride);
    const vec3 w = m_mul(&x->R, j.w), u = m_mul(&x->R, j.u);
    const vec3 lever = v_cross(p->w, x->r);
    s->w = v_add(p->w, w);
    s->u = v_add(v_add(p->u, lever), u);
    s->al = v_add(v_add(p->al, v_cross(p->w, w)), m_mul(&x->R, j.al));
    // carried along, Coriolis, the joint's own
    const vec3 carried = v_add(p->a, v_add(v_cross(p->al, x->r), v_cross(p->w, lever)));
    s->a = v_add(v_add(carried, v_cross(v_add(v_add(p->w, p->w), w), u)), m_mul(&x->R, j.du));
}

KKI_INLINE void rates_of_nodes(const kk_model *m, kki_scratch *S, const double *v, const double *a, size_t stride) {
    const world_node *x = S->pose;
    world_rates *s = S->rates;
    s[0].w = s[0].u = s[0].al = s[0].a = v_zero();
    for (int i = 1; i < m->nnode; i++) {
        const knode *b = node_of(m, S, i);
        rates_of_node(b, v, a, stride, &x[i], &s[b->parent], &s[i]);
    }
}

#endif
