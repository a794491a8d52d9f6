/// Passes over a swarm, shared among workers; see swarm.h.
#include "contact/swarm.h"

#include <string.h>

#include "base/fetch.h"
#include "base/workers.h"

/// Bundles, and bodies, that are worth a worker's while.
enum { SWEEP_GRAIN = 4, PASS_GRAIN = 16, BODY_GRAIN = 64 };

typedef struct pass {
    kki_swarm *s;
    const kki_swarm_batch *batch;
    const kk_workers *workers; ///< of this batch
    const kki_swarm_visits *visits;
    kki_swarm_visit *visit; ///< of this pass
    kki_swarm_body_visit *body_visit;
    void *context; ///< the caller's
    int first;     ///< bundle of the color or the batch, or body of the batch
    int sweeps;
    bool backwards;
    bool total;  ///< wrenches of all sweeps so far
    bool pushes; ///< and the sweep adds them up
    double share;
} pass;

static void visit(const pass *x, int bundle) {
    if (x->visit) {
        x->visit(x->context, bundle);
    }
}

/// Bodies of a bundle a few further on, which are far from the processor where there are thousands. In line, as kki_fetch.
static inline __attribute__((always_inline)) void fetch_bodies(const kki_swarm *s, const double *numbers, int bundle) {
    enum { AHEAD = 3 };
    const int32_t(*at)[KKI_SWARM_LANES] = s->bundle[bundle + AHEAD < s->count ? bundle + AHEAD : bundle].at;
    for (int lane = 0; lane < KKI_SWARM_LANES; lane++) {
        kki_fetch(numbers + at[0][lane], KKI_LINE);
        kki_fetch(numbers + at[1][lane], KKI_LINE);
    }
}

/// All that is done with a bundle before the first sweep, while it is near the processor.
static void begin_some(void *context, int first, int end, int worker) {
    const pass *x = context;
    (void)worker;
    for (int i = x->first + first; i < x->first + end; i++) {
        fetch_bodies(x->s, x->s->free, i);
        visit(x, i);
        x->s->kernels->prepare(x->s, i);
        x->s->kernels->push(x->s, i, false);
    }
}

static void push_some(void *context, int first, int end, int worker) {
    const pass *x = context;
    (void)worker;
    for (int i = x->first + first; i < x->first + end; i++) {
        x->s->kernels->push(x->s, i, x->total);
    }
}

static void sweep_some(void *context, int first, int end, int worker) {
    const pass *x = context;
    x->s->kernels->sweep(x->s, x->first + first, x->first + end, x->backwards);
    if (x->pushes) {
        push_some(context, first, end, worker);
    }
}

static void judge_some(void *context, int first, int end, int worker) {
    const pass *x = context;
    (void)worker;
    for (int i = x->first + first; i < x->first + end; i++) {
        x->s->kernels->judge(x->s, i);
        visit(x, i);
    }
}

static void visit_some(void *context, int first, int end, int worker) {
    const pass *x = context;
    (void)worker;
    if (x->body_visit) {
        x->body_visit(x->context, x->first + first, x->first + end);
    }
}

static void answer_some(void *context, int first, int end, int worker) {
    const pass *x = context;
    (void)worker;
    x->s->kernels->answer(x->s, x->share, x->first + first, x->first + end);
}

static void coast_some(void *context, int first, int end, int worker) {
    const pass *x = context;
    (void)worker;
    x->s->kernels->coast(x->s, x->first + first, x->first + end);
}

/// Bundles of one color: a piece a worker, for they are all alike, and there are many colors to a pass.
static void share_color(pass *x, const kki_swarm_chunk *chunk, int color, kki_share *share) {
    x->first = chunk->start[color];
    const int count = chunk->start[color + 1] - x->first, workers = x->workers ? x->workers->count : 1;
    const int fair = count / workers;
    kki_workers_share(x->workers, count, fair > SWEEP_GRAIN ? fair : SWEEP_GRAIN, share, x);
}

/// A chunk color by color, in their order or the other way round.
static void share_chunk(pass *x, const kki_swarm_chunk *chunk, kki_share *share) {
    for (int c = 0; c < chunk->colors; c++) {
        share_color(x, chunk, x->backwards ? chunk->colors - 1 - c : c, share);
    }
}

/// Every second chunk, of which a worker does whole ones.
typedef struct every_second {
    const pass *x;
    kki_share *share;
    int first;
} every_second;

static void share_some_chunks(void *context, int first, int end, int worker) {
    const every_second *c = context;
    (void)worker;
    for (int i = first; i < end; i++) {
        pass alone = *c->x;
        alone.workers = NULL;
        share_chunk(&alone, &c->x->s->chunk[c->first + 2 * i], c->share);
    }
}

/// All bundles of a batch: what writes to the same body comes one behind the other, in an order that does not depend on who does it.
static void share_bundles(pass *x, kki_share *share) {
    const int first = x->batch->chunk, count = x->batch->chunk_end - first;
    if (count == 1) {
        share_chunk(x, &x->s->chunk[first], share);
        return;
    }
    for (int k = 0; k < 2; k++) {
        const int odd = k != (x->backwards ? 1 : 0);
        every_second c = {x, share, first + odd};
        kki_workers_share(x->workers, (count + 1 - odd) / 2, 1, share_some_chunks, &c);
    }
}

static void share_bodies(pass *x, kki_share *share) {
    x->first = x->batch->body;
    kki_workers_share(x->workers, x->batch->body_end - x->first, BODY_GRAIN, share, x);
}

// ---- batches

/// Those that are so large that one worker would still be at it when all others are done go by all of them, one behind the other.
static bool is_large(const kki_swarm *s, const kki_swarm_batch *b) {
    return s->workers && b->points >= 2 * KKI_SWARM_BATCH && 2 * (int64_t)b->points * s->workers->count > s->points;
}

typedef struct batches {
    kki_swarm *s;
    kki_swarm_work *work;
    void *context;
} batches;

/// A batch's points to where the worker has its own.
static void place_points(kki_swarm *s, const kki_swarm_batch *b, int worker) {
    for (int i = b->bundle; i < b->bundle_end && worker > 0 && s->stride > 0; i++) {
        s->bundle[i].first += worker * s->stride;
    }
}

static void work_some(void *context, int first, int end, int worker) {
    const batches *x = context;
    for (int i = first; i < end; i++) {
        if (!is_large(x->s, &x->s->batch[i])) {
            place_points(x->s, &x->s->batch[i], worker);
            x->work(x->context, &x->s->batch[i], NULL);
        }
    }
}

/// Zeros for whoever is not there.
static void clear_behind(kki_swarm *s) {
    const size_t behind = KKI_SWARM_BODY * (size_t)s->nbody;
    double *const zeros[] = {s->velocity + behind, s->before + behind, s->free + behind, s->inverse + behind,
                             s->wrench + behind};
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        memset(zeros[i], 0, sizeof(double) * KKI_SWARM_BODY);
    }
    s->inverse[behind + KKI_SWARM_BODY - 1] = 1;
}

void kki_swarm_each(kki_swarm *s, kki_swarm_work *work, void *context) {
    batches x = {s, work, context};
    clear_behind(s);
    s->points = 0;
    for (int i = 0; i < s->nbatch; i++) {
        s->points += s->batch[i].points;
    }
    for (int i = 0; i < s->nbatch; i++) {
        if (is_large(s, &s->batch[i])) {
            work(context, &s->batch[i], s->workers);
        }
    }
    kki_workers_share(s->workers, s->nbatch, 1, work_some, &x);
}

// ---- passes over one batch

static void forget_wrenches(kki_swarm *s, int body, int end) {
    memset(s->wrench + KKI_SWARM_BODY * (size_t)body, 0, sizeof *s->wrench * KKI_SWARM_BODY * (size_t)(end - body));
}

static void forget_all_wrenches(const pass *x) {
    forget_wrenches(x->s, x->batch->body, x->batch->body_end);
}

static void push(pass *x, bool total) {
    x->total = total;
    forget_all_wrenches(x);
    share_bundles(x, push_some);
}

/// Velocities of the wrenches at a share of the step.
static void answer(pass *x, double share) {
    x->share = share;
    share_bodies(x, answer_some);
}

static void sweep(pass *x, bool backwards) {
    x->backwards = backwards;
    share_bundles(x, sweep_some);
}

static bool bounces(const kki_swarm *s, const kki_swarm_batch *b) {
    bool any = false;
    for (int i = b->bundle; s->may_bounce && i < b->bundle_end; i++) {
        any |= s->bundle[i].bounces != 0;
    }
    return any;
}

/// λ of the step from that of a share, or all so far from that of the step.
static void for_whole_step_of(double lambda[3][KKI_SWARM_LANES], double total[3][KKI_SWARM_LANES], int sweeps,
                              bool is_end) {
    for (int j = 0; j < 3 * KKI_SWARM_LANES; j++) {
        double *l = &lambda[j / KKI_SWARM_LANES][j % KKI_SWARM_LANES];
        double *t = &total[j / KKI_SWARM_LANES][j % KKI_SWARM_LANES];
        *(is_end ? t : l) = is_end ? *l : sweeps * *l;
    }
}

static void for_whole_step(kki_swarm *s, const kki_swarm_batch *b, int sweeps, bool is_end) {
    for (int i = b->bundle; i < b->bundle_end; i++) {
        if (s->is_ball[i]) {
            for_whole_step_of(s->ball[i].lambda, s->ball[i].total, sweeps, is_end);
            continue;
        }
        for (int k = s->bundle[i].first; k < s->bundle[i].first + s->bundle[i].points; k++) {
            for_whole_step_of(s->point[k].lambda, s->point[k].total, sweeps, is_end);
        }
    }
}

static void solve_whole_step(pass *x) {
    for_whole_step(x->s, x->batch, x->sweeps, false);
    push(x, false);
    answer(x, 1);
    for (int k = 0; k < x->sweeps; k++) {
        sweep(x, false);
    }
    for_whole_step(x->s, x->batch, x->sweeps, true);
    push(x, true);
}

/// The last sweep adds up what all have done.
static void solve_in_shares(pass *x) {
    answer(x, 1.0 / x->sweeps);
    forget_all_wrenches(x);
    for (int k = 0; k < x->sweeps; k++) {
        if (k > 0) {
            share_bodies(x, coast_some);
        }
        x->total = x->pushes = k == x->sweeps - 1;
        sweep(x, false);
    }
}

static void solve_batch(pass *x) {
    forget_all_wrenches(x);
    share_bundles(x, begin_some);
    if (bounces(x->s, x->batch)) {
        solve_whole_step(x);
    } else {
        solve_in_shares(x);
    }
}

static void judge_batch(pass *x) {
    const kki_swarm_batch *b = x->batch;
    answer(x, 1);
    x->first = b->bundle;
    kki_workers_share(x->workers, b->bundle_end - b->bundle, PASS_GRAIN, judge_some, x);
}

// ---- the wave

/// A large batch, pass by pass, would be read from afar in every one of them. But a chunk can be swept for the second time as soon as the one behind it has been swept once: passes
/// go through the chunks like waves, one behind the other, and what lies between the first and the last of them stays near the processor (Lamport, The parallel execution of DO
/// loops, 1974). What a body feels has the order of pass after pass through all chunks, whoever does it: one thread has its waves one chunk apart, several workers two,
/// so that none of a front touches what another does.
typedef struct wave {
    const pass *x;
    int front, apart;
    int from;  ///< pass
    int first; ///< behind that, of the passes that are at some chunk
} wave;

/// Passes: the beginning, sweeps, and the proof.
static int passes_of(const pass *x) {
    return x->sweeps + 2;
}

/// What happens to the bodies of a chunk before a pass.
static void lead_on(const pass *x, int number, int level) {
    pass own = *x;
    const kki_swarm_chunk *c = &x->s->chunk[number];
    const int count = c->body_end - c->body;
    own.first = c->body;
    own.share = level == 1 ? 1.0 / x->sweeps : 1;
    own.body_visit = level == 0 ? x->visits->begin_bodies : x->visits->finish_bodies;
    if (level == 1 || level > x->sweeps) {
        answer_some(&own, 0, count, 0);
    } else if (level > 1) {
        coast_some(&own, 0, count, 0);
    }
    if (level == 0 || level > x->sweeps) {
        visit_some(&own, 0, count, 0);
    }
    if (level <= 1) {
        forget_wrenches(x->s, c->body, c->body_end);
    }
}

/// One pass over a chunk. Its own bodies have been led on with the chunk before; those of the next are by now behind their last pass.
static void pass_chunk(const pass *x, int number, int level) {
    const kki_swarm_chunk *c = &x->s->chunk[number];
    pass own = *x;
    own.workers = NULL;
    own.visit = level == 0 ? x->visits->begin : x->visits->finish;
    own.pushes = own.total = level == x->sweeps;
    if (number == x->batch->chunk) {
        lead_on(x, number, level);
    }
    if (number + 1 < x->batch->chunk_end) {
        lead_on(x, number + 1, level);
    }
    if (level <= x->sweeps) {
        share_chunk(&own, c, level == 0 ? begin_some : sweep_some);
    } else if (c->colors > 0) {
        own.first = c->start[0];
        judge_some(&own, 0, c->start[c->colors] - c->start[0], 0);
    }
}

static void pass_front(void *context, int first, int end, int worker) {
    const wave *w = context;
    (void)worker;
    for (int k = w->first + first; k < w->first + end; k++) {
        pass_chunk(w->x, w->x->batch->chunk + w->front - k * w->apart, w->from + k);
    }
}

/// Passes from number `from` on, `count` of them.
static void run_waves(const pass *x, int from, int count) {
    const int chunks = x->batch->chunk_end - x->batch->chunk;
    wave w = {.x = x, .apart = x->workers ? 2 : 1, .from = from};
    for (w.front = 0; w.front < chunks + (count - 1) * w.apart; w.front++) {
        const int behind = w.front - (chunks - 1), last = w.front / w.apart;
        w.first = behind > 0 ? (behind + w.apart - 1) / w.apart : 0;
        kki_workers_share(x->workers, (last < count ? last + 1 : count) - w.first, 1, pass_front, &w);
    }
}

/// One thread has no more waves on their way than their chunks fit the second cache.
static void run_in_waves(const pass *x) {
    enum { WAVES = 4 };
    const int passes = passes_of(x), most = x->workers ? passes : WAVES;
    for (int from = 0; from < passes; from += most) {
        run_waves(x, from, from + most < passes ? most : passes - from);
    }
}

/// Standing still, with what answers behind it.
static void stop(kki_swarm *s, const kki_swarm_batch *b) {
    for (size_t i = KKI_SWARM_BODY * (size_t)b->body; i < KKI_SWARM_BODY * (size_t)b->body_end; i += KKI_SWARM_BODY) {
        const double still[KKI_SWARM_BODY] = {0, 0, 0, s->inverse[i], 0, 0, 0, s->inverse[i + 1]};
        memcpy(s->velocity + i, still, sizeof still);
    }
}

/// There and back in turn: what one end of a stack is given first in one sweep the other is in the next.
static void repair_batch(pass *x) {
    stop(x->s, x->batch);
    for (int k = 0; k < x->sweeps; k++) {
        sweep(x, k & 1);
    }
}

// ---- for callers

void kki_swarm_visit_bodies(kki_swarm *s, const kki_swarm_batch *batch, const kk_workers *workers,
                            kki_swarm_body_visit *visits, void *context) {
    pass x = {.s = s, .batch = batch, .workers = workers, .body_visit = visits, .context = context};
    share_bodies(&x, visit_some);
}

void kki_swarm_run(kki_swarm *s, const kki_swarm_batch *batch, const kk_workers *workers, int sweeps,
                   const kki_swarm_visits *visits, void *context) {
    pass x = {.s = s, .batch = batch, .workers = workers, .sweeps = sweeps, .visits = visits, .context = context};
    if (batch->chunk_end > batch->chunk + 1 && !s->may_bounce) {
        run_in_waves(&x);
        return;
    }
    kki_swarm_visit_bodies(s, batch, workers, visits->begin_bodies, context);
    x.visit = visits->begin;
    solve_batch(&x);
    x.visit = visits->finish;
    judge_batch(&x);
    kki_swarm_visit_bodies(s, batch, workers, visits->finish_bodies, context);
}

bool kki_swarm_repair(kki_swarm *s, const kki_swarm_batch *batch, const kk_workers *workers, int sweeps) {
    pass x = {.s = s, .batch = batch, .workers = workers, .sweeps = sweeps};
    bool needed = false;
    for (int i = batch->bundle; i < batch->bundle_end; i++) {
        needed |= s->proof[i].deepest < 0;
    }
    if (needed) {
        repair_batch(&x);
    }
    return needed;
}
