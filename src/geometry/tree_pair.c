// Two trees against each other. Slabs across the surfaces (S1 7.3) part what touches only because it is slanted: of two
// patches of width L and radius R they are thick L² / R, where boxes are thick L. Two boxes are tried along the six axes of both frames, four boxes of a node at a time; the
// nine products of edges, which would part a few more, cost more than they save (van den Bergen 1997). Floats are enough:
// a slack for their rounding is added to the limit.
#include "geometry/tree_pair.h"

enum { STACK = 2 * KKI_TREE_STACK };

typedef struct centred {
    float c[3], h[3]; // middle and half
} centred;

// Lanes of both trees (kki_tree_lane); −1: the root.
typedef struct two_lanes {
    int32_t a, b;
} two_lanes;

// The slab of one lane.
typedef struct slab {
    float n[3], middle, half; // half infinite: none
} slab;

// One lane of a tree, in its own frame.
typedef struct lane {
    int32_t at;
    kki_tree_entry entry;
    centred box;
    slab slab;
} lane;

// One tree's frame T as seen from the other's O: x_T = R x_O + p.
typedef struct placement {
    float R[9], Q[9], p[3]; // Q: absolute values of R
    float limit;
} placement;

static placement place(kk_transform X, float limit) {
    placement p = {.p = {(float)X.p.x, (float)X.p.y, (float)X.p.z}, .limit = limit};
    for (int i = 0; i < 9; i++) {
        p.R[i] = (float)X.R.m[i];
        p.Q[i] = (float)__builtin_fabs(X.R.m[i]);
    }
    return p;
}

static kki_float4 absolute(kki_float4 x) {
    return kki_float4_max(x, -x);
}

// Four boxes of a node.
typedef struct boxes {
    kki_float4 c[3], h[3];
} boxes;

static inline boxes boxes_of(const kki_tree_node *n) {
    boxes b;
    for (int i = 0; i < 3; i++) {
        b.c[i] = 0.5f * (n->lower[i] + n->upper[i]);
        b.h[i] = 0.5f * (n->upper[i] - n->lower[i]);
    }
    return b;
}

// The boxes of T that are near a box in O.
static inline kki_mask4 near_boxes(const boxes *b, const placement *x, const centred *box) {
    kki_float4 t[3];
    kki_mask4 near = {-1, -1, -1, -1};
    for (int i = 0; i < 3; i++) {
        const float *R = x->R + 3 * i, *Q = x->Q + 3 * i;
        const float c = R[0] * box->c[0] + R[1] * box->c[1] + R[2] * box->c[2] + x->p[i];
        const float e = Q[0] * box->h[0] + Q[1] * box->h[1] + Q[2] * box->h[2] + x->limit;
        t[i] = kki_float4_all(c) - b->c[i];
        near &= absolute(t[i]) <= b->h[i] + kki_float4_all(e);
    }
    for (int j = 0; j < 3; j++) {
        const kki_float4 s = x->R[j] * t[0] + x->R[3 + j] * t[1] + x->R[6 + j] * t[2];
        const kki_float4 e = x->Q[j] * b->h[0] + x->Q[3 + j] * b->h[1] + x->Q[6 + j] * b->h[2];
        near &= absolute(s) <= e + kki_float4_all(box->h[j] + x->limit);
    }
    return near;
}

static float size_of(const lane *l) {
    return l->box.h[0] + l->box.h[1] + l->box.h[2];
}

static centred root_box(const kki_tree *t) {
    centred b = {{0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < 3; k++) {
        float low = __builtin_inff(), high = -__builtin_inff();
        for (int i = 0; i < 4; i++) {
            if (t->node[0].child[i] >= 0) {
                low = t->node[0].lower[k][i] < low ? t->node[0].lower[k][i] : low;
                high = t->node[0].upper[k][i] > high ? t->node[0].upper[k][i] : high;
            }
        }
        b.c[k] = 0.5f * (low + high);
        b.h[k] = 0.5f * (high - low);
    }
    return b;
}

static lane root_lane(const kki_tree *t) {
    return (lane){-1, {0, 0}, root_box(t), {{0, 0, 0}, 0, __builtin_inff()}};
}

static double reach_of(const centred *b) {
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        sum += (double)(b->c[k] < 0 ? -b->c[k] : b->c[k]) + (double)b->h[k];
    }
    return sum;
}

// rounding of the middle is less than a part in 1e6 of what it is made of
static kki_aabb box_of(const centred *b) {
    double low[3], high[3];
    for (int k = 0; k < 3; k++) {
        const double c = (double)b->c[k], h = (double)b->h[k], slack = 1e-6 * ((c < 0 ? -c : c) + h);
        low[k] = c - h - slack;
        high[k] = c + h + slack;
    }
    return (kki_aabb){{low[0], low[1], low[2]}, {high[0], high[1], high[2]}};
}

// Slabs that look the same way to within 45°: of a direction, what lies along the other's slab is bounded by that, the rest
// by the box.
static inline kki_float4 shared(kki_float4 along) {
    const kki_mask4 is_alike = absolute(along) > 0.7f;
    return (kki_float4)(is_alike & (kki_mask4)along);
}

// Where the slabs of T lie apart from what is in a box and a slab of O.
static inline kki_mask4 slabs_part(const kki_tree_slabs *s, const placement *x, const lane *o) {
    const float *R = x->R;
    const kki_float4 *n = s->n;
    kki_float4 m[3] = {R[0] * n[0] + R[3] * n[1] + R[6] * n[2], R[1] * n[0] + R[4] * n[1] + R[7] * n[2],
                       R[2] * n[0] + R[5] * n[1] + R[8] * n[2]};
    kki_float4 middle = n[0] * x->p[0] + n[1] * x->p[1] + n[2] * x->p[2], half = kki_float4_all(0);
    if (o->slab.half < __builtin_inff()) {
        const kki_float4 along = shared(m[0] * o->slab.n[0] + m[1] * o->slab.n[1] + m[2] * o->slab.n[2]);
        middle += along * o->slab.middle;
        half = absolute(along) * o->slab.half;
        for (int k = 0; k < 3; k++) {
            m[k] -= along * o->slab.n[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        middle += m[k] * o->box.c[k];
        half += absolute(m[k]) * o->box.h[k];
    }
    return absolute(middle - s->middle) > s->half + half + x->limit;
}

// Where a slab of O lies apart from what is in the boxes and slabs of T; x places T in O.
static inline kki_mask4 slab_parts(const slab *o, const placement *x, const boxes *b, const kki_tree_slabs *s) {
    const float *n = o->n, *R = x->R;
    const float l[3] = {R[0] * n[0] + R[3] * n[1] + R[6] * n[2], R[1] * n[0] + R[4] * n[1] + R[7] * n[2],
                        R[2] * n[0] + R[5] * n[1] + R[8] * n[2]};
    const kki_float4 all = shared(l[0] * s->n[0] + l[1] * s->n[1] + l[2] * s->n[2]);
    const kki_float4 along = (kki_float4)((kki_mask4)all & (s->half < __builtin_inff()));
    const kki_float4 thick = (kki_float4)((kki_mask4)s->half & (s->half < __builtin_inff()));
    kki_float4 middle = n[0] * x->p[0] + n[1] * x->p[1] + n[2] * x->p[2] + along * s->middle;
    kki_float4 half = absolute(along) * thick;
    for (int k = 0; k < 3; k++) {
        const kki_float4 m = l[k] - along * s->n[k];
        middle += m * b->c[k];
        half += absolute(m) * b->h[k];
    }
    return absolute(middle - o->middle) > half + (o->half + x->limit);
}

// Bits of the lanes of a node of T that a lane of O may meet.
static int near_lanes(const kki_tree *t, int32_t node, const placement *o_in_t, const placement *t_in_o,
                      const lane *o) {
    const boxes b = boxes_of(&t->node[node]);
    kki_mask4 near = near_boxes(&b, o_in_t, &o->box);
    if (!t->slab || !kki_mask4_bits(near)) {
        return kki_mask4_bits(near);
    }
    near &= ~slabs_part(&t->slab[node], o_in_t, o);
    if (o->slab.half < __builtin_inff()) {
        near &= ~slab_parts(&o->slab, t_in_o, &b, &t->slab[node]);
    }
    return kki_mask4_bits(near);
}

// Goes to a lane unless it is there: of two pairs one after the other, one lane is often the same.
static void go_to_lane(const kki_tree *t, int32_t at, const lane *root, lane *l) {
    if (at == l->at) {
        return;
    }
    if (at < 0) {
        *l = *root;
        return;
    }
    const kki_tree_node *n = &t->node[at >> 2];
    const int i = at & 3;
    l->at = at;
    l->entry = kki_tree_lane(t, at);
    for (int k = 0; k < 3; k++) {
        l->box.c[k] = 0.5f * (n->lower[k][i] + n->upper[k][i]);
        l->box.h[k] = 0.5f * (n->upper[k][i] - n->lower[k][i]);
    }
    if (t->slab) {
        const kki_tree_slabs *s = &t->slab[at >> 2];
        l->slab.n[0] = s->n[0][i], l->slab.n[1] = s->n[1][i], l->slab.n[2] = s->n[2][i];
        l->slab.middle = s->middle[i];
        l->slab.half = s->half[i];
    }
}

static void fetch_node(const kki_tree *t, int32_t node) {
    const char *n = (const char *)&t->node[node];
    __builtin_prefetch(n);
    __builtin_prefetch(n + 64);
    if (t->slab) {
        const char *s = (const char *)&t->slab[node];
        __builtin_prefetch(s);
        __builtin_prefetch(s + 64);
    }
}

// Opens a node of T; `is_a` says which tree T is.
static int open_node(const kki_tree *t, int32_t node, int bits, two_lanes lanes, bool is_a, two_lanes *stack,
                     int depth) {
    const kki_tree_node *n = &t->node[node];
    for (; bits; bits &= bits - 1) {
        const int i = __builtin_ctz((unsigned)bits);
        if (n->child[i] >= 0) {
            if (n->count[i] == 0) { // asked for now, it is there when its turn comes
                fetch_node(t, n->child[i]);
            }
            *(is_a ? &lanes.a : &lanes.b) = 4 * node + i;
            stack[depth++] = lanes;
        }
    }
    return depth;
}

void kki_tree_pairs(const kki_tree *a, const kki_tree *b, const kk_transform *X_AB, double limit, kki_leaf_pair *visit,
                    void *user) {
    two_lanes stack[STACK];
    int depth = a->item_count > 0 && b->item_count > 0;
    if (!depth) {
        return;
    }
    stack[0] = (two_lanes){-1, -1};
    const kk_vec3 p = X_AB->p;
    const lane a_root = root_lane(a), b_root = root_lane(b);
    lane la = a_root, lb = b_root;
    const double scale =
        reach_of(&la.box) + reach_of(&lb.box) + __builtin_fabs(p.x) + __builtin_fabs(p.y) + __builtin_fabs(p.z);
    const float slack = kki_float_above(limit + 4e-6 * scale);
    const placement b_in_a = place(*X_AB, slack), a_in_b = place(kk_transform_inverse(*X_AB), slack);
    while (depth > 0) {
        const two_lanes lanes = stack[--depth];
        go_to_lane(a, lanes.a, &a_root, &la);
        go_to_lane(b, lanes.b, &b_root, &lb);
        if (la.entry.count > 0 && lb.entry.count > 0) {
            const kki_aabb box = box_of(&la.box);
            visit(user, la.entry, lb.entry, &box);
        } else if (lb.entry.count > 0 || (la.entry.count == 0 && size_of(&la) >= size_of(&lb))) {
            const int bits = near_lanes(a, la.entry.child, &b_in_a, &a_in_b, &lb);
            depth = open_node(a, la.entry.child, bits, lanes, true, stack, depth);
        } else {
            const int bits = near_lanes(b, lb.entry.child, &a_in_b, &b_in_a, &la);
            depth = open_node(b, lb.entry.child, bits, lanes, false, stack, depth);
        }
    }
}
