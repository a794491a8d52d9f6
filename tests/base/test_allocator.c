// The allocator calls: alignment, overflow, sizes given back as asked, failure.
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocator.h"

typedef struct ledger {
    size_t balance;
    int calls;
    bool fail;
} ledger;

static void *ledger_allocate(void *user, size_t size, size_t alignment) {
    ledger *l = user;
    KK_CHECK(size > 0);
    KK_CHECK_EQ_INT(alignment, 64);
    l->calls++;
    if (l->fail) {
        return NULL;
    }
    l->balance += size;
    return aligned_alloc(alignment, (size + 63) / 64 * 64);
}

static void ledger_release(void *user, void *block, size_t size) {
    ledger *l = user;
    l->balance -= size;
    free(block);
}

KK_TEST(allocator_default_is_aligned_and_writable) {
    for (size_t size = 0; size < 300; size += 37) {
        unsigned char *block = kki_allocate(NULL, size);
        KK_CHECK(block != NULL);
        KK_CHECK_EQ_INT((uintptr_t)block % 64, 0);
        memset(block, 0xff, size);
        kki_release(NULL, block, size);
    }
}

KK_TEST(allocator_refuses_overflow) {
    ledger l = {0};
    const kk_allocator a = {ledger_allocate, ledger_release, &l};
    KK_CHECK(kki_allocate_array(&a, SIZE_MAX / 8 + 1, 8) == NULL);
    KK_CHECK(kki_allocate_array_zeroed(&a, SIZE_MAX / 2, 3) == NULL);
    KK_CHECK_EQ_INT(l.calls, 0);
    KK_CHECK(kki_allocate(NULL, SIZE_MAX) == NULL);
    KK_CHECK(kki_allocate(NULL, SIZE_MAX - 64) == NULL);
}

KK_TEST(allocator_gets_its_sizes_back) {
    ledger l = {0};
    const kk_allocator a = {ledger_allocate, ledger_release, &l};
    void *none = kki_allocate(&a, 0);
    KK_CHECK(none != NULL);
    double *zeroed = kki_allocate_array_zeroed(&a, 100, sizeof *zeroed);
    for (int i = 0; i < 100; i++) {
        KK_CHECK(zeroed[i] == 0.0);
    }
    KK_CHECK_EQ_INT(l.balance, 801);
    kki_release_array(&a, zeroed, 100, sizeof *zeroed);
    kki_release(&a, none, 0);
    kki_release(&a, NULL, 5);
    KK_CHECK_EQ_INT(l.balance, 0);
    l.fail = true;
    KK_CHECK(kki_allocate_zeroed(&a, 10) == NULL);
}
