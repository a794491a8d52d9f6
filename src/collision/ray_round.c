// Rays against convex shapes with a margin whose surface has no equation of low degree.
//
// The signed distance of a convex body is a convex function of place, so along a ray too: Newton's steps from outside never
// pass the root, and where the slope is not towards the body there is none. From inside, the same from the far side.
#include "collision/gjk.h"
#include "collision/point.h"
#include "collision/ray.h"

enum { STEPS = 100 };

// signed distance of a point from the thickened core, and its gradient
static double height_of(const kki_core *core, kk_vec3 p, kk_vec3 *n) {
    kki_point_distance r;
    if (kki_core_point_distance(core, p, &r)) {
        *n = r.normal;
        return r.distance - core->radius;
    }
    const kki_core point = {.type = KKI_CORE_POINT};
    const kk_transform X = {kk_mat3_identity(), p};
    const kki_core_pair pair = kki_core_pair_make(core, &point, &X);
    kki_core_distance d;
    (void)kki_core_distance_find(&pair, KKI_ANY_DISTANCE, NULL, &d);
    *n = d.normal;
    return d.distance - core->radius;
}

// The root nearest to t, which is outside, going by `sign` along the ray; false where the ray passes by.
static bool find_root(const kki_core *core, const kki_ray *ray, double sign, double *t, kk_vec3 *n) {
    const double tiny = 1e-15 * (core->extent + core->radius + kk_vec3_norm(ray->origin));
    for (int i = 0; i < STEPS; i++) {
        const double height = height_of(core, kk_vec3_add(ray->origin, kk_vec3_scale(ray->direction, *t)), n);
        const double slope = sign * kk_vec3_dot(*n, ray->direction);
        if (height <= tiny) {
            return true;
        }
        if (!(slope < 0)) {
            return false;
        }
        const double step = -height / slope;
        if (!(*t + sign * step != *t)) {
            return true;
        }
        *t += sign * step;
    }
    return true;
}

bool kki_ray_cast_round(const kki_shape *shape, const kki_ray *ray, kki_ray_hit *hit) {
    const kki_core core = kki_core_of(shape);
    const double length = kk_vec3_norm(ray->direction), far = core.extent + core.radius + kk_vec3_norm(ray->origin);
    if (!(length > 0) || !(far < KKI_ANY_DISTANCE) || !(length < KKI_ANY_DISTANCE)) {
        return false;
    }
    kk_vec3 n;
    double t = 0;
    hit->is_inside = height_of(&core, ray->origin, &n) < 0;
    if (hit->is_inside) {
        t = 2 * far / length;
    }
    if (!find_root(&core, ray, hit->is_inside ? -1 : 1, &t, &n) || !(t <= ray->limit) || !(t >= 0)) {
        return false;
    }
    hit->t = t;
    hit->normal = n;
    hit->feature = 0;
    return true;
}
