/// Fields to attributes, the other way round than urdf_karakuri.c.
#include "io/karakuri_write.h"

#include <karakuri/number.h>
#include <string.h>

#include "base/print.h"
#include "model/spec.h"

kk_vec3 kki_rpy_of(kk_mat3 R) {
    const double *m = R.m;
    const double yaw = kk_atan2(m[3], m[0]), pitch = kk_atan2(-m[6], kk_hypot(m[0], m[3]));
    double s, c;
    kk_sincos(yaw, &s, &c);
    // of the matrix with the yaw taken out, so that an arbitrary yaw at ±90° of pitch does not matter
    const double roll = kk_atan2(s * m[2] - c * m[5], c * m[4] - s * m[1]);
    return kk_vec3_make(roll, pitch, yaw);
}

const char *kki_material_name(const kk_spec *spec, int id, char made[KKI_ITEM_NAME_SIZE]) {
    const char *name = spec->material[id].name;
    kki_print(made, KKI_ITEM_NAME_SIZE, "material_%d", id);
    return id == 0 ? "default" : name && name[0] ? name : made;
}

const char *kki_shape_name(const kk_spec *spec, int id, char made[KKI_ITEM_NAME_SIZE]) {
    const char *name = spec->shape[id].name;
    kki_print(made, KKI_ITEM_NAME_SIZE, "shape_%d", id);
    return name && name[0] ? name : made;
}

// ---- comparing

static size_t size_of(kki_field_kind kind) {
    switch (kind) {
    case KKI_FIELD_NUMBER: return sizeof(double);
    case KKI_FIELD_VEC3:
    case KKI_FIELD_NUMBERS3:
    case KKI_FIELD_XYZ: return 3 * sizeof(double);
    case KKI_FIELD_SIX: return 6 * sizeof(double);
    case KKI_FIELD_RPY: return sizeof(kk_mat3);
    default: return sizeof(int);
    }
}

/// The field's own place: position and rotation share a transform.
static const char *place_of(const kki_field *f, const void *def) {
    return (const char *)def + f->offset + (f->kind == KKI_FIELD_XYZ ? offsetof(kk_transform, p) : 0);
}

static const char *text_of(const kki_field *f, const void *def) {
    const char *text;
    memcpy(&text, place_of(f, def), sizeof text);
    return text ? text : "";
}

static bool differs(const kki_field *f, const void *def, const void *base) {
    if (f->kind == KKI_FIELD_TEXT) {
        return strcmp(text_of(f, def), text_of(f, base)) != 0;
    }
    return memcmp(place_of(f, def), place_of(f, base), size_of(f->kind)) != 0;
}

bool kki_fields_differ(kki_karakuri_element element, const void *def, const void *base) {
    for (const kki_field *f = kki_fields_of(element)->field; f->name; f++) {
        if (differs(f, def, base)) {
            return true;
        }
    }
    return false;
}

// ---- writing

static void write_word(kki_xml_writer *w, const kki_field *f, int value) {
    for (int i = 0; f->words[i].word; i++) {
        if (f->words[i].value == value) {
            kki_xml_put(w, f->name, f->words[i].word);
            return;
        }
    }
}

static void write_id(kki_xml_writer *w, const kk_spec *spec, const kki_field *f, int id) {
    char made[KKI_ITEM_NAME_SIZE];
    const char *name = NULL;
    switch (f->kind) {
    case KKI_FIELD_BODY: name = id >= 0 && id < spec->nbody ? spec->body[id].name : NULL; break;
    case KKI_FIELD_MATERIAL: name = id >= 0 && id < spec->nmaterial ? kki_material_name(spec, id, made) : NULL; break;
    case KKI_FIELD_SHAPE: name = id >= 0 && id < spec->nshape ? kki_shape_name(spec, id, made) : NULL; break;
    default: name = id >= 0 && id < spec->nheight_field ? spec->height_field[id].name : NULL; break;
    }
    kki_xml_put_if(w, f->name, name);
}

static void write_whole(kki_xml_writer *w, const kk_spec *spec, const kki_field *f, int value) {
    char word[64];
    switch (f->kind) {
    case KKI_FIELD_WORD: write_word(w, f, value); break;
    case KKI_FIELD_FLAG: kki_xml_put(w, f->name, value ? "true" : "false"); break;
    case KKI_FIELD_COUNT: kki_xml_put_int(w, f->name, value); break;
    case KKI_FIELD_MASK: kki_xml_put_int(w, f->name, (int64_t)(uint32_t)value); break;
    case KKI_FIELD_SENSOR: kki_xml_put(w, f->name, kki_sensor_word((kk_sensor_type)value, word, sizeof word)); break;
    default: write_id(w, spec, f, value); break;
    }
}

static void write_field(kki_xml_writer *w, const kk_spec *spec, const kki_field *f, const void *def) {
    const char *place = place_of(f, def);
    double number[6];
    int value;
    kk_mat3 R;
    switch (f->kind) {
    case KKI_FIELD_TEXT: kki_xml_put_if(w, f->name, text_of(f, def)); break;
    case KKI_FIELD_NUMBER:
        memcpy(number, place, sizeof *number);
        if (!__builtin_isinf(*number)) {
            kki_xml_put_number(w, f->name, *number);
        }
        break;
    case KKI_FIELD_VEC3:
    case KKI_FIELD_NUMBERS3:
    case KKI_FIELD_XYZ:
    case KKI_FIELD_SIX:
        memcpy(number, place, size_of(f->kind));
        kki_xml_put_numbers(w, f->name, number, f->kind == KKI_FIELD_SIX ? 6 : 3);
        break;
    case KKI_FIELD_RPY:
        memcpy(&R, place, sizeof R);
        kki_xml_put_vec3(w, f->name, kki_rpy_of(R));
        break;
    default:
        memcpy(&value, place, sizeof value);
        write_whole(w, spec, f, value);
        break;
    }
}

void kki_write_fields(kki_xml_writer *w, const kk_spec *spec, kki_karakuri_element element, const void *def,
                      const void *base) {
    for (const kki_field *f = kki_fields_of(element)->field; f->name; f++) {
        if (f->is_required || differs(f, def, base)) {
            write_field(w, spec, f, def);
        }
    }
}

// ---- elements

static void write_element(kki_xml_writer *w, const kk_spec *spec, kki_karakuri_element element, const void *def,
                          const void *base) {
    kki_xml_open(w, kki_fields_of(element)->element);
    kki_write_fields(w, spec, element, def, base);
    kki_xml_close(w, kki_fields_of(element)->element);
}

/// A placement on a body, told in the frame of the body's joint, which is that of the URDF link.
static kk_transform in_link(const kk_spec *spec, int body, kk_transform X) {
    return body == KK_WORLD ? X : kk_transform_mul(spec->body[body].offset, X);
}

/// Of a new spec.
static kk_options default_options(void) {
    return (kk_options){.gravity = {0, 0, -9.81}, .timestep = 1e-3};
}

static void write_options(kki_xml_writer *w, const kk_spec *spec) {
    const kk_options base = default_options();
    if (kki_fields_differ(KKI_ELEMENT_OPTION, &spec->options, &base)) {
        write_element(w, spec, KKI_ELEMENT_OPTION, &spec->options, &base);
    }
}

static void write_materials(kki_xml_writer *w, const kk_spec *spec) {
    const kk_material_def base = kk_material_def_default();
    for (int i = 0; i < spec->nmaterial; i++) {
        char made[KKI_ITEM_NAME_SIZE];
        kk_material_def def = spec->material[i];
        def.name = NULL;
        if (i > 0 || kki_fields_differ(KKI_ELEMENT_MATERIAL, &def, &base)) {
            def.name = kki_material_name(spec, i, made);
            write_element(w, spec, KKI_ELEMENT_MATERIAL, &def, &base);
        }
    }
    const kk_material_pair_def pair = kk_material_pair_def_default();
    for (int i = 0; i < spec->nmaterial_pair; i++) {
        write_element(w, spec, KKI_ELEMENT_MATERIAL_PAIR, &spec->material_pair[i], &pair);
    }
}

static void write_numbers(kki_xml_writer *w, const double *values, int count) {
    for (int i = 0; i < count; i++) {
        char text[KK_NUMBER_TEXT_SIZE + 1] = " ";
        kk_number_format(values[i], text + 1);
        kki_xml_characters(w, i == 0 ? text + 1 : text);
    }
}

static void write_height_fields(kki_xml_writer *w, const kk_spec *spec) {
    const kk_height_field_def base = kk_height_field_def_default();
    for (int i = 0; i < spec->nheight_field; i++) {
        const kk_height_field_def *def = &spec->height_field[i];
        kki_xml_open(w, "height_field");
        kki_write_fields(w, spec, KKI_ELEMENT_HEIGHT_FIELD, def, &base);
        write_numbers(w, def->height, def->rows * def->columns);
        kki_xml_close(w, "height_field");
    }
}

static void write_pairs(kki_xml_writer *w, const kk_spec *spec) {
    const kk_pair_def pair = kk_pair_def_default();
    const kk_exclude_def exclude = kk_exclude_def_default();
    for (int i = 0; i < spec->npair; i++) {
        write_element(w, spec, KKI_ELEMENT_PAIR, &spec->pair[i], &pair);
    }
    for (int i = 0; i < spec->nexclude; i++) {
        write_element(w, spec, KKI_ELEMENT_EXCLUDE, &spec->exclude[i], &exclude);
    }
}

static void write_frames_and_loops(kki_xml_writer *w, const kk_spec *spec) {
    const kk_frame_def frame = kk_frame_def_default();
    const kk_loop_def loop = kk_loop_def_default();
    for (int i = 0; i < spec->nframe; i++) {
        kk_frame_def def = spec->frame[i];
        def.placement = in_link(spec, def.body, def.placement);
        write_element(w, spec, KKI_ELEMENT_FRAME, &def, &frame);
    }
    for (int i = 0; i < spec->nloop; i++) {
        kk_loop_def def = spec->loop[i];
        for (int k = 0; k < 2; k++) {
            def.placement[k] = in_link(spec, def.body[k], def.placement[k]);
        }
        write_element(w, spec, KKI_ELEMENT_LOOP, &def, &loop);
    }
}

static void write_couplings(kki_xml_writer *w, const kk_spec *spec, const uint8_t *is_mimic) {
    const kk_coupling_def base = kk_coupling_def_default();
    for (int i = 0; i < spec->ncoupling; i++) {
        if (!is_mimic[i]) {
            write_element(w, spec, KKI_ELEMENT_COUPLING, &spec->coupling[i], &base);
        }
    }
}

static void write_tendons(kki_xml_writer *w, const kk_spec *spec) {
    const kk_tendon_def base = kk_tendon_def_default();
    const kk_tendon_item item = {.coefficient = 1};
    for (int i = 0; i < spec->ntendon; i++) {
        const kk_tendon_def *def = &spec->tendon[i];
        kki_xml_open(w, "tendon");
        kki_write_fields(w, spec, KKI_ELEMENT_TENDON, def, &base);
        for (int k = 0; k < def->item_count; k++) {
            write_element(w, spec, KKI_ELEMENT_ITEM, &def->item[k], &item);
        }
        kki_xml_close(w, "tendon");
    }
}

static void write_actuators_and_sensors(kki_xml_writer *w, const kk_spec *spec) {
    kk_actuator_def actuator = kk_actuator_def_default();
    const kk_sensor_def sensor = kk_sensor_def_default();
    for (int i = 0; i < spec->nactuator; i++) {
        const kk_actuator_def *def = &spec->actuator[i];
        // a servo without gain would be given one
        const bool is_servo = def->type == KK_ACTUATOR_POSITION || def->type == KK_ACTUATOR_VELOCITY;
        actuator.gain = is_servo ? -1 : 1;
        write_element(w, spec, KKI_ELEMENT_ACTUATOR, def, &actuator);
    }
    for (int i = 0; i < spec->nsensor; i++) {
        write_element(w, spec, KKI_ELEMENT_SENSOR, &spec->sensor[i], &sensor);
    }
}

static void write_part(kki_xml_writer *w, const char *name, const double *values, int count) {
    if (values && count > 0) {
        kki_xml_open(w, name);
        write_numbers(w, values, count);
        kki_xml_close(w, name);
    }
}

static void write_keyframes(kki_xml_writer *w, const kk_spec *spec) {
    const kk_keyframe_def base = kk_keyframe_def_default();
    for (int i = 0; i < spec->nkeyframe; i++) {
        const kk_keyframe_def *def = &spec->keyframe[i];
        kki_xml_open(w, "keyframe");
        kki_write_fields(w, spec, KKI_ELEMENT_KEYFRAME, def, &base);
        write_part(w, "q", def->q, def->q_count);
        write_part(w, "v", def->v, def->v_count);
        write_part(w, "control", def->control, def->control_count);
        kki_xml_close(w, "keyframe");
    }
}

void kki_write_scripts(kki_xml_writer *w, const kk_spec *spec) {
    const kk_parameter_def parameter = {.value = 0, .lower = 0, .upper = 1};
    const kk_script_def script = kk_script_def_default();
    for (int i = 0; i < spec->nparameter; i++) {
        write_element(w, spec, KKI_ELEMENT_PARAMETER, &spec->parameter[i], &parameter);
    }
    for (int i = 0; i < spec->nscript; i++) {
        kki_xml_open(w, "script");
        kki_write_fields(w, spec, KKI_ELEMENT_SCRIPT, &spec->script[i], &script);
        kki_xml_characters(w, spec->script[i].text ? spec->script[i].text : "");
        kki_xml_close(w, "script");
    }
}

static bool has_content(const kk_spec *s, const uint8_t *is_mimic) {
    const kk_options options = default_options();
    const kk_material_def material = kk_material_def_default();
    kk_material_def own = s->material[0];
    own.name = NULL;
    bool is_needed = kki_fields_differ(KKI_ELEMENT_OPTION, &s->options, &options) ||
                     kki_fields_differ(KKI_ELEMENT_MATERIAL, &own, &material);
    for (int i = 0; i < s->ncoupling; i++) {
        is_needed = is_needed || !is_mimic[i];
    }
    return is_needed || s->nmaterial > 1 || s->nmaterial_pair > 0 || s->nheight_field > 0 || s->npair > 0 ||
           s->nexclude > 0 || s->nframe > 0 || s->nloop > 0 || s->ntendon > 0 || s->nactuator > 0 || s->nsensor > 0 ||
           s->nkeyframe > 0 || s->nscript > 0 || s->nparameter > 0;
}

void kki_write_karakuri(kki_xml_writer *w, const kk_spec *spec, const uint8_t *is_mimic) {
    if (!has_content(spec, is_mimic)) {
        return;
    }
    kki_xml_open(w, "karakuri");
    write_options(w, spec);
    write_materials(w, spec);
    write_height_fields(w, spec);
    write_pairs(w, spec);
    write_frames_and_loops(w, spec);
    write_couplings(w, spec, is_mimic);
    write_tendons(w, spec);
    write_actuators_and_sensors(w, spec);
    write_keyframes(w, spec);
    kki_write_scripts(w, spec);
    kki_xml_close(w, "karakuri");
}
