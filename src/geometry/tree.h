// A tree of axis-aligned boxes, four children a node, for triangles of meshes and bodies of a scene.
//
// A node holds the boxes of its four children as floats side by side, so one comparison of four lanes tests all of them.
// Floats are rounded outwards and queries as well: a query never misses a box it touches, and may meet one it does not
// touch by a rounding, so the caller's own exact test decides. Built from the top by the surface area heuristic over
// bins; where bins do not separate, and below a depth, ranges are halved, which bounds the depth and so the stacks.
// Walks have no recursion and allocate nothing.
#ifndef KKI_GEOMETRY_TREE_H
#define KKI_GEOMETRY_TREE_H

#include <stdbool.h>

#include "geometry/aabb.h"
#include <karakuri/allocator.h>
#include <karakuri/status.h>

typedef float kki_float4 __attribute__((vector_size(16)));
typedef int32_t kki_mask4 __attribute__((vector_size(16)));

enum { KKI_TREE_STACK = 160, KKI_TREE_DEEP = 20 };

/// A lane is an inner node (count 0, child ≥ 0), a leaf (items child … child + count − 1 of the order), or empty
/// (child −1, a box that touches nothing).
typedef struct kki_tree_node {
    kki_float4 lower[3], upper[3];
    int32_t child[4];
    int32_t count[4];
} kki_tree_node;

typedef struct kki_tree {
    int32_t node_count, item_count;
    kki_tree_node *node; ///< [node_count], the root first; NULL where there is no item
    int32_t *item;       ///< [item_count] items in the order of the leaves
} kki_tree;

/// Most nodes a tree of that many items can have.
static inline int32_t kki_tree_most_nodes(int32_t items) {
    return items > 1 ? items : 1;
}

/// Builds over box[count] into node[kki_tree_most_nodes(count)] and item[count]; leaves hold at most `leaf` items.
void kki_tree_build(kki_tree *tree, const kki_aabb *box, int32_t count, int leaf);

/// Writes a box into a lane, rounded outwards.
void kki_tree_set_lane(kki_tree_node *node, int lane, const kki_aabb *box);
void kki_tree_clear_lane(kki_tree_node *node, int lane);
/// A double as a float that is not greater, not less.
float kki_float_below(double x);
float kki_float_above(double x);

static inline int kki_mask4_bits(kki_mask4 m) {
#ifdef __SSE2__
    return __builtin_ia32_movmskps((kki_float4)m);
#else
    return (m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8);
#endif
}

// ---- all items whose box touches a box

typedef struct kki_tree_entry {
    int32_t child, count;
} kki_tree_entry;

/// A lane by its number, 4 node + lane: so stacks of walks hold numbers and stay small.
static inline kki_tree_entry kki_tree_lane(const kki_tree *tree, int32_t at) {
    return (kki_tree_entry){tree->node[at >> 2].child[at & 3], tree->node[at >> 2].count[at & 3]};
}
static inline kki_aabb kki_tree_lane_box(const kki_tree *tree, int32_t at) {
    const kki_tree_node *n = &tree->node[at >> 2];
    const int k = at & 3;
    return (kki_aabb){{(double)n->lower[0][k], (double)n->lower[1][k], (double)n->lower[2][k]},
                      {(double)n->upper[0][k], (double)n->upper[1][k], (double)n->upper[2][k]}};
}

typedef struct kki_tree_walk {
    const kki_tree *tree;
    kki_float4 lower[3], upper[3];
    int depth;
    kki_tree_entry stack[KKI_TREE_STACK];
} kki_tree_walk;

static inline kki_float4 kki_float4_all(float x) {
    return (kki_float4){x, x, x, x};
}

/// Lane by lane the greater, the lesser; the second where one is not a number.
static inline kki_float4 kki_float4_max(kki_float4 a, kki_float4 b) {
#ifdef __SSE2__
    return __builtin_ia32_maxps(a, b);
#else
    const kki_mask4 m = a > b;
    return (kki_float4)((m & (kki_mask4)a) | (~m & (kki_mask4)b));
#endif
}
static inline kki_float4 kki_float4_min(kki_float4 a, kki_float4 b) {
#ifdef __SSE2__
    return __builtin_ia32_minps(a, b);
#else
    const kki_mask4 m = a < b;
    return (kki_float4)((m & (kki_mask4)a) | (~m & (kki_mask4)b));
#endif
}

static inline void kki_tree_walk_begin(kki_tree_walk *walk, const kki_tree *tree, const kki_aabb *box) {
    walk->tree = tree;
    walk->lower[0] = kki_float4_all(kki_float_below(box->lower.x));
    walk->lower[1] = kki_float4_all(kki_float_below(box->lower.y));
    walk->lower[2] = kki_float4_all(kki_float_below(box->lower.z));
    walk->upper[0] = kki_float4_all(kki_float_above(box->upper.x));
    walk->upper[1] = kki_float4_all(kki_float_above(box->upper.y));
    walk->upper[2] = kki_float4_all(kki_float_above(box->upper.z));
    walk->depth = tree->item_count > 0;
    walk->stack[0] = (kki_tree_entry){0, 0};
}

/// Bits of the lanes whose box touches the walk's box.
static inline int kki_tree_touching(const kki_tree_node *n, const kki_float4 lower[3], const kki_float4 upper[3]) {
    const kki_mask4 x = (n->lower[0] <= upper[0]) & (n->upper[0] >= lower[0]);
    const kki_mask4 y = (n->lower[1] <= upper[1]) & (n->upper[1] >= lower[1]);
    const kki_mask4 z = (n->lower[2] <= upper[2]) & (n->upper[2] >= lower[2]);
    return kki_mask4_bits(x & y & z);
}

/// The next leaf: items[0 … count − 1] of the tree's order. False at the end.
static inline bool kki_tree_walk_next(kki_tree_walk *walk, int32_t *first, int32_t *count) {
    while (walk->depth > 0) {
        const kki_tree_entry top = walk->stack[--walk->depth];
        if (top.count > 0) {
            *first = top.child;
            *count = top.count;
            return true;
        }
        const kki_tree_node *n = &walk->tree->node[top.child];
        for (int bits = kki_tree_touching(n, walk->lower, walk->upper); bits; bits &= bits - 1) {
            const int lane = __builtin_ctz((unsigned)bits);
            // an endless query touches empty lanes as well
            walk->stack[walk->depth] = (kki_tree_entry){n->child[lane], n->count[lane]};
            walk->depth += n->child[lane] >= 0;
        }
    }
    return false;
}

/// Squared distance of a point from each lane's box, from below.
static inline kki_float4 kki_tree_distance2(const kki_tree_node *n, const kki_float4 p[3]) {
    kki_float4 sum = kki_float4_all(0);
    for (int k = 0; k < 3; k++) {
        const kki_float4 a = n->lower[k] - p[k], b = p[k] - n->upper[k];
        const kki_float4 far = kki_float4_max(kki_float4_max(a, b), kki_float4_all(0));
        sum += far * far;
    }
    return sum;
}

/// How far a squared distance of floats from a point may reach beyond `distance`: the point is rounded, and squares lose a
/// little more.
static inline float kki_tree_widened2(kk_vec3 p, double distance) {
    const double slack = 0x1p-22 * (__builtin_fabs(p.x) + __builtin_fabs(p.y) + __builtin_fabs(p.z));
    const double d = distance + slack;
    return kki_float_above(d * d * (1 + 0x1p-20));
}

// ---- all items whose box touches a ball: of what a ball's box touches most is beside the ball

typedef struct kki_ball_walk {
    const kki_tree *tree;
    kki_float4 p[3];
    float most; ///< squared
    int depth;
    kki_tree_entry stack[KKI_TREE_STACK];
} kki_ball_walk;

static inline void kki_ball_walk_begin(kki_ball_walk *walk, const kki_tree *tree, kk_vec3 p, double radius) {
    walk->tree = tree;
    walk->p[0] = kki_float4_all((float)p.x);
    walk->p[1] = kki_float4_all((float)p.y);
    walk->p[2] = kki_float4_all((float)p.z);
    walk->most = kki_tree_widened2(p, radius);
    walk->depth = tree->item_count > 0;
    walk->stack[0] = (kki_tree_entry){0, 0};
}

static inline bool kki_ball_walk_next(kki_ball_walk *walk, int32_t *first, int32_t *count) {
    while (walk->depth > 0) {
        const kki_tree_entry top = walk->stack[--walk->depth];
        if (top.count > 0) {
            *first = top.child;
            *count = top.count;
            return true;
        }
        const kki_tree_node *n = &walk->tree->node[top.child];
        for (int bits = kki_mask4_bits(kki_tree_distance2(n, walk->p) <= walk->most); bits; bits &= bits - 1) {
            const int lane = __builtin_ctz((unsigned)bits);
            walk->stack[walk->depth] = (kki_tree_entry){n->child[lane], n->count[lane]};
            walk->depth += n->child[lane] >= 0;
        }
    }
    return false;
}

// ---- leaves along a ray, the nearer boxes first

typedef struct kki_ray_entry {
    int32_t child, count;
    float near;
} kki_ray_entry;

typedef struct kki_ray_walk {
    const kki_tree *tree;
    kki_float4 origin[3], inverse[3], pad[3];
    int is_negative[3];
    int depth;
    kki_ray_entry stack[KKI_TREE_STACK];
} kki_ray_walk;

/// Ray p + t d for 0 ≤ t ≤ limit. Rays with components that are no numbers, or beyond 1e30, meet nothing.
void kki_ray_walk_begin(kki_ray_walk *walk, const kki_tree *tree, kk_vec3 p, kk_vec3 d, double limit);
/// The next leaf whose box the ray meets at some t ≤ limit. False at the end.
bool kki_ray_walk_next(kki_ray_walk *walk, double limit, int32_t *first, int32_t *count);

#endif
