// Arguments that must be given: public calls that return a status have a word for a NULL, and do not crash.
#ifndef KARAKURI_BASE_MISSING_H
#define KARAKURI_BASE_MISSING_H

#include <stdbool.h>
#include <stddef.h>

static inline bool kki_is_any_null(size_t count, const void *const *given) {
    bool missing = false;
    for (size_t i = 0; i < count; i++) {
        missing |= !given[i];
    }
    return missing;
}

/// Whether one of these pointers is NULL.
#define kki_is_missing(...)                                                                        \
    kki_is_any_null(sizeof((const void *const[]){__VA_ARGS__}) / sizeof(const void *),             \
                    (const void *const[]){__VA_ARGS__})

#endif
