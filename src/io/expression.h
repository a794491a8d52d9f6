/// Expressions of xacro's ${...}: Python's arithmetic on numbers, texts and truth values, without Python.
///
///     + - * / // % **   < <= > >= == !=   and or not   a if c else b   ( )   numbers 'texts' True False   names
///     sin cos tan asin acos atan atan2 sqrt exp log pow hypot radians degrees abs min max floor ceil int float str, pi
/// with or without "math." before them. As in Python / of whole numbers is not whole, // and % round down, and what a
/// condition does not take is not a fault. What Python has beyond (lists, indices, methods, ...) is refused by name.
///
/// One pass with two stacks (Dijkstra's shunting yard), no recursion: a fault is a value like others, which spreads to
/// the result of every operator but those that leave it aside.
#ifndef KARAKURI_IO_EXPRESSION_H
#define KARAKURI_IO_EXPRESSION_H

#include <karakuri/number.h>

#include "pool.h"

typedef enum kki_value_kind {
    KKI_VALUE_INT,
    KKI_VALUE_FLOAT,
    KKI_VALUE_BOOL,
    KKI_VALUE_TEXT,
    KKI_VALUE_FAULT,   ///< `text` says what is wrong and what to do
    KKI_VALUE_PENDING, ///< `integer` says what must be known before
} kki_value_kind;

typedef struct kki_value {
    kki_value_kind kind;
    kk_status status; ///< of a fault
    int64_t integer;  ///< of an int, a bool
    double number;    ///< of a float
    const char *text; ///< of a text; of a fault with a zero byte at its end
    size_t length;    ///< of the text
} kki_value;

typedef struct kki_names {
    /// The value of a name; a fault without a text for one that is not known.
    kki_value (*look_up)(void *user, const char *name, size_t length);
    void *user;
    kki_pool *pool; ///< for texts that are made
} kki_names;

/// The value of the expression text[length]; a fault where there is none, PENDING as soon as a name is.
/// @param offset  where in the text a fault of the grammar shows; 0 for others
kki_value kki_evaluate(const char *text, size_t length, const kki_names *names, size_t *offset);

/// A text as xacro takes it for a property: a number, True or False, or without its quotes, or as it is.
kki_value kki_value_from_text(const char *text, size_t length);

/// Writes a value as Python does, "2" and "2.0"; texts point to themselves, others into the buffer.
const char *kki_value_to_text(const kki_value *value, char buffer[KK_NUMBER_TEXT_SIZE + 2], size_t *length);

bool kki_value_is_true(const kki_value *value);

/// A fault with a message made of two parts and a name in between, cut short where it is long.
kki_value kki_value_fault(kki_pool *pool, kk_status status, const char *before, const char *name, size_t length,
                          const char *after);

#endif
