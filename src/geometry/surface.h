// A triangle mesh as collision sees it: boundary representation, normals, kinds of edges and vertices, tree.
//
// Edges follow Kuroda (S1 5.1.1). Vertices have angle-weighted pseudo-normals (Baerentzen and Aanaes 2005): with them the
// sign of (p − closest point) · normal says on which side of a closed surface p lies, whatever the closest feature is.
// An edge is flat where its two faces lie in one plane to a small angle; nothing can catch on such an edge, and contacts
// ignore it (S1 5.4.2). A vertex is flat where all its edges are. One block of memory; never changes.
#ifndef KKI_GEOMETRY_SURFACE_H
#define KKI_GEOMETRY_SURFACE_H

#include "geometry/leaf.h"
#include "geometry/mesh.h"
#include "geometry/tree.h"
#include "geometry/tree_pair.h"

/// Coordinates beyond this are not accepted: boxes are floats.
#define KKI_SURFACE_FAR 1e15

typedef enum kki_edge_kind {
    KKI_EDGE_FLAT,
    KKI_EDGE_CONVEX,
    KKI_EDGE_CONCAVE,
    KKI_EDGE_BORDER, ///< one face only, or two that run the same way
} kki_edge_kind;

/// What contact asks of a face, side by side.
typedef struct kki_surface_facet {
    double size; ///< longest edge
    int32_t face, region;
    int32_t vertex[3], edge[3];
    int32_t beside[3];    ///< place of the face across edge k; −1 for none
    uint8_t edge_kind[3]; ///< kki_edge_kind
    uint8_t vertex_is_flat[3];
} kki_surface_facet;

/// A vertex as its neighbor sees it, with all that a climb asks for: stepping on, it waits for memory once.
typedef struct kki_surface_star {
    kk_vec3 p;
    int32_t vertex;
    int32_t first; ///< start of its own star; the vertex after it begins where this one ends
} kki_surface_star;

struct kki_surface {
    kk_allocator allocator;
    size_t block_size;
    int32_t vertex_count, face_count, edge_count;
    kk_vec3 *vertex;          ///< [vertex_count]
    kki_face *face;           ///< [face_count] as in the mesh; turned over where the mesh is closed and inside out
    kki_edge *edge;           ///< [edge_count]
    int32_t (*face_edge)[3];  ///< [face_count] edge k joins corners k and k + 1
    int32_t *vertex_first;    ///< [vertex_count + 1] start of each vertex's edges in vertex_edge
    int32_t *vertex_edge;     ///< [2 edge_count]
    kki_surface_star *star;   ///< [2 edge_count] the other ends of those edges
    kk_vec3 *normal;          ///< [face_count] unit; 0 for faces without area
    kk_vec3 *vertex_normal;   ///< [vertex_count] angle-weighted, not normalized
    uint8_t *edge_kind;       ///< [edge_count] kki_edge_kind
    uint8_t *vertex_is_flat;  ///< [vertex_count]
    int32_t *region;          ///< [face_count] lowest face of the plane piece that flat edges join it to
    int32_t *place;           ///< [face_count] of each face in the order of the tree's leaves, as the next three are
    kk_vec3 (*corner)[3];     ///< [face_count]
    kk_vec3 *leaf_normal;     ///< [face_count] `normal` in that order: neighbors in space are so in memory
    kki_surface_facet *facet; ///< [face_count]
    int32_t piece_count;      ///< connected over edges
    int32_t *piece; ///< [vertex_count] of each vertex, in the order of their first faces; −1 for a vertex of no face
    int32_t *piece_vertex; ///< [piece_count] a vertex of each
    kki_tree tree;         ///< over faces
    kki_pair_tree pairs;   ///< the same for two meshes
    kki_aabb box;
    bool is_solid;  ///< closed and oriented: has an inside. Others are sheets that are touched from both sides
    bool is_convex; ///< a solid without a dent
};

/// @return KK_INVALID_ARGUMENT for coordinates out of range, KK_OUT_OF_MEMORY
kk_status kki_surface_create(const kki_mesh *mesh, const kk_allocator *allocator, kki_surface **surface,
                             kk_error *error);
void kki_surface_free(kki_surface *surface);

/// A point of a triangle by the feature it lies on.
typedef struct kki_triangle_point {
    kk_vec3 p;
    int feature; ///< 0–2: corner; 3–5: edge from corner feature − 3 to the next; 6: inside
} kki_triangle_point;

/// The point of a triangle nearest to p (Ericson 2005, 5.1.5). Triangles without area are treated as segments or points.
kki_triangle_point kki_triangle_closest(const kk_vec3 corner[3], kk_vec3 p);

/// The nearest point of a surface.
typedef struct kki_surface_point {
    kk_vec3 p;
    int32_t face; ///< −1: none within the limit
    int feature;  ///< as in kki_triangle_point
    double distance;
    bool is_inside; ///< of a solid
} kki_surface_point;

/// Nearest point within `limit`; among equally near ones that of the lowest face.
kki_surface_point kki_surface_closest(const kki_surface *surface, kk_vec3 p, double limit);
/// Whether a point is in a solid; `at` is the surface's point nearest to it, set where it is.
bool kki_surface_holds(const kki_surface *surface, kk_vec3 p, kki_surface_point *at);

/// The vertices of two surfaces where climbing, each along its own d, ends, at the latest after `most` steps: no neighbor is
/// farther. Of a convex surface it is the farthest. Both at once, for most of a climb is waiting for memory.
/// @param enough  the climb ends too where both heights together are more
/// @param at      where to begin and where it ends
void kki_surface_climb(const kki_surface *a, kk_vec3 a_d, const kki_surface *b, kk_vec3 b_d, int most, double enough,
                       int32_t at[2]);
/// The same of one mesh alone. @return where it came to
int32_t kki_surface_climb_one(const kki_surface *s, kk_vec3 d, int32_t from, int most);

/// Pseudo-normal of a feature of a face (kki_triangle_point), not normalized.
kk_vec3 kki_surface_pseudo_normal(const kki_surface *surface, int32_t face, int feature);

#endif
