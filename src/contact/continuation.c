/// Pseudo-transient continuation: implicit steps of the flow λ' = −(natural map), in velocity space.
///
/// A step is Coulomb's law with a proximal term w (λ − λ̄), w = ε s. Every block then answers its velocity by itself,
///     λ(u) = P(q),    q = (w λ̄ − u)/(w + r),    u = Yᵀ z + g,
/// P the law's own answer (of a contact: the normal impulse from the normal row, friction within μ of it), and the motion z = Y λ(u) is found by
/// Newton's method with backtracking on |z − Y λ(u)|, H = 1 + Y P'(q)/(w + r) Yᵀ. A step that is solved becomes the next center λ̄, whether or not the residual
/// fell; ε falls while Newton needs few steps and rises where it fails. Where the path of an interior point folds, and where sweeps need 10⁵ rounds, the flow goes over to the
/// next branch. Y may be one body with all coordinates (one_body.c) or thousands of ties.
///
/// References: Kelley & Keyes, Convergence analysis of pseudo-transient continuation (1998); Rockafellar (1976); Alart & Curnier (1991).
#include <string.h>

#include "contact/cones.h"
#include "contact/sparse_scratch.h"

/// ε of the first step and the least; what becomes of it behind a step that was not solved, that took up to two Newton steps, and up to four.
static const double FIRST_EPSILON = 1e-2, LEAST_EPSILON = 1e-7, SLOWER = 3, MUCH_FASTER = 0.36, FASTER = 0.65;
/// Where a step leaves that share of the residual, λ drifts along a self-stress: the least ε falls, down to this.
static const double DRIFTS = 0.9, LEAP = 0.1, DRIFT_EPSILON = 1e-11;
/// Share of the residual to which a step is solved; and to which it must have fallen for Newton's method to be tried again on the bare laws.
static const double ACCURACY = 0.01, NEARER = 0.1;
enum { MOST_STEPS = 200, NEWTON_STEPS = 15 };

typedef struct implicit_step {
    kki_sparse_scratch *w;
    const kki_sparse_system *s;
    double epsilon;
    double *center;         ///< [rows] λ̄
    double *z, *u, *lambda; ///< of the iterate under way
    double *trial;          ///< [rows]
} implicit_step;

/// Weight of a block's rows: the proximal term and its softest row; what stiffer rows have more is pull.
static double weight_of(const implicit_step *c, int b, const kki_block *block) {
    double soft = 0;
    for (int k = block->row; k < block->row + kki_law_rows(block->law); k++) {
        soft = c->s->soft[k] > soft ? c->s->soft[k] : soft;
    }
    return c->epsilon * c->s->scale[b] + soft;
}

/// q of a block.
static void argument(const implicit_step *c, const kki_block *block, double weight, const double *u, double *q) {
    for (int k = 0; k < kki_law_rows(block->law); k++) {
        const int row = block->row + k;
        const double pull = weight - c->s->soft[row];
        // u here is Yᵀ z + g: the compliance is in the weight
        q[k] = (pull * c->center[row] - u[row]) / weight;
    }
}

/// Coulomb's law: the normal answers alone, friction within μ of it. Q is unsymmetric where it slides.
static void answer_contact(double mu, const double *q, double *lambda, double Q[3][3]) {
    const double t = kki_norm2(q[1], q[2]);
    memset(Q, 0, sizeof(double) * 9);
    if (!(q[0] > 0)) {
        lambda[0] = lambda[1] = lambda[2] = 0;
        return;
    }
    const double share = t > mu * q[0] ? mu * q[0] / t : 1, d[2] = {t > 0 ? q[1] / t : 0, t > 0 ? q[2] / t : 0};
    lambda[0] = q[0];
    Q[0][0] = 1;
    for (int i = 0; i < 2; i++) {
        lambda[1 + i] = share * q[1 + i];
        Q[1 + i][0] = share < 1 ? mu * d[i] : 0;
        for (int j = 0; j < 2; j++) {
            Q[1 + i][1 + j] = share * ((i == j) - (share < 1 ? d[i] * d[j] : 0));
        }
    }
}

/// Rows in an interval or a disc of fixed size.
static void answer_plain(const implicit_step *c, const kki_block *block, const double *q, double *lambda,
                         double Q[3][3]) {
    const bool rides = block->law == KKI_LAW_TORSION || block->law == KKI_LAW_ROLLING;
    const double normal = rides ? c->center[c->s->problem->rows.block[block->contact].row] : 0;
    const int n = kki_law_rows(block->law);
    memset(Q, 0, sizeof(double) * 9);
    memcpy(lambda, q, sizeof(double) * (size_t)n);
    kki_project_block(block, 1, normal, lambda);
    if (n == 1) {
        Q[0][0] = lambda[0] == q[0];
        return;
    }
    const double size = kki_norm2(q[0], q[1]), bound = block->friction * (normal > 0 ? normal : 0);
    const double k = size > bound ? bound / size : 1, d[2] = {q[0] / size, q[1] / size};
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            Q[i][j] = size > bound ? k * ((i == j) - d[i] * d[j]) : i == j;
        }
    }
}

static void answer_block(implicit_step *c, const kki_tie *t, int b, const double *u, bool with_matrix) {
    const kki_block *block = &c->s->problem->rows.block[b];
    const double weight = weight_of(c, b, block), f = 1 / weight;
    const int n = kki_law_rows(block->law), at = block->row - t->row;
    double q[3] = {0, 0, 0}, Q[3][3];
    argument(c, block, weight, u, q);
    if (block->law == KKI_LAW_CONTACT) {
        answer_contact(block->friction, q, c->lambda + block->row, Q);
    } else {
        answer_plain(c, block, q, c->lambda + block->row, Q);
    }
    for (int k = 0; k < n && with_matrix; k++) {
        for (int j = 0; j < n; j++) {
            c->w->R[6 * (size_t)(block->row + k) + (size_t)(at + j)] = f * Q[k][j];
        }
    }
}

/// λ(u), and P'/(w + r) into R.
static void answer_all(implicit_step *c, const double *u, bool with_matrix) {
    const kki_sparse_problem *p = c->s->problem;
    for (int i = 0; i < p->ntie; i++) {
        const kki_tie *t = &p->tie[i];
        for (int b = t->block; b < t->block + t->nblock; b++) {
            answer_block(c, t, b, u, with_matrix);
        }
    }
}

/// u = Yᵀ z + g.
static void velocities(implicit_step *c) {
    c->s->kernels->velocity(c->s->problem, c->z, c->u);
    for (int i = 0; i < c->s->nrow; i++) {
        c->u[i] += c->s->g[i];
    }
}

/// Newton's direction, in dz and du; what it answers, Y λ − z, in `error`.
static bool direction(implicit_step *c, kki_solver_stats *stats) {
    const kki_sparse_system *s = c->s;
    kki_sparse_scratch *w = c->w;
    memset(w->R, 0, sizeof *w->R * 6 * (size_t)s->nrow);
    answer_all(c, c->u, true);
    w->factor.symmetric = false;
    s->kernels->assemble(s->problem, w->R, &w->factor);
    stats->factorizations++;
    stats->newton++;
    if (!s->kernels->factor(&w->factor)) {
        return false;
    }
    for (int k = 0; k < s->width; k++) {
        w->dz[k] = -c->z[k];
    }
    s->kernels->motion(s->problem, c->lambda, w->dz);
    memcpy(w->error, w->dz, sizeof *w->dz * (size_t)s->width);
    s->kernels->solve(s->problem, &w->factor, w->dz);
    s->kernels->velocity(s->problem, w->dz, w->du);
    return true;
}

/// |z − Y λ(u)|² at z + a dz.
static double error_at(implicit_step *c, double a) {
    const kki_sparse_system *s = c->s;
    kki_sparse_scratch *w = c->w;
    for (int i = 0; i < s->nrow; i++) {
        c->trial[i] = c->u[i] + a * w->du[i];
    }
    answer_all(c, c->trial, false);
    for (int k = 0; k < s->width; k++) {
        w->error[k] = -(c->z[k] + a * w->dz[k]);
    }
    s->kernels->motion(s->problem, c->lambda, w->error);
    return kki_sparse_dot(s->width, w->error, w->error);
}

/// Halved until the error falls; 0 where it does not.
static double backtrack(implicit_step *c, double before, double *after) {
    double a = 1;
    for (int trial = 0; trial < 8; trial++) {
        *after = error_at(c, a);
        if (*after <= (1 - 0.2 * a) * before) {
            return a;
        }
        a *= 0.5;
    }
    return 0;
}

/// @param enough  |z − Y λ(u)|² of a solution
static bool solve(implicit_step *c, double enough, int limit, kki_solver_stats *stats) {
    const kki_sparse_system *s = c->s;
    for (int k = 0; k < limit; k++) {
        if (!direction(c, stats)) {
            return false;
        }
        double after = 0;
        const double before = kki_sparse_dot(s->width, c->w->error, c->w->error);
        if (before <= enough) {
            return true;
        }
        const double a = backtrack(c, before, &after);
        for (int i = 0; i < s->width; i++) {
            c->z[i] += a * c->w->dz[i];
        }
        velocities(c);
        if (a == 0 || after <= enough) {
            return a > 0;
        }
    }
    return false;
}

/// Around it->lambda, to `accuracy` m/s, by so many Newton steps at most; it->lambda becomes the answer, judged by the true laws. True if it is solved.
static bool take_step(kki_sparse_scratch *w, kki_sparse_iterate *it, double epsilon, double accuracy, int limit,
                      kki_solver_stats *stats) {
    const kki_sparse_system *s = &w->system;
    double largest = 0;
    implicit_step c = {.w = w, .s = s, .epsilon = epsilon, .center = w->center};
    c.z = it->z, c.u = it->u, c.lambda = it->lambda, c.trial = w->e;
    memcpy(c.center, it->lambda, sizeof *c.center * (size_t)s->nrow);
    velocities(&c);
    for (int b = 0; b < s->nblock; b++) {
        largest = s->scale[b] > largest ? s->scale[b] : largest;
    }
    const bool solved = solve(&c, accuracy * accuracy / largest, limit, stats);
    answer_all(&c, c.u, false);
    kki_sparse_judge(s, it);
    return solved;
}

static int least(int a, int b) {
    return a < b ? a : b;
}

/// ε of the steps.
typedef struct pace {
    double epsilon;
    double least; ///< of a leap
} pace;

/// @param drifts  the step was solved, and its residual has hardly fallen    @param steps  of Newton's
static void set_pace(pace *p, bool solved, bool drifts, int steps) {
    if (!solved && p->epsilon < LEAST_EPSILON) { // a leap too far
        p->least = kki_clamp(10 * p->epsilon, p->least, LEAST_EPSILON);
        p->epsilon = LEAST_EPSILON;
    } else if (drifts) {
        p->epsilon = kki_clamp(p->epsilon * LEAP, p->least, 1);
    } else {
        p->epsilon *= !solved ? SLOWER : steps <= 2 ? MUCH_FASTER : steps <= 4 ? FASTER : 1;
        p->epsilon = kki_clamp(p->epsilon, LEAST_EPSILON, 1);
    }
}

void kki_continuation_run(kki_sparse_scratch *w, const kki_continuation *c, kki_solver_stats *stats) {
    const kki_sparse_system *s = &w->system;
    kki_sparse_iterate *best = &w->iterate[KKI_IT_TIES_BEST], *center = &w->iterate[KKI_IT_TIES_FLOW],
                       *next = &w->iterate[KKI_IT_TIES_NEXT];
    const int first = stats->factorizations;
    double tried = center->residual;
    pace p = {FIRST_EPSILON, DRIFT_EPSILON};
    for (int k = 0; k < MOST_STEPS && best->residual > c->target; k++) {
        const int before = stats->factorizations, left = c->factors - (before - first);
        if (left <= 0) {
            return;
        }
        kki_sparse_copy(s, center, next);
        const bool solved =
            take_step(w, next, p.epsilon, ACCURACY * center->residual, least(left, NEWTON_STEPS), stats);
        const bool drifts = solved && next->residual > DRIFTS * center->residual;
        if (solved) {
            kki_sparse_copy(s, next, center);
            if (next->residual < best->residual) {
                kki_sparse_copy(s, next, best);
            }
            const bool is_nearer = next->residual < NEARER * tried || next->residual <= c->target;
            tried = is_nearer ? next->residual : tried;
            if (is_nearer && c->refine && c->refine(c->context, next)) {
                return;
            }
        }
        if (!solved && p.epsilon >= 1) {
            return;
        }
        set_pace(&p, solved, drifts, stats->factorizations - before);
    }
}
