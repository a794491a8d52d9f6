// The default allocator and the checked calls around any allocator.
#if defined(__linux__)
#define _DEFAULT_SOURCE // for madvise
#include <sys/mman.h>
#endif
#include "allocator.h"

#include <stdlib.h>
#include <string.h>

/// Blocks from this size on ask for large pages. A step over ten thousand bodies goes through tens of megabytes in several orders, and looking up
/// small pages is a tenth of its time.
enum { LARGE_PAGE = 2 << 20, LARGE_BLOCK = 4 * LARGE_PAGE };

static void *allocate_large(size_t size) {
    const size_t whole = (size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    void *block = aligned_alloc(LARGE_PAGE, whole);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (block) {
        (void)madvise(block, whole, MADV_HUGEPAGE); // a wish: nothing hangs on it
    }
#endif
    return block;
}

static void *default_allocate(void *user, size_t size, size_t alignment) {
    (void)user;
    // no object is larger than half the address space, and beyond this the rounding below could wrap
    if (size > PTRDIFF_MAX - LARGE_PAGE - alignment) {
        return NULL;
    }
    if (size >= LARGE_BLOCK && alignment <= LARGE_PAGE) {
        return allocate_large(size);
    }
    // aligned_alloc wants a multiple of the alignment
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void default_release(void *user, void *block, size_t size) {
    (void)user;
    (void)size;
    free(block);
}

kk_allocator kki_allocator_or_default(const kk_allocator *allocator) {
    static const kk_allocator DEFAULT = {default_allocate, default_release, NULL};
    return allocator ? *allocator : DEFAULT;
}

static size_t at_least_one(size_t size) {
    return size > 0 ? size : 1;
}

bool kki_size_add(size_t a, size_t b, size_t *result) {
    return !__builtin_add_overflow(a, b, result);
}

bool kki_size_multiply(size_t a, size_t b, size_t *result) {
    return !__builtin_mul_overflow(a, b, result);
}

void *kki_allocate(const kk_allocator *allocator, size_t size) {
    const kk_allocator a = kki_allocator_or_default(allocator);
    return a.allocate(a.user, at_least_one(size), KKI_ALIGNMENT);
}

void *kki_allocate_zeroed(const kk_allocator *allocator, size_t size) {
    void *block = kki_allocate(allocator, size);
    if (block) {
        memset(block, 0, size);
    }
    return block;
}

void *kki_allocate_array(const kk_allocator *allocator, size_t count, size_t size) {
    size_t bytes;
    return kki_size_multiply(count, size, &bytes) ? kki_allocate(allocator, bytes) : NULL;
}

void *kki_allocate_array_zeroed(const kk_allocator *allocator, size_t count, size_t size) {
    size_t bytes;
    return kki_size_multiply(count, size, &bytes) ? kki_allocate_zeroed(allocator, bytes) : NULL;
}

void kki_release(const kk_allocator *allocator, void *block, size_t size) {
    if (block) {
        const kk_allocator a = kki_allocator_or_default(allocator);
        a.release(a.user, block, at_least_one(size));
    }
}

void kki_release_array(const kk_allocator *allocator, void *block, size_t count, size_t size) {
    kki_release(allocator, block, count * size);
}
