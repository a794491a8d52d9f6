/// Actuators: what they pull on, and where their lags stand in the state.
#include "model/compile.h"

/// A servo needs a length; balls and free joints have rates only.
static int needs_length(const kk_actuator_def *def) {
    return def->type == KK_ACTUATOR_POSITION || def->type == KK_ACTUATOR_MUSCLE || def->bias[1] != 0;
}

static kk_status find_joint(kki_item item, const kk_model *m, const kk_actuator_def *def, kki_model_actuator *a,
                            kk_error *error) {
    kki_joint_dof joint = {-1, -1, -1};
    const kk_status status = needs_length(def) ? kki_find_coordinate(item, m, def->target, def->dof, &joint, error)
                                               : kki_find_dof(item, m, def->target, def->dof, &joint, error);
    a->q_index = joint.q_index;
    a->v_index = joint.v_index;
    return status;
}

static kk_status find_frame(kki_item item, const kk_model *m, const kk_actuator_def *def, kki_model_actuator *a,
                            kk_error *error) {
    const kk_status status = kki_find_named(item, m, KKI_NAMED_FRAME, def->target, &a->frame, error);
    if (status == KK_OK && needs_length(def)) {
        return kki_item_error(
            error, KK_INVALID_MODEL, item,
            "\"%s\" has no length that a servo could hold; let the actuator push with a plain force (a motor), "
            "or aim it at a joint or a tendon",
            def->target);
    }
    if (status != KK_OK || !def->reference || !def->reference[0]) {
        return status;
    }
    return kki_find_named(item, m, KKI_NAMED_FRAME, def->reference, &a->reference, error);
}

/// Where rod and crank meet, and the slider's line.
static kk_status find_crank(kki_item item, const kk_model *m, const kk_actuator_def *def, kki_model_actuator *a,
                            kk_error *error) {
    const kk_status status = kki_find_named(item, m, KKI_NAMED_FRAME, def->target, &a->frame, error);
    if (status != KK_OK) {
        return status;
    }
    if (!def->reference || !def->reference[0]) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "a crank has no slider; name the frame along whose z axis it moves as its reference");
    }
    return kki_find_named(item, m, KKI_NAMED_FRAME, def->reference, &a->reference, error);
}

static kk_status find_target(kki_item item, const kk_model *m, const kk_actuator_def *def, kki_model_actuator *a,
                             kk_error *error) {
    switch (def->transmission) {
    case KK_TRANSMISSION_JOINT: return find_joint(item, m, def, a, error);
    case KK_TRANSMISSION_TENDON: return kki_find_named(item, m, KKI_NAMED_TENDON, def->target, &a->tendon, error);
    case KK_TRANSMISSION_BODY: return kki_find_named(item, m, KKI_NAMED_BODY, def->target, &a->body, error);
    case KK_TRANSMISSION_CRANK: return find_crank(item, m, def, a, error);
    default: return find_frame(item, m, def, a, error);
    }
}

static kki_model_actuator copy_numbers(const kk_actuator_def *def) {
    return (kki_model_actuator){.type = def->type,
                                .transmission = def->transmission,
                                .q_index = -1,
                                .v_index = -1,
                                .tendon = -1,
                                .frame = -1,
                                .reference = -1,
                                .body = -1,
                                .activation_index = -1,
                                .history_index = -1,
                                .delay_samples = def->delay > 0 ? def->delay_samples : 0,
                                .delay_interpolation = (int32_t)def->delay_interpolation,
                                .delay = def->delay,
                                .rod_length = def->rod_length,
                                .muscle = def->muscle,
                                .activation = def->activation,
                                .gear = def->gear,
                                .direction = def->direction,
                                .gain = def->gain,
                                .bias = {def->bias[0], def->bias[1], def->bias[2]},
                                .control_lower = def->control_lower,
                                .control_upper = def->control_upper,
                                .force_lower = def->force_lower,
                                .force_upper = def->force_upper,
                                .time_constant = def->time_constant,
                                .activation_lower = def->activation_lower,
                                .activation_upper = def->activation_upper};
}

static int is_motor(const kki_model_actuator *a) {
    return a->transmission == KK_TRANSMISSION_JOINT && a->type != KK_ACTUATOR_DAMPER && a->type != KK_ACTUATOR_MUSCLE &&
           a->activation == KK_ACTIVATION_NONE && a->delay_samples == 0 && a->bias[0] == 0 && a->bias[1] == 0 &&
           a->bias[2] == 0;
}

kk_status kki_compile_actuators(const kk_spec *spec, kk_model *m, kk_error *error) {
    kk_status status = KK_OK;
    m->nactivation = 0;
    for (int i = 0; i < m->nactuator && status == KK_OK; i++) {
        const kk_actuator_def *def = &spec->actuator[i];
        kki_model_actuator *a = &m->actuator[i];
        const int32_t name = a->name;
        *a = copy_numbers(def);
        a->name = name;
        a->is_motor = is_motor(a);
        a->activation_index = def->activation == KK_ACTIVATION_NONE ? -1 : m->nactivation++;
        status = find_target(KKI_ITEM(spec, actuator, "actuator", i), m, def, a, error);
    }
    for (int i = 0; i < m->nactuator && status == KK_OK; i++) { // behind all lags
        kki_model_actuator *a = &m->actuator[i];
        a->history_index = a->delay_samples > 0 ? m->nactivation : -1;
        m->nactivation += kki_history_size(a->delay_samples);
    }
    return status;
}
