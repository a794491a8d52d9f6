// Rays against meshes and height fields.
//
// A triangle is met where the ray passes its three edges on the same side. Corners are sheared into a plane across the
// ray, each by the same operations in every triangle it belongs to, and sides are signs of plane determinants: so a ray
// never slips through between two triangles, nor at a vertex (after Woop, Benthin and Wald 2013).
#include "collision/ray.h"

static kk_vec3 against(kk_vec3 n, kk_vec3 d) {
    return kk_vec3_dot(n, d) > 0 ? kk_vec3_neg(n) : n;
}

// The ray seen along its greatest component z: a corner's place across the ray is (x − sx z, y − sy z).
typedef struct sheared {
    kk_vec3 p, d;
    int z;
    double sx, sy;
} sheared;

typedef struct flat_point {
    double x, y;
} flat_point;

static sheared shear(kk_vec3 p, kk_vec3 d) {
    const double x = __builtin_fabs(d.x), y = __builtin_fabs(d.y), z = __builtin_fabs(d.z);
    if (z >= x && z >= y) {
        return (sheared){p, d, 2, d.x / d.z, d.y / d.z};
    }
    return x >= y ? (sheared){p, d, 0, d.y / d.x, d.z / d.x} : (sheared){p, d, 1, d.z / d.y, d.x / d.y};
}

static inline flat_point across(const sheared *s, kk_vec3 v) {
    const double x = v.x - s->p.x, y = v.y - s->p.y, z = v.z - s->p.z;
    return s->z == 2   ? (flat_point){x - s->sx * z, y - s->sy * z}
           : s->z == 0 ? (flat_point){y - s->sx * x, z - s->sy * x}
                       : (flat_point){z - s->sx * y, x - s->sy * y};
}

// Rounding keeps order, so the difference of the rounded products has the right sign or is 0, which counts as both sides.
static inline double side(flat_point a, flat_point b) {
    return a.x * b.y - a.y * b.x;
}

// t of the crossing; false where the ray misses or lies in the triangle's plane
static inline bool cross_triangle(const kk_vec3 corner[3], const sheared *s, double *t) {
    const flat_point a = across(s, corner[0]), b = across(s, corner[1]), c = across(s, corner[2]);
    const double u = side(c, b), v = side(a, c), w = side(b, a);
    if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) {
        return false;
    }
    // by the plane's equation: as exact as the normal, where weights of a long thin triangle are not
    const kk_vec3 n = kk_vec3_cross(kk_vec3_sub(corner[1], corner[0]), kk_vec3_sub(corner[2], corner[0]));
    const double speed = kk_vec3_dot(n, s->d);
    if (!(speed < 0 || speed > 0)) {
        return false;
    }
    *t = kk_vec3_dot(n, kk_vec3_sub(corner[0], s->p)) / speed;
    return true;
}

bool kki_ray_cast_surface(const kki_surface *s, const kki_ray *ray, kki_ray_hit *hit) {
    kki_ray_walk walk;
    int32_t first, count, best = -1;
    double limit = ray->limit;
    const sheared sight = shear(ray->origin, ray->direction);
    kki_ray_walk_begin(&walk, &s->tree, ray->origin, ray->direction, ray->limit);
    while (kki_ray_walk_next(&walk, limit, &first, &count)) {
        for (int32_t i = first; i < first + count; i++) {
            double t;
            if (cross_triangle(s->corner[i], &sight, &t) && t >= 0 &&
                (t < limit || (t == limit && (best < 0 || s->tree.item[i] < best)))) {
                limit = t;
                best = s->tree.item[i];
            }
        }
    }
    if (best < 0) {
        return false;
    }
    const kk_vec3 n = s->normal[best];
    const bool is_inside = s->is_solid && kk_vec3_dot(n, ray->direction) > 0;
    *hit = (kki_ray_hit){limit, s->is_solid ? n : against(n, ray->direction), best, is_inside};
    return true;
}

// ---- height fields

typedef struct field_cast {
    const kki_height_field *field;
    const kki_ray *ray;
    kki_ray_hit *hit;
    sheared sight;
    double limit;
    bool is_hit;
} field_cast;

static void take(field_cast *c, double t, kk_vec3 normal, int32_t feature) {
    if (t >= 0 && t <= c->limit && !(c->is_hit && t == c->limit)) {
        c->limit = t;
        c->is_hit = true;
        *c->hit = (kki_ray_hit){t, normal, feature, kk_vec3_dot(normal, c->ray->direction) > 0};
    }
}

static void try_face(field_cast *c, int32_t face) {
    int32_t row[3], column[3];
    kk_vec3 corner[3];
    double t;
    kki_height_field_corners(c->field, face, row, column);
    for (int k = 0; k < 3; k++) {
        corner[k] = kki_height_field_vertex(c->field, row[k], column[k]);
    }
    if (cross_triangle(corner, &c->sight, &t)) {
        take(c, t, kki_height_field_normal(c->field, face), face);
    }
}

// a wall of the solid: the part of an axis plane below the surface and above the base
static void try_wall(field_cast *c, int axis, double sign) {
    const kki_height_field *f = c->field;
    const kk_vec3 o = c->ray->origin, d = c->ray->direction;
    const double speed = axis ? d.y : d.x, from = axis ? o.y : o.x;
    const double t = (0.5 * sign * f->size[axis] - from) / speed;
    const kk_vec3 p = kk_vec3_add(o, kk_vec3_scale(d, t));
    const double along = axis ? p.x : p.y, half = 0.5 * f->size[1 - axis];
    if ((speed < 0 || speed > 0) && along >= -half && along <= half && p.z >= f->base &&
        p.z <= kki_height_field_at(f, p.x, p.y)) {
        take(c, t, kk_vec3_make(axis ? 0 : sign, axis ? sign : 0, 0), -1);
    }
}

static void try_base(field_cast *c) {
    const kki_height_field *f = c->field;
    const kk_vec3 o = c->ray->origin, d = c->ray->direction;
    const double t = (f->base - o.z) / d.z;
    const kk_vec3 p = kk_vec3_add(o, kk_vec3_scale(d, t));
    if ((d.z < 0 || d.z > 0) && __builtin_fabs(p.x) <= 0.5 * f->size[0] && __builtin_fabs(p.y) <= 0.5 * f->size[1]) {
        take(c, t, kk_vec3_make(0, 0, -1), -1);
    }
}

// cells of a row, from one end of the ray's stretch over it to the other
static void try_row(field_cast *c, int32_t row, kki_aabb stretch) {
    int32_t rows[2], columns[2];
    const double y = -0.5 * c->field->size[1] + row * c->field->step[1];
    stretch.lower.y = y;
    stretch.upper.y = y + c->field->step[1];
    if (!kki_height_field_cells(c->field, &stretch, rows, columns)) {
        return;
    }
    for (int32_t column = columns[0]; column <= columns[1]; column++) {
        const int32_t cell = row * (c->field->columns - 1) + column;
        try_face(c, 2 * cell);
        try_face(c, 2 * cell + 1);
    }
}

// t at which the ray reaches a value of one coordinate, clamped to a stretch
static double reach(double from, double speed, double value, double low, double high) {
    const double t = speed < 0 || speed > 0 ? (value - from) / speed : low;
    return t < low ? low : t > high ? high : t;
}

// the stretch of t over one row of cells, a little wider than it is; false where the ray does not pass over it
static bool stretch_over_row(const field_cast *c, int32_t row, double low, double high, double t[2]) {
    const kk_vec3 o = c->ray->origin, d = c->ray->direction;
    const double y = -0.5 * c->field->size[1] + row * c->field->step[1];
    t[0] = low, t[1] = high;
    if (d.y < 0 || d.y > 0) {
        const double a = reach(o.y, d.y, y, low, high), b = reach(o.y, d.y, y + c->field->step[1], low, high);
        t[0] = kki_lesser(a, b), t[1] = kki_greater(a, b);
    }
    return t[0] <= t[1];
}

static kki_aabb box_of_stretch(const kki_ray *ray, const double t[2]) {
    const kk_vec3 a = kk_vec3_add(ray->origin, kk_vec3_scale(ray->direction, t[0]));
    const kk_vec3 b = kk_vec3_add(ray->origin, kk_vec3_scale(ray->direction, t[1]));
    return kki_aabb_join(kki_aabb_of_point(a), kki_aabb_of_point(b));
}

// t at which the ray is inside the field's box, widened by a rounding; false where it never is
static bool clip_to_field(const kki_height_field *f, const kki_ray *ray, double t[2]) {
    const double o[3] = {ray->origin.x, ray->origin.y, ray->origin.z};
    const double d[3] = {ray->direction.x, ray->direction.y, ray->direction.z};
    const double low[3] = {-0.5 * f->size[0], -0.5 * f->size[1], f->base};
    const double high[3] = {0.5 * f->size[0], 0.5 * f->size[1], f->greatest};
    t[0] = 0, t[1] = ray->limit;
    for (int k = 0; k < 3; k++) {
        const double pad = 1e-12 * (__builtin_fabs(low[k]) + __builtin_fabs(high[k]) + __builtin_fabs(o[k]));
        if (!(d[k] < 0 || d[k] > 0)) {
            if (o[k] < low[k] - pad || o[k] > high[k] + pad) {
                return false;
            }
            continue;
        }
        const double a = (low[k] - pad - o[k]) / d[k], b = (high[k] + pad - o[k]) / d[k];
        t[0] = kki_greater(t[0], kki_lesser(a, b));
        t[1] = kki_lesser(t[1], kki_greater(a, b));
    }
    return t[0] <= t[1];
}

// rows in the order in which the ray passes them
static void try_rows(field_cast *c, const double inside[2]) {
    const kki_aabb box = box_of_stretch(c->ray, inside);
    int32_t row[2], column[2];
    kki_aabb flat = box;
    flat.lower.z = c->field->base, flat.upper.z = c->field->greatest;
    if (!kki_height_field_cells(c->field, &flat, row, column)) {
        return;
    }
    const bool is_down = c->ray->direction.y < 0;
    for (int32_t i = row[0]; i <= row[1]; i++) {
        const int32_t r = is_down ? row[1] + row[0] - i : i;
        double t[2];
        if (stretch_over_row(c, r, inside[0], inside[1], t) && t[0] <= c->limit) {
            kki_aabb stretch = box_of_stretch(c->ray, t);
            stretch.lower.z = c->field->base, stretch.upper.z = c->field->greatest;
            try_row(c, r, stretch);
        }
    }
}

bool kki_ray_cast_height_field(const kki_height_field *f, const kki_ray *ray, kki_ray_hit *hit) {
    field_cast c = {f, ray, hit, shear(ray->origin, ray->direction), ray->limit, false};
    double inside[2];
    if (!clip_to_field(f, ray, inside)) {
        return false;
    }
    for (int axis = 0; axis < 2; axis++) {
        try_wall(&c, axis, -1);
        try_wall(&c, axis, 1);
    }
    try_base(&c);
    try_rows(&c, inside);
    return c.is_hit;
}
