// karakuri replay REC: what a recording holds, and whether this machine gives the same bits.
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "columns.h"
#include "load.h"
#include "shared_options.h"
#include "tape.h"

typedef struct replay_options {
    const char *recording, *model;
    bool verify;
    int64_t from;
} replay_options;

static const cli_option arguments[] = {
    {.name = "RECORDING",
     .kind = CLI_FILE,
     .is_required = true,
     .offset = offsetof(replay_options, recording),
     .about = "a recording of 'karakuri run --out'"},
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "verify",
     .letter = 'v',
     .kind = CLI_FLAG,
     .offset = offsetof(replay_options, verify),
     .about = "simulate again and compare the hash of the state after every step"},
    OPTION_RECORDED_MODEL(replay_options, "the model, where it is no longer where it was recorded from"),
    {.name = "from",
     .kind = CLI_COUNT,
     .offset = offsetof(replay_options, from),
     .value = "STEP",
     .low = 0,
     .high = 1e15,
     .about = "begin at the last whole state before this step"},
    {.name = NULL},
};

typedef struct job {
    cli *c;
    const replay_options *o;
    tape t;
    cli_model m;
    kk_state *state;
    kk_simulator *simulator;
    int64_t first, compared;
    int64_t differs; ///< step; −1: none
    cli_text what;   ///< that differs
} job;

// ---- verifying

/// The coordinate that differs most from the recorded one.
static void find_difference(job *j, const kk_recording_frame *f) {
    column_list names = {0};
    double most = 0;
    int at = -1;
    columns_of_joints(j->m.model, COLUMN_Q, column_word(COLUMN_Q), &names);
    for (int i = 0; i < j->t.info.nq; i++) {
        const double d = kk_state_q_const(j->state)[i] - f->q[i], size = d < 0 ? -d : d;
        if (size > most) {
            most = size;
            at = i;
        }
    }
    if (at >= 0 && at < names.count) {
        text_format(&j->what, "%s by %.3g", names.item[at].name, most);
    } else {
        text_add(&j->what, "velocities or what the solver remembers");
    }
    columns_free(&names);
}

static int compare_step(job *j, int64_t step) {
    kk_error error = {0};
    kk_recording_frame f;
    error.status = kk_recording_get_frame(j->t.recording, step, &f, &error);
    if (!error.status) {
        const kk_input input = {.control = f.control};
        error.status = kk_step(j->m.model, j->state, j->simulator, &input, &error);
    }
    if (error.status) {
        return cli_fail_error(j->c, &error);
    }
    j->compared++;
    if (kk_state_hash(j->state) != f.state_hash) {
        j->differs = step;
        find_difference(j, &f);
    }
    return 0;
}

static int compare_steps(job *j) {
    cli_progress progress = {0};
    const size_t total = (size_t)(j->t.info.steps - j->first);
    int code = 0;
    cli_catch_interrupts();
    for (int64_t i = j->first; i < j->t.info.steps && !code && j->differs < 0 && !cli_is_interrupted(); i++) {
        code = compare_step(j, i);
        if (i % 16 == 0) {
            cli_progress_show(j->c, &progress, "replaying", (size_t)(i - j->first), total);
        }
    }
    cli_progress_show(j->c, &progress, "replaying", total, total);
    return code;
}

static int verify(job *j) {
    kk_error error = {0};
    if (j->o->from > j->t.info.steps) {
        return cli_fail(j->c, CLI_EXIT_USAGE, "--from: the recording has only %lld steps", (long long)j->t.info.steps);
    }
    const int code = tape_load_model(j->c, &j->t, j->o->model, &j->m);
    if (code) {
        return code;
    }
    error.status = kk_state_create(j->m.model, NULL, &j->state);
    error.status =
        error.status ? error.status : kk_simulator_create(j->m.model, &j->t.info.options, NULL, &j->simulator, &error);
    error.status =
        error.status ? error.status : kk_recording_get_key(j->t.recording, j->o->from, j->state, &j->first, &error);
    return error.status ? cli_fail_error(j->c, &error) : compare_steps(j);
}

// ---- telling

static void describe(const job *j, cli_text *out) {
    const kk_recording_info *i = &j->t.info;
    text_format(out, "%s%s%s\n", cli_style(j->c, CLI_BOLD), j->o->recording, cli_style(j->c, CLI_PLAIN));
    text_format(out, "  model   %s (%016llx)\n", j->t.model.size ? text_string(&j->t.model) : "not told",
                (unsigned long long)i->model_hash);
    text_format(out, "  steps   %lld%s, a whole state every %d\n", (long long)i->steps,
                i->is_complete ? "" : " (it was cut)", i->key_every);
    text_format(out, "  sizes   %d coordinates, %d degrees of freedom, %d controls\n", i->nq, i->nv, i->ncontrol);
    if (j->o->verify && j->differs < 0 && !i->is_complete) {
        text_format(out, "  %sdamaged%s the %lld steps replayed have the same bits; the rest is lost\n",
                    cli_style(j->c, CLI_RED), cli_style(j->c, CLI_PLAIN), (long long)j->compared);
    } else if (j->o->verify && j->differs < 0) {
        text_format(out, "  %sgood%s    all %lld steps replayed have the same bits\n", cli_style(j->c, CLI_GREEN),
                    cli_style(j->c, CLI_PLAIN), (long long)j->compared);
    } else if (j->o->verify) {
        text_format(out, "  %sdifferent%s from step %lld on: %s\n", cli_style(j->c, CLI_RED),
                    cli_style(j->c, CLI_PLAIN), (long long)j->differs, text_string(&j->what));
    }
}

/// What was asked for holds: no difference, and when verifying nothing missing.
static bool is_good(const job *j) {
    return j->differs < 0 && (j->t.info.is_complete || !j->o->verify);
}

static void write(const job *j) {
    const kk_recording_info *i = &j->t.info;
    json_writer json = {0};
    cli_begin_verdict(j->c, &json, is_good(j));
    json_string(&json, "recording", j->o->recording);
    json_string(&json, "model", j->t.model.size ? text_string(&j->t.model) : NULL);
    json_integer(&json, "steps", i->steps);
    json_bool(&json, "complete", i->is_complete);
    json_integer(&json, "key_every", i->key_every);
    json_integer(&json, "nq", i->nq);
    json_integer(&json, "nv", i->nv);
    json_integer(&json, "controls", i->ncontrol);
    json_bool(&json, "verified", j->o->verify && is_good(j));
    json_integer(&json, "compared", j->compared);
    json_integer(&json, "differs_at", j->differs);
    json_string(&json, "difference", j->what.size ? text_string(&j->what) : NULL);
    cli_end_document(j->c, &json);
}

static int tell(const job *j) {
    if (j->c->common.json) {
        write(j);
    } else {
        cli_text out = {0};
        describe(j, &out);
        cli_print(j->c, &out);
    }
    return is_good(j) ? CLI_EXIT_OK : CLI_EXIT_FINDING;
}

static int run(cli *c, const void *options) {
    job j = {.c = c, .o = options, .differs = -1};
    int code = tape_read(c, j.o->recording, &j.t);
    if (!code) {
        code = j.o->verify ? verify(&j) : 0;
        code = code ? code : tell(&j);
        code = cli_end_interrupted(c, code, "what was compared until then is told");
        kk_simulator_free(j.simulator);
        kk_state_free(j.state);
        unload_model(&j.m);
        tape_free(&j.t);
    }
    text_free(&j.what);
    return code;
}

static const char *const details[] = {
    "Without --verify tells what a recording holds. With it, simulates again with the recorded controls and options "
    "and "
    "compares the whole state after every step, bit by bit, which holds on every machine. The exit code is 1 where it "
    "differs, and where the recording was cut or is damaged.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri replay run.kkr", "what is in it"},
    {"karakuri replay run.kkr --verify", "and whether it comes out the same here"},
    {NULL, NULL},
};

const cli_verb cli_verb_replay = {
    .name = "replay",
    .about = "show what a recording holds, and verify it bit by bit",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(replay_options),
    .run = run,
};
