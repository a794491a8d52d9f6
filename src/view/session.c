/// A session: a simulation under way that can be changed, gone back in, and shown.
///
/// What led to a state is kept (history.c) as it was given: controls, the dragging spring, pushes, and the edits in force. Going back
/// restores a key and takes the same steps again, so what is seen again is what was, bit for bit. Edits are a list of changes to
/// the spec's numbers; a model is compiled after each, and the state carried over as it is.
#include "view/session.h"

#include <string.h>

#include <karakuri/save.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/missing.h"
#include "model/compile.h"
#include "model/warm.h"
#include "simulate/simulator.h"

enum { MOST_EDITS = 4096 };

void kki_session_tell(kk_session *s, const char *text) {
    const size_t length = strlen(text), most = sizeof s->notice - 1;
    memmove(s->notice, text, length < most ? length : most);
    s->notice[length < most ? length : most] = 0;
    s->notices++;
}

// ---- making

/// What belongs to a compiled model.
typedef struct parts {
    kk_model *model;
    kk_state *state;
    kk_simulator *simulator;
    kk_data *data;
} parts;

/// @param other  a model that shares geometry with this one; may be NULL
static void free_parts(parts *p, const kk_model *other) {
    if (p->model && other) {
        kki_model_let_go(p->model, other);
    }
    kk_data_free(p->data);
    kk_simulator_free(p->simulator);
    kk_state_free(p->state);
    kk_model_free(p->model);
    *p = (parts){0};
}

/// Records of contacts, where shapes and contacts have the same numbers as before.
static kk_status carry_list(const kk_session *s, const parts *p) {
    const kki_warm_list from = kki_state_list(s->state), to = kki_state_list(p->state);
    kk_status status = KK_OK;
    if (from.contact_size == to.contact_size && s->model->ncollider == p->model->ncollider) {
        status = kki_state_make_room(p->state, kki_warm_words(&from));
        if (status == KK_OK) {
            kki_state_copy_list(p->state, s->state);
        }
    }
    return status;
}

/// Everything that both states have room for, where there was a state; what a step carries over only where it means the same.
static kk_status carry_over(const kk_session *s, const parts *p) {
    if (!s->state) {
        return KK_OK;
    }
    const int nactivation = kk_model_nactivation(p->model), nwarm = kki_warm_layout_of(p->model).size;
    kk_state_set_time(p->state, kk_state_time(s->state));
    memcpy(kk_state_q(p->state), kk_state_q_const(s->state), (size_t)kk_model_nq(p->model) * sizeof(double));
    memcpy(kk_state_v(p->state), kk_state_v_const(s->state), (size_t)kk_model_nv(p->model) * sizeof(double));
    if (nactivation == kk_model_nactivation(s->model)) {
        memcpy(kk_state_activation(p->state), kk_state_activation_const(s->state),
               (size_t)nactivation * sizeof(double));
    }
    if (nwarm != kki_warm_layout_of(s->model).size) {
        return KK_OK;
    }
    memcpy(kki_state_warm(p->state), kki_state_warm_const(s->state), (size_t)nwarm * sizeof(double));
    return carry_list(s, p);
}

/// The simulator comes last: it takes memory from the one there is, which could not go on without.
static kk_status make_parts(const kk_session *s, parts *p, kk_error *error) {
    *p = (parts){0};
    kk_status status = kki_model_recompile(s->spec, s->model, &s->allocator, &p->model, error);
    if (status == KK_OK && (kk_state_create(p->model, &s->allocator, &p->state) != KK_OK || carry_over(s, p) != KK_OK ||
                            kk_data_create(p->model, &s->allocator, &p->data) != KK_OK)) {
        status = kki_error_set(error, KK_OUT_OF_MEMORY, "out of memory for a state of the model");
    }
    status = status
                 ? status
                 : kki_simulator_create_from(s->simulator, p->model, &s->options, &s->allocator, &p->simulator, error);
    if (status != KK_OK) {
        free_parts(p, s->model);
    }
    return status;
}

static void take_parts(kk_session *s, const parts *p) {
    parts old = {s->model, s->state, s->simulator, s->data};
    free_parts(&old, p->model);
    s->model = p->model;
    s->state = p->state;
    s->simulator = p->simulator;
    s->data = p->data;
    s->has_step = s->has_sensor_data = 0;
    s->generation++;
}

kk_status kki_session_rebuild(kk_session *s, kk_error *error) {
    parts p;
    const kk_status status = make_parts(s, &p, error);
    if (status == KK_OK) {
        take_parts(s, &p);
    }
    return status;
}

static kk_status make_arrays(kk_session *s) {
    s->nactuator = kk_model_nactuator(s->model);
    s->nsensordata = kk_model_nsensordata(s->model);
    s->nbody = kk_model_nbody(s->model);
    s->control = kki_allocate_array_zeroed(&s->allocator, (size_t)s->nactuator, sizeof *s->control);
    s->sensor_data = kki_allocate_array_zeroed(&s->allocator, (size_t)s->nsensordata, sizeof *s->sensor_data);
    s->wrench = kki_allocate_array_zeroed(&s->allocator, (size_t)s->nbody, sizeof *s->wrench);
    return s->control && s->sensor_data && s->wrench ? kki_history_create(s) : KK_OUT_OF_MEMORY;
}

static kk_status start(kk_session *s, kk_error *error) {
    parts p;
    kk_status status = make_parts(s, &p, error);
    if (status != KK_OK) {
        return status;
    }
    take_parts(s, &p);
    if (make_arrays(s) != KK_OK) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "out of memory for a session; less history needs less");
    }
    return kki_session_reset(s, s->def.keyframe - 1, error);
}

kk_status kk_session_create(kk_spec *spec, const kk_session_def *def, const kk_allocator *allocator,
                            kk_session **session, kk_error *error) {
    if (!spec || !session) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "the spec or the place for the session is NULL");
    }
    const kk_allocator own = kki_allocator_or_default(allocator);
    *session = NULL;
    kk_session *s = kki_allocate_zeroed(&own, sizeof *s);
    if (!s) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "out of memory for a session");
    }
    s->allocator = own;
    s->def = def ? *def : (kk_session_def){0};
    s->spec = spec;
    s->speed = 1;
    s->paused = s->def.paused;
    const kk_status status = start(s, error);
    if (status != KK_OK) {
        s->spec = NULL; // still the caller's
        kk_session_free(s);
        return status;
    }
    *session = s;
    return KK_OK;
}

void kk_session_free(kk_session *session) {
    if (!session) {
        return;
    }
    kk_session *s = session;
    const kk_allocator own = s->allocator;
    parts p = {s->model, s->state, s->simulator, s->data};
    free_parts(&p, NULL);
    kki_history_free(s);
    for (int i = 0; i < KK_SESSION_SLOTS; i++) {
        kki_release(&own, s->slot[i].number, s->slot[i].size);
    }
    kki_release_array(&own, s->control, (size_t)s->nactuator, sizeof *s->control);
    kki_release_array(&own, s->sensor_data, (size_t)s->nsensordata, sizeof *s->sensor_data);
    kki_release_array(&own, s->wrench, (size_t)s->nbody, sizeof *s->wrench);
    kki_release_array(&own, s->edit, (size_t)s->edit_room, sizeof *s->edit);
    kki_release(&own, s->frame, s->frame_room);
    if (s->text) {
        kk_text_free(&own, s->text, s->text_size);
    }
    kk_spec_free(s->spec);
    kki_release(&own, s, sizeof *s);
}

// ---- looking

const kk_spec *kk_session_spec(const kk_session *session) {
    return session->spec;
}
const kk_model *kk_session_model(const kk_session *session) {
    return session->model;
}
const kk_state *kk_session_state(const kk_session *session) {
    return session->state;
}
kk_simulator *kk_session_simulator(kk_session *session) {
    return session->simulator;
}
double *kk_session_control(kk_session *session) {
    return session->control;
}
uint32_t kk_session_generation(const kk_session *session) {
    return session->generation;
}
const char *kk_session_notice(const kk_session *session) {
    return session->notice;
}
int kk_session_is_paused(const kk_session *session) {
    return session->paused;
}

const double *kk_session_sensor_data(kk_session *session) {
    kk_session *s = session;
    if (!s->has_sensor_data) {
        memset(s->sensor_data, 0, (size_t)s->nsensordata * sizeof *s->sensor_data);
        if (s->has_step && s->nsensordata > 0) {
            (void)kk_simulator_read_sensors(s->simulator, s->state, 1, s->sensor_data, NULL);
        }
        s->has_sensor_data = 1;
    }
    return s->sensor_data;
}

// ---- changing

static void let_go(kk_session *s) {
    s->drag = (kki_drag){0};
    s->push = (kki_push){0};
    s->push_steps = 0;
}

kk_status kki_session_reset(kk_session *s, int keyframe, kk_error *error) {
    const int count = kk_model_nkeyframe(s->model), key = keyframe < 0 && count > 0 ? 0 : keyframe;
    if (key >= count) {
        return kki_error_set(error, KK_NOT_FOUND, "reset: the model has %d keyframes, none is number %d", count, key);
    }
    kk_state *fresh;
    if (kk_state_create(s->model, &s->allocator, &fresh) != KK_OK) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "reset: out of memory");
    }
    kk_state_free(s->state);
    s->state = fresh;
    memset(s->control, 0, (size_t)s->nactuator * sizeof *s->control);
    if (key >= 0) {
        const kk_keyframe_def def = kk_model_keyframe(s->model, key);
        (void)kk_state_set_keyframe(s->model, s->state, key);
        if (s->nactuator > 0 && def.control) {
            memcpy(s->control, def.control, (size_t)s->nactuator * sizeof *s->control);
        }
    }
    let_go(s);
    s->steps = 0;
    s->owed = 0;
    s->failed = s->differs = s->has_step = s->has_sensor_data = 0;
    s->edit_count = s->version;
    kki_history_clear(s);
    return KK_OK;
}

void kki_session_fork(kk_session *s) {
    s->failed = 0;
    if (s->steps < s->history.newest) {
        kki_history_cut(s);
        s->edit_count = s->version;
        s->differs = 0;
    }
}

static kk_status make_room_for_edit(kk_session *s, kk_error *error) {
    const int count = s->edit_count + s->staged;
    if (count < s->edit_room) {
        return KK_OK;
    }
    const int room = s->edit_room ? 2 * s->edit_room : 16;
    kki_edit *edit = kki_allocate_array(&s->allocator, (size_t)room, sizeof *edit);
    if (!edit) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "edit: out of memory");
    }
    if (count) {
        memcpy(edit, s->edit, (size_t)count * sizeof *edit);
    }
    kki_release_array(&s->allocator, s->edit, (size_t)s->edit_room, sizeof *edit);
    s->edit = edit;
    s->edit_room = room;
    return KK_OK;
}

/// After an edit that changed the sizes of the state, or when there were too many: the past cannot be gone back to.
static kk_status forget(kk_session *s, kk_error *error) {
    s->version = s->edit_count = s->first_of_step = 0;
    for (int i = 0; i < KK_SESSION_SLOTS; i++) {
        kki_release(&s->allocator, s->slot[i].number, s->slot[i].size);
        s->slot[i] = (kki_slot){0};
    }
    kki_history_free(s);
    return kki_history_create(s) == KK_OK ? KK_OK : kki_error_set(error, KK_OUT_OF_MEMORY, "edit: out of memory");
}

/// A slider that is being dragged makes one edit, not a hundred: one of the same numbers before the same step is replaced.
static void keep_edit(kk_session *s, const kki_edit *edit) {
    for (int i = s->edit_count - 1; i >= s->first_of_step; i--) {
        if (kki_edit_is_same(&s->edit[i], edit)) {
            memcpy(s->edit[i].after, edit->after, sizeof edit->after);
            return;
        }
    }
    s->edit[s->edit_count++] = *edit;
}

kk_status kki_session_stage_edit(kk_session *s, const kki_edit *edit, kk_error *error) {
    const kki_edited on = {s->spec, &s->options};
    kki_session_fork(s);
    const kk_status status = make_room_for_edit(s, error);
    if (status == KK_OK) {
        kki_edit_apply(&on, edit, 1);
        s->edit[s->edit_count + s->staged++] = *edit;
    }
    return status;
}

static void undo_staged(kk_session *s) {
    const kki_edited on = {s->spec, &s->options};
    while (s->staged > 0) {
        kki_edit_apply(&on, &s->edit[s->edit_count + --s->staged], 0);
    }
}

kk_status kki_session_commit_edits(kk_session *s, kk_error *error) {
    if (s->staged == 0) {
        return KK_OK;
    }
    const kk_status status = kki_session_rebuild(s, error);
    if (status != KK_OK) {
        undo_staged(s);
        return status;
    }
    if (s->edit_step != s->steps || s->first_of_step > s->edit_count) {
        s->edit_step = s->steps;
        s->first_of_step = s->edit_count;
    }
    const int first = s->edit_count;
    for (int i = 0; i < s->staged; i++) {
        const kki_edit edit = s->edit[first + i]; // keeping never writes behind what it reads
        keep_edit(s, &edit);
    }
    s->staged = 0;
    s->version = s->edit_count;
    const int is_other = s->history.state_numbers != kki_state_numbers(s);
    return is_other || s->edit_count >= MOST_EDITS ? forget(s, error) : KK_OK;
}

static void apply_until(kk_session *s, int version) {
    const kki_edited on = {s->spec, &s->options};
    for (; s->version > version; s->version--) {
        kki_edit_apply(&on, &s->edit[s->version - 1], 0);
    }
    for (; s->version < version; s->version++) {
        kki_edit_apply(&on, &s->edit[s->version], 1);
    }
}

kk_status kki_session_go_to_version(kk_session *s, int version, kk_error *error) {
    const int old = s->version;
    if (version == old || version > s->edit_count) {
        return KK_OK;
    }
    apply_until(s, version);
    const kk_status status = kki_session_rebuild(s, error);
    if (status != KK_OK) {
        apply_until(s, old);
    }
    return status;
}

// ---- stepping

double kki_session_tree_mass(const kk_session *s, int body) {
    double mass = 0;
    int root = body;
    while (kk_model_body_parent(s->model, root) > 0) {
        root = kk_model_body_parent(s->model, root);
    }
    for (int i = 1; i < s->nbody; i++) {
        int own = i;
        while (kk_model_body_parent(s->model, own) > 0) {
            own = kk_model_body_parent(s->model, own);
        }
        mass += own == root ? kk_model_body_inertia(s->model, i).mass : 0;
    }
    return mass;
}

static kk_vec3 vec3_of(const double v[3]) {
    return kk_vec3_make(v[0], v[1], v[2]);
}

/// The spring's force on its point, as a wrench in the body's frame.
static void add_drag(kk_session *s, const kki_drag *drag) {
    const int body = (int)drag->body;
    const kk_transform X = kk_body_pose(s->model, s->data, body);
    const kk_motion V = kk_body_velocity(s->model, s->data, body, KK_WORLD_ALIGNED);
    const kk_vec3 arm = kk_mat3_mul_vec(X.R, vec3_of(drag->point)), at = kk_vec3_add(X.p, arm);
    const kk_vec3 velocity = kk_vec3_add(V.linear, kk_vec3_cross(V.angular, arm));
    const kk_vec3 f = kk_vec3_sub(kk_vec3_scale(kk_vec3_sub(vec3_of(drag->target), at), drag->stiffness),
                                  kk_vec3_scale(velocity, drag->damping));
    const kk_vec3 f_B = kk_mat3_tmul_vec(X.R, f);
    s->wrench[body] = kk_force_add(s->wrench[body], kk_force_make(kk_vec3_cross(vec3_of(drag->point), f_B), f_B));
}

static void add_push(kk_session *s, const kki_push *push) {
    const int body = (int)push->body;
    const kk_transform X = kk_body_pose(s->model, s->data, body);
    const kk_vec3 com = kk_model_body_inertia(s->model, body).com;
    const kk_vec3 f = kk_mat3_tmul_vec(X.R, vec3_of(push->force)), n = kk_mat3_tmul_vec(X.R, vec3_of(push->moment));
    s->wrench[body] = kk_force_add(s->wrench[body], kk_force_make(kk_vec3_add(n, kk_vec3_cross(com, f)), f));
}

/// Wrenches of the hand that drags and of pushes; NULL where there are none.
static const kk_force *wrenches(kk_session *s, const kki_given *given) {
    if (given->drag.body <= 0 && given->push.body <= 0) {
        return NULL;
    }
    memset(s->wrench, 0, (size_t)s->nbody * sizeof *s->wrench);
    kk_kinematics_velocity(s->model, s->data, kk_state_q_const(s->state), kk_state_v_const(s->state));
    if (given->drag.body > 0) {
        add_drag(s, &given->drag);
    }
    if (given->push.body > 0) {
        add_push(s, &given->push);
    }
    return s->wrench;
}

/// What the next step is given: from the past where it was taken before, else as things stand.
static kk_status next_given(kk_session *s, kki_given *given, kk_error *error) {
    if (s->steps < s->history.newest) {
        const double *control;
        *given = *kki_history_given(s, s->steps, &control);
        if (s->nactuator > 0) {
            memcpy(s->control, control, (size_t)s->nactuator * sizeof *control);
        }
        return kki_session_go_to_version(s, (int)given->version, error);
    }
    *given = (kki_given){.version = s->version, .drag = s->drag, .push = s->push};
    return KK_OK;
}

static void finish_push(kk_session *s) {
    if (s->push_steps > 0 && --s->push_steps == 0) {
        s->push = (kki_push){0};
    }
}

static kk_status step_once(kk_session *s, kk_error *error) {
    const int replays = s->steps < s->history.newest;
    kki_given given;
    kk_status status = next_given(s, &given, error);
    if (status == KK_OK && !replays) {
        status = kki_history_add(s, &given, error);
    }
    const kk_input input = {.control = s->control, .wrench = wrenches(s, &given)};
    status = status ? status : kk_step(s->model, s->state, s->simulator, &input, error);
    s->has_sensor_data = 0;
    if (status != KK_OK) {
        kki_history_cut(s);
        return status;
    }
    s->has_step = 1;
    s->steps++;
    if (replays) {
        s->differs |= !kki_history_agrees(s);
    } else {
        finish_push(s);
    }
    return KK_OK;
}

kk_status kk_session_step(kk_session *session, int count, kk_error *error) {
    if (kki_is_missing(session)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_error own = {0};
    kk_status status = KK_OK;
    for (int i = 0; i < count && status == KK_OK; i++) {
        status = step_once(session, &own);
    }
    if (status != KK_OK) {
        session->failed = session->paused = 1;
        kki_session_tell(session, own.text);
        if (error) {
            *error = own;
        }
    }
    return status;
}

int kk_session_advance(kk_session *session, double seconds, int most) {
    kk_session *s = session;
    const double h = kk_model_options(s->model).timestep;
    if (s->paused || !(seconds > 0) || !(h > 0)) {
        return 0;
    }
    s->owed += seconds * s->speed;
    const double due = s->owed / h;
    int count = due < 1e9 ? (int)due : 1000000000;
    if (count > most) { // the machine is too slow: what is owed is not made up for
        count = most;
        s->owed = 0;
    } else {
        s->owed -= count * h;
    }
    const int64_t before = s->steps;
    (void)kk_session_step(s, count, NULL);
    return (int)(s->steps - before);
}

// ---- showing

kk_status kk_session_describe(kk_session *session, const char **text, size_t *size, kk_error *error) {
    if (kki_is_missing(session, text, size)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_session *s = session;
    char *fresh;
    size_t fresh_size;
    const kk_status status =
        kk_view_describe(s->spec, s->model, &s->options, &s->allocator, &fresh, &fresh_size, error);
    if (status != KK_OK) {
        return status;
    }
    if (s->text) {
        kk_text_free(&s->allocator, s->text, s->text_size);
    }
    s->text = fresh;
    s->text_size = fresh_size;
    *text = fresh;
    *size = fresh_size;
    return KK_OK;
}

static kk_view_source source_of(kk_session *s) {
    return (kk_view_source){
        .model = s->model,
        .data = s->data,
        .time = kk_state_time(s->state),
        .steps = (double)s->steps,
        .oldest = (double)s->history.oldest,
        .newest = (double)(s->history.newest > s->steps ? s->history.newest : s->steps),
        .timestep = kk_model_options(s->model).timestep,
        .speed = s->speed,
        .q = kk_state_q_const(s->state),
        .v = kk_state_v_const(s->state),
        .control = s->control,
        .sensor_data = kk_session_sensor_data(s),
        .simulator = s->has_step ? s->simulator : NULL,
        .state_hash = kk_state_hash(s->state),
        .generation = s->generation,
        .notice = s->notices,
        .flags = (s->paused ? KK_VIEW_PAUSED : 0u) | (s->failed ? KK_VIEW_FAILED : 0u) |
                 (s->steps < s->history.newest ? KK_VIEW_REPLAYS : 0u) | (s->differs ? KK_VIEW_DIFFERS : 0u),
    };
}

kk_status kk_session_frame(kk_session *session, const void **bytes, size_t *size, kk_error *error) {
    if (kki_is_missing(session, bytes, size)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_session *s = session;
    const size_t need = kk_view_frame_size(s->model, s->has_step ? kk_simulator_ncontact(s->simulator) : 0);
    if (need > s->frame_room) {
        const size_t room = need + need / 4; // contacts come one by one
        void *frame = kki_allocate(&s->allocator, room);
        if (!frame) {
            return kki_error_set(error, KK_OUT_OF_MEMORY, "out of memory for a frame");
        }
        kki_release(&s->allocator, s->frame, s->frame_room);
        s->frame = frame;
        s->frame_room = room;
    }
    const kk_view_source source = source_of(s);
    *bytes = s->frame;
    return kk_view_frame(&source, s->frame, s->frame_room, size);
}
