// Reading JSON: one loop, a stack of open containers.
#include "json.h"

#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include <karakuri/number.h>

// what may come next
typedef enum expecting { VALUE, VALUE_OR_END, KEY, KEY_OR_END, COMMA_OR_END, NOTHING } expecting;

typedef struct parser {
    kki_json *json;
    const char *file;
    kk_error *error;
    size_t at;
    int32_t open[KKI_JSON_DEPTH];
    int depth;
    expecting expecting;
} parser;

// ---- errors

static kk_status fail(const parser *p, size_t at, kk_status status, const char *text) {
    int line = 1;
    size_t start = 0;
    for (size_t i = 0; i < at && i < p->json->length; i++) {
        if (p->json->text[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    return kki_error_at(p->error, status, p->file, line, (int)(at - start + 1), "JSON: %s", text);
}

// ---- scalars

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static size_t skip_digits(const kki_json *json, size_t at) {
    while (at < json->length && is_digit(json->text[at])) {
        at++;
    }
    return at;
}

static char char_at(const kki_json *json, size_t at) {
    return at < json->length ? json->text[at] : 0;
}

// end of a number of JSON's own grammar, or `at` where there is none: no plus, no leading zeros, digits around the point
static size_t number_end(const kki_json *json, size_t at) {
    const size_t start = at;
    at += char_at(json, at) == '-';
    const size_t digits = at;
    at = skip_digits(json, at);
    if (at == digits || (json->text[digits] == '0' && at - digits > 1)) {
        return start;
    }
    if (char_at(json, at) == '.') {
        const size_t fraction = at + 1;
        at = skip_digits(json, fraction);
        if (at == fraction) {
            return start;
        }
    }
    if (char_at(json, at) == 'e' || char_at(json, at) == 'E') {
        at++;
        at += char_at(json, at) == '-' || char_at(json, at) == '+';
        const size_t exponent = at;
        at = skip_digits(json, at);
        return at == exponent ? start : at;
    }
    return at;
}

static bool is_hexadecimal(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// bytes of the escape at a backslash, 0 where it is none
static size_t escape_length(const kki_json *json, size_t at) {
    const char c = char_at(json, at + 1);
    if (c == 'u') {
        for (size_t i = 2; i < 6; i++) {
            if (!is_hexadecimal(char_at(json, at + i))) {
                return 0;
            }
        }
        return 6;
    }
    return c != 0 && strchr("\"\\/bfnrt", c) ? 2 : 0;
}

// the closing quote of the string that starts at `at`; fills the error
static kk_status find_quote(const parser *p, size_t at, size_t *quote) {
    const kki_json *json = p->json;
    const size_t start = at;
    while (at < json->length && json->text[at] != '"') {
        size_t step = 1;
        if ((unsigned char)json->text[at] < ' ') {
            return fail(p, at, KK_SYNTAX, "a control character in a string — write it as an escape");
        }
        if (json->text[at] == '\\') {
            step = escape_length(json, at);
            if (step == 0) {
                return fail(p, at, KK_SYNTAX, "this is no escape — double the backslash");
            }
        }
        at += step;
    }
    if (at >= json->length) {
        return fail(p, start - 1, KK_SYNTAX, "the string has no end — the text is cut off");
    }
    *quote = at;
    return KK_OK;
}

// ---- tokens

// Commas, colons and opening brackets each stand before at most one value, and one stands before all.
static size_t most_tokens(const char *text, size_t length) {
    size_t count = 1;
    for (size_t i = 0; i < length; i++) {
        count += text[i] == '{' || text[i] == '[' || text[i] == ',' || text[i] == ':';
    }
    return count;
}

static int32_t add_token(parser *p, kki_json_kind kind, size_t start, size_t length) {
    kki_json *json = p->json;
    json->token[json->count] = (kki_json_token){(uint32_t)kind, (uint32_t)start, (uint32_t)length, json->count + 1};
    return json->count++;
}

// a value is complete: what its container expects now
static void value_is_done(parser *p) {
    if (p->depth == 0) {
        p->expecting = NOTHING;
        return;
    }
    p->json->token[p->open[p->depth - 1]].length++;
    p->expecting = COMMA_OR_END;
}

static kk_status open_container(parser *p, bool is_object) {
    if (p->depth == KKI_JSON_DEPTH) {
        return fail(p, p->at, KK_LIMIT_EXCEEDED, "brackets more than 64 deep — no glTF needs that");
    }
    p->open[p->depth++] = add_token(p, is_object ? KKI_JSON_OBJECT : KKI_JSON_ARRAY, p->at, 0);
    p->expecting = is_object ? KEY_OR_END : VALUE_OR_END;
    p->at++;
    return KK_OK;
}

static bool is_open(const parser *p, kki_json_kind kind) {
    return p->depth > 0 && p->json->token[p->open[p->depth - 1]].kind == (uint32_t)kind;
}

static void close_container(parser *p) {
    p->json->token[p->open[--p->depth]].next = p->json->count;
    p->at++;
    value_is_done(p);
}

static kk_status read_string(parser *p) {
    size_t quote = 0;
    const size_t start = p->at + 1;
    const kk_status status = find_quote(p, start, &quote);
    if (status == KK_OK) {
        add_token(p, KKI_JSON_STRING, start, quote - start);
        p->at = quote + 1;
    }
    return status;
}

static kk_status read_word(parser *p) {
    static const struct {
        const char *text;
        kki_json_kind kind;
    } WORDS[] = {{"true", KKI_JSON_TRUE}, {"false", KKI_JSON_FALSE}, {"null", KKI_JSON_NULL}};
    for (int i = 0; i < 3; i++) {
        const size_t length = strlen(WORDS[i].text);
        if (p->json->length - p->at >= length && memcmp(p->json->text + p->at, WORDS[i].text, length) == 0) {
            add_token(p, WORDS[i].kind, p->at, length);
            p->at += length;
            return KK_OK;
        }
    }
    return fail(p, p->at, KK_SYNTAX, "expected a value — the text is cut off or damaged here");
}

static kk_status read_scalar(parser *p) {
    const size_t end = number_end(p->json, p->at);
    kk_status status = KK_OK;
    if (p->json->text[p->at] == '"') {
        status = read_string(p);
    } else if (end > p->at) {
        add_token(p, KKI_JSON_NUMBER, p->at, end - p->at);
        p->at = end;
    } else {
        status = read_word(p);
    }
    if (status == KK_OK) {
        value_is_done(p);
    }
    return status;
}

static void skip_space(parser *p) {
    while (p->at < p->json->length && memchr(" \t\n\r", p->json->text[p->at], 4)) {
        p->at++;
    }
}

static kk_status read_key(parser *p) {
    if (p->json->text[p->at] != '"') {
        return fail(p, p->at, KK_SYNTAX, "expected a name in quotes — the text is cut off or damaged here");
    }
    const kk_status status = read_string(p);
    if (status != KK_OK) {
        return status;
    }
    skip_space(p);
    if (char_at(p->json, p->at) != ':') {
        return fail(p, p->at, KK_SYNTAX, "expected a colon behind the name — the text is cut off or damaged here");
    }
    p->at++;
    p->expecting = VALUE;
    return KK_OK;
}

static kk_status read_comma(parser *p) {
    if (p->json->text[p->at] != ',') {
        return fail(p, p->at, KK_SYNTAX,
                    "expected a comma or the closing bracket — the text is cut off or damaged here");
    }
    p->at++;
    p->expecting = is_open(p, KKI_JSON_OBJECT) ? KEY : VALUE;
    return KK_OK;
}

// one step of the loop; a byte is left
static kk_status step(parser *p) {
    const char c = p->json->text[p->at];
    const bool may_end = p->expecting == VALUE_OR_END || p->expecting == KEY_OR_END || p->expecting == COMMA_OR_END;
    if (may_end && c == (is_open(p, KKI_JSON_OBJECT) ? '}' : ']')) {
        close_container(p);
        return KK_OK;
    }
    switch (p->expecting) {
    case KEY:
    case KEY_OR_END: return read_key(p);
    case COMMA_OR_END: return read_comma(p);
    case NOTHING: return fail(p, p->at, KK_SYNTAX, "something follows the end of the JSON text — remove it");
    case VALUE:
    case VALUE_OR_END: break;
    }
    return c == '{' || c == '[' ? open_container(p, c == '{') : read_scalar(p);
}

static kk_status parse(parser *p) {
    kk_status status = KK_OK;
    for (skip_space(p); status == KK_OK && p->at < p->json->length; skip_space(p)) {
        status = step(p);
    }
    if (status == KK_OK && p->expecting != NOTHING) {
        return fail(p, p->json->length, KK_SYNTAX, "the text ends too early — it is cut off");
    }
    return status;
}

kk_status kki_json_parse(const char *text, size_t length, const char *file, const kk_allocator *allocator,
                         kki_json *json, kk_error *error) {
    *json = (kki_json){.allocator = kki_allocator_or_default(allocator), .text = text, .length = length};
    if (length > INT32_MAX) {
        return kki_error_at(error, KK_LIMIT_EXCEEDED, file, 0, 0, "JSON: more than 2 GiB — split the file");
    }
    json->room = most_tokens(text, length);
    json->token = kki_allocate_array(allocator, json->room, sizeof *json->token);
    if (!json->token) {
        return kki_error_at(error, KK_OUT_OF_MEMORY, file, 0, 0, "JSON: no memory for its values");
    }
    parser p = {.json = json, .file = file, .error = error, .expecting = VALUE};
    const kk_status status = parse(&p);
    if (status != KK_OK) {
        kki_json_free(json);
    }
    return status;
}

void kki_json_free(kki_json *json) {
    kki_release_array(&json->allocator, json->token, json->room, sizeof *json->token);
    json->token = NULL;
    json->count = 0;
}

// ---- walking

bool kki_json_is(const kki_json *json, int32_t token, kki_json_kind kind) {
    return token >= 0 && json->token[token].kind == (uint32_t)kind;
}

int32_t kki_json_member(const kki_json *json, int32_t object, const char *name) {
    if (!kki_json_is(json, object, KKI_JSON_OBJECT)) {
        return KKI_JSON_NONE;
    }
    const size_t length = strlen(name);
    for (int32_t key = object + 1; key < json->token[object].next; key = json->token[key + 1].next) {
        const kki_json_token *t = &json->token[key];
        if (t->length == length && memcmp(json->text + t->start, name, length) == 0) {
            return key + 1;
        }
    }
    return KKI_JSON_NONE;
}

int32_t kki_json_first(const kki_json *json, int32_t array) {
    return kki_json_is(json, array, KKI_JSON_ARRAY) && json->token[array].length > 0 ? array + 1 : KKI_JSON_NONE;
}

int32_t kki_json_after(const kki_json *json, int32_t array, int32_t value) {
    const int32_t next = json->token[value].next;
    return next < json->token[array].next ? next : KKI_JSON_NONE;
}

int32_t kki_json_size(const kki_json *json, int32_t token) {
    const bool holds = kki_json_is(json, token, KKI_JSON_ARRAY) || kki_json_is(json, token, KKI_JSON_OBJECT);
    return holds ? (int32_t)json->token[token].length : 0;
}

size_t kki_json_place(const kki_json *json, int32_t token) {
    return token >= 0 && json->token ? json->token[token].start : 0;
}

const char *kki_json_string(const kki_json *json, int32_t token, size_t *length) {
    const bool is_string = kki_json_is(json, token, KKI_JSON_STRING);
    *length = is_string ? json->token[token].length : 0;
    return is_string ? json->text + json->token[token].start : "";
}

bool kki_json_number(const kki_json *json, int32_t token, double *value) {
    if (!kki_json_is(json, token, KKI_JSON_NUMBER)) {
        return false;
    }
    const kki_json_token *t = &json->token[token];
    return kk_number_parse(json->text + t->start, t->length, value, NULL) == KK_OK;
}

bool kki_json_index(const kki_json *json, int32_t token, int64_t most, int64_t *value) {
    double x;
    if (!kki_json_number(json, token, &x) || !(x >= 0 && x <= (double)most) || x != (double)(int64_t)x) {
        return false;
    }
    *value = (int64_t)x;
    return true;
}
