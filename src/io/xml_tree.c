/// The tree: memory, building, walking, and places.
///
/// Line and column are not stored with nodes but found when asked: a source keeps, for each 4096 bytes of its text, how
/// many lines end before them and where the last one starts, so that no more than a block has to be looked through. A
/// place inside a value is found by reading the value once more from the file's text.
#include <stdarg.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/print.h"
#include "xml_build.h"
#include "xml_characters.h"

enum { LINE_BLOCK = 512, TEXT_PADDING = 16 };

#define LARGEST_SIZE 0x7fffffffu // of strings, and of all sources together

// ---- memory

kk_status kki_xml_create(const kk_allocator *allocator, kki_xml **xml) {
    const kk_allocator a = kki_allocator_or_default(allocator);
    *xml = kki_allocate_zeroed(&a, sizeof **xml);
    if (!*xml) {
        return KK_OUT_OF_MEMORY;
    }
    (*xml)->allocator = a;
    (*xml)->open = (*xml)->last = KKI_XML_NONE;
    return KK_OK;
}

void kki_xml_free(kki_xml *xml) {
    if (!xml) {
        return;
    }
    const kk_allocator a = xml->allocator;
    for (int32_t i = 0; i < xml->source_count; i++) {
        kki_release(&a, xml->source[i].lines, xml->source[i].block_size);
    }
    kki_release_array(&a, xml->source, (size_t)xml->source_capacity, sizeof *xml->source);
    kki_release_array(&a, xml->node, (size_t)xml->node_capacity, sizeof *xml->node);
    kki_release_array(&a, xml->attribute, (size_t)xml->attribute_capacity, sizeof *xml->attribute);
    kki_release(&a, xml->strings, xml->string_capacity);
    kki_release(&a, xml, sizeof *xml);
}

size_t kki_xml_bytes(const kki_xml *xml) {
    size_t bytes = sizeof *xml + (size_t)xml->source_capacity * sizeof *xml->source + xml->string_capacity;
    for (int32_t i = 0; i < xml->source_count; i++) {
        bytes += xml->source[i].block_size;
    }
    return bytes + (size_t)xml->node_capacity * sizeof *xml->node +
           (size_t)xml->attribute_capacity * sizeof *xml->attribute;
}

/// Moves an array to a larger block; the old one stays on failure.
static kk_status enlarge(kki_xml *xml, void **array, size_t size, size_t count, size_t old_capacity, size_t capacity) {
    if (capacity > LARGEST_SIZE) {
        return KK_LIMIT_EXCEEDED;
    }
    void *block = kki_allocate_array(&xml->allocator, capacity, size);
    if (!block) {
        return KK_OUT_OF_MEMORY;
    }
    if (*array) {
        memcpy(block, *array, count * size);
        kki_release_array(&xml->allocator, *array, old_capacity, size);
    }
    *array = block;
    return KK_OK;
}

/// Room for `wanted` elements; grows by half at least.
static kk_status make_room(kki_xml *xml, void **array, size_t size, int32_t count, int32_t *capacity, size_t wanted) {
    if (wanted <= (size_t)*capacity) {
        return KK_OK;
    }
    const size_t half_more = (size_t)*capacity + (size_t)*capacity / 2 + 4;
    const size_t larger = wanted > half_more || half_more > LARGEST_SIZE ? wanted : half_more;
    const kk_status status = enlarge(xml, array, size, (size_t)count, (size_t)*capacity, larger);
    *capacity = status ? *capacity : (int32_t)larger;
    return status;
}

static kk_status make_node_room(kki_xml *xml, size_t wanted) {
    void *array = xml->node;
    const kk_status status = make_room(xml, &array, sizeof *xml->node, xml->node_count, &xml->node_capacity, wanted);
    xml->node = array;
    return status;
}

static kk_status make_attribute_room(kki_xml *xml, size_t wanted) {
    void *array = xml->attribute;
    const kk_status status =
        make_room(xml, &array, sizeof *xml->attribute, xml->attribute_count, &xml->attribute_capacity, wanted);
    xml->attribute = array;
    return status;
}

static kk_status make_source_room(kki_xml *xml, size_t wanted) {
    void *array = xml->source;
    const kk_status status =
        make_room(xml, &array, sizeof *xml->source, xml->source_count, &xml->source_capacity, wanted);
    xml->source = array;
    return status;
}

static kk_status make_string_room(kki_xml *xml, size_t wanted) {
    void *array = xml->strings;
    int32_t capacity = (int32_t)xml->string_capacity;
    const kk_status status = make_room(xml, &array, 1, (int32_t)xml->string_size, &capacity, wanted);
    xml->strings = array;
    xml->string_capacity = (uint32_t)capacity;
    return status;
}

kk_status kki_xml_reserve(kki_xml *xml, size_t nodes, size_t attributes, size_t strings) {
    kk_status status = make_node_room(xml, nodes);
    status = status ? status : make_attribute_room(xml, attributes);
    return status ? status : make_string_room(xml, strings);
}

// ---- building

kk_status kki_xml_reserve_string(kki_xml *xml, size_t length) {
    return length > LARGEST_SIZE ? KK_LIMIT_EXCEEDED : make_string_room(xml, xml->string_size + length + 1);
}

kk_status kki_xml_add_string(kki_xml *xml, const char *text, size_t length, uint32_t *offset) {
    const kk_status status = kki_xml_reserve_string(xml, length);
    if (status != KK_OK) {
        return status;
    }
    *offset = xml->string_size;
    memcpy(xml->strings + *offset, text, length);
    xml->strings[*offset + length] = 0;
    xml->string_size += (uint32_t)length + 1;
    return KK_OK;
}

static kk_status append_node(kki_xml *xml, kki_xml_node node) {
    const int32_t id = xml->node_count;
    if (id == xml->node_capacity) {
        const kk_status status = make_node_room(xml, (size_t)id + 1);
        if (status != KK_OK) {
            return status;
        }
    }
    node.parent = xml->open;
    node.first_child = node.next = node.first_attribute = KKI_XML_NONE;
    xml->node[id] = node;
    if (xml->last != KKI_XML_NONE) {
        xml->node[xml->last].next = id;
    } else if (xml->open != KKI_XML_NONE) {
        xml->node[xml->open].first_child = id;
    }
    xml->last = id;
    xml->node_count++;
    return KK_OK;
}

kk_status kki_xml_open_element(kki_xml *xml, uint32_t place, uint32_t text, uint32_t length) {
    const kk_status status = append_node(xml, (kki_xml_node){.place = place, .text = text, .length = length});
    if (status == KK_OK) {
        xml->open = xml->last;
        xml->last = KKI_XML_NONE;
    }
    return status;
}

kk_status kki_xml_add_text(kki_xml *xml, uint32_t place, uint32_t text, uint32_t length) {
    return append_node(xml, (kki_xml_node){.place = place, .text = text, .length = length, .attribute_count = -1});
}

void kki_xml_close_element(kki_xml *xml) {
    xml->last = xml->open;
    xml->open = xml->node[xml->open].parent;
}

kk_status kki_xml_add_attribute(kki_xml *xml, const kki_xml_attribute *attribute) {
    const int32_t id = xml->attribute_count;
    if (id == xml->attribute_capacity) {
        const kk_status status = make_attribute_room(xml, (size_t)id + 1);
        if (status != KK_OK) {
            return status;
        }
    }
    kki_xml_node *node = &xml->node[xml->open];
    node->first_attribute = node->attribute_count > 0 ? node->first_attribute : id;
    node->attribute_count++;
    xml->attribute[id] = *attribute;
    xml->attribute_count++;
    return KK_OK;
}

/// Moves the attributes of the open element behind all others, so that another fits behind them.
static kk_status move_attributes_to_end(kki_xml *xml) {
    kki_xml_node *node = &xml->node[xml->open];
    const int32_t n = node->attribute_count, end = xml->attribute_count;
    if (n == 0 || node->first_attribute + n == end) {
        return KK_OK;
    }
    const kk_status status = make_attribute_room(xml, (size_t)end + (size_t)n + 1);
    if (status == KK_OK) {
        memcpy(&xml->attribute[end], &xml->attribute[node->first_attribute], (size_t)n * sizeof *xml->attribute);
        node->first_attribute = end;
        xml->attribute_count += n;
    }
    return status;
}

kk_status kki_xml_set_attribute(kki_xml *xml, const kki_xml_attribute *attribute) {
    enum { MOST = 256 }; // each call looks at all of them, and may move them
    const kki_xml_node *node = &xml->node[xml->open];
    const char *name = kki_xml_string(xml, attribute->name);
    for (int32_t i = node->first_attribute; i < node->first_attribute + node->attribute_count; i++) {
        if (strcmp(kki_xml_string(xml, xml->attribute[i].name), name) == 0) {
            xml->attribute[i] = *attribute;
            return KK_OK;
        }
    }
    const kk_status status = node->attribute_count < MOST ? move_attributes_to_end(xml) : KK_LIMIT_EXCEEDED;
    return status ? status : kki_xml_add_attribute(xml, attribute);
}

// ---- sources

static bool ends_line(const char *text, size_t i) {
    return text[i] == '\n' || (text[i] == '\r' && text[i + 1] != '\n');
}

/// Start of the line behind `from`, or more than `end` where none of them starts until there.
static uint32_t next_line(const kki_xml_source *source, uint32_t from, uint32_t end) {
    if (!source->has_returns) {
        const char *hit = memchr(source->text + from, '\n', end - from);
        return hit ? (uint32_t)(hit - source->text) + 1 : end + 1;
    }
    while (from < end && !ends_line(source->text, from)) {
        from++;
    }
    return from + 1;
}

/// Notes for each block the line ends before it and the start of the line it begins in.
static void index_lines(kki_xml_source *source) {
    uint32_t ends = 0, line_start = 0;
    for (uint32_t start = 0, block = 0; start <= source->length; start += LINE_BLOCK, block++) {
        const uint32_t end = source->length - start < LINE_BLOCK ? source->length : start + LINE_BLOCK;
        source->lines[2 * (size_t)block] = ends;
        source->lines[2 * (size_t)block + 1] = line_start;
        for (uint32_t i = next_line(source, start, end); i <= end; i = next_line(source, i, end)) {
            ends++;
            line_start = i;
        }
    }
}

static uint32_t next_base(const kki_xml *xml) {
    const kki_xml_source *last = xml->source_count > 0 ? &xml->source[xml->source_count - 1] : NULL;
    return last ? last->base + last->length + 1 : 0; // the end of a text is a place, too
}

/// One block: line index, text with padding, file name.
static kk_status fill_source(kki_xml *xml, kki_xml_source *source, const char *file, const char *text) {
    const size_t index_size = (source->length / LINE_BLOCK + 1) * 2 * sizeof *source->lines;
    const size_t name_size = strlen(file) + 1;
    source->block_size = index_size + source->length + TEXT_PADDING + name_size;
    source->lines = kki_allocate(&xml->allocator, source->block_size);
    if (!source->lines) {
        return KK_OUT_OF_MEMORY;
    }
    source->text = (char *)source->lines + index_size;
    memcpy(source->text, text, source->length);
    memset(source->text + source->length, 0, TEXT_PADDING);
    source->has_returns = memchr(source->text, '\r', source->length) != NULL;
    source->file = source->text + source->length + TEXT_PADDING;
    memcpy(source->file, file, name_size);
    index_lines(source);
    return KK_OK;
}

static bool has_byte_order_mark(const char *text, size_t length) {
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
}

kk_status kki_xml_add_source(kki_xml *xml, const char *file, const char *text, size_t length, int32_t *source) {
    const size_t mark = has_byte_order_mark(text, length) ? 3 : 0;
    kki_xml_source new_source = {.base = next_base(xml)};
    if (length > LARGEST_SIZE - new_source.base - 1) {
        return KK_LIMIT_EXCEEDED;
    }
    new_source.length = (uint32_t)(length - mark);
    kk_status status = make_source_room(xml, (size_t)xml->source_count + 1);
    status = status ? status : fill_source(xml, &new_source, file ? file : "", text + mark);
    if (status == KK_OK) {
        *source = xml->source_count++;
        xml->source[*source] = new_source;
    }
    return status;
}

// ---- walking

bool kki_xml_is_element(const kki_xml *xml, int32_t node) {
    return xml->node[node].attribute_count >= 0;
}

const char *kki_xml_name(const kki_xml *xml, int32_t node) {
    return kki_xml_is_element(xml, node) ? kki_xml_string(xml, xml->node[node].text) : "";
}

bool kki_xml_is(const kki_xml *xml, int32_t node, const char *name) {
    return kki_xml_is_element(xml, node) && strcmp(kki_xml_string(xml, xml->node[node].text), name) == 0;
}

const char *kki_xml_text(const kki_xml *xml, int32_t node) {
    int32_t n = kki_xml_is_element(xml, node) ? xml->node[node].first_child : node;
    while (n != KKI_XML_NONE && kki_xml_is_element(xml, n)) {
        n = xml->node[n].next;
    }
    return n == KKI_XML_NONE ? "" : kki_xml_string(xml, xml->node[n].text);
}

/// The node or the first after it among its siblings that is asked for.
static int32_t skip_to(const kki_xml *xml, int32_t node, const char *name) {
    while (node != KKI_XML_NONE && !(name ? kki_xml_is(xml, node, name) : kki_xml_is_element(xml, node))) {
        node = xml->node[node].next;
    }
    return node;
}

int32_t kki_xml_first(const kki_xml *xml, int32_t node, const char *name) {
    return skip_to(xml, xml->node[node].first_child, name);
}

int32_t kki_xml_next(const kki_xml *xml, int32_t node, const char *name) {
    return skip_to(xml, xml->node[node].next, name);
}

int32_t kki_xml_find(const kki_xml *xml, int32_t node, const char *name) {
    const kki_xml_node *n = &xml->node[node];
    for (int32_t i = n->first_attribute; i < n->first_attribute + n->attribute_count; i++) {
        if (strcmp(kki_xml_string(xml, xml->attribute[i].name), name) == 0) {
            return i;
        }
    }
    return KKI_XML_NONE;
}

const char *kki_xml_value(const kki_xml *xml, int32_t node, const char *name) {
    const int32_t found = kki_xml_find(xml, node, name);
    return found == KKI_XML_NONE ? NULL : kki_xml_string(xml, xml->attribute[found].value);
}

// ---- places

/// The source that a place is in, by bisection.
static const kki_xml_source *source_of(const kki_xml *xml, uint32_t place) {
    int32_t low = 0, high = xml->source_count;
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        low = xml->source[middle].base <= place ? middle : low;
        high = xml->source[middle].base <= place ? high : middle;
    }
    return &xml->source[low];
}

kki_xml_position kki_xml_locate(const kki_xml *xml, uint32_t place) {
    if (xml->source_count == 0) {
        return (kki_xml_position){"", 0, 0};
    }
    const kki_xml_source *source = source_of(xml, place);
    const uint32_t offset = place - source->base < source->length ? place - source->base : source->length;
    const size_t block = offset / LINE_BLOCK;
    uint32_t line = source->lines[2 * block] + 1, start = source->lines[2 * block + 1];
    for (uint32_t i = next_line(source, (uint32_t)block * LINE_BLOCK, offset); i <= offset;
         i = next_line(source, i, offset)) {
        line++;
        start = i;
    }
    return (kki_xml_position){source->file, (int)line, (int)(offset - start) + 1};
}

/// Reads a value again, a character at a time.
typedef struct replay {
    const char *text;
    uint32_t at, length;
    bool is_text, is_cdata;
} replay;

static bool stands(const replay *r, const char *word) {
    return strncmp(r->text + r->at, word, strlen(word)) == 0;
}

static void skip_past(replay *r, const char *word) {
    while (r->at < r->length && !stands(r, word)) {
        r->at++;
    }
    const uint32_t end = r->at + (uint32_t)strlen(word);
    r->at = end < r->length ? end : r->length;
}

/// Steps over what stands in a text without being a part of it.
static void skip_markup(replay *r) {
    for (;;) {
        if (r->is_cdata && stands(r, "]]>")) {
            r->at += 3;
            r->is_cdata = false;
        } else if (!r->is_cdata && stands(r, "<![CDATA[")) {
            r->at += 9;
            r->is_cdata = true;
        } else if (!r->is_cdata && (stands(r, "<!--") || stands(r, "<?"))) {
            skip_past(r, r->text[r->at + 1] == '?' ? "?>" : "-->");
        } else {
            return;
        }
    }
}

/// The next character as the value has it: its bytes there, 0 at the end.
static uint32_t step(replay *r, char character[4]) {
    const char c = r->text[r->at];
    if (r->at >= r->length) {
        return 0;
    }
    if (c == '&' && !r->is_cdata) {
        const kki_xml_reference reference = kki_xml_read_reference(r->text + r->at, r->length - r->at);
        memcpy(character, reference.character, 4);
        r->at += reference.used;
        return reference.fault ? 0 : reference.length;
    }
    const bool ends = c == '\n' || c == '\r';
    r->at += c == '\r' && r->text[r->at + 1] == '\n' ? 2 : 1;
    character[0] = r->is_text ? (ends ? '\n' : c) : (kki_xml_has_class(c, KKI_XML_BLANK) ? ' ' : c);
    return 1;
}

/// Place of byte `offset` of value[], which was read at `place`.
static uint32_t place_inside(const kki_xml *xml, uint32_t place, const char *value, uint32_t offset, bool is_text) {
    if (xml->source_count == 0) {
        return place;
    }
    const kki_xml_source *source = source_of(xml, place);
    replay r = {source->text, place - source->base, source->length, is_text, false};
    uint32_t seen = 0;
    for (;;) {
        if (is_text) {
            skip_markup(&r);
        }
        const uint32_t at = r.at;
        char character[4];
        const uint32_t n = seen == offset ? 0 : step(&r, character);
        if (seen == offset || seen + n > offset) {
            return source->base + at;
        }
        if (n == 0 || strncmp(value + seen, character, n) != 0) {
            return place;
        }
        seen += n;
    }
}

uint32_t kki_xml_place_in_value(const kki_xml *xml, int32_t attribute, uint32_t offset) {
    const kki_xml_attribute *a = &xml->attribute[attribute];
    return place_inside(xml, a->value_place, kki_xml_string(xml, a->value), offset, false);
}

uint32_t kki_xml_place_in_text(const kki_xml *xml, int32_t text_node, uint32_t offset) {
    const kki_xml_node *n = &xml->node[text_node];
    return place_inside(xml, n->place, kki_xml_string(xml, n->text), offset, true);
}

kk_status kki_xml_error(const kki_xml *xml, uint32_t place, kk_error *error, kk_status status, const char *format,
                        ...) {
    if (error) {
        char text[KK_ERROR_TEXT_SIZE + 4]; // room that shows kki_error_at a cut character
        va_list arguments;
        va_start(arguments, format);
        kki_print_list(text, sizeof text, format, arguments);
        va_end(arguments);
        const kki_xml_position p = kki_xml_locate(xml, place);
        kki_error_at(error, status, p.file, p.line, p.column, "%s", text);
    }
    return status;
}
