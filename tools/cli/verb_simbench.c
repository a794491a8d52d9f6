// karakuri simbench: the scenes on which engines have been compared in public, our figures beside the published ones.
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "plot.h"
#include "save.h"
#include "simbench/simbench.h"

typedef struct simbench_options {
    const char *test, *out;
    bool quick;
} simbench_options;

static const cli_option options_table[] = {
    {.name = "test",
     .letter = 't',
     .kind = CLI_TEXT,
     .offset = offsetof(simbench_options, test),
     .value = "NAME",
     .about = "only this test: rolling-xy, rolling-y, bouncing, 666, elastic-666, kapla, anymal, momentum, energy"},
    {.name = "quick",
     .kind = CLI_FLAG,
     .offset = offsetof(simbench_options, quick),
     .about = "only cases of a second or two"},
    {.name = "out",
     .letter = 'o',
     .kind = CLI_FOLDER,
     .offset = offsetof(simbench_options, out),
     .value = "FOLDER",
     .about = "write simbench.svg there, errors by time step; the folder must exist"},
    {.name = NULL},
};

enum { MOST_CASES = 64 };

// ---- judging

/// The best of what is published; negative: nothing is.
static double best_of(const double *published, bool more_is_better) {
    double best = -1;
    for (int i = 0; i < SIMBENCH_ENGINES; i++) {
        const double x = published[i];
        best = x >= 0 && (best < 0 || (more_is_better ? x > best : x < best)) ? x : best;
    }
    return best;
}

/// Our error is no larger than any that is published at this time step.
static bool is_best(const simbench_case *c, const simbench_result *r) {
    const double best = best_of(c->published.error, c->more_is_better);
    return !r->trouble[0] && (best < 0 || (c->more_is_better ? r->error >= best : r->error <= best));
}

// ---- the table

static void print_number(double x) {
    if (x < 0) {
        printf(" %9s", "-");
    } else {
        printf(" %9.3g", x);
    }
}

static void print_header(const char *about) {
    printf("\n%-12s %7s %7s %9s %9s", "test", "dt", "robots", "ours", "time, s");
    for (int i = 0; i < SIMBENCH_ENGINES; i++) {
        printf(" %9s", simbench_published_names[i]);
    }
    printf("   %s\n", about);
}

static void print_case(const cli *c, const simbench_case *k, const simbench_result *r) {
    const bool good = is_best(k, r);
    printf("%s%-12s%s %7g ", cli_style(c, good ? CLI_BOLD : CLI_RED), k->test, cli_style(c, CLI_PLAIN), k->dt);
    if (k->robots) {
        printf("%7d", k->robots);
    } else {
        printf("%7s", "");
    }
    print_number(r->error);
    print_number(r->seconds);
    for (int i = 0; i < SIMBENCH_ENGINES; i++) {
        print_number(k->published.error[i]);
    }
    printf("   %s\n", r->trouble[0] ? r->trouble : good ? "ok" : "NOT THE BEST");
    if (best_of(k->published.seconds, false) >= 0) {
        printf("%-12s %7s %7s %9s %9s", "", "", "", "", "their s");
        for (int i = 0; i < SIMBENCH_ENGINES; i++) {
            print_number(k->published.seconds[i]);
        }
        printf("\n");
    }
    fflush(stdout);
}

static void write_published(json_writer *json, const char *key, const double *x) {
    json_begin_object(json, key);
    for (int i = 0; i < SIMBENCH_ENGINES; i++) {
        json_number(json, simbench_published_names[i], x[i] >= 0 ? x[i] : __builtin_nan(""));
    }
    json_end(json);
}

static void write_case(json_writer *json, const simbench_case *k, const simbench_result *r) {
    json_begin_object(json, NULL);
    json_string(json, "test", k->test);
    json_string(json, "error_is", k->about);
    json_number(json, "dt", k->dt);
    if (k->robots) {
        json_integer(json, "robots", k->robots);
    }
    json_number(json, "error", r->error >= 0 ? r->error : __builtin_nan(""));
    json_number(json, "seconds", r->seconds >= 0 ? r->seconds : __builtin_nan(""));
    json_integer(json, "steps", r->steps);
    json_bool(json, "best", is_best(k, r));
    json_string(json, "stopped", r->trouble[0] ? r->trouble : NULL);
    write_published(json, "published_error", k->published.error);
    write_published(json, "published_seconds", k->published.seconds);
    json_end(json);
}

// ---- the plot

/// Errors by time step, of the tests that have several.
static void draw(const simbench_result *results, cli_text *svg) {
    static const char *const tests[] = {"bouncing", "666", "elastic-666"};
    enum { TESTS = 3, MOST = 8 };
    double x[TESTS][MOST], y[TESTS][MOST], px[TESTS][MOST], py[TESTS][MOST];
    plot_series series[TESTS][2];
    plot_panel panel[TESTS];
    for (int t = 0; t < TESTS; t++) {
        size_t n = 0, published = 0;
        const char *about = "";
        for (int i = 0; simbench_cases[i].test; i++) {
            const simbench_case *k = &simbench_cases[i];
            const double best = best_of(k->published.error, false);
            if (strcmp(k->test, tests[t]) != 0 || n == MOST) {
                continue;
            }
            about = k->about;
            x[t][n] = k->dt;
            y[t][n++] = results[i].error;
            px[t][published] = k->dt;
            py[t][published] = best;
            published += best > 0;
        }
        series[t][0] = (plot_series){.name = "ours", .x = x[t], .y = y[t], .count = n};
        series[t][1] =
            (plot_series){.name = "best published", .x = px[t], .y = py[t], .count = published, .style = PLOT_POINTS};
        panel[t] = (plot_panel){.title = tests[t],
                                .x = {.label = "time step", .unit = "s", .is_log = true},
                                .y = {.label = about, .is_log = true},
                                .series = series[t],
                                .series_count = 2};
    }
    const plot_figure figure = {.title = "SimBenchmark: error by time step", .panels = panel, .panel_count = TESTS};
    plot_write(&figure, svg);
}

static int write_plot(cli *c, const char *folder, const simbench_result *results) {
    if (!folder) {
        return 0;
    }
    cli_text name = {0}, svg = {0};
    text_format(&name, "%s/simbench.svg", folder);
    draw(results, &svg);
    const int code = save_bytes(c, text_string(&name), svg.bytes, svg.size);
    text_free(&name);
    text_free(&svg);
    return code;
}

// ---- the verb

static bool is_asked(const simbench_options *o, const simbench_case *k) {
    return (!o->test || strcmp(o->test, k->test) == 0) && (!o->quick || k->is_quick);
}

static int count_asked(const simbench_options *o) {
    int count = 0;
    for (const simbench_case *k = simbench_cases; k->test; k++) {
        count += is_asked(o, k);
    }
    return count;
}

static void show(const cli *c, json_writer *json, const simbench_case *k, const simbench_result *r,
                 const char **header) {
    if (c->common.json) {
        write_case(json, k, r);
        return;
    }
    if (*header != k->about) {
        print_header(k->about);
        *header = k->about;
    }
    print_case(c, k, r);
}

static int run(cli *c, const void *options) {
    const simbench_options *o = options;
    json_writer json = {0};
    simbench_result results[MOST_CASES] = {{0}};
    const char *header = NULL;
    int failed = 0;
    if (count_asked(o) == 0) {
        return cli_fail(c, CLI_EXIT_USAGE, "no test \"%s\" — `karakuri simbench --help` names them", o->test);
    }
    if (c->common.json) {
        cli_begin_document(c, &json);
        json_begin_array(&json, "cases");
    }
    for (int i = 0; simbench_cases[i].test && i < MOST_CASES; i++) {
        const simbench_case *k = &simbench_cases[i];
        if (is_asked(o, k)) {
            results[i] = simbench_measure(k, &simbench_ours, 0);
            failed += !is_best(k, &results[i]);
            show(c, &json, k, &results[i], &header);
        }
    }
    int code = write_plot(c, o->out, results);
    if (!code && c->common.json) {
        json_end(&json);
        json_integer(&json, "failed", failed);
        code = cli_end_document(c, &json);
    }
    json_free(&json);
    return code ? code : failed ? CLI_EXIT_FINDING : CLI_EXIT_OK;
}

static const char *const details[] = {
    "The scenes of the public SimBenchmark, rebuilt from their definitions, with the errors and times that were "
    "published for RaiSim, "
    "Bullet, ODE, MuJoCo and DART beside ours. Published times are of another computer; `make bench ARGS=simbench` "
    "measures these engines on "
    "this one.",
    "The exit code is 1 where a case stops, or where an error is larger than one that is published at the same time "
    "step.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri simbench --quick", "what takes a second or two"},
    {"karakuri simbench --test bouncing --out plots", "one test at all its time steps, and a plot"},
    {NULL, NULL},
};

const cli_verb cli_verb_simbench = {
    .name = "simbench",
    .about = "run SimBenchmark's scenes beside published figures",
    .details = details,
    .options = options_table,
    .examples = examples,
    .size = sizeof(simbench_options),
    .run = run,
};
