// karakuri compare SIM ROBOT: two logs of a motion beside each other, with the shift of their clocks taken out.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "plot.h"
#include "save.h"
#include "suggest.h"

typedef struct compare_options {
    const char *first, *second, *report;
    cli_list columns;
    double shift, most, limit;
} compare_options;

static const compare_options defaults = {.shift = NAN, .most = 1, .limit = INFINITY};

static const cli_option arguments[] = {
    {.name = "SIM",
     .kind = CLI_FILE,
     .is_required = true,
     .offset = offsetof(compare_options, first),
     .about = "CSV table with a column time, as from run --log or export"},
    {.name = "ROBOT",
     .kind = CLI_FILE,
     .is_required = true,
     .offset = offsetof(compare_options, second),
     .about = "the other one; columns of the same name are compared, whatever their order"},
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "column",
     .letter = 'y',
     .kind = CLI_TEXT,
     .is_list = true,
     .offset = offsetof(compare_options, columns),
     .value = "COLUMN",
     .about = "a column to compare, again for more; without it all that both have"},
    {.name = "shift",
     .kind = CLI_NUMBER,
     .offset = offsetof(compare_options, shift),
     .value = "SECONDS",
     .about = "by how much the second clock is behind; without it the shift with the best correlation"},
    {.name = "most",
     .kind = CLI_NUMBER,
     .offset = offsetof(compare_options, most),
     .value = "SECONDS",
     .about = "largest shift to look for (default 1)",
     .low = 0,
     .high = 1e6},
    {.name = "limit",
     .kind = CLI_NUMBER,
     .offset = offsetof(compare_options, limit),
     .value = "SHARE",
     .about = "largest difference in the root mean square that passes, as a share of the column's span; the exit code "
              "is 1 where a column is beyond it",
     .low = 0,
     .high = 1e6},
    {.name = "report",
     .letter = 'r',
     .kind = CLI_FILE,
     .offset = offsetof(compare_options, report),
     .value = "FILE",
     .about = "HTML page with the figures and an overlay of every column"},
    {.name = NULL},
};

// ---- the two tables

typedef struct compared {
    const char *name, *unit;
    int column[2];
    kk_likeness likeness;
    double shift; ///< its own best one; NaN where it does not change
} compared;

typedef struct comparison {
    cli *c;
    const compare_options *o;
    kk_table *table[2];
    compared *pair;
    int count;
    double *time[2], *value[2]; ///< of the pairs' columns
    double shift;
} comparison;

static const char *path_of(const comparison *x, int which) {
    return which ? x->o->second : x->o->first;
}

static int fail_table(const comparison *x, int which, int line, const char *text) {
    kk_error error = {.status = KK_NOT_FOUND, .line = line};
    snprintf(error.file, sizeof error.file, "%s", path_of(x, which));
    snprintf(error.text, sizeof error.text, "%s", text);
    return cli_fail_error(x->c, &error);
}

static int read_table(comparison *x, int which) {
    kk_error error = {0};
    error.status = kk_table_read_file(path_of(x, which), NULL, NULL, &x->table[which], &error);
    if (error.status) {
        return cli_fail_error(x->c, &error);
    }
    const kk_table *t = x->table[which];
    if (kk_table_find_column(t, "time") < 0 || kk_table_row_count(t) < 2) {
        return fail_table(x, which, kk_table_header_line(t),
                          kk_table_row_count(t) < 2 ? "there are fewer than two rows"
                                                    : "there is no column 'time' — add it, in s");
    }
    return 0;
}

static void add_pair(comparison *x, const char *name) {
    const int a = kk_table_find_column(x->table[0], name), b = kk_table_find_column(x->table[1], name);
    x->pair = cli_reallocate(x->pair, (size_t)x->count + 1, sizeof *x->pair);
    x->pair[x->count++] = (compared){
        .name = kk_table_column_name(x->table[0], a), .unit = kk_table_column_unit(x->table[0], a), .column = {a, b}};
}

/// A column that was asked for is in both.
static int add_asked(comparison *x, const char *name) {
    for (int which = 0; which < 2; which++) {
        const kk_table *t = x->table[which];
        if (kk_table_find_column(t, name) < 0) {
            suggestion near = suggest_begin(name);
            for (int i = 0; i < kk_table_column_count(t); i++) {
                suggest_word(&near, kk_table_column_name(t, i));
            }
            char text[KK_ERROR_TEXT_SIZE];
            snprintf(text, sizeof text, "there is no column '%s'%s%s%s", name, near.best ? " — did you mean '" : "",
                     near.best ? near.best : "", near.best ? "'?" : "");
            return fail_table(x, which, kk_table_header_line(t), text);
        }
    }
    add_pair(x, name);
    return 0;
}

static int match_columns(comparison *x) {
    int code = 0;
    for (int i = 0; i < x->o->columns.count && !code; i++) {
        code = add_asked(x, x->o->columns.item[i]);
    }
    for (int i = 0; i < kk_table_column_count(x->table[0]) && x->o->columns.count == 0; i++) {
        const char *name = kk_table_column_name(x->table[0], i);
        if (strcmp(name, "time") != 0 && kk_table_find_column(x->table[1], name) >= 0) {
            add_pair(x, name);
        }
    }
    return code || x->count ? code
                            : fail_table(x, 1, kk_table_header_line(x->table[1]),
                                         "no column but time has the name of one of the first table");
}

static void take_values(comparison *x, int which) {
    const kk_table *t = x->table[which];
    const size_t rows = kk_table_row_count(t), width = (size_t)x->count;
    const int time = kk_table_find_column(t, "time");
    x->time[which] = cli_allocate(rows, sizeof(double));
    x->value[which] = cli_allocate(rows * width, sizeof(double));
    for (size_t i = 0; i < rows; i++) {
        const double *row = kk_table_row(t, i);
        x->time[which][i] = row[time];
        for (size_t k = 0; k < width; k++) {
            x->value[which][i * width + k] = row[x->pair[k].column[which]];
        }
    }
}

static kk_series series_of(const comparison *x, int which) {
    return (kk_series){(int)kk_table_row_count(x->table[which]), x->count, x->time[which], x->value[which]};
}

/// One column by itself; its numbers are to be freed.
static kk_series column_of(const comparison *x, int which, int column) {
    kk_series s = series_of(x, which);
    double *value = cli_allocate((size_t)s.count, sizeof *value);
    for (int i = 0; i < s.count; i++) {
        value[i] = x->value[which][(size_t)i * (size_t)x->count + (size_t)column];
    }
    return (kk_series){s.count, 1, s.time, value};
}

// ---- figures

static int compare_columns(comparison *x) {
    const kk_series a = series_of(x, 0), b = series_of(x, 1);
    kk_error error = {0};
    x->shift = x->o->shift;
    if (isnan(x->shift) && kk_series_shift(&a, &b, x->o->most, &x->shift, &error)) {
        return cli_fail_error(x->c, &error);
    }
    for (int k = 0; k < x->count; k++) {
        compared *p = &x->pair[k];
        if (kk_series_compare(&a, &b, k, x->shift, &p->likeness, &error)) {
            return cli_fail_error(x->c, &error);
        }
        const kk_series own[2] = {column_of(x, 0, k), column_of(x, 1, k)};
        if (kk_series_shift(&own[0], &own[1], x->o->most, &p->shift, &error)) {
            p->shift = NAN;
        }
        free((void *)own[0].value); // NOLINT: ours
        free((void *)own[1].value); // NOLINT: ours
    }
    return 0;
}

static double share_of(const compared *p) {
    return p->likeness.span > 0 ? p->likeness.rms / p->likeness.span : p->likeness.rms > 0 ? INFINITY : 0;
}

static bool passes(const comparison *x, const compared *p) {
    return share_of(p) <= x->o->limit;
}

static bool all_pass(const comparison *x) {
    bool good = true;
    for (int k = 0; k < x->count; k++) {
        good = good && passes(x, &x->pair[k]);
    }
    return good;
}

// ---- telling

static void print_table(const comparison *x, cli_text *out) {
    const cli *c = x->c;
    text_format(out, "  clocks        the second is %.4g s %s\n\n", fabs(x->shift), x->shift < 0 ? "ahead" : "behind");
    text_format(out, "%s  %-32s %11s %7s %11s %11s %9s %11s %10s%s\n", cli_style(c, CLI_BOLD), "column", "rms", "share",
                "mean", "peak", "at / s", "correlation", "own shift", cli_style(c, CLI_PLAIN));
    for (int k = 0; k < x->count; k++) {
        const compared *p = &x->pair[k];
        const kk_likeness *l = &p->likeness;
        text_format(out, "%s  %-32s %11.4g %6.2f%% %11.3g %11.4g %9.3f %11.5f",
                    passes(x, p) ? "" : cli_style(c, CLI_RED), p->name, l->rms, 100 * share_of(p), l->mean, l->peak,
                    l->peak_time, l->correlation);
        if (isnan(p->shift)) {
            text_format(out, " %10s", "–");
        } else {
            text_format(out, " %10.4f", p->shift);
        }
        text_format(out, " %s%s\n", p->unit, cli_style(c, CLI_PLAIN));
    }
}

static int write_json(const comparison *x) {
    json_writer json = {0};
    cli_begin_verdict(x->c, &json, all_pass(x));
    json_number(&json, "shift", x->shift);
    json_begin_array(&json, "columns");
    for (int k = 0; k < x->count; k++) {
        const compared *p = &x->pair[k];
        json_begin_object(&json, NULL);
        json_string(&json, "name", p->name);
        json_string(&json, "unit", p->unit);
        json_number(&json, "rms", p->likeness.rms);
        json_number(&json, "share", share_of(p));
        json_number(&json, "mean", p->likeness.mean);
        json_number(&json, "peak", p->likeness.peak);
        json_number(&json, "peak_time", p->likeness.peak_time);
        json_number(&json, "correlation", p->likeness.correlation);
        json_number(&json, "own_shift", p->shift);
        json_integer(&json, "rows", p->likeness.count);
        json_bool(&json, "pass", passes(x, p));
        json_end(&json);
    }
    json_end(&json);
    const int code = cli_end_document(x->c, &json);
    json_free(&json);
    return code;
}

// ---- the page

/// A panel with both lines, the second on the clock of the first.
static void draw_column(const comparison *x, int k, cli_text *html) {
    const compared *p = &x->pair[k];
    kk_series own[2] = {column_of(x, 0, k), column_of(x, 1, k)};
    double *moved = cli_allocate((size_t)own[1].count, sizeof *moved);
    for (int i = 0; i < own[1].count; i++) {
        moved[i] = own[1].time[i] - x->shift;
    }
    const plot_series series[2] = {
        {.name = x->o->first, .x = own[0].time, .y = own[0].value, .count = (size_t)own[0].count},
        {.name = x->o->second, .x = moved, .y = own[1].value, .count = (size_t)own[1].count, .style = PLOT_DASHES}};
    const plot_panel panel = {.title = p->name,
                              .x = {.label = "time", .unit = "s"},
                              .y = {.label = p->name, .unit = p->unit},
                              .series = series,
                              .series_count = 2};
    const plot_figure figure = {.panels = &panel, .panel_count = 1, .width = 900, .height = 300};
    plot_write(&figure, html);
    free(moved);
    free((void *)own[0].value); // NOLINT: ours
    free((void *)own[1].value); // NOLINT: ours
}

static void add_cell(cli_text *html, const char *format, double value) {
    text_add(html, "<td>");
    if (isnan(value)) {
        text_add(html, "–");
    } else {
        text_format(html, format, value); // NOLINT: literals of this file
    }
    text_add(html, "</td>");
}

static void add_figures(const comparison *x, cli_text *html) {
    text_add(html, "<table><tr><th>column</th><th>unit</th><th>rms</th><th>share of span</th><th>mean</th><th>peak</th>"
                   "<th>at / s</th><th>correlation</th><th>own shift / s</th></tr>\n");
    for (int k = 0; k < x->count; k++) {
        const compared *p = &x->pair[k];
        text_format(html, "<tr%s><td>", passes(x, p) ? "" : " class=\"bad\"");
        plot_escape(html, p->name);
        text_add(html, "</td><td>");
        plot_escape(html, p->unit);
        text_add(html, "</td>");
        add_cell(html, "%.4g", p->likeness.rms);
        add_cell(html, "%.2f %%", 100 * share_of(p));
        add_cell(html, "%.3g", p->likeness.mean);
        add_cell(html, "%.4g", p->likeness.peak);
        add_cell(html, "%.3f", p->likeness.peak_time);
        add_cell(html, "%.5f", p->likeness.correlation);
        add_cell(html, "%.4f", p->shift);
        text_add(html, "</tr>\n");
    }
    text_add(html, "</table>\n");
}

static int write_page(const comparison *x) {
    cli_text html = {0};
    text_add(&html,
             "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
             "content=\"width=device-width, initial-scale=1\">\n<title>Karakuri: two logs compared</title>\n"
             "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,Arial,sans-serif;max-width:70rem;"
             "margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;font-size:.9rem}th,td{text-align:left;"
             "padding:.3rem .8rem;border-bottom:1px solid #8886}svg{max-width:100%;height:auto}.bad{color:#e5534b}"
             "</style></head><body>\n<h1>");
    plot_escape(&html, x->o->first);
    text_add(&html, " beside ");
    plot_escape(&html, x->o->second);
    text_format(&html, "</h1>\n<p>The second clock is %.4g s %s; this is taken out below.</p>\n", fabs(x->shift),
                x->shift < 0 ? "ahead" : "behind");
    add_figures(x, &html);
    for (int k = 0; k < x->count; k++) {
        draw_column(x, k, &html);
    }
    text_add(&html, "</body></html>\n");
    const int code = save_bytes(x->c, x->o->report, html.bytes, html.size);
    text_free(&html);
    return code;
}

// ---- the verb

static int tell(const comparison *x) {
    int code = x->o->report ? write_page(x) : 0;
    if (code || x->c->common.json) {
        return code ? code : write_json(x);
    }
    cli_text out = {0};
    print_table(x, &out);
    if (x->o->report) {
        text_format(&out, "\n  report        %s\n", x->o->report);
    }
    return cli_print(x->c, &out);
}

static int run(cli *c, const void *options) {
    comparison x = {.c = c, .o = options};
    int code = read_table(&x, 0);
    code = code ? code : read_table(&x, 1);
    code = code ? code : match_columns(&x);
    for (int which = 0; which < 2 && !code; which++) {
        take_values(&x, which);
    }
    code = code ? code : compare_columns(&x);
    code = code ? code : tell(&x);
    code = code ? code : all_pass(&x) ? CLI_EXIT_OK : CLI_EXIT_FINDING;
    for (int which = 0; which < 2; which++) {
        free(x.time[which]);
        free(x.value[which]);
        kk_table_free(x.table[which]);
    }
    free(x.pair);
    return code;
}

static const char *const details[] = {
    "Two logs of the same motion, of the simulation and of the robot, have clocks of their own. The shift that makes "
    "all columns together correlate best is taken out; then every column tells the root mean square, the mean and the "
    "peak of its difference, and its correlation.",
    "A column's own shift is the one it would like best: a joint that is later than the others lags.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri compare sim.csv robot.csv --report overlay.html", "figures, and a page with every column overlaid"},
    {"karakuri compare sim.csv robot.csv --column knee.q --column knee.tau --limit 0.05",
     "fails above 5 % of the span"},
    {NULL, NULL},
};

const cli_verb cli_verb_compare = {
    .name = "compare",
    .about = "compare a simulation's log with a robot's",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(compare_options),
    .defaults = &defaults,
    .run = run,
};
