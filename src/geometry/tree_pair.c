// Two trees against each other. Slabs across the surfaces (S1 7.3) part what touches only because it is slanted: of two
// patches of width L and radius R they are thick L² / R, where boxes are thick L. Two boxes are tried along the six axes of
// both frames; the nine products of edges, which would part a few more, cost more than they save (van den Bergen 1997).
// Floats are enough: a slack for their rounding is added to the limit.
//
// Nodes are opened two at a time: what the other frame sees of their lanes is worked out once for all sixteen pairs, and
// each lane of one node is tried against the four of the other at once. Where one box is much larger than the other its
// node is opened alone.
#include "geometry/tree_pair.h"

enum { STACK = 2 * KKI_TREE_STACK / 3 + 4, ALL_LANES = 15 }; // an entry for each level of both trees

// One tree's frame T as seen from the other's O: x_T = R x_O + p. Q: absolute values of R.
typedef struct placement {
    kki_float4 R[9], Q[9], p[3];
} placement;

typedef struct boxes {
    kki_float4 c[3], h[3]; // middles and halves
} boxes;

// Four lanes of a node, as its own frame T and as the other tree's O sees them.
typedef struct group {
    int32_t node;
    boxes own, seen; // `seen` has the limit in its halves
    // slabs: |n · x_T − middle| ≤ half, and n · x_T = l · x_O + offset
    kki_float4 n[3], l[3], offset, middle, half;
    kki_mask4 is_thin; // which lanes have one
    int thin;          // their bits
} group;

// Pairs of lanes that are yet to be looked at: bit 4 j + i for lane i of A's node and lane j of B's.
typedef struct two_nodes {
    int32_t a, b;
    unsigned pairs;
} two_nodes;

// Two lanes that may meet, with what is below them.
typedef struct two_lanes {
    int32_t a, b, a_child, b_child;
    int i, k;
} two_lanes;

typedef struct walk {
    const kki_pair_tree *a, *b;
    placement a_from_b, b_from_a;
    kki_float4 limit;
    group ga, gb;
    int depth;
    two_nodes stack[STACK];
} walk;

static void place(kk_transform X, placement *p) {
    const double at[3] = {X.p.x, X.p.y, X.p.z};
    for (int i = 0; i < 9; i++) {
        p->R[i] = kki_float4_all((float)X.R.m[i]);
        p->Q[i] = kki_float4_all((float)__builtin_fabs(X.R.m[i]));
    }
    for (int i = 0; i < 3; i++) {
        p->p[i] = kki_float4_all((float)at[i]);
    }
}

static inline kki_float4 absolute(kki_float4 x) {
    return (kki_float4)((kki_mask4)x & 0x7fffffff);
}

static inline kki_float4 where(kki_mask4 m, kki_float4 x) {
    return (kki_float4)(m & (kki_mask4)x);
}

// ---- four lanes

static inline void set_boxes(const kki_pair_node *n, const placement *o_from_t, kki_float4 limit, group *g) {
    for (int i = 0; i < 3; i++) {
        g->own.c[i] = 0.5f * (n->lower[i] + n->upper[i]);
        g->own.h[i] = 0.5f * (n->upper[i] - n->lower[i]);
    }
    const kki_float4 *c = g->own.c, *h = g->own.h;
    for (int i = 0; i < 3; i++) {
        const kki_float4 *R = o_from_t->R + 3 * i, *Q = o_from_t->Q + 3 * i;
        g->seen.c[i] = R[0] * c[0] + R[1] * c[1] + R[2] * c[2] + o_from_t->p[i];
        g->seen.h[i] = Q[0] * h[0] + Q[1] * h[1] + Q[2] * h[2] + limit;
    }
}

static inline void set_slabs(const kki_pair_node *s, const placement *t_from_o, group *g) {
    const kki_float4 *R = t_from_o->R, *p = t_from_o->p, *n = s->n;
    g->is_thin = s->half < __builtin_inff();
    g->thin = kki_mask4_bits(g->is_thin);
    if (!g->thin) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        g->n[i] = n[i];
        g->l[i] = R[i] * n[0] + R[3 + i] * n[1] + R[6 + i] * n[2];
    }
    g->offset = n[0] * p[0] + n[1] * p[1] + n[2] * p[2];
    g->middle = s->middle;
    g->half = s->half;
}

// Unless it is there: of two pairs one after the other, one node is often the same.
static inline void set_group(const kki_pair_tree *t, int32_t node, const placement *t_from_o, const placement *o_from_t,
                             kki_float4 limit, group *g) {
    if (g->node == node) {
        return;
    }
    g->node = node;
    set_boxes(&t->node[node], o_from_t, limit, g);
    set_slabs(&t->node[node], t_from_o, g);
}

// ---- one lane against four

static inline kki_mask4 near_boxes(const group *g, const group *o, int k) {
    kki_mask4 near = {-1, -1, -1, -1};
    for (int i = 0; i < 3; i++) {
        near &= absolute(g->own.c[i] - o->seen.c[i][k]) <= g->own.h[i] + o->seen.h[i][k];
        near &= absolute(g->seen.c[i] - o->own.c[i][k]) <= g->seen.h[i] + o->own.h[i][k];
    }
    return near;
}

// Slabs that look the same way to within 45°: of a direction, what lies along the other's slab is bounded by that, the rest
// by the box.
static inline kki_float4 shared(kki_float4 along) {
    return where(absolute(along) > 0.7f, along);
}

// Where the slabs of the four lie apart from the lane's box and slab.
static inline kki_mask4 slabs_part(const group *g, const group *o, int k, kki_float4 along, kki_float4 limit) {
    kki_float4 middle = g->offset - g->middle, half = g->half + limit;
    kki_float4 m[3] = {g->l[0], g->l[1], g->l[2]};
    if (o->thin >> k & 1) {
        middle += along * o->middle[k];
        half += absolute(along) * o->half[k];
        for (int i = 0; i < 3; i++) {
            m[i] -= along * o->n[i][k];
        }
    }
    for (int i = 0; i < 3; i++) {
        middle += m[i] * o->own.c[i][k];
        half += absolute(m[i]) * o->own.h[i][k];
    }
    return absolute(middle) > half;
}

// Where the lane's slab lies apart from the boxes and slabs of the four.
static inline kki_mask4 slab_parts(const group *g, const group *o, int k, kki_float4 along, kki_float4 limit) {
    kki_float4 middle = kki_float4_all(o->offset[k] - o->middle[k]), half = o->half[k] + limit;
    kki_float4 m[3] = {kki_float4_all(o->l[0][k]), kki_float4_all(o->l[1][k]), kki_float4_all(o->l[2][k])};
    if (g->thin) {
        const kki_float4 thick = where(g->is_thin, g->half);
        along = where(g->is_thin, along);
        middle += along * g->middle;
        half += absolute(along) * thick;
        for (int i = 0; i < 3; i++) {
            m[i] -= along * g->n[i];
        }
    }
    for (int i = 0; i < 3; i++) {
        middle += m[i] * g->own.c[i];
        half += absolute(m[i]) * g->own.h[i];
    }
    return absolute(middle) > half;
}

// Bits of the lanes of a group that lane k of the other tree's may meet.
static inline unsigned near_lanes(const group *g, const group *o, int k, kki_float4 limit) {
    kki_mask4 near = near_boxes(g, o, k);
    kki_float4 along = kki_float4_all(0);
    if (!kki_mask4_bits(near)) {
        return 0;
    }
    if (g->thin && (o->thin >> k & 1)) {
        along = shared(g->l[0] * o->n[0][k] + g->l[1] * o->n[1][k] + g->l[2] * o->n[2][k]);
    }
    if (g->thin) {
        near &= ~slabs_part(g, o, k, along, limit);
    }
    if (o->thin >> k & 1) {
        near &= ~slab_parts(g, o, k, along, limit);
    }
    return (unsigned)kki_mask4_bits(near);
}

// ---- the walk

// Two nodes, or of one of them only some lanes: what may meet waits on the stack.
static void open_nodes(walk *w, int32_t a, unsigned a_lanes, int32_t b, unsigned b_lanes) {
    two_nodes *top = &w->stack[w->depth];
    set_group(w->a, a, &w->a_from_b, &w->b_from_a, w->limit, &w->ga);
    set_group(w->b, b, &w->b_from_a, &w->a_from_b, w->limit, &w->gb);
    *top = (two_nodes){a, b, 0};
    if (a_lanes == ALL_LANES) {
        for (unsigned left = b_lanes; left; left &= left - 1) {
            const int k = __builtin_ctz(left);
            top->pairs |= near_lanes(&w->ga, &w->gb, k, w->limit) << 4 * k;
        }
    } else { // one lane of A's
        const int i = __builtin_ctz(a_lanes);
        const unsigned met = near_lanes(&w->gb, &w->ga, i, w->limit);
        top->pairs = ((met & 1) | (met & 2) << 3 | (met & 4) << 6 | (met & 8) << 9) << i;
    }
    w->depth += top->pairs != 0;
}

static float size_of(const kki_pair_node *n, int k) {
    return n->upper[0][k] - n->lower[0][k] + n->upper[1][k] - n->lower[1][k] + n->upper[2][k] - n->lower[2][k];
}

static void open_lanes(walk *w, const two_lanes *l) {
    const float a_size = size_of(&w->a->node[l->a], l->i), b_size = size_of(&w->b->node[l->b], l->k);
    const bool is_a_leaf = l->a_child < 0, is_b_leaf = l->b_child < 0;
    if (is_b_leaf || (!is_a_leaf && a_size > 2 * b_size)) {
        open_nodes(w, l->a_child, ALL_LANES, l->b, 1u << l->k);
    } else if (is_a_leaf || b_size > 2 * a_size) {
        open_nodes(w, l->a, 1u << l->i, l->b_child, ALL_LANES);
    } else {
        open_nodes(w, l->a_child, ALL_LANES, l->b_child, ALL_LANES);
    }
}

static two_lanes take_pair(walk *w) {
    two_nodes *top = &w->stack[w->depth - 1];
    const int bit = __builtin_ctz(top->pairs), i = bit & 3, k = bit >> 2;
    const two_lanes l = {top->a, top->b, w->a->node[top->a].child[i], w->b->node[top->b].child[k], i, k};
    top->pairs &= top->pairs - 1;
    w->depth -= top->pairs == 0;
    return l;
}

static void go_down(walk *w, kki_leaf_pair *visit, void *user) {
    while (w->depth > 0) {
        const two_lanes l = take_pair(w);
        if (l.a_child < 0 && l.b_child < 0) {
            visit(user, &w->a->leaf[-1 - l.a_child], &w->b->leaf[-1 - l.b_child]);
        } else {
            open_lanes(w, &l);
        }
    }
}

// Sum of the greatest coordinates along each axis.
static double reach_of(const kki_pair_node *root) {
    double sum = 0;
    for (int axis = 0; axis < 3; axis++) {
        double most = 0;
        for (int k = 0; k < 4 && root->child[k] != KKI_PAIR_NONE; k++) {
            most = kki_greater(most, kki_greater(-(double)root->lower[axis][k], (double)root->upper[axis][k]));
        }
        sum += most;
    }
    return sum;
}

void kki_tree_pairs(const kki_pair_tree *a, const kki_pair_tree *b, const kk_transform *X_AB, double limit,
                    kki_leaf_pair *visit, void *user) {
    if (a->leaf_count == 0 || b->leaf_count == 0) {
        return;
    }
    walk w;
    const kk_vec3 p = X_AB->p;
    const double scale =
        reach_of(a->node) + reach_of(b->node) + __builtin_fabs(p.x) + __builtin_fabs(p.y) + __builtin_fabs(p.z);
    w.a = a, w.b = b;
    w.limit = kki_float4_all(kki_float_above(limit + 4e-6 * scale));
    w.ga.node = w.gb.node = -1;
    w.depth = 0;
    place(*X_AB, &w.a_from_b);
    place(kk_transform_inverse(*X_AB), &w.b_from_a);
    open_nodes(&w, 0, ALL_LANES, 0, ALL_LANES);
    go_down(&w, visit, user);
}
