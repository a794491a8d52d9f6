/// Bodies and contacts of the swarm, one a lane: what its kernels have in common (swarm_kernels.h).
#ifndef KKI_CONTACT_SWARM_LANES_H
#define KKI_CONTACT_SWARM_LANES_H

#include "contact/swarm.h"

/// A bundle has eight lanes. Kernels take as many at a time as their registers hold, from lane o on: all eight, or four and then the other four.
#if KKI_SWARM_WIDTH == 8
#include "contact/octs.h"
typedef oct wide;
#else
#include "contact/quads.h"
typedef quad wide;
#endif

enum { LANES = KKI_SWARM_LANES, WIDTH = KKI_SWARM_WIDTH };

/// Slip below which friction has no direction, m/s (certificate.c has the same).
static const double LEAST_SLIP = 1e-9;

// ---- several at a time

#if KKI_SWARM_WIDTH == 8
BODY bool is_everywhere(mask m) {
    const half_of_mask four = __builtin_shufflevector(m, m, 0, 1, 2, 3) & __builtin_shufflevector(m, m, 4, 5, 6, 7);
    return ((four[0] & four[1]) & (four[2] & four[3])) != 0;
}

#else
typedef int64_t half __attribute__((vector_size(16)));

BODY bool is_everywhere(mask m) {
    const half both = __builtin_shufflevector(m, m, 0, 1) & __builtin_shufflevector(m, m, 2, 3);
    return (both[0] & both[1]) != 0;
}
#endif

BODY wide take(const double *a, int o) {
    return *(const wide *)(a + o);
}

BODY void give(wide x, double *a, int o) {
    *(wide *)(a + o) = x;
}

BODY wide size_of(wide a) {
    return pick(a < spread(0), -a, a);
}

/// The larger; what is no number counts as the largest.
BODY wide larger(wide a, wide b) {
    return pick((a >= b) | (a != a), a, b);
}

/// Of all lanes.
BODY double largest(wide a) {
#if KKI_SWARM_WIDTH == 8
    a = larger(a, __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3));
    a = larger(a, __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5));
    return larger(a, __builtin_shufflevector(a, a, 1, 0, 3, 2, 5, 4, 7, 6))[0];
#else
    a = larger(a, __builtin_shufflevector(a, a, 2, 3, 0, 1));
    return larger(a, __builtin_shufflevector(a, a, 1, 0, 3, 2))[0];
#endif
}

/// By value, so that it stays in registers.
typedef struct {
    wide x, y, z;
} vec;

BODY vec vec_load(const double a[3][LANES], int o) {
    return (vec){take(a[0], o), take(a[1], o), take(a[2], o)};
}

BODY void vec_store(vec a, double to[3][LANES], int o) {
    give(a.x, to[0], o);
    give(a.y, to[1], o);
    give(a.z, to[2], o);
}

BODY vec add(vec a, vec b) {
    return (vec){a.x + b.x, a.y + b.y, a.z + b.z};
}

BODY vec sub(vec a, vec b) {
    return (vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

BODY vec scale(vec a, wide f) {
    return (vec){a.x * f, a.y * f, a.z * f};
}

BODY wide dot(vec a, vec b) {
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

BODY vec cross(vec a, vec b) {
    return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

BODY vec along(vec n, vec t1, vec t2, vec v) {
    return (vec){dot(n, v), dot(t1, v), dot(t2, v)};
}

BODY vec across(vec n, vec t1, vec t2, vec f) {
    return add(scale(n, f.x), add(scale(t1, f.y), scale(t2, f.z)));
}

// ---- bodies, one a lane

#if KKI_SWARM_WIDTH == 8
/// Four numbers of two bodies.
BODY oct load_two(const double *z, int32_t a, int32_t b) {
    const half_of_oct x = *(const half_of_oct *)(z + a), y = *(const half_of_oct *)(z + b);
    return __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7);
}

/// Four numbers of each body.
BODY void load4(const double *z, const int32_t *at, wide x[4]) {
    transpose(load_two(z, at[0], at[4]), load_two(z, at[1], at[5]), load_two(z, at[2], at[6]),
              load_two(z, at[3], at[7]), x);
}

BODY void store_four(oct y, int32_t at, int32_t behind, int32_t none, double *z) {
    if (at != none) {
        *(half_of_oct *)(z + at) = __builtin_shufflevector(y, y, 0, 1, 2, 3);
    }
    if (behind != none) {
        *(half_of_oct *)(z + behind) = __builtin_shufflevector(y, y, 4, 5, 6, 7);
    }
}

/// Four numbers back again; nothing is written to the zeros at `none`, which all share.
BODY void store4(vec v, wide behind, const int32_t *at, int32_t none, double *z) {
    oct y[4];
    transpose(v.x, v.y, v.z, behind, y);
    for (int l = 0; l < 4; l++) {
        store_four(y[l], at[l], at[l + 4], none, z);
    }
}
#else
BODY void load4(const double *z, const int32_t *at, wide x[4]) {
    transpose(*(const quad *)(z + at[0]), *(const quad *)(z + at[1]), *(const quad *)(z + at[2]),
              *(const quad *)(z + at[3]), x);
}

BODY void store4(vec v, wide behind, const int32_t *at, int32_t none, double *z) {
    quad y[4];
    transpose(v.x, v.y, v.z, behind, y);
    for (int l = 0; l < 4; l++) {
        if (at[l] != none) {
            *(quad *)(z + at[l]) = y[l];
        }
    }
}
#endif

/// Velocities of bodies with what answers behind them, or their wrenches.
typedef struct {
    vec v, w;
    wide m, J; ///< 1/m; xx of J, all that round bodies have
} twist;

BODY twist twist_load(const double *z, const int32_t *at) {
    wide v[4], w[4];
    load4(z, at, v);
    load4(z + 4, at, w);
    return (twist){{v[0], v[1], v[2]}, {w[0], w[1], w[2]}, v[3], w[3]};
}

BODY void twist_store(twist t, const int32_t *at, int32_t none, double *z) {
    store4(t.v, t.m, at, none, z);
    store4(t.w, t.J, at, none, z + 4);
}

/// What answers: 1/m and J.
typedef struct {
    wide m, xx, yy, zz, xy, xz, yz, is_round;
} response;

BODY response response_load(const double *z, const int32_t *at) {
    wide a[4], b[4];
    load4(z, at, a);
    load4(z + 4, at, b);
    return (response){a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]};
}

BODY vec turn(const response *k, vec n) {
    return (vec){(k->xx * n.x + k->xy * n.y) + k->xz * n.z, (k->xy * n.x + k->yy * n.y) + k->yz * n.z,
                 (k->xz * n.x + k->yz * n.y) + k->zz * n.z};
}

/// Lanes from o on whose faces have a point of this number; the others have empty ones.
BODY mask have_point(const kki_swarm_bundle *b, int number, int o) {
    mask m;
    for (int l = 0; l < WIDTH; l++) {
        m[l] = -(b->count[o + l] > number);
    }
    return m;
}

/// Lanes are filled from the first: none of those from o on has a face.
BODY bool is_over(const kki_swarm_bundle *b, int o) {
    return b->contact[o] < 0;
}

BODY int32_t none_of(const kki_swarm *s) {
    return KKI_SWARM_BODY * s->nbody;
}

// ---- the proof: certificate.c's, a contact a lane

/// |s λ − P(s λ − ũ)|², and how far λ is from its cone, times s.
BODY wide natural_map(wide mu, wide scale_of, vec l, vec u) {
    const wide slip = root(u.y * u.y + u.z * u.z), normal = u.x + mu * slip, zero = spread(0);
    const wide a0 = scale_of * l.x, a1 = scale_of * l.y, a2 = scale_of * l.z;
    const wide x0 = a0 - normal, x1 = a1 - u.y, x2 = a2 - u.z, t = root(x1 * x1 + x2 * x2);
    const mask inside = (x0 >= zero) & (t <= mu * x0), tip = mu * t <= -x0;
    const wide n = (x0 + mu * t) / (spread(1) + mu * mu), f = pick(t > zero, mu * n / t, zero);
    const wide d0 = pick(inside, normal, a0 - pick(tip, zero, n)), d1 = pick(inside, u.y, a1 - pick(tip, zero, f * x1));
    const wide d2 = pick(inside, u.z, a2 - pick(tip, zero, f * x2));
    return d0 * d0 + d1 * d1 + d2 * d2;
}

BODY wide beyond_cone(wide mu, vec l) {
    const wide t = root(l.y * l.y + l.z * l.z), zero = spread(0);
    const mask inside = (l.x >= zero) & (t <= mu * l.x), tip = mu * t <= -l.x;
    const wide n = pick(tip, zero, (l.x + mu * t) / (spread(1) + mu * mu)), d0 = l.x - n, d1 = t - mu * n;
    return pick(inside, zero, root(d0 * d0 + d1 * d1));
}

/// How far λt is turned against −ut of what slides by more than rounding, on a scale from 0 to 2.
BODY wide turned(vec l, vec u, wide residual) {
    const wide slip = root(u.y * u.y + u.z * u.z), size = l.y * l.y + l.z * l.z, zero = spread(0);
    const wide sine = size_of(l.y * u.z - l.z * u.y), cosine = zero - (l.y * u.y + l.z * u.z);
    const wide share = sine / (sine + size_of(cosine));
    const mask slides = (slip > spread(LEAST_SLIP) + spread(10) * residual) & (size > zero);
    return pick(slides, pick(cosine >= zero, share, spread(2) - share), zero);
}

/// The largest of a bundle's points so far.
typedef struct {
    wide residual, cone, signorini, turned;
} verdict;

/// The squared residual of one more; what nothing moves, an empty lane among it, has no law to keep. @param u  with g
BODY wide judge_point(verdict *x, wide mu, wide scale_of, wide inverse_n, vec l, vec u) {
    const wide r = natural_map(mu, scale_of, l, u), own = pick(inverse_n == spread(0), spread(0), r);
    x->residual = larger(own, x->residual);
    x->cone = larger(scale_of * beyond_cone(mu, l), x->cone);
    x->signorini = larger(size_of(l.x * u.x), x->signorini);
    x->turned = larger(turned(l, u, root(r)), x->turned);
    return own;
}

/// What is no number counts as the largest.
BODY void raise_to(double *most, double x, int o) {
    *most = o == 0 || x >= *most || x != x ? x : *most;
}

/// @param o  the first lanes begin anew
BODY void verdict_store(const verdict *x, kki_swarm_proof *to, int o) {
    raise_to(&to->residual, largest(x->residual), o);
    raise_to(&to->cone, largest(x->cone), o);
    raise_to(&to->signorini, largest(x->signorini), o);
    raise_to(&to->turned, largest(x->turned), o);
}

#endif
