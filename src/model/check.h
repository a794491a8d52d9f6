/// Checks that several kinds of items share. Each gives KK_OK, or fills the error and gives the status.
#ifndef KKI_MODEL_CHECK_H
#define KKI_MODEL_CHECK_H

#include <karakuri/math.h>

#include "model/item.h"
#include "model/spec.h"

// ---- check_numbers.c

kk_status kki_check_finite(kki_item item, const char *what, double value, kk_error *error);
kk_status kki_check_vector(kki_item item, const char *what, kk_vec3 v, kk_error *error);
kk_status kki_check_not_negative(kki_item item, const char *what, double value, kk_error *error);
/// Between 0, no bounce, and 1, no loss.
kk_status kki_check_restitution(kki_item item, double restitution, kk_error *error);
kk_status kki_check_positive(kki_item item, const char *what, double value, kk_error *error);
/// Zero or more, and infinite where there is no bound.
kk_status kki_check_bound(kki_item item, const char *what, double value, kk_error *error);
/// More than zero; +infinity: rigid.
kk_status kki_check_stiffness(kki_item item, const char *what, double value, kk_error *error);
/// −infinity and +infinity where there is none; not upside down.
kk_status kki_check_range(kki_item item, const char *what, double lower, double upper, kk_error *error);
/// Within KK_FARTHEST.
kk_status kki_check_coordinate(kki_item item, const char *what, double x, kk_error *error);
kk_status kki_check_place(kki_item item, const char *what, kk_vec3 p, kk_error *error);
kk_status kki_check_transform(kki_item item, const char *what, const kk_transform *X, kk_error *error);
/// R as given if it is orthonormal to 1e-9, otherwise the rotation of its quaternion, which is so to rounding.
kk_mat3 kki_clean_rotation(kk_mat3 R);
kk_transform kki_clean_transform(kk_transform X);

/// The id is one of `count`. @param kind  of what it names: "body", "mesh"
kk_status kki_check_id(kki_item item, const char *kind, int id, int count, kk_error *error);
/// The value is one of an enumeration of `count`. @param prefix  of its names: "KK_SHAPE_..."
kk_status kki_check_choice(kki_item item, const char *what, int value, int count, const char *prefix, kk_error *error);
/// The item has a name.
kk_status kki_check_name(kki_item item, kk_error *error);

// ---- one file a group of kinds

kk_status kki_check_inertia(kki_item item, const kk_inertia *inertia, kk_error *error);
/// check_shapes.c: shapes, meshes, height fields, looks.
kk_status kki_check_shapes(const kk_spec *spec, kk_error *error);
/// check_materials.c: materials and their pairs, pairs of shapes, excluded bodies.
kk_status kki_check_materials(const kk_spec *spec, kk_error *error);
/// check_constraints.c: loops and tendons.
kk_status kki_check_constraints(const kk_spec *spec, kk_error *error);
/// check_control.c: actuators, sensors, keyframes.
kk_status kki_check_control(const kk_spec *spec, kk_error *error);

#endif
