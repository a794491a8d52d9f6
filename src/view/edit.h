/// Changes of a spec's numbers by name, each of which can be undone and done again.
#ifndef KKI_VIEW_EDIT_H
#define KKI_VIEW_EDIT_H

#include <karakuri/simulate.h>

#include "io/json.h"
#include "io/karakuri_fields.h"

enum { KKI_EDIT_NUMBERS = 10 };

typedef enum kki_edit_item {
    KKI_EDIT_BODY,
    KKI_EDIT_DOF,
    KKI_EDIT_ACTUATOR,
    KKI_EDIT_MATERIAL,
    KKI_EDIT_TENDON,
    KKI_EDIT_LOOP,
    KKI_EDIT_OPTION,
    KKI_EDIT_STEP,
    KKI_EDIT_ITEM_COUNT
} kki_edit_item;

/// What is edited: a spec, and the options of the step beside it.
typedef struct kki_edited {
    kk_spec *spec;
    kk_step_options *step;
} kki_edited;

/// A few doubles, or one int, at an offset of a definition.
typedef struct kki_edit {
    kki_edit_item item;
    int id;
    int is_int;
    size_t offset;
    int count;
    double before[KKI_EDIT_NUMBERS], after[KKI_EDIT_NUMBERS];
} kki_edit;

/// The numbers of kk_step_options that may be edited; ends with a NULL name.
const kki_field *kki_step_fields(void);

/// Reads {"item": …, "id": …, "field": …, "value": …}; nothing is changed yet.
kk_status kki_edit_parse(const kki_edited *on, const kki_json *json, int32_t object, kki_edit *edit, kk_error *error);
/// Does it, or undoes it.
void kki_edit_apply(const kki_edited *on, const kki_edit *edit, int forward);
/// 1 where both change the same numbers.
int kki_edit_is_same(const kki_edit *a, const kki_edit *b);

#endif
