// Disjoint sets in one array: parent[i] is i itself for the root of a set. Roots are the smallest of their sets, whatever the order of unions.
#ifndef KARAKURI_BASE_SETS_H
#define KARAKURI_BASE_SETS_H

#include <stdint.h>

/// Root of i's set; the path is halved on the way.
static inline int32_t kki_sets_find(int32_t *parent, int32_t i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static inline void kki_sets_unite(int32_t *parent, int32_t a, int32_t b) {
    const int32_t x = kki_sets_find(parent, a), y = kki_sets_find(parent, b);
    parent[x < y ? y : x] = x < y ? x : y;
}

#endif
