// Splines: the velocities and accelerations at the rows that make a sequence smooth.
//
// Cubic: continuous acceleration, a tridiagonal system for the velocities. Quintic: continuous jerk and snap, which makes ∫ jerk² least among all
// motions through the rows (Todorov and Jordan 1998), a block-tridiagonal system with blocks of two for velocity and acceleration. With
// V = h v, A = h² a, D the way of a piece of length h, its jerk and snap at the ends are
//     j₀ h³ =  60 D − 36 V₀ − 24 V₁ −  9 A₀ +  3 A₁      s₀ h⁴ = −360 D + 192 V₀ + 168 V₁ + 36 A₀ − 24 A₁
//     j₁ h³ =  60 D − 24 V₀ − 36 V₁ −  3 A₀ +  9 A₁      s₁ h⁴ =  360 D − 168 V₀ − 192 V₁ − 24 A₀ + 36 A₁
// All numbers of a row share the matrix, which is factored once.
#include <string.h>

#include "motion/sequence.h"

/// One row of blocks: lower · x[i−1] + middle · x[i] + upper · x[i+1] = right, row-major 2 × 2. A cubic uses the first entry alone.
typedef struct blocks {
    double lower[4], middle[4], upper[4];
} blocks;

static double width_of(const kk_sequence *s, int row) {
    return s->time[row + 1] - s->time[row];
}

// ---- two by two

static void mul22(const double *a, const double *b, double *out) {
    const double r[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                         a[2] * b[1] + a[3] * b[3]};
    memcpy(out, r, sizeof r);
}

static void invert22(double *a) {
    const double det = a[0] * a[3] - a[1] * a[2];
    const double r[4] = {a[3] / det, -a[1] / det, -a[2] / det, a[0] / det};
    memcpy(a, r, sizeof r);
}

/// Forward elimination: middle becomes its inverse, upper inverse · upper.
static void factor(blocks *b, int n) {
    for (int i = 0; i < n; i++) {
        if (i > 0) {
            double taken[4];
            mul22(b[i].lower, b[i - 1].upper, taken);
            for (int k = 0; k < 4; k++) {
                b[i].middle[k] -= taken[k];
            }
        }
        invert22(b[i].middle);
        mul22(b[i].middle, b[i].upper, b[i].upper);
    }
}

/// x [n × 2]: right sides in, solution out.
static void solve(const blocks *b, int n, double *x) {
    for (int i = 0; i < n; i++) {
        double *r = x + 2 * i;
        if (i > 0) {
            const double u = r[-2], w = r[-1];
            r[0] -= b[i].lower[0] * u + b[i].lower[1] * w;
            r[1] -= b[i].lower[2] * u + b[i].lower[3] * w;
        }
        const double u = r[0], w = r[1];
        r[0] = b[i].middle[0] * u + b[i].middle[1] * w;
        r[1] = b[i].middle[2] * u + b[i].middle[3] * w;
    }
    for (int i = n - 2; i >= 0; i--) {
        double *r = x + 2 * i;
        r[0] -= b[i].upper[0] * r[2] + b[i].upper[1] * r[3];
        r[1] -= b[i].upper[2] * r[2] + b[i].upper[3] * r[3];
    }
}

// ---- the conditions

static void add4(double *out, double scale, double a, double b, double c, double d) {
    out[0] += scale * a;
    out[1] += scale * b;
    out[2] += scale * c;
    out[3] += scale * d;
}

/// Row 2i says that jerk, row 2i + 1 that snap is the same on both sides (at an end: nothing), or v = a = 0.
static void set_quintic(const kk_sequence *s, blocks *b) {
    for (int i = 0; i < s->count; i++) {
        memset(&b[i], 0, sizeof b[i]);
        if (s->ends == KK_ENDS_AT_REST && (i == 0 || i == s->count - 1)) {
            add4(b[i].middle, 1, 1, 0, 0, 1);
            continue;
        }
        if (i > 0) { // the end of the piece before
            const double h = width_of(s, i - 1), h2 = 1 / (h * h), h3 = h2 / h;
            add4(b[i].lower, 1, -24 * h2, -3 * h2 * h, -168 * h3, -24 * h3 * h);
            add4(b[i].middle, 1, -36 * h2, 9 * h2 * h, -192 * h3, 36 * h3 * h);
        }
        if (i < s->count - 1) { // minus the start of the piece behind
            const double h = width_of(s, i), h2 = 1 / (h * h), h3 = h2 / h;
            add4(b[i].middle, -1, -36 * h2, -9 * h2 * h, 192 * h3, 36 * h3 * h);
            add4(b[i].upper, -1, -24 * h2, 3 * h2 * h, 168 * h3, -24 * h3 * h);
        }
    }
}

static void right_quintic(const kk_sequence *s, int column, double *x) {
    const size_t w = (size_t)s->width;
    for (int i = 0; i < s->count; i++) {
        const double *p = s->p + (size_t)i * w + (size_t)column;
        x[2 * i] = x[2 * i + 1] = 0;
        if (s->ends == KK_ENDS_AT_REST && (i == 0 || i == s->count - 1)) {
            continue;
        }
        if (i > 0) {
            const double h = width_of(s, i - 1), way = (p[0] - *(p - w)) / (h * h * h);
            x[2 * i] -= 60 * way;
            x[2 * i + 1] -= 360 * way / h;
        }
        if (i < s->count - 1) {
            const double h = width_of(s, i), way = (p[w] - p[0]) / (h * h * h);
            x[2 * i] += 60 * way;
            x[2 * i + 1] -= 360 * way / h;
        }
    }
}

/// Only the velocity counts; the second row is x = 0.
static void set_cubic(const kk_sequence *s, blocks *b) {
    for (int i = 0; i < s->count; i++) {
        const double before = i > 0 ? 1 / width_of(s, i - 1) : 0, behind = i < s->count - 1 ? 1 / width_of(s, i) : 0;
        const int is_held = s->ends == KK_ENDS_AT_REST && (i == 0 || i == s->count - 1);
        memset(&b[i], 0, sizeof b[i]);
        b[i].lower[0] = is_held ? 0 : before;
        b[i].middle[0] = is_held ? 1 : 2 * (before + behind);
        b[i].middle[3] = 1;
        b[i].upper[0] = is_held ? 0 : behind;
    }
}

static void right_cubic(const kk_sequence *s, int column, double *x) {
    const size_t w = (size_t)s->width;
    for (int i = 0; i < s->count; i++) {
        const double *p = s->p + (size_t)i * w + (size_t)column;
        const double before = i > 0 ? 1 / width_of(s, i - 1) : 0, behind = i < s->count - 1 ? 1 / width_of(s, i) : 0;
        const int is_held = s->ends == KK_ENDS_AT_REST && (i == 0 || i == s->count - 1);
        x[2 * i] = x[2 * i + 1] = 0;
        if (!is_held && i > 0) {
            x[2 * i] += 3 * before * before * (p[0] - *(p - w));
        }
        if (!is_held && i < s->count - 1) {
            x[2 * i] += 3 * behind * behind * (p[w] - p[0]);
        }
    }
}

/// Two free rows: a straight line.
static void lay_line(kk_sequence *s) {
    for (int k = 0; k < s->width; k++) {
        s->v[k] = s->v[s->width + k] = (s->p[s->width + k] - s->p[k]) / width_of(s, 0);
    }
}

static void lay(kk_sequence *s, blocks *b, double *x) {
    const int is_cubic = s->interpolation == KK_INTERPOLATE_CUBIC;
    (is_cubic ? set_cubic : set_quintic)(s, b);
    factor(b, s->count);
    for (int k = 0; k < s->width; k++) {
        (is_cubic ? right_cubic : right_quintic)(s, k, x);
        solve(b, s->count, x);
        for (int i = 0; i < s->count; i++) {
            s->v[(size_t)i * (size_t)s->width + (size_t)k] = x[2 * i];
            s->a[(size_t)i * (size_t)s->width + (size_t)k] = is_cubic ? 0 : x[2 * i + 1];
        }
    }
}

kk_status kki_sequence_fit(kk_sequence *s) {
    const size_t n = (size_t)s->count, bytes = n * (sizeof(blocks) + 2 * sizeof(double));
    memset(s->v, 0, n * (size_t)s->width * sizeof *s->v);
    memset(s->a, 0, n * (size_t)s->width * sizeof *s->a);
    if (s->count < 2 || s->interpolation == KK_INTERPOLATE_LINEAR || s->interpolation == KK_INTERPOLATE_MINIMUM_JERK) {
        return KK_OK;
    }
    if (s->count == 2 && s->ends == KK_ENDS_FREE) {
        lay_line(s);
        return KK_OK;
    }
    blocks *b = kki_allocate(&s->allocator, bytes);
    if (!b) {
        return KK_OUT_OF_MEMORY;
    }
    lay(s, b, (double *)(void *)(b + n));
    kki_release(&s->allocator, b, bytes);
    return KK_OK;
}
