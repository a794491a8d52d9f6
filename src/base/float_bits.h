// Doubles and their bits.
#ifndef KARAKURI_BASE_FLOAT_BITS_H
#define KARAKURI_BASE_FLOAT_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/strict_float.h"

#define KKI_SIGN_BIT 0x8000000000000000u
#define KKI_INFINITY_BITS 0x7ff0000000000000u
#define KKI_FRACTION_BITS 0x000fffffffffffffu
#define KKI_IMPLICIT_BIT 0x0010000000000000u

static inline uint64_t kki_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double kki_double(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t kki_float_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float kki_float(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/// The nearest single-precision number, as a double. Through memory: GCC 12 drops the two conversions where it makes
/// vectors of pairs of them.
static inline double kki_single(double x) {
    volatile float rounded = (float)x;
    return rounded;
}

static inline uint64_t kki_magnitude_bits(double x) {
    return kki_bits(x) & ~KKI_SIGN_BIT;
}

static inline double kki_abs(double x) {
    return kki_double(kki_magnitude_bits(x));
}

static inline double kki_copy_sign(double magnitude, double sign) {
    return kki_double(kki_magnitude_bits(magnitude) | (kki_bits(sign) & KKI_SIGN_BIT));
}

static inline bool kki_is_negative(double x) {
    return (kki_bits(x) & KKI_SIGN_BIT) != 0;
}

static inline bool kki_is_nan(double x) {
    return kki_magnitude_bits(x) > KKI_INFINITY_BITS;
}

static inline bool kki_is_infinite(double x) {
    return kki_magnitude_bits(x) == KKI_INFINITY_BITS;
}

static inline bool kki_is_finite(double x) {
    return kki_magnitude_bits(x) < KKI_INFINITY_BITS;
}

/// Whether all of n numbers are; several sums, because one would wait for itself.
static inline bool kki_are_finite(const double *x, int n) {
    double sum[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) {
            sum[k] += x[i + k] * 0; // zero, or no number
        }
    }
    for (; i < n; i++) {
        sum[0] += x[i] * 0;
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) == 0;
}

static inline double kki_infinity(void) {
    return kki_double(KKI_INFINITY_BITS);
}

/// The one quiet NaN the library makes. 0/0 would have its sign set on x86 and clear on ARM.
static inline double kki_nan(void) {
    return kki_double(0x7ff8000000000000u);
}

/// Exponent field minus the bias: floor(log2 |x|) for normal x, -1023 for zero and denormals, 1024 for infinity and
/// NaN.
static inline int kki_exponent(double x) {
    return (int)((kki_bits(x) >> 52) & 0x7ff) - 1023;
}

/// 2^n for -1022 <= n <= 1023.
static inline double kki_power_of_two(int n) {
    return kki_double((uint64_t)(n + 1023) << 52);
}

#endif
