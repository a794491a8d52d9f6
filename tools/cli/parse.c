// The command line against a verb's tables: --name value, --name=value, -n value, -nvalue, flags together (-qj), -- ends options.
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "suggest.h"

static const char *const colors[] = {"auto", "always", "never", NULL};

const cli_option cli_common_options[] = {
    {.name = "json",
     .kind = CLI_FLAG,
     .offset = offsetof(cli_common, json),
     .about = "print one JSON document instead of text"},
    {.name = "quiet",
     .letter = 'q',
     .kind = CLI_FLAG,
     .offset = offsetof(cli_common, quiet),
     .about = "no notes and no progress bar"},
    {.name = "color",
     .kind = CLI_CHOICE,
     .offset = offsetof(cli_common, color),
     .value = "WHEN",
     .choices = colors,
     .about = "colors: auto (on a terminal), always or never; NO_COLOR is honored"},
    {.name = "help", .letter = 'h', .kind = CLI_FLAG, .offset = offsetof(cli_common, help), .about = "show this help"},
    {.name = NULL},
};

typedef struct parser {
    cli *c;
    const cli_verb *verb;
    char **word, **end;
    void *target;
    const cli_option *argument; ///< the next positional one
    bool has_last;              ///< that one is a list, and has a value
    uint64_t seen;              ///< required options by their place in the table
} parser;

// ---- values

static void *field(void *target, const cli_option *o) {
    return (char *)target + o->offset;
}

static int fail_value(cli *c, const cli_option *o, const char *value, const char *reason) {
    const char *dash = o->value ? "--" : "";
    return cli_fail(c, CLI_EXIT_USAGE, "%s%s: '%s' %s", dash, o->name, value, reason);
}

static int fail_choice(cli *c, const cli_option *o, const char *value) {
    suggestion near = suggest_begin(value);
    cli_text list = {0};
    for (int i = 0; o->choices[i]; i++) {
        suggest_word(&near, o->choices[i]);
        text_format(&list, "%s%s", i ? ", " : "", o->choices[i]);
    }
    cli_text reason = {0};
    text_format(&reason, "is none of %s", text_string(&list));
    if (near.best) {
        text_format(&reason, " — did you mean '%s'?", near.best);
    }
    const int code = fail_value(c, o, value, text_string(&reason));
    text_free(&list);
    text_free(&reason);
    return code;
}

static int set_choice(cli *c, const cli_option *o, const char *value, void *target) {
    for (int i = 0; o->choices[i]; i++) {
        if (strcmp(o->choices[i], value) == 0) {
            *(int *)field(target, o) = i;
            return 0;
        }
    }
    return fail_choice(c, o, value);
}

static int check_range(cli *c, const cli_option *o, const char *value, double number) {
    if ((o->low != 0 || o->high != 0) && !(number >= o->low && number <= o->high)) {
        char low[KK_NUMBER_TEXT_SIZE], high[KK_NUMBER_TEXT_SIZE], reason[128];
        kk_number_format(o->low, low);
        kk_number_format(o->high, high);
        snprintf(reason, sizeof reason, "is outside %s … %s", low, high);
        return fail_value(c, o, value, reason);
    }
    return 0;
}

static int set_number(cli *c, const cli_option *o, const char *value, void *target) {
    double number = 0;
    size_t used = 0;
    if (kk_number_parse(value, strlen(value), &number, &used) != KK_OK || used != strlen(value)) {
        return fail_value(c, o, value, "is no finite number; write it like 0.5 or 1e-3");
    }
    *(double *)field(target, o) = number;
    return check_range(c, o, value, number);
}

static int set_count(cli *c, const cli_option *o, const char *value, void *target) {
    int64_t number = 0;
    size_t used = 0;
    if (kk_number_parse_int(value, strlen(value), &number, &used) != KK_OK || used != strlen(value)) {
        return fail_value(c, o, value, "is no whole number");
    }
    *(int64_t *)field(target, o) = number;
    return check_range(c, o, value, (double)number);
}

static int append(cli_list *list, const char *value) {
    list->item = cli_reallocate(list->item, (size_t)list->count + 1, sizeof *list->item);
    list->item[list->count++] = value;
    return 0;
}

static int set_value(cli *c, const cli_option *o, const char *value, void *target) {
    switch (o->kind) {
    case CLI_FLAG: *(bool *)field(target, o) = true; return 0;
    case CLI_CHOICE: return set_choice(c, o, value, target);
    case CLI_NUMBER: return set_number(c, o, value, target);
    case CLI_COUNT: return set_count(c, o, value, target);
    default: break;
    }
    if (!value[0]) {
        return fail_value(c, o, value, "is empty");
    }
    if (o->is_list) {
        return append(field(target, o), value);
    }
    *(const char **)field(target, o) = value;
    return 0;
}

// ---- options

static const cli_option *find_in(const cli_option *table, const char *name, size_t length, char letter) {
    for (; table && table->name; table++) {
        const bool is_long = name && strncmp(table->name, name, length) == 0 && !table->name[length];
        if (is_long || (!name && letter && table->letter == letter)) {
            return table;
        }
    }
    return NULL;
}

/// The option of a name or letter, and the struct it goes into.
static const cli_option *find_option(const parser *p, const char *name, size_t length, char letter, void **target) {
    const struct {
        const cli_option *table;
        void *target;
    } places[] = {{p->verb->options, p->target},
                  {cli_loading_options(p->verb), &p->c->loading},
                  {cli_common_options, &p->c->common}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const cli_option *o = find_in(places[i].table, name, length, letter);
        if (o) {
            *target = places[i].target;
            return o;
        }
    }
    return NULL;
}

static void suggest_options(suggestion *near, const cli_option *table) {
    for (; table && table->name; table++) {
        suggest_word(near, table->name);
    }
}

static int fail_option(const parser *p, const char *word, size_t length) {
    suggestion near = suggest_begin(word);
    suggest_options(&near, p->verb->options);
    suggest_options(&near, cli_loading_options(p->verb));
    suggest_options(&near, cli_common_options);
    const char *hint = near.best ? " — did you mean --" : "";
    return cli_fail(p->c, CLI_EXIT_USAGE, "'%s' has no option --%.*s%s%s%s", p->verb->name, (int)length, word, hint,
                    near.best ? near.best : "", near.best ? "?" : "");
}

static int set_option(parser *p, const cli_option *o, const char *value, void *target) {
    if (target == p->target) {
        p->seen |= (uint64_t)1 << (o - p->verb->options);
    }
    if (!value && o->kind != CLI_FLAG) {
        if (p->word == p->end) {
            return cli_fail(p->c, CLI_EXIT_USAGE, "--%s needs a value: --%s %s", o->name, o->name, o->value);
        }
        value = *p->word++;
    }
    return set_value(p->c, o, value, target);
}

static int parse_long(parser *p, const char *word) {
    const size_t length = strcspn(word, "=");
    void *target;
    const cli_option *o = find_option(p, word, length, 0, &target);
    if (!o) {
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)length, word);
        return fail_option(p, name, strlen(name));
    }
    const char *value = word[length] ? word + length + 1 : NULL;
    if (value && o->kind == CLI_FLAG) {
        return cli_fail(p->c, CLI_EXIT_USAGE, "--%s takes no value", o->name);
    }
    return set_option(p, o, value, target);
}

static int parse_letters(parser *p, const char *word) {
    for (; *word; word++) {
        void *target;
        const cli_option *o = find_option(p, NULL, 0, *word, &target);
        if (!o) {
            return cli_fail(p->c, CLI_EXIT_USAGE, "'%s' has no option -%c", p->verb->name, *word);
        }
        const bool has_rest = o->kind != CLI_FLAG && word[1];
        const int code = set_option(p, o, has_rest ? word + 1 : NULL, target);
        if (code || has_rest) {
            return code;
        }
    }
    return 0;
}

static int parse_argument(parser *p, const char *word) {
    if (!p->argument || !p->argument->name) {
        return cli_fail(p->c, CLI_EXIT_USAGE, "'%s' is one argument too many for '%s'", word, p->verb->name);
    }
    const cli_option *a = p->argument;
    p->argument += !a->is_list;
    p->has_last = a->is_list;
    return set_value(p->c, a, word, p->target);
}

/// "-" alone is an argument, and so is what looks like a negative number.
static bool is_option(const char *word) {
    return word[0] == '-' && word[1] && !(word[1] >= '0' && word[1] <= '9') && word[1] != '.';
}

static int parse_words(parser *p) {
    bool is_over = false;
    while (p->word < p->end) {
        const char *word = *p->word++;
        int code = 0;
        if (!is_over && strcmp(word, "--") == 0) {
            is_over = true;
        } else if (!is_over && strncmp(word, "--", 2) == 0) {
            code = parse_long(p, word + 2);
        } else if (!is_over && is_option(word)) {
            code = parse_letters(p, word + 1);
        } else {
            code = parse_argument(p, word);
        }
        if (code) {
            return code;
        }
    }
    return 0;
}

static int check_required(const parser *p) {
    if (p->argument && p->argument->name && p->argument->is_required && !p->has_last) {
        return cli_fail(p->c, CLI_EXIT_USAGE, "'%s' needs %s: %s", p->verb->name, p->argument->name,
                        p->argument->about);
    }
    for (int i = 0; p->verb->options && p->verb->options[i].name; i++) {
        const cli_option *o = &p->verb->options[i];
        if (o->is_required && !(p->seen >> i & 1)) {
            return cli_fail(p->c, CLI_EXIT_USAGE, "'%s' needs --%s %s: %s", p->verb->name, o->name, o->value, o->about);
        }
    }
    return 0;
}

/// --json counts for errors of the command line, too, wherever it stands.
static bool has_word(char **word, char **end, const char *wanted) {
    for (; word < end && strcmp(*word, "--") != 0; word++) {
        if (strcmp(*word, wanted) == 0) {
            return true;
        }
    }
    return false;
}

int cli_parse(cli *c, const cli_verb *verb, int argc, char **argv, void *target) {
    parser p = {.c = c, .verb = verb, .word = argv, .end = argv + argc, .target = target, .argument = verb->arguments};
    c->common.json = has_word(p.word, p.end, "--json");
    const int code = parse_words(&p);
    cli_settle(c);
    return code || c->common.help ? code : check_required(&p);
}
