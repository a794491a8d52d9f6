// Nice ticks. A tick is made as text, digits and exponent, and read back, so that it is the double next to its decimal: 0.3, not 3 · 0.1.
#include <karakuri/elementary.h>
#include <karakuri/number.h>
#include <stdio.h>
#include <stdlib.h>

#include "plot.h"

/// digits · 10^exponent
static double decimal(long long digits, int exponent) {
    char text[64];
    double value = 0;
    const int length = snprintf(text, sizeof text, "%llde%d", digits, exponent);
    kk_number_parse(text, (size_t)length, &value, NULL);
    return value;
}

/// The exponent of the largest power of ten that is not above x > 0.
static int exponent_of(double x) {
    int e = (int)kk_floor(kk_log(x) / 2.302585092994046); // off by one at most
    while (decimal(1, e) > x) {
        e--;
    }
    while (e < 308 && decimal(1, e + 1) <= x) {
        e++;
    }
    return e;
}

static void add_tick(plot_ticks *t, double at) {
    t->at = cli_reallocate(t->at, (size_t)t->count + 1, sizeof *t->at);
    t->at[t->count++] = at;
}

static double clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

/// A span that can be divided: not empty, not the whole range of doubles, not below rounding.
static void open_span(double *low, double *high) {
    *low = clamp(*low, -1e300, 1e300);
    *high = clamp(*high, -1e300, 1e300);
    const double size = kk_hypot(*low, *high);
    if (!(*high - *low > 1e-9 * size && size > 1e-280)) {
        const double half = size > 1e-280 ? 0.1 * size : 1;
        *low -= half;
        *high += half;
    }
}

plot_ticks plot_linear_ticks(double low, double high, int wanted, bool is_fixed) {
    plot_ticks t = {0};
    open_span(&low, &high);
    const double rough = (high - low) / (wanted > 0 ? wanted : 1);
    const int e = exponent_of(rough);
    const double mantissa = rough / decimal(1, e);
    const long long step = mantissa <= 1.5 ? 1 : mantissa <= 3.5 ? 2 : mantissa <= 7.5 ? 5 : 10;
    const double width = decimal(step, e);
    // a tick that an end misses by rounding counts
    const double first = is_fixed ? kk_ceil(low / width - 1e-6) : kk_floor(low / width + 1e-6);
    const double last = is_fixed ? kk_floor(high / width + 1e-6) : kk_ceil(high / width - 1e-6);
    for (long long k = (long long)first; k <= (long long)last && t.count < 1000; k++) {
        add_tick(&t, decimal(k * step, e));
    }
    t.low = is_fixed || !t.count ? low : t.at[0];
    t.high = is_fixed || !t.count ? high : t.at[t.count - 1];
    return t;
}

plot_ticks plot_log_ticks(double low, double high, bool is_fixed) {
    plot_ticks t = {0};
    low = low > 1e-300 ? low < 1e299 ? low : 1e299 : 1e-300;
    high = high > low ? high < 1e300 ? high : 1e300 : 10 * low;
    const int first = exponent_of(low), last = exponent_of(high) + (decimal(1, exponent_of(high)) < high);
    const int skip = (last - first) / 10 + 1; // at most about ten powers
    static const int few[] = {1, 2, 5};
    const int between = last - first <= 2 ? 3 : 1;
    for (int e = first; e <= last; e += skip) {
        for (int k = 0; k < between; k++) {
            const double at = decimal(few[k], e);
            if (is_fixed ? at >= low && at <= high : e < last || k == 0) {
                add_tick(&t, at);
            }
        }
    }
    t.low = is_fixed ? low : decimal(1, first);
    t.high = is_fixed ? high : decimal(1, last);
    return t;
}
