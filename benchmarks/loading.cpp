/// Loading robots: ours (kk_load_file and kk_model_compile) beside MuJoCo's mj_loadXML, and chains of up to 100 000 links.
///
///     loading [--json FILE] [--cpu N] [--turns N] [--models FOLDER] [--work FOLDER] [--strict]
///
/// Both load the very same file, with all its meshes and nothing kept from before, and must agree on mass and degrees of freedom. JVRC-1 is a URDF
/// with COLLADA meshes, which MuJoCo does not read: it gets Panda's and ANYmal's MJCF to be compared with, and the time of
/// JVRC-1 stands beside its Panda.
#include "machine.hpp"
#include "report.hpp"
#include "slices.hpp"
#include "texts.hpp"

#include <karakuri/load.h>
#include <karakuri/model.h>
#include <mujoco/mujoco.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

using namespace benchmarks;

namespace {

struct options {
    std::string json, models = "../shared/models", work = ".";
    int cpu = -1, turns = 5;
    bool strict = false;
};

struct facts {
    int nv = 0;
    double mass = 0;
};

facts load_ours(const std::string &path) {
    kk_spec *spec = nullptr;
    kk_model *model = nullptr;
    kk_error error = {};
    kk_status status = kk_load_file(path.c_str(), nullptr, nullptr, &spec, nullptr, &error);
    status = status == KK_OK ? kk_model_compile(spec, nullptr, &model, &error) : status;
    kk_spec_free(spec);
    if (status != KK_OK) {
        throw std::runtime_error(error.text);
    }
    const facts f = {kk_model_nv(model), kk_model_mass(model)};
    kk_model_free(model);
    return f;
}

facts load_mujoco(const std::string &path) {
    char error[1000] = "";
    mjModel *m = mj_loadXML(path.c_str(), nullptr, error, sizeof error);
    if (!m) {
        throw std::runtime_error(error);
    }
    const facts f = {static_cast<int>(m->nv), mj_getTotalmass(m)};
    mj_deleteModel(m);
    return f;
}

double process_seconds() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// One load, with the whole process's CPU time: MuJoCo compiles meshes on several threads.
template <typename F> double timed(F load, const std::string &path, facts *result) {
    const double start = process_seconds();
    *result = load(path);
    return process_seconds() - start;
}

struct row {
    std::string name, problem, peer_problem;
    double ours = 1e300, theirs = 1e300; ///< s
    double bar = 0;                      ///< least ratio; 0: none
    bool has_peer = false;
    double ratio() const {
        return has_peer ? theirs / ours : 0;
    }
    bool holds() const {
        return problem.empty() && (bar == 0 || !has_peer || ratio() >= bar);
    }
};

row compare(const options &o, const std::string &name, const std::string &path, double bar) {
    row r;
    r.name = name;
    r.bar = bar;
    if (!std::ifstream(path)) {
        r.problem = "skipped: no " + path;
        return r;
    }
    facts mine, peers;
    for (int turn = 0; turn < o.turns; turn++) {
        try {
            r.ours = std::min(r.ours, timed(load_ours, path, &mine));
        } catch (const std::exception &e) {
            r.problem = std::string("FAILED: ") + e.what();
            return r;
        }
        try {
            r.theirs = r.peer_problem.empty() ? std::min(r.theirs, timed(load_mujoco, path, &peers)) : r.theirs;
            r.has_peer = r.peer_problem.empty();
        } catch (const std::exception &e) {
            r.peer_problem = e.what();
        }
    }
    if (r.has_peer && (mine.nv != peers.nv || std::abs(mine.mass - peers.mass) > 1e-6 * peers.mass)) {
        r.problem = "DISAGREE: nv " + std::to_string(mine.nv) + ", " + std::to_string(peers.nv) + "; mass " +
                    std::to_string(mine.mass) + ", " + std::to_string(peers.mass);
    }
    return r;
}

void print(const row &r) {
    if (!r.problem.empty()) {
        std::printf("%-28s %s\n", r.name.c_str(), r.problem.c_str());
        return;
    }
    std::printf("%-28s %10.2f ", r.name.c_str(), 1e3 * r.ours);
    if (r.has_peer) {
        std::printf("%10.2f %7.2f %4.1f %s\n", 1e3 * r.theirs, r.ratio(), r.bar,
                    r.bar == 0  ? ""
                    : r.holds() ? "ok"
                                : "MISSED");
    } else {
        std::printf("         – MuJoCo: %s\n", r.peer_problem.c_str());
    }
    std::fflush(stdout);
}

// ---- chains

struct growth {
    std::string format;
    std::vector<int> links;
    std::vector<double> microseconds; ///< a link
    std::string problem;
    /// Linear: the longest chain, which is in no cache, may cost at most twice as much a link as the cheapest.
    bool holds() const {
        return problem.empty() && !microseconds.empty() &&
               microseconds.back() <= 2 * *std::min_element(microseconds.begin(), microseconds.end());
    }
};

growth measure_chains(const options &o, const std::string &format, std::string (*text)(int),
                      const std::vector<int> &lengths) {
    growth g;
    g.format = format;
    for (const int n : lengths) {
        const std::string path = o.work + "/chain" + std::to_string(n) + (format == "URDF" ? ".urdf" : ".xml");
        std::ofstream(path) << text(n);
        double least = 1e300;
        facts f;
        try {
            for (int turn = 0; turn < o.turns; turn++) {
                least = std::min(least, timed(load_ours, path, &f));
            }
        } catch (const std::exception &e) {
            g.problem = std::to_string(n) + " links: " + e.what();
            break;
        }
        if (f.nv != n) {
            g.problem = std::to_string(n) + " links gave " + std::to_string(f.nv) + " degrees of freedom";
            break;
        }
        g.links.push_back(n);
        g.microseconds.push_back(1e6 * least / n);
    }
    return g;
}

void print(const growth &g) {
    std::printf("chain as %-5s", g.format.c_str());
    for (std::size_t i = 0; i < g.links.size(); i++) {
        std::printf("  %d: %.2f", g.links[i], g.microseconds[i]);
    }
    std::printf("  %s %s\n", g.holds() ? "ok" : "MISSED", g.problem.c_str());
}

// ---- the whole

bool write_loading_json(const std::string &path, const std::vector<row> &rows, const std::vector<growth> &chains) {
    std::FILE *f = std::fopen(path.c_str(), "w");
    if (!f) {
        return false;
    }
    std::fprintf(f, "{\n  \"loading\": [\n");
    for (std::size_t i = 0; i < rows.size(); i++) {
        const row &r = rows[i];
        std::fprintf(f,
                     "    {\"model\": %s, \"ours_ms\": %.5g, \"mujoco_ms\": %.5g, \"bar\": %.3g, \"holds\": %s, "
                     "\"problem\": %s}%s\n",
                     quoted(r.name).c_str(), r.problem.empty() ? 1e3 * r.ours : 0, r.has_peer ? 1e3 * r.theirs : 0,
                     r.bar, r.holds() ? "true" : "false", quoted(r.problem).c_str(), i + 1 < rows.size() ? "," : "");
    }
    std::fprintf(f, "  ],\n  \"chains\": [\n");
    for (std::size_t i = 0; i < chains.size(); i++) {
        const growth &g = chains[i];
        std::fprintf(f, "    {\"format\": %s, \"links\": %s, \"us_a_link\": %s, \"holds\": %s}%s\n",
                     quoted(g.format).c_str(), json_list(g.links).c_str(), json_list(g.microseconds).c_str(),
                     g.holds() ? "true" : "false", i + 1 < chains.size() ? "," : "");
    }
    std::fprintf(f, "  ]\n}\n");
    return std::fclose(f) == 0;
}

options read_options(int argc, char **argv) {
    options o;
    for (int i = 1; i < argc; i++) {
        const std::string key = argv[i];
        if (key == "--strict") {
            o.strict = true;
            continue;
        }
        const std::string value = i + 1 < argc ? argv[++i] : "";
        if (key == "--json" && !value.empty()) {
            o.json = value;
        } else if (key == "--cpu" && !value.empty()) {
            o.cpu = std::atoi(value.c_str());
        } else if (key == "--turns" && std::atoi(value.c_str()) > 0) {
            o.turns = std::atoi(value.c_str());
        } else if (key == "--models" && !value.empty()) {
            o.models = value;
        } else if (key == "--work" && !value.empty()) {
            o.work = value;
        } else {
            std::fprintf(stderr, "usage: loading [--json FILE] [--cpu N] [--turns N] [--models FOLDER] [--work FOLDER] "
                                 "[--strict]\n");
            std::exit(2);
        }
    }
    return o;
}

} // namespace

int main(int argc, char **argv) {
    const options o = read_options(argc, argv);
    pin_to_cpu(o.cpu);
    mj_setCacheCapacity(mj_getCache(), 0); // it would keep what the first turn has read
    std::printf("\nloading with all meshes, ms of CPU time, best of %d\n%-28s %10s %10s %7s %4s\n", o.turns, "model",
                "ours", "MuJoCo", "ratio", "bar");
    const std::vector<row> rows = {
        compare(o, "panda (MJCF, OBJ, STL)", o.models + "/franka_emika_panda/panda.xml", 1),
        compare(o, "anymal (MJCF, OBJ)", o.models + "/anybotics_anymal_c/anymal_c.xml", 0),
        compare(o, "h1 (MJCF, STL)", o.models + "/unitree_h1/h1.xml", 0),
        compare(o, "jvrc1 (URDF, DAE)", o.models + "/jvrc1/urdf/jvrc1.urdf", 1),
    };
    mj_setCacheCapacity(mj_getCache(), std::size_t{1} << 30);
    print(compare(o, "panda, MuJoCo's cache on", o.models + "/franka_emika_panda/panda.xml", 0));
    bool all_hold = true;
    for (const row &r : rows) {
        print(r);
        all_hold = all_hold && (r.holds() || r.problem.compare(0, 7, "skipped") == 0);
    }
    // JVRC-1 has no other to be compared with
    if (rows[3].problem.empty() && !rows[3].has_peer && rows[0].has_peer) {
        const bool holds = rows[3].ours <= rows[0].theirs;
        std::printf("%-28s %10.2f, MuJoCo's panda %.2f  %s\n", "jvrc1", 1e3 * rows[3].ours, 1e3 * rows[0].theirs,
                    holds ? "ok" : "MISSED");
        all_hold = all_hold && holds;
    }
    std::printf("\nchains, µs a link (MJCF nests its bodies, 1000 deep at most)\n");
    const std::vector<growth> chains = {measure_chains(o, "URDF", long_chain_urdf, {100, 1000, 10000, 100000}),
                                        measure_chains(o, "MJCF", long_chain_mjcf, {100, 300, 900})};
    for (const growth &g : chains) {
        print(g);
        all_hold = all_hold && g.holds();
    }
    if (!o.json.empty() && !write_loading_json(o.json, rows, chains)) {
        std::fprintf(stderr, "cannot write %s\n", o.json.c_str());
        return 1;
    }
    std::printf("\n%s\n", all_hold ? "all bars hold" : "NOT ALL BARS HOLD");
    return o.strict && !all_hold ? 1 : 0;
}
