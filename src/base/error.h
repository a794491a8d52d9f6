// Filling the error object.
//
// Each call gives back the status it was handed, so that a failing function ends in one line:
//     return kki_error_set(error, KK_NOT_FOUND, "body '%s': joint '%s' does not exist", body, joint);
// Formats use %s and %d only, because the C library prints numbers by locale. A double is first made text by
// kk_number_format.
#ifndef KARAKURI_BASE_ERROR_H
#define KARAKURI_BASE_ERROR_H

#include <karakuri/status.h>

/// Writes status and text; place and file become empty. `error` may be NULL. An argument may be the error's own old
/// text or file, which is how a caller adds context: kki_error_set(error, status, "model '%s': %s", name, error->text).
__attribute__((format(printf, 3, 4))) kk_status kki_error_set(kk_error *error, kk_status status, const char *format,
                                                              ...);

/// The same with a place in a text: `file` may be NULL; line and column count from 1, 0 means unknown.
__attribute__((format(printf, 6, 7))) kk_status kki_error_at(kk_error *error, kk_status status, const char *file,
                                                             int line, int column, const char *format, ...);

/// Says where an error came from: one more line of its trail. What does not fit is left out.
__attribute__((format(printf, 2, 3))) void kki_error_trail(kk_error *error, const char *format, ...);

#endif
