/// The table of pairs: who collides two shapes of given types.
///
/// A row is filled for types in rising order only; kki_collide turns the others round. A new kind of shape fills its
/// column.
#ifndef KKI_COLLISION_PAIRS_H
#define KKI_COLLISION_PAIRS_H

#include "collision/manifold.h"

/// As kki_collide, for one ordered pair of types.
typedef int kki_collide_pair(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                             double reach, kki_pair_memory *memory, kki_manifold *manifold, int room);

kki_collide_pair kki_collide_plane_convex; ///< A is the plane
kki_collide_pair kki_collide_round;        ///< closed forms of one point: sphere with all but hulls
kki_collide_pair kki_collide_box_box;
kki_collide_pair kki_collide_convex;     ///< every other convex pair
kki_collide_pair kki_collide_plane_mesh; ///< A is the plane, B a mesh or height field

#endif
