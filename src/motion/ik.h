/// The scratch of inverse kinematics; see karakuri/ik.h.
#ifndef KKI_MOTION_IK_H
#define KKI_MOTION_IK_H

#include <karakuri/ik.h>

struct kk_ik {
    kk_allocator allocator;
    const kk_model *model;
    kk_data *data;
    int max_tasks, max_rows;
    // rows in the order of priority
    int rows, levels;
    int mechanism;                   ///< 1: couplings and loops are the first level, and tasks of priority 0 the second
    int has_axes;                    ///< the data holds the axes of the q that is being evaluated
    int first[KK_IK_MAX_LEVELS + 2]; ///< row where a level begins
    double *J;                       ///< [rows × nv]
    double *e, *weight;              ///< [rows] what is missing, and what it counts
    // degrees of freedom
    double *lower, *upper; ///< [nv] limits
    int *coordinate;       ///< [nv] of q; −1 for balls and free joints
    unsigned char *held;   ///< [nv] fixed by the caller or by a limit
    // one step
    double *task_J, *other_J; ///< [6 × nv]
    double *Z;                ///< [nv × nv] columns span what the levels before leave free
    double *A;                ///< [rows × nv] J Z of a level
    double *H, *g;            ///< [nv × nv], [nv] normal equations
    double *b;                ///< [rows]
    double *step;             ///< [nv]
    double *scratch;
    double *q_start, *q_now, *q_try, *q_best; ///< [nq]
    void *block;
    size_t block_size;
};

/// Errors and Jacobians of all tasks at q. Rows whose weight is 0 are left out.
void kki_ik_evaluate(const kk_model *model, kk_ik *ik, const kk_ik_task *tasks, int count, const double *q);
/// ik_mechanism.c: how many rows couplings and loops have, and the rows at q.
int kki_ik_mechanism_rows(const kk_model *model);
void kki_ik_add_mechanism(const kk_model *model, kk_ik *ik, const double *q);
/// The damped step from what was evaluated. @param damping  ν of λ = ν E + w
void kki_ik_step(kk_ik *ik, double damping, const double *q);

#endif
