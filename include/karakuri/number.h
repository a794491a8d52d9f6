/// Numbers to text and back, exactly and without a locale.
///
/// Reading rounds correctly whatever the length of the text; writing gives the fewest digits that read back as the same
/// double. Both are the same on every machine.
#ifndef KARAKURI_NUMBER_H
#define KARAKURI_NUMBER_H

#include <karakuri/status.h>

KK_BEGIN_DECLS

/// Room for any number with its terminating zero.
enum { KK_NUMBER_TEXT_SIZE = 32 };

/// Reads the longest number at the start of text[length]: an optional sign; digits with an optional point, at least one
/// digit; and an optional exponent, e or E with an optional sign and at least one digit. No blanks, no hexadecimal, no
/// digit separators.
/// @param value  the nearest double, ties to even; unchanged on failure
/// @param used   bytes read, so that the caller can ask whether anything follows; may be NULL
/// @return KK_SYNTAX where no number starts (*used = 0); KK_NOT_FINITE for nan, inf and infinity in any case, and for
///         what is too large for a double (*used tells its length). What is too small becomes zero with its sign.
KK_API kk_status kk_number_parse(const char *text, size_t length, double *value, size_t *used);

/// Reads an optional sign and digits as a whole number; KK_LIMIT_EXCEEDED outside int64_t (*used tells its length).
KK_API kk_status kk_number_parse_int(const char *text, size_t length, int64_t *value, size_t *used);

/// Writes the shortest decimal that reads back as `value`, of several the nearest, and gives its length without the
/// terminating zero. Plain from 0.0001 to below 1e16 ("0.1", "-25", "1000000"), else with an exponent of at least two
/// digits ("1e-07", "1.5e+300"). Zeros are "0" and "-0"; the others "nan", "inf", "-inf".
KK_API size_t kk_number_format(double value, char text[KK_NUMBER_TEXT_SIZE]);

/// Writes a whole number and gives its length without the terminating zero.
KK_API size_t kk_number_format_int(int64_t value, char text[KK_NUMBER_TEXT_SIZE]);

KK_END_DECLS
#endif
