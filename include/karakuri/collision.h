/// Questions about shapes without a step: how far apart, where do they touch, when will they, what does a ray hit.
///
/// Shapes are those of a model that collide, by id. The calls on one pair take the shapes' poses, so that they answer for
/// any placement; the calls on the whole model take a data on which kk_kinematics has run. Nothing is allocated.
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
/// @return KK_NOT_FOUND for a shape that does not exist or does not collide, KK_UNSUPPORTED for a pair of types that no
///         distance is known for (two planes; meshes that are far apart)
KK_API kk_status kk_shape_separation(const kk_model *model, int shape_a, kk_transform X_WA, int shape_b,
                                     kk_transform X_WB, kk_separation *separation);

/// Contact points of two shapes whose gap is at most `reach` (≥ 0), the deepest planes first.
/// @param manifold  [room]
/// @return how many were written; negative: −1 − n where n > room were found; KK_NOT_FOUND is told as 0
KK_API int kk_shape_manifolds(const kk_model *model, int shape_a, kk_transform X_WA, int shape_b, kk_transform X_WB,
                              double reach, kk_manifold *manifold, int room);

/// First time within `duration` at which two shapes that move with constant velocity (of their origins) and angular
/// velocity, world axes, are within `target` of each other. Convex shapes, or one and a plane at rest.
/// @return KK_UNSUPPORTED for other pairs
KK_API kk_status kk_shape_impact(const kk_model *model, int shape_a, kk_transform X_WA, kk_motion velocity_a,
                                 int shape_b, kk_transform X_WB, kk_motion velocity_b, double duration, double target,
                                 kk_impact *impact);

// ---- the whole model

/// Pairs of shapes that may touch (kk_model_may_touch) and are within `reach` of each other, which may be negative to ask
/// for deep overlaps only; in the order of their ids.
/// @param overlap  [room]; may be NULL where room is 0
/// @return how many there are, which may be more than `room`
KK_API int kk_model_overlaps(const kk_model *model, const kk_data *data, double reach, kk_overlap *overlap, int room);

/// The nearest shape that a ray meets within `limit` lengths of its direction. Margins of hulls, cylinders, cones,
/// ellipsoids and meshes do not count.
KK_API kk_ray_hit kk_model_ray(const kk_model *model, const kk_data *data, kk_vec3 origin, kk_vec3 direction,
                               double limit);

KK_END_DECLS
#endif
