/// Impacts that bounce, at an instant inside a step; events.c says when.
#include <string.h>

#include "contact/one_contact.h"
#include "simulate/touch.h"

/// Impulses in sequence at one instant.
enum { MOST_IMPULSES = 400 };

// ---- when

/// Share of the piece at which a gap that changes with velocities u₀ → u₁ over time T closes; 2: it does not.
static double closing(double gap, double u0, double u1, double T) {
    if (gap <= 0) {
        // what has just left may come back: u₀ s + (u₁ − u₀) s²/2 = 0
        return u0 < 0 ? 0 : u0 > 0 && u1 < -u0 ? 2 * u0 / (u0 - u1) : 2;
    }
    // gap + T (u₀ s + (u₁ − u₀) s²/2) = 0, the smaller positive root, without cancellation
    const double a = 0.5 * T * (u1 - u0), b = T * u0, D = b * b - 4 * a * gap;
    if (D < 0) {
        return 2;
    }
    const double root = kk_sqrt(D);
    const double s1 = b < 0 ? gap / (0.5 * (-b + root)) : a < 0 ? 0.5 * (b + root) / -a : 2;
    return s1 > 0 && s1 <= 1 ? s1 : 2;
}

double kki_first_impact(const kki_piece *p, const double *u_first, const int8_t *waiting) {
    double share = 2;
    for (int i = 0; i < p->I->nconstraint; i++) {
        const kki_constraint *c = kki_piece_constraint(p, i);
        if (waiting[i]) {
            const int r = kki_piece_row(p, c);
            const double gap = kki_piece_gap(p, c, u_first);
            const double at = closing(gap > 1e-12 ? gap : 0, p->u_s[r], p->u_e[r], p->w * p->s->h);
            share = at < share ? at : share;
        }
    }
    return share;
}

/// Marks the contacts, and the stops that bounce, that are closed at this instant; it has no length, so no other can take part in it.
static void mark_closed(const kki_piece *p, const double *u_first, int8_t *closed) {
    for (int i = 0; i < p->I->nconstraint; i++) {
        const kki_constraint *c = kki_piece_constraint(p, i);
        const int may = c->kind == KKI_ON_CONTACT || kki_piece_restitution(p, c) > 0;
        closed[i] = may && kki_piece_gap(p, c, u_first) < 1e-9;
    }
}

static void apply_impulses(kki_piece *p, const double *lambda) {
    kki_rows_add(p->s, p->I, lambda, p->y_s);
    kki_rows_velocity(p->s, p->I, p->y_s, p->u_s);
    for (int r = 0; r < p->I->nrow; r++) {
        p->total[r] += lambda[r];
    }
}

// ---- one behind the other

/// Impulse that turns the approach −a of contact i into the separation e a, friction within its cone. Of the rows' velocities those
/// of closed contacts follow.
static void strike(kki_piece *p, int i, const int8_t *closed) {
    const kki_constraint *c = kki_piece_constraint(p, i);
    const kki_contact_law *law = kki_piece_law(p, c);
    const int r = kki_piece_row(p, c);
    double B[6], l[3];
    const double b[3] = {(1 + law->restitution) * p->u_s[r], p->u_s[r + 1] + p->s->solution.bias[c->row + 1],
                         p->u_s[r + 2] + p->s->solution.bias[c->row + 2]};
    kki_rows_own(p->s, p->I, r, 3, B);
    kki_solve_contact(B, b, law->friction, l);
    for (int k = 0; k < 3; k++) {
        p->total[r + k] += l[k];
    }
    kki_rows_add_contact(p->I, i, r, l, p->y_s);
    int has_stops = 0;
    for (int j = 0; j < p->I->nconstraint; j++) {
        const kki_constraint *other = kki_piece_constraint(p, j);
        const int row = kki_piece_row(p, other), is_contact = other->kind == KKI_ON_CONTACT;
        if (closed[j] && is_contact) {
            kki_rows_velocity_contact(p->I, j, row, p->y_s, p->u_s + row);
        }
        has_stops |= closed[j] && !is_contact;
    }
    if (has_stops) {
        kki_rows_velocity(p->s, p->I, p->y_s, p->u_s);
    }
}

/// The same of a stop of a joint or tendon.
static void strike_stop(kki_piece *p, const kki_constraint *c) {
    const int r = kki_piece_row(p, c);
    double *lambda = kki_piece_rows(p, p->s->solution.lambda2), own;
    memset(lambda, 0, (size_t)p->I->stride * sizeof *lambda);
    kki_rows_own(p->s, p->I, r, 1, &own);
    lambda[r] = own > 0 ? -(1 + kki_piece_restitution(p, c)) * p->u_s[r] / own : 0;
    apply_impulses(p, lambda);
}

/// The contact among the closed ones that approaches fastest; −1: none does.
static int fastest(const kki_piece *p, const int8_t *closed, double threshold) {
    int best = -1;
    double speed = -threshold;
    for (int i = 0; i < p->I->nconstraint; i++) {
        if (closed[i] && p->u_s[kki_piece_row(p, kki_piece_constraint(p, i))] < speed) {
            speed = p->u_s[kki_piece_row(p, kki_piece_constraint(p, i))];
            best = i;
        }
    }
    return best;
}

// ---- all at once

/// g of an instant: what is closed must not approach, what is open and what needs time to act stays out.
/// @param newton  1: what approaches faster than the threshold must leave with its restitution
static void pose_instant(kki_piece *p, const double *u_first, int newton) {
    kk_simulator *s = p->s;
    double *g = kki_piece_rows(p, s->solution.g);
    memcpy(g, p->u_s, (size_t)p->I->stride * sizeof *g);
    const double far = kki_piece_beyond_reach(p, g);
    for (int i = 0; i < p->I->nconstraint; i++) {
        const kki_constraint *c = kki_piece_constraint(p, i);
        const int r = kki_piece_row(p, c);
        kki_block *b = &s->solution.block[c->block];
        if (c->kind == KKI_ON_CONTACT) {
            const int is_open = kki_piece_gap(p, c, u_first) >= 1e-9, is_fast = g[r] < -s->options.restitution_speed;
            g[r] += is_open ? far : newton && is_fast ? kki_piece_law(p, c)->restitution * g[r] : 0;
            g[r + 1] += s->solution.bias[c->row + 1];
            g[r + 2] += s->solution.bias[c->row + 2];
            b->adhesion = 0;
        } else if (kki_is_stop(c)) {
            const double e = newton && g[r] < -s->options.restitution_speed ? kki_piece_restitution(p, c) : 0;
            g[r] += kki_piece_gap(p, c, u_first) > 0 ? far : e * g[r];
        } else if (kki_is_dry(c)) {
            b->lower = b->upper = 0;
        }
    }
}

/// Solves an instant and applies its impulses, which stay in lambda2.
static kk_status strike_all(kki_piece *p, const double *u_first, int newton) {
    double *lambda = kki_piece_rows(p, p->s->solution.lambda2);
    memset(lambda, 0, (size_t)p->I->stride * sizeof *lambda);
    pose_instant(p, u_first, newton);
    const kk_status status = kki_piece_solve_rows(p, lambda);
    if (status == KK_OK) {
        apply_impulses(p, lambda);
    }
    return status;
}

/// Of the impulses of compression the normal ones again, times e.
static void expand(kki_piece *p) {
    double *lambda = kki_piece_rows(p, p->s->solution.lambda2);
    for (int i = 0; i < p->I->nconstraint; i++) {
        const kki_constraint *c = kki_piece_constraint(p, i);
        const int r = kki_piece_row(p, c);
        const double again = kki_piece_restitution(p, c) * lambda[r];
        for (int k = 0; k < c->nrow; k++) {
            lambda[r + k] = k == 0 ? again : 0;
        }
    }
    apply_impulses(p, lambda);
}

/// Newton's law or Poisson's hypothesis for everything that is closed at this instant.
static kk_status exchange_at_once(kki_piece *p, const double *u_first) {
    const int newton = p->s->options.restitution_law == KK_RESTITUTION_NEWTON;
    if (fastest(p, p->I->scratch->stopping, p->s->options.restitution_speed) < 0) {
        return KK_OK;
    }
    const kk_status status = strike_all(p, u_first, newton);
    if (status != KK_OK || newton) {
        return status;
    }
    expand(p);
    return strike_all(p, u_first, 0);
}

/// Impulses in sequence at one instant. What approaches slowly does not bounce, and what does not bounce at all is left to
/// the contact problem of the next piece.
static void exchange_in_sequence(kki_piece *p) {
    const double threshold = p->s->options.restitution_speed;
    int i = fastest(p, p->I->scratch->stopping, threshold);
    for (int n = 0; n < MOST_IMPULSES && i >= 0; n++) {
        const kki_constraint *c = kki_piece_constraint(p, i);
        if (c->kind == KKI_ON_CONTACT) {
            strike(p, i, p->I->scratch->stopping);
        } else {
            strike_stop(p, c);
        }
        i = fastest(p, p->I->scratch->stopping, threshold);
    }
}

kk_status kki_exchange(kki_piece *p, const double *u_first, double time) {
    mark_closed(p, u_first, p->I->scratch->stopping);
    kki_note_touch(p, p->I->scratch->stopping, time);
    if (p->s->options.restitution_law != KK_RESTITUTION_SEQUENTIAL) {
        return exchange_at_once(p, u_first);
    }
    exchange_in_sequence(p);
    return KK_OK;
}
