/// The sets in which impulses live, the projections on them, and the natural map of every law.
///
/// In the solver's variables the cone's tip is at zero: λ'n = λn + adhesion. All of a block's rows share one scale s > 0, a velocity an
/// impulse, and x = s λ is a velocity: cones are unchanged by it, bounds are multiplied.
#ifndef KKI_CONTACT_CONES_H
#define KKI_CONTACT_CONES_H

#include <karakuri/elementary.h>

#include "contact/problem.h"

static inline double kki_norm2(double x, double y) {
    return kk_sqrt(x * x + y * y);
}

static inline int kki_law_rows(int law) {
    return law == KKI_LAW_CONTACT ? 3 : law == KKI_LAW_ROLLING ? 2 : 1;
}

/// Nearest point of |xt| ≤ μ xn, in place.
void kki_project_cone(double friction, double x[3]);
/// Nearest point of |x| ≤ radius, in place.
void kki_project_disc(double radius, double x[2]);
static inline double kki_clamp(double x, double lower, double upper) {
    return x < lower ? lower : x > upper ? upper : x;
}

/// Nearest point of a block's set, in place. @param normal  torsion, rolling: λ'n of the contact    @param x [rows]
void kki_project_block(const kki_block *block, double scale, double normal, double *x);
/// Every block's projection, contacts before what rolls on them. @param lambda [nrow]
void kki_project_all(const kki_problem *problem, double *lambda);

/// |s λ − P(s λ − ũ)|, ũ = u + μ|ut| n for contacts (De Saxcé's shift), u otherwise.
double kki_natural_map(const kki_block *block, double scale, double normal, const double *lambda, const double *u);

#endif
