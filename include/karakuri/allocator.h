/// The allocator: every object is made with one and keeps it until it is freed.
///
/// NULL where a `const kk_allocator *` is asked for means malloc and free.
#ifndef KARAKURI_ALLOCATOR_H
#define KARAKURI_ALLOCATOR_H

#include <karakuri/api.h>

KK_BEGIN_DECLS

typedef struct kk_allocator {
    /// Returns `size` bytes aligned to `alignment` (a power of two, at most 64), or NULL. `size` is never 0.
    void *(*allocate)(void *user, size_t size, size_t alignment);
    /// Gives back a block of `allocate` with the size it was asked for. `block` is never NULL.
    void (*release)(void *user, void *block, size_t size);
    void *user;
} kk_allocator;

KK_END_DECLS
#endif
