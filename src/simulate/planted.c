/// Many points that all hold, as under the feet of what stands: no search is needed.
///
/// Points that bore well inside their cones in the last step are taken to hold in this one, those that bore nothing to stay open. What holds ends at rest,
/// Yᵀ z = 0 with z = z_free + Y λ, and the smallest change of λ that makes it so is
///     Δλ = −Yᵀ t,    (ε + Y Yᵀ) t = z    over the rows that hold,
/// one system of the island's few coordinates. ε is rounding: it keeps coordinates that no row moves. The certificate says whether the result is a solution.
#include <string.h>

#include "contact/dense_kernels.h"
#include "simulate/island.h"

/// ε as a share of the trace of Y Yᵀ; rounds against it and against rounding.
static const double LEAST = 1e-14;
enum { MOST_ROUNDS = 3 };
/// Share of its bound that friction keeps clear of, and that of the tolerance the result may be off by; else the search looks.
static const double CLEAR = 1e-9, GOOD = 1e-3;

/// Rows that hold, as 1 and 0. False where something slides, is no contact, or is to move on its own.
static int find_planted(const kk_simulator *s, const kki_island *I, double *held) {
    int any = 0;
    for (int b = 0; b < I->nblock; b++) {
        const kki_block *block = &s->solution.block[I->first_block + b];
        const double *l = s->solution.lambda + I->first_row + block->row,
                     *bias = s->solution.bias + I->first_row + block->row;
        const double rim = (1 - CLEAR) * block->friction * l[0];
        const int holds = l[0] > 0 && l[1] * l[1] + l[2] * l[2] < rim * rim;
        if (block->law != KKI_LAW_CONTACT || block->adhesion != 0 || (!holds && l[0] != 0) ||
            (holds && (bias[0] != 0 || bias[1] != 0 || bias[2] != 0))) {
            return 0;
        }
        held[block->row] = held[block->row + 1] = held[block->row + 2] = holds;
        any |= holds;
    }
    memset(held + I->nrow, 0, (size_t)(I->stride - I->nrow) * sizeof *held);
    return any;
}

static double trace_of(const kki_island *I) {
    double sum = 0;
    for (int k = 0; k < I->nv; k++) {
        const int first = 4 * I->scratch->span[2 * k], count = 4 * I->scratch->span[2 * k + 1] - first;
        const double *y = I->scratch->Y + (size_t)k * (size_t)I->stride + first;
        sum += I->scratch->solver.kernels->dot(count, y, y);
    }
    return sum;
}

/// λ at which what holds is at rest. False where there is none to be had.
/// @param z  z_free + Y λ, result    @param floor  speed of rows that is enough
static int plant(kk_simulator *s, const kki_island *I, double *weight, double floor, const double *y_free,
                 double *lambda, double *z) {
    const kki_dense_kernels *kernels = I->scratch->solver.kernels;
    const int width = kki_round4(I->nv);
    double *right = I->scratch->change, *y = I->scratch->sum, *t = I->scratch->product,
           *change = s->solution.total + I->first_row;
    const double trace = trace_of(I), f = 1 / (LEAST * trace), enough = floor / kk_sqrt(trace);
    _Alignas(32) double inverse[KKI_WRENCH_DOFS];
    for (int r = 0; r < I->stride; r++) {
        weight[r] *= f;
    }
    kernels->weigh(I->nv, I->stride, I->scratch->span, I->scratch->Y, weight, width, change, I->scratch->A);
    if (!kernels->ldl(I->nv, I->nv, width, I->scratch->A, inverse)) {
        return 0;
    }
    double last = __builtin_inf();
    for (int round = 0;; round++) {
        memcpy(z, y_free, (size_t)I->nv * sizeof *z);
        kki_rows_add(s, I, lambda, z);
        const double size = kki_largest(I->nv, z);
        if (size <= enough || round == MOST_ROUNDS || !(size < 0.5 * last)) {
            return 1;
        }
        last = size;
        memcpy(right, z, (size_t)I->nv * sizeof *z);
        memset(right + I->nv, 0, (size_t)(width - I->nv) * sizeof *z);
        kernels->ldl_solve(I->nv, width, I->scratch->A, inverse, right, y, t);
        kki_rows_velocity(s, I, t, change);
        for (int r = 0; r < I->nrow; r++) {
            lambda[r] -= weight[r] * change[r];
        }
    }
}

int kki_planted_solved(const kk_model *m, kk_simulator *s, const kki_island *I, const double *y_free, double *y_end) {
    double *lambda = s->solution.lambda2 + I->first_row, *u = s->solution.u2 + I->first_row,
           *weight = s->solution.gain + I->first_row;
    if (!I->has_wrench_basis || I->is_soft || s->effort.sweeps > 0 || !find_planted(s, I, weight)) {
        return 0;
    }
    const kki_solver_options options = kki_island_solver_options(s, I);
    memcpy(lambda, s->solution.lambda + I->first_row, (size_t)I->stride * sizeof *lambda);
    if (!plant(s, I, weight, options.floor, y_free, lambda, y_end)) {
        return 0;
    }
    const kki_problem problem = kki_island_problem(s, I, 0);
    const kki_solver_stats stats = {.newton = 1, .factorizations = 1, .solved = true};
    kki_certificate proof;
    I->scratch->solver.kernels->certify(&problem, lambda, u, &proof);
    if (!(proof.residual <= GOOD * options.tolerance)) {
        return 0;
    }
    memcpy(s->solution.lambda + I->first_row, lambda, (size_t)I->stride * sizeof *lambda);
    memcpy(s->solution.u + I->first_row, u, (size_t)I->nrow * sizeof *u);
    kki_island_note(m, s, I, &proof, &stats);
    return 1;
}
