/// A scene of the exam: built by calls, stepped, its worst figures kept. The first error ends it and becomes the row's trouble; every
/// call after that does nothing, so rows need not look.
#ifndef KARAKURI_CLI_EXAM_SCENE_H
#define KARAKURI_CLI_EXAM_SCENE_H

#include <karakuri/karakuri.h>
#include <karakuri/simulate.h>

#include "exam.h"

typedef struct scene {
    exam *e;
    kk_spec *spec;
    kk_model *model;
    kk_state *state;
    kk_simulator *simulator;
    kk_data *data; ///< for readers of poses, momenta and energies
    bool is_broken;
    bool is_own_solver; ///< keeps the solver it asks for, whatever --solver says
    bool
        is_default_mode; ///< not strict: what cannot be certified is counted, and refusals end the scene without being the row's trouble
    // what acts in every step until it is changed
    double *control, *tau; ///< [actuators], [nv]
    kk_force *wrench;      ///< [nbody]
    bool is_pushed;        ///< `tau` and `wrench` count
    // worst of all steps
    double residual, penetration;
    long steps, newton, factorizations;
    long uncertified; ///< steps of the default mode that were degraded, held or refused
} scene;

/// @param gravity  downwards, m/s²
void scene_begin(scene *s, exam *e, double gravity);
void scene_end(scene *s);
/// The scene cannot go on.
void scene_break(scene *s, const char *text);

// ---- building

int scene_material(scene *s, double friction, double restitution);
/// @param stiffness  N/m a point; two of them in series
int scene_soft_material(scene *s, double friction, double stiffness);
int scene_body(scene *s, const kk_body_def *def);
/// A body on a joint of the given type to `parent`.
int scene_jointed(scene *s, int parent, kk_joint_type type, kk_vec3 axis, kk_vec3 at, kk_inertia inertia);
int scene_shape(scene *s, const kk_shape_def *def);
kk_shape_def scene_shape_def(kk_shape_type type, int body, double x, double y, double z, int material);
void scene_floor(scene *s, int material);
/// Free bodies of uniform density with one shape.
int scene_box(scene *s, double mass, double x, double y, double z, int material);
int scene_ball(scene *s, double mass, double radius, int material);
void scene_loop(scene *s, kk_loop_type type, int a, kk_vec3 on_a, int b, kk_vec3 on_b);

/// A tendon or an actuator; breaks the scene where the spec does not take it.
void scene_tendon(scene *s, const kk_tendon_def *def);
void scene_actuator(scene *s, const kk_actuator_def *def);
/// Compiles the model and makes state and simulator. @param dt  s; 0: 1 ms
void scene_ready(scene *s, const kk_step_options *options);
void scene_ready_dt(scene *s, double dt);

// ---- running

/// Coordinates and velocities of a body's joint; a scratch place where the scene is broken.
double *scene_q(scene *s, int body);
double *scene_v(scene *s, int body);
void scene_place(scene *s, int body, double x, double y, double z);
void scene_turn(scene *s, int body, kk_vec3 rotation);
/// Velocity of a free body's origin in the world.
kk_vec3 scene_velocity(scene *s, int body);
void scene_push(scene *s, int body, kk_vec3 force);
double scene_time(const scene *s);
/// False where it is or breaks.
bool scene_step(scene *s);
/// Until the given time, to half a step.
bool scene_run_until(scene *s, double time);
double scene_energy(scene *s);
/// Fastest of all joints' velocities.
double scene_fastest(const scene *s);

#endif
