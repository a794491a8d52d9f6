/// What a run did to the energy, the limits and the loops, step by step.
#ifndef KARAKURI_CLI_LEDGER_H
#define KARAKURI_CLI_LEDGER_H

#include <karakuri/karakuri.h>

#include "load.h"

/// Sums and worst values; J, rad or m. Zero-initialized before the first step.
typedef struct ledger {
    double start, end;                                                 ///< total energy
    double actuators, applied, moved, correction, dissipated, damping; ///< where it came from and went
    double error;                                                      ///< of the integration, signed
    double most_kinetic, work;                                         ///< what a gain is small or large against
    double overshoot, overshoot_time;                                  ///< beyond a joint's limit
    int overshoot_dof;                                                 ///< of the model; -1: none
    double widest_gap, last_gap;                                       ///< between the points that a loop joins, m
    int64_t steps;
} ledger;

/// After a step, with its report.
void ledger_add(ledger *l, const cli_model *m, const kk_state *state, const kk_report *report);

/// The widest gap of a loop that is switched on, m.
double ledger_gap(const cli_model *m, const kk_state *state);

/// How far hinges and slides are beyond their limits, rad or m. @param dof  that of the farthest; −1: none is
double ledger_overshoot(const cli_model *m, const kk_state *state, int *dof);

/// Whether energy came from nowhere: more than a thousandth of what moved, for each minute begun.
bool ledger_has_gained(const ledger *l, double time);

/// The name of the joint that a degree of freedom of the model belongs to.
const char *ledger_joint(const cli_model *m, int dof);

#endif
