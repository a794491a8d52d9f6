/// A shape as collision sees it: its type, its sizes halved where kernels want halves, and the geometry it refers to.
///
/// S is the shape's own frame; z is the axis of capsule, cylinder and cone. A margin r makes the shape its Minkowski sum
/// with a ball of radius r: the solid is kept and thickened, and its sharp edges become round.
#ifndef KKI_GEOMETRY_SHAPE_H
#define KKI_GEOMETRY_SHAPE_H

#include <karakuri/shape.h>

/// Convex polyhedron with planes and edges (convex.h), triangle mesh with edges and tree (surface.h), grid of heights
/// (height_field.h).
typedef struct kki_convex kki_convex;
typedef struct kki_surface kki_surface;
typedef struct kki_height_field kki_height_field;

/// | type      | half                                                                    |
/// |-----------|-------------------------------------------------------------------------|
/// | sphere    | radius                                                                  |
/// | capsule, cylinder, cone | radius, half of the length                                |
/// | ellipsoid | three radii                                                             |
/// | box       | half of the three edges                                                 |
typedef struct kki_shape {
    int32_t type; ///< kk_shape_type
    double half[3];
    double margin;                 ///< ≥ 0
    const kki_convex *convex;      ///< hulls; NULL otherwise
    const kki_surface *surface;    ///< meshes; NULL otherwise
    const kki_height_field *field; ///< height fields; NULL otherwise
} kki_shape;

typedef struct kki_aabb {
    kk_vec3 lower, upper;
} kki_aabb;

#endif
