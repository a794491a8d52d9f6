/// The parts of an expression that know nothing of its grammar: values, operators, functions.
#ifndef KARAKURI_IO_EXPRESSION_VALUES_H
#define KARAKURI_IO_EXPRESSION_VALUES_H

#include "expression.h"

typedef enum kki_operator {
    KKI_OPEN,   ///< a parenthesis
    KKI_CALL,   ///< a function's parenthesis
    KKI_METHOD, ///< a method's parenthesis
    KKI_LIST,   ///< a list's bracket
    KKI_INDEX,  ///< the bracket of an index
    KKI_IF,     ///< an if whose else is to come
    KKI_CHOOSE, ///< a if c else b
    KKI_OR,
    KKI_AND,
    KKI_NOT,
    KKI_LESS,
    KKI_LESS_EQUAL,
    KKI_GREATER,
    KKI_GREATER_EQUAL,
    KKI_EQUAL,
    KKI_NOT_EQUAL,
    KKI_IN,
    KKI_NOT_IN,
    KKI_IS,
    KKI_IS_NOT,
    KKI_ADD,
    KKI_SUBTRACT,
    KKI_MULTIPLY,
    KKI_DIVIDE,
    KKI_FLOOR_DIVIDE,
    KKI_MODULO,
    KKI_NEGATE,
    KKI_KEEP, ///< unary +
    KKI_POWER,
} kki_operator;

kki_value kki_value_whole(int64_t integer);
kki_value kki_value_truth(bool is_true);
kki_value kki_value_text(const char *text, size_t length);
kki_value kki_value_error(kk_status status, const char *text);
kki_value kki_value_real(double number); ///< a fault where it is not finite
kki_value kki_value_no_memory(const kki_pool *pool);

int kki_operator_operands(kki_operator c);

/// Applies an operator to v[operands]; those that only mark a place have no result.
kki_value kki_operator_apply(kki_pool *pool, kki_operator c, const kki_value *v);

/// Which function has that name, with or without "math."; −1: none.
int kki_function_find(const char *name, size_t length);
kki_value kki_function_call(kki_pool *pool, int function, const kki_value *arguments, int count);

/// "math.sin" is "sin".
const char *kki_name_without_module(const char *name, size_t *length);

// ---- lists, dictionaries and parts of texts (expression_lists.c)

/// A list, or a tuple, of copies of v[count]; a fault among them is the result.
kki_value kki_value_sequence(kki_pool *pool, kki_value_kind kind, const kki_value *v, size_t count);
/// v[2 count]: keys and values in turn; the last of two equal keys counts.
kki_value kki_value_dictionary(kki_pool *pool, const kki_value *v, size_t count);
bool kki_value_equal(const kki_value *a, const kki_value *b);
/// The value at a key; NULL: there is none.
const kki_value *kki_dictionary_find(const kki_value *dictionary, const kki_value *key);

kki_value kki_value_contains(kki_pool *pool, const kki_value *container, const kki_value *member);
kki_value kki_value_join(kki_pool *pool, const kki_value *a, const kki_value *b);
kki_value kki_value_times(kki_pool *pool, const kki_value *a, int64_t times);
kki_value kki_value_format(kki_pool *pool, const kki_value *format, const kki_value *values);
kki_value kki_value_at(kki_pool *pool, const kki_value *base, const kki_value *index);
kki_value kki_value_slice(kki_pool *pool, const kki_value *base, const kki_value *first, const kki_value *end);
kki_value kki_value_member(kki_pool *pool, const kki_value *base, const char *name, size_t length);
/// The items of a list, the keys of a dictionary, the characters of a text; false for what has none.
bool kki_value_items(kki_pool *pool, const kki_value *v, kki_value *list);

/// Which method has that name; -1: none.
int kki_method_find(const char *name, size_t length);
kki_value kki_method_call(kki_pool *pool, int method, const kki_value *base, const kki_value *arguments, int count);

bool kki_text_is_blank(char c);
bool kki_text_is_word(const char *text, size_t length, const char *word);

#endif
