// Growing texts, and memory that is there or ends the program.
#include "text.h"

#include <karakuri/number.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static void *or_end(void *block) {
    if (!block) {
        fputs("karakuri: error: out of memory\n", stderr);
        exit(CLI_EXIT_LIMIT);
    }
    return block;
}

void *cli_allocate(size_t count, size_t size) {
    return or_end(calloc(count ? count : 1, size));
}

void *cli_reallocate(void *block, size_t count, size_t size) {
    return or_end(size && count > SIZE_MAX / size ? NULL : realloc(block, count * size));
}

char *cli_copy(const char *string) {
    const size_t size = strlen(string) + 1;
    return memcpy(cli_allocate(size, 1), string, size);
}

void text_free(cli_text *text) {
    free(text->bytes);
    *text = (cli_text){NULL, 0, 0};
}

const char *text_string(const cli_text *text) {
    return text->bytes ? text->bytes : "";
}

static void reserve(cli_text *text, size_t more) {
    if (text->size + more + 1 > text->capacity) {
        text->capacity = 2 * (text->size + more + 1);
        text->bytes = cli_reallocate(text->bytes, text->capacity, 1);
    }
}

void text_add_bytes(cli_text *text, const char *bytes, size_t size) {
    reserve(text, size);
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = 0;
}

void text_add(cli_text *text, const char *string) {
    text_add_bytes(text, string, strlen(string));
}

void text_format(cli_text *text, const char *format, ...) {
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (length > 0) {
        reserve(text, (size_t)length);
        vsnprintf(text->bytes + text->size, (size_t)length + 1, format, again);
        text->size += (size_t)length;
    }
    va_end(again);
}

void text_add_number(cli_text *text, double value) {
    char number[KK_NUMBER_TEXT_SIZE];
    text_add_bytes(text, number, kk_number_format(value, number));
}

void text_repeat(cli_text *text, const char *string, int count) {
    for (int i = 0; i < count; i++) {
        text_add(text, string);
    }
}

static int width_of(const char *bytes, size_t size) {
    int width = 0;
    for (size_t i = 0; i < size; i++) {
        width += ((unsigned char)bytes[i] & 0xc0) != 0x80;
    }
    return width;
}

int text_width(const char *string) {
    return width_of(string, strlen(string));
}

static int new_line(cli_text *text, int indent) {
    text_add(text, "\n");
    text_repeat(text, " ", indent);
    return indent;
}

void text_wrap(cli_text *text, const char *string, int used, int indent, int width) {
    int at = used;
    bool is_first = true;
    while (*string) {
        const size_t length = strcspn(string, " \n");
        const int word = width_of(string, length);
        if (!is_first && at + 1 + word > width) {
            at = new_line(text, indent);
            is_first = true;
        }
        if (!is_first) {
            text_add(text, " ");
            at++;
        }
        text_add_bytes(text, string, length);
        at += word;
        is_first = false;
        string += length;
        if (*string == '\n') {
            at = new_line(text, indent);
            is_first = true;
        }
        string += *string != 0;
    }
}
