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

typedef struct two_nodes {
    kki_tree_entry a, b;
    centred a_box, b_box;            // each in its own frame
    const kki_slab *slab_a, *slab_b; // NULL at the roots
} two_nodes;

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

// Bits of the lanes of a node in T that are near a box in O.
static int near_lanes(const kki_tree_node *n, const placement *x, const centred *box) {
    kki_float4 t[3], h[3];
    kki_mask4 near = {-1, -1, -1, -1};
    for (int i = 0; i < 3; i++) {
        const float *R = x->R + 3 * i, *Q = x->Q + 3 * i;
        const float c = R[0] * box->c[0] + R[1] * box->c[1] + R[2] * box->c[2] + x->p[i];
        const float e = Q[0] * box->h[0] + Q[1] * box->h[1] + Q[2] * box->h[2] + x->limit;
        t[i] = kki_float4_all(c) - 0.5f * (n->lower[i] + n->upper[i]);
        h[i] = 0.5f * (n->upper[i] - n->lower[i]);
        near &= absolute(t[i]) <= h[i] + kki_float4_all(e);
    }
    for (int j = 0; j < 3; j++) {
        const kki_float4 s = x->R[j] * t[0] + x->R[3 + j] * t[1] + x->R[6 + j] * t[2];
        const kki_float4 e = x->Q[j] * h[0] + x->Q[3 + j] * h[1] + x->Q[6 + j] * h[2];
        near &= absolute(s) <= e + kki_float4_all(box->h[j] + x->limit);
    }
    return kki_mask4_bits(near);
}

static centred lane_box(const kki_tree_node *n, int lane) {
    centred b;
    for (int k = 0; k < 3; k++) {
        b.c[k] = 0.5f * (n->lower[k][lane] + n->upper[k][lane]);
        b.h[k] = 0.5f * (n->upper[k][lane] - n->lower[k][lane]);
    }
    return b;
}

static float size_of(const centred *b) {
    return b->h[0] + b->h[1] + b->h[2];
}

static centred root_box(const kki_tree *t) {
    centred b = {{0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < 3; k++) {
        float low = __builtin_inff(), high = -__builtin_inff();
        for (int lane = 0; lane < 4; lane++) {
            if (t->node[0].child[lane] >= 0) {
                low = t->node[0].lower[k][lane] < low ? t->node[0].lower[k][lane] : low;
                high = t->node[0].upper[k][lane] > high ? t->node[0].upper[k][lane] : high;
            }
        }
        b.c[k] = 0.5f * (low + high);
        b.h[k] = 0.5f * (high - low);
    }
    return b;
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

// Whether a slab of T lies apart from what is in a box and a slab of O.
static bool slab_parts(const kki_slab *s, const placement *x, const centred *box, const kki_slab *other) {
    const float *n = s->n, *R = x->R;
    float m[3] = {R[0] * n[0] + R[3] * n[1] + R[6] * n[2], R[1] * n[0] + R[4] * n[1] + R[7] * n[2],
                  R[2] * n[0] + R[5] * n[1] + R[8] * n[2]};
    float middle = n[0] * x->p[0] + n[1] * x->p[1] + n[2] * x->p[2], half = 0;
    // what of the direction lies along the other's slab is bounded by that, the rest by the box
    const float along = m[0] * other->n[0] + m[1] * other->n[1] + m[2] * other->n[2];
    if (other->half < __builtin_inff() && (along > 0.7f || along < -0.7f)) {
        middle += along * other->middle;
        half = (along < 0 ? -along : along) * other->half;
        for (int k = 0; k < 3; k++) {
            m[k] -= along * other->n[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        middle += m[k] * box->c[k];
        half += (m[k] < 0 ? -m[k] : m[k]) * box->h[k];
    }
    const float apart = middle - s->middle;
    return (apart < 0 ? -apart : apart) > s->half + half + x->limit;
}

static bool slabs_part(const two_nodes *t, const placement *b_in_a, const placement *a_in_b) {
    const kki_slab *a = t->slab_a, *b = t->slab_b;
    return a && b &&
           ((a->half < __builtin_inff() && slab_parts(a, b_in_a, &t->b_box, b)) ||
            (b->half < __builtin_inff() && slab_parts(b, a_in_b, &t->a_box, a)));
}

static void read_lane(const kki_tree *t, int32_t at, const centred *root, kki_tree_entry *entry, centred *box,
                      const kki_slab **slab) {
    if (at < 0) {
        *entry = (kki_tree_entry){0, 0};
        *box = *root;
        *slab = NULL;
        return;
    }
    const kki_tree_node *n = &t->node[at >> 2];
    *entry = kki_tree_lane(t, at);
    *box = lane_box(n, at & 3);
    *slab = t->slab ? &t->slab[at] : NULL;
}

// Opens a node of T; `is_a` says which tree T is.
static int open_node(const kki_tree *t, const placement *x, const two_nodes *top, two_lanes lanes, bool is_a,
                     two_lanes *stack, int depth) {
    const int32_t node = is_a ? top->a.child : top->b.child;
    const kki_tree_node *n = &t->node[node];
    for (int bits = near_lanes(n, x, is_a ? &top->b_box : &top->a_box); bits; bits &= bits - 1) {
        const int lane = __builtin_ctz((unsigned)bits);
        if (n->child[lane] >= 0) {
            if (n->count[lane] == 0) { // asked for now, it is there when its turn comes
                const char *below = (const char *)&t->node[n->child[lane]];
                __builtin_prefetch(below);
                __builtin_prefetch(below + 64);
            }
            *(is_a ? &lanes.a : &lanes.b) = 4 * node + lane;
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
    const centred a_root = root_box(a), b_root = root_box(b);
    const double scale =
        reach_of(&a_root) + reach_of(&b_root) + __builtin_fabs(p.x) + __builtin_fabs(p.y) + __builtin_fabs(p.z);
    const float slack = kki_float_above(limit + 4e-6 * scale);
    const placement b_in_a = place(*X_AB, slack), a_in_b = place(kk_transform_inverse(*X_AB), slack);
    while (depth > 0) {
        const two_lanes lanes = stack[--depth];
        two_nodes top;
        read_lane(a, lanes.a, &a_root, &top.a, &top.a_box, &top.slab_a);
        read_lane(b, lanes.b, &b_root, &top.b, &top.b_box, &top.slab_b);
        if (slabs_part(&top, &b_in_a, &a_in_b)) {
            continue;
        }
        if (top.a.count > 0 && top.b.count > 0) {
            const kki_aabb box = box_of(&top.a_box);
            visit(user, top.a, top.b, &box);
            continue;
        }
        const bool is_a = top.b.count > 0 || (top.a.count == 0 && size_of(&top.a_box) >= size_of(&top.b_box));
        depth = open_node(is_a ? a : b, is_a ? &b_in_a : &a_in_b, &top, lanes, is_a, stack, depth);
    }
}
