/// Writing recordings: one chunk is held in memory and goes out when it is full.
#include <karakuri/hash.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/float_bits.h"
#include "base/missing.h"
#include "io/output_file.h"
#include "io/recording.h"
#include "model/warm.h"

struct kk_recorder {
    kk_allocator allocator;
    kki_recording_layout layout;
    kk_recorder_sink *sink;
    void *user;
    kki_output_file file; ///< of kk_recorder_open; not open else
    int has_failed;
    uint64_t seed; ///< the header's checksum
    uint64_t model_hash;
    int64_t steps, chunks;
    int filled;        ///< frames in the chunk
    size_t state_size; ///< of the state that the chunk begins with
    size_t chunk_size;
    unsigned char *chunk; ///< room for a whole one
};

// ---- bytes

static void send(kk_recorder *r, const void *bytes, size_t size) {
    r->has_failed = r->has_failed || r->sink(r->user, bytes, size) != 0;
}

static kk_status outcome(const kk_recorder *r, kk_error *error) {
    return r->has_failed ? kki_error_set(error, KK_IO,
                                         "the recording could not be written — is the disk full, or the reader gone?")
                         : KK_OK;
}

static unsigned char *put_double(unsigned char *at, double value) {
    kki_put(at, kki_bits(value), 8);
    return at + 8;
}

static unsigned char *put_doubles(unsigned char *at, const double *value, int count) {
    for (int i = 0; i < count; i++) {
        at = put_double(at, value ? value[i] : 0);
    }
    return at;
}

static unsigned char *put_int(unsigned char *at, int value) {
    kki_put(at, (uint32_t)value, 4);
    return at + 4;
}

/// Sends a block whose last eight bytes are for its checksum.
static void send_checked(kk_recorder *r, unsigned char *block, size_t size) {
    kki_put(block + size - KKI_RECORDING_CHECKSUM, kk_hash_bytes(block, size - KKI_RECORDING_CHECKSUM, r->seed), 8);
    send(r, block, size);
}

// ---- header, chunks, footer

static void fill_header(const kk_recorder *r, const kk_recorder_def *def, size_t note_size, unsigned char *block) {
    const kki_recording_layout *l = &r->layout;
    const kk_step_options *o = &def->options;
    memcpy(block, KKI_RECORDING_MAGIC, 8);
    kki_put(block + 8, KKI_RECORDING_VERSION, 4);
    kki_put(block + 12, l->header_size, 4);
    kki_put(block + 16, r->model_hash, 8);
    kki_put(block + 24, (uint64_t)l->nq, 4);
    kki_put(block + 28, (uint64_t)l->nv, 4);
    kki_put(block + 32, (uint64_t)l->ncontrol, 4);
    kki_put(block + 36, (uint64_t)l->key_every, 4);
    kki_put(block + 40, l->state_size, 4);
    kki_put(block + 44, note_size, 4);
    unsigned char *at = put_double(block + 48, o->timestep);
    at = put_double(at, o->tolerance);
    at = put_double(at, o->restitution_speed);
    at = put_double(at, o->correction);
    at = put_int(at, 0); // of earlier versions: most sweeps
    at = put_int(at, o->effort == KK_EFFORT_NEWTON ? o->iterations : 0);
    at = put_int(at, o->effort == KK_EFFORT_SWEEPS ? o->iterations : 0);
    at = put_int(at, o->explicit_servos);
    at = put_int(at, (int)o->solver);
    at = put_int(at, (int)o->detection);
    at = put_double(at, o->paper.spring_stiffness);
    at = put_double(at, o->paper.spring_damping);
    at = put_double(at, o->paper.spring_depth);
    if (note_size > 0 && def->note) {
        memcpy(at, def->note, note_size);
    }
}

static kk_status write_header(kk_recorder *r, const kk_recorder_def *def, kk_error *error) {
    const size_t size = r->layout.header_size;
    unsigned char *block = kki_allocate(&r->allocator, size);
    if (!block) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for the header of a recording");
    }
    fill_header(r, def, size - KKI_RECORDING_HEADER - KKI_RECORDING_CHECKSUM, block);
    send_checked(r, block, size);
    r->seed = kki_get(block + size - KKI_RECORDING_CHECKSUM, 8);
    kki_release(&r->allocator, block, size);
    return outcome(r, error);
}

/// Room for a chunk that begins with a state of this size. States grow with their contacts; a quarter more is taken than the first needs.
static kk_status make_room(kk_recorder *r, size_t state_size) {
    const size_t size = kki_recording_chunk_size(&r->layout, state_size, (size_t)r->layout.key_every);
    if (size <= r->chunk_size) {
        return KK_OK;
    }
    const size_t room = size + state_size / 4;
    unsigned char *chunk = kki_allocate(&r->allocator, room);
    if (!chunk) {
        return KK_OUT_OF_MEMORY;
    }
    kki_release(&r->allocator, r->chunk, r->chunk_size);
    r->chunk = chunk;
    r->chunk_size = room;
    return KK_OK;
}

/// The state before the next step begins a chunk.
static kk_status begin_chunk(kk_recorder *r, const kk_state *state, kk_error *error) {
    const size_t size = kk_state_saved_size(state);
    r->filled = 0;
    if (make_room(r, size) != KK_OK) {
        r->has_failed = 1; // the recording ends with the last whole chunk
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for a chunk of %d steps; make key_every smaller",
                             r->layout.key_every);
    }
    r->state_size = size;
    return kk_state_save(state, r->chunk + KKI_RECORDING_CHUNK, size);
}

static void end_chunk(kk_recorder *r) {
    kki_put(r->chunk, KKI_RECORDING_CHUNK_MAGIC, 4);
    kki_put(r->chunk + 4, (uint64_t)r->filled, 4);
    kki_put(r->chunk + 8, (uint64_t)(r->steps - r->filled), 8);
    kki_put(r->chunk + 16, (uint64_t)r->state_size, 8);
    send_checked(r, r->chunk, kki_recording_chunk_size(&r->layout, r->state_size, (size_t)r->filled));
    r->chunks++;
}

static void write_footer(kk_recorder *r) {
    unsigned char block[KKI_RECORDING_FOOTER] = {0};
    kki_put(block, KKI_RECORDING_FOOTER_MAGIC, 4);
    kki_put(block + 8, (uint64_t)r->steps, 8);
    kki_put(block + 16, (uint64_t)r->chunks, 8);
    send_checked(r, block, sizeof block);
}

// ---- creation

static kk_status check_def(const kk_recorder_def *def, kk_error *error) {
    if (def->key_every < 0 || def->key_every > KKI_RECORDING_MOST_KEY) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "key_every of a recording is %d; it must be from 0 to %d",
                             def->key_every, (int)KKI_RECORDING_MOST_KEY);
    }
    if (def->note && strlen(def->note) > KKI_RECORDING_MOST_NOTE) {
        return kki_error_set(error, KK_LIMIT_EXCEEDED, "the note of a recording is longer than %d bytes",
                             (int)KKI_RECORDING_MOST_NOTE);
    }
    return KK_OK;
}

static kki_recording_layout layout_for(const kk_model *model, const kk_state *state, const kk_recorder_def *def) {
    kki_recording_layout l = {.nq = kk_model_nq(model),
                              .nv = kk_model_nv(model),
                              .ncontrol = kk_model_nactuator(model),
                              .key_every = def->key_every ? def->key_every : KKI_RECORDING_DEFAULT_KEY,
                              .state_size = kk_state_saved_size(state),
                              .chunk_start = KKI_RECORDING_CHUNK};
    l.header_size = KKI_RECORDING_HEADER + (def->note ? strlen(def->note) : 0) + KKI_RECORDING_CHECKSUM;
    l.frame_size = kki_recording_frame_size(l.nq, l.nv, l.ncontrol);
    return l;
}

static void free_recorder(kk_recorder *r) {
    const kk_allocator allocator = r->allocator;
    kki_release(&allocator, r->chunk, r->chunk_size);
    kki_release(&allocator, r, sizeof *r);
}

static kk_status create(const kk_model *model, const kk_state *state, const kk_recorder_def *def,
                        const kk_allocator *allocator, kk_recorder **recorder, kk_error *error) {
    kk_recorder made = {.allocator = kki_allocator_or_default(allocator),
                        .file = kki_output_none(),
                        .layout = layout_for(model, state, def),
                        .model_hash = kk_model_hash(model)};
    kk_recorder *r = kki_allocate(&made.allocator, sizeof *r);
    if (!r) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for a recorder");
    }
    *r = made;
    *recorder = r;
    return KK_OK;
}

static kk_status start(kk_recorder **recorder, const kk_state *state, const kk_recorder_def *def, kk_error *error) {
    kk_status status = begin_chunk(*recorder, state, error);
    status = status ? status : write_header(*recorder, def, error);
    if (status != KK_OK) {
        kki_output_close(&(*recorder)->file, 0);
        free_recorder(*recorder);
        *recorder = NULL;
    }
    return status;
}

static const kk_recorder_def defaults = {0};

kk_status kk_recorder_create(const kk_model *model, const kk_state *state, const kk_recorder_def *def,
                             kk_recorder_sink *sink, void *user, const kk_allocator *allocator, kk_recorder **recorder,
                             kk_error *error) {
    if (!model || !state || !sink || !recorder) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "kk_recorder_create: an argument is NULL");
    }
    *recorder = NULL;
    def = def ? def : &defaults;
    kk_status status = check_def(def, error);
    status = status ? status : create(model, state, def, allocator, recorder, error);
    if (!*recorder) {
        return status;
    }
    (*recorder)->sink = sink;
    (*recorder)->user = user;
    return start(recorder, state, def, error);
}

static int write_to_file(void *user, const void *bytes, size_t size) {
    const kk_recorder *r = user;
    return kki_output_write(&r->file, bytes, size);
}

kk_status kk_recorder_open(const char *path, const kk_model *model, const kk_state *state, const kk_recorder_def *def,
                           const kk_allocator *allocator, kk_recorder **recorder, kk_error *error) {
    if (!path || !model || !state || !recorder) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "kk_recorder_open: an argument is NULL");
    }
    *recorder = NULL;
    def = def ? def : &defaults;
    kk_status status = check_def(def, error);
    status = status ? status : create(model, state, def, allocator, recorder, error);
    if (!*recorder) {
        return status;
    }
    kk_recorder *r = *recorder;
    status = kki_output_open(&r->file, path, allocator, error);
    if (status != KK_OK) {
        free_recorder(r);
        *recorder = NULL;
        return status;
    }
    r->sink = write_to_file;
    r->user = r;
    return start(recorder, state, def, error);
}

// ---- steps

static void put_frame(const kk_recorder *r, unsigned char *at, const kk_state *after, const double *control,
                      const kk_report *p) {
    const kki_recording_layout *l = &r->layout;
    const double figures[6] = {p->residual,    p->cone,          p->signorini,
                               p->penetration, p->kinetic_after, p->constraint_work};
    at = put_double(at, kk_state_time(after));
    at = put_doubles(at, kk_state_q_const(after), l->nq);
    at = put_doubles(at, kk_state_v_const(after), l->nv);
    at = put_doubles(at, control, l->ncontrol);
    at = put_doubles(at, figures, 6);
    at = put_int(at, p->contacts);
    at = put_int(at, p->sweeps);
    at = put_int(at, p->newton);
    at = put_int(at, p->hit_iteration_limit);
    kki_put(at, kk_state_hash(after), 8);
}

kk_status kk_recorder_add(kk_recorder *recorder, const kk_state *after, const double *control, const kk_report *report,
                          kk_error *error) {
    if (kki_is_missing(recorder, after)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    static const kk_report none = {0};
    const kki_recording_layout *l = &recorder->layout;
    if (kki_state_model_hash(after) != recorder->model_hash) {
        return kki_error_set(error, KK_SIZE_MISMATCH, "the state is of another model than the recording");
    }
    kk_status status = outcome(recorder, error);
    if (status != KK_OK) {
        return status;
    }
    unsigned char *frames = recorder->chunk + KKI_RECORDING_CHUNK + recorder->state_size;
    put_frame(recorder, frames + (size_t)recorder->filled * l->frame_size, after, control, report ? report : &none);
    recorder->filled++;
    recorder->steps++;
    if (recorder->filled == l->key_every) {
        end_chunk(recorder);
        status = begin_chunk(recorder, after, error);
    }
    return status ? status : outcome(recorder, error);
}

kk_status kk_recorder_close(kk_recorder *recorder, kk_error *error) {
    if (!recorder) {
        return KK_OK;
    }
    // a recording without steps has the state it began with
    if (recorder->filled > 0 || recorder->chunks == 0) {
        end_chunk(recorder);
    }
    write_footer(recorder);
    if (kki_output_close(&recorder->file, !recorder->has_failed) != 0) {
        recorder->has_failed = 1;
    }
    const kk_status status = outcome(recorder, error);
    free_recorder(recorder);
    return status;
}
