/// Small dense linear algebra: Jacobi eigenvalues, L D Lᵀ.
///
/// Reference: Golub & Van Loan, Matrix Computations, 4th ed., 8.5, 4.1, 3.4.
#include "math/dense.h"

#include <karakuri/elementary.h>
#include <string.h>

#define ABS(x) __builtin_fabs(x)

// ---- eigenvalues

/// Zeroes a[p][q] by a rotation in that plane; r is the third index.
static void jacobi_rotate(double a[3][3], int p, int q, int r) {
    if (a[p][q] == 0) {
        return;
    }
    const double theta = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
    const double t = (theta < 0 ? -1.0 : 1.0) / (ABS(theta) + kk_sqrt(1 + theta * theta));
    const double c = 1 / kk_sqrt(1 + t * t), s = t * c;
    const double arp = a[r][p], arq = a[r][q];
    a[p][p] -= t * a[p][q];
    a[q][q] += t * a[p][q];
    a[p][q] = a[q][p] = 0;
    a[r][p] = a[p][r] = c * arp - s * arq;
    a[r][q] = a[q][r] = s * arp + c * arq;
}

static void sort_pair(double *a, double *b) {
    if (*a > *b) {
        const double t = *a;
        *a = *b;
        *b = t;
    }
}

void kki_sym3_eigenvalues(kk_sym3 symmetric, double values[3]) {
    const kk_mat3 whole = kk_sym3_to_mat3(symmetric);
    double a[3][3];
    memcpy(a, whole.m, sizeof a);
    // convergence is quadratic: six sweeps are two more than any 3 × 3 matrix was seen to need
    for (int sweep = 0; sweep < 6; sweep++) {
        jacobi_rotate(a, 0, 1, 2);
        jacobi_rotate(a, 0, 2, 1);
        jacobi_rotate(a, 1, 2, 0);
    }
    for (int i = 0; i < 3; i++) {
        values[i] = a[i][i];
    }
    sort_pair(&values[0], &values[1]);
    sort_pair(&values[1], &values[2]);
    sort_pair(&values[0], &values[1]);
}

// ---- L D Lᵀ

static double largest_diagonal(int n, const double *a) {
    double largest = 0;
    for (int i = 0; i < n; i++) {
        largest = a[i * n + i] > largest ? a[i * n + i] : largest;
    }
    return largest;
}

/// a[i][j] − Σₖ L[i][k] D[k] L[j][k], k < j.
static double ldl_remainder(int n, const double *a, int i, int j) {
    double sum = a[i * n + j];
    for (int k = 0; k < j; k++) {
        sum -= a[i * n + k] * a[k * n + k] * a[j * n + k];
    }
    return sum;
}

kk_status kki_ldl_factor(int n, double *a, double tolerance) {
    const double least = tolerance * largest_diagonal(n, a);
    for (int j = 0; j < n; j++) {
        const double pivot = ldl_remainder(n, a, j, j);
        // written so that a NaN fails as well
        if (!(pivot > least)) {
            return KK_SINGULAR;
        }
        a[j * n + j] = pivot;
        for (int i = j + 1; i < n; i++) {
            a[i * n + j] = ldl_remainder(n, a, i, j) / pivot;
        }
    }
    return KK_OK;
}

void kki_ldl_solve(int n, const double *ldl, double *x) {
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            x[i] -= ldl[i * n + k] * x[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        x[i] /= ldl[i * n + i];
        for (int k = i + 1; k < n; k++) {
            x[i] -= ldl[k * n + i] * x[k];
        }
    }
}
