// karakuri soak MODEL: many steps under random controls; whether memory stays, energy keeps its books, and the same bits come again.
#define _XOPEN_SOURCE 700 // sysconf
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "ledger.h"
#include "load.h"
#include "motion.h"
#include "shared_options.h"
#include "spread.h"

typedef struct soak_options {
    const char *model, *keyframe, *expect;
    double hours, dt, shake, hold;
    int64_t steps, episode, seed, newton, budget;
} soak_options;

static const soak_options defaults = {.steps = 100000, .shake = 0.5, .hold = 0.1};

static const cli_option arguments[] = {
    ARGUMENT_MODEL(soak_options),
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "steps",
     .letter = 'n',
     .kind = CLI_COUNT,
     .offset = offsetof(soak_options, steps),
     .value = "N",
     .low = 10,
     .high = 1e15,
     .about = "how many steps (default 100000)"},
    {.name = "hours",
     .kind = CLI_NUMBER,
     .offset = offsetof(soak_options, hours),
     .value = "H",
     .low = 1e-6,
     .high = 1e5,
     .about = "end after so many hours of the clock, too: with a remark, and without the rest of the steps"},
    OPTION_DT(soak_options, "time step, in s; without it the model's"),
    OPTION_KEYFRAME(soak_options, "start from this keyframe of the model; without it with every joint at its start"),
    OPTION_SEED(soak_options, "of the random controls (default 0)"),
    {.name = "shake",
     .kind = CLI_NUMBER,
     .offset = offsetof(soak_options, shake),
     .value = "SHARE",
     .low = 0,
     .high = 10,
     .about =
         "random controls leave those of the start by at most this share of an actuator's range, or so much where it "
         "has none (default 0.5)"},
    {.name = "hold",
     .kind = CLI_NUMBER,
     .offset = offsetof(soak_options, hold),
     .value = "T",
     .low = 1e-9,
     .high = 1e6,
     .about = "for how long a random control is kept, in s (default 0.1)"},
    {.name = "episode",
     .kind = CLI_COUNT,
     .offset = offsetof(soak_options, episode),
     .value = "N",
     .low = 1,
     .high = 1e15,
     .about = "begin again at the start after so many steps; without it never. For what falls without end"},
    {.name = "newton",
     .kind = CLI_COUNT,
     .offset = offsetof(soak_options, newton),
     .value = "N",
     .low = 1,
     .high = 1e6,
     .about = "ceiling of effort: Newton iterations of a step at most; steps that it cuts short are counted"},
    {.name = "budget",
     .kind = CLI_COUNT,
     .offset = offsetof(soak_options, budget),
     .value = "N",
     .low = 1,
     .high = 1e6,
     .about = "ceiling of effort: real-time mode, so many sweeps in every step and no more"},
    {.name = "expect",
     .kind = CLI_TEXT,
     .offset = offsetof(soak_options, expect),
     .value = "HASH",
     .about = "hash that the last state must have, as an earlier soak told it"},
    {.name = NULL},
};

// ---- memory, counted block by block

typedef struct held {
    int64_t bytes, blocks, most, requests;
} held;

static void *allocate(void *user, size_t size, size_t alignment) {
    held *h = user;
    h->requests++;
    void *block = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (block) {
        h->bytes += (int64_t)size;
        h->blocks++;
        h->most = h->bytes > h->most ? h->bytes : h->most;
    }
    return block;
}

static void release_block(void *user, void *block, size_t size) {
    held *h = user;
    h->bytes -= (int64_t)size;
    h->blocks--;
    free(block);
}

/// Bytes that the process has in memory; 0 where the system does not tell.
static int64_t resident(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) {
        return 0;
    }
    const int found = fscanf(file, "%*s %ld", &pages);
    fclose(file);
    return found == 1 ? (int64_t)pages * sysconf(_SC_PAGESIZE) : 0;
}

/// Seconds that this thread has had a processor for: what others do on the machine hardly shows.
static double busy(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- the run

/// What is looked at after each tenth.
enum { TENTHS = 10 };
typedef struct look {
    int64_t steps, bytes, blocks, requests, resident;
    uint64_t hash;
    double median, worst;
} look;

typedef struct job {
    cli *c;
    const soak_options *o;
    cli_model m;
    held held;
    kk_allocator allocator;
    kk_state *start, *state;
    kk_simulator *simulator;
    kk_step_options options;
    motion motion;
    double *control;
    int keyframe;
    spread times;
    ledger ledger;
    double wall, simulated, energy_from_nowhere; ///< of ended episodes
    int64_t steps, degraded, held_still, cut_short, replayed, differing;
    double residual, penetration;
    look look[TENTHS];
    int looks;
} job;

static double timestep_of(const job *j) {
    return j->o->dt > 0 ? j->o->dt : kk_model_options(j->m.model).timestep;
}

/// What a step is given follows from the seed and its number alone, so that any stretch can be taken again.
static void control_at(job *j, int64_t step) {
    const int n = kk_model_nactuator(j->m.model);
    const int64_t every = (int64_t)(j->o->hold / timestep_of(j) + 0.5);
    const uint64_t draw = (uint64_t)(step / (every > 0 ? every : 1));
    memcpy(j->control, j->motion.start, (size_t)n * sizeof *j->control);
    for (int i = 0; i < n && j->o->shake > 0; i++) {
        const kk_actuator_info a = kk_model_actuator(j->m.model, i);
        const double range = a.control_upper - a.control_lower, size = range < 1e6 ? range : 1;
        const double u = 2 * kk_random_uniform_at((uint64_t)j->o->seed, (uint64_t)i, draw) - 1;
        j->control[i] += j->o->shake * size * u;
    }
}

static int fail(const job *j, const kk_error *error, int64_t step) {
    return cli_fail(j->c, CLI_EXIT_FINDING, "step %lld failed: %s", (long long)step,
                    error->text[0] ? error->text : kk_status_text(error->status));
}

static int step_state(job *j, kk_state *state, kk_simulator *simulator, int64_t number) {
    kk_error error = {0};
    if (j->o->episode && number % j->o->episode == 0) {
        error.status = kk_state_copy(state, j->start);
    }
    control_at(j, number);
    const kk_input input = {.control = j->control};
    error.status = error.status ? error.status : kk_step(j->m.model, state, simulator, &input, &error);
    return error.status ? fail(j, &error, number) : 0;
}

/// The books of an episode are closed where the next begins.
static void close_books(job *j) {
    const double time = kk_state_time(j->state) - kk_state_time(j->start);
    if (j->ledger.steps > 0 && ledger_has_gained(&j->ledger, time)) {
        j->energy_from_nowhere += j->ledger.error;
    }
    j->ledger = (ledger){0};
}

static void take_report(job *j, const kk_report *r) {
    j->degraded += r->quality == KK_STEP_DEGRADED;
    j->held_still += r->quality == KK_STEP_HELD;
    j->cut_short += r->hit_iteration_limit != 0;
    j->residual = r->residual > j->residual ? r->residual : j->residual;
    j->penetration = r->penetration > j->penetration ? r->penetration : j->penetration;
    ledger_add(&j->ledger, &j->m, j->state, r);
}

static int step(job *j) {
    if (j->o->episode && j->steps % j->o->episode == 0) {
        close_books(j);
    }
    const double from = busy();
    const int code = step_state(j, j->state, j->simulator, j->steps);
    if (code) {
        return code;
    }
    spread_add(&j->times, busy() - from);
    take_report(j, kk_simulator_report(j->simulator));
    j->steps++;
    j->simulated += timestep_of(j);
    return 0;
}

/// What a state is saved as, taken by a new simulator over the same steps, comes to the same bits: nothing that counts is kept outside the state.
static int replay(job *j, const void *bytes, size_t size, int64_t from) {
    kk_state *state = NULL;
    kk_simulator *simulator = NULL;
    kk_error error = {0};
    error.status = kk_state_create(j->m.model, NULL, &state);
    error.status = error.status ? error.status : kk_state_restore(state, bytes, size, &error);
    error.status = error.status ? error.status : kk_simulator_create(j->m.model, &j->options, NULL, &simulator, &error);
    int code = error.status ? cli_fail_error(j->c, &error) : 0;
    for (int64_t i = from; i < j->steps && !code; i++) {
        code = step_state(j, state, simulator, i);
    }
    if (!code) {
        j->replayed += j->steps - from;
        j->differing += kk_state_hash(state) != kk_state_hash(j->state);
        code = kk_state_check(j->m.model, j->state, &error) ? fail(j, &error, j->steps) : 0;
    }
    kk_simulator_free(simulator);
    kk_state_free(state);
    return code;
}

static void take_look(job *j) {
    j->look[j->looks++] = (look){.steps = j->steps,
                                 .bytes = j->held.bytes,
                                 .requests = j->held.requests,
                                 .resident = resident(),
                                 .blocks = j->held.blocks,
                                 .hash = kk_state_hash(j->state),
                                 .median = spread_quantile(&j->times, 0.5),
                                 .worst = j->times.worst};
}

static bool is_over(const job *j, double start) {
    return cli_is_interrupted() || (j->o->hours > 0 && cli_now() - start > 3600 * j->o->hours);
}

/// Steps up to a number; the last tenth of them once more, by a simulator that knows nothing.
static int soak_until(job *j, int64_t end, double start, cli_progress *progress) {
    const int64_t stretch = (end - j->steps) / 10, from = end - (stretch < 100000 ? stretch : 100000);
    void *bytes = NULL;
    size_t size = 0;
    int code = 0;
    while (j->steps < end && !code && !is_over(j, start)) {
        if (j->steps == from) {
            size = kk_state_saved_size(j->state);
            bytes = cli_allocate(size, 1);
            kk_state_save(j->state, bytes, size);
        }
        code = step(j);
        if (j->steps % 64 == 0) {
            cli_progress_show(j->c, progress, "soaking", (size_t)j->steps, (size_t)j->o->steps);
        }
    }
    code = !code && bytes && j->steps == end ? replay(j, bytes, size, from) : code;
    free(bytes);
    return code;
}

static int soak(job *j) {
    cli_progress progress = {0};
    const double start = cli_now();
    int code = 0;
    cli_catch_interrupts();
    for (int i = 1; i <= TENTHS && !code && !is_over(j, start); i++) {
        code = soak_until(j, j->o->steps / TENTHS * i + (i == TENTHS ? j->o->steps % TENTHS : 0), start, &progress);
        take_look(j);
    }
    cli_progress_show(j->c, &progress, "soaking", (size_t)j->o->steps, (size_t)j->o->steps);
    close_books(j);
    j->wall = cli_now() - start;
    return code;
}

static int make_ready(job *j) {
    kk_error error = {0};
    int code = load_keyframe(j->c, j->m.model, j->o->keyframe, &j->keyframe);
    if (code) {
        return code;
    }
    j->allocator = (kk_allocator){allocate, release_block, &j->held};
    j->options = (kk_step_options){.timestep = j->o->dt,
                                   .effort = j->o->budget   ? KK_EFFORT_SWEEPS
                                             : j->o->newton ? KK_EFFORT_NEWTON
                                                            : KK_EFFORT_TOLERANCE,
                                   .iterations = (int)(j->o->budget ? j->o->budget : j->o->newton)};
    error.status = kk_state_create(j->m.model, NULL, &j->start);
    if (!error.status && j->keyframe >= 0) {
        error.status = kk_state_set_keyframe(j->m.model, j->start, j->keyframe);
    } else if (!error.status) {
        kk_couplings_apply(j->m.model, kk_state_q(j->start), kk_state_v(j->start));
    }
    error.status = error.status ? error.status : kk_state_create(j->m.model, &j->allocator, &j->state);
    error.status = error.status ? error.status : kk_state_copy(j->state, j->start);
    error.status = error.status ? error.status
                                : kk_simulator_create(j->m.model, &j->options, &j->allocator, &j->simulator, &error);
    if (error.status) {
        return cli_fail_error(j->c, &error);
    }
    j->control = cli_allocate((size_t)kk_model_nactuator(j->m.model) + 1, sizeof *j->control);
    return motion_open(j->c, j->m.model, j->start, j->keyframe, NULL, (motion_options){0}, &j->motion);
}

// ---- the verdict

/// Room that grows with contacts is a block in another's place: more blocks in the second half are a leak, and so are many more bytes.
static bool has_leaked(const job *j) {
    if (j->looks < TENTHS) {
        return false;
    }
    const look *half = &j->look[TENTHS / 2 - 1], *end = &j->look[TENTHS - 1];
    return end->blocks > half->blocks || end->bytes > 2 * half->bytes;
}

static void hash_text(uint64_t hash, char text[20]) {
    snprintf(text, 20, "%016llx", (unsigned long long)hash);
}

static bool is_unexpected(const job *j) {
    char hash[20];
    hash_text(kk_state_hash(j->state), hash);
    return j->o->expect && strcmp(hash, j->o->expect) != 0;
}

static bool is_good(const job *j) {
    return !has_leaked(j) && j->differing == 0 && !is_unexpected(j) && !(j->energy_from_nowhere > 0);
}

static void print_times(const job *j, cli_text *out) {
    const double median = spread_quantile(&j->times, 0.5), rare = spread_quantile(&j->times, 0.999999);
    text_format(out,
                "  a step        half within %.3g µs, 99 %% within %.3g µs, 99.9999 %% within %.3g µs (%.3g × half), "
                "longest %.3g µs\n",
                1e6 * median, 1e6 * spread_quantile(&j->times, 0.99), 1e6 * rare, median > 0 ? rare / median : 0,
                1e6 * j->times.worst);
}

static void print_looks(const job *j, cli_text *out) {
    text_format(out, "  %14s %12s %10s %10s  %s\n", "steps", "held, B", "requests", "process, B", "state");
    for (int i = 0; i < j->looks; i++) {
        const look *l = &j->look[i];
        text_format(out, "  %14lld %12lld %10lld %10lld  %016llx\n", (long long)l->steps, (long long)l->bytes,
                    (long long)l->requests, (long long)l->resident, (unsigned long long)l->hash);
    }
}

static void print_verdict(const job *j, cli_text *out) {
    const char *red = cli_style(j->c, CLI_RED), *plain = cli_style(j->c, CLI_PLAIN);
    text_format(out, "  memory        %s\n", has_leaked(j) ? "GROWS" : "flat");
    text_format(out, "  replayed      %lld steps from saved states by new simulators, %s\n", (long long)j->replayed,
                j->differing ? "and came to OTHER bits" : "to the same bits");
    if (j->energy_from_nowhere > 0) {
        text_format(out, "  %senergy from nowhere%s %.4g J\n", red, plain, j->energy_from_nowhere);
    }
    if (is_unexpected(j)) {
        text_format(out, "  %snot expected%s  the last state should be %s\n", red, plain, j->o->expect);
    }
}

static void print_summary(const job *j, cli_text *out) {
    text_format(out, "%s%s%s\n", cli_style(j->c, CLI_BOLD), j->m.name, cli_style(j->c, CLI_PLAIN));
    text_format(out, "  soaked        %lld steps of %.4g s, in %.4g s: %.4g × real time\n", (long long)j->steps,
                timestep_of(j), j->wall, j->wall > 0 ? j->simulated / j->wall : 0);
    print_times(j, out);
    text_format(out,
                "  quality       %lld degraded, %lld held, %lld cut short by a ceiling; residual at most %.3g m/s\n",
                (long long)j->degraded, (long long)j->held_still, (long long)j->cut_short, j->residual);
    text_format(out, "  penetration   at most %.3g m\n", j->penetration);
    print_looks(j, out);
    print_verdict(j, out);
    text_format(out, "  state         %016llx\n", (unsigned long long)kk_state_hash(j->state));
}

static void write_visuals(const job *j, json_writer *json) {
    char hash[20];
    json_begin_array(json, "looks");
    for (int i = 0; i < j->looks; i++) {
        const look *l = &j->look[i];
        hash_text(l->hash, hash);
        json_begin_object(json, NULL);
        json_integer(json, "steps", l->steps);
        json_integer(json, "held_bytes", l->bytes);
        json_integer(json, "requests", l->requests);
        json_integer(json, "resident_bytes", l->resident);
        json_number(json, "median_step_seconds", l->median);
        json_number(json, "worst_step_seconds", l->worst);
        json_string(json, "state_hash", hash);
        json_end(json);
    }
    json_end(json);
}

static void write_figures(const job *j, json_writer *json) {
    json_integer(json, "steps", j->steps);
    json_number(json, "timestep", timestep_of(j));
    json_number(json, "wall_seconds", j->wall);
    json_number(json, "median_step_seconds", spread_quantile(&j->times, 0.5));
    json_number(json, "p99_step_seconds", spread_quantile(&j->times, 0.99));
    json_number(json, "p999999_step_seconds", spread_quantile(&j->times, 0.999999));
    json_number(json, "worst_step_seconds", j->times.worst);
    json_integer(json, "degraded", j->degraded);
    json_integer(json, "held", j->held_still);
    json_integer(json, "cut_short", j->cut_short);
    json_number(json, "worst_residual", j->residual);
    json_number(json, "worst_penetration", j->penetration);
}

static int write_summary(const job *j) {
    json_writer json = {0};
    char hash[20];
    hash_text(kk_state_hash(j->state), hash);
    cli_begin_verdict(j->c, &json, is_good(j));
    json_string(&json, "model", j->m.name);
    write_figures(j, &json);
    write_visuals(j, &json);
    json_integer(&json, "most_held_bytes", j->held.most);
    json_bool(&json, "memory_is_flat", !has_leaked(j));
    json_integer(&json, "replayed_steps", j->replayed);
    json_bool(&json, "replays_alike", j->differing == 0);
    json_number(&json, "energy_from_nowhere", j->energy_from_nowhere);
    json_string(&json, "state_hash", hash);
    return cli_end_document(j->c, &json);
}

static int tell(const job *j) {
    if (j->c->common.json) {
        return write_summary(j);
    }
    cli_text out = {0};
    print_summary(j, &out);
    return cli_print(j->c, &out);
}

/// Frees all; what is then still held was leaked by the library.
static int release(job *j, int code) {
    free(j->control);
    motion_free(&j->motion);
    kk_simulator_free(j->simulator);
    kk_state_free(j->state);
    kk_state_free(j->start);
    unload_model(&j->m);
    if (!code && (j->held.bytes || j->held.blocks)) {
        cli_note(j->c, "%lld bytes in %lld blocks were not given back", (long long)j->held.bytes,
                 (long long)j->held.blocks);
        return CLI_EXIT_FINDING;
    }
    return code;
}

static int run(cli *c, const void *options) {
    job j = {.c = c, .o = options, .keyframe = -1};
    int code = load_model(c, j.o->model, &j.m);
    if (code) {
        return code;
    }
    code = make_ready(&j);
    code = code ? code : soak(&j);
    if (!code && j.steps < j.o->steps && !cli_is_interrupted()) {
        cli_note(c, "after %g hours %lld of %lld steps were taken", j.o->hours, (long long)j.steps,
                 (long long)j.o->steps);
    }
    const int end = cli_end_interrupted(c, code, "these are the figures until then");
    code = code ? code : tell(&j);
    code = !code && !is_good(&j) ? CLI_EXIT_FINDING : code;
    code = release(&j, code);
    return end == CLI_EXIT_INTERRUPTED || end == CLI_EXIT_TERMINATED ? end : code ? code : end;
}

static const char *const details[] = {
    "Controls are drawn anew every --hold seconds, from the seed and the step's number alone. After each tenth of the "
    "steps memory is counted, and the last tenth of that stretch is taken once more from a saved state, by a new "
    "simulator, which must come to the same bits. Steps that are not certified are counted and told, as random "
    "controls "
    "ask for the impossible now and then.",
    "The exit code is 1 where memory grew in the second half, where a replay came to other bits, "
    "where the last state is not the expected one, or where energy came from nowhere.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri soak robot.xml --keyframe home --steps 1e6", "a million steps"},
    {"karakuri soak robot.xml --steps 100000000 --hours 24 --json", "a day, as a document"},
    {"karakuri soak robot.urdf --floor --servos --budget 20", "in real-time mode"},
    {NULL, NULL},
};

const cli_verb cli_verb_soak = {
    .name = "soak",
    .about = "many steps under random controls: times, memory, energy, the same bits again",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(soak_options),
    .defaults = &defaults,
    .run = run,
};
