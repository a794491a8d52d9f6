// Decimal text to the nearest double, ties to even.
//
// Three ways, each taken where the one before cannot decide:
//   1. at most 2^53 and a power of ten up to 10^22: both are doubles, so one multiplication or division rounds
//      correctly (Clinger, "How to read floating point numbers accurately", PLDI 1990);
//   2. the first 19 digits times a power of ten of 128 bits: the product is known to lie in an interval of width 2 in
//      its 128th bit, and unless a point halfway between two doubles lies there the rounding is certain (after Lemire,
//      "Number parsing at a gigabyte per second", Software: Practice and Experience 51, 2021);
//   3. whole numbers: the decimal is compared with the halfway point above the candidate of way 2.
// A halfway point has at most 767 significant digits. Of longer texts way 3 keeps 780 digits and whether any of the
// rest is not zero, so memory is bounded: 780 digits are 2592 bits, and the smallest halfway point as a fraction over
// 10^1124 has 2665.
#include <karakuri/number.h>

#include "../float_bits.h"
#include "big_integer.h"
#include "powers.h"

enum { LEADING_DIGITS = 19, EXACT_DIGITS = 780 };

// a text split into parts: value = +-leading * 10^exponent, plus less than 10^exponent if there are more digits that
// are not zero
typedef struct decimal {
    const char *digits, *digits_end; // digits and at most one point
    uint64_t leading;                // the first 19 significant digits
    int64_t exponent;
    int64_t written_exponent; // what stands after e
    bool has_more;            // a digit other than zero after the leading ones
    bool negative;
} decimal;

static inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static inline char lower_case(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

// length of `word` where the text starts with it in any case, else 0
static size_t match_word(const char *text, const char *end, const char *word) {
    size_t n = 0;
    while (word[n] != '\0') {
        if (text + n == end || lower_case(text[n]) != word[n]) {
            return 0;
        }
        n++;
    }
    return n;
}

static size_t match_not_finite(const char *text, const char *end) {
    size_t n = match_word(text, end, "infinity");
    n = n ? n : match_word(text, end, "inf");
    return n ? n : match_word(text, end, "nan");
}

// digits and point; returns the end, or NULL where there is no digit
static const char *scan_digits(const char *p, const char *end, decimal *d) {
    bool any = false, after_point = false;
    int count = 0;
    d->digits = p;
    for (; p != end; p++) {
        if (*p == '.' && !after_point) {
            after_point = true;
            continue;
        }
        if (!is_digit(*p)) {
            break;
        }
        any = true;
        const unsigned digit = (unsigned)(*p - '0');
        const bool is_leading = count < LEADING_DIGITS;
        if (is_leading) {
            d->leading = 10 * d->leading + digit;
            count += d->leading != 0;
        } else {
            d->has_more |= digit != 0;
        }
        d->exponent += is_leading ? -(int64_t)after_point : !after_point;
    }
    d->digits_end = p;
    return any ? p : NULL;
}

// an exponent if a whole one stands here; returns its end or p itself
static const char *scan_exponent(const char *p, const char *end, decimal *d) {
    const char *start = p;
    if (p == end || lower_case(*p) != 'e') {
        return start;
    }
    p++;
    const bool negative = p != end && *p == '-';
    if (p != end && (*p == '-' || *p == '+')) {
        p++;
    }
    if (p == end || !is_digit(*p)) {
        return start;
    }
    const int64_t enough = 100000000000000000; // no text is so long that its digits could make up for more
    int64_t exponent = 0;
    for (; p != end && is_digit(*p); p++) {
        exponent = exponent < enough ? 10 * exponent + (*p - '0') : exponent;
    }
    d->written_exponent = negative ? -exponent : exponent;
    d->exponent += d->written_exponent;
    return p;
}

// way 1; true where it applies
static bool round_small(const decimal *d, double *value) {
    static const double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (d->leading > (uint64_t)1 << 53 || d->has_more || d->exponent < -22 || d->exponent > 22) {
        return false;
    }
    const double whole = (double)(int64_t)d->leading;
    *value = d->exponent < 0 ? whole / POWERS[-d->exponent] : whole * POWERS[d->exponent];
    return true;
}

// product.hi:product.lo <= w 10^q 2^(63 - floor(log2 10^q)) < that + 2; the third word tells the rest where the power
// is exact
static kki_uint128 multiply_power_of_ten(uint64_t w, int q, uint64_t *rest) {
    const kki_uint128 power = kki_power_of_ten(q);
    const kki_uint128 low = kki_multiply_wide(w, power.lo);
    kki_uint128 product = kki_multiply_wide(w, power.hi);
    product.lo += low.hi;
    product.hi += product.lo < low.hi;
    *rest = low.lo;
    return product;
}

typedef struct rounding {
    uint64_t bits; // of the nearest double, or where uncertain of the one below
    bool certain;
} rounding;

// rounds product * 2^exponent, a product with its highest bit at 126 or 127
static rounding round_product(kki_uint128 product, int exponent, bool exact, uint64_t rest) {
    const int top = (product.hi >> 63) ? 127 : 126;
    const int binary_exponent = exponent + top;
    const int denormal_bits = binary_exponent < -1022 ? -1022 - binary_exponent : 0;
    if (denormal_bits > 53) {
        return (rounding){0, true};
    }
    // the high word's last `dropped` bits and all of the low word lie below the last place
    const int dropped = top - 52 + denormal_bits - 64;
    const uint64_t mantissa = dropped < 64 ? product.hi >> dropped : 0;
    const uint64_t below = product.hi - (dropped < 64 ? mantissa << dropped : 0);
    const uint64_t half = (uint64_t)1 << (dropped - 1);
    uint64_t bits = mantissa;
    if (denormal_bits == 0) {
        bits += (uint64_t)(binary_exponent + 1022) << 52; // the implicit bit adds the missing one
    }
    const bool at_half = below == half && product.lo == 0;
    const bool just_below_half = below == half - 1 && product.lo == UINT64_MAX;
    if (!exact && (at_half || just_below_half)) {
        return (rounding){bits, false};
    }
    const bool tie = at_half && rest == 0;
    const bool up = tie ? (mantissa & 1) != 0 : below >= half;
    return (rounding){bits + up, true};
}

// way 2: the double nearest to w 10^q
static rounding round_leading(uint64_t w, int64_t q64) {
    if (w == 0 || q64 < KKI_POWER_OF_TEN_FIRST) {
        return (rounding){0, true}; // below 2^64 10^-343, less than half the smallest denormal
    }
    if (q64 > 308) {
        return (rounding){KKI_INFINITY_BITS, true};
    }
    const int q = (int)q64;
    const int zeros = kki_leading_zeros(w);
    uint64_t rest;
    const kki_uint128 product = multiply_power_of_ten(w << zeros, q, &rest);
    const bool exact = q >= 0 && q <= KKI_POWER_OF_TEN_LAST_EXACT;
    rounding r = round_product(product, kki_log2_of_power_of_ten(q) - 63 - zeros, exact, rest);
    if (r.bits > KKI_INFINITY_BITS) {
        r.bits = KKI_INFINITY_BITS;
    }
    return r;
}

// up to 780 significant digits as a whole number; value = (number + less than 1 if *has_more) * 10^*exponent
static kki_big exact_digits(const decimal *d, int64_t *exponent, bool *has_more) {
    kki_big number = kki_big_from(0);
    int count = 0;
    bool after_point = false;
    *exponent = d->written_exponent;
    *has_more = false;
    for (const char *p = d->digits; p != d->digits_end; p++) {
        if (*p == '.') {
            after_point = true;
            continue;
        }
        const bool is_kept = count < EXACT_DIGITS;
        if (is_kept) {
            kki_big_multiply_add(&number, 10, (uint64_t)(*p - '0'));
            count += number.size != 0;
        } else {
            *has_more |= *p != '0';
        }
        *exponent += is_kept ? -(int64_t)after_point : !after_point;
    }
    return number;
}

// sign of the decimal minus the point halfway between the finite double of these bits and the next
static int compare_with_halfway(const decimal *d, uint64_t bits) {
    int64_t decimal_exponent;
    bool has_more;
    kki_big left = exact_digits(d, &decimal_exponent, &has_more);
    // halfway = (2 mantissa + 1) 2^binary_exponent
    const int biased = (int)(bits >> 52);
    const uint64_t mantissa = (bits & KKI_FRACTION_BITS) | (biased > 0 ? KKI_IMPLICIT_BIT : 0);
    const int binary_exponent = (biased > 0 ? biased : 1) - 1076;
    kki_big right = kki_big_from(2 * mantissa + 1);
    const int q = (int)decimal_exponent;
    kki_big_multiply_power_of_five(q >= 0 ? &left : &right, q >= 0 ? q : -q);
    const int shift = q - binary_exponent;
    kki_big_shift_left(shift >= 0 ? &left : &right, shift >= 0 ? shift : -shift);
    const int order = kki_big_compare(&left, &right);
    return order == 0 && has_more ? 1 : order;
}

// way 3: the decimal is nearest to the double of these bits or to the next
static uint64_t round_exactly(const decimal *d, uint64_t bits) {
    const int order = compare_with_halfway(d, bits);
    const bool up = order > 0 || (order == 0 && (bits & 1));
    return bits + up;
}

// bits of the nearest double to the magnitude
static uint64_t round_decimal(const decimal *d) {
    double value;
    if (round_small(d, &value)) {
        return kki_bits(value);
    }
    const rounding low = round_leading(d->leading, d->exponent);
    if (!low.certain) {
        return round_exactly(d, low.bits);
    }
    if (d->has_more) {
        // between leading and leading + 1: at most one halfway point lies there
        const rounding high = round_leading(d->leading + 1, d->exponent);
        if (!high.certain || high.bits != low.bits) {
            return round_exactly(d, low.bits);
        }
    }
    return low.bits;
}

static kk_status finish(kk_status status, const char *text, const char *end, size_t *used) {
    if (used) {
        *used = (size_t)(end - text);
    }
    return status;
}

kk_status kk_number_parse(const char *text, size_t length, double *value, size_t *used) {
    const char *p = text, *end = text + length;
    decimal d = {0};
    if (p != end && (*p == '-' || *p == '+')) {
        d.negative = *p == '-';
        p++;
    }
    const size_t word = match_not_finite(p, end);
    if (word > 0) {
        return finish(KK_NOT_FINITE, text, p + word, used);
    }
    p = scan_digits(p, end, &d);
    if (!p) {
        return finish(KK_SYNTAX, text, text, used);
    }
    p = scan_exponent(p, end, &d);
    const uint64_t bits = round_decimal(&d);
    if (bits >= KKI_INFINITY_BITS) {
        return finish(KK_NOT_FINITE, text, p, used);
    }
    *value = kki_double(bits | (d.negative ? KKI_SIGN_BIT : 0));
    return finish(KK_OK, text, p, used);
}

kk_status kk_number_parse_int(const char *text, size_t length, int64_t *value, size_t *used) {
    const char *p = text, *end = text + length;
    const bool negative = p != end && *p == '-';
    if (p != end && (*p == '-' || *p == '+')) {
        p++;
    }
    if (p == end || !is_digit(*p)) {
        return finish(KK_SYNTAX, text, text, used);
    }
    // downwards, since the negative range is the larger one
    int64_t sum = 0;
    bool fits = true;
    for (; p != end && is_digit(*p); p++) {
        fits = fits && !__builtin_mul_overflow(sum, 10, &sum) && !__builtin_sub_overflow(sum, *p - '0', &sum);
    }
    if (!fits || (!negative && sum == INT64_MIN)) {
        return finish(KK_LIMIT_EXCEEDED, text, p, used);
    }
    *value = negative ? sum : -sum;
    return finish(KK_OK, text, p, used);
}
