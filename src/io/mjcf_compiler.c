/// <compiler> and <option>: how the rest is to be read, and what belongs to the whole scene.
#include <string.h>

#include "io/mjcf.h"

static void read_euler_sequence(const kki_mjcf_at *at) {
    const char *text = kki_mjcf_text(at, "eulerseq");
    if (!text) {
        return;
    }
    if (strlen(text) != 3 || strspn(text, "xyzXYZ") != 3) {
        kki_mjcf_report(at->m, KKI_ERROR, KK_SYNTAX, at->node, "eulerseq",
                        "eulerseq must be three of x, y, z, X, Y, Z; the default is xyz");
        return;
    }
    memcpy(at->m->set.euler, text, 3);
}

static void read_directories(const kki_mjcf_at *at, kki_mjcf_settings *set) {
    const char *asset = kki_mjcf_text(at, "assetdir"), *mesh = kki_mjcf_text(at, "meshdir"),
               *texture = kki_mjcf_text(at, "texturedir");
    set->mesh_directory = mesh ? mesh : asset ? asset : set->mesh_directory;
    set->texture_directory = texture ? texture : asset ? asset : set->texture_directory;
}

static void read_group_range(const kki_mjcf_at *at, kki_mjcf_settings *set) {
    double range[2];
    if (kki_mjcf_numbers(at, "inertiagrouprange", 2, 2, range) == 2) {
        set->group_lower = range[0] > -1000 && range[0] < 1000 ? (int64_t)range[0] : 0;
        set->group_upper = range[1] > -1000 && range[1] < 1000 ? (int64_t)range[1] : 1000;
    }
}

void kki_mjcf_compiler(kki_mjcf *m, int32_t section) {
    static const kki_keyword angles[] = {{"degree", 1}, {"radian", 0}, {NULL, 0}};
    static const kki_keyword inertias[] = {
        {"false", KKI_MJCF_INERTIA_FALSE}, {"true", KKI_MJCF_INERTIA_TRUE}, {"auto", KKI_MJCF_INERTIA_AUTO}, {NULL, 0}};
    static const kki_keyword coordinates[] = {{"local", 0}, {NULL, 0}};
    const kki_mjcf_at at = kki_mjcf_element_here(m, section);
    kki_mjcf_settings *set = &m->set;
    set->angle = kki_mjcf_word(&at, "angle", angles, set->angle != 1) ? KK_PI / 180 : 1;
    set->inertia = kki_mjcf_word(&at, "inertiafromgeom", inertias, set->inertia);
    kki_mjcf_word(&at, "coordinate", coordinates, 0);
    set->auto_limits = kki_mjcf_truth(&at, "autolimits", set->auto_limits);
    set->balance = kki_mjcf_truth(&at, "balanceinertia", set->balance);
    set->discard_visual = kki_mjcf_truth(&at, "discardvisual", set->discard_visual);
    set->strip_path = kki_mjcf_truth(&at, "strippath", set->strip_path);
    set->bound_mass = kki_mjcf_number(&at, "boundmass", set->bound_mass);
    set->bound_inertia = kki_mjcf_number(&at, "boundinertia", set->bound_inertia);
    set->total_mass = kki_mjcf_number(&at, "settotalmass", set->total_mass);
    read_euler_sequence(&at);
    read_directories(&at, set);
    read_group_range(&at, set);
    for (int32_t c = kki_xml_first(m->xml, section, NULL); c != KKI_XML_NONE; c = kki_xml_next(m->xml, c, NULL)) {
        if (kki_mjcf_is_read(m, "mujoco/compiler", c)) {
            const kki_mjcf_at range = kki_mjcf_element_here(m, c);
            set->uses_limits = kki_mjcf_truth(&range, "uselimit", false);
            set->uses_no_range = !kki_mjcf_truth(&range, "useexisting", true);
        }
    }
}

// ---- option

void kki_mjcf_share_options(kki_mjcf *m) {
    const kki_mjcf_settings *from = &m->scope_set[0];
    for (int i = 1; i < m->tree->scope_count; i++) {
        kki_mjcf_settings *to = &m->scope_set[i];
        to->no_gravity = from->no_gravity;
        to->no_contact = from->no_contact;
        to->no_limit = from->no_limit;
        to->no_friction = from->no_friction;
        to->no_spring = from->no_spring;
        to->no_damper = from->no_damper;
        to->no_equality = from->no_equality;
        to->no_actuation = from->no_actuation;
        to->no_sensor = from->no_sensor;
    }
}

static bool is_disabled(const kki_mjcf_at *at, const char *name, bool before) {
    static const kki_keyword words[] = {{"enable", 0}, {"disable", 1}, {NULL, 0}};
    return kki_mjcf_word(at, name, words, before) != 0;
}

static void read_flags(kki_mjcf *m, int32_t flag) {
    const kki_mjcf_at at = kki_mjcf_element_here(m, flag);
    kki_mjcf_settings *set = &m->set;
    kk_options *options = kk_spec_options(m->loader->spec);
    const bool no_passive = is_disabled(&at, "passive", false);
    const bool no_constraint = is_disabled(&at, "constraint", false);
    set->no_gravity = is_disabled(&at, "gravity", set->no_gravity);
    set->no_contact = is_disabled(&at, "contact", set->no_contact) || no_constraint;
    set->no_limit = is_disabled(&at, "limit", set->no_limit) || no_constraint;
    set->no_friction = is_disabled(&at, "frictionloss", set->no_friction) || no_constraint;
    set->no_spring = is_disabled(&at, "spring", set->no_spring || no_passive);
    set->no_damper = is_disabled(&at, "damper", set->no_damper || no_passive);
    set->no_equality = is_disabled(&at, "equality", set->no_equality) || no_constraint;
    set->no_actuation = is_disabled(&at, "actuation", set->no_actuation);
    set->no_sensor = is_disabled(&at, "sensor", set->no_sensor);
    options->adjacent_collide = is_disabled(&at, "filterparent", options->adjacent_collide != 0);
}

static void report_conflict(kki_mjcf *m, int32_t section, const char *name) {
    kki_mjcf_report(m, KKI_WARNING, KK_OK, section, name,
                    "%s of the attached model '%s' differs from the main model's, which holds for all; make them equal",
                    name, m->tree->scope[m->scope].model);
}

/// The options of an attached model: MuJoCo keeps the main model's and tells where they differ.
static void compare_options(kki_mjcf *m, int32_t section, kk_integrator integrator) {
    const kki_mjcf_at at = kki_mjcf_element_here(m, section);
    const kk_options *options = kk_spec_options(m->loader->spec);
    const kk_vec3 g = kki_mjcf_vector(&at, "gravity", options->gravity);
    if (g.x != options->gravity.x || g.y != options->gravity.y || g.z != options->gravity.z) {
        report_conflict(m, section, "gravity");
    }
    if (kki_mjcf_number(&at, "timestep", options->timestep) != options->timestep) {
        report_conflict(m, section, "timestep");
    }
    if (integrator != options->integrator) {
        report_conflict(m, section, "integrator");
    }
}

void kki_mjcf_option(kki_mjcf *m, int32_t section) {
    static const kki_keyword integrators[] = {{"Euler", KK_INTEGRATOR_MIDPOINT},
                                              {"implicit", KK_INTEGRATOR_MIDPOINT},
                                              {"implicitfast", KK_INTEGRATOR_MIDPOINT},
                                              {"RK4", KK_INTEGRATOR_RK4},
                                              {NULL, 0}};
    const kki_mjcf_at at = kki_mjcf_element_here(m, section);
    kk_options *options = kk_spec_options(m->loader->spec);
    const kk_integrator integrator =
        (kk_integrator)kki_mjcf_word(&at, "integrator", integrators, (int)options->integrator);
    if (m->scope > 0) {
        compare_options(m, section, integrator);
        return;
    }
    options->gravity = kki_mjcf_vector(&at, "gravity", options->gravity);
    options->magnetic = kki_mjcf_vector(&at, "magnetic", options->magnetic);
    options->timestep = kki_mjcf_number(&at, "timestep", options->timestep);
    options->integrator = integrator;
    if (!(options->timestep > 0)) {
        kki_mjcf_report(m, kki_fault(m->loader), KK_INVALID_ARGUMENT, section, "timestep",
                        "the timestep must be positive; write 0.002");
        options->timestep = 0.002;
    }
    for (int32_t c = kki_xml_first(m->xml, section, NULL); c != KKI_XML_NONE; c = kki_xml_next(m->xml, c, NULL)) {
        if (kki_mjcf_is_read(m, "mujoco/option", c)) {
            read_flags(m, c);
        }
    }
}
