/// Optimizers for a handful of parameters of a motion or a controller: a genetic algorithm and CMA-ES. Only costs are asked for, no derivatives.
///
/// Ask for a population, compute its costs, in parallel if you like, and tell them. The same seed gives the same search on every machine, in
/// whatever order costs were computed, because random numbers are counted, not drawn in turn.
///
///     while (kk_optimizer_generation(o) < 100) {
///         kk_optimizer_ask(o, candidates);                        // [population × n]
///         for (int i = 0; i < population; i++) cost[i] = …;       // any order, any thread
///         kk_optimizer_tell(o, cost);
///     }
#ifndef KARAKURI_OPTIMIZE_H
#define KARAKURI_OPTIMIZE_H

#include <karakuri/allocator.h>
#include <karakuri/status.h>

KK_BEGIN_DECLS

typedef enum kk_optimizer_type {
    KK_OPTIMIZE_CMA_ES,  ///< covariance matrix adaptation (Hansen 2016): smooth or badly scaled costs
    KK_OPTIMIZE_GENETIC, ///< tournaments, blend crossover, mutation: costs with many valleys
} kk_optimizer_type;

/// Zero-initialized means: the defaults.
typedef struct kk_optimizer_def {
    kk_optimizer_type type;
    int n;               ///< parameters, 1 … 1000
    const double *lower; ///< [n] NULL: none
    const double *upper; ///< [n] NULL: none
    const double *start; ///< [n] NULL: the middle of the bounds, or 0
    const double *step;  ///< [n] how far to look at first; NULL: 0.3 of the range, or 1
    int population;      ///< 0: 4 + 3 ln n for CMA-ES, 20 + 4 n for the genetic algorithm
    uint64_t seed;
} kk_optimizer_def;

typedef struct kk_optimizer kk_optimizer;

KK_API kk_status kk_optimizer_create(const kk_optimizer_def *def, const kk_allocator *allocator,
                                     kk_optimizer **optimizer, kk_error *error);
KK_API void kk_optimizer_free(kk_optimizer *optimizer);

KK_API int kk_optimizer_population(const kk_optimizer *optimizer);
KK_API int kk_optimizer_generation(const kk_optimizer *optimizer); ///< generations told so far
/// Candidates within the bounds. Asking again without telling gives the same. @param candidates [population × n] result
KK_API void kk_optimizer_ask(kk_optimizer *optimizer, double *candidates);
/// Costs of the candidates asked for last; the least is the best, and one that is not a number the worst. @param cost [population]
KK_API void kk_optimizer_tell(kk_optimizer *optimizer, const double *cost);
/// The best candidate so far and its cost, infinite before the first generation. @param x [n] result, may be NULL
KK_API double kk_optimizer_best(const kk_optimizer *optimizer, double *x);
/// Typical distance between candidates, in units of the first step: small when the search has settled.
KK_API double kk_optimizer_spread(const kk_optimizer *optimizer);

/// The cost of one candidate. Anything but KK_OK ends the search.
typedef kk_status kk_cost(void *user, const double *x, double *cost, kk_error *error);
/// So many generations, one candidate after the other.
KK_API kk_status kk_optimizer_run(kk_optimizer *optimizer, kk_cost *cost, void *user, int generations, kk_error *error);

KK_END_DECLS
#endif
