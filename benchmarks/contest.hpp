/// Timing side by side: contestants take turns, the best of many short rounds counts.
///
/// Taking turns makes a slow spell of the machine hit everyone; the minimum leaves interruptions out, and the thread's own
/// clock what others do on the machine. Each round lasts at least `round_seconds`, so the clock's own cost does not show.
#ifndef KARAKURI_BENCHMARKS_CONTEST_HPP
#define KARAKURI_BENCHMARKS_CONTEST_HPP

#include <algorithm>
#include <functional>
#include <vector>

#include "slices.hpp"

namespace benchmarks {

class contest {
  public:
    contest(int turns_each, double seconds_a_round) : turns(turns_each), round_seconds(seconds_a_round) {
    }

    /// @param run    does the work `n` times over    @param calls  how many calls doing it once is
    /// @return the contestant's number
    std::size_t enter(std::function<void(int)> run, int calls) {
        all.push_back({std::move(run), calls, 1, 1e300});
        return all.size() - 1;
    }

    void hold() {
        for (contestant &c : all) {
            warm_up(c);
        }
        for (int turn = 0; turn < turns; turn++) {
            for (contestant &c : all) {
                c.best = std::min(c.best, seconds(c) / (static_cast<double>(c.repeats) * c.calls));
            }
        }
    }

    double nanoseconds(std::size_t contestant_number) const {
        return all[contestant_number].best * 1e9;
    }

  private:
    struct contestant {
        std::function<void(int)> run;
        int calls, repeats;
        double best;
    };

    static double seconds(contestant &c) {
        const double start = cpu_seconds();
        c.run(c.repeats);
        return cpu_seconds() - start;
    }
    // as many repeats as fill a round
    void warm_up(contestant &c) {
        while (seconds(c) < round_seconds && c.repeats < (1 << 24)) {
            c.repeats *= 2;
        }
    }

    int turns;
    double round_seconds;
    std::vector<contestant> all;
};

} // namespace benchmarks
#endif
