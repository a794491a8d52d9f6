/// Writing by the tables of <karakuri>: an attribute for each field that differs from what a reader would take without it.
#ifndef KARAKURI_IO_KARAKURI_WRITE_H
#define KARAKURI_IO_KARAKURI_WRITE_H

#include "io/karakuri_fields.h"
#include "io/xml_write.h"

/// Attributes of an element.
/// @param base  definition with what is taken where an attribute is absent
void kki_write_fields(kki_xml_writer *w, const kk_spec *spec, kki_karakuri_element element, const void *def,
                      const void *base);
/// True where kki_write_fields would write something.
bool kki_fields_differ(kki_karakuri_element element, const void *def, const void *base);

/// Roll, pitch, yaw of a rotation; also where the pitch is ±90° they make the same rotation to rounding.
kk_vec3 kki_rpy_of(kk_mat3 R);

enum { KKI_ITEM_NAME_SIZE = 32 };
/// The item's name, or one made from its number.
const char *kki_material_name(const kk_spec *spec, int id, char made[KKI_ITEM_NAME_SIZE]);
const char *kki_shape_name(const kk_spec *spec, int id, char made[KKI_ITEM_NAME_SIZE]);

/// <parameter>s and <script>s, inside an open <karakuri>.
void kki_write_scripts(kki_xml_writer *w, const kk_spec *spec);

/// <karakuri> at the top level of the robot: everything that is not inside a link, a joint or a shape.
/// @param is_mimic  [couplings] those that are written as <mimic>
void kki_write_karakuri(kki_xml_writer *w, const kk_spec *spec, const uint8_t *is_mimic);

#endif
