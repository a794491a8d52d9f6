/// Spatial vectors, one for every degree of freedom, and products of their components along rows.
///
/// Algorithms leave one spatial vector a degree of freedom. For one robot, products of one with many run four columns at a time over
/// *rows* (component by component, [component][nv padded]), which are turned out of the vectors in blocks of four; in lanes the
/// vectors themselves serve, one column of every robot at a time.
#ifndef KKI_DYNAMICS_KERNELS_ROWS_H
#define KKI_DYNAMICS_KERNELS_ROWS_H

#include "kernels.h"
#include "scratch.h"
#include "trig.h"

/// A motion about the point o away, and a force likewise.
KKI_INLINE spatial motion_at(spatial s, vec3 o) {
    return (spatial){s.a, v_add(s.l, v_cross(o, s.a))};
}
KKI_INLINE spatial force_at(spatial s, vec3 o) {
    return (spatial){v_add(s.a, v_cross(o, s.l)), s.l};
}
KKI_INLINE spatial spatial_add(spatial a, spatial b) {
    return (spatial){v_add(a.a, b.a), v_add(a.l, b.l)};
}
KKI_INLINE spatial motion_cross(spatial v, spatial s) {
    return (spatial){v_cross(v.a, s.a), v_add(v_cross(v.a, s.l), v_cross(v.l, s.a))};
}

#if KKI_LANES == 1

typedef double quad_unaligned __attribute__((vector_size(32), aligned(8)));

/// Component c of four neighbors, from the k-th on. `step` is how many 3-vectors lie from one degree of freedom to the next.
KKI_INLINE void turn_four(const vec3 *x, size_t step, double *row, size_t padded) {
#if KKI_QUAD
    const quad a = x[0], b = x[step], c = x[2 * step], d = x[3 * step];
    const quad ab = __builtin_shufflevector(a, b, 0, 4, 2, 6), AB = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const quad cd = __builtin_shufflevector(c, d, 0, 4, 2, 6), CD = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    *(quad *)row = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    *(quad *)(row + padded) = __builtin_shufflevector(AB, CD, 0, 1, 4, 5);
    *(quad *)(row + 2 * padded) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
#else
    for (size_t k = 0; k < 4; k++) {
        row[k] = x[k * step].x;
        row[padded + k] = x[k * step].y;
        row[2 * padded + k] = x[k * step].z;
    }
#endif
}

/// Rows of one 3-vector a degree of freedom. @param rows [3][padded] result
KKI_INLINE void turn_rows(const vec3 *x, size_t step, size_t padded, double *rows) {
    for (size_t k = 0; k < padded; k += 4) {
        turn_four(x + k * step, step, rows + k, padded);
    }
}

KKI_INLINE quad spread4(double x) {
    return (quad){x, x, x, x};
}

/// Three components of x with four columns of rows.
KKI_INLINE quad dot3_rows(const vec3 *x, const double *rows, size_t padded) {
    const double *c = (const double *)x;
    return (spread4(c[0]) * *(const quad_unaligned *)rows + spread4(c[1]) * *(const quad_unaligned *)(rows + padded)) +
           spread4(c[2]) * *(const quad_unaligned *)(rows + 2 * padded);
}
KKI_INLINE quad dot6_rows(const spatial *x, const double *rows, size_t padded) {
    return dot3_rows(&x->a, rows, padded) + dot3_rows(&x->l, rows + 3 * padded, padded);
}

/// The first n of four entries side by side.
KKI_INLINE void put_row(double *out, quad x, size_t n) {
    if (n >= 4) {
        *(quad_unaligned *)out = x;
    } else {
        out[0] = x[0];
        if (n > 1) {
            out[1] = x[1];
        }
        if (n > 2) {
            out[2] = x[2];
        }
    }
}
/// The first n of four entries one a row.
KKI_INLINE void put_down(double *out, size_t stride, quad x, size_t n) {
    out[0] = x[0];
    if (n > 1) {
        out[stride] = x[1];
    }
    if (n > 2) {
        out[2 * stride] = x[2];
    }
    if (n > 3) {
        out[3 * stride] = x[3];
    }
}

#endif
#endif
