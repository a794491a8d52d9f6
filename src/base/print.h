// Texts from formats: what the library needs of the C library's printf, the same everywhere and without its other parts.
//
// %s %d %u %lld %%, a text's most bytes (%.300s, %.*s), zeros in front of a number (%03d, %0*d). Numbers with a point are
// written by kk_number_format.
#ifndef KARAKURI_BASE_PRINT_H
#define KARAKURI_BASE_PRINT_H

#include <stdarg.h>
#include <stddef.h>

/// At most `size` bytes with the zero byte at the end. @return  bytes of the whole text, without the zero byte
__attribute__((format(printf, 3, 4))) size_t kki_print(char *text, size_t size, const char *format, ...);
__attribute__((format(printf, 3, 0))) size_t kki_print_list(char *text, size_t size, const char *format,
                                                            va_list values);

#endif
