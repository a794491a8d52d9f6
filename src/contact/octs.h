/// Eight doubles side by side; quads.h for processors that have registers for it, with the same names. Both halves are two quads that know nothing of each other.
#ifndef KKI_CONTACT_OCTS_H
#define KKI_CONTACT_OCTS_H

#include <stdint.h>

#define BODY static inline __attribute__((always_inline))

typedef double oct __attribute__((vector_size(64), may_alias));
typedef int64_t mask __attribute__((vector_size(64), may_alias));
typedef double half_of_oct __attribute__((vector_size(32), may_alias));
typedef int64_t half_of_mask __attribute__((vector_size(32)));

/// a where the mask is set, b elsewhere.
BODY oct pick(mask m, oct a, oct b) {
    return (oct)(((mask)a & m) | ((mask)b & ~m));
}

BODY oct spread(double x) {
    return (oct){x, x, x, x, x, x, x, x};
}

BODY oct root(oct a) {
    return (oct){__builtin_sqrt(a[0]), __builtin_sqrt(a[1]), __builtin_sqrt(a[2]), __builtin_sqrt(a[3]),
                 __builtin_sqrt(a[4]), __builtin_sqrt(a[5]), __builtin_sqrt(a[6]), __builtin_sqrt(a[7])};
}

/// In both halves rows a to d become columns.
BODY void transpose(oct a, oct b, oct c, oct d, oct x[4]) {
    const oct ab = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14),
              ba = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
    const oct cd = __builtin_shufflevector(c, d, 0, 8, 2, 10, 4, 12, 6, 14),
              dc = __builtin_shufflevector(c, d, 1, 9, 3, 11, 5, 13, 7, 15);
    x[0] = __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13);
    x[1] = __builtin_shufflevector(ba, dc, 0, 1, 8, 9, 4, 5, 12, 13);
    x[2] = __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
    x[3] = __builtin_shufflevector(ba, dc, 2, 3, 10, 11, 6, 7, 14, 15);
}

#endif
