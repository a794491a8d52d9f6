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
    switch (value->kind) {
    case KKI_VALUE_FLOAT: return value->number < 0 || value->number > 0;
    case KKI_VALUE_TEXT:
    case KKI_VALUE_LIST:
    case KKI_VALUE_TUPLE:
    case KKI_VALUE_DICT: return value->length > 0;
    default: return value->integer != 0;
    }
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
    case KKI_VALUE_TEXT: *length = value->length; return value->text;
    case KKI_VALUE_NONE: *length = 4; return "None";
    default: *length = 0; return "";
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
        return c == KKI_EQUAL || c == KKI_NOT_EQUAL
                   ? kki_value_truth(kki_value_equal(a, b) == (c == KKI_EQUAL))
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

/// A fault about any value, which is written as Python would.
static kki_value fault_about(kki_pool *pool, const kki_value *v, const char *before, const char *after) {
    char buffer[KK_NUMBER_TEXT_SIZE + 2];
    const kki_value plain = kki_value_written(pool, v);
    size_t length;
    if (plain.kind == KKI_VALUE_FAULT) {
        return plain;
    }
    const char *text = kki_value_to_text(&plain, buffer, &length);
    return kki_value_fault(pool, KK_INVALID_ARGUMENT, before, text, length, after);
}

static kki_value apply_unary(kki_pool *pool, kki_operator c, const kki_value *a) {
    if (a->kind == KKI_VALUE_FAULT) {
        return *a;
    }
    if (c == KKI_NOT) {
        return kki_value_truth(!kki_value_is_true(a));
    }
    if (!is_number(a)) {
        return fault_about(pool, a, "a sign before the text ", "; only numbers have one");
    }
    if (c == KKI_KEEP) {
        return is_whole(a) ? kki_value_whole(a->integer) : *a;
    }
    const kki_value zero = kki_value_whole(0);
    return is_whole(a) ? arithmetic(KKI_SUBTRACT, &zero, a) : kki_value_real(-a->number);
}

static bool is_joinable(const kki_value *v) {
    return v->kind == KKI_VALUE_TEXT || v->kind == KKI_VALUE_LIST || v->kind == KKI_VALUE_TUPLE;
}

/// What + * and % do with texts and lists.
static kki_value apply_to_sequences(kki_pool *pool, kki_operator c, const kki_value *a, const kki_value *b) {
    if (c == KKI_ADD && is_joinable(a) && a->kind == b->kind) {
        return kki_value_join(pool, a, b);
    }
    if (c == KKI_MULTIPLY && is_joinable(a) && is_whole(b)) {
        return kki_value_times(pool, a, b->integer);
    }
    if (c == KKI_MULTIPLY && is_joinable(b) && is_whole(a)) {
        return kki_value_times(pool, b, a->integer);
    }
    if (c == KKI_MODULO && a->kind == KKI_VALUE_TEXT) {
        return kki_value_format(pool, a, b);
    }
    return fault_about(pool, is_number(a) ? b : a, "arithmetic with the text ", "; only numbers can be computed with");
}

static kki_value ask(kki_pool *pool, kki_operator c, const kki_value *a, const kki_value *b) {
    if (c == KKI_IS || c == KKI_IS_NOT) {
        return kki_value_truth((a->kind == b->kind && kki_value_equal(a, b)) == (c == KKI_IS));
    }
    const kki_value v = kki_value_contains(pool, b, a);
    return v.kind == KKI_VALUE_FAULT || c == KKI_IN ? v : kki_value_truth(!v.integer);
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
    if (c >= KKI_IN && c <= KKI_IS_NOT) {
        return ask(pool, c, a, b);
    }
    return is_number(a) && is_number(b) ? arithmetic(c, a, b) : apply_to_sequences(pool, c, a, b);
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

/// The smallest, or with KKI_GREATER the largest, of the arguments or of the only argument's items.
static kki_value extreme(kki_pool *pool, kki_operator c, const kki_value *v, int count) {
    kki_value list = {.item = v, .length = (size_t)count};
    if (count == 1 && (!kki_value_items(pool, v, &list) || list.kind == KKI_VALUE_FAULT || list.length == 0)) {
        return list.kind == KKI_VALUE_FAULT
                   ? list
                   : kki_value_error(KK_INVALID_ARGUMENT, "min and max need two numbers or a list; add some");
    }
    kki_value best = list.item[0];
    for (size_t i = 1; i < list.length; i++) {
        const kki_value is_better = compare(c, &list.item[i], &best);
        if (is_better.kind == KKI_VALUE_FAULT) {
            return is_better;
        }
        best = is_better.integer ? list.item[i] : best;
    }
    return best;
}

static kki_value call_min(kki_pool *pool, const kki_value *v, int count) {
    return extreme(pool, KKI_LESS, v, count);
}

static kki_value call_max(kki_pool *pool, const kki_value *v, int count) {
    return extreme(pool, KKI_GREATER, v, count);
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
    return is_number(&n) ? n : fault_about(pool, v, "the text ", " is not a number; write one");
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
    const kki_value plain = kki_value_written(pool, v);
    if (plain.kind == KKI_VALUE_FAULT) {
        return plain;
    }
    const char *text = kki_value_to_text(&plain, buffer, &length);
    const char *copy = kki_pool_copy(pool, text, length);
    return copy ? kki_value_text(copy, length) : kki_value_no_memory(pool);
}

static kki_value call_bool(kki_pool *pool, const kki_value *v, int count) {
    (void)pool;
    return kki_value_truth(count > 0 && kki_value_is_true(v));
}

static kki_value need_list(void) {
    return kki_value_error(KK_INVALID_ARGUMENT, "the function takes a list, a dictionary or a text; check the call");
}

static kki_value call_len(kki_pool *pool, const kki_value *v, int count) {
    (void)pool, (void)count;
    const bool has_length = is_joinable(v) || v->kind == KKI_VALUE_DICT;
    return has_length ? kki_value_whole((int64_t)v->length) : need_list();
}

static kki_value call_list(kki_pool *pool, const kki_value *v, int count) {
    kki_value list;
    return count == 0                        ? kki_value_sequence(pool, KKI_VALUE_LIST, v, 0)
           : kki_value_items(pool, v, &list) ? list
                                             : need_list();
}

static kki_value call_tuple(kki_pool *pool, const kki_value *v, int count) {
    kki_value list = call_list(pool, v, count);
    list.kind = list.kind == KKI_VALUE_LIST ? KKI_VALUE_TUPLE : list.kind;
    return list;
}

/// Keys and values in turn, as the grammar hands on dict(a=1); or a dictionary.
static kki_value call_dict(kki_pool *pool, const kki_value *v, int count) {
    if (count == 1) {
        return v->kind == KKI_VALUE_DICT ? *v : need_list();
    }
    return count % 2 == 0 ? kki_value_dictionary(pool, v, (size_t)count / 2) : need_list();
}

static kki_value call_range(kki_pool *pool, const kki_value *v, int count) {
    enum { MOST = 100000 };
    const int64_t first = count > 1 ? v[0].integer : 0, end = count > 1 ? v[1].integer : v[0].integer;
    const int64_t step = count > 2 ? v[2].integer : 1;
    bool are_whole = step != 0;
    for (int i = 0; i < count; i++) {
        are_whole = are_whole && is_whole(&v[i]) && kki_abs((double)v[i].integer) < 1e15;
    }
    const int64_t span = step > 0 ? end - first : first - end, stride = step > 0 ? step : -step;
    const int64_t n = are_whole && span > 0 ? (span + stride - 1) / stride : 0;
    if (!are_whole || n > MOST) {
        return kki_value_error(KK_INVALID_ARGUMENT,
                               "range takes whole numbers and gives at most 100000; check the call");
    }
    kki_value *item = kki_pool_take(pool, ((size_t)n + 1) * sizeof *item);
    for (int64_t i = 0; item && i < n; i++) {
        item[i] = kki_value_whole(first + i * step);
    }
    return item ? (kki_value){.kind = KKI_VALUE_LIST, .item = item, .length = (size_t)n} : kki_value_no_memory(pool);
}

static kki_value call_round(kki_pool *pool, const kki_value *v, int count) {
    (void)pool;
    const double digits = count > 1 ? as_double(&v[1]) : 0;
    if (is_whole(v) && digits >= 0) {
        return kki_value_whole(v->integer);
    }
    const double scale = kk_pow(10, digits), x = as_double(v) * scale, down = kk_floor(x);
    const bool is_half = !(x - down < 0.5) && !(x - down > 0.5);
    const bool goes_up = is_half ? kk_fmod(down, 2) != 0 : x - down > 0.5; // a half goes to the even one
    const double whole = down + (goes_up ? 1 : 0);
    return count > 1 ? kki_value_real(whole / scale) : to_whole(whole);
}

static kki_value call_sum(kki_pool *pool, const kki_value *v, int count) {
    kki_value list, sum = count > 1 ? v[1] : kki_value_whole(0);
    if (!kki_value_items(pool, v, &list)) {
        return need_list();
    }
    for (size_t i = 0; i < list.length && sum.kind != KKI_VALUE_FAULT; i++) {
        sum = apply_binary(pool, KKI_ADD, &sum, &list.item[i]);
    }
    return list.kind == KKI_VALUE_FAULT ? list : sum;
}

static kki_value call_reversed(kki_pool *pool, const kki_value *v, int count) {
    kki_value list = call_list(pool, v, count);
    kki_value *item = list.kind == KKI_VALUE_LIST ? kki_pool_take(pool, (list.length + 1) * sizeof *item) : NULL;
    for (size_t i = 0; item && i < list.length; i++) {
        item[i] = list.item[list.length - 1 - i];
    }
    list.item = item;
    return list.kind == KKI_VALUE_FAULT ? list : item ? list : kki_value_no_memory(pool);
}

/// By insertion: lists of robots are short, and longer ones are refused.
static kki_value call_sorted(kki_pool *pool, const kki_value *v, int count) {
    enum { MOST = 1000 };
    kki_value list = call_reversed(pool, v, count);
    kki_value *item = list.kind == KKI_VALUE_LIST && list.length <= MOST
                          ? kki_pool_take(pool, (list.length + 1) * sizeof *item)
                          : NULL;
    if (!item) {
        return list.kind == KKI_VALUE_FAULT ? list
               : list.length > MOST ? kki_value_error(KK_LIMIT_EXCEEDED, "more than 1000 items to sort; split them")
                                    : kki_value_no_memory(pool);
    }
    for (size_t i = 0; i < list.length; i++) {
        const kki_value next = list.item[list.length - 1 - i];
        size_t at = i;
        for (; at > 0; at--) {
            const kki_value is_less = compare(KKI_LESS, &next, &item[at - 1]);
            if (is_less.kind == KKI_VALUE_FAULT) {
                return is_less;
            }
            if (!is_less.integer) {
                break;
            }
            item[at] = item[at - 1];
        }
        item[at] = next;
    }
    list.item = item;
    return list;
}

static kki_value count_true(kki_pool *pool, const kki_value *v, bool wants_all) {
    kki_value list;
    if (!kki_value_items(pool, v, &list)) {
        return need_list();
    }
    size_t n = 0;
    for (size_t i = 0; i < list.length && list.kind != KKI_VALUE_FAULT; i++) {
        n += kki_value_is_true(&list.item[i]) ? 1 : 0;
    }
    return list.kind == KKI_VALUE_FAULT ? list : kki_value_truth(wants_all ? n == list.length : n > 0);
}

static kki_value call_all(kki_pool *pool, const kki_value *v, int count) {
    (void)count;
    return count_true(pool, v, true);
}

static kki_value call_any(kki_pool *pool, const kki_value *v, int count) {
    (void)count;
    return count_true(pool, v, false);
}

static const struct {
    const char *name;
    int least, most;
    bool takes_all;         // texts and lists too
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
    {"min", 1, 16, true, NULL, call_min},         {"max", 1, 16, true, NULL, call_max},
    {"floor", 1, 1, false, NULL, call_floor},     {"ceil", 1, 1, false, NULL, call_ceil},
    {"int", 1, 1, true, NULL, call_int},          {"float", 1, 1, true, NULL, call_float},
    {"str", 1, 1, true, NULL, call_str},          {"bool", 0, 1, true, NULL, call_bool},
    {"len", 1, 1, true, NULL, call_len},          {"list", 0, 1, true, NULL, call_list},
    {"tuple", 0, 1, true, NULL, call_tuple},      {"dict", 0, 64, true, NULL, call_dict},
    {"range", 1, 3, false, NULL, call_range},     {"round", 1, 2, false, NULL, call_round},
    {"sum", 1, 2, true, NULL, call_sum},          {"reversed", 1, 1, true, NULL, call_reversed},
    {"sorted", 1, 1, true, NULL, call_sorted},    {"any", 1, 1, true, NULL, call_any},
    {"all", 1, 1, true, NULL, call_all},
};

const char *kki_name_without_module(const char *name, size_t *length) {
    static const char *const modules[] = {"math.", "python."};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        const size_t n = strlen(modules[i]);
        if (*length > n && memcmp(name, modules[i], n) == 0) {
            *length -= n;
            return name + n;
        }
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
        if (!is_number(&arguments[i]) && !functions[f].takes_all) {
            return kki_value_fault(pool, KK_INVALID_ARGUMENT, "a text as an argument of ", name, strlen(name),
                                   ", which takes numbers; check the call");
        }
    }
    return functions[f].real ? kki_value_real(functions[f].real(as_double(arguments)))
                             : functions[f].any(pool, arguments, count);
}
