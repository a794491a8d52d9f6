/// TITAN-VIII under way in a study of S4: its numbers by leg and joint, the crawl's targets, torque and speed of the wire-parallel leg.
#ifndef KARAKURI_CLI_REPRODUCE_S4_TITAN_H
#define KARAKURI_CLI_REPRODUCE_S4_TITAN_H

#include "runner.h"

enum { LEGS = 4, LEG_JOINTS = 4, MOTORS = LEGS * LEG_JOINTS };
enum { GAIT_ROWS = 480 };  ///< targets of a period, every 10 ms
#define TITAN_FRICTION 0.5 ///< of the model's feet
#define TITAN_WEIGHT (22 * 9.81)
#define TITAN_KNEE ((22.0 - 2.0) / 4 * 9.81) ///< N, upright, on a knee

/// Numbers of bodies, degrees of freedom, coordinates and actuators by leg and joint.
typedef struct titan {
    runner r;
    int body[LEGS][LEG_JOINTS], dof[LEGS][LEG_JOINTS], q[LEGS][LEG_JOINTS], motor[LEGS][LEG_JOINTS], toe[LEGS];
    double kv[LEGS][LEG_JOINTS]; ///< N m s/rad, of velocity servos
} titan;

/// @param is_soft  servos give way as the drive of the robot does    @param options  may be NULL
bool titan_begin(titan *t, study *s, const char *file, bool is_soft, const kk_step_options *options);
/// Targets of all joints over three periods.
kk_sequence *titan_gait(titan *t, const kk_crawl *crawl);
/// What the joints carry in the plan, over the same times: weights, and floor forces that lean by so much a newton.
kk_sequence *titan_load(titan *t, const kk_crawl *crawl, const kk_sequence *gait, const double lean[2]);
void titan_stand_at_start(titan *t, const kk_sequence *gait);
/// Torque and speed of the wire-parallel leg: its knee motor turns the shin against the body, and so on (equations 1 and 2).
void titan_parallel(const titan *t, int leg, double *torque, double *speed);

#endif
