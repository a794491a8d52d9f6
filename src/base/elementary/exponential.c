// Exponential, logarithm and power.
//
//   exp x = 2^m 2^(j/64) e^r,   64 m + j = nearest integer to 64 x / ln 2, |r| <= ln 2 / 128
//   log x = e ln 2 - ln c + log(1 + f),   x = 2^e m, c a ten-bit reciprocal of m, f = m c - 1 exact, |f| <= 2^-7
//   x^y   = exp(y log x), with the logarithm as a double-double good to 2^-66
// Tables of high and low parts keep everything but the final rounding below a few hundredths of an ulp. Reference:
// Tang, "Table-driven implementation of the exponential function", ACM TOMS 15 (1989), and "... of the logarithm
// function", ACM TOMS 16 (1990).
#include <karakuri/elementary.h>

#include "../float_bits.h"
#include "double_double.h"

// one mantissa interval of the logarithm: c ~ 1/m and -ln c = high + low, high a multiple of 2^-42
typedef struct logarithm_entry {
    double c, high, low;
} logarithm_entry;

#define KKI_TABLES_EXPONENTIAL
#define KKI_TABLES_LOGARITHM
#include "tables.h"

static const double SHIFT_TO_INTEGER = 0x1.8p52; // adding and subtracting it rounds |x| < 2^51 to nearest

// e^(x.hi + x.lo), |lo| <= ulp(hi)
static double exponential(kki_dd x) {
    if (x.hi > 710.0) {
        return kki_infinity();
    }
    if (x.hi < -746.0) {
        return 0.0;
    }
    const double n = (x.hi * SIXTY_FOUR_OVER_LN2 + SHIFT_TO_INTEGER) - SHIFT_TO_INTEGER;
    const double high = x.hi - n * LN2_64_HIGH; // exact
    const double low = n * LN2_64_LOW;
    const double r = high - low;
    const double r_low = ((high - r) - low) + x.lo;
    const double series =
        r * r * (1.0 / 2.0 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0)))));
    const double growth = r + (r_low + r * r_low + series); // e^r - 1
    const int index = (int)n;
    const kki_dd t = POWER_OF_TWO[index & 63];
    return kki_dd_scale(kki_dd_quick_sum(t.hi, t.lo + t.hi * growth), (index - (index & 63)) / 64);
}

// log(1 + f) for |f| <= 2^-7, relative error below 2^-66
static kki_dd logarithm_near_one(kki_dd f) {
    const double z = f.hi;
    const kki_dd square = kki_dd_product(z, z);
    const double high_terms = 1.0 / 7.0 + z * (-1.0 / 8.0 + z * (1.0 / 9.0 + z * (-1.0 / 10.0)));
    const double series = 1.0 / 3.0 + z * (-1.0 / 4.0 + z * (1.0 / 5.0 + z * (-1.0 / 6.0 + z * high_terms)));
    const kki_dd leading = kki_dd_quick_sum(z, -0.5 * square.hi);
    const double rest = (f.lo - z * f.lo) - 0.5 * square.lo + z * square.hi * series;
    return kki_dd_quick_sum(leading.hi, leading.lo + rest);
}

// log x for finite x > 0, relative error below 2^-66
static kki_dd logarithm(double x) {
    int exponent = 0;
    if (x < DBL_MIN) {
        x *= 0x1p54;
        exponent = -54;
    }
    // x = 2^exponent m with m in [0.6875, 1.375), and the interval of m
    const uint64_t from_start = kki_bits(x) - 0x3fe6000000000000u;
    const logarithm_entry *entry = &LOGARITHM[(from_start >> 45) & 127];
    exponent += (int)((int64_t)from_start >> 52);
    const double m = kki_double(kki_bits(x) - (from_start & 0xfff0000000000000u));
    // f = m c - 1 exactly, from halves of m
    const double m_high = kki_double(kki_bits(m) & 0xffffffff00000000u);
    const kki_dd f = kki_dd_sum(m_high * entry->c - 1.0, (m - m_high) * entry->c);
    const kki_dd near_one = logarithm_near_one(f);
    const double e = (double)exponent;
    const double high = e * LN2_HIGH + entry->high; // exact: multiples of 2^-42 below 2^10
    const kki_dd sum = kki_dd_sum(high, near_one.hi);
    return kki_dd_quick_sum(sum.hi, sum.lo + ((e * LN2_LOW + entry->low) + near_one.lo));
}

double kk_exp(double x) {
    return kki_is_nan(x) ? kki_nan() : exponential((kki_dd){x, 0.0});
}

double kk_log(double x) {
    if (kki_is_nan(x) || x < 0.0) {
        return kki_nan();
    }
    if (x == 0.0) {
        return -kki_infinity();
    }
    return kki_is_infinite(x) ? x : logarithm(x).hi;
}

// 0: not a whole number, 1: odd, 2: even
static int parity(double y) {
    const double magnitude = kki_abs(y);
    if (magnitude >= 0x1p53) {
        return 2;
    }
    const int64_t whole = (int64_t)magnitude;
    if ((double)whole != magnitude) {
        return 0;
    }
    return (whole & 1) ? 1 : 2;
}

// x^y for 0 <= x <= infinity other than 1, finite or infinite y other than 0
static double power_of_magnitude(double x, double y) {
    const bool grows = (x > 1.0) == (y > 0.0);
    // |log x| >= 2^-53: beyond 2^64 every power overflows or vanishes
    if (x == 0.0 || kki_is_infinite(x) || kki_abs(y) > 0x1p64) {
        return grows ? kki_infinity() : 0.0;
    }
    if (kki_abs(y) < 0x1p-64) {
        return 1.0;
    }
    const kki_dd log_x = logarithm(x);
    const kki_dd product = kki_dd_product(log_x.hi, y);
    return exponential(kki_dd_quick_sum(product.hi, product.lo + log_x.lo * y));
}

double kk_pow(double x, double y) {
    if (x == 1.0 || y == 0.0) {
        return 1.0;
    }
    if (kki_is_nan(x) || kki_is_nan(y)) {
        return kki_nan();
    }
    const double magnitude = kki_abs(x);
    const int kind = parity(y);
    if (x < 0.0 && kind == 0 && kki_is_finite(x)) {
        return kki_nan();
    }
    const double power = magnitude == 1.0 ? 1.0 : power_of_magnitude(magnitude, y);
    return kki_is_negative(x) && kind == 1 ? -power : power;
}
