/// Sensors, and the frames that they need on geoms and centers of mass.
#include <string.h>

#include "io/mjcf.h"

typedef struct row {
    const char *name;
    kk_sensor_type type;
    kki_mjcf_kind kind;
    const char *on; ///< the attribute that names the target; NULL: none
} row;

/// What two sides name: geom1, body2, …
static const char SIDES[] = "sides";

static const row rows[] = {
    {"touch", KK_SENSOR_CONTACT, KKI_MJCF_SITE, "site"},
    {"accelerometer", KK_SENSOR_ACCELEROMETER, KKI_MJCF_SITE, "site"},
    {"velocimeter", KK_SENSOR_VELOCIMETER, KKI_MJCF_SITE, "site"},
    {"gyro", KK_SENSOR_GYRO, KKI_MJCF_SITE, "site"},
    {"force", KK_SENSOR_FORCE, KKI_MJCF_SITE, "site"},
    {"torque", KK_SENSOR_TORQUE, KKI_MJCF_SITE, "site"},
    {"rangefinder", KK_SENSOR_RANGE, KKI_MJCF_SITE, "site"},
    {"jointpos", KK_SENSOR_JOINT_POSITION, KKI_MJCF_JOINT, "joint"},
    {"jointvel", KK_SENSOR_JOINT_VELOCITY, KKI_MJCF_JOINT, "joint"},
    {"jointactuatorfrc", KK_SENSOR_JOINT_FORCE, KKI_MJCF_JOINT, "joint"},
    {"jointlimitfrc", KK_SENSOR_JOINT_LIMIT_FORCE, KKI_MJCF_JOINT, "joint"},
    {"ballquat", KK_SENSOR_BALL_ORIENTATION, KKI_MJCF_JOINT, "joint"},
    {"ballangvel", KK_SENSOR_BALL_VELOCITY, KKI_MJCF_JOINT, "joint"},
    {"tendonpos", KK_SENSOR_TENDON_LENGTH, KKI_MJCF_TENDON, "tendon"},
    {"tendonvel", KK_SENSOR_TENDON_VELOCITY, KKI_MJCF_TENDON, "tendon"},
    {"actuatorpos", KK_SENSOR_ACTUATOR_LENGTH, KKI_MJCF_ACTUATOR, "actuator"},
    {"actuatorvel", KK_SENSOR_ACTUATOR_VELOCITY, KKI_MJCF_ACTUATOR, "actuator"},
    {"actuatorfrc", KK_SENSOR_ACTUATOR_FORCE, KKI_MJCF_ACTUATOR, "actuator"},
    {"framepos", KK_SENSOR_POSITION, KKI_MJCF_KINDS, "objname"},
    {"framequat", KK_SENSOR_ORIENTATION, KKI_MJCF_KINDS, "objname"},
    {"framexaxis", KK_SENSOR_AXIS_X, KKI_MJCF_KINDS, "objname"},
    {"frameyaxis", KK_SENSOR_AXIS_Y, KKI_MJCF_KINDS, "objname"},
    {"framezaxis", KK_SENSOR_AXIS_Z, KKI_MJCF_KINDS, "objname"},
    {"framelinvel", KK_SENSOR_LINEAR_VELOCITY, KKI_MJCF_KINDS, "objname"},
    {"frameangvel", KK_SENSOR_ANGULAR_VELOCITY, KKI_MJCF_KINDS, "objname"},
    {"framelinacc", KK_SENSOR_PROPER_ACCELERATION, KKI_MJCF_KINDS, "objname"},
    {"frameangacc", KK_SENSOR_ANGULAR_ACCELERATION, KKI_MJCF_KINDS, "objname"},
    {"subtreecom", KK_SENSOR_CENTER_OF_MASS, KKI_MJCF_BODY, "body"},
    {"subtreelinvel", KK_SENSOR_CENTER_OF_MASS_VELOCITY, KKI_MJCF_BODY, "body"},
    {"subtreeangmom", KK_SENSOR_ANGULAR_MOMENTUM, KKI_MJCF_BODY, "body"},
    {"clock", KK_SENSOR_CLOCK, KKI_MJCF_KINDS, NULL},
    {"magnetometer", KK_SENSOR_MAGNETIC_FIELD, KKI_MJCF_SITE, "site"},
    {"insidesite", KK_SENSOR_INSIDE, KKI_MJCF_KINDS, "objname"},
    {"tendonactuatorfrc", KK_SENSOR_TENDON_FORCE, KKI_MJCF_TENDON, "tendon"},
    {"jointlimitpos", KK_SENSOR_JOINT_LIMIT_POSITION, KKI_MJCF_JOINT, "joint"},
    {"jointlimitvel", KK_SENSOR_JOINT_LIMIT_VELOCITY, KKI_MJCF_JOINT, "joint"},
    {"tendonlimitpos", KK_SENSOR_TENDON_LIMIT_POSITION, KKI_MJCF_TENDON, "tendon"},
    {"tendonlimitvel", KK_SENSOR_TENDON_LIMIT_VELOCITY, KKI_MJCF_TENDON, "tendon"},
    {"e_kinetic", KK_SENSOR_KINETIC_ENERGY, KKI_MJCF_KINDS, NULL},
    {"e_potential", KK_SENSOR_POTENTIAL_ENERGY, KKI_MJCF_KINDS, NULL},
    {"distance", KK_SENSOR_DISTANCE, KKI_MJCF_GEOM, SIDES},
    {"normal", KK_SENSOR_DIRECTION, KKI_MJCF_GEOM, SIDES},
    {"fromto", KK_SENSOR_SEGMENT, KKI_MJCF_GEOM, SIDES},
    {"contact", KK_SENSOR_CONTACTS, KKI_MJCF_GEOM, SIDES},
};

const char *kki_mjcf_sensor_word(kk_sensor_type type, const char **target) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].type == type) {
            *target = rows[i].on;
            return rows[i].name;
        }
    }
    return NULL;
}

static const row *find_row(const char *name) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

// ---- frames

/// A frame with that name's ending on a body, made once.
static const char *frame_on(kki_mjcf *m, int cache, const char *name, const char *ending, int body, kk_transform X,
                            int32_t node) {
    int id = kki_mjcf_name_get(m, cache, name);
    if (id < 0) {
        kk_frame_def def = kk_frame_def_default();
        def.name = kki_mjcf_free_name(m, KKI_MJCF_FRAME_NAME, kki_mjcf_join(m, name, ending));
        def.body = body;
        def.placement = X;
        def.origin = kki_origin_of_node(m->xml, node);
        if (kki_mjcf_stop(m, kk_spec_add_frame(m->loader->spec, &def, &id, &m->error)) != KK_OK) {
            return NULL;
        }
        kki_mjcf_name_set(m, cache, name, id);
    }
    return kk_spec_frame_const(m->loader->spec, id)->name;
}

/// MuJoCo's frame of a body's inertia: its center of mass, and the axes of <inertial>.
static const char *inertial_frame(kki_mjcf *m, int body, int32_t node) {
    const kki_mjcf_body *b = &m->body[body];
    kk_transform X = kk_transform_identity();
    if (b->inertial != KKI_XML_NONE) {
        const kki_mjcf_at at = kki_mjcf_element_here(m, b->inertial);
        X.R = kki_mjcf_rotation(&at);
    }
    X.p = kk_spec_body_const(m->loader->spec, b->id)->inertia.com;
    return frame_on(m, KKI_MJCF_BODY + KKI_MJCF_NUMBERED, b->name, "_inertial", b->id, X, node);
}

static const char *geom_frame(kki_mjcf *m, int item, int32_t node) {
    if (m->item[item].made < 0) {
        kki_mjcf_report(m, KKI_WARNING, KK_OK, node, NULL,
                        "the sensor is left out, as is the geom it is on; let geoms that are only seen be read");
        return NULL;
    }
    const kk_shape_def *shape = kk_spec_shape_const(m->loader->spec, m->item[item].made);
    return frame_on(m, KKI_MJCF_GEOM + KKI_MJCF_NUMBERED, m->item[item].name, "_geom", shape->body, shape->placement,
                    node);
}

enum { IS_BODY, IS_XBODY, IS_GEOM, IS_SITE, IS_CAMERA };

/// The frame or body that objname and objtype mean; NULL: none.
static const char *object_name(const kki_mjcf_at *at, const char *type_attribute, const char *name_attribute) {
    static const kki_keyword words[] = {{"body", IS_BODY}, {"xbody", IS_XBODY},   {"geom", IS_GEOM},
                                        {"site", IS_SITE}, {"camera", IS_CAMERA}, {NULL, 0}};
    kki_mjcf *m = at->m;
    const int type = kki_mjcf_word(at, type_attribute, words, -1);
    if (type == IS_CAMERA || type < 0) {
        kki_mjcf_report(
            m, type < 0 ? KKI_ERROR : KKI_WARNING, type < 0 ? KK_NOT_FOUND : KK_OK, at->node, type_attribute,
            type < 0 ? "the sensor does not say what its object is; add %s" : "the sensor of a camera is left out (%s)",
            type_attribute);
        return NULL;
    }
    const kki_mjcf_kind kind = type <= IS_XBODY ? KKI_MJCF_BODY : type == IS_GEOM ? KKI_MJCF_GEOM : KKI_MJCF_SITE;
    const int found = kki_mjcf_refer(at, name_attribute, kind);
    if (found < 0) {
        return NULL;
    }
    switch (type) {
    case IS_BODY: return inertial_frame(m, found, at->node);
    case IS_XBODY: return m->body[found].name;
    case IS_GEOM: return geom_frame(m, found, at->node);
    default: return kk_spec_frame_const(m->loader->spec, m->item[found].made)->name;
    }
}

// ---- zones

/// A site's volume, in whole sizes.
static void read_zone(kki_mjcf *m, const kki_mjcf_item *site, kk_sensor_def *def) {
    static const kki_keyword types[] = {{"sphere", KK_SHAPE_SPHERE},     {"capsule", KK_SHAPE_CAPSULE},
                                        {"cylinder", KK_SHAPE_CYLINDER}, {"ellipsoid", KK_SHAPE_ELLIPSOID},
                                        {"box", KK_SHAPE_BOX},           {NULL, 0}};
    const int scope = m->scope;
    double size[3] = {0.005, 0.005, 0.005}, length;
    kk_transform pose;
    kki_mjcf_enter(m, site->node);
    const kki_mjcf_at at = kki_mjcf_element_of_class(m, site->node, KKI_MJCF_OF_SITE, site->class);
    def->zone = (kk_shape_type)kki_mjcf_word(&at, "type", types, KK_SHAPE_SPHERE);
    kki_mjcf_numbers(&at, "size", 1, 3, size);
    if (kki_mjcf_fromto(&at, &pose, &length)) {
        size[def->zone == KK_SHAPE_ELLIPSOID || def->zone == KK_SHAPE_BOX ? 2 : 1] = length / 2;
    }
    kki_mjcf_enter_scope(m, scope);
    const bool has_length = def->zone == KK_SHAPE_CAPSULE || def->zone == KK_SHAPE_CYLINDER;
    for (int i = 0; i < 3; i++) {
        const bool is_half = def->zone == KK_SHAPE_BOX || (has_length && i == 1);
        def->zone_size[i] = is_half ? 2 * size[i] : size[i];
    }
}

static const char *site_name(const kki_mjcf *m, int item) {
    return kk_spec_frame_const(m->loader->spec, m->item[item].made)->name;
}

// ---- sides

/// A geom that is only seen, or all of them where contacts are disabled, collides for the sensor, yet with nothing else: group and mask are 0.
static void let_collide(kki_mjcf *m, int shape_id) {
    kk_shape_def *shape = kk_spec_shape(m->loader->spec, shape_id);
    const bool is_hull = shape->type == KK_SHAPE_MESH && m->loader->options->mesh_use != KK_MESH_EXACT;
    if (!(shape->purpose & KK_SHAPE_COLLIDES)) {
        shape->type = is_hull ? KK_SHAPE_HULL : shape->type;
        shape->group = m->set.no_contact ? 0 : shape->group;
        shape->mask = m->set.no_contact ? 0 : shape->mask;
        shape->purpose |= KK_SHAPE_COLLIDES;
    }
}

static const char *geom_side(kki_mjcf *m, int item, bool is_distance) {
    if (m->item[item].made < 0) {
        return NULL;
    }
    if (is_distance) {
        let_collide(m, m->item[item].made);
    }
    return m->item[item].name;
}

static const char *body_side(kki_mjcf *m, int body, bool is_distance) {
    for (int i = 0; is_distance && i < m->geom_count; i++) {
        if (m->geom[i].body == body) {
            let_collide(m, m->geom[i].shape);
        }
    }
    return m->body[body].name;
}

/// geom1, body1, subtree1 and the same with 2; false: something is wrong, or was left out.
static bool read_side(const kki_mjcf_at *at, int number, kk_sensor_def *def) {
    static const char *const names[2][3] = {{"geom1", "body1", "subtree1"}, {"geom2", "body2", "subtree2"}};
    static const kk_sensor_side sides[3] = {KK_SIDE_SHAPE, KK_SIDE_BODY, KK_SIDE_SUBTREE};
    const bool is_distance = def->type != KK_SENSOR_CONTACTS;
    const char **name = number == 0 ? &def->target : &def->reference;
    for (int i = 0; i < (is_distance ? 2 : 3); i++) {
        if (kki_mjcf_text(at, names[number][i])) {
            const int found = kki_mjcf_refer(at, names[number][i], i == 0 ? KKI_MJCF_GEOM : KKI_MJCF_BODY);
            def->side[number] = sides[i];
            *name = found < 0 ? NULL
                    : i == 0  ? geom_side(at->m, found, is_distance)
                              : body_side(at->m, found, is_distance);
            return *name != NULL;
        }
    }
    if (is_distance) {
        kki_mjcf_report(at->m, KKI_ERROR, KK_NOT_FOUND, at->node, NULL, "<%s> names nothing on one side; add %s or %s",
                        kki_xml_name(at->m->xml, at->node), names[number][0], names[number][1]);
    }
    return !is_distance;
}

/// The words of `data`, in their order.
static bool read_data(const kki_mjcf_at *at, kk_sensor_def *def) {
    static const kki_keyword words[] = {{"found", KK_CONTACT_FOUND},     {"force", KK_CONTACT_FORCE},
                                        {"torque", KK_CONTACT_TORQUE},   {"dist", KK_CONTACT_GAP},
                                        {"pos", KK_CONTACT_POSITION},    {"normal", KK_CONTACT_NORMAL},
                                        {"tangent", KK_CONTACT_TANGENT}, {NULL, 0}};
    const char *text = kki_mjcf_text(at, "data");
    int tell = 0, last = 0;
    for (text = text ? text : "found"; *text; text += strspn(text, " ")) {
        const size_t length = strcspn(text, " ");
        int bit = 0;
        for (int i = 0; words[i].word; i++) {
            bit = strlen(words[i].word) == length && memcmp(words[i].word, text, length) == 0 ? words[i].value : bit;
        }
        if (bit <= last) {
            kki_mjcf_report(
                at->m, KKI_ERROR, KK_SYNTAX, at->node, "data",
                "data are some of found, force, torque, dist, pos, normal, tangent in this order; correct it");
            return false;
        }
        tell |= last = bit;
        text += length;
    }
    def->tell = tell;
    return tell > 0;
}

static bool read_contacts(const kki_mjcf_at *at, kk_sensor_def *def) {
    static const kki_keyword choices[] = {{"none", KK_CHOOSE_FIRST},
                                          {"mindist", KK_CHOOSE_DEEPEST},
                                          {"maxforce", KK_CHOOSE_STRONGEST},
                                          {"netforce", KK_CHOOSE_SUM},
                                          {NULL, 0}};
    kki_mjcf *m = at->m;
    def->choice = (kk_contact_choice)kki_mjcf_word(at, "reduce", choices, KK_CHOOSE_FIRST);
    def->slots = (int)kki_mjcf_whole(at, "num", 1, 1000, 1);
    if (kki_mjcf_text(at, "site")) {
        const int site = kki_mjcf_refer(at, "site", KKI_MJCF_SITE);
        if (site < 0) {
            return false;
        }
        read_zone(m, &m->item[site], def);
        def->zone_frame = site_name(m, site);
    }
    return read_data(at, def);
}

// ---- sensors

static const char *target_name(const kki_mjcf_at *at, const row *r) {
    kki_mjcf *m = at->m;
    const kk_spec *spec = m->loader->spec;
    if (r->kind == KKI_MJCF_KINDS) {
        return object_name(at, "objtype", "objname");
    }
    const int found = kki_mjcf_refer(at, r->on, r->kind);
    if (found < 0) {
        return NULL;
    }
    switch (r->kind) {
    case KKI_MJCF_SITE: return kk_spec_frame_const(spec, m->item[found].made)->name;
    case KKI_MJCF_JOINT: return m->item[found].made < 0 ? NULL : m->joint[m->item[found].made].name;
    case KKI_MJCF_TENDON: return kk_spec_tendon_const(spec, found)->name;
    case KKI_MJCF_ACTUATOR: return kk_spec_actuator_const(spec, found)->name;
    default: return m->body[found].name;
    }
}

static bool read_sides(const kki_mjcf_at *at, kk_sensor_def *def) {
    const bool is_good = read_side(at, 0, def) && read_side(at, 1, def);
    return is_good && (def->type != KK_SENSOR_CONTACTS || read_contacts(at, def));
}

static bool read_target(const kki_mjcf_at *at, const row *r, kk_sensor_def *def) {
    kki_mjcf *m = at->m;
    def->target = target_name(at, r);
    if (def->type == KK_SENSOR_CONTACT || def->type == KK_SENSOR_INSIDE) {
        const int site = kki_mjcf_refer(at, "site", KKI_MJCF_SITE);
        if (site < 0) {
            return false;
        }
        read_zone(m, &m->item[site], def);
        def->reference = def->type == KK_SENSOR_INSIDE ? site_name(m, site) : NULL;
    }
    if (def->type == KK_SENSOR_INSIDE && kki_mjcf_truth(at, "enclosed", false)) {
        kki_mjcf_report(m, KKI_WARNING, KK_OK, at->node, "enclosed",
                        "the sensor is left out; what of a whole object juts out of a site is not measured");
        return false;
    }
    return def->target != NULL;
}

static void read_sensor(kki_mjcf *m, int32_t node) {
    const kki_mjcf_at at = kki_mjcf_element_here(m, node);
    const row *r = find_row(kki_xml_name(m->xml, node));
    kk_sensor_def def = kk_sensor_def_default();
    if (!r || m->set.no_sensor) {
        return;
    }
    def.type = r->type;
    if (r->on == SIDES ? !read_sides(&at, &def) : r->on && !read_target(&at, r, &def)) {
        return;
    }
    if (kki_mjcf_text(&at, "refname")) {
        def.reference = object_name(&at, "reftype", "refname");
    }
    def.name = kki_mjcf_own_name(m, node);
    def.noise = kki_mjcf_number(&at, "noise", 0);
    def.cutoff = kki_mjcf_number(&at, "cutoff", 0);
    def.origin = kki_origin_of_node(m->xml, node);
    kki_mjcf_name_put(m, KKI_MJCF_SENSOR, def.name, 0, node);
    kki_mjcf_stop(m, kk_spec_add_sensor(m->loader->spec, &def, NULL, &m->error));
}

static kki_mjcf_reader *choose(kki_mjcf *m, int32_t node) {
    return kki_mjcf_is_read(m, "sensor", node) ? read_sensor : NULL;
}

void kki_mjcf_sensor(kki_mjcf *m, int32_t section) {
    kki_mjcf_each(m, section, choose);
}
