// libFuzzer target of the CSV reader: what is read is finite and in range, and written again it reads back the same.
//
// scripts/fuzz.sh csv builds and runs it. The corpus in tests/fuzz/corpus/csv is replayed by tests/io/test_fuzz_csv.c.
#include <karakuri/table.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition) {
    if (!condition) {
        abort();
    }
}

typedef struct output {
    char *text;
    size_t size, capacity;
} output;

static int append(void *user, const char *text, size_t size) {
    output *b = user;
    if (b->size + size > b->capacity) {
        b->capacity = 2 * (b->size + size);
        b->text = realloc(b->text, b->capacity);
        require(b->text != NULL);
    }
    memcpy(b->text + b->size, text, size);
    b->size += size;
    return 0;
}

static void check_table(const kk_table *t) {
    const int columns = kk_table_column_count(t);
    require(columns > 0 && kk_table_header_line(t) > 0);
    for (int i = 0; i < columns; i++) {
        require(kk_table_find_column(t, kk_table_column_name(t, i)) == i);
        require(kk_table_column_name(t, i)[0] != 0 && kk_table_column_unit(t, i) != NULL);
    }
    for (size_t row = 0; row < kk_table_row_count(t); row++) {
        require(kk_table_row_line(t, row) > kk_table_header_line(t));
        for (int i = 0; i < columns; i++) {
            require(kk_table_row(t, row)[i] - kk_table_row(t, row)[i] == 0);
        }
    }
}

static kk_status write_table(const kk_table *t, output *out) {
    const int columns = kk_table_column_count(t);
    kk_table_column *column = calloc((size_t)columns, sizeof *column);
    kk_table_writer *writer = NULL;
    kk_error error = {0};
    for (int i = 0; column && i < columns; i++) {
        column[i] = (kk_table_column){kk_table_column_name(t, i), kk_table_column_unit(t, i)};
    }
    const kk_status status = kk_table_writer_create(append, out, column, columns, NULL, NULL, &writer, &error);
    for (size_t row = 0; status == KK_OK && row < kk_table_row_count(t); row++) {
        require(kk_table_writer_add(writer, kk_table_row(t, row), &error) == KK_OK);
    }
    require(kk_table_writer_close(writer, &error) == KK_OK);
    free(column);
    return status;
}

static void check_same(const kk_table *a, const kk_table *b) {
    const size_t columns = (size_t)kk_table_column_count(a);
    require(kk_table_column_count(b) == (int)columns && kk_table_row_count(a) == kk_table_row_count(b));
    for (size_t row = 0; row < kk_table_row_count(a); row++) {
        require(memcmp(kk_table_row(a, row), kk_table_row(b, row), columns * sizeof(double)) == 0);
    }
}

static void check_round_trip(const kk_table *t) {
    output out = {NULL, 0, 0};
    if (write_table(t, &out) == KK_OK) {
        kk_table *again = NULL;
        kk_error error = {0};
        require(kk_table_read_text("again.csv", out.text, out.size, NULL, NULL, &again, &error) == KK_OK);
        check_same(t, again);
        kk_table_free(again);
    }
    free(out.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kk_table *table = NULL;
    kk_error error = {0};
    const kk_status status = kk_table_read_text("fuzz.csv", (const char *)data, size, NULL, NULL, &table, &error);
    require((status == KK_OK) == (table != NULL));
    if (table) {
        check_table(table);
        check_round_trip(table);
    } else {
        require(error.text[0] != 0 && error.line > 0 && error.column > 0);
    }
    kk_table_free(table);
    return 0;
}
