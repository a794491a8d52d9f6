/// Checks actuators, sensors and keyframes, each by itself; what they name is looked up in compile_actuators.c and its
/// neighbours.
#include "model/check.h"

static const double HALF_TURN = 3.14159265358979323846;

static kk_status check_target(kki_item item, const char *target, const char *kind, kk_error *error) {
    if (target && target[0]) {
        return KK_OK;
    }
    return kki_item_error(error, KK_INVALID_MODEL, item, "it has no target; name the %s it sits on", kind);
}

// ---- actuators

static kk_status check_choices(kki_item item, const kk_actuator_def *a, kk_error *error) {
    kk_status status =
        kki_check_choice(item, "actuator type", (int)a->type, KK_ACTUATOR_GENERAL + 1, "KK_ACTUATOR_...", error);
    status = status ? status
                    : kki_check_choice(item, "transmission", (int)a->transmission, KK_TRANSMISSION_FRAME + 1,
                                       "KK_TRANSMISSION_...", error);
    return status ? status : kki_check_choice(item, "lag", (int)a->lag, KK_LAG_INTEGRATE + 1, "KK_LAG_...", error);
}

static kk_status check_gains(kki_item item, const kk_actuator_def *a, kk_error *error) {
    kk_status status = kki_check_finite(item, "gear", a->gear, error);
    status = status ? status : kki_check_finite(item, "gain", a->gain, error);
    for (int k = 0; k < 3 && status == KK_OK; k++) {
        status = kki_check_finite(item, "bias", a->bias[k], error);
    }
    status = status ? status : kki_check_vector(item, "direction", a->direction.angular, error);
    return status ? status : kki_check_vector(item, "direction", a->direction.linear, error);
}

static kk_status check_limits(kki_item item, const kk_actuator_def *a, kk_error *error) {
    kk_status status = kki_check_range(item, "the control", a->control_lower, a->control_upper, error);
    status = status ? status : kki_check_range(item, "the force", a->force_lower, a->force_upper, error);
    return status ? status : kki_check_range(item, "the lag", a->lag_lower, a->lag_upper, error);
}

static kk_status check_actuator(const kk_spec *spec, int id, kk_error *error) {
    static const char *const kinds[] = {"joint", "tendon", "frame"};
    const kk_actuator_def *a = &spec->actuator[id];
    const kki_item item = KKI_ITEM(spec, actuator, "actuator", id);
    kk_status status = check_choices(item, a, error);
    status = status ? status : check_target(item, a->target, kinds[a->transmission], error);
    status = status ? status : check_gains(item, a, error);
    status = status ? status : check_limits(item, a, error);
    return status || a->lag != KK_LAG_FILTER ? status
                                             : kki_check_positive(item, "time_constant", a->time_constant, error);
}

// ---- sensors

static kk_status check_range_sensor(kki_item item, const kk_sensor_def *s, kk_error *error) {
    const kk_status status = kki_check_not_negative(item, "field", s->field, error);
    if (status == KK_OK && s->field >= HALF_TURN) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "field is %s rad; half the angle of view must be less than half a turn",
                              KKI_NUMBER(s->field));
    }
    if (status == KK_OK && s->rays < 1) {
        return kki_item_error(error, KK_INVALID_MODEL, item, "it has %d rays; it needs one or more", s->rays);
    }
    return status;
}

static kk_status check_sensor(const kk_spec *spec, int id, kk_error *error) {
    const kk_sensor_def *s = &spec->sensor[id];
    const kki_item item = KKI_ITEM(spec, sensor, "sensor", id);
    kk_status status = kki_check_choice(item, "sensor type", (int)s->type, KK_SENSOR_CLOCK + 1, "KK_SENSOR_...", error);
    if (status == KK_OK && s->type != KK_SENSOR_CLOCK) {
        status = check_target(item, s->target, "joint, actuator, tendon, frame or body", error);
    }
    status = status ? status : kki_check_not_negative(item, "noise", s->noise, error);
    status = status ? status : kki_check_not_negative(item, "cutoff", s->cutoff, error);
    return status || s->type != KK_SENSOR_RANGE ? status : check_range_sensor(item, s, error);
}

// ---- keyframes

static kk_status check_numbers(kki_item item, const char *what, const double *numbers, int count, kk_error *error) {
    kk_status status = KK_OK;
    for (int i = 0; numbers && i < count && status == KK_OK; i++) {
        status = kki_check_finite(item, what, numbers[i], error);
    }
    return status;
}

static kk_status check_keyframe(const kk_spec *spec, int id, kk_error *error) {
    const kk_keyframe_def *k = &spec->keyframe[id];
    const kki_item item = KKI_ITEM(spec, keyframe, "keyframe", id);
    kk_status status = kki_check_finite(item, "time", k->time, error);
    status = status ? status : check_numbers(item, "a coordinate (q)", k->q, k->q_count, error);
    status = status ? status : check_numbers(item, "a velocity (v)", k->v, k->v_count, error);
    return status ? status : check_numbers(item, "a control", k->control, k->control_count, error);
}

kk_status kki_check_control(const kk_spec *spec, kk_error *error) {
    kk_status status = KK_OK;
    for (int i = 0; i < spec->nactuator && status == KK_OK; i++) {
        status = check_actuator(spec, i, error);
    }
    for (int i = 0; i < spec->nsensor && status == KK_OK; i++) {
        status = check_sensor(spec, i, error);
    }
    for (int i = 0; i < spec->nkeyframe && status == KK_OK; i++) {
        status = check_keyframe(spec, i, error);
    }
    return status;
}
