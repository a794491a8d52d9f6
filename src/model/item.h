/// How messages name an item of the spec, and where it was written.
#ifndef KKI_MODEL_ITEM_H
#define KKI_MODEL_ITEM_H

#include <karakuri/number.h>
#include <karakuri/spec.h>

/// Goes by `kind "name"` in a message, the name with the suffix behind it, or where it has none by `kind id`.
typedef struct kki_item {
    const char *kind, *name, *suffix;
    int id;
    kk_origin origin;
} kki_item;

/// An item of the spec by the name of its kind, as KK_SPEC_KINDS has it.
#define KKI_ITEM(spec, kind, text, id) kki_item_make(text, id, (spec)->kind[id].name, &(spec)->kind[id].origin)

kki_item kki_item_make(const char *kind, int id, const char *name, const kk_origin *origin);
kki_item kki_item_body(const kk_body_def *body);
/// A joint without a name of its own goes by its body's with "_joint" behind it, and one without an origin by its body's.
kki_item kki_item_joint(const kk_body_def *body);
kki_item kki_item_coupling(const kk_coupling_def *coupling);

/// Fills the error with the item, the text behind it and the item's origin; gives the status back.
__attribute__((format(printf, 4, 5))) kk_status kki_item_error(kk_error *error, kk_status status, kki_item item,
                                                               const char *format, ...);

/// A number as text for a message; lives to the end of the statement.
#define KKI_NUMBER(x) (kki_number_text(x).text)
typedef struct kki_text {
    char text[KK_NUMBER_TEXT_SIZE];
} kki_text;
static inline kki_text kki_number_text(double x) {
    kki_text t;
    kk_number_format(x, t.text);
    return t;
}

#endif
