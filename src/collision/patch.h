/// Contact patches: the part of a body's surface that faces a direction, and what two of them have in common.
#ifndef KKI_COLLISION_PATCH_H
#define KKI_COLLISION_PATCH_H

#include <stdbool.h>

#include "collision/manifold.h"
#include "collision/support.h"

/// Lines and round faces count as such up to 45° from facing a direction: cosine and sine of that.
#define KKI_PATCH_TILT 0.70710678118654752440

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

/// A core over all that lies below the plane z = 0 of A's frame: what is known of it.
typedef struct kki_floor_meeting {
    kk_vec3 low;   ///< the core's lowest point, in A
    double margin; ///< of the plane
    double radius; ///< of the ball around the core
    double reach;  ///< as in kki_meeting
} kki_floor_meeting;

/// The same over a floor, where nothing is cut off.
void kki_patch_meets_floor(const kki_floor_meeting *meeting, const kki_core *core, const kk_transform *X_AB,
                           const kk_transform *X_WA, kki_pair_memory *memory, kki_manifold *manifold);
/// The same of a segment that lies on it by its ends in A, the lower end of its own frame first.
void kki_line_meets_floor(const kki_floor_meeting *meeting, const kk_vec3 end[2], double half, const kk_transform *X_WA,
                          kki_pair_memory *memory, kki_manifold *manifold);

/// The upper face of the box that a floor would be; and what a pair remembers that lies on it.
enum { KKI_FLOOR_FACE = 4, KKI_ON_FLOOR = 1 + KKI_FLOOR_FACE };

/// An end of a segment on it.
static inline uint64_t kki_floor_feature(uint32_t end) {
    return (uint64_t)KKI_FLOOR_FACE << 48 | end;
}

#endif
