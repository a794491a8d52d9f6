/// One model in ours and in MuJoCo: the same start, the same controls, the same time step, a thread each.
///
/// A row is one run: (model, start, control, seed). Each row runs in a process of its own that shares its figures with the one that waits for it,
/// so that a crash or a step without end costs that row alone and what it had found is still told.
#ifndef KARAKURI_BENCHMARKS_ZOO_H
#define KARAKURI_BENCHMARKS_ZOO_H

#include <karakuri/karakuri.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ZOO_TEXT = 256, ZOO_NAME = 64, ZOO_STARTS = 64, ZOO_RUNS = 3 };

// ---- rows

typedef enum zoo_regime { ZOO_ZERO, ZOO_HOLD, ZOO_RANDOM, ZOO_REGIME_COUNT } zoo_regime;
extern const char *const zoo_regime_name[ZOO_REGIME_COUNT];

typedef struct zoo_row {
    int keyframe; ///< −1: the default state
    zoo_regime regime;
    int seed; ///< of random controls, from 1
} zoo_row;

/// What every row has in common.
typedef struct zoo_course {
    double seconds;  ///< of simulated time
    double cap;      ///< s of processor time that a run of one engine may take
    double room;     ///< s of processor time in which a run is repeated, for the least of its times
    double timestep; ///< s; the model's
    int steps;
    int actuators;
    double *lower, *upper; ///< [actuators] range of random controls
} zoo_course;

/// Controls of a step, the same in both engines.
/// @param held  [actuators] the keyframe's; NULL: zero    @param control  [actuators] result
void zoo_control(const zoo_course *course, const zoo_row *row, int step, const double *held, double *control);

// ---- figures

/// Times of a run's steps. `least[i]` is the least over runs; a negative one was not computed, for nothing had changed.
typedef struct zoo_times {
    int steps, runs;
    float least[]; ///< s
} zoo_times;

typedef struct zoo_flaw {
    kk_flaw flaw;
    kk_stage stage;
    double amount;
    int step;
    char body[2][ZOO_NAME];
} zoo_flaw;

/// What a run of ours was worth. Plain data: it lies in memory that two processes share.
typedef struct zoo_ours {
    bool is_cut, is_done;
    int steps; ///< taken
    int failed, degraded, held, repeated, cut_short;
    int flaws[KK_FLAW_COUNT];
    zoo_flaw worst;              ///< the largest of the gravest flaw
    char failure[ZOO_TEXT];      ///< of the first failed step
    double residual;             ///< m/s
    double overlap;              ///< m; deepest at a step's middle, starts in overlap included
    double overlap_at_end;       ///< m; in the last step
    int audited;                 ///< steps that an audit went with
    int accurate;                ///< of them those with |error| ≤ 1e-5 of their scale
    int gaining;                 ///< certified ones with a gain of more than 1e-3 of it, which must not be
    double gain;                 ///< largest integration error over its scale, of certified steps
    double gain_degraded;        ///< the same of degraded ones
    double error, work, kinetic; ///< sum of errors, J; sum of |work|; largest kinetic energy
    double height;               ///< m; of the base after 2 s; NaN: not reached
    double speed;                ///< largest |v|
} zoo_ours;

typedef struct zoo_theirs {
    bool is_cut, is_done;
    int steps, resets; ///< resets: the state ran away and was set back
    int contacts_full;
    int asleep; ///< steps behind which nothing was awake
    double height;
} zoo_theirs;

// ---- ours

typedef struct zoo_model {
    kk_model *model;
    int base; ///< the body whose height is told; −1: none
    char *
        mjcf; ///< of URDF: the same robot with its meshes written out, for MuJoCo, which knows neither packages nor COLLADA; NULL
    size_t mjcf_size;
} zoo_model;

kk_status zoo_load(const char *path, zoo_model *model, kk_error *error);
void zoo_free(zoo_model *model);
/// @param held  [actuators] out: controls of the keyframe
void zoo_held(const zoo_model *model, int keyframe, double *held);
void zoo_run(const zoo_model *model, const zoo_course *course, const zoo_row *row, zoo_ours *figures, zoo_times *times);

// ---- theirs; where the program was built without MuJoCo nothing loads

typedef struct zoo_peer zoo_peer;

/// @param mjcf  the model's text, in place of the file; or NULL    @param why_not [ZOO_TEXT]
zoo_peer *zoo_peer_load(const char *path, const char *mjcf, char *why_not);
void zoo_peer_free(zoo_peer *peer);
const char *zoo_peer_version(void);
int zoo_peer_actuators(const zoo_peer *peer);
double zoo_peer_timestep(const zoo_peer *peer);
int zoo_peer_nv(const zoo_peer *peer);
const char *zoo_peer_base(const zoo_peer *peer); ///< name of the first body
void zoo_peer_run(const zoo_peer *peer, const zoo_course *course, const zoo_row *row, zoo_theirs *figures,
                  zoo_times *times);

// ---- the two models, one beside the other

enum { ZOO_LISTED_PAIRS = 40 };

/// A pair of bodies that may touch in one engine alone.
typedef struct zoo_pair {
    bool is_ours;
    char body[2][ZOO_NAME];
} zoo_pair;

/// Errors are relative to the largest entry; −1: not compared.
typedef struct zoo_agreement {
    double mass, inertia, bias;
    double start;       ///< m; farthest that a body stands off, over the default state and all keyframes
    int start_keyframe; ///< where; −1: the default state
    char start_body[ZOO_NAME];
    int pairs_ours, pairs_theirs; ///< of bodies that may touch
    int only_ours, only_theirs;   ///< how many of them in one engine alone
    int listed;
    zoo_pair pair[ZOO_LISTED_PAIRS];
    char problem[ZOO_TEXT]; ///< why something was not compared
} zoo_agreement;

void zoo_agree(const zoo_model *model, const zoo_peer *peer, zoo_agreement *agreement);

// ---- clock

/// s; of this thread alone, so that what else the machine does counts little.
double zoo_thread_seconds(void);
/// What a call of it costs.
double zoo_clock_cost(void);

#endif
