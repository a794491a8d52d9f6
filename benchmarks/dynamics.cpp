/// Articulated dynamics of ours beside Pinocchio, in one process, on the same robots and the same random states.
///
///     dynamics [--json FILE] [--cpu N] [--turns N] [--round-ms N] [--robot NAME] [--note KEY=VALUE]
///              [--variants] [--strict]
///
/// Nothing is timed before both sides agree on it: to 1e-12 relative, derivatives to 1e-10. Where Pinocchio has two
/// ways to one result, both are timed and the faster counts. Lanes: `--variants` times every variant this CPU has, not
/// only the widest; all must give the bits of the scalar call. `--strict` ends with failure when a bar is missed.
#include <karakuri/batch.h>
#include <karakuri/load.h>

#include "contest.hpp"
#include "peers/testbed.hpp"
#include "report.hpp"

#include <pthread.h>

#include <cstring>
#include <map>

using namespace benchmarks;
using namespace peers;

namespace {

constexpr int state_count = 128; // of every robot; a multiple of all lane widths

struct options {
    std::string json, robot;
    int cpu = -1, turns = 40;
    double round_seconds = 2e-3;
    bool strict = false, all_variants = false;
    notes extra;
};

struct entry {
    const char *name;
    algorithm what;
    double bar; ///< least ratio to Pinocchio; 0: for information
    std::vector<quantity> agree;
};

const std::vector<entry> scalar_entries = {
    {"RNEA", algorithm::rnea, 2.0, {quantity::rnea}},
    {"ABA", algorithm::aba, 2.0, {quantity::aba}},
    {"CRBA", algorithm::crba, 2.0, {quantity::crba}},
    {"RNEA derivatives",
     algorithm::rnea_derivatives,
     1.5,
     {quantity::rnea_derivatives_q, quantity::rnea_derivatives_v}},
    {"ABA derivatives", algorithm::aba_derivatives, 1.5, {quantity::aba_derivatives_timed}},
    {"Jacobians of all joints", algorithm::jacobians, 1.5, {quantity::jacobians_world}},
    {"Jacobian of the center of mass", algorithm::com_jacobian, 1.5, {quantity::com_jacobian}},
    {"centroidal momentum matrix", algorithm::centroidal, 1.5, {quantity::centroidal}},
    {"forward kinematics", algorithm::kinematics, 0, {quantity::poses}},
};

[[noreturn]] void give_up(const std::string &why) {
    std::fprintf(stderr, "\nBENCHMARK ABORTED: %s\n", why.c_str());
    std::exit(3);
}

// ---- one robot

void check_agreement(const std::string &name, robot &ours, robot &theirs) {
    for (const entry &e : scalar_entries) {
        for (quantity what : e.agree) {
            const quantity_info &info = quantities()[static_cast<std::size_t>(what)];
            for (int s = 0; s < state_count; s++) {
                const double error =
                    relative_error(ours.result(what, s), theirs.result(what, s), least_magnitude(what));
                if (error > info.bar) {
                    char text[200];
                    std::snprintf(text, sizeof text, "%s, %s, state %d: ours and Pinocchio differ by %.2e (bar %.0e)",
                                  name.c_str(), info.name, s, error, info.bar);
                    give_up(text);
                }
            }
        }
    }
}

// enters every way Pinocchio has; gives their numbers
std::vector<std::size_t> enter_all(contest &c, robot &r, algorithm what) {
    std::vector<std::size_t> entered;
    for (int variant = 0; variant < r.variants(what); variant++) {
        entered.push_back(c.enter([&r, what, variant](int n) { r.run(what, variant, n); }, state_count));
    }
    return entered;
}

double best_of(const contest &c, const std::vector<std::size_t> &entered) {
    double best = 1e300;
    for (std::size_t i : entered) {
        best = std::min(best, c.nanoseconds(i));
    }
    return best;
}

// gives Pinocchio's times, for the lanes to be compared with
std::map<algorithm, double> measure_scalar(const options &o, const std::string &name, int dof, robot &ours,
                                           robot &theirs, std::vector<result> &results) {
    std::map<algorithm, double> reference;
    for (const entry &e : scalar_entries) {
        contest c(o.turns, o.round_seconds);
        const std::vector<std::size_t> us = enter_all(c, ours, e.what), them = enter_all(c, theirs, e.what);
        c.hold();
        reference[e.what] = best_of(c, them);
        results.push_back({"one robot", name, e.name, dof, best_of(c, us), reference[e.what], e.bar});
        print_row(results.back());
    }
    return reference;
}

// ---- lanes: many states of one robot

/// Arrays of all states in one layout, and the calls on them.
class batch_robot {
  public:
    batch_robot(const kk_model *compiled, const states &given, kk_batch_layout lay)
        : m(compiled), layout(lay), nq(kk_model_nq(m)), nv(kk_model_nv(m)), q(arrange(given.q, nq)),
          v(arrange(given.v, nv)), a(arrange(given.a, nv)), tau(arrange(given.tau, nv)), out(size(nv)),
          M(size(nv * nv)), poses(size(12 * kk_model_nbody(m))) {
        if (kk_batch_create(m, nullptr, &batch) != KK_OK) {
            give_up("kk_batch_create failed");
        }
    }
    ~batch_robot() {
        kk_batch_free(batch);
    }
    batch_robot(const batch_robot &) = delete;
    batch_robot &operator=(const batch_robot &) = delete;

    void run(algorithm what, int rounds) {
        for (int round = 0; round < rounds; round++) {
            switch (what) {
            case algorithm::rnea:
                kk_batch_inverse_dynamics(m, batch, layout, state_count, q.data(), v.data(), a.data(), out.data());
                break;
            case algorithm::aba:
                kk_batch_forward_dynamics(m, batch, layout, state_count, q.data(), v.data(), tau.data(), out.data());
                break;
            case algorithm::crba: kk_batch_inertia_matrix(m, batch, layout, state_count, q.data(), M.data()); break;
            default: kk_batch_kinematics(m, batch, layout, state_count, q.data(), poses.data()); break;
            }
        }
    }
    /// What the last run left for one state.
    numbers result(algorithm what, int s) const {
        const numbers &from = what == algorithm::crba ? M : what == algorithm::kinematics ? poses : out;
        const std::size_t n = from.size() / state_count;
        numbers picked;
        for (std::size_t i = 0; i < n; i++) {
            picked.push_back(from[place(i, static_cast<std::size_t>(s), n)]);
        }
        return picked;
    }

    kk_batch *batch = nullptr;

  private:
    static std::size_t size(int n) {
        return static_cast<std::size_t>(n) * state_count;
    }
    std::size_t place(std::size_t coordinate, std::size_t s, std::size_t n) const {
        return layout == KK_BY_STATE ? s * n + coordinate : coordinate * state_count + s;
    }
    numbers arrange(const numbers &by_state, int n) const {
        numbers arranged(by_state.size());
        const std::size_t width = static_cast<std::size_t>(n);
        for (std::size_t i = 0; i < by_state.size(); i++) {
            arranged[place(i % width, i / width, width)] = by_state[i];
        }
        return arranged;
    }

    const kk_model *m;
    kk_batch_layout layout;
    int nq, nv;
    numbers q, v, a, tau, out, M, poses;
};

const std::vector<entry> lane_entries = {
    {"RNEA", algorithm::rnea, 9.0, {quantity::rnea}},
    {"ABA", algorithm::aba, 9.0, {quantity::aba}},
    {"CRBA", algorithm::crba, 0, {quantity::crba}},
    {"kinematics", algorithm::kinematics, 0, {quantity::poses}},
};

// every variant must give the scalar calls' very bits
void check_same_bits(const std::string &name, const std::string &variant, batch_robot &lanes, robot &ours) {
    for (const entry &e : lane_entries) {
        lanes.run(e.what, 1);
        for (int s = 0; s < state_count; s++) {
            const numbers one = ours.result(e.agree[0], s), many = lanes.result(e.what, s);
            if (one.size() != many.size() || std::memcmp(one.data(), many.data(), one.size() * sizeof(double)) != 0) {
                char text[200];
                std::snprintf(text, sizeof text,
                              "%s, %s, %s, state %d: not the bits of the scalar call (they differ by %.2e)",
                              name.c_str(), e.name, variant.c_str(), s, relative_error(one, many, 1e-3));
                give_up(text);
            }
        }
    }
}

void measure_lanes(const options &o, const std::string &name, const testbed &bed, const states &all, robot &ours,
                   std::map<algorithm, double> &reference, std::vector<result> &results) {
    const struct {
        kk_batch_layout layout;
        const char *name;
    } layouts[] = {{KK_BY_COORDINATE, "by coordinate"}, {KK_BY_STATE, "by state"}};
    for (const auto &lay : layouts) {
        batch_robot lanes(bed.model, all, lay.layout);
        const std::string widest = kk_batch_variant(lanes.batch);
        for (int i = 0; kk_batch_variant_name(i); i++) {
            const std::string variant = kk_batch_variant_name(i);
            if (kk_batch_choose(lanes.batch, variant.c_str()) != KK_OK) {
                continue;
            }
            check_same_bits(name, variant, lanes, ours);
            if (variant != widest && !o.all_variants) {
                continue;
            }
            for (const entry &e : lane_entries) {
                contest c(o.turns, o.round_seconds);
                const std::size_t us = c.enter([&lanes, &e](int n) { lanes.run(e.what, n); }, state_count);
                c.hold();
                const bool counts = variant == widest && lay.layout == KK_BY_COORDINATE;
                results.push_back({"lanes", name, std::string(e.name) + " " + variant + " " + lay.name,
                                   kk_model_nv(bed.model), c.nanoseconds(us), reference[e.what], counts ? e.bar : 0});
                print_row(results.back());
            }
        }
    }
}

// ---- a humanoid that stands on one of its links (S2)

/// The H6-class robot of models/, from the repository's root or a folder in it; null where it is not found.
kk_spec *load_h6() {
    kk_spec *spec = nullptr;
    const kk_load_options options = {};
    for (const char *path : {"models/h6/h6.xml", "../models/h6/h6.xml", "../../models/h6/h6.xml"}) {
        if (kk_load_file(path, &options, nullptr, &spec, nullptr, nullptr) == KK_OK) {
            return spec;
        }
    }
    return nullptr;
}

/// Pinned inverse dynamics of 34 links: base, torques, floor wrench, ZMP and center of mass, beside Pinocchio's plain RNEA of the same robot, the bar of
/// 2 µs, and the 5.35 µs measured for RoKi, the successor of the library of the paper.
void measure_pinned(const options &o, kk_spec *spec, std::vector<result> &results) {
    kk_model *model = nullptr;
    kk_data *data = nullptr;
    if (kk_model_compile(spec, nullptr, &model, nullptr) != KK_OK || kk_data_create(model, nullptr, &data) != KK_OK) {
        give_up("models/h6/h6.xml cannot be compiled");
    }
    const int nq = kk_model_nq(model), nv = kk_model_nv(model), foot = kk_model_find_body(model, "left_foot");
    states all = random_states(model, state_count, 42);
    const auto ours = make_ours(spec, model), theirs = make_pinocchio(spec, model);
    ours->load(all);
    theirs->load(all);
    check_agreement("h6", *ours, *theirs);
    kk_kinematics(model, data, all.q.data());
    const kk_pin pin = {foot, kk_body_pose(model, data, foot)};
    numbers tau(static_cast<std::size_t>(nv));
    contest c(o.turns, o.round_seconds);
    const std::size_t us = c.enter(
        [&](int rounds) {
            for (int round = 0; round < rounds; round++) {
                for (int s = 0; s < state_count; s++) {
                    kk_pinned_result r;
                    kk_pinned_inverse_dynamics(model, data, &pin, 0, &all.q[static_cast<std::size_t>(s * nq)],
                                               &all.v[static_cast<std::size_t>(s * nv)],
                                               &all.a[static_cast<std::size_t>(s * nv)], tau.data(), &r, nullptr);
                }
            }
        },
        state_count);
    const std::vector<std::size_t> them = enter_all(c, *theirs, algorithm::rnea);
    c.hold();
    const double taken = c.nanoseconds(us);
    print_header("a humanoid of 34 links that stands on its left foot, µs a frame");
    results.push_back({"pinned", "h6", "pinned; theirs: plain RNEA", nv, taken, best_of(c, them), 0});
    print_row(results.back());
    results.push_back({"pinned", "h6", "pinned; theirs: the bar, 2 µs", nv, taken, 2000, 1});
    print_row(results.back());
    results.push_back({"pinned", "h6", "pinned; theirs: RoKi, as measured", nv, taken, 5350, 0});
    print_row(results.back());
    kk_data_free(data);
    kk_model_free(model);
    kk_spec_free(spec);
}

// ---- growth: chains

/// A measurement on a stack of 64 kB, as small embedded threads have.
double on_small_stack(const std::function<double()> &measure) {
    struct task {
        const std::function<double()> *run;
        double value;
    } job = {&measure, 0};
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 * 1024);
    const auto start = [](void *p) -> void * {
        task *t = static_cast<task *>(p);
        t->value = (*t->run)();
        return nullptr;
    };
    if (pthread_create(&thread, &attributes, start, &job) != 0) {
        give_up("no thread with a stack of 64 kB");
    }
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    return job.value;
}

double nanoseconds_a_body(const options &o, robot &r, algorithm what, int count, int bodies) {
    contest c(o.turns, o.round_seconds);
    std::vector<std::size_t> entered;
    for (int variant = 0; variant < r.variants(what); variant++) {
        entered.push_back(c.enter([&r, what, variant](int n) { r.run(what, variant, n); }, count * bodies));
    }
    c.hold();
    return best_of(c, entered);
}

std::vector<growth_result> measure_growth(const options &o) {
    const std::vector<int> lengths = {10, 100, 1000, 10000};
    const int longest_of_peer = 100; // its data holds tensors of nv × nv × nv: 24 GB for 1000 links
    std::vector<growth_result> both = {{"RNEA", lengths, {}, {}, 0.2}, {"ABA", lengths, {}, {}, 0.2}};
    for (int n : lengths) {
        const testbed bed([n](kk_spec *spec, kk_error *error) { return robots_chain(spec, n, error); });
        // the same number of bodies in memory for every length up to 1000, so that only the depth differs
        const int count = std::max(1, 1000 / n);
        const states all = bed.random_states(count, 7);
        const auto ours = make_ours(bed.spec, bed.model);
        const auto theirs = n <= longest_of_peer ? make_pinocchio(bed.spec, bed.model) : nullptr;
        ours->load(all);
        if (theirs) {
            theirs->load(all);
        }
        const algorithm order[] = {algorithm::rnea, algorithm::aba};
        for (std::size_t i = 0; i < both.size(); i++) {
            both[i].ours.push_back(on_small_stack([&] { return nanoseconds_a_body(o, *ours, order[i], count, n); }));
            both[i].theirs.push_back(theirs ? nanoseconds_a_body(o, *theirs, order[i], count, n) : 0);
        }
    }
    for (growth_result &g : both) {
        const auto ends = std::minmax_element(g.ours.begin(), g.ours.end());
        g.spread = *ends.second / *ends.first - 1;
    }
    return both;
}

// ---- the whole

options read_options(int argc, char **argv) {
    options o;
    for (int i = 1; i < argc; i++) {
        const std::string key = argv[i];
        if (key == "--strict" || key == "--variants") {
            (key == "--strict" ? o.strict : o.all_variants) = true;
            continue;
        }
        const std::string value = i + 1 < argc ? argv[++i] : "";
        const std::size_t equals = value.find('=');
        if (key == "--json" && !value.empty()) {
            o.json = value;
        } else if (key == "--cpu" && !value.empty()) {
            o.cpu = std::atoi(value.c_str());
        } else if (key == "--turns" && std::atoi(value.c_str()) > 0) {
            o.turns = std::atoi(value.c_str());
        } else if (key == "--round-ms" && std::atof(value.c_str()) > 0) {
            o.round_seconds = 1e-3 * std::atof(value.c_str());
        } else if (key == "--robot" && (robots_find(value.c_str()) || value == "h6" || value == "none")) {
            o.robot = value;
        } else if (key == "--note" && equals != std::string::npos) {
            o.extra.push_back({value.substr(0, equals), value.substr(equals + 1)});
        } else {
            std::fprintf(stderr, "usage: dynamics [--json FILE] [--cpu N] [--turns N] [--round-ms N] [--robot NAME] "
                                 "[--note KEY=VALUE] [--variants] [--strict]\n");
            std::exit(2);
        }
    }
    return o;
}

int bars_missed(const std::vector<result> &results, const std::vector<growth_result> &growth) {
    int missed = 0;
    for (const result &r : results) {
        missed += !r.holds();
    }
    for (const growth_result &g : growth) {
        missed += !g.holds();
    }
    return missed;
}

} // namespace

int main(int argc, char **argv) {
    options o = read_options(argc, argv);
    const machine here = describe_machine();
    o.extra.push_back({"pinocchio", pinocchio_version()});
    o.extra.push_back({"pinocchio_build", pinocchio_build()});
    std::printf(
        "%s, %u cores, AVX2 %s, AVX-512 %s, %s; Pinocchio %s (%s)\nbest of %d turns of %.0f ms, %d random states%s\n",
        here.cpu.c_str(), here.cores, here.avx2 ? "yes" : "no", here.avx512 ? "yes" : "no", here.date.c_str(),
        pinocchio_version().c_str(), pinocchio_build().c_str(), o.turns, 1e3 * o.round_seconds, state_count,
        pin_to_cpu(o.cpu) ? ", pinned to one CPU" : "");

    std::vector<result> results;
    for (const robots_entry *e = robots_table; e->name; e++) {
        if (!o.robot.empty() && o.robot != e->name) {
            continue;
        }
        const testbed bed(e->build);
        const states all = bed.random_states(state_count, 42);
        const auto ours = make_ours(bed.spec, bed.model), theirs = make_pinocchio(bed.spec, bed.model);
        ours->load(all);
        theirs->load(all);
        check_agreement(e->name, *ours, *theirs);
        print_header("one robot at a time, µs a call");
        std::map<algorithm, double> reference =
            measure_scalar(o, e->name, kk_model_nv(bed.model), *ours, *theirs, results);
        print_header("many states in lanes, µs a robot");
        measure_lanes(o, e->name, bed, all, *ours, reference, results);
    }

    if (o.robot.empty() || o.robot == "h6") {
        kk_spec *h6 = load_h6();
        if (h6) {
            measure_pinned(o, h6, results);
        } else {
            std::printf("\nmodels/h6/h6.xml is not here: pinned inverse dynamics is left out\n");
        }
    }

    std::printf("\nchain of 10, 100, 1000, 10000 links on a stack of 64 kB\n");
    const std::vector<growth_result> growth = measure_growth(o);
    for (const growth_result &g : growth) {
        print_growth(g);
    }
    const int missed = bars_missed(results, growth);
    std::printf("\n%s: %d missed\n", missed ? "NOT ALL BARS HOLD" : "all bars hold", missed);
    if (!o.json.empty() && !write_json(o.json, here, o.extra, results, growth)) {
        give_up("cannot write " + o.json);
    }
    return o.strict && missed ? 1 : 0;
}
