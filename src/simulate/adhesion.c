/// Active adhesion: an actuator draws what touches a body to it, its force shared evenly by all contacts of the body.
///
/// The share acts at each contact point along its normal, on both sides, and presses them together; what they bear and rub with is then the plain law's.
#include "simulate/simulator.h"
#include "simulate/tendons.h"

/// Whether it is a contact of the body, and close enough to be drawn.
static int is_drawn(const kk_model *m, const kk_simulator *s, const kki_contact *k, int body) {
    const int is_its = m->shape[k->shape[0]].body == body || m->shape[k->shape[1]].body == body;
    return is_its && kki_seen_gap(s, k) <= KKI_DEAD_BAND;
}

void kki_adhere(const kk_model *m, kk_simulator *s, int body, double force) {
    const kk_vec3 none = kk_vec3_make(0, 0, 0);
    int count = 0;
    for (int i = 0; i < s->contacts.count && force > 0; i++) {
        count += is_drawn(m, s, &s->contacts.list[i], body);
    }
    for (int i = 0; i < s->contacts.count && count > 0; i++) {
        const kki_contact *k = &s->contacts.list[i];
        if (is_drawn(m, s, k, body)) { // the normal points from the first to the second
            const kk_vec3 f = kk_vec3_scale(k->normal, force / count);
            kki_push(s, k->node[0], k->point, kk_force_make(none, f));
            kki_push(s, k->node[1], k->point, kk_force_make(none, kk_vec3_scale(f, -1)));
        }
    }
}
