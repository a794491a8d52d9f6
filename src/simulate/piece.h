/// A piece of a step, between two events: see events.c.
#ifndef KKI_SIMULATE_PIECE_H
#define KKI_SIMULATE_PIECE_H

#include "simulate/constraint.h"
#include "simulate/island.h"

typedef struct kki_piece {
    const kk_model *m;
    kk_simulator *s;
    kki_island *I;
    kki_problem *problem;
    const double *y, *y_free; ///< at the step's start, and at its end without constraints
    double *y_s, *y_e;        ///< of this piece
    double *sum;              ///< I so far
    double w;                 ///< share of the step that is left
    double *u_s, *u_e;        ///< rows' velocities
    double *gain;             ///< what forces add to them in a whole step
    double *travel;           ///< rows of I
    int has_gain, has_rows;   ///< whether `gain` is known, and `travel` that of I
    double *total;            ///< λ so far
    int all_bounce;           ///< contacts without restitution, too
    int may_be_posed_anew;    ///< where it cannot be solved: not worth the slow rungs
} kki_piece;

/// An island's part of an array over all rows.
static inline double *kki_piece_rows(const kki_piece *p, double *all) {
    return all + p->I->first_row;
}

static inline const kki_constraint *kki_piece_constraint(const kki_piece *p, int i) {
    return &p->s->constraints.list[p->s->constraints.order[p->I->first_constraint + i]];
}

static inline const kki_contact_law *kki_piece_law(const kki_piece *p, const kki_constraint *c) {
    return &p->m->law[p->s->contacts.list[c->item].law];
}

/// Share of the speed that a contact, or a stop of a joint or tendon, gives back.
static inline double kki_piece_restitution(const kki_piece *p, const kki_constraint *c) {
    return c->kind == KKI_ON_CONTACT        ? kki_piece_law(p, c)->restitution
           : c->kind == KKI_ON_LIMIT        ? p->m->dof[c->item].restitution
           : c->kind == KKI_ON_TENDON_LIMIT ? p->m->tendon[c->item].restitution
                                            : 0;
}

/// First row of a constraint, numbered in the island.
static inline int kki_piece_row(const kki_piece *p, const kki_constraint *c) {
    return c->row - p->I->first_row;
}

/// Gap of a contact or stop at the start of the piece: ∫ u dt = h/2 Yᵀ I.
static inline double kki_piece_gap(const kki_piece *p, const kki_constraint *c, const double *u_first) {
    const int r = kki_piece_row(p, c);
    const double gap = c->kind == KKI_ON_CONTACT ? p->s->contacts.list[c->item].gap : c->gap[0];
    return gap + 0.5 * p->s->h * (p->travel[r] - u_first[r]);
}

/// events.c: ends the piece after a share of it, at y_e.
void kki_piece_cut(kki_piece *p, double share, const double *lambda);
/// λ of the rows' g. @param lambda  in: where to start from, out: result
kk_status kki_piece_solve_rows(kki_piece *p, double *lambda);
/// A speed that nothing here reaches. A contact that parts so fast stays open, and does not drown the others' digits as a larger
/// number would.
double kki_piece_beyond_reach(const kki_piece *p, const double *g);

/// stops.c: whether the solved piece shows the sliding of some constraint to end inside it; by u_s and u_e alone.
int kki_stops_any(const kki_piece *p);
/// Looks for a stop inside the solved piece. True where there is one: the piece is then cut there.
int kki_stop_inside(kki_piece *p);

/// impacts.c: share of the piece at which the first of the contacts that wait closes; 2: none does.
double kki_first_impact(const kki_piece *p, const double *u_first, const int8_t *waiting);
/// Impulses of everything that is closed at the start of the piece, by the law of the options.
/// @param time  s from the step's start
kk_status kki_exchange(kki_piece *p, const double *u_first, double time);

#endif
