/// Rows: a 6-vector for every degree of freedom, stored component by component, [6][nv padded].
///
/// Products of such matrices run along a row. For one robot a `wide` holds four neighbouring columns, in lanes one column of every
/// robot, so that the same loops serve both.
#ifndef KKI_DYNAMICS_KERNELS_ROWS_H
#define KKI_DYNAMICS_KERNELS_ROWS_H

#include "kernels.h"
#include "scratch.h"
#include "trig.h"

// how many entries of a row one `wide` holds
#if KKI_LANES == 1
enum { ROW_STEP = 4 };
#else
enum { ROW_STEP = 1 };
#endif

KKI_INLINE void put_column(double *rows, size_t padded, size_t k, vec3 angular, vec3 linear) {
    real *x = (real *)rows + k;
    x[0] = v_x(angular);
    x[padded] = v_y(angular);
    x[2 * padded] = v_z(angular);
    x[3 * padded] = v_x(linear);
    x[4 * padded] = v_y(linear);
    x[5 * padded] = v_z(linear);
}

KKI_INLINE wide spread_wide(const double *rows, size_t i) {
#if KKI_LANES == 1
    return (wide){rows[i], rows[i], rows[i], rows[i]};
#else
    return ((const real *)rows)[i];
#endif
}
KKI_INLINE wide load_wide(const double *rows, size_t i) { return *(const wide *)((const real *)rows + i); }

/// Clears what a register holds at and behind column `end`.
KKI_INLINE wide keep_before(wide x, size_t column, size_t end) {
#if KKI_LANES == 1
    const quad_bits place = {0, 1, 2, 3};
    const int64_t n = (int64_t)end - (int64_t)column;
    return (wide)((wide_bits)x & (place < (quad_bits){n, n, n, n}));
#else
    (void)column;
    (void)end;
    return x;
#endif
}

/// Half of M_ji for a register of columns i: three components of S_j with those of F_i.
KKI_INLINE wide dot_wide(const double *axis, const double *load, size_t padded, size_t j, size_t i) {
    return (spread_wide(axis, j) * load_wide(load, i) + spread_wide(axis, padded + j) * load_wide(load, padded + i)) +
           spread_wide(axis, 2 * padded + j) * load_wide(load, 2 * padded + i);
}

#endif
