/// A walk to the solution inside all bounds; see interior.c.
#ifndef KKI_CONTACT_INTERIOR_H
#define KKI_CONTACT_INTERIOR_H

#include "contact/scratch.h"

enum { KKI_INTERIOR_ROWS = 64 };

/// sign λ[row] + offset + slope λ[normal] ≥ 0.
typedef struct kki_interior_bound {
    int row, normal; ///< normal: −1 where the bound is a number
    double sign, offset, slope;
    double x, y, dx, dy, spare; ///< slack, velocity, their steps; spare: second-order term
} kki_interior_bound;

/// (μ λ[row[0]], λ[row[1]], λ[row[2]]) in the second-order cone.
typedef struct kki_interior_cone {
    int row[3];
    double friction;
    double w[3], z[3], dw[3], dz[3], spare[3];
    double K[3][3]; ///< W⁻²
} kki_interior_cone;

typedef struct kki_interior {
    const kki_system *s;
    kki_iterate *it;
    kki_reduced *r;
    int nbound, ncone, steps;
    int standing; ///< steps in a row that gained nothing
    kki_interior_bound bound[2 * KKI_INTERIOR_ROWS];
    kki_interior_cone cone[KKI_INTERIOR_ROWS / 2];
    bool is_dead[KKI_INTERIOR_ROWS]; ///< rows without friction: λ = 0
    double step[KKI_INTERIOR_ROWS];
    double gap, first_gap; ///< mean of the products, now and at the start
} kki_interior;

/// A start of its own, in it->lambda. At most KKI_INTERIOR_ROWS rows, and not low rank.
void kki_interior_begin(kki_interior *x, const kki_system *s, kki_solver_scratch *w, kki_iterate *it);
/// Goes on until the residual is `share` of the problem's speeds, or its modes are as clear as then, or `limit` steps have been taken in all. False where it
/// cannot go on. Uses w->reduced.
bool kki_interior_walk(kki_interior *x, int limit, double share, kki_solver_stats *stats);

#endif
