/// Tendons: length, rate and moment arms from poses and rates in the data (tendon.c).
#ifndef KKI_DYNAMICS_TENDON_H
#define KKI_DYNAMICS_TENDON_H

#include "dynamics/data.h"

/// A straight piece of a spatial tendon from at[0] on node[0] to at[1] on node[1].
typedef struct kki_tendon_piece {
    int node[2];
    kk_vec3 at[2], e; ///< e: unit vector along it
    double length;
} kki_tendon_piece;

/// From one frame of a spatial tendon to the next: straight, or round an obstacle with an arc between two pieces.
typedef struct kki_tendon_leg {
    int count; ///< pieces
    kki_tendon_piece piece[2];
    double arc, share; ///< share: one over the divisor of the pulley before
} kki_tendon_leg;

/// A walk along a spatial tendon; begins as (kki_tendon_walk){.share = 1}.
typedef struct kki_tendon_walk {
    int term;
    double share;
} kki_tendon_walk;

typedef struct kki_tendon_motion {
    double length, rate;
} kki_tendon_motion;

/// The next leg, where there is one. @param d  poses
int kki_tendon_next(const kk_model *m, const kk_data *d, const kki_model_tendon *t, kki_tendon_walk *walk,
                    kki_tendon_leg *leg);
/// @param d  poses and rates of (q, v)
kki_tendon_motion kki_tendon_measure(const kk_model *model, const kk_data *d, int tendon, const double *q,
                                     const double *v);
/// moment[k] += scale · ∂L/∂q. @param d  poses of q
void kki_tendon_add_moment(const kk_model *model, const kk_data *d, int tendon, double scale, double *moment);
int kki_has_spatial_tendons(const kk_model *model);

#endif
