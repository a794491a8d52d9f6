/// Sensors, and the frames that they need on geoms and centres of mass.
#include <string.h>

#include "io/mjcf.h"

typedef struct row {
    const char *name;
    kk_sensor_type type;
    kki_mjcf_kind kind;
    const char *on; ///< the attribute that names the target; NULL: none
} row;

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
    {"framelinacc", KK_SENSOR_LINEAR_ACCELERATION, KKI_MJCF_KINDS, "objname"},
    {"frameangacc", KK_SENSOR_ANGULAR_ACCELERATION, KKI_MJCF_KINDS, "objname"},
    {"subtreecom", KK_SENSOR_CENTRE_OF_MASS, KKI_MJCF_BODY, "body"},
    {"subtreelinvel", KK_SENSOR_CENTRE_OF_MASS_VELOCITY, KKI_MJCF_BODY, "body"},
    {"subtreeangmom", KK_SENSOR_ANGULAR_MOMENTUM, KKI_MJCF_BODY, "body"},
    {"clock", KK_SENSOR_CLOCK, KKI_MJCF_KINDS, NULL},
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

static kki_mjcf_reader *choose(kki_mjcf *m, int32_t node) {
    return kki_mjcf_is_read(m, "sensor", node) ? read_sensor : NULL;
}

void kki_mjcf_sensor(kki_mjcf *m, int32_t section) {
    kki_mjcf_each(m, section, choose);
}
