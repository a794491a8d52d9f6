/// S1: Kuroda, "A real-time interactive simulator" (master's thesis). Chapters and equation numbers are the thesis's.
///
/// | file             | chapter | what                                                                                  |
/// |------------------|---------|---------------------------------------------------------------------------------------|
/// | kuroda_solid.c   | 5.1, 5.3, 7 | boundary representation, the shrunken polyhedron, trees of boxes                  |
/// | kuroda_bodies.c  | 2.1, 3.2 | rigid bodies out of the state and back, first-order symplectic method                 |
/// | kuroda_sweep.c   | 5.2, 5.3 | trajectories L0 and L1: vertices against faces, edges against edges                   |
/// | kuroda_contact.c | 5.4-5.6 | where springs are set, sliding and sticking                                           |
/// | kuroda_hinge.c   | 6       | the four springs of a hinge                                                           |
/// | kuroda_descent.c | 3.3, 4  | constraint forces by steepest descent with Armijo's rule                              |
/// | kuroda.c         |         | the step                                                                              |
///
/// Misprints of the thesis, and what is meant: (2.30) has kr for k l_r; (2.14) has F for the moment; (3.10) multiplies 2 by k/m; (4.3) has no
/// square and is not differentiable, though 4.3 asks for a gradient: squares here; (5.14) and (5.15) are swapped and (5.15) has a k that (5.16) has
/// again; (5.16) subtracts a number from a vector, (f_c·N) N is meant; in 5.4.2 the point on the face is looked for from the point of the edge
/// that lies in that face: the other edge's point is meant; I of 8.2 is 110/3 (geometry), not 100/3, and the box there is 7 m long by its
/// corners and 6 m by its text.
///
/// Silent, and chosen here: see docs/guide/paper-modes.md.
#ifndef KKI_PAPERS_KURODA_H
#define KKI_PAPERS_KURODA_H

#include "geometry/surface.h"
#include "papers/common.h"

// ---- bodies

typedef struct kuroda_body {
    // constants
    double mass;            ///< 0: the world
    kk_vec3 com;            ///< in the node's frame
    kk_sym3 moment;         ///< about it, in the node's axes
    kk_sym3 moment_inverse; ///< likewise
    kk_quat neutral;        ///< attitude of the node at q = 0: in the world for free joints, in the parent for hinges
    kk_vec3 neutral_place;  ///< likewise
    // state, world axes
    kk_vec3 x, v, w; ///< center of mass, its velocity, angular velocity
    kk_quat R;
    // of the step
    kk_mat3 turn;           ///< R as a matrix
    kk_sym3 inverse;        ///< of the moment, world axes
    kk_vec3 force, torque;  ///< known forces, about the center
    kk_vec3 v_free, w_free; ///< with them
    kk_vec3 v_next, w_next; ///< and with constraint forces
    kk_vec3 x_next;
    kk_mat3 turn_next;
    kk_vec3 push, push_torque; ///< scratch of the descent
} kuroda_body;

// ---- solids

enum { KURODA_VERTEX, KURODA_EDGE, KURODA_FACE };

typedef struct kuroda_leaf {
    int32_t kind, item;
} kuroda_leaf;

/// Node of a binary tree; leaves have left = −1 and hold a leaf.
typedef struct kuroda_node {
    int32_t left, right;
    int32_t leaf;
} kuroda_node;

typedef struct kuroda_solid {
    int32_t shape, body;  ///< in the model; the node's number
    kki_surface *surface; ///< vertices in the shape's frame
    int32_t is_own;       ///< the surface was made here
    kk_transform X_CS;    ///< the shape in axes of the node at its center of mass
    kk_vec3 *shrunk;      ///< [vertices] of the shrunken polyhedron, in the shape's frame
    kuroda_leaf *leaf;    ///< [vertices + edges + faces]
    kuroda_node *node;    ///< [2 leaves − 1] the root first, children behind their parents
    kki_aabb *box;        ///< [2 leaves − 1] of the sweep under way, in the world
    kk_vec3 *from, *to;   ///< [vertices] of the sweep under way, in the world
    kk_vec3 *full;        ///< [vertices] of the whole polyhedron at the step's start
} kuroda_solid;

// ---- springs

enum { KURODA_VERTEX_FACE, KURODA_EDGE_EDGE, KURODA_HINGE };
/// Edges: both points lie on them; a face beside e0, beside e1 pushes.
enum { KURODA_ON_EDGES, KURODA_ON_FACE_OF_0, KURODA_ON_FACE_OF_1 };

/// A constrained spring (2.2) between a point on body[0] and one on body[1], which it draws together.
typedef struct kuroda_spring {
    int32_t kind, variant;
    int32_t body[2];
    kk_vec3 arm[2]; ///< ends from the centers of mass, in the bodies' axes
    double k, c, w; ///< stiffness, damping, how far it may give
    double length;  ///< natural one
    // contacts
    int32_t shape[2];   ///< first < second
    int32_t feature[2]; ///< of these
    int32_t law;
    int32_t sticks;
    int32_t is_bound; ///< of L0: no force of its own, only the limit
    kk_vec3 normal;   ///< world, the way body[1] is pushed
    kk_vec3 place;    ///< where the moving end stands, in axes of body[0]
    kk_vec3 nu;       ///< ν(t), its way in the last step
    int32_t has_nu;
    kk_vec3 curve;      ///< of its stretch at the step's end, off the straight line
    kk_vec3 force;      ///< on body[1]
    kk_vec3 held;       ///< f_c, on body[1]
    double held_before; ///< f_c · N of the last step
} kuroda_spring;

/// What the state remembers of a contact spring.
enum {
    KURODA_WARM_SHAPE,
    KURODA_WARM_FEATURE = KURODA_WARM_SHAPE + 2,
    KURODA_WARM_KIND = KURODA_WARM_FEATURE + 2, ///< 8 kind + 2 variant + sticks, plus 64 where ν is known
    KURODA_WARM_POINTS,                         ///< sticking: both arms; sliding: place and ν
    KURODA_WARM_HELD = KURODA_WARM_POINTS + 6,
    KURODA_WARM_SIZE
};
_Static_assert((int)KURODA_WARM_SIZE == (int)KKI_WARM_SPRING_SIZE, "states of versions 1 and 2 count by it");

// ---- hinges

typedef struct kuroda_hinge {
    int32_t body[2];        ///< parent's node, child's
    int32_t dof;            ///< −1: of a loop
    int32_t first;          ///< spring: two on the axis, two for the torque
    int32_t is_held;        ///< its angle does not change: a limit, or static friction
    double angle, rate;     ///< now
    double inertia;         ///< of the child about the axis
    double friction, limit; ///< torques of this step, for readers
    double held;            ///< angle it is held at
    double step;            ///< way of the last step; 0: none known
    kk_vec3 axis, across;   ///< in the parent's axes: its own, and the reference that angles are counted from
    kk_vec3 center[2];      ///< from the centers of mass, in the bodies' axes
    kk_quat rest;           ///< child in parent at angle 0
    double reach;           ///< distance of the springs from the hinge's center
} kuroda_hinge;

/// What the state remembers of a node: place, attitude, velocity, and of its hinge.
enum { KURODA_WARM_HINGE = 13, KURODA_WARM_BODY = KKI_WARM_BODY_SIZE };

typedef struct kuroda {
    size_t size;
    const kk_model *model;
    kk_simulator *s;
    double depth; ///< w
    double gravity;
    int32_t nbody, nsolid, nhinge, most_springs, most_touching, nspring, first_contact;
    kuroda_body *body;               ///< [nnode]
    kuroda_solid *solid;             ///< [ncollider]
    kuroda_hinge *hinge;             ///< [nnode]
    kuroda_spring *spring;           ///< [most_springs] those of hinges first
    double *memory;                  ///< [KURODA_WARM_SIZE most_springs] for the state
    double *unknown, *slope, *trial; ///< [3 most_springs] of the descent
    kk_vec3 *stretch;                ///< [most_springs] of springs at the step's end without constraint forces
    kk_vec3 *back;                   ///< [most_springs] by how much, and which way, limits are broken
} kuroda;

// kuroda_bodies.c
kk_status kki_kuroda_check_bodies(const kk_model *m, kk_error *error);
void kki_kuroda_fill_bodies(kuroda *K);
/// Bodies from the state: from its records where they belong to its q, else by kinematics.
void kki_kuroda_load(kuroda *K, const kk_state *state);
/// q and v of the simulator, and the records for the state.
void kki_kuroda_store(kuroda *K);
void kki_kuroda_add_force(kuroda_body *b, kk_vec3 point_from_center, kk_vec3 force);
/// Velocities with known forces, (2.25), (2.26), (3.5).
void kki_kuroda_accelerate(kuroda *K);
/// Places with v_next, w_next, (3.6).
void kki_kuroda_foresee(kuroda *K);
void kki_kuroda_move(kuroda *K);

// kuroda_solid.c
kk_status kki_kuroda_make_solid(kuroda *K, int shape, kuroda_solid *solid, kk_error *error);
/// The shrunken polyhedron for K->depth.
kk_status kki_kuroda_shrink(kuroda *K, kuroda_solid *solid, kk_error *error);
void kki_kuroda_free_solid(kuroda *K, kuroda_solid *solid);
/// Boxes of the tree round from[] … to[], wider by a margin.
void kki_kuroda_refit(kuroda_solid *solid, double margin);
/// Calls with every pair of leaves whose boxes meet.
typedef void kki_kuroda_visit(kuroda *K, kuroda_solid *a, kuroda_solid *b, kuroda_leaf of_a, kuroda_leaf of_b);
void kki_kuroda_pairs(kuroda *K, kuroda_solid *a, kuroda_solid *b, kki_kuroda_visit *visit);

// kuroda_sweep.c
/// L1: contacts at the step's start. L0: what would be deeper than allowed at its end; gives how many springs came to it.
kk_status kki_kuroda_touch(kuroda *K);
int kki_kuroda_foresee_depth(kuroda *K);

// kuroda_contact.c
/// Sets a spring between crossing features, with what the state remembers of it.
void kki_kuroda_touch_vertex(kuroda *K, kuroda_solid *of_vertex, int vertex, kuroda_solid *of_face, int face);
void kki_kuroda_touch_edges(kuroda *K, kuroda_solid *a, int e0, kuroda_solid *b, int e1);
/// Springs for L0: no force of their own, only the limit.
void kki_kuroda_bound_vertex(kuroda *K, kuroda_solid *of_vertex, int vertex, kuroda_solid *of_face, int face);
void kki_kuroda_bound_edges(kuroda *K, kuroda_solid *a, int e0, kuroda_solid *b, int e1);
/// Sliding or sticking, then the forces of all contacts.
void kki_kuroda_contact_forces(kuroda *K, const kk_state *state);
void kki_kuroda_remember(kuroda *K);

// kuroda_hinge.c
void kki_kuroda_make_hinges(kuroda *K);
void kki_kuroda_hinge_angles(kuroda *K);
void kki_kuroda_hinge_forces(kuroda *K, const double *tau);
/// Behind the motion: whether friction holds them from now on.
void kki_kuroda_hinge_rest(kuroda *K);
/// The angle of those whole turns apart that is nearest to `near`.
double kki_kuroda_angle_near(const kuroda *K, const kuroda_hinge *h, double near);
double kki_kuroda_rate(const kuroda *K, const kuroda_hinge *h);

// kuroda.c
/// k and c of a spring on a body of this mass, where nobody says.
void kki_kuroda_default_spring(const kuroda *K, double mass, double *k, double *c);

// kuroda_descent.c
/// f_c of all springs whose limits the step would break; v_next, w_next. Gives the number of descents.
int kki_kuroda_constrain(kuroda *K);
/// How far ends that turn get off the straight line; and by how much the worst limit is then broken, m.
double kki_kuroda_bend(kuroda *K);

// small
static inline kk_vec3 kki_kuroda_end(const kuroda *K, const kuroda_spring *s, int side) {
    const kuroda_body *b = &K->body[s->body[side]];
    return kk_vec3_add(b->x, kk_mat3_mul_vec(b->turn, s->arm[side]));
}
static inline kk_vec3 kki_kuroda_arm(const kuroda *K, const kuroda_spring *s, int side) {
    return kk_mat3_mul_vec(K->body[s->body[side]].turn, s->arm[side]);
}

#endif
