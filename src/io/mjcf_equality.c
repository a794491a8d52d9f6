/// Equality constraints: loops and couplings.
#include <string.h>

#include "io/mjcf.h"

static bool read_active(const kki_mjcf_at *at) {
    return kki_mjcf_truth(at, "active", true) && !at->m->set.no_equality;
}

static int body_of_item(const kki_mjcf *m, int item) {
    const int id = kk_spec_frame_const(m->loader->spec, m->item[item].made)->body;
    return id; // of the spec
}

static kk_loop_def loop_at(const kki_mjcf_at *at, kk_loop_type type) {
    kk_loop_def def = kk_loop_def_default();
    def.type = type;
    def.name = kki_mjcf_own_name(at->m, at->node);
    def.is_active = read_active(at);
    def.origin = kki_origin_of_node(at->m->xml, at->node);
    return def;
}

static void add_loop(kki_mjcf *m, int32_t node, kk_loop_def *def) {
    kki_mjcf_name_put(m, KKI_MJCF_LOOP, def->name, 0, node);
    kki_mjcf_stop(m, kk_spec_add_loop(m->loader->spec, def, NULL, &m->error));
}

/// site1 and site2: the frames coincide.
static bool read_sites(const kki_mjcf_at *at, kk_loop_def *def) {
    kki_mjcf *m = at->m;
    for (int i = 0; i < 2; i++) {
        const int site = kki_mjcf_refer(at, i ? "site2" : "site1", KKI_MJCF_SITE);
        if (site < 0) {
            return false;
        }
        def->body[i] = body_of_item(m, site);
        def->placement[i] = kk_spec_frame_const(m->loader->spec, m->item[site].made)->placement;
    }
    return true;
}

static bool read_bodies(const kki_mjcf_at *at, int body[2]) {
    body[0] = kki_mjcf_refer(at, "body1", KKI_MJCF_BODY);
    body[1] = kki_mjcf_text(at, "body2") ? kki_mjcf_refer(at, "body2", KKI_MJCF_BODY) : 0;
    return body[0] >= 0 && body[1] >= 0;
}

static kk_transform translation(kk_vec3 p) {
    return kk_transform_make(kk_mat3_identity(), p);
}

/// Pose of the second body in the first at the reference pose.
static kk_transform relative(const kki_mjcf *m, const int body[2]) {
    return kk_transform_mul(kk_transform_inverse(m->body[body[0]].place->X_WB), m->body[body[1]].place->X_WB);
}

static void read_connect(kki_mjcf *m, int32_t node) {
    const kki_mjcf_at at = kki_mjcf_element_of_class(m, node, KKI_MJCF_OF_EQUALITY, 0);
    kk_loop_def def = loop_at(&at, KK_LOOP_POINT);
    int body[2];
    if (kki_mjcf_text(&at, "site1")) {
        if (!read_sites(&at, &def)) {
            return;
        }
    } else {
        if (!read_bodies(&at, body)) {
            return;
        }
        const kk_vec3 anchor = kki_mjcf_vector(&at, "anchor", kk_vec3_make(0, 0, 0));
        for (int i = 0; i < 2; i++) {
            def.body[i] = m->body[body[i]].id;
        }
        def.placement[0] = translation(anchor);
        def.placement[1] = translation(kk_transform_point(kk_transform_inverse(relative(m, body)), anchor));
    }
    add_loop(m, node, &def);
}

static void read_weld(kki_mjcf *m, int32_t node) {
    const kki_mjcf_at at = kki_mjcf_element_of_class(m, node, KKI_MJCF_OF_EQUALITY, 0);
    kk_loop_def def = loop_at(&at, KK_LOOP_WELD);
    int body[2];
    if (kki_mjcf_text(&at, "site1")) {
        if (read_sites(&at, &def)) {
            add_loop(m, node, &def);
        }
        return;
    }
    if (!read_bodies(&at, body)) {
        return;
    }
    double v[7] = {0};
    kk_transform X = relative(m, body);
    kki_mjcf_numbers(&at, "relpose", 7, 7, v);
    if (v[3] != 0 || v[4] != 0 || v[5] != 0 || v[6] != 0) { // a zero quaternion means: as they stand
        X = kk_transform_make(kk_quat_to_mat3(kk_quat_normalize((kk_quat){v[3], v[4], v[5], v[6]})),
                              kk_vec3_make(v[0], v[1], v[2]));
    }
    const kk_transform anchor = translation(kki_mjcf_vector(&at, "anchor", kk_vec3_make(0, 0, 0)));
    for (int i = 0; i < 2; i++) {
        def.body[i] = m->body[body[i]].id;
    }
    def.placement[0] = kk_transform_mul(X, anchor);
    def.placement[1] = anchor;
    add_loop(m, node, &def);
}

// ---- couplings

static const kki_mjcf_joint *scalar_joint(const kki_mjcf_at *at, const char *attribute) {
    kki_mjcf *m = at->m;
    const int item = kki_mjcf_refer(at, attribute, KKI_MJCF_JOINT);
    const kki_mjcf_joint *joint = item < 0 || m->item[item].made < 0 ? NULL : &m->joint[m->item[item].made];
    if (joint && joint->type != KK_JOINT_HINGE && joint->type != KK_JOINT_SLIDE) {
        kki_mjcf_report(m, KKI_ERROR, KK_INVALID_MODEL, at->node, attribute,
                        "joint '%s' has several degrees of freedom; name a hinge or a slide", joint->name);
        return NULL;
    }
    return joint;
}

static void read_coupling(kki_mjcf *m, int32_t node) {
    const kki_mjcf_at at = kki_mjcf_element_of_class(m, node, KKI_MJCF_OF_EQUALITY, 0);
    double c[5] = {0, 1, 0, 0, 0};
    kki_mjcf_numbers(&at, "polycoef", 1, 5, c);
    const bool has_leader = kki_mjcf_text(&at, "joint2") != NULL;
    const kki_mjcf_joint *follower = scalar_joint(&at, "joint1");
    const kki_mjcf_joint *leader = has_leader ? scalar_joint(&at, "joint2") : NULL;
    if (!follower || (has_leader && !leader)) {
        return;
    }
    if (!read_active(&at)) {
        kki_mjcf_report(m, KKI_WARNING, KK_OK, node, "active",
                        "an inactive joint equality is left out; couplings always hold");
    } else if (c[2] != 0 || c[3] != 0 || c[4] != 0) {
        kki_mjcf_report(m, KKI_WARNING, KK_OK, node, "polycoef",
                        "the joint equality is left out; its polynomial must be linear");
    } else if (!has_leader) {
        // held at one place: limits do that
        kk_dof_def *dof = &kk_spec_body(m->loader->spec, follower->body)->joint.dof[0];
        dof->lower = dof->upper = follower->ref + c[0];
    } else {
        kk_coupling_def def = kk_coupling_def_default();
        def.name = kki_mjcf_own_name(m, node);
        def.follower = follower->name;
        def.leader = leader->name;
        def.ratio = c[1];
        def.offset = follower->ref + c[0] - c[1] * leader->ref;
        def.origin = kki_origin_of_node(m->xml, node);
        kki_mjcf_name_put(m, KKI_MJCF_LOOP, def.name, 0, node);
        kki_mjcf_stop(m, kk_spec_add_coupling(m->loader->spec, &def, NULL, &m->error));
    }
}

/// The length of a tendon from its length at the reference pose on is a polynomial of another's; lengths at that pose are measured when all is
/// read (mjcf_tune.c).
static void read_tendon(kki_mjcf *m, int32_t node) {
    const kki_mjcf_at at = kki_mjcf_element_of_class(m, node, KKI_MJCF_OF_EQUALITY, 0);
    const bool has_leader = kki_mjcf_text(&at, "tendon2") != NULL;
    const int tendon = kki_mjcf_refer(&at, "tendon1", KKI_MJCF_TENDON);
    const int leader = has_leader ? kki_mjcf_refer(&at, "tendon2", KKI_MJCF_TENDON) : -1;
    if (tendon < 0 || (has_leader && leader < 0) || m->is_check) {
        return;
    }
    kk_tendon_def *def = kk_spec_tendon(m->loader->spec, tendon);
    if (!read_active(&at)) {
        kki_mjcf_report(m, KKI_WARNING, KK_OK, node, "active",
                        "an inactive tendon equality is left out; held lengths always hold");
    } else if (def->is_held) {
        kki_mjcf_report(m, KKI_WARNING, KK_OK, node, "tendon1",
                        "the equality is left out; tendon '%s' is held by another one already", def->name);
    } else {
        kki_mjcf_held *held = KKI_MJCF_PUSH(m, held);
        if (held) {
            *held = (kki_mjcf_held){tendon, leader, {0, 1}};
            kki_mjcf_numbers(&at, "polycoef", 1, 5, held->c);
            def->is_held = 1;
            def->leader = leader < 0 ? NULL : kk_spec_tendon_const(m->loader->spec, leader)->name;
        }
        kki_mjcf_name_put(m, KKI_MJCF_LOOP, kki_mjcf_own_name(m, node), 0, node);
    }
}

static kki_mjcf_reader *choose(kki_mjcf *m, int32_t node) {
    const char *name = kki_xml_name(m->xml, node);
    if (!kki_mjcf_is_read(m, "equality", node)) {
        return NULL;
    }
    return strcmp(name, "connect") == 0  ? read_connect
           : strcmp(name, "weld") == 0   ? read_weld
           : strcmp(name, "tendon") == 0 ? read_tendon
                                         : read_coupling;
}

void kki_mjcf_equality(kki_mjcf *m, int32_t section) {
    kki_mjcf_each(m, section, choose);
}
