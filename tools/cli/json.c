// JSON writing; see json.h.
#include "json.h"

#include <assert.h>
#include <karakuri/json.h>
#include <string.h>

static void new_line(json_writer *j) {
    text_add(&j->text, "\n");
    text_repeat(&j->text, "  ", j->depth);
}

static void add_string(cli_text *text, const char *value) {
    char bytes[KK_JSON_CHARACTER_SIZE];
    size_t count;
    text_add(text, "\"");
    for (size_t n; (n = kk_json_character(value, bytes, &count)) > 0; value += n) {
        text_add_bytes(text, bytes, count);
    }
    text_add(text, "\"");
}

/// Comma, line and key in front of a value.
static void begin_value(json_writer *j, const char *key) {
    if (j->depth > 0) {
        const int at = j->depth - 1;
        text_add(&j->text, j->members[at]++ ? "," : "");
        if (!j->is_line[at]) {
            new_line(j);
        } else if (j->members[at] > 1) {
            text_add(&j->text, " ");
        }
    }
    if (key) {
        add_string(&j->text, key);
        text_add(&j->text, ": ");
    }
}

static void begin(json_writer *j, const char *key, bool is_array, bool is_line) {
    begin_value(j, key);
    assert(j->depth < JSON_DEPTH);
    text_add(&j->text, is_array ? "[" : "{");
    j->is_array[j->depth] = is_array;
    j->is_line[j->depth] = is_line;
    j->members[j->depth++] = 0;
}

void json_begin_object(json_writer *json, const char *key) {
    begin(json, key, false, false);
}

void json_begin_array(json_writer *json, const char *key) {
    begin(json, key, true, false);
}

void json_begin_line(json_writer *json, const char *key) {
    begin(json, key, true, true);
}

void json_end(json_writer *json) {
    const int at = --json->depth;
    if (json->members[at] > 0 && !json->is_line[at]) {
        new_line(json);
    }
    text_add(&json->text, json->is_array[at] ? "]" : "}");
    if (at == 0) {
        text_add(&json->text, "\n");
    }
}

void json_string(json_writer *json, const char *key, const char *value) {
    begin_value(json, key);
    if (value) {
        add_string(&json->text, value);
    } else {
        text_add(&json->text, "null");
    }
}

void json_number(json_writer *json, const char *key, double value) {
    begin_value(json, key);
    if (value - value == 0) {
        text_add_number(&json->text, value);
    } else {
        text_add(&json->text, "null");
    }
}

void json_integer(json_writer *json, const char *key, int64_t value) {
    begin_value(json, key);
    text_format(&json->text, "%lld", (long long)value);
}

void json_bool(json_writer *json, const char *key, bool value) {
    begin_value(json, key);
    text_add(&json->text, value ? "true" : "false");
}

void json_numbers(json_writer *json, const char *key, const double *values, size_t count) {
    json_begin_line(json, key);
    for (size_t i = 0; i < count; i++) {
        json_number(json, NULL, values[i]);
    }
    json_end(json);
}

void json_free(json_writer *json) {
    text_free(&json->text);
    memset(json, 0, sizeof *json);
}
