/// Inverse kinematics: coordinates that bring frames, the center of mass or the momentum where they are wanted.
///
/// Levenberg-Marquardt with the damping of Sugihara (2011), λ = E + w, which vanishes with the error E: robust far from the goal and at singular
/// postures, quadratic near it. Tasks have priorities: what a task asks for is met as far as those before it leave freedom. Couplings and
/// loops of the model come before all of them. Joint limits are never left. A goal that is not reached is tried again from random postures.
///
/// An object is scratch for one thread, made once; solving allocates nothing.
#ifndef KARAKURI_IK_H
#define KARAKURI_IK_H

#include <karakuri/dynamics.h>

KK_BEGIN_DECLS

typedef struct kk_ik kk_ik;

enum { KK_IK_MAX_LEVELS = 4 };

typedef enum kk_ik_type {
    KK_IK_FRAME, ///< a frame or body at a pose
    KK_IK_COM,   ///< the center of mass at goal.p
    /// [angular about the center of mass; linear] momentum · duration of the motion from the start, to first order;
    /// errors count divided by the mass
    KK_IK_MOMENTUM,
    KK_IK_POSTURE, ///< joints near a posture
} kk_ik_type;

typedef struct kk_ik_task {
    kk_ik_type type;
    int body;     ///< frames: id of a body, where `frame` is −1
    int frame;    ///< frames: id of a frame; −1: the body itself
    int priority; ///< 0 first, below KK_IK_MAX_LEVELS
    kk_transform goal;
    kk_force momentum;     ///< of KK_IK_MOMENTUM
    const double *posture; ///< [nq] of KK_IK_POSTURE
    double
        weight[6]; ///< of [angular; linear]; 0: left free. Center of mass: the last three; posture: the first for all
} kk_ik_task;

/// Zero-initialized means: the defaults.
typedef struct kk_ik_options {
    double tolerance;           ///< of every row, m and rad; 0: 1e-10
    int max_iterations;         ///< of one try; 0: 100
    int max_tries;              ///< the first from the posture given, others from random ones; 0: 1
    uint64_t seed;              ///< of those
    const unsigned char *fixed; ///< [nv] nonzero: that degree of freedom stays; NULL: none
} kk_ik_options;

typedef struct kk_ik_report {
    int is_reached; ///< 1: every task, to the tolerance
    int iterations, tries;
    double error[KK_IK_MAX_LEVELS]; ///< largest error of a row, by priority; couplings and loops count with the first
} kk_ik_report;

/// Whole pose of a frame, at the world's origin, weights 1, priority 0.
KK_API kk_ik_task kk_ik_task_default(void);
/// @param max_tasks  most tasks of a call, postures not counted (one posture may be among them)
KK_API kk_status kk_ik_create(const kk_model *model, int max_tasks, const kk_allocator *allocator, kk_ik **ik);
KK_API void kk_ik_free(kk_ik *ik);

/// Couplings are kept and rigid loops closed, to the tolerance, before all tasks; without any task that is all there is to do, which makes a
/// start for a simulation. Loops that are switched off in the model, or held by springs, count for nothing. KK_INVALID_ARGUMENT for tasks that name nothing or are too many, KK_NOT_CONVERGED where a
/// task of the first priority is not reached; q is then the best posture found. Lower priorities may stay unreached: see the report.
/// @param q  [nq] start, then result    @param options may be NULL    @param report may be NULL
KK_API kk_status kk_ik_solve(const kk_model *model, kk_ik *ik, const kk_ik_task *tasks, int count,
                             const kk_ik_options *options, double *q, kk_ik_report *report, kk_error *error);

KK_END_DECLS
#endif
