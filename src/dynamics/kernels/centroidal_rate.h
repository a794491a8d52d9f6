/// Time derivative of the centroidal momentum matrix. One robot only.
///
/// A column is F = I S with I the composite inertia behind the axis. About a point fixed in space Ḟ = İ S + I Ṡ, and İ of a rigid body
/// has J̇ = ½ (Θ + Θᵀ) and ḣ = p of derivatives.h, which add up over subtrees and shift like Θ and p. Carried to the center of mass c,
/// which moves: ṅ_c = ṅ + (O − c) × ḟ − ċ × f.
#ifndef KKI_DYNAMICS_KERNELS_CENTROIDAL_RATE_H
#define KKI_DYNAMICS_KERNELS_CENTROIDAL_RATE_H

#include "centroidal.h"
#include "derivatives.h"

/// İ S of a subtree.
KKI_INLINE spatial inertia_rate_mul(const bundle *s, spatial axis) {
    const mat3 transposed = m_transpose(s->theta);
    const vec3 J = v_scale(v_add(m_mul(&s->theta, axis.a), m_mul(&transposed, axis.a)), r_const(0.5));
    return (spatial){v_add(J, v_cross(s->p, axis.l)), v_cross(axis.a, s->p)};
}

/// Loads into F and their rates into P of the derivatives' terms.
KKI_INLINE void centroidal_rate_gather(const kk_model *m, kki_scratch *S) {
    const world_node *x = S->pose;
    const world_rates *r = S->rates;
    bundle *s = S->bundle;
    derivative_terms *terms = S->derivative;
    for (int i = 0; i < m->nnode; i++) {
        bundle_of_node(&m->node[i], &x[i], &r[i], v_zero(), &s[i]);
    }
    for (int i = m->nnode - 1; i > 0; i--) {
        const knode *b = node_of(m, S, i);
        for (int k = 0; k < m->node_nv[i]; k++) {
            const spatial axis = node_axis(b, &x[i], k);
            const spatial moved = composite_mul(&s[i].I, motion_cross(s[i].v, axis));
            terms[b->v_index + k].F = force_at(composite_mul(&s[i].I, axis), x[i].o);
            terms[b->v_index + k].P = force_at(spatial_add(inertia_rate_mul(&s[i], axis), moved), x[i].o);
        }
        bundle_hand_over(&s[i], x[i].r, &s[b->parent]);
    }
    derivative_turn(m, S);
}

/// @param A, dA [6 × nv] results
KKI_INLINE void centroidal_with_rate(const kk_model *m, kki_scratch *S, double *A, double *dA) {
    const size_t nv = (size_t)m->nv, padded = kki_padded(m->nv);
    const bundle *world = S->bundle;
    const real share = r_const(1.0) / world->I.m;
    const vec3 com = v_scale(world->I.h, share), rate = v_scale(world->p, share);
    const double x = v_x(rate), y = v_y(rate), z = v_z(rate);
    carry_to_com(m, S, S->derivative_rows + ROW_F * padded, padded, com, A);
    carry_to_com(m, S, S->derivative_rows + ROW_P * padded, padded, com, dA);
    for (size_t i = 0; i < nv; i++) {
        const double fx = A[3 * nv + i], fy = A[4 * nv + i], fz = A[5 * nv + i];
        dA[i] -= y * fz - z * fy;
        dA[nv + i] -= z * fx - x * fz;
        dA[2 * nv + i] -= x * fy - y * fx;
    }
}

#endif
