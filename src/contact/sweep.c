/// Block Gauss-Seidel, each block's law solved exactly with the others held (S0 with the true cone instead of a pyramid).
///
/// References: Jourdan, Alart, Jean (1998); Nakaoka, Hattori, Kanehiro, Kajita, Hirukawa, Constraint-based dynamics simulator for
/// humanoid robots with shock absorbing mechanisms (2007).
#include "contact/cones.h"
#include "contact/one_contact.h"
#include "contact/scratch.h"

/// u += G (change of the block's impulses).
static void spread(const kki_system *s, const kki_block *block, const double *change, double *u) {
    const int n = kki_law_rows(block->law);
    for (int k = 0; k < n; k++) {
        u[block->row + k] += s->shift[block->row + k] * change[k];
    }
    for (int k = 0; !s->low_rank && k < n; k++) {
        s->kernels->add(s->stride, change[k], s->G + (block->row + k) * s->stride, u);
    }
    for (int t = 0; s->low_rank && t < s->problem->nv; t++) {
        double f = 0;
        for (int k = 0; k < n; k++) {
            f += s->columns[(block->row + k) * s->width + t] * change[k];
        }
        if (f != 0) {
            s->kernels->add(s->stride, f, s->Y + t * s->stride, u);
        }
    }
}

static void solve_contact(const double *B, double friction, const double *l, const double *u, double *x) {
    const double b[3] = {u[0] - B[0] * l[0] - B[1] * l[1] - B[2] * l[2], u[1] - B[1] * l[0] - B[3] * l[1] - B[4] * l[2],
                         u[2] - B[2] * l[0] - B[4] * l[1] - B[5] * l[2]};
    kki_solve_contact(B, b, friction, x);
}

static void solve_rolling(const double *B, double radius, const double *l, const double *u, double *x) {
    const double b[2] = {u[0] - B[0] * l[0] - B[1] * l[1], u[1] - B[1] * l[0] - B[2] * l[1]};
    kki_solve_disc(B, b, radius, x);
}

/// The block's impulses with all others held.
static void solve_block(const kki_system *s, int index, const double *lambda, const double *u, double *x) {
    const kki_block *block = &s->problem->block[index];
    const double *B = s->own + 6 * index, *l = lambda + block->row, *v = u + block->row;
    const bool rides = block->law == KKI_LAW_TORSION || block->law == KKI_LAW_ROLLING;
    const double normal = rides ? lambda[s->problem->block[block->contact].row] : 0;
    if (block->law == KKI_LAW_CONTACT) {
        solve_contact(B, block->friction, l, v, x);
    } else if (block->law == KKI_LAW_ROLLING) {
        solve_rolling(B, block->friction * normal, l, v, x);
    } else {
        x[0] = l[0] - (B[0] > 0 ? v[0] / B[0] : 0);
        kki_project_block(block, 1, normal, x);
    }
}

void kki_sweep(const kki_system *s, double *lambda, double *u) {
    for (int b = 0; b < s->nblock; b++) {
        const kki_block *block = &s->problem->block[b];
        double *l = lambda + block->row, x[3], change[3];
        solve_block(s, b, lambda, u, x);
        bool moved = false;
        for (int k = 0; k < kki_law_rows(block->law); k++) {
            change[k] = x[k] - l[k];
            moved = moved || change[k] != 0;
            l[k] = x[k];
        }
        if (moved) {
            spread(s, block, change, u);
        }
    }
}

void kki_sweeps(const kki_system *s, kki_iterate *it, int limit, double patience, kki_solver_stats *stats) {
    for (int k = 0; k < limit && it->residual > s->floor; k++) {
        const double before = it->residual;
        kki_sweep(s, it->lambda, it->u);
        stats->sweeps++;
        it->residual = kki_system_residual(s, it->lambda, it->u);
        if (!(it->residual <= patience * before)) {
            break;
        }
    }
    // u has been summed up change by change
    kki_system_judge(s, it);
}
