/// What a step does where no certified answer was found in bounded effort: it takes the best it has, gains no energy, and says what falls short.
#ifndef KKI_SIMULATE_DEGRADE_H
#define KKI_SIMULATE_DEGRADE_H

#include "simulate/island.h"

/// Factors that an island may make in a step that may be degraded: of KKI_ROBOT_ROWS rows, as the square of rows goes, and no fewer or more than these;
/// and outer steps of the proximal point method of larger ones. Problems that are solved at all take fewer.
enum { KKI_ROBOT_FACTORS = 400, KKI_LEAST_FACTORS = 60, KKI_MOST_FACTORS = 20000 };
/// Block Gauss-Seidel sweeps of an island in a degraded step: all that its solution may take.
enum { KKI_DEGRADED_SWEEPS = 60 };

/// Whether the failure of a step lets it be taken in a degraded form: bad input does not.
int kki_may_degrade(const kk_model *m, const kk_simulator *s, const kk_input *input, kk_status failure);
/// Notes what falls short; the gravest flaw stays.
void kki_note_flaw(kk_report *report, kk_step_quality quality, kk_flaw flaw, kk_stage stage, const int body[2],
                   double amount);
/// Of an island that was solved by sweeps alone: impulses that gained energy are made smaller, and numbers out of range end its motion.
/// @param solved  its status    @param y_free  scaled velocities without impulses, y those of the start
void kki_island_degrade(const kk_model *m, kk_simulator *s, kki_island *I, kk_status solved, const double *y,
                        const double *y_free, double *y_end, double *y_drift);
/// Trees with numbers out of range stand still where they were at the start of the step.
void kki_hold_bad_trees(const kk_model *m, kk_simulator *s, const kk_state *state);

#endif
