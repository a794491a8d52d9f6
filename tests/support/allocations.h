// Watching memory: an allocator that fails on demand, and a count of what anybody asks the C library for.
#ifndef KK_TESTS_SUPPORT_ALLOCATIONS_H
#define KK_TESTS_SUPPORT_ALLOCATIONS_H

#include <karakuri/allocator.h>

/// Counts what is out and fails the call number `fail_at` (never for a negative number).
typedef struct faulty {
    int calls, fail_at, blocks;
    size_t bytes;
} faulty;

/// For kk_allocator.
void *faulty_allocate(void *user, size_t size, size_t alignment);
void faulty_release(void *user, void *block, size_t size);

/// Calls of malloc, calloc, realloc, aligned_alloc and posix_memalign by this program so far; −1 where they cannot be counted.
long allocations_so_far(void);

#endif
