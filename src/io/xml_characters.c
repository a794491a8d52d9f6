/// Bytes and characters of XML.
#include "xml_characters.h"

#include <string.h>

// clang-format off
// 16 bytes a row; the sum of the classes that the byte is in
const uint8_t kki_xml_class[256] = {
    32, 32, 32, 32, 32, 32, 32, 32, 32, 20, 20, 32, 32, 28, 32, 32,
    32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32,
    4, 0, 16, 0, 0, 0, 24, 16, 0, 0, 0, 0, 0, 2, 2, 0,
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 0, 24, 0, 0, 0,
    0, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0, 0, 8, 0, 3,
    0, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0, 0, 0, 0, 0,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
};
// clang-format on

// ---- UTF-8

static bool is_legal(uint32_t c) {
    return c == 0x9 || c == 0xa || c == 0xd || (c >= 0x20 && c <= 0xd7ff) || (c >= 0xe000 && c <= 0xfffd) ||
           (c >= 0x10000 && c <= 0x10ffff);
}

static bool is_continuation(char byte) {
    return ((uint8_t)byte & 0xc0) == 0x80;
}

/// Bytes of the character that starts with this one above ASCII; 0 where none does.
static size_t sequence_length(char first) {
    const uint8_t byte = (uint8_t)first;
    return byte >= 0xf5 ? 0 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 0;
}

/// Reads a character above ASCII; gives its bytes, 0 where it is cut, overlong, a surrogate or beyond Unicode.
static size_t decode(const char *text, size_t length, uint32_t *character) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t n = sequence_length(text[0]);
    if (n == 0 || n > length) {
        return 0;
    }
    uint32_t c = (uint8_t)text[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (!is_continuation(text[i])) {
            return 0;
        }
        c = c << 6 | ((uint8_t)text[i] & 0x3fu);
    }
    *character = c;
    return c >= smallest[n] && is_legal(c) ? n : 0;
}

static uint32_t encode(uint32_t c, char bytes[4]) {
    if (c < 0x80) {
        bytes[0] = (char)c;
        return 1;
    }
    const uint32_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (uint32_t i = n - 1; i > 0; i--) {
        bytes[i] = (char)(0x80 | (c & 0x3f));
        c >>= 6;
    }
    bytes[0] = (char)((0xf00u >> n) | c);
    return n;
}

size_t kki_xml_legal_length(const char *text, size_t length) {
    size_t i = 0;
    while (i < length) {
        uint32_t character;
        if (!kki_xml_has_class(text[i], KKI_XML_ILLEGAL | KKI_XML_ABOVE_ASCII)) {
            i++;
            continue;
        }
        const size_t n = kki_xml_has_class(text[i], KKI_XML_ILLEGAL) ? 0 : decode(text + i, length - i, &character);
        if (n == 0) {
            return i;
        }
        i += n;
    }
    return i;
}

// ---- names

typedef struct range {
    uint32_t first, last;
} range;

static bool is_in(const range *ranges, size_t count, uint32_t c) {
    for (size_t i = 0; i < count; i++) {
        if (c >= ranges[i].first && c <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

static bool starts_name(uint32_t c) {
    static const range ranges[] = {{0xc0, 0xd6},     {0xd8, 0xf6},     {0xf8, 0x2ff},    {0x370, 0x37d},
                                   {0x37f, 0x1fff},  {0x200c, 0x200d}, {0x2070, 0x218f}, {0x2c00, 0x2fef},
                                   {0x3001, 0xd7ff}, {0xf900, 0xfdcf}, {0xfdf0, 0xfffd}, {0x10000, 0xeffff}};
    return is_in(ranges, sizeof ranges / sizeof *ranges, c);
}

static bool continues_name(uint32_t c) {
    static const range ranges[] = {{0xb7, 0xb7}, {0x300, 0x36f}, {0x203f, 0x2040}};
    return is_in(ranges, sizeof ranges / sizeof *ranges, c) || starts_name(c);
}

/// Bytes of the character at text[0] where it belongs to a name, else 0.
static size_t name_character(const char *text, size_t length, bool is_first) {
    if (!kki_xml_has_class(text[0], KKI_XML_ABOVE_ASCII)) {
        return kki_xml_has_class(text[0], is_first ? KKI_XML_NAME_START : KKI_XML_NAME_BYTE) ? 1 : 0;
    }
    uint32_t c;
    const size_t n = decode(text, length, &c);
    return n > 0 && (is_first ? starts_name(c) : continues_name(c)) ? n : 0;
}

size_t kki_xml_name_length(const char *text, size_t length) {
    size_t used = 0;
    while (used < length) {
        const size_t n = name_character(text + used, length - used, used == 0);
        if (n == 0) {
            break;
        }
        used += n;
    }
    return used;
}

// ---- references

static int digit_value(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 16;
}

static kki_xml_reference faulty(kki_xml_reference_fault fault, size_t used) {
    return (kki_xml_reference){.fault = fault, .used = (uint32_t)used};
}

static kki_xml_reference read_number(const char *text, size_t length) {
    const bool is_hex = length > 2 && text[2] == 'x';
    const size_t start = is_hex ? 3 : 2;
    const int base = is_hex ? 16 : 10;
    uint32_t c = 0;
    size_t i = start;
    for (; i < length && digit_value(text[i]) < base; i++) {
        c = c > 0x10ffff ? c : c * (uint32_t)base + (uint32_t)digit_value(text[i]);
    }
    if (i == start || (i < length && text[i] != ';')) {
        return faulty(i < length && (i == start || kki_xml_has_class(text[i], KKI_XML_NAME_BYTE))
                          ? KKI_REFERENCE_NO_NUMBER
                          : KKI_REFERENCE_UNENDED,
                      i);
    }
    if (i == length || !is_legal(c)) {
        return faulty(i == length ? KKI_REFERENCE_UNENDED : KKI_REFERENCE_ILLEGAL, i);
    }
    kki_xml_reference reference = {.used = (uint32_t)i + 1};
    reference.length = encode(c, reference.character);
    return reference;
}

static kki_xml_reference read_name(const char *text, size_t length) {
    static const struct {
        const char *name;
        char character;
    } known[] = {{"lt;", '<'}, {"gt;", '>'}, {"amp;", '&'}, {"quot;", '"'}, {"apos;", '\''}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t n = strlen(known[i].name);
        if (n < length && memcmp(text + 1, known[i].name, n) == 0) {
            return (kki_xml_reference){.used = (uint32_t)n + 1, .length = 1, .character = {known[i].character}};
        }
    }
    const size_t n = kki_xml_name_length(text + 1, length - 1);
    if (n == 0) {
        return faulty(KKI_REFERENCE_BARE, 1);
    }
    return faulty(n + 1 < length && text[n + 1] == ';' ? KKI_REFERENCE_UNKNOWN : KKI_REFERENCE_UNENDED, n + 1);
}

kki_xml_reference kki_xml_read_reference(const char *text, size_t length) {
    return length > 1 && text[1] == '#' ? read_number(text, length) : read_name(text, length);
}
