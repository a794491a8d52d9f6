/// The specification: an editable description of robots and bodies, by C calls, for kk_model_compile.
///
/// A spec is a forest. Body 0 is the world and exists from the start; every other body hangs from an earlier one by one
/// joint. Strings are copied. Everything is checked when the model is compiled, so that a spec may be half-finished
/// while it is edited.
#ifndef KARAKURI_SPEC_H
#define KARAKURI_SPEC_H

#include <karakuri/actuator.h>
#include <karakuri/allocator.h>
#include <karakuri/constraint.h>
#include <karakuri/material.h>
#include <karakuri/math.h>
#include <karakuri/sensor.h>
#include <karakuri/shape.h>
#include <karakuri/status.h>

KK_BEGIN_DECLS

typedef struct kk_spec kk_spec;

enum { KK_WORLD = 0, KK_MAX_JOINT_DOFS = 6 };
/// Places, starts and keyframes farther than this, in m or rad, are refused: there a millionth of a meter is below what a double can tell.
#define KK_FARTHEST 1e10

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
    double start;          ///< q in a new state, MuJoCo's qpos0; ball and free joints start at the identity
    double damping;        ///< viscous, N s/m or N m s/rad, ≥ 0
    double friction;       ///< dry friction, N or N m, ≥ 0
    double armature;       ///< inertia added on the joint side, kg or kg m², ≥ 0
    double rotor_inertia;  ///< rotor about its own axis; adds rotor_inertia · gear_ratio² to the armature
    double gear_ratio;     ///< rotor turns a joint turn
    double restitution;    ///< of its limits: share of the speed that a stop gives back, 0 … 1
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
    kk_origin origin;
} kk_joint_def;

typedef struct kk_body_def {
    const char *name; ///< unique among bodies, not empty
    int parent;       ///< id of an earlier body
    kk_joint_def joint;
    kk_transform offset; ///< X_JB, the body's frame in the joint's moving frame; identity in URDF
    kk_inertia inertia;  ///< in the body's frame
    /// 1: the body stands for one of several joints between its parent and its only child (MJCF writes them into one body). Links on the two
    /// sides of such a chain are neighbors, which do not collide.
    int is_joint_part;
    /// 1: the body, fixed to the world, is part of it, as MuJoCo has it: what a joint connects to it may touch it. 0: it is the neighbor of what is
    /// connected to it, as an arm's pedestal.
    int is_ground;
    /// Share of its weight that the body is relieved of by a force on its center of mass; 1: it floats, 0: nothing, beyond 1 it rises. In a step that
    /// force is one from outside (kk_audit.applied); inverse dynamics and energies are those without it.
    double gravity_compensation;
    kk_origin origin;
} kk_body_def;

/// A named frame (site) anywhere on a body, or in the world.
typedef struct kk_frame_def {
    const char *name; ///< unique among frames and bodies, not empty
    int body;
    kk_transform placement; ///< X_BF
    kk_origin origin;
} kk_frame_def;

/// One degree of freedom follows another: q_follower = ratio · q_leader + offset. URDF's mimic, gear trains.
typedef struct kk_coupling_def {
    const char *name;              ///< NULL or "": no name
    const char *follower, *leader; ///< joint names
    int follower_dof, leader_dof;  ///< which degree of the joint, 0 for hinges and slides
    double ratio, offset;
    kk_origin origin;
} kk_coupling_def;

/// A state by name. Coordinates stand body after body in the order of the spec, each joint's as in the table above.
typedef struct kk_keyframe_def {
    const char *name; ///< NULL or "": none; otherwise unique among keyframes
    double time;
    const double *q;       ///< [sum of the joints' nq] NULL: every joint at its start
    const double *v;       ///< [sum of the joints' nv] NULL: at rest
    const double *control; ///< [actuators] NULL: zero
    int q_count, v_count, control_count;
    kk_origin origin;
} kk_keyframe_def;

/// A text that drives the scene, kept and saved with it: the engine does not read it (docs/guide/viewer.md, Behaviour).
typedef struct kk_script_def {
    const char *name; ///< as other scripts import it; NULL or "": the one that runs
    const char *text;
    kk_origin origin;
} kk_script_def;

/// A number that a script reads and a slider sets.
typedef struct kk_parameter_def {
    const char *name;
    double value, lower, upper;
    kk_origin origin;
} kk_parameter_def;

/// How the step integrates.
typedef enum kk_integrator {
    KK_INTEGRATOR_MIDPOINT, ///< semi-implicit: half drift, kick, half drift; the default
    KK_INTEGRATOR_RK4,      ///< forces of contact held through the step (S0)
} kk_integrator;

/// What belongs to the whole scene.
typedef struct kk_options {
    kk_vec3 gravity; ///< (0, 0, −9.81)
    double timestep; ///< 1e-3 s
    kk_integrator integrator;
    int adjacent_collide; ///< 1: bodies joined by a joint may touch as well; 0
    int max_contacts; ///< contact points that a simulator begins with room for; it takes more when they come. 0: a few
    kk_vec3 magnetic; ///< flux that sensors of the magnetic field read, world; zero
} kk_options;

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

/// Inertia of a solid of uniform density about its center, for quick models.
KK_API kk_inertia kk_inertia_solid_box(double mass, double size_x, double size_y, double size_z);
KK_API kk_inertia kk_inertia_solid_sphere(double mass, double radius);
/// Axis along z.
KK_API kk_inertia kk_inertia_solid_cylinder(double mass, double radius, double length);

/// Coulomb friction 0.8, rigid, no restitution.
KK_API kk_material_def kk_material_def_default(void);
/// A sphere of radius 0 at the world's origin that collides and is seen, group and mask 1, the default material.
KK_API kk_shape_def kk_shape_def_default(void);
KK_API kk_mesh_def kk_mesh_def_default(void); ///< scale 1
KK_API kk_height_field_def kk_height_field_def_default(void);
KK_API kk_visual_def kk_visual_def_default(void); ///< light gray
KK_API kk_material_pair_def kk_material_pair_def_default(void);
KK_API kk_pair_def kk_pair_def_default(void);
KK_API kk_exclude_def kk_exclude_def_default(void);
KK_API kk_loop_def kk_loop_def_default(void);         ///< a rigid point between two world origins
KK_API kk_tendon_def kk_tendon_def_default(void);     ///< fixed, no limits
KK_API kk_actuator_def kk_actuator_def_default(void); ///< a force on a joint, gear 1, no limits
KK_API kk_sensor_def kk_sensor_def_default(void);     ///< a joint's position
KK_API kk_keyframe_def kk_keyframe_def_default(void);
KK_API kk_script_def kk_script_def_default(void);
KK_API kk_parameter_def kk_parameter_def_default(void); ///< 0, from 0 to 1

KK_API kk_status kk_spec_create(const kk_allocator *allocator, kk_spec **spec);
KK_API void kk_spec_free(kk_spec *spec);
/// An independent copy.
KK_API kk_status kk_spec_clone(const kk_spec *spec, const kk_allocator *allocator, kk_spec **copy, kk_error *error);

/// What a spec holds: name of the calls, type of the definition, what it is called in messages.
///
/// For each kind there are
///     kk_status kk_spec_add_KIND(kk_spec *spec, const kk_KIND_def *def, int *id, kk_error *error);
///     kk_KIND_def *kk_spec_KIND(kk_spec *spec, int id);
///     const kk_KIND_def *kk_spec_KIND_const(const kk_spec *spec, int id);
///     int kk_spec_KIND_count(const kk_spec *spec);
/// `add` copies the definition with everything it points to and gives its id (id may be NULL), which is also the id in
/// the model. The second is for editing in place; NULL if there is no such id; valid until the next add of that kind.
/// What it points to (names, arrays) should be changed by kk_spec_keep_…, which copy; other memory must outlive the spec.
#define KK_SPEC_KINDS(X)              \
    X(body, "body")                   \
    X(frame, "frame")                 \
    X(coupling, "coupling")           \
    X(shape, "shape")                 \
    X(mesh, "mesh")                   \
    X(height_field, "height field")   \
    X(visual, "visual")               \
    X(material, "material")           \
    X(material_pair, "material pair") \
    X(pair, "pair")                   \
    X(exclude, "exclude")             \
    X(loop, "loop")                   \
    X(tendon, "tendon")               \
    X(actuator, "actuator")           \
    X(sensor, "sensor")               \
    X(keyframe, "keyframe")           \
    X(script, "script")               \
    X(parameter, "parameter")

#define KK_SPEC_DECLARE(kind, text)                                                                           \
    KK_API kk_status kk_spec_add_##kind(kk_spec *spec, const kk_##kind##_def *def, int *id, kk_error *error); \
    KK_API kk_##kind##_def *kk_spec_##kind(kk_spec *spec, int id);                                            \
    KK_API const kk_##kind##_def *kk_spec_##kind##_const(const kk_spec *spec, int id);                        \
    KK_API int kk_spec_##kind##_count(const kk_spec *spec);
KK_SPEC_KINDS(KK_SPEC_DECLARE)
#undef KK_SPEC_DECLARE

/// Body 0 is the world, material 0 the default one; both exist from the start.
KK_API kk_options *kk_spec_options(kk_spec *spec);
KK_API const kk_options *kk_spec_options_const(const kk_spec *spec);
KK_API void kk_spec_set_gravity(kk_spec *spec, kk_vec3 gravity);
/// The model's name, "" at first.
KK_API const char *kk_spec_name(const kk_spec *spec);
/// @param name  NULL: ""
KK_API kk_status kk_spec_set_name(kk_spec *spec, const char *name, kk_error *error);

/// A copy of the text that lives as long as the spec, for fields of definitions edited in place. NULL stays NULL.
KK_API kk_status kk_spec_keep_text(kk_spec *spec, const char *text, const char **kept, kk_error *error);
/// Couplings, actuators and sensors name joints, so a renamed joint must be renamed there, too. @param name  NULL: ""
KK_API kk_status kk_spec_rename_body(kk_spec *spec, int id, const char *name, kk_error *error);
/// @param name  NULL: ""
KK_API kk_status kk_spec_rename_joint(kk_spec *spec, int body, const char *name, kk_error *error);
/// @param name  NULL: ""
KK_API kk_status kk_spec_rename_frame(kk_spec *spec, int id, const char *name, kk_error *error);

KK_END_DECLS
#endif
