/// Controls by start and regime, and the clock.
#include "zoo.h"

#include <math.h>
#include <time.h>

const char *const zoo_regime_name[ZOO_REGIME_COUNT] = {"zero", "hold", "random"};

void zoo_control(const zoo_course *course, const zoo_row *row, int step, const double *held, double *control) {
    const double interval = 0.05; // s
    const int counter = (int)floor(step * course->timestep / interval + 1e-6);
    for (int i = 0; i < course->actuators; i++) {
        const double share = kk_random_uniform_at((uint64_t)row->seed, (uint64_t)i, (uint64_t)counter);
        control[i] = row->regime == ZOO_RANDOM ? course->lower[i] + share * (course->upper[i] - course->lower[i])
                     : row->regime == ZOO_HOLD && held ? held[i]
                                                       : 0;
    }
}

double zoo_thread_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double zoo_clock_cost(void) {
    double least = 1;
    for (int i = 0; i < 2000; i++) {
        const double start = zoo_thread_seconds(), taken = zoo_thread_seconds() - start;
        least = taken < least ? taken : least;
    }
    return least;
}
