/// The sets in which impulses live, the projections on them, and the natural map of every law.
///
/// In the solver's variables the cone's tip is at zero: λ'n = λn + adhesion. All of a block's rows share one scale s > 0, a velocity an
/// impulse, and x = s λ is a velocity: cones are unchanged by it, bounds are multiplied.
#ifndef KKI_CONTACT_CONES_H
#define KKI_CONTACT_CONES_H

#include <karakuri/elementary.h>

#include "contact/problem.h"

static inline double kki_norm2(double x, double y) {
    return __builtin_sqrt(x * x + y * y);
}

static inline int kki_law_rows(int law) {
    return law == KKI_LAW_CONTACT ? 3 : law == KKI_LAW_ROLLING ? 2 : 1;
}

/// Nearest point of |xt| ≤ μ xn, in place. False if x is there already.
static inline bool kki_project_cone(double friction, double x[3]) {
    const double t = kki_norm2(x[1], x[2]);
    if (x[0] >= 0 && t <= friction * x[0]) { // without friction the bound alone does not see the sign
        return false;
    }
    if (friction * t <= -x[0]) {
        x[0] = x[1] = x[2] = 0;
        return true;
    }
    const double n = (x[0] + friction * t) / (1 + friction * friction);
    const double s = t > 0 ? friction * n / t : 0;
    x[0] = n;
    x[1] *= s;
    x[2] *= s;
    return true;
}
/// Nearest point of |x| ≤ radius, in place.
void kki_project_disc(double radius, double x[2]);
static inline double kki_clamp(double x, double lower, double upper) {
    return x < lower ? lower : x > upper ? upper : x;
}

/// Nearest point of a block's set, in place. @param normal  torsion, rolling: λ'n of the contact    @param x [rows]
void kki_project_block(const kki_block *block, double scale, double normal, double *x);
/// Every block's projection, contacts before what rolls on them. @param lambda [nrow]
void kki_project_all(const kki_problem *problem, double *lambda);

/// |s λ − P(s λ − ũ)|² of a contact. Inside the cone that is ũ, and must not be had by a difference in which a huge λ hides it.
static inline double kki_contact_map_squared(double friction, double scale, const double *lambda, const double *u) {
    const double a[3] = {scale * lambda[0], scale * lambda[1], scale * lambda[2]};
    const double normal = u[0] + friction * kki_norm2(u[1], u[2]);
    double x[3] = {a[0] - normal, a[1] - u[1], a[2] - u[2]};
    const double rim = friction * x[0];
    if ((x[0] >= 0 && x[1] * x[1] + x[2] * x[2] <= rim * rim) || !kki_project_cone(friction, x)) {
        return normal * normal + u[1] * u[1] + u[2] * u[2];
    }
    const double d0 = a[0] - x[0], d1 = a[1] - x[1], d2 = a[2] - x[2];
    return d0 * d0 + d1 * d1 + d2 * d2;
}

/// Slip of a contact whose friction is at its bound and does not point against it, m/s; else 0. The natural map is all but blind to it:
/// points of one face that slip alike, each with a friction turned by δ, leave a residual of |ut| δ and lose a share δ²/2 of what would hold them.
/// Only above some residuals does it tell more than they.
static const double KKI_TELLING_CREEP = 2;
static inline double kki_creep(double friction, const double *lambda, const double *u) {
    const double fastest = 1e-8, least = 2e-13, turned = 1e-7;
    const double rim = friction * lambda[0] * (1 - 1e-9), slip2 = u[1] * u[1] + u[2] * u[2];
    const double size2 = lambda[1] * lambda[1] + lambda[2] * lambda[2];
    if (!(slip2 > least * least && slip2 < fastest * fastest && rim > 0 && size2 >= rim * rim)) {
        return 0;
    }
    const double cross = lambda[1] * u[2] - lambda[2] * u[1], dot = -(lambda[1] * u[1] + lambda[2] * u[2]);
    return dot > 0 && __builtin_fabs(cross) <= turned * dot ? 0 : __builtin_sqrt(slip2);
}

/// |s λ − P(s λ − u)| of one row between bounds, x = s λ.
static inline double kki_interval_map(double lower, double upper, double x, double u) {
    const double q = x - u;
    return q < lower ? __builtin_fabs(x - lower) : q > upper ? __builtin_fabs(x - upper) : __builtin_fabs(u);
}

/// |s λ − P(s λ − u)|² of two rows in a disc.
static inline double kki_disc_map_squared(double radius, double scale, const double *lambda, const double *u) {
    const double a = scale * lambda[0], b = scale * lambda[1], x = a - u[0], y = b - u[1], t2 = x * x + y * y;
    if (t2 <= radius * radius) {
        return u[0] * u[0] + u[1] * u[1];
    }
    const double f = radius / __builtin_sqrt(t2);
    return (a - f * x) * (a - f * x) + (b - f * y) * (b - f * y);
}

/// |s λ − P(s λ − ũ)|², ũ = u + μ|ut| n for contacts (De Saxcé's shift), u otherwise. @param normal  torsion, rolling: of the contact
static inline double kki_map_squared(const kki_block *block, double scale, double normal, const double *lambda,
                                     const double *u) {
    const double bound = block->friction * (normal > 0 ? normal : 0) * scale;
    double r = 0;
    switch (block->law) {
    case KKI_LAW_CONTACT: return kki_contact_map_squared(block->friction, scale, lambda, u);
    case KKI_LAW_ROLLING: return kki_disc_map_squared(bound, scale, lambda, u);
    case KKI_LAW_LIMIT: r = kki_interval_map(0, __builtin_inf(), scale * lambda[0], u[0]); break;
    case KKI_LAW_BOX: r = kki_interval_map(block->lower * scale, block->upper * scale, scale * lambda[0], u[0]); break;
    case KKI_LAW_TORSION: r = kki_interval_map(-bound, bound, scale * lambda[0], u[0]); break;
    default: r = u[0];
    }
    return r * r;
}

#endif
