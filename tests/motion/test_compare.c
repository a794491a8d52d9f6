// Two logs beside each other: a shift of the clock that was put in, figures by closed form, what is refused.
#include <karakuri/compare.h>
#include <karakuri/random.h>
#include <math.h>
#include <string.h>

#include "harness.h"

enum { ROWS = 1500, WIDTH = 2 };

typedef struct rows {
    double time[ROWS], value[ROWS * WIDTH];
} rows;

/// Two columns of a motion, from a time on, at a step.
static kk_series fill(rows *r, double from, double step, double ahead) {
    for (int i = 0; i < ROWS; i++) {
        r->time[i] = from + i * step;
        const double t = r->time[i] - ahead;
        r->value[i * WIDTH] = sin(3 * t) + 0.3 * sin(11 * t + 1);
        r->value[i * WIDTH + 1] = 40 + 5 * cos(2 * t) * exp(-0.1 * t);
    }
    return (kk_series){ROWS, WIDTH, r->time, r->value};
}

// a clock that is 0.1234 s behind, another rate, noise of 1 %
KK_TEST(compare_finds_the_shift) {
    static rows a, b;
    kk_error error = {0};
    const kk_series sim = fill(&a, 0, 0.004, 0), robot = fill(&b, 0.05, 0.005, 0.1234);
    double shift = 0;
    KK_CHECK_EQ_INT(kk_series_shift(&sim, &robot, 0.5, &shift, &error), KK_OK);
    KK_CHECK_NEAR(shift, 0.1234, 1e-4);
    for (int i = 0; i < ROWS * WIDTH; i++) {
        b.value[i] += 0.05 * kk_random_normal_at(3, 0, (uint64_t)i);
    }
    KK_CHECK_EQ_INT(kk_series_shift(&sim, &robot, 0.5, &shift, &error), KK_OK);
    KK_CHECK_NEAR(shift, 0.1234, 2e-3);
    KK_CHECK_EQ_INT(kk_series_shift(&robot, &sim, 0.5, &shift, &error), KK_OK);
    KK_CHECK_NEAR(shift, -0.1234, 2e-3);
}

// a column with an offset of 0.25: mean, root mean square and peak are that, the correlation is one
KK_TEST(compare_tells_the_difference) {
    static rows a, b;
    kk_error error = {0};
    kk_likeness x = {0};
    const kk_series sim = fill(&a, 0, 0.004, 0), robot = fill(&b, 0, 0.004, 0);
    for (int i = 0; i < ROWS; i++) {
        b.value[i * WIDTH] += 0.25;
    }
    b.value[700 * WIDTH] += 1;
    KK_CHECK_EQ_INT(kk_series_compare(&sim, &robot, 0, 0, &x, &error), KK_OK);
    KK_CHECK_NEAR(x.peak, 1.25, 1e-12);
    KK_CHECK_NEAR(x.peak_time, 700 * 0.004, 1e-12);
    KK_CHECK_NEAR(x.mean, 0.25 + 1.0 / ROWS, 1e-12);
    KK_CHECK_NEAR(x.rms, sqrt((ROWS - 1) * 0.0625 / ROWS + 1.5625 / ROWS), 1e-12);
    KK_CHECK(x.correlation > 0.998 && x.correlation < 1);
    KK_CHECK_EQ_INT(x.count, ROWS);
    KK_CHECK_EQ_INT(kk_series_compare(&sim, &robot, 1, 0, &x, &error), KK_OK);
    KK_CHECK_NEAR(x.correlation, 1, 1e-12);
    KK_CHECK_NEAR(x.rms, 0, 1e-12);
    double both[WIDTH];
    kk_series_sample(&sim, 0.006, both);
    KK_CHECK_NEAR(both[0], 0.5 * (a.value[WIDTH] + a.value[2 * WIDTH]), 1e-15);
    kk_series_sample(&sim, -1, both);
    KK_CHECK_BITS(both[0], a.value[0]);
}

KK_TEST(compare_refuses) {
    static rows a, b;
    kk_error error = {0};
    kk_likeness x;
    double shift;
    kk_series sim = fill(&a, 0, 0.004, 0), robot = fill(&b, 100, 0.004, 100);
    KK_CHECK_EQ_INT(kk_series_shift(&sim, &robot, 1, &shift, &error), KK_INVALID_ARGUMENT);
    KK_CHECK(strstr(error.text, "overlap"));
    KK_CHECK_EQ_INT(kk_series_compare(&sim, &robot, 0, 0, &x, &error), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_series_compare(&sim, &robot, 2, 100, &x, &error), KK_NOT_FOUND);
    KK_CHECK_EQ_INT(kk_series_shift(&sim, &robot, 200, &shift, &error), KK_OK);
    b.time[3] = b.time[2];
    KK_CHECK_EQ_INT(kk_series_shift(&sim, &robot, 200, &shift, &error), KK_INVALID_ARGUMENT);
    memset(a.value, 0, sizeof a.value);
    robot = fill(&b, 0, 0.004, 0);
    KK_CHECK_EQ_INT(kk_series_shift(&sim, &robot, 1, &shift, &error), KK_INVALID_ARGUMENT);
    KK_CHECK(strstr(error.text, "nothing changes"));
}
