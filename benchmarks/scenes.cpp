/// Whole steps of ours beside MuJoCo, and where they can take part ODE, Bullet and DART: the same models, controls and
/// time steps, in turns in one process.
///
///     scenes [--json FILE] [--cpu N] [--repeats N] [--scene NAME] [--models FOLDER] [--work FOLDER] [--stages] [--alone] [--computed]
///            [--strict]
///
/// Robots are files of `--models` (../shared/models; left out with a word where it is absent); the other scenes are
/// written to `--work` as MJCF, and ours and MuJoCo read the same file. Before a race the two must agree on mass, degrees
/// of freedom, time step, actuators and the height of the center of mass. Ours solves every step to 1e-9 m/s or fails; a
/// failed step ends its run and is reported. A step of ours that has changed nothing is not computed again; how many were not is told, and
/// with `--computed` all are. `--stages` shows where our time goes, `--alone` races ours alone, for a profiler.
#include "machine.hpp"
#include "report.hpp"
#include "slices.hpp"
#include "texts.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <stdexcept>

using namespace benchmarks;
using namespace peers;

namespace {

struct options {
    std::string json, only, models = "../shared/models", work = ".";
    int cpu = -1, repeats = 15;
    bool stages = false, alone = false, computed = false, strict = false;
};

/// What is added to the keyframe's control of an actuator at a time.
using controller = std::function<double(const std::string &actuator, double time)>;

struct scene {
    std::string name, path;
    bool is_robot_file; ///< of the models' folder
    start from;
    double seconds;
    controller control;
    double bar; ///< least ratio to MuJoCo; 0: for information
    bricks plain = {};
};

/// What one engine did in a scene.
struct outcome {
    std::string engine;
    double microseconds = 0, contacts = 0, energy_error = 0, final_height = 0;
    int steps = 0; ///< good ones
    std::string failure;
};

struct row {
    scene of;
    int nv = 0, steps = 0;
    double residual = 0, penetration = 0, sweeps = 0, newton = 0;
    long repeated = 0;
    std::vector<outcome> engine; ///< ours first, then MuJoCo
    std::string skipped;
    std::vector<std::pair<std::string, double>> stages; ///< µs a step

    double ratio() const {
        return engine.size() > 1 && engine[0].microseconds > 0 ? engine[1].microseconds / engine[0].microseconds : 0;
    }
    bool failed() const {
        return !skipped.empty() ? false : engine.empty() || engine[0].steps < steps;
    }
    bool holds() const {
        return !skipped.empty() || of.bar == 0 || (!failed() && ratio() >= of.bar);
    }
};

// ---- controls

constexpr double pi = 3.14159265358979323846;

bool ends_with(const std::string &text, const std::string &end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

double no_control(const std::string &, double) {
    return 0;
}

/// The stance of start_of_anymal, held.
double hold_stance(const std::string &name, double) {
    const double fore = name[1] == 'F' ? 1 : -1;
    return ends_with(name, "HFE") ? 0.4 * fore : ends_with(name, "KFE") ? -0.8 * fore : 0;
}

/// Trot on the spot: one pair of diagonal legs draws in while the other stands.
double trot(const std::string &name, double t) {
    const bool pair = name.substr(0, 2) == "LF" || name.substr(0, 2) == "RH";
    const double phase = std::sin(2 * pi * 1.5 * t), lift = std::max(0.0, pair ? phase : -phase);
    return hold_stance(name, t) * (1 + 0.8 * lift);
}

double wave(const std::string &name, double t) {
    const double n = name.empty() ? 0 : name.back() - '0';
    return n >= 1 && n <= 7 ? 0.3 * std::sin(2 * pi * (0.4 + 0.05 * n) * t) : 0;
}

/// Legs apart, knees bent, on the spot: the hips sway over one foot while the other is drawn up by 2 cm, two steps a second. A sway of 36 mm
/// takes the center of pressure four times as far, under the foot that stands.
double march(const std::string &name, double t) {
    const bool left = name.compare(0, 5, "left_") == 0;
    const double phase = std::sin(2 * pi * t) * std::min(1.0, t), lift = std::max(0.0, left ? phase : -phase);
    const double bend = 0.3 + 0.1 * lift, roll = 0.06 * phase + (left ? 0.06 : -0.06);
    if (ends_with(name, "thigh")) {
        return -bend;
    }
    if (ends_with(name, "shin")) {
        return 2 * bend;
    }
    if (ends_with(name, "ankle_pitch")) {
        return -bend;
    }
    return ends_with(name, "hip_roll") ? roll : ends_with(name, "_foot") ? -roll : 0;
}

double hold_knees(const std::string &name, double) {
    return march(name, 0);
}

start start_of_anymal() {
    start s;
    for (const std::string leg : {"LF", "RF", "LH", "RH"}) {
        s.joint.push_back({leg + "_HFE", hold_stance(leg + "_HFE", 0)});
        s.joint.push_back({leg + "_KFE", hold_stance(leg + "_KFE", 0)});
    }
    s.lift = -0.0705; // the feet touch the floor
    return s;
}

start start_of_humanoid() {
    start s;
    for (const std::string side : {"left_", "right_"}) {
        for (const std::string joint : {"hip_roll", "thigh", "shin", "ankle_pitch", "foot"}) {
            s.joint.push_back({side + joint, march(side + joint, 0)});
        }
    }
    s.lift = -0.6 * (1 - std::cos(0.3) * std::cos(0.06)); // the soles touch the floor
    return s;
}

start from_keyframe(const std::string &name) {
    start s;
    s.keyframe = name;
    return s;
}

/// H1's start, every joint off by up to 0.05 rad: falls are chaotic, and one of them may take a fifth more or less than another.
start fall(int number) {
    start s = from_keyframe("home");
    s.lift = 0.02; // feet must not begin in the floor
    double phase = number;
    const auto put = [&](const std::string &name, double angle) {
        s.joint.push_back({name, angle + 0.05 * std::sin(phase *= 1.7)});
    };
    put("torso", 0);
    for (const std::string side : {"left_", "right_"}) {
        for (const std::string joint :
             {"hip_yaw", "hip_roll", "shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow"}) {
            put(side + joint, 0);
        }
        put(side + "hip_pitch", -0.4);
        put(side + "knee", 0.8);
        put(side + "ankle", -0.4);
    }
    return s;
}

/// Certified to this tolerance only.
start within(double tolerance) {
    start s;
    s.tolerance = tolerance;
    return s;
}

start hanging(const std::string &name) {
    start s = from_keyframe(name);
    s.hang = true;
    return s;
}

// ---- scenes

std::string write_text(const options &o, const std::string &name, const std::string &text) {
    const std::string path = o.work + "/" + name + ".xml";
    std::ofstream file(path);
    file << text;
    if (!file.flush()) {
        throw std::runtime_error("cannot write " + path);
    }
    return path;
}

std::vector<scene> all_scenes(const options &o) {
    const std::string &m = o.models;
    const start anymal = start_of_anymal(), humanoid = start_of_humanoid();
    std::vector<scene> all = {
        {"anymal standing", m + "/anybotics_anymal_c/scene.xml", true, anymal, 2, hold_stance, 3},
        {"anymal stepping", m + "/anybotics_anymal_c/scene.xml", true, anymal, 2, trot, 3},
        {"h1 falling", m + "/unitree_h1/scene.xml", true, from_keyframe("home"), 2, no_control, 3},
        {"panda moving", m + "/franka_emika_panda/scene.xml", true, from_keyframe("home"), 2, wave, 3},
        {"cassie hanging", m + "/agility_cassie/cassie.xml", true, hanging("home"), 0.5, no_control, 3},
        {"humanoid stepping", write_text(o, "humanoid36", humanoid_mjcf({})), false, humanoid, 4, march, 3},
        {"stack10", write_text(o, "stack10", mjcf_of(stack10())), false, {}, 1, no_control, 3, stack10()},
        {"tower27", write_text(o, "tower27", mjcf_of(tower27())), false, {}, 0.5, no_control, 3, tower27()},
        {"tower102", write_text(o, "tower102", mjcf_of(tower102())), false, {}, 1, no_control, 3, tower102()},
        {"pile100 falling", write_text(o, "pile100", mjcf_of(pile100())), false, within(1e-4), 1, no_control, 1},
        {"bin216 falling", write_text(o, "bin216", mjcf_of(bin216())), false, within(1e-4), 0.8, no_control, 1},
    };
    for (int k = 2; k <= 8; k++) {
        const std::string name = "h1 falling, start " + std::to_string(k);
        all.push_back({name, m + "/unitree_h1/scene.xml", true, fall(k), 2, no_control, 0});
    }
    for (const int n : {10, 20, 40}) {
        const std::string name = "chain" + std::to_string(n) + " RK4", file = "chain" + std::to_string(n);
        all.push_back(
            {name, write_text(o, file, mjcf_of(hinge_chain(n))), false, {}, 1, no_control, 2, hinge_chain(n)});
    }
    return all;
}

std::vector<scene> point_scenes(const options &o) {
    std::vector<scene> all;
    for (const int n : {1, 2, 4, 8, 12, 16, 24, 36, 50, 64, 80, 100}) {
        const std::string file = "humanoid36_" + std::to_string(n) + "_points";
        all.push_back({"humanoid, " + std::to_string(n) + " points", write_text(o, file, humanoid_mjcf({n})), false,
                       start_of_humanoid(), 0.2, hold_knees, 0});
    }
    return all;
}

// ---- running

course course_of(const scene &s, const world &w) {
    course c;
    c.steps = static_cast<int>(std::lround(s.seconds / w.timestep));
    c.width = static_cast<int>(w.actuator.size());
    for (int i = 0; i < c.steps; i++) {
        for (std::size_t k = 0; k < w.actuator.size(); k++) {
            c.control.push_back(w.keyframe_control[k] + s.control(w.actuator[k], i * w.timestep));
        }
    }
    c.control.push_back(0); // so that there is something to point at without actuators
    return c;
}

void demand_agreement(world &a, world &b) {
    const auto near = [](double x, double y, double tolerance) {
        return std::abs(x - y) <= tolerance * (1 + std::abs(x));
    };
    char text[300];
    std::snprintf(text, sizeof text,
                  "ours and MuJoCo differ: nv %d, %d; mass %.9g, %.9g; time step %g, %g; actuators %zu, %zu; height of "
                  "the center of mass %.9g, %.9g",
                  a.nv, b.nv, a.mass, b.mass, a.timestep, b.timestep, a.actuator.size(), b.actuator.size(), a.height(),
                  b.height());
    bool same = a.nv == b.nv && near(a.mass, b.mass, 1e-6) && near(a.timestep, b.timestep, 1e-12) &&
                a.actuator == b.actuator && near(a.height(), b.height(), 1e-6);
    for (std::size_t k = 0; same && k < a.keyframe_control.size(); k++) {
        same = near(a.keyframe_control[k], b.keyframe_control[k], 1e-9);
    }
    if (!same) {
        throw std::runtime_error(text);
    }
}

/// A run nobody times: contacts, energy, failures. An engine that is slow beyond hope takes part in fewer steps.
outcome survey(world &w, const std::string &engine, const course &c, double most_seconds) {
    outcome out;
    out.engine = engine;
    w.reset();
    const double before = w.energy(), began = cpu_seconds();
    for (; out.steps < c.steps && cpu_seconds() - began < most_seconds; out.steps++) {
        if (!w.step(c.at(out.steps))) {
            out.failure = w.failure();
            break;
        }
        out.contacts += w.contacts();
    }
    out.contacts /= std::max(1, out.steps);
    out.energy_error = std::abs(w.energy() - before); // NaN where the engine does not tell
    out.final_height = w.height();
    return out;
}

void note_stages(row &r, our_world &ours, const course &c) {
    for (int repeat = 0; repeat < 5; repeat++) {
        ours.reset();
        for (int i = 0; i < r.engine[0].steps; i++) {
            ours.step(c.at(i));
        }
        r.stages.resize(ours.seconds.size(), {"", 1e300});
        for (std::size_t k = 0; k < ours.seconds.size(); k++) {
            const double t = 1e6 * ours.seconds[k].second / std::max(1, r.engine[0].steps);
            r.stages[k] = {ours.seconds[k].first, std::min(r.stages[k].second, t)};
        }
    }
}

struct contender {
    std::string engine;
    std::unique_ptr<world> w;
};

std::vector<contender> other_engines(const scene &s) {
    std::vector<contender> all;
    if (!s.plain.box.empty() || s.plain.chain > 0) {
#ifdef KK_WITH_ODE
        all.push_back({"ODE", make_ode_world(s.plain)});
#endif
#ifdef KK_WITH_BULLET
        all.push_back({"Bullet", make_bullet_world(s.plain)});
#endif
#ifdef KK_WITH_DART
        all.push_back({"DART", make_dart_world(s.plain)});
#endif
    }
    return all;
}

row run_scene(const options &o, const scene &s) {
    row r;
    r.of = s;
    if (s.is_robot_file && !std::ifstream(s.path)) {
        r.skipped = "no " + s.path;
        return r;
    }
    try {
        const auto ours = make_our_world(s.path, s.from);
        std::vector<contender> all = other_engines(s);
        all.insert(all.begin(), {"MuJoCo", make_mujoco_world(s.path, s.from)});
        demand_agreement(*ours, *all[0].w);
        const course c = course_of(s, *ours);
        r.nv = ours->nv;
        r.steps = c.steps;
        ours->is_computed = o.computed;
        ours->use_clock(true);
        r.engine.push_back(survey(*ours, "ours", c, 1e9));
        r.residual = ours->worst_residual;
        r.penetration = ours->worst_penetration;
        r.repeated = ours->repeated;
        const double steps = std::max(1, r.engine[0].steps);
        r.sweeps = static_cast<double>(ours->sweeps) / steps;
        r.newton = static_cast<double>(ours->newton) / steps;
        if (o.stages) {
            note_stages(r, *ours, c);
        }
        ours->use_clock(false);
        std::vector<runner> runners = {{ours.get(), r.engine[0].steps, {}}};
        if (o.alone) {
            all.clear();
        }
        for (contender &one : all) {
            r.engine.push_back(survey(*one.w, one.engine, c, one.engine == "MuJoCo" ? 1e9 : 0.3));
            runners.push_back({one.w.get(), r.engine.back().steps, {}});
        }
        race(runners, c, o.repeats);
        for (std::size_t i = 0; i < runners.size(); i++) {
            r.engine[i].microseconds = 1e6 * runners[i].seconds_a_step();
        }
    } catch (const std::exception &problem) {
        outcome none;
        none.engine = "ours";
        none.failure = problem.what();
        r.engine.insert(r.engine.begin(), none);
        r.engine.resize(1);
        r.steps = std::max(1, r.steps);
    }
    return r;
}

// ---- tables

void print_scene_header(const char *title) {
    std::printf("\n%s\n%-22s %3s %9s %9s %6s %4s %-6s  %8s %8s  %9s %9s  %7s\n", title, "scene", "DoF", "ours",
                "MuJoCo", "ratio", "bar", "", "contacts", "MuJoCo", "residual", "penetr.", "steps");
}

void print_others(const row &r) {
    for (std::size_t i = 2; i < r.engine.size(); i++) {
        const outcome &e = r.engine[i];
        std::printf("%22s %-8s %9.2f µs, %.2f × ours, %.1f contacts, %d steps%s%s\n", "", e.engine.c_str(),
                    e.microseconds, r.engine[0].microseconds > 0 ? e.microseconds / r.engine[0].microseconds : 0,
                    e.contacts, e.steps, e.failure.empty() ? "" : ", FAILED: ", e.failure.c_str());
    }
    if (r.of.plain.chain > 0 && r.engine.size() > 1) {
        std::printf("%22s energy error, J:", "");
        for (const outcome &e : r.engine) {
            if (std::isfinite(e.energy_error)) {
                std::printf("  %s %.2e", e.engine.c_str(), e.energy_error);
            }
        }
        std::printf("  %s\n", r.engine[0].energy_error <= 1.01 * r.engine[1].energy_error ? "ok" : "MISSED");
    }
}

void print_scene(const row &r) {
    if (!r.skipped.empty()) {
        std::printf("%-22s skipped: %s\n", r.of.name.c_str(), r.skipped.c_str());
        return;
    }
    const outcome &ours = r.engine[0];
    std::printf("%-22s %3d %9.2f ", r.of.name.c_str(), r.nv, ours.microseconds);
    if (r.engine.size() > 1) {
        std::printf("%9.2f %6.2f %4.1f %-6s  %8.1f %8.1f  %9.1e %9.1e  %3d/%d\n", r.engine[1].microseconds, r.ratio(),
                    r.of.bar,
                    r.of.bar == 0 ? ""
                    : r.holds()   ? "ok"
                                  : "MISSED",
                    ours.contacts, r.engine[1].contacts, r.residual, r.penetration, ours.steps, r.steps);
    } else {
        std::printf("\n");
    }
    if (!ours.failure.empty()) {
        std::printf("%22s FAILED after %d of %d steps: %s\n", "", ours.steps, r.steps, ours.failure.c_str());
    }
    if (r.repeated > 0) {
        std::printf("%22s %ld of %d steps changed nothing and were not computed again\n", "", r.repeated, ours.steps);
    }
    print_others(r);
    if (!r.stages.empty()) {
        std::printf("%22s", "");
        for (const auto &[name, t] : r.stages) {
            std::printf(" %s %.2f", name.c_str(), t);
        }
        std::printf("; sweeps %.1f, Newton %.2f; height %.3f, MuJoCo %.3f\n", r.sweeps, r.newton, ours.final_height,
                    r.engine.size() > 1 ? r.engine[1].final_height : 0);
    }
    std::fflush(stdout);
}

/// All falls together.
void print_falls(const std::vector<row> &rows) {
    double ours = 0, theirs = 0;
    int count = 0;
    for (const row &r : rows) {
        if (r.of.name.compare(0, 10, "h1 falling") == 0 && r.engine.size() > 1 && !r.failed()) {
            ours += r.engine[0].microseconds;
            theirs += r.engine[1].microseconds;
            count++;
        }
    }
    if (count > 1) {
        std::printf("h1 falling from %d starts, mean: ours %.2f, MuJoCo %.2f µs, ratio %.2f\n", count, ours / count,
                    theirs / count, theirs / ours);
    }
}

// ---- JSON, CSV and the picture

void put_row(std::FILE *f, const row &r, bool is_last) {
    std::fprintf(f,
                 "    {\"scene\": %s, \"dof\": %d, \"steps\": %d, \"bar\": %.3g, \"ratio\": %.4g, \"holds\": %s, "
                 "\"residual\": %.3g, \"penetration\": %.3g, \"sweeps\": %.4g, \"newton\": %.4g, \"repeated\": %ld, "
                 "\"skipped\": %s, "
                 "\"engines\": [",
                 quoted(r.of.name).c_str(), r.nv, r.steps, r.of.bar, r.ratio(), r.holds() ? "true" : "false",
                 r.residual, r.penetration, r.sweeps, r.newton, r.repeated, quoted(r.skipped).c_str());
    for (std::size_t i = 0; i < r.engine.size(); i++) {
        const outcome &e = r.engine[i];
        std::fprintf(f,
                     "%s{\"engine\": %s, \"us\": %.6g, \"contacts\": %.4g, \"good_steps\": %d, \"energy_error\": %.4g, "
                     "\"failure\": %s}",
                     i ? ", " : "", quoted(e.engine).c_str(), e.microseconds, e.contacts, e.steps,
                     std::isfinite(e.energy_error) ? e.energy_error : -1, quoted(e.failure).c_str());
    }
    std::fprintf(f, "]}%s\n", is_last ? "" : ",");
}

bool write_scenes_json(const std::string &path, const std::vector<row> &rows, const std::vector<row> &points) {
    std::FILE *f = std::fopen(path.c_str(), "w");
    if (!f) {
        return false;
    }
    std::fprintf(f, "{\n  \"mujoco\": %s,\n  \"scenes\": [\n", quoted(mujoco_version()).c_str());
    for (std::size_t i = 0; i < rows.size(); i++) {
        put_row(f, rows[i], i + 1 == rows.size());
    }
    std::fprintf(f, "  ],\n  \"points\": [\n");
    for (std::size_t i = 0; i < points.size(); i++) {
        put_row(f, points[i], i + 1 == points.size());
    }
    std::fprintf(f, "  ]\n}\n");
    return std::fclose(f) == 0;
}

/// Columns for `karakuri plot`.
void write_points(const options &o, const std::vector<row> &points) {
    std::ofstream file(o.work + "/contact_points.csv");
    file << "points,ours_us,mujoco_us\n";
    for (const row &r : points) {
        if (r.engine.size() > 1 && !r.failed()) {
            file << r.engine[0].contacts << "," << r.engine[0].microseconds << "," << r.engine[1].microseconds << "\n";
        }
    }
}

/// S0 Fig. 7: 100 points within 100 µs, a few dozen within 25.
bool judge_points(const std::vector<row> &points) {
    bool all = true;
    for (const row &r : points) {
        const double n = r.engine[0].contacts, bar = n > 90 ? 100 : n > 20 && n <= 36 ? 25 : 0;
        if (bar > 0 || r.failed()) {
            const bool holds = !r.failed() && r.engine[0].microseconds <= bar;
            std::printf("%-22s %.1f points in %.1f µs, bar %.0f  %s\n", r.of.name.c_str(), n, r.engine[0].microseconds,
                        bar, holds ? "ok" : "MISSED");
            all = all && holds;
        }
    }
    return all;
}

// ---- the whole

options read_options(int argc, char **argv) {
    options o;
    for (int i = 1; i < argc; i++) {
        const std::string key = argv[i];
        if (key == "--strict" || key == "--stages" || key == "--alone" || key == "--computed") {
            (key == "--strict"   ? o.strict
             : key == "--stages" ? o.stages
             : key == "--alone"  ? o.alone
                                 : o.computed) = true;
            continue;
        }
        const std::string value = i + 1 < argc ? argv[++i] : "";
        if (key == "--json" && !value.empty()) {
            o.json = value;
        } else if (key == "--cpu" && !value.empty()) {
            o.cpu = std::atoi(value.c_str());
        } else if (key == "--repeats" && std::atoi(value.c_str()) > 0) {
            o.repeats = std::atoi(value.c_str());
        } else if (key == "--scene" && !value.empty()) {
            o.only = value;
        } else if (key == "--models" && !value.empty()) {
            o.models = value;
        } else if (key == "--work" && !value.empty()) {
            o.work = value;
        } else {
            std::fprintf(stderr, "usage: scenes [--json FILE] [--cpu N] [--repeats N] [--scene NAME] [--models FOLDER] "
                                 "[--work FOLDER] [--stages] [--alone] [--computed] [--strict]\n");
            std::exit(2);
        }
    }
    return o;
}

std::vector<row> run_all(const options &o, const std::vector<scene> &scenes, const char *title) {
    std::vector<row> rows;
    for (const scene &s : scenes) {
        if (o.only.empty() || s.name.find(o.only) != std::string::npos) {
            if (rows.empty()) {
                print_scene_header(title);
            }
            rows.push_back(run_scene(o, s));
            print_scene(rows.back());
        }
    }
    return rows;
}

} // namespace

int main(int argc, char **argv) {
    const options o = read_options(argc, argv);
    const machine m = describe_machine();
    const bool pinned = pin_to_cpu(o.cpu);
    std::printf(
        "%s, %u cores, AVX2 %s, AVX-512 %s, %s; MuJoCo %s\n%d repetitions, engines in turn run by run, CPU time%s\n",
        m.cpu.c_str(), m.cores, m.avx2 ? "yes" : "no", m.avx512 ? "yes" : "no", m.date.c_str(),
        mujoco_version().c_str(), o.repeats, pinned ? ", pinned to one CPU" : "");
    const std::vector<row> rows = run_all(o, all_scenes(o), "a whole step, µs; contacts are means, residual in m/s");
    print_falls(rows);
    const std::vector<row> points = run_all(o, point_scenes(o), "36-DoF humanoid on its soles, by contact points, µs");
    bool all_hold = judge_points(points);
    for (const row &r : rows) {
        all_hold = all_hold && r.holds() && !r.failed();
    }
    write_points(o, points);
    if (!o.json.empty() && !write_scenes_json(o.json, rows, points)) {
        std::fprintf(stderr, "cannot write %s\n", o.json.c_str());
        return 1;
    }
    std::printf("\n%s\n", all_hold ? "all bars hold" : "NOT ALL BARS HOLD");
    return o.strict && !all_hold ? 1 : 0;
}
