/// Writing MJCF: what refers to the bodies of the tree, from contacts to keyframes.
#include "io/mjcf_write.h"

#include <stdarg.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/print.h"
#include "io/mjcf.h"

enum { MOST_TEXT = 1200 };

// ---- small parts

void kki_mjcf_put_word(kki_xml_writer *w, const char *name, const char *prefix, int number) {
    char text[64];
    kki_print(text, sizeof text, "%s%d", prefix, number);
    kki_xml_put(w, name, text);
}

void kki_mjcf_put_range(kki_xml_writer *w, const char *name, double lower, double upper) {
    const double far = 1e10; // MuJoCo's ranges have two ends
    if (__builtin_isinf(lower) && __builtin_isinf(upper)) {
        return;
    }
    kki_xml_put_numbers(
        w, name, (const double[2]){__builtin_isinf(lower) ? -far : lower, __builtin_isinf(upper) ? far : upper}, 2);
}

void kki_mjcf_put_shape_name(kki_xml_writer *w, const char *attribute, const kk_spec *spec, int id) {
    const char *name = kk_spec_shape_const(spec, id)->name;
    if (name && name[0]) {
        kki_xml_put(w, attribute, name);
    } else {
        kki_mjcf_put_word(w, attribute, "shape", id);
    }
}

const char *kki_mjcf_body_name(const kki_mjcf_output *o, int id) {
    return kk_spec_body_const(o->spec, id)->name;
}

void kki_mjcf_comment(kki_mjcf_output *o, const char *format, ...) {
    char text[MOST_TEXT];
    va_list arguments;
    va_start(arguments, format);
    kki_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    kki_xml_comment(&o->w, text);
}

// ---- contacts and loops

// ---- pairs that MuJoCo would let touch

static int fixed_sibling(const kki_mjcf_output *o, int id) {
    while (id >= 0 && kk_spec_body_const(o->spec, id)->joint.type != KK_JOINT_FIXED) {
        id = o->next_sibling[id];
    }
    return id;
}

/// The body behind `at` among those that are fixed to `root`, parents first; −1: there is none.
static int next_of_group(const kki_mjcf_output *o, int root, int at) {
    int next = fixed_sibling(o, o->first_child[at]);
    while (next < 0 && at != root) {
        next = fixed_sibling(o, o->next_sibling[at]);
        at = kk_spec_body_const(o->spec, at)->parent;
    }
    return next;
}

static bool collides(const kki_mjcf_output *o, int body) {
    for (int i = o->shape_first[body]; i >= 0; i = o->shape_next[i]) {
        if (kk_spec_shape_const(o->spec, i)->purpose & KK_SHAPE_COLLIDES) {
            return true;
        }
    }
    return false;
}

static bool is_excluded(const kk_spec *s, int a, int b) {
    for (int i = 0; i < s->nexclude; i++) {
        const int *body = s->exclude[i].body;
        if ((body[0] == a && body[1] == b) || (body[0] == b && body[1] == a)) {
            return true;
        }
    }
    return false;
}

static void write_exclude(kki_mjcf_output *o, int a, int b) {
    kki_xml_open(&o->w, "exclude");
    kki_xml_put(&o->w, "body1", kki_mjcf_body_name(o, a));
    kki_xml_put(&o->w, "body2", kki_mjcf_body_name(o, b));
    kki_xml_close(&o->w, "exclude");
}

/// The body on the world that the joint of a link stands on; −1: the joint stands on something that moves, on the world or on a part of it.
static int pedestal_of(const kki_mjcf_output *o, int link) {
    const kk_spec *s = o->spec;
    const kk_joint_type type = kk_spec_body_const(s, link)->joint.type;
    int id = kk_spec_body_const(s, link)->parent;
    while (id > KK_WORLD && kk_spec_body_const(s, id)->is_joint_part) {
        id = kk_spec_body_const(s, id)->parent;
    }
    while (id > KK_WORLD && kk_spec_body_const(s, id)->parent > KK_WORLD &&
           kk_spec_body_const(s, id)->joint.type == KK_JOINT_FIXED) {
        id = kk_spec_body_const(s, id)->parent;
    }
    const kk_body_def *root = kk_spec_body_const(s, id);
    const bool is_pedestal = id > KK_WORLD && root->joint.type == KK_JOINT_FIXED && !root->is_ground;
    return type != KK_JOINT_FIXED && type != KK_JOINT_FREE && is_pedestal ? id : -1;
}

/// To MuJoCo a pedestal is a part of the world, which is nobody's neighbor.
static void write_pedestals(kki_mjcf_output *o) {
    const bool are_neighbors = !kk_spec_options_const(o->spec)->adjacent_collide;
    for (int link = 1; are_neighbors && link < kk_spec_body_count(o->spec); link++) {
        const int root = pedestal_of(o, link);
        for (int a = root; a >= 0; a = next_of_group(o, root, a)) {
            for (int b = link; collides(o, a) && b >= 0; b = next_of_group(o, link, b)) {
                if (collides(o, b) && !is_excluded(o->spec, a, b)) {
                    write_exclude(o, a, b);
                }
            }
        }
    }
}

static void write_contacts(kki_mjcf_output *o) {
    kki_xml_writer *w = &o->w;
    kki_xml_open(w, "contact");
    kki_mjcf_tell_contacts(&o->contacts, w);
    for (int i = 0; i < kk_spec_pair_count(o->spec); i++) {
        const kk_pair_def *p = kk_spec_pair_const(o->spec, i);
        kki_xml_open(w, "pair");
        kki_mjcf_put_shape_name(w, "geom1", o->spec, p->shape[0]);
        kki_mjcf_put_shape_name(w, "geom2", o->spec, p->shape[1]);
        if (p->material >= 0) {
            kki_mjcf_put_contact(&o->contacts, w, p->material, KK_WORLD, true);
        }
        kki_xml_put_unless(w, "margin", p->margin, 0);
        kki_xml_close(w, "pair");
    }
    for (int i = 0; i < kk_spec_exclude_count(o->spec); i++) {
        const kk_exclude_def *e = kk_spec_exclude_const(o->spec, i);
        write_exclude(o, e->body[0], e->body[1]);
    }
    write_pedestals(o);
    kki_xml_close(w, "contact");
}

static void write_loop(kki_mjcf_output *o, const kk_loop_def *l) {
    kki_xml_writer *w = &o->w;
    const bool is_point = l->type == KK_LOOP_POINT;
    if (!is_point && l->type != KK_LOOP_WELD) {
        kki_mjcf_comment(o, "loop %s between %s and %s has no counterpart in MJCF", l->name ? l->name : "",
                         kki_mjcf_body_name(o, l->body[0]), kki_mjcf_body_name(o, l->body[1]));
        return;
    }
    // MuJoCo takes the second anchor of a connect from the rest pose, where the loop is closed
    kki_xml_open(w, is_point ? "connect" : "weld");
    kki_xml_put_if(w, "name", l->name);
    kki_xml_put(w, "body1", kki_mjcf_body_name(o, l->body[0]));
    kki_xml_put(w, "body2", kki_mjcf_body_name(o, l->body[1]));
    if (is_point) {
        kki_xml_put_vec3(w, "anchor", l->placement[0].p);
    } else {
        const kk_transform X = kk_transform_mul(l->placement[0], kk_transform_inverse(l->placement[1]));
        const kk_quat q = kk_quat_from_mat3(X.R);
        kki_xml_put_numbers(w, "relpose", (const double[7]){X.p.x, X.p.y, X.p.z, q.w, q.x, q.y, q.z}, 7);
        kki_xml_put_vec3(w, "anchor", l->placement[1].p);
    }
    if (!l->is_active) {
        kki_xml_put(w, "active", "false");
    }
    kki_xml_close(w, is_point ? "connect" : "weld");
}

static int tendon_of(const kk_spec *spec, const char *name) {
    for (int i = 0; name && i < kk_spec_tendon_count(spec); i++) {
        if (strcmp(kk_spec_tendon_const(spec, i)->name, name) == 0) {
            return i;
        }
    }
    return -1;
}

/// A held length as MuJoCo has it: from the lengths of the pose in which all joints are zero on.
static void write_held_tendon(kki_mjcf_output *o, const kk_tendon_def *t, double own, double led) {
    double c[5];
    for (int k = 0; k < 5; k++) { // Taylor's coefficients at `led`
        double sum = 0, power = 1, choose = 1;
        for (int i = k; i < 5; i++) {
            sum += choose * t->held[i] * power;
            power *= led;
            choose = choose * (i + 1) / (i + 1 - k);
        }
        c[k] = sum;
    }
    c[0] -= own;
    kki_xml_open(&o->w, "tendon");
    kki_xml_put(&o->w, "tendon1", t->name);
    kki_xml_put_if(&o->w, "tendon2", t->leader);
    kki_xml_put_numbers(&o->w, "polycoef", c, t->leader ? 5 : 1);
    kki_xml_close(&o->w, "tendon");
}

/// Lengths of tendons need the model.
static void write_held(kki_mjcf_output *o) {
    kk_model *model = NULL;
    kk_data *data = NULL;
    double *q = NULL;
    size_t nq = 0;
    int any = 0;
    for (int i = 0; i < kk_spec_tendon_count(o->spec); i++) {
        any |= kk_spec_tendon_const(o->spec, i)->is_held;
    }
    if (!any || o->status != KK_OK) {
        return;
    }
    kk_status status = kk_model_compile(o->spec, &o->w.allocator, &model, o->error);
    status = status ? status : kk_data_create(model, &o->w.allocator, &data);
    if (status == KK_OK) {
        nq = (size_t)kk_model_nq(model);
        q = kki_allocate_array(&o->w.allocator, nq, sizeof *q);
        status = q ? KK_OK : KK_OUT_OF_MEMORY;
    }
    if (status == KK_OK) {
        kk_model_neutral(model, q);
        kk_kinematics(model, data, q);
    }
    for (int i = 0; i < kk_spec_tendon_count(o->spec) && status == KK_OK; i++) {
        const kk_tendon_def *t = kk_spec_tendon_const(o->spec, i);
        const int leader = tendon_of(o->spec, t->leader);
        if (t->is_held) {
            write_held_tendon(o, t, kk_tendon_length(model, data, i, q),
                              leader < 0 ? 0 : kk_tendon_length(model, data, leader, q));
        }
    }
    o->status = status;
    kki_release_array(&o->w.allocator, q, nq, sizeof *q);
    kk_data_free(data);
    kk_model_free(model);
}

static void write_equalities(kki_mjcf_output *o) {
    kki_xml_writer *w = &o->w;
    kki_xml_open(w, "equality");
    for (int i = 0; i < kk_spec_loop_count(o->spec); i++) {
        write_loop(o, kk_spec_loop_const(o->spec, i));
    }
    write_held(o);
    for (int i = 0; i < kk_spec_coupling_count(o->spec); i++) {
        const kk_coupling_def *c = kk_spec_coupling_const(o->spec, i);
        kki_xml_open(w, "joint");
        kki_xml_put_if(w, "name", c->name);
        kki_xml_put(w, "joint1", c->follower);
        kki_xml_put(w, "joint2", c->leader);
        kki_xml_put_numbers(w, "polycoef", (const double[5]){c->offset, c->ratio, 0, 0, 0}, 5);
        kki_xml_close(w, "joint");
    }
    kki_xml_close(w, "equality");
}

// ---- tendons, actuators, sensors

static void write_tendon(kki_mjcf_output *o, const kk_tendon_def *t) {
    kki_xml_writer *w = &o->w;
    const bool is_fixed = t->type == KK_TENDON_FIXED;
    kki_xml_open(w, is_fixed ? "fixed" : "spatial");
    kki_xml_put(w, "name", t->name);
    kki_mjcf_put_range(w, "range", t->lower, t->upper);
    kki_xml_put_unless(w, "stiffness", t->stiffness, 0);
    kki_xml_put_unless(w, "damping", t->damping, 0);
    kki_xml_put_unless(w, "frictionloss", t->friction, 0);
    kki_xml_put_unless(w, "armature", t->armature, 0);
    kki_mjcf_put_range(w, "actuatorfrcrange", t->pull_lower, t->pull_upper);
    kki_xml_put_numbers(w, "springlength", (const double[2]){t->rest_lower, t->rest_upper}, 2);
    for (int i = 0; i < t->item_count; i++) {
        const kk_tendon_item *item = &t->item[i];
        const char *element = is_fixed ? "joint" : item->wrap ? "geom" : item->name ? "site" : "pulley";
        kki_xml_open(w, element);
        if (item->wrap || item->name) {
            kki_xml_put(w, element, item->wrap ? item->wrap : item->name);
        }
        kki_xml_put_if(w, "sidesite", item->side);
        if (is_fixed || (!item->name && !item->wrap)) {
            kki_xml_put_number(w, is_fixed ? "coef" : "divisor", item->coefficient);
        }
        kki_xml_close(w, element);
    }
    kki_xml_close(w, is_fixed ? "fixed" : "spatial");
}

/// As MuJoCo packs it; scale has no effect where the force is given.
static void write_muscle(kki_xml_writer *w, const kk_muscle_def *m) {
    const double v[9] = {m->range[0], m->range[1], m->force, 200, m->lmin, m->lmax, m->vmax, m->fpmax, m->fvmax};
    kki_xml_put(w, "gaintype", "muscle");
    kki_xml_put_numbers(w, "gainprm", v, 9);
    kki_xml_put(w, "biastype", "muscle");
    kki_xml_put_numbers(w, "biasprm", v, 9);
    kki_xml_put_numbers(w, "lengthrange", (const double[2]){m->length_lower, m->length_upper}, 2);
}

static void write_delay(kki_xml_writer *w, const kk_actuator_def *a) {
    static const char *const words[] = {"zoh", "linear", "cubic"};
    if (a->delay_samples > 0) {
        kki_xml_put_number(w, "delay", a->delay);
        kki_xml_put_number(w, "nsample", a->delay_samples);
        kki_xml_put(w, "interp", words[a->delay_interpolation]);
    }
}

static void write_lag(kki_xml_writer *w, const kk_actuator_def *a) {
    static const char *const words[] = {"none", "filterexact", "integrator", "muscle"};
    const kk_muscle_def *m = &a->muscle;
    if (a->activation == KK_ACTIVATION_NONE) {
        return;
    }
    kki_xml_put(w, "dyntype", words[a->activation]);
    if (a->activation == KK_ACTIVATION_FILTER) {
        kki_xml_put_number(w, "dynprm", a->time_constant);
    } else if (a->activation == KK_ACTIVATION_MUSCLE) {
        kki_xml_put_numbers(w, "dynprm", (const double[3]){m->time_constant[0], m->time_constant[1], m->smoothing}, 3);
    }
    kki_mjcf_put_range(w, "actrange", a->activation_lower, a->activation_upper);
}

static void write_law(kki_xml_writer *w, const kk_actuator_def *a) {
    write_lag(w, a);
    if (a->type == KK_ACTUATOR_MUSCLE) {
        write_muscle(w, &a->muscle);
        return;
    }
    if (a->type == KK_ACTUATOR_DAMPER) {
        kki_xml_put(w, "gaintype", "affine");
        kki_xml_put_numbers(w, "gainprm", (const double[3]){0, 0, -a->gain}, 3);
    } else {
        kki_xml_put_number(w, "gainprm", a->gain);
    }
    if (a->bias[0] != 0 || a->bias[1] != 0 || a->bias[2] != 0) {
        kki_xml_put(w, "biastype", "affine");
        kki_xml_put_numbers(w, "biasprm", a->bias, 3);
    }
}

static void write_actuator(kki_mjcf_output *o, const kk_actuator_def *a) {
    static const char *const targets[] = {"joint", "tendon", "site", "body", "cranksite"};
    kki_xml_writer *w = &o->w;
    kki_xml_open(w, "general");
    kki_xml_put_if(w, "name", a->name);
    kki_xml_put(w, targets[a->transmission], a->target);
    if (a->transmission == KK_TRANSMISSION_FRAME) {
        const kk_vec3 f = a->direction.linear, n = a->direction.angular;
        const double g = a->gear;
        kki_xml_put_if(w, "refsite", a->reference);
        kki_xml_put_numbers(w, "gear", (const double[6]){f.x * g, f.y * g, f.z * g, n.x * g, n.y * g, n.z * g}, 6);
    } else {
        double gear[6] = {0};
        if (a->transmission == KK_TRANSMISSION_CRANK) {
            kki_xml_put_if(w, "slidersite", a->reference);
            kki_xml_put_number(w, "cranklength", a->rod_length);
        }
        gear[a->dof < 3 ? a->dof : 0] = a->gear;
        kki_xml_put_numbers(w, "gear", gear, 6);
    }
    kki_mjcf_put_range(w, "ctrlrange", a->control_lower, a->control_upper);
    kki_mjcf_put_range(w, "forcerange", a->force_lower, a->force_upper);
    write_law(w, a);
    write_delay(w, a);
    kki_xml_close(w, "general");
}

static bool is_frame(const kki_mjcf_output *o, const char *name) {
    for (int i = 0; i < kk_spec_frame_count(o->spec); i++) {
        if (strcmp(kk_spec_frame_const(o->spec, i)->name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void write_side(kki_xml_writer *w, int number, kk_sensor_side side, const char *name) {
    static const char *const names[2][4] = {{NULL, "geom1", "body1", "subtree1"}, {NULL, "geom2", "body2", "subtree2"}};
    if (side != KK_SIDE_ANY) {
        kki_xml_put(w, names[number][side], name);
    }
}

static void write_contact_sensor(kki_xml_writer *w, const kk_sensor_def *s) {
    static const char *const words[] = {"found", "force", "torque", "dist", "pos", "normal", "tangent"};
    static const char *const choices[] = {"none", "mindist", "maxforce", "netforce"};
    char data[80] = "", number[16];
    for (int i = 0; i < 7; i++) {
        if (s->tell >> i & 1) {
            const size_t length = strlen(data);
            kki_print(data + length, sizeof data - length, "%s%s", length ? " " : "", words[i]);
        }
    }
    kki_print(number, sizeof number, "%d", s->slots);
    kki_xml_put_if(w, "site", s->zone_frame);
    kki_xml_put(w, "num", number);
    kki_xml_put(w, "data", data);
    kki_xml_put(w, "reduce", choices[s->choice]);
}

/// Distances and contacts.
static void write_sides(kki_mjcf_output *o, const char *word, const kk_sensor_def *s) {
    kki_xml_writer *w = &o->w;
    kki_xml_open(w, word);
    kki_xml_put_if(w, "name", s->name);
    write_side(w, 0, s->side[0], s->target);
    write_side(w, 1, s->side[1], s->reference);
    if (s->type == KK_SENSOR_CONTACTS) {
        write_contact_sensor(w, s);
    }
    kki_xml_put_unless(w, "noise", s->noise, 0);
    kki_xml_put_unless(w, "cutoff", s->cutoff, 0);
    kki_xml_close(w, word);
}

static void write_sensor(kki_mjcf_output *o, const kk_sensor_def *s) {
    kki_xml_writer *w = &o->w;
    if (s->type >= KK_SENSOR_DISTANCE) {
        const char *sides = NULL;
        write_sides(o, kki_mjcf_sensor_word(s->type, &sides), s);
        return;
    }
    const char *on = NULL, *word = kki_mjcf_sensor_word(s->type, &on);
    if (!word) {
        kki_mjcf_comment(
            o, "sensor %s measures the acceleration without gravity's share, which MJCF has not; it is left out",
            s->name ? s->name : "");
        return;
    }
    kki_xml_open(w, word);
    kki_xml_put_if(w, "name", s->name);
    if (on && strcmp(on, "objname") == 0) {
        kki_xml_put(w, "objtype", is_frame(o, s->target) ? "site" : "xbody");
    }
    if (on) {
        kki_xml_put(w, on, s->target);
    }
    if (s->type == KK_SENSOR_INSIDE) {
        kki_xml_put(w, "site", s->reference);
    } else if (s->reference && s->reference[0]) {
        kki_xml_put(w, "reftype", is_frame(o, s->reference) ? "site" : "xbody");
        kki_xml_put(w, "refname", s->reference);
    }
    kki_xml_put_unless(w, "noise", s->noise, 0);
    kki_xml_put_unless(w, "cutoff", s->cutoff, 0);
    kki_xml_close(w, word);
}

// ---- keyframes

static int joint_nq(kk_joint_type type) {
    static const int sizes[] = {0, 1, 1, 1, 2, 2, 3, 4, 7};
    return sizes[type];
}

static int joint_nv(kk_joint_type type) {
    static const int sizes[] = {0, 1, 1, 1, 2, 2, 3, 3, 6};
    return sizes[type];
}

void kki_mjcf_number_coordinates(kki_mjcf_output *o) {
    int q = 0, v = 0;
    for (int i = 1; i < kk_spec_body_count(o->spec); i++) {
        const kk_joint_type type = kk_spec_body_const(o->spec, i)->joint.type;
        o->q_at[i] = q;
        o->v_at[i] = v;
        q += joint_nq(type);
        v += joint_nv(type);
    }
    o->q_at[0] = q;
    o->v_at[0] = v;
}

static void key_q(const kki_mjcf_output *o, const kk_body_def *b, const double *from, double *to) {
    (void)o;
    if (b->joint.type != KK_JOINT_FREE) {
        memcpy(to, from, (size_t)joint_nq(b->joint.type) * sizeof *to);
        return;
    }
    const kk_transform J = kk_transform_make(kk_quat_to_mat3((kk_quat){from[0], from[1], from[2], from[3]}),
                                             kk_vec3_make(from[4], from[5], from[6]));
    const kk_transform X = kk_transform_mul(kk_transform_mul(b->joint.placement, J), b->offset);
    const kk_quat r = kk_quat_from_mat3(X.R);
    memcpy(to, (const double[7]){X.p.x, X.p.y, X.p.z, r.w, r.x, r.y, r.z}, 7 * sizeof *to);
}

static void key_v(const kk_body_def *b, const double *q, const double *from, double *to) {
    if (b->joint.type != KK_JOINT_FREE) {
        memcpy(to, from, (size_t)joint_nv(b->joint.type) * sizeof *to);
        return;
    }
    const kk_mat3 R = q ? kk_quat_to_mat3((kk_quat){q[0], q[1], q[2], q[3]}) : kk_mat3_identity();
    const kk_vec3 v = kk_mat3_mul_vec(kk_mat3_mul(b->joint.placement.R, R), kk_vec3_make(from[3], from[4], from[5]));
    memcpy(to, (const double[6]){v.x, v.y, v.z, from[0], from[1], from[2]}, 6 * sizeof *to);
}

static void write_key(kki_mjcf_output *o, const kk_keyframe_def *k) {
    kki_xml_writer *w = &o->w;
    const int nq = o->q_at[0], nv = o->v_at[0];
    double *q = kki_allocate_array(&w->allocator, (size_t)nq, sizeof *q);
    double *v = kki_allocate_array(&w->allocator, (size_t)nv, sizeof *v);
    int qat = 0, vat = 0;
    for (int i = 0; i < o->order_count && q && v; i++) {
        const int id = o->order[i];
        const kk_body_def *b = kk_spec_body_const(o->spec, id);
        if (k->q) {
            key_q(o, b, k->q + o->q_at[id], q + qat);
        }
        if (k->v) {
            key_v(b, k->q ? k->q + o->q_at[id] : NULL, k->v + o->v_at[id], v + vat);
        }
        qat += joint_nq(b->joint.type);
        vat += joint_nv(b->joint.type);
    }
    if (!q || !v) {
        o->status = kki_error_set(o->error, KK_OUT_OF_MEMORY, "no memory for a keyframe");
    } else {
        kki_xml_open(w, "key");
        kki_xml_put_if(w, "name", k->name);
        kki_xml_put_unless(w, "time", k->time, 0);
        if (k->q) {
            kki_xml_put_numbers(w, "qpos", q, nq);
        }
        if (k->v) {
            kki_xml_put_numbers(w, "qvel", v, nv);
        }
        if (k->control) {
            kki_xml_put_numbers(w, "ctrl", k->control, k->control_count);
        }
        kki_xml_close(w, "key");
    }
    kki_release_array(&w->allocator, v, (size_t)nv, sizeof *v);
    kki_release_array(&w->allocator, q, (size_t)nq, sizeof *q);
}

// ---- all of them

#define WRITE_EACH(o, section, kind, write)                              \
    do {                                                                 \
        kki_xml_open(&(o)->w, section);                                  \
        for (int i_ = 0; i_ < kk_spec_##kind##_count((o)->spec); i_++) { \
            write((o), kk_spec_##kind##_const((o)->spec, i_));           \
        }                                                                \
        kki_xml_close(&(o)->w, section);                                 \
    } while (0)

void kki_mjcf_write_sections(kki_mjcf_output *o) {
    write_contacts(o);
    write_equalities(o);
    WRITE_EACH(o, "tendon", tendon, write_tendon);
    WRITE_EACH(o, "actuator", actuator, write_actuator);
    WRITE_EACH(o, "sensor", sensor, write_sensor);
    WRITE_EACH(o, "keyframe", keyframe, write_key);
}
