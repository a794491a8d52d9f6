// Jacobi's method: rotations that zero one pair of entries after the other, until none is left (Golub and Van Loan 8.5).
#include "math/eigen.h"

#include <karakuri/elementary.h>
#include <stddef.h>

/// Rotates rows and columns p and q so that a[p][q] becomes zero.
static void rotate(int n, double *a, double *V, int p, int q) {
    const size_t w = (size_t)n, pp = (size_t)p, qq = (size_t)q;
    const double off = a[pp * w + qq];
    if (off == 0) {
        return;
    }
    const double theta = (a[qq * w + qq] - a[pp * w + pp]) / (2 * off);
    const double t = (theta < 0 ? -1 : 1) / ((theta < 0 ? -theta : theta) + kk_sqrt(theta * theta + 1));
    const double c = 1 / kk_sqrt(t * t + 1), s = t * c;
    for (size_t k = 0; k < w; k++) {
        const double x = a[k * w + pp], y = a[k * w + qq];
        a[k * w + pp] = c * x - s * y;
        a[k * w + qq] = s * x + c * y;
    }
    for (size_t k = 0; k < w; k++) {
        const double x = a[pp * w + k], y = a[qq * w + k];
        a[pp * w + k] = c * x - s * y;
        a[qq * w + k] = s * x + c * y;
        const double u = V[k * w + pp], v = V[k * w + qq];
        V[k * w + pp] = c * u - s * v;
        V[k * w + qq] = s * u + c * v;
    }
    a[pp * w + qq] = a[qq * w + pp] = 0;
}

void kki_symmetric_eigen(int n, double *a, double *V, double *values) {
    enum { SWEEPS = 60 };
    const size_t w = (size_t)n;
    for (size_t i = 0; i < w * w; i++) {
        V[i] = i % (w + 1) == 0;
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double off = 0, on = 0;
        for (size_t i = 0; i < w; i++) {
            for (size_t k = 0; k < w; k++) {
                *(i == k ? &on : &off) += a[i * w + k] * a[i * w + k];
            }
        }
        if (!(off > 1e-32 * on)) {
            break;
        }
        for (int p = 0; p < n; p++) {
            for (int q = p + 1; q < n; q++) {
                rotate(n, a, V, p, q);
            }
        }
    }
    for (size_t i = 0; i < w; i++) {
        values[i] = a[i * w + i];
    }
}
