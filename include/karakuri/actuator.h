/// Actuators: what a controller commands.
///
/// The force along the transmission is  f = gain · u + bias[0] + bias[1] · length + bias[2] · rate,  clamped to the force
/// limits; u is the control, clamped to its limits and, with an activation, what that makes of it.
///
/// A muscle's force is  f = −force · (F_L(L) F_V(V) u + F_P(L)),  with the length L and the rate V of kk_muscle_def.
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
    KK_ACTUATOR_MUSCLE,   ///< see kk_muscle_def; gain and bias have no effect
} kk_actuator_type;

typedef enum kk_transmission {
    KK_TRANSMISSION_JOINT,  ///< length = gear · q
    KK_TRANSMISSION_TENDON, ///< length = gear · the tendon's
    KK_TRANSMISSION_FRAME,  ///< a wrench on a frame, in its axes: gear · direction
    KK_TRANSMISSION_BODY,   ///< adhesion: what touches the body is drawn to it, the force shared evenly by all contacts
    KK_TRANSMISSION_CRANK, ///< length = gear · where a slider stands on the z axis of `reference`, with a rod to `target`
} kk_transmission;

typedef enum kk_activation {
    KK_ACTIVATION_NONE,
    KK_ACTIVATION_FILTER,    ///< time_constant · ȧ = u − a
    KK_ACTIVATION_INTEGRATE, ///< ȧ = u
    KK_ACTIVATION_MUSCLE     ///< ȧ = (u − a)/τ, u and a within 0 … 1, τ by kk_muscle_def
} kk_activation;

/// How a control between two samples is read.
typedef enum kk_delay_interpolation { KK_DELAY_HOLD, KK_DELAY_LINEAR, KK_DELAY_CUBIC } kk_delay_interpolation;

/// A muscle, as MuJoCo has it (Millard et al. 2013 simplified). Lengths and rates count in units of its optimal length, which follows
/// from the two ranges: L = range[0] + (length − length_lower)/L₀,  L₀ = (length_upper − length_lower)/(range[1] − range[0]),
/// V = rate/(L₀ vmax).
typedef struct kk_muscle_def {
    double force;                      ///< the most it pulls with at L = 1, at rest, N
    double length_lower, length_upper; ///< lengths of the transmission that `range` tells the muscle's of
    double range[2];                   ///< 0.75, 1.05
    double lmin, lmax;                 ///< where F_L is zero; 0.5, 1.6
    double vmax;                       ///< L₀/s at which it shortens without force; 1.5
    double fpmax;                      ///< F_P at lmax; 1.3
    double fvmax;                      ///< F_V of a muscle that is drawn out; 1.2
    double time_constant[2];           ///< s, of activation and of deactivation; 0.01, 0.04
    double smoothing;                  ///< width of u − a over which one gives way to the other; 0
} kk_muscle_def;

typedef struct kk_actuator_def {
    const char *name; ///< NULL or "": none; otherwise unique among actuators
    kk_actuator_type type;
    kk_transmission transmission;
    const char
        *target; ///< name of the joint, tendon, frame or body; cranks: the frame of the pin between crank and rod
    const char *reference; ///< frame transmissions: name of the frame whose axes `direction` is in; NULL: the target's;
                           ///< cranks: the frame along whose z axis the slider moves
    int dof;               ///< which degree of the joint
    double gear;
    kk_force direction; ///< frame transmissions
    double gain, bias[3];
    double control_lower, control_upper; ///< ∓inf: none
    double force_lower, force_upper;     ///< ∓inf: none
    kk_activation activation;
    double time_constant;                      ///< s
    double activation_lower, activation_upper; ///< limits of a; ∓inf: none
    double rod_length;                         ///< cranks: m
    kk_muscle_def muscle;
    double delay;      ///< s by which the control comes later; 0: none
    int delay_samples; ///< controls that are remembered, one a step; 0: none
    kk_delay_interpolation delay_interpolation;
    kk_origin origin;
} kk_actuator_def;

/// A muscle's force at a length and a rate of its transmission with an activation; below zero where it pulls.
KK_API double kk_muscle_force(const kk_muscle_def *muscle, double length, double rate, double activation);
/// ȧ of its activation under a control.
KK_API double kk_muscle_activation_rate(const kk_muscle_def *muscle, double control, double activation);

KK_END_DECLS
#endif
