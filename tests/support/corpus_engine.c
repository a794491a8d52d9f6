#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "support/corpus_engine.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "contact/scratch.h"
#include "simulate/degrade.h"
#include "simulate/rows_sparse.h"

enum { FEW_BODIES = 64 };

double corpus_seconds(void) {
    struct timespec t = {0};
#ifdef __wasm__
    timespec_get(&t, TIME_UTC);
#else
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
#endif
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *zeros(size_t count) {
    const size_t size = (count * sizeof(double) + 127) & ~(size_t)63;
    double *x = aligned_alloc(64, size);
    if (x) {
        memset(x, 0, size);
    }
    return x;
}

static bool make_dense(const corpus_problem *p, corpus_case *c) {
    c->has_dense = p->nrow <= CORPUS_DENSE_ROWS;
    if (!c->has_dense) {
        return true;
    }
    const kki_solver_size size = {kki_round4(p->nrow), p->nblock, p->width, kki_round4(p->nrow)};
    if (!corpus_make_dense(p, &c->dense) || kki_solver_work_create(&c->dense_work, NULL, size) != KK_OK) {
        return false;
    }
    kki_low_rank_form(&c->dense.problem, c->dense_work.kernels, c->dense.G);
    c->has_matrix = (p->flags & CORPUS_MATRIX) != 0;
    return true;
}

bool corpus_case_make(const corpus_problem *p, corpus_case *c) {
    *c = (corpus_case){.p = p};
    bool good = make_dense(p, c) && corpus_make_sparse(p, &c->sparse);
    if (good) {
        const kki_sparse_problem *s = &c->sparse.problem;
        const int width = s->first[s->nbody];
        kki_sparse_size size =
            kki_sparse_size_for(p->nbody, p->ntie, kki_round4(p->nrow), p->nblock, width, c->sparse.widest);
        if (p->nbody <=
            FEW_BODIES) { // robots may touch each other, and their blocks are larger than those of lone bodies
            size.factor_room = (size_t)size.fill * (size_t)c->sparse.widest * (size_t)c->sparse.widest;
        }
        c->lambda = zeros((size_t)p->nrow + 8);
        c->u = zeros((size_t)p->nrow + 8);
        c->z = zeros((size_t)width + 8);
        good = c->lambda && c->u && c->z && kki_sparse_work_create(&c->sparse_work, NULL, size) == KK_OK;
    }
    if (!good) {
        corpus_case_free(c);
    }
    return good;
}

void corpus_case_free(corpus_case *c) {
    if (c->dense_work.memory) {
        kki_solver_work_destroy(&c->dense_work);
    }
    if (c->sparse_work.memory) {
        kki_sparse_work_destroy(&c->sparse_work);
    }
    corpus_free_dense(&c->dense);
    corpus_free_sparse(&c->sparse);
    free(c->lambda);
    free(c->u);
    free(c->z);
    *c = (corpus_case){0};
}

/// What a step grants an island of so many rows from its start (resolve.c): a problem that was handed over late goes with less, which says nothing of it.
static int factors_of(int rows) {
    const double share = (double)KKI_ROBOT_ROWS / rows, factors = KKI_ROBOT_FACTORS * share * share;
    return factors < KKI_LEAST_FACTORS  ? KKI_LEAST_FACTORS
           : factors < KKI_MOST_FACTORS ? (int)factors
                                        : KKI_MOST_FACTORS;
}

/// Who repairs positions is content with a residual that grows with the speeds; here the tolerance is the line for everybody, and the search has to go on to it.
static double floor_of(const corpus_problem *p) {
    const double speed = kki_largest(p->nrow, p->g), most = 0.01 * p->tolerance / (speed > 1 ? speed : 1);
    return p->floor < most ? p->floor : most;
}

kki_solver_options corpus_options(const corpus_problem *p) {
    kki_solver_options o = kki_solver_options_default();
    o.tolerance = p->tolerance;
    o.floor = floor_of(p);
    o.moves = (p->flags & CORPUS_MOVES) != 0;
    o.factors = p->factors > 0 ? factors_of(p->nrow) : 0;
    if (p->factors > 0 && p->nrow > KKI_ROBOT_ROWS) {
        o.methods &= ~KKI_METHOD_ACCELERATED;
    }
    return o;
}

kki_certificate corpus_judge(corpus_case *c) {
    kki_certificate proof;
    kki_sparse_certify_baseline(&c->sparse.problem, c->lambda, c->z, c->u, &proof);
    return proof;
}

/// The dense ladder, from c->lambda on.
static kki_solver_stats solve_dense(corpus_case *c, const kki_solver_options *o, bool with_matrix) {
    kki_solver_stats stats;
    kki_certificate proof;
    kki_problem problem = c->dense.problem;
    problem.G = with_matrix ? c->dense.G : NULL;
    const double start = corpus_seconds();
    kki_contact_solve(&problem, o, &c->dense_work, c->lambda, c->u, &proof, &stats);
    c->seconds += corpus_seconds() - start;
    return stats;
}

static kki_solver_stats solve_sparse(corpus_case *c, const kki_solver_options *o) {
    kki_solver_stats stats;
    kki_certificate proof;
    const double start = corpus_seconds();
    kki_sparse_solve(&c->sparse.problem, o, &c->sparse_work, c->lambda, c->u, &proof, &stats);
    c->seconds += corpus_seconds() - start;
    return stats;
}

void corpus_solve(corpus_case *c, int32_t methods, corpus_storage storage, kki_solver_stats *stats) {
    kki_solver_options o = corpus_options(c->p);
    const bool is_sparse =
        storage == CORPUS_TIES || (storage == CORPUS_ANY && ((c->p->flags & CORPUS_WIDE) || !c->has_dense));
    o.methods &= methods;
    memcpy(c->lambda, c->p->lambda, (size_t)c->p->nrow * sizeof *c->lambda);
    c->seconds = 0;
    *stats = is_sparse ? solve_sparse(c, &o) : solve_dense(c, &o, c->has_matrix);
}

kki_certificate corpus_engine(corpus_case *c, kki_solver_stats *stats) {
    corpus_solve(c, KKI_METHODS_ALL, CORPUS_ANY, stats);
    return corpus_judge(c);
}
