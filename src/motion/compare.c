/// Two logs beside each other. The shift of their clocks maximizes the mean of the columns' correlations
///     r(s) = Σ (a(t) − ā)(b(t + s) − b̄) / √(Σ (a − ā)² Σ (b − b̄)²)
/// over the times they share: by a coarse search on a few thousand rows, then by the golden section on all of them around the best.
#include <karakuri/compare.h>
#include <karakuri/elementary.h>

#include "base/error.h"
#include "base/missing.h"

enum { COARSE_ROWS = 2000, COARSE_SHIFTS = 500, FINE_ROUNDS = 40 };

// ---- numbers at a time

static double at_row(const kk_series *s, int row, int column) {
    return s->value[(size_t)row * (size_t)s->width + (size_t)column];
}

/// Row before or at a time; rows and times rise together, so the search goes on from the last one.
static int row_before(const kk_series *s, double time, int from) {
    int low = from, high = s->count - 1;
    if (!(s->time[low] <= time)) {
        low = 0;
    }
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        *(s->time[middle] <= time ? &low : &high) = middle;
    }
    return high > low && s->time[high] <= time ? high : low;
}

/// Share of the way from row to the next.
static double part_of(const kk_series *s, int row, double time) {
    if (row + 1 >= s->count || !(time > s->time[row])) {
        return 0;
    }
    return (time - s->time[row]) / (s->time[row + 1] - s->time[row]);
}

static double between(const kk_series *s, int row, double part, int column) {
    const double a = at_row(s, row, column);
    return part == 0 ? a : a + part * (at_row(s, row + 1, column) - a);
}

void kk_series_sample(const kk_series *series, double time, double *value) {
    if (series->count < 1) {
        return;
    }
    const int row = row_before(series, time, 0);
    const double part = part_of(series, row, time);
    for (int k = 0; k < series->width; k++) {
        value[k] = between(series, row, part, k);
    }
}

// ---- sums over the rows that both have

/// Sums over rows of a column: for means, spreads and the correlation. Numbers count from the first ones, so that large offsets cost no digits.
typedef struct sums {
    double a, b, aa, bb, ab;
    int count;
} sums;

static int has_time(const kk_series *s, double time) {
    return s->time[0] <= time && time <= s->time[s->count - 1];
}

static void add_pair(sums *x, double a, double b) {
    x->a += a;
    x->b += b;
    x->aa += a * a;
    x->bb += b * b;
    x->ab += a * b;
    x->count++;
}

static sums sum_column(const kk_series *a, const kk_series *b, int column, double shift, int stride) {
    sums x = {0};
    int row = 0;
    const double a0 = at_row(a, 0, column), b0 = at_row(b, 0, column);
    for (int i = 0; i < a->count; i += stride) {
        const double time = a->time[i] + shift;
        if (has_time(b, time)) {
            row = row_before(b, time, row);
            add_pair(&x, at_row(a, i, column) - a0, between(b, row, part_of(b, row, time), column) - b0);
        }
    }
    return x;
}

/// Pearson's correlation; 0 where one of both does not change beyond rounding.
static double correlation_of(const sums *x) {
    const double n = x->count, aa = x->aa - x->a * x->a / n, bb = x->bb - x->b * x->b / n;
    const double tiny = 1e-24;
    if (x->count < 2 || !(aa > tiny * x->aa) || !(bb > tiny * x->bb)) {
        return 0;
    }
    return (x->ab - x->a * x->b / n) / kk_sqrt(aa * bb);
}

// ---- the shift

/// Mean correlation of the columns at a shift; below −1 where less than half of the shorter one is shared.
static double likeness_at(const kk_series *a, const kk_series *b, double shift, int stride) {
    const double own = a->time[a->count - 1] - a->time[0], other = b->time[b->count - 1] - b->time[0];
    const double from = b->time[0] - shift > a->time[0] ? b->time[0] - shift : a->time[0];
    const double to =
        b->time[b->count - 1] - shift < a->time[a->count - 1] ? b->time[b->count - 1] - shift : a->time[a->count - 1];
    if (to - from < 0.5 * (own < other ? own : other)) {
        return -2;
    }
    double sum = 0;
    for (int k = 0; k < a->width; k++) {
        const sums x = sum_column(a, b, k, shift, stride);
        sum += correlation_of(&x);
    }
    return sum / a->width;
}

static int changes(const kk_series *s) {
    for (int i = 1; i < s->count; i++) {
        for (int k = 0; k < s->width; k++) {
            if (at_row(s, i, k) != at_row(s, 0, k)) {
                return 1;
            }
        }
    }
    return 0;
}

static kk_status check(const kk_series *s, const char *which, kk_error *error) {
    if (s->count < 2 || s->width < 1) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "compare: the %s series has %d rows and %d columns", which,
                             s->count, s->width);
    }
    for (int i = 0; i < s->count; i++) {
        if (!__builtin_isfinite(s->time[i]) || (i > 0 && !(s->time[i] > s->time[i - 1]))) {
            return kki_error_set(error, KK_INVALID_ARGUMENT,
                                 "compare: the times of the %s series do not rise at row %d", which, i);
        }
    }
    return KK_OK;
}

static kk_status check_both(const kk_series *a, const kk_series *b, kk_error *error) {
    kk_status status = check(a, "first", error);
    status = status ? status : check(b, "second", error);
    if (!status && a->width != b->width) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "compare: %d columns beside %d", a->width, b->width);
    }
    return status;
}

/// The best shift of a row of them around `middle`.
static double search_shifts(const kk_series *a, const kk_series *b, double middle, double step, int half, int stride,
                            double *best) {
    double at = middle;
    *best = -3;
    for (int i = -half; i <= half; i++) {
        const double shift = middle + i * step, r = likeness_at(a, b, shift, stride);
        if (r > *best) {
            *best = r;
            at = shift;
        }
    }
    return at;
}

/// The highest place between two shifts that have one peak between them.
static double golden_section(const kk_series *a, const kk_series *b, double low, double high) {
    const double part = 0.6180339887498949;
    double x[2] = {high - part * (high - low), low + part * (high - low)};
    double r[2] = {likeness_at(a, b, x[0], 1), likeness_at(a, b, x[1], 1)};
    for (int i = 0; i < FINE_ROUNDS; i++) {
        const int up = r[1] > r[0];
        *(up ? &low : &high) = x[!up];
        x[!up] = x[up];
        r[!up] = r[up];
        x[up] = up ? low + part * (high - low) : high - part * (high - low);
        r[up] = likeness_at(a, b, x[up], 1);
    }
    return 0.5 * (low + high);
}

kk_status kk_series_shift(const kk_series *a, const kk_series *b, double most, double *shift, kk_error *error) {
    if (kki_is_missing(a)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    const kk_status status = check_both(a, b, error);
    if (status) {
        return status;
    }
    if (!changes(a) || !changes(b) || !(most >= 0)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             most >= 0 ? "compare: nothing changes in one of both, so no shift of time can be told"
                                       : "compare: the largest shift is negative");
    }
    *shift = 0;
    if (most == 0) {
        return KK_OK;
    }
    const double row = (a->time[a->count - 1] - a->time[0]) / (a->count - 1);
    const double step = row > most / COARSE_SHIFTS ? row : most / COARSE_SHIFTS;
    const int half = most / step >= 1 ? (int)(most / step) : 0; // 0, too, where times are beyond what numbers can tell
    double best;
    *shift = search_shifts(a, b, 0, step, half, 1 + a->count / COARSE_ROWS, &best);
    if (best < -1) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "compare: the logs overlap by less than half of the shorter one; allow a larger shift");
    }
    *shift = golden_section(a, b, *shift - step, *shift + step);
    return KK_OK;
}

// ---- one column

kk_status kk_series_compare(const kk_series *a, const kk_series *b, int column, double shift, kk_likeness *likeness,
                            kk_error *error) {
    if (kki_is_missing(a)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    const kk_status status = check_both(a, b, error);
    if (status || column < 0 || column >= a->width) {
        return status ? status : kki_error_set(error, KK_NOT_FOUND, "compare: there is no column %d", column);
    }
    kk_likeness x = {0};
    double squares = 0, low = at_row(a, 0, column), high = low;
    int row = 0;
    for (int i = 0; i < a->count; i++) {
        const double time = a->time[i] + shift, own = at_row(a, i, column);
        low = own < low ? own : low;
        high = own > high ? own : high;
        if (!has_time(b, time)) {
            continue;
        }
        row = row_before(b, time, row);
        const double off = between(b, row, part_of(b, row, time), column) - own, size = off < 0 ? -off : off;
        squares += off * off;
        x.mean += off;
        x.peak_time = size > x.peak || x.count == 0 ? a->time[i] : x.peak_time;
        x.peak = size > x.peak ? size : x.peak;
        x.count++;
    }
    if (x.count == 0) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "compare: the logs have no time in common");
    }
    const sums s = sum_column(a, b, column, shift, 1);
    x.correlation = correlation_of(&s);
    x.rms = kk_sqrt(squares / x.count);
    x.mean /= x.count;
    x.span = high - low;
    *likeness = x;
    return KK_OK;
}
