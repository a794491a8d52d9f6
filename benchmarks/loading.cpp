/// Loading robots: ours (kk_load_file and kk_model_compile) beside MuJoCo's mj_loadXML, and chains of up to 100 000 links.
///
///     loading [--json FILE] [--cpu N] [--turns N] [--models FOLDER] [--work FOLDER] [--strict]
///
/// Both load the very same file, with all its meshes and nothing kept from before, and must agree on mass and degrees of
/// freedom. JVRC-1 is a URDF with COLLADA meshes, which MuJoCo does not read: it gets a copy as MJCF with the same meshes as
/// OBJ, and is compared with our time for the copy as well as for the file itself.
///
/// Chains: a straight line is the aim. What is read leaves one cache after the other while it grows, so a link costs more
/// in a file of 30 MB than in one of 30 kB whatever the reader does; the bars say how much more it may be. Memory once got
/// stays with the process there: otherwise long chains alone would pay for fresh pages in every turn.
#include "machine.hpp"
#include "report.hpp"
#include "slices.hpp"
#include "texts.hpp"

#include <karakuri/load.h>
#include <karakuri/model.h>
#include <karakuri/save.h>
#include <mujoco/mujoco.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <malloc.h>
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
        return problem.empty() && (bar == 0 || (has_peer && ratio() >= bar));
    }
};

/// `theirs`: the file that the peer gets, where it is another.
row compare(const options &o, const std::string &name, const std::string &path, double bar, std::string theirs = "") {
    theirs = theirs.empty() ? path : theirs;
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
            r.theirs = r.peer_problem.empty() ? std::min(r.theirs, timed(load_mujoco, theirs, &peers)) : r.theirs;
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
        std::printf("         – MuJoCo: %s%s\n", r.peer_problem.c_str(), r.bar > 0 ? " MISSED" : "");
    }
    std::fflush(stdout);
}

// ---- a copy for MuJoCo

void write_obj(const std::string &path, const kk_mesh_def &mesh) {
    std::FILE *f = std::fopen(path.c_str(), "w");
    if (!f) {
        throw std::runtime_error("cannot write " + path);
    }
    for (int i = 0; i < mesh.vertex_count; i++) {
        std::fprintf(f, "v %.9g %.9g %.9g\n", mesh.vertex[i].x, mesh.vertex[i].y, mesh.vertex[i].z);
    }
    for (int i = 0; i < mesh.face_count; i++) {
        std::fprintf(f, "f %d %d %d\n", mesh.face[i][0] + 1, mesh.face[i][1] + 1, mesh.face[i][2] + 1);
    }
    std::fclose(f);
}

/// Writes a robot as MJCF with its meshes as OBJ beside it; gives the path, "" where there is no such robot.
std::string copy_as_mjcf(const options &o, const std::string &path, const std::string &name) {
    kk_spec *spec = nullptr;
    kk_error error = {};
    char *text = nullptr;
    std::size_t size = 0;
    if (kk_load_file(path.c_str(), nullptr, nullptr, &spec, nullptr, &error) != KK_OK) {
        return "";
    }
    std::vector<std::string> files;
    files.reserve(static_cast<std::size_t>(kk_spec_mesh_count(spec)));
    for (int i = 0; i < kk_spec_mesh_count(spec); i++) {
        kk_mesh_def *mesh = kk_spec_mesh(spec, i);
        files.push_back(name + "_" + std::to_string(i) + ".obj");
        write_obj(o.work + "/" + files.back(), *mesh);
        mesh->reference = files.back().c_str();
        mesh->file = nullptr;
        mesh->scale = {1, 1, 1};
    }
    const kk_status status = kk_spec_write_mjcf(spec, nullptr, nullptr, &text, &size, &error);
    kk_spec_free(spec);
    if (status != KK_OK) {
        throw std::runtime_error(error.text);
    }
    const std::string made = o.work + "/" + name + ".xml";
    std::ofstream(made) << text;
    kk_text_free(nullptr, text, size);
    return made;
}

// ---- chains

struct growth {
    std::string format;
    std::vector<int> links;
    std::vector<double> microseconds; ///< a link
    std::string problem;
    /// A link of the longest beside one of the chain of a thousand (or the first with more).
    double ratio() const {
        const auto start = std::find_if(links.begin(), links.end(), [](int n) { return n >= 1000; });
        return microseconds.back() / microseconds[static_cast<std::size_t>(start - links.begin())];
    }
    /// p of time ∝ linksᵖ, the straight line through the logarithms from a thousand links on; 1 is linear, n log n is 1.12.
    double exponent() const {
        double n = 0, x = 0, y = 0, xx = 0, xy = 0;
        for (std::size_t i = 0; i < links.size(); i++) {
            if (links[i] >= 1000) {
                const double a = std::log(links[i]), b = std::log(microseconds[i] * links[i]);
                n++, x += a, y += b, xx += a * a, xy += a * b;
            }
        }
        return (n * xy - x * y) / (n * xx - x * x);
    }
    bool holds() const {
        return problem.empty() && !links.empty() && links.back() == 100000 && ratio() <= 1.5 && exponent() <= 1.1;
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
    if (g.problem.empty()) {
        std::printf("  ratio %.2f (1.5), exponent %.3f (1.1)", g.ratio(), g.exponent());
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
        std::fprintf(f,
                     "    {\"format\": %s, \"links\": %s, \"us_a_link\": %s, \"ratio\": %.4g, \"exponent\": %.4g, "
                     "\"holds\": %s}%s\n",
                     quoted(g.format).c_str(), json_list(g.links).c_str(), json_list(g.microseconds).c_str(),
                     g.problem.empty() ? g.ratio() : 0, g.problem.empty() ? g.exponent() : 0,
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
    const std::string jvrc1 = o.models + "/jvrc1/urdf/jvrc1.urdf", jvrc1_copy = copy_as_mjcf(o, jvrc1, "jvrc1");
    const std::vector<row> rows = {
        compare(o, "panda (MJCF, OBJ, STL)", o.models + "/franka_emika_panda/panda.xml", 1),
        compare(o, "anymal (MJCF, OBJ)", o.models + "/anybotics_anymal_c/anymal_c.xml", 0),
        compare(o, "h1 (MJCF, STL)", o.models + "/unitree_h1/h1.xml", 0),
        compare(o, "jvrc1 (URDF, DAE; MJCF, OBJ)", jvrc1, 1, jvrc1_copy),
        compare(o, "jvrc1 (MJCF, OBJ)", jvrc1_copy.empty() ? jvrc1 : jvrc1_copy, 1),
    };
    mj_setCacheCapacity(mj_getCache(), std::size_t{1} << 30);
    print(compare(o, "panda, MuJoCo's cache on", o.models + "/franka_emika_panda/panda.xml", 0));
    bool all_hold = true;
    for (const row &r : rows) {
        print(r);
        all_hold = all_hold && (r.holds() || r.problem.compare(0, 7, "skipped") == 0);
    }
    std::printf(
        "\nchains, µs a link (MJCF nests its bodies, so there they stand a hundred links each beside each other)\n");
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
    const std::vector<int> lengths = {100, 1000, 3000, 10000, 30000, 100000};
    const std::vector<growth> chains = {measure_chains(o, "URDF", long_chain_urdf, lengths),
                                        measure_chains(o, "MJCF", long_chain_mjcf, lengths)};
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
