/// Questions about shapes without a step: how far apart, where do they touch, when will they, what does a ray hit.
///
/// Shapes are those of a model that collide, by id, or loose ones (kk_geometry). The calls on one pair take the shapes'
/// poses, so that they answer for any placement; the calls on the whole model take a data on which kk_kinematics has run,
/// or a kk_scene, which is faster for many questions. Nothing is allocated but by what creates.
#ifndef KARAKURI_COLLISION_H
#define KARAKURI_COLLISION_H

#include <karakuri/dynamics.h>

KK_BEGIN_DECLS

enum { KK_MANIFOLD_POINTS = 8 };

/// on_b = on_a + distance · normal.
typedef struct kk_separation {
    double distance;    ///< m; negative: the depth of the overlap
    kk_vec3 normal;     ///< unit, from A to B, world
    kk_vec3 on_a, on_b; ///< the nearest points, world
} kk_separation;

/// Contact points on one plane. A convex pair has at most one such plane; meshes have several.
typedef struct kk_manifold {
    kk_vec3 normal; ///< unit, from A to B, world
    int count;
    struct {
        kk_vec3 position; ///< on A, world; the point on B is position + gap · normal
        double gap;       ///< m; negative: overlap
    } point[KK_MANIFOLD_POINTS];
} kk_manifold;

typedef enum kk_impact_kind {
    KK_IMPACT_NONE,   ///< proved: they stay apart
    KK_IMPACT_HIT,    ///< at `time` they touch, or they did from the start
    KK_IMPACT_UNSURE, ///< no impact before `time`, where the search was given up
} kk_impact_kind;

typedef struct kk_impact {
    kk_impact_kind kind;
    double time;      ///< s
    kk_separation at; ///< then
} kk_impact;

/// Two shapes that overlap, or are nearer than asked for.
typedef struct kk_overlap {
    int shape[2], body[2];
    kk_separation at;
} kk_overlap;

typedef struct kk_ray_hit {
    int shape, body;  ///< −1: nothing was hit
    double distance;  ///< along the ray, in lengths of its direction
    kk_vec3 position; ///< world
    kk_vec3 normal;   ///< out of the solid, world
    int is_inside;    ///< 1: the ray came from within
} kk_ray_hit;

// ---- one pair

/// The pose of a shape in the world. @param data  after kk_kinematics
KK_API kk_transform kk_shape_pose(const kk_model *model, const kk_data *data, int shape);

/// Signed distance of two shapes.
/// @return KK_NOT_FOUND for a shape that does not exist or does not collide, KK_UNSUPPORTED for two planes or two height
///         fields, KK_INVALID_ARGUMENT for poses that are no numbers or farther than 1e30 m
KK_API kk_status kk_shape_separation(const kk_model *model, int shape_a, kk_transform X_WA, int shape_b,
                                     kk_transform X_WB, kk_separation *separation);

/// Contact points of two shapes whose gap is at most `reach` (≥ 0), the deepest planes first.
/// @param manifold  [room]
/// @return how many were written; negative: −1 − n where n > room were found; KK_NOT_FOUND is told as 0
KK_API int kk_shape_manifolds(const kk_model *model, int shape_a, kk_transform X_WA, int shape_b, kk_transform X_WB,
                              double reach, kk_manifold *manifold, int room);

/// First time within `duration` at which two shapes that move with constant velocity (of their origins) and angular
/// velocity, world axes, are within `target` of each other.
/// Of motions that are no numbers, or beyond 1e30, the answer is KK_IMPACT_UNSURE from the start.
/// @return KK_NOT_FOUND and KK_UNSUPPORTED as kk_shape_separation
KK_API kk_status kk_shape_impact(const kk_model *model, int shape_a, kk_transform X_WA, kk_motion velocity_a,
                                 int shape_b, kk_transform X_WB, kk_motion velocity_b, double duration, double target,
                                 kk_impact *impact);

// ---- the whole model

/// Pairs of shapes that may touch (kk_model_may_touch) and are within `reach` of each other, which may be negative to ask
/// for deep overlaps only; in the order of their ids.
/// @param overlap  [room]; may be NULL where room is 0
/// @return how many there are, which may be more than `room`
KK_API int kk_model_overlaps(const kk_model *model, const kk_data *data, double reach, kk_overlap *overlap, int room);

/// The nearest shape, with its margin, that a ray meets within `limit` lengths of its direction.
KK_API kk_ray_hit kk_model_ray(const kk_model *model, const kk_data *data, kk_vec3 origin, kk_vec3 direction,
                               double limit);

// ---- loose shapes

/// A shape by itself. Never changes; any number of threads read it.
typedef struct kk_geometry kk_geometry;

/// @param shape         type, sizes and margin; the rest is not looked at
/// @param mesh          of hulls and meshes; NULL otherwise
/// @param height_field  of height fields; NULL otherwise
KK_API kk_status kk_geometry_create(const kk_shape_def *shape, const kk_mesh_def *mesh,
                                    const kk_height_field_def *height_field, const kk_allocator *allocator,
                                    kk_geometry **geometry, kk_error *error);
KK_API void kk_geometry_free(kk_geometry *geometry);

/// A geometry somewhere, moving or not: constant velocity of its origin and constant angular velocity, world axes.
typedef struct kk_placed {
    const kk_geometry *geometry;
    kk_transform pose;  ///< X_WS
    kk_motion velocity; ///< only where time passes
} kk_placed;

/// The common part of two overlapping convex bodies.
typedef struct kk_overlap_region {
    double volume;
    double area;      ///< of its shadow along the normal of their separation: the contact area
    kk_vec3 centroid; ///< the origin where the volume is 0
} kk_overlap_region;

/// From origin along direction, which need not be of unit length, up to `limit` lengths of it.
typedef struct kk_ray {
    kk_vec3 origin, direction;
    double limit; ///< may be infinite
} kk_ray;

/// @return KK_UNSUPPORTED for two planes or two height fields, KK_INVALID_ARGUMENT for poses that are no numbers or farther
///         than 1e30 m; such a pose overlaps nothing and has no contact points
KK_API kk_status kk_placed_separation(const kk_placed *a, const kk_placed *b, kk_separation *separation);
/// 1 where the distance is at most `reach`.
KK_API int kk_placed_overlap(const kk_placed *a, const kk_placed *b, double reach);
/// As kk_shape_manifolds.
KK_API int kk_placed_manifolds(const kk_placed *a, const kk_placed *b, double reach, kk_manifold *manifold, int room);
/// @return KK_UNSUPPORTED for shapes other than boxes and hulls without margin
KK_API kk_status kk_placed_overlap_region(const kk_placed *a, const kk_placed *b, kk_overlap_region *region);
/// The first touch within a duration. @return as kk_shape_impact
KK_API kk_status kk_placed_impact(const kk_placed *a, const kk_placed *b, double duration, kk_impact *impact);
/// The shape of the hit is 0, or −1 where there is none; its body is −1.
KK_API kk_ray_hit kk_placed_ray(const kk_placed *a, const kk_ray *ray);
/// Signed distance of a point from a shape; the normal points from the shape to the point. @return as kk_placed_separation
KK_API kk_status kk_placed_point(const kk_placed *a, kk_vec3 point, kk_separation *separation);

// ---- many questions about a model

/// The colliding shapes of a model where a data says they are. One a thread; the model must outlive it.
typedef struct kk_scene kk_scene;

KK_API kk_status kk_scene_create(const kk_model *model, const kk_allocator *allocator, kk_scene **scene,
                                 kk_error *error);
KK_API void kk_scene_free(kk_scene *scene);
/// Takes the poses of a data, after any kk_kinematics call. Does not allocate.
KK_API void kk_scene_place(kk_scene *scene, const kk_data *data);

/// The nearest hit of each ray; of equal ones the lowest id. @param hit  [count]
KK_API void kk_scene_rays(const kk_scene *scene, const kk_ray *ray, int count, kk_ray_hit *hit);
/// Ids of the shapes within `reach` of a loose one, rising. @return how many there are, which may be more than `room`
KK_API int kk_scene_overlap(const kk_scene *scene, const kk_placed *placed, double reach, int *shape, int room);
/// The nearest shape to a loose one, which is A of the separation. @return its id; −1: there is none
KK_API int kk_scene_nearest(const kk_scene *scene, const kk_placed *placed, kk_separation *separation);
/// The first shape that a moving loose one touches, the model standing still. @return its id; −1: none, which is proved
/// unless the impact is KK_IMPACT_UNSURE
KK_API int kk_scene_cast(const kk_scene *scene, const kk_placed *placed, double duration, kk_impact *impact);

KK_END_DECLS
#endif
