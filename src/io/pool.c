/// A list of blocks; each request is cut from the newest.
#include "pool.h"

#include <string.h>

#include "base/allocator.h"

enum { BLOCK_SIZE = 16384 };

struct kki_pool_block {
    struct kki_pool_block *older;
    size_t size, used; ///< of the bytes that follow
};

void kki_pool_create(kki_pool *pool, const kk_allocator *allocator, size_t limit) {
    *pool = (kki_pool){kki_allocator_or_default(allocator), NULL, 0, limit, false};
}

void kki_pool_destroy(kki_pool *pool) {
    struct kki_pool_block *block = pool->block;
    while (block) {
        struct kki_pool_block *older = block->older;
        kki_release(&pool->allocator, block, sizeof *block + block->size);
        block = older;
    }
    pool->block = NULL;
}

static bool add_block(kki_pool *pool, size_t size) {
    const size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
    struct kki_pool_block *block = kki_allocate(&pool->allocator, sizeof *block + room);
    if (!block) {
        return false;
    }
    *block = (struct kki_pool_block){pool->block, room, 0};
    pool->block = block;
    return true;
}

void *kki_pool_take(kki_pool *pool, size_t size) {
    if (size > pool->limit || pool->limit - size < pool->taken) {
        pool->is_over = true;
        return NULL;
    }
    const size_t rounded = (size + 7) & ~(size_t)7;
    if ((!pool->block || pool->block->size - pool->block->used < rounded) && !add_block(pool, rounded)) {
        return NULL;
    }
    char *place = (char *)(pool->block + 1) + pool->block->used;
    pool->block->used += rounded;
    pool->taken += rounded;
    return place;
}

char *kki_pool_copy(kki_pool *pool, const char *text, size_t length) {
    char *copy = kki_pool_take(pool, length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}
