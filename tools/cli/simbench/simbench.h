/// SimBenchmark: eight scenes on which engines have been compared in public, built anew for any engine.
///
/// A scene is plain data (scenes.c). An engine is a table of calls that opens a scene, steps it and tells where things are
/// (ours.c; the benchmarks have tables of other engines). Measuring knows nothing else (measure.c): a scene runs once for its
/// error, sampled before each step, and once more for its time. This folder stands on the public headers and the C
/// library alone, so that other programs can take it whole.
#ifndef KARAKURI_CLI_SIMBENCH_H
#define KARAKURI_CLI_SIMBENCH_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- scenes

enum {
    SIMBENCH_TEXT = 560,
    SIMBENCH_MATERIALS = 3,
    SIMBENCH_LINKS = 13, ///< of the robot: base, and hip, thigh, shank of four legs
    SIMBENCH_JOINTS = 12,
    SIMBENCH_ENGINES = 5,
};

/// What a surface is made of: friction is a table over these.
enum { SIMBENCH_FLOOR, SIMBENCH_BALL, SIMBENCH_BOX };

typedef struct simbench_body {
    bool is_ball;
    double size[3]; ///< edges of a box; radius of a ball
    double mass, position[3], velocity[3];
} simbench_body;

/// A link of the quadruped, its inertia about its center of mass in its own axes.
typedef struct simbench_link {
    int parent; ///< −1: the base, which is free
    double at[3], axis[3];
    double mass, center[3], moments[3];
    bool has_ball, has_box; ///< a shape: a foot, the trunk
    double shape_at[3], shape_size[3];
    double target; ///< angle it starts from and is held at
} simbench_link;

typedef struct simbench_scene {
    double gravity, dt, seconds;
    bool has_floor;
    bool is_smooth; ///< nothing touches: an engine may take its best integrator
    simbench_body *body;
    int body_count;
    int robots; ///< in a square, 2 m apart
    double robot_height;
    bool self_collides; ///< links of a robot with each other
    double friction[SIMBENCH_MATERIALS][SIMBENCH_MATERIALS];
    double restitution;
} simbench_scene;

/// Link i of every robot.
simbench_link simbench_robot_link(int i);
/// Where robot i of the scene stands.
void simbench_robot_place(const simbench_scene *scene, int i, double position[3]);
double simbench_robot_mass(void);

// ---- engines

typedef struct simbench_engine {
    const char *name;
    /// NULL where the engine cannot: `trouble` says why.
    void *(*open)(const simbench_scene *scene, char trouble[SIMBENCH_TEXT]);
    void (*close)(void *world);
    /// False where it fails: `trouble` says why.
    bool (*step)(void *world, char trouble[SIMBENCH_TEXT]);
    /// Center and its velocity, world axes.
    void (*body)(void *world, int index, double position[3], double velocity[3]);
    /// Force on the center of mass of a body, or of a robot's base (−1 − robot), world axes, in every step from now on.
    void (*push)(void *world, int body, const double force[3]);
    void (*joints)(void *world, int robot, double angle[SIMBENCH_JOINTS], double speed[SIMBENCH_JOINTS]);
    /// Torques of the next step.
    void (*drive)(void *world, int robot, const double torque[SIMBENCH_JOINTS]);
    /// Of everything in the scene: linear momentum, and kinetic and potential energy.
    void (*whole)(void *world, double momentum[3], double *energy);
    /// Of a robot's base.
    double (*height)(void *world, int robot);
} simbench_engine;

extern const simbench_engine simbench_ours;          ///< every step certified; RK4 where nothing touches
extern const simbench_engine simbench_ours_midpoint; ///< certified, the default integrator everywhere
extern const simbench_engine simbench_ours_sweeps;   ///< the same with ten sweeps and no certificate
extern const simbench_engine simbench_ours_coarse;   ///< that, and only what overlaps touches

// ---- tests

/// What others have published for a case, in the order RaiSim, Bullet, ODE, MuJoCo, DART; negative: nothing.
typedef struct simbench_published {
    double error[SIMBENCH_ENGINES], seconds[SIMBENCH_ENGINES];
} simbench_published;
extern const char *const simbench_published_names[SIMBENCH_ENGINES];

/// One test at one time step.
typedef struct simbench_case {
    const char *test;  ///< "rolling-xy", …
    const char *about; ///< what the error means
    double dt;
    int robots; ///< of the robots' test
    bool is_quick;
    bool more_is_better; ///< of the error: steps stood
    simbench_published published;
} simbench_case;

extern const simbench_case simbench_cases[]; ///< ends with a NULL test

typedef struct simbench_result {
    double error, seconds;
    long steps;
    char trouble[SIMBENCH_TEXT]; ///< "": none
} simbench_result;

/// The scene of a case; to be given back with simbench_scene_free.
simbench_scene simbench_scene_of(const simbench_case *c);
void simbench_scene_free(simbench_scene *scene);

/// Runs a case for its error, then for its time.
/// @param limit  s a run may take before it is broken off, and says so; 0: none
simbench_result simbench_measure(const simbench_case *c, const simbench_engine *engine, double limit);

#ifdef __cplusplus
}
#endif
#endif
