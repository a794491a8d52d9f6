/// Joints. MuJoCo's coordinate of a hinge or slide is `ref` at the reference pose and ours is 0 where the joint's frame lies
/// on its placement; turning the placement back by ref makes both coordinates the same number.
#include "io/mjcf.h"

int kki_mjcf_joint_nq(kk_joint_type type) {
    return type == KK_JOINT_FREE ? 7 : type == KK_JOINT_BALL ? 4 : 1;
}

int kki_mjcf_joint_nv(kk_joint_type type) {
    return type == KK_JOINT_FREE ? 6 : type == KK_JOINT_BALL ? 3 : 1;
}

/// A coefficient, and terms of higher order that we have not.
static double read_linear(const kki_mjcf_at *at, const char *name) {
    double c[3] = {0, 0, 0};
    kki_mjcf_numbers(at, name, 1, 3, c);
    if (c[1] != 0 || c[2] != 0) {
        kki_mjcf_report(at->m, KKI_WARNING, KK_OK, at->node, name,
                        "only the linear part of %s is used; write one number", name);
    }
    return c[0];
}

static double not_negative(const kki_mjcf_at *at, const char *name, double value) {
    if (value < 0) {
        kki_mjcf_report(at->m, kki_fault(at->m->loader), KK_INVALID_ARGUMENT, at->node, name,
                        "%s is negative; it must not be", name);
        return 0;
    }
    return value;
}

static void read_limits(const kki_mjcf_at *at, kki_mjcf_joint *joint, kk_dof_def *dof) {
    double range[2];
    const double unit = joint->type == KK_JOINT_SLIDE ? 1 : at->m->set.angle;
    if (joint->type == KK_JOINT_FREE || !kki_mjcf_limits(at, "limited", "range", range)) {
        return;
    }
    joint->is_limited = true;
    joint->lower = range[0] * unit;
    joint->upper = range[1] * unit;
    if (joint->type == KK_JOINT_BALL && range[0] != 0) {
        kki_mjcf_report(at->m, kki_fault(at->m->loader), KK_INVALID_ARGUMENT, at->node, "range",
                        "the range of a ball joint starts at 0; write range=\"0 angle\"");
    }
    if (!at->m->set.no_limit) {
        dof->lower = joint->type == KK_JOINT_BALL ? dof->lower : joint->lower;
        dof->upper = joint->upper;
    }
}

static void read_effort(const kki_mjcf_at *at, kk_dof_def *dof) {
    double range[2];
    if (kki_mjcf_limits(at, "actuatorfrclimited", "actuatorfrcrange", range)) {
        dof->effort_limit = -range[0] > range[1] ? -range[0] : range[1];
        dof->effort_limit = dof->effort_limit < 0 ? 0 : dof->effort_limit;
    }
}

static kk_dof_def read_dof(const kki_mjcf_at *at, kki_mjcf_joint *joint) {
    const kki_mjcf_settings *set = &at->m->set;
    const double unit = joint->type == KK_JOINT_HINGE ? set->angle : 1;
    kk_dof_def dof = kk_dof_def_default();
    dof.stiffness = set->no_spring ? 0 : not_negative(at, "stiffness", read_linear(at, "stiffness"));
    dof.damping = set->no_damper ? 0 : not_negative(at, "damping", read_linear(at, "damping"));
    dof.friction = set->no_friction ? 0 : not_negative(at, "frictionloss", kki_mjcf_number(at, "frictionloss", 0));
    dof.armature = not_negative(at, "armature", kki_mjcf_number(at, "armature", 0));
    const bool is_scalar = joint->type == KK_JOINT_HINGE || joint->type == KK_JOINT_SLIDE;
    dof.rest = is_scalar ? kki_mjcf_number(at, "springref", 0) * unit : 0;
    joint->ref = dof.start = is_scalar ? kki_mjcf_number(at, "ref", 0) * unit : 0;
    kki_mjcf_numbers(at, "springdamper", 2, 2, joint->spring);
    read_limits(at, joint, &dof);
    if (is_scalar) {
        read_effort(at, &dof);
    }
    return dof;
}

static kk_vec3 read_axis(const kki_mjcf_at *at, kk_transform frame) {
    const kk_vec3 axis = kki_mjcf_vector(at, "axis", kk_vec3_make(0, 0, 1));
    const double n = kk_vec3_norm(axis);
    if (!(n > 1e-14)) {
        kki_mjcf_report(at->m, kki_fault(at->m->loader), KK_INVALID_ARGUMENT, at->node, "axis",
                        "the axis of the joint has no length; write a direction like 0 0 1");
        return kk_vec3_make(0, 0, 1);
    }
    return kk_mat3_mul_vec(frame.R, kk_vec3_scale(axis, 1 / n));
}

/// The joint's frame in the body at coordinate 0, from the reference pose.
static kk_transform placement(const kki_mjcf_joint *joint, kk_vec3 anchor, kk_vec3 axis) {
    if (joint->type == KK_JOINT_SLIDE) {
        return kk_transform_make(kk_mat3_identity(), kk_vec3_add(anchor, kk_vec3_scale(axis, -joint->ref)));
    }
    const bool is_turned = joint->type == KK_JOINT_HINGE && joint->ref != 0;
    return kk_transform_make(is_turned ? kk_mat3_from_axis_angle(axis, -joint->ref) : kk_mat3_identity(), anchor);
}

static const kki_keyword types[] = {
    {"hinge", KK_JOINT_HINGE}, {"slide", KK_JOINT_SLIDE}, {"ball", KK_JOINT_BALL}, {"free", KK_JOINT_FREE}, {NULL, 0}};

const char *kki_mjcf_joint_letters(kki_mjcf *m, int32_t first, int32_t end, kki_pool *pool) {
    int count = 0;
    char *letters = kki_pool_take(pool, (size_t)m->item_count + 1);
    for (int b = 1; letters && b < m->body_count; b++) {
        for (int i = m->body[b].first[KKI_MJCF_IS_JOINT]; i >= 0; i = m->item[i].next) {
            const kki_mjcf_item *item = &m->item[i];
            kki_mjcf_enter(m, item->node);
            const kki_mjcf_at at = kki_mjcf_element_of_class(m, item->node, KKI_MJCF_OF_JOINT, item->class);
            const int type = kki_xml_is(m->xml, item->node, "freejoint")
                                 ? KK_JOINT_FREE
                                 : kki_mjcf_word(&at, "type", types, KK_JOINT_HINGE);
            const char letter = type == KK_JOINT_FREE ? 'f' : type == KK_JOINT_BALL ? 'b' : 'h';
            const bool is_attached = item->node >= first && item->node < end;
            letters[count++] = (char)(is_attached ? letter + 'A' - 'a' : letter);
        }
    }
    if (letters) {
        letters[count] = 0;
    }
    return letters;
}

void kki_mjcf_joint_read(kki_mjcf *m, const kki_mjcf_item *item, kki_mjcf_joint *joint, kk_joint_def *def,
                         kk_vec3 *anchor) {
    const bool is_free = kki_xml_is(m->xml, item->node, "freejoint");
    // <freejoint> takes nothing from classes
    const kki_mjcf_at at = is_free ? kki_mjcf_element_here(m, item->node)
                                   : kki_mjcf_element_of_class(m, item->node, KKI_MJCF_OF_JOINT, item->class);
    *joint = (kki_mjcf_joint){.node = item->node, .copies = item->copies};
    joint->type = is_free ? KK_JOINT_FREE : (kk_joint_type)kki_mjcf_word(&at, "type", types, KK_JOINT_HINGE);
    *def = kk_joint_def_default();
    def->type = joint->type;
    def->origin = kki_origin_of_node(m->xml, item->node);
    *anchor = kk_vec3_make(0, 0, 0);
    if (!is_free) {
        const kk_dof_def dof = read_dof(&at, joint);
        for (int i = 0; i < kki_mjcf_joint_nv(joint->type); i++) {
            def->dof[i] = dof;
        }
        // a ball's limit is the angle of the whole rotation, kept in its first degree
        for (int i = 1; i < kki_mjcf_joint_nv(joint->type); i++) {
            def->dof[i].upper = __builtin_inf();
        }
    }
    if (joint->type != KK_JOINT_FREE) {
        *anchor = kk_transform_point(*item->frame, kki_mjcf_vector(&at, "pos", kk_vec3_make(0, 0, 0)));
    }
    if (joint->type == KK_JOINT_HINGE || joint->type == KK_JOINT_SLIDE) {
        def->axis = read_axis(&at, *item->frame);
    }
    def->placement = placement(joint, *anchor, def->axis);
}
