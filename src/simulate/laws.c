/// Laws and warm starts of an island's constraints; and rows of loops that take no part, because they move nothing or say what others say.
#include <string.h>

#include "simulate/constraint.h"
#include "simulate/island.h"

/// A loop in a plane has a row across it that no joint moves. Rounding leaves a trace of motion in it, and an impulse that
/// answers rounding by rounding has no limit. Mobility, as a share of the loop's other rows, from which a row takes part.
static const double DEAD_ROW = 1e-20;

/// Rows of loops and couplings among which dependence is looked for; share of a row, squared, that is rounding; how much more than its gap over
/// its arm a loop's row may be off by. And rows whose determinant may say enough.
enum { MOST_DEPENDENT = 96, FEW_DEPENDENT = 16 };
static const double LEAST_SHARE = 1e-13, OPEN_SHARE = 4, MOST_SHARE = 1e-2;

/// What the island has of things that cost more than a look. @param law  of the contact before; what it has is noted
static void take_note(const kk_model *m, const kk_simulator *s, const kki_constraint *c, kki_island *I, int *law) {
    if (c->kind == KKI_ON_CONTACT) {
        const int own = s->contacts.list[c->item].law;
        if (own != *law) {
            const kki_contact_law *l = &m->law[own];
            I->is_soft |= s->solution.compliance[c->row] != 0 || l->slip > 0;
            I->has_restitution |= l->restitution > 0;
            I->has_friction |= l->friction > 0;
            I->has_static_friction |= l->static_friction > l->friction;
            *law = own;
        }
        return;
    }
    const kki_constraint_class class = kki_type_of(c)->kind;
    for (int r = 0; r < c->nrow; r++) {
        I->is_soft |= s->solution.compliance[c->row + r] != 0;
    }
    I->is_soft |= class == KKI_CLASS_DRIVE;
    I->has_overlap |= c->kind == KKI_ON_OVERLAP;
    I->has_drive |= class == KKI_CLASS_DRIVE;
    I->has_friction |= class == KKI_CLASS_DRY;
    I->has_loops |= class == KKI_CLASS_CLOSURE;
    I->has_restitution |= (c->kind == KKI_ON_LIMIT && m->dof[c->item].restitution > 0) ||
                          (c->kind == KKI_ON_TENDON_LIMIT && m->tendon[c->item].restitution > 0);
}

/// Rows begin with zeros, and padding stays so.
static void clear_rows(kk_simulator *s, const kki_island *I) {
    const size_t bytes = (size_t)I->stride * sizeof(double);
    memset(s->solution.bias + I->first_row, 0, bytes);
    memset(s->solution.lambda + I->first_row, 0, bytes);
    memset(s->solution.compliance + I->first_row, 0, bytes);
    for (int r = I->first_row + I->nrow; r < I->first_row + I->stride; r++) {
        s->solution.g[r] = s->solution.u[r] = 0;
    }
}

/// Blocks of all constraints with rows and contacts numbered in their island.
void kki_island_begin(const kk_model *m, kk_simulator *s, kki_island *I, const kki_warm_layout *w, const double *warm) {
    I->is_soft = I->has_restitution = I->has_overlap = I->has_friction = I->has_drive = I->has_loops =
        I->has_static_friction = I->has_pivots = I->has_dependent_rows = I->has_matrix = I->is_swept = I->factored = 0;
    I->factor = I->scratch->A;
    clear_rows(s, I);
    int law = -1;
    for (int i = 0; i < I->nconstraint; i++) {
        kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        const kki_constraint_type *t = kki_type_of(c);
        t->law(m, s, c, t->slot ? warm + t->slot(w, c) : NULL);
        take_note(m, s, c, I, &law);
        for (int b = 0; b < c->nblock; b++) { // a contact comes first
            kki_block *block = &s->solution.block[c->block + b];
            block->row += c->row - I->first_row;
            block->contact += c->block - I->first_block + b;
        }
    }
}

static void free_row(kk_simulator *s, const kki_island *I, int block) {
    kki_block *b = &s->solution.block[block];
    *b = (kki_block){.law = KKI_LAW_BOX, .row = b->row, .contact = b->contact};
    s->solution.lambda[I->first_row + b->row] = 0;
}

/// Lengths and angles alike: rounding squared is so small that no lever makes up for it, and a hinge in a plane has both turns dead at once.
static void free_dead(kk_simulator *s, const kki_island *I, const kki_constraint *c) {
    double size[KKI_MOST_ROWS], most = 0;
    for (int r = 0; r < c->nrow; r++) {
        const int row = c->row - I->first_row + r;
        if (I->has_matrix) {
            size[r] = I->scratch->G[row * I->stride + row];
        } else {
            kki_rows_own(s, I, row, 1, &size[r]);
        }
        most = size[r] > most ? size[r] : most;
    }
    for (int r = 0; r < c->nrow; r++) {
        if (size[r] <= DEAD_ROW * most && s->solution.compliance[c->row + r] == 0) {
            free_row(s, I, c->block + r);
        }
    }
}

/// Rows that say what rows before them say. Loops that close a plane twice hold it more often than it moves: while they are closed their
/// rows depend on each other, but at the middle of a step they are open by a trace, and rows turned by that trace would hold the mechanism
/// fast. Kept are those that differ from the ones before by more than the gap turns them, over the arm they act with.
typedef struct dependence {
    int count;
    int row[MOST_DEPENDENT], block[MOST_DEPENDENT]; ///< row in the island, block of all
    double least;                                   ///< share of a row, squared, that is more than nothing new
} dependence;

/// Rigid rows of loops and couplings, and what the widest gap of all turns them by.
static void list_rows(const kk_simulator *s, const kki_island *I, dependence *x) {
    x->count = 0;
    x->least = LEAST_SHARE;
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        if (!kki_is_closure(c)) {
            continue;
        }
        const double arm = c->kind == KKI_ON_LOOP ? s->model->loop[c->item].arm : __builtin_inf();
        for (int r = 0; r < c->nrow && x->count < MOST_DEPENDENT; r++) {
            const double share = OPEN_SHARE * c->gap[r] / arm;
            if (s->solution.block[c->block + r].law == KKI_LAW_EQUALITY && s->solution.compliance[c->row + r] == 0) {
                x->row[x->count] = c->row - I->first_row + r;
                x->block[x->count++] = c->block + r;
                x->least = share * share > x->least ? share * share : x->least;
            }
        }
    }
    x->least = x->least > MOST_SHARE ? MOST_SHARE : x->least;
}

/// The listed rows' products by Y.
static void multiply_rows(const kki_island *I, const dependence *x, double *restrict A) {
    const int n = x->count;
    for (int k = 0; k < n * n; k++) {
        A[k] = 0;
    }
    for (int t = 0; t < I->nv; t++) {
        const double *Y = I->scratch->Y + t * I->stride;
        double y[MOST_DEPENDENT];
        for (int k = 0; k < n; k++) {
            y[k] = Y[x->row[k]];
        }
        for (int k = 0; k < n; k++) {
            if (y[k] == 0) { // most degrees of freedom are of other branches
                continue;
            }
            for (int i = 0; i < n; i++) {
                A[k * n + i] += y[k] * y[i];
            }
        }
    }
}

/// Whether rows are so different that none of them could be found to repeat others, in whatever order they are looked at. With rows of length
/// one, all that is left of a row is at least the least eigenvalue of their products, and that is above the determinant over e, for
/// the n − 1 others have the mean of at most n/(n − 1). The determinant is the product of the pivots in any order. A is a factor then.
static int are_clearly_different(const kki_island *I, const dependence *x, double *restrict A) {
    const double e = 2.718281828459045;
    const int n = x->count;
    if (!I->has_matrix) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        const double *G = I->scratch->G + x->row[i] * I->stride;
        for (int k = 0; k <= i; k++) {
            A[i * n + k] = G[x->row[k]];
        }
    }
    const double least = kki_factor_few(n, n, A, 0) / e;
    return least * least > x->least;
}

/// The listed rows' products, each row of length one.
static void fill_products(const kki_island *I, const dependence *x, double *restrict A) {
    const int n = x->count;
    double scale[MOST_DEPENDENT];
    if (!I->has_matrix) {
        multiply_rows(I, x, A);
    }
    for (int k = 0; k < n * n && I->has_matrix; k++) {
        A[k] = I->scratch->G[x->row[k / n] * I->stride + x->row[k % n]];
    }
    for (int k = 0; k < n; k++) {
        scale[k] = 1 / __builtin_sqrt(A[k * n + k]);
    }
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n; i++) {
            A[k * n + i] *= scale[k] * scale[i];
        }
    }
}

/// The row with most that is new; −1 where all that are left have nothing. What is off in rows that differ but little is off by more in what
/// is left of the others. @param last  the pivot before
static int newest(const dependence *x, const double *A, const int8_t *is_done, double last) {
    int best = -1;
    for (int k = 0; k < x->count; k++) {
        const double left = A[k * x->count + k];
        if (!is_done[k] && left * last > x->least && (best < 0 || left > A[best * x->count + best])) {
            best = k;
        }
    }
    return best;
}

/// Takes row p's part out of the others (Cholesky's elimination, the largest pivot first).
static void eliminate(const dependence *x, int p, const int8_t *is_done, double *restrict A) {
    const int n = x->count;
    const double pivot = 1 / A[p * n + p];
    for (int i = 0; i < n; i++) {
        const double f = is_done[i] ? 0 : A[i * n + p] * pivot;
        if (f != 0) {
            for (int k = 0; k < n; k++) {
                A[i * n + k] -= f * A[p * n + k];
            }
        }
    }
}

void kki_island_free_dead_rows(kk_simulator *s, const kki_island *I) {
    for (int i = 0; i < I->nconstraint && I->has_loops; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        if (c->kind == KKI_ON_LOOP) {
            free_dead(s, I, c);
        }
    }
}

void kki_island_free_dependent_rows(kk_simulator *s, kki_island *I) {
    dependence x;
    int8_t is_done[MOST_DEPENDENT] = {0};
    if (I->is_sparse || !I->has_loops) {
        return;
    }
    list_rows(s, I, &x);
    if (x.count < 4) {
        return;
    }
    if (x.count <= FEW_DEPENDENT && are_clearly_different(I, &x, I->factor)) {
        I->factored = (int8_t)x.count;
        return;
    }
    fill_products(I, &x, I->scratch->A);
    for (int p = newest(&x, I->scratch->A, is_done, 1); p >= 0;
         p = newest(&x, I->scratch->A, is_done, I->scratch->A[p * x.count + p])) {
        is_done[p] = 1;
        eliminate(&x, p, is_done, I->scratch->A);
    }
    for (int k = 0; k < x.count; k++) {
        if (!is_done[k]) {
            free_row(s, I, x.block[k]);
            I->has_dependent_rows = 1;
        }
    }
}
