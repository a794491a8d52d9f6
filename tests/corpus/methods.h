// The methods of src/contact one by one, each from the problem's own start to its end.
#ifndef KK_TESTS_CORPUS_METHODS_H
#define KK_TESTS_CORPUS_METHODS_H

#include "support/corpus_engine.h"

/// Leaves λ in c->lambda and the thread's seconds in c->seconds. False where the method is not for such a problem.
typedef bool (*method_run)(corpus_case *c, kki_solver_stats *stats);

typedef struct method {
    const char *name, *about;
    method_run run;
} method;

extern const method methods[];
extern const int method_count;

#endif
