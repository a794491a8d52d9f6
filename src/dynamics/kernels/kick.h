/// The kick of a step: what forces do to velocities at one configuration, in scaled coordinates.
///
/// The articulated-body elimination factors the inverse of M̂ = M + impedance (armature and what implicit springs and
/// dampers add to the diagonal) into X Xᵀ. With y = X⁻¹ v everything about a step is a plain product:
///     Y = Xᵀ Jᵀ   constraint rows (delassus.h),     J v = Yᵀ y,     J M̂⁻¹ Jᵀ = Yᵀ Y,
///     E = Xᵀ f    generalized forces, bias included, and velocities come back as Δv = X (h E + Y λ).
/// A degree of freedom with pivot U, D and the motion V of its node without it (but with those nearer to the root):
///     y = √D v + U·V/√D,    E = e/√D,    Δv = Δy/√D − U·ΔV/D.
/// Where the impedance is zero |y|²/2 is the kinetic energy.
///
/// Between kicks a free root keeps its velocity in *world* axes (drift.c), so its bias leaves out ω × u; and a body alone
/// on a free joint keeps its spatial momentum, so it has no bias but gravity. Where its origin is its center of mass, too, forces and
/// moments do not mix, and in its own axes its pivots are constants: no inertia is turned, and nothing is eliminated in world axes.
#ifndef KKI_DYNAMICS_KERNELS_KICK_H
#define KKI_DYNAMICS_KERNELS_KICK_H

#include "delassus.h"

/// Angular velocity of a free root.
KKI_INLINE vec3 kick_spin(const knode *b, const double *v, const world_node *x) {
    return m_mul(&x->R, load3(v, (size_t)b->v_index, 1));
}

/// Bias acceleration of a free root whose velocity stays as it is in world axes; a lone body's spin is not felt.
KKI_INLINE void kick_free_root(const knode *b, vec3 w, const world_motion *p, world_motion *s) {
    s->w = is_lone(b) ? v_zero() : w;
    s->al = v_zero();
    s->a = p->a;
}

/// Velocity of a node's origin, behind its pose.
KKI_INLINE vec3 kick_velocity(const knode *b, const double *v, const world_node *x, const world_rates *p) {
    const size_t i = (size_t)b->v_index;
    const vec3 z = x->R.c[2], u = b->has_arm ? v_add(p->u, v_cross(p->w, x->r)) : p->u;
    if (b->type == KKI_NODE_SLIDE) {
        return v_add(u, v_scale(z, v[i]));
    }
    if (b->type == KKI_NODE_SCREW) {
        return v_add(u, v_scale(v_scale(z, v[i]), b->pitch));
    }
    return b->type == KKI_NODE_FREE ? v_add(u, m_mul(&x->R, load3(v, i + 3, 1))) : u;
}

/// The world, and what hangs on angles. @param q  NULL: nothing does
KKI_INLINE void kick_world(const kk_model *m, kki_scratch *S, const double *q) {
    world_node *pose = S->pose;
    world_motion *motion = S->motion;
    world_rates *rates = S->rates;
    if (q) {
        trig_of_nodes(m, q, 1, S);
    }
    pose_of_world(&pose[0]);
    motion[0].w = motion[0].al = v_zero();
    motion[0].a = v_neg(v_of_doubles(m->gravity));
    motion[0].spin = m_spin(motion[0].w, motion[0].al);
    rates[0].w = rates[0].u = v_zero();
}

/// Weight of a central body.
KKI_INLINE void kick_load(const knode *b, const world_motion *world, articulated *A) {
    A->n = v_zero();
    A->f = v_scale(world->a, b->mass);
}

/// Angular velocity of a node that is no free root, behind its pose.
KKI_INLINE vec3 kick_turning(const knode *b, const double *v, const world_node *x, const world_rates *p) {
    const size_t i = (size_t)b->v_index;
    if (b->type == KKI_NODE_SLIDE) {
        return p->w;
    }
    if (b->type == KKI_NODE_HINGE || b->type == KKI_NODE_SCREW) {
        return v_add(p->w, v_scale(x->R.c[2], v[i]));
    }
    return v_add(p->w, m_mul(&x->R, load3(v, i, 1)));
}

/// One node from its parent. @param is_hinge  it is one: known where it is called, nothing else need be asked for
KKI_INLINE void kick_out(const knode *b, int is_hinge, kki_scratch *S, int i, const double *q, const double *v,
                         const double *v_bias, int loads) {
    world_node *pose = S->pose, x;
    world_motion *motion = S->motion, bias;
    world_rates *rates = S->rates;
    articulated *body = S->articulated, A;
    if (is_hinge && (b->type != KKI_NODE_HINGE || b->is_central)) {
        __builtin_unreachable();
    }
    pose_of_node(b, q, 1, S->sine[i], S->cosine[i], &pose[b->parent], &x, POSE_POSITION);
    const vec3 u = kick_velocity(b, v, &x, &rates[b->parent]);
    vec3 w;
    if (is_free_root(b)) {
        w = kick_spin(b, v, &x);
        kick_free_root(b, kick_spin(b, v_bias, &x), &motion[0], &bias);
    } else {
        aba_motion(b, v_bias, 1, &x, &motion[b->parent], &bias);
        w = kick_turning(b, v, &x, &rates[b->parent]);
    }
    if (!b->is_central) {
        aba_load(b, &x, &bias, &A);
        motion[i] = bias;
        body[i].J = A.J;
        body[i].n = A.n;
        body[i].f = A.f;
    } else if (loads) {
        kick_load(b, &motion[0], &body[i]);
    }
    pose[i].R = x.R;
    pose[i].r = x.r;
    pose[i].p = x.p;
    rates[i].w = w;
    rates[i].u = u;
}

/// Roots to tips: poses, velocities, bias, inertias. @param v_bias  velocities that the bias forces are those of
/// @param loads  false: no weights of central bodies
KKI_INLINE void kick_outward(const kk_model *m, kki_scratch *S, const double *q, const double *v, const double *v_bias,
                             int first, int end, int loads) {
    for (int i = first; i < end; i++) {
        const knode *b = node_of(m, S, i);
        if (b->type == KKI_NODE_HINGE) { // most are
            kick_out(b, 1, S, i, q, v, v_bias, loads);
            continue;
        }
        kick_out(b, 0, S, i, q, v, v_bias, loads);
    }
}

/// The pivot is made: what kick_scale goes on with.
KKI_INLINE void kick_note(const pivot *k, vec3 w, vec3 u, double *E, double *y, double *root) {
    *E = k->e;
    *y = v_dot2(k->Ua, w, k->Ul, u);
    *root = k->inverse_D;
}

/// Scaled forces and velocities of the pivots of a tree, and in `e` from now on 1/√D. Of all at once: next to its pivot everything behind would wait for a root and
/// a quotient that nobody needs yet.
KKI_INLINE void kick_scale(int first, int end, const double *restrict v, double *restrict E, double *restrict y,
                           double *restrict root, pivot *k) {
    for (int j = first; j < end; j++) {
        const double s = __builtin_sqrt(root[j]);
        E[j] = E[j] * s;
        y[j] = v[j] / s + y[j] * s;
        root[j] = s;
    }
    for (int j = first; j < end; j++) {
        k[j].e = root[j];
    }
}

/// The axes of ball and free joints behind the first: velocities V of those nearer to the root are added one after the other.
/// @param w, u  V without any of them, at the node's origin
KKI_INLINE void kick_note_many(const knode *b, const double *v, vec3 w, vec3 u, pivot *axis, double *E, double *y,
                               double *root) {
    const int n = b->type == KKI_NODE_FREE ? 6 : 3;
    for (int j = 1; j < n; j++) {
        if (j <= 3) {
            w = v_add(w, v_scale(axis[j - 1].Sa, v[j - 1]));
        } else {
            u = v_add(u, v_scale(axis[j - 1].Sl, v[j - 1]));
        }
        kick_note(&axis[j], w, u, &E[j], &y[j], &root[j]);
        pivot_share(&axis[j]);
    }
}

/// Axes of a ball or free joint behind the first, with the diagonal's armature and impedance.
KKI_INLINE void kick_eliminate_many(const knode *b, articulated *A, pivot *axis, const double *diagonal,
                                    const double *tau) {
    if (b->type == KKI_NODE_FREE) {
        for (size_t k = 6; k-- > 3;) {
            aba_eliminate(A, &axis[k], 0, 1, diagonal[k], tau[k]);
        }
    }
    for (size_t k = 3; k-- > 1;) {
        aba_eliminate(A, &axis[k], 1, 0, diagonal[k], tau[k]);
    }
}

/// A pivot in the body's axes, with what it is made of: U = J S, D = U·S + impedance.
typedef struct {
    double U[3], D, inverse, root; ///< root: 1/√D
} own_pivot;

KKI_INLINE own_pivot own_pivot_of(double x, double y, double z, double D) {
    const double inverse = 1 / D;
    return (own_pivot){{x, y, z}, D, inverse, __builtin_sqrt(inverse)};
}

/// The three turns of a central body, z first: U and D of each, what the ones before have taken out of the moments.
KKI_INLINE void own_turns(const knode *b, const double *diagonal, own_pivot turn[3]) {
    const double xx = b->inertia[0][0], xy = b->inertia[0][1], xz = b->inertia[0][2];
    const double yy = b->inertia[1][1], yz = b->inertia[1][2], zz = b->inertia[2][2];
    turn[2] = own_pivot_of(xz, yz, zz, zz + diagonal[2]);
    const double i = turn[2].inverse, ax = xx - xz * xz * i, axy = xy - xz * yz * i, ay = yy - yz * yz * i;
    const double axz = xz - xz * zz * i, ayz = yz - yz * zz * i;
    turn[1] = own_pivot_of(axy, ay, ayz, ay + diagonal[1]);
    const double j = turn[1].inverse, x = ax - axy * axy * j;
    turn[0] = own_pivot_of(x, axy - axy * ay * j, axz - axy * ayz * j, x + diagonal[0]);
}

/// The moments' pivots, E and y. @param n  moment of the bias, in the body's axes
KKI_INLINE void kick_turns(const own_pivot turn[3], const mat3 *R, vec3 n, const double *tau, const double *v,
                           pivot *axis, double *E, double *y) {
    const own_pivot *X = &turn[0], *Y = &turn[1], *Z = &turn[2];
    const double ez = tau[2] - v_z(n), cz = ez * Z->inverse;
    const double ey = tau[1] - (v_y(n) + Z->U[1] * cz), cy = ey * Y->inverse;
    const double ex = tau[0] - ((v_x(n) + Z->U[0] * cz) + Y->U[0] * cy);
    E[0] = ex * X->root;
    E[1] = ey * Y->root;
    E[2] = ez * Z->root;
    y[0] = v[0] * (X->D * X->root);
    y[1] = v[1] * (Y->D * Y->root) + Y->U[0] * v[0] * Y->root;
    y[2] = v[2] * (Z->D * Z->root) + (Z->U[0] * v[0] + Z->U[1] * v[1]) * Z->root;
    for (int k = 0; k < 3; k++) {
        const own_pivot *p = &turn[k];
        axis[k].Sa = R->c[k];
        axis[k].Sl = axis[k].Ul = v_zero();
        axis[k].Ua = v_add(v_add(v_scale(R->c[0], p->U[0]), v_scale(R->c[1], p->U[1])), v_scale(R->c[2], p->U[2]));
        axis[k].inverse_D = p->inverse;
        axis[k].e = p->root;
    }
}

/// The forces' pivots, E and y. @param f  force of the bias, in the body's axes
KKI_INLINE void kick_slides(const knode *b, const double *diagonal, const mat3 *R, vec3 f, const double *tau,
                            const double *v, pivot *axis, double *E, double *y) {
    const double bias[3] = {v_x(f), v_y(f), v_z(f)};
    for (int k = 0; k < 3; k++) {
        const double D = b->mass + diagonal[k], inverse = 1 / D, root = __builtin_sqrt(inverse);
        E[k] = (tau[k] - bias[k]) * root;
        y[k] = v[k] * (D * root);
        axis[k].Sa = axis[k].Ua = v_zero();
        axis[k].Sl = R->c[k];
        axis[k].Ul = v_scale(R->c[k], b->mass);
        axis[k].inverse_D = inverse;
        axis[k].e = root;
    }
}

KKI_INLINE void kick_central(const knode *b, const mat3 *R, const articulated *A, pivot *axis, const double *diagonal,
                             const double *tau, const double *v, double *E, double *y) {
    own_pivot turn[3];
    own_turns(b, diagonal, turn);
    kick_turns(turn, R, m_tmul(R, A->n), tau, v, axis, E, y);
    kick_slides(b, diagonal + 3, R, m_tmul(R, A->f), tau + 3, v + 3, axis + 3, E + 3, y + 3);
}

/// A node on its way inward: what its children have left of it, and its joint's first pivot.
typedef struct {
    articulated A;
    pivot own;
} kicked;

/// The pivots of a joint, up to the first, which is not taken out yet. @param is_hinge  as kick_out
KKI_INLINE void kick_pivot(const knode *b, int is_hinge, kki_scratch *S, int i, const double *diagonal,
                           const double *tau, kicked *x) {
    const world_node *pose = (const world_node *)S->pose + i;
    const size_t k = (size_t)b->v_index;
    const double d = diagonal[k], t = tau[k];
    const int many = !is_hinge && (b->type == KKI_NODE_BALL || b->type == KKI_NODE_FREE);
    x->A = ((articulated *)S->articulated)[i];
    aba_complete(b, (const world_motion *)S->motion + i, &x->A);
    if (many) {
        pivot *axis = (pivot *)S->pivot + k;
        pivot_axes(b, &pose->R, axis);
        kick_eliminate_many(b, &x->A, axis, &diagonal[k], &tau[k]);
    }
    if (is_hinge || many || b->type == KKI_NODE_HINGE) {
        x->own.Sa = pose->R.c[many ? 0 : 2];
        x->own.Sl = v_zero();
        aba_pivot(&x->A, &x->own, 1, 0, d, t);
        return;
    }
    pivot_axis(b, pose->R.c[2], &x->own);
    if (b->type == KKI_NODE_SLIDE) {
        aba_pivot(&x->A, &x->own, 0, 1, d, t);
    } else {
        aba_pivot(&x->A, &x->own, 1, 1, d, t);
    }
}

/// What is left of the node behind its first pivot, to its parent; the pivots as they are wanted from now on.
KKI_INLINE void kick_pass(const knode *b, int is_hinge, kki_scratch *S, int i, const double *v, double *E, double *y,
                          kicked *x) {
    const world_rates *p = (const world_rates *)S->rates + b->parent;
    const vec3 r = ((const world_node *)S->pose)[i].r;
    const size_t k = (size_t)b->v_index;
    pivot *axis = (pivot *)S->pivot + k;
    double *root = S->load_rows; // free in a step
    const int has_arm = b->has_arm;
    aba_take(&x->A, &x->own);
    pivot_shift(&x->own, has_arm, r);
    kick_note(&x->own, p->w, p->u, &E[k], &y[k], &root[k]);
    pivot_share(&x->own);
    pivot_store(axis, &x->own);
    if (!is_hinge && (b->type == KKI_NODE_BALL || b->type == KKI_NODE_FREE)) {
        const vec3 u = has_arm ? v_add(p->u, v_cross(p->w, r)) : p->u;
        kick_note_many(b, &v[k], p->w, u, axis, &E[k], &y[k], &root[k]);
    }
    if (b->parent > 0) {
        aba_hand_over(&x->A, b, r, (articulated *)S->articulated + b->parent);
    }
}

/// Two hinges, of which none hangs on the other, side by side: the processor does not look as far ahead as to the next one.
KKI_INLINE void kick_two(const knode *b, kki_scratch *S, int i, const double *diagonal, const double *tau,
                         const double *v, double *E, double *y) {
    kicked x[2];
    kick_pivot(b, 1, S, i, diagonal, tau, &x[0]);
    kick_pivot(b - 1, 1, S, i - 1, diagonal, tau, &x[1]);
    kick_pass(b, 1, S, i, v, E, y, &x[0]);
    kick_pass(b - 1, 1, S, i - 1, v, E, y, &x[1]);
}

/// Tips to roots: pivots, scaled forces E and velocities y.
/// @param diagonal  [nv] armature and impedance    @param tau, v  [nv]    @param E, y  [nv] results
KKI_INLINE void kick_inward(const kk_model *m, kki_scratch *S, const double *diagonal, const double *tau,
                            const double *v, double *E, double *y, int first, int end) {
    for (int i = end - 1; i >= first; i--) {
        const knode *b = node_of(m, S, i);
        kicked x;
        if (b->type == KKI_NODE_HINGE && i > first && b[-1].type == KKI_NODE_HINGE && b->parent != i - 1) {
            kick_two(b, S, i--, diagonal, tau, v, E, y);
            continue;
        }
        if (b->is_central) {
            const size_t k = (size_t)b->v_index;
            kick_central(b, &((const world_node *)S->pose)[i].R, (const articulated *)S->articulated + i,
                         (pivot *)S->pivot + k, &diagonal[k], &tau[k], &v[k], &E[k], &y[k]);
            continue;
        }
        kick_pivot(b, 0, S, i, diagonal, tau, &x);
        kick_pass(b, 0, S, i, v, E, y, &x);
    }
    for (int i = first; i < end && node_of(m, S, i)->parent == 0; i++) { // roots come first
        const knode *b = node_of(m, S, i);
        if (!b->is_central) {
            kick_scale(b->v_index, m->dof_subtree[b->v_index], v, E, y, S->load_rows, S->pivot);
        }
    }
}

/// One axis of Δv.
KKI_INLINE double kick_axis(const pivot *k, double dy, vec3 w, vec3 u) {
    return dy * k->e - v_dot2(k->Ua, w, k->Ul, u);
}

/// Those of a ball or free joint behind the first, with V of its node before and behind them.
KKI_INLINE void kick_axes(const knode *b, const pivot *k, const double *dy, double *dv, vec3 *w, vec3 *u) {
    for (int j = 1; j < (b->type == KKI_NODE_FREE ? 6 : 3); j++) {
        dv[j] = kick_axis(&k[j], dy[j], *w, *u);
        if (j < 3) {
            *w = v_add(*w, v_scale(k[j].Sa, dv[j]));
        } else {
            *u = v_add(*u, v_scale(k[j].Sl, dv[j]));
        }
    }
}

/// Δv of a central body. U's components in its own axes are those of kick_central.
KKI_INLINE void kick_apply_central(const knode *b, const pivot *axis, const double *dy, double *dv) {
    const double xz = b->inertia[0][2], yz = b->inertia[1][2];
    const double xy = b->inertia[0][1] - xz * yz * axis[2].inverse_D;
    dv[0] = dy[0] * axis[0].e;
    dv[1] = dy[1] * axis[1].e - xy * dv[0] * axis[1].inverse_D;
    dv[2] = dy[2] * axis[2].e - (xz * dv[0] + yz * dv[1]) * axis[2].inverse_D;
    dv[3] = dy[3] * axis[3].e;
    dv[4] = dy[4] * axis[4].e;
    dv[5] = dy[5] * axis[5].e;
}

/// Δv of one joint, and V of its node from its parent's.
KKI_INLINE void kick_apply_node(const knode *b, const pivot *axis, vec3 r, const double *dy, double *dv, vec3 *w,
                                vec3 *u) {
    const double x = kick_axis(axis, dy[0], *w, *u); // about the parent's origin
    dv[0] = x;
    *u = b->has_arm ? v_add(*u, v_cross(*w, r)) : *u;
    if (b->type != KKI_NODE_SLIDE) {
        *w = v_add(*w, v_scale(axis->Sa, x));
    }
    if (b->type == KKI_NODE_SLIDE || b->type == KKI_NODE_SCREW) {
        *u = v_add(*u, v_scale(axis->Sl, x));
    }
    if (b->type == KKI_NODE_BALL || b->type == KKI_NODE_FREE) {
        kick_axes(b, axis, dy, dv, w, u);
    }
}

/// Roots to tips: Δv of Δy. @param dy [nv]    @param dv [nv] result, may alias dy    @param other  NULL, or another Δy that becomes its Δv on the way; V of
/// its nodes is kept where forces were
KKI_INLINE void kick_apply_to(const kk_model *m, kki_scratch *S, const double *dy, double *dv, double *other, int first,
                              int end) {
    const world_node *pose = S->pose;
    articulated *body = S->articulated;
    if (other) {
        body[0].n = body[0].f = v_zero();
    }
    for (int i = first; i < end; i++) {
        const knode *b = node_of(m, S, i);
        const articulated *P = &body[b->parent];
        const pivot *axis = (const pivot *)S->pivot + b->v_index;
        const size_t k = (size_t)b->v_index;
        if (b->is_central) {
            kick_apply_central(b, axis, dy + k, dv + k);
            if (other) {
                kick_apply_central(b, axis, other + k, other + k);
            }
            continue;
        }
        vec3 w = P->al, u = P->a;
        kick_apply_node(b, axis, pose[i].r, dy + k, dv + k, &w, &u);
        if (!b->is_leaf) {
            body[i].al = w;
            body[i].a = u;
        }
        if (other) {
            w = P->n;
            u = P->f;
            kick_apply_node(b, axis, pose[i].r, other + k, other + k, &w, &u);
            body[i].n = w;
            body[i].f = u;
        }
    }
}

#endif
