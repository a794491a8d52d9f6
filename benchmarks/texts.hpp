/// Scenes of our own, as MJCF text that every engine that reads MJCF gets, and as bricks for the others.
#ifndef KARAKURI_BENCHMARKS_TEXTS_HPP
#define KARAKURI_BENCHMARKS_TEXTS_HPP

#include "peers/world.hpp"

#include <karakuri/spec.h>

#include <string>

namespace benchmarks {

/// Ten cubes of 0.2 m and 8 kg, one on the other.
peers::bricks stack10();
/// Nine layers of three planks of 8 kg, crosswise.
peers::bricks tower27();
/// 34 layers of three planks of 0.2 kg, crosswise, in steps of 10 ms.
peers::bricks tower102();
/// n rods of 0.2 m and 1 kg, integrated by Runge and Kutta.
peers::bricks hinge_chain(int n);
std::string mjcf_of(const peers::bricks &scene);

/// A hundred boxes, spheres and capsules that fall into a bin, turned every way.
peers::bricks pile100(unsigned seed = 1);
/// 216 spheres that fall into a bin.
peers::bricks bin216(unsigned seed = 1);

/// What the humanoid touches the floor with.
struct soles {
    int points = 0; ///< > 0: that many small spheres, shared out between the feet; 0: a box each
};
/// The 36-DoF humanoid of models/robots.c on a floor, with soles and position servos on every hinge.
std::string humanoid_mjcf(const soles &s);

/// A hinge chain of n links as URDF or MJCF text, for parsing.
std::string long_chain_urdf(int n);
std::string long_chain_mjcf(int n);

} // namespace benchmarks
#endif
