/// A published method that takes the place of the step (src/papers/). The step asks for it by this table, so that the layer below does
/// not know the layer above: everything before the motion (checks, the moving copy of the state) and after it (proof, commit) is the step's own.
#ifndef KKI_SIMULATE_PAPER_H
#define KKI_SIMULATE_PAPER_H

#include "simulate/simulator.h"

struct kki_paper {
    /// Refuses what the paper has no word for, and makes room for its own data in s->paper_data.
    kk_status (*create)(const kk_model *model, kk_simulator *s, kk_error *error);
    void (*destroy)(kk_simulator *s);
    /// From s->motion.q and s->motion.v, those of the state, to the end of the step; forces, contacts, report and s->warm_start.value likewise.
    kk_status (*step)(const kk_model *model, kk_simulator *s, const kk_state *state, const kk_input *input,
                      kk_error *error);
};

/// papers/papers.c: NULL for the exact solver.
const kki_paper *kki_paper_of(kk_solver solver);

/// Sweeps and descents where the options do not say.
enum { KKI_PAPER_SWEEPS_OPENHRP = 120, KKI_PAPER_SWEEPS_SPRINGHEAD = 15, KKI_PAPER_DESCENTS_KURODA = 1000 };

#endif
