/// Expressions of xacro's ${...}: Python's arithmetic on numbers, texts and truth values, without Python.
///
///     + - * / // % **   < <= > >= == != in is   and or not   a if c else b   ( )   numbers 'texts' True False None   names
///     [a, b] (a, b) dict(k=v)   a[i] a[i:j] a.key   methods of texts, lists and dictionaries
///     sin cos tan asin acos atan atan2 sqrt exp log pow hypot radians degrees abs min max floor ceil round, pi
///     int float str bool len list tuple dict range sum sorted reversed any all
/// with or without "math." or "python." before them. As in Python / of whole numbers is not whole, // and % round down, and
/// what a condition does not take is not a fault. What Python has beyond (lambda, comprehensions, ...) is refused by name.
/// Lists and dictionaries are values that never change, so they are shared.
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
    KKI_VALUE_NONE,    ///< Python's None
    KKI_VALUE_LIST,    ///< `item` [length]
    KKI_VALUE_TUPLE,   ///< the same
    KKI_VALUE_DICT,    ///< `item` [2 length]: a key and its value in turn, as they were put in
    KKI_VALUE_FAULT,   ///< `text` says what is wrong and what to do
    KKI_VALUE_PENDING, ///< `integer` says what must be known before
} kki_value_kind;

typedef struct kki_value {
    kki_value_kind kind;
    kk_status status; ///< of a fault
    int64_t integer;  ///< of an int, a bool
    double number;    ///< of a float
    const char *text; ///< of a text; of a fault with a zero byte at its end
    size_t length;    ///< of the text, the list, the dictionary
    const struct kki_value *item;
} kki_value;

typedef struct kki_names {
    /// The value of a name; a fault without a text for one that is not known.
    kki_value (*look_up)(void *user, const char *name, size_t length);
    void *user;
    kki_pool *pool; ///< for texts and lists that are made
    /// Functions of whoever asks, such as load_yaml; both may be NULL. A number for `call`; -1: not known.
    int (*find_function)(void *user, const char *name, size_t length);
    kki_value (*call)(void *user, int function, const kki_value *argument, int count);
} kki_names;

/// The value of the expression text[length]; a fault where there is none, PENDING as soon as a name is.
/// @param offset  where in the text a fault of the grammar shows; 0 for others
kki_value kki_evaluate(const char *text, size_t length, const kki_names *names, size_t *offset);

/// A text as xacro takes it for a property: a number, True or False, or without its quotes, or as it is.
kki_value kki_value_from_text(const char *text, size_t length);

/// Writes a value as Python does, "2" and "2.0"; texts point to themselves, others into the buffer. Lists and dictionaries
/// go through kki_value_written before.
const char *kki_value_to_text(const kki_value *value, char buffer[KK_NUMBER_TEXT_SIZE + 2], size_t *length);

/// A list or a dictionary as the text that Python writes; others as they are. A fault where there is no memory.
kki_value kki_value_written(kki_pool *pool, const kki_value *value);

bool kki_value_is_true(const kki_value *value);

/// A fault with a message made of two parts and a name in between, cut short where it is long.
kki_value kki_value_fault(kki_pool *pool, kk_status status, const char *before, const char *name, size_t length,
                          const char *after);

#endif
