/// Checks every item of a spec by itself: numbers, names, parents, axes. What several items break together is found
/// later, by the stage that brings them together (names.c, couple.c, check_motion.c).
///
/// Every message names the item, says what is there and what should be.
#include <karakuri/elementary.h>

#include "model/compile.h"
#include "model/joint.h"

/// Axes closer to parallel than this (sine of the angle) leave the second one undefined.
static const double PARALLEL_TOLERANCE = 1e-6;

// ---- joints

static kk_status check_limits(kki_item item, kk_joint_type type, int k, const kk_dof_def *dof, kk_error *error) {
    static const char *const names[KK_MAX_JOINT_DOFS] = {"degree of freedom 0", "degree of freedom 1",
                                                         "degree of freedom 2", "degree of freedom 3",
                                                         "degree of freedom 4", "degree of freedom 5"};
    const kk_status status = kki_check_range(item, names[k], dof->lower, dof->upper, error);
    if (status == KK_OK && type == KK_JOINT_BALL && k == 0 && dof->upper < 0) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "the upper limit %s bounds the angle of a ball joint; it must be zero or positive",
                              KKI_NUMBER(dof->upper));
    }
    return status;
}

static kk_status check_rotor(kki_item item, const kk_dof_def *dof, kk_error *error) {
    kk_status status = kki_check_not_negative(item, "armature", dof->armature, error);
    status = status ? status : kki_check_not_negative(item, "rotor_inertia", dof->rotor_inertia, error);
    status = status ? status : kki_check_finite(item, "gear_ratio", dof->gear_ratio, error);
    const double whole = dof->armature + dof->rotor_inertia * dof->gear_ratio * dof->gear_ratio;
    return status ? status : kki_check_finite(item, "armature + rotor_inertia * gear_ratio^2", whole, error);
}

static kk_status check_dof(kki_item item, kk_joint_type type, int k, const kk_dof_def *dof, kk_error *error) {
    kk_status status = check_limits(item, type, k, dof, error);
    status = status ? status : kki_check_not_negative(item, "stiffness", dof->stiffness, error);
    status = status ? status : kki_check_finite(item, "rest", dof->rest, error);
    status = status ? status : kki_check_finite(item, "start", dof->start, error);
    status = status ? status : kki_check_coordinate(item, "start", dof->start, error);
    status = status ? status : kki_check_not_negative(item, "damping", dof->damping, error);
    status = status ? status : kki_check_not_negative(item, "friction", dof->friction, error);
    status = status ? status : check_rotor(item, dof, error);
    status = status ? status : kki_check_restitution(item, dof->restitution, error);
    status = status ? status : kki_check_bound(item, "velocity_limit", dof->velocity_limit, error);
    return status ? status : kki_check_bound(item, "effort_limit", dof->effort_limit, error);
}

static kk_status check_axis(kki_item item, const char *what, kk_vec3 axis, kk_error *error) {
    const kk_status status = kki_check_vector(item, what, axis, error);
    if (status != KK_OK || axis.x != 0 || axis.y != 0 || axis.z != 0) {
        return status;
    }
    return kki_item_error(error, KK_INVALID_MODEL, item, "%s is zero; give it a direction such as (0, 0, 1)", what);
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
    return kki_item_error(error, KK_INVALID_MODEL, item,
                          "axis2 is parallel to axis; a %s joint needs two different directions",
                          kki_joint_type_of(joint->type)->name);
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
        status = kki_check_finite(item, "pitch", joint->pitch, error);
    }
    return status;
}

static kk_status check_joint(const kk_body_def *body, kk_error *error) {
    const kki_item item = kki_item_joint(body);
    const kk_joint_def *joint = &body->joint;
    const kki_joint_type *type = kki_joint_type_of(joint->type);
    if (!type) {
        return kki_item_error(error, KK_INVALID_MODEL, item, "there is no joint type %d; use one of KK_JOINT_...",
                              (int)joint->type);
    }
    kk_status status = kki_check_transform(item, "the placement", &joint->placement, error);
    status = status ? status : check_axes(item, joint, error);
    for (int k = 0; k < type->nv && status == KK_OK; k++) {
        status = check_dof(item, joint->type, k, &joint->dof[k], error);
    }
    return status;
}

// ---- items

static kk_status check_parent(const kk_spec *spec, int id, kk_error *error) {
    const kki_item item = kki_item_body(&spec->body[id]);
    const int parent = spec->body[id].parent;
    if (parent >= 0 && parent < id) {
        return KK_OK;
    }
    if (parent < 0 || parent >= spec->nbody) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "its parent %d does not exist; use KK_WORLD or the id of an earlier body", parent);
    }
    return kki_item_error(error, KK_INVALID_MODEL, item,
                          "its parent \"%s\" is not an earlier body, which could close a cycle; add the "
                          "parent first, and close loops by constraints",
                          spec->body[parent].name ? spec->body[parent].name : "");
}

static kk_status check_body(const kk_spec *spec, int id, kk_error *error) {
    const kk_body_def *body = &spec->body[id];
    const kki_item item = KKI_ITEM(spec, body, "body", id);
    kk_status status = kki_check_name(item, error);
    status = status ? status : kki_check_inertia(item, &body->inertia, error);
    status = status ? status : kki_check_finite(item, "gravity_compensation", body->gravity_compensation, error);
    // the world has no joint
    if (id == KK_WORLD || status != KK_OK) {
        return status;
    }
    status = check_parent(spec, id, error);
    status = status ? status : check_joint(body, error);
    return status ? status : kki_check_transform(item, "the offset", &body->offset, error);
}

static kk_status check_frame(const kk_spec *spec, int id, kk_error *error) {
    const kk_frame_def *frame = &spec->frame[id];
    const kki_item item = KKI_ITEM(spec, frame, "frame", id);
    const kk_status status = kki_check_name(item, error);
    if (status != KK_OK) {
        return status;
    }
    if (frame->body < 0 || frame->body >= spec->nbody) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "its body %d does not exist; use KK_WORLD or the id of a body", frame->body);
    }
    return kki_check_transform(item, "the placement", &frame->placement, error);
}

static kk_status check_coupling(const kk_coupling_def *coupling, kk_error *error) {
    const kki_item item = kki_item_coupling(coupling);
    if (!coupling->follower || !coupling->leader) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "the follower or the leader is missing; name the two joints");
    }
    const kk_status status = kki_check_finite(item, "ratio", coupling->ratio, error);
    return status ? status : kki_check_finite(item, "offset", coupling->offset, error);
}

static kk_status check_options(const kk_options *options, kk_error *error) {
    const kki_item item = {.kind = "spec", .name = "", .suffix = "", .id = -1};
    kk_status status = kki_check_vector(item, "gravity", options->gravity, error);
    status = status ? status : kki_check_vector(item, "magnetic", options->magnetic, error);
    status = status ? status : kki_check_positive(item, "the timestep", options->timestep, error);
    status = status ? status
                    : kki_check_choice(item, "integrator", (int)options->integrator, KK_INTEGRATOR_RK4 + 1,
                                       "KK_INTEGRATOR_...", error);
    return status ? status : kki_check_not_negative(item, "max_contacts", options->max_contacts, error);
}

static kk_status check_tree(const kk_spec *spec, kk_error *error) {
    kk_status status = KK_OK;
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

kk_status kki_check_spec(const kk_spec *spec, kk_error *error) {
    kk_status status = check_options(&spec->options, error);
    status = status ? status : check_tree(spec, error);
    status = status ? status : kki_check_shapes(spec, error);
    status = status ? status : kki_check_materials(spec, error);
    status = status ? status : kki_check_constraints(spec, error);
    return status ? status : kki_check_control(spec, error);
}
