/// Tables: what they hold, and finding a column by its name.
#include "table.h"

#include <karakuri/hash.h>
#include <string.h>

#include "base/allocator.h"

kk_table_options kk_table_options_default(void) {
    return (kk_table_options){.separator = 0, .comments = 1, .allow_not_finite = 0, .most_bytes = (size_t)1 << 30};
}

void kk_table_free(kk_table *table) {
    if (!table) {
        return;
    }
    const kk_allocator a = table->allocator;
    kki_release_array(&a, table->column, (size_t)table->column_count, sizeof *table->column);
    kki_release_array(&a, table->slot, table->slot_count, sizeof *table->slot);
    kki_release(&a, table->strings, table->string_size);
    kki_release_array(&a, table->value, table->row_capacity * (size_t)table->column_count, sizeof *table->value);
    kki_release_array(&a, table->line, table->row_capacity, sizeof *table->line);
    kki_release(&a, table, sizeof *table);
}

static int has_column(const kk_table *table, int column) {
    return column >= 0 && column < table->column_count;
}

int kk_table_column_count(const kk_table *table) {
    return table->column_count;
}

size_t kk_table_row_count(const kk_table *table) {
    return table->row_count;
}

int kk_table_header_line(const kk_table *table) {
    return table->header_line;
}

const char *kk_table_column_name(const kk_table *table, int column) {
    return has_column(table, column) ? table->strings + table->column[column].name : NULL;
}

const char *kk_table_column_unit(const kk_table *table, int column) {
    return has_column(table, column) ? table->strings + table->column[column].unit : NULL;
}

const double *kk_table_row(const kk_table *table, size_t row) {
    return row < table->row_count ? table->value + row * (size_t)table->column_count : NULL;
}

int kk_table_row_line(const kk_table *table, size_t row) {
    return row < table->row_count ? table->line[row] : 0;
}

/// The slot that holds the name, or the empty one where it belongs. The table is never full.
static size_t find_slot(const kk_table *table, const char *name) {
    const size_t mask = table->slot_count - 1;
    size_t i = (size_t)kk_hash_bytes(name, strlen(name), 0) & mask;
    while (table->slot[i] && strcmp(kk_table_column_name(table, table->slot[i] - 1), name) != 0) {
        i = (i + 1) & mask;
    }
    return i;
}

int kki_table_index_column(kk_table *table, int column) {
    int32_t *slot = &table->slot[find_slot(table, kk_table_column_name(table, column))];
    if (*slot) {
        return *slot - 1;
    }
    *slot = column + 1;
    return -1;
}

int kk_table_find_column(const kk_table *table, const char *name) {
    return name && table->slot_count ? table->slot[find_slot(table, name)] - 1 : -1;
}
