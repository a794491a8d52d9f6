/// Joint-space inertia by the composite-rigid-body algorithm in world axes.
///
/// Walker and Orin (1982). Composite inertias are gathered about each node's own origin, tips to roots; a degree of freedom with
/// axis S then loads its root with F = I_composite S. Axes and loads are expressed about the *root's* origin, where no transform
/// separates a branch's nodes, and M_ji = S_j · F_i for every i behind j. The degrees of freedom behind j are one contiguous range,
/// so a row of M is a small matrix product: for one robot four entries at a time, in lanes one entry of every robot at a time.
#ifndef KKI_DYNAMICS_KERNELS_CRBA_H
#define KKI_DYNAMICS_KERNELS_CRBA_H

#include "inertia.h"
#include "rows.h"

/// An axis that turns about z through the node's origin, and one that slides along z: axis and load about the root's origin o away.
KKI_INLINE void put_turn(kki_scratch *S, size_t padded, size_t k, const composite *C, vec3 o, vec3 z) {
    const vec3 f = v_cross(z, C->h);
    put_column(S->axis, padded, k, z, v_cross(o, z));
    put_column(S->load, padded, k, v_add(s_mul(&C->J, z), v_cross(o, f)), f);
}
KKI_INLINE void put_slide(kki_scratch *S, size_t padded, size_t k, const composite *C, vec3 o, vec3 z) {
    const vec3 f = v_scale(z, C->m);
    put_column(S->axis, padded, k, v_zero(), z);
    put_column(S->load, padded, k, v_add(v_cross(C->h, z), v_cross(o, f)), f);
}
KKI_INLINE void put_screw(kki_scratch *S, size_t padded, size_t k, const composite *C, vec3 o, vec3 z, real pitch) {
    const vec3 u = v_scale(z, pitch);
    const vec3 f = v_add(v_cross(z, C->h), v_scale(u, C->m));
    const vec3 n = v_add(s_mul(&C->J, z), v_cross(C->h, u));
    put_column(S->axis, padded, k, z, v_add(u, v_cross(o, z)));
    put_column(S->load, padded, k, v_add(n, v_cross(o, f)), f);
}

/// Axes and loads of one node's degrees of freedom.
KKI_INLINE void put_node(const kki_node *b, kki_scratch *S, size_t padded, const world_node *x, const composite *C) {
    const size_t k = (size_t)b->v_index;
    if (b->type == KKI_NODE_HINGE) {
        put_turn(S, padded, k, C, x->o, x->R.c[2]);
    } else if (b->type == KKI_NODE_SLIDE) {
        put_slide(S, padded, k, C, x->o, x->R.c[2]);
    } else if (b->type == KKI_NODE_SCREW) {
        put_screw(S, padded, k, C, x->o, x->R.c[2], r_const(b->pitch));
    } else {
        for (size_t j = 0; j < 3; j++) {
            put_turn(S, padded, k + j, C, x->o, x->R.c[j]);
            if (b->type == KKI_NODE_FREE) {
                put_slide(S, padded, k + 3 + j, C, x->o, x->R.c[j]);
            }
        }
    }
}

/// Tips to roots: composite inertias, axes, loads.
KKI_INLINE void crba_gather(const kk_model *m, kki_scratch *S) {
    const size_t padded = kki_padded(m->nv);
    const world_node *x = S->pose;
    composite *C = S->composite;
    for (int i = 1; i < m->nnode; i++) {
        C[i] = composite_of_node(&m->node[i], &x[i].R);
    }
    for (int i = m->nnode - 1; i > 0; i--) {
        const kki_node *b = &m->node[i];
        put_node(b, S, padded, &x[i], &C[i]);
        if (b->parent > 0) {
            composite_hand_over(&C[i], x[i].r, &C[b->parent]);
        }
    }
}

/// Which halves of an axis about the root's origin can be non-zero.
KKI_INLINE void axis_halves(const kk_model *m, int dof, int *angular, int *linear) {
    const kki_node *b = &m->node[m->dof_node[dof]];
    const int slides = b->type == KKI_NODE_SLIDE || (b->type == KKI_NODE_FREE && dof >= b->v_index + 3);
    *angular = !slides;
    *linear = slides || b->type == KKI_NODE_SCREW || b->parent > 0;
}

/// Row j of M from its diagonal to the end of its subtree; zeros behind, anything before.
KKI_INLINE void crba_row(const kk_model *m, kki_scratch *S, int j, int angular, int linear) {
    const size_t padded = kki_padded(m->nv), end = (size_t)m->dof_subtree[j], row = (size_t)j;
    const size_t lane = sizeof(real) / sizeof(double);
    const double *axis = S->axis, *load = S->load;
    real *M = (real *)S->inertia + row * padded;
    for (size_t i = row & ~(size_t)(ROW_STEP - 1); i < end; i += ROW_STEP) {
        wide x = {0};
        if (angular && linear) {
            x = dot_wide(axis, load, padded, row, i) + dot_wide(axis + 3 * padded * lane, load + 3 * padded * lane, padded, row, i);
        } else if (angular) {
            x = dot_wide(axis, load, padded, row, i);
        } else {
            x = dot_wide(axis + 3 * padded * lane, load + 3 * padded * lane, padded, row, i);
        }
        *(wide *)(M + i) = i + ROW_STEP > end ? keep_before(x, i, end) : x;
    }
    M[row] = M[row] + r_const(m->dof_armature[row]);
}

KKI_INLINE void crba_rows(const kk_model *m, kki_scratch *S) {
    for (int j = 0; j < m->nv; j++) {
        int angular, linear;
        axis_halves(m, j, &angular, &linear);
        if (angular && linear) {
            crba_row(m, S, j, 1, 1);
        } else if (angular) {
            crba_row(m, S, j, 1, 0);
        } else {
            crba_row(m, S, j, 0, 1);
        }
    }
}

#endif
