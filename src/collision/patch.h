/// Contact patches: the part of a body's surface that faces a direction, and what two of them have in common.
#ifndef KKI_COLLISION_PATCH_H
#define KKI_COLLISION_PATCH_H

#include "collision/manifold.h"
#include "collision/support.h"

/// Faces of more corners are thinned out evenly; round faces are octagons.
enum { KKI_PATCH_POINTS = 32, KKI_PATCH_OCTAGON = 8 };

/// A polygon counter-clockwise seen from outside, a line or a point of a core's surface.
typedef struct kki_patch {
    int count;
    int32_t face;   ///< of the core's numbering
    kk_vec3 normal; ///< of polygons
    kk_vec3 point[KKI_PATCH_POINTS];
    int32_t id[KKI_PATCH_POINTS]; ///< of corners
} kki_patch;

/// The patch of a core that faces d (unit, in the core's frame) best at the point farthest along d.
void kki_core_patch(const kki_core *core, kk_vec3 d, kki_patch *patch);

/// The outward normal of a flat face by its number; 0 where the core has no such face.
int kki_core_face_normal(const kki_core *core, int32_t face, kk_vec3 *normal);

/// What is known of a pair before its patches are cut, in A's frame, of cores without their radii.
typedef struct kki_meeting {
    const kki_core_pair *pair;
    kk_vec3 normal;  ///< from A to B
    double distance; ///< of the cores along it
    kk_vec3 on_a;    ///< a point of A's core where it is reached
    double reach;    ///< largest gap asked for, between the thick bodies
    double radius;   ///< of the smaller body: the measure of slack and merging
} kki_meeting;

/// Contact points of two cores that meet along a normal: the common part of both patches where the gap is within reach.
/// The manifold comes out in the world; its normal and count are set.
void kki_patches_meet(const kki_meeting *meeting, const kk_transform *X_WA, kki_pair_memory *memory,
                      kki_manifold *manifold);
/// The same where A is all that lies below its plane z = 0: nothing is cut off.
void kki_patch_meets_floor(const kki_meeting *meeting, const kk_transform *X_WA, kki_pair_memory *memory,
                           kki_manifold *manifold);

#endif
