/// A few contacts that slide, with all that holds eliminated: u = S λ + …, λ = λn (n + μ d), un = 0 and u ∥ −d of each.
#ifndef KKI_CONTACT_SLIDES_H
#define KKI_CONTACT_SLIDES_H

enum { KKI_MOST_SLIDES = 12 };

/// A contact is a lane; lanes without one are zero but for what is divided by, which is one.
typedef struct kki_slides {
    int n;
    _Alignas(32) double S
        [3 * KKI_MOST_SLIDES][3]
        [KKI_MOST_SLIDES]; ///< what impulse 3 b + k, of contact b, does to velocity i of contact a: [3 b + k][i][a]
    double u[3][KKI_MOST_SLIDES];                              ///< n, t₁, t₂
    double d[2][KKI_MOST_SLIDES];                              ///< direction of friction
    double friction[KKI_MOST_SLIDES], normal[KKI_MOST_SLIDES]; ///< μ, λn
    double shift[KKI_MOST_SLIDES];                             ///< on the diagonal of the matrix, never in the residual
} kki_slides;

/// Lanes that are looked at where there are n contacts: all must be filled.
static inline int kki_slide_lanes(int n) {
    return (n + 3) & ~3;
}

/// Newton's method in λn and the turn of d, until what is left of the velocities is below `floor` or no longer falls. A contact that would draw lets go, and has no λn from then on. False where
/// what one does to itself is none of masses. @param b  −u to begin with, [3 n]
int kki_slide_baseline(kki_slides *x, const double *b, double floor);
/// The same bits, for processors with AVX2 and with AVX-512; in the tables of kernels.
int kki_slide_avx2(kki_slides *x, const double *b, double floor);
int kki_slide_avx512(kki_slides *x, const double *b, double floor);

#endif
