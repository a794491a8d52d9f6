/// Center of mass, its Jacobian, and the centroidal momentum matrix. One robot only.
///
/// Orin, Goswami and Lee (2013): column i of the momentum matrix is the composite inertia behind degree of freedom i times its axis,
/// carried to the center of mass. The Jacobian of the center of mass is the linear half over the total mass, for which masses and
/// first moments are enough.
#ifndef KKI_DYNAMICS_KERNELS_CENTROIDAL_H
#define KKI_DYNAMICS_KERNELS_CENTROIDAL_H

#include "crba.h"
#include "jacobian.h"

/// Masses and first moments of subtrees about each node's own origin; the world's too.
KKI_INLINE void gather_moments(const kk_model *m, kki_scratch *S) {
    const world_node *x = S->pose;
    composite *C = S->composite;
    for (int i = 0; i < m->nnode; i++) {
        C[i].h = m_mul_const(&x[i].R, m->node[i].h);
        C[i].m = r_const(m->node[i].mass);
    }
    for (int i = m->nnode - 1; i > 0; i--) {
        composite *P = &C[m->node[i].parent];
        P->h = v_add(P->h, v_add(C[i].h, v_scale(x[i].r, C[i].m)));
        P->m = P->m + C[i].m;
    }
}

KKI_INLINE vec3 center_of_mass(const kki_scratch *S) {
    const composite *C = S->composite;
    return v_scale(C[0].h, r_const(1.0) / C[0].m);
}

/// @param J [3 × nv] result
KKI_INLINE void center_of_mass_jacobian(const kk_model *m, kki_scratch *S, double *J) {
    const size_t nv = (size_t)m->nv;
    const world_node *x = S->pose;
    const composite *C = S->composite;
    const real share = r_const(1.0) / C[0].m;
    for (int i = 1; i < m->nnode; i++) {
        const knode *b = node_of(m, S, i);
        for (int k = 0; k < m->node_nv[i]; k++) {
            const spatial s = node_axis(b, &x[i], k);
            const vec3 c = v_scale(v_add(v_cross(s.a, C[i].h), v_scale(s.l, C[i].m)), share);
            double *column = J + (size_t)(b->v_index + k);
            column[0] = v_x(c);
            column[nv] = v_y(c);
            column[2 * nv] = v_z(c);
        }
    }
}

/// The same from composite inertias of the roots, after crba_gather, bodies fixed to the world included.
KKI_INLINE vec3 center_of_roots(const kk_model *m, const kki_scratch *S) {
    const world_node *x = S->pose;
    const composite *C = S->composite;
    vec3 h = v_of_doubles(m->node[0].h);
    real mass = r_const(m->node[0].mass);
    for (int i = 1; i < m->nnode && m->node[i].parent == 0; i++) {
        h = v_add(h, v_add(C[i].h, v_scale(x[i].p, C[i].m)));
        mass = mass + C[i].m;
    }
    return v_scale(h, r_const(1.0) / mass);
}

/// Loads of crba_gather, about each root's origin, carried to the center of mass.
/// @param A [6 × nv] result    @param rows [6][padded] loads    @param com center of mass
KKI_INLINE void carry_to_com(const kk_model *m, const kki_scratch *S, const double *rows, size_t padded, vec3 com,
                             double *A) {
    const size_t nv = (size_t)m->nv;
    const world_node *x = S->pose;
    for (int root = 1; root < m->nnode && m->node[root].parent == 0; root++) {
        const vec3 d = v_sub(x[root].p, com);
        const double dx = v_x(d), dy = v_y(d), dz = v_z(d);
        const size_t begin = (size_t)m->node[root].v_index, end = (size_t)m->dof_subtree[begin];
        const double *fx = rows + 3 * padded, *fy = fx + padded, *fz = fy + padded;
        for (size_t i = begin; i < end; i++) {
            A[i] = rows[i] + (dy * fz[i] - dz * fy[i]);
            A[nv + i] = rows[padded + i] + (dz * fx[i] - dx * fz[i]);
            A[2 * nv + i] = rows[2 * padded + i] + (dx * fy[i] - dy * fx[i]);
            A[3 * nv + i] = fx[i];
            A[4 * nv + i] = fy[i];
            A[5 * nv + i] = fz[i];
        }
    }
}

#endif
