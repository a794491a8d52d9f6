/// One scene in one engine: reset it, step it, ask it. Ours and MuJoCo read the same MJCF file; engines that read none
/// get the scene as bricks or as a chain.
#ifndef KARAKURI_BENCHMARKS_WORLD_HPP
#define KARAKURI_BENCHMARKS_WORLD_HPP

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace peers {

/// What a file does not say: how the scene starts, and changes to it that both engines make.
struct start {
    std::string keyframe;                              ///< "": every joint at zero
    std::vector<std::pair<std::string, double>> joint; ///< hinges and slides by name, put there afterwards
    double lift = 0;                                   ///< m; the first body, which is free, is moved up by that
    bool hang = false;                                 ///< the first body's free joint is taken away
    double timestep = 0;                               ///< 0: the file's
    double tolerance = 0;                              ///< m/s, of our certificate; 0: 1e-9
    int budget = 0;                                    ///< > 0: so many of our sweeps and no certificate
    int factors = 0; ///< > 0: so many of our factors an island; what they leave is taken and named
    int settle = 0;  ///< steps before the start
    int solver = -1; ///< of MuJoCo: 0 PGS, 1 CG, 2 Newton; −1: the file's
};

class world {
  public:
    virtual ~world() = default;
    virtual void reset() = 0;
    /// @param control  [actuators()] in the order of the file. False where the engine reports a failure.
    virtual bool step(const double *control) = 0;
    virtual int contacts() const = 0;
    virtual double energy() = 0; ///< J; kinetic and potential
    virtual double height() = 0; ///< m; of the center of mass
    /// Of the first failure; "" while there is none.
    virtual std::string failure() const {
        return "";
    }

    int nv = 0;
    double mass = 0, timestep = 0;
    std::vector<std::string> actuator;    ///< names
    std::vector<double> keyframe_control; ///< [actuators] 0 without a keyframe

  protected:
    world() = default;
    world(const world &) = delete;
    world &operator=(const world &) = delete;
};

/// Ours, with what its report says of the steps since the last reset.
class our_world : public world {
  public:
    double worst_residual = 0, worst_penetration = 0;
    long sweeps = 0, newton = 0, repeated = 0;
    bool is_computed = false; ///< every step is computed, those that would change nothing, too
    /// Steps that missed the tolerance: taken again with a hundred times as much, or as they are where factors are bounded.
    std::vector<int> missed;
    /// Seconds a stage since the last reset; the clock costs time itself, so it runs only when asked for.
    virtual void use_clock(bool on) = 0;
    std::vector<std::pair<std::string, double>> seconds;
};

/// Boxes on a floor.
struct brick {
    std::array<double, 3> center, half;
    double mass;
};

/// A body of any shape; without mass it is part of the world.
struct solid {
    enum kind { sphere, box, capsule } shape;
    std::array<double, 3> size; ///< radius; half sides; radius and half length along z
    std::array<double, 3> center;
    std::array<double, 4> turn; ///< quaternion w, x, y, z, of any length
    double mass;
};

/// For engines that read no MJCF. A chain of rods in the plane y = 0 hangs on the origin, one hinge about y each, and is
/// let go horizontally.
struct bricks {
    std::vector<brick> box;
    std::vector<solid> heap;
    double friction = 0;
    int chain = 0; ///< links
    double link_length = 0, link_width = 0, link_mass = 0;
    double timestep = 0;
};

using world_pointer = std::unique_ptr<world>;
/// All throw std::runtime_error with the reason.
std::unique_ptr<our_world> make_our_world(const std::string &path, const start &s);
world_pointer make_mujoco_world(const std::string &path, const start &s);
std::string mujoco_version();

// these are there where the build found the engine
world_pointer make_ode_world(const bricks &b);
world_pointer make_bullet_world(const bricks &b);
world_pointer make_dart_world(const bricks &b);

} // namespace peers
#endif
