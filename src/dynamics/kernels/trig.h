/// Sine and cosine of every joint angle, branch-free and the same bits in every shape.
///
/// Reduction by three-part π/2 (Cody and Waite 1980; the parts have 33 bits, so k · part is exact for |k| < 2²⁰), then the minimax
/// polynomials of Sun's fdlibm (coefficients as published in k_sin.c and k_cos.c, 1993). Error below 1 ulp for |angle| < 1.6e6 rad.
#ifndef KKI_DYNAMICS_KERNELS_TRIG_H
#define KKI_DYNAMICS_KERNELS_TRIG_H

#include "algebra.h"
#include "kernels.h"

// one robot: four joints side by side; lanes: one joint of every robot
#if KKI_LANES == 1
typedef quad wide;
typedef quad_bits wide_bits;
#else
typedef real wide;
typedef real_bits wide_bits;
#endif

/// a where the mask's bits are set, b elsewhere.
KKI_INLINE wide wide_select(wide_bits mask, wide a, wide b) {
    return (wide)(((wide_bits)a & mask) | ((wide_bits)b & ~mask));
}

/// Sine and cosine of x plus whole quarter turns.
KKI_INLINE void wide_sincos(wide x, wide_bits quarters, wide *sine, wide *cosine) {
    // nearest multiple of π/2, by the rounding of an addition that leaves no fraction bits
    const wide shifted = x * 0.63661977236758134308 + 6755399441055744.0;
    const wide_bits n = (wide_bits)shifted + quarters;
    const wide k = shifted - 6755399441055744.0;
    const wide r =
        ((x - k * 1.57079632673412561417e+00) - k * 6.07710050630396597660e-11) - k * 2.02226624879595063154e-21;
    const wide z = r * r;
    const wide ps = -1.66666666666666324348e-01 +
                    z * (8.33333333332248946124e-03 +
                         z * (-1.98412698298579493134e-04 +
                              z * (2.75573137070700676789e-06 +
                                   z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))));
    const wide pc = 4.16666666666666019037e-02 +
                    z * (-1.38888888888741095749e-03 +
                         z * (2.48015872894767294178e-05 +
                              z * (-2.75573143513906633035e-07 +
                                   z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))));
    const wide s = r + (r * z) * ps;
    const wide c = 1.0 - (0.5 * z - (z * z) * pc);
    // odd multiples swap sine and cosine; the signs follow the quadrant
    const wide_bits odd = -(n & 1);
    *sine = (wide)((wide_bits)wide_select(odd, c, s) ^ ((n & 2) << 62));
    *cosine = (wide)((wide_bits)wide_select(odd, s, c) ^ (((n + 1) & 2) << 62));
}

/// Fills sine and cosine of every node's first coordinate, with the turn it starts with. What is not an angle gets the sine of a number nobody reads.
KKI_INLINE void trig_of_nodes(const kk_model *m, const double *q, size_t stride, kki_scratch *S) {
    const int32_t *index = m->angle_index;
#if KKI_LANES == 1
    (void)stride;
    for (int i = 0; i < m->nnode && m->nq > 0; i += 4) {
        const quad x = {q[index[i]], q[index[i + 1]], q[index[i + 2]], q[index[i + 3]]};
        wide_sincos(x + *(const quad *)(m->turn_rest + i), *(const quad_bits *)(m->turn_quarters + i),
                    (quad *)(S->sine + i), (quad *)(S->cosine + i));
    }
#else
    for (int i = 1; i < m->nnode; i++) {
        wide_sincos(r_load(q, (size_t)index[i], stride) + m->turn_rest[i], m->turn_quarters[i] - (real_bits){0},
                    (real *)S->sine + i, (real *)S->cosine + i);
    }
#endif
}

#endif
