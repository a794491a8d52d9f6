/// Sensors, and the frames that they need on geoms and centres of mass.
#include <string.h>

#include "io/mjcf.h"

typedef struct row {
    const char *name;
    kk_sensor_type type;
    const char *on; ///< the attribute that names the target; NULL: none
    kki_mjcf_kind kind;
} row;

static const row rows[] = {
    {"touch", KK_SENSOR_CONTACT, "site", KKI_MJCF_SITE},
    {"accelerometer", KK_SENSOR_ACCELEROMETER, "site", KKI_MJCF_SITE},
    {"velocimeter", KK_SENSOR_VELOCIMETER, "site", KKI_MJCF_SITE},
    {"gyro", KK_SENSOR_GYRO, "site", KKI_MJCF_SITE},
    {"force", KK_SENSOR_FORCE, "site", KKI_MJCF_SITE},
    {"torque", KK_SENSOR_TORQUE, "site", KKI_MJCF_SITE},
    {"rangefinder", KK_SENSOR_RANGE, "site", KKI_MJCF_SITE},
    {"jointpos", KK_SENSOR_JOINT_POSITION, "joint", KKI_MJCF_JOINT},
    {"jointvel", KK_SENSOR_JOINT_VELOCITY, "joint", KKI_MJCF_JOINT},
    {"jointactuatorfrc", KK_SENSOR_JOINT_FORCE, "joint", KKI_MJCF_JOINT},
    {"jointlimitfrc", KK_SENSOR_JOINT_LIMIT_FORCE, "joint", KKI_MJCF_JOINT},
    {"ballquat", KK_SENSOR_BALL_ORIENTATION, "joint", KKI_MJCF_JOINT},
    {"ballangvel", KK_SENSOR_BALL_VELOCITY, "joint", KKI_MJCF_JOINT},
    {"tendonpos", KK_SENSOR_TENDON_LENGTH, "tendon", KKI_MJCF_TENDON},
    {"tendonvel", KK_SENSOR_TENDON_VELOCITY, "tendon", KKI_MJCF_TENDON},
    {"actuatorpos", KK_SENSOR_ACTUATOR_LENGTH, "actuator", KKI_MJCF_ACTUATOR},
    {"actuatorvel", KK_SENSOR_ACTUATOR_VELOCITY, "actuator", KKI_MJCF_ACTUATOR},
    {"actuatorfrc", KK_SENSOR_ACTUATOR_FORCE, "actuator", KKI_MJCF_ACTUATOR},
    {"framepos", KK_SENSOR_POSITION, "objname", KKI_MJCF_KINDS},
    {"framequat", KK_SENSOR_ORIENTATION, "objname", KKI_MJCF_KINDS},
    {"framexaxis", KK_SENSOR_AXIS_X, "objname", KKI_MJCF_KINDS},
    {"frameyaxis", KK_SENSOR_AXIS_Y, "objname", KKI_MJCF_KINDS},
    {"framezaxis", KK_SENSOR_AXIS_Z, "objname", KKI_MJCF_KINDS},
    {"framelinvel", KK_SENSOR_LINEAR_VELOCITY, "objname", KKI_MJCF_KINDS},
    {"frameangvel", KK_SENSOR_ANGULAR_VELOCITY, "objname", KKI_MJCF_KINDS},
    {"framelinacc", KK_SENSOR_LINEAR_ACCELERATION, "objname", KKI_MJCF_KINDS},
    {"frameangacc", KK_SENSOR_ANGULAR_ACCELERATION, "objname", KKI_MJCF_KINDS},
    {"subtreecom", KK_SENSOR_CENTRE_OF_MASS, "body", KKI_MJCF_BODY},
    {"subtreelinvel", KK_SENSOR_CENTRE_OF_MASS_VELOCITY, "body", KKI_MJCF_BODY},
    {"subtreeangmom", KK_SENSOR_ANGULAR_MOMENTUM, "body", KKI_MJCF_BODY},
    {"clock", KK_SENSOR_CLOCK, NULL, KKI_MJCF_KINDS},
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

/// MuJoCo's frame of a body's inertia: its centre of mass, and the axes of <inertial>.
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

static void read_sensor(kki_mjcf *m, int32_t node) {
    const kki_mjcf_at at = kki_mjcf_element_here(m, node);
    const row *r = find_row(kki_xml_name(m->xml, node));
    kk_sensor_def def = kk_sensor_def_default();
    if (!r || m->set.no_sensor) {
        return;
    }
    def.type = r->type;
    if (r->on) {
        def.target = target_name(&at, r);
        if (!def.target) {
            return;
        }
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

void kki_mjcf_sensor(kki_mjcf *m, int32_t section) {
    for (int32_t c = kki_xml_first(m->xml, section, NULL); c != KKI_XML_NONE && m->status == KK_OK;
         c = kki_xml_next(m->xml, c, NULL)) {
        if (kki_mjcf_is_read(m, "sensor", c)) {
            kki_mjcf_each_copy(m, c, read_sensor);
        }
    }
}
