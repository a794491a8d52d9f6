// A stack of named entries in one block, and the two-pass layout.
#include "arena.h"

#include <string.h>

#include "allocator.h"

// size rounded up to the alignment, SIZE_MAX where that overflows
static size_t align_up(size_t size) {
    const size_t mask = KKI_ALIGNMENT - 1;
    return size > SIZE_MAX - mask ? SIZE_MAX : (size + mask) & ~mask;
}

static size_t add_saturated(size_t a, size_t b) {
    size_t sum;
    return kki_size_add(a, b, &sum) ? sum : SIZE_MAX;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

kk_status kki_arena_create(kki_arena *arena, const kk_allocator *allocator, size_t capacity) {
    memset(arena, 0, sizeof *arena);
    arena->allocator = kki_allocator_or_default(allocator);
    arena->block = kki_allocate(&arena->allocator, capacity);
    if (!arena->block) {
        memset(arena, 0, sizeof *arena);
        return KK_OUT_OF_MEMORY;
    }
    arena->capacity = capacity;
    return KK_OK;
}

void kki_arena_destroy(kki_arena *arena) {
    if (arena->block) {
        kki_release(&arena->allocator, arena->block, arena->capacity);
    }
    memset(arena, 0, sizeof *arena);
}

void *kki_arena_push(kki_arena *arena, size_t bytes, const char *name) {
    const size_t end = add_saturated(arena->used, align_up(bytes));
    arena->wanted = larger(arena->wanted, end);
    if (end > arena->capacity || arena->depth == KKI_ARENA_DEPTH) {
        return NULL;
    }
    arena->entry[arena->depth++] = (kki_arena_entry){name, arena->used};
    void *place = arena->block + arena->used;
    arena->used = end;
    arena->high_water = larger(arena->high_water, end);
    return place;
}

void *kki_arena_push_array(kki_arena *arena, size_t count, size_t size, const char *name) {
    size_t bytes;
    return kki_arena_push(arena, kki_size_multiply(count, size, &bytes) ? bytes : SIZE_MAX, name);
}

bool kki_arena_pop(kki_arena *arena, const char *name) {
    const char *top = kki_arena_top_name(arena);
    if (!top || strcmp(top, name) != 0) {
        return false;
    }
    arena->depth--;
    arena->used = arena->entry[arena->depth].start;
    return true;
}

kki_arena_mark kki_arena_get_mark(const kki_arena *arena) {
    return (kki_arena_mark){arena->depth};
}

void kki_arena_rewind(kki_arena *arena, kki_arena_mark mark) {
    if (mark.depth < arena->depth) {
        arena->depth = mark.depth;
        arena->used = arena->entry[mark.depth].start;
    }
}

bool kki_arena_is_empty(const kki_arena *arena) {
    return arena->depth == 0 && arena->used == 0;
}

const char *kki_arena_top_name(const kki_arena *arena) {
    return arena->depth > 0 ? arena->entry[arena->depth - 1].name : NULL;
}

kki_layout kki_layout_over(void *block) {
    return (kki_layout){block, 0};
}

void *kki_layout_take(kki_layout *layout, size_t count, size_t size) {
    size_t bytes;
    void *place = layout->block ? layout->block + layout->size : NULL;
    const size_t aligned = kki_size_multiply(count, size, &bytes) ? align_up(bytes) : SIZE_MAX;
    layout->size = add_saturated(layout->size, aligned);
    return place;
}
