/// What a step leaves in the state for the next one to start from: contacts with their forces, what the narrow phase
/// remembers of pairs, and the forces of all other constraints. Without it a replay would not be exact.
///
/// Numbers of joints, loops, tendons and bodies stand in a part of fixed size (kki_warm_layout), all of them doubles. Contacts and pairs come and go,
/// and are a list of those that exist, in words of 64 bits (kki_warm_list): its room grows as contacts come. Forces are means over the step, in N, so
/// that they serve a step of another length, too.
#ifndef KKI_MODEL_WARM_H
#define KKI_MODEL_WARM_H

#include <karakuri/state.h>

#include "model/model.h"

/// One contact: places of its shapes among those that collide (what is only seen may differ), the first in the lower half of a word; the feature;
/// place in the frame of the first shape; force on the second in world axes; and, unless contacts are plain, moment of torsion and rolling on it.
enum {
    KKI_WARM_SHAPES,
    KKI_WARM_FEATURE,
    KKI_WARM_PLACE,
    KKI_WARM_FORCE = KKI_WARM_PLACE + 3,
    KKI_WARM_MOMENT = KKI_WARM_FORCE + 3,
    KKI_WARM_MOST_CONTACT_SIZE = KKI_WARM_MOMENT + 3
};
/// One pair: shapes, then reference, four features and three single-precision numbers of a direction, two to a word.
enum { KKI_WARM_PAIR_SIZE = 5 };
/// One record of the other form.
enum { KKI_WARM_SPRING_SIZE = 12 };

/// What a state remembers of all that touches: records of contacts, those of pairs behind them. Or records of another form (papers/kuroda.h) and nothing else,
/// where springs hold on. Both sorted by shapes.
typedef struct kki_warm_list {
    int32_t contacts, pairs;
    int32_t others; ///< words of the other form
    int32_t contact_size;
    uint64_t *word;
} kki_warm_list;

static inline size_t kki_warm_words(const kki_warm_list *l) {
    return (size_t)l->contacts * (size_t)l->contact_size + (size_t)l->pairs * KKI_WARM_PAIR_SIZE + (size_t)l->others;
}
static inline uint64_t *kki_warm_contact(const kki_warm_list *l, int i) {
    return l->word + (size_t)i * (size_t)l->contact_size;
}
static inline uint64_t *kki_warm_pair(const kki_warm_list *l, int i) {
    return kki_warm_contact(l, l->contacts) + (size_t)i * KKI_WARM_PAIR_SIZE;
}
/// The same records, bit by bit.
int kki_warm_same(const kki_warm_list *a, const kki_warm_list *b);
/// Two halves in a word.
static inline uint64_t kki_warm_both(uint32_t low, uint32_t high) {
    return (uint64_t)high << 32 | low;
}
static inline uint32_t kki_warm_low(uint64_t word) {
    return (uint32_t)word;
}
static inline uint32_t kki_warm_high(uint64_t word) {
    return (uint32_t)(word >> 32);
}

/// One node, where bodies have places of their own (src/papers/kuroda_bodies.c): center, attitude, velocities, three numbers of its hinge.
enum { KKI_WARM_BODY_SIZE = 16 };
/// One degree of freedom: force of its lower limit, of its upper limit, of its dry friction.
enum { KKI_WARM_LOWER, KKI_WARM_UPPER, KKI_WARM_FRICTION, KKI_WARM_DOF_SIZE };

/// One tendon: force of its lower limit, of its upper limit, of its dry friction.
enum { KKI_WARM_TENDON_SIZE = 3 };

/// One loop: where its switch stands. Off as well where it has broken.
enum { KKI_SWITCH_AS_DEFINED = 0, KKI_SWITCH_ON = 1, KKI_SWITCH_OFF = 2 };

/// One floating tree of several bodies in flight: momentum about the world's origin, center of mass, and the hash of the coordinates and
/// velocities that these belong to, upper and lower half. Zeros where it is not in flight.
enum {
    KKI_WARM_ANGULAR,
    KKI_WARM_LINEAR = KKI_WARM_ANGULAR + 3,
    KKI_WARM_CENTER = KKI_WARM_LINEAR + 3,
    KKI_WARM_HASH_HIGH = KKI_WARM_CENTER + 3,
    KKI_WARM_HASH_LOW,
    KKI_WARM_FLIGHT_SIZE
};

/// One body alone on a free joint, in flight and turning: velocity of its center of mass in the world, of which rounding takes more in
/// axes that turn.
enum { KKI_WARM_LONE_SIZE = 3 };

/// Mean accelerations of the last steps, the last one first, [nv] each.
enum { KKI_WARM_CHANGES = 3 };
/// Behind them: the hash of the coordinates and velocities that the last one led to, upper and lower half. Zeros where there is nothing to go on from.
enum { KKI_WARM_CHANGE_HASH_HIGH, KKI_WARM_CHANGE_HASH_LOW, KKI_WARM_CHANGE_HASHES };

/// Where things stand in the part of fixed size.
typedef struct kki_warm_layout {
    int first_dof, first_coupling, first_loop, first_tendon, first_held, first_switch, first_flight, first_lone;
    int first_body;   ///< [nnode] where springs may stand for hinges; no room otherwise
    int first_change; ///< mean accelerations of the last steps, and the hash of coordinates and velocities behind them
    int size;         ///< all of it
    int size_1, size_2; ///< of versions 1 and 2 of the saved form: without accelerations, and with those of one step
} kki_warm_layout;

kki_warm_layout kki_warm_layout_of(const kk_model *model);
/// Whether a loop holds, by the position of its switch.
static inline int kki_loop_is_on(const kki_model_loop *loop, double position) {
    return position == KKI_SWITCH_AS_DEFINED ? loop->is_active : position == KKI_SWITCH_ON;
}
/// Whether a node is the root of a floating tree of several bodies.
int kki_is_flyer(const kk_model *model, int node);
/// Whether a tree's bias forces depend on its velocity beyond what its drift keeps: it has several nodes, or turns about a point.
int kki_has_bias(const kk_model *model, int tree);
/// A mark of where a tree is and how it moves, behind `mark`: what the state remembers of it is dropped where somebody else has written either.
uint64_t kki_tree_mark(const kk_model *model, int tree, const double *q, const double *v, uint64_t mark);
/// Whether it is a body alone on a free joint.
int kki_is_lone(const kk_model *model, int node);
/// Whether anything can touch anything.
int kki_can_touch(const kk_model *model);
/// Whether no surface runs and no law has torsion or rolling: no contact has a moment or a surface's velocity.
int kki_has_plain_contacts(const kk_model *model);
/// Contacts that states of versions 1 and 2 of the saved form have room for.
int kki_warm_old_room(const kk_model *model);

double *kki_state_warm(kk_state *state);
const double *kki_state_warm_const(const kk_state *state);
uint64_t kki_state_model_hash(const kk_state *state);
/// Its memory will be read soon.
void kki_state_ask_for(const kk_state *state);
/// From now on it belongs to `model`, a variation of the one that it belonged to, or that itself.
void kki_state_belong_to(const kk_model *model, kk_state *state);
/// The same, and it is a new state.
void kki_state_begin(const kk_model *model, kk_state *state);
/// Time, coordinates, velocities and lags of a state of the same structure; what is remembered beside them stays.
void kki_state_take_motion(kk_state *to, const kk_state *from);
/// The list as it is. Whoever changes it says so by kki_state_set_list, whose words must be those of the state.
kki_warm_list kki_state_list(const kk_state *state);
void kki_state_set_list(kk_state *state, const kki_warm_list *list);
/// Words that the list has room for; and room for so many, with what is in it.
size_t kki_state_room(const kk_state *state);
kk_status kki_state_make_room(kk_state *state, size_t words);
/// All numbers of a state of another model whose tree, joints, loops, tendons and lags are the same: a twin that touches nothing. Its list is left empty.
kk_status kki_state_copy_to_twin(kk_state *to, const kk_state *from);
/// The words of another state's list, for which there is room.
void kki_state_copy_list(kk_state *to, const kk_state *from);

#endif
