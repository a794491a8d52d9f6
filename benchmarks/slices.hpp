/// Timing of deterministic runs: worlds take turns run by run, the whole is repeated, each slice's least counts.
///
/// A simulation cannot be repeated step by step as a function call can; but every repetition of the run does the same
/// work in the same slice, so the least over repetitions is that slice's time without interruptions. CPU time of the
/// thread, so that other programs on the machine count little. A run is whole because nobody who simulates changes engines
/// every few dozen steps: each would begin with the other's code and data in the caches. Runs of robots take milliseconds, and the
/// clock's drift is slower than that.
#ifndef KARAKURI_BENCHMARKS_SLICES_HPP
#define KARAKURI_BENCHMARKS_SLICES_HPP

#include "peers/world.hpp"

#include <algorithm>
#include <ctime>
#include <vector>

namespace benchmarks {

inline double cpu_seconds() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// What to run: `control` holds a row of `width` numbers a step.
struct course {
    int steps = 0, width = 0, slice = 25;
    std::vector<double> control;
    const double *at(int step) const {
        return control.data() + static_cast<std::ptrdiff_t>(step) * width;
    }
};

/// One world's part in a race.
struct runner {
    peers::world *world = nullptr;
    int steps = 0; ///< good ones in every repetition
    std::vector<double> least;

    double seconds_a_step() const {
        double sum = 0;
        for (double t : least) {
            sum += t;
        }
        return steps > 0 ? sum / steps : 0;
    }
};

inline void run_slice(runner &r, const course &c, int first, std::size_t slice) {
    const int last = std::min(first + c.slice, r.steps);
    if (first >= last) {
        return;
    }
    const double start = cpu_seconds();
    for (int i = first; i < last; i++) {
        r.world->step(c.at(i));
    }
    const double taken = cpu_seconds() - start;
    if (slice == r.least.size()) {
        r.least.push_back(taken);
    } else {
        r.least[slice] = std::min(r.least[slice], taken);
    }
}

/// Runs all of them `repeats` times, in turn. Steps beyond a runner's `steps` are left out.
inline void race(std::vector<runner> &all, const course &c, int repeats) {
    for (int repeat = 0; repeat < repeats; repeat++) {
        for (runner &r : all) {
            r.world->reset();
            std::size_t slice = 0;
            for (int first = 0; first < c.steps; first += c.slice, slice++) {
                run_slice(r, c, first, slice);
            }
        }
    }
}

} // namespace benchmarks
#endif
