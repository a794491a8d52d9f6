/// Forward dynamics by the articulated-body algorithm in link frames.
///
/// Featherstone (1983), as in aba.h for the deviation from the bias motion (q̈ = 0), which is that of rnea.h. A hinge's axis is z of its own
/// frame, so U = Iᴬ S is a column that is already there, and without armature the row and column of what is left are zero. The rest
/// goes to the parent in three steps, of which no one forms a rotation matrix: the turn about z, the constant turn, which at right angles
/// is a change of places (model/align.c), and the shift by the arm.
///
/// A turn by (c, s) about z takes the upper left block [a b; d e] of a matrix, with δ = a − e, o = b + d, p = s δ + c o, to
///     a − s p,  e + s p,  b − (o − c p),  d − (o − c p),
/// half the products of two plane rotations; and a symmetric matrix stays exactly symmetric.
///
/// This is the one for plain calls: nothing is known in world axes afterwards, no poses and no pivots for constraint rows.
#ifndef KKI_DYNAMICS_KERNELS_ABA_LINKS_H
#define KKI_DYNAMICS_KERNELS_ABA_LINKS_H

#include "aba.h"
#include "rnea.h"

/// The block of a turn about z that changes: what to take from a and from b, d.
typedef struct {
    real diagonal, side;
} block_turn;

KKI_INLINE block_turn turn_block(real a, real b, real d, real e, real s, real c) {
    const real o = b + d, p = s * (a - e) + c * o;
    return (block_turn){s * p, o - c * p};
}

#if KKI_QUAD

/// A ← R A Rᵀ for the turn about z out of the link.
KKI_INLINE void m_turn_z_out(mat3 *A, real s, real c) {
    const quad x = A->c[0], y = A->c[1];
    const block_turn t = turn_block(x[0], y[0], x[1], y[1], s, c);
    const quad low_x = x * v_spread(c) - y * v_spread(s), low_y = y * v_spread(c) + x * v_spread(s);
    A->c[0] = __builtin_shufflevector(x - (quad){t.diagonal, t.side, 0, 0}, low_x, 0, 1, 6, 3);
    A->c[1] = __builtin_shufflevector(y - (quad){t.side, -t.diagonal, 0, 0}, low_y, 0, 1, 6, 3);
    A->c[2] = turn_z_out(turn_z(s, c), A->c[2]);
}
KKI_INLINE void s_turn_z_out(sym3 *A, real s, real c) {
    const quad x = A->c[0], y = A->c[1], z = turn_z_out(turn_z(s, c), A->c[2]);
    const block_turn t = turn_block(x[0], x[1], x[1], y[1], s, c);
    A->c[0] = __builtin_shufflevector(x - (quad){t.diagonal, t.side, 0, 0}, V_SPREAD(z, 0), 0, 1, 6, 3);
    A->c[1] = __builtin_shufflevector(y - (quad){t.side, -t.diagonal, 0, 0}, V_SPREAD(z, 1), 0, 1, 6, 3);
    A->c[2] = z;
}

/// The same for quarters about x and y, forth for q = 1 and back for q = −1.
KKI_INLINE void m_quarter_x_out(mat3 *A, double q) {
    const quad x = A->c[0], y = A->c[1], z = A->c[2];
    A->c[0] = __builtin_shufflevector(x, x, 0, 2, 1, 3) * (quad){1, -q, q, 1};
    A->c[1] = __builtin_shufflevector(z, z, 0, 2, 1, 3) * (quad){-q, 1, -1, 1};
    A->c[2] = __builtin_shufflevector(y, y, 0, 2, 1, 3) * (quad){q, -1, 1, 1};
}
KKI_INLINE void m_quarter_y_out(mat3 *A, double q) {
    const quad x = A->c[0], y = A->c[1], z = A->c[2];
    A->c[0] = __builtin_shufflevector(z, z, 2, 1, 0, 3) * (quad){1, q, -1, 1};
    A->c[1] = __builtin_shufflevector(y, y, 2, 1, 0, 3) * (quad){q, 1, -q, 1};
    A->c[2] = __builtin_shufflevector(x, x, 2, 1, 0, 3) * (quad){-1, -q, 1, 1};
}
KKI_INLINE void s_quarter_x_out(sym3 *A, double q) {
    mat3 B = s_columns(A);
    m_quarter_x_out(&B, q);
    *A = (sym3){{B.c[0], B.c[1], B.c[2]}};
}
KKI_INLINE void s_quarter_y_out(sym3 *A, double q) {
    mat3 B = s_columns(A);
    m_quarter_y_out(&B, q);
    *A = (sym3){{B.c[0], B.c[1], B.c[2]}};
}

/// B + Bᵀ.
KKI_INLINE sym3 s_of_halves(const mat3 *B) {
    const mat3 T = m_transpose(*B);
    return (sym3){{B->c[0] + T.c[0], B->c[1] + T.c[1], B->c[2] + T.c[2]}};
}
KKI_INLINE vec3 s_column_z(const sym3 *A) {
    return A->c[2];
}
/// Zeros in row and column z.
KKI_INLINE void s_clear_z(sym3 *A) {
    A->c[0] = __builtin_shufflevector(A->c[0], v_zero(), 0, 1, 6, 7);
    A->c[1] = __builtin_shufflevector(A->c[1], v_zero(), 0, 1, 6, 7);
    A->c[2] = v_zero();
}

#else

KKI_INLINE void m_turn_z_out(mat3 *A, real s, real c) {
    const vec3 x = A->c[0], y = A->c[1];
    const block_turn t = turn_block(x.x, y.x, x.y, y.y, s, c);
    A->c[0] = v_make(x.x - t.diagonal, x.y - t.side, x.z * c - y.z * s);
    A->c[1] = v_make(y.x - t.side, y.y + t.diagonal, y.z * c + x.z * s);
    A->c[2] = turn_z_out(turn_z(s, c), A->c[2]);
}
KKI_INLINE void s_turn_z_out(sym3 *A, real s, real c) {
    const block_turn t = turn_block(A->xx, A->xy, A->xy, A->yy, s, c);
    const real x = A->xz, y = A->yz;
    A->xx = A->xx - t.diagonal;
    A->xy = A->xy - t.side;
    A->yy = A->yy + t.diagonal;
    A->xz = x * c - y * s;
    A->yz = y * c + x * s;
}
KKI_INLINE real r_signed(double q, real x) {
    return q > 0 ? x : -x;
}
KKI_INLINE void m_quarter_x_out(mat3 *A, double q) {
    const vec3 x = A->c[0], y = A->c[1], z = A->c[2];
    A->c[0] = v_make(x.x, r_signed(-q, x.z), r_signed(q, x.y));
    A->c[1] = v_make(r_signed(-q, z.x), z.z, -z.y);
    A->c[2] = v_make(r_signed(q, y.x), -y.z, y.y);
}
KKI_INLINE void m_quarter_y_out(mat3 *A, double q) {
    const vec3 x = A->c[0], y = A->c[1], z = A->c[2];
    A->c[0] = v_make(z.z, r_signed(q, z.y), -z.x);
    A->c[1] = v_make(r_signed(q, y.z), y.y, r_signed(-q, y.x));
    A->c[2] = v_make(-x.z, r_signed(-q, x.y), x.x);
}
KKI_INLINE void s_quarter_x_out(sym3 *A, double q) {
    *A = (sym3){A->xx, r_signed(-q, A->xz), r_signed(q, A->xy), A->zz, -A->yz, A->yy};
}
KKI_INLINE void s_quarter_y_out(sym3 *A, double q) {
    *A = (sym3){A->zz, r_signed(q, A->yz), -A->xz, A->yy, r_signed(-q, A->xy), A->xx};
}
KKI_INLINE sym3 s_of_halves(const mat3 *B) {
    return (sym3){B->c[0].x + B->c[0].x, B->c[1].x + B->c[0].y, B->c[2].x + B->c[0].z,
                  B->c[1].y + B->c[1].y, B->c[2].y + B->c[1].z, B->c[2].z + B->c[2].z};
}
KKI_INLINE vec3 s_column_z(const sym3 *A) {
    return v_make(A->xz, A->yz, A->zz);
}
KKI_INLINE void s_clear_z(sym3 *A) {
    A->xz = A->yz = A->zz = r_const(0.0);
}

#endif

/// A ← R A Rᵀ with any matrix.
KKI_INLINE void m_rotate_out(mat3 *A, const mat3 *R, const mat3 *Rt) {
    const mat3 T = m_mul_m(R, A);
    *A = m_mul_m(&T, Rt);
}
KKI_INLINE void s_rotate_out(sym3 *A, const mat3 *R, const mat3 *Rt) {
    const real half = r_const(0.5);
    mat3 B = s_columns(A);
    B = (mat3){{v_scale(B.c[0], half), v_scale(B.c[1], half), v_scale(B.c[2], half)}};
    m_rotate_out(&B, R, Rt);
    *A = s_of_halves(&B);
}

/// The constant half of a hinge's rotation. `aligned` is a constant at every call.
KKI_INLINE void m_hinge_out(const knode *b, int aligned, mat3 *A) {
    const mat3 R = m_const(b->R), Rt = m_transpose(R);
    switch (aligned) {
    case KKI_ALIGNED_SAME: return;
    case KKI_ALIGNED_X_FORTH: m_quarter_x_out(A, 1); return;
    case KKI_ALIGNED_X_BACK: m_quarter_x_out(A, -1); return;
    case KKI_ALIGNED_Y_FORTH: m_quarter_y_out(A, 1); return;
    case KKI_ALIGNED_Y_BACK: m_quarter_y_out(A, -1); return;
    default: m_rotate_out(A, &R, &Rt);
    }
}
KKI_INLINE void s_hinge_out(const knode *b, int aligned, sym3 *A) {
    const mat3 R = m_const(b->R), Rt = m_transpose(R);
    switch (aligned) {
    case KKI_ALIGNED_SAME: return;
    case KKI_ALIGNED_X_FORTH: s_quarter_x_out(A, 1); return;
    case KKI_ALIGNED_X_BACK: s_quarter_x_out(A, -1); return;
    case KKI_ALIGNED_Y_FORTH: s_quarter_y_out(A, 1); return;
    case KKI_ALIGNED_Y_BACK: s_quarter_y_out(A, -1); return;
    default: s_rotate_out(A, &R, &Rt);
    }
}

/// Gives a column of G over to the parent's origin; its part of B.
KKI_INLINE void links_give_column(vec3 g, vec3 Q, vec3 r, const vec3 *base, vec3 *B, vec3 *G) {
    g = v_sub(g, Q);
    *B = v_cross(r, g);
    *G = v_add(*base, v_sub(g, Q));
}

/// Hands what is left of a node, in the parent's axes about its own origin, over to the parent. `base` is what it comes on top of: the parent's rigid
/// inertia for the first child to come, the sum so far for the others.
KKI_INLINE void links_give(const link_inertia *A, vec3 n, vec3 f, vec3 r, int has_arm, const link_inertia *base,
                           link_inertia *P, local_node *p) {
    if (has_arm) {
        const vec3 half = v_scale(r, r_const(0.5));
        mat3 B;
        links_give_column(A->G.c[0], s_mul_skew_x(&A->M, half), r, &base->G.c[0], &B.c[0], &P->G.c[0]);
        links_give_column(A->G.c[1], s_mul_skew_y(&A->M, half), r, &base->G.c[1], &B.c[1], &P->G.c[1]);
        links_give_column(A->G.c[2], s_mul_skew_z(&A->M, half), r, &base->G.c[2], &B.c[2], &P->G.c[2]);
        sym3 J = base->J;
        s_gain_symmetric(&J, &A->J, &B);
        P->J = J;
        n = v_add(n, v_cross(r, f));
    } else {
        for (int k = 0; k < 3; k++) {
            P->G.c[k] = v_add(base->G.c[k], A->G.c[k]);
        }
        sym3 J = base->J;
        s_gain(&J, &A->J);
        P->J = J;
    }
    sym3 M = base->M;
    s_gain(&M, &A->M);
    P->M = M;
    p->n = v_add(p->n, n);
    p->f = v_add(p->f, f);
}

/// Takes a hinge out and hands the rest over. `aligned` and `bare` (no armature) are constants at every call.
KKI_INLINE void links_in_hinge(const knode *b, int aligned, int bare, const link_inertia *I, const local_node *s,
                               real sine, real cosine, const pivot *k, const link_inertia *base, link_inertia *P,
                               local_node *p) {
    const turn t = turn_z(sine, cosine);
    const vec3 Ua = k->Ua, Ul = k->Ul, Uk = v_scale(Ul, k->inverse_D);
    const real c = k->e * k->inverse_D;
    link_inertia A;
    A.M = I->M;
    s_take_square(&A.M, Ul, k->inverse_D);
    s_turn_z_out(&A.M, sine, cosine);
    s_hinge_out(b, aligned, &A.M);
    A.G.c[0] = v_sub(I->G.c[0], v_scale(Uk, v_x(Ua)));
    A.G.c[1] = v_sub(I->G.c[1], v_scale(Uk, v_y(Ua)));
    A.G.c[2] = bare ? v_zero() : v_sub(I->G.c[2], v_scale(Uk, v_z(Ua)));
    m_turn_z_out(&A.G, sine, cosine);
    m_hinge_out(b, aligned, &A.G);
    A.J = I->J;
    s_take_square(&A.J, Ua, k->inverse_D);
    if (bare) {
        s_clear_z(&A.J);
    }
    s_turn_z_out(&A.J, sine, cosine);
    s_hinge_out(b, aligned, &A.J);
    const vec3 n = hinge_out(b, aligned, turn_z_out(t, v_add(s->n, v_scale(Ua, c))));
    const vec3 f = hinge_out(b, aligned, turn_z_out(t, v_add(s->f, v_scale(Ul, c))));
    if (b->has_arm) {
        links_give(&A, n, f, v_const(b->p), 1, base, P, p);
    } else {
        links_give(&A, n, f, v_const(b->p), 0, base, P, p);
    }
}

/// U, D and e of a hinge.
KKI_INLINE void links_pivot(const knode *b, const link_inertia *I, vec3 n, real tau, pivot *k) {
    v_store(&k->Ua, s_column_z(&I->J));
    v_store(&k->Ul, v_load(&I->G.c[2]));
    k->inverse_D = r_const(1.0) / (s_zz(&I->J) + b->armature);
    k->e = tau - v_z(n);
}

/// Any other joint: its degrees of freedom one after the other, then turned and shifted by its pose.
KKI_INLINE void links_in_general(const kk_model *m, const knode *b, const local_pose *x, const link_inertia *I,
                                 const local_node *s, const double *tau, size_t stride, pivot *axis,
                                 const link_inertia *base, link_inertia *P, local_node *p) {
    const size_t i = (size_t)b->v_index;
    articulated A = {.J = I->J, .M = I->M, .G = I->G, .n = s->n, .f = s->f};
    const vec3 z = v_add_z(v_zero(), r_const(1.0));
    if (b->type == KKI_NODE_SLIDE) {
        axis->Sl = z;
        aba_eliminate(&A, axis, 0, 1, b->armature, r_load(tau, i, stride));
    } else if (b->type == KKI_NODE_SCREW) {
        axis->Sa = z;
        axis->Sl = v_scale(z, b->pitch);
        aba_eliminate(&A, axis, 1, 1, b->armature, r_load(tau, i, stride));
    } else {
        mat3 one;
        m_identity(&one);
        aba_eliminate_many(m, b, &one, &A, axis, tau, stride);
    }
    if (b->parent > 0) {
        link_inertia C = {A.J, A.M, A.G};
        s_rotate_out(&C.J, &x->R, &x->Rt);
        s_rotate_out(&C.M, &x->R, &x->Rt);
        m_rotate_out(&C.G, &x->R, &x->Rt);
        links_give(&C, m_mul(&x->R, A.n), m_mul(&x->R, A.f), x->p, 1, base, P, p);
    }
}

/// A root's free joint, in its own axes.
KKI_INLINE void links_free_root(const kk_model *m, const knode *b, const link_inertia *I, const local_node *s,
                                const double *tau, size_t stride, link_motion *d) {
    const size_t i = (size_t)b->v_index;
    articulated A = {.J = I->J, .M = I->M, .G = I->G, .n = s->n, .f = s->f};
    mat3 one;
    m_identity(&one);
    if (m->has_armature) {
        aba_add_free_armature(&m->dof_armature[i], &one, &A);
    }
    aba_solve_free(&A, load3(tau, i, stride), load3(tau, i + 3, stride));
    d->al = A.al;
    d->a = A.a;
}

/// Roots to tips: bias motion and load of every node.
KKI_INLINE void links_outward(const kk_model *m, kki_scratch *S, const double *q, const double *v, size_t stride) {
    const real *sine = (const real *)S->sine, *cosine = (const real *)S->cosine;
    local_pose *pose = S->local_pose;
    local_node *node = S->local;
    trig_of_nodes(m, q, stride, S);
    v_store(&node[0].a, v_neg(v_of_doubles(m->gravity)));
    for (int i = 1; i < m->nnode; i++) {
        const knode *b = node_of(m, S, i);
        const local_node *p = &node[b->parent];
        local_node s;
        if (b->type == KKI_NODE_HINGE) {
            const real speed = r_load(v, (size_t)b->v_index, stride);
            const turn t = turn_z(sine[i], cosine[i]);
            if (b->parent == 0) {
                rnea_out_root_hinge(b, t, speed, r_const(0.0), p, &s);
            } else {
#define OUT(kind) rnea_out_hinge(b, kind, t, speed, p, &s)
                FOR_ALIGNMENT(b->aligned, OUT)
#undef OUT
            }
        } else {
            rnea_pose(b, q, stride, sine[i], cosine[i], &pose[i]);
            if (b->parent == 0) {
                rnea_out_root(&pose[i], joint_speed_of(b, v, stride), p, &s);
            } else {
                rnea_out_general(&pose[i], joint_speed_of(b, v, stride), p, &s);
            }
        }
        rnea_load(b, &s);
        node[i] = s;
    }
}

/// Tips to roots: take the joint out, hand the rest to the parent.
KKI_INLINE void links_inward(const kk_model *m, kki_scratch *S, const double *tau, size_t stride) {
    const real *sine = (const real *)S->sine, *cosine = (const real *)S->cosine;
    const local_pose *pose = S->local_pose;
    const link_inertia *rigid = S->rigid;
    link_inertia *link = S->link;
    local_node *node = S->local;
    for (int i = m->nnode - 1; i > 0; i--) {
        const knode *b = node_of(m, S, i);
        const int parent = b->parent;
        const link_inertia *I = b->is_leaf ? &rigid[i] : &link[i];
        const link_inertia *base = b->is_last ? &rigid[parent] : &link[parent];
        pivot *axis = (pivot *)S->pivot + b->v_index;
        if (b->type == KKI_NODE_HINGE) {
            links_pivot(b, I, node[i].n, r_load(tau, (size_t)b->v_index, stride), axis);
            if (parent == 0) {
                continue;
            }
#define BARE(kind) links_in_hinge(b, kind, 1, I, &node[i], sine[i], cosine[i], axis, base, &link[parent], &node[parent])
#define ARMED(kind) \
    links_in_hinge(b, kind, 0, I, &node[i], sine[i], cosine[i], axis, base, &link[parent], &node[parent])
            if (b->is_bare) {
                FOR_ALIGNMENT(b->aligned, BARE)
            } else {
                FOR_ALIGNMENT(b->aligned, ARMED)
            }
#undef BARE
#undef ARMED
        } else if (is_free_root(b)) {
            links_free_root(m, b, I, &node[i], tau, stride, (link_motion *)S->deviation + i);
        } else {
            links_in_general(m, b, &pose[i], I, &node[i], tau, stride, axis, base, &link[parent], &node[parent]);
        }
    }
}

/// q̈ of one axis.
KKI_INLINE real links_rate(const pivot *k, const link_motion *d) {
    return ((k->e - v_dot(k->Ua, d->al)) - v_dot(k->Ul, d->a)) * k->inverse_D;
}

KKI_INLINE void links_carry_hinge(const knode *b, int aligned, turn t, const link_motion *p, link_motion *d) {
    d->al = turn_z_in(t, hinge_in(b, aligned, p->al));
    d->a = turn_z_in(t, hinge_in(b, aligned, b->has_arm ? v_add(p->a, v_cross(p->al, v_const(b->p))) : p->a));
}

/// Any other joint behind its parent's deviation.
KKI_INLINE void links_out_general(const knode *b, const local_pose *x, const pivot *axis, const link_motion *p,
                                  double *a, size_t stride, link_motion *d) {
    const size_t k = (size_t)b->v_index;
    articulated A;
    A.al = m_mul(&x->Rt, p->al);
    A.a = m_mul(&x->Rt, v_add(p->a, v_cross(p->al, x->p)));
    if (b->type == KKI_NODE_SLIDE) {
        r_store(a, k, stride, aba_accelerate(axis, 0, 1, &A));
    } else if (b->type == KKI_NODE_SCREW) {
        r_store(a, k, stride, aba_accelerate(axis, 1, 1, &A));
    } else {
        for (size_t j = 0; j < 3; j++) {
            r_store(a, k + j, stride, aba_accelerate(&axis[j], 1, 0, &A));
        }
        for (size_t j = 3; j < 6 && b->type == KKI_NODE_FREE; j++) {
            r_store(a, k + j, stride, aba_accelerate(&axis[j], 0, 1, &A));
        }
    }
    d->al = A.al;
    d->a = A.a;
}

/// Roots to tips: accelerations.
KKI_INLINE void links_accelerate(const kk_model *m, kki_scratch *S, double *a, size_t stride) {
    const real *sine = (const real *)S->sine, *cosine = (const real *)S->cosine;
    const local_pose *pose = S->local_pose;
    link_motion *deviation = S->deviation;
    const link_motion none = {v_zero(), v_zero()};
    for (int i = 1; i < m->nnode; i++) {
        const knode *b = node_of(m, S, i);
        const link_motion *p = &deviation[b->parent];
        const size_t k = (size_t)b->v_index;
        const pivot *axis = (const pivot *)S->pivot + k;
        link_motion d;
        if (b->type == KKI_NODE_HINGE && b->parent == 0) {
            const real x = axis->e * axis->inverse_D;
            d.al = v_add_z(v_zero(), x);
            d.a = v_zero();
            r_store(a, k, stride, x);
            deviation[i] = d;
        } else if (b->type == KKI_NODE_HINGE) {
            const turn t = turn_z(sine[i], cosine[i]);
#define CARRY(kind) links_carry_hinge(b, kind, t, p, &d)
            FOR_ALIGNMENT(b->aligned, CARRY)
#undef CARRY
            const real x = links_rate(axis, &d);
            d.al = v_add_z(d.al, x);
            r_store(a, k, stride, x);
            deviation[i] = d;
        } else if (is_free_root(b)) {
            store3(a, k, stride, deviation[i].al);
            store3(a, k + 3, stride, deviation[i].a);
        } else {
            links_out_general(b, &pose[i], axis, b->parent == 0 ? &none : p, a, stride, &deviation[i]);
        }
    }
}

#endif
