/// Control: a callback before every step, servo laws, computed torque, feed-forward by rewinding, playback of a motion.
///
/// Stiff servos belong into the model (KK_ACTUATOR_POSITION, KK_ACTUATOR_VELOCITY), where the step solves them with everything else and they are
/// stable at any gain (S3 3.2). What is computed here is constant over a step.
#ifndef KARAKURI_CONTROL_H
#define KARAKURI_CONTROL_H

#include <karakuri/sequence.h>
#include <karakuri/simulate.h>

KK_BEGIN_DECLS

// ---- running with a controller

/// What a controller fills before every step. `control` keeps what the last step had; `tau` and `wrench` start from zero in every step.
typedef struct kk_command {
    double *control;  ///< [actuators]
    double *tau;      ///< [nv] further joint forces
    kk_force *wrench; ///< [nbody] in the bodies' frames about their origins
} kk_command;

KK_API kk_status kk_command_create(const kk_model *model, const kk_allocator *allocator, kk_command **command);
KK_API void kk_command_free(kk_command *command);

/// Called with the state before a step of `dt` seconds. Anything but KK_OK ends the run with that status.
typedef kk_status kk_controller(void *user, const kk_model *model, const kk_state *state, double dt,
                                kk_command *command, kk_error *error);

/// Steps on, asking the controller before every step. Nothing is allocated. @param controller may be NULL
KK_API kk_status kk_run(const kk_model *model, kk_state *state, kk_simulator *simulator, kk_command *command,
                        kk_controller *controller, void *user, int steps, kk_error *error);

// ---- servo laws

/// Proportional, integral, derivative, within a limit. The integral stops growing while the output is cut off in its direction.
typedef struct kk_pid {
    double kp, ki, kd;
    double limit;    ///< ≥ 0; of the output; 0: none
    double integral; ///< state: ∫ error dt
} kk_pid;

KK_API double kk_pid_torque(kk_pid *pid, double target, double target_rate, double q, double v, double dt);

/// The torque that gives a fully driven robot the acceleration a + kd (v_d − v) + kp (q_d ⊖ q): the error then dies out as a linear oscillator.
/// @param target_q [nq], target_v [nv], target_a [nv]    @param kp, kd [nv] 1/s², 1/s    @param tau [nv] result, untouched where the data is
/// another model's (KK_INVALID_ARGUMENT)
KK_API kk_status kk_computed_torque(const kk_model *model, kk_data *data, const double *q, const double *v,
                                    const double *target_q, const double *target_v, const double *target_a,
                                    const double *kp, const double *kd, double *tau);

// ---- feed-forward by rewinding (S3 3.3)

/// A twin of the model without contacts whose driven joints are held to a velocity. It is stepped and thrown back; the forces that held it are the
/// torques that the motion takes, loops, springs and friction included, and no equation of motion is written down.
typedef struct kk_feedforward kk_feedforward;

/// @param joints  names of the driven joints, of one degree each; NULL: every hinge and slide    @param timestep  s; 0: the model's
KK_API kk_status kk_feedforward_create(const kk_spec *spec, const char *const *joints, int count, double timestep,
                                       const kk_allocator *allocator, kk_feedforward **feedforward, kk_error *error);
KK_API void kk_feedforward_free(kk_feedforward *feedforward);
/// The torques that make every driven joint's velocity v + change after the next step. The state is only read.
/// @param change [nv] of the target's velocity over the step, so that a robot that was pushed off is brought back by its servos alone; give
/// target − v instead to force it back in one step    @param tau [nv] result, zero where nothing is driven
KK_API kk_status kk_feedforward_torque(kk_feedforward *feedforward, const kk_state *state, const double *change,
                                       double *tau, kk_error *error);

// ---- playback

/// A controller that follows a sequence: position servos get the target, velocity servos its velocity + gain · (target − q) (S4), forces of
/// joints a PID's. Zero-initialized gains: 0.
typedef struct kk_player {
    const kk_sequence *sequence;
    double start;         ///< time of the simulation at which the sequence is at its first row
    double velocity_gain; ///< 1/s
    kk_pid *pid;          ///< [actuators] for forces; NULL: they stay
    double *q, *v, *a;    ///< [nq], [nv], [nv] targets of the step; made by kk_player_create
} kk_player;

KK_API kk_status kk_player_create(const kk_model *model, const kk_sequence *sequence, const kk_allocator *allocator,
                                  kk_player **player, kk_error *error);
KK_API void kk_player_free(kk_player *player);
/// For kk_run; `user` is the kk_player.
KK_API kk_status kk_player_control(void *user, const kk_model *model, const kk_state *state, double dt,
                                   kk_command *command, kk_error *error);

KK_END_DECLS
#endif
