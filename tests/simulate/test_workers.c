// Workers: whoever does a piece of work, and in whatever order, the step is the same to the last bit.
#include "simulate/simulator.h"
#include "stage.h"

#include <string.h>

/// Pieces from the last to the first, each by the next worker: an order that no queue of threads would choose, on one thread.
typedef struct backwards {
    int workers, calls, pieces;
} backwards;

static void run_backwards(void *user, kk_task *task, void *context, int count) {
    backwards *b = user;
    b->calls++;
    b->pieces += count;
    for (int i = count - 1; i >= 0; i--) {
        task(context, i, (i + b->calls) % b->workers);
    }
}

enum { STACKS = 9, HIGH = 4, SIDE = 4, HEAP = SIDE * SIDE * SIDE };

/// Stacks side by side, a heap of boxes and balls that falls together.
static stage crowd(int heap, double speed, const kk_step_options *options) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.5, 0);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    int body[STACKS * HIGH + HEAP];
    for (int i = 0; i < STACKS * HIGH + heap; i++) {
        body[i] = i % 3 == 2 && i >= STACKS * HIGH ? stage_ball(&s, 1, 0.05, material)
                                                   : stage_box(&s, 1, 0.1, 0.1, 0.1, material);
    }
    kk_spec_options(s.spec)->timestep = 0.005;
    kk_spec_options(s.spec)->max_contacts = 3000;
    if (stage_ready(&s, options)) {
        for (int i = 0; i < STACKS * HIGH; i++) {
            const int stack = i / HIGH;
            stage_place(&s, body[i], 0.4 * stack, -1, 0.05 + 0.1 * (i % HIGH));
        }
        for (int k = 0; k < heap; k++) {
            const int layer = k / (SIDE * SIDE);
            stage_place(&s, body[STACKS * HIGH + k], 0.101 * (k % SIDE) + 0.013 * layer,
                        0.101 * (k / SIDE % SIDE) - 0.011 * layer, 0.05 + 0.1001 * layer);
            stage_v(&s, body[STACKS * HIGH + k])[3] = speed * (k % 5 - 2);
        }
    }
    return s;
}

typedef struct result {
    uint64_t hash;
    kk_report report;
    backwards order;
} result;

static result run_crowd(int workers, int heap, double speed, kk_step_options options, int steps) {
    result r = {.order = {.workers = workers}};
    options.workers = (kk_workers){.count = workers, .run = run_backwards, .user = &r.order};
    stage s = crowd(heap, speed, &options);
    for (int i = 0; i < steps && s.simulator; i++) {
        if (!KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK)) {
            break;
        }
    }
    r.hash = kk_state_hash(s.state);
    r.report = *kk_simulator_report(s.simulator);
    stage_end(&s);
    return r;
}

static void check_same(int heap, double speed, kk_step_options options, int steps) {
    static const int workers[] = {2, 3, 8};
    const result alone = run_crowd(1, heap, speed, options, steps);
    KK_CHECK_EQ_INT(alone.order.calls, 0);
    for (int k = 0; k < 3; k++) {
        const result many = run_crowd(workers[k], heap, speed, options, steps);
        KK_CHECK(many.order.pieces > 4 * steps); // it was shared out
        KK_CHECK(many.hash == alone.hash);
        KK_CHECK(memcmp(&many.report, &alone.report, sizeof alone.report) == 0);
    }
}

KK_TEST(workers_share_a_budget_bit_by_bit) {
    check_same(HEAP, 0.3, (kk_step_options){.effort = KK_EFFORT_SWEEPS, .iterations = 10},
               kk_test_is_quick() ? 10 : 20);
}

KK_TEST(workers_share_exact_steps_bit_by_bit) {
    check_same(20, 0, (kk_step_options){.tolerance = 1e-3}, kk_test_is_quick() ? 2 : 6);
}

// ---- an island so large that it is cut into chunks

enum { SHEET = 30 };

/// Boxes on the ground: four points below each; and, edge to edge, four on every side.
static stage sheet(double pitch, const kk_step_options *options) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.5, 0);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    int body[SHEET * SHEET];
    for (int i = 0; i < SHEET * SHEET; i++) {
        body[i] = stage_box(&s, 1, 0.1, 0.1, 0.1, material);
    }
    kk_spec_options(s.spec)->timestep = 0.005;
    kk_spec_options(s.spec)->max_contacts = 20 * SHEET * SHEET;
    if (stage_ready(&s, options)) {
        for (int i = 0; i < SHEET * SHEET; i++) {
            const int row = i / SHEET;
            stage_place(&s, body[i], pitch * (i % SHEET), pitch * row, 0.05);
            stage_v(&s, body[i])[3] = 0.1 * (i % 7 - 3);
        }
    }
    return s;
}

/// Bodies of a chunk's faces that are neither its own nor the next one's.
static int strangers_of(const kki_swarm *w, int number) {
    const kki_swarm_chunk *c = &w->chunk[number];
    const int end = w->chunk[number + 1 < w->nchunk ? number + 1 : number].body_end;
    int strangers = 0;
    for (int i = c->start[0]; i < c->start[c->colors]; i++) {
        for (int k = 0; k < 2 * KKI_SWARM_LANES; k++) {
            const int body = w->bundle[i].at[k % 2][k / 2] / KKI_SWARM_BODY;
            strangers += body < w->nbody && (body < c->body || body >= end);
        }
    }
    return strangers;
}

static void check_slabs(const kk_simulator *s) {
    const kki_swarm *w = &s->free_bodies.swarm;
    KK_CHECK(w->nbatch == 1 && w->nchunk > 3 && w->chunk[w->nchunk - 1].body_end == w->nbody);
    for (int i = 0, faces = 0; i < w->nchunk; i++) { // one behind the other, and each face once
        KK_CHECK(w->chunk[i].body == (i == 0 ? 0 : w->chunk[i - 1].body_end));
        KK_CHECK_EQ_INT(strangers_of(w, i), 0);
        faces += w->chunk[i].face_end - w->chunk[i].face;
        KK_CHECK(i + 1 < w->nchunk || faces == s->free_bodies.nface);
    }
    KK_CHECK(s->free_bodies.npoint == s->contacts.count);
}

KK_TEST(workers_share_a_large_island_slab_by_slab) {
    uint64_t hash[3];
    for (int k = 0; k < 3; k++) {
        backwards order = {.workers = k + 2};
        const kk_step_options options = {.effort = KK_EFFORT_SWEEPS,
                                         .iterations = 10,
                                         .workers = {.count = k ? k + 2 : 0, .run = run_backwards, .user = &order}};
        stage s = sheet(0.09999, &options);
        for (int i = 0; i < 2; i++) {
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
        }
        hash[k] = kk_state_hash(s.state);
        check_slabs(s.simulator);
        stage_end(&s);
    }
    KK_CHECK(hash[0] == hash[1] && hash[0] == hash[2]);
}

// ---- several batches, each worker's points in a place of their own

KK_TEST(workers_have_places_for_the_points_of_a_batch) {
    uint64_t hash[3];
    for (int k = 0; k < 3; k++) {
        backwards order = {.workers = k + 1};
        const kk_step_options options = {.effort = KK_EFFORT_SWEEPS,
                                         .iterations = 10,
                                         .workers = {.count = k ? k + 1 : 0, .run = run_backwards, .user = &order}};
        stage s = sheet(0.15, &options);
        const kki_swarm *w = &s.simulator->free_bodies.swarm;
        int last[3] = {0};
        for (int i = 0; i < 3; i++) {
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
        }
        KK_CHECK(w->nbatch > 3 && w->stride > 0);
        for (int i = 0; i < w->count; i++) { // nobody reaches into another's
            const int worker = w->bundle[i].first / w->stride;
            KK_CHECK(worker <= k && w->bundle[i].first + w->bundle[i].points <= (worker + 1) * w->stride);
            last[worker]++;
        }
        KK_CHECK(k == 0 || (last[0] > 0 && last[1] > 0));
        hash[k] = kk_state_hash(s.state);
        stage_end(&s);
    }
    KK_CHECK(hash[0] == hash[1] && hash[0] == hash[2]);
}

static void list_scratch(const kki_island_scratch *x, const void *list[9]) {
    const void *const all[9] = {x->wrench_basis.Q, x->verdict, x->held, x->waiting, x->stopping, x->A, x->Y, x->G,
                                x->y_end};
    memcpy(list, all, sizeof all);
}

// threads that solve islands at the same time must not meet in it
KK_TEST(workers_have_scratch_of_their_own) {
    backwards order = {.workers = 3};
    const kk_step_options options = {.workers = {.count = 3, .run = run_backwards, .user = &order}};
    stage s = crowd(0, 0, &options);
    const void *first[9], *other[9];
    KK_CHECK(stage_run(&s, 2, NULL));
    list_scratch(&s.simulator->workers.scratch[0], first);
    for (int k = 0; k < 2; k++) {
        list_scratch(&s.simulator->workers.scratch[k + 1], other);
        for (int i = 0; i < 9; i++) {
            KK_CHECK(other[i] != first[i]);
        }
    }
    stage_end(&s);
}

// of several islands that fail, the first one is named, whoever met it
KK_TEST(workers_name_the_first_fault) {
    char text[2][sizeof((kk_error *)0)->text];
    for (int k = 0; k < 2; k++) {
        backwards order = {.workers = 3};
        const kk_step_options options = {
            .tolerance = 1e-30, .strict = 1, .workers = {.count = k ? 3 : 0, .run = run_backwards, .user = &order}};
        stage s = crowd(0, 0, &options);
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_NOT_CONVERGED);
        memcpy(text[k], s.error.text, sizeof text[k]);
        stage_end(&s);
    }
    KK_CHECK(strcmp(text[0], text[1]) == 0);
}

KK_TEST(workers_beyond_the_room_are_refused) {
    backwards order = {.workers = 4};
    kk_step_options options = {.workers = {.count = 2, .run = run_backwards, .user = &order}};
    stage s = crowd(0, 0, &options);
    options.workers.count = 4;
    KK_CHECK_EQ_INT(kk_simulator_set_options(s.simulator, &options, &s.error), KK_INVALID_ARGUMENT);
    KK_CHECK(strstr(s.error.text, "2 workers") != NULL);
    options.workers.count = 0;
    KK_CHECK_EQ_INT(kk_simulator_set_options(s.simulator, &options, &s.error), KK_OK);
    stage_end(&s);
}

// ---- loops, drawn shut behind the step by rows and factors of its islands

static int add_bar(stage *s, const char *name, int parent, double x, double z) {
    return stage_hinge(s, name, parent, kk_vec3_make(x, 0, z), kk_vec3_make(0, 1, 0),
                       kk_inertia_solid_box(1, 0.1, 0.1, 0.1));
}

/// Two bars on a post and a rod between their ends.
static void add_gate(stage *s, const char *name, int post, double z) {
    char bar[3][24];
    for (int k = 0; k < 3; k++) {
        snprintf(bar[k], sizeof bar[k], "%s.%d", name, k);
    }
    const int left = add_bar(s, bar[0], post, 0, z), rod = add_bar(s, bar[1], left, 0.1, -0.4);
    const int right = add_bar(s, bar[2], post, 0.6, z + 0.1); // longer than the left one
    kk_loop_def loop = kk_loop_def_default();
    loop.type = KK_LOOP_POINT;
    loop.body[0] = rod;
    loop.body[1] = right;
    loop.placement[0].p = kk_vec3_make(0.5, 0, 0);
    loop.placement[1].p = kk_vec3_make(0, 0, -0.5);
    KK_CHECK_EQ_INT(kk_spec_add_loop(s->spec, &loop, NULL, &s->error), KK_OK);
}

enum { POSTS = 5 };

/// Posts that swing, with two gates each: two loops in a plane an island.
static stage gates(const kk_step_options *options) {
    stage s = stage_begin(9.81);
    for (int i = 0; i < POSTS; i++) {
        char name[3][16];
        for (int k = 0; k < 3; k++) {
            snprintf(name[k], sizeof name[k], "post%d.%d", i, k);
        }
        const int post = add_bar(&s, name[0], KK_WORLD, 2 * i, 2);
        add_gate(&s, name[1], post, -0.2);
        add_gate(&s, name[2], post, -0.6);
    }
    kk_spec_options(s.spec)->timestep = 0.001;
    static const double speed[7] = {0.2, -2.2, 2.2, -2.2, -2.6, 2.6, -2.6};
    if (stage_ready(&s, options)) {
        for (int b = 1; b < kk_model_nbody(s.model); b++) {
            const int post = (b - 1) / 7;
            stage_v(&s, b)[0] = speed[(b - 1) % 7] * (1 + 0.1 * post);
        }
    }
    return s;
}

/// Never by the caller's own worker.
static void run_elsewhere(void *user, kk_task *task, void *context, int count) {
    const backwards *b = user;
    for (int i = 0; i < count; i++) {
        task(context, i, 1 + i % (b->workers - 1));
    }
}

KK_TEST(workers_leave_loops_to_be_drawn_shut_bit_by_bit) {
    uint64_t hash[3] = {0};
    for (int k = 0; k < 3; k++) {
        backwards order = {.workers = k + 1};
        const kk_step_options options = {.workers = {.count = k ? k + 1 : 0, .run = run_elsewhere, .user = &order}};
        stage s = gates(&options);
        KK_CHECK(stage_run(&s, 200, NULL));
        hash[k] = kk_state_hash(s.state);
        stage_end(&s);
    }
    KK_CHECK(hash[1] == hash[0] && hash[2] == hash[0]);
}
