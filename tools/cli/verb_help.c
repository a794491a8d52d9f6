// karakuri help [VERB]
#include "cli.h"

typedef struct help_options {
    const char *verb;
} help_options;

static const cli_option arguments[] = {
    {.name = "VERB",
     .kind = CLI_VERB,
     .offset = offsetof(help_options, verb),
     .about = "the verb to explain; without one an overview"},
    {.name = NULL},
};

static int run(cli *c, const void *options) {
    const help_options *o = options;
    cli_text text = {0};
    if (!o->verb) {
        help_overview(c, &text);
        return cli_print(c, &text);
    }
    const cli_verb *verb = cli_verb_or_fail(c, o->verb);
    if (!verb) {
        return CLI_EXIT_USAGE;
    }
    help_verb(c, verb, &text);
    return cli_print(c, &text);
}

static const cli_term examples[] = {{"karakuri help compute", "all about one verb"}, {NULL, NULL}};

const cli_verb cli_verb_help = {
    .name = "help",
    .about = "explain a verb, or list them",
    .arguments = arguments,
    .examples = examples,
    .size = sizeof(help_options),
    .run = run,
};
