// Sine, cosine and tangent.
//
// The angle is reduced to rest = hi + lo in [-pi/4, pi/4] and a quadrant (reduce.c). Both functions are then a leading
// part that is exact and a small tail in double precision. With h the top bits of hi, so few that h^2 or h^3 is exact:
//   sin = hi + [- h^3/6 - (hi^3 - h^3)/6 + hi^5 S(hi^2) + lo (1 - hi^2/2)],   hi^3 - h^3 = (hi - h)(hi^2 + hi h + h^2)
//   cos = (1 - h^2/2) + [- (hi - h)(hi + h)/2 + hi^4 C(hi^2) - hi lo]
// S and C are near-minimax polynomials (make_tables.py). The tail is at most an eighth of the result, so its errors
// cost a fraction of an ulp.
#include <karakuri/elementary.h>

#include "../float_bits.h"
#include "reduce.h"

#define KKI_TABLES_TRIGONOMETRIC
#include "tables.h"

static inline double polynomial5(const double c[6], double z) {
    return c[0] + z * (c[1] + z * (c[2] + z * (c[3] + z * (c[4] + z * c[5]))));
}

// x without its last `bits` bits
static inline double drop_bits(double x, int bits) {
    return kki_double(kki_bits(x) & (UINT64_MAX << bits));
}

static inline kki_dd sine_parts(kki_dd r) {
    const double z = r.hi * r.hi;
    const double h = drop_bits(r.hi, 36); // 17 bits
    const double cube_rest = (r.hi - h) * (z + r.hi * h + h * h);
    const double series = r.hi * (z * (z * polynomial5(SINE, z) - SIXTH_LOW));
    const double small_terms = (series - SIXTH_HIGH * cube_rest) + r.lo * (1.0 - 0.5 * z);
    return kki_dd_quick_sum(r.hi, small_terms - SIXTH_HIGH * (h * h * h));
}

static inline kki_dd cosine_parts(kki_dd r) {
    const double z = r.hi * r.hi;
    const double h = drop_bits(r.hi, 27); // 26 bits
    const double leading = 0.5 * (h * h);
    const double one_minus = 1.0 - leading;
    const double rounding = (1.0 - one_minus) - leading;
    const double square_rest = 0.5 * ((r.hi - h) * (r.hi + h));
    const double tail = rounding - square_rest + (z * z * polynomial5(COSINE, z) - r.hi * r.lo);
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
