// The methods of src/contact one by one, and the whole of them without one, by the mask of the solver's options.
#ifndef KK_TESTS_CORPUS_METHODS_H
#define KK_TESTS_CORPUS_METHODS_H

#include "support/corpus_engine.h"

typedef enum method_kind {
    METHOD_ENGINE,  ///< as the library has it, or with one storage of the operator for everything
    METHOD_WITHOUT, ///< the engine with one of its methods taken away
    METHOD_SINGLE,
} method_kind;

typedef struct method {
    const char *name, *about;
    method_kind kind;
    int32_t methods; ///< KKI_METHOD_…
    corpus_storage storage;
} method;

extern const method methods[];
extern const int method_count;

/// Leaves λ in c->lambda and the thread's seconds in c->seconds. False where the method is not for such a problem.
bool method_try(const method *m, corpus_case *c, kki_solver_stats *stats);

#endif
