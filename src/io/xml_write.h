/// Writing XML: elements indented by their depth, values escaped, numbers in the fewest digits that read back the same.
///
///     kki_xml_writer w;
///     kki_xml_write_begin(&w, &allocator);
///     kki_xml_open(&w, "link");
///     kki_xml_put(&w, "name", "arm");                // attributes, before any child
///     kki_xml_put_number(&w, "mass", 1.5);
///     kki_xml_close(&w, "link");                     // <link name="arm" mass="1.5"/>
///     status = kki_xml_write_end(&w, &text, &size, error);
///
/// A fault (no memory; a number that is not finite, a text that XML cannot hold) is kept, later calls do nothing, and
/// the end tells it. What must not be written, such as an infinite limit, is left out by the caller.
#ifndef KARAKURI_IO_XML_WRITE_H
#define KARAKURI_IO_XML_WRITE_H

#include <stdbool.h>

#include <karakuri/allocator.h>
#include <karakuri/math.h>
#include <karakuri/status.h>

typedef struct kki_xml_writer {
    kk_allocator allocator;
    char *text;
    size_t size, capacity;
    int depth;        ///< elements open
    bool in_tag;      ///< the last start tag still takes attributes
    bool is_inline;   ///< the last thing written was text, so the end tag follows it
    kk_status status; ///< of the first fault
    kk_error error;
} kki_xml_writer;

/// Nothing is allocated yet; the declaration comes with the first element.
void kki_xml_write_begin(kki_xml_writer *w, const kk_allocator *allocator);
/// Hands the text over, zero-terminated, a block of size + 1 bytes; on a fault frees it and fills the error.
kk_status kki_xml_write_end(kki_xml_writer *w, char **text, size_t *size, kk_error *error);

void kki_xml_open(kki_xml_writer *w, const char *name);
void kki_xml_close(kki_xml_writer *w, const char *name);
/// A line <!-- text -->; "--" in it becomes "- -".
void kki_xml_comment(kki_xml_writer *w, const char *text);
/// Characters inside the open element, on the same line.
void kki_xml_characters(kki_xml_writer *w, const char *text);

void kki_xml_put(kki_xml_writer *w, const char *name, const char *value);
void kki_xml_put_number(kki_xml_writer *w, const char *name, double value);
void kki_xml_put_int(kki_xml_writer *w, const char *name, int64_t value);
/// With one blank between them.
void kki_xml_put_numbers(kki_xml_writer *w, const char *name, const double *values, int count);
void kki_xml_put_vec3(kki_xml_writer *w, const char *name, kk_vec3 value);
/// Only where it differs from what a reader would take without it; an infinite value is left out.
void kki_xml_put_unless(kki_xml_writer *w, const char *name, double value, double otherwise);
/// Only where there is a text.
void kki_xml_put_if(kki_xml_writer *w, const char *name, const char *value);

#endif
