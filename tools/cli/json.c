// JSON writing; see json.h.
#include "json.h"

#include <assert.h>
#include <string.h>

static void new_line(json_writer *j) {
    text_add(&j->text, "\n");
    text_repeat(&j->text, "  ", j->depth);
}

/// Length of the UTF-8 character at the start of a string, 0 where the bytes are none (RFC 3629).
static size_t character_length(const unsigned char *s) {
    const size_t n = s[0] < 0x80                   ? 1
                     : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                     : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                     : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                   : 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    const bool is_long = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    const bool is_outside =
        (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f); // surrogates, above U+10FFFF
    return is_long || is_outside ? 0 : n;
}

static void add_character(cli_text *text, const unsigned char *s, size_t n) {
    if (n == 0) {
        text_add(text, "\xef\xbf\xbd");
    } else if (*s == '"' || *s == '\\') {
        text_format(text, "\\%c", *s);
    } else if (*s == '\n') {
        text_add(text, "\\n");
    } else if (*s < ' ') {
        text_format(text, "\\u%04x", *s);
    } else {
        text_add_bytes(text, (const char *)s, n);
    }
}

static void add_string(cli_text *text, const char *value) {
    text_add(text, "\"");
    for (const unsigned char *s = (const unsigned char *)value; *s;) {
        const size_t n = character_length(s);
        add_character(text, s, n);
        s += n ? n : 1;
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
