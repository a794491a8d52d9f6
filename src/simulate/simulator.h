/// The simulator's inside: what a step works on, stage by stage. Nothing in it needs saving.
#ifndef KKI_SIMULATE_SIMULATOR_H
#define KKI_SIMULATE_SIMULATOR_H

#include <karakuri/simulate.h>

#include "base/arena.h"
#include "base/workers.h"
#include "collision/manifold.h"
#include "contact/solver.h"
#include "dynamics/data.h"
#include "model/warm.h"
#include "simulate/free_bodies/free_bodies.h"
#include "simulate/near.h"
#include "simulate/rows_sparse.h"

/// Gap up to which a manifold counts as closed, m.
#define KKI_DEAD_BAND 1e-5
/// Within this part of the band nothing closes any more. Where robots move, drift lifts their resting feet by some 1e-8 m a step, and tilts them; they would rise to the end of
/// the band and then fall through all of it at once, which is felt as a knock. So in the rest of the band a manifold may close a part of its gap in half a step; the speeds are those
/// of a rigid face.
#define KKI_LANDED (0.8 * KKI_DEAD_BAND)
#define KKI_CLOSING 0.2
/// Speed, m/s or rad/s, above which what hangs together is not at rest: impulses are never those of the last step.
#define KKI_MOVES 1e-3

/// A contact point between two shapes. A is the first shape, n points from A to B. Five lines of memory, each with what is wanted at the same time: thousands of
/// contacts are far from the processor, and whoever goes through them reads whole lines.
typedef struct kki_contact {
    // what a point of a face begins with
    _Alignas(64) kk_vec3 point; ///< where its rows act: in one plane for all points of a manifold
    kk_vec3 impulse;            ///< on B, in the world; in: warm start, out: result
    double gap;
    double open; ///< gap that is left to close, ≥ 0; none within the dead band of its manifold
    // what all points of a manifold have in common
    int32_t node[2];
    int32_t law;  ///< in the model
    int32_t pair; ///< in the simulator's list of touching pairs
    kk_vec3 normal, tangent[2];
    // what comes of it; the second tangent, n × t1, stands here
    kk_vec3 velocity; ///< in (n, t1, t2); in: what comes from turning (pivots.c), out: at the end
    double friction;  ///< that held: static or sliding
    double swing;     ///< of the normal velocity what comes from turning about the contact (pivots.c, reflect.c)
    // what the state keeps
    kk_vec3 position; ///< on A's surface, in the world
    kk_vec3
        kept; ///< force that the last step left, N, and what the next one starts from; of the swarm's contacts that is the impulse's
    uint64_t feature;
    int32_t shape[2];
    // what most models have nowhere; zero for ever where s->has_plain_contacts
    double surface[2]; ///< tangential velocity of B's surface against A's, from moving surfaces
    kk_vec3 moment;    ///< of torsion and rolling on B, as the impulse
    kk_vec3 kept_moment;
} kki_contact;

/// Two shapes that touched, and what the narrow phase remembers of them. A line of memory.
typedef struct kki_touching {
    _Alignas(64) int32_t first;
    int32_t second;
    int32_t contact, count; ///< their first contact, and how many
    int32_t manifolds;
    kki_pair_memory memory;
    int32_t node[2], law; ///< of their contacts
} kki_touching;
_Static_assert(sizeof(kki_touching) == 64, "a line");

/// Kinds of constraints in the order in which they are listed: number and table (constraint.h).
#define KKI_CONSTRAINT_KINDS(X)         \
    X(CONTACT, contact)                 \
    X(OVERLAP, overlap)                 \
    X(LIMIT, limit)                     \
    X(JOINT_FRICTION, joint_friction)   \
    X(TENDON_LIMIT, tendon_limit)       \
    X(TENDON_FRICTION, tendon_friction) \
    X(TENDON_EQUALITY, tendon_equality) \
    X(TENDON_DRIVE, tendon_drive)       \
    X(MOTOR, motor)                     \
    X(COUPLING, coupling)               \
    X(LOOP, loop)                       \
    X(SPRING, spring)                   \
    X(SERVO, servo)
#define KKI_CONSTRAINT_NUMBER(KIND, name) KKI_ON_##KIND,
typedef enum kki_constraint_kind {
    KKI_CONSTRAINT_KINDS(KKI_CONSTRAINT_NUMBER) KKI_CONSTRAINT_KIND_COUNT
} kki_constraint_kind;

/// A tendon in this step. Forces are those of the step's end with the rate of its start, slopes how they answer a change of it, ≤ 0.
typedef struct kki_tendon_load {
    double length, rate; ///< at the middle
    double passive, passive_slope, actuator, actuator_slope;
    double given;         ///< forces of its actuators, before gears
    double turn;          ///< what its rate changes by in the step without any force
    double mobility;      ///< J M⁻¹ Jᵀ, the largest of some poses
    int32_t is_implicit;  ///< springs and actuators act with the rate of the step's end: they are stiff for its length
    int32_t is_driven;    ///< some actuator is on it
    int32_t is_scattered; ///< it runs over more than two trees: limits and dry friction are soft
} kki_tendon_load;

enum { KKI_MOST_ROWS = 6, KKI_MOST_BLOCKS = 6, KKI_MOST_PARTS = 8 };

/// One part of a row: a wrench on node i and the opposite one on node j, each about its node's origin in world axes.
typedef struct kki_row_part {
    int32_t row; ///< in its island
    int32_t i, j;
    int32_t dof; ///< the degree of freedom between both nodes that it acts along, of a joint of one; −1: none
    double wi[6], wj[6];
} kki_row_part;

/// A joint with limits: its degree of freedom and coordinate.
/// All actuators of a model that has only motors on joints, number by number.
typedef struct kki_motors {
    int32_t count; ///< 0: some are none
    int32_t *dof;
    double *gear, *gain, *control_lower, *control_upper, *force_lower, *force_upper;
} kki_motors;

typedef struct kki_limited {
    int32_t dof, q;
    double lower, upper;
} kki_limited;

/// A constraint of this step: a few rows that belong together.
typedef struct kki_constraint {
    int32_t kind; ///< kki_constraint_kind
    int32_t item; ///< contact, degree of freedom, coupling, loop, tendon, actuator
    int32_t side; ///< limits: 0 lower, 1 upper
    int32_t nrow, nblock;
    int32_t island;
    int32_t row, block; ///< first, counted through all islands
    int32_t first_part, nparts;
    int32_t dof[2];            ///< ends of the branches that feel it; −1: none
    int32_t npositions;        ///< rows, from the first on, that the position pass repairs
    int32_t sticks;            ///< contacts, dry friction: the last step ended with the impulse inside its bounds
    int32_t gives;             ///< contacts: it gives way, because nothing else helped
    double weight;             ///< servos: what the row has been divided by
    double gap[KKI_MOST_ROWS]; ///< position error of these rows at the step's middle; of the first in any case
} kki_constraint;

/// What stops.c thinks of a constraint: open, sticking or sliding, and the direction of its friction.
typedef struct kki_verdict {
    int32_t mode;
    double d[2];
} kki_verdict;

/// Of a body: kinetic energy before and after the kick.
typedef struct kki_kinetic {
    double before, after;
} kki_kinetic;

/// Half of |y|² of a body.
static inline double kki_half_square(const double y[6]) {
    return 0.5 * (((y[0] * y[0] + y[1] * y[1]) + y[2] * y[2]) + ((y[3] * y[3] + y[4] * y[4]) + y[5] * y[5]));
}

/// Momentum about the world's origin, and center of mass, of a tree in flight (momentum.c).
typedef struct kki_flight {
    kk_force momentum;
    kk_vec3 center;
} kki_flight;

/// Momentum about the world's origin and composite inertia about the base, of one tree (momentum.c).
typedef struct kki_whole {
    kk_force momentum;
    double mass;
    kk_vec3 first;  ///< mass × center, from the base's origin
    kk_sym3 second; ///< moments about the base's origin, world axes
    kk_vec3 base;   ///< its origin
} kki_whole;

/// An actuator's force at the step's start and how it answers the rate at its end.
typedef struct kki_drive {
    double force, slope;
} kki_drive;

/// A servo in this step: not looked at yet, within its limits of force, at one of them, or a row that finds out.
typedef enum kki_servo_mode {
    KKI_SERVO_NEW,
    KKI_SERVO_FREE,
    KKI_SERVO_AT_LOWER,
    KKI_SERVO_AT_UPPER,
    KKI_SERVO_ROW
} kki_servo_mode;

/// Trees tied together by constraints, solved apart from all others.
typedef struct kki_island_scratch kki_island_scratch;
typedef struct kki_island {
    int32_t first_constraint, nconstraint; ///< in the sorted order
    int32_t first_tree, ntree;             ///< in `tree_order`
    int32_t first_row, nrow, stride;       ///< rows begin at multiples of 4
    int32_t first_block, nblock;
    int32_t nv;               ///< coordinates; of wide islands with each tree's padded to a multiple of 8
    int32_t is_sparse;        ///< many trees: rows are stored constraint by constraint (rows_sparse.c)
    int32_t has_wrench_basis; ///< coordinates are those of rows_wrench.c
    int32_t full;             ///< narrow: degrees of freedom
    int32_t keeps_gaps;       ///< what is open within the dead band stays so
    int32_t has_robot;        ///< not of lone bodies alone
    double speed;             ///< of the fastest coordinate at the step's start
    double *Y;                ///< its rows, behind kki_rows_build_kept
    // known behind kki_island_begin
    int8_t is_soft;         ///< some row has compliance
    int8_t has_restitution; ///< some contact has restitution
    int8_t has_friction;    ///< some contact or joint has dry friction
    int8_t has_drive;
    int8_t has_overlap;         ///< some bodies overlap deeply
    int8_t has_loops;           ///< some loop or coupling
    int8_t has_static_friction; ///< static friction of some contact is above the other
    int8_t has_pivots;          ///< some contact is turned about; behind `reflect`
    int8_t is_unchanged;        ///< impulses are those of the last step; behind resolve.c
    int8_t has_dependent_rows;  ///< some loop says what others say; behind kki_island_free_dependent_rows
    int8_t has_matrix;          ///< G is that of these rows
    double
        touch; ///< s from the step's start: of an impact whose normal or levers are not those of the step's middle; −1: none (touch.c)
    int8_t has_impacts; ///< something came to carry load, or struck or stopped inside the step; behind resolve.c
    int8_t is_swept;    ///< λ is what sweeps made of the warm start; behind kki_kept_solve
    kki_island_scratch *scratch; ///< of who solves it
    kk_report *report;           ///< its share
    int8_t
        factored; ///< of this many rows, the rigid equalities, `factor` is one of G; behind kki_island_free_dependent_rows
    double *factor; ///< behind its Y, or s->A
} kki_island;

/// Room for Y, and what islands of this step have left in it (rows.c).
typedef struct kki_kept_rows {
    double *Y;
    size_t used;
    int is_lost; ///< not all of them are there any more
} kki_kept_rows;

typedef struct kki_paper kki_paper;

/// Of an island of many points between few bodies: its basis, of the island at hand. See rows_wrench.c.
enum { KKI_WRENCH_DOFS = 128, KKI_WRENCH_PAIRS = 12 };
typedef struct kki_wrench_basis {
    int32_t npair, pair[KKI_WRENCH_PAIRS][2]; ///< nodes
    int stride, width;                        ///< of R's and Q's rows
    double *Q, *R;                            ///< [units × width], [units × stride]
    double *wrench;                           ///< [6 × the island's stride] of one pair's rows
} kki_wrench_basis;

/// What a worker has for the island at hand. Between islands nothing in it means anything; debug builds fill it with numbers that are none.
struct kki_island_scratch {
    kki_solver_work solver;
    kki_wrench_basis wrench_basis;
    kki_sparse_rows sparse;
    double *Y, *G; ///< [nv × stride], within `rows`; [rows × stride]
    kki_kept_rows rows;
    size_t Y_room, G_room;
    int32_t *support; ///< [nv]
    int32_t *span;    ///< [2 nv] vectors of four in each row of Y that are not zero: first, end
    uint64_t *touch;  ///< [vectors] rows of Y that are not zero in a vector, a bit each
    int32_t touches;  ///< whether it is known: of up to 64 rows
    // [coordinates of any island]; an island of one tree has the first four in place, in s->kick
    double *y_start, *y_free, *y_end, *y_drift;
    double *change, *sum, *product; ///< free between passes; `product`: Y λ, behind the proof of a sparse island
    kki_verdict *verdict;           ///< [constraints] of stops.c
    kki_held *held;                 ///< [rows of an island that is not sparse]
    int8_t *waiting, *stopping;     ///< [constraints] of events.c
    double *A;                      ///< [128 × 128]
    const kk_workers *helpers;      ///< who helps with the island at hand; NULL: nobody
    void *memory;                   ///< of all this, but the first worker's
    size_t size;
};

/// What one island's solution leaves for the report.
typedef struct kki_outcome {
    kk_status status;
    int32_t is_done;
    kk_report report;
} kki_outcome;

/// What the narrow phase finds of a pair; several manifolds are looked for again.
typedef struct kki_meeting {
    int32_t count; ///< manifolds; below zero: several
    kki_pair_memory memory;
    kki_manifold manifold;
} kki_meeting;

/// A fast pair that meets in a step and is not followed there.
typedef struct kki_struck {
    int32_t pair; ///< in the list of those that are near
    double time;  ///< of its impact, from the start of this part of the step
} kki_struck;

/// What is done about fast pairs in a part of a step.
typedef enum kki_fast_policy {
    KKI_FAST_AT_MIDDLE, ///< they are seen in the middle, as all others
    KKI_FAST_AHEAD,     ///< the part ends where they meet
    KKI_FAST_IMPACTS,   ///< they get contacts of their impacts
} kki_fast_policy;

/// Near pairs that a worker looks at in a row: what it has found, and what stands before it in the lists.
typedef struct kki_meetings {
    int32_t contacts, pairs;
    int32_t several; ///< some pair has more than one manifold
} kki_meetings;

enum { KKI_MEETINGS = 32 };

/// Room for what differs from step to step; all else follows from the model. It grows where a step lacks some (room.c), and no result depends on it.
typedef struct kki_room {
    int32_t near;                        ///< pairs of shapes that are near each other, of the broad phase
    int32_t contacts;                    ///< contact points, and pairs of shapes that touch
    int32_t manifolds;                   ///< of one pair
    int32_t held;                        ///< contacts that become constraints
    int32_t swarm_bundles, swarm_blocks; ///< of contacts that loose bodies take
    int32_t dense_rows;                  ///< of an island that is not wide
    int32_t sparse_bodies, sparse_ties, sparse_rows, sparse_blocks, sparse_coordinates; ///< of one that is
} kki_room;
enum { KKI_ROOMS = sizeof(kki_room) / sizeof(int32_t) };
/// Rows of an island that is not wide, at most: the dense solver counts them in 16 bits.
enum { KKI_MOST_DENSE_ROWS = 32000 };
/// Islands of more rows than this are solved without forming G.
enum { KKI_MOST_MATRIX_ROWS = 256 };

/// What a step lacks: how much would be needed, 0 of what there is enough of. The step ends with KK_LIMIT_EXCEEDED, and kk_step makes room and repeats it.
typedef struct kki_lacking {
    kki_room room;
    size_t words; ///< of the state's list
} kki_lacking;

/// Of cached_step.c: whether the last step has changed nothing but the time. Then `trial` holds the state.
typedef struct kki_cached_step {
    int32_t may_be, is_known;
    int32_t has[3];    ///< what acted: control, joint forces, wrenches
    double *acting[3]; ///< [nactuator], [nv], [6 nbody]
} kki_cached_step;

/// Energy of a tree, or of the whole model: kinetic, potential, and what of that joints' springs have.
typedef struct kki_audit_energy {
    double kinetic, potential, springs;
} kki_audit_energy;

/// What the last step's audit ended with: the next one begins with it where the state is the same (audit.c).
typedef struct kki_audited {
    int is_known;
    kki_audit_energy energy;
    kki_audit_energy *tree, *tree_before; ///< [ntree] of each tree, and at the start of the step
    double *q, *v;                        ///< [nq], [nv]
} kki_audited;

/// Trees whose energy is balanced by their velocities (balance.c).
typedef struct kki_balance {
    int32_t *group; ///< [ntree] first of the trees that are one mechanism; −1: not balanced
    double *work;   ///< [ntree] of a group's constraints, at its first tree
} kki_balance;

/// What follows from the model alone.
typedef struct kki_traits {
    int has_springs;   ///< some joint or tendon has a spring or a damper
    int has_stiffness; ///< some joint has a spring
    int has_plain_contacts; ///< no surface moves, no law has torsion or rolling: no contact has a moment or a surface's velocity
    int has_dry_friction; ///< some joint has dry friction, and may stay saturated through a kick (joint_friction.c)
    int has_spatial_tendons;
    int has_history;          ///< some control is delayed
    int has_compensation;     ///< some body is relieved of its weight
    int has_only_free_bodies; ///< without motors, dry friction and compensation (free_bodies/stepper.c)
} kki_traits;

/// The moving copy of the state, and what it moves with. Vectors of velocities are in the axes of the step's middle, [nv].
typedef struct kki_motion {
    const kk_state *start;      ///< the state itself, as long as a step lasts
    double *q, *v;              ///< [nq], [nv] now
    double *activation;         ///< [nactivation] of actuators with dynamics
    double *q_middle;           ///< [nq]
    double *v_before, *v_after; ///< before and after the kick
    double *v_drift;            ///< what positions drift with behind the kick; mostly v_after
    double *acceleration;       ///< mean over the step
    double *v_bias;             ///< predicted mean of v_before and v_after, which bias forces are those of (predict.c)
    double *v_mean;             ///< the mean of the two that the last attempt at a rough step found
    int is_predicted;           ///< v_bias is more than v
    int is_fresh;               ///< it is v for want of anything better, and something moves
} kki_motion;

/// What drives the model, in this step. [nv] unless something else is said.
typedef struct kki_forces {
    double *tau;
    double *diagonal;                    ///< what implicit servos and springs add to the inertia
    double *servo_slope, *passive_slope; ///< how they answer a change of velocity
    double *stiffness, *damping, *rest;  ///< the model's springs, one behind the other
    double *mobility;                    ///< (M⁻¹)ₖₖ at the neutral pose where forces answer rates (implicit.h)
    double *by_source[KK_FORCE_SOURCE_COUNT];
    double *saturated; ///< dry friction of joints that slide all through the step; 0: there is none, or it is a row
    kki_motors motors;
    double *drive;                       ///< [nactuator] force of each actuator
    kki_drive *wanted;                   ///< [nactuator] before limits
    int8_t *servo_mode;                  ///< [nactuator] kki_servo_mode
    kki_tendon_load *tendon;             ///< [ntendon]
    double spring_energy, tendon_energy; ///< of joints' and tendons' springs at the middle, J
    double tendon_kinetic[2];            ///< of tendons' armature before and after the kick, J
    int has_servos;                      ///< a servo answers a change of velocity in this step
    int has_applied;                     ///< the caller's forces on joints are not all zero
    int has_bounded;                     ///< nor are those of limits, friction and couplings (finish.c)
    int may_drive;                       ///< some force may act along joints in this step
    int is_pushed; ///< some force on a node is no constraint's: the caller's, a thruster's, a tendon's
    int no_tau;    ///< tau and what the caller applied to joints are zero, as they have been left
    int no_pushes; ///< free bodies alone that only touch: no wrench acts; `outside` of swept ones is what contacts add
    int only_touches; ///< free bodies and nothing else that could have a force: what is zero stays so
    int settles;      ///< limits of servos are found from the solution
} kki_forces;

/// The kick in the scaled coordinates y = L v of the factor M = L Lᵀ, [nv]: y at the start, the forces' share E of a second, and ends.
typedef struct kki_kick {
    double *E, *y, *y_free, *y_end, *y_drift, *dv;
} kki_kick;

/// Shapes at the step's middle.
typedef struct kki_shapes {
    kk_transform *X_WS; ///< [nshape]
    double *sphere;     ///< [4 nshape] center and radius of a sphere round each shape
    double *reach;      ///< [nshape] how far its surface can get in the rest of the step
    uint64_t *placed;   ///< [nshape] step in which the three above were made; 0: never
    uint64_t stamp;     ///< of this step
} kki_shapes;

/// Fast bodies (fast.c).
typedef struct kki_fast {
    kki_fast_policy policy; ///< what is done about fast pairs in this part of the step
    double meeting;         ///< end of the part up to the first one, s from the start; −1: none
    double touch;        ///< the first impact in it, s from the start, where that is why the part ends; −1: it is not
    int32_t seeks_touch; ///< whether a part ends where what bounces touches
    int32_t meeting_shape[2]; ///< who meets
    kki_struck *struck;       ///< [max_touching] by pair
    int32_t nstruck;
    int32_t nnear, nmeeting; ///< pairs that are near in this part of the step, and fast ones that meet in it
} kki_fast;

/// Iterations that a step may take, by what they count; 0: as the tolerance takes.
typedef struct kki_effort {
    int sweeps; ///< and nothing else
    int newton;
    int rounds; ///< of a paper's method
} kki_effort;

enum { KKI_DEEP_PAIRS = 256 }; ///< of nodes; what is beyond is contacts as all others
typedef struct kki_contacts {
    int32_t max, count, max_touching, ntouching;
    kki_contact *list;                      ///< [max] sorted by shapes, then feature
    int32_t ntold;                          ///< of `told`, which is filled when somebody asks
    kk_contact *told;                       ///< [max] as readers have them
    kki_touching *touching;                 ///< [max_touching + 1] sorted by shapes
    kki_manifold *manifold;                 ///< [room.manifolds] of the pair at hand
    int32_t ndeep, deep[KKI_DEEP_PAIRS][2]; ///< nodes that overlap deeply (constraint/overlap.c)
} kki_contacts;

/// What must not happen in this step.
typedef struct kki_constraints {
    int32_t max, count, max_parts, nparts, nlimited;
    int32_t paper_rows;   ///< papers: room for linear rows of springs and servos
    kki_constraint *list; ///< [max]
    int32_t *order;       ///< [max] by island
    kki_row_part *part;   ///< [max_parts]
    kki_limited *limited; ///< [nlimited ≤ nv] by node
    uint64_t *
        branch; ///< [nv] a degree of freedom and all between it and the root, a bit each from its tree's first on; in trees of up to 64
    double *loop_switch; ///< [nloop]
} kki_constraints;

typedef struct kki_islands {
    int32_t count;
    kki_island *list;                  ///< [trees, or constraints if they are fewer]
    kki_outcome *outcome;              ///< by island
    int32_t *tree_island;              ///< [ntree] −1: no constraint on it
    int32_t *tree_order;               ///< by island
    int32_t *tree_local;               ///< [ntree] where its degrees of freedom begin in its island's Y
    int32_t padded_width, widest_tree; ///< padded degrees of freedom of all trees, and of one; 0: no island is sparse
    int32_t most_dense_width; ///< padded degrees of freedom of an island that is worked with as rows
} kki_islands;

/// The contact problem of all islands and its solution: rows and blocks through all of them, [max_rows], [max_blocks].
typedef struct kki_solution {
    int32_t max_rows, max_blocks;
    kki_block *block;
    double *lambda, *u, *g, *compliance, *bias;
    double *kept;                                         ///< λ for the next step to start from
    double *lambda2, *u2;                                 ///< of passes behind the first
    double *u0, *u_start, *u_end, *travel, *total, *gain; ///< of events.c; u_end as the solution has it
} kki_solution;

/// A state whose kinematics the data holds (kinematics.c).
typedef struct kki_observed {
    int has, has_axes;
    double *q, *v; ///< [nq], [nv]
} kki_observed;

/// For readers (readout.c): made when somebody asks.
typedef struct kki_readout {
    int has_view;
    kk_data *view;           ///< kinematics and loads at the middle of the last step
    double *view_v, *view_a; ///< [nv] the kick's, in the coordinates of v
    kk_force *outside;       ///< [nnode] mean forces from contacts, loops and the caller, world axes about the node
    kk_force *body_force;    ///< [nbody] the same on bodies, in their frames
    kk_force *wrench;        ///< [nbody] what each joint transmits
    kki_observed seen;
    kk_data *axes;    ///< Jacobians where a state is; NULL until somebody asks
    int owes_outside; ///< contacts and loops of this step are not among the forces from outside yet (finish.c)
    int owes_energy;  ///< the report has no energies yet: what they are made of is as the step left it (finish.c)
} kki_readout;

/// Of momentum.c: trees in flight.
typedef struct kki_momentum {
    int8_t *in_flight;  ///< [nnode]
    int8_t *tie;        ///< [ntree]
    kki_flight *flight; ///< [nnode] at the start of the step, then at its end
} kki_momentum;

/// Of energy.c and audit.c.
typedef struct kki_energies {
    kki_koenig *koenig;      ///< [nnode] constant
    kki_energy *tree_energy; ///< [2 ntree] of rk4.c: at the start of the step, and at its end
    double fastest; ///< rad/s; angular velocity of the fastest node at the last state that energies were asked of
    kki_audited audited;
    int verdict;        ///< of the last part of a step (audit.h)
    double work_before; ///< of constraints in the parts of the step before this one, J
    double pushed_work; ///< of what pushes on links in this step, J
    double moved_work;  ///< of surfaces that run, J
    double balanced,
        balanced_before; ///< J; given back to velocities of this part of a step, and of the parts before it
    int may_balance;     ///< some tree
    kki_balance balance;
} kki_energies;

/// What a kick from the middle of a step changes of a contact.
typedef struct kki_contact_start {
    kk_vec3 impulse, kept, moment, kept_moment;
    double open;
} kki_contact_start;
/// Contacts up to which a step is kicked again from its middle; beyond, it is taken anew from its start, with the same bits.
enum { KKI_MOST_KICKED_AGAIN = 32 };

/// How this attempt at a step, or at a part of one, is made, and what came of it.
typedef struct kki_retry {
    kki_contact_start *start; ///< [KKI_MOST_KICKED_AGAIN]
    int contacts;             ///< of them; −1: there are too many
    int is_rough;             ///< an attempt ended because its bias forces can be had better
    int attempts;             ///< at this part of a step before this one, whose mean velocity is known
    int shares; ///< that the step is taken in, each of which is corrected whatever its audit says; 0: it is taken whole
    int gained; ///< shares of the step had impulses, and were refused for what they gained
    int was_coarse, takes_coarse; ///< the whole step was refused for shares that are better; it is taken all the same
    int may_yield;                ///< contacts may give way where there is no other answer
    int degrades;                 ///< the step takes the best answer of bounded effort (degrade.c)
} kki_retry;

/// Of rk4.c.
typedef struct kki_rk4_room {
    int is_used;                    ///< this step was one for Runge and Kutta
    int is_driven;                  ///< a force other than gravity acted in it
    double moment;                  ///< time since the start of the step at which forces are asked for
    double *slip, *v_part, *q_part; ///< [nv], [nv], [nq] friction of joints that slide, start of a part
} kki_rk4_room;

/// Of free_bodies/stepper.c: models of free bodies alone. [nnode]
typedef struct kki_only_free {
    int8_t *is_ball;      ///< kki_drift_is_ball
    double *fall;         ///< kki_fall_of at the middle
    kki_kinetic *kinetic; ///< of those that only touch
} kki_only_free;

/// What the state remembers from step to step.
typedef struct kki_warm_start {
    kki_warm_layout layout;
    double *value;       ///< laid out as in the state: what will be written there
    const double *other; ///< [nother] of papers: records that take the place of those of contacts and pairs; NULL: none
    int32_t nother;
} kki_warm_start;

/// Those who share in a step: the calling thread and the caller's workers.
typedef struct kki_team {
    int32_t count;
    kki_island_scratch *scratch; ///< [count] of each
    kki_meeting *met;            ///< [most near pairs] where there are several
    kki_meetings *meetings;      ///< [one for so many of them, and one]
    kk_error *fault;             ///< [count] of each worker's first island that failed
    int32_t *fault_island;       ///< [count] its number
} kki_team;

/// For tests.
typedef struct kki_hooks {
    void (*probe)(kk_simulator *simulator, kk_stage stage, void *user); ///< called behind every stage
    void *probe_user;
    /// Called with every contact problem as an island poses it (`options` NULL) and as the solver is handed it, with the λ to start from; for the
    /// corpus of tests.
    void (*capture)(const kk_simulator *simulator, const kki_island *island, const kki_problem *problem,
                    const kki_solver_options *options, const double *lambda, void *user);
    void *capture_user;
} kki_hooks;

/// What follows from the model's numbers once and for all. Of a variation it is made with it, and a simulator takes over the pointers (variation.c).
typedef struct kki_constants {
    kki_traits traits;
    int32_t single; ///< constraints that are there without any contact, but for loops
    int32_t nlimited;
    kki_limited *limited; ///< [nlimited ≤ nv] by node
    kki_motors motors;
    double *stiffness, *damping, *rest, *mobility; ///< [nv]
    kki_koenig *koenig;                            ///< [nnode]
    kki_tendon_load *tendon;                       ///< [ntendon] of which is kept what does not change
} kki_constants;

/// Which model a simulator steps: the one that it was made for, or a variation of that.
typedef struct kki_variation {
    const kk_model *made_for;
    uint64_t made_for_hash;
    kki_constants own;                 ///< of the model that it was made for
    int has_own_nodes, has_own_shapes; ///< of the last step's model: whether they are another array than in that
    int32_t most_single;               ///< the most of `single` that there is room for
} kki_variation;

struct kk_simulator {
    // made once
    kk_allocator allocator;
    size_t size;
    void *room_block; ///< what room is counted for
    size_t room_bytes;
    kki_room room;
    const kk_model *model; ///< that of the last step
    uint64_t model_hash;
    kki_variation variation;
    const kki_paper *paper; ///< the method that takes the place of the step; NULL: none
    void *paper_data;       ///< its own
    kki_traits traits;
    kk_step_options options;
    kki_hooks hooks;
    kk_data *data; ///< of the step's middle
    // of a step, stage by stage
    double h;
    kki_lacking lacking;
    kki_motion motion;
    kki_shapes shapes;
    kki_near near;
    kki_fast fast;
    kki_effort effort;
    kki_contacts contacts;
    kki_constraints constraints;
    kki_forces forces;
    kki_kick kick;
    kki_islands islands;
    kki_solution solution;
    kki_momentum momentum;
    kki_energies energy;
    struct {
        double *q, *v; ///< [nq], [nv] where loops were open least, while they are closed
    } projection;
    kki_warm_start warm_start;
    kk_report report;
    kki_readout readout;
    // other ways to take a step
    kki_retry retry;
    kk_state *trial; ///< of steps taken in parts; of cached_step.c
    kki_cached_step cached;
    kki_rk4_room rk4;
    kki_only_free only_free;
    kki_free_bodies free_bodies; ///< with a budget: what only touches (free_bodies/free_bodies.c)
    kki_team workers;
};

/// simulator.c: what the simulator has of its model's numbers; tendons in an array of their own.
kki_constants kki_simulator_constants(const kk_simulator *s);
/// variation.c: takes steps of this model from now on, a variation of the one that it was made for or that itself. KK_INVALID_ARGUMENT for any other.
kk_status kki_simulator_turn_to(kk_simulator *s, const kk_model *model, kk_error *error);
/// simulator.c: what actuators of the model need.
int kki_has_transmission(const kk_model *m, kk_transmission transmission);
int kki_has_history(const kk_model *m);
/// scratch.c: room for workers beyond the first; and gone again.
kk_status kki_scratch_create(const kk_model *m, kk_simulator *s);
void kki_scratch_free(kk_simulator *s);
/// Counts and places one.
void kki_scratch_place(kki_layout *layout, const kk_model *m, const kk_simulator *s, kki_island_scratch *x);
/// Before an island: what the last one left is no number any more, in debug builds.
void kki_scratch_poison(const kk_simulator *s, kki_island_scratch *x);
/// The caller's workers; NULL: there are none but the calling thread.
static inline const kk_workers *kki_workers_of(const kk_simulator *s) {
    return s->workers.count > 1 && s->options.workers.count > 1 ? &s->options.workers : NULL;
}

/// Whether gaps that will close in the step do not count yet (kk_step_options.discrete).
static inline int kki_is_overlapping_only(const kk_simulator *s) {
    return s->options.detection >= 2 && s->effort.sweeps > 0;
}
/// simulator.c: solvers of one worker.
kki_solver_size kki_simulator_dense_size(const kk_model *m, const kk_simulator *s);
/// Counts what follows from s->room.
void kki_simulator_count_room(const kk_model *m, kk_simulator *s);
/// Memory for s->room: the block and the solvers, of all workers. What is there before is neither used nor released.
/// @param dense  the dense solver's memory from another simulator; NULL: it is made
kk_status kki_simulator_make_room(const kk_model *m, kk_simulator *s, const kki_solver_work *dense);
void kki_simulator_release_room(kk_simulator *s);

// room.c

/// Before a step: nothing is lacking, and the simulator's own state has room for what the state has.
kk_status kki_room_begin(kk_simulator *s, const kk_state *state, kk_error *error);
/// Behind a step: makes the room that it lacked, in the simulator and in the state, so that it can be taken again. 0: it lacked none, and its status stands; or
/// there is none to be had, and *status says so.
int kki_room_grow(kk_simulator *s, kk_state *state, kk_status *status, kk_error *error);
/// Room for so many constraints without contacts. KK_OUT_OF_MEMORY: it is as it was.
kk_status kki_room_for_single(kk_simulator *s, int32_t single, kk_error *error);
/// Notes that `need` of something would be needed where there is room for `have`.
static inline void kki_room_ask(int32_t need, int32_t have, int32_t *lacking) {
    if (need > have && need > *lacking) {
        *lacking = need;
    }
}
int kki_room_is_lacking(const kk_simulator *s);
/// The larger of both of everything.
void kki_room_join(kki_room *room, const kki_room *other);
/// KK_LIMIT_EXCEEDED where something is lacking.
static inline kk_status kki_room_status(const kk_simulator *s) {
    return kki_room_is_lacking(s) ? KK_LIMIT_EXCEEDED : KK_OK;
}
/// near.c: the pairs worth a look, into s->near.list, sorted by shapes; their shapes are placed. KK_LIMIT_EXCEEDED: they lack room.
kk_status kki_near_find(const kk_model *model, kk_simulator *s, int *count);
/// A near pair whose shapes turned out not to touch: measures how far they are apart, so that they need not be asked again before they have moved
/// as far. @param i  in the list
void kki_near_parted(const kk_model *model, kk_simulator *s, int i);
/// fast.c: what a pair of shapes may move against each other before detection could miss it; infinite with a plane.
double kki_thickness(const kk_model *m, int a, int b);
/// Radius of a ball that fits into the shape; infinite of a plane.
double kki_inner_radius(const kki_shape *shape);
/// Whether a shape is a ball about the center of a lone body, or of the world: however it turns, nothing on it does.
int kki_is_central_ball(const kk_model *m, int shape);
/// Whether two shapes that are placed and `apart` by that much or more in the step's middle, and by more than they reach, are followed in vain, or not at all:
/// they do not meet, and the step is not cut for them.
int kki_passes_by(const kk_model *m, const kk_simulator *s, int a, int b, double apart);
/// By how much more than they reach two shapes of links with all they have within a radius must be apart to pass by, m. *reach: of both links up to which that is enough.
double kki_passing_gap(const kk_model *m, int a, int b, const double radius[2], double *reach);
/// s->fast.meeting of the `count` near pairs: of those so fast that they may have passed each other by the step's middle.
void kki_first_meeting(const kk_model *model, kk_simulator *s, int count);
/// s->fast.struck of the `count` near pairs: all fast ones that meet in this part of the step.
void kki_strike(const kk_model *model, kk_simulator *s, int count);
/// The impact of two shapes; NULL: they have none.
const kki_struck *kki_struck_pair(const kk_simulator *s, int first, int second);
/// The manifold of an impact, its points carried to the middle, where they overlap by what the bodies have moved on. @return 1; 0: there is none
int kki_collide_struck(const kk_model *m, const kk_simulator *s, const kki_struck *hit, kki_manifold *manifold);
/// The same as kki_first_meeting of pairs that are found to overlap so deeply in the middle that their normal may be that of the wrong side; behind their contacts.
void kki_first_deep_meeting(const kk_model *model, kk_simulator *s);
/// detect.c: what touches what, from poses and velocities at the step's middle. KK_LIMIT_EXCEEDED: it lacks room.
kk_status kki_detect(const kk_model *model, kk_simulator *s, const kk_state *state);
/// Whether a node, or the world, comes down on others when contacts are looked at next, in the middle of the next step, and not half a step earlier to be half a step too deep
/// by then: links of robots do. Not where chains are closed: their loops have reflections of their own, and with both a ring on the floor rocks for ever.
static inline int kki_may_land(const kk_model *m, int node) {
    return m->nloop == 0 && !kki_is_lone(m, node);
}

/// Gap without what turning about a link that stands has added to it on the way to the middle: h/4 of the velocity that it has added.
static inline double kki_seen_gap(const kk_simulator *s, const kki_contact *k) {
    return k->gap - 0.25 * s->h * k->velocity.x;
}
/// What is left to close of the points of a manifold, from number `from` to `end` − 1. @param bore  whether it did in the last step
void kki_measure_openings(kk_simulator *s, int from, int end, int bore);
/// The same of a point that is alone, as most are.
static inline void kki_measure_opening(const kk_simulator *s, kki_contact *k, int bore) {
    const double gap = kki_seen_gap(s, k), above = gap - KKI_LANDED, over = 0 > above ? 0 : above; // without a branch
    const double sinks = KKI_CLOSING * over / (KKI_DEAD_BAND - KKI_LANDED) * over + 0.5 * KKI_CLOSING * over;
    k->open = gap > KKI_DEAD_BAND ? gap - (bore ? KKI_DEAD_BAND : 0) : sinks;
}
static inline void kki_open_face(kk_simulator *s, int from, int end, int bore) {
    if (end == from + 1) {
        kki_measure_opening(s, &s->contacts.list[from], bore);
        return;
    }
    kki_measure_openings(s, from, end, bore);
}
/// pivots.c: which contacts are those of links that stand, and what of their gaps and velocities comes from turning about them.
void kki_find_pivots(const kk_model *model, kk_simulator *s);
/// constraint.c: lists the constraints of the step. KK_LIMIT_EXCEEDED: they lack room.
kk_status kki_constrain(const kk_model *model, kk_simulator *s);
/// Joints with limits, by node; gives how many. @param list  [nv] result
int kki_list_limited(const kk_model *model, kki_limited *list);
/// How far the rigid loops and couplings are open at most.
double kki_widest_opening(const kk_model *model, const kk_simulator *s, const kk_data *poses);
/// Loops and couplings alone.
void kki_constrain_loops(const kk_model *model, kk_simulator *s);
/// free_bodies/stepper.c: stages of the step for models of lone bodies alone.
int kki_has_only_free_bodies(const kk_model *model);
void kki_only_free_fill(const kk_model *model, kk_simulator *s);
/// [nv] mean acceleration of the last step; of a crowd made when somebody asks.
const double *kki_acceleration(const kk_simulator *s);
void kki_only_free_go_to_middle(const kk_model *model, kk_simulator *s);
void kki_only_free_move_freely(const kk_model *model, kk_simulator *s);
void kki_only_free_move(const kk_model *model, kk_simulator *s);
/// free_bodies/free_bodies.c: memory, and what does not change.
void kki_free_bodies_place(kki_layout *layout, const kk_model *m, kk_simulator *s);
void kki_free_bodies_place_room(kki_layout *layout, kk_simulator *s);
void kki_free_bodies_fill(const kk_model *m, kk_simulator *s);
/// Which of the step's contacts the swarm takes: no constraints are listed for them.
void kki_free_bodies_choose(const kk_model *model, kk_simulator *s);
static inline int kki_free_bodies_have_contact(const kk_simulator *s, int contact) {
    return s->free_bodies.npoint > 0 && s->free_bodies.is_taken[contact];
}
int kki_free_bodies_have_tree(const kk_simulator *s, int tree);
/// Impulses of the swarm; y_end and y_drift of its bodies, their contacts, and its share of the report.
kk_status kki_free_bodies_resolve(const kk_model *model, kk_simulator *s, kk_error *error);
/// islands.c: sorts them into islands and numbers rows and blocks.
kk_status kki_find_islands(const kk_model *model, kk_simulator *s, kk_error *error);
/// resolve.c: impulses of all islands; y_end and y_drift.
kk_status kki_resolve_islands(const kk_model *model, kk_simulator *s, const kk_state *state, kk_error *error);
/// adhesion.c: an actuator's force on what touches a body.
void kki_adhere(const kk_model *m, kk_simulator *s, int body, double force);
/// forces.c: actuators, springs, what the caller adds; tau and the diagonal of the kick.
kk_status kki_apply_forces(const kk_model *model, kk_simulator *s, const kk_input *input, kk_error *error);
/// Looks at servos with the velocities after the kick: who is beyond its limits, or at one and should not be; 1 where the kick must be taken again.
int kki_find_saturated(const kk_model *model, kk_simulator *s);
/// joint_friction.c: which joints are taken to slide on, from the state that the step starts from.
void kki_saturated_begin(const kk_model *model, kk_simulator *s, const kk_state *state);
/// Makes rows of those that do not move against their friction behind the kick; 1 where there are any.
int kki_find_unsaturated(const kk_model *model, kk_simulator *s);
/// Their forces and work; and what the next step is to know, into s->warm_start.value.
void kki_saturated_finish(const kk_model *model, kk_simulator *s);
void kki_saturated_store(const kk_model *model, kk_simulator *s);
/// rk4.c: the whole step of a model that nothing but dry friction holds, from the state; s->motion.q and s->motion.v at its end.
/// @param sticks  1: a joint sticks, and nothing was done
kk_status kki_rk4(const kk_model *model, kk_simulator *s, const kk_state *state, const kk_input *input, int *sticks,
                  kk_error *error);
/// energy.c: kinetic and potential energy of every tree at (q, v). @param energy [ntree] result    @return the angular velocity of the fastest node, rad/s
double kki_tree_energies(const kk_model *model, kk_simulator *s, const double *q, const double *v, kki_energy *energy);
void kki_fill_konig(const kk_model *m, kki_koenig *koenig);
/// Potential energy of gravity and of joints' springs at the middle, behind the forces and the kick.
double kki_potential(const kk_model *model, const kk_simulator *s);
/// Gravity times a node's first moment at the middle.
double kki_fall_of(const kk_model *model, const kk_simulator *s, int node);
/// σ̇ = v + [σ, v]/2 + [σ, [σ, v]]/12 of every joint, for a configuration σ away from the start of a stage. @param slope [nv]
void kki_rk4_slopes(const kk_model *m, const double *sigma, const double *v, double *slope);
/// readout.c: kinematics with accelerations at the middle of the last step.
const kk_data *kki_simulator_view(kk_simulator *s);
/// range.c: distance to the nearest surface, −1 for none.
double kki_read_range(const kk_model *m, const kk_data *now, const kki_model_sensor *k);
/// sensed.c: whether a point is in the sensor's zone at X; whether a contact there counts, whose normal leads away from the body that feels it.
int kki_is_in_zone(const kki_model_sensor *k, const kk_transform *X, kk_vec3 point);
int kki_zone_feels(const kki_model_sensor *k, const kk_transform *X, kk_vec3 point, kk_vec3 outward);
void kki_read_separation(const kk_model *m, const kk_data *now, const kki_model_sensor *k, double *out);
void kki_read_contacts(const kk_simulator *s, const kk_data *now, const kki_model_sensor *k, double *out);
/// momentum.c: behind finish, sets the base velocities of trees in flight so that their momentum is exact.
void kki_keep_momentum(const kk_model *model, kk_simulator *s, const kk_state *state);
/// Leaves in s->warm_start.value what the next step goes on from; behind all that changes s->motion.q and s->motion.v.
void kki_remember_flights(const kk_model *model, kk_simulator *s);
/// finish.c: impulses to contacts, forces by source, the energy's books.
void kki_finish(const kk_model *model, kk_simulator *s);
/// Energies that the report still owes, into a report; and into the simulator's own, before what they are made of is overwritten.
void kki_fill_energies(const kk_simulator *s, kk_report *report);
void kki_settle_energies(kk_simulator *s);
/// finish.c: adds contacts and loops of this step to s->readout.outside, for readers and for what flies.
void kki_settle_outside(kk_simulator *s);
/// kinematics.c: where a state of the simulator's model is and how it moves, into s->data.
void kki_simulator_see(kk_simulator *s, const kk_state *state);
/// loop_projection.c: loops and couplings closed to rounding at s->motion.q. Overwrites the list of constraints.
void kki_close_loops(const kk_model *model, kk_simulator *s);
/// cached_step.c: whether a step from this state would be the last one again, which has left all as it was.
int kki_is_cached(const kk_model *model, const kk_simulator *s, const kk_state *state, const kk_input *input);
/// Before and behind the writing of a state: finds out whether the step has changed it.
void kki_cached_begin(const kk_model *model, kk_simulator *s, const kk_state *state);
void kki_cached_end(const kk_model *model, kk_simulator *s, const kk_state *state, const kk_input *input);
/// warm.c: what the next step starts from, into s->warm_start.value; and from there, with what touches, into the state, which must have room for so many words.
void kki_warm_store(kk_simulator *s);
size_t kki_warm_needs(const kk_simulator *s, const kk_state *state);
void kki_warm_commit(const kk_simulator *s, kk_state *state);

/// kk_simulator_create for a model after an edit: takes the solver's memory, by far the largest part, from a simulator that is only to
/// be freed then. Where it fails, that one is as it was.
kk_status kki_simulator_create_from(kk_simulator *donor, const kk_model *model, const kk_step_options *options,
                                    const kk_allocator *allocator, kk_simulator **simulator, kk_error *error);

#endif
