// Controls over time; see motion.h.
#include "motion.h"

#include <stdlib.h>
#include <string.h>

#include "suggest.h"
#include "tape.h"

// ---- the start

static void hold_positions(motion *m, const kk_state *state) {
    for (int i = 0; i < kk_model_nactuator(m->model); i++) {
        const kk_actuator_info a = kk_model_actuator(m->model, i);
        const bool is_servo = a.type == KK_ACTUATOR_POSITION && a.transmission == KK_TRANSMISSION_JOINT;
        if (is_servo && kk_model_joint(m->model, a.joint).nq == kk_model_joint(m->model, a.joint).nv) {
            const kk_joint_info joint = kk_model_joint(m->model, a.joint);
            m->start[i] = a.gear * kk_state_q_const(state)[joint.q_index + a.v_index - joint.v_index];
        }
    }
}

// ---- columns

/// The joint that an actuator drives, NULL where it drives something else.
static const char *joint_of(const kk_model *model, int actuator) {
    const kk_actuator_info a = kk_model_actuator(model, actuator);
    return a.transmission == KK_TRANSMISSION_JOINT ? kk_model_joint(model, a.joint).name : NULL;
}

/// By the actuator's name, with .u behind as in a log, its joint's, or its joint's with .q behind.
static int find_column(const motion *m, int actuator) {
    cli_text name = {0};
    actuator_label(m->model, actuator, &name);
    int column = kk_table_find_column(m->table, text_string(&name));
    const char *joint = joint_of(m->model, actuator);
    if (column < 0) {
        text_add(&name, ".u");
        column = kk_table_find_column(m->table, text_string(&name));
    }
    if (column < 0 && joint) {
        column = kk_table_find_column(m->table, joint);
        name.size = 0;
        text_format(&name, "%s.q", joint);
        column = column < 0 ? kk_table_find_column(m->table, text_string(&name)) : column;
    }
    text_free(&name);
    return column;
}

static kk_error error_in(const char *path, const kk_table *table) {
    kk_error error = {.status = KK_NOT_FOUND, .line = kk_table_header_line(table)};
    snprintf(error.file, sizeof error.file, "%s", path);
    return error;
}

static int fail_extra(cli *c, const motion *m, const char *path, int column) {
    const char *name = kk_table_column_name(m->table, column);
    const int n = kk_model_nactuator(m->model);
    cli_text *labels = cli_allocate((size_t)n + 1, sizeof *labels);
    suggestion near = suggest_begin(name);
    for (int i = 0; i < n; i++) {
        actuator_label(m->model, i, &labels[i]);
        suggest_word(&near, text_string(&labels[i]));
        if (joint_of(m->model, i)) {
            suggest_word(&near, joint_of(m->model, i));
        }
    }
    suggest_word(&near, "time");
    kk_error error = error_in(path, m->table);
    snprintf(error.text, sizeof error.text,
             "no actuator or driven joint is called '%s' — %s%s%s(--ignore-extra skips it)", name,
             near.best ? "did you mean '" : "", near.best ? near.best : "", near.best ? "'? " : "");
    for (int i = 0; i < n; i++) {
        text_free(&labels[i]);
    }
    free(labels);
    return cli_fail_error(c, &error);
}

static int fail_missing(cli *c, const motion *m, const char *path) {
    enum { SHOWN = 5 };
    cli_text names = {0}, label = {0};
    int missing = 0;
    for (int i = 0; i < kk_model_nactuator(m->model); i++) {
        if (m->column[i] < 0 && missing++ < SHOWN) {
            actuator_label(m->model, i, &label);
            text_format(&names, "%s%s", missing > 1 ? ", " : "", text_string(&label));
        }
    }
    kk_error error = error_in(path, m->table);
    snprintf(error.text, sizeof error.text,
             "%d actuator%s no column: %s%s — add %s, or give --allow-missing to keep them as they are at the start",
             missing, missing == 1 ? " has" : "s have", text_string(&names), missing > SHOWN ? ", …" : "",
             missing == 1 ? "it" : "them");
    text_free(&names);
    text_free(&label);
    return cli_fail_error(c, &error);
}

/// Whether a column is one of those that a log of the model has.
static bool is_of_log(const motion *m, int column) {
    const char *name = kk_table_column_name(m->table, column);
    column_list list = {0};
    bool is_there = kk_log_is_aside(m->model, name);
    columns_of_joints(m->model, COLUMN_Q, column_word(COLUMN_Q), &list);
    columns_of_joints(m->model, COLUMN_V, column_word(COLUMN_V), &list);
    for (int i = 0; i < list.count; i++) {
        is_there = is_there || strcmp(list.item[i].name, name) == 0;
    }
    columns_free(&list);
    return is_there;
}

static int match_columns(cli *c, motion *m, const char *path, motion_options options) {
    const int columns = kk_table_column_count(m->table), n = kk_model_nactuator(m->model);
    bool *is_known = cli_allocate((size_t)columns + 1, sizeof *is_known);
    const bool is_log = kk_table_find_column(m->table, "residual") >= 0; // of run --log or export
    bool is_missing = false;
    int code = 0;
    for (int i = 0; i < n; i++) {
        m->column[i] = find_column(m, i);
        is_missing = is_missing || m->column[i] < 0;
        if (m->column[i] >= 0) {
            is_known[m->column[i]] = true;
        }
    }
    for (int k = 0; k < columns && !code && !options.ignore_extra; k++) {
        code = is_known[k] || k == m->time || (is_log && is_of_log(m, k)) ? 0 : fail_extra(c, m, path, k);
    }
    free(is_known);
    return !code && is_missing && !options.allow_missing ? fail_missing(c, m, path) : code;
}

static int check_times(cli *c, const motion *m, const char *path) {
    for (size_t i = 1; i < kk_table_row_count(m->table); i++) {
        if (!(kk_table_row(m->table, i)[m->time] > kk_table_row(m->table, i - 1)[m->time])) {
            kk_error error = {.status = KK_INVALID_ARGUMENT, .line = kk_table_row_line(m->table, i)};
            snprintf(error.file, sizeof error.file, "%s", path);
            snprintf(error.text, sizeof error.text, "time does not rise here — sort the rows by time");
            return cli_fail_error(c, &error);
        }
    }
    return 0;
}

static int read_table(cli *c, motion *m, const char *path, motion_options options) {
    kk_error error = {0};
    error.status = kk_table_read_file(path, NULL, NULL, &m->table, &error);
    if (error.status) {
        return cli_fail_error(c, &error);
    }
    m->time = kk_table_find_column(m->table, "time");
    if (m->time < 0 || kk_table_row_count(m->table) == 0) {
        error = error_in(path, m->table);
        snprintf(error.text, sizeof error.text,
                 m->time < 0 ? "there is no column 'time' — add it, in s" : "there are no rows — add one");
        return cli_fail_error(c, &error);
    }
    const int code = match_columns(c, m, path, options);
    return code ? code : check_times(c, m, path);
}

int motion_open(cli *c, const kk_model *model, const kk_state *state, int keyframe, const char *path,
                motion_options options, motion *m) {
    const size_t n = (size_t)kk_model_nactuator(model);
    *m = (motion){.model = model, .time = -1};
    m->column = cli_allocate(n + 1, sizeof *m->column);
    m->start = cli_allocate(n + 1, sizeof *m->start);
    if (keyframe >= 0) {
        memcpy(m->start, kk_model_keyframe(model, keyframe).control, n * sizeof *m->start);
    } else {
        hold_positions(m, state);
    }
    const int code = path ? read_table(c, m, path, options) : 0;
    if (code) {
        motion_free(m);
    }
    return code;
}

void motion_free(motion *m) {
    kk_table_free(m->table);
    free(m->column);
    free(m->start);
    *m = (motion){0};
}

// ---- values

void motion_at(motion *m, double time, double *control) {
    const int n = kk_model_nactuator(m->model);
    memcpy(control, m->start, (size_t)n * sizeof *control);
    if (!m->table) {
        return;
    }
    const size_t rows = kk_table_row_count(m->table);
    while (m->row + 1 < rows && kk_table_row(m->table, m->row + 1)[m->time] <= time) {
        m->row++;
    }
    const double *a = kk_table_row(m->table, m->row), *b = m->row + 1 < rows ? kk_table_row(m->table, m->row + 1) : a;
    const double span = b[m->time] - a[m->time], part = span > 0 && time > a[m->time] ? (time - a[m->time]) / span : 0;
    for (int i = 0; i < n; i++) {
        if (m->column[i] >= 0) {
            control[i] = a[m->column[i]] + part * (b[m->column[i]] - a[m->column[i]]);
        }
    }
}
