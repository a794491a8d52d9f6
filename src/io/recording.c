/// Reading recordings. Nothing is believed before its checksum: the header when it is opened, a chunk when it is first asked
/// for. Where the footer does not tell the number of steps, chunks are counted as long as they are whole.
#include <karakuri/hash.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/float_bits.h"
#include "base/missing.h"
#include "io/file.h"
#include "io/recording.h"

static const size_t MOST_FILE_BYTES = (size_t)1 << (sizeof(size_t) > 4 ? 34 : 31);

struct kk_recording {
    kk_allocator allocator;
    kki_file_data data;
    const unsigned char *bytes; ///< data.bytes
    kki_recording_layout layout;
    kk_recording_info info;
    uint64_t seed;
    int64_t chunks;
    char *name, *note; ///< note is zero-terminated
    size_t name_size, note_size;
    size_t *offset; ///< [chunks + 1] where each begins, and the last ends
    size_t offset_room;
    unsigned char *checked; ///< [chunks] 1: its checksum is right
    double *number;         ///< [nq + nv + ncontrol] of the frame asked for last
};

// ---- the header

static double get_double(const unsigned char *at) {
    return kki_double(kki_get(at, 8));
}

static bool is_checked(const unsigned char *block, size_t size, uint64_t seed) {
    return kki_get(block + size - KKI_RECORDING_CHECKSUM, 8) ==
           kk_hash_bytes(block, size - KKI_RECORDING_CHECKSUM, seed);
}

static kk_status fault(const kk_recording *r, kk_error *error, const char *text) {
    return kki_error_at(error, KK_CORRUPT, r->name, 0, 0, "%s", text);
}

/// Bytes of the header's fixed part.
static size_t fixed_size(const unsigned char *header) {
    return kki_get(header + 8, 4) == 1 ? KKI_RECORDING_HEADER_1 : KKI_RECORDING_HEADER;
}

static kk_status check_header(const kk_recording *r, size_t *size, kk_error *error) {
    const unsigned char *b = r->bytes;
    if (r->data.size < KKI_RECORDING_HEADER_1 + KKI_RECORDING_CHECKSUM || memcmp(b, KKI_RECORDING_MAGIC, 8) != 0) {
        return fault(r, error, "the file does not start as a recording does — it was cut or is none");
    }
    *size = (size_t)kki_get(b + 12, 4);
    if (*size < fixed_size(b) + KKI_RECORDING_CHECKSUM || *size > r->data.size || !is_checked(b, *size, 0)) {
        return fault(r, error, "the checksum of the recording's header does not match — it was cut or altered");
    }
    if (kki_get(b + 8, 4) < 1 || kki_get(b + 8, 4) > KKI_RECORDING_VERSION) {
        return kki_error_at(error, KK_CORRUPT, r->name, 0, 0,
                            "the recording has version %d; this library reads versions up to %d",
                            (int)kki_get(b + 8, 4), (int)KKI_RECORDING_VERSION);
    }
    return KK_OK;
}

static kk_status read_sizes(kk_recording *r, size_t header_size, kk_error *error) {
    const unsigned char *b = r->bytes;
    const uint64_t nq = kki_get(b + 24, 4), nv = kki_get(b + 28, 4), ncontrol = kki_get(b + 32, 4);
    const uint64_t key_every = kki_get(b + 36, 4), state = kki_get(b + 40, 4), note = kki_get(b + 44, 4);
    // right where the checksum is; a file made to mislead is refused all the same
    if (8 * (nq + nv) > state || state > r->data.size || ncontrol > r->data.size || key_every == 0 ||
        key_every > KKI_RECORDING_MOST_KEY || note + fixed_size(b) + KKI_RECORDING_CHECKSUM != header_size) {
        return fault(r, error, "the sizes in the recording's header contradict each other");
    }
    r->layout =
        (kki_recording_layout){.nq = (int)nq,
                               .nv = (int)nv,
                               .ncontrol = (int)ncontrol,
                               .key_every = (int)key_every,
                               .header_size = header_size,
                               .state_size = (size_t)state,
                               .chunk_start = kki_get(b + 8, 4) < 3 ? KKI_RECORDING_CHUNK_2 : KKI_RECORDING_CHUNK,
                               .frame_size = kki_recording_frame_size((int)nq, (int)nv, (int)ncontrol)};
    r->note_size = (size_t)note + 1;
    r->seed = kki_get(b + header_size - KKI_RECORDING_CHECKSUM, 8);
    return KK_OK;
}

static int get_int(const unsigned char *at) {
    return (int)(int32_t)kki_get(at, 4);
}

/// Papers had their sweeps in a place of their own.
static void take_effort(const unsigned char *b, kk_step_options *o) {
    const int of_paper = get_int(b + 80), newton = get_int(b + 84), sweeps = get_int(b + 88);
    const int is_paper = kki_get(b + 8, 4) > 1 && get_int(b + 96) != KK_SOLVER_EXACT;
    o->iterations = is_paper && of_paper > 0 ? of_paper : sweeps > 0 ? sweeps : newton;
    o->effort = o->iterations == 0                         ? KK_EFFORT_TOLERANCE
                : sweeps > 0 || (is_paper && of_paper > 0) ? KK_EFFORT_SWEEPS
                                                           : KK_EFFORT_NEWTON;
}

static void read_info(kk_recording *r) {
    const unsigned char *b = r->bytes;
    r->info = (kk_recording_info){.model_hash = kki_get(b + 16, 8),
                                  .nq = r->layout.nq,
                                  .nv = r->layout.nv,
                                  .ncontrol = r->layout.ncontrol,
                                  .key_every = r->layout.key_every};
    r->info.options = (kk_step_options){.timestep = get_double(b + 48),
                                        .tolerance = get_double(b + 56),
                                        .restitution_speed = get_double(b + 64),
                                        .correction = get_double(b + 72),
                                        .explicit_servos = get_int(b + 92)};
    take_effort(b, &r->info.options);
    if (kki_get(b + 8, 4) > 1) {
        r->info.options.solver = (kk_solver)get_int(b + 96);
        r->info.options.detection = (kk_detection)get_int(b + 100);
        r->info.options.paper.spring_stiffness = get_double(b + 104);
        r->info.options.paper.spring_damping = get_double(b + 112);
        r->info.options.paper.spring_depth = get_double(b + 120);
    }
}

// ---- chunks

/// Size of the state that a chunk begins with; more than the file has where there is no room for a chunk.
static size_t state_size_at(const kk_recording *r, size_t offset) {
    const kki_recording_layout *l = &r->layout;
    if (offset > r->data.size || r->data.size - offset < l->chunk_start) {
        return r->data.size;
    }
    const uint64_t size = l->chunk_start == KKI_RECORDING_CHUNK_2 ? l->state_size : kki_get(r->bytes + offset + 16, 8);
    return size < r->data.size ? (size_t)size : r->data.size;
}

/// The steps of the chunk that begins at a place, by its own words, and where it ends. −1 where no whole chunk is.
static int64_t measure_chunk(const kk_recording *r, size_t offset, size_t *end) {
    const size_t state = state_size_at(r, offset), least = kki_recording_chunk_size(&r->layout, state, 0);
    if (offset > r->data.size || r->data.size - offset < least) {
        return -1;
    }
    const unsigned char *at = r->bytes + offset;
    const uint64_t steps = kki_get(at + 4, 4);
    if (kki_get(at, 4) != KKI_RECORDING_CHUNK_MAGIC || steps > (uint64_t)r->layout.key_every) {
        return -1;
    }
    const size_t size = kki_recording_chunk_size(&r->layout, state, (size_t)steps);
    *end = offset + size;
    return r->data.size - offset >= size ? (int64_t)steps : -1;
}

/// The same of a chunk that is the one that should be there, with a checksum that is right.
static int64_t steps_at(const kk_recording *r, int64_t chunk, size_t offset, size_t *end) {
    const int64_t steps = measure_chunk(r, offset, end);
    const int is_own =
        steps >= 0 && kki_get(r->bytes + offset + 8, 8) == (uint64_t)chunk * (uint64_t)r->layout.key_every;
    return is_own && is_checked(r->bytes + offset, *end - offset, r->seed) ? steps : -1;
}

static kk_status add_offset(kk_recording *r, int64_t chunk, size_t offset, kk_error *error) {
    if ((size_t)chunk >= r->offset_room) {
        const size_t room = 2 * r->offset_room + 64;
        size_t *list = kki_allocate_array(&r->allocator, room, sizeof *list);
        if (!list) {
            return kki_error_at(error, KK_OUT_OF_MEMORY, r->name, 0, 0, "no memory for the recording");
        }
        if (r->offset_room) {
            memcpy(list, r->offset, r->offset_room * sizeof *list);
        }
        kki_release_array(&r->allocator, r->offset, r->offset_room, sizeof *list);
        r->offset = list;
        r->offset_room = room;
    }
    r->offset[chunk] = offset;
    return KK_OK;
}

/// Goes from chunk to chunk as far as they are whole. @param is_read  whether their checksums are looked at
static kk_status walk_chunks(kk_recording *r, int is_read, kk_error *error) {
    size_t at = r->layout.header_size, end = at;
    int64_t steps = r->layout.key_every;
    r->info.steps = r->chunks = 0;
    kk_status status = add_offset(r, 0, at, error);
    while (status == KK_OK && steps == r->layout.key_every) { // only the last is not full
        steps = is_read ? steps_at(r, r->chunks, at, &end) : measure_chunk(r, at, &end);
        if (steps >= 0) {
            r->info.steps += steps;
            at = end;
            status = add_offset(r, ++r->chunks, at, error);
        }
    }
    return status;
}

/// Whether the footer is right, and stands where the chunks end, with as many as it says.
static bool agrees_with_footer(const kk_recording *r) {
    const size_t end = r->offset[r->chunks];
    if (r->data.size - end != KKI_RECORDING_FOOTER) {
        return false;
    }
    const unsigned char *at = r->bytes + end;
    return kki_get(at, 4) == KKI_RECORDING_FOOTER_MAGIC && is_checked(at, KKI_RECORDING_FOOTER, r->seed) &&
           kki_get(at + 8, 8) == (uint64_t)r->info.steps && kki_get(at + 16, 8) == (uint64_t)r->chunks;
}

/// Steps and chunks: by the chunks' own words where the footer says the same, otherwise by those that are whole from the start.
static kk_status find_chunks(kk_recording *r, kk_error *error) {
    kk_status status = walk_chunks(r, 0, error);
    r->info.is_complete = status == KK_OK && r->chunks > 0 && agrees_with_footer(r);
    if (status == KK_OK && !r->info.is_complete) {
        status = walk_chunks(r, 1, error);
    }
    return status;
}

static kk_status check_chunk(kk_recording *r, int64_t chunk, kk_error *error) {
    if (!r->checked[chunk]) {
        const int64_t first = chunk * r->layout.key_every, left = r->info.steps - first;
        const int64_t expected = left < r->layout.key_every ? left : r->layout.key_every;
        size_t end = 0;
        if (steps_at(r, chunk, r->offset[chunk], &end) != expected) {
            return kki_error_at(error, KK_CORRUPT, r->name, 0, 0,
                                "the checksum of the chunk from step %lld on does not match — it was altered",
                                (long long)first);
        }
        r->checked[chunk] = 1;
    }
    return KK_OK;
}

// ---- opening

static kk_status allocate(kk_recording *r, kk_error *error) {
    const kk_allocator *a = &r->allocator;
    const size_t numbers = (size_t)r->layout.nq + (size_t)r->layout.nv + (size_t)r->layout.ncontrol + 1;
    r->note = kki_allocate_zeroed(a, r->note_size);
    r->checked = kki_allocate_array_zeroed(a, (size_t)r->chunks + 1, 1);
    r->number = kki_allocate_array(a, numbers, sizeof *r->number);
    if (!r->note || !r->checked || !r->number) {
        return kki_error_at(error, KK_OUT_OF_MEMORY, r->name, 0, 0, "no memory for the recording");
    }
    memcpy(r->note, r->bytes + fixed_size(r->bytes), r->note_size - 1);
    r->info.note = r->note;
    return KK_OK;
}

static kk_status open_data(kk_recording *r, kk_error *error) {
    size_t header_size = 0;
    r->bytes = (const unsigned char *)r->data.bytes;
    kk_status status = check_header(r, &header_size, error);
    status = status ? status : read_sizes(r, header_size, error);
    if (status != KK_OK) {
        return status;
    }
    read_info(r);
    status = find_chunks(r, error);
    if (status != KK_OK) {
        return status;
    }
    if (r->chunks == 0) {
        return fault(r, error, "the recording has no whole chunk — it was cut at its start, or altered");
    }
    return allocate(r, error);
}

static kk_recording *create(const char *name, const kk_allocator *allocator) {
    const kk_allocator a = kki_allocator_or_default(allocator);
    kk_recording *r = kki_allocate_zeroed(&a, sizeof *r);
    if (!r) {
        return NULL;
    }
    r->allocator = a;
    r->name_size = strlen(name) + 1;
    r->name = kki_allocate(&a, r->name_size);
    if (!r->name) {
        kki_release(&a, r, sizeof *r);
        return NULL;
    }
    memcpy(r->name, name, r->name_size);
    return r;
}

static kk_status finish(kk_recording *r, kk_status status, kk_recording **recording, kk_error *error) {
    status = status ? status : open_data(r, error);
    if (status != KK_OK) {
        kk_recording_free(r);
    } else {
        *recording = r;
    }
    return status;
}

kk_status kk_recording_read_file(const char *path, const kk_allocator *allocator, kk_recording **recording,
                                 kk_error *error) {
    if (!path || !recording) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "kk_recording_read_file: an argument is NULL");
    }
    *recording = NULL;
    kk_recording *r = create(path, allocator);
    if (!r) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for a recording");
    }
    const kki_file_source source = kki_file_source_system();
    return finish(r, source.read(source.user, path, MOST_FILE_BYTES, &r->allocator, &r->data, error), recording, error);
}

kk_status kk_recording_read_bytes(const char *name, const void *bytes, size_t size, const kk_allocator *allocator,
                                  kk_recording **recording, kk_error *error) {
    if (!recording || (!bytes && size > 0)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "kk_recording_read_bytes: an argument is NULL");
    }
    *recording = NULL;
    kk_recording *r = create(name ? name : "", allocator);
    char *copy = r ? kki_allocate(&r->allocator, size + 1) : NULL;
    if (!copy) {
        kk_recording_free(r);
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for a recording");
    }
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    copy[size] = 0;
    r->data = (kki_file_data){copy, size};
    return finish(r, KK_OK, recording, error);
}

void kk_recording_free(kk_recording *recording) {
    if (!recording) {
        return;
    }
    kk_recording *r = recording;
    const kk_allocator a = r->allocator;
    const size_t numbers = (size_t)r->layout.nq + (size_t)r->layout.nv + (size_t)r->layout.ncontrol + 1;
    kki_release_array(&a, r->number, numbers, sizeof *r->number);
    kki_release_array(&a, r->offset, r->offset_room, sizeof *r->offset);
    kki_release_array(&a, r->checked, (size_t)r->chunks + 1, 1);
    kki_release(&a, r->note, r->note_size);
    kki_release(&a, r->name, r->name_size);
    if (r->data.bytes) {
        kki_file_release(&r->data, &a);
    }
    kki_release(&a, r, sizeof *r);
}

kk_recording_info kk_recording_get_info(const kk_recording *recording) {
    return recording->info;
}

// ---- steps

static const unsigned char *get_doubles(const unsigned char *at, double *to, int count) {
    for (int i = 0; i < count; i++) {
        to[i] = get_double(at + 8 * (size_t)i);
    }
    return at + 8 * (size_t)count;
}

static void get_frame(kk_recording *r, const unsigned char *at, kk_recording_frame *f) {
    const kki_recording_layout *l = &r->layout;
    double figures[6], *q = r->number, *v = q + l->nq, *control = v + l->nv;
    at = get_doubles(at, &f->time, 1);
    at = get_doubles(at, q, l->nq);
    at = get_doubles(at, v, l->nv);
    at = get_doubles(at, control, l->ncontrol);
    at = get_doubles(at, figures, 6);
    f->q = q;
    f->v = v;
    f->control = control;
    f->residual = figures[0];
    f->cone = figures[1];
    f->signorini = figures[2];
    f->penetration = figures[3];
    f->kinetic = figures[4];
    f->constraint_work = figures[5];
    f->contacts = get_int(at);
    f->sweeps = get_int(at + 4);
    f->newton = get_int(at + 8);
    f->hit_iteration_limit = get_int(at + 12);
    f->state_hash = kki_get(at + 16, 8);
}

kk_status kk_recording_get_frame(kk_recording *recording, int64_t step, kk_recording_frame *frame, kk_error *error) {
    if (kki_is_missing(recording, frame)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    if (step < 0 || step >= recording->info.steps) {
        return kki_error_at(error, KK_NOT_FOUND, recording->name, 0, 0, "there is no step %lld; the recording has %lld",
                            (long long)step, (long long)recording->info.steps);
    }
    const int64_t key = recording->layout.key_every, chunk = step / key;
    const kk_status status = check_chunk(recording, chunk, error);
    if (status == KK_OK) {
        const size_t at = recording->offset[chunk], state = state_size_at(recording, at);
        const unsigned char *frames = recording->bytes + at + recording->layout.chunk_start + state;
        frame->step = step;
        get_frame(recording, frames + (size_t)(step % key) * recording->layout.frame_size, frame);
    }
    return status;
}

kk_status kk_recording_get_key(kk_recording *recording, int64_t step, kk_state *state, int64_t *key, kk_error *error) {
    if (kki_is_missing(recording, state, key)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    const int64_t every = recording->layout.key_every;
    if (step < 0 || step > recording->info.steps) {
        return kki_error_at(error, KK_NOT_FOUND, recording->name, 0, 0, "there is no step %lld; the recording has %lld",
                            (long long)step, (long long)recording->info.steps);
    }
    int64_t chunk = step / every;
    chunk = chunk < recording->chunks ? chunk : recording->chunks - 1;
    const kk_status status = check_chunk(recording, chunk, error);
    if (status != KK_OK) {
        return status;
    }
    *key = chunk * every;
    const size_t at = recording->offset[chunk];
    return kk_state_restore(state, recording->bytes + at + recording->layout.chunk_start, state_size_at(recording, at),
                            error);
}
