/// Writing CSV row by row through a buffer of fixed size: nothing is allocated after the writer was made.
#include <karakuri/number.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/missing.h"
#include "io/output_file.h"
#include "io/table.h"
#include "io/text.h"

enum { BUFFER_SIZE = 1 << 16 };

struct kk_table_writer {
    kk_allocator allocator;
    kk_table_sink *sink;
    void *user;
    kki_output_file output; ///< of kk_table_writer_open; not open else
    char separator;
    int allow_not_finite;
    int column_count;
    int has_failed;
    size_t used, file_size, names_size;
    char *file;  ///< for messages; NULL where there is none
    char *names; ///< one after the other, for messages
    char buffer[BUFFER_SIZE];
};

// ---- bytes

static void flush(kk_table_writer *w) {
    w->has_failed = w->has_failed || (w->used && w->sink(w->user, w->buffer, w->used) != 0);
    w->used = 0;
}

static void put(kk_table_writer *w, const char *bytes, size_t size) {
    while (size > 0) {
        if (w->used == BUFFER_SIZE) {
            flush(w);
        }
        const size_t n = size < BUFFER_SIZE - w->used ? size : BUFFER_SIZE - w->used;
        memcpy(w->buffer + w->used, bytes, n);
        w->used += n;
        bytes += n;
        size -= n;
    }
}

static void put_byte(kk_table_writer *w, char byte) {
    put(w, &byte, 1);
}

static kk_status outcome(const kk_table_writer *w, kk_error *error) {
    return w->has_failed ? kki_error_at(error, KK_IO, w->file, 0, 0,
                                        "the table could not be written — is the disk full, or the reader gone?")
                         : KK_OK;
}

// ---- names

static void put_escaped(kk_table_writer *w, const char *text) {
    for (; *text; text++) {
        if (*text == '"') {
            put_byte(w, '"');
        }
        put_byte(w, *text);
    }
}

static int looks_like_number(const char *text) {
    double value;
    size_t used = 0;
    return kk_number_parse(text, strlen(text), &value, &used) != KK_SYNTAX && used == strlen(text);
}

/// Quotes where the reader would see something else: separators, quotes, blanks at the ends, a comment, a number, a
/// byte order mark.
static int needs_quotes(const char *text) {
    return strncmp(text, "\xef\xbb\xbf", 3) == 0 || strpbrk(text, "\",;\t#") || text[0] == ' ' ||
           text[strlen(text) - 1] == ' ' || looks_like_number(text);
}

static void put_name(kk_table_writer *w, const kk_table_column *c) {
    const int has_unit = c->unit && c->unit[0];
    const int is_quoted = needs_quotes(c->name) || (has_unit && needs_quotes(c->unit));
    if (is_quoted) {
        put_byte(w, '"');
    }
    put_escaped(w, c->name);
    if (has_unit) {
        put(w, " [", 2);
        put_escaped(w, c->unit);
        put_byte(w, ']');
    }
    if (is_quoted) {
        put_byte(w, '"');
    }
}

static int has_control(const char *text) {
    for (; *text; text++) {
        if ((unsigned char)*text < ' ') {
            return 1;
        }
    }
    return 0;
}

static kk_status check_columns(const kk_table_column *columns, int count, kk_error *error) {
    if (count < 1) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "a table needs at least one column");
    }
    for (int i = 0; i < count; i++) {
        if (!columns[i].name || !columns[i].name[0]) {
            return kki_error_set(error, KK_INVALID_ARGUMENT, "column %d has no name — name every column", i + 1);
        }
        if (has_control(columns[i].name) || (columns[i].unit && has_control(columns[i].unit))) {
            return kki_error_set(error, KK_INVALID_ARGUMENT, "column '%s': names and units hold no control characters",
                                 kki_shorten_string(columns[i].name).text);
        }
    }
    return KK_OK;
}

static void put_names(kk_table_writer *w, const kk_table_column *columns) {
    for (int i = 0; i < w->column_count; i++) {
        if (i > 0) {
            put_byte(w, w->separator);
        }
        put_name(w, &columns[i]);
    }
    put_byte(w, '\n');
}

// ---- making and closing

static void free_writer(kk_table_writer *w) {
    const kk_allocator a = w->allocator;
    kki_release(&a, w->file, w->file_size);
    kki_release(&a, w->names, w->names_size);
    kki_release(&a, w, sizeof *w);
}

static size_t size_of_names(const kk_table_column *columns, int count) {
    size_t size = 0;
    for (int i = 0; i < count; i++) {
        size += strlen(columns[i].name) + 1;
    }
    return size;
}

static void copy_names(kk_table_writer *w, const kk_table_column *columns) {
    char *to = w->names;
    for (int i = 0; i < w->column_count; i++) {
        const size_t size = strlen(columns[i].name) + 1;
        memcpy(to, columns[i].name, size);
        to += size;
    }
}

static kk_table_writer *allocate_writer(const kk_table_column *columns, int count, const char *file,
                                        const kk_allocator *a) {
    kk_table_writer *w = kki_allocate_zeroed(a, sizeof *w);
    if (!w) {
        return NULL;
    }
    w->allocator = *a;
    w->output = kki_output_none();
    w->column_count = count;
    w->names_size = size_of_names(columns, count);
    w->names = kki_allocate(a, w->names_size);
    w->file_size = file ? strlen(file) + 1 : 0;
    w->file = file ? kki_allocate(a, w->file_size) : NULL;
    if (!w->names || (file && !w->file)) {
        free_writer(w);
        return NULL;
    }
    copy_names(w, columns);
    if (file) {
        memcpy(w->file, file, w->file_size);
    }
    return w;
}

static kk_status create(const char *file, const kk_table_column *columns, int count, const kk_table_options *options,
                        const kk_allocator *allocator, kk_table_writer **writer, kk_error *error) {
    *writer = NULL;
    const kk_allocator a = kki_allocator_or_default(allocator);
    const kk_status status = check_columns(columns, count, error);
    if (status != KK_OK) {
        return status;
    }
    kk_table_writer *w = allocate_writer(columns, count, file, &a);
    if (!w) {
        return kki_error_at(error, KK_OUT_OF_MEMORY, file, 0, 0, "out of memory for a table's writer");
    }
    w->separator = ',';
    if (options) {
        w->separator = options->separator ? options->separator : ',';
        w->allow_not_finite = options->allow_not_finite;
    }
    *writer = w;
    return KK_OK;
}

kk_status kk_table_writer_create(kk_table_sink *sink, void *user, const kk_table_column *columns, int count,
                                 const kk_table_options *options, const kk_allocator *allocator,
                                 kk_table_writer **writer, kk_error *error) {
    if (kki_is_missing(writer) || (count > 0 && !columns)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    const kk_status status = create(NULL, columns, count, options, allocator, writer, error);
    if (*writer) {
        (*writer)->sink = sink;
        (*writer)->user = user;
        put_names(*writer, columns);
    }
    return status;
}

static int write_to_file(void *user, const char *bytes, size_t size) {
    const kk_table_writer *w = user;
    return kki_output_write(&w->output, bytes, size);
}

kk_status kk_table_writer_open(const char *path, const kk_table_column *columns, int count,
                               const kk_table_options *options, const kk_allocator *allocator, kk_table_writer **writer,
                               kk_error *error) {
    if (kki_is_missing(writer) || (count > 0 && !columns)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_status status = create(path, columns, count, options, allocator, writer, error);
    kk_table_writer *w = *writer;
    if (!w) {
        return status;
    }
    status = kki_output_open(&w->output, path, allocator, error);
    if (status != KK_OK) {
        free_writer(w);
        *writer = NULL;
        return status;
    }
    w->sink = write_to_file;
    w->user = w;
    put_names(w, columns);
    return KK_OK;
}

kk_status kk_table_writer_close(kk_table_writer *writer, kk_error *error) {
    if (!writer) {
        return KK_OK;
    }
    flush(writer);
    if (kki_output_close(&writer->output, !writer->has_failed) != 0) {
        writer->has_failed = 1;
    }
    const kk_status status = outcome(writer, error);
    free_writer(writer);
    return status;
}

// ---- rows

static const char *name_of(const kk_table_writer *w, int column) {
    const char *name = w->names;
    for (; column > 0; column--) {
        name += strlen(name) + 1;
    }
    return name;
}

static kk_status check_row(const kk_table_writer *w, const double *values, kk_error *error) {
    for (int i = 0; i < w->column_count && !w->allow_not_finite; i++) {
        if (values[i] - values[i] != 0) {
            return kki_error_at(error, KK_NOT_FINITE, w->file, 0, 0,
                                "column '%s' is not finite — check what was computed, or allow nan and inf",
                                kki_shorten_string(name_of(w, i)).text);
        }
    }
    return KK_OK;
}

kk_status kk_table_writer_add(kk_table_writer *writer, const double *values, kk_error *error) {
    if (kki_is_missing(writer)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    const kk_status status = check_row(writer, values, error);
    if (status != KK_OK) {
        return status;
    }
    for (int i = 0; i < writer->column_count; i++) {
        char text[KK_NUMBER_TEXT_SIZE + 1];
        size_t length = kk_number_format(values[i], text);
        text[length++] = i + 1 < writer->column_count ? writer->separator : '\n';
        put(writer, text, length);
    }
    return outcome(writer, error);
}
