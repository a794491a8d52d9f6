/// A walk while it is made; see karakuri/walk.h.
#ifndef KKI_MOTION_WALK_H
#define KKI_MOTION_WALK_H

#include <karakuri/walk.h>

/// Place of a sole on the floor.
typedef struct kki_foothold {
    double x, y, yaw;
} kki_foothold;

/// One step in world coordinates and time.
typedef struct kki_step {
    int foot;
    kki_foothold from, to, stance; ///< of the foot that moves; where the other one stands
    double lift_off, land;         ///< s
    double next;                   ///< s, lift-off of the next step
} kki_step;

struct kk_walk {
    kk_allocator allocator;
    const kk_model *model;
    kk_walk_options options; ///< filled in
    kk_ik *ik;
    kk_data *data;
    int count, steps, nq, nv;
    kki_foothold start[2];
    double height; ///< of the center of mass
    kki_step *step;
    double *q;                     ///< [count × nq]
    double *zmp[2];                ///< [count] planned, x and y
    double *com[2];                ///< [count]
    double *gain;                  ///< [previewed]
    double *work, *work2;          ///< [count]
    double *whole[2];              ///< [count] ZMP of the whole body
    kk_vec3 *center;               ///< [count] center of mass reached
    double *q_middle, *difference; ///< [nq], [nv]
    unsigned char *fixed;          ///< [nv] not for the legs
    double zmp_error;
    void *block;
    size_t block_size;
};

/// Steps in time: fills walk->step and gives the duration.
double kki_walk_schedule(kk_walk *walk, const kk_footstep *steps);
/// Where the ZMP is planned to be.
kk_vec3 kki_walk_zmp(const kk_walk *walk, double time);
/// Pose of a sole, and the share of the weight it is meant to carry.
kk_transform kki_walk_sole(const kk_walk *walk, int foot, double time, double *load);
/// Direction of the body: midway between the soles.
double kki_walk_yaw(const kk_walk *walk, double time);
/// Frames from the center of mass: inverse kinematics of all of them.
kk_status kki_walk_solve(kk_walk *walk, kk_error *error);
/// ZMP of the whole body at all frames.
void kki_walk_measure(kk_walk *walk);

#endif
