/// Matrix times vector, L D Lᵀ and L U of small dense matrices; see dense_kernels.h.
///
/// Reference: Golub & Van Loan, Matrix Computations, 4th ed., 3.2, 3.4, 4.1. Each body is written once and inlined into a function for
/// every instruction set.
#include "contact/dense_kernels.h"

#include <string.h>

#include "contact/glance.h"
#include "contact/quads.h"
#include "contact/slides.h"
#include "contact/solver.h"
#include "dynamics/kernels/choose.h"

#define ABS(x) __builtin_fabs(x)

BODY double sum4(kki_quad a) {
    return (a[0] + a[1]) + (a[2] + a[3]);
}

// ---- products

enum { SHORT = KKI_SHORT };

/// Vectors that are summed at once, in one pass over the rows: up to six stay in registers with what they are multiplied by, and a strip of one waits for itself.
BODY int strip_of(int left) {
    return SHORT == 0 ? (left < 3 ? 1 : 3) : left > 9 ? 6 : left > 6 ? (left + 1) / 2 : left;
}

/// `width` vectors of the product at once, so that they stay in registers.
BODY void multiply_strip(int n, int stride, int first, int width, const double *A, const double *x, const double *b,
                         double *y) {
    kki_quad sum[6];
    for (int k = 0; k < width; k++) {
        sum[k] = ((const kki_quad *)b)[first + k];
    }
    for (int j = 0; j < n; j++) {
        const kki_quad *a = (const kki_quad *)(A + j * stride) + first;
        for (int k = 0; k < width; k++) {
            sum[k] += x[j] * a[k];
        }
    }
    for (int k = 0; k < width; k++) {
        ((kki_quad *)y)[first + k] = sum[k];
    }
}

BODY void multiply_body(int n, int stride, const double *A, const double *x, const double *b, double *y) {
    for (int k = 0, w = 0; k < stride / 4; k += w) {
        w = strip_of(stride / 4 - k);
        switch (w) {
        case 1: multiply_strip(n, stride, k, 1, A, x, b, y); break;
        case 3: multiply_strip(n, stride, k, 3, A, x, b, y); break;
        case 2: multiply_strip(n, stride, k, SHORT > 0 ? 2 : 1, A, x, b, y); break;
        case 4: multiply_strip(n, stride, k, SHORT > 0 ? 4 : 1, A, x, b, y); break;
        case 5: multiply_strip(n, stride, k, SHORT > 0 ? 5 : 1, A, x, b, y); break;
        default: multiply_strip(n, stride, k, SHORT > 0 ? 6 : 1, A, x, b, y); break;
        }
    }
}

/// `width` vectors of Σ xⱼ Aⱼ at once.
BODY void combine_strip(int n, int stride, int first, int width, const double *x, const double *A, double *y) {
    kki_quad sum[6];
    for (int k = 0; k < width; k++) {
        sum[k] = (kki_quad){0, 0, 0, 0};
    }
    for (int j = 0; j < n; j++) {
        const kki_quad *a = (const kki_quad *)(A + j * stride) + first;
        for (int k = 0; k < width; k++) {
            sum[k] += x[j] * a[k];
        }
    }
    for (int k = 0; k < width; k++) {
        ((kki_quad *)y)[first + k] = sum[k];
    }
}

BODY void combine_body(int n, int width, int stride, const double *x, const double *A, double *y) {
    for (int k = 0, w = 0; k < width / 4; k += w) {
        w = strip_of(width / 4 - k);
        switch (w) {
        case 1: combine_strip(n, stride, k, 1, x, A, y); break;
        case 3: combine_strip(n, stride, k, 3, x, A, y); break;
        case 2: combine_strip(n, stride, k, SHORT > 0 ? 2 : 1, x, A, y); break;
        case 4: combine_strip(n, stride, k, SHORT > 0 ? 4 : 1, x, A, y); break;
        case 5: combine_strip(n, stride, k, SHORT > 0 ? 5 : 1, x, A, y); break;
        default: combine_strip(n, stride, k, SHORT > 0 ? 6 : 1, x, A, y); break;
        }
    }
}

BODY void add_body(int stride, double f, const double *x, double *y) {
    for (int k = 0; k < stride / 4; k++) {
        ((kki_quad *)y)[k] += f * ((const kki_quad *)x)[k];
    }
}

/// Σ a b over vectors first … end − 1.
BODY double dot_body(int first, int end, const double *a, const double *b) {
    kki_quad sum = {0, 0, 0, 0};
    for (int k = first; k < end; k++) {
        sum += ((const kki_quad *)a)[k] * ((const kki_quad *)b)[k];
    }
    return sum4(sum);
}

BODY void multiply_low_rank_body(int nv, int stride, const int32_t *span, const double *Y, const double *x,
                                 const double *b, double *y) {
    memcpy(y, b, sizeof(double) * (size_t)stride);
    for (int t = 0; t < nv; t++) {
        const double *row = Y + t * stride;
        const int first = span ? span[2 * t] : 0, end = span ? span[2 * t + 1] : stride / 4;
        add_body(4 * (end - first), dot_body(first, end, row, x), row + 4 * first, y + 4 * first);
    }
}

/// Four products of a row's vectors first … end − 1 with rows of B that are `stride` apart.
BODY kki_quad dots4(int first, int end, int stride, const double *a, const double *B) {
    kki_quad s[4] = {{0}, {0}, {0}, {0}};
    for (int k = first; k < end; k++) {
        for (int i = 0; i < 4; i++) {
            s[i] += ((const kki_quad *)a)[k] * ((const kki_quad *)(B + i * stride))[k];
        }
    }
    return (kki_quad){sum4(s[0]), sum4(s[1]), sum4(s[2]), sum4(s[3])};
}

/// Rows outside of its span are zero: no need to look at the others' spans.
BODY void weigh_body(int nv, int stride, const int32_t *span, const double *Y, const double *weight, int width,
                     double *line, double *W) {
    memset(W, 0, sizeof(double) * (size_t)(nv * width));
    for (int t = 0; t < nv; t++) {
        const double *row = Y + t * stride;
        for (int k = span[2 * t]; k < span[2 * t + 1]; k++) {
            ((kki_quad *)line)[k] = ((const kki_quad *)row)[k] * ((const kki_quad *)weight)[k];
        }
        int x = t & ~3;
        for (; x + 4 <= nv; x += 4) {
            *(kki_quad *)(W + t * width + x) = dots4(span[2 * t], span[2 * t + 1], stride, line, Y + x * stride);
        }
        for (; x < nv; x++) {
            W[t * width + x] = dot_body(span[2 * t], span[2 * t + 1], line, Y + x * stride);
        }
        W[t * width + t] += 1;
    }
}

/// Vectors by fours, four rows at a time; the last rows one by one.
BODY void transpose_body(int nv, int n, int stride, const double *Y, int width, double *columns) {
    const kki_quad none = {0, 0, 0, 0};
    for (int t = 0; t < width; t += 4) {
        for (int i = 0; i < n; i += 4) {
            kki_quad a[4];
            for (int k = 0; k < 4; k++) {
                a[k] = t + k < nv ? *(const kki_quad *)(Y + (t + k) * stride + i) : none;
            }
            for (int k = 0; k < 4 && i + k < n; k++) {
                *(kki_quad *)(columns + (i + k) * width + t) = (kki_quad){a[0][k], a[1][k], a[2][k], a[3][k]};
            }
        }
    }
}

/// Σ over the rows of y[i] y[i + 1] and y[i] y[i + 2] of one vector; what stands behind the last one is never asked for.
BODY void add_neighbors(kki_quad y, kki_quad next, kki_quad *one, kki_quad *two) {
    *one += y * (kki_quad){y[1], y[2], y[3], next[0]};
    *two += y * (kki_quad){y[2], y[3], next[0], next[1]};
}

BODY void near_products_body(int nv, int stride, const int32_t *span, const double *Y, double *near) {
    const int width = stride / 4;
    const kki_quad none = {0, 0, 0, 0};
    memset(near, 0, sizeof(double) * (size_t)(3 * stride));
    for (int t = 0; t < nv; t++) {
        const kki_quad *y = (const kki_quad *)(Y + t * stride);
        kki_quad *sum = (kki_quad *)near;
        for (int k = span ? span[2 * t] : 0; k < (span ? span[2 * t + 1] : width); k++) {
            sum[k] += y[k] * y[k];
            add_neighbors(y[k], k + 1 < width ? y[k + 1] : none, &sum[width + k], &sum[2 * width + k]);
        }
    }
}

// ---- an orthonormal basis

/// v −= Σ (qₖ · v) qₖ, and the products on top of r: first all products, four side by side, then all differences.
BODY void take_out(int c, int width, const double *Q, double *v, int stride, double *r) {
    _Alignas(32) double f[KKI_BASIS_ROWS];
    int k = 0;
    for (; k + 4 <= c; k += 4) {
        *(kki_quad *)(f + k) = dots4(0, width / 4, width, v, Q + k * width);
    }
    for (; k < c; k++) {
        f[k] = dot_body(0, width / 4, v, Q + k * width);
    }
    for (int x = 0; x < width / 4; x++) {
        kki_quad sum = ((const kki_quad *)v)[x];
        for (k = 0; k < c; k++) {
            sum -= f[k] * ((const kki_quad *)(Q + k * width))[x];
        }
        ((kki_quad *)v)[x] = sum;
    }
    for (k = 0; k < c; k++) {
        r[k * stride] += f[k];
    }
}

BODY double orthogonalize_body(int c, int width, const double *Q, double *v, int stride, double *r, double much) {
    const double before = dot_body(0, width / 4, v, v);
    double after = before;
    for (int round = 0; round < 2 && !(round == 1 && after > much * before); round++) {
        take_out(c, width, Q, v, stride, r);
        after = dot_body(0, width / 4, v, v);
    }
    return after;
}

/// Vector by vector: the six wrenches in registers, all rows of R over them.
BODY void blend_body(int n, int stride, const double *R, int width, int wide, const double *wrench, double *Y) {
    for (int c = 0; c < width; c++) {
        kki_quad w[6];
        for (int x = 0; x < 6; x++) {
            w[x] = ((const kki_quad *)(wrench + x * wide))[c];
        }
        for (int k = 0; k < n; k++) {
            const double *f = R + k * stride;
            const kki_quad low = (f[0] * w[0] + f[1] * w[1]) + f[2] * w[2],
                           high = (f[3] * w[3] + f[4] * w[4]) + f[5] * w[5];
            ((kki_quad *)(Y + k * wide))[c] += low + high;
        }
    }
}

BODY void gather_strip(int from, int to, int stride, int t, int first, int width, const double *C, const double *R,
                       double *W) {
    kki_quad sum[4] = {{0}, {0}, {0}, {0}};
    for (int k = from; k < to; k++) {
        const double f = C[k * stride + t];
        const kki_quad *r = (const kki_quad *)(R + k * stride) + first;
        for (int i = 0; i < width; i++) {
            sum[i] += f * r[i];
        }
    }
    for (int i = 0; i < width; i++) {
        ((kki_quad *)(W + t * stride))[first + i] = sum[i];
    }
}

BODY void gather_body(int m, int n, int stride, bool upper, const double *C, const double *R, double *W) {
    const int width = stride / 4;
    for (int t = 0; t < n; t++) {
        int k = upper ? t / 4 : 0;
        for (; k + 4 <= width; k += 4) {
            gather_strip(0, m, stride, t, k, 4, C, R, W);
        }
        for (; k < width; k++) {
            gather_strip(0, m, stride, t, k, 1, C, R, W);
        }
    }
}

/// Rows k that matter to column t and to at least one of the columns of a few vectors.
BODY void meet(const int32_t *range, int n, int t, int first, int width, int *from, int *to) {
    const int end = 4 * (first + width) < n ? 4 * (first + width) : n;
    int low = INT32_MAX, high = 0;
    for (int x = 4 * first; x < end; x++) {
        const bool empty = range[2 * x] >= range[2 * x + 1];
        low = !empty && range[2 * x] < low ? range[2 * x] : low;
        high = !empty && range[2 * x + 1] > high ? range[2 * x + 1] : high;
    }
    *from = range[2 * t] > low ? range[2 * t] : low;
    *to = range[2 * t + 1] < high ? range[2 * t + 1] : high;
}

BODY void gather_ranges_body(const int32_t *range, int n, int stride, bool upper, const double *C, const double *R,
                             double *W) {
    const int width = stride / 4;
    for (int t = 0; t < n; t++) {
        int k = upper ? t / 4 : 0, from, to;
        for (; k + 2 <= width; k += 2) {
            meet(range, n, t, k, 2, &from, &to);
            gather_strip(from, to, stride, t, k, 2, C, R, W);
        }
        for (; k < width; k++) {
            meet(range, n, t, k, 1, &from, &to);
            gather_strip(from, to, stride, t, k, 1, C, R, W);
        }
    }
}

BODY void project_body(int nv, int stride, const int32_t *span, const double *Y, const double *y, double *r) {
    if (stride > 0 && stride / 4 <= SHORT) {
        combine_body(nv, stride, stride, y, Y, r);
        return;
    }
    memset(r, 0, sizeof(double) * (size_t)stride);
    for (int k = 0; k < nv; k++) {
        const kki_quad *row = (const kki_quad *)(Y + k * stride);
        for (int c = span[2 * k]; c < span[2 * k + 1]; c++) {
            ((kki_quad *)r)[c] += row[c] * y[k];
        }
    }
}

/// Σ of a row's vectors first … end − 1 times λ, lane by lane.
BODY kki_quad lanes_of(const double *row, int first, int end, const double *lambda) {
    kki_quad sum = {0, 0, 0, 0};
    for (int c = first; c < end; c++) {
        sum += ((const kki_quad *)row)[c] * ((const kki_quad *)lambda)[c];
    }
    return sum;
}

/// Four rows at a time: their lanes are added side by side, in the order of one row.
BODY void spread_strip(int nv, int stride, int width, const double *Y, const double *lambda, double *y) {
    int k = 0;
    for (; k + 4 <= nv; k += 4) {
        const double *row = Y + k * stride;
        const kki_quad a = lanes_of(row, 0, width, lambda), b = lanes_of(row + stride, 0, width, lambda);
        const kki_quad c = lanes_of(row + 2 * stride, 0, width, lambda),
                       d = lanes_of(row + 3 * stride, 0, width, lambda);
        const kki_quad ab = __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
        const kki_quad cd = __builtin_shufflevector(c, d, 0, 1, 4, 5) + __builtin_shufflevector(c, d, 2, 3, 6, 7);
        const kki_quad all = __builtin_shufflevector(ab, cd, 0, 2, 4, 6) + __builtin_shufflevector(ab, cd, 1, 3, 5, 7);
        *(loose_quad *)(y + k) += all;
    }
    for (; k < nv; k++) {
        const kki_quad sum = lanes_of(Y + k * stride, 0, width, lambda);
        y[k] += (sum[0] + sum[2]) + (sum[1] + sum[3]);
    }
}

BODY void spread_short(int nv, int stride, const double *Y, const double *lambda, double *y) {
    switch (stride / 4) {
    case 1: spread_strip(nv, stride, 1, Y, lambda, y); break;
    case 2: spread_strip(nv, stride, 2, Y, lambda, y); break;
    case 3: spread_strip(nv, stride, 3, Y, lambda, y); break;
    case 4: spread_strip(nv, stride, 4, Y, lambda, y); break;
    case 5: spread_strip(nv, stride, 5, Y, lambda, y); break;
    case 6: spread_strip(nv, stride, 6, Y, lambda, y); break;
    default: spread_strip(nv, stride, stride / 4, Y, lambda, y); break;
    }
}

BODY void spread_body(int nv, int stride, const int32_t *span, const double *Y, const double *lambda, double *y) {
    if (stride > 0 && stride / 4 <= SHORT) {
        spread_short(nv, stride, Y, lambda, y);
        return;
    }
    for (int k = 0; k < nv; k++) {
        const kki_quad sum = lanes_of(Y + k * stride, span[2 * k], span[2 * k + 1], lambda);
        y[k] += (sum[0] + sum[2]) + (sum[1] + sum[3]);
    }
}

/// Rows of Y whose span holds a vector, a bit each: it is turned where a span begins and where it ends. @param at [vectors + 1]
BODY void list_rows(int nv, int vectors, const int32_t *span, uint64_t *at) {
    uint64_t all = 0;
    for (int c = 0; c <= vectors; c++) {
        at[c] = 0;
    }
    for (int k = 0; k < nv; k++) {
        at[span[2 * k]] ^= (uint64_t)1 << k;
        at[span[2 * k + 1]] ^= (uint64_t)1 << k;
    }
    for (int c = 0; c < vectors; c++) {
        at[c] = all ^= at[c];
    }
}

/// Up to four vectors, one a row of G.
BODY void put_rows(int rows, int stride, const kki_quad *from, double *G) {
    for (int i = 0; i < 4 && i < rows; i++) {
        *(kki_quad *)(G + i * stride) = from[i];
    }
}

/// Four rows of G, `width` vectors from the first on, over the listed rows of Y; and their mirror.
BODY void gram_block(uint64_t rows, int stride, int row, int first, int width, int n, const double *Y, double *G) {
    kki_quad sum[3][4];
    for (int c = 0; c < width; c++) {
        for (int i = 0; i < 4; i++) {
            sum[c][i] = (kki_quad){0, 0, 0, 0};
        }
    }
    for (; rows; rows &= rows - 1) {
        const double *y = Y + (size_t)__builtin_ctzll(rows) * (size_t)stride;
        for (int i = 0; i < 4; i++) {
            for (int c = 0; c < width; c++) {
                sum[c][i] += y[row + i] * ((const kki_quad *)y)[first + c];
            }
        }
    }
    for (int c = 0; c < width; c++) {
        const int column = 4 * (first + c);
        put_rows(n - row, stride, sum[c], G + row * stride + column);
        if (column > row) {
            kki_quad mirror[4];
            transpose(sum[c][0], sum[c][1], sum[c][2], sum[c][3], mirror);
            put_rows(n - column, stride, mirror, G + column * stride + row);
        }
    }
}

/// Five to eight rows, in one go: what is left and right of the diagonal's vectors, and between them.
BODY void gram_of_eight(int nv, int n, const double *Y, double *G) {
    kki_quad left[4] = {{0}, {0}, {0}, {0}}, right[4] = {{0}, {0}, {0}, {0}}, below[4] = {{0}, {0}, {0}, {0}},
             mirror[4];
    for (int k = 0; k < nv; k++) {
        const double *y = Y + 8 * k;
        const kki_quad a = *(const kki_quad *)y, b = *(const kki_quad *)(y + 4);
        for (int i = 0; i < 4; i++) {
            left[i] += y[i] * a;
            right[i] += y[i] * b;
            below[i] += y[4 + i] * b;
        }
    }
    transpose(right[0], right[1], right[2], right[3], mirror);
    for (int i = 0; i < 4; i++) {
        ((kki_quad *)(G + 8 * i))[0] = left[i];
        ((kki_quad *)(G + 8 * i))[1] = right[i];
    }
    for (int i = 4; i < n; i++) {
        ((kki_quad *)(G + 8 * i))[0] = mirror[i - 4];
        ((kki_quad *)(G + 8 * i))[1] = below[i - 4];
    }
}

BODY void gram_body(int nv, int n, int stride, const int32_t *span, const uint64_t *touch, const double *Y, double *G) {
    const int width = stride / 4;
    uint64_t list[KKI_GRAM_ROWS / 4 + 1];
    const uint64_t *at = touch ? touch : list;
    if (SHORT >= 2 && width == 2) {
        gram_of_eight(nv, n, Y, G);
        return;
    }
    if (!touch) {
        list_rows(nv, width, span, list);
    }
    for (int r = 0; r < (n + 3) / 4; r++) {
        int c = r;
        for (; SHORT > 0 && c + 3 <= width; c += 3) {
            gram_block(at[r] & (at[c] | at[c + 1] | at[c + 2]), stride, 4 * r, c, SHORT > 0 ? 3 : 1, n, Y, G);
        }
        for (; c + 2 <= width; c += 2) {
            gram_block(at[r] & (at[c] | at[c + 1]), stride, 4 * r, c, 2, n, Y, G);
        }
        for (; c < width; c++) {
            gram_block(at[r] & at[c], stride, 4 * r, c, 1, n, Y, G);
        }
    }
}

// ---- some rows of a symmetric matrix

/// Four columns of G from `from` on become those of A from `to` on. What is more than follows one another there, the next piece overwrites.
typedef struct piece {
    int32_t from, to;
} piece;

/// Pieces of the columns first … end − 1 behind the `count` that there are.
BODY int list_pieces(int first, int end, const int32_t *row, int count, piece *all) {
    for (int k = first; k < end; count++) {
        const int shift = row[k] - k, last = end < k + 4 ? end : k + 4;
        all[count] = (piece){row[k], k};
        for (k++; k < last && row[k] - k == shift; k++) {
        }
    }
    return count;
}

/// In four rows.
BODY void copy_pieces(int first, int end, const piece *all, const double *const g[4], int stride, double *a) {
    const double *const g0 = g[0], *const g1 = g[1], *const g2 = g[2], *const g3 = g[3];
    double *const a1 = a + stride, *const a2 = a1 + stride, *const a3 = a2 + stride;
    for (int p = first; p < end; p++) {
        const int64_t from = all[p].from, to = all[p].to;
        *(loose_quad *)(a + to) = *(const loose_quad *)(g0 + from);
        *(loose_quad *)(a1 + to) = *(const loose_quad *)(g1 + from);
        *(loose_quad *)(a2 + to) = *(const loose_quad *)(g2 + from);
        *(loose_quad *)(a3 + to) = *(const loose_quad *)(g3 + from);
    }
}

/// Columns first … end − 1, from the diagonal's vector on, but for the last vector of each row, in which there may be less than a piece.
BODY void pick_columns(int from, int to, int held, int first, int stride, const int32_t *row, const double *G, int wide,
                       double *A) {
    piece all[KKI_GRAM_ROWS];
    const int middle = list_pieces(from, held < to ? held : to, row, 0, all);
    const int end = list_pieces(first > from ? first : from, to, row, middle, all);
    const int pads = held < first && held >= from && held < to;
    for (int i = 0, p = 0; i < stride - 4 && i < to; i += 4) {
        double *a = A + i * stride;
        const double *g[4];
        for (int k = 0; k < 4; k++) {
            g[k] = G + row[i + k] * wide;
        }
        while (p < end && all[p].to + 4 <= i) {
            p++;
        }
        copy_pieces(p, middle, all, g, stride, a);
        for (int k = 0; k < 4 && pads; k++) {
            *(loose_quad *)(a + k * stride + held) = (loose_quad){0, 0, 0, 0};
        }
        copy_pieces(p > middle ? p : middle, end, all, g, stride, a);
    }
}

/// The last vector of all rows: columns that mostly follow one another, and zeros behind them.
BODY void pick_last(int n, int stride, const int32_t *row, const double *G, int wide, double *A) {
    const int last = stride - 4, count = n - last;
    const int32_t *c = row + last;
    double *a = A + last;
    int run = 1;
    while (run < count && c[run] - c[0] == run) {
        run++;
    }
    if (run == count) {
        const mask there = {-1, count > 1 ? -1 : 0, count > 2 ? -1 : 0, count > 3 ? -1 : 0};
        for (int i = 0; i < n; i++, a += stride) {
            *(kki_quad *)a = (kki_quad)((mask) * (const loose_quad *)(G + row[i] * wide + c[0]) & there);
        }
        return;
    }
    for (int i = 0; i < n; i++, a += stride) {
        const double *g = G + row[i] * wide;
        *(kki_quad *)a = (kki_quad){g[c[0]], g[c[1]], count > 2 ? g[c[2]] : 0, count > 3 ? g[c[3]] : 0};
    }
}

BODY void pick_body(int n, int held, int first, int stride, const int32_t *row, const double *G, int wide, double *A) {
    for (int k = 0; k < stride - 4; k += KKI_GRAM_ROWS) {
        const int end = k + KKI_GRAM_ROWS < stride - 4 ? k + KKI_GRAM_ROWS : stride - 4;
        pick_columns(k, end, held, first, stride, row, G, wide, A);
    }
    pick_last(n, stride, row, G, wide, A);
    for (int i = held; i < first; i++) {
        double *a = A + i * stride;
        for (int x = i / 4; x < stride / 4; x++) {
            ((kki_quad *)a)[x] = (kki_quad){0, 0, 0, 0};
        }
        a[i] = 1;
    }
}

// ---- L D Lᵀ
//
// Vectors start at the one that holds the diagonal: what stands left of it there is rubbish, which the solves meet only with zeros
// or write where nothing is read any more.

// Four rows at a time: first among themselves, then out of all below in one go, in the order of the rows.

static const double LEAST_PIVOT = 1e-300;

/// Rows k … k + count − 1 among themselves: first in the diagonal's vectors, where each pivot waits for the one before, then in all behind it.
BODY bool ldl_own(int count, int stride, double *A, int k, double *inverse) {
    kki_quad *row[4], d[4];
    double f[4][4];
    for (int i = 0; i < count; i++) {
        row[i] = (kki_quad *)(A + (k + i) * stride);
        d[i] = row[i][k / 4];
    }
    for (int j = 0; j < count; j++) {
        const double pivot = d[j][j];
        if (!(pivot > LEAST_PIVOT)) {
            return false;
        }
        inverse[k + j] = 1 / pivot;
        for (int i = j + 1; i < count; i++) {
            f[j][i] = d[j][i] * inverse[k + j];
            d[i] -= f[j][i] * d[j];
        }
        row[j][k / 4] = d[j];
    }
    for (int x = k / 4 + 1; x < stride / 4; x++) {
        for (int i = 0; i < count; i++) {
            d[i] = row[i][x];
            for (int j = 0; j < i; j++) {
                d[i] -= f[j][i] * d[j];
            }
            row[i][x] = d[i];
        }
    }
    return true;
}

/// Four rows from k on out of row i.
BODY void ldl_below(int stride, double *A, int k, int i, const double *inverse) {
    const double *p = A + k * stride, *q = p + stride, *r = q + stride, *s = r + stride;
    const double fp = p[i] * inverse[k], fq = q[i] * inverse[k + 1], fr = r[i] * inverse[k + 2],
                 fs = s[i] * inverse[k + 3];
    kki_quad *row = (kki_quad *)(A + i * stride);
    for (int x = i / 4; x < stride / 4; x++) {
        const kki_quad two = (row[x] - fp * ((const kki_quad *)p)[x]) - fq * ((const kki_quad *)q)[x];
        row[x] = (two - fr * ((const kki_quad *)r)[x]) - fs * ((const kki_quad *)s)[x];
    }
}

/// The same out of four rows that begin in one vector: what is taken out is loaded once for all of them.
BODY void ldl_below_four(int stride, double *A, int k, int i, const double *inverse) {
    const kki_quad *p[4];
    kki_quad f[4], *row[4];
    for (int j = 0; j < 4; j++) {
        p[j] = (const kki_quad *)(A + (k + j) * stride);
        row[j] = (kki_quad *)(A + (i + j) * stride);
        f[j] = p[j][i / 4] * inverse[k + j];
    }
    for (int x = i / 4; x < stride / 4; x++) {
        const kki_quad a = p[0][x], b = p[1][x], c = p[2][x], d = p[3][x];
        for (int r = 0; r < 4; r++) {
            row[r][x] = (((row[r][x] - f[0][r] * a) - f[1][r] * b) - f[2][r] * c) - f[3][r] * d;
        }
    }
}

/// All rows from i to before `end`; i is a vector's first.
BODY void ldl_rows_below(int end, int stride, double *A, int k, int i, const double *inverse) {
    for (; i + 4 <= end; i += 4) {
        ldl_below_four(stride, A, k, i, inverse);
    }
    for (; i < end; i++) {
        ldl_below(stride, A, k, i, inverse);
    }
}

/// ldl_own of four: their triangle number by number, so that pivots wait for each other and for nothing else; all vectors follow.
BODY bool ldl_own_four(int stride, double *A, int k, double *inverse) {
    double *const p = A + k * (stride + 1), *const q = p + stride, *const r = q + stride, *const s = r + stride;
    const double a = p[0], b = p[1], c = p[2], d = p[3], a1 = 1 / a, fb = b * a1, fc = c * a1, fd = d * a1;
    const double e = q[1] - fb * b, f = q[2] - fb * c, g = q[3] - fb * d, e1 = 1 / e, ff = f * e1, fg = g * e1;
    const double h = (r[2] - fc * c) - ff * f, i = (r[3] - fc * d) - ff * g, h1 = 1 / h, fi = i * h1;
    const double j = ((s[3] - fd * d) - fg * g) - fi * i;
    *(loose_quad *)(inverse + k) = (loose_quad){a1, e1, h1, 1 / j};
    for (int x = 0; x < stride / 4 - k / 4; x++) {
        const kki_quad one = ((kki_quad *)p)[x], two = ((kki_quad *)q)[x] - fb * one;
        const kki_quad three = (((kki_quad *)r)[x] - fc * one) - ff * two;
        ((kki_quad *)q)[x] = two;
        ((kki_quad *)r)[x] = three;
        ((kki_quad *)s)[x] = ((((kki_quad *)s)[x] - fd * one) - fg * two) - fi * three;
    }
    return a > LEAST_PIVOT && e > LEAST_PIVOT && h > LEAST_PIVOT && j > LEAST_PIVOT;
}

BODY bool ldl_panel(int left, int stride, double *A, int k, double *inverse) {
    if (left >= 4) {
        return ldl_own_four(stride, A, k, inverse);
    }
    return ldl_own(left < 4 ? left : 4, stride, A, k, inverse);
}

/// The next four rows come first, and then the pivots among them: while these wait for each other, the other rows are done.
BODY bool ldl_body(int pivots, int n, int stride, double *A, double *inverse) {
    bool good = pivots <= 0 || ldl_panel(pivots, stride, A, 0, inverse);
    for (int k = 0; k < pivots && good; k += 4) {
        const int next = k + 8 < n ? k + 8 : n;
        ldl_rows_below(next, stride, A, k, k + 4, inverse);
        good = k + 4 >= pivots || ldl_panel(pivots - k - 4, stride, A, k + 4, inverse);
        ldl_rows_below(n, stride, A, k, next, inverse);
    }
    return good;
}

/// The products of `count` of four rows with vectors of x, side by side: from one on, forward or back, so that what has just been found comes last.
BODY kki_quad dot4(int count, int from, int way, int vectors, int stride, const double *A, const double *x) {
    kki_quad s[4] = {{0}, {0}, {0}, {0}}, column[4];
    for (int k = from; vectors > 0; k += way, vectors--) {
        for (int i = 0; i < count; i++) {
            s[i] += ((const kki_quad *)(A + i * stride))[k] * ((const kki_quad *)x)[k];
        }
    }
    transpose(s[0], s[1], s[2], s[3], column);
    return (column[0] + column[1]) + (column[2] + column[3]);
}

// The solves go by fours: what a vector takes from other vectors first, then its own triangle in scalars, then one store. `count`, how
// many rows of the four there are, is a constant in all calls but the last, so that their loops vanish.

/// y of vector v, and what it takes from those behind it.
BODY void ldl_forward(int v, int count, int stride, const double *A, const double *inverse, double *b, double *y) {
    const double *a = A + 4 * v * stride;
    double t[4] = {0, 0, 0, 0};
    for (int i = 0; i < count; i++) {
        double sum = b[4 * v + i];
        for (int k = 0; k < i; k++) {
            sum -= t[k] * a[k * stride + 4 * v + i];
        }
        t[i] = sum * inverse[4 * v + i];
    }
    memcpy(y + 4 * v, t, sizeof t);
    for (int j = v + 1; j < stride / 4; j++) {
        kki_quad rest = ((kki_quad *)b)[j];
        for (int i = 0; i < count; i++) {
            rest -= t[i] * ((const kki_quad *)(a + i * stride))[j];
        }
        ((kki_quad *)b)[j] = rest;
    }
}

/// x of vector v from those behind it: (y − A x)/D, where `unit` says that y has been divided already. Of its own triangle each number waits for one product and one
/// difference alone.
BODY void backward(int v, int count, int stride, bool unit, const double *A, const double *inverse, const double *y,
                   double *x) {
    const double *a = A + 4 * v * stride, *own = a + 4 * v;
    const int behind = stride / 4 - 1 - v;
    const kki_quad sum = dot4(count, v + behind, -1, behind, stride, a, x);
    const kki_quad over = load_some(inverse + 4 * v, count), from = load_some(y + 4 * v, count);
    kki_quad t = unit ? from - over * sum : (from - sum) * over;
    for (int k = count - 1; k > 0; k--) {
        const kki_quad column = {own[k], k > 1 ? own[stride + k] : 0, k > 2 ? own[2 * stride + k] : 0, 0};
        t -= (over * column) * t[k];
    }
    *(kki_quad *)(x + 4 * v) = t; // at once: it is read next
}

BODY void backward_all(int n, int stride, bool unit, const double *A, const double *inverse, const double *y,
                       double *x) {
    int v = n / 4;
    if (n % 4) {
        backward(v, n % 4, stride, unit, A, inverse, y, x);
    }
    while (--v >= 0) {
        backward(v, 4, stride, unit, A, inverse, y, x);
    }
}

BODY void ldl_forward_all(int n, int stride, const double *A, const double *inverse, double *b, double *y) {
    for (int v = 0; v < n / 4; v++) {
        ldl_forward(v, 4, stride, A, inverse, b, y);
    }
    if (n % 4) {
        ldl_forward(n / 4, n % 4, stride, A, inverse, b, y);
    }
}

// ---- L U

BODY int choose_pivot(int n, int stride, const double *A, int k) {
    int best = k;
    double largest = ABS(A[k * stride + k]);
    for (int i = k + 1; i < n; i++) {
        const double a = ABS(A[i * stride + k]);
        if (a > largest) {
            largest = a;
            best = i;
        }
    }
    return best;
}

BODY void swap_rows(int stride, double *a, double *b) {
    for (int k = 0; k < stride / 4; k++) {
        const kki_quad t = ((kki_quad *)a)[k];
        ((kki_quad *)a)[k] = ((kki_quad *)b)[k];
        ((kki_quad *)b)[k] = t;
    }
}

// By panels of four columns, which are one vector of each row: within a panel a column at a time, then all four out of the vectors behind
// it in one go. Numbers are subtracted in the order of the columns, so the result is that of one column after the other.

/// Zeros up to a lane.
BODY kki_quad behind(kki_quad q, int lane) {
    for (int j = 0; j <= lane; j++) {
        q[j] = 0;
    }
    return q;
}

/// Column k, the panel's `lane`th: its pivot, and the multipliers in its place; out of the panel's columns behind it. A row's four are stored
/// at once: a number stored into a vector that is read next makes the processor wait.
BODY bool take_column(int n, int stride, double *A, int k, int lane, double *inverse, int32_t *pivot) {
    pivot[k] = choose_pivot(n, stride, A, k);
    if (pivot[k] != k) {
        swap_rows(stride, A + k * stride, A + pivot[k] * stride);
    }
    const double p = A[k * stride + k];
    if (!(ABS(p) > 1e-300)) {
        return false;
    }
    const double scale = inverse[k] = 1 / p;
    const kki_quad from = behind(*(const kki_quad *)(A + k * stride + k - lane), lane);
    for (int i = k + 1; i < n; i++) {
        kki_quad *at = (kki_quad *)(A + i * stride + k - lane);
        const double f = A[i * stride + k] * scale;
        kki_quad rest = *at - f * from;
        rest[lane] = f;
        *at = rest;
    }
    return true;
}

/// Columns k … k + count − 1, or four where there are more; lanes are constants.
BODY bool take_panel(int n, int stride, double *A, int k, int count, double *inverse, int32_t *pivot) {
    return (count < 1 || take_column(n, stride, A, k, 0, inverse, pivot)) &&
           (count < 2 || take_column(n, stride, A, k + 1, 1, inverse, pivot)) &&
           (count < 3 || take_column(n, stride, A, k + 2, 2, inverse, pivot)) &&
           (count < 4 || take_column(n, stride, A, k + 3, 3, inverse, pivot));
}

/// Four pivots from k on out of `width` vectors of their own rows and of those below.
BODY void take_out_panel(int n, int stride, double *A, int k, int first, int width) {
    kki_quad from[4][2];
    for (int c = 0; c < width; c++) {
        for (int j = 0; j < 4; j++) {
            const double *f = A + (k + j) * stride + k;
            kki_quad *at = (kki_quad *)(A + (k + j) * stride) + first + c;
            from[j][c] = *at;
            for (int m = 0; m < j; m++) {
                from[j][c] -= f[m] * from[m][c];
            }
            *at = from[j][c];
        }
    }
    for (int i = k + 4; i < n; i++) {
        const double *f = A + i * stride + k, f0 = f[0], f1 = f[1], f2 = f[2], f3 = f[3];
        kki_quad *at = (kki_quad *)(A + i * stride) + first;
        for (int c = 0; c < width; c++) {
            at[c] = (((at[c] - f0 * from[0][c]) - f1 * from[1][c]) - f2 * from[2][c]) - f3 * from[3][c];
        }
    }
}

BODY bool lu_body(int n, int stride, double *A, double *inverse, int32_t *pivot) {
    const int width = stride / 4;
    for (int k = 0; k < n; k += 4) { // behind the last panel, which may have fewer columns, nothing is left
        if (!take_panel(n, stride, A, k, n - k, inverse, pivot)) {
            return false;
        }
        int x = k / 4 + 1;
        for (; x + 2 <= width; x += 2) {
            take_out_panel(n, stride, A, k, x, 2);
        }
        if (x < width) {
            take_out_panel(n, stride, A, k, x, 1);
        }
    }
    return true;
}

BODY void lu_forward(int v, int count, int stride, const double *A, const double *b, double *y) {
    const double *a = A + 4 * v * stride, *own = a + 4 * v;
    kki_quad t = load_some(b + 4 * v, count) - dot4(count, 0, 1, v, stride, a, y);
    for (int k = 0; k < count - 1; k++) {
        const kki_quad column = {0, k < 1 ? own[stride] : 0, k < 2 && count > 2 ? own[2 * stride + k] : 0,
                                 count > 3 ? own[3 * stride + k] : 0};
        t -= column * t[k];
    }
    *(kki_quad *)(y + 4 * v) = t;
}

BODY void lu_solve_body(int n, int stride, const double *A, const double *inverse, const int32_t *pivot, double *b,
                        double *y, double *x) {
    for (int k = 0; k < n; k++) {
        const double t = b[k];
        b[k] = b[pivot[k]];
        b[pivot[k]] = t;
    }
    for (int v = 0; v < n / 4; v++) {
        lu_forward(v, 4, stride, A, b, y);
    }
    if (n % 4) {
        lu_forward(n / 4, n % 4, stride, A, b, y);
    }
    backward_all(n, stride, false, A, inverse, y, x);
}

// ---- inverse

BODY void swap_columns(int n, int stride, double *A, int i, int j) {
    for (int k = 0; k < n; k++) {
        const double t = A[k * stride + i];
        A[k * stride + i] = A[k * stride + j];
        A[k * stride + j] = t;
    }
}

BODY void scale_row(int width, double f, double *row) {
    for (int x = 0; x < width; x++) {
        ((kki_quad *)row)[x] *= f;
    }
}

BODY void subtract_row(int width, double f, const double *from, double *row) {
    for (int x = 0; x < width; x++) {
        ((kki_quad *)row)[x] -= f * ((const kki_quad *)from)[x];
    }
}

/// The row from k on that is largest in column k once `above` has been taken out of it (column k − 1); without it where that is NULL.
BODY int choose_after(int n, int stride, const double *A, int k, const double *above) {
    const double f = above ? above[k] : 0;
    int best = k;
    double largest = -1;
    for (int i = k; i < n; i++) {
        const double *row = A + i * stride, x = ABS(above ? row[k] - row[k - 1] * f : row[k]);
        best = x > largest ? i : best; // no branch: which one it is cannot be foreseen
        largest = x > largest ? x : largest;
    }
    return best;
}

/// All but one lane of a vector.
static const _Alignas(32) double OTHERS[4][4] = {{0, 1, 1, 1}, {1, 0, 1, 1}, {1, 1, 0, 1}, {1, 1, 1, 0}};

/// A zero in its vector, whose four are stored at once: they are read next.
BODY void put_zero(double *row, int k) {
    ((kki_quad *)row)[k / 4] *= *(const kki_quad *)OTHERS[k % 4];
}

/// A one in its vector, as above.
BODY void put_one(double *row, int k) {
    kki_quad *at = (kki_quad *)row + k / 4;
    *at = pick((mask)(*(const kki_quad *)OTHERS[k % 4] > 0), *at, spread(1));
}

/// Takes column k out of a row, whose pivot row is `from`.
BODY void clear_column(int width, int k, const double *from, double *row) {
    const double f = row[k];
    put_zero(row, k);
    subtract_row(width, f, from, row);
}

/// Whether nothing in row k, from the diagonal's vector on, is many times as large as the diagonal; `above` is still to be taken out of it. Rows that say what others say
/// are small there, and another one is looked for.
BODY bool is_sound(int width, const double *row, int k, const double *above) {
    const double f = above ? row[k - 1] : 0, *from = above ? above : row;
    const kki_quad most = spread(8 * ABS(row[k] - f * from[k])), least = -most;
    mask large = {0, 0, 0, 0};
    for (int x = k / 4; x < width; x++) {
        const kki_quad v = ((const kki_quad *)row)[x] - f * ((const kki_quad *)from)[x];
        large |= (mask)(v > most) | (mask)(v < least);
    }
    return !(large[0] | large[1] | large[2] | large[3]);
}

/// Row k becomes the pivot row of column k, `above` that of the column before.
BODY bool pivot_row(int n, int sure, int stride, double *A, int k, const double *above, int32_t *pivot) {
    const int width = kki_round4(n) / 4;
    double *row = A + k * stride;
    pivot[k] = k < sure && is_sound(width, row, k, above) ? k : choose_after(n, stride, A, k, above);
    if (pivot[k] != k) {
        swap_rows(4 * width, row, A + pivot[k] * stride);
    }
    if (above) {
        clear_column(width, k - 1, above, row);
    }
    const double p = row[k];
    put_one(row, k);
    scale_row(width, 1 / p, row);
    return ABS(p) > 1e-300;
}

enum { NARROW = 8 };

/// Pivots k and k + 1 out of all other rows; `width` vectors of each. Without a second one, as if it were zero.
BODY void clear_rows(int n, int stride, int width, bool pair, int k, double *A) {
    kki_quad own[2][NARROW];
    const kki_quad *a = (const kki_quad *)(A + k * stride), *b = pair ? a + stride / 4 : a;
    const kki_quad others = *(const kki_quad *)OTHERS[k % 4] * *(const kki_quad *)OTHERS[k % 4 + pair];
    if (SHORT > 0 && width <= NARROW) { // so few stay in registers
        for (int x = 0; x < width; x++) {
            own[0][x] = a[x];
            own[1][x] = b[x];
        }
        a = own[0];
        b = own[1];
    }
    for (int i = k == 0 ? 1 + pair : 0; i < n; i += i + 1 == k ? 2 + pair : 1) {
        const double *at = A + i * stride, f = at[k], g = pair ? at[k + 1] : 0;
        kki_quad *row = (kki_quad *)(A + i * stride);
        row[k / 4] *= others;
        for (int x = 0; x < width; x++) {
            row[x] -= f * a[x] + g * b[x];
        }
    }
}

/// Widths are constants where that is worth it.
BODY void clear_others(int n, int stride, bool pair, int k, double *A) {
    const int width = kki_round4(n) / 4;
    switch (SHORT > 0 ? width : 0) {
    case 4: clear_rows(n, stride, 4, pair, k, A); break;
    case 5: clear_rows(n, stride, 5, pair, k, A); break;
    case 6: clear_rows(n, stride, 6, pair, k, A); break;
    case 7: clear_rows(n, stride, 7, pair, k, A); break;
    default: clear_rows(n, stride, width, pair, k, A); break;
    }
}

/// Gauss and Jordan, two columns at a time: a pair of pivots clears both columns from all other rows in one go.
BODY bool invert_body(int n, int sure, int stride, double *A, int32_t *pivot) {
    for (int k = 0; k < n; k += 2) {
        const bool pair = k + 1 < n;
        double *a = A + k * stride;
        if (!pivot_row(n, sure, stride, A, k, NULL, pivot) ||
            (pair && !pivot_row(n, sure, stride, A, k + 1, a, pivot))) {
            return false;
        }
        if (pair) {
            clear_column(kki_round4(n) / 4, k + 1, a + stride, a);
        }
        clear_others(n, stride, pair, k, A);
    }
    for (int k = n - 1; k >= 0; k--) {
        if (pivot[k] != k) {
            swap_columns(n, stride, A, k, pivot[k]);
        }
    }
    return true;
}

/// s = A c, the first `width` of each row.
BODY void times_rows(int n, int width, int stride, const double *A, const double *c, double *s) {
    int l = 0;
    for (; l + 4 <= n; l += 4) {
        *(kki_quad *)(s + l) = dot4(4, 0, 1, width / 4, stride, A + l * stride, c);
    }
    for (; l < n; l++) {
        s[l] = dot_body(0, width / 4, A + l * stride, c);
    }
}

/// Aₗ += f sₗ a, four rows at a time: a is loaded once for all of them.
BODY void add_rows(int n, int width, int stride, double f, const double *s, const double *a, double *A) {
    int l = 0;
    for (; l + 4 <= n; l += 4) {
        const double by[4] = {f * s[l], f * s[l + 1], f * s[l + 2], f * s[l + 3]};
        kki_quad *row[4];
        for (int i = 0; i < 4; i++) {
            row[i] = (kki_quad *)(A + (l + i) * stride);
        }
        for (int x = 0; x < width / 4; x++) {
            const kki_quad v = ((const kki_quad *)a)[x];
            for (int i = 0; i < 4; i++) {
                row[i][x] += by[i] * v;
            }
        }
    }
    for (; l < n; l++) {
        add_body(width, f * s[l], a, A + l * stride);
    }
}

/// All of s comes first: nothing in it waits for f, which the caller has just divided for.
BODY void rank_one_body(int n, int width, int stride, double f, const double *c, int k, const double *a, double *A,
                        double *s) {
    for (int l = 0; l < n && !c; l++) {
        s[l] = A[l * stride + k];
    }
    if (c) {
        times_rows(n, width, stride, A, c, s);
    }
    add_rows(n, width, stride, f, s, a, A);
}

// ---- one function of each for every instruction set

#define DEFINE(suffix, attribute)                                                                                      \
    attribute static void multiply_##suffix(int n, int stride, const double *A, const double *x, const double *b,      \
                                            double *y) {                                                               \
        multiply_body(n, stride, A, x, b, y);                                                                          \
    }                                                                                                                  \
    attribute static void multiply_low_rank_##suffix(int nv, int stride, const int32_t *span, const double *Y,         \
                                                     const double *x, const double *b, double *y) {                    \
        multiply_low_rank_body(nv, stride, span, Y, x, b, y);                                                          \
    }                                                                                                                  \
    attribute static void add_##suffix(int stride, double f, const double *x, double *y) {                             \
        add_body(stride, f, x, y);                                                                                     \
    }                                                                                                                  \
    attribute static void weigh_##suffix(int nv, int stride, const int32_t *span, const double *Y,                     \
                                         const double *weight, int width, double *line, double *W) {                   \
        weigh_body(nv, stride, span, Y, weight, width, line, W);                                                       \
    }                                                                                                                  \
    attribute static void transpose_##suffix(int nv, int n, int stride, const double *Y, int width, double *columns) { \
        transpose_body(nv, n, stride, Y, width, columns);                                                              \
    }                                                                                                                  \
    attribute static void near_products_##suffix(int nv, int stride, const int32_t *span, const double *Y,             \
                                                 double *near) {                                                       \
        near_products_body(nv, stride, span, Y, near);                                                                 \
    }                                                                                                                  \
    attribute static double orthogonalize_##suffix(int c, int width, const double *Q, double *v, int stride,           \
                                                   double *r, double much) {                                           \
        return orthogonalize_body(c, width, Q, v, stride, r, much);                                                    \
    }                                                                                                                  \
    attribute static void blend_##suffix(int n, int stride, const double *R, int width, int wide,                      \
                                         const double *wrench, double *Y) {                                            \
        blend_body(n, stride, R, width, wide, wrench, Y);                                                              \
    }                                                                                                                  \
    attribute static bool invert_##suffix(int n, int sure, int stride, double *A, int32_t *pivot) {                    \
        return invert_body(n, sure, stride, A, pivot);                                                                 \
    }                                                                                                                  \
    attribute static void rank_one_##suffix(int n, int width, int stride, double f, const double *c, int k,            \
                                            const double *a, double *A, double *s) {                                   \
        rank_one_body(n, width, stride, f, c, k, a, A, s);                                                             \
    }                                                                                                                  \
    attribute static void combine_##suffix(int n, int width, int stride, const double *x, const double *A,             \
                                           double *y) {                                                                \
        combine_body(n, width, stride, x, A, y);                                                                       \
    }                                                                                                                  \
    attribute static void pick_##suffix(int n, int held, int first, int stride, const int32_t *row, const double *G,   \
                                        int wide, double *A) {                                                         \
        pick_body(n, held, first, stride, row, G, wide, A);                                                            \
    }                                                                                                                  \
    attribute static bool ldl_##suffix(int pivots, int n, int stride, double *A, double *inverse) {                    \
        return ldl_body(pivots, n, stride, A, inverse);                                                                \
    }                                                                                                                  \
    attribute static void ldl_forward_##suffix(int pivots, int stride, const double *A, const double *inverse,         \
                                               double *b, double *y) {                                                 \
        ldl_forward_all(pivots, stride, A, inverse, b, y);                                                             \
    }                                                                                                                  \
    attribute static void ldl_backward_##suffix(int pivots, int stride, const double *A, const double *inverse,        \
                                                const double *y, double *x) {                                          \
        backward_all(pivots, stride, true, A, inverse, y, x);                                                          \
    }                                                                                                                  \
    attribute static void ldl_solve_##suffix(int n, int stride, const double *A, const double *inverse, double *b,     \
                                             double *y, double *x) {                                                   \
        ldl_forward_##suffix(n, stride, A, inverse, b, y);                                                             \
        ldl_backward_##suffix(n, stride, A, inverse, y, x);                                                            \
    }                                                                                                                  \
    attribute static bool lu_##suffix(int n, int stride, double *A, double *inverse, int32_t *pivot) {                 \
        return lu_body(n, stride, A, inverse, pivot);                                                                  \
    }                                                                                                                  \
    attribute static void lu_solve_##suffix(int n, int stride, const double *A, const double *inverse,                 \
                                            const int32_t *pivot, double *b, double *y, double *x) {                   \
        lu_solve_body(n, stride, A, inverse, pivot, b, y, x);                                                          \
    }                                                                                                                  \
    attribute static void gather_##suffix(int m, int n, int stride, bool upper, const double *C, const double *R,      \
                                          double *W) {                                                                 \
        gather_body(m, n, stride, upper, C, R, W);                                                                     \
    }                                                                                                                  \
    attribute static void gather_ranges_##suffix(const int32_t *range, int n, int stride, bool upper, const double *C, \
                                                 const double *R, double *W) {                                         \
        gather_ranges_body(range, n, stride, upper, C, R, W);                                                          \
    }                                                                                                                  \
    attribute static void project_##suffix(int nv, int stride, const int32_t *span, const double *Y, const double *y,  \
                                           double *r) {                                                                \
        project_body(nv, stride, span, Y, y, r);                                                                       \
    }                                                                                                                  \
    attribute static void spread_##suffix(int nv, int stride, const int32_t *span, const double *Y,                    \
                                          const double *lambda, double *y) {                                           \
        spread_body(nv, stride, span, Y, lambda, y);                                                                   \
    }                                                                                                                  \
    attribute static void gram_##suffix(int nv, int n, int stride, const int32_t *span, const uint64_t *touch,         \
                                        const double *Y, double *G) {                                                  \
        gram_body(nv, n, stride, span, touch, Y, G);                                                                   \
    }                                                                                                                  \
    attribute static double dot_##suffix(int stride, const double *a, const double *b) {                               \
        return dot_body(0, stride / 4, a, b);                                                                          \
    }                                                                                                                  \
    static const kki_dense_kernels table_##suffix = {                                                                  \
        .multiply = multiply_##suffix,                                                                                 \
        .multiply_low_rank = multiply_low_rank_##suffix,                                                               \
        .add = add_##suffix,                                                                                           \
        .weigh = weigh_##suffix,                                                                                       \
        .transpose = transpose_##suffix,                                                                               \
        .near_products = near_products_##suffix,                                                                       \
        .orthogonalize = orthogonalize_##suffix,                                                                       \
        .blend = blend_##suffix,                                                                                       \
        .ldl = ldl_##suffix,                                                                                           \
        .ldl_solve = ldl_solve_##suffix,                                                                               \
        .ldl_forward = ldl_forward_##suffix,                                                                           \
        .ldl_backward = ldl_backward_##suffix,                                                                         \
        .lu = lu_##suffix,                                                                                             \
        .lu_solve = lu_solve_##suffix,                                                                                 \
        .pick = pick_##suffix,                                                                                         \
        .rank_one = rank_one_##suffix,                                                                                 \
        .combine = combine_##suffix,                                                                                   \
        .invert = invert_##suffix,                                                                                     \
        .gather_ranges = gather_ranges_##suffix,                                                                       \
        .gather = gather_##suffix,                                                                                     \
        .project = project_##suffix,                                                                                   \
        .spread = spread_##suffix,                                                                                     \
        .gram = gram_##suffix,                                                                                         \
        .dot = dot_##suffix,                                                                                           \
        .certify = kki_certify_##suffix,                                                                               \
        .slide = kki_slide_##suffix,                                                                                   \
        .glance = kki_glance_##suffix,                                                                                 \
    };

DEFINE(baseline, )
#ifdef KKI_HAVE_AVX2
DEFINE(avx2, KKI_TARGET_AVX2)
#endif
#ifdef KKI_HAVE_AVX512
DEFINE(avx512, KKI_TARGET_AVX512)
#endif

KKI_CHOOSE_KERNELS(kki_dense_kernels, KKI_TABLE_AVX512)
