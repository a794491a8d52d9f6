/// Tendons: sums of joint coordinates, and lines over sites.
#include <string.h>

#include "base/allocator.h"
#include "base/print.h"
#include "io/mjcf.h"

typedef struct path {
    kki_mjcf *m;
    kk_tendon_item *item;
    int count, room;
    double length; ///< at the reference pose
    double divisor;
    bool has_last; ///< a point to go on from
    kk_vec3 last;
} path;

static kk_tendon_item *add(path *p) {
    return kki_mjcf_push(p->m, (void **)&p->item, &p->count, &p->room, sizeof *p->item);
}

static void add_joint(path *p, int32_t node) {
    kki_mjcf *m = p->m;
    const kki_mjcf_at at = kki_mjcf_element_here(m, node);
    const int item = kki_mjcf_refer(&at, "joint", KKI_MJCF_JOINT);
    const kki_mjcf_joint *joint = item < 0 || m->item[item].made < 0 ? NULL : &m->joint[m->item[item].made];
    if (!joint) {
        return;
    }
    if (joint->type != KK_JOINT_HINGE && joint->type != KK_JOINT_SLIDE) {
        kki_mjcf_report(m, KKI_ERROR, KK_INVALID_MODEL, node, "joint",
                        "joint '%s' has several degrees of freedom; name a hinge or a slide", joint->name);
        return;
    }
    kk_tendon_item *made = add(p);
    if (made) {
        *made = (kk_tendon_item){joint->name, 0, kki_mjcf_number(&at, "coef", 1)};
        p->length += made->coefficient * joint->ref;
    }
}

static kk_vec3 place_of(const kki_mjcf *m, const kk_frame_def *frame) {
    // the list of bodies is in the order of the spec: bisection finds the one of this id
    int low = 0, high = m->body_count - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (m->body[middle].id < frame->body) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return kk_transform_point(m->body[low].place->X_WB, frame->placement.p);
}

static void add_site(path *p, int32_t node) {
    kki_mjcf *m = p->m;
    const kki_mjcf_at at = kki_mjcf_element_here(m, node);
    const int site = kki_mjcf_refer(&at, "site", KKI_MJCF_SITE);
    kk_tendon_item *made = site < 0 ? NULL : add(p);
    if (!made) {
        return;
    }
    const kk_frame_def *frame = kk_spec_frame_const(m->loader->spec, m->item[site].made);
    const kk_vec3 here = place_of(m, frame);
    *made = (kk_tendon_item){frame->name, 0, 1};
    p->length += p->has_last ? kk_vec3_norm(kk_vec3_sub(here, p->last)) / p->divisor : 0;
    p->has_last = true;
    p->last = here;
}

static void add_pulley(path *p, int32_t node) {
    const kki_mjcf_at at = kki_mjcf_element_here(p->m, node);
    double divisor = kki_mjcf_number(&at, "divisor", 1);
    if (!(divisor > 0)) {
        kki_mjcf_report(p->m, KKI_ERROR, KK_INVALID_ARGUMENT, node, "divisor", "the divisor must be positive; write 2");
        divisor = 1;
    }
    kk_tendon_item *made = add(p);
    if (made) {
        *made = (kk_tendon_item){NULL, 0, divisor};
        p->divisor = divisor;
        p->has_last = false;
    }
}

static void read_path(path *p, int32_t node, bool is_spatial) {
    kki_mjcf *m = p->m;
    for (int32_t c = kki_xml_first(m->xml, node, NULL); c != KKI_XML_NONE && m->status == KK_OK;
         c = kki_xml_next(m->xml, c, NULL)) {
        if (!kki_mjcf_is_read(m, is_spatial ? "spatial" : "fixed", c)) {
            continue;
        }
        if (kki_xml_is(m->xml, c, "joint")) {
            add_joint(p, c);
        } else if (kki_xml_is(m->xml, c, "site")) {
            add_site(p, c);
        } else {
            add_pulley(p, c);
        }
    }
}

static void read_numbers(const kki_mjcf_at *at, const path *p, kk_tendon_def *def) {
    const kki_mjcf_settings *set = &at->m->set;
    double range[2], rest[2] = {-1, -1}, k[3] = {0}, d[3] = {0};
    if (kki_mjcf_limits(at, "limited", "range", range) && !set->no_limit) {
        def->lower = range[0];
        def->upper = range[1];
    }
    kki_mjcf_numbers(at, "stiffness", 1, 3, k);
    kki_mjcf_numbers(at, "damping", 1, 3, d);
    if (k[1] != 0 || k[2] != 0 || d[1] != 0 || d[2] != 0) {
        kki_mjcf_report(at->m, KKI_WARNING, KK_OK, at->node, NULL,
                        "only the linear parts of stiffness and damping are used; write one number");
    }
    def->stiffness = set->no_spring ? 0 : k[0];
    def->damping = set->no_damper ? 0 : d[0];
    def->friction = set->no_friction ? 0 : kki_mjcf_number(at, "frictionloss", 0);
    const int given = kki_mjcf_numbers(at, "springlength", 1, 2, rest);
    rest[1] = given == 1 ? rest[0] : rest[1];
    const bool is_natural = rest[0] == -1 && rest[1] == -1;
    def->rest_lower = is_natural ? p->length : rest[0];
    def->rest_upper = is_natural ? p->length : rest[1];
}

static void read_tendon(kki_mjcf *m, int32_t node) {
    const bool is_spatial = kki_xml_is(m->xml, node, "spatial");
    const kki_mjcf_at at = kki_mjcf_element_of_class(m, node, KKI_MJCF_OF_TENDON, 0);
    const char *name = kki_mjcf_own_name(m, node);
    path p = {.m = m, .divisor = 1};
    kk_tendon_def def = kk_tendon_def_default();
    char number[32];
    int id = kk_spec_tendon_count(m->loader->spec);
    read_path(&p, node, is_spatial);
    def.type = is_spatial ? KK_TENDON_SPATIAL : KK_TENDON_FIXED;
    def.item = p.item;
    def.item_count = p.count;
    read_numbers(&at, &p, &def);
    def.origin = kki_origin_of_node(m->xml, node);
    kki_print(number, sizeof number, "tendon%d", id);
    kki_mjcf_name_put(m, KKI_MJCF_TENDON, name, id, node);
    if (m->suffix[0] && name) {
        kki_mjcf_add_copy(m, KKI_MJCF_TENDON, kki_xml_value(m->xml, node, "name"), m->suffix, m->series);
    }
    def.name = name ? name : kki_mjcf_free_name(m, KKI_MJCF_TENDON, kki_mjcf_join(m, number, ""));
    if (m->status == KK_OK) {
        kki_mjcf_stop(m, kk_spec_add_tendon(m->loader->spec, &def, &id, &m->error));
    }
    if (p.count == 0 && m->status == KK_OK) {
        kki_mjcf_report(m, KKI_ERROR, KK_INVALID_MODEL, node, NULL, "the tendon goes nowhere; give it %s",
                        is_spatial ? "two sites" : "a joint");
    }
    kki_release_array(&m->loader->allocator, p.item, (size_t)p.room, sizeof *p.item);
}

void kki_mjcf_tendon(kki_mjcf *m, int32_t section) {
    for (int32_t c = kki_xml_first(m->xml, section, NULL); c != KKI_XML_NONE && m->status == KK_OK;
         c = kki_xml_next(m->xml, c, NULL)) {
        if (kki_mjcf_is_read(m, "tendon", c)) {
            kki_mjcf_each_copy(m, c, read_tendon);
        }
    }
}
