/// Other engines behind the table of SimBenchmark (tools/cli/simbench/simbench.h), and what all of them need of its robot.
#ifndef KARAKURI_BENCHMARKS_SIMBENCH_PEERS_HPP
#define KARAKURI_BENCHMARKS_SIMBENCH_PEERS_HPP

#include "../../tools/cli/simbench/simbench.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

namespace peers {

/// Every variant of an engine; each is there where the build found the engine.
std::vector<const simbench_engine *> simbench_of_mujoco();
std::vector<const simbench_engine *> simbench_of_ode();
std::vector<const simbench_engine *> simbench_of_bullet();
std::vector<const simbench_engine *> simbench_of_dart();

using triple = std::array<double, 3>;

/// Where a link is: world position of its frame, rotation by rows.
struct placed_link {
    triple p{};
    std::array<double, 9> R{1, 0, 0, 0, 1, 0, 0, 0, 1};

    triple point(const double x[3]) const {
        triple out = p;
        for (std::size_t i = 0; i < 3; i++) {
            for (std::size_t k = 0; k < 3; k++) {
                out[i] += R[3 * i + k] * x[k];
            }
        }
        return out;
    }
    triple direction(const double x[3]) const {
        triple out = point(x);
        for (std::size_t i = 0; i < 3; i++) {
            out[i] -= p[i];
        }
        return out;
    }
};

/// All links of a robot as it starts.
inline std::vector<placed_link> place_robot(const simbench_scene &scene, int robot) {
    std::vector<placed_link> all(SIMBENCH_LINKS);
    simbench_robot_place(&scene, robot, all[0].p.data());
    for (int i = 1; i < SIMBENCH_LINKS; i++) {
        const simbench_link l = simbench_robot_link(i);
        const placed_link &up = all[static_cast<std::size_t>(l.parent)];
        placed_link &x = all[static_cast<std::size_t>(i)];
        const double c = std::cos(l.target), s = std::sin(l.target);
        const bool about_x = l.axis[0] != 0;
        const std::array<double, 9> turn = about_x ? std::array<double, 9>{1, 0, 0, 0, c, -s, 0, s, c}
                                                   : std::array<double, 9>{c, 0, s, 0, 1, 0, -s, 0, c};
        x.p = up.point(l.at);
        for (std::size_t a = 0; a < 3; a++) {
            for (std::size_t b = 0; b < 3; b++) {
                x.R[3 * a + b] = 0;
                for (std::size_t k = 0; k < 3; k++) {
                    x.R[3 * a + b] += up.R[3 * a + k] * turn[3 * k + b];
                }
            }
        }
    }
    return all;
}

} // namespace peers
#endif
