/// Building a tree: what the reader and the expanders (xacro, includes) share.
///
/// Elements are opened and closed in document order; a tree is complete when all are closed. On KK_OUT_OF_MEMORY the
/// tree stays as it was. Sizes beyond 32 bits are KK_LIMIT_EXCEEDED.
#ifndef KARAKURI_IO_XML_BUILD_H
#define KARAKURI_IO_XML_BUILD_H

#include "xml.h"

kk_status kki_xml_create(const kk_allocator *allocator, kki_xml **xml);

/// Copies a text that places point into; gives the number of the source.
kk_status kki_xml_add_source(kki_xml *xml, const char *file, const char *text, size_t length, int32_t *source);

/// Room for that many nodes, attributes and bytes of strings in all.
kk_status kki_xml_reserve(kki_xml *xml, size_t nodes, size_t attributes, size_t strings);

/// Room for `length` bytes more and a zero byte; the strings may move.
kk_status kki_xml_reserve_string(kki_xml *xml, size_t length);
/// Copies a string into the pool.
kk_status kki_xml_add_string(kki_xml *xml, const char *text, size_t length, uint32_t *offset);

/// A new node as the last child of the open element; `text` is an offset in the strings. An element becomes the open
/// one.
kk_status kki_xml_open_element(kki_xml *xml, uint32_t place, uint32_t text, uint32_t length);
kk_status kki_xml_add_text(kki_xml *xml, uint32_t place, uint32_t text, uint32_t length);
void kki_xml_close_element(kki_xml *xml);
/// An attribute of the open element, which has no children yet.
kk_status kki_xml_add_attribute(kki_xml *xml, const kki_xml_attribute *attribute);
/// The same, also behind children; an attribute of the same name takes the new value.
kk_status kki_xml_set_attribute(kki_xml *xml, const kki_xml_attribute *attribute);

#endif
