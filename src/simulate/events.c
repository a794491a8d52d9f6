/// Inside a step: sliding that stops, and impacts that bounce.
///
/// Through a step rows and operator stay those of its middle, and forces are constant, so velocities in scaled coordinates
/// are straight lines between events. A piece of the step from y_s over a share w of it ends, with the impulses λ of the
/// contact problem, at
///     y_e = y_s + w h E + Y λ,
/// and positions move by w h (y_s + y_e)/2. Pieces follow one another, so the whole displacement is h/2 times
///     I = Σ w (y_s + y_e),     and the drift of the step's second half is  y_drift = I − y.
///
/// *Stops.* A contact (or a dry joint) that slides when a piece starts and does not slide that way when it ends has stopped
/// in between. The piece is solved once more with it forced to slide; its speed then falls linearly through zero at the
/// share α, where the piece is cut. So Kuroda's block stops where it should at any step length (S1 8.1).
///
/// *Impacts.* A bouncing contact does not take part until its gap, a parabola in time, closes at the share β. There the
/// piece is cut, and impulses are exchanged one contact at a time, the fastest approach first (Newton's law in sequence:
/// the last ball of a cradle leaves with the speed of the first), until nothing approaches any more.
#include <string.h>

#include "contact/one_contact.h"
#include "math/dense.h"
#include "simulate/island.h"

/// Pieces of a step: a few, and more where many contacts may bounce one after the other.
enum { LEAST_PIECES = 12, PIECES_A_CONTACT = 4 };
enum { MOST_IMPULSES = 400, MOST_UNKNOWNS = 128, MOST_VERDICTS = 4 };

/// Slower than this nothing slides, m/s.
static const double SLIDING = 1e-10;
/// Approach below which a contact counts as closed when a piece starts, m/s.
static const double RESTING = 1e-6;

enum { OPEN, STICK, SLIDE };

typedef kki_verdict verdict;

typedef struct piece {
    const kk_model *m;
    kk_simulator *s;
    const kki_island *I;
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
} piece;

static double *rows(const piece *p, double *all) {
    return all + p->I->first_row;
}

static double length(const double t[2]) {
    return kk_sqrt(t[0] * t[0] + t[1] * t[1]);
}

static const kki_constraint *constraint(const piece *p, int i) {
    return &p->s->constraint[p->s->order[p->I->first_constraint + i]];
}

static const kki_contact_law *law_of(const piece *p, const kki_constraint *c) {
    return &p->m->law[p->s->contact[c->item].law];
}

static int row_of(const piece *p, const kki_constraint *c) {
    return c->row - p->I->first_row;
}

// ---- pieces

static void velocities(const piece *p, const double *y, double *u) {
    kki_rows_velocity(p->s, p->I, y, u);
}

/// What forces add to the rows' velocities in a whole step; for pieces.
static void find_gain(piece *p) {
    double *y = p->s->local[5];
    for (int k = 0; k < p->I->nv; k++) {
        y[k] = p->y_free[k] - p->y[k];
    }
    velocities(p, y, p->gain);
}

/// Rows of a piece that will be cut after a share: velocities are straight lines.
static void cut_rows(piece *p, double share) {
    for (int r = 0; r < p->I->nrow; r++) {
        const double end = p->u_s[r] + share * (p->u_e[r] - p->u_s[r]);
        p->travel[r] += p->w * share * (p->u_s[r] + end);
        p->u_s[r] = end;
    }
}

/// Ends the piece after a share of it, at y_e.
static void cut(piece *p, double share, const double *lambda) {
    for (int k = 0; k < p->I->nv; k++) {
        const double end = p->y_s[k] + share * (p->y_e[k] - p->y_s[k]);
        p->sum[k] += p->w * share * (p->y_s[k] + end);
        p->y_s[k] = end;
    }
    for (int r = 0; r < p->I->nrow; r++) {
        p->total[r] += share * lambda[r];
    }
    p->w *= 1 - share;
}

/// Gap of a contact at the start of the piece: ∫ u dt = h/2 Yᵀ I.
static double gap_now(const piece *p, const kki_constraint *c, const double *u_first) {
    const int r = row_of(p, c);
    return p->s->contact[c->item].gap + 0.5 * p->s->h * (p->travel[r] - u_first[r]);
}

// ---- the contact problem of a piece

/// Whether a contact bounces rather than lands: it has restitution, and it is open or comes in fast.
static int bounces(const piece *p, const kki_constraint *c) {
    return c->kind == KKI_ON_CONTACT && (p->all_bounce || law_of(p, c)->restitution > 0);
}

/// By Poisson's hypothesis a contact without restitution hands its impulse on to those that have some: all meet at their instants.
static int all_bounce(const piece *p) {
    int any = 0;
    for (int i = 0; i < p->I->nconstraint && p->s->options.restitution_law == KK_RESTITUTION_POISSON; i++) {
        const kki_constraint *c = constraint(p, i);
        any |= c->kind == KKI_ON_CONTACT && law_of(p, c)->restitution > 0;
    }
    return any;
}

/// Dry friction of a joint or a tendon.
static int is_dry(const kki_constraint *c) {
    return c->kind == KKI_ON_FRICTION || c->kind == KKI_ON_RUBBING;
}

/// What dry friction and adhesion can do in the piece.
static void scale_bounds(const piece *p, const kki_constraint *c) {
    kki_block *b = &p->s->block[c->block];
    const double time = p->w * p->s->h;
    if (is_dry(c)) {
        b->upper = time * (c->kind == KKI_ON_FRICTION ? p->m->dof[c->item].friction : p->m->tendon[c->item].friction);
        b->lower = -b->upper;
    } else if (c->kind == KKI_ON_CONTACT) {
        b->adhesion = time * law_of(p, c)->adhesion;
    }
}

/// A speed that nothing here reaches. A contact that parts so fast stays open, and does not drown the others' digits as a larger
/// number would.
static double beyond_reach(const piece *p, const double *g) {
    double fastest = 1;
    for (int r = 0; r < p->I->nrow; r++) {
        fastest = __builtin_fabs(g[r]) > fastest ? __builtin_fabs(g[r]) : fastest;
    }
    return 10 * fastest;
}

/// g of the piece; contacts that are still to bounce are kept out of it.
static void pose(piece *p, const double *u_first, const int8_t *waiting) {
    kk_simulator *s = p->s;
    double *g = rows(p, s->g);
    for (int r = 0; r < p->I->nrow; r++) {
        g[r] = p->u_s[r] + p->w * p->gain[r];
    }
    const double far = beyond_reach(p, g);
    for (int i = 0; i < p->I->nconstraint; i++) {
        const kki_constraint *c = constraint(p, i);
        const int r = row_of(p, c);
        for (int k = 0; k < c->nrow; k++) {
            g[r + k] += s->bias[c->row + k];
        }
        if (c->kind == KKI_ON_CONTACT && p->w < 1 && s->compliance[c->row] == 0) {
            const double gap = gap_now(p, c, u_first);
            g[r] -= s->bias[c->row];
            const double closes = 2 * gap / (p->w * s->h) + p->u_s[r]; // in what is left of the step
            g[r] += gap > 1e-5 ? (closes < far ? closes : far) : 0;
        }
        g[r] += waiting && waiting[i] ? far : 0;
        scale_bounds(p, c);
    }
}

/// λ of the rows' g. @param lambda  in: where to start from, out: result
static kk_status solve_rows(piece *p, double *lambda) {
    kki_certificate proof;
    kki_solver_stats stats;
    const kki_solver_options options = kki_island_solver_options(p->s, p->I);
    kk_simulator *s = p->s;
    const kk_status status = kki_island_solve(s, p->I, p->problem, &options, lambda, rows(p, s->u), &proof, &stats);
    if (status != KK_OK) {
        return status;
    }
    s->report.newton += stats.newton;
    s->report.sweeps += stats.sweeps;
    s->report.factorisations += stats.factorisations;
    s->report.residual = proof.residual > s->report.residual ? proof.residual : s->report.residual;
    return stats.solved || s->options.budget > 0 ? KK_OK : KK_NOT_CONVERGED;
}

/// Whether nothing has to act: no contact, limit or tendon closes, and there is nothing else.
static int all_stay_open(const piece *p) {
    const double *g = rows(p, p->s->g);
    int open = 1;
    for (int i = 0; i < p->I->nconstraint && open; i++) {
        const kki_constraint *c = constraint(p, i);
        const int is_one_sided = c->kind == KKI_ON_LIMIT || c->kind == KKI_ON_TENDON ||
                                 (c->kind == KKI_ON_CONTACT && p->s->block[c->block].adhesion == 0);
        open = is_one_sided && g[row_of(p, c)] >= 0;
    }
    return open;
}

static kk_status solve(piece *p) {
    kk_simulator *s = p->s;
    double *lambda = rows(p, s->lambda);
    const int is_free = all_stay_open(p);
    if (is_free) {
        memset(lambda, 0, (size_t)p->I->stride * sizeof *lambda);
        memcpy(rows(p, s->u), rows(p, s->g), (size_t)p->I->stride * sizeof *lambda);
    }
    const kk_status status = is_free ? KK_OK : solve_rows(p, lambda);
    if (status != KK_OK) {
        return status;
    }
    for (int k = 0; k < p->I->nv; k++) {
        p->y_e[k] = p->y_s[k] + p->w * (p->y_free[k] - p->y[k]);
    }
    if (is_free) {
        for (int r = 0; r < p->I->nrow; r++) {
            p->u_e[r] = p->u_s[r] + p->w * p->gain[r];
        }
        return KK_OK;
    }
    kki_rows_add(s, p->I, lambda, p->y_e);
    velocities(p, p->y_e, p->u_e);
    return KK_OK;
}

// ---- stops

/// Tangential velocity against a moving surface.
static void slip(const piece *p, const kki_constraint *c, const double *u, double t[2]) {
    const int r = row_of(p, c);
    t[0] = u[r + 1] + p->s->bias[c->row + 1];
    t[1] = u[r + 2] + p->s->bias[c->row + 2];
}

static verdict sliding_along(const double t[2]) {
    const double size = length(t);
    return (verdict){SLIDE, {-t[0] / size, -t[1] / size}};
}

/// Reads a contact; *stops becomes 1 where its sliding ended inside the piece.
static verdict judge_contact(const piece *p, const kki_constraint *c, const double *lambda, int *stops) {
    const double *l = lambda + row_of(p, c), friction = p->s->block[c->block].friction;
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
        *stops = __builtin_fabs(p->u_s[row_of(p, c)]) < RESTING;
        return sliding_along(before);
    }
    return at_bound && end > SLIDING ? sliding_along(after) : (verdict){STICK, {0, 0}};
}

/// A dry joint, likewise; its friction has one direction only.
static verdict judge_joint(const piece *p, const kki_constraint *c, const double *lambda, int *stops) {
    const int r = row_of(p, c);
    const kki_block *b = &p->s->block[c->block];
    const double before = p->u_s[r], after = p->u_e[r];
    const int at_bound = lambda[r] >= b->upper || lambda[r] <= b->lower;
    if (__builtin_fabs(before) > SLIDING && !(at_bound && before * after > 0) && !c->sticks) {
        *stops = 1;
        return (verdict){SLIDE, {before > 0 ? b->lower : b->upper, 0}};
    }
    return at_bound ? (verdict){SLIDE, {lambda[r], 0}} : (verdict){STICK, {0, 0}};
}

static verdict judge(const piece *p, const kki_constraint *c, const double *lambda, int *stops) {
    switch (c->kind) {
    case KKI_ON_CONTACT: return judge_contact(p, c, lambda, stops);
    case KKI_ON_FRICTION:
    case KKI_ON_RUBBING: return judge_joint(p, c, lambda, stops);
    case KKI_ON_LIMIT:
    case KKI_ON_TENDON: return (verdict){lambda[row_of(p, c)] > 0 ? STICK : OPEN, {0, 0}};
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
static int list_unknowns(const piece *p, const kki_constraint *c, const verdict *v, double *lambda, unknowns *x) {
    const int r = row_of(p, c);
    if (v->mode == OPEN) {
        for (int k = 0; k < c->nrow; k++) {
            lambda[r + k] = 0;
        }
        return 1;
    }
    if (is_dry(c) && v->mode == SLIDE) {
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
static double coupling(const piece *p, const unknowns *x, int r, int k) {
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

static int factor(const piece *p, const unknowns *x, double *A, int *pivot) {
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
static int solve_held(piece *p, const verdict *v, double *lambda) {
    kk_simulator *s = p->s;
    unknowns x = {.count = 0};
    int pivot[MOST_UNKNOWNS];
    for (int i = 0; i < p->I->nconstraint; i++) {
        if (!list_unknowns(p, constraint(p, i), &v[i], lambda, &x)) {
            return 0;
        }
    }
    if (!factor(p, &x, s->A, pivot)) {
        return 0;
    }
    double b[MOST_UNKNOWNS], *u = rows(p, s->u2), *y = s->local[5];
    for (int round = 0; round < 4; round++) {
        memset(y, 0, (size_t)p->I->nv * sizeof *y);
        kki_rows_add(s, p->I, lambda, y);
        velocities(p, y, u);
        for (int k = 0; k < x.count; k++) {
            const int r = x.row[k];
            b[k] = -(u[r] + rows(p, s->g)[r] + s->compliance[p->I->first_row + r] * lambda[r]);
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
static void slip_of(const piece *p, const kki_constraint *c, const double *u, double t[2]) {
    t[0] = t[1] = 0;
    if (c->kind == KKI_ON_CONTACT) {
        slip(p, c, u, t);
    } else if (is_dry(c)) {
        t[0] = u[row_of(p, c)];
    }
}

/// Share of the piece at which a slide has no speed left along where it went; 1: it has.
static double stop_share(const piece *p, const kki_constraint *c, const double *u_end) {
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
static double first_stop(piece *p, const double *u_end, int *refuted) {
    double share = 1;
    *refuted = 0;
    for (int i = 0; i < p->I->nconstraint; i++) {
        const double at = stop_share(p, constraint(p, i), u_end);
        if (p->s->stopping[i] && at >= 1) {
            p->s->constraint[p->s->order[p->I->first_constraint + i]].sticks = 1;
            *refuted = 1;
        }
        share = at < share ? at : share;
    }
    return share;
}

/// Reads all constraints; true where the sliding of some ended inside the piece.
static int judge_all(piece *p, const double *lambda) {
    int any = 0;
    for (int i = 0; i < p->I->nconstraint; i++) {
        int stops = 0;
        p->s->verdict[i] = judge(p, constraint(p, i), lambda, &stops);
        p->s->stopping[i] = (int8_t)stops;
        any |= stops;
    }
    return any;
}

/// Whether what sticks or bears in a forced solution may do so: then no slide went on in this way, and it is no solution.
static int is_lawful(const piece *p, const kki_constraint *c, const verdict *v, const double *lambda) {
    const double *l = lambda + row_of(p, c), slack = 1 + 1e-9;
    const kki_block *b = &p->s->block[c->block];
    if (c->kind == KKI_ON_CONTACT && v->mode != OPEN) {
        const double normal = l[0] + b->adhesion;
        return normal >= 0 && (v->mode == SLIDE || length(l + 1) <= slack * b->friction * normal);
    }
    if (is_dry(c)) {
        return l[0] >= slack * b->lower && l[0] <= slack * b->upper;
    }
    if (c->kind == KKI_ON_MOTOR) {
        return l[0] >= b->lower && l[0] <= b->upper;
    }
    return (c->kind != KKI_ON_LIMIT && c->kind != KKI_ON_TENDON) || l[0] >= 0;
}

static int all_lawful(const piece *p, const double *lambda) {
    int lawful = 1;
    for (int i = 0; i < p->I->nconstraint && lawful; i++) {
        lawful = is_lawful(p, constraint(p, i), &p->s->verdict[i], lambda);
    }
    return lawful;
}

/// The end of the piece with what stops in it forced to slide on: y_e, `held` and u2. False where that cannot be had.
static int force_slides(piece *p, const double *lambda, double *held, double *forced) {
    kk_simulator *s = p->s;
    memcpy(held, lambda, (size_t)p->I->stride * sizeof *held);
    if (!solve_held(p, s->verdict, held)) {
        return 0;
    }
    for (int k = 0; k < p->I->nv; k++) {
        forced[k] = p->y_s[k] + p->w * (p->y_free[k] - p->y[k]);
    }
    kki_rows_add(s, p->I, held, forced);
    velocities(p, forced, rows(p, s->u2));
    return 1;
}

/// Looks for a stop inside the solved piece. True where there is one: the piece is then cut there.
static int stop_inside(piece *p) {
    kk_simulator *s = p->s;
    double *lambda = rows(p, s->lambda), *held = rows(p, s->lambda2), *forced = s->local[5], share = 1;
    int refuted = 1;
    if (p->I->is_wide) {
        return 0; // the forced solution would be one of the whole pile
    }
    for (int round = 0; refuted; round++) {
        if (round == MOST_VERDICTS || !judge_all(p, lambda) || !force_slides(p, lambda, held, forced)) {
            return 0;
        }
        share = first_stop(p, rows(p, s->u2), &refuted);
    }
    if (!(share < 1) || share <= 0 || !all_lawful(p, held)) {
        return 0;
    }
    memcpy(p->y_e, forced, (size_t)p->I->nv * sizeof *forced);
    cut(p, share, held);
    for (int r = 0; r < p->I->nrow; r++) {
        lambda[r] *= 1 - share; // to start the rest from
    }
    return 1;
}

// ---- impacts

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

static double first_impact(const piece *p, const double *u_first, const int8_t *waiting) {
    double share = 2;
    for (int i = 0; i < p->I->nconstraint; i++) {
        const kki_constraint *c = constraint(p, i);
        if (waiting[i]) {
            const int r = row_of(p, c);
            const double gap = gap_now(p, c, u_first);
            const double at = closing(gap > 1e-12 ? gap : 0, p->u_s[r], p->u_e[r], p->w * p->s->h);
            share = at < share ? at : share;
        }
    }
    return share;
}

/// Marks the contacts that are closed at this instant; it has no length, so no other can take part in it.
static void mark_closed(const piece *p, const double *u_first, int8_t *closed) {
    for (int i = 0; i < p->I->nconstraint; i++) {
        const kki_constraint *c = constraint(p, i);
        closed[i] = c->kind == KKI_ON_CONTACT && gap_now(p, c, u_first) < 1e-9;
    }
}

/// Impulse that turns the approach −a of contact i into the separation e a, friction within its cone. Of the rows' velocities those
/// of closed contacts follow.
static void strike(piece *p, int i, const int8_t *closed) {
    const kki_constraint *c = constraint(p, i);
    const kki_contact_law *law = law_of(p, c);
    const int r = row_of(p, c);
    double B[6], l[3];
    const double b[3] = {(1 + law->restitution) * p->u_s[r], p->u_s[r + 1] + p->s->bias[c->row + 1],
                         p->u_s[r + 2] + p->s->bias[c->row + 2]};
    kki_rows_own(p->s, p->I, r, 3, B);
    kki_solve_contact(B, b, law->friction, l);
    for (int k = 0; k < 3; k++) {
        p->total[r + k] += l[k];
    }
    kki_rows_add_contact(p->s, p->I, i, r, l, p->y_s);
    for (int j = 0; j < p->I->nconstraint; j++) {
        if (closed[j]) {
            const int row = row_of(p, constraint(p, j));
            kki_rows_velocity_contact(p->s, p->I, j, row, p->y_s, p->u_s + row);
        }
    }
}

/// The contact among the closed ones that approaches fastest; −1: none does.
static int fastest(const piece *p, const int8_t *closed, double threshold) {
    int best = -1;
    double speed = -threshold;
    for (int i = 0; i < p->I->nconstraint; i++) {
        if (closed[i] && p->u_s[row_of(p, constraint(p, i))] < speed) {
            speed = p->u_s[row_of(p, constraint(p, i))];
            best = i;
        }
    }
    return best;
}

// ---- impacts all at once

/// g of an instant: what is closed must not approach, what is open and what needs time to act stays out.
/// @param newton  1: what approaches faster than the threshold must leave with its restitution
static void pose_instant(piece *p, const double *u_first, int newton) {
    kk_simulator *s = p->s;
    double *g = rows(p, s->g);
    memcpy(g, p->u_s, (size_t)p->I->stride * sizeof *g);
    const double far = beyond_reach(p, g);
    for (int i = 0; i < p->I->nconstraint; i++) {
        const kki_constraint *c = constraint(p, i);
        const int r = row_of(p, c);
        kki_block *b = &s->block[c->block];
        if (c->kind == KKI_ON_CONTACT) {
            const int is_open = gap_now(p, c, u_first) >= 1e-9, is_fast = g[r] < -s->options.restitution_speed;
            g[r] += is_open ? far : newton && is_fast ? law_of(p, c)->restitution * g[r] : 0;
            g[r + 1] += s->bias[c->row + 1];
            g[r + 2] += s->bias[c->row + 2];
            b->adhesion = 0;
        } else if (c->kind == KKI_ON_LIMIT || c->kind == KKI_ON_TENDON) {
            g[r] += c->gap[0] > 0 ? far : 0;
        } else if (is_dry(c)) {
            b->lower = b->upper = 0;
        }
    }
}

static void apply_impulses(piece *p, const double *lambda) {
    kki_rows_add(p->s, p->I, lambda, p->y_s);
    velocities(p, p->y_s, p->u_s);
    for (int r = 0; r < p->I->nrow; r++) {
        p->total[r] += lambda[r];
    }
}

/// Solves an instant and applies its impulses, which stay in lambda2.
static kk_status strike_all(piece *p, const double *u_first, int newton) {
    double *lambda = rows(p, p->s->lambda2);
    memset(lambda, 0, (size_t)p->I->stride * sizeof *lambda);
    pose_instant(p, u_first, newton);
    const kk_status status = solve_rows(p, lambda);
    if (status == KK_OK) {
        apply_impulses(p, lambda);
    }
    return status;
}

/// Of the impulses of compression the normal ones again, times e.
static void expand(piece *p) {
    double *lambda = rows(p, p->s->lambda2);
    for (int i = 0; i < p->I->nconstraint; i++) {
        const kki_constraint *c = constraint(p, i);
        const int r = row_of(p, c);
        const double again = c->kind == KKI_ON_CONTACT ? law_of(p, c)->restitution * lambda[r] : 0;
        for (int k = 0; k < c->nrow; k++) {
            lambda[r + k] = k == 0 ? again : 0;
        }
    }
    apply_impulses(p, lambda);
}

/// Newton's law or Poisson's hypothesis for everything that is closed at this instant.
static kk_status exchange_at_once(piece *p, const double *u_first) {
    const int newton = p->s->options.restitution_law == KK_RESTITUTION_NEWTON;
    if (fastest(p, p->s->stopping, p->s->options.restitution_speed) < 0) {
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
static void exchange(piece *p) {
    const double threshold = p->s->options.restitution_speed;
    int i = fastest(p, p->s->stopping, threshold);
    for (int n = 0; n < MOST_IMPULSES && i >= 0; n++) {
        strike(p, i, p->s->stopping);
        i = fastest(p, p->s->stopping, threshold);
    }
}

// ---- the story of an island

/// Contacts that wait for their impact: they can bounce, and are open or approach.
static int list_waiting(const piece *p, const double *u_first, int8_t *waiting) {
    int any = 0;
    for (int i = 0; i < p->I->nconstraint; i++) {
        const kki_constraint *c = constraint(p, i);
        waiting[i] = 0;
        if (bounces(p, c)) {
            const double u = p->u_s[row_of(p, c)], gap = gap_now(p, c, u_first);
            waiting[i] = gap > 1e-9 || __builtin_fabs(u) > p->s->options.restitution_speed;
            any |= waiting[i];
        }
    }
    return any;
}

/// Rows' velocities and ways at the start of the piece, where they are not known.
static void find_rows(piece *p) {
    if (!p->has_rows) {
        velocities(p, p->sum, p->travel);
    }
    velocities(p, p->y_s, p->u_s);
}

/// The solved piece up to its first impact, and what happens there.
static kk_status bounce(piece *p, const double *u_first, double impact) {
    kk_simulator *s = p->s;
    cut_rows(p, impact);
    cut(p, impact, rows(p, s->lambda));
    mark_closed(p, u_first, s->stopping);
    p->has_rows = 1;
    s->report.events++;
    if (s->options.restitution_law != KK_RESTITUTION_SEQUENTIAL) {
        return exchange_at_once(p, u_first);
    }
    exchange(p);
    return KK_OK;
}

/// One piece: solved, cut at its first event. True where the step goes on behind it.
static kk_status advance(piece *p, const double *u_first, int is_last, int is_first, int *goes_on) {
    kk_simulator *s = p->s;
    if (!is_first) {
        find_rows(p);
    }
    const int any = !is_last && list_waiting(p, u_first, s->waiting);
    // the first piece without impacts is solved already
    kk_status status = KK_OK;
    if (!is_first || any) {
        if (!p->has_gain) {
            find_gain(p);
        }
        p->has_gain = 1;
        pose(p, u_first, any ? s->waiting : NULL);
        status = solve(p);
    }
    *goes_on = 0;
    if (status != KK_OK || is_last) {
        return status;
    }
    const double impact = any ? first_impact(p, u_first, s->waiting) : 2;
    if (impact <= 1) {
        status = bounce(p, u_first, impact);
        *goes_on = p->w > 0;
        return status;
    }
    if (stop_inside(p)) {
        p->has_rows = 0;
        *goes_on = 1;
        s->report.events++;
    }
    return KK_OK;
}

/// The first piece is the whole step; its velocities are known from the solution: u = Yᵀ y_e + bias + r λ.
static void begin_pieces(piece *p, const double *u_first) {
    const kk_simulator *s = p->s;
    const size_t rows_size = (size_t)p->I->stride * sizeof(double);
    memcpy(p->y_s, p->y, (size_t)p->I->nv * sizeof *p->y);
    memset(p->sum, 0, (size_t)p->I->nv * sizeof *p->sum);
    memset(p->total, 0, rows_size);
    memset(p->travel, 0, rows_size);
    memcpy(p->u_s, u_first, rows_size);
    for (int r = p->I->first_row; r < p->I->first_row + p->I->nrow; r++) {
        p->u_e[r - p->I->first_row] = s->u[r] - s->bias[r] - s->compliance[r] * s->lambda[r];
    }
}

/// Nothing happens inside a step where nothing rubs and nothing bounces. Servos at their limits bring a law of their own to each piece: a
/// step with one is taken whole, too, unless something bounces.
static int is_taken_whole(const piece *p) {
    int has_motor = 0, has_bounce = 0, rubs = 0;
    for (int i = 0; i < p->I->nconstraint; i++) {
        const kki_constraint *c = constraint(p, i);
        has_motor |= c->kind == KKI_ON_MOTOR;
        has_bounce |= bounces(p, c);
        rubs |= is_dry(c) || (c->kind == KKI_ON_CONTACT && p->s->block[c->block].friction > 0);
    }
    return !has_bounce && (has_motor || !rubs);
}

int kki_island_waits(const kk_model *m, kk_simulator *s, const kki_island *I) {
    piece p = {.m = m, .s = s, .I = I};
    double *u_first = rows(&p, s->u0);
    p.travel = rows(&p, s->travel);
    p.u_s = u_first;
    memset(p.travel, 0, (size_t)I->stride * sizeof *p.travel);
    int all = list_waiting(&p, u_first, s->waiting);
    for (int i = 0; i < I->nconstraint && all; i++) {
        all = s->waiting[i];
    }
    return all;
}

kk_status kki_island_events(const kk_model *m, kk_simulator *s, const kki_island *I, kki_problem *problem,
                            const double *y, const double *y_free, double *y_end, double *y_drift) {
    const size_t bytes = (size_t)I->nv * sizeof *y;
    if (I->nrow == 0) {
        return KK_OK;
    }
    piece p = {.m = m, .s = s, .I = I, .problem = problem, .y = y, .y_free = y_free, .w = 1};
    p.y_s = s->local[3];
    p.y_e = y_end;
    p.sum = s->local[4];
    p.u_s = rows(&p, s->u_start);
    p.u_e = rows(&p, s->u_end);
    p.total = rows(&p, s->total);
    p.gain = rows(&p, s->gain);
    p.travel = rows(&p, s->travel);
    p.all_bounce = all_bounce(&p);
    double *u_first = rows(&p, s->u0);
    if (is_taken_whole(&p)) {
        memcpy(y_drift, y_end, bytes);
        return KK_OK;
    }
    begin_pieces(&p, u_first);
    kk_status status = KK_OK;
    const int most = LEAST_PIECES + PIECES_A_CONTACT * I->nconstraint;
    int goes_on = 1, pieces = 0;
    for (; goes_on && status == KK_OK; pieces++) {
        status = advance(&p, u_first, pieces == most, pieces == 0, &goes_on);
    }
    if (status != KK_OK || (pieces == 1 && !goes_on)) {
        memcpy(y_drift, y_end, bytes); // without the contacts that waited it may have been solved anew
        return status;
    }
    // the last piece to its end
    cut(&p, 1, rows(&p, s->lambda));
    memcpy(y_end, p.y_s, bytes);
    memcpy(rows(&p, s->lambda), p.total, (size_t)I->stride * sizeof *p.total);
    for (int k = 0; k < I->nv; k++) {
        y_drift[k] = p.sum[k] - y[k];
    }
    return KK_OK;
}
