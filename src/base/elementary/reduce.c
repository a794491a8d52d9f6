// Argument reduction modulo pi/2, exact for every double.
//
// Small arguments (|x| < 2^20) subtract n*pi/2 with pi/2 cut in parts of 33 bits, so that all products and the first
// difference are exact (Cody and Waite, "Software Manual for the Elementary Functions", 1980). Large ones multiply the
// integer mantissa by the window of the bits of 2/pi that matters: bits above it contribute multiples of four quarter
// turns, bits below it less than 2^-137 of one (Payne and Hanek, "Radian reduction for trigonometric functions", SIGNUM
// Newsletter 18, 1983). No double is closer than 2^-62 to a multiple of pi/2 other than zero (Kahan; Muller,
// "Elementary Functions", ch. 11), so the rest keeps 2^-75 relative.
#include "reduce.h"

#include "../float_bits.h"
#include "../wide_integer.h"

#define KKI_TABLES_REDUCTION
#include "tables.h"

static const double SHIFT_TO_INTEGER = 0x1.8p52; // adding and subtracting it rounds |x| < 2^51 to nearest

static int reduce_small(double x, kki_dd *rest) {
    const double n = (x * TWO_OVER_PI + SHIFT_TO_INTEGER) - SHIFT_TO_INTEGER;
    const double first = x - n * HALF_PI_1;
    const kki_dd second = kki_dd_sum(first, -n * HALF_PI_2);
    const kki_dd third = kki_dd_sum(second.hi, -n * HALF_PI_3);
    // the low parts are exact, and zero where the high parts cancel, so plain sums lose nothing that matters
    *rest = kki_dd_quick_sum(third.hi, third.lo + (second.lo - n * HALF_PI_4));
    return (int)((int64_t)n & 3);
}

// 192-bit window of 2/pi that starts `offset` bits into the table, highest word first
static void two_over_pi_window(int offset, uint64_t window[3]) {
    const int word = offset / 64, shift = offset % 64;
    for (int i = 0; i < 3; i++) {
        const uint64_t *w = TWO_OVER_PI_BITS + word + i;
        window[i] = shift == 0 ? w[0] : (w[0] << shift) | (w[1] >> (64 - shift));
    }
}

// (m * window) mod 2^192 in place
static void multiply_window(uint64_t m, uint64_t window[3]) {
    const kki_uint128 low = kki_multiply_wide(m, window[2]);
    const kki_uint128 middle = kki_multiply_wide(m, window[1]);
    window[2] = low.lo;
    window[0] = m * window[0] + middle.hi;
    window[1] = middle.lo + low.hi;
    window[0] += window[1] < middle.lo;
}

static void negate_window(uint64_t w[3]) {
    w[2] = 0 - w[2];
    w[1] = 0 - w[1] - (w[2] != 0);
    w[0] = 0 - w[0] - ((w[1] | w[2]) != 0);
}

static void shift_window_left(uint64_t w[3], int bits) {
    while (bits >= 64) {
        w[0] = w[1], w[1] = w[2], w[2] = 0;
        bits -= 64;
    }
    if (bits > 0) {
        w[0] = (w[0] << bits) | (w[1] >> (64 - bits));
        w[1] = (w[1] << bits) | (w[2] >> (64 - bits));
        w[2] <<= bits;
    }
}

static int window_leading_zeros(const uint64_t w[3]) {
    return w[0] != 0 ? kki_leading_zeros(w[0]) : w[1] != 0 ? 64 + kki_leading_zeros(w[1]) : 128;
}

// the fraction w / 2^192, w not zero in its first 128 bits, times pi/2
static kki_dd window_to_angle(uint64_t w[3]) {
    const int zeros = window_leading_zeros(w);
    shift_window_left(w, zeros);
    const double high = (double)(int64_t)(w[0] >> 11);
    const double low = (double)(int64_t)(((w[0] & 0x7ff) << 42) | (w[1] >> 22));
    const double scale = kki_power_of_two(-53 - zeros);
    const kki_dd turns = {high * scale, low * (scale * 0x1p-53)};
    return kki_dd_multiply(turns, (kki_dd){HALF_PI_HIGH, HALF_PI_LOW});
}

static int reduce_large(double x, kki_dd *rest) {
    const uint64_t mantissa = (kki_bits(x) & KKI_FRACTION_BITS) | KKI_IMPLICIT_BIT;
    const int exponent = kki_exponent(x) - 52; // |x| = mantissa * 2^exponent
    uint64_t window[3];
    two_over_pi_window(exponent + 62, window);
    multiply_window(mantissa, window);
    // two bits of quadrant, then the fraction; round to the nearest quarter turn
    uint64_t quadrant = window[0] >> 62;
    shift_window_left(window, 2);
    const bool round_up = (window[0] >> 63) != 0;
    if (round_up) {
        quadrant++;
        negate_window(window);
    }
    kki_dd angle = window_to_angle(window);
    if (kki_is_negative(x)) {
        quadrant = 0 - quadrant;
    }
    *rest = round_up != kki_is_negative(x) ? kki_dd_negate(angle) : angle;
    return (int)(quadrant & 3);
}

int kki_reduce_quarter(double x, kki_dd *rest) {
    return kki_abs(x) < 0x1p20 ? reduce_small(x, rest) : reduce_large(x, rest);
}
