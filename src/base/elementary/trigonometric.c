// Sine, cosine and tangent.
//
// The angle is reduced to rest = hi + lo in [-pi/4, pi/4] and a quadrant (reduce.c). Both functions are then a leading part that is exact
// and a small tail in double precision:
//   sin = hi + [lo (1 - hi^2/2) + hi^3 S(hi^2)]
//   cos = (1 - h^2/2) + [- (hi - h)(hi + h)/2 - hi lo + hi^4 C(hi^2)]   with h the top 26 bits of hi, so h^2 is exact
// S and C are near-minimax polynomials (make_tables.py). The tail is at most an eighth of the result, so its errors cost a fraction of
// an ulp.
#include <karakuri/elementary.h>

#include "../float_bits.h"
#include "reduce.h"

#define KKI_TABLES_TRIGONOMETRIC
#include "tables.h"

static inline double polynomial6(const double c[7], double z) {
    return c[0] + z * (c[1] + z * (c[2] + z * (c[3] + z * (c[4] + z * (c[5] + z * c[6])))));
}

static inline kki_dd sine_parts(kki_dd r) {
    const double z = r.hi * r.hi;
    const double tail = r.hi * (z * polynomial6(SINE, z)) + r.lo * (1.0 - 0.5 * z);
    return kki_dd_quick_sum(r.hi, tail);
}

static inline kki_dd cosine_parts(kki_dd r) {
    const double z = r.hi * r.hi;
    const double h = kki_double(kki_bits(r.hi) & ~(uint64_t)0x7ffffff);
    const double leading = 0.5 * (h * h);
    const double one_minus = 1.0 - leading;
    const double rounding = (1.0 - one_minus) - leading;
    const double square_rest = 0.5 * ((r.hi - h) * (r.hi + h));
    const double tail = rounding - square_rest + (z * z * polynomial6(COSINE, z) - r.hi * r.lo);
    return kki_dd_quick_sum(one_minus, tail);
}

// sine of rest + quadrant * pi/2; hi of the parts is the rounded result
static inline double sine_in_quadrant(int quadrant, kki_dd rest) {
    const double value = (quadrant & 1) ? cosine_parts(rest).hi : sine_parts(rest).hi;
    return (quadrant & 2) ? -value : value;
}

// below this sin x = tan x = x and cos x = 1 to the last bit, and the products below could underflow
static inline bool is_tiny(double x) {
    return kki_abs(x) < 0x1p-27;
}

double kk_sin(double x) {
    if (!kki_is_finite(x)) {
        return kki_nan();
    }
    if (is_tiny(x)) {
        return x;
    }
    kki_dd rest;
    const int quadrant = kki_reduce_quarter(x, &rest);
    return sine_in_quadrant(quadrant, rest);
}

double kk_cos(double x) {
    if (!kki_is_finite(x)) {
        return kki_nan();
    }
    if (is_tiny(x)) {
        return 1.0;
    }
    kki_dd rest;
    const int quadrant = kki_reduce_quarter(x, &rest);
    return sine_in_quadrant(quadrant + 1, rest);
}

void kk_sincos(double x, double *sine, double *cosine) {
    if (!kki_is_finite(x) || is_tiny(x)) {
        *sine = kk_sin(x);
        *cosine = kk_cos(x);
        return;
    }
    kki_dd rest;
    const int quadrant = kki_reduce_quarter(x, &rest);
    *sine = sine_in_quadrant(quadrant, rest);
    *cosine = sine_in_quadrant(quadrant + 1, rest);
}

double kk_tan(double x) {
    if (!kki_is_finite(x)) {
        return kki_nan();
    }
    if (is_tiny(x)) {
        return x;
    }
    kki_dd rest;
    const int quadrant = kki_reduce_quarter(x, &rest);
    const kki_dd sine = sine_parts(rest), cosine = cosine_parts(rest);
    return (quadrant & 1) ? -kki_dd_divide(cosine, sine).hi : kki_dd_divide(sine, cosine).hi;
}
