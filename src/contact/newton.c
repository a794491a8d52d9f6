/// Semismooth Newton on Coulomb's law: read every block's mode (open, held, sliding, at a bound) off q = λ − u/g, solve the equations of these modes by one
/// Newton step, repeat. Alart & Curnier's semismooth Newton (1991) with the eliminations done by hand, so that only what is active is in
/// the matrix:
///     held      all rows, u = 0;
///     sliding   the normal, moving λ along n + μ d (and along the torsion and rolling that are at their bounds), un = 0;
///               the turn, moving λt along p ⊥ d, p · ut = 0, with (−d · ut)/(μ λn) on the diagonal: friction follows the velocity.
/// A shift of 1e-10 makes hyperstatic sets regular, a larger one keeps contradicting ones from running away; it stands in the matrix only,
/// never in the residual.
#include <string.h>

#include "contact/cones.h"
#include "contact/scratch.h"

enum { OPEN = KKI_MODE_OPEN, HELD = KKI_MODE_HELD, SLIDING = KKI_MODE_SLIDING, UPPER = KKI_MODE_UPPER };

static const double DENSE_SHIFT = 1e-10, LOW_RANK_SHIFT = 1e-7;
/// Share of the residual that a step leaves where the search is about to arrive.
static const double CONVERGES = 0.1;
/// The largest shift; and by how much each that is tried is larger than the last.
static const double LARGEST_NUDGE = 1e-2, LARGER = 30;

static double positive(double x) {
    return x > 0 ? x : 0;
}

static const kki_block *contact_of(const kki_system *s, const kki_block *block) {
    return &s->problem->block[block->contact];
}

// ---- modes

/// HELD or SLIDING with its direction, from q of two rows.
static int classify_disc(double radius, double qx, double qy, double *d) {
    const double t2 = qx * qx + qy * qy;
    if (t2 <= radius * radius) {
        return HELD;
    }
    const double f = 1 / __builtin_sqrt(t2);
    d[0] = qx * f;
    d[1] = qy * f;
    return SLIDING;
}

static double predicted_normal(const kki_system *s, int contact, const double *lambda, const double *u) {
    const int row = s->problem->block[contact].row;
    const double own = s->own[6 * contact];
    return lambda[row] - u[row] / (own > 0 ? own : s->scale[contact]);
}

static int classify_contact(const kki_system *s, int b, const double *lambda, const double *u, double *d) {
    const kki_block *block = &s->problem->block[b];
    const double *l = lambda + block->row, *v = u + block->row, *B = s->own + 6 * b;
    const double normal = predicted_normal(s, b, lambda, u);
    if (normal <= 0) {
        return OPEN;
    }
    const double f = B[3] + B[5] > 0 ? 2 / (B[3] + B[5]) : 1 / s->scale[b];
    if (block->friction == 0) {
        d[0] = d[1] = 0;
        return SLIDING;
    }
    return classify_disc(block->friction * normal, l[1] - f * v[1], l[2] - f * v[2], d);
}

static int classify_interval(double q, double lower, double upper) {
    return q <= lower ? OPEN : q >= upper ? UPPER : HELD;
}

static int classify(const kki_system *s, int b, const int8_t *mode, const double *lambda, const double *u, double *d) {
    const kki_block *block = &s->problem->block[b];
    const double *l = lambda + block->row, *v = u + block->row;
    switch (block->law) {
    case KKI_LAW_CONTACT: return classify_contact(s, b, lambda, u, d);
    case KKI_LAW_LIMIT: return l[0] - v[0] / s->scale[b] <= 0 ? OPEN : HELD;
    case KKI_LAW_BOX: return classify_interval(l[0] - v[0] / s->scale[b], block->lower, block->upper);
    case KKI_LAW_TORSION:
    case KKI_LAW_ROLLING: {
        if (mode[block->contact] == OPEN || block->friction == 0) {
            return OPEN;
        }
        const double bound = block->friction * positive(predicted_normal(s, block->contact, lambda, u));
        if (block->law == KKI_LAW_TORSION) {
            return classify_interval(l[0] - v[0] / s->scale[b], -bound, bound);
        }
        return classify_disc(bound, l[0] - v[0] / s->scale[b], l[1] - v[1] / s->scale[b], d);
    }
    default: return HELD;
    }
}

/// True if any mode differs from the last time.
static bool classify_all(const kki_system *s, kki_solver_scratch *w, const kki_iterate *it) {
    bool changed = false;
    for (int b = 0; b < s->nblock; b++) {
        w->mode[b] = (int8_t)classify(s, b, w->mode, it->lambda, it->u, w->direction + 2 * b);
        changed = changed || w->mode[b] != w->old_mode[b];
        w->old_mode[b] = w->mode[b];
    }
    return changed;
}

/// λ of a block that is not held, on its mode; `normal` is λn of it, or of its contact.
static void on_mode(const kki_system *s, int b, int mode, const double *d, double normal, double *l) {
    const kki_block *block = &s->problem->block[b];
    const double bound = block->friction * normal;
    switch (block->law) {
    case KKI_LAW_CONTACT:
        l[0] = mode == OPEN ? 0 : normal;
        l[1] = mode == OPEN ? 0 : bound * d[0];
        l[2] = mode == OPEN ? 0 : bound * d[1];
        break;
    case KKI_LAW_LIMIT: l[0] = 0; break;
    case KKI_LAW_BOX: l[0] = mode == OPEN ? block->lower : block->upper; break;
    case KKI_LAW_TORSION: l[0] = mode == OPEN ? -bound : bound; break;
    case KKI_LAW_ROLLING:
        l[0] = mode == OPEN ? 0 : bound * d[0];
        l[1] = mode == OPEN ? 0 : bound * d[1];
        break;
    default: break;
    }
}

bool kki_newton_enforce(const kki_system *s, const kki_solver_scratch *w, double *lambda) {
    bool moved = false;
    for (int b = 0; b < s->nblock; b++) {
        const kki_block *block = &s->problem->block[b];
        if (w->mode[b] == HELD) {
            continue;
        }
        const bool rides = block->law == KKI_LAW_TORSION || block->law == KKI_LAW_ROLLING;
        double *l = lambda + block->row, old[3] = {0};
        const size_t bytes = sizeof(double) * (size_t)kki_law_rows(block->law);
        memcpy(old, l, bytes);
        on_mode(s, b, w->mode[b], w->direction + 2 * b, positive(rides ? lambda[contact_of(s, block)->row] : l[0]), l);
        moved = moved || memcmp(old, l, bytes) != 0;
    }
    return moved;
}

// ---- the reduced system

static void open_column(kki_reduced *r, int row, double shift, double eps) {
    const int k = r->n++;
    r->row[k] = row;
    r->turn[2 * k] = r->turn[2 * k + 1] = 0;
    r->index[r->start[k]] = row;
    r->value[r->start[k]] = 1;
    r->start[k + 1] = r->start[k] + 1;
    r->diagonal[k] = shift + eps;
}

static void extend_column(kki_reduced *r, int row, double value) {
    const int e = r->start[r->n]++;
    r->index[e] = row;
    r->value[e] = value;
    r->symmetric = false;
}

/// The turn of a sliding pair of rows, unless the friction is still zero and any direction would do.
static void add_turn(const kki_system *s, kki_reduced *r, int b, int row, const double *d, double rim, const double *u,
                     double eps) {
    const double along = positive(-(d[0] * u[row] + d[1] * u[row + 1]));
    if (!(rim > 0) || along > 1e12 * rim * s->scale[b]) {
        return;
    }
    open_column(r, row, s->shift[row] + along / rim, eps);
    const int k = r->n - 1, e = r->start[k];
    r->turn[2 * k] = r->value[e] = -d[1];
    r->turn[2 * k + 1] = r->value[e + 1] = d[0];
    r->index[e + 1] = row + 1;
    r->start[k + 1] = e + 2;
    r->constant = false;
}

/// Torsion and rolling at their bounds go with their contact's normal.
static void add_riders(const kki_system *s, const kki_solver_scratch *w, kki_reduced *r, int contact) {
    const kki_block *block = s->problem->block;
    for (int b = contact + 1; b < s->nblock; b++) {
        const bool rides = block[b].law == KKI_LAW_TORSION || block[b].law == KKI_LAW_ROLLING;
        if (!rides || block[b].contact != contact) {
            break;
        }
        const double f = block[b].friction, *d = w->direction + 2 * b;
        if (w->mode[b] == HELD || f == 0) {
            continue;
        }
        if (block[b].law == KKI_LAW_TORSION) {
            extend_column(r, block[b].row, w->mode[b] == OPEN ? -f : f);
        } else if (w->mode[b] == SLIDING) {
            extend_column(r, block[b].row, f * d[0]);
            extend_column(r, block[b].row + 1, f * d[1]);
            r->constant = false;
        }
    }
}

static void add_contact(const kki_system *s, const kki_solver_scratch *w, kki_reduced *r, int b, const kki_iterate *it,
                        double eps) {
    const kki_block *block = &s->problem->block[b];
    const int row = block->row;
    const double *d = w->direction + 2 * b, f = block->friction;
    if (w->mode[b] == OPEN) {
        return;
    }
    open_column(r, row, s->shift[row], eps);
    if (w->mode[b] == SLIDING && f > 0) {
        extend_column(r, row + 1, f * d[0]);
        extend_column(r, row + 2, f * d[1]);
        r->constant = false;
    }
    add_riders(s, w, r, b);
    if (w->mode[b] == HELD) {
        open_column(r, row + 1, s->shift[row + 1], eps);
        open_column(r, row + 2, s->shift[row + 2], eps);
    } else if (f > 0) {
        add_turn(s, r, b, row + 1, d, f * it->lambda[row], it->u, eps);
    }
}

static void add_block(const kki_system *s, const kki_solver_scratch *w, kki_reduced *r, int b, const kki_iterate *it,
                      double eps) {
    const kki_block *block = &s->problem->block[b];
    if (block->law == KKI_LAW_CONTACT) {
        add_contact(s, w, r, b, it, eps);
    } else if (w->mode[b] == HELD) {
        for (int k = 0; k < kki_law_rows(block->law); k++) {
            open_column(r, block->row + k, s->shift[block->row + k], eps);
        }
    } else if (block->law == KKI_LAW_ROLLING && w->mode[b] == SLIDING) {
        const double rim = block->friction * it->lambda[contact_of(s, block)->row];
        add_turn(s, r, b, block->row, w->direction + 2 * b, rim, it->u, eps);
    }
}

static double least_nudge(const kki_system *s) {
    return s->low_rank ? LOW_RANK_SHIFT : DENSE_SHIFT;
}

/// Where the rows of the modes contradict each other, a shift in proportion to the error keeps the step from running away along
/// the impulses that move nothing, and costs nothing in the end (Levenberg and Marquardt; Yamashita & Fukushima 2001).
static double careful_nudge(const kki_system *s, double residual) {
    const double least = 1e3 * least_nudge(s), share = residual / s->size;
    return kki_clamp(share, least, LARGEST_NUDGE);
}

/// More rows held than anything can move: singular for sure, and a bare shift would send rounding along the null space.
static bool holds_too_much(const kki_system *s, const kki_solver_scratch *w) {
    int held = 0;
    for (int b = 0; b < s->nblock; b++) {
        held += w->mode[b] == HELD ? kki_law_rows(s->problem->block[b].law) : w->mode[b] == SLIDING ? 1 : 0;
    }
    return s->problem->Y && held > s->problem->nv;
}

static void describe(const kki_system *s, kki_solver_scratch *w, const kki_iterate *it) {
    kki_reduced *r = &w->reduced;
    r->n = 0;
    r->start[0] = 0;
    r->symmetric = r->constant = true;
    for (int b = 0; b < s->nblock; b++) {
        add_block(s, w, r, b, it, r->nudge * s->scale[b]);
    }
    r->plain = r->n == s->nrow && r->symmetric && r->constant;
}

static void right_side(const kki_reduced *r, const double *u) {
    for (int k = 0; k < r->n; k++) {
        const double a = r->turn[2 * k], b = r->turn[2 * k + 1], *v = u + r->row[k];
        r->b[k] = a == 0 && b == 0 ? -v[0] : -(a * v[0] + b * v[1]);
    }
}

/// d turned by what the turn unknown says, as an angle below one radian.
static void turned(const double *d, double turn, double rim, double *out) {
    out[0] = d[0];
    out[1] = d[1];
    if (turn == 0 || !(rim > 0)) {
        return;
    }
    const double a = kki_clamp(turn / rim, -1, 1), x = d[0] - a * d[1], y = d[1] + a * d[0], f = 1 / kki_norm2(x, y);
    out[0] = f * x;
    out[1] = f * y;
}

/// The turn unknown of these rows, if it is the next one.
static double take_turn(const kki_reduced *r, int row, int *k) {
    const bool here = *k < r->n && r->row[*k] == row && (r->turn[2 * *k] != 0 || r->turn[2 * *k + 1] != 0);
    return here ? r->x[(*k)++] : 0;
}

/// λ + the step, block by block.
static void apply(const kki_system *s, const kki_solver_scratch *w, const double *lambda, double *out) {
    const kki_reduced *r = &w->reduced;
    for (int b = 0, k = 0; b < s->nblock; b++) {
        const kki_block *block = &s->problem->block[b];
        const int row = block->row, mode = w->mode[b];
        double *o = out + row, d[2];
        if (mode == HELD) {
            for (int i = 0; i < kki_law_rows(block->law); i++) {
                o[i] = lambda[row + i] + r->x[k++];
            }
            continue;
        }
        const bool slides = mode == SLIDING, contact = block->law == KKI_LAW_CONTACT;
        double normal = 0;
        if (contact) {
            normal = slides ? lambda[row] + r->x[k++] : 0;
        } else if (block->law == KKI_LAW_TORSION || block->law == KKI_LAW_ROLLING) {
            normal = out[contact_of(s, block)->row];
        }
        const double step = slides ? take_turn(r, contact ? row + 1 : row, &k) : 0;
        turned(w->direction + 2 * b, step, block->friction * normal, d);
        on_mode(s, b, mode, d, normal, o);
    }
}

/// Makes the matrix and its factor anew, or keeps the old factor: at equal modes without sliding it is the same; with sliding it is
/// near, and the tests alone are renewed.
static bool refactor(const kki_system *s, kki_solver_scratch *w, const kki_iterate *base, bool reuse,
                     kki_solver_stats *stats) {
    kki_reduced *r = &w->reduced;
    if (reuse && r->constant) {
        return true;
    }
    const int n = r->n;
    describe(s, w, base);
    if (reuse && n == r->n) {
        return true;
    }
    stats->factorizations++;
    return r->n == 0 || kki_reduced_factor(s, r);
}

/// One step from `base`, which is moved onto the modes first. False if the matrix was singular or the result is not finite.
static bool step(const kki_system *s, kki_solver_scratch *w, kki_iterate *base, bool reuse, kki_iterate *out,
                 kki_solver_stats *stats) {
    kki_reduced *r = &w->reduced;
    if (kki_newton_enforce(s, w, base->lambda)) {
        kki_system_judge(s, base);
    }
    stats->newton++;
    if (!refactor(s, w, base, reuse, stats)) {
        return false;
    }
    if (r->n > 0) {
        right_side(r, base->u);
        kki_reduced_solve(s, r);
    }
    apply(s, w, base->lambda, out->lambda);
    kki_system_judge(s, out);
    return out->residual < 1e300;
}

// ---- the iteration

static void swap(kki_iterate *a, kki_iterate *b) {
    const kki_iterate t = *a;
    *a = *b;
    *b = t;
}

/// Halves the step until the residual falls. The result is left in `trial`.
static bool backtrack(const kki_system *s, const kki_iterate *base, const kki_iterate *full, double residual,
                      kki_iterate *trial) {
    double a = 0.5;
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < s->nrow; i++) {
            trial->lambda[i] = base->lambda[i] + a * (full->lambda[i] - base->lambda[i]);
        }
        kki_project_all(s->problem, trial->lambda);
        kki_system_judge(s, trial);
        if (trial->residual < (1 - 0.1 * a) * residual) {
            return true;
        }
        a *= 0.5;
    }
    return false;
}

typedef struct search {
    const kki_system *s;
    kki_solver_scratch *w;
    const kki_newton_options *o;
    kki_solver_stats *stats;
    kki_iterate *it, *base, *full, *trial, *best;
    bool settled;       ///< nothing is to be gained
    double contraction; ///< of the last step that was accepted whole
} search;

/// A step that leads far away.
static bool strays(const search *x, bool finite) {
    const double reached = x->full->residual;
    return !finite || (reached > 2 * x->it->residual && reached > 100 * x->s->floor);
}

/// The step of the modes; where it leads far away, again with a shift that keeps it near, and with larger ones. False where none is to be had.
static bool take_step(search *x, bool reuse) {
    const kki_system *s = x->s;
    kki_reduced *r = &x->w->reduced;
    const double residual = x->it->residual, cautious = careful_nudge(s, residual);
    const bool careful = residual <= 1e3 * s->floor && holds_too_much(s, x->w);
    r->nudge = reuse ? r->nudge : careful ? cautious : least_nudge(s);
    bool finite = step(s, x->w, x->base, reuse, x->full, x->stats);
    double nudge = careful ? LARGER * cautious : cautious;
    for (int k = careful ? 1 : 0; k < x->o->shifts && strays(x, finite); k++) {
        r->nudge = nudge < LARGEST_NUDGE ? nudge : LARGEST_NUDGE;
        finite = step(s, x->w, x->base, false, x->full, x->stats);
        nudge *= LARGER;
    }
    return finite;
}

/// Takes over the step, or a part of it. False where nothing helps.
static bool go_on(search *x, int k, bool finite, bool old_factor) {
    const double before = x->it->residual, reached = x->full->residual;
    if (finite && (reached < 0.5 * before || (k < 6 && reached < x->o->slack * x->best->residual))) {
        x->contraction = old_factor ? 1 : reached / before;
        swap(x->it, x->full);
        return true;
    }
    if (finite && backtrack(x->s, x->base, x->full, before, x->trial)) {
        swap(x->it, x->trial);
        x->contraction = 1;
        return true;
    }
    if (finite && reached < x->best->residual) {
        kki_iterate_copy(x->s, x->full, x->best);
    }
    return false;
}

/// One iteration. False where it was the last.
static bool iterate(search *x, int k) {
    const kki_system *s = x->s;
    const kki_reduced *r = &x->w->reduced;
    const bool changed = classify_all(s, x->w, x->it);
    // an old factor contracts about as the last step did: kept once, where that suffices
    const bool near = x->contraction * x->it->residual <= 0.1 * x->o->target && !s->low_rank;
    const bool reuse = !changed && k > 0 && (r->constant || near), old_factor = reuse && !r->constant;
    kki_iterate_copy(s, x->it, x->base);
    const bool finite = take_step(x, reuse);
    const double before = x->it->residual, reached = x->full->residual;
    // modes that stand, and a step that gains nothing: the rows themselves contradict each other by this much
    if (!changed && k > 1 && finite && reached > 0.9 * before && reached < 1.1 * before) {
        x->settled = true;
        return false;
    }
    // at the level of rounding a step that does not help much more is the end
    if (before <= s->floor && !(finite && reached < 0.3 * before)) {
        return false;
    }
    return go_on(x, k, finite, old_factor);
}

bool kki_newton(const kki_system *s, kki_solver_scratch *w, kki_iterate *it, const kki_newton_options *o,
                kki_solver_stats *stats) {
    kki_iterate *base = &w->iterate[KKI_IT_NEWTON];
    search x = {s, w, o, stats, it, base, base + 1, base + 2, base + 3, false, 1};
    memset(w->old_mode, -1, (size_t)s->nblock);
    kki_iterate_copy(s, it, x.best);
    // what converges is let finish
    for (int k = 0; (k < o->limit || (x.contraction < CONVERGES && k < 2 * o->limit)) && it->residual > o->target &&
                    iterate(&x, k);
         k++) {
        if (it->residual < x.best->residual) {
            kki_iterate_copy(s, it, x.best);
        }
    }
    if (!(it->residual <= x.best->residual)) {
        kki_iterate_copy(s, x.best, it);
    }
    return x.settled;
}

// ---- modes of λ alone

static int read_mode(const kki_system *s, int b, const double *lambda, double *d, double least) {
    const kki_block *block = &s->problem->block[b];
    const double *l = lambda + block->row;
    const bool contact = block->law == KKI_LAW_CONTACT;
    if (block->law == KKI_LAW_LIMIT) {
        return l[0] * s->scale[b] > least ? HELD : OPEN;
    }
    if (block->law == KKI_LAW_BOX) {
        return classify_interval(l[0], block->lower, block->upper);
    }
    if (block->law == KKI_LAW_EQUALITY) {
        return HELD;
    }
    const double normal = contact ? l[0] : lambda[contact_of(s, block)->row];
    const double rim = block->friction * normal * (1 - 1e-9);
    if (normal * s->scale[contact ? b : block->contact] <= least || (!contact && block->friction == 0)) {
        return OPEN;
    }
    if (block->law == KKI_LAW_TORSION) {
        return classify_interval(l[0], -rim, rim);
    }
    const double *t = contact ? l + 1 : l, size = kki_norm2(t[0], t[1]);
    if (size < rim || (size == 0 && block->friction > 0)) {
        return HELD;
    }
    d[0] = size > 0 ? t[0] / size : 0;
    d[1] = size > 0 ? t[1] / size : 0;
    return SLIDING;
}

static double largest_velocity(const kki_system *s, const double *lambda) {
    double most = 0;
    for (int b = 0; b < s->nblock; b++) {
        const double x = s->scale[b] * __builtin_fabs(lambda[s->problem->block[b].row]);
        most = x > most ? x : most;
    }
    return most;
}

void kki_newton_read_modes(const kki_system *s, kki_solver_scratch *w, const double *lambda) {
    const double least = 1e-12 * largest_velocity(s, lambda);
    for (int b = 0; b < s->nblock; b++) {
        w->mode[b] = (int8_t)read_mode(s, b, lambda, w->direction + 2 * b, least);
    }
}

void kki_newton_follow(const kki_system *s, kki_solver_scratch *w, const double *lambda) {
    for (int b = 0; b < s->nblock; b++) {
        double d[2] = {0, 0};
        if (w->mode[b] == SLIDING && read_mode(s, b, lambda, d, 0) == SLIDING && (d[0] != 0 || d[1] != 0)) {
            w->direction[2 * b] = d[0];
            w->direction[2 * b + 1] = d[1];
        }
    }
}

// ---- what could stick

/// Slower than this, m/s, the direction of a slip means nothing.
static const double SLOW = 1e-8;
/// Shift with which nothing but what moves is changed: rounding over it stays rounding, and a step still gains three digits.
static const double FIRM = 1e-3;

static bool is_at_edge(const kki_system *s, const kki_solver_scratch *w, int b, const double *u) {
    const kki_block *block = &s->problem->block[b];
    return block->law == KKI_LAW_CONTACT && w->mode[b] == SLIDING && block->friction > 0 &&
           kki_norm2(u[block->row + 1], u[block->row + 2]) < SLOW;
}

/// What the equations of the modes are still off by.
static double left_over(const kki_reduced *r, const double *u) {
    double most = 0;
    right_side(r, u);
    for (int k = 0; k < r->n; k++) {
        const double x = __builtin_fabs(r->b[k]);
        most = x > most ? x : most;
    }
    return most;
}

/// Steps with the modes as they are, to a hundredth of the floor; directions follow. False where one fails.
static bool repeat(const kki_system *s, kki_solver_scratch *w, int steps, kki_iterate **base, kki_iterate **full,
                   kki_solver_stats *stats) {
    for (int k = 0; k < steps; k++) {
        w->reduced.nudge = FIRM;
        if (!step(s, w, *base, k > 0 && w->reduced.constant, *full, stats) || (*full)->residual > 1) {
            return false;
        }
        kki_iterate *const t = *base;
        *base = *full;
        *full = t;
        kki_newton_follow(s, w, (*base)->lambda);
        if (left_over(&w->reduced, (*base)->u) <= 0.01 * s->floor) {
            break;
        }
    }
    return true;
}

/// Slow contacts that friction at its bound pushes back the way they came are held. True where there is one.
static bool hold_what_returns(const kki_system *s, kki_solver_scratch *w, const kki_iterate *it) {
    bool any = false;
    for (int b = 0; b < s->nblock; b++) {
        const double *u = it->u + s->problem->block[b].row, *d = w->direction + 2 * b;
        if (is_at_edge(s, w, b, it->u) && d[0] * u[1] + d[1] * u[2] >= 0) {
            w->mode[b] = HELD;
            any = true;
        }
    }
    return any;
}

/// A contact that slips faster than its residual says is at its bound, whatever digits of λ are missing.
static void free_what_slips(const kki_system *s, kki_solver_scratch *w, const kki_iterate *it) {
    for (int b = 0; b < s->nblock; b++) {
        const kki_block *block = &s->problem->block[b];
        const double *u = it->u + block->row;
        if (block->law == KKI_LAW_CONTACT && w->mode[b] == HELD && block->friction > 0 &&
            kki_norm2(u[1], u[2]) > 4 * it->residual) {
            const double *l = it->lambda + block->row, size = kki_norm2(l[1], l[2]);
            w->mode[b] = SLIDING;
            w->direction[2 * b] = size > 0 ? l[1] / size : 1;
            w->direction[2 * b + 1] = size > 0 ? l[2] / size : 0;
        }
    }
}

/// Directions of what slips slower than can be told: against where it would go with a tenth less friction.
static void foresee_directions(const kki_system *s, kki_solver_scratch *w, const kki_iterate *it,
                               kki_iterate *scratch) {
    kki_iterate_copy(s, it, scratch);
    for (int b = 0; b < s->nblock; b++) {
        const int row = s->problem->block[b].row;
        if (is_at_edge(s, w, b, it->u)) {
            scratch->lambda[row + 1] *= 0.9;
            scratch->lambda[row + 2] *= 0.9;
        }
    }
    kki_system_judge(s, scratch);
    for (int b = 0; b < s->nblock; b++) {
        if (!is_at_edge(s, w, b, it->u)) {
            continue;
        }
        const int row = s->problem->block[b].row;
        const double x = it->u[row + 1] - scratch->u[row + 1], y = it->u[row + 2] - scratch->u[row + 2];
        const double speed = kki_norm2(x, y);
        if (speed > SLOW) {
            w->direction[2 * b] = x / speed;
            w->direction[2 * b + 1] = y / speed;
        }
    }
}

bool kki_newton_stick(const kki_system *s, kki_solver_scratch *w, kki_iterate *it, kki_solver_stats *stats) {
    kki_iterate *base = &w->iterate[KKI_IT_NEWTON], *full = base + 1;
    kki_iterate_copy(s, it, base);
    kki_newton_read_modes(s, w, it->lambda);
    free_what_slips(s, w, it);
    foresee_directions(s, w, it, full);
    bool good = repeat(s, w, 16, &base, &full, stats);
    if (good && hold_what_returns(s, w, base)) {
        good = repeat(s, w, 4, &base, &full, stats);
    }
    if (good) {
        kki_iterate_copy(s, base, it);
    }
    return good;
}
