// CSV tables: what is read, what is refused and where, round trips, memory, faults.
#define _POSIX_C_SOURCE 200809L // unlink
#include <karakuri/number.h>
#include <karakuri/random.h>
#include <karakuri/table.h>
#include <stdio.h>
#include <unistd.h>

#include "support.h"

static kk_table *read_good(const char *text) {
    kk_table *table = NULL;
    kk_error error = {0};
    if (kk_table_read_text("t.csv", text, strlen(text), NULL, NULL, &table, &error) != KK_OK) {
        KK_FAIL("%d:%d %s", error.line, error.column, error.text);
    }
    return table;
}

KK_TEST(table_reads_names_units_and_numbers) {
    kk_table *t = read_good("time [s],hip.q [rad],\"knee, \"\"left\"\"\", plain ,a[0]\r\n"
                            "0,0.1,-2.5e3,\t7 ,1\r\n"
                            "\r\n# a comment, with , cells\n"
                            "1,\"2\", 3,4,5");
    if (!t) {
        return;
    }
    KK_CHECK_EQ_INT(kk_table_column_count(t), 5);
    KK_CHECK_EQ_INT(kk_table_row_count(t), 2);
    KK_CHECK_STR(kk_table_column_name(t, 0), "time");
    KK_CHECK_STR(kk_table_column_unit(t, 0), "s");
    KK_CHECK_STR(kk_table_column_name(t, 1), "hip.q");
    KK_CHECK_STR(kk_table_column_unit(t, 1), "rad");
    KK_CHECK_STR(kk_table_column_name(t, 2), "knee, \"left\"");
    KK_CHECK_STR(kk_table_column_unit(t, 2), "");
    KK_CHECK_STR(kk_table_column_name(t, 3), "plain");
    KK_CHECK_STR(kk_table_column_name(t, 4), "a[0]");
    KK_CHECK_STR(kk_table_column_name(t, 5), NULL);
    KK_CHECK_STR(kk_table_column_unit(t, -1), NULL);
    const double rows[2][5] = {{0, 0.1, -2500, 7, 1}, {1, 2, 3, 4, 5}};
    for (size_t i = 0; i < 2; i++) {
        KK_CHECK_BYTES(kk_table_row(t, i), rows[i], sizeof rows[i]);
    }
    KK_CHECK(kk_table_row(t, 2) == NULL);
    KK_CHECK_EQ_INT(kk_table_row_line(t, 0), 2);
    KK_CHECK_EQ_INT(kk_table_row_line(t, 1), 5);
    KK_CHECK_EQ_INT(kk_table_row_line(t, 2), 0);
    KK_CHECK_EQ_INT(kk_table_header_line(t), 1);
    for (int i = 0; i < 5; i++) {
        KK_CHECK_EQ_INT(kk_table_find_column(t, kk_table_column_name(t, i)), i);
    }
    KK_CHECK_EQ_INT(kk_table_find_column(t, "time [s]"), -1);
    kk_table_free(t);
}

KK_TEST(table_finds_the_separator) {
    const char *texts[] = {"a;b\n1;2\n", "a\tb\n1\t2\n", "\xef\xbb\xbf# mark\n\"a\";b\n1;2", "\"a\"\t\"b\"\n 1\t 2 \n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kk_table *t = read_good(texts[i]);
        KK_CHECK_EQ_INT(kk_table_find_column(t, "a"), 0);
        KK_CHECK_EQ_INT(kk_table_find_column(t, "b"), 1);
        KK_CHECK(kk_table_row(t, 0)[0] == 1 && kk_table_row(t, 0)[1] == 2);
        kk_table_free(t);
    }
}

KK_TEST(table_without_rows_is_a_table) {
    kk_table *t = read_good("a,b");
    KK_CHECK_EQ_INT(kk_table_row_count(t), 0);
    kk_table_free(t);
}

// every fault has its place, reason and remedy
KK_TEST(table_refuses_with_place_and_remedy) {
    static const struct {
        const char *text;
        kk_status status;
        int line, column;
        const char *says;
    } c[] = {
        {"", KK_SYNTAX, 1, 1, "empty"},
        {"\n\n# x\n", KK_SYNTAX, 3, 1, "empty"},
        {"a,b\n1\n", KK_SIZE_MISMATCH, 2, 2, "ends after 1 cells"},
        {"a,b\n1,2\n1,2,3\n", KK_SIZE_MISMATCH, 3, 6, "more than 2 cells"},
        {"a,b,c\n,,\n", KK_SYNTAX, 2, 1, "empty"},
        {"a,b\n1,\n", KK_SYNTAX, 2, 3, "empty"},
        {"a,b\n1,  x\n", KK_SYNTAX, 2, 5, "'x' is no number"},
        {"a,b\n1,2 m\n", KK_SYNTAX, 2, 3, "'2 m' is no number"},
        {"a;b\n1;0,5\n", KK_SYNTAX, 2, 3, "point"},
        {"a,b\n1,nan\n", KK_NOT_FINITE, 2, 3, "'nan' is not a finite"},
        {"a,b\n1,-Inf\n", KK_NOT_FINITE, 2, 3, "not a finite"},
        {"a,b\n1e999,1\n", KK_NOT_FINITE, 2, 1, "not a finite"},
        {"a,,b\n", KK_SYNTAX, 1, 3, "no name"},
        {"a,\" [m]\"\n", KK_SYNTAX, 1, 3, "no name"},
        {"a,b,a\n", KK_DUPLICATE_NAME, 1, 5, "'a' names two columns"},
        {"a [m],b,a [s]\n", KK_DUPLICATE_NAME, 1, 9, "names two columns"},
        {"1,2\n3,4\n", KK_SYNTAX, 1, 1, "first line must name"},
        {"a,\"b\n1,2\n", KK_SYNTAX, 1, 3, "not closed"},
        {"a,\"b\"c\n1,2\n", KK_SYNTAX, 1, 6, "closing quote"},
        {"a,b\"c\n1,2\n", KK_SYNTAX, 1, 4, "quote inside"},
        {"a,b\xff\n1,2\n", KK_SYNTAX, 1, 4, "UTF-8"},
        {"a,b\x01\n1,2\n", KK_SYNTAX, 1, 4, "control"},
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        kk_table *table = NULL;
        kk_error e = {0};
        KK_CHECK_EQ_INT(kk_table_read_text("t.csv", c[i].text, strlen(c[i].text), NULL, NULL, &table, &e), c[i].status);
        KK_CHECK(table == NULL);
        if (e.line != c[i].line || e.column != c[i].column || !strstr(e.text, c[i].says) || !strstr(e.text, "—")) {
            KK_FAIL("case %d: %d:%d: %s", (int)i, e.line, e.column, e.text);
        }
        KK_CHECK_STR(e.file, "t.csv");
    }
}

KK_TEST(table_options) {
    kk_table_options o = kk_table_options_default();
    kk_table *t = NULL;
    kk_error error = {0};
    o.allow_not_finite = 1;
    const char *odd = "a,b,c,d\nnan,INF,-infinity,+inf\n";
    KK_CHECK_EQ_INT(kk_table_read_text("t", odd, strlen(odd), &o, NULL, &t, &error), KK_OK);
    const double *v = kk_table_row(t, 0);
    KK_CHECK(v[0] != v[0] && v[1] > 1e308 && v[2] < -1e308 && v[3] > 1e308);
    kk_table_free(t);
    // a number that is too large stays an error: it is not what the file says
    KK_CHECK_EQ_INT(kk_table_read_text("t", "a\n1e999", 7, &o, NULL, &t, &error), KK_NOT_FINITE);
    o = kk_table_options_default();
    o.comments = 0;
    KK_CHECK_EQ_INT(kk_table_read_text("t", "#a\n1", 4, &o, NULL, &t, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_table_find_column(t, "#a"), 0);
    kk_table_free(t);
    o.separator = ';';
    KK_CHECK_EQ_INT(kk_table_read_text("t", "a,b\n1", 5, &o, NULL, &t, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_table_find_column(t, "a,b"), 0);
    kk_table_free(t);
    o.separator = 'x';
    KK_CHECK_EQ_INT(kk_table_read_text("t", "a\n1", 3, &o, NULL, &t, &error), KK_INVALID_ARGUMENT);
    o.separator = 0;
    o.most_bytes = 2;
    KK_CHECK_EQ_INT(kk_table_read_text("t", "a\n1", 3, &o, NULL, &t, &error), KK_LIMIT_EXCEEDED);
}

static int append_to_builder(void *user, const char *bytes, size_t size) {
    build_bytes(user, bytes, size);
    return 0;
}

// whatever is written reads back with the same bits and names
KK_TEST(table_round_trip) {
    enum { COLUMNS = 7, ROWS = 3000 };
    const kk_table_column columns[COLUMNS] = {{"time", "s"}, {"a,b", ""},     {"\"q\"", "N m"}, {" blank ", NULL},
                                              {"12", NULL},  {"脚.q", "rad"}, {"#h", "1/s"}};
    builder out = {0};
    kk_table_writer *writer = NULL;
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_table_writer_create(append_to_builder, &out, columns, COLUMNS, NULL, NULL, &writer, &error),
                    KK_OK);
    static double rows[ROWS][COLUMNS];
    kk_random random = {42, 0, 0};
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < COLUMNS; k++) {
            const uint64_t bits = kk_random_next_uint64(&random);
            memcpy(&rows[i][k], &bits, sizeof bits);
            rows[i][k] = rows[i][k] - rows[i][k] == 0 ? rows[i][k] : -0.0;
        }
        KK_CHECK_EQ_INT(kk_table_writer_add(writer, rows[i], &error), KK_OK);
    }
    KK_CHECK_EQ_INT(kk_table_writer_close(writer, &error), KK_OK);
    kk_table *t = read_good(out.text);
    KK_CHECK_EQ_INT(kk_table_column_count(t), COLUMNS);
    for (int k = 0; k < COLUMNS; k++) {
        KK_CHECK_STR(kk_table_column_unit(t, k), columns[k].unit ? columns[k].unit : "");
        KK_CHECK_EQ_INT(kk_table_find_column(t, columns[k].name), k);
    }
    KK_CHECK_EQ_INT(kk_table_row_count(t), ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        KK_CHECK_BYTES(kk_table_row(t, i), rows[i], sizeof rows[i]);
    }
    kk_table_free(t);
    free(out.text);
}

static int refuse(void *user, const char *bytes, size_t size) {
    (void)user, (void)bytes, (void)size;
    return -1;
}

KK_TEST(table_writer_refuses) {
    const kk_table_column good[2] = {{"a", ""}, {"b", ""}};
    const kk_table_column nameless[1] = {{"", ""}}, control[1] = {{"a\nb", ""}};
    builder out = {0};
    kk_table_writer *w = NULL;
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_table_writer_create(append_to_builder, &out, good, 0, NULL, NULL, &w, &error),
                    KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_table_writer_create(append_to_builder, &out, nameless, 1, NULL, NULL, &w, &error),
                    KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_table_writer_create(append_to_builder, &out, control, 1, NULL, NULL, &w, &error),
                    KK_INVALID_ARGUMENT);
    KK_CHECK(w == NULL);
    // a number that is not finite leaves nothing of its row
    KK_CHECK_EQ_INT(kk_table_writer_create(append_to_builder, &out, good, 2, NULL, NULL, &w, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_table_writer_add(w, (double[]){1, 0.0 / 0.0}, &error), KK_NOT_FINITE);
    KK_CHECK(strstr(error.text, "'b'") != NULL);
    KK_CHECK_EQ_INT(kk_table_writer_close(w, &error), KK_OK);
    KK_CHECK_STR(out.text, "a,b\n");
    free(out.text);
    // a sink that refuses is noticed at the latest when closing
    KK_CHECK_EQ_INT(kk_table_writer_create(refuse, NULL, good, 2, NULL, NULL, &w, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_table_writer_add(w, (double[]){1, 2}, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_table_writer_close(w, &error), KK_IO);
    KK_CHECK_EQ_INT(kk_table_writer_open("/no/such/folder/t.csv", good, 2, NULL, NULL, &w, &error), KK_IO);
    KK_CHECK_EQ_INT(kk_table_writer_close(NULL, &error), KK_OK);
}

#if !defined(__wasm__)
KK_TEST(table_in_a_file) {
    const char *path = "karakuri_test_table.csv";
    const kk_table_column columns[2] = {{"a", "m"}, {"b", ""}};
    kk_table_options o = kk_table_options_default();
    o.separator = ';';
    o.allow_not_finite = 1;
    kk_table_writer *w = NULL;
    kk_table *t = NULL;
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_table_writer_open(path, columns, 2, &o, NULL, &w, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_table_writer_add(w, (double[]){1.5, -1.0 / 0.0}, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_table_writer_close(w, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_table_read_file(path, NULL, NULL, &t, &error), KK_NOT_FINITE);
    KK_CHECK_STR(error.file, path);
    KK_CHECK_EQ_INT(kk_table_read_file(path, &o, NULL, &t, &error), KK_OK);
    KK_CHECK(kk_table_row(t, 0)[0] == 1.5 && kk_table_row(t, 0)[1] < -1e308);
    kk_table_free(t);
    unlink(path);
    KK_CHECK_EQ_INT(kk_table_read_file(path, NULL, NULL, &t, &error), KK_NOT_FOUND);
}
#endif

// the worst files for memory: cells of one byte, many columns, many lines of nothing, and all of them at once
KK_TEST(table_memory_is_bounded) {
    builder b[5] = {{0}, {0}, {0}, {0}, {0}};
    build(&b[0], "a\n");
    build_times(&b[0], "1\n", 20000);
    build(&b[1], "a,b,c,d\n");
    build_times(&b[1], "1,2,3,4\n", 20000);
    for (int i = 0; i < 10000; i++) {
        char name[16];
        snprintf(name, sizeof name, "%s%x", i ? ",g" : "g", i);
        build(&b[2], name);
    }
    build(&b[3], b[2].text);
    build_times(&b[3], "\n", 40000);
    build(&b[4], b[3].text);
    build_times(&b[4], "1\n", 2000);
    for (int i = 0; i < 5; i++) {
        counter c = {.fail_at = -1};
        const kk_allocator a = counter_allocator(&c);
        kk_table *t = NULL;
        kk_error error = {0};
        KK_CHECK_EQ_INT(kk_table_read_text("t", b[i].text, b[i].size, NULL, &a, &t, &error),
                        i == 4 ? KK_SIZE_MISMATCH : KK_OK);
        KK_CHECK(c.peak + b[i].size <= 32 * b[i].size);
        kk_table_free(t);
        KK_CHECK_EQ_INT(c.bytes, 0);
        free(b[i].text);
    }
}

KK_TEST(table_allocation_faults) {
    const char *text = "a,b\n1,2\n";
    for (int fail_at = 0;; fail_at++) {
        counter c = {.fail_at = fail_at};
        const kk_allocator a = counter_allocator(&c);
        kk_table *t = NULL;
        kk_error error = {0};
        const kk_status status = kk_table_read_text("t", text, strlen(text), NULL, &a, &t, &error);
        kk_table_free(t);
        KK_CHECK_EQ_INT(c.blocks, 0);
        if (status == KK_OK) {
            KK_CHECK(fail_at > 3);
            break;
        }
        KK_CHECK_EQ_INT(status, KK_OUT_OF_MEMORY);
    }
    for (int fail_at = 0;; fail_at++) {
        counter c = {.fail_at = fail_at};
        const kk_allocator a = counter_allocator(&c);
        const kk_table_column column = {"a", ""};
        builder out = {0};
        kk_table_writer *w = NULL;
        kk_error error = {0};
        const kk_status status = kk_table_writer_create(append_to_builder, &out, &column, 1, NULL, &a, &w, &error);
        const int calls = c.calls;
        if (status == KK_OK) {
            KK_CHECK_EQ_INT(kk_table_writer_add(w, (double[]){1}, &error), KK_OK);
            KK_CHECK_EQ_INT(c.calls, calls);
        }
        kk_table_writer_close(w, &error);
        KK_CHECK_EQ_INT(c.blocks, 0);
        free(out.text);
        if (status == KK_OK) {
            break;
        }
        KK_CHECK_EQ_INT(status, KK_OUT_OF_MEMORY);
    }
}
