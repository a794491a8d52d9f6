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

#include "simulate/piece.h"

/// Pieces of a step: a few, and more where many contacts may bounce one after the other. Of a robot a handful: what a slide gains by its instant is ½ v h, and the last
/// ones of a heap of limbs chatter by micrometers a second, dozens of times.
enum { LEAST_PIECES = 12, PIECES_A_CONTACT = 4, PIECES_OF_ROBOTS = 4 };

// ---- pieces

/// What forces add to the rows' velocities in a whole step; for pieces.
static void find_gain(kki_piece *p) {
    double *y = p->I->scratch->product;
    for (int k = 0; k < p->I->nv; k++) {
        y[k] = p->y_free[k] - p->y[k];
    }
    kki_rows_velocity(p->s, p->I, y, p->gain);
}

/// Rows of a piece that will be cut after a share: velocities are straight lines.
static void cut_rows(kki_piece *p, double share) {
    for (int r = 0; r < p->I->nrow; r++) {
        const double end = p->u_s[r] + share * (p->u_e[r] - p->u_s[r]);
        p->travel[r] += p->w * share * (p->u_s[r] + end);
        p->u_s[r] = end;
    }
}

void kki_piece_cut(kki_piece *p, double share, const double *lambda) {
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

// ---- the contact problem of a piece

/// Whether a contact or a stop bounces rather than lands: it has restitution, and it is open or comes in fast.
static int bounces(const kki_piece *p, const kki_constraint *c) {
    return (c->kind == KKI_ON_CONTACT && p->all_bounce) || kki_piece_restitution(p, c) > 0;
}

/// By Poisson's hypothesis a contact without restitution hands its impulse on to those that have some: all meet at their instants.
static int all_bounce(const kki_piece *p) {
    return p->I->has_restitution && p->s->options.restitution_law == KK_RESTITUTION_POISSON;
}

/// What dry friction and adhesion can do in the piece.
static void scale_bounds(const kki_piece *p, const kki_constraint *c) {
    kki_block *b = &p->s->solution.block[c->block];
    const double time = p->w * p->s->h;
    if (kki_is_dry(c)) {
        b->upper =
            time * (c->kind == KKI_ON_JOINT_FRICTION ? p->m->dof[c->item].friction : p->m->tendon[c->item].friction);
        b->lower = -b->upper;
    } else if (c->kind == KKI_ON_CONTACT) {
        b->adhesion = time * kki_piece_law(p, c)->adhesion;
        kki_set_creep(kki_piece_law(p, c), time, p->s->solution.compliance + c->row);
    }
}

double kki_piece_beyond_reach(const kki_piece *p, const double *g) {
    double fastest = 1;
    for (int r = 0; r < p->I->nrow; r++) {
        fastest = __builtin_fabs(g[r]) > fastest ? __builtin_fabs(g[r]) : fastest;
    }
    return 10 * fastest;
}

/// g of the piece; contacts that are still to bounce are kept out of it.
static void pose(kki_piece *p, const double *u_first, const int8_t *waiting) {
    kk_simulator *s = p->s;
    double *g = kki_piece_rows(p, s->solution.g);
    for (int r = 0; r < p->I->nrow; r++) {
        g[r] = p->u_s[r] + p->w * p->gain[r];
    }
    const double far = kki_piece_beyond_reach(p, g);
    for (int i = 0; i < p->I->nconstraint; i++) {
        const kki_constraint *c = kki_piece_constraint(p, i);
        const int r = kki_piece_row(p, c);
        for (int k = 0; k < c->nrow; k++) {
            g[r + k] += s->solution.bias[c->row + k];
        }
        if ((c->kind == KKI_ON_CONTACT || bounces(p, c)) && p->w < 1 && s->solution.compliance[c->row] == 0) {
            const double gap = kki_piece_gap(p, c, u_first);
            g[r] -= s->solution.bias[c->row];
            const double closes = 2 * gap / (p->w * s->h) + p->u_s[r]; // in what is left of the step
            g[r] += gap > 1e-5 ? (closes < far ? closes : far) : 0;
        }
        g[r] += waiting && waiting[i] ? far : 0;
        scale_bounds(p, c);
    }
}

kk_status kki_piece_solve_rows(kki_piece *p, double *lambda) {
    kki_certificate proof;
    kki_solver_stats stats;
    kki_solver_options options = kki_island_solver_options(p->s, p->I);
    kk_simulator *s = p->s;
    options.brief = p->may_be_posed_anew;
    options.tried = p->I->is_swept;
    const kk_status status =
        kki_island_solve(s, p->I, p->problem, &options, lambda, kki_piece_rows(p, s->solution.u), &proof, &stats);
    if (status != KK_OK) {
        return status;
    }
    kki_note_work(p->I, &stats);
    if (!stats.solved && p->may_be_posed_anew) {
        return KK_NOT_CONVERGED;
    }
    p->I->report->residual = proof.residual > p->I->report->residual ? proof.residual : p->I->report->residual;
    p->I->report->hit_iteration_limit |= !stats.solved;
    return stats.solved || !kki_is_exact(s) ? KK_OK : KK_NOT_CONVERGED;
}

/// Whether nothing has to act: no contact, limit or tendon closes, and there is nothing else.
static int all_stay_open(const kki_piece *p) {
    const double *g = kki_piece_rows(p, p->s->solution.g);
    int open = 1;
    for (int i = 0; i < p->I->nconstraint && open; i++) {
        const kki_constraint *c = kki_piece_constraint(p, i);
        const int is_one_sided =
            kki_is_stop(c) || (c->kind == KKI_ON_CONTACT && p->s->solution.block[c->block].adhesion == 0);
        open = is_one_sided && g[kki_piece_row(p, c)] >= 0;
    }
    return open;
}

/// The modes of the last piece, and those of sweeps, before the ladder: what stops is one block of a robot's dozen.
static int is_kept(kki_piece *p) {
    return p->I->has_robot && p->I->has_matrix && kki_kept_solve(p->m, p->s, p->I) == KKI_KEPT_SOLVED;
}

static kk_status solve(kki_piece *p) {
    kk_simulator *s = p->s;
    double *lambda = kki_piece_rows(p, s->solution.lambda);
    const int is_free = all_stay_open(p);
    if (is_free) {
        memset(lambda, 0, (size_t)p->I->stride * sizeof *lambda);
        memcpy(kki_piece_rows(p, s->solution.u), kki_piece_rows(p, s->solution.g),
               (size_t)p->I->stride * sizeof *lambda);
    }
    const kk_status status = is_free || is_kept(p) ? KK_OK : kki_piece_solve_rows(p, lambda);
    p->I->is_swept = 0;
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
    kki_rows_velocity(p->s, p->I, p->y_e, p->u_e);
    return KK_OK;
}

/// What turns about its contacts may contradict the rest, as in the whole step (resolve.c): then it is held at the piece's end.
static kk_status pose_and_solve(kki_piece *p, const double *u_first, const int8_t *waiting) {
    p->may_be_posed_anew = kki_is_exact(p->s) && p->I->has_robot && kki_island_is_reflected(p->m, p->s, p->I);
    pose(p, u_first, waiting);
    kk_status status = solve(p);
    if (status == KK_NOT_CONVERGED && p->may_be_posed_anew) {
        p->may_be_posed_anew = 0;
        kki_island_drop_reflection(p->m, p->s, p->I);
        pose(p, u_first, waiting);
        status = solve(p);
    }
    p->may_be_posed_anew = 0;
    return status;
}

// ---- the story of an island

/// Contacts that wait for their impact: they can bounce, and are open or approach.
static int list_waiting(const kki_piece *p, const double *u_first, int8_t *waiting) {
    int any = 0;
    for (int i = 0; i < p->I->nconstraint && p->I->has_restitution; i++) {
        const kki_constraint *c = kki_piece_constraint(p, i);
        waiting[i] = 0;
        if (bounces(p, c)) {
            const double u = p->u_s[kki_piece_row(p, c)], gap = kki_piece_gap(p, c, u_first);
            waiting[i] = gap > 1e-9 || __builtin_fabs(u) > p->s->options.restitution_speed;
            any |= waiting[i];
        }
    }
    return any;
}

/// Rows' velocities and ways at the start of the piece, where they are not known.
static void find_rows(kki_piece *p) {
    if (!p->has_rows) {
        kki_rows_velocity(p->s, p->I, p->sum, p->travel);
    }
    kki_rows_velocity(p->s, p->I, p->y_s, p->u_s);
}

/// The solved piece up to its first impact, and what happens there.
static kk_status bounce(kki_piece *p, const double *u_first, double impact) {
    kk_simulator *s = p->s;
    const double time = s->h * (1 - p->w * (1 - impact));
    cut_rows(p, impact);
    kki_piece_cut(p, impact, kki_piece_rows(p, s->solution.lambda));
    p->has_rows = 1;
    p->I->report->events++;
    return kki_exchange(p, u_first, time);
}

/// One piece: solved, cut at its first event. True where the step goes on behind it.
static kk_status advance(kki_piece *p, const double *u_first, int is_last, int is_first, int *goes_on) {
    if (!is_first) {
        find_rows(p);
    }
    const int any = !is_last && list_waiting(p, u_first, p->I->scratch->waiting);
    // the first piece without impacts is solved already
    kk_status status = KK_OK;
    if (!is_first || any) {
        if (!p->has_gain) {
            find_gain(p);
        }
        p->has_gain = 1;
        status = pose_and_solve(p, u_first, any ? p->I->scratch->waiting : NULL);
    }
    *goes_on = 0;
    if (status != KK_OK || is_last) {
        return status;
    }
    const double impact = any ? kki_first_impact(p, u_first, p->I->scratch->waiting) : 2;
    if (impact <= 1) {
        status = bounce(p, u_first, impact);
        *goes_on = p->w > 0;
        return status;
    }
    if (kki_stop_inside(p)) {
        p->has_rows = 0;
        *goes_on = 1;
        p->I->report->events++;
    }
    return KK_OK;
}

static void begin_pieces(kki_piece *p, const double *u_first) {
    const size_t rows_size = (size_t)p->I->stride * sizeof(double);
    memcpy(p->y_s, p->y, (size_t)p->I->nv * sizeof *p->y);
    memset(p->sum, 0, (size_t)p->I->nv * sizeof *p->sum);
    memset(p->total, 0, rows_size);
    memset(p->travel, 0, rows_size);
    p->u_s = kki_piece_rows(p, p->s->solution.u_start);
    memcpy(p->u_s, u_first, rows_size);
}

/// Nothing happens inside a step where nothing rubs and nothing bounces. Servos at their limits bring a law of their own to each piece: a
/// step with one is taken whole, too, unless something bounces; and so is that of a pile, whose slides are not stopped inside it, and one that has no other answer than
/// that contacts give way.
static int is_taken_whole(const kk_simulator *s, const kki_island *I) {
    return s->retry.may_yield || (!I->has_restitution && (I->has_drive || I->is_sparse || !I->has_friction));
}

int kki_island_awaits_impacts(const kk_model *m, kk_simulator *s, kki_island *I) {
    if (!I->has_restitution || s->retry.may_yield) {
        return 0;
    }
    kki_piece p = {.m = m, .s = s, .I = I};
    double *u_first = kki_piece_rows(&p, s->solution.u0);
    p.travel = kki_piece_rows(&p, s->solution.travel);
    p.u_s = u_first;
    memset(p.travel, 0, (size_t)I->stride * sizeof *p.travel);
    int all = list_waiting(&p, u_first, I->scratch->waiting);
    for (int i = 0; i < I->nconstraint && all; i++) {
        all = I->scratch->waiting[i];
    }
    return all;
}

kk_status kki_island_events(const kk_model *m, kk_simulator *s, kki_island *I, kki_problem *problem, const double *y,
                            const double *y_free, double *y_end, double *y_drift) {
    const size_t bytes = (size_t)I->nv * sizeof *y;
    if (I->nrow == 0 || is_taken_whole(s, I)) {
        return KK_OK;
    }
    kki_piece p = {.m = m, .s = s, .I = I, .problem = problem, .y = y, .y_free = y_free, .w = 1};
    double *u_first = p.u_s = kki_piece_rows(&p, s->solution.u0);
    p.u_e = kki_piece_rows(&p, s->solution.u_end); // the first piece is the whole step
    if (!I->has_restitution && !kki_stops_any(&p)) {
        return KK_OK; // as in most steps: y_drift is y_end
    }
    p.y_s = I->scratch->change;
    p.y_e = y_end;
    p.sum = I->scratch->sum;
    p.total = kki_piece_rows(&p, s->solution.total);
    p.gain = kki_piece_rows(&p, s->solution.gain);
    p.travel = kki_piece_rows(&p, s->solution.travel);
    p.all_bounce = all_bounce(&p);
    begin_pieces(&p, u_first);
    kk_status status = KK_OK;
    const int most =
        I->has_robot && !I->has_restitution ? PIECES_OF_ROBOTS : LEAST_PIECES + PIECES_A_CONTACT * I->nconstraint;
    int goes_on = 1, pieces = 0;
    for (; goes_on && status == KK_OK; pieces++) {
        status = advance(&p, u_first, pieces == most, pieces == 0, &goes_on);
    }
    if (status != KK_OK || (pieces == 1 && !goes_on)) {
        memcpy(y_drift, y_end, bytes); // without the contacts that waited it may have been solved anew
        return status;
    }
    // the last piece to its end
    kki_piece_cut(&p, 1, kki_piece_rows(&p, s->solution.lambda));
    memcpy(y_end, p.y_s, bytes);
    memcpy(kki_piece_rows(&p, s->solution.lambda), p.total, (size_t)I->stride * sizeof *p.total);
    for (int k = 0; k < I->nv; k++) {
        y_drift[k] = p.sum[k] - y[k];
    }
    return KK_OK;
}
