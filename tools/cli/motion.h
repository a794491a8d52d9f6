/// Controls over time from a table: columns named by actuators or joints, straight lines between rows.
#ifndef KARAKURI_CLI_MOTION_H
#define KARAKURI_CLI_MOTION_H

#include "cli.h"

typedef struct motion {
    const kk_model *model;
    kk_table *table; ///< NULL: the controls stay as they are at the start
    int time;        ///< column
    int *column;     ///< [actuators] −1: none, it stays as it is at the start
    double *start;   ///< [actuators]
    size_t row;      ///< where the last search ended
} motion;

typedef struct motion_options {
    bool ignore_extra, allow_missing;
} motion_options;

/// Controls at the start: of the keyframe (−1: none); else position servos hold what the state has, and others are 0.
/// @param path  of the table; NULL: none
int motion_open(cli *c, const kk_model *model, const kk_state *state, int keyframe, const char *path,
                motion_options options, motion *m);
/// @param control  [actuators] result
void motion_at(motion *m, double time, double *control);
void motion_free(motion *m);

#endif
