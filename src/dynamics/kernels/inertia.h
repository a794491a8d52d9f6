/// Rigid inertias in world axes about each node's own origin.
#ifndef KKI_DYNAMICS_KERNELS_INERTIA_H
#define KKI_DYNAMICS_KERNELS_INERTIA_H

#include "node.h"
#include "scratch.h"

/// Moments of a node in world axes, from the Cholesky root of its moments: J_W = (R L)(R L)ᵀ, exactly symmetric.
KKI_INLINE sym3 moments_in_world(const knode *b, const mat3 *R) {
    const konst(*L)[KONST_PAD] = b->inertia_root;
    const vec3 x = v_add(v_add(v_scale(R->c[0], L[0][0]), v_scale(R->c[1], L[0][1])), v_scale(R->c[2], L[0][2]));
    const vec3 y = v_add(v_scale(R->c[1], L[1][1]), v_scale(R->c[2], L[1][2]));
    const mat3 A = {{x, y, v_scale(R->c[2], L[2][2])}};
    return s_square(&A);
}

/// A node's own inertia in its own frame: G = −[h], M = m 1.
KKI_INLINE link_inertia rigid_inertia(const knode *b) {
    return (link_inertia){s_const(b->inertia), s_diagonal(b->mass), m_skew(v_neg(v_const(b->h)))};
}

KKI_INLINE composite composite_of_node(const knode *b, const mat3 *R) {
    return (composite){moments_in_world(b, R), m_mul_const(R, b->h), b->mass};
}

KKI_INLINE void composite_gain(composite *A, const composite *B) {
    s_gain(&A->J, &B->J);
    A->h = v_add(A->h, B->h);
    A->m = A->m + B->m;
}

/// The same inertia about its parent's origin, from which its own is r away.
KKI_INLINE composite composite_at(composite C, vec3 r) {
    const vec3 mr = v_scale(r, C.m);
    const vec3 t = v_add(C.h, v_scale(mr, r_const(0.5)));
    s_shift(&C.J, t, r);
    C.h = v_add(C.h, mr);
    return C;
}

#endif
