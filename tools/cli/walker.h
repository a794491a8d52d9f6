/// Walking in simulation: a plan of footsteps, the pattern, servos that follow it with or without the stabilizer, and what came of it.
/// Used by the verb `walk` and by the reproductions of S0.
#ifndef KARAKURI_CLI_WALKER_H
#define KARAKURI_CLI_WALKER_H

#include "cli.h"

enum { WALKER_JOINTS = 128 };

typedef struct walker_plan {
    kk_footstep *step;
    int count;
} walker_plan;

/// Reads footsteps: columns foot, x, y, yaw as in kk_footstep, or forward, sideways, turn as in kk_stride; duration where it is wanted.
int walker_read_plan(cli *c, const char *path, double width, walker_plan *plan);
void walker_free_plan(walker_plan *plan);
/// The 19 steps of S0: forward, to the left, backward, to the right, forward. @param steps [19] result
void walker_nineteen(double width, kk_footstep *steps);

/// One step of the simulation, while it runs.
typedef struct walker_moment {
    double time;
    kk_walk_frame plan;
    double force[2];     ///< N, upwards on the left and the right foot
    kk_vec3 zmp;         ///< from contact forces
    kk_vec3 zmp_inverse; ///< from inverse dynamics of the motion
    double margin;       ///< m of the first within the soles on the floor
    double tilt;         ///< rad, of the body
    kk_vec3 com;
    const kk_contact *contact; ///< [contacts]
    int contacts;
    kk_stabilizer_output stabilizer;
} walker_moment;

typedef void walker_watch(void *user, const walker_moment *moment);

/// What the robot is told of itself: white noise, one standard deviation.
typedef struct walker_noise {
    double encoder;       ///< rad
    double gyro;          ///< rad/s
    double accelerometer; ///< m/s²
    double force;         ///< share of what a force sensor reads
    uint64_t seed;
} walker_noise;

#define WALKER_USUAL_NOISE                                                             \
    (walker_noise) {                                                                   \
        .encoder = 1e-4, .gyro = 0.01, .accelerometer = 0.05, .force = 0.02, .seed = 1 \
    }

typedef struct walker_options {
    const char *sole[2]; ///< frames; NULL: left_sole, right_sole
    bool is_stabilized;
    bool is_observed; ///< the stabilizer hears what an observer makes of noisy sensors, not the state
    walker_noise noise;
    const char *imu; ///< frame; NULL: waist_imu
    kk_stabilizer_options stabilizer;
    kk_walk_options walk; ///< without soles and posture
    kk_solver solver;
    double timestep;      ///< of the simulation, s; 0: the model's
    double tolerance;     ///< of a step, m/s; 0: the default
    const char *keyframe; ///< posture; NULL: the first keyframe, or zero
    walker_watch *watch;  ///< may be NULL
    void *user;
    bool shows_progress;
} walker_options;

/// What a joint had to give.
typedef struct walker_effort {
    const char *joint;
    double torque, power; ///< peaks, N m and W
} walker_effort;

typedef struct walker_result {
    bool fell;
    double fall_time; ///< s
    double duration;  ///< s simulated
    double wall;      ///< s
    double residual;  ///< m/s, worst
    long uncertified; ///< steps above the tolerance, or taken with the best answer there is
    double zmp_gap;   ///< m, worst distance between the two ZMPs
    double zmp_error; ///< m, mean distance from the plan
    double margin_mean, margin_least,
        share_within;      ///< of the ZMP in the soles' polygon; share of time within 5 mm or more
    double place_error;    ///< m, of the body at the end, against the plan
    double planned_error;  ///< m, of the pattern's own ZMP
    double planned_margin; ///< m, of it in the feet that bear in the pattern, least
    double tilt;           ///< rad, largest
    int contacts;          ///< most
    // of the observer
    double com_error, zmp_observed, torque_error; ///< m, largest; m and N m in the root mean square
    double observer_time[2];                      ///< s of a call: median, and what all but one in 10 000 stay below
    walker_effort effort[WALKER_JOINTS];
    int efforts;
} walker_result;

/// Pattern only. @param posture [nq] scratch
kk_status walker_pattern(const kk_model *model, const walker_options *o, const kk_footstep *steps, int count,
                         kk_walk **walk, kk_error *error);
/// Pattern and simulation.
kk_status walker_run(const cli *c, const kk_model *model, const walker_options *o, const kk_footstep *steps, int count,
                     walker_result *result, kk_error *error);

#endif
