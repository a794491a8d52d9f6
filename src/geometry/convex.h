/// Convex polyhedra as collision wants them: corners also as arrays of x, y, z for a search by lanes, plane polygons
/// with their planes, edges with their two faces, and each corner's neighbors for climbing.
///
/// One block of memory that never changes. Ids follow from the mesh alone.
#ifndef KKI_GEOMETRY_CONVEX_H
#define KKI_GEOMETRY_CONVEX_H

#include "geometry/mesh.h"
#include "geometry/shape.h"

/// The padding of the arrays: lanes of the search for the farthest corner.
enum { KKI_CONVEX_LANES = 4, KKI_CONVEX_SEEDS = 24, KKI_CONVEX_CLIMB_FROM = 40 };

typedef struct kki_convex_face {
    kk_vec3 normal;       ///< outward, unit
    double offset;        ///< n · x ≤ offset inside
    int32_t first, count; ///< its corners in `loop`, counter-clockwise seen from outside
} kki_convex_face;

typedef struct kki_convex_edge {
    int32_t vertex[2]; ///< vertex[0] < vertex[1]
    int32_t face[2];   ///< face[0] has the edge from vertex[0] to vertex[1], face[1] the other way
} kki_convex_edge;

struct kki_convex {
    kk_allocator allocator;
    size_t block_size;
    int32_t vertex_count, padded_count, face_count, edge_count;
    kk_vec3 *vertex;                ///< [vertex_count]
    double *x, *y, *z;              ///< [padded_count] the same; the padding repeats the first
    kki_convex_face *face;          ///< [face_count]
    int32_t *loop;                  ///< [2 edge_count] corners of the faces, one face after another
    kki_convex_edge *edge;          ///< [edge_count] rising by vertices
    int32_t *neighbor_from;         ///< [vertex_count + 1]
    int32_t *neighbor;              ///< [2 edge_count] corners at the other ends of a corner's edges
    int32_t *around_from;           ///< [vertex_count + 1]
    int32_t *around;                ///< [2 edge_count] faces at a corner, rising
    int32_t seed[KKI_CONVEX_SEEDS]; ///< corners to start a climb from, by the direction's largest axis and signs
    kk_vec3 centroid;               ///< of the solid
    double inner;                   ///< radius of the largest ball about the centroid inside
    double outer;                   ///< largest distance of a corner from the centroid
    double extent;                  ///< the same from the frame's origin
};

/// The polyhedron of a closed convex mesh, as kki_hull_of_points makes it: triangles of one facet become one polygon;
/// without facets each triangle is a face.
/// @return KK_INVALID_ARGUMENT where the mesh is not closed or has no volume
kk_status kki_convex_create(const kki_mesh *hull, const kk_allocator *allocator, kki_convex **convex, kk_error *error);
void kki_convex_free(kki_convex *convex);

/// The corner farthest along d, of equal ones the first found; `hint` is a corner to start from, or −1.
int kki_convex_support(const kki_convex *convex, kk_vec3 d, int hint);

#endif
