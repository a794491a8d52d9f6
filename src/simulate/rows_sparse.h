/// Islands of many trees: rows stored constraint by constraint, for the sparse solver.
#ifndef KKI_SIMULATE_WIDE_H
#define KKI_SIMULATE_WIDE_H

#include "contact/sparse.h"
#include "contact/tuning.h"

/// An island of at least so many trees, and more rows than that, is wide: events.c has no use for its matrix any more.
enum { KKI_SPARSE_TREES = 4, KKI_SPARSE_ROWS = 128, KKI_SPARSE_STILL_ROWS = 96, KKI_SPARSE_FEW_ROWS = 48 };
/// Speed up to which fewer rows are enough, m/s and rad/s.
static const double KKI_SPARSE_STILL = 1e-8;
/// With a budget of sweeps, islands of several trees and more rows than that are wide.
enum { KKI_SPARSE_SWEPT = 12 };
/// In models of many trees islands of more rows than that are wide, too.
enum { KKI_SPARSE_ALWAYS = 600 };

/// One wide island at a time.
typedef struct kki_sparse_rows {
    kki_sparse_work solver;
    double *Y;             ///< [2 rows × widest]
    int8_t *is_built;      ///< [constraints] whether the rows are those of lone bodies
    kki_tie *tie;          ///< [constraints] one a constraint, in the island's order
    int32_t *first, *nv;   ///< [bodies + 1], [bodies]: the island's trees
    int32_t *body_of_tree; ///< [all trees] number in its island
    uint64_t stamp;        ///< of Y and the ties
    double *unit;          ///< [48 × bodies] of lone bodies: what unit wrenches become
    double *climbed;       ///< [4 × widest tree]
    int32_t width, widest; ///< padded degrees of freedom of all trees, and of one
} kki_sparse_rows;

#endif
