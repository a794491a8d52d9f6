/// The XML reader: one pass, no recursion, every fault with its place and its remedy.
///
/// First the text is checked as a whole: the legal part of it is what the parser sees, so that it meets only whole legal
/// characters, and where it stops too early for a file that goes on, the byte there is the fault. The room needed is
/// counted beforehand, from the text's < and =: at most one element and one text for each tag. Strings never need more
/// bytes than the text: markup around them is longer than their zero bytes.
///
/// Reference: Extensible Markup Language (XML) 1.0, fifth edition. The tests compare with expat.
#include "xml.h"

#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "text.h"
#include "xml_build.h"
#include "xml_characters.h"

enum { SEEN_WORDS = 16, KNOWN_NAMES = 256 };

typedef struct parser {
    kki_xml *xml;
    const char *t;    // the text; zero bytes follow
    uint32_t at, end; // end of the legal part
    uint32_t length;  // of all of it
    const char *file;
    kki_xml_limits limits;
    kk_error *error;
    int32_t depth;
    bool has_root;
    bool is_latin1;     // as declared, and not ASCII alone
    bool in_run;        // characters since the last tag
    uint32_t run_start; // in the strings
    uint32_t run_place;
    uint64_t seen[SEEN_WORDS]; // a bit for the hash of each attribute name of the element
    uint32_t
        known[KNOWN_NAMES]; // names that stand in the strings already: where, plus one; by a hash, the last one stays
} parser;

kki_xml_limits kki_xml_limits_default(void) {
    return (kki_xml_limits){
        .size = (size_t)256 << 20, .depth = 16384, .nodes = 64 << 20, .attributes = 256, .name_length = 1024};
}

// ---- faults

// a fault of the grammar at a place of the text
#define FAIL(p, place, status, ...) kki_xml_error((p)->xml, (place), (p)->error, (status), __VA_ARGS__)

static kki_short_text short_name(const parser *p, int32_t node) {
    return kki_shorten_string(kki_xml_name(p->xml, node));
}

/// The parser stands at the end of what it may read: the file ends here, or it goes on with a byte that is none.
static kk_status fail_at_end(const parser *p, const char *what) {
    if (p->end == p->length) {
        return FAIL(p, p->end, KK_SYNTAX, "the file ends inside %s; it was cut off, or the end of that is missing",
                    what);
    }
    const unsigned byte = (uint8_t)p->t[p->end];
    char hex[3] = {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15], 0};
    if (byte < 0x80) {
        return FAIL(p, p->end, KK_SYNTAX, "the control character 0x%s is not allowed in XML; remove it", hex);
    }
    return FAIL(p, p->end, KK_SYNTAX,
                "byte 0x%s is not UTF-8 text of XML; save the file as UTF-8, for example with "
                "iconv -f ISO-8859-1 -t UTF-8",
                hex);
}

static kk_status fail_too_many(const parser *p, uint32_t place, const char *what, int32_t limit) {
    return FAIL(p, place, KK_LIMIT_EXCEEDED, "%s is over the limit of %d; split the file or raise the limit", what,
                (int)limit);
}

static kk_status fail_memory(const parser *p, kk_status status) {
    return FAIL(p, p->at, status,
                status == KK_OUT_OF_MEMORY ? "out of memory while reading the file" : "file too large");
}

// ---- small parts

static bool stands(const parser *p, const char *word) {
    return strncmp(p->t + p->at, word, strlen(word)) == 0;
}

static bool at_end(const parser *p) {
    return p->at >= p->end;
}

static bool skip_blanks(parser *p) {
    const uint32_t start = p->at;
    while (p->at < p->end && kki_xml_has_class(p->t[p->at], KKI_XML_BLANK)) {
        p->at++;
    }
    return p->at > start;
}

/// Index of the first `word` from `from` on, or the end.
static uint32_t find(const parser *p, uint32_t from, const char *word) {
    const size_t n = strlen(word);
    while (from < p->end) {
        const char *hit = memchr(p->t + from, word[0], p->end - from);
        if (!hit) {
            break;
        }
        from = (uint32_t)(hit - p->t);
        if (from + n <= p->end && memcmp(hit, word, n) == 0) {
            return from;
        }
        from++;
    }
    return p->end;
}

/// Appends to the strings, which have room.
static void put(kki_xml *xml, const char *bytes, uint32_t length) {
    memcpy(xml->strings + xml->string_size, bytes, length);
    xml->string_size += length;
}

static void put_end(kki_xml *xml) {
    xml->strings[xml->string_size++] = 0;
}

/// The character that the parser stands at.
static kki_short_text short_character(const parser *p) {
    const uint8_t byte = (uint8_t)p->t[p->at];
    return kki_shorten(p->t + p->at, byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1);
}

/// Puts a name into the strings, once for most names: a file has few of them, over and over, and a walk over elements that
/// looks at the same bytes finds them in the cache.
static uint32_t put_name(parser *p, const char *name, uint32_t length) {
    kki_xml *xml = p->xml;
    const uint32_t hash =
        (uint8_t)name[0] * 31u + (uint8_t)name[length - 1] * 7u + (uint8_t)name[length / 2] + 61u * length;
    uint32_t *known = &p->known[hash % KNOWN_NAMES];
    // the zero byte behind it is compared, too
    if (*known > 0 && *known - 1 + length < xml->string_size && xml->strings[*known - 1 + length] == 0 &&
        memcmp(xml->strings + *known - 1, name, length) == 0) {
        return *known - 1;
    }
    const uint32_t offset = xml->string_size;
    put(xml, name, length);
    put_end(xml);
    *known = offset + 1;
    return offset;
}

/// Reads a name into the strings; `what` and `remedy` for the message where there is none.
static kk_status read_name(parser *p, const char *what, const char *remedy, uint32_t *offset, uint32_t *length) {
    const uint32_t n = (uint32_t)kki_xml_name_length(p->t + p->at, p->end - p->at);
    if (n == 0 && at_end(p)) {
        return fail_at_end(p, what);
    }
    if (n == 0) {
        return FAIL(p, p->at, KK_SYNTAX, "expected the name of %s, found '%s'; %s", what, short_character(p).text,
                    remedy);
    }
    if (n > (uint32_t)p->limits.name_length) {
        return fail_too_many(p, p->at, "the length of a name", p->limits.name_length);
    }
    *offset = put_name(p, p->t + p->at, n);
    *length = n;
    p->at += n;
    return KK_OK;
}

// ---- references

static kk_status fail_reference(const parser *p, const kki_xml_reference *r) {
    const char *body = p->t + p->at + 1;
    switch (r->fault) {
    case KKI_REFERENCE_BARE: return FAIL(p, p->at, KK_SYNTAX, "a bare '&'; write &amp;");
    case KKI_REFERENCE_UNKNOWN:
        return FAIL(p, p->at, KK_SYNTAX,
                    "unknown entity '&%s;'; XML without DTD has lt, gt, amp, quot and apos, others are written as "
                    "numbers like &#160;",
                    kki_shorten(body, r->used - 1).text);
    case KKI_REFERENCE_NO_NUMBER:
        return FAIL(p, p->at, KK_SYNTAX,
                    "a character reference without a valid number; write it like &#176; or &#xB0;");
    case KKI_REFERENCE_ILLEGAL:
        return FAIL(p, p->at, KK_SYNTAX, "the reference '&%s;' is no character of XML; remove it",
                    kki_shorten(body, r->used - 1).text);
    default:
        return FAIL(p, p->at, KK_SYNTAX, "reference '&%s' without ';'; write &amp; for the character &, or add the ;",
                    kki_shorten(body, r->used - 1).text);
    }
}

static kk_status read_reference(parser *p) {
    const kki_xml_reference r = kki_xml_read_reference(p->t + p->at, p->end - p->at);
    if (r.fault == KKI_REFERENCE_UNENDED && p->at + r.used >= p->end) {
        return fail_at_end(p, "a reference that starts with &");
    }
    if (r.fault != KKI_REFERENCE_GOOD) {
        return fail_reference(p, &r);
    }
    put(p->xml, r.character, r.length);
    p->at += r.used;
    return KK_OK;
}

// ---- texts

static kk_status check_nodes(const parser *p, uint32_t place) {
    return p->xml->node_count < p->limits.nodes
               ? KK_OK
               : fail_too_many(p, place, "the number of elements and texts", p->limits.nodes);
}

static void open_run(parser *p) {
    if (!p->in_run) {
        p->in_run = true;
        p->run_start = p->xml->string_size;
        p->run_place = p->at;
    }
}

/// A tag is next: the characters before it become a node, unless they are nothing but blanks.
static kk_status close_run(parser *p) {
    if (!p->in_run) {
        return KK_OK;
    }
    kki_xml *xml = p->xml;
    p->in_run = false;
    put_end(xml);
    const char *text = xml->strings + p->run_start;
    while (kki_xml_has_class(*text, KKI_XML_BLANK)) {
        text++;
    }
    if (*text == 0) {
        xml->string_size = p->run_start;
        return KK_OK;
    }
    kk_status status = check_nodes(p, p->run_place);
    if (status == KK_OK) {
        status = kki_xml_add_text(xml, p->run_place, p->run_start, xml->string_size - 1 - p->run_start);
        return status ? fail_memory(p, status) : KK_OK;
    }
    return status;
}

/// Copies up to `stop`, each kind of line end as LF.
static void put_lines(parser *p, uint32_t stop) {
    while (p->at < stop) {
        const char *cr = memchr(p->t + p->at, '\r', stop - p->at);
        const uint32_t piece = cr ? (uint32_t)(cr - p->t) : stop;
        put(p->xml, p->t + p->at, piece - p->at);
        p->at = piece;
        if (cr) {
            put(p->xml, "\n", 1);
            p->at += p->t[p->at + 1] == '\n' ? 2 : 1;
        }
    }
}

static kk_status read_cdata(parser *p) {
    enum { START = 9, END = 3 };
    if (p->depth == 0) {
        return FAIL(p, p->at, KK_SYNTAX, "a CDATA section outside the root element; move it inside");
    }
    open_run(p);
    const uint32_t stop = find(p, p->at + START, "]]>");
    if (stop == p->end) {
        return fail_at_end(p, "a CDATA section, which needs ]]> at its end");
    }
    p->at += START;
    put_lines(p, stop);
    p->at = stop + END;
    return KK_OK;
}

static kk_status fail_outside(const parser *p) {
    const char *where = p->has_root ? "after the end of the root element" : "before the first element";
    return FAIL(p, p->at, KK_SYNTAX, "text %s; remove it, or check the tags around it", where);
}

static kk_status read_outside_text(parser *p) {
    skip_blanks(p);
    return at_end(p) || p->t[p->at] == '<' ? KK_OK : fail_outside(p);
}

/// The byte that ended a piece of text: a line end, a reference, or a ] that may be one too many.
static kk_status read_text_stop(parser *p) {
    if (p->t[p->at] == '&') {
        return read_reference(p);
    }
    if (p->t[p->at] == '\r') {
        put_lines(p, p->at + 1);
        return KK_OK;
    }
    if (stands(p, "]]>")) {
        return FAIL(p, p->at, KK_SYNTAX, "']]>' in text; write ]]&gt;, or start the section with <![CDATA[");
    }
    put(p->xml, "]", 1);
    p->at++;
    return KK_OK;
}

static kk_status read_text(parser *p) {
    open_run(p);
    while (!at_end(p) && p->t[p->at] != '<') {
        uint32_t stop = p->at;
        while (stop < p->end && !kki_xml_has_class(p->t[stop], KKI_XML_STOPS_TEXT)) {
            stop++;
        }
        put(p->xml, p->t + p->at, stop - p->at);
        p->at = stop;
        if (!at_end(p) && p->t[stop] != '<') {
            const kk_status status = read_text_stop(p);
            if (status != KK_OK) {
                return status;
            }
        }
    }
    return KK_OK;
}

// ---- attributes

static uint32_t hash_name(const char *name, uint32_t length) {
    uint32_t h = 2166136261u; // FNV-1a
    for (uint32_t i = 0; i < length; i++) {
        h = (h ^ (uint8_t)name[i]) * 16777619u;
    }
    return h ^ h >> 15;
}

/// True where an attribute of this name may have been there; notes that it is now.
static bool may_be_seen(parser *p, uint32_t hash) {
    uint64_t *word = &p->seen[hash / 64 % SEEN_WORDS];
    const uint64_t bit = (uint64_t)1 << hash % 64;
    const bool seen = (*word & bit) != 0;
    *word |= bit;
    return seen;
}

static kk_status check_twice(parser *p, const kki_xml_attribute *a, uint32_t length) {
    const char *name = kki_xml_string(p->xml, a->name);
    if (!may_be_seen(p, hash_name(name, length))) {
        return KK_OK;
    }
    const int32_t first = kki_xml_find(p->xml, p->xml->open, name);
    if (first == KKI_XML_NONE) {
        return KK_OK;
    }
    const kki_xml_position position = kki_xml_locate(p->xml, p->xml->attribute[first].place);
    return FAIL(p, a->place, KK_SYNTAX, "attribute '%s' stands twice in <%s>, first at line %d column %d; remove one",
                kki_shorten(name, length).text, short_name(p, p->xml->open).text, position.line, position.column);
}

static kk_status fail_value(const parser *p, const kki_xml_attribute *a) {
    const kki_short_text name = kki_shorten_string(kki_xml_string(p->xml, a->name));
    return FAIL(
        p, p->at, KK_SYNTAX,
        "'<' in the value of attribute '%s'; write &lt;, or check that the quote of the value before it is closed",
        name.text);
}

/// Line ends and tabs of a value become blanks; the parser stands on one.
static void put_blank(parser *p) {
    put(p->xml, " ", 1);
    p->at += p->t[p->at] == '\r' && p->t[p->at + 1] == '\n' ? 2 : 1;
}

/// From after the opening quote to after the closing one.
static kk_status read_value(parser *p, char quote, const kki_xml_attribute *a) {
    kk_status status = KK_OK;
    while (!at_end(p) && p->t[p->at] != quote && status == KK_OK) {
        uint32_t stop = p->at;
        while (stop < p->end && !kki_xml_has_class(p->t[stop], KKI_XML_STOPS_VALUE)) {
            stop++;
        }
        put(p->xml, p->t + p->at, stop - p->at);
        p->at = stop;
        if (at_end(p) || p->t[stop] == quote) {
            break;
        }
        if (p->t[stop] == '<') {
            status = fail_value(p, a);
        } else if (p->t[stop] == '&') {
            status = read_reference(p);
        } else if (kki_xml_has_class(p->t[stop], KKI_XML_BLANK)) {
            put_blank(p);
        } else {
            put(p->xml, p->t + stop, 1); // the other quote
            p->at++;
        }
    }
    if (status == KK_OK && at_end(p)) {
        return fail_at_end(p, quote == '"' ? "an attribute's value, which needs a \" at its end"
                                           : "an attribute's value, which needs a ' at its end");
    }
    p->at++;
    return status;
}

static kk_status read_equals(parser *p, const kki_xml_attribute *a) {
    const char *name = kki_xml_string(p->xml, a->name);
    skip_blanks(p);
    if (at_end(p)) {
        return fail_at_end(p, "a tag");
    }
    if (p->t[p->at] != '=') {
        return FAIL(p, p->at, KK_SYNTAX, "attribute '%s' has no value; write %s=\"...\"", kki_shorten_string(name).text,
                    kki_shorten_string(name).text);
    }
    p->at++;
    skip_blanks(p);
    if (at_end(p)) {
        return fail_at_end(p, "a tag");
    }
    if (p->t[p->at] != '"' && p->t[p->at] != '\'') {
        return FAIL(p, p->at, KK_SYNTAX, "the value of attribute '%s' is not in quotes; write %s=\"...\"",
                    kki_shorten_string(name).text, kki_shorten_string(name).text);
    }
    return KK_OK;
}

static kk_status read_attribute(parser *p) {
    kki_xml *xml = p->xml;
    kki_xml_attribute a = {.place = p->at};
    uint32_t length = 0;
    kk_status status = read_name(p, "an attribute", "check the tag's quotes and its '>'", &a.name, &length);
    if (status == KK_OK && xml->node[xml->open].attribute_count >= p->limits.attributes) {
        status = fail_too_many(p, a.place, "the number of attributes of one element", p->limits.attributes);
    }
    status = status ? status : check_twice(p, &a, length);
    status = status ? status : read_equals(p, &a);
    if (status != KK_OK) {
        return status;
    }
    const char quote = p->t[p->at++];
    a.value_place = p->at;
    a.value = xml->string_size;
    status = read_value(p, quote, &a);
    if (status != KK_OK) {
        return status;
    }
    a.value_length = xml->string_size - a.value;
    put_end(xml);
    status = kki_xml_add_attribute(xml, &a);
    return status ? fail_memory(p, status) : KK_OK;
}

// ---- tags

static kk_status open_element(parser *p) {
    const uint32_t place = p->at;
    if (p->depth == 0 && p->has_root) {
        return FAIL(
            p, place, KK_SYNTAX,
            "a second root element; a file has one: check for a misplaced end tag, or put both into one element");
    }
    if (p->depth >= p->limits.depth) {
        return fail_too_many(p, place, "the depth of elements in elements", p->limits.depth);
    }
    p->at++;
    uint32_t name = 0, length = 0;
    kk_status status = check_nodes(p, place);
    status =
        status ? status : read_name(p, "an element", "write &lt; where '<' is meant as a character", &name, &length);
    if (status != KK_OK) {
        return status;
    }
    status = kki_xml_open_element(p->xml, place, name, length);
    p->depth++;
    p->has_root = true;
    return status ? fail_memory(p, status) : KK_OK;
}

static void close_element(parser *p) {
    kki_xml_close_element(p->xml);
    p->depth--;
}

/// Something other than a blank, > or /> after a name or a value.
static kk_status fail_tag(const parser *p) {
    const kki_short_text name = short_name(p, p->xml->open);
    if (at_end(p)) {
        return fail_at_end(p, "a tag");
    }
    if (kki_xml_name_length(p->t + p->at, p->end - p->at) > 0) {
        return FAIL(p, p->at, KK_SYNTAX, "no blank before an attribute of <%s>; add one", name.text);
    }
    return FAIL(p, p->at, KK_SYNTAX, "unexpected '%s' in the tag of <%s>; check its quotes and its '>'",
                short_character(p).text, name.text);
}

/// After the name: attributes, and > or />.
static kk_status read_start_tag(parser *p) {
    kk_status status = close_run(p);
    status = status ? status : open_element(p);
    memset(p->seen, 0, sizeof p->seen);
    while (status == KK_OK) {
        const bool had_blank = skip_blanks(p);
        if (p->t[p->at] == '>' && !at_end(p)) {
            p->at++;
            return KK_OK;
        }
        if (stands(p, "/>")) {
            p->at += 2;
            close_element(p);
            return KK_OK;
        }
        if (!had_blank || at_end(p)) {
            return fail_tag(p);
        }
        status = read_attribute(p);
    }
    return status;
}

static kk_status check_end_name(const parser *p, uint32_t place, const char *name, size_t length) {
    const kki_xml_node *open = p->depth > 0 ? &p->xml->node[p->xml->open] : NULL;
    if (open && length == open->length && memcmp(name, kki_xml_string(p->xml, open->text), length) == 0) {
        return KK_OK;
    }
    const kki_short_text found = kki_shorten(name, length);
    if (!open) {
        return FAIL(p, place, KK_SYNTAX, "end tag </%s> without a start tag; remove it, or add <%s> before it",
                    found.text, found.text);
    }
    const kki_xml_position start = kki_xml_locate(p->xml, open->place);
    const kki_short_text expected = short_name(p, p->xml->open);
    return FAIL(p, place, KK_SYNTAX,
                "end tag </%s> does not match <%s> opened at line %d column %d; close that with </%s> first",
                found.text, expected.text, start.line, start.column, expected.text);
}

static kk_status read_end_tag(parser *p) {
    kk_status status = close_run(p);
    const uint32_t place = p->at;
    p->at += 2;
    const size_t length = kki_xml_name_length(p->t + p->at, p->end - p->at);
    const char *name = p->t + p->at;
    if (status == KK_OK && length == 0) {
        return at_end(p) ? fail_at_end(p, "an end tag")
                         : FAIL(p, place, KK_SYNTAX, "an end tag without a name; write </name>");
    }
    p->at += (uint32_t)length;
    skip_blanks(p);
    if (status == KK_OK && at_end(p)) {
        return fail_at_end(p, "an end tag");
    }
    const bool is_stray = p->depth == 0 && p->has_root && p->limits.allows_end_tags;
    status = status || is_stray ? status : check_end_name(p, place, name, length);
    if (status == KK_OK && p->t[p->at] != '>') {
        return FAIL(p, p->at, KK_SYNTAX, "end tag </%s> has more than a name; write </%s>",
                    kki_shorten(name, length).text, kki_shorten(name, length).text);
    }
    if (status == KK_OK) {
        p->at++;
    }
    if (status == KK_OK && is_stray) {
        p->xml->stray_end = place;
        p->xml->has_stray_end = true;
    } else if (status == KK_OK) {
        close_element(p);
    }
    return status;
}

// ---- comments, processing instructions, document types

static kk_status skip_comment(parser *p) {
    enum { START = 4, END = 3 };
    const uint32_t dashes = find(p, p->at + START, "--");
    if (dashes == p->end || dashes + 2 == p->end) {
        return fail_at_end(p, "a comment, which needs --> at its end");
    }
    if (p->t[dashes + 2] != '>') {
        return FAIL(p, dashes, KK_SYNTAX, "'--' inside a comment; write one dash or put a blank between them");
    }
    p->at = dashes + END;
    return KK_OK;
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool is_reserved_target(const char *name, size_t length) {
    return length == 3 && lower(name[0]) == 'x' && lower(name[1]) == 'm' && lower(name[2]) == 'l';
}

static kk_status skip_instruction(parser *p) {
    const char *target = p->t + p->at + 2;
    const size_t length = kki_xml_name_length(target, p->end - p->at - 2);
    const uint32_t after = p->at + 2 + (uint32_t)length;
    if (length == 0 && after < p->end) {
        return FAIL(p, p->at, KK_SYNTAX, "'<?' without a name; write &lt; where '<' is meant as a character");
    }
    if (is_reserved_target(target, length) && after < p->end) {
        return FAIL(p, p->at, KK_SYNTAX, "%s",
                    memcmp(target, "xml", 3) == 0
                        ? "an XML declaration that is not the first thing of the file; delete it, or what is before it"
                        : "an XML declaration in capital letters; write <?xml version=\"1.0\"?>");
    }
    const uint32_t stop = find(p, after, "?>");
    if (stop == p->end) {
        return fail_at_end(p, "a processing instruction, which needs ?> at its end");
    }
    if (stop != after && !kki_xml_has_class(p->t[after], KKI_XML_BLANK)) {
        return FAIL(p, after, KK_SYNTAX, "no blank after the name of a processing instruction; add one");
    }
    p->at = stop + 2;
    return KK_OK;
}

static kk_status read_exclamation(parser *p) {
    if (stands(p, "<!--")) {
        return skip_comment(p);
    }
    if (stands(p, "<![CDATA[")) {
        return read_cdata(p);
    }
    if (stands(p, "<!DOCTYPE")) {
        return FAIL(
            p, p->at, KK_UNSUPPORTED,
            "a DOCTYPE is refused, since a document type can pull in other files and grow without bound; delete "
            "the <!DOCTYPE ...> and write entities out");
    }
    return p->at + 2 >= p->end ? fail_at_end(p, "a tag")
                               : FAIL(p, p->at, KK_SYNTAX,
                                      "'<!' starts neither a comment nor a CDATA section; write <!-- or <![CDATA[");
}

static kk_status read_markup(parser *p) {
    const char next = p->at + 1 < p->end ? p->t[p->at + 1] : 0;
    return next == '/'   ? read_end_tag(p)
           : next == '!' ? read_exclamation(p)
           : next == '?' ? skip_instruction(p)
                         : read_start_tag(p);
}

// ---- the declaration and encodings

static bool equals_any_case(const char *text, size_t length, const char *word) {
    size_t i = 0;
    while (i < length && word[i] != 0 && lower(text[i]) == word[i]) {
        i++;
    }
    return i == length && word[i] == 0;
}

static bool starts_any_case(const char *text, size_t length, const char *word) {
    const size_t start = strlen(word);
    return length >= start && equals_any_case(text, start, word);
}

static bool is_ascii(const parser *p) {
    for (uint32_t i = 0; i < p->length; i++) {
        if ((uint8_t)p->t[i] >= 0x80) {
            return false;
        }
    }
    return true;
}

/// Any version is read as 1.0: 1.1 differs by characters that no robot has, others were never written down.
static kk_status check_version(parser *p, uint32_t start, uint32_t length) {
    const bool is_usual = length == 3 && memcmp(p->t + start, "1.0", 3) == 0;
    bool is_word = true;
    for (uint32_t i = start; i < start + length; i++) {
        const char c = p->t[i];
        is_word = is_word && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                              c == '-' || c == '_');
    }
    p->xml->version = is_usual ? 0 : start;
    return is_word ? KK_OK
                   : FAIL(p, start, KK_SYNTAX, "XML version '%s' is no version; write version=\"1.0\"",
                          kki_shorten(p->t + start, length).text);
}

static bool is_name_of_latin1(const char *name, size_t length) {
    return equals_any_case(name, length, "iso-8859-1") || equals_any_case(name, length, "iso_8859-1") ||
           equals_any_case(name, length, "latin1") || equals_any_case(name, length, "latin-1");
}

static kk_status check_encoding(parser *p, uint32_t start, uint32_t length) {
    const char *name = p->t + start;
    if (equals_any_case(name, length, "utf-8") || equals_any_case(name, length, "utf8") ||
        equals_any_case(name, length, "us-ascii") || equals_any_case(name, length, "ascii")) {
        return KK_OK;
    }
    // many a robot file says so and holds nothing but ASCII, which is the same in all of these
    if ((starts_any_case(name, length, "iso-8859-") || starts_any_case(name, length, "windows-125") ||
         equals_any_case(name, length, "latin1") || starts_any_case(name, length, "gb")) &&
        is_ascii(p)) {
        return KK_OK;
    }
    if (is_name_of_latin1(name, length)) {
        p->is_latin1 = true;
        return KK_OK;
    }
    const kki_short_text encoding = kki_shorten(name, length);
    return FAIL(
        p, start, KK_UNSUPPORTED,
        "encoding '%s' is refused, files are read as UTF-8; convert with iconv -f %s -t UTF-8 and declare UTF-8",
        encoding.text, encoding.text);
}

static kk_status check_standalone(parser *p, uint32_t start, uint32_t length) {
    const char *value = p->t + start;
    const bool good = (length == 3 && memcmp(value, "yes", 3) == 0) || (length == 2 && memcmp(value, "no", 2) == 0);
    return good ? KK_OK : FAIL(p, start, KK_SYNTAX, "standalone must be yes or no; delete it");
}

/// name = "value" of the declaration; false where the grammar is broken.
static bool read_pair(parser *p, const char *name, uint32_t *start, uint32_t *length) {
    p->at += (uint32_t)strlen(name);
    skip_blanks(p);
    if (p->t[p->at] != '=') {
        return false;
    }
    p->at++;
    skip_blanks(p);
    const char quote = p->t[p->at];
    if (quote != '"' && quote != '\'') {
        return false;
    }
    *start = p->at + 1;
    p->at = *start;
    while (!at_end(p) && p->t[p->at] != quote && p->t[p->at] != '<' && p->t[p->at] != '>') {
        p->at++;
    }
    *length = p->at - *start;
    if (p->t[p->at] != quote) {
        return false;
    }
    p->at++;
    return true;
}

static kk_status fail_declaration(const parser *p) {
    return at_end(p) ? fail_at_end(p, "the XML declaration")
                     : FAIL(p, p->at, KK_SYNTAX,
                            "a malformed XML declaration; write <?xml version=\"1.0\" encoding=\"UTF-8\"?>");
}

/// <?xml version="1.0" encoding="UTF-8" standalone="yes"?>, the last two of them optional, in this order.
static kk_status read_declaration(parser *p) {
    static const struct {
        const char *name;
        kk_status (*check)(parser *p, uint32_t start, uint32_t length);
        bool is_required;
    } parts[] = {
        {"version", check_version, true}, {"encoding", check_encoding, false}, {"standalone", check_standalone, false}};
    p->at += 5; // "<?xml"
    for (int i = 0; i < 3; i++) {
        const uint32_t before = p->at;
        const bool had_blank = skip_blanks(p);
        if (!stands(p, parts[i].name) && !parts[i].is_required) {
            p->at = before;
            continue;
        }
        uint32_t start, length;
        if (!had_blank || !stands(p, parts[i].name) || !read_pair(p, parts[i].name, &start, &length)) {
            return fail_declaration(p);
        }
        const kk_status status = parts[i].check(p, start, length);
        if (status != KK_OK) {
            return status;
        }
    }
    skip_blanks(p);
    if (!stands(p, "?>")) {
        return fail_declaration(p);
    }
    p->at += 2;
    return KK_OK;
}

/// The marks and the zero bytes by which other encodings show themselves (XML 1.0, appendix F).
static kk_status refuse_wide_encodings(const parser *p) {
    const uint8_t *t = (const uint8_t *)p->t; // zero bytes follow a short text
    const bool is_marked = (t[0] == 0xfe && t[1] == 0xff) || (t[0] == 0xff && t[1] == 0xfe);
    const bool is_wide = p->length >= 2 && ((t[0] == 0 && t[1] == '<') || (t[0] == '<' && t[1] == 0));
    const bool is_utf32 = p->length >= 4 && t[0] == 0 && t[1] == 0 && (t[2] == 0xfe || t[3] == '<');
    if (is_marked || is_wide || is_utf32) {
        return FAIL(p, 0, KK_UNSUPPORTED,
                    "the file is UTF-16 or UTF-32, which is refused; save it as UTF-8, for example with "
                    "iconv -f UTF-16 -t UTF-8");
    }
    return KK_OK;
}

// ---- the document

static kk_status finish(const parser *p) {
    if (p->end < p->length) {
        return fail_at_end(p, "");
    }
    if (p->depth > 0) {
        const kki_short_text name = short_name(p, p->xml->open);
        const kki_xml_position start = kki_xml_locate(p->xml, p->xml->node[p->xml->open].place);
        return FAIL(p, p->end, KK_SYNTAX,
                    "the file ends inside <%s> opened at line %d column %d; add </%s>, or the file was cut off",
                    name.text, start.line, start.column, name.text);
    }
    return p->has_root ? KK_OK : FAIL(p, p->end, KK_SYNTAX, "no element in the file; it is empty, or not an XML file");
}

static kk_status read_content(parser *p) {
    while (!at_end(p)) {
        const kk_status status = p->t[p->at] == '<' ? read_markup(p)
                                 : p->depth > 0     ? read_text(p)
                                                    : read_outside_text(p);
        if (status != KK_OK) {
            return status;
        }
    }
    return finish(p);
}

/// Room for everything that the text can hold.
static kk_status reserve(kki_xml *xml, const char *t, uint32_t length) {
    uint32_t starts = 0, tags = 0, equals = 0;
    for (uint32_t i = 0; i < length; i++) {
        const unsigned is_tag = (unsigned)(t[i] == '<') & (unsigned)(t[i + 1] != '!') & (unsigned)(t[i + 1] != '?');
        tags += is_tag;
        starts += is_tag & (unsigned)(t[i + 1] != '/');
        equals += t[i] == '=';
    }
    // an element with a text after it takes five bytes, <a/>b, and so does an attribute, a=""
    const size_t nodes = (size_t)starts + tags, most = length / 5 + 1;
    return kki_xml_reserve(xml, nodes < 2 * most ? nodes : 2 * most, equals < most ? equals : most, (size_t)length + 8);
}

static kk_status set_up(parser *p, const char *text, size_t length) {
    if (length > p->limits.size) {
        return kki_error_at(p->error, KK_LIMIT_EXCEEDED, p->file, 1, 1,
                            "the file has %d MiB and more, over the limit of %d MiB; split it or raise the limit",
                            (int)(length >> 20), (int)(p->limits.size >> 20));
    }
    int32_t source;
    kk_status status = kki_xml_add_source(p->xml, p->file, text, length, &source);
    if (status == KK_OK) {
        p->t = p->xml->source[source].text;
        p->length = p->xml->source[source].length;
        p->end = (uint32_t)kki_xml_legal_length(p->t, p->length);
        status = reserve(p->xml, p->t, p->length);
    }
    return status ? kki_error_at(p->error, status, p->file, 1, 1, "out of memory while reading the file") : KK_OK;
}

/// Latin-1 has the first 256 characters of Unicode: what is no ASCII becomes two bytes.
static size_t latin1_to_utf8(const char *from, size_t length, char *to) {
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        const uint8_t c = (uint8_t)from[i];
        if (c < 0x80) {
            to[n++] = from[i];
        } else {
            to[n++] = (char)(0xc0 | c >> 6);
            to[n++] = (char)(0x80 | (c & 0x3f));
        }
    }
    return n;
}

/// Begins again with the text in UTF-8, behind the declaration, which is the same in both. Columns count its bytes.
static kk_status convert_latin1(parser *p) {
    const kk_allocator allocator = p->xml->allocator;
    const size_t size = 2 * (size_t)p->length;
    char *text = kki_allocate(&allocator, size);
    if (!text) {
        return kki_error_at(p->error, KK_OUT_OF_MEMORY, p->file, 1, 1, "out of memory while reading the file");
    }
    const size_t length = latin1_to_utf8(p->t, p->length, text);
    kki_xml_free(p->xml);
    p->xml = NULL;
    memset(p->known, 0, sizeof p->known);
    kk_status status = kki_xml_create(&allocator, &p->xml);
    status = status ? kki_error_at(p->error, status, p->file, 1, 1, "out of memory while reading the file")
                    : set_up(p, text, length);
    kki_release(&allocator, text, size);
    return status;
}

static kk_status read_document(parser *p) {
    kk_status status = refuse_wide_encodings(p);
    if (status == KK_OK && stands(p, "<?xml") && (kki_xml_has_class(p->t[5], KKI_XML_BLANK) || p->t[5] == '?')) {
        status = read_declaration(p);
    }
    // what stands before the end of the declaration is the same in both
    if (status == KK_OK && p->is_latin1) {
        status = convert_latin1(p);
    }
    return status ? status : read_content(p);
}

kk_status kki_xml_parse(const char *file, const char *text, size_t length, const kki_xml_limits *limits,
                        const kk_allocator *allocator, kki_xml **xml, kk_error *error) {
    const size_t largest = (size_t)1 << 30;
    parser p = {.file = file, .error = error, .limits = limits ? *limits : kki_xml_limits_default()};
    p.limits.size = p.limits.size < largest ? p.limits.size : largest;
    *xml = NULL;
    kk_status status = kki_xml_create(allocator, &p.xml);
    if (status != KK_OK) {
        return kki_error_at(error, status, file, 1, 1, "out of memory while reading the file");
    }
    status = set_up(&p, text, length);
    status = status ? status : read_document(&p);
    if (status != KK_OK) {
        kki_xml_free(p.xml);
        return status;
    }
    *xml = p.xml;
    return KK_OK;
}
