/// Sweeps with Anderson's acceleration, for islands so large that no factor of theirs fits.
///
/// A turn is a few colored sweeps, x = T(λ), and its change f = x − λ. The next λ is the combination of the last turns whose changes cancel
/// best, x − Σ γ Δx with γ the least squares of f − Σ γ Δf, projected on the cones. A λ from which a turn changes more than the one before did is
/// given up with the whole history, and some plain turns follow, more of them each time: sweeps converge by themselves, if slowly, and
/// so does the whole (Zhang, O'Donoghue, Boyd, Globally convergent type-I Anderson acceleration, SIAM J. Optim. 30, 2020). While modes stand this is GMRES
/// on the modes' equations with the sweeps as preconditioner; what slides makes no difference to it.
///
/// References: Anderson, Iterative procedures for nonlinear integral equations, J. ACM 12 (1965); Walker & Ni (2011).
#include <string.h>

#include "contact/sparse_scratch.h"
#include "math/dense.h"

enum { DEPTH = KKI_SPARSE_HISTORY, LEAST_WAIT = 4, MOST_WAIT = 64 };

/// Where few digits are asked for, a turn this many times the end's residual away from it is not soon the last.
static const double FAR = 300, FEW_DIGITS = 1e-8;

/// Whether a turn is worth its residual: every second one, far from the end of a short search every fourth, and there the last one, too.
static bool is_judged(int turn, bool is_last, double residual, double enough) {
    const bool few = enough >= FEW_DIGITS;
    return turn == 0 || (few && is_last) || turn % (few && residual > FAR * enough ? 4 : 2) == 1;
}

typedef struct history {
    kki_sparse_history *h;
    const kki_sparse_kernels *kernels;
    int n;                         ///< rows
    int count, next;               ///< differences there are, and where the next one goes
    bool has_last;                 ///< point and change of the last turn are known
    double product[DEPTH * DEPTH]; ///< of differences of changes
} history;

static void forget(history *y) {
    y->count = y->next = 0;
    y->has_last = false;
}

/// Takes a turn in: point x and its change, which is in h->change.
static void remember(history *y, const double *x) {
    kki_sparse_history *h = y->h;
    if (y->has_last) {
        const int at = y->next;
        double *dx = h->dx[at], *df = h->df[at];
        for (int i = 0; i < y->n; i++) {
            dx[i] = x[i] - h->last[i];
            df[i] = h->change[i] - h->last_change[i];
        }
        y->count = y->count < DEPTH ? y->count + 1 : DEPTH;
        y->next = (at + 1) % DEPTH;
        double product[DEPTH];
        y->kernels->dots(y->n, y->count, h->df, df, product);
        for (int j = 0; j < y->count; j++) {
            y->product[at * DEPTH + j] = y->product[j * DEPTH + at] = product[j];
        }
    }
    memcpy(h->last, x, sizeof *x * (size_t)y->n);
    memcpy(h->last_change, h->change, sizeof *x * (size_t)y->n);
    y->has_last = true;
}

/// Moves x to the best combination. False where there is none.
static bool combine(history *y, double *x) {
    const int m = y->count;
    double a[DEPTH * DEPTH], b[DEPTH];
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            a[i * m + j] = y->product[i * DEPTH + j];
        }
        a[i * m + i] = a[i * m + i] * (1 + 1e-10) + 1e-300;
    }
    if (m == 0) {
        return false;
    }
    if (kki_ldl_factor(m, a, 0) != KK_OK) {
        forget(y);
        return false;
    }
    y->kernels->dots(y->n, m, y->h->df, y->h->change, b);
    kki_ldl_solve(m, a, b);
    y->kernels->subtract(y->n, m, y->h->dx, b, x);
    return true;
}

static void follow(const kki_sparse_system *s, kki_sparse_iterate *it) {
    memset(it->z, 0, sizeof *it->z * (size_t)s->width);
    s->kernels->motion(s->problem, it->lambda, it->z);
}

/// One turn; gives the squared length of its change.
static double turn(kki_sparse_scratch *w, kki_sparse_iterate *it, int sweeps, kki_solver_stats *stats) {
    const int n = w->system.nrow;
    double *change = w->history.change;
    memcpy(change, it->lambda, sizeof *change * (size_t)n);
    kki_bundles_sweep(&w->system, &w->bundles, sweeps, it->lambda, it->z);
    stats->sweeps += sweeps;
    for (int i = 0; i < n; i++) {
        change[i] = it->lambda[i] - change[i];
    }
    return kki_sparse_dot(n, change, change);
}

void kki_sparse_anderson(kki_sparse_scratch *w, kki_sparse_iterate *it, kki_sparse_iterate *best, double enough,
                         int limit, int length, kki_solver_stats *stats) {
    const kki_sparse_system *s = &w->system;
    history y = {.h = &w->history, .kernels = s->kernels, .n = s->nrow};
    double before = __builtin_inf();
    bool is_leap = false; // the last λ was a combination
    kki_bundles_make(s->problem, s->soft, &w->bundles);
    kki_sparse_copy(s, best, it);
    for (int k = 0, wait = LEAST_WAIT, plain = 0; k < limit && best->residual > enough; k += length) {
        const double size = turn(w, it, length, stats);
        if (is_leap && !(size <= before)) {
            memcpy(it->lambda, w->history.last, sizeof *it->lambda * (size_t)s->nrow);
            follow(s, it);
            forget(&y);
            is_leap = false;
            plain = wait;
            wait = 2 * wait > MOST_WAIT ? MOST_WAIT : 2 * wait;
            continue;
        }
        wait = is_leap && wait > LEAST_WAIT ? wait - 1 : wait;
        before = size;
        if (is_judged(k / length, k + length >= limit, best->residual, enough)) {
            if (enough >= FEW_DIGITS) { // sweeps keep z, but for rounding
                kki_sparse_judge_motion(s, it);
            } else {
                kki_sparse_judge(s, it);
            }
            if (it->residual < best->residual) {
                kki_sparse_copy(s, it, best);
                stats->method = KKI_METHOD_ACCELERATED;
            }
        }
        remember(&y, it->lambda);
        is_leap = plain-- <= 0 && combine(&y, it->lambda);
        plain = plain < 0 ? 0 : plain;
        if (is_leap) {
            kki_sparse_project(&s->problem->rows, it->lambda);
            follow(s, it);
        }
    }
}
