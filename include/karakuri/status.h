/// Status codes and the error object: how every call that can fail says so.
///
/// A call that reads user input or allocates returns a `kk_status`. Zero is success, everything else is negative and comes from the one
/// list below. Calls that can say more take a `kk_error *` (which may be NULL) and fill it with a sentence, and where the input was a
/// text, with the place in it.
#ifndef KARAKURI_STATUS_H
#define KARAKURI_STATUS_H

#include <karakuri/api.h>

KK_BEGIN_DECLS

/// The one list: code, name, meaning.
#define KK_STATUS_LIST(X)                                                       \
    X(0, OK, "success")                                                         \
    X(-1, OUT_OF_MEMORY, "an allocation failed")                                \
    X(-2, INVALID_ARGUMENT, "an argument is outside what the call accepts")     \
    X(-3, INVALID_MODEL, "the model description contradicts physics or itself") \
    X(-4, NOT_FOUND, "no item of that name")                                    \
    X(-5, DUPLICATE_NAME, "two items of one kind share a name")                 \
    X(-6, SIZE_MISMATCH, "an array or block has the wrong size")                \
    X(-7, NOT_FINITE, "a number is NaN or infinite")                            \
    X(-8, SYNTAX, "a text does not follow its grammar")                         \
    X(-9, LIMIT_EXCEEDED, "a size, depth or count is over its bound")           \
    X(-10, CORRUPT, "a checksum, magic or version does not match")              \
    X(-11, IO, "reading or writing failed")                                     \
    X(-12, SINGULAR, "a matrix that must be positive definite is not")          \
    X(-13, UNSUPPORTED, "understood, but not supported")                        \
    X(-14, NOT_CONVERGED, "no solution was found to the tolerance asked for")

typedef enum kk_status {
#define KK_STATUS_ENUM(code, name, text) KK_##name = (code),
    KK_STATUS_LIST(KK_STATUS_ENUM)
#undef KK_STATUS_ENUM
} kk_status;

enum { KK_ERROR_TEXT_SIZE = 512, KK_ERROR_FILE_SIZE = 256, KK_ERROR_TRAIL_SIZE = 512 };

/// What went wrong, for a person. Plain data, no ownership; may live on the stack.
typedef struct kk_error {
    kk_status status;
    int line;                      ///< 1-based; 0 where the input was not a text
    int column;                    ///< 1-based, in bytes; 0 where the input was not a text
    char file[KK_ERROR_FILE_SIZE]; ///< empty where the input was not a file
    char text[KK_ERROR_TEXT_SIZE]; ///< one sentence that names the item and the likely fix
    /// What it happened in, one line each, from the nearest on: "included from robot.xml:12:3", "while robot.xml was loaded". Empty for most.
    char trail[KK_ERROR_TRAIL_SIZE];
} kk_error;

/// Where in a file something was written; all zero for what was made by calls.
typedef struct kk_origin {
    const char *file;
    int line, column; ///< 1-based, columns in bytes
} kk_origin;

/// The code's name, "KK_OUT_OF_MEMORY"; "KK_UNKNOWN" for a number not in the list.
KK_API const char *kk_status_name(kk_status status);

/// The code's meaning, a lowercase phrase.
KK_API const char *kk_status_text(kk_status status);

KK_END_DECLS
#endif
