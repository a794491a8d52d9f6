/// All rows of one model, a line of JSON each, behind a line about the model.
///
///     zoo FILE [--seconds 10] [--cap 8] [--room 3] [--seeds 3] [--seed N] [--regime zero|hold|random] [--start default] [--alone]
///
/// `--cap` bounds a run of one engine in seconds of processor time; `--room` is the time in which a run is repeated, for the least of each step's
/// times. Engines take turns, row by row.
#include "zoo.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct options {
    const char *path, *start;
    double seconds, cap, room, budget; ///< budget: s for all rows of both engines, which shortens the cap
    int seeds, seed, regime;           ///< seed, regime −1: all
    bool is_alone, is_quick;           ///< quick: random controls alone where there are actuators
} options;

// ---- JSON

static void put_text(const char *key, const char *text) {
    printf("\"%s\": \"", key);
    for (const char *c = text ? text : ""; *c; c++) {
        if (*c == '"' || *c == '\\') {
            putchar('\\');
        }
        putchar((unsigned char)*c < 0x20 ? ' ' : *c);
    }
    printf("\"");
}

static void put_number(const char *key, double value) {
    if (isfinite(value)) {
        printf(", \"%s\": %.9g", key, value);
    } else {
        printf(", \"%s\": null", key);
    }
}

// ---- times

typedef struct spread {
    int count;
    double mean, median, p99, p999, worst; ///< µs
} spread;

static int by_size(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/// Of the first `steps` steps, those that were computed.
static spread spread_of(const zoo_times *times, int steps) {
    spread s = {0};
    float *sorted = malloc(sizeof *sorted * (size_t)(steps + 1));
    double sum = 0;
    for (int i = 0; sorted && i < steps; i++) {
        if (times->least[i] >= 0) {
            sorted[s.count++] = times->least[i];
            sum += (double)times->least[i];
        }
    }
    if (s.count > 0) {
        qsort(sorted, (size_t)s.count, sizeof *sorted, by_size);
        const int last = s.count - 1;
        s.mean = 1e6 * sum / s.count;
        s.median = 1e6 * (double)sorted[s.count / 2];
        s.p99 = 1e6 * (double)sorted[(int)(0.99 * last)];
        s.p999 = 1e6 * (double)sorted[(int)ceil(0.999 * last)];
        s.worst = 1e6 * (double)sorted[last];
    }
    free(sorted);
    return s;
}

static void put_times(const char *key, const zoo_times *times, int steps) {
    const spread s = spread_of(times, steps);
    printf(", \"%s\": {\"computed\": %d, \"runs\": %d", key, s.count, times->runs);
    put_number("mean", s.mean);
    put_number("p50", s.median);
    put_number("p99", s.p99);
    put_number("p999", s.p999);
    put_number("worst", s.worst);
    printf("}");
}

// ---- a row in a process of its own

static void *shared(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

typedef struct board {
    zoo_ours ours;
    zoo_theirs theirs;
} board;

typedef struct scene {
    const options *o;
    zoo_model model;
    zoo_peer *peer;
    zoo_course course;
    board *board;
    zoo_times *our_times, *their_times;
} scene;

/// Waits so long for a process; "" or what ended it.
static const char *wait_for(pid_t child, double seconds) {
    int status = 0;
    for (double waited = 0; waitpid(child, &status, WNOHANG) == 0; waited += 0.002) {
        if (waited > seconds) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return "a step did not end";
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "";
}

/// @return "" or what ended the engine
static const char *run_apart(const scene *s, const zoo_row *row, bool is_ours) {
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0) {
        return "no process";
    }
    if (child == 0) {
        if (is_ours) {
            zoo_run(&s->model, &s->course, row, &s->board->ours, s->our_times);
        } else {
            zoo_peer_run(s->peer, &s->course, row, &s->board->theirs, s->their_times);
        }
        _exit(0);
    }
    // the wall's clock is generous: other work on the machine may take most of it
    return wait_for(child, 30 + 8 * (s->course.cap + s->course.room));
}

static void put_ours(const scene *s, const char *ended) {
    const zoo_ours *f = &s->board->ours;
    printf(", \"steps\": %d, \"failed\": %d, \"degraded\": %d, \"held\": %d, \"repeated\": %d, \"cut_short\": %d, "
           "\"cut\": %s",
           f->steps, f->failed, f->degraded, f->held, f->repeated, f->cut_short, f->is_cut ? "true" : "false");
    printf(", \"flaws\": {");
    for (int i = 1, n = 0; i < KK_FLAW_COUNT; i++) {
        if (f->flaws[i] > 0) {
            printf("%s\"%s\": %d", n++ ? ", " : "", kk_flaw_name((kk_flaw)i), f->flaws[i]);
        }
    }
    printf("}, ");
    put_text("ended", ended);
    printf(", ");
    put_text("failure", f->failure);
    if (f->worst.flaw != KK_FLAW_NONE) {
        printf(", \"worst_flaw\": {");
        put_text("flaw", kk_flaw_name(f->worst.flaw));
        printf(", ");
        put_text("stage", kk_stage_name(f->worst.stage));
        printf(", ");
        put_text("body", f->worst.body[0]);
        printf(", ");
        put_text("other", f->worst.body[1]);
        printf(", \"step\": %d", f->worst.step);
        put_number("amount", f->worst.amount);
        printf("}");
    }
    put_number("residual", f->residual);
    put_number("overlap", f->overlap);
    put_number("overlap_at_end", f->overlap_at_end);
    put_number("gain", f->gain);
    put_number("gain_degraded", f->gain_degraded);
    put_number("energy_error", f->error);
    put_number("energy_scale", f->kinetic + f->work);
    put_number("audited", f->audited);
    put_number("accurate", f->audited > 0 ? (double)f->accurate / f->audited : NAN);
    put_number("gaining", f->gaining);
    put_number("height", f->height);
    put_number("speed", f->speed);
    put_times("ours", s->our_times, s->our_times->steps);
}

static void put_theirs(const scene *s, const char *ended) {
    const zoo_theirs *f = &s->board->theirs;
    printf(", \"peer_steps\": %d, \"peer_cut\": %s, \"peer_resets\": %d, \"peer_full\": %d, \"peer_asleep\": %d, ",
           f->steps, f->is_cut ? "true" : "false", f->resets, f->contacts_full, f->asleep);
    put_text("peer_ended", ended);
    put_number("peer_height", f->height);
    put_times("mujoco", s->their_times, s->their_times->steps);
    // over the steps that both have taken, ours where they were computed
    const int common = s->our_times->steps < s->their_times->steps ? s->our_times->steps : s->their_times->steps;
    const spread a = spread_of(s->our_times, common), b = spread_of(s->their_times, common);
    const int least = 50; // what stands still at once has few computed steps, the first of which wait for memory
    put_number("ratio", a.count >= least && b.count >= least ? b.mean / a.mean : NAN);
}

static void run_row(scene *s, const zoo_row *row) {
    memset(s->board, 0, sizeof *s->board);
    s->our_times->runs = s->our_times->steps = s->their_times->runs = s->their_times->steps = 0;
    const char *name = row->keyframe < 0 ? "default" : kk_model_keyframe(s->model.model, row->keyframe).name;
    char numbered[ZOO_NAME];
    snprintf(numbered, sizeof numbered, "key%d", row->keyframe);
    printf("{");
    put_text("start", name && *name ? name : numbered);
    printf(", \"control\": \"%s\", \"seed\": %d", zoo_regime_name[row->regime], row->seed);
    put_ours(s, run_apart(s, row, true));
    if (s->peer) {
        put_theirs(s, run_apart(s, row, false));
    }
    printf("}\n");
    fflush(stdout);
}

// ---- which rows

static bool is_wanted(const options *o, const zoo_row *row) {
    return (o->regime < 0 || o->regime == (int)row->regime) &&
           (o->seed < 0 || row->regime != ZOO_RANDOM || o->seed == row->seed);
}

static bool is_zero(const double *x, int n) {
    for (int i = 0; i < n; i++) {
        if (x[i] != 0) {
            return false;
        }
    }
    return true;
}

/// All rows from one start, or how many there are. What no actuator feels is left out, and a keyframe's controls that are zero.
static int run_start(scene *s, int keyframe, bool is_counting) {
    int rows = 0;
    double *held = calloc((size_t)s->course.actuators + 1, sizeof *held);
    if (held) {
        zoo_held(&s->model, keyframe, held);
    }
    for (int regime = 0; held && regime < ZOO_REGIME_COUNT; regime++) {
        const bool is_left_out = s->o->is_quick && regime != ZOO_RANDOM && s->course.actuators > 0;
        const bool changes_nothing = is_left_out || (regime != ZOO_ZERO && s->course.actuators == 0) ||
                                     (regime == ZOO_HOLD && is_zero(held, s->course.actuators));
        const int seeds = regime == ZOO_RANDOM ? s->o->seeds : 1;
        for (int seed = 1; !changes_nothing && seed <= seeds; seed++) {
            const zoo_row row = {
                .keyframe = keyframe, .regime = (zoo_regime)regime, .seed = regime == ZOO_RANDOM ? seed : 0};
            if (is_wanted(s->o, &row)) {
                rows++;
                if (!is_counting) {
                    run_row(s, &row);
                }
            }
        }
    }
    free(held);
    return rows;
}

static int run_starts(scene *s, bool is_counting) {
    const int keyframes = strcmp(s->o->start, "default") == 0 ? 0 : kk_model_nkeyframe(s->model.model);
    int rows = 0;
    for (int k = -1; k < keyframes; k++) {
        rows += run_start(s, k, is_counting);
    }
    return rows;
}

static bool set_course(scene *s) {
    const kk_model *m = s->model.model;
    zoo_course *c = &s->course;
    *c = (zoo_course){.seconds = s->o->seconds,
                      .cap = s->o->cap,
                      .room = s->o->room,
                      .timestep = kk_model_options(m).timestep,
                      .actuators = kk_model_nactuator(m)};
    c->steps = (int)lround(c->seconds / c->timestep);
    c->lower = calloc((size_t)c->actuators + 1, sizeof *c->lower);
    c->upper = calloc((size_t)c->actuators + 1, sizeof *c->upper);
    const size_t size = sizeof(zoo_times) + sizeof(float) * (size_t)(c->steps + 1);
    s->board = shared(sizeof *s->board);
    s->our_times = shared(size);
    s->their_times = shared(size);
    for (int i = 0; c->lower && c->upper && i < c->actuators; i++) {
        const kk_actuator_info a = kk_model_actuator(m, i);
        c->lower[i] = isfinite(a.control_lower) ? a.control_lower : -1;
        c->upper[i] = isfinite(a.control_upper) ? a.control_upper : 1;
    }
    return c->lower && c->upper && s->board && s->our_times && s->their_times;
}

/// The peer takes part where both see the same robot.
static const char *why_apart(const scene *s) {
    return zoo_peer_actuators(s->peer) != s->course.actuators              ? "other actuators"
           : zoo_peer_nv(s->peer) != kk_model_nv(s->model.model)           ? "other degrees of freedom"
           : fabs(zoo_peer_timestep(s->peer) - s->course.timestep) > 1e-12 ? "other time step"
                                                                           : "";
}

static void put_model(const scene *s, const char *why_no_peer) {
    const kk_model *m = s->model.model;
    printf("{");
    put_text("file", s->o->path);
    printf(", \"nv\": %d, \"actuators\": %d, \"keyframes\": %d, \"timestep\": %.9g, ", kk_model_nv(m),
           s->course.actuators, kk_model_nkeyframe(m), s->course.timestep);
    put_text("mujoco", zoo_peer_version());
    printf(", ");
    put_text("no_peer", why_no_peer);
    printf("}\n");
    fflush(stdout);
}

static void put_agreement(const scene *s, const zoo_peer *peer) {
    zoo_agreement *a = calloc(1, sizeof *a);
    if (!a) {
        return;
    }
    zoo_agree(&s->model, peer, a);
    printf("{\"agreement\": {");
    put_text("problem", a->problem);
    put_number("mass", a->mass);
    put_number("start", a->start);
    printf(", \"start_keyframe\": %d, ", a->start_keyframe);
    put_text("start_body", a->start_body);
    put_number("inertia", a->inertia < 0 ? NAN : a->inertia);
    put_number("bias", a->bias < 0 ? NAN : a->bias);
    printf(", \"pairs\": %d, \"pairs_mujoco\": %d, \"only_ours\": %d, \"only_mujoco\": %d, \"listed\": [",
           a->pairs_ours, a->pairs_theirs, a->only_ours, a->only_theirs);
    for (int i = 0; i < a->listed; i++) {
        printf("%s{", i ? ", " : "");
        put_text("in", a->pair[i].is_ours ? "ours" : "MuJoCo");
        printf(", ");
        put_text("body", a->pair[i].body[0]);
        printf(", ");
        put_text("other", a->pair[i].body[1]);
        printf("}");
    }
    printf("]}}\n");
    fflush(stdout);
    free(a);
}

static int run_model(const options *o) {
    scene s = {.o = o};
    kk_error error = {0};
    char why_no_peer[ZOO_TEXT] = "";
    if (zoo_load(o->path, &s.model, &error) != KK_OK) {
        printf("{");
        put_text("file", o->path);
        printf(", ");
        put_text("not_loaded", error.text);
        printf("}\n");
        return 1;
    }
    if (!set_course(&s)) {
        return 1;
    }
    s.peer = o->is_alone ? NULL : zoo_peer_load(o->path, s.model.mjcf, why_no_peer);
    zoo_peer *peer = s.peer;
    if (s.peer && *why_apart(&s)) {
        snprintf(why_no_peer, sizeof why_no_peer, "%s", why_apart(&s));
        s.peer = NULL; // other machines do not race, but can be compared
    }
    const char *base = s.peer ? zoo_peer_base(s.peer) : NULL;
    s.model.base = base ? kk_model_find_body(s.model.model, base) : kk_model_nbody(s.model.model) > 1 ? 1 : -1;
    put_model(&s, why_no_peer);
    if (peer) {
        put_agreement(&s, peer);
    }
    const int rows = run_starts(&s, true);
    if (o->budget > 0 && rows > 0) {
        s.course.cap = fmin(s.course.cap, 0.5 * o->budget / rows);
        s.course.room = fmin(s.course.room, s.course.cap);
    }
    run_starts(&s, false);
    zoo_peer_free(peer);
    zoo_free(&s.model);
    free(s.course.lower);
    free(s.course.upper);
    return 0;
}

static int regime_of(const char *name) {
    for (int i = 0; i < ZOO_REGIME_COUNT; i++) {
        if (strcmp(name, zoo_regime_name[i]) == 0) {
            return i;
        }
    }
    return -1;
}

int main(int count, char **words) {
    options o = {.start = "all", .seconds = 10, .cap = 8, .room = 3, .seeds = 3, .seed = -1, .regime = -1};
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : "";
        if (strcmp(word, "--alone") == 0) {
            o.is_alone = true;
            continue;
        }
        if (strcmp(word, "--quick") == 0) {
            o.is_quick = true;
            continue;
        }
        if (word[0] != '-') {
            o.path = word;
            continue;
        }
        i++;
        if (strcmp(word, "--seconds") == 0) {
            o.seconds = atof(value);
        } else if (strcmp(word, "--cap") == 0) {
            o.cap = atof(value);
        } else if (strcmp(word, "--budget") == 0) {
            o.budget = atof(value);
        } else if (strcmp(word, "--room") == 0) {
            o.room = atof(value);
        } else if (strcmp(word, "--seeds") == 0) {
            o.seeds = atoi(value);
        } else if (strcmp(word, "--seed") == 0) {
            o.seed = atoi(value);
        } else if (strcmp(word, "--regime") == 0) {
            o.regime = regime_of(value);
        } else if (strcmp(word, "--start") == 0) {
            o.start = value;
        } else {
            fprintf(stderr, "zoo: unknown option %s\n", word);
            return 2;
        }
    }
    o.seeds = o.seed > o.seeds ? o.seed : o.seeds;
    return o.path ? run_model(&o) : 2;
}
