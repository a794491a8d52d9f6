// The methods of src/contact one by one, each from the problem's own start to its end.
#ifndef KK_TESTS_CORPUS_METHODS_H
#define KK_TESTS_CORPUS_METHODS_H

#include "support/corpus_engine.h"

/// Leaves λ in c->lambda and the thread's seconds in c->seconds. False where the method is not for such a problem.
typedef bool (*method_run)(corpus_case *c, kki_solver_stats *stats);

typedef enum method_kind {
    METHOD_LADDER,  ///< several together, as the library has them
    METHOD_WITHOUT, ///< the engine with one of its rungs taken away
    METHOD_SINGLE,
} method_kind;

typedef struct method {
    const char *name, *about;
    method_run run;
    method_kind kind;
    unsigned without; ///< rungs that are taken away, bits
} method;

extern const method methods[];
extern const int method_count;

/// Runs it with what it goes without.
bool method_try(const method *m, corpus_case *c, kki_solver_stats *stats);

#endif
