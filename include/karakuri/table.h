/// Tables of numbers with named columns, read from and written to CSV files.
///
/// The first line names the columns, every other line is a row of numbers:
///
///     time [s],hip.q [rad],"knee, left.q"
///     0,0.1,-0.25
///
/// The grammar is RFC 4180's with quotes doubled inside quotes, lines ending in LF or CR LF, and these choices: the separator is the first
/// of `,` `;` and tab in the line of names; blanks around a cell do not count; a unit may follow a name after a blank, in brackets; empty lines and lines that
/// start with `#` are skipped; a quoted cell ends in the line it began in; every row has a number in every column. Numbers are read and
/// written exactly (number.h). NaN and infinities are refused unless the options allow them.
///
/// Reading takes at most 32 times the size of the file in memory, and a few kilobytes.
#ifndef KARAKURI_TABLE_H
#define KARAKURI_TABLE_H

#include <karakuri/allocator.h>
#include <karakuri/status.h>

KK_BEGIN_DECLS

typedef struct kk_table kk_table;

typedef struct kk_table_options {
    char separator;       ///< ',' ';' or '\t'; 0: found from the line of names
    int comments;         ///< nonzero: lines that start with # are skipped
    int allow_not_finite; ///< nonzero: nan and inf are numbers, too
    size_t most_bytes;    ///< larger files are refused
} kk_table_options;

/// Separator found, comments skipped, finite numbers only, at most 1 GiB.
KK_API kk_table_options kk_table_options_default(void);

// ---- reading ----------------------------------------------------------------------------------------------------------------------

/// Reads a whole file. An error has file, line, column, reason and remedy. @param options may be NULL
KK_API kk_status kk_table_read_file(const char *path, const kk_table_options *options, const kk_allocator *allocator,
                                    kk_table **table, kk_error *error);
/// The same from memory. @param name for messages    @param text [length], not kept
KK_API kk_status kk_table_read_text(const char *name, const char *text, size_t length, const kk_table_options *options,
                                    const kk_allocator *allocator, kk_table **table, kk_error *error);
KK_API void kk_table_free(kk_table *table);

KK_API int kk_table_column_count(const kk_table *table);
KK_API size_t kk_table_row_count(const kk_table *table);
/// Without the unit; NULL if there is no such column.
KK_API const char *kk_table_column_name(const kk_table *table, int column);
/// What stood in brackets behind the name, "" for nothing; NULL if there is no such column.
KK_API const char *kk_table_column_unit(const kk_table *table, int column);
/// −1 if there is none of that name.
KK_API int kk_table_find_column(const kk_table *table, const char *name);
/// @return [column_count] numbers of a row; NULL if there is no such row
KK_API const double *kk_table_row(const kk_table *table, size_t row);
/// Line of the file that a row stands in, from 1; 0 if there is no such row. For messages about its numbers.
KK_API int kk_table_row_line(const kk_table *table, size_t row);
/// Line of the names.
KK_API int kk_table_header_line(const kk_table *table);

// ---- writing, row by row ----------------------------------------------------------------------------------------------------------

typedef struct kk_table_writer kk_table_writer;

typedef struct kk_table_column {
    const char *name;
    const char *unit; ///< NULL or "": none
} kk_table_column;

/// Where bytes go. Gives 0, or anything else to stop.
typedef int kk_table_sink(void *user, const char *bytes, size_t size);

/// Writes the line of names. Nothing is allocated later. @param columns [count]    @param options may be NULL; separator 0 is ','
KK_API kk_status kk_table_writer_create(kk_table_sink *sink, void *user, const kk_table_column *columns, int count,
                                        const kk_table_options *options, const kk_allocator *allocator,
                                        kk_table_writer **writer, kk_error *error);
/// The same to a file, which is made or replaced.
KK_API kk_status kk_table_writer_open(const char *path, const kk_table_column *columns, int count,
                                      const kk_table_options *options, const kk_allocator *allocator,
                                      kk_table_writer **writer, kk_error *error);
/// Writes a row. Refuses a number that is not finite, naming its column, and writes nothing then. @param values [count]
KK_API kk_status kk_table_writer_add(kk_table_writer *writer, const double *values, kk_error *error);
/// Writes what is still held back and frees the writer, whatever the outcome; KK_IO where not everything could be written.
KK_API kk_status kk_table_writer_close(kk_table_writer *writer, kk_error *error);

KK_END_DECLS
#endif
