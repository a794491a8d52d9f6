/// Forward dynamics by the articulated-body algorithm in world axes, each node about its own origin: for steps, constraint rows and forces on
/// bodies, which need poses and pivots afterwards. Plain calls take aba_links.h.
///
/// Featherstone (1983), with two changes that save most of its work:
/// - All vectors are in world axes, so handing an articulated inertia to the parent is a shift by the arm r and no rotation; each
///   node keeps its own origin, so nothing is lost to cancellation far from the world's.
/// - The bias accelerations (q̈ = 0, gravity as an upward acceleration of the world) are found first and their inertia forces go into
///   the force p. The recursion then solves for the *deviation* from them, and the terms Iᴬ c of the textbook disappear.
/// With Iᴬ = [J Gᵀ; G M], a degree of freedom with axis S is eliminated by
///     U = Iᴬ S,  D = SᵀU + armature,  e = τ − Sᵀp,  Iᴬ ← Iᴬ − U Uᵀ/D,  p ← p + U e/D,
/// one after the other for balls; a root's free joint solves its 6 × 6 at once. Shift by r to the parent:
///     G' = G − M[r],  J' = J + B + Bᵀ with B = [r](G − M[r]/2),  n' = n + r × f.
#ifndef KKI_DYNAMICS_KERNELS_ABA_H
#define KKI_DYNAMICS_KERNELS_ABA_H

#include "inertia.h"
#include "kernels.h"
#include "kinematics.h"

/// Velocity and bias acceleration of a node.
KKI_INLINE void aba_motion(const knode *b, const double *v, size_t stride, const world_node *x, const world_motion *p,
                           world_motion *s) {
    const size_t i = (size_t)b->v_index;
    const vec3 z = x->R.c[2];
    s->w = p->w;
    s->al = p->al;
    s->a = b->has_arm ? v_add(p->a, m_mul(&p->spin, x->r)) : p->a;
    if (b->type == KKI_NODE_HINGE) {
        const vec3 w = v_scale(z, r_load(v, i, stride));
        s->al = v_add(s->al, v_cross(p->w, w));
        s->w = v_add(s->w, w);
    } else if (b->type == KKI_NODE_SLIDE) {
        const vec3 u = v_scale(z, r_load(v, i, stride));
        s->a = v_add(s->a, v_cross(v_add(p->w, p->w), u));
    } else if (b->type == KKI_NODE_SCREW) {
        const vec3 w = v_scale(z, r_load(v, i, stride));
        const vec3 u = v_scale(w, b->pitch);
        s->a = v_add(s->a, v_cross(v_add(p->w, p->w), u));
        s->al = v_add(s->al, v_cross(p->w, w));
        s->w = v_add(s->w, w);
    } else {
        const vec3 w = m_mul(&x->R, load3(v, i, stride));
        if (b->type == KKI_NODE_FREE) {
            const vec3 u = m_mul(&x->R, load3(v, i + 3, stride));
            s->a = v_add(s->a, v_cross(v_add(v_add(p->w, p->w), w), u));
        }
        s->al = v_add(s->al, v_cross(p->w, w));
        s->w = v_add(s->w, w);
    }
}

/// Rigid inertia and bias force of a node alone. What hangs on the node arrives in G, M and `children` later.
KKI_INLINE void aba_load(const knode *b, const world_node *x, world_motion *s, articulated *A) {
    const vec3 h = m_mul_const(&x->R, b->h);
    s->spin = m_spin(s->w, s->al);
    s->h = h;
    A->J = moments_in_world(b, &x->R);
    A->f = v_add(v_scale(s->a, b->mass), m_mul(&s->spin, h));
    A->n = v_add(v_add(s_mul(&A->J, s->al), v_cross(s->w, s_mul(&A->J, s->w))), v_cross(h, s->a));
}

/// Adds the rigid inertia's first moment and mass, G = −[h] and M = m 1, to what the children have handed over.
KKI_INLINE void aba_complete(const knode *b, const world_motion *s, articulated *A) {
    if (b->is_leaf) {
        A->G = m_skew(v_neg(s->h));
        A->M = s_diagonal(b->mass);
    } else {
        const mat3 H = m_skew(s->h);
        m_take(&A->G, &H);
        s_gain_diagonal(&A->M, b->mass);
    }
}

/// U, D and e of one degree of freedom. `turns` and `slides` say which halves of S are not zero and are constants at every call.
KKI_INLINE void aba_pivot(const articulated *A, pivot *k, int turns, int slides, real armature, real tau) {
    real D = armature, e = tau;
    if (turns && slides) {
        const mat3 Gt = m_transpose(A->G);
        k->Ua = v_add(s_mul(&A->J, k->Sa), m_mul(&Gt, k->Sl));
        k->Ul = v_add(m_mul(&A->G, k->Sa), s_mul(&A->M, k->Sl));
        D = D + (v_dot(k->Sa, k->Ua) + v_dot(k->Sl, k->Ul));
        e = e - (v_dot(k->Sa, A->n) + v_dot(k->Sl, A->f));
    } else if (turns) {
        k->Ua = s_mul(&A->J, k->Sa);
        k->Ul = m_mul(&A->G, k->Sa);
        D = D + v_dot(k->Sa, k->Ua);
        e = e - v_dot(k->Sa, A->n);
    } else {
        k->Ua = m_tmul(&A->G, k->Sl);
        k->Ul = s_mul(&A->M, k->Sl);
        D = D + v_dot(k->Sl, k->Ul);
        e = e - v_dot(k->Sl, A->f);
    }
    k->inverse_D = r_const(1.0) / D;
    k->e = e;
}

/// Force that the parent has to bear once the pivot has moved.
KKI_INLINE void aba_take_force(articulated *A, const pivot *k) {
    const real c = k->e * k->inverse_D;
    A->n = v_add(A->n, v_scale(k->Ua, c));
    A->f = v_add(A->f, v_scale(k->Ul, c));
}

/// Takes a pivot out, in place.
KKI_INLINE void aba_take(articulated *A, const pivot *k) {
    s_take_square(&A->J, k->Ua, k->inverse_D);
    s_take_square(&A->M, k->Ul, k->inverse_D);
    m_take_outer(&A->G, k->Ul, k->Ua, k->inverse_D);
    aba_take_force(A, k);
}

/// One of several degrees of freedom of a joint.
KKI_INLINE void aba_eliminate(articulated *A, pivot *k, int turns, int slides, real armature, real tau) {
    aba_pivot(A, k, turns, slides, armature, tau);
    aba_take(A, k);
}

/// Column k of G about the parent's origin, and of B. Of G and M the first child to come (the last of the children) makes the parent's, the
/// others add to them.
KKI_INLINE void aba_give_column(vec3 g, vec3 Q, vec3 r, int has_arm, int is_last, vec3 *B, vec3 *G) {
    if (has_arm) {
        g = v_sub(g, Q);
        *B = v_cross(r, g);
        g = v_sub(g, Q);
    } else {
        *B = v_zero();
    }
    *G = is_last ? g : v_add(*G, g);
}

/// Gives J, M, n and f, with B of the columns above.
KKI_INLINE void aba_give(const articulated *A, const mat3 *B, vec3 r, int has_arm, int is_last, articulated *P) {
    if (has_arm) {
        s_gain_symmetric(&P->J, &A->J, B);
        P->n = v_add(P->n, v_add(A->n, v_cross(r, A->f)));
    } else {
        s_gain(&P->J, &A->J);
        P->n = v_add(P->n, A->n);
    }
    P->f = v_add(P->f, A->f);
    if (is_last) {
        P->M = A->M;
    } else {
        s_gain(&P->M, &A->M);
    }
}

/// Hands a child's articulated inertia and force, about the child's origin at r, over to its parent. J, n and f add to the parent's rigid ones.
KKI_INLINE void aba_hand_over(const articulated *A, const knode *b, vec3 r, articulated *P) {
    const int has_arm = b->has_arm, is_last = b->is_last; // between stores they would be looked up again
    const vec3 half = v_scale(r, r_const(0.5));
    mat3 B;
    aba_give_column(A->G.c[0], s_mul_skew_x(&A->M, half), r, has_arm, is_last, &B.c[0], &P->G.c[0]);
    aba_give_column(A->G.c[1], s_mul_skew_y(&A->M, half), r, has_arm, is_last, &B.c[1], &P->G.c[1]);
    aba_give_column(A->G.c[2], s_mul_skew_z(&A->M, half), r, has_arm, is_last, &B.c[2], &P->G.c[2]);
    aba_give(A, &B, r, has_arm, is_last, P);
}

/// The same with the pivot taken out on the way, column by column, so that a column never leaves the registers in between. The flags are
/// constants at every call.
KKI_INLINE void aba_reduce(articulated *A, const pivot *k, vec3 r, int has_arm, int is_last, articulated *P) {
    const vec3 half = v_scale(r, r_const(0.5)), Ua = k->Ua, Ul = k->Ul;
    const real i = k->inverse_D;
    mat3 B;
    s_take_square(&A->M, Ul, i);
    const vec3 x = v_sub(A->G.c[0], v_scale(v_scale(Ul, v_x(Ua)), i));
    aba_give_column(x, s_mul_skew_x(&A->M, half), r, has_arm, is_last, &B.c[0], &P->G.c[0]);
    const vec3 y = v_sub(A->G.c[1], v_scale(v_scale(Ul, v_y(Ua)), i));
    aba_give_column(y, s_mul_skew_y(&A->M, half), r, has_arm, is_last, &B.c[1], &P->G.c[1]);
    const vec3 z = v_sub(A->G.c[2], v_scale(v_scale(Ul, v_z(Ua)), i));
    aba_give_column(z, s_mul_skew_z(&A->M, half), r, has_arm, is_last, &B.c[2], &P->G.c[2]);
    s_take_square(&A->J, Ua, i);
    aba_take_force(A, k);
    aba_give(A, &B, r, has_arm, is_last, P);
}

/// A node with one degree of freedom; a root's has nobody to give the rest to.
KKI_INLINE void aba_one_degree(articulated *A, pivot *k, int turns, int slides, const knode *b, real tau, vec3 r,
                               articulated *P) {
    aba_pivot(A, k, turns, slides, b->armature, tau);
    if (b->parent == 0) {
        return;
    }
    if (b->is_last && b->has_arm) {
        aba_reduce(A, k, r, 1, 1, P);
    } else if (b->is_last) {
        aba_reduce(A, k, r, 0, 1, P);
    } else if (b->has_arm) {
        aba_reduce(A, k, r, 1, 0, P);
    } else {
        aba_reduce(A, k, r, 0, 0, P);
    }
}

/// L D Lᵀ of a symmetric 3 × 3 and its solution.
typedef struct {
    real l10, l20, l21, d0, d1, d2; ///< d: inverse pivots
} ldl3;

KKI_INLINE ldl3 ldl3_factor(const sym3 *A) {
    const real one = r_const(1.0);
    ldl3 F;
    F.d0 = one / s_xx(A);
    F.l10 = s_xy(A) * F.d0;
    F.l20 = s_xz(A) * F.d0;
    F.d1 = one / (s_yy(A) - F.l10 * s_xy(A));
    const real t = s_yz(A) - F.l20 * s_xy(A);
    F.l21 = t * F.d1;
    F.d2 = one / ((s_zz(A) - F.l20 * s_xz(A)) - F.l21 * t);
    return F;
}
KKI_INLINE vec3 ldl3_solve(const ldl3 *F, vec3 b) {
    const real x = v_x(b), y = v_y(b) - F->l10 * x, z = (v_z(b) - F->l20 * x) - F->l21 * y;
    const real c = z * F->d2, bb = y * F->d1 - F->l21 * c;
    return v_make((x * F->d0 - F->l10 * bb) - F->l20 * c, bb, c);
}

/// A root's free joint: [J Gᵀ; G M][al; a] = [t − n; g − f] by elimination of the linear half, armature in world axes added before.
KKI_INLINE void aba_solve_free(articulated *A, vec3 torque, vec3 force) {
    const ldl3 M = ldl3_factor(&A->M);
    const mat3 X = {{ldl3_solve(&M, A->G.c[0]), ldl3_solve(&M, A->G.c[1]), ldl3_solve(&M, A->G.c[2])}}; // M⁻¹ G
    const mat3 Gt = m_transpose(A->G);
    const mat3 C = m_mul_m(&Gt, &X);
    const real half = r_const(-0.5);
    const mat3 minus = {{v_scale(C.c[0], half), v_scale(C.c[1], half), v_scale(C.c[2], half)}};
    sym3 schur = s_diagonal(r_const(0.0));
    s_gain_symmetric(&schur, &A->J, &minus);
    const ldl3 S = ldl3_factor(&schur);
    const vec3 g = v_sub(force, A->f);
    const vec3 t = v_sub(v_sub(torque, A->n), m_mul(&Gt, ldl3_solve(&M, g)));
    A->al = ldl3_solve(&S, t);
    A->a = ldl3_solve(&M, v_sub(g, m_mul(&A->G, A->al)));
}

/// Armature of a root's free joint, diagonal in the node's axes, added to the articulated inertia.
KKI_INLINE void aba_add_free_armature(const double *armature, const mat3 *R, articulated *A) {
    for (int k = 0; k < 3; k++) {
        s_take_square(&A->J, R->c[k], r_const(-armature[k]));
        s_take_square(&A->M, R->c[k], r_const(-armature[3 + k]));
    }
}

/// Axes of a ball, or of a free joint that is not at a root.
KKI_INLINE void aba_eliminate_many(const kk_model *m, const knode *b, const mat3 *R, articulated *A, pivot *axis,
                                   const double *tau, size_t stride) {
    const size_t i = (size_t)b->v_index;
    if (b->type == KKI_NODE_FREE) {
        for (size_t k = 6; k-- > 3;) {
            axis[k].Sl = R->c[k - 3];
            aba_eliminate(A, &axis[k], 0, 1, r_const(m->dof_armature[i + k]), r_load(tau, i + k, stride));
        }
    }
    for (size_t k = 3; k-- > 0;) {
        axis[k].Sa = R->c[k];
        aba_eliminate(A, &axis[k], 1, 0, r_const(m->dof_armature[i + k]), r_load(tau, i + k, stride));
    }
}

/// A free joint at a root stands alone: nothing of it reaches the world.
KKI_INLINE int is_free_root(const knode *b) {
    return b->type == KKI_NODE_FREE && b->parent == 0;
}

/// Tips to roots: eliminate the joint, hand the rest to the parent.
KKI_INLINE void aba_inward(const kk_model *m, kki_scratch *S, const world_node *pose, const double *tau,
                           size_t stride) {
    const world_motion *motion = S->motion;
    articulated *body = S->articulated;
    for (int i = m->nnode - 1; i > 0; i--) {
        const knode *b = node_of(m, S, i);
        const size_t k = (size_t)b->v_index;
        // worked on as a copy, which stays in registers as far as they reach; nobody needs the original again
        articulated copy = body[i], *A = &copy;
        pivot *axis = (pivot *)S->pivot + k;
        aba_complete(b, &motion[i], A);
        articulated *P = &body[b->parent];
        const vec3 z = pose[i].R.c[2];
        if (b->type == KKI_NODE_HINGE) {
            axis->Sa = z;
            aba_one_degree(A, axis, 1, 0, b, r_load(tau, k, stride), pose[i].r, P);
        } else if (b->type == KKI_NODE_SLIDE) {
            axis->Sl = z;
            aba_one_degree(A, axis, 0, 1, b, r_load(tau, k, stride), pose[i].r, P);
        } else if (b->type == KKI_NODE_SCREW) {
            axis->Sa = z;
            axis->Sl = v_scale(z, b->pitch);
            aba_one_degree(A, axis, 1, 1, b, r_load(tau, k, stride), pose[i].r, P);
        } else if (is_free_root(b)) {
            const mat3 *R = &pose[i].R;
            aba_add_free_armature(&m->dof_armature[k], R, A);
            aba_solve_free(A, m_mul(R, load3(tau, k, stride)), m_mul(R, load3(tau, k + 3, stride)));
            body[i].al = A->al;
            body[i].a = A->a;
        } else {
            aba_eliminate_many(m, b, &pose[i].R, A, axis, tau, stride);
            if (b->parent > 0) {
                aba_hand_over(A, b, pose[i].r, P);
            }
        }
    }
}

/// q̈ of one axis, and what it adds to the node's deviation.
KKI_INLINE real aba_accelerate(const pivot *k, int turns, int slides, articulated *A) {
    const real x = ((k->e - v_dot(k->Ua, A->al)) - v_dot(k->Ul, A->a)) * k->inverse_D;
    if (turns) {
        A->al = v_add(A->al, v_scale(k->Sa, x));
    }
    if (slides) {
        A->a = v_add(A->a, v_scale(k->Sl, x));
    }
    return x;
}

/// Roots to tips: accelerations.
KKI_INLINE void aba_outward(const kk_model *m, kki_scratch *S, const world_node *pose, double *a, size_t stride) {
    articulated *body = S->articulated;
    body[0].al = body[0].a = v_zero();
    for (int i = 1; i < m->nnode; i++) {
        const knode *b = node_of(m, S, i);
        const articulated *P = &body[b->parent];
        const size_t k = (size_t)b->v_index;
        articulated *A = &body[i];
        const pivot *axis = (const pivot *)S->pivot + k;
        if (is_free_root(b)) {
            store3(a, k, stride, m_tmul(&pose[i].R, A->al));
            store3(a, k + 3, stride, m_tmul(&pose[i].R, A->a));
            continue;
        }
        A->al = P->al;
        A->a = b->has_arm ? v_add(P->a, v_cross(P->al, pose[i].r)) : P->a;
        if (b->type == KKI_NODE_HINGE) {
            r_store(a, k, stride, aba_accelerate(axis, 1, 0, A));
        } else if (b->type == KKI_NODE_SLIDE) {
            r_store(a, k, stride, aba_accelerate(axis, 0, 1, A));
        } else if (b->type == KKI_NODE_SCREW) {
            r_store(a, k, stride, aba_accelerate(axis, 1, 1, A));
        } else {
            for (size_t j = 0; j < 3; j++) {
                r_store(a, k + j, stride, aba_accelerate(&axis[j], 1, 0, A));
            }
            for (size_t j = 3; j < 6 && b->type == KKI_NODE_FREE; j++) {
                r_store(a, k + j, stride, aba_accelerate(&axis[j], 0, 1, A));
            }
        }
    }
}

/// Roots to tips: poses (of what is `wanted`), bias motion, inertias.
KKI_INLINE void aba_prepare(const kk_model *m, kki_scratch *S, world_node *pose, int wanted, const double *q,
                            const double *v, size_t stride) {
    const real *sine = (const real *)S->sine, *cosine = (const real *)S->cosine;
    world_motion *motion = S->motion;
    articulated *body = S->articulated;
    trig_of_nodes(m, q, stride, S);
    pose_of_world(&pose[0]);
    motion[0].w = motion[0].al = v_zero();
    motion[0].a = v_neg(v_of_doubles(m->gravity));
    motion[0].spin = m_spin(motion[0].w, motion[0].al);
    for (int i = 1; i < m->nnode; i++) {
        const knode *b = node_of(m, S, i);
        // made as locals and stored when they are done: between stores a compiler has to load everything again
        world_node x;
        world_motion v_i;
        articulated A;
        pose_of_node(b, q, stride, sine[i], cosine[i], &pose[b->parent], &x, wanted);
        aba_motion(b, v, stride, &x, &motion[b->parent], &v_i);
        aba_load(b, &x, &v_i, &A);
        pose[i] = x;
        motion[i] = v_i;
        body[i].J = A.J;
        body[i].n = A.n;
        body[i].f = A.f;
    }
}

#endif
