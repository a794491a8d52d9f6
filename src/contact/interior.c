/// An interior-point walk to Coulomb's law itself: for what Newton's modes and the path wander in.
///
/// Every bound gets a slack and a velocity behind it, every friction disc with its normal the second-order cone (μ λn, λt) and a partner
/// (a, b), and their products are let down to zero together:
///     x y = σ          λn ≥ 0, limits, bounds, torsion:   x the distance from the bound, y the velocity away from it
///     w ∘ z = σ e      friction, rolling:                  w = (μ λn, λt),  z = (a, ut)
/// In the convex problem a would push on the normal, too (De Saxcé's shift); it is left out here, so that the limit is Coulomb's law and not
/// its associated relative. The price is a matrix that is not symmetric,
///     G + X⁻¹ Y + the tangential rows of W⁻²,     W² z = w  the scaling point of Nesterov and Todd,
/// and no theorem that says it must converge; from a cold, centered start it takes some thirteen steps to 1e-6 m/s on problems of robots on
/// which the modes change for ever. The last digits are Newton's, whose modes are clear by then.
///
/// References: Mehrotra, On the implementation of a primal-dual interior point method (1992); Nesterov & Todd (1997); Acary, Armand, Nguyen &
/// Shpakovych, Second-order cone interior-point method for frictional contact (2023).
#include <string.h>

#include "contact/cones.h"
#include "contact/interior.h"

/// Share of the way to the wall that a step takes.
static const double NEARLY = 0.9;
/// Products, as a share of the first ones and of the residual's share, at which modes are as clear: the residual of what opens while it
/// slips is that of a square root.
static const double NARROW = 1e-7;
/// A step that leaves more than this of the gap gains nothing; after so many of them in a row the walk has failed.
static const double STANDS = 0.9;
enum { MOST_STANDING = 3 };
/// On the diagonal, as a share of it: equalities that say the same twice.
static const double TRACE = 1e-12;

typedef kki_interior_bound bound;
typedef kki_interior_cone cone;
typedef kki_interior walk;

// ---- second-order cones

/// w0² − |wt|², without the difference of squares.
static double determinant(const double w[3]) {
    const double t = kki_norm2(w[1], w[2]);
    return (w[0] - t) * (w[0] + t);
}

static double dot3(const double a[3], const double b[3]) {
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

/// K with K w = z, symmetric and positive.
static void scale_cone(cone *c) {
    const double jw = __builtin_sqrt(determinant(c->w)), jz = __builtin_sqrt(determinant(c->z)), eta = jz / jw;
    const double product = dot3(c->w, c->z) / (jw * jz), f = 1 / __builtin_sqrt(2 * (1 + product));
    const double v[3] = {f * (c->z[0] / jz + c->w[0] / jw), f * (c->z[1] / jz - c->w[1] / jw),
                         f * (c->z[2] / jz - c->w[2] / jw)};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            c->K[i][k] = eta * 2 * v[i] * v[k];
        }
        c->K[i][i] += i == 0 ? -eta : eta;
    }
}

/// Arrow(w)⁻¹ p, the inverse of w ∘.
static void divide_arrow(const double w[3], const double p[3], double out[3]) {
    const double det = determinant(w), f = 1 / w[0];
    out[0] = (w[0] * p[0] - w[1] * p[1] - w[2] * p[2]) / det;
    out[1] = f * (p[1] - w[1] * out[0]);
    out[2] = f * (p[2] - w[2] * out[0]);
}

/// The longest step up to 1 that stays inside.
static double cone_step(const double w[3], const double d[3]) {
    const double a = determinant(d), b = w[0] * d[0] - w[1] * d[1] - w[2] * d[2], c = determinant(w);
    double step = d[0] < 0 && -w[0] > d[0] ? -w[0] / d[0] : 1;
    const double under = b * b - a * c;
    if (under >= 0) { // the smaller positive root of a t² + 2 b t + c
        const double q = -(b + (b < 0 ? -1 : 1) * __builtin_sqrt(under)), t1 = q / a, t2 = c / q;
        step = t1 > 0 && t1 < step ? t1 : step;
        step = t2 > 0 && t2 < step ? t2 : step;
    }
    return step;
}

// ---- the problem

static void add_bound(walk *x, int row, double sign, double offset, int normal, double slope) {
    if (offset < __builtin_inf()) {
        x->bound[x->nbound++] = (bound){.row = row, .normal = normal, .sign = sign, .offset = offset, .slope = slope};
    }
}

static void add_cone(walk *x, int normal, int row, double friction) {
    x->is_dead[row] = x->is_dead[row + 1] = !(friction > 0);
    if (friction > 0) {
        x->cone[x->ncone++] = (cone){.row = {normal, row, row + 1}, .friction = friction};
    }
}

static void add_block(walk *x, const kki_block *b) {
    const int normal = x->s->problem->block[b->contact].row;
    switch (b->law) {
    case KKI_LAW_CONTACT:
        add_bound(x, b->row, 1, 0, -1, 0);
        add_cone(x, b->row, b->row + 1, b->friction);
        break;
    case KKI_LAW_LIMIT: add_bound(x, b->row, 1, 0, -1, 0); break;
    case KKI_LAW_BOX:
        x->is_dead[b->row] = !(b->upper > b->lower);
        if (b->upper > b->lower) {
            add_bound(x, b->row, 1, -b->lower, -1, 0);
            add_bound(x, b->row, -1, b->upper, -1, 0);
        }
        break;
    case KKI_LAW_TORSION:
        x->is_dead[b->row] = !(b->friction > 0);
        if (b->friction > 0) {
            add_bound(x, b->row, 1, 0, normal, b->friction);
            add_bound(x, b->row, -1, 0, normal, b->friction);
        }
        break;
    case KKI_LAW_ROLLING: add_cone(x, normal, b->row, b->friction); break;
    default: break;
    }
}

/// A start of one size: what bears, bears what stops the fastest of the rows; bounds from both sides alike.
static void begin(walk *x) {
    const kki_system *s = x->s;
    double *lambda = x->it->lambda, speed = s->size, typical = 0;
    for (int b = 0; b < s->nblock; b++) {
        typical += s->scale[b] / s->nblock;
    }
    memset(lambda, 0, sizeof *lambda * (size_t)s->stride);
    for (int b = 0; b < s->nblock; b++) {
        const kki_block *k = &s->problem->block[b];
        if (k->law == KKI_LAW_CONTACT || k->law == KKI_LAW_LIMIT) {
            lambda[k->row] = speed / typical;
        } else if (k->law == KKI_LAW_BOX) {
            const double low = k->lower, high = k->upper, far = speed / typical;
            lambda[k->row] = low > -__builtin_inf() && high < __builtin_inf() ? 0.5 * (low + high)
                             : low > -__builtin_inf()                         ? low + far
                             : high < __builtin_inf()                         ? high - far
                                                                              : 0;
        }
        add_block(x, k);
    }
    for (int i = 0; i < x->nbound; i++) {
        x->bound[i].y = speed;
    }
    for (int i = 0; i < x->ncone; i++) {
        x->cone[i].z[0] = speed;
    }
}

/// Slacks and cones of λ, and the mean of the products.
static void measure(walk *x) {
    const double *lambda = x->it->lambda;
    double sum = 0;
    for (int i = 0; i < x->nbound; i++) {
        bound *b = &x->bound[i];
        b->x = b->sign * lambda[b->row] + b->offset + (b->normal < 0 ? 0 : b->slope * lambda[b->normal]);
        sum += b->x * b->y;
    }
    for (int i = 0; i < x->ncone; i++) {
        cone *c = &x->cone[i];
        c->w[0] = c->friction * lambda[c->row[0]];
        c->w[1] = lambda[c->row[1]];
        c->w[2] = lambda[c->row[2]];
        sum += dot3(c->w, c->z);
    }
    const int count = x->nbound + x->ncone;
    x->gap = count > 0 ? sum / count : 0;
}

// ---- a step

/// Row by row: G, what is compliant, and how the velocities behind the bounds answer λ.
static void fill_matrix(walk *x) {
    const kki_system *s = x->s;
    double *A = x->r->A;
    memcpy(A, s->G, sizeof *A * (size_t)(s->nrow * s->stride));
    for (int i = 0; i < s->nrow; i++) {
        A[i * s->stride + i] += s->shift[i] + TRACE * A[i * s->stride + i];
    }
    for (int i = 0; i < x->nbound; i++) {
        const bound *b = &x->bound[i];
        const double f = b->y / b->x;
        A[b->row * s->stride + b->row] += f;
        if (b->normal >= 0) {
            A[b->row * s->stride + b->normal] += b->sign * b->slope * f;
        }
    }
    for (int i = 0; i < x->ncone; i++) {
        cone *c = &x->cone[i];
        scale_cone(c);
        for (int k = 1; k < 3; k++) {
            double *row = A + c->row[k] * s->stride;
            row[c->row[0]] += c->K[k][0] * c->friction;
            row[c->row[1]] += c->K[k][1];
            row[c->row[2]] += c->K[k][2];
        }
    }
    for (int i = 0; i < s->nrow; i++) {
        if (x->is_dead[i]) {
            memset(A + i * s->stride, 0, sizeof *A * (size_t)s->stride);
            A[i * s->stride + i] = 1;
        }
    }
}

/// The step towards products of σ. What `spare` holds is taken off them: the second-order term of a step before.
static void find_step(walk *x, double sigma) {
    const kki_system *s = x->s;
    kki_reduced *r = x->r;
    double *b = r->b;
    memset(b, 0, sizeof *b * (size_t)s->stride);
    for (int i = 0; i < s->nrow; i++) {
        b[i] = -x->it->u[i];
    }
    for (int i = 0; i < x->nbound; i++) { // u ends as the velocities behind its bounds do
        const bound *k = &x->bound[i];
        b[k->row] += k->sign * (sigma - k->spare) / k->x;
    }
    for (int i = 0; i < x->ncone; i++) {
        cone *c = &x->cone[i];
        const double f = sigma / determinant(c->w);
        b[c->row[1]] += -f * c->w[1] - c->spare[1];
        b[c->row[2]] += -f * c->w[2] - c->spare[2];
    }
    for (int i = 0; i < s->nrow; i++) {
        b[i] = x->is_dead[i] ? 0 : b[i];
    }
    s->kernels->lu_solve(s->nrow, s->stride, r->A, r->inverse, r->pivot, b, r->y, r->x);
    memcpy(x->step, r->x, sizeof *x->step * (size_t)s->nrow);
    for (int i = 0; i < x->nbound; i++) {
        bound *k = &x->bound[i];
        k->dx = k->sign * x->step[k->row] + (k->normal < 0 ? 0 : k->slope * x->step[k->normal]);
        k->dy = (sigma - k->spare - k->y * k->dx) / k->x - k->y;
    }
    for (int i = 0; i < x->ncone; i++) {
        cone *c = &x->cone[i];
        const double f = sigma / determinant(c->w);
        for (int k = 0; k < 3; k++) {
            c->dw[k] = (k == 0 ? c->friction : 1) * x->step[c->row[k]];
        }
        for (int k = 0; k < 3; k++) {
            c->dz[k] = (k == 0 ? f : -f) * c->w[k] - c->z[k] - c->spare[k] - dot3(c->K[k], c->dw);
        }
    }
}

static double longest(const walk *x) {
    double step = 1;
    for (int i = 0; i < x->nbound; i++) {
        const bound *b = &x->bound[i];
        step = b->dx < 0 && -b->x > step * b->dx ? -b->x / b->dx : step;
        step = b->dy < 0 && -b->y > step * b->dy ? -b->y / b->dy : step;
    }
    for (int i = 0; i < x->ncone; i++) {
        const double a = cone_step(x->cone[i].w, x->cone[i].dw), b = cone_step(x->cone[i].z, x->cone[i].dz);
        step = a < step ? a : step;
        step = b < step ? b : step;
    }
    return step;
}

/// The mean product behind a step of this length.
static double gap_behind(const walk *x, double t) {
    double sum = 0;
    for (int i = 0; i < x->nbound; i++) {
        const bound *b = &x->bound[i];
        sum += (b->x + t * b->dx) * (b->y + t * b->dy);
    }
    for (int i = 0; i < x->ncone; i++) {
        const cone *c = &x->cone[i];
        for (int k = 0; k < 3; k++) {
            sum += (c->w[k] + t * c->dw[k]) * (c->z[k] + t * c->dz[k]);
        }
    }
    return sum / (x->nbound + x->ncone);
}

/// Mehrotra's second-order terms of the step just found.
static void correct(walk *x, int on) {
    for (int i = 0; i < x->nbound; i++) {
        x->bound[i].spare = on ? x->bound[i].dx * x->bound[i].dy : 0;
    }
    for (int i = 0; i < x->ncone; i++) {
        cone *c = &x->cone[i];
        const double *a = c->dw, *b = c->dz;
        const double p[3] = {dot3(a, b), a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2]};
        c->spare[0] = c->spare[1] = c->spare[2] = 0;
        if (on) {
            divide_arrow(c->w, p, c->spare);
        }
    }
}

static void go(walk *x, double t) {
    for (int i = 0; i < x->s->nrow; i++) {
        x->it->lambda[i] += t * x->step[i];
    }
    for (int i = 0; i < x->nbound; i++) {
        x->bound[i].y += t * x->bound[i].dy;
    }
    for (int i = 0; i < x->ncone; i++) {
        for (int k = 0; k < 3; k++) {
            x->cone[i].z[k] += t * x->cone[i].dz[k];
        }
    }
}

static bool advance(walk *x, kki_solver_stats *stats) {
    kki_reduced *r = x->r;
    fill_matrix(x);
    stats->newton++;
    stats->factorizations++;
    if (!x->s->kernels->lu(x->s->nrow, x->s->stride, r->A, r->inverse, r->pivot)) {
        return false;
    }
    correct(x, 0);
    find_step(x, 0);
    const double ahead = x->gap > 0 ? gap_behind(x, longest(x)) / x->gap : 0, share = kki_clamp(ahead, 0, 1);
    correct(x, 1);
    find_step(x, share * share * share * x->gap);
    go(x, NEARLY * longest(x));
    measure(x);
    kki_system_judge(x->s, x->it);
    return x->it->residual - x->it->residual == 0;
}

void kki_interior_begin(kki_interior *x, const kki_system *s, kki_solver_scratch *w, kki_iterate *it) {
    x->s = s;
    x->it = it;
    x->r = &w->reduced;
    w->reduced.split.is_ready = false;
    x->nbound = x->ncone = x->steps = x->standing = 0;
    memset(x->is_dead, 0, sizeof x->is_dead);
    begin(x);
    measure(x);
    x->first_gap = x->gap;
    kki_system_judge(s, it);
}

bool kki_interior_walk(kki_interior *x, int limit, double share, kki_solver_stats *stats) {
    const double enough = share * x->s->size, least = NARROW * share * x->first_gap;
    bool goes_on = true;
    while (x->steps < limit && x->it->residual > enough && x->gap >= least && goes_on) {
        const double before = x->gap;
        goes_on = advance(x, stats);
        x->standing = x->gap > STANDS * before ? x->standing + 1 : 0;
        goes_on = goes_on && x->standing < MOST_STANDING;
        x->steps++;
    }
    return goes_on;
}
