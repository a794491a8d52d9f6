/// The past of a session, in one block that is taken once: keys to go back to, and the inputs that lead from key to key bit by bit.
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/float_bits.h"
#include "model/warm.h"
#include "view/session.h"

enum { DEFAULT_BYTES = 64 << 20, MOST_RECORDS = 1 << 20, MOST_BETWEEN_KEYS = 128 };

// ---- the numbers of a state: time, q, v, lag, warm

size_t kki_state_numbers(const kk_session *s) {
    return 1 + (size_t)(kk_model_nq(s->model) + kk_model_nv(s->model) + kk_model_nlag(s->model) +
                        kki_warm_layout_of(s->model).size);
}

void kki_state_keep(const kk_session *s, double *numbers) {
    const size_t nq = (size_t)kk_model_nq(s->model), nv = (size_t)kk_model_nv(s->model),
                 nlag = (size_t)kk_model_nlag(s->model);
    numbers[0] = kk_state_time(s->state);
    memcpy(numbers + 1, kk_state_q_const(s->state), nq * sizeof(double));
    memcpy(numbers + 1 + nq, kk_state_v_const(s->state), nv * sizeof(double));
    memcpy(numbers + 1 + nq + nv, kk_state_lag_const(s->state), nlag * sizeof(double));
    memcpy(numbers + 1 + nq + nv + nlag, kki_state_warm_const(s->state),
           (size_t)kki_warm_layout_of(s->model).size * sizeof(double));
}

void kki_state_put_back(kk_session *s, const double *numbers) {
    const size_t nq = (size_t)kk_model_nq(s->model), nv = (size_t)kk_model_nv(s->model),
                 nlag = (size_t)kk_model_nlag(s->model);
    kk_state_set_time(s->state, numbers[0]);
    memcpy(kk_state_q(s->state), numbers + 1, nq * sizeof(double));
    memcpy(kk_state_v(s->state), numbers + 1 + nq, nv * sizeof(double));
    memcpy(kk_state_lag(s->state), numbers + 1 + nq + nv, nlag * sizeof(double));
    memcpy(kki_state_warm(s->state), numbers + 1 + nq + nv + nlag,
           (size_t)kki_warm_layout_of(s->model).size * sizeof(double));
}

// ---- the ring

/// About sixty keys a second, so that going back by hand costs no more than a picture; fewer where states are large, so that keys
/// take no more than twice the room of the inputs between them.
static int steps_between_keys(const kk_session *s, const kki_history *h) {
    const double steps = 1 / (60 * kk_model_options(s->model).timestep);
    const size_t fair = h->state_numbers / (2 * h->step_numbers);
    const int least = fair < MOST_BETWEEN_KEYS ? (int)fair : MOST_BETWEEN_KEYS;
    const int every = steps < 1 ? 1 : steps > 256 ? 256 : (int)steps;
    return every > least ? every : least;
}

kk_status kki_history_create(kk_session *s) {
    kki_history *h = &s->history;
    h->state_numbers = kki_state_numbers(s);
    h->step_numbers = KKI_GIVEN_NUMBERS + (size_t)s->nactuator;
    h->every = steps_between_keys(s, h);
    h->record = 1 + h->state_numbers + (size_t)h->every * h->step_numbers;
    const size_t bytes = s->def.history_bytes ? s->def.history_bytes : DEFAULT_BYTES;
    const size_t room = bytes / (h->record * sizeof(double));
    h->room = room < 2 ? 2 : room > MOST_RECORDS ? MOST_RECORDS : (int)room;
    h->number = kki_allocate_array(&s->allocator, (size_t)h->room, h->record * sizeof(double));
    kki_history_clear(s);
    return h->number ? KK_OK : KK_OUT_OF_MEMORY;
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

static double *given_at(const kki_history *h, int64_t step) {
    const int64_t since = step - h->oldest;
    return record(h, (int)(since / h->every)) + 1 + h->state_numbers + (size_t)(since % h->every) * h->step_numbers;
}

static void add_key(kk_session *s) {
    kki_history *h = &s->history;
    if (h->count == h->room) {
        h->first = (h->first + 1) % h->room;
        h->count--;
        h->oldest += h->every;
    }
    double *key = record(h, h->count++);
    key[0] = kki_double(kk_state_hash(s->state));
    kki_state_keep(s, key + 1);
}

void kki_history_add(kk_session *s, const kki_given *given) {
    kki_history *h = &s->history;
    if ((s->steps - h->oldest) % h->every == 0) {
        add_key(s);
    }
    double *at = given_at(h, s->steps);
    memcpy(at, given, sizeof *given);
    if (s->nactuator) {
        memcpy(at + KKI_GIVEN_NUMBERS, s->control, (size_t)s->nactuator * sizeof(double));
    }
    h->newest = s->steps + 1;
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
    const kk_status status = kki_session_go_to_version(s, (int)kki_history_given(s, at, &control)->version, error);
    if (status == KK_OK) {
        kki_state_put_back(s, record(h, key) + 1);
        s->steps = at;
        s->has_step = s->has_readings = 0;
    }
    return status;
}
