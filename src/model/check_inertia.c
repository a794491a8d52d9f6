/// What a rigid body's inertia must obey.
///
/// With density ρ ≥ 0 the mass is not negative, and of the principal moments none is negative and none is larger than
/// the sum of the other two (each is a sum of two of ∫ρx², ∫ρy², ∫ρz²). Tolerances allow what printing and rotating a
/// flat body's moments leaves.
#include "math/dense.h"
#include "model/compile.h"

static const double DEFINITE_TOLERANCE = 1e-12, TRIANGLE_TOLERANCE = 1e-9;

static kk_status check_finite(kki_item item, const kk_inertia *I, kk_error *error) {
    const double numbers[] = {I->mass,      I->com.x,     I->com.y,     I->com.z,     I->moment.xx,
                              I->moment.yy, I->moment.zz, I->moment.xy, I->moment.xz, I->moment.yz};
    static const char *const names[] = {"mass",      "com.x",     "com.y",     "com.z",     "moment.xx",
                                        "moment.yy", "moment.zz", "moment.xy", "moment.xz", "moment.yz"};
    for (int i = 0; i < 10; i++) {
        if (!__builtin_isfinite(numbers[i])) {
            return kki_item_error(error, KK_NOT_FINITE, item, "%s of the inertia is %s; it must be a finite number",
                                  names[i], KKI_NUMBER(numbers[i]));
        }
    }
    return KK_OK;
}

static int is_zero(kk_vec3 a) {
    return a.x == 0 && a.y == 0 && a.z == 0;
}

static kk_status check_massless(kki_item item, const kk_inertia *I, kk_error *error) {
    const kk_sym3 *s = &I->moment;
    const int no_moment = is_zero(kk_vec3_make(s->xx, s->yy, s->zz)) && is_zero(kk_vec3_make(s->xy, s->xz, s->yz));
    if (no_moment && is_zero(I->com)) {
        return KK_OK;
    }
    return kki_item_error(error, KK_INVALID_MODEL, item,
                          "mass is 0, yet it has a moment of inertia or a center of mass; give it a mass or "
                          "set both to zero");
}

static kk_status check_moments(kki_item item, const kk_sym3 *moment, kk_error *error) {
    double e[3];
    kki_sym3_eigenvalues(*moment, e);
    if (!(e[0] >= -DEFINITE_TOLERANCE * e[2])) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "a principal moment of inertia is %s; none may be negative, check the signs of "
                              "xy, xz, yz",
                              KKI_NUMBER(e[0]));
    }
    if (!(e[0] + e[1] >= (1 - TRIANGLE_TOLERANCE) * e[2])) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "the principal moments of inertia %s, %s, %s break the triangle inequality; "
                              "none may be larger than the sum of the others, check the units and the axes",
                              KKI_NUMBER(e[0]), KKI_NUMBER(e[1]), KKI_NUMBER(e[2]));
    }
    return KK_OK;
}

kk_status kki_check_inertia(kki_item item, const kk_inertia *inertia, kk_error *error) {
    const kk_status status = check_finite(item, inertia, error);
    if (status != KK_OK) {
        return status;
    }
    const kk_status place = kki_check_place(item, "the center of mass", inertia->com, error);
    if (place != KK_OK) {
        return place;
    }
    if (inertia->mass < 0) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "mass is %s; a mass must be positive, or zero for a body without inertia",
                              KKI_NUMBER(inertia->mass));
    }
    return inertia->mass == 0 ? check_massless(item, inertia, error) : check_moments(item, &inertia->moment, error);
}
