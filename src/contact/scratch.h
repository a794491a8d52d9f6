/// What the methods share: the problem in the solver's variables, scratch memory, and the reduced linear system of a Newton step.
#ifndef KKI_CONTACT_SCRATCH_H
#define KKI_CONTACT_SCRATCH_H

#include "contact/dense_kernels.h"
#include "contact/solver.h"
#include "contact/sparse_scratch.h"

/// The problem with adhesion shifted away (λ' = λ + a n) and compliance, or a proximal term, on the diagonal:
///     u = (G + diag(shift)) λ' + g.
typedef struct kki_system {
    const kki_problem *problem;
    const kki_dense_kernels *kernels;
    int nrow, stride, nblock;
    bool low_rank;       ///< G is never formed
    bool shifted;        ///< shift is not all zero
    const double *G, *Y; ///< the problem's, or G formed from Y
    double *columns;     ///< Yᵀ [nrow × width], width = nv padded; made where the warm start does not suffice
    int width;
    double *g;     ///< [stride]
    double *shift; ///< [stride]
    double *
        own; ///< [6 × nblock] the block's own part of G + shift: contact nn, n1, n2, 11, 12, 22; rolling 11, 12, 22; else the number
    double *scale;  ///< [nblock] largest of its diagonal, above zero
    double largest; ///< of scale
    double size;    ///< largest of |g| among what approaches; above zero
    double floor;   ///< residual at which iterating stops
} kki_system;

/// λ, its u and its residual.
typedef struct kki_iterate {
    double *lambda, *u; ///< [stride], padding zero
    double residual;
} kki_iterate;

/// Of a system without low rank: columns that are rows of G are eliminated before those that are bound to a direction (reduced.c).
typedef struct kki_split {
    bool is_ready; ///< A holds the factor of these rows
    int nplain,
        nrow; ///< columns that are rows of G; rows: of these, padded to whole vectors, and those that the others move
    int32_t *row;        ///< [nrow] in G
    int32_t *place;      ///< [rows] of those that bound columns move, in `row`
    int32_t *column;     ///< [n] the plain ones, then the others
    int32_t *bound;      ///< [n] scratch
    double *diagonal;    ///< [nplain] added to the plain ones
    double *K, *inverse; ///< [bound × padded], [bound] what the others see of each other, and its factor
    int32_t *pivot;      ///< [bound]
    double *b, *x, *y;   ///< [nrow] scratch
} kki_split;

/// Reduced system of a Newton step: unknown k moves λ along column k and is tested against a row or a turn of two rows.
typedef struct kki_reduced {
    int n, stride;
    double nudge;             ///< added to the diagonal, in the block's scale
    bool symmetric;           ///< every column equals its test
    bool plain;               ///< all rows of G, in order
    bool constant;            ///< no direction of sliding in it: equal modes, equal matrix
    int32_t *row;             ///< [n] the tested row, the first of two for a turn
    double *turn;             ///< [2n] for a turn the two weights; 0, 0 for a plain row
    int32_t *start;           ///< [n + 1] column k: entries start[k] … start[k + 1] − 1
    int32_t *index;           ///< [2 rows]
    double *value;            ///< [2 rows]
    double *diagonal;         ///< [n] added to the matrix
    double *inverse;          ///< [stride] of the factor's diagonal
    int32_t *pivot;           ///< [n]
    double *A;                ///< [rows of the split × stride] matrix and factor
    double *R, *C;            ///< low rank: [n × padded nv] tests and columns times Yᵀ; C = R if symmetric
    double *W;                ///< low rank: [nv × padded nv] matrix and factor
    int32_t *range;           ///< low rank: [2 nv] unknowns that move each degree of freedom: first, end
    double *b, *x, *y, *line; ///< [stride] scratch; b: right-hand side, x: solution
    kki_split split;          ///< not low rank
} kki_reduced;

/// One unknown of a path: what it moves, and the row, or turn of two rows, whose velocity stays zero.
enum { KKI_UNKNOWN_ENTRIES = 6 };
typedef struct kki_unknown {
    int32_t block, row, count;
    bool turns; ///< its test is what it moves
    int32_t index[KKI_UNKNOWN_ENTRIES];
    double value[KKI_UNKNOWN_ENTRIES], diagonal;
} kki_unknown;

enum { KKI_ITERATES = 8, KKI_VECTORS = 1, KKI_WALK = 8 };

/// The same problem over one body, for the methods in velocity space (one_body.c).
typedef struct kki_one_body {
    kki_sparse_work work;
    kki_tie *tie; ///< [blocks]
    double *Y;    ///< [rows × coordinates, padded to eight]
    int32_t first[2], nv;
} kki_one_body;

typedef struct kki_solver_scratch {
    kki_system system, proximal;
    kki_reduced reduced;
    kki_one_body body;
    double *G;               ///< formed from Y
    double *held;            ///< factor of known modes
    int8_t *mode, *old_mode; ///< [nblock]
    kki_unknown *unknown;    ///< [nrow]
    double *direction;       ///< [2 × nblock]
    kki_iterate iterate[KKI_ITERATES];
    double *vector[KKI_VECTORS]; ///< [stride]
    double *walk[KKI_WALK];      ///< [stride] of the path
} kki_solver_scratch;

/// Which iterate belongs to whom; a method calls only methods with other ones.
enum {
    KKI_IT_BEST,                     ///< what will be returned
    KKI_IT_TRY,                      ///< what a method works on
    KKI_IT_WARM,                     ///< the warm start
    KKI_IT_NEWTON,                   ///< newton: 4
    KKI_IT_PATH = KKI_IT_NEWTON + 4, ///< path; where Newton begins
};

// ---- one_body.c

/// Valid as long as the problem and the body are. @param scratch [stride]
kki_sparse_problem kki_one_body_problem(const kki_system *s, kki_one_body *body, double *scratch);

// ---- system.c

void kki_system_make(kki_system *s, const kki_problem *problem, kki_solver_scratch *scratch,
                     const kki_dense_kernels *kernels, double floor);
/// s with the proximal term w (λ − center), w = weight × the block's scale.
void kki_system_regularize(const kki_system *s, double weight, const double *center, kki_system *out);
/// u and residual of it->lambda.
void kki_system_judge(const kki_system *s, kki_iterate *it);
/// The residual alone, u being current.
double kki_system_residual(const kki_system *s, const double *lambda, const double *u);
/// Rounding errors of u at this λ: no method gets lower.
double kki_system_rounding(const kki_system *s, const double *lambda, double *size);
/// λ of the caller in the solver's variables, judged; and back.
void kki_system_load(const kki_system *s, const double *lambda, kki_iterate *it);
void kki_system_store(const kki_system *s, const kki_iterate *it, double *lambda);
/// Takes over λ, u, residual.
void kki_iterate_copy(const kki_system *s, const kki_iterate *from, kki_iterate *to);

// ---- low_rank.c, reduced.c

/// More rows than KKI_DENSE_ROWS, and than nv: G is not formed.
bool kki_low_rank_wanted(const kki_problem *problem);
/// G = Yᵀ Y. @param G [nrow × stride]
void kki_low_rank_form(const kki_problem *problem, const kki_dense_kernels *kernels, double *G);
/// W = Cᵀ R over the unknowns, whose `row` rises; those that cannot move a degree of freedom are left out.
void kki_low_rank_gather(const kki_system *s, kki_reduced *r, bool upper);
bool kki_low_rank_factor(const kki_system *s, kki_reduced *r);
void kki_low_rank_solve(const kki_system *s, kki_reduced *r);

/// The system of all rows with `diagonal` filled in: G + diag(diagonal).
void kki_reduced_all(const kki_system *s, kki_reduced *r);
/// Factors what the columns, tests and diagonal describe. False if singular.
bool kki_reduced_factor(const kki_system *s, kki_reduced *r);
/// x from b.
void kki_reduced_solve(const kki_system *s, kki_reduced *r);

// ---- the methods; each leaves the better of start and result in `it`, judged

/// One pass over all blocks, each solved exactly with the others held; u is kept current.
void kki_sweep(const kki_system *s, double *lambda, double *u);
/// Up to `limit` sweeps, fewer where they contract badly (patience: the worst ratio accepted).
void kki_sweeps(const kki_system *s, kki_iterate *it, int limit, double patience, kki_solver_stats *stats);

typedef struct kki_newton_options {
    double target; ///< stop here
    int limit;     ///< steps
    int shifts;    ///< that are tried where a step leads far away
    double slack;  ///< growth of the residual tolerated in the first steps
} kki_newton_options;
/// True if it ended with statuses that stand and a residual that no step lowers.
bool kki_newton(const kki_system *s, kki_solver_scratch *scratch, kki_iterate *it, const kki_newton_options *options,
                kki_solver_stats *stats);
/// Statuses read off λ into the scratch; OPEN is also: at the lower bound.
enum { KKI_MODE_OPEN, KKI_MODE_HELD, KKI_MODE_SLIDING, KKI_MODE_UPPER };
void kki_newton_read_modes(const kki_system *s, kki_solver_scratch *w, const double *lambda);
/// Moves λ onto the statuses. True if it was not there.
bool kki_newton_enforce(const kki_system *s, const kki_solver_scratch *scratch, double *lambda);
/// Reads the directions in which it slides off λ; the statuses stay.
void kki_newton_follow(const kki_system *s, kki_solver_scratch *w, const double *lambda);

/// At the edge of friction points of one face may slip for want of a common direction, with next to no residual. All that is at its bound is
/// made to slide as one; what that pushes back sticks. `it` need not come out better: the caller looks.
bool kki_newton_stick(const kki_system *s, kki_solver_scratch *w, kki_iterate *it, kki_solver_stats *stats);

typedef struct kki_path_options {
    const double *before; ///< u of the problem that λ has answered; NULL: not known
    double fine;          ///< residual below which no pass is made that needs an inverse of its own
    int limit;            ///< changes of status a pass
    bool moves;           ///< as of the solver's options: statuses that slide are solved to the end behind each pass
} kki_path_options;
/// Along lines of problems, one change of status at a time; needs G.
void kki_path(const kki_system *s, kki_solver_scratch *w, kki_iterate *it, const kki_path_options *options,
              kki_solver_stats *stats);

#endif
