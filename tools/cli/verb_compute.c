// karakuri compute MODEL --what …: quantities of many states, from a table to a table.
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "columns.h"
#include "load.h"
#include "quantities.h"
#include "shared_options.h"
#include "suggest.h"

typedef struct compute_options {
    const char *model, *states, *what, *out;
    double floor;
    int reference;
    bool ignore_extra, allow_nan;
} compute_options;

static const compute_options defaults = {.reference = 1};
static const char *const references[] = {"local", "world", "origin", NULL};

static const cli_option arguments[] = {
    ARGUMENT_MODEL(compute_options),
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "what",
     .letter = 'w',
     .kind = CLI_LIST,
     .is_required = true,
     .offset = offsetof(compute_options, what),
     .value = "LIST",
     .choices = quantity_names,
     .about = "what to compute, with commas between (see below)"},
    {.name = "states",
     .letter = 's',
     .kind = CLI_FILE,
     .offset = offsetof(compute_options, states),
     .value = "FILE",
     .about = "CSV table with a state in every row, - for the standard input; without it one state with every joint at "
              "zero"},
    {.name = "out",
     .letter = 'o',
     .kind = CLI_FILE,
     .offset = offsetof(compute_options, out),
     .value = "FILE",
     .about = "CSV table to write; without it the standard output"},
    OPTION_FLOOR_HEIGHT(compute_options, "height of the floor for zmp, in m (default 0)"),
    {.name = "reference",
     .kind = CLI_CHOICE,
     .offset = offsetof(compute_options, reference),
     .value = "FRAME",
     .choices = references,
     .about = "axes of velocities, accelerations and Jacobians: world (default; about the frame's origin), local, or "
              "origin (about the world's origin)"},
    OPTION_IGNORE_EXTRA(compute_options, "skip columns of the states that the model does not know"),
    {.name = "allow-nan",
     .kind = CLI_FLAG,
     .offset = offsetof(compute_options, allow_nan),
     .about = "write nan where a quantity is not defined (the zmp of a robot that flies), instead of stopping"},
    {.name = NULL},
};

/// One run.
typedef struct job {
    cli *c;
    const compute_options *o;
    cli_model m;
    quantity_list quantities;
    kk_table *states; ///< NULL: one state at zero
    int *given[4];    ///< [nq], [nv] …: column of the states + 1; 0: none
    int time;         ///< column; −1: none
    instant s;
    column_list columns;
    double *row;
    size_t normalized;
    // the output: a table, or a document
    kk_table_writer *writer;
    json_writer json;
} job;

// ---- the states' columns

static int size_of_kind(const job *j, int kind) {
    return kind == COLUMN_Q ? kk_model_nq(j->m.model) : kk_model_nv(j->m.model);
}

/// Finds each column that the model has in the table; tells which names the table lacks.
static int match_kind(job *j, int kind, bool *is_known, column_list *missing) {
    column_list names = {0};
    int found = 0;
    columns_of_joints(j->m.model, (column_kind)kind, column_word((column_kind)kind), &names);
    for (int i = 0; i < names.count; i++) {
        const int column = j->states ? kk_table_find_column(j->states, names.item[i].name) : -1;
        j->given[kind][i] = column + 1;
        if (column >= 0) {
            is_known[column] = true;
            found++;
        } else if (j->quantities.needs >> kind & 1) {
            columns_add(missing, names.item[i].name, "");
        }
    }
    columns_free(&names);
    return found;
}

/// For messages.
static const char *states_name(const job *j) {
    return strcmp(j->o->states, "-") == 0 ? "standard input" : j->o->states;
}

static int fail_extra(const job *j, int column) {
    const char *name = kk_table_column_name(j->states, column);
    suggestion near = suggest_begin(name);
    column_list all = {0};
    for (int kind = COLUMN_Q; kind <= COLUMN_TAU; kind++) {
        columns_of_joints(j->m.model, (column_kind)kind, column_word((column_kind)kind), &all);
    }
    suggest_word(&near, "time");
    for (int i = 0; i < all.count; i++) {
        suggest_word(&near, all.item[i].name);
    }
    kk_error error = {.status = KK_NOT_FOUND, .line = kk_table_header_line(j->states)};
    snprintf(error.file, sizeof error.file, "%s", states_name(j));
    if (near.best) {
        snprintf(error.text, sizeof error.text,
                 "the model knows no column '%s' — did you mean '%s'? (--ignore-extra skips it)", name, near.best);
    } else {
        snprintf(error.text, sizeof error.text,
                 "the model knows no column '%s' — columns are named like '%s'; --ignore-extra skips others", name,
                 all.count ? all.item[0].name : "time");
    }
    columns_free(&all);
    return cli_fail_error(j->c, &error);
}

static void note_missing(const job *j, const column_list *missing) {
    enum { SHOWN = 5 };
    if (missing->count == 0 || !j->states) {
        return;
    }
    cli_text names = {0};
    for (int i = 0; i < missing->count && i < SHOWN; i++) {
        text_format(&names, "%s%s", i ? ", " : "", missing->item[i].name);
    }
    cli_note(j->c, "%d column%s not in the states and taken as zero: %s%s", missing->count,
             missing->count == 1 ? " is" : "s are", text_string(&names), missing->count > SHOWN ? ", …" : "");
    text_free(&names);
}

static int match_columns(job *j) {
    const int columns = j->states ? kk_table_column_count(j->states) : 0;
    bool *is_known = cli_allocate((size_t)columns, sizeof *is_known);
    column_list missing = {0};
    for (int kind = COLUMN_Q; kind <= COLUMN_TAU; kind++) {
        j->given[kind] = cli_allocate((size_t)size_of_kind(j, kind), sizeof **j->given);
        match_kind(j, kind, is_known, &missing);
    }
    j->time = j->states ? kk_table_find_column(j->states, "time") : -1;
    int code = 0;
    for (int i = 0; i < columns && !code && !j->o->ignore_extra; i++) {
        const bool is_fine =
            is_known[i] || i == j->time || kk_log_is_aside(j->m.model, kk_table_column_name(j->states, i));
        code = is_fine ? 0 : fail_extra(j, i);
    }
    if (!code) {
        note_missing(j, &missing);
    }
    columns_free(&missing);
    free(is_known);
    return code;
}

static int read_stdin(job *j, const kk_table_options *options, kk_error *error) {
    cli_text text = {0};
    char block[65536];
    for (size_t n = fread(block, 1, sizeof block, stdin); n > 0; n = fread(block, 1, sizeof block, stdin)) {
        text_add_bytes(&text, block, n);
    }
    const kk_status status =
        kk_table_read_text("standard input", text_string(&text), text.size, options, NULL, &j->states, error);
    text_free(&text);
    return status;
}

static int read_states(job *j) {
    kk_error error = {0};
    if (!j->o->states) {
        return match_columns(j);
    }
    error.status = strcmp(j->o->states, "-") == 0 ? read_stdin(j, NULL, &error)
                                                  : kk_table_read_file(j->o->states, NULL, NULL, &j->states, &error);
    return error.status ? cli_fail_error(j->c, &error) : match_columns(j);
}

// ---- one state

/// Overwrites what the table gives.
static void take_given(const job *j, const double *row, int kind, double *to) {
    for (int i = 0; i < size_of_kind(j, kind); i++) {
        if (j->given[kind][i]) {
            to[i] = row[j->given[kind][i] - 1];
        }
    }
}

static void take_row(const job *j, const double *row) {
    double *const to[4] = {j->s.q, j->s.v, j->s.a, j->s.tau};
    for (int kind = COLUMN_Q; kind <= COLUMN_TAU; kind++) {
        take_given(j, row, kind, to[kind]);
    }
}

/// Followers of couplings move with their leaders unless the table gives them.
static void fill_state(const job *j, const double *row) {
    const size_t nv = (size_t)kk_model_nv(j->m.model);
    kk_model_neutral(j->m.model, j->s.q);
    memset(j->s.v, 0, nv * sizeof(double));
    memset(j->s.a, 0, nv * sizeof(double));
    memset(j->s.tau, 0, nv * sizeof(double));
    if (row) {
        take_row(j, row);
    }
    if (kk_model_ncoupling(j->m.model) > 0) {
        kk_couplings_apply(j->m.model, j->s.q, j->s.v);
        kk_couplings_apply(j->m.model, NULL, j->s.a);
        if (row) {
            take_row(j, row);
        }
    }
}

static int fail_row(const job *j, size_t row, kk_error *error) {
    if (j->states) {
        snprintf(error->file, sizeof error->file, "%s", states_name(j));
        error->line = kk_table_row_line(j->states, row);
    }
    return cli_fail_error(j->c, error);
}

/// Quaternions of logs are of unit length to a few digits: those within 1e-3 are scaled, others refused.
static int normalize(job *j, size_t row) {
    const int nq = kk_model_nq(j->m.model);
    double *unit = j->row; // free until the row is computed
    memcpy(unit, j->s.q, (size_t)nq * sizeof *unit);
    kk_normalize(j->m.model, unit);
    double largest = 0;
    bool is_far = false;
    for (int i = 0; i < nq; i++) {
        const double d = unit[i] > j->s.q[i] ? unit[i] - j->s.q[i] : j->s.q[i] - unit[i];
        is_far = is_far || !(d <= 1e-3);
        largest = d > largest ? d : largest;
    }
    if (is_far) {
        kk_error error = {0};
        error.status = kk_model_check_q(j->m.model, j->s.q, &error);
        return error.status ? fail_row(j, row, &error) : 0;
    }
    j->normalized += largest > 1e-9;
    memcpy(j->s.q, unit, (size_t)nq * sizeof *unit);
    return 0;
}

static int compute_quantity(const job *j, const quantity *x, size_t row) {
    kk_error error = {0};
    error.status = x->kind->compute(&j->s, x, j->row + x->first);
    if (error.status) {
        snprintf(error.text, sizeof error.text, "%s: %s", x->kind->name, kk_status_text(error.status));
        return fail_row(j, row, &error);
    }
    for (int i = x->first; i < x->first + x->count && !j->o->allow_nan; i++) {
        if (j->row[i] - j->row[i] != 0) {
            error.status = KK_NOT_FINITE;
            snprintf(error.text, sizeof error.text,
                     "%s is not defined in this state — leave %s out, or give --allow-nan", j->columns.item[i].name,
                     x->kind->name);
            return fail_row(j, row, &error);
        }
    }
    return 0;
}

static int write_row(job *j) {
    kk_error error = {0};
    if (j->writer) {
        error.status = kk_table_writer_add(j->writer, j->row, &error);
        return error.status ? cli_fail_error(j->c, &error) : 0;
    }
    json_numbers(&j->json, NULL, j->row, (size_t)j->columns.count);
    return 0;
}

static int compute_row(job *j, size_t row) {
    const double *given = j->states ? kk_table_row(j->states, row) : NULL;
    fill_state(j, given);
    int code = normalize(j, row);
    if (j->time >= 0 && given) {
        j->row[0] = given[j->time];
    }
    for (int i = 0; i < j->quantities.count && !code; i++) {
        code = compute_quantity(j, &j->quantities.item[i], row);
    }
    return code ? code : write_row(j);
}

static int compute_rows(job *j) {
    const size_t rows = j->states ? kk_table_row_count(j->states) : 1;
    cli_progress progress = {0};
    int code = 0;
    for (size_t i = 0; i < rows && !code; i++) {
        code = compute_row(j, i);
        if (i % 256 == 0) {
            cli_progress_show(j->c, &progress, "computing", i, rows);
        }
    }
    cli_progress_show(j->c, &progress, "computing", rows, rows);
    if (j->normalized && !code) {
        cli_note(j->c, "in %zu of %zu rows a quaternion was scaled to unit length", j->normalized, rows);
    }
    return code;
}

// ---- the output

static int write_stdout(void *user, const char *bytes, size_t size) {
    (void)user;
    return fwrite(bytes, 1, size, stdout) == size ? 0 : -1;
}

/// The numbers go to a file, to the standard output, or with --json and no file into the document.
static int open_output(job *j) {
    kk_error error = {0};
    kk_table_options options = kk_table_options_default();
    options.allow_not_finite = j->o->allow_nan;
    if (j->o->out && strcmp(j->o->out, "-") != 0) {
        error.status =
            kk_table_writer_open(j->o->out, j->columns.item, j->columns.count, &options, NULL, &j->writer, &error);
    } else if (!j->c->common.json) {
        error.status = kk_table_writer_create(write_stdout, NULL, j->columns.item, j->columns.count, &options, NULL,
                                              &j->writer, &error);
    }
    return error.status ? cli_fail_error(j->c, &error) : 0;
}

static void begin_document(job *j) {
    if (!j->c->common.json) {
        return;
    }
    cli_begin_document(j->c, &j->json);
    json_string(&j->json, "model", j->o->model);
    json_string(&j->json, "states", j->o->states);
    json_string(&j->json, "out", j->o->out);
    json_begin_array(&j->json, "columns");
    for (int i = 0; i < j->columns.count; i++) {
        json_begin_object(&j->json, NULL);
        json_string(&j->json, "name", j->columns.item[i].name);
        json_string(&j->json, "unit", j->columns.item[i].unit);
        json_end(&j->json);
    }
    json_end(&j->json);
    json_begin_array(&j->json, "rows");
}

static int close_output(job *j, int code) {
    kk_error error = {0};
    error.status = kk_table_writer_close(j->writer, &error);
    if (error.status && !code) {
        code = cli_fail_error(j->c, &error);
    }
    if (!code && j->c->common.json) {
        json_end(&j->json);
        json_integer(&j->json, "row_count", j->states ? (int64_t)kk_table_row_count(j->states) : 1);
        cli_end_document(j->c, &j->json);
    }
    return code;
}

// ---- the whole

static void make_columns(job *j) {
    if (j->time >= 0) {
        const char *unit = kk_table_column_unit(j->states, j->time);
        columns_add(&j->columns, "time", unit[0] ? unit : "s");
    }
    for (int i = 0; i < j->quantities.count; i++) {
        quantity *x = &j->quantities.item[i];
        x->first = j->columns.count;
        x->kind->columns(&j->s, x, &j->columns);
        x->count = j->columns.count - x->first;
    }
}

static void make_room(job *j) {
    const size_t nq = (size_t)kk_model_nq(j->m.model), nv = (size_t)kk_model_nv(j->m.model);
    static const kk_reference all[] = {KK_LOCAL, KK_WORLD_ALIGNED, KK_WORLD_ORIGIN};
    j->s = (instant){.model = j->m.model,
                     .data = j->m.data,
                     .q = cli_allocate(nq, sizeof(double)),
                     .v = cli_allocate(nv, sizeof(double)),
                     .a = cli_allocate(nv, sizeof(double)),
                     .tau = cli_allocate(nv, sizeof(double)),
                     .scratch = cli_allocate(j->quantities.needs_matrix ? nv * nv : nv, sizeof(double)),
                     .floor = j->o->floor,
                     .reference = all[j->o->reference]};
}

static void make_row(job *j) {
    const int nq = kk_model_nq(j->m.model);
    j->row = cli_allocate((size_t)(j->columns.count > nq ? j->columns.count : nq), sizeof *j->row);
}

static int check_matrix(const job *j) {
    return j->quantities.needs_matrix && !kk_data_has_matrices(j->m.data)
               ? cli_fail(j->c, CLI_EXIT_LIMIT, "crba: the model has %d degrees of freedom, over the limit of %d",
                          kk_model_nv(j->m.model), KK_MATRIX_LIMIT)
               : 0;
}

static int run_job(job *j) {
    int code = quantities_parse(j->c, j->m.model, j->o->what, &j->quantities);
    code = code ? code : check_matrix(j);
    code = code ? code : read_states(j);
    if (code) {
        return code;
    }
    make_room(j);
    make_columns(j);
    make_row(j);
    code = open_output(j);
    if (!code) {
        begin_document(j);
        code = compute_rows(j);
    }
    return close_output(j, code);
}

static void free_job(job *j) {
    double *const blocks[] = {j->s.q, j->s.v, j->s.a, j->s.tau, j->s.scratch, j->row};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        free(blocks[i]);
    }
    for (int kind = 0; kind < 4; kind++) {
        free(j->given[kind]);
    }
    json_free(&j->json);
    columns_free(&j->columns);
    quantities_free(&j->quantities);
    kk_table_free(j->states);
    unload_model(&j->m);
}

static int run(cli *c, const void *options) {
    job j = {.c = c, .o = options, .time = -1};
    int code = load_model(c, j.o->model, &j.m);
    code = code ? code : run_job(&j);
    free_job(&j);
    return code;
}

static const char *const details[] = {
    "Every row of the table of states is one state of the model: JOINT.q, JOINT.v, JOINT.a, JOINT.tau, and time, which "
    "is copied. Joints with "
    "several degrees of freedom have suffixes: BASE.q.qw … .qz, .x, .y, .z and BASE.v.wx … .vz for a free joint. "
    "Columns that are missing "
    "count as zero, with a note; columns that the model does not know are errors.",
    "SI units, angles in radians, quaternions (w, x, y, z), spatial vectors angular part first.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri compute robot:arm7 --states log.csv --what rnea,power --out torque.csv",
     "torque and power of a logged motion"},
    {"karakuri compute robot:humanoid36 -s walk.csv -w com,zmp,floor -o zmp.csv", "center of mass and ZMP"},
    {"karakuri compute robot:arm7 -w kinematics:link7,jacobian:link7 --json",
     "pose and Jacobian with every joint at zero"},
    {NULL, NULL},
};

const cli_verb cli_verb_compute = {
    .name = "compute",
    .about = "compute torques, accelerations, poses, ZMP, energies … of a table of states",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .terms_title = "QUANTITIES",
    .term = quantity_term,
    .examples = examples,
    .size = sizeof(compute_options),
    .defaults = &defaults,
    .run = run,
};
