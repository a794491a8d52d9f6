/// A model as JSON, for pictures, trees and sliders; and its meshes as bytes for a graphics card.
///
/// Numbers of definitions are written by the tables of the <karakuri> element, so that a slider's name is an attribute's name.
#include <string.h>

#include <karakuri/save.h>
#include <karakuri/view.h>

#include "base/allocator.h"
#include "base/error.h"
#include "io/karakuri_fields.h"
#include "view/bytes.h"
#include "view/edit.h"
#include "view/json_write.h"

// ---- by the tables

static const char *word_of(const kki_keyword *words, int value) {
    for (; words->word; words++) {
        if (words->value == value) {
            return words->word;
        }
    }
    return "";
}

static void put_six(kki_json_writer *w, const char *key, const kk_motion *m) {
    const double six[6] = {m->angular.x, m->angular.y, m->angular.z, m->linear.x, m->linear.y, m->linear.z};
    kki_json_put_numbers(w, key, six, 6);
}

static void put_field(kki_json_writer *w, const kki_field *f, const void *def) {
    const void *at = (const char *)def + f->offset;
    switch (f->kind) {
    case KKI_FIELD_NUMBER: kki_json_put_number(w, f->name, *(const double *)at); break;
    case KKI_FIELD_TEXT: kki_json_put_string(w, f->name, *(const char *const *)at); break;
    case KKI_FIELD_WORD: kki_json_put_string(w, f->name, word_of(f->words, *(const int *)at)); break;
    case KKI_FIELD_FLAG: kki_json_put_bool(w, f->name, *(const int *)at != 0); break;
    case KKI_FIELD_COUNT:
    case KKI_FIELD_BODY:
    case KKI_FIELD_MATERIAL:
    case KKI_FIELD_SHAPE:
    case KKI_FIELD_HEIGHT_FIELD: kki_json_put_int(w, f->name, *(const int *)at); break;
    case KKI_FIELD_VEC3:
    case KKI_FIELD_NUMBERS3: kki_json_put_numbers(w, f->name, at, 3); break;
    case KKI_FIELD_SIX: put_six(w, f->name, at); break;
    default: break; // poses are written by hand, masks are of no interest to a viewer
    }
}

static void put_fields(kki_json_writer *w, kki_karakuri_element element, const void *def) {
    for (const kki_field *f = kki_fields_of(element)->field; f->name; f++) {
        put_field(w, f, def);
    }
}

// ---- bodies

static const char *type_of_joint(kk_joint_type type) {
    return word_of(kki_fields_of(KKI_ELEMENT_JOINT)->field[0].words, (int)type);
}

static void put_dofs(kki_json_writer *w, const kk_joint_def *joint, int nv) {
    kki_json_open(w, "dofs", '[');
    for (int i = 0; i < nv; i++) {
        const kki_karakuri_dof dof = {i, joint->dof[i]};
        kki_json_open(w, NULL, '{');
        put_fields(w, KKI_ELEMENT_DOF, &dof);
        kki_json_close(w, '}');
    }
    kki_json_close(w, ']');
}

static void put_joint(kki_json_writer *w, const kk_body_def *body, kk_joint_info info) {
    kki_json_open(w, "joint", '{');
    kki_json_put_string(w, "name", info.name);
    kki_json_put_string(w, "type", type_of_joint(info.type));
    kki_json_put_int(w, "q", info.q_index);
    kki_json_put_int(w, "nq", info.nq);
    kki_json_put_int(w, "v", info.v_index);
    kki_json_put_int(w, "nv", info.nv);
    kki_json_put_pose(w, "placement", body->joint.placement);
    kki_json_put_pose(w, "offset", body->offset);
    kki_json_put_vec3(w, "axis", body->joint.axis);
    kki_json_put_vec3(w, "axis2", body->joint.axis2);
    put_dofs(w, &body->joint, info.nv);
    kki_json_close(w, '}');
}

static void put_body(kki_json_writer *w, const kk_spec *spec, const kk_model *model, int id) {
    const kk_inertia inertia = kk_model_body_inertia(model, id);
    const kk_sym3 I = inertia.moment;
    kki_json_open(w, NULL, '{');
    kki_json_put_string(w, "name", kk_model_body_name(model, id));
    kki_json_put_int(w, "parent", kk_model_body_parent(model, id));
    kki_json_put_number(w, "mass", inertia.mass);
    kki_json_put_vec3(w, "com", inertia.com);
    kki_json_put_numbers(w, "moment", (const double[]){I.xx, I.yy, I.zz, I.xy, I.xz, I.yz}, 6);
    if (id > 0) {
        put_joint(w, kk_spec_body_const(spec, id), kk_model_joint(model, id));
    }
    kki_json_close(w, '}');
}

static void put_frame(kki_json_writer *w, const kk_model *model, int id) {
    kki_json_open(w, NULL, '{');
    kki_json_put_string(w, "name", kk_model_frame_name(model, id));
    kki_json_put_int(w, "body", kk_model_frame_body(model, id));
    kki_json_put_pose(w, "placement", kk_model_frame_placement(model, id));
    kki_json_close(w, '}');
}

// ---- shapes

static void put_color(kki_json_writer *w, const char *key, const float color[4]) {
    kki_json_put_numbers(w, key, (const double[]){color[0], color[1], color[2], color[3]}, 4);
}

/// A file, or a pattern of two colors.
static void put_texture(kki_json_writer *w, const kk_visual_def *visual) {
    static const char *const words[] = {"none", "flat", "gradient", "checker"};
    const float(*c)[3] = visual->pattern_color;
    if (visual->pattern == KK_PATTERN_NONE && !(visual->texture && visual->texture[0])) {
        return;
    }
    kki_json_open(w, "texture", '{');
    if (visual->texture && visual->texture[0]) {
        kki_json_put_string(w, "file", visual->texture);
    }
    if (visual->pattern != KK_PATTERN_NONE) {
        kki_json_put_string(w, "pattern", words[visual->pattern]);
        kki_json_put_numbers(w, "colors", (const double[]){c[0][0], c[0][1], c[0][2], c[1][0], c[1][1], c[1][2]}, 6);
    }
    kki_json_put_numbers(w, "repeat", (const double[]){visual->repeat[0], visual->repeat[1]}, 2);
    kki_json_put_bool(w, "by_size", visual->repeats_by_size);
    kki_json_close(w, '}');
}

static void put_shape(kki_json_writer *w, const kk_model *model, int id) {
    const kk_shape_def s = kk_model_shape(model, id);
    kki_json_open(w, NULL, '{');
    kki_json_put_string(w, "name", s.name);
    kki_json_put_int(w, "body", s.body);
    kki_json_put_string(w, "type", word_of(kki_fields_of(KKI_ELEMENT_SHAPE)->field[0].words, (int)s.type));
    kki_json_put_pose(w, "placement", s.placement);
    kki_json_put_numbers(w, "size", s.size, 3);
    kki_json_put_int(w, "mesh", s.mesh);
    kki_json_put_int(w, "height_field", s.height_field);
    kki_json_put_bool(w, "collides", s.purpose & KK_SHAPE_COLLIDES);
    kki_json_put_bool(w, "visible", s.purpose & KK_SHAPE_VISIBLE);
    kki_json_put_int(w, "material", s.material);
    kki_json_put_number(w, "margin", s.margin);
    if (s.visual >= 0) {
        const kk_visual_def visual = kk_model_visual(model, s.visual);
        put_color(w, "color", visual.color);
        put_texture(w, &visual);
    }
    kki_json_close(w, '}');
}

static void put_part(kki_json_writer *w, const kk_mesh_part *part) {
    kki_json_open(w, NULL, '{');
    kki_json_put_string(w, "name", part->name);
    if (part->has_color) {
        put_color(w, "color", part->color);
    }
    kki_json_put_int(w, "first", part->first_face);
    kki_json_put_int(w, "count", part->face_count);
    kki_json_close(w, '}');
}

static void put_mesh(kki_json_writer *w, const kk_model *model, int id) {
    const kk_mesh_def mesh = kk_model_mesh(model, id);
    kki_json_open(w, NULL, '{');
    kki_json_put_string(w, "name", mesh.name);
    kki_json_put_int(w, "vertices", mesh.vertex_count);
    kki_json_put_int(w, "faces", mesh.face_count);
    kki_json_open(w, "parts", '[');
    for (int i = 0; i < mesh.part_count; i++) {
        put_part(w, &mesh.part[i]);
    }
    kki_json_close(w, ']');
    kki_json_close(w, '}');
}

static void put_height_field(kki_json_writer *w, const kk_model *model, int id) {
    const kk_height_field_def f = kk_model_height_field(model, id);
    kki_json_open(w, NULL, '{');
    put_fields(w, KKI_ELEMENT_HEIGHT_FIELD, &f);
    kki_json_close(w, '}');
}

// ---- what acts and what is measured

static void put_material(kki_json_writer *w, const kk_model *model, int id) {
    const kk_material_def material = kk_model_material(model, id);
    kki_json_open(w, NULL, '{');
    put_fields(w, KKI_ELEMENT_MATERIAL, &material);
    kki_json_close(w, '}');
}

static void put_actuator(kki_json_writer *w, const kk_spec *spec, const kk_model *model, int id) {
    const kk_actuator_def *def = kk_spec_actuator_const(spec, id);
    const kk_actuator_info info = kk_model_actuator(model, id);
    kki_json_open(w, NULL, '{');
    put_fields(w, KKI_ELEMENT_ACTUATOR, def);
    kki_json_put_int(w, "joint", info.joint);
    kki_json_put_int(w, "v", info.v_index);
    kki_json_close(w, '}');
}

static void put_sensor(kki_json_writer *w, const kk_spec *spec, const kk_model *model, int id) {
    const kk_sensor_def *def = kk_spec_sensor_const(spec, id);
    const kk_sensor_info info = kk_model_sensor(model, id);
    char word[64];
    kki_json_open(w, NULL, '{');
    put_fields(w, KKI_ELEMENT_SENSOR, def);
    kki_json_put_string(w, "type", kki_sensor_word(def->type, word, sizeof word));
    kki_json_put_int(w, "id", info.target);
    kki_json_put_bool(w, "on_body", info.target_is_body);
    kki_json_put_int(w, "first", info.first);
    kki_json_put_int(w, "count", info.count);
    kki_json_close(w, '}');
}

static void put_loop(kki_json_writer *w, const kk_spec *spec, int id) {
    const kk_loop_def *loop = kk_spec_loop_const(spec, id);
    kki_json_open(w, NULL, '{');
    put_fields(w, KKI_ELEMENT_LOOP, loop);
    kki_json_put_pose(w, "placement1", loop->placement[0]);
    kki_json_put_pose(w, "placement2", loop->placement[1]);
    kki_json_close(w, '}');
}

static void put_tendon(kki_json_writer *w, const kk_spec *spec, int id) {
    const kk_tendon_def *tendon = kk_spec_tendon_const(spec, id);
    kki_json_open(w, NULL, '{');
    put_fields(w, KKI_ELEMENT_TENDON, tendon);
    kki_json_open(w, "items", '[');
    for (int i = 0; i < tendon->item_count; i++) {
        kki_json_open(w, NULL, '{');
        put_fields(w, KKI_ELEMENT_ITEM, &tendon->item[i]);
        kki_json_close(w, '}');
    }
    kki_json_close(w, ']');
    kki_json_close(w, '}');
}

static void put_keyframe(kki_json_writer *w, const kk_model *model, int id) {
    const kk_keyframe_def key = kk_model_keyframe(model, id);
    kki_json_open(w, NULL, '{');
    kki_json_put_string(w, "name", key.name);
    kki_json_put_number(w, "time", key.time);
    kki_json_close(w, '}');
}

static void put_script(kki_json_writer *w, const kk_script_def *def) {
    kki_json_open(w, NULL, '{');
    kki_json_put_string(w, "name", def->name);
    kki_json_put_string(w, "text", def->text);
    kki_json_close(w, '}');
}

static void put_parameter(kki_json_writer *w, const kk_parameter_def *def) {
    kki_json_open(w, NULL, '{');
    put_fields(w, KKI_ELEMENT_PARAMETER, def);
    kki_json_close(w, '}');
}

// ---- the whole

static void put_hash(kki_json_writer *w, const char *key, uint64_t hash) {
    char text[17] = {0};
    for (int i = 0; i < 16; i++) {
        text[i] = "0123456789abcdef"[(hash >> (60 - 4 * i)) & 15];
    }
    kki_json_put_string(w, key, text);
}

static void put_options(kki_json_writer *w, const kk_model *model, const kk_step_options *step) {
    const kk_options options = kk_model_options(model);
    const kk_step_options none = {0};
    kki_json_open(w, "options", '{');
    put_fields(w, KKI_ELEMENT_OPTION, &options);
    kki_json_close(w, '}');
    kki_json_open(w, "step", '{');
    for (const kki_field *f = kki_step_fields(); f->name; f++) {
        put_field(w, f, step ? step : &none);
    }
    kki_json_close(w, '}');
}

/// An array with one call for each item.
#define PUT_ALL(w, key, count, call)        \
    do {                                    \
        kki_json_open(w, key, '[');         \
        for (int i = 0; i < (count); i++) { \
            call;                           \
        }                                   \
        kki_json_close(w, ']');             \
    } while (0)

static void put_model(kki_json_writer *w, const kk_spec *spec, const kk_model *model) {
    PUT_ALL(w, "bodies", kk_model_nbody(model), put_body(w, spec, model, i));
    PUT_ALL(w, "frames", kk_model_nframe(model), put_frame(w, model, i));
    PUT_ALL(w, "shapes", kk_model_nshape(model), put_shape(w, model, i));
    PUT_ALL(w, "meshes", kk_model_nmesh(model), put_mesh(w, model, i));
    PUT_ALL(w, "height_fields", kk_model_nheight_field(model), put_height_field(w, model, i));
    PUT_ALL(w, "materials", kk_model_nmaterial(model), put_material(w, model, i));
    PUT_ALL(w, "actuators", kk_model_nactuator(model), put_actuator(w, spec, model, i));
    PUT_ALL(w, "sensors", kk_model_nsensor(model), put_sensor(w, spec, model, i));
    PUT_ALL(w, "loops", kk_model_nloop(model), put_loop(w, spec, i));
    PUT_ALL(w, "tendons", kk_model_ntendon(model), put_tendon(w, spec, i));
    PUT_ALL(w, "keyframes", kk_model_nkeyframe(model), put_keyframe(w, model, i));
    PUT_ALL(w, "scripts", kk_spec_script_count(spec), put_script(w, kk_spec_script_const(spec, i)));
    PUT_ALL(w, "parameters", kk_spec_parameter_count(spec), put_parameter(w, kk_spec_parameter_const(spec, i)));
}

kk_status kk_view_describe(const kk_spec *spec, const kk_model *model, const kk_step_options *options,
                           const kk_allocator *allocator, char **text, size_t *size, kk_error *error) {
    if (!spec || !model || !text || !size) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "the spec, the model or the place for the text is NULL");
    }
    if (kk_spec_body_count(spec) != kk_model_nbody(model) ||
        kk_spec_actuator_count(spec) != kk_model_nactuator(model)) {
        return kki_error_set(error, KK_SIZE_MISMATCH, "the model was not compiled from this spec");
    }
    kki_json_writer w = {.allocator = kki_allocator_or_default(allocator)};
    kki_json_open(&w, NULL, '{');
    kki_json_put_int(&w, "karakuri", 1);
    kki_json_put_string(&w, "name", kk_model_name(model));
    put_hash(&w, "hash", kk_model_hash(model));
    kki_json_put_number(&w, "mass", kk_model_mass(model));
    kki_json_put_int(&w, "nq", kk_model_nq(model));
    kki_json_put_int(&w, "nv", kk_model_nv(model));
    put_options(&w, model, options);
    put_model(&w, spec, model);
    kki_json_close(&w, '}');
    return kki_json_finish(&w, text, size, error);
}

// ---- meshes

size_t kk_view_mesh_size(const kk_model *model, int mesh) {
    const kk_mesh_def def = kk_model_mesh(model, mesh);
    return 12 * ((size_t)def.vertex_count + (size_t)def.face_count);
}

kk_status kk_view_mesh(const kk_model *model, int mesh, void *bytes, size_t size) {
    if (!model || !bytes || size == 0 || size != kk_view_mesh_size(model, mesh)) {
        return KK_SIZE_MISMATCH;
    }
    const kk_mesh_def def = kk_model_mesh(model, mesh);
    kki_bytes at = {bytes};
    for (int i = 0; i < def.vertex_count; i++) {
        kki_put_vec3(&at, def.vertex[i]);
    }
    for (int i = 0; i < def.face_count; i++) {
        for (int k = 0; k < 3; k++) {
            kki_put_u32(&at, (uint32_t)def.face[i][k]);
        }
    }
    return KK_OK;
}

size_t kk_view_height_field_size(const kk_model *model, int field) {
    const kk_height_field_def def = kk_model_height_field(model, field);
    return 4 * (size_t)def.rows * (size_t)def.columns;
}

kk_status kk_view_height_field(const kk_model *model, int field, void *bytes, size_t size) {
    if (!model || !bytes || size == 0 || size != kk_view_height_field_size(model, field)) {
        return KK_SIZE_MISMATCH;
    }
    const kk_height_field_def def = kk_model_height_field(model, field);
    kki_bytes at = {bytes};
    kki_put_doubles(&at, def.height, def.rows * def.columns);
    return KK_OK;
}
