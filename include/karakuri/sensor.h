/// Sensors: what a controller reads.
#ifndef KARAKURI_SENSOR_H
#define KARAKURI_SENSOR_H

#include <karakuri/status.h>

KK_BEGIN_DECLS

/// Type, its name, numbers it gives, what it sits on.
/// J joint, A actuator, F frame or body, T tendon, B body (and everything behind it), S shape or body.
#define KK_SENSOR_LIST(X)                                       \
    X(JOINT_POSITION, "joint position", 1, J)                   \
    X(JOINT_VELOCITY, "joint velocity", 1, J)                   \
    X(JOINT_FORCE, "joint actuator force", 1, J)                \
    X(JOINT_LIMIT_FORCE, "joint limit force", 1, J)             \
    X(BALL_ORIENTATION, "ball orientation", 4, J)               \
    X(BALL_VELOCITY, "ball angular velocity", 3, J)             \
    X(TENDON_LENGTH, "tendon length", 1, T)                     \
    X(TENDON_VELOCITY, "tendon velocity", 1, T)                 \
    X(ACTUATOR_LENGTH, "actuator length", 1, A)                 \
    X(ACTUATOR_VELOCITY, "actuator velocity", 1, A)             \
    X(ACTUATOR_FORCE, "actuator force", 1, A)                   \
    X(POSITION, "position", 3, F)                               \
    X(ORIENTATION, "orientation", 4, F)                         \
    X(AXIS_X, "x axis", 3, F)                                   \
    X(AXIS_Y, "y axis", 3, F)                                   \
    X(AXIS_Z, "z axis", 3, F)                                   \
    X(LINEAR_VELOCITY, "linear velocity", 3, F)                 \
    X(ANGULAR_VELOCITY, "angular velocity", 3, F)               \
    X(LINEAR_ACCELERATION, "linear acceleration", 3, F)         \
    X(ANGULAR_ACCELERATION, "angular acceleration", 3, F)       \
    X(GYRO, "gyro", 3, F)                                       \
    X(VELOCIMETER, "velocimeter", 3, F)                         \
    X(ACCELEROMETER, "accelerometer", 3, F)                     \
    X(FORCE, "force", 3, F)                                     \
    X(TORQUE, "torque", 3, F)                                   \
    X(CONTACT, "contact", 1, F)                                 \
    X(RANGE, "range", 1, F)                                     \
    X(CENTRE_OF_MASS, "centre of mass", 3, B)                   \
    X(CENTRE_OF_MASS_VELOCITY, "centre-of-mass velocity", 3, B) \
    X(ANGULAR_MOMENTUM, "angular momentum", 3, B)               \
    X(CLOCK, "clock", 1, NOTHING)

typedef enum kk_sensor_type {
#define KK_SENSOR_ENUM(id, text, count, target) KK_SENSOR_##id,
    KK_SENSOR_LIST(KK_SENSOR_ENUM)
#undef KK_SENSOR_ENUM
} kk_sensor_type;

typedef struct kk_sensor_def {
    const char *name; ///< NULL or "": none; otherwise unique among sensors
    kk_sensor_type type;
    const char *target;    ///< by type: name of a joint, actuator, frame, body, tendon
    const char *reference; ///< frames: what it is measured against; NULL or "": the world
    int dof;               ///< joints: which degree
    double noise;          ///< standard deviation
    double cutoff;         ///< > 0: readings are clamped to it; range sensors: reach, m
    double field;          ///< range sensors: half angle of the field of view, rad; 0: one ray along z
    int rays;              ///< range sensors: rays across the field; 1
    kk_origin origin;
} kk_sensor_def;

KK_END_DECLS
#endif
