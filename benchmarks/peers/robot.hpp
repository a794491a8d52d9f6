/// One robot seen through several engines: ours, Pinocchio, MuJoCo.
///
/// Each engine converts the same spec through the public API and answers in *our* conventions (order of coordinates,
/// quaternions (w, x, y, z), spatial vectors [angular; linear], row-major matrices), so that a caller compares numbers
/// without knowing the engine. Benchmarks time `run`, which loops over states converted beforehand and leaves results
/// where the engine leaves them; the cross-check and the golden files ask `result`.
///
/// Each engine's headers stay inside its own source, which is compiled with its own flags.
#ifndef KARAKURI_BENCHMARKS_PEERS_ROBOT_HPP
#define KARAKURI_BENCHMARKS_PEERS_ROBOT_HPP

#include <karakuri/dynamics.h>

#include <memory>
#include <string>
#include <vector>

namespace peers {

using numbers = std::vector<double>;

/// What can be timed.
enum class algorithm {
    kinematics,
    rnea,
    aba,
    crba,
    minverse,
    rnea_derivatives,
    aba_derivatives,
    jacobians,
    com_jacobian,
    centroidal,
};

/// What can be compared. Name; shape; relative bar.
// clang-format off
#define PEERS_QUANTITY_LIST(X)                                                                             \
    X(poses, 1e-12)                      /* [nbody × 12] R row-major, then p */                            \
    X(frame_poses, 1e-12)                /* [nframe × 12] */                                               \
    X(velocities, 1e-12)                 /* [nbody × 6] in the body's frame */                             \
    X(accelerations, 1e-12)              /* [nbody × 6] spatial, in the body's frame */                    \
    X(classical_accelerations, 1e-12)    /* [nbody × 6] in the body's frame */                             \
    X(rnea, 1e-12)                       /* [nv] */                                                        \
    X(rnea_external, 1e-12)              /* [nv] */                                                        \
    X(bias, 1e-12)                       /* [nv] a = 0 */                                                  \
    X(gravity, 1e-12)                    /* [nv] v = a = 0 */                                              \
    X(joint_wrenches, 1e-12)             /* [moving bodies × 6] in the body's frame, after rnea */         \
    X(floor_wrench, 1e-12)               /* [6] after rnea */                                              \
    X(coriolis, 1e-12)                   /* [nv] C v */                                                    \
    X(regressor, 1e-12)                  /* [nv] Y π, armature left out */                                 \
    X(aba, 1e-12)                        /* [nv] */                                                        \
    X(aba_external, 1e-12)               /* [nv] */                                                        \
    X(crba, 1e-12)                       /* [nv × nv] both triangles */                                    \
    X(minverse, 1e-12)                   /* [nv × nv] both triangles */                                    \
    X(aba_solved, 1e-12)                 /* [nv] M⁻¹ (tau − bias), solved in extended precision */         \
    X(minverse_solved, 1e-12)            /* [nv × nv] M inverted in extended precision */                  \
    X(delassus, 1e-12)                   /* [n × n] of the rows that constraint_rows gives */              \
    X(jacobians_local, 1e-12)            /* [nbody × 6 × nv] */                                            \
    X(jacobians_world, 1e-12)            /* [nbody × 6 × nv] */                                            \
    X(jacobians_aligned, 1e-12)          /* [nbody × 6 × nv] */                                            \
    X(jacobian_rates_local, 1e-12)       /* [nbody × 6 × nv] */                                            \
    X(jacobian_rates_world, 1e-12)       /* [nbody × 6 × nv] */                                            \
    X(jacobian_rates_aligned, 1e-12)     /* [nbody × 6 × nv] */                                            \
    X(frame_jacobians, 1e-12)            /* [nframe × 3 references × 6 × nv] */                            \
    X(frame_jacobian_rates, 1e-12)       /* [nframe × 3 references × 6 × nv] */                            \
    X(com, 1e-12)                        /* [3] */                                                         \
    X(com_jacobian, 1e-12)               /* [3 × nv] */                                                    \
    X(centroidal, 1e-12)                 /* [6 × nv] */                                                    \
    X(centroidal_rate, 1e-12)            /* [6] dA v; the matrix itself is not the same in every engine */ \
    X(momentum, 1e-12)                   /* [6] about the center of mass */                                \
    X(energies, 1e-12)                   /* kinetic, potential */                                          \
    X(rnea_derivatives_q, 1e-10)         /* [nv × nv] */                                                   \
    X(rnea_derivatives_v, 1e-10)         /* [nv × nv] */                                                   \
    X(aba_derivatives_q, 1e-10)          /* [nv × nv] */                                                   \
    X(aba_derivatives_v, 1e-10)          /* [nv × nv] */                                                   \
    X(aba_derivatives_tau, 1e-10)        /* [nv × nv] */                                                   \
    X(aba_derivatives_timed, 1e-10)      /* [3 × nv × nv] all three as the timed call gives them */
// clang-format on

enum class quantity {
#define PEERS_QUANTITY_ENUM(name, bar) name,
    PEERS_QUANTITY_LIST(PEERS_QUANTITY_ENUM)
#undef PEERS_QUANTITY_ENUM
};

struct quantity_info {
    quantity what;
    const char *name;
    double bar;
};

inline const std::vector<quantity_info> &quantities() {
    static const std::vector<quantity_info> list = {
#define PEERS_QUANTITY_INFO(name, bar) {quantity::name, #name, bar},
        PEERS_QUANTITY_LIST(PEERS_QUANTITY_INFO)
#undef PEERS_QUANTITY_INFO
    };
    return list;
}

/// Many states of one robot, one after the other, in our coordinates.
struct states {
    int count = 0;
    numbers q;                      ///< [count × nq]
    numbers v, a, tau;              ///< [count × nv]
    std::vector<kk_force> external; ///< [count × nbody] in each body's frame about its origin
};

/// Some constraints between bodies or on them, for the Delassus matrix: one a body, six at most.
inline std::vector<kk_constraint_row> constraint_rows(const states &all, int nbody, int state) {
    std::vector<kk_constraint_row> rows;
    for (int body = 1; body < nbody && body <= 6; body++) {
        const kk_force &direction = all.external[static_cast<std::size_t>(state * nbody + body)];
        rows.push_back({body, body % 2 ? KK_WORLD : (body + 1) % nbody, direction});
    }
    return rows;
}

class robot {
  public:
    virtual ~robot() = default;
    virtual void load(const states &all) = 0;
    /// The quantity at one loaded state; empty where the engine does not offer it.
    virtual numbers result(quantity what, int state) = 0;
    /// Runs an algorithm over all loaded states, `rounds` times.
    virtual void run(algorithm what, int variant, int rounds) = 0;
    /// In how many ways the engine computes it; 0: not offered.
    virtual int variants(algorithm what) const = 0;
};

/// The spec must outlive the robot only for the length of the call; the model must outlive it.
std::unique_ptr<robot> make_ours(kk_spec *spec, const kk_model *model);
/// Bodies welded to the world must be massless: Pinocchio leaves the universe's inertia out of its center of mass.
/// @param whole_joints  cylindrical, universal and planar joints as one joint of theirs each, not as several simple ones
std::unique_ptr<robot> make_pinocchio(kk_spec *spec, const kk_model *model, bool whole_joints = false);
/// Free joints only on the world and without armature, balls with one armature for all axes, no screws.
std::unique_ptr<robot> make_mujoco(kk_spec *spec, const kk_model *model);

std::string pinocchio_version();
std::string pinocchio_build(); ///< how its templates were compiled
std::string mujoco_version();

} // namespace peers
#endif
