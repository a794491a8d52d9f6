/// Why a joint may have run away: something that can be checked in the file.
#ifndef KARAKURI_CLI_CAUSE_H
#define KARAKURI_CLI_CAUSE_H

#include "load.h"

/// Adds the likeliest cause about a body and its joint, with its figures; nothing where none stands out.
/// @param dt  the time step, s
void cause_describe(const cli_model *m, const kk_state *state, double dt, int body, cli_text *out);

/// The body of a joint that a message names in quotes; -1: none.
int cause_body_of_message(const cli_model *m, const char *message);

#endif
