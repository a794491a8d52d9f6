/// The state: time, coordinates, velocities and lags in one block, and its portable form.
///
/// In memory the numbers follow a small header: time, q [nq], v [nv], lag [nlag], warm [nwarm]. `warm` is room for what a
/// solver carries from step to step (without it a replay would not be exact); see warm.h.
///
/// Saved, version 2, everything little endian (version 1 has no acceleration at the end of `warm`, and is read as one without):
///     at 0 magic, 8 version, 12 size, 16 hash of the model, 24 nq, 28 nv, 32 nwarm, 36 nlag,
///     40 time, then q, v, lag, warm, and in the last 8 bytes the checksum
/// `size` counts the whole block, and the checksum is the hash of everything before it. XXH64 finds
/// every flipped bit and practically every other accident; it is no protection against forgery.
#include <karakuri/hash.h>
#include <karakuri/state.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/float_bits.h"
#include "model/compile.h"
#include "model/warm.h"

enum { FORMAT_VERSION = 2, HEADER_SIZE = 40, CHECKSUM_SIZE = 8 };

static const char MAGIC[8] = {'K', 'K', 'S', 'T', 'A', 'T', 'E', '\n'};

struct kk_state {
    kk_allocator allocator;
    size_t size;         ///< bytes of the block
    uint64_t model_hash; ///< of the model it belongs to
    int32_t nq, nv, nlag, nwarm;
    int32_t nwarm_1; ///< what of nwarm version 1 of the saved form has
    double number[]; ///< time, q, v, lag, warm
};

static size_t number_count(const kk_state *s) {
    return 1 + (size_t)s->nq + (size_t)s->nv + (size_t)s->nlag + (size_t)s->nwarm;
}

// ---- creation

static double clamped(double x, double lower, double upper) {
    return x < lower ? lower : x > upper ? upper : x;
}

/// Controls of the past: zero, one a time step.
static void begin_history(const kk_model *m, const kki_model_actuator *a, double time, double *history) {
    double *const when = history + KKI_HISTORY_FIRST, *const what = when + a->delay_samples;
    history[KKI_HISTORY_COUNT] = 0;
    for (int k = 0; k < a->delay_samples; k++) {
        when[k] = time - (a->delay_samples - k) * m->options.timestep;
        what[k] = 0;
    }
}

/// Every lag where its input would bring it; integrators have no such place and start at 0.
static void settle_lags(const kk_model *m, const double *control, double time, double *lag) {
    for (int i = 0; i < m->nactuator && m->nlag > 0; i++) {
        const kki_model_actuator *a = &m->actuator[i];
        if (a->history_index >= 0) {
            begin_history(m, a, time, lag + a->history_index);
        }
        if (a->lag_index >= 0) {
            const double u =
                control && a->lag != KK_LAG_INTEGRATE ? clamped(control[i], a->control_lower, a->control_upper) : 0;
            const double at_rest = a->lag == KK_LAG_MUSCLE ? clamped(u, 0, 1) : u;
            lag[a->lag_index] = clamped(at_rest, a->lag_lower, a->lag_upper);
        }
    }
}

static void set_start(const kk_model *m, kk_state *s) {
    memset(s->number, 0, number_count(s) * sizeof *s->number);
    kk_model_start(m, kk_state_q(s));
    settle_lags(m, NULL, 0, kk_state_lag(s));
}

kk_status kk_state_create(const kk_model *model, const kk_allocator *allocator, kk_state **state) {
    if (!model || !state) {
        return KK_INVALID_ARGUMENT;
    }
    *state = NULL;
    kk_state header = {.allocator = kki_allocator_or_default(allocator),
                       .model_hash = model->hash,
                       .nq = model->nq,
                       .nv = model->nv,
                       .nlag = model->nlag,
                       .nwarm = kki_warm_layout_of(model).size,
                       .nwarm_1 = kki_warm_layout_of(model).first_change};
    header.size = sizeof header + number_count(&header) * sizeof(double);
    kk_state *s = kki_allocate_zeroed(&header.allocator, header.size);
    if (!s) {
        return KK_OUT_OF_MEMORY;
    }
    *s = header;
    set_start(model, s);
    *state = s;
    return KK_OK;
}

void kk_state_free(kk_state *state) {
    if (state) {
        const kk_allocator allocator = state->allocator;
        kki_release(&allocator, state, state->size);
    }
}

// ---- reading and writing

double kk_state_time(const kk_state *state) {
    return state->number[0];
}

void kk_state_set_time(kk_state *state, double time) {
    state->number[0] = time;
}

double *kk_state_q(kk_state *state) {
    return state->number + 1;
}

double *kk_state_v(kk_state *state) {
    return state->number + 1 + state->nq;
}

const double *kk_state_q_const(const kk_state *state) {
    return state->number + 1;
}

const double *kk_state_v_const(const kk_state *state) {
    return state->number + 1 + state->nq;
}

double *kk_state_lag(kk_state *state) {
    return state->number + 1 + state->nq + state->nv;
}

const double *kk_state_lag_const(const kk_state *state) {
    return state->number + 1 + state->nq + state->nv;
}

double *kki_state_warm(kk_state *state) {
    return state->number + 1 + state->nq + state->nv + state->nlag;
}

const double *kki_state_warm_const(const kk_state *state) {
    return state->number + 1 + state->nq + state->nv + state->nlag;
}

kk_status kk_state_set_keyframe(const kk_model *model, kk_state *state, int keyframe) {
    if (state->model_hash != model->hash) {
        return KK_SIZE_MISMATCH;
    }
    if (keyframe < 0 || keyframe >= model->nkeyframe) {
        return KK_NOT_FOUND;
    }
    const kki_model_keyframe *key = &model->keyframe[keyframe];
    set_start(model, state);
    state->number[0] = key->time;
    memcpy(kk_state_q(state), key->q, (size_t)model->nq * sizeof(double));
    memcpy(kk_state_v(state), key->v, (size_t)model->nv * sizeof(double));
    settle_lags(model, key->control, key->time, kk_state_lag(state));
    return KK_OK;
}

int kk_state_loop(const kk_model *model, const kk_state *state, int loop) {
    if (state->model_hash != model->hash || loop < 0 || loop >= model->nloop) {
        return -1;
    }
    const double position = kki_state_warm_const(state)[kki_warm_layout_of(model).first_switch + loop];
    return kki_loop_is_on(&model->loop[loop], position);
}

kk_status kk_state_set_loop(const kk_model *model, kk_state *state, int loop, int on) {
    if (state->model_hash != model->hash) {
        return KK_SIZE_MISMATCH;
    }
    if (loop < 0 || loop >= model->nloop) {
        return KK_NOT_FOUND;
    }
    kki_state_warm(state)[kki_warm_layout_of(model).first_switch + loop] = on ? KKI_SWITCH_ON : KKI_SWITCH_OFF;
    return KK_OK;
}

static int same_shape(const kk_state *a, const kk_state *b) {
    return a->model_hash == b->model_hash && a->nq == b->nq && a->nv == b->nv && a->nlag == b->nlag &&
           a->nwarm == b->nwarm;
}

kk_status kk_state_copy(kk_state *to, const kk_state *from) {
    if (!same_shape(to, from)) {
        return KK_SIZE_MISMATCH;
    }
    memmove(to->number, from->number, number_count(to) * sizeof(double));
    return KK_OK;
}

int kk_state_equal(const kk_state *a, const kk_state *b) {
    return same_shape(a, b) && memcmp(a->number, b->number, number_count(a) * sizeof(double)) == 0;
}

uint64_t kk_state_hash(const kk_state *state) {
    return kk_hash_doubles(state->number, number_count(state), 0);
}

static kk_status check_velocity(const kk_model *m, int body, const double *v, kk_error *error) {
    const kki_body *b = &m->body[body];
    for (int k = 0; k < b->nv; k++) {
        const double x = v[b->v_index + k];
        if (!kki_is_finite(x)) {
            return kki_error_set(error, KK_NOT_FINITE, "joint \"%s\": velocity %d (v[%d]) is %s; it must be finite",
                                 kki_model_name(m, b->joint_name), k, (int)b->v_index + k, KKI_NUMBER(x));
        }
    }
    return KK_OK;
}

static kk_status check_lags(const kk_model *m, const double *lag, kk_error *error) {
    for (int i = 0; i < m->nactuator && m->nlag > 0; i++) {
        const kki_model_actuator *a = &m->actuator[i];
        if (a->lag_index >= 0 && !kki_is_finite(lag[a->lag_index])) {
            return kki_error_set(error, KK_NOT_FINITE, "actuator %d \"%s\": its lag is %s; it must be finite", i,
                                 kki_model_name(m, a->name), KKI_NUMBER(lag[a->lag_index]));
        }
    }
    return KK_OK;
}

kk_status kk_state_check(const kk_model *model, const kk_state *state, kk_error *error) {
    if (state->model_hash != model->hash) {
        return kki_error_set(error, KK_SIZE_MISMATCH, "the state is of another model; create one for this model");
    }
    if (!kki_is_finite(kk_state_time(state))) {
        return kki_error_set(error, KK_NOT_FINITE, "the time of the state is %s; it must be finite",
                             KKI_NUMBER(kk_state_time(state)));
    }
    kk_status status = kk_model_check_q(model, kk_state_q_const(state), error);
    const int is_good = kki_are_finite(kk_state_v_const(state), model->nv);
    for (int i = 0; i < model->nbody && status == KK_OK && !is_good; i++) {
        status = check_velocity(model, i, kk_state_v_const(state), error);
    }
    return status ? status : check_lags(model, kk_state_lag_const(state), error);
}

// ---- little endian, whatever the machine

static void put(unsigned char *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) {
        at[i] = (unsigned char)(value >> (8 * i));
    }
}

static uint64_t get(const unsigned char *at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) {
        value |= (uint64_t)at[i] << (8 * i);
    }
    return value;
}

// ---- the portable form

size_t kk_state_saved_size(const kk_state *state) {
    return HEADER_SIZE + 8 * number_count(state) + CHECKSUM_SIZE;
}

/// Numbers that a version of the saved form has of a state.
static size_t saved_count(const kk_state *s, uint64_t version) {
    return number_count(s) - (version == 1 ? (size_t)(s->nwarm - s->nwarm_1) : 0);
}

static size_t saved_size(const kk_state *s, uint64_t version) {
    return HEADER_SIZE + 8 * saved_count(s, version) + CHECKSUM_SIZE;
}

static void put_header(const kk_state *s, uint64_t version, unsigned char *at) {
    memcpy(at, MAGIC, sizeof MAGIC);
    put(at + 8, version, 4);
    put(at + 12, saved_size(s, version), 4);
    put(at + 16, s->model_hash, 8);
    put(at + 24, (uint64_t)s->nq, 4);
    put(at + 28, (uint64_t)s->nv, 4);
    put(at + 32, (uint64_t)(version == 1 ? s->nwarm_1 : s->nwarm), 4);
    put(at + 36, (uint64_t)s->nlag, 4);
}

kk_status kk_state_save(const kk_state *state, void *bytes, size_t size) {
    if (!bytes || size != kk_state_saved_size(state)) {
        return KK_SIZE_MISMATCH;
    }
    unsigned char *at = bytes;
    put_header(state, FORMAT_VERSION, at);
    for (size_t i = 0; i < number_count(state); i++) {
        put(at + HEADER_SIZE + 8 * i, kki_bits(state->number[i]), 8);
    }
    put(at + size - CHECKSUM_SIZE, kk_hash_bytes(at, size - CHECKSUM_SIZE, 0), 8);
    return KK_OK;
}

/// The block is whole: nothing is said yet about the model it belongs to.
static kk_status check_block(const unsigned char *at, size_t size, kk_error *error) {
    if (!at || size < HEADER_SIZE + 8 + CHECKSUM_SIZE || memcmp(at, MAGIC, sizeof MAGIC) != 0) {
        return kki_error_set(error, KK_CORRUPT,
                             "the block does not start as a saved state does; it was cut or is not one");
    }
    if (get(at + size - CHECKSUM_SIZE, 8) != kk_hash_bytes(at, size - CHECKSUM_SIZE, 0)) {
        return kki_error_set(error, KK_CORRUPT,
                             "the checksum of the saved state does not match; it was cut or altered");
    }
    if (get(at + 8, 4) < 1 || get(at + 8, 4) > FORMAT_VERSION) {
        return kki_error_set(error, KK_CORRUPT, "the saved state has version %d; this library reads versions 1 to %d",
                             (int)get(at + 8, 4), (int)FORMAT_VERSION);
    }
    return KK_OK;
}

static kk_status check_header(const kk_state *s, const unsigned char *at, size_t size, kk_error *error) {
    unsigned char expected[HEADER_SIZE];
    const uint64_t version = get(at + 8, 4);
    put_header(s, version, expected);
    if (get(at + 16, 8) != s->model_hash) {
        return kki_error_set(error, KK_SIZE_MISMATCH,
                             "the saved state is of another model, or of this one before it was changed");
    }
    if (size != saved_size(s, version) || memcmp(at, expected, HEADER_SIZE) != 0) {
        return kki_error_set(error, KK_CORRUPT, "the saved state contradicts the sizes of its model");
    }
    return KK_OK;
}

kk_status kk_state_restore(kk_state *state, const void *bytes, size_t size, kk_error *error) {
    const unsigned char *at = bytes;
    kk_status status = check_block(at, size, error);
    status = status ? status : check_header(state, at, size, error);
    const size_t count = status ? 0 : saved_count(state, get(at + 8, 4));
    for (size_t i = 0; i < count; i++) {
        state->number[i] = kki_double(get(at + HEADER_SIZE + 8 * i, 8));
    }
    if (status == KK_OK) {
        memset(state->number + count, 0, (number_count(state) - count) * sizeof *state->number);
    }
    return status;
}
