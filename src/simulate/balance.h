/// Energy that the rule is off by, given or taken by velocities.
#ifndef KKI_SIMULATE_BALANCE_H
#define KKI_SIMULATE_BALANCE_H

#include "simulate/simulator.h"

/// Finds the mechanisms that may be balanced in this step: nothing drives them, nothing but loops and couplings bears on them, and they do not fly. Before loops are closed.
void kki_find_balanced(const kk_model *model, kk_simulator *s);
/// Balances them, behind the audit.
void kki_balance_energy(const kk_model *model, kk_simulator *s);

/// Velocities from number `from` to `end` − 1, multiplied.
void kki_scale_velocities(kk_simulator *s, int from, int end, double factor);
/// Energy that has been taken out of velocities, for the audit of this step and of the next.
void kki_note_taken(const kk_model *model, kk_simulator *s, double energy);

#endif
