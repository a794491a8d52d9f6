/// Typed reading of attributes and texts, for the loaders.
///
/// A value that is absent but required, or is not what it must be, is added to the list of findings as an error at the
/// column where it is wrong, and its status comes back; the result is then unchanged. An optional value that is absent
/// leaves the result unchanged, which is how defaults are given, and is KK_OK.
///
/// Numbers are separated by blanks; nothing may follow them, and none may be infinite or NaN.
#ifndef KARAKURI_IO_ATTRIBUTES_H
#define KARAKURI_IO_ATTRIBUTES_H

#include "diagnostics.h"
#include "xml.h"

typedef struct kki_reader {
    const kki_xml *xml;
    kki_diagnostics *diagnostics;
} kki_reader;

typedef enum kki_need { KKI_OPTIONAL, KKI_REQUIRED } kki_need;

/// A word and what it stands for; a list ends with {NULL, 0}.
typedef struct kki_keyword {
    const char *word;
    int value;
} kki_keyword;

kk_status kki_read_string(const kki_reader *r, int32_t node, const char *name, kki_need need, const char **value);
kk_status kki_read_double(const kki_reader *r, int32_t node, const char *name, kki_need need, double *value);
/// A whole number between two bounds.
kk_status kki_read_int(const kki_reader *r, int32_t node, const char *name, kki_need need, int64_t least, int64_t most,
                       int64_t *value);
/// true, false, 1 or 0.
kk_status kki_read_bool(const kki_reader *r, int32_t node, const char *name, kki_need need, bool *value);
/// Exactly `count` numbers; the result is changed only where all are good.
kk_status kki_read_vector(const kki_reader *r, int32_t node, const char *name, kki_need need, int count,
                          double *values);
/// `least` to `most` (at most 64) numbers; *count tells how many, 0 where the attribute is absent.
kk_status kki_read_numbers(const kki_reader *r, int32_t node, const char *name, kki_need need, int least, int most,
                           double *values, int *count);
kk_status kki_read_keyword(const kki_reader *r, int32_t node, const char *name, kki_need need, const kki_keyword *words,
                           int *value);

/// The same for an attribute that was found before, which may stand in another element: `node` is the one to name.
kk_status kki_parse_numbers(const kki_reader *r, int32_t node, int32_t attribute, int least, int most, double *values,
                            int *count);
kk_status kki_parse_int(const kki_reader *r, int32_t node, int32_t attribute, int64_t least, int64_t most,
                        int64_t *value);
kk_status kki_parse_keyword(const kki_reader *r, int32_t node, int32_t attribute, const kki_keyword *words, int *value);
/// How many words an attribute has, and the first `most` of them as numbers, of any count.
size_t kki_count_numbers(const kki_reader *r, int32_t attribute);
kk_status kki_parse_all_numbers(const kki_reader *r, int32_t node, int32_t attribute, size_t most, double *values);

/// All the numbers of an element's text, for example of a COLLADA array; at most `most`, of any size. Values are
/// written as they are read.
kk_status kki_read_text_numbers(const kki_reader *r, int32_t node, size_t most, double *values, size_t *count);

/// Reports at an element or an attribute.
kk_status kki_report_node(const kki_reader *r, kki_severity severity, kk_status status, int32_t node, const char *text,
                          const char *remedy);
kk_status kki_report_attribute(const kki_reader *r, kki_severity severity, kk_status status, int32_t attribute,
                               const char *text, const char *remedy);

/// Warns of each attribute, or child element, that is not in the list (which ends with NULL): once for each pair of
/// element and name, whatever the number of them. Attributes with a prefix and xmlns are left out.
void kki_report_unknown_attributes(const kki_reader *r, int32_t node, const char *const *known);
void kki_report_unknown_elements(const kki_reader *r, int32_t node, const char *const *known);
/// The same for one element, which is no root.
void kki_report_unknown_element(const kki_reader *r, int32_t node, const char *const *known);

#endif
