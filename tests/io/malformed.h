/// What a malformed file must end in: an error with its file, its place, a reason and a remedy, in a second and in memory
/// in proportion to the file; and no number of it that is not finite comes through.
#ifndef KARAKURI_TESTS_IO_MALFORMED_H
#define KARAKURI_TESTS_IO_MALFORMED_H

#include <karakuri/load.h>
#include <karakuri/save.h>
#include <karakuri/table.h>
#include <stdio.h>

#include "../fuzz/fuzz_mesh.h"
#include "support.h"

/// The lists of findings and the limit that a small mesh may use are not in proportion to the file.
enum { MEMORY_TIMES = 32, MEMORY_BASE = 1 << 20 };
/// A file that makes much of little needs room to do so before it is a bomb.
enum { MEMORY_OF_EXPANSION = 16 << 20 };

/// How many files of a kind were tried, and how they ended. A file that loads because the damage does no harm is not
/// counted as malformed.
typedef struct tally {
    const char *kind;
    int refused, harmless;
    size_t most_memory; ///< beyond the share of the file
    double most_seconds;
    size_t memory_base; ///< that it may be
} tally;

/// One reading, with everything that is judged.
typedef struct attempt {
    const char *file;
    const void *bytes;
    size_t size;
    counter memory;
    double seconds;
    kk_status status;
    kk_error error;
    int has_remedy;
} attempt;

/// The words after the reason: behind a semicolon or a dash.
static inline int text_has_remedy(const char *text) {
    return strstr(text, "; ") != NULL || strstr(text, "— ") != NULL;
}

/// Line and column of a text, the byte of a binary file.
static inline int has_place(const kk_error *e) {
    return (e->line > 0 && e->column > 0) || strncmp(e->text, "byte ", 5) == 0;
}

static inline void judge_refusal(const attempt *a, tally *t) {
    const kk_error *e = &a->error;
    t->refused++;
    if (e->status != a->status || strcmp(e->file, a->file) != 0 || !has_place(e) || !e->text[0] || !a->has_remedy) {
        KK_FAIL("%s %d: %s%s '%s':%d:%d: %s\n%.200s", t->kind, t->refused, a->has_remedy ? "" : "no remedy, ",
                kk_status_name(a->status), e->file, e->line, e->column, e->text, (const char *)a->bytes);
    }
}

/// Costs are bounded however it ends.
static inline void judge_costs(const attempt *a, tally *t) {
    const size_t share = MEMORY_TIMES * a->size;
    const size_t beyond = a->memory.peak > share ? a->memory.peak - share : 0;
    t->most_memory = beyond > t->most_memory ? beyond : t->most_memory;
    t->most_seconds = a->seconds > t->most_seconds ? a->seconds : t->most_seconds;
    if (beyond > t->memory_base || a->seconds > (kk_test_is_quick() ? 20 : 1)) {
        KK_FAIL("%s %d: %.3f s, %zu bytes for a file of %zu: %s\n%.200s", t->kind, t->refused, a->seconds,
                a->memory.peak, a->size, a->error.text, (const char *)a->bytes);
    }
    KK_CHECK_EQ_INT(a->memory.blocks, 0);
    KK_CHECK_EQ_INT(a->memory.bytes, 0);
}

// ---- robots

/// How often the written spec has a number that is not finite; −1 where it cannot be written.
static inline int count_not_finite(const kk_spec *spec, int is_mjcf) {
    char *text = NULL;
    size_t size = 0;
    kk_error error = {0};
    int count = 0;
    if ((is_mjcf ? kk_spec_write_mjcf : kk_spec_write_urdf)(spec, NULL, NULL, &text, &size, &error) != KK_OK) {
        return -1;
    }
    for (size_t i = 1; i + 4 < size; i++) { // whole words in any place
        const int starts = strchr(" '\"-", text[i - 1]) != NULL, ends = strchr(" '\"<", text[i + 3]) != NULL;
        count += starts && ends && (memcmp(text + i, "nan", 3) == 0 || memcmp(text + i, "inf", 3) == 0);
    }
    kk_text_free(NULL, text, size);
    return count;
}

static inline int last_error_has_remedy(const kk_messages *messages) {
    for (int i = 0; i < kk_messages_count(messages); i++) {
        const kk_message m = kk_messages_get(messages, i);
        if (m.severity == KK_SEVERITY_ERROR && !m.remedy[0] && !text_has_remedy(m.text)) {
            return 0;
        }
    }
    return 1;
}

/// Loads a robot among other files; `files` has it first. A spec that comes of it is scanned: `not_finite` [out], 0 where
/// there is none.
static inline attempt try_robot(const kk_file *files, int count, int *not_finite) {
    attempt a = {.file = files[0].path, .bytes = files[0].bytes, .memory = {.fail_at = -1}};
    const kk_allocator allocator = counter_allocator(&a.memory);
    const kk_load_options options = {.file = files, .file_count = count};
    kk_spec *spec = NULL;
    kk_messages *messages = NULL;
    for (int i = 0; i < count; i++) {
        a.size += files[i].size;
    }
    const double start = kk_test_seconds();
    a.status = kk_load_file(files[0].path, &options, &allocator, &spec, &messages, &a.error);
    a.seconds = kk_test_seconds() - start;
    KK_CHECK((a.status == KK_OK) == (spec != NULL));
    a.has_remedy = last_error_has_remedy(messages);
    *not_finite = spec ? count_not_finite(spec, strstr(files[0].path, ".xml") != NULL) : 0;
    kk_spec_free(spec);
    kk_messages_free(messages);
    return a;
}

/// @param usual  numbers not finite that the undamaged file has: limits that are open
static inline int check_robot_among(const kk_file *files, int count, int usual, tally *t) {
    int not_finite = 0;
    attempt a = try_robot(files, count, &not_finite);
    judge_costs(&a, t);
    if (a.status == KK_OK) {
        t->harmless++;
        if (not_finite < 0 || not_finite > usual) {
            KK_FAIL("%s: %d numbers are not finite\n%.600s", t->kind, not_finite, (const char *)a.bytes);
        }
    } else {
        judge_refusal(&a, t);
    }
    return a.status != KK_OK;
}

static inline int check_robot(const char *path, const char *bytes, size_t size, int usual, tally *t) {
    const kk_file file = {path, bytes, size};
    return check_robot_among(&file, 1, usual, t);
}

// ---- meshes, tables and plain XML

static inline int check_mesh(const char *file, const void *bytes, size_t size, tally *t) {
    attempt a = {.file = file, .bytes = bytes, .size = size, .memory = {.fail_at = -1}};
    const kk_allocator allocator = counter_allocator(&a.memory);
    kki_mesh *mesh = NULL;
    const double start = kk_test_seconds();
    a.status = kki_mesh_read(bytes, size, file, NULL, &allocator, &mesh, &a.error);
    a.seconds = kk_test_seconds() - start;
    a.has_remedy = text_has_remedy(a.error.text);
    if (mesh) {
        t->harmless++;
        fuzz_check_mesh(mesh);
    } else {
        judge_refusal(&a, t);
    }
    kki_mesh_free(mesh);
    judge_costs(&a, t);
    return a.status != KK_OK;
}

static inline int check_table(const char *text, size_t size, tally *t) {
    attempt a = {.file = "bad.csv", .bytes = text, .size = size, .memory = {.fail_at = -1}};
    const kk_allocator allocator = counter_allocator(&a.memory);
    kk_table *table = NULL;
    const double start = kk_test_seconds();
    a.status = kk_table_read_text("bad.csv", text, size, NULL, &allocator, &table, &a.error);
    a.seconds = kk_test_seconds() - start;
    a.has_remedy = text_has_remedy(a.error.text);
    if (table) {
        t->harmless++;
        for (size_t i = 0; i < kk_table_row_count(table) * (size_t)kk_table_column_count(table); i++) {
            const size_t columns = (size_t)kk_table_column_count(table);
            KK_CHECK(fuzz_is_finite(kk_table_row(table, i / columns)[i % columns]));
        }
    } else {
        judge_refusal(&a, t);
    }
    kk_table_free(table);
    judge_costs(&a, t);
    return a.status != KK_OK;
}

static inline int check_xml(const char *text, size_t size, tally *t) {
    attempt a = {.file = "bad.xml", .bytes = text, .size = size, .memory = {.fail_at = -1}};
    const kk_allocator allocator = counter_allocator(&a.memory);
    kki_xml *xml = NULL;
    const double start = kk_test_seconds();
    a.status = kki_xml_parse("bad.xml", text, size, NULL, &allocator, &xml, &a.error);
    a.seconds = kk_test_seconds() - start;
    a.has_remedy = text_has_remedy(a.error.text);
    if (xml) {
        t->harmless++;
    } else {
        judge_refusal(&a, t);
    }
    kki_xml_free(xml);
    judge_costs(&a, t);
    return a.status != KK_OK;
}

// ---- damage

/// `b` becomes the text with the bytes from `at` replaced by others.
static inline void splice(builder *b, const char *text, size_t size, size_t at, size_t length, const char *by) {
    b->size = 0;
    build_bytes(b, text, at);
    build(b, by);
    build_bytes(b, text + at + length, size - at - length);
}

/// Finds the next number that stands alone, from `at` on; gives its length, 0 at the end. @param ends  what may surround it
static inline size_t next_number(const char *text, size_t size, const char *ends, size_t *at) {
    for (size_t i = *at; i < size; i++) {
        size_t n = 0;
        while (i + n < size && text[i + n] && strchr("0123456789+-.eE", text[i + n])) {
            n++;
        }
        const int is_number = n > 0 && strcspn(text + i, "0123456789") < n && text[i] != 'e' && text[i] != 'E';
        const int is_alone = i > 0 && text[i - 1] && strchr(ends, text[i - 1]) &&
                             (i + n == size || (text[i + n] && strchr(ends, text[i + n])));
        if (is_number && is_alone) {
            *at = i;
            return n;
        }
        i += n;
    }
    return 0;
}

#endif
