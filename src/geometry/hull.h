// The convex hull of points in space.
//
// The result is exact for the points rounded to a grid of 2^-51 of their extent along each axis: decisions on the grid
// are made in integers, so no degenerate input can break them (see hull.c). Points less than a tolerance outside are
// taken as inside, which keeps the rounding of rotated flat faces from becoming thousands of slivers. Sets thinner than
// the rounding of their coordinates are flat.
#ifndef KARAKURI_GEOMETRY_HULL_H
#define KARAKURI_GEOMETRY_HULL_H

#include "geometry/mesh.h"

/// NULL where options are asked for means all zero.
typedef struct kki_hull_options {
    double tolerance; ///< relative to the extent along each axis; 0: 1e-12, or the coordinates' own rounding if larger
} kki_hull_options;

/// Closed, outward-facing mesh of the hull of point[count]; its vertices are points of the set, bit by bit, and each is
/// a corner: none lies inside a facet or on an edge. mesh->facet joins the triangles of one plane.
/// @return KK_SINGULAR where the points are one, lie on a line or in a plane; the text says which
kk_status kki_hull_of_points(const kk_vec3 *point, int count, const kki_hull_options *options,
                             const kk_allocator *allocator, kki_mesh **mesh, kk_error *error);

#endif
