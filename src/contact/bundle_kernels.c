/// One pass over bundles of contacts; see bundles.h. Written once over vectors of four and inlined for every instruction set; lanes do not
/// meet, so all give the same bits.
#include "contact/bundles.h"
#include "contact/quads.h"
#include "dynamics/kernels/choose.h"

typedef double couple __attribute__((vector_size(16), may_alias));

/// Six coordinates of four bodies, a body a lane.
BODY void load(const double *z, const int32_t *at, quad *x) {
    const double *p0 = z + at[0], *p1 = z + at[1], *p2 = z + at[2], *p3 = z + at[3];
    transpose(*(const quad *)p0, *(const quad *)p1, *(const quad *)p2, *(const quad *)p3, x);
    const couple a = *(const couple *)(p0 + 4), b = *(const couple *)(p1 + 4), c = *(const couple *)(p2 + 4),
                 d = *(const couple *)(p3 + 4);
    const quad ac = __builtin_shufflevector(a, c, 0, 1, 2, 3), bd = __builtin_shufflevector(b, d, 0, 1, 2, 3);
    x[4] = __builtin_shufflevector(ac, bd, 0, 4, 2, 6);
    x[5] = __builtin_shufflevector(ac, bd, 1, 5, 3, 7);
}

/// Back again; nothing is written to the zeros at `none`, which all share.
BODY void store(const quad *x, const int32_t *at, int32_t none, double *z) {
    quad y[4];
    transpose(x[0], x[1], x[2], x[3], y);
    const quad ac = __builtin_shufflevector(x[4], x[5], 0, 4, 2, 6),
               bd = __builtin_shufflevector(x[4], x[5], 1, 5, 3, 7);
    const couple tail[4] = {__builtin_shufflevector(ac, ac, 0, 1), __builtin_shufflevector(bd, bd, 0, 1),
                            __builtin_shufflevector(ac, ac, 2, 3), __builtin_shufflevector(bd, bd, 2, 3)};
    for (int l = 0; l < KKI_LANES; l++) {
        if (at[l] != none) {
            *(quad *)(z + at[l]) = y[l];
            *(couple *)(z + at[l] + 4) = tail[l];
        }
    }
}

/// The step of sparse_kernels.c's step_contact, a contact a lane: the normal, then friction with it, within the disc.
BODY void step_contacts(const kki_bundle *b, const quad *u, const quad *l, quad *x) {
    const quad *across = (const quad *)b->across, *T = (const quad *)b->inverse_t, zero = spread(0);
    const quad n = l[0] - u[0] * *(const quad *)b->inverse_n;
    x[0] = pick(n > zero, n, zero);
    const quad dn = x[0] - l[0], u1 = u[1] + across[0] * dn, u2 = u[2] + across[1] * dn;
    const quad rim = *(const quad *)b->friction * x[0], area = rim * rim, h = *(const quad *)b->step;
    const quad a1 = l[1] - (T[0] * u1 + T[1] * u2), a2 = l[2] - (T[1] * u1 + T[2] * u2);
    const quad b1 = l[1] - h * u1, b2 = l[2] - h * u2, t = b1 * b1 + b2 * b2;
    const quad s = pick(t > area, rim / root(t), spread(1));
    const mask inside = a1 * a1 + a2 * a2 <= area;
    x[1] = pick(inside, a1, s * b1);
    x[2] = pick(inside, a2, s * b2);
}

/// A bundle under way: its bodies and their rows' velocities.
typedef struct {
    quad a[6], c[6], u[3];
} moving;

BODY void read_bodies(const kki_bundle *b, const double *z, moving *m) {
    const quad *A = (const quad *)b->Y[0], *B = (const quad *)b->Y[1], *g = (const quad *)b->g,
               *soft = (const quad *)b->soft, *l = (const quad *)b->lambda;
    load(z, b->at[0], m->a);
    load(z, b->at[1], m->c);
    for (int r = 0; r < 3; r++) {
        quad s = A[6 * r] * m->a[0], t = B[6 * r] * m->c[0];
        for (int k = 1; k < 6; k++) {
            s += A[6 * r + k] * m->a[k];
            t += B[6 * r + k] * m->c[k];
        }
        m->u[r] = (s + t) + (g[r] + soft[r] * l[r]);
    }
}

BODY void move_bodies(kki_bundle *b, const quad *x, moving *m, int32_t none, double *z) {
    const quad *A = (const quad *)b->Y[0], *B = (const quad *)b->Y[1];
    quad *l = (quad *)b->lambda;
    for (int r = 0; r < 3; r++) {
        const quad f = x[r] - l[r];
        l[r] = x[r];
        for (int k = 0; k < 6; k++) {
            m->a[k] += A[6 * r + k] * f;
            m->c[k] += B[6 * r + k] * f;
        }
    }
    store(m->a, b->at[0], none, z);
    store(m->c, b->at[1], none, z);
}

/// Bundles of one color, which have no body in common, in turn: what one waits for the other does not.
BODY void sweep_bundles(kki_bundle *b, int count, int32_t none, double *z) {
    moving m[2];
    quad x[2][3];
    for (int i = 0; i < count; i++) {
        read_bodies(&b[i], z, &m[i]);
    }
    for (int i = 0; i < count; i++) {
        step_contacts(&b[i], m[i].u, (const quad *)b[i].lambda, x[i]);
    }
    for (int i = 0; i < count; i++) {
        move_bodies(&b[i], x[i], &m[i], none, z);
    }
}

BODY void sweep_body(kki_bundle *bundle, int count, int32_t none, double *z) {
    int i = 0;
    for (; i + 1 < count; i += 2) {
        sweep_bundles(&bundle[i], 2, none, z);
    }
    if (i < count) {
        sweep_bundles(&bundle[i], 1, none, z);
    }
}

// ---- packing

BODY void pack_rows(const kki_sparse_problem *p, kki_bundle *b) {
    static const _Alignas(64) double nothing[24] = {0};
    quad *Y = (quad *)b->Y;
    for (int side = 0; side < 2; side++) {
        const double *from[KKI_LANES];
        for (int l = 0; l < KKI_LANES; l++) {
            const kki_tie *t = b->tie[l] >= 0 ? &p->tie[b->tie[l]] : NULL;
            from[l] = t && t->body[side] >= 0 ? p->Y + t->side[side] : nothing;
        }
        for (int r = 0; r < 3; r++) {
            quad *x = Y + 18 * side + 6 * r, low[4];
            transpose(*(const quad *)(from[0] + 8 * r), *(const quad *)(from[1] + 8 * r),
                      *(const quad *)(from[2] + 8 * r), *(const quad *)(from[3] + 8 * r), x);
            transpose(*(const quad *)(from[0] + 8 * r + 4), *(const quad *)(from[1] + 8 * r + 4),
                      *(const quad *)(from[2] + 8 * r + 4), *(const quad *)(from[3] + 8 * r + 4), low);
            x[4] = low[0];
            x[5] = low[1];
        }
    }
}

BODY quad row_product(const quad *Y, int i, int j) {
    quad a = Y[6 * i] * Y[6 * j], b = Y[18 + 6 * i] * Y[18 + 6 * j];
    for (int k = 1; k < 6; k++) {
        a += Y[6 * i + k] * Y[6 * j + k];
        b += Y[18 + 6 * i + k] * Y[18 + 6 * j + k];
    }
    return a + b;
}

/// Lanes whose G is singular, the empty ones among them, get a G of 1: nothing moves them.
BODY void pack_own(kki_bundle *b) {
    const quad *Y = (const quad *)b->Y, *soft = (const quad *)b->soft, zero = spread(0), one = spread(1);
    const quad nn = row_product(Y, 0, 0) + soft[0], t11 = row_product(Y, 1, 1) + soft[1],
               t22 = row_product(Y, 2, 2) + soft[2], t12 = row_product(Y, 1, 2), D = t11 * t22 - t12 * t12;
    const quad half = spread(0.5) * (t11 - t22), g = spread(0.5) * (t11 + t22) + root(half * half + t12 * t12);
    const mask good = (nn > zero) & (D > zero);
    const quad f = pick(good, one / D, zero);
    *(quad *)b->inverse_n = pick(good, one / nn, zero);
    ((quad *)b->across)[0] = row_product(Y, 0, 1);
    ((quad *)b->across)[1] = row_product(Y, 0, 2);
    ((quad *)b->inverse_t)[0] = f * t22;
    ((quad *)b->inverse_t)[1] = zero - f * t12;
    ((quad *)b->inverse_t)[2] = f * t11;
    *(quad *)b->step = pick(good, one / g, zero);
}

BODY void pack_body(const kki_sparse_problem *p, const double *soft, kki_bundle *b) {
    const int32_t none = p->first[p->nbody];
    for (int l = 0; l < KKI_LANES; l++) {
        const kki_tie *t = b->tie[l] >= 0 ? &p->tie[b->tie[l]] : NULL;
        b->friction[l] = 0;
        for (int r = 0; r < 3; r++) {
            b->soft[r][l] = t ? soft[t->row + r] : 0;
            b->g[r][l] = b->lambda[r][l] = 0;
        }
        b->at[0][l] = t ? p->first[t->body[0]] : none;
        b->at[1][l] = t && t->body[1] >= 0 ? p->first[t->body[1]] : none;
    }
    pack_rows(p, b);
    pack_own(b);
}

// ---- for every instruction set

#define DEFINE(suffix, attribute)                                                                         \
    attribute static void sweep_##suffix(kki_bundle *b, int count, int32_t none, double *z) {             \
        sweep_body(b, count, none, z);                                                                    \
    }                                                                                                     \
    attribute static void pack_##suffix(const kki_sparse_problem *p, const double *soft, kki_bundle *b) { \
        pack_body(p, soft, b);                                                                            \
    }                                                                                                     \
    static const kki_bundle_kernels table_##suffix = {.pack = pack_##suffix, .sweep = sweep_##suffix};

DEFINE(baseline, )
#ifdef KKI_HAVE_AVX2
DEFINE(avx2, KKI_TARGET_AVX2)
#endif

KKI_CHOOSE_KERNELS(kki_bundle_kernels, NULL)
