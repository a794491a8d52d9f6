/// Four doubles side by side, for kernels that take four contacts at a time: written once and inlined for every instruction set.
#ifndef KKI_CONTACT_QUADS_H
#define KKI_CONTACT_QUADS_H

#include <stdint.h>

#define BODY static inline __attribute__((always_inline))

typedef double quad __attribute__((vector_size(32), may_alias));
/// In memory of any alignment.
typedef double loose_quad __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t mask __attribute__((vector_size(32), may_alias));

/// a where the mask is set, b elsewhere.
BODY quad pick(mask m, quad a, quad b) {
    return (quad)(((mask)a & m) | ((mask)b & ~m));
}

BODY quad spread(double x) {
    return (quad){x, x, x, x};
}

/// The first `count` of four numbers, and zeros behind them.
BODY quad load_some(const double *x, int count) {
    if (count >= 4) {
        return *(const loose_quad *)x;
    }
    return (quad){x[0], count > 1 ? x[1] : 0, count > 2 ? x[2] : 0, 0};
}

BODY quad root(quad a) {
    return (quad){__builtin_sqrt(a[0]), __builtin_sqrt(a[1]), __builtin_sqrt(a[2]), __builtin_sqrt(a[3])};
}

/// Rows a to d become columns.
BODY void transpose(quad a, quad b, quad c, quad d, quad x[4]) {
    const quad ab = __builtin_shufflevector(a, b, 0, 4, 2, 6), ba = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const quad cd = __builtin_shufflevector(c, d, 0, 4, 2, 6), dc = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    x[0] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    x[1] = __builtin_shufflevector(ba, dc, 0, 1, 4, 5);
    x[2] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    x[3] = __builtin_shufflevector(ba, dc, 2, 3, 6, 7);
}

#endif
