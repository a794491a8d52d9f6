/// Edits by name. Names are the attributes of the <karakuri> element (io/karakuri_fields.c), and a few of what people think in:
/// a body's mass, a servo's kp and kd, a motor's kv.
#include "view/edit.h"

#include <string.h>

#include "base/error.h"
#include "io/text.h"
#include "model/spec.h"

#define AT(member) offsetof(kk_step_options, member)

static const kki_keyword solver_words[] = {{"exact", KK_SOLVER_EXACT},
                                           {"openhrp", KK_SOLVER_OPENHRP},
                                           {"springhead", KK_SOLVER_SPRINGHEAD},
                                           {"kuroda", KK_SOLVER_KURODA},
                                           {NULL, 0}};

static const kki_keyword effort_words[] = {
    {"tolerance", KK_EFFORT_TOLERANCE}, {"newton", KK_EFFORT_NEWTON}, {"sweeps", KK_EFFORT_SWEEPS}, {NULL, 0}};

static const kki_keyword detection_words[] = {{"continuous", KK_DETECTION_CONTINUOUS},
                                              {"discrete", KK_DETECTION_DISCRETE},
                                              {"overlap", KK_DETECTION_OVERLAP},
                                              {NULL, 0}};

static const kki_field step_fields[] = {
    {"solver", KKI_FIELD_WORD, false, AT(solver), solver_words, "how forces of contact are found"},
    {"tolerance", KKI_FIELD_NUMBER, false, AT(tolerance), NULL, "m/s"},
    {"effort", KKI_FIELD_WORD, false, AT(effort), effort_words, "what iterations count"},
    {"iterations", KKI_FIELD_COUNT, false, AT(iterations), NULL, "0: as the tolerance takes"},
    {"restitution_speed", KKI_FIELD_NUMBER, false, AT(restitution_speed), NULL, "m/s"},
    {"correction", KKI_FIELD_NUMBER, false, AT(correction), NULL, "m"},
    {"detection", KKI_FIELD_WORD, false, AT(detection), detection_words, "where contact is looked for"},
    {"explicit_servos", KKI_FIELD_FLAG, false, AT(explicit_servos), NULL, ""},
    {NULL, KKI_FIELD_NUMBER, false, 0, NULL, NULL}};

const kki_field *kki_step_fields(void) {
    return step_fields;
}

static const char *const item_names[KKI_EDIT_ITEM_COUNT] = {
    [KKI_EDIT_BODY] = "body",         [KKI_EDIT_DOF] = "dof",       [KKI_EDIT_ACTUATOR] = "actuator",
    [KKI_EDIT_MATERIAL] = "material", [KKI_EDIT_TENDON] = "tendon", [KKI_EDIT_LOOP] = "loop",
    [KKI_EDIT_OPTION] = "option",     [KKI_EDIT_STEP] = "step"};

/// The definition; NULL where there is none of that id.
static void *definition(const kki_edited *on, kki_edit_item item, int id) {
    switch (item) {
    case KKI_EDIT_BODY:
    case KKI_EDIT_DOF: return id > 0 ? kk_spec_body(on->spec, id) : NULL;
    case KKI_EDIT_ACTUATOR: return kk_spec_actuator(on->spec, id);
    case KKI_EDIT_MATERIAL: return kk_spec_material(on->spec, id);
    case KKI_EDIT_TENDON: return kk_spec_tendon(on->spec, id);
    case KKI_EDIT_LOOP: return kk_spec_loop(on->spec, id);
    case KKI_EDIT_OPTION: return kk_spec_options(on->spec);
    default: return on->step;
    }
}

static const kki_field *fields_of(kki_edit_item item) {
    switch (item) {
    case KKI_EDIT_DOF: return kki_fields_of(KKI_ELEMENT_DOF)->field;
    case KKI_EDIT_ACTUATOR: return kki_fields_of(KKI_ELEMENT_ACTUATOR)->field;
    case KKI_EDIT_MATERIAL: return kki_fields_of(KKI_ELEMENT_MATERIAL)->field;
    case KKI_EDIT_TENDON: return kki_fields_of(KKI_ELEMENT_TENDON)->field;
    case KKI_EDIT_LOOP: return kki_fields_of(KKI_ELEMENT_LOOP)->field;
    case KKI_EDIT_OPTION: return kki_fields_of(KKI_ELEMENT_OPTION)->field;
    case KKI_EDIT_STEP: return step_fields;
    default: return NULL;
    }
}

void kki_edit_apply(const kki_edited *on, const kki_edit *edit, int forward) {
    char *at = (char *)definition(on, edit->item, edit->id) + edit->offset;
    const double *values = forward ? edit->after : edit->before;
    if (edit->is_int) {
        *(int *)(void *)at = (int)values[0];
    } else {
        memcpy(at, values, (size_t)edit->count * sizeof *values);
    }
}

int kki_edit_is_same(const kki_edit *a, const kki_edit *b) {
    return a->item == b->item && a->id == b->id && a->offset == b->offset && a->count == b->count &&
           a->is_int == b->is_int;
}

/// Takes what is there now as `before`, and as `after` until that is changed.
static void look(const kki_edited *on, kki_edit *edit) {
    const char *at = (const char *)definition(on, edit->item, edit->id) + edit->offset;
    if (edit->is_int) {
        edit->before[0] = *(const int *)(const void *)at;
    } else {
        memcpy(edit->before, at, (size_t)edit->count * sizeof *edit->before);
    }
    memcpy(edit->after, edit->before, sizeof edit->after);
}

// ---- reading

static int is_text(const kki_json *json, int32_t token, const char *text) {
    size_t length;
    const char *own = kki_json_string(json, token, &length);
    return kki_json_is(json, token, KKI_JSON_STRING) && length == strlen(text) && memcmp(own, text, length) == 0;
}

static kki_short_text shown(const kki_json *json, int32_t token) {
    size_t length;
    const char *own = kki_json_string(json, token, &length);
    return kki_shorten(own, length);
}

static kk_status read_item(const kki_json *json, int32_t object, kki_edit *edit, kk_error *error) {
    const int32_t item = kki_json_member(json, object, "item");
    for (int i = 0; i < KKI_EDIT_ITEM_COUNT; i++) {
        if (is_text(json, item, item_names[i])) {
            edit->item = (kki_edit_item)i;
            return KK_OK;
        }
    }
    return kki_error_set(error, KK_NOT_FOUND,
                         "edit: no item \"%s\"; there are body, dof, actuator, material, tendon, loop, option, step",
                         shown(json, item).text);
}

/// The id; of a dof a pair of body and index.
static kk_status read_id(const kki_edited *on, const kki_json *json, int32_t object, kki_edit *edit, int *dof,
                         kk_error *error) {
    const int32_t id = kki_json_member(json, object, "id");
    int64_t first = 0, second = 0;
    bool good;
    if (edit->item == KKI_EDIT_DOF) {
        good = kki_json_is(json, id, KKI_JSON_ARRAY) && kki_json_size(json, id) == 2 &&
               kki_json_index(json, kki_json_first(json, id), KKI_SPEC_MAX_ITEMS, &first) &&
               kki_json_index(json, kki_json_after(json, id, kki_json_first(json, id)), KK_MAX_JOINT_DOFS - 1, &second);
    } else if (edit->item == KKI_EDIT_OPTION || edit->item == KKI_EDIT_STEP) {
        good = id == KKI_JSON_NONE || kki_json_index(json, id, 0, &first);
    } else {
        good = kki_json_index(json, id, KKI_SPEC_MAX_ITEMS, &first);
    }
    edit->id = (int)first;
    *dof = (int)second;
    return good && definition(on, edit->item, edit->id)
               ? KK_OK
               : kki_error_set(error, KK_NOT_FOUND, "edit: no %s has this id", item_names[edit->item]);
}

static kk_status expected(kk_error *error, const char *field, const char *what) {
    return kki_error_set(error, KK_INVALID_ARGUMENT, "edit: the value of \"%s\" must be %s", field, what);
}

static kk_status read_three(const kki_json *json, int32_t value, double *three, const char *field, kk_error *error) {
    double numbers[3];
    int32_t at = kki_json_first(json, value);
    bool good = kki_json_is(json, value, KKI_JSON_ARRAY) && kki_json_size(json, value) == 3;
    for (int i = 0; i < 3 && good; i++, at = good ? kki_json_after(json, value, at) : at) {
        good = kki_json_number(json, at, &numbers[i]);
    }
    if (!good) {
        return expected(error, field, "an array of three numbers");
    }
    memcpy(three, numbers, sizeof numbers);
    return KK_OK;
}

static kk_status read_word(const kki_json *json, int32_t value, const kki_field *field, double *number,
                           kk_error *error) {
    for (const kki_keyword *w = field->words; w->word; w++) {
        if (is_text(json, value, w->word)) {
            *number = w->value;
            return KK_OK;
        }
    }
    return expected(error, field->name, "one of its words");
}

static kk_status read_value(const kki_json *json, int32_t value, const kki_field *field, double *after,
                            kk_error *error) {
    int64_t whole;
    switch (field->kind) {
    case KKI_FIELD_NUMBER:
        return kki_json_number(json, value, after) ? KK_OK : expected(error, field->name, "a number");
    case KKI_FIELD_VEC3:
    case KKI_FIELD_NUMBERS3: return read_three(json, value, after, field->name, error);
    case KKI_FIELD_WORD: return read_word(json, value, field, after, error);
    case KKI_FIELD_FLAG:
        if (!kki_json_is(json, value, KKI_JSON_TRUE) && !kki_json_is(json, value, KKI_JSON_FALSE)) {
            return expected(error, field->name, "true or false");
        }
        *after = kki_json_is(json, value, KKI_JSON_TRUE);
        return KK_OK;
    default:
        if (!kki_json_index(json, value, 100000, &whole)) {
            return expected(error, field->name, "a whole number from 0 to 100000");
        }
        *after = (double)whole;
        return KK_OK;
    }
}

/// Counts of the spec are sizes of memory, and names and ids are structure: neither is edited in passing.
static int is_editable(const kki_edit *edit, const kki_field *field) {
    switch (field->kind) {
    case KKI_FIELD_NUMBER:
    case KKI_FIELD_VEC3:
    case KKI_FIELD_NUMBERS3:
    case KKI_FIELD_FLAG: return 1;
    case KKI_FIELD_WORD:
        return edit->item != KKI_EDIT_TENDON && edit->item != KKI_EDIT_LOOP && strcmp(field->name, "transmission") != 0;
    case KKI_FIELD_COUNT: return edit->item == KKI_EDIT_STEP;
    default: return 0;
    }
}

/// A field of the tables.
static kk_status parse_field(const kki_edited *on, const kki_json *json, int32_t name, int32_t value, int dof,
                             kki_edit *edit, kk_error *error) {
    const kki_field *field = fields_of(edit->item);
    while (field && field->name && !(is_text(json, name, field->name) && is_editable(edit, field))) {
        field++;
    }
    if (!field || !field->name) {
        return kki_error_set(error, KK_NOT_FOUND, "edit: a %s has no number \"%s\" to edit", item_names[edit->item],
                             shown(json, name).text);
    }
    edit->offset = field->offset;
    if (edit->item == KKI_EDIT_DOF) {
        edit->offset +=
            offsetof(kk_body_def, joint.dof) + (size_t)dof * sizeof(kk_dof_def) - offsetof(kki_karakuri_dof, dof);
    }
    edit->is_int = field->kind == KKI_FIELD_WORD || field->kind == KKI_FIELD_FLAG || field->kind == KKI_FIELD_COUNT;
    edit->count = field->kind == KKI_FIELD_VEC3 || field->kind == KKI_FIELD_NUMBERS3 ? 3 : 1;
    look(on, edit);
    return read_value(json, value, field, edit->after, error);
}

// ---- what people think in

static kk_status number_of(const kki_json *json, int32_t value, const char *field, double *number, kk_error *error) {
    return kki_json_number(json, value, number) ? KK_OK : expected(error, field, "a number");
}

/// Another mass of the same shape: moments in proportion.
static kk_status parse_mass(const kki_edited *on, const kki_json *json, int32_t value, kki_edit *edit,
                            kk_error *error) {
    double mass;
    edit->offset = offsetof(kk_body_def, inertia);
    edit->count = KKI_EDIT_NUMBERS;
    look(on, edit);
    kk_status status = number_of(json, value, "mass", &mass, error);
    if (status == KK_OK && !(mass > 0 && edit->before[0] > 0)) {
        status = expected(error, "mass", "above 0, and so must be the body's mass so far");
    }
    for (int i = 4; i < KKI_EDIT_NUMBERS && status == KK_OK; i++) {
        edit->after[i] *= mass / edit->before[0];
    }
    edit->after[0] = status == KK_OK ? mass : edit->after[0];
    return status;
}

/// kp: gain and −bias[1]; kd: −bias[2]; kv: gain and −bias[2].
static kk_status parse_gain(const kki_edited *on, const kki_json *json, int32_t value, char which, kki_edit *edit,
                            kk_error *error) {
    const char name[] = {'k', which, 0};
    double gain;
    edit->offset = offsetof(kk_actuator_def, gain);
    edit->count = 4;
    look(on, edit);
    const kk_status status = number_of(json, value, name, &gain, error);
    if (status != KK_OK) {
        return status;
    }
    if (!(gain >= 0)) {
        return expected(error, name, "0 or more");
    }
    edit->after[0] = which == 'd' ? edit->after[0] : gain;
    edit->after[which == 'p' ? 2 : 3] = -gain;
    return KK_OK;
}

static kk_status parse_named(const kki_edited *on, const kki_json *json, int32_t object, int dof, kki_edit *edit,
                             kk_error *error) {
    const int32_t name = kki_json_member(json, object, "field"), value = kki_json_member(json, object, "value");
    if (edit->item == KKI_EDIT_BODY && is_text(json, name, "mass")) {
        return parse_mass(on, json, value, edit, error);
    }
    for (const char *gain = "pdv"; edit->item == KKI_EDIT_ACTUATOR && *gain; gain++) {
        if (is_text(json, name, (const char[]){'k', *gain, 0})) {
            return parse_gain(on, json, value, *gain, edit, error);
        }
    }
    return parse_field(on, json, name, value, dof, edit, error);
}

kk_status kki_edit_parse(const kki_edited *on, const kki_json *json, int32_t object, kki_edit *edit, kk_error *error) {
    int dof = 0;
    *edit = (kki_edit){.count = 1};
    kk_status status = read_item(json, object, edit, error);
    status = status ? status : read_id(on, json, object, edit, &dof, error);
    return status ? status : parse_named(on, json, object, dof, edit, error);
}
