/// What a step leaves in the state for the next one to start from: contacts with their forces, what the narrow phase
/// remembers of pairs, and the forces of all other constraints. Without it a replay would not be exact.
///
/// A number of contacts below 0 says that so many records of another form follow (src/papers/kuroda.h): where springs hold on.
///
/// All numbers are doubles, so that a state has one form of number; ids and halves of features are whole numbers. Forces
/// are means over the step, in N, so that they serve a step of another length, too.
#ifndef KKI_MODEL_WARM_H
#define KKI_MODEL_WARM_H

#include <karakuri/state.h>

#include "model/model.h"

/// One contact: places of its shapes among those that collide (what is only seen may differ), upper and lower half of
/// the feature, place in the frame of the first shape, force on the second in world axes, moment of torsion and rolling
/// on it likewise.
enum {
    KKI_WARM_FIRST,
    KKI_WARM_SECOND,
    KKI_WARM_FEATURE_HIGH,
    KKI_WARM_FEATURE_LOW,
    KKI_WARM_PLACE,
    KKI_WARM_FORCE = KKI_WARM_PLACE + 3,
    KKI_WARM_MOMENT = KKI_WARM_FORCE + 3,
    KKI_WARM_CONTACT_SIZE = KKI_WARM_MOMENT + 3
};
/// One node, where bodies have places of their own (src/papers/kuroda_bodies.c): centre, attitude, velocities, three numbers of its hinge.
enum { KKI_WARM_BODY_SIZE = 16 };
/// One pair: shapes, reference, four features, direction.
enum { KKI_WARM_PAIR_SIZE = 10 };
/// One degree of freedom: force of its lower limit, of its upper limit, of its dry friction.
enum { KKI_WARM_LOWER, KKI_WARM_UPPER, KKI_WARM_FRICTION, KKI_WARM_DOF_SIZE };

/// One tendon: force of its lower limit, of its upper limit, of its dry friction.
enum { KKI_WARM_TENDON_SIZE = 3 };

/// One loop: where its switch stands. Off as well where it has broken.
enum { KKI_SWITCH_AS_DEFINED = 0, KKI_SWITCH_ON = 1, KKI_SWITCH_OFF = 2 };

/// One floating tree of several bodies in flight: momentum about the world's origin, centre of mass, and the hash of the coordinates and
/// velocities that these belong to, upper and lower half. Zeros where it is not in flight.
enum {
    KKI_WARM_ANGULAR,
    KKI_WARM_LINEAR = KKI_WARM_ANGULAR + 3,
    KKI_WARM_CENTRE = KKI_WARM_LINEAR + 3,
    KKI_WARM_HASH_HIGH = KKI_WARM_CENTRE + 3,
    KKI_WARM_HASH_LOW,
    KKI_WARM_FLIGHT_SIZE
};

/// One body alone on a free joint, in flight and turning: velocity of its centre of mass in the world, of which rounding takes more in
/// axes that turn.
enum { KKI_WARM_LONE_SIZE = 3 };

/// Mean accelerations of the last steps, the last one first, [nv] each.
enum { KKI_WARM_CHANGES = 3 };
/// Behind them: the hash of the coordinates and velocities that the last one led to, upper and lower half. Zeros where there is nothing to go on from.
enum { KKI_WARM_CHANGE_HASH_HIGH, KKI_WARM_CHANGE_HASH_LOW, KKI_WARM_CHANGE_HASHES };

/// Where things stand in the warm part of a state.
typedef struct kki_warm_layout {
    int contacts, pairs;           ///< room
    int contact_count, pair_count; ///< where the numbers in use are written
    int first_contact, first_pair; ///< where the records begin
    int first_dof, first_coupling, first_loop, first_tendon, first_held, first_switch, first_flight, first_lone;
    int first_body;   ///< [nnode] where springs may stand for hinges; no room otherwise
    int first_change; ///< mean accelerations of the last steps, and the hash of coordinates and velocities behind them
    int size;         ///< all of it
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
/// Whether it is a body alone on a free joint.
int kki_is_lone(const kk_model *model, int node);
/// Most contact points of a step.
int kki_model_max_contacts(const kk_model *model);

double *kki_state_warm(kk_state *state);
const double *kki_state_warm_const(const kk_state *state);

#endif
