// Numbers as an unevaluated sum hi + lo of two doubles, |lo| <= ulp(hi)/2: about 106 bits from exact operations only.
//
// References: Dekker, "A floating-point technique for extending the available precision", Numer. Math. 18 (1971)
// 224-242 (quick sum, split, product); Knuth, TAOCP vol. 2, 4.2.2, theorem B (sum). No fused multiply-add: it would be
// a library call on baseline processors. All sums and products below are error free unless they overflow; callers keep
// |a|, |b| between 2^-400 and 2^400.
#ifndef KARAKURI_BASE_ELEMENTARY_DOUBLE_DOUBLE_H
#define KARAKURI_BASE_ELEMENTARY_DOUBLE_DOUBLE_H

#include "../float_bits.h"

typedef struct kki_dd {
    double hi, lo;
} kki_dd;

/// a + b for |a| >= |b| or a = 0.
static inline kki_dd kki_dd_quick_sum(double a, double b) {
    const double s = a + b;
    return (kki_dd){s, b - (s - a)};
}

/// a + b in any order of size.
static inline kki_dd kki_dd_sum(double a, double b) {
    const double s = a + b;
    const double t = s - a;
    return (kki_dd){s, (a - (s - t)) + (b - t)};
}

/// Halves of 26 bits: the products of halves are exact.
static inline kki_dd kki_dd_split(double a) {
    const double c = 134217729.0 * a; // 2^27 + 1
    const double high = c - (c - a);
    return (kki_dd){high, a - high};
}

/// a * b.
static inline kki_dd kki_dd_product(double a, double b) {
    const double p = a * b;
    const kki_dd x = kki_dd_split(a), y = kki_dd_split(b);
    return (kki_dd){p, ((x.hi * y.hi - p) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo};
}

/// a * b, relative error below 2^-100.
static inline kki_dd kki_dd_multiply(kki_dd a, kki_dd b) {
    const kki_dd p = kki_dd_product(a.hi, b.hi);
    return kki_dd_quick_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/// a + b, error below 2^-104 of |a| + |b|.
static inline kki_dd kki_dd_add(kki_dd a, kki_dd b) {
    const kki_dd s = kki_dd_sum(a.hi, b.hi);
    return kki_dd_quick_sum(s.hi, s.lo + (a.lo + b.lo));
}

/// a / b, relative error below 2^-100.
static inline kki_dd kki_dd_divide(kki_dd a, kki_dd b) {
    const double q = a.hi / b.hi;
    const kki_dd p = kki_dd_product(q, b.hi);
    const double rest = ((a.hi - p.hi) - p.lo) + (a.lo - q * b.lo);
    return kki_dd_quick_sum(q, rest / b.hi);
}

/// Square root of a > 0, relative error below 2^-100.
static inline kki_dd kki_dd_sqrt(kki_dd a) {
    const double s = __builtin_sqrt(a.hi);
    const kki_dd p = kki_dd_product(s, s);
    return kki_dd_quick_sum(s, (((a.hi - p.hi) - p.lo) + a.lo) / (2.0 * s));
}

/// (hi + lo) 2^m with one rounding, also where the result is denormal; hi > 0, |m| < 1100.
static inline double kki_dd_scale(kki_dd a, int m) {
    double rounded = a.hi + a.lo;
    if (m >= 0) {
        return m > 1022 ? rounded * 0x1p1022 * kki_power_of_two(m - 1022) : rounded * kki_power_of_two(m);
    }
    // at this scale the smallest normal number is as below: what is added to it is rounded at the denormals' last place
    const double smallest_normal = kki_power_of_two(-1022 - m);
    if (rounded < smallest_normal) {
        const kki_dd s = kki_dd_quick_sum(smallest_normal, a.hi);
        rounded = (s.hi + (s.lo + a.lo)) - smallest_normal;
    }
    return rounded * kki_power_of_two(m / 2) * kki_power_of_two(m - m / 2);
}

static inline kki_dd kki_dd_negate(kki_dd a) {
    return (kki_dd){-a.hi, -a.lo};
}

#endif
