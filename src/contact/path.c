/// L2¼, the path: from the warm start to the answer along a line of problems, one change of mode at a time.
///
/// Any λ answers *some* problem: with u₀ a velocity that agrees with λ's modes, the one of g₀ = u₀ − G λ. From g₀ a straight line
/// leads to g, g − (1 − τ) r with r = G λ + g − u₀, and along it the answer moves in straight pieces,
///     (T G C) x = −T r,    dλ = C x,    du₀ = G dλ + r,
/// each as far as the first block that leaves its mode. That one changes, and on until τ = 1. C and T are those of a Newton step: what moves,
/// and what is tested (newton.c, reduced.c).
///
/// A Newton step that changes all modes at once holds too much where rows say almost the same thing (feet that stick, in joints that
/// stick), and then leaps; here a row comes in only where its own velocity gets to zero. So that rows that say exactly the same leave the matrix
/// regular, G carries a proximal term w (λ − λ̄) around the pass's start: a pass ends with an error of w times what λ has moved, and the next
/// pass, from there, takes most of that away. Discs that slide are linearised, their direction stays for a pass, a turn is a straight line.
///
/// References: Cottle, Monotone solutions of the parametric linear complementarity problem (1972); Cottle, Pang, Stone, The Linear
/// Complementarity Problem (1992), 4.5; Josephy, Newton's method for generalized equations (1979); for warm starts Ferreau, Bock, Diehl, An
/// online active set strategy (2008); Rockafellar (1976) for the proximal term.
#include <string.h>

#include "contact/cones.h"
#include "contact/scratch.h"

enum { OPEN = KKI_MODE_OPEN, HELD = KKI_MODE_HELD, SLIDING = KKI_MODE_SLIDING, UPPER = KKI_MODE_UPPER };

/// The proximal weight, in the block's scale: to begin with, where a pass fails, where passes stand still, and the most that is tried.
static const double WEIGHT = 1e-7, RAISED = 100, LOWERED = 0.1, HEAVIEST = 0.1;
/// Share of the residual to which a pass must come down for its factor to serve the next one.
static const double GAIN = 0.01;
/// Changes of mode without progress; passes; passes that gain little.
enum { MOST_IDLE = 4, MOST_PASSES = 12, MOST_STALE = 3 };

typedef struct path {
    const kki_system *s;
    kki_solver_scratch *w;
    kki_iterate at;      ///< the point on the path: λ, and u₀ in the place of u
    double *r, *dl, *du; ///< [stride]
} path;

// ---- blocks

static bool rides(const kki_block *block) {
    return block->law == KKI_LAW_TORSION || block->law == KKI_LAW_ROLLING;
}

/// The contact that a block rides on, or itself.
static int leader_of(const path *p, int b) {
    const kki_block *block = &p->s->problem->block[b];
    return rides(block) ? block->contact : b;
}

/// End of the blocks that change together with a leader.
static int end_of_group(const path *p, int leader) {
    const kki_block *block = p->s->problem->block;
    int b = leader + 1;
    while (b < p->s->nblock && rides(&block[b]) && block[b].contact == leader) {
        b++;
    }
    return b;
}

/// First of the two rows that lie in a disc; −1: none.
static int disc_row(const kki_block *block) {
    return block->law == KKI_LAW_CONTACT ? block->row + 1 : block->law == KKI_LAW_ROLLING ? block->row : -1;
}

/// How fast a disc slides against its friction.
static double speed_of(const path *p, int b, const double *velocity) {
    const int row = disc_row(&p->s->problem->block[b]);
    const double *d = p->w->direction + 2 * b;
    return -(d[0] * velocity[row] + d[1] * velocity[row + 1]);
}

// ---- u₀

/// A velocity of the sign that a bound asks for: that of before, the true one, or as much to the other side.
static double agreeing(double u, double before, double sign) {
    return sign * before > 0 ? before : sign * __builtin_fabs(u) + 0.0;
}

/// @param u  velocities now    @param before  those that the modes are of, or u again
static void start_block(path *p, int b, const double *u, const double *before) {
    const kki_block *block = &p->s->problem->block[b];
    const int row = block->row, mode = p->w->mode[b], disc = disc_row(block);
    const double *d = p->w->direction + 2 * b;
    for (int k = 0; k < kki_law_rows(block->law); k++) {
        p->at.u[row + k] = mode == HELD ? 0 : u[row + k];
    }
    if (mode == HELD || (rides(block) && (block->friction == 0 || p->w->mode[block->contact] == OPEN))) {
        return;
    }
    if (block->law == KKI_LAW_CONTACT) {
        p->at.u[row] = mode == OPEN ? agreeing(u[row], before[row], 1) : 0;
    }
    if (disc < 0) {
        p->at.u[row] = agreeing(u[row], before[row], mode == UPPER ? -1 : 1);
    } else if (mode == SLIDING && block->friction > 0) {
        const double speed = agreeing(speed_of(p, b, u), speed_of(p, b, before), 1);
        p->at.u[disc] = -speed * d[0];
        p->at.u[disc + 1] = -speed * d[1];
    }
}

// ---- how far

/// The next change of mode.
typedef struct change {
    double at; ///< share of the way
    int block, mode;
} change;

static void propose(change *c, double at, int block, int mode) {
    if (at < c->at) {
        *c = (change){at, block, mode};
    }
}

/// Where a value that is not negative, and falls at this rate, is zero.
static double falls(double value, double rate, double noise) {
    return rate < -noise ? (value > 0 ? -value / rate : 0) : 2;
}

/// Where |t + a t'| reaches rim + a rim'.
static double leaves_disc(const double *t, const double *dt, double rim, double drim) {
    const double A = drim * drim - dt[0] * dt[0] - dt[1] * dt[1], B = rim * drim - t[0] * dt[0] - t[1] * dt[1];
    const double room = rim * rim - t[0] * t[0] - t[1] * t[1], C = room > 1e-14 * rim * rim ? room : 0;
    const double D = B * B - A * C;
    if (C == 0 && (B < 0 || (B == 0 && A < 0))) {
        return 0;
    }
    if (D < 0 || (B >= 0 && A >= 0)) {
        return 2;
    }
    return B < 0 ? C / (-B + __builtin_sqrt(D)) : (B + __builtin_sqrt(D)) / -A;
}

static void limit_disc(const path *p, int b, double rim, double drim, double noise, change *c) {
    const int row = disc_row(&p->s->problem->block[b]), mode = p->w->mode[b];
    if (mode == HELD) {
        propose(c, leaves_disc(p->at.lambda + row, p->dl + row, rim, drim), b, SLIDING);
    } else if (mode == SLIDING) {
        propose(c, falls(speed_of(p, b, p->at.u), speed_of(p, b, p->du), noise), b, HELD);
    }
}

static void limit_interval(const path *p, int b, const double bound[2], const double rate[2], double noise, change *c) {
    const int row = p->s->problem->block[b].row, mode = p->w->mode[b];
    if (mode == HELD) {
        propose(c, falls(p->at.lambda[row] - bound[0], p->dl[row] - rate[0], 0), b, OPEN);
        propose(c, falls(bound[1] - p->at.lambda[row], rate[1] - p->dl[row], 0), b, UPPER);
    } else {
        const double sign = mode == UPPER ? -1 : 1;
        propose(c, falls(sign * p->at.u[row], sign * p->du[row], noise), b, HELD);
    }
}

static void limit_block(const path *p, int b, double noise, change *c) {
    const kki_block *block = &p->s->problem->block[b];
    const int row = block->row, mode = p->w->mode[b], normal = p->s->problem->block[leader_of(p, b)].row;
    const double rim = block->friction * p->at.lambda[normal], drim = block->friction * p->dl[normal];
    switch (block->law) {
    case KKI_LAW_CONTACT:
        if (mode == OPEN) {
            propose(c, falls(p->at.u[row], p->du[row], noise), b, SLIDING);
            return;
        }
        if (block->friction > 0) {
            limit_disc(p, b, rim, drim, noise, c);
        }
        propose(c, falls(p->at.lambda[row], p->dl[row], 0), b, OPEN);
        return;
    case KKI_LAW_LIMIT:
    case KKI_LAW_BOX: {
        const bool box = block->law == KKI_LAW_BOX;
        limit_interval(p, b, (double[]){box ? block->lower : 0, box ? block->upper : __builtin_inf()}, (double[]){0, 0},
                       noise, c);
        return;
    }
    case KKI_LAW_TORSION:
    case KKI_LAW_ROLLING:
        if (p->w->mode[block->contact] == OPEN || block->friction == 0) {
            return;
        }
        if (block->law == KKI_LAW_ROLLING) {
            limit_disc(p, b, rim, drim, noise, c);
        } else {
            limit_interval(p, b, (double[]){-rim, rim}, (double[]){-drim, drim}, noise, c);
        }
        return;
    default: return;
    }
}

/// Velocities of held rows should not move at all: by how much they do is how much can be believed of the others.
static double noise_of(const path *p) {
    const kki_reduced *r = &p->w->reduced;
    double noise = 1e-14 * p->s->size;
    for (int k = 0; k < r->n; k++) {
        const double e = r->turn[2 * k] != 0 || r->turn[2 * k + 1] != 0 ? 0 : 10 * __builtin_fabs(p->du[r->row[k]]);
        noise = e > noise ? e : noise;
    }
    return noise;
}

static change next_change(const path *p) {
    change c = {1, -1, 0};
    const double noise = noise_of(p);
    for (int b = 0; b < p->s->nblock; b++) {
        limit_block(p, b, noise, &c);
    }
    return c;
}

// ---- on the way

/// The matrix of the modes as they are.
static bool factor(path *p, kki_solver_stats *stats) {
    kki_reduced *r = &p->w->reduced;
    stats->factorisations++;
    r->nudge = 0;
    kki_newton_describe(p->s, p->w, &p->at);
    return r->n == 0 || kki_reduced_factor(p->s, r);
}

static void direction(path *p) {
    const kki_system *s = p->s;
    kki_reduced *r = &p->w->reduced;
    memset(p->dl, 0, sizeof(double) * (size_t)s->stride);
    if (r->n > 0) {
        kki_newton_tests(r, p->r);
        kki_reduced_solve(s, r);
    }
    for (int k = 0; k < r->n; k++) {
        for (int e = r->start[k]; e < r->start[k + 1]; e++) {
            p->dl[r->index[e]] += r->value[e] * r->x[k];
        }
    }
    s->kernels->multiply(s->nrow, s->stride, s->G, p->dl, p->r, p->du);
    for (int i = 0; i < s->nrow; i++) {
        p->du[i] += s->shift[i] * p->dl[i];
    }
}

static void advance(path *p, double a) {
    for (int i = 0; i < p->s->nrow; i++) {
        p->at.lambda[i] += a * p->dl[i];
        p->at.u[i] += a * p->du[i];
        p->r[i] *= 1 - a;
    }
}

/// u₀ of a row takes this value; what it loses, r gains.
static void set_velocity(path *p, int row, double value) {
    p->r[row] += p->at.u[row] - value;
    p->at.u[row] = value;
}

/// Where a disc begins to slide: along its friction, or where that would leave to; against its velocity where it comes from nothing.
static bool point_disc(path *p, int b, bool from_open) {
    const int row = disc_row(&p->s->problem->block[b]);
    const double *l = p->at.lambda + row, *v = p->at.u + row, *dl = p->dl + row;
    const double sign = from_open ? -1 : 1, *of = from_open ? v : l[0] != 0 || l[1] != 0 ? l : dl;
    const double size = kki_norm2(of[0], of[1]);
    p->w->direction[2 * b] = size > 0 ? sign * of[0] / size : 0;
    p->w->direction[2 * b + 1] = size > 0 ? sign * of[1] / size : 0;
    return size > 0;
}

/// Riders of a contact that closes are at the bounds that their velocities ask for.
static void close_riders(path *p, int leader) {
    for (int b = leader + 1; b < end_of_group(p, leader); b++) {
        const kki_block *block = &p->s->problem->block[b];
        const double u = p->at.u[block->row];
        if (block->friction == 0) {
            continue;
        }
        if (block->law == KKI_LAW_TORSION) {
            p->w->mode[b] = (int8_t)(u > 0 ? OPEN : u < 0 ? UPPER : HELD);
        } else {
            p->w->mode[b] = (int8_t)(point_disc(p, b, true) ? SLIDING : HELD);
        }
    }
}

static void set_mode(path *p, int b, int to) {
    const kki_block *block = &p->s->problem->block[b];
    const int from = p->w->mode[b], disc = disc_row(block), contact = block->law == KKI_LAW_CONTACT;
    if (to == SLIDING && block->friction > 0 && !point_disc(p, b, from == OPEN)) {
        to = HELD;
    }
    p->w->mode[b] = (int8_t)to;
    for (int c = b + 1; contact && to == OPEN && c < end_of_group(p, b); c++) {
        p->w->mode[c] = OPEN;
    }
    if (contact && from == OPEN) {
        close_riders(p, b);
    }
    if (!contact || to != OPEN) {
        set_velocity(p, block->row, 0); // it has just got there
    }
    for (int k = 0; disc >= 0 && from != OPEN && k < 2; k++) {
        set_velocity(p, disc + k, 0);
    }
}

static bool walk(path *p, int limit, kki_solver_stats *stats) {
    for (int k = 0, idle = 0; k < limit && idle <= MOST_IDLE; k++) {
        stats->path++;
        direction(p);
        const change c = next_change(p);
        if (!(c.at >= 0)) {
            return false; // a number that is none
        }
        advance(p, c.at);
        if (c.block < 0) {
            return true;
        }
        idle = c.at == 0 ? idle + 1 : 0;
        set_mode(p, c.block, c.mode);
        if (!factor(p, stats)) {
            return false;
        }
    }
    return false;
}

/// From λ to the answer of the problem with the proximal term around λ and the directions of sliding as they are. The factor of the
/// last pass will do where that gained much: it belongs to the modes that it ended with, and directions have turned little since.
static bool pass(path *p, const kki_system *s, bool again, kki_iterate *at, const double *before, int limit,
                 kki_solver_stats *stats) {
    memset(p->at.u, 0, sizeof(double) * (size_t)s->stride);
    for (int b = 0; b < s->nblock; b++) {
        start_block(p, b, at->u, before ? before : at->u);
    }
    for (int i = 0; i < s->stride; i++) {
        p->r[i] = at->u[i] - p->at.u[i];
    }
    stats->newton++;
    return (again || factor(p, stats)) && walk(p, limit, stats);
}

static void put_on_modes(const kki_system *s, kki_solver_scratch *w, kki_iterate *at) {
    kki_newton_enforce(s, w, at->lambda);
    kki_system_judge(s, at);
}

static void restart(const kki_system *s, kki_solver_scratch *w, const kki_iterate *it, kki_iterate *at) {
    kki_iterate_copy(s, it, at);
    kki_newton_read_modes(s, w, at->lambda);
    put_on_modes(s, w, at);
}

void kki_rung_path(const kki_system *s, kki_solver_scratch *w, kki_iterate *it, const double *before, int limit,
                   kki_solver_stats *stats) {
    kki_iterate *at = &w->iterate[KKI_IT_PATH];
    double **const v = w->walk, weight = WEIGHT, last = 1e300;
    path p = {.s = &w->proximal, .w = w, .at = {at->lambda, v[0], 0}, .r = v[1], .dl = v[2], .du = v[3]};
    w->reduced.split.is_ready = false;
    restart(s, w, it, at);
    bool again = false;
    for (int k = 0, stale = 0; k < MOST_PASSES && it->residual > s->floor && stale <= MOST_STALE; k++) {
        const double start = at->residual;
        kki_system_regularise(s, weight, at->lambda, &w->proximal);
        if (!pass(&p, s, again, at, before, limit, stats)) {
            weight *= RAISED;
            if (weight > HEAVIEST) {
                break;
            }
            restart(s, w, it, at);
            again = false;
            continue;
        }
        before = NULL;
        kki_newton_follow(s, w, at->lambda);
        put_on_modes(s, w, at);
        if (at->residual < it->residual) {
            kki_iterate_copy(s, at, it);
        }
        again = at->residual <= GAIN * start;
        if (at->residual > 0.5 * last) {
            weight *= LOWERED;
            stale++;
        }
        last = at->residual;
    }
}
