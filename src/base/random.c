// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011) and deviates made
// from it.
//
// The 128-bit counter is (counter, stream), the 64-bit key is the seed. Ten rounds of two 32 x 32 bit products pass all
// of TestU01.
#include <karakuri/elementary.h>
#include <karakuri/random.h>

#include "wide_integer.h"

enum { ROUNDS = 10 };
static const uint32_t MULTIPLIER_0 = 0xd2511f53u, MULTIPLIER_1 = 0xcd9e8d57u;
static const uint32_t WEYL_0 = 0x9e3779b9u, WEYL_1 = 0xbb67ae85u; // golden ratio, sqrt(3) - 1

static inline kk_random_words philox_round(kk_random_words c, uint32_t key_0, uint32_t key_1) {
    const uint64_t product_0 = (uint64_t)MULTIPLIER_0 * c.word[0];
    const uint64_t product_1 = (uint64_t)MULTIPLIER_1 * c.word[2];
    return (kk_random_words){{
        (uint32_t)(product_1 >> 32) ^ c.word[1] ^ key_0,
        (uint32_t)product_1,
        (uint32_t)(product_0 >> 32) ^ c.word[3] ^ key_1,
        (uint32_t)product_0,
    }};
}

kk_random_words kk_random_block(uint64_t seed, uint64_t stream, uint64_t counter) {
    kk_random_words c = {{(uint32_t)counter, (uint32_t)(counter >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)}};
    uint32_t key_0 = (uint32_t)seed, key_1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < ROUNDS; round++) {
        c = philox_round(c, key_0, key_1);
        key_0 += WEYL_0;
        key_1 += WEYL_1;
    }
    return c;
}

static inline uint64_t low_bits(kk_random_words w) {
    return w.word[0] | (uint64_t)w.word[1] << 32;
}

static inline uint64_t high_bits(kk_random_words w) {
    return w.word[2] | (uint64_t)w.word[3] << 32;
}

// [0, 1) from 53 bits
static inline double unit_uniform(uint64_t bits) {
    return (double)(int64_t)(bits >> 11) * 0x1p-53;
}

// (0, 1): the middles of 2^52 equal intervals
static inline double open_uniform(uint64_t bits) {
    return ((double)(int64_t)(bits >> 12) + 0.5) * 0x1p-52;
}

double kk_random_uniform_at(uint64_t seed, uint64_t stream, uint64_t counter) {
    return unit_uniform(low_bits(kk_random_block(seed, stream, counter)));
}

double kk_random_normal_at(uint64_t seed, uint64_t stream, uint64_t counter) {
    const kk_random_words block = kk_random_block(seed, stream, counter);
    const double radius = kk_sqrt(-2.0 * kk_log(open_uniform(low_bits(block))));
    return radius * kk_cos(KK_TWO_PI * unit_uniform(high_bits(block)));
}

uint64_t kk_random_next_uint64(kk_random *random) {
    return low_bits(kk_random_block(random->seed, random->stream, random->counter++));
}

// Lemire, "Fast random integer generation in an interval", ACM TOMACS 29 (2019): the high word of bits * bound, with
// the few low words rejected that would favor some results
uint64_t kk_random_next_below(kk_random *random, uint64_t bound) {
    kki_uint128 product = kki_multiply_wide(kk_random_next_uint64(random), bound);
    if (product.lo < bound) {
        const uint64_t unfair = (0 - bound) % bound;
        while (product.lo < unfair) {
            product = kki_multiply_wide(kk_random_next_uint64(random), bound);
        }
    }
    return product.hi;
}

double kk_random_next_uniform(kk_random *random) {
    return unit_uniform(kk_random_next_uint64(random));
}

double kk_random_next_between(kk_random *random, double low, double high) {
    const double u = open_uniform(kk_random_next_uint64(random));
    // a sum of two products does not overflow where the difference would; rounding may still reach an end
    const double value = low * (1.0 - u) + high * u;
    if (value > low && value < high) {
        return value;
    }
    const double middle = 0.5 * low + 0.5 * high;
    return middle > low && middle < high ? middle : low;
}

double kk_random_next_normal(kk_random *random) {
    return kk_random_normal_at(random->seed, random->stream, random->counter++);
}
