/// Keyframes: from the spec's order of coordinates, body after body, to the model's.
#include <string.h>

#include "model/compile.h"

/// A quaternion may be off by the rounding of a few printed digits; more means that the numbers are in another order.
static const double LENGTH_TOLERANCE = 0.1;

static kk_status check_count(kki_item item, const char *what, const double *numbers, int count, int32_t needed,
                             kk_error *error) {
    if (!numbers || count == needed) {
        return KK_OK;
    }
    return kki_item_error(error, KK_SIZE_MISMATCH, item, "it has %d numbers for %s; the model has %d", count, what,
                          (int)needed);
}

static kk_status check_quaternion(kki_item item, const kk_model *m, const kki_body *body, const double *q,
                                  kk_error *error) {
    const double *a = q + body->q_index;
    const double length = kk_sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3]);
    if (__builtin_fabs(length - 1) <= LENGTH_TOLERANCE) {
        return KK_OK;
    }
    return kki_item_error(error, KK_INVALID_MODEL, item,
                          "the quaternion of joint \"%s\" has length %s; it must be 1, are the coordinates in order?",
                          kki_model_name(m, body->joint_name), KKI_NUMBER(length));
}

static kk_status check_quaternions(kki_item item, const kk_model *m, const double *q, kk_error *error) {
    kk_status status = KK_OK;
    for (int i = 1; i < m->nbody && status == KK_OK; i++) {
        if (m->body[i].joint_type == KK_JOINT_BALL || m->body[i].joint_type == KK_JOINT_FREE) {
            status = check_quaternion(item, m, &m->body[i], q, error);
        }
    }
    return status;
}

static void reorder(const kk_model *m, const double *spec_q, const double *spec_v, kki_model_keyframe *key) {
    int q = 0, v = 0;
    for (int i = 0; i < m->nbody; i++) {
        const kki_body *body = &m->body[i];
        for (int k = 0; spec_q && k < body->nq; k++) {
            key->q[body->q_index + k] = spec_q[q + k];
        }
        for (int k = 0; spec_v && k < body->nv; k++) {
            key->v[body->v_index + k] = spec_v[v + k];
        }
        q += body->nq;
        v += body->nv;
    }
}

static kk_status compile_keyframe(const kk_spec *spec, kk_model *m, int id, kk_error *error) {
    const kk_keyframe_def *def = &spec->keyframe[id];
    const kki_item item = KKI_ITEM(spec, keyframe, "keyframe", id);
    kki_model_keyframe *key = &m->keyframe[id];
    kk_status status = check_count(item, "the coordinates (q)", def->q, def->q_count, m->nq, error);
    status = status ? status : check_count(item, "the velocities (v)", def->v, def->v_count, m->nv, error);
    status = status ? status : check_count(item, "the controls", def->control, def->control_count, m->nactuator, error);
    if (status != KK_OK) {
        return status;
    }
    key->time = def->time;
    kk_model_start(m, key->q);
    reorder(m, def->q, def->v, key);
    if (def->control && m->nactuator > 0) {
        memcpy(key->control, def->control, (size_t)m->nactuator * sizeof *key->control);
    }
    status = check_quaternions(item, m, key->q, error);
    if (status == KK_OK && def->q) {
        kk_normalize(m, key->q);
    }
    return status;
}

kk_status kki_compile_keyframes(const kk_spec *spec, kk_model *m, kk_error *error) {
    kk_status status = KK_OK;
    for (int i = 0; i < m->nkeyframe && status == KK_OK; i++) {
        status = compile_keyframe(spec, m, i, error);
    }
    return status;
}
