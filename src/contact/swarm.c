/// Passes over a swarm, shared among workers; see swarm.h.
#include "contact/swarm.h"

#include <string.h>

#include "base/workers.h"

/// Bundles, and bodies, that are worth a worker's while.
enum { SWEEP_GRAIN = 8, PASS_GRAIN = 8, BODY_GRAIN = 64 };

typedef struct pass {
    kki_swarm *s;
    int first; ///< bundle of the colour
    bool backwards;
    const double *base;
    double least, most;
} pass;

static void prepare_some(void *context, int first, int end, int worker) {
    const pass *x = context;
    (void)worker;
    for (int i = first; i < end; i++) {
        x->s->kernels->prepare(x->s, i);
    }
}

static void push_some(void *context, int first, int end, int worker) {
    const pass *x = context;
    (void)worker;
    for (int i = first; i < end; i++) {
        x->s->kernels->push(x->s, x->first + i);
    }
}

static void sweep_some(void *context, int first, int end, int worker) {
    const pass *x = context;
    (void)worker;
    x->s->kernels->sweep(x->s, x->first + first, x->first + end, x->backwards);
}

static void judge_some(void *context, int first, int end, int worker) {
    const pass *x = context;
    (void)worker;
    for (int i = first; i < end; i++) {
        x->s->kernels->judge(x->s, i);
    }
}

static void repose_some(void *context, int first, int end, int worker) {
    const pass *x = context;
    (void)worker;
    for (int i = first; i < end; i++) {
        x->s->kernels->repose(x->s, i, x->least, x->most);
    }
}

static void answer_some(void *context, int first, int end, int worker) {
    const pass *x = context;
    (void)worker;
    x->s->kernels->answer(x->s, x->base, first, end);
}

/// Bundles of one colour.
static void share_colour(kki_swarm *s, int colour, kki_share *share, pass *x, int grain) {
    x->first = s->start[colour];
    kki_workers_share(s->workers, s->start[colour + 1] - x->first, grain, share, x);
}

void kki_swarm_end_of(kki_swarm *s, const double *base) {
    pass x = {.s = s, .base = base};
    memset(s->wrench, 0, sizeof *s->wrench * KKI_SWARM_BODY * (size_t)(s->nbody + 1));
    for (int c = 0; c < s->colours; c++) {
        share_colour(s, c, push_some, &x, PASS_GRAIN);
    }
    kki_workers_share(s->workers, s->nbody, BODY_GRAIN, answer_some, &x);
}

void kki_swarm_begin(kki_swarm *s) {
    const size_t behind = KKI_SWARM_BODY * (size_t)s->nbody;
    double *const zeros[] = {s->velocity + behind, s->free + behind, s->inverse + behind};
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        memset(zeros[i], 0, sizeof(double) * KKI_SWARM_BODY);
    }
    pass x = {.s = s};
    kki_workers_share(s->workers, s->count, PASS_GRAIN, prepare_some, &x);
    kki_swarm_end_of(s, s->free);
}

void kki_swarm_sweep(kki_swarm *s, int sweeps) {
    pass x = {.s = s};
    for (int k = 0; k < sweeps; k++) {
        x.backwards = k & 1;
        for (int c = 0; c < s->colours; c++) {
            share_colour(s, x.backwards ? s->colours - 1 - c : c, sweep_some, &x, SWEEP_GRAIN);
        }
    }
}

void kki_swarm_judge(kki_swarm *s) {
    pass x = {.s = s};
    kki_workers_share(s->workers, s->count, PASS_GRAIN, judge_some, &x);
}

bool kki_swarm_repair(kki_swarm *s, int sweeps, double least, double most) {
    pass x = {.s = s, .least = least, .most = most};
    kki_workers_share(s->workers, s->count, PASS_GRAIN, repose_some, &x);
    bool needed = false;
    for (int i = 0; i < s->count; i++) {
        for (int l = 0; l < KKI_SWARM_LANES; l++) {
            needed |= s->proof[i].deepest[l] < 0;
        }
    }
    if (needed) {
        memset(s->velocity, 0, sizeof *s->velocity * KKI_SWARM_BODY * (size_t)s->nbody);
        kki_swarm_sweep(s, sweeps);
    }
    return needed;
}
