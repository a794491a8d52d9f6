/// Characters of XML 1.0: classes of bytes, names, references, and what is legal at all.
///
/// Reference: Extensible Markup Language (XML) 1.0, fifth edition, productions 2 (Char), 3 (S), 4 and 4a (names),
/// 66 to 68 (references).
#ifndef KARAKURI_IO_XML_CHARACTERS_H
#define KARAKURI_IO_XML_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KKI_XML_NAME_START = 1,
    KKI_XML_NAME_BYTE = 2,
    KKI_XML_BLANK = 4,
    KKI_XML_STOPS_TEXT = 8,   ///< < & ] CR
    KKI_XML_STOPS_VALUE = 16, ///< < & quotes, tab, LF, CR
    KKI_XML_ILLEGAL = 32,     ///< control characters
    KKI_XML_ABOVE_ASCII = 64,
};

extern const uint8_t kki_xml_class[256];

static inline bool kki_xml_has_class(char byte, unsigned classes) {
    return (kki_xml_class[(uint8_t)byte] & classes) != 0;
}

/// Length of the prefix of text[length] that is UTF-8 of nothing but legal characters.
size_t kki_xml_legal_length(const char *text, size_t length);

/// Length of the name at the start of text[length], which is legal; 0 where none starts.
size_t kki_xml_name_length(const char *text, size_t length);

typedef enum kki_xml_reference_fault {
    KKI_REFERENCE_GOOD,
    KKI_REFERENCE_BARE,      ///< no name and no # after the &
    KKI_REFERENCE_UNENDED,   ///< no semicolon
    KKI_REFERENCE_UNKNOWN,   ///< a name that is not one of the five
    KKI_REFERENCE_NO_NUMBER, ///< &#; or a digit that is none
    KKI_REFERENCE_ILLEGAL,   ///< a character that XML does not have
} kki_xml_reference_fault;

typedef struct kki_xml_reference {
    kki_xml_reference_fault fault;
    uint32_t used;     ///< bytes from & to the semicolon or, on a fault, to where it shows
    uint32_t length;   ///< bytes of the character
    char character[4]; ///< in UTF-8
} kki_xml_reference;

/// The reference that starts with the & at text[0].
kki_xml_reference kki_xml_read_reference(const char *text, size_t length);

#endif
