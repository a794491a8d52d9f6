/// Joint-space inertia by the composite-rigid-body algorithm in world axes.
///
/// Walker and Orin (1982). Composite inertias are gathered about each node's own origin, tips to roots; a degree of freedom with
/// axis S then loads its root with F = I_composite S. Axes and loads are expressed about the *root's* origin, where no transform
/// separates a branch's nodes, and M_ji = S_j · F_i for every i behind j. The degrees of freedom behind j are one contiguous range,
/// so a row of M is a small matrix product.
#ifndef KKI_DYNAMICS_KERNELS_CRBA_H
#define KKI_DYNAMICS_KERNELS_CRBA_H

#include "inertia.h"
#include "rows.h"

/// An axis that turns about z through the node's origin, one that slides along z, and both: axis and load about the root's origin,
/// from which the node's is o away.
KKI_INLINE void put_turn(spatial *axis, spatial *load, const composite *C, vec3 o, vec3 z) {
    const vec3 f = v_cross(z, C->h);
    *axis = (spatial){z, v_cross(o, z)};
    *load = (spatial){v_add(s_mul(&C->J, z), v_cross(o, f)), f};
}
KKI_INLINE void put_slide(spatial *axis, spatial *load, const composite *C, vec3 o, vec3 z) {
    const vec3 f = v_scale(z, C->m);
    *axis = (spatial){v_zero(), z};
    *load = (spatial){v_add(v_cross(C->h, z), v_cross(o, f)), f};
}
KKI_INLINE void put_screw(spatial *axis, spatial *load, const composite *C, vec3 o, vec3 z, real pitch) {
    const vec3 u = v_scale(z, pitch);
    const vec3 f = v_add(v_cross(z, C->h), v_scale(u, C->m));
    const vec3 n = v_add(s_mul(&C->J, z), v_cross(C->h, u));
    *axis = (spatial){z, v_add(u, v_cross(o, z))};
    *load = (spatial){v_add(n, v_cross(o, f)), f};
}

/// A root's turn or slide, whose own origin is the reference.
KKI_INLINE void put_root_turn(spatial *axis, spatial *load, const composite *C, vec3 z) {
    *axis = (spatial){z, v_zero()};
    *load = (spatial){s_mul(&C->J, z), v_cross(z, C->h)};
}
KKI_INLINE void put_root_slide(spatial *axis, spatial *load, const composite *C, vec3 z) {
    *axis = (spatial){v_zero(), z};
    *load = (spatial){v_cross(C->h, z), v_scale(z, C->m)};
}
KKI_INLINE void put_root(const knode *b, kki_scratch *S, const mat3 *R, const composite *C) {
    spatial *axis = (spatial *)S->axis + b->v_index, *load = (spatial *)S->load + b->v_index;
    if (b->type == KKI_NODE_HINGE) {
        put_root_turn(axis, load, C, R->c[2]);
        return;
    }
    put_root_turn(axis, load, C, R->c[0]);
    put_root_turn(axis + 1, load + 1, C, R->c[1]);
    put_root_turn(axis + 2, load + 2, C, R->c[2]);
    if (b->type == KKI_NODE_FREE) {
        put_root_slide(axis + 3, load + 3, C, R->c[0]);
        put_root_slide(axis + 4, load + 4, C, R->c[1]);
        put_root_slide(axis + 5, load + 5, C, R->c[2]);
    }
}

/// Axes and loads of one node's degrees of freedom.
KKI_INLINE void put_node(const knode *b, kki_scratch *S, const world_node *x, const composite *C) {
    if (b->parent == 0 && b->type != KKI_NODE_SLIDE && b->type != KKI_NODE_SCREW) {
        put_root(b, S, &x->R, C);
        return;
    }
    spatial *axis = (spatial *)S->axis + b->v_index, *load = (spatial *)S->load + b->v_index;
    if (b->type == KKI_NODE_HINGE) {
        put_turn(axis, load, C, x->o, x->R.c[2]);
    } else if (b->type == KKI_NODE_SLIDE) {
        put_slide(axis, load, C, x->o, x->R.c[2]);
    } else if (b->type == KKI_NODE_SCREW) {
        put_screw(axis, load, C, x->o, x->R.c[2], b->pitch);
    } else {
        for (size_t j = 0; j < 3; j++) {
            put_turn(axis + j, load + j, C, x->o, x->R.c[j]);
            if (b->type == KKI_NODE_FREE) {
                put_slide(axis + 3 + j, load + 3 + j, C, x->o, x->R.c[j]);
            }
        }
    }
}

/// Tips to roots: composite inertias, axes, loads. What hangs on a node gathers in S->composite; of a root it is the whole tree.
KKI_INLINE void crba_gather(const kk_model *m, kki_scratch *S, const world_node *x) {
    composite *behind = S->composite;
    for (int i = m->nnode - 1; i > 0; i--) {
        const knode *b = node_of(m, S, i);
        composite C = composite_of_node(b, &x[i].R);
        if (!b->is_leaf) {
            composite_gain(&C, &behind[i]);
        }
        put_node(b, S, &x[i], &C);
        if (b->parent == 0) {
            behind[i] = C; // for readers
            continue;
        }
        const composite moved = b->has_arm ? composite_at(C, x[i].r) : C;
        if (b->is_last) {
            behind[b->parent] = moved;
        } else {
            composite_gain(&behind[b->parent], &moved);
        }
    }
#if KKI_LANES == 1
    const size_t padded = kki_padded(m->nv);
    turn_rows(&((const spatial *)S->load)->a, 2, padded, S->load_rows);
    turn_rows(&((const spatial *)S->load)->l, 2, padded, S->load_rows + 3 * padded);
#endif
}

/// M_ji, or four of them: the halves that are not zero of S_j with those of F_i.
KKI_INLINE wide crba_entry(const kki_scratch *S, size_t padded, size_t j, size_t i, int angular, int linear) {
    const spatial *s = (const spatial *)S->axis + j;
#if KKI_LANES == 1
    const double *f = S->load_rows + i;
    const wide a = angular ? dot3_rows(&s->a, f, padded) : (wide){0};
    const wide l = linear ? dot3_rows(&s->l, f + 3 * padded, padded) : (wide){0};
#else
    (void)padded;
    const spatial *f = (const spatial *)S->load + i;
    const wide a = angular ? v_dot(s->a, f->a) : (wide){0};
    const wide l = linear ? v_dot(s->l, f->l) : (wide){0};
#endif
    return angular && linear ? a + l : angular ? a : l;
}

/// Row j of M from its diagonal to the end of its subtree.
KKI_INLINE void crba_row(const kk_model *m, kki_scratch *S, int j, int angular, int linear) {
    const size_t padded = kki_padded(m->nv), end = (size_t)m->dof_subtree[j], row = (size_t)j;
    real *M = (real *)S->inertia + row * padded;
    for (size_t i = row; i < end; i += ROW_STEP) {
        const wide x = crba_entry(S, padded, row, i, angular, linear);
#if KKI_LANES == 1
        // columns behind the subtree in the last four are nobody's to read
        *(quad_unaligned *)(M + i) = x;
#else
        M[i] = x;
#endif
    }
    M[row] = M[row] + r_const(m->dof_armature[row]);
}

KKI_INLINE void crba_rows(const kk_model *m, kki_scratch *S) {
    for (int j = 0; j < m->nv; j++) {
        switch (m->dof_halves[j]) {
        case KKI_HALF_ANGULAR: crba_row(m, S, j, 1, 0); break;
        case KKI_HALF_LINEAR: crba_row(m, S, j, 0, 1); break;
        default: crba_row(m, S, j, 1, 1); break;
        }
    }
}

#endif
