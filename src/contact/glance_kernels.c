/// Sweeps that find modes; see glance.h. Written once and inlined for every instruction set.
///
/// A contact that sticks is solved exactly, B x = −b with the inverse of its own block; of one that slides λn is exact, and its direction comes nearer by Newton's steps
/// (one_contact.c), one or two a sweep: the next sweep turns it on, and whoever asks solves what slides to the end.
#include "contact/glance.h"

#include "contact/quads.h"
#include "dynamics/kernels/choose.h"

#define ABS(x) __builtin_fabs(x)

/// Steps of a direction in a sweep, and the turn below which it is left.
enum { MOST_TURNS = 2 };
static const double SMALL_TURN = 0.02;

/// A contact's own block of G, nn, n1, n2, 11, 12, 22, and its inverse; of a single row 1/G.
typedef struct own {
    double B[6], inverse[6];
} own;

BODY void invert(const double B[6], double C[6]) {
    const double c00 = B[3] * B[5] - B[4] * B[4], c01 = B[2] * B[4] - B[1] * B[5], c02 = B[1] * B[4] - B[2] * B[3];
    const double determinant = B[0] * c00 + B[1] * c01 + B[2] * c02;
    // of what is singular nothing sticks
    const double f = determinant > 1e-13 * B[0] * B[3] * B[5] ? 1 / determinant : 0;
    C[0] = f * c00;
    C[1] = f * c01;
    C[2] = f * c02;
    C[3] = f * (B[0] * B[5] - B[2] * B[2]);
    C[4] = f * (B[1] * B[2] - B[0] * B[4]);
    C[5] = f * (B[0] * B[3] - B[1] * B[1]);
}

BODY void read_own(const kki_problem *p, const kki_block *block, own *o) {
    const double *a = p->G + (long)block->row * (p->stride + 1);
    if (block->law == KKI_LAW_CONTACT) {
        const double B[6] = {a[0], a[1], a[2], a[p->stride + 1], a[p->stride + 2], a[2 * p->stride + 2]};
        for (int k = 0; k < 6; k++) {
            o->B[k] = B[k];
        }
        invert(B, o->inverse);
    } else {
        o->inverse[0] = a[0] > 0 ? 1 / a[0] : 0;
    }
}

/// What slides: λn = −bn/(Bnn + μ Bnt·d), and p · ut = 0 for the turn of d.
BODY void slide(const double B[6], const double b[3], double mu, double dx, double dy, double *x) {
    double normal = -b[0] / B[0];
    for (int k = 0; k < MOST_TURNS; k++) {
        const double pole = B[0] + mu * (B[1] * dx + B[2] * dy);
        if (!(pole > 1e-9 * B[0])) {
            break;
        }
        const double inverse = 1 / pole, n = -b[0] * inverse, m = mu * n, px = -dy, py = dx;
        const double w1 = B[1] + mu * (B[3] * dx + B[4] * dy), w2 = B[2] + mu * (B[4] * dx + B[5] * dy);
        const double u1 = b[1] + n * w1, u2 = b[2] + n * w2, across = px * u1 + py * u2, along = dx * u1 + dy * u2;
        const double dn = -m * (B[1] * px + B[2] * py) * inverse;
        const double v1 = dn * w1 + m * (B[3] * px + B[4] * py), v2 = dn * w2 + m * (B[4] * px + B[5] * py);
        const double slope = px * v1 + py * v2 - along;
        double turn = slope > 0 ? -across / slope : across > 0 ? -0.3 : 0.3;
        turn = turn < -0.7 ? -0.7 : turn > 0.7 ? 0.7 : turn;
        const double c = 1 / __builtin_sqrt(1 + turn * turn), old = dx;
        dx = c * (old - turn * dy);
        dy = c * (dy + turn * old);
        const double next = B[0] + mu * (B[1] * dx + B[2] * dy);
        normal = next > 1e-9 * B[0] ? -b[0] / next : n;
        if (ABS(turn) < SMALL_TURN) {
            break;
        }
    }
    x[0] = normal;
    x[1] = mu * normal * dx;
    x[2] = mu * normal * dy;
}

/// One contact with all others held: x = λ − B⁻¹ u where it sticks.
BODY void solve_contact(const own *o, double mu, const double *l, const double *v, double *x) {
    const double *B = o->B, *C = o->inverse;
    const double b0 = v[0] - (B[0] * l[0] + (B[1] * l[1] + B[2] * l[2]));
    if (b0 >= 0) {
        x[0] = x[1] = x[2] = 0;
        return;
    }
    x[0] = l[0] - (C[0] * v[0] + (C[1] * v[1] + C[2] * v[2]));
    x[1] = l[1] - (C[1] * v[0] + (C[3] * v[1] + C[4] * v[2]));
    x[2] = l[2] - (C[2] * v[0] + (C[4] * v[1] + C[5] * v[2]));
    const double rim = mu * x[0];
    if (x[0] > 0 && x[1] * x[1] + x[2] * x[2] <= rim * rim && C[0] > 0) {
        return;
    }
    const double b[3] = {b0, v[1] - (B[1] * l[0] + (B[3] * l[1] + B[4] * l[2])),
                         v[2] - (B[2] * l[0] + (B[4] * l[1] + B[5] * l[2]))};
    // along the friction it has, else along what would hold it, else against its motion
    const double t2 = l[1] * l[1] + l[2] * l[2], old = 0.9 * mu * l[0];
    double dx = -b[1], dy = -b[2];
    if (t2 > 0 && t2 >= old * old) {
        dx = l[1], dy = l[2];
    } else if (x[0] > 0 && C[0] > 0) {
        dx = x[1], dy = x[2];
    }
    const double size2 = dx * dx + dy * dy, f = size2 > 0 ? 1 / __builtin_sqrt(size2) : 0;
    slide(B, b, mu, size2 > 0 ? f * dx : 1, f * dy, x);
}

BODY double solve_row(const kki_block *block, double inverse, double l, double v) {
    const double x = l - v * inverse;
    const double lower = block->law == KKI_LAW_LIMIT ? 0 : block->lower;
    if (block->law == KKI_LAW_EQUALITY) {
        return x;
    }
    return x < lower ? lower : block->law == KKI_LAW_BOX && x > block->upper ? block->upper : x;
}

/// A block's impulses, and what they change in u.
BODY void sweep_block(const kki_problem *p, const kki_block *block, const own *o, double *lambda, double *u) {
    const quad *G = (const quad *)(p->G + (long)block->row * p->stride);
    const int width = p->stride / 4;
    double *l = lambda + block->row, *v = u + block->row;
    if (block->law != KKI_LAW_CONTACT) {
        const double x = solve_row(block, o->inverse[0], l[0], v[0]), f = x - l[0];
        l[0] = x;
        for (int k = 0; k < width && f != 0; k++) {
            ((quad *)u)[k] += f * G[k];
        }
        return;
    }
    if (l[0] == 0 && v[0] >= 0) { // stays open
        return;
    }
    double x[3];
    solve_contact(o, block->friction, l, v, x);
    const double f0 = x[0] - l[0], f1 = x[1] - l[1], f2 = x[2] - l[2];
    l[0] = x[0];
    l[1] = x[1];
    l[2] = x[2];
    for (int k = 0; k < width; k++) {
        ((quad *)u)[k] += f0 * G[k] + (f1 * G[width + k] + f2 * G[2 * width + k]);
    }
}

LONG_BODY void glance(const kki_problem *p, int sweeps, double *lambda, double *u) {
    own all[KKI_GLANCE_BLOCKS];
    for (int b = 0; b < p->nblock; b++) {
        read_own(p, &p->block[b], &all[b]);
    }
    for (int k = 0; k < sweeps; k++) {
        for (int b = 0; b < p->nblock; b++) {
            sweep_block(p, &p->block[b], &all[b], lambda, u);
        }
    }
}

// ---- for every instruction set

#define DEFINE(suffix, attribute)                                                                     \
    attribute void kki_glance_##suffix(const kki_problem *p, int sweeps, double *lambda, double *u) { \
        glance(p, sweeps, lambda, u);                                                                 \
    }

DEFINE(baseline, )
#ifdef KKI_HAVE_AVX2
DEFINE(avx2, KKI_TARGET_AVX2)
#endif
#ifdef KKI_HAVE_AVX512
DEFINE(avx512, KKI_TARGET_AVX512)
#endif
