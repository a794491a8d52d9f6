/// A text that grows. Where memory runs out the program ends with the exit code of a limit: a tool has nothing to save.
#ifndef KARAKURI_CLI_TEXT_H
#define KARAKURI_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_text {
    char *bytes; ///< ends with a zero byte; NULL while empty
    size_t size, capacity;
} cli_text;

void text_free(cli_text *text);
/// The bytes, "" while empty.
const char *text_string(const cli_text *text);
void text_add_bytes(cli_text *text, const char *bytes, size_t size);
void text_add(cli_text *text, const char *string);
__attribute__((format(printf, 2, 3))) void text_format(cli_text *text, const char *format, ...);
/// The shortest decimal that reads back as the number.
void text_add_number(cli_text *text, double value);
/// `count` times the string.
void text_repeat(cli_text *text, const char *string, int count);

/// Adds words of `string`, broken into lines of at most `width` characters; every line but the first starts with `indent` blanks. The first
/// line is taken to have `used` characters already. "\n" in the string ends a line.
void text_wrap(cli_text *text, const char *string, int used, int indent, int width);

/// Characters that a UTF-8 string shows (one column each).
int text_width(const char *string);

/// Memory or the end of the program; zeroed.
void *cli_allocate(size_t count, size_t size);
void *cli_reallocate(void *block, size_t count, size_t size);
/// A copy to be freed.
char *cli_copy(const char *string);

#endif
