/// The loops in which the contact solver spends its time, compiled for the baseline and for AVX2; both give the same bits, because a
/// vector of four is a vector of four in both and sums over lanes are taken in one order.
///
/// Matrices are row-major with rows padded to four and 32-byte aligned; padding is finite (zero where not said otherwise).
#ifndef KKI_CONTACT_DENSE_KERNELS_H
#define KKI_CONTACT_DENSE_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

typedef double kki_quad __attribute__((vector_size(32), may_alias));

/// n rounded up to whole vectors.
static inline int kki_round4(int n) {
    return (n + 3) & ~3;
}

static inline double kki_more(double a, double b) {
    return a > b ? a : b; // in this order one instruction
}

/// Of n numbers, by size.
static inline double kki_largest(int n, const double *x) {
    double a = 0, b = 0, c = 0, d = 0; // one would wait for itself
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        a = kki_more(a, __builtin_fabs(x[i]));
        b = kki_more(b, __builtin_fabs(x[i + 1]));
        c = kki_more(c, __builtin_fabs(x[i + 2]));
        d = kki_more(d, __builtin_fabs(x[i + 3]));
    }
    for (; i < n; i++) {
        a = kki_more(a, __builtin_fabs(x[i]));
    }
    return kki_more(kki_more(kki_more(a, b), c), d);
}

enum { KKI_GRAM_DOFS = 64, KKI_GRAM_ROWS = 512, KKI_BASIS_ROWS = 128 };

/// Where rows are this short, in vectors, their sums stay in registers, and zeros cost less than to ask where they are. Where the program must be
/// small they go the way of all rows, to the same bits.
enum { KKI_SHORT = 12 };

struct kki_problem;
struct kki_certificate;
struct kki_slides;

typedef struct kki_dense_kernels {
    /// y = b + A x, A symmetric [n × stride]; y, b [stride]; x [n].
    void (*multiply)(int n, int stride, const double *A, const double *x, const double *b, double *y);
    /// y = b + Yᵀ (Y x), Y [nv × stride]; x zero in the padding. @param span [2 nv] vectors of each row that are not zero; NULL: all
    void (*multiply_low_rank)(int nv, int stride, const int32_t *span, const double *Y, const double *x,
                              const double *b, double *y);
    /// y += f x, [stride].
    void (*add)(int stride, double f, const double *x, double *y);
    /// A = L D Lᵀ without pivoting: upper triangle only, L(i, k) = A(k, i) inverse(k). False at a pivot that is not positive. Of the first `pivots` of n rows: all, or a
    /// multiple of 4; what is left of the others, their Schur complement, stands behind them.
    bool (*ldl)(int pivots, int n, int stride, double *A, double *inverse);
    /// y of the pivots, and b of the others less what the pivots take from it; then x of the pivots from x of the others.
    void (*ldl_forward)(int pivots, int stride, const double *A, const double *inverse, double *b, double *y);
    void (*ldl_backward)(int pivots, int stride, const double *A, const double *inverse, const double *y, double *x);
    /// x = A⁻¹ b; all [stride]; y is scratch, b is destroyed.
    void (*ldl_solve)(int n, int stride, const double *A, const double *inverse, double *b, double *y, double *x);
    /// P A = L U, partial pivoting. False at a zero pivot.
    bool (*lu)(int n, int stride, double *A, double *inverse, int32_t *pivot);
    void (*lu_solve)(int n, int stride, const double *A, const double *inverse, const int32_t *pivot, double *b,
                     double *y, double *x);
    /// The listed rows and columns of G [wide apart] in A [n × stride], from the diagonal's vector on. Those from `held` to `first` are padding, a one on the diagonal, and
    /// their `row` is any of G's. Three numbers behind G may be read, and are not used.
    void (*pick)(int n, int held, int first, int stride, const int32_t *row, const double *G, int wide, double *A);
    /// A⁻¹ in place, partial pivoting; of the first `sure` columns, whose own part of A is symmetric and positive, only where the diagonal is small. False at a zero pivot. @param pivot [n]
    bool (*invert)(int n, int sure, int stride, double *A, int32_t *pivot);
    /// Aₗ += f sₗ a for n rows, the first `width` of each, s = A c; or, where c is NULL, A's column k.
    void (*rank_one)(int n, int width, int stride, double f, const double *c, int k, const double *a, double *A,
                     double *s);
    /// y = Σ xⱼ Aⱼ over n rows, the first `width` of each.
    void (*combine)(int n, int width, int stride, const double *x, const double *A, double *y);
    /// W = Σₖ cₖ rₖᵀ over m rows of C and R [m × stride]; W [n × stride]. upper: nothing left of the diagonal's vector is written.
    void (*gather)(int m, int n, int stride, bool upper, const double *C, const double *R, double *W);
    /// The same where column t is zero but for rows range[2t] … range[2t + 1] − 1. @param range [2n]
    void (*gather_ranges)(const int32_t *range, int n, int stride, bool upper, const double *C, const double *R,
                          double *W);
    /// r = Yᵀ y, [stride], and y += Y λ; spans as above, and not read of rows up to KKI_SHORT.
    void (*project)(int nv, int stride, const int32_t *span, const double *Y, const double *y, double *r);
    void (*spread)(int nv, int stride, const int32_t *span, const double *Y, const double *lambda, double *y);
    /// G = Yᵀ Y, [n × stride], exactly symmetric; within KKI_GRAM_DOFS and KKI_GRAM_ROWS. @param touch [vectors] rows of Y that are not zero there, a bit each; NULL: by `span`
    void (*gram)(int nv, int n, int stride, const int32_t *span, const uint64_t *touch, const double *Y, double *G);
    /// W = 1 + Y D Yᵀ, D = diag(weight), [nv × width]: the upper triangle, and left of it what shares its vectors. @param line [stride] scratch
    void (*weigh)(int nv, int stride, const int32_t *span, const double *Y, const double *weight, int width,
                  double *line, double *W);
    /// columns = Yᵀ, [n × width], padded with zeros.
    void (*transpose)(int nv, int n, int stride, const double *Y, int width, double *columns);
    /// Σ over the rows of Y of y[i] y[i], y[i] y[i + 1] and y[i] y[i + 2]: the parts of G by its diagonal. @param near [3 × stride]
    void (*near_products)(int nv, int stride, const int32_t *span, const double *Y, double *near);
    /// Takes out of v what lies along the first c rows of Q, [c × width], c ≤ KKI_BASIS_ROWS, each of length one; r[k stride] grows by v's part along row k. A second
    /// time where v² comes down to less than `much` of what it was. Gives v² in the end.
    double (*orthogonalize)(int c, int width, const double *Q, double *v, int stride, double *r, double much);
    /// Y += R P: n rows of R [stride apart], six columns; P [6 × wide], `width` vectors of it; Y's rows are `wide` apart, too.
    void (*blend)(int n, int stride, const double *R, int width, int wide, const double *P, double *Y);
    /// Σ a b, [stride].
    double (*dot)(int stride, const double *a, const double *b);
    /// kki_certify.
    void (*certify)(const struct kki_problem *p, const double *lambda, double *u, struct kki_certificate *c);
    /// kki_slide.
    int (*slide)(struct kki_slides *x, const double *b, double floor);
    /// kki_glance.
    void (*glance)(const struct kki_problem *p, int sweeps, double *lambda, double *u);
} kki_dense_kernels;

/// index 0: baseline; 1: AVX2, NULL where build or CPU has none.
const kki_dense_kernels *kki_dense_kernels_at(int index);
/// The fastest this CPU runs. Asks the processor: not to be called in a step.
const kki_dense_kernels *kki_dense_kernels_best(void);

#endif
