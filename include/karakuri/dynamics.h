/// Articulated rigid-body dynamics, one call an algorithm.
///
/// Every call takes the model, a data (scratch that can be thrown away; one a thread), inputs, and outputs last. None allocates
/// or locks. A data that was made for another model is noticed: calls give KK_INVALID_ARGUMENT and write nothing, those that return a value
/// give NaN; apart from that, calls fail only where their comments say so. q must hold unit quaternions (kk_model_check_q). Matrices are row-major.
/// Frames of results:
/// - q, v, a, tau in the coordinates of the joints (table in spec.h);
/// - poses X_WB in the world; velocities, accelerations and wrenches in the frame the caller names (kk_reference);
/// - accelerations are *true* (gravity not mixed in) and *spatial* unless the name says classical.
///
/// A data holds the results of the last computing call made with it. A reader (`kk_body_pose`, `kk_joint_wrench`, …) reads what the call
/// named in its comment has left; any other computing call in between may have overwritten it. A data belongs to the model it was made for
/// (or to one that is the same in every number) and to one thread at a time. Ids come from kk_model_find_…; for one that does not exist readers give NaN.
#ifndef KARAKURI_DYNAMICS_H
#define KARAKURI_DYNAMICS_H

#include <karakuri/model.h>

KK_BEGIN_DECLS

typedef struct kk_data kk_data;

/// In whose axes, about whose origin.
typedef enum kk_reference {
    KK_LOCAL,         ///< axes and origin of the frame itself
    KK_WORLD_ORIGIN,  ///< axes of the world, about the world's origin
    KK_WORLD_ALIGNED, ///< axes of the world, about the frame's own origin
} kk_reference;

enum { KK_MATRIX_LIMIT = 1024 };

/// Memory grows with nv; up to KK_MATRIX_LIMIT degrees of freedom the nv × nv matrices of kk_crba and of the calls below it are
/// included.
KK_API kk_status kk_data_create(const kk_model *model, const kk_allocator *allocator, kk_data **data);
/// The same with the matrices whatever their size. On a data without, kk_crba, kk_inertia_matrix, _factor and _inverse, the derivatives
/// and kk_coriolis_matrix return KK_LIMIT_EXCEEDED and write nothing.
KK_API kk_status kk_data_create_with_matrices(const kk_model *model, const kk_allocator *allocator, kk_data **data);
KK_API int kk_data_has_matrices(const kk_data *data);
KK_API void kk_data_free(kk_data *data);

// ---- kinematics -------------------------------------------------------------------------------------------------------------------

/// Poses of every body. @param q [nq]
KK_API kk_status kk_kinematics(const kk_model *model, kk_data *data, const double *q);
/// Poses and velocities. @param v [nv]
KK_API kk_status kk_kinematics_velocity(const kk_model *model, kk_data *data, const double *q, const double *v);
/// Poses, velocities and accelerations. @param a [nv]
KK_API kk_status kk_kinematics_acceleration(const kk_model *model, kk_data *data, const double *q, const double *v,
                                            const double *a);

/// X_WB of a body, after any kk_kinematics call.
KK_API kk_transform kk_body_pose(const kk_model *model, const kk_data *data, int body);
/// Spatial velocity of a body, after kk_kinematics_velocity or _acceleration.
KK_API kk_motion kk_body_velocity(const kk_model *model, const kk_data *data, int body, kk_reference reference);
/// Spatial acceleration of a body, after kk_kinematics_acceleration.
KK_API kk_motion kk_body_acceleration(const kk_model *model, const kk_data *data, int body, kk_reference reference);
/// The acceleration of the body's origin as a person would measure it, a + ω × v, with the angular acceleration; axes as named.
KK_API kk_motion kk_body_classical_acceleration(const kk_model *model, const kk_data *data, int body,
                                                kk_reference reference);
/// The same for a named frame.
KK_API kk_transform kk_frame_pose(const kk_model *model, const kk_data *data, int frame);
KK_API kk_motion kk_frame_velocity(const kk_model *model, const kk_data *data, int frame, kk_reference reference);
KK_API kk_motion kk_frame_acceleration(const kk_model *model, const kk_data *data, int frame, kk_reference reference);
KK_API kk_motion kk_frame_classical_acceleration(const kk_model *model, const kk_data *data, int frame,
                                                 kk_reference reference);

/// Length of a tendon at q, after kk_kinematics of it.
KK_API double kk_tendon_length(const kk_model *model, const kk_data *data, int tendon, const double *q);
/// Its moment arms ∂L/∂q in the coordinates of v, likewise. @param moment [nv] result
KK_API void kk_tendon_moment(const kk_model *model, const kk_data *data, int tendon, double *moment);

// ---- inverse dynamics -------------------------------------------------------------------------------------------------------------

/// Inverse dynamics by the recursive Newton-Euler algorithm, O(nv): the tau that produces acceleration a at (q, v) under gravity.
/// Armature is included; springs, damping and dry friction are not (kk_passive_force has them).
/// @param tau  [nv] result; may alias a
KK_API kk_status kk_inverse_dynamics(const kk_model *model, kk_data *data, const double *q, const double *v,
                                     const double *a, double *tau);
/// The same with forces on bodies. @param external [nbody] wrench on each body, in the body's frame about its origin
KK_API kk_status kk_inverse_dynamics_external(const kk_model *model, kk_data *data, const double *q, const double *v,
                                              const double *a, const kk_force *external, double *tau);
/// Coriolis, centrifugal and gravity forces: inverse dynamics with a = 0.
KK_API kk_status kk_bias_force(const kk_model *model, kk_data *data, const double *q, const double *v, double *tau);
/// Gravity forces alone: inverse dynamics with v = a = 0.
KK_API kk_status kk_gravity_force(const kk_model *model, kk_data *data, const double *q, double *tau);
/// Springs and dampers of the joints: −stiffness (δ − rest) − damping v, δ = q ⊖ neutral (kk_difference). Dry friction is a constraint,
/// not a force law, and is left out. @param tau [nv] result; may alias v
KK_API kk_status kk_passive_force(const kk_model *model, kk_data *data, const double *q, const double *v, double *tau);

/// All six components of what the parent does to the body through its joint, in the body's frame about its origin,
/// after kk_inverse_dynamics (fixed joints included). The moment along a hinge axis leaves out what the armature takes. Zero for
/// the world. O(1); O(nbody) for a body behind a fixed joint.
KK_API kk_force kk_joint_wrench(const kk_model *model, const kk_data *data, int body);
/// What the world does to everything that hangs on it (floor wrench), world axes about the world's origin, after kk_inverse_dynamics:
/// through the joints of the roots, so that of a free root's it is what its tau stands for, and into bodies fixed to the world.
KK_API kk_force kk_floor_wrench(const kk_model *model, const kk_data *data);

// ---- forward dynamics -------------------------------------------------------------------------------------------------------------

/// Forward dynamics by the articulated-body algorithm, O(nv). @param a [nv] result; may alias tau
KK_API kk_status kk_forward_dynamics(const kk_model *model, kk_data *data, const double *q, const double *v,
                                     const double *tau, double *a);
KK_API kk_status kk_forward_dynamics_external(const kk_model *model, kk_data *data, const double *q, const double *v,
                                              const double *tau, const kk_force *external, double *a);
/// Forward dynamics with the couplings held: followers accelerate as their leaders say. O(nv + d ncoupling² + ncoupling³), d as in
/// kk_delassus. KK_SINGULAR if the couplings contradict each other to rounding; KK_LIMIT_EXCEEDED on a data without matrices whose
/// model has more than KK_MATRIX_LIMIT couplings. @param a [nv] result; may alias tau
KK_API kk_status kk_forward_dynamics_coupled(const kk_model *model, kk_data *data, const double *q, const double *v,
                                             const double *tau, double *a);

// ---- joint-space inertia ----------------------------------------------------------------------------------------------------------

/// Composite-rigid-body algorithm: leaves the upper triangle of M in the data.
KK_API kk_status kk_crba(const kk_model *model, kk_data *data, const double *q);
/// What kk_crba left: rows of M, each kk_crba_stride long, valid from the diagonal to the end of the row's subtree; M is zero
/// behind that (off the branches) and mirrored below the diagonal, but neither is written here.
KK_API const double *kk_crba_result(const kk_data *data);
KK_API size_t kk_crba_stride(const kk_model *model);
/// The whole symmetric M. @param M [nv × nv] result
KK_API kk_status kk_inertia_matrix(const kk_model *model, kk_data *data, const double *q, double *M);
/// Branch-sparse factor M = Lᵀ D L of what kk_crba left, which is kept; no fill-in (Featherstone 2005).
/// KK_SINGULAR if M is not positive definite, KK_INVALID_ARGUMENT on a data without matrices.
KK_API kk_status kk_inertia_matrix_factor(const kk_model *model, kk_data *data);
/// x ← M⁻¹ x with the factor. @param x [nv]
KK_API kk_status kk_inertia_matrix_solve(const kk_model *model, const kk_data *data, double *x);
/// y = M x with what kk_crba left. @param y [nv] must not alias x
KK_API kk_status kk_inertia_matrix_mul(const kk_model *model, const kk_data *data, const double *x, double *y);
/// M⁻¹ by kk_crba and its factor, both left in the data. Exactly symmetric. @param Minv [nv × nv] result, both triangles
KK_API kk_status kk_inertia_matrix_inverse(const kk_model *model, kk_data *data, const double *q, double *Minv);

// ---- Jacobians --------------------------------------------------------------------------------------------------------------------

/// Motion axes of every degree of freedom in the world, and poses: what the calls below read.
KK_API kk_status kk_jacobians(const kk_model *model, kk_data *data, const double *q);
/// The axes' rates too.
KK_API kk_status kk_jacobians_rate(const kk_model *model, kk_data *data, const double *q, const double *v);
/// V = J v. @param J [6 × nv] result, rows [angular; linear]
KK_API void kk_body_jacobian(const kk_model *model, const kk_data *data, int body, kk_reference reference, double *J);
KK_API void kk_frame_jacobian(const kk_model *model, const kk_data *data, int frame, kk_reference reference, double *J);
/// dJ/dt, after kk_jacobians_rate.
KK_API void kk_body_jacobian_rate(const kk_model *model, const kk_data *data, int body, kk_reference reference,
                                  double *dJ);
KK_API void kk_frame_jacobian_rate(const kk_model *model, const kk_data *data, int frame, kk_reference reference,
                                   double *dJ);

// ---- center of mass, momentum, energy ---------------------------------------------------------------------------------------------

/// Center of mass of everything with mass, in the world.
KK_API kk_vec3 kk_center_of_mass(const kk_model *model, kk_data *data, const double *q);
/// @param J [3 × nv] result: velocity of the center of mass = J v
KK_API kk_vec3 kk_center_of_mass_jacobian(const kk_model *model, kk_data *data, const double *q, double *J);
/// Centroidal momentum matrix: h = A v, [angular about the center of mass; linear], world axes. @param A [6 × nv] result
KK_API kk_status kk_centroidal(const kk_model *model, kk_data *data, const double *q, double *A);
/// And its time derivative: ḣ = A a + dA v. @param dA [6 × nv] result
KK_API kk_status kk_centroidal_rate(const kk_model *model, kk_data *data, const double *q, const double *v, double *A,
                                    double *dA);
/// Spatial momentum about the center of mass, world axes.
KK_API kk_force kk_centroidal_momentum(const kk_model *model, kk_data *data, const double *q, const double *v);
/// Armature included.
KK_API double kk_kinetic_energy(const kk_model *model, kk_data *data, const double *q, const double *v);
/// Gravity, zero at the world's origin; springs not included.
KK_API double kk_potential_energy(const kk_model *model, kk_data *data, const double *q);

// ---- derivatives and matrices -----------------------------------------------------------------------------------------------------

/// Analytic derivatives of inverse dynamics, along the tangent of kk_integrate.
/// @param dtau_dq, dtau_dv  [nv × nv] results; d tau / d a is M, left as by kk_crba
KK_API kk_status kk_inverse_dynamics_derivatives(const kk_model *model, kk_data *data, const double *q, const double *v,
                                                 const double *a, double *dtau_dq, double *dtau_dv);
/// Analytic derivatives of forward dynamics. KK_SINGULAR where M cannot be factored. @param a [nv], da_dq, da_dv, da_dtau [nv × nv] results; da_dtau is M⁻¹
KK_API kk_status kk_forward_dynamics_derivatives(const kk_model *model, kk_data *data, const double *q, const double *v,
                                                 const double *tau, double *a, double *da_dq, double *da_dv,
                                                 double *da_dtau);
/// tau = Y π with π = (m, m c, inertia xx, xy, yy, xz, yz, zz about the body's origin) of each body but the world, armature left out.
/// @param Y [nv × 10 (nbody − 1)] result
KK_API kk_status kk_torque_regressor(const kk_model *model, kk_data *data, const double *q, const double *v,
                                     const double *a, double *Y);
/// C with tau_bias = C v + gravity and Ṁ − 2C skew-symmetric. @param C [nv × nv] result
KK_API kk_status kk_coriolis_matrix(const kk_model *model, kk_data *data, const double *q, const double *v, double *C);

/// One scalar constraint: a unit wrench on a body, or between two (equal and opposite on the second).
typedef struct kk_constraint_row {
    int body, other;    ///< other may be KK_WORLD
    kk_force direction; ///< world axes about the world's origin
} kk_constraint_row;

/// Delassus matrix G = J M⁻¹ Jᵀ of any set of rows by unit forces on the articulated-body factor (S0), O(nv + d n + d n²) with d the
/// degrees of freedom that feel a row. Exactly symmetric. Any n: 256 rows (64 above 128 degrees of freedom) are worked on at once,
/// more of them in portions. Rows of one pair of bodies are fastest side by side.
/// KK_INVALID_ARGUMENT if a row names no body. @param G [n × n] result
KK_API kk_status kk_delassus(const kk_model *model, kk_data *data, const double *q, const kk_constraint_row *rows,
                             int n, double *G);

// ---- pinned inverse dynamics (S2) -------------------------------------------------------------------------------------------------

/// What the world holds: body `body` stands still at pose X_WB (Z-DYNAFORM, equations 5-9).
typedef struct kk_pin {
    int body;
    kk_transform pose;
} kk_pin;

typedef struct kk_pinned_result {
    kk_force floor; ///< what the world does to the pinned body, world axes about the world's origin
    kk_vec3
        zmp; ///< where the floor's moment has no horizontal part, on the plane z = height; NaN if no force is vertical
    kk_vec3 com; ///< center of mass of the robot
} kk_pinned_result;

/// Inverse dynamics of one free-based robot whose link `pin.body` is fixed to the world.
///
/// The coordinates of the root's free joint in q, v, a are *outputs*: they are found from the pinned link. Hand-over is a matter
/// of calling with another pin whose pose is kk_body_pose of the moment: nothing jumps. Other trees of the model keep their given
/// q, v, a. Afterwards poses, kk_joint_wrench and kk_floor_wrench can be read; the pin's wrench counts as an external force on its body.
/// KK_INVALID_ARGUMENT if the body does not belong to a tree whose root has a free joint on the world.
/// @param q [nq], v [nv], a [nv]  joints given, base found    @param tau [nv] result, zero on the base; must not alias a
/// @param height  of the floor, for the ZMP
KK_API kk_status kk_pinned_inverse_dynamics(const kk_model *model, kk_data *data, const kk_pin *pin, double height,
                                            double *q, double *v, double *a, double *tau, kk_pinned_result *result,
                                            kk_error *error);

KK_END_DECLS
#endif
