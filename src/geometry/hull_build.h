// What the two halves of the hull share: the triangles while they are found, and the tidying into facets.
#ifndef KARAKURI_GEOMETRY_HULL_BUILD_H
#define KARAKURI_GEOMETRY_HULL_BUILD_H

#include "geometry/mesh.h"

/// A triangle of the hull on the grid. Edge k runs from corner k to corner k + 1.
typedef struct kki_hull_face {
    int32_t vertex[3];
    int32_t neighbor[3]; // face beyond edge k
    kk_vec3 normal;      // unit, outwards
    int32_t outside;     // first of the points that may be outside of this face, -1: none
    int32_t farthest;    // of those, and its distance
    double distance;
    int32_t before, after; // in the list of faces with points to add; -1: end
    int32_t mark;          // of the search for visible faces; -1 once the face is gone
    bool is_listed;
} kki_hull_face;

/// Sign of the side of the face's plane on which a grid point lies, exact: 1 outside, 0 on it, -1 inside.
int kki_hull_side(const kk_vec3 *grid, const kki_hull_face *face, int32_t point);

/// Joins triangles of one plane to facets, leaves out points that are no corner, and makes the mesh of point[count].
/// face[face_count] may hold faces that are gone.
kk_status kki_hull_finish(const kk_vec3 *point, int32_t count, const kk_vec3 *grid, const kki_hull_face *face,
                          int32_t face_count, const kk_allocator *allocator, kki_mesh **mesh, kk_error *error);

#endif
