/// Bodies into the spec: joints as chains, inertias, sites.
///
/// A body with n joints becomes n bodies: NAME/1 … NAME/(n − 1) without mass, and NAME. All their frames lie on the body's
/// own at the reference pose, so the i-th is at T(anchor) J(q) T(−anchor) from the one before.
#include <string.h>

#include "io/mjcf.h"

#include "base/print.h"

// ---- inertia

/// What weighs nothing is nowhere: its place says nothing.
static bool is_nothing(const kk_inertia *I) {
    const kk_sym3 *s = &I->moment;
    return I->mass == 0 && s->xx == 0 && s->yy == 0 && s->zz == 0 && s->xy == 0 && s->xz == 0 && s->yz == 0;
}

static kk_inertia inertia_in(const kki_mjcf_at *at, kk_transform frame) {
    double full[6], diagonal[3] = {0, 0, 0};
    kk_inertia I = {.mass = kki_mjcf_number(at, "mass", -1)};
    if (kki_mjcf_find(at, "mass") == KKI_XML_NONE || kki_mjcf_find(at, "pos") == KKI_XML_NONE) {
        kki_mjcf_report(at->m, KKI_ERROR, KK_NOT_FOUND, at->node, NULL, "<inertial> needs mass and pos; add them");
    }
    if (I.mass < 0) {
        kki_mjcf_report(at->m, kki_fault(at->m->loader), KK_INVALID_MODEL, at->node, "mass",
                        "the mass is negative; it must not be");
        I.mass = -I.mass;
    }
    if (kki_mjcf_numbers(at, "fullinertia", 6, 6, full) == 6) {
        I.moment = (kk_sym3){full[0], full[1], full[2], full[3], full[4], full[5]};
    } else {
        kki_mjcf_numbers(at, "diaginertia", 3, 3, diagonal);
        I.moment = (kk_sym3){diagonal[0], diagonal[1], diagonal[2], 0, 0, 0};
    }
    const kk_transform pose = kk_transform_mul(frame, kki_mjcf_pose(at));
    return is_nothing(&I) ? I : kk_inertia_to(pose, I);
}

static void bound(kki_mjcf *m, int32_t node, kk_inertia *I) {
    const kki_mjcf_settings *set = &m->set;
    double p[3];
    I->mass = I->mass < set->bound_mass ? set->bound_mass : I->mass;
    if (I->mass == 0 && set->bound_inertia <= 0) {
        return;
    }
    const kk_mat3 axes = kki_mjcf_principal(I->moment, p);
    if (set->bound_inertia > 0 && p[2] < set->bound_inertia) {
        for (int i = 0; i < 3; i++) {
            p[i] = p[i] < set->bound_inertia ? set->bound_inertia : p[i];
        }
        I->moment = kk_sym3_rotate(axes, (kk_sym3){p[0], p[1], p[2], 0, 0, 0});
    }
    if (set->balance && p[1] + p[2] < p[0]) {
        const double mean = (p[0] + p[1] + p[2]) / 3;
        I->moment = (kk_sym3){mean, mean, mean, 0, 0, 0};
        kki_mjcf_report(m, KKI_WARNING, KK_OK, node, NULL,
                        "the principal moments break the triangle inequality; balanceinertia has made them equal");
    }
}

/// Adds the shapes; the sum of what the geoms weigh.
static kk_inertia read_geoms(kki_mjcf *m, const kki_mjcf_body *body, int index, bool needs_inertia, bool *has) {
    kk_inertia sum = {0};
    for (int i = body->first[KKI_MJCF_IS_GEOM]; i >= 0 && m->status == KK_OK; i = m->item[i].next) {
        kk_inertia part = {0};
        kki_mjcf_enter(m, m->item[i].node);
        kki_mjcf_geom_read(m, &m->item[i], index, needs_inertia, &part);
        if (part.mass > 0) {
            sum = sum.mass > 0 ? kk_inertia_add(sum, part) : part;
            *has = true;
        }
    }
    return sum;
}

static bool is_from_geoms(const kki_mjcf *m, int index, bool is_given) {
    return index > 0 && (m->set.inertia == KKI_MJCF_INERTIA_TRUE || //
                         (m->set.inertia == KKI_MJCF_INERTIA_AUTO && !is_given));
}

static void set_inertia(kki_mjcf *m, int index) {
    const kki_mjcf_body body = m->body[index];
    const bool is_given = body.inertial != KKI_XML_NONE;
    bool has = false;
    kki_mjcf_enter(m, body.node);
    kk_inertia I = read_geoms(m, &body, index, is_from_geoms(m, index, is_given), &has);
    kki_mjcf_enter(m, is_given ? body.inertial : body.node);
    if (index == 0 || m->status != KK_OK) {
        return;
    }
    if (!has && is_given) {
        const kki_mjcf_at at = kki_mjcf_element_here(m, body.inertial);
        I = inertia_in(&at, *body.inertial_frame);
    }
    bound(m, is_given ? body.inertial : body.node, &I);
    kk_spec_body(m->loader->spec, body.id)->inertia = I;
}

// ---- joints

static void name_joint(kki_mjcf *m, const kki_mjcf_item *item, const char *body, kki_mjcf_joint *joint) {
    joint->name = item->name;
    if (!joint->name) {
        joint->name = kki_mjcf_free_name(m, KKI_MJCF_JOINT_NAME, kki_mjcf_join(m, body, "_joint"));
    }
}

static int add_body(kki_mjcf *m, const kk_body_def *def) {
    int id = 0;
    kki_mjcf_stop(m, kk_spec_add_body(m->loader->spec, def, &id, &m->error));
    return id;
}

/// One body of the chain; `X` is where it starts in its parent, the identity after the first.
static int add_link(kki_mjcf *m, kki_mjcf_item *item, const char *name, int parent, kk_transform X, kk_origin origin) {
    kki_mjcf_joint *joint = KKI_MJCF_PUSH(m, joint);
    kk_body_def def = kk_body_def_default();
    kk_vec3 anchor;
    if (!joint) {
        return 0;
    }
    kki_mjcf_enter(m, item->node);
    kki_mjcf_joint_read(m, item, joint, &def.joint, &anchor);
    name_joint(m, item, name, joint);
    item->made = m->joint_count - 1;
    def.name = name;
    def.parent = parent;
    def.origin = origin;
    def.joint.name = joint->name;
    def.joint.placement = kk_transform_mul(X, def.joint.placement);
    def.offset = kk_transform_translation(-anchor.x, -anchor.y, -anchor.z);
    joint->body = add_body(m, &def);
    return joint->body;
}

static const char *link_name(kki_mjcf *m, const char *body, int number) {
    char suffix[16];
    kki_print(suffix, sizeof suffix, "/%d", number);
    return kki_mjcf_free_name(m, KKI_MJCF_FRAME_NAME, kki_mjcf_join(m, body, suffix));
}

static void note_free(kki_mjcf_body *body, const kki_mjcf_joint *joint) {
    if (joint->type == KK_JOINT_FREE && body->free_joint == KKI_XML_NONE) {
        body->free_joint = joint->node;
    }
}

static void check_free(kki_mjcf *m, const kki_mjcf_body *body) {
    if (body->free_joint != KKI_XML_NONE && (body->parent != 0 || body->joint_count > 1)) {
        kki_mjcf_report(m, KKI_ERROR, KK_INVALID_MODEL, body->free_joint, NULL,
                        "a free joint must be the only joint of a body in the world; move it there");
    }
}

static bool is_mocap(kki_mjcf *m, const kki_mjcf_body *body) {
    const kki_mjcf_at at = kki_mjcf_element_here(m, body->node);
    return kki_mjcf_truth(&at, "mocap", false);
}

static void add_chain(kki_mjcf *m, int index) {
    kki_mjcf_body body = m->body[index];
    const int count = body.joint_count;
    int number = 0, parent = m->body[body.parent].id;
    kk_transform X = body.place->X_PB;
    const kk_origin origin = kki_origin_of_node(m->xml, body.node);
    for (int i = body.first[KKI_MJCF_IS_JOINT]; i >= 0 && m->status == KK_OK; i = m->item[i].next) {
        const char *name = ++number == count ? body.name : link_name(m, body.name, number);
        parent = add_link(m, &m->item[i], name, parent, X, origin);
        if (m->status == KK_OK) {
            kk_spec_body(m->loader->spec, parent)->is_joint_part = number < count;
            note_free(&m->body[index], &m->joint[m->item[i].made]);
        }
        X = kk_transform_identity();
    }
    check_free(m, &m->body[index]);
    if (count == 0) {
        kk_body_def def = kk_body_def_default();
        def.name = body.name;
        def.parent = parent;
        def.origin = origin;
        def.joint.type = KK_JOINT_FIXED;
        def.joint.name = kki_mjcf_free_name(m, KKI_MJCF_JOINT_NAME, kki_mjcf_join(m, body.name, "_joint"));
        def.joint.placement = X;
        def.is_ground = parent == KK_WORLD && !is_mocap(m, &body);
        parent = add_body(m, &def);
    }
    const kki_mjcf_at at = kki_mjcf_element_here(m, body.node);
    if (m->status == KK_OK) {
        kk_spec_body(m->loader->spec, parent)->gravity_compensation = kki_mjcf_number(&at, "gravcomp", 0);
    }
    m->body[index].id = parent;
    m->body[index].root = body.parent > 0 && m->body[body.parent].root > 0 ? m->body[body.parent].root
                          : count > 0                                      ? index
                                                                           : 0;
}

static void check_mocap(kki_mjcf *m, const kki_mjcf_body *body) {
    if (is_mocap(m, body)) {
        kki_mjcf_report(m, KKI_NOTE, KK_OK, body->node, "mocap", "the mocap body '%s' is a fixed one here",
                        body->name ? body->name : "");
    }
}

// ---- sites

static kk_transform read_site(kki_mjcf *m, const kki_mjcf_item *item) {
    const kki_mjcf_at at = kki_mjcf_element_of_class(m, item->node, KKI_MJCF_OF_SITE, item->class);
    kk_transform pose = kki_mjcf_pose(&at);
    double length;
    kki_mjcf_fromto(&at, &pose, &length);
    return kk_transform_mul(*item->frame, pose);
}

static void add_sites(kki_mjcf *m, const kki_mjcf_body *body) {
    for (int i = body->first[KKI_MJCF_IS_SITE]; i >= 0 && m->status == KK_OK; i = m->item[i].next) {
        kki_mjcf_item *item = &m->item[i];
        kk_frame_def def = kk_frame_def_default();
        kki_mjcf_enter(m, item->node);
        def.placement = read_site(m, item);
        const bool is_taken = item->name && kki_mjcf_name_get(m, KKI_MJCF_FRAME_NAME, item->name) >= 0;
        def.name = kki_mjcf_free_name(m, KKI_MJCF_FRAME_NAME,
                                      is_taken     ? kki_mjcf_join(m, item->name, "_site")
                                      : item->name ? item->name
                                                   : "site");
        def.body = body->id;
        def.origin = kki_origin_of_node(m->xml, item->node);
        kki_mjcf_stop(m, kk_spec_add_frame(m->loader->spec, &def, &item->made, &m->error));
        if (is_taken) {
            kki_mjcf_report(m, KKI_NOTE, KK_OK, item->node, "name",
                            "site '%s' is called '%s', because a body has its name", item->name, def.name);
        }
    }
}

// ---- all of them

static void name_all(kki_mjcf *m) {
    for (int i = 1; i < m->body_count && m->status == KK_OK; i++) {
        if (!m->body[i].name) {
            char name[24];
            kki_print(name, sizeof name, "body%d", i);
            m->body[i].name = kki_mjcf_free_name(m, KKI_MJCF_FRAME_NAME, kki_mjcf_join(m, name, ""));
        }
    }
    for (int i = 0; i < m->item_count; i++) {
        const bool is_joint = m->item[i].name && (kki_xml_is(m->xml, m->item[i].node, "joint") ||
                                                  kki_xml_is(m->xml, m->item[i].node, "freejoint"));
        if (is_joint) {
            kki_mjcf_name_set(m, KKI_MJCF_JOINT_NAME, m->item[i].name, 0);
        }
    }
}

static void set_total_mass(kki_mjcf *m) {
    double sum = 0;
    for (int i = 1; i < m->body_count; i++) {
        sum += kk_spec_body(m->loader->spec, m->body[i].id)->inertia.mass;
    }
    if (!(m->set.total_mass > 0) || !(sum > 0)) {
        return;
    }
    const double s = m->set.total_mass / sum;
    for (int i = 1; i < m->body_count; i++) {
        kk_inertia *I = &kk_spec_body(m->loader->spec, m->body[i].id)->inertia;
        const kk_sym3 t = I->moment;
        I->mass *= s;
        I->moment = (kk_sym3){t.xx * s, t.yy * s, t.zz * s, t.xy * s, t.xz * s, t.yz * s};
    }
}

static void sum_trees(kki_mjcf *m) {
    for (int i = 1; i < m->body_count; i++) {
        const double mass = kk_spec_body(m->loader->spec, m->body[i].id)->inertia.mass;
        const int root = m->body[i].root;
        if (root > 0) {
            m->body[root].tree_mass += mass;
            m->body[0].tree_mass += mass; // for what stands still: of all that moves
        }
    }
}

static void reserve(kki_mjcf *m) {
    int bodies = m->body_count, joints = 0, geoms = 0;
    for (int i = 1; i < m->body_count; i++) {
        bodies += m->body[i].joint_count > 1 ? m->body[i].joint_count - 1 : 0;
        joints += m->body[i].joint_count;
    }
    for (int i = 0; i < m->item_count; i++) {
        geoms += kki_xml_is(m->xml, m->item[i].node, "geom");
    }
    kki_mjcf_stop(m, kki_spec_reserve(m->loader->spec, bodies, geoms));
    KKI_MJCF_RESERVE(m, joint, joints);
    KKI_MJCF_RESERVE(m, geom, geoms);
}

void kki_mjcf_bodies(kki_mjcf *m) {
    name_all(m);
    reserve(m);
    for (int i = 0; i < m->body_count && m->status == KK_OK; i++) {
        if (i > 0) {
            add_chain(m, i);
            check_mocap(m, &m->body[i]);
        }
        if (m->status == KK_OK) {
            add_sites(m, &m->body[i]);
            set_inertia(m, i);
        }
    }
    kki_mjcf_enter(m, KKI_XML_ROOT);
    if (m->status == KK_OK) {
        set_total_mass(m);
        sum_trees(m);
    }
}

// ---- in a check

/// Whether an <inertial> stands in the body's element, with the frames in it but not the bodies.
static bool has_inertial(const kki_xml *xml, int32_t body) {
    int32_t node = body;
    do {
        const bool is_inner = node != body && kki_xml_is(xml, node, "body");
        if (kki_xml_is(xml, node, "inertial")) {
            return true;
        }
        if (!is_inner && xml->node[node].first_child != KKI_XML_NONE) {
            node = xml->node[node].first_child;
            continue;
        }
        while (node != body && xml->node[node].next == KKI_XML_NONE) {
            node = xml->node[node].parent;
        }
        node = node == body ? node : xml->node[node].next;
    } while (node != body);
    return false;
}

void kki_mjcf_try_body(kki_mjcf *m, int body) {
    m->body[body].is_weighed = is_from_geoms(m, body, has_inertial(m->xml, m->body[body].node));
}

static void try_joint(kki_mjcf *m, kki_mjcf_body *body, kki_mjcf_item *item) {
    kki_mjcf_joint *joint = KKI_MJCF_PUSH(m, joint);
    kk_joint_def def;
    kk_vec3 anchor;
    if (!joint) {
        return;
    }
    kki_mjcf_joint_read(m, item, joint, &def, &anchor);
    note_free(body, joint);
    joint->name = item->name;
    item->made = m->joint_count - 1;
    if (!item->name) {
        m->q_left_out += joint->copies * kki_mjcf_joint_nq(joint->type);
        m->v_left_out += joint->copies * kki_mjcf_joint_nv(joint->type);
        m->joint_count--;
    }
}

void kki_mjcf_try_item(kki_mjcf *m, int body, int index, int what) {
    kki_mjcf_item *item = &m->item[index];
    kk_inertia part;
    switch (what) {
    case KKI_MJCF_IS_JOINT: try_joint(m, &m->body[body], item); break;
    case KKI_MJCF_IS_GEOM: kki_mjcf_geom_read(m, item, body, m->body[body].is_weighed, &part); break;
    default:
        read_site(m, item);
        item->made = 0; // of the stand-in
        break;
    }
    m->item_count -= item->name ? 0 : 1;
}

void kki_mjcf_try_end(kki_mjcf *m, int index) {
    const kki_mjcf_body *body = &m->body[index];
    check_mocap(m, body);
    check_free(m, body);
    // where geoms may take its place it is not said that it will be read
    if (body->inertial != KKI_XML_NONE && m->set.inertia != KKI_MJCF_INERTIA_TRUE) {
        const kki_mjcf_at at = kki_mjcf_element_here(m, body->inertial);
        inertia_in(&at, *body->inertial_frame);
    }
    const bool has_more = body->name || kki_xml_first(m->xml, body->node, "karakuri") != KKI_XML_NONE;
    if (!has_more && index == m->body_count - 1) {
        m->body_count--;
        m->bodies_left_out++;
    }
}

void kki_mjcf_stand_in(kki_mjcf *m) {
    kk_frame_def frame = kk_frame_def_default();
    frame.name = "site";
    const kk_shape_def shape = kk_shape_def_default();
    kki_mjcf_stop(m, kk_spec_add_frame(m->loader->spec, &frame, NULL, &m->error));
    kki_mjcf_stop(m, kk_spec_add_shape(m->loader->spec, &shape, NULL, &m->error));
}
