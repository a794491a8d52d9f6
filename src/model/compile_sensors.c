/// Sensors: what they sit on, and where their numbers stand among all sensor data.
#include "model/compile.h"
#include "model/joint.h"

/// What a sensor sits on, as KK_SENSOR_LIST has it.
typedef enum target_kind { TARGET_J, TARGET_A, TARGET_F, TARGET_T, TARGET_B, TARGET_S, TARGET_NOTHING } target_kind;

static const struct {
    const char *name;
    int32_t count;
    target_kind target;
} types[] = {
#define ROW(id, text, count, target) [KK_SENSOR_##id] = {text, count, TARGET_##target},
    KK_SENSOR_LIST(ROW)
#undef ROW
};

static kk_status find_ball(kki_item item, const kk_model *m, const char *name, int32_t *body, kk_error *error) {
    const kk_status status = kki_find_named(item, m, KKI_NAMED_JOINT, name, body, error);
    const kk_joint_type type = status ? KK_JOINT_BALL : (kk_joint_type)m->body[*body].joint_type;
    if (status != KK_OK || type == KK_JOINT_BALL || type == KK_JOINT_FREE) {
        return status;
    }
    return kki_item_error(error, KK_INVALID_MODEL, item, "joint \"%s\" is %s; name a ball or a free joint", name,
                          kki_joint_type_of(type)->name);
}

static kk_status find_joint(kki_item item, const kk_model *m, const kk_sensor_def *def, kki_model_sensor *s,
                            kk_error *error) {
    kki_joint_dof joint = {-1, -1, -1};
    if (def->type == KK_SENSOR_BALL_ORIENTATION || def->type == KK_SENSOR_BALL_VELOCITY) {
        return find_ball(item, m, def->target, &s->target, error);
    }
    const kk_status status = def->type == KK_SENSOR_JOINT_POSITION
                                 ? kki_find_coordinate(item, m, def->target, def->dof, &joint, error)
                                 : kki_find_dof(item, m, def->target, def->dof, &joint, error);
    s->target = joint.body;
    s->dof = def->dof;
    return status;
}

/// No reference: the world.
static kk_status find_frame(kki_item item, const kk_model *m, const kk_sensor_def *def, kki_model_sensor *s,
                            kk_error *error) {
    const kk_status status = kki_find_frame_or_body(item, m, def->target, &s->target, &s->target_is_body, error);
    if (status != KK_OK || !def->reference || !def->reference[0]) {
        return status;
    }
    return kki_find_frame_or_body(item, m, def->reference, &s->reference, &s->reference_is_body, error);
}

static kk_status find_side(kki_item item, const kk_model *m, kk_sensor_side side, const char *name, int32_t *id,
                           kk_error *error) {
    if (side == KK_SIDE_ANY) {
        return KK_OK;
    }
    return kki_find_named(item, m, side == KK_SIDE_SHAPE ? KKI_NAMED_SHAPE : KKI_NAMED_BODY, name, id, error);
}

static kk_status find_sides(kki_item item, const kk_model *m, const kk_sensor_def *def, kki_model_sensor *s,
                            kk_error *error) {
    kk_status status = find_side(item, m, def->side[0], def->target, &s->target, error);
    status = status ? status : find_side(item, m, def->side[1], def->reference, &s->reference, error);
    if (status == KK_OK && def->type == KK_SENSOR_CONTACTS && def->zone_frame && def->zone_frame[0]) {
        status = kki_find_named(item, m, KKI_NAMED_FRAME, def->zone_frame, &s->zone_frame, error);
    }
    return status;
}

static kk_status find_target(kki_item item, const kk_model *m, const kk_sensor_def *def, kki_model_sensor *s,
                             kk_error *error) {
    switch (types[def->type].target) {
    case TARGET_J: return find_joint(item, m, def, s, error);
    case TARGET_A: return kki_find_named(item, m, KKI_NAMED_ACTUATOR, def->target, &s->target, error);
    case TARGET_T: return kki_find_named(item, m, KKI_NAMED_TENDON, def->target, &s->target, error);
    case TARGET_B: return kki_find_named(item, m, KKI_NAMED_BODY, def->target, &s->target, error);
    case TARGET_F: return find_frame(item, m, def, s, error);
    case TARGET_S: return find_sides(item, m, def, s, error);
    default: return KK_OK;
    }
}

/// Half sizes, as shapes have them; −1 where no size is given.
static void read_zone(const kk_sensor_def *def, kki_model_sensor *s) {
    const double *size = def->zone_size;
    const int has_length = def->zone == KK_SHAPE_CAPSULE || def->zone == KK_SHAPE_CYLINDER;
    const double half[3] = {def->zone == KK_SHAPE_BOX ? size[0] / 2 : size[0],
                            has_length || def->zone == KK_SHAPE_BOX ? size[1] / 2 : size[1],
                            def->zone == KK_SHAPE_BOX ? size[2] / 2 : size[2]};
    s->zone = size[0] > 0 ? (int32_t)def->zone : -1;
    s->zone_frame = -1;
    for (int k = 0; k < 3; k++) {
        s->zone_half[k] = half[k];
    }
}

static void read_contacts(const kk_sensor_def *def, kki_model_sensor *s) {
    s->side[0] = (int32_t)def->side[0];
    s->side[1] = (int32_t)def->side[1];
    s->slots = def->slots;
    s->tell = def->tell;
    s->choice = (int32_t)def->choice;
    if (def->type == KK_SENSOR_CONTACTS) {
        static const int size[] = {1, 3, 3, 1, 3, 3, 3};
        int sum = 0;
        for (int i = 0; i < 7; i++) {
            sum += def->tell >> i & 1 ? size[i] : 0;
        }
        s->count = def->slots * sum;
    }
}

kk_status kki_compile_sensors(const kk_spec *spec, kk_model *m, kk_error *error) {
    kk_status status = KK_OK;
    m->nsensordata = 0;
    for (int i = 0; i < m->nsensor && status == KK_OK; i++) {
        const kk_sensor_def *def = &spec->sensor[i];
        kki_model_sensor *s = &m->sensor[i];
        // against the world unless something else is named
        *s = (kki_model_sensor){.type = def->type,
                                .name = s->name,
                                .target = -1,
                                .reference = KK_WORLD,
                                .reference_is_body = 1,
                                .first = m->nsensordata,
                                .count = types[def->type].count,
                                .noise = def->noise,
                                .cutoff = def->cutoff,
                                .field = def->field,
                                .rays = def->rays};
        read_zone(def, s);
        read_contacts(def, s);
        m->nsensordata += s->count;
        status = find_target(KKI_ITEM(spec, sensor, "sensor", i), m, def, s, error);
    }
    return status;
}
