/// What the files of the sparse solver share.
#ifndef KKI_CONTACT_SPARSE_SCRATCH_H
#define KKI_CONTACT_SPARSE_SCRATCH_H

#include "contact/bundles.h"
#include "contact/sparse.h"

/// Order of elimination and pattern of the factor: a function of the graph of touching bodies alone.
typedef struct kki_sparse_pattern {
    int32_t nbody, npair;
    int32_t *pair;       ///< [2 pairs] bodies a < b, sorted: the graph this is for
    int32_t *order;      ///< [bodies] body at each place of the elimination
    int32_t *place;      ///< [bodies] its inverse
    int32_t *column;     ///< [bodies + 1] blocks below the diagonal of each place: column[k] … column[k + 1] − 1
    int32_t *row;        ///< [fill] their places, rising
    int32_t *at;         ///< [fill + 1] where their numbers begin, in units of eight
    int32_t *own;        ///< [bodies + 1] where the diagonal blocks begin, likewise
    int32_t *nv, *width; ///< [bodies] by place
} kki_sparse_pattern;

/// Lists of the ordering.
typedef struct kki_sparse_graph {
    int32_t *start, *variables,
        *elements; ///< [bodies + 1], [bodies] each: what a body's segment holds, from the front and from the back
    int32_t *list; ///< [2 pairs]
    int32_t *element_count;          ///< [bodies] live entries of an eliminated body's column
    int32_t *from;                   ///< [bodies] where its column begins
    int32_t *mark, *weight, *degree; ///< [bodies]
    int32_t *head, *next, *previous; ///< [bodies] of lists by degree
    int32_t *count, *spare;          ///< [bodies + 1], [fill] of the sort
} kki_sparse_graph;

/// H = L D U by blocks, L and Uᵀ stored alike: columns of a block behind each other, each of the padded height of its row.
typedef struct kki_sparse_factor {
    const kki_sparse_pattern *pattern;
    bool symmetric;
    double *L, *U;       ///< [factor_room]
    double *D, *inverse; ///< diagonal blocks and their inverses
    double *x;           ///< [width] by place
    double *spare;       ///< [widest × (widest + 16)] and not below 16 × widest
    int32_t *start;      ///< [bodies] where each place's x begins
    int32_t *spot;       ///< [ties] block of L a tie adds to; −1: none
} kki_sparse_factor;

/// λ, its motion, velocities and residual.
typedef struct kki_sparse_iterate {
    double *lambda, *u; ///< [rows]
    double *z;          ///< [width + 8]
    double residual;
} kki_sparse_iterate;

/// The problem with adhesion shifted away, as kki_system.
typedef struct kki_sparse_system {
    const kki_sparse_problem *problem;
    const struct kki_sparse_kernels *kernels;
    int nrow, nblock, width;
    double *g, *soft; ///< [rows]
    double *own;      ///< [6 × blocks]
    double *scale;    ///< [blocks]
    double size;      ///< largest of |g| among what approaches; above zero
    double floor;
} kki_sparse_system;

/// Iterates by what they are for: what will be returned, what a method works on, where the flow of the continuation is and where it may get to, the warm start.
enum { KKI_IT_TIES_BEST, KKI_IT_TIES_NOW, KKI_IT_TIES_FLOW, KKI_IT_TIES_NEXT, KKI_IT_TIES_WARM, KKI_SPARSE_ITERATES };
enum { KKI_SPARSE_HISTORY = 5 };

/// Turns of sweeps that Anderson's acceleration combines; [rows] each.
typedef struct kki_sparse_history {
    double *dx[KKI_SPARSE_HISTORY], *df[KKI_SPARSE_HISTORY];
    double *last, *last_change, *change;
} kki_sparse_history;

typedef struct kki_sparse_scratch {
    kki_sparse_system system;
    kki_sparse_pattern pattern;
    kki_sparse_graph graph;
    kki_sparse_factor factor;
    kki_sparse_iterate iterate[KKI_SPARSE_ITERATES];
    kki_bundles bundles; ///< of sweeps without anything else
    kki_sparse_history history;
    double *R, *e;    ///< [6 × rows], [rows] of a Newton step
    double *dz, *du;  ///< [width], [rows]
    double *error;    ///< [width] what an implicit step's motion is off by
    double *center;   ///< [rows] of that step
    int8_t *mode;     ///< [blocks] of the last Newton step
    bool is_steady;   ///< its modes were those of the step before
    double sharpness; ///< of sparse_refine.c
} kki_sparse_scratch;

typedef struct kki_sparse_kernels {
    void (*velocity)(const kki_sparse_problem *p, const double *z, double *u);
    void (*motion)(const kki_sparse_problem *p, const double *lambda, double *z);
    /// z += |Y| size, and terms of each body's first coordinate += rows, of bodies whose coordinates begin in first … end − 1.
    void (*sizes)(const kki_sparse_problem *p, const double *size, int first, int end, double *z, double *terms);
    /// Rows of a lone body: each is T w, T [6 × 8] by columns, its wrenches w [6] `stride` doubles apart. @param Y [rows × 8]
    void (*combine)(const double *T, const double *w, size_t stride, int rows, double *Y);
    /// One pass over all blocks in order; z follows λ, u is not kept.
    void (*sweep)(const kki_sparse_system *s, double *lambda, double *z);
    /// The same over some ties, with a step to each contact's law instead of its solution.
    void (*sweep_listed)(const kki_sparse_system *s, const int32_t *tie, int count, double *lambda, double *z);
    /// H from R [6 × nrow: a row of it for a row of the tie].
    void (*assemble)(const kki_sparse_problem *p, const double *R, kki_sparse_factor *f);
    /// False at a singular diagonal block.
    bool (*factor)(kki_sparse_factor *f);
    /// x = H⁻¹ x, [width] by body.
    void (*solve)(const kki_sparse_problem *p, kki_sparse_factor *f, double *x);
    /// out[j] = rows[j] · x as kki_sparse_dot, and x −= Σ f[j] rows[j], for `count` rows of n, 32-byte aligned as x is.
    void (*dots)(int n, int count, double *const *rows, const double *x, double *out);
    void (*subtract)(int n, int count, double *const *rows, const double *f, double *x);
    /// kki_sparse_certify.
    void (*certify)(const kki_sparse_problem *p, const double *lambda, double *z, double *u, kki_certificate *c);
} kki_sparse_kernels;

/// index 0: baseline; 1: AVX2; 2: AVX-512; NULL where build or CPU has none.
const kki_sparse_kernels *kki_sparse_kernels_at(int index);
const kki_sparse_kernels *kki_sparse_kernels_best(void);

/// sparse_order.c: the pattern of the problem's graph, made anew where it is not the last one's. False where it does not fit.
bool kki_sparse_order(const kki_sparse_problem *p, const kki_sparse_size *size, kki_sparse_pattern *pattern,
                      kki_sparse_graph *graph, int32_t *spot);

// ---- sparse_system.c

/// g and soft alone; s->own and s->scale of a tie's blocks.
void kki_sparse_system_begin(const kki_sparse_problem *p, const kki_sparse_kernels *kernels, double floor,
                             kki_sparse_scratch *w);
void kki_sparse_system_own(kki_sparse_system *s, const kki_tie *t);
/// All of it.
void kki_sparse_system_make(const kki_sparse_problem *p, const kki_sparse_kernels *kernels, double floor,
                            kki_sparse_scratch *w);
/// Largest natural map of all blocks.
double kki_sparse_residual(const kki_sparse_system *s, const double *lambda, const double *u);
/// z, u and residual of it->lambda.
void kki_sparse_judge(const kki_sparse_system *s, kki_sparse_iterate *it);
/// u and residual alone, where z has followed λ.
void kki_sparse_judge_motion(const kki_sparse_system *s, kki_sparse_iterate *it);
/// Rounding errors of u at this λ: no method gets lower. @param z [width] scratch
double kki_sparse_rounding(const kki_sparse_system *s, const kki_sparse_iterate *it, double *z);
void kki_sparse_copy(const kki_sparse_system *s, const kki_sparse_iterate *from, kki_sparse_iterate *to);

// ---- continuation.c

typedef struct kki_continuation {
    double target; ///< residual at which it ends
    int factors;   ///< at most
    /// Tries other methods on the bare laws from where the flow is, whenever it has come ten times nearer; true where that is enough. NULL: nobody does
    bool (*refine)(void *context, const kki_sparse_iterate *it);
    void *context;
} kki_continuation;

/// From KKI_IT_TIES_FLOW, which is judged; KKI_IT_TIES_BEST follows where the flow is better. Uses R, e, dz, du and the factor, whose pattern must be there.
void kki_continuation_run(kki_sparse_scratch *w, const kki_continuation *c, kki_solver_stats *stats);

// ---- sparse_anderson.c

/// Accelerated sweeps from `best`, which follows, down to `enough`. @param it  scratch    @param limit  sweeps
/// @param length  sweeps of a turn
void kki_sparse_anderson(kki_sparse_scratch *w, kki_sparse_iterate *it, kki_sparse_iterate *best, double enough,
                         int limit, int length, kki_solver_stats *stats);

// ---- sparse_newton.c

/// Normals from zero on, friction onto its disc radially.
void kki_sparse_project(const kki_problem *p, double *lambda);

/// One Newton step with statuses read off λ, u: it->lambda moves by it and is projected; z, u are not kept. False where the factor fails.
bool kki_sparse_newton_step(kki_sparse_scratch *w, kki_sparse_iterate *it, double epsilon, kki_solver_stats *stats);

/// In one order, four sums at a time.
static inline double kki_sparse_dot(int n, const double *a, const double *b) {
    double sum[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) {
            sum[k] += a[i + k] * b[i + k];
        }
    }
    for (; i < n; i++) {
        sum[i & 3] += a[i] * b[i];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

#endif
