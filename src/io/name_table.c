/// Open addressing with linear probing, at most half full.
#include "io/name_table.h"

#include <string.h>

#include <karakuri/hash.h>

#include "base/allocator.h"
#include "base/print.h"
#include "io/text.h"

enum { FIRST_CAPACITY = 64 };

void kki_name_table_create(kki_name_table *table, const kk_allocator *allocator) {
    *table = (kki_name_table){.allocator = kki_allocator_or_default(allocator)};
}

void kki_name_table_destroy(kki_name_table *table) {
    kki_release_array(&table->allocator, table->entry, table->capacity, sizeof *table->entry);
    table->entry = NULL;
    table->count = table->capacity = 0;
}

static uint32_t hash_of(const char *name) {
    return (uint32_t)kk_hash_bytes(name, strlen(name), 0);
}

/// The entry of the name, or the free one where it belongs. There always is a free one.
static kki_name_entry *place_of(const kki_name_table *t, const char *name, uint32_t hash) {
    size_t at = hash & (t->capacity - 1);
    while (t->entry[at].name && (t->entry[at].hash != hash || strcmp(t->entry[at].name, name) != 0)) {
        at = (at + 1) & (t->capacity - 1);
    }
    return &t->entry[at];
}

int32_t kki_name_table_find(const kki_name_table *table, const char *name) {
    if (table->capacity == 0) {
        return -1;
    }
    const kki_name_entry *entry = place_of(table, name, hash_of(name));
    return entry->name ? entry->value : -1;
}

static kk_status grow(kki_name_table *t) {
    kki_name_table larger = {.allocator = t->allocator, .count = t->count};
    larger.capacity = t->capacity ? 2 * t->capacity : FIRST_CAPACITY;
    larger.entry = kki_allocate_array_zeroed(&t->allocator, larger.capacity, sizeof *larger.entry);
    if (!larger.entry) {
        return KK_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < t->capacity; i++) {
        if (t->entry[i].name) {
            size_t at = t->entry[i].hash & (larger.capacity - 1);
            while (larger.entry[at].name) {
                at = (at + 1) & (larger.capacity - 1);
            }
            larger.entry[at] = t->entry[i];
        }
    }
    kki_release_array(&t->allocator, t->entry, t->capacity, sizeof *t->entry);
    *t = larger;
    return KK_OK;
}

kk_status kki_name_table_set(kki_name_table *table, const char *name, int32_t value) {
    if (2 * table->count >= table->capacity && grow(table) != KK_OK) {
        return KK_OUT_OF_MEMORY;
    }
    const uint32_t hash = hash_of(name);
    kki_name_entry *entry = place_of(table, name, hash);
    table->count += entry->name == NULL;
    *entry = (kki_name_entry){name, value, hash};
    return KK_OK;
}

kk_status kki_name_table_choose(const kki_name_table *table, kki_name_table *numbers, const char *wish, char *name) {
    const int length = kki_whole_length(wish, KKI_MOST_NAME), last = kki_name_table_find(numbers, wish);
    int n = last < 2 ? 2 : last;
    do {
        kki_print(name, KKI_NAME_SIZE, "%.*s_%d", length, wish, n++);
    } while (kki_name_table_find(table, name) >= 0);
    return kki_name_table_set(numbers, wish, n);
}
