/// What the operators and functions of expressions do with values.
#include "expression_values.h"

#include <string.h>

#include <karakuri/elementary.h>

#include "base/float_bits.h"
#include "base/print.h"
#include "text.h"

// ---- values

kki_value kki_value_whole(int64_t integer) {
    return (kki_value){.kind = KKI_VALUE_INT, .integer = integer};
}

kki_value kki_value_truth(bool is_true) {
    return (kki_value){.kind = KKI_VALUE_BOOL, .integer = is_true};
}

kki_value kki_value_text(const char *text, size_t length) {
    return (kki_value){.kind = KKI_VALUE_TEXT, .text = text, .length = length};
}

kki_value kki_value_error(kk_status status, const char *text) {
    return (kki_value){.kind = KKI_VALUE_FAULT, .status = status, .text = text};
}

kki_value kki_value_real(double number) {
    return kki_is_finite(number)
               ? (kki_value){.kind = KKI_VALUE_FLOAT, .number = number}
               : kki_value_error(KK_NOT_FINITE, "the result is not a finite number; check the operands");
}

kki_value kki_value_no_memory(const kki_pool *pool) {
    return pool->is_over
               ? kki_value_error(KK_LIMIT_EXCEEDED, "the expansion makes too much text; simplify it or raise the limit")
               : kki_value_error(KK_OUT_OF_MEMORY, "out of memory");
}

kki_value kki_value_fault(kki_pool *pool, kk_status status, const char *before, const char *name, size_t length,
                          const char *after) {
    char text[256];
    const size_t n = kki_print(text, sizeof text, "%s'%s'%s", before, kki_shorten(name, length).text, after);
    const char *copy = kki_pool_copy(pool, text, n < sizeof text ? n : sizeof text - 1);
    return copy ? kki_value_error(status, copy) : kki_value_no_memory(pool);
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

bool kki_text_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool kki_text_is_word(const char *text, size_t length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

kki_value kki_value_from_text(const char *text, size_t length) {
    const char *start = text, *end = text + length;
    while (start < end && kki_text_is_blank(*start)) {
        start++;
    }
    while (end > start && kki_text_is_blank(end[-1])) {
        end--;
    }
    const size_t n = (size_t)(end - start);
    size_t used = 0;
    kki_value value = {.kind = KKI_VALUE_INT};
    if (kk_number_parse_int(start, n, &value.integer, &used) == KK_OK && used == n) {
        return value;
    }
    if (kk_number_parse(start, n, &value.number, &used) == KK_OK && used == n) {
        return kki_value_real(value.number);
    }
    if (kki_text_is_word(text, length, "true") || kki_text_is_word(text, length, "True")) {
        return kki_value_truth(true);
    }
    if (kki_text_is_word(text, length, "false") || kki_text_is_word(text, length, "False")) {
        return kki_value_truth(false);
    }
    // quotes around it: the text inside, which ends before the zero byte of the whole
    const bool is_quoted = length >= 2 && text[0] == '\'' && text[length - 1] == '\'';
    return is_quoted ? kki_value_text(text + 1, length - 2) : kki_value_text(text, length);
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

static kki_value too_large(void) {
    return kki_value_error(KK_LIMIT_EXCEEDED, "a whole number beyond 64 bits; write one operand with a point");
}

static kki_value add_whole(kki_operator c, int64_t a, int64_t b) {
    int64_t result;
    const bool over = c == KKI_ADD        ? __builtin_add_overflow(a, b, &result)
                      : c == KKI_SUBTRACT ? __builtin_sub_overflow(a, b, &result)
                                          : __builtin_mul_overflow(a, b, &result);
    return over ? too_large() : kki_value_whole(result);
}

static kki_value power_whole(int64_t base, int64_t exponent) {
    int64_t result = 1;
    if (base == 0 || base == 1 || base == -1) {
        return kki_value_whole(exponent == 0 ? 1 : base < 0 && exponent % 2 == 0 ? 1 : base);
    }
    for (; exponent > 0; exponent--) {
        if (__builtin_mul_overflow(result, base, &result)) {
            return too_large();
        }
    }
    return kki_value_whole(result);
}

/// Python's // and % of whole numbers: rounded down.
static kki_value divide_whole(kki_operator c, int64_t a, int64_t b) {
    if (a == INT64_MIN && b == -1) {
        return c == KKI_MODULO ? kki_value_whole(0) : too_large();
    }
    const int64_t rest = a % b;
    const bool down = rest != 0 && (rest < 0) != (b < 0);
    return kki_value_whole(c == KKI_MODULO ? (down ? rest + b : rest) : a / b - (down ? 1 : 0));
}

static kki_value divide_real(kki_operator c, double a, double b) {
    if (c == KKI_DIVIDE) {
        return kki_value_real(a / b);
    }
    double rest = kk_fmod(a, b);
    if ((rest < 0 && b > 0) || (rest > 0 && b < 0)) {
        rest += b;
    }
    return kki_value_real(c == KKI_MODULO ? rest : kk_floor((a - rest) / b + 0.5));
}

static kki_value divide(kki_operator c, const kki_value *a, const kki_value *b) {
    if (!kki_value_is_true(b)) {
        return kki_value_error(KK_INVALID_ARGUMENT, "a division by zero; check the divisor");
    }
    return c != KKI_DIVIDE && is_whole(a) && is_whole(b) ? divide_whole(c, a->integer, b->integer)
                                                         : divide_real(c, as_double(a), as_double(b));
}

static kki_value arithmetic(kki_operator c, const kki_value *a, const kki_value *b) {
    const bool both_whole = is_whole(a) && is_whole(b);
    const double x = as_double(a), y = as_double(b);
    switch (c) {
    case KKI_ADD: return both_whole ? add_whole(c, a->integer, b->integer) : kki_value_real(x + y);
    case KKI_SUBTRACT: return both_whole ? add_whole(c, a->integer, b->integer) : kki_value_real(x - y);
    case KKI_MULTIPLY: return both_whole ? add_whole(c, a->integer, b->integer) : kki_value_real(x * y);
    case KKI_POWER:
        return both_whole && b->integer >= 0 ? power_whole(a->integer, b->integer) : kki_value_real(kk_pow(x, y));
    default: return divide(c, a, b);
    }
}

static kki_value join(kki_pool *pool, const kki_value *a, const kki_value *b) {
    char *text = kki_pool_take(pool, a->length + b->length + 1);
    if (!text) {
        return kki_value_no_memory(pool);
    }
    memcpy(text, a->text, a->length);
    memcpy(text + a->length, b->text, b->length);
    text[a->length + b->length] = 0;
    return kki_value_text(text, a->length + b->length);
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

static kki_value compare(kki_operator c, const kki_value *a, const kki_value *b) {
    const bool both_texts = a->kind == KKI_VALUE_TEXT && b->kind == KKI_VALUE_TEXT;
    if (!both_texts && !(is_number(a) && is_number(b))) {
        return c == KKI_EQUAL ? kki_value_truth(false)
               : c == KKI_NOT_EQUAL
                   ? kki_value_truth(true)
                   : kki_value_error(KK_INVALID_ARGUMENT, "a text is compared with a number; make both the same");
    }
    const int order = both_texts ? compare_texts(a, b) : compare_numbers(a, b);
    switch (c) {
    case KKI_LESS: return kki_value_truth(order < 0);
    case KKI_LESS_EQUAL: return kki_value_truth(order <= 0);
    case KKI_GREATER: return kki_value_truth(order > 0);
    case KKI_GREATER_EQUAL: return kki_value_truth(order >= 0);
    case KKI_EQUAL: return kki_value_truth(order == 0);
    default: return kki_value_truth(order != 0);
    }
}

static kki_value apply_unary(kki_pool *pool, kki_operator c, const kki_value *a) {
    if (a->kind == KKI_VALUE_FAULT) {
        return *a;
    }
    if (c == KKI_NOT) {
        return kki_value_truth(!kki_value_is_true(a));
    }
    if (!is_number(a)) {
        return kki_value_fault(pool, KK_INVALID_ARGUMENT, "a sign before the text ", a->text, a->length,
                               "; only numbers have one");
    }
    if (c == KKI_KEEP) {
        return is_whole(a) ? kki_value_whole(a->integer) : *a;
    }
    const kki_value zero = kki_value_whole(0);
    return is_whole(a) ? arithmetic(KKI_SUBTRACT, &zero, a) : kki_value_real(-a->number);
}

static kki_value apply_binary(kki_pool *pool, kki_operator c, const kki_value *a, const kki_value *b) {
    if (a->kind == KKI_VALUE_FAULT) {
        return *a;
    }
    if (c == KKI_AND || c == KKI_OR) {
        return kki_value_is_true(a) == (c == KKI_AND) ? *b : *a;
    }
    if (b->kind == KKI_VALUE_FAULT) {
        return *b;
    }
    if (c >= KKI_LESS && c <= KKI_NOT_EQUAL) {
        return compare(c, a, b);
    }
    if (c == KKI_ADD && a->kind == KKI_VALUE_TEXT && b->kind == KKI_VALUE_TEXT) {
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

int kki_operator_operands(kki_operator c) {
    return c == KKI_CHOOSE ? 3 : c == KKI_NOT || c == KKI_NEGATE || c == KKI_KEEP ? 1 : 2;
}

kki_value kki_operator_apply(kki_pool *pool, kki_operator c, const kki_value *v) {
    const int n = kki_operator_operands(c);
    return n == 1   ? apply_unary(pool, c, v)
           : n == 2 ? apply_binary(pool, c, &v[0], &v[1])
                    : choose(&v[0], &v[1], &v[2]);
}

// ---- functions

typedef kki_value function(kki_pool *pool, const kki_value *argument, int count);

static kki_value call_radians(kki_pool *pool, const kki_value *v, int count) {
    (void)pool, (void)count;
    return kki_value_real(as_double(v) * (KK_PI / 180.0));
}

static kki_value call_degrees(kki_pool *pool, const kki_value *v, int count) {
    (void)pool, (void)count;
    return kki_value_real(as_double(v) * (180.0 / KK_PI));
}

static kki_value call_atan2(kki_pool *pool, const kki_value *v, int count) {
    (void)pool, (void)count;
    return kki_value_real(kk_atan2(as_double(&v[0]), as_double(&v[1])));
}

static kki_value call_pow(kki_pool *pool, const kki_value *v, int count) {
    (void)pool, (void)count;
    return kki_value_real(kk_pow(as_double(&v[0]), as_double(&v[1])));
}

static kki_value call_hypot(kki_pool *pool, const kki_value *v, int count) {
    (void)pool, (void)count;
    return kki_value_real(kk_hypot(as_double(&v[0]), as_double(&v[1])));
}

static kki_value call_abs(kki_pool *pool, const kki_value *v, int count) {
    (void)count;
    return as_double(v) < 0 ? apply_unary(pool, KKI_NEGATE, v)
           : is_whole(v)    ? kki_value_whole(v->integer)
                            : kki_value_real(kki_abs(v->number));
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
    return kki_abs(x) < 9e18 ? kki_value_whole((int64_t)x) : too_large();
}

static kki_value call_floor(kki_pool *pool, const kki_value *v, int count) {
    (void)pool, (void)count;
    return is_whole(v) ? kki_value_whole(v->integer) : to_whole(kk_floor(v->number));
}

static kki_value call_ceil(kki_pool *pool, const kki_value *v, int count) {
    (void)pool, (void)count;
    return is_whole(v) ? kki_value_whole(v->integer) : to_whole(kk_ceil(v->number));
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
    return n.kind == KKI_VALUE_FAULT ? n : is_whole(&n) ? kki_value_whole(n.integer) : to_whole(n.number);
}

static kki_value call_float(kki_pool *pool, const kki_value *v, int count) {
    (void)count;
    const kki_value n = number_of(pool, v);
    return n.kind == KKI_VALUE_FAULT ? n : kki_value_real(as_double(&n));
}

static kki_value call_str(kki_pool *pool, const kki_value *v, int count) {
    (void)count;
    char buffer[KK_NUMBER_TEXT_SIZE + 2];
    size_t length;
    const char *text = kki_value_to_text(v, buffer, &length);
    const char *copy = kki_pool_copy(pool, text, length);
    return copy ? kki_value_text(copy, length) : kki_value_no_memory(pool);
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

const char *kki_name_without_module(const char *name, size_t *length) {
    if (*length > 5 && memcmp(name, "math.", 5) == 0) {
        *length -= 5;
        return name + 5;
    }
    return name;
}

int kki_function_find(const char *name, size_t length) {
    name = kki_name_without_module(name, &length);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (kki_text_is_word(name, length, functions[i].name)) {
            return (int)i;
        }
    }
    return -1;
}

kki_value kki_function_call(kki_pool *pool, int f, const kki_value *arguments, int count) {
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
    return functions[f].real ? kki_value_real(functions[f].real(as_double(arguments)))
                             : functions[f].any(pool, arguments, count);
}
