/// A convex problem in velocities, for piles that have to find their modes from afar.
///
/// Coulomb's law with De Saxcé's shift μ|ut| held is a complementarity between a cone and its dual, and with a proximal term w (λ − λ̄) every block
/// answers its velocity by a projection,
///     λ(u) = P(q),    q = (w λ̄ − ũ)/w,    ũ = u + μ|ut|₀ n,
/// so that the motion z = Y λ is where a smooth, strongly convex function is least,
///     f(z) = ½ |z|² + Σ ½ w (|q|² − |q − P(q)|²),    ∇f = z − Y λ(u),    H = 1 + Y P'(q)/w Yᵀ.
/// Newton's method with an exact line search gets there from anywhere. λ̄ and the shift then move to the result. What creeps has next to no shift,
/// so a pile that comes to rest, whose impulses are undetermined, is all but solved by one such problem. (Where convex.c holds the radii, this holds the
/// slip: radii follow impulses that nothing determines.)
///
/// References: De Saxcé & Feng (1998); Cadoux, Méthodes d'optimization pour la dynamique non-régulière (2009); Castro, Permenter, Han (2023).
#include <string.h>

#include "contact/cones.h"
#include "contact/sparse_scratch.h"

enum { MOST_TRIALS = 20 };

typedef struct convex {
    kki_sparse_scratch *w;
    const kki_sparse_system *s;
    double epsilon;
    double *center, *shift; ///< [rows], [blocks]
    double *z, *u, *lambda; ///< of the iterate under way
    double *trial;          ///< [rows]
    double slope, curvature;
    bool exact; ///< Coulomb's law itself instead of the cone with its shift
} convex;

enum { IMPULSES, MATRIX, CURVATURE };

/// Weight of a block's rows: the proximal term and its softest row; what stiffer rows have more is pull.
static double weight_of(const convex *c, int b, const kki_block *block) {
    double soft = 0;
    for (int k = block->row; k < block->row + kki_law_rows(block->law); k++) {
        soft = c->s->soft[k] > soft ? c->s->soft[k] : soft;
    }
    return c->epsilon * c->s->scale[b] + soft;
}

/// q of a block.
static void argument(const convex *c, int b, const kki_block *block, double weight, const double *u, double *q) {
    for (int k = 0; k < kki_law_rows(block->law); k++) {
        const int row = block->row + k;
        const double pull = weight - c->s->soft[row];
        // u here is Yᵀ z + g: the compliance is in the weight
        q[k] = (pull * c->center[row] - u[row]) / weight;
    }
    q[0] -= block->law == KKI_LAW_CONTACT && !c->exact ? c->shift[b] / weight : 0;
}

/// P(q) of a contact and its derivative Q, 3 × 3 by rows of 6.
static void answer_contact(double mu, const double *q, double *lambda, double Q[3][3]) {
    const double t = kki_norm2(q[1], q[2]);
    memset(Q, 0, sizeof(double) * 9);
    if (q[0] >= 0 && t <= mu * q[0]) {
        memcpy(lambda, q, sizeof(double) * 3);
        Q[0][0] = Q[1][1] = Q[2][2] = 1;
    } else if (mu * t <= -q[0]) {
        lambda[0] = lambda[1] = lambda[2] = 0;
    } else {
        const double a = 1 / (1 + mu * mu), n = (q[0] + mu * t) * a, k = t > 0 ? mu * n / t : 0;
        const double d[2] = {t > 0 ? q[1] / t : 0, t > 0 ? q[2] / t : 0};
        lambda[0] = n;
        Q[0][0] = a;
        for (int i = 0; i < 2; i++) {
            lambda[1 + i] = k * q[1 + i];
            Q[0][1 + i] = Q[1 + i][0] = a * mu * d[i];
            for (int j = 0; j < 2; j++) {
                Q[1 + i][1 + j] = a * mu * mu * d[i] * d[j] + k * ((i == j) - d[i] * d[j]);
            }
        }
    }
}

/// Coulomb's law: the normal answers alone, friction within μ of it. Q is unsymmetric where it slides.
static void answer_exactly(double mu, const double *q, double *lambda, double Q[3][3]) {
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
static void answer_plain(const convex *c, const kki_block *block, const double *q, double *lambda, double Q[3][3]) {
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

static void answer_block(convex *c, const kki_tie *t, int b, const double *u, int what) {
    const kki_block *block = &c->s->problem->rows.block[b];
    const double weight = weight_of(c, b, block), f = 1 / weight, *du = c->w->du + block->row;
    const int n = kki_law_rows(block->law), at = block->row - t->row;
    double q[3] = {0, 0, 0}, Q[3][3];
    argument(c, b, block, weight, u, q);
    if (block->law == KKI_LAW_CONTACT && c->exact) {
        answer_exactly(block->friction, q, c->lambda + block->row, Q);
    } else if (block->law == KKI_LAW_CONTACT) {
        answer_contact(block->friction, q, c->lambda + block->row, Q);
    } else {
        answer_plain(c, block, q, c->lambda + block->row, Q);
    }
    for (int k = 0; k < n && what != IMPULSES; k++) {
        for (int j = 0; j < n; j++) {
            if (what == MATRIX) {
                c->w->R[6 * (size_t)(block->row + k) + (size_t)(at + j)] = f * Q[k][j];
            } else {
                c->curvature += f * Q[k][j] * du[k] * du[j];
            }
        }
    }
}

/// λ(u), and R or the curvature along du.
static void answer_all(convex *c, const double *u, int what) {
    const kki_sparse_problem *p = c->s->problem;
    c->curvature = 0;
    for (int i = 0; i < p->ntie; i++) {
        const kki_tie *t = &p->tie[i];
        for (int b = t->block; b < t->block + t->nblock; b++) {
            answer_block(c, t, b, u, what);
        }
    }
}

/// u = Yᵀ z + g.
static void velocities(convex *c) {
    c->s->kernels->velocity(c->s->problem, c->z, c->u);
    for (int i = 0; i < c->s->nrow; i++) {
        c->u[i] += c->s->g[i];
    }
}

/// Newton's direction, in dz and du; its slope.
static bool direction(convex *c, kki_solver_stats *stats) {
    const kki_sparse_system *s = c->s;
    kki_sparse_scratch *w = c->w;
    memset(w->R, 0, sizeof *w->R * 6 * (size_t)s->nrow);
    answer_all(c, c->u, MATRIX);
    w->factor.symmetric = !c->exact;
    s->kernels->assemble(s->problem, w->R, &w->factor);
    stats->factorizations++;
    stats->newton++;
    if (!s->kernels->factor(&w->factor)) {
        return false;
    }
    // −∇f = Y λ − z; its product with the step is minus the slope
    for (int k = 0; k < s->width; k++) {
        w->dz[k] = -c->z[k];
    }
    s->kernels->motion(s->problem, c->lambda, w->dz);
    memcpy(w->minus_gradient, w->dz, sizeof *w->dz * (size_t)s->width);
    s->kernels->solve(s->problem, &w->factor, w->dz);
    s->kernels->velocity(s->problem, w->dz, w->du);
    c->slope = -kki_sparse_dot(s->width, w->minus_gradient, w->dz);
    return c->exact || c->slope < 0;
}

static double slope_at(convex *c, double a, double zp, double pp) {
    for (int i = 0; i < c->s->nrow; i++) {
        c->trial[i] = c->u[i] + a * c->w->du[i];
    }
    answer_all(c, c->trial, CURVATURE);
    c->curvature += pp;
    return zp + a * pp - kki_sparse_dot(c->s->nrow, c->lambda, c->w->du);
}

/// Length at which the slope has all but vanished: Newton's method between bounds, for the slope only rises.
static double line_search(convex *c) {
    const double zp = kki_sparse_dot(c->s->width, c->z, c->w->dz), pp = kki_sparse_dot(c->s->width, c->w->dz, c->w->dz);
    double low = 0, high = 0, a = 1;
    for (int trial = 0; trial < MOST_TRIALS; trial++) {
        const double slope = slope_at(c, a, zp, pp);
        if (__builtin_fabs(slope) <= -0.05 * c->slope) {
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

/// |z − Y λ(u)|² at z + a dz.
static double error_at(convex *c, double a) {
    const kki_sparse_system *s = c->s;
    kki_sparse_scratch *w = c->w;
    for (int i = 0; i < s->nrow; i++) {
        c->trial[i] = c->u[i] + a * w->du[i];
    }
    answer_all(c, c->trial, IMPULSES);
    for (int k = 0; k < s->width; k++) {
        w->minus_gradient[k] = -(c->z[k] + a * w->dz[k]);
    }
    s->kernels->motion(s->problem, c->lambda, w->minus_gradient);
    return kki_sparse_dot(s->width, w->minus_gradient, w->minus_gradient);
}

/// Halved until the error falls; 0 where it does not.
static double backtrack(convex *c, double before, double *after) {
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

/// Newton on Coulomb's law with the proximal term, from where the convex problem ended.
static bool solve_exactly(convex *c, double enough, int limit, kki_solver_stats *stats) {
    const kki_sparse_system *s = c->s;
    c->exact = true;
    for (int k = 0; k < limit; k++) {
        if (!direction(c, stats)) {
            return false;
        }
        double after = 0;
        const double before = kki_sparse_dot(s->width, c->w->minus_gradient, c->w->minus_gradient);
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

/// Slip of the iterate as De Saxcé's shift.
static void set_shift(convex *c, const double *u) {
    const kki_problem *p = &c->s->problem->rows;
    for (int b = 0; b < c->s->nblock; b++) {
        const double *v = u + p->block[b].row;
        c->shift[b] = p->block[b].law == KKI_LAW_CONTACT ? p->block[b].friction * kki_norm2(v[1], v[2]) : 0;
    }
}

bool kki_sparse_proximal(kki_sparse_scratch *w, kki_sparse_iterate *it, double epsilon, double accuracy,
                         int convex_steps, int exact_steps, kki_solver_stats *stats) {
    const kki_sparse_system *s = &w->system;
    double largest = 0;
    convex c = {.w = w, .s = s, .epsilon = epsilon, .center = w->center, .shift = w->shift};
    c.z = it->z, c.u = it->u, c.lambda = it->lambda, c.trial = w->e;
    memcpy(c.center, it->lambda, sizeof *c.center * (size_t)s->nrow);
    set_shift(&c, it->u);
    velocities(&c);
    for (int b = 0; b < s->nblock; b++) {
        largest = s->scale[b] > largest ? s->scale[b] : largest;
    }
    for (int k = 0; k < convex_steps && direction(&c, stats); k++) {
        const double a = line_search(&c);
        for (int i = 0; i < s->width; i++) {
            c.z[i] += a * w->dz[i];
        }
        velocities(&c);
        if (-c.slope * largest <= accuracy * accuracy) {
            break;
        }
    }
    const bool solved = solve_exactly(&c, accuracy * accuracy / largest, exact_steps, stats);
    answer_all(&c, c.u, IMPULSES);
    kki_sparse_judge(s, it);
    return solved;
}
