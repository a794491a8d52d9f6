/// How much a solver keeps in the state from step to step.
#include "model/state.h"

int kki_state_warm_size(const kk_model *model) {
    (void)model; // no solver keeps anything yet
    return 0;
}
