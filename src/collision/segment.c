// Closest points of two segments (Lumelsky 1985, in the form of Ericson 2005, 5.1.9, about the middles).
#include "collision/segment.h"

static double clamp1(double x) {
    return x < -1 ? -1 : (x > 1 ? 1 : x);
}

// The parameter of the second segment's point nearest to the first's at s1.
static double answer(double s1, double offset, double cross, double square) {
    return square > 0 ? clamp1((cross * s1 - offset) / square) : 0;
}

void kki_segments_closest(kk_vec3 c1, kk_vec3 h1, kk_vec3 c2, kk_vec3 h2, double *s1, double *s2) {
    const kk_vec3 r = kk_vec3_sub(c2, c1);
    const double a = kk_vec3_dot(h1, h1), e = kk_vec3_dot(h2, h2), b = kk_vec3_dot(h1, h2);
    const double c = kk_vec3_dot(h1, r), f = kk_vec3_dot(h2, r);
    if (!(a > 0)) {
        *s1 = 0;
        *s2 = answer(0, f, b, e);
        return;
    }
    const kk_vec3 n = kk_vec3_cross(h1, h2);
    const double det = kk_vec3_dot(n, n); // a e − b² without its cancellation
    if (det > 1e-24 * a * e) {
        *s1 = clamp1(kk_vec3_dot(kk_vec3_cross(r, h2), n) / det);
    } else {
        // parallel: the middle of the overlap of both, seen along the first
        const double k = b < 0 ? -b / a : b / a, lo = c / a - k > -1 ? c / a - k : -1,
                     hi = c / a + k < 1 ? c / a + k : 1;
        *s1 = clamp1((lo + hi) / 2);
    }
    *s2 = answer(*s1, f, b, e);
    *s1 = clamp1((b * *s2 + c) / a);
    *s2 = answer(*s1, f, b, e);
}
