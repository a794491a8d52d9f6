/// What rests, rests: velocities that are nothing but rounding become zero.
///
/// An island at rest answers y_free = y + h E, the motion that gravity would give it, by impulses with y_free + Y λ = 0. In doubles that sum is
/// off by its own rounding,
///     |fl(y_free + Y λ) − (y_free + Y λ)| ≤ γ (|y_free| + |Y| |λ|),    γ = n ε/2 for n terms (Higham, Accuracy and Stability, 3.5),
/// coordinate by coordinate. Where all of an island's coordinates are within twice that, zero is as true as what was computed, and is taken. A
/// λ that is accurate to fewer digits leaves a trace of a wrong force, by which bodies gain speed until they are solved again; from exact rest, and
/// behind every solution that leaves next to no motion, it is therefore refined,
///     Y Δλ = −y_end    over what is held inside its bounds.
/// Afterwards the island is a fixed point of the step: its state does not change by a bit.
#include <string.h>

#include "contact/cones.h"
#include "contact/dense_kernels.h"
#include "contact/sparse_scratch.h"
#include "simulate/drift.h"
#include "simulate/island.h"

/// Motion, as a share of what forces would give, that may be nothing but rounding; and that refinement may make so.
static const double TRACE = 1e-10, NEARLY_NONE = 1e-7;
/// Half an ulp, with a factor of two for λ itself, which is rounded on its way through the state.
static const double ROUNDING = 0x1p-52;
/// Share of the motion that one refinement leaves.
static const double GAIN = 1e-4;
/// Impulses, as a share of the largest, and what friction has left, as a share of its bound, that refinement does not touch.
static const double WEAK = 1e-9;
/// Residual, in tolerances, of what refinement may lead to.
static const double LEAST = 1e-3;

/// Size of each row's impulse: of a contact's three the largest, because they are rounded as one force.
static void sizes_of(const kk_simulator *s, const kki_island *I, double *size) {
    const double *lambda = s->solution.lambda + I->first_row;
    memset(size, 0, (size_t)I->stride * sizeof *size);
    for (int b = 0; b < I->nblock; b++) {
        const kki_block *block = &s->solution.block[I->first_block + b];
        const int n = kki_law_rows(block->law);
        const double most = kki_largest(n, lambda + block->row);
        for (int k = 0; k < n; k++) {
            size[block->row + k] = most;
        }
    }
}

/// Of coordinates first … end − 1 alone, here and below.
static void add_wide_bounds(const kk_simulator *s, const kki_island *I, const double *size, int first, int end,
                            double *bound, double *terms) {
    const kki_sparse_rows *w = &I->scratch->sparse;
    const kki_sparse_problem wide = kki_sparse_rows_problem(s, I);
    w->solver.kernels->sizes(&wide, size, first, end, bound, terms);
    for (int body = 0; body < I->ntree; body++) {
        for (int k = w->first[body] + 1; k < w->first[body + 1] && k > first && k < end; k++) {
            terms[k] = terms[w->first[body]];
        }
    }
}

static void add_bounds(const kki_island *I, const double *size, int first, int end, double *bound, double *terms) {
    for (int k = first; k < end; k++) {
        const double *Y = I->scratch->Y + (size_t)k * (size_t)I->stride;
        const int from = 4 * I->scratch->span[2 * k], to = 4 * I->scratch->span[2 * k + 1];
        double sum[4] = {0, 0, 0, 0};
        for (int r = from; r < to; r += 4) {
            for (int j = 0; j < 4; j++) {
                sum[j] += __builtin_fabs(Y[r + j]) * size[r + j];
            }
        }
        bound[k] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
        terms[k] += to - from;
    }
}

/// |y_free| + |Y| |λ| times γ. @param bound [nv] result    @param terms [nv] scratch
static void find_bounds(const kk_simulator *s, const kki_island *I, const double *size, const double *y_free, int first,
                        int end, double *bound, double *terms) {
    for (int k = first; k < end; k++) {
        bound[k] = __builtin_fabs(y_free[k]);
        terms[k] = 1;
    }
    if (I->is_sparse) {
        add_wide_bounds(s, I, size, first, end, bound, terms);
    } else {
        add_bounds(I, size, first, end, bound, terms);
    }
    for (int k = first; k < end; k++) {
        bound[k] *= ROUNDING * terms[k];
    }
}

static int is_rounding(const double *y, const double *bound, int first, int end) {
    int all = 1;
    for (int k = first; k < end && all; k++) {
        all = __builtin_fabs(y[k]) <= bound[k];
    }
    return all;
}

/// Coordinates of the tree, or the one of a few, that moves fastest.
static void find_fastest(const kki_island *I, const double *y_end, int *first, int *end) {
    const double most = kki_largest(I->nv, y_end);
    int fastest = 0;
    while (fastest + 1 < I->nv && __builtin_fabs(y_end[fastest]) < most) {
        fastest++;
    }
    *first = fastest;
    *end = fastest + 1;
    for (int body = 0; I->is_sparse && body < I->ntree; body++) {
        if (I->scratch->sparse.first[body] <= fastest && fastest < I->scratch->sparse.first[body + 1]) {
            *first = I->scratch->sparse.first[body];
            *end = I->scratch->sparse.first[body + 1];
        }
    }
}

/// Whether all of y_end is rounding. What moves fastest is asked first: mostly that is enough to say no.
static int is_rest(const kk_simulator *s, const kki_island *I, const double *y_free, const double *y_end) {
    double *size = s->solution.lambda2 + I->first_row, *bound = I->scratch->change, *terms = I->scratch->sum;
    int first, end;
    sizes_of(s, I, size);
    find_fastest(I, y_end, &first, &end);
    find_bounds(s, I, size, y_free, first, end, bound, terms);
    if (!is_rounding(y_end, bound, first, end)) {
        return 0;
    }
    find_bounds(s, I, size, y_free, 0, I->nv, bound, terms);
    return is_rounding(y_end, bound, 0, I->nv);
}

// ---- refinement

/// Rows that are held well inside their bounds, as 1 and 0. @param held [stride] result
static void find_held(const kk_simulator *s, const kki_island *I, double *held) {
    const kki_block *blocks = s->solution.block + I->first_block;
    const double least = WEAK * kki_largest(I->nrow, s->solution.lambda + I->first_row), inside = 1 - WEAK;
    memset(held, 0, (size_t)I->stride * sizeof *held);
    for (int b = 0; b < I->nblock; b++) {
        const kki_block *block = &blocks[b];
        const double *l = s->solution.lambda + I->first_row + block->row;
        const int rides = block->law == KKI_LAW_TORSION || block->law == KKI_LAW_ROLLING;
        const double normal = rides ? s->solution.lambda[I->first_row + blocks[block->contact].row] : l[0];
        const double most = inside * block->friction * normal;
        int is_held = block->law == KKI_LAW_EQUALITY;
        switch (block->law) {
        case KKI_LAW_CONTACT: is_held = normal > least && l[1] * l[1] + l[2] * l[2] < most * most; break;
        case KKI_LAW_LIMIT: is_held = l[0] > least; break;
        case KKI_LAW_BOX: is_held = l[0] > block->lower + least && l[0] < block->upper - least; break;
        case KKI_LAW_TORSION: is_held = normal > least && __builtin_fabs(l[0]) < most; break;
        case KKI_LAW_ROLLING: is_held = normal > least && l[0] * l[0] + l[1] * l[1] < most * most; break;
        default: break;
        }
        for (int k = 0; k < kki_law_rows(block->law); k++) {
            held[block->row + k] = is_held;
        }
    }
}

/// The smallest Δλ with Y Δλ = −y_end, by conjugate gradients (Craig's method): few enough rows that a factor would not be worth its code.
static void refine_by_gradients(kk_simulator *s, const kki_island *I, const double *held, const double *y_end) {
    double *r = I->scratch->change, *p = I->scratch->sum, *q = I->scratch->product;
    double *w = s->solution.lambda2 + I->first_row, *lambda = s->solution.lambda + I->first_row;
    for (int k = 0; k < I->nv; k++) {
        r[k] = p[k] = -y_end[k];
    }
    double square = kki_sparse_dot(I->nv, r, r);
    const double enough = square * GAIN * GAIN;
    for (int step = 0; step < 2 * I->nv && square > enough; step++) {
        kki_rows_velocity(s, I, p, w);
        for (int i = 0; i < I->stride; i++) {
            w[i] *= held[i];
        }
        const double size = kki_sparse_dot(I->nrow, w, w), alpha = square / size;
        if (!(size > 0)) {
            return; // what is left no held row moves
        }
        for (int i = 0; i < I->nrow; i++) {
            lambda[i] += alpha * w[i];
        }
        memset(q, 0, (size_t)I->nv * sizeof *q);
        kki_rows_add(s, I, w, q);
        for (int k = 0; k < I->nv; k++) {
            r[k] -= alpha * q[k];
        }
        const double next = kki_sparse_dot(I->nv, r, r), beta = next / square;
        for (int k = 0; k < I->nv; k++) {
            p[k] = r[k] + beta * p[k];
        }
        square = next;
    }
}

static void prove(kk_simulator *s, const kki_island *I, kki_certificate *proof) {
    double *lambda = s->solution.lambda + I->first_row, *u = s->solution.u + I->first_row;
    if (I->is_sparse) {
        const kki_sparse_problem wide = kki_sparse_rows_problem(s, I);
        I->scratch->sparse.solver.kernels->certify(&wide, lambda, I->scratch->product, u, proof);
    } else {
        const kki_problem problem = kki_island_problem(s, I, 0);
        I->scratch->solver.kernels->certify(&problem, lambda, u, proof);
    }
}

static void find_end(kk_simulator *s, const kki_island *I, const double *y_free, double *y_end) {
    memcpy(y_end, y_free, (size_t)I->nv * sizeof *y_end);
    kki_rows_add(s, I, s->solution.lambda + I->first_row, y_end);
}

/// One refinement. @param held  what find_held says; a factor has been made of it where the island is wide
static void refine_once(kk_simulator *s, const kki_island *I, const double *held, const double *y_free, double *y_end) {
    if (I->is_sparse) {
        const kki_sparse_problem wide = kki_sparse_rows_problem(s, I);
        kki_sparse_refine(&wide, &I->scratch->sparse.solver, held, y_end, s->solution.lambda + I->first_row);
    } else {
        refine_by_gradients(s, I, held, y_end);
    }
    find_end(s, I, y_free, y_end);
}

/// Refines λ until what it leaves is rounding; then u and the proof are those of it, too. Otherwise all stays as it was.
static int refine(const kk_model *m, kk_simulator *s, const kki_island *I, const double *y_free, double *y_end) {
    enum { ROUNDS = 3 };
    double *lambda = s->solution.lambda + I->first_row, *before = s->solution.total + I->first_row,
           *held = s->solution.u2 + I->first_row;
    const size_t bytes = (size_t)I->stride * sizeof *lambda;
    const kki_solver_stats none = {.solved = true};
    find_held(s, I, held);
    if (I->is_sparse) {
        const kki_sparse_problem wide = kki_sparse_rows_problem(s, I);
        I->report->factorizations++;
        if (!kki_sparse_refine_begin(&wide, &I->scratch->sparse.solver, held)) {
            return 0;
        }
    }
    memcpy(before, lambda, bytes);
    int rests = 0;
    for (int round = 0; round < ROUNDS && !rests; round++) {
        refine_once(s, I, held, y_free, y_end);
        rests = is_rest(s, I, y_free, y_end);
    }
    kki_certificate proof = {.residual = __builtin_inf()};
    if (rests) {
        prove(s, I, &proof);
    }
    if (!(proof.residual <= LEAST * s->options.tolerance)) {
        memcpy(lambda, before, bytes);
        find_end(s, I, y_free, y_end);
        if (rests) {
            prove(s, I, &proof); // u of the old λ
        }
        rests = 0;
    }
    if (rests) {
        kki_island_note(m, s, I, &proof, &none);
    }
    return rests;
}

// ---- the whole

/// What has several answers, bounces, gives way or is drawn is left alone.
static int can_rest(const kk_simulator *s, const kki_island *I) {
    int can = !I->has_wrench_basis && !I->is_soft && !I->has_restitution && !I->has_drive && !I->has_pivots &&
              s->effort.sweeps == 0;
    for (int b = 0; b < I->nblock && can; b++) {
        can = s->solution.block[I->first_block + b].adhesion == 0;
    }
    return can;
}

/// Whether any of n numbers is larger than `least`, as the first ones mostly are.
static int moves(int n, const double *y, double least) {
    int still = 1;
    for (int k = 0; k < n && still; k++) {
        still = __builtin_fabs(y[k]) <= least;
    }
    return !still;
}

/// Whether λ is worth its last digits: what starts at rest, or was solved for a trace of motion, may stay at rest then. What will be moved out of
/// each other poses another problem in the next step. @param y  at the step's start
static int may_refine(const kk_simulator *s, const kki_island *I, int is_near, const double *y) {
    const size_t bytes = (size_t)I->nrow * sizeof *y;
    const int is_solved = memcmp(s->solution.kept + I->first_row, s->solution.lambda + I->first_row, bytes) != 0;
    return (is_solved || kki_is_zero(y, I->nv)) && (is_near || !kki_island_overlaps(s, I));
}

int kki_island_rests(const kk_model *m, kk_simulator *s, const kki_island *I, int is_near, const double *y,
                     const double *y_free, double *y_end) {
    const double all = kki_largest(I->nv, y_free);
    if (moves(I->nv, y_end, NEARLY_NONE * all) || !can_rest(s, I)) {
        return 0;
    }
    kki_rows_spans(I);
    const double motion = kki_largest(I->nv, y_end);
    const int rests = (motion <= TRACE * all && is_rest(s, I, y_free, y_end)) ||
                      (may_refine(s, I, is_near, y) && refine(m, s, I, y_free, y_end));
    if (rests) {
        memset(y_end, 0, (size_t)I->nv * sizeof *y_end);
    }
    return rests;
}
