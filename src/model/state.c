/// The state: time, coordinates, velocities, lags and what a solver carries from step to step, and its portable form.
///
/// In memory the numbers follow a small header: time, q [nq], v [nv], lag [nactivation], warm [nwarm]. Records of contacts and pairs are a list beside them, whose
/// room may be larger than what is in use (without them a replay would not be exact); see warm.h.
///
/// Saved, version 3, everything little endian:
///     at 0 magic, 8 version, 12 size, 16 hash of the model, 24 nq, 28 nv, 32 nwarm, 36 nactivation,
///     40 contacts, 44 pairs, 48 words of other records, 52 zero,
///     56 time, then q, v, lag, warm, the words of the list, and in the last 8 bytes the checksum
/// Version 2 has room for as many contacts as there may be: at 40 time, then q, v, lag, and in `warm` the numbers of contacts and pairs, their records, 13
/// and 10 doubles each, zeros up to its room, and the rest. At the end of `warm` version 2 has the acceleration of one step, and version 1 none; both are
/// read as states without.
/// `size` counts the whole block, and the checksum is the hash of everything before it. XXH64 finds
/// every flipped bit and practically every other accident; it is no protection against forgery.
#include <karakuri/hash.h>
#include <karakuri/state.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/float_bits.h"
#include "base/missing.h"
#include "model/compile.h"
#include "model/warm.h"

enum { FORMAT_VERSION = 3, HEADER_SIZE = 56, CHECKSUM_SIZE = 8 };
/// Of versions 1 and 2: the header, what stands before the records, and numbers of a contact and of a pair.
enum { OLD_HEADER_SIZE = 40, OLD_COUNTS = 2, OLD_CONTACT_SIZE = 13, OLD_PAIR_SIZE = 10 };

static const char MAGIC[8] = {'K', 'K', 'S', 'T', 'A', 'T', 'E', '\n'};

struct kk_state {
    kk_allocator allocator;
    size_t size;         ///< bytes of the block
    uint64_t model_hash; ///< of the model it belongs to
    int32_t nq, nv, nactivation, nwarm;
    int32_t nwarm_1, nwarm_2; ///< what versions 1 and 2 of the saved form have in its place
    int32_t old_room;         ///< contacts that versions 1 and 2 have room for
    kki_warm_list list;       ///< what touched
    size_t room;              ///< words that the list has room for
    double number[];          ///< time, q, v, lag, warm
};

static size_t number_count(const kk_state *s) {
    return 1 + (size_t)s->nq + (size_t)s->nv + (size_t)s->nactivation + (size_t)s->nwarm;
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
static void settle_activations(const kk_model *m, const double *control, double time, double *activation) {
    for (int i = 0; i < m->nactuator && m->nactivation > 0; i++) {
        const kki_model_actuator *a = &m->actuator[i];
        if (a->history_index >= 0) {
            begin_history(m, a, time, activation + a->history_index);
        }
        if (a->activation_index >= 0) {
            const double u = control && a->activation != KK_ACTIVATION_INTEGRATE
                                 ? clamped(control[i], a->control_lower, a->control_upper)
                                 : 0;
            const double at_rest = a->activation == KK_ACTIVATION_MUSCLE ? clamped(u, 0, 1) : u;
            activation[a->activation_index] = clamped(at_rest, a->activation_lower, a->activation_upper);
        }
    }
}

static void set_start(const kk_model *m, kk_state *s) {
    s->list.contacts = s->list.pairs = s->list.others = 0;
    memset(s->number, 0, number_count(s) * sizeof *s->number);
    kk_model_start(m, kk_state_q(s));
    settle_activations(m, NULL, 0, kk_state_activation(s));
}

void kki_state_belong_to(const kk_model *model, kk_state *state) {
    state->model_hash = model->hash;
}

void kki_state_begin(const kk_model *model, kk_state *state) {
    kki_state_belong_to(model, state);
    set_start(model, state);
}

void kki_state_take_motion(kk_state *to, const kk_state *from) {
    const size_t count = 1 + (size_t)from->nq + (size_t)from->nv + (size_t)from->nactivation;
    memcpy(to->number, from->number, count * sizeof *to->number);
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
                       .nactivation = model->nactivation,
                       .nwarm = kki_warm_layout_of(model).size,
                       .nwarm_1 = kki_warm_layout_of(model).size_1,
                       .nwarm_2 = kki_warm_layout_of(model).size_2,
                       .old_room = kki_warm_old_room(model),
                       .list.contact_size =
                           kki_has_plain_contacts(model) ? KKI_WARM_MOMENT : KKI_WARM_MOST_CONTACT_SIZE};
    header.size = sizeof header + number_count(&header) * sizeof(double);
    kk_state *s = kki_allocate_zeroed(&header.allocator, header.size);
    if (!s) {
        return KK_OUT_OF_MEMORY;
    }
    *s = header;
    if (kki_can_touch(model) && kki_state_make_room(s, 1) != KK_OK) { // for the first few contacts
        kk_state_free(s);
        return KK_OUT_OF_MEMORY;
    }
    set_start(model, s);
    *state = s;
    return KK_OK;
}

void kk_state_free(kk_state *state) {
    if (state) {
        const kk_allocator allocator = state->allocator;
        kki_release_array(&allocator, state->list.word, state->room, sizeof *state->list.word);
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

double *kk_state_activation(kk_state *state) {
    return state->number + 1 + state->nq + state->nv;
}

const double *kk_state_activation_const(const kk_state *state) {
    return state->number + 1 + state->nq + state->nv;
}

double *kki_state_warm(kk_state *state) {
    return state->number + 1 + state->nq + state->nv + state->nactivation;
}

const double *kki_state_warm_const(const kk_state *state) {
    return state->number + 1 + state->nq + state->nv + state->nactivation;
}

kk_status kk_state_set_keyframe(const kk_model *model, kk_state *state, int keyframe) {
    if (kki_is_missing(model, state)) {
        return KK_INVALID_ARGUMENT;
    }
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
    settle_activations(model, key->control, key->time, kk_state_activation(state));
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
    if (kki_is_missing(model, state)) {
        return KK_INVALID_ARGUMENT;
    }
    if (state->model_hash != model->hash) {
        return KK_SIZE_MISMATCH;
    }
    if (loop < 0 || loop >= model->nloop) {
        return KK_NOT_FOUND;
    }
    kki_state_warm(state)[kki_warm_layout_of(model).first_switch + loop] = on ? KKI_SWITCH_ON : KKI_SWITCH_OFF;
    return KK_OK;
}

uint64_t kki_state_model_hash(const kk_state *state) {
    return state->model_hash;
}

void kki_state_ask_for(const kk_state *state) {
    enum { LINE = 64, MOST = 1 << 12 };
    const char *at = (const char *)state, *list = (const char *)state->list.word;
    for (size_t i = 0; i < state->size && i < MOST; i += LINE) {
        __builtin_prefetch(at + i, 0, 2);
    }
    for (size_t i = 0; i < kki_warm_words(&state->list) * sizeof(uint64_t) && i < MOST; i += LINE) {
        __builtin_prefetch(list + i, 0, 2);
    }
}

// ---- the list

kki_warm_list kki_state_list(const kk_state *state) {
    return state->list;
}

void kki_state_set_list(kk_state *state, const kki_warm_list *list) {
    state->list.contacts = list->contacts;
    state->list.pairs = list->pairs;
    state->list.others = list->others;
}

size_t kki_state_room(const kk_state *state) {
    return state->room;
}

/// A quarter more than is asked for: contacts come one by one.
kk_status kki_state_make_room(kk_state *state, size_t words) {
    enum { SPARE = 32 };
    if (words <= state->room) {
        return KK_OK;
    }
    const size_t room = words + words / 4 + SPARE;
    uint64_t *word = kki_allocate_array(&state->allocator, room, sizeof *word);
    if (!word) {
        return KK_OUT_OF_MEMORY;
    }
    if (state->room) {
        memcpy(word, state->list.word, kki_warm_words(&state->list) * sizeof *word);
    }
    kki_release_array(&state->allocator, state->list.word, state->room, sizeof *word);
    state->list.word = word;
    state->room = room;
    return KK_OK;
}

kk_status kk_state_reserve(kk_state *state, int contacts) {
    if (kki_is_missing(state)) {
        return KK_INVALID_ARGUMENT;
    }
    if (contacts < 0) {
        return KK_INVALID_ARGUMENT;
    }
    return kki_state_make_room(state, (size_t)contacts * (size_t)(state->list.contact_size + KKI_WARM_PAIR_SIZE));
}

void kki_state_copy_list(kk_state *to, const kk_state *from) {
    const size_t words = kki_warm_words(&from->list);
    kki_state_set_list(to, &from->list);
    if (words) {
        memmove(to->list.word, from->list.word, words * sizeof *to->list.word);
    }
}

// ---- copies

static int same_numbers(const kk_state *a, const kk_state *b) {
    return a->nq == b->nq && a->nv == b->nv && a->nactivation == b->nactivation && a->nwarm == b->nwarm;
}

static int same_shape(const kk_state *a, const kk_state *b) {
    return a->model_hash == b->model_hash && same_numbers(a, b);
}

kk_status kki_state_copy_to_twin(kk_state *to, const kk_state *from) {
    if (!same_numbers(to, from)) {
        return KK_SIZE_MISMATCH;
    }
    memmove(to->number, from->number, number_count(to) * sizeof(double));
    to->list.contacts = to->list.pairs = to->list.others = 0;
    return KK_OK;
}

kk_status kk_state_copy(kk_state *to, const kk_state *from) {
    if (kki_is_missing(to, from)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!same_shape(to, from)) {
        return KK_SIZE_MISMATCH;
    }
    const kk_status status = kki_state_make_room(to, kki_warm_words(&from->list));
    if (status == KK_OK) {
        memmove(to->number, from->number, number_count(to) * sizeof(double));
        kki_state_copy_list(to, from);
    }
    return status;
}

int kki_warm_same(const kki_warm_list *a, const kki_warm_list *b) {
    const size_t words = kki_warm_words(a);
    return a->contacts == b->contacts && a->pairs == b->pairs && a->others == b->others &&
           (words == 0 || memcmp(a->word, b->word, words * sizeof *a->word) == 0);
}

int kk_state_equal(const kk_state *a, const kk_state *b) {
    return same_shape(a, b) && memcmp(a->number, b->number, number_count(a) * sizeof(double)) == 0 &&
           kki_warm_same(&a->list, &b->list);
}

/// Numbers among the words, −0 counted as 0; shapes and features as they are.
static void hash_words(kk_hash *h, const uint64_t *word, size_t numbers_from, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const double x = kki_double(word[i]);
        if (i < numbers_from) {
            kk_hash_update_uint64(h, word[i]);
        } else {
            kk_hash_update_doubles(h, &x, 1);
        }
    }
}

uint64_t kk_state_hash(const kk_state *state) {
    const kki_warm_list *l = &state->list;
    kk_hash h = kk_hash_begin(0);
    kk_hash_update_doubles(&h, state->number, number_count(state));
    kk_hash_update_uint64(&h, kki_warm_both((uint32_t)l->contacts, (uint32_t)l->pairs));
    kk_hash_update_uint64(&h, (uint64_t)l->others);
    for (int i = 0; i < l->contacts; i++) {
        hash_words(&h, kki_warm_contact(l, i), KKI_WARM_PLACE, (size_t)l->contact_size);
    }
    for (int i = 0; i < l->pairs; i++) {
        hash_words(&h, kki_warm_pair(l, i), KKI_WARM_PAIR_SIZE, KKI_WARM_PAIR_SIZE);
    }
    hash_words(&h, l->word, 0, (size_t)l->others);
    return kk_hash_finish(&h);
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

static kk_status check_activations(const kk_model *m, const double *activation, kk_error *error) {
    for (int i = 0; i < m->nactuator && m->nactivation > 0; i++) {
        const kki_model_actuator *a = &m->actuator[i];
        if (a->activation_index >= 0 && !kki_is_finite(activation[a->activation_index])) {
            return kki_error_set(error, KK_NOT_FINITE, "actuator %d \"%s\": its lag is %s; it must be finite", i,
                                 kki_model_name(m, a->name), KKI_NUMBER(activation[a->activation_index]));
        }
    }
    return KK_OK;
}

kk_status kk_state_check(const kk_model *model, const kk_state *state, kk_error *error) {
    if (kki_is_missing(model, state)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
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
    return status ? status : check_activations(model, kk_state_activation_const(state), error);
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
    return HEADER_SIZE + 8 * (number_count(state) + kki_warm_words(&state->list)) + CHECKSUM_SIZE;
}

static void put_sizes(const kk_state *s, uint64_t version, size_t size, size_t nwarm, unsigned char *at) {
    memcpy(at, MAGIC, sizeof MAGIC);
    put(at + 8, version, 4);
    put(at + 12, size, 4);
    put(at + 16, s->model_hash, 8);
    put(at + 24, (uint64_t)s->nq, 4);
    put(at + 28, (uint64_t)s->nv, 4);
    put(at + 32, (uint64_t)nwarm, 4);
    put(at + 36, (uint64_t)s->nactivation, 4);
}

static void put_list_sizes(const kki_warm_list *l, unsigned char *at) {
    put(at + 40, (uint64_t)l->contacts, 4);
    put(at + 44, (uint64_t)l->pairs, 4);
    put(at + 48, (uint64_t)l->others, 4);
    put(at + 52, 0, 4);
}

kk_status kk_state_save(const kk_state *state, void *bytes, size_t size) {
    if (kki_is_missing(state)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!bytes || size != kk_state_saved_size(state)) {
        return KK_SIZE_MISMATCH;
    }
    const size_t count = number_count(state), words = kki_warm_words(&state->list);
    unsigned char *at = bytes;
    put_sizes(state, FORMAT_VERSION, size, (size_t)state->nwarm, at);
    put_list_sizes(&state->list, at);
    at += HEADER_SIZE;
    for (size_t i = 0; i < count; i++, at += 8) {
        put(at, kki_bits(state->number[i]), 8);
    }
    for (size_t i = 0; i < words; i++, at += 8) {
        put(at, state->list.word[i], 8);
    }
    put(at, kk_hash_bytes(bytes, size - CHECKSUM_SIZE, 0), 8);
    return KK_OK;
}

// ---- and back

/// The block is whole: nothing is said yet about the model it belongs to.
static kk_status check_block(const unsigned char *at, size_t size, kk_error *error) {
    if (!at || size < OLD_HEADER_SIZE + 8 + CHECKSUM_SIZE || memcmp(at, MAGIC, sizeof MAGIC) != 0) {
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

static kk_status contradicts(kk_error *error) {
    return kki_error_set(error, KK_CORRUPT, "the saved state contradicts the sizes of its model");
}

/// What the list of a saved state must be; false where the block is of another size than it says.
static bool read_list_sizes(const kk_state *s, const unsigned char *at, size_t size, kki_warm_list *list) {
    const uint64_t contacts = get(at + 40, 4), pairs = get(at + 44, 4), others = get(at + 48, 4);
    const uint64_t words =
        contacts * (uint64_t)list->contact_size + pairs * (uint64_t)KKI_WARM_PAIR_SIZE + others; // no more than 2^36
    if (get(at + 52, 4) != 0 || (others > 0 && contacts + pairs > 0) || (contacts | pairs | others) > INT32_MAX ||
        size != HEADER_SIZE + 8 * (number_count(s) + words) + CHECKSUM_SIZE) {
        return false;
    }
    list->contacts = (int32_t)contacts;
    list->pairs = (int32_t)pairs;
    list->others = (int32_t)others;
    return true;
}

static kk_status restore_new(kk_state *s, const unsigned char *at, size_t size, kk_error *error) {
    kki_warm_list list = s->list;
    unsigned char expected[OLD_HEADER_SIZE];
    put_sizes(s, FORMAT_VERSION, size, (size_t)s->nwarm, expected);
    if (size < HEADER_SIZE + 8 + CHECKSUM_SIZE || memcmp(at, expected, sizeof expected) != 0 ||
        !read_list_sizes(s, at, size, &list)) {
        return contradicts(error);
    }
    const size_t count = number_count(s), words = kki_warm_words(&list);
    if (kki_state_make_room(s, words) != KK_OK) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for the contacts of the saved state");
    }
    at += HEADER_SIZE;
    for (size_t i = 0; i < count; i++, at += 8) {
        s->number[i] = kki_double(get(at, 8));
    }
    for (size_t i = 0; i < words; i++, at += 8) {
        s->list.word[i] = get(at, 8);
    }
    kki_state_set_list(s, &list);
    return KK_OK;
}

// ---- versions 1 and 2

/// Numbers that stand before what versions 1 and 2 have in common with the fixed part of `warm`.
static size_t old_records(const kk_state *s) {
    return s->old_room ? OLD_COUNTS + (size_t)s->old_room * (OLD_CONTACT_SIZE + OLD_PAIR_SIZE) : 0;
}

static double old_number(const unsigned char *at, size_t i) {
    return kki_double(get(at + 8 * i, 8));
}

/// A whole number of `count` from a place on, each below 2³²; false where one is none.
static bool read_whole(const unsigned char *at, size_t from, int count, uint32_t *whole) {
    for (int i = 0; i < count; i++) {
        const double x = old_number(at, from + (size_t)i);
        if (!(x >= 0 && x < 4294967296.0) || x != (double)(uint32_t)x) {
            return false;
        }
        whole[i] = (uint32_t)x;
    }
    return true;
}

/// Old: shapes, upper and lower half of the feature, then the same nine numbers.
static bool read_old_contact(const unsigned char *at, size_t from, int size, uint64_t *word) {
    uint32_t whole[4];
    if (!read_whole(at, from, 4, whole)) {
        return false;
    }
    word[KKI_WARM_SHAPES] = kki_warm_both(whole[0], whole[1]);
    word[KKI_WARM_FEATURE] = kki_warm_both(whole[3], whole[2]);
    for (int k = KKI_WARM_PLACE; k < size; k++) {
        word[k] = get(at + 8 * (from + 4 + (size_t)(k - KKI_WARM_PLACE)), 8);
    }
    return true;
}

/// Old: shapes, reference, four features, a direction.
static bool read_old_pair(const unsigned char *at, size_t from, uint64_t *word) {
    uint32_t half[2 * KKI_WARM_PAIR_SIZE];
    if (!read_whole(at, from, 7, half)) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        half[7 + k] = kki_float_bits((float)old_number(at, from + 7 + (size_t)k));
    }
    for (int k = 0; k < KKI_WARM_PAIR_SIZE; k++) {
        word[k] = kki_warm_both(half[2 * k], half[2 * k + 1]);
    }
    return true;
}

/// How many records there are; below zero those of the other form. False where they would not fit.
static bool read_old_counts(const kk_state *s, const unsigned char *warm, kki_warm_list *list) {
    const double contacts = s->old_room ? old_number(warm, 0) : 0, pairs = s->old_room ? old_number(warm, 1) : 0;
    const double most = s->old_room, others = contacts < 0 ? -contacts * KKI_WARM_SPRING_SIZE : 0;
    if (!(contacts <= most && pairs >= 0 && pairs <= most && others <= most * (OLD_CONTACT_SIZE + OLD_PAIR_SIZE))) {
        return false;
    }
    list->contacts = contacts > 0 ? (int32_t)contacts : 0;
    list->pairs = others > 0 ? 0 : (int32_t)pairs;
    list->others = (int32_t)others;
    return true;
}

static bool read_old_records(kk_state *s, const unsigned char *warm, const kki_warm_list *list) {
    const size_t pairs = OLD_COUNTS + (size_t)s->old_room * OLD_CONTACT_SIZE;
    bool good = true;
    for (int i = 0; i < list->contacts && good; i++) {
        good = read_old_contact(warm, OLD_COUNTS + (size_t)i * OLD_CONTACT_SIZE, list->contact_size,
                                kki_warm_contact(list, i));
    }
    for (int i = 0; i < list->pairs && good; i++) {
        good = read_old_pair(warm, pairs + (size_t)i * OLD_PAIR_SIZE, kki_warm_pair(list, i));
    }
    for (int i = 0; i < list->others; i++) {
        list->word[i] = get(warm + 8 * ((size_t)OLD_COUNTS + (size_t)i), 8);
    }
    return good;
}

/// Records first, and behind those of the state, so that it stays as it was where they are none.
static kk_status restore_old_list(kk_state *s, const unsigned char *warm, kk_error *error) {
    kki_warm_list list = s->list;
    if (!read_old_counts(s, warm, &list)) {
        return contradicts(error);
    }
    const size_t used = kki_warm_words(&s->list), words = kki_warm_words(&list);
    if (kki_state_make_room(s, used + words) != KK_OK) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for the contacts of the saved state");
    }
    if (words) {
        list.word = s->list.word + used;
        if (!read_old_records(s, warm, &list)) {
            return contradicts(error);
        }
        memmove(s->list.word, list.word, words * sizeof *list.word);
    }
    kki_state_set_list(s, &list);
    return KK_OK;
}

static kk_status restore_old(kk_state *s, const unsigned char *at, size_t size, kk_error *error) {
    const uint64_t version = get(at + 8, 4);
    const size_t before = 1 + (size_t)(s->nq + s->nv + s->nactivation), records = old_records(s);
    const size_t fixed = (size_t)(version == 1 ? s->nwarm_1 : s->nwarm_2);
    unsigned char expected[OLD_HEADER_SIZE];
    put_sizes(s, version, size, records + fixed, expected);
    if (size != OLD_HEADER_SIZE + 8 * (before + records + fixed) + CHECKSUM_SIZE ||
        memcmp(at, expected, sizeof expected) != 0) {
        return contradicts(error);
    }
    at += OLD_HEADER_SIZE;
    const kk_status status = restore_old_list(s, at + 8 * before, error);
    const size_t common =
        before + (size_t)s->nwarm_1; // accelerations are those of several steps now: the next one goes on without
    for (size_t i = 0; i < common && status == KK_OK; i++) {
        s->number[i] = old_number(at, i < before ? i : i + records);
    }
    for (size_t i = common; i < number_count(s) && status == KK_OK; i++) {
        s->number[i] = 0;
    }
    return status;
}

kk_status kk_state_restore(kk_state *state, const void *bytes, size_t size, kk_error *error) {
    const unsigned char *at = bytes;
    const kk_status status = check_block(at, size, error);
    if (status != KK_OK) {
        return status;
    }
    if (get(at + 16, 8) != state->model_hash) {
        return kki_error_set(error, KK_SIZE_MISMATCH,
                             "the saved state is of another model, or of this one before it was changed");
    }
    return get(at + 8, 4) < FORMAT_VERSION ? restore_old(state, at, size, error) : restore_new(state, at, size, error);
}
