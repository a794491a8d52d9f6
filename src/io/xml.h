/// XML documents as a tree in flat arrays: reading, walking, and the place of everything in its file.
///
/// Reads well-formed XML 1.0 (fifth edition, without document types) in UTF-8, or in Latin-1 if the file declares it, which
/// becomes UTF-8. What a robot file has no need of is refused with its reason: a DOCTYPE, other encodings (unless every
/// byte is ASCII), and whatever is over the limits. Comments and processing instructions are skipped. Names are kept as written ("xacro:if"), xmlns attributes are attributes like any other.
///
/// Element 0 is the root. Nodes stand in document order, so the children of a node have higher numbers. A text node
/// holds all the characters between two tags, whatever comments or CDATA sections stand in between; texts of nothing
/// but blanks are left out. All strings are UTF-8 and end with a zero byte; none contains one.
///
/// A place is a number that stands for file, line and column; kki_xml_locate tells them. Lines end with LF, CR LF or
/// CR. Columns count bytes of UTF-8 from 1 (a tab is one byte, a Japanese character three); a byte order mark is not counted.
#ifndef KARAKURI_IO_XML_H
#define KARAKURI_IO_XML_H

#include <stdbool.h>

#include <karakuri/allocator.h>
#include <karakuri/status.h>

enum { KKI_XML_NONE = -1, KKI_XML_ROOT = 0 };

typedef struct kki_xml_node {
    uint32_t place;          ///< of the '<' of an element, of the first byte of a text
    uint32_t text;           ///< offset in strings: name of an element, or the text
    uint32_t length;         ///< bytes of it
    int32_t parent;          ///< KKI_XML_NONE for the root
    int32_t first_child;     ///< KKI_XML_NONE where there is none, as for `next`
    int32_t next;            ///< sibling
    int32_t first_attribute; ///< the others follow it
    int32_t attribute_count; ///< -1 for a text
} kki_xml_node;

typedef struct kki_xml_attribute {
    uint32_t place;       ///< of the name
    uint32_t value_place; ///< of the first byte after the quote
    uint32_t name, value; ///< offsets in strings
    uint32_t value_length;
} kki_xml_attribute;

/// A text that the tree came from; places from `base` on are in it.
typedef struct kki_xml_source {
    char *file; ///< name for messages
    char *text; ///< without byte order mark; zero bytes follow
    uint32_t length, base;
    uint32_t *lines; ///< for each 512 bytes: line ends before them, and where the last of these lines starts
    size_t block_size;
    bool has_returns; ///< CR somewhere, so that a line may end without LF
} kki_xml_source;

typedef struct kki_xml {
    kk_allocator allocator;
    kki_xml_node *node;
    kki_xml_attribute *attribute;
    char *strings;
    kki_xml_source *source;
    int32_t node_count, attribute_count, source_count;
    int32_t node_capacity, attribute_capacity, source_capacity;
    uint32_t string_size, string_capacity;
    uint32_t stray_end; ///< place of an end tag behind the root's
    bool has_stray_end;
    int32_t open, last; ///< while the tree is built: the innermost open element and its last child so far
    uint32_t version;   ///< where a version other than 1.0 is declared; 0: nowhere
} kki_xml;

/// Bounds of what is read; each over it is KK_LIMIT_EXCEEDED.
typedef struct kki_xml_limits {
    size_t size;         ///< bytes of the file; at most 1 GiB
    int32_t depth;       ///< elements in elements
    int32_t nodes;       ///< elements and texts
    int32_t attributes;  ///< of one element
    int32_t name_length; ///< bytes of a name
    bool
        allows_end_tags; ///< an end tag too many behind the root's, which TinyXML passes over as well, is noted and skipped
} kki_xml_limits;

/// 256 MiB, depth 16384, 64 Mi nodes, 256 attributes, names of 1024 bytes.
kki_xml_limits kki_xml_limits_default(void);

/// Reads a document. Time is proportional to the length, memory at most 32 times as much plus a few kB, in few blocks.
/// @param file    name for messages; may be NULL
/// @param limits  NULL for the defaults
/// @param error   filled with file, line, column, reason and remedy; may be NULL
kk_status kki_xml_parse(const char *file, const char *text, size_t length, const kki_xml_limits *limits,
                        const kk_allocator *allocator, kki_xml **xml, kk_error *error);
void kki_xml_free(kki_xml *xml);
/// Memory that a tree takes.
size_t kki_xml_bytes(const kki_xml *xml);

// ---- walking

bool kki_xml_is_element(const kki_xml *xml, int32_t node);
/// True for an element of this name.
bool kki_xml_is(const kki_xml *xml, int32_t node, const char *name);
/// Name of an element, "" for a text.
const char *kki_xml_name(const kki_xml *xml, int32_t node);
/// Content of a text node; of an element the content of its first text child, "" where it has none.
const char *kki_xml_text(const kki_xml *xml, int32_t node);
/// First child or next sibling that is an element, of the given name unless that is NULL; KKI_XML_NONE at the end.
int32_t kki_xml_first(const kki_xml *xml, int32_t node, const char *name);
int32_t kki_xml_next(const kki_xml *xml, int32_t node, const char *name);
/// Number of an attribute in xml->attribute, KKI_XML_NONE where the element has none of that name.
int32_t kki_xml_find(const kki_xml *xml, int32_t node, const char *name);
/// Value of an attribute, NULL where there is none of that name.
const char *kki_xml_value(const kki_xml *xml, int32_t node, const char *name);

static inline const char *kki_xml_string(const kki_xml *xml, uint32_t offset) {
    return xml->strings + offset;
}

// ---- places

typedef struct kki_xml_position {
    const char *file; ///< lives as long as the tree
    int line, column; ///< from 1
} kki_xml_position;

kki_xml_position kki_xml_locate(const kki_xml *xml, uint32_t place);
/// Place of byte `offset` of an attribute's value or of a text, seen through references, CDATA and line ends. The
/// start of the value where the value is not the one of the file any more (made by an expression).
uint32_t kki_xml_place_in_value(const kki_xml *xml, int32_t attribute, uint32_t offset);
uint32_t kki_xml_place_in_text(const kki_xml *xml, int32_t text_node, uint32_t offset);

/// An error with the place it happened.
__attribute__((format(printf, 5, 6))) kk_status kki_xml_error(const kki_xml *xml, uint32_t place, kk_error *error,
                                                              kk_status status, const char *format, ...);

#endif
