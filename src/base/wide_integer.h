// 64 x 64 -> 128 bit products, with and without a 128-bit type.
//
// wasm32 has the type but calls a compiler library for its product, so it takes the portable way. Integers: both give
// the same result.
#ifndef KARAKURI_BASE_WIDE_INTEGER_H
#define KARAKURI_BASE_WIDE_INTEGER_H

#include <stdint.h>

typedef struct kki_uint128 {
    uint64_t hi, lo;
} kki_uint128;

#if defined(__SIZEOF_INT128__) && !defined(__wasm__)
__extension__ typedef unsigned __int128 kki_native_uint128;

static inline kki_uint128 kki_multiply_wide(uint64_t a, uint64_t b) {
    const kki_native_uint128 p = (kki_native_uint128)a * b;
    return (kki_uint128){(uint64_t)(p >> 64), (uint64_t)p};
}
#else
static inline kki_uint128 kki_multiply_wide(uint64_t a, uint64_t b) {
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t low = a0 * b0;
    const uint64_t middle = a1 * b0 + (low >> 32);
    const uint64_t cross = a0 * b1 + (uint32_t)middle;
    return (kki_uint128){a1 * b1 + (middle >> 32) + (cross >> 32), (cross << 32) | (uint32_t)low};
}
#endif

/// Number of zero bits above the highest one. x is not 0.
static inline int kki_leading_zeros(uint64_t x) {
    return __builtin_clzll(x);
}

#endif
