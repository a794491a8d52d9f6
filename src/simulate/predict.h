/// The mean velocity of a step, predicted from the last ones.
#ifndef KKI_SIMULATE_PREDICT_H
#define KKI_SIMULATE_PREDICT_H

#include "simulate/simulator.h"

/// s->motion.v_bias = v + h a/2 with the mean acceleration a that the last steps foretell, where the state goes on from there; v elsewhere. At the step's middle.
void kki_predict_velocity(const kk_model *model, kk_simulator *s, const kk_state *state);
/// Leaves the mean acceleration of this step in s->warm_start.value; behind all that changes s->motion.q and s->motion.v.
void kki_remember_acceleration(const kk_model *model, kk_simulator *s);

#endif
