/// Transmissions, which become actuators, and what of Gazebo's extensions has a plain meaning.
///
/// A transmission's interface commands the joint: effort, position or velocity on the joint's side, so the actuator's gear
/// is 1. The mechanical reduction is that of the rotor behind it and becomes the joint's gear ratio. Position and velocity
/// interfaces get their gains by the rule of standing.c.
#include <karakuri/number.h>
#include <string.h>

#include "base/print.h"
#include "io/text.h"
#include "io/urdf.h"
#include "model/joint.h"

// ---- numbers in texts

/// The number that an element's text or its attribute `value` is; false and a finding where it is none.
static bool read_text_number(kki_urdf *u, int32_t node, double *value) {
    size_t count = 0;
    if (kki_xml_find(u->xml, node, "value") != KKI_XML_NONE) {
        return kki_read_double(&u->reader, node, "value", KKI_REQUIRED, value) == KK_OK;
    }
    double numbers[1];
    if (kki_read_text_numbers(&u->reader, node, 1, numbers, &count) != KK_OK || count == 0) {
        return false;
    }
    *value = numbers[0];
    return true;
}

// ---- transmissions

/// The text of <hardwareInterface> of the joint or of the actuator.
static const char *interface_of(const kki_urdf *u, int32_t joint, int32_t actuator) {
    const int32_t holder[] = {joint, actuator};
    for (int i = 0; i < 2; i++) {
        const int32_t n =
            holder[i] == KKI_XML_NONE ? KKI_XML_NONE : kki_xml_first(u->xml, holder[i], "hardwareInterface");
        if (n != KKI_XML_NONE) {
            return kki_xml_text(u->xml, n);
        }
    }
    return "";
}

static kk_actuator_type type_of(const char *interface) {
    return strstr(interface, "Position")   ? KK_ACTUATOR_POSITION
           : strstr(interface, "Velocity") ? KK_ACTUATOR_VELOCITY
                                           : KK_ACTUATOR_FORCE;
}

/// A name that no actuator has yet, in a buffer.
static kk_status choose_name(kki_urdf *u, const char *wish, char name[KKI_NAME_SIZE]) {
    kki_print(name, KKI_NAME_SIZE, "%.*s", kki_whole_length(wish, KKI_MOST_NAME), wish);
    return kki_name_table_find(&u->actuators, name) < 0
               ? KK_OK
               : kki_name_table_choose(&u->actuators, &u->actuator_numbers, wish, name);
}

static void limit(const kk_dof_def *dof, kk_actuator_def *def) {
    def->force_lower = -dof->effort_limit;
    def->force_upper = dof->effort_limit;
    if (def->type == KK_ACTUATOR_POSITION) {
        def->control_lower = dof->lower;
        def->control_upper = dof->upper;
    } else if (def->type == KK_ACTUATOR_VELOCITY) {
        def->control_lower = -dof->velocity_limit;
        def->control_upper = dof->velocity_limit;
    } else {
        def->control_lower = def->force_lower;
        def->control_upper = def->force_upper;
    }
}

static kk_status add_actuator(kki_urdf *u, int32_t node, const char *wish, const char *joint, int body,
                              const char *interface) {
    char name[KKI_NAME_SIZE];
    kk_error error = {.status = KK_OK};
    int id = -1;
    kk_actuator_def def = kk_actuator_def_default();
    kk_status status = choose_name(u, wish, name);
    def.name = name;
    def.type = type_of(interface);
    def.target = joint;
    // zero: standing.c gives the gain
    def.gain = def.type == KK_ACTUATOR_FORCE ? 1 : 0;
    def.origin = kki_origin_of_node(u->xml, node);
    limit(&u->spec->body[body].joint.dof[0], &def);
    status = status ? status : kk_spec_add_actuator(u->spec, &def, &id, &error);
    if (status == KK_OK) {
        status = kki_name_table_set(&u->actuators, u->spec->actuator[id].name, id);
    }
    return kki_urdf_keep(u, node, status, &error);
}

/// The body whose joint the transmission moves; −1 and a finding where there is none that could be moved.
static int driven_body(kki_urdf *u, int32_t node, const char *name) {
    const int32_t joint = kki_name_table_find(&u->joints, name);
    const int32_t attribute = kki_xml_find(u->xml, node, "name");
    if (joint < 0) {
        kki_urdf_report_value(u, kki_left_out(u->loader), KK_OK, attribute, "name a joint of this file",
                              "a transmission moves joint '%s', which does not exist; it is left out",
                              kki_shorten_string(name).text);
        return -1;
    }
    const int body = u->joint[joint].body;
    const kk_joint_type type = u->spec->body[body].joint.type;
    if (kki_joint_type_of(type)->nv != 1) {
        kki_urdf_report_value(u, kki_left_out(u->loader), KK_OK, attribute, "remove it",
                              "a transmission moves joint '%s', which is fixed or has several degrees; it is left out",
                              kki_shorten_string(name).text);
        return -1;
    }
    return body;
}

/// The number in a <mechanicalReduction>, with nothing beside it.
static bool reduction_of(const kki_urdf *u, int32_t node, double *ratio) {
    const char *value = kki_xml_value(u->xml, node, "value");
    const char *text = value ? value : kki_xml_text(u->xml, node);
    text += strspn(text, " \t\r\n");
    size_t used = 0;
    return kk_number_parse(text, strlen(text), ratio, &used) == KK_OK &&
           text[used + strspn(text + used, " \t\r\n")] == 0;
}

static void read_reduction(kki_urdf *u, int32_t transmission, int32_t actuator, int body) {
    int32_t n = actuator == KKI_XML_NONE ? KKI_XML_NONE : kki_xml_first(u->xml, actuator, "mechanicalReduction");
    n = n == KKI_XML_NONE ? kki_xml_first(u->xml, transmission, "mechanicalReduction") : n;
    double ratio = 1;
    if (n != KKI_XML_NONE && !reduction_of(u, n, &ratio)) {
        kki_urdf_report(u, KKI_WARNING, KK_OK, n, "write one number",
                        "<mechanicalReduction> is no number; the reduction counts as 1");
    } else if (n != KKI_XML_NONE) {
        kk_dof_def *dof = &u->spec->body[body].joint.dof[0];
        dof->gear_ratio = dof->gear_ratio == 1 ? ratio : dof->gear_ratio;
    }
}

/// One joint of a transmission with the actuator that stands with it.
static kk_status read_pair(kki_urdf *u, int32_t transmission, int32_t joint, int32_t actuator) {
    const char *name = NULL, *wish = NULL;
    if (!kki_xml_value(u->xml, joint, "name")) {
        return kki_urdf_report(u, KKI_WARNING, KK_OK, joint, "add name=\"...\"",
                               "a transmission's <joint> has no attribute 'name'; it is left out");
    }
    if (kki_read_string(&u->reader, joint, "name", KKI_REQUIRED, &name) != KK_OK) {
        return KK_OK;
    }
    const int body = driven_body(u, joint, name);
    if (body < 0) {
        return KK_OK;
    }
    read_reduction(u, transmission, actuator, body);
    if (actuator != KKI_XML_NONE) {
        kki_read_string(&u->reader, actuator, "name", KKI_OPTIONAL, &wish);
    }
    wish = wish ? wish : kki_xml_value(u->xml, transmission, "name");
    return add_actuator(u, transmission, wish ? wish : name, name, body, interface_of(u, joint, actuator));
}

static kk_status read_transmission(kki_urdf *u, int32_t node) {
    kk_status status = KK_OK;
    int32_t actuator = kki_xml_first(u->xml, node, "actuator");
    for (int32_t joint = kki_xml_first(u->xml, node, "joint"); joint != KKI_XML_NONE && status == KK_OK;
         joint = kki_xml_next(u->xml, joint, "joint")) {
        status = read_pair(u, node, joint, actuator);
        actuator = actuator == KKI_XML_NONE ? actuator : kki_xml_next(u->xml, actuator, "actuator");
    }
    return status;
}

kk_status kki_urdf_transmissions(kki_urdf *u) {
    kk_status status = KK_OK;
    for (int i = kki_urdf_other(u, "transmission", 0); i < u->other_count && status == KK_OK;
         i = kki_urdf_other(u, "transmission", i + 1)) {
        status = read_transmission(u, u->other[i]);
    }
    return status;
}

// ---- Gazebo

/// Stiffer than this is Gazebo's way of saying rigid (its default is 1e12 N/m).
static const double RIGID = 1e9;

static bool read_child_number(kki_urdf *u, int32_t node, const char *name, double *value) {
    const int32_t n = kki_xml_first(u->xml, node, name);
    return n != KKI_XML_NONE && read_text_number(u, n, value);
}

/// mu1, mu2, kp, kd of a link's surface; false where it has none of them.
static bool read_surface(kki_urdf *u, int32_t node, kk_material_def *material) {
    double mu1 = material->friction, mu2 = -1, kp = 1e12, kd = 0;
    const bool has_mu1 = read_child_number(u, node, "mu1", &mu1) || read_child_number(u, node, "mu", &mu1);
    const bool has_mu2 = read_child_number(u, node, "mu2", &mu2);
    const bool has_kp = read_child_number(u, node, "kp", &kp);
    read_child_number(u, node, "kd", &kd);
    if (mu1 < 0 || (has_mu2 && mu2 < 0) || kp <= 0 || kd < 0) {
        kki_urdf_report(u, KKI_WARNING, KK_OK, node, "write numbers that are zero or positive",
                        "<gazebo>: a friction or stiffness is negative, the surface is ignored");
        return false;
    }
    material->friction = mu1;
    material->friction_across = has_mu2 && mu2 != mu1 ? mu2 : -1;
    if (has_kp && kp < RIGID) {
        material->stiffness = kp;
        material->damping = kd;
    }
    return has_mu1 || has_mu2 || (has_kp && kp < RIGID);
}

static kk_status add_surface(kki_urdf *u, int32_t node, kki_urdf_link *link) {
    kk_error error = {.status = KK_OK};
    char name[KKI_NAME_SIZE];
    kk_material_def material = kk_material_def_default();
    int id = -1;
    if (!read_surface(u, node, &material)) {
        return KK_OK;
    }
    kk_status status = KK_OK;
    kki_print(name, sizeof name, "%.*s_surface", kki_whole_length(link->name, KKI_MOST_NAME), link->name);
    if (kki_name_table_find(&u->materials, name) >= 0) {
        status = kki_name_table_choose(&u->materials, &u->surface_numbers, link->name, name);
    }
    material.name = name;
    material.origin = kki_origin_of_node(u->xml, node);
    status = status ? status : kk_spec_add_material(u->spec, &material, &id, &error);
    if (status == KK_OK) {
        link->material = id;
        status = kki_name_table_set(&u->materials, u->spec->material[id].name, id);
    }
    return kki_urdf_keep(u, node, status, &error);
}

/// What is not used is said once for each name of an element.
static void note_gazebo(kki_urdf *u, int32_t node) {
    static const char *const used[] = {"mu1", "mu", "mu2", "kp", "kd"};
    for (int32_t n = kki_xml_first(u->xml, node, NULL); n != KKI_XML_NONE; n = kki_xml_next(u->xml, n, NULL)) {
        char text[160];
        bool is_used = false;
        for (size_t i = 0; i < sizeof used / sizeof used[0]; i++) {
            is_used = is_used || kki_xml_is(u->xml, n, used[i]);
        }
        kki_print(text, sizeof text, "<%s> in <gazebo> is not used", kki_shorten_string(kki_xml_name(u->xml, n)).text);
        if (!is_used) {
            kki_urdf_note_once(u, n, text, "");
        }
    }
}

kk_status kki_urdf_gazebo(kki_urdf *u) {
    kk_status status = KK_OK;
    for (int i = kki_urdf_other(u, "gazebo", 0); i < u->other_count && status == KK_OK;
         i = kki_urdf_other(u, "gazebo", i + 1)) {
        const int32_t n = u->other[i];
        const char *reference = kki_xml_value(u->xml, n, "reference");
        const int32_t link = reference ? kki_name_table_find(&u->links, reference) : -1;
        note_gazebo(u, n);
        if (link >= 0) {
            status = add_surface(u, n, &u->link[link]);
        }
    }
    return status;
}
