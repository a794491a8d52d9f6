/// The diagonals of the inertia matrix and of its inverse, in time and memory proportional to the degrees of freedom.
#ifndef KKI_DYNAMICS_DIAGONALS_H
#define KKI_DYNAMICS_DIAGONALS_H

#include <karakuri/dynamics.h>

/// @param M, inverse  [nv] results
/// KK_SINGULAR where nothing resists a joint.
kk_status kki_inertia_diagonals(const kk_model *model, kk_data *data, const double *q, const kk_allocator *allocator,
                                double *M, double *inverse);

#endif
