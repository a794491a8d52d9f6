/// Loops, welds and tendons: constraints between bodies beyond the joints of the tree.
#ifndef KARAKURI_CONSTRAINT_H
#define KARAKURI_CONSTRAINT_H

#include <karakuri/math.h>
#include <karakuri/status.h>

KK_BEGIN_DECLS

typedef enum kk_loop_type {
    KK_LOOP_POINT,    ///< origins of A and B coincide: a ball joint
    KK_LOOP_AXIS,     ///< and their z axes: a hinge
    KK_LOOP_WELD,     ///< the frames coincide
    KK_LOOP_DISTANCE, ///< the origins stay `distance` apart: a rod
} kk_loop_type;

/// Closes a kinematic loop between frame A on body[0] and frame B on body[1].
typedef struct kk_loop_def {
    const char *name; ///< NULL or "": none; otherwise unique among loops
    kk_loop_type type;
    int body[2];
    kk_transform placement[2];        ///< A in body[0], B in body[1]
    double distance;                  ///< rods: m
    double stiffness, damping;        ///< N/m, N s/m; +inf: rigid
    double angular_stiffness;         ///< N m/rad; +inf: rigid
    double angular_damping;           ///< N m s/rad
    double break_force, break_moment; ///< at which it breaks; +inf: never
    int is_active;                    ///< 0: starts switched off
    kk_origin origin;
} kk_loop_def;

typedef enum kk_tendon_type {
    KK_TENDON_FIXED,   ///< length = Σ coefficient · q of joints
    KK_TENDON_SPATIAL, ///< length of the way from frame to frame, round spheres and cylinders where they stand in it
} kk_tendon_type;

/// Fixed: a joint's degree and its coefficient. Spatial: a frame; or a sphere or cylinder that the way between the frame
/// before and the frame behind it goes round; or, where it names neither, a pulley: from here on lengths are divided by
/// the coefficient, and a new piece begins.
typedef struct kk_tendon_item {
    const char *name; ///< joint or frame
    int dof;
    double coefficient;
    const char *wrap; ///< name of a shape, a sphere or a cylinder, which counts as endless
    const char *side; ///< name of a frame that says on which side of it the tendon passes; inside: it goes through
} kk_tendon_item;

typedef struct kk_tendon_def {
    const char *name; ///< unique among tendons, not empty
    kk_tendon_type type;
    const kk_tendon_item *item; ///< [item_count]
    int item_count;
    double lower, upper;           ///< limits of the length; ∓inf: none
    double restitution;            ///< of its limits: share of the speed that a stop gives back, 0 … 1
    double stiffness, damping;     ///< spring and damper along it
    double rest_lower, rest_upper; ///< the spring is slack in between
    double friction;               ///< dry friction, N
    double armature;               ///< inertia of its length, kg: it adds ½ armature · rate² to the kinetic energy
    double pull_lower, pull_upper; ///< limits of what all actuators on it pull with together; ∓inf: none
    int is_held;        ///< 1: L = held[0] + held[1] L' + … + held[4] L'⁴, with L' the length of `leader`
    const char *leader; ///< name of a tendon; NULL: L = held[0]
    double held[5];
    kk_origin origin;
} kk_tendon_def;

KK_END_DECLS
#endif
