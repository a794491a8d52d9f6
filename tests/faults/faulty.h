// An allocator that fails the call of a given number and counts what is out.
#ifndef KK_TESTS_FAULTS_FAULTY_H
#define KK_TESTS_FAULTS_FAULTY_H

#include <karakuri/allocator.h>
#include <stdlib.h>

typedef struct faulty {
    int calls, fail_at, blocks; ///< fail_at < 0: never
    size_t bytes, most;
} faulty;

static inline void *faulty_allocate(void *user, size_t size, size_t alignment) {
    faulty *f = user;
    if (f->calls++ == f->fail_at) {
        return NULL;
    }
    f->blocks++;
    f->bytes += size;
    f->most = f->bytes > f->most ? f->bytes : f->most;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static inline void faulty_release(void *user, void *block, size_t size) {
    faulty *f = user;
    f->blocks--;
    f->bytes -= size;
    free(block);
}

static inline kk_allocator faulty_allocator(faulty *f) {
    return (kk_allocator){faulty_allocate, faulty_release, f};
}

#endif
