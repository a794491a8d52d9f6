/// Names to numbers: a hash table, so that files of a hundred thousand links are read in linear time.
#ifndef KARAKURI_IO_NAME_TABLE_H
#define KARAKURI_IO_NAME_TABLE_H

#include <karakuri/allocator.h>
#include <karakuri/status.h>

typedef struct kki_name_entry {
    const char *name; ///< not copied; NULL: free
    int32_t value;
    uint32_t hash; ///< so that a name is looked at only where it is the one, and not when the table grows
} kki_name_entry;

typedef struct kki_name_table {
    kk_allocator allocator;
    kki_name_entry *entry;
    size_t count, capacity; ///< capacity is 0 or a power of two
} kki_name_table;

void kki_name_table_create(kki_name_table *table, const kk_allocator *allocator);
void kki_name_table_destroy(kki_name_table *table);

/// The number of a name; −1: there is none.
int32_t kki_name_table_find(const kki_name_table *table, const char *name);
/// Adds a name that must outlive the table; one that is there already gets the new number. KK_OUT_OF_MEMORY.
kk_status kki_name_table_set(kki_name_table *table, const char *name, int32_t value);

/// A name that the table has not: WISH_2, WISH_3, … @param numbers  has the next number of each wish, so that many equal
/// wishes stay cheap; the wish must outlive it    @param name  [KKI_NAME_SIZE]
kk_status kki_name_table_choose(const kki_name_table *table, kki_name_table *numbers, const char *wish, char *name);

#endif
