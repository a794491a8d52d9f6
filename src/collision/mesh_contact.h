// Contacts of meshes and height fields with convex bodies and with meshes: the parts shared by mesh_*.c.
//
// The other body X, the *probe*, is a convex core with a radius: a point (sphere), a segment (capsule), a polytope (box,
// hull), one triangle of another mesh, or any core by its support function (cylinder, cone, ellipsoid, large hulls). All work is done in the frame M of the mesh; a direction d points from the mesh to X.
//
// For each triangle near X
//   1. mesh_axis.c finds the direction of greatest separation among those that the triangle's neighborhood allows
//      (facet.h), and a *hit*;
//   2. mesh_hits.c drops hits that a shallower one explains: moving X out along that one's direction parts X from
//      this triangle as well (a box that overlaps the rim of a step by a hair is pushed sideways, not up);
//   3. mesh_points.c clips and collects the points by direction, without those on flat inner edges, and keeps at most
//      eight that carry the wrench.
#ifndef KKI_COLLISION_MESH_CONTACT_H
#define KKI_COLLISION_MESH_CONTACT_H

#include "collision/facet.h"
#include "collision/manifold.h"
#include "collision/support.h"

/// A convex polytope by its faces. Arrays are not owned.
typedef struct kki_polytope {
    int32_t vertex_count, face_count, edge_count;
    const kk_vec3 *vertex;       ///< [vertex_count]
    const kki_convex_face *face; ///< [face_count]
    const int32_t *loop;         ///< corners of the faces
    const kki_convex_edge *edge; ///< [edge_count]
} kki_polytope;

/// Directions along which X was clear of triangles, the one that served last first: what separates X from one mostly separates it from the next.
enum { KKI_CLEAR_WAYS = 6 };
typedef struct kki_clear_ways {
    int count;
    kk_vec3 d[KKI_CLEAR_WAYS];  ///< unit, from the mesh to X
    double low[KKI_CLEAR_WAYS]; ///< least d · x over the core
} kki_clear_ways;

typedef struct kki_probe {
    kki_polytope shape; ///< no faces: point or segment
    double half[3];     ///< of a box; its ranges have a closed form
    bool is_box;
    bool is_general; ///< `core` answers instead of `shape`: curved bodies and hulls of many corners
    kki_core core;
    const kki_facet *facet; ///< triangle of another mesh, in that mesh's frame; NULL for convex bodies
    kk_vec3 corner[3];      ///< of such a triangle in M
    kk_transform X_MX;
    double clear; ///< of a height field: X's core is so far beside or below its columns; −inf where that is not known
    kk_vec3 middle; ///< of a convex core, inside it: the frame of a hull may lie anywhere
    double radius;
    double size;          ///< of about the core's extent, for tolerances
    kki_clear_ways *ways; ///< of a general core; NULL: none are kept
} kki_probe;

static inline kk_vec3 kki_probe_vertex(const kki_probe *x, int32_t i) {
    return x->facet ? x->corner[i] : kk_transform_point(x->X_MX, x->shape.vertex[i]);
}
/// Smallest and largest d · x over the core.
void kki_probe_range(const kki_probe *x, kk_vec3 d, double *low, double *high);

/// The point of the core farthest along l, all in X's frame.
kk_vec3 kki_probe_farthest(const kki_probe *x, kk_vec3 l);

typedef enum kki_hit_kind { KKI_HIT_FACE, KKI_HIT_X_FACE, KKI_HIT_POINT } kki_hit_kind;

/// What one triangle says.
typedef struct kki_hit {
    kk_vec3 d;           ///< unit, from the mesh to X
    double sep;          ///< separation of triangle and core along d
    kk_vec3 on_mesh;     ///< KKI_HIT_POINT, and all hits of general probes
    uint32_t feature[2]; ///< the same: of the mesh and of X
    int32_t place;       ///< of the mesh's face (kki_facet_load)
    int32_t x_place;     ///< of the other mesh's where X is its triangle
    int32_t index;       ///< face of X (KKI_HIT_X_FACE)
    uint8_t kind;        ///< kki_hit_kind
    bool only_above;     ///< the triangle itself is clear of X: only points in front of it count
    bool is_under;       ///< the same, but X is behind it: a way out if a deeper hit needs one
    bool is_weak;        ///< X's triangle looks the same way, its body is below it: counts where nothing else does
} kki_hit;

/// Feature ids: a kind in the two highest bits.
enum { KKI_FEATURE_FACE = 0, KKI_FEATURE_VERTEX = 1, KKI_FEATURE_EDGE = 2 };
static inline uint32_t kki_feature(int kind, int32_t id) {
    return (uint32_t)kind << 30 | ((uint32_t)id & 0x3fffffffu);
}
/// Feature ids of X's own corners and edges.
uint32_t kki_probe_vertex_feature(const kki_probe *x, int32_t i);
uint32_t kki_probe_edge_feature(const kki_probe *x, int32_t a, int32_t b);

/// The triangle's best direction, and the way out where X lies behind it; returns how many, none where it is farther than
/// `reach` or has nothing to say.
int kki_mesh_examine(const kki_facets *source, const kki_facet *f, const kki_probe *x, double reach, kki_hit hit[2]);

/// The nearest points of a triangle and a polytope that are apart, where their direction is a summit's.
bool kki_mesh_nearest(const kki_facets *source, const kki_facet *f, const kki_probe *x, double reach, kki_hit *hit);

/// The shortest way out of two solids.
typedef struct kki_way_out {
    kk_vec3 d;  ///< unit, from the mesh to X
    double sep; ///< along d, negative
    kk_vec3 on_mesh;
} kki_way_out;

/// The way out of two solids that overlap around a vertex of each, in the mesh's frame; false where they are not known to
/// be convex there.
/// @param d     about the direction
/// @param most  a longer one is none
bool kki_mesh_way_out(const kki_facets *m, int32_t m_seed, const kki_surface *x, int32_t x_seed,
                      const kk_transform *X_MX, kk_vec3 d, double most, kki_way_out *way);

// ---- collecting points

enum { KKI_CLUSTER_POINTS = 16, KKI_CLUSTERS = 64, KKI_POOL = 256 };

typedef struct kki_cluster_point {
    kk_vec3 on_mesh;
    double gap;
    uint32_t feature[2]; ///< mesh, X
} kki_cluster_point;

/// Points of one direction.
typedef struct kki_cluster {
    kk_vec3 d;
    bool is_face_normal; ///< exactly a face's normal
    int count;
    uint8_t at[KKI_CLUSTER_POINTS]; ///< places in the pool
} kki_cluster;

/// Directions share one pool of points, so that the whole stays within a small stack.
typedef struct kki_clusters {
    int count;
    int lost; ///< directions that found no room, or lost it
    int used; ///< of the pool, from its start; beyond that nothing is set
    int free_count;
    double reach;
    kki_cluster cluster[KKI_CLUSTERS];
    uint8_t free[KKI_POOL]; ///< places given back
    kki_cluster_point pool[KKI_POOL];
} kki_clusters;

static inline void kki_clusters_begin(kki_clusters *clusters, double reach) {
    clusters->count = clusters->lost = clusters->used = clusters->free_count = 0;
    clusters->reach = reach;
}
static inline kki_cluster_point *kki_cluster_point_at(kki_clusters *clusters, const kki_cluster *cluster, int i) {
    return &clusters->pool[cluster->at[i]];
}
void kki_clusters_add_point(kki_clusters *all, kk_vec3 d, bool is_face_normal, kki_cluster_point point);
/// The points of a hit; false where no part of triangle and face that is within reach lies over the other, seen along
/// the direction.
bool kki_clusters_add(kki_clusters *clusters, const kki_facet *f, const kki_probe *x, const kki_hit *hit);

/// Manifolds in the world, the deepest first; returns as kki_collide does.
/// @param is_swapped  the mesh is B
int kki_clusters_write(kki_clusters *all, const kk_transform *X_WM, bool is_swapped, kki_manifold *manifold, int room);

// ---- entries

/// As kki_collide, for a mesh or height field A and any shape B but planes and two height fields, in either order.
int kki_collide_mesh(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                     double reach, kki_pair_memory *memory, kki_manifold *manifold, int room);

#endif
