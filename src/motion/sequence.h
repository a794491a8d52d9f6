// What the files of sequences share.
#ifndef KARAKURI_MOTION_SEQUENCE_H
#define KARAKURI_MOTION_SEQUENCE_H

#include <karakuri/sequence.h>

#include "base/allocator.h"
#include "base/arena.h"

/// A joint whose coordinates are not those of its velocities: a ball, or a free joint, whose position stands behind its quaternion.
typedef struct kki_turn {
    int q_index, v_index, is_free;
} kki_turn;

struct kk_sequence {
    kk_allocator allocator;
    size_t size;
    const kk_model *model;
    kk_interpolation interpolation;
    kk_sequence_ends ends;
    int count, width;
    double *time;      ///< [count]
    double *p, *v, *a; ///< [count × width] at the rows
    int *dof;          ///< [width] degree of freedom of a coordinate; −1: part of a turn
    kki_turn *turn;    ///< [turn_count]
    int turn_count;
};

/// A piece of one number: Σ c[k] s^k, s = 0 … 1 over `h` seconds.
typedef struct kki_piece {
    double c[6], h;
} kki_piece;
kki_piece kki_sequence_piece(const kk_sequence *s, int row, int column);

/// Velocities and accelerations at the rows from times and positions.
kk_status kki_sequence_fit(kk_sequence *s);

#endif
