// What the two halves of the COLLADA reader share: the document with its ids, numbers in texts, geometry.
#ifndef KARAKURI_IO_COLLADA_H
#define KARAKURI_IO_COLLADA_H

#include "io/mesh_input.h"
#include "io/xml.h"

typedef struct kki_collada {
    kki_mesh_input *in;
    kki_xml *xml;
    int32_t *slot; // hash table of the elements with an id
    size_t slot_mask;
    uint64_t work, most_work; // bytes looked at: references to references cannot make reading endless
    int32_t *corner;          // scratch of one polygon
    size_t corner_room;
    int32_t source; // positions that stand at the end of the builder's vertices, KKI_XML_NONE for none
    int32_t first_vertex, vertex_count;
} kki_collada;

/// The text of an element, read word by word.
typedef struct kki_collada_text {
    int32_t node; // of the text
    const char *start;
    kki_cursor c;
} kki_collada_text;

/// Element with that id; `url` with or without its '#'. KKI_XML_NONE for NULL and for ids that are not there.
int32_t kki_collada_find(const kki_collada *d, const char *url);
/// Counts work; KK_LIMIT_EXCEEDED once it is too much.
kk_status kki_collada_work(kki_collada *d, int32_t element, size_t bytes);

kki_collada_text kki_collada_text_of(const kki_collada *d, int32_t element);
/// Reads `count` numbers; KK_SYNTAX with its place where one is missing or none.
kk_status kki_collada_numbers(kki_collada *d, kki_collada_text *text, const char *what, double *value, size_t count);
/// Reads a whole number of 0 or more; *is_end where the text has no more.
kk_status kki_collada_index(kki_collada *d, kki_collada_text *text, int32_t *value, bool *is_end);
/// An attribute as a whole number in 0 .. INT32_MAX, `otherwise` where it is missing.
kk_status kki_collada_attribute(kki_collada *d, int32_t element, const char *name, int32_t otherwise, int32_t *value);

/// Adds the faces of a <geometry>, placed by X. `instance` is the element whose bind_material names the materials.
kk_status kki_collada_geometry(kki_collada *d, int32_t geometry, int32_t instance, const kki_affine *X);
/// Material id in the builder for a symbol of a primitive, -1 for none.
kk_status kki_collada_material(kki_collada *d, int32_t instance, const char *symbol, int32_t *id);

#endif
