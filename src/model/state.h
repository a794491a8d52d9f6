/// What a solver keeps in the state from step to step.
#ifndef KKI_MODEL_STATE_H
#define KKI_MODEL_STATE_H

#include <karakuri/state.h>

/// Doubles that the state of a model has for it; the only place that says how many.
int kki_state_warm_size(const kk_model *model);
/// [kki_state_warm_size] zero in a new state and behind kk_state_set_keyframe; saved, copied and hashed with the rest.
double *kki_state_warm(kk_state *state);

#endif
