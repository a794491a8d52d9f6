// karakuri export REC --csv: a recording as a table.
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "shared_options.h"
#include "tape.h"

typedef struct export_options {
    const char *recording, *model, *out;
    int64_t every, from, to;
    bool csv;
} export_options;

static const export_options defaults = {.every = 1, .to = -1};

static const cli_option arguments[] = {
    {.name = "RECORDING",
     .kind = CLI_FILE,
     .is_required = true,
     .offset = offsetof(export_options, recording),
     .about = "a recording of 'karakuri run --out'"},
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "csv",
     .kind = CLI_FLAG,
     .offset = offsetof(export_options, csv),
     .about = "as a CSV table, which is the only format so far"},
    {.name = "out",
     .letter = 'o',
     .kind = CLI_FILE,
     .offset = offsetof(export_options, out),
     .value = "FILE",
     .about = "table to write; without it the standard output"},
    OPTION_RECORDED_MODEL(
        export_options,
        "the model, where it is no longer where it was recorded from: it gives the columns their names"),
    {.name = "every",
     .kind = CLI_COUNT,
     .offset = offsetof(export_options, every),
     .value = "N",
     .low = 1,
     .high = 1e9,
     .about = "every so many steps (default 1)"},
    {.name = "from",
     .kind = CLI_COUNT,
     .offset = offsetof(export_options, from),
     .value = "STEP",
     .low = 0,
     .high = 1e15,
     .about = "first step"},
    {.name = "to",
     .kind = CLI_COUNT,
     .offset = offsetof(export_options, to),
     .value = "STEP",
     .low = 0,
     .high = 1e15,
     .about = "last step"},
    {.name = NULL},
};

static int write_output(void *user, const char *bytes, size_t size) {
    return fwrite(bytes, 1, size, user) != size;
}

static kk_status open_writer(const export_options *o, const column_list *columns, kk_table_writer **writer,
                             kk_error *error) {
    return o->out && strcmp(o->out, "-") != 0
               ? kk_table_writer_open(o->out, columns->item, columns->count, NULL, NULL, writer, error)
               : kk_table_writer_create(write_output, stdout, columns->item, columns->count, NULL, NULL, writer, error);
}

static int check_range(cli *c, const export_options *o, const tape *t) {
    if (o->from > 0 && o->from >= t->info.steps) {
        return cli_fail(c, CLI_EXIT_USAGE, "--from: the recording has steps 0 … %lld", (long long)t->info.steps - 1);
    }
    return o->to >= 0 && o->from > o->to ? cli_fail(c, CLI_EXIT_USAGE, "--from is behind --to") : 0;
}

static int write_steps(cli *c, const export_options *o, tape *t, const column_list *columns, int64_t *rows) {
    kk_error error = {0};
    kk_table_writer *writer = NULL;
    double *row = cli_allocate((size_t)columns->count, sizeof *row);
    const int64_t last = o->to >= 0 && o->to < t->info.steps ? o->to : t->info.steps - 1;
    error.status = open_writer(o, columns, &writer, &error);
    for (int64_t i = o->from; i <= last && !error.status; i += o->every) {
        kk_recording_frame f;
        error.status = kk_recording_get_frame(t->recording, i, &f, &error);
        if (!error.status) {
            tape_row(&t->info, &f, row);
            error.status = kk_table_writer_add(writer, row, &error);
            (*rows)++;
        }
    }
    kk_error closing = {0};
    closing.status = kk_table_writer_close(writer, &closing);
    free(row);
    return error.status ? cli_fail_error(c, &error) : closing.status ? cli_fail_error(c, &closing) : 0;
}

/// The names come from the model; where it cannot be had, numbers have to do.
static int find_model(cli *c, const export_options *o, tape *t, cli_model *m) {
    *m = (cli_model){0};
    if (o->model) {
        return tape_load_model(c, t, o->model, m);
    }
    if (tape_finds_model(t)) {
        return tape_load_model(c, t, NULL, m);
    }
    cli_note(c, "the model '%s' is not there: columns are numbered — name it with --model", text_string(&t->model));
    return 0;
}

static int tell(const cli *c, const export_options *o, const column_list *columns, int64_t rows) {
    if (!c->common.json) {
        return CLI_EXIT_OK;
    }
    json_writer json = {0};
    cli_begin_document(c, &json);
    json_string(&json, "out", o->out);
    json_integer(&json, "rows", rows);
    json_begin_array(&json, "columns");
    for (int i = 0; i < columns->count; i++) {
        json_string(&json, NULL, columns->item[i].name);
    }
    json_end(&json);
    return cli_end_document(c, &json);
}

static int run(cli *c, const void *options) {
    const export_options *o = options;
    tape t;
    cli_model m;
    if (c->common.json && (!o->out || strcmp(o->out, "-") == 0)) {
        return cli_fail(c, CLI_EXIT_USAGE,
                        "--json and the table cannot both go to the standard output — give --out FILE");
    }
    int code = tape_read(c, o->recording, &t);
    if (code) {
        return code;
    }
    code = check_range(c, o, &t);
    code = code ? code : find_model(c, o, &t, &m);
    if (!code) {
        column_list columns = {0};
        int64_t rows = 0;
        tape_columns(m.model, &t.info, &columns);
        code = write_steps(c, o, &t, &columns, &rows);
        code = code ? code : tell(c, o, &columns, rows);
        columns_free(&columns);
        unload_model(&m);
    }
    tape_free(&t);
    return code;
}

static const char *const details[] = {
    "A row for every step: time, coordinates, velocities and controls by the names of joints and actuators, and the "
    "figures of the step's report. Numbers are written so that they read back exactly.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri export run.kkr --csv --out run.csv", "the whole recording"},
    {"karakuri export run.kkr --csv --every 10 | karakuri plot - -y 'energy.*'", "a plot of the energy"},
    {NULL, NULL},
};

const cli_verb cli_verb_export = {
    .name = "export",
    .about = "write a recording as a table",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(export_options),
    .defaults = &defaults,
    .run = run,
};
