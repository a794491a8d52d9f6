// The triangles of a mesh and the columns of a height field that are near X, each asked what it says.
#include "collision/facet_side.h"
#include "collision/gjk.h"
#include "collision/mesh_work.h"

static void touch_piece(const kki_surface *s, const kki_facet *f, kki_pieces *p) {
    if (s && s->piece_count > 1) {
        const int32_t piece = s->piece[f->vertex[0]] % KKI_MESH_PIECES;
        p->bits[piece / 64] |= (uint64_t)1 << piece % 64;
    }
}

void kki_mesh_try_face(kki_mesh_work *c, int32_t place) {
    kki_facet f;
    const int32_t x_place = c->x.facet ? c->x_facet.place : -1;
    const int count = kki_facet_load(&c->source, place, &f)
                          ? kki_mesh_examine(&c->source, &f, &c->x, c->reach, &c->hit[c->count])
                          : 0;
    if (count > 0) {
        touch_piece(c->source.surface, &f, &c->touched);
        touch_piece(c->x_source.surface, &c->x_facet, &c->x_touched);
    }
    for (int i = 0; i < count; i++) { // a weak hit is alone
        c->hit[c->count].x_place = x_place;
        kki_mesh_keep_hit(c);
    }
    if (c->count > KKI_MESH_HITS - 2) {
        kki_mesh_flush(c);
        if (x_place >= 0) {
            kki_mesh_set_triangle(c, x_place);
        }
    }
}

static kki_aabb box_of_corners(const kk_vec3 corner[3]) {
    return kki_aabb_join(kki_aabb_of_point(corner[0]),
                         kki_aabb_join(kki_aabb_of_point(corner[1]), kki_aabb_of_point(corner[2])));
}

// Along a direction that X was clear of another triangle by; it comes first then.
static bool is_clear_as_before(const kki_mesh_work *c, const kk_vec3 corner[3]) {
    kki_clear_ways *w = c->x.ways;
    for (int k = 0; w && k < w->count; k++) {
        const kk_vec3 d = w->d[k];
        const double a = kk_vec3_dot(d, corner[0]), b = kk_vec3_dot(d, corner[1]), e = kk_vec3_dot(d, corner[2]);
        if (w->low[k] - kki_greater(a, kki_greater(b, e)) > c->reach + c->x.radius) {
            const double low = w->low[k];
            w->d[k] = w->d[0];
            w->low[k] = w->low[0];
            w->d[0] = d;
            w->low[0] = low;
            return true;
        }
    }
    return false;
}

// A cheap look before the facet is loaded: along X's own axes for a box, by the distance of the plane for all.
static bool is_clear(const kki_mesh_work *c, const kk_vec3 corner[3], kk_vec3 n) {
    const kk_vec3 p = c->x.X_MX.p;
    const kk_vec3 r[3] = {kk_vec3_sub(corner[0], p), kk_vec3_sub(corner[1], p), kk_vec3_sub(corner[2], p)};
    const double limit = c->reach + c->x.radius, far = limit + c->x.size, height = kk_vec3_dot(n, r[0]);
    if (!c->x.facet && (height > far || height < -far)) {
        return true;
    }
    for (int k = 0; k < 3 && c->x.is_box; k++) {
        const kk_vec3 d = kk_mat3_column(c->x.X_MX.R, k);
        const double s[3] = {kk_vec3_dot(d, r[0]), kk_vec3_dot(d, r[1]), kk_vec3_dot(d, r[2])};
        const double half = c->x.half[k] + limit;
        if ((s[0] > half && s[1] > half && s[2] > half) || (s[0] < -half && s[1] < -half && s[2] < -half)) {
            return true;
        }
    }
    return false;
}

static void try_leaf(kki_mesh_work *c, const kki_aabb *box, int32_t first, int32_t count) {
    const kki_surface *s = c->source.surface;
    for (int32_t i = first; i < first + count; i++) {
        const kki_aabb b = box_of_corners(s->corner[i]);
        if (kki_aabb_touch(&b, box) && !is_clear(c, s->corner[i], s->leaf_normal[i]) &&
            !is_clear_as_before(c, s->corner[i])) {
            kki_mesh_try_face(c, i);
        }
    }
}

// not inlined, as the next: of their stacks only one is to lie below a search
__attribute__((noinline)) static void try_ball(kki_mesh_work *c, const kki_aabb *box) {
    kki_ball_walk walk;
    int32_t first, count;
    kki_ball_walk_begin(&walk, &c->source.surface->tree, kki_probe_vertex(&c->x, 0), c->x.radius + c->reach);
    while (kki_ball_walk_next(&walk, &first, &count)) {
        try_leaf(c, box, first, count);
    }
}

__attribute__((noinline)) static void try_box(kki_mesh_work *c, const kki_aabb *box) {
    kki_tree_walk walk;
    int32_t first, count;
    kki_tree_walk_begin(&walk, &c->source.surface->tree, box);
    while (kki_tree_walk_next(&walk, &first, &count)) {
        try_leaf(c, box, first, count);
    }
}

static void try_surface(kki_mesh_work *c, const kki_aabb *box) {
    if (c->x.shape.vertex_count == 1) {
        try_ball(c, box);
    } else {
        try_box(c, box);
    }
}

static void try_two(kki_mesh_work *c, int32_t place) {
    kki_mesh_try_face(c, place);
    kki_mesh_try_face(c, place + 1);
}

// Walls and base that X reaches beyond, within `box`; what is all inside goes out through the top. Returns whether there
// are any.
static bool try_sides(kki_mesh_work *c, const kki_aabb *box, const int32_t row[2], const int32_t column[2]) {
    const kki_height_field *f = c->source.field;
    const double x = 0.5 * f->size[0], y = 0.5 * f->size[1];
    const bool is_beyond[4] = {box->lower.y <= -y, box->upper.x >= x, box->upper.y >= y, box->lower.x <= -x};
    const bool is_below = box->lower.z <= f->base;
    for (int side = 0; side < 4; side++) {
        const int32_t *range = side % 2 ? row : column;
        for (int32_t i = range[0]; is_beyond[side] && i <= range[1]; i++) {
            try_two(c, kki_facet_wall_place(f, side, i));
        }
    }
    if (is_below) {
        try_two(c, kki_facet_base_place(f));
    }
    return is_below || is_beyond[0] || is_beyond[1] || is_beyond[2] || is_beyond[3];
}

// How far X's core is beside or below the columns of the field, whatever their heights; nothing where it is not.
static double clear_of_columns(const kki_mesh_work *c, const kki_aabb *box) {
    const kki_height_field *f = c->source.field;
    const double top = kki_greater(f->greatest, box->upper.z) + c->x.size, half = 0.5 * (top - f->base);
    const kki_core columns = {.type = KKI_CORE_BOX,
                              .half = {0.5 * f->size[0], 0.5 * f->size[1], half},
                              .extent = 0.5 * (f->size[0] + f->size[1]) + half};
    const kki_core x = kki_probe_core(&c->x);
    kk_transform X = c->x.X_MX;
    X.p.z -= f->base + half;
    const kki_core_pair pair = kki_core_pair_make(&columns, &x, &X);
    kki_simplex s;
    kki_core_distance r;
    s.count = 0;
    return kki_gjk(&pair, KKI_ANY_DISTANCE, X.p, &s, &r) == KKI_GJK_APART ? r.lower : -__builtin_inf();
}

static void try_field(kki_mesh_work *c, const kki_aabb *box) {
    const kki_height_field *f = c->source.field;
    int32_t row[2], column[2];
    if (!kki_height_field_cells(f, box, row, column)) {
        return;
    }
    const bool is_beyond = try_sides(c, box, row, column);
    c->x.clear = is_beyond ? clear_of_columns(c, box) : -__builtin_inf();
    c->is_over = is_beyond && !(c->x.clear > c->x.radius);
    for (int32_t r = row[0]; r <= row[1]; r++) {
        for (int32_t k = column[0]; k <= column[1]; k++) {
            try_two(c, 2 * (r * (f->columns - 1) + k));
        }
    }
}

void kki_mesh_try_near(kki_mesh_work *c) {
    const kki_aabb box = kki_aabb_grow(kki_probe_box(&c->x), c->reach);
    if (c->source.surface) {
        try_surface(c, &box);
    } else {
        try_field(c, &box);
    }
}
