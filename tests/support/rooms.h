// A simulator that begins with next to no room, so that its steps have to make it.
#ifndef KK_TESTS_SUPPORT_ROOMS_H
#define KK_TESTS_SUPPORT_ROOMS_H

#include "simulate/simulator.h"

/// KK_OK where the simulator has room for one of everything and no more. Otherwise it is only to be freed.
static inline kk_status rooms_take_away(kk_simulator *s) {
    const kk_model *m = s->model;
    kki_simulator_release_room(s);
    s->room = (kki_room){.near = 1, .contacts = 1, .manifolds = 1, .held = 1, .dense_rows = 1};
    kk_status status = kki_simulator_make_room(m, s, NULL);
    if (status == KK_OK && !m->has_pairs) {
        kki_near_release_room(&s->near);
        status = kki_near_make_room(&s->near, 1);
    }
    return status;
}

#endif
