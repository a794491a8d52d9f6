/// Passes over a swarm, shared among workers; see swarm.h.
#include "contact/swarm.h"

#include <string.h>

#include "base/workers.h"

/// Bundles, and bodies, that are worth a worker's while.
enum { SWEEP_GRAIN = 4, PASS_GRAIN = 8, BODY_GRAIN = 64 };

typedef struct pass {
    kki_swarm *s;
    int first; ///< bundle of the colour
    bool backwards;
    bool total;
    double share, most;
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
        x->s->kernels->push(x->s, x->first + i, x->total);
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
        x->s->kernels->repose(x->s, i, x->most);
    }
}

static void answer_some(void *context, int first, int end, int worker) {
    const pass *x = context;
    (void)worker;
    x->s->kernels->answer(x->s, x->share, first, end);
}

static void coast_some(void *context, int first, int end, int worker) {
    const pass *x = context;
    (void)worker;
    x->s->kernels->coast(x->s, first, end);
}

/// Bundles of one colour: a piece a worker, for they are all alike, and there are many colours to a pass.
static void share_colour(kki_swarm *s, int colour, kki_share *share, pass *x) {
    x->first = s->start[colour];
    const int count = s->start[colour + 1] - x->first, workers = s->workers ? s->workers->count : 1;
    const int fair = count / workers;
    kki_workers_share(s->workers, count, fair > SWEEP_GRAIN ? fair : SWEEP_GRAIN, share, x);
}

/// Velocities of λ, or of its share.
static void move(kki_swarm *s, double share, bool total) {
    pass x = {.s = s, .share = share, .total = total};
    memset(s->wrench, 0, sizeof *s->wrench * KKI_SWARM_BODY * (size_t)(s->nbody + 1));
    for (int c = 0; c < s->colours; c++) {
        share_colour(s, c, push_some, &x);
    }
    kki_workers_share(s->workers, s->nbody, BODY_GRAIN, answer_some, &x);
}

/// All colours, there and back in turn: what one end of a stack is given first in one sweep the other is in the next.
static void sweep(kki_swarm *s, int number) {
    pass x = {.s = s, .backwards = number & 1};
    for (int c = 0; c < s->colours; c++) {
        share_colour(s, x.backwards ? s->colours - 1 - c : c, sweep_some, &x);
    }
}

void kki_swarm_solve(kki_swarm *s, int sweeps) {
    const size_t behind = KKI_SWARM_BODY * (size_t)s->nbody;
    double *const zeros[] = {s->velocity + behind, s->before + behind, s->free + behind, s->inverse + behind};
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        memset(zeros[i], 0, sizeof(double) * KKI_SWARM_BODY);
    }
    pass x = {.s = s};
    kki_workers_share(s->workers, s->count, PASS_GRAIN, prepare_some, &x);
    move(s, 1.0 / sweeps, false);
    for (int k = 0; k < sweeps; k++) {
        if (k > 0) {
            kki_workers_share(s->workers, s->nbody, BODY_GRAIN, coast_some, &x);
        }
        sweep(s, 0);
    }
}

void kki_swarm_judge(kki_swarm *s) {
    pass x = {.s = s};
    memcpy(s->before, s->free, sizeof *s->free * KKI_SWARM_BODY * (size_t)s->nbody);
    move(s, 1, true);
    kki_workers_share(s->workers, s->count, PASS_GRAIN, judge_some, &x);
}

bool kki_swarm_repair(kki_swarm *s, int sweeps, double most) {
    pass x = {.s = s, .most = most};
    kki_workers_share(s->workers, s->count, PASS_GRAIN, repose_some, &x);
    bool needed = false;
    for (int i = 0; i < s->count; i++) {
        for (int l = 0; l < KKI_SWARM_LANES; l++) {
            needed |= s->proof[i].deepest[l] < 0;
        }
    }
    if (needed) {
        memset(s->velocity, 0, sizeof *s->velocity * KKI_SWARM_BODY * (size_t)s->nbody);
        for (int k = 0; k < sweeps; k++) {
            sweep(s, k);
        }
    }
    return needed;
}
