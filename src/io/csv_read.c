/// Reading CSV: one pass over the lines, cells split by hand, numbers by number.h.
///
/// Memory is known before it is taken. A row of n columns has at least 2n bytes, each cell one and its separator or line
/// end another, so a text of b bytes has at most (b + 1) / 2n rows, whatever it says: 4 bytes of numbers for each byte.
#include <karakuri/number.h>
#include <limits.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/missing.h"
#include "io/file.h"
#include "io/table.h"
#include "io/text.h"
#include "io/xml_characters.h"

typedef struct reader {
    const char *file;
    const char *text, *end; ///< what is left
    const char *line_start, *line_end;
    int line;
    char separator;
    kk_table_options options;
    kk_table *table;
    kk_error *error;
} reader;

/// A cell: its characters without blanks and quotes. Of a quoted one, doubled quotes are still double.
typedef struct cell {
    const char *text;
    size_t length;
    const char *start; ///< in the line, for messages
    int is_quoted;
} cell;

static int column_of(const reader *r, const char *at) {
    return (int)(at - r->line_start) + 1;
}

static kk_status fail(const reader *r, const char *at, kk_status status, const char *what, const char *remedy) {
    return kki_error_at(r->error, status, r->file, r->line, column_of(r, at), "%s — %s", what, remedy);
}

static kk_status fail_cell(const reader *r, const cell *c, kk_status status, const char *what, const char *remedy) {
    return kki_error_at(r->error, status, r->file, r->line, column_of(r, c->start), "'%s' %s — %s",
                        kki_shorten(c->text, c->length).text, what, remedy);
}

// ---- lines and cells

/// Takes the next line of the text; false at its end.
static int next_line(reader *r) {
    if (r->text == r->end) {
        return 0;
    }
    const char *end = memchr(r->text, '\n', (size_t)(r->end - r->text));
    r->line_start = r->text;
    r->line_end = end ? end : r->end;
    r->text = end ? end + 1 : r->end;
    r->line_end -= r->line_end > r->line_start && r->line_end[-1] == '\r';
    r->line++;
    return 1;
}

static int is_blank(char c, char separator) {
    return (c == ' ' || c == '\t') && c != separator;
}

/// Empty, or a comment.
static int has_nothing(const reader *r) {
    const char *at = r->line_start;
    while (at < r->line_end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    return at == r->line_end || (*at == '#' && r->options.comments);
}

/// The next line that is not empty or a comment.
static int next_full_line(reader *r) {
    while (next_line(r)) {
        if (!has_nothing(r)) {
            return 1;
        }
    }
    return 0;
}

/// The closing quote of a cell that starts behind an opening one, or NULL.
static const char *closing_quote(const char *at, const char *end) {
    while (at < end) {
        if (*at != '"') {
            at++;
        } else if (at + 1 < end && at[1] == '"') {
            at += 2;
        } else {
            return at;
        }
    }
    return NULL;
}

static kk_status quoted_cell(const reader *r, const char **at, cell *c) {
    const char *quote = closing_quote(*at + 1, r->line_end);
    if (!quote) {
        return fail(r, *at, KK_SYNTAX, "the quote is not closed in its line",
                    "close it, or double a quote that is meant");
    }
    *c = (cell){*at + 1, (size_t)(quote - *at - 1), *at, 1};
    for (*at = quote + 1; *at < r->line_end && is_blank(**at, r->separator);) {
        (*at)++;
    }
    if (*at < r->line_end && **at != r->separator) {
        return fail(r, *at, KK_SYNTAX, "text follows a closing quote", "double the quotes inside a quoted cell");
    }
    return KK_OK;
}

static kk_status plain_cell(const reader *r, const char **at, cell *c) {
    const char *start = *at;
    const char *end = memchr(start, r->separator, (size_t)(r->line_end - start));
    end = end ? end : r->line_end;
    *at = end;
    while (end > start && is_blank(end[-1], r->separator)) {
        end--;
    }
    *c = (cell){start, (size_t)(end - start), start, 0};
    const char *quote = memchr(start, '"', c->length);
    return quote ? fail(r, quote, KK_SYNTAX, "a quote inside a cell",
                        "put the whole cell in quotes and double the inner ones")
                 : KK_OK;
}

/// Takes a cell and leaves *at on the separator behind it or at the line's end.
static kk_status take_cell(const reader *r, const char **at, cell *c) {
    while (*at < r->line_end && is_blank(**at, r->separator)) {
        (*at)++;
    }
    return *at < r->line_end && **at == '"' ? quoted_cell(r, at, c) : plain_cell(r, at, c);
}

// ---- the line of names

/// The first of , ; and tab outside quotes.
static char find_separator(const reader *r) {
    int is_inside = 0;
    for (const char *at = r->line_start; at < r->line_end; at++) {
        is_inside ^= *at == '"';
        if (!is_inside && (*at == ',' || *at == ';' || *at == '\t')) {
            return *at;
        }
    }
    return ',';
}

static int count_columns(const reader *r) {
    int count = 1, is_inside = 0;
    for (const char *at = r->line_start; at < r->line_end; at++) {
        is_inside ^= *at == '"';
        count += !is_inside && *at == r->separator;
    }
    return count;
}

static size_t slots_for(int columns) {
    size_t slots = 2;
    while (slots < 2 * (size_t)columns) {
        slots *= 2;
    }
    return slots;
}

static kk_status fail_memory(const reader *r) {
    return kki_error_at(r->error, KK_OUT_OF_MEMORY, r->file, r->line, 0, "out of memory while reading the table");
}

static kk_status allocate_columns(reader *r) {
    kk_table *t = r->table;
    t->column_count = count_columns(r);
    t->slot_count = slots_for(t->column_count);
    t->string_size = (size_t)(r->line_end - r->line_start) + 2 * (size_t)t->column_count + 1;
    t->column = kki_allocate_array_zeroed(&t->allocator, (size_t)t->column_count, sizeof *t->column);
    t->slot = kki_allocate_array_zeroed(&t->allocator, t->slot_count, sizeof *t->slot);
    t->strings = kki_allocate_zeroed(&t->allocator, t->string_size);
    return t->column && t->slot && t->strings ? KK_OK : fail_memory(r);
}

/// Copies a cell's text with doubled quotes made single; gives the end.
static char *copy_cell(const cell *c, char *to) {
    for (size_t i = 0; i < c->length; i++) {
        i += c->is_quoted && c->text[i] == '"';
        *to++ = c->text[i];
    }
    *to = 0;
    return to;
}

static void trim_end(char *text, char *end) {
    while (end > text && (end[-1] == ' ' || end[-1] == '\t')) {
        *--end = 0;
    }
}

/// Splits "name [unit]" in place; gives the unit, or NULL where there is none.
static char *split_unit(char *text, char *end) {
    char *open = end > text && end[-1] == ']' ? strrchr(text, '[') : NULL;
    if (!open || open == text || open[-1] != ' ' || open + 2 == end) { // a[0] and "a []" are names
        return NULL;
    }
    end[-1] = 0;
    *open = 0;
    trim_end(text, open);
    return open + 1;
}

/// A number where a name should be: the line of names is missing.
static int is_number(const cell *c) {
    double value;
    size_t used = 0;
    return kk_number_parse(c->text, c->length, &value, &used) != KK_SYNTAX && used == c->length;
}

static kk_status check_name(const reader *r, const cell *c) {
    if (c->length == 0) {
        return fail(r, c->start, KK_SYNTAX, "a column has no name", "name every column in the first line");
    }
    if (!c->is_quoted && is_number(c)) {
        return fail_cell(r, c, KK_SYNTAX, "is a number where a column's name should be",
                         "the first line must name the columns (a line that starts with # is a comment)");
    }
    const size_t legal = kki_xml_legal_length(c->text, c->length);
    if (legal < c->length || memchr(c->text, '\r', c->length)) {
        return fail(r, c->text + (legal < c->length ? legal : 0), KK_SYNTAX,
                    "a name holds a byte that is not UTF-8, or a control character", "save the file as UTF-8 text");
    }
    return KK_OK;
}

static kk_status add_name(reader *r, const cell *c, int column, size_t *used) {
    kk_table *t = r->table;
    char *text = t->strings + *used, *end = copy_cell(c, text);
    char *unit = split_unit(text, end);
    *used += (size_t)(end - text) + 1;
    t->column[column].name = (uint32_t)(text - t->strings);
    t->column[column].unit = (uint32_t)((unit ? unit : end) - t->strings);
    if (!text[0]) {
        return fail(r, c->start, KK_SYNTAX, "a column has no name", "name every column in the first line");
    }
    if (kki_table_index_column(t, column) >= 0) {
        return fail_cell(r, c, KK_DUPLICATE_NAME, "names two columns", "rename or remove one of them");
    }
    return KK_OK;
}

static kk_status read_names(reader *r) {
    if (!next_full_line(r)) {
        return kki_error_at(r->error, KK_SYNTAX, r->file, r->line > 0 ? r->line : 1, 1,
                            "the table is empty — the first line must name the columns");
    }
    r->separator = r->options.separator ? r->options.separator : find_separator(r);
    r->table->header_line = r->line;
    kk_status status = allocate_columns(r);
    size_t used = 0;
    const char *at = r->line_start;
    for (int i = 0; i < r->table->column_count && status == KK_OK; i++, at++) {
        cell c = {0};
        status = take_cell(r, &at, &c);
        status = status ? status : check_name(r, &c);
        status = status ? status : add_name(r, &c, i, &used);
    }
    return status;
}

// ---- rows

static kk_status allocate_rows(reader *r) {
    kk_table *t = r->table;
    const size_t left = (size_t)(r->end - r->text);
    size_t lines = 1;
    for (const char *at = r->text; at < r->end; at++) {
        lines += *at == '\n';
    }
    const size_t most = (left + 1) / (2 * (size_t)t->column_count);
    t->row_capacity = (lines < most ? lines : most) + 1; // one more, for the row that breaks the rule and is refused
    t->value = kki_allocate_array(&t->allocator, t->row_capacity * (size_t)t->column_count, sizeof *t->value);
    t->line = kki_allocate_array(&t->allocator, t->row_capacity, sizeof *t->line);
    return t->value && t->line ? KK_OK : fail_memory(r);
}

/// nan, inf and infinity with an optional sign, in any case: where a number that is not finite is allowed.
static int parse_not_finite(const cell *c, double *value) {
    static const struct {
        const char *name;
        double value;
    } word[] = {{"nan", 0.0 / 0.0}, {"inf", 1.0 / 0.0}, {"infinity", 1.0 / 0.0}};
    const int sign = c->length && (*c->text == '-' || *c->text == '+');
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        size_t n = 0;
        while (word[i].name[n] && n + (size_t)sign < c->length && (c->text[n + (size_t)sign] | 32) == word[i].name[n]) {
            n++;
        }
        if (!word[i].name[n] && n + (size_t)sign == c->length) {
            *value = *c->text == '-' ? -word[i].value : word[i].value;
            return 1;
        }
    }
    return 0;
}

static kk_status fail_number(const reader *r, const cell *c) {
    if (c->length == 0) {
        return fail(r, c->start, KK_SYNTAX, "a cell is empty", "give every column a number in every row");
    }
    if (memchr(c->text, ',', c->length)) {
        return fail_cell(r, c, KK_SYNTAX, "is no number", "write decimals with a point, as in 0.5");
    }
    return fail_cell(r, c, KK_SYNTAX, "is no number", "write it like 1, -0.5 or 2.5e-3, without a unit");
}

static kk_status parse_cell(const reader *r, const cell *c, double *value) {
    size_t used = 0;
    const kk_status status = kk_number_parse(c->text, c->length, value, &used);
    if (used != c->length || status == KK_SYNTAX) {
        return fail_number(r, c);
    }
    if (status == KK_NOT_FINITE && !(r->options.allow_not_finite && parse_not_finite(c, value))) {
        return fail_cell(r, c, KK_NOT_FINITE, "is not a finite number",
                         "remove the row, or allow nan and inf where the data may hold them");
    }
    return KK_OK;
}

static kk_status fail_count(const reader *r, int count) {
    const char *what = count > 0 ? "and this row ends after" : "and this row has more than";
    return kki_error_at(r->error, KK_SIZE_MISMATCH, r->file, r->line, column_of(r, r->line_end),
                        "there are %d columns, %s %d cells — give every row one number for each column",
                        r->table->column_count, what, count > 0 ? count : r->table->column_count);
}

static kk_status read_row(reader *r) {
    kk_table *t = r->table;
    if (t->row_count == t->row_capacity) {
        return fail_count(r, 0); // by the count above it never comes to this
    }
    double *value = t->value + t->row_count * (size_t)t->column_count;
    const char *at = r->line_start;
    for (int i = 0; i < t->column_count; i++, at++) {
        if (at > r->line_end) {
            return fail_count(r, i);
        }
        cell c = {0};
        kk_status status = take_cell(r, &at, &c);
        status = status ? status : parse_cell(r, &c, &value[i]);
        if (status) {
            return status;
        }
    }
    if (at <= r->line_end) {
        return fail_count(r, 0);
    }
    t->line[t->row_count++] = r->line;
    return KK_OK;
}

static kk_status read_rows(reader *r) {
    kk_status status = allocate_rows(r);
    while (status == KK_OK && next_full_line(r)) {
        status = read_row(r);
    }
    return status;
}

// ---- the whole

static void skip_mark(reader *r) {
    if (r->end - r->text >= 3 && memcmp(r->text, "\xef\xbb\xbf", 3) == 0) {
        r->text += 3;
    }
}

static kk_status check_options(const kk_table_options *o, const char *name, size_t length, kk_error *error) {
    if (o->separator && o->separator != ',' && o->separator != ';' && o->separator != '\t') {
        return kki_error_at(error, KK_INVALID_ARGUMENT, name, 0, 0, "the separator must be ',', ';', a tab or 0");
    }
    if (length > o->most_bytes || length > INT_MAX) {
        return kki_error_at(error, KK_LIMIT_EXCEEDED, name, 0, 0,
                            "the table has %d MB, over the limit — split it or raise the limit (2 GB at most)",
                            (int)(length >> 20 > INT_MAX ? INT_MAX : length >> 20));
    }
    return KK_OK;
}

kk_status kk_table_read_text(const char *name, const char *text, size_t length, const kk_table_options *options,
                             const kk_allocator *allocator, kk_table **table, kk_error *error) {
    if (kki_is_missing(table)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    *table = NULL;
    const kk_table_options o = options ? *options : kk_table_options_default();
    const kk_allocator a = kki_allocator_or_default(allocator);
    kk_status status = check_options(&o, name, length, error);
    if (status != KK_OK) {
        return status;
    }
    kk_table *t = kki_allocate_zeroed(&a, sizeof *t);
    if (!t) {
        return kki_error_at(error, KK_OUT_OF_MEMORY, name, 0, 0, "out of memory while reading the table");
    }
    t->allocator = a;
    reader r = {
        .file = name, .text = text, .end = text + length, .line_start = text, .options = o, .table = t, .error = error};
    skip_mark(&r);
    status = read_names(&r);
    status = status ? status : read_rows(&r);
    if (status != KK_OK) {
        kk_table_free(t);
        return status;
    }
    *table = t;
    return KK_OK;
}

kk_status kk_table_read_file(const char *path, const kk_table_options *options, const kk_allocator *allocator,
                             kk_table **table, kk_error *error) {
    if (kki_is_missing(table)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    *table = NULL;
    const kk_table_options o = options ? *options : kk_table_options_default();
    const kk_allocator a = kki_allocator_or_default(allocator);
    const kki_file_source source = kki_file_source_system();
    kki_file_data data;
    kk_status status = source.read(source.user, path, o.most_bytes, &a, &data, error);
    if (status == KK_OK) {
        status = kk_table_read_text(path, data.bytes, data.size, &o, &a, table, error);
        kki_file_release(&data, &a);
    }
    return status;
}
