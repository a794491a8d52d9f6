/// What a walking robot knows of itself: noisy encoders, gyro, accelerometer and force sensors, and what an observer makes of them.
#ifndef KARAKURI_CLI_WALKER_SENSES_H
#define KARAKURI_CLI_WALKER_SENSES_H

#include "walker.h"

typedef struct walker_senses walker_senses;

kk_status walker_senses_create(const kk_model *model, const walker_options *o, double dt, walker_senses **senses,
                               kk_error *error);
void walker_senses_free(walker_senses *s);
/// Where it stands is known at first.
void walker_senses_start(walker_senses *s, const kk_state *state);
/// Reads the sensors after a step and puts what is observed in the place of what is true.
/// @param simulator  NULL before the first step    @param floor [2] true forces on the feet, world
void walker_senses_read(walker_senses *s, const kk_state *state, kk_simulator *simulator, const kk_force floor[2],
                        walker_result *r, kk_stabilizer_input *in);
void walker_senses_conclude(walker_senses *s, walker_result *r);

#endif
