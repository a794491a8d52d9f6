/// Laws, biases and warm starts of an island's constraints.
///
/// The bias of a gap is gap/(h/2), the speed at which it would just close in the half step that is left, and under a foot with one
/// point gap/h: at this speed it closes when contacts are looked at next, and no overlap has to be taken out of the joints then. Within the
/// dead band it is zero, so that what rests poses the same homogeneous problem in every step (contact.md, piles). A soft
/// row is an implicit spring, whose law is made where its mobility is known (reflect.c); here it is only told from a rigid one.
#include <string.h>

#include "simulate/island.h"
#include "simulate/tendons.h"

/// A loop in a plane has a row across it that no joint moves. Rounding leaves a trace of motion in it, and an impulse that
/// answers rounding by rounding has no limit. Mobility, as a share of the loop's other rows, from which a row takes part.
static const double DEAD_ROW = 1e-20;

/// Rows of loops and couplings among which dependence is looked for; share of a row, squared, that is rounding; how much more than its gap over
/// its arm a loop's row may be off by. And rows whose determinant may say enough.
enum { MOST_DEPENDENT = 96, FEW_DEPENDENT = 16 };
static const double LEAST_SHARE = 1e-13, OPEN_SHARE = 4, MOST_SHARE = 1e-2;

/// What stuck in the last step starts this one at rest: its velocity now is that of rows that have turned a little.
static int stuck(const double *lambda, double bound) {
    const double most = bound * (1 - 1e-6);
    return bound > 0 && lambda[0] * lambda[0] + lambda[1] * lambda[1] < most * most;
}

/// Above what sliding bears only static friction holds.
static int is_above(const double *tangential, const kki_contact_law *law, double normal) {
    const double slides = law->friction * normal * (1 + 1e-6);
    return law->static_friction > law->friction && normal > 0 &&
           tangential[0] * tangential[0] + tangential[1] * tangential[1] > slides * slides;
}

/// How fast what is open may close in the step. Where a pile or a limp robot moves it does not have to: what closes the last micrometers here contradicts, by nanometers
/// a second, what touches there, and of dozens of points some always do. A robot's links land all the same.
static double closing_of(const kk_model *m, const kk_simulator *s, const kki_constraint *c) {
    const kki_contact *k = &s->contacts.list[c->item];
    const kki_island *I = &s->islands.list[c->island];
    if (k->open == 0 || (I->keeps_gaps && (I->is_sparse || kki_seen_gap(s, k) <= KKI_DEAD_BAND))) {
        return 0;
    }
    const int lands = kki_may_land(m, k->node[0]) && kki_may_land(m, k->node[1]);
    return k->open / (lands ? s->h : 0.5 * s->h);
}

static void begin_contact(const kk_model *m, kk_simulator *s, kki_constraint *c) {
    const kki_contact *k = &s->contacts.list[c->item];
    const kki_contact_law *law = &m->law[k->law];
    kki_block *b = &s->solution.block[c->block];
    double *bias = s->solution.bias + c->row, *lambda = s->solution.lambda + c->row,
           *soft = s->solution.compliance + c->row;
    *b = (kki_block){.law = KKI_LAW_CONTACT, .friction = law->friction, .adhesion = law->adhesion * s->h};
    bias[0] = closing_of(m, s, c);
    if (!s->traits.has_plain_contacts) { // else zero
        bias[1] = k->surface[0];
        bias[2] = k->surface[1] * law->ratio;
    }
    if (law->stiffness < __builtin_inf()) {
        soft[0] = 1;
    }
    lambda[0] = kk_vec3_dot(k->impulse, k->normal);
    lambda[1] = kk_vec3_dot(k->impulse, k->tangent[0]);
    lambda[2] = kk_vec3_dot(k->impulse, k->tangent[1]);
    lambda[2] = law->ratio == 1 ? lambda[2] : lambda[2] / law->ratio;
    c->sticks = stuck(lambda + 1, law->friction * (lambda[0] + b->adhesion)) || is_above(lambda + 1, law, lambda[0]);
    if (s->traits.has_plain_contacts) {
        return;
    }
    int next = 1;
    if (law->torsion > 0) {
        b[next] = (kki_block){.law = KKI_LAW_TORSION, .row = 3, .contact = -next, .friction = law->torsion};
        lambda[3] = kk_vec3_dot(k->moment, k->normal);
        next++;
    }
    if (law->rolling > 0) {
        const int row = law->torsion > 0 ? 4 : 3;
        b[next] = (kki_block){.law = KKI_LAW_ROLLING, .row = row, .contact = -next, .friction = law->rolling};
        lambda[row] = kk_vec3_dot(k->moment, k->tangent[0]);
        lambda[row + 1] = kk_vec3_dot(k->moment, k->tangent[1]);
    }
}

static void begin_joint(const kk_model *m, kk_simulator *s, kki_constraint *c, const kki_warm_layout *w,
                        const double *warm) {
    kki_block *b = &s->solution.block[c->block];
    const int slot = w->first_dof + KKI_WARM_DOF_SIZE * c->item;
    if (c->kind == KKI_ON_LIMIT) {
        *b = (kki_block){.law = KKI_LAW_LIMIT};
        s->solution.bias[c->row] = c->gap[0] > 0 ? c->gap[0] / (0.5 * s->h) : 0;
        s->solution.lambda[c->row] = s->h * warm[slot + (c->side ? KKI_WARM_UPPER : KKI_WARM_LOWER)];
    } else {
        const double most = s->h * m->dof[c->item].friction;
        *b = (kki_block){.law = KKI_LAW_BOX, .lower = -most, .upper = most};
        s->solution.lambda[c->row] = s->h * warm[slot + KKI_WARM_FRICTION];
        // exactly none is none yet
        const double held[2] = {s->solution.lambda[c->row], 0};
        c->sticks = held[0] != 0 && stuck(held, most);
    }
}

static void begin_rubbing(const kk_model *m, kk_simulator *s, kki_constraint *c, double warm) {
    const double most = s->h * m->tendon[c->item].friction, held[2] = {s->h * warm, 0};
    s->solution.block[c->block] = (kki_block){.law = KKI_LAW_BOX, .lower = -most, .upper = most};
    s->solution.lambda[c->row] = held[0];
    c->sticks = held[0] != 0 && stuck(held, most);
}

/// A servo of force f = F + S gear (v' − v), within its limits. With λ = h gear f that is v' + r λ + b = 0,
///     r = −1/(h gear² S),   b = F/(S gear) − v;
/// the row divided by a weight w, λ is w times that, b/w and r/w².
static void begin_motor(const kk_model *m, kk_simulator *s, const kki_constraint *c) {
    const kki_model_actuator *a = &m->actuator[c->item];
    const kki_drive d = s->forces.wanted[c->item];
    const double scale = c->weight * s->h * a->gear, low = scale * a->force_lower, high = scale * a->force_upper;
    s->solution.block[c->block] =
        (kki_block){.law = KKI_LAW_BOX, .lower = low < high ? low : high, .upper = low < high ? high : low};
    s->solution.compliance[c->row] = -1 / (s->h * a->gear * a->gear * d.slope) / (c->weight * c->weight);
    s->solution.bias[c->row] = (d.force / (d.slope * a->gear) - s->motion.v[a->v_index]) / c->weight;
    s->solution.lambda[c->row] = d.force > a->force_upper ? scale * a->force_upper : scale * a->force_lower;
}

/// Armature m of a tendon, and a force f + S (u − u₀) along it with S ≤ 0:  λ = h f + h S (u − u₀) − m (u − u₀ + turn). With M = m − h S that is
///     u + λ/M − u₀ − (h f − m turn)/M = 0.
static void begin_haul(const kk_model *m, kk_simulator *s, const kki_constraint *c) {
    const kki_tendon_load *t = &s->forces.tendon[c->item];
    const double mass = kki_tendon_drive_mass(m, s, c->item);
    if (mass <= 0) { // slack: nothing acts by this row
        s->solution.block[c->block] = (kki_block){.law = KKI_LAW_BOX};
        return;
    }
    s->solution.block[c->block] = (kki_block){.law = KKI_LAW_EQUALITY};
    s->solution.compliance[c->row] = 1 / mass;
    s->solution.bias[c->row] = -t->rate - kki_tendon_drive_impulse(m, s, c->item) / mass;
}

static int gives_way(const kki_model_loop *l) {
    return l->stiffness < __builtin_inf() || l->angular_stiffness < __builtin_inf();
}

static void soften(kk_simulator *s, const kki_constraint *c, const kki_model_loop *l) {
    for (int r = 0; r < c->nrow; r++) {
        s->solution.compliance[c->row + r] = (r < 3 ? l->stiffness : l->angular_stiffness) < __builtin_inf() ? 1 : 0;
    }
}

static void begin_equalities(const kk_model *m, kk_simulator *s, const kki_constraint *c, const double *warm) {
    kki_block *block = s->solution.block + c->block;
    double *lambda = s->solution.lambda + c->row;
    const double h = s->h;
    for (int r = 0; r < c->nrow; r++) {
        block[r] = (kki_block){.law = KKI_LAW_EQUALITY, .row = r};
        lambda[r] = h * warm[r];
    }
    if (c->kind == KKI_ON_LOOP && gives_way(&m->loop[c->item])) {
        soften(s, c, &m->loop[c->item]);
    }
}

static void begin_constraint(const kk_model *m, kk_simulator *s, kki_constraint *c, const kki_warm_layout *w,
                             const double *warm) {
    if (c->kind == KKI_ON_CONTACT) {
        begin_contact(m, s, c);
    } else if (c->kind == KKI_ON_LIMIT || c->kind == KKI_ON_JOINT_FRICTION) {
        begin_joint(m, s, c, w, warm);
    } else if (c->kind == KKI_ON_TENDON_LIMIT) {
        s->solution.block[c->block] = (kki_block){.law = KKI_LAW_LIMIT};
        s->solution.bias[c->row] = c->gap[0] > 0 ? c->gap[0] / (0.5 * s->h) : 0;
        s->solution.lambda[c->row] = s->h * warm[w->first_tendon + KKI_WARM_TENDON_SIZE * c->item + c->side];
    } else if (c->kind == KKI_ON_TENDON_FRICTION) {
        begin_rubbing(m, s, c, warm[w->first_tendon + KKI_WARM_TENDON_SIZE * c->item + c->side]);
    } else if (c->kind == KKI_ON_TENDON_EQUALITY) {
        begin_equalities(m, s, c, warm + w->first_held + c->item);
    } else if (c->kind == KKI_ON_TENDON_DRIVE) {
        begin_haul(m, s, c);
    } else if (c->kind == KKI_ON_MOTOR) {
        begin_motor(m, s, c);
    } else if (c->kind == KKI_ON_SPRING || c->kind == KKI_ON_SERVO) {
        s->solution.block[c->block] = (kki_block){.law = KKI_LAW_EQUALITY}; // the paper's own file fills it
    } else {
        const int slot = c->kind == KKI_ON_COUPLING ? w->first_coupling + c->item : w->first_loop + 6 * c->item;
        begin_equalities(m, s, c, warm + slot);
    }
}

/// What the island has of things that cost more than a look. @param law  of the contact before; what it has is noted
static void take_note(const kk_model *m, const kk_simulator *s, const kki_constraint *c, kki_island *I, int *law) {
    if (c->kind == KKI_ON_CONTACT) {
        const int own = s->contacts.list[c->item].law;
        if (own != *law) {
            const kki_contact_law *l = &m->law[own];
            I->is_soft |= s->solution.compliance[c->row] != 0;
            I->has_restitution |= l->restitution > 0;
            I->has_friction |= l->friction > 0;
            I->has_static_friction |= l->static_friction > l->friction;
            *law = own;
        }
        return;
    }
    I->is_soft |= c->kind == KKI_ON_MOTOR || c->kind == KKI_ON_TENDON_DRIVE ||
                  (c->kind == KKI_ON_LOOP && gives_way(&m->loop[c->item]));
    I->has_friction |= c->kind == KKI_ON_JOINT_FRICTION || c->kind == KKI_ON_TENDON_FRICTION;
    I->has_motor |= c->kind == KKI_ON_MOTOR || c->kind == KKI_ON_TENDON_DRIVE;
    I->has_loops |= c->kind == KKI_ON_LOOP || c->kind == KKI_ON_COUPLING || c->kind == KKI_ON_TENDON_EQUALITY;
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
    I->is_soft = I->has_restitution = I->has_friction = I->has_motor = I->has_loops = I->has_static_friction =
        I->has_pivots = I->has_dependent_rows = I->has_matrix = I->is_swept = I->factored = 0;
    I->factor = I->scratch->A;
    clear_rows(s, I);
    int law = -1;
    for (int i = 0; i < I->nconstraint; i++) {
        kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        begin_constraint(m, s, c, w, warm);
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
        if (c->kind != KKI_ON_LOOP && c->kind != KKI_ON_COUPLING && c->kind != KKI_ON_TENDON_EQUALITY) {
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

/// A face that touches, or all but does, and may close what is left.
static int comes_down(const kk_simulator *s, const kki_constraint *c) {
    const kki_contact *k = &s->contacts.list[c->kind == KKI_ON_CONTACT ? c->item : 0];
    return c->kind == KKI_ON_CONTACT && k->open > 0 && kki_seen_gap(s, k) <= KKI_DEAD_BAND &&
           s->solution.compliance[c->row] == 0;
}

int kki_island_may_close_gaps(const kk_simulator *s, const kki_island *I) {
    int any = 0;
    for (int i = 0; i < I->nconstraint && !any && !I->keeps_gaps; i++) {
        any = comes_down(s, &s->constraints.list[s->constraints.order[I->first_constraint + i]]);
    }
    return any;
}

void kki_island_keep_gaps(const kk_model *m, kk_simulator *s, const kki_island *I) {
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        if (comes_down(s, c)) {
            const double closing = closing_of(m, s, c);
            s->solution.bias[c->row] -= closing;
            s->solution.g[c->row] -= closing;
            s->contacts.list[c->item].open = 0; // and not once more
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
