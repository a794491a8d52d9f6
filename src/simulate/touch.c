/// The instant of touch: what bounces leaves along the normal, and with the levers, that it touches with.
///
/// Rows are those of a part's middle. A ball on a plane has them at any time; what turns, or goes past something round, has others when it touches: two balls that meet at
/// the end of a step were 23° off. Where the turn from the middle to the impact can be seen, the step therefore goes on to just before the touch, and from there in a part so short
/// that its middle is the touch. What is predicted from afar is looked at again on the way, so no approach goes past its touch.
#include "simulate/touch.h"

/// A smaller turn from the middle to the touch is none, rad.
static const double STRAIGHT = 1e-5;
/// How near a touch is approached, of the whole step; parts of up to so many times that are laid about the touch; and those that are as short as need be.
static const double NEAR = 1.0 / 128, ABOUT = 4, SHORTEST = 1.0 / 1024;
/// What touches at once as seen from afar may do so later: then so much of a part is looked at next. By how much of it a touch is missed that may come a little earlier.
static const double CLOSER = 0.25, SHY = 0.125;
/// A pile touches all the time: its parts would be those of all.
enum { MOST_CONTACTS = 64 };

/// How fast the levers on a node turn, rad/s; not those on the center of a ball.
static double spin_of(const kk_model *m, const kk_simulator *s, int node, int shape) {
    const kk_vec3 w = node ? kki_vec3(kki_rates_of(s->data, node)->w) : kk_vec3_make(0, 0, 0);
    return kki_is_central_ball(m, shape) ? 0 : kk_vec3_norm(w);
}

/// How fast normal and levers of a contact turn, rad/s.
static double turning_of(const kki_piece *p, const kki_constraint *c) {
    const kki_contact *k = &p->s->contacts.list[c->item];
    const double *u = p->u_s + kki_piece_row(p, c);
    const double round =
        kki_inner_radius(&p->m->shape[k->shape[0]].shape) + kki_inner_radius(&p->m->shape[k->shape[1]].shape);
    return kk_sqrt(u[1] * u[1] + u[2] * u[2]) / round + spin_of(p->m, p->s, k->node[0], k->shape[0]) +
           spin_of(p->m, p->s, k->node[1], k->shape[1]);
}

void kki_note_touch(const kki_piece *p, const int8_t *closed, double time) {
    const kk_simulator *s = p->s;
    if (!s->fast.seeks_touch || p->I->touch >= 0 || s->contacts.count > MOST_CONTACTS || p->I->is_sparse ||
        s->h <= SHORTEST * NEAR * s->options.timestep) {
        return;
    }
    double fastest = 0;
    for (int i = 0; i < p->I->nconstraint; i++) {
        const kki_constraint *c = kki_piece_constraint(p, i);
        if (closed[i] && c->kind == KKI_ON_CONTACT && p->u_s[kki_piece_row(p, c)] < -s->options.restitution_speed) {
            const double w = turning_of(p, c);
            fastest = w > fastest ? w : fastest;
        }
    }
    if (fastest * __builtin_fabs(time - 0.5 * s->h) > STRAIGHT) {
        p->I->touch = time;
    }
}

/// The part that is looked at next: up to just before the touch, or with the touch in its middle.
static double part_up_to(const kk_simulator *s, double touch) {
    const double near = NEAR * s->options.timestep, h = s->h, least = CLOSER * h;
    const double part = h > ABOUT * near ? touch - near : touch > 0.5 * h ? touch - SHY * h : 2 * touch;
    return part > least ? part : least;
}

int kki_seek_touch(kk_simulator *s) {
    double first = s->h;
    int found = 0;
    // a step of Runge and Kutta has no constraints: its islands were found and not begun
    for (int i = 0; i < s->islands.count && !s->rk4.is_used; i++) {
        const double touch = s->islands.list[i].touch;
        found |= touch >= 0;
        first = touch >= 0 && touch < first ? touch : first;
    }
    if (found) {
        s->fast.touch = first;
        s->fast.meeting = part_up_to(s, first);
        s->fast.nmeeting = 1;
    }
    return found;
}
