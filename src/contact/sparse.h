/// The contact problem of many bodies: rows stored where they act, and solved in velocity space.
///
/// A *body* here is whatever moves by itself, a lone body or a whole robot; its scaled velocity y has nv numbers, padded to a multiple of
/// eight. A *tie* is a constraint between at most two of them. With Y only known tie by tie,
///     z = Y λ,    u = Yᵀ z + g + r λ,
/// products cost what there is of ties, and a Newton step over λ with modes held, δλ = e − R Yᵀ δz (R small, tie by tie), is one
/// factor of
///     H = 1 + Y R Yᵀ,
/// which has a block for a body and one for a pair of bodies that touch. docs/maths/contact.md, "Many bodies".
#ifndef KKI_CONTACT_SPARSE_H
#define KKI_CONTACT_SPARSE_H

#include <karakuri/workers.h>

#include "contact/solver.h"

enum { KKI_TIE_ROWS = 6, KKI_BODY_PAD = 8 };

static inline int kki_round8(int n) {
    return (n + 7) & ~7;
}

typedef struct kki_tie {
    int32_t row, nrow;     ///< nrow ≤ KKI_TIE_ROWS
    int32_t block, nblock; ///< a block that rides on a contact is in the contact's tie
    int32_t body[2];       ///< the second is −1 where the tie is with the world or within one body
    int32_t side[2]; ///< where in Y its rows for each body begin: [nrow × padded nv of the body], a multiple of 8
} kki_tie;

typedef struct kki_sparse_problem {
    kki_problem rows;          ///< laws, g and compliance; no G, no Y
    int32_t nbody, ntie;       ///< bodies without a tie are allowed
    const int32_t *first;      ///< [nbody + 1] where each one's y begins; multiples of 8
    const int32_t *nv;         ///< [nbody]
    const kki_tie *tie;        ///< [ntie] rows and blocks rising without a gap
    const double *Y;           ///< 64-byte aligned, zero in the padding
    uint64_t stamp;            ///< equal where ties and Y are those of the call before; 0: not known
    const kk_workers *workers; ///< who sweeps; NULL: the calling thread alone
} kki_sparse_problem;

typedef struct kki_sparse_size {
    int32_t bodies, ties, rows, blocks;
    int32_t width;      ///< of all y together, padded
    int32_t widest;     ///< padded nv of one body
    int32_t pairs;      ///< of bodies that touch, at most
    int32_t fill;       ///< blocks of the factor below its diagonal, at most
    size_t factor_room; ///< doubles in these blocks, at most
} kki_sparse_size;

struct kki_sparse_scratch;

/// Scratch, made once. It keeps the order of elimination of the last graph of touching bodies, which depends on that graph alone.
typedef struct kki_sparse_work {
    kk_allocator allocator;
    void *memory;
    size_t bytes;
    kki_sparse_size size;
    const struct kki_sparse_kernels *kernels;
    struct kki_sparse_scratch *scratch;
} kki_sparse_work;

/// Size of a problem, with room for its factor: as much as it can take, or, of `all_bodies`, as a factor may take at most. Whether a factor fits depends on
/// that bound alone.
kki_sparse_size kki_sparse_size_within(kki_sparse_size size, int all_bodies);
/// The same of all bodies.
kki_sparse_size kki_sparse_size_for(int bodies, int ties, int rows, int blocks, int width, int widest);

kk_status kki_sparse_work_create(kki_sparse_work *work, const kk_allocator *allocator, kki_sparse_size size);
/// A zeroed work is accepted.
void kki_sparse_work_destroy(kki_sparse_work *work);

/// As kki_contact_solve.
kk_status kki_sparse_solve(const kki_sparse_problem *problem, const kki_solver_options *options, kki_sparse_work *work,
                           double *lambda, double *u, kki_certificate *certificate, kki_solver_stats *stats);

/// sparse_refine.c: the factor for the rows that are `held` (1 or 0, [nrow]); false where there is none. And λ changed, along these rows, so that the
/// motion z [width] it leaves becomes next to nothing; as often as one likes.
bool kki_sparse_refine_begin(const kki_sparse_problem *problem, kki_sparse_work *work, const double *held);
void kki_sparse_refine(const kki_sparse_problem *problem, kki_sparse_work *work, const double *held, const double *z,
                       double *lambda);

/// Who asks for 1e-9 m/s wants things to stay where they are for minutes, and gets some digits more; who asks for less gets fewer.
/// @param share  of the tolerance at which a search ends, or a warm start is left alone, at 1e-9
static inline double kki_sparse_share(double share, double tolerance) {
    const double wanted = share * tolerance / 1e-9;
    return wanted < share ? share : wanted > 0.5 ? 0.5 : wanted;
}

/// As kki_certify. @param z [width] scratch
void kki_sparse_certify_baseline(const kki_sparse_problem *problem, const double *lambda, double *z, double *u,
                                 kki_certificate *certificate);
void kki_sparse_certify_avx2(const kki_sparse_problem *problem, const double *lambda, double *z, double *u,
                             kki_certificate *certificate);
void kki_sparse_certify_avx512(const kki_sparse_problem *problem, const double *lambda, double *z, double *u,
                               kki_certificate *certificate);

/// u = Yᵀ z, [nrow].
void kki_sparse_velocity(const kki_sparse_problem *problem, const kki_sparse_work *work, const double *z, double *u);
/// z += Y λ.
void kki_sparse_motion(const kki_sparse_problem *problem, const kki_sparse_work *work, const double *lambda, double *z);
/// Packed upper triangle of a block's own part of G: contact nn, n1, n2, 11, 12, 22.
void kki_sparse_own(const kki_sparse_problem *problem, const kki_tie *tie, int row, int rows, double *own);

#endif
