/// First time of impact of two moving bodies.
#ifndef KKI_COLLISION_IMPACT_H
#define KKI_COLLISION_IMPACT_H

#include "collision/distance.h"
#include "collision/support.h"

enum { KKI_IMPACT_ITERATIONS = 1000 };

/// A body that moves from X_WS with constant velocity of its origin and constant angular velocity, both in world axes.
typedef struct kki_moving {
    const kki_shape *shape;
    kk_transform X_WS;
    kk_motion velocity;
} kki_moving;

typedef enum kki_impact_kind {
    KKI_IMPACT_NONE,   ///< proved: the distance stays above the target
    KKI_IMPACT_HIT,    ///< at `time` the distance is the target, to rounding, or the bodies started within it
    KKI_IMPACT_UNSURE, ///< no impact before `time`, where the search was given up
} kki_impact_kind;

typedef struct kki_impact {
    kki_impact_kind kind;
    double time;       ///< in [0, duration]; never later than the first time at the target
    kki_separation at; ///< of the bodies then
    int iterations;
} kki_impact;

/// Lengths, speeds and times beyond this are not reckoned with: their products would overflow.
#define KKI_ABSURD 1e30

static inline bool kki_vector_is_sane(kk_vec3 v) {
    return __builtin_fabs(v.x) <= KKI_ABSURD && __builtin_fabs(v.y) <= KKI_ABSURD && __builtin_fabs(v.z) <= KKI_ABSURD;
}
/// All numbers, and none absurd.
static inline bool kki_pose_is_sane(const kk_transform *X) {
    bool is_sane = kki_vector_is_sane(X->p);
    for (int i = 0; i < 9; i++) {
        is_sane = is_sane && __builtin_fabs(X->R.m[i]) <= 2;
    }
    return is_sane;
}

static inline bool kki_moves_sanely(const kki_moving *body, double duration) {
    return kki_pose_is_sane(&body->X_WS) && kki_vector_is_sane(body->velocity.linear) &&
           kki_vector_is_sane(body->velocity.angular) && duration <= KKI_ABSURD;
}

/// Pose after a time.
kk_transform kki_moving_pose(const kki_moving *body, double time);

/// First time in [0, duration] at which two bodies are within `target` (≥ 0) of each other: every pair of shapes but two
/// planes and two height fields. A mesh is its triangles and, where it is closed, their inside; a height field its top,
/// walls and base.
/// Of motions that are no numbers, or absurd, nothing is known.
/// @return 0 for pairs that never touch
int kki_impact_find(const kki_moving *a, const kki_moving *b, double duration, double target, kki_impact *impact);

/// A core, or a plane (whose core is a point with the margin as its radius), that moves as kki_moving does.
typedef struct kki_moving_core {
    const kki_core *core;
    int is_plane;
    kk_transform X_WS;
    kk_motion velocity;
} kki_moving_core;

/// The same for two cores, not both planes, between two times.
/// @param is_brief  where they stay apart nothing is said of the end, and it is told sooner
void kki_impact_cores(const kki_moving_core *a, const kki_moving_core *b, double from, double to, double target,
                      int is_brief, kki_impact *impact);

#endif
