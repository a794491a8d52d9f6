/// The table of symbols: chains in buckets, whose number doubles with the symbols.
#include "xacro_symbols.h"

#include <string.h>

#include "base/allocator.h"

enum { FIRST_BUCKETS = 256 };

static uint32_t hash_of(int32_t scope, const char *name, size_t length) {
    uint32_t h = 2166136261u ^ (uint32_t)scope * 0x9e3779b9u;
    for (size_t i = 0; i < length; i++) {
        h = (h ^ (uint8_t)name[i]) * 16777619u;
    }
    return h ^ h >> 15;
}

/// Moves an array to a block of twice the capacity and something.
static kk_status grow(const kk_allocator *allocator, void **array, size_t size, int32_t *capacity) {
    if (*capacity > INT32_MAX / 4) {
        return KK_LIMIT_EXCEEDED;
    }
    const int32_t larger = 2 * *capacity + 16;
    void *block = kki_allocate_array(allocator, (size_t)larger, size);
    if (!block) {
        return KK_OUT_OF_MEMORY;
    }
    if (*array) {
        memcpy(block, *array, (size_t)*capacity * size);
        kki_release_array(allocator, *array, (size_t)*capacity, size);
    }
    *array = block;
    *capacity = larger;
    return KK_OK;
}

static kk_status make_buckets(kki_symbols *s, int32_t count) {
    int32_t *bucket = kki_allocate_array(&s->allocator, (size_t)count, sizeof *bucket);
    if (!bucket) {
        return KK_OUT_OF_MEMORY;
    }
    kki_release_array(&s->allocator, s->bucket, (size_t)s->bucket_count, sizeof *bucket);
    s->bucket = bucket;
    s->bucket_count = count;
    memset(bucket, -1, (size_t)count * sizeof *bucket);
    for (int32_t i = 0; i < s->count; i++) {
        int32_t *head = &bucket[s->symbol[i].hash % (uint32_t)count];
        s->symbol[i].next = *head;
        *head = i;
    }
    return KK_OK;
}

kk_status kki_symbols_create(kki_symbols *s, kki_pool *pool) {
    memset(s, 0, sizeof *s);
    s->pool = pool;
    s->allocator = pool->allocator;
    int32_t outermost;
    const kk_status status = make_buckets(s, FIRST_BUCKETS);
    return status ? status : kki_symbols_add_scope(s, -1, true, &outermost);
}

void kki_symbols_destroy(kki_symbols *s) {
    kki_release_array(&s->allocator, s->symbol, (size_t)s->capacity, sizeof *s->symbol);
    kki_release_array(&s->allocator, s->parent, (size_t)s->scope_capacity, sizeof *s->parent);
    kki_release_array(&s->allocator, s->home, (size_t)s->home_capacity, sizeof *s->home);
    kki_release_array(&s->allocator, s->bucket, (size_t)s->bucket_count, sizeof *s->bucket);
    memset(s, 0, sizeof *s);
}

static kk_status grow_scopes(kki_symbols *s, int32_t **array, int32_t *capacity) {
    void *block = *array;
    const kk_status status = s->scope_count < *capacity ? KK_OK : grow(&s->allocator, &block, sizeof **array, capacity);
    *array = block;
    return status;
}

kk_status kki_symbols_add_scope(kki_symbols *s, int32_t parent, bool is_namespace, int32_t *scope) {
    kk_status status = grow_scopes(s, &s->parent, &s->scope_capacity);
    status = status ? status : grow_scopes(s, &s->home, &s->home_capacity);
    if (status != KK_OK) {
        return status;
    }
    *scope = s->scope_count++;
    s->parent[*scope] = parent;
    s->home[*scope] = is_namespace ? *scope : s->home[parent];
    return KK_OK;
}

int32_t kki_symbols_find_in(const kki_symbols *s, int32_t scope, const char *name, size_t length) {
    const uint32_t hash = hash_of(scope, name, length);
    int32_t i = s->bucket[hash % (uint32_t)s->bucket_count];
    while (i >= 0 && !(s->symbol[i].hash == hash && s->symbol[i].scope == scope && s->symbol[i].name_length == length &&
                       memcmp(s->symbol[i].name, name, length) == 0)) {
        i = s->symbol[i].next;
    }
    return i;
}

int32_t kki_symbols_find(const kki_symbols *s, int32_t scope, const char *name, size_t length) {
    for (; scope >= 0; scope = s->parent[scope]) {
        const int32_t found = kki_symbols_find_in(s, scope, name, length);
        if (found >= 0 && s->symbol[found].kind != KKI_SYMBOL_NONE) {
            return found;
        }
    }
    return -1;
}

/// A place for a new symbol of that name.
static kk_status append(kki_symbols *s, const kki_symbol *symbol) {
    void *array = s->symbol;
    kk_status status = s->count == s->capacity ? grow(&s->allocator, &array, sizeof *s->symbol, &s->capacity) : KK_OK;
    s->symbol = array;
    if (status == KK_OK && s->count >= 2 * s->bucket_count) {
        status = make_buckets(s, 4 * s->bucket_count);
    }
    const char *name = status ? NULL : kki_pool_copy(s->pool, symbol->name, symbol->name_length);
    if (!name) {
        return status ? status : s->pool->is_over ? KK_LIMIT_EXCEEDED : KK_OUT_OF_MEMORY;
    }
    kki_symbol *added = &s->symbol[s->count];
    *added = *symbol;
    added->name = name;
    added->hash = hash_of(symbol->scope, name, symbol->name_length);
    int32_t *head = &s->bucket[added->hash % (uint32_t)s->bucket_count];
    added->next = *head;
    *head = s->count++;
    return KK_OK;
}

kk_status kki_symbols_set(kki_symbols *s, const kki_symbol *symbol) {
    const int32_t known = kki_symbols_find_in(s, symbol->scope, symbol->name, symbol->name_length);
    if (known < 0) {
        return append(s, symbol);
    }
    const kki_symbol old = s->symbol[known];
    s->symbol[known] = *symbol;
    s->symbol[known].name = old.name;
    s->symbol[known].hash = old.hash;
    s->symbol[known].next = old.next;
    return KK_OK;
}
