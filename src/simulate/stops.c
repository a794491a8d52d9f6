/// Sliding that stops inside a piece of a step; events.c says what for.
#include <string.h>

#include "simulate/piece.h"

/// Rounds of verdicts; dry joints that may stop one after the other in a step before it is taken whole.
enum { MOST_VERDICTS = 4, MOST_JOINTS = 2 };

/// Slower than this nothing slides, m/s.
static const double SLIDING = 1e-10;
/// Approach below which a contact counts as closed when a piece starts, m/s.
static const double RESTING = 1e-6;

enum { OPEN, STICK, SLIDE };

typedef kki_verdict verdict;

static double length(const double t[2]) {
    return kk_sqrt(t[0] * t[0] + t[1] * t[1]);
}

// ---- what has stopped

/// Tangential velocity against a moving surface.
static void slip(const kki_piece *p, const kki_constraint *c, const double *u, double t[2]) {
    const int r = kki_piece_row(p, c);
    t[0] = u[r + 1] + p->s->solution.bias[c->row + 1];
    t[1] = u[r + 2] + p->s->solution.bias[c->row + 2];
}

static verdict sliding_along(const double t[2]) {
    const double size = length(t);
    return (verdict){SLIDE, {-t[0] / size, -t[1] / size}};
}

/// Whether a contact bears from the piece's start on. What has yet to land has friction from then on only, and its slide ends there.
static int is_closed(const kki_piece *p, const kki_constraint *c) {
    return __builtin_fabs(p->u_s[kki_piece_row(p, c)]) < RESTING && !(p->s->solution.bias[c->row] > RESTING);
}

/// Reads a contact; *stops becomes 1 where its sliding ended inside the piece.
static verdict judge_contact(const kki_piece *p, const kki_constraint *c, const double *lambda, int *stops) {
    const double *l = lambda + kki_piece_row(p, c), friction = p->s->solution.block[c->block].friction;
    double before[2], after[2];
    slip(p, c, p->u_s, before);
    slip(p, c, p->u_e, after);
    if (l[0] <= 0) {
        return (verdict){OPEN, {0, 0}};
    }
    const double start = length(before), end = length(after);
    const int at_bound = length(l + 1) >= friction * l[0] * (1 - 1e-12);
    const int goes_on = at_bound && before[0] * after[0] + before[1] * after[1] > 0;
    if (start > SLIDING && !goes_on && !c->sticks) {
        *stops = is_closed(p, c);
        return sliding_along(before);
    }
    return at_bound && end > SLIDING ? sliding_along(after) : (verdict){STICK, {0, 0}};
}

/// A dry joint, likewise; its friction has one direction only.
static verdict judge_joint(const kki_piece *p, const kki_constraint *c, const double *lambda, int *stops) {
    const int r = kki_piece_row(p, c);
    const kki_block *b = &p->s->solution.block[c->block];
    const double before = p->u_s[r], after = p->u_e[r];
    const int at_bound = lambda[r] >= b->upper || lambda[r] <= b->lower;
    if (__builtin_fabs(before) > SLIDING && !(at_bound && before * after > 0) && !c->sticks) {
        *stops = 1;
        return (verdict){SLIDE, {before > 0 ? b->lower : b->upper, 0}};
    }
    return at_bound ? (verdict){SLIDE, {lambda[r], 0}} : (verdict){STICK, {0, 0}};
}

static verdict judge(const kki_piece *p, const kki_constraint *c, const double *lambda, int *stops) {
    switch (kki_type_of(c)->kind) {
    case KKI_CLASS_CONTACT: return judge_contact(p, c, lambda, stops);
    case KKI_CLASS_DRY: return judge_joint(p, c, lambda, stops);
    case KKI_CLASS_STOP: return (verdict){lambda[kki_piece_row(p, c)] > 0 ? STICK : OPEN, {0, 0}};
    default: return (verdict){STICK, {0, 0}};
    }
}

int kki_stops_any(const kki_piece *p) {
    const double *lambda = kki_piece_rows(p, p->s->solution.lambda);
    int stops = 0;
    for (int i = 0; i < p->I->nconstraint && !stops; i++) {
        const kki_constraint *c = kki_piece_constraint(p, i);
        const int bears = c->kind == KKI_ON_CONTACT && lambda[kki_piece_row(p, c)] > 0 && is_closed(p, c);
        if (!c->sticks && (bears || kki_is_dry(c))) {
            judge(p, c, lambda, &stops);
        }
    }
    return stops;
}

static void add_held(kki_held *held, int *count, int row, double d1, double d2) {
    held[(*count)++] = (kki_held){row, {d1, d2}};
}

/// Rows of one constraint that are to rest; λ of what is given by its mode is set.
static void list_held(const kki_piece *p, const kki_constraint *c, const verdict *v, double *lambda, kki_held *held,
                      int *count) {
    const int r = kki_piece_row(p, c);
    if (v->mode == OPEN) {
        for (int k = 0; k < c->nrow; k++) {
            lambda[r + k] = 0;
        }
    } else if (kki_is_dry(c) && v->mode == SLIDE) {
        lambda[r] = v->d[0];
    } else if (c->kind == KKI_ON_CONTACT && v->mode == SLIDE) {
        const kki_block *b = &p->s->solution.block[c->block];
        const double friction = b->friction, most = friction * (lambda[r] + b->adhesion);
        lambda[r + 1] = most * v->d[0];
        lambda[r + 2] = most * v->d[1];
        add_held(held, count, r, friction * v->d[0], friction * v->d[1]);
    } else {
        for (int k = 0; k < (c->kind == KKI_ON_CONTACT ? 3 : c->nrow); k++) {
            add_held(held, count, r + k, 0, 0);
        }
    }
}

/// λ with the modes held.
static int solve_held(kki_piece *p, const verdict *v, double *lambda) {
    kk_simulator *s = p->s;
    int count = 0;
    for (int i = 0; i < p->I->nconstraint; i++) {
        list_held(p, kki_piece_constraint(p, i), &v[i], lambda, p->I->scratch->held, &count);
    }
    const double floor = kki_island_solver_options(s, p->I).floor;
    return kki_contact_hold(p->problem, &p->I->scratch->solver, floor, count, p->I->scratch->held, lambda);
}

/// Slip of a contact or a dry joint.
static void slip_of(const kki_piece *p, const kki_constraint *c, const double *u, double t[2]) {
    t[0] = t[1] = 0;
    if (c->kind == KKI_ON_CONTACT) {
        slip(p, c, u, t);
    } else if (kki_is_dry(c)) {
        t[0] = u[kki_piece_row(p, c)];
    }
}

/// Share of the piece at which a slide has no speed left along where it went; 1: it has.
static double stop_share(const kki_piece *p, const kki_constraint *c, const double *u_end) {
    double before[2], after[2];
    slip_of(p, c, p->u_s, before);
    slip_of(p, c, u_end, after);
    const double speed = length(before);
    if (!(speed > SLIDING) || c->sticks) {
        return 1;
    }
    const double left = (before[0] * after[0] + before[1] * after[1]) / speed;
    const double at = left < 0 ? speed / (speed - left) : 1;
    // across it must not have got faster than it was: then it never slid that way
    const double across = at * (before[0] * after[1] - before[1] * after[0]) / speed;
    return __builtin_fabs(across) < speed ? at : 1;
}

/// Share at which the first slide ends; 1: none. What was to stop and, forced to slide, does not, is called sticking.
static double first_stop(kki_piece *p, const double *u_end, int *refuted) {
    double share = 1;
    *refuted = 0;
    for (int i = 0; i < p->I->nconstraint; i++) {
        const double at = stop_share(p, kki_piece_constraint(p, i), u_end);
        if (p->I->scratch->stopping[i] && at >= 1) {
            p->s->constraints.list[p->s->constraints.order[p->I->first_constraint + i]].sticks = 1;
            *refuted = 1;
        }
        share = at < share ? at : share;
    }
    return share;
}

/// Reads all constraints; true where the sliding of some ended inside the piece.
static int judge_all(kki_piece *p, const double *lambda) {
    int any = 0;
    for (int i = 0; i < p->I->nconstraint; i++) {
        int stops = 0;
        p->I->scratch->verdict[i] = judge(p, kki_piece_constraint(p, i), lambda, &stops);
        p->I->scratch->stopping[i] = (int8_t)stops;
        any |= stops;
    }
    return any;
}

/// Whether what sticks or bears in a forced solution may do so: then no slide went on in this way, and it is no solution.
static int is_lawful(const kki_piece *p, const kki_constraint *c, const verdict *v, const double *lambda) {
    const double *l = lambda + kki_piece_row(p, c), slack = 1 + 1e-9;
    const kki_block *b = &p->s->solution.block[c->block];
    if (c->kind == KKI_ON_CONTACT && v->mode != OPEN) {
        const double normal = l[0] + b->adhesion;
        return normal >= 0 && (v->mode == SLIDE || length(l + 1) <= slack * b->friction * normal);
    }
    if (kki_is_dry(c)) {
        return l[0] >= slack * b->lower && l[0] <= slack * b->upper;
    }
    if (c->kind == KKI_ON_MOTOR) {
        return l[0] >= b->lower && l[0] <= b->upper;
    }
    return (!kki_is_stop(c)) || l[0] >= 0;
}

static int all_lawful(const kki_piece *p, const double *lambda) {
    int lawful = 1;
    for (int i = 0; i < p->I->nconstraint && lawful; i++) {
        lawful = is_lawful(p, kki_piece_constraint(p, i), &p->I->scratch->verdict[i], lambda);
    }
    return lawful;
}

/// The end of the piece with what stops in it forced to slide on: y_e, `held` and u2. False where that cannot be had.
static int force_slides(kki_piece *p, const double *lambda, double *held, double *forced) {
    kk_simulator *s = p->s;
    memcpy(held, lambda, (size_t)p->I->stride * sizeof *held);
    if (!solve_held(p, p->I->scratch->verdict, held)) {
        return 0;
    }
    for (int k = 0; k < p->I->nv; k++) {
        forced[k] = p->y_s[k] + p->w * (p->y_free[k] - p->y[k]);
    }
    kki_rows_add(s, p->I, held, forced);
    kki_rows_velocity(p->s, p->I, forced, kki_piece_rows(p, s->solution.u2));
    return 1;
}

/// Where a robot turns round, all its joints do within a step or two, each at its own instant. To cut the step at every one of them costs a solution each and
/// gains no more than ½ v h a joint: such a step is taken whole.
static int many_joints_stop(const kki_piece *p) {
    int count = 0;
    for (int i = 0; i < p->I->nconstraint; i++) {
        count += p->I->scratch->stopping[i] && kki_is_dry(kki_piece_constraint(p, i));
    }
    return count > MOST_JOINTS;
}

int kki_stop_inside(kki_piece *p) {
    kk_simulator *s = p->s;
    double *lambda = kki_piece_rows(p, s->solution.lambda), *held = kki_piece_rows(p, s->solution.lambda2),
           *forced = p->I->scratch->product, share = 1;
    int refuted = 1;
    if (p->I->is_sparse) {
        return 0; // the forced solution would be one of the whole pile
    }
    for (int round = 0; refuted; round++) {
        if (round == MOST_VERDICTS || !judge_all(p, lambda) || many_joints_stop(p) ||
            !force_slides(p, lambda, held, forced)) {
            return 0;
        }
        share = first_stop(p, kki_piece_rows(p, s->solution.u2), &refuted);
    }
    if (!(share < 1) || share <= 0 || !all_lawful(p, held)) {
        return 0;
    }
    memcpy(p->y_e, forced, (size_t)p->I->nv * sizeof *forced);
    kki_piece_cut(p, share, held);
    for (int r = 0; r < p->I->nrow; r++) {
        lambda[r] *= 1 - share; // to start the rest from
    }
    return 1;
}
