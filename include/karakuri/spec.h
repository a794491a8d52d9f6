/// The specification: an editable description of robots and bodies, by C calls, for kk_model_compile.
///
/// A spec is a forest. Body 0 is the world and exists from the start; every other body hangs from an earlier one by one
/// joint. Strings are copied. Everything is checked when the model is compiled, so that a spec may be half-finished
/// while it is edited.
#ifndef KARAKURI_SPEC_H
#define KARAKURI_SPEC_H

#include <karakuri/allocator.h>
#include <karakuri/math.h>
#include <karakuri/status.h>

KK_BEGIN_DECLS

typedef struct kk_spec kk_spec;

enum { KK_WORLD = 0, KK_MAX_JOINT_DOFS = 6 };

/// How a body moves against its parent. J is the joint's moving frame; at q = 0 it lies on the joint's placement.
///
/// | type        | nq | nv | q                                  | v                                   |
/// |-------------|----|----|------------------------------------|-------------------------------------|
/// | fixed       | 0  | 0  |                                    |                                     |
/// | hinge       | 1  | 1  | angle about axis                   | q̇                                   |
/// | slide       | 1  | 1  | travel along axis                  | q̇                                   |
/// | screw       | 1  | 1  | angle; travel = pitch · angle      | q̇                                   |
/// | cylindrical | 2  | 2  | angle about, travel along axis     | q̇                                   |
/// | universal   | 2  | 2  | angle about axis, then about axis2 | q̇                                   |
/// | planar      | 3  | 3  | travel along axis2 and axis × axis2, angle about axis (the normal) | q̇   |
/// | ball        | 4  | 3  | quaternion (w, x, y, z)            | angular velocity in J               |
/// | free        | 7  | 6  | quaternion, position               | [angular; linear] velocity in J     |
typedef enum kk_joint_type {
    KK_JOINT_FIXED,
    KK_JOINT_HINGE,
    KK_JOINT_SLIDE,
    KK_JOINT_SCREW,
    KK_JOINT_CYLINDRICAL,
    KK_JOINT_UNIVERSAL,
    KK_JOINT_PLANAR,
    KK_JOINT_BALL,
    KK_JOINT_FREE,
} kk_joint_type;

/// One degree of freedom of a joint. SI units; angles in rad.
typedef struct kk_dof_def {
    double lower, upper;   ///< limits of q; −inf, +inf: none. Ball: upper of dof 0 bounds the angle of rotation
    double stiffness;      ///< spring, N/m or N m/rad, ≥ 0
    double rest;           ///< position at which the spring is slack
    double damping;        ///< viscous, N s/m or N m s/rad, ≥ 0
    double friction;       ///< dry friction, N or N m, ≥ 0
    double armature;       ///< inertia added on the joint side, kg or kg m², ≥ 0
    double rotor_inertia;  ///< rotor about its own axis; adds rotor_inertia · gear_ratio² to the armature
    double gear_ratio;     ///< rotor turns a joint turn
    double velocity_limit; ///< ≥ 0; +inf: none
    double effort_limit;   ///< ≥ 0; +inf: none
} kk_dof_def;

typedef struct kk_joint_def {
    const char *name; ///< NULL or "": the body's name with "_joint" behind it
    kk_joint_type type;
    kk_transform placement; ///< X_PJ at q = 0, in the parent body's frame
    kk_vec3 axis;           ///< in J; need not be a unit vector
    kk_vec3 axis2;          ///< in J, not parallel to axis. Universal: second axis; planar: x, made perpendicular
    double pitch;           ///< screw: m/rad
    kk_dof_def dof[KK_MAX_JOINT_DOFS];
} kk_joint_def;

typedef struct kk_body_def {
    const char *name; ///< unique among bodies, not empty
    int parent;       ///< id of an earlier body
    kk_joint_def joint;
    kk_transform offset; ///< X_JB, the body's frame in the joint's moving frame; identity in URDF
    kk_inertia inertia;  ///< in the body's frame
} kk_body_def;

/// A named frame (site) anywhere on a body, or in the world.
typedef struct kk_frame_def {
    const char *name; ///< unique among frames and bodies, not empty
    int body;
    kk_transform placement; ///< X_BF
} kk_frame_def;

/// One degree of freedom follows another: q_follower = ratio · q_leader + offset. URDF's mimic, gear trains.
typedef struct kk_coupling_def {
    const char *name;              ///< NULL or "": no name
    const char *follower, *leader; ///< joint names
    int follower_dof, leader_dof;  ///< which degree of the joint, 0 for hinges and slides
    double ratio, offset;
} kk_coupling_def;

/// No limits, no spring, no losses, gear ratio 1.
KK_API kk_dof_def kk_dof_def_default(void);
/// A hinge about z at the parent's origin.
KK_API kk_joint_def kk_joint_def_default(void);
/// A massless body on the world with a default joint.
KK_API kk_body_def kk_body_def_default(void);
/// At the body's origin, on the world.
KK_API kk_frame_def kk_frame_def_default(void);
/// Ratio 1, offset 0.
KK_API kk_coupling_def kk_coupling_def_default(void);

/// Inertia of a solid of uniform density about its centre, for quick models.
KK_API kk_inertia kk_inertia_solid_box(double mass, double size_x, double size_y, double size_z);
KK_API kk_inertia kk_inertia_solid_sphere(double mass, double radius);
/// Axis along z.
KK_API kk_inertia kk_inertia_solid_cylinder(double mass, double radius, double length);

KK_API kk_status kk_spec_create(const kk_allocator *allocator, kk_spec **spec);
KK_API void kk_spec_free(kk_spec *spec);

/// @param id  [out] the body's id, which is also its id in the model; may be NULL
KK_API kk_status kk_spec_add_body(kk_spec *spec, const kk_body_def *def, int *id, kk_error *error);
KK_API kk_status kk_spec_add_frame(kk_spec *spec, const kk_frame_def *def, int *id, kk_error *error);
KK_API kk_status kk_spec_add_coupling(kk_spec *spec, const kk_coupling_def *def, int *id, kk_error *error);
/// Default (0, 0, −9.81).
KK_API void kk_spec_set_gravity(kk_spec *spec, kk_vec3 gravity);

/// For editing in place; NULL if there is no such id. Valid until the next kk_spec_add_… of the same kind. Names should
/// be changed by the calls below, which copy them; a name set through the pointer must outlive the spec.
KK_API kk_body_def *kk_spec_body(kk_spec *spec, int id);
KK_API kk_frame_def *kk_spec_frame(kk_spec *spec, int id);
KK_API kk_coupling_def *kk_spec_coupling(kk_spec *spec, int id);
/// Couplings name joints, so a renamed joint must be renamed in its couplings, too.
KK_API kk_status kk_spec_rename_body(kk_spec *spec, int id, const char *name, kk_error *error);
KK_API kk_status kk_spec_rename_joint(kk_spec *spec, int body, const char *name, kk_error *error);
KK_API kk_status kk_spec_rename_frame(kk_spec *spec, int id, const char *name, kk_error *error);
KK_API int kk_spec_body_count(const kk_spec *spec);
KK_API int kk_spec_frame_count(const kk_spec *spec);
KK_API int kk_spec_coupling_count(const kk_spec *spec);

KK_END_DECLS
#endif
