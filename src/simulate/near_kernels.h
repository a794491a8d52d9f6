/// Where links and shapes are, how far they have got and how far they get: what a step asks of all of them, in vectors.
#ifndef KKI_SIMULATE_NEAR_KERNELS_H
#define KKI_SIMULATE_NEAR_KERNELS_H

#include "dynamics/data.h"
#include "simulate/near.h"

/// Where shapes are and how far they get in the rest of the step, m.
typedef struct kki_shape_place {
    kk_transform *X_WS; ///< [nshape]
    double *ball;       ///< [4 nshape] center and radius
    double *reach;      ///< [nshape]
} kki_shape_place;

/// `half` is the time that is left, s; 0: nobody asks how far things get, and velocities are not known.
typedef struct kki_near_kernels {
    /// Of all groups that move: balls, reaches, and the ways added up.
    void (*track)(kki_near *n, const kk_data *d, double half);
    /// Pairs of groups that may be less apart than `least` and what both reach, into `asked`; gives how many.
    int (*ask)(const kki_near *n, double least);
    /// How far the rods of pairs of shapes are apart at least, m; −∞ of those that have none.
    void (*part)(const kki_near *n, const kk_data *d, const int32_t *pair, int count, double *apart);
    /// Of `count` shapes.
    void (*place)(const kki_near *n, const kk_data *d, const int32_t *shape, int count, double half,
                  const kki_shape_place *to);
} kki_near_kernels;

/// 0: what every processor has, 1: AVX2; NULL where there is none.
const kki_near_kernels *kki_near_kernels_at(int index);
const kki_near_kernels *kki_near_kernels_best(void);

#endif
