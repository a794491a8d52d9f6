/// Range sensors: the nearest surface along a ray, or over a fan of rays.
#include <karakuri/elementary.h>

#include "collision/ray.h"
#include "geometry/convex.h"
#include "simulate/simulator.h"

/// A ray against a polyhedron: enters behind the last plane it comes in through.
static int cast_hull(const kki_convex *c, const kki_ray *ray, double *t) {
    double in = 0, out = ray->limit;
    for (int i = 0; i < c->face_count; i++) {
        const double speed = kk_vec3_dot(c->face[i].normal, ray->direction);
        const double height = kk_vec3_dot(c->face[i].normal, ray->origin) - c->face[i].offset;
        if (speed == 0 && height > 0) {
            return 0;
        }
        const double at = speed != 0 ? -height / speed : 0;
        in = speed < 0 && at > in ? at : in;
        out = speed > 0 && at < out ? at : out;
    }
    *t = in;
    return in <= out;
}

static int cast_shape(const kki_shape *shape, const kk_transform *X, const kki_ray *ray, double *t) {
    if (shape->type == KK_SHAPE_HULL) {
        const kki_ray local = {kk_mat3_tmul_vec(X->R, kk_vec3_sub(ray->origin, X->p)),
                               kk_mat3_tmul_vec(X->R, ray->direction), ray->limit};
        return cast_hull(shape->convex, &local, t);
    }
    const kki_placed_shape placed = {.shape = shape, .X_WS = *X};
    kki_ray_hit hit;
    if (!kki_ray_cast_placed(&placed, ray, &hit)) {
        return 0;
    }
    *t = hit.t;
    return 1;
}

/// The nearest hit on anything but the sensor's own node; −1 where there is none within the limit.
static double cast(const kk_model *m, const kk_data *now, int own_node, kki_ray ray) {
    double nearest = -1;
    for (int i = 0; i < m->ncollider; i++) {
        const kki_model_shape *s = &m->shape[m->collider[i]];
        if (s->node == own_node) {
            continue;
        }
        const kk_transform X = kk_transform_mul(kki_node_transform(now, s->node), s->X_NS);
        double t;
        if (cast_shape(&s->shape, &X, &ray, &t) && t <= ray.limit) {
            nearest = ray.limit = t;
        }
    }
    return nearest;
}

double kki_read_range(const kk_model *m, const kk_data *now, const kki_model_sensor *k) {
    const kk_transform X = k->target_is_body ? kk_body_pose(m, now, k->target) : kk_frame_pose(m, now, k->target);
    const int body = k->target_is_body ? k->target : m->frame[k->target].body, own = m->body[body].node;
    const double limit = k->cutoff > 0 ? k->cutoff : __builtin_inf();
    const int rays = k->field > 0 && k->rays > 1 ? k->rays : 1;
    double nearest = -1;
    for (int i = 0; i < rays; i++) {
        // a fan about the frame's x axis, from −field to +field off z
        const double angle = rays > 1 ? k->field * (2.0 * i / (rays - 1) - 1) : 0;
        const kk_vec3 d = kk_mat3_mul_vec(X.R, kk_vec3_make(0, kk_sin(angle), kk_cos(angle)));
        const double t = cast(m, now, own, (kki_ray){X.p, d, limit});
        nearest = t >= 0 && (nearest < 0 || t < nearest) ? t : nearest;
    }
    return nearest;
}
