// karakuri analyze MODEL MOTION: center of mass, zero-moment point, torque and power of a motion, as a table and plots.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "columns.h"
#include "folder.h"
#include "grid.h"
#include "load.h"
#include "plot.h"
#include "save.h"
#include "shared_options.h"
#include "support.h"

typedef struct analyze_options {
    const char *model, *motion, *support, *keyframe, *out;
    double floor, rate;
    int interpolation;
    bool ignore_extra;
} analyze_options;

static const analyze_options defaults = {.out = "analysis", .interpolation = KK_INTERPOLATE_QUINTIC};

static const char *const interpolations[] = {"linear", "cubic", "quintic", "minimum-jerk", NULL};

static const cli_option arguments[] = {
    ARGUMENT_MODEL(analyze_options),
    {.name = "MOTION",
     .kind = CLI_FILE,
     .is_required = true,
     .offset = offsetof(analyze_options, motion),
     .about = "CSV table: a column time, and one for each coordinate, knee or knee.q"},
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "support",
     .letter = 's',
     .kind = CLI_TEXT,
     .offset = offsetof(analyze_options, support),
     .value = "PLAN",
     .about =
         "which link stands on the floor from when on: left_foot@0,right_foot@1.2; A+B where both do, of which A is "
         "held; none for a flight. Without it the base moves as the table says"},
    {.name = "out",
     .letter = 'o',
     .kind = CLI_FOLDER,
     .offset = offsetof(analyze_options, out),
     .value = "FOLDER",
     .about = "where to write analysis.csv and plots; made if it is not there (default analysis)"},
    OPTION_KEYFRAME(analyze_options, "coordinates without a column stand as in this keyframe; without it at zero"),
    {.name = "interpolation",
     .letter = 'i',
     .kind = CLI_CHOICE,
     .offset = offsetof(analyze_options, interpolation),
     .value = "KIND",
     .choices = interpolations,
     .about = "between the rows, where velocities and accelerations come from: linear, cubic, quintic (default), "
              "minimum-jerk from rest to rest"},
    {.name = "rate",
     .letter = 'r',
     .kind = CLI_NUMBER,
     .offset = offsetof(analyze_options, rate),
     .value = "HZ",
     .low = 1e-3,
     .high = 1e6,
     .about = "frames a second; without it one for every row"},
    OPTION_FLOOR_HEIGHT(analyze_options, "height of the floor, in m (default 0)"),
    OPTION_IGNORE_EXTRA(analyze_options, "skip columns that the model has not"),
    {.name = NULL},
};

enum { MOST_FRAMES = 20000000 };

enum { TIME, COM, ZMP = COM + 3, FLOOR = ZMP + 2, MARGIN = FLOOR + 6, POWER, SUPPORT, JOINTS };

typedef struct job {
    cli *c;
    const analyze_options *o;
    cli_model m;
    kk_table *table;
    double *rest;
    kk_sequence *sequence;
    kk_support *support;
    int support_count;
    kk_pin start;
    kk_analysis *analysis;
    column_list columns;
    column_list names; ///< of degrees of freedom: knee, base.wx
    int rows, nv;
    double *cell; ///< [columns × rows]: a column lies together
    double seconds;
} job;

static double *column(const job *j, int k) {
    return j->cell + (size_t)k * (size_t)j->rows;
}

// ---- making ready

static int read_rest(job *j) {
    const kk_model *m = j->m.model;
    j->rest = cli_allocate((size_t)kk_model_nq(m) + 1, sizeof *j->rest);
    kk_model_neutral(m, j->rest);
    int k;
    const int code = load_keyframe(j->c, m, j->o->keyframe, &k);
    if (k >= 0) {
        memcpy(j->rest, kk_model_keyframe(m, k).q, (size_t)kk_model_nq(m) * sizeof *j->rest);
    }
    return code;
}

static int read_motion(job *j) {
    kk_error error = {0};
    const kk_sequence_options options = {.interpolation = (kk_interpolation)j->o->interpolation,
                                         .ignore_extra = j->o->ignore_extra};
    error.status = kk_table_read_file(j->o->motion, NULL, NULL, &j->table, &error);
    if (!error.status) {
        error.status = kk_sequence_from_table(j->m.model, j->table, j->rest, &options, NULL, &j->sequence, &error);
        snprintf(error.file, sizeof error.file, "%s", j->o->motion);
    }
    return error.status ? cli_fail_error(j->c, &error) : 0;
}

/// A table without the base's height says nothing about the floor: the first link is then set down on it.
static bool gives_height(const job *j) {
    for (int k = 0; k < kk_table_column_count(j->table); k++) {
        const char *name = kk_table_column_name(j->table, k);
        const size_t length = strlen(name);
        if (length > 4 && strcmp(name + length - 4, ".q.z") == 0) {
            return true;
        }
    }
    return j->o->keyframe != NULL;
}

static void set_down(job *j) {
    enum { POINTS = 512 };
    kk_vec3 *point = cli_allocate(POINTS, sizeof *point);
    double *q = cli_allocate((size_t)kk_model_nq(j->m.model) + 1, sizeof *q);
    kk_sequence_state(j->sequence, kk_sequence_start(j->sequence), q, NULL, NULL);
    kk_kinematics(j->m.model, j->m.data, q);
    j->start = (kk_pin){j->support[0].body, kk_body_pose(j->m.model, j->m.data, j->support[0].body)};
    const int n = kk_support_points(j->m.model, j->m.data, j->start.body, 0, 1e9, point, POINTS);
    double lowest = n > 0 ? point[0].z : j->o->floor;
    for (int i = 0; i < n; i++) {
        lowest = point[i].z < lowest ? point[i].z : lowest;
    }
    j->start.pose.p.z += j->o->floor - lowest;
    free(point);
    free(q);
}

static int make_analysis(job *j) {
    kk_error error = {0};
    int code = j->o->support ? support_parse(j->c, j->m.model, j->o->support, &j->support, &j->support_count) : 0;
    if (code) {
        return code;
    }
    kk_analysis_def def = {.support = j->support, .support_count = j->support_count, .floor = j->o->floor};
    if (j->support_count > 0 && j->support[0].body > 0 && !gives_height(j)) {
        set_down(j);
        def.start = &j->start;
    }
    error.status = kk_analysis_create(j->m.model, &def, NULL, &j->analysis, &error);
    return error.status ? cli_fail_error(j->c, &error) : 0;
}

static int make_columns(job *j) {
    static const char *const names[][2] = {
        {"time", "s"},     {"com.x", "m"},      {"com.y", "m"},      {"com.z", "m"},       {"zmp.x", "m"},
        {"zmp.y", "m"},    {"floor.nx", "N m"}, {"floor.ny", "N m"}, {"floor.nz", "N m"},  {"floor.fx", "N"},
        {"floor.fy", "N"}, {"floor.fz", "N"},   {"margin", "m"},     {"power.total", "W"}, {"support", ""}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        columns_add(&j->columns, names[i][0], names[i][1]);
    }
    columns_of_joints(j->m.model, COLUMN_TAU, "tau", &j->columns);
    columns_of_joints(j->m.model, COLUMN_POWER, "power", &j->columns);
    columns_of_joints(j->m.model, COLUMN_TAU, "", &j->names);
    j->nv = kk_model_nv(j->m.model);
    const double span = kk_sequence_end(j->sequence) - kk_sequence_start(j->sequence);
    if (span * j->o->rate > MOST_FRAMES) {
        return cli_fail(j->c, CLI_EXIT_LIMIT, "%.4g s at %.4g frames a second are too many — lower --rate", span,
                        j->o->rate);
    }
    j->rows = j->o->rate > 0 ? (int)(span * j->o->rate + 1e-9) + 1 : kk_sequence_count(j->sequence);
    j->cell = cli_allocate((size_t)j->columns.count * (size_t)j->rows, sizeof *j->cell);
    return 0;
}

// ---- frames

static void keep(const job *j, int row, const kk_analysis_frame *f) {
    const double fixed[JOINTS] = {
        f->time,           f->com.x,           f->com.y,           f->com.z,           f->zmp.x,
        f->zmp.y,          f->floor.angular.x, f->floor.angular.y, f->floor.angular.z, f->floor.linear.x,
        f->floor.linear.y, f->floor.linear.z,  f->margin,          f->power,           (double)f->support};
    for (int k = 0; k < JOINTS; k++) {
        column(j, k)[row] = fixed[k];
    }
    for (int k = 0; k < j->nv; k++) {
        column(j, JOINTS + k)[row] = f->tau[k];
        column(j, JOINTS + j->nv + k)[row] = f->joint_power[k];
    }
}

static double time_of(const job *j, int row) {
    const double first = kk_sequence_start(j->sequence);
    return j->o->rate > 0 ? first + row / j->o->rate
                          : kk_table_row(j->table, (size_t)row)[kk_table_find_column(j->table, "time")];
}

/// Numbers that are read can still be too large to compute with. The zmp of a flight is none, a torque always is.
static int check_finite(const job *j) {
    for (int k = 0; k < j->nv; k++) {
        for (int i = 0; i < j->rows; i++) {
            if (!isfinite(column(j, JOINTS + k)[i])) {
                return cli_fail(j->c, CLI_EXIT_INPUT,
                                "%s: at %.6g s the torque of %s is no finite number — the motion is too large or too "
                                "fast; check its units",
                                j->o->motion, column(j, TIME)[i], j->names.item[k].name);
            }
        }
    }
    return 0;
}

static int analyze(job *j) {
    kk_error error = {0};
    const double start = cli_now();
    for (int i = 0; i < j->rows && !error.status; i++) {
        kk_analysis_frame f;
        error.status = kk_analysis_add_sequence(j->analysis, j->sequence, time_of(j, i), &f, &error);
        if (!error.status) {
            keep(j, i, &f);
        }
    }
    j->seconds = cli_now() - start;
    return error.status ? cli_fail_error(j->c, &error) : check_finite(j);
}

// ---- files

static int write_table(const job *j, const char *path) {
    kk_error error = {0};
    kk_table_writer *writer = NULL;
    double *row = cli_allocate((size_t)j->columns.count, sizeof *row);
    kk_table_options options = kk_table_options_default();
    options.allow_not_finite = 1; // in flight there is no zero-moment point
    error.status = kk_table_writer_open(path, j->columns.item, j->columns.count, &options, NULL, &writer, &error);
    for (int i = 0; i < j->rows && !error.status; i++) {
        for (int k = 0; k < j->columns.count; k++) {
            row[k] = column(j, k)[i];
        }
        error.status = kk_table_writer_add(writer, row, &error);
    }
    const kk_status closed = kk_table_writer_close(writer, error.status ? NULL : &error);
    error.status = error.status ? error.status : closed;
    free(row);
    return error.status ? cli_fail_error(j->c, &error) : 0;
}

static plot_series series(const job *j, int x, int y, const char *name, plot_style style) {
    return (plot_series){.name = name ? name : j->columns.item[y].name,
                         .x = column(j, x),
                         .y = column(j, y),
                         .count = (size_t)j->rows,
                         .style = style};
}

static int save_figure(const job *j, const char *name, const plot_figure *figure) {
    cli_text svg = {0}, path = {0};
    plot_write(figure, &svg);
    text_format(&path, "%s/%s.svg", j->o->out, name);
    const int code = save_bytes(j->c, text_string(&path), svg.bytes, svg.size);
    text_free(&svg);
    text_free(&path);
    return code;
}

static int plot_balance(const job *j) {
    const plot_series x[] = {series(j, TIME, COM, "center of mass", PLOT_LINE),
                             series(j, TIME, ZMP, "zero-moment point", PLOT_LINE)};
    const plot_series y[] = {series(j, TIME, COM + 1, "center of mass", PLOT_LINE),
                             series(j, TIME, ZMP + 1, "zero-moment point", PLOT_LINE)};
    const plot_series path[] = {series(j, COM, COM + 1, "center of mass", PLOT_LINE),
                                series(j, ZMP, ZMP + 1, "zero-moment point", PLOT_LINE)};
    const plot_series force = series(j, TIME, FLOOR + 5, NULL, PLOT_LINE),
                      margin = series(j, TIME, MARGIN, NULL, PLOT_LINE);
    const plot_axis time = {.label = "time", .unit = "s"};
    const plot_panel panels[] = {
        {.title = "forwards", .x = time, .y = {.label = "x", .unit = "m"}, .series = x, .series_count = 2},
        {.title = "sideways", .x = time, .y = {.label = "y", .unit = "m"}, .series = y, .series_count = 2},
        {.title = "seen from above",
         .is_equal = true,
         .x = {.label = "x", .unit = "m"},
         .y = {.label = "y", .unit = "m"},
         .series = path,
         .series_count = 2},
        {.title = "vertical force of the floor",
         .x = time,
         .y = {.label = "force", .unit = "N"},
         .series = &force,
         .series_count = 1},
        {.title = "margin of the zero-moment point in the support polygon",
         .x = time,
         .y = {.label = "margin", .unit = "m"},
         .series = &margin,
         .series_count = 1}};
    const plot_figure figure = {.title = "Balance", .panels = panels, .panel_count = j->support_count ? 5 : 4};
    return save_figure(j, "balance", &figure);
}

/// Degrees of freedom that carry something, the largest first; the base's have no torque.
static int *order_by_peak(const job *j, int first, int *count) {
    int *order = cli_allocate((size_t)j->nv + 1, sizeof *order);
    double *peak = cli_allocate((size_t)j->nv + 1, sizeof *peak);
    int n = 0;
    for (int k = 0; k < j->nv; k++) {
        for (int i = 0; i < j->rows; i++) {
            const double size = fabs(column(j, first + k)[i]);
            peak[k] = size > peak[k] ? size : peak[k];
        }
        if (peak[k] > 0) {
            int at = n++;
            for (; at > 0 && peak[order[at - 1]] < peak[k]; at--) {
                order[at] = order[at - 1];
            }
            order[at] = k;
        }
    }
    free(peak);
    *count = n;
    return order;
}

/// Eight curves a panel, the joints with the largest peaks first.
static int plot_joints(const job *j, int first, const char *file, const char *title, const char *label,
                       const char *unit) {
    enum { CURVES = 8 };
    int count = 0;
    int *order = order_by_peak(j, first, &count);
    const int panels = count ? (count + CURVES - 1) / CURVES : 1;
    plot_series *s = cli_allocate((size_t)count + 1, sizeof *s);
    plot_panel *panel = cli_allocate((size_t)panels, sizeof *panel);
    for (int i = 0; i < count; i++) {
        s[i] = series(j, TIME, first + order[i], NULL, PLOT_LINE);
    }
    for (int i = 0; i < panels; i++) {
        panel[i] = (plot_panel){.x = {.label = "time", .unit = "s"},
                                .y = {.label = label, .unit = unit},
                                .series = s + CURVES * i,
                                .series_count = count - CURVES * i < CURVES ? count - CURVES * i : CURVES};
    }
    const plot_figure figure = {.title = title, .panels = panel, .panel_count = panels};
    const int code = save_figure(j, file, &figure);
    free(order);
    free(s);
    free(panel);
    return code;
}

static int write_files(const job *j) {
    cli_text path = {0};
    text_format(&path, "%s/analysis.csv", j->o->out);
    int code = write_table(j, text_string(&path));
    code = code ? code : plot_balance(j);
    code = code ? code : plot_joints(j, JOINTS, "torque", "Joint torque", "torque", "N m or N");
    code = code ? code : plot_joints(j, JOINTS + j->nv, "power", "Joint power", "power", "W");
    text_free(&path);
    return code;
}

// ---- telling

/// The least and the largest that are numbers; NAN where none is.
static double least(const double *x, int n) {
    double low = NAN;
    for (int i = 0; i < n; i++) {
        low = x[i] < low || low != low ? x[i] : low;
    }
    return low;
}

static double most(const double *x, int n) {
    double high = NAN;
    for (int i = 0; i < n; i++) {
        high = x[i] > high || high != high ? x[i] : high;
    }
    return high;
}

static int tell(const job *j) {
    static const char *const heads[] = {"joint",         ">peak",     ">rms",     ">peak speed",
                                        ">peak power W", ">work + J", ">work − J"};
    cli_text out = {0};
    text_format(&out, "%s%s%s: %d frames, %.4g s, %.3g µs a frame\n", cli_style(j->c, CLI_BOLD), j->o->motion,
                cli_style(j->c, CLI_PLAIN), j->rows, kk_sequence_end(j->sequence) - kk_sequence_start(j->sequence),
                1e6 * j->seconds / j->rows);
    text_format(&out, "  floor force   %.4g … %.4g N\n", least(column(j, FLOOR + 5), j->rows),
                most(column(j, FLOOR + 5), j->rows));
    text_format(&out, "  zmp           x %.4g … %.4g m, y %.4g … %.4g m\n", least(column(j, ZMP), j->rows),
                most(column(j, ZMP), j->rows), least(column(j, ZMP + 1), j->rows), most(column(j, ZMP + 1), j->rows));
    if (least(column(j, MARGIN), j->rows) == least(column(j, MARGIN), j->rows)) { // a number
        text_format(&out, "  least margin  %.4g m%s\n", least(column(j, MARGIN), j->rows),
                    least(column(j, MARGIN), j->rows) < 0 ? " — it would tip over the edge there" : "");
    }
    text_format(&out, "  written       %s/analysis.csv, balance.svg, torque.svg, power.svg\n", j->o->out);
    grid g = grid_make(heads, 7);
    for (int k = 0; k < j->nv; k++) {
        const kk_joint_effort e = kk_analysis_effort(j->analysis, k);
        if (e.peak_torque > 0) {
            grid_row(&g);
            grid_set(&g, 0, "%s", j->names.item[k].name);
            const double values[] = {e.peak_torque, e.rms_torque,    e.peak_speed,
                                     e.peak_power,  e.positive_work, e.negative_work};
            for (int i = 0; i < 6; i++) {
                grid_set(&g, 1 + i, "%.4g", values[i]);
            }
        }
    }
    grid_print(&g, j->c, &out);
    grid_free(&g);
    return cli_print(j->c, &out);
}

static int write_summary(const job *j) {
    json_writer json = {0};
    cli_begin_document(j->c, &json);
    json_string(&json, "model", j->m.name);
    json_string(&json, "motion", j->o->motion);
    json_string(&json, "out", j->o->out);
    json_integer(&json, "frames", j->rows);
    json_number(&json, "microseconds_a_frame", 1e6 * j->seconds / j->rows);
    json_number(&json, "least_margin", least(column(j, MARGIN), j->rows));
    json_number(&json, "most_floor_force", most(column(j, FLOOR + 5), j->rows));
    json_begin_array(&json, "joints");
    for (int k = 0; k < j->nv; k++) {
        const kk_joint_effort e = kk_analysis_effort(j->analysis, k);
        json_begin_object(&json, NULL);
        json_string(&json, "torque_column", j->columns.item[JOINTS + k].name);
        json_number(&json, "peak_torque", e.peak_torque);
        json_number(&json, "rms_torque", e.rms_torque);
        json_number(&json, "peak_speed", e.peak_speed);
        json_number(&json, "peak_power", e.peak_power);
        json_number(&json, "positive_work", e.positive_work);
        json_number(&json, "negative_work", e.negative_work);
        json_end(&json);
    }
    json_end(&json);
    return cli_end_document(j->c, &json);
}

static void release(job *j) {
    kk_analysis_free(j->analysis);
    kk_sequence_free(j->sequence);
    kk_table_free(j->table);
    columns_free(&j->columns);
    columns_free(&j->names);
    free(j->support);
    free(j->rest);
    free(j->cell);
    unload_model(&j->m);
}

static int run(cli *c, const void *options) {
    job j = {.c = c, .o = options};
    int code = load_model(c, j.o->model, &j.m);
    if (code) {
        return code;
    }
    code = read_rest(&j);
    code = code ? code : read_motion(&j);
    code = code ? code : make_analysis(&j);
    code = code ? code : make_columns(&j);
    code = code ? code : analyze(&j);
    code = code ? code : folder_make(c, j.o->out);
    code = code ? code : write_files(&j);
    code = code ? code : c->common.json ? write_summary(&j) : tell(&j);
    release(&j);
    return code;
}

static const char *const details[] = {
    "Velocities and accelerations are those of the curve through the rows. While a link is held, the base follows from "
    "the joints, and the floor's "
    "force, the zero-moment point and every joint's torque from inverse dynamics; where the plan changes, the new link "
    "is held "
    "where it is, so nothing jumps.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri analyze robot.urdf walk.csv --support left_foot@0,right_foot@0.8 --out walk",
     "a walk, one foot after the other"},
    {"karakuri analyze arm.urdf log.csv --rate 100 --interpolation cubic",
     "a logged motion of an arm, at 100 frames a second"},
    {NULL, NULL},
};

const cli_verb cli_verb_analyze = {
    .name = "analyze",
    .about = "balance, torque and power of a motion, as a table and plots",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(analyze_options),
    .defaults = &defaults,
    .run = run,
};
