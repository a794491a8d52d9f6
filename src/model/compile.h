/// The stages of compiling, in the order in which compile.c runs them.
#ifndef KKI_MODEL_COMPILE_H
#define KKI_MODEL_COMPILE_H

#include <karakuri/number.h>

#include "model/model.h"
#include "model/spec.h"

/// How to name an item in a message: `kind "name"`; with KKI_ITEM the three arguments of "%s \"%s%s\"".
typedef struct kki_item {
    const char *kind, *name, *suffix;
} kki_item;
#define KKI_ITEM(item) (item).kind, (item).name, (item).suffix

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

kki_item kki_item_body(const kk_body_def *body);
/// A joint without a name of its own goes by its body's with "_joint" behind it.
kki_item kki_item_joint(const kk_body_def *body);
kki_item kki_item_frame(const kk_frame_def *frame);
kki_item kki_item_coupling(const kk_coupling_def *coupling);

/// check.c: every item by itself.
kk_status kki_check_spec(const kk_spec *spec, kk_error *error);
/// check_inertia.c
kk_status kki_check_inertia(kki_item item, const kk_inertia *inertia, kk_error *error);
/// check.c: R as given if it is orthonormal to 1e-9, otherwise the rotation of its quaternion, which is so to rounding.
kk_mat3 kki_clean_rotation(kk_mat3 R);

/// order.c: numbers nodes, coordinates and degrees of freedom. @param scratch  [kki_order_scratch(m)]
size_t kki_order_scratch(const kk_model *m);
void kki_order(const kk_spec *spec, kk_model *m, int32_t *scratch);
/// fold.c: frames and inertias of bodies and nodes.
void kki_fold(const kk_spec *spec, kk_model *m);
/// align.c: turns the nodes' frames so that most placements are a turn about x or y.
/// @param child  [nnode] scratch    @param scratch  [2 nnode]
void kki_align(kk_model *m, int32_t *child, double *scratch);
/// fold.c: Cholesky roots of the nodes' moments, once their frames are final.
void kki_roots(kk_model *m);
/// check_motion.c: every degree of freedom has something to move. @param scratch  [nbody]
kk_status kki_check_motion(const kk_spec *spec, const kk_model *m, double *scratch, kk_error *error);
/// check_pivots.c: no degree of freedom is free of inertia in every pose. @param scratch  [kki_pivots_scratch(m)]
size_t kki_pivots_scratch(const kk_model *m);
kk_status kki_check_pivots(const kk_spec *spec, const kk_model *m, double *scratch, kk_error *error);
/// names.c: the pool of names and the sorted tables; refuses duplicates. @param scratch  [max(nbody, nframe)]
size_t kki_names_size(const kk_spec *spec);
kk_status kki_names(const kk_spec *spec, kk_model *m, int32_t *scratch, kk_error *error);
/// couple.c: resolves couplings and sorts them, leaders first.
/// @param scratch  [2 ncoupling]    @param unsorted  [ncoupling]
kk_status kki_couple(const kk_spec *spec, kk_model *m, int32_t *scratch, kki_coupling *unsorted, kk_error *error);
/// hash.c: of everything numerical.
uint64_t kki_model_hash(const kk_model *m);

#endif
