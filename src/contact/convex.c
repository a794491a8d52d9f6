/// L2½, velocities instead of impulses: a proximal step whose inner problem is a convex function of the motion alone.
///
/// With w (λ − λ̄) added to u and the radii of friction, torsion and rolling held, every block answers its velocity by a projection,
///     λ(u) = P(q),    q = (w λ̄ − u)/(w + r),
/// and the motion z = Y λ, u = Yᵀ z + g, is where the smooth convex function
///     f(z) = ½ |z|² + Σ ½ (w + r)(|q|² − |q − P(q)|²),    ∇f = z − Y λ(u),    H = 1 + Y P'(q)/(w + r) Yᵀ
/// is least: Newton's method with a line search gets there from anywhere, however singular G is, by nv × nv factors. λ̄ and the radii
/// then move to the result (an augmented Lagrangian: Hestenes 1969, Rockafellar 1976; for contact Alart & Curnier 1991, and Castro,
/// Permenter, Han 2023 for the view from velocities). After each the true problem is tried from there.
#include <string.h>

#include "contact/cones.h"
#include "contact/scratch.h"

enum { MOST_STEPS = 25, MOST_TRIALS = 20 };

/// Of the proximal weight as a share of the error, of the least weight, and how exactly the inner problem is solved.
static const double EAGERNESS = 1, SHRINK = 0.1, LAST_WEIGHT = 1e-7, INNER = 1e-14;

enum { IMPULSES, COLUMNS, CURVATURE }; // what answer_all is asked for

typedef struct convex {
    const kki_system *s;
    kki_reduced *r;
    int nv, width;
    double *z, *step, *gradient; ///< [width]
    double *u, *du, *trial;      ///< [stride]
    double *lambda, *center;     ///< [stride]
    double *weight, *pull;       ///< [stride] w + r, and the part of it that pulls to the center
    double *radius;              ///< [nblock]
    double slope, curvature;     ///< of f along the step
} convex;

// ---- laws

/// Rows of a block that share a disc, and the first of them; 0: none.
static int disc_rows(const kki_block *block, int *first) {
    *first = block->law == KKI_LAW_CONTACT ? block->row + 1 : block->row;
    return block->law == KKI_LAW_CONTACT || block->law == KKI_LAW_ROLLING ? 2 : 0;
}

static void bounds(const kki_block *block, double radius, double *lower, double *upper) {
    const double inf = __builtin_inf();
    *lower = block->law == KKI_LAW_EQUALITY ? -inf : 0;
    *upper = inf;
    if (block->law == KKI_LAW_BOX) {
        *lower = block->lower;
        *upper = block->upper;
    } else if (block->law == KKI_LAW_TORSION) {
        *lower = -radius;
        *upper = radius;
    }
}

static double answer(const convex *c, const double *u, int row) {
    return (c->pull[row] * c->center[row] - u[row]) / c->weight[row];
}

/// One row's, or a turned pair's, share of H: a column to the matrix, or along du to the curvature of the line.
static void add_share(convex *c, int what, double value, int row, double a, double b) {
    if (what == CURVATURE) {
        const double d = b == 0 ? a * c->du[row] : a * c->du[row] + b * c->du[row + 1];
        c->curvature += value * d * d;
    }
    if (what != COLUMNS) {
        return;
    }
    const double *first = c->s->columns + row * c->width, *second = first + c->width;
    double *R = c->r->R + c->r->n * c->width, *C = c->r->C + c->r->n * c->width;
    for (int t = 0; t < c->width; t++) {
        R[t] = b == 0 ? a * first[t] : a * first[t] + b * second[t];
        C[t] = value * R[t];
    }
    c->r->row[c->r->n++] = row;
}

static void answer_disc(convex *c, const double *u, int row, double radius, int what) {
    const double x = answer(c, u, row), y = answer(c, u, row + 1), size = kki_norm2(x, y);
    const double f = 1 / c->weight[row];
    if (size <= radius) {
        c->lambda[row] = x;
        c->lambda[row + 1] = y;
        add_share(c, what, f, row, 1, 0);
        add_share(c, what, f, row + 1, 1, 0);
        return;
    }
    const double share = radius / size;
    c->lambda[row] = share * x;
    c->lambda[row + 1] = share * y;
    if (radius > 0) {
        add_share(c, what, f * share, row, -y / size, x / size);
    }
}

static void answer_interval(convex *c, const double *u, int row, double lower, double upper, int what) {
    const double x = answer(c, u, row);
    c->lambda[row] = kki_clamp(x, lower, upper);
    if (x > lower && x < upper) {
        add_share(c, what, 1 / c->weight[row], row, 1, 0);
    }
}

/// λ(u), and what else is wanted.
static void answer_all(convex *c, const double *u, int what) {
    c->r->n = what == COLUMNS ? 0 : c->r->n;
    c->curvature = 0;
    for (int b = 0; b < c->s->nblock; b++) {
        const kki_block *block = &c->s->problem->block[b];
        int first;
        const int pair = disc_rows(block, &first);
        if (block->law != KKI_LAW_ROLLING) {
            double lower, upper;
            bounds(block, c->radius[b], &lower, &upper);
            answer_interval(c, u, block->row, lower, upper, what);
        }
        if (pair) {
            answer_disc(c, u, first, c->radius[b], what);
        }
    }
}

// ---- the step

/// ∇f = z − Y λ.
static void gradient(convex *c) {
    memcpy(c->gradient, c->z, sizeof(double) * (size_t)c->width);
    for (int i = 0; i < c->s->nrow; i++) {
        if (c->lambda[i] != 0) {
            c->s->kernels->add(c->width, -c->lambda[i], c->s->columns + i * c->width, c->gradient);
        }
    }
}

/// r = Yᵀ y.
static void project(const convex *c, const double *y, double *r) {
    memset(r, 0, sizeof(double) * (size_t)c->s->stride);
    for (int t = 0; t < c->nv; t++) {
        c->s->kernels->add(c->s->stride, y[t], c->s->Y + t * c->s->stride, r);
    }
}

/// Newton's direction and how the rows move with it.
static bool direction(convex *c, kki_solver_stats *stats) {
    kki_reduced *r = c->r;
    const kki_dense_kernels *k = c->s->kernels;
    kki_low_rank_gather(c->s, r, true);
    for (int t = 0; t < c->nv; t++) {
        r->W[t * c->width + t] += 1;
    }
    stats->factorizations++;
    stats->newton++;
    if (!k->ldl(c->nv, c->nv, c->width, r->W, r->inverse)) {
        return false;
    }
    double *right = r->line, *scratch = right + c->width;
    for (int t = 0; t < c->width; t++) {
        right[t] = t < c->nv ? -c->gradient[t] : 0;
    }
    k->ldl_solve(c->nv, c->width, r->W, r->inverse, right, scratch, c->step);
    c->slope = k->dot(c->width, c->gradient, c->step);
    project(c, c->step, c->du);
    return c->slope < 0;
}

/// Slope of f at z + a step, z · step + a |step|² − λ · du, and with it the curvature there.
static double slope_at(convex *c, double a, double zp, double pp) {
    for (int i = 0; i < c->s->stride; i++) {
        c->trial[i] = c->u[i] + a * c->du[i];
    }
    answer_all(c, c->trial, CURVATURE);
    c->curvature += pp;
    return zp + a * pp - c->s->kernels->dot(c->s->stride, c->lambda, c->du);
}

/// Length of the step at which the slope has all but vanished: Newton's method between bounds, for the slope only rises.
static double line_search(convex *c) {
    const kki_dense_kernels *k = c->s->kernels;
    const double zp = k->dot(c->width, c->z, c->step), pp = k->dot(c->width, c->step, c->step);
    double low = 0, high = 0, a = 1;
    for (int trial = 0; trial < MOST_TRIALS; trial++) {
        const double slope = slope_at(c, a, zp, pp);
        if (__builtin_fabs(slope) <= -0.01 * c->slope) {
            break;
        }
        low = slope < 0 ? a : low;
        high = slope < 0 ? high : a;
        const double next = a - slope / c->curvature;
        const bool inside = next > low && (high == 0 || next < high);
        a = inside ? next : high == 0 ? 2 * a : 0.5 * (low + high);
    }
    return a;
}

static void move(convex *c, double a) {
    const kki_dense_kernels *k = c->s->kernels;
    k->add(c->width, a, c->step, c->z);
    project(c, c->z, c->u);
    k->add(c->s->stride, 1, c->s->g, c->u);
}

/// The least of f from where z is. λ belongs to it.
static void minimize(convex *c, kki_solver_stats *stats) {
    for (int k = 0; k < MOST_STEPS; k++) {
        answer_all(c, c->u, COLUMNS);
        gradient(c);
        const double size = c->s->kernels->dot(c->width, c->z, c->z);
        if (!direction(c, stats)) {
            break;
        }
        const double a = line_search(c);
        move(c, a);
        if (-c->slope <= INNER * size) {
            break;
        }
    }
    answer_all(c, c->u, IMPULSES);
}

// ---- around it

static void weigh(convex *c, double w) {
    const kki_system *s = c->s;
    for (int b = 0; b < s->nblock; b++) {
        const kki_block *block = &s->problem->block[b];
        const int row = block->row, n = kki_law_rows(block->law);
        for (int k = 0; k < n; k++) {
            c->pull[row + k] = w * s->scale[b];
            c->weight[row + k] = c->pull[row + k] + s->shift[row + k];
        }
        int first;
        // the two rows of a disc weigh the same: what the softer has more is pull for the other
        if (disc_rows(block, &first) && c->weight[first] != c->weight[first + 1]) {
            const double a = c->weight[first], most = a > c->weight[first + 1] ? a : c->weight[first + 1];
            for (int k = first; k < first + 2; k++) {
                c->weight[k] = most;
                c->pull[k] = most - s->shift[k];
            }
        }
    }
}

static void set_radii(convex *c) {
    for (int b = 0; b < c->s->nblock; b++) {
        const kki_block *block = &c->s->problem->block[b];
        const bool rides = block->law == KKI_LAW_TORSION || block->law == KKI_LAW_ROLLING;
        const double normal = c->center[rides ? c->s->problem->block[block->contact].row : block->row];
        c->radius[b] = normal > 0 ? block->friction * normal : 0;
    }
}

static convex begin(const kki_system *s, kki_solver_scratch *w) {
    const int width = kki_round4(s->problem->nv);
    convex c = {.s = s, .r = &w->reduced, .nv = s->problem->nv, .width = width, .radius = w->radius};
    double **const v = w->vector, **const m = w->motion;
    c.u = v[0], c.du = v[1], c.trial = v[2], c.lambda = v[3], c.center = v[4], c.weight = v[5], c.pull = v[6];
    c.z = m[0], c.step = m[1], c.gradient = m[2];
    for (int i = s->nrow; i < s->stride; i++) {
        c.lambda[i] = c.center[i] = 0;
    }
    return c;
}

/// z and u of the center.
static void start(convex *c) {
    memset(c->z, 0, sizeof(double) * (size_t)c->width);
    for (int i = 0; i < c->s->nrow; i++) {
        c->s->kernels->add(c->width, c->center[i], c->s->columns + i * c->width, c->z);
    }
    memset(c->step, 0, sizeof(double) * (size_t)c->width);
    move(c, 0);
}

// ---- modes

static int interval_mode(double x, double lower, double upper) {
    return x <= lower ? KKI_MODE_OPEN : x >= upper ? KKI_MODE_UPPER : KKI_MODE_HELD;
}

static int disc_mode(const convex *c, int row, double radius, double *d) {
    const double x = answer(c, c->u, row), y = answer(c, c->u, row + 1), size = kki_norm2(x, y);
    d[0] = size > 0 ? x / size : 0;
    d[1] = size > 0 ? y / size : 0;
    return size <= radius ? KKI_MODE_HELD : KKI_MODE_SLIDING;
}

static int mode_of(const convex *c, int b, const int8_t *mode, double *d) {
    const kki_block *block = &c->s->problem->block[b];
    const bool contact = block->law == KKI_LAW_CONTACT,
               rides = block->law == KKI_LAW_TORSION || block->law == KKI_LAW_ROLLING;
    if ((contact && !(c->lambda[block->row] > 0)) ||
        (rides && (mode[block->contact] == KKI_MODE_OPEN || block->friction == 0))) {
        return KKI_MODE_OPEN;
    }
    if (contact && block->friction == 0) {
        d[0] = d[1] = 0;
        return KKI_MODE_SLIDING;
    }
    int first;
    if (disc_rows(block, &first)) {
        return disc_mode(c, first, c->radius[b], d);
    }
    double lower, upper;
    bounds(block, c->radius[b], &lower, &upper);
    return interval_mode(answer(c, c->u, block->row), lower, upper);
}

/// The true problem with the modes of this one. True if they are new. @param residual  before it
static bool polish(const convex *c, kki_solver_scratch *w, kki_iterate *now, double *residual,
                   kki_solver_stats *stats) {
    const kki_system *s = c->s;
    memset(now->lambda, 0, sizeof(double) * (size_t)s->stride);
    memcpy(now->lambda, c->lambda, sizeof(double) * (size_t)s->nrow);
    bool changed = false, slides = false;
    for (int b = 0; b < s->nblock; b++) {
        w->mode[b] = (int8_t)mode_of(c, b, w->mode, w->direction + 2 * b);
        changed = changed || w->mode[b] != w->old_mode[b];
        slides = slides || (w->mode[b] == KKI_MODE_SLIDING && s->problem->block[b].friction > 0);
        w->old_mode[b] = w->mode[b];
    }
    kki_system_judge(s, now);
    *residual = now->residual;
    if (changed) { // modes that have failed once are not tried again
        kki_newton_fixed(s, w, now, slides, stats);
    }
    return changed;
}

/// A weight in proportion to the error: large enough to start near the answer, small enough to get on.
static double weight_for(const kki_system *s, double residual, double eagerness) {
    return kki_clamp(eagerness * residual / s->size, LAST_WEIGHT, 1e-2);
}

bool kki_rung_convex(const kki_system *s, kki_solver_scratch *w, kki_iterate *it, int limit, double settled,
                     kki_solver_stats *stats) {
    kki_iterate *now = &w->iterate[KKI_IT_PROXIMAL + 1];
    convex c = begin(s, w);
    double residual = it->residual, eagerness = EAGERNESS;
    memset(w->old_mode, -1, (size_t)s->nblock);
    memcpy(c.center, it->lambda, sizeof(double) * (size_t)s->nrow);
    for (int k = 0; k < limit && it->residual > s->floor; k++) {
        stats->proximal++;
        set_radii(&c);
        weigh(&c, weight_for(s, residual, eagerness));
        start(&c);
        minimize(&c, stats);
        memcpy(c.center, c.lambda, sizeof(double) * (size_t)s->nrow);
        const bool changed = polish(&c, w, now, &residual, stats);
        // the same modes again, and nothing gained: the rows contradict each other by this much
        if (!changed && it->residual <= settled) {
            const double before = it->residual;
            kki_newton_fixed(s, w, it, false, stats);
            if (it->residual > 0.9 * before) {
                return true;
            }
        }
        if (now->residual < it->residual) {
            kki_iterate_copy(s, now, it);
        }
        eagerness *= SHRINK;
    }
    return false;
}
