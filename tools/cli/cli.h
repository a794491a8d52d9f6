/// The command-line tool: verbs, their arguments and options as tables, and how a verb reports.
///
/// A verb is one file, verb_NAME.c, with a `const cli_verb`, and one line in verbs.c. Help, manual pages, shell completion and the parser are
/// made from the same tables. `run` gets the parsed options as the struct that the tables describe by offsets.
#ifndef KARAKURI_CLI_H
#define KARAKURI_CLI_H

#include <karakuri/karakuri.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "json.h"
#include "text.h"

/// Exit codes, the same for every verb.
enum {
    CLI_EXIT_OK = 0,
    CLI_EXIT_FINDING = 1,       ///< it ran, and found something wrong: a failed check
    CLI_EXIT_USAGE = 2,         ///< the command line
    CLI_EXIT_INPUT = 3,         ///< a file cannot be read, is wrong, or cannot be written
    CLI_EXIT_LIMIT = 4,         ///< out of memory, over a limit, or a defect of ours
    CLI_EXIT_INTERRUPTED = 130, ///< by Ctrl-C; files are whole as far as they go
    CLI_EXIT_TERMINATED = 143,  ///< by SIGTERM; the same
};

typedef enum cli_kind {
    CLI_FLAG,   ///< bool
    CLI_TEXT,   ///< const char *
    CLI_FILE,   ///< const char *; "-" is the standard input or output
    CLI_FOLDER, ///< const char *
    CLI_MODEL,  ///< const char *: a file or robot:NAME
    CLI_VERB,   ///< const char *: a verb's name
    CLI_LIST,   ///< const char *: words with commas between, of `choices` where it has them
    CLI_NUMBER, ///< double, finite, within low … high
    CLI_COUNT,  ///< int64_t, within low … high
    CLI_CHOICE, ///< int: index in `choices`
} cli_kind;

/// An option, or a positional argument where `letter` and `low`, `high` have no meaning. Tables end with a NULL name.
typedef struct cli_option {
    const char *name; ///< without --; of an argument what stands for it, MODEL
    char letter;      ///< of the short form; 0: none
    cli_kind kind;
    bool is_required;
    bool is_list;               ///< may be given again and again: a cli_list; of arguments the last alone
    size_t offset;              ///< in the verb's struct
    const char *value;          ///< what stands for its value in help; NULL for flags
    const char *about;          ///< one or two sentences, without a full stop
    const char *const *choices; ///< NULL at its end
    double low, high;           ///< both 0: any
} cli_option;

/// The values of an option or argument that may be given again and again.
typedef struct cli_list {
    const char **item;
    int count;
} cli_list;

typedef struct cli_term {
    const char *name, *about; ///< NULL behind the last
} cli_term;

typedef struct cli cli;

typedef struct cli_verb {
    const char *name;
    const char *about;           ///< one line, lower case, no full stop
    const char *const *details;  ///< paragraphs, NULL at the end; may be NULL
    const cli_option *arguments; ///< may be NULL
    const cli_option *options;   ///< may be NULL
    const char *terms_title;     ///< one more section of help, made from another table; may be NULL
    cli_term (*term)(int index); ///< its lines
    const cli_term *examples;    ///< command, what it does; may be NULL
    size_t size;                 ///< of the struct of parsed options
    const void *defaults;        ///< its values before parsing; NULL: zeros
    int (*run)(cli *c, const void *options);
} cli_verb;

/// All verbs, in the order of help; NULL at the end.
extern const cli_verb *const cli_verbs[];
const cli_verb *cli_find_verb(const char *name);
/// The verb, or NULL after an error that suggests the nearest.
const cli_verb *cli_verb_or_fail(cli *c, const char *name);

/// Options of every verb.
extern const cli_option cli_common_options[];

/// Options of every verb that takes a model (load.c); NULL of the others.
const cli_option *cli_loading_options(const cli_verb *verb);

/// How models are read.
typedef struct cli_loading {
    cli_list search, arguments;
    const char *package_path, *srdf;
    bool allow_absolute, floor, servos, exact_meshes, clean;
    bool repair;      ///< set by verbs, no option
    int base, meshes; ///< index of the choices
} cli_loading;

typedef struct cli_common {
    bool json, quiet, help;
    int color; ///< index of cli_colors
} cli_common;

/// What a run knows: how to print, and what was said so far.
struct cli {
    const cli_verb *verb; ///< NULL before it is known
    cli_common common;
    cli_loading loading;
    char **words; ///< [word_count] behind the verb, as they were given
    int word_count;
    bool color_out, color_err, progress;
    char **notes;
    int note_count;
    bool has_failed; ///< cli_fail has written the document
};

// ---- reporting (report.c)

/// Settles colors and progress from the common options and the terminal.
void cli_settle(cli *c);
/// Prints an error, and with --json the document of it; gives `code` back.
__attribute__((format(printf, 3, 4))) int cli_fail(cli *c, int code, const char *format, ...);
/// An error of the library with its place; the exit code follows from its status.
int cli_fail_error(cli *c, const kk_error *error);
/// A remark on the standard error, and in the document's "notes".
__attribute__((format(printf, 2, 3))) void cli_note(cli *c, const char *format, ...);
/// A finding of the library as file:line:column: warning: what — remedy, likewise.
void cli_message(cli *c, const kk_message *message);
/// That line, without colors.
void cli_message_text(const kk_message *message, cli_text *out);
/// Begins and ends a document with what every verb has: verb, ok, notes. Ending prints it.
void cli_begin_document(const cli *c, json_writer *json);
/// The same for verbs that find something wrong: "ok" is false then.
void cli_begin_verdict(const cli *c, json_writer *json, bool is_good);
int cli_end_document(const cli *c, json_writer *json);
/// Writes a text for a terminal: names and notes come from files of strangers, so what a terminal would take for a command is shown as \x1b, but for our own styles.
void cli_put(FILE *file, const char *text);
/// Prints a text, or {"text": …} with --json, and frees it.
int cli_print(const cli *c, cli_text *text);
/// Closes the standard output; an exit code of its own where not everything was written.
int cli_finish(cli *c, int code);

typedef enum cli_style_kind {
    CLI_PLAIN,
    CLI_BOLD,
    CLI_DIM,
    CLI_RED,
    CLI_YELLOW,
    CLI_GREEN,
    CLI_CYAN,
    CLI_STYLE_COUNT
} cli_style_kind;
/// The escape sequence for the standard output; "" where it is no terminal.
const char *cli_style(const cli *c, cli_style_kind kind);

/// From here on the first Ctrl-C, or SIGTERM, only sets what cli_is_interrupted tells, so that a verb can finish its files; a second one ends it,
/// and so do ten seconds without a look at cli_is_interrupted.
void cli_catch_interrupts(void);
bool cli_is_interrupted(void);
/// `code`; or, where there was an interrupt, a word about what the files hold and its own exit code.
int cli_end_interrupted(cli *c, int code, const char *what);

/// Seconds of a clock that never goes back.
double cli_now(void);

/// A bar on the standard error, drawn at most ten times a second and only on a terminal. `done` = `total` takes it away.
typedef struct cli_progress {
    double last;
    bool is_drawn;
} cli_progress;
void cli_progress_show(const cli *c, cli_progress *p, const char *what, size_t done, size_t total);

// ---- parsing (parse.c)

/// Reads the words behind the verb into `target` and the common options. 0, or the exit code after an error.
int cli_parse(cli *c, const cli_verb *verb, int argc, char **argv, void *target);

// ---- help (help.c)

void help_overview(const cli *c, cli_text *out);
void help_verb(const cli *c, const cli_verb *verb, cli_text *out);
/// "karakuri info MODEL [options]"
void help_usage(const cli_verb *verb, cli_text *out);
extern const cli_term cli_exit_codes[];

#endif
