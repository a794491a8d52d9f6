// The solver of today as a whole on a problem of the corpus, and the judge of all solvers.
#ifndef KK_TESTS_SUPPORT_CORPUS_ENGINE_H
#define KK_TESTS_SUPPORT_CORPUS_ENGINE_H

#include "support/corpus.h"

/// A problem posed for all solvers, with their scratch.
typedef struct corpus_case {
    const corpus_problem *p;
    corpus_dense dense; ///< empty where `has_dense` is false
    bool has_dense;     ///< small enough
    bool has_matrix;    ///< dense.G is G
    corpus_sparse sparse;
    kki_solver_work dense_work;
    kki_sparse_work sparse_work;
    double *lambda, *u, *z; ///< [rows], [rows], [width] of the sparse problem, and eight
    double seconds;         ///< of the last solution, of this thread
} corpus_case;

/// Rows up to which dense methods are tried.
enum { CORPUS_DENSE_ROWS = 240 };

bool corpus_case_make(const corpus_problem *p, corpus_case *c);
void corpus_case_free(corpus_case *c);

/// What the step asked of the ladder.
kki_solver_options corpus_options(const corpus_problem *p);

/// How the operator is stored: as the step did, as rows with G or Y, or tie by tie.
typedef enum corpus_storage { CORPUS_ANY, CORPUS_ROWS, CORPUS_TIES } corpus_storage;
/// λ from the problem's own start by some methods. @param methods  KKI_METHOD_…
void corpus_solve(corpus_case *c, int32_t methods, corpus_storage storage, kki_solver_stats *stats);
/// λ from the problem's own start, judged. What the ladder did is in `stats`.
kki_certificate corpus_engine(corpus_case *c, kki_solver_stats *stats);

/// The judge: certificate.c over ties, whatever found c->lambda.
kki_certificate corpus_judge(corpus_case *c);

/// Seconds of this thread's processor; of the clock where a system does not tell.
double corpus_seconds(void);

#endif
