/// Mode Newton over velocities: the step of newton.c, with the modes' equations eliminated tie by tie instead of body by body.
///
/// Modes are read off q = λ − u/s. A row that holds gets u + ε s δλ = 0 (a shift in the matrix, not in the residual), a sliding one follows its
/// normal, and all of it is
///     δλ = e − R Yᵀ δz,     (1 + Y R Yᵀ) δz = Y e.
/// R is unsymmetric where something slides. Large ε is a proximal step, small ε Newton's.
///
/// References: Alart & Curnier (1991); Hintermüller, Ito, Kunisch, The primal-dual active set strategy as a semismooth Newton method, SIAM J.
/// Optim. 13 (2002).
#include <string.h>

#include "contact/cones.h"
#include "contact/sparse_scratch.h"

enum { OPEN, HELD, SLIDING, UPPER };

/// One block and where its rows stand in its tie.
typedef struct part {
    const kki_block *block;
    double scale, epsilon;
    const double *lambda, *u, *soft; ///< of its rows
    double *e, *R;                   ///< of its rows; R's first column is the tie's first row
    int at;                          ///< first row in the tie
} part;

static double held(const part *p, int row) {
    return 1 / (p->soft[row] + p->epsilon * p->scale);
}

static void let_go(const part *p, int n) {
    for (int i = 0; i < n; i++) {
        p->e[i] = -p->lambda[i];
    }
}

static void hold(const part *p, int row) {
    const double weight = held(p, row);
    p->R[6 * row + p->at + row] = weight;
    p->e[row] = -weight * p->u[row];
}

/// Two rows on the rim of a disc whose radius follows row `normal` of the tie by `friction`; e of that row is known.
static void slide(const part *p, int row, const double q[2], double size, double share, double friction, int normal,
                  double normal_weight, double normal_next) {
    const double d[2] = {size > 0 ? q[0] / size : 0, size > 0 ? q[1] / size : 0}, t[2] = {-d[1], d[0]};
    // the turn's own equation: t·u + s (1 − share)/share δ = 0
    const double weight = share > 0 ? 1 / (p->scale * ((1 - share) / share + p->epsilon)) : 0;
    const double across = t[0] * p->u[row] + t[1] * p->u[row + 1];
    for (int i = 0; i < 2; i++) {
        double *R = p->R + 6 * (row + i);
        p->e[row + i] = friction * normal_next * d[i] - weight * across * t[i] - p->lambda[row + i];
        R[p->at + row] += weight * t[i] * t[0];
        R[p->at + row + 1] += weight * t[i] * t[1];
        R[normal] += friction * normal_weight * d[i];
    }
}

static int linearize_contact(const part *p) {
    const double inverse = 1 / p->scale, mu = p->block->friction;
    const double n = p->lambda[0] - p->u[0] * inverse;
    const double q[2] = {p->lambda[1] - p->u[1] * inverse, p->lambda[2] - p->u[2] * inverse};
    if (!(n > 0)) {
        let_go(p, 3);
        return OPEN;
    }
    const double size = kki_norm2(q[0], q[1]);
    hold(p, 0);
    if (mu > 0 && size <= mu * n) {
        hold(p, 1);
        hold(p, 2);
        return HELD;
    }
    slide(p, 1, q, size, size > 0 ? mu * n / size : 0, mu, p->at, p->R[p->at], p->lambda[0] + p->e[0]);
    return SLIDING;
}

static int linearize_interval(const part *p, double lower, double upper) {
    const double q = p->lambda[0] - p->u[0] / p->scale;
    if (q > lower && q < upper) {
        hold(p, 0);
        return HELD;
    }
    p->e[0] = (q <= lower ? lower : upper) - p->lambda[0];
    return q <= lower ? OPEN : UPPER;
}

/// Torsion and rolling on the contact that begins the tie at row `normal`.
static int linearize_rider(const part *p, int contact_mode, const part *contact) {
    const int n = kki_law_rows(p->block->law), normal = contact->at;
    if (contact_mode == OPEN || !(p->block->friction > 0)) {
        let_go(p, n);
        return OPEN;
    }
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what rides stands behind its contact in the tie
    const double weight = contact->R[normal], next = contact->lambda[0] + contact->e[0], rho = p->block->friction;
    const double now = contact->lambda[0] > 0 ? rho * contact->lambda[0] : 0;
    const double q[2] = {p->lambda[0] - p->u[0] / p->scale, n > 1 ? p->lambda[1] - p->u[1] / p->scale : 0};
    const double size = kki_norm2(q[0], q[1]);
    if (size < now) {
        for (int i = 0; i < n; i++) {
            hold(p, i);
        }
        return HELD;
    }
    if (n > 1) {
        slide(p, 0, q, size, size > 0 ? now / size : 0, rho, normal, weight, next);
        return SLIDING;
    }
    const double sign = q[0] < 0 ? -1 : 1;
    p->e[0] = sign * rho * next - p->lambda[0];
    p->R[normal] = sign * rho * weight;
    return sign < 0 ? SLIDING : UPPER;
}

static part part_of(const kki_sparse_scratch *w, const kki_sparse_iterate *it, const kki_tie *t, int b,
                    double epsilon) {
    const kki_block *block = &w->system.problem->rows.block[b];
    const size_t row = (size_t)block->row;
    return (part){
        block,          w->system.scale[b], epsilon, it->lambda + row, it->u + row, w->system.soft + row, w->e + row,
        w->R + 6 * row, block->row - t->row};
}

/// e and R of all ties. True if R is symmetric.
static bool linearize(kki_sparse_scratch *w, const kki_sparse_iterate *it, double epsilon) {
    const kki_sparse_problem *problem = w->system.problem;
    const double inf = __builtin_inf();
    bool symmetric = true;
    w->is_steady = true;
    memset(w->R, 0, sizeof *w->R * 6 * (size_t)problem->rows.nrow);
    for (int i = 0; i < problem->ntie; i++) {
        const kki_tie *t = &problem->tie[i];
        part contact = {.block = NULL};
        for (int b = t->block; b < t->block + t->nblock; b++) {
            const part p = part_of(w, it, t, b, epsilon);
            int mode = HELD;
            switch (p.block->law) {
            case KKI_LAW_CONTACT:
                mode = linearize_contact(&p);
                contact = p;
                break;
            case KKI_LAW_EQUALITY: hold(&p, 0); break;
            case KKI_LAW_LIMIT: mode = linearize_interval(&p, 0, inf); break;
            case KKI_LAW_BOX: mode = linearize_interval(&p, p.block->lower, p.block->upper); break;
            default: mode = linearize_rider(&p, w->mode[p.block->contact], &contact); break;
            }
            const bool follows = p.block->law == KKI_LAW_TORSION ? mode != HELD && mode != OPEN : mode == SLIDING;
            symmetric = symmetric && !(follows && p.block->friction > 0);
            w->is_steady = w->is_steady && w->mode[b] == mode;
            w->mode[b] = (int8_t)mode;
        }
    }
    return symmetric;
}

// the normal force is the better known
void kki_sparse_project(const kki_problem *p, double *lambda) {
    for (int b = 0; b < p->nblock; b++) {
        const kki_block *block = &p->block[b];
        double *l = lambda + block->row;
        if (block->law == KKI_LAW_CONTACT) {
            l[0] = l[0] > 0 ? l[0] : 0;
            kki_project_disc(block->friction * l[0], l + 1);
        } else {
            const bool rides = block->law == KKI_LAW_TORSION || block->law == KKI_LAW_ROLLING;
            kki_project_block(block, 1, rides ? lambda[p->block[block->contact].row] : 0, l);
        }
    }
}

bool kki_sparse_newton_step(kki_sparse_scratch *w, kki_sparse_iterate *it, double epsilon, kki_solver_stats *stats) {
    const kki_sparse_system *s = &w->system;
    const kki_sparse_problem *p = s->problem;
    w->factor.symmetric = linearize(w, it, epsilon);
    s->kernels->assemble(p, w->R, &w->factor);
    stats->newton++;
    stats->factorizations++;
    if (!s->kernels->factor(&w->factor)) {
        return false;
    }
    memset(w->dz, 0, sizeof *w->dz * (size_t)s->width);
    s->kernels->motion(p, w->e, w->dz);
    s->kernels->solve(p, &w->factor, w->dz);
    s->kernels->velocity(p, w->dz, w->du);
    for (int i = 0; i < p->ntie; i++) {
        const kki_tie *t = &p->tie[i];
        for (int r = t->row; r < t->row + t->nrow; r++) {
            double change = w->e[r];
            for (int k = 0; k < t->nrow; k++) {
                change -= w->R[6 * (size_t)r + (size_t)k] * w->du[t->row + k];
            }
            it->lambda[r] += change;
        }
    }
    kki_sparse_project(&p->rows, it->lambda);
    return true;
}
