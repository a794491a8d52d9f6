/// Leaving behind what the next step starts from.
#include "model/warm.h"

#include <string.h>

#include "base/fetch.h"
#include "simulate/simulator.h"

static void store_vec(double *to, kk_vec3 a) {
    to[0] = a.x;
    to[1] = a.y;
    to[2] = a.z;
}

/// @param force  that the next step starts from
static void store_contact(const kk_simulator *s, const kki_contact *c, kk_vec3 force, double *to) {
    const kk_transform *X = &s->X_WS[c->shape[0]];
    to[KKI_WARM_FIRST] = s->near.owner[c->shape[0]].collider;
    to[KKI_WARM_SECOND] = s->near.owner[c->shape[1]].collider;
    to[KKI_WARM_FEATURE_HIGH] = (double)(c->feature >> 32);
    to[KKI_WARM_FEATURE_LOW] = (double)(c->feature & 0xffffffffu);
    store_vec(to + KKI_WARM_PLACE, kk_mat3_tmul_vec(X->R, kk_vec3_sub(c->position, X->p)));
    store_vec(to + KKI_WARM_FORCE, force);
    store_vec(to + KKI_WARM_MOMENT, s->has_plain_contacts ? kk_vec3_make(0, 0, 0) : c->kept_moment);
}

static void store_pair(const kk_simulator *s, const kki_touching *t, double *to) {
    to[0] = s->near.owner[t->first].collider;
    to[1] = s->near.owner[t->second].collider;
    to[2] = t->memory.reference;
    for (int k = 0; k < 4; k++) {
        to[3 + k] = t->memory.feature[k];
    }
    for (int k = 0; k < 3; k++) {
        to[7 + k] = (double)t->memory.direction[k];
    }
}

/// Records of contacts go into the state at once: there are many, and a copy of them would cost as much as writing them.
typedef struct storing {
    const kk_simulator *s;
    double *to; ///< the first record
} storing;

static void store_some_contacts(void *context, int first, int end, int worker) {
    const storing *x = context;
    enum { AHEAD = 8 };
    const double rate = 1 / x->s->h;
    (void)worker;
    for (int i = first; i < end; i++) {
        const kki_contact *c = &x->s->contact[i];
        kki_fetch(&c[AHEAD].point, sizeof c->point);
        kki_fetch(&c[AHEAD].position, sizeof c->position);
        const kk_vec3 force = kki_loose_has_contact(x->s, i) ? kk_vec3_scale(c->impulse, rate) : c->kept;
        store_contact(x->s, c, force, x->to + (size_t)i * KKI_WARM_CONTACT_SIZE);
    }
}

static void store_some_pairs(void *context, int first, int end, int worker) {
    const storing *x = context;
    (void)worker;
    for (int i = first; i < end; i++) {
        store_pair(x->s, &x->s->touching[i], x->to + (size_t)i * KKI_WARM_PAIR_SIZE);
    }
}

/// Records; those that the state has beyond them become zero again, so that equal states have equal bytes.
static void commit_records(const kk_simulator *s, kki_share *some, double *to, int count, int old_count, int size) {
    enum { GRAIN = 128 };
    storing x = {s, to};
    kki_workers_share(kki_crew_workers(s), count, GRAIN, some, &x);
    for (int i = count * size; i < old_count * size; i++) {
        to[i] = 0;
    }
}

/// Where a constraint's forces are kept.
static int slot_of(const kki_warm_layout *w, const kki_constraint *c) {
    static const int by_side[] = {KKI_WARM_LOWER, KKI_WARM_UPPER};
    switch (c->kind) {
    case KKI_ON_LIMIT: return w->first_dof + KKI_WARM_DOF_SIZE * c->item + by_side[c->side];
    case KKI_ON_FRICTION: return w->first_dof + KKI_WARM_DOF_SIZE * c->item + KKI_WARM_FRICTION;
    case KKI_ON_COUPLING: return w->first_coupling + c->item;
    case KKI_ON_LOOP: return w->first_loop + 6 * c->item;
    case KKI_ON_HELD: return w->first_held + c->item;
    default: return w->first_tendon + KKI_WARM_TENDON_SIZE * c->item + c->side; // lower, upper, friction
    }
}

void kki_warm_store(kk_simulator *s) {
    const kki_warm_layout w = s->layout;
    double *warm = s->warm;
    if (w.contacts > 0) {
        warm[w.contact_count] = s->ncontact; // the records follow when the step is proved
        warm[w.pair_count] = s->ntouching;
    }
    if (s->only_touches) {
        return; // all else is zero for ever
    }
    const int end = s->is_smooth ? w.first_body : w.first_lone; // what follows momentum.c has written
    memset(warm + w.first_dof, 0, (size_t)(end - w.first_dof) * sizeof *warm);
    memcpy(warm + w.first_switch, s->loop_switch, (size_t)s->model->nloop * sizeof *warm);
    for (int i = 0; i < s->nconstraint; i++) {
        const kki_constraint *c = &s->constraint[i];
        const int is_kept = c->kind != KKI_ON_CONTACT && c->kind != KKI_ON_SPRING && c->kind != KKI_ON_SERVO &&
                            c->kind != KKI_ON_MOTOR && c->kind != KKI_ON_HAUL;
        double *const to = warm + (is_kept ? slot_of(&w, c) : 0);
        for (int r = 0; r < c->nrow && is_kept; r++) {
            to[r] = s->kept[c->row + r] / s->h;
        }
    }
    kki_glide_store(s->model, s);
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

void kki_warm_commit(const kk_simulator *s, kk_state *state) {
    const kki_warm_layout w = s->layout;
    double *to = kki_state_warm(state);
    const double *from = s->warm;
    const int is_other =
        w.contacts > 0 && from[w.contact_count]<0, was_other = w.contacts> 0 && to[w.contact_count] < 0;
    if (was_other) {
        memset(to, 0, (size_t)w.first_dof * sizeof *to);
    }
    if (is_other) {
        memcpy(to, from, (size_t)w.first_dof * sizeof *to);
    } else if (w.contacts > 0) {
        commit_records(s, store_some_contacts, to + w.first_contact, (int)from[w.contact_count],
                       (int)to[w.contact_count], KKI_WARM_CONTACT_SIZE);
        commit_records(s, store_some_pairs, to + w.first_pair, (int)from[w.pair_count], (int)to[w.pair_count],
                       KKI_WARM_PAIR_SIZE);
        to[w.contact_count] = from[w.contact_count];
        to[w.pair_count] = from[w.pair_count];
    }
    const int zeros = s->only_touches ? w.first_lone : w.first_dof;
    clear(to + w.first_dof, zeros - w.first_dof);
    memcpy(to + zeros, from + zeros, (size_t)(w.first_body - zeros) * sizeof *to);
    // places of bodies are there with springs for hinges only; the first number says so
    if (w.first_change > w.first_body && (from[w.first_body] != 0 || to[w.first_body] != 0)) {
        memcpy(to + w.first_body, from + w.first_body, (size_t)(w.first_change - w.first_body) * sizeof *to);
    }
    memcpy(to + w.first_change, from + w.first_change, (size_t)(w.size - w.first_change) * sizeof *to);
}
