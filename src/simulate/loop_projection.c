/// Closing loops and couplings at the end of a step, to rounding.
///
/// The position pass of a step works with the rows of its middle, which leaves errors of second order in the way moved.
/// Where there are loops or couplings, positions are therefore projected once more at the end: with rows and factor of
/// that configuration, the smallest change in the sense of M that takes the error away, twice or thrice until it is gone
/// (Newton's method; S0's closed links). What the velocity has along the same rows, of third order in the step, is taken away alike:
/// the mirror that loops see in a step (resolve.c) would otherwise keep it for ever.
#include <string.h>

#include "contact/dense_kernels.h"
#include "simulate/constraint.h"
#include "simulate/island.h"

enum { MOST_ROUNDS = 4 };

/// Errors below this are rounding, m or rad; those of which a round, whose error is that of a square, leaves only rounding; those that
/// are left for a later step; and those of which rows that have turned by a hundredth leave no more than that.
static const double CLOSED = 1e-13, SMALL = 1e-8, NARROW = 2e-10, LITTLE = 2e-8;
/// Speed along a loop's rows that is left, m/s or rad/s.
static const double STEADY = 1e-7;
/// Of a matrix' largest, on its diagonal; and shares of an error at which rounds end, and that may be left.
static const double TRACE = 1e-13, ROUNDING = 1e-8, ENOUGH = 1e-8;

static int is_held(const kk_model *m) {
    return m->nloop > 0 || m->ncoupling > 0;
}

/// The rows' errors as g; the largest.
static double errors(kk_simulator *s, const kki_island *I) {
    double worst = 0;
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        for (int r = 0; r < c->nrow; r++) {
            const double error = s->solution.compliance[c->row + r] == 0 ? c->gap[r] : 0;
            s->solution.g[c->row + r] = error;
            worst = __builtin_fabs(error) > worst ? __builtin_fabs(error) : worst;
        }
    }
    return worst;
}

/// The rows' velocities as g; the largest.
static double speeds(const kk_model *m, kk_simulator *s, const kki_island *I) {
    double *y = I->scratch->y_drift, worst = 0;
    kki_island_gather(m, s, I, s->kick.y, y);
    kki_rows_velocity(s, I, y, s->solution.g + I->first_row);
    for (int r = I->first_row; r < I->first_row + I->nrow; r++) {
        s->solution.g[r] = s->solution.compliance[r] == 0 ? s->solution.g[r] : 0;
        worst = __builtin_fabs(s->solution.g[r]) > worst ? __builtin_fabs(s->solution.g[r]) : worst;
    }
    return worst;
}

// ---- what takes g away

/// Rows that all hold need no ladder: a factor of G, with a trace on its diagonal where rows say the same twice, and rounds that win
/// back what the trace and rounding took.
typedef struct direct {
    int is_ready;
    double *inverse; ///< [stride] of the factor's diagonal; the factor stands in I->scratch->G
} direct;

/// Rows that dead or dependent ones were made of: nothing acts along them.
static int is_free(const kki_block *block) {
    return block->law == KKI_LAW_BOX && block->lower == 0 && block->upper == 0;
}

static int all_hold(const kk_simulator *s, const kki_island *I) {
    int hold = !I->is_sparse && !I->has_wrench_basis && I->nrow <= KKI_MOST_MATRIX_ROWS;
    for (int b = I->first_block; b < I->first_block + I->nblock && hold; b++) {
        hold = s->solution.block[b].law == KKI_LAW_EQUALITY || is_free(&s->solution.block[b]);
    }
    return hold;
}

/// Takes rows that are free out of a matrix, and out of g for good.
static void leave_out_free(kk_simulator *s, const kki_island *I) {
    for (int b = I->first_block; b < I->first_block + I->nblock; b++) {
        const int row = s->solution.block[b].row;
        for (int r = 0; r < I->nrow && is_free(&s->solution.block[b]); r++) {
            I->scratch->G[r * I->stride + row] = I->scratch->G[row * I->stride + r] = r == row;
        }
    }
}

static void forget_free(const kk_simulator *s, const kki_island *I, double *g) {
    for (int b = I->first_block; b < I->first_block + I->nblock; b++) {
        if (is_free(&s->solution.block[b])) {
            g[s->solution.block[b].row] = 0;
        }
    }
}

static direct factor(const kk_model *m, kk_simulator *s, kki_island *I) {
    direct d = {.inverse = s->solution.lambda2 + I->first_row};
    if (!all_hold(s, I)) {
        return d;
    }
    kki_rows_matrix(m, s, I);
    double most = 0;
    for (int r = 0; r < I->nrow; r++) {
        const double own = I->scratch->G[r * I->stride + r];
        most = own > most ? own : most;
    }
    for (int r = 0; r < I->nrow; r++) {
        I->scratch->G[r * I->stride + r] += s->solution.compliance[I->first_row + r] + TRACE * most;
    }
    leave_out_free(s, I);
    I->has_matrix = 0;
    d.is_ready = I->scratch->solver.kernels->ldl(I->nrow, I->nrow, I->stride, I->scratch->G, d.inverse);
    return d;
}

/// What is left of g once λ acts, into u; its largest. dy = Y λ on the way.
static double leftover(kk_simulator *s, const kki_island *I, const double *lambda, double *dy, double *u) {
    double worst = 0;
    memset(dy, 0, (size_t)I->nv * sizeof *dy);
    kki_rows_add(s, I, lambda, dy);
    kki_rows_velocity(s, I, dy, u);
    for (int r = 0; r < I->nrow; r++) {
        u[r] += s->solution.g[I->first_row + r] + s->solution.compliance[I->first_row + r] * lambda[r];
    }
    forget_free(s, I, u);
    for (int r = 0; r < I->nrow; r++) {
        worst = __builtin_fabs(u[r]) > worst ? __builtin_fabs(u[r]) : worst;
    }
    return worst;
}

/// True where nothing but rounding is left. @param size  of g
static int take_directly(kk_simulator *s, const kki_island *I, const direct *d, double size, double *dy) {
    const int at = I->first_row;
    double *lambda = s->solution.lambda + at, *u = s->solution.u + at, *step = s->solution.total + at,
           *y = s->solution.u2 + at;
    double left = size;
    memset(lambda, 0, (size_t)I->stride * sizeof *lambda);
    memset(u, 0, (size_t)I->stride * sizeof *u);
    memcpy(u, s->solution.g + at, (size_t)I->nrow * sizeof *u);
    forget_free(s, I, u);
    for (int round = 0; round < MOST_ROUNDS && left > ROUNDING * size; round++) {
        I->scratch->solver.kernels->ldl_solve(I->nrow, I->stride, I->scratch->G, d->inverse, u, y, step);
        for (int r = 0; r < I->nrow; r++) {
            lambda[r] -= step[r];
        }
        left = leftover(s, I, lambda, dy, u);
        memset(u + I->nrow, 0, (size_t)(I->stride - I->nrow) * sizeof *u);
    }
    return left <= ENOUGH * size;
}

/// By the ladder, for what is wide or partly free.
static int take_by_ladder(const kk_model *m, kk_simulator *s, kki_island *I, double *dy) {
    double *lambda = s->solution.lambda + I->first_row;
    kki_certificate proof;
    kki_solver_stats stats;
    const int wants_matrix = !I->is_sparse && I->nrow <= KKI_MOST_MATRIX_ROWS;
    if (wants_matrix) {
        kki_rows_matrix(m, s, I);
    }
    const kki_problem problem = kki_island_problem(s, I, wants_matrix);
    const kki_solver_options options = kki_island_solver_options(s, I);
    memset(lambda, 0, (size_t)I->stride * sizeof *lambda);
    if (kki_island_solve(s, I, &problem, &options, lambda, s->solution.u + I->first_row, &proof, &stats) != KK_OK) {
        return 0;
    }
    memset(dy, 0, (size_t)I->nv * sizeof *dy);
    kki_rows_add(s, I, lambda, dy);
    return 1;
}

/// Change of the island's positions or velocities that takes g away, in scaled coordinates. @param size  the largest of g
static int take_away(const kk_model *m, kk_simulator *s, kki_island *I, const direct *d, double size, double *change) {
    double *dy = I->scratch->y_end;
    if (!(d->is_ready && take_directly(s, I, d, size, dy)) && !take_by_ladder(m, s, I, dy)) {
        return 0;
    }
    kki_island_scatter(m, s, I, dy, change);
    return 1;
}

/// Changes of the island's positions, into y_drift, and velocities, into y_end.
static int project(const kk_model *m, kk_simulator *s, kki_island *I) {
    const kki_warm_layout w = s->warm_start.layout;
    kki_island_begin(m, s, I, &w, s->warm_start.value);
    const double gap = errors(s, I);
    if (gap <= CLOSED) {
        return 0;
    }
    kki_rows_build(m, s, I);
    if (!I->is_sparse && !I->has_wrench_basis && I->nrow <= KKI_MOST_MATRIX_ROWS) {
        kki_rows_matrix(m, s, I);
    }
    kki_island_free_dead_rows(s, I);
    if (gap > SMALL) {
        kki_island_free_dependent_rows(s, I);
    }
    const direct d = factor(m, s, I);
    if (!take_away(m, s, I, &d, gap, s->kick.y_drift)) {
        return 0;
    }
    const double speed = speeds(m, s, I);
    if (speed > STEADY) {
        take_away(m, s, I, &d, speed, s->kick.y_end);
    }
    return 1;
}

/// Errors that this step's loops may be left with. Where one says what others say, next to nothing: turned by a gap they would contradict each
/// other.
static double left_open(const kk_simulator *s) {
    int repeats = 0;
    for (int i = 0; i < s->islands.count; i++) {
        repeats |= s->islands.list[i].has_dependent_rows;
    }
    return repeats ? CLOSED : NARROW;
}

/// How far loops are open where the step has ended. Poses are all it takes, of the nodes between their ends against each other, and they are made beside the
/// middle's; couplings are seen in q alone.
static double widest(const kk_model *m, kk_simulator *s) {
    if (m->nloop > 0) {
        s->readout.view->kernels->kinematics_from(m, &s->readout.view->scratch, s->motion.q, m->loop_from);
    }
    return kki_widest_opening(m, s, s->readout.view);
}

// ---- small gaps: by the rows of the middle

/// Gaps of the step's end as g of the middle's rows.
static void end_gaps(const kk_model *m, kk_simulator *s, const kki_island *I) {
    memset(s->solution.g + I->first_row, 0, (size_t)I->stride * sizeof *s->solution.g);
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        double gap[KKI_MOST_ROWS] = {0};
        if (!kki_type_of(c)->gaps) {
            continue;
        }
        kki_type_of(c)->gaps(m, s, s->readout.view, c->item, gap);
        for (int r = 0; r < c->nrow; r++) {
            s->solution.g[c->row + r] = s->solution.compliance[c->row + r] == 0 ? gap[r] : 0;
        }
    }
}

/// What takes the island's gaps away, into y_drift. False where it has too many rows.
static int draw_island(const kk_model *m, kk_simulator *s, kki_island *I) {
    double *lambda = s->solution.lambda2 + I->first_row, *dy = I->scratch->y_end;
    if (I->is_sparse || I->has_wrench_basis || I->nrow > KKI_FEW_ROWS) {
        return 0;
    }
    end_gaps(m, s, I);
    I->factored = I->scratch->rows.is_lost ? 0 : I->factored;
    I->has_matrix = 0; // that of another island by now
    kki_rows_recall(m, s, I);
    if (!I->factored) {
        kki_rows_matrix(m, s, I);
    }
    const int drawn = kki_few_rows_drawn(s, I, lambda);
    I->has_matrix = 0;
    if (drawn) {
        memset(dy, 0, (size_t)I->nv * sizeof *dy);
        kki_rows_add(s, I, lambda, dy);
        kki_island_scatter(m, s, I, dy, s->kick.y_drift);
    }
    return drawn;
}

/// Whether what the step left is but of third order, and its middle still at hand.
static int may_draw(const kk_simulator *s, double gap, double least) {
    return gap > least && least == NARROW && gap <= LITTLE && !s->rk4.is_used && s->report.events == 0;
}

/// Small gaps e are closed by rows and factor of the step's middle, which have turned by less than h ω since: of e that share is left. The velocity along
/// the rows needs no look. A loop that comes to the middle with its gap φ and the velocity u₀, is held at −u₀ and drawn by −φ/(h/2) − u₀/2, ends at
///     e = h²/8 κ − h/4 u₀   with the velocity   h/2 κ − u₀ = 4/h e,   κ = J̇v behind the kick.
static int draw_shut(const kk_model *m, kk_simulator *s) {
    int drawn = 1;
    memset(s->kick.y_drift, 0, (size_t)m->nv * sizeof *s->kick.y_drift);
    for (int i = 0; i < s->islands.count && drawn; i++) {
        drawn = !s->islands.list[i].has_loops || draw_island(m, s, &s->islands.list[i]);
    }
    if (!drawn) {
        return 0;
    }
    s->data->kernels->kick_apply(m, &s->data->scratch, s->kick.y_drift, s->kick.dv);
    kk_integrate(m, s->motion.q, s->kick.dv, s->motion.q);
    for (int k = 0; k < m->nv; k++) {
        s->motion.v[k] += 4 / s->h * s->kick.dv[k];
    }
    return 1;
}

/// What a gap that has been drawn shut leaves at most: the share by which rows have turned since the middle of the step. Levers of a quarter of a meter are
/// what sliding joints turn them by.
static double rest_of(const kk_model *m, const kk_simulator *s, double gap) {
    double sum = 0;
    for (int k = 0; k < m->nv; k++) {
        sum += __builtin_fabs(s->motion.v[k]);
    }
    return 4 * s->h * sum * gap;
}

// ---- all others: by rows of the end

/// One round of Newton's method at an error of `gap`; true where another may be needed.
static int close_once(const kk_model *m, kk_simulator *s, double gap) {
    const size_t bytes = (size_t)m->nv * sizeof(double);
    memset(s->kick.dv, 0, bytes);
    memset(s->kick.y_drift, 0, bytes);
    kki_settle_energies(s);
    s->readout.seen.has = 0;
    kki_settle_outside(s);
    memset(s->kick.y_end, 0, bytes);
    s->contacts.count = 0;
    s->data->kernels->kick_prepare(m, &s->data->scratch, s->motion.q, s->motion.v, s->motion.v);
    kki_constrain_loops(m, s);
    if (kki_find_islands(m, s, NULL) != KK_OK) {
        return 0;
    }
    s->data->kernels->kick_factor(m, &s->data->scratch, m->dof_armature, s->kick.dv, s->motion.v, s->kick.E, s->kick.y);
    int changed = 0;
    for (int i = 0; i < s->islands.count; i++) {
        changed |= project(m, s, &s->islands.list[i]);
    }
    if (changed) {
        s->data->kernels->kick_apply(m, &s->data->scratch, s->kick.y_drift, s->kick.dv);
        kk_integrate(m, s->motion.q, s->kick.dv, s->motion.q);
        s->data->kernels->kick_apply(m, &s->data->scratch, s->kick.y_end, s->kick.dv);
        for (int k = 0; k < m->nv; k++) {
            s->motion.v[k] += s->kick.dv[k];
        }
    }
    return changed && gap > SMALL;
}

static void copy_motion(const kk_model *m, const double *q, const double *v, double *q_to, double *v_to) {
    memcpy(q_to, q, (size_t)m->nq * sizeof *q);
    memcpy(v_to, v, (size_t)m->nv * sizeof *v);
}

void kki_close_loops(const kk_model *model, kk_simulator *s) {
    if (!is_held(model)) {
        return;
    }
    const int contacts = s->contacts.count, constraints = s->constraints.count, islands = s->islands.count;
    double least = left_open(s), gap = widest(model, s);
    if (may_draw(s, gap, least) && draw_shut(model, s)) {
        const double rest = rest_of(model, s, gap);
        gap = rest <= least ? rest : widest(model, s);
    }
    double best = __builtin_inf();
    for (int round = 0; round < MOST_ROUNDS && gap > least; round++) {
        if (gap < best) {
            copy_motion(model, s->motion.q, s->motion.v, s->projection.q, s->projection.v);
            best = gap;
        }
        if (!close_once(model, s, gap)) {
            best = __builtin_inf(); // it was small
            break;
        }
        least = CLOSED;
        gap = widest(model, s);
    }
    if (gap > best) { // loops that cannot be closed are not thrown about
        copy_motion(model, s->projection.q, s->projection.v, s->motion.q, s->motion.v);
    }
    s->contacts.count = contacts;
    s->constraints.count = constraints;
    s->islands.count = islands;
}
