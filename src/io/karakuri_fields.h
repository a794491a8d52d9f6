/// The <karakuri> element as tables: which elements and attributes there are, and which fields of which definition they
/// fill. The reader, the writer and the documentation (docs/guide/karakuri-element.md) all go by them.
#ifndef KARAKURI_IO_KARAKURI_FIELDS_H
#define KARAKURI_IO_KARAKURI_FIELDS_H

#include <karakuri/spec.h>

#include "io/attributes.h"

typedef enum kki_field_kind {
    KKI_FIELD_NUMBER,       ///< double; infinite where it is not written and the default is
    KKI_FIELD_TEXT,         ///< const char *
    KKI_FIELD_WORD,         ///< an enum, by its words
    KKI_FIELD_FLAG,         ///< int: true or false
    KKI_FIELD_COUNT,        ///< int, 0 or more
    KKI_FIELD_MASK,         ///< uint32_t
    KKI_FIELD_VEC3,         ///< kk_vec3
    KKI_FIELD_NUMBERS3,     ///< double[3]; a shape's size may have fewer
    KKI_FIELD_SIX,          ///< kk_force or kk_motion: angular, linear
    KKI_FIELD_XYZ,          ///< position of a kk_transform
    KKI_FIELD_RPY,          ///< rotation of a kk_transform
    KKI_FIELD_BODY,         ///< int id, by the link's name
    KKI_FIELD_MATERIAL,     ///< int id, by name
    KKI_FIELD_SHAPE,        ///< int id, by name
    KKI_FIELD_HEIGHT_FIELD, ///< int id, by name
    KKI_FIELD_SENSOR,       ///< kk_sensor_type
} kki_field_kind;

typedef struct kki_field {
    const char *name;
    kki_field_kind kind;
    bool is_required;
    size_t offset; ///< in the definition
    const kki_keyword *words;
    const char *meaning; ///< for the documentation
} kki_field;

typedef struct kki_fields {
    const char *element;
    const char *where; ///< elements it stands in
    const char *meaning;
    const kki_field *field; ///< ends with a NULL name
} kki_fields;

enum { KKI_MOST_FIELDS = 48 };

/// One a table, in the order of the documentation.
typedef enum kki_karakuri_element {
    KKI_ELEMENT_OPTION,
    KKI_ELEMENT_JOINT, ///< <karakuri> itself inside <joint>
    KKI_ELEMENT_DOF,
    KKI_ELEMENT_LINK,  ///< <karakuri> itself inside <link>
    KKI_ELEMENT_SHAPE, ///< <karakuri> itself inside <collision> and <visual>
    KKI_ELEMENT_HEIGHT_FIELD,
    KKI_ELEMENT_MATERIAL,
    KKI_ELEMENT_MATERIAL_PAIR,
    KKI_ELEMENT_PAIR,
    KKI_ELEMENT_EXCLUDE,
    KKI_ELEMENT_FRAME,
    KKI_ELEMENT_LOOP,
    KKI_ELEMENT_COUPLING,
    KKI_ELEMENT_TENDON,
    KKI_ELEMENT_ITEM,
    KKI_ELEMENT_ACTUATOR,
    KKI_ELEMENT_SENSOR,
    KKI_ELEMENT_KEYFRAME,
    KKI_ELEMENT_SCRIPT,
    KKI_ELEMENT_PARAMETER,
    KKI_ELEMENT_COUNT,
} kki_karakuri_element;

const kki_fields *kki_fields_of(kki_karakuri_element element);

/// A name of a sensor type with '_' for blanks; the type of such a name, −1 for none.
const char *kki_sensor_word(kk_sensor_type type, char *word, size_t size);
int kki_sensor_of_word(const char *word);

/// What <karakuri> in a joint says besides its degrees of freedom.
typedef struct kki_karakuri_joint {
    kk_joint_type type;
    kk_vec3 axis2;
    double pitch;
    kk_transform offset;
} kki_karakuri_joint;

/// A degree of freedom with its number.
typedef struct kki_karakuri_dof {
    int index;
    kk_dof_def dof;
} kki_karakuri_dof;

/// What <karakuri> in a link says.
typedef struct kki_karakuri_link {
    int material;
    double gravity_compensation;
} kki_karakuri_link;

#endif
