/// Checks that several kinds of items share: numbers, placements, ids.
#include "model/check.h"

#include <karakuri/elementary.h>

#include "base/error.h"

/// A rotation may be off by this much, the rounding of six printed digits; see kki_clean_rotation.
static const double ROTATION_TOLERANCE = 1e-6;

// ---- numbers

kk_status kki_check_finite(kki_item item, const char *what, double value, kk_error *error) {
    if (__builtin_isfinite(value)) {
        return KK_OK;
    }
    return kki_item_error(error, KK_NOT_FINITE, item, "%s is %s; it must be a finite number", what, KKI_NUMBER(value));
}

kk_status kki_check_vector(kki_item item, const char *what, kk_vec3 v, kk_error *error) {
    kk_status status = kki_check_finite(item, what, v.x, error);
    status = status ? status : kki_check_finite(item, what, v.y, error);
    return status ? status : kki_check_finite(item, what, v.z, error);
}

kk_status kki_check_not_negative(kki_item item, const char *what, double value, kk_error *error) {
    const kk_status status = kki_check_finite(item, what, value, error);
    if (status != KK_OK || value >= 0) {
        return status;
    }
    return kki_item_error(error, KK_INVALID_MODEL, item, "%s is %s; it must be zero or positive", what,
                          KKI_NUMBER(value));
}

kk_status kki_check_bound(kki_item item, const char *what, double value, kk_error *error) {
    if (value >= 0) {
        return KK_OK;
    }
    return kki_item_error(error, value < 0 ? KK_INVALID_MODEL : KK_NOT_FINITE, item,
                          "%s is %s; it must be zero or positive, or +infinity for none", what, KKI_NUMBER(value));
}

kk_status kki_check_positive(kki_item item, const char *what, double value, kk_error *error) {
    const kk_status status = kki_check_finite(item, what, value, error);
    if (status != KK_OK || value > 0) {
        return status;
    }
    return kki_item_error(error, KK_INVALID_MODEL, item, "%s is %s; it must be positive", what, KKI_NUMBER(value));
}

kk_status kki_check_stiffness(kki_item item, const char *what, double value, kk_error *error) {
    if (value > 0) {
        return KK_OK;
    }
    return kki_item_error(error, value <= 0 ? KK_INVALID_MODEL : KK_NOT_FINITE, item,
                          "%s is %s; it must be positive, or +infinity for rigid", what, KKI_NUMBER(value));
}

kk_status kki_check_range(kki_item item, const char *what, double lower, double upper, kk_error *error) {
    const double inf = __builtin_inf();
    if (lower != lower || upper != upper || lower == inf || upper == -inf) {
        return kki_item_error(error, KK_NOT_FINITE, item,
                              "the limits of %s are %s and %s; for no limit use -infinity below and +infinity above",
                              what, KKI_NUMBER(lower), KKI_NUMBER(upper));
    }
    if (lower > upper) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "the lower limit %s of %s is above the upper limit %s; swap them", KKI_NUMBER(lower),
                              what, KKI_NUMBER(upper));
    }
    return KK_OK;
}

// ---- placements

/// The largest entry of |RᵀR − 1|.
static double rotation_error(kk_mat3 R) {
    const kk_mat3 S = kk_mat3_mul(kk_mat3_transpose(R), R);
    double worst = 0;
    for (int i = 0; i < 9; i++) {
        const double e = __builtin_fabs(S.m[i] - (i % 4 == 0 ? 1.0 : 0.0));
        worst = e > worst ? e : worst;
    }
    return worst;
}

static double determinant(kk_mat3 R) {
    return kk_vec3_dot(kk_mat3_column(R, 0), kk_vec3_cross(kk_mat3_column(R, 1), kk_mat3_column(R, 2)));
}

kk_mat3 kki_clean_rotation(kk_mat3 R) {
    return rotation_error(R) <= 1e-9 ? R : kk_quat_to_mat3(kk_quat_from_mat3(R));
}

static kk_status check_rotation(kki_item item, const char *what, kk_mat3 R, kk_error *error) {
    for (int i = 0; i < 9; i++) {
        const kk_status status = kki_check_finite(item, what, R.m[i], error);
        if (status != KK_OK) {
            return status;
        }
    }
    const double off = rotation_error(R);
    if (off > ROTATION_TOLERANCE) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "the rotation of %s is not orthonormal (off by %s); start from "
                              "kk_transform_identity() or build it from a unit quaternion",
                              what, KKI_NUMBER(off));
    }
    if (determinant(R) < 0) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "the rotation of %s mirrors (determinant -1); swap two of its columns or turn "
                              "the sign of one",
                              what);
    }
    return KK_OK;
}

kk_status kki_check_coordinate(kki_item item, const char *what, double x, kk_error *error) {
    return x >= -KK_FARTHEST && x <= KK_FARTHEST
               ? KK_OK
               : kki_item_error(error, KK_LIMIT_EXCEEDED, item, "%s is %s, farther than 1e10; check the units", what,
                                KKI_NUMBER(x));
}

kk_status kki_check_place(kki_item item, const char *what, kk_vec3 p, kk_error *error) {
    kk_status status = kki_check_coordinate(item, what, p.x, error);
    status = status ? status : kki_check_coordinate(item, what, p.y, error);
    return status ? status : kki_check_coordinate(item, what, p.z, error);
}

kk_status kki_check_transform(kki_item item, const char *what, const kk_transform *X, kk_error *error) {
    kk_status status = kki_check_vector(item, what, X->p, error);
    status = status ? status : kki_check_place(item, what, X->p, error);
    return status ? status : check_rotation(item, what, X->R, error);
}

kk_transform kki_clean_transform(kk_transform X) {
    return kk_transform_make(kki_clean_rotation(X.R), X.p);
}

// ---- ids and names

kk_status kki_check_id(kki_item item, const char *kind, int id, int count, kk_error *error) {
    if (id >= 0 && id < count) {
        return KK_OK;
    }
    return kki_item_error(error, KK_INVALID_MODEL, item, "its %s %d does not exist; use the id that adding the %s gave",
                          kind, id, kind);
}

kk_status kki_check_choice(kki_item item, const char *what, int value, int count, const char *prefix, kk_error *error) {
    if (value >= 0 && value < count) {
        return KK_OK;
    }
    return kki_item_error(error, KK_INVALID_MODEL, item, "there is no %s %d; use one of %s", what, value, prefix);
}

kk_status kki_check_name(kki_item item, kk_error *error) {
    if (item.name[0]) {
        return KK_OK;
    }
    const kk_origin *at = &item.origin;
    return kki_error_at(error, KK_INVALID_MODEL, at->file, at->line, at->column,
                        "%s %d has no name; every %s needs one", item.kind, item.id, item.kind);
}
