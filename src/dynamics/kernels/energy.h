/// Kinetic energy and energy of gravity of all trees, in one pass through link frames. One robot only.
///
/// Of a node are needed its velocities (ω, u) in its own frame, the direction of gravity there, and how far its origin has fallen, g · p; no pose is formed.
/// With the arm r from parent to child, as in rnea.h:
///     ω = Rᵀ ω_p + joint,   u = Rᵀ (u_p + ω_p × r) + joint,   g = Rᵀ g_p,   φ = φ_p + g_p · r.
/// König's theorem, T = ½ (m |u + ω × c|² + ω · J_c ω), has no negative term, so nothing cancels wherever the origin lies; U = −m (φ + g · c).
#ifndef KKI_DYNAMICS_KERNELS_ENERGY_H
#define KKI_DYNAMICS_KERNELS_ENERGY_H

#include "rnea.h"

KKI_INLINE void swing_of_hinge(const knode *b, int aligned, turn t, real v, const swing *p, swing *s) {
    const vec3 r = v_const(b->p);
    s->u = turn_z_in(t, hinge_in(b, aligned, b->has_arm ? v_add(p->u, v_cross(p->w, r)) : p->u));
    s->g = turn_z_in(t, hinge_in(b, aligned, p->g));
    s->w = v_add_z(turn_z_in(t, hinge_in(b, aligned, p->w)), v);
    s->fall = b->has_arm ? p->fall + v_dot(p->g, r) : p->fall;
}

KKI_INLINE void swing_of_other(const knode *b, const local_pose *x, const double *v, const swing *p, swing *s) {
    const joint_motion m = joint_speed_of(b, v, 1);
    s->u = v_add(m_mul(&x->Rt, v_add(p->u, v_cross(p->w, x->p))), m.u);
    s->w = v_add(m_mul(&x->Rt, p->w), m.w);
    s->g = m_mul(&x->Rt, p->g);
    s->fall = p->fall + v_dot(p->g, x->p);
}

/// What a node adds to the energies of its tree.
KKI_INLINE void add_energy(const knode *b, const kki_koenig *k, const swing *s, kki_energy *e) {
    const sym3 J = s_const(k->moments);
    const vec3 c = v_const(k->center), u = v_add(s->u, v_cross(s->w, c));
    e->kinetic += 0.5 * (b->mass * v_dot(u, u) + v_dot(s->w, s_mul(&J, s->w)));
    e->potential -= b->mass * (s->fall + v_dot(s->g, c));
}

/// @param energy  [ntree] result    @return the square of the fastest node's angular velocity
KKI_INLINE double energies_of_trees(const kk_model *m, kki_scratch *S, const kki_koenig *koenig, const double *q,
                                    const double *v, kki_energy *energy) {
    swing *const s = S->swing;
    double fastest = 0;
    trig_of_nodes(m, q, 1, S);
    s[0].w = s[0].u = v_zero();
    s[0].g = v_of_doubles(m->gravity);
    s[0].fall = 0;
    for (int t = 0; t < m->ntree; t++) {
        energy[t] = (kki_energy){0, 0};
    }
    for (int i = 1; i < m->nnode; i++) {
        const knode *b = node_of(m, S, i);
        const swing *p = &s[b->parent];
        if (b->type == KKI_NODE_HINGE) {
            const turn t = turn_z(S->sine[i], S->cosine[i]);
            const double rate = v[b->v_index];
            if (b->parent == 0) { // what the world turns by is any matrix
                swing_of_hinge(b, KKI_ALIGNED_NOT, t, rate, p, &s[i]);
            } else {
#define SWING(kind) swing_of_hinge(b, kind, t, rate, p, &s[i])
                FOR_ALIGNMENT(b->aligned, SWING)
#undef SWING
            }
        } else {
            local_pose x;
            rnea_pose(b, q, 1, S->sine[i], S->cosine[i], &x);
            swing_of_other(b, &x, v, p, &s[i]);
        }
        const double square = v_dot(s[i].w, s[i].w);
        fastest = square > fastest ? square : fastest;
        if (m->node_tree[i] >= 0) {
            add_energy(b, &koenig[i], &s[i], &energy[m->node_tree[i]]);
        }
    }
    return fastest;
}

#endif
