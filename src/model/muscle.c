/// Muscles: force over length and rate, and activation, as MuJoCo's documentation has them.
///
/// With x the share of the way between two places, F_L rises from 0 at lmin as ½ x² to ½ halfway to L = 1, as 1 − ½ x² to 1 there, and falls in the
/// same way to 0 at lmax. F_V = (1 + V)² while it shortens, 0 below V = −1; while it is drawn out, fvmax − (y − V)²/y with y = fvmax − 1, and fvmax
/// from V = y on. F_P is zero up to L = 1, fpmax ½ x² to halfway to lmax, and goes on as a straight line.
///
/// Activation:  ȧ = (u − a)/τ,  τ = τ_act (½ + 3/2 a) where it rises and τ_deact/(½ + 3/2 a) where it falls; with a smoothing width w, a polynomial
/// of fifth degree in (u − a)/w + ½ leads from the second to the first.
#include <karakuri/actuator.h>

#include "model/model.h"

/// What a divisor is at least.
static const double LEAST = 1e-15;

static double at_least(double x) {
    return x > LEAST ? x : LEAST;
}

static double clipped(double x) {
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/// Active force over length.
static double force_of_length(const kk_muscle_def *m, double L) {
    const double rise = 0.5 * (m->lmin + 1), fall = 0.5 * (1 + m->lmax);
    if (!(L >= m->lmin && L <= m->lmax)) {
        return 0;
    }
    if (L <= rise) {
        const double x = (L - m->lmin) / at_least(rise - m->lmin);
        return 0.5 * x * x;
    }
    if (L > fall) {
        const double x = (m->lmax - L) / at_least(m->lmax - fall);
        return 0.5 * x * x;
    }
    const double x = L <= 1 ? (1 - L) / at_least(1 - rise) : (L - 1) / at_least(fall - 1);
    return 1 - 0.5 * x * x;
}

/// Active force over rate.
static double force_of_rate(const kk_muscle_def *m, double V) {
    const double y = m->fvmax - 1;
    if (V <= 0) {
        return V <= -1 ? 0 : (V + 1) * (V + 1);
    }
    return V <= y ? m->fvmax - (y - V) * (y - V) / at_least(y) : m->fvmax;
}

/// Passive force.
static double force_at_rest(const kk_muscle_def *m, double L) {
    const double halfway = 0.5 * (1 + m->lmax);
    if (L <= 1) {
        return 0;
    }
    if (L <= halfway) {
        const double x = (L - 1) / at_least(halfway - 1);
        return m->fpmax * 0.5 * x * x;
    }
    return m->fpmax * (0.5 + (L - halfway) / at_least(halfway - 1));
}

double kk_muscle_force(const kk_muscle_def *muscle, double length, double rate, double activation) {
    const kk_muscle_def *m = muscle;
    const double optimal = at_least((m->length_upper - m->length_lower) / at_least(m->range[1] - m->range[0]));
    const double L = m->range[0] + (length - m->length_lower) / optimal, V = rate / at_least(optimal * m->vmax);
    return -m->force * (force_of_length(m, L) * force_of_rate(m, V) * activation + force_at_rest(m, L));
}

/// 0 up to 0, 1 from 1 on, with two derivatives that are zero at both.
static double step_between(double x) {
    const double c = clipped(x);
    return c * c * c * (6 * c * c - 15 * c + 10);
}

double kki_muscle_time_constant(const kk_muscle_def *m, double control, double activation) {
    const double slow = 0.5 + 1.5 * clipped(activation), rest = clipped(control) - activation;
    const double up = m->time_constant[0] * slow, down = m->time_constant[1] / slow;
    const double share = m->smoothing < LEAST ? rest > 0 : step_between(rest / m->smoothing + 0.5);
    return at_least(down + (up - down) * share);
}

double kk_muscle_activation_rate(const kk_muscle_def *muscle, double control, double activation) {
    return (clipped(control) - activation) / kki_muscle_time_constant(muscle, control, activation);
}

double kki_muscle_slope(const kk_muscle_def *muscle, double length, double rate, double activation) {
    const kk_muscle_def *m = muscle;
    const double optimal = at_least((m->length_upper - m->length_lower) / at_least(m->range[1] - m->range[0]));
    const double L = m->range[0] + (length - m->length_lower) / optimal, fastest = at_least(optimal * m->vmax);
    const double V = rate / fastest, y = m->fvmax - 1;
    const double slope = V <= -1 || V > y ? 0 : V <= 0 ? 2 * (V + 1) : 2 * (y - V) / at_least(y);
    return -m->force * force_of_length(m, L) * slope * clipped(activation) / fastest;
}
