/// The triangles of a leaf side by side, and which triangles of two leaves may meet.
#ifndef KKI_GEOMETRY_LEAF_H
#define KKI_GEOMETRY_LEAF_H

#include "geometry/tree.h"

/// Most triangles of a leaf: one a lane.
enum { KKI_LEAF = 4 };

/// Up to four triangles as floats from an origin among them, so that rounding is measured by the leaf and not by the place.
/// Lanes without a triangle are no numbers and meet nothing. Three lines of a cache.
typedef struct kki_leaf {
    kki_float4 v[3][3]; ///< corners 0–2, axes x, y, z
    kk_vec3 origin;
    double reach;  ///< no corner's coordinates have a greater sum, absolute
    int32_t first; ///< place of the first triangle
} __attribute__((aligned(64))) kki_leaf;

/// @param corner  [count] of triangles, count ≤ KKI_LEAF
void kki_leaf_set(kki_leaf *leaf, const kk_vec3 (*corner)[3], int32_t first, int count);

/// B's frame in A's, for all leaves of two trees.
typedef struct kki_leaf_frames {
    kk_transform X_AB;
    kki_float4 R[9];
    double limit;
} kki_leaf_frames;

void kki_leaf_frames_set(kki_leaf_frames *frames, const kk_transform *X_AB, double limit);

/// Bit 4 j + i: triangle i of A and j of B are not proved to be farther apart than the limit by boxes in A's frame, planes or
/// products of edges.
unsigned kki_leaves_meet(const kki_leaf *a, const kki_leaf *b, const kki_leaf_frames *frames);

#endif
