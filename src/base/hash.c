// XXH64, written from its specification (Collet, "xxHash fast digest algorithm", doc/xxhash_spec.md, version 0.2).
//
// Four lanes eat 32-byte stripes; the lanes are merged, the rest of up to 31 bytes is folded in by 8, 4 and 1, and a
// final avalanche spreads every bit. All reads are little-endian by construction.
#include <karakuri/hash.h>

#include <string.h>

#include "float_bits.h"

static const uint64_t PRIME_1 = 0x9e3779b185ebca87u, PRIME_2 = 0xc2b2ae3d27d4eb4fu, PRIME_3 = 0x165667b19e3779f9u,
                      PRIME_4 = 0x85ebca77c2b2ae63u, PRIME_5 = 0x27d4eb2f165667c5u;

enum { STRIPE = 32 };

static inline uint64_t rotate_left(uint64_t x, int bits) {
    return (x << bits) | (x >> (64 - bits));
}

static inline uint64_t read_little(const unsigned char *bytes, int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; i++) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    return value;
}

static inline void write_little(uint64_t value, unsigned char bytes[8]) {
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(value >> (8 * i));
    }
}

static inline uint64_t read_little8(const unsigned char *bytes) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t value; // one load; not every compiler sees it in the loop
    memcpy(&value, bytes, sizeof value);
    return value;
#else
    return read_little(bytes, 8);
#endif
}

static inline uint64_t mix_round(uint64_t lane, uint64_t input) {
    return rotate_left(lane + input * PRIME_2, 31) * PRIME_1;
}

static void eat_stripe(uint64_t lane[4], const unsigned char *bytes) {
    for (int i = 0; i < 4; i++) {
        lane[i] = mix_round(lane[i], read_little8(bytes + 8 * i));
    }
}

static uint64_t merge_lanes(const uint64_t lane[4]) {
    uint64_t h =
        rotate_left(lane[0], 1) + rotate_left(lane[1], 7) + rotate_left(lane[2], 12) + rotate_left(lane[3], 18);
    for (int i = 0; i < 4; i++) {
        h = (h ^ mix_round(0, lane[i])) * PRIME_1 + PRIME_4;
    }
    return h;
}

static uint64_t fold_rest(uint64_t h, const unsigned char *bytes, size_t size) {
    for (; size >= 8; bytes += 8, size -= 8) {
        h = rotate_left(h ^ mix_round(0, read_little8(bytes)), 27) * PRIME_1 + PRIME_4;
    }
    if (size >= 4) {
        h = rotate_left(h ^ read_little(bytes, 4) * PRIME_1, 23) * PRIME_2 + PRIME_3;
        bytes += 4, size -= 4;
    }
    for (; size > 0; bytes++, size--) {
        h = rotate_left(h ^ *bytes * PRIME_5, 11) * PRIME_1;
    }
    return h;
}

static uint64_t avalanche(uint64_t h) {
    h = (h ^ (h >> 33)) * PRIME_2;
    h = (h ^ (h >> 29)) * PRIME_3;
    return h ^ (h >> 32);
}

kk_hash kk_hash_begin(uint64_t seed) {
    return (kk_hash){
        .lane = {seed + PRIME_1 + PRIME_2, seed + PRIME_2, seed, seed - PRIME_1},
        .seed = seed,
    };
}

// fills the pending stripe and eats it when full; returns how many bytes it took
static size_t fill_pending(kk_hash *hash, const unsigned char *bytes, size_t size) {
    const size_t pending = hash->size % STRIPE;
    const size_t room = STRIPE - pending;
    const size_t taken = size < room ? size : room;
    memcpy(hash->pending + pending, bytes, taken);
    hash->size += taken;
    if (taken == room) {
        eat_stripe(hash->lane, hash->pending);
    }
    return taken;
}

void kk_hash_update(kk_hash *hash, const void *data, size_t size) {
    const unsigned char *bytes = data;
    if (size > 0 && hash->size % STRIPE != 0) {
        const size_t taken = fill_pending(hash, bytes, size);
        bytes += taken, size -= taken;
    }
    for (; size >= STRIPE; bytes += STRIPE, size -= STRIPE) {
        eat_stripe(hash->lane, bytes);
        hash->size += STRIPE;
    }
    if (size > 0) {
        fill_pending(hash, bytes, size);
    }
}

void kk_hash_update_uint64(kk_hash *hash, uint64_t value) {
    unsigned char bytes[8];
    write_little(value, bytes);
    kk_hash_update(hash, bytes, sizeof bytes);
}

// bits that are equal wherever the values are
static uint64_t canonical_bits(double value) {
    if (value == 0.0) {
        return 0;
    }
    return kki_is_nan(value) ? kki_bits(kki_nan()) : kki_bits(value);
}

void kk_hash_update_doubles(kk_hash *hash, const double *values, size_t count) {
    enum { PORTION = 32 };
    unsigned char bytes[8 * PORTION];
    while (count > 0) {
        const size_t n = count < PORTION ? count : PORTION;
        for (size_t i = 0; i < n; i++) {
            write_little(canonical_bits(values[i]), bytes + 8 * i);
        }
        kk_hash_update(hash, bytes, 8 * n);
        values += n, count -= n;
    }
}

uint64_t kk_hash_finish(const kk_hash *hash) {
    const uint64_t merged = hash->size >= STRIPE ? merge_lanes(hash->lane) : hash->seed + PRIME_5;
    return avalanche(fold_rest(merged + hash->size, hash->pending, hash->size % STRIPE));
}

uint64_t kk_hash_bytes(const void *bytes, size_t size, uint64_t seed) {
    kk_hash hash = kk_hash_begin(seed);
    kk_hash_update(&hash, bytes, size);
    return kk_hash_finish(&hash);
}

uint64_t kk_hash_doubles(const double *values, size_t count, uint64_t seed) {
    kk_hash hash = kk_hash_begin(seed);
    kk_hash_update_doubles(&hash, values, count);
    return kk_hash_finish(&hash);
}
