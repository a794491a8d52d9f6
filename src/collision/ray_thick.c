// Rays against meshes with a margin.
//
// The body is the union of its triangles, each thickened by a ball, and of the inside of a solid. A ray from outside meets
// it where it first enters a thick triangle. One from within follows the stretches that cover each other until none goes on.
#include "collision/ray.h"

typedef struct thick_cast {
    const kki_surface *surface;
    double margin;
    const kki_ray *ray;
} thick_cast;

static void begin_walk(const thick_cast *c, kki_ray_walk *walk) {
    kki_ray_walk_begin(walk, &c->surface->tree, c->ray->origin, c->ray->direction, c->ray->limit);
    for (int k = 0; k < 3; k++) {
        walk->pad[k] += kki_float4_all(kki_float_above(c->margin));
    }
}

static kk_vec3 place_at(const thick_cast *c, double t) {
    return kk_vec3_add(c->ray->origin, kk_vec3_scale(c->ray->direction, t));
}

// inside the solid, without its margin
static bool is_within(const thick_cast *c, double t) {
    return c->surface->is_solid && kki_surface_closest(c->surface, place_at(c, t), 2 * KKI_SURFACE_FAR).is_inside;
}

static bool is_covered(const thick_cast *c, double t) {
    const kki_surface_point q = kki_surface_closest(c->surface, place_at(c, t), 2 * KKI_SURFACE_FAR);
    return q.face >= 0 && (q.distance < c->margin || (c->surface->is_solid && q.is_inside));
}

static bool enter(const thick_cast *c, kki_ray_hit *hit) {
    kki_ray_walk walk;
    int32_t first, count, best = -1;
    double limit = c->ray->limit, t[2];
    kk_vec3 n[2];
    begin_walk(c, &walk);
    while (kki_ray_walk_next(&walk, limit, &first, &count)) {
        for (int32_t i = first; i < first + count; i++) {
            const int32_t face = c->surface->tree.item[i];
            if (kki_ray_through_triangle(c->surface->corner[i], c->surface->leaf_normal[i], c->margin, c->ray, t, n) &&
                t[0] >= 0 && (t[0] < limit || (t[0] == limit && (best < 0 || face < best)))) {
                limit = t[0];
                best = face;
                *hit = (kki_ray_hit){t[0], n[0], face, false};
            }
        }
    }
    return best >= 0;
}

// The farthest end of the stretches that go on from `hit`; false where none does.
static bool go_on(const thick_cast *c, double slack, kki_ray_hit *hit) {
    kki_ray_walk walk;
    int32_t first, count;
    const double from = hit->t;
    double t[2];
    kk_vec3 n[2];
    begin_walk(c, &walk);
    while (kki_ray_walk_next(&walk, from + slack, &first, &count)) {
        for (int32_t i = first; i < first + count; i++) {
            if (kki_ray_through_triangle(c->surface->corner[i], c->surface->leaf_normal[i], c->margin, c->ray, t, n) &&
                t[0] <= from + slack && t[1] > hit->t) {
                *hit = (kki_ray_hit){t[1], n[1], c->surface->tree.item[i], true};
            }
        }
    }
    return hit->t > from;
}

// Where the ray leaves the solid it is in, the margin left aside.
static bool leave_solid(const thick_cast *c, kki_ray_hit *hit) {
    const kki_ray rest = {place_at(c, hit->t), c->ray->direction, __builtin_inf()};
    kki_ray_hit out;
    if (!is_within(c, hit->t) || !kki_ray_cast_surface(c->surface, &rest, &out) || !out.is_inside) {
        return false;
    }
    *hit = (kki_ray_hit){hit->t + out.t, out.normal, out.feature, true};
    return out.t > 0;
}

static bool leave(const thick_cast *c, kki_ray_hit *hit) {
    const double speed = kk_vec3_norm(c->ray->direction), slack = 1e-12 * c->margin / speed;
    *hit = (kki_ray_hit){.is_inside = true};
    bool goes_on = speed > 0;
    for (int32_t i = 0; i <= c->surface->face_count && goes_on; i++) {
        const bool has_left = leave_solid(c, hit);
        goes_on = go_on(c, slack, hit) || has_left;
    }
    return hit->t > 0 && hit->t <= c->ray->limit;
}

bool kki_ray_cast_thick_surface(const kki_surface *surface, double margin, const kki_ray *ray, kki_ray_hit *hit) {
    const thick_cast c = {surface, margin, ray};
    return is_covered(&c, 0) ? leave(&c, hit) : enter(&c, hit);
}
