/// Islands in which all goes on as it did, as under a robot that shifts its weight or slides along: no ladder is needed.
///
/// What held in the last step, inside its cone or between its bounds, is taken to hold in this one; what was open or at a bound to stay there; and contacts that
/// slid to slide on. Rows that hold are eliminated,
///     (G + ε) Δλ = −u    over them,
/// and leave to the few that slide a small problem, u = S λ + …, S the Schur complement: u·n = 0 and u ∥ −d, with λ = λn (n + μ d), by Newton's method in λn and the
/// turn of d. ε makes rows that say together what others say (four corners of a sole) regular; rounds take it out again. The certificate says whether the
/// result is a solution.
#include <string.h>

#include "contact/cones.h"
#include "contact/dense_kernels.h"
#include "simulate/island.h"

/// Rows: of one contact alone the ladder makes as short work.
enum { LEAST_ROWS = 4, MOST_ROWS = 64, MOST_SLIDING = 8 };
enum { MOST_ROUNDS = 3, MOST_TURNS = 8 };
/// ε as a share of the diagonal.
static const double SHIFT = 1e-10;
/// Share of its bound that friction keeps clear of, and that of the tolerance the result may be off by; else the ladder looks.
static const double CLEAR = 1e-9, GOOD = 1e-3;

/// A contact that slides: its rows, and the direction of its friction.
typedef struct sliding {
    int row;
    double friction, normal, d[2], u[3], shift; ///< shift: ε of its normal
} sliding;

enum { ROOM = MOST_ROWS + 4 };
typedef struct kept {
    int n;
    int32_t row[ROOM]; ///< rows that hold, whole vectors of them, and those of what slides behind them
    int nheld, first, nsliding, stride;
    sliding slides[MOST_SLIDING];
    double S[3 * MOST_SLIDING][3 * MOST_SLIDING];
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
    const double size = kki_norm2(l[1], l[2]);
    sliding *c = &x->slides[x->nsliding++];
    c->row = block->row;
    c->friction = block->friction;
    c->normal = l[0];
    c->d[0] = l[1] / size;
    c->d[1] = l[2] / size;
}

/// Rows that hold, and contacts that slide. False where there are none, or nobody knows.
static int list_rows(const kk_simulator *s, const kki_island *I, const double *lambda, kept *x) {
    const kki_block *all = s->block + I->first_block;
    x->n = x->nsliding = 0;
    for (int b = 0; b < I->nblock; b++) {
        const int mode = mode_of(all, &all[b], lambda);
        const int count =
            mode == HOLDS ? kki_law_rows(all[b].law) : mode == GLIDES; // without friction the normal alone
        if (mode == UNKNOWN || (mode == SLIDES && x->nsliding == MOST_SLIDING)) {
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
    x->first = x->nsliding > 0 ? kki_round4(x->n) : x->n;
    while (x->n < x->first) {
        x->row[x->n++] = 0;
    }
    for (int c = 0; c < x->nsliding; c++) {
        for (int k = 0; k < 3; k++) {
            x->row[x->n++] = x->slides[c].row + k;
        }
    }
    x->stride = kki_round4(x->n);
    return x->n > 0;
}

/// A = G + ε of the rows that hold, and its factor; S of what slides.
static int factor(kk_simulator *s, kki_island *I, kept *x) {
    const kki_dense_kernels *kernels = s->solver.kernels;
    I->factored = I->factor == s->A ? 0 : I->factored;
    kernels->pick(x->n, x->nheld, x->first, x->stride, x->row, s->G, I->stride, s->A);
    for (int i = 0; i < x->nheld; i++) {
        s->A[i * (x->stride + 1)] *= 1 + SHIFT;
    }
    if (!kernels->ldl(x->first, x->n, x->stride, s->A, x->inverse)) {
        return 0;
    }
    for (int i = 0; i < x->nsliding; i++) {
        x->slides[i].shift = SHIFT * s->G[(size_t)x->slides[i].row * (size_t)(I->stride + 1)];
    }
    for (int i = 0; i < 3 * x->nsliding; i++) {
        const double *A = s->A + (x->first + i) * x->stride + x->first;
        for (int k = i; k < 3 * x->nsliding; k++) {
            x->S[i][k] = x->S[k][i] = A[k];
        }
    }
    return 1;
}

// ---- what slides

enum { UNKNOWNS = 2 * MOST_SLIDING };

/// What is left of un = 0 and p · ut = 0, p = d turned by a right angle.
static double left_over(const kept *x, double *r) {
    double most = 0;
    for (int c = 0; c < x->nsliding; c++) {
        const sliding *a = &x->slides[c];
        r[2 * c] = a->u[0];
        r[2 * c + 1] = a->d[0] * a->u[2] - a->d[1] * a->u[1];
        const double one = __builtin_fabs(r[2 * c]), two = __builtin_fabs(r[2 * c + 1]);
        most = one > most ? one : most;
        most = two > most ? two : most;
    }
    return most;
}

/// Rows n and p of contact a against columns n + μ d and p of contact b.
static void put_pair(const kept *x, int a, int b, double K[UNKNOWNS][UNKNOWNS]) {
    const sliding *i = &x->slides[a], *k = &x->slides[b];
    const double f = k->friction, d0 = k->d[0], d1 = k->d[1];
    double along[3], across[3];
    for (int r = 0; r < 3; r++) {
        const double *S = &x->S[3 * a + r][3 * b];
        along[r] = S[0] + f * (S[1] * d0 + S[2] * d1);
        across[r] = S[2] * d0 - S[1] * d1;
    }
    K[2 * a][2 * b] = along[0];
    K[2 * a][2 * b + 1] = across[0];
    K[2 * a + 1][2 * b] = along[2] * i->d[0] - along[1] * i->d[1];
    K[2 * a + 1][2 * b + 1] = across[2] * i->d[0] - across[1] * i->d[1];
}

/// K x = r in place of r, without pivoting: diagonals are masses. False where one is not.
static int eliminate(int n, double K[UNKNOWNS][UNKNOWNS], double *r) {
    for (int k = 0; k < n; k++) {
        if (!(K[k][k] > 0)) {
            return 0;
        }
        const double inverse = 1 / K[k][k], own = r[k];
        for (int i = k + 1; i < n; i++) {
            const double f = K[i][k] * inverse;
            for (int j = k + 1; j < n; j++) {
                K[i][j] -= f * K[k][j];
            }
            r[i] -= f * own;
        }
        K[k][k] = inverse;
    }
    for (int k = n - 1; k >= 0; k--) {
        double sum = r[k];
        for (int j = n - 1; j > k; j--) {
            sum -= K[k][j] * r[j];
        }
        r[k] = sum * K[k][k];
    }
    return 1;
}

/// One step of Newton's. False where a contact lifts off or is pushed back the way it came. @param r  what is left, destroyed
static int turn(kept *x, double *r) {
    const int n = x->nsliding;
    double K[UNKNOWNS][UNKNOWNS], change[3 * MOST_SLIDING];
    for (int a = 0; a < n; a++) {
        const sliding *c = &x->slides[a];
        const double against = -(c->d[0] * c->u[1] + c->d[1] * c->u[2]);
        for (int b = 0; b < n; b++) {
            put_pair(x, a, b, K);
        }
        K[2 * a][2 * a] += c->shift;
        K[2 * a + 1][2 * a + 1] += c->shift + (against > 0 ? against / (c->friction * c->normal) : 0);
    }
    if (!eliminate(2 * n, K, r)) {
        return 0;
    }
    for (int a = 0; a < n; a++) {
        sliding *c = &x->slides[a];
        const double normal = c->normal - r[2 * a], angle = -r[2 * a + 1] / (c->friction * normal);
        if (!(normal > 0 && angle < 1 && angle > -1)) {
            return 0;
        }
        const double d0 = c->d[0] - angle * c->d[1], d1 = c->d[1] + angle * c->d[0], f = 1 / kki_norm2(d0, d1);
        change[3 * a] = normal - c->normal;
        change[3 * a + 1] = c->friction * (normal * f * d0 - c->normal * c->d[0]);
        change[3 * a + 2] = c->friction * (normal * f * d1 - c->normal * c->d[1]);
        c->normal = normal;
        c->d[0] = f * d0;
        c->d[1] = f * d1;
    }
    for (int a = 0; a < n; a++) {
        double u[3] = {0, 0, 0};
        for (int k = 0; k < 3 * n; k++) {
            for (int i = 0; i < 3; i++) {
                u[i] += x->S[k][3 * a + i] * change[k];
            }
        }
        for (int i = 0; i < 3; i++) {
            x->slides[a].u[i] += u[i];
        }
    }
    return 1;
}

/// λ of what slides; what that changes, behind those that hold in x->x. False where it does not go on sliding.
static int slide(kept *x, double floor, double *lambda) {
    double r[UNKNOWNS], last = __builtin_inf();
    for (int c = 0; c < x->nsliding; c++) {
        for (int k = 0; k < 3; k++) {
            x->slides[c].u[k] = -x->b[x->first + 3 * c + k];
        }
    }
    for (int k = 0; k < MOST_TURNS; k++) {
        const double size = left_over(x, r);
        if (size <= floor || (k > 1 && size > 0.5 * last)) {
            break;
        }
        last = size;
        if (!turn(x, r)) {
            return 0;
        }
    }
    for (int c = 0; c < x->nsliding; c++) {
        const sliding *a = &x->slides[c];
        const double now[3] = {a->normal, a->friction * a->normal * a->d[0], a->friction * a->normal * a->d[1]};
        for (int k = 0; k < 3; k++) {
            x->x[x->first + 3 * c + k] = now[k] - lambda[a->row + k];
            lambda[a->row + k] = now[k];
        }
    }
    return 1;
}

// ---- all of it

/// The right side −u of the listed rows; the fastest of what holds.
static double right_side(kept *x, const double *u) {
    for (int i = 0; i < x->n; i++) {
        x->b[i] = i < x->nheld || i >= x->first ? -u[x->row[i]] : 0;
    }
    for (int i = x->n; i < x->stride; i++) {
        x->b[i] = 0;
    }
    return kki_largest(x->nheld, x->b);
}

/// What is off: of what holds, and of what slides.
static double off_by(kept *x, const double *u) {
    double r[UNKNOWNS];
    const double held = right_side(x, u);
    for (int c = 0; c < x->nsliding; c++) {
        memcpy(x->slides[c].u, u + x->slides[c].row, sizeof x->slides[c].u);
    }
    const double slid = left_over(x, r);
    return held > slid ? held : slid;
}

/// One round: λ at which what holds is at rest, but for ε, and what slides goes on. False where it does not.
static int hold(const kk_simulator *s, kept *x, double floor, double *lambda) {
    const kki_dense_kernels *kernels = s->solver.kernels;
    kernels->ldl_forward(x->first, x->stride, s->A, x->inverse, x->b, x->y);
    memset(x->x, 0, (size_t)x->stride * sizeof *x->x);
    if (!slide(x, 0.1 * floor, lambda)) {
        return 0;
    }
    kernels->ldl_backward(x->first, x->stride, s->A, x->inverse, x->y, x->x);
    for (int i = 0; i < x->nheld; i++) {
        lambda[x->row[i]] += x->x[i];
    }
    return 1;
}

/// Rounds to the floor, and whether the certificate is good then. @param u  velocities of λ, and of the result    @param most  residual that is good
static int is_proved(kk_simulator *s, const kki_island *I, kept *x, double floor, double most, double *lambda,
                     double *u, kki_certificate *proof, kki_solver_stats *stats) {
    const kki_problem problem = kki_island_problem(s, I, 1);
    double size = off_by(x, u), last = __builtin_inf();
    for (; size > floor && size < 0.5 * last && stats->newton < MOST_ROUNDS; stats->newton++) {
        if (!hold(s, x, floor, lambda)) {
            return 0;
        }
        s->solver.kernels->certify(&problem, lambda, u, proof);
        last = size;
        size = off_by(x, u);
    }
    if (stats->newton == 0) {
        s->solver.kernels->certify(&problem, lambda, u, proof);
    }
    return proof->residual <= most;
}

kki_kept kki_kept_solve(const kk_model *m, kk_simulator *s, kki_island *I) {
    double *lambda = s->lambda2 + I->first_row, *u = s->u2 + I->first_row;
    kept x;
    if (I->nrow < LEAST_ROWS || I->nrow > MOST_ROWS || I->is_soft || I->repeats ||
        (I->closes && I->nrow == I->nblock) || s->options.budget > 0 ||
        !list_rows(s, I, s->lambda + I->first_row, &x)) {
        return KKI_KEPT_UNASKED;
    }
    const kki_solver_options options = kki_island_solver_options(s, I);
    kki_solver_stats stats = {.factorisations = 1, .solved = true};
    kki_rows_matrix(m, s, I);
    memcpy(lambda, s->lambda + I->first_row, (size_t)I->stride * sizeof *lambda);
    s->solver.kernels->multiply(I->nrow, I->stride, s->G, lambda, s->g + I->first_row, u);
    memcpy(s->u + I->first_row, u, (size_t)I->nrow * sizeof *u);
    const double good = GOOD * options.tolerance, most = good > options.floor ? good : options.floor;
    kki_certificate proof;
    if (!factor(s, I, &x) || !is_proved(s, I, &x, options.floor, most, lambda, u, &proof, &stats)) {
        return KKI_KEPT_NOT;
    }
    memcpy(s->lambda + I->first_row, lambda, (size_t)I->stride * sizeof *lambda);
    memcpy(s->u + I->first_row, u, (size_t)I->nrow * sizeof *u);
    kki_island_note(m, s, I, &proof, &stats);
    return KKI_KEPT_SOLVED;
}
