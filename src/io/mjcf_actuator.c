/// Actuators: force = gain · u + bias₀ + bias₁ · length + bias₂ · rate, as in MuJoCo, with its shortcuts.
#include <string.h>

#include "io/mjcf.h"

enum { OTHER = 100 };

// ---- transmission

/// A ball or free joint takes a gear for each degree; we drive one of them.
static bool choose_degree(const kki_mjcf_at *at, const kki_mjcf_joint *joint, const double gear[6],
                          kk_actuator_def *def) {
    def->gear = gear[0];
    if (joint->type == KK_JOINT_HINGE || joint->type == KK_JOINT_SLIDE) {
        return true;
    }
    int found = -1;
    const int first = joint->type == KK_JOINT_FREE ? 3 : 0; // MuJoCo has translation first
    for (int i = 0; i < 6; i++) {
        if (gear[i] != 0) {
            found = found < 0 && i >= first && i < first + 3 ? i : OTHER;
        }
    }
    if (found < 0 || found == OTHER) {
        kki_mjcf_report(at->m, KKI_WARNING, KK_OK, at->node, "joint",
                        "the actuator is left out: it drives several degrees of joint '%s'; drive a site instead",
                        joint->name);
        return false;
    }
    def->dof = found - first;
    def->gear = gear[found];
    return true;
}

static bool drive_joint(const kki_mjcf_at *at, const char *attribute, const double gear[6], kk_actuator_def *def) {
    kki_mjcf *m = at->m;
    const int item = kki_mjcf_refer(at, attribute, KKI_MJCF_JOINT);
    const kki_mjcf_joint *joint = item < 0 || m->item[item].made < 0 ? NULL : &m->joint[m->item[item].made];
    if (!joint) {
        return false;
    }
    if (strcmp(attribute, "jointinparent") == 0 && joint->type != KK_JOINT_HINGE && joint->type != KK_JOINT_SLIDE) {
        kki_mjcf_report(
            m, KKI_WARNING, KK_OK, at->node, attribute,
            "the actuator is left out: it turns joint '%s' about an axis of its parent; drive a site instead",
            joint->name);
        return false;
    }
    def->transmission = KK_TRANSMISSION_JOINT;
    def->target = joint->name;
    return choose_degree(at, joint, gear, def);
}

static const char *frame_name(const kki_mjcf_at *at, const char *attribute) {
    const int site = kki_mjcf_refer(at, attribute, KKI_MJCF_SITE);
    return site < 0 ? NULL : kk_spec_frame_const(at->m->loader->spec, at->m->item[site].made)->name;
}

static bool drive_site(const kki_mjcf_at *at, const double gear[6], kk_actuator_def *def) {
    def->transmission = KK_TRANSMISSION_FRAME;
    def->target = frame_name(at, "site");
    def->reference = kki_mjcf_text(at, "refsite") ? frame_name(at, "refsite") : NULL;
    def->gear = 1;
    def->direction = kk_force_make(kk_vec3_make(gear[3], gear[4], gear[5]), kk_vec3_make(gear[0], gear[1], gear[2]));
    return def->target != NULL;
}

static bool drive_tendon(const kki_mjcf_at *at, const double gear[6], kk_actuator_def *def) {
    const int tendon = kki_mjcf_refer(at, "tendon", KKI_MJCF_TENDON);
    if (tendon < 0) {
        return false;
    }
    def->transmission = KK_TRANSMISSION_TENDON;
    def->target = kk_spec_tendon_const(at->m->loader->spec, tendon)->name;
    def->gear = gear[0];
    return true;
}

static bool drive_crank(const kki_mjcf_at *at, const double gear[6], kk_actuator_def *def) {
    def->transmission = KK_TRANSMISSION_CRANK;
    def->target = frame_name(at, "cranksite");
    def->reference = kki_mjcf_text(at, "slidersite") ? frame_name(at, "slidersite") : NULL;
    def->gear = gear[0];
    def->rod_length = kki_mjcf_number(at, "cranklength", 0);
    if (def->target && !kki_mjcf_text(at, "slidersite")) {
        kki_mjcf_report(at->m, KKI_ERROR, KK_NOT_FOUND, at->node, NULL,
                        "the slider-crank has no slider; add slidersite=\"...\"");
    } else if (!(def->rod_length > 0)) {
        kki_mjcf_report(at->m, kki_fault(at->m->loader), KK_INVALID_ARGUMENT, at->node, "cranklength",
                        "the rod of the slider-crank has no length; write cranklength=\"0.5\"");
        def->rod_length = 1;
    }
    return def->target && def->reference;
}

static bool drive_body(const kki_mjcf_at *at, kk_actuator_def *def) {
    const int body = kki_mjcf_refer(at, "body", KKI_MJCF_BODY);
    if (body < 0) {
        return false;
    }
    def->transmission = KK_TRANSMISSION_BODY;
    def->target = kk_spec_body_const(at->m->loader->spec, at->m->body[body].id)->name;
    def->gear = 1;
    return true;
}

static bool read_transmission(const kki_mjcf_at *at, kk_actuator_def *def) {
    double gear[6] = {1, 0, 0, 0, 0, 0};
    kki_mjcf_numbers(at, "gear", 1, 6, gear);
    if (kki_mjcf_text(at, "joint") || kki_mjcf_text(at, "jointinparent")) {
        return drive_joint(at, kki_mjcf_text(at, "joint") ? "joint" : "jointinparent", gear, def);
    }
    if (kki_mjcf_text(at, "tendon")) {
        return drive_tendon(at, gear, def);
    }
    if (kki_mjcf_text(at, "site")) {
        return drive_site(at, gear, def);
    }
    if (kki_mjcf_text(at, "cranksite")) {
        return drive_crank(at, gear, def);
    }
    if (kki_mjcf_text(at, "body")) {
        return drive_body(at, def);
    }
    kki_mjcf_report(at->m, KKI_ERROR, KK_NOT_FOUND, at->node, NULL, "the actuator drives nothing; add joint=\"...\"");
    return false;
}

// ---- ranges

static void read_ranges(const kki_mjcf_at *at, kk_actuator_def *def) {
    double range[2];
    if (kki_mjcf_limits(at, "ctrllimited", "ctrlrange", range)) {
        def->control_lower = range[0];
        def->control_upper = range[1];
    }
    if (kki_mjcf_limits(at, "forcelimited", "forcerange", range)) {
        def->force_lower = range[0];
        def->force_upper = range[1];
    }
    if (kki_mjcf_limits(at, "actlimited", "actrange", range)) {
        def->activation_lower = range[0];
        def->activation_upper = range[1];
    }
    if (at->m->set.no_actuation) {
        def->force_lower = def->force_upper = 0;
    }
}

static bool range_of_target(const kki_mjcf_at *at, const kk_actuator_def *def, double range[2]) {
    kki_mjcf *m = at->m;
    if (def->transmission == KK_TRANSMISSION_JOINT) {
        const char *attribute = kki_mjcf_text(at, "joint") ? "joint" : "jointinparent";
        const kki_mjcf_joint *joint = &m->joint[m->item[kki_mjcf_refer(at, attribute, KKI_MJCF_JOINT)].made];
        range[0] = joint->lower;
        range[1] = joint->upper;
        return joint->is_limited;
    }
    if (def->transmission == KK_TRANSMISSION_TENDON) {
        const kk_tendon_def *tendon =
            kk_spec_tendon_const(m->loader->spec, kki_mjcf_refer(at, "tendon", KKI_MJCF_TENDON));
        range[0] = tendon->lower;
        range[1] = tendon->upper;
        return range[1] - range[0] < __builtin_inf();
    }
    return false;
}

/// inheritrange: the target's range about its middle.
static void inherit_range(const kki_mjcf_at *at, kk_actuator_def *def) {
    const double share = kki_mjcf_number(at, "inheritrange", 0);
    double range[2] = {0, 0};
    if (!(share > 0)) {
        return;
    }
    if (!range_of_target(at, def, range)) {
        kki_mjcf_report(at->m, KKI_ERROR, KK_INVALID_MODEL, at->node, "inheritrange",
                        "inheritrange needs a joint or tendon with a range; give '%s' one", def->target);
        return;
    }
    const double middle = (range[0] + range[1]) / 2, half = (range[1] - range[0]) / 2 * share;
    if (def->activation == KK_ACTIVATION_INTEGRATE) {
        def->activation_lower = middle - half;
        def->activation_upper = middle + half;
    } else {
        def->control_lower = middle - half;
        def->control_upper = middle + half;
    }
}

// ---- laws

static void set_position(const kki_mjcf_at *at, kk_actuator_def *def) {
    const double kp = kki_mjcf_number(at, "kp", 1), kv = kki_mjcf_number(at, "kv", 0);
    def->type = KK_ACTUATOR_POSITION;
    def->gain = kp;
    def->bias[1] = -kp;
    def->bias[2] = -kv;
}

static void set_filter(const kki_mjcf_at *at, double otherwise, kk_actuator_def *def) {
    def->time_constant = kki_mjcf_number(at, "timeconst", otherwise);
    def->activation = def->time_constant > 0 ? KK_ACTIVATION_FILTER : KK_ACTIVATION_NONE;
}

static void set_cylinder(const kki_mjcf_at *at, kk_actuator_def *def) {
    const double diameter = kki_mjcf_number(at, "diameter", 0);
    def->type = KK_ACTUATOR_GENERAL;
    def->gain = diameter > 0 ? KK_PI / 4 * diameter * diameter : kki_mjcf_number(at, "area", 1);
    kki_mjcf_numbers(at, "bias", 1, 3, def->bias);
    set_filter(at, 1, def);
}

/// <general>: false where the law is none of ours.
static bool set_general(const kki_mjcf_at *at, kk_actuator_def *def) {
    static const kki_keyword dynamics[] = {{"none", KK_ACTIVATION_NONE},
                                           {"integrator", KK_ACTIVATION_INTEGRATE},
                                           {"filter", KK_ACTIVATION_FILTER},
                                           {"filterexact", KK_ACTIVATION_FILTER},
                                           {"muscle", KK_ACTIVATION_MUSCLE},
                                           {"user", OTHER},
                                           {"dcmotor", OTHER},
                                           {"pid", OTHER},
                                           {NULL, 0}};
    static const kki_keyword gains[] = {{"fixed", 0},    {"affine", 1},   {"muscle", 2},
                                        {"user", OTHER}, {"none", OTHER}, {"dcmotor", OTHER},
                                        {"pid", OTHER},  {"so3", OTHER},  {NULL, 0}};
    const int dynamic = kki_mjcf_word(at, "dyntype", dynamics, KK_ACTIVATION_NONE);
    const int gain = kki_mjcf_word(at, "gaintype", gains, 0), bias = kki_mjcf_word(at, "biastype", gains, OTHER);
    double g[10] = {1}, b[10] = {0}, d[10] = {1};
    if (gain == 2 && (bias == 2 || bias == OTHER) && dynamic != OTHER) {
        return kki_mjcf_general_muscle(at, dynamic, bias == 2, def);
    }
    kki_mjcf_numbers(at, "gainprm", 1, 10, g);
    kki_mjcf_numbers(at, "biasprm", 1, 10, b);
    kki_mjcf_numbers(at, "dynprm", 1, 10, d);
    const bool is_damper = gain == 1 && g[0] == 0 && g[1] == 0;
    const bool has_bias = bias != OTHER || kki_mjcf_has(at, "biastype");
    const bool bias_is_known =
        !has_bias || bias == 1 || (kki_mjcf_text(at, "biastype") && strcmp(kki_mjcf_text(at, "biastype"), "none") == 0);
    if (dynamic == OTHER || gain > 1 || (gain == 1 && !is_damper) || !bias_is_known) {
        kki_mjcf_report(at->m, KKI_WARNING, KK_OK, at->node, NULL,
                        "the actuator is left out; only fixed gain and affine bias, or muscles, with filters, "
                        "integrators or muscles' "
                        "dynamics are supported");
        return false;
    }
    def->type = is_damper ? KK_ACTUATOR_DAMPER : KK_ACTUATOR_GENERAL;
    def->gain = is_damper ? -g[2] : g[0];
    def->activation = (kk_activation)dynamic;
    def->time_constant = dynamic == KK_ACTIVATION_FILTER ? d[0] : 0;
    if (dynamic == KK_ACTIVATION_MUSCLE) {
        kki_mjcf_muscle_dynamics(at, "dynprm", def);
    }
    if (bias != 1 && (b[0] != 0 || b[1] != 0 || b[2] != 0)) {
        kki_mjcf_report(at->m, KKI_WARNING, KK_OK, at->node, "biasprm",
                        "biasprm has no effect without biastype=\"affine\"; add it");
    }
    for (int i = 0; i < 3 && bias == 1; i++) {
        def->bias[i] = b[i];
    }
    return true;
}

/// A motor on a voltage V: the torque K (V − K ω)/R.
static bool set_dcmotor(const kki_mjcf_at *at, kk_actuator_def *def) {
    double constant[2] = {0, 0}, nominal[3] = {0, 0, 0}, limit[3] = {0, 0, 0}, resistance = 0;
    const char *input = kki_mjcf_text(at, "input");
    kki_mjcf_numbers(at, "motorconst", 1, 2, constant);
    kki_mjcf_numbers(at, "nominal", 1, 3, nominal);
    kki_mjcf_numbers(at, "saturation", 1, 3, limit);
    double K = constant[0] > 0 && constant[1] > 0 ? kk_sqrt(constant[0] * constant[1])
               : constant[0] > 0                  ? constant[0]
                                                  : constant[1];
    K = K > 0 ? K : nominal[2] > 0 ? nominal[0] / nominal[2] : 0;
    resistance = kki_mjcf_number(at, "resistance", nominal[1] > 0 ? K * nominal[0] / nominal[1] : 0);
    if ((input && strcmp(input, "voltage") != 0) || !(K > 0) || !(resistance > 0)) {
        kki_mjcf_report(at->m, KKI_WARNING, KK_OK, at->node, NULL,
                        "the motor is left out; only input=\"voltage\" with a positive motorconst and resistance, or "
                        "nominal, is supported");
        return false;
    }
    def->type = KK_ACTUATOR_GENERAL;
    def->gain = K / resistance;
    def->bias[2] = -K * K / resistance;
    const double most = limit[0] > 0 ? limit[0] : K * limit[1];
    if (most > 0) {
        def->force_lower = -most;
        def->force_upper = most;
    }
    return true;
}

static bool set_law(const kki_mjcf_at *at, kk_actuator_def *def) {
    const char *name = kki_xml_name(at->m->xml, at->node);
    if (strcmp(name, "general") == 0) {
        return set_general(at, def);
    }
    if (strcmp(name, "position") == 0) {
        set_position(at, def);
        set_filter(at, 0, def);
    } else if (strcmp(name, "intvelocity") == 0) {
        set_position(at, def);
        def->activation = KK_ACTIVATION_INTEGRATE;
    } else if (strcmp(name, "velocity") == 0) {
        def->type = KK_ACTUATOR_VELOCITY;
        def->gain = kki_mjcf_number(at, "kv", 1);
        def->bias[2] = -def->gain;
    } else if (strcmp(name, "damper") == 0) {
        def->type = KK_ACTUATOR_DAMPER;
        def->gain = kki_mjcf_number(at, "kv", 1);
    } else if (strcmp(name, "cylinder") == 0) {
        set_cylinder(at, def);
    } else if (strcmp(name, "muscle") == 0) {
        kki_mjcf_set_muscle(at, def);
    } else if (strcmp(name, "adhesion") == 0) {
        def->gain = kki_mjcf_number(at, "gain", 1);
    } else if (strcmp(name, "dcmotor") == 0) {
        return set_dcmotor(at, def);
    }
    return true; // <motor> is the default
}

static void add_servo(const kki_mjcf_at *at, int actuator, const kk_actuator_def *def) {
    const double ratio = kki_mjcf_number(at, "dampratio", 0);
    if (!(ratio > 0)) {
        return;
    }
    if (def->gain < 0 && def->transmission != KK_TRANSMISSION_FRAME && def->gear != 0) {
        kki_mjcf_report(at->m, kki_fault(at->m->loader), KK_INVALID_ARGUMENT, at->node, "kp",
                        "kp is negative, so no damping has the ratio of dampratio; write a positive kp");
        return;
    }
    kki_mjcf_servo *servo = KKI_MJCF_PUSH(at->m, servo);
    if (servo) {
        *servo = (kki_mjcf_servo){actuator, ratio, at->node};
    }
}

static void read_delay(const kki_mjcf_at *at, kk_actuator_def *def) {
    static const kki_keyword words[] = {
        {"zoh", KK_DELAY_HOLD}, {"linear", KK_DELAY_LINEAR}, {"cubic", KK_DELAY_CUBIC}, {NULL, 0}};
    def->delay = kki_mjcf_number(at, "delay", 0);
    def->delay_samples = (int)kki_mjcf_whole(at, "nsample", 0, 1000000, 0);
    def->delay_interpolation = (kk_delay_interpolation)kki_mjcf_word(at, "interp", words, KK_DELAY_HOLD);
    if (def->delay > 0 && def->delay_samples == 0) {
        kki_mjcf_report(at->m, kki_fault(at->m->loader), KK_INVALID_ARGUMENT, at->node, "delay",
                        "a delay needs samples; add nsample=\"...\", delay / timestep of them");
        def->delay = 0;
    }
}

/// Damping and armature of the actuator's own are its joint's or tendon's, times gear².
static void add_own_load(const kki_mjcf_at *at, const kk_actuator_def *def) {
    double damping[3] = {0, 0, 0};
    kki_mjcf *m = at->m;
    kki_mjcf_numbers(at, "damping", 1, 3, damping);
    const double square = def->gear * def->gear, armature = kki_mjcf_number(at, "armature", 0) * square;
    damping[0] *= m->set.no_damper ? 0 : square;
    if (damping[0] == 0 && armature == 0) {
        return;
    }
    if (def->transmission == KK_TRANSMISSION_TENDON) {
        kk_tendon_def *t = kk_spec_tendon(m->loader->spec, kki_mjcf_name_get(m, KKI_MJCF_TENDON, def->target));
        t->damping += damping[0];
        t->armature += armature;
    } else if (def->transmission == KK_TRANSMISSION_JOINT) {
        const char *attribute = kki_mjcf_text(at, "joint") ? "joint" : "jointinparent";
        const int body = m->joint[m->item[kki_mjcf_refer(at, attribute, KKI_MJCF_JOINT)].made].body;
        kk_dof_def *dof = &kk_spec_body(m->loader->spec, body)->joint.dof[def->dof];
        dof->damping += damping[0];
        dof->armature += armature;
    } else {
        kki_mjcf_report(m, KKI_WARNING, KK_OK, at->node, damping[0] != 0 ? "damping" : "armature",
                        "damping and armature of an actuator need a joint or a tendon; they are left out");
    }
}

/// Into the spec, as the last control's; its id, −1 where that failed.
static int add_actuator(const kki_mjcf_at *at, kk_actuator_def *def) {
    kki_mjcf *m = at->m;
    int id = -1;
    read_delay(at, def);
    def->origin = kki_origin_of_node(m->xml, at->node);
    if (kki_mjcf_stop(m, kk_spec_add_actuator(m->loader->spec, def, &id, &m->error)) != KK_OK) {
        return -1;
    }
    m->control[m->control_count - 1].actuator = id;
    return id;
}

static bool begin_control(kki_mjcf *m, int32_t node) {
    kki_mjcf_control *control = KKI_MJCF_PUSH(m, control);
    if (control) {
        *control = (kki_mjcf_control){-1, node};
        m->controls_left_out += m->series ? m->series->copies - 1 : 0;
    }
    return control != NULL;
}

static void name_actuator(kki_mjcf *m, int32_t node, const char *name, int id) {
    kki_mjcf_name_put(m, KKI_MJCF_ACTUATOR, name, id, node);
    if (m->suffix[0] && name) {
        kki_mjcf_add_copy(m, KKI_MJCF_ACTUATOR, kki_xml_value(m->xml, node, "name"), m->suffix, m->series, m->instance);
    }
}

// ---- <pid>: a control for each input, and an actuator for each control. The first one has the feedback.

enum { PID_POSITION, PID_VELOCITY, PID_FORCE, PID_INPUTS };

static bool has_input(const char *input, const char *token) {
    const size_t length = strlen(token);
    for (const char *at = input; (at = strstr(at, token)) != NULL; at += length) {
        if ((at == input || at[-1] == ' ') && (at[length] == 0 || at[length] == ' ')) {
            return true;
        }
    }
    return false;
}

static void set_pid_input(const kki_mjcf_at *at, int input, bool is_first, kk_actuator_def *def) {
    static const char *const ranges[PID_INPUTS] = {"posrange", "velrange", "ffrange"};
    const double kp = kki_mjcf_number(at, "kp", 1), kv = kki_mjcf_number(at, "kv", 0);
    double range[2];
    def->type = is_first && input == PID_POSITION ? KK_ACTUATOR_POSITION : KK_ACTUATOR_GENERAL;
    def->gain = input == PID_POSITION ? kp : input == PID_VELOCITY ? kv : 1;
    def->bias[1] = is_first ? -kp : 0;
    def->bias[2] = is_first ? -kv : 0;
    read_ranges(at, def);
    if (kki_mjcf_numbers(at, ranges[input], 2, 2, range) == 2 && range[0] < range[1]) {
        def->control_lower = range[0];
        def->control_upper = range[1];
    } else if (!is_first) {
        def->control_lower = -__builtin_inf(); // ctrlrange is that of the first
        def->control_upper = __builtin_inf();
    }
}

static void read_pid(kki_mjcf *m, int32_t node) {
    static const char *const tokens[PID_INPUTS] = {"pos", "vel", "ff"};
    const kki_mjcf_at at = kki_mjcf_element_of_class(m, node, KKI_MJCF_OF_ACTUATOR, 0);
    const char *input = kki_mjcf_text(&at, "input") ? kki_mjcf_text(&at, "input") : "pos vel";
    const char *name = kki_mjcf_own_name(m, node);
    bool is_first = true;
    for (int i = 0; i < PID_INPUTS; i++) {
        kk_actuator_def def = kk_actuator_def_default();
        if (!has_input(input, tokens[i]) || !begin_control(m, node) || !read_transmission(&at, &def)) {
            continue;
        }
        set_pid_input(&at, i, is_first, &def);
        if (is_first) {
            inherit_range(&at, &def);
        }
        def.name = is_first || !name ? name : kki_mjcf_join(m, name, i == PID_VELOCITY ? "/vel" : "/ff");
        const int id = add_actuator(&at, &def);
        if (is_first && id >= 0) {
            name_actuator(m, node, name, id);
            add_own_load(&at, &def);
            add_servo(&at, id, &def);
        } else if (def.force_upper < __builtin_inf() && !m->set.no_actuation) {
            kki_mjcf_report(
                m, KKI_WARNING, KK_OK, node, "forcerange",
                "forcerange limits what each input of the pid gives, not their sum; leave it out, or use position");
        }
        is_first = false;
    }
}

static void read_actuator(kki_mjcf *m, int32_t node) {
    const kki_mjcf_at at = kki_mjcf_element_of_class(m, node, KKI_MJCF_OF_ACTUATOR, 0);
    kk_actuator_def def = kk_actuator_def_default();
    if (kki_xml_is(m->xml, node, "pid")) {
        read_pid(m, node);
        return;
    }
    if (!begin_control(m, node) || !set_law(&at, &def) || !read_transmission(&at, &def)) {
        return;
    }
    read_ranges(&at, &def);
    inherit_range(&at, &def);
    def.name = kki_mjcf_own_name(m, node);
    const int id = add_actuator(&at, &def);
    if (id < 0) {
        return;
    }
    name_actuator(m, node, def.name, id);
    add_own_load(&at, &def);
    add_servo(&at, id, &def);
    if (def.type == KK_ACTUATOR_MUSCLE) {
        kki_mjcf_note_muscle(&at, id);
    }
}

/// What is not read has a control all the same, which counts in keyframes.
static void leave_out(kki_mjcf *m, int32_t node) {
    begin_control(m, node);
}

static kki_mjcf_reader *choose(kki_mjcf *m, int32_t node) {
    return kki_mjcf_is_read(m, "actuator", node) ? read_actuator : leave_out;
}

void kki_mjcf_actuator(kki_mjcf *m, int32_t section) {
    kki_mjcf_each(m, section, choose);
}
