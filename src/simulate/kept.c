/// Islands in which all goes on as it did, as under a robot that shifts its weight or slides along: no ladder is needed.
///
/// What held in the last step, inside its cone or between its bounds, is taken to hold in this one; what was open or at a bound to stay there; and contacts that
/// slid to slide on. Rows that hold are eliminated,
///     (G + ε) Δλ = −u    over them,
/// and leave to the few that slide a small problem, u = S λ + …, S the Schur complement: u·n = 0 and u ∥ −d, with λ = λn (n + μ d), by Newton's method in λn and the
/// turn of d. ε makes rows that say together what others say (four corners of a sole) regular; rounds take it out again. The certificate says whether the
/// result is a solution.
///
/// Where it is none and a robot moves, something has landed, slipped or come to rest. A few sweeps (contact/glance.h) show what, and the modes they end in are tried
/// likewise, a few times; what is left then is the ladder's, which begins where they ended.
#include <string.h>

#include "contact/cones.h"
#include "contact/dense_kernels.h"
#include "contact/question.h"
#include "contact/slides.h"
#include "simulate/island.h"

/// Rows: of one contact alone the ladder makes as short work.
enum { LEAST_ROWS = 4, MOST_ROWS = 64, MOST_ROUNDS = 3 };
/// ε as a share of the diagonal; and where sweeps have found the modes, which may hold rows that contradict each other.
static const double SHIFT = 1e-10, REVISED_SHIFT = 1e-7;
/// Share of its bound that friction keeps clear of; what the result may be off by, as a share of the tolerance or in floors (which the ladder would leave so): else it looks.
static const double CLEAR = 1e-9, GOOD = 1e-3, REST = 5;
/// Modes tried behind sweeps, and sweeps before each.
enum { MOST_REVISIONS = 2, SWEEPS = 10 };
/// Impulses of modes that were none are where the next sweeps begin, unless they are so many times as large as before. And so many times what is left of
/// velocities may be off the laws before the modes are not worth another round.
static const double LEAP = 10, BROKEN = 1e3;

enum { ROOM = MOST_ROWS + 4 };
typedef struct kept {
    int n;
    int32_t row[ROOM]; ///< rows that hold, whole vectors of them, and those of what slides behind them
    int nheld, first, stride;
    uint64_t modes;                     ///< all blocks' in one number
    int8_t mode[MOST_ROWS];             ///< each block's
    double shift;                       ///< ε
    int32_t slide_row[KKI_MOST_SLIDES]; ///< their normals
    kki_slides slides;
    _Alignas(32) double b[ROOM], x[ROOM], y[ROOM], inverse[ROOM];
} kept;

enum { HOLDS, STAYS, SLIDES, GLIDES, UNKNOWN };

/// A number between bounds, or at one.
static int mode_between(double lower, double upper, double l) {
    return l > lower && l < upper ? HOLDS : l == lower || l == upper ? STAYS : UNKNOWN;
}

static int mode_of_contact(const kki_block *block, const double *l) {
    const double rim = block->friction * l[0], least = (1 - CLEAR) * rim, t2 = l[1] * l[1] + l[2] * l[2];
    if (block->adhesion != 0 || !(l[0] > 0)) {
        return block->adhesion == 0 && l[0] == 0 && t2 == 0 ? STAYS : UNKNOWN;
    }
    if (block->friction == 0) {
        return t2 == 0 ? GLIDES : UNKNOWN;
    }
    return t2 < least * least ? HOLDS : rim > 0 && t2 < 4 * rim * rim ? SLIDES : UNKNOWN;
}

/// What a block did, by what it bore. @param lambda  of the island
static int mode_of(const kki_block *all, const kki_block *block, const double *lambda) {
    const double *l = lambda + block->row;
    switch (block->law) {
    case KKI_LAW_EQUALITY: return HOLDS;
    case KKI_LAW_CONTACT: return mode_of_contact(block, l);
    case KKI_LAW_LIMIT: return mode_between(0, __builtin_inf(), *l);
    case KKI_LAW_BOX: return mode_between(block->lower, block->upper, *l);
    case KKI_LAW_TORSION: {
        const double bound = (1 - CLEAR) * block->friction * lambda[all[block->contact].row];
        return *l > -bound && *l < bound ? HOLDS : bound == 0 && *l == 0 ? STAYS : UNKNOWN;
    }
    default: return UNKNOWN;
    }
}

static void list_sliding(kept *x, const kki_block *block, const double *l) {
    kki_slides *y = &x->slides;
    const double size = kki_norm2(l[1], l[2]);
    const int c = y->n++;
    x->slide_row[c] = block->row;
    y->friction[c] = block->friction;
    y->normal[c] = l[0];
    y->d[0][c] = l[1] / size;
    y->d[1][c] = l[2] / size;
}

static void read_modes(const kk_simulator *s, const kki_island *I, const double *lambda, kept *x) {
    const kki_block *all = s->block + I->first_block;
    x->modes = 0;
    for (int b = 0; b < I->nblock; b++) {
        const int mode = mode_of(all, &all[b], lambda);
        x->mode[b] = (int8_t)mode;
        x->modes = 5 * x->modes + (uint64_t)mode;
    }
}

/// Rows that hold, and contacts that slide. False where there are none, or nobody knows.
static int list_rows(const kk_simulator *s, const kki_island *I, const double *lambda, kept *x) {
    const kki_block *all = s->block + I->first_block;
    x->n = x->slides.n = 0;
    read_modes(s, I, lambda, x);
    for (int b = 0; b < I->nblock; b++) {
        const int mode = x->mode[b];
        const int count =
            mode == HOLDS ? kki_law_rows(all[b].law) : mode == GLIDES; // without friction the normal alone
        if (mode == UNKNOWN || (mode == SLIDES && x->slides.n == KKI_MOST_SLIDES)) {
            return 0;
        }
        for (int k = 0; k < count; k++) {
            x->row[x->n++] = all[b].row + k;
        }
        if (mode == SLIDES) {
            list_sliding(x, &all[b], lambda + all[b].row);
        }
    }
    x->nheld = x->n;
    x->first = x->slides.n > 0 ? kki_round4(x->n) : x->n;
    while (x->n < x->first) {
        x->row[x->n++] = 0;
    }
    for (int c = 0; c < x->slides.n; c++) {
        for (int k = 0; k < 3; k++) {
            x->row[x->n++] = x->slide_row[c] + k;
        }
    }
    x->stride = kki_round4(x->n);
    return x->n > 0;
}

/// What two contacts do to each other, or one to itself, out of the upper triangle: nine numbers, each to the lane of either.
static void put_block(const double *from, int stride, int a, int b, kki_slides *y) {
    double(*const to_a)[3][KKI_MOST_SLIDES] = y->S + 3 * b, (*const to_b)[3][KKI_MOST_SLIDES] = y->S + 3 * a;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double own = i <= j ? from[i * stride + j] : from[j * stride + i];
            to_a[j][i][a] = to_b[i][j][b] = b > a ? from[i * stride + j] : own;
        }
    }
}

/// S of what slides, lane by lane.
static void fill_slides(const kk_simulator *s, const kki_island *I, kept *x) {
    kki_slides *y = &x->slides;
    const int lanes = kki_slide_lanes(y->n), first = y->n & ~3;
    for (int k = 0; k < 9 * y->n && lanes > y->n; k++) { // lanes without one
        memset(y->S[0][0] + k * KKI_MOST_SLIDES + first, 0, (size_t)(lanes - first) * sizeof(double));
    }
    for (int a = 0; a < y->n; a++) {
        const double *row = s->A + (x->first + 3 * a) * x->stride + x->first;
        for (int b = a; b < y->n; b++) {
            put_block(row + 3 * b, x->stride, a, b, y);
        }
    }
    for (int a = 0; a < lanes; a++) {
        const int there = a < y->n;
        y->shift[a] = there ? x->shift * s->G[(size_t)x->slide_row[a] * (size_t)(I->stride + 1)] : 0;
        y->d[0][a] = there ? y->d[0][a] : 1;
        y->d[1][a] = there ? y->d[1][a] : 0;
        y->friction[a] = there ? y->friction[a] : 1;
        y->normal[a] = there ? y->normal[a] : 1;
    }
}

/// A = G + ε of the rows that hold, and its factor; S of what slides.
static int factor(kk_simulator *s, kki_island *I, kept *x) {
    const kki_dense_kernels *kernels = s->solver.kernels;
    I->factored = I->factor == s->A ? 0 : I->factored;
    kernels->pick(x->n, x->nheld, x->first, x->stride, x->row, s->G, I->stride, s->A);
    for (int i = 0; i < x->nheld; i++) {
        s->A[i * (x->stride + 1)] *= 1 + x->shift;
    }
    if (!kernels->ldl(x->first, x->n, x->stride, s->A, x->inverse)) {
        return 0;
    }
    fill_slides(s, I, x);
    return 1;
}

// ---- what slides

/// λ of what slides, or lets go; what that changes, behind those that hold in x->x. False where there is no such λ.
static int slide(const kk_simulator *s, kept *x, double floor, double *lambda) {
    kki_slides *y = &x->slides;
    const int lanes = kki_slide_lanes(y->n);
    for (int a = 0; a < lanes; a++) {
        for (int i = 0; i < 3; i++) {
            y->u[i][a] = a < y->n ? -x->b[x->first + 3 * a + i] : 0;
        }
    }
    if (y->n > 0 && !s->solver.kernels->slide(y, floor)) {
        return 0;
    }
    for (int c = 0; c < y->n; c++) {
        const double bound = y->friction[c] * y->normal[c];
        const double now[3] = {y->normal[c], bound * y->d[0][c], bound * y->d[1][c]};
        for (int k = 0; k < 3; k++) {
            x->x[x->first + 3 * c + k] = now[k] - lambda[x->slide_row[c] + k];
            lambda[x->slide_row[c] + k] = now[k];
        }
    }
    return 1;
}

// ---- all of it

/// The right side −u of the listed rows; the fastest of what holds.
static double right_side(kept *x, const double *u) {
    int i = 0;
    for (; i < x->nheld; i++) {
        x->b[i] = -u[x->row[i]];
    }
    for (; i < x->first; i++) {
        x->b[i] = 0;
    }
    for (; i < x->n; i++) {
        x->b[i] = -u[x->row[i]];
    }
    for (; i < x->stride; i++) {
        x->b[i] = 0;
    }
    return kki_largest(x->nheld, x->b);
}

/// What is off: of what holds, and of what slides.
static double off_by(kept *x, const double *u) {
    double most = right_side(x, u);
    for (int c = 0; c < x->slides.n; c++) {
        const double *v = u + x->slide_row[c], across = x->slides.d[0][c] * v[2] - x->slides.d[1][c] * v[1];
        const double off =
            __builtin_fabs(v[0]) > __builtin_fabs(across) ? __builtin_fabs(v[0]) : __builtin_fabs(across);
        most = x->slides.normal[c] > 0 && off > most ? off : most; // or it has let go
    }
    return most;
}

/// One round: λ at which what holds is at rest, but for ε, and what slides goes on. False where it does not.
static int hold(const kk_simulator *s, kept *x, double floor, double *lambda) {
    const kki_dense_kernels *kernels = s->solver.kernels;
    kernels->ldl_forward(x->first, x->stride, s->A, x->inverse, x->b, x->y);
    memset(x->x, 0, (size_t)x->stride * sizeof *x->x);
    if (!slide(s, x, 0.1 * floor, lambda)) {
        return 0;
    }
    kernels->ldl_backward(x->first, x->stride, s->A, x->inverse, x->y, x->x);
    for (int i = 0; i < x->nheld; i++) {
        lambda[x->row[i]] += x->x[i];
    }
    return 1;
}

/// Rounds to the floor, and whether the certificate is good then. @param size  what is off    @param u  velocities of λ, and of the result    @param most  residual that is
/// good
static int is_proved(kk_simulator *s, const kki_island *I, kept *x, double size, double floor, double most,
                     double *lambda, double *u, kki_certificate *proof, kki_solver_stats *stats) {
    const kki_problem problem = kki_island_problem(s, I, 1);
    double last = __builtin_inf();
    int rounds = 0;
    for (; size > floor && size < 0.5 * last && rounds < MOST_ROUNDS; rounds++) {
        if (!hold(s, x, floor, lambda)) {
            return 0;
        }
        s->solver.kernels->certify(&problem, lambda, u, proof);
        last = size;
        size = off_by(x, u);
        if (proof->residual > BROKEN * (size + floor)) {
            return 0;
        }
    }
    if (rounds == 0) {
        s->solver.kernels->certify(&problem, lambda, u, proof);
    }
    stats->newton += rounds;
    return proof->residual <= most;
}

// ---- what does not go on

/// Whether sweeps are worth it: what rests would only be stirred, and loops that say the same twice need every digit. And whether they know all laws.
static int may_revise(const kk_simulator *s, const kki_island *I, const kki_solver_options *options) {
    int plain = options->moves && s->options.max_newton == 0;
    for (int b = I->first_block; b < I->first_block + I->nblock && plain; b++) {
        const kki_block *block = &s->block[b];
        plain = block->law < KKI_LAW_TORSION && !(block->law == KKI_LAW_CONTACT && block->adhesion != 0);
    }
    return plain;
}

/// Whether something that is open comes nearer, faster than all that holds or slides is off: then it lands, whatever becomes of the others.
static int lands(const kk_simulator *s, const kki_island *I, double off, const double *lambda, const double *u) {
    for (int b = I->first_block; b < I->first_block + I->nblock; b++) {
        const kki_block *block = &s->block[b];
        if ((block->law == KKI_LAW_CONTACT || block->law == KKI_LAW_LIMIT) && lambda[block->row] == 0 &&
            -u[block->row] > off) {
            return 1;
        }
    }
    return 0;
}

/// What sweeps go on from behind modes that were none: their impulses, unless these have run away.
static void go_on_from(kk_simulator *s, const kki_island *I, const double *lambda) {
    double *l = s->lambda + I->first_row;
    if (!(kki_largest(I->nrow, lambda) <= LEAP * kki_largest(I->nrow, l))) {
        return;
    }
    memcpy(l, lambda, (size_t)I->stride * sizeof *l);
    for (int b = I->first_block; b < I->first_block + I->nblock; b++) {
        kki_project_block(&s->block[b], 1, 0, l + s->block[b].row);
    }
    s->solver.kernels->multiply(I->nrow, I->stride, s->G, l, s->g + I->first_row, s->u + I->first_row);
}

/// What the next sweeps are about: all but what held, and did so in the last attempt as well.
static void ask(const kk_simulator *s, const kki_island *I, const kept *x, const double *lambda, int8_t *is_open) {
    const kki_block *all = s->block + I->first_block;
    for (int b = 0; b < I->nblock; b++) {
        is_open[b] = (int8_t)(x->mode[b] != HOLDS || mode_of(all, &all[b], lambda) != HOLDS);
    }
}

/// Other modes than the last step's, by sweeps. @param good  residual that is good    @param lambda, u  as far as one got
static int revise(kk_simulator *s, kki_island *I, kept *x, double floor, double good, double *lambda, double *u,
                  kki_certificate *proof, kki_solver_stats *stats) {
    const kki_problem problem = kki_island_problem(s, I, 1);
    const kki_dense_kernels *kernels = s->solver.kernels;
    double *l = s->lambda + I->first_row, *v = s->u + I->first_row;
    int8_t is_open[MOST_ROWS];
    int solved = 0;
    I->is_revised = 1;
    I->factored = I->factor == s->A ? 0 : I->factored;
    x->shift = REVISED_SHIFT;
    for (int k = 0; k < MOST_REVISIONS && !solved; k++) {
        ask(s, I, x, lambda, is_open);
        kki_question_sweep(&problem, kernels, SWEEPS, is_open, s->A, l, v);
        stats->sweeps += SWEEPS;
        const uint64_t tried = x->modes;
        if (!list_rows(s, I, l, x) || (k > 0 && x->modes == tried) || !factor(s, I, x)) {
            return 0; // what has just failed would fail again
        }
        stats->factorisations++;
        memcpy(lambda, l, (size_t)I->stride * sizeof *lambda);
        kernels->multiply(I->nrow, I->stride, s->G, lambda, s->g + I->first_row, u);
        solved = is_proved(s, I, x, off_by(x, u), floor, good, lambda, u, proof, stats);
        if (!solved) {
            go_on_from(s, I, lambda);
        }
    }
    return solved;
}

kki_kept kki_kept_solve(const kk_model *m, kk_simulator *s, kki_island *I) {
    double *lambda = s->lambda2 + I->first_row, *u = s->u2 + I->first_row;
    kept x;
    x.shift = SHIFT;
    if (I->nrow < LEAST_ROWS || I->nrow > MOST_ROWS || I->is_soft || I->repeats ||
        (I->closes && I->nrow == I->nblock) || s->options.budget > 0) {
        return KKI_KEPT_UNASKED;
    }
    const kki_solver_options options = kki_island_solver_options(s, I);
    const int is_known = list_rows(s, I, s->lambda + I->first_row, &x), may = may_revise(s, I, &options);
    if (!is_known && !may) {
        return KKI_KEPT_UNASKED;
    }
    kki_solver_stats stats = {.solved = true};
    kki_rows_matrix(m, s, I);
    memcpy(lambda, s->lambda + I->first_row, (size_t)I->stride * sizeof *lambda);
    s->solver.kernels->multiply(I->nrow, I->stride, s->G, lambda, s->g + I->first_row, u);
    memcpy(s->u + I->first_row, u, (size_t)I->stride * sizeof *u);
    const double share = GOOD * options.tolerance, rest = REST * options.floor, good = share > rest ? share : rest;
    kki_certificate proof;
    const double off = is_known ? off_by(&x, u) : 0;
    const int may_go_on = is_known && !(may && lands(s, I, off, lambda, u));
    stats.factorisations = may_go_on;
    const int goes_on =
        may_go_on && factor(s, I, &x) && is_proved(s, I, &x, off, options.floor, good, lambda, u, &proof, &stats);
    if (!goes_on && !(may && revise(s, I, &x, options.floor, good, lambda, u, &proof, &stats))) {
        kki_note_work(s, &stats);
        return KKI_KEPT_NOT;
    }
    memcpy(s->lambda + I->first_row, lambda, (size_t)I->stride * sizeof *lambda);
    memcpy(s->u + I->first_row, u, (size_t)I->nrow * sizeof *u);
    kki_island_note(m, s, I, &proof, &stats);
    return KKI_KEPT_SOLVED;
}

// ---- what has to come out of each other

/// Contacts and limits that bear, or overlap without; their first rows. False where there are none, or more to it than these.
static int list_bearing(const kk_simulator *s, const kki_island *I, double floor, kept *x) {
    x->n = x->slides.n = 0;
    for (int b = 0; b < I->nblock; b++) {
        const kki_block *block = &s->block[I->first_block + b];
        const int row = I->first_row + block->row, is_free = block->lower == 0 && block->upper == 0;
        if (block->law == KKI_LAW_EQUALITY || (block->law == KKI_LAW_BOX && !is_free)) {
            return 0;
        }
        if ((block->law == KKI_LAW_CONTACT || block->law == KKI_LAW_LIMIT) &&
            (s->lambda[row] > 0 || s->g[row] < -floor)) {
            x->row[x->n++] = block->row;
        }
    }
    x->nheld = x->first = x->n;
    x->stride = kki_round4(x->n);
    return x->n > 0;
}

/// Whether nothing overlaps, and nothing is drawn by more than what it bears. @param v  velocities of the pass, g included
static int is_repaired(const kk_simulator *s, const kki_island *I, double floor, const double *lambda,
                       const double *v) {
    int good = 1;
    for (int b = 0; b < I->nblock; b++) {
        const kki_block *block = &s->block[I->first_block + b];
        const int r = block->row, is_fine = v[r] >= -floor && s->lambda[I->first_row + r] + lambda[r] >= 0;
        good &= is_fine || (block->law != KKI_LAW_CONTACT && block->law != KKI_LAW_LIMIT);
    }
    return good;
}

int kki_kept_repair(kk_simulator *s, kki_island *I, double floor, double *lambda) {
    const kki_dense_kernels *kernels = s->solver.kernels;
    double *v = s->u2 + I->first_row;
    const double *g = s->g + I->first_row;
    kept x;
    x.shift = SHIFT;
    if (!I->has_robot || !I->has_matrix || I->nrow > MOST_ROWS || I->is_soft || s->options.budget > 0 ||
        !list_bearing(s, I, floor, &x) || !factor(s, I, &x)) {
        return 0;
    }
    s->report.factorisations++;
    for (int i = 0; i < x.stride; i++) {
        x.b[i] = i < x.n && g[x.row[i]] < 0 ? -g[x.row[i]] : 0;
    }
    memset(x.x, 0, (size_t)x.stride * sizeof *x.x);
    kernels->ldl_solve(x.n, x.stride, s->A, x.inverse, x.b, x.y, x.x);
    memset(lambda, 0, (size_t)I->stride * sizeof *lambda);
    for (int i = 0; i < x.n; i++) {
        lambda[x.row[i]] = x.x[i];
    }
    kernels->multiply(I->nrow, I->stride, s->G, lambda, g, v);
    return is_repaired(s, I, floor, lambda, v);
}
