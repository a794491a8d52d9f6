/// From the names that tendons, actuators and sensors give to ids.
#include "model/compile.h"
#include "model/joint.h"

kk_status kki_find_named(kki_item item, const kk_model *m, kki_named kind, const char *name, int32_t *id,
                         kk_error *error) {
    static const char *const kinds[KKI_NAMED_COUNT] = {"body",   "joint",        "frame",    "shape",
                                                       "mesh",   "height field", "material", "loop",
                                                       "tendon", "actuator",     "sensor",   "keyframe"};
    *id = kki_model_find(m, kind, name);
    if (*id >= 0) {
        return KK_OK;
    }
    return kki_item_error(error, KK_NOT_FOUND, item, "there is no %s \"%s\"; check the spelling", kinds[kind], name);
}

kk_status kki_find_frame_or_body(kki_item item, const kk_model *m, const char *name, int32_t *id, int32_t *is_body,
                                 kk_error *error) {
    *id = kki_model_find(m, KKI_NAMED_FRAME, name);
    *is_body = *id < 0;
    *id = *is_body ? kki_model_find(m, KKI_NAMED_BODY, name) : *id;
    if (*id >= 0) {
        return KK_OK;
    }
    return kki_item_error(error, KK_NOT_FOUND, item, "there is no frame and no body \"%s\"; check the spelling", name);
}

kk_status kki_find_dof(kki_item item, const kk_model *m, const char *joint, int dof, kki_joint_dof *found,
                       kk_error *error) {
    const kk_status status = kki_find_named(item, m, KKI_NAMED_JOINT, joint, &found->body, error);
    if (status != KK_OK) {
        return status;
    }
    const kki_body *body = &m->body[found->body];
    if (body->nv == 0) {
        return kki_item_error(error, KK_INVALID_MODEL, item, "joint \"%s\" is fixed; name one that moves", joint);
    }
    if (dof < 0 || dof >= body->nv) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "joint \"%s\" has no degree of freedom %d; it has %d, counted from 0", joint, dof,
                              (int)body->nv);
    }
    found->v_index = body->v_index + dof;
    found->q_index = body->nq == body->nv ? body->q_index + dof : -1;
    return KK_OK;
}

kk_status kki_find_coordinate(kki_item item, const kk_model *m, const char *joint, int dof, kki_joint_dof *found,
                              kk_error *error) {
    const kk_status status = kki_find_dof(item, m, joint, dof, found, error);
    if (status != KK_OK || found->q_index >= 0) {
        return status;
    }
    const kk_joint_type type = (kk_joint_type)m->body[found->body].joint_type;
    return kki_item_error(error, KK_INVALID_MODEL, item,
                          "joint \"%s\" is %s, which has no angle or travel to measure; name another kind of joint",
                          joint, kki_joint_type_of(type)->name);
}
