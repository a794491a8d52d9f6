/// Reproductions: the experiments of the papers that Karakuri grew from, run again, with the paper's finding, ours and a verdict.
///
/// An experiment (study) is one row of a table: which paper, what it found, and a function that runs it. The function notes checks and draws
/// curves; the framework (reproduce.c, report_html.c) writes NAME.csv of every panel, NAME.svg, and one HTML page of all studies. To add a
/// file of studies: a list `const study_def studies_GROUP[]` that ends with a NULL name, and its GROUP in STUDY_GROUPS.
///
/// Scenes are built by the calls of exam/scene.h on `&s->exam`; panels and series are the exam's (exam_plot, exam_point), and so is
/// trouble (exam_trouble), which fails the study.
#ifndef KARAKURI_CLI_REPRODUCE_H
#define KARAKURI_CLI_REPRODUCE_H

#include "../cli.h"
#include "../exam/exam.h"
#include "../exam/scene.h"
#include "../load.h"

enum { STUDY_CHECKS = 48, STUDY_NOTES = 16, STUDY_PICTURES = 4, STUDY_TEXT = 240, STUDY_NOTE = 1200 };
enum { TABLE_ROWS = 16, TABLE_COLUMNS = 12, TABLE_CELL = 48 };

/// One line of a study's verdict, as a person reads it.
typedef struct study_check {
    char name[STUDY_TEXT];
    char paper[STUDY_TEXT]; ///< what the paper has for it; "": nothing
    char ours[STUDY_TEXT];
    char bar[STUDY_TEXT]; ///< what is asked of ours
    bool passes;
} study_check;

/// A drawing that is no plot.
typedef struct study_picture {
    char name[64]; ///< of its file, without .svg
    char caption[STUDY_TEXT];
    cli_text svg;
} study_picture;

/// A table as papers have them: a row of heads, and rows of cells.
typedef struct study_table {
    char caption[STUDY_TEXT]; ///< "": the study has no table
    char cell[TABLE_ROWS][TABLE_COLUMNS][TABLE_CELL];
    int rows, columns;
} study_table;

/// A study under way, and what it found.
typedef struct study {
    cli *c;
    const char *models; ///< folder of our models
    bool quick;         ///< a shorter run of the same kind is enough
    exam exam;          ///< scenes, panels, series, trouble
    study_check check[STUDY_CHECKS];
    int check_count;
    char note[STUDY_NOTES][STUDY_NOTE]; ///< sentences for the report
    int note_count;
    study_table table;
    study_picture picture[STUDY_PICTURES];
    int picture_count;
    double seconds;
} study;

typedef struct study_def {
    const char *seed;  ///< "s0" … "s4"
    const char *name;  ///< of its files: "s0_boxes"
    const char *title; ///< for people
    const char *paper; ///< what the paper says, in a sentence or two
    bool is_quick;     ///< takes a second or two: part of the tests
    void (*run)(study *s);
} study_def;

#define STUDY_GROUPS(X) \
    X(s0)               \
    X(s0_walk)          \
    X(s1)               \
    X(s1_crab)          \
    X(s2)               \
    X(s3)               \
    X(s4_drop)          \
    X(s4)               \
    X(s4_crawl)         \
    X(s4_pid)

#define STUDY_DECLARE(group) extern const study_def studies_##group[];
STUDY_GROUPS(STUDY_DECLARE)
#undef STUDY_DECLARE

/// All studies in order; NULL behind the last.
const study_def *study_at(int index);
/// Runs a study and takes its time.
void study_take(const study_def *def, cli *c, const char *models, bool quick, study *s);
bool study_passes(const study *s);
void study_free(study *s);

// ---- what studies say

/// The value must be at most (at least) the bar; one that is not a number fails. @param unit  "": none
void study_at_most(study *s, const char *name, const char *paper, double value, const char *unit, double bar);
void study_at_least(study *s, const char *name, const char *paper, double value, const char *unit, double bar);
/// The value must be within `most` of what is expected.
void study_near(study *s, const char *name, const char *paper, double value, const char *unit, double expected,
                double most);
/// Something that is so or not. @param ours  what happened    @param bar  what is asked
void study_fact(study *s, const char *name, const char *paper, const char *ours, const char *bar, bool passes);
/// A sentence for the report.
__attribute__((format(printf, 2, 3))) void study_note(study *s, const char *format, ...);
/// The study's table; its first row holds the heads.
void study_tabulate(study *s, const char *caption);
/// Adds a row; cells are separated by bars: "9.8|1/50".
__attribute__((format(printf, 2, 3))) void study_row(study *s, const char *format, ...);
/// A drawing of its own; gives its text to be filled with SVG.
cli_text *study_draw(study *s, const char *name, const char *caption);
/// Loads one of our models, "titan8/titan8.xml". False after trouble is noted.
bool study_load(study *s, const char *file, cli_model *m);
/// Notes a library error as trouble. True where there was none.
bool study_ok(study *s, kk_status status, const kk_error *error);
/// Least time of several runs of a call: for figures of speed. @return s a call
double study_time(void (*call)(void *user), void *user, int calls, int repeats);

// ---- files (report_html.c)

/// Writes CSV, SVG and pictures of a study into a folder. 0, or the exit code after an error.
int study_write_files(cli *c, const char *folder, const study_def *def, const study *s);
/// Appends a study's part of the page, and its line in the list of contents.
void study_write_html(cli_text *html, const study_def *def, const study *s);
void study_write_entry(cli_text *list, const study_def *def, const study *s);
/// Head of the page with the list of contents ("": none), and its end.
void study_begin_html(cli_text *html, int passed, int failed, double seconds, const char *list);
void study_end_html(cli_text *html);

#endif
