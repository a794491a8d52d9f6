/// Active adhesion: an actuator draws what touches a body to it, its force shared evenly by all contacts of the body.
///
/// A contact with adhesion a bears from −a on, and friction holds μ (λ + a): that is what a force a along the normal does that presses both
/// together, so the force is handed to the contact's law (laws.c).
#include "simulate/simulator.h"

/// Whether it is close enough to be drawn.
static int is_closed(const kk_simulator *s, const kki_contact *k) {
    return kki_seen_gap(s, k) <= KKI_DEAD_BAND;
}

static int count_contacts(const kk_model *m, const kk_simulator *s, int body) {
    int count = 0;
    for (int i = 0; i < s->ncontact; i++) {
        const kki_contact *k = &s->contact[i];
        count += (m->shape[k->shape[0]].body == body || m->shape[k->shape[1]].body == body) && is_closed(s, k);
    }
    return count;
}

void kki_adhere(const kk_model *m, kk_simulator *s, int body, double force) {
    const int count = count_contacts(m, s, body);
    s->adhesion[body] += count > 0 && force > 0 ? force / count : 0;
}

double kki_adhesion_of(const kk_model *m, const kk_simulator *s, const kki_contact *k) {
    const double passive = m->law[k->law].adhesion;
    if (!s->has_adhesion || !is_closed(s, k)) {
        return passive;
    }
    return passive + (s->adhesion[m->shape[k->shape[0]].body] + s->adhesion[m->shape[k->shape[1]].body]);
}
