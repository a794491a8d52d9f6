// Scratch memory of a step: one block with a stack of named entries; and the layout of many arrays in one block.
//
// A step pushes what it needs by name and pops it by the same name in the reverse order, so a forgotten pop shows
// itself by name:
//     rows = kki_arena_push(arena, bytes, "contact rows");
//     ...
//     kki_arena_pop(arena, "contact rows");
// After the step kki_arena_is_empty must hold. Nothing here allocates except kki_arena_create.
#ifndef KARAKURI_BASE_ARENA_H
#define KARAKURI_BASE_ARENA_H

#include <stdbool.h>

#include <karakuri/allocator.h>
#include <karakuri/status.h>

enum { KKI_ARENA_DEPTH = 64 };

typedef struct kki_arena_entry {
    const char *name; // not copied: a literal
    size_t start;     // bytes in use before this entry
} kki_arena_entry;

typedef struct kki_arena {
    kk_allocator allocator;
    unsigned char *block;
    size_t capacity;
    size_t used;
    size_t high_water; // most bytes ever in use
    size_t wanted;     // most bytes ever asked for, also by pushes that failed: the capacity that would have done
    int depth;
    kki_arena_entry entry[KKI_ARENA_DEPTH];
} kki_arena;

/// A point of the stack to go back to.
typedef struct kki_arena_mark {
    int depth;
} kki_arena_mark;

/// Makes an arena with `capacity` bytes; KK_OUT_OF_MEMORY leaves it zeroed, which destroy accepts.
kk_status kki_arena_create(kki_arena *arena, const kk_allocator *allocator, size_t capacity);
void kki_arena_destroy(kki_arena *arena);

/// `bytes` bytes, 64-byte aligned, or NULL where the block or the stack of names is full. Not zeroed.
void *kki_arena_push(kki_arena *arena, size_t bytes, const char *name);
/// The same for an array; NULL also where the product overflows.
void *kki_arena_push_array(kki_arena *arena, size_t count, size_t size, const char *name);
/// Takes the topmost entry off. False, and nothing happens, unless that entry has this name.
bool kki_arena_pop(kki_arena *arena, const char *name);

kki_arena_mark kki_arena_get_mark(const kki_arena *arena);
/// Takes off all entries above the mark.
void kki_arena_rewind(kki_arena *arena, kki_arena_mark mark);

bool kki_arena_is_empty(const kki_arena *arena);
/// Name of the topmost entry, NULL where there is none: who forgot to pop.
const char *kki_arena_top_name(const kki_arena *arena);

/// Layout of many arrays in one block. The same function walks the arrays twice: over no block it sums the sizes, over
/// a block it hands out the pointers.
///     kki_layout layout = kki_layout_over(NULL);
///     place_arrays(&layout, object);                       // each pointer becomes NULL
///     block = kki_allocate(allocator, layout.size);
///     layout = kki_layout_over(block);
///     place_arrays(&layout, object);                       // each pointer is set
typedef struct kki_layout {
    unsigned char *block;
    size_t size; // so far, a multiple of 64; SIZE_MAX once a sum overflowed, which no allocator grants
} kki_layout;

kki_layout kki_layout_over(void *block);
/// Place of `count` elements of `size` bytes, 64-byte aligned; NULL over no block.
void *kki_layout_take(kki_layout *layout, size_t count, size_t size);
/// Sets a typed pointer to its place.
#define KKI_LAYOUT_ARRAY(layout, pointer, count) ((pointer) = kki_layout_take((layout), (count), sizeof *(pointer)))

#endif
