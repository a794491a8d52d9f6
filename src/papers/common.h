/// What the papers' steps have in common.
#ifndef KKI_PAPERS_COMMON_H
#define KKI_PAPERS_COMMON_H

#include "simulate/island.h"
#include "simulate/paper.h"

extern const kki_paper kki_paper_openhrp, kki_paper_springhead, kki_paper_kuroda;

/// Refuses materials with properties that S0 and S3 have no word for.
kk_status kki_paper_check_materials(const kk_model *m, kk_solver solver, kk_error *error);
/// Contacts, limits, dry friction, couplings and loops at s->motion.q, the configuration of the step's start. A paper's contact begins where shapes
/// overlap, or are as near as `near`: other points are dropped.
kk_status kki_paper_constrain(const kk_model *m, kk_simulator *s, const kk_state *state, double near);
/// Sorts them into islands and fills laws and biases; forces start at 0.
kk_status kki_paper_divide(const kk_model *m, kk_simulator *s, const kk_state *state, kk_error *error);
/// Actuators, springs and the caller's forces at s->motion.q, s->motion.v, all explicit; their sum in s->forces.tau. The lags go on by `lag_time`.
kk_status kki_paper_forces(const kk_model *m, kk_simulator *s, const kk_input *input, double lag_time, kk_error *error);
/// Judges an island's impulses by the exact law.
void kki_paper_judge(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_problem *problem, int sweeps);
/// Impulses to contacts and readers, and what the state remembers.
void kki_paper_finish(const kk_model *m, kk_simulator *s);

#endif
