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

/// Checks the whole spec and builds the model in one block of memory.
///
/// Refuses, naming the item: non-finite numbers, negative masses, inertias that are not positive or break the triangle
/// inequality, zero axes, duplicate or empty names, limits upside down, cyclic couplings, degrees of freedom that move
/// nothing.
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

/// The configuration with every joint at zero: unit quaternions, zero elsewhere.
/// @param q  [nq] result
KK_API void kk_model_neutral(const kk_model *model, double *q);
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
