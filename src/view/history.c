/// The past of a session, in one block that is taken once: keys to go back to, and the inputs that lead from key to key bit by bit.
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/float_bits.h"
#include "model/warm.h"
#include "view/session.h"

enum { DEFAULT_BYTES = 64 << 20, MOST_RECORDS = 1 << 20, MOST_BETWEEN_KEYS = 128 };

// ---- the numbers of a state: time, q, v, lag, warm, what touches, and as many words of that

enum { CONTACTS, PAIRS, OTHERS, CONTACT_SIZE, COUNTS };

size_t kki_state_numbers(const kk_session *s) {
    return 1 +
           (size_t)(kk_model_nq(s->model) + kk_model_nv(s->model) + kk_model_nactivation(s->model) +
                    kki_warm_layout_of(s->model).size) +
           COUNTS;
}

size_t kki_state_words(const kk_session *s) {
    const kki_warm_list list = kki_state_list(s->state);
    return kki_warm_words(&list);
}

static double *keep(double *to, const double *from, int count) {
    memcpy(to, from, (size_t)count * sizeof *to);
    return to + count;
}

void kki_state_keep(const kk_session *s, double *numbers) {
    const kki_warm_list list = kki_state_list(s->state);
    const double counts[COUNTS] = {list.contacts, list.pairs, list.others, list.contact_size};
    numbers[0] = kk_state_time(s->state);
    double *at = keep(numbers + 1, kk_state_q_const(s->state), kk_model_nq(s->model));
    at = keep(at, kk_state_v_const(s->state), kk_model_nv(s->model));
    at = keep(at, kk_state_activation_const(s->state), kk_model_nactivation(s->model));
    at = keep(at, kki_state_warm_const(s->state), kki_warm_layout_of(s->model).size);
    at = keep(at, counts, COUNTS);
    for (size_t i = 0; i < kki_warm_words(&list); i++) {
        at[i] = kki_double(list.word[i]);
    }
}

static const double *put_back(double *to, const double *from, int count) {
    memcpy(to, from, (size_t)count * sizeof *to);
    return from + count;
}

/// Records of contacts that have other numbers since an edit are left out: the next step starts without.
static kk_status put_back_list(kk_session *s, const double *counts) {
    kki_warm_list list = kki_state_list(s->state);
    const int is_same = (int)counts[CONTACT_SIZE] == list.contact_size;
    list.contacts = is_same ? (int32_t)counts[CONTACTS] : 0;
    list.pairs = is_same ? (int32_t)counts[PAIRS] : 0;
    list.others = is_same ? (int32_t)counts[OTHERS] : 0;
    const size_t words = kki_warm_words(&list);
    const kk_status status = kki_state_make_room(s->state, words);
    if (status == KK_OK) {
        kki_state_set_list(s->state, &list);
        list = kki_state_list(s->state);
        for (size_t i = 0; i < words; i++) {
            list.word[i] = kki_bits(counts[COUNTS + i]);
        }
    }
    return status;
}

kk_status kki_state_put_back(kk_session *s, const double *numbers, kk_error *error) {
    const int nq = kk_model_nq(s->model), nv = kk_model_nv(s->model), nactivation = kk_model_nactivation(s->model);
    const int nwarm = kki_warm_layout_of(s->model).size;
    if (put_back_list(s, numbers + 1 + nq + nv + nactivation + nwarm) != KK_OK) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "out of memory for the contacts of a state");
    }
    kk_state_set_time(s->state, numbers[0]);
    const double *at = put_back(kk_state_q(s->state), numbers + 1, nq);
    at = put_back(kk_state_v(s->state), at, nv);
    at = put_back(kk_state_activation(s->state), at, nactivation);
    (void)put_back(kki_state_warm(s->state), at, nwarm);
    return KK_OK;
}

// ---- the ring

/// About sixty keys a second, so that going back by hand costs no more than a picture; fewer where states are large, so that keys
/// take no more than twice the room of the inputs between them.
static int steps_between_keys(const kk_session *s, const kki_history *h) {
    const double steps = 1 / (60 * kk_model_options(s->model).timestep);
    const size_t fair = (h->state_numbers + h->words) / (2 * h->step_numbers);
    const int least = fair < MOST_BETWEEN_KEYS ? (int)fair : MOST_BETWEEN_KEYS;
    const int every = steps < 1 ? 1 : steps > 256 ? 256 : (int)steps;
    return every > least ? every : least;
}

/// Records of a size as many as there is room for.
static kk_status make_ring(const kk_session *s, kki_history *h) {
    h->record = 1 + h->state_numbers + h->words + (size_t)h->every * h->step_numbers;
    const size_t bytes = s->def.history_bytes ? s->def.history_bytes : DEFAULT_BYTES;
    const size_t room = bytes / (h->record * sizeof(double));
    h->room = room < 2 ? 2 : room > MOST_RECORDS ? MOST_RECORDS : (int)room;
    h->number = kki_allocate_array(&s->allocator, (size_t)h->room, h->record * sizeof(double));
    return h->number ? KK_OK : KK_OUT_OF_MEMORY;
}

kk_status kki_history_create(kk_session *s) {
    enum { FEW_WORDS = 256 };
    kki_history *h = &s->history;
    h->state_numbers = kki_state_numbers(s);
    h->words = FEW_WORDS;
    h->step_numbers = KKI_GIVEN_NUMBERS + (size_t)s->nactuator;
    h->every = steps_between_keys(s, h);
    const kk_status status = make_ring(s, h);
    kki_history_clear(s);
    return status;
}

void kki_history_free(kk_session *s) {
    kki_release_array(&s->allocator, s->history.number, (size_t)s->history.room, s->history.record * sizeof(double));
    s->history.number = NULL;
}

void kki_history_clear(kk_session *s) {
    s->history.first = s->history.count = 0;
    s->history.oldest = s->history.newest = s->steps;
}

static double *record(const kki_history *h, int index) {
    return h->number + (size_t)((h->first + index) % h->room) * h->record;
}

/// Behind the key's state.
static double *givens_of(const kki_history *h, int index) {
    return record(h, index) + 1 + h->state_numbers + h->words;
}

static double *given_at(const kki_history *h, int64_t step) {
    const int64_t since = step - h->oldest;
    return givens_of(h, (int)(since / h->every)) + (size_t)(since % h->every) * h->step_numbers;
}

/// Records with room for more contacts in their keys: the newest of them, as many as there is room for then.
static kk_status widen(kk_session *s, size_t words) {
    kki_history *old = &s->history, h = *old;
    h.words = words + words / 2;
    const kk_status status = make_ring(s, &h);
    if (status != KK_OK) {
        return status;
    }
    const int kept = old->count < h.room ? old->count : h.room, gone = old->count - kept;
    h.first = 0;
    h.count = kept;
    h.oldest += (int64_t)gone * h.every;
    for (int i = 0; i < kept; i++) {
        memcpy(record(&h, i), record(old, gone + i), (1 + h.state_numbers + old->words) * sizeof(double));
        memcpy(givens_of(&h, i), givens_of(old, gone + i), (size_t)h.every * h.step_numbers * sizeof(double));
    }
    kki_history_free(s);
    *old = h;
    return KK_OK;
}

static kk_status add_key(kk_session *s) {
    kki_history *h = &s->history;
    const size_t words = kki_state_words(s);
    if (words > h->words && widen(s, words) != KK_OK) {
        return KK_OUT_OF_MEMORY;
    }
    if (h->count == h->room) {
        h->first = (h->first + 1) % h->room;
        h->count--;
        h->oldest += h->every;
    }
    double *key = record(h, h->count++);
    key[0] = kki_double(kk_state_hash(s->state));
    kki_state_keep(s, key + 1);
    return KK_OK;
}

kk_status kki_history_add(kk_session *s, const kki_given *given, kk_error *error) {
    kki_history *h = &s->history;
    if ((s->steps - h->oldest) % h->every == 0 && add_key(s) != KK_OK) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "out of memory for the past of the session");
    }
    double *at = given_at(h, s->steps);
    memcpy(at, given, sizeof *given);
    if (s->nactuator) {
        memcpy(at + KKI_GIVEN_NUMBERS, s->control, (size_t)s->nactuator * sizeof(double));
    }
    h->newest = s->steps + 1;
    return KK_OK;
}

const kki_given *kki_history_given(const kk_session *s, int64_t step, const double **control) {
    const double *at = given_at(&s->history, step);
    *control = at + KKI_GIVEN_NUMBERS;
    return (const kki_given *)(const void *)at;
}

int kki_history_agrees(const kk_session *s) {
    const kki_history *h = &s->history;
    const int64_t since = s->steps - h->oldest;
    if (since % h->every != 0 || since / h->every >= h->count) {
        return 1;
    }
    return kki_bits(record(h, (int)(since / h->every))[0]) == kk_state_hash(s->state);
}

void kki_history_cut(kk_session *s) {
    kki_history *h = &s->history;
    h->newest = s->steps;
    h->count = (int)((s->steps - h->oldest + h->every - 1) / h->every);
}

kk_status kki_history_go_before(kk_session *s, int64_t step, kk_error *error) {
    kki_history *h = &s->history;
    if (h->count == 0) {
        return kki_error_set(error, KK_NOT_FOUND, "rewind: no step has been taken yet");
    }
    const int64_t since = step > h->oldest ? step - 1 - h->oldest : 0;
    const int key = (int)(since / h->every);
    const int64_t at = h->oldest + (int64_t)key * h->every;
    const double *control;
    kk_status status = kki_session_go_to_version(s, (int)kki_history_given(s, at, &control)->version, error);
    status = status ? status : kki_state_put_back(s, record(h, key) + 1, error);
    if (status == KK_OK) {
        s->steps = at;
        s->has_step = s->has_sensor_data = 0;
    }
    return status;
}
