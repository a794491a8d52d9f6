/// Steps that change nothing.
///
/// A step is a function of the state's numbers but for its time, of what acts, and of the options. Where one has given the state back to the last
/// bit, the next one from the same bits would pose the same problem, find the same impulses and prove them by the same numbers: all of its
/// results are those that the simulator holds already, and only time goes on. Bits are compared in every step; nothing is assumed to rest.
#include <string.h>

#include "simulate/simulator.h"

/// Equal bits, not equal values: −0 is another number.
static int same(const double *a, const double *b, int count) {
    return count <= 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

static int same_motion(const kk_model *m, const kk_state *a, const kk_state *b) {
    return same(kk_state_q_const(a), kk_state_q_const(b), m->nq) &&
           same(kk_state_v_const(a), kk_state_v_const(b), m->nv) &&
           same(kk_state_activation_const(a), kk_state_activation_const(b), m->nactivation);
}

static int same_state(const kk_model *m, const kk_simulator *s, const kk_state *a, const kk_state *b) {
    const kki_warm_list x = kki_state_list(a), y = kki_state_list(b);
    return same_motion(m, a, b) && kki_warm_same(&x, &y) &&
           same(kki_state_warm_const(a), kki_state_warm_const(b), s->warm_start.layout.size);
}

static void keep(double *to, const double *from, int count) {
    if (count > 0) {
        memcpy(to, from, (size_t)count * sizeof *to);
    }
}

/// What acts, as pointers; NULL is nothing, and not the same as zeros.
typedef struct acting {
    const double *list[3];
    int count[3];
} acting;

static acting acting_of(const kk_model *m, const kk_input *input) {
    const kk_input none = {0}, *x = input ? input : &none;
    return (acting){{x->control, x->tau, x->wrench ? &x->wrench->angular.x : NULL},
                    {m->nactuator, m->nv, 6 * m->nbody}};
}

static int same_input(const kk_model *m, const kk_simulator *s, const kk_input *input) {
    const acting x = acting_of(m, input);
    int all = 1;
    for (int i = 0; i < 3 && all; i++) {
        all = !x.list[i] == !s->cached.has[i] && (!x.list[i] || same(x.list[i], s->cached.acting[i], x.count[i]));
    }
    return all;
}

static void keep_input(const kk_model *m, kk_simulator *s, const kk_input *input) {
    const acting x = acting_of(m, input);
    for (int i = 0; i < 3; i++) {
        s->cached.has[i] = x.list[i] != NULL;
        if (x.list[i]) {
            keep(s->cached.acting[i], x.list[i], x.count[i]);
        }
    }
}

int kki_is_cached(const kk_model *m, const kk_simulator *s, const kk_state *state, const kk_input *input) {
    return s->cached.is_known && !s->hooks.probe && same_input(m, s, input) && same_state(m, s, state, s->trial);
}

void kki_cached_begin(const kk_model *m, kk_simulator *s, const kk_state *state) {
    s->cached.may_be = state != s->trial && !s->paper && !s->hooks.probe &&
                       same(s->motion.q, kk_state_q_const(state), m->nq) &&
                       same(s->motion.v, kk_state_v_const(state), m->nv) &&
                       same(s->motion.activation, kk_state_activation_const(state), m->nactivation);
    if (s->cached.may_be) {
        keep(kk_state_q(s->trial), s->motion.q, m->nq);
        keep(kk_state_v(s->trial), s->motion.v, m->nv);
        keep(kk_state_activation(s->trial), s->motion.activation, m->nactivation);
        keep(kki_state_warm(s->trial), kki_state_warm_const(state), s->warm_start.layout.size);
        kki_state_copy_list(s->trial, state); // kk_step has made room for it
    }
}

void kki_cached_end(const kk_model *m, kk_simulator *s, const kk_state *state, const kk_input *input) {
    s->cached.is_known = s->cached.may_be && same_state(m, s, state, s->trial);
    if (s->cached.is_known) {
        keep_input(m, s, input);
    }
}
