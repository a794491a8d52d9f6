// Signed distance where meshes and height fields take part.
//
// Apart, the least distance of a triangle of one from a triangle or the core of the other; boxes that are farther than the
// best so far are left out, nearer ones are opened first. Overlapping, minus the depth of the deepest contact.
#include "collision/distance.h"
#include "geometry/height_field.h"
#include "geometry/surface.h"

enum { STACK = 2 * KKI_TREE_STACK };

typedef struct search {
    const kki_shape *a, *b; // A: mesh or height field; B: mesh or convex
    const kk_transform *X_WA, *X_WB;
    kk_transform X_AB;
    kki_core core; // of B where convex
    kki_aabb b_box;
    double thick; // both radii
    kki_separation best;
} search;

static kki_aabb box_of_corners(const kk_vec3 c[3]) {
    return kki_aabb_join(kki_aabb_of_point(c[0]), kki_aabb_join(kki_aabb_of_point(c[1]), kki_aabb_of_point(c[2])));
}

static double between(double low, double high, double other_low, double other_high) {
    const double a = low - other_high, b = other_low - high;
    return kki_greater(0, kki_greater(a, b));
}

// Lower bound of the distance of thick bodies inside two boxes.
static double box_distance(const search *s, const kki_aabb *a, const kki_aabb *b) {
    const double x = between(a->lower.x, a->upper.x, b->lower.x, b->upper.x);
    const double y = between(a->lower.y, a->upper.y, b->lower.y, b->upper.y);
    const double z = between(a->lower.z, a->upper.z, b->lower.z, b->upper.z);
    return kk_sqrt(x * x + y * y + z * z) * (1 - 1e-12) - s->thick;
}

// What is proved to be farther than the best ends early.
static void try_triangle(search *s, const kk_vec3 a[3], const kk_vec3 *b) {
    const kki_core ca = kki_core_triangle(a, s->a->margin);
    const kki_core cb = b ? kki_core_triangle(b, s->b->margin) : s->core;
    kki_separation r;
    const double most = s->best.distance + 1e-12 * (ca.extent + cb.extent + kk_vec3_norm(s->X_AB.p));
    if (kki_core_separation_within(&ca, s->X_WA, &cb, s->X_WB, most, NULL, &r) && r.distance < s->best.distance) {
        s->best = r;
    }
}

// ---- trees

typedef struct two_nodes {
    kki_tree_entry a, b;   // B without a tree: count 1
    kki_aabb a_box, b_box; // both in A
} two_nodes;

// Lanes of both trees (kki_tree_lane); −1: the root, or a body without a tree.
typedef struct two_lanes {
    int32_t a, b;
    double bound;
} two_lanes;

static double width_of(const kki_aabb *b) {
    return b->upper.x - b->lower.x + (b->upper.y - b->lower.y) + (b->upper.z - b->lower.z);
}

// the nearest goes on top
static int push(two_lanes *stack, int from, int depth, two_lanes next) {
    int i = depth;
    for (; i > from && stack[i - 1].bound < next.bound; i--) {
        stack[i] = stack[i - 1];
    }
    stack[i] = next;
    return depth + 1;
}

static void read_lanes(const search *s, two_lanes at, two_nodes *top) {
    *top = (two_nodes){{0, 0}, {0, s->b->surface ? 0 : 1}, s->a->surface->box, s->b_box};
    if (at.a >= 0) {
        top->a = kki_tree_lane(&s->a->surface->tree, at.a);
        top->a_box = kki_tree_lane_box(&s->a->surface->tree, at.a);
    }
    if (at.b >= 0) {
        const kki_aabb box = kki_tree_lane_box(&s->b->surface->tree, at.b);
        top->b = kki_tree_lane(&s->b->surface->tree, at.b);
        top->b_box = kki_aabb_transform(s->X_AB, &box);
    }
}

static int open_node(const search *s, const two_nodes *top, two_lanes at, two_lanes *stack, int depth) {
    const bool is_a = top->b.count > 0 || (top->a.count == 0 && width_of(&top->a_box) >= width_of(&top->b_box));
    const kki_tree *tree = is_a ? &s->a->surface->tree : &s->b->surface->tree;
    const int32_t first = 4 * (is_a ? top->a.child : top->b.child);
    const int from = depth;
    for (int32_t i = first; i < first + 4; i++) {
        if (kki_tree_lane(tree, i).child < 0) {
            continue;
        }
        const kki_aabb own = kki_tree_lane_box(tree, i), box = is_a ? own : kki_aabb_transform(s->X_AB, &own);
        *(is_a ? &at.a : &at.b) = i;
        at.bound = is_a ? box_distance(s, &box, &top->b_box) : box_distance(s, &top->a_box, &box);
        if (at.bound < s->best.distance) {
            depth = push(stack, from, depth, at);
        }
    }
    return depth;
}

static void try_leaves(search *s, const two_nodes *top) {
    const kki_surface *a = s->a->surface, *b = s->b->surface;
    for (int32_t i = top->a.child; i < top->a.child + top->a.count && s->best.distance > 0; i++) {
        const kki_aabb box = box_of_corners(a->corner[i]);
        if (box_distance(s, &box, &top->b_box) >= s->best.distance) {
            continue;
        }
        for (int32_t j = top->b.child; j < top->b.child + top->b.count && s->best.distance > 0; j++) {
            try_triangle(s, a->corner[i], b ? b->corner[j] : NULL);
        }
    }
}

// not inlined: its stack is gone when the depth is asked for
__attribute__((noinline)) static void search_trees(search *s) {
    two_lanes stack[STACK];
    int depth = s->a->surface->tree.item_count > 0 && (!s->b->surface || s->b->surface->tree.item_count > 0);
    stack[0] = (two_lanes){-1, -1, -1e300};
    while (depth > 0 && s->best.distance > 0) { // of an overlap the depth is found by other means
        const two_lanes at = stack[--depth];
        if (at.bound >= s->best.distance) {
            continue;
        }
        two_nodes top;
        read_lanes(s, at, &top);
        if (top.a.count > 0 && top.b.count > 0) {
            try_leaves(s, &top);
        } else {
            depth = open_node(s, &top, at, stack, depth);
        }
    }
}

// ---- a height field: all its cells, and walls and base as rays see them

static void try_piece(search *s, const kk_vec3 corner[3]) {
    const kki_aabb box = box_of_corners(corner);
    if (box_distance(s, &box, &s->b_box) >= s->best.distance) {
        return;
    }
    if (!s->b->surface) {
        try_triangle(s, corner, NULL);
        return;
    }
    for (int32_t j = 0; j < s->b->surface->face_count; j++) {
        const kki_aabb own = box_of_corners(s->b->surface->corner[j]), other = kki_aabb_transform(s->X_AB, &own);
        if (box_distance(s, &box, &other) < s->best.distance) {
            try_triangle(s, corner, s->b->surface->corner[j]);
        }
    }
}

static void try_quad(search *s, kk_vec3 p, kk_vec3 q, kk_vec3 r, kk_vec3 t) {
    const kk_vec3 one[3] = {p, q, r}, two[3] = {p, r, t};
    try_piece(s, one);
    try_piece(s, two);
}

static void try_cell(search *s, int32_t r, int32_t k) {
    const kki_height_field *f = s->a->field;
    const kk_vec3 p[4] = {kki_height_field_vertex(f, r, k), kki_height_field_vertex(f, r, k + 1),
                          kki_height_field_vertex(f, r + 1, k + 1), kki_height_field_vertex(f, r + 1, k)};
    const bool is_border[4] = {r == 0, k == f->columns - 2, r == f->rows - 2, k == 0};
    try_quad(s, p[0], p[1], p[2], p[3]);
    for (int i = 0; i < 4; i++) {
        const kk_vec3 u = p[i], v = p[(i + 1) % 4];
        if (is_border[i]) {
            try_quad(s, u, v, kk_vec3_make(v.x, v.y, f->base), kk_vec3_make(u.x, u.y, f->base));
        }
    }
}

static void search_field(search *s) {
    const kki_height_field *f = s->a->field;
    const double x = 0.5 * f->size[0], y = 0.5 * f->size[1], z = f->base;
    for (int32_t r = 0; r + 1 < f->rows; r++) {
        for (int32_t k = 0; k + 1 < f->columns; k++) {
            try_cell(s, r, k);
        }
    }
    try_quad(s, kk_vec3_make(-x, -y, z), kk_vec3_make(-x, y, z), kk_vec3_make(x, y, z), kk_vec3_make(x, -y, z));
}

// ---- inside

static bool holds(const kki_shape *a, kk_vec3 p) {
    kki_surface_point at;
    return a->field ? kki_height_field_holds(a->field, p) : a->surface && kki_surface_holds(a->surface, p, &at);
}

// A loose piece of a mesh is inside a shape; X places the mesh's frame in the shape's.
static bool holds_piece(const kki_shape *s, const kki_surface *mesh, kk_transform X) {
    bool is_held = false;
    for (int32_t i = 0; i < mesh->piece_count && !is_held; i++) {
        is_held = holds(s, kk_transform_point(X, mesh->vertex[mesh->piece_vertex[i]]));
    }
    return is_held;
}

// One is wholly inside the other, or a piece of it, where no triangles meet.
static bool one_holds_the_other(const search *s) {
    const kk_transform X_BA = kk_transform_inverse(s->X_AB);
    int id = -1;
    if (!s->b->surface) {
        return holds(s->a, kk_transform_point(s->X_AB, kki_core_support(&s->core, kk_vec3_make(1, 0, 0), &id)));
    }
    return holds_piece(s->a, s->b->surface, s->X_AB) ||
           (s->a->surface ? holds_piece(s->b, s->a->surface, X_BA)
                          : holds(s->b, kk_transform_point(X_BA, kki_height_field_vertex(s->a->field, 0, 0))));
}

static void take_deepest(search *s) {
    kki_manifold m; // the deepest comes first
    kki_pair_memory memory = {0};
    const int found = kki_collide(s->a, s->X_WA, s->b, s->X_WB, 0, &memory, &m, 1);
    double least = __builtin_inf();
    for (int k = 0; found != 0 && k < m.count; k++) {
        const kki_contact_point *p = &m.point[k];
        if (p->gap < least) {
            least = p->gap;
            const kk_vec3 on_b = kk_vec3_add(p->position, kk_vec3_scale(m.normal, p->gap));
            s->best = (kki_separation){p->gap, m.normal, p->position, on_b, 0};
        }
    }
}

static kki_aabb box_of(const kki_core *c) {
    kki_aabb box = kki_aabb_empty();
    for (int k = 0; k < 6; k++) {
        const double sign = k & 1 ? -1 : 1;
        int id = -1;
        const kk_vec3 d = {k < 2 ? sign : 0, k / 2 == 1 ? sign : 0, k > 3 ? sign : 0};
        box = kki_aabb_join(box, kki_aabb_of_point(kki_core_support(c, d, &id)));
    }
    return box;
}

static void search_ordered(search *s) {
    s->X_AB = kk_transform_mul(kk_transform_inverse(*s->X_WA), *s->X_WB);
    s->best.distance = __builtin_inf();
    s->core = s->b->surface ? (kki_core){.radius = s->b->margin} : kki_core_of(s->b);
    const kki_aabb own = s->b->surface ? s->b->surface->box : box_of(&s->core);
    s->b_box = kki_aabb_transform(s->X_AB, &own);
    s->thick = s->a->margin + s->core.radius;
    if (s->a->surface) {
        search_trees(s);
    } else {
        search_field(s);
    }
    if (s->best.distance <= 0 || one_holds_the_other(s)) {
        take_deepest(s);
    }
}

// ---- a plane

static void over_plane(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                       kki_separation *r) {
    const kki_height_field *f = b->field;
    const int32_t count = f ? f->rows * f->columns + 4 : b->surface->vertex_count;
    const kk_vec3 n = kk_mat3_column(X_WA->R, 2);
    r->distance = __builtin_inf();
    for (int32_t i = 0; i < count; i++) {
        const int32_t foot = f ? i - f->rows * f->columns : -1;
        const kk_vec3 p = !f          ? b->surface->vertex[i]
                          : foot >= 0 ? kk_vec3_make((foot & 1 ? 0.5 : -0.5) * f->size[0],
                                                     (foot & 2 ? 0.5 : -0.5) * f->size[1], f->base)
                                      : kki_height_field_vertex(f, i / f->columns, i % f->columns);
        const kk_vec3 q = kk_transform_point(*X_WB, p);
        const double d = kk_vec3_dot(n, kk_vec3_sub(q, X_WA->p)) - (a->margin + b->margin);
        if (d < r->distance) {
            const kk_vec3 on_b = kk_vec3_sub(q, kk_vec3_scale(n, b->margin));
            *r = (kki_separation){d, n, kk_vec3_sub(on_b, kk_vec3_scale(n, d)), on_b, 0};
        }
    }
}

int kki_distance_of_triangles(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b,
                              const kk_transform *X_WB, kki_separation *result) {
    const bool a_is_plane = a->type == KK_SHAPE_PLANE, b_is_plane = b->type == KK_SHAPE_PLANE;
    const bool is_turned = b_is_plane || (!a_is_plane && (b->field || (!a->surface && !a->field)));
    if ((a_is_plane && b_is_plane) || (a->field && b->field)) {
        return 0;
    }
    search s = {.a = is_turned ? b : a,
                .b = is_turned ? a : b,
                .X_WA = is_turned ? X_WB : X_WA,
                .X_WB = is_turned ? X_WA : X_WB};
    if (a_is_plane || b_is_plane) {
        over_plane(s.a, s.X_WA, s.b, s.X_WB, &s.best);
    } else {
        search_ordered(&s);
    }
    *result = s.best;
    if (is_turned) {
        kki_separation_turn(result);
    }
    return s.best.distance < __builtin_inf();
}
