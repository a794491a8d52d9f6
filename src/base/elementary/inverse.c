// Inverse sine, cosine and tangent, all from one angle of a vector.
//
// For 0 <= n <= d the angle is  atan(n/d) = atan(c) + atan(t),  t = (n - c d) / (d + c n),  c = k/64 nearest to n/d, so
// |t| <= 1/128 and five terms of the series in t finish it (Tang, "Table-driven implementation of transcendental
// functions", 1991, has the idea). n, d and t are carried as double-doubles, hence the error is half an ulp and a
// trifle.
//   asin x = angle of (sqrt(1 - x^2), x),  acos x = angle of (x, sqrt(1 - x^2)),  1 - x^2 as a double-double.
#include <karakuri/elementary.h>

#include "../float_bits.h"
#include "double_double.h"

#define KKI_TABLES_REDUCTION
#define KKI_TABLES_ARCTANGENT
#include "tables.h"

static const kki_dd HALF_PI_PARTS = {HALF_PI_HIGH, HALF_PI_LOW};
static const kki_dd PI_PARTS = {PI_HIGH, PI_LOW};

// atan t for |t| <= 1/128
static kki_dd small_arctangent(kki_dd t) {
    const double z = t.hi * t.hi;
    const double series = z * (-1.0 / 3.0 + z * (1.0 / 5.0 + z * (-1.0 / 7.0 + z * (1.0 / 9.0))));
    return (kki_dd){t.hi, t.lo + t.hi * series};
}

// c * a for a c of at most seven bits
static kki_dd scale_parts(double c, kki_dd a) {
    const kki_dd p = kki_dd_product(c, a.hi);
    return (kki_dd){p.hi, p.lo + c * a.lo};
}

// atan(n/d) for 0 <= n <= d, d > 0
static kki_dd first_octant(kki_dd n, kki_dd d) {
    const int k = (int)(64.0 * (n.hi / d.hi) + 0.5);
    if (k == 0) {
        return small_arctangent(kki_dd_divide(n, d));
    }
    const double c = (double)k * 0.015625;
    const kki_dd numerator = kki_dd_add(n, kki_dd_negate(scale_parts(c, d)));
    const kki_dd denominator = kki_dd_add(d, scale_parts(c, n));
    return kki_dd_add(ARCTANGENT[k], small_arctangent(kki_dd_divide(numerator, denominator)));
}

// angle in [0, pi/2] of a vector with x, y >= 0, not both zero
static kki_dd first_quadrant(kki_dd y, kki_dd x) {
    if (y.hi <= x.hi) {
        return first_octant(y, x);
    }
    return kki_dd_add(HALF_PI_PARTS, kki_dd_negate(first_octant(x, y)));
}

// angle in [0, pi] of a vector with y >= 0
static double upper_half_angle(kki_dd y, kki_dd x) {
    kki_dd angle;
    if (x.hi >= 0.0) {
        angle = first_quadrant(y, x);
    } else {
        angle = kki_dd_add(PI_PARTS, kki_dd_negate(first_quadrant(y, kki_dd_negate(x))));
    }
    return angle.hi + angle.lo;
}

double kk_atan(double x) {
    if (kki_is_nan(x)) {
        return kki_nan();
    }
    const double magnitude = kki_abs(x);
    if (magnitude < 0x1p-30) {
        return x;
    }
    if (magnitude > 0x1p60) {
        return kki_copy_sign(HALF_PI_HIGH, x);
    }
    const double angle = upper_half_angle((kki_dd){magnitude, 0.0}, (kki_dd){1.0, 0.0});
    return kki_copy_sign(angle, x);
}

// atan2 where y/x is so large or small that only one term counts, or an argument is zero or infinite; y >= 0
static double extreme_angle(double y, double x) {
    if (kki_is_infinite(y)) {
        return kki_is_infinite(x) ? (x > 0.0 ? 0.5 * HALF_PI_HIGH : 1.5 * HALF_PI_HIGH) : HALF_PI_HIGH;
    }
    if (y == 0.0 || kki_is_infinite(x) || kki_abs(x) > y) {
        return kki_is_negative(x) ? PI_HIGH : (kki_is_infinite(x) || y == 0.0 ? 0.0 : y / x);
    }
    return HALF_PI_HIGH;
}

// mantissa in [1, 2) and exponent of a finite number that is not zero
static double normalize(double x, int *exponent) {
    int shift = 0;
    if (kki_abs(x) < DBL_MIN) {
        x *= 0x1p54;
        shift = 54;
    }
    const int e = kki_exponent(x);
    *exponent = e - shift;
    return kki_double((kki_bits(x) & ~KKI_INFINITY_BITS) | ((uint64_t)1023 << 52));
}

// atan2 for y >= 0 (or +0) and any x that is not NaN
static double angle_of_vector(double y, double x) {
    if (y == 0.0 || x == 0.0 || kki_is_infinite(x) || kki_is_infinite(y)) {
        return extreme_angle(y, x);
    }
    int exponent_y, exponent_x;
    const double mantissa_y = normalize(y, &exponent_y);
    const double mantissa_x = normalize(x, &exponent_x);
    const int difference = exponent_y - exponent_x;
    if (difference < -60 || difference > 60) {
        return extreme_angle(y, x);
    }
    const double scaled_y = mantissa_y * kki_power_of_two(difference);
    return upper_half_angle((kki_dd){scaled_y, 0.0}, (kki_dd){mantissa_x, 0.0});
}

double kk_atan2(double y, double x) {
    if (kki_is_nan(x) || kki_is_nan(y)) {
        return kki_nan();
    }
    return kki_copy_sign(angle_of_vector(kki_abs(y), x), y);
}

// sqrt(1 - x^2) for 0 <= x < 1; the square is exact, the difference has relative error 2^-105
static kki_dd cofunction(double x) {
    const kki_dd square = kki_dd_product(x, x);
    const kki_dd difference = kki_dd_sum(1.0, -square.hi);
    return kki_dd_sqrt(kki_dd_sum(difference.hi, difference.lo - square.lo));
}

double kk_asin(double x) {
    const double magnitude = kki_abs(x);
    if (!(magnitude < 1.0)) {
        return magnitude == 1.0 ? kki_copy_sign(HALF_PI_HIGH, x) : kki_nan();
    }
    if (magnitude < 0x1p-30) {
        return x;
    }
    return kki_copy_sign(upper_half_angle((kki_dd){magnitude, 0.0}, cofunction(magnitude)), x);
}

double kk_acos(double x) {
    const double magnitude = kki_abs(x);
    if (!(magnitude < 1.0)) {
        return x == 1.0 ? 0.0 : x == -1.0 ? PI_HIGH : kki_nan();
    }
    if (magnitude < 0x1p-60) {
        return HALF_PI_HIGH;
    }
    return upper_half_angle(cofunction(magnitude), (kki_dd){x, 0.0});
}
