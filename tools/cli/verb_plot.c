// karakuri plot TABLE --y …: columns of a table as an SVG line plot.
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "plot.h"
#include "save.h"
#include "suggest.h"

typedef struct plot_options {
    const char *table, *x, *y, *out, *title;
    int64_t width, height, columns;
    bool log_x, log_y, points, steps;
} plot_options;

static const plot_options defaults = {.width = 640, .height = 320, .columns = 1};

static const cli_option arguments[] = {
    {.name = "TABLE",
     .kind = CLI_FILE,
     .is_required = true,
     .offset = offsetof(plot_options, table),
     .about = "CSV table with named columns"},
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "y",
     .letter = 'y',
     .kind = CLI_TEXT,
     .offset = offsetof(plot_options, y),
     .value = "COLUMNS",
     .about = "columns to draw: commas between those of one panel, a slash between panels, * at an end for all that "
              "match; without it all columns"},
    {.name = "x",
     .letter = 'x',
     .kind = CLI_TEXT,
     .offset = offsetof(plot_options, x),
     .value = "COLUMN",
     .about = "column along the x axis; without it time, or the number of the row"},
    {.name = "out",
     .letter = 'o',
     .kind = CLI_FILE,
     .offset = offsetof(plot_options, out),
     .value = "FILE",
     .about = "SVG file to write; without it the standard output"},
    {.name = "title",
     .letter = 't',
     .kind = CLI_TEXT,
     .offset = offsetof(plot_options, title),
     .value = "TEXT",
     .about = "title of the figure"},
    {.name = "log-x", .kind = CLI_FLAG, .offset = offsetof(plot_options, log_x), .about = "logarithmic x axis"},
    {.name = "log-y", .kind = CLI_FLAG, .offset = offsetof(plot_options, log_y), .about = "logarithmic y axes"},
    {.name = "points", .kind = CLI_FLAG, .offset = offsetof(plot_options, points), .about = "points instead of lines"},
    {.name = "steps",
     .kind = CLI_FLAG,
     .offset = offsetof(plot_options, steps),
     .about = "steps instead of straight lines"},
    {.name = "width",
     .kind = CLI_COUNT,
     .offset = offsetof(plot_options, width),
     .value = "PIXELS",
     .about = "width of a panel (default 640)",
     .low = 160,
     .high = 10000},
    {.name = "height",
     .kind = CLI_COUNT,
     .offset = offsetof(plot_options, height),
     .value = "PIXELS",
     .about = "height of a panel (default 320)",
     .low = 120,
     .high = 10000},
    {.name = "columns",
     .kind = CLI_COUNT,
     .offset = offsetof(plot_options, columns),
     .value = "N",
     .about = "panels side by side (default 1)",
     .low = 1,
     .high = 16},
    {.name = NULL},
};

typedef struct drawing {
    cli *c;
    const plot_options *o;
    kk_table *table;
    double **column; ///< [column_count], copied when first used
    double *row_number;
    int x; ///< column; −1: the number of the row
    plot_panel *panel;
    int panel_count;
} drawing;

static int fail_table(const drawing *d, const char *text) {
    kk_error error = {.status = KK_NOT_FOUND, .line = kk_table_header_line(d->table)};
    snprintf(error.file, sizeof error.file, "%s", d->o->table);
    snprintf(error.text, sizeof error.text, "%s", text);
    return cli_fail_error(d->c, &error);
}

static int fail_column(const drawing *d, const char *name) {
    suggestion near = suggest_begin(name);
    for (int i = 0; i < kk_table_column_count(d->table); i++) {
        suggest_word(&near, kk_table_column_name(d->table, i));
    }
    char text[KK_ERROR_TEXT_SIZE];
    snprintf(text, sizeof text, "there is no column '%s'%s%s%s", name, near.best ? " — did you mean '" : "",
             near.best ? near.best : " — the first line of the table names them", near.best ? "'?" : "");
    return fail_table(d, text);
}

/// The numbers of a column one after the other.
static const double *values_of(drawing *d, int column) {
    const size_t rows = kk_table_row_count(d->table);
    double **values = column < 0 ? &d->row_number : &d->column[column];
    if (!*values) {
        *values = cli_allocate(rows, sizeof **values);
        for (size_t i = 0; i < rows; i++) {
            (*values)[i] = column < 0 ? (double)i : kk_table_row(d->table, i)[column];
        }
    }
    return *values;
}

/// The name itself, or with * at an end: hip.*, *.tau.
static bool matches(const char *name, const char *pattern) {
    const size_t length = strlen(pattern), size = strlen(name);
    if (length > 0 && pattern[length - 1] == '*') {
        return strncmp(name, pattern, length - 1) == 0;
    }
    if (pattern[0] == '*') {
        return size >= length - 1 && strcmp(name + size - (length - 1), pattern + 1) == 0;
    }
    return strcmp(name, pattern) == 0;
}

static void add_series(drawing *d, plot_panel *p, int column) {
    plot_series *series =
        cli_reallocate((void *)p->series, (size_t)p->series_count + 1, sizeof *series); // NOLINT: ours
    series[p->series_count] = (plot_series){
        .name = kk_table_column_name(d->table, column),
        .x = values_of(d, d->x),
        .y = values_of(d, column),
        .count = kk_table_row_count(d->table),
        .style = d->o->points  ? PLOT_POINTS
                 : d->o->steps ? PLOT_STEPS
                               : PLOT_LINE,
    };
    p->series = series;
    p->series_count++;
}

static int add_matching(drawing *d, plot_panel *p, const char *pattern) {
    int found = 0;
    for (int i = 0; i < kk_table_column_count(d->table); i++) {
        if (i != d->x && matches(kk_table_column_name(d->table, i), pattern)) {
            add_series(d, p, i);
            found++;
        }
    }
    const bool is_all = strcmp(pattern, "*") == 0;
    return found    ? 0
           : is_all ? fail_table(d, "there is no column to draw but the one of the x axis")
                    : fail_column(d, pattern);
}

/// The unit that all series share, else none; one series names the axis.
static void name_axes(drawing *d, plot_panel *p) {
    p->x = (plot_axis){.label = d->x < 0 ? "row" : kk_table_column_name(d->table, d->x),
                       .unit = d->x < 0 ? "" : kk_table_column_unit(d->table, d->x),
                       .is_log = d->o->log_x};
    p->y = (plot_axis){.is_log = d->o->log_y};
    for (int i = 0; i < p->series_count; i++) {
        const int column = kk_table_find_column(d->table, p->series[i].name);
        const char *unit = kk_table_column_unit(d->table, column);
        p->y.unit = i == 0 || strcmp(unit, p->y.unit) == 0 ? unit : "";
    }
    // two lengths: a path on the ground, or a side view
    p->is_equal = d->x >= 0 && p->y.unit && strcmp(p->y.unit, "m") == 0 && strcmp(p->x.unit, "m") == 0;
    if (p->series_count == 1) {
        p->y.label = p->series[0].name;
    }
}

static int add_panel(drawing *d, char *patterns) {
    d->panel = cli_reallocate(d->panel, (size_t)d->panel_count + 1, sizeof *d->panel);
    plot_panel *p = &d->panel[d->panel_count++];
    *p = (plot_panel){0};
    int code = 0;
    for (char *word = patterns; word && !code;) {
        char *comma = strchr(word, ',');
        if (comma) {
            *comma = 0;
        }
        code = add_matching(d, p, word);
        word = comma ? comma + 1 : NULL;
    }
    if (!code) {
        name_axes(d, p);
    }
    return code;
}

static int add_panels(drawing *d) {
    char *text = cli_copy(d->o->y ? d->o->y : "*");
    int code = 0;
    for (char *part = text; part && !code;) {
        char *slash = strchr(part, '/');
        if (slash) {
            *slash = 0;
        }
        code = add_panel(d, part);
        part = slash ? slash + 1 : NULL;
    }
    free(text);
    return code;
}

static int find_x(drawing *d) {
    d->x = kk_table_find_column(d->table, d->o->x ? d->o->x : "time");
    return d->o->x && d->x < 0 ? fail_column(d, d->o->x) : 0;
}

static int write_file(const drawing *d, const cli_text *svg) {
    const int code = save_bytes(d->c, d->o->out, svg->bytes, svg->size);
    cli_text nothing = {0};
    return !code && d->c->common.json ? cli_print(d->c, &nothing) : code;
}

static int draw(drawing *d) {
    const plot_figure figure = {.title = d->o->title,
                                .panels = d->panel,
                                .panel_count = d->panel_count,
                                .columns = (int)d->o->columns,
                                .width = (int)d->o->width,
                                .height = (int)d->o->height};
    cli_text svg = {0};
    plot_write(&figure, &svg);
    const int code = d->o->out && strcmp(d->o->out, "-") != 0 ? write_file(d, &svg) : cli_print(d->c, &svg);
    text_free(&svg);
    return code;
}

static void free_drawing(drawing *d) {
    for (int i = 0; d->column && i < kk_table_column_count(d->table); i++) {
        free(d->column[i]);
    }
    for (int i = 0; i < d->panel_count; i++) {
        free((void *)d->panel[i].series); // NOLINT: ours
    }
    free(d->column);
    free(d->row_number);
    free(d->panel);
    kk_table_free(d->table);
}

static int run(cli *c, const void *options) {
    drawing d = {.c = c, .o = options};
    kk_table_options reading = kk_table_options_default();
    kk_error error = {0};
    reading.allow_not_finite = 1; // a gap in the line
    error.status = kk_table_read_file(d.o->table, &reading, NULL, &d.table, &error);
    if (error.status) {
        return cli_fail_error(c, &error);
    }
    d.column = cli_allocate((size_t)kk_table_column_count(d.table), sizeof *d.column);
    int code = kk_table_row_count(d.table) > 0 ? find_x(&d) : fail_table(&d, "there are no rows — add one");
    code = code ? code : add_panels(&d);
    code = code ? code : draw(&d);
    free_drawing(&d);
    return code;
}

static const char *const details[] = {
    "The picture follows the reader's light or dark scheme. Units come from the table's header: 'hip.tau [N m]'. nan "
    "is a gap in the line.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri plot torque.csv --y '*.tau' --out torque.svg", "all torques in one panel"},
    {"karakuri plot zmp.csv -y com.x,zmp.x/com.y,zmp.y -o zmp.svg", "two panels, two lines each"},
    {NULL, NULL},
};

const cli_verb cli_verb_plot = {
    .name = "plot",
    .about = "draw columns of a table as an SVG line plot",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(plot_options),
    .defaults = &defaults,
    .run = run,
};
