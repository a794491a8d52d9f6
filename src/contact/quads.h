/// Four doubles side by side, for kernels that take four contacts at a time: written once and inlined for every instruction set.
#ifndef KKI_CONTACT_QUADS_H
#define KKI_CONTACT_QUADS_H

#include <stdint.h>

#define BODY static inline __attribute__((always_inline))

typedef double quad __attribute__((vector_size(32), may_alias));
typedef int64_t mask __attribute__((vector_size(32), may_alias));

/// a where the mask is set, b elsewhere.
BODY quad pick(mask m, quad a, quad b) {
    return (quad)(((mask)a & m) | ((mask)b & ~m));
}

BODY quad spread(double x) {
    return (quad){x, x, x, x};
}

BODY quad root(quad a) {
    return (quad){__builtin_sqrt(a[0]), __builtin_sqrt(a[1]), __builtin_sqrt(a[2]), __builtin_sqrt(a[3])};
}

#endif
