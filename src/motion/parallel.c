/// Legs whose motors do not turn the joints that the model has: wires, rods and belts.
///
/// G. Endo, K. Arikawa, S. Hirose 2010, (1) and (2): one foot, two ways to say how fast it goes,
///     J_s θ'_s = J_p θ'_p,    and the power is the same, τ_sᵀ θ'_s = τ_pᵀ θ'_p, so τ_p = J_pᵀ J_s⁻ᵀ τ_s.
/// A matrix of up to 6 × 6 is solved by elimination with the largest pivot.
#include <karakuri/walk.h>
#include <string.h>

#include "base/error.h"
#include "base/missing.h"

enum { MOST = 6 };
/// Pivot, as a share of the matrix's largest element, below which a leg is stretched out.
static const double LEAST_PIVOT = 1e-12;

static double size_of(double x) {
    return x < 0 ? -x : x;
}

static double largest(const double *A, int n) {
    double most = 0;
    for (int i = 0; i < n; i++) {
        most = size_of(A[i]) > most ? size_of(A[i]) : most;
    }
    return most;
}

static void swap_rows(double *A, double *b, int n, int i, int j) {
    for (int k = 0; k < n; k++) {
        const double x = A[i * n + k];
        A[i * n + k] = A[j * n + k];
        A[j * n + k] = x;
    }
    const double x = b[i];
    b[i] = b[j];
    b[j] = x;
}

static int largest_below(const double *A, int n, int column) {
    int best = column;
    for (int i = column + 1; i < n; i++) {
        best = size_of(A[i * n + column]) > size_of(A[best * n + column]) ? i : best;
    }
    return best;
}

static void take_off(double *A, double *b, int n, int pivot) {
    for (int i = pivot + 1; i < n; i++) {
        const double f = A[i * n + pivot] / A[pivot * n + pivot];
        for (int k = pivot; k < n; k++) {
            A[i * n + k] -= f * A[pivot * n + k];
        }
        b[i] -= f * b[pivot];
    }
}

/// b = A⁻¹ b; A is lost.
static kk_status solve(double *A, double *b, int n) {
    const double least = LEAST_PIVOT * largest(A, n * n);
    for (int k = 0; k < n; k++) {
        swap_rows(A, b, n, k, largest_below(A, n, k));
        if (!(size_of(A[k * n + k]) > least)) {
            return KK_SINGULAR;
        }
        take_off(A, b, n, k);
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int i = k + 1; i < n; i++) {
            b[k] -= A[k * n + i] * b[i];
        }
        b[k] /= A[k * n + k];
    }
    return KK_OK;
}

/// y = A x, or Aᵀ x
static void multiply(const double *A, int n, int is_transposed, const double *x, double *y) {
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int k = 0; k < n; k++) {
            y[i] += (is_transposed ? A[k * n + i] : A[i * n + k]) * x[k];
        }
    }
}

static void copy(const double *A, int n, int is_transposed, double *B) {
    for (int i = 0; i < n * n; i++) {
        B[i] = is_transposed ? A[i % n * n + i / n] : A[i];
    }
}

static kk_status check(int count, int missing, kk_error *error) {
    return missing || count < 1 || count > MOST
               ? kki_error_set(error, KK_INVALID_ARGUMENT,
                               missing ? "an argument that must be given is NULL"
                                       : "a leg with %d joints; from 1 to %d can be mapped",
                               count, MOST)
               : KK_OK;
}

static kk_status tell(kk_status status, const char *which, kk_error *error) {
    return status ? kki_error_set(error, status,
                                  "the Jacobian of the %s leg is singular: here its joints do not move the foot in "
                                  "every direction; bend it, or leave this posture out",
                                  which)
                  : KK_OK;
}

kk_status kk_map_velocity(int count, const double *Js, const double *Jp, const double *serial, double *parallel,
                          kk_error *error) {
    double A[MOST * MOST], b[MOST];
    kk_status status = check(count, kki_is_missing(Js, Jp, serial, parallel), error);
    if (status == KK_OK) {
        multiply(Js, count, 0, serial, b);
        copy(Jp, count, 0, A);
        status = tell(solve(A, b, count), "parallel", error);
    }
    if (status == KK_OK) {
        memcpy(parallel, b, (size_t)count * sizeof *b);
    }
    return status;
}

kk_status kk_map_torque(int count, const double *Js, const double *Jp, const double *serial, double *parallel,
                        kk_error *error) {
    double A[MOST * MOST], f[MOST];
    kk_status status = check(count, kki_is_missing(Js, Jp, serial, parallel), error);
    if (status == KK_OK) {
        copy(Js, count, 1, A);
        memcpy(f, serial, (size_t)count * sizeof *f);
        status = tell(solve(A, f, count), "serial", error);
    }
    if (status == KK_OK) {
        multiply(Jp, count, 1, f, parallel);
    }
    return status;
}
