/// The table of MJCF's elements and attributes, and how far each is supported.
#ifndef KKI_IO_MJCF_TABLES_H
#define KKI_IO_MJCF_TABLES_H

#include <stdbool.h>
#include <stddef.h>

typedef enum kki_mjcf_level {
    KKI_MJCF_READ,        ///< has its effect
    KKI_MJCF_MAPPED,      ///< has its effect by something else that the note tells
    KKI_MJCF_IGNORED,     ///< has none, and needs none for the physics: a note
    KKI_MJCF_UNSUPPORTED, ///< has none: a warning
} kki_mjcf_level;

typedef struct kki_mjcf_row {
    const char *name;
    kki_mjcf_level level;
    const char *note;
} kki_mjcf_row;

/// "parent/name", the parent being the section's name, or "body" for the tree of bodies.
typedef struct kki_mjcf_element {
    const char *path;
    kki_mjcf_level level;
    const char *note;
    const kki_mjcf_row *attribute; ///< ends with a row without a name; NULL: none, or whatever they are
} kki_mjcf_element;

int kki_mjcf_element_count(void);
const kki_mjcf_element *kki_mjcf_element_at(int index);
/// NULL where MJCF has no such element or attribute.
const kki_mjcf_element *kki_mjcf_element_find(const char *parent, const char *name);
const kki_mjcf_element *kki_mjcf_element_of(const char *path);
const kki_mjcf_row *kki_mjcf_row_find(const kki_mjcf_element *element, const char *attribute);

#endif
