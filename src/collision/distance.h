/// Signed distance of two shapes with witness points.
#ifndef KKI_COLLISION_DISTANCE_H
#define KKI_COLLISION_DISTANCE_H

#include "collision/manifold.h"
#include "collision/support.h"

/// Signed distance d: positive apart, minus the depth where they overlap; on_b = on_a + d n.
typedef struct kki_separation {
    double distance;
    kk_vec3 normal; ///< unit, from A to B, in the world
    kk_vec3 on_a, on_b;
    int iterations; ///< of searches; 0 for closed forms
} kki_separation;

/// Distance of two shapes; `memory` may be NULL. Finite and bounded for every finite input. Where a mesh or height field
/// overlaps, the depth is that of the deepest contact point.
/// @return 0, and nothing of use is written, for two planes, two height fields and meshes without triangles
int kki_distance(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                 kki_pair_memory *memory, kki_separation *result);

/// The same where a mesh or height field takes part.
int kki_distance_of_triangles(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b,
                              const kk_transform *X_WB, kki_separation *result);

/// The same of two cores with their radii, and of the half space z ≤ margin of frame A and a core.
void kki_core_separation_between(const kki_core *a, const kk_transform *X_WA, const kki_core *b,
                                 const kk_transform *X_WB, kki_pair_memory *memory, kki_separation *result);
/// The same of two cores, or 0 where they are proved to be farther apart than `most`.
int kki_core_separation_within(const kki_core *a, const kk_transform *X_WA, const kki_core *b, const kk_transform *X_WB,
                               double most, kki_pair_memory *memory, kki_separation *result);
void kki_plane_separation(const kk_transform *X_WA, double margin, const kki_core *b, const kk_transform *X_WB,
                          kki_separation *result);
/// The answer seen from the other body.
void kki_separation_turn(kki_separation *r);

/// A bound on the distance from below: of two convex shapes, or one and a plane. The distance itself, or, which is cheaper to tell, something above `enough`.
/// Which of them depends on `memory`, which may be NULL.
double kki_distance_at_least(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                             double enough, kki_pair_memory *memory);

/// Whether the distance is at most `reach`, which is cheaper to tell; the same pairs.
int kki_overlap(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                double reach, kki_pair_memory *memory);

#endif
