// Argument reduction to a quarter turn.
#ifndef KARAKURI_BASE_ELEMENTARY_REDUCE_H
#define KARAKURI_BASE_ELEMENTARY_REDUCE_H

#include "double_double.h"

/// Writes x = (quadrant + 4n) pi/2 + rest with |rest| <= pi/4 (1 + 2^-30) and returns the quadrant 0..3.
/// The rest has a relative error below 2^-70. x is finite.
int kki_reduce_quarter(double x, kki_dd *rest);

#endif
