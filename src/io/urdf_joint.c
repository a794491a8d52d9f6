/// Joints of URDF: type, placement, axis, limits, dynamics; and mimics, which become couplings.
///
/// A limit of 1e15 or more in size is none: people write such numbers where the grammar wants one. An effort or a velocity
/// of 0 is none as well, because files that do not know them say 0.
#include <string.h>

#include "io/text.h"
#include "io/urdf.h"
#include "model/joint.h"

static const double NO_LIMIT = 1e15;

static const kki_keyword joint_types[] = {
    {"fixed", KK_JOINT_FIXED},     {"revolute", KK_JOINT_HINGE}, {"continuous", KK_JOINT_HINGE},
    {"prismatic", KK_JOINT_SLIDE}, {"floating", KK_JOINT_FREE},  {"planar", KK_JOINT_PLANAR},
    {"spherical", KK_JOINT_BALL},  {"ball", KK_JOINT_BALL},      {NULL, 0}};

static bool is_type(const kki_urdf *u, const kki_urdf_joint *joint, const char *type) {
    const char *value = kki_xml_value(u->xml, joint->node, "type");
    return value && strcmp(value, type) == 0;
}

// ---- axis

static bool needs_axis(kk_joint_type type) {
    return type == KK_JOINT_HINGE || type == KK_JOINT_SLIDE || type == KK_JOINT_PLANAR;
}

static void read_axis(kki_urdf *u, const kki_urdf_joint *joint, kk_joint_def *def) {
    double xyz[3] = {1, 0, 0};
    const int32_t n = kki_xml_first(u->xml, joint->node, "axis");
    const bool is_read = n != KKI_XML_NONE && kki_read_vector(&u->reader, n, "xyz", KKI_REQUIRED, 3, xyz) == KK_OK;
    if (is_read && needs_axis(def->type) && xyz[0] == 0 && xyz[1] == 0 && xyz[2] == 0) {
        kki_urdf_report_value(u, kki_fault(u->loader), KK_INVALID_MODEL, kki_xml_find(u->xml, n, "xyz"),
                              "give it a direction such as 0 0 1", "joint '%s': the axis is zero",
                              kki_shorten_string(joint->name).text);
        return;
    }
    def->axis = kk_vec3_make(xyz[0], xyz[1], xyz[2]);
    if (def->type == KK_JOINT_PLANAR) {
        // the axis is the normal; of the directions in the plane URDF names none
        def->axis2 = kk_mat3_column(kki_rotation_with_z(kki_unit(def->axis)), 0);
    }
}

// ---- limits

static double bound(double value) {
    return value >= NO_LIMIT ? __builtin_inf() : value <= -NO_LIMIT ? -__builtin_inf() : value;
}

/// Effort or velocity.
static double read_strength(kki_urdf *u, const kki_urdf_joint *joint, int32_t limit, const char *name) {
    double value = 0;
    if (kki_read_double(&u->reader, limit, name, KKI_OPTIONAL, &value) == KK_OK && value < 0) {
        kki_urdf_report_value(u, KKI_REPAIRED_WARNING, KK_OK, kki_xml_find(u->xml, limit, name),
                              "write it without the sign", "joint '%s': the limit of %s is negative, its size is taken",
                              kki_shorten_string(joint->name).text, name);
        value = -value;
    }
    return value == 0 ? __builtin_inf() : bound(value);
}

static void check_range(kki_urdf *u, const kki_urdf_joint *joint, int32_t limit, kk_dof_def *dof) {
    const kki_short_text name = kki_shorten_string(joint->name);
    if (dof->lower > dof->upper) {
        const double kept = dof->lower;
        dof->lower = dof->upper;
        dof->upper = kept;
        kki_urdf_report(u, KKI_REPAIRED_WARNING, KK_OK, limit, "swap lower and upper",
                        "joint '%s': the lower limit is above the upper one, they are swapped", name.text);
    } else if (dof->lower == 0 && dof->upper == 0) {
        kki_urdf_report(u, KKI_WARNING, KK_OK, limit, "write lower and upper, or make it continuous, or fixed",
                        "joint '%s' cannot move: both its limits are 0", name.text);
    }
}

static void read_range(kki_urdf *u, const kki_urdf_joint *joint, int32_t limit, kk_dof_def *dof) {
    double lower = 0, upper = 0;
    kki_read_double(&u->reader, limit, "lower", KKI_OPTIONAL, &lower);
    kki_read_double(&u->reader, limit, "upper", KKI_OPTIONAL, &upper);
    dof->lower = bound(lower);
    dof->upper = bound(upper);
    check_range(u, joint, limit, dof);
    dof->lower = dof->lower == __builtin_inf() ? -__builtin_inf() : dof->lower;
    dof->upper = dof->upper == -__builtin_inf() ? __builtin_inf() : dof->upper;
}

static void read_limit(kki_urdf *u, const kki_urdf_joint *joint, kk_joint_def *def) {
    static const char *const known[] = {"effort",       "velocity", "lower",        "upper",
                                        "acceleration", "jerk",     "deceleration", NULL};
    const int32_t n = kki_xml_first(u->xml, joint->node, "limit");
    const bool has_range = is_type(u, joint, "revolute") || is_type(u, joint, "prismatic");
    if (n == KKI_XML_NONE) {
        if (has_range && kki_xml_first(u->xml, joint->node, "karakuri") == KKI_XML_NONE) {
            kki_urdf_report(u, KKI_WARNING, KK_OK, joint->node, "add <limit lower= upper= effort= velocity=/>",
                            "joint '%s' has no <limit>, so it has no limits", kki_shorten_string(joint->name).text);
        }
        return;
    }
    kki_report_unknown_attributes(&u->reader, n, known);
    def->dof[0].effort_limit = read_strength(u, joint, n, "effort");
    def->dof[0].velocity_limit = read_strength(u, joint, n, "velocity");
    if (has_range) {
        read_range(u, joint, n, &def->dof[0]);
    }
}

// ---- dynamics

static void read_loss(kki_urdf *u, const kki_urdf_joint *joint, int32_t dynamics, const char *name, double *value) {
    if (kki_read_double(&u->reader, dynamics, name, KKI_OPTIONAL, value) == KK_OK && *value < 0) {
        kki_urdf_report_value(u, kki_fault(u->loader), KK_INVALID_MODEL, kki_xml_find(u->xml, dynamics, name),
                              "write a number that is zero or positive", "joint '%s': the %s is negative",
                              kki_shorten_string(joint->name).text, name);
        *value = 0;
    }
}

static void read_dynamics(kki_urdf *u, const kki_urdf_joint *joint, kk_joint_def *def) {
    static const char *const known[] = {"damping", "friction", NULL};
    const int32_t n = kki_xml_first(u->xml, joint->node, "dynamics");
    if (n == KKI_XML_NONE) {
        return;
    }
    kki_report_unknown_attributes(&u->reader, n, known);
    read_loss(u, joint, n, "damping", &def->dof[0].damping);
    read_loss(u, joint, n, "friction", &def->dof[0].friction);
    // one number for all degrees of a floating or planar joint, as in Gazebo
    for (int i = 1; i < KK_MAX_JOINT_DOFS; i++) {
        def->dof[i].damping = def->dof[0].damping;
        def->dof[i].friction = def->dof[0].friction;
    }
}

static void note_unused(kki_urdf *u, const kki_urdf_joint *joint) {
    static const char *const known[] = {"parent",
                                        "child",
                                        "origin",
                                        "axis",
                                        "limit",
                                        "dynamics",
                                        "mimic",
                                        "safety_controller",
                                        "calibration",
                                        "karakuri",
                                        "hardwareInterface",
                                        "disable_collision",
                                        NULL};
    kki_report_unknown_elements(&u->reader, joint->node, known);
    const int32_t safety = kki_xml_first(u->xml, joint->node, "safety_controller");
    const int32_t calibration = kki_xml_first(u->xml, joint->node, "calibration");
    if (safety != KKI_XML_NONE) {
        kki_urdf_note_once(u, safety, "<safety_controller> is not used: soft limits belong to the controller", "");
    }
    if (calibration != KKI_XML_NONE) {
        kki_urdf_note_once(u, calibration, "<calibration> is not used: it says where a real joint's switches are", "");
    }
}

void kki_urdf_joint_read(kki_urdf *u, const kki_urdf_joint *joint, kk_joint_def *def) {
    int type = KK_JOINT_FIXED;
    kki_read_keyword(&u->reader, joint->node, "type", KKI_REQUIRED, joint_types, &type);
    def->name = joint->name;
    def->type = (kk_joint_type)type;
    def->origin = kki_origin_of_node(u->xml, joint->node);
    kki_urdf_origin(u, joint->node, &def->placement);
    read_axis(u, joint, def);
    if (def->type != KK_JOINT_FIXED) {
        read_limit(u, joint, def);
        read_dynamics(u, joint, def);
    }
    note_unused(u, joint);
}

// ---- mimic

static int degrees(const kki_urdf *u, const kki_urdf_joint *joint) {
    return kki_joint_type_of(u->spec->body[joint->body].joint.type)->nv;
}

/// The joint that another mimics; −1 and a finding where that makes no sense.
static int32_t find_leader(kki_urdf *u, int j, int32_t mimic) {
    const char *name = NULL;
    const kki_short_text own = kki_shorten_string(u->joint[j].name);
    if (kki_read_string(&u->reader, mimic, "joint", KKI_REQUIRED, &name) != KK_OK) {
        return -1;
    }
    const int32_t attribute = kki_xml_find(u->xml, mimic, "joint"), leader = kki_name_table_find(&u->joints, name);
    if (leader < 0) {
        kki_urdf_report_value(u, kki_fault(u->loader), KK_NOT_FOUND, attribute, "name a joint of this file",
                              "joint '%s' mimics '%s', which does not exist", own.text, kki_shorten_string(name).text);
    } else if (degrees(u, &u->joint[j]) == 0 || degrees(u, &u->joint[leader]) == 0) {
        kki_urdf_report_value(u, KKI_WARNING, KK_OK, attribute, "remove the <mimic>",
                              "joint '%s' mimics '%s', but one of them is fixed; it is ignored", own.text,
                              kki_shorten_string(name).text);
        return -1;
    }
    return leader;
}

static kk_status add_mimic(kki_urdf *u, int j, int32_t mimic) {
    static const char *const known[] = {"joint", "multiplier", "offset", NULL};
    kk_error error = {.status = KK_OK};
    kk_coupling_def def = kk_coupling_def_default();
    kki_report_unknown_attributes(&u->reader, mimic, known);
    u->joint[j].leader = find_leader(u, j, mimic);
    kki_read_double(&u->reader, mimic, "multiplier", KKI_OPTIONAL, &def.ratio);
    kki_read_double(&u->reader, mimic, "offset", KKI_OPTIONAL, &def.offset);
    if (u->joint[j].leader < 0) {
        return KK_OK;
    }
    def.follower = u->joint[j].name;
    def.leader = u->joint[u->joint[j].leader].name;
    def.origin = kki_origin_of_node(u->xml, mimic);
    return kki_urdf_keep(u, mimic, kk_spec_add_coupling(u->spec, &def, NULL, &error), &error);
}

/// Lets a joint go free that mimicked another.
static void release_follower(kki_urdf *u, int32_t joint) {
    kk_spec *s = u->spec;
    int kept = 0;
    for (int i = 0; i < s->ncoupling; i++) {
        if (strcmp(s->coupling[i].follower, u->joint[joint].name) != 0) {
            s->coupling[kept++] = s->coupling[i];
        }
    }
    s->ncoupling = kept;
    u->joint[joint].leader = -1;
}

/// Follows leaders; whoever comes back to where a walk has been is in a circle. Walks are numbered from 1, each joint
/// belongs to the first that met it, so the whole is linear.
static void find_cycles(kki_urdf *u, int32_t *walk_of) {
    for (int i = 0; i < u->joint_count; i++) {
        walk_of[i] = 0;
    }
    for (int i = 0; i < u->joint_count; i++) {
        int32_t at = i;
        while (at >= 0 && walk_of[at] == 0) {
            walk_of[at] = i + 1;
            at = u->joint[at].leader;
        }
        if (at >= 0 && walk_of[at] == i + 1 && u->joint[i].leader >= 0) {
            kki_urdf_report(u, kki_fault(u->loader), KK_INVALID_MODEL, u->joint[at].node, "let one of them go free",
                            "joint '%s' mimics itself, directly or through others",
                            kki_shorten_string(u->joint[at].name).text);
            release_follower(u, at);
        }
    }
}

kk_status kki_urdf_mimics(kki_urdf *u) {
    kk_status status = KK_OK;
    for (int i = 0; i < u->joint_count && status == KK_OK; i++) {
        if (u->joint[i].mimic != KKI_XML_NONE && u->joint[i].body >= 0) {
            status = add_mimic(u, i, u->joint[i].mimic);
        }
    }
    find_cycles(u, u->chain);
    return status;
}
