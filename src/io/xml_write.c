/// The XML writer: a growing text, and whether its last start tag is still open.
#include "io/xml_write.h"

#include <string.h>

#include <karakuri/number.h>

#include "base/allocator.h"
#include "base/error.h"
#include "io/text.h"
#include "io/xml_characters.h"

/// Deeper elements are not indented any further, or a chain of a thousand bodies would be all blanks.
enum { MOST_INDENT = 40, FIRST_CAPACITY = 4096 };

void kki_xml_write_begin(kki_xml_writer *w, const kk_allocator *allocator) {
    *w = (kki_xml_writer){.allocator = kki_allocator_or_default(allocator)};
}

// ---- the text

static bool reserve(kki_xml_writer *w, size_t more) {
    if (w->status != KK_OK) {
        return false;
    }
    if (w->capacity - w->size > more) {
        return true;
    }
    size_t needed = 0, capacity = 0;
    char *block = NULL;
    if (kki_size_add(w->size, more, &needed) && kki_size_multiply(needed, 2, &capacity)) {
        capacity = capacity < FIRST_CAPACITY ? FIRST_CAPACITY : capacity;
        block = kki_allocate(&w->allocator, capacity);
    }
    if (!block) {
        w->status = kki_error_set(&w->error, KK_OUT_OF_MEMORY, "no memory for the text of the file");
        return false;
    }
    if (w->text) {
        memcpy(block, w->text, w->size);
        kki_release(&w->allocator, w->text, w->capacity);
    }
    w->text = block;
    w->capacity = capacity;
    return true;
}

static void append_bytes(kki_xml_writer *w, const char *bytes, size_t count) {
    if (reserve(w, count)) {
        memcpy(w->text + w->size, bytes, count);
        w->size += count;
    }
}

static void append(kki_xml_writer *w, const char *text) {
    append_bytes(w, text, strlen(text));
}

/// A new line, indented for something at the depth; the start of the file gets the declaration.
static void start_line(kki_xml_writer *w, int depth) {
    static const char blanks[MOST_INDENT + 1] = "                                        ";
    const size_t indent = depth > MOST_INDENT / 2 ? MOST_INDENT : 2 * (size_t)depth;
    append(w, w->size == 0 ? "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" : "\n");
    append_bytes(w, blanks, indent);
}

static const char *escape_of(char c) {
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\t': return "&#9;";
    case '\n': return "&#10;";
    case '\r': return "&#13;";
    default: return NULL;
    }
}

static void append_escaped(kki_xml_writer *w, const char *text) {
    const size_t length = text ? strlen(text) : 0; // a spec under way may have items without names
    if (kki_xml_legal_length(text, length) != length) {
        w->status = w->status ? w->status
                              : kki_error_set(&w->error, KK_INVALID_ARGUMENT,
                                              "the text \"%s\" has a control character or is not UTF-8, which XML "
                                              "cannot hold; rename the item",
                                              kki_shorten(text, kki_xml_legal_length(text, length)).text);
    }
    size_t start = 0;
    for (size_t i = 0; i < length; i++) {
        const char *escape = escape_of(text[i]);
        if (escape) {
            append_bytes(w, text + start, i - start);
            append(w, escape);
            start = i + 1;
        }
    }
    append_bytes(w, text + start, length - start);
}

// ---- elements

static void end_tag(kki_xml_writer *w) {
    if (w->in_tag) {
        append(w, ">");
        w->in_tag = false;
    }
}

void kki_xml_open(kki_xml_writer *w, const char *name) {
    end_tag(w);
    start_line(w, w->depth);
    append(w, "<");
    append(w, name);
    w->depth++;
    w->in_tag = true;
    w->is_inline = false;
}

void kki_xml_close(kki_xml_writer *w, const char *name) {
    w->depth--;
    if (w->in_tag) {
        append(w, "/>");
    } else {
        if (!w->is_inline) {
            start_line(w, w->depth);
        }
        append(w, "</");
        append(w, name);
        append(w, ">");
    }
    w->in_tag = false;
    w->is_inline = false;
}

void kki_xml_comment(kki_xml_writer *w, const char *text) {
    end_tag(w);
    start_line(w, w->depth);
    append(w, "<!-- ");
    for (const char *c = text; *c; c++) {
        append_bytes(w, c, 1);
        if (c[0] == '-' && c[1] == '-') {
            append(w, " ");
        }
    }
    append(w, " -->");
    w->is_inline = false;
}

void kki_xml_characters(kki_xml_writer *w, const char *text) {
    end_tag(w);
    append_escaped(w, text);
    w->is_inline = true;
}

// ---- attributes

static void begin_value(kki_xml_writer *w, const char *name) {
    append(w, " ");
    append(w, name);
    append(w, "=\"");
}

void kki_xml_put(kki_xml_writer *w, const char *name, const char *value) {
    begin_value(w, name);
    append_escaped(w, value);
    append(w, "\"");
}

void kki_xml_put_numbers(kki_xml_writer *w, const char *name, const double *values, int count) {
    begin_value(w, name);
    for (int i = 0; i < count; i++) {
        char text[KK_NUMBER_TEXT_SIZE];
        kk_number_format(values[i], text);
        if (!__builtin_isfinite(values[i]) && w->status == KK_OK) {
            w->status = kki_error_set(&w->error, KK_NOT_FINITE,
                                      "'%s' would be %s, which no reader takes; make the number smaller", name, text);
        }
        append(w, i > 0 ? " " : "");
        append(w, text);
    }
    append(w, "\"");
}

void kki_xml_put_number(kki_xml_writer *w, const char *name, double value) {
    kki_xml_put_numbers(w, name, &value, 1);
}

void kki_xml_put_int(kki_xml_writer *w, const char *name, int64_t value) {
    char text[KK_NUMBER_TEXT_SIZE];
    kk_number_format_int(value, text);
    kki_xml_put(w, name, text);
}

void kki_xml_put_vec3(kki_xml_writer *w, const char *name, kk_vec3 value) {
    kki_xml_put_numbers(w, name, (const double[]){value.x, value.y, value.z}, 3);
}

void kki_xml_put_unless(kki_xml_writer *w, const char *name, double value, double otherwise) {
    if (value != otherwise && !__builtin_isinf(value)) {
        kki_xml_put_number(w, name, value);
    }
}

void kki_xml_put_if(kki_xml_writer *w, const char *name, const char *value) {
    if (value && value[0]) {
        kki_xml_put(w, name, value);
    }
}

// ---- the end

/// A block of exactly the text and its zero byte, so that whoever frees it knows its size.
static char *fit(kki_xml_writer *w) {
    char *block = kki_allocate(&w->allocator, w->size + 1);
    if (!block) {
        w->status = kki_error_set(&w->error, KK_OUT_OF_MEMORY, "no memory for the text of the file");
        return NULL;
    }
    memcpy(block, w->text, w->size);
    block[w->size] = 0;
    return block;
}

kk_status kki_xml_write_end(kki_xml_writer *w, char **text, size_t *size, kk_error *error) {
    append(w, "\n");
    *text = w->status == KK_OK ? fit(w) : NULL;
    *size = *text ? w->size : 0;
    kki_release(&w->allocator, w->text, w->capacity);
    w->text = NULL;
    w->size = w->capacity = 0;
    if (w->status != KK_OK && error) {
        *error = w->error;
    }
    return w->status;
}
