// Allocation through the caller's allocator: 64-byte aligned, sizes checked, NULL on failure and never otherwise.
#ifndef KARAKURI_BASE_ALLOCATOR_H
#define KARAKURI_BASE_ALLOCATOR_H

#include <stdbool.h>

#include <karakuri/allocator.h>

enum { KKI_ALIGNMENT = 64 };

/// The allocator itself, or the one over aligned_alloc and free for NULL.
kk_allocator kki_allocator_or_default(const kk_allocator *allocator);

/// `size` bytes, 64-byte aligned, or NULL. A size of 0 gives a block too, so NULL always means out of memory.
void *kki_allocate(const kk_allocator *allocator, size_t size);
void *kki_allocate_zeroed(const kk_allocator *allocator, size_t size);

/// `count` elements of `size` bytes; NULL also where the product overflows.
void *kki_allocate_array(const kk_allocator *allocator, size_t count, size_t size);
void *kki_allocate_array_zeroed(const kk_allocator *allocator, size_t count, size_t size);

/// Gives back a block with the size it was asked for; a NULL block is ignored.
void kki_release(const kk_allocator *allocator, void *block, size_t size);
void kki_release_array(const kk_allocator *allocator, void *block, size_t count, size_t size);

/// True where a + b or a * b fits a size_t; then *result holds it.
bool kki_size_add(size_t a, size_t b, size_t *result);
bool kki_size_multiply(size_t a, size_t b, size_t *result);

#endif
