/// L3, the last: proximal ADMM with De Saxcé's shift lagged by one iteration; ρ and the proximal weight are relative to each block's scale.
///
/// Reference: Carpentier, Le Lidec, Montaut, From compliant to rigid contact simulation (2024), with their rule for ρ.
#include <string.h>

#include "contact/cones.h"
#include "contact/scratch.h"

#define ABS(x) __builtin_fabs(x)

typedef struct admm {
    double *x, *z, *last_x, *last, *scale; ///< [stride] unconstrained λ, dual velocity, those before, the row's scale
    double rho, weight, norm;
} admm;

static void row_scales(const kki_system *s, double *scale) {
    for (int b = 0; b < s->nblock; b++) {
        const kki_block *block = &s->problem->block[b];
        for (int k = 0; k < kki_law_rows(block->law); k++) {
            scale[block->row + k] = s->scale[b];
        }
    }
}

/// Largest eigenvalue of G relative to the scales, by power iteration.
static double estimate_norm(const kki_system *s, const admm *a, kki_iterate *scratch) {
    double norm = 1;
    for (int i = 0; i < s->nrow; i++) {
        scratch->lambda[i] = 1 + 0.1 * (i % 7);
    }
    for (int k = 0; k < 20; k++) {
        kki_system_judge(s, scratch);
        double sum = 0;
        for (int i = 0; i < s->nrow; i++) {
            scratch->u[i] = (scratch->u[i] - s->g[i]) / a->scale[i];
            sum += scratch->u[i] * scratch->u[i];
        }
        if (!(sum > 0)) {
            break;
        }
        norm = __builtin_sqrt(sum);
        for (int i = 0; i < s->nrow; i++) {
            scratch->lambda[i] = scratch->u[i] / norm;
        }
    }
    return norm;
}

static bool factor(const kki_system *s, kki_reduced *r, const admm *a, kki_solver_stats *stats) {
    kki_reduced_all(s, r);
    for (int i = 0; i < s->nrow; i++) {
        r->diagonal[i] = s->shift[i] + (a->rho + a->weight) * a->scale[i];
    }
    stats->factorizations++;
    return kki_reduced_factor(s, r);
}

/// x: the quadratic problem with the cone replaced by its multiplier.
static void minimize(const kki_system *s, kki_reduced *r, admm *a, const double *lambda) {
    for (int i = 0; i < s->nrow; i++) {
        r->b[i] = -(s->g[i] - a->scale[i] * (a->rho * lambda[i] + a->weight * a->x[i]) - a->z[i]);
    }
    for (int b = 0; b < s->nblock; b++) {
        const kki_block *block = &s->problem->block[b];
        if (block->law == KKI_LAW_CONTACT) {
            r->b[block->row] -= block->friction * kki_norm2(a->z[block->row + 1], a->z[block->row + 2]);
        }
    }
    kki_reduced_solve(s, r);
    memcpy(a->last_x, a->x, sizeof(double) * (size_t)s->nrow);
    memcpy(a->x, r->x, sizeof(double) * (size_t)s->nrow);
}

/// λ and the dual; gives how far primal and dual are off.
static void project(const kki_system *s, admm *a, double *lambda, double *primal, double *dual) {
    memcpy(a->last, lambda, sizeof(double) * (size_t)s->nrow);
    for (int i = 0; i < s->nrow; i++) {
        lambda[i] = a->x[i] - a->z[i] / (a->rho * a->scale[i]);
    }
    kki_project_all(s->problem, lambda);
    *primal = *dual = 0;
    for (int i = 0; i < s->nrow; i++) {
        const double gap = a->scale[i] * (a->x[i] - lambda[i]);
        const double d = a->scale[i] * (a->rho * (lambda[i] - a->last[i]) + a->weight * (a->x[i] - a->last_x[i]));
        a->z[i] -= a->rho * gap;
        *primal = ABS(gap) * a->norm > *primal ? ABS(gap) * a->norm : *primal;
        *dual = ABS(d) > *dual ? ABS(d) : *dual;
    }
}

static void start(const kki_system *s, kki_solver_scratch *w, admm *a, const kki_iterate *current) {
    memcpy(a->x, current->lambda, sizeof(double) * (size_t)s->stride);
    memcpy(a->z, current->u, sizeof(double) * (size_t)s->stride);
    for (int b = 0; b < s->nblock; b++) {
        const kki_block *block = &s->problem->block[b];
        if (block->law == KKI_LAW_CONTACT) {
            a->z[block->row] += block->friction * kki_norm2(a->z[block->row + 1], a->z[block->row + 2]);
        }
    }
    row_scales(s, a->scale);
    a->norm = estimate_norm(s, a, &w->iterate[KKI_IT_PROXIMAL + 1]);
    a->weight = 1e-6 * a->norm;
    a->rho = a->norm * 1e-3 * 15.848931924611136; // √(L m) (L/m)^0.2 with L/m = 10⁶
}

void kki_rung_admm(const kki_system *s, kki_solver_scratch *w, kki_iterate *it, int limit, kki_solver_stats *stats) {
    const double increase = 1.9952623149688795; // (L/m)^0.05
    kki_iterate *current = &w->iterate[KKI_IT_PROXIMAL];
    admm a = {
        .x = w->vector[0], .z = w->vector[1], .last_x = w->vector[2], .last = w->vector[3], .scale = w->vector[4]};
    kki_iterate_copy(s, it, current);
    start(s, w, &a, current);
    bool changed = true;
    for (int k = 0; k < limit && it->residual > s->floor; k++) {
        if (changed && !factor(s, &w->reduced, &a, stats)) {
            return;
        }
        double primal, dual;
        stats->admm++;
        minimize(s, &w->reduced, &a, current->lambda);
        project(s, &a, current->lambda, &primal, &dual);
        kki_system_judge(s, current);
        if (current->residual < it->residual) {
            kki_iterate_copy(s, current, it);
        } else if (current->residual != current->residual) {
            return;
        }
        changed = primal > 10 * dual || dual > 10 * primal;
        a.rho = primal > 10 * dual ? a.rho * increase : dual > 10 * primal ? a.rho / increase : a.rho;
    }
}
