/// λ of modes that are known; see modes.h.
#include "contact/modes.h"

#include <string.h>

#include "contact/cones.h"

/// Rounds of modes that are known, of those in question, and of what is told to hold; contacts that are told to slide.
enum { MOST_ROUNDS = 6, MOST_QUESTIONS = 3, MOST_FORCED_ROUNDS = 8, MOST_FORCED = 24 };
/// Share of its bound that friction keeps clear of where it holds. And so many times what is left of velocities may be off the laws before modes are not worth another
/// round.
static const double CLEAR = 1e-9, BROKEN = 1e3;
/// ε of what is told to hold, and how many floors may be left of it.
static const double FORCED_SHIFT = 1e-10, ENOUGH_FORCED = 10;

/// A number between bounds, or at one.
static kki_mode mode_between(double lower, double upper, double l) {
    return l > lower && l < upper ? KKI_HOLDS : l == lower || l == upper ? KKI_STAYS : KKI_DOES_NOT_TELL;
}

static kki_mode mode_of_contact(const kki_block *block, const double *l) {
    const double rim = block->friction * l[0], least = (1 - CLEAR) * rim, t2 = l[1] * l[1] + l[2] * l[2];
    if (block->adhesion != 0 || !(l[0] > 0)) {
        return block->adhesion == 0 && l[0] == 0 && t2 == 0 ? KKI_STAYS : KKI_DOES_NOT_TELL;
    }
    if (block->friction == 0) {
        return t2 == 0 ? KKI_GLIDES : KKI_DOES_NOT_TELL;
    }
    return t2 < least * least ? KKI_HOLDS : rim > 0 && t2 < 4 * rim * rim ? KKI_SLIDES : KKI_DOES_NOT_TELL;
}

static inline kki_mode mode_of(const kki_block *all, const kki_block *block, const double *lambda) {
    const double *l = lambda + block->row;
    switch (block->law) {
    case KKI_LAW_EQUALITY: return KKI_HOLDS;
    case KKI_LAW_CONTACT: return mode_of_contact(block, l);
    case KKI_LAW_LIMIT: return mode_between(0, __builtin_inf(), *l);
    case KKI_LAW_BOX: return mode_between(block->lower, block->upper, *l);
    case KKI_LAW_TORSION: {
        const double bound = (1 - CLEAR) * block->friction * lambda[all[block->contact].row];
        return *l > -bound && *l < bound ? KKI_HOLDS : bound == 0 && *l == 0 ? KKI_STAYS : KKI_DOES_NOT_TELL;
    }
    default: return KKI_DOES_NOT_TELL;
    }
}

kki_mode kki_mode_of(const kki_block *all, const kki_block *block, const double *lambda) {
    return mode_of(all, block, lambda);
}

void kki_modes_ask(const kki_problem *p, const double *lambda, int8_t *is_open) {
    for (int b = 0; b < p->nblock; b++) {
        is_open[b] = mode_of(p->block, &p->block[b], lambda) != KKI_HOLDS;
    }
}

/// @param c  number of the contact among those that slide
static void list_sliding(kki_modes *x, int c, const kki_block *block, const double *l) {
    kki_slides *y = &x->slides;
    const double size = kki_norm2(l[1], l[2]);
    x->slide_row[c] = block->row;
    y->friction[c] = block->friction;
    y->normal[c] = l[0];
    y->d[0][c] = l[1] / size;
    y->d[1][c] = l[2] / size;
}

/// A block's first rows behind the n that are listed. There is room for three wherever there is for one, and what is too much the next block overwrites.
static int list_rows(int row, int count, int n, kki_modes *x) {
    for (int k = 0; k < 3; k++) {
        x->row[n + k] = row + k;
    }
    return n + count;
}

/// What is listed so far holds; `more` says whether anything stands behind it, in vectors of its own.
static int end_held(int more, int n, kki_modes *x) {
    x->nheld = n;
    x->first = more ? kki_round4(n) : n;
    x->row[n] = x->row[n + 1] = x->row[n + 2] = 0;
    return x->first;
}

static void end_list(int n, kki_modes *x) {
    x->n = n;
    x->stride = kki_round4(n);
}

/// The three rows of each contact that slides, behind the n that hold. @param first  normals
static void list_behind(int slides, const int32_t *first, int n, kki_modes *x) {
    n = end_held(slides > 0, n, x);
    for (int c = 0; c < slides; c++) {
        n = list_rows(first[c], 3, n, x);
    }
    end_list(n, x);
}

bool kki_modes_list(const kki_problem *p, const double *lambda, kki_modes *x) {
    int n = 0, slides = 0;
    for (int b = 0; b < p->nblock; b++) {
        const kki_block *block = &p->block[b];
        const kki_mode mode = mode_of(p->block, block, lambda);
        if (mode == KKI_DOES_NOT_TELL || (mode == KKI_SLIDES && slides == KKI_MOST_SLIDES)) {
            return false;
        }
        // without friction the normal alone
        n = list_rows(block->row, mode == KKI_HOLDS ? kki_law_rows(block->law) : mode == KKI_GLIDES, n, x);
        if (mode == KKI_SLIDES) {
            list_sliding(x, slides++, block, lambda + block->row);
        }
    }
    x->slides.n = slides;
    list_behind(slides, x->slide_row, n, x);
    return x->n > 0;
}

/// What two contacts do to each other: nine numbers, each to the lane of either.
static void put_pair(const double *from, int stride, int a, int b, kki_slides *y) {
    double(*const to_a)[3][KKI_MOST_SLIDES] = y->S + 3 * b, (*const to_b)[3][KKI_MOST_SLIDES] = y->S + 3 * a;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            to_a[j][i][a] = to_b[i][j][b] = from[i * stride + j];
        }
    }
}

/// And one to itself, out of the upper triangle.
static void put_own(const double *from, int stride, int a, kki_slides *y) {
    double(*const to)[3][KKI_MOST_SLIDES] = y->S + 3 * a;
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            to[j][i][a] = to[i][j][a] = from[i * stride + j];
        }
    }
}

/// Lanes from n on, which are without a contact.
static void clear_lanes(int lanes, kki_slides *y) {
    for (int k = 0; k < 9 * y->n; k++) {
        for (int a = y->n & ~3; a < lanes; a += 4) {
            *(kki_quad *)(y->S[0][0] + k * KKI_MOST_SLIDES + a) = (kki_quad){0, 0, 0, 0};
        }
    }
    for (int a = y->n; a < lanes; a++) {
        y->shift[a] = y->d[1][a] = 0;
        y->d[0][a] = y->friction[a] = y->normal[a] = 1;
    }
}

/// S of what slides, lane by lane.
static void fill_slides(const kki_problem *p, const double *A, kki_modes *x) {
    kki_slides *y = &x->slides;
    const int n = y->n, lanes = kki_slide_lanes(n);
    if (n < lanes) {
        clear_lanes(lanes, y);
    }
    for (int a = 0; a < n; a++) {
        const double *from = A + (x->first + 3 * a) * (x->stride + 1);
        put_own(from, x->stride, a, y);
        for (int b = a + 1; b < n; b++) {
            put_pair(from + 3 * (b - a), x->stride, a, b, y);
        }
        y->shift[a] = x->shift * p->G[(size_t)x->slide_row[a] * (size_t)(p->stride + 1)];
    }
}

/// Rows that hold out of all that are listed.
static bool eliminate(const kki_problem *p, const kki_dense_kernels *kernels, double *A, kki_modes *x) {
    kernels->pick(x->n, x->nheld, x->first, x->stride, x->row, p->G, p->stride, A);
    for (int i = 0; i < x->nheld; i++) {
        A[i * (x->stride + 1)] *= 1 + x->shift;
    }
    return kernels->ldl(x->first, x->n, x->stride, A, x->inverse);
}

bool kki_modes_factor(const kki_problem *p, const kki_dense_kernels *kernels, double *A, kki_modes *x) {
    const bool good = eliminate(p, kernels, A, x);
    if (good) {
        fill_slides(p, A, x);
    }
    return good;
}

// ---- what slides

/// λ of what slides, or lets go; what that changes, behind those that hold in x->x. False where there is no such λ.
static bool slide(const kki_dense_kernels *kernels, kki_modes *x, double floor, double *lambda) {
    kki_slides *y = &x->slides;
    if (y->n > 0 && !kernels->slide(y, x->b + x->first, floor)) {
        return false;
    }
    for (int c = 0; c < y->n; c++) {
        const double bound = y->friction[c] * y->normal[c];
        const double now[3] = {y->normal[c], bound * y->d[0][c], bound * y->d[1][c]};
        for (int k = 0; k < 3; k++) {
            x->x[x->first + 3 * c + k] = now[k] - lambda[x->slide_row[c] + k];
            lambda[x->slide_row[c] + k] = now[k];
        }
    }
    return true;
}

// ---- all of it

/// Zeros up to the end of a vector: less than four.
static inline void pad(double *x, int from, int end) {
    for (int k = 0; k < 3; k++) {
        if (from + k < end) {
            x[from + k] = 0;
        }
    }
}

/// The right side −u of the listed rows; the fastest of what holds.
static double right_side(kki_modes *restrict x, const double *restrict u) {
    for (int i = 0; i < x->n; i++) {
        x->b[i] = -u[x->row[i]];
    }
    pad(x->b, x->nheld, x->first);
    pad(x->b, x->n, x->stride);
    return kki_largest(x->nheld, x->b);
}

double kki_modes_off(kki_modes *x, const double *u) {
    double most = right_side(x, u);
    for (int c = 0; c < x->slides.n; c++) {
        const double *v = u + x->slide_row[c], across = x->slides.d[0][c] * v[2] - x->slides.d[1][c] * v[1];
        const double off =
            __builtin_fabs(v[0]) > __builtin_fabs(across) ? __builtin_fabs(v[0]) : __builtin_fabs(across);
        most = x->slides.normal[c] > 0 && off > most ? off : most; // or it has let go
    }
    return most;
}

/// What holds answers what the others have changed, in x->x behind it.
static void answer(const kki_dense_kernels *kernels, const double *A, kki_modes *x, double *lambda) {
    kernels->ldl_backward(x->first, x->stride, A, x->inverse, x->y, x->x);
    for (int i = 0; i < x->nheld; i++) {
        lambda[x->row[i]] += x->x[i];
    }
}

/// What the others see of x->b while what holds is at rest.
static void settle(const kki_dense_kernels *kernels, const double *A, kki_modes *x) {
    kernels->ldl_forward(x->first, x->stride, A, x->inverse, x->b, x->y);
    pad(x->x, x->n, x->stride);
}

/// One round: λ at which what holds is at rest, but for ε, and what slides goes on. False where it does not.
static bool hold(const kki_dense_kernels *kernels, const double *A, kki_modes *x, double floor, double *lambda) {
    settle(kernels, A, x);
    if (!slide(kernels, x, 0.1 * floor, lambda)) {
        return false;
    }
    answer(kernels, A, x, lambda);
    return true;
}

bool kki_modes_solve(const kki_problem *p, const kki_dense_kernels *kernels, const double *A, kki_modes *x, double size,
                     const kki_modes_goal *goal, double *lambda, double *u, kki_certificate *proof,
                     kki_solver_stats *stats) {
    double last = __builtin_inf();
    int rounds = 0;
    for (; size > goal->floor && size < 0.5 * last && rounds < MOST_ROUNDS; rounds++) {
        if (!hold(kernels, A, x, goal->floor, lambda)) {
            return false;
        }
        kernels->certify(p, lambda, u, proof);
        last = size;
        size = kki_modes_off(x, u);
        if (proof->residual > BROKEN * (size + goal->floor)) {
            return false;
        }
    }
    if (rounds == 0) {
        kernels->certify(p, lambda, u, proof);
    }
    stats->newton += rounds;
    // where no round gains any more and all laws are kept, what holds contradicts itself
    const bool contradicts = rounds > 0 && size >= 0.5 * last && proof->residual <= 2 * size;
    return proof->residual <= (contradicts ? goal->least : goal->good);
}

// ---- sweeps that find them

/// Blocks in question as a problem of their own.
typedef struct question {
    int nblock;
    kki_block block[KKI_MODES_ROWS];
    _Alignas(32) double lambda[KKI_QUESTION_ROWS], u[KKI_QUESTION_ROWS], S[KKI_QUESTION_ROWS * KKI_QUESTION_ROWS];
} question;

/// Rows that hold, and those in question behind them. False where it is not worth it.
static bool list_question(const kki_problem *p, const int8_t *is_open, kki_modes *x, question *q) {
    int n = 0;
    q->nblock = 0;
    for (int b = 0; b < p->nblock; b++) {
        n = list_rows(p->block[b].row, is_open[b] ? 0 : kki_law_rows(p->block[b].law), n, x);
    }
    n = end_held(1, n, x);
    for (int b = 0; b < p->nblock; b++) {
        if (is_open[b]) {
            q->block[q->nblock] = p->block[b];
            q->block[q->nblock++].row = n - x->first;
            n = list_rows(p->block[b].row, kki_law_rows(p->block[b].law), n, x);
        }
    }
    end_list(n, x);
    return x->nheld > 0 && x->n - x->first <= KKI_QUESTION_ROWS;
}

/// Sweeps of the few, who see each other through what holds; and what that changes in those.
static void sweep_question(const kki_dense_kernels *kernels, int sweeps, const double *A, kki_modes *x, question *q,
                           double *lambda) {
    const int first = x->first, n = x->n - first, wide = kki_round4(n);
    const kki_problem few = {.nblock = q->nblock, .nrow = n, .stride = wide, .block = q->block, .G = q->S};
    settle(kernels, A, x);
    memset(q->S, 0, sizeof *q->S * (size_t)(n * wide));
    for (int i = 0; i < wide; i++) {
        const double *from = A + (first + i) * x->stride + first;
        q->lambda[i] = i < n ? lambda[x->row[first + i]] : 0;
        q->u[i] = i < n ? -x->b[first + i] : 0;
        for (int k = i; k < n; k++) {
            q->S[i * wide + k] = q->S[k * wide + i] = from[k];
        }
    }
    kernels->glance(&few, sweeps, q->lambda, q->u);
    for (int i = 0; i < n; i++) {
        x->x[first + i] = q->lambda[i] - lambda[x->row[first + i]];
        lambda[x->row[first + i]] = q->lambda[i];
    }
    answer(kernels, A, x, lambda);
}

/// Those that were to hold and do not are in question as well, with what they bore before: rows that contradict each other may have run away. False where there are none.
static bool find_more(const kki_problem *p, const double *before, int8_t *is_open, double *lambda) {
    bool any = false;
    for (int b = 0; b < p->nblock; b++) {
        const kki_block *block = &p->block[b];
        if (!is_open[b] && mode_of(p->block, block, lambda) != KKI_HOLDS) {
            memcpy(lambda + block->row, before + block->row, (size_t)kki_law_rows(block->law) * sizeof *lambda);
            is_open[b] = 1;
            any = true;
        }
    }
    return any;
}

void kki_modes_sweep(const kki_problem *p, const kki_dense_kernels *kernels, int sweeps, int8_t *is_open, double *A,
                     kki_modes *x, double *lambda, double *u) {
    question q;
    double before[KKI_MODES_ROOM];
    bool again = true;
    memcpy(before, lambda, (size_t)p->nrow * sizeof *lambda);
    for (int round = 0; round < MOST_QUESTIONS && again; round++) {
        if (!list_question(p, is_open, x, &q) || !eliminate(p, kernels, A, x)) {
            kernels->glance(p, sweeps, lambda, u);
            return;
        }
        right_side(x, u);
        sweep_question(kernels, sweeps, A, x, &q, lambda);
        again = find_more(p, before, is_open, lambda);
        kernels->multiply(p->nrow, p->stride, p->G, lambda, p->g, u);
    }
}

// ---- what is told to hold, and what slides which way

/// Contacts that slide along given directions: of each the normal is not known, and friction goes with it.
typedef struct forced {
    int n, stride;
    int32_t row[MOST_FORCED], pivot[MOST_FORCED];
    double d[MOST_FORCED][2];
    _Alignas(32) double B[MOST_FORCED * MOST_FORCED]; ///< inverse of the Schur complement, transposed
    _Alignas(32) double b[MOST_FORCED], x[MOST_FORCED];
} forced;

static void list_forced(int n, const kki_held *held, kki_modes *x, forced *f) {
    int rows = 0;
    f->n = 0;
    for (int k = 0; k < n; k++) {
        const bool slides = held[k].d[0] != 0 || held[k].d[1] != 0;
        rows = list_rows(held[k].row, !slides, rows, x);
        if (slides) {
            f->row[f->n] = held[k].row;
            f->d[f->n][0] = held[k].d[0];
            f->d[f->n++][1] = held[k].d[1];
        }
    }
    list_behind(f->n, f->row, rows, x);
    f->stride = kki_round4(f->n);
}

/// Normal of c by normal and friction of e.
static double see_forced(const kki_modes *x, const double *A, const forced *f, int c, int e) {
    const int row = x->first + 3 * c, column = x->first + 3 * e;
    double seen[3];
    for (int k = 0; k < 3; k++) {
        const int from = row < column + k ? row : column + k, to = row < column + k ? column + k : row;
        seen[k] = A[from * x->stride + to]; // the upper triangle is there
    }
    return seen[0] + (f->d[e][0] * seen[1] + f->d[e][1] * seen[2]);
}

static bool factor_forced(const kki_problem *p, const kki_dense_kernels *kernels, double *A, kki_modes *x, forced *f) {
    if (!eliminate(p, kernels, A, x)) {
        return false;
    }
    for (int e = 0; e < f->n; e++) {
        double *column = f->B + e * f->stride;
        for (int c = 0; c < f->stride; c++) {
            column[c] = c < f->n ? see_forced(x, A, f, c, e) : 0;
        }
        column[e] += x->shift * p->G[(size_t)f->row[e] * (size_t)(p->stride + 1)];
    }
    return f->n == 0 || kernels->invert(f->n, 0, f->stride, f->B, f->pivot);
}

/// What the listed rows are off by.
static double off_forced(kki_modes *x, const forced *f, const double *u) {
    double most = right_side(x, u);
    for (int c = 0; c < f->n; c++) {
        const double off = __builtin_fabs(x->b[x->first + 3 * c]);
        most = off <= most ? most : off;
    }
    return most;
}

static void answer_forced(const kki_dense_kernels *kernels, const double *A, kki_modes *x, forced *f, double *lambda) {
    settle(kernels, A, x);
    for (int c = 0; c < f->n; c++) {
        f->b[c] = x->b[x->first + 3 * c];
    }
    kernels->combine(f->n, f->stride, f->stride, f->b, f->B, f->x);
    for (int c = 0; c < f->n; c++) {
        const double change[3] = {f->x[c], f->d[c][0] * f->x[c], f->d[c][1] * f->x[c]};
        for (int k = 0; k < 3; k++) {
            x->x[x->first + 3 * c + k] = change[k];
            lambda[f->row[c] + k] += change[k];
        }
    }
    answer(kernels, A, x, lambda);
}

bool kki_modes_hold(const kki_problem *p, const kki_dense_kernels *kernels, double *A, double floor, int n,
                    const kki_held *held, double *lambda, double *u) {
    kki_modes x;
    forced f;
    x.shift = FORCED_SHIFT;
    list_forced(n, held, &x, &f);
    if (!factor_forced(p, kernels, A, &x, &f)) {
        return false;
    }
    kernels->multiply(p->nrow, p->stride, p->G, lambda, p->g, u);
    double last = __builtin_inf(), off = off_forced(&x, &f, u);
    for (int round = 0; round < MOST_FORCED_ROUNDS && off > floor && off < 0.5 * last; round++) {
        answer_forced(kernels, A, &x, &f, lambda);
        kernels->multiply(p->nrow, p->stride, p->G, lambda, p->g, u);
        last = off;
        off = off_forced(&x, &f, u);
    }
    return off <= ENOUGH_FORCED * floor;
}
