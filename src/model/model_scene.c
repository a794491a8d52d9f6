/// Reading a model's scene. An id that does not exist gives NULL, −1 or a default, never a crash.
#include "model/model.h"

static int is_id(int id, int32_t count) {
    return id >= 0 && id < count;
}

const char *kk_model_name(const kk_model *model) {
    return kki_model_name(model, model->model_name);
}

kk_options kk_model_options(const kk_model *model) {
    return model->options;
}

// ---- counts and ids by name

#define DEFINE_COUNT(name, field)                 \
    int kk_model_n##name(const kk_model *model) { \
        return model->field;                      \
    }
DEFINE_COUNT(shape, nshape)
DEFINE_COUNT(mesh, nmesh)
DEFINE_COUNT(height_field, nfield)
DEFINE_COUNT(visual, nvisual)
DEFINE_COUNT(material, nmaterial)
DEFINE_COUNT(loop, nloop)
DEFINE_COUNT(tendon, ntendon)
DEFINE_COUNT(actuator, nactuator)
DEFINE_COUNT(sensor, nsensor)
DEFINE_COUNT(keyframe, nkeyframe)
DEFINE_COUNT(activation, nactivation)
DEFINE_COUNT(sensordata, nsensordata)

#define DEFINE_FIND(name, kind)                                           \
    int kk_model_find_##name(const kk_model *model, const char *wanted) { \
        return kki_model_find(model, kind, wanted);                       \
    }
DEFINE_FIND(shape, KKI_NAMED_SHAPE)
DEFINE_FIND(mesh, KKI_NAMED_MESH)
DEFINE_FIND(height_field, KKI_NAMED_FIELD)
DEFINE_FIND(material, KKI_NAMED_MATERIAL)
DEFINE_FIND(loop, KKI_NAMED_LOOP)
DEFINE_FIND(tendon, KKI_NAMED_TENDON)
DEFINE_FIND(actuator, KKI_NAMED_ACTUATOR)
DEFINE_FIND(sensor, KKI_NAMED_SENSOR)
DEFINE_FIND(keyframe, KKI_NAMED_KEYFRAME)

// ---- shapes

/// Radii are stored as they are, lengths and edges as halves.
static double size_of(const kki_shape *shape, int k) {
    const int has_length =
        shape->type == KK_SHAPE_CAPSULE || shape->type == KK_SHAPE_CYLINDER || shape->type == KK_SHAPE_CONE;
    const int is_half = shape->type == KK_SHAPE_BOX || (has_length && k == 1);
    return is_half ? 2 * shape->half[k] : shape->half[k];
}

kk_shape_def kk_model_shape(const kk_model *model, int shape) {
    if (!is_id(shape, model->nshape)) {
        kk_shape_def none = kk_shape_def_default();
        none.body = -1;
        none.purpose = 0;
        return none;
    }
    const kki_model_shape *s = &model->shape[shape];
    return (kk_shape_def){.name = kki_model_name(model, s->name),
                          .body = s->body,
                          .type = (kk_shape_type)s->shape.type,
                          .placement = s->X_BS,
                          .size = {size_of(&s->shape, 0), size_of(&s->shape, 1), size_of(&s->shape, 2)},
                          .mesh = s->mesh,
                          .height_field = s->field,
                          .purpose = s->purpose,
                          .margin = s->shape.margin,
                          .material = s->material,
                          .group = s->group,
                          .mask = s->mask,
                          .surface = s->surface,
                          .visual = s->visual};
}

kk_mesh_def kk_model_mesh(const kk_model *model, int mesh) {
    if (!is_id(mesh, model->nmesh)) {
        return kk_mesh_def_default();
    }
    const kki_model_mesh *x = &model->mesh[mesh];
    return (kk_mesh_def){.name = kki_model_name(model, x->name),
                         .file = kki_model_name(model, x->file),
                         .reference = kki_model_name(model, x->reference),
                         .scale = x->scale,
                         .vertex = x->vertex,
                         .face = (const int32_t(*)[3])x->face,
                         .part = x->part,
                         .vertex_count = x->vertex_count,
                         .face_count = x->face_count,
                         .part_count = x->part_count};
}

kk_height_field_def kk_model_height_field(const kk_model *model, int field) {
    return is_id(field, model->nfield) ? model->field[field].def : kk_height_field_def_default();
}

kk_visual_def kk_model_visual(const kk_model *model, int visual) {
    return is_id(visual, model->nvisual) ? model->visual[visual] : kk_visual_def_default();
}

kk_material_def kk_model_material(const kk_model *model, int material) {
    return is_id(material, model->nmaterial) ? model->material[material] : kk_material_def_default();
}

int kk_model_may_touch(const kk_model *model, int shape_a, int shape_b, kk_contact_law *law) {
    int id;
    if (!is_id(shape_a, model->nshape) || !is_id(shape_b, model->nshape) ||
        !kki_model_pair_may_touch(model, shape_a, shape_b, &id)) {
        return 0;
    }
    const kki_contact_law *l = &model->law[id];
    const int first = shape_a < shape_b ? shape_a : shape_b, second = shape_a < shape_b ? shape_b : shape_a;
    if (law) {
        *law = (kk_contact_law){.friction = l->friction,
                                .static_friction = l->static_friction,
                                .friction_across = l->friction * l->ratio,
                                .axes = l->axes ? second : first,
                                .torsion = l->torsion,
                                .rolling = l->rolling,
                                .restitution = l->restitution,
                                .stiffness = l->stiffness,
                                .damping = l->damping,
                                .adhesion = l->adhesion,
                                .slip = l->slip};
    }
    return 1;
}

// ---- constraints and control

const char *kk_model_loop_name(const kk_model *model, int loop) {
    return is_id(loop, model->nloop) ? kki_model_name(model, model->loop[loop].name) : NULL;
}

const char *kk_model_tendon_name(const kk_model *model, int tendon) {
    return is_id(tendon, model->ntendon) ? kki_model_name(model, model->tendon[tendon].name) : NULL;
}

kk_actuator_info kk_model_actuator(const kk_model *model, int actuator) {
    if (!is_id(actuator, model->nactuator)) {
        return (kk_actuator_info){
            .joint = -1, .v_index = -1, .tendon = -1, .frame = -1, .reference = -1, .activation_index = -1};
    }
    const kki_model_actuator *a = &model->actuator[actuator];
    return (kk_actuator_info){.name = kki_model_name(model, a->name),
                              .type = a->type,
                              .transmission = a->transmission,
                              .joint = a->v_index < 0 ? -1 : model->node_body[model->dof_node[a->v_index]],
                              .v_index = a->v_index,
                              .tendon = a->tendon,
                              .frame = a->frame,
                              .reference = a->reference,
                              .activation_index = a->activation_index,
                              .gear = a->gear,
                              .gain = a->gain,
                              .bias = {a->bias[0], a->bias[1], a->bias[2]},
                              .control_lower = a->control_lower,
                              .control_upper = a->control_upper,
                              .force_lower = a->force_lower,
                              .force_upper = a->force_upper};
}

kk_sensor_info kk_model_sensor(const kk_model *model, int sensor) {
    if (!is_id(sensor, model->nsensor)) {
        return (kk_sensor_info){.target = -1, .first = -1};
    }
    const kki_model_sensor *s = &model->sensor[sensor];
    return (kk_sensor_info){.name = kki_model_name(model, s->name),
                            .type = s->type,
                            .target = s->target,
                            .target_is_body = s->target_is_body,
                            .dof = s->dof,
                            .first = s->first,
                            .count = s->count};
}

kk_keyframe_def kk_model_keyframe(const kk_model *model, int keyframe) {
    if (!is_id(keyframe, model->nkeyframe)) {
        return kk_keyframe_def_default();
    }
    const kki_model_keyframe *k = &model->keyframe[keyframe];
    return (kk_keyframe_def){.name = kki_model_name(model, k->name),
                             .time = k->time,
                             .q = k->q,
                             .v = k->v,
                             .control = k->control,
                             .q_count = model->nq,
                             .v_count = model->nv,
                             .control_count = model->nactuator};
}
