/// Leaving behind what the next step starts from.
#include "model/warm.h"

#include <string.h>

#include "base/fetch.h"
#include "base/float_bits.h"
#include "simulate/constraint.h"

static void store_vec(uint64_t *to, kk_vec3 a) {
    to[0] = kki_bits(a.x);
    to[1] = kki_bits(a.y);
    to[2] = kki_bits(a.z);
}

/// Shapes by their places among those that collide.
static uint64_t shapes_of(const kk_simulator *s, int a, int b) {
    return kki_warm_both((uint32_t)s->near.owner[a].collider, (uint32_t)s->near.owner[b].collider);
}

/// @param force  that the next step starts from
static void store_contact(const kk_simulator *s, const kki_contact *c, kk_vec3 force, uint64_t *to) {
    const kk_transform *X = &s->shapes.X_WS[c->shape[0]];
    to[KKI_WARM_SHAPES] = shapes_of(s, c->shape[0], c->shape[1]);
    to[KKI_WARM_FEATURE] = c->feature;
    store_vec(to + KKI_WARM_PLACE, kk_mat3_tmul_vec(X->R, kk_vec3_sub(c->position, X->p)));
    store_vec(to + KKI_WARM_FORCE, force);
    if (!s->traits.has_plain_contacts) {
        store_vec(to + KKI_WARM_MOMENT, c->kept_moment);
    }
}

static void store_pair(const kk_simulator *s, const kki_touching *t, uint64_t *to) {
    const kki_pair_memory *m = &t->memory;
    const uint32_t direction[3] = {kki_float_bits(m->direction[0]), kki_float_bits(m->direction[1]),
                                   kki_float_bits(m->direction[2])};
    to[KKI_WARM_SHAPES] = shapes_of(s, t->first, t->second);
    to[1] = kki_warm_both(m->reference, m->feature[0]);
    to[2] = kki_warm_both(m->feature[1], m->feature[2]);
    to[3] = kki_warm_both(m->feature[3], direction[0]);
    to[4] = kki_warm_both(direction[1], direction[2]);
}

/// Records of contacts go into the state at once: there are many, and a copy of them would cost as much as writing them.
typedef struct storing {
    const kk_simulator *s;
    const kki_warm_list *to;
} storing;

static void store_some_contacts(void *context, int first, int end, int worker) {
    const storing *x = context;
    enum { AHEAD = 8 };
    const double rate = 1 / x->s->h;
    (void)worker;
    for (int i = first; i < end; i++) {
        const kki_contact *c = &x->s->contacts.list[i];
        kki_fetch(&c[AHEAD].point, sizeof c->point);
        kki_fetch(&c[AHEAD].position, sizeof c->position);
        const kk_vec3 force = kki_free_bodies_have_contact(x->s, i) ? kk_vec3_scale(c->impulse, rate) : c->kept;
        store_contact(x->s, c, force, kki_warm_contact(x->to, i));
    }
}

static void store_some_pairs(void *context, int first, int end, int worker) {
    const storing *x = context;
    (void)worker;
    for (int i = first; i < end; i++) {
        store_pair(x->s, &x->s->contacts.touching[i], kki_warm_pair(x->to, i));
    }
}

void kki_warm_store(kk_simulator *s) {
    const kki_warm_layout w = s->warm_start.layout;
    double *warm = s->warm_start.value;
    if (s->forces.only_touches) {
        return; // all else is zero for ever
    }
    const int end = s->rk4.is_used ? w.first_body : w.first_lone; // what follows momentum.c has written
    memset(warm + w.first_dof, 0, (size_t)(end - w.first_dof) * sizeof *warm);
    memcpy(warm + w.first_switch, s->constraints.loop_switch, (size_t)s->model->nloop * sizeof *warm);
    for (int i = 0; i < s->constraints.count; i++) {
        const kki_constraint *c = &s->constraints.list[i];
        const kki_constraint_type *t = kki_type_of(c);
        for (int r = 0; r < c->nrow && t->slot; r++) {
            warm[t->slot(&w, c) + r] = s->solution.kept[c->row + r] / s->h;
        }
    }
    kki_saturated_store(s->model, s);
}

/// Zeros, written only where there are none: to look costs half as much, and most often all are.
static void clear(double *to, int count) {
    enum { SOME = 256 };
    for (int first = 0; first < count; first += SOME) {
        const int end = first + SOME < count ? first + SOME : count;
        uint64_t any = 0;
        for (int i = first; i < end; i++) {
            uint64_t bits;
            memcpy(&bits, &to[i], sizeof bits);
            any |= bits;
        }
        if (any) {
            memset(to + first, 0, (size_t)(end - first) * sizeof *to);
        }
    }
}

/// What touches, as the state will have it: of papers with records of their own those.
static kki_warm_list list_of(const kk_simulator *s, const kk_state *state) {
    kki_warm_list list = kki_state_list(state);
    list.others = s->warm_start.nother;
    list.contacts = s->warm_start.other ? 0 : s->contacts.count;
    list.pairs = s->warm_start.other ? 0 : s->contacts.ntouching;
    return list;
}

size_t kki_warm_needs(const kk_simulator *s, const kk_state *state) {
    const kki_warm_list list = list_of(s, state);
    return kki_warm_words(&list);
}

static void commit_list(const kk_simulator *s, kk_state *state) {
    enum { GRAIN = 128 };
    const kki_warm_list list = list_of(s, state);
    storing x = {s, &list};
    for (int i = 0; i < list.others; i++) {
        list.word[i] = kki_bits(s->warm_start.other[i]);
    }
    kki_workers_share(kki_workers_of(s), list.contacts, GRAIN, store_some_contacts, &x);
    kki_workers_share(kki_workers_of(s), list.pairs, GRAIN, store_some_pairs, &x);
    kki_state_set_list(state, &list);
}

void kki_warm_commit(const kk_simulator *s, kk_state *state) {
    const kki_warm_layout w = s->warm_start.layout;
    double *to = kki_state_warm(state);
    const double *from = s->warm_start.value;
    commit_list(s, state);
    const int zeros = s->forces.only_touches ? w.first_lone : w.first_dof;
    clear(to + w.first_dof, zeros - w.first_dof);
    memcpy(to + zeros, from + zeros, (size_t)(w.first_body - zeros) * sizeof *to);
    // places of bodies are there with springs for hinges only; the first number says so
    if (w.first_change > w.first_body && (from[w.first_body] != 0 || to[w.first_body] != 0)) {
        memcpy(to + w.first_body, from + w.first_body, (size_t)(w.first_change - w.first_body) * sizeof *to);
    }
    memcpy(to + w.first_change, from + w.first_change, (size_t)(w.size - w.first_change) * sizeof *to);
}
