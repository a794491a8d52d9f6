// Every algorithm once, for tests of what holds for all of them: no allocation, same bytes, little stack.
#ifndef KK_TESTS_SUPPORT_EVERYTHING_H
#define KK_TESTS_SUPPORT_EVERYTHING_H

#include "support/scene.h"

/// Where results go, one after the other; the caller has made room.
typedef struct results {
    double *start;
    size_t count;
} results;

/// One call and what can be read after it, each by itself; 0 behind the last part. Those that need matrices come last.
int everything_part(int part, const scene *s, results *r);
/// Doubles that all parts together need at most.
size_t everything_room(const scene *s);

/// Results of all calls that need no matrices, at the scene's state, without allocating.
void everything_linear(const scene *s, results *r);
/// And of those that need matrices.
void everything_with_matrices(const scene *s, results *r);

/// Both into an array of the scene's.
results everything(scene *s);

#endif
