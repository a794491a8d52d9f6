// See python.h.
#define _XOPEN_SOURCE 700 // execvp
#include "python.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Starts the package's command, or names the package that is missing, in the form in which the verb was asked to answer.
static const char program[] = "import json, sys\n"
                              "try:\n"
                              "    from karakuri.sweep.command import main\n"
                              "except ModuleNotFoundError as error:\n"
                              "    package = 'karakuri-dynamics' if error.name.startswith('karakuri') else error.name\n"
                              "    text = f'{sys.executable} has no module {error.name!r} - pip install {package}, or "
                              "KARAKURI_PYTHON=… of a Python that has it'\n"
                              "    print(f'karakuri {sys.argv[1]}: error: {text}', file=sys.stderr)\n"
                              "    if '--json' in sys.argv:\n"
                              "        print(json.dumps({'verb': sys.argv[1], 'ok': False, 'error': {'exit_code': 3, "
                              "'text': text}, 'notes': []}))\n"
                              "    sys.exit(3)\n"
                              "sys.exit(main(sys.argv[1:]))\n";

int python_become(cli *c, const char *verb) {
    enum { BEFORE = 4 };
    const char *chosen = getenv("KARAKURI_PYTHON"), *python = chosen && chosen[0] ? chosen : "python3";
    char **words = cli_allocate((size_t)c->word_count + BEFORE + 1, sizeof *words);
    words[0] = cli_copy(python);
    words[1] = cli_copy("-c");
    words[2] = cli_copy(program);
    words[3] = cli_copy(verb);
    memcpy(words + BEFORE, c->words, (size_t)c->word_count * sizeof *words);
    fflush(NULL);
    execvp(python, words);
    const int code =
        cli_fail(c, CLI_EXIT_INPUT,
                 "'karakuri %s' needs Python 3.11 with the package karakuri-dynamics; %s cannot be started: "
                 "%s — install it, or name one by KARAKURI_PYTHON",
                 verb, python, strerror(errno));
    for (int i = 0; i < BEFORE; i++) {
        free(words[i]);
    }
    free(words);
    return code;
}
