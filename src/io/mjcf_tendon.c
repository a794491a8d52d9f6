/// Tendons: sums of joint coordinates, and lines over sites.
#include <string.h>

#include "base/allocator.h"
#include "base/print.h"
#include "io/mjcf.h"

typedef struct path {
    kki_mjcf *m;
    kk_tendon_item *item;
    int count, room;
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
        *made = (kk_tendon_item){joint->name, 0, kki_mjcf_number(&at, "coef", 1), NULL, NULL};
    }
}

static void add_site(path *p, int32_t node) {
    kki_mjcf *m = p->m;
    const kki_mjcf_at at = kki_mjcf_element_here(m, node);
    const int site = kki_mjcf_refer(&at, "site", KKI_MJCF_SITE);
    kk_tendon_item *made = site < 0 ? NULL : add(p);
    if (made) {
        *made = (kk_tendon_item){kk_spec_frame_const(m->loader->spec, m->item[site].made)->name, 0, 1, NULL, NULL};
    }
}

/// A geom to go round, and the site that says on which side.
static void add_obstacle(path *p, int32_t node) {
    kki_mjcf *m = p->m;
    const kki_mjcf_at at = kki_mjcf_element_here(m, node);
    const int geom = kki_mjcf_refer(&at, "geom", KKI_MJCF_GEOM);
    const int side = kki_mjcf_text(&at, "sidesite") ? kki_mjcf_refer(&at, "sidesite", KKI_MJCF_SITE) : -1;
    if (geom < 0 || m->is_check) {
        return;
    }
    const kk_shape_def *shape =
        m->item[geom].made < 0 ? NULL : kk_spec_shape_const(m->loader->spec, m->item[geom].made);
    if (!shape || (shape->type != KK_SHAPE_SPHERE && shape->type != KK_SHAPE_CYLINDER)) {
        kki_mjcf_report(m, KKI_ERROR, KK_INVALID_MODEL, node, "geom",
                        "tendons go round spheres and cylinders only; make '%s' one of them",
                        kki_mjcf_text(&at, "geom"));
        return;
    }
    kk_tendon_item *made = add(p);
    if (made) {
        const char *on = side < 0 ? NULL : kk_spec_frame_const(m->loader->spec, m->item[side].made)->name;
        *made = (kk_tendon_item){NULL, 0, 1, shape->name, on};
    }
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
        *made = (kk_tendon_item){NULL, 0, divisor, NULL, NULL};
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
        } else if (kki_xml_is(m->xml, c, "geom")) {
            add_obstacle(p, c);
        } else {
            add_pulley(p, c);
        }
    }
}

static void read_numbers(const kki_mjcf_at *at, kk_tendon_def *def) {
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
    def->armature = kki_mjcf_number(at, "armature", 0);
    if (kki_mjcf_limits(at, "actuatorfrclimited", "actuatorfrcrange", range)) {
        def->pull_lower = range[0];
        def->pull_upper = range[1];
    }
    def->friction = set->no_friction ? 0 : kki_mjcf_number(at, "frictionloss", 0);
    const int given = kki_mjcf_numbers(at, "springlength", 1, 2, rest);
    rest[1] = given == 1 ? rest[0] : rest[1];
    def->rest_lower = rest[0];
    def->rest_upper = rest[1];
}

/// A spring without a length of its own rests where joints' springs do; how long the tendon is there is measured when all is read (mjcf_tune.c).
static void note_natural(kki_mjcf *m, const kk_tendon_def *def, int id) {
    if (def->stiffness != 0 && def->rest_lower == -1 && def->rest_upper == -1) {
        int *natural = KKI_MJCF_PUSH(m, natural);
        if (natural) {
            *natural = id;
        }
    }
}

static void read_tendon(kki_mjcf *m, int32_t node) {
    const bool is_spatial = kki_xml_is(m->xml, node, "spatial");
    const kki_mjcf_at at = kki_mjcf_element_of_class(m, node, KKI_MJCF_OF_TENDON, 0);
    const char *name = kki_mjcf_own_name(m, node);
    path p = {.m = m};
    kk_tendon_def def = kk_tendon_def_default();
    char number[32];
    int id = kk_spec_tendon_count(m->loader->spec);
    read_path(&p, node, is_spatial);
    def.type = is_spatial ? KK_TENDON_SPATIAL : KK_TENDON_FIXED;
    def.item = p.item;
    def.item_count = p.count;
    read_numbers(&at, &def);
    def.origin = kki_origin_of_node(m->xml, node);
    kki_print(number, sizeof number, "tendon%d", id);
    kki_mjcf_name_put(m, KKI_MJCF_TENDON, name, id, node);
    if (m->suffix[0] && name) {
        kki_mjcf_add_copy(m, KKI_MJCF_TENDON, kki_xml_value(m->xml, node, "name"), m->suffix, m->series, m->instance);
    }
    def.name = name ? name : kki_mjcf_free_name(m, KKI_MJCF_TENDON, kki_mjcf_join(m, number, ""));
    if (m->status == KK_OK) {
        kki_mjcf_stop(m, kk_spec_add_tendon(m->loader->spec, &def, &id, &m->error));
        note_natural(m, &def, id);
    }
    if (p.count == 0 && m->status == KK_OK) {
        kki_mjcf_report(m, KKI_ERROR, KK_INVALID_MODEL, node, NULL, "the tendon goes nowhere; give it %s",
                        is_spatial ? "two sites" : "a joint");
    }
    kki_release_array(&m->loader->allocator, p.item, (size_t)p.room, sizeof *p.item);
}

static kki_mjcf_reader *choose(kki_mjcf *m, int32_t node) {
    return kki_mjcf_is_read(m, "tendon", node) ? read_tendon : NULL;
}

void kki_mjcf_tendon(kki_mjcf *m, int32_t section) {
    kki_mjcf_each(m, section, choose);
}
