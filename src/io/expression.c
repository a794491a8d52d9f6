/// The expressions: tokens, two stacks, operators and functions.
#include "expression.h"

#include <stdio.h>
#include <string.h>

#include <karakuri/elementary.h>

#include "base/float_bits.h"
#include "text.h"

enum { MOST_VALUES = 64, MOST_OPERATORS = 64 };

// ---- values

static kki_value whole(int64_t integer) {
    return (kki_value){.kind = KKI_VALUE_INT, .integer = integer};
}

static kki_value truth(bool is_true) {
    return (kki_value){.kind = KKI_VALUE_BOOL, .integer = is_true};
}

static kki_value text_value(const char *text, size_t length) {
    return (kki_value){.kind = KKI_VALUE_TEXT, .text = text, .length = length};
}

static kki_value fault(kk_status status, const char *text) {
    return (kki_value){.kind = KKI_VALUE_FAULT, .status = status, .text = text};
}

static kki_value real(double number) {
    return kki_is_finite(number) ? (kki_value){.kind = KKI_VALUE_FLOAT, .number = number}
                                 : fault(KK_NOT_FINITE, "the result is not a finite number; check the operands");
}

static kki_value no_memory(const kki_pool *pool) {
    return pool->is_over ? fault(KK_LIMIT_EXCEEDED, "the expansion makes too much text; simplify it or raise the limit")
                         : fault(KK_OUT_OF_MEMORY, "out of memory");
}

kki_value kki_value_fault(kki_pool *pool, kk_status status, const char *before, const char *name, size_t length,
                          const char *after) {
    char text[256];
    const int n = snprintf(text, sizeof text, "%s'%s'%s", before, kki_shorten(name, length).text, after);
    const char *copy = kki_pool_copy(pool, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
    return copy ? fault(status, copy) : no_memory(pool);
}

static bool is_number(const kki_value *v) {
    return v->kind == KKI_VALUE_INT || v->kind == KKI_VALUE_FLOAT || v->kind == KKI_VALUE_BOOL;
}

static bool is_whole(const kki_value *v) {
    return v->kind == KKI_VALUE_INT || v->kind == KKI_VALUE_BOOL;
}

static double as_double(const kki_value *v) {
    return v->kind == KKI_VALUE_FLOAT ? v->number : (double)v->integer;
}

bool kki_value_is_true(const kki_value *value) {
    return value->kind == KKI_VALUE_FLOAT  ? value->number < 0 || value->number > 0
           : value->kind == KKI_VALUE_TEXT ? value->length > 0
                                           : value->integer != 0;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_word(const char *text, size_t length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

kki_value kki_value_from_text(const char *text, size_t length) {
    const char *start = text, *end = text + length;
    while (start < end && is_blank(*start)) {
        start++;
    }
    while (end > start && is_blank(end[-1])) {
        end--;
    }
    const size_t n = (size_t)(end - start);
    size_t used = 0;
    kki_value value = {.kind = KKI_VALUE_INT};
    if (kk_number_parse_int(start, n, &value.integer, &used) == KK_OK && used == n) {
        return value;
    }
    if (kk_number_parse(start, n, &value.number, &used) == KK_OK && used == n) {
        return real(value.number);
    }
    if (is_word(text, length, "true") || is_word(text, length, "True")) {
        return truth(true);
    }
    if (is_word(text, length, "false") || is_word(text, length, "False")) {
        return truth(false);
    }
    // quotes around it: the text inside, which ends before the zero byte of the whole
    const bool is_quoted = length >= 2 && text[0] == '\'' && text[length - 1] == '\'';
    return is_quoted ? text_value(text + 1, length - 2) : text_value(text, length);
}

const char *kki_value_to_text(const kki_value *value, char buffer[KK_NUMBER_TEXT_SIZE + 2], size_t *length) {
    switch (value->kind) {
    case KKI_VALUE_INT: *length = kk_number_format_int(value->integer, buffer); return buffer;
    case KKI_VALUE_BOOL: *length = value->integer ? 4 : 5; return value->integer ? "True" : "False";
    case KKI_VALUE_FLOAT:
        *length = kk_number_format(value->number, buffer);
        if (strcspn(buffer, ".e") == *length) {
            memcpy(buffer + *length, ".0", 3);
            *length += 2;
        }
        return buffer;
    default: *length = value->length; return value->text;
    }
}

// ---- operators

typedef enum code {
    OPEN,   // a parenthesis
    CALL,   // a function's parenthesis
    IF,     // an if whose else is to come
    CHOOSE, // a if c else b
    OR,
    AND,
    NOT,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    EQUAL,
    NOT_EQUAL,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    FLOOR_DIVIDE,
    MODULO,
    NEGATE,
    KEEP, // unary +
    POWER,
} code;

// the higher binds tighter; those that only mark a place have 0
static const int precedence[] = {
    [CHOOSE] = 1,     [OR] = 2,        [AND] = 3,      [NOT] = 4,           [LESS] = 5,
    [LESS_EQUAL] = 5, [GREATER] = 5,   [EQUAL] = 5,    [GREATER_EQUAL] = 5, [ADD] = 6,
    [SUBTRACT] = 6,   [NOT_EQUAL] = 5, [MULTIPLY] = 7, [DIVIDE] = 7,        [FLOOR_DIVIDE] = 7,
    [MODULO] = 7,     [NEGATE] = 8,    [KEEP] = 8,     [POWER] = 9,
};

static kki_value too_large(void) {
    return fault(KK_LIMIT_EXCEEDED, "a whole number beyond 64 bits; write one operand with a point");
}

static kki_value add_whole(code c, int64_t a, int64_t b) {
    int64_t result;
    const bool over = c == ADD        ? __builtin_add_overflow(a, b, &result)
                      : c == SUBTRACT ? __builtin_sub_overflow(a, b, &result)
                                      : __builtin_mul_overflow(a, b, &result);
    return over ? too_large() : whole(result);
}

static kki_value power_whole(int64_t base, int64_t exponent) {
    int64_t result = 1;
    if (base == 0 || base == 1 || base == -1) {
        return whole(exponent == 0 ? 1 : base < 0 && exponent % 2 == 0 ? 1 : base);
    }
    for (; exponent > 0; exponent--) {
        if (__builtin_mul_overflow(result, base, &result)) {
            return too_large();
        }
    }
    return whole(result);
}

/// Python's // and % of whole numbers: rounded down.
static kki_value divide_whole(code c, int64_t a, int64_t b) {
    if (a == INT64_MIN && b == -1) {
        return c == MODULO ? whole(0) : too_large();
    }
    const int64_t rest = a % b;
    const bool down = rest != 0 && (rest < 0) != (b < 0);
    return whole(c == MODULO ? (down ? rest + b : rest) : a / b - (down ? 1 : 0));
}

static kki_value divide_real(code c, double a, double b) {
    if (c == DIVIDE) {
        return real(a / b);
    }
    double rest = kk_fmod(a, b);
    if ((rest < 0 && b > 0) || (rest > 0 && b < 0)) {
        rest += b;
    }
    return real(c == MODULO ? rest : kk_floor((a - rest) / b + 0.5));
}

static kki_value divide(code c, const kki_value *a, const kki_value *b) {
    if (!kki_value_is_true(b)) {
        return fault(KK_INVALID_ARGUMENT, "a division by zero; check the divisor");
    }
    return c != DIVIDE && is_whole(a) && is_whole(b) ? divide_whole(c, a->integer, b->integer)
                                                     : divide_real(c, as_double(a), as_double(b));
}

static kki_value arithmetic(code c, const kki_value *a, const kki_value *b) {
    const bool both_whole = is_whole(a) && is_whole(b);
    const double x = as_double(a), y = as_double(b);
    switch (c) {
    case ADD: return both_whole ? add_whole(c, a->integer, b->integer) : real(x + y);
    case SUBTRACT: return both_whole ? add_whole(c, a->integer, b->integer) : real(x - y);
    case MULTIPLY: return both_whole ? add_whole(c, a->integer, b->integer) : real(x * y);
    case POWER: return both_whole && b->integer >= 0 ? power_whole(a->integer, b->integer) : real(kk_pow(x, y));
    default: return divide(c, a, b);
    }
}

static kki_value join(kki_pool *pool, const kki_value *a, const kki_value *b) {
    char *text = kki_pool_take(pool, a->length + b->length + 1);
    if (!text) {
        return no_memory(pool);
    }
    memcpy(text, a->text, a->length);
    memcpy(text + a->length, b->text, b->length);
    text[a->length + b->length] = 0;
    return text_value(text, a->length + b->length);
}

/// -1, 0 or 1.
static int compare_texts(const kki_value *a, const kki_value *b) {
    const size_t n = a->length < b->length ? a->length : b->length;
    const int order = memcmp(a->text, b->text, n);
    return order < 0 ? -1 : order > 0 ? 1 : (a->length > b->length) - (a->length < b->length);
}

static int compare_numbers(const kki_value *a, const kki_value *b) {
    if (is_whole(a) && is_whole(b)) {
        return (a->integer > b->integer) - (a->integer < b->integer);
    }
    const double x = as_double(a), y = as_double(b);
    return (x > y) - (x < y);
}

static kki_value compare(code c, const kki_value *a, const kki_value *b) {
    const bool both_texts = a->kind == KKI_VALUE_TEXT && b->kind == KKI_VALUE_TEXT;
    if (!both_texts && !(is_number(a) && is_number(b))) {
        return c == EQUAL       ? truth(false)
               : c == NOT_EQUAL ? truth(true)
                                : fault(KK_INVALID_ARGUMENT, "a text is compared with a number; make both the same");
    }
    const int order = both_texts ? compare_texts(a, b) : compare_numbers(a, b);
    switch (c) {
    case LESS: return truth(order < 0);
    case LESS_EQUAL: return truth(order <= 0);
    case GREATER: return truth(order > 0);
    case GREATER_EQUAL: return truth(order >= 0);
    case EQUAL: return truth(order == 0);
    default: return truth(order != 0);
    }
}

static kki_value apply_unary(kki_pool *pool, code c, const kki_value *a) {
    if (a->kind == KKI_VALUE_FAULT) {
        return *a;
    }
    if (c == NOT) {
        return truth(!kki_value_is_true(a));
    }
    if (!is_number(a)) {
        return kki_value_fault(pool, KK_INVALID_ARGUMENT, "a sign before the text ", a->text, a->length,
                               "; only numbers have one");
    }
    if (c == KEEP) {
        return is_whole(a) ? whole(a->integer) : *a;
    }
    const kki_value zero = whole(0);
    return is_whole(a) ? arithmetic(SUBTRACT, &zero, a) : real(-a->number);
}

static kki_value apply_binary(kki_pool *pool, code c, const kki_value *a, const kki_value *b) {
    if (a->kind == KKI_VALUE_FAULT) {
        return *a;
    }
    if (c == AND || c == OR) {
        return kki_value_is_true(a) == (c == AND) ? *b : *a;
    }
    if (b->kind == KKI_VALUE_FAULT) {
        return *b;
    }
    if (precedence[c] == precedence[LESS]) {
        return compare(c, a, b);
    }
    if (c == ADD && a->kind == KKI_VALUE_TEXT && b->kind == KKI_VALUE_TEXT) {
        return join(pool, a, b);
    }
    if (!is_number(a) || !is_number(b)) {
        const kki_value *text = is_number(a) ? b : a;
        return kki_value_fault(pool, KK_INVALID_ARGUMENT, "arithmetic with the text ", text->text, text->length,
                               "; only numbers can be computed with");
    }
    return arithmetic(c, a, b);
}

static kki_value choose(const kki_value *a, const kki_value *condition, const kki_value *b) {
    return condition->kind == KKI_VALUE_FAULT ? *condition : kki_value_is_true(condition) ? *a : *b;
}

// ---- functions

typedef kki_value function(kki_pool *pool, const kki_value *argument, int count);

static kki_value call_radians(kki_pool *pool, const kki_value *v, int count) {
    (void)pool, (void)count;
    return real(as_double(v) * (KK_PI / 180.0));
}

static kki_value call_degrees(kki_pool *pool, const kki_value *v, int count) {
    (void)pool, (void)count;
    return real(as_double(v) * (180.0 / KK_PI));
}

static kki_value call_atan2(kki_pool *pool, const kki_value *v, int count) {
    (void)pool, (void)count;
    return real(kk_atan2(as_double(&v[0]), as_double(&v[1])));
}

static kki_value call_pow(kki_pool *pool, const kki_value *v, int count) {
    (void)pool, (void)count;
    return real(kk_pow(as_double(&v[0]), as_double(&v[1])));
}

static kki_value call_hypot(kki_pool *pool, const kki_value *v, int count) {
    (void)pool, (void)count;
    return real(kk_hypot(as_double(&v[0]), as_double(&v[1])));
}

static kki_value call_abs(kki_pool *pool, const kki_value *v, int count) {
    (void)count;
    return as_double(v) < 0 ? apply_unary(pool, NEGATE, v) : is_whole(v) ? whole(v->integer) : real(kki_abs(v->number));
}

static kki_value call_min(kki_pool *pool, const kki_value *v, int count) {
    (void)pool;
    int best = 0;
    for (int i = 1; i < count; i++) {
        best = compare_numbers(&v[i], &v[best]) < 0 ? i : best;
    }
    return v[best];
}

static kki_value call_max(kki_pool *pool, const kki_value *v, int count) {
    (void)pool;
    int best = 0;
    for (int i = 1; i < count; i++) {
        best = compare_numbers(&v[i], &v[best]) > 0 ? i : best;
    }
    return v[best];
}

static kki_value to_whole(double x) {
    return kki_abs(x) < 9e18 ? whole((int64_t)x) : too_large();
}

static kki_value call_floor(kki_pool *pool, const kki_value *v, int count) {
    (void)pool, (void)count;
    return is_whole(v) ? whole(v->integer) : to_whole(kk_floor(v->number));
}

static kki_value call_ceil(kki_pool *pool, const kki_value *v, int count) {
    (void)pool, (void)count;
    return is_whole(v) ? whole(v->integer) : to_whole(kk_ceil(v->number));
}

/// A number, or the number that a text holds.
static kki_value number_of(kki_pool *pool, const kki_value *v) {
    const kki_value n = v->kind == KKI_VALUE_TEXT ? kki_value_from_text(v->text, v->length) : *v;
    return is_number(&n) ? n
                         : kki_value_fault(pool, KK_INVALID_ARGUMENT, "the text ", v->text, v->length,
                                           " is not a number; write one");
}

static kki_value call_int(kki_pool *pool, const kki_value *v, int count) {
    (void)count;
    const kki_value n = number_of(pool, v);
    return n.kind == KKI_VALUE_FAULT ? n : is_whole(&n) ? whole(n.integer) : to_whole(n.number);
}

static kki_value call_float(kki_pool *pool, const kki_value *v, int count) {
    (void)count;
    const kki_value n = number_of(pool, v);
    return n.kind == KKI_VALUE_FAULT ? n : real(as_double(&n));
}

static kki_value call_str(kki_pool *pool, const kki_value *v, int count) {
    (void)count;
    char buffer[KK_NUMBER_TEXT_SIZE + 2];
    size_t length;
    const char *text = kki_value_to_text(v, buffer, &length);
    const char *copy = kki_pool_copy(pool, text, length);
    return copy ? text_value(copy, length) : no_memory(pool);
}

static const struct {
    const char *name;
    int least, most;
    bool takes_texts;
    double (*real)(double); // or
    function *any;
} functions[] = {
    {"sin", 1, 1, false, kk_sin, NULL},           {"cos", 1, 1, false, kk_cos, NULL},
    {"tan", 1, 1, false, kk_tan, NULL},           {"asin", 1, 1, false, kk_asin, NULL},
    {"acos", 1, 1, false, kk_acos, NULL},         {"atan", 1, 1, false, kk_atan, NULL},
    {"sqrt", 1, 1, false, kk_sqrt, NULL},         {"exp", 1, 1, false, kk_exp, NULL},
    {"log", 1, 1, false, kk_log, NULL},           {"radians", 1, 1, false, NULL, call_radians},
    {"degrees", 1, 1, false, NULL, call_degrees}, {"atan2", 2, 2, false, NULL, call_atan2},
    {"pow", 2, 2, false, NULL, call_pow},         {"hypot", 2, 2, false, NULL, call_hypot},
    {"abs", 1, 1, false, NULL, call_abs},         {"fabs", 1, 1, false, NULL, call_abs},
    {"min", 2, 16, false, NULL, call_min},        {"max", 2, 16, false, NULL, call_max},
    {"floor", 1, 1, false, NULL, call_floor},     {"ceil", 1, 1, false, NULL, call_ceil},
    {"int", 1, 1, true, NULL, call_int},          {"float", 1, 1, true, NULL, call_float},
    {"str", 1, 1, true, NULL, call_str},
};

static const char *without_module(const char *name, size_t *length) {
    if (*length > 5 && memcmp(name, "math.", 5) == 0) {
        *length -= 5;
        return name + 5;
    }
    return name;
}

static int find_function(const char *name, size_t length) {
    name = without_module(name, &length);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (is_word(name, length, functions[i].name)) {
            return (int)i;
        }
    }
    return -1;
}

static kki_value call(kki_pool *pool, int f, const kki_value *arguments, int count) {
    const char *name = functions[f].name;
    if (count < functions[f].least || count > functions[f].most) {
        return kki_value_fault(pool, KK_INVALID_ARGUMENT, "wrong number of arguments of ", name, strlen(name),
                               "; check the call");
    }
    for (int i = 0; i < count; i++) {
        if (arguments[i].kind == KKI_VALUE_FAULT) {
            return arguments[i];
        }
        if (!is_number(&arguments[i]) && !functions[f].takes_texts) {
            return kki_value_fault(pool, KK_INVALID_ARGUMENT, "a text as an argument of ", name, strlen(name),
                                   ", which takes numbers; check the call");
        }
    }
    return functions[f].real ? real(functions[f].real(as_double(arguments))) : functions[f].any(pool, arguments, count);
}

// ---- the two stacks

typedef struct entry {
    code code;
    int function, count; // of a call: which, and arguments complete so far
} entry;

typedef struct machine {
    const char *text;
    size_t at, length, start; // start of the token
    const kki_names *names;
    kki_value value[MOST_VALUES];
    entry entry[MOST_OPERATORS];
    int values, entries;
    bool wants_value; // an operand is next, not an operator
    kki_value fault;  // of the grammar: the end
    bool has_fault;
} machine;

static void fail(machine *m, kk_status status, const char *text) {
    if (!m->has_fault) {
        m->has_fault = true;
        m->fault = fault(status, text);
    }
}

static void fail_named(machine *m, const char *before, const char *name, size_t length, const char *after) {
    if (!m->has_fault) {
        m->has_fault = true;
        m->fault = kki_value_fault(m->names->pool, KK_UNSUPPORTED, before, name, length, after);
    }
}

static void push_value(machine *m, kki_value v) {
    if (m->values == MOST_VALUES) {
        fail(m, KK_LIMIT_EXCEEDED, "an expression of too many parts; split it by a property");
        return;
    }
    m->value[m->values++] = v;
    m->wants_value = false;
}

static void push_entry(machine *m, entry e) {
    if (m->entries == MOST_OPERATORS) {
        fail(m, KK_LIMIT_EXCEEDED, "an expression too deep in parentheses; split it by a property");
        return;
    }
    m->entry[m->entries++] = e;
    m->wants_value = true;
}

static int operand_count(code c) {
    return c == CHOOSE ? 3 : c == NOT || c == NEGATE || c == KEEP ? 1 : 2;
}

/// Takes the topmost operator off and applies it.
static void reduce(machine *m) {
    const code c = m->entry[--m->entries].code;
    const int n = operand_count(c);
    if (m->values < n) {
        fail(m, KK_SYNTAX, "an operator without its operands; check the expression");
        return;
    }
    const kki_value *v = &m->value[m->values - n];
    const kki_value result = n == 1   ? apply_unary(m->names->pool, c, v)
                             : n == 2 ? apply_binary(m->names->pool, c, &v[0], &v[1])
                                      : choose(&v[0], &v[1], &v[2]);
    m->values -= n;
    push_value(m, result);
}

static int top_precedence(const machine *m) {
    return m->entries > 0 ? precedence[m->entry[m->entries - 1].code] : 0;
}

static bool top_is(const machine *m, code c) {
    return m->entries > 0 && m->entry[m->entries - 1].code == c;
}

/// Applies what binds at least as tight as `least`, down to a parenthesis or an if.
static void reduce_to(machine *m, int least) {
    while (!m->has_fault && m->entries > 0 && top_precedence(m) >= least) {
        reduce(m);
    }
}

static void push_binary(machine *m, code c) {
    if (precedence[c] == precedence[LESS]) {
        reduce_to(m, precedence[c] + 1);
        if (top_precedence(m) == precedence[c]) {
            fail(m, KK_UNSUPPORTED, "a chain of comparisons; write a < b and b < c");
        }
    }
    reduce_to(m, c == POWER ? precedence[c] + 1 : precedence[c]);
    push_entry(m, (entry){c, 0, 0});
}

static void push_unary(machine *m, code c) {
    if (c == NOT && top_precedence(m) > precedence[NOT]) {
        fail(m, KK_SYNTAX, "'not' after an operator; put it into parentheses");
    }
    push_entry(m, (entry){c, 0, 0});
}

// ---- tokens

static bool starts_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static char peek(const machine *m, size_t ahead) {
    return m->at + ahead < m->length ? m->text[m->at + ahead] : 0;
}

static void skip_blanks(machine *m) {
    while (is_blank(peek(m, 0))) {
        m->at++;
    }
}

static void read_number(machine *m) {
    const char *start = m->text + m->at;
    const size_t left = m->length - m->at;
    kki_value v = {.kind = KKI_VALUE_FLOAT};
    size_t used = 0, whole_used = 0;
    const kk_status status = kk_number_parse(start, left, &v.number, &used);
    const kk_status whole_status = kk_number_parse_int(start, left, &v.integer, &whole_used);
    if (status != KK_OK) {
        fail(m, status, "a number that is malformed or too large; write it like 0.25 or 1e-3");
        return;
    }
    m->at += used;
    if (starts_name(peek(m, 0))) {
        fail(m, KK_SYNTAX, "a letter after a number; put an operator between them");
    }
    push_value(m, whole_status == KK_OK && whole_used == used ? whole(v.integer) : real(v.number));
}

static void read_quoted(machine *m) {
    const char *start = m->text + m->at + 1;
    const char *end = memchr(start, peek(m, 0), m->length - m->at - 1);
    if (!end) {
        fail(m, KK_SYNTAX, "a text without its closing quote; add it");
        return;
    }
    if (memchr(start, '\\', (size_t)(end - start))) {
        fail(m, KK_UNSUPPORTED, "a backslash in a text; write the character itself");
        return;
    }
    const char *copy = kki_pool_copy(m->names->pool, start, (size_t)(end - start));
    push_value(m, copy ? text_value(copy, (size_t)(end - start)) : no_memory(m->names->pool));
    m->at = (size_t)(end + 1 - m->text);
}

static size_t name_length(const machine *m) {
    size_t n = 0;
    while (starts_name(peek(m, n)) || is_digit(peek(m, n)) || (peek(m, n) == '.' && starts_name(peek(m, n + 1)))) {
        n++;
    }
    return n;
}

static kki_value look_up(const machine *m, const char *name, size_t length) {
    if (is_word(name, length, "True") || is_word(name, length, "true")) {
        return truth(true);
    }
    if (is_word(name, length, "False") || is_word(name, length, "false")) {
        return truth(false);
    }
    const kki_value v = m->names->look_up(m->names->user, name, length);
    size_t plain = length;
    if (v.kind != KKI_VALUE_FAULT || v.text) {
        return v;
    }
    const char *plain_name = without_module(name, &plain);
    return is_word(plain_name, plain, "pi") ? real(KK_PI)
                                            : kki_value_fault(m->names->pool, KK_NOT_FOUND, "the name ", name, length,
                                                              " is not known; define a property before its use");
}

static bool is_python(const char *name, size_t length) {
    static const char *const words[] = {"lambda", "for", "in", "is", "None", "import", "yield", "await"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (is_word(name, length, words[i])) {
            return true;
        }
    }
    return false;
}

static void read_call(machine *m, const char *name, size_t length) {
    const int f = find_function(name, length);
    if (f < 0) {
        fail_named(m, "the function ", name, length, " is not supported; compute the value outside");
        return;
    }
    m->at++;
    push_entry(m, (entry){CALL, f, 0});
}

/// A name where an operand is next: not, a function, or something with a value.
static void read_name(machine *m) {
    const char *name = m->text + m->at;
    const size_t length = name_length(m);
    m->at += length;
    if (is_word(name, length, "not")) {
        push_unary(m, NOT);
        return;
    }
    if (is_python(name, length)) {
        fail_named(m, "Python's ", name, length, " is not supported; compute the value outside");
        return;
    }
    skip_blanks(m);
    if (peek(m, 0) == '(') {
        read_call(m, name, length);
        return;
    }
    const kki_value v = look_up(m, name, length);
    if (v.kind == KKI_VALUE_PENDING) {
        m->has_fault = true;
        m->fault = v;
    }
    push_value(m, v);
}

static void close_parenthesis(machine *m);

static void read_operand(machine *m) {
    const char c = peek(m, 0);
    if (is_digit(c) || (c == '.' && is_digit(peek(m, 1)))) {
        read_number(m);
    } else if (c == '\'' || c == '"') {
        read_quoted(m);
    } else if (starts_name(c)) {
        read_name(m);
    } else if (c == '-' || c == '+') {
        m->at++;
        push_unary(m, c == '-' ? NEGATE : KEEP);
    } else if (c == '(') {
        m->at++;
        push_entry(m, (entry){OPEN, 0, 0});
    } else if (c == ')' && top_is(m, CALL) && m->entry[m->entries - 1].count == 0) {
        m->entry[m->entries - 1].count = -1; // no arguments
        close_parenthesis(m);
    } else if (c == '[' || c == '{') {
        fail(m, KK_UNSUPPORTED, "lists and dictionaries are not supported; use one property for each value");
    } else {
        fail(m, KK_SYNTAX, "a number, a name or a text is missing here; check the expression");
    }
}

static void close_parenthesis(machine *m) {
    m->at++;
    reduce_to(m, 1);
    if (m->has_fault) {
        return;
    }
    if (top_is(m, OPEN)) {
        m->entries--;
        return;
    }
    if (!top_is(m, CALL)) {
        fail(m, KK_SYNTAX, top_is(m, IF) ? "an 'if' without 'else'; add it" : "a ')' too many; remove it");
        return;
    }
    const entry e = m->entry[--m->entries];
    const int count = e.count + 1;
    m->values -= count;
    push_value(m, call(m->names->pool, e.function, &m->value[m->values], count));
}

static void read_comma(machine *m) {
    m->at++;
    reduce_to(m, 1);
    if (!m->has_fault && !top_is(m, CALL)) {
        fail(m, KK_UNSUPPORTED,
             "a comma outside a function call: tuples are not supported; use one property for each value");
        return;
    }
    if (!m->has_fault) {
        m->entry[m->entries - 1].count++;
        m->wants_value = true;
    }
}

static void read_else(machine *m) {
    reduce_to(m, 1);
    if (!m->has_fault && !top_is(m, IF)) {
        fail(m, KK_SYNTAX, "an 'else' without 'if'; write a if condition else b");
        return;
    }
    if (!m->has_fault) {
        m->entry[m->entries - 1].code = CHOOSE;
        m->wants_value = true;
    }
}

static void read_operator_name(machine *m) {
    const char *name = m->text + m->at;
    const size_t length = name_length(m);
    m->at += length;
    if (is_word(name, length, "and") || is_word(name, length, "or")) {
        push_binary(m, name[0] == 'a' ? AND : OR);
    } else if (is_word(name, length, "if")) {
        reduce_to(m, precedence[OR]);
        push_entry(m, (entry){IF, 0, 0});
    } else if (is_word(name, length, "else")) {
        read_else(m);
    } else if (is_python(name, length)) {
        fail_named(m, "Python's ", name, length, " is not supported; compute the value outside");
    } else {
        fail_named(m, "an operator is missing before ", name, length, "; check the expression");
    }
}

static void read_operator(machine *m) {
    static const struct {
        const char *text;
        code code;
    } operators[] = {{"**", POWER}, {"//", FLOOR_DIVIDE}, {"<=", LESS_EQUAL}, {">=", GREATER_EQUAL},
                     {"==", EQUAL}, {"!=", NOT_EQUAL},    {"<", LESS},        {">", GREATER},
                     {"+", ADD},    {"-", SUBTRACT},      {"*", MULTIPLY},    {"/", DIVIDE},
                     {"%", MODULO}};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        const size_t n = strlen(operators[i].text);
        if (m->length - m->at >= n && memcmp(m->text + m->at, operators[i].text, n) == 0) {
            m->at += n;
            push_binary(m, operators[i].code);
            return;
        }
    }
    const char c = peek(m, 0);
    if (c == ')') {
        close_parenthesis(m);
    } else if (c == ',') {
        read_comma(m);
    } else if (starts_name(c)) {
        read_operator_name(m);
    } else if (c == '[' || c == '.') {
        fail(m, KK_UNSUPPORTED, "indices and methods are not supported; use one property for each value");
    } else {
        fail_named(m, "the operator ", m->text + m->at, 1, " is not supported; check the expression");
    }
}

static kki_value finish(machine *m) {
    if (!m->has_fault && m->wants_value) {
        fail(m, KK_SYNTAX,
             m->at == 0 || m->values == 0 ? "an empty expression; write a value"
                                          : "the expression ends too early; add its last part");
    }
    reduce_to(m, 1);
    if (!m->has_fault && m->entries > 0) {
        fail(m, KK_SYNTAX, top_is(m, IF) ? "an 'if' without 'else'; add it" : "a ')' is missing; add it");
    }
    return m->has_fault ? m->fault : m->value[0];
}

kki_value kki_evaluate(const char *text, size_t length, const kki_names *names, size_t *offset) {
    machine m = {.text = text, .length = length, .names = names, .wants_value = true};
    skip_blanks(&m);
    while (m.at < m.length && !m.has_fault) {
        m.start = m.at;
        if (m.wants_value) {
            read_operand(&m);
        } else {
            read_operator(&m);
        }
        skip_blanks(&m);
    }
    *offset = m.has_fault ? m.start : 0;
    const kki_value v = finish(&m);
    return v;
}
