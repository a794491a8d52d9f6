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

kk_separation kki_public_separation(const kki_separation *s);
kk_impact kki_public_impact(const kki_impact *i);
static inline kki_moving kki_moving_of(const kk_placed *p) {
    return (kki_moving){p->geometry->shape, p->pose, p->velocity};
}

#endif
