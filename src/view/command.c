/// Commands to a session, as JSON from a page or a socket. Strict: a key that is not known, a number out of bounds or a second
/// value in the wrong place is an error and nothing happens.
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "io/text.h"
#include "view/session.h"

enum { MOST_COMMANDS = 256, MOST_STEPS = 10000 };

typedef struct command {
    kk_session *s;
    const kki_json *json;
    int32_t object;
    kk_error *error;
} command;

// ---- members

static int32_t member(const command *c, const char *name) {
    return kki_json_member(c->json, c->object, name);
}

static kk_status bad(const command *c, const char *name, const char *what) {
    size_t length;
    const char *verb = kki_json_string(c->json, member(c, "do"), &length);
    return kki_error_set(c->error, KK_INVALID_ARGUMENT, "%s: \"%s\" must be %s", kki_shorten(verb, length).text, name,
                         what);
}

static kk_status number(const command *c, const char *name, double lower, double upper, double *value) {
    double x;
    if (!kki_json_number(c->json, member(c, name), &x) || !(x >= lower && x <= upper)) {
        return bad(c, name, "a number within its bounds");
    }
    *value = x;
    return KK_OK;
}

/// Leaves *value as it is where there is no such member.
static kk_status optional_number(const command *c, const char *name, double lower, double upper, double *value) {
    return member(c, name) == KKI_JSON_NONE ? KK_OK : number(c, name, lower, upper, value);
}

static kk_status index_of(const command *c, const char *name, int64_t least, int64_t most, int64_t *value) {
    int64_t x;
    if (!kki_json_index(c->json, member(c, name), most, &x) || x < least) {
        return bad(c, name, "the number of something there is");
    }
    *value = x;
    return KK_OK;
}

static kk_status numbers(const command *c, const char *name, double *values, int count) {
    const int32_t array = member(c, name);
    if (!kki_json_is(c->json, array, KKI_JSON_ARRAY) || kki_json_size(c->json, array) != count) {
        return bad(c, name, "an array of the right length");
    }
    int32_t at = kki_json_first(c->json, array);
    for (int i = 0; i < count; i++, at = kki_json_after(c->json, array, at)) {
        double x;
        if (!kki_json_number(c->json, at, &x) || !(x > -1e15 && x < 1e15)) {
            return bad(c, name, "numbers");
        }
        values[i] = x;
    }
    return KK_OK;
}

static kk_status optional_numbers(const command *c, const char *name, double *values, int count) {
    return member(c, name) == KKI_JSON_NONE ? KK_OK : numbers(c, name, values, count);
}

// ---- verbs

static kk_status do_control(const command *c) {
    int64_t actuator = 0;
    double value = 0;
    kk_status status = index_of(c, "actuator", 0, c->s->nactuator - 1, &actuator);
    status = status ? status : number(c, "value", -1e15, 1e15, &value);
    if (status == KK_OK) {
        kki_session_fork(c->s);
        c->s->control[actuator] = value;
    }
    return status;
}

static kk_status do_controls(const command *c) {
    const size_t size = (size_t)c->s->nactuator * sizeof(double);
    double *values = kki_allocate(&c->s->allocator, size);
    if (!values) {
        return kki_error_set(c->error, KK_OUT_OF_MEMORY, "controls: out of memory");
    }
    const kk_status status = numbers(c, "values", values, c->s->nactuator);
    if (status == KK_OK) {
        kki_session_fork(c->s);
        memcpy(c->s->control, values, size);
    }
    kki_release(&c->s->allocator, values, size);
    return status;
}

static kk_status do_edit(const command *c) {
    const kki_edited on = {c->s->spec, &c->s->options};
    kki_edit edit;
    const kk_status status = kki_edit_parse(&on, c->json, c->object, &edit, c->error);
    return status ? status : kki_session_stage_edit(c->s, &edit, c->error);
}

/// Without numbers of its own the spring turns the whole robot over in half a second or so, well damped.
static kk_status do_drag(const command *c) {
    int64_t body = 0;
    kki_drag drag = {0};
    kk_status status = index_of(c, "body", 1, c->s->nbody - 1, &body);
    if (status != KK_OK) {
        return status;
    }
    const double mass = kki_session_tree_mass(c->s, (int)body);
    drag.body = (double)body;
    drag.stiffness = 100 * mass;
    drag.damping = 14 * mass;
    status = numbers(c, "point", drag.point, 3);
    status = status ? status : numbers(c, "target", drag.target, 3);
    status = status ? status : optional_number(c, "stiffness", 0, 1e9, &drag.stiffness);
    status = status ? status : optional_number(c, "damping", 0, 1e9, &drag.damping);
    if (status == KK_OK) {
        kki_session_fork(c->s);
        c->s->drag = drag;
    }
    return status;
}

static kk_status do_release(const command *c) {
    c->s->drag = (kki_drag){0};
    return KK_OK;
}

static kk_status do_push(const command *c) {
    int64_t body = 0, steps = 1;
    kki_push push = {0};
    kk_status status = index_of(c, "body", 1, c->s->nbody - 1, &body);
    status = status ? status : optional_numbers(c, "force", push.force, 3);
    status = status ? status : optional_numbers(c, "moment", push.moment, 3);
    if (status == KK_OK && member(c, "steps") != KKI_JSON_NONE) {
        status = index_of(c, "steps", 1, 1000000, &steps);
    }
    if (status == KK_OK) {
        kki_session_fork(c->s);
        push.body = (double)body;
        c->s->push = push;
        c->s->push_steps = (int)steps;
    }
    return status;
}

static kk_status do_pause(const command *c) {
    c->s->paused = 1;
    return KK_OK;
}

static kk_status do_play(const command *c) {
    c->s->paused = c->s->failed = 0;
    c->s->owed = 0;
    return KK_OK;
}

static kk_status do_speed(const command *c) {
    return number(c, "value", 0.001, 100, &c->s->speed);
}

static kk_status do_step(const command *c) {
    int64_t count = 1;
    kk_status status = KK_OK;
    if (member(c, "count") != KKI_JSON_NONE) {
        status = index_of(c, "count", 1, MOST_STEPS, &count);
    }
    if (status == KK_OK) {
        c->s->paused = 1;
        status = kk_session_step(c->s, (int)count, c->error);
    }
    return status;
}

static kk_status do_reset(const command *c) {
    int64_t key = -1;
    kk_status status = KK_OK;
    if (member(c, "keyframe") != KKI_JSON_NONE) {
        status = index_of(c, "keyframe", 0, kk_model_nkeyframe(c->s->model) - 1, &key);
    } else {
        key = c->s->def.keyframe - 1;
    }
    return status ? status : kki_session_reset(c->s, (int)key, c->error);
}

/// Everything else as in a new state; time goes on.
static kk_status do_pose(const command *c) {
    kk_session *s = c->s;
    kk_state *fresh;
    if (kk_state_create(s->model, &s->allocator, &fresh) != KK_OK) {
        return kki_error_set(c->error, KK_OUT_OF_MEMORY, "pose: out of memory");
    }
    double time = kk_state_time(s->state);
    kk_status status = optional_number(c, "time", 0, 1e9, &time);
    kk_state_set_time(fresh, time);
    status = status ? status : numbers(c, "q", kk_state_q(fresh), kk_model_nq(s->model));
    status = status ? status : optional_numbers(c, "v", kk_state_v(fresh), kk_model_nv(s->model));
    status = status ? status : kk_state_check(s->model, fresh, c->error);
    if (status != KK_OK) {
        kk_state_free(fresh);
        return status;
    }
    kk_state_free(s->state);
    s->state = fresh;
    s->has_step = s->has_sensor_data = s->failed = s->differs = 0;
    s->edit_count = s->version;
    kki_history_clear(s);
    return KK_OK;
}

static kk_status do_rewind(const command *c) {
    kk_session *s = c->s;
    const kki_history *h = &s->history;
    int64_t step = 0;
    kk_status status = index_of(c, "step", 0, INT64_MAX >> 11, &step);
    if (status != KK_OK) {
        return status;
    }
    step = step < h->oldest ? h->oldest : step > h->newest ? h->newest : step;
    s->paused = 1;
    s->failed = s->differs = 0;
    s->drag = (kki_drag){0};
    s->push = (kki_push){0};
    s->push_steps = 0;
    status = kki_history_go_before(s, step, c->error);
    return status ? status : kk_session_step(s, (int)(step - s->steps), c->error);
}

static kk_status do_fork(const command *c) {
    kki_session_fork(c->s);
    return KK_OK;
}

static kk_status do_save(const command *c) {
    kk_session *s = c->s;
    int64_t index = 0;
    const kk_status status = index_of(c, "slot", 0, KK_SESSION_SLOTS - 1, &index);
    if (status != KK_OK) {
        return status;
    }
    const size_t controls = (size_t)s->nactuator;
    const size_t size = (controls + kki_state_numbers(s) + kki_state_words(s)) * sizeof(double);
    double *kept = kki_allocate(&s->allocator, size);
    if (!kept) {
        return kki_error_set(c->error, KK_OUT_OF_MEMORY, "save: out of memory");
    }
    memcpy(kept, s->control, controls * sizeof(double));
    kki_state_keep(s, kept + controls);
    kki_release(&s->allocator, s->slot[index].number, s->slot[index].size);
    s->slot[index] = (kki_slot){kept, size, s->version, s->steps};
    return KK_OK;
}

/// The state as it was saved, under the parameters of now.
static kk_status do_restore(const command *c) {
    kk_session *s = c->s;
    int64_t index = 0;
    kk_status status = index_of(c, "slot", 0, KK_SESSION_SLOTS - 1, &index);
    if (status != KK_OK) {
        return status;
    }
    const kki_slot *slot = &s->slot[index];
    if (!slot->number) {
        return kki_error_set(c->error, KK_NOT_FOUND, "restore: slot %d is empty", (int)index);
    }
    status = kki_state_put_back(s, slot->number + s->nactuator, c->error);
    if (status != KK_OK) {
        return status;
    }
    memcpy(s->control, slot->number, (size_t)s->nactuator * sizeof(double));
    s->steps = slot->steps;
    s->has_step = s->has_sensor_data = s->failed = s->differs = 0;
    s->edit_count = s->version;
    kki_history_clear(s);
    return KK_OK;
}

// ---- which

typedef struct verb {
    const char *name;
    const char *keys; ///< that it may have, each with a blank before and behind
    kk_status (*run)(const command *c);
} verb;

static const verb verbs[] = {
    {"control", " actuator value ", do_control},
    {"controls", " values ", do_controls},
    {"edit", " item id field value ", do_edit},
    {"drag", " body point target stiffness damping ", do_drag},
    {"release", " ", do_release},
    {"push", " body force moment steps ", do_push},
    {"pause", " ", do_pause},
    {"play", " ", do_play},
    {"speed", " value ", do_speed},
    {"step", " count ", do_step},
    {"reset", " keyframe ", do_reset},
    {"pose", " q v time ", do_pose},
    {"rewind", " step ", do_rewind},
    {"fork", " ", do_fork},
    {"save", " slot ", do_save},
    {"restore", " slot ", do_restore},
};
enum { VERB_COUNT = sizeof verbs / sizeof verbs[0] };

static const verb *find_verb(const command *c) {
    size_t length;
    const char *name = kki_json_string(c->json, member(c, "do"), &length);
    for (int i = 0; i < VERB_COUNT; i++) {
        if (length == strlen(verbs[i].name) && memcmp(verbs[i].name, name, length) == 0) {
            return &verbs[i];
        }
    }
    return NULL;
}

/// Whether a key stands in a list of words.
static int is_listed(const char *keys, const char *key, size_t length) {
    for (const char *at = strchr(keys, ' '); at && at[1]; at = strchr(at + 1, ' ')) {
        const char *end = strchr(at + 1, ' ');
        if (end && (size_t)(end - at - 1) == length && memcmp(at + 1, key, length) == 0) {
            return 1;
        }
    }
    return 0;
}

static kk_status check_keys(const command *c, const verb *v) {
    const kki_json_token *token = c->json->token;
    for (int32_t key = c->object + 1; key < token[c->object].next; key = token[key + 1].next) {
        size_t length;
        const char *name = kki_json_string(c->json, key, &length);
        if (!is_listed(" do ", name, length) && !is_listed(v->keys, name, length)) {
            return kki_error_set(c->error, KK_INVALID_ARGUMENT, "%s: \"%s\" is not known", v->name,
                                 kki_shorten(name, length).text);
        }
    }
    return KK_OK;
}

/// Edits that follow each other get one new model together; anything else needs it to be there.
static kk_status run_one(const command *c) {
    const verb *v = kki_json_is(c->json, c->object, KKI_JSON_OBJECT) ? find_verb(c) : NULL;
    if (!v) {
        return kki_error_set(c->error, KK_INVALID_ARGUMENT,
                             "a command is an object whose \"do\" is one of the words known");
    }
    kk_status status = check_keys(c, v);
    if (status == KK_OK && v->run != do_edit) {
        status = kki_session_commit_edits(c->s, c->error);
    }
    return status ? status : v->run(c);
}

static kk_status run_array(kk_session *s, const kki_json *json, kk_error *error) {
    command c = {s, json, 0, error};
    if (kki_json_size(json, 0) > MOST_COMMANDS) {
        return kki_error_set(error, KK_LIMIT_EXCEEDED, "more than %d commands at once", MOST_COMMANDS);
    }
    kk_status status = KK_OK;
    for (int32_t at = kki_json_first(json, 0); at != KKI_JSON_NONE && status == KK_OK;
         at = kki_json_after(json, 0, at)) {
        c.object = at;
        status = run_one(&c);
    }
    return status;
}

static kk_status run_all(kk_session *s, const kki_json *json, kk_error *error) {
    const command c = {s, json, 0, error};
    kk_error later;
    const kk_status status = kki_json_is(json, 0, KKI_JSON_ARRAY) ? run_array(s, json, error) : run_one(&c);
    const kk_status committed = kki_session_commit_edits(s, status ? &later : error);
    return status ? status : committed;
}

kk_status kk_session_command(kk_session *session, const char *text, size_t length, kk_error *error) {
    if (!text || length > KK_SESSION_COMMAND_SIZE) {
        return kki_error_set(error, KK_LIMIT_EXCEEDED, "a command has at most %d bytes", KK_SESSION_COMMAND_SIZE);
    }
    kki_json json;
    kk_status status = kki_json_parse(text, length, NULL, &session->allocator, &json, error);
    if (status == KK_OK) {
        status = run_all(session, &json, error);
        kki_json_free(&json);
    }
    return status;
}
