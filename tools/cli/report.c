// How a run speaks: errors and notes on the standard error, documents on the standard output, colors on terminals only.
#define _POSIX_C_SOURCE 200809L // isatty, clock_gettime
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

void cli_settle(cli *c) {
    const char *terminal = getenv("TERM"), *no_color = getenv("NO_COLOR");
    const bool may = !(no_color && no_color[0]) && !(terminal && strcmp(terminal, "dumb") == 0);
    const bool always = c->common.color == 1, never = c->common.color == 2;
    c->color_out = !never && (always || (may && isatty(STDOUT_FILENO)));
    c->color_err = !never && (always || (may && isatty(STDERR_FILENO)));
    c->progress = !c->common.quiet && isatty(STDERR_FILENO);
}

static const char *sequence(cli_style_kind kind) {
    static const char *const all[] = {"\033[0m",  "\033[1m",  "\033[2m", "\033[1;31m",
                                      "\033[33m", "\033[32m", "\033[36m"};
    return all[kind];
}

const char *cli_style(const cli *c, cli_style_kind kind) {
    return c->color_out ? sequence(kind) : "";
}

static const char *error_style(const cli *c, cli_style_kind kind) {
    return c->color_err ? sequence(kind) : "";
}

// ---- what a terminal gets

/// How many bytes at the start of a text are one of our own styles.
static size_t style_length(const char *text) {
    for (cli_style_kind i = CLI_PLAIN; i < CLI_STYLE_COUNT; i++) {
        const size_t length = strlen(sequence(i));
        if (strncmp(text, sequence(i), length) == 0) {
            return length;
        }
    }
    return 0;
}

/// Whether a terminal would take this for a command: C0 but for tab and end of line, DEL, and C1, as UTF-8 or as a byte that is none.
static bool is_command(const unsigned char *at, bool is_inside) {
    if (*at < 0x20) {
        return *at != '\n' && *at != '\t';
    }
    return *at == 0x7f || (*at == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0) || (!is_inside && *at >= 0x80 && *at < 0xa0);
}

void cli_put(FILE *file, const char *text) {
    int left = 0; // bytes of a character of several
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        const size_t style = left ? 0 : style_length((const char *)at);
        if (style) {
            fwrite(at, 1, style, file);
            at += style - 1;
        } else if (is_command(at, left > 0)) {
            at += *at == 0xc2;
            fprintf(file, "\\x%02x", *at);
            left = 0;
        } else {
            fputc(*at, file);
            left = *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : *at >= 0xc2 ? 1 : left > 0 && *at >= 0x80 ? left - 1 : 0;
        }
    }
}

static char *format_text(const char *format, va_list list) {
    char text[2048];
    vsnprintf(text, sizeof text, format, list);
    return cli_copy(text);
}

// ---- documents

void cli_begin_verdict(const cli *c, json_writer *json, bool is_good) {
    json_begin_object(json, NULL);
    json_string(json, "verb", c->verb ? c->verb->name : NULL);
    json_bool(json, "ok", is_good);
}

void cli_begin_document(const cli *c, json_writer *json) {
    cli_begin_verdict(c, json, true);
}

static void write_notes(const cli *c, json_writer *json) {
    json_begin_array(json, "notes");
    for (int i = 0; i < c->note_count; i++) {
        json_string(json, NULL, c->notes[i]);
    }
    json_end(json);
}

int cli_end_document(const cli *c, json_writer *json) {
    write_notes(c, json);
    json_end(json);
    cli_put(stdout, text_string(&json->text));
    json_free(json);
    return CLI_EXIT_OK;
}

int cli_print(const cli *c, cli_text *text) {
    if (c->common.json) {
        json_writer json = {0};
        cli_begin_document(c, &json);
        json_string(&json, "text", text_string(text));
        cli_end_document(c, &json);
    } else {
        cli_put(stdout, text_string(text));
    }
    text_free(text);
    return CLI_EXIT_OK;
}

static void free_notes(cli *c) {
    for (int i = 0; i < c->note_count; i++) {
        free(c->notes[i]);
    }
    free(c->notes);
    c->notes = NULL;
    c->note_count = 0;
}

int cli_finish(cli *c, int code) {
    free_notes(c);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("karakuri: error: the output could not be written\n", stderr);
        return code ? code : CLI_EXIT_INPUT;
    }
    return code;
}

// ---- errors and notes

static void write_error_document(cli *c, int code, const kk_error *error) {
    json_writer json = {0};
    json_begin_object(&json, NULL);
    json_string(&json, "verb", c->verb ? c->verb->name : NULL);
    json_bool(&json, "ok", false);
    json_begin_object(&json, "error");
    json_integer(&json, "exit_code", code);
    json_string(&json, "status", error->status ? kk_status_name(error->status) : NULL);
    json_string(&json, "file", error->file[0] ? error->file : NULL);
    json_integer(&json, "line", error->line);
    json_integer(&json, "column", error->column);
    json_string(&json, "text", error->text);
    json_end(&json);
    cli_end_document(c, &json);
    c->has_failed = true;
}

/// "file:line:column: " as far as it is known.
static void print_place(const kk_error *error) {
    if (error->file[0]) {
        cli_put(stderr, error->file);
        if (error->line > 0) {
            fprintf(stderr, error->column > 0 ? ":%d:%d" : ":%d", error->line, error->column);
        }
        fputs(": ", stderr);
    } else {
        fputs("karakuri: ", stderr);
    }
}

static int fail_with(cli *c, int code, const kk_error *error) {
    fputs(error_style(c, CLI_BOLD), stderr);
    print_place(error);
    fprintf(stderr, "%s%serror:%s ", error_style(c, CLI_PLAIN), error_style(c, CLI_RED), error_style(c, CLI_PLAIN));
    cli_put(stderr, error->text);
    fputc('\n', stderr);
    if (code == CLI_EXIT_USAGE) {
        fprintf(stderr, "try 'karakuri help%s%s'\n", c->verb ? " " : "", c->verb ? c->verb->name : "");
    }
    if (c->common.json && !c->has_failed) {
        write_error_document(c, code, error);
    }
    return code;
}

int cli_fail(cli *c, int code, const char *format, ...) {
    kk_error error = {0};
    va_list list;
    va_start(list, format);
    vsnprintf(error.text, sizeof error.text, format, list);
    va_end(list);
    return fail_with(c, code, &error);
}

int cli_fail_error(cli *c, const kk_error *error) {
    const bool is_limit = error->status == KK_OUT_OF_MEMORY || error->status == KK_LIMIT_EXCEEDED;
    kk_error with_text = *error;
    if (!with_text.text[0]) {
        snprintf(with_text.text, sizeof with_text.text, "%s", kk_status_text(error->status));
    }
    return fail_with(c, is_limit ? CLI_EXIT_LIMIT : CLI_EXIT_INPUT, &with_text);
}

static void keep_note(cli *c, char *text) {
    c->notes = cli_reallocate(c->notes, (size_t)c->note_count + 1, sizeof *c->notes);
    c->notes[c->note_count++] = text;
}

void cli_message_text(const kk_message *message, cli_text *out) {
    if (message->file && message->file[0]) {
        text_format(out, "%s:", message->file);
        if (message->line) {
            text_format(out, "%d:", message->line);
        }
        if (message->line && message->column) {
            text_format(out, "%d:", message->column);
        }
        text_add(out, " ");
    }
    text_format(out, "%s: %s", kk_severity_name(message->severity), message->text);
    if (message->remedy && message->remedy[0]) {
        text_format(out, " — %s", message->remedy);
    }
    if (message->repeats > 0) {
        text_format(out, " (and %d more like it)", message->repeats);
    }
}

void cli_message(cli *c, const kk_message *message) {
    cli_text line = {0};
    cli_message_text(message, &line);
    if (!c->common.quiet) {
        const bool is_note = message->severity == KK_SEVERITY_NOTE;
        fputs(error_style(c, is_note ? CLI_CYAN : CLI_YELLOW), stderr);
        cli_put(stderr, text_string(&line));
        fprintf(stderr, "%s\n", error_style(c, CLI_PLAIN));
    }
    keep_note(c, cli_copy(text_string(&line)));
    text_free(&line);
}

void cli_note(cli *c, const char *format, ...) {
    va_list list;
    va_start(list, format);
    char *text = format_text(format, list);
    va_end(list);
    keep_note(c, text);
    if (!c->common.quiet) {
        fprintf(stderr, "%snote:%s ", error_style(c, CLI_CYAN), error_style(c, CLI_PLAIN));
        cli_put(stderr, text);
        fputc('\n', stderr);
    }
}

// ---- progress

double cli_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void draw(const char *what, size_t done, size_t total) {
    enum { WIDTH = 30 };
    const int full = total ? (int)((double)done / (double)total * WIDTH) : 0;
    cli_text line = {0};
    text_format(&line, "\r%s ", what);
    text_repeat(&line, "█", full);
    text_repeat(&line, "░", WIDTH - full);
    text_format(&line, " %3d %%", total ? (int)(100.0 * (double)done / (double)total) : 0);
    fputs(text_string(&line), stderr);
    text_free(&line);
}

void cli_progress_show(const cli *c, cli_progress *p, const char *what, size_t done, size_t total) {
    if (!c->progress || (done < total && cli_now() - p->last < 0.1)) {
        return;
    }
    if (done >= total) {
        fputs(p->is_drawn ? "\r\033[K" : "", stderr);
        return;
    }
    // the first call only starts the clock: what is done in a tenth of a second needs no bar
    if (p->last > 0) {
        draw(what, done, total);
        p->is_drawn = true;
    }
    p->last = cli_now();
}
