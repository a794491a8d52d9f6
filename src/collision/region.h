/// What two overlapping convex polyhedra have in common: the contact region of S3.
#ifndef KKI_COLLISION_REGION_H
#define KKI_COLLISION_REGION_H

#include "collision/manifold.h"

typedef struct kki_region {
    double volume;
    double surface;   ///< area of the common body's surface
    double area;      ///< of its shadow along the normal: the contact area
    kk_vec3 centroid; ///< in the world; the origin where the volume is 0
} kki_region;

/// @param normal  unit, in the world
/// @return 0 for shapes other than boxes and hulls without margin, and for faces of more than 120 corners
int kki_region_find(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                    kk_vec3 normal, kki_region *region);

#endif
