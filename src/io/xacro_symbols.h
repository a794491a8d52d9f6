/// Scopes and symbols of an expansion: a hash table over (scope, name). Nothing is ever removed; the pool's limit bounds
/// it.
#ifndef KARAKURI_IO_XACRO_SYMBOLS_H
#define KARAKURI_IO_XACRO_SYMBOLS_H

#include "expression.h"

typedef enum kki_symbol_kind {
    KKI_SYMBOL_VALUE,
    KKI_SYMBOL_RAW,   ///< a property's text that is not evaluated yet
    KKI_SYMBOL_BLOCK, ///< nodes to insert
    KKI_SYMBOL_NONE,  ///< was removed
} kki_symbol_kind;

typedef struct kki_symbol {
    kki_symbol_kind kind;
    int32_t scope, next; ///< next in the bucket
    uint32_t hash;
    const char *name;
    size_t name_length;
    kki_value value;        ///< of a VALUE; of a RAW the text
    int32_t document, node; ///< where it is written; of a block the first node
    uint32_t place;
    int32_t block_scope; ///< to expand the block in
    bool is_single;      ///< a block of this node only, without its siblings
} kki_symbol;

typedef struct kki_symbols {
    kki_pool *pool;
    kk_allocator allocator;
    kki_symbol *symbol;
    int32_t *parent; ///< of each scope; -1 for the outermost, which is scope 0
    int32_t *home;   ///< of each scope: the namespace that it is in, a scope itself; 0: none
    int32_t *bucket;
    int32_t count, capacity, scope_count, scope_capacity, home_capacity, bucket_count;
} kki_symbols;

kk_status kki_symbols_create(kki_symbols *s, kki_pool *pool);
void kki_symbols_destroy(kki_symbols *s);

kk_status kki_symbols_add_scope(kki_symbols *s, int32_t parent, bool is_namespace, int32_t *scope);

/// The symbol of that name in this very scope, -1 where there is none.
int32_t kki_symbols_find_in(const kki_symbols *s, int32_t scope, const char *name, size_t length);
/// The same in the scope or the nearest one around it.
int32_t kki_symbols_find(const kki_symbols *s, int32_t scope, const char *name, size_t length);

/// Sets a symbol in its scope; the name is copied where it is new.
kk_status kki_symbols_set(kki_symbols *s, const kki_symbol *symbol);

#endif
