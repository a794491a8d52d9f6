/// Which pairs of shapes are near enough to be looked at.
#ifndef KKI_SIMULATE_NEAR_H
#define KKI_SIMULATE_NEAR_H

#include "collision/broad_phase.h"
#include "collision/manifold.h"
#include "model/model.h"

/// Shapes that move as one: all of a node's, or one of the world's.
typedef struct kki_group {
    int32_t node;   ///< 0: of the world
    int32_t shape;  ///< of the world's: the shape; −1 otherwise
    int32_t root;   ///< of the node's tree where it floats; 0: of one that does not, or of the world
    int32_t view;   ///< from which it is seen
    kk_vec3 center; ///< of a ball round them, in the node's frame
    double radius;
} kki_group;

/// Of two groups that are near each other: the few pairs of shapes that are nearest, and how far all others are apart, as `key`. Most steps look at the
/// few alone.
enum { KKI_CLOSE_PAIRS = 4 };
typedef struct kki_close {
    double key, limit;
    int32_t count; ///< 0: not known
    int32_t place[KKI_CLOSE_PAIRS];
} kki_close;

/// Pairs of shapes between two groups: order[first] … order[first + count − 1] are places in the model's list. A line of memory.
typedef struct kki_group_pair {
    _Alignas(64) int32_t a; // of the first alone: each would have a line of its own
    int32_t b, first, count;
    int32_t
        way; ///< where in `moved` the ways that count begin: seen from the root where both belong to one tree that floats
    float halves; ///< half steps in which a gap between them may close
    kki_close close;
} kki_group_pair;
_Static_assert(sizeof(kki_group_pair) == 64, "a line");

/// A shape that moves and a plane of the world: a ball that goes along a line and has the shape within it tells how high it is before it is placed. A line of
/// memory.
typedef struct kki_above {
    _Alignas(64) kk_vec3 center; ///< of the line, in the node's frame
    kk_vec3 along;               ///< from there to one end
    double radius;
    int32_t shape;
    int32_t place; ///< in the model's list of pairs
} kki_above;
_Static_assert(sizeof(kki_above) == 64, "a line");

/// All such shapes of a group: above[first] … above[end − 1].
typedef struct kki_above_group {
    int32_t at; ///< in `over_by`
    int32_t first, end;
    int32_t plane, group, node; ///< groups, and the second's node
    double margin;              ///< of the plane
} kki_above_group;

/// Four pairs of one group, a, with groups from b on, as far as there are such: all are asked at once whether they may be near.
typedef struct kki_group_four {
    int32_t a, b;
    int32_t way[2]; ///< of both: places in `moved`
    double halves;  ///< as of each pair
} kki_group_four;

/// A pair of shapes of the model, and how far they were apart when last measured: in one place, because few are asked for and they are far from each other.
typedef struct kki_known {
    _Alignas(64) double key; ///< apart by this less what both groups have moved
    double limit;            ///< reach of both up to which the key counts, m
    double calm;             ///< reach of both up to which nobody follows them along their paths, m
    double straight;         ///< the same, up to which they are followed in vain where they are `passing` farther apart
    double round;            ///< of two that are round, the sum of their rods' margins, m; endless of others
    int32_t first, second;
    int32_t node[2]; ///< theirs
    int32_t between; ///< which pair of groups they belong to
    float passing;   ///< m
} kki_known;
_Static_assert(sizeof(kki_known) == 64, "a line");

/// A shape that is round about an axis: all within its margin of a cylinder, of which balls and capsules have only the axis. A line of memory.
typedef struct kki_rod {
    _Alignas(64) double center[3]; ///< in the node's frame
    double half;                   ///< of its length
    double axis[3];
    double radius;
} kki_rod;

/// Four groups that move, a number of each side by side, when last looked at: two poses bound the way of all their points between them. Behind the last group
/// there are copies of its four's first.
typedef struct kki_seen {
    _Alignas(64) double at[3][3][4]; ///< centers of their balls, and two of their axes
    double center[3][4];             ///< of their balls, in their nodes
    int32_t node[4], view[4];
    int32_t goes_on; ///< as the four before they are all seen from one view
} kki_seen;

/// The root of a tree that floats, or the world, where it was last looked at, and the motion that took it there. What goes with it does not move as seen from there,
/// which is what counts between links of one robot.
typedef struct kki_view {
    _Alignas(32) double R[3][4], p[4]; ///< columns
    double Q[4][4];                    ///< x goes to Q x + Q[3]
    int32_t node;
} kki_view;

/// What does not change about a shape: a ball and a box round it, and whether it is a plane, which has neither.
typedef struct kki_outline {
    kk_vec3 center; ///< in the shape's frame
    double radius;
    double half[3];            ///< of the box, along the shape's axes
    int32_t is_plane, is_ball; ///< is_ball: the ball is the shape
} kki_outline;

/// Of a shape what is asked for in thousands of pairs, apart from all the rest that the model has of it.
typedef struct kki_owner {
    int32_t node, collider;
    int32_t is_link; ///< of a robot, which lands when contacts are looked at next
} kki_owner;

typedef struct kki_near_pair {
    int32_t first, second, law;
    double reach; ///< how far a gap may be open and still close in the step
} kki_near_pair;

/// Made once for a model. Few shapes: groups and all their pairs. Many: a broad phase.
typedef struct kki_near {
    kk_allocator allocator;
    void *block, *list_block;
    size_t size, list_size;
    int32_t ngroup;
    int32_t most;        ///< pairs that there is room for
    int32_t nfour;       ///< fours of pairs of groups
    int32_t nview;       ///< roots from which groups are seen
    int32_t nfixed;      ///< groups of the world, which come first
    int32_t nlevel;      ///< planes among them, before all others
    int32_t nabove;      ///< groups over planes
    int32_t has_ways[2]; ///< whether some pair of groups asks for ways as seen from the world, from a root
    int32_t stride;      ///< of arrays with a number for each group: there is room for three more
    bool has_workers;
    kki_group *group;     ///< [ngroup]
    int32_t *group_of;    ///< [nnode + nshape] of a node's shapes, and of each of the world's; −1: none
    kki_group_pair *pair; ///< [4 nfour] those of each four one behind the other; `count` is 0 where there is none
    kki_group_four *four; ///< [nfour]
    kki_above *above;     ///< [model's npair]
    kki_above_group *above_group; ///< [nabove]
    int32_t *order;               ///< [model's npair]
    int32_t *run_end;     ///< [model's npair] of order: behind the last of a pair of groups with the same first shape
    kki_outline *outline; ///< [nshape]
    kki_owner *owner;     ///< [nshape]
    kk_transform *X_NS;   ///< [nshape] in their nodes, side by side
    kki_rod *rod;         ///< [nshape] of those that are round; with groups, as all that is theirs
    int32_t *measured;    ///< [model's npair + 1] places of pairs that are to be measured
    double *apart;        ///< [model's npair] how far they are apart at least, m
    int32_t *found;       ///< [model's npair] places of near pairs
    kki_known *known;     ///< [model's npair]
    /// [model's npair] what parted shapes when they were last measured themselves: no result depends on it
    kki_pair_memory *parted;
    kki_seen *seen; ///< [groups that move, by fours]
    kki_view *view; ///< [nview]
    double *radius; ///< [stride] of groups
    double *reach;  ///< [stride] how far a group gets in the half step, m
    /// [2 stride] sums of a group's ways since the start, m: seen from the world, from its root
    double *moved;
    double *over_by; ///< [nlevel × stride] how high groups are over planes at least, less what may close of it, m
    double *key;     ///< [4 nfour] all pairs of shapes between two groups are apart by this less what both have moved
    double *limit;   ///< [4 nfour] reach of both up to which the key counts, m
    int32_t *asked;  ///< [4 model's npair] pairs of groups that may be near; before that and behind it, shapes to place
    double sum;      ///< of all ways
    kki_near_pair *list;    ///< [most + 1] result, sorted by shapes
    kki_broad_phase *broad; ///< NULL: groups
    int32_t nplane, nmover; ///< with a broad phase: planes of the world that come before all that moves, and what moves
    int32_t *plane, *mover; ///< [colliders] their places among the colliders
    uint32_t *over;         ///< [colliders] a bit for each of the first planes that its ball reaches
    int8_t *has_left;       ///< [colliders] whether the broad phase must know that it has left its box
    kki_near_pair *candidate; ///< [fat pairs of the broad phase + 1] what workers find, each from where its part begins
    int32_t *found_by;        ///< [parts] how many
    const struct kki_near_kernels *kernels; ///< what this CPU runs
    const kk_model *model;
} kki_near;

/// Planes that have a bit; what moves is asked for the others one by one.
enum { KKI_NEAR_PLANES = 32 };

/// Fat pairs that a worker looks at in a row.
enum { KKI_NEAR_PART = 512 };

kk_status kki_near_create(kki_near *near, const kk_model *model, int most, bool has_workers,
                          const kk_allocator *allocator);
/// Takes over sizes and places of the shapes of another model of the same structure, and forgets what it has measured.
void kki_near_resize(kki_near *near, const kk_model *model);
void kki_near_destroy(kki_near *near);
/// The list and the broad phase, with room for so many pairs; what is there before is neither used nor released.
kk_status kki_near_make_room(kki_near *near, int most);
void kki_near_release_room(kki_near *near);

#endif
