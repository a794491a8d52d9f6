/// The model: compiled from a spec, never changes, may be shared by any number of threads.
///
/// Bodies and frames keep the ids and order of the spec. Coordinates are numbered depth first from the roots, so that
/// every subtree is one contiguous range of v; look indices up by joint rather than assume them.
#ifndef KARAKURI_MODEL_H
#define KARAKURI_MODEL_H

#include <karakuri/spec.h>

KK_BEGIN_DECLS

typedef struct kk_model kk_model;

/// Where a body's joint sits in q and v, and what it is.
typedef struct kk_joint_info {
    const char *name;
    kk_joint_type type;
    int q_index, nq; ///< first coordinate and how many
    int v_index, nv; ///< first degree of freedom and how many
} kk_joint_info;

/// What an actuator pulls on and within which limits. Ids are −1 where they do not apply.
typedef struct kk_actuator_info {
    const char *name;
    kk_actuator_type type;
    kk_transmission transmission;
    int joint, v_index;   ///< joints: id of the body whose joint it is, degree of freedom
    int tendon;           ///< tendons
    int frame, reference; ///< frames; reference −1: the frame itself
    int activation_index; ///< of its activation in the state; −1: none
    double gear, gain, bias[3];
    double control_lower, control_upper, force_lower, force_upper;
} kk_actuator_info;

/// What a sensor sits on and where its numbers stand among all sensor data.
typedef struct kk_sensor_info {
    const char *name;
    kk_sensor_type type;
    int target;         ///< by type: body of the joint, actuator, frame or body, tendon, body; −1: none
    int target_is_body; ///< frames: the target is a body
    int dof;
    int first, count; ///< first reading and how many
} kk_sensor_info;

/// What holds where two shapes touch; all numbers filled in.
typedef struct kk_contact_law {
    double friction, static_friction;
    double friction_across; ///< along the y axis of shape `axes`, friction being that along its x axis
    int axes;               ///< id of a shape
    double torsion, rolling, restitution, stiffness, damping, adhesion, slip;
} kk_contact_law;

/// Checks the whole spec and builds the model.
///
/// Refuses, naming the item and where it was written: non-finite numbers, negative masses, inertias that are not positive
/// or break the triangle inequality, zero axes, duplicate or empty names, limits upside down, cyclic couplings, degrees
/// of freedom that move nothing, shapes without size, faces without vertices, unknown targets.
KK_API kk_status kk_model_compile(const kk_spec *spec, const kk_allocator *allocator, kk_model **model,
                                  kk_error *error);
KK_API void kk_model_free(kk_model *model);

KK_API int kk_model_nq(const kk_model *model);    ///< coordinates
KK_API int kk_model_nv(const kk_model *model);    ///< degrees of freedom
KK_API int kk_model_nbody(const kk_model *model); ///< the world included
KK_API int kk_model_nframe(const kk_model *model);
KK_API int kk_model_ncoupling(const kk_model *model);
KK_API kk_vec3 kk_model_gravity(const kk_model *model);
KK_API double kk_model_mass(const kk_model *model); ///< of everything that moves or hangs on the world
/// Hash of everything that can change a result; equal on every machine for the same spec.
KK_API uint64_t kk_model_hash(const kk_model *model);

/// Ids by name; −1 if there is none.
KK_API int kk_model_find_body(const kk_model *model, const char *name);
KK_API int kk_model_find_frame(const kk_model *model, const char *name);
/// The id of the body whose joint has that name; −1 if there is none.
KK_API int kk_model_find_joint(const kk_model *model, const char *name);

KK_API const char *kk_model_body_name(const kk_model *model, int body);
KK_API const char *kk_model_frame_name(const kk_model *model, int frame);
KK_API int kk_model_body_parent(const kk_model *model, int body); ///< −1 for the world
KK_API kk_inertia kk_model_body_inertia(const kk_model *model, int body);
KK_API kk_joint_info kk_model_joint(const kk_model *model, int body);
/// Parameters of degree of freedom `dof` of v, armature with the rotor's share included.
KK_API kk_dof_def kk_model_dof(const kk_model *model, int dof);
/// The body and the place on it where a frame sits.
KK_API int kk_model_frame_body(const kk_model *model, int frame);
KK_API kk_transform kk_model_frame_placement(const kk_model *model, int frame);

// ---- the scene. An id that does not exist gives NULL, −1 or a default. Strings and arrays are the model's.

KK_API const char *kk_model_name(const kk_model *model);
KK_API kk_options kk_model_options(const kk_model *model);
KK_API int kk_model_nshape(const kk_model *model);
KK_API int kk_model_nmesh(const kk_model *model);
KK_API int kk_model_nheight_field(const kk_model *model);
KK_API int kk_model_nvisual(const kk_model *model);
KK_API int kk_model_nmaterial(const kk_model *model);
KK_API int kk_model_nloop(const kk_model *model);
KK_API int kk_model_ntendon(const kk_model *model);
KK_API int kk_model_nactuator(const kk_model *model);
KK_API int kk_model_nsensor(const kk_model *model);
KK_API int kk_model_nkeyframe(const kk_model *model);
KK_API int kk_model_nactivation(const kk_model *model); ///< activations: numbers of actuators in the state
KK_API int kk_model_nsensordata(const kk_model *model); ///< numbers of all sensors together

KK_API int kk_model_find_shape(const kk_model *model, const char *name);
KK_API int kk_model_find_mesh(const kk_model *model, const char *name);
KK_API int kk_model_find_height_field(const kk_model *model, const char *name);
KK_API int kk_model_find_material(const kk_model *model, const char *name);
KK_API int kk_model_find_loop(const kk_model *model, const char *name);
KK_API int kk_model_find_tendon(const kk_model *model, const char *name);
KK_API int kk_model_find_actuator(const kk_model *model, const char *name);
KK_API int kk_model_find_sensor(const kk_model *model, const char *name);
KK_API int kk_model_find_keyframe(const kk_model *model, const char *name);

/// Definitions as the spec had them, rotations made orthonormal, without origin.
KK_API kk_shape_def kk_model_shape(const kk_model *model, int shape);
KK_API kk_mesh_def kk_model_mesh(const kk_model *model, int mesh);
KK_API kk_height_field_def kk_model_height_field(const kk_model *model, int field);
KK_API kk_visual_def kk_model_visual(const kk_model *model, int visual);
KK_API kk_material_def kk_model_material(const kk_model *model, int material);
KK_API const char *kk_model_loop_name(const kk_model *model, int loop);
KK_API const char *kk_model_tendon_name(const kk_model *model, int tendon);
KK_API kk_actuator_info kk_model_actuator(const kk_model *model, int actuator);
KK_API kk_sensor_info kk_model_sensor(const kk_model *model, int sensor);
/// In the model's order of coordinates, everything filled in; see kk_state_set_keyframe.
KK_API kk_keyframe_def kk_model_keyframe(const kk_model *model, int keyframe);
/// 1 where two shapes may touch. @param law  what holds then; may be NULL
KK_API int kk_model_may_touch(const kk_model *model, int shape_a, int shape_b, kk_contact_law *law);

/// The configuration with every joint at zero: unit quaternions, zero elsewhere.
/// @param q  [nq] result
KK_API void kk_model_neutral(const kk_model *model, double *q);
/// The configuration that a new state has: every joint at its start (kk_dof_def.start).
/// @param q  [nq] result
KK_API void kk_model_start(const kk_model *model, double *q);
/// Checks that q is finite and its quaternions are of unit length to 1e-6; names the joint that is not.
KK_API kk_status kk_model_check_q(const kk_model *model, const double *q, kk_error *error);
/// A reproducible random configuration: hinges within limits (or ±π), slides within limits (or ±1 m), quaternions
/// uniform (ball joints with a limit: within it). Couplings are not applied.
KK_API void kk_model_random_q(const kk_model *model, uint64_t seed, uint64_t stream, double *q);

/// q_out = q ⊕ v: moves along the velocity v for one unit of time. Quaternions by the exponential map. May alias q.
KK_API void kk_integrate(const kk_model *model, const double *q, const double *v, double *q_out);
/// v with q0 ⊕ v = q1, the shortest way.
KK_API void kk_difference(const kk_model *model, const double *q0, const double *q1, double *v);
/// Scales every quaternion back to unit length.
KK_API void kk_normalize(const kk_model *model, double *q);

/// Couplings: the set of independent degrees of freedom.
/// @param q [nq], @param v [nv] followers are overwritten from their leaders; either may be NULL
KK_API void kk_couplings_apply(const kk_model *model, double *q, double *v);
/// v = G v_independent. @param G [nv × kk_couplings_independent(model)] row-major, result
KK_API int kk_couplings_independent(const kk_model *model);
KK_API void kk_couplings_matrix(const kk_model *model, double *G);

KK_END_DECLS
#endif
