/// The public questions about shapes: thin over the narrow phase.
///
/// Pairs with a mesh have no distance of their own: their contact points within a growing reach tell it, which is exact
/// where they are near or overlap.
#include <karakuri/collision.h>

#include "collision/impact.h"
#include "collision/ray.h"
#include "dynamics/data.h"
#include "geometry/convex.h"
#include "model/model.h"

enum { MOST_MANIFOLDS = 64 };

static const kki_model_shape *collider(const kk_model *m, int shape) {
    const bool is_there = shape >= 0 && shape < m->nshape && (m->shape[shape].purpose & KK_SHAPE_COLLIDES);
    return is_there ? &m->shape[shape] : NULL;
}

static kk_separation separation_of(const kki_separation *s) {
    return (kk_separation){s->distance, s->normal, s->on_a, s->on_b};
}

// ---- one pair

kk_transform kk_shape_pose(const kk_model *model, const kk_data *data, int shape) {
    if (shape < 0 || shape >= model->nshape) {
        return kk_transform_identity();
    }
    const kki_model_shape *s = &model->shape[shape];
    return kk_transform_mul(kki_node_transform(data, s->node), s->X_NS);
}

/// The deepest point of the pair's manifolds.
static bool deepest_within(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                           double reach, kk_separation *s) {
    kki_manifold manifold[MOST_MANIFOLDS];
    kki_pair_memory memory = {0};
    const int found = kki_collide(a, X_WA, b, X_WB, reach, &memory, manifold, MOST_MANIFOLDS);
    const int count = found < 0 ? MOST_MANIFOLDS : found;
    bool has = false;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < manifold[i].count; k++) {
            const kki_contact_point *p = &manifold[i].point[k];
            if (!has || p->gap < s->distance) {
                has = true;
                *s = (kk_separation){p->gap, manifold[i].normal, p->position,
                                     kk_vec3_add(p->position, kk_vec3_scale(manifold[i].normal, p->gap))};
            }
        }
    }
    return has;
}

static kk_status separate(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                          kk_separation *separation) {
    kki_separation convex;
    if (kki_distance(a, X_WA, b, X_WB, NULL, &convex)) {
        *separation = separation_of(&convex);
        return KK_OK;
    }
    for (double reach = 1e-3; reach < 1e3; reach *= 8) {
        if (deepest_within(a, X_WA, b, X_WB, reach, separation)) {
            // a wide reach finds many directions, more than are kept; within the distance found there are few
            kk_separation nearer;
            const double close = separation->distance > 0 ? separation->distance * (1 + 1e-9) : 0;
            if (close < reach && deepest_within(a, X_WA, b, X_WB, close, &nearer)) {
                *separation = nearer;
            }
            return KK_OK;
        }
    }
    return KK_UNSUPPORTED;
}

kk_status kk_shape_separation(const kk_model *model, int shape_a, kk_transform X_WA, int shape_b, kk_transform X_WB,
                              kk_separation *separation) {
    const kki_model_shape *a = collider(model, shape_a), *b = collider(model, shape_b);
    return a && b ? separate(&a->shape, &X_WA, &b->shape, &X_WB, separation) : KK_NOT_FOUND;
}

static void copy_manifold(const kki_manifold *from, kk_manifold *to) {
    *to = (kk_manifold){.normal = from->normal, .count = from->count};
    for (int k = 0; k < from->count; k++) {
        to->point[k].position = from->point[k].position;
        to->point[k].gap = from->point[k].gap;
    }
}

int kk_shape_manifolds(const kk_model *model, int shape_a, kk_transform X_WA, int shape_b, kk_transform X_WB,
                       double reach, kk_manifold *manifold, int room) {
    const kki_model_shape *a = collider(model, shape_a), *b = collider(model, shape_b);
    kki_manifold own[MOST_MANIFOLDS];
    kki_pair_memory memory = {0};
    if (!a || !b || room <= 0) {
        return 0;
    }
    const int asked = room < MOST_MANIFOLDS ? room : MOST_MANIFOLDS;
    const int found = kki_collide(&a->shape, &X_WA, &b->shape, &X_WB, reach, &memory, own, asked);
    for (int i = 0; i < (found < 0 ? asked : found); i++) {
        copy_manifold(&own[i], &manifold[i]);
    }
    return found;
}

kk_status kk_shape_impact(const kk_model *model, int shape_a, kk_transform X_WA, kk_motion velocity_a, int shape_b,
                          kk_transform X_WB, kk_motion velocity_b, double duration, double target, kk_impact *impact) {
    const kki_model_shape *a = collider(model, shape_a), *b = collider(model, shape_b);
    if (!a || !b) {
        return KK_NOT_FOUND;
    }
    const kki_moving moving_a = {&a->shape, X_WA, velocity_a}, moving_b = {&b->shape, X_WB, velocity_b};
    kki_impact found;
    if (!kki_impact_find(&moving_a, &moving_b, duration, target, &found)) {
        return KK_UNSUPPORTED;
    }
    *impact = (kk_impact){(kk_impact_kind)found.kind, found.time, separation_of(&found.at)};
    return KK_OK;
}

// ---- the whole model

/// Ball round a shape in the world; the radius of a plane is endless.
typedef struct ball {
    kk_vec3 centre;
    double radius;
} ball;

static ball ball_of(const kki_model_shape *s, const kk_transform *X) {
    const kk_vec3 centre = kk_vec3_scale(kk_vec3_add(s->box.lower, s->box.upper), 0.5);
    return (ball){kk_transform_point(*X, centre), 0.5 * kk_vec3_norm(kk_vec3_sub(s->box.upper, s->box.lower))};
}

static bool is_near(ball a, ball b, double reach) {
    return kk_vec3_norm(kk_vec3_sub(a.centre, b.centre)) <= a.radius + b.radius + (reach > 0 ? reach : 0);
}

static bool overlap_of(const kk_model *m, const kk_data *data, int i, int j, double reach, kk_overlap *overlap) {
    const kki_model_shape *a = &m->shape[i], *b = &m->shape[j];
    const kk_transform X_WA = kk_shape_pose(m, data, i), X_WB = kk_shape_pose(m, data, j);
    if (!is_near(ball_of(a, &X_WA), ball_of(b, &X_WB), reach)) {
        return false;
    }
    *overlap = (kk_overlap){.shape = {i, j}, .body = {a->body, b->body}};
    kki_separation convex;
    const bool is_convex = kki_distance(&a->shape, &X_WA, &b->shape, &X_WB, NULL, &convex);
    if (is_convex) {
        overlap->at = separation_of(&convex);
    }
    return is_convex ? convex.distance <= reach
                     : deepest_within(&a->shape, &X_WA, &b->shape, &X_WB, reach > 0 ? reach : 0, &overlap->at) &&
                           overlap->at.distance <= reach;
}

int kk_model_overlaps(const kk_model *model, const kk_data *data, double reach, kk_overlap *overlap, int room) {
    int count = 0;
    for (int i = 0; i < model->ncollider; i++) {
        for (int j = i + 1; j < model->ncollider; j++) {
            kk_overlap one;
            if (kki_model_pair_may_touch(model, model->collider[i], model->collider[j], NULL) &&
                overlap_of(model, data, model->collider[i], model->collider[j], reach, &one)) {
                if (count < room) {
                    overlap[count] = one;
                }
                count++;
            }
        }
    }
    return count;
}

/// A ray in the hull's frame: the part of it before all planes.
static bool cast_convex(const kki_convex *convex, const kki_ray *ray, kki_ray_hit *hit) {
    double enter = -__builtin_inf(), leave = __builtin_inf();
    int32_t first = -1, last = -1;
    for (int32_t i = 0; i < convex->face_count; i++) {
        const kki_convex_face *f = &convex->face[i];
        const double slope = kk_vec3_dot(f->normal, ray->direction);
        const double height = f->offset - kk_vec3_dot(f->normal, ray->origin);
        if (slope == 0 && height < 0) {
            return false;
        }
        if (slope < 0 && height / slope > enter) {
            enter = height / slope;
            first = i;
        } else if (slope > 0 && height / slope < leave) {
            leave = height / slope;
            last = i;
        }
    }
    const bool is_inside = enter < 0;
    const double t = is_inside ? leave : enter;
    const int32_t face = is_inside ? last : first;
    if (enter > leave || face < 0 || !(t >= 0 && t <= ray->limit)) {
        return false;
    }
    *hit = (kki_ray_hit){t, convex->face[face].normal, face, is_inside};
    return true;
}

static bool cast(const kki_model_shape *s, const kk_transform *X, const kki_ray *ray, kki_ray_hit *hit) {
    if (s->shape.type != KK_SHAPE_HULL) {
        const kki_placed_shape placed = {.shape = &s->shape, .X_WS = *X};
        return kki_ray_cast_placed(&placed, ray, hit);
    }
    const kki_ray local = {kk_mat3_tmul_vec(X->R, kk_vec3_sub(ray->origin, X->p)),
                           kk_mat3_tmul_vec(X->R, ray->direction), ray->limit};
    const bool is_hit = cast_convex(s->shape.convex, &local, hit);
    hit->normal = is_hit ? kk_mat3_mul_vec(X->R, hit->normal) : hit->normal;
    return is_hit;
}

kk_ray_hit kk_model_ray(const kk_model *model, const kk_data *data, kk_vec3 origin, kk_vec3 direction, double limit) {
    kk_ray_hit best = {.shape = -1, .body = -1};
    kki_ray ray = {origin, direction, limit};
    for (int i = 0; i < model->ncollider; i++) {
        const int shape = model->collider[i];
        const kk_transform X = kk_shape_pose(model, data, shape);
        kki_ray_hit hit;
        if (cast(&model->shape[shape], &X, &ray, &hit) && (best.shape < 0 || hit.t < ray.limit)) {
            ray.limit = hit.t;
            best = (kk_ray_hit){.shape = shape,
                                .body = model->shape[shape].body,
                                .distance = hit.t,
                                .position = kk_vec3_add(origin, kk_vec3_scale(direction, hit.t)),
                                .normal = hit.normal,
                                .is_inside = hit.is_inside};
        }
    }
    return best;
}
