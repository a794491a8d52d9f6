// Shortest decimal that reads back as the same double.
//
// The method is Schubfach (Giulietti, "The Schubfach way to render doubles", 2020). A double c 2^q is the center of the
// interval of reals that round to it. For the power of ten 10^k just below the interval's width at most ten multiples
// of 10^k lie inside; one of them with a last digit 0 is shorter and unique, otherwise the one nearest to the double is
// taken. The interval's ends and the center are scaled by 10^-k with 128-bit powers (powers.c) and rounded to odd,
// which the paper proves to be enough for all comparisons.
#include <karakuri/number.h>

#include <string.h>

#include "../float_bits.h"
#include "powers.h"

// digits * 10^exponent
typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

// 10^q to 128 bits, rounded up
static kki_uint128 power_rounded_up(int q) {
    kki_uint128 power = kki_power_of_ten(q);
    if (q < 0 || q > KKI_POWER_OF_TEN_LAST_EXACT) {
        power.lo++;
        power.hi += power.lo == 0;
    }
    return power;
}

// floor(g c / 2^128) with the last bit set where something was cut off
static uint64_t scale_round_to_odd(kki_uint128 g, uint64_t c) {
    const kki_uint128 low = kki_multiply_wide(g.lo, c);
    const kki_uint128 high = kki_multiply_wide(g.hi, c);
    const uint64_t middle = high.lo + low.hi;
    const uint64_t carry = middle < low.hi;
    return (high.hi + carry) | (middle > 1);
}

// floor(log10(2^q)), or floor(log10(3/4 2^q)); exact for all exponents of doubles
static int log10_of_power_of_two(int q, bool three_quarters) {
    return (q * 1262611 - (three_quarters ? 524031 : 0)) >> 22;
}

// the shortest decimal of c 2^q; `uneven` where the double below is only half as far as the one above
static decimal shortest(uint64_t c, int q, bool uneven) {
    const bool open = (c & 1) != 0; // ends of the interval round to an even neighbor
    const int k = log10_of_power_of_two(q, uneven);
    const int shift = q + kki_log2_of_power_of_ten(-k) + 1;
    const kki_uint128 g = power_rounded_up(-k);
    // four times the lower end, the center and the upper end, in units of 10^k
    const uint64_t lower = scale_round_to_odd(g, (4 * c - 2 + uneven) << shift) + open;
    const uint64_t center = scale_round_to_odd(g, (4 * c) << shift);
    const uint64_t upper = scale_round_to_odd(g, (4 * c + 2) << shift) - open;

    const uint64_t s = center / 4;
    if (s >= 10) {
        const uint64_t tens = s / 10;
        const bool below_inside = lower <= 40 * tens, above_inside = 40 * tens + 40 <= upper;
        if (below_inside != above_inside) {
            return (decimal){tens + above_inside, k + 1};
        }
    }
    const bool below_inside = lower <= 4 * s, above_inside = 4 * s + 4 <= upper;
    if (below_inside != above_inside) {
        return (decimal){s + above_inside, k};
    }
    const uint64_t middle = 4 * s + 2;
    const bool up = center > middle || (center == middle && (s & 1));
    return (decimal){s + up, k};
}

static decimal shortest_of_bits(uint64_t magnitude) {
    const uint64_t fraction = magnitude & KKI_FRACTION_BITS;
    const int biased = (int)(magnitude >> 52);
    if (biased == 0) {
        return shortest(fraction, -1074, false);
    }
    const uint64_t c = fraction | KKI_IMPLICIT_BIT;
    const int q = biased - 1075;
    // whole numbers below 2^53 are their own digits
    if (q <= 0 && q > -53 && (c & (((uint64_t)1 << -q) - 1)) == 0) {
        return (decimal){c >> -q, 0};
    }
    return shortest(c, q, fraction == 0 && biased > 1);
}

static decimal strip_zeros(decimal d) {
    while (d.digits % 10 == 0) {
        d.digits /= 10;
        d.exponent++;
    }
    return d;
}

// decimal digits of a whole number, without a terminating zero; returns how many
static int write_digits(uint64_t value, char digits[20]) {
    char reversed[20];
    int count = 0;
    do {
        reversed[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    for (int i = 0; i < count; i++) {
        digits[i] = reversed[count - 1 - i];
    }
    return count;
}

static char *write_text(char *out, const char *text, size_t length) {
    memcpy(out, text, length);
    return out + length;
}

static char *write_zeros(char *out, int count) {
    memset(out, '0', (size_t)count);
    return out + count;
}

// the point stands after `whole` digits, -3 <= whole <= 16
static char *write_plain(char *out, const char *digits, int count, int whole) {
    if (whole <= 0) {
        out = write_text(out, "0.", 2);
        out = write_zeros(out, -whole);
        return write_text(out, digits, (size_t)count);
    }
    if (whole >= count) {
        out = write_text(out, digits, (size_t)count);
        return write_zeros(out, whole - count);
    }
    out = write_text(out, digits, (size_t)whole);
    *out++ = '.';
    return write_text(out, digits + whole, (size_t)(count - whole));
}

static char *write_scientific(char *out, const char *digits, int count, int exponent) {
    *out++ = digits[0];
    if (count > 1) {
        *out++ = '.';
        out = write_text(out, digits + 1, (size_t)(count - 1));
    }
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    const uint64_t magnitude = (uint64_t)(exponent < 0 ? -exponent : exponent);
    if (magnitude < 10) {
        *out++ = '0';
    }
    return out + write_digits(magnitude, out);
}

static char *write_finite(char *out, uint64_t magnitude) {
    const decimal d = strip_zeros(shortest_of_bits(magnitude));
    char digits[20];
    const int count = write_digits(d.digits, digits);
    const int whole = count + d.exponent; // digits before the point
    return whole > -4 && whole <= 16 ? write_plain(out, digits, count, whole)
                                     : write_scientific(out, digits, count, whole - 1);
}

size_t kk_number_format(double value, char text[KK_NUMBER_TEXT_SIZE]) {
    char *out = text;
    const uint64_t magnitude = kki_magnitude_bits(value);
    if (kki_is_negative(value) && !kki_is_nan(value)) {
        *out++ = '-';
    }
    if (magnitude >= KKI_INFINITY_BITS) {
        out = write_text(out, kki_is_nan(value) ? "nan" : "inf", 3);
    } else if (magnitude == 0) {
        *out++ = '0';
    } else {
        out = write_finite(out, magnitude);
    }
    *out = '\0';
    return (size_t)(out - text);
}

size_t kk_number_format_int(int64_t value, char text[KK_NUMBER_TEXT_SIZE]) {
    char *out = text;
    if (value < 0) {
        *out++ = '-';
    }
    out += write_digits(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, out);
    *out = '\0';
    return (size_t)(out - text);
}
