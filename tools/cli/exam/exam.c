// Figures, bars and curves of a row.
#define _POSIX_C_SOURCE 200809L // the clock of a thread
#include "exam.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rows.h"

const char *const exam_solvers[] = {"ladder", "sweeps", "openhrp", "springhead", "kuroda", NULL};

double exam_abs(double x) {
    return x < 0 ? -x : x;
}

double exam_max(double a, double b) {
    return b > a || b != b ? b : a; // a number that is none is the worst
}

// ---- rows

#define LIST(group) exam_rows_##group,
static const exam_row *const groups[] = {EXAM_GROUPS(LIST) NULL};

const exam_row *exam_find(int number) {
    for (int g = 0; groups[g]; g++) {
        for (const exam_row *row = groups[g]; row->number; row++) {
            if (row->number == number) {
                return row;
            }
        }
    }
    return NULL;
}

double exam_clock(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double exam_cpu(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

double exam_thread_cpu(void) {
#ifdef CLOCK_THREAD_CPUTIME_ID
    struct timespec t;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0) {
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    }
#endif
    return exam_cpu();
}

void exam_take(const exam_row *row, const exam_request *request, exam *e) {
    memset(e, 0, sizeof *e);
    e->solver = request->solver;
    e->picture = request->picture;
    e->draws_only = request->picture && request->draws_only;
    e->is_quick = request->is_quick;
    const double start = exam_clock();
    row->run(e);
    e->seconds = exam_clock() - start;
}

bool exam_passes(const exam *e) {
    bool passes = e->figure_count > 0 && !e->trouble[0] && !e->missing[0];
    for (int i = 0; i < e->figure_count; i++) {
        passes = passes && e->figure[i].passes;
    }
    return passes;
}

void exam_free(exam *e) {
    for (int p = 0; p < e->panel_count; p++) {
        for (int s = 0; s < e->panel[p].series_count; s++) {
            free(e->panel[p].series[s].x);
            free(e->panel[p].series[s].y);
        }
    }
    memset(e, 0, sizeof *e);
}

// ---- figures

static void add_figure(exam *e, const char *name, double value, double bar, bool is_floor) {
    if (e->figure_count == EXAM_FIGURES) {
        exam_trouble(e, "the row has too many figures");
        return;
    }
    exam_figure *f = &e->figure[e->figure_count++];
    *f = (exam_figure){.value = value, .bar = bar, .is_floor = is_floor};
    f->passes = is_floor ? value >= bar : value <= bar;
    snprintf(f->name, sizeof f->name, "%s", name);
}

void exam_at_most(exam *e, const char *name, double value, double bar) {
    add_figure(e, name, value, bar, false);
}

void exam_at_least(exam *e, const char *name, double value, double bar) {
    add_figure(e, name, value, bar, true);
}

void exam_not_yet(exam *e, const char *reason) {
    if (!e->missing[0]) {
        snprintf(e->missing, sizeof e->missing, "%s", reason);
    }
}

void exam_trouble(exam *e, const char *text) {
    if (!e->trouble[0]) {
        snprintf(e->trouble, sizeof e->trouble, "%s", text);
    }
}

// ---- plots

int exam_plot(exam *e, const char *title, const char *x, const char *y, bool is_log) {
    if (e->panel_count == EXAM_PANELS) {
        return EXAM_PANELS - 1;
    }
    exam_panel *p = &e->panel[e->panel_count];
    snprintf(p->title, sizeof p->title, "%s", title);
    snprintf(p->x, sizeof p->x, "%s", x);
    snprintf(p->y, sizeof p->y, "%s", y);
    p->is_log = is_log;
    return e->panel_count++;
}

static exam_series *series_of(exam_panel *p, const char *name) {
    for (int i = 0; i < p->series_count; i++) {
        if (strcmp(p->series[i].name, name) == 0) {
            return &p->series[i];
        }
    }
    if (p->series_count == EXAM_SERIES) {
        return NULL;
    }
    exam_series *s = &p->series[p->series_count++];
    snprintf(s->name, sizeof s->name, "%s", name);
    return s;
}

void exam_point(exam *e, int panel, const char *series, double x, double y) {
    exam_series *s = series_of(&e->panel[panel], series);
    if (!s) {
        return;
    }
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 256;
        s->x = cli_reallocate(s->x, s->capacity, sizeof *s->x);
        s->y = cli_reallocate(s->y, s->capacity, sizeof *s->y);
    }
    s->x[s->count] = x;
    s->y[s->count++] = y;
}

void exam_draw(const exam_row *row, const exam *e, cli_text *svg) {
    plot_panel panel[EXAM_PANELS];
    plot_series series[EXAM_PANELS][EXAM_SERIES];
    for (int i = 0; i < e->panel_count; i++) {
        const exam_panel *p = &e->panel[i];
        for (int k = 0; k < p->series_count; k++) {
            const exam_series *s = &p->series[k];
            series[i][k] = (plot_series){.name = s->name, .x = s->x, .y = s->y, .count = s->count};
        }
        panel[i] = (plot_panel){.title = p->title,
                                .x = {.label = p->x},
                                .y = {.label = p->y, .is_log = p->is_log},
                                .series = series[i],
                                .series_count = p->series_count};
    }
    char title[2 * EXAM_TEXT];
    snprintf(title, sizeof title, "Exam %d: %s", row->number, row->scene);
    const plot_figure figure = {
        .title = title, .description = row->reference, .panels = panel, .panel_count = e->panel_count};
    plot_write(&figure, svg);
}
