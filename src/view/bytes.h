/// Numbers as little-endian bytes, one behind the other.
#ifndef KKI_VIEW_BYTES_H
#define KKI_VIEW_BYTES_H

#include <string.h>

#include <karakuri/math.h>

#include "base/float_bits.h"

typedef struct kki_bytes {
    unsigned char *at;
} kki_bytes;

static inline void kki_put_u32(kki_bytes *b, uint32_t value) {
    for (int i = 0; i < 4; i++) {
        *b->at++ = (unsigned char)(value >> (8 * i));
    }
}

static inline void kki_put_u64(kki_bytes *b, uint64_t value) {
    kki_put_u32(b, (uint32_t)value);
    kki_put_u32(b, (uint32_t)(value >> 32));
}

static inline void kki_put_f64(kki_bytes *b, double value) {
    kki_put_u64(b, kki_bits(value));
}

static inline void kki_put_f32(kki_bytes *b, double value) {
    const float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    kki_put_u32(b, bits);
}

static inline void kki_put_vec3(kki_bytes *b, kk_vec3 v) {
    kki_put_f32(b, v.x);
    kki_put_f32(b, v.y);
    kki_put_f32(b, v.z);
}

/// Zeros where `values` is NULL.
static inline void kki_put_doubles(kki_bytes *b, const double *values, int count) {
    for (int i = 0; i < count; i++) {
        kki_put_f32(b, values ? values[i] : 0);
    }
}

#endif
