/// Parts of a step about the instants of its impacts.
#ifndef KKI_SIMULATE_TOUCH_H
#define KKI_SIMULATE_TOUCH_H

#include "simulate/piece.h"

/// Of a piece that begins with an impact: notes in the island when that is, where normal or levers have turned since the middle, or will until then. @param time  s from the step's start
void kki_note_touch(const kki_piece *piece, const int8_t *closed, double time);
/// Whether this part of the step is to be taken again up to a touch, or about it: s->fast.meeting and s->fast.touch say where.
int kki_seek_touch(kk_simulator *s);

#endif
