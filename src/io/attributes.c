/// Typed reading of attributes: the text, its grammar, and the finding where that is broken.
#include "attributes.h"

#include <stdarg.h>
#include <string.h>

#include <karakuri/number.h>

#include "base/print.h"
#include "text.h"

enum { MESSAGE_SIZE = 384, MOST_NUMBERS = 64 };

// ---- findings

static kk_status report(const kki_reader *r, kki_finding *finding, uint32_t place) {
    const kki_xml_position p = kki_xml_locate(r->xml, place);
    finding->file = p.file;
    finding->line = p.line;
    finding->column = p.column;
    return kki_diagnostics_add(r->diagnostics, finding);
}

kk_status kki_report_node(const kki_reader *r, kki_severity severity, kk_status status, int32_t node, const char *text,
                          const char *remedy) {
    kki_finding finding = {.severity = severity, .status = status, .text = text, .remedy = remedy};
    return report(r, &finding, r->xml->node[node].place);
}

kk_status kki_report_attribute(const kki_reader *r, kki_severity severity, kk_status status, int32_t attribute,
                               const char *text, const char *remedy) {
    kki_finding finding = {.severity = severity, .status = status, .text = text, .remedy = remedy};
    return report(r, &finding, r->xml->attribute[attribute].value_place);
}

/// What is read: a value or a text, and where its bytes are in the file.
typedef struct field {
    const kki_reader *r;
    int32_t node, attribute; ///< a text where the attribute is KKI_XML_NONE
    const char *text;
    uint32_t length;
} field;

static kki_short_text field_owner(const field *f) {
    const int32_t node = f->attribute == KKI_XML_NONE ? f->r->xml->node[f->node].parent : f->node;
    return kki_shorten_string(kki_xml_name(f->r->xml, node));
}

/// Reports a fault at a byte of the value: "attribute 'mass' of <link>: ...".
__attribute__((format(printf, 5, 6))) static kk_status fail_at(const field *f, kk_status status, uint32_t offset,
                                                               const char *remedy, const char *format, ...) {
    const kki_xml *xml = f->r->xml;
    const bool is_text = f->attribute == KKI_XML_NONE;
    char text[MESSAGE_SIZE], reason[MESSAGE_SIZE / 2];
    va_list arguments;
    va_start(arguments, format);
    kki_print_list(reason, sizeof reason, format, arguments);
    va_end(arguments);
    if (is_text) {
        kki_print(text, sizeof text, "text of <%s>: %s", field_owner(f).text, reason);
    } else {
        const char *name = kki_xml_string(xml, xml->attribute[f->attribute].name);
        kki_print(text, sizeof text, "attribute '%s' of <%s>: %s", kki_shorten_string(name).text, field_owner(f).text,
                  reason);
    }
    kki_finding finding = {.severity = KKI_ERROR, .status = status, .text = text, .remedy = remedy};
    return report(f->r, &finding,
                  is_text ? kki_xml_place_in_text(xml, f->node, offset)
                          : kki_xml_place_in_value(xml, f->attribute, offset));
}

static kk_status report_absent(const kki_reader *r, int32_t node, const char *name) {
    char text[MESSAGE_SIZE], remedy[MESSAGE_SIZE];
    kki_print(text, sizeof text, "<%s> has no attribute '%s'", kki_shorten_string(kki_xml_name(r->xml, node)).text,
              name);
    kki_print(remedy, sizeof remedy, "add %s=\"...\"", name);
    return kki_report_node(r, KKI_ERROR, KK_NOT_FOUND, node, text, remedy);
}

static field field_of(const kki_reader *r, int32_t node, int32_t attribute) {
    const kki_xml_attribute *a = &r->xml->attribute[attribute];
    return (field){r, node, attribute, kki_xml_string(r->xml, a->value), a->value_length};
}

/// Finds the attribute; false where there is nothing to read, and *status says whether that is a fault.
static bool open_field(const kki_reader *r, int32_t node, const char *name, kki_need need, field *f,
                       kk_status *status) {
    const int32_t found = kki_xml_find(r->xml, node, name);
    if (found == KKI_XML_NONE) {
        *status = need == KKI_REQUIRED ? report_absent(r, node, name) : KK_OK;
        return false;
    }
    *f = field_of(r, node, found);
    return true;
}

// ---- words and numbers in a value

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static uint32_t skip_blanks(const field *f, uint32_t at) {
    while (at < f->length && is_blank(f->text[at])) {
        at++;
    }
    return at;
}

static uint32_t word_length(const field *f, uint32_t at) {
    uint32_t end = at;
    while (end < f->length && !is_blank(f->text[end])) {
        end++;
    }
    return end - at;
}

static kki_short_text short_word(const field *f, uint32_t at) {
    return kki_shorten(f->text + at, word_length(f, at));
}

static kk_status fail_number(const field *f, kk_status status, uint32_t at, size_t used) {
    const kki_short_text word = short_word(f, at);
    if (status == KK_NOT_FINITE) {
        return fail_at(f, status, at, "write a finite number", "'%s' is not a finite number", word.text);
    }
    if (used > 0 && f->text[at + used] == ',') {
        return fail_at(f, KK_SYNTAX, at + (uint32_t)used, "separate numbers by blanks", "a comma after a number");
    }
    return fail_at(f, KK_SYNTAX, at, "write it like 0.25 or 1e-3", "'%s' is not a number", word.text);
}

/// A number that a blank or the end follows; *at moves behind it.
static kk_status read_number(const field *f, uint32_t *at, double *value) {
    size_t used = 0;
    const kk_status status = kk_number_parse(f->text + *at, f->length - *at, value, &used);
    const bool ends = *at + used == f->length || is_blank(f->text[*at + used]);
    if (status != KK_OK || !ends) {
        return fail_number(f, status == KK_NOT_FINITE && ends ? status : KK_SYNTAX, *at, used);
    }
    *at += (uint32_t)used;
    return KK_OK;
}

/// The one word of a value without blanks around it; false where it has none or several.
static bool single_word(const field *f, const char **word, uint32_t *length) {
    const uint32_t start = skip_blanks(f, 0);
    *length = word_length(f, start);
    *word = f->text + start;
    return *length > 0 && skip_blanks(f, start + *length) == f->length;
}

// ---- reading

kk_status kki_read_string(const kki_reader *r, int32_t node, const char *name, kki_need need, const char **value) {
    field f;
    kk_status status = KK_OK;
    if (open_field(r, node, name, need, &f, &status)) {
        *value = f.text;
    }
    return status;
}

static kk_status fail_count(const field *f, uint32_t at, int least, int most, int found) {
    if (found > most) {
        return fail_at(f, KK_SIZE_MISMATCH, at, "remove the others", "more than %d number%s", most,
                       most == 1 ? "" : "s");
    }
    if (least == most) {
        return fail_at(f, KK_SIZE_MISMATCH, at, "add the missing ones", "%d number%s where %d must be", found,
                       found == 1 ? "" : "s", least);
    }
    return fail_at(f, KK_SIZE_MISMATCH, at, "add the missing ones", "%d number%s where at least %d must be", found,
                   found == 1 ? "" : "s", least);
}

static kk_status read_numbers(const field *f, int least, int most, double *values, int *count) {
    double found[MOST_NUMBERS];
    int n = 0;
    for (uint32_t at = skip_blanks(f, 0); at < f->length; at = skip_blanks(f, at)) {
        if (n == most || n == MOST_NUMBERS) {
            return fail_count(f, at, least, most, n + 1);
        }
        const kk_status status = read_number(f, &at, &found[n]);
        if (status != KK_OK) {
            return status;
        }
        n++;
    }
    if (n < least) {
        return fail_count(f, 0, least, most, n);
    }
    memcpy(values, found, (size_t)n * sizeof *found);
    *count = n;
    return KK_OK;
}

kk_status kki_read_numbers(const kki_reader *r, int32_t node, const char *name, kki_need need, int least, int most,
                           double *values, int *count) {
    field f;
    kk_status status = KK_OK;
    *count = 0;
    return open_field(r, node, name, need, &f, &status) ? read_numbers(&f, least, most, values, count) : status;
}

kk_status kki_parse_numbers(const kki_reader *r, int32_t node, int32_t attribute, int least, int most, double *values,
                            int *count) {
    const field f = field_of(r, node, attribute);
    *count = 0;
    return read_numbers(&f, least, most, values, count);
}

size_t kki_count_numbers(const kki_reader *r, int32_t attribute) {
    const field f = field_of(r, KKI_XML_NONE, attribute);
    size_t count = 0;
    for (uint32_t at = skip_blanks(&f, 0); at < f.length; at = skip_blanks(&f, at + word_length(&f, at))) {
        count++;
    }
    return count;
}

kk_status kki_parse_all_numbers(const kki_reader *r, int32_t node, int32_t attribute, size_t most, double *values) {
    const field f = field_of(r, node, attribute);
    kk_status status = KK_OK;
    size_t n = 0;
    for (uint32_t at = skip_blanks(&f, 0); at < f.length && n < most && status == KK_OK; at = skip_blanks(&f, at)) {
        status = read_number(&f, &at, &values[n++]);
    }
    return status;
}

kk_status kki_read_vector(const kki_reader *r, int32_t node, const char *name, kki_need need, int count,
                          double *values) {
    int found;
    return kki_read_numbers(r, node, name, need, count, count, values, &found);
}

kk_status kki_read_double(const kki_reader *r, int32_t node, const char *name, kki_need need, double *value) {
    return kki_read_vector(r, node, name, need, 1, value);
}

static kk_status fail_range(const field *f, kki_short_text word, int64_t least, int64_t most) {
    char low[KK_NUMBER_TEXT_SIZE], high[KK_NUMBER_TEXT_SIZE];
    kk_number_format_int(least, low);
    kk_number_format_int(most, high);
    return fail_at(f, KK_LIMIT_EXCEEDED, skip_blanks(f, 0), "choose one within", "%s is not between %s and %s",
                   word.text, low, high);
}

static kk_status parse_int(const field *f, int64_t least, int64_t most, int64_t *value) {
    const char *word;
    uint32_t length;
    int64_t number = 0;
    size_t used = 0;
    const bool is_single = single_word(f, &word, &length);
    const kk_status status = kk_number_parse_int(word, length, &number, &used);
    const kki_short_text shown = kki_shorten(word, length);
    if (!is_single || status == KK_SYNTAX || used != length) {
        return fail_at(f, KK_SYNTAX, (uint32_t)(word - f->text), "write digits only", "'%s' is not a whole number",
                       shown.text);
    }
    if (status != KK_OK || number < least || number > most) {
        return fail_range(f, shown, least, most);
    }
    *value = number;
    return KK_OK;
}

kk_status kki_read_int(const kki_reader *r, int32_t node, const char *name, kki_need need, int64_t least, int64_t most,
                       int64_t *value) {
    field f;
    kk_status status = KK_OK;
    return open_field(r, node, name, need, &f, &status) ? parse_int(&f, least, most, value) : status;
}

kk_status kki_parse_int(const kki_reader *r, int32_t node, int32_t attribute, int64_t least, int64_t most,
                        int64_t *value) {
    const field f = field_of(r, node, attribute);
    return parse_int(&f, least, most, value);
}

/// The words of a list for a message: "a, b, c".
static void list_words(const kki_keyword *words, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; words[i].word && used + strlen(words[i].word) + 3 < size; i++) {
        used += kki_print(text + used, size - used, "%s%s", i ? ", " : "", words[i].word);
    }
}

static kk_status parse_keyword(const field *f, const kki_keyword *words, int *value) {
    const char *word;
    uint32_t length;
    const bool is_single = single_word(f, &word, &length);
    for (int i = 0; is_single && words[i].word; i++) {
        if (strlen(words[i].word) == length && memcmp(words[i].word, word, length) == 0) {
            *value = words[i].value;
            return KK_OK;
        }
    }
    char known[MESSAGE_SIZE / 2], remedy[MESSAGE_SIZE];
    list_words(words, known, sizeof known);
    kki_print(remedy, sizeof remedy, "write one of %s", known);
    return fail_at(f, KK_SYNTAX, (uint32_t)(word - f->text), remedy, "'%s' is not known",
                   kki_shorten(f->text, f->length).text);
}

kk_status kki_read_keyword(const kki_reader *r, int32_t node, const char *name, kki_need need, const kki_keyword *words,
                           int *value) {
    field f;
    kk_status status = KK_OK;
    return open_field(r, node, name, need, &f, &status) ? parse_keyword(&f, words, value) : status;
}

kk_status kki_parse_keyword(const kki_reader *r, int32_t node, int32_t attribute, const kki_keyword *words,
                            int *value) {
    const field f = field_of(r, node, attribute);
    return parse_keyword(&f, words, value);
}

kk_status kki_read_bool(const kki_reader *r, int32_t node, const char *name, kki_need need, bool *value) {
    static const kki_keyword words[] = {{"true", 1}, {"false", 0}, {"1", 1}, {"0", 0}, {NULL, 0}};
    int number = *value;
    const kk_status status = kki_read_keyword(r, node, name, need, words, &number);
    *value = number != 0;
    return status;
}

static kk_status read_text_node(const field *f, size_t most, double *values, size_t *count) {
    for (uint32_t at = skip_blanks(f, 0); at < f->length; at = skip_blanks(f, at)) {
        if (*count == most) {
            return fail_at(f, KK_SIZE_MISMATCH, at, "remove the others, or correct the count", "too many numbers");
        }
        const kk_status status = read_number(f, &at, &values[*count]);
        if (status != KK_OK) {
            return status;
        }
        (*count)++;
    }
    return KK_OK;
}

kk_status kki_read_text_numbers(const kki_reader *r, int32_t node, size_t most, double *values, size_t *count) {
    const kki_xml *xml = r->xml;
    kk_status status = KK_OK;
    *count = 0;
    for (int32_t n = xml->node[node].first_child; n != KKI_XML_NONE && status == KK_OK; n = xml->node[n].next) {
        if (!kki_xml_is_element(xml, n)) {
            const field f = {r, n, KKI_XML_NONE, kki_xml_string(xml, xml->node[n].text), xml->node[n].length};
            status = read_text_node(&f, most, values, count);
        }
    }
    return status;
}

// ---- what is not known

static bool is_known(const char *const *known, const char *name) {
    for (int i = 0; known[i]; i++) {
        if (strcmp(known[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_of_another_vocabulary(const char *attribute) {
    return strchr(attribute, ':') != NULL || strcmp(attribute, "xmlns") == 0;
}

static void report_unknown(const kki_reader *r, const char *kind, const char *owner, const char *name, uint32_t place) {
    char text[MESSAGE_SIZE];
    kki_print(text, sizeof text, "unknown %s '%s' in <%s> is ignored", kind, kki_shorten_string(name).text,
              kki_shorten_string(owner).text);
    kki_finding finding = {.severity = KKI_WARNING,
                           .text = text,
                           .remedy = "check its spelling, or remove it",
                           .key = kki_diagnostics_key(kind, owner, name)};
    report(r, &finding, place);
}

void kki_report_unknown_attributes(const kki_reader *r, int32_t node, const char *const *known) {
    const kki_xml_node *n = &r->xml->node[node];
    for (int32_t i = n->first_attribute; i < n->first_attribute + n->attribute_count; i++) {
        const char *name = kki_xml_string(r->xml, r->xml->attribute[i].name);
        if (!is_of_another_vocabulary(name) && !is_known(known, name)) {
            report_unknown(r, "attribute", kki_xml_name(r->xml, node), name, r->xml->attribute[i].place);
        }
    }
}

void kki_report_unknown_element(const kki_reader *r, int32_t node, const char *const *known) {
    const char *name = kki_xml_name(r->xml, node);
    if (!is_known(known, name)) {
        report_unknown(r, "element", kki_xml_name(r->xml, r->xml->node[node].parent), name, r->xml->node[node].place);
    }
}

void kki_report_unknown_elements(const kki_reader *r, int32_t node, const char *const *known) {
    for (int32_t c = kki_xml_first(r->xml, node, NULL); c != KKI_XML_NONE; c = kki_xml_next(r->xml, c, NULL)) {
        kki_report_unknown_element(r, c, known);
    }
}
