/// A robot of ours in Pinocchio, converted from its spec through the public API.
///
/// Everything goes in and comes out in *our* conventions (order of coordinates, quaternions (w, x, y, z), spatial vectors
/// [angular; linear], row-major matrices), so that a caller compares numbers without knowing Pinocchio. Only `run` is meant to be
/// timed: it loops over states that `load` converted beforehand and leaves results where Pinocchio leaves them.
///
/// Pinocchio's headers stay inside pinocchio_peer.cpp, which is compiled with its own flags (-O3 -march=native).
#ifndef KARAKURI_BENCHMARKS_PINOCCHIO_PEER_HPP
#define KARAKURI_BENCHMARKS_PINOCCHIO_PEER_HPP

#include <karakuri/dynamics.h>

#include <memory>
#include <string>
#include <vector>

namespace peers {

enum class algorithm {
    kinematics,
    rnea,
    aba,
    crba,
    rnea_derivatives,
    aba_derivatives,
    jacobians,
    com_jacobian,
    centroidal,
    minverse,
};

/// Where Pinocchio offers two ways to the same result.
enum class convention { local, world };

class pinocchio_robot {
  public:
    /// The model says where each joint sits in q and v. Bodies welded to the world must be massless: Pinocchio leaves the universe's
    /// inertia out of its centre of mass.
    pinocchio_robot(kk_spec *spec, const kk_model *model);
    ~pinocchio_robot();
    pinocchio_robot(const pinocchio_robot &) = delete;
    pinocchio_robot &operator=(const pinocchio_robot &) = delete;

    static std::string version();
    /// How this peer was compiled, for the report.
    static std::string build();
    int nq() const;
    int nv() const;

    /// States in our coordinates, one after the other: q [count × nq], v, a, tau [count × nv].
    void load(int count, const double *q, const double *v, const double *a, const double *tau);
    /// Runs an algorithm over all loaded states, and again, `rounds` times.
    void run(algorithm what, convention how, int rounds);

    // results of one loaded state; matrices row-major
    std::vector<double> body_poses(int state);         ///< [nbody × 12] R row-major, then p
    std::vector<double> body_velocities(int state);    ///< [nbody × 6] in the body's frame
    std::vector<double> body_accelerations(int state); ///< [nbody × 6] spatial, in the body's frame
    std::vector<double> rnea(int state);               ///< [nv]
    std::vector<double> aba(int state, convention how);
    std::vector<double> crba(int state, convention how); ///< [nv × nv] both triangles
    std::vector<double> minverse(int state);
    std::vector<double> body_jacobian(int state, int body, kk_reference reference);      ///< [6 × nv]
    std::vector<double> body_jacobian_rate(int state, int body, kk_reference reference); ///< [6 × nv]
    std::vector<double> com(int state);            ///< [3]
    std::vector<double> com_jacobian(int state);   ///< [3 × nv]
    std::vector<double> centroidal(int state);     ///< [6 × nv]
    std::vector<double> centroidal_rate(int state);
    std::vector<double> energies(int state); ///< kinetic, potential
    std::vector<double> coriolis(int state); ///< [nv × nv]
    /// Derivatives of inverse dynamics: d tau/dq, d tau/dv, one behind the other, [2 × nv × nv].
    std::vector<double> rnea_derivatives(int state);
    /// Derivatives of forward dynamics: da/dq, da/dv, da/dtau, [3 × nv × nv].
    std::vector<double> aba_derivatives(int state);

  private:
    struct inside;
    std::unique_ptr<inside> in;
};

} // namespace peers
#endif
