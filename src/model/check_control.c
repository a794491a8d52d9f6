/// Checks actuators, sensors and keyframes, each by itself; what they name is looked up in compile_actuators.c and its
/// neighbors.
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
        kki_check_choice(item, "actuator type", (int)a->type, KK_ACTUATOR_MUSCLE + 1, "KK_ACTUATOR_...", error);
    status = status ? status
                    : kki_check_choice(item, "transmission", (int)a->transmission, KK_TRANSMISSION_CRANK + 1,
                                       "KK_TRANSMISSION_...", error);
    return status ? status
                  : kki_check_choice(item, "lag", (int)a->activation, KK_ACTIVATION_MUSCLE + 1, "KK_ACTIVATION_...",
                                     error);
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
    return status ? status : kki_check_range(item, "the lag", a->activation_lower, a->activation_upper, error);
}

/// A million controls of memory are enough for anybody who can wait for them.
enum { MOST_DELAY_SAMPLES = 1000000 };

static kk_status check_delay(kki_item item, const kk_actuator_def *a, kk_error *error) {
    kk_status status = kki_check_not_negative(item, "delay", a->delay, error);
    status = status ? status
                    : kki_check_choice(item, "delay_interpolation", (int)a->delay_interpolation, KK_DELAY_CUBIC + 1,
                                       "KK_DELAY_...", error);
    if (status == KK_OK &&
        (a->delay_samples < 0 || a->delay_samples > MOST_DELAY_SAMPLES || (a->delay > 0 && a->delay_samples == 0))) {
        status = kki_item_error(error, KK_INVALID_MODEL, item,
                                "it remembers %d controls; a delay needs one or more, delay / time step of them",
                                a->delay_samples);
    }
    return status;
}

static kk_status check_order(kki_item item, const char *what, double lower, double upper, kk_error *error) {
    return lower < upper ? KK_OK
                         : kki_item_error(error, KK_INVALID_MODEL, item, "%s goes from %s to %s; it must grow", what,
                                          KKI_NUMBER(lower), KKI_NUMBER(upper));
}

static kk_status check_muscle(kki_item item, const kk_muscle_def *m, kk_error *error) {
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"the muscle's force", m->force},   {"the muscle's fpmax", m->fpmax},
                   {"the muscle's fvmax", m->fvmax},   {"the muscle's smoothing", m->smoothing},
                   {"the muscle's lmin", m->lmin},     {"the muscle's lmax", m->lmax},
                   {"the muscle's range", m->range[0]}};
    kk_status status = KK_OK;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == KK_OK; i++) {
        status = kki_check_not_negative(item, numbers[i].name, numbers[i].value, error);
    }
    status = status ? status : kki_check_positive(item, "the muscle's vmax", m->vmax, error);
    for (int k = 0; k < 2 && status == KK_OK; k++) {
        status = kki_check_positive(item, "the muscle's time_constant", m->time_constant[k], error);
    }
    status = status ? status : kki_check_finite(item, "the muscle's length_lower", m->length_lower, error);
    status = status ? status : kki_check_finite(item, "the muscle's length_upper", m->length_upper, error);
    status = status ? status : kki_check_finite(item, "the muscle's range", m->range[1], error);
    status = status ? status : check_order(item, "the muscle's length", m->length_lower, m->length_upper, error);
    status = status ? status : check_order(item, "the muscle's range", m->range[0], m->range[1], error);
    return status ? status : check_order(item, "the muscle's lmin … lmax", m->lmin, m->lmax, error);
}

static kk_status check_actuator(const kk_spec *spec, int id, kk_error *error) {
    static const char *const kinds[] = {"joint", "tendon", "frame", "body", "frame"};
    const kk_actuator_def *a = &spec->actuator[id];
    const kki_item item = KKI_ITEM(spec, actuator, "actuator", id);
    kk_status status = check_choices(item, a, error);
    status = status ? status : check_target(item, a->target, kinds[a->transmission], error);
    status = status ? status : check_gains(item, a, error);
    status = status ? status : check_limits(item, a, error);
    status = status ? status : check_delay(item, a, error);
    if (status == KK_OK && a->transmission == KK_TRANSMISSION_CRANK) {
        status = kki_check_positive(item, "rod_length", a->rod_length, error);
    }
    if (status == KK_OK && (a->type == KK_ACTUATOR_MUSCLE || a->activation == KK_ACTIVATION_MUSCLE)) {
        status = check_muscle(item, &a->muscle, error);
    }
    return status || a->activation != KK_ACTIVATION_FILTER
               ? status
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

/// A volume that has an inside.
static kk_status check_zone(kki_item item, const kk_sensor_def *s, kk_error *error) {
    static const int sizes[KK_SHAPE_TYPE_COUNT] = {[KK_SHAPE_SPHERE] = 1,
                                                   [KK_SHAPE_CAPSULE] = 2,
                                                   [KK_SHAPE_CYLINDER] = 2,
                                                   [KK_SHAPE_ELLIPSOID] = 3,
                                                   [KK_SHAPE_BOX] = 3};
    const double *size = s->zone_size;
    if (size[0] == 0 && size[1] == 0 && size[2] == 0) {
        return KK_OK;
    }
    kk_status status = kki_check_choice(item, "zone", (int)s->zone, KK_SHAPE_TYPE_COUNT, "KK_SHAPE_...", error);
    if (status == KK_OK && sizes[s->zone] == 0) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "its zone must be a sphere, capsule, cylinder, ellipsoid or box; choose one");
    }
    for (int k = 0; status == KK_OK && k < sizes[s->zone]; k++) {
        status = kki_check_positive(item, "a size of the zone", size[k], error);
    }
    return status;
}

static kk_status check_sides(kki_item item, const kk_sensor_def *s, kk_error *error) {
    enum { MOST_SLOTS = 1000, ALL = 2 * KK_CONTACT_TANGENT - 1 };
    const int is_contacts = s->type == KK_SENSOR_CONTACTS;
    const char *const name[2] = {s->target, s->reference};
    kk_status status = KK_OK;
    for (int i = 0; i < 2 && status == KK_OK; i++) {
        status = kki_check_choice(item, "side", (int)s->side[i], KK_SIDE_SUBTREE + 1, "KK_SIDE_...", error);
        if (status == KK_OK && (s->side[i] != KK_SIDE_ANY || !is_contacts)) {
            status = check_target(item, name[i], "shape or body on each side", error);
        }
        if (status == KK_OK && !is_contacts && s->side[i] != KK_SIDE_SHAPE && s->side[i] != KK_SIDE_BODY) {
            status = kki_item_error(error, KK_INVALID_MODEL, item, "a distance is between shapes or bodies; say which");
        }
    }
    if (status == KK_OK && is_contacts && (s->slots < 1 || s->slots > MOST_SLOTS || s->tell < 1 || s->tell > ALL)) {
        return kki_item_error(
            error, KK_INVALID_MODEL, item,
            "it has %d slots and tells %d; slots are 1 to %d, what it tells is a sum of KK_CONTACT_...", s->slots,
            s->tell, MOST_SLOTS);
    }
    return status || !is_contacts
               ? status
               : kki_check_choice(item, "choice", (int)s->choice, KK_CHOOSE_SUM + 1, "KK_CHOOSE_...", error);
}

static int has_no_target(kk_sensor_type type) {
    return type == KK_SENSOR_CLOCK || type == KK_SENSOR_KINETIC_ENERGY || type == KK_SENSOR_POTENTIAL_ENERGY;
}

static kk_status check_sensor(const kk_spec *spec, int id, kk_error *error) {
    const kk_sensor_def *s = &spec->sensor[id];
    const kki_item item = KKI_ITEM(spec, sensor, "sensor", id);
    kk_status status =
        kki_check_choice(item, "sensor type", (int)s->type, KK_SENSOR_CONTACTS + 1, "KK_SENSOR_...", error);
    if (status == KK_OK && s->type >= KK_SENSOR_DISTANCE) {
        status = check_sides(item, s, error);
    } else if (status == KK_OK && !has_no_target(s->type)) {
        status = check_target(item, s->target, "joint, actuator, tendon, frame or body", error);
    }
    status = status ? status : check_zone(item, s, error);
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

static kk_status check_coordinates(kki_item item, const double *q, int count, kk_error *error) {
    kk_status status = check_numbers(item, "a coordinate (q)", q, count, error);
    for (int i = 0; q && i < count && status == KK_OK; i++) {
        status = kki_check_coordinate(item, "a coordinate (q)", q[i], error);
    }
    return status;
}

static kk_status check_keyframe(const kk_spec *spec, int id, kk_error *error) {
    const kk_keyframe_def *k = &spec->keyframe[id];
    const kki_item item = KKI_ITEM(spec, keyframe, "keyframe", id);
    kk_status status = kki_check_finite(item, "time", k->time, error);
    status = status ? status : check_coordinates(item, k->q, k->q_count, error);
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
