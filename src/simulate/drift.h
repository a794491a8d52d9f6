/// Moving without forces: positions go on with the velocity they have.
#ifndef KKI_SIMULATE_DRIFT_H
#define KKI_SIMULATE_DRIFT_H

#include "model/model.h"

static inline int kki_is_zero(const double *x, int n) {
    int i = 0, any = 0;
    for (; i + 4 <= n && !any; i += 4) { // four at a time: one by one waits for each answer
        any = (x[i] != 0) | (x[i + 1] != 0) | (x[i + 2] != 0) | (x[i + 3] != 0);
    }
    for (; i < n && !any; i++) {
        any = x[i] != 0;
    }
    return !any;
}

/// Moves q along v for `time`. A free root keeps its velocity in world axes, a lone body its angular momentum, so v of
/// those changes its numbers.
/// @param q [nq], v [nv]  changed in place
void kki_drift(const kk_model *model, double time, double *q, double *v);

/// Moves q along the velocities `w` (in the axes of v at q) without touching v but for the turn of its axes: the last
/// part of a step, where q goes on with a mean velocity that is not v itself.
void kki_drift_along(const kk_model *model, double time, const double *w, double *q, double *v);
/// The same for nodes first … end − 1 of a model of lone bodies alone, where v becomes what `from` is then.
/// @param is_rough  spins to second order even where they are fast
/// @param is_ball  [nnode] of kki_drift_is_ball: where it says so the node, eight lines of memory, is not looked at
void kki_drift_crowd(const kk_model *model, const int8_t *is_ball, double time, int is_rough, const double *w,
                     const double *from, double *q, double *v, int first, int end);
/// Whether a lone body is a ball about its origin: its spin stays in the world, and in its own axes.
int kki_drift_is_ball(const kki_node *node);

#endif
