/// Inverse dynamics by the recursive Newton-Euler algorithm in link frames.
///
/// Luh, Walker and Paul (1980): angular velocity, angular acceleration and the *classical* acceleration of each origin go outwards
/// (no linear velocities), forces come inwards. Gravity enters as an acceleration of the world against it. With the arm r from parent
/// to child and the spin matrix Ψ = ω ωᵀ − |ω|² 1 + [α] of the parent:
///     a = Rᵀ (a_p + Ψ r) + joint,   f = m a + Ψ h,   n = J α + ω × J ω + h × a,
/// h = m c and J about the node's origin. A hinge's rotation is applied in two halves, the constant R_PN(0), mostly a
/// turn about x (model/align.c), and the turn about z, so that no rotation matrix is ever formed.
#ifndef KKI_DYNAMICS_KERNELS_RNEA_H
#define KKI_DYNAMICS_KERNELS_RNEA_H

#include "kernels.h"
#include "kinematics.h"

/// Turns about an axis, from the parent ("in") and to it ("out"):
///     about z: (c x ± s y, c y ∓ s x, z),   about x: (x, c y ± s z, c z ∓ s y),   about y: (c x ∓ s z, y, c z ± s x).
#if KKI_QUAD
typedef struct {
    quad c, s;
} turn;
KKI_INLINE turn turn_x(real s, real c) {
    return (turn){{1, c, c, 1}, {0, s, -s, 0}};
}
KKI_INLINE turn turn_y(real s, real c) {
    return (turn){{c, 1, c, 1}, {-s, 0, s, 0}};
}
KKI_INLINE turn turn_z(real s, real c) {
    return (turn){{c, c, 1, 1}, {s, -s, 0, 0}};
}
KKI_INLINE vec3 turn_x_in(turn t, vec3 x) {
    return x * t.c + __builtin_shufflevector(x, x, 0, 2, 1, 3) * t.s;
}
KKI_INLINE vec3 turn_x_out(turn t, vec3 x) {
    return x * t.c - __builtin_shufflevector(x, x, 0, 2, 1, 3) * t.s;
}
KKI_INLINE vec3 turn_y_in(turn t, vec3 x) {
    return x * t.c + __builtin_shufflevector(x, x, 2, 1, 0, 3) * t.s;
}
KKI_INLINE vec3 turn_y_out(turn t, vec3 x) {
    return x * t.c - __builtin_shufflevector(x, x, 2, 1, 0, 3) * t.s;
}
KKI_INLINE vec3 turn_z_in(turn t, vec3 x) {
    return x * t.c + __builtin_shufflevector(x, x, 1, 0, 2, 3) * t.s;
}
KKI_INLINE vec3 turn_z_out(turn t, vec3 x) {
    return x * t.c - __builtin_shufflevector(x, x, 1, 0, 2, 3) * t.s;
}
/// A quarter turn, forth for s = 1 and back for s = −1: about x (x, ± s z, ∓ s y), about y (∓ s z, y, ± s x).
KKI_INLINE vec3 quarter_x_in(double s, vec3 x) {
    return __builtin_shufflevector(x, x, 0, 2, 1, 3) * (quad){1, s, -s, 1};
}
KKI_INLINE vec3 quarter_y_in(double s, vec3 x) {
    return __builtin_shufflevector(x, x, 2, 1, 0, 3) * (quad){-s, 1, s, 1};
}
#else
typedef struct {
    real c, s;
} turn;
KKI_INLINE turn turn_x(real s, real c) {
    return (turn){c, s};
}
KKI_INLINE turn turn_y(real s, real c) {
    return (turn){c, s};
}
KKI_INLINE turn turn_z(real s, real c) {
    return (turn){c, s};
}
KKI_INLINE vec3 turn_x_in(turn t, vec3 x) {
    return v_make(x.x, x.y * t.c + x.z * t.s, x.z * t.c - x.y * t.s);
}
KKI_INLINE vec3 turn_x_out(turn t, vec3 x) {
    return v_make(x.x, x.y * t.c - x.z * t.s, x.z * t.c + x.y * t.s);
}
KKI_INLINE vec3 turn_y_in(turn t, vec3 x) {
    return v_make(x.x * t.c - x.z * t.s, x.y, x.z * t.c + x.x * t.s);
}
KKI_INLINE vec3 turn_y_out(turn t, vec3 x) {
    return v_make(x.x * t.c + x.z * t.s, x.y, x.z * t.c - x.x * t.s);
}
KKI_INLINE vec3 turn_z_in(turn t, vec3 x) {
    return v_make(x.x * t.c + x.y * t.s, x.y * t.c - x.x * t.s, x.z);
}
KKI_INLINE vec3 turn_z_out(turn t, vec3 x) {
    return v_make(x.x * t.c - x.y * t.s, x.y * t.c + x.x * t.s, x.z);
}
KKI_INLINE vec3 quarter_x_in(double s, vec3 x) {
    return s > 0 ? v_make(x.x, x.z, -x.y) : v_make(x.x, -x.z, x.y);
}
KKI_INLINE vec3 quarter_y_in(double s, vec3 x) {
    return s > 0 ? v_make(-x.z, x.y, x.x) : v_make(x.z, x.y, -x.x);
}
#endif

/// The constant half of a hinge's rotation, from the parent and to it. `aligned` is a constant at every call.
KKI_INLINE vec3 hinge_in(const knode *b, int aligned, vec3 x) {
    switch (aligned) {
    case KKI_ALIGNED_SAME: return x;
    case KKI_ALIGNED_X_FORTH: return quarter_x_in(1, x);
    case KKI_ALIGNED_X_BACK: return quarter_x_in(-1, x);
    case KKI_ALIGNED_Y_FORTH: return quarter_y_in(1, x);
    case KKI_ALIGNED_Y_BACK: return quarter_y_in(-1, x);
    case KKI_ALIGNED_X: return turn_x_in(turn_x(b->R[1][2], b->R[1][1]), x);
    case KKI_ALIGNED_Y: return turn_y_in(turn_y(b->R[2][0], b->R[2][2]), x);
    default: return placement_in(b, x);
    }
}
KKI_INLINE vec3 hinge_out(const knode *b, int aligned, vec3 x) {
    const mat3 R = m_const(b->R);
    switch (aligned) {
    case KKI_ALIGNED_SAME: return x;
    case KKI_ALIGNED_X_FORTH: return quarter_x_in(-1, x);
    case KKI_ALIGNED_X_BACK: return quarter_x_in(1, x);
    case KKI_ALIGNED_Y_FORTH: return quarter_y_in(-1, x);
    case KKI_ALIGNED_Y_BACK: return quarter_y_in(1, x);
    case KKI_ALIGNED_X: return turn_x_out(turn_x(b->R[1][2], b->R[1][1]), x);
    case KKI_ALIGNED_Y: return turn_y_out(turn_y(b->R[2][0], b->R[2][2]), x);
    default: return m_mul(&R, x);
    }
}

/// A call made with each kind of alignment as a constant.
#define FOR_ALIGNMENT(kind, call)                               \
    switch (kind) {                                             \
    case KKI_ALIGNED_SAME: call(KKI_ALIGNED_SAME); break;       \
    case KKI_ALIGNED_X_FORTH: call(KKI_ALIGNED_X_FORTH); break; \
    case KKI_ALIGNED_X_BACK: call(KKI_ALIGNED_X_BACK); break;   \
    case KKI_ALIGNED_Y_FORTH: call(KKI_ALIGNED_Y_FORTH); break; \
    case KKI_ALIGNED_Y_BACK: call(KKI_ALIGNED_Y_BACK); break;   \
    case KKI_ALIGNED_X: call(KKI_ALIGNED_X); break;             \
    case KKI_ALIGNED_Y: call(KKI_ALIGNED_Y); break;             \
    default: call(KKI_ALIGNED_NOT); break;                      \
    }

/// Force and moment that move the node's inertia as it moves.
KKI_INLINE void rnea_load(const knode *b, local_node *s) {
    const sym3 J = s_const(b->inertia);
    const vec3 h = v_const(b->h);
    s->spin = m_spin(s->w, s->al);
    s->f = v_add(v_scale(s->a, b->mass), m_mul_const(&s->spin, b->h));
    s->n = v_add(v_add(s_mul(&J, s->al), v_cross(s->w, s_mul(&J, s->w))), v_cross(h, s->a));
}

/// Motion of a hinge that does not accelerate by itself.
KKI_INLINE void rnea_out_hinge(const knode *b, int aligned, turn t, real v, const local_node *p, local_node *s) {
    const vec3 w = turn_z_in(t, hinge_in(b, aligned, p->w));
    s->a = turn_z_in(t, hinge_in(b, aligned, b->has_arm ? v_add(p->a, m_mul_const(&p->spin, b->p)) : p->a));
    s->al = v_add(turn_z_in(t, hinge_in(b, aligned, p->al)), v_cross_z(w, v));
    s->w = v_add_z(w, v);
}

/// A root's hinge, and any other joint of a root: the world neither turns nor moves, it only accelerates against gravity.
KKI_INLINE void rnea_out_root_hinge(const knode *b, turn t, real v, real a, const local_node *world, local_node *s) {
    s->a = turn_z_in(t, hinge_in(b, KKI_ALIGNED_NOT, world->a));
    s->al = v_add_z(v_zero(), a);
    s->w = v_add_z(v_zero(), v);
}
KKI_INLINE void rnea_out_root(const local_pose *x, joint_motion m, const local_node *world, local_node *s) {
    s->a = v_add(m_mul(&x->Rt, world->a), v_add(v_cross(m.w, m.u), m.du));
    s->al = m.al;
    s->w = m.w;
}

KKI_INLINE void rnea_in_hinge(const knode *b, int aligned, turn t, const local_node *s, local_node *p) {
    const vec3 f = hinge_out(b, aligned, turn_z_out(t, s->f));
    const vec3 n = hinge_out(b, aligned, turn_z_out(t, s->n));
    p->f = v_add(p->f, f);
    p->n = v_add(p->n, b->has_arm ? v_add(n, v_cross(v_const(b->p), f)) : n);
}

/// Where a node that is not a plain hinge stands in its parent.
KKI_INLINE void rnea_pose(const knode *b, const double *q, size_t stride, real sine, real cosine, local_pose *x) {
    const size_t i = (size_t)b->q_index;
    const mat3 R0 = m_const(b->R);
    const vec3 p0 = v_const(b->p);
    if (b->type == KKI_NODE_SLIDE) {
        x->R = R0;
        x->p = v_add(p0, v_scale(R0.c[2], r_load(q, i, stride)));
    } else if (b->type == KKI_NODE_SCREW) {
        x->R.c[0] = v_add(v_scale(R0.c[0], cosine), v_scale(R0.c[1], sine));
        x->R.c[1] = v_sub(v_scale(R0.c[1], cosine), v_scale(R0.c[0], sine));
        x->R.c[2] = R0.c[2];
        x->p = v_add(p0, v_scale(R0.c[2], r_load(q, i, stride) * b->pitch));
    } else {
        const mat3 Q = load_quat(q, i, stride);
        x->R = m_mul_m(&R0, &Q);
        x->p = p0;
        if (b->type == KKI_NODE_FREE) {
            x->p = v_add(p0, m_mul(&R0, load3(q, i + 4, stride)));
        }
    }
    x->Rt = m_transpose(x->R);
}

KKI_INLINE void rnea_out_general(const local_pose *x, joint_motion m, const local_node *p, local_node *s) {
    const vec3 w = m_mul(&x->Rt, p->w);
    const vec3 carried = m_mul(&x->Rt, v_add(p->a, m_mul(&p->spin, x->p)));
    // the sliding origin meets Coriolis twice from the parent's turn, once from the joint's own
    const vec3 turned = v_add(v_add(w, w), m.w);
    s->a = v_add(carried, v_add(v_cross(turned, m.u), m.du));
    s->al = v_add(v_add(m_mul(&x->Rt, p->al), v_cross(w, m.w)), m.al);
    s->w = v_add(w, m.w);
}

KKI_INLINE void rnea_in_general(const local_pose *x, const local_node *s, local_node *p) {
    const vec3 f = m_mul(&x->R, s->f);
    const vec3 n = m_mul(&x->R, s->n);
    p->f = v_add(p->f, f);
    p->n = v_add(p->n, v_add(n, v_cross(x->p, f)));
}

/// What the joint itself must supply of the node's load.
KKI_INLINE void rnea_project(const knode *b, const double *armature, const local_node *s, const double *a, double *tau,
                             size_t stride) {
    const size_t i = (size_t)b->v_index;
    if (b->type == KKI_NODE_HINGE) {
        r_store(tau, i, stride, v_z(s->n) + b->armature * r_load(a, i, stride));
    } else if (b->type == KKI_NODE_SLIDE) {
        r_store(tau, i, stride, v_z(s->f) + b->armature * r_load(a, i, stride));
    } else if (b->type == KKI_NODE_SCREW) {
        const real t = v_z(s->n) + b->pitch * v_z(s->f);
        r_store(tau, i, stride, t + b->armature * r_load(a, i, stride));
    } else {
        const vec3 n = v_make(r_const(armature[i]), r_const(armature[i + 1]), r_const(armature[i + 2]));
        store3(tau, i, stride, v_add(s->n, v_hadamard(n, load3(a, i, stride))));
        if (b->type == KKI_NODE_FREE) {
            const vec3 f = v_make(r_const(armature[i + 3]), r_const(armature[i + 4]), r_const(armature[i + 5]));
            store3(tau, i + 3, stride, v_add(s->f, v_hadamard(f, load3(a, i + 3, stride))));
        }
    }
}

/// Roots to tips: motion and load of every node.
KKI_INLINE void rnea_outward(const kk_model *m, kki_scratch *S, const double *q, const double *v, const double *a,
                             size_t stride) {
    const real *sine = (const real *)S->sine, *cosine = (const real *)S->cosine;
    local_pose *pose = S->local_pose;
    local_node *node = S->local;
    trig_of_nodes(m, q, stride, S);
    node[0].w = node[0].al = v_zero();
    node[0].a = v_neg(v_of_doubles(m->gravity));
    rnea_load(node_of(m, S, 0), &node[0]);
    for (int i = 1; i < m->nnode; i++) {
        const knode *b = node_of(m, S, i);
        const local_node *p = &node[b->parent];
        if (b->type == KKI_NODE_HINGE) {
            const size_t k = (size_t)b->v_index;
            const turn t = turn_z(sine[i], cosine[i]);
            if (b->parent == 0) {
                rnea_out_root_hinge(b, t, r_load(v, k, stride), r_load(a, k, stride), p, &node[i]);
            } else {
#define OUT(kind) rnea_out_hinge(b, kind, t, r_load(v, k, stride), p, &node[i])
                FOR_ALIGNMENT(b->aligned, OUT)
#undef OUT
                node[i].al = v_add_z(node[i].al, r_load(a, k, stride));
            }
        } else {
            rnea_pose(b, q, stride, sine[i], cosine[i], &pose[i]);
            if (b->parent == 0) {
                rnea_out_root(&pose[i], joint_motion_of(b, v, a, stride), p, &node[i]);
            } else {
                rnea_out_general(&pose[i], joint_motion_of(b, v, a, stride), p, &node[i]);
            }
        }
        rnea_load(b, &node[i]);
    }
}

/// Tips to roots: project on to the joint, hand the rest to the parent.
KKI_INLINE void rnea_inward(const kk_model *m, kki_scratch *S, const double *a, double *tau, size_t stride) {
    const real *sine = (const real *)S->sine, *cosine = (const real *)S->cosine;
    const local_pose *pose = S->local_pose;
    local_node *node = S->local;
    for (int i = m->nnode - 1; i > 0; i--) {
        const knode *b = node_of(m, S, i);
        rnea_project(b, m->dof_armature, &node[i], a, tau, stride);
        if (b->type == KKI_NODE_HINGE) {
            const turn t = turn_z(sine[i], cosine[i]);
#define IN(kind) rnea_in_hinge(b, kind, t, &node[i], &node[b->parent])
            FOR_ALIGNMENT(b->aligned, IN)
#undef IN
        } else {
            rnea_in_general(&pose[i], &node[i], &node[b->parent]);
        }
    }
}

#endif
