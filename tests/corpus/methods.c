#include "methods.h"

bool method_try(const method *m, corpus_case *c, kki_solver_stats *stats) {
    if (m->storage == CORPUS_ROWS && !c->has_dense) {
        return false;
    }
    corpus_solve(c, m->methods, m->storage, stats);
    return true;
}

enum {
    ALL = KKI_METHODS_ALL,
    SWEEPS = KKI_METHOD_SWEEPS,
    NEWTON = KKI_METHOD_NEWTON,
    PATH = KKI_METHOD_PATH,
    CONTINUATION = KKI_METHOD_CONTINUATION,
    ACCELERATED = KKI_METHOD_ACCELERATED
};

// clang-format off
const method methods[] = {
    {"engine", "the solver as a step asks it", METHOD_ENGINE, ALL, CORPUS_ANY},
    {"rows", "everything with G, or Y where rows are many", METHOD_ENGINE, ALL, CORPUS_ROWS},
    {"ties", "everything tie by tie", METHOD_ENGINE, ALL, CORPUS_TIES},
    {"no sweeps", "the engine without this method", METHOD_WITHOUT, ALL & ~SWEEPS, CORPUS_ANY},
    {"no newton", "", METHOD_WITHOUT, ALL & ~NEWTON, CORPUS_ANY},
    {"no path", "", METHOD_WITHOUT, ALL & ~PATH, CORPUS_ANY},
    {"no continuation", "", METHOD_WITHOUT, ALL & ~CONTINUATION, CORPUS_ANY},
    {"no accelerated", "", METHOD_WITHOUT, ALL & ~ACCELERATED, CORPUS_ANY},
    {"warm", "the start as it is", METHOD_SINGLE, 0, CORPUS_ANY},
    {"newton", "semismooth Newton", METHOD_SINGLE, NEWTON, CORPUS_ANY},
    {"path", "parametric active set", METHOD_SINGLE, PATH, CORPUS_ROWS},
    {"continuation", "pseudo-transient, Newton tried on the way", METHOD_SINGLE, CONTINUATION, CORPUS_ANY},
    {"accelerated", "sweeps with Anderson's acceleration", METHOD_SINGLE, ACCELERATED, CORPUS_ANY},
};
// clang-format on
const int method_count = sizeof methods / sizeof *methods;
