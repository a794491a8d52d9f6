/// Joints: axes and limits, and whether anything drives them.
#include <string.h>

#include "base/allocator.h"
#include "io/doctor.h"
#include "io/name_table.h"
#include "io/text.h"
#include "model/compile.h"
#include "model/joint.h"

/// Five turns: limits beyond are more likely degrees.
static const double MANY_TURNS = 31.4;

static kki_short_text joint_name(const kk_body_def *b) {
    return kki_shorten_string(b->joint.name && b->joint.name[0] ? b->joint.name : b->name);
}

static bool is_zero(kk_vec3 v) {
    return v.x == 0 && v.y == 0 && v.z == 0;
}

static void check_axis(kki_doctor *d, kk_body_def *b) {
    const kki_joint_type *type = kki_joint_type_of(b->joint.type);
    if (type->nnode == 0 || type->node[0].axis == KKI_AXIS_NONE || !is_zero(b->joint.axis)) {
        return;
    }
    kki_doctor_report(d, KKI_ERROR, true, &b->joint.origin, "give it a direction such as 0 0 1",
                      "joint '%s': its axis is zero", joint_name(b).text);
    if (d->options->repair) {
        b->joint.axis = kk_vec3_make(0, 0, 1);
    }
}

static void swap_limits(kk_dof_def *dof) {
    const double upper = dof->lower;
    dof->lower = dof->upper;
    dof->upper = upper;
}

static void check_range(kki_doctor *d, kk_body_def *b, kk_dof_def *dof) {
    const kki_short_text name = joint_name(b);
    const bool is_hinge = b->joint.type == KK_JOINT_HINGE;
    if (dof->lower > dof->upper) {
        kki_doctor_report(d, KKI_ERROR, true, &b->joint.origin, "swap them",
                          "joint '%s': the lower limit %s is above the upper one, %s", name.text,
                          KKI_NUMBER(dof->lower), KKI_NUMBER(dof->upper));
        if (d->options->repair) {
            swap_limits(dof);
        }
    } else if (dof->lower == 0 && dof->upper == 0 && kki_is_made_by_calls(&b->joint.origin)) {
        kki_doctor_report(d, KKI_WARNING, false, &b->joint.origin, "write limits, or make it fixed",
                          "joint '%s' cannot move: both its limits are 0", name.text);
    } else if (is_hinge &&
               ((dof->lower < -MANY_TURNS && dof->lower > -1e6) || (dof->upper > MANY_TURNS && dof->upper < 1e6))) {
        kki_doctor_report(d, KKI_WARNING, false, &b->joint.origin, "write them in rad",
                          "joint '%s': limits of %s and %s rad are many turns; they look like degrees", name.text,
                          KKI_NUMBER(dof->lower), KKI_NUMBER(dof->upper));
    } else if (dof->lower > 0 || dof->upper < 0) {
        kki_doctor_report(d, KKI_NOTE, false, &b->joint.origin, "start it elsewhere, by a keyframe",
                          "joint '%s': 0 is outside of its limits %s and %s", name.text, KKI_NUMBER(dof->lower),
                          KKI_NUMBER(dof->upper));
    }
    if (dof->effort_limit == 0) {
        kki_doctor_report(d, KKI_WARNING, false, &b->joint.origin, "write a positive limit, or leave it out",
                          "joint '%s': its limit of effort is 0, nothing can drive it", name.text);
    }
}

void kki_doctor_joints(kki_doctor *doctor) {
    for (int i = 1; i < doctor->spec->nbody; i++) {
        kk_body_def *b = &doctor->spec->body[i];
        check_axis(doctor, b);
        const int n = kki_joint_type_of(b->joint.type)->nv;
        for (int k = 0; k < n && b->joint.type != KK_JOINT_BALL && b->joint.type != KK_JOINT_FREE; k++) {
            check_range(doctor, b, &b->joint.dof[k]);
        }
    }
}

// ---- drives

/// Joints that something moves: actuators, followers and leaders of couplings, items of tendons.
static kk_status enter_driven(const kki_doctor *d, kki_name_table *table) {
    const kk_spec *s = d->spec;
    kk_status status = KK_OK;
    for (int i = 0; i < s->nactuator && status == KK_OK; i++) {
        const kk_actuator_def *a = &s->actuator[i];
        status =
            a->transmission == KK_TRANSMISSION_JOINT && a->target ? kki_name_table_set(table, a->target, 1) : KK_OK;
    }
    for (int i = 0; i < s->ncoupling && status == KK_OK; i++) {
        status = s->coupling[i].follower ? kki_name_table_set(table, s->coupling[i].follower, 1) : KK_OK;
    }
    for (int i = 0; i < s->ntendon && status == KK_OK; i++) {
        for (int k = 0; k < s->tendon[i].item_count && status == KK_OK; k++) {
            const char *name = s->tendon[i].item[k].name;
            status = s->tendon[i].type == KK_TENDON_FIXED && name ? kki_name_table_set(table, name, 1) : KK_OK;
        }
    }
    return status;
}

static bool is_left_alone(const kk_body_def *b, const kki_name_table *driven) {
    const bool moves = kki_joint_type_of(b->joint.type)->nv > 0 && b->joint.type != KK_JOINT_FREE;
    return moves && b->joint.dof[0].stiffness == 0 && b->joint.name && kki_name_table_find(driven, b->joint.name) < 0;
}

static void tell_undriven(kki_doctor *d, const kki_name_table *driven) {
    const kk_spec *s = d->spec;
    const kk_body_def *first = NULL;
    int count = 0, joints = 0;
    for (int i = 1; i < s->nbody; i++) {
        const bool is_alone = is_left_alone(&s->body[i], driven);
        joints += kki_joint_type_of(s->body[i].joint.type)->nv > 0 && s->body[i].joint.type != KK_JOINT_FREE;
        first = is_alone && !first ? &s->body[i] : first;
        count += is_alone;
    }
    if (count > 0 && s->nactuator == 0) {
        kki_doctor_report(d, KKI_WARNING, false, &first->joint.origin,
                          "add transmissions or actuators, or load it with position servos",
                          "the robot has %d joint%s and no actuators", joints, joints == 1 ? "" : "s");
    } else if (count > 0) {
        kki_doctor_report(d, KKI_NOTE, false, &first->joint.origin, "add actuators where they are missing",
                          "%d of %d joints have no actuator, '%s' the first of them", count, joints,
                          joint_name(first).text);
    }
}

kk_status kki_doctor_actuators(kki_doctor *doctor) {
    kki_name_table driven;
    kki_name_table_create(&driven, &doctor->allocator);
    const kk_status status = enter_driven(doctor, &driven);
    if (status == KK_OK) {
        tell_undriven(doctor, &driven);
    }
    kki_name_table_destroy(&driven);
    return status;
}
