// Many bodies with a fixed budget: thousands of spheres and boxes in a bin, stacks of ten side by side; one worker and several, by stage.
//
//   piles [--scene spheres|boxes|stacks|all] [--bodies N] [--settle STEPS] [--steps STEPS] [--budget SWEEPS] [--workers N] [--rounds N] [--stages] [--reckon] [--deep]
//
// A bin holds ten layers of any width, as stacks are ten high; `--deep`: as many layers as a layer is wide. The bodies fall for `settle`
// steps and are then timed for `steps` steps, nothing sleeps; the least time of `rounds` rounds over the same steps counts, and rounds of one
// and of several workers alternate. Workers must not change a bit: the states' hashes are compared.
#include <karakuri/karakuri.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../tools/cli/pool.h"

static double now(void *user) {
    (void)user;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/// Of this thread: what other programs do on the machine does not count.
static double own_time(void *user) {
    (void)user;
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(kk_status status, const kk_error *error) {
    if (status != KK_OK) {
        fprintf(stderr, "piles: %s\n", error->text);
        exit(1);
    }
}

// ---- scenes

typedef struct scene {
    const char *name;
    int is_box, is_stacks;
} scene;

static const scene scenes[] = {{"spheres", 0, 0}, {"boxes", 1, 0}, {"stacks", 1, 1}};

static void add_plane(kk_spec *spec, kk_vec3 p, kk_vec3 n) {
    kk_error error = {0};
    kk_shape_def plane = kk_shape_def_default();
    plane.type = KK_SHAPE_PLANE;
    plane.placement.p = p;
    const kk_vec3 x = n.z != 0 ? kk_vec3_make(1, 0, 0) : kk_vec3_make(0, 0, 1), y = kk_vec3_cross(n, x);
    plane.placement.R = kk_mat3_from_columns(x, y, n);
    must(kk_spec_add_shape(spec, &plane, NULL, &error), &error);
}

static void add_body(kk_spec *spec, int index, int is_box, kk_vec3 p) {
    kk_error error = {0};
    char name[32];
    snprintf(name, sizeof name, "body%d", index);
    kk_body_def body = kk_body_def_default();
    body.name = name;
    body.joint.type = KK_JOINT_FREE;
    body.joint.placement.p = p;
    body.inertia = is_box ? kk_inertia_solid_box(1, 0.1, 0.1, 0.1) : kk_inertia_solid_sphere(0.5236, 0.05);
    kk_shape_def shape = kk_shape_def_default();
    must(kk_spec_add_body(spec, &body, &shape.body, &error), &error);
    shape.type = is_box ? KK_SHAPE_BOX : KK_SHAPE_SPHERE;
    shape.size[0] = shape.size[1] = shape.size[2] = is_box ? 0.1 : 0.05;
    must(kk_spec_add_shape(spec, &shape, NULL, &error), &error);
}

/// Bodies along an edge of a layer. Ten layers for any number of bodies, as stacks have ten, so that more bodies are more of the same: in a cube columns would
/// grow with their number, and what ten sweeps leave of their weight.
static int side_of(int bodies, int is_deep) {
    int side = 1;
    while ((is_deep ? side * side * side : side * side * 10) < bodies) {
        side++;
    }
    return side;
}

/// Bodies in layers of side × side with a little disorder; or stacks of ten, 0.3 m apart.
static kk_model *make(const scene *s, int bodies, int is_deep) {
    kk_error error = {0};
    kk_spec *spec = NULL;
    kk_random random = {.seed = 7};
    must(kk_spec_create(NULL, &spec), &error);
    kk_options *options = kk_spec_options(spec);
    options->timestep = 0.01;
    options->max_contacts = bodies * 20;
    const int side = side_of(bodies, is_deep && !s->is_stacks);
    const double pitch = 0.115, half = 0.5 * pitch * side + 0.01;
    add_plane(spec, kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 1));
    for (int k = 0; k < 4 && !s->is_stacks; k++) {
        const kk_vec3 n = kk_vec3_make(k == 0 ? 1 : k == 1 ? -1 : 0, k == 2 ? 1 : k == 3 ? -1 : 0, 0);
        add_plane(spec, kk_vec3_scale(n, -half), n);
    }
    for (int i = 0; i < bodies; i++) {
        if (s->is_stacks) {
            const int stack = i / 10;
            add_body(spec, i, 1, kk_vec3_make(0.3 * (stack % side), 0.3 * (stack / side), 0.05 + 0.1 * (i % 10)));
            continue;
        }
        const double x = i % side, y = i / side % side, z = i / side / side;
        const double jx = 0.01 * kk_random_next_between(&random, -0.5, 0.5),
                     jy = 0.01 * kk_random_next_between(&random, -0.5, 0.5);
        add_body(spec, i, s->is_box,
                 kk_vec3_make(pitch * (x + 0.5) - 0.5 * pitch * side + jx, pitch * (y + 0.5) - 0.5 * pitch * side + jy,
                              0.06 + pitch * z));
    }
    kk_model *model = NULL;
    must(kk_model_compile(spec, NULL, &model, &error), &error);
    kk_spec_free(spec);
    return model;
}

// ---- workers that are reckoned

/// Does all pieces on the calling thread and reckons what `workers` idle cores would take: each piece goes to the one that is free first. What
/// is saved comes off the time of the step, so the figure holds on a busy machine; giving work out is counted as free.
typedef struct reckoner {
    int workers;
    double saved; ///< s
    double clock; ///< s that a piece seems to take because it is timed
    int rounds;   ///< times that work was given out: what real threads wait for each other
} reckoner;

static double clock_cost(void) {
    double least = 1;
    for (int i = 0; i < 2000; i++) {
        const double from = own_time(NULL), took = own_time(NULL) - from;
        least = took < least ? took : least;
    }
    return least;
}

static void run_reckoned(void *user, kk_task *task, void *context, int count) {
    reckoner *r = user;
    double busy[POOL_MOST] = {0}, most = 0;
    const double entry = own_time(NULL);
    r->rounds++;
    for (int i = 0; i < count; i++) {
        int first = 0;
        for (int w = 1; w < r->workers; w++) {
            first = busy[w] < busy[first] ? w : first;
        }
        const double from = own_time(NULL);
        task(context, i, first);
        const double took = own_time(NULL) - from - r->clock;
        busy[first] += took > 0 ? took : 0;
    }
    for (int w = 0; w < r->workers; w++) {
        most = busy[w] > most ? busy[w] : most;
    }
    r->saved += own_time(NULL) - entry - most; // what the clock costs is not the step's
}

// ---- timing

typedef struct setup {
    int bodies, settle, steps, budget, workers, rounds, stages;
    int is_reckoned; ///< workers are
    int is_deep;     ///< the bin is a cube
    reckoner reckoner;
} setup;

typedef struct timing {
    double least, own; ///< s a step: of the wall's clock, and of the calling thread
    kk_report report;
    double seconds[KK_STAGE_COUNT]; ///< of the round with the least time, a step
    uint64_t hash;
} timing;

static kk_simulator *make_simulator(const kk_model *model, const setup *u, kk_workers workers) {
    kk_error error = {0};
    kk_simulator *simulator = NULL;
    const kk_step_options options = {.effort = KK_EFFORT_SWEEPS,
                                     .iterations = u->budget,
                                     .clock = own_time,
                                     .detection = KK_DETECTION_DISCRETE,
                                     .workers = workers};
    must(kk_simulator_create(model, &options, NULL, &simulator, &error), &error);
    return simulator;
}

static void run_round(const kk_model *model, const kk_state *start, kk_state *state, kk_simulator *simulator, setup *u,
                      timing *t) {
    kk_error error = {0};
    u->reckoner.saved = 0;
    u->reckoner.rounds = 0;
    double seconds[KK_STAGE_COUNT] = {0};
    must(kk_state_copy(state, start), &error);
    const double from = now(NULL), own_from = own_time(NULL);
    for (int i = 0; i < u->steps; i++) {
        must(kk_step(model, state, simulator, NULL, &error), &error);
        const kk_report r = *kk_simulator_report(simulator);
        for (int k = 0; k < KK_STAGE_COUNT; k++) {
            seconds[k] += r.seconds[k] / u->steps;
        }
    }
    const double took = (now(NULL) - from) / u->steps, own = (own_time(NULL) - own_from - u->reckoner.saved) / u->steps;
    t->least = t->least == 0 || took < t->least ? took : t->least;
    if (t->own == 0 || own < t->own) {
        t->own = own;
        memcpy(t->seconds, seconds, sizeof seconds);
    }
    t->report = *kk_simulator_report(simulator);
    t->hash = kk_state_hash(state);
}

static void print(const char *name, const setup *u, int workers, const timing *t) {
    printf("%-8s %6d bodies %2d worker%s %7.0f us, of its own thread %7.0f us  contacts %6d islands %4d sweeps %4d "
           "residual %.1e "
           "depth %.1e hash %016llx\n",
           name, u->bodies, workers, workers == 1 ? " " : "s", 1e6 * t->least, 1e6 * t->own, t->report.contacts,
           t->report.islands, t->report.sweeps, t->report.residual, t->report.penetration, (unsigned long long)t->hash);
    for (int k = 0; k < KK_STAGE_COUNT && u->stages; k++) {
        printf("         %-11s %9.0f us\n", kk_stage_name((kk_stage)k), 1e6 * t->seconds[k]);
    }
}

static int measure(const scene *s, setup *u) {
    kk_error error = {0};
    kk_model *model = make(s, u->bodies, u->is_deep);
    kk_state *start = NULL, *state = NULL;
    must(kk_state_create(model, NULL, &start), &error);
    must(kk_state_create(model, NULL, &state), &error);
    pool threads;
    kk_workers workers = {0};
    u->reckoner.workers = u->workers;
    u->reckoner.clock = clock_cost();
    if (u->workers > 1) {
        workers = u->is_reckoned ? (kk_workers){.count = u->workers, .run = run_reckoned, .user = &u->reckoner}
                                 : pool_open(&threads, u->workers);
    }
    kk_simulator *one = make_simulator(model, u, (kk_workers){0});
    kk_simulator *many = u->workers > 1 ? make_simulator(model, u, workers) : NULL;
    for (int i = 0; i < u->settle; i++) {
        must(kk_step(model, start, one, NULL, &error), &error);
    }
    timing alone = {0}, together = {0};
    for (int r = 0; r < u->rounds; r++) {
        run_round(model, start, state, one, u, &alone);
        if (many) {
            run_round(model, start, state, many, u, &together);
        }
    }
    print(s->name, u, 1, &alone);
    if (many) {
        print(s->name, u, u->workers, &together);
        printf("         %.2f times as fast%s, %s",
               u->is_reckoned ? alone.own / together.own : alone.least / together.least,
               u->is_reckoned ? " on idle cores" : "", alone.hash == together.hash ? "the same bits" : "OTHER BITS");
        if (u->is_reckoned) {
            printf("; work is given out %d times a step", u->reckoner.rounds / u->steps);
        }
        printf("\n");
    }
    kk_simulator_free(one);
    kk_simulator_free(many);
    kk_state_free(start);
    kk_state_free(state);
    kk_model_free(model);
    if (u->workers > 1 && !u->is_reckoned) {
        pool_close(&threads);
    }
    return many && alone.hash != together.hash;
}

int main(int argc, char **argv) {
    setup u = {.bodies = 1000, .settle = 300, .steps = 20, .budget = 10, .workers = 1, .rounds = 5};
    const char *name = "all";
    const struct {
        const char *name;
        int *value;
    } options[] = {{"--bodies", &u.bodies}, {"--settle", &u.settle},   {"--steps", &u.steps},
                   {"--budget", &u.budget}, {"--workers", &u.workers}, {"--rounds", &u.rounds}};
    for (int i = 1; i < argc; i++) {
        u.is_reckoned |= strcmp(argv[i], "--reckon") == 0;
        u.is_deep |= strcmp(argv[i], "--deep") == 0;
        u.stages |= strcmp(argv[i], "--stages") == 0;
        if (i + 1 < argc && strcmp(argv[i], "--scene") == 0) {
            name = argv[i + 1];
        }
        for (size_t k = 0; i + 1 < argc && k < sizeof options / sizeof *options; k++) {
            if (strcmp(argv[i], options[k].name) == 0) {
                *options[k].value = atoi(argv[i + 1]);
            }
        }
    }
    int differs = 0;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (strcmp(name, "all") == 0 || strcmp(name, scenes[i].name) == 0) {
            differs |= measure(&scenes[i], &u);
        }
    }
    return differs;
}
