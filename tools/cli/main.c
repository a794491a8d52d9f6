// karakuri: finds the verb, parses its options, runs it.
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static void free_lists(const cli_option *table, void *target) {
    for (; table && table->name; table++) {
        if (table->is_list) {
            free(((cli_list *)(void *)((char *)target + table->offset))->item);
        }
    }
}

static int run_verb(cli *c, int argc, char **argv) {
    void *options = cli_allocate(1, c->verb->size ? c->verb->size : 1);
    if (c->verb->defaults) {
        memcpy(options, c->verb->defaults, c->verb->size);
    }
    int code = cli_parse(c, c->verb, argc, argv, options);
    if (code == 0 && c->common.help) {
        cli_text text = {0};
        help_verb(c, c->verb, &text);
        code = cli_print(c, &text);
    } else if (code == 0) {
        code = c->verb->run(c, options);
    }
    free_lists(c->verb->arguments, options);
    free_lists(c->verb->options, options);
    free_lists(cli_loading_options(c->verb), &c->loading);
    free(options);
    return code;
}

/// karakuri --help, --version and their short forms are the verbs help and version.
static const char *verb_name(const char *word) {
    const char *const known[][2] = {{"--help", "help"}, {"-h", "help"}, {"--version", "version"}, {"-V", "version"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(word, known[i][0]) == 0) {
            return known[i][1];
        }
    }
    return word;
}

static int show_overview(cli *c) {
    cli_text text = {0};
    c->color_out = c->color_err; // it goes there, since it was not asked for
    help_overview(c, &text);
    fputs(text_string(&text), stderr);
    text_free(&text);
    return CLI_EXIT_USAGE;
}

int main(int argc, char **argv) {
    cli c = {0};
    cli_settle(&c);
    if (argc < 2) {
        return show_overview(&c);
    }
    for (int i = 1; i < argc; i++) {
        c.common.json = c.common.json || strcmp(argv[i], "--json") == 0;
    }
    c.words = argv + 2;
    c.word_count = argc - 2;
    c.verb = cli_verb_or_fail(&c, verb_name(argv[1]));
    return cli_finish(&c, c.verb ? run_verb(&c, argc - 2, argv + 2) : CLI_EXIT_USAGE);
}
