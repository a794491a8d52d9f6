// Radix sort from the lowest byte up (Knuth, TAOCP vol. 3, 5.2.5), insertion sort for few items.
//
// Each pass distributes by one byte and keeps the order of equals, so the whole is stable and the result depends on the
// items alone. Bytes that are the same in all keys are skipped, which leaves two to four passes for keys made of small
// ids.
#include "sort.h"

#include <string.h>

enum { FEW = 32, BUCKETS = 256 };

static void insertion_sort(kki_sort_item *items, size_t count) {
    for (size_t i = 1; i < count; i++) {
        const kki_sort_item item = items[i];
        size_t j = i;
        while (j > 0 && items[j - 1].key > item.key) {
            items[j] = items[j - 1];
            j--;
        }
        items[j] = item;
    }
}

// bits that are not the same in all keys
static uint64_t varying_bits(const kki_sort_item *items, size_t count) {
    uint64_t varying = 0;
    for (size_t i = 1; i < count; i++) {
        varying |= items[i].key ^ items[0].key;
    }
    return varying;
}

static void distribute(const kki_sort_item *from, kki_sort_item *to, size_t count, int shift) {
    size_t place[BUCKETS] = {0};
    for (size_t i = 0; i < count; i++) {
        place[(from[i].key >> shift) & 0xff]++;
    }
    size_t start = 0;
    for (int b = 0; b < BUCKETS; b++) {
        const size_t size = place[b];
        place[b] = start;
        start += size;
    }
    for (size_t i = 0; i < count; i++) {
        to[place[(from[i].key >> shift) & 0xff]++] = from[i];
    }
}

void kki_sort(kki_sort_item *items, size_t count, kki_sort_item *scratch) {
    if (count <= FEW) {
        insertion_sort(items, count);
        return;
    }
    const uint64_t varying = varying_bits(items, count);
    kki_sort_item *from = items, *to = scratch;
    for (int shift = 0; shift < 64; shift += 8) {
        if ((varying >> shift) & 0xff) {
            distribute(from, to, count, shift);
            kki_sort_item *swap = from;
            from = to;
            to = swap;
        }
    }
    if (from != items) {
        memcpy(items, from, count * sizeof *items);
    }
}
