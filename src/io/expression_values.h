/// The parts of an expression that know nothing of its grammar: values, operators, functions.
#ifndef KARAKURI_IO_EXPRESSION_VALUES_H
#define KARAKURI_IO_EXPRESSION_VALUES_H

#include "expression.h"

typedef enum kki_operator {
    KKI_OPEN,   ///< a parenthesis
    KKI_CALL,   ///< a function's parenthesis
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

bool kki_text_is_blank(char c);
bool kki_text_is_word(const char *text, size_t length, const char *word);

#endif
