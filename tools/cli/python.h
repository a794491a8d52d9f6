/// Verbs that Python does: they start it, or say what is missing.
#ifndef KARAKURI_CLI_PYTHON_H
#define KARAKURI_CLI_PYTHON_H

#include "cli.h"

/// Becomes `python3 -m karakuri.sweep VERB WORDS…`, with the words as they were given; comes back only where that cannot be.
/// KARAKURI_PYTHON names another Python.
int python_become(cli *c, const char *verb);

#endif
