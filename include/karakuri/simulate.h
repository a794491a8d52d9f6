/// Simulation: one call a step. For every finite state and input of its model a step returns in bounded effort: certified, with its proof, or degraded,
/// with what falls short by name. With `strict` a step that cannot be certified is refused, and the state stays as it was.
#ifndef KARAKURI_SIMULATE_H
#define KARAKURI_SIMULATE_H

#include <karakuri/dynamics.h>
#include <karakuri/state.h>
#include <karakuri/workers.h>

KK_BEGIN_DECLS

/// The data of stepping: scratch and the results of the last step. One a thread; can be thrown away at any time.
typedef struct kk_simulator kk_simulator;

/// What contacts that bounce at the same instant make of it, with restitution e each.
typedef enum kk_restitution_law {
    KK_RESTITUTION_SEQUENTIAL, ///< one after the other, the fastest first, each u⁺ = −e u⁻: a cradle's last ball leaves
    KK_RESTITUTION_NEWTON,  ///< all at once, u⁺ = −e u⁻ of those that approach
    KK_RESTITUTION_POISSON, ///< all at once: impulses that stop the approach, and e times as much again
} kk_restitution_law;

/// How the forces of contacts, limits and loops are found. All but the first are methods of the papers this engine descends from, kept as
/// they were published so that they can be compared (docs/guide/paper-modes.md): they do not fail for a residual, and the report says
/// how far their answer is from the exact law. A simulator keeps its solver for life.
typedef enum kk_solver {
    KK_SOLVER_EXACT,      ///< the certified ladder
    KK_SOLVER_OPENHRP,    ///< S0: rows by unit forces, projected Gauss-Seidel with the round cone, Runge and Kutta
    KK_SOLVER_SPRINGHEAD, ///< S3: Gauss-Seidel over velocities, implicit PD rows, box-wise friction
    KK_SOLVER_KURODA, ///< S1: swept meshes, springs with hard limits, anchors; boxes, meshes, free bodies and hinges only
} kk_solver;
/// "exact", "openhrp", "springhead", "kuroda"; "" for any other number.
KK_API const char *kk_solver_name(kk_solver solver);

/// How much a step may work.
typedef enum kk_effort {
    KK_EFFORT_TOLERANCE, ///< as many iterations as the tolerance takes
    /// At most so many Newton iterations: of an island from a start, or of many bodies in all of a step. A step that this leaves above the tolerance is taken as
    /// it is, and the report says so (hit_iteration_limit, residual, worst_body)
    KK_EFFORT_NEWTON,
    KK_EFFORT_SWEEPS, ///< so many Gauss-Seidel sweeps and nothing else, and no failure for the residual: real-time mode
} kk_effort;

/// Where contact is looked for.
typedef enum kk_detection {
    KK_DETECTION_CONTINUOUS, ///< along the motion of bodies that are faster than their thickness a step
    KK_DETECTION_DISCRETE,   ///< in the middle of the step
    /// In the middle of the step, and with KK_EFFORT_SWEEPS only what overlaps there touches, and free bodies bounce by Newton's law: as fast and as coarse as
    /// engines of games
    KK_DETECTION_OVERLAP,
} kk_detection;

/// What only the methods of the papers ask for. Zero-initialized means: the defaults.
typedef struct kk_paper_options {
    /// kuroda: springs whose material has none of its own, N/m, N s/m, and how far they may give, m. 0: so stiff that one gives half of the depth under a
    /// body's weight; a twentieth of critical; 0.05, or a quarter of the thinnest shape if that is less
    double spring_stiffness, spring_damping, spring_depth;
} kk_paper_options;

/// Zero-initialized means: the defaults.
typedef struct kk_step_options {
    kk_solver solver;
    double timestep; ///< s; 0: the model's
    double
        tolerance; ///< m/s, or relative to the fastest row above 1 m/s; a step whose residual is larger fails; 0: 1e-9
    kk_effort effort;
    int iterations; ///< that the effort counts; 0: as the tolerance takes, or the paper's (openhrp 120, springhead 15, kuroda 1000 descents)
    kk_restitution_law restitution_law;
    double restitution_speed; ///< m/s; slower impacts do not bounce; 0: 0.01
    double correction;        ///< m; most by which a step repairs penetration; 0: 0.01
    kk_detection detection;
    int explicit_servos; ///< 1: servos and dampers are forces of the step's start, not solved with it
    /// 1: a step that cannot be certified is refused with KK_NOT_CONVERGED and the state stays as it was, for those who prove theorems.
    /// 0: it is taken with the best answer there is, and the report says so (quality, flaw)
    int strict;
    kk_paper_options paper;
    /// 1: a step that lacks room for its contacts fails with KK_LIMIT_EXCEEDED, and the state stays as it was, for those who forbid allocation while they
    /// simulate (kk_simulator_reserve). 0: room grows by itself
    int fixed_room;
    kk_workers
        workers; ///< threads of the caller; the same bits for any number. A simulator keeps the count it was made with
    double (*clock)(void *user); ///< s; for the times in the report; NULL: none
    void *clock_user;
} kk_step_options;

/// What acts on the model in a step. Any pointer may be NULL.
typedef struct kk_input {
    const double *control;  ///< [actuators]
    const double *tau;      ///< [nv] further joint forces
    const kk_force *wrench; ///< [nbody] in the bodies' frames about their origins
} kk_input;

typedef enum kk_stage {
    KK_STAGE_BEGIN,
    KK_STAGE_KINEMATICS,
    KK_STAGE_FORCES,
    KK_STAGE_FACTOR,
    KK_STAGE_DETECT,
    KK_STAGE_CONSTRAIN,
    KK_STAGE_SOLVE,
    KK_STAGE_MOVE,
    KK_STAGE_PROVE,
    KK_STAGE_COUNT
} kk_stage;
KK_API const char *kk_stage_name(kk_stage stage);

/// What a step is worth.
typedef enum kk_step_quality {
    KK_STEP_CERTIFIED, ///< all of the report's figures are within their tolerances
    KK_STEP_DEGRADED,  ///< the best answer that bounded effort found; `flaw` says what falls short. It gains no energy
    KK_STEP_HELD       ///< the last resort: what found no answer stands still, its positions are kept
} kk_step_quality;

/// What falls short in a step that is not certified.
typedef enum kk_flaw {
    KK_FLAW_NONE,
    KK_FLAW_RESIDUAL,  ///< m/s: a constraint is left with it
    KK_FLAW_ENERGY,    ///< J: energy from nowhere
    KK_FLAW_IMPULSE,   ///< N s: beyond what momentum and forces of what hangs together explain
    KK_FLAW_FAST_PAIR, ///< s: for so long two fast bodies were not followed along their paths
    KK_FLAW_RANGE,     ///< numbers ran out of range
    KK_FLAW_ROOM,      ///< contacts that found no room
    KK_FLAW_COUNT
} kk_flaw;
/// "residual", "energy from nowhere", …; "" for any other number.
KK_API const char *kk_flaw_name(kk_flaw flaw);

/// The energy of a step from state to state, J: after = before + actuators + applied + moved + correction − dissipated − numerical damping + error.
typedef struct kk_audit {
    double kinetic[2],
        potential[2];  ///< before and after; gravity, springs of joints and tendons, soft contacts and soft loops
    double actuators;  ///< work of actuators
    double applied;    ///< of the caller's forces
    double moved;      ///< of moving surfaces and of bodies that the user moves
    double correction; ///< of what takes overlap and open loops back
    double dissipated; ///< by dampers, friction, limits and impacts, ≥ 0
    double error;      ///< of the integration, signed: what is left
    double scale;      ///< E_s: the largest of kinetic energies, works and changes of potential energy
} kk_audit;

/// The proof of a step, and what it cost.
typedef struct kk_report {
    kk_step_quality quality;
    kk_flaw flaw; ///< the gravest; KK_FLAW_NONE in a certified step
    kk_stage flaw_stage;
    int flaw_body[2];                     ///< −1: none
    double flaw_amount;                   ///< in the flaw's unit
    double residual;                      ///< m/s; worst natural-map residual of any constraint
    double cone;                          ///< m/s; how far an impulse leaves its cone, as a velocity
    double signorini;                     ///< J; worst |impulse × separation speed|
    double dissipation;                   ///< rad; worst angle between friction and the reverse of sliding
    double penetration;                   ///< m; deepest overlap at the step's middle
    double kinetic_before, kinetic_after; ///< J; at the step's middle, before and after the kick
    /// J; of gravity and of joints' springs, at the step's middle. Where RK4 took the step all four are those of its start and its end.
    double potential_before, potential_after;
    double constraint_work; ///< J; of contacts, limits, friction and loops: ≤ 0 up to rounding, but for moving surfaces
    /// m/s; 0, or how fast contacts gave way in a step that had no other answer: where links are wedged, a force that cannot move them may answer nanometers with tonnes
    double contact_yield;
    int contacts, rows, islands, largest_island; ///< rows of the largest island
    int worst_body[2];                           ///< bodies of the constraint with the worst residual; −1: none
    int sweeps, newton, factorizations;          ///< iterations a rung
    int events;                                  ///< stops of sliding and impacts found inside the step
    int broken;                                  ///< loops that broke in the step
    int corrections;         ///< parts whose Coriolis forces were taken again, at a better mean velocity
    int substeps;            ///< that the step was taken in, because of fast bodies; 1
    int hit_iteration_limit; ///< 1: the option iterations ended the solution before the tolerance
    /// 1: state and input had the very bits of the step before, which had left them as they were, so its results and its proof stand
    int is_cached;
    kk_audit audit;
    double seconds[KK_STAGE_COUNT]; ///< by stage, where the options have a clock
} kk_report;

/// A contact point of the last step.
typedef struct kk_contact {
    int shape[2], body[2];
    kk_vec3 position; ///< world
    kk_vec3 normal;   ///< world, from the first to the second
    kk_vec3 force;    ///< N, on the second, world: mean over the step
    double gap;       ///< m; negative: overlap
    /// Of the second against the first at the end of the step, world; zero of what sticks, though it may turn about the point.
    kk_vec3 velocity;
    double friction; ///< μ that held, static or sliding
} kk_contact;

/// @param options  may be NULL: the defaults
KK_API kk_status kk_simulator_create(const kk_model *model, const kk_step_options *options,
                                     const kk_allocator *allocator, kk_simulator **simulator, kk_error *error);
/// Both that a simulation takes: a state at the model's start, and a simulator. @param options  may be NULL: the defaults
KK_API kk_status kk_simulation_begin(const kk_model *model, const kk_step_options *options,
                                     const kk_allocator *allocator, kk_state **state, kk_simulator **simulator,
                                     kk_error *error);
KK_API void kk_simulator_free(kk_simulator *simulator);
/// Changes the options from the next step on. @param options  may be NULL: the defaults
KK_API kk_status kk_simulator_set_options(kk_simulator *simulator, const kk_step_options *options, kk_error *error);

/// Room for what differs from step to step. A simulator begins with little and takes more, from its allocator, when a step needs it: the step is then repeated,
/// and no result depends on the room there is. So memory follows what is there, and not what could be.
typedef struct kk_room {
    int contacts; ///< contact points
    int near_pairs; ///< pairs of shapes that are near each other; 0 where all pairs that may touch are listed once and for all
} kk_room;
/// Room for steps of up to so many contacts and near pairs, however they hang together: none of them allocates. For those who forbid allocation while they
/// simulate, with kk_state_reserve and the option fixed_room. Never less than there is; the contacts of the last step are forgotten.
KK_API kk_status kk_simulator_reserve(kk_simulator *simulator, kk_room room, kk_error *error);
/// What there is room for: behind a run what it needed at most, and a little more.
KK_API kk_room kk_simulator_room(const kk_simulator *simulator);

/// One step. Where it lacks room for its contacts, memory for them is taken outside the step, and the step is repeated with the same bits; KK_OUT_OF_MEMORY where
/// there is none, and the state is as it was. @param input  NULL: nothing acts    @param error  may be NULL
KK_API kk_status kk_step(const kk_model *model, kk_state *state, kk_simulator *simulator, const kk_input *input,
                         kk_error *error);

// ---- where a state is, without a data beside the simulator's own. For one that is of another model than the simulator poses and velocities are NaN.

KK_API kk_transform kk_simulator_body_pose(kk_simulator *simulator, const kk_state *state, int body);
KK_API kk_transform kk_simulator_frame_pose(kk_simulator *simulator, const kk_state *state, int frame);
KK_API kk_motion kk_simulator_body_velocity(kk_simulator *simulator, const kk_state *state, int body,
                                            kk_reference reference);
KK_API kk_motion kk_simulator_frame_velocity(kk_simulator *simulator, const kk_state *state, int frame,
                                             kk_reference reference);
/// V = J v. @param J [6 × nv] result, rows [angular; linear]
KK_API kk_status kk_simulator_body_jacobian(kk_simulator *simulator, const kk_state *state, int body,
                                            kk_reference reference, double *J);
KK_API kk_status kk_simulator_frame_jacobian(kk_simulator *simulator, const kk_state *state, int frame,
                                             kk_reference reference, double *J);

// ---- results of the last step

/// Until the next step.
KK_API const kk_report *kk_simulator_report(kk_simulator *simulator);
KK_API int kk_simulator_ncontact(const kk_simulator *simulator);
/// [kk_simulator_ncontact] contact points, until the next step.
KK_API const kk_contact *kk_simulator_contacts(kk_simulator *simulator);
/// [nv] mean acceleration over the step, (v_after − v_before)/h; a free root's in its axes at the step's middle.
KK_API const double *kk_simulator_acceleration(const kk_simulator *simulator);
/// [nv] velocity at the step's middle that its Coriolis and centrifugal forces are those of: inverse dynamics of it and the mean acceleration, at the
/// configuration of the middle, gives the forces below to rounding.
KK_API const double *kk_simulator_velocity(const kk_simulator *simulator);
/// [nv] mean generalized forces over the step by source.
typedef enum kk_force_source {
    KK_FORCE_ACTUATOR,
    KK_FORCE_PASSIVE, ///< springs and dampers
    KK_FORCE_LIMIT,
    KK_FORCE_FRICTION,   ///< dry friction of joints and of tendons over them
    KK_FORCE_CONSTRAINT, ///< couplings
    KK_FORCE_CONTACT,    ///< and loops
    KK_FORCE_APPLIED,    ///< by the caller
    KK_FORCE_SOURCE_COUNT
} kk_force_source;
KK_API const double *kk_simulator_force(kk_simulator *simulator, kk_force_source source);
/// [nbody] all six components of what the parent does to each body through its joint, mean over the step, in the body's
/// frame at the step's middle, about its origin. Fixed joints included; zero for the world.
KK_API const kk_force *kk_simulator_joint_wrenches(kk_simulator *simulator);
/// What contacts do to a body, world axes about the world's origin, mean over the step. @param other  −1: all others
KK_API kk_force kk_simulator_contact_wrench(const kk_simulator *simulator, int body, int other);
/// Where the normal forces of these contacts have no moment, if their normals are parallel; NaN without force.
KK_API kk_vec3 kk_simulator_center_of_pressure(const kk_simulator *simulator, int body, int other);
/// All sensors after a step. The same seed and state give the same noise. @param sensor_data [kk_model_nsensordata] result
KK_API kk_status kk_simulator_read_sensors(kk_simulator *simulator, const kk_state *state, uint64_t seed,
                                           double *sensor_data, kk_error *error);

KK_END_DECLS
#endif
