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

/// Names that are made of others are cut at this many bytes before an ending is put behind them; a buffer of KKI_NAME_SIZE
/// holds both.
enum { KKI_MOST_NAME = 1000, KKI_NAME_SIZE = KKI_MOST_NAME + 64 };

/// Bytes of a text that are whole UTF-8 characters and not more than `most`, as the precision of "%.*s".
int kki_whole_length(const char *text, int most);

#endif
