// Help for people, from the same tables as the parser.
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { INDENT = 2 };

const cli_term cli_exit_codes[] = {
    {"0", "all went well"},
    {"1", "it ran and found something wrong: a failed check"},
    {"2", "the command line is wrong"},
    {"3", "a file cannot be read or written, or what is in it is wrong"},
    {"4", "out of memory, over a limit, or a defect of karakuri"},
    {"130", "interrupted by Ctrl-C; files are whole as far as they go"},
    {"143", "ended by SIGTERM; the same"},
    {NULL, NULL},
};

static int width(void) {
    const char *columns = getenv("COLUMNS");
    const int given = columns ? atoi(columns) : 0; // NOLINT(cert-err34-c): anything odd is 0
    return given >= 40 && given <= 100 ? given : 88;
}

static void add_title(const cli *c, cli_text *out, const char *title) {
    text_format(out, "\n%s%s%s\n", cli_style(c, CLI_BOLD), title, cli_style(c, CLI_PLAIN));
}

/// A name and what it means, at a common column.
static void add_term(cli_text *out, const char *name, const char *about, int column) {
    const int length = text_width(name);
    text_repeat(out, " ", INDENT);
    text_add(out, name);
    if (INDENT + length + 2 > column) {
        text_add(out, "\n");
        text_repeat(out, " ", column);
    } else {
        text_repeat(out, " ", column - INDENT - length);
    }
    text_wrap(out, about, column, column, width());
    text_add(out, "\n");
}

/// "-o, --out FILE"
static void option_name(const cli_option *o, cli_text *name) {
    if (o->letter) {
        text_format(name, "-%c, ", o->letter);
    } else {
        text_add(name, "    ");
    }
    text_format(name, "--%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
}

static void add_options(cli_text *out, const cli_option *table, int column) {
    for (; table && table->name; table++) {
        cli_text name = {0};
        option_name(table, &name);
        add_term(out, text_string(&name), table->about, column);
        text_free(&name);
    }
}

void help_usage(const cli_verb *verb, cli_text *out) {
    text_format(out, "karakuri %s", verb->name);
    for (const cli_option *a = verb->arguments; a && a->name; a++) {
        text_format(out, a->is_required ? " %s%s" : " [%s%s]", a->name, a->is_list ? "…" : "");
    }
    for (const cli_option *o = verb->options; o && o->name; o++) {
        if (o->is_required) {
            text_format(out, " --%s %s", o->name, o->value);
        }
    }
    text_add(out, " [options]");
}

static void add_arguments(const cli *c, cli_text *out, const cli_verb *verb) {
    if (verb->arguments) {
        add_title(c, out, "ARGUMENTS");
        for (const cli_option *a = verb->arguments; a->name; a++) {
            add_term(out, a->name, a->about, 12);
        }
    }
}

static void add_details(cli_text *out, const char *const *details) {
    for (; details && *details; details++) {
        text_add(out, "\n");
        text_wrap(out, *details, 0, 0, width());
        text_add(out, "\n");
    }
}

static void add_terms(const cli *c, cli_text *out, const cli_verb *verb) {
    if (verb->term) {
        add_title(c, out, verb->terms_title);
        for (int i = 0; verb->term(i).name; i++) {
            add_term(out, verb->term(i).name, verb->term(i).about, 22);
        }
    }
}

static void add_examples(const cli *c, cli_text *out, const cli_term *example) {
    if (example) {
        add_title(c, out, "EXAMPLES");
        for (; example->name; example++) {
            text_format(out, "  %s# %s%s\n  $ %s\n", cli_style(c, CLI_DIM), example->about, cli_style(c, CLI_PLAIN),
                        example->name);
        }
    }
}

void help_verb(const cli *c, const cli_verb *verb, cli_text *out) {
    text_format(out, "%skarakuri %s%s: %s\n", cli_style(c, CLI_BOLD), verb->name, cli_style(c, CLI_PLAIN), verb->about);
    add_title(c, out, "USAGE");
    text_add(out, "  ");
    help_usage(verb, out);
    text_add(out, "\n");
    add_details(out, verb->details);
    add_arguments(c, out, verb);
    if (verb->options) {
        add_title(c, out, "OPTIONS");
        add_options(out, verb->options, 26);
    }
    if (cli_loading_options(verb)) {
        add_title(c, out, "LOADING");
        add_options(out, cli_loading_options(verb), 26);
    }
    add_terms(c, out, verb);
    add_title(c, out, "COMMON OPTIONS");
    add_options(out, cli_common_options, 26);
    add_examples(c, out, verb->examples);
}

void help_overview(const cli *c, cli_text *out) {
    text_format(out, "%skarakuri%s: rigid multibody dynamics of robots, the same bits everywhere\n",
                cli_style(c, CLI_BOLD), cli_style(c, CLI_PLAIN));
    add_title(c, out, "USAGE");
    text_add(out, "  karakuri VERB [arguments] [options]\n");
    add_title(c, out, "VERBS");
    for (int i = 0; cli_verbs[i]; i++) {
        add_term(out, cli_verbs[i]->name, cli_verbs[i]->about, 14);
    }
    add_title(c, out, "COMMON OPTIONS");
    add_options(out, cli_common_options, 26);
    add_title(c, out, "EXIT CODES");
    for (const cli_term *t = cli_exit_codes; t->name; t++) {
        add_term(out, t->name, t->about, 6);
    }
    text_add(out, "\n'karakuri help VERB' tells more of a verb; 'karakuri info robot:humanoid36' is a first try.\n");
}
