/// SimBenchmark: the scenes of tools/cli/simbench in ours and in the engines found here, errors and times in one table.
///
///     simbench [--json FILE] [--cpu N] [--test NAME] [--dt S] [--limit S] [--repeats N] [--quick] [--strict]
///
/// Every engine runs the same description of a scene for its error, and again for its time, engine after engine in `--repeats` rounds,
/// of which the least CPU time counts. A run that takes longer than `--limit` seconds is broken off and judged by its time a step. Engines
/// take part in several variants, ours too: the best of ours must have the least error of all, and the fastest must be ours.
#include "machine.hpp"
#include "peers/simbench_peers.hpp"
#include "report.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace benchmarks;

namespace {

struct options {
    std::string json, test;
    int cpu = -1, repeats = 1;
    double limit = 30, dt = 0;
    bool quick = false, strict = false;
};

struct measured {
    std::string engine;
    simbench_result result;
    double microseconds = -1; ///< a step
};

struct row {
    const simbench_case *of;
    std::vector<measured> engine; ///< ours first
    bool least_error = true, fastest = true;
};

std::vector<const simbench_engine *> all_engines() {
    std::vector<const simbench_engine *> all = {&simbench_ours, &simbench_ours_midpoint, &simbench_ours_sweeps,
                                                &simbench_ours_coarse};
    const auto add = [&all](const std::vector<const simbench_engine *> &more) {
        all.insert(all.end(), more.begin(), more.end());
    };
    add(peers::simbench_of_mujoco());
#ifdef KK_WITH_ODE
    add(peers::simbench_of_ode());
#endif
#ifdef KK_WITH_BULLET
    add(peers::simbench_of_bullet());
#endif
#ifdef KK_WITH_DART
    add(peers::simbench_of_dart());
#endif
    return all;
}

bool is_cut(const simbench_result &r) {
    return std::strncmp(r.trouble, "broken off", 10) == 0;
}

void keep_best(measured &m, const simbench_result &r) {
    m.result.error = r.error >= 0 ? r.error : m.result.error;
    std::memcpy(m.result.trouble, r.trouble, sizeof r.trouble);
    const double each = r.seconds >= 0 && r.steps > 0 ? 1e6 * r.seconds / static_cast<double>(r.steps) : -1;
    if (each >= 0 && (m.microseconds < 0 || each < m.microseconds)) {
        m.microseconds = each;
        m.result.seconds = r.seconds;
        m.result.steps = r.steps;
    }
}

/// An engine whose scene failed (a robot that fell, a step that blew up) wins nothing.
bool counts(const measured &m) {
    return !m.result.trouble[0] || is_cut(m.result);
}

bool is_ours(const measured &m) {
    return m.engine.rfind("Karakuri", 0) == 0;
}

/// The best error of ours or of the others; NaN: none.
double best_error(const row &r, bool ours) {
    double best = NAN;
    for (const measured &m : r.engine) {
        const double e = m.result.error;
        if (is_ours(m) == ours && counts(m) && !is_cut(m.result) && e >= 0) {
            best = std::isnan(best) || (r.of->more_is_better ? e > best : e < best) ? e : best;
        }
    }
    return best;
}

/// The best time, likewise; a tower that has fallen is no yardstick.
double best_time(const row &r, bool ours) {
    const double stood = best_error(r, true);
    double best = NAN;
    for (const measured &m : r.engine) {
        const bool fits = !r.of->more_is_better || m.result.error >= stood;
        if (is_ours(m) == ours && counts(m) && fits && m.microseconds >= 0) {
            best = std::isnan(best) || m.microseconds < best ? m.microseconds : best;
        }
    }
    return best;
}

void judge(row &r) {
    const double error = best_error(r, true), theirs = best_error(r, false);
    const bool is_best = r.of->more_is_better ? error >= theirs : error <= theirs;
    r.least_error = std::isnan(theirs) || is_best;
    r.fastest = !(best_time(r, false) < best_time(r, true)) && !std::isnan(best_time(r, true));
}

row race(const simbench_case &c, const options &o) {
    row r{&c, {}};
    for (const simbench_engine *e : all_engines()) {
        r.engine.push_back({e->name, {-1, -1, 0, {0}}});
    }
    for (int turn = 0; turn < o.repeats; turn++) {
        std::size_t i = 0;
        for (const simbench_engine *e : all_engines()) {
            keep_best(r.engine[i++], simbench_measure(&c, e, o.limit));
        }
    }
    judge(r);
    return r;
}

void print(const row &r) {
    std::printf("\n%s, dt %g%s%s: %s; %s\n", r.of->test, r.of->dt, r.of->robots ? ", robots " : "",
                r.of->robots ? std::to_string(r.of->robots).c_str() : "",
                r.least_error ? "least error" : "NOT THE LEAST ERROR", r.fastest ? "fastest" : "NOT THE FASTEST");
    std::printf("  %-20s %12s %12s %10s   %s\n", "", "error", "us a step", "s", r.of->about);
    for (const measured &m : r.engine) {
        std::printf("  %-20s ", m.engine.c_str());
        m.result.error >= 0 ? std::printf("%12.3g ", m.result.error) : std::printf("%12s ", "-");
        m.microseconds >= 0 ? std::printf("%12.2f %10.3f", m.microseconds, m.result.seconds)
                            : std::printf("%12s %10s", "-", "-");
        std::printf("   %s\n", m.result.trouble);
    }
    for (int i = 0; i < SIMBENCH_ENGINES; i++) {
        if (r.of->published.error[i] >= 0 || r.of->published.seconds[i] >= 0) {
            std::printf("  %-20s ", (std::string(simbench_published_names[i]) + ", published").c_str());
            r.of->published.error[i] >= 0 ? std::printf("%12.3g ", r.of->published.error[i])
                                          : std::printf("%12s ", "-");
            r.of->published.seconds[i] >= 0 ? std::printf("%12s %10.3f\n", "", r.of->published.seconds[i])
                                            : std::printf("\n");
        }
    }
    std::fflush(stdout);
}

std::string number(double x) {
    char text[40];
    std::snprintf(text, sizeof text, "%.6g", x);
    return x >= 0 ? text : "null";
}

bool write_rows(const std::string &path, const std::vector<row> &rows) {
    std::FILE *f = std::fopen(path.c_str(), "w");
    if (!f) {
        return false;
    }
    std::fprintf(f, "{\n  \"cases\": [\n");
    for (std::size_t i = 0; i < rows.size(); i++) {
        const row &r = rows[i];
        std::fprintf(
            f, "    {\"test\": %s, \"dt\": %g, \"robots\": %d, \"least_error\": %s, \"fastest\": %s, \"engines\": [",
            quoted(r.of->test).c_str(), r.of->dt, r.of->robots, r.least_error ? "true" : "false",
            r.fastest ? "true" : "false");
        for (std::size_t k = 0; k < r.engine.size(); k++) {
            const measured &m = r.engine[k];
            std::fprintf(f, "%s{\"engine\": %s, \"error\": %s, \"us_a_step\": %s, \"trouble\": %s}", k ? ", " : "",
                         quoted(m.engine).c_str(), number(m.result.error).c_str(), number(m.microseconds).c_str(),
                         quoted(m.result.trouble).c_str());
        }
        std::fprintf(f, "]}%s\n", i + 1 < rows.size() ? "," : "");
    }
    std::fprintf(f, "  ]\n}\n");
    return std::fclose(f) == 0;
}

options parse(int count, char **words) {
    options o;
    for (int i = 1; i < count; i++) {
        const std::string word = words[i];
        const auto value = [&]() -> std::string {
            if (i + 1 == count) {
                std::fprintf(stderr, "simbench: %s needs a value\n", word.c_str());
                std::exit(2);
            }
            return words[++i];
        };
        if (word == "--json") {
            o.json = value();
        } else if (word == "--test") {
            o.test = value();
        } else if (word == "--dt") {
            o.dt = std::atof(value().c_str());
        } else if (word == "--cpu") {
            o.cpu = std::atoi(value().c_str());
        } else if (word == "--repeats") {
            o.repeats = std::atoi(value().c_str());
        } else if (word == "--limit") {
            o.limit = std::atof(value().c_str());
        } else if (word == "--models" || word == "--work") {
            value(); // of the other programs
        } else if (word == "--quick") {
            o.quick = true;
        } else if (word == "--strict") {
            o.strict = true;
        } else {
            std::fprintf(stderr, "simbench: unknown option %s\n", word.c_str());
            std::exit(2);
        }
    }
    return o;
}

} // namespace

int main(int count, char **words) {
    const options o = parse(count, words);
    std::vector<row> rows;
    int missed = 0;
    pin_to_cpu(o.cpu);
    for (const simbench_case *c = simbench_cases; c->test; c++) {
        if ((o.test.empty() || o.test == c->test) && (o.dt == 0 || o.dt == c->dt) && (!o.quick || c->is_quick)) {
            rows.push_back(race(*c, o));
            print(rows.back());
            missed += !rows.back().least_error + !rows.back().fastest;
        }
    }
    std::printf("\n%d of %zu columns are not ours\n", missed, 2 * rows.size());
    if (!o.json.empty() && !write_rows(o.json, rows)) {
        std::fprintf(stderr, "simbench: cannot write %s\n", o.json.c_str());
        return 2;
    }
    return o.strict && missed ? 1 : 0;
}
