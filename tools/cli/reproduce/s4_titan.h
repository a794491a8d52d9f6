/// TITAN-VIII under way in a study of S4: its numbers by leg and joint, the crawl's targets, torque and speed of the wire-parallel leg.
#ifndef KARAKURI_CLI_REPRODUCE_S4_TITAN_H
#define KARAKURI_CLI_REPRODUCE_S4_TITAN_H

#include "runner.h"

enum { LEGS = 4, LEG_JOINTS = 4, MOTORS = LEGS * LEG_JOINTS };
enum { GAIT_ROWS = 480 };  ///< targets of a period, every 10 ms
#define TITAN_FRICTION 0.5 ///< of the model's feet
#define TITAN_SLIP 0.001   ///< m/s a newton
#define TITAN_WEIGHT (22 * 9.81)
#define TITAN_KNEE ((22.0 - 2.0) / 4 * 9.81) ///< N, upright, on a knee

/// Numbers of bodies, degrees of freedom, coordinates and actuators by leg and joint.
typedef struct titan {
    runner r;
    int body[LEGS][LEG_JOINTS], dof[LEGS][LEG_JOINTS], q[LEGS][LEG_JOINTS], motor[LEGS][LEG_JOINTS], toe[LEGS];
    double kv[LEGS][LEG_JOINTS]; ///< N m s/rad, of velocity servos
} titan;

/// What a study wants of it.
typedef struct titan_def {
    const char *file;               ///< of our models
    bool creeps;                    ///< contacts are the paper's: slip 0.001 m/s a newton, ERP 0.2, CFM 1e-4
    const kk_step_options *options; ///< may be NULL
} titan_def;

bool titan_begin(titan *t, study *s, const titan_def *def);
/// Servo (3) of the paper: target velocity −k_d (θ − θ_d). @param target [nq]    @param factor  of k_d, 1/s: 4 for hip, thigh and knee, 1 for the ankle
void titan_servo(titan *t, const double *target, double factor);
extern const double titan_gain[LEG_JOINTS], titan_limit[LEG_JOINTS];
/// Targets of all joints over three periods.
kk_sequence *titan_gait(titan *t, const kk_crawl *crawl);
/// What the joints carry in the plan, over the same times: weights, and floor forces that lean by so much a newton.
kk_sequence *titan_load(titan *t, const kk_crawl *crawl, const kk_sequence *gait, const double lean[2]);
void titan_stand_at_start(titan *t, const kk_sequence *gait);
/// Torque and speed of the wire-parallel leg's motors, by kk_map_torque and kk_map_velocity: the knee's turns the shin against the body, the thigh's leaves the
/// shin's direction as it is. The moment that the ankle hands on is left out, as in equation (5). @param q, v, tau  of the model
void titan_parallel(titan *t, int leg, const double *q, const double *v, const double *tau, double *torque,
                    double *speed);

#endif
