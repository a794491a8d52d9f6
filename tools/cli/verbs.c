// The verbs, in the order of help. To add one: a file verb_NAME.c and a line here.
#include <string.h>

#include "cli.h"
#include "suggest.h"

#define VERBS(X)  \
    X(info)       \
    X(check)      \
    X(convert)    \
    X(compute)    \
    X(analyze)    \
    X(compare)    \
    X(identify)   \
    X(optimize)   \
    X(sweep)      \
    X(ik)         \
    X(walk)       \
    X(run)        \
    X(soak)       \
    X(serve)      \
    X(replay)     \
    X(export)     \
    X(collide)    \
    X(plot)       \
    X(render)     \
    X(view)       \
    X(exam)       \
    X(simbench)   \
    X(reproduce)  \
    X(help)       \
    X(man)        \
    X(completion) \
    X(version)

#define DECLARE(name) extern const cli_verb cli_verb_##name;
VERBS(DECLARE)

#define LIST(name) &cli_verb_##name,
const cli_verb *const cli_verbs[] = {VERBS(LIST) NULL};

const cli_verb *cli_find_verb(const char *name) {
    for (int i = 0; cli_verbs[i]; i++) {
        if (strcmp(cli_verbs[i]->name, name) == 0) {
            return cli_verbs[i];
        }
    }
    return NULL;
}

const cli_verb *cli_verb_or_fail(cli *c, const char *name) {
    const cli_verb *verb = cli_find_verb(name);
    if (!verb) {
        suggestion near = suggest_begin(name);
        for (int i = 0; cli_verbs[i]; i++) {
            suggest_word(&near, cli_verbs[i]->name);
        }
        cli_fail(c, CLI_EXIT_USAGE, near.best ? "there is no verb '%s' — did you mean '%s'?" : "there is no verb '%s'",
                 name, near.best);
    }
    return verb;
}
