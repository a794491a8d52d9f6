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
    vec3 p;       ///< momentum
    vec3 n, f;    ///< force
    spatial v, a; ///< the node's own spatial velocity and acceleration (gravity subtracted)
} bundle;

/// The terms of one degree of freedom, about the root's origin.
typedef struct {
    spatial axis;  ///< S
    spatial psi2;  ///< ψ̈
    spatial sigma; ///< ψ̇ + Ṡ
    vec3 psi;      ///< ψ̇, angular half
    vec3 B;        ///< (2B)ᵀ S, angular half; the other is zero
    spatial F;     ///< I S
    spatial P;     ///< 2B ψ̇ + I ψ̈ + S ×* f
    spatial V;     ///< 2B S + I (ψ̇ + Ṡ)
} derivative_terms;

/// Which of them are wanted by rows, and where.
enum { ROW_B = 0, ROW_F = 3, ROW_P = 9, ROW_V = 15, DERIVATIVE_ROWS = 21 };

/// w × (2 J e_k − tr(J) e_k) + 2 (h·u) e_k − 2 u h_k, column by column.
KKI_INLINE mat3 theta_of_body(const composite *I, spatial v) {
    const real trace = (s_xx(&I->J) + s_yy(&I->J)) + s_zz(&I->J);
    const real hu = v_dot(I->h, v.l), d = hu + hu;
    const vec3 w2 = v_add(v.a, v.a), u2 = v_add(v.l, v.l);
    const mat3 sigma = m_add_diagonal(s_columns(&I->J), r_const(-0.5) * trace);
    const mat3 turned = m_add_diagonal(m_cross(w2, &sigma), d);
    return (mat3){{v_sub(turned.c[0], v_scale(u2, v_x(I->h))), v_sub(turned.c[1], v_scale(u2, v_y(I->h))),
                   v_sub(turned.c[2], v_scale(u2, v_z(I->h)))}};
}

/// Inertia, Coriolis and force of one node alone, from its pose and rates.
KKI_INLINE void bundle_of_node(const knode *b, const world_node *x, const world_rates *r, vec3 gravity, bundle *s) {
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
    const real rp = v_dot(r, s->p);
    const vec3 p2 = v_add(s->p, s->p);
    const mat3 T = m_add_diagonal(s->theta, rp + rp);
    const composite I = composite_at(s->I, r);
    composite_gain(&P->I, &I);
    P->theta.c[0] = v_add(P->theta.c[0], v_sub(T.c[0], v_scale(p2, v_x(r))));
    P->theta.c[1] = v_add(P->theta.c[1], v_sub(T.c[1], v_scale(p2, v_y(r))));
    P->theta.c[2] = v_add(P->theta.c[2], v_sub(T.c[2], v_scale(p2, v_z(r))));
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

/// A hinge's terms: half of every cross product of the general case is zero, and Ṡ = ψ̇.
KKI_INLINE void put_hinge_terms(derivative_terms *t, const bundle *s, vec3 o, vec3 z, spatial v, spatial a) {
    const spatial psi = {v_cross(v.a, z), v_cross(v.l, z)};
    const spatial turned = {v_cross(a.a, z), v_cross(a.l, z)};
    const spatial psi2 = spatial_add(turned, motion_cross(v, psi));
    const spatial sigma = spatial_add(psi, psi);
    const spatial lifted = {v_cross(z, s->n), v_cross(z, s->f)};
    const spatial F = {s_mul(&s->I.J, z), v_cross(z, s->I.h)};
    const spatial P = spatial_add(spatial_add(coriolis_mul(s, psi.a), composite_mul(&s->I, psi2)), lifted);
    const spatial V = spatial_add(coriolis_mul(s, z), composite_mul(&s->I, sigma));
    t->axis = (spatial){z, v_cross(o, z)};
    t->psi = psi.a;
    t->psi2 = motion_at(psi2, o);
    t->sigma = motion_at(sigma, o);
    t->B = m_tmul(&s->theta, z);
    t->F = force_at(F, o);
    t->P = force_at(P, o);
    t->V = force_at(V, o);
}

/// Any axis. @param axis S about the node's origin; v, a of the parent node at that point
KKI_INLINE void put_terms(derivative_terms *t, const bundle *s, vec3 o, spatial axis, spatial v, spatial a) {
    const spatial psi = motion_cross(v, axis);
    const spatial psi2 = spatial_add(motion_cross(a, axis), motion_cross(v, psi));
    const spatial sigma = spatial_add(psi, motion_cross(s->v, axis));
    const spatial lifted = {v_add(v_cross(axis.a, s->n), v_cross(axis.l, s->f)), v_cross(axis.a, s->f)};
    const spatial P = spatial_add(spatial_add(coriolis_mul(s, psi.a), composite_mul(&s->I, psi2)), lifted);
    const spatial V = spatial_add(coriolis_mul(s, axis.a), composite_mul(&s->I, sigma));
    t->axis = motion_at(axis, o);
    t->psi = psi.a;
    t->psi2 = motion_at(psi2, o);
    t->sigma = motion_at(sigma, o);
    t->B = v_add(m_tmul(&s->theta, axis.a), v_cross(v_add(s->p, s->p), axis.l));
    t->F = force_at(composite_mul(&s->I, axis), o);
    t->P = force_at(P, o);
    t->V = force_at(V, o);
}

KKI_INLINE void derivative_gather(const kk_model *m, kki_scratch *S) {
    const world_node *x = S->pose;
    const world_rates *r = S->rates;
    const vec3 gravity = v_of_doubles(m->gravity);
    bundle *s = S->bundle;
    derivative_terms *terms = S->derivative;
    for (int i = 0; i < m->nnode; i++) {
        bundle_of_node(&m->node[i], &x[i], &r[i], gravity, &s[i]);
    }
    for (int i = m->nnode - 1; i > 0; i--) {
        const knode *b = node_of(m, S, i);
        bundle *P = &s[b->parent];
        // the parent's own motion, at this node's origin
        const spatial v = {P->v.a, v_add(P->v.l, v_cross(P->v.a, x[i].r))};
        const spatial a = {P->a.a, v_add(P->a.l, v_cross(P->a.a, x[i].r))};
        if (b->type == KKI_NODE_HINGE) {
            put_hinge_terms(&terms[b->v_index], &s[i], x[i].o, x[i].R.c[2], v, a);
        } else {
            for (int k = 0; k < m->node_nv[i]; k++) {
                put_terms(&terms[b->v_index + k], &s[i], x[i].o, node_axis(b, &x[i], k), v, a);
            }
        }
        if (b->parent > 0) {
            bundle_hand_over(&s[i], x[i].r, P);
        }
    }
}

/// The terms that many others meet, by rows.
KKI_INLINE void derivative_turn(const kk_model *m, kki_scratch *S) {
    const size_t padded = kki_padded(m->nv), step = sizeof(derivative_terms) / sizeof(vec3);
    const derivative_terms *t = S->derivative;
    double *rows = S->derivative_rows;
    turn_rows(&t->B, step, padded, rows + ROW_B * padded);
    turn_rows(&t->F.a, step, padded, rows + ROW_F * padded);
    turn_rows(&t->F.l, step, padded, rows + (ROW_F + 3) * padded);
    turn_rows(&t->P.a, step, padded, rows + ROW_P * padded);
    turn_rows(&t->P.l, step, padded, rows + (ROW_P + 3) * padded);
    turn_rows(&t->V.a, step, padded, rows + ROW_V * padded);
    turn_rows(&t->V.l, step, padded, rows + (ROW_V + 3) * padded);
}

// ---- products along the rows

/// Four entries ∂τ_i/∂q_j and ∂τ_i/∂v_j from column i on.
KKI_INLINE quad below_dq(const derivative_terms *t, const double *rows, size_t i, size_t padded) {
    return dot3_rows(&t->psi, rows + ROW_B * padded + i, padded) +
           dot6_rows(&t->psi2, rows + ROW_F * padded + i, padded);
}
KKI_INLINE quad below_dv(const derivative_terms *t, const double *rows, size_t i, size_t padded) {
    return dot3_rows(&t->axis.a, rows + ROW_B * padded + i, padded) +
           dot6_rows(&t->sigma, rows + ROW_F * padded + i, padded);
}

/// Entries that couple degree of freedom j with everything behind it.
KKI_INLINE void derivative_row(const kk_model *m, kki_scratch *S, size_t j, double *dq, double *dv, size_t stride) {
    const size_t padded = kki_padded(m->nv), end = (size_t)m->dof_subtree[j];
    const derivative_terms *t = (const derivative_terms *)S->derivative + j;
    const double *rows = S->derivative_rows;
    double *M = S->inertia + j * padded;
    for (size_t i = j; i < end; i += 4) {
        const size_t n = end - i;
        *(quad_unaligned *)(M + i) = dot6_rows(&t->axis, rows + ROW_F * padded + i, padded);
        put_row(dq + j * stride + i, dot6_rows(&t->axis, rows + ROW_P * padded + i, padded), n);
        put_row(dv + j * stride + i, dot6_rows(&t->axis, rows + ROW_V * padded + i, padded), n);
        put_down(dq + i * stride + j, stride, below_dq(t, rows, i, padded), n);
        put_down(dv + i * stride + j, stride, below_dv(t, rows, i, padded), n);
    }
    M[j] += m->dof_armature[j];
}

/// Degrees of freedom of one joint, both orders by the first line of the formulas.
KKI_INLINE void derivative_joint(const kk_model *m, kki_scratch *S, int node, double *dq, double *dv, size_t stride) {
    const size_t padded = kki_padded(m->nv), begin = (size_t)m->node[node].v_index,
                 end = begin + (size_t)m->node_nv[node];
    const double *rows = S->derivative_rows;
    for (size_t j = begin; j < end; j++) {
        const derivative_terms *t = (const derivative_terms *)S->derivative + j;
        for (size_t i = begin; i < end; i += 4) {
            put_down(dq + i * stride + j, stride, below_dq(t, rows, i, padded), end - i);
            put_down(dv + i * stride + j, stride, below_dv(t, rows, i, padded), end - i);
        }
    }
}

/// @param dq, dv [nv rows of `stride`] results, zero beforehand off the branches
KKI_INLINE void derivative_rows(const kk_model *m, kki_scratch *S, double *dq, double *dv, size_t stride) {
    derivative_turn(m, S);
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
