// karakuri run MODEL --time T: simulates, records, logs.
#include <stdlib.h>
#include <string.h>

#include "cause.h"
#include "cli.h"
#include "control/wire.h"
#include "ledger.h"
#include "load.h"
#include "motion.h"
#include "pool.h"
#include "render/parallel.h"
#include "shared_options.h"
#include "spread.h"
#include "tape.h"

typedef struct run_options {
    const char *model, *control, *keyframe, *out, *log, *controller;
    double time, dt, tolerance, patience;
    double restitution_speed, correction;
    int64_t budget, workers, every, key_every, newton, room;
    int solver, integrator, law, following;
    bool explicit_servos;
    bool ignore_extra, allow_missing, strict;
} run_options;

static const run_options defaults = {.workers = 1, .every = 1, .key_every = 256, .patience = 10};

/// In the order of kk_solver.
static const char *const solvers[] = {"exact", "openhrp", "springhead", "kuroda", NULL};

/// The model's, then in the order of kk_integrator.
static const char *const integrators[] = {"model", "midpoint", "rk4", NULL};

/// In the order of kk_restitution_law.
static const char *const laws[] = {"sequential", "newton", "poisson", NULL};

/// In the order of kk_detection.
static const char *const followings[] = {"path", "step", "overlap", NULL};

static const cli_option arguments[] = {
    ARGUMENT_MODEL(run_options),
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "time",
     .letter = 't',
     .kind = CLI_NUMBER,
     .is_required = true,
     .offset = offsetof(run_options, time),
     .value = "T",
     .low = 1e-9,
     .high = 1e9,
     .about = "how long to simulate, in s"},
    OPTION_DT(run_options, "time step, in s; without it the model's"),
    OPTION_CONTROL(run_options,
                   "CSV table of controls: a column time, and one for each actuator, named by it or by its joint"),
    {.name = "controller",
     .kind = CLI_TEXT,
     .offset = offsetof(run_options, controller),
     .value = "COMMAND",
     .about =
         "another program that is asked for the controls before every step, in lock step (docs/guide/controller.md)"},
    {.name = "patience",
     .kind = CLI_NUMBER,
     .offset = offsetof(run_options, patience),
     .value = "S",
     .low = 1e-3,
     .high = 1e9,
     .about = "how long to wait for an answer of the controller, in s (default 10)"},
    OPTION_KEYFRAME(run_options, "start from this keyframe of the model; without it with every joint at zero"),
    {.name = "budget",
     .kind = CLI_COUNT,
     .offset = offsetof(run_options, budget),
     .value = "N",
     .low = 1,
     .high = 1e6,
     .about = "real-time mode: so many sweeps of the contact solver in every step and no more"},
    {.name = "workers",
     .kind = CLI_COUNT,
     .offset = offsetof(run_options, workers),
     .value = "N",
     .low = 1,
     .high = POOL_MOST,
     .about = "threads that share a step's work; the result is the same to the last bit"},
    {.name = "solver",
     .kind = CLI_CHOICE,
     .offset = offsetof(run_options, solver),
     .value = "NAME",
     .about = "exact, the default; openhrp, springhead, kuroda: the methods of the papers, for comparison",
     .choices = solvers},
    {.name = "tolerance",
     .kind = CLI_NUMBER,
     .offset = offsetof(run_options, tolerance),
     .value = "SPEED",
     .low = 1e-15,
     .high = 1,
     .about = "largest residual of a step, in m/s; of what closes faster than 1 m/s, relative to it (default 1e-9)"},
    {.name = "integrator",
     .kind = CLI_CHOICE,
     .offset = offsetof(run_options, integrator),
     .value = "NAME",
     .about = "midpoint, or rk4 where nothing is held; without it the model's. Such a recording needs the same model",
     .choices = integrators},
    {.name = "restitution",
     .kind = CLI_CHOICE,
     .offset = offsetof(run_options, law),
     .value = "LAW",
     .about = "impacts at one instant: sequential, the default; newton or poisson: all at once",
     .choices = laws},
    {.name = "restitution-speed",
     .kind = CLI_NUMBER,
     .offset = offsetof(run_options, restitution_speed),
     .value = "SPEED",
     .low = 1e-12,
     .high = 1e6,
     .about = "slower impacts do not bounce, in m/s (default 0.01)"},
    {.name = "correction",
     .kind = CLI_NUMBER,
     .offset = offsetof(run_options, correction),
     .value = "LENGTH",
     .low = 1e-12,
     .high = 1e6,
     .about = "most by which a step takes overlap back, in m (default 0.01)"},
    {.name = "follow",
     .kind = CLI_CHOICE,
     .offset = offsetof(run_options, following),
     .value = "HOW",
     .about = "fast bodies: along their path, the default; step: where a step finds them; overlap: the same, and with "
              "--budget only what overlaps touches",
     .choices = followings},
    {.name = "contacts",
     .kind = CLI_COUNT,
     .offset = offsetof(run_options, room),
     .value = "N",
     .low = 1,
     .high = 1e6,
     .about = "room for contact points at the start; without it chosen from the shapes"},
    {.name = "newton",
     .kind = CLI_COUNT,
     .offset = offsetof(run_options, newton),
     .value = "N",
     .low = 1,
     .high = 1e6,
     .about = "Newton iterations of an island at most; a step that this cuts short is taken as it is, and told"},
    {.name = "explicit-servos",
     .kind = CLI_FLAG,
     .offset = offsetof(run_options, explicit_servos),
     .about = "servos and dampers push with the force of the step's start, as in other engines"},
    {.name = "strict",
     .kind = CLI_FLAG,
     .offset = offsetof(run_options, strict),
     .about = "end with the first step that cannot be certified; without it such a step is taken with the best answer "
              "there is, and counted"},
    {.name = "out",
     .letter = 'o',
     .kind = CLI_FILE,
     .offset = offsetof(run_options, out),
     .value = "FILE.kkr",
     .about = "recording to write, for replay and export; - for the standard output"},
    {.name = "key-every",
     .kind = CLI_COUNT,
     .offset = offsetof(run_options, key_every),
     .value = "N",
     .low = 1,
     .high = 1e6,
     .about = "steps from one whole state in the recording to the next (default 256)"},
    {.name = "log",
     .letter = 'l',
     .kind = CLI_FILE,
     .offset = offsetof(run_options, log),
     .value = "FILE.csv",
     .about =
         "CSV table to write: coordinates, velocities, controls and figures of the steps; - for the standard output"},
    {.name = "every",
     .kind = CLI_COUNT,
     .offset = offsetof(run_options, every),
     .value = "N",
     .low = 1,
     .high = 1e9,
     .about = "log every so many steps (default 1)"},
    OPTION_IGNORE_EXTRA(run_options, "skip columns of the controls that no actuator has"),
    {.name = "allow-missing",
     .kind = CLI_FLAG,
     .offset = offsetof(run_options, allow_missing),
     .about = "keep actuators without a column as they are at the start"},
    {.name = NULL},
};

/// The worst of all steps.
typedef struct figures {
    double residual, residual_time, penetration, overlap, wall;
    int contacts;
    int64_t steps, hit_iteration_limit, degraded, held;
    spread times; ///< of single steps
    ledger ledger;
} figures;

/// The first steps that were not certified, which are told one by one.
enum { MOST_TOLD = 5 };
typedef struct finding {
    double time;
    kk_report report;
} finding;

typedef struct job {
    cli *c;
    const run_options *o;
    cli_model m;
    kk_state *state;
    kk_simulator *simulator;
    kk_step_options options;
    pool pool;
    int keyframe;
    motion motion;
    wire wire;
    double *control, *readings;
    kk_recorder *recorder;
    kk_table_writer *log;
    column_list columns;
    double *row;
    figures f;
    finding found[MOST_TOLD];
    cli_text cause; ///< of the first step that was not certified; empty: none stands out
    double open_by; ///< the widest gap of a loop at the start, in m
    double beyond;  ///< how far a joint is beyond its limit at the start, rad or m
    int beyond_dof;
} job;

// ---- making ready

static int make_state(job *j) {
    kk_error error = {0};
    error.status = kk_state_create(j->m.model, NULL, &j->state);
    if (!error.status && j->keyframe >= 0) {
        error.status = kk_state_set_keyframe(j->m.model, j->state, j->keyframe);
    } else if (!error.status) {
        kk_couplings_apply(j->m.model, kk_state_q(j->state), kk_state_v(j->state));
    }
    if (!error.status) {
        j->options = (kk_step_options){.solver = (kk_solver)j->o->solver,
                                       .timestep = j->o->dt,
                                       .tolerance = j->o->tolerance,
                                       .effort = j->o->budget   ? KK_EFFORT_SWEEPS
                                                 : j->o->newton ? KK_EFFORT_NEWTON
                                                                : KK_EFFORT_TOLERANCE,
                                       .iterations = (int)(j->o->budget ? j->o->budget : j->o->newton),
                                       .restitution_law = (kk_restitution_law)j->o->law,
                                       .restitution_speed = j->o->restitution_speed,
                                       .correction = j->o->correction,
                                       .detection = (kk_detection)j->o->following,
                                       .explicit_servos = j->o->explicit_servos,
                                       .strict = j->o->strict};
        if (j->o->workers > 1) {
            j->options.workers = pool_open(&j->pool, (int)j->o->workers);
        }
        error.status = kk_simulator_create(j->m.model, &j->options, NULL, &j->simulator, &error);
    }
    return error.status ? cli_fail_error(j->c, &error) : 0;
}

static bool is_stdout(const char *path) {
    return path && strcmp(path, "-") == 0;
}

/// A file's path: "-" is the standard output, and the summary goes to the standard error then.
static const char *output_of(const char *path) {
    return is_stdout(path) ? "/dev/stdout" : path;
}

static int open_recording(job *j) {
    kk_error error = {0};
    cli_text note = {0};
    if (!j->o->out) {
        return 0;
    }
    tape_note(j->c, j->o->model, &note);
    const kk_recorder_def def = {.key_every = (int)j->o->key_every, .note = text_string(&note), .options = j->options};
    error.status = kk_recorder_open(output_of(j->o->out), j->m.model, j->state, &def, NULL, &j->recorder, &error);
    text_free(&note);
    return error.status ? cli_fail_error(j->c, &error) : 0;
}

static kk_recording_info info_of(const kk_model *m) {
    return (kk_recording_info){.nq = kk_model_nq(m), .nv = kk_model_nv(m), .ncontrol = kk_model_nactuator(m)};
}

static int open_log(job *j) {
    kk_error error = {0};
    if (!j->o->log) {
        return 0;
    }
    const kk_recording_info info = info_of(j->m.model);
    tape_columns(j->m.model, &info, &j->columns);
    j->row = cli_allocate((size_t)j->columns.count, sizeof *j->row);
    error.status =
        kk_table_writer_open(output_of(j->o->log), j->columns.item, j->columns.count, NULL, NULL, &j->log, &error);
    return error.status ? cli_fail_error(j->c, &error) : 0;
}

/// A residual above this, m/s, is one that can be seen.
static const double COARSE = 1e-4;

/// What is allowed, but hardly what was meant.
static void remark(const job *j) {
    const int processors = parallel_processors();
    if (j->o->tolerance > COARSE) {
        cli_note(j->c, "--tolerance %g lets what rests creep, sink and lean by up to %g m/s; %g does not show",
                 j->o->tolerance, j->o->tolerance, 0.01 * COARSE);
    }
    if (j->o->workers > processors) {
        cli_note(j->c, "--workers %lld on %d processors: they wait for each other, and %d are faster",
                 (long long)j->o->workers, processors, processors);
    }
}

static double timestep_of(const job *j) {
    return j->o->dt > 0 ? j->o->dt : kk_model_options(j->m.model).timestep;
}

static int start_controller(job *j) {
    j->readings = cli_allocate((size_t)kk_model_nsensordata(j->m.model) + 1, sizeof *j->readings);
    int code = wire_check(j->c, j->m.model);
    if (code) {
        return code;
    }
    wire_open(j->m.model, j->o->patience, &j->wire);
    code = wire_start(j->c, &j->wire, j->o->controller);
    if (!code) {
        wire_greet(&j->wire, timestep_of(j)); // where that fails the first question does, too, and tells
    }
    return code;
}

static int make_ready(job *j) {
    const motion_options columns = {j->o->ignore_extra, j->o->allow_missing};
    int code = load_keyframe(j->c, j->m.model, j->o->keyframe, &j->keyframe);
    code = code ? code : make_state(j);
    j->open_by = code ? 0 : ledger_gap(&j->m, j->state);
    j->beyond = code ? 0 : ledger_overshoot(&j->m, j->state, &j->beyond_dof);
    code = code ? code : motion_open(j->c, j->m.model, j->state, j->keyframe, j->o->control, columns, &j->motion);
    j->control = cli_allocate((size_t)kk_model_nactuator(j->m.model) + 1, sizeof *j->control);
    code = code || !j->o->controller ? code : start_controller(j);
    code = code ? code : open_recording(j);
    return code ? code : open_log(j);
}

// ---- steps

static void add_cause(const job *j, int body, const char *before, cli_text *out) {
    cli_text cause = {0};
    cause_describe(&j->m, j->state, timestep_of(j), body, &cause);
    if (cause.size) {
        text_format(out, "%s%s", before, text_string(&cause));
    }
    text_free(&cause);
}

/// Counts a step that is not certified.
static void take_quality(job *j, const kk_report *r) {
    if (r->quality == KK_STEP_CERTIFIED) {
        return;
    }
    const int64_t before = j->f.degraded + j->f.held;
    if (before == 0 && (r->flaw == KK_FLAW_ENERGY || r->flaw == KK_FLAW_RANGE || r->quality == KK_STEP_HELD)) {
        add_cause(j, r->flaw_body[0], "", &j->cause);
    }
    if (before < MOST_TOLD) {
        j->found[before] = (finding){kk_state_time(j->state), *r};
    }
    j->f.degraded += r->quality == KK_STEP_DEGRADED;
    j->f.held += r->quality == KK_STEP_HELD;
}

static void take_figures(figures *f, const kk_report *r, double time) {
    f->penetration = r->penetration > f->penetration ? r->penetration : f->penetration;
    f->overlap = r->overlap > f->overlap ? r->overlap : f->overlap;
    f->contacts = r->contacts > f->contacts ? r->contacts : f->contacts;
    f->hit_iteration_limit += r->hit_iteration_limit != 0;
    if (r->residual > f->residual) {
        f->residual = r->residual;
        f->residual_time = time;
    }
    f->steps++;
}

static int log_step(job *j, const kk_report *r) {
    kk_error error = {0};
    const kk_recording_info info = info_of(j->m.model);
    if (j->recorder) {
        error.status = kk_recorder_add(j->recorder, j->state, j->control, r, &error);
    }
    if (!error.status && j->log && (j->f.steps - 1) % j->o->every == 0) {
        const kk_recording_frame frame = {.time = kk_state_time(j->state),
                                          .q = kk_state_q_const(j->state),
                                          .v = kk_state_v_const(j->state),
                                          .control = j->control,
                                          .residual = r->residual,
                                          .cone = r->cone,
                                          .signorini = r->signorini,
                                          .penetration = r->penetration,
                                          .kinetic = r->kinetic_after,
                                          .constraint_work = r->constraint_work,
                                          .contacts = r->contacts,
                                          .sweeps = r->sweeps,
                                          .newton = r->newton};
        tape_row(&info, &frame, j->row);
        error.status = kk_table_writer_add(j->log, j->row, &error);
    }
    return error.status ? cli_fail_error(j->c, &error) : 0;
}

/// Loops that are far open and joints far beyond their limits are why most first steps fail: few robots can have the pose of all zeros.
static void hint_at_keyframes(const job *j, cli_text *hint) {
    static const double FAR_OPEN = 1e-3, FAR_BEYOND = 1e-2;
    if (j->open_by >= FAR_OPEN) {
        text_format(hint, " — loops were open by up to %.2g m at the start; start where they are closed", j->open_by);
    } else if (j->beyond >= FAR_BEYOND) {
        text_format(hint, " — \"%s\" was %.2g beyond its limit at the start; start within limits",
                    ledger_joint(&j->m, j->beyond_dof), j->beyond);
    } else {
        return;
    }
    if (kk_model_nkeyframe(j->m.model) > 0) {
        text_add(hint, kk_model_nkeyframe(j->m.model) == 1 ? ", with --keyframe " : ", with --keyframe and one of ");
        list_keyframes(j->m.model, hint);
    }
}

/// Why first steps are degraded, where that is known.
static void hint_at_start(const job *j) {
    cli_text hint = {0};
    hint_at_keyframes(j, &hint);
    if (j->f.degraded + j->f.held > 0 && *text_string(&hint)) {
        cli_note(j->c, "steps were degraded%s", text_string(&hint));
    }
    text_free(&hint);
}

/// A step that cannot be solved is a finding; what came before it is kept.
static int fail_step(const job *j, const kk_error *error) {
    char time[KK_NUMBER_TEXT_SIZE];
    cli_text hint = {0};
    kk_number_format(kk_state_time(j->state), time);
    hint_at_keyframes(j, &hint);
    add_cause(j, cause_body_of_message(&j->m, error->text), " — ", &hint);
    const int code = cli_fail(j->c, CLI_EXIT_FINDING, "the step at time %s s failed: %s%s", time,
                              error->text[0] ? error->text : kk_status_text(error->status), text_string(&hint));
    text_free(&hint);
    return code;
}

/// A controller that is gone ends the run; what came before it is kept.
static int fail_controller(const job *j) {
    char time[KK_NUMBER_TEXT_SIZE];
    kk_number_format(kk_state_time(j->state), time);
    return cli_fail(j->c, CLI_EXIT_FINDING, "the controller '%s' %s, at time %s s after %lld steps", j->o->controller,
                    j->wire.lost, time, (long long)j->f.steps);
}

/// The controls of the next step: of the table, then of the controller.
static int ask(job *j) {
    kk_error error = {0};
    motion_at(&j->motion, kk_state_time(j->state), j->control);
    if (!j->o->controller) {
        return 0;
    }
    if (j->f.steps > 0 && kk_model_nsensordata(j->m.model) > 0) {
        error.status = kk_simulator_read_sensors(j->simulator, j->state, 0, j->readings, &error);
    }
    if (error.status) {
        return cli_fail_error(j->c, &error);
    }
    const bool answers = wire_exchange(&j->wire, j->state, j->readings, j->control, NULL, NULL);
    return answers || cli_is_interrupted() ? 0 : fail_controller(j);
}

static int step(job *j) {
    kk_error error = {0};
    const int asked = ask(j);
    if (asked || cli_is_interrupted()) {
        return asked;
    }
    const kk_input input = {.control = j->control};
    const double start = cli_now();
    error.status = kk_step(j->m.model, j->state, j->simulator, &input, &error);
    if (error.status) {
        return fail_step(j, &error);
    }
    spread_add(&j->f.times, cli_now() - start);
    const kk_report report = *kk_simulator_report(j->simulator);
    take_quality(j, &report);
    take_figures(&j->f, &report, kk_state_time(j->state));
    ledger_add(&j->f.ledger, &j->m, j->state, &report);
    return log_step(j, &report);
}

static int step_on(job *j, int64_t steps) {
    cli_progress progress = {0};
    const double start = cli_now();
    int code = 0;
    cli_catch_interrupts();
    for (int64_t i = 0; i < steps && !code && !cli_is_interrupted(); i++) {
        code = step(j);
        if (i % 16 == 0) {
            cli_progress_show(j->c, &progress, "simulating", (size_t)i, (size_t)steps);
        }
    }
    cli_progress_show(j->c, &progress, "simulating", (size_t)steps, (size_t)steps);
    j->f.wall = cli_now() - start;
    return code;
}

static int64_t count_steps(const job *j) {
    return (int64_t)(j->o->time / timestep_of(j) + 0.5);
}

static int check_outputs(const job *j) {
    const int to_stdout = is_stdout(j->o->out) + is_stdout(j->o->log) + j->c->common.json;
    return to_stdout < 2 || (!is_stdout(j->o->out) && !is_stdout(j->o->log))
               ? 0
               : cli_fail(j->c, CLI_EXIT_USAGE, "only one of --out -, --log - and --json can have the standard output");
}

static int check_time(const job *j) {
    return count_steps(j) > 0 ? 0
                              : cli_fail(j->c, CLI_EXIT_USAGE,
                                         "--time: %g s is not even half a step of %g s — simulate longer, or give --dt",
                                         j->o->time, timestep_of(j));
}

// ---- telling

/// A file that could not be written was told of once: closing it would say the same.
static int close_files(job *j, int code) {
    kk_error error = {0};
    error.status = kk_recorder_close(j->recorder, &error);
    code = !code && error.status ? cli_fail_error(j->c, &error) : code;
    error.status = kk_table_writer_close(j->log, &error);
    return !code && error.status ? cli_fail_error(j->c, &error) : code;
}

static const char *flaw_unit(kk_flaw flaw) {
    static const char *const units[KK_FLAW_COUNT] = {"", "m/s", "J", "N s", "s", "", "", "rad or m"};
    return units[flaw];
}

/// What fell short, where and by how much.
static void describe_flaw(const job *j, const kk_report *r, cli_text *out) {
    text_add(out, kk_flaw_name(r->flaw));
    if (flaw_unit(r->flaw)[0]) {
        text_format(out, " %.3g %s", r->flaw_amount, flaw_unit(r->flaw));
    }
    for (int i = 0; i < 2 && r->flaw_body[i] >= 0 && (i == 0 || r->flaw_body[1] != r->flaw_body[0]); i++) {
        text_format(out, "%s\"%s\"", i ? " and " : " at ", kk_model_body_name(j->m.model, r->flaw_body[i]));
    }
}

static void print_findings(const job *j, cli_text *out) {
    const int64_t count = j->f.degraded + j->f.held;
    if (!count) {
        return;
    }
    text_format(out, "  %snot certified%s %lld of %lld steps", cli_style(j->c, CLI_RED), cli_style(j->c, CLI_PLAIN),
                (long long)count, (long long)j->f.steps);
    text_format(out, j->f.held ? ", in %lld of them something was held still\n" : "\n", (long long)j->f.held);
    for (int64_t i = 0; i < count && i < MOST_TOLD; i++) {
        text_format(out, "    at %.6g s: ", j->found[i].time);
        describe_flaw(j, &j->found[i].report, out);
        text_add(out, "\n");
    }
    if (j->cause.size) {
        text_format(out, "    likely: %s\n", text_string(&j->cause));
    }
    if (count > MOST_TOLD) {
        text_format(out, "    … and %lld more\n", (long long)(count - MOST_TOLD));
    }
}

/// Whether the energy is the engine's to answer for: the papers' methods and budgets promise nothing.
static bool is_audited(const job *j) {
    return j->o->solver == KK_SOLVER_EXACT && !j->o->budget;
}

static bool has_gained(const job *j) {
    return is_audited(j) && ledger_has_gained(&j->f.ledger, kk_state_time(j->state));
}

/// The body whose joint moves by more than 1 rad or m a step at the end; -1: none. What does so has run away.
static int runaway(const job *j) {
    double fastest = 1 / timestep_of(j);
    int body = -1;
    for (int b = 1; b < kk_model_nbody(j->m.model); b++) {
        const kk_joint_info joint = kk_model_joint(j->m.model, b);
        for (int k = 0; k < joint.nv; k++) {
            const double v = kk_state_v_const(j->state)[joint.v_index + k], size = v < 0 ? -v : v;
            if (size > fastest) {
                fastest = size;
                body = b;
            }
        }
    }
    return body;
}

static void print_runaway(const job *j, cli_text *out) {
    const int body = runaway(j);
    cli_text cause = {0};
    if (body >= 0) {
        cause_describe(&j->m, j->state, timestep_of(j), body, &cause);
        text_format(out, "  %sruns away%s     %s\n", cli_style(j->c, CLI_RED), cli_style(j->c, CLI_PLAIN),
                    text_string(&cause));
    }
    text_free(&cause);
}

static void print_term(cli_text *out, const char *what, double value) {
    const double size = value < 0 ? -value : value;
    if (size > 0) {
        text_format(out, "                  %-44s %+.4g J\n", what, value);
    }
}

/// Total energy, and where it came from and went.
static void print_ledger(const job *j, cli_text *out) {
    const ledger *l = &j->f.ledger;
    text_format(out, "  energy        in all %.6g J at the start, %.6g J at the end\n", l->start, l->end);
    print_term(out, "actuators", l->actuators);
    print_term(out, "applied forces", l->applied);
    print_term(out, "moving surfaces", l->moved);
    print_term(out, "dampers, friction, limits and impacts", -l->dissipated);
    print_term(out, "numerical damping", -l->damping);
    print_term(out, "taking back overlap and open loops", l->correction);
    print_term(out, "integration error", l->error);
    if (has_gained(j)) {
        text_format(out, "  %senergy from nowhere%s %.4g J, of %.4g J that moved\n", cli_style(j->c, CLI_RED),
                    cli_style(j->c, CLI_PLAIN), l->error, l->most_kinetic + l->work);
    }
    if (l->overshoot > 1e-9) {
        text_format(out, "  limits        \"%s\" %.3g beyond, at %.4g s\n", ledger_joint(&j->m, l->overshoot_dof),
                    l->overshoot, l->overshoot_time);
    }
    if (kk_spec_loop_count(j->m.spec) > 0) {
        text_format(out, "  loops         open by at most %.3g m, %.3g m at the end\n", l->widest_gap, l->last_gap);
    }
}

static void print_summary(const job *j, double dt, cli_text *out) {
    const figures *f = &j->f;
    const double simulated = (double)f->steps * dt;
    text_format(out, "%s%s%s\n", cli_style(j->c, CLI_BOLD), j->m.name, cli_style(j->c, CLI_PLAIN));
    text_format(out, "  simulated     %.6g s in %lld steps of %.4g s\n", simulated, (long long)f->steps, dt);
    text_format(out, "  took          %.3g s: %.4g × real time, %.3g µs a step\n", f->wall,
                f->wall > 0 ? simulated / f->wall : 0, f->steps ? 1e6 * f->wall / (double)f->steps : 0);
    text_format(out, "  a step        half of them within %.3g µs, 99 %% within %.3g µs, the longest %.3g µs\n",
                1e6 * spread_quantile(&f->times, 0.5), 1e6 * spread_quantile(&f->times, 0.99), 1e6 * f->times.worst);
    text_format(out, "  residual      at most %.3g m/s, at %.4g s\n", f->residual, f->residual_time);
    if (f->hit_iteration_limit) {
        text_format(out, "  unfinished    %lld steps, by the %s\n", (long long)f->hit_iteration_limit,
                    j->o->solver && !j->o->budget ? "solver's own bounds" : "budget");
    }
    print_findings(j, out);
    text_format(out, "  contacts      at most %d, penetration %.3g m, at the end of a step %.3g m\n", f->contacts,
                f->penetration, f->overlap);
    print_ledger(j, out);
    print_runaway(j, out);
    text_format(out, "  state         %016llx\n", (unsigned long long)kk_state_hash(j->state));
}

static void write_findings(const job *j, json_writer *json) {
    json_begin_array(json, "findings");
    for (int64_t i = 0; i < j->f.degraded + j->f.held && i < MOST_TOLD; i++) {
        const kk_report *r = &j->found[i].report;
        json_begin_object(json, NULL);
        json_number(json, "time", j->found[i].time);
        json_string(json, "quality", r->quality == KK_STEP_HELD ? "held" : "degraded");
        json_string(json, "flaw", kk_flaw_name(r->flaw));
        json_string(json, "stage", kk_stage_name(r->flaw_stage));
        json_number(json, "amount", r->flaw_amount);
        json_string(json, "unit", flaw_unit(r->flaw));
        json_begin_array(json, "bodies");
        for (int k = 0; k < 2 && r->flaw_body[k] >= 0; k++) {
            json_string(json, NULL, kk_model_body_name(j->m.model, r->flaw_body[k]));
        }
        json_end(json);
        json_end(json);
    }
    json_end(json);
}

static void write_ledger(const job *j, json_writer *json) {
    const ledger *l = &j->f.ledger;
    json_number(json, "energy_before", l->start);
    json_number(json, "energy_after", l->end);
    json_begin_object(json, "energy");
    json_number(json, "actuators", l->actuators);
    json_number(json, "applied", l->applied);
    json_number(json, "moved", l->moved);
    json_number(json, "dissipated", l->dissipated);
    json_number(json, "numerical_damping", l->damping);
    json_number(json, "correction", l->correction);
    json_number(json, "integration_error", l->error);
    json_bool(json, "from_nowhere", has_gained(j));
    json_end(json);
    json_number(json, "worst_overshoot", l->overshoot);
    json_string(json, "worst_overshoot_joint", l->overshoot > 0 ? ledger_joint(&j->m, l->overshoot_dof) : NULL);
    json_number(json, "widest_loop_gap", l->widest_gap);
    json_number(json, "last_loop_gap", l->last_gap);
}

static int write_summary(const job *j, double dt) {
    const figures *f = &j->f;
    json_writer json = {0};
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)kk_state_hash(j->state));
    cli_begin_document(j->c, &json);
    json_string(&json, "model", j->m.name);
    json_string(&json, "solver", kk_solver_name((kk_solver)j->o->solver));
    json_integer(&json, "steps", f->steps);
    json_number(&json, "timestep", dt);
    json_number(&json, "time", kk_state_time(j->state));
    json_number(&json, "wall_seconds", f->wall);
    json_number(&json, "real_time_factor", f->wall > 0 ? (double)f->steps * dt / f->wall : 0);
    json_number(&json, "worst_residual", f->residual);
    json_number(&json, "worst_residual_time", f->residual_time);
    json_number(&json, "worst_penetration", f->penetration);
    json_number(&json, "worst_overlap_at_end", f->overlap);
    json_integer(&json, "most_contacts", f->contacts);
    json_integer(&json, "hit_iteration_limit", f->hit_iteration_limit);
    json_integer(&json, "degraded", f->degraded);
    json_integer(&json, "held", f->held);
    write_findings(j, &json);
    json_string(&json, "likely_cause", j->cause.size ? text_string(&j->cause) : NULL);
    json_number(&json, "median_step_seconds", spread_quantile(&f->times, 0.5));
    json_number(&json, "p99_step_seconds", spread_quantile(&f->times, 0.99));
    json_number(&json, "worst_step_seconds", f->times.worst);
    write_ledger(j, &json);
    json_string(&json, "state_hash", hash);
    json_string(&json, "recording", j->o->out);
    json_string(&json, "log", j->o->log);
    return cli_end_document(j->c, &json);
}

static int tell(const job *j, double dt) {
    if (j->c->common.json) {
        return write_summary(j, dt);
    }
    cli_text out = {0};
    print_summary(j, dt, &out);
    if (is_stdout(j->o->out) || is_stdout(j->o->log)) {
        cli_put(stderr, text_string(&out));
        text_free(&out);
        return 0;
    }
    return cli_print(j->c, &out);
}

static void release(job *j) {
    columns_free(&j->columns);
    text_free(&j->cause);
    free(j->row);
    free(j->control);
    free(j->readings);
    wire_close(&j->wire);
    motion_free(&j->motion);
    kk_simulator_free(j->simulator);
    if (j->options.workers.run) {
        pool_close(&j->pool);
    }
    kk_state_free(j->state);
    unload_model(&j->m);
}

/// What belongs to the model: its integrator, and room for contacts.
static int change_model(job *j) {
    kk_options *o = kk_spec_options(j->m.spec);
    if (!j->o->integrator && !j->o->room) {
        return 0;
    }
    o->integrator = j->o->integrator ? (kk_integrator)(j->o->integrator - 1) : o->integrator;
    o->max_contacts = j->o->room ? (int)j->o->room : o->max_contacts;
    return load_again(j->c, &j->m);
}

static int run(cli *c, const void *options) {
    job j = {.c = c, .o = options};
    int code = load_model(c, j.o->model, &j.m);
    code = code ? code : change_model(&j);
    if (code) {
        return code;
    }
    code = check_time(&j);
    code = code ? code : check_outputs(&j);
    remark(&j);
    code = code ? code : make_ready(&j);
    code = code ? code : step_on(&j, count_steps(&j));
    code = close_files(&j, code);
    const int end = cli_end_interrupted(c, code, "recording and log hold what was simulated until then");
    code = code ? code : tell(&j, timestep_of(&j));
    hint_at_start(&j);
    code = !code && (j.f.degraded + j.f.held > 0 || has_gained(&j)) ? CLI_EXIT_FINDING : code;
    release(&j);
    return end == CLI_EXIT_INTERRUPTED || end == CLI_EXIT_TERMINATED ? end : code ? code : end;
}

static const char *const details[] = {
    "Every step is proved to the tolerance, or taken with the best answer that bounded effort finds, counted and told: "
    "what falls short, where and by how much. The exit code is 0 only where every step was certified and no energy "
    "came from nowhere. With --strict "
    "the "
    "run ends with the first step that cannot be, the reason, and a recording up to there. With --budget a step takes "
    "a "
    "bounded time instead, and the summary says how often that cut it short.",
    "With --solver the methods of the papers run instead of ours; they end where they end, and the residual says how "
    "far that "
    "is from the exact law. --budget is then their number of sweeps.",
    "Controls follow straight lines between the rows of the table and stay at the last one. Without a table actuators "
    "keep the controls of the keyframe; without that, too, position servos hold where they are, and others do nothing.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri run robot.xml --time 5 --keyframe home --out run.kkr", "from a keyframe, with a recording"},
    {"karakuri run robot.urdf --floor --servos -t 2 -l log.csv --every 10", "a bare URDF file on a floor"},
    {"karakuri run robot.xml -t 10 --control motion.csv", "with controls from a table"},
    {NULL, NULL},
};

const cli_verb cli_verb_run = {
    .name = "run",
    .about = "simulate: with controls from a table, into a recording and a log",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(run_options),
    .defaults = &defaults,
    .run = run,
};
