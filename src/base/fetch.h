/// Fetching ahead: memory that will be wanted soon, where thousands of things are too many for the caches. No more than a hint: nothing is read, so what is asked for may lie
/// behind the end of a list.
#ifndef KKI_BASE_FETCH_H
#define KKI_BASE_FETCH_H

#include <stddef.h>

enum { KKI_LINE = 64 };

/// `bytes` from an address on. Always in line: GCC takes a function that does nothing but fetch for one that does nothing, and leaves it out.
static inline __attribute__((always_inline)) void kki_fetch(const void *from, size_t bytes) {
    for (size_t k = 0; k < bytes; k += KKI_LINE) {
        __builtin_prefetch((const char *)from + k);
    }
}

#endif
