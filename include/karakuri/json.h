/// Text of others inside JSON documents.
#ifndef KARAKURI_JSON_H
#define KARAKURI_JSON_H

#include <karakuri/status.h>

KK_BEGIN_DECLS

/// Room for one character as it stands in a JSON string.
enum { KK_JSON_CHARACTER_SIZE = 6 };

/// The first character of a text as it stands in a JSON string (RFC 8259): quotes, backslashes and control characters as escapes, bytes that
/// are no UTF-8 as U+FFFD. '<' is an escape as well, so that a document may stand inside a script element.
/// @param out      its bytes, without a zero behind them    @param written  how many
/// @return bytes of the text that it took; 0 at the end of the text
KK_API size_t kk_json_character(const char *text, char out[KK_JSON_CHARACTER_SIZE], size_t *written);

KK_END_DECLS
#endif
