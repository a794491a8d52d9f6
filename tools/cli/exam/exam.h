/// The exam: scenes whose answer is known, the figure the engine reaches, the bar, and what the best peer reaches.
///
/// A row builds its scenes by calls of the library (scene.h), runs them, and notes figures. It passes where every figure keeps its bar
/// and nothing went wrong. What cannot be asked yet says so, and counts as failed.
#ifndef KARAKURI_CLI_EXAM_H
#define KARAKURI_CLI_EXAM_H

#include "../cli.h"
#include "../plot.h"

/// Rows from EXAM_SECOND on are the second exam: motion, from state to state.
enum { EXAM_ROWS = 44, EXAM_SECOND = 31, EXAM_FIGURES = 48, EXAM_PANELS = 8, EXAM_SERIES = 8, EXAM_TEXT = 240 };

/// Which solver a run uses.
typedef enum exam_solver {
    EXAM_LADDER, ///< the default: as many rungs as the certificate asks for
    EXAM_SWEEPS, ///< fifty Gauss-Seidel sweeps and nothing else, without a certificate
    // methods of the papers, for comparison: they need not keep the bars
    EXAM_OPENHRP,
    EXAM_SPRINGHEAD,
    EXAM_KURODA,
} exam_solver;
extern const char *const exam_solvers[];

/// A measured number beside its bar.
typedef struct exam_figure {
    char name[EXAM_TEXT];
    double value, bar;
    bool is_floor; ///< the value must be at least the bar
    bool passes;
} exam_figure;

typedef struct exam_series {
    char name[64];
    double *x, *y;
    size_t count, capacity;
} exam_series;

typedef struct exam_panel {
    char title[EXAM_TEXT], x[64], y[64];
    bool is_log;
    exam_series series[EXAM_SERIES];
    int series_count;
} exam_panel;

/// A row under way, and what it found.
typedef struct exam {
    exam_solver solver;
    exam_figure figure[EXAM_FIGURES];
    int figure_count;
    exam_panel panel[EXAM_PANELS];
    int panel_count;
    char trouble[640];       ///< the first error of the library; "": none
    char missing[EXAM_TEXT]; ///< what the engine cannot do yet; "": nothing
    double seconds;
    const char *picture; ///< file for a picture of the row's first scene at its end; NULL: none, or it is drawn
    bool is_drawn;       ///< nothing but the picture was asked for, and it is there: further scenes do not begin
    bool draws_only;
    bool
        is_quick; ///< the row's short form is asked for: rows of the second exam have one, which fails where the whole row does
} exam;

typedef struct exam_row {
    int number;
    const char *scene, *reference, *peer;
    bool is_quick; ///< takes less than two seconds, or has a short form that does: part of `make test`
    void (*run)(exam *e);
} exam_row;

/// Row by number, 1 … EXAM_ROWS.
const exam_row *exam_find(int number);
/// How a row is to be run.
typedef struct exam_request {
    exam_solver solver;
    const char *picture; ///< file for a PNG picture of the first scene at its end; NULL: none
    bool draws_only;     ///< nothing but the picture: the row ends then, without figures
    bool is_quick;       ///< the short form, where the row has one
} exam_request;
/// Runs a row and takes its time.
void exam_take(const exam_row *row, const exam_request *request, exam *e);
bool exam_passes(const exam *e);
void exam_free(exam *e);

// ---- what rows say

/// The figure must be at most the bar; one that is not a number fails.
void exam_at_most(exam *e, const char *name, double value, double bar);
void exam_at_least(exam *e, const char *name, double value, double bar);
/// What cannot be asked yet, and why.
void exam_not_yet(exam *e, const char *reason);
void exam_trouble(exam *e, const char *text);

/// A panel of the row's plot; gives its number.
int exam_plot(exam *e, const char *title, const char *x, const char *y, bool is_log);
/// A point of a series, which is made when first named.
void exam_point(exam *e, int panel, const char *series, double x, double y);
/// The row's plot as SVG.
void exam_draw(const exam_row *row, const exam *e, cli_text *svg);

// ---- small numbers for rows

double exam_abs(double x);
double exam_clock(void);
/// Seconds that this process has computed: other programs on the machine do not count.
double exam_cpu(void); ///< s
/// The same of this thread alone, to the nanosecond where the system tells it.
double exam_thread_cpu(void); ///< s
double exam_max(double a, double b);

#endif
