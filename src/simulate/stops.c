/// Sliding that stops inside a piece of a step; events.c says what for.
#include <string.h>

#include "math/dense.h"
#include "simulate/piece.h"

enum { MOST_UNKNOWNS = 128, MOST_VERDICTS = 4 };

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
    t[0] = u[r + 1] + p->s->bias[c->row + 1];
    t[1] = u[r + 2] + p->s->bias[c->row + 2];
}

static verdict sliding_along(const double t[2]) {
    const double size = length(t);
    return (verdict){SLIDE, {-t[0] / size, -t[1] / size}};
}

/// Reads a contact; *stops becomes 1 where its sliding ended inside the piece.
static verdict judge_contact(const kki_piece *p, const kki_constraint *c, const double *lambda, int *stops) {
    const double *l = lambda + kki_piece_row(p, c), friction = p->s->block[c->block].friction;
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
        *stops = __builtin_fabs(p->u_s[kki_piece_row(p, c)]) < RESTING;
        return sliding_along(before);
    }
    return at_bound && end > SLIDING ? sliding_along(after) : (verdict){STICK, {0, 0}};
}

/// A dry joint, likewise; its friction has one direction only.
static verdict judge_joint(const kki_piece *p, const kki_constraint *c, const double *lambda, int *stops) {
    const int r = kki_piece_row(p, c);
    const kki_block *b = &p->s->block[c->block];
    const double before = p->u_s[r], after = p->u_e[r];
    const int at_bound = lambda[r] >= b->upper || lambda[r] <= b->lower;
    if (__builtin_fabs(before) > SLIDING && !(at_bound && before * after > 0) && !c->sticks) {
        *stops = 1;
        return (verdict){SLIDE, {before > 0 ? b->lower : b->upper, 0}};
    }
    return at_bound ? (verdict){SLIDE, {lambda[r], 0}} : (verdict){STICK, {0, 0}};
}

static verdict judge(const kki_piece *p, const kki_constraint *c, const double *lambda, int *stops) {
    switch (c->kind) {
    case KKI_ON_CONTACT: return judge_contact(p, c, lambda, stops);
    case KKI_ON_FRICTION:
    case KKI_ON_RUBBING: return judge_joint(p, c, lambda, stops);
    case KKI_ON_LIMIT:
    case KKI_ON_TENDON: return (verdict){lambda[kki_piece_row(p, c)] > 0 ? STICK : OPEN, {0, 0}};
    default: return (verdict){STICK, {0, 0}};
    }
}

/// The piece with modes held, as a linear system: unknown k changes λ along `column`, and its row's velocity vanishes.
typedef struct unknowns {
    int count;
    int row[MOST_UNKNOWNS];     ///< tested, and first of the column
    double d[MOST_UNKNOWNS][2]; ///< what goes with it in the two rows behind: friction of a sliding contact
} unknowns;

static int add_unknown(unknowns *x, int row, double d1, double d2) {
    if (x->count == MOST_UNKNOWNS) {
        return 0;
    }
    x->row[x->count] = row;
    x->d[x->count][0] = d1;
    x->d[x->count][1] = d2;
    x->count++;
    return 1;
}

/// Unknowns of one constraint; λ of what is given by its mode is set. False where there are too many.
static int list_unknowns(const kki_piece *p, const kki_constraint *c, const verdict *v, double *lambda, unknowns *x) {
    const int r = kki_piece_row(p, c);
    if (v->mode == OPEN) {
        for (int k = 0; k < c->nrow; k++) {
            lambda[r + k] = 0;
        }
        return 1;
    }
    if (kki_is_dry(c) && v->mode == SLIDE) {
        lambda[r] = v->d[0];
        return 1;
    }
    if (c->kind == KKI_ON_CONTACT && v->mode == SLIDE) {
        const double friction = p->s->block[c->block].friction;
        lambda[r + 1] = friction * lambda[r] * v->d[0];
        lambda[r + 2] = friction * lambda[r] * v->d[1];
        return add_unknown(x, r, friction * v->d[0], friction * v->d[1]);
    }
    const int count = c->kind == KKI_ON_CONTACT ? 3 : c->nrow;
    int room = 1;
    for (int k = 0; k < count; k++) {
        room &= add_unknown(x, r + k, 0, 0);
    }
    return room;
}

/// Column k seen by row r of G = Yᵀ Y.
static double coupling(const kki_piece *p, const unknowns *x, int r, int k) {
    const double *Y = p->s->Y;
    const size_t stride = (size_t)p->I->stride, c = (size_t)x->row[k];
    const double d1 = x->d[k][0], d2 = x->d[k][1];
    const int plain = d1 == 0 && d2 == 0;
    double sum = 0;
    for (size_t j = 0; j < (size_t)p->I->nv; j++) {
        const double *y = Y + j * stride;
        sum += y[r] * (plain ? y[c] : y[c] + d1 * y[c + 1] + d2 * y[c + 2]);
    }
    return sum;
}

static int factor(const kki_piece *p, const unknowns *x, double *A, int *pivot) {
    const int n = x->count;
    double largest = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) {
            A[i * n + k] = coupling(p, x, x->row[i], k);
        }
        largest = A[i * n + i] > largest ? A[i * n + i] : largest;
    }
    for (int i = 0; i < n; i++) {
        // four points on a face: any of their forces that add up; the shift is in the matrix alone
        A[i * n + i] += 1e-10 * largest + p->s->compliance[p->I->first_row + x->row[i]];
    }
    return n == 0 || kki_lu_factor(n, A, pivot) == KK_OK;
}

/// λ with the modes held, refined against the matrix's shift.
static int solve_held(kki_piece *p, const verdict *v, double *lambda) {
    kk_simulator *s = p->s;
    unknowns x = {.count = 0};
    int pivot[MOST_UNKNOWNS];
    for (int i = 0; i < p->I->nconstraint; i++) {
        if (!list_unknowns(p, kki_piece_constraint(p, i), &v[i], lambda, &x)) {
            return 0;
        }
    }
    if (!factor(p, &x, s->A, pivot)) {
        return 0;
    }
    double b[MOST_UNKNOWNS], *u = kki_piece_rows(p, s->u2), *y = s->local[5];
    for (int round = 0; round < 4; round++) {
        memset(y, 0, (size_t)p->I->nv * sizeof *y);
        kki_rows_add(s, p->I, lambda, y);
        kki_rows_velocity(p->s, p->I, y, u);
        for (int k = 0; k < x.count; k++) {
            const int r = x.row[k];
            b[k] = -(u[r] + kki_piece_rows(p, s->g)[r] + s->compliance[p->I->first_row + r] * lambda[r]);
        }
        kki_lu_solve(x.count, s->A, pivot, b);
        for (int k = 0; k < x.count; k++) {
            const int r = x.row[k];
            lambda[r] += b[k];
            if (x.d[k][0] != 0 || x.d[k][1] != 0) {
                lambda[r + 1] += x.d[k][0] * b[k];
                lambda[r + 2] += x.d[k][1] * b[k];
            }
        }
    }
    return 1;
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
        if (p->s->stopping[i] && at >= 1) {
            p->s->constraint[p->s->order[p->I->first_constraint + i]].sticks = 1;
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
        p->s->verdict[i] = judge(p, kki_piece_constraint(p, i), lambda, &stops);
        p->s->stopping[i] = (int8_t)stops;
        any |= stops;
    }
    return any;
}

/// Whether what sticks or bears in a forced solution may do so: then no slide went on in this way, and it is no solution.
static int is_lawful(const kki_piece *p, const kki_constraint *c, const verdict *v, const double *lambda) {
    const double *l = lambda + kki_piece_row(p, c), slack = 1 + 1e-9;
    const kki_block *b = &p->s->block[c->block];
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
    return (c->kind != KKI_ON_LIMIT && c->kind != KKI_ON_TENDON) || l[0] >= 0;
}

static int all_lawful(const kki_piece *p, const double *lambda) {
    int lawful = 1;
    for (int i = 0; i < p->I->nconstraint && lawful; i++) {
        lawful = is_lawful(p, kki_piece_constraint(p, i), &p->s->verdict[i], lambda);
    }
    return lawful;
}

/// The end of the piece with what stops in it forced to slide on: y_e, `held` and u2. False where that cannot be had.
static int force_slides(kki_piece *p, const double *lambda, double *held, double *forced) {
    kk_simulator *s = p->s;
    memcpy(held, lambda, (size_t)p->I->stride * sizeof *held);
    if (!solve_held(p, s->verdict, held)) {
        return 0;
    }
    for (int k = 0; k < p->I->nv; k++) {
        forced[k] = p->y_s[k] + p->w * (p->y_free[k] - p->y[k]);
    }
    kki_rows_add(s, p->I, held, forced);
    kki_rows_velocity(p->s, p->I, forced, kki_piece_rows(p, s->u2));
    return 1;
}

int kki_stop_inside(kki_piece *p) {
    kk_simulator *s = p->s;
    double *lambda = kki_piece_rows(p, s->lambda), *held = kki_piece_rows(p, s->lambda2), *forced = s->local[5],
           share = 1;
    int refuted = 1;
    if (p->I->is_wide) {
        return 0; // the forced solution would be one of the whole pile
    }
    for (int round = 0; refuted; round++) {
        if (round == MOST_VERDICTS || !judge_all(p, lambda) || !force_slides(p, lambda, held, forced)) {
            return 0;
        }
        share = first_stop(p, kki_piece_rows(p, s->u2), &refuted);
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
