// Exact signs of determinants of whole numbers.
//
// Coordinates are whole numbers up to 2^52 in size, kept in doubles. A product of two differences has up to 106 bits and
// the determinant of three difference vectors up to 162, so 128 and 192 bits in two's complement hold everything.
#ifndef KARAKURI_GEOMETRY_EXACT_H
#define KARAKURI_GEOMETRY_EXACT_H

#include <stdbool.h>

#include "base/wide_integer.h"
#include <karakuri/math.h>

typedef struct kki_int192 {
    uint64_t word[3]; // lowest first, two's complement
} kki_int192;

/// A cross product with exact components: sign and size.
typedef struct kki_exact_cross {
    kki_uint128 size[3];
    bool negative[3];
} kki_exact_cross;

static inline bool kki_less128(kki_uint128 a, kki_uint128 b) {
    return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo;
}

static inline kki_uint128 kki_sub128(kki_uint128 a, kki_uint128 b) {
    return (kki_uint128){a.hi - b.hi - (a.lo < b.lo), a.lo - b.lo};
}

static inline kki_uint128 kki_add128(kki_uint128 a, kki_uint128 b) {
    const uint64_t lo = a.lo + b.lo;
    return (kki_uint128){a.hi + b.hi + (lo < a.lo), lo};
}

static inline uint64_t kki_size_of_whole(double x) {
    return (uint64_t)(x < 0 ? -x : x);
}

/// a d - b c for whole numbers
static inline void kki_exact_minor(double a, double b, double c, double d, kki_uint128 *size, bool *negative) {
    const kki_uint128 p = kki_multiply_wide(kki_size_of_whole(a), kki_size_of_whole(d));
    const kki_uint128 q = kki_multiply_wide(kki_size_of_whole(b), kki_size_of_whole(c));
    const bool p_negative = (a < 0) != (d < 0), q_negative = (b < 0) != (c < 0);
    if (p_negative != q_negative) {
        *size = kki_add128(p, q);
        *negative = p_negative;
        return;
    }
    const bool swapped = kki_less128(p, q);
    *size = swapped ? kki_sub128(q, p) : kki_sub128(p, q);
    *negative = p_negative != swapped;
}

/// u x v for vectors of whole numbers
static inline kki_exact_cross kki_exact_cross_of(kk_vec3 u, kk_vec3 v) {
    kki_exact_cross n;
    kki_exact_minor(u.y, u.z, v.y, v.z, &n.size[0], &n.negative[0]);
    kki_exact_minor(u.z, u.x, v.z, v.x, &n.size[1], &n.negative[1]);
    kki_exact_minor(u.x, u.y, v.x, v.y, &n.size[2], &n.negative[2]);
    return n;
}

static inline double kki_double_of128(kki_uint128 size, bool negative) {
    const double x = (double)size.hi * 18446744073709551616.0 + (double)size.lo;
    return negative ? -x : x;
}

/// The same rounded: each component within two units in its last place.
static inline kk_vec3 kki_rounded_cross(const kki_exact_cross *n) {
    return kk_vec3_make(kki_double_of128(n->size[0], n->negative[0]), kki_double_of128(n->size[1], n->negative[1]),
                        kki_double_of128(n->size[2], n->negative[2]));
}

// sum += sign * size * factor
static inline void kki_accumulate(kki_int192 *sum, kki_uint128 size, uint64_t factor, bool negative) {
    const kki_uint128 low = kki_multiply_wide(size.lo, factor), high = kki_multiply_wide(size.hi, factor);
    uint64_t word[3] = {low.lo, low.hi + high.lo, high.hi + (low.hi + high.lo < low.hi)};
    uint64_t carry = negative;
    for (int i = 0; i < 3; i++) {
        const uint64_t x = negative ? ~word[i] : word[i];
        const uint64_t partial = sum->word[i] + x, total = partial + carry;
        carry = (partial < x) | (total < partial);
        sum->word[i] = total;
    }
}

/// Sign of n . d: -1, 0 or 1.
static inline int kki_exact_dot_sign(const kki_exact_cross *n, kk_vec3 d) {
    const double part[3] = {d.x, d.y, d.z};
    kki_int192 sum = {{0, 0, 0}};
    for (int i = 0; i < 3; i++) {
        kki_accumulate(&sum, n->size[i], kki_size_of_whole(part[i]), n->negative[i] != (part[i] < 0));
    }
    if (sum.word[2] >> 63) {
        return -1;
    }
    return (sum.word[0] | sum.word[1] | sum.word[2]) != 0;
}

#endif
