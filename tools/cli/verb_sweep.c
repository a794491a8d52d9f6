// karakuri sweep STUDY: a model with many sets of parameters, on one machine or many. Python does it (python/karakuri/sweep); this table is for help,
// completion and misuse.
#include "cli.h"
#include "python.h"

typedef struct sweep_options {
    const char *study, *out, *on, *shard, *csv;
    int64_t workers;
    bool merge, plot;
} sweep_options;

static const cli_option arguments[] = {
    {.name = "STUDY",
     .kind = CLI_FILE,
     .is_required = true,
     .offset = offsetof(sweep_options, study),
     .about = "a TOML file, or a Python module that sets 'study'"},
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "out",
     .letter = 'o',
     .kind = CLI_FOLDER,
     .offset = offsetof(sweep_options, out),
     .value = "FOLDER",
     .about = "where journals and results go; without it STUDY without its ending"},
    {.name = "on",
     .kind = CLI_TEXT,
     .offset = offsetof(sweep_options, on),
     .value = "ENGINE",
     .about = "processes[:N] (default), serial, ray[:ADDRESS], dask[:ADDRESS], mpi"},
    {.name = "workers",
     .letter = 'j',
     .kind = CLI_COUNT,
     .offset = offsetof(sweep_options, workers),
     .value = "N",
     .low = 1,
     .high = 1e5,
     .about = "of an engine on this machine; without it all processors"},
    {.name = "shard",
     .kind = CLI_TEXT,
     .offset = offsetof(sweep_options, shard),
     .value = "I/N",
     .about = "run part I of N, counted from 0; without it as SLURM_ARRAY_TASK_ID, or JOB_COMPLETION_INDEX and "
              "KARAKURI_SHARDS say"},
    {.name = "merge",
     .kind = CLI_FLAG,
     .offset = offsetof(sweep_options, merge),
     .about = "run nothing: merge the journals of all shards"},
    {.name = "csv",
     .kind = CLI_FILE,
     .offset = offsetof(sweep_options, csv),
     .value = "FILE",
     .about = "write the results as a table as well"},
    {.name = "plot",
     .kind = CLI_FLAG,
     .offset = offsetof(sweep_options, plot),
     .about = "draw each scalar over each parameter"},
    {.name = NULL},
};

static int run(cli *c, const void *options) {
    (void)options;
    return python_become(c, "sweep");
}

static const char *const details[] = {
    "A study names a model, parameters with their ranges or values, a design (grid, random, latin, sobol), how long to "
    "simulate, and what to record. Blocks of points go to an engine; what comes back goes to a journal. Kill it at any "
    "moment and give the same command again: nothing is lost, nothing is run twice, and the result is the same to the "
    "last bit, on any engine, in any number of shards.",
    "It needs Python 3.11 with the package karakuri-dynamics; KARAKURI_PYTHON names another than python3.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri sweep study.toml", "on all processors of this machine"},
    {"karakuri sweep study.toml --on ray:auto", "on the Ray cluster that this machine belongs to"},
    {"karakuri sweep study.toml --shard 3/16", "one of sixteen parts, on any machine; then --merge"},
    {NULL, NULL},
};

const cli_verb cli_verb_sweep = {
    .name = "sweep",
    .about = "run a study: a model with many sets of parameters, on one machine or many",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(sweep_options),
    .run = run,
};
