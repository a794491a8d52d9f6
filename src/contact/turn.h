/// The direction in which one contact slides alone, by Newton's method in its angle; see one_contact.c.
///
/// All of it is times the pole, or its square: polynomials in d. A turn then waits for one quotient alone.
#ifndef KKI_CONTACT_TURN_H
#define KKI_CONTACT_TURN_H

#include <stdbool.h>

#include "contact/cones.h"
#include "contact/quads.h"

/// Sliding along d.
typedef struct slide {
    double pole;          ///< Bnn + μ Bnt·d; the normal impulse is −bn over it
    double w1, w2;        ///< velocity a unit of normal impulse
    double across, along; ///< velocity across d and along it, times the pole
} slide;

BODY slide slide_along(const double B[6], const double b[3], double mu, double dx, double dy) {
    slide s;
    s.pole = B[0] + mu * (B[1] * dx + B[2] * dy);
    s.w1 = B[1] + mu * (B[3] * dx + B[4] * dy);
    s.w2 = B[2] + mu * (B[4] * dx + B[5] * dy);
    const double u1 = b[1] * s.pole - b[0] * s.w1, u2 = b[2] * s.pole - b[0] * s.w2;
    s.across = dx * u2 - dy * u1;
    s.along = dx * u1 + dy * u2;
    return s;
}

/// d(across/pole)/d(angle), times the pole's square.
BODY double slide_slope(const double B[6], const double b[3], double mu, double dx, double dy, const slide *s) {
    const double px = -dy, py = dx;
    const double turned = px * (B[3] * px + B[4] * py) + py * (B[4] * px + B[5] * py);
    const double by_normal = (B[1] * px + B[2] * py) * (px * s->w1 + py * s->w2);
    return (mu * -b[0]) * (s->pole * turned - by_normal) - s->along * s->pole;
}

/// By an angle y/x of which 2 h is a little more, h = y/(2 x), cos = (1 − h²)/(1 + h²) and sin = 2 h/(1 + h²): no root has to be waited for.
BODY void turn(double y, double x, double d[2]) {
    const double x2 = 2 * x, xx = x2 * x2, yy = y * y, f = 1 / (xx + yy), c = xx - yy, s = 2 * (x2 * y);
    const double dx = d[0], dy = d[1];
    d[0] = (c * dx - s * dy) * f;
    d[1] = (c * dy + s * dx) * f;
}

/// kki_turn_slide, to be inlined.
BODY bool turn_slide(const double B[6], const double b[3], double mu, int limit, double d[2], double *pole) {
    for (int it = 0; it < limit; it++) {
        const slide s = slide_along(B, b, mu, d[0], d[1]);
        if (!(s.pole > 1e-9 * B[0])) {
            return false;
        }
        *pole = s.pole;
        const double size = (__builtin_fabs(b[1]) + __builtin_fabs(b[2])) * s.pole - b[0] * (B[3] + B[5]);
        if (__builtin_fabs(s.across) <= 1e-15 * size) {
            // on the rim and at rest, the sign is that of rounding
            return s.along <= 4e-15 * size;
        }
        const double slope = slide_slope(B, b, mu, d[0], d[1], &s);
        const bool rises = slope > 1e-140; // whose square is a number
        const double x = rises ? slope : 1, y = rises ? -s.across * s.pole : s.across > 0 ? -0.3 : 0.3;
        turn(kki_clamp(y, -0.7 * x, 0.7 * x), x, d);
    }
    return false;
}

#endif
