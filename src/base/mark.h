/// A mark of numbers by which a later look tells whether somebody has written them: a few instructions a number, in every step. It is no hash for files or
/// strangers (hash.h has that): what it must tell apart are numbers that were and numbers that are.
#ifndef KKI_BASE_MARK_H
#define KKI_BASE_MARK_H

#include <stddef.h>

#include "base/float_bits.h"

static inline uint64_t kki_mark_one(uint64_t lane, double x) {
    lane ^= kki_bits(x + 0.0); // −0 is 0
    return (lane << 29 | lane >> 35) * 0x9e3779b185ebca87u;
}

/// Of n numbers that are finite, behind those that `mark` is of. Four lanes, so that no product waits for the one before.
static inline uint64_t kki_mark(const double *x, size_t n, uint64_t mark) {
    uint64_t lane[4] = {mark, mark + 1, mark + 2, mark + 3};
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (size_t l = 0; l < 4; l++) {
            lane[l] = kki_mark_one(lane[l], x[i + l]);
        }
    }
    for (; i < n; i++) {
        lane[i % 4] = kki_mark_one(lane[i % 4], x[i]);
    }
    uint64_t all = lane[0];
    for (size_t l = 1; l < 4; l++) {
        all = ((all ^ lane[l]) << 31 | (all ^ lane[l]) >> 33) * 0xc2b2ae3d27d4eb4fu;
    }
    return all ^ all >> 32;
}

#endif
