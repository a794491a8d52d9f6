// Watching memory. The C library's allocators are wrapped by the linker (CMakeLists.txt) where it can.
#include "support/allocations.h"

#include <stdlib.h>

void *faulty_allocate(void *user, size_t size, size_t alignment) {
    faulty *f = user;
    if (f->calls++ == f->fail_at) {
        return NULL;
    }
    f->blocks++;
    f->bytes += size;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void faulty_release(void *user, void *block, size_t size) {
    faulty *f = user;
    f->blocks--;
    f->bytes -= size;
    free(block);
}

#ifdef KK_COUNT_ALLOCATIONS

static long count;

long allocations_so_far(void) {
    return count;
}

// the linker's names, not ours
// NOLINTBEGIN(bugprone-reserved-identifier)
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **block, size_t alignment, size_t size);

static void add_one(void) {
    __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
}

void *__wrap_malloc(size_t size) {
    add_one();
    return __real_malloc(size);
}
void *__wrap_calloc(size_t n, size_t size) {
    add_one();
    return __real_calloc(n, size);
}
void *__wrap_realloc(void *block, size_t size) {
    add_one();
    return __real_realloc(block, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    add_one();
    return __real_aligned_alloc(alignment, size);
}
int __wrap_posix_memalign(void **block, size_t alignment, size_t size) {
    add_one();
    return __real_posix_memalign(block, alignment, size);
}
// NOLINTEND(bugprone-reserved-identifier)

#else

long allocations_so_far(void) {
    return -1;
}

#endif
