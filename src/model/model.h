/// The compiled model, field by field.
///
/// Users think in *bodies*: links with names, each behind one joint. Kernels think in *nodes*: groups of bodies that move as one, each
/// behind one elementary joint. Compiling (compile.c) makes the second from the first:
/// - a body behind a fixed joint is folded into its parent's node;
/// - a composite joint (cylindrical, universal, planar) becomes a chain of one-degree nodes, the inner ones without mass;
/// - every node's frame is turned so that its axis is z, and about z so that as many children as possible are placed by a turn about x
///   alone (align.c); its inertia is stored about its own origin.
/// Node 0 is the world. Nodes are ordered by depth (all children of the world, then their children, …), so a parent always comes
/// before its children and neighbors in the order are mostly independent: the processor overlaps the legs of a robot. Degrees of
/// freedom are numbered depth first instead, so a subtree is one contiguous range of v.
#ifndef KKI_MODEL_MODEL_H
#define KKI_MODEL_MODEL_H

#include <karakuri/model.h>
#include <stdbool.h>

#include "geometry/shape.h"

typedef enum kki_node_type {
    KKI_NODE_WORLD,
    KKI_NODE_HINGE, ///< about z
    KKI_NODE_SLIDE, ///< along z
    KKI_NODE_SCREW, ///< about z with `pitch` meters a radian along it
    KKI_NODE_BALL,
    KKI_NODE_FREE,
} kki_node_type;

/// R is any matrix; a turn about x, with R[1] = (0, cos, sin); about y, with R[2] = (sin, 0, cos); or, where it is exactly so, none, or a
/// quarter forwards or back, which changes places and signs and rounds nothing.
enum {
    KKI_ALIGNED_NOT,
    KKI_ALIGNED_X,
    KKI_ALIGNED_Y,
    KKI_ALIGNED_SAME,
    KKI_ALIGNED_X_FORTH,
    KKI_ALIGNED_X_BACK,
    KKI_ALIGNED_Y_FORTH,
    KKI_ALIGNED_Y_BACK,
};

enum { KKI_HALF_ANGULAR = 1, KKI_HALF_LINEAR = 2, KKI_HALF_BOTH = 3 };

/// Constants of one node, padded to whole SIMD registers: a 3-vector takes four doubles, the fourth is zero; a 3 × 3 matrix is its
/// three columns. N is the node's frame, P the parent node's.
typedef struct kki_node {
    _Alignas(32) double R[3][4]; ///< columns of R_PN at q = 0
    double Rt[3][4];             ///< columns of its transpose
    double p[4];                 ///< p_PN at q = 0
    double inertia[3][4];        ///< moments about N's origin, in N
    double inertia_root[3][4];   ///< lower triangular L with L Lᵀ = inertia
    double h[4];                 ///< mass × center of mass, in N
    double mass;
    double pitch;    ///< screws; 0 otherwise
    double armature; ///< one-degree nodes: of their degree; 0 for ball and free (see dof_armature)
    int32_t type;    ///< kki_node_type
    int32_t parent;  ///< node
    int32_t q_index; ///< first coordinate
    int32_t v_index; ///< first degree of freedom
    int32_t has_arm; ///< 0 where the origin is the parent's for good: p is zero and the joint only turns
    int32_t is_leaf; ///< no node hangs on it
    int32_t is_last; ///< of its parent's children the last, which is the first to hand over to it
    int32_t aligned; ///< hinges: KKI_ALIGNED_…, whether R is a turn about one axis of the parent
    int32_t is_bare; ///< one-degree nodes: no armature
    int32_t
        is_central; ///< a body alone on a free joint with its center of mass at its origin: forces and moments do not mix
} kki_node;

/// A body as the user named it, and where it rides.
typedef struct kki_body {
    int32_t parent;     ///< body; −1 for the world
    int32_t node;       ///< node it rides on; the last of its chain for composite joints
    int32_t first_node; ///< first node of its own joint; `node` unless composite; −1 for fixed joints and the world
    int32_t joint_type; ///< kk_joint_type
    int32_t q_index, nq, v_index, nv;
    int32_t first_child, next_sibling; ///< bodies; −1: none
    int32_t rigid; ///< the body nearest to the root that is fixed to this one; what is fixed to the world stays apart
    int32_t name, joint_name;    ///< offsets into `names`
    kk_transform X_NB;           ///< body frame in the node's frame
    kk_transform X_PB;           ///< fixed joints: body frame in the parent body's frame; otherwise at q = 0
    kk_inertia inertia;          ///< in the body's frame, as the user gave it
    double gravity_compensation; ///< share of its weight that it is relieved of
} kki_body;

typedef struct kki_frame {
    int32_t body, name;
    kk_transform X_BF;
} kki_frame;

typedef struct kki_coupling {
    int32_t follower_q, follower_v, leader_q, leader_v;
    int32_t name;
    double ratio, offset;
} kki_coupling;

/// A shape on its node, with what collision needs side by side.
typedef struct kki_model_shape {
    kki_shape shape;   ///< refers to the model's geometry
    kk_transform X_NS; ///< in the node's frame
    kk_transform X_BS; ///< in the body's
    kki_aabb box;      ///< of the shape with its margin, in S; ±1e30 where it has no end
    kk_motion surface; ///< velocity of the surface, in S
    int32_t runs;      ///< whether that is not zero
    int32_t body, node;
    int32_t rigid;    ///< of its body
    int32_t mount;    ///< `rigid` of what its joint is mounted on; −1 where that is the world, or the joint is free
    int32_t collider; ///< its place in `collider`; −1: does not collide
    int32_t name;     ///< offset into `names`
    int32_t purpose;  ///< KK_SHAPE_COLLIDES | KK_SHAPE_VISIBLE
    int32_t mesh, field; ///< ids in the spec; −1: none
    int32_t material, visual;
    uint32_t group, mask;
} kki_model_shape;

/// A mesh and what was made of it for collision.
typedef struct kki_model_mesh {
    kk_vec3 *vertex;
    int32_t (*face)[3];
    kk_mesh_part *part;
    int32_t vertex_count, face_count, part_count;
    int32_t name, file, reference;
    kk_vec3 scale;        ///< that the file's coordinates were multiplied by
    kki_convex *convex;   ///< its hull, where a colliding shape asks for it; NULL otherwise
    kki_surface *surface; ///< itself, likewise
} kki_model_mesh;

typedef struct kki_model_field {
    kk_height_field_def def; ///< name, file and heights are the model's own
    kki_height_field *field;
} kki_model_field;

/// What two materials are together. Numbers as in kk_material_def, all filled in.
typedef struct kki_contact_law {
    double friction, static_friction;
    double ratio; ///< of the friction across to that along the x axis of the shape `axes`; 1: isotropic
    double torsion, rolling, restitution, stiffness, damping, adhesion, slip;
    int32_t axes; ///< whose x axis: 0 the first shape's, 1 the second's
} kki_contact_law;

/// Two shapes that may touch. The list holds every pair that is not ruled out, sorted by first, then second, where there
/// are at most KKI_MODEL_LISTED_PAIRS of them; kki_model_pair_may_touch answers for any two shapes in any case.
typedef struct kki_shape_pair {
    int32_t first, second; ///< shapes, first < second
    int32_t law;           ///< in `law`
} kki_shape_pair;

/// No list of pairs is made beyond so many pairs, nor looked for among more colliding shapes than KKI_MODEL_LISTED_COLLIDERS:
/// it would take longer than it saves.
enum { KKI_MODEL_LISTED_PAIRS = 4096, KKI_MODEL_LISTED_COLLIDERS = 1024 };

/// Two shapes that the user has paired, whatever their groups and masks say; sorted by key.
typedef struct kki_explicit_pair {
    uint64_t key;   ///< kki_pair_key of the shapes
    double margin;  ///< kk_pair_def
    int32_t law;    ///< in `law`
    int32_t source; ///< id in the spec
} kki_explicit_pair;

/// Key of an unordered pair of ids.
static inline uint64_t kki_pair_key(int32_t a, int32_t b) {
    return a < b ? ((uint64_t)(uint32_t)a << 32) | (uint32_t)b : ((uint64_t)(uint32_t)b << 32) | (uint32_t)a;
}

typedef struct kki_model_loop {
    kk_loop_type type;
    int32_t name, body[2], node[2];
    kk_transform X_NA, X_NB; ///< frames A and B in their nodes' frames
    double distance, stiffness, damping, angular_stiffness, angular_damping, break_force, break_moment;
    double arm; ///< distance of its point from where its bodies turn; the shorter one, +inf for none
    int32_t is_active;
} kki_model_loop;

/// One term of a tendon: fixed, a coordinate; spatial, a frame, an obstacle between two frames, or a pulley.
enum { KKI_TERM_JOINT, KKI_TERM_FRAME, KKI_TERM_WRAP, KKI_TERM_PULLEY };
typedef struct kki_tendon_term {
    int32_t kind;
    int32_t q_index, v_index;
    int32_t frame;      ///< frames; obstacles: the side on which they are passed; −1: none
    int32_t shape;      ///< obstacles: a sphere or a cylinder
    double coefficient; ///< of the coordinate; pulleys: the divisor
} kki_tendon_term;

typedef struct kki_model_tendon {
    kk_tendon_type type;
    int32_t name, first_term, term_count;
    double lower, upper, stiffness, damping, rest_lower, rest_upper, friction;
    double armature, pull_lower, pull_upper, restitution;
    int32_t is_held, leader; ///< leader −1: its length is held[0]
    double held[5];
} kki_model_tendon;

typedef struct kki_model_actuator {
    // what a motor asks for, side by side
    int32_t is_motor; ///< on a joint, its force the gain times the control of now and nothing else
    int32_t v_index;  ///< joints
    double gear, gain;
    double control_lower, control_upper, force_lower, force_upper;
    // what others do as well
    kk_actuator_type type;
    kk_transmission transmission;
    int32_t name;
    int32_t q_index;          ///< joints
    int32_t tendon;           ///< tendons
    int32_t frame, reference; ///< frames; reference −1: the frame itself
    int32_t body;             ///< adhesion
    int32_t activation_index; ///< in the state; −1: none
    int32_t history_index;    ///< in the state: number of controls that came, their times, themselves; −1: none
    int32_t delay_samples, delay_interpolation;
    kk_activation activation;
    kk_force direction;
    double bias[3];
    double time_constant, activation_lower, activation_upper;
    double delay, rod_length;
    kk_muscle_def muscle;
} kki_model_actuator;

/// muscle.c: τ of a muscle's activation, and how its force answers its rate, ≤ 0.
double kki_muscle_time_constant(const kk_muscle_def *muscle, double control, double activation);
double kki_muscle_slope(const kk_muscle_def *muscle, double length, double rate, double activation);
/// compile_actuators.c: numbers of an actuator's history of controls; and one that begins at a time, one sample a time step before it.
enum { KKI_HISTORY_COUNT, KKI_HISTORY_FIRST };
static inline int kki_history_size(int samples) {
    return samples > 0 ? KKI_HISTORY_FIRST + 2 * samples : 0;
}

typedef struct kki_model_sensor {
    kk_sensor_type type;
    int32_t name;
    int32_t target,
        reference; ///< body of the joint, actuator, frame, tendon, body; what a frame's target is, see below
    int32_t target_is_body, reference_is_body; ///< frames: the id is that of a body
    int32_t dof;
    int32_t first, count; ///< where its numbers stand among all sensor data
    double noise, cutoff, field;
    int32_t rays;
    // none of the following where the sensor's type has no use for it
    int32_t zone;        ///< kk_shape_type; −1: everywhere
    double zone_half[3]; ///< half sizes
    int32_t zone_frame;  ///< id; −1: none
    int32_t side[2], slots, tell, choice;
} kki_model_sensor;

/// A state by name, in the model's order of coordinates.
typedef struct kki_model_keyframe {
    int32_t name;
    double time;
    double *q, *v, *control; ///< [nq], [nv], [nactuator]
} kki_model_keyframe;

/// What can be looked up by name.
typedef enum kki_named {
    KKI_NAMED_BODY,
    KKI_NAMED_JOINT, ///< by the id of its body
    KKI_NAMED_FRAME,
    KKI_NAMED_SHAPE,
    KKI_NAMED_MESH,
    KKI_NAMED_FIELD,
    KKI_NAMED_MATERIAL,
    KKI_NAMED_LOOP,
    KKI_NAMED_TENDON,
    KKI_NAMED_ACTUATOR,
    KKI_NAMED_SENSOR,
    KKI_NAMED_KEYFRAME,
} kki_named;

enum { KKI_NAMED_COUNT = KKI_NAMED_KEYFRAME + 1 };

/// Nodes of one degree of freedom that follow one another: so many numbers of q and v.
typedef struct kki_stretch {
    int32_t q_index, v_index, count;
} kki_stretch;

struct kk_model {
    _Alignas(32) double gravity[4]; ///< padded, as kernels load it
    kk_allocator allocator;
    size_t size;   ///< bytes of the one block that holds everything but collision geometry, laws and the list of pairs
    void *contact; ///< block of laws and the list of pairs, whose sizes are known only once the rest is compiled
    size_t contact_size;
    const kk_model *base; ///< of a variation: the model that all arrays are of which are the same; NULL: it is none
    const void *
        constants; ///< of a variation: what simulators make of its numbers once (simulate/variation.c), in a block of its own
    size_t constants_size;
    uint64_t hash; ///< of gravity and everything below
    int32_t nq, nv, nbody, nnode, nframe, ncoupling;
    int32_t nshape, nmesh, nfield, nvisual, nmaterial, nlaw, npair, nloop, ntendon, ntendon_term, nactuator, nsensor;
    int32_t nkeyframe, nactivation, nsensordata; ///< nactivation: with histories
    int32_t ncollider;                           ///< shapes that collide
    int32_t nmaterial_class;                     ///< materials that differ, among those of shapes that collide
    int32_t nexplicit, nexclude;
    int32_t has_pairs;    ///< 0: there are too many to list; npair is 0
    int32_t nbroad;       ///< nodes with several degrees of freedom: ball and free joints
    int32_t nstretch;     ///< runs of all others
    int32_t ntree;        ///< trees of nodes on the world
    int32_t has_armature; ///< whether any degree of freedom has some
    int32_t model_name;   ///< offset into `names`
    double total_mass;
    kk_options options;

    kki_node *node;         ///< [nnode]
    kki_body *body;         ///< [nbody]
    kki_frame *frame;       ///< [nframe]
    kki_coupling *coupling; ///< [ncoupling] leaders before followers
    kk_dof_def *dof;        ///< [nv] armature with the rotor's share added
    double *dof_armature;   ///< [nv] the same armature once more, side by side for kernels
    int32_t *dof_node;      ///< [nv] node that owns the degree of freedom
    int32_t *dof_parent;    ///< [nv] the degree of freedom next towards the root, −1 at the root: the branches of M
    int32_t *dof_subtree;   ///< [nv] one past the last degree of freedom of the subtree that starts here
    uint8_t *dof_halves;    ///< [nv] KKI_HALF_…: which halves of its axis about the root's origin can be non-zero
    int32_t *
        angle_index; ///< [nnode, padded to a multiple of 4] first coordinate of each node; 0 in the padding and the world
    double *turn_rest;      ///< [nnode, padded] where a node's angle starts: a rest, rad, …
    int64_t *turn_quarters; ///< [nnode, padded] … and whole quarter turns
    int32_t *node_nv;       ///< [nnode] degrees of freedom of the node
    int32_t *broad;         ///< [nbroad] nodes with several, rising
    kki_stretch *stretch;   ///< [nstretch] all others, by where they lie side by side
    int32_t *
        loop_from; ///< [nnode] for those between the ends of loops: the parent if it is one of them, else the world; −1: none of them
    int32_t *node_body; ///< [nnode] body whose joint the node belongs to
    int32_t *
        node_mount; ///< [nnode] body on which the node's joint is mounted (the parent body of node_body); 0 for the world
    int32_t
        *node_tree; ///< [nnode] tree that the node belongs to, numbered by first degree of freedom; −1 for the world
    int32_t *tree_first_dof;   ///< [ntree + 1] where each tree's degrees of freedom begin
    kki_model_shape *shape;    ///< [nshape]
    kki_model_mesh *mesh;      ///< [nmesh]
    kki_model_field *field;    ///< [nfield]
    kk_visual_def *visual;     ///< [nvisual] strings are the model's own
    kk_material_def *material; ///< [nmaterial]
    int32_t *material_class;   ///< [nmaterial] −1: no colliding shape is made of it
    kki_contact_law *law; ///< [nlaw] class of the first · nmaterial_class + class of the second; then explicit ones
    kki_shape_pair *pair; ///< [npair]
    int32_t *collider;    ///< [ncollider] shapes that collide, rising
    kki_explicit_pair *explicit_pair;  ///< [nexplicit] sorted by key
    uint64_t *exclude;                 ///< [nexclude] kki_pair_key of bodies whose shapes never touch, sorted
    kki_model_loop *loop;              ///< [nloop]
    kki_model_tendon *tendon;          ///< [ntendon]
    kki_tendon_term *tendon_term;      ///< [ntendon_term]
    kki_model_actuator *actuator;      ///< [nactuator]
    kki_model_sensor *sensor;          ///< [nsensor]
    kki_model_keyframe *keyframe;      ///< [nkeyframe]
    int32_t *follower_of;              ///< [nv] coupling that drives the degree of freedom, −1 if independent
    int32_t *by_name[KKI_NAMED_COUNT]; ///< ids sorted by name, for binary search; those without a name come first
    char *names;                       ///< all strings, NUL-terminated; offset 0 is the empty string
};

static inline const char *kki_model_name(const kk_model *m, int32_t offset) {
    return m->names + offset;
}

/// names.c: id by name, −1 if there is none.
int kki_model_find(const kk_model *m, kki_named kind, const char *name);

/// pairs.c: whether two different shapes may touch, and by which law (NULL: not asked). The law is that of first < second.
bool kki_model_pair_may_touch(const kk_model *m, int a, int b, int *law);
/// manifold.c: kk_difference of one node.
void kki_node_difference(const kki_node *node, const double *q0, const double *q1, double *v);

#endif
