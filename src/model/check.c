/// Checks every item of a spec by itself: numbers, names, parents, axes. What several items break together is found
/// later, by the stage that brings them together (names.c, couple.c, check_motion.c).
///
/// Every message names the item, says what is there and what should be.
#include <karakuri/elementary.h>

#include "base/error.h"
#include "model/compile.h"
#include "model/joint.h"

/// A rotation may be off by this much, the rounding of six printed digits; see kki_clean_rotation.
static const double ROTATION_TOLERANCE = 1e-6;
/// Axes closer to parallel than this (sine of the angle) leave the second one undefined.
static const double PARALLEL_TOLERANCE = 1e-6;

// ---- naming items

static kki_item item_of(const char *kind, const char *name) {
    return (kki_item){kind, name ? name : "", ""};
}

kki_item kki_item_body(const kk_body_def *body) {
    return item_of("body", body->name);
}

kki_item kki_item_joint(const kk_body_def *body) {
    if (body->joint.name && body->joint.name[0]) {
        return item_of("joint", body->joint.name);
    }
    return (kki_item){"joint", body->name ? body->name : "", "_joint"};
}

kki_item kki_item_frame(const kk_frame_def *frame) {
    return item_of("frame", frame->name);
}

kki_item kki_item_coupling(const kk_coupling_def *coupling) {
    if (coupling->name && coupling->name[0]) {
        return item_of("coupling", coupling->name);
    }
    return item_of("coupling of", coupling->follower);
}

// ---- numbers

static int is_finite(double x) {
    return __builtin_isfinite(x);
}

static kk_status check_finite(kki_item item, const char *what, double value, kk_error *error) {
    if (is_finite(value)) {
        return KK_OK;
    }
    return kki_error_set(error, KK_NOT_FINITE, "%s \"%s%s\": %s is %s; it must be a finite number", KKI_ITEM(item),
                         what, KKI_NUMBER(value));
}

static kk_status check_vector(kki_item item, const char *what, kk_vec3 v, kk_error *error) {
    kk_status status = check_finite(item, what, v.x, error);
    status = status ? status : check_finite(item, what, v.y, error);
    return status ? status : check_finite(item, what, v.z, error);
}

static kk_status check_not_negative(kki_item item, const char *what, double value, kk_error *error) {
    const kk_status status = check_finite(item, what, value, error);
    if (status != KK_OK || value >= 0) {
        return status;
    }
    return kki_error_set(error, KK_INVALID_MODEL, "%s \"%s%s\": %s is %s; it must be zero or positive", KKI_ITEM(item),
                         what, KKI_NUMBER(value));
}

/// A bound on a size: zero or more, and infinite where there is no bound.
static kk_status check_bound(kki_item item, const char *what, double value, kk_error *error) {
    if (value >= 0) {
        return KK_OK;
    }
    return kki_error_set(error, value < 0 ? KK_INVALID_MODEL : KK_NOT_FINITE,
                         "%s \"%s%s\": %s is %s; it must be zero or positive, or +infinity for none", KKI_ITEM(item),
                         what, KKI_NUMBER(value));
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
        const kk_status status = check_finite(item, what, R.m[i], error);
        if (status != KK_OK) {
            return status;
        }
    }
    const double off = rotation_error(R);
    if (off > ROTATION_TOLERANCE) {
        return kki_error_set(error, KK_INVALID_MODEL,
                             "%s \"%s%s\": the rotation of %s is not orthonormal (off by %s); start from "
                             "kk_transform_identity() or build it from a unit quaternion",
                             KKI_ITEM(item), what, KKI_NUMBER(off));
    }
    if (determinant(R) < 0) {
        return kki_error_set(
            error, KK_INVALID_MODEL,
            "%s \"%s%s\": the rotation of %s mirrors (determinant -1); swap two of its columns or turn "
            "the sign of one",
            KKI_ITEM(item), what);
    }
    return KK_OK;
}

static kk_status check_transform(kki_item item, const char *what, const kk_transform *X, kk_error *error) {
    const kk_status status = check_vector(item, what, X->p, error);
    return status ? status : check_rotation(item, what, X->R, error);
}

// ---- joints

static kk_status check_limits(kki_item item, kk_joint_type type, int k, const kk_dof_def *dof, kk_error *error) {
    const double inf = __builtin_inf();
    if (dof->lower != dof->lower || dof->upper != dof->upper || dof->lower == inf || dof->upper == -inf) {
        return kki_error_set(
            error, KK_NOT_FINITE,
            "%s \"%s%s\": the limits of degree of freedom %d are %s and %s; for no limit use -infinity "
            "below and +infinity above",
            KKI_ITEM(item), k, KKI_NUMBER(dof->lower), KKI_NUMBER(dof->upper));
    }
    if (dof->lower > dof->upper) {
        return kki_error_set(
            error, KK_INVALID_MODEL,
            "%s \"%s%s\": the lower limit %s of degree of freedom %d is above the upper limit %s; swap "
            "them",
            KKI_ITEM(item), KKI_NUMBER(dof->lower), k, KKI_NUMBER(dof->upper));
    }
    if (type == KK_JOINT_BALL && k == 0 && dof->upper < 0) {
        return kki_error_set(error, KK_INVALID_MODEL,
                             "%s \"%s%s\": the upper limit %s bounds the angle of a ball joint; it must be zero or "
                             "positive",
                             KKI_ITEM(item), KKI_NUMBER(dof->upper));
    }
    return KK_OK;
}

static kk_status check_rotor(kki_item item, const kk_dof_def *dof, kk_error *error) {
    kk_status status = check_not_negative(item, "armature", dof->armature, error);
    status = status ? status : check_not_negative(item, "rotor_inertia", dof->rotor_inertia, error);
    status = status ? status : check_finite(item, "gear_ratio", dof->gear_ratio, error);
    const double whole = dof->armature + dof->rotor_inertia * dof->gear_ratio * dof->gear_ratio;
    return status ? status : check_finite(item, "armature + rotor_inertia * gear_ratio^2", whole, error);
}

static kk_status check_dof(kki_item item, kk_joint_type type, int k, const kk_dof_def *dof, kk_error *error) {
    kk_status status = check_limits(item, type, k, dof, error);
    status = status ? status : check_not_negative(item, "stiffness", dof->stiffness, error);
    status = status ? status : check_finite(item, "rest", dof->rest, error);
    status = status ? status : check_not_negative(item, "damping", dof->damping, error);
    status = status ? status : check_not_negative(item, "friction", dof->friction, error);
    status = status ? status : check_rotor(item, dof, error);
    status = status ? status : check_bound(item, "velocity_limit", dof->velocity_limit, error);
    return status ? status : check_bound(item, "effort_limit", dof->effort_limit, error);
}

static kk_status check_axis(kki_item item, const char *what, kk_vec3 axis, kk_error *error) {
    const kk_status status = check_vector(item, what, axis, error);
    if (status != KK_OK || axis.x != 0 || axis.y != 0 || axis.z != 0) {
        return status;
    }
    return kki_error_set(error, KK_INVALID_MODEL, "%s \"%s%s\": %s is zero; give it a direction such as (0, 0, 1)",
                         KKI_ITEM(item), what);
}

static kk_status check_second_axis(kki_item item, const kk_joint_def *joint, kk_error *error) {
    const kk_status status = check_axis(item, "axis2", joint->axis2, error);
    if (status != KK_OK) {
        return status;
    }
    const double sine = kk_vec3_norm(kk_vec3_cross(kki_unit(joint->axis), kki_unit(joint->axis2)));
    if (sine > PARALLEL_TOLERANCE) {
        return KK_OK;
    }
    return kki_error_set(error, KK_INVALID_MODEL,
                         "%s \"%s%s\": axis2 is parallel to axis; a %s joint needs two different directions",
                         KKI_ITEM(item), kki_joint_type_of(joint->type)->name);
}

static kk_status check_axes(kki_item item, const kk_joint_def *joint, kk_error *error) {
    const kki_joint_type *type = kki_joint_type_of(joint->type);
    if (type->nnode == 0 || type->node[0].axis == KKI_AXIS_NONE) {
        return KK_OK;
    }
    kk_status status = check_axis(item, "axis", joint->axis, error);
    if (status == KK_OK && (joint->type == KK_JOINT_UNIVERSAL || joint->type == KK_JOINT_PLANAR)) {
        status = check_second_axis(item, joint, error);
    }
    if (status == KK_OK && joint->type == KK_JOINT_SCREW) {
        status = check_finite(item, "pitch", joint->pitch, error);
    }
    return status;
}

static kk_status check_joint(const kk_body_def *body, kk_error *error) {
    const kki_item item = kki_item_joint(body);
    const kk_joint_def *joint = &body->joint;
    const kki_joint_type *type = kki_joint_type_of(joint->type);
    if (!type) {
        return kki_error_set(error, KK_INVALID_MODEL, "%s \"%s%s\": there is no joint type %d; use one of KK_JOINT_...",
                             KKI_ITEM(item), (int)joint->type);
    }
    kk_status status = check_transform(item, "the placement", &joint->placement, error);
    status = status ? status : check_axes(item, joint, error);
    for (int k = 0; k < type->nv && status == KK_OK; k++) {
        status = check_dof(item, joint->type, k, &joint->dof[k], error);
    }
    return status;
}

// ---- items

static kk_status check_name(const char *kind, int id, const char *name, kk_error *error) {
    if (name && name[0]) {
        return KK_OK;
    }
    return kki_error_set(error, KK_INVALID_MODEL, "%s %d has no name; every %s needs one", kind, id, kind);
}

static kk_status check_parent(const kk_spec *spec, int id, kk_error *error) {
    const kki_item item = kki_item_body(&spec->body[id]);
    const int parent = spec->body[id].parent;
    if (parent >= 0 && parent < id) {
        return KK_OK;
    }
    if (parent < 0 || parent >= spec->nbody) {
        return kki_error_set(error, KK_INVALID_MODEL,
                             "%s \"%s%s\": its parent %d does not exist; use KK_WORLD or the id of an earlier body",
                             KKI_ITEM(item), parent);
    }
    return kki_error_set(error, KK_INVALID_MODEL,
                         "%s \"%s%s\": its parent \"%s\" is not an earlier body, which could close a cycle; add the "
                         "parent first, and close loops by constraints",
                         KKI_ITEM(item), spec->body[parent].name ? spec->body[parent].name : "");
}

static kk_status check_body(const kk_spec *spec, int id, kk_error *error) {
    const kk_body_def *body = &spec->body[id];
    const kki_item item = kki_item_body(body);
    kk_status status = check_name("body", id, body->name, error);
    status = status ? status : kki_check_inertia(item, &body->inertia, error);
    // the world has no joint
    if (id == KK_WORLD || status != KK_OK) {
        return status;
    }
    status = check_parent(spec, id, error);
    status = status ? status : check_joint(body, error);
    return status ? status : check_transform(item, "the offset", &body->offset, error);
}

static kk_status check_frame(const kk_spec *spec, int id, kk_error *error) {
    const kk_frame_def *frame = &spec->frame[id];
    const kki_item item = kki_item_frame(frame);
    const kk_status status = check_name("frame", id, frame->name, error);
    if (status != KK_OK) {
        return status;
    }
    if (frame->body < 0 || frame->body >= spec->nbody) {
        return kki_error_set(error, KK_INVALID_MODEL,
                             "%s \"%s%s\": its body %d does not exist; use KK_WORLD or the id of a body",
                             KKI_ITEM(item), frame->body);
    }
    return check_transform(item, "the placement", &frame->placement, error);
}

static kk_status check_coupling(const kk_coupling_def *coupling, kk_error *error) {
    const kki_item item = kki_item_coupling(coupling);
    if (!coupling->follower || !coupling->leader) {
        return kki_error_set(error, KK_INVALID_MODEL,
                             "%s \"%s%s\": the follower or the leader is missing; name the two joints", KKI_ITEM(item));
    }
    const kk_status status = check_finite(item, "ratio", coupling->ratio, error);
    return status ? status : check_finite(item, "offset", coupling->offset, error);
}

kk_status kki_check_spec(const kk_spec *spec, kk_error *error) {
    kk_status status = check_vector((kki_item){"spec", "", ""}, "gravity", spec->options.gravity, error);
    for (int i = 0; i < spec->nbody && status == KK_OK; i++) {
        status = check_body(spec, i, error);
    }
    for (int i = 0; i < spec->nframe && status == KK_OK; i++) {
        status = check_frame(spec, i, error);
    }
    for (int i = 0; i < spec->ncoupling && status == KK_OK; i++) {
        status = check_coupling(&spec->coupling[i], error);
    }
    return status;
}
