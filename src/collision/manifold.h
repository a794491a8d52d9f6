/// What touches where: the result of colliding two shapes.
///
/// The normal n points from A to B, in the world; a positive force along +n pushes B away from A. A point is given by
/// its place on A's surface; the one on B's is position + gap · n. Gaps are negative where the shapes overlap.
#ifndef KKI_COLLISION_MANIFOLD_H
#define KKI_COLLISION_MANIFOLD_H

#include "geometry/shape.h"

enum { KKI_MANIFOLD_POINTS = 8 };

typedef struct kki_contact_point {
    kk_vec3 position; ///< on A, in the world
    double gap;
    uint64_t feature; ///< which features of A and B meet; the same from step to step while they do
} kki_contact_point;

/// Points of one contact plane. A convex pair has at most one; meshes and compounds have several.
typedef struct kki_manifold {
    kk_vec3 normal;
    int32_t count;
    kki_contact_point point[KKI_MANIFOLD_POINTS];
} kki_manifold;

/// What a pair of shapes remembers from one step to the next: part of the state, plain bytes, all zero at first.
/// It makes the next call faster and keeps the reference face; an answer found with a stale one is as right.
typedef struct kki_pair_memory {
    uint32_t reference; ///< 1 + id of the reference face, whose body is in the highest bit; 0: none
    uint32_t feature[4];
    float direction[3]; ///< last separating direction, in A
} kki_pair_memory;

/// Contact points of two shapes whose gap is at most `reach` (≥ 0). At most `room` manifolds, the deepest first where
/// there are more; their order depends on geometry alone.
/// @return manifolds written; −1 − n where n > room were found and only the deepest `room` were kept
int kki_collide(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                double reach, kki_pair_memory *memory, kki_manifold *manifold, int room);

/// Of a plane A and a ball or a capsule B, most often one point, the manifold's only one: its normal is the plane's.
/// @return 1; 0: there is none; −1: there may be two, and kki_collide has to look
int kki_round_over_plane(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                         double reach, kki_pair_memory *memory, kki_contact_point *point);

#endif
