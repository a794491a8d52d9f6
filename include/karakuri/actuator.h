/// Actuators: what a controller commands.
///
/// The force along the transmission is  f = gain · u + bias[0] + bias[1] · length + bias[2] · rate,  clamped to the force
/// limits; u is the control, clamped to its limits and, with a time constant, passed through a first-order lag.
#ifndef KARAKURI_ACTUATOR_H
#define KARAKURI_ACTUATOR_H

#include <karakuri/math.h>
#include <karakuri/status.h>

KK_BEGIN_DECLS

/// The usual ones by name; each is a choice of gain and bias.
typedef enum kk_actuator_type {
    KK_ACTUATOR_FORCE,    ///< u is a force: gain 1
    KK_ACTUATOR_POSITION, ///< u is a target: gain kp, bias (0, −kp, −kd); solved implicitly
    KK_ACTUATOR_VELOCITY, ///< u is a rate: gain kv, bias (0, 0, −kv); solved implicitly
    KK_ACTUATOR_DAMPER,   ///< force = −gain · u · rate
    KK_ACTUATOR_GENERAL,  ///< any gain and bias
} kk_actuator_type;

typedef enum kk_transmission {
    KK_TRANSMISSION_JOINT,  ///< length = gear · q
    KK_TRANSMISSION_TENDON, ///< length = gear · the tendon's
    KK_TRANSMISSION_FRAME,  ///< a wrench on a frame, in its axes: gear · direction
} kk_transmission;

typedef enum kk_lag {
    KK_LAG_NONE,
    KK_LAG_FILTER,   ///< time_constant · ȧ = u − a
    KK_LAG_INTEGRATE ///< ȧ = u
} kk_lag;

typedef struct kk_actuator_def {
    const char *name; ///< NULL or "": none; otherwise unique among actuators
    kk_actuator_type type;
    kk_transmission transmission;
    const char *target;    ///< name of the joint, tendon or frame
    const char *reference; ///< frame transmissions: name of the frame whose axes `direction` is in; NULL: the target's
    int dof;               ///< which degree of the joint
    double gear;
    kk_force direction; ///< frame transmissions
    double gain, bias[3];
    double control_lower, control_upper; ///< ∓inf: none
    double force_lower, force_upper;     ///< ∓inf: none
    kk_lag lag;
    double time_constant;        ///< s
    double lag_lower, lag_upper; ///< limits of a; ∓inf: none
    kk_origin origin;
} kk_actuator_def;

KK_END_DECLS
#endif
