// karakuri optimize MODEL: searches controls that make a number of the simulation as large or as small as can be.
//
// A candidate is the control of each chosen actuator at a few knots, cubic splines between them. Candidates of a generation are run side by side, each by a
// worker with a state and a simulator of its own; what a candidate gives depends on nothing else, so any number of workers finds the same.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "load.h"
#include "python.h"
#include "shared_options.h"
#include "suggest.h"
#include "tape.h"

typedef struct optimize_options {
    const char *model, *keyframe, *maximize, *minimize, *actuators, *out, *on, *journal;
    double time, dt, limit, effort;
    int64_t knots, generations, population, seed, jobs;
    int method;
} optimize_options;

static const optimize_options defaults = {.knots = 8, .generations = 60, .jobs = 2};
static const char *const methods[] = {"cma-es", "genetic", NULL};

static const cli_option arguments[] = {
    ARGUMENT_MODEL(optimize_options),
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "time",
     .letter = 't',
     .kind = CLI_NUMBER,
     .is_required = true,
     .offset = offsetof(optimize_options, time),
     .value = "T",
     .low = 1e-6,
     .high = 1e6,
     .about = "how long a candidate is simulated, in s"},
    {.name = "maximize",
     .kind = CLI_TEXT,
     .offset = offsetof(optimize_options, maximize),
     .value = "WHEN:WHAT",
     .about = "what is to be large: end:hand.z, max:hand.z, min:knee.q, mean:trunk.x; a body's or frame's x, y, z, or "
              "a joint's q, v"},
    {.name = "minimize",
     .kind = CLI_TEXT,
     .offset = offsetof(optimize_options, minimize),
     .value = "WHEN:WHAT",
     .about = "what is to be small, likewise"},
    {.name = "effort",
     .kind = CLI_NUMBER,
     .offset = offsetof(optimize_options, effort),
     .value = "WEIGHT",
     .low = 0,
     .high = 1e12,
     .about = "weight of the mean square of all controls, each as a share of its limit, in the cost (default 0)"},
    {.name = "actuators",
     .kind = CLI_LIST,
     .offset = offsetof(optimize_options, actuators),
     .value = "NAMES",
     .about = "actuators to search; without it all"},
    {.name = "limit",
     .kind = CLI_NUMBER,
     .offset = offsetof(optimize_options, limit),
     .value = "CONTROL",
     .low = 1e-12,
     .high = 1e12,
     .about = "largest control of actuators that have no limits of their own"},
    {.name = "knots",
     .kind = CLI_COUNT,
     .offset = offsetof(optimize_options, knots),
     .value = "N",
     .low = 2,
     .high = 200,
     .about = "controls of an actuator over the time (default 8)"},
    {.name = "method",
     .kind = CLI_CHOICE,
     .offset = offsetof(optimize_options, method),
     .value = "NAME",
     .choices = methods,
     .about = "cma-es (default) or genetic"},
    {.name = "generations",
     .letter = 'g',
     .kind = CLI_COUNT,
     .offset = offsetof(optimize_options, generations),
     .value = "N",
     .low = 1,
     .high = 1e6,
     .about = "how many (default 60)"},
    {.name = "population",
     .kind = CLI_COUNT,
     .offset = offsetof(optimize_options, population),
     .value = "N",
     .low = 2,
     .high = 1e5,
     .about = "candidates of a generation; without it the method's own choice"},
    OPTION_SEED(optimize_options, "of the random numbers (default 0)"),
    {.name = "jobs",
     .letter = 'j',
     .kind = CLI_COUNT,
     .offset = offsetof(optimize_options, jobs),
     .value = "N",
     .low = 1,
     .high = 256,
     .about = "candidates run side by side (default 2); the result does not depend on it"},
    {.name = "on",
     .kind = CLI_TEXT,
     .offset = offsetof(optimize_options, on),
     .value = "ENGINE",
     .about = "run candidates elsewhere, by Python: processes[:N], ray[:ADDRESS], dask[:ADDRESS], mpi; with the same "
              "result"},
    {.name = "journal",
     .kind = CLI_FOLDER,
     .offset = offsetof(optimize_options, journal),
     .value = "FOLDER",
     .about = "with --on: keep what was run, and go on from it"},
    OPTION_KEYFRAME(optimize_options, "start from this keyframe of the model"),
    OPTION_DT(optimize_options, "time step, in s; without it the model's"),
    {.name = "out",
     .letter = 'o',
     .kind = CLI_FILE,
     .offset = offsetof(optimize_options, out),
     .value = "FILE.csv",
     .about = "table of the best controls, for karakuri run --control"},
    {.name = NULL},
};

// ---- what is wanted

typedef enum goal_when { AT_END, AT_MOST, AT_LEAST, IN_THE_MEAN } goal_when;
typedef struct goal {
    goal_when when;
    int body, frame;      ///< −1: not that
    int axis;             ///< of a position
    int q_index, v_index; ///< −1: not that
    double sign;          ///< of the cost
} goal;

typedef struct job job;
typedef struct worker {
    const job *j;
    kk_state *state;
    kk_simulator *simulator;
    kk_data *data;
    double *control;
    kk_sequence *sequence; ///< of the candidate at hand
    int first;             ///< candidates first, first + jobs, …
    kk_status status;
    kk_error error;
} worker;

struct job {
    cli *c;
    const optimize_options *o;
    cli_model m;
    goal goal;
    kk_state *start;
    int *actuator; ///< [actuator_count] chosen
    int actuator_count, n;
    double *lower, *upper, *knot_time; ///< [n], [n], [knots]
    kk_optimizer *optimizer;
    double *candidates, *cost, *best;
    worker *worker;
    double dt;
    int steps;
};

static int fail_goal(const job *j, const char *text, const char *name) {
    const kk_model *m = j->m.model;
    suggestion near = suggest_begin(name);
    for (int i = 1; i < kk_model_nbody(m); i++) {
        suggest_word(&near, kk_model_body_name(m, i));
        suggest_word(&near, kk_model_joint(m, i).name);
    }
    for (int i = 0; i < kk_model_nframe(m); i++) {
        suggest_word(&near, kk_model_frame_name(m, i));
    }
    return cli_fail(j->c, CLI_EXIT_USAGE,
                    near.best ? "'%s' is no goal: nothing is called '%s' — did you mean '%s'?"
                              : "'%s' is no goal: nothing is called '%s' — write end:BODY.z or max:JOINT.q",
                    text, name, near.best);
}

/// Splits "end:hand.z"; gives the part behind the last point, and leaves the name.
static bool split_goal(char *text, goal *g, char **name, char **part) {
    static const char *const words[] = {"end", "max", "min", "mean"};
    char *colon = strchr(text, ':'), *point = strrchr(text, '.');
    if (!colon || !point || point < colon) {
        return false;
    }
    *colon = *point = 0;
    *name = colon + 1;
    *part = point + 1;
    for (int i = 0; i < 4; i++) {
        if (strcmp(text, words[i]) == 0) {
            g->when = (goal_when)i;
            return strlen(*part) == 1 && strchr("xyzqv", **part);
        }
    }
    return false;
}

static int find_goal(job *j) {
    const char *text = j->o->maximize ? j->o->maximize : j->o->minimize;
    const kk_model *m = j->m.model;
    if (!text || (j->o->maximize && j->o->minimize)) {
        return cli_fail(j->c, CLI_EXIT_USAGE,
                        "give one of --maximize and --minimize, for example --maximize end:hand.z");
    }
    char *copy = cli_copy(text), *name = NULL, *part = NULL;
    j->goal = (goal){.body = -1, .frame = -1, .q_index = -1, .v_index = -1, .sign = j->o->maximize ? -1 : 1};
    const bool is_goal = split_goal(copy, &j->goal, &name, &part);
    int code = is_goal ? 0
                       : cli_fail(j->c, CLI_EXIT_USAGE,
                                  "'%s' is no goal — write end:, max:, min: or mean: and BODY.z or JOINT.q", text);
    if (is_goal && strchr("xyz", *part)) {
        j->goal.axis = *part - 'x';
        j->goal.body = kk_model_find_body(m, name);
        j->goal.frame = j->goal.body < 0 ? kk_model_find_frame(m, name) : -1;
        code = j->goal.body < 0 && j->goal.frame < 0 ? fail_goal(j, text, name) : 0;
    } else if (is_goal) {
        const int body = kk_model_find_joint(m, name);
        const kk_joint_info joint = kk_model_joint(m, body < 0 ? 0 : body);
        *(*part == 'q' ? &j->goal.q_index : &j->goal.v_index) = *part == 'q' ? joint.q_index : joint.v_index;
        code = body < 0 || joint.nv != 1 ? fail_goal(j, text, name) : 0;
    }
    free(copy);
    return code;
}

// ---- making ready

static bool is_chosen(const job *j, const char *name) {
    const char *list = j->o->actuators;
    const size_t length = strlen(name);
    for (const char *at = list; at && *at;) {
        const char *end = strchr(at, ',');
        const size_t size = end ? (size_t)(end - at) : strlen(at);
        if (size == length && strncmp(at, name, size) == 0) {
            return true;
        }
        at = end ? end + 1 : NULL;
    }
    return !list;
}

/// Limits of a control: its own, those of a motor's force, or --limit.
static bool find_limits(const job *j, const kk_actuator_info *a, double *low, double *high) {
    const bool is_motor = a->type == KK_ACTUATOR_FORCE && a->gain > 0;
    *low = a->control_lower;
    *high = a->control_upper;
    if (is_motor && *low < a->force_lower / a->gain) {
        *low = a->force_lower / a->gain;
    }
    if (is_motor && *high > a->force_upper / a->gain) {
        *high = a->force_upper / a->gain;
    }
    if (j->o->limit > 0) {
        *low = *low < -j->o->limit ? -j->o->limit : *low;
        *high = *high > j->o->limit ? j->o->limit : *high;
    }
    return *low > -1e300 && *high < 1e300;
}

static int choose_actuators(job *j) {
    const kk_model *m = j->m.model;
    const int n = kk_model_nactuator(m), knots = (int)j->o->knots;
    j->actuator = cli_allocate((size_t)n + 1, sizeof *j->actuator);
    j->lower = cli_allocate((size_t)n * (size_t)knots + 1, sizeof *j->lower);
    j->upper = cli_allocate((size_t)n * (size_t)knots + 1, sizeof *j->upper);
    cli_text label = {0};
    int code = 0;
    for (int i = 0; i < n && !code; i++) {
        const kk_actuator_info a = kk_model_actuator(m, i);
        actuator_label(m, i, &label);
        if (is_chosen(j, text_string(&label))) {
            double low, high;
            if (!find_limits(j, &a, &low, &high)) {
                code =
                    cli_fail(j->c, CLI_EXIT_USAGE, "actuator '%s' has no limits — give --limit", text_string(&label));
            }
            for (int k = 0; k < knots; k++) {
                j->lower[j->n] = low;
                j->upper[j->n++] = high;
            }
            j->actuator[j->actuator_count++] = i;
        }
    }
    text_free(&label);
    if (!code && j->actuator_count == 0) {
        code = cli_fail(j->c, CLI_EXIT_USAGE,
                        "none of the model's %d actuators is chosen — karakuri info tells their names", n);
    }
    return code;
}

static int make_start(job *j) {
    kk_error error = {0};
    int k;
    const int code = load_keyframe(j->c, j->m.model, j->o->keyframe, &k);
    error.status = kk_state_create(j->m.model, NULL, &j->start);
    if (!error.status && k >= 0) {
        error.status = kk_state_set_keyframe(j->m.model, j->start, k);
    }
    return code ? code : error.status ? cli_fail_error(j->c, &error) : 0;
}

static int make_workers(job *j) {
    kk_error error = {0};
    const kk_step_options options = {.timestep = j->o->dt};
    j->dt = j->o->dt > 0 ? j->o->dt : kk_model_options(j->m.model).timestep;
    j->steps = (int)(j->o->time / j->dt + 0.5);
    j->worker = cli_allocate((size_t)j->o->jobs, sizeof *j->worker);
    for (int i = 0; i < j->o->jobs && !error.status; i++) {
        worker *w = &j->worker[i];
        *w = (worker){.j = j, .first = i};
        w->control = cli_allocate((size_t)kk_model_nactuator(j->m.model) + 1, sizeof *w->control);
        error.status = kk_state_create(j->m.model, NULL, &w->state);
        error.status =
            error.status ? error.status : kk_simulator_create(j->m.model, &options, NULL, &w->simulator, &error);
        error.status = error.status ? error.status : kk_data_create(j->m.model, NULL, &w->data);
    }
    return error.status ? cli_fail_error(j->c, &error) : 0;
}

static int make_optimizer(job *j) {
    kk_error error = {0};
    const kk_optimizer_def def = {.type = (kk_optimizer_type)j->o->method,
                                  .n = j->n,
                                  .lower = j->lower,
                                  .upper = j->upper,
                                  .population = (int)j->o->population,
                                  .seed = (uint64_t)j->o->seed};
    error.status = kk_optimizer_create(&def, NULL, &j->optimizer, &error);
    if (error.status) {
        return cli_fail_error(j->c, &error);
    }
    const size_t population = (size_t)kk_optimizer_population(j->optimizer);
    j->candidates = cli_allocate(population * (size_t)j->n, sizeof *j->candidates);
    j->cost = cli_allocate(population, sizeof *j->cost);
    j->best = cli_allocate((size_t)j->n, sizeof *j->best);
    j->knot_time = cli_allocate((size_t)j->o->knots, sizeof *j->knot_time);
    for (int k = 0; k < j->o->knots; k++) {
        j->knot_time[k] = j->o->time * k / (double)(j->o->knots - 1);
    }
    return 0;
}

// ---- a candidate

/// Knots row by row: all actuators at a time, as a sequence has them.
static kk_sequence *controls_of(const job *j, const double *x, kk_error *error) {
    const int knots = (int)j->o->knots;
    double *rows = cli_allocate((size_t)j->n, sizeof *rows);
    for (int a = 0; a < j->actuator_count; a++) {
        for (int k = 0; k < knots; k++) {
            rows[k * j->actuator_count + a] = x[a * knots + k];
        }
    }
    const kk_sequence_def def = {.interpolation = KK_INTERPOLATE_CUBIC,
                                 .count = knots,
                                 .width = j->actuator_count,
                                 .time = j->knot_time,
                                 .value = rows};
    kk_sequence *s = NULL;
    error->status = kk_sequence_create(&def, NULL, &s, error);
    free(rows);
    return s;
}

static double measure(const worker *w) {
    const goal *g = &w->j->goal;
    const kk_model *m = w->j->m.model;
    const double *q = kk_state_q_const(w->state), *v = kk_state_v_const(w->state);
    if (g->q_index >= 0) {
        return q[g->q_index];
    }
    if (g->v_index >= 0) {
        return v[g->v_index];
    }
    kk_kinematics(m, w->data, q);
    const kk_vec3 p = (g->body >= 0 ? kk_body_pose(m, w->data, g->body) : kk_frame_pose(m, w->data, g->frame)).p;
    return g->axis == 0 ? p.x : g->axis == 1 ? p.y : p.z;
}

/// The controls at a time, within their limits; gives their mean square as a share of these.
static double set_controls(worker *w, double time, double *values) {
    const job *j = w->j;
    double sum = 0;
    kk_sequence_sample(w->sequence, time, values, NULL, NULL);
    for (int a = 0; a < j->actuator_count; a++) {
        const double low = j->lower[a * j->o->knots], high = j->upper[a * j->o->knots];
        const double u = values[a] < low ? low : values[a] > high ? high : values[a], most = high > -low ? high : -low;
        w->control[j->actuator[a]] = u;
        sum += u * u / (most * most);
    }
    return sum / j->actuator_count;
}

static double gather(goal_when when, double sum, double now, int step) {
    switch (when) {
    case AT_MOST: return step == 0 || now > sum ? now : sum;
    case AT_LEAST: return step == 0 || now < sum ? now : sum;
    case IN_THE_MEAN: return sum + now;
    default: return now;
    }
}

/// The cost of a candidate; a run that cannot be computed costs infinitely much.
static double run_candidate(worker *w, const double *x) {
    const job *j = w->j;
    double *values = cli_allocate((size_t)j->actuator_count, sizeof *values), sum = 0, effort = 0;
    kk_status status = kk_state_copy(w->state, j->start);
    w->sequence = controls_of(j, x, &w->error);
    status = status ? status : w->error.status;
    for (int i = 0; i < j->steps && !status; i++) {
        const kk_input input = {.control = w->control};
        effort += set_controls(w, i * j->dt, values);
        status = kk_step(j->m.model, w->state, w->simulator, &input, &w->error);
        sum = status ? sum : gather(j->goal.when, sum, measure(w), i);
    }
    kk_sequence_free(w->sequence);
    free(values);
    const double value = j->goal.when == IN_THE_MEAN ? sum / j->steps : sum;
    return status ? 1e300 : j->goal.sign * value + j->o->effort * effort / j->steps;
}

static void *work(void *user) {
    worker *w = user;
    const job *j = w->j;
    for (int i = w->first; i < kk_optimizer_population(j->optimizer); i += (int)j->o->jobs) {
        j->cost[i] = run_candidate(w, j->candidates + (size_t)i * (size_t)j->n);
    }
    return NULL;
}

/// A generation: the first worker is this thread; where another cannot be started, its share is done here.
static void run_generation(job *j) {
    pthread_t *thread = cli_allocate((size_t)j->o->jobs, sizeof *thread);
    bool *is_started = cli_allocate((size_t)j->o->jobs, sizeof *is_started);
    kk_optimizer_ask(j->optimizer, j->candidates);
    for (int i = 1; i < j->o->jobs; i++) {
        is_started[i] = pthread_create(&thread[i], NULL, work, &j->worker[i]) == 0;
    }
    for (int i = 0; i < j->o->jobs; i++) {
        if (!is_started[i]) {
            work(&j->worker[i]);
        }
    }
    for (int i = 1; i < j->o->jobs; i++) {
        if (is_started[i]) {
            pthread_join(thread[i], NULL);
        }
    }
    kk_optimizer_tell(j->optimizer, j->cost);
    free(thread);
    free(is_started);
}

// ---- the result

/// The best controls, fine enough that straight lines between rows do.
static int write_best(const job *j) {
    enum { ROWS = 20 }; // a knot
    if (!j->o->out) {
        return 0;
    }
    kk_error error = {0};
    worker *w = &j->worker[0];
    kk_table_column *column = cli_allocate((size_t)j->actuator_count + 1, sizeof *column);
    cli_text *label = cli_allocate((size_t)j->actuator_count + 1, sizeof *label);
    double *row = cli_allocate((size_t)j->actuator_count + 1, sizeof *row);
    column[0] = (kk_table_column){"time", "s"};
    for (int a = 0; a < j->actuator_count; a++) {
        actuator_label(j->m.model, j->actuator[a], &label[a]);
        column[1 + a] = (kk_table_column){text_string(&label[a]), ""};
    }
    kk_table_writer *writer = NULL;
    error.status = kk_table_writer_open(j->o->out, column, j->actuator_count + 1, NULL, NULL, &writer, &error);
    w->sequence = controls_of(j, j->best, &error);
    const int rows = ROWS * ((int)j->o->knots - 1);
    for (int i = 0; i <= rows && !error.status; i++) {
        row[0] = j->o->time * i / rows;
        set_controls(w, row[0], row + 1);
        for (int a = 0; a < j->actuator_count; a++) {
            row[1 + a] = w->control[j->actuator[a]];
        }
        error.status = kk_table_writer_add(writer, row, &error);
    }
    const kk_status closed = kk_table_writer_close(writer, error.status ? NULL : &error);
    error.status = error.status ? error.status : closed;
    kk_sequence_free(w->sequence);
    for (int a = 0; a < j->actuator_count; a++) {
        text_free(&label[a]);
    }
    free(label);
    free(column);
    free(row);
    return error.status ? cli_fail_error(j->c, &error) : 0;
}

static int tell(const job *j, double cost, double seconds) {
    const char *what = j->o->maximize ? j->o->maximize : j->o->minimize;
    const int population = kk_optimizer_population(j->optimizer), generations = kk_optimizer_generation(j->optimizer);
    if (!j->c->common.json) {
        cli_text out = {0};
        const bool is_plain = j->o->effort == 0; // the cost is then the value, or its negative
        text_format(&out, "%s%s%s: %s%.6g\n", cli_style(j->c, CLI_BOLD), what, cli_style(j->c, CLI_PLAIN),
                    is_plain ? "" : "cost ", is_plain && j->o->maximize ? -cost : cost);
        text_format(&out, "  searched      %d parameters, %d generations of %d, %.3g s\n", j->n, generations,
                    population, seconds);
        if (j->o->out) {
            text_format(&out, "  controls      %s — play them by karakuri run %s -t %g --control %s --allow-missing\n",
                        j->o->out, j->m.name, j->o->time, j->o->out);
        }
        return cli_print(j->c, &out);
    }
    json_writer json = {0};
    cli_begin_document(j->c, &json);
    json_string(&json, "model", j->m.name);
    json_string(&json, "goal", what);
    json_number(&json, "cost", cost);
    json_integer(&json, "generations", generations);
    json_integer(&json, "population", population);
    json_integer(&json, "parameters", j->n);
    json_numbers(&json, "best", j->best, (size_t)j->n);
    json_string(&json, "out", j->o->out);
    return cli_end_document(j->c, &json);
}

static int search(job *j) {
    cli_progress progress = {0};
    const double start = cli_now();
    cli_catch_interrupts();
    for (int g = 0; g < j->o->generations && !cli_is_interrupted(); g++) {
        run_generation(j);
        cli_progress_show(j->c, &progress, "searching", (size_t)g + 1, (size_t)j->o->generations);
    }
    const double cost = kk_optimizer_best(j->optimizer, j->best);
    if (cost >= 1e300) {
        const kk_error *e = &j->worker[0].error;
        return cli_fail(j->c, CLI_EXIT_FINDING, "no candidate could be simulated to its end: %s",
                        e->text[0] ? e->text : "each ran away");
    }
    int code = write_best(j);
    const int end = cli_end_interrupted(j->c, code, "the best so far is kept");
    code = code ? code : tell(j, cost, cli_now() - start);
    return code ? code : end;
}

static void release(job *j) {
    for (int i = 0; j->worker && i < j->o->jobs; i++) {
        kk_state_free(j->worker[i].state);
        kk_simulator_free(j->worker[i].simulator);
        kk_data_free(j->worker[i].data);
        free(j->worker[i].control);
    }
    kk_optimizer_free(j->optimizer);
    kk_state_free(j->start);
    free(j->worker);
    free(j->actuator);
    free(j->lower);
    free(j->upper);
    free(j->knot_time);
    free(j->candidates);
    free(j->cost);
    free(j->best);
    unload_model(&j->m);
}

static int run(cli *c, const void *options) {
    job j = {.c = c, .o = options};
    if (j.o->on) {
        return python_become(c, "optimize");
    }
    int code = load_model(c, j.o->model, &j.m);
    if (code) {
        return code;
    }
    code = find_goal(&j);
    code = code ? code : choose_actuators(&j);
    code = code ? code : make_start(&j);
    code = code ? code : make_workers(&j);
    code = code ? code : make_optimizer(&j);
    code = code ? code : search(&j);
    release(&j);
    return code;
}

static const char *const details[] = {
    "Each chosen actuator's control is a cubic spline through a few knots, and the search finds these. CMA-ES is the "
    "better one where the cost changes smoothly "
    "with the controls, the genetic algorithm where it has many valleys. The same seed finds the same controls on "
    "every machine, with any number of jobs.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri optimize arm.xml -t 6 --limit 150 --maximize end:hand.z -o up.csv", "a swing-up"},
    {"karakuri optimize robot.xml -t 1 --maximize max:trunk.z --effort 0.01 -o jump.csv", "a jump"},
    {NULL, NULL},
};

const cli_verb cli_verb_optimize = {
    .name = "optimize",
    .about = "search controls that reach a goal",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(optimize_options),
    .defaults = &defaults,
    .run = run,
};
