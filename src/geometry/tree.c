// Building the tree and walking it along rays; see tree.h.
#include "geometry/tree.h"

// ---- rounding outwards

// Beyond this a float's neighbors are useless and sums of two may overflow.
#define FLOAT_FAR 1e30

float kki_float_below(double x) {
    if (!(x >= -FLOAT_FAR)) {
        return -__builtin_inff();
    }
    const float f = (float)(x > FLOAT_FAR ? FLOAT_FAR : x);
    return (double)f > x || x > FLOAT_FAR ? f - (__builtin_fabsf(f) * 0x1p-23f + 0x1p-149f) : f;
}

float kki_float_above(double x) {
    return -kki_float_below(-x);
}

void kki_tree_set_lane(kki_tree_node *node, int lane, const kki_aabb *box) {
    node->lower[0][lane] = kki_float_below(box->lower.x);
    node->lower[1][lane] = kki_float_below(box->lower.y);
    node->lower[2][lane] = kki_float_below(box->lower.z);
    node->upper[0][lane] = kki_float_above(box->upper.x);
    node->upper[1][lane] = kki_float_above(box->upper.y);
    node->upper[2][lane] = kki_float_above(box->upper.z);
}

void kki_tree_clear_lane(kki_tree_node *node, int lane) {
    for (int k = 0; k < 3; k++) {
        node->lower[k][lane] = __builtin_inff();
        node->upper[k][lane] = -__builtin_inff();
    }
    node->child[lane] = -1;
    node->count[lane] = 0;
}

// ---- building

enum { BINS = 16 };

typedef struct range {
    int32_t first, count;
    kki_aabb box, centers;
} range;

typedef struct build {
    kki_tree *tree;
    const kki_aabb *box;
    int leaf;
} build;

typedef struct bins {
    int32_t count[BINS];
    kki_aabb box[BINS];
} bins;

static double component(kk_vec3 v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

// twice the center: the order is the same; infinite boxes count as centered
static double center(const kki_aabb *box, int axis) {
    const double c = component(box->lower, axis) + component(box->upper, axis);
    return c >= -FLOAT_FAR && c <= FLOAT_FAR ? c : 0;
}

static double half_area(const kki_aabb *b) {
    const double x = b->upper.x - b->lower.x, y = b->upper.y - b->lower.y, z = b->upper.z - b->lower.z;
    return x < 0 ? 0 : x * y + y * z + z * x;
}

static range measure(const build *b, int32_t first, int32_t count) {
    range r = {first, count, kki_aabb_empty(), kki_aabb_empty()};
    for (int32_t i = first; i < first + count; i++) {
        const kki_aabb *box = &b->box[b->tree->item[i]];
        r.box = kki_aabb_join(r.box, *box);
        r.centers =
            kki_aabb_join(r.centers, kki_aabb_of_point(kk_vec3_make(center(box, 0), center(box, 1), center(box, 2))));
    }
    return r;
}

static int bin_of(double c, double low, double scale) {
    const int k = (int)((c - low) * scale);
    return k < 0 ? 0 : k >= BINS ? BINS - 1 : k;
}

static void fill_bins(const build *b, const range *r, int axis, double low, double scale, bins *s) {
    for (int k = 0; k < BINS; k++) {
        s->count[k] = 0;
        s->box[k] = kki_aabb_empty();
    }
    for (int32_t i = r->first; i < r->first + r->count; i++) {
        const kki_aabb *box = &b->box[b->tree->item[i]];
        const int k = bin_of(center(box, axis), low, scale);
        s->count[k]++;
        s->box[k] = kki_aabb_join(s->box[k], *box);
    }
}

// The bin before which to cut at the least cost area · count; 0 where there is none.
static int best_cut(const bins *s, double *cost) {
    double right[BINS];
    kki_aabb sum = kki_aabb_empty();
    int32_t count = 0;
    for (int k = BINS - 1; k > 0; k--) {
        sum = kki_aabb_join(sum, s->box[k]);
        count += s->count[k];
        right[k] = count > 0 ? half_area(&sum) * count : __builtin_inf();
    }
    int cut = 0;
    sum = kki_aabb_empty();
    count = 0;
    for (int k = 1; k < BINS; k++) {
        sum = kki_aabb_join(sum, s->box[k - 1]);
        count += s->count[k - 1];
        const double c = count > 0 ? half_area(&sum) * count + right[k] : __builtin_inf();
        if (c < *cost) {
            *cost = c;
            cut = k;
        }
    }
    return cut;
}

static int32_t partition(const build *b, const range *r, int axis, double low, double scale, int cut) {
    int32_t *item = b->tree->item, i = r->first, j = r->first + r->count - 1;
    while (i <= j) {
        if (bin_of(center(&b->box[item[i]], axis), low, scale) < cut) {
            i++;
        } else {
            const int32_t swap = item[i];
            item[i] = item[j];
            item[j--] = swap;
        }
    }
    return i - r->first;
}

// how many items go to the left; the range's items are reordered
static int32_t split(const build *b, const range *r, int depth) {
    double best = __builtin_inf(), low = 0, scale = 0;
    int axis = -1, cut = 0;
    for (int k = 0; k < 3 && depth < KKI_TREE_DEEP; k++) {
        const double from = component(r->centers.lower, k), extent = component(r->centers.upper, k) - from;
        if (!(extent > 0) || !(BINS / extent < FLOAT_FAR)) {
            continue;
        }
        bins s;
        fill_bins(b, r, k, from, BINS / extent, &s);
        const int c = best_cut(&s, &best);
        if (c > 0) {
            axis = k, cut = c, low = from, scale = BINS / extent;
        }
    }
    const int32_t left = axis < 0 ? 0 : partition(b, r, axis, low, scale, cut);
    return left > 0 && left < r->count ? left : r->count / 2;
}

// the part to cut next: the one with the greatest surface that is too large for a leaf
static int largest(const build *b, const range *part, int parts) {
    int best = -1;
    for (int k = 0; k < parts; k++) {
        if (part[k].count > b->leaf && (best < 0 || half_area(&part[k].box) > half_area(&part[best].box))) {
            best = k;
        }
    }
    return best;
}

static int cut_into_four(const build *b, const range *whole, int depth, range part[4]) {
    int parts = 1;
    part[0] = *whole;
    while (parts < 4) {
        const int k = largest(b, part, parts);
        if (k < 0) {
            break;
        }
        const range r = part[k];
        const int32_t left = split(b, &r, depth);
        part[k] = measure(b, r.first, left);
        part[parts++] = measure(b, r.first + left, r.count - left);
    }
    return parts;
}

// Halving only, for ranges below the depth at which the heuristic stops: a quarter each.
static int halve_into_four(const build *b, const range *whole, range part[4]) {
    int parts = 0;
    int32_t first = whole->first, left = whole->count;
    for (int k = 4; k > 0 && left > 0; k--) {
        const int32_t count = (left + k - 1) / k;
        part[parts++] = measure(b, first, count);
        first += count;
        left -= count;
    }
    return parts;
}

typedef struct task {
    range r;
    int32_t node;
    int depth;
} task;

static int push_children(const build *b, const task *t, task *stack, int top) {
    range part[4];
    const int parts = t->depth < KKI_TREE_DEEP || t->r.count <= b->leaf ? cut_into_four(b, &t->r, t->depth, part)
                                                                        : halve_into_four(b, &t->r, part);
    kki_tree_node *node = &b->tree->node[t->node];
    for (int k = 0; k < 4; k++) {
        kki_tree_clear_lane(node, k);
    }
    for (int k = 0; k < parts; k++) {
        const bool is_leaf = part[k].count <= b->leaf;
        kki_tree_set_lane(node, k, &part[k].box);
        node->child[k] = is_leaf ? part[k].first : b->tree->node_count;
        node->count[k] = is_leaf ? part[k].count : 0;
        if (!is_leaf) {
            stack[top++] = (task){part[k], b->tree->node_count++, t->depth + 1};
        }
    }
    return top;
}

void kki_tree_build(kki_tree *tree, const kki_aabb *box, int32_t count, int leaf) {
    const build b = {tree, box, leaf};
    task stack[KKI_TREE_STACK];
    tree->item_count = count;
    tree->node_count = count > 0;
    for (int32_t i = 0; i < count; i++) {
        tree->item[i] = i;
    }
    int top = 0;
    if (count > 0) {
        stack[top++] = (task){measure(&b, 0, count), 0, 0};
    }
    while (top > 0) {
        const task t = stack[--top];
        top = push_children(&b, &t, stack, top);
    }
}

// ---- rays
//
// Slabs in floats: (bound − origin) · inverse, with errors bounded as follows. The origin's rounding moves a bound by at
// most `pad`; the difference, the inverse and the product have three roundings, so a factor 1 ± 2^-21 covers them.

static bool is_in_range(kk_vec3 v) {
    return __builtin_fabs(v.x) <= FLOAT_FAR && __builtin_fabs(v.y) <= FLOAT_FAR && __builtin_fabs(v.z) <= FLOAT_FAR;
}

void kki_ray_walk_begin(kki_ray_walk *walk, const kki_tree *tree, kk_vec3 p, kk_vec3 d, double limit) {
    const double origin[3] = {p.x, p.y, p.z}, direction[3] = {d.x, d.y, d.z};
    walk->tree = tree;
    for (int k = 0; k < 3; k++) {
        const double size = __builtin_fabs(direction[k]);
        // a vanishing component would give 0 · ∞: take one so small that the ray does not leave the pad within the limit
        const double inverse = size > 1e-25 ? 1 / size : 1e25;
        const double drift = size > 1e-25 ? 0 : kki_lesser(limit, 1e15) * 1e-25;
        walk->is_negative[k] = direction[k] < 0;
        walk->origin[k] = kki_float4_all((float)origin[k]);
        walk->inverse[k] = kki_float4_all((float)(walk->is_negative[k] ? -inverse : inverse));
        walk->pad[k] = kki_float4_all((float)(__builtin_fabs(origin[k]) * 0x1p-22 + drift * 2 + 1e-37));
    }
    walk->depth = tree->item_count > 0 && is_in_range(p) && is_in_range(d);
    walk->stack[0] = (kki_ray_entry){0, 0, 0};
}

static inline void sort_in(kki_ray_entry *stack, int bottom, int top, kki_ray_entry e) {
    while (top > bottom && stack[top - 1].near < e.near) {
        stack[top] = stack[top - 1];
        top--;
    }
    stack[top] = e;
}

// lanes the ray meets, pushed so that the nearest is on top
static inline void push_lanes(kki_ray_walk *walk, const kki_tree_node *n, float limit) {
    kki_float4 near = kki_float4_all(0), far = kki_float4_all(limit);
    for (int k = 0; k < 3; k++) {
        const kki_float4 low = n->lower[k] - walk->pad[k] - walk->origin[k];
        const kki_float4 high = n->upper[k] + walk->pad[k] - walk->origin[k];
        const kki_float4 in = (walk->is_negative[k] ? high : low) * walk->inverse[k];
        const kki_float4 out = (walk->is_negative[k] ? low : high) * walk->inverse[k];
        near = kki_float4_max(in, near);
        far = kki_float4_min(out, far);
    }
    near *= 1 - 0x1p-21f;
    far *= 1 + 0x1p-21f;
    const int bottom = walk->depth;
    for (int bits = kki_mask4_bits(near <= far); bits; bits &= bits - 1) {
        const int lane = __builtin_ctz((unsigned)bits);
        if (n->child[lane] >= 0) {
            sort_in(walk->stack, bottom, walk->depth++, (kki_ray_entry){n->child[lane], n->count[lane], near[lane]});
        }
    }
}

bool kki_ray_walk_next(kki_ray_walk *walk, double limit, int32_t *first, int32_t *count) {
    const float most = kki_float_above(limit);
    while (walk->depth > 0) {
        const kki_ray_entry top = walk->stack[--walk->depth];
        if (top.near > most) {
            continue;
        }
        if (top.count > 0) {
            *first = top.child;
            *count = top.count;
            return true;
        }
        push_lanes(walk, &walk->tree->node[top.child], most);
    }
    return false;
}
