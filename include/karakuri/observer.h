/// An observer for a robot on feet: from encoders, an inertial sensor and force sensors in the feet to what cannot be measured, the pose and velocity of the base, the
/// center of mass, the zero-moment point, and the torque of every joint, on one foot or on several (Z-DYNAFORM, S2, meant for the robot's own computer).
///
/// A foot that carries load stands where it was put down: the base follows from it through the leg, its orientation from gyro and legs, its position from accelerometer and legs. As
/// load goes from foot to foot the handover is gradual. Degrees of freedom without an encoder (rubber under the ankles) follow from the measured forces
/// and their own springs and dampers. Every call takes the same number of operations: no iteration, no allocation.
#ifndef KARAKURI_OBSERVER_H
#define KARAKURI_OBSERVER_H

#include <karakuri/dynamics.h>

KK_BEGIN_DECLS

enum { KK_OBSERVER_FEET = 4 };

/// Zero-initialized means: the defaults. The first body has a free joint on the world.
typedef struct kk_observer_def {
    int imu;        ///< frame of gyro and accelerometer
    int foot[4];    ///< frames of the soles, z up; force sensors tell in their axes about their origins
    int foot_count; ///< 1 … 4
    const unsigned char *unmeasured; ///< [nv] 1: a degree of freedom without an encoder, which has a spring; NULL: none
    double period;                   ///< s between two calls; 0: 0.001
    double floor;                    ///< m, height of the floor, which is flat
    double joint_filter;             ///< s, of joint velocities; 0: 0.005
    double orientation_filter;       ///< s in which legs overrule the gyro; 0: 0.1
    double position_filter;          ///< s in which legs overrule the accelerometer; 0: 0.02
    double
        load[2]; ///< shares of the weight below which a foot is taken as moving, above which as standing; 0: 0.1, 0.4
} kk_observer_def;

/// What is measured in a period.
typedef struct kk_observer_input {
    const double *q;       ///< [nq] encoders; the base and what has none are not read
    kk_vec3 gyro;          ///< rad/s, in the axes of the sensor's frame
    kk_vec3 accelerometer; ///< m/s², likewise; at rest it reads +g upwards
    kk_force foot[4];      ///< what the floor does to each foot
} kk_observer_input;

/// What follows from it. Arrays are the observer's and hold until its next call.
typedef struct kk_observation {
    const double *q, *v, *a; ///< whole configuration, velocity, acceleration
    const double *tau;       ///< [nv] torques of the joints; of the base zero, but for rounding
    kk_vec3 com, com_rate;
    kk_force floor;   ///< what the floor does to the robot, world axes about the world's origin
    kk_force foot[4]; ///< to each foot, likewise, as measured
    kk_vec3 zmp;      ///< on the floor; NaN without load
    double load[4];   ///< share of each foot
    double
        unbalanced; ///< N: what measured forces and motion disagree by, which was shared out to the feet by their loads for tau
} kk_observation;

typedef struct kk_observer kk_observer;

/// The model must outlive it. Everything that calls need is made here.
KK_API kk_status kk_observer_create(const kk_model *model, const kk_observer_def *def, const kk_allocator *allocator,
                                    kk_observer **observer, kk_error *error);
KK_API void kk_observer_free(kk_observer *observer);
/// Where the robot stands, at rest, before the first call. @param q [nq]
KK_API void kk_observer_reset(kk_observer *observer, const double *q);
/// One period. Nothing is allocated.
KK_API kk_status kk_observer_step(kk_observer *observer, const kk_observer_input *input, kk_observation *observation);

KK_END_DECLS
#endif
