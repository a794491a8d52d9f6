/// Sweeps that find modes; see glance.h. Written once and inlined for every instruction set.
///
/// A contact that sticks is solved exactly, B x = −b with the inverse of its own block; the direction of one that slides comes nearer by two of Newton's steps
/// (one_contact.c) a sweep: the next sweep turns it on, and whoever asks solves what slides to the end.
#include "contact/glance.h"

#include "contact/one_contact.h"
#include "contact/quads.h"
#include "contact/turn.h"
#include "dynamics/kernels/choose.h"

/// Steps of a direction in a sweep.
enum { MOST_TURNS = 2 };
/// Share of what a block bears by which it may change in a sweep and stands still.
static const double STILL = 5e-2;

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

/// One contact with all others held: x = λ − B⁻¹ u where it sticks.
BODY void solve_contact(const own *o, double mu, const double *l, const double *v, double *x) {
    const double *B = o->B, *C = o->inverse;
    const double b0 = v[0] - (B[0] * l[0] + (B[1] * l[1] + B[2] * l[2]));
    if (b0 >= 0 || !(B[0] > 0)) { // or nothing moves it
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
    double d[2] = {size2 > 0 ? f * dx : 1, f * dy}, pole = B[0];
    turn_slide(B, b, mu, MOST_TURNS, d, &pole);
    const double normal = -b0 / pole;
    x[0] = normal;
    x[1] = mu * normal * d[0];
    x[2] = mu * normal * d[1];
}

BODY double solve_row(const kki_block *block, double inverse, double l, double v) {
    const double x = l - v * inverse;
    const double lower = block->law == KKI_LAW_LIMIT ? 0 : block->lower;
    if (block->law == KKI_LAW_EQUALITY) {
        return x;
    }
    return x < lower ? lower : block->law == KKI_LAW_BOX && x > block->upper ? block->upper : x;
}

/// A block's impulses, and what they change in u. Whether it still moves.
BODY int sweep_block(const kki_problem *p, const kki_block *block, const own *o, double *lambda, double *u) {
    const quad *G = (const quad *)(p->G + (long)block->row * p->stride);
    const int width = p->stride / 4;
    double *l = lambda + block->row, *v = u + block->row;
    if (block->law != KKI_LAW_CONTACT) {
        const double x = solve_row(block, o->inverse[0], l[0], v[0]), f = x - l[0];
        l[0] = x;
        for (int k = 0; k < width && f != 0; k++) {
            ((quad *)u)[k] += f * G[k];
        }
        return !(__builtin_fabs(f) <= STILL * __builtin_fabs(x));
    }
    if (l[0] == 0 && v[0] >= 0) { // stays open
        return 0;
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
    return !(f0 * f0 + (f1 * f1 + f2 * f2) <= STILL * STILL * (x[0] * x[0]));
}

BODY void glance(const kki_problem *p, int sweeps, double *lambda, double *u) {
    own all[KKI_GLANCE_BLOCKS];
    for (int b = 0; b < p->nblock; b++) {
        read_own(p, &p->block[b], &all[b]);
    }
    int moves = 1;
    for (int k = 0; k < sweeps && moves; k++) {
        moves = 0;
        for (int b = 0; b < p->nblock; b++) {
            moves |= sweep_block(p, &p->block[b], &all[b], lambda, u);
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
