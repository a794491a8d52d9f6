// karakuri man [VERB] [--out FOLDER]: manual pages in the man(7) language, from the tables of help.
#include <string.h>

#include "cli.h"
#include "save.h"

typedef struct man_options {
    const char *verb, *folder;
} man_options;

static const cli_option arguments[] = {
    {.name = "VERB",
     .kind = CLI_VERB,
     .offset = offsetof(man_options, verb),
     .about = "whose page; without one the page of karakuri itself"},
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "out",
     .letter = 'o',
     .kind = CLI_FOLDER,
     .offset = offsetof(man_options, folder),
     .value = "FOLDER",
     .about = "write all pages as files into this folder, which must exist"},
    {.name = NULL},
};

// ---- the language: a line that starts with a point or apostrophe is a request, a backslash an escape, a hyphen is one only as \-

static void add_plain(cli_text *out, const char *string) {
    for (const char *s = string; *s; s++) {
        const bool starts = s == string && (!out->size || out->bytes[out->size - 1] == '\n');
        if (*s == '\\') {
            text_add(out, "\\e");
        } else if (*s == '-') {
            text_add(out, "\\-");
        } else if (starts && (*s == '.' || *s == '\'')) {
            text_format(out, "\\&%c", *s);
        } else {
            text_add_bytes(out, s, 1);
        }
    }
}

static void add_line(cli_text *out, const char *string) {
    add_plain(out, string);
    text_add(out, "\n");
}

static void add_bold(cli_text *out, const char *string) {
    text_add(out, "\\fB");
    add_plain(out, string);
    text_add(out, "\\fR");
}

static void add_term(cli_text *out, const char *name, const char *about) {
    text_add(out, ".TP\n");
    add_bold(out, name);
    text_add(out, "\n");
    add_line(out, about);
}

static void add_option(cli_text *out, const cli_option *o) {
    text_add(out, ".TP\n");
    if (o->letter) {
        const char name[] = {'-', o->letter, 0};
        add_bold(out, name);
        text_add(out, ", ");
    }
    cli_text name = {0};
    text_format(&name, "--%s", o->name);
    add_bold(out, text_string(&name));
    text_free(&name);
    if (o->value) {
        text_format(out, " \\fI%s\\fR", o->value);
    }
    text_add(out, "\n");
    add_line(out, o->about);
}

static void add_head(cli_text *out, const char *name, const char *about) {
    cli_text upper = {0};
    for (const char *s = name; *s; s++) {
        const char letter = *s >= 'a' && *s <= 'z' ? (char)(*s - 32) : *s;
        text_add_bytes(&upper, &letter, 1);
    }
    text_format(out, ".TH %s 1 \"\" \"karakuri %s\" \"Karakuri\"\n.SH NAME\n", text_string(&upper), kk_version());
    text_free(&upper);
    add_plain(out, name);
    text_add(out, " \\- ");
    add_line(out, about);
}

static void add_exit_codes(cli_text *out) {
    text_add(out, ".SH EXIT STATUS\n");
    for (const cli_term *t = cli_exit_codes; t->name; t++) {
        add_term(out, t->name, t->about);
    }
}

static void add_examples(cli_text *out, const cli_term *example) {
    text_add(out, example ? ".SH EXAMPLES\n" : "");
    for (; example && example->name; example++) {
        text_add(out, ".PP\n");
        add_line(out, example->about);
        text_add(out, ".PP\n.nf\n.RS\n");
        add_line(out, example->name);
        text_add(out, ".RE\n.fi\n");
    }
}

// ---- pages

static void add_description(cli_text *out, const cli_verb *verb) {
    text_add(out, verb->details ? ".SH DESCRIPTION\n" : "");
    for (const char *const *d = verb->details; d && *d; d++) {
        text_add(out, ".PP\n");
        add_line(out, *d);
    }
}

static void add_tables(cli_text *out, const cli_verb *verb) {
    text_add(out, verb->arguments ? ".SH ARGUMENTS\n" : "");
    for (const cli_option *a = verb->arguments; a && a->name; a++) {
        add_term(out, a->name, a->about);
    }
    text_add(out, ".SH OPTIONS\n");
    for (const cli_option *o = verb->options; o && o->name; o++) {
        add_option(out, o);
    }
    for (const cli_option *o = cli_loading_options(verb); o && o->name; o++) {
        add_option(out, o);
    }
    for (const cli_option *o = cli_common_options; o->name; o++) {
        add_option(out, o);
    }
    if (verb->term) {
        text_format(out, ".SH %s\n", verb->terms_title);
        for (int i = 0; verb->term(i).name; i++) {
            add_term(out, verb->term(i).name, verb->term(i).about);
        }
    }
}

static void page_of_verb(cli_text *out, const cli_verb *verb) {
    char name[64];
    snprintf(name, sizeof name, "karakuri-%s", verb->name);
    add_head(out, name, verb->about);
    text_add(out, ".SH SYNOPSIS\n");
    cli_text usage = {0};
    help_usage(verb, &usage);
    add_line(out, text_string(&usage));
    text_free(&usage);
    add_description(out, verb);
    add_tables(out, verb);
    add_examples(out, verb->examples);
    add_exit_codes(out);
    text_add(out, ".SH SEE ALSO\n.BR karakuri (1)\n");
}

static void page_of_tool(cli_text *out) {
    add_head(out, "karakuri", "rigid multibody dynamics of robots, the same bits everywhere");
    text_add(out, ".SH SYNOPSIS\nkarakuri VERB [arguments] [options]\n.SH VERBS\n");
    for (int i = 0; cli_verbs[i]; i++) {
        text_format(out, ".TP\n.BR karakuri\\-%s (1)\n", cli_verbs[i]->name);
        add_line(out, cli_verbs[i]->about);
    }
    text_add(out, ".SH COMMON OPTIONS\n");
    for (const cli_option *o = cli_common_options; o->name; o++) {
        add_option(out, o);
    }
    add_exit_codes(out);
}

static int write_page(cli *c, const char *folder, const cli_verb *verb) {
    char path[1024];
    cli_text page = {0};
    snprintf(path, sizeof path, "%s/karakuri%s%s.1", folder, verb ? "-" : "", verb ? verb->name : "");
    if (verb) {
        page_of_verb(&page, verb);
    } else {
        page_of_tool(&page);
    }
    const int code = save_bytes(c, path, page.bytes, page.size);
    text_free(&page);
    return code;
}

static int write_all(cli *c, const char *folder) {
    int code = write_page(c, folder, NULL);
    for (int i = 0; cli_verbs[i] && !code; i++) {
        code = write_page(c, folder, cli_verbs[i]);
    }
    cli_text none = {0};
    return code || !c->common.json ? code : cli_print(c, &none);
}

static int run(cli *c, const void *options) {
    const man_options *o = options;
    const cli_verb *verb = o->verb ? cli_verb_or_fail(c, o->verb) : NULL;
    if (o->verb && !verb) {
        return CLI_EXIT_USAGE;
    }
    if (o->folder) {
        return write_all(c, o->folder);
    }
    cli_text page = {0};
    if (verb) {
        page_of_verb(&page, verb);
    } else {
        page_of_tool(&page);
    }
    return cli_print(c, &page);
}

static const cli_term examples[] = {
    {"karakuri man compute | man -l -", "read a page"},
    {"karakuri man --out share/man/man1", "write all pages"},
    {NULL, NULL},
};

const cli_verb cli_verb_man = {
    .name = "man",
    .about = "print a manual page, or write all of them",
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(man_options),
    .run = run,
};
