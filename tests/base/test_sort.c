// The sort: ordered, stable, a permutation; few and many items, keys of few and many bytes.
#include "harness.h"

#include <stdlib.h>

#include "base/sort.h"

static void check_sorted(size_t count, uint64_t key_mask) {
    kki_sort_item *items = calloc(count + 1, sizeof *items), *scratch = calloc(count + 1, sizeof *scratch);
    uint64_t state = 0x123456789abcdefu + count, sum = 0, sorted_sum = 0;
    for (size_t i = 0; i < count; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        items[i] = (kki_sort_item){state & key_mask, i};
        sum += items[i].key * (2 * i + 1);
    }
    kki_sort(items, count, scratch);
    for (size_t i = 0; i < count; i++) {
        sorted_sum += items[i].key * (2 * items[i].payload + 1);
        if (i > 0) {
            KK_CHECK(items[i - 1].key <= items[i].key);
            KK_CHECK(items[i - 1].key != items[i].key || items[i - 1].payload < items[i].payload);
        }
    }
    KK_CHECK(sum == sorted_sum);
    free(items);
    free(scratch);
}

KK_TEST(sort_is_ordered_and_stable) {
    static const size_t COUNTS[] = {0, 1, 2, 31, 32, 33, 100, 5000};
    static const uint64_t MASKS[] = {0, 1, 0xf, 0xff00, 0xffff, 0xf0f0f0f0f0f0f0f0u, UINT64_MAX};
    for (size_t c = 0; c < sizeof COUNTS / sizeof *COUNTS; c++) {
        for (size_t m = 0; m < sizeof MASKS / sizeof *MASKS; m++) {
            check_sorted(COUNTS[c], MASKS[m]);
        }
    }
}
