/// Analytic derivatives of inverse dynamics in world axes. One robot only.
///
/// Singh, Russell and Wensing (2022). For degree of freedom j with parent node λ, axis S, and an i behind j:
///     ψ̇ = V_λ × S,   ψ̈ = A_λ × S + V_λ × ψ̇,   Ṡ = V × S,
///     ∂τ_i/∂q_j = S_i · (2B_i ψ̇_j + I_i ψ̈_j),              ∂τ_i/∂v_j = S_i · (2B_i S_j + I_i (ψ̇_j + Ṡ_j)),
///     ∂τ_j/∂q_i = S_j · (2B_i ψ̇_i + I_i ψ̈_i + S_i ×* f_i),  ∂τ_j/∂v_i = S_j · (2B_i S_i + I_i (ψ̇_i + Ṡ_i)),
/// with I, B, f of the whole subtree behind i. Degrees of freedom of one joint obey the first line in both orders.
///
/// The body-level matrix 2B(I, V) = V ×* I − I V× + (I V) ×̄* has only twelve numbers. With the first moment h, moments J, velocity u of
/// the reference point, momentum p = m u + ω × h and second moments Σ = ½ tr(J) 1 − J, writing the crosses out (Jacobi's identity
/// cancels all that multiplies the linear half) gives
///     2B [α; a] = [Θ α; −2 p × α],   Θ = −2 [ω] Σ + 2 ((h·u) 1 − u hᵀ),
/// and carrying it from a child's origin at r to its parent's is Θ' = Θ + 2 (r·p) 1 − 2 p rᵀ, p' = p. So S_iᵀ 2B_i is an angular
/// 3-vector, and its product with ψ̇_j needs no common origin.
#ifndef KKI_DYNAMICS_KERNELS_DERIVATIVES_H
#define KKI_DYNAMICS_KERNELS_DERIVATIVES_H

#include "crba.h"
#include "jacobian.h"

/// What a subtree adds up to, about its node's own origin.
typedef struct {
    composite I;
    mat3 theta;
    vec3 p;    ///< momentum
    vec3 n, f; ///< force
    spatial v, a; ///< the node's own spatial velocity and acceleration (gravity subtracted)
} bundle;

/// Rows of S->derivative, each `padded` long.
enum {
    ROW_S = 0,          ///< axis
    ROW_PSI = 6,        ///< ψ̇, angular half only
    ROW_PSI2 = 9,       ///< ψ̈
    ROW_SIGMA = 15,     ///< ψ̇ + Ṡ
    ROW_F = 21,         ///< I S
    ROW_B = 27,         ///< (2B)ᵀ S, angular half; the other is zero
    ROW_P = 30,         ///< 2B ψ̇ + I ψ̈ + S ×* f
    ROW_V = 36,         ///< 2B S + I (ψ̇ + Ṡ)
    DERIVATIVE_ROWS = 42
};

KKI_INLINE mat3 theta_of_body(const composite *I, spatial v) {
    // w × (2 J e_k − tr(J) e_k) + 2 (h·u) e_k − 2 u h_k
    const real trace = (s_xx(&I->J) + s_yy(&I->J)) + s_zz(&I->J);
    const real hu = v_dot(I->h, v.l), o = r_const(0.0), d = hu + hu;
    const vec3 w2 = v_add(v.a, v.a), u2 = v_add(v.l, v.l);
    const vec3 x = v_make(r_const(1.0), o, o), y = v_make(o, r_const(1.0), o), z = v_make(o, o, r_const(1.0));
    const real half = r_const(0.5) * trace;
    mat3 T;
    T.c[0] = v_sub(v_add(v_cross(w2, v_sub(s_mul(&I->J, x), v_scale(x, half))), v_scale(x, d)), v_scale(u2, v_x(I->h)));
    T.c[1] = v_sub(v_add(v_cross(w2, v_sub(s_mul(&I->J, y), v_scale(y, half))), v_scale(y, d)), v_scale(u2, v_y(I->h)));
    T.c[2] = v_sub(v_add(v_cross(w2, v_sub(s_mul(&I->J, z), v_scale(z, half))), v_scale(z, d)), v_scale(u2, v_z(I->h)));
    return T;
}

/// Inertia, Coriolis and force of one node alone, from its pose and rates.
KKI_INLINE void bundle_of_node(const kki_node *b, const world_node *x, const world_rates *r, vec3 gravity, bundle *s) {
    const vec3 a = v_sub(r->a, gravity);
    const mat3 spin = m_spin(r->w, r->al);
    s->I = composite_of_node(b, &x->R);
    s->v = (spatial){r->w, r->u};
    s->a = (spatial){r->al, v_sub(a, v_cross(r->w, r->u))};
    s->theta = theta_of_body(&s->I, s->v);
    s->p = v_add(v_scale(r->u, s->I.m), v_cross(r->w, s->I.h));
    s->f = v_add(v_scale(a, s->I.m), m_mul(&spin, s->I.h));
    s->n = v_add(v_add(s_mul(&s->I.J, r->al), v_cross(r->w, s_mul(&s->I.J, r->w))), v_cross(s->I.h, a));
}

KKI_INLINE void bundle_hand_over(const bundle *s, vec3 r, bundle *P) {
    const real rp = v_dot(r, s->p), d = rp + rp, o = r_const(0.0);
    const vec3 p2 = v_add(s->p, s->p);
    composite_hand_over(&s->I, r, &P->I);
    P->theta.c[0] = v_add(P->theta.c[0], v_sub(v_add(s->theta.c[0], v_make(d, o, o)), v_scale(p2, v_x(r))));
    P->theta.c[1] = v_add(P->theta.c[1], v_sub(v_add(s->theta.c[1], v_make(o, d, o)), v_scale(p2, v_y(r))));
    P->theta.c[2] = v_add(P->theta.c[2], v_sub(v_add(s->theta.c[2], v_make(o, o, d)), v_scale(p2, v_z(r))));
    P->p = v_add(P->p, s->p);
    P->f = v_add(P->f, s->f);
    P->n = v_add(P->n, v_add(s->n, v_cross(r, s->f)));
}

/// Composite inertia times a motion.
KKI_INLINE spatial composite_mul(const composite *I, spatial s) {
    return (spatial){v_add(s_mul(&I->J, s.a), v_cross(I->h, s.l)), v_add(v_scale(s.l, I->m), v_cross(s.a, I->h))};
}
/// 2B times a motion's angular half.
KKI_INLINE spatial coriolis_mul(const bundle *s, vec3 al) {
    return (spatial){m_mul(&s->theta, al), v_cross(al, v_add(s->p, s->p))};
}
KKI_INLINE spatial spatial_add(spatial a, spatial b) { return (spatial){v_add(a.a, b.a), v_add(a.l, b.l)}; }

KKI_INLINE void put_three(double *row, size_t padded, size_t k, vec3 a) {
    row[k] = v_x(a);
    row[padded + k] = v_y(a);
    row[2 * padded + k] = v_z(a);
}

/// The rows of one degree of freedom. @param axis S about the node's origin; v, a of the parent node at that point
KKI_INLINE void put_derivative(double *rows, size_t padded, size_t k, const bundle *s, vec3 o, spatial axis, spatial v, spatial a) {
    const spatial psi = motion_cross(v, axis);
    const spatial psi2 = spatial_add(motion_cross(a, axis), motion_cross(v, psi));
    const spatial sigma = spatial_add(psi, motion_cross(s->v, axis));
    const spatial turned = {v_add(v_cross(axis.a, s->n), v_cross(axis.l, s->f)), v_cross(axis.a, s->f)};
    const spatial P = spatial_add(spatial_add(coriolis_mul(s, psi.a), composite_mul(&s->I, psi2)), turned);
    const spatial V = spatial_add(coriolis_mul(s, axis.a), composite_mul(&s->I, sigma));
    const spatial F = composite_mul(&s->I, axis);
    const mat3 transposed = m_transpose(s->theta);
    const vec3 B = v_add(m_mul(&transposed, axis.a), v_cross(v_add(s->p, s->p), axis.l));
    const spatial S0 = motion_at(axis, o), psi20 = motion_at(psi2, o), sigma0 = motion_at(sigma, o);
    const spatial F0 = force_at(F, o), P0 = force_at(P, o), V0 = force_at(V, o);
    put_column(rows + ROW_S * padded, padded, k, S0.a, S0.l);
    put_three(rows + ROW_PSI * padded, padded, k, psi.a);
    put_column(rows + ROW_PSI2 * padded, padded, k, psi20.a, psi20.l);
    put_column(rows + ROW_SIGMA * padded, padded, k, sigma0.a, sigma0.l);
    put_column(rows + ROW_F * padded, padded, k, F0.a, F0.l);
    put_three(rows + ROW_B * padded, padded, k, B);
    put_column(rows + ROW_P * padded, padded, k, P0.a, P0.l);
    put_column(rows + ROW_V * padded, padded, k, V0.a, V0.l);
}

KKI_INLINE void derivative_gather(const kk_model *m, kki_scratch *S) {
    const size_t padded = kki_padded(m->nv) + 4;
    const world_node *x = S->pose;
    const world_rates *r = S->rates;
    const vec3 gravity = v_const(m->gravity);
    bundle *s = S->bundle;
    for (int i = 0; i < m->nnode; i++) {
        bundle_of_node(&m->node[i], &x[i], &r[i], gravity, &s[i]);
    }
    for (int i = m->nnode - 1; i > 0; i--) {
        const kki_node *b = &m->node[i];
        bundle *P = &s[b->parent];
        // the parent's own motion, at this node's origin
        const spatial v = {P->v.a, v_add(P->v.l, v_cross(P->v.a, x[i].r))};
        const spatial a = {P->a.a, v_add(P->a.l, v_cross(P->a.a, x[i].r))};
        for (int k = 0; k < m->node_nv[i]; k++) {
            put_derivative(S->derivative, padded, (size_t)(b->v_index + k), &s[i], x[i].o, node_axis(b, &x[i], k), v, a);
        }
        bundle_hand_over(&s[i], x[i].r, P);
    }
}

// ---- products along the rows

typedef double quad_unaligned __attribute__((vector_size(32), aligned(8)));

KKI_INLINE quad load4(const double *x) { return *(const quad_unaligned *)x; }
KKI_INLINE quad spread4(double x) { return (quad){x, x, x, x}; }

/// Three components of column j of `a` with four columns of `b`.
KKI_INLINE quad dot3x4(const double *a, size_t j, const double *b, size_t i, size_t padded) {
    return (spread4(a[j]) * load4(b + i) + spread4(a[padded + j]) * load4(b + padded + i)) +
           spread4(a[2 * padded + j]) * load4(b + 2 * padded + i);
}
KKI_INLINE quad dot6x4(const double *a, size_t j, const double *b, size_t i, size_t padded) {
    return dot3x4(a, j, b, i, padded) + dot3x4(a + 3 * padded, j, b + 3 * padded, i, padded);
}

/// The first n of four entries, side by side or one a row.
KKI_INLINE void put_row(double *out, quad x, size_t n) {
    if (n >= 4) {
        *(quad_unaligned *)out = x;
    } else {
        for (size_t k = 0; k < n; k++) {
            out[k] = x[k];
        }
    }
}
KKI_INLINE void put_down(double *out, size_t stride, quad x, size_t n) {
    out[0] = x[0];
    if (n > 1) {
        out[stride] = x[1];
    }
    if (n > 2) {
        out[2 * stride] = x[2];
    }
    if (n > 3) {
        out[3 * stride] = x[3];
    }
}

/// Entries that couple degree of freedom j with everything behind it.
KKI_INLINE void derivative_row(const kk_model *m, kki_scratch *S, size_t j, double *dq, double *dv, size_t stride) {
    const size_t padded = kki_padded(m->nv) + 4, end = (size_t)m->dof_subtree[j];
    const double *D = S->derivative;
    const double *axis = D + ROW_S * padded, *psi = D + ROW_PSI * padded, *psi2 = D + ROW_PSI2 * padded;
    const double *sigma = D + ROW_SIGMA * padded, *F = D + ROW_F * padded, *B = D + ROW_B * padded;
    double *M = S->inertia + j * kki_padded(m->nv);
    for (size_t i = j; i < end; i += 4) {
        const size_t n = end - i;
        put_row(M + i, dot6x4(axis, j, F, i, padded), n);
        put_row(dq + j * stride + i, dot6x4(axis, j, D + ROW_P * padded, i, padded), n);
        put_row(dv + j * stride + i, dot6x4(axis, j, D + ROW_V * padded, i, padded), n);
        put_down(dq + i * stride + j, stride, dot3x4(psi, j, B, i, padded) + dot6x4(psi2, j, F, i, padded), n);
        put_down(dv + i * stride + j, stride, dot3x4(axis, j, B, i, padded) + dot6x4(sigma, j, F, i, padded), n);
    }
    M[j] += m->dof_armature[j];
}

/// Degrees of freedom of one joint, both orders by the first line of the formulas.
KKI_INLINE void derivative_joint(const kk_model *m, kki_scratch *S, int node, double *dq, double *dv, size_t stride) {
    const size_t padded = kki_padded(m->nv) + 4, begin = (size_t)m->node[node].v_index, end = begin + (size_t)m->node_nv[node];
    const double *D = S->derivative;
    const double *axis = D + ROW_S * padded, *psi = D + ROW_PSI * padded, *psi2 = D + ROW_PSI2 * padded;
    const double *sigma = D + ROW_SIGMA * padded, *F = D + ROW_F * padded, *B = D + ROW_B * padded;
    for (size_t j = begin; j < end; j++) {
        for (size_t i = begin; i < end; i++) {
            dq[i * stride + j] = (dot3x4(psi, j, B, i, padded) + dot6x4(psi2, j, F, i, padded))[0];
            dv[i * stride + j] = (dot3x4(axis, j, B, i, padded) + dot6x4(sigma, j, F, i, padded))[0];
        }
    }
}

/// @param dq, dv [nv rows of `stride`] results, zero beforehand off the branches
KKI_INLINE void derivative_rows(const kk_model *m, kki_scratch *S, double *dq, double *dv, size_t stride) {
    for (size_t j = 0; j < (size_t)m->nv; j++) {
        derivative_row(m, S, j, dq, dv, stride);
    }
    for (int i = 1; i < m->nnode; i++) {
        if (m->node_nv[i] > 1) {
            derivative_joint(m, S, i, dq, dv, stride);
        }
    }
}

#endif
