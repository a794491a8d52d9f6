/// Pieces of a file's text in messages.
#ifndef KARAKURI_IO_TEXT_H
#define KARAKURI_IO_TEXT_H

#include <stddef.h>

enum { KKI_SHORT_TEXT_SIZE = 64 };

/// A piece of text for a message: cut at a whole UTF-8 character with "..." where it is long, and control characters
/// become blanks.
typedef struct kki_short_text {
    char text[KKI_SHORT_TEXT_SIZE];
} kki_short_text;

kki_short_text kki_shorten(const char *text, size_t length);
kki_short_text kki_shorten_string(const char *text);

#endif
