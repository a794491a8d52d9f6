/// Steps of the walk inside all cones, four contacts at a time; see sparse_interior.c. Written once over vectors of four and inlined for every
/// instruction set; lanes meet in sums and minima of one order, so all give the same bits.
#include "contact/quads.h"
#include "contact/sparse_interior.h"
#include "dynamics/kernels/choose.h"

/// A row of four contacts that follow each other.
BODY quad gather(const double *x) {
    return (quad){x[0], x[3], x[6], x[9]};
}

BODY void scatter(const quad *x, double *out) {
    for (int l = 0; l < KKI_FOUR; l++) {
        for (int r = 0; r < 3; r++) {
            out[3 * l + r] = x[r][l];
        }
    }
}

BODY quad dot3(const quad *a, const quad *b) {
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

/// w0² − |wt|², without the difference of squares.
BODY quad determinant(const quad *w) {
    const quad t = root(w[1] * w[1] + w[2] * w[2]);
    return (w[0] - t) * (w[0] + t);
}

/// (μ λn, λt), or a step of it.
BODY void cone_of(const kki_inside_four *f, const double (*lambda)[KKI_FOUR], quad *w) {
    const quad *l = (const quad *)lambda;
    w[0] = *(const quad *)f->friction * l[0];
    w[1] = l[1];
    w[2] = l[2];
}

/// K with K w = z, symmetric and positive (Nesterov and Todd).
BODY void scale_cones(kki_inside_four *f) {
    const quad *z = (const quad *)f->z, two = spread(2);
    quad w[3], v[3], *K = (quad *)f->K;
    cone_of(f, (const double(*)[KKI_FOUR])f->lambda, w);
    const quad jw = root(determinant(w)), jz = root(determinant(z)), eta = jz / jw;
    const quad p = spread(1) / root(two * (spread(1) + dot3(w, z) / (jw * jz))), pw = p / jw, pz = p / jz;
    v[0] = pz * z[0] + pw * w[0];
    v[1] = pz * z[1] - pw * w[1];
    v[2] = pz * z[2] - pw * w[2];
    const quad e2 = two * eta;
    K[0] = e2 * v[0] * v[0] - eta;
    K[1] = e2 * v[0] * v[1];
    K[2] = e2 * v[0] * v[2];
    K[3] = e2 * v[1] * v[1] + eta;
    K[4] = e2 * v[1] * v[2];
    K[5] = e2 * v[2] * v[2] + eta;
}

/// The inverse of the contact's own equations: the normal alone, then friction that follows it.
BODY void invert(kki_inside_four *f) {
    const quad *K = (const quad *)f->K, *soft = (const quad *)f->soft, trace = *(const quad *)f->trace;
    quad *R = (quad *)f->R;
    R[0] = spread(1) / (*(const quad *)f->y / *(const quad *)f->lambda[0] + soft[0] + trace);
    const quad a = K[3] + soft[1] + trace, b = K[4], d = K[5] + soft[2] + trace, inverse = spread(1) / (a * d - b * b);
    const quad follow = *(const quad *)f->friction * R[0];
    R[3] = d * inverse;
    R[4] = spread(0) - b * inverse;
    R[5] = a * inverse;
    R[1] = spread(0) - (R[3] * K[1] + R[4] * K[2]) * follow;
    R[2] = spread(0) - (R[4] * K[1] + R[5] * K[2]) * follow;
}

BODY void scale_body(kki_inside_four *four, int count, double *out) {
    static const int at[9] = {0, -1, -1, 1, 3, 4, 2, 4, 5};
    for (int i = 0; i < count; i++) {
        kki_inside_four *f = &four[i];
        scale_cones(f);
        invert(f);
        for (int l = 0; l < KKI_FOUR && f->live[l] > 0; l++, out += 18) {
            for (int k = 0; k < 9; k++) {
                if (at[k] >= 0) {
                    out[6 * (k / 3) + k % 3] = f->R[at[k]][l];
                }
            }
        }
    }
}

BODY void answer(const kki_inside_four *f, const quad *b, quad *out) {
    const quad *R = (const quad *)f->R;
    out[0] = R[0] * b[0];
    out[1] = R[1] * b[0] + (R[3] * b[1] + R[4] * b[2]);
    out[2] = R[2] * b[0] + (R[4] * b[1] + R[5] * b[2]);
}

/// Mehrotra's second-order terms of the step just found.
BODY void second_order(kki_inside_four *f, const quad *w) {
    const quad *b = (const quad *)f->dz;
    quad *spare = (quad *)f->spare, a[3];
    cone_of(f, (const double(*)[KKI_FOUR])f->d, a);
    spare[0] = *(const quad *)f->d[0] * *(const quad *)f->dy;
    const quad p0 = dot3(a, b), p1 = a[0] * b[1] + b[0] * a[1], p2 = a[0] * b[2] + b[0] * a[2];
    const quad each = spread(1) / w[0];
    spare[1] = (w[0] * p0 - w[1] * p1 - w[2] * p2) / determinant(w);
    spare[2] = each * (p1 - w[1] * spare[1]);
    spare[3] = each * (p2 - w[2] * spare[1]);
}

BODY void aim_body(kki_inside_four *four, int count, double sigma, bool second, double *e) {
    for (int i = 0; i < count; i++, e += 12) {
        kki_inside_four *f = &four[i];
        const quad *u = (const quad *)f->u, zero = spread(0);
        quad *spare = (quad *)f->spare, *b = (quad *)f->b, w[3], out[3];
        cone_of(f, (const double(*)[KKI_FOUR])f->lambda, w);
        if (second) {
            second_order(f, w);
        } else {
            spare[0] = spare[1] = spare[2] = spare[3] = zero;
        }
        const quad share = spread(sigma) / determinant(w);
        b[0] = (spread(sigma) - spare[0]) / *(const quad *)f->lambda[0] - u[0];
        b[1] = zero - share * w[1] - spare[2] - u[1];
        b[2] = zero - share * w[2] - spare[3] - u[2];
        answer(f, b, out);
        scatter(out, e);
    }
}

/// The longest share up to `step` that keeps x ≥ 0.
BODY quad bound_step(quad x, quad dx, quad step) {
    return pick((dx < spread(0)) & (spread(0) - x > step * dx), (spread(0) - x) / dx, step);
}

/// The same for a cone: the smaller positive root of a t² + 2 b t + c.
BODY quad cone_step(const quad *w, const quad *d, quad step) {
    const quad zero = spread(0), a = determinant(d), b = w[0] * d[0] - w[1] * d[1] - w[2] * d[2], c = determinant(w);
    const quad under = b * b - a * c, s = root(pick(under >= zero, under, zero));
    const quad q = zero - (b + pick(b < zero, zero - s, s)), t1 = q / a, t2 = c / q;
    const mask real = under >= zero;
    step = bound_step(w[0], d[0], step);
    step = pick(real & (t1 > zero) & (t1 < step), t1, step);
    return pick(real & (t2 > zero) & (t2 < step), t2, step);
}

BODY void step_four(kki_inside_four *f, double sigma, const double *du, quad *products, quad *longest) {
    const quad live = *(const quad *)f->live, *b = (const quad *)f->b, *K = (const quad *)f->K, *z = (const quad *)f->z;
    const quad *spare = (const quad *)f->spare, x = *(const quad *)f->lambda[0], y = *(const quad *)f->y;
    quad *d = (quad *)f->d, *dz = (quad *)f->dz, w[3], dw[3];
    const quad u[3] = {b[0] - gather(du), b[1] - gather(du + 1), b[2] - gather(du + 2)};
    answer(f, u, d);
    for (int r = 0; r < 3; r++) {
        d[r] *= live;
    }
    cone_of(f, (const double(*)[KKI_FOUR])f->lambda, w);
    cone_of(f, (const double(*)[KKI_FOUR])f->d, dw);
    const quad share = spread(sigma) / determinant(w);
    const quad dy = live * ((spread(sigma) - spare[0] - y * d[0]) / x - y);
    dz[0] = live * (share * w[0] - z[0] - spare[1] - ((K[0] * dw[0] + K[1] * dw[1]) + K[2] * dw[2]));
    dz[1] = live * (spread(0) - share * w[1] - z[1] - spare[2] - ((K[1] * dw[0] + K[3] * dw[1]) + K[4] * dw[2]));
    dz[2] = live * (spread(0) - share * w[2] - z[2] - spare[3] - ((K[2] * dw[0] + K[4] * dw[1]) + K[5] * dw[2]));
    *(quad *)f->dy = dy;
    *longest = bound_step(y, dy, bound_step(x, d[0], *longest));
    *longest = cone_step(z, dz, cone_step(w, dw, *longest));
    products[0] += live * (x * y + dot3(w, z));
    products[1] += (x * dy + y * d[0]) + (dot3(w, dz) + dot3(z, dw));
    products[2] += d[0] * dy + dot3(dw, dz);
}

BODY void step_body(kki_inside_four *four, int count, double sigma, const double *du, kki_inside_sums *sums) {
    quad products[3] = {spread(0), spread(0), spread(0)}, longest = spread(1);
    for (int i = 0; i < count; i++) {
        step_four(&four[i], sigma, du + 12 * i, products, &longest);
    }
    sums->longest = 1;
    for (int l = 0; l < KKI_FOUR; l++) {
        sums->longest = longest[l] < sums->longest ? longest[l] : sums->longest;
    }
    for (int k = 0; k < 3; k++) {
        sums->products[k] = (products[k][0] + products[k][1]) + (products[k][2] + products[k][3]);
    }
}

BODY void go_body(kki_inside_four *four, int count, double share, double *lambda) {
    const quad t = spread(share);
    for (int i = 0; i < count; i++, lambda += 12) {
        kki_inside_four *f = &four[i];
        quad *l = (quad *)f->lambda, *z = (quad *)f->z;
        const quad *d = (const quad *)f->d, *dz = (const quad *)f->dz;
        *(quad *)f->y += t * *(const quad *)f->dy;
        for (int r = 0; r < 3; r++) {
            l[r] += t * d[r];
            z[r] += t * dz[r];
        }
        scatter(l, lambda);
    }
}

// ---- for every instruction set

#define DEFINE(suffix, attribute)                                                                             \
    attribute static void scale_##suffix(kki_inside_four *f, int count, double *R) {                          \
        scale_body(f, count, R);                                                                              \
    }                                                                                                         \
    attribute static void aim_##suffix(kki_inside_four *f, int count, double sigma, bool second, double *e) { \
        aim_body(f, count, sigma, second, e);                                                                 \
    }                                                                                                         \
    attribute static void step_##suffix(kki_inside_four *f, int count, double sigma, const double *du,        \
                                        kki_inside_sums *sums) {                                              \
        step_body(f, count, sigma, du, sums);                                                                 \
    }                                                                                                         \
    attribute static void go_##suffix(kki_inside_four *f, int count, double share, double *lambda) {          \
        go_body(f, count, share, lambda);                                                                     \
    }                                                                                                         \
    static const kki_inside_kernels table_##suffix = {                                                        \
        .scale = scale_##suffix, .aim = aim_##suffix, .step = step_##suffix, .go = go_##suffix};

DEFINE(baseline, )
#ifdef KKI_HAVE_AVX2
DEFINE(avx2, KKI_TARGET_AVX2)
#endif

KKI_CHOOSE_KERNELS(kki_inside_kernels, NULL)
