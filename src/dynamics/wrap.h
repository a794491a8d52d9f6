/// Tendons round spheres and cylinders (wrap.c).
#ifndef KKI_DYNAMICS_WRAP_H
#define KKI_DYNAMICS_WRAP_H

#include <karakuri/math.h>

/// What a tendon runs round: a sphere about the origin of S, or a cylinder without ends about its z.
typedef struct kki_obstacle {
    kk_transform X_WS;
    double radius;
    int is_cylinder;
    int has_side; ///< a place that says on which side the tendon passes; inside: it goes through
    kk_vec3 side; ///< in the world
} kki_obstacle;

/// Whether the shortest way from a to b touches the obstacle, and where it comes to it and leaves it. All in the world.
/// @param arc  length of the way between both
int kki_wrap(const kki_obstacle *obstacle, kk_vec3 a, kk_vec3 b, kk_vec3 touch[2], double *arc);

#endif
