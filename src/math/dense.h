/// Small dense linear algebra for checks and set-up; not for the kernels. Matrices are row-major, n × n, in place.
#ifndef KKI_MATH_DENSE_H
#define KKI_MATH_DENSE_H

#include <karakuri/math.h>
#include <karakuri/status.h>

/// Eigenvalues of a symmetric 3 × 3 matrix in rising order, each to a few units in the last place of the largest.
void kki_sym3_eigenvalues(kk_sym3 symmetric, double values[3]);

/// A = L D Lᵀ of a positive definite A: unit L below the diagonal, D on it. Reads the lower triangle only.
/// KK_SINGULAR if a pivot is not above `tolerance` times the largest entry of the diagonal.
kk_status kki_ldl_factor(int n, double *a, double tolerance);
/// x = A⁻¹ x with the factor.
void kki_ldl_solve(int n, const double *ldl, double *x);

#endif
