/// A point against a core in closed form, which is a sphere against every shape.
#ifndef KKI_COLLISION_POINT_H
#define KKI_COLLISION_POINT_H

#include "collision/support.h"

/// The boundary point of a core nearest to p (in the core's frame), the outward unit normal there and the signed
/// distance of p.
typedef struct kki_point_distance {
    double distance;
    kk_vec3 normal, nearest;
} kki_point_distance;

/// 0 where there is no closed form: hulls.
int kki_core_point_distance(const kki_core *core, kk_vec3 p, kki_point_distance *result);

#endif
