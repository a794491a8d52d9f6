// A stable sort of 64-bit keys with a payload, without allocation: the one order for candidate pairs, contacts and
// names.
#ifndef KARAKURI_BASE_SORT_H
#define KARAKURI_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

typedef struct kki_sort_item {
    uint64_t key;
    uint64_t payload;
} kki_sort_item;

/// Sorts items[count] by rising key; equal keys keep their order. `scratch` holds `count` items too and comes back
/// undefined.
void kki_sort(kki_sort_item *items, size_t count, kki_sort_item *scratch);

#endif
