/// The contact solver: several methods under one judge.
///
///     kki_solver_work work;
///     kki_solver_work_create(&work, allocator, (kki_solver_size){rows, blocks, nv, dense});
///     const kki_solver_options options = kki_solver_options_default();
///     status = kki_contact_solve(&problem, &options, &work, lambda, u, &certificate, &stats);
///
/// The methods and their order stand in one table (strategy.c). All iterate to the rounding floor where that is cheap; the tolerance is only the line between success and failure.
/// docs/maths/contact.md has the equations.
#ifndef KKI_CONTACT_SOLVER_H
#define KKI_CONTACT_SOLVER_H

#include <karakuri/allocator.h>
#include <karakuri/status.h>

#include "base/arena.h"
#include "contact/problem.h"

enum {
    KKI_METHOD_SWEEPS = 1,       ///< block Gauss-Seidel
    KKI_METHOD_NEWTON = 2,       ///< semismooth Newton
    KKI_METHOD_PATH = 4,         ///< parametric active set
    KKI_METHOD_CONTINUATION = 8, ///< pseudo-transient
    KKI_METHOD_ACCELERATED = 16, ///< sweeps with Anderson's acceleration
    KKI_METHODS_ALL = 31,
};

typedef struct kki_solver_options {
    double tolerance; ///< m/s; a residual above it is a failure. 1e-9
    double floor;     ///< where iterating stops: floor · max(1, |g|). 1e-13
    int32_t methods;  ///< which are tried, KKI_METHOD_…
    bool any;         ///< of several answers any will do; else a cold start finds the most even one
    bool
        brief; ///< gives up where rows turn out to contradict each other, and before the slow methods: the caller can pose them anew
    bool
        moves; ///< nothing here is at rest: of many rows half the tolerance is enough wherever more digits would take a slower method
    bool tried;           ///< the modes that λ shows have been tried, and lead nowhere by themselves
    int32_t fixed_sweeps; ///< > 0: real-time mode, this many sweeps and nothing else
    bool unproven;        ///< with fixed sweeps: nobody looks at u and the certificate, which may stay as they were
    int32_t sweeps;       ///< before Newton, at most
    int32_t newton;       ///< iterations a start
    int32_t factors; ///< of all methods, at most; 0: no limit; −1: none. A method that has begun ends by its own limits
} kki_solver_options;

typedef struct kki_solver_stats {
    int32_t method; ///< that gave the solution: 0 the warm start, else a KKI_METHOD_…
    int32_t sweeps;
    int32_t newton; ///< Newton steps, those over velocities among them
    int32_t path;   ///< pieces of paths
    int32_t factorizations;
    int32_t block;  ///< at fault where the input was refused; else that of the largest residual; −1 if there is none
    bool cut_short; ///< a limit ended the search with the residual above the floor
    bool solved;    ///< residual ≤ tolerance
} kki_solver_stats;

/// Rows above which, if they are also more than nv, G is not formed but worked with as Yᵀ Y; three times nv in any case.
enum { KKI_DENSE_ROWS = 60 };
/// The same where a robot lies on the floor, limp, with half its joints at their limits: Newton alone does not find such modes, and the methods that do want G.
enum { KKI_ROBOT_ROWS = 96 };
/// And where Newton alone has not found them: up to so many rows the path forms G for itself.
enum { KKI_FORMED_ROWS = 128 };

typedef struct kki_solver_size {
    int32_t rows, blocks, nv;
    int32_t dense; ///< rows of problems whose G is formed; 0: as many as of any
} kki_solver_size;

struct kki_dense_kernels;

/// Scratch, made once; nothing in it is worth keeping between calls, and the result does not depend on what is left in it.
typedef struct kki_solver_work {
    kk_allocator allocator;
    void *memory;
    size_t bytes;
    kki_solver_size size;
    const struct kki_dense_kernels *kernels; ///< what this CPU runs
    struct kki_solver_scratch *scratch;
} kki_solver_work;

kki_solver_options kki_solver_options_default(void);

/// A work of this size that is there already is kept; otherwise it must be zeroed.
kk_status kki_solver_work_create(kki_solver_work *work, const kk_allocator *allocator, kki_solver_size size);
/// A zeroed work is accepted.
void kki_solver_work_destroy(kki_solver_work *work);

/// Solves one island. KK_OK also where the tolerance was missed: then stats->solved is false and the certificate says by how much.
/// KK_NOT_FINITE, KK_INVALID_ARGUMENT or KK_LIMIT_EXCEEDED name the block in stats->block; λ and u are then zero.
/// @param lambda  [nrow] in: warm start, out: impulses    @param u  [nrow] velocities with these impulses
kk_status kki_contact_solve(const kki_problem *problem, const kki_solver_options *options, kki_solver_work *work,
                            double *lambda, double *u, kki_certificate *certificate, kki_solver_stats *stats);

/// A row whose velocity is to vanish, and what of friction goes with its impulse in the two rows behind it: μ times the direction of a contact
/// that slides.
typedef struct kki_held {
    int32_t row;
    double d[2];
} kki_held;

/// λ for which the listed rows, in rising order, are at rest; other rows keep theirs. False where there is none to be had.
/// @param floor  velocity that is left of them, as in the options    @param lambda  [nrow] in: where to start, out: result
bool kki_contact_hold(const kki_problem *problem, kki_solver_work *work, double floor, int n, const kki_held *held,
                      double *lambda);

/// Judges any λ, however it was found, with plain loops of its own; u = G λ + g + r λ comes back as well.
/// @param lambda  [nrow]    @param u  [nrow]
void kki_certify_baseline(const kki_problem *problem, const double *lambda, double *u, kki_certificate *certificate);
/// The same bits, for processors with AVX2 and with AVX-512; in the tables of kernels.
void kki_certify_avx2(const kki_problem *problem, const double *lambda, double *u, kki_certificate *certificate);
void kki_certify_avx512(const kki_problem *problem, const double *lambda, double *u, kki_certificate *certificate);

#endif
