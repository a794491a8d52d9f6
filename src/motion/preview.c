/// Preview control of the zero-moment point on the cart-table model.
///
/// S. Kajita et al., "Biped walking pattern generation by using preview control of zero-moment point", ICRA 2003. State x = (c, ċ, c̈), input
/// the jerk u, output p = c − (z/g) c̈. With the summed error in front of the changes of x the problem is an LQ one, whose Riccati
/// equation gives the gains:
///     u = −G_i Σ (p − p_ref) − G_x x + Σ_j G_j p_ref(k + j)                      (Katayama et al. 1985; eq. 16-19)
#include "motion/preview.h"

#include <string.h>

enum { N = 4, MOST_ROUNDS = 100000 };
static const double WEIGHT_ERROR = 1, WEIGHT_JERK = 1e-6;

typedef struct lq {
    double A[N][N], B[N];
    double P[N][N]; ///< solution of the Riccati equation
    double K[N];    ///< feedback (R + BᵀPB)⁻¹ BᵀPA
    double s;       ///< R + BᵀPB
} lq;

/// Augmented system: error of the output, then changes of position, velocity and acceleration.
static void fill(lq *s, double t, double ratio) {
    const double A[3][3] = {{1, t, t * t / 2}, {0, 1, t}, {0, 0, 1}};
    const double B[3] = {t * t * t / 6, t * t / 2, t}, C[3] = {1, 0, -ratio};
    memset(s, 0, sizeof *s);
    s->A[0][0] = 1;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            s->A[0][1 + i] += C[j] * A[j][i];
            s->A[1 + i][1 + j] = A[i][j];
        }
        s->B[0] += C[i] * B[i];
        s->B[1 + i] = B[i];
    }
    s->P[0][0] = WEIGHT_ERROR;
}

/// y = Pᵀ… P is symmetric: y = P x.
static void times_P(const lq *s, const double *x, double *y) {
    for (int i = 0; i < N; i++) {
        y[i] = 0;
        for (int j = 0; j < N; j++) {
            y[i] += s->P[i][j] * x[j];
        }
    }
}

static void find_feedback(lq *s) {
    double PB[N];
    times_P(s, s->B, PB);
    s->s = WEIGHT_JERK;
    for (int i = 0; i < N; i++) {
        s->s += s->B[i] * PB[i];
    }
    for (int j = 0; j < N; j++) {
        s->K[j] = 0;
        for (int i = 0; i < N; i++) {
            s->K[j] += PB[i] * s->A[i][j];
        }
        s->K[j] /= s->s;
    }
}

/// P ← Q + AᵀP(A − BK); gives the largest change against the largest entry.
static double iterate(lq *s) {
    double M[N][N], next[N][N], change = 0, most = 0;
    find_feedback(s);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            M[i][j] = 0;
            for (int k = 0; k < N; k++) {
                M[i][j] += s->P[i][k] * (s->A[k][j] - s->B[k] * s->K[j]);
            }
        }
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            next[i][j] = i == 0 && j == 0 ? WEIGHT_ERROR : 0;
            for (int k = 0; k < N; k++) {
                next[i][j] += s->A[k][i] * M[k][j];
            }
            const double d = next[i][j] - s->P[i][j], x = next[i][j] < 0 ? -next[i][j] : next[i][j];
            change = d > change ? d : -d > change ? -d : change;
            most = x > most ? x : most;
        }
    }
    // rounding must not let it grow unsymmetric
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            s->P[i][j] = 0.5 * (next[i][j] + next[j][i]);
        }
    }
    return change / most;
}

void kki_preview_design(kki_preview *p) {
    lq s;
    fill(&s, p->dt, p->ratio);
    for (int i = 0; i < MOST_ROUNDS && iterate(&s) > 1e-13; i++) {
    }
    find_feedback(&s);
    p->gain_sum = s.K[0];
    memcpy(p->gain_x, s.K + 1, sizeof p->gain_x);
    // X₁ = (A − BK)ᵀ P e₀, G_j = BᵀX_{j−1}/s
    double X[N] = {s.P[0][0], s.P[1][0], s.P[2][0], s.P[3][0]};
    for (int j = 0; j < p->count; j++) {
        double next[N] = {0};
        p->gain[j] = 0;
        for (int i = 0; i < N; i++) {
            p->gain[j] += s.B[i] * X[i] / s.s;
            for (int k = 0; k < N; k++) {
                next[i] += (s.A[k][i] - s.B[k] * s.K[i]) * X[k];
            }
        }
        memcpy(X, next, sizeof X);
    }
}

void kki_preview_follow(const kki_preview *p, const double *zmp, int count, double *position) {
    const double t = p->dt;
    double c = zmp[0], v = 0, a = 0, sum = 0;
    for (int k = 0; k < count; k++) {
        position[k] = c;
        sum += c - p->ratio * a - zmp[k];
        // positions count from the first point: the gains of all previewed points add up to that of the position
        double u = -p->gain_sum * sum - p->gain_x[0] * (c - zmp[0]) - p->gain_x[1] * v - p->gain_x[2] * a;
        for (int j = 0; j < p->count; j++) {
            const int at = k + 1 + j < count ? k + 1 + j : count - 1;
            u += p->gain[j] * (zmp[at] - zmp[0]);
        }
        c += t * v + t * t / 2 * a + t * t * t / 6 * u;
        v += t * a + t * t / 2 * u;
        a += t * u;
    }
}

void kki_zmp_invert(double ratio, double dt, int count, double *zmp, double *scratch) {
    // −k c₋ + (1 + 2k) c − k c₊ = zmp, eliminated from the front
    const double k = ratio / (dt * dt);
    scratch[0] = 0;
    for (int i = 1; i < count - 1; i++) {
        const double pivot = 1 / (1 + 2 * k - k * scratch[i - 1]);
        scratch[i] = k * pivot;
        zmp[i] = (zmp[i] + k * zmp[i - 1]) * pivot;
    }
    for (int i = count - 2; i > 0; i--) {
        zmp[i] += scratch[i] * zmp[i + 1];
    }
}
