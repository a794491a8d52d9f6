/// Reading a model. An id that does not exist gives NULL, −1 or a default, never a crash.
#include "model/model.h"

static int is_body(const kk_model *m, int body) {
    return body >= 0 && body < m->nbody;
}

static int is_frame(const kk_model *m, int frame) {
    return frame >= 0 && frame < m->nframe;
}

int kk_model_nq(const kk_model *model) {
    return model->nq;
}

int kk_model_nv(const kk_model *model) {
    return model->nv;
}

int kk_model_nbody(const kk_model *model) {
    return model->nbody;
}

int kk_model_nframe(const kk_model *model) {
    return model->nframe;
}

int kk_model_ncoupling(const kk_model *model) {
    return model->ncoupling;
}

kk_vec3 kk_model_gravity(const kk_model *model) {
    return kk_vec3_make(model->gravity[0], model->gravity[1], model->gravity[2]);
}

double kk_model_mass(const kk_model *model) {
    return model->total_mass;
}

uint64_t kk_model_hash(const kk_model *model) {
    return model->hash;
}

const char *kk_model_body_name(const kk_model *model, int body) {
    return is_body(model, body) ? kki_model_name(model, model->body[body].name) : NULL;
}

const char *kk_model_frame_name(const kk_model *model, int frame) {
    return is_frame(model, frame) ? kki_model_name(model, model->frame[frame].name) : NULL;
}

int kk_model_body_parent(const kk_model *model, int body) {
    return is_body(model, body) ? model->body[body].parent : -1;
}

kk_inertia kk_model_body_inertia(const kk_model *model, int body) {
    return is_body(model, body) ? model->body[body].inertia : (kk_inertia){0};
}

kk_joint_info kk_model_joint(const kk_model *model, int body) {
    if (!is_body(model, body)) {
        return (kk_joint_info){.name = "", .type = KK_JOINT_FIXED, .q_index = -1, .v_index = -1};
    }
    const kki_body *b = &model->body[body];
    return (kk_joint_info){.name = kki_model_name(model, b->joint_name),
                           .type = (kk_joint_type)b->joint_type,
                           .q_index = b->q_index,
                           .nq = b->nq,
                           .v_index = b->v_index,
                           .nv = b->nv};
}

kk_dof_def kk_model_dof(const kk_model *model, int dof) {
    return dof >= 0 && dof < model->nv ? model->dof[dof] : kk_dof_def_default();
}

int kk_model_frame_body(const kk_model *model, int frame) {
    return is_frame(model, frame) ? model->frame[frame].body : -1;
}

kk_transform kk_model_frame_placement(const kk_model *model, int frame) {
    return is_frame(model, frame) ? model->frame[frame].X_BF : kk_transform_identity();
}
