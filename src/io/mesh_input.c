// Errors with their place, and numbers of texts.
#include "mesh_input.h"

#include <stdarg.h>

#include "base/error.h"
#include "base/print.h"
#include "io/text.h"
#include <karakuri/number.h>

// ---- errors

// lines end with LF, CR LF or CR; columns count bytes
static void locate(const kki_mesh_input *in, size_t at, int *line, int *column) {
    size_t lines = 1, start = 0;
    at = at < in->size ? at : in->size;
    for (size_t i = 0; i < at; i++) {
        const bool is_end =
            in->bytes[i] == '\n' || (in->bytes[i] == '\r' && !(i + 1 < in->size && in->bytes[i + 1] == '\n'));
        if (is_end) {
            lines++;
            start = i + 1;
        }
    }
    *line = (int)(lines < INT32_MAX ? lines : INT32_MAX);
    *column = (int)(at - start < INT32_MAX ? at - start + 1 : INT32_MAX);
}

kk_status kki_mesh_error_in_text(const kki_mesh_input *in, size_t at, kk_status status, const char *format, ...) {
    char text[KK_ERROR_TEXT_SIZE];
    int line, column;
    va_list arguments;
    va_start(arguments, format);
    kki_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    locate(in, at, &line, &column);
    return kki_error_at(in->error, status, in->file, line, column, "%s", text);
}

kk_status kki_mesh_error_in_binary(const kki_mesh_input *in, size_t at, kk_status status, const char *format, ...) {
    char text[KK_ERROR_TEXT_SIZE], place[KK_NUMBER_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    kki_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    kk_number_format_int((int64_t)at, place);
    return kki_error_at(in->error, status, in->file, 0, 0, "byte %s: %s", place, text);
}

kk_status kki_mesh_builder_error(const kki_mesh_input *in, size_t at, bool is_text, kk_status status) {
    const char *text = status == KK_NOT_FINITE ? "a coordinate is NaN or infinite — export the mesh again"
                       : status == KK_LIMIT_EXCEEDED
                           ? "more vertices, faces or names than a mesh can hold — simplify it"
                           : "no memory for the mesh — close other programs or simplify it";
    if (status == KK_OK) {
        return KK_OK;
    }
    return is_text ? kki_mesh_error_in_text(in, at, status, "%s", text)
                   : kki_mesh_error_in_binary(in, at, status, "%s", text);
}

// ---- text

static char small_letter(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool kki_word_is_any_case(kki_word w, const char *text) {
    if (strlen(text) != w.length) {
        return false;
    }
    for (size_t i = 0; i < w.length; i++) {
        if (small_letter(w.start[i]) != text[i]) {
            return false;
        }
    }
    return true;
}

static bool ends_word(const kki_cursor *c) {
    return c->at == c->end || kki_is_blank(*c->at) || (*c->at >= '\n' && *c->at <= '\r');
}

static kk_status number_error(const kki_mesh_input *in, const kki_cursor *c, const char *what, kk_status status) {
    kki_cursor copy = *c;
    const kki_word w = kki_take_word(&copy);
    const kki_short_text word = kki_shorten(w.start, w.length);
    if (status == KK_NOT_FINITE || status == KK_LIMIT_EXCEEDED) {
        return kki_mesh_error_in_text(in, kki_offset(in, c->at), status,
                                      "%s is '%s', which is not a finite number in range — export the mesh again", what,
                                      word.text);
    }
    return kki_mesh_error_in_text(in, kki_offset(in, c->at), KK_SYNTAX,
                                  "%s should be a number, found '%s' — check that the file is complete and a mesh",
                                  what, word.text);
}

kk_status kki_mesh_number(const kki_mesh_input *in, kki_cursor *c, const char *what, double *value) {
    size_t used;
    kki_skip_blanks(c);
    const kk_status status = kk_number_parse(c->at, (size_t)(c->end - c->at), value, &used);
    if (status != KK_OK) {
        return number_error(in, c, what, status);
    }
    kki_cursor after = {c->at + used, c->end};
    if (!ends_word(&after)) {
        return number_error(in, c, what, KK_SYNTAX);
    }
    c->at = after.at;
    return KK_OK;
}

kk_status kki_mesh_point(const kki_mesh_input *in, kki_cursor *c, const char *what, kk_vec3 *p) {
    kk_status status = kki_mesh_number(in, c, what, &p->x);
    status = status ? status : kki_mesh_number(in, c, what, &p->y);
    return status ? status : kki_mesh_number(in, c, what, &p->z);
}

kk_status kki_mesh_int(const kki_mesh_input *in, kki_cursor *c, const char *what, int64_t *value) {
    size_t used;
    kki_skip_blanks(c);
    const kk_status status = kk_number_parse_int(c->at, (size_t)(c->end - c->at), value, &used);
    if (status != KK_OK) {
        return number_error(in, c, what, status);
    }
    kki_cursor after = {c->at + used, c->end};
    if (!ends_word(&after)) {
        return number_error(in, c, what, KK_SYNTAX);
    }
    c->at = after.at;
    return KK_OK;
}
