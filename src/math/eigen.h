/// Eigenvalues and eigenvectors of symmetric matrices, for set-up and optimizers; not for the kernels.
#ifndef KKI_MATH_EIGEN_H
#define KKI_MATH_EIGEN_H

/// A = V diag(values) Vᵀ by Jacobi's rotations, in no particular order. @param a [n × n] symmetric, destroyed    @param V [n × n] columns
void kki_symmetric_eigen(int n, double *a, double *V, double *values);

#endif
