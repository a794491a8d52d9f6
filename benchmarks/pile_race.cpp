/// Piles beside the peers: a hundred mixed bodies and 216 spheres in a bin.
///
///   pile_race [--scene NAME] [--repeats N] [--settle SECONDS] [--work FOLDER] [--json FILE] [--seed N] [--stages] [--strict]
///
/// Settled: ours certified to 1e-6 beside each solver of MuJoCo, the fastest counts. Falling: the same with at most 60 factors an island (max_newton); what they
/// leave above 1e-6 is taken as it is, and every such step is named.
/// Budget: ten sweeps, and only what overlaps touches, beside ODE and Bullet with ten. All run from the same start in slices, see slices.hpp.
#include "machine.hpp"
#include "report.hpp"
#include "slices.hpp"
#include "texts.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

using namespace benchmarks;
using namespace peers;

namespace {

constexpr double tolerance = 1e-6;
constexpr int most_factors = 60; // of an island of a falling pile

struct options {
    std::string only, work = ".", json;
    int repeats = 5;
    unsigned seed = 1; ///< of the places that bodies fall from
    double settle = 6;
    bool strict = false, stages = false;
};

struct heap {
    const char *name;
    bricks what;
    double falls; ///< s
};

struct contender {
    std::string engine;
    std::unique_ptr<world> w;
};

struct verdict {
    std::string name;
    double ratio, bar, certified; ///< share of steps; 1 where nothing is to be certified
    bool holds() const {
        return ratio >= bar && certified >= 0.95;
    }
};

std::string write_text(const options &o, const heap &h) {
    const std::string path = o.work + "/" + h.name + ".xml";
    std::ofstream file(path);
    file << mjcf_of(h.what);
    if (!file.flush()) {
        throw std::runtime_error("cannot write " + path);
    }
    return path;
}

/// Every MuJoCo solver as a contender of its own.
void add_mujoco(const std::string &path, start from, std::vector<contender> &all) {
    static const char *const names[] = {"MuJoCo PGS", "MuJoCo CG", "MuJoCo Newton"};
    for (from.solver = 0; from.solver < 3; from.solver++) {
        all.push_back({names[from.solver], make_mujoco_world(path, from)});
    }
}

void add_sweepers(const heap &h, std::vector<contender> &all) {
    (void)h;
    (void)all;
#ifdef KK_WITH_ODE
    all.push_back({"ODE", make_ode_world(h.what)});
#endif
#ifdef KK_WITH_BULLET
    all.push_back({"Bullet", make_bullet_world(h.what)});
#endif
}

void name_missed(const our_world &ours, int steps) {
    std::printf("%12s steps not certified to %g: %zu of %d", "", tolerance, ours.missed.size(), steps);
    for (std::size_t i = 0; i < ours.missed.size() && i < 200; i++) {
        std::printf("%s%d", i ? " " : ": ", ours.missed[i]);
    }
    std::printf("\n");
}

/// Where our time goes, µs a step: the least of some runs.
void show_stages(our_world &ours, const course &c) {
    std::vector<double> least(ours.seconds.size(), 1e300);
    ours.use_clock(true);
    for (int repeat = 0; repeat < 3; repeat++) {
        ours.reset();
        for (int i = 0; i < c.steps; i++) {
            ours.step(c.at(0));
        }
        for (std::size_t k = 0; k < least.size(); k++) {
            least[k] = std::min(least[k], 1e6 * ours.seconds[k].second / c.steps);
        }
    }
    std::printf(" ");
    for (std::size_t k = 0; k < least.size(); k++) {
        std::printf(" %s %.1f", ours.seconds[k].first.c_str(), least[k]);
    }
    std::printf("; sweeps %.1f, Newton %.2f a step\n", static_cast<double>(ours.sweeps) / c.steps,
                static_cast<double>(ours.newton) / c.steps);
    ours.use_clock(false);
}

/// Ours is the first of all.
verdict run(const options &o, const std::string &name, our_world &ours, std::vector<contender> &all, int steps,
            double bar) {
    course c;
    c.steps = steps;
    c.control.assign(1, 0);
    std::vector<runner> runners = {{&ours, steps, {}}};
    for (contender &one : all) {
        runners.push_back({one.w.get(), steps, {}});
    }
    race(runners, c, o.repeats);
    const double own = 1e6 * runners[0].seconds_a_step();
    verdict r = {name, 1e300, bar, 1 - static_cast<double>(ours.missed.size()) / steps};
    std::printf("%-20s %9.1f us, %d contacts\n", name.c_str(), own, ours.contacts());
    for (std::size_t i = 0; i < all.size(); i++) {
        const double t = 1e6 * runners[i + 1].seconds_a_step();
        std::printf("  %-18s %9.1f us, %.2f x ours, %d contacts\n", all[i].engine.c_str(), t, t / own,
                    all[i].w->contacts());
        r.ratio = std::min(r.ratio, t / own);
    }
    if (bar > 0 && !ours.missed.empty()) {
        name_missed(ours, steps);
    }
    if (o.stages) {
        show_stages(ours, c);
    }
    std::printf("  %-18s %9.2f, bar %g  %s\n", "ratio", r.ratio, bar, r.holds() ? "ok" : "MISSED");
    std::fflush(stdout);
    return r;
}

int steps_of(const heap &h, double seconds) {
    return static_cast<int>(std::lround(seconds / h.what.timestep));
}

void race_heap(const options &o, const heap &h, std::vector<verdict> &results) {
    const std::string path = write_text(o, h), name = h.name;
    const auto wanted = [&](const std::string &what) { return o.only.empty() || what.find(o.only) != what.npos; };
    start from;
    std::vector<contender> all;
    if (wanted(name + " budget")) {
        from.budget = 10;
        const auto ours = make_our_world(path, from);
        add_sweepers(h, all);
        results.push_back(run(o, name + " budget", *ours, all, steps_of(h, h.falls), 1));
    }
    from.budget = 0;
    from.tolerance = tolerance;
    if (wanted(name + " falling")) {
        from.factors = most_factors;
        const auto ours = make_our_world(path, from);
        from.factors = 0;
        all.clear();
        add_mujoco(path, from, all);
        results.push_back(run(o, name + " falling", *ours, all, steps_of(h, h.falls), 1));
    }
    if (wanted(name + " settled")) {
        from.settle = steps_of(h, o.settle);
        const auto ours = make_our_world(path, from);
        all.clear();
        add_mujoco(path, from, all);
        results.push_back(run(o, name + " settled", *ours, all, 200, 5));
    }
}

options read_options(int argc, char **argv) {
    options o;
    for (int i = 1; i < argc; i++) {
        const std::string key = argv[i];
        if (key == "--strict" || key == "--stages") {
            (key == "--strict" ? o.strict : o.stages) = true;
            continue;
        }
        const std::string value = i + 1 < argc ? argv[++i] : "";
        if (key == "--scene") {
            o.only = value;
        } else if (key == "--repeats" && std::atoi(value.c_str()) > 0) {
            o.repeats = std::atoi(value.c_str());
        } else if (key == "--settle") {
            o.settle = std::atof(value.c_str());
        } else if (key == "--work") {
            o.work = value;
        } else if (key == "--seed" && std::atoi(value.c_str()) > 0) {
            o.seed = static_cast<unsigned>(std::atoi(value.c_str()));
        } else if (key == "--json") {
            o.json = value;
        } else {
            std::fprintf(stderr, "usage: pile_race [--scene NAME] [--repeats N] [--settle SECONDS] [--work FOLDER] "
                                 "[--json FILE] [--seed N] [--stages] [--strict]\n");
            std::exit(2);
        }
    }
    return o;
}

bool write_json(const std::string &path, const std::vector<verdict> &results) {
    std::ofstream file(path);
    file << "{\"piles\": [";
    for (std::size_t i = 0; i < results.size(); i++) {
        const verdict &r = results[i];
        file << (i ? ",\n  " : "\n  ") << "{\"scene\": " << quoted(r.name) << ", \"ratio\": " << r.ratio
             << ", \"bar\": " << r.bar << ", \"certified\": " << r.certified
             << ", \"holds\": " << (r.holds() ? "true" : "false") << "}";
    }
    file << "\n]}\n";
    return static_cast<bool>(file.flush());
}

} // namespace

int main(int argc, char **argv) {
    const options o = read_options(argc, argv);
    const heap heaps[] = {{"pile100", pile100(o.seed), 1}, {"bin216", bin216(o.seed), 0.8}};
    std::vector<verdict> results;
    try {
        for (const heap &h : heaps) {
            race_heap(o, h, results);
        }
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "pile_race: %s\n", problem.what());
        return 1;
    }
    bool all = true;
    for (const verdict &r : results) {
        all = all && r.holds();
    }
    if (!o.json.empty() && !write_json(o.json, results)) {
        return 1;
    }
    return o.strict && !all ? 1 : 0;
}
