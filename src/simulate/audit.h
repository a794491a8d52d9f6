/// The energy audit of a step, from state to state.
#ifndef KKI_SIMULATE_AUDIT_H
#define KKI_SIMULATE_AUDIT_H

#include "simulate/simulator.h"

/// An error of the integration beyond this share of a step's energy scale lets its bias forces be taken again, of the mean velocity that the kick led to.
#define KKI_ACCURATE 1e-5
/// Up to this ω h that share is a constant; beyond, it grows with the third power. ω is the fastest of the turning of bodies and the change of velocity.
#define KKI_SMALL_RATE 0.02
/// A gain of more than this share of a step's energy scale is never certified.
#define KKI_MOST_GAIN 1e-3
/// An error of more than this share, one way or the other, has a step taken in shares: in a throw of a second such steps would add up to more than a thousandth.
#define KKI_COARSE 1e-4
/// Energies below this are not told from none, J for each kilogram of the model: those of 0.1 mm/s.
#define KKI_LEAST_ENERGY 1e-8

/// Work of what pushes on links (the caller's wrenches, thrusters, tendons) at the mean of the velocities before and after the kick; at the middle,
/// before contacts are added to the forces from outside.
void kki_audit_pushes(const kk_model *model, kk_simulator *s);
/// s->report.audit of the step from `state` to s->motion.q and s->motion.v, which are final but for the balance of loops. Overwrites the view.
void kki_audit(const kk_model *model, kk_simulator *s, const kk_state *state);
/// What the audit of the last attempt says of it.
typedef enum kki_verdict_of_audit {
    KKI_AUDIT_ACCURATE,
    KKI_AUDIT_ROUGH, ///< it should be taken again, better, where that is possible
    KKI_AUDIT_GAINS, ///< energy from nowhere, which is never certified
} kki_verdict_of_audit;
kki_verdict_of_audit kki_audit_verdict(const kk_simulator *s);

#endif
