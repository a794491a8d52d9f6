/// What the public queries share.
#ifndef KKI_COLLISION_QUERY_H
#define KKI_COLLISION_QUERY_H

#include "collision/distance.h"
#include "collision/impact.h"
#include "collision/ray.h"
#include <karakuri/collision.h>

/// A model of one shape: it is checked, copied and made as a model's shapes are.
struct kk_geometry {
    kk_allocator allocator;
    kk_model *model;
    const kki_shape *shape;
    kki_aabb box; ///< with its margin, in S
};

/// Ball round a shape in the world; the radius of a plane is endless.
typedef struct kki_ball {
    kk_vec3 center;
    double radius;
} kki_ball;

kki_ball kki_shape_ball(const kk_model *model, const kk_data *data, int shape);
/// Whether two shapes, whatever they may, are within `reach` of each other.
bool kki_shapes_overlap(const kk_model *model, const kk_data *data, int a, int b, double reach, kk_overlap *overlap);

kk_separation kki_public_separation(const kki_separation *s);
kk_impact kki_public_impact(const kki_impact *i);
void kki_public_manifold(const kki_manifold *from, kk_manifold *to);
static inline kk_ray_hit kki_public_hit(kk_vec3 origin, kk_vec3 direction, const kki_ray_hit *hit, int shape,
                                        int body) {
    return (kk_ray_hit){.shape = shape,
                        .body = body,
                        .distance = hit->t,
                        .position = kk_vec3_add(origin, kk_vec3_scale(direction, hit->t)),
                        .normal = hit->normal,
                        .is_inside = hit->is_inside};
}
static inline kki_moving kki_moving_of(const kk_placed *p) {
    return (kki_moving){p->geometry->shape, p->pose, p->velocity};
}

#endif
