// Support schedules; see support.h.
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "suggest.h"

static int find_body(cli *c, const kk_model *model, const char *name, int *body) {
    *body = strcmp(name, "none") == 0 ? -1 : kk_model_find_body(model, name);
    if (*body >= 0 || strcmp(name, "none") == 0) {
        return 0;
    }
    suggestion near = suggest_begin(name);
    for (int i = 1; i < kk_model_nbody(model); i++) {
        suggest_word(&near, kk_model_body_name(model, i));
    }
    return cli_fail(c, CLI_EXIT_USAGE,
                    near.best ? "--support: there is no body '%s' — did you mean '%s'?"
                              : "--support: there is no body '%s'",
                    name, near.best);
}

/// "left_foot+right_foot@2"; without @ from the beginning.
static int parse_word(cli *c, const kk_model *model, char *word, kk_support *s) {
    char *at = strchr(word, '@'), *plus;
    *s = (kk_support){0, -1, -1};
    if (at) {
        size_t used = 0;
        *at++ = 0;
        if (kk_number_parse(at, strlen(at), &s->time, &used) != KK_OK || at[used]) {
            return cli_fail(c, CLI_EXIT_USAGE, "--support: '%s' is no time — write BODY@SECONDS", at);
        }
    }
    plus = strchr(word, '+');
    if (plus) {
        *plus++ = 0;
    }
    const int code = find_body(c, model, word, &s->body);
    return code || !plus ? code : find_body(c, model, plus, &s->other);
}

int support_parse(cli *c, const kk_model *model, const char *text, kk_support **list, int *count) {
    char *words = cli_copy(text), *next = words;
    int code = 0;
    *list = NULL;
    *count = 0;
    while (next && !code) {
        char *word = next;
        next = strchr(word, ',');
        if (next) {
            *next++ = 0;
        }
        *list = cli_reallocate(*list, (size_t)*count + 1, sizeof **list);
        code = parse_word(c, model, word, &(*list)[*count]);
        *count += 1;
    }
    free(words);
    return code;
}
