// What a reproduction leaves: CSV tables, SVG plots, and one HTML page that needs no other file.
#include <stdlib.h>
#include <string.h>

#include "../plot.h"
#include "../save.h"
#include "reproduce.h"

// ---- plots

/// "time / s" is a label with its unit.
static plot_axis axis_of(char *label, bool is_log) {
    char *sign = strstr(label, " / ");
    if (sign) {
        *sign = 0;
    }
    return (plot_axis){.label = label, .unit = sign ? sign + 3 : NULL, .is_log = is_log};
}

static void draw_panels(const study_def *def, const study *s, cli_text *svg) {
    plot_panel panel[EXAM_PANELS];
    plot_series series[EXAM_PANELS][EXAM_SERIES];
    char x[EXAM_PANELS][64], y[EXAM_PANELS][64];
    for (int i = 0; i < s->exam.panel_count; i++) {
        const exam_panel *p = &s->exam.panel[i];
        for (int k = 0; k < p->series_count; k++) {
            const exam_series *e = &p->series[k];
            const bool is_reference = strstr(e->name, "theory") || strstr(e->name, "reference");
            series[i][k] = (plot_series){.name = e->name,
                                         .x = e->x,
                                         .y = e->y,
                                         .count = e->count,
                                         .style = is_reference ? PLOT_DASHES : PLOT_LINE};
        }
        memcpy(x[i], p->x, sizeof x[i]);
        memcpy(y[i], p->y, sizeof y[i]);
        panel[i] = (plot_panel){.title = p->title,
                                .x = axis_of(x[i], false),
                                .y = axis_of(y[i], p->is_log),
                                .series = series[i],
                                .series_count = p->series_count};
    }
    const plot_figure figure = {
        .title = def->title, .description = def->paper, .panels = panel, .panel_count = s->exam.panel_count};
    plot_write(&figure, svg);
}

// ---- tables

static bool is_same_x(const exam_series *a, const exam_series *b) {
    return a->count == b->count && memcmp(a->x, b->x, a->count * sizeof *a->x) == 0;
}

/// The series first … of a panel that share their x; gives how many.
static int shared(const exam_panel *p, int first) {
    int n = 1;
    while (first + n < p->series_count && is_same_x(&p->series[first], &p->series[first + n])) {
        n++;
    }
    return n;
}

static kk_status add_rows(kk_table_writer *writer, const exam_panel *p, int first, int count, kk_error *error) {
    double row[1 + EXAM_SERIES];
    kk_status status = KK_OK;
    for (size_t i = 0; i < p->series[first].count && !status; i++) {
        row[0] = p->series[first].x[i];
        for (int k = 0; k < count; k++) {
            row[1 + k] = p->series[first + k].y[i];
        }
        status = kk_table_writer_add(writer, row, error);
    }
    return status;
}

static int write_table(cli *c, const char *path, const exam_panel *p, int first, int count) {
    kk_table_column column[1 + EXAM_SERIES];
    char x[64], y[64];
    memcpy(x, p->x, sizeof x);
    memcpy(y, p->y, sizeof y);
    const plot_axis ax = axis_of(x, false), ay = axis_of(y, false);
    column[0] = (kk_table_column){ax.label[0] ? ax.label : "x", ax.unit};
    for (int k = 0; k < count; k++) {
        column[1 + k] = (kk_table_column){p->series[first + k].name, ay.unit};
    }
    kk_error error = {0};
    kk_table_writer *writer = NULL;
    const kk_table_options options = {.allow_not_finite = 1};
    error.status = kk_table_writer_open(path, column, 1 + count, &options, NULL, &writer, &error);
    if (error.status == KK_OK) {
        error.status = add_rows(writer, p, first, count, &error);
        const kk_status closed = kk_table_writer_close(writer, error.status ? NULL : &error);
        error.status = error.status ? error.status : closed;
    }
    return error.status ? cli_fail_error(c, &error) : 0;
}

static int write_tables(cli *c, const char *folder, const study_def *def, const study *s) {
    cli_text path = {0};
    int code = 0, number = 0;
    for (int i = 0; i < s->exam.panel_count && !code; i++) {
        const exam_panel *p = &s->exam.panel[i];
        for (int k = 0; k < p->series_count && !code;) {
            const int n = shared(p, k);
            path.size = 0;
            text_format(&path, "%s/%s_%d.csv", folder, def->name, ++number);
            code = write_table(c, text_string(&path), p, k, n);
            k += n;
        }
    }
    text_free(&path);
    return code;
}

// ---- files

static int write_svg(cli *c, const char *folder, const char *name, const cli_text *svg) {
    cli_text path = {0};
    text_format(&path, "%s/%s.svg", folder, name);
    const int code = save_bytes(c, text_string(&path), svg->bytes, svg->size);
    text_free(&path);
    return code;
}

/// The study's table as NAME_table.csv; cells are words, so all are quoted.
static int write_words(cli *c, const char *folder, const study_def *def, const study_table *t) {
    cli_text path = {0}, csv = {0};
    for (int i = 0; i < t->rows; i++) {
        for (int k = 0; k < t->columns; k++) {
            text_format(&csv, "%s\"%s\"", k ? "," : "", t->cell[i][k]);
        }
        text_add(&csv, "\n");
    }
    text_format(&path, "%s/%s_table.csv", folder, def->name);
    const int code = t->rows ? save_bytes(c, text_string(&path), csv.bytes, csv.size) : 0;
    text_free(&path);
    text_free(&csv);
    return code;
}

int study_write_files(cli *c, const char *folder, const study_def *def, const study *s) {
    int code = write_tables(c, folder, def, s);
    code = code ? code : write_words(c, folder, def, &s->table);
    if (!code && s->exam.panel_count > 0) {
        cli_text svg = {0};
        draw_panels(def, s, &svg);
        code = write_svg(c, folder, def->name, &svg);
        text_free(&svg);
    }
    for (int i = 0; i < s->picture_count && !code; i++) {
        code = write_svg(c, folder, s->picture[i].name, &s->picture[i].svg);
    }
    return code;
}

// ---- the page

static const char *const style_sheet =
    "<style>\n"
    ":root { color-scheme: light dark; --line: #d0d7de; --good: #1a7f37; --bad: #d1242f; --soft: #57606a; }\n"
    "body { color: #1f2328; background: #ffffff; font: 16px/1.5 system-ui, 'Helvetica Neue', Arial, sans-serif; "
    "max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }\n"
    "h1 { font-size: 1.7rem; } h2 { font-size: 1.25rem; margin-top: 3rem; border-top: 1px solid var(--line); "
    "padding-top: 1.5rem; }\n"
    "table { border-collapse: collapse; width: 100%; font-size: 0.9rem; margin: 1rem 0; }\n"
    "th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.6rem; border-bottom: 1px solid var(--line); }\n"
    "th { font-weight: 600; color: var(--soft); } td.v { font-weight: 600; }\n"
    ".good { color: var(--good); } .bad { color: var(--bad); } .soft { color: var(--soft); }\n"
    "a { color: inherit; } .wide { overflow-x: auto; } .figures caption { text-align: left; font-weight: 600; padding: "
    "0.3rem 0.6rem; } "
    ".figures td { font-variant-numeric: tabular-nums; white-space: nowrap; }\n"
    "img { max-width: 100%; height: auto; display: block; margin: 1rem 0; } nav ul { columns: 2; padding-left: 1.2rem; "
    "}\n"
    "blockquote { margin: 0.5rem 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--soft); }\n"
    "@media (prefers-color-scheme: dark) {\n"
    ":root { --line: #30363d; --good: #56d364; --bad: #ff7b72; --soft: #9aa4ae; }\n"
    "body { color: #e6edf3; background: #0d1117; } }\n"
    "</style>\n";

/// An image inside the page; inside its own document its names meet no others.
static void add_image(cli_text *html, const cli_text *svg, const char *alt) {
    text_add(html, "<img alt=\"");
    plot_escape(html, alt);
    text_add(html, "\" src=\"data:image/svg+xml,");
    for (size_t i = 0; i < svg->size; i++) {
        const char letter = svg->bytes[i];
        if (strchr("%#\"<>&", letter) && letter) {
            text_format(html, "%%%02X", (unsigned)(unsigned char)letter);
        } else if (letter == '\n') {
            text_add(html, " ");
        } else {
            text_add_bytes(html, &letter, 1);
        }
    }
    text_add(html, "\">\n");
}

static void add_cell(cli_text *html, const char *class_name, const char *text) {
    text_format(html, "<td%s%s%s>", class_name[0] ? " class=\"" : "", class_name, class_name[0] ? "\"" : "");
    plot_escape(html, text[0] ? text : "–");
    text_add(html, "</td>");
}

static bool has_paper(const study *s) {
    int i = 0;
    while (i < s->check_count && !s->check[i].paper[0]) {
        i++;
    }
    return i < s->check_count;
}

static void add_checks(cli_text *html, const study *s) {
    const bool beside = has_paper(s); // a walk of the user's own has no paper's figures beside it
    text_format(html, "<table><thead><tr><th>what</th>%s<th>asked</th><th></th></tr></thead>\n",
                beside ? "<th>paper</th><th>ours</th>" : "<th>found</th>");
    for (int i = 0; i < s->check_count; i++) {
        const study_check *k = &s->check[i];
        text_add(html, "<tr>");
        add_cell(html, "", k->name);
        if (beside) {
            add_cell(html, "soft", k->paper);
        }
        add_cell(html, "", k->ours);
        add_cell(html, "soft", k->bar);
        add_cell(html, k->passes ? "v good" : "v bad", k->passes ? "pass" : "FAIL");
        text_add(html, "</tr>\n");
    }
    text_add(html, "</table>\n");
}

static void add_table(cli_text *html, const study_table *t) {
    text_add(html, "<div class=\"wide\"><table class=\"figures\"><caption>");
    plot_escape(html, t->caption);
    text_add(html, "</caption>\n");
    for (int i = 0; i < t->rows; i++) {
        text_add(html, "<tr>");
        for (int k = 0; k < t->columns; k++) {
            text_add(html, i ? "<td>" : "<th>");
            plot_escape(html, t->cell[i][k]);
            text_add(html, i ? "</td>" : "</th>");
        }
        text_add(html, "</tr>\n");
    }
    text_add(html, "</table></div>\n");
}

static void add_paragraph(cli_text *html, const char *before, const char *text, const char *after) {
    text_add(html, before);
    plot_escape(html, text);
    text_add(html, after);
}

void study_write_html(cli_text *html, const study_def *def, const study *s) {
    text_format(html, "<h2 id=\"%s\">", def->name);
    plot_escape(html, def->title);
    text_format(html, " <span class=\"%s\">%s</span></h2>\n", study_passes(s) ? "good" : "bad",
                study_passes(s) ? "pass" : "FAIL");
    add_paragraph(html, "<blockquote>", def->paper, "</blockquote>\n");
    add_checks(html, s);
    if (s->exam.trouble[0]) {
        add_paragraph(html, "<p class=\"bad\">stopped: ", s->exam.trouble, "</p>\n");
    }
    if (s->exam.missing[0]) {
        add_paragraph(html, "<p class=\"bad\">not yet: ", s->exam.missing, "</p>\n");
    }
    for (int i = 0; i < s->note_count; i++) {
        add_paragraph(html, "<p>", s->note[i], "</p>\n");
    }
    if (s->table.rows > 0) {
        add_table(html, &s->table);
    }
    if (s->exam.panel_count > 0) {
        cli_text svg = {0};
        draw_panels(def, s, &svg);
        add_image(html, &svg, def->title);
        text_free(&svg);
    }
    for (int i = 0; i < s->picture_count; i++) {
        add_image(html, &s->picture[i].svg, s->picture[i].caption);
        add_paragraph(html, "<p class=\"soft\">", s->picture[i].caption, "</p>\n");
    }
    text_format(html, "<p class=\"soft\">%s: %.2f s</p>\n", def->name, s->seconds);
}

void study_write_entry(cli_text *list, const study_def *def, const study *s) {
    text_format(list, "<li><a href=\"#%s\">", def->name);
    plot_escape(list, def->title);
    text_format(list, "</a> <span class=\"%s\">%s</span></li>\n", study_passes(s) ? "good" : "bad",
                study_passes(s) ? "pass" : "FAIL");
}

// ---- method by method

/// What is the paper's, what ours, and which numbers were chosen here.
static const struct {
    const char *paper, *method, *theirs, *ours, *chosen;
} methods[] = {
    {"S0", "OpenHRP's solver: unit forces by ABA, projected Gauss-Seidel on the round cone, Runge and Kutta",
     "boxes, closed link, stepping, walk, time of a step: second column of each (--solver openhrp)",
     "the exact solver, first column of each; the humanoid, its pattern and its stabilizer",
     "rotors 0.1 kg m² (legs) and 0.02 (bushes), without which it runs away in 6 ms; bushes 60 kN/m, 700 N m/rad: the "
     "table of s0_robustness shows from 0.67 to 10 times; relative error 1e-6; contact within 0.1 mm"},
    {"S1", "Kuroda's: swept polyhedra, constrained springs, anchors of static friction, symplectic Euler",
     "sliding, threshold, pendulum: column \"kuroda mode\"; the crane game of s1_crab whole (--solver kuroda)",
     "the exact solver beside it; the rail crane of s1_crane; Lagrange's equations as reference",
     "k = 100 N/m, ν = 5 N s/m, w = 0.1 m, block 0.3 m (5 of 45 settings give table 8.1: s1_constants); k = 4000, ν = "
     "20 "
     "(pendulum); w = 0.004 of the scene's size (s1_crab's table)"},
    {"S2", "Z-DYNAFORM's: inverse dynamics of a robot that stands on any of its links",
     "the method itself is the library's (kk_analysis); there is no second one",
     "the humanoid and its motion; the observer, of which the paper has a sentence",
     "noise: encoders 1e-4 rad, gyro 0.01 rad/s, accelerometer 0.05 m/s², force sensors 2 %"},
    {"S3", "Springhead's: Gauss-Seidel on velocities, implicit PD rows, feed-forward by rewinding",
     "Fig. 6 by both solvers (--solver springhead); feed-forward (kk_feedforward)",
     "the exact solver; arm, pendulum with a wall, Chebyshev's link",
     "a bob of 0.312 kg m² for the steady oscillation of Fig. 6: with the printed numbers the explicit rule multiplies "
     "velocities by −3.79 and runs away"},
    {"S4", "ODE on TITAN-VIII: velocity servo (3), contacts with slip, ERP and CFM",
     "servo (3), slip 0.001 m/s a newton, ERP 0.2 and CFM 1e-4 as spring and damper, limits of torque; ODE's own run "
     "of the "
     "same file: make crosscheck ARGS=\"titan crawl\"",
     "the exact solver; equilibrium, torques by PID, GDA",
     "link lengths; postures B to D, which the paper shows in a picture; a trunk bush of 2500 N m/rad, for some "
     "millimeters"},
};

static void add_methods(cli_text *html) {
    static const char *const heads[] = {"paper", "method", "where it runs here as published", "what is ours",
                                        "numbers chosen here, and how far they may move"};
    text_add(html, "<h2>Method by method</h2>\n<div class=\"wide\"><table><tr>");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        text_format(html, "<th>%s</th>", heads[i]);
    }
    text_add(html, "</tr>\n");
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const char *const cells[] = {methods[i].paper, methods[i].method, methods[i].theirs, methods[i].ours,
                                     methods[i].chosen};
        text_add(html, "<tr>");
        for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) {
            add_cell(html, "", cells[k]);
        }
        text_add(html, "</tr>\n");
    }
    text_add(html, "</table></div>\n");
}

void study_begin_html(cli_text *html, int passed, int failed, double seconds, const char *list) {
    text_add(html, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<title>Karakuri: the papers, run again</title>\n");
    text_add(html, style_sheet);
    text_add(html, "</head><body>\n<h1>The papers, run again</h1>\n");
    text_format(
        html,
        "<p><b class=\"%s\">%d of %d experiments pass</b>, in %.0f s, with Karakuri %s. Every number below was "
        "computed by <code>karakuri reproduce</code> when this page was written; data and plots stand beside it as "
        "CSV and SVG.</p>\n",
        failed ? "bad" : "good", passed, passed + failed, seconds, kk_version());
    if (list[0]) {
        text_format(html, "<nav><ul>\n%s</ul></nav>\n", list);
        add_methods(html);
    }
}

void study_end_html(cli_text *html) {
    text_add(html, "</body></html>\n");
}
