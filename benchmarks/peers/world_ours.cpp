/// Our engine behind the interface of a world.
#include "world.hpp"

#include <karakuri/load.h>
#include <karakuri/simulate.h>

#include <cstring>
#include <ctime>
#include <stdexcept>

namespace peers {

namespace {

double seconds_now(void *) {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); // what others do on the machine does not count
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void demand(kk_status status, const kk_error &error, const std::string &what) {
    if (status != KK_OK) {
        throw std::runtime_error("ours: " + what + ": " + error.text);
    }
}

class world_of_ours final : public our_world {
  public:
    world_of_ours(const std::string &path, const start &s);
    ~world_of_ours() override {
        kk_simulator_free(simulator);
        kk_state_free(state);
        kk_state_free(first);
        kk_data_free(data);
        kk_model_free(model);
    }

    void reset() override {
        kk_state_copy(state, first);
        worst_residual = worst_penetration = 0;
        sweeps = newton = repeated = 0;
        count = 0;
        missed.clear();
        for (auto &entry : seconds) {
            entry.second = 0;
        }
        error = {};
    }
    bool step(const double *control) override {
        kk_input input = {};
        input.control = control;
        if (is_computed) {
            set_options(tolerance); // makes the simulator forget the last step
        }
        kk_status status = kk_step(model, state, simulator, &input, &error);
        if (status == KK_NOT_CONVERGED && is_lenient) { // a failed step leaves the state as it was
            missed.push_back(count);
            set_options(100 * tolerance);
            status = kk_step(model, state, simulator, &input, &error);
            set_options(tolerance);
        }
        if (factors > 0 && kk_simulator_report(simulator)->hit_iteration_limit) {
            missed.push_back(count);
        }
        count++;
        return status == KK_OK && (!is_watched || watch());
    }
    int contacts() const override {
        return kk_simulator_ncontact(simulator);
    }
    double energy() override {
        const double *q = kk_state_q_const(state), *v = kk_state_v_const(state);
        return kk_kinetic_energy(model, data, q, v) + kk_potential_energy(model, data, q);
    }
    double height() override {
        return kk_center_of_mass(model, data, kk_state_q_const(state)).z;
    }
    std::string failure() const override {
        return error.text;
    }
    void use_clock(bool on) override {
        is_watched = on;
        set_options(tolerance);
    }

  private:
    bool watch();
    void set_options(double within);
    void place(const start &s);

    kk_model *model = nullptr;
    kk_data *data = nullptr;
    kk_state *first = nullptr, *state = nullptr;
    kk_simulator *simulator = nullptr;
    kk_error error = {};
    bool is_watched = false;
    double tolerance = 0;
    bool is_lenient = false;
    int budget = 0, factors = 0, count = 0;
    bool is_race = false; // of sweeps: not only what settles in peace has a budget
};

world_of_ours::world_of_ours(const std::string &path, const start &s) {
    kk_spec *spec = nullptr;
    kk_load_options options = {};
    options.base = s.hang ? KK_BASE_FIXED : KK_BASE_AS_FILE;
    demand(kk_load_file(path.c_str(), &options, nullptr, &spec, nullptr, &error), error, path);
    if (s.timestep > 0) {
        kk_spec_options(spec)->timestep = s.timestep;
    }
    const kk_status status = kk_model_compile(spec, nullptr, &model, &error);
    kk_spec_free(spec);
    demand(status, error, path);
    demand(kk_simulator_create(model, nullptr, nullptr, &simulator, &error), error, path);
    if (kk_state_create(model, nullptr, &first) != KK_OK || kk_state_create(model, nullptr, &state) != KK_OK ||
        kk_data_create(model, nullptr, &data) != KK_OK) {
        throw std::runtime_error("ours: out of memory");
    }
    nv = kk_model_nv(model);
    mass = kk_model_mass(model);
    timestep = kk_model_options(model).timestep;
    for (int i = 0; i < kk_model_nactuator(model); i++) {
        actuator.push_back(kk_model_actuator(model, i).name);
    }
    keyframe_control.assign(actuator.size(), 0);
    for (int i = 0; i < KK_STAGE_COUNT; i++) {
        seconds.push_back({kk_stage_name(static_cast<kk_stage>(i)), 0});
    }
    tolerance = s.tolerance;
    budget = s.budget;
    factors = s.factors;
    is_race = s.budget > 0;
    is_lenient = s.tolerance > 0;
    set_options(tolerance);
    place(s);
    // What rolls and falls, cheaply; the last of it as it is to go on, and long enough that what ten sweeps held up has come down: a pile gives way
    // to Coulomb's law for some 40 ms, and a ball that this throws off falls for some tenths of a second.
    constexpr int certified = 400;
    budget = s.settle > 0 ? 10 : s.budget;
    for (int i = 0; i < s.settle; i++) {
        budget = i < s.settle - certified ? budget : s.budget;
        set_options(tolerance);
        step(nullptr);
    }
    kk_state_copy(first, state);
    reset();
}

void world_of_ours::place(const start &s) {
    const int key = s.keyframe.empty() ? -1 : kk_model_find_keyframe(model, s.keyframe.c_str());
    if (key >= 0) {
        kk_state_set_keyframe(model, first, key);
        const kk_keyframe_def def = kk_model_keyframe(model, key);
        keyframe_control.assign(def.control, def.control + actuator.size());
    } else if (!s.keyframe.empty()) {
        throw std::runtime_error("ours: no keyframe " + s.keyframe);
    }
    double *q = kk_state_q(first);
    for (const auto &[name, value] : s.joint) {
        const int body = kk_model_find_joint(model, name.c_str());
        if (body < 0) {
            throw std::runtime_error("ours: no joint " + name);
        }
        q[kk_model_joint(model, body).q_index] = value;
    }
    // free joints start from their placement, which is upright in all these files
    if (s.lift != 0) {
        q[kk_model_joint(model, 1).q_index + 6] += s.lift;
    }
    reset();
}

void world_of_ours::set_options(double within) {
    kk_step_options options = {};
    options.tolerance = within;
    options.effort = budget > 0 ? KK_EFFORT_SWEEPS : KK_EFFORT_NEWTON;
    options.iterations = budget > 0 ? budget : factors;
    options.detection = is_race      ? KK_DETECTION_OVERLAP
                        : budget > 0 ? KK_DETECTION_DISCRETE
                                     : KK_DETECTION_CONTINUOUS; // as the engines beside it
    options.clock = is_watched ? seconds_now : nullptr;
    demand(kk_simulator_set_options(simulator, &options, &error), error, "options");
}

bool world_of_ours::watch() {
    const kk_report r = *kk_simulator_report(simulator);
    const double off =
        r.contact_yield > r.residual ? r.contact_yield : r.residual; // what gave way is told as what is left
    worst_residual = off > worst_residual ? off : worst_residual;
    worst_penetration = r.penetration > worst_penetration ? r.penetration : worst_penetration;
    sweeps += r.sweeps;
    newton += r.newton;
    repeated += r.is_cached;
    for (std::size_t i = 0; i < seconds.size(); i++) {
        seconds[i].second += r.seconds[i];
    }
    return true;
}

} // namespace

std::unique_ptr<our_world> make_our_world(const std::string &path, const start &s) {
    return std::make_unique<world_of_ours>(path, s);
}

} // namespace peers
