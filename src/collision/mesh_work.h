// What the parts of mesh_collide.c share while one pair of bodies is looked at, and their steps.
#ifndef KKI_COLLISION_MESH_WORK_H
#define KKI_COLLISION_MESH_WORK_H

#include "collision/mesh_contact.h"

enum { KKI_MESH_PIECES = 256, KKI_MESH_HITS = 80, KKI_MESH_WAYS = 32 };

/// Loose pieces of a mesh that some triangle of the other touches; beyond so many, two share a bit.
typedef struct kki_pieces {
    uint64_t bits[KKI_MESH_PIECES / 64];
} kki_pieces;

typedef struct kki_mesh_way {
    kk_vec3 d;
    double depth;
    const kki_hit *under; ///< of a triangle that X is clear of: it counts once it explains a hit
} kki_mesh_way;

typedef struct kki_mesh_work {
    kki_facets source;   ///< the mesh, frame M
    kki_facets x_source; ///< the other mesh
    kki_probe x;
    kki_facet x_facet;
    kki_convex_face x_face;
    double reach;
    kki_pieces touched, x_touched;
    bool is_over; ///< X reaches beyond a wall of the height field, and is not clear of its columns: it may lean over
    bool has_witness;
    kki_hit witness; ///< the shallowest overlap
    bool is_looked_for, has_way;
    kki_way_out way; ///< of two solids, as convex bodies
    int count, weak;
    kki_hit hit[KKI_MESH_HITS];   ///< the weak ones stay until the end
    uint8_t order[KKI_MESH_HITS]; ///< the shallowest first
    int ways;
    kki_mesh_way way_out[KKI_MESH_WAYS];
    kki_clusters clusters;
} kki_mesh_work;

// ---- mesh_probe.c

/// The convex core of a shape; false for shapes that are none. @param room  holds up to eight corners
bool kki_probe_of_shape(const kki_shape *s, kk_vec3 room[8], kki_probe *x);
kki_aabb kki_probe_box(const kki_probe *x);
kki_core kki_probe_core(const kki_probe *x);

/// X becomes a triangle of the other mesh; false where that has no area.
bool kki_mesh_set_triangle(kki_mesh_work *c, int32_t place);

// ---- mesh_near.c

/// What triangle `place` of the mesh says of X.
void kki_mesh_try_face(kki_mesh_work *c, int32_t place);
/// The same of all triangles near X.
void kki_mesh_try_near(kki_mesh_work *c);

// ---- mesh_hits.c

/// Keeps the hit behind the last one.
void kki_mesh_keep_hit(kki_mesh_work *c);
/// Makes points of the hits so far but the weak ones, and room.
void kki_mesh_flush(kki_mesh_work *c);
/// Makes points of all hits, and of what they do not show.
void kki_mesh_take_all(kki_mesh_work *c);
bool kki_mesh_has_overlap(kki_mesh_work *c);

// ---- mesh_inside.c

/// Where no triangle has a say and a point of one body is inside the other, all of it is, or all of its piece: out by the
/// point's shortest way. @param is_free  nothing touches anything
void kki_mesh_push_out(kki_mesh_work *c, bool is_free);

#endif
