/// Contacts that slide, four a vector; see slides.h. Written once and inlined for every instruction set.
///
/// Unknowns are the normals, moving λ along n + μ d, and the turns, along p ⊥ d; rows are n and p of all. Gauss and Jordan's elimination takes a contact's two unknowns at a time.
#include "contact/slides.h"

#include "contact/quads.h"
#include "dynamics/kernels/choose.h"

enum { LANES = KKI_MOST_SLIDES, WIDTH = LANES / 4, MOST_TURNS = 8 };
/// How far a direction turns at a time, rad.
static const double MOST_TURN = 0.7;

/// A column of the matrix, or the right side: rows n, then rows p.
typedef struct column {
    quad n[WIDTH], p[WIDTH];
} column;

BODY quad *quads(double *x) {
    return (quad *)x;
}

BODY double at(const quad *x, int lane) {
    return ((const double *)x)[lane];
}

BODY quad size_of(quad x) {
    return pick((mask)(x < 0), -x, x);
}

/// One lane of a vector alone.
#define ONLY(k) \
    { k == 0 ? -1 : 0, k == 1 ? -1 : 0, k == 2 ? -1 : 0, k == 3 ? -1 : 0 }
static const _Alignas(32) int64_t LANE[4][4] = {ONLY(0), ONLY(1), ONLY(2), ONLY(3)};

/// One number more in contact b's lane. By the vector: what is stored by the number and read by the vector next would be waited for.
BODY void add_at(int width, int b, double more, quad *x) {
    for (int w = 0; w < width; w++) {
        const mask lane = width == 1 || b / 4 == w ? *(const mask *)LANE[b % 4] : (mask){0, 0, 0, 0};
        x[w] = pick(lane, x[w] + more, x[w]);
    }
}

/// u = −b, by the vector.
BODY void begin(kki_slides *x, int width, const double *b) {
    for (int w = 0; w < width; w++) {
        for (int i = 0; i < 3; i++) {
            const double *from = b + 12 * w + i;
            const int left = x->n - 4 * w;
            quads(x->u[i])[w] = (quad){left > 0 ? -from[0] : 0, left > 1 ? -from[3] : 0, left > 2 ? -from[6] : 0,
                                       left > 3 ? -from[9] : 0};
        }
    }
}

/// What is left of un = 0 and p · ut = 0.
BODY double left_over(const kki_slides *x, int width, column *r) {
    quad most = spread(0);
    for (int w = 0; w < width; w++) {
        const quad d0 = ((const quad *)x->d[0])[w], d1 = ((const quad *)x->d[1])[w];
        r->n[w] = ((const quad *)x->u[0])[w];
        r->p[w] = d0 * ((const quad *)x->u[2])[w] - d1 * ((const quad *)x->u[1])[w];
        const mask bears = ((const quad *)x->normal)[w] > 0; // or it has let go
        const quad n = pick(bears, size_of(r->n[w]), spread(0)), p = pick(bears, size_of(r->p[w]), spread(0));
        most = pick((mask)(n > most), n, most);
        most = pick((mask)(p > most), p, most);
    }
    const double low = most[0] > most[1] ? most[0] : most[1], high = most[2] > most[3] ? most[2] : most[3];
    return low > high ? low : high;
}

/// What a turn meets besides S: friction that turns with it.
BODY quad stiffness_of(const kki_slides *x, int w) {
    const quad *u1 = (const quad *)x->u[1], *u2 = (const quad *)x->u[2];
    const quad against = -(((const quad *)x->d[0])[w] * u1[w] + ((const quad *)x->d[1])[w] * u2[w]);
    const quad rim = ((const quad *)x->friction)[w] * ((const quad *)x->normal)[w];
    const quad f = against / pick((mask)(rim > 0), rim, spread(1)); // or it has let go
    return ((const quad *)x->shift)[w] + pick((mask)(against > 0), f, spread(0));
}

/// Columns n + μ d and p of contact b. @param stiffness  of the turns
BODY void put_columns(const kki_slides *x, int width, int b, const quad *stiffness, column *normal, column *turn) {
    const double d0 = x->d[0][b], d1 = x->d[1][b], f0 = x->friction[b] * d0, f1 = x->friction[b] * d1;
    for (int w = 0; w < width; w++) {
        quad along[3], across[3];
        for (int i = 0; i < 3; i++) {
            const quad n = ((const quad *)x->S[3 * b][i])[w], s = ((const quad *)x->S[3 * b + 1][i])[w];
            const quad t = ((const quad *)x->S[3 * b + 2][i])[w];
            along[i] = n + (f0 * s + f1 * t);
            across[i] = d0 * t - d1 * s;
        }
        const quad p0 = ((const quad *)x->d[0])[w], p1 = ((const quad *)x->d[1])[w];
        normal->n[w] = along[0];
        normal->p[w] = p0 * along[2] - p1 * along[1];
        turn->n[w] = across[0];
        turn->p[w] = p0 * across[2] - p1 * across[1];
    }
    add_at(width, b, x->shift[b], normal->n);
    add_at(width, b, at(stiffness, b), turn->p);
}

/// The two unknowns of contact b out of all columns behind its own, of which the last is the right side. False where they cannot be told apart. (Friction may turn their determinant round; whether there is sense in what comes out of that, the certificate says.)
BODY int take_contact(const kki_slides *x, int width, int b, column *K) {
    column *P = &K[2 * b], *Q = P + 1;
    if (x->normal[b] == 0) { // it has let go
        return 1;
    }
    const double a = at(P->n, b), c = at(P->p, b), e = at(Q->n, b), f = at(Q->p, b), det = a * f - e * c;
    if (!(det > 0 || det < 0)) {
        return 0;
    }
    const double inverse = 1 / det;
    add_at(width, b, -1, P->n); // so that what is left in its own rows is the solution
    add_at(width, b, -1, Q->p);
    for (column *to = Q + 1; to <= K + 2 * x->n; to++) {
        const double vn = at(to->n, b), vp = at(to->p, b);
        const double p = (f * vn - e * vp) * inverse, q = (a * vp - c * vn) * inverse;
        for (int w = 0; w < width; w++) {
            to->n[w] -= p * P->n[w] + q * Q->n[w];
            to->p[w] -= p * P->p[w] + q * Q->p[w];
        }
    }
    return 1;
}

/// λn and d follow the solution; u follows λ. What would be drawn lets go, and directions turn by MOST_TURN at most.
BODY void follow(kki_slides *x, int width, const column *r) {
    quad change[3][WIDTH], u[3][WIDTH];
    for (int w = 0; w < width; w++) {
        const quad mu = quads(x->friction)[w], d0 = quads(x->d[0])[w], d1 = quads(x->d[1])[w],
                   old = quads(x->normal)[w];
        const quad next = old - r->n[w], normal = pick((mask)(next > 0) & (mask)(old > 0), next, spread(0));
        const quad full = -r->p[w] / pick((mask)(normal > 0), mu * normal, spread(1));
        const quad less = pick((mask)(full < MOST_TURN), full, spread(MOST_TURN));
        const quad turn = pick((mask)(less > -MOST_TURN), less, spread(-MOST_TURN));
        // by an angle of which `turn` is a little more; no root has to be waited for
        const quad half = 0.5 * turn, f = 1 / (1 + half * half), c = f * (1 - half * half), s = f * turn;
        const quad e0 = c * d0 - s * d1, e1 = c * d1 + s * d0;
        change[0][w] = normal - old;
        change[1][w] = mu * (normal * e0 - old * d0);
        change[2][w] = mu * (normal * e1 - old * d1);
        quads(x->normal)[w] = normal;
        quads(x->d[0])[w] = e0;
        quads(x->d[1])[w] = e1;
        for (int i = 0; i < 3; i++) {
            u[i][w] = quads(x->u[i])[w];
        }
    }
    for (int k = 0; k < 3 * x->n; k++) {
        const double f = at(change[k % 3], k / 3);
        for (int i = 0; i < 3; i++) {
            for (int w = 0; w < width; w++) {
                u[i][w] += f * quads(x->S[k][i])[w];
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int w = 0; w < width; w++) {
            quads(x->u[i])[w] = u[i][w];
        }
    }
}

BODY int slide(kki_slides *x, int width, const double *start, double floor) {
    column K[2 * LANES + 1], *const r = &K[2 * x->n];
    quad stiffness[WIDTH];
    double last = __builtin_inf();
    begin(x, width, start);
    for (int k = 0; k < MOST_TURNS; k++) {
        const double size = left_over(x, width, r);
        if (size <= floor || (k > 1 && size > 0.5 * last)) {
            break;
        }
        last = size;
        for (int w = 0; w < width; w++) {
            stiffness[w] = stiffness_of(x, w);
        }
        for (int b = 0; b < x->n; b++) {
            put_columns(x, width, b, stiffness, &K[2 * b], &K[2 * b + 1]);
        }
        for (int b = 0; b < x->n; b++) {
            if (!take_contact(x, width, b, K)) {
                return 0;
            }
        }
        follow(x, width, r);
    }
    return 1;
}

BODY int slide_body(kki_slides *x, const double *b, double floor) {
    if (x->n <= 4) {
        return slide(x, 1, b, floor);
    }
    if (x->n <= 8) {
        return slide(x, 2, b, floor);
    }
    return slide(x, WIDTH, b, floor);
}

// ---- for every instruction set

#define DEFINE(suffix, attribute)                                                    \
    attribute int kki_slide_##suffix(kki_slides *x, const double *b, double floor) { \
        return slide_body(x, b, floor);                                              \
    }

DEFINE(baseline, )
#ifdef KKI_HAVE_AVX2
DEFINE(avx2, KKI_TARGET_AVX2)
#endif
#ifdef KKI_HAVE_AVX512
DEFINE(avx512, KKI_TARGET_AVX512)
#endif
