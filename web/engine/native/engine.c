// What the WebAssembly module gives to JavaScript: a thin cover over the public headers. Numbers and pointers only; texts and
// arrays lie in the module's memory, results of variable size at kkw_result(), kkw_result_size() bytes long, until the next call.
#include <stdlib.h>
#include <string.h>

#include <karakuri/karakuri.h>

#define EXPORT(name) __attribute__((export_name(#name), visibility("default"))) name

static kk_error last_error;
static const void *result;
static size_t result_size;
static char *own_result; // malloc'ed, where the result is ours

static void give(const void *bytes, size_t size) {
    free(own_result);
    own_result = NULL;
    result = bytes;
    result_size = size;
}

static void give_own(char *bytes, size_t size) {
    give(bytes, size);
    own_result = bytes;
}

void *EXPORT(kkw_allocate)(size_t size) {
    return malloc(size ? size : 1);
}
void EXPORT(kkw_release)(void *block) {
    free(block);
}
const void *EXPORT(kkw_result)(void) {
    return result;
}
size_t EXPORT(kkw_result_size)(void) {
    return result_size;
}
const char *EXPORT(kkw_version)(void) {
    return KK_VERSION;
}

// ---- errors

const char *EXPORT(kkw_error_text)(void) {
    return last_error.text;
}
const char *EXPORT(kkw_error_file)(void) {
    return last_error.file;
}
int EXPORT(kkw_error_line)(void) {
    return last_error.line;
}
int EXPORT(kkw_error_column)(void) {
    return last_error.column;
}
const char *EXPORT(kkw_status_name)(int status) {
    return kk_status_name((kk_status)status);
}

// ---- loading

static kk_messages *messages; // of the last load

enum {
    LOAD_FLOOR = 1,
    LOAD_ACTUATORS = 2,
    LOAD_CLEAN = 4,
    LOAD_PLACE = 8,
    LOAD_REPAIR = 16,
    LOAD_FREE = 32,
    LOAD_FIXED = 64,
    LOAD_EXACT = 128
};

/// @param file  [count] as kk_file: pointers to path and bytes, size    @return 0 where it fails
kk_spec *EXPORT(kkw_load)(const kk_file *file, int count, const char *path, int flags) {
    const kk_load_options options = {
        .file = file,
        .file_count = count,
        .allow_absolute = 1,
        .repair = (flags & LOAD_REPAIR) != 0,
        .add_floor = (flags & LOAD_FLOOR) != 0,
        .add_actuators = (flags & LOAD_ACTUATORS) != 0,
        .clean_collisions = (flags & LOAD_CLEAN) != 0,
        .place_on_floor = (flags & LOAD_PLACE) != 0,
        .base = flags & LOAD_FREE    ? KK_BASE_FREE
                : flags & LOAD_FIXED ? KK_BASE_FIXED
                                     : KK_BASE_AS_FILE,
        .mesh_use = flags & LOAD_EXACT ? KK_MESH_EXACT : KK_MESH_AUTO,
    };
    kk_spec *spec = NULL;
    last_error = (kk_error){0};
    kk_messages_free(messages);
    messages = NULL;
    return kk_load_file(path, &options, NULL, &spec, &messages, &last_error) == KK_OK ? spec : NULL;
}

int EXPORT(kkw_message_count)(void) {
    return messages ? kk_messages_count(messages) : 0;
}
int EXPORT(kkw_message_severity)(int index) {
    return (int)kk_messages_get(messages, index).severity;
}
int EXPORT(kkw_message_line)(int index) {
    return kk_messages_get(messages, index).line;
}
const char *EXPORT(kkw_message_part)(int index, int part) {
    const kk_message m = kk_messages_get(messages, index);
    return part == 0 ? m.file : part == 1 ? m.text : m.remedy;
}

void EXPORT(kkw_spec_free)(kk_spec *spec) {
    kk_spec_free(spec);
}

/// format 0: URDF, 1: MJCF
int EXPORT(kkw_spec_write)(const kk_spec *spec, int format) {
    char *text = NULL;
    size_t size = 0;
    const kk_status status = format ? kk_spec_write_mjcf(spec, NULL, NULL, &text, &size, &last_error)
                                    : kk_spec_write_urdf(spec, NULL, NULL, &text, &size, &last_error);
    if (status == KK_OK) {
        give_own(text, size);
    }
    return (int)status;
}

// ---- sessions

/// Takes the spec over where it succeeds. @return 0 where it fails
kk_session *EXPORT(kkw_session_create)(kk_spec *spec, size_t history_bytes, int keyframe, int paused) {
    const kk_session_def def = {history_bytes, keyframe, paused};
    kk_session *session = NULL;
    last_error = (kk_error){0};
    return kk_session_create(spec, &def, NULL, &session, &last_error) == KK_OK ? session : NULL;
}
void EXPORT(kkw_session_free)(kk_session *session) {
    kk_session_free(session);
}
const kk_spec *EXPORT(kkw_session_spec)(const kk_session *session) {
    return kk_session_spec(session);
}
int EXPORT(kkw_command)(kk_session *session, const char *text, size_t length) {
    last_error = (kk_error){0};
    return (int)kk_session_command(session, text, length, &last_error);
}
int EXPORT(kkw_advance)(kk_session *session, double seconds, int most) {
    return kk_session_advance(session, seconds, most);
}
int EXPORT(kkw_step)(kk_session *session, int count) {
    last_error = (kk_error){0};
    return (int)kk_session_step(session, count, &last_error);
}
const char *EXPORT(kkw_notice)(const kk_session *session) {
    return kk_session_notice(session);
}
int EXPORT(kkw_describe)(kk_session *session) {
    const char *text = NULL;
    size_t size = 0;
    const kk_status status = kk_session_describe(session, &text, &size, &last_error);
    give(text, size);
    return (int)status;
}
int EXPORT(kkw_frame)(kk_session *session) {
    const void *bytes = NULL;
    size_t size = 0;
    const kk_status status = kk_session_frame(session, &bytes, &size, &last_error);
    give(bytes, size);
    return (int)status;
}

int EXPORT(kkw_mesh)(const kk_session *session, int mesh) {
    const size_t size = kk_view_mesh_size(kk_session_model(session), mesh);
    char *bytes = malloc(size ? size : 1);
    if (!bytes) {
        return KK_OUT_OF_MEMORY;
    }
    give_own(bytes, size);
    return (int)kk_view_mesh(kk_session_model(session), mesh, bytes, size);
}
int EXPORT(kkw_height_field)(const kk_session *session, int field) {
    const size_t size = kk_view_height_field_size(kk_session_model(session), field);
    char *bytes = malloc(size ? size : 1);
    if (!bytes) {
        return KK_OUT_OF_MEMORY;
    }
    give_own(bytes, size);
    return (int)kk_view_height_field(kk_session_model(session), field, bytes, size);
}

// ---- numbers of a session, in place

double EXPORT(kkw_time)(const kk_session *session) {
    return kk_state_time(kk_session_state(session));
}
const double *EXPORT(kkw_q)(const kk_session *session) {
    return kk_state_q_const(kk_session_state(session));
}
const double *EXPORT(kkw_v)(const kk_session *session) {
    return kk_state_v_const(kk_session_state(session));
}
double *EXPORT(kkw_control)(kk_session *session) {
    return kk_session_control(session);
}
const double *EXPORT(kkw_sensor_data)(kk_session *session) {
    return kk_session_sensor_data(session);
}
uint64_t EXPORT(kkw_state_hash)(const kk_session *session) {
    return kk_state_hash(kk_session_state(session));
}
uint64_t EXPORT(kkw_model_hash)(const kk_session *session) {
    return kk_model_hash(kk_session_model(session));
}
/// which: 0 nq, 1 nv, 2 bodies, 3 actuators, 4 sensor data, 5 contacts of the last step
int EXPORT(kkw_count)(kk_session *session, int which) {
    const kk_model *m = kk_session_model(session);
    switch (which) {
    case 0: return kk_model_nq(m);
    case 1: return kk_model_nv(m);
    case 2: return kk_model_nbody(m);
    case 3: return kk_model_nactuator(m);
    case 4: return kk_model_nsensordata(m);
    default: return kk_simulator_ncontact(kk_session_simulator(session));
    }
}
double EXPORT(kkw_residual)(kk_session *session) {
    return kk_simulator_report(kk_session_simulator(session))->residual;
}

int EXPORT(kkw_state_save)(const kk_session *session) {
    const kk_state *state = kk_session_state(session);
    const size_t size = kk_state_saved_size(state);
    char *bytes = malloc(size);
    if (!bytes) {
        return KK_OUT_OF_MEMORY;
    }
    give_own(bytes, size);
    return (int)kk_state_save(state, bytes, size);
}

// ---- dynamics. Arrays are the caller's, in the module's memory

static kk_data *data;
static const kk_model *data_model;
static uint64_t data_hash;

static kk_data *data_for(const kk_model *model) {
    if (data_model != model || data_hash != kk_model_hash(model) || !data) {
        kk_data_free(data);
        data = NULL;
        data_model = model;
        data_hash = kk_model_hash(model);
        (void)kk_data_create(model, NULL, &data);
    }
    return data;
}

int EXPORT(kkw_inverse_dynamics)(const kk_session *session, const double *q, const double *v, const double *a,
                                 double *tau) {
    const kk_model *m = kk_session_model(session);
    kk_data *d = data_for(m);
    if (d) {
        kk_inverse_dynamics(m, d, q, v, a, tau);
    }
    return d ? KK_OK : KK_OUT_OF_MEMORY;
}
int EXPORT(kkw_forward_dynamics)(const kk_session *session, const double *q, const double *v, const double *tau,
                                 double *a) {
    const kk_model *m = kk_session_model(session);
    kk_data *d = data_for(m);
    if (d) {
        kk_forward_dynamics(m, d, q, v, tau, a);
    }
    return d ? KK_OK : KK_OUT_OF_MEMORY;
}
int EXPORT(kkw_inertia_matrix)(const kk_session *session, const double *q, double *M) {
    const kk_model *m = kk_session_model(session);
    kk_data *d = data_for(m);
    return d ? (int)kk_inertia_matrix(m, d, q, M) : KK_OUT_OF_MEMORY;
}
int EXPORT(kkw_body_jacobian)(const kk_session *session, const double *q, int body, double *J) {
    const kk_model *m = kk_session_model(session);
    kk_data *d = data_for(m);
    if (d) {
        kk_jacobians(m, d, q);
        kk_body_jacobian(m, d, body, KK_WORLD_ALIGNED, J);
    }
    return d ? KK_OK : KK_OUT_OF_MEMORY;
}
/// @param pose  [7] w, x, y, z, px, py, pz
int EXPORT(kkw_body_pose)(const kk_session *session, const double *q, int body, double *pose) {
    const kk_model *m = kk_session_model(session);
    kk_data *d = data_for(m);
    if (d) {
        kk_kinematics(m, d, q);
        const kk_transform X = kk_body_pose(m, d, body);
        const kk_quat r = kk_quat_from_mat3(X.R);
        const double seven[7] = {r.w, r.x, r.y, r.z, X.p.x, X.p.y, X.p.z};
        memcpy(pose, seven, sizeof seven);
    }
    return d ? KK_OK : KK_OUT_OF_MEMORY;
}

// ---- recordings

kk_recording *EXPORT(kkw_recording_open)(const void *bytes, size_t size) {
    kk_recording *recording = NULL;
    last_error = (kk_error){0};
    return kk_recording_read_bytes("recording", bytes, size, NULL, &recording, &last_error) == KK_OK ? recording : NULL;
}
double EXPORT(kkw_recording_steps)(const kk_recording *recording) {
    return (double)kk_recording_get_info(recording).steps;
}
uint64_t EXPORT(kkw_recording_model_hash)(const kk_recording *recording) {
    return kk_recording_get_info(recording).model_hash;
}
const char *EXPORT(kkw_recording_note)(const kk_recording *recording) {
    return kk_recording_get_info(recording).note;
}

/// A recording's steps taken again, so that contacts and forces are there; as far as they come out as they were.
static struct {
    const kk_recording *of;
    uint64_t model_hash;
    kk_state *state;
    kk_simulator *simulator;
    int64_t taken; ///< steps from the recording's start to the state; −1: none
} again;

static void forget_again(void) {
    kk_simulator_free(again.simulator);
    kk_state_free(again.state);
    memset(&again, 0, sizeof again);
}

void EXPORT(kkw_recording_free)(kk_recording *recording) {
    forget_again();
    kk_recording_free(recording);
}

static kk_status begin_again(const kk_model *m, const kk_recording *recording) {
    const kk_recording_info info = kk_recording_get_info(recording);
    if (again.of == recording && again.model_hash == kk_model_hash(m)) {
        return KK_OK;
    }
    forget_again();
    again.of = recording;
    again.model_hash = kk_model_hash(m);
    again.taken = -1;
    const kk_status status = kk_state_create(m, NULL, &again.state);
    return status ? status : kk_simulator_create(m, &info.options, NULL, &again.simulator, &last_error);
}

/// To the state behind `taken` steps, by steps from the last key or from where it is. The hash of the state tells whether it is the one recorded.
static kk_status go_again(const kk_model *m, kk_recording *recording, int64_t taken) {
    int64_t key = 0;
    kk_status status = begin_again(m, recording);
    if (!status && (again.taken < 0 || again.taken > taken || taken - again.taken > 4096)) {
        status = kk_recording_get_key(recording, taken - 1, again.state, &key, &last_error);
        again.taken = key;
    }
    while (!status && again.taken < taken) {
        kk_recording_frame f;
        status = kk_recording_get_frame(recording, again.taken, &f, &last_error);
        const kk_input input = {.control = f.control};
        status = status ? status : kk_step(m, again.state, again.simulator, &input, &last_error);
        again.taken++;
    }
    again.taken = status ? -1 : again.taken;
    return status;
}

static kk_view_source source_of(const kk_model *m, const kk_recording_info *info, const kk_recording_frame *f) {
    kk_view_source source = {.model = m,
                             .data = data,
                             .time = f->time,
                             .steps = (double)f->step,
                             .newest = (double)info->steps - 1,
                             .timestep =
                                 info->options.timestep > 0 ? info->options.timestep : kk_model_options(m).timestep,
                             .speed = 1,
                             .q = f->q,
                             .v = f->v,
                             .control = f->control,
                             .state_hash = f->state_hash,
                             .flags = KK_VIEW_REPLAYS};
    source.report.residual = f->residual;
    source.report.penetration = f->penetration;
    source.report.cone = f->cone;
    source.report.signorini = f->signorini;
    source.report.sweeps = f->sweeps;
    source.report.newton = f->newton;
    return source;
}

/// A frame of a recorded step, drawn with the session's model. KK_SIZE_MISMATCH where the model does not fit. Contacts, forces and sensor data are there where
/// the step, taken again, gives the state that was recorded.
int EXPORT(kkw_recording_frame)(kk_session *session, kk_recording *recording, double step) {
    const kk_model *m = kk_session_model(session);
    const kk_recording_info info = kk_recording_get_info(recording);
    kk_recording_frame f;
    if (info.nq != kk_model_nq(m) || info.nv != kk_model_nv(m) || info.ncontrol != kk_model_nactuator(m)) {
        last_error = (kk_error){.status = KK_SIZE_MISMATCH};
        strcpy(last_error.text, "the recording is of another model: it has other joints or actuators");
        return KK_SIZE_MISMATCH;
    }
    const int is_same = go_again(m, recording, (int64_t)step + 1) == KK_OK;
    const kk_status status = kk_recording_get_frame(recording, (int64_t)step, &f, &last_error);
    const int agrees = is_same && !status && kk_state_hash(again.state) == f.state_hash;
    const size_t size = kk_view_frame_size(m, agrees ? kk_simulator_ncontact(again.simulator) : 0);
    double *readings = calloc((size_t)kk_model_nsensordata(m) + 1, sizeof *readings);
    char *bytes = status == KK_OK ? malloc(size) : NULL;
    if (!bytes || !readings || !data_for(m)) {
        free(bytes);
        free(readings);
        return status ? (int)status : KK_OUT_OF_MEMORY;
    }
    kk_view_source source = source_of(m, &info, &f);
    if (agrees) {
        (void)kk_simulator_read_sensors(again.simulator, again.state, 1, readings, NULL);
        source.simulator = again.simulator;
        source.sensor_data = readings;
    }
    size_t written = 0;
    const kk_status shown = kk_view_frame(&source, bytes, size, &written);
    free(readings);
    give_own(bytes, written);
    return (int)shown;
}
