/// Delays and activations of actuators.
///
/// A control that is delayed is read from a ring of samples, one for each step, at the time of the step's start minus the delay: the last one before it (hold),
/// on the straight line between the two next to it, or on a cubic through four (Catmull and Rom). Beyond both ends the first or last sample holds.
///
/// Activations follow ȧ = u or ȧ = (u − a)/τ, the second exactly for a control and a τ that stay; a muscle's τ is that of the step's start. A muscle pulls with the
/// activation of the step's middle, where forces act; all others with that of its end.
#include "simulate/activation.h"

#include <karakuri/elementary.h>

static double clamp(double x, double low, double high) {
    return x > high ? high : x < low ? low : x;
}

// ---- delays

/// A ring of samples, the oldest first.
typedef struct ring {
    const double *when, *what;
    int count, first;
} ring;

static ring ring_of(const kki_model_actuator *a, const double *history) {
    const double pushed = history[KKI_HISTORY_COUNT];
    const int64_t known = pushed >= 0 && pushed < 9e15 ? (int64_t)pushed : 0;
    const double *when = history + KKI_HISTORY_FIRST;
    return (ring){when, when + a->delay_samples, a->delay_samples, (int)(known % a->delay_samples)};
}

static int slot_of(const ring *r, int k) {
    return (r->first + k) % r->count;
}

static double time_at(const ring *r, int k) {
    return r->when[slot_of(r, k)];
}

static double sample(const ring *r, int k) {
    return r->what[slot_of(r, k < 0 ? 0 : k >= r->count ? r->count - 1 : k)];
}

/// The last sample not after a time; −1: all are. @param trace  by which it may be after it all the same
static int last_before(const ring *r, double time, double trace) {
    int low = -1, high = r->count - 1;
    while (low < high) {
        const int middle = low + (high - low + 1) / 2;
        if (time_at(r, middle) <= time + trace) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/// x between samples k and k + 1.
static double cubic(const ring *r, int k, double x) {
    const double a = sample(r, k - 1), b = sample(r, k), c = sample(r, k + 1), d = sample(r, k + 2);
    const double rise = 0.5 * (c - a), next = 0.5 * (d - b), x2 = x * x, x3 = x2 * x;
    return (2 * x3 - 3 * x2 + 1) * b + (x3 - 2 * x2 + x) * rise + (3 * x2 - 2 * x3) * c + (x3 - x2) * next;
}

double kki_delayed_control(const kk_simulator *s, const kki_model_actuator *a, double control) {
    if (a->history_index < 0) {
        return control;
    }
    const ring r = ring_of(a, kk_state_activation_const(s->motion.start) + a->history_index);
    const double time = kk_state_time(s->motion.start) - a->delay, trace = 1e-6 * s->model->options.timestep;
    const int k = last_before(&r, time, trace);
    if (k < 0 || k + 1 == r.count || a->delay_interpolation == KK_DELAY_HOLD || time <= time_at(&r, k)) {
        return sample(&r, k);
    }
    const double width = time_at(&r, k + 1) - time_at(&r, k), x = width > 0 ? (time - time_at(&r, k)) / width : 0;
    if (a->delay_interpolation == KK_DELAY_CUBIC) {
        return cubic(&r, k, x);
    }
    return sample(&r, k) + x * (sample(&r, k + 1) - sample(&r, k));
}

/// Parts of a step have one sample together: the control does not change in it.
void kki_remember_controls(const kk_model *m, kk_simulator *s, const double *control) {
    const double time = kk_state_time(s->motion.start);
    for (int i = 0; i < m->nactuator; i++) {
        const kki_model_actuator *a = &m->actuator[i];
        if (a->history_index < 0) {
            continue;
        }
        double *history = s->motion.activation + a->history_index;
        const ring r = ring_of(a, history);
        const int last = slot_of(&r, r.count - 1);
        if (time - r.when[last] < 0.5 * s->options.timestep && history[KKI_HISTORY_COUNT] > 0) {
            continue;
        }
        history[KKI_HISTORY_FIRST + r.first] = time;
        history[KKI_HISTORY_FIRST + r.count + r.first] = control ? control[i] : 0;
        history[KKI_HISTORY_COUNT] += 1;
    }
}

// ---- activations

/// Share of the way to where it is drawn that a filter goes in a time.
static double share_of(double time, double time_constant) {
    return time_constant > 0 ? 1 - kk_exp(-time / time_constant) : 1;
}

/// What a muscle pulls with; its activation at the end of `time` into *x.
static double activate_muscle(const kk_simulator *s, const kki_model_actuator *a, double u, double time, double *x) {
    const double start = *x, tau = kki_muscle_time_constant(&a->muscle, u, start), drawn = clamp(u, 0, 1) - start;
    *x = clamp(start + drawn * share_of(time, tau), a->activation_lower, a->activation_upper);
    return s->h == 0 ? *x : clamp(start + drawn * share_of(0.5 * time, tau), a->activation_lower, a->activation_upper);
}

double kki_activate(kk_simulator *s, const kki_model_actuator *a, double control) {
    const double u = clamp(control, a->control_lower, a->control_upper);
    if (a->activation == KK_ACTIVATION_NONE) {
        return u;
    }
    double *x = &s->motion.activation[a->activation_index], time = s->h;
    if (s->h == 0) { // a stage of Runge and Kutta: from the step's start to its moment
        *x = kk_state_activation_const(s->motion.start)[a->activation_index];
        time = s->rk4.moment;
    }
    if (a->activation == KK_ACTIVATION_MUSCLE) {
        return activate_muscle(s, a, u, time, x);
    }
    if (a->activation == KK_ACTIVATION_INTEGRATE) {
        *x += time * u;
    } else {
        *x += (u - *x) * share_of(time, a->time_constant);
    }
    *x = clamp(*x, a->activation_lower, a->activation_upper);
    return *x;
}
