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

/// A root's hinge, ball or free joint, whose own origin is the reference.
KKI_INLINE void put_root_axis(spatial *axis, spatial *load, const composite *C, vec3 z, int is_free) {
    const vec3 f = v_cross(z, C->h);
    axis[0] = (spatial){z, v_zero()};
    load[0] = (spatial){s_mul(&C->J, z), f};
    if (is_free) {
        axis[3] = (spatial){v_zero(), z};
        load[3] = (spatial){v_neg(f), v_scale(z, C->m)};
    }
}
KKI_INLINE void put_root(const knode *b, kki_scratch *S, const mat3 *R, const composite *C) {
    spatial *axis = (spatial *)S->axis + b->v_index, *load = (spatial *)S->load + b->v_index;
    const int is_free = b->type == KKI_NODE_FREE;
    if (b->type == KKI_NODE_HINGE) {
        put_root_axis(axis, load, C, R->c[2], 0);
        return;
    }
    put_root_axis(axis, load, C, R->c[0], is_free);
    put_root_axis(axis + 1, load + 1, C, R->c[1], is_free);
    put_root_axis(axis + 2, load + 2, C, R->c[2], is_free);
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

#if KKI_LANES == 1

/// The product as a list of chunks of four entries, kind by kind (see KKI_HALF_…): loops over the short rows of a robot's legs would
/// end at every row, and a processor guesses most of those ends wrong.
KKI_INLINE size_t count_chunks(const kk_model *m) {
    size_t n = 0;
    for (int j = 0; j < m->nv; j++) {
        n += ((size_t)(m->dof_subtree[j] - j) + 3) / 4;
    }
    return n;
}

KKI_INLINE void list_chunks(const kk_model *m, kki_scratch *S) {
    static const int kinds[] = {KKI_HALF_ANGULAR, KKI_HALF_LINEAR, KKI_HALF_BOTH};
    size_t n = 0;
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < m->nv; j++) {
            for (int i = j; m->dof_halves[j] == kinds[k] && i < m->dof_subtree[j]; i += 4) {
                S->chunk[n++] = (kki_chunk){j, i};
            }
        }
        S->chunk_end[k] = n;
    }
}

/// Four entries of M; columns behind the subtree are nobody's to read.
KKI_INLINE void crba_chunk(const kki_scratch *S, size_t padded, kki_chunk c, int angular, int linear) {
    const spatial *s = (const spatial *)S->axis + c.row;
    const double *f = S->load_rows + c.column;
    quad_unaligned *M = (quad_unaligned *)(S->inertia + (size_t)c.row * padded + (size_t)c.column);
    if (angular && linear) {
        *M = dot6_rows(s, f, padded);
    } else if (angular) {
        *M = dot3_rows(&s->a, f, padded);
    } else {
        *M = dot3_rows(&s->l, f + 3 * padded, padded);
    }
}

KKI_INLINE void crba_rows(const kk_model *m, kki_scratch *S) {
    const size_t padded = kki_padded(m->nv);
    size_t n = 0;
    for (; n < S->chunk_end[0]; n++) {
        crba_chunk(S, padded, S->chunk[n], 1, 0);
    }
    for (; n < S->chunk_end[1]; n++) {
        crba_chunk(S, padded, S->chunk[n], 0, 1);
    }
    for (; n < S->chunk_end[2]; n++) {
        crba_chunk(S, padded, S->chunk[n], 1, 1);
    }
    for (size_t j = 0; m->has_armature && j < (size_t)m->nv; j++) {
        S->inertia[j * padded + j] += m->dof_armature[j];
    }
}

#else

/// M_ji: the halves that are not zero of S_j with those of F_i.
KKI_INLINE real crba_entry(const spatial *s, const spatial *f, int halves) {
    if (halves == KKI_HALF_ANGULAR) {
        return v_dot(s->a, f->a);
    }
    if (halves == KKI_HALF_LINEAR) {
        return v_dot(s->l, f->l);
    }
    return v_dot(s->a, f->a) + v_dot(s->l, f->l);
}

KKI_INLINE void crba_rows(const kk_model *m, kki_scratch *S) {
    const size_t padded = kki_padded(m->nv);
    const spatial *axis = S->axis, *load = S->load;
    for (size_t j = 0; j < (size_t)m->nv; j++) {
        real *M = (real *)S->inertia + j * padded;
        for (size_t i = j; i < (size_t)m->dof_subtree[j]; i++) {
            M[i] = crba_entry(&axis[j], &load[i], m->dof_halves[j]);
        }
        M[j] = M[j] + r_const(m->dof_armature[j]);
    }
}

#endif
#endif
