/// The walk of interior.c through islands of many contacts; see sparse_interior.c.
#ifndef KKI_CONTACT_SPARSE_INTERIOR_H
#define KKI_CONTACT_SPARSE_INTERIOR_H

#include <stdbool.h>
#include <stdint.h>

enum { KKI_FOUR = 4 };

/// Four contacts, a contact a lane. λn ≥ 0 has the velocity y behind it, the cone w = (μ λn, λt) its partner z.
typedef struct kki_inside_four {
    _Alignas(64) double lambda[3][KKI_FOUR];
    double u[3][KKI_FOUR], soft[3][KKI_FOUR];
    double friction[KKI_FOUR];
    double trace[KKI_FOUR]; ///< on the diagonal of the matrix
    double live[KKI_FOUR];  ///< 0: the lane is empty
    double y[KKI_FOUR], z[3][KKI_FOUR];
    double d[3][KKI_FOUR], dy[KKI_FOUR], dz[3][KKI_FOUR]; ///< the step of λ, y, z
    double spare[4][KKI_FOUR];                            ///< second-order terms of bound and cone
    double K[6][KKI_FOUR];                                ///< W⁻², symmetric: 00 01 02 11 12 22
    double R[6][KKI_FOUR];                                ///< nn; t1n, t2n; t11, t12, t22
    double b[3][KKI_FOUR];                                ///< right-hand side of the contact's own equations
} kki_inside_four;

/// What a step leads to: products of bounds and cones behind a share t of it are p[0] + t p[1] + t² p[2].
typedef struct kki_inside_sums {
    double products[3];
    double longest; ///< share up to 1 that stays inside
} kki_inside_sums;

/// Rows of contact k are 3 k, 3 k + 1, 3 k + 2; lanes beyond the last contact have room behind.
typedef struct kki_inside_kernels {
    /// K and R of where the walk is. @param R [6 × nrow] as in a Newton step, zero where it is not written
    void (*scale)(kki_inside_four *f, int count, double *R);
    /// Right-hand side for products of σ, with what is `second` in the step before taken off. @param e [nrow] result: R b
    void (*aim)(kki_inside_four *f, int count, double sigma, bool second, double *e);
    /// The step, from the motion it leads to. @param du [nrow]
    void (*step)(kki_inside_four *f, int count, double sigma, const double *du, kki_inside_sums *sums);
    /// Goes a share of it. @param lambda [nrow] result
    void (*go)(kki_inside_four *f, int count, double share, double *lambda);
} kki_inside_kernels;

/// index 0: baseline; 1: AVX2, NULL where build or CPU has none.
const kki_inside_kernels *kki_inside_kernels_at(int index);
const kki_inside_kernels *kki_inside_kernels_best(void);

/// The walk under way.
typedef struct kki_inside {
    const kki_inside_kernels *kernels;
    kki_inside_four *four; ///< [contacts / 4, rounded up]
    int32_t count, contacts;
    int32_t short_steps; ///< in a row
    bool is_careful;     ///< aims less far
    double gap;          ///< mean of the products
} kki_inside;

#endif
