// States that exercise every branch of rounding and every sign of zero, for comparisons bit by bit.
#ifndef KK_TESTS_SUPPORT_STATES_H
#define KK_TESTS_SUPPORT_STATES_H

#include "support/scene.h"

enum { STATE_KINDS = 8 };

/// Fills the scene's q, v, a, tau: 0 at rest in the neutral pose, 1 the same with −0, 2 quarter turns at rest, 3 quarter turns with
/// every second speed zero, 4 random pose at rest, 5 random with every third number zero, 6 and 7 random.
void states_set(scene *s, int kind, uint64_t stream);

#endif
