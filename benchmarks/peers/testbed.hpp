/// A compiled robot with random states, owned: what benchmarks, cross-check and golden files start from.
#ifndef KARAKURI_BENCHMARKS_PEERS_TESTBED_HPP
#define KARAKURI_BENCHMARKS_PEERS_TESTBED_HPP

#include "../../models/robots.h"
#include "robot.hpp"

#include <cmath>
#include <functional>
#include <random>
#include <stdexcept>

namespace peers {

/// Reproducible states: q anywhere (limits kept), v and a in ±1, tau and outer forces in ±10.
inline states random_states(const kk_model *model, int count, std::uint64_t seed) {
    states all;
    all.count = count;
    const int nq = kk_model_nq(model), nv = kk_model_nv(model), nbody = kk_model_nbody(model);
    all.q.resize(static_cast<std::size_t>(count * nq));
    for (int s = 0; s < count; s++) {
        kk_model_random_q(model, seed, static_cast<std::uint64_t>(s), &all.q[static_cast<std::size_t>(s * nq)]);
    }
    std::mt19937_64 dice(seed);
    const auto in = [&dice](double reach) { return reach * (static_cast<double>(dice() >> 11) * 0x1p-52 - 1.0); };
    for (int i = 0; i < count * nv; i++) {
        all.v.push_back(in(1));
        all.a.push_back(in(1));
        all.tau.push_back(in(10));
    }
    for (int i = 0; i < count * nbody; i++) {
        kk_force f = {};
        if (i % nbody != KK_WORLD) {
            f = {{in(10), in(10), in(10)}, {in(10), in(10), in(10)}};
        }
        all.external.push_back(f);
    }
    return all;
}

class testbed {
  public:
    using builder = std::function<kk_status(kk_spec *, kk_error *)>;

    explicit testbed(const builder &build) {
        kk_error error = {};
        check(kk_spec_create(nullptr, &spec), error);
        check(build(spec, &error), error);
        check(kk_model_compile(spec, nullptr, &model, &error), error);
    }
    ~testbed() {
        kk_model_free(model);
        kk_spec_free(spec);
    }
    testbed(const testbed &) = delete;
    testbed &operator=(const testbed &) = delete;

    states random_states(int count, std::uint64_t seed) const {
        return peers::random_states(model, count, seed);
    }

    kk_spec *spec = nullptr;
    kk_model *model = nullptr;

  private:
    static void check(kk_status status, const kk_error &error) {
        if (status != KK_OK) {
            throw std::runtime_error(std::string(kk_status_name(status)) + ": " + error.text);
        }
    }
};

/// Below this magnitude a quantity is but what rounding left of larger terms that cancel, and is judged absolutely.
inline double least_magnitude(quantity what) {
    switch (what) {
    case quantity::jacobian_rates_local:
    case quantity::jacobian_rates_world:
    case quantity::jacobian_rates_aligned:
    case quantity::frame_jacobian_rates:
    case quantity::rnea_derivatives_v: return 0.1;
    case quantity::coriolis:
    case quantity::centroidal_rate: return 1;
    default: return 1e-3;
    }
}

/// Largest difference over the largest magnitude, but at least `least`; NaN counts as infinite.
inline double relative_error(const numbers &a, const numbers &b, double least) {
    if (a.size() != b.size()) {
        return HUGE_VAL;
    }
    double difference = 0, magnitude = least;
    for (std::size_t i = 0; i < a.size(); i++) {
        if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
            return HUGE_VAL;
        }
        difference = std::fmax(difference, std::fabs(a[i] - b[i]));
        magnitude = std::fmax(magnitude, std::fmax(std::fabs(a[i]), std::fabs(b[i])));
    }
    return difference / magnitude;
}

} // namespace peers
#endif
