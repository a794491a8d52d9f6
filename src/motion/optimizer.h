// What the two optimizers share.
#ifndef KARAKURI_MOTION_OPTIMIZER_H
#define KARAKURI_MOTION_OPTIMIZER_H

#include <karakuri/optimize.h>

#include "base/allocator.h"
#include "base/arena.h"

/// Covariance matrix adaptation; all in units of the first step around the start.
typedef struct kki_cma {
    double *mean, *path_sigma, *path_c; ///< [n]
    double *C, *B, *work;               ///< [n × n] covariance, its axes, scratch
    double *D;                          ///< [n] lengths of the axes
    double *z;                          ///< [population × n] candidates − mean, over sigma
    double *weight;                     ///< [parents]
    double sigma, mu_eff, c_sigma, d_sigma, c_c, c_1, c_mu, chi;
    int parents;
} kki_cma;

struct kk_optimizer {
    kk_allocator allocator;
    size_t size;
    kk_optimizer_type type;
    int n, population, generation;
    uint64_t seed;
    double *lower, *upper, *start, *step; ///< [n]
    double *asked;                        ///< [population × n] candidates, in the caller's units
    double *own;  ///< [population × n] the same in units of the step, not folded into the bounds
    double *cost; ///< [population]
    int *order;   ///< [population] by rising cost
    double *best, best_cost;
    int is_asked;
    double *parent, *parent_cost; ///< genetic: [population × n], [population] the last generation
    kki_cma cma;
};

void kki_cma_place(kki_layout *layout, kk_optimizer *o);
void kki_cma_start(kk_optimizer *o);
/// Fills `own`.
void kki_cma_ask(kk_optimizer *o);
void kki_cma_tell(kk_optimizer *o);

void kki_genetic_ask(kk_optimizer *o);
void kki_genetic_tell(kk_optimizer *o);

#endif
