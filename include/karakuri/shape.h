/// Shapes: what bodies touch with and what they look like.
#ifndef KARAKURI_SHAPE_H
#define KARAKURI_SHAPE_H

#include <karakuri/math.h>

KK_BEGIN_DECLS

/// Shapes in their own frame S; z is the axis of all that have one. A compound is several shapes on one body.
///
/// | type         | size                          | where it lies                                                     |
/// |--------------|-------------------------------|-------------------------------------------------------------------|
/// | plane        |                               | the half space z ≤ 0                                              |
/// | sphere       | radius                        | centred                                                           |
/// | capsule      | radius, length                | centred; length is that between the centres of the half spheres   |
/// | cylinder     | radius, length                | centred                                                           |
/// | cone         | radius, length                | base at z = −length/2, tip at +length/2                           |
/// | ellipsoid    | three radii                   | centred                                                           |
/// | box          | three edge lengths            | centred                                                           |
/// | hull         |                               | the convex hull of a mesh                                         |
/// | mesh         |                               | the triangles themselves: a closed solid, or an open sheet        |
/// | height field |                               | see kk_height_field_def                                           |
typedef enum kk_shape_type {
    KK_SHAPE_PLANE,
    KK_SHAPE_SPHERE,
    KK_SHAPE_CAPSULE,
    KK_SHAPE_CYLINDER,
    KK_SHAPE_CONE,
    KK_SHAPE_ELLIPSOID,
    KK_SHAPE_BOX,
    KK_SHAPE_HULL,
    KK_SHAPE_MESH,
    KK_SHAPE_HEIGHT_FIELD,
} kk_shape_type;

enum { KK_SHAPE_TYPE_COUNT = KK_SHAPE_HEIGHT_FIELD + 1 };

KK_END_DECLS
#endif
