// The cases, and what others have published for them: leggedrobotics/SimBenchmark, 2018 to 2021, on an i7-7700HQ; RaiSim, Bullet 2.88
// (multi-body), ODE 0.15.2, MuJoCo 1.50, DART 6.4. Where an engine has figures for several solvers, its best error counts.
#include <stddef.h>

#include "simbench.h"

const char *const simbench_published_names[SIMBENCH_ENGINES] = {"RaiSim", "Bullet", "ODE", "MuJoCo", "DART"};

#define NOTHING \
    { -1, -1, -1, -1, -1 }
#define UNPUBLISHED \
    { NOTHING, NOTHING }
#define ROBOTS 50000 // steps

static const char about_rolling[] = "mean of |v - v*|^2 of a ball and the plate, m2/s2";
static const char about_energy[] = "mean of (E - E0)^2, J2";
static const char about_overlap[] = "mean of the sum of squared overlaps, m2";
static const char about_kapla[] = "steps that the tower stands, of 60 000";
static const char about_robots[] = "time alone";
static const char about_momentum[] = "mean of |p - p0|^2, kg2 m2/s2";

// clang-format off
const simbench_case simbench_cases[] = {
    {"rolling-xy", about_rolling, 1e-3, 0, true, false, {{4.1e-7, 3.9e-27, 3.14, 2.4e-3, 3.14}, {0.31, 0.56, -1, 4, -1}}},
    {"rolling-y", about_rolling, 1e-3, 0, true, false, UNPUBLISHED},
    {"bouncing", about_energy, 1e-5, 0, false, false, UNPUBLISHED},
    {"bouncing", about_energy, 1e-4, 0, false, false, UNPUBLISHED},
    {"bouncing", about_energy, 1e-3, 0, false, false, {{0.0186, 7.5e4, 185, -1, 7.2e4}, {0.235, 0.85, 1.86, -1, 3.2}}},
    {"bouncing", about_energy, 1e-2, 0, true, false, UNPUBLISHED},
    {"bouncing", about_energy, 0.1, 0, true, false, UNPUBLISHED},
    {"666", about_overlap, 1e-4, 0, false, false, UNPUBLISHED},
    {"666", about_overlap, 1e-3, 0, false, false, {{1.35e-4, 0.382, 1.57e-4, 0.095, 2.8e-4}, {1.51, 12, 10, 12, 22.9}}},
    {"666", about_overlap, 1e-2, 0, false, false, {{0.0153, 37, 0.0162, 0.934, 215}, {0.168, 2, 1, 1.7, 3.07}}},
    {"666", about_overlap, 0.1, 0, false, false, UNPUBLISHED},
    {"elastic-666", about_energy, 1e-4, 0, false, false, UNPUBLISHED},
    {"elastic-666", about_energy, 1e-3, 0, false, false, {{8.37, 4.1e4, 112, -1, 3.5e5}, {0.655, 2.3, 5.6, -1, 8.1}}},
    {"elastic-666", about_energy, 1e-2, 0, false, false, UNPUBLISHED},
    {"elastic-666", about_energy, 0.1, 0, false, false, UNPUBLISHED},
    {"kapla", about_kapla, 0.01, 0, false, true, {{60000, 55058, 6453, 3297, 19}, {2880, -1, -1, -1, -1}}},
    {"anymal", about_robots, 5e-3, 1, true, false, {NOTHING, {8.16e-6 * ROBOTS, 73.7e-6 * ROBOTS, 462e-6 * ROBOTS, 34.8e-6 * ROBOTS, 117e-6 * ROBOTS}}},
    {"anymal", about_robots, 5e-3, 4, false, false, UNPUBLISHED},
    {"anymal", about_robots, 5e-3, 25, false, false, UNPUBLISHED},
    {"anymal", about_robots, 5e-3, 100, false, false, {NOTHING, {67.8, -1, 3146, 234, 688}}},
    {"momentum", about_momentum, 1e-3, 0, true, false, {{4.7e-5, 2.7e-4, 1e-26, 3e-13, 169}, NOTHING}},
    {"energy", about_energy, 1e-3, 0, true, false, {{0.0118, 3.65, 3.9, 1.6e-17, 237}, NOTHING}},
    {NULL, NULL, 0, 0, false, false, UNPUBLISHED},
};
// clang-format on
