/// <karakuri> in MJCF: at the top level and in <body>, in the words of docs/guide/karakuri-element.md, read by the code that
/// reads it in URDF. Bodies stand for links.
#include "base/allocator.h"
#include "io/mjcf.h"
#include "io/urdf.h"

static bool is_used(const kki_mjcf *m) {
    bool used = kki_xml_first(m->xml, KKI_XML_ROOT, "karakuri") != KKI_XML_NONE;
    for (int i = 1; i < m->body_count && !used; i++) {
        used = kki_xml_first(m->xml, m->body[i].node, "karakuri") != KKI_XML_NONE;
    }
    return used;
}

static kk_status add_bodies(kki_mjcf *m, kki_urdf *u) {
    kk_status status = KK_OK;
    for (int i = 1; i < m->body_count && status == KK_OK; i++) {
        const kki_mjcf_body *b = &m->body[i];
        u->link[i - 1] =
            (kki_urdf_link){.node = b->node, .name = b->name, .parent_joint = -1, .body = b->id, .has_karakuri = true};
        status = b->name ? kki_name_table_set(&u->links, b->name, i - 1) : KK_OK; // all have one but in a check
    }
    for (int i = 0; i < m->joint_count && status == KK_OK; i++) {
        const kki_mjcf_joint *j = &m->joint[i];
        u->joint[i] = (kki_urdf_joint){.node = j->node,
                                       .name = j->name,
                                       .parent = -1,
                                       .child = -1,
                                       .body = j->body,
                                       .mimic = KKI_XML_NONE,
                                       .has_karakuri = true};
        status = kki_name_table_set(&u->joints, j->name, i);
    }
    return status;
}

static kk_status add_others(kki_urdf *u) {
    kk_status status = KK_OK;
    for (int i = 0; i < kk_spec_shape_count(u->spec) && status == KK_OK; i++) {
        const char *name = kk_spec_shape_const(u->spec, i)->name;
        status = name && name[0] ? kki_name_table_set(&u->shapes, name, i) : KK_OK;
    }
    for (int i = 0; i < kk_spec_actuator_count(u->spec) && status == KK_OK; i++) {
        const char *name = kk_spec_actuator_const(u->spec, i)->name;
        status = name && name[0] ? kki_name_table_set(&u->actuators, name, i) : KK_OK;
    }
    return status;
}

/// What <karakuri> in a body says: the material of all its geoms that collide, and what it is relieved of.
static void set_links(kki_urdf *u) {
    for (int i = 0; i < u->link_count; i++) {
        kk_body_def *body = kk_spec_body(u->spec, u->link[i].body);
        const kki_karakuri_link said = kki_urdf_karakuri_link(
            u, u->link[i].node,
            (kki_karakuri_link){.material = -1, .gravity_compensation = body->gravity_compensation});
        const int material = said.material;
        body->gravity_compensation = said.gravity_compensation;
        for (int k = 0; k < kk_spec_shape_count(u->spec) && material >= 0; k++) {
            kk_shape_def *shape = kk_spec_shape(u->spec, k);
            shape->material = shape->body == u->link[i].body ? material : shape->material;
        }
    }
}

static kk_status read_with(kki_mjcf *m, kki_urdf *u) {
    enum { TABLES = 7 };
    kki_name_table *const tables[TABLES] = {&u->links,  &u->joints,        &u->looks,    &u->materials,
                                            &u->shapes, &u->height_fields, &u->actuators};
    for (int i = 0; i < TABLES; i++) {
        kki_name_table_create(tables[i], &m->loader->allocator);
    }
    kk_status status = add_bodies(m, u);
    status = status ? status : add_others(u);
    status = status ? status : kki_urdf_karakuri_first(u);
    if (status == KK_OK) {
        set_links(u);
    }
    status = status ? status : kki_urdf_karakuri_rest(u);
    for (int i = 0; i < TABLES; i++) {
        kki_name_table_destroy(tables[i]);
    }
    return status;
}

void kki_mjcf_karakuri(kki_mjcf *m) {
    if (!is_used(m) || m->status != KK_OK) {
        return;
    }
    const size_t links = (size_t)m->body_count, joints = (size_t)m->joint_count;
    const kk_allocator *a = &m->loader->allocator;
    kki_urdf u = {.loader = m->loader, .spec = m->loader->spec, .xml = m->xml, .reader = m->reader};
    kki_mjcf_stop(m, kki_urdf_survey(&u));
    u.link = kki_allocate_array(a, links, sizeof *u.link);
    u.joint = kki_allocate_array(a, joints, sizeof *u.joint);
    u.link_count = m->body_count - 1;
    u.joint_count = m->joint_count;
    if (m->status == KK_OK) {
        kki_mjcf_stop(m, u.link && u.joint ? read_with(m, &u) : KK_OUT_OF_MEMORY);
    }
    kki_release_array(a, u.other, (size_t)u.other_count, sizeof *u.other);
    kki_release_array(a, u.joint, joints, sizeof *u.joint);
    kki_release_array(a, u.link, links, sizeof *u.link);
}
