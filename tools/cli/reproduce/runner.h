/// A model of ours under way in a study: state, simulator, data, worst residual. The first error becomes the study's trouble.
#ifndef KARAKURI_CLI_REPRODUCE_RUNNER_H
#define KARAKURI_CLI_REPRODUCE_RUNNER_H

#include "reproduce.h"

typedef struct runner {
    study *s;
    cli_model m;
    kk_state *state;
    kk_simulator *simulator;
    double *control, *tau; ///< [actuators], [nv] of the next step
    kk_force *wrench;      ///< [nbody]
    double residual, penetration;
    int steps;
    bool is_good;
} runner;

/// Loads a file of our models. @param keyframe  NULL: every joint at zero    @param options  may be NULL
bool runner_load(runner *r, study *s, const char *file, const char *keyframe, const kk_step_options *options);
/// The same with a spec, which it then owns.
bool runner_take(runner *r, study *s, kk_spec *spec, const char *keyframe, const kk_step_options *options);
void runner_end(runner *r);
bool runner_step(runner *r);

/// Coordinate, velocity index, actuator by name; trouble and 0 where there is none.
double *runner_q(runner *r, const char *joint);
double *runner_v(runner *r, const char *joint);
int runner_actuator(runner *r, const char *name);
int runner_body(runner *r, const char *name);
/// A point of a body in the world, at the present state.
kk_vec3 runner_point(runner *r, int body, kk_vec3 point);
/// Loads a spec of our models.
bool study_load_spec(study *s, const char *file, kk_spec **spec);

#endif
