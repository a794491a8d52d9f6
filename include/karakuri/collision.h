/// Questions about shapes: how far apart, where they touch, what a ray or a moving shape meets first. For two loose shapes, and
/// for a loose shape or a ray against the colliding shapes of a model.
///
/// Nothing allocates but the calls that create; every call is deterministic. All is in the world's frame.
#ifndef KARAKURI_COLLISION_H
#define KARAKURI_COLLISION_H

#include <karakuri/dynamics.h>
#include <karakuri/shape.h>

KK_BEGIN_DECLS

/// A shape by itself. Never changes; any number of threads read it.
typedef struct kk_geometry kk_geometry;

/// @param shape         type, sizes and margin; the rest is not looked at
/// @param mesh          of hulls and meshes; NULL otherwise
/// @param height_field  of height fields; NULL otherwise
KK_API kk_status kk_geometry_create(const kk_shape_def *shape, const kk_mesh_def *mesh,
                                    const kk_height_field_def *height_field, const kk_allocator *allocator,
                                    kk_geometry **geometry, kk_error *error);
KK_API void kk_geometry_free(kk_geometry *geometry);

/// A geometry somewhere, moving or not: constant velocity of its origin and constant angular velocity.
typedef struct kk_placed {
    const kk_geometry *geometry;
    kk_transform pose;  ///< X_WS
    kk_motion velocity; ///< only where time passes
} kk_placed;

/// Signed distance: positive apart, minus the depth where they overlap. point[1] = point[0] + distance · normal.
typedef struct kk_separation {
    double distance;
    kk_vec3 normal;   ///< unit, from the first to the second
    kk_vec3 point[2]; ///< on the first, on the second
} kk_separation;

/// A place where two shapes touch or are near.
typedef struct kk_touch {
    kk_vec3 position; ///< on the first; on the second it is position + gap · normal
    kk_vec3 normal;   ///< from the first to the second
    double gap;       ///< negative: overlap
    uint64_t feature; ///< which features meet: the same from call to call while they do
} kk_touch;

typedef enum kk_impact_kind {
    KK_IMPACT_NONE,   ///< proved: they stay apart
    KK_IMPACT_HIT,    ///< they touch at `time` for the first time, or overlap at the start
    KK_IMPACT_UNSURE, ///< proved apart before `time`, where the search was given up
} kk_impact_kind;

typedef struct kk_impact {
    kk_impact_kind kind;
    double time;      ///< never later than the first touch
    kk_separation at; ///< then, where there is a hit
} kk_impact;

/// From origin along direction, which need not be of unit length, for 0 ≤ t ≤ limit.
typedef struct kk_ray {
    kk_vec3 origin, direction;
    double limit; ///< may be infinite
} kk_ray;

/// The first crossing of a surface, from either side. Margins of cylinders, cones, ellipsoids, hulls, meshes and height fields
/// are not seen by rays.
typedef struct kk_ray_hit {
    double t; ///< the ray's limit where nothing is hit
    kk_vec3 normal;
    int shape;     ///< id in the model; 0 for a loose geometry; −1: nothing is hit
    int is_inside; ///< the ray came from inside a solid
} kk_ray_hit;

// ---- two loose shapes

/// @return KK_UNSUPPORTED for two planes or two height fields
KK_API kk_status kk_placed_distance(const kk_placed *a, const kk_placed *b, kk_separation *separation);
/// 1 where the distance is at most `reach`.
KK_API int kk_placed_overlap(const kk_placed *a, const kk_placed *b, double reach);
/// Places where the gap is at most `reach`, ≥ 0; the deepest normals first.
/// @return how many were written, at most `room`
KK_API int kk_placed_touches(const kk_placed *a, const kk_placed *b, double reach, kk_touch *touch, int room);
/// The common part of two overlapping convex bodies.
typedef struct kk_overlap_region {
    double volume;
    double area;      ///< of its shadow along the normal of their separation: the contact area
    kk_vec3 centroid; ///< the origin where the volume is 0
} kk_overlap_region;
/// @return KK_UNSUPPORTED for shapes other than boxes and hulls without margin
KK_API kk_status kk_placed_overlap_region(const kk_placed *a, const kk_placed *b, kk_overlap_region *region);
/// The first touch within a duration. @return as kk_placed_distance
KK_API kk_status kk_placed_impact(const kk_placed *a, const kk_placed *b, double duration, kk_impact *impact);
/// 1 where the ray hits.
KK_API int kk_placed_ray(const kk_placed *a, const kk_ray *ray, kk_ray_hit *hit);
/// Of a point from a shape; the normal points from the shape to the point. @return as kk_placed_distance
KK_API kk_status kk_placed_signed_distance(const kk_placed *a, kk_vec3 point, kk_separation *separation);

// ---- a model's shapes

/// The colliding shapes of a model where a data says they are. One a thread; the model must outlive it.
typedef struct kk_scene kk_scene;

KK_API kk_status kk_scene_create(const kk_model *model, const kk_allocator *allocator, kk_scene **scene,
                                 kk_error *error);
KK_API void kk_scene_free(kk_scene *scene);
/// Takes the poses of a data, after any kk_kinematics call. Does not allocate.
KK_API void kk_scene_place(kk_scene *scene, const kk_data *data);

/// Distance of two shapes of the model by ids. @return KK_INVALID_ARGUMENT for ids that do not collide
KK_API kk_status kk_scene_pair_distance(const kk_scene *scene, int first, int second, kk_separation *separation);
/// The nearest hit of each ray; of equal ones the lowest id. @param hit  [count]
KK_API void kk_scene_rays(const kk_scene *scene, const kk_ray *ray, int count, kk_ray_hit *hit);
/// Ids of the shapes within `reach` of a loose one, rising. @return how many there are, which may be more than `room`
KK_API int kk_scene_overlap(const kk_scene *scene, const kk_placed *placed, double reach, int *shape, int room);
/// The nearest shape to a loose one, which is the second of the separation. @return its id; −1: there is none
KK_API int kk_scene_nearest(const kk_scene *scene, const kk_placed *placed, kk_separation *separation);
/// The first shape that a moving loose one touches, the model standing still. @return its id; −1: none, which is proved
KK_API int kk_scene_cast(const kk_scene *scene, const kk_placed *placed, double duration, kk_impact *impact);

KK_END_DECLS
#endif
