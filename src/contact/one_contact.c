/// One contact alone: open if b does not approach; stick if B λ = −b lies in the cone; else slide, where the normal velocity vanishes and
/// λt = μ λn d. There only the direction d is unknown, with
///     λn(d) = −bn / (Bnn + μ Bnt·d) > 0,    p · ut(d) = 0,    d · ut(d) ≤ 0,    p = d turned by a right angle:
/// Newton in the angle of d, and where it fails (several solutions or a pole, Painlevé's case) a scan of the circle with bisection.
#include "contact/one_contact.h"

#include "contact/cones.h"
#include "contact/turn.h"

enum { MOST_TURNS = 25 };

/// B λ = −b by cofactors. False if B is singular.
static bool solve_stick(const double B[6], const double b[3], double lambda[3]) {
    const double c00 = B[3] * B[5] - B[4] * B[4], c01 = B[2] * B[4] - B[1] * B[5], c02 = B[1] * B[4] - B[2] * B[3];
    const double determinant = B[0] * c00 + B[1] * c01 + B[2] * c02;
    if (!(determinant > 1e-13 * B[0] * B[3] * B[5])) {
        return false;
    }
    const double c11 = B[0] * B[5] - B[2] * B[2], c12 = B[1] * B[2] - B[0] * B[4], c22 = B[0] * B[3] - B[1] * B[1];
    const double f = -1 / determinant;
    lambda[0] = f * (c00 * b[0] + c01 * b[1] + c02 * b[2]);
    lambda[1] = f * (c01 * b[0] + c11 * b[1] + c12 * b[2]);
    lambda[2] = f * (c02 * b[0] + c12 * b[1] + c22 * b[2]);
    return true;
}

bool kki_turn_slide(const double B[6], const double b[3], double mu, int limit, double d[2], double *pole) {
    return turn_slide(B, b, mu, limit, d, pole);
}

/// Halves the arc between two directions at which `across` has different signs. True if the friction found opposes the motion.
static bool bisect_arc(const double B[6], const double b[3], double mu, double low[2], double high[2], bool rising,
                       double d[2], double *normal) {
    slide s = slide_along(B, b, mu, low[0], low[1]);
    for (int it = 0; it < 54; it++) {
        const double x = low[0] + high[0], y = low[1] + high[1], f = 1 / kki_norm2(x, y);
        const double mx = x * f, my = y * f;
        s = slide_along(B, b, mu, mx, my);
        double *end = (s.across <= 0) == rising ? low : high;
        end[0] = mx;
        end[1] = my;
    }
    d[0] = low[0];
    d[1] = low[1];
    *normal = -b[0] / s.pole;
    return s.along <= 0 && s.pole > 1e-9 * B[0];
}

/// The first direction of a coarse scan that solves it. `across` has no poles, so arcs over one count too.
static void scan_circle(const double B[6], const double b[3], double mu, double d[2], double *normal) {
    enum { COUNT = 96 };
    double last[2] = {1, 0};
    slide before = slide_along(B, b, mu, 1, 0);
    for (int k = 1; k <= COUNT; k++) {
        double here[2];
        kk_sincos(KK_TWO_PI * k / COUNT, &here[1], &here[0]);
        const slide s = slide_along(B, b, mu, here[0], here[1]);
        double high[2] = {here[0], here[1]}, low[2] = {last[0], last[1]};
        const bool rising = before.across <= 0;
        if (rising != (s.across <= 0) && bisect_arc(B, b, mu, low, high, rising, d, normal)) {
            return;
        }
        last[0] = here[0];
        last[1] = here[1];
        before = s;
    }
    // no slide: the row is all but singular; the normal impulse alone does no harm
    *normal = -b[0] / B[0];
    d[0] = d[1] = 0;
}

void kki_solve_contact(const double B[6], const double b[3], double friction, double lambda[3]) {
    double d[2] = {-b[1], -b[2]}, normal, pole = B[0];
    if (b[0] >= 0 || !(B[0] > 0)) {
        lambda[0] = lambda[1] = lambda[2] = 0;
        return;
    }
    if (solve_stick(B, b, lambda)) {
        const double rim = friction * lambda[0];
        if (lambda[0] >= 0 && lambda[1] * lambda[1] + lambda[2] * lambda[2] <= rim * rim) {
            return;
        }
        if (lambda[0] > 0) {
            d[0] = lambda[1];
            d[1] = lambda[2];
        }
    }
    const double length = kki_norm2(d[0], d[1]);
    d[0] = length > 0 ? d[0] / length : 1;
    d[1] = length > 0 ? d[1] / length : 0;
    if (friction > 0 && !kki_turn_slide(B, b, friction, MOST_TURNS, d, &pole)) {
        scan_circle(B, b, friction, d, &normal);
    } else {
        normal = -b[0] / pole;
    }
    lambda[0] = normal;
    lambda[1] = friction * normal * d[0];
    lambda[2] = friction * normal * d[1];
}

/// (B + s) λ = −b.
static void shifted_solve(const double B[3], const double b[2], double s, double lambda[2]) {
    const double a = B[0] + s, c = B[2] + s, f = -1 / (a * c - B[1] * B[1]);
    lambda[0] = f * (c * b[0] - B[1] * b[1]);
    lambda[1] = f * (a * b[1] - B[1] * b[0]);
}

/// The secular equation |λ(s)| = radius by the iteration of trust-region methods (Moré & Sorensen 1983): from below it is monotone.
void kki_solve_disc(const double B[3], const double b[2], double radius, double lambda[2]) {
    const double size = kki_norm2(b[0], b[1]), trace = B[0] + B[2];
    lambda[0] = lambda[1] = 0;
    if (!(radius > 0) || size == 0 || !(trace > 0)) {
        return;
    }
    // a hair of s keeps a singular pair finite
    double s = size / radius - trace;
    s = s > 1e-14 * trace ? s : 1e-14 * trace;
    for (int it = 0; it < 40; it++) {
        shifted_solve(B, b, s, lambda);
        const double length = kki_norm2(lambda[0], lambda[1]);
        if (length <= radius * (1 + 1e-15)) {
            break;
        }
        const double minus[2] = {-lambda[0], -lambda[1]};
        double w[2];
        shifted_solve(B, minus, s, w);
        s += (length / radius - 1) * length * length / (lambda[0] * w[0] + lambda[1] * w[1]);
    }
}
