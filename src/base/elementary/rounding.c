// Whole numbers, remainders and lengths: the small exact helpers.
//
// floor, ceil, trunc and round go through int64_t, which is exact below 2^52; every larger double is whole already.
// fmod is long division in binary on the integer mantissas. hypot squares exactly in double-double after scaling by a
// power of two.
#include <karakuri/elementary.h>

#include "../float_bits.h"
#include "double_double.h"

double kk_trunc(double x) {
    if (!(kki_abs(x) < 0x1p52)) {
        return kki_is_nan(x) ? kki_nan() : x;
    }
    return kki_copy_sign((double)(int64_t)x, x);
}

double kk_floor(double x) {
    const double whole = kk_trunc(x);
    return whole > x ? whole - 1.0 : whole;
}

double kk_ceil(double x) {
    const double whole = kk_trunc(x);
    return whole < x ? kki_copy_sign(whole + 1.0, x) : whole;
}

double kk_round(double x) {
    const double whole = kk_trunc(x);
    const double fraction = kki_abs(x - whole);
    if (!(fraction >= 0.5) || kki_is_infinite(x)) {
        return whole;
    }
    return kki_copy_sign(kki_abs(whole) + 1.0, x);
}

// finite magnitude = mantissa * 2^(exponent - 1075), denormals with exponent 1
static uint64_t integer_mantissa(double x, int *exponent) {
    const uint64_t bits = kki_magnitude_bits(x);
    *exponent = (int)(bits >> 52);
    if (*exponent == 0) {
        *exponent = 1;
        return bits;
    }
    return (bits & KKI_FRACTION_BITS) | KKI_IMPLICIT_BIT;
}

// mantissa * 2^(exponent - 1075) for a mantissa below 2^53 and exponent >= 1: exact
static double from_mantissa(uint64_t mantissa, int exponent) {
    while (mantissa < KKI_IMPLICIT_BIT && exponent > 1 && mantissa != 0) {
        mantissa <<= 1;
        exponent--;
    }
    if (mantissa < KKI_IMPLICIT_BIT) {
        return kki_double(mantissa);
    }
    return kki_double((mantissa & KKI_FRACTION_BITS) | ((uint64_t)exponent << 52));
}

double kk_fmod(double x, double y) {
    if (!kki_is_finite(x) || kki_is_nan(y) || y == 0.0) {
        return kki_nan();
    }
    if (kki_abs(x) < kki_abs(y)) {
        return x;
    }
    int exponent_x, exponent_y;
    uint64_t rest = integer_mantissa(x, &exponent_x);
    const uint64_t divisor = integer_mantissa(y, &exponent_y);
    // eleven bits a division: the rest is below 2^53
    rest %= divisor;
    while (exponent_x > exponent_y && rest != 0) {
        const int shift = exponent_x - exponent_y < 11 ? exponent_x - exponent_y : 11;
        rest = (rest << shift) % divisor;
        exponent_x -= shift;
    }
    return kki_copy_sign(from_mantissa(rest, exponent_y), x);
}

double(kk_sqrt)(double x) {
    return x < 0.0 || kki_is_nan(x) ? kki_nan() : __builtin_sqrt(x);
}

// sqrt(x^2 + y^2) for 2^-300 < x < 2^300 and 0 <= y <= x
static kki_dd length_in_range(double x, double y) {
    const kki_dd squares = kki_dd_add(kki_dd_product(x, x), kki_dd_product(y, y));
    return kki_dd_sqrt(squares);
}

double kk_hypot(double x, double y) {
    const double a = kki_abs(x), b = kki_abs(y);
    if (kki_is_infinite(x) || kki_is_infinite(y)) {
        return kki_infinity();
    }
    if (kki_is_nan(x) || kki_is_nan(y)) {
        return kki_nan();
    }
    const double large = a > b ? a : b, small = a > b ? b : a;
    if (small == 0.0 || large * 0x1p-60 > small) {
        return large;
    }
    if (large > 0x1p300) {
        return kki_dd_scale(length_in_range(large * 0x1p-600, small * 0x1p-600), 600);
    }
    if (large < 0x1p-300) {
        return kki_dd_scale(length_in_range(large * 0x1p600, small * 0x1p600), -600);
    }
    return length_in_range(large, small).hi;
}
