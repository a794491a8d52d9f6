/// One damped step of inverse kinematics with priorities and limits.
///
/// A level with rows J, errors e and weights W moves within the span of Z, what the levels before leave free:
///     y = (AᵀWA + λ 1)⁻¹ AᵀW (e − J Δ),   A = J Z,   λ = ν E + w,   E = ½ eᵀWe          (Sugihara 2011, eq. 11-13)
/// and Δ grows by Z y. Then Z loses the row space of A (Householder QR with pivots). A degree of freedom that the step would take
/// over its limit goes there exactly, and the step is found again for the others.
#include <string.h>

#include "math/dense.h"
#include "motion/ik.h"

static const double RANK = 1e-7; ///< a row whose independent part is shorter, against the longest, is no new direction
static const double LEAST = 1e-12; ///< w, against the mean of the diagonal

static double absolute(double x) {
    return x < 0 ? -x : x;
}

// ---- one level

/// A = J Z of a level, b = e − J Δ.
static void project(kk_ik *ik, int level, int free) {
    const int nv = kk_model_nv(ik->model);
    for (int i = ik->first[level]; i < ik->first[level + 1]; i++) {
        const double *J = ik->J + (size_t)i * (size_t)nv;
        double *A = ik->A + (size_t)(i - ik->first[level]) * (size_t)nv;
        memset(A, 0, (size_t)free * sizeof *A);
        double b = ik->e[i];
        for (int k = 0; k < nv; k++) {
            b -= J[k] * ik->step[k];
            const double *z = ik->Z + (size_t)k * (size_t)nv;
            for (int j = 0; j < free && J[k] != 0; j++) {
                A[j] += J[k] * z[j];
            }
        }
        ik->b[i - ik->first[level]] = b;
    }
}

/// H = AᵀWA, g = AᵀWb; gives the trace of H.
static double normal_equations(kk_ik *ik, int level, int free) {
    const int nv = kk_model_nv(ik->model);
    double trace = 0;
    memset(ik->H, 0, (size_t)free * (size_t)free * sizeof *ik->H);
    memset(ik->g, 0, (size_t)free * sizeof *ik->g);
    for (int i = 0; i < ik->first[level + 1] - ik->first[level]; i++) {
        const double *A = ik->A + (size_t)i * (size_t)nv;
        const double w = ik->weight[ik->first[level] + i];
        for (int r = 0; r < free; r++) {
            const double a = w * A[r];
            ik->g[r] += a * ik->b[i];
            for (int c = 0; c <= r && a != 0; c++) {
                ik->H[r * free + c] += a * A[c];
            }
        }
    }
    for (int r = 0; r < free; r++) {
        trace += ik->H[r * free + r];
    }
    return trace;
}

static double level_error(const kk_ik *ik, int level) {
    double sum = 0;
    for (int i = ik->first[level]; i < ik->first[level + 1]; i++) {
        sum += 0.5 * ik->weight[i] * ik->e[i] * ik->e[i];
    }
    return sum;
}

static void solve_level(kk_ik *ik, int level, int free, double damping) {
    const int nv = kk_model_nv(ik->model);
    project(ik, level, free);
    const double trace = normal_equations(ik, level, free);
    const double lambda = damping * level_error(ik, level) + LEAST * trace / free + 1e-300;
    for (int r = 0; r < free; r++) {
        ik->H[r * free + r] += lambda;
    }
    if (kki_ldl_factor(free, ik->H, 0) != KK_OK) {
        return;
    }
    kki_ldl_solve(free, ik->H, ik->g);
    for (int k = 0; k < nv; k++) {
        for (int j = 0; j < free; j++) {
            ik->step[k] += ik->Z[k * nv + j] * ik->g[j];
        }
    }
}

// ---- what a level leaves free

/// Applies 1 − 2 u uᵀ from the right to the rows of X, on columns from `start`.
static void reflect(double *X, int rows, int stride, const double *u, int start, int end) {
    for (int i = 0; i < rows; i++) {
        double *x = X + (size_t)i * (size_t)stride, sum = 0;
        for (int j = start; j < end; j++) {
            sum += x[j] * u[j];
        }
        for (int j = start; j < end; j++) {
            x[j] -= 2 * sum * u[j];
        }
    }
}

static double row_norm2(const double *x, int start, int end) {
    double sum = 0;
    for (int j = start; j < end; j++) {
        sum += x[j] * x[j];
    }
    return sum;
}

/// Unit vector u of the reflection that turns row x, from column `start` on, into a multiple of the first axis there.
static void householder(const double *x, double norm, int start, int end, double *u) {
    memcpy(u + start, x + start, (size_t)(end - start) * sizeof *u);
    u[start] += x[start] < 0 ? -norm : norm;
    const double length = kk_sqrt(row_norm2(u, start, end));
    for (int j = start; j < end; j++) {
        u[j] /= length;
    }
}

/// Turns Z by reflections so that its first columns span the rows of A, and drops them. Gives what is left free.
static int leave(kk_ik *ik, int level, int free) {
    const int nv = kk_model_nv(ik->model), rows = ik->first[level + 1] - ik->first[level];
    int rank = 0;
    double longest = 0;
    for (int done = 0; done < rows && rank < free; done++) {
        int best = -1;
        double norm2 = 0;
        for (int i = done; i < rows; i++) {
            const double n2 = row_norm2(ik->A + (size_t)i * (size_t)nv, rank, free);
            if (n2 > norm2) {
                best = i;
                norm2 = n2;
            }
        }
        longest = norm2 > longest ? norm2 : longest;
        if (best < 0 || norm2 <= RANK * RANK * longest) {
            break;
        }
        for (int j = 0; j < free && best != done; j++) {
            const double t = ik->A[best * nv + j];
            ik->A[best * nv + j] = ik->A[done * nv + j];
            ik->A[done * nv + j] = t;
        }
        householder(ik->A + (size_t)done * (size_t)nv, kk_sqrt(norm2), rank, free, ik->scratch);
        reflect(ik->A, rows, nv, ik->scratch, rank, free);
        reflect(ik->Z, nv, nv, ik->scratch, rank, free);
        rank++;
    }
    for (int k = 0; k < nv; k++) {
        memmove(ik->Z + (size_t)k * (size_t)nv, ik->Z + (size_t)k * (size_t)nv + rank,
                (size_t)(free - rank) * sizeof *ik->Z);
    }
    return free - rank;
}

// ---- all levels, within limits

/// Unit columns of the degrees of freedom that are not held.
static int begin_basis(kk_ik *ik) {
    const int nv = kk_model_nv(ik->model);
    int free = 0;
    memset(ik->Z, 0, (size_t)nv * (size_t)nv * sizeof *ik->Z);
    for (int k = 0; k < nv; k++) {
        if (!ik->held[k]) {
            ik->Z[k * nv + free++] = 1;
        }
    }
    return free;
}

static void solve_levels(kk_ik *ik, double damping) {
    int free = begin_basis(ik);
    for (int level = 0; level < ik->levels && free > 0; level++) {
        solve_level(ik, level, free, damping);
        free = level + 1 < ik->levels ? leave(ik, level, free) : 0;
    }
}

/// Holds what the step takes over a limit there; 1 if there was anything.
static int hold_at_limits(kk_ik *ik, const double *q) {
    int found = 0;
    for (int k = 0; k < kk_model_nv(ik->model); k++) {
        if (ik->held[k] || ik->coordinate[k] < 0) {
            continue;
        }
        const double x = q[ik->coordinate[k]], next = x + ik->step[k];
        if (next > ik->upper[k] || next < ik->lower[k]) {
            ik->held[k] = 2;
            ik->step[k] = (next > ik->upper[k] ? ik->upper[k] : ik->lower[k]) - x;
            found = 1;
        }
    }
    return found;
}

/// What is not held starts from nothing again.
static void begin_again(kk_ik *ik) {
    for (int k = 0; k < kk_model_nv(ik->model); k++) {
        ik->step[k] = ik->held[k] ? ik->step[k] : 0;
    }
}

/// A step turns nothing by more than about half a turn.
static void shorten(kk_ik *ik) {
    double most = 0;
    for (int k = 0; k < kk_model_nv(ik->model); k++) {
        most = absolute(ik->step[k]) > most ? absolute(ik->step[k]) : most;
    }
    for (int k = 0; k < kk_model_nv(ik->model) && most > 3; k++) {
        ik->step[k] *= 3 / most;
    }
}

void kki_ik_step(kk_ik *ik, double damping, const double *q) {
    const int nv = kk_model_nv(ik->model);
    memset(ik->step, 0, (size_t)nv * sizeof *ik->step);
    for (int k = 0; k < nv; k++) {
        ik->held[k] = ik->held[k] == 1;
    }
    do {
        begin_again(ik);
        solve_levels(ik, damping);
        shorten(ik);
    } while (hold_at_limits(ik, q));
}
