// karakuri walk MODEL --steps plan.csv --out motion.csv: a walking pattern, and what comes of it in simulation.
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "columns.h"
#include "load.h"
#include "shared_options.h"
#include "walk_report.h"
#include "walker.h"

typedef struct walk_options {
    const char *model, *steps, *out, *left, *right, *keyframe, *report;
    double width, dt, step_time, double_support, lift, height, start, end, forward, inward, tolerance;
    bool simulate, stabilize, observe;
    int solver;
} walk_options;

static const char *const solvers[] = {"exact", "openhrp", "springhead", "kuroda", NULL};

static const walk_options defaults = {.width = 0.19, .dt = 0.005};

static const cli_option arguments[] = {
    {.name = "MODEL",
     .kind = CLI_MODEL,
     .is_required = true,
     .offset = offsetof(walk_options, model),
     .about = "a biped with a free base, and a frame x forward, z up in the middle of each sole"},
    {.name = NULL},
};

#define NUMBER(word, field, least, most, meaning)                                                              \
    {                                                                                                          \
        .name = word, .kind = CLI_NUMBER, .offset = offsetof(walk_options, field), .value = "X", .low = least, \
        .high = most, .about = meaning                                                                         \
    }

static const cli_option options_table[] = {
    {.name = "steps",
     .letter = 's',
     .kind = CLI_FILE,
     .offset = offsetof(walk_options, steps),
     .value = "PLAN.csv",
     .about = "a row for each step: forward, sideways, turn of the body (m, m, rad), or foot (0 left, 1 right), x, y, "
              "yaw of the "
              "sole; duration where it differs. Without it 19 steps forward, to the left, backward, to the right"},
    {.name = "out",
     .letter = 'o',
     .kind = CLI_FILE,
     .offset = offsetof(walk_options, out),
     .value = "MOTION.csv",
     .about = "CSV table of the motion to write: a column time, and one for each coordinate"},
    {.name = "simulate",
     .kind = CLI_FLAG,
     .offset = offsetof(walk_options, simulate),
     .about = "let position servos follow it"},
    {.name = "stabilize",
     .kind = CLI_FLAG,
     .offset = offsetof(walk_options, stabilize),
     .about = "with --simulate: bend the motion by what the feet feel"},
    {.name = "observe",
     .kind = CLI_FLAG,
     .offset = offsetof(walk_options, observe),
     .about = "with --stabilize: what the robot feels comes from noisy encoders (1e-4 rad), gyro (0.01 rad/s), "
              "accelerometer (0.05 m/s²) and force sensors (2 %), through an observer"},
    {.name = "solver",
     .kind = CLI_CHOICE,
     .offset = offsetof(walk_options, solver),
     .value = "METHOD",
     .choices = solvers,
     .about = "with --simulate: how forces of contact are found: exact (default), or the method of a paper, openhrp or "
              "springhead"},
    {.name = "report",
     .letter = 'r',
     .kind = CLI_FILE,
     .offset = offsetof(walk_options, report),
     .value = "FILE.html",
     .about = "with --simulate: a page with curves and figures to write"},
    {.name = "left",
     .kind = CLI_TEXT,
     .offset = offsetof(walk_options, left),
     .value = "FRAME",
     .about = "frame of the left sole (default left_sole)"},
    {.name = "right",
     .kind = CLI_TEXT,
     .offset = offsetof(walk_options, right),
     .value = "FRAME",
     .about = "frame of the right sole (default right_sole)"},
    OPTION_KEYFRAME(walk_options, "posture to start from; without it the first keyframe, or every joint at zero"),
    NUMBER("width", width, 1e-3, 10, "m between the middles of the soles (default 0.19)"),
    NUMBER("dt", dt, 1e-5, 1, "s between two rows of the motion (default 0.005); simulation has that of its steps"),
    NUMBER("step-time", step_time, 1e-3, 1000, "s of a step (default 0.9)"),
    NUMBER("double-support", double_support, 1e-3, 1000, "s of it on both feet (default 0.2)"),
    NUMBER("lift", lift, 1e-6, 10, "m that feet are lifted (default 0.05)"),
    NUMBER("height", height, 1e-3, 100, "m of the center of mass above the floor; without it as in the posture"),
    NUMBER("start", start, 1e-3, 1000, "s of standing before (default 1; 1.45 for the 19 steps)"),
    NUMBER("end", end, 1e-3, 1000, "s of standing after (default 1; 1.45 for the 19 steps)"),
    NUMBER("zmp-forward", forward, -1, 1, "m by which the ZMP is planned before the soles' middles"),
    NUMBER("zmp-inward", inward, -1, 1, "m by which it is planned towards the other foot"),
    NUMBER("tolerance", tolerance, 1e-15, 1, "with --simulate: largest residual of a step, in m/s (default 1e-9)"),
    {.name = NULL},
};

enum { NINETEEN = 19 };

// ---- the motion as a table

static int write_motion(cli *c, const kk_model *m, const kk_walk *walk, const char *path) {
    kk_error error = {0};
    kk_table_writer *writer = NULL;
    column_list columns = {0};
    columns_add(&columns, "time", "s");
    columns_of_joints(m, COLUMN_Q, "q", &columns);
    double *row = cli_allocate((size_t)columns.count + 1, sizeof *row);
    error.status = kk_table_writer_open(path, columns.item, columns.count, NULL, NULL, &writer, &error);
    for (int i = 0; i < kk_walk_frame_count(walk) && !error.status; i++) {
        const kk_walk_frame f = kk_walk_frame_at(walk, i);
        row[0] = f.time;
        memcpy(row + 1, f.q, (size_t)kk_model_nq(m) * sizeof *row);
        error.status = kk_table_writer_add(writer, row, &error);
    }
    const kk_status closed = writer ? kk_table_writer_close(writer, error.status ? NULL : &error) : KK_OK;
    error.status = error.status ? error.status : closed;
    free(row);
    columns_free(&columns);
    return error.status ? cli_fail_error(c, &error) : 0;
}

// ---- telling

static void print_pattern(const cli *c, const char *model, const walker_plan *plan, const kk_walk *w, cli_text *out) {
    const int last = kk_walk_frame_count(w) - 1;
    const kk_walk_frame a = kk_walk_frame_at(w, 0), b = kk_walk_frame_at(w, last);
    text_format(out, "%s%s%s\n", cli_style(c, CLI_BOLD), model, cli_style(c, CLI_PLAIN));
    text_format(out, "  pattern       %d steps in %.4g s, from (%.3f, %.3f) to (%.3f, %.3f) m\n", plan->count, b.time,
                a.com.x, a.com.y, b.com.x, b.com.y);
    text_format(out, "  its ZMP       within %.2g mm of the plan, that of the whole body\n",
                1e3 * kk_walk_zmp_error(w));
}

static int tell(cli *c, const walk_options *o, const walker_plan *plan, const kk_walk *w, const walker_result *r) {
    if (c->common.json) {
        json_writer json = {0};
        cli_begin_verdict(c, &json, !r || !r->fell);
        json_integer(&json, "steps", plan->count);
        json_integer(&json, "frames", kk_walk_frame_count(w));
        json_number(&json, "duration", kk_walk_frame_at(w, kk_walk_frame_count(w) - 1).time);
        json_number(&json, "zmp_error", kk_walk_zmp_error(w));
        if (r) {
            walk_write_json(&json, r);
        }
        const int code = cli_end_document(c, &json);
        json_free(&json);
        return code;
    }
    cli_text out = {0};
    print_pattern(c, o->model, plan, w, &out);
    if (r) {
        walk_print(c, r, &out);
    }
    if (o->out) {
        text_format(&out, "  motion        %s\n", o->out);
    }
    if (r && o->report) {
        text_format(&out, "\n  report        %s\n", o->report);
    }
    return cli_print(c, &out);
}

// ---- the verb

static walker_options options_from(const walk_options *o) {
    walker_options w = {.sole = {o->left, o->right},
                        .keyframe = o->keyframe,
                        .is_stabilized = o->stabilize,
                        .is_observed = o->observe,
                        .solver = (kk_solver)o->solver,
                        .tolerance = o->tolerance};
    w.noise = WALKER_USUAL_NOISE;
    w.walk = (kk_walk_options){.width = o->width,
                               .timestep = o->dt,
                               .step_time = o->step_time,
                               .double_support = o->double_support,
                               .lift = o->lift,
                               .start = o->start > 0 || o->steps ? o->start : 1.45,
                               .end = o->end > 0 || o->steps ? o->end : 1.45,
                               .height = o->height,
                               .zmp_forward = o->forward,
                               .zmp_inward = o->inward};
    return w;
}

static int simulate(cli *c, const walk_options *o, const kk_model *m, const walker_plan *plan, walker_result *r) {
    kk_error error = {0};
    walker_options w = options_from(o);
    walk_report *report = walk_report_create(c);
    w.walk.timestep = kk_model_options(m).timestep;
    w.watch = walk_report_watch;
    w.user = report;
    w.shows_progress = true;
    error.status = walker_run(c, m, &w, plan->step, plan->count, r, &error);
    int code = error.status ? cli_fail_error(c, &error) : 0;
    code = code || !o->report ? code : walk_write_page(c, o->report, o->model, report, r);
    walk_report_free(report);
    return code;
}

static int walk(cli *c, const walk_options *o, const kk_model *m, const walker_plan *plan) {
    kk_error error = {0};
    kk_walk *w = NULL;
    walker_result *r = cli_allocate(1, sizeof *r);
    const walker_options options = options_from(o);
    error.status = walker_pattern(m, &options, plan->step, plan->count, &w, &error);
    int code = error.status ? cli_fail_error(c, &error) : 0;
    code = code || !o->out ? code : write_motion(c, m, w, o->out);
    code = code || !o->simulate ? code : simulate(c, o, m, plan, r);
    code = code ? code : tell(c, o, plan, w, o->simulate ? r : NULL);
    code = cli_end_interrupted(c, code, "the walk is told as far as it went");
    code = !code && r->fell ? CLI_EXIT_FINDING : code;
    kk_walk_free(w);
    free(r);
    return code;
}

static int run(cli *c, const void *options) {
    const walk_options *o = options;
    cli_model m;
    walker_plan plan = {0};
    if (o->observe && !o->stabilize) {
        return cli_fail(c, CLI_EXIT_USAGE, "--observe needs --stabilize: without it nothing listens");
    }
    if ((o->stabilize || o->report || o->tolerance > 0 || o->solver) && !o->simulate) {
        return cli_fail(c, CLI_EXIT_USAGE, "--%s needs --simulate",
                        o->stabilize ? "stabilize"
                        : o->report  ? "report"
                        : o->solver  ? "solver"
                                     : "tolerance");
    }
    int code = load_model(c, o->model, &m);
    if (code) {
        return code;
    }
    int keyframe;
    code = load_keyframe(c, m.model, o->keyframe, &keyframe); // the walker finds it again
    if (code) {
        unload_model(&m);
        return code;
    }
    if (o->steps) {
        code = walker_read_plan(c, o->steps, o->width, &plan);
    } else {
        plan = (walker_plan){cli_allocate(NINETEEN, sizeof *plan.step), NINETEEN};
        walker_nineteen(o->width, plan.step);
    }
    code = code ? code : walk(c, o, m.model, &plan);
    walker_free_plan(&plan);
    unload_model(&m);
    return code;
}

static const char *const details[] = {
    "From footsteps to joint angles: the ZMP goes from foot to foot, the center of mass follows by preview control "
    "(Kajita et al. 2003) so "
    "that the ZMP of the whole body is the one planned, feet go on cycloids, joints follow by inverse kinematics.",
    "With --simulate position servos follow the motion at the model's time step, and with --stabilize a controller "
    "bends it by what the feet "
    "feel. The exit code is 1 where the robot falls.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri walk models/hrp2/hrp2.xml --steps models/hrp2/steps.csv --out motion.csv", "the motion as a table"},
    {"karakuri walk models/hrp2/hrp2_bush.xml --simulate --stabilize --report walk.html", "20 s on rubber bushes"},
    {"karakuri walk models/hrp2/hrp2_bush.xml --simulate --stabilize --observe", "the same by its own sensors"},
    {NULL, NULL},
};

const cli_verb cli_verb_walk = {
    .name = "walk",
    .about = "plan a walk of a biped, and try it in simulation",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(walk_options),
    .defaults = &defaults,
    .run = run,
};
