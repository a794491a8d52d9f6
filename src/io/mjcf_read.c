/// Reading of MJCF's attributes, from the element or from its class; reports; growing arrays.
#include <stdarg.h>
#include <string.h>

#include "base/allocator.h"
#include "base/print.h"
#include "io/mjcf.h"
#include "io/text.h"

enum { MESSAGE_SIZE = 384 };

// ---- attributes

kki_mjcf_at kki_mjcf_element_here(kki_mjcf *m, int32_t node) {
    return (kki_mjcf_at){m, node, NULL};
}

static bool is_called(const kki_xml *xml, int32_t attribute, const char *name) {
    return strcmp(kki_xml_string(xml, xml->attribute[attribute].name), name) == 0;
}

int32_t kki_mjcf_find(const kki_mjcf_at *at, const char *name) {
    const kki_xml *xml = at->m->xml;
    const int32_t own = kki_xml_find(xml, at->node, name);
    // the last of the list is that of the innermost class
    for (int i = at->list ? at->list->count - 1 : -1; own == KKI_XML_NONE && i >= 0; i--) {
        if (is_called(xml, at->list->attribute[i], name)) {
            return at->list->attribute[i];
        }
    }
    return own;
}

bool kki_mjcf_has(const kki_mjcf_at *at, const char *name) {
    return kki_mjcf_find(at, name) != KKI_XML_NONE;
}

bool kki_mjcf_is_blank(const kki_xml *xml, int32_t attribute) {
    const char *text = kki_xml_string(xml, xml->attribute[attribute].value);
    return text[strspn(text, " \t\r\n")] == 0;
}

int32_t kki_mjcf_find_number(const kki_mjcf_at *at, const char *name) {
    const kki_xml *xml = at->m->xml;
    const int32_t own = kki_xml_find(xml, at->node, name);
    if (own != KKI_XML_NONE && !kki_mjcf_is_blank(xml, own)) {
        return own;
    }
    for (int i = at->list ? at->list->count - 1 : -1; i >= 0; i--) {
        const int32_t given = at->list->attribute[i];
        if (is_called(xml, given, name) && !kki_mjcf_is_blank(xml, given)) {
            return given;
        }
    }
    return KKI_XML_NONE;
}

int kki_mjcf_numbers(const kki_mjcf_at *at, const char *name, int least, int most, double *values) {
    const kki_xml *xml = at->m->xml;
    int32_t own = kki_xml_find(xml, at->node, name);
    own = own == KKI_XML_NONE || kki_mjcf_is_blank(xml, own) ? KKI_XML_NONE : own;
    int count = 0, largest = 0;
    // fewer numbers than the class above gave leave its others as they were
    for (int i = 0; at->list && i < at->list->count && (own == KKI_XML_NONE || least < most); i++) {
        if (is_called(xml, at->list->attribute[i], name) && !kki_mjcf_is_blank(xml, at->list->attribute[i]) &&
            kki_parse_numbers(&at->m->reader, at->node, at->list->attribute[i], least, most, values, &count) == KK_OK) {
            largest = count > largest ? count : largest;
        }
    }
    if (own != KKI_XML_NONE && kki_parse_numbers(&at->m->reader, at->node, own, least, most, values, &count) == KK_OK) {
        largest = count > largest ? count : largest;
    }
    return largest;
}

double kki_mjcf_number(const kki_mjcf_at *at, const char *name, double otherwise) {
    double value = otherwise;
    kki_mjcf_numbers(at, name, 1, 1, &value);
    return value;
}

int64_t kki_mjcf_whole(const kki_mjcf_at *at, const char *name, int64_t least, int64_t most, int64_t otherwise) {
    const int32_t a = kki_mjcf_find_number(at, name);
    int64_t value = otherwise;
    if (a != KKI_XML_NONE) {
        kki_parse_int(&at->m->reader, at->node, a, least, most, &value);
    }
    return value;
}

int kki_mjcf_word(const kki_mjcf_at *at, const char *name, const kki_keyword *words, int otherwise) {
    const int32_t a = kki_mjcf_find(at, name);
    int value = otherwise;
    if (a != KKI_XML_NONE) {
        kki_parse_keyword(&at->m->reader, at->node, a, words, &value);
    }
    return value;
}

bool kki_mjcf_truth(const kki_mjcf_at *at, const char *name, bool otherwise) {
    static const kki_keyword words[] = {{"true", 1}, {"false", 0}, {NULL, 0}};
    return kki_mjcf_word(at, name, words, otherwise) != 0;
}

kk_vec3 kki_mjcf_vector(const kki_mjcf_at *at, const char *name, kk_vec3 otherwise) {
    double v[3] = {otherwise.x, otherwise.y, otherwise.z};
    kki_mjcf_numbers(at, name, 3, 3, v);
    return kk_vec3_make(v[0], v[1], v[2]);
}

const char *kki_mjcf_text(const kki_mjcf_at *at, const char *name) {
    const int32_t a = kki_mjcf_find(at, name);
    const char *text = a == KKI_XML_NONE ? "" : kki_xml_string(at->m->xml, at->m->xml->attribute[a].value);
    return text[0] ? text : NULL;
}

bool kki_mjcf_limits(const kki_mjcf_at *at, const char *limited, const char *range, double values[2]) {
    static const kki_keyword words[] = {{"false", 0}, {"true", 1}, {"auto", 2}, {NULL, 0}};
    const int choice = kki_mjcf_word(at, limited, words, 2);
    double read[2] = {0, 0};
    const bool has = kki_mjcf_numbers(at, range, 2, 2, read) == 2;
    const kki_severity fault = kki_fault(at->m->loader);
    if (has && choice != 0 && read[0] > read[1]) {
        kki_mjcf_report(at->m, fault, KK_INVALID_ARGUMENT, at->node, range,
                        "%s is upside down; write the smaller number first", range);
        const double upper = read[0];
        read[0] = read[1];
        read[1] = upper;
    }
    if (choice == 0 || (choice == 2 && !(has && read[0] < read[1]))) {
        return false;
    }
    if (choice == 2 && !at->m->set.auto_limits) {
        kki_mjcf_report(at->m, fault, KK_INVALID_ARGUMENT, at->node, range,
                        "%s is given without %s; say %s=\"true\", or autolimits=\"true\" in <compiler>", range, limited,
                        limited);
        return at->m->loader->options->repair != 0;
    }
    if (!(read[0] < read[1])) {
        kki_mjcf_report(at->m, fault, KK_INVALID_ARGUMENT, at->node, range,
                        "%s has no extent, yet %s says there is one; write the smaller number first", range, limited);
        return false;
    }
    values[0] = read[0];
    values[1] = read[1];
    return true;
}

// ---- reports

/// "what; remedy" becomes two texts.
static char *split_remedy(char *text) {
    char *semicolon = strstr(text, "; ");
    if (!semicolon) {
        return text + strlen(text);
    }
    *semicolon = 0;
    return semicolon + 2;
}

static uint32_t place_of(const kki_mjcf *m, int32_t node, const char *attribute) {
    const int32_t a = attribute ? kki_xml_find(m->xml, node, attribute) : KKI_XML_NONE;
    return a == KKI_XML_NONE ? m->xml->node[node].place : m->xml->attribute[a].value_place;
}

static kk_status report_at(kki_mjcf *m, uint32_t place, kki_finding *finding) {
    const kki_xml_position p = kki_xml_locate(m->xml, place);
    finding->file = p.file;
    finding->line = p.line;
    finding->column = p.column;
    return kki_diagnostics_add(m->loader->diagnostics, finding);
}

kk_status kki_mjcf_report(kki_mjcf *m, kki_severity severity, kk_status status, int32_t node, const char *attribute,
                          const char *format, ...) {
    char text[MESSAGE_SIZE];
    va_list arguments;
    if (m->is_lost) { // what follows from it is no fault of the file
        return status;
    }
    va_start(arguments, format);
    kki_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    const uint32_t place = place_of(m, node, attribute);
    kki_finding finding = {.severity = severity, .status = status, .text = text, .remedy = split_remedy(text)};
    if (m->copied > 0) { // once for all copies
        char number[16];
        kki_print(number, sizeof number, "%u", (unsigned)place);
        finding.key = kki_diagnostics_key("copy", number, format);
    }
    return report_at(m, place, &finding);
}

/// Once for each kind of element or attribute.
static void report_level(kki_mjcf *m, uint32_t place, kki_mjcf_level level, const char *owner, const char *name,
                         const char *note) {
    char text[MESSAGE_SIZE];
    const bool is_note = level == KKI_MJCF_IGNORED;
    kki_print(text, sizeof text, "%s%s%s is %s: %s", owner, name[0] ? " " : "", name,
              is_note ? "ignored" : "not supported", note);
    kki_finding finding = {.severity = is_note ? KKI_NOTE : KKI_WARNING,
                           .text = text,
                           .remedy = "",
                           .key = kki_diagnostics_key("mjcf", owner, name)};
    report_at(m, place, &finding);
}

static void report_unknown(kki_mjcf *m, uint32_t place, const char *kind, const char *owner, const char *name) {
    char text[MESSAGE_SIZE];
    kki_print(text, sizeof text, "unknown %s '%s' in <%s> is ignored", kind, kki_shorten_string(name).text, owner);
    kki_finding finding = {.severity = KKI_WARNING,
                           .text = text,
                           .remedy = "check its spelling, or remove it",
                           .key = kki_diagnostics_key(kind, owner, name)};
    report_at(m, place, &finding);
}

void kki_mjcf_check_attributes(kki_mjcf *m, const kki_mjcf_element *element, int32_t node) {
    const kki_xml_node *n = &m->xml->node[node];
    for (int32_t i = n->first_attribute; i < n->first_attribute + n->attribute_count; i++) {
        const kki_xml_attribute *a = &m->xml->attribute[i];
        const char *name = kki_xml_string(m->xml, a->name);
        const kki_mjcf_row *row = kki_mjcf_row_find(element, name);
        if (!row && !strchr(name, ':') && strcmp(name, "xmlns") != 0) {
            report_unknown(m, a->place, "attribute", kki_xml_name(m->xml, node), name);
        } else if (row && row->level >= KKI_MJCF_IGNORED) {
            char owner[64];
            kki_print(owner, sizeof owner, "<%s>", kki_xml_name(m->xml, node));
            report_level(m, a->place, row->level, owner, name, row->note);
        }
    }
}

bool kki_mjcf_is_read(kki_mjcf *m, const char *parent, int32_t node) {
    const char *name = kki_xml_name(m->xml, node);
    const kki_mjcf_element *element = kki_mjcf_element_find(parent, name);
    if (!element) {
        report_unknown(m, m->xml->node[node].place, "element", parent, name);
        return false;
    }
    if (element->level >= KKI_MJCF_IGNORED) {
        char owner[128];
        kki_print(owner, sizeof owner, "<%s>%s%s", name, strcmp(parent, "mujoco") == 0 ? "" : " in ",
                  strcmp(parent, "mujoco") == 0 ? "" : parent);
        report_level(m, m->xml->node[node].place, element->level, owner, "", element->note);
        return false;
    }
    kki_mjcf_check_attributes(m, element, node);
    return true;
}

// ---- memory

kk_status kki_mjcf_stop(kki_mjcf *m, kk_status status) {
    if (m->status == KK_OK && status != KK_OK) {
        m->status = status;
    }
    return m->status;
}

void kki_mjcf_reserve(kki_mjcf *m, void **array, int count, int *room, size_t size, int wanted) {
    if (wanted <= *room || m->status != KK_OK) {
        return;
    }
    void *moved = count < KKI_SPEC_MAX_ITEMS ? kki_allocate_array(&m->loader->allocator, (size_t)wanted, size) : NULL;
    if (!moved) {
        kki_mjcf_stop(m, count < KKI_SPEC_MAX_ITEMS ? KK_OUT_OF_MEMORY : KK_LIMIT_EXCEEDED);
        return;
    }
    if (*array) {
        memcpy(moved, *array, (size_t)count * size);
        kki_release_array(&m->loader->allocator, *array, (size_t)*room, size);
    }
    *array = moved;
    *room = wanted;
}

void *kki_mjcf_push(kki_mjcf *m, void **array, int *count, int *room, size_t size) {
    enum { FIRST_ROOM = 64 };
    if (*count == *room) {
        kki_mjcf_reserve(m, array, *count, room, size, *room < FIRST_ROOM ? FIRST_ROOM : *room + *room / 2);
    }
    if (m->status != KK_OK) {
        return NULL;
    }
    void *place = (char *)*array + (size_t)(*count)++ * size;
    memset(place, 0, size);
    return place;
}

#define RELEASE(what) kki_release_array(&m->loader->allocator, m->what, (size_t)m->what##_room, sizeof *m->what)

void kki_mjcf_release(kki_mjcf *m) {
    RELEASE(class);
    RELEASE(item);
    RELEASE(body);
    RELEASE(joint);
    RELEASE(geom);
    RELEASE(mesh);
    RELEASE(copy);
    RELEASE(pending);
    RELEASE(servo);
    RELEASE(natural);
    RELEASE(held);
    RELEASE(muscle);
    RELEASE(control);
    RELEASE(material);
    const size_t scopes = (size_t)m->tree->scope_count;
    kki_release_array(&m->loader->allocator, m->scope_set, scopes, sizeof *m->scope_set);
    kki_release_array(&m->loader->allocator, m->scope_class, scopes, sizeof *m->scope_class);
    kki_release_array(&m->loader->allocator, m->names.slot, m->names.room, sizeof *m->names.slot);
    kki_pool_destroy(&m->pool);
}

static void *take(kki_mjcf *m, size_t size) {
    void *place = kki_pool_take(&m->pool, size);
    if (!place) {
        kki_mjcf_stop(m, m->pool.is_over ? KK_LIMIT_EXCEEDED : KK_OUT_OF_MEMORY);
    }
    return place;
}

void *kki_mjcf_keep(kki_mjcf *m, const void *from, size_t size) {
    void *copy = take(m, size);
    return copy ? memcpy(copy, from, size) : NULL;
}

const char *kki_mjcf_join(kki_mjcf *m, const char *first, const char *second) {
    const size_t a = strlen(first), b = strlen(second);
    char *text = take(m, a + b + 1);
    if (!text) {
        return "";
    }
    memcpy(text, first, a);
    memcpy(text + a, second, b + 1);
    return text;
}

double *kki_mjcf_all_numbers(kki_mjcf *m, int32_t node, int32_t attribute, size_t *count) {
    *count = kki_count_numbers(&m->reader, attribute);
    double *values = kki_allocate_array(&m->loader->allocator, *count, sizeof *values);
    if (!values) {
        kki_mjcf_stop(m, KK_OUT_OF_MEMORY);
        return NULL;
    }
    if (kki_parse_all_numbers(&m->reader, node, attribute, *count, values) != KK_OK) {
        kki_release_array(&m->loader->allocator, values, *count, sizeof *values);
        return NULL;
    }
    return values;
}
