// karakuri identify MODEL LOG -p mass:thigh …: masses, friction and gains of a robot from a log of it.
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "columns.h"
#include "load.h"
#include "save.h"
#include "shared_options.h"
#include "suggest.h"
#include "tape.h"

typedef struct identify_options {
    const char *model, *log, *keyframe, *out;
    cli_list parameters;
    int method;
    double window;
    int64_t rounds;
} identify_options;

enum { METHOD_BOTH, METHOD_REGRESSOR, METHOD_SEARCH };
static const char *const methods[] = {"both", "regressor", "search", NULL};

static const cli_option arguments[] = {
    ARGUMENT_MODEL(identify_options),
    {.name = "LOG",
     .kind = CLI_FILE,
     .is_required = true,
     .offset = offsetof(identify_options, log),
     .about = "CSV table: time, JOINT.q, and where they were measured JOINT.v and JOINT.tau; ACTUATOR.u of controls"},
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "parameter",
     .letter = 'p',
     .kind = CLI_TEXT,
     .is_required = true,
     .is_list = true,
     .offset = offsetof(identify_options, parameters),
     .value = "KIND:NAME",
     .about = "what to find, again for more: mass:BODY, damping:JOINT, friction:JOINT, stiffness:JOINT, "
              "armature:JOINT, gain:ACTUATOR; JOINT:1 is the second degree of a joint"},
    {.name = "method",
     .letter = 'm',
     .kind = CLI_CHOICE,
     .offset = offsetof(identify_options, method),
     .value = "METHOD",
     .choices = methods,
     .about = "regressor, search, or both, the second from where the first ends (default)"},
    OPTION_KEYFRAME(identify_options, "the robot starts at rest in this keyframe; without it as the first rows say"),
    {.name = "window",
     .kind = CLI_NUMBER,
     .offset = offsetof(identify_options, window),
     .value = "SECONDS",
     .about = "over which the log is smoothed for velocities and accelerations; without it 15 rows",
     .low = 0,
     .high = 1e3},
    {.name = "rounds",
     .kind = CLI_COUNT,
     .offset = offsetof(identify_options, rounds),
     .value = "N",
     .about = "of the search, at most (default 30)",
     .low = 1,
     .high = 1000},
    {.name = "out",
     .letter = 'o',
     .kind = CLI_FILE,
     .offset = offsetof(identify_options, out),
     .value = "FILE",
     .about = "where to write the model with what was found, .urdf or .xml"},
    {.name = NULL},
};

static const identify_options defaults = {.rounds = 30};

// ---- parameters

typedef struct job {
    cli *c;
    const identify_options *o;
    cli_model m;
    kk_table *table;
    kk_measurement log;
    double *time, *q, *v, *tau, *control, *start;
    kk_parameter *parameter;
    double *before;
    int count;
    kk_identification found;
} job;

static int read_kind(const char *word, size_t length, kk_parameter_type *type) {
    for (int i = 0; i < KK_PARAMETER_TYPES; i++) {
        const char *name = kk_parameter_type_name((kk_parameter_type)i);
        if (strlen(name) == length && strncmp(name, word, length) == 0) {
            *type = (kk_parameter_type)i;
            return 1;
        }
    }
    return 0;
}

static int read_parameter(job *j, const char *word, kk_parameter *p) {
    const char *colon = strchr(word, ':');
    if (!colon || !colon[1] || !read_kind(word, (size_t)(colon - word), &p->type)) {
        return cli_fail(j->c, CLI_EXIT_USAGE,
                        "--parameter %s is none — give KIND:NAME with mass, damping, friction, stiffness, armature or "
                        "gain",
                        word);
    }
    char *name = cli_copy(colon + 1), *dof = strrchr(name, ':');
    if (dof && dof[1] >= '0' && dof[1] <= '5' && !dof[2]) {
        p->dof = dof[1] - '0';
        *dof = 0;
    }
    p->name = name;
    return 0;
}

static int read_parameters(job *j) {
    kk_error error = {0};
    int code = 0;
    j->parameter = cli_allocate((size_t)j->o->parameters.count + 1, sizeof *j->parameter);
    j->before = cli_allocate((size_t)j->o->parameters.count + 1, sizeof *j->before);
    for (; j->count < j->o->parameters.count && !code; j->count++) {
        code = read_parameter(j, j->o->parameters.item[j->count], &j->parameter[j->count]);
    }
    if (!code && kk_parameters_read(j->m.spec, j->parameter, j->count, &error)) {
        code = cli_fail_error(j->c, &error);
    }
    for (int i = 0; i < j->count; i++) {
        j->before[i] = j->parameter[i].value;
    }
    return code;
}

// ---- the log

static void take_column(const job *j, int column, double *rows, int width, int k) {
    for (int i = 0; i < j->log.count; i++) {
        rows[(size_t)i * (size_t)width + (size_t)k] = kk_table_row(j->table, (size_t)i)[column];
    }
}

/// Columns of all joints of a kind. @return how many of them the table has
static int take_joints(const job *j, column_kind kind, double *rows, int width) {
    column_list list = {0};
    int found = 0;
    columns_of_joints(j->m.model, kind, column_word(kind), &list);
    for (int k = 0; k < list.count; k++) {
        const int column = kk_table_find_column(j->table, list.item[k].name);
        if (column >= 0) {
            take_column(j, column, rows, width, k);
            found++;
        }
    }
    columns_free(&list);
    return found;
}

static int take_controls(const job *j) {
    cli_text name = {0};
    int found = 0;
    for (int i = 0; i < j->log.controls; i++) {
        actuator_label(j->m.model, i, &name);
        text_add(&name, ".u");
        const int column = kk_table_find_column(j->table, text_string(&name));
        if (column >= 0) {
            take_column(j, column, j->control, j->log.controls, i);
            found++;
        }
    }
    text_free(&name);
    return found;
}

static int fail_log(const job *j, const char *text) {
    kk_error error = {.status = KK_NOT_FOUND, .line = kk_table_header_line(j->table)};
    snprintf(error.file, sizeof error.file, "%s", j->o->log);
    snprintf(error.text, sizeof error.text, "%s", text);
    return cli_fail_error(j->c, &error);
}

/// Where the robot starts: every coordinate without a column stays there.
static int take_start(job *j) {
    int k;
    const int code = load_keyframe(j->c, j->m.model, j->o->keyframe, &k);
    kk_model_start(j->m.model, j->start);
    if (!code && k >= 0) {
        memcpy(j->start, kk_model_keyframe(j->m.model, k).q, (size_t)j->log.coordinates * sizeof *j->start);
        j->log.start_q = j->start;
        j->log.start_v = j->start + j->log.coordinates; // zeros
    }
    for (int i = 0; i < j->log.count && !code; i++) {
        memcpy(j->q + (size_t)i * (size_t)j->log.coordinates, j->start, (size_t)j->log.coordinates * sizeof *j->q);
    }
    return code;
}

static int take_log(job *j) {
    const kk_model *m = j->m.model;
    const size_t rows = kk_table_row_count(j->table), nq = (size_t)kk_model_nq(m), nv = (size_t)kk_model_nv(m),
                 nu = (size_t)kk_model_nactuator(m);
    j->log = (kk_measurement){.count = (int)rows, .coordinates = (int)nq, .velocities = (int)nv, .controls = (int)nu};
    j->time = cli_allocate(rows + 1, sizeof(double));
    j->q = cli_allocate(rows * nq + 1, sizeof(double));
    j->v = cli_allocate(rows * nv + 1, sizeof(double));
    j->tau = cli_allocate(rows * nv + 1, sizeof(double));
    j->control = cli_allocate(rows * nu + 1, sizeof(double));
    j->start = cli_allocate(nq + nv + 1, sizeof(double));
    const int time = kk_table_find_column(j->table, "time");
    if (time < 0) {
        return fail_log(j, "there is no column 'time' — add it, in s");
    }
    take_column(j, time, j->time, 1, 0);
    const int code = take_start(j);
    if (code || !take_joints(j, COLUMN_Q, j->q, (int)nq)) {
        return code ? code : fail_log(j, "there is no column of a joint's coordinate, JOINT.q");
    }
    j->log.time = j->time;
    j->log.q = j->q;
    j->log.v = take_joints(j, COLUMN_V, j->v, (int)nv) ? j->v : NULL;
    j->log.tau = take_joints(j, COLUMN_TAU, j->tau, (int)nv) ? j->tau : NULL;
    j->log.control = take_controls(j) ? j->control : NULL;
    return 0;
}

static int read_log(job *j) {
    kk_error error = {0};
    error.status = kk_table_read_file(j->o->log, NULL, NULL, &j->table, &error);
    return error.status ? cli_fail_error(j->c, &error) : take_log(j);
}

// ---- finding

static int find(job *j) {
    const kk_identify_options options = {.window = j->o->window, .iterations = (int)j->o->rounds};
    kk_error error = {0};
    if (j->o->method != METHOD_SEARCH &&
        kk_identify_by_regressor(j->m.spec, &j->log, &options, j->parameter, j->count, &j->found, &error)) {
        return cli_fail_error(j->c, &error);
    }
    for (int i = 0; i < j->count && j->o->method == METHOD_BOTH; i++) {
        kk_parameter *p = &j->parameter[i]; // what noise made of it may be no start
        p->value = p->value > 0.1 * j->before[i] ? p->value : 0.1 * j->before[i];
    }
    if (j->o->method != METHOD_REGRESSOR &&
        kk_identify_by_search(j->m.spec, &j->log, &options, j->parameter, j->count, &j->found, &error)) {
        return cli_fail_error(j->c, &error);
    }
    return 0;
}

static int write_model(job *j) {
    kk_error error = {0};
    if (!j->o->out) {
        return 0;
    }
    if (kk_parameters_write(j->m.spec, j->parameter, j->count, &error)) {
        return cli_fail_error(j->c, &error);
    }
    return save_spec(j->c, j->m.spec, j->o->out, SAVE_BY_NAME);
}

// ---- telling

static int write_json(const job *j) {
    json_writer json = {0};
    cli_begin_document(j->c, &json);
    json_begin_array(&json, "parameters");
    for (int i = 0; i < j->count; i++) {
        const kk_parameter *p = &j->parameter[i];
        json_begin_object(&json, NULL);
        json_string(&json, "kind", kk_parameter_type_name(p->type));
        json_string(&json, "name", p->name);
        json_integer(&json, "dof", p->dof);
        json_number(&json, "model", j->before[i]);
        json_number(&json, "found", p->value);
        json_number(&json, "deviation", p->deviation);
        json_end(&json);
    }
    json_end(&json);
    json_number(&json, "residual", j->found.residual);
    json_integer(&json, "rounds", j->found.iterations);
    json_integer(&json, "simulations", j->found.simulations);
    const int code = cli_end_document(j->c, &json);
    json_free(&json);
    return code;
}

static int tell(const job *j) {
    cli_text out = {0};
    if (j->c->common.json) {
        return write_json(j);
    }
    text_format(&out, "%s  %-40s %12s %12s %12s%s\n", cli_style(j->c, CLI_BOLD), "parameter", "model", "found", "±",
                cli_style(j->c, CLI_PLAIN));
    for (int i = 0; i < j->count; i++) {
        const kk_parameter *p = &j->parameter[i];
        text_format(&out, "  %-9s %-30s %12.5g %12.5g %12.2g\n", kk_parameter_type_name(p->type), p->name, j->before[i],
                    p->value, p->deviation);
    }
    text_format(&out, "\n  left          %.2f %% of what the numbers go through, in the mean\n",
                100 * j->found.residual);
    if (j->found.simulations) {
        text_format(&out, "  search        %d rounds, %d simulations\n", j->found.iterations, j->found.simulations);
    }
    if (j->o->out) {
        text_format(&out, "  model         %s\n", j->o->out);
    }
    return cli_print(j->c, &out);
}

static void free_job(job *j) {
    double *const arrays[] = {j->time, j->q, j->v, j->tau, j->control, j->start, j->before};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        free(arrays[i]);
    }
    for (int i = 0; j->parameter && i < j->o->parameters.count; i++) {
        free((char *)j->parameter[i].name); // NOLINT: made by cli_copy
    }
    free(j->parameter);
    kk_table_free(j->table);
    unload_model(&j->m);
}

static int run(cli *c, const void *options) {
    job j = {.c = c, .o = options};
    int code = j.o->out ? save_check_other(c, j.o->model, j.o->out) : 0;
    code = code ? code : load_model(c, j.o->model, &j.m);
    if (code) {
        return code;
    }
    code = read_parameters(&j);
    code = code ? code : read_log(&j);
    code = code ? code : find(&j);
    code = code ? code : write_model(&j);
    code = code ? code : tell(&j);
    free_job(&j);
    return code;
}

static const char *const details[] = {
    "The regressor solves the equations of motion for the parameters, in which they are linear, with velocities and "
    "accelerations smoothed from the log. The search then simulates the robot under the log's controls and changes the "
    "parameters until the simulation runs as the log did.",
    "Controls are read from ACTUATOR.u, of the step that ends at the row. What moves in the log may touch nothing: "
    "hang "
    "a legged robot up, with --base fixed.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri identify robot.xml log.csv -p mass:shin -p friction:knee -p gain:knee --base fixed",
     "three numbers and their deviations"},
    {"karakuri identify robot.xml log.csv -p damping:knee --method regressor --out found.xml", "without a search"},
    {NULL, NULL},
};

const cli_verb cli_verb_identify = {
    .name = "identify",
    .about = "find masses, friction and gains from a log",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(identify_options),
    .defaults = &defaults,
    .run = run,
};
