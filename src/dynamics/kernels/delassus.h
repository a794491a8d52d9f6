/// Delassus matrix by unit forces that climb the articulated-body factor.
///
/// The articulated-body elimination is a factor of M⁻¹: with pivots U, D of every degree of freedom, a wrench w on a
/// node climbs to the root by
///     y_k = S_k · w,   Y_k = y_k / √D_k,   w ← w − U_k y_k / D_k,   then to the parent's origin, n ← n + r × f.
/// Kept are U/D, and of a joint's last pivot about the parent's origin, U_a + r × U_l: then w goes there while y is still being found, and a climb
/// is but one sum and one product a node long. Two wrenches answer each other with G = Yᵀ Y = J M⁻¹ Jᵀ (S0 builds the same matrix column by column, from
/// accelerations). Four forces climb side by side, one a lane. Free roots are eliminated axis by axis here, too, so
/// that they have pivots.
#ifndef KKI_DYNAMICS_KERNELS_DELASSUS_H
#define KKI_DYNAMICS_KERNELS_DELASSUS_H

#include "aba.h"

// ---- pivots

/// The axis of a node with one degree of freedom, both halves.
KKI_INLINE void pivot_axis(const knode *b, vec3 z, pivot *k) {
    k->Sa = b->type == KKI_NODE_SLIDE ? v_zero() : z;
    k->Sl = b->type == KKI_NODE_SLIDE ? z : v_scale(z, b->pitch);
}

/// Both halves of the axes of a ball or free joint; the eliminations below read one only.
KKI_INLINE void pivot_axes(const knode *b, const mat3 *R, pivot *k) {
    for (size_t j = 0; j < 3; j++) {
        k[j].Sa = R->c[j];
        k[j].Sl = v_zero();
        if (b->type == KKI_NODE_FREE) {
            k[j + 3].Sa = v_zero();
            k[j + 3].Sl = R->c[j];
        }
    }
}

/// From now on in U what a climb takes and a motion leaves, U/D; of a joint's first pivot about the origin of the parent.
KKI_INLINE void pivot_shift(pivot *k, int has_arm, vec3 r) {
    k->Ua = has_arm ? v_add(k->Ua, v_cross(r, k->Ul)) : k->Ua;
}
KKI_INLINE void pivot_share(pivot *k) {
    k->Ua = v_scale(k->Ua, k->inverse_D);
    k->Ul = v_scale(k->Ul, k->inverse_D);
}
/// All but `e`.
KKI_INLINE void pivot_store(pivot *to, const pivot *k) {
    v_store(&to->Sa, k->Sa);
    v_store(&to->Sl, k->Sl);
    v_store(&to->Ua, k->Ua);
    v_store(&to->Ul, k->Ul);
    to->inverse_D = k->inverse_D;
}

/// Tips to roots, behind aba_prepare: every degree of freedom becomes a pivot. @param zero  [nv] torques
KKI_INLINE void delassus_pivots(const kk_model *m, kki_scratch *S, const double *zero) {
    const world_node *pose = S->pose;
    articulated *body = S->articulated;
    for (int i = m->nnode - 1; i > 0; i--) {
        const knode *b = node_of(m, S, i);
        pivot *axis = (pivot *)S->pivot + b->v_index;
        aba_complete(b, (const world_motion *)S->motion + i, &body[i]);
        if (b->type == KKI_NODE_BALL || b->type == KKI_NODE_FREE) {
            pivot_axes(b, &pose[i].R, axis);
            aba_eliminate_many(m, b, &pose[i].R, &body[i], axis, zero, 1);
        } else {
            pivot_axis(b, pose[i].R.c[2], axis);
            if (b->type == KKI_NODE_HINGE) {
                aba_eliminate(&body[i], axis, 1, 0, b->armature, 0);
            } else if (b->type == KKI_NODE_SLIDE) {
                aba_eliminate(&body[i], axis, 0, 1, b->armature, 0);
            } else {
                aba_eliminate(&body[i], axis, 1, 1, b->armature, 0);
            }
        }
        for (int j = 0; j < m->node_nv[i]; j++) {
            axis[j].e = __builtin_sqrt(axis[j].inverse_D); // nobody needs the torques' share here
        }
        pivot_shift(axis, b->has_arm, pose[i].r);
        for (int j = 0; j < m->node_nv[i]; j++) {
            pivot_share(&axis[j]);
        }
        if (b->parent > 0) {
            aba_hand_over(&body[i], b, pose[i].r, &body[b->parent]);
        }
    }
}

// ---- bodies on their own

/// Nothing hangs on its free joint.
KKI_INLINE int is_lone(const knode *b) {
    return is_free_root(b) && b->is_leaf;
}

// ---- climbing

/// Four wrenches in world axes, a lane each.
typedef struct {
    quad n[3], f[3];
} wrenches;

/// Four columns of Y, which may begin at any of them.
typedef double quad_anywhere __attribute__((vector_size(32), aligned(8)));

KKI_INLINE wrenches wrenches_load(const double w[6][4]) {
    const quad *x = (const quad *)w;
    return (wrenches){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

/// Four wrenches from anywhere side by side, instead of or on top of what is there. Written as climbs read them: what is put together from smaller pieces
/// a load would wait for.
KKI_INLINE void wrenches_lay(const double *const row[4], int is_new, double to[6][4]) {
    quad *const w = (quad *)to;
    for (int k = 0; k < 6; k++) {
        const quad x = {row[0][k], row[1][k], row[2][k], row[3][k]};
        w[k] = is_new ? x : w[k] + x;
    }
}

/// Four vectors along an axis.
KKI_INLINE quad along(const quad a[3], const vec3 *axis) {
    return (a[0] * v_pick(axis, 0) + a[1] * v_pick(axis, 1)) + a[2] * v_pick(axis, 2);
}

/// What a pivot keeps, y, is added to its row of Y.
KKI_INLINE void climb_keep(const pivot *k, quad y, double *Y) {
    quad_anywhere *const row = (quad_anywhere *)Y;
    *row = *row + y * k->e;
}

/// Moments about another origin. @param arm  from there to this one
KKI_INLINE void climb_arm(const vec3 *arm, wrenches *w) {
    const double rx = v_pick(arm, 0), ry = v_pick(arm, 1), rz = v_pick(arm, 2);
    const quad fx = w->f[0], fy = w->f[1], fz = w->f[2];
    w->n[0] = w->n[0] + (fz * ry - fy * rz);
    w->n[1] = w->n[1] + (fx * rz - fz * rx);
    w->n[2] = w->n[2] + (fy * rx - fx * ry);
}

/// What a pivot leaves of three moments or forces.
KKI_INLINE void climb_take(const vec3 *U, quad y, quad w[3]) {
    w[0] = w[0] - y * v_pick(U, 0);
    w[1] = w[1] - y * v_pick(U, 1);
    w[2] = w[2] - y * v_pick(U, 2);
}

/// Through a root's free joint: nobody asks for forces behind its slides, nor for anything behind its last.
KKI_INLINE void climb_root(const pivot *k, wrenches *w, double *Y, size_t stride) {
    for (size_t j = 6; j-- > 3;) {
        const quad y = along(w->f, &k[j].Sl);
        climb_keep(k + j, y, Y + j * stride);
        climb_take(&k[j].Ua, y, w->n);
        if (j > 3) {
            climb_take(&k[j].Ul, y, w->f);
        }
    }
    for (size_t j = 3; j-- > 0;) {
        const quad y = along(w->n, &k[j].Sa);
        climb_keep(k + j, y, Y + j * stride);
        if (j > 0) {
            climb_take(&k[j].Ua, y, w->n);
        }
    }
}

/// Through the pivots of a joint, through the halves of their axes that are not zero. @param arm  from the parent's origin    @param Y  row of its first
KKI_INLINE void climb_joint(const knode *b, const pivot *k, const vec3 *arm, wrenches *w, double *Y, size_t stride) {
    size_t j = b->type == KKI_NODE_FREE ? 5 : b->type == KKI_NODE_BALL ? 2 : 0;
    quad y;
    for (; j > 0; j--) {
        y = j < 3 ? along(w->n, &k[j].Sa) : along(w->f, &k[j].Sl);
        climb_keep(k + j, y, Y + j * stride);
        climb_take(&k[j].Ua, y, w->n);
        climb_take(&k[j].Ul, y, w->f);
    }
    if (b->type == KKI_NODE_SLIDE) {
        y = along(w->f, &k->Sl);
    } else if (b->type == KKI_NODE_SCREW) {
        y = along(w->n, &k->Sa) + along(w->f, &k->Sl);
    } else {
        y = along(w->n, &k->Sa);
    }
    climb_keep(k, y, Y);
    if (b->parent > 0) {
        if (b->has_arm) {
            climb_arm(arm, w);
        }
        climb_take(&k->Ua, y, w->n);
        climb_take(&k->Ul, y, w->f);
    }
}

/// Through all six pivots of a body on its own, in its own axes: what each takes from the moments behind it is all that there is to pass on.
KKI_INLINE void climb_central(const knode *b, const pivot *k, const wrenches *w, double *Y, size_t stride) {
    const double xz = b->inertia[0][2], yz = b->inertia[1][2];
    const double xy = b->inertia[0][1] - xz * yz * k[2].inverse_D;
    const quad z = along(w->n, &k[2].Sa), z_taken = z * k[2].inverse_D;
    const quad y = along(w->n, &k[1].Sa) - z_taken * yz;
    const quad x = (along(w->n, &k[0].Sa) - z_taken * xz) - y * k[1].inverse_D * xy;
    const quad all[6] = {x, y, z, along(w->f, &k[3].Sl), along(w->f, &k[4].Sl), along(w->f, &k[5].Sl)};
    for (size_t j = 0; j < 6; j++) {
        quad_anywhere *row = (quad_anywhere *)(Y + j * stride);
        *row = *row + all[j] * k[j].e;
    }
}

/// Through a node's joint and on to the parent; gives the parent. `stride` separates rows of Y, whose first belongs to
/// degree of freedom `base`.
KKI_INLINE int climb_node(const kk_model *m, const kki_scratch *S, int i, wrenches *w, size_t base, double *Y,
                          size_t stride) {
    const knode *b = node_of(m, S, i);
    const size_t first = (size_t)b->v_index;
    const pivot *k = (const pivot *)S->pivot + first;
    const vec3 *arm = &((const world_node *)S->pose)[i].r;
    double *const row = Y + (first - base) * stride;
    if (b->type == KKI_NODE_FREE) {
        if (b->is_central) {
            climb_central(b, k, w, row, stride);
            return 0;
        }
        if (b->parent == 0) {
            climb_root(k, w, row, stride);
            return 0;
        }
    }
    climb_joint(b, k, arm, w, row, stride);
    return b->parent;
}

/// Up to a node on the way to the root.
KKI_INLINE void climb_to(const kk_model *m, const kki_scratch *S, int i, int end, wrenches *w, size_t base, double *Y,
                         size_t stride) {
    while (i != end) {
        i = climb_node(m, S, i, w, base, Y, stride);
    }
}

/// Where two branches meet: nodes are ordered by depth.
KKI_INLINE int meeting_of(const kk_model *m, const kki_scratch *S, int i, int j) {
    while (i != j) {
        if (i > j) {
            i = node_of(m, S, i)->parent;
        } else {
            j = node_of(m, S, j)->parent;
        }
    }
    return i;
}

/// Four pairs of wrenches, each on a node about its origin: one climbs to where they meet, then the other, then both go on as one. (In turns, as deep
/// as they are, they would drive each other out of the registers.) A wrench on the world is lost on it. @param j  0: there is only one
KKI_INLINE void climb_pair(const kk_model *m, const kki_scratch *S, int i, const double wi[6][4], int j,
                           const double wj[6][4], size_t base, double *Y, size_t stride) {
    wrenches a = wrenches_load(wi);
    if (j > 0) {
        const int meeting = meeting_of(m, S, i, j);
        climb_to(m, S, i, meeting, &a, base, Y, stride);
        wrenches b = wrenches_load(wj);
        climb_to(m, S, j, meeting, &b, base, Y, stride);
        for (int c = 0; c < 3; c++) {
            a.n[c] = a.n[c] + b.n[c];
            a.f[c] = a.f[c] + b.f[c];
        }
        i = meeting;
    }
    climb_to(m, S, i, 0, &a, base, Y, stride);
}

/// Which of several nodes is deepest, and which comes next. @param count  at least two
KKI_INLINE void deepest_two(int count, const int32_t *node, int *first, int *second) {
    *first = node[1] > node[0];
    *second = 1 - *first;
    for (int e = 2; e < count; e++) {
        if (node[e] > node[*first]) {
            *second = *first;
            *first = e;
        } else if (node[e] > node[*second]) {
            *second = e;
        }
    }
}

/// Wrenches on several nodes of one tree, no node twice: the deepest climbs until another one is, and goes on as one with those that it meets.
/// Overwrites `node` and `w`.
KKI_INLINE void climb_set(const kk_model *m, const kki_scratch *S, int count, int32_t *node, double (*w)[6][4],
                          size_t base, double *Y, size_t stride) {
    while (count > 2) {
        int top, next;
        deepest_two(count, node, &top, &next);
        wrenches a = wrenches_load((const double(*)[4])w[top]);
        int i = node[top];
        while (i > node[next]) {
            i = climb_node(m, S, i, &a, base, Y, stride);
        }
        node[top] = i;
        quad *const to = (quad *)w[i == node[next] ? next : top];
        for (int c = 0; c < 3; c++) {
            to[c] = i == node[next] ? to[c] + a.n[c] : a.n[c];
            to[c + 3] = i == node[next] ? to[c + 3] + a.f[c] : a.f[c];
        }
        if (i == node[next] || i == 0) { // gone on as one, or lost on the world
            count--;
            node[top] = node[count];
            for (int c = 0; c < 6; c++) {
                ((quad *)w[top])[c] = ((const quad *)w[count])[c];
            }
        }
    }
    climb_pair(m, S, node[0], (const double(*)[4])w[0], count > 1 ? node[1] : 0, (const double(*)[4])w[1], base, Y,
               stride);
}

// ---- the product

/// `width` registers of one row of G: Σ Y_kr Y_k over the listed k.
KKI_INLINE void gram_columns(const double *Yr, const double *Y, size_t stride, const int32_t *list, int count, quad *G,
                             int width) {
    quad sum[4];
    for (int c = 0; c < width; c++) {
        sum[c] = (quad){0, 0, 0, 0};
    }
    for (int t = 0; t < count; t++) {
        const size_t at = (size_t)list[t] * stride;
        const double y = Yr[at];
        const quad *x = (const quad *)(Y + at);
        for (int c = 0; c < width; c++) {
            sum[c] = sum[c] + x[c] * y;
        }
    }
    for (int c = 0; c < width; c++) {
        G[c] = sum[c];
    }
}

/// Row r of Yᵀ Z, `quads` registers: only the listed degrees of freedom feel row r.
KKI_INLINE void gram_row(const double *Yr, const double *Z, size_t stride, const int32_t *list, int count, size_t quads,
                         double *G) {
    size_t c = 0;
    for (; c + 4 <= quads; c += 4) {
        gram_columns(Yr, Z + 4 * c, stride, list, count, (quad *)(G + 4 * c), 4);
    }
    for (; c < quads; c++) {
        gram_columns(Yr, Z + 4 * c, stride, list, count, (quad *)(G + 4 * c), 1);
    }
}

#endif
