/// Sensors: what a controller reads.
#ifndef KARAKURI_SENSOR_H
#define KARAKURI_SENSOR_H

#include <karakuri/shape.h>

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
    X(CENTER_OF_MASS, "center of mass", 3, B)                   \
    X(CENTER_OF_MASS_VELOCITY, "center-of-mass velocity", 3, B) \
    X(ANGULAR_MOMENTUM, "angular momentum", 3, B)               \
    X(CLOCK, "clock", 1, NOTHING)                               \
    X(MAGNETIC_FIELD, "magnetic field", 3, F)                   \
    X(INSIDE, "inside", 1, F)                                   \
    X(PROPER_ACCELERATION, "proper acceleration", 3, F)         \
    X(TENDON_FORCE, "tendon actuator force", 1, T)              \
    X(JOINT_LIMIT_POSITION, "joint limit position", 1, J)       \
    X(JOINT_LIMIT_VELOCITY, "joint limit velocity", 1, J)       \
    X(TENDON_LIMIT_POSITION, "tendon limit position", 1, T)     \
    X(TENDON_LIMIT_VELOCITY, "tendon limit velocity", 1, T)     \
    X(KINETIC_ENERGY, "kinetic energy", 1, NOTHING)             \
    X(POTENTIAL_ENERGY, "potential energy", 1, NOTHING)         \
    X(DISTANCE, "distance", 1, S)                               \
    X(DIRECTION, "direction", 3, S)                             \
    X(SEGMENT, "segment", 6, S)                                 \
    X(CONTACTS, "contacts", 0, S)

typedef enum kk_sensor_type {
#define KK_SENSOR_ENUM(id, text, count, target) KK_SENSOR_##id,
    KK_SENSOR_LIST(KK_SENSOR_ENUM)
#undef KK_SENSOR_ENUM
} kk_sensor_type;

/// What the target (0) and the reference (1) of a distance, a direction, a segment or of contacts name.
typedef enum kk_sensor_side {
    KK_SIDE_ANY,     ///< nothing: whatever touches; contacts only
    KK_SIDE_SHAPE,   ///< a shape
    KK_SIDE_BODY,    ///< all shapes of a body
    KK_SIDE_SUBTREE, ///< all shapes of a body and of everything behind it; contacts only
} kk_sensor_side;

/// What a sensor of contacts tells of each, in this order; the sum of what is wanted. In the contact's frame are x, the normal, y, the tangent, and
/// their product.
enum {
    KK_CONTACT_FOUND = 1,     ///< 1: how many match; 0 in slots that are left over
    KK_CONTACT_FORCE = 2,     ///< 3: N on the second side, in the contact's frame
    KK_CONTACT_TORQUE = 4,    ///< 3: N m of torsion and rolling, likewise
    KK_CONTACT_GAP = 8,       ///< 1: m; negative: overlap
    KK_CONTACT_POSITION = 16, ///< 3: world
    KK_CONTACT_NORMAL = 32,   ///< 3: world, from the first side to the second
    KK_CONTACT_TANGENT = 64,  ///< 3: world
};

/// Which of more contacts than there are slots.
typedef enum kk_contact_choice {
    KK_CHOOSE_FIRST,
    KK_CHOOSE_DEEPEST,
    KK_CHOOSE_STRONGEST,
    KK_CHOOSE_SUM, ///< one contact at the forces' center that does what all do, in the world's axes
} kk_contact_choice;

typedef struct kk_sensor_def {
    const char *name; ///< NULL or "": none; otherwise unique among sensors
    kk_sensor_type type;
    const char *target;    ///< by type: name of a joint, actuator, frame, body, tendon
    const char *reference; ///< frames: what it is measured against; NULL or "": the world
    int dof;               ///< joints: which degree
    double noise;          ///< standard deviation
    double cutoff;         ///< > 0: sensor data are clamped to it; range sensors: reach, m
    double field;          ///< range sensors: half angle of the field of view, rad; 0: one ray along z
    int rays;              ///< range sensors: rays across the field; 1
    /// A volume about a frame, with a shape's type and sizes; sizes of zero: everywhere. Contacts and `contact` sensors: those count that are in it,
    /// or whose normal meets it; `contact` sensors have it about their target, contacts about zone_frame. Inside: about the reference.
    kk_shape_type zone;
    double zone_size[3];
    const char *zone_frame;
    kk_sensor_side side[2];
    int slots;                ///< contacts: how many are told of; 1
    int tell;                 ///< contacts: KK_CONTACT_...; KK_CONTACT_FOUND
    kk_contact_choice choice; ///< contacts
    kk_origin origin;
} kk_sensor_def;

KK_END_DECLS
#endif
