// Retiming: how fast a sequence may be run within limits of velocity and acceleration.
//
// With all times longer by a factor k, velocities fall by k and accelerations by k², for every interpolation; so one factor settles the whole, exactly.
// Piece by piece the same rule is used on each piece's own peaks; splines are then laid anew, which moves the peaks of the neighbors, so it is
// repeated, and one factor takes what is left.
#include <karakuri/elementary.h>

#include "base/error.h"
#include "base/missing.h"
#include "motion/sequence.h"

// ---- peaks

kki_piece kki_sequence_piece(const kk_sequence *s, int row, int column) {
    const size_t w = (size_t)s->width, i = (size_t)row * w + (size_t)column;
    const double h = s->time[row + 1] - s->time[row], D = s->p[i + w] - s->p[i];
    const double V0 = h * s->v[i], V1 = h * s->v[i + w], A0 = h * h * s->a[i], A1 = h * h * s->a[i + w];
    if (s->interpolation == KK_INTERPOLATE_LINEAR) {
        return (kki_piece){{s->p[i], D}, h};
    }
    if (s->interpolation == KK_INTERPOLATE_CUBIC) {
        return (kki_piece){{s->p[i], V0, 3 * D - 2 * V0 - V1, V0 + V1 - 2 * D}, h};
    }
    return (kki_piece){{s->p[i], V0, 0.5 * A0, 10 * D - 6 * V0 - 4 * V1 - 1.5 * A0 + 0.5 * A1,
                        -15 * D + 8 * V0 + 7 * V1 + 1.5 * A0 - A1, 6 * D - 3 * V0 - 3 * V1 - 0.5 * A0 + 0.5 * A1},
                       h};
}

static double absolute(double x) {
    return x < 0 ? -x : x;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

static double velocity(const kki_piece *p, double s) {
    const double *c = p->c;
    return (c[1] + s * (2 * c[2] + s * (3 * c[3] + s * (4 * c[4] + s * 5 * c[5])))) / p->h;
}

static double acceleration(const kki_piece *p, double s) {
    const double *c = p->c;
    return (2 * c[2] + s * (6 * c[3] + s * (12 * c[4] + s * 20 * c[5]))) / (p->h * p->h);
}

/// Where jerk is zero inside the piece, in rising order; gives how many. 0 and 1 stand around them.
static int turning_points(const kki_piece *p, double *at) {
    const double a = 60 * p->c[5], b = 24 * p->c[4], c = 6 * p->c[3], root = b * b - 4 * a * c;
    int n = 0;
    at[n++] = 0;
    if (a == 0 && b != 0) {
        at[n] = -c / b;
        n += at[n] > 0 && at[n] < 1;
    } else if (a != 0 && root > 0) {
        const double side = -0.5 * (b + (b < 0 ? -kk_sqrt(root) : kk_sqrt(root)));
        double x = side / a, y = side != 0 ? c / side : 0;
        if (x > y) {
            const double swap = x;
            x = y;
            y = swap;
        }
        at[n] = x;
        n += x > 0 && x < 1;
        at[n] = y;
        n += y > 0 && y < 1 && y > x;
    }
    at[n++] = 1;
    return n;
}

/// Acceleration is monotone between low and high and changes its sign there: the velocity's extreme.
static double find_extreme(const kki_piece *p, double low, double high) {
    const int is_rising = acceleration(p, low) < 0;
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        *((acceleration(p, middle) < 0) == is_rising ? &low : &high) = middle;
    }
    return velocity(p, 0.5 * (low + high));
}

static void piece_peaks(const kki_piece *p, double *rate, double *second) {
    double at[4];
    const int n = turning_points(p, at);
    *rate = *second = 0;
    for (int i = 0; i < n; i++) {
        *rate = larger(*rate, absolute(velocity(p, at[i])));
        *second = larger(*second, absolute(acceleration(p, at[i])));
        if (i > 0 && (acceleration(p, at[i - 1]) < 0) != (acceleration(p, at[i]) < 0)) {
            *rate = larger(*rate, absolute(find_extreme(p, at[i - 1], at[i])));
        }
    }
}

void kk_sequence_peaks(const kk_sequence *sequence, double *rate, double *second) {
    const kk_sequence *s = sequence;
    for (int k = 0; k < s->width; k++) {
        double most[2] = {0, 0};
        for (int i = 0; i + 1 < s->count; i++) {
            double r, a;
            const kki_piece p = kki_sequence_piece(s, i, k);
            piece_peaks(&p, &r, &a);
            most[0] = larger(most[0], r);
            most[1] = larger(most[1], a);
        }
        if (rate) {
            rate[k] = most[0];
        }
        if (second) {
            second[k] = most[1];
        }
    }
}

// ---- times

/// By how much a piece must be longer (or may be shorter) than it is; 0: nothing limits it.
static double factor_of(const kk_sequence *s, int row, const double *rate, const double *second) {
    double most = 0;
    for (int k = 0; k < s->width; k++) {
        const kki_piece p = kki_sequence_piece(s, row, k);
        double r, a;
        piece_peaks(&p, &r, &a);
        most = rate ? larger(most, r / rate[k]) : most;
        most = second && s->interpolation != KK_INTERPOLATE_LINEAR ? larger(most, kk_sqrt(a / second[k])) : most;
    }
    return most;
}

static kk_status scale_all(kk_sequence *s, double factor) {
    const double start = s->time[0];
    for (int i = 1; i < s->count; i++) {
        s->time[i] = start + factor * (s->time[i] - start);
    }
    return kki_sequence_fit(s);
}

/// From the last piece to the first, so that lengths are still the old ones where they are read; a pause keeps its time.
static kk_status scale_pieces(kk_sequence *s, const double *rate, const double *second) {
    const int is_spline = s->interpolation == KK_INTERPOLATE_CUBIC || s->interpolation == KK_INTERPOLATE_QUINTIC;
    for (int i = s->count - 2; i >= 0; i--) {
        const double factor = factor_of(s, i, rate, second), h = s->time[i + 1] - s->time[i];
        // neighbors of a spline's piece change with it: half the way at a time
        s->time[i + 1] = h * (factor == 0 ? 1 : is_spline ? kk_sqrt(factor) : factor);
    }
    for (int i = 0; i + 1 < s->count; i++) {
        s->time[i + 1] += s->time[i];
    }
    return kki_sequence_fit(s);
}

static kk_status check_limits(const kk_sequence *s, const double *limit, const char *what, kk_error *error) {
    for (int k = 0; limit && k < s->width; k++) {
        if (!(limit[k] > 0)) {
            return kki_error_set(error, KK_INVALID_ARGUMENT,
                                 "retime: limit %d of %s is not positive; give infinity for none", k, what);
        }
    }
    return KK_OK;
}

kk_status kk_sequence_retime(kk_sequence *sequence, kk_retiming retiming, const double *rate, const double *second,
                             kk_error *error) {
    if (kki_is_missing(sequence)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    enum { ROUNDS = 30 };
    kk_sequence *s = sequence;
    kk_status status = check_limits(s, rate, "velocity", error);
    status = status ? status : check_limits(s, second, "acceleration", error);
    const int is_local = s->interpolation == KK_INTERPOLATE_LINEAR || s->interpolation == KK_INTERPOLATE_MINIMUM_JERK;
    const int rounds = retiming == KK_RETIME_PIECES ? is_local ? 1 : ROUNDS : 0;
    for (int i = 0; i < rounds && !status; i++) {
        status = scale_pieces(s, rate, second);
    }
    double most = 0;
    for (int i = 0; i + 1 < s->count && !status; i++) {
        most = larger(most, factor_of(s, i, rate, second));
    }
    return status || most == 0 ? status : scale_all(s, most);
}
