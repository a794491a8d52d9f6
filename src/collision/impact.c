// First impact of any two moving bodies.
//
// Convex pairs go to impact_core.c. For meshes and height fields the time is cut into intervals. Over an interval a point
// of B at most r from B's origin moves against A by at most
//     slack = δ/2 · (|v| + |ω_B| r + |ω_A| (|p| + r)),     p, v: from A's origin to B's, and its rate,
// to either side of the interval's middle, and stays within r of B's origin, which does so with r = 0. Boxes of B's tree, taken to A at the middle and grown by it, that miss boxes of
// A's tree prove their triangles apart for the whole interval; both trees are gone down together. Triangles that are
// left are pairs of cores, each with its own proof. The earliest impact of the first interval that has one is the first.
#include "collision/impact.h"

#include "geometry/height_field.h"
#include "geometry/surface.h"

enum { MOST_INTERVALS = 128, STACK = 2 * KKI_TREE_STACK };

typedef struct side {
    const kki_moving *moving;
    const kki_surface *surface;
    const kki_height_field *field;
    kki_core core; // convex bodies and planes
    double radius; // of the ball around core or triangles
    kki_aabb box;  // without it, in its own frame
} side;

typedef struct sweep {
    side a, b; // A has triangles; B is convex or a mesh
    double target, from, to;
    kk_transform X_AB; // at the middle of the interval
    double half;       // of the interval
    double speed, far; // |v|, greatest |p|
    double turn_a, turn_b;
    bool is_found;
    kki_impact best;
} sweep;

// ---- bodies

static kki_aabb box_of_core(const kki_core *c) {
    kki_aabb box = kki_aabb_empty();
    for (int k = 0; k < 6; k++) {
        const double s = k & 1 ? -1 : 1;
        int id = -1;
        const kk_vec3 p = kki_core_support(c, kk_vec3_make(k < 2 ? s : 0, k / 2 == 1 ? s : 0, k > 3 ? s : 0), &id);
        box = kki_aabb_join(box, kki_aabb_of_point(p));
    }
    return box;
}

static side side_of(const kki_moving *m) {
    side s = {.moving = m, .radius = m->shape->margin};
    const kki_shape *shape = m->shape;
    if (shape->type == KK_SHAPE_MESH) {
        s.surface = shape->surface;
        s.box = s.surface->box;
    } else if (shape->type == KK_SHAPE_HEIGHT_FIELD) {
        const kki_height_field *f = s.field = shape->field;
        s.box = (kki_aabb){{-0.5 * f->size[0], -0.5 * f->size[1], f->base},
                           {0.5 * f->size[0], 0.5 * f->size[1], f->greatest}};
    } else if (shape->type == KK_SHAPE_PLANE) {
        s.core = (kki_core){.type = KKI_CORE_POINT, .radius = shape->margin};
    } else {
        s.core = kki_core_of(shape);
        s.radius = s.core.radius;
        s.box = box_of_core(&s.core);
    }
    return s;
}

static bool has_triangles(const kki_moving *m) {
    return m->shape->type == KK_SHAPE_MESH || m->shape->type == KK_SHAPE_HEIGHT_FIELD;
}

// ---- bounds of motion

static double radius_of(const kki_aabb *box) {
    const double x = kki_greater(-box->lower.x, box->upper.x), y = kki_greater(-box->lower.y, box->upper.y);
    const double z = kki_greater(-box->lower.z, box->upper.z);
    return kk_sqrt(x * x + y * y + z * z);
}

static double slack_of(const sweep *s, double r) {
    return s->target + s->a.radius + s->b.radius +
           s->half * (s->speed + s->turn_b * r + s->turn_a * (s->far + r)) * (1 + 1e-12);
}

static void set_interval(sweep *s, double from, double to) {
    const kki_moving *a = s->a.moving, *b = s->b.moving;
    s->from = from, s->to = to;
    s->half = 0.5 * (to - from);
    const double middle = from + s->half;
    const kk_transform X_WA = kki_moving_pose(a, middle), X_WB = kki_moving_pose(b, middle);
    s->X_AB = kk_transform_mul(kk_transform_inverse(X_WA), X_WB);
    s->speed = kk_vec3_norm(kk_vec3_sub(b->velocity.linear, a->velocity.linear));
    s->far = kk_vec3_norm(s->X_AB.p) + s->half * s->speed;
    s->turn_a = kk_vec3_norm(a->velocity.angular);
    s->turn_b = kk_vec3_norm(b->velocity.angular);
}

// ---- two cores

// A triangle of a body that does not turn may be seen from one of its corners: rounding is then that of its size.
static kki_moving_core triangle_of(const kki_moving *m, const kk_vec3 corner[3], kk_vec3 local[3], kki_core *core) {
    kki_moving_core t = {core, 0, m->X_WS, m->velocity};
    const kk_vec3 w = m->velocity.angular;
    const bool is_fixed = w.x == 0 && w.y == 0 && w.z == 0;
    const kk_vec3 o = is_fixed ? corner[0] : kk_vec3_make(0, 0, 0);
    for (int k = 0; k < 3; k++) {
        local[k] = kk_vec3_sub(corner[k], o);
    }
    t.X_WS.p = kk_transform_point(m->X_WS, o);
    *core = kki_core_triangle(local, m->shape->margin);
    return t;
}

static void try_cores(sweep *s, const kki_moving_core *a, const kki_moving_core *b) {
    kki_impact r;
    const double to = s->is_found ? s->best.time : s->to;
    kki_impact_cores(a, b, s->from, to, s->target, 1, &r);
    if (r.kind != KKI_IMPACT_NONE && (!s->is_found || r.time < s->best.time)) {
        s->is_found = true;
        s->best = r;
    }
}

// A triangle of A against a convex body, or a triangle of B.
static void try_triangle(sweep *s, const kk_vec3 a_corner[3], const kk_vec3 *b_corner) {
    kk_vec3 a_local[3], b_local[3];
    kki_core a_core, b_core;
    const kki_moving_core a = triangle_of(s->a.moving, a_corner, a_local, &a_core);
    if (b_corner) {
        const kki_moving_core b = triangle_of(s->b.moving, b_corner, b_local, &b_core);
        try_cores(s, &a, &b);
    } else {
        const kki_moving_core b = {&s->b.core, 0, s->b.moving->X_WS, s->b.moving->velocity};
        try_cores(s, &a, &b);
    }
}

static kki_aabb box_of_corners(const kk_vec3 c[3]) {
    return kki_aabb_join(kki_aabb_of_point(c[0]), kki_aabb_join(kki_aabb_of_point(c[1]), kki_aabb_of_point(c[2])));
}

static void try_near(sweep *s, const kk_vec3 a_corner[3], const kk_vec3 *b_corner, const kki_aabb *near) {
    const kki_aabb box = box_of_corners(a_corner);
    if (kki_aabb_touch(&box, near)) {
        try_triangle(s, a_corner, b_corner);
    }
}

// ---- one piece of B against all of A; `near` is its box in A, grown

static void try_surface(sweep *s, const kk_vec3 *b_corner, const kki_aabb *near) {
    const kki_surface *m = s->a.surface;
    kki_tree_walk walk;
    int32_t first, count;
    kki_tree_walk_begin(&walk, &m->tree, near);
    while (kki_tree_walk_next(&walk, &first, &count)) {
        for (int32_t i = first; i < first + count; i++) {
            try_near(s, m->corner[i], b_corner, near);
        }
    }
}

// a border edge of the top and the base below it
static void try_wall(sweep *s, kk_vec3 p, kk_vec3 q, const kk_vec3 *b_corner, const kki_aabb *near) {
    const double base = s->a.field->base;
    const kk_vec3 p0 = {p.x, p.y, base}, q0 = {q.x, q.y, base};
    const kk_vec3 one[3] = {p, q, q0}, two[3] = {p, q0, p0};
    try_near(s, one, b_corner, near);
    try_near(s, two, b_corner, near);
}

static void try_base(sweep *s, const kk_vec3 *b_corner, const kki_aabb *near) {
    const kki_aabb *b = &s->a.box;
    const kk_vec3 c[4] = {{b->lower.x, b->lower.y, b->lower.z},
                          {b->upper.x, b->lower.y, b->lower.z},
                          {b->upper.x, b->upper.y, b->lower.z},
                          {b->lower.x, b->upper.y, b->lower.z}};
    const kk_vec3 other[3] = {c[0], c[2], c[3]};
    try_near(s, c, b_corner, near);
    try_near(s, other, b_corner, near);
}

static void try_cell(sweep *s, int32_t r, int32_t k, const kk_vec3 *b_corner, const kki_aabb *near) {
    const kki_height_field *f = s->a.field;
    const kk_vec3 p[4] = {kki_height_field_vertex(f, r, k), kki_height_field_vertex(f, r, k + 1),
                          kki_height_field_vertex(f, r + 1, k + 1), kki_height_field_vertex(f, r + 1, k)};
    const kk_vec3 other[3] = {p[0], p[2], p[3]};
    try_near(s, p, b_corner, near);
    try_near(s, other, b_corner, near);
    const bool is_border[4] = {r == 0, k == f->columns - 2, r == f->rows - 2, k == 0};
    for (int i = 0; i < 4; i++) {
        if (is_border[i]) {
            try_wall(s, p[i], p[(i + 1) % 4], b_corner, near);
        }
    }
}

static void try_field(sweep *s, const kk_vec3 *b_corner, const kki_aabb *near) {
    const kki_height_field *f = s->a.field;
    int32_t row[2], column[2];
    if (!kki_height_field_cells(f, near, row, column)) {
        return;
    }
    for (int32_t r = row[0]; r <= row[1]; r++) {
        for (int32_t k = column[0]; k <= column[1]; k++) {
            try_cell(s, r, k, b_corner, near);
        }
    }
    try_base(s, b_corner, near);
}

static kki_aabb common(kki_aabb a, kki_aabb b) {
    return (kki_aabb){
        {kki_greater(a.lower.x, b.lower.x), kki_greater(a.lower.y, b.lower.y), kki_greater(a.lower.z, b.lower.z)},
        {kki_lesser(a.upper.x, b.upper.x), kki_lesser(a.upper.y, b.upper.y), kki_lesser(a.upper.z, b.upper.z)}};
}

// A piece of B turns within the ball about B's origin that holds it, however fast.
static kki_aabb near_of(const sweep *s, const kki_aabb *b_box) {
    const double r = radius_of(b_box), slack = slack_of(s, r), tiny = 1e-12 * (s->far + slack);
    const double ball = r + s->target + s->a.radius + s->b.radius + s->half * (s->speed + s->turn_a * s->far);
    return common(kki_aabb_grow(kki_aabb_transform(s->X_AB, b_box), slack + tiny),
                  kki_aabb_grow(kki_aabb_of_point(s->X_AB.p), ball + tiny));
}

static void try_piece(sweep *s, const kk_vec3 *b_corner, const kki_aabb *b_box) {
    const kki_aabb near = near_of(s, b_box);
    if (s->a.surface) {
        try_surface(s, b_corner, &near);
    } else {
        try_field(s, b_corner, &near);
    }
}

// ---- two trees

typedef struct two_nodes {
    kki_tree_entry a, b;
    kki_aabb a_box, b_box;
} two_nodes;

// Lanes of both trees (kki_tree_lane); −1: the root.
typedef struct two_lanes {
    int32_t a, b;
} two_lanes;

static void read_lanes(const sweep *s, two_lanes at, two_nodes *top) {
    const kki_tree *a = &s->a.surface->tree, *b = &s->b.surface->tree;
    top->a = at.a < 0 ? (kki_tree_entry){0, 0} : kki_tree_lane(a, at.a);
    top->b = at.b < 0 ? (kki_tree_entry){0, 0} : kki_tree_lane(b, at.b);
    top->a_box = at.a < 0 ? s->a.box : kki_tree_lane_box(a, at.a);
    top->b_box = at.b < 0 ? s->b.box : kki_tree_lane_box(b, at.b);
}

static void try_leaves(sweep *s, const two_nodes *top) {
    const kki_surface *a = s->a.surface, *b = s->b.surface;
    for (int32_t j = top->b.child; j < top->b.child + top->b.count; j++) {
        const kki_aabb box = box_of_corners(b->corner[j]), near = near_of(s, &box);
        for (int32_t i = top->a.child; i < top->a.child + top->a.count; i++) {
            try_near(s, a->corner[i], b->corner[j], &near);
        }
    }
}

static double width_of(const kki_aabb *b) {
    return b->upper.x - b->lower.x + (b->upper.y - b->lower.y) + (b->upper.z - b->lower.z);
}

// The larger of two nodes is opened.
static int open_node(const sweep *s, const two_nodes *top, two_lanes at, two_lanes *stack, int depth) {
    const bool is_a = top->b.count > 0 || (top->a.count == 0 && width_of(&top->a_box) >= width_of(&top->b_box));
    const kki_tree *tree = is_a ? &s->a.surface->tree : &s->b.surface->tree;
    const int32_t first = 4 * (is_a ? top->a.child : top->b.child);
    kki_aabb near = near_of(s, &top->b_box);
    for (int32_t i = first; i < first + 4; i++) {
        if (kki_tree_lane(tree, i).child < 0) {
            continue;
        }
        const kki_aabb box = kki_tree_lane_box(tree, i);
        near = is_a ? near : near_of(s, &box);
        if (kki_aabb_touch(&near, is_a ? &box : &top->a_box)) {
            *(is_a ? &at.a : &at.b) = i;
            stack[depth++] = at;
        }
    }
    return depth;
}

__attribute__((noinline)) static void try_trees(sweep *s) {
    two_lanes stack[STACK];
    int depth = 1;
    stack[0] = (two_lanes){-1, -1};
    if (s->a.surface->tree.item_count == 0 || s->b.surface->tree.item_count == 0) {
        return;
    }
    while (depth > 0) {
        const two_lanes at = stack[--depth];
        two_nodes top;
        read_lanes(s, at, &top);
        if (top.a.count > 0 && top.b.count > 0) {
            try_leaves(s, &top);
        } else {
            depth = open_node(s, &top, at, stack, depth);
        }
    }
}

static void try_field_and_mesh(sweep *s) {
    const kki_surface *b = s->b.surface;
    const kki_aabb inside = s->a.box;
    for (int32_t i = 0; i < b->face_count; i++) {
        const kki_aabb box = box_of_corners(b->corner[i]), near = near_of(s, &box);
        if (kki_aabb_touch(&near, &inside)) {
            try_piece(s, b->corner[i], &box);
        }
    }
}

// ---- a plane A and a mesh or height field B

static double lowest(const sweep *s, const kki_aabb *box) {
    const kki_aabb b = kki_aabb_transform(s->X_AB, box);
    return b.lower.z;
}

static void try_over_plane(sweep *s, const kk_vec3 corner[3]) {
    const kki_aabb box = box_of_corners(corner);
    if (lowest(s, &box) > slack_of(s, radius_of(&box))) {
        return;
    }
    kk_vec3 local[3];
    kki_core core;
    const kki_moving_core b = triangle_of(s->b.moving, corner, local, &core);
    const kki_moving_core a = {&s->a.core, 1, s->a.moving->X_WS, s->a.moving->velocity};
    try_cores(s, &a, &b);
}

static void try_plane_and_surface(sweep *s) {
    const kki_surface *b = s->b.surface;
    kki_tree_entry stack[KKI_TREE_STACK];
    int depth = b->tree.item_count > 0;
    stack[0] = (kki_tree_entry){0, 0};
    while (depth > 0) {
        const kki_tree_entry top = stack[--depth];
        for (int32_t i = top.child; i < top.child + top.count; i++) {
            try_over_plane(s, b->corner[i]);
        }
        const kki_tree_node *n = &b->tree.node[top.count > 0 ? 0 : top.child];
        for (int lane = 0; lane < 4 && top.count == 0; lane++) {
            const kki_aabb box = kki_tree_lane_box(&b->tree, 4 * top.child + lane);
            if (n->child[lane] >= 0 && lowest(s, &box) <= slack_of(s, radius_of(&box))) {
                stack[depth++] = (kki_tree_entry){n->child[lane], n->count[lane]};
            }
        }
    }
}

// the top's cells and the feet
static void try_plane_and_field(sweep *s) {
    const kki_height_field *f = s->b.field;
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what has no surface here has a field: one of the two has triangles
    for (int32_t r = 0; r + 1 < f->rows; r++) {
        for (int32_t k = 0; k + 1 < f->columns; k++) {
            const kk_vec3 p[4] = {kki_height_field_vertex(f, r, k), kki_height_field_vertex(f, r, k + 1),
                                  kki_height_field_vertex(f, r + 1, k + 1), kki_height_field_vertex(f, r + 1, k)};
            const kk_vec3 other[3] = {p[0], p[2], p[3]};
            try_over_plane(s, p);
            try_over_plane(s, other);
        }
    }
    const kki_aabb *b = &s->b.box;
    const kk_vec3 foot[4] = {{b->lower.x, b->lower.y, b->lower.z},
                             {b->upper.x, b->lower.y, b->lower.z},
                             {b->upper.x, b->upper.y, b->lower.z},
                             {b->lower.x, b->upper.y, b->lower.z}};
    const kk_vec3 other[3] = {foot[0], foot[2], foot[3]};
    try_over_plane(s, foot);
    try_over_plane(s, other);
}

// ---- all intervals

static void try_interval(sweep *s) {
    if (s->a.moving->shape->type == KK_SHAPE_PLANE) {
        (s->b.surface ? try_plane_and_surface : try_plane_and_field)(s);
    } else if (!s->b.surface) {
        try_piece(s, NULL, &s->b.box);
    } else if (s->a.surface) {
        try_trees(s);
    } else {
        try_field_and_mesh(s);
    }
}

// A point of B inside A at the start: where no surfaces cross, all of B is.
static bool starts_inside(const side *a, const side *b) {
    const kk_transform X = kk_transform_mul(kk_transform_inverse(a->moving->X_WS), b->moving->X_WS);
    int id = -1;
    const kk_vec3 q = b->surface ? b->surface->corner[0][0]
                      : b->field ? kki_height_field_vertex(b->field, 0, 0)
                                 : kki_core_support(&b->core, kk_vec3_make(1, 0, 0), &id);
    const kk_vec3 p = kk_transform_point(X, q);
    kki_surface_point at;
    if (b->surface && b->surface->face_count == 0) {
        return false;
    }
    return a->field ? kki_height_field_holds(a->field, p) : a->surface && kki_surface_holds(a->surface, p, &at);
}

// So many that a piece of the way is about as long as the smaller body.
static int intervals_of(const sweep *s, double duration) {
    const double ra = radius_of(&s->a.box), rb = radius_of(&s->b.box);
    const double size = s->a.moving->shape->type == KK_SHAPE_PLANE || rb < ra ? rb : ra;
    const double way = duration * (s->speed + s->turn_b * rb + s->turn_a * (s->far + rb));
    const double count = way / (0.5 * size + s->target + s->b.radius);
    return count < 1 ? 1 : count < MOST_INTERVALS ? (int)count : MOST_INTERVALS;
}

static void swept(sweep *s, double duration) {
    set_interval(s, 0, duration);
    const int count = intervals_of(s, duration);
    for (int i = 0; i < count && !s->is_found; i++) {
        set_interval(s, duration * i / count, i + 1 < count ? duration * (i + 1) / count : duration);
        try_interval(s);
    }
}

static int impact_of_triangles(const kki_moving *a, const kki_moving *b, double duration, double target,
                               kki_impact *impact) {
    const bool is_turned = (!has_triangles(a) && a->shape->type != KK_SHAPE_PLANE) ||
                           b->shape->type == KK_SHAPE_PLANE ||
                           (b->shape->type == KK_SHAPE_HEIGHT_FIELD && a->shape->type != KK_SHAPE_PLANE);
    sweep s = {.a = side_of(is_turned ? b : a), .b = side_of(is_turned ? a : b), .target = target};
    if (s.a.field && s.b.field) {
        return 0;
    }
    const bool is_solid_pair = s.a.moving->shape->type != KK_SHAPE_PLANE;
    if (is_solid_pair && (starts_inside(&s.a, &s.b) || (s.b.surface && starts_inside(&s.b, &s.a)))) {
        *impact = (kki_impact){.kind = KKI_IMPACT_HIT, .at = {.normal = {0, 0, 1}}};
        return 1;
    }
    swept(&s, duration);
    *impact = s.is_found ? s.best : (kki_impact){.kind = KKI_IMPACT_NONE, .time = duration};
    if (is_turned) {
        kki_separation_turn(&impact->at);
    }
    return 1;
}

int kki_impact_find(const kki_moving *a, const kki_moving *b, double duration, double target, kki_impact *impact) {
    const bool a_is_plane = a->shape->type == KK_SHAPE_PLANE, b_is_plane = b->shape->type == KK_SHAPE_PLANE;
    if (a_is_plane && b_is_plane) {
        return 0;
    }
    if (!kki_moves_sanely(a, duration) || !kki_moves_sanely(b, duration)) {
        *impact = (kki_impact){.kind = KKI_IMPACT_UNSURE}; // a proof from infinities would be none
        return 1;
    }
    if (has_triangles(a) || has_triangles(b)) {
        return impact_of_triangles(a, b, duration, target, impact);
    }
    const side sa = side_of(a), sb = side_of(b);
    const kki_moving_core ca = {&sa.core, a_is_plane, a->X_WS, a->velocity};
    const kki_moving_core cb = {&sb.core, b_is_plane, b->X_WS, b->velocity};
    kki_impact_cores(&ca, &cb, 0, duration, target, 0, impact);
    return 1;
}
