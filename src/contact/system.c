/// The problem in the solver's variables; see scratch.h.
#include <string.h>

#include "contact/cones.h"
#include "contact/scratch.h"

#define ABS(x) __builtin_fabs(x)

/// Packed upper triangle of the block's own part, from G or from the products of neighboring rows.
static void own_block(const kki_system *s, const kki_block *block, const double *near, double *own) {
    const int n = kki_law_rows(block->law), row = block->row;
    for (int i = row, k = 0; i < row + n; i++) {
        for (int j = i; j < row + n; j++) {
            own[k++] = (near ? near[(j - i) * s->stride + i] : s->G[i * s->stride + j]) + (i == j ? s->shift[i] : 0);
        }
    }
}

static double largest_own(int law, const double *own) {
    if (law == KKI_LAW_CONTACT) {
        const double t = own[3] > own[5] ? own[3] : own[5];
        return own[0] > t ? own[0] : t;
    }
    return law == KKI_LAW_ROLLING && own[2] > own[0] ? own[2] : own[0];
}

static void set_scales(kki_system *s) {
    s->largest = 0;
    for (int b = 0; b < s->nblock; b++) {
        const double scale = largest_own(s->problem->block[b].law, s->own + 6 * b);
        s->scale[b] = scale > 0 ? scale : 1;
        s->largest = scale > s->largest ? scale : s->largest;
    }
    s->largest = s->largest > 0 ? s->largest : 1;
}

/// g' = g − (G + R) a n: adhesion is a constant pull.
static void shift_adhesion(kki_system *s, double *pull) {
    bool any = false;
    for (int b = 0; b < s->nblock; b++) {
        any = any || (s->problem->block[b].law == KKI_LAW_CONTACT && s->problem->block[b].adhesion > 0);
    }
    if (!any) {
        return;
    }
    memset(pull, 0, sizeof(double) * (size_t)s->stride);
    for (int b = 0; b < s->nblock; b++) {
        const kki_block *block = &s->problem->block[b];
        if (block->law == KKI_LAW_CONTACT) {
            pull[block->row] = -block->adhesion;
            s->g[block->row] -= s->shift[block->row] * block->adhesion;
        }
    }
    if (s->low_rank) {
        s->kernels->multiply_low_rank(s->problem->nv, s->stride, s->problem->span, s->Y, pull, s->g, s->g);
    } else {
        s->kernels->multiply(s->nrow, s->stride, s->G, pull, s->g, s->g);
    }
}

static double largest_of(int n, const double *x) {
    double largest = 0;
    for (int i = 0; i < n; i++) {
        largest = ABS(x[i]) > largest ? ABS(x[i]) : largest;
    }
    return largest;
}

/// Of |g|, without what is parting: a contact that is still far away does not say how fast things are here.
static double largest_approach(const kki_system *s) {
    double largest = 0;
    for (int b = 0; b < s->nblock; b++) {
        const kki_block *block = &s->problem->block[b];
        const bool parts = (block->law == KKI_LAW_CONTACT || block->law == KKI_LAW_LIMIT) && s->g[block->row] > 0;
        const double own = parts ? 0 : largest_of(kki_law_rows(block->law), s->g + block->row);
        largest = own > largest ? own : largest;
    }
    return largest;
}

void kki_system_make(kki_system *s, const kki_problem *p, kki_solver_scratch *scratch, const kki_dense_kernels *kernels,
                     double floor) {
    const size_t bytes = sizeof(double) * (size_t)p->nrow, all = sizeof(double) * (size_t)p->stride;
    scratch->reduced.split.is_ready = false;
    s->problem = p;
    s->kernels = kernels;
    s->nrow = p->nrow;
    s->stride = p->stride;
    s->nblock = p->nblock;
    s->low_rank = kki_low_rank_wanted(p);
    s->G = p->G;
    s->Y = p->Y;
    if (!p->G && !s->low_rank) {
        kki_low_rank_form(p, kernels, scratch->G);
        s->G = scratch->G;
    }
    s->width = kki_round4(p->nv);
    memset(s->g, 0, all);
    memcpy(s->g, p->g, bytes);
    memset(s->shift, 0, all);
    s->shifted = p->compliance != NULL;
    if (p->compliance) {
        memcpy(s->shift, p->compliance, bytes);
    }
    if (s->low_rank) {
        kernels->transpose(p->nv, p->nrow, p->stride, p->Y, s->width, s->columns);
    }
    double *near = s->low_rank ? scratch->reduced.C : NULL;
    if (near) {
        kernels->near_products(p->nv, p->stride, p->span, p->Y, near);
    }
    for (int b = 0; b < s->nblock; b++) {
        own_block(s, &p->block[b], near, s->own + 6 * b);
    }
    set_scales(s);
    shift_adhesion(s, scratch->vector[0]);
    const double most = largest_of(s->nrow, s->g);
    s->floor = floor * (most > 1 ? most : 1);
    s->size = largest_approach(s);
    s->size = s->size > 0 ? s->size : most > 0 ? most : 1;
}

/// Adds to the diagonal of a packed block.
static void add_diagonal(int law, double w, double *own) {
    own[0] += w;
    if (law == KKI_LAW_CONTACT) {
        own[3] += w;
        own[5] += w;
    } else if (law == KKI_LAW_ROLLING) {
        own[2] += w;
    }
}

void kki_system_regularize(const kki_system *s, double weight, const double *center, kki_system *out) {
    double *const g = out->g, *const shift = out->shift, *const own = out->own, *const scale = out->scale;
    *out = *s;
    out->g = g;
    out->shift = shift;
    out->own = own;
    out->scale = scale;
    out->shifted = true;
    memcpy(g, s->g, sizeof(double) * (size_t)s->stride);
    memcpy(shift, s->shift, sizeof(double) * (size_t)s->stride);
    memcpy(own, s->own, sizeof(double) * 6 * (size_t)s->nblock);
    for (int b = 0; b < s->nblock; b++) {
        const kki_block *block = &s->problem->block[b];
        const double w = weight * s->scale[b];
        for (int k = 0; k < kki_law_rows(block->law); k++) {
            shift[block->row + k] += w;
            g[block->row + k] -= w * center[block->row + k];
        }
        add_diagonal(block->law, w, own + 6 * b);
    }
    set_scales(out);
}

double kki_system_residual(const kki_system *s, const double *lambda, const double *u) {
    const kki_block *block = s->problem->block;
    double worst = 0;
    for (int b = 0; b < s->nblock; b++) {
        const int row = block[b].row;
        const bool rides = block[b].law == KKI_LAW_TORSION || block[b].law == KKI_LAW_ROLLING;
        const double normal = rides ? lambda[block[block[b].contact].row] : 0;
        const double r = kki_map_squared(&block[b], s->scale[b], normal, lambda + row, u + row);
        // a NaN must win, and stay
        if (!(r <= worst) && worst == worst) {
            worst = r;
        }
    }
    return __builtin_sqrt(worst);
}

static void multiply(const kki_system *s, const double *lambda, double *u) {
    if (s->low_rank) {
        s->kernels->multiply_low_rank(s->problem->nv, s->stride, s->problem->span, s->Y, lambda, s->g, u);
    } else {
        s->kernels->multiply(s->nrow, s->stride, s->G, lambda, s->g, u);
    }
    for (int i = 0; s->shifted && i < s->nrow; i++) {
        u[i] += s->shift[i] * lambda[i];
    }
}

void kki_system_judge(const kki_system *s, kki_iterate *it) {
    multiply(s, it->lambda, it->u);
    it->residual = kki_system_residual(s, it->lambda, it->u);
}

double kki_system_rounding(const kki_system *s, const double *lambda, double *size) {
    double most = 0;
    if (s->low_rank) {
        // |G_ij| ≤ √(G_ii G_jj)
        double sum = 0, largest = 0;
        for (int b = 0; b < s->nblock; b++) {
            const kki_block *block = &s->problem->block[b];
            for (int k = 0; k < kki_law_rows(block->law); k++) {
                sum += __builtin_sqrt(s->scale[b]) * ABS(lambda[block->row + k]);
            }
            largest = s->scale[b] > largest ? s->scale[b] : largest;
        }
        most = __builtin_sqrt(largest) * sum;
    } else {
        memset(size, 0, sizeof(double) * (size_t)s->stride);
        for (int j = 0; j < s->nrow; j++) {
            const double f = ABS(lambda[j]);
            for (int i = 0; i < s->nrow; i++) {
                size[i] += f * ABS(s->G[j * s->stride + i]);
            }
        }
        most = largest_of(s->nrow, size);
    }
    return 0x1p-52 * (most + largest_of(s->nrow, s->g));
}

void kki_iterate_copy(const kki_system *s, const kki_iterate *from, kki_iterate *to) {
    memcpy(to->lambda, from->lambda, sizeof(double) * (size_t)s->stride);
    memcpy(to->u, from->u, sizeof(double) * (size_t)s->stride);
    to->residual = from->residual;
}

// ---- in and out

void kki_system_load(const kki_system *s, const double *lambda, kki_iterate *it) {
    memset(it->lambda, 0, sizeof(double) * (size_t)s->stride);
    memcpy(it->lambda, lambda, sizeof(double) * (size_t)s->nrow);
    for (int b = 0; b < s->nblock; b++) {
        const kki_block *block = &s->problem->block[b];
        it->lambda[block->row] += block->law == KKI_LAW_CONTACT ? block->adhesion : 0;
    }
    if (!s->problem->start) {
        kki_system_judge(s, it);
        return;
    }
    memset(it->u, 0, sizeof(double) * (size_t)s->stride);
    memcpy(it->u, s->problem->start, sizeof(double) * (size_t)s->nrow);
    it->residual = kki_system_residual(s, it->lambda, it->u);
}

void kki_system_store(const kki_system *s, const kki_iterate *it, double *lambda) {
    memcpy(lambda, it->lambda, sizeof(double) * (size_t)s->nrow);
    for (int b = 0; b < s->nblock; b++) {
        const kki_block *block = &s->problem->block[b];
        lambda[block->row] -= block->law == KKI_LAW_CONTACT ? block->adhesion : 0;
    }
    // no −0, which would come back as 0
    for (int i = 0; i < s->nrow; i++) {
        lambda[i] += 0.0;
    }
}
