/// Many simulations of one model, stepped together: arrays that are views, threads of the caller, the same bits for
/// any number of them.
///
/// Simulation i is row i of every array. The arrays are what a simulation *is*: write into time, q, v and lag to
/// place it, into control, tau and wrench to drive it; a step reads them and leaves its results there. What a solver
/// carries from step to step (warm starts, switches of loops) lies behind them, one for each simulation. Scratch is
/// made for each worker, not for each simulation. What differs from step to step takes more room when it needs it, as
/// kk_step has it, unless the definition reserves it; no result depends on that.
///
///     kk_simulations *many;
///     kk_simulations_create(model, 4096, NULL, NULL, &many, &error);
///     for (int t = 0; t < 1000; t++) {
///         policy(kk_simulations_q(many), kk_simulations_v(many), kk_simulations_control(many));
///         kk_simulations_step(many, NULL, 4096, 5, &error);
///     }
#ifndef KARAKURI_SIMULATIONS_H
#define KARAKURI_SIMULATIONS_H

#include <karakuri/collision.h>
#include <karakuri/variation.h>

KK_BEGIN_DECLS

typedef struct kk_simulations kk_simulations;

/// In whose axes a ray that goes with a body is given.
typedef enum kk_ray_axes {
    KK_RAY_BODY,  ///< of the body: a lidar
    KK_RAY_YAW,   ///< z up, x where the body's x axis points over the ground: a scan of heights
    KK_RAY_WORLD, ///< of the world
} kk_ray_axes;

/// A ray that goes with a body, the same in every simulation.
typedef struct kk_body_ray {
    int body;
    kk_ray_axes axes;
    kk_vec3 origin, direction; ///< the origin from the body's
    double limit;              ///< in lengths of its direction, > 0; what it measures where nothing is hit
    int sees_all;              ///< 0: only what is fixed to the world is seen; 1: robots and what they carry, too
} kk_body_ray;

/// A simulation before a substep, for its controller. What may be written is what the step gets.
typedef struct kk_moment {
    int simulation, substep;
    double time;
    const double *q, *v, *sensor_data; ///< sensors as they were read last
    double *control, *tau;
    kk_force *wrench;
} kk_moment;

/// Zero-initialized means: the defaults.
typedef struct kk_simulations_def {
    kk_step_options
        step; ///< its workers are those that simulations are shared out to; each simulation is stepped by one of them
    int sensors;            ///< 1: a step ends with reading all sensors; sensor data are zero otherwise
    int poses;              ///< 1: a step ends with poses and velocities of all bodies; both are zero otherwise
    int contacts;           ///< so many contact points of each simulation are told of when a step ends; 0: none
    const kk_body_ray *ray; ///< [ray_count] cast when a step ends, and by kk_simulations_forward; copied
    int ray_count;
    /// Asked before every substep, on the thread that takes it: what it touches beside the moment is its own affair. Anything but KK_OK ends that simulation's
    /// steps with that status. NULL: none
    kk_status (*controller)(void *user, const kk_moment *moment);
    void *controller_user;
    uint64_t seed; ///< of the sensors' noise; simulation i has seed + i
    kk_room room;  ///< of each worker and each simulation from the start; zero: it grows when it is needed
} kk_simulations_def;

/// What came of a simulation in the last call that stepped it.
typedef struct kk_simulation_result {
    kk_status status;        ///< of the substep that failed; its state is that before it
    int substeps;            ///< that were taken
    int degraded;            ///< of them that are not certified
    kk_step_quality quality; ///< the worst of them
    kk_flaw flaw;            ///< of the first of that quality, with its bodies and its amount
    int flaw_body[2];        ///< −1: none
    double flaw_amount;      ///< in the flaw's unit
} kk_simulation_result;

/// So many simulations at the model's start. The model must outlive them. @param count  from 1    @param def  may be
/// NULL
KK_API kk_status kk_simulations_create(const kk_model *model, int count, const kk_simulations_def *def,
                                       const kk_allocator *allocator, kk_simulations **simulations, kk_error *error);
KK_API void kk_simulations_free(kk_simulations *simulations);
KK_API int kk_simulations_count(const kk_simulations *simulations);
KK_API int kk_simulations_nray(const kk_simulations *simulations);         ///< rays of each
KK_API int kk_simulations_contact_room(const kk_simulations *simulations); ///< contacts of each that are told of
KK_API const kk_model *kk_simulations_model(const kk_simulations *simulations);

// ---- the arrays, row by row one simulation after the other; they stay where they are

KK_API double *kk_simulations_time(kk_simulations *simulations);       ///< [count] s
KK_API double *kk_simulations_q(kk_simulations *simulations);          ///< [count × nq]
KK_API double *kk_simulations_v(kk_simulations *simulations);          ///< [count × nv]
KK_API double *kk_simulations_activation(kk_simulations *simulations); ///< [count × nactivation] activations
KK_API double *kk_simulations_control(kk_simulations *simulations);    ///< [count × nactuator] kept from step to step
KK_API double *kk_simulations_tau(kk_simulations *simulations); ///< [count × nv] further joint forces, kept likewise
/// [count × nbody] in the bodies' frames about their origins, kept likewise.
KK_API kk_force *kk_simulations_wrench(kk_simulations *simulations);
KK_API const double *kk_simulations_sensor_data(const kk_simulations *simulations); ///< [count × nsensordata]
/// [count × nbody × 7] orientation w, x, y, z and position of every body in the world.
KK_API const double *kk_simulations_poses(const kk_simulations *simulations);
/// [count × nbody × 6] angular and linear velocity of every body, world axes, of the body's origin.
KK_API const double *kk_simulations_velocities(const kk_simulations *simulations);
/// [count × ray_count] what the rays measure, in lengths of their directions.
KK_API const double *kk_simulations_distances(const kk_simulations *simulations);
/// [count] how many contacts each had at the end of its last step, which may be more than are told of.
KK_API const int32_t *kk_simulations_ncontact(const kk_simulations *simulations);
/// [count × contacts] the first of them; the rest of a row is zero.
KK_API const kk_contact *kk_simulations_contacts(const kk_simulations *simulations);
KK_API const kk_simulation_result *kk_simulations_results(const kk_simulations *simulations); ///< [count]

// ---- parameters of its own

/// From now on a simulation has the numbers of a variation of the model, or, with NULL, the model's. Its rows stay as they are; what its solver carried from
/// step to step is forgotten. The variation must outlive the simulations, or be taken from them again.
/// KK_NOT_FOUND for a number that is none, KK_INVALID_ARGUMENT for a variation of another model
/// @param variation  may be NULL
KK_API kk_status kk_simulations_vary(kk_simulations *simulations, int index, const kk_model *variation,
                                     kk_error *error);

// ---- what moves them

/// Steps the simulations that `index` names, or all of them. One that fails stays as it was before the substep that
/// failed, and all others are stepped to their end; the status and the text are those of the first that failed, by
/// number. Results tell of each.
/// @param index     [count] numbers of simulations, none twice; NULL: the first `count`
/// @param substeps  steps of each, from 0
/// KK_INVALID_ARGUMENT, and nothing is stepped, for a number that is none or stands twice
KK_API kk_status kk_simulations_step(kk_simulations *simulations, const int32_t *index, int count, int substeps,
                                     kk_error *error);
/// Open loop: for each simulation that `index` names, `steps` times a row of controls and so many substeps with it;
/// what came of each is written. The controls of the last row stay. From a substep that fails on, a simulation keeps
/// its state, and its rows repeat it.
/// @param index     as in kk_simulations_step
/// @param control   [count × steps × nactuator] by simulation, then by step
/// @param q         [count × steps × nq] result, may be NULL    @param v  [count × steps × nv] result, may be NULL
/// @param sensor_data  [count × steps × nsensordata] result, may be NULL, which saves reading the sensors
KK_API kk_status kk_simulations_rollout(kk_simulations *simulations, const int32_t *index, int count, int steps,
                                        int substeps, const double *control, double *q, double *v, double *sensor_data,
                                        kk_error *error);
/// Puts simulations at a state, or at the model's start; controls and forces become zero, sensor data too. Simulations of a variation start where that one does;
/// of a state of the model they take time, coordinates, velocities and activations.
/// @param index  as in kk_simulations_step    @param state  may be NULL
/// KK_OUT_OF_MEMORY where a simulation has no room for the contacts of the state; it is as it was then, and all
/// others are reset
KK_API kk_status kk_simulations_reset(kk_simulations *simulations, const int32_t *index, int count,
                                      const kk_state *state, kk_error *error);
/// Poses and velocities of bodies where q and v are now, whether asked for in the definition or not. Nothing moves. @param index  NULL: all
KK_API kk_status kk_simulations_forward(kk_simulations *simulations, const int32_t *index, int count, kk_error *error);

/// A simulation as a state, with all that its next step starts from. KK_NOT_FOUND for a number that is none,
/// KK_SIZE_MISMATCH for a state of another model.
KK_API kk_status kk_simulations_get_state(const kk_simulations *simulations, int index, kk_state *state);
/// The other way round; controls and forces stay.
KK_API kk_status kk_simulations_set_state(kk_simulations *simulations, int index, const kk_state *state);

KK_END_DECLS
#endif
