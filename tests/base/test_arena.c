// The arena and the layout: order, names, fullness, overflow.
#include "harness.h"

#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"

KK_TEST(arena_pushes_and_pops_by_name) {
    kki_arena arena;
    KK_CHECK_EQ_INT(kki_arena_create(&arena, NULL, 1024), KK_OK);
    unsigned char *rows = kki_arena_push(&arena, 100, "rows");
    unsigned char *cones = kki_arena_push_array(&arena, 3, 8, "cones");
    KK_CHECK(rows != NULL && cones == rows + 128);
    KK_CHECK_EQ_INT((uintptr_t)rows % 64, 0);
    memset(rows, 1, 100);
    memset(cones, 2, 24);
    KK_CHECK(rows[99] == 1);
    KK_CHECK(!kki_arena_pop(&arena, "rows"));
    KK_CHECK_STR(kki_arena_top_name(&arena), "cones");
    KK_CHECK(kki_arena_pop(&arena, "cones"));
    KK_CHECK(!kki_arena_is_empty(&arena));
    KK_CHECK(kki_arena_pop(&arena, "rows"));
    KK_CHECK(kki_arena_is_empty(&arena));
    KK_CHECK(!kki_arena_pop(&arena, "rows"));
    KK_CHECK_EQ_INT(arena.high_water, 192);
    kki_arena_destroy(&arena);
}

KK_TEST(arena_says_no_when_full) {
    kki_arena arena;
    KK_CHECK_EQ_INT(kki_arena_create(&arena, NULL, 256), KK_OK);
    KK_CHECK(kki_arena_push(&arena, 200, "a") != NULL);
    KK_CHECK(kki_arena_push(&arena, 1, "b") == NULL);
    KK_CHECK(kki_arena_push(&arena, SIZE_MAX, "c") == NULL);
    KK_CHECK(kki_arena_push_array(&arena, SIZE_MAX / 4, 8, "d") == NULL);
    KK_CHECK_EQ_INT(arena.high_water, 256);
    KK_CHECK(arena.wanted > 256);
    KK_CHECK(kki_arena_push(&arena, 0, "empty") != NULL);
    KK_CHECK(kki_arena_pop(&arena, "empty"));
    KK_CHECK(kki_arena_pop(&arena, "a"));
    KK_CHECK(kki_arena_push(&arena, 256, "all") != NULL);
    kki_arena_destroy(&arena);
}

KK_TEST(arena_bounds_its_depth_and_rewinds) {
    kki_arena arena;
    KK_CHECK_EQ_INT(kki_arena_create(&arena, NULL, 64 * (KKI_ARENA_DEPTH + 1)), KK_OK);
    KK_CHECK(kki_arena_push(&arena, 64, "first") != NULL);
    const kki_arena_mark mark = kki_arena_get_mark(&arena);
    for (int i = 1; i < KKI_ARENA_DEPTH; i++) {
        KK_CHECK(kki_arena_push(&arena, 64, "more") != NULL);
    }
    KK_CHECK(kki_arena_push(&arena, 64, "too deep") == NULL);
    kki_arena_rewind(&arena, mark);
    KK_CHECK_EQ_INT(arena.used, 64);
    kki_arena_rewind(&arena, mark);
    KK_CHECK_STR(kki_arena_top_name(&arena), "first");
    KK_CHECK(kki_arena_pop(&arena, "first"));
    KK_CHECK(kki_arena_is_empty(&arena));
    kki_arena_destroy(&arena);
}

static void *no_memory(void *user, size_t size, size_t alignment) {
    (void)user, (void)size, (void)alignment;
    return NULL;
}

KK_TEST(arena_survives_a_failed_allocation) {
    const kk_allocator none = {no_memory, NULL, NULL};
    kki_arena arena;
    KK_CHECK_EQ_INT(kki_arena_create(&arena, &none, 100), KK_OUT_OF_MEMORY);
    KK_CHECK(kki_arena_push(&arena, 1, "x") == NULL);
    kki_arena_destroy(&arena);
}

typedef struct object {
    double *mass;
    int *parent;
    char *name;
} object;

static void place_arrays(kki_layout *layout, object *o, size_t count) {
    KKI_LAYOUT_ARRAY(layout, o->mass, count);
    KKI_LAYOUT_ARRAY(layout, o->parent, count);
    KKI_LAYOUT_ARRAY(layout, o->name, 10 * count);
}

KK_TEST(layout_makes_one_block_of_many_arrays) {
    object o;
    kki_layout layout = kki_layout_over(NULL);
    place_arrays(&layout, &o, 9);
    KK_CHECK(o.mass == NULL && o.name == NULL);
    const size_t size = layout.size;
    KK_CHECK_EQ_INT(size, 128 + 64 + 128);
    unsigned char *block = kki_allocate(NULL, size);
    layout = kki_layout_over(block);
    place_arrays(&layout, &o, 9);
    KK_CHECK_EQ_INT(layout.size, size);
    KK_CHECK((unsigned char *)o.mass == block);
    KK_CHECK((unsigned char *)o.parent == block + 128);
    KK_CHECK((unsigned char *)o.name == block + 192);
    kki_release(NULL, block, size);
}

KK_TEST(layout_saturates_on_overflow) {
    object o;
    kki_layout layout = kki_layout_over(NULL);
    place_arrays(&layout, &o, SIZE_MAX / 9);
    KK_CHECK(layout.size == SIZE_MAX);
    KKI_LAYOUT_ARRAY(&layout, o.mass, 1);
    KK_CHECK(layout.size == SIZE_MAX);
    KK_CHECK(kki_allocate(NULL, layout.size) == NULL);
}
