/// Bodies and contacts of the swarm, one a lane: what its kernels have in common (swarm_kernels.c).
#ifndef KKI_CONTACT_SWARM_LANES_H
#define KKI_CONTACT_SWARM_LANES_H

#include "contact/quads.h"
#include "contact/swarm.h"

typedef int64_t half __attribute__((vector_size(16)));

enum { LANES = KKI_SWARM_LANES };

/// Slip below which friction has no direction, m/s (certificate.c has the same).
static const double LEAST_SLIP = 1e-9;

// ---- four at a time

BODY bool is_everywhere(mask m) {
    const half both = __builtin_shufflevector(m, m, 0, 1) & __builtin_shufflevector(m, m, 2, 3);
    return (both[0] & both[1]) != 0;
}

BODY bool is_all(quad a) {
    return a[0] != 0 && a[1] != 0 && a[2] != 0 && a[3] != 0;
}

BODY quad size_of(quad a) {
    return pick(a < spread(0), -a, a);
}

/// The larger; what is no number counts as the largest.
BODY quad larger(quad a, quad b) {
    // NOLINTNEXTLINE(misc-redundant-expression): a ≠ a is how lanes ask what is no number
    return pick((a >= b) | (a != a), a, b);
}

/// Of all lanes.
BODY double largest(quad a) {
    const quad b = larger(a, __builtin_shufflevector(a, a, 2, 3, 0, 1));
    return larger(b, __builtin_shufflevector(b, b, 1, 0, 3, 2))[0];
}

/// By value, so that it stays in registers.
typedef struct {
    quad x, y, z;
} vec;

BODY vec vec_load(const double a[3][LANES]) {
    return (vec){*(const quad *)a[0], *(const quad *)a[1], *(const quad *)a[2]};
}

BODY void vec_store(vec a, double to[3][LANES]) {
    *(quad *)to[0] = a.x;
    *(quad *)to[1] = a.y;
    *(quad *)to[2] = a.z;
}

BODY vec add(vec a, vec b) {
    return (vec){a.x + b.x, a.y + b.y, a.z + b.z};
}

BODY vec sub(vec a, vec b) {
    return (vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

BODY vec scale(vec a, quad f) {
    return (vec){a.x * f, a.y * f, a.z * f};
}

BODY quad dot(vec a, vec b) {
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

/// Four numbers of four bodies.
BODY void load4(const double *z, const int32_t *at, quad x[4]) {
    transpose(*(const quad *)(z + at[0]), *(const quad *)(z + at[1]), *(const quad *)(z + at[2]),
              *(const quad *)(z + at[3]), x);
}

/// Four numbers back again; nothing is written to the zeros at `none`, which all share.
BODY void store4(vec v, quad behind, const int32_t *at, int32_t none, double *z) {
    quad y[4];
    transpose(v.x, v.y, v.z, behind, y);
    for (int l = 0; l < LANES; l++) {
        if (at[l] != none) {
            *(quad *)(z + at[l]) = y[l];
        }
    }
}

/// Velocities of four bodies with what answers behind them, or their wrenches.
typedef struct {
    vec v, w;
    quad m, J; ///< 1/m; xx of J, all that round bodies have
} twist;

BODY twist twist_load(const double *z, const int32_t *at) {
    quad v[4], w[4];
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
    quad m, xx, yy, zz, xy, xz, yz, is_round;
} response;

BODY response response_load(const double *z, const int32_t *at) {
    quad a[4], b[4];
    load4(z, at, a);
    load4(z + 4, at, b);
    return (response){a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]};
}

BODY vec turn(const response *k, vec n) {
    return (vec){(k->xx * n.x + k->xy * n.y) + k->xz * n.z, (k->xy * n.x + k->yy * n.y) + k->yz * n.z,
                 (k->xz * n.x + k->yz * n.y) + k->zz * n.z};
}

BODY int32_t none_of(const kki_swarm *s) {
    return KKI_SWARM_BODY * s->nbody;
}

// ---- the proof: certificate.c's, a contact a lane

/// |s λ − P(s λ − ũ)|², and how far λ is from its cone, times s.
BODY quad natural_map(quad mu, quad scale_of, vec l, vec u) {
    const quad slip = root(u.y * u.y + u.z * u.z), normal = u.x + mu * slip, zero = spread(0);
    const quad a0 = scale_of * l.x, a1 = scale_of * l.y, a2 = scale_of * l.z;
    const quad x0 = a0 - normal, x1 = a1 - u.y, x2 = a2 - u.z, t = root(x1 * x1 + x2 * x2);
    const mask inside = (x0 >= zero) & (t <= mu * x0), tip = mu * t <= -x0;
    const quad n = (x0 + mu * t) / (spread(1) + mu * mu), f = pick(t > zero, mu * n / t, zero);
    const quad d0 = pick(inside, normal, a0 - pick(tip, zero, n)), d1 = pick(inside, u.y, a1 - pick(tip, zero, f * x1));
    const quad d2 = pick(inside, u.z, a2 - pick(tip, zero, f * x2));
    return d0 * d0 + d1 * d1 + d2 * d2;
}

BODY quad beyond_cone(quad mu, vec l) {
    const quad t = root(l.y * l.y + l.z * l.z), zero = spread(0);
    const mask inside = (l.x >= zero) & (t <= mu * l.x), tip = mu * t <= -l.x;
    const quad n = pick(tip, zero, (l.x + mu * t) / (spread(1) + mu * mu)), d0 = l.x - n, d1 = t - mu * n;
    return pick(inside, zero, root(d0 * d0 + d1 * d1));
}

/// How far λt is turned against −ut of what slides by more than rounding, on a scale from 0 to 2.
BODY quad turned(vec l, vec u, quad residual) {
    const quad slip = root(u.y * u.y + u.z * u.z), size = l.y * l.y + l.z * l.z, zero = spread(0);
    const quad sine = size_of(l.y * u.z - l.z * u.y), cosine = zero - (l.y * u.y + l.z * u.z);
    const quad share = sine / (sine + size_of(cosine));
    const mask slides = (slip > spread(LEAST_SLIP) + spread(10) * residual) & (size > zero);
    return pick(slides, pick(cosine >= zero, share, spread(2) - share), zero);
}

/// The largest of a bundle's points so far.
typedef struct {
    quad residual, cone, signorini, turned;
} verdict;

/// The squared residual of one more; what nothing moves, an empty lane among it, has no law to keep. @param u  with g
BODY quad judge_point(verdict *x, quad mu, quad scale_of, quad inverse_n, vec l, vec u) {
    const quad r = natural_map(mu, scale_of, l, u), own = pick(inverse_n == spread(0), spread(0), r);
    x->residual = larger(own, x->residual);
    x->cone = larger(scale_of * beyond_cone(mu, l), x->cone);
    x->signorini = larger(size_of(l.x * u.x), x->signorini);
    x->turned = larger(turned(l, u, root(r)), x->turned);
    return own;
}

BODY void verdict_store(const verdict *x, kki_swarm_proof *to) {
    to->residual = largest(x->residual);
    to->cone = largest(x->cone);
    to->signorini = largest(x->signorini);
    to->turned = largest(x->turned);
}

#endif
