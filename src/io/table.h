/// Inside of a table: names, units and numbers, each in one block.
#ifndef KARAKURI_IO_TABLE_H
#define KARAKURI_IO_TABLE_H

#include <karakuri/table.h>

typedef struct kki_table_column {
    uint32_t name, unit; ///< offsets in strings
} kki_table_column;

struct kk_table {
    kk_allocator allocator;
    int column_count;
    size_t row_count, row_capacity;
    int header_line;
    kki_table_column *column; ///< [column_count]
    int32_t *slot;            ///< [slot_count] hash table of names: column + 1, 0 empty
    size_t slot_count;        ///< a power of two, or 0
    char *strings;
    size_t string_size;
    double *value; ///< [row_capacity × column_count]
    int32_t *line; ///< [row_capacity]
};

/// Adds a column's name to the hash table; gives the column that has it already, −1 where it is new.
int kki_table_index_column(kk_table *table, int column);

#endif
