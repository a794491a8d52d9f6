// The error object: always terminated, cut at a whole UTF-8 character where the text is too long.
#include "error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "print.h"

static bool is_continuation(char byte) {
    return ((unsigned char)byte & 0xc0) == 0x80;
}

// bytes that a UTF-8 character with this first byte has; 1 for bytes that start none
static size_t character_length(char first) {
    const unsigned char byte = (unsigned char)first;
    return byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
}

// length of text[0..length) without an incomplete character at its end
static size_t whole_characters(const char *text, size_t length) {
    size_t start = length;
    while (start > 0 && length - start < 4) {
        start--;
        if (!is_continuation(text[start])) {
            return start + character_length(text[start]) > length ? start : length;
        }
    }
    return length;
}

static void copy_truncated(char *target, size_t size, const char *source) {
    size_t length = strlen(source);
    if (length >= size) {
        length = whole_characters(source, size - 1);
    }
    memmove(target, source, length);
    memset(target + length, 0, size - length);
}

// the text is made apart from the error, since an argument may be the error's old text
static void fill(kk_error *error, kk_status status, const char *file, int line, int column, const char *format,
                 va_list arguments) {
    char text[KK_ERROR_TEXT_SIZE + 4]; // room that shows copy_truncated a cut character
    kki_print_list(text, sizeof text, format, arguments);
    copy_truncated(error->file, sizeof error->file, file ? file : "");
    copy_truncated(error->text, sizeof error->text, text);
    error->trail[0] = 0;
    error->status = status;
    error->line = line;
    error->column = column;
}

kk_status kki_error_set(kk_error *error, kk_status status, const char *format, ...) {
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        fill(error, status, NULL, 0, 0, format, arguments);
        va_end(arguments);
    }
    return status;
}

kk_status kki_error_at(kk_error *error, kk_status status, const char *file, int line, int column, const char *format,
                       ...) {
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        fill(error, status, file, line, column, format, arguments);
        va_end(arguments);
    }
    return status;
}

void kki_error_trail(kk_error *error, const char *format, ...) {
    if (!error) {
        return;
    }
    char line[KK_ERROR_TRAIL_SIZE];
    va_list arguments;
    va_start(arguments, format);
    kki_print_list(line, sizeof line, format, arguments);
    va_end(arguments);
    const size_t used = strlen(error->trail), more = strlen(line) + (used > 0);
    if (used + more < sizeof error->trail) {
        error->trail[used] = '\n';
        memcpy(error->trail + used + (used > 0), line, strlen(line) + 1);
    }
}
