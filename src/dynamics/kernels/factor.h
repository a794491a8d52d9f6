/// Branch-sparse factor of the joint-space inertia, M = Lᵀ D L, and what is solved with it.
///
/// Featherstone, Efficient factorization of the joint-space inertia matrix for branched kinematic trees, 2005:
/// eliminated from the tips to the roots, L has an entry L_ki only where i is an ancestor of k, and nothing fills in.
/// Here row k of L is stored packed, the entry of the ancestor at depth d in place d. All k behind i share i's
/// ancestors at the same depths, so the elimination
///     T_i = M_i − Σ_{k behind i} L_ki T_k,   D_i = T_ii,   L_i = T_i / D_i      (T = D L, last i first)
/// adds contiguous rows without a gap, whatever the tree. A solve M x = b is
///     y_i = b_i − Σ_{k behind i} L_ki y_k  (inwards),   x_k = y_k / D_k − Σ_{i before k} L_ki x_i  (outwards),
/// on whole rows of many right-hand sides; the degrees of freedom behind i are one contiguous range.
#ifndef KKI_DYNAMICS_KERNELS_FACTOR_H
#define KKI_DYNAMICS_KERNELS_FACTOR_H

#include "algebra.h"
#include "kernels.h"

KKI_INLINE quad q_spread(double a) {
    return (quad){a, a, a, a};
}

/// row ← row − Σ l_k x_k over k in [begin, end), `width` registers of each row, l_k = l[k l_step], x_k = x + k x_step.
///
/// From the last k to the first, in two interleaved sums: the nearest rows were finished last and are waited for last.
/// `width` is a constant at every call.
KKI_INLINE void rows_take(quad *row, const double *l, size_t l_step, const double *x, size_t x_step, size_t begin,
                          size_t end, int width) {
    quad even[4], odd[4];
    for (int c = 0; c < width; c++) {
        even[c] = row[c];
        odd[c] = q_spread(0);
    }
    size_t k = end;
    for (; k >= begin + 2; k -= 2) {
        const quad l0 = q_spread(l[(k - 1) * l_step]), *x0 = (const quad *)(x + (k - 1) * x_step);
        const quad l1 = q_spread(l[(k - 2) * l_step]), *x1 = (const quad *)(x + (k - 2) * x_step);
        for (int c = 0; c < width; c++) {
            even[c] = even[c] - l0 * x0[c];
            odd[c] = odd[c] - l1 * x1[c];
        }
    }
    if (k > begin) {
        const quad l0 = q_spread(l[(k - 1) * l_step]), *x0 = (const quad *)(x + (k - 1) * x_step);
        for (int c = 0; c < width; c++) {
            even[c] = even[c] - l0 * x0[c];
        }
    }
    for (int c = 0; c < width; c++) {
        row[c] = even[c] + odd[c];
    }
}

/// How many registers to take next when `left` are to do: at most `most`, as even as possible.
KKI_INLINE size_t share(size_t left, size_t most) {
    const size_t blocks = (left + most - 1) / most;
    return (left + blocks - 1) / blocks;
}

// ---- the factor

/// Packs the upper triangle of M: T_i holds M_ji of the ancestors j in the order of their depths.
KKI_INLINE void factor_pack(const kk_model *m, kki_factor *F, const double *inertia) {
    const size_t nv = (size_t)m->nv, padded = kki_padded(m->nv), stride = F->stride;
    for (size_t i = 0; i < nv; i++) {
        // the end of a row is computed with, though nobody reads it
        *(quad *)(F->T + i * stride + ((size_t)F->depth[i] & ~(size_t)3)) = q_spread(0);
    }
    for (size_t j = 0; j < nv; j++) {
        const size_t end = (size_t)m->dof_subtree[j];
        double *column = F->T + F->depth[j];
        for (size_t i = j; i < end; i++) {
            column[i * stride] = inertia[j * padded + i];
        }
    }
}

/// Row i of T, D and L. False if the pivot is not positive.
KKI_INLINE int factor_row(const kk_model *m, kki_factor *F, size_t i) {
    const size_t end = (size_t)m->dof_subtree[i], quads = (size_t)F->depth[i] / 4 + 1, stride = F->stride;
    const double *l = F->L + F->depth[i];
    double *T = F->T + i * stride;
    for (size_t at = 0, width = 0; at < quads; at += width) {
        quad *row = (quad *)T + at;
        const double *x = F->T + 4 * at;
        width = share(quads - at, 4);
        switch (width) {
        case 4: rows_take(row, l, stride, x, stride, i + 1, end, 4); break;
        case 3: rows_take(row, l, stride, x, stride, i + 1, end, 3); break;
        case 2: rows_take(row, l, stride, x, stride, i + 1, end, 2); break;
        default: rows_take(row, l, stride, x, stride, i + 1, end, 1); break;
        }
    }
    const double D = T[F->depth[i]], inverse = 1.0 / D;
    quad *L = (quad *)(F->L + i * stride);
    F->inverse_D[i] = inverse;
    for (size_t c = 0; c < quads; c++) {
        L[c] = ((const quad *)T)[c] * q_spread(inverse);
    }
    return D > 0;
}

KKI_INLINE int factor_all(const kk_model *m, kki_factor *F, const double *inertia) {
    int positive = 1;
    factor_pack(m, F, inertia);
    for (size_t i = (size_t)m->nv; i-- > 0;) {
        positive &= factor_row(m, F, i);
    }
    return positive;
}

// ---- solving many right-hand sides

enum { MOST = 10 }; // registers of a row held at once: so many hide each other's latency, and 16 leave room for no more

/// Runs a statement with W a constant equal to `width`, 1 … MOST.
#define WITH_WIDTH(width, statement) \
    switch (width) {                 \
        ONE_WIDTH(10, statement)     \
        ONE_WIDTH(9, statement)      \
        ONE_WIDTH(8, statement)      \
        ONE_WIDTH(7, statement)      \
        ONE_WIDTH(6, statement)      \
        ONE_WIDTH(5, statement)      \
        ONE_WIDTH(4, statement)      \
        ONE_WIDTH(3, statement)      \
        ONE_WIDTH(2, statement)      \
        ONE_WIDTH(1, statement)      \
    default: break;                  \
    }
#define ONE_WIDTH(n, statement) \
    case n: {                   \
        enum { W = (n) };       \
        statement;              \
        break;                  \
    }

/// sum ← sum − l x.
KKI_INLINE void take(quad *sum, double l, const double *x, int width) {
    const quad *from = (const quad *)x, s = q_spread(l);
    for (int c = 0; c < width; c++) {
        sum[c] = sum[c] - s * from[c];
    }
}

/// Inwards: x_i ← x_i − Σ_{k behind i} L_ki x_k, `width` registers of the row.
KKI_INLINE void take_behind(const kk_model *m, const kki_factor *F, size_t i, double *X, size_t stride, int width) {
    const double *l = F->L + F->depth[i];
    quad sum[MOST], *row = (quad *)(X + i * stride);
    for (int c = 0; c < width; c++) {
        sum[c] = row[c];
    }
    for (size_t k = (size_t)m->dof_subtree[i]; k-- > i + 1;) {
        take(sum, l[k * F->stride], X + k * stride, width);
    }
    for (int c = 0; c < width; c++) {
        row[c] = sum[c];
    }
}

/// Outwards: x_k ← x_k / D_k − Σ_{i before k} L_ki x_i; without `scale` x_k counts as zero. The path holds the
/// ancestors.
KKI_INLINE void take_before(const kki_factor *F, size_t k, const double *scale, double *X, size_t stride, int width) {
    const size_t depth = (size_t)F->depth[k];
    const double *l = F->L + k * F->stride;
    quad sum[MOST], *row = (quad *)(X + k * stride);
    for (int c = 0; c < width; c++) {
        sum[c] = scale ? row[c] * q_spread(*scale) : q_spread(0);
    }
    for (size_t d = 0; d < depth; d++) {
        take(sum, l[d], X + (size_t)F->path[d] * stride, width);
    }
    for (int c = 0; c < width; c++) {
        row[c] = sum[c];
    }
}

/// `width` registers of every row.
KKI_INLINE void solve_columns(const kk_model *m, const kki_factor *F, double *X, size_t stride, int width) {
    const size_t nv = (size_t)m->nv;
    for (size_t i = nv; i-- > 0;) {
        take_behind(m, F, i, X, stride, width);
    }
    for (size_t k = 0; k < nv; k++) {
        take_before(F, k, &F->inverse_D[k], X, stride, width);
        F->path[F->depth[k]] = (int32_t)k; // depth first: what stands before is the way from the root
    }
}

KKI_INLINE void solve_rows(const kk_model *m, const kki_factor *F, double *X, size_t columns, size_t stride) {
    const size_t quads = (columns + 3) / 4;
    for (size_t at = 0, width = 0; at < quads; at += width) {
        width = share(quads - at, MOST);
        WITH_WIDTH(width, solve_columns(m, F, X + 4 * at, stride, W))
    }
}

// ---- the inverse

/// Row k of N = M⁻¹ before the diagonal. L N = D⁻¹ L⁻ᵀ is upper triangular, so N_kc = −Σ_{i before k} L_ki N_ic for c <
/// k (Takahashi, Fagan and Chin 1973): half of a solve, and L⁻¹ is never formed.
KKI_INLINE void inverse_row(const kki_factor *F, double *N, size_t padded, size_t k) {
    const size_t quads = (k + 3) / 4;
    for (size_t at = 0, width = 0; at < quads; at += width) {
        width = share(quads - at, MOST);
        WITH_WIDTH(width, take_before(F, k, NULL, N + 4 * at, padded, W))
    }
}

/// The diagonal, N_kk = 1/D_k − Σ L_ki N_ki, and column k above it.
KKI_INLINE void inverse_mirror(const kki_factor *F, double *N, size_t padded, size_t k) {
    const double *l = F->L + k * F->stride;
    const size_t depth = (size_t)F->depth[k];
    double *row = N + k * padded, diagonal = F->inverse_D[k];
    for (size_t d = 0; d < depth; d++) {
        diagonal -= l[d] * row[F->path[d]];
    }
    for (size_t c = 0; c < k; c++) {
        N[c * padded + k] = row[c];
    }
    row[k] = diagonal;
}

KKI_INLINE void inverse_all(const kk_model *m, const kki_factor *F, double *out) {
    const size_t nv = (size_t)m->nv, padded = kki_padded(m->nv);
    double *N = F->inverse;
    for (size_t k = 0; k < nv; k++) {
        inverse_row(F, N, padded, k);
        inverse_mirror(F, N, padded, k);
        F->path[F->depth[k]] = (int32_t)k;
    }
    for (size_t k = 0; k < nv; k++) {
        for (size_t c = 0; c < nv; c++) {
            out[k * nv + c] = N[k * padded + c];
        }
    }
}

#endif
