// Rays against meshes and height fields with a margin.
//
// The body is the union of its triangles, each thickened by a ball, and of the inside of a solid. A ray from outside meets
// it where it first enters a thick triangle. One from within follows the stretches that cover each other until none goes on.
// The walls and the base of a height field are triangles too.
#include "collision/ray.h"

typedef struct thick_cast {
    const kki_surface *surface;    // or else
    const kki_height_field *field; // this
    double margin;
    const kki_ray *ray;
} thick_cast;

static kk_vec3 place_at(const thick_cast *c, double t) {
    return kk_vec3_add(c->ray->origin, kk_vec3_scale(c->ray->direction, t));
}

// ---- the pieces a ray may meet

/// What is done with a piece; its face is −1 for walls and bases. `limit` may come down.
typedef struct visitor visitor;
struct visitor {
    const thick_cast *cast;
    double limit; // of t: pieces that begin behind are of no interest
    void (*visit)(visitor *v, const kk_vec3 corner[3], kk_vec3 n, int32_t face);
    kki_ray_hit *hit;
    bool is_hit;
};

static void visit_surface(visitor *v) {
    const kki_surface *s = v->cast->surface;
    const kki_ray *ray = v->cast->ray;
    kki_ray_walk walk;
    int32_t first, count;
    kki_ray_walk_begin(&walk, &s->tree, ray->origin, ray->direction, ray->limit);
    for (int k = 0; k < 3; k++) {
        walk.pad[k] += kki_float4_all(kki_float_above(v->cast->margin));
    }
    while (kki_ray_walk_next(&walk, v->limit, &first, &count)) {
        for (int32_t i = first; i < first + count; i++) {
            v->visit(v, s->corner[i], s->leaf_normal[i], s->tree.item[i]);
        }
    }
}

// counter-clockwise seen from where n points
static void visit_quad(visitor *v, kk_vec3 p, kk_vec3 q, kk_vec3 r, kk_vec3 s, kk_vec3 n) {
    const kk_vec3 one[3] = {p, q, r}, two[3] = {p, r, s};
    v->visit(v, one, n, -1);
    v->visit(v, two, n, -1);
}

static void visit_wall(visitor *v, kk_vec3 p, kk_vec3 q, kk_vec3 n) {
    const double base = v->cast->field->base;
    visit_quad(v, q, p, kk_vec3_make(p.x, p.y, base), kk_vec3_make(q.x, q.y, base), n);
}

static void visit_base(visitor *v) {
    const kki_height_field *f = v->cast->field;
    const double x = 0.5 * f->size[0], y = 0.5 * f->size[1], z = f->base;
    visit_quad(v, kk_vec3_make(-x, -y, z), kk_vec3_make(-x, y, z), kk_vec3_make(x, y, z), kk_vec3_make(x, -y, z),
               kk_vec3_make(0, 0, -1));
}

// both triangles of a cell, and the walls below it at the rim
static void visit_cell(visitor *v, int32_t r, int32_t c) {
    const kki_height_field *f = v->cast->field;
    const kk_vec3 p[4] = {kki_height_field_vertex(f, r, c), kki_height_field_vertex(f, r, c + 1),
                          kki_height_field_vertex(f, r + 1, c + 1), kki_height_field_vertex(f, r + 1, c)};
    const kk_vec3 other[3] = {p[0], p[2], p[3]};
    const int32_t face = 2 * (r * (f->columns - 1) + c);
    v->visit(v, p, kki_height_field_normal(f, face), face);
    v->visit(v, other, kki_height_field_normal(f, face + 1), face + 1);
    if (r == 0) {
        visit_wall(v, p[0], p[1], kk_vec3_make(0, -1, 0));
    }
    if (r == f->rows - 2) {
        visit_wall(v, p[2], p[3], kk_vec3_make(0, 1, 0));
    }
    if (c == 0) {
        visit_wall(v, p[3], p[0], kk_vec3_make(-1, 0, 0));
    }
    if (c == f->columns - 2) {
        visit_wall(v, p[1], p[2], kk_vec3_make(1, 0, 0));
    }
}

// The stretch of t in which one coordinate lies between two bounds, cut out of [t0, t1]; a little wider than it is.
static bool narrow(double from, double speed, double low, double high, double t[2]) {
    const double pad = 1e-12 * (__builtin_fabs(low) + __builtin_fabs(high) + __builtin_fabs(from));
    if (!(speed < 0 || speed > 0)) {
        return from >= low - pad && from <= high + pad;
    }
    const double a = (low - pad - from) / speed, b = (high + pad - from) / speed;
    t[0] = kki_greater(t[0], kki_lesser(a, b));
    t[1] = kki_lesser(t[1], kki_greater(a, b));
    return t[0] <= t[1];
}

static void visit_row(visitor *v, int32_t row, double t0, double t1) {
    const kki_height_field *f = v->cast->field;
    const kk_vec3 o = v->cast->ray->origin, d = v->cast->ray->direction;
    const double m = v->cast->margin, y = -0.5 * f->size[1] + row * f->step[1];
    double t[2] = {t0, kki_lesser(t1, v->limit)};
    if (!narrow(o.y, d.y, y - m, y + f->step[1] + m, t)) {
        return;
    }
    const kk_vec3 a = place_at(v->cast, t[0]), b = place_at(v->cast, t[1]);
    const kki_aabb box = {{kki_lesser(a.x, b.x) - m, y, f->base}, {kki_greater(a.x, b.x) + m, y, f->greatest}};
    int32_t rows[2], columns[2];
    if (kki_height_field_cells(f, &box, rows, columns)) {
        for (int32_t c = columns[0]; c <= columns[1]; c++) {
            visit_cell(v, row, c);
        }
    }
}

static void visit_field(visitor *v) {
    const kki_height_field *f = v->cast->field;
    const kk_vec3 o = v->cast->ray->origin, d = v->cast->ray->direction;
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what has no surface has a field
    const double m = v->cast->margin, x = 0.5 * f->size[0] + m, y = 0.5 * f->size[1] + m;
    double t[2] = {0, v->cast->ray->limit};
    if (!narrow(o.x, d.x, -x, x, t) || !narrow(o.y, d.y, -y, y, t) ||
        !narrow(o.z, d.z, f->base - m, f->greatest + m, t)) {
        return;
    }
    visit_base(v);
    for (int32_t i = 0; i + 1 < f->rows; i++) { // in the order in which the ray passes them
        visit_row(v, d.y < 0 ? f->rows - 2 - i : i, t[0], t[1]);
    }
}

static void visit_pieces(visitor *v) {
    (v->cast->surface ? visit_surface : visit_field)(v);
}

// ---- what is inside

// inside the solid, without its margin
static bool is_within(const thick_cast *c, double t) {
    kki_surface_point at;
    return c->field ? kki_height_field_holds(c->field, place_at(c, t))
                    : kki_surface_holds(c->surface, place_at(c, t), &at);
}

static void note_cover(visitor *v, const kk_vec3 corner[3], kk_vec3 n, int32_t face) {
    const kk_vec3 p = v->cast->ray->origin, r = kk_vec3_sub(kki_triangle_closest(corner, p).p, p);
    (void)n, (void)face;
    v->is_hit = v->is_hit || kk_vec3_dot(r, r) < v->cast->margin * v->cast->margin;
}

static bool starts_covered(const thick_cast *c) {
    if (c->surface) {
        const kki_surface_point q = kki_surface_closest(c->surface, c->ray->origin, 2 * KKI_SURFACE_FAR);
        return q.face >= 0 && (q.distance < c->margin || (c->surface->is_solid && q.is_inside));
    }
    const kki_ray here = {c->ray->origin, {0, 0, 0}, 0};
    const thick_cast at = {NULL, c->field, c->margin, &here};
    visitor v = {.cast = &at, .visit = note_cover};
    visit_field(&v);
    return v.is_hit || kki_height_field_holds(c->field, c->ray->origin);
}

// ---- in and out

static void note_entry(visitor *v, const kk_vec3 corner[3], kk_vec3 normal, int32_t face) {
    double t[2];
    kk_vec3 n[2];
    if (kki_ray_through_triangle(corner, normal, v->cast->margin, v->cast->ray, t, n) && t[0] >= 0 &&
        (t[0] < v->limit || (t[0] == v->limit && (!v->is_hit || face < v->hit->feature)))) {
        v->limit = t[0];
        v->is_hit = true;
        *v->hit = (kki_ray_hit){t[0], n[0], face, false};
    }
}

static bool enter(const thick_cast *c, kki_ray_hit *hit) {
    visitor v = {.cast = c, .limit = c->ray->limit, .visit = note_entry, .hit = hit};
    visit_pieces(&v);
    return v.is_hit;
}

static void note_exit(visitor *v, const kk_vec3 corner[3], kk_vec3 normal, int32_t face) {
    double t[2];
    kk_vec3 n[2];
    if (kki_ray_through_triangle(corner, normal, v->cast->margin, v->cast->ray, t, n) && t[0] <= v->limit &&
        t[1] > v->hit->t) {
        *v->hit = (kki_ray_hit){t[1], n[1], face, true};
    }
}

// The farthest end of the stretches that go on from `hit`; false where none does.
static bool go_on(const thick_cast *c, double slack, kki_ray_hit *hit) {
    const double from = hit->t;
    visitor v = {.cast = c, .limit = from + slack, .visit = note_exit, .hit = hit};
    visit_pieces(&v);
    return hit->t > from;
}

// Where the ray leaves the solid it is in, the margin left aside.
static bool leave_solid(const thick_cast *c, kki_ray_hit *hit) {
    const kki_ray rest = {place_at(c, hit->t), c->ray->direction, __builtin_inf()};
    kki_ray_hit out;
    if (!is_within(c, hit->t) ||
        !(c->surface ? kki_ray_cast_surface(c->surface, &rest, &out)
                     : kki_ray_cast_height_field(c->field, &rest, &out)) ||
        !out.is_inside) {
        return false;
    }
    *hit = (kki_ray_hit){hit->t + out.t, out.normal, out.feature, true};
    return out.t > 0;
}

static bool leave(const thick_cast *c, kki_ray_hit *hit) {
    const double speed = kk_vec3_norm(c->ray->direction), slack = 1e-12 * c->margin / speed;
    const int32_t faces = c->surface ? c->surface->face_count : kki_height_field_faces(c->field) + 2;
    *hit = (kki_ray_hit){.is_inside = true};
    bool goes_on = speed > 0;
    for (int32_t i = 0; i <= faces && goes_on; i++) {
        const bool has_left = leave_solid(c, hit);
        goes_on = go_on(c, slack, hit) || has_left;
    }
    return hit->t > 0 && hit->t <= c->ray->limit;
}

static bool cast(const thick_cast *c, kki_ray_hit *hit) {
    return starts_covered(c) ? leave(c, hit) : enter(c, hit);
}

bool kki_ray_cast_thick_surface(const kki_surface *surface, double margin, const kki_ray *ray, kki_ray_hit *hit) {
    const thick_cast c = {surface, NULL, margin, ray};
    return cast(&c, hit);
}

bool kki_ray_cast_thick_field(const kki_height_field *field, double margin, const kki_ray *ray, kki_ray_hit *hit) {
    const thick_cast c = {NULL, field, margin, ray};
    return cast(&c, hit);
}
