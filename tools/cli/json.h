/// Writing JSON (RFC 8259) into a text: one document, indented; lists of numbers stay on one line.
#ifndef KARAKURI_CLI_JSON_H
#define KARAKURI_CLI_JSON_H

#include <stdint.h>

#include "text.h"

enum { JSON_DEPTH = 16 };

typedef struct json_writer {
    cli_text text;
    int depth;
    bool is_array[JSON_DEPTH];
    bool is_line[JSON_DEPTH]; ///< members on one line
    int members[JSON_DEPTH];
} json_writer;

/// `key` is NULL for members of arrays and for the document itself.
void json_begin_object(json_writer *json, const char *key);
void json_begin_array(json_writer *json, const char *key);
/// Members on one line.
void json_begin_line(json_writer *json, const char *key);
void json_end(json_writer *json);
/// NULL becomes null. Bytes that are not UTF-8 become U+FFFD.
void json_string(json_writer *json, const char *key, const char *value);
/// The shortest decimal that reads back; null where it is not finite.
void json_number(json_writer *json, const char *key, double value);
void json_integer(json_writer *json, const char *key, int64_t value);
void json_bool(json_writer *json, const char *key, bool value);
void json_numbers(json_writer *json, const char *key, const double *values, size_t count);
void json_free(json_writer *json);

#endif
