/// Rigid inertias in world axes about each node's own origin.
#ifndef KKI_DYNAMICS_KERNELS_INERTIA_H
#define KKI_DYNAMICS_KERNELS_INERTIA_H

#include "model/model.h"
#include "scratch.h"

/// Moments of a node in world axes, from the Cholesky root of its moments: J_W = (R L)(R L)ᵀ, exactly symmetric.
KKI_INLINE sym3 moments_in_world(const kki_node *b, const mat3 *R) {
    const double(*L)[4] = b->inertia_root;
    const vec3 x = v_add(v_add(v_scale(R->c[0], r_const(L[0][0])), v_scale(R->c[1], r_const(L[0][1]))),
                         v_scale(R->c[2], r_const(L[0][2])));
    const vec3 y = v_add(v_scale(R->c[1], r_const(L[1][1])), v_scale(R->c[2], r_const(L[1][2])));
    const mat3 A = {{x, y, v_scale(R->c[2], r_const(L[2][2]))}};
    return s_square(&A);
}

KKI_INLINE composite composite_of_node(const kki_node *b, const mat3 *R) {
    return (composite){moments_in_world(b, R), m_mul_const(R, b->h), r_const(b->mass)};
}

/// Adds a child's composite inertia, about the child's origin at r, to its parent's.
KKI_INLINE void composite_hand_over(const composite *C, vec3 r, composite *P) {
    const vec3 mr = v_scale(r, C->m);
    const vec3 t = v_add(C->h, v_scale(mr, r_const(0.5)));
    P->J = s_add(P->J, s_add_shift(C->J, t, r));
    P->h = v_add(P->h, v_add(C->h, mr));
    P->m = P->m + C->m;
}

#endif
