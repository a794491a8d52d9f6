/// Memory for many small things that are given back all at once, with a bound on their sum.
#ifndef KARAKURI_IO_POOL_H
#define KARAKURI_IO_POOL_H

#include <stdbool.h>

#include <karakuri/allocator.h>

typedef struct kki_pool {
    kk_allocator allocator;
    struct kki_pool_block *block; ///< the newest, which has the rest of the room
    size_t taken, limit;          ///< bytes asked for in all, and at most
    bool is_over;                 ///< a request went over the limit; else a NULL means out of memory
} kki_pool;

void kki_pool_create(kki_pool *pool, const kk_allocator *allocator, size_t limit);
void kki_pool_destroy(kki_pool *pool);

/// `size` bytes, aligned to 8, or NULL.
void *kki_pool_take(kki_pool *pool, size_t size);
/// A copy of a text with a zero byte after it, or NULL.
char *kki_pool_copy(kki_pool *pool, const char *text, size_t length);

#endif
