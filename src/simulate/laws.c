/// Laws, biases and warm starts of an island's constraints.
///
/// The bias of a gap is gap/(h/2), the speed at which it would just close in the half step that is left; within the
/// dead band it is zero, so that what rests poses the same homogeneous problem in every step (contact.md, piles). A soft
/// row with stiffness k and damping d is an implicit spring: λ = −h (k (gap + h u) + d u) is u + r λ + b = 0 with
///     r = 1/(h (h k + d)),   b = k gap/(h k + d).
#include "simulate/island.h"

/// A loop in a plane has a row across it that no joint moves. Rounding leaves a trace of motion in it, and an impulse that
/// answers rounding by rounding has no limit. Mobility, as a share of the loop's other rows, from which a row takes part.
static const double DEAD_ROW = 1e-20;

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

static void begin_contact(const kk_model *m, kk_simulator *s, kki_constraint *c) {
    const kki_contact *k = &s->contact[c->item];
    const kki_contact_law *law = &m->law[k->law];
    kki_block *b = &s->block[c->block];
    double *bias = s->bias + c->row, *lambda = s->lambda + c->row, *soft = s->compliance + c->row;
    *b = (kki_block){.law = KKI_LAW_CONTACT, .friction = law->friction, .adhesion = law->adhesion * s->h};
    bias[0] = k->open / (0.5 * s->h);
    bias[1] = k->surface[0];
    bias[2] = k->surface[1] * law->ratio;
    if (law->stiffness < __builtin_inf()) {
        const double hk = s->h * law->stiffness;
        soft[0] = 1 / (s->h * (hk + law->damping));
        bias[0] = law->stiffness * k->gap / (hk + law->damping);
    }
    lambda[0] = kk_vec3_dot(k->impulse, k->normal);
    lambda[1] = kk_vec3_dot(k->impulse, k->tangent[0]);
    lambda[2] = kk_vec3_dot(k->impulse, k->tangent[1]) / law->ratio;
    c->sticks = stuck(lambda + 1, law->friction * (lambda[0] + b->adhesion)) || is_above(lambda + 1, law, lambda[0]);
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
    kki_block *b = &s->block[c->block];
    const int slot = w->first_dof + KKI_WARM_DOF_SIZE * c->item;
    if (c->kind == KKI_ON_LIMIT) {
        *b = (kki_block){.law = KKI_LAW_LIMIT};
        s->bias[c->row] = c->gap[0] > 0 ? c->gap[0] / (0.5 * s->h) : 0;
        s->lambda[c->row] = s->h * warm[slot + (c->side ? KKI_WARM_UPPER : KKI_WARM_LOWER)];
    } else {
        const double most = s->h * m->dof[c->item].friction;
        *b = (kki_block){.law = KKI_LAW_BOX, .lower = -most, .upper = most};
        s->lambda[c->row] = s->h * warm[slot + KKI_WARM_FRICTION];
        // exactly none is none yet
        const double held[2] = {s->lambda[c->row], 0};
        c->sticks = held[0] != 0 && stuck(held, most);
    }
}

/// A servo of force f = F + S gear (v' − v), within its limits. With λ = h gear f that is v' + r λ + b = 0,
///     r = −1/(h gear² S),   b = F/(S gear) − v.
static void begin_motor(const kk_model *m, kk_simulator *s, const kki_constraint *c) {
    const kki_model_actuator *a = &m->actuator[c->item];
    const kki_drive d = s->wanted[c->item];
    const double scale = s->h * a->gear, low = scale * a->force_lower, high = scale * a->force_upper;
    s->block[c->block] =
        (kki_block){.law = KKI_LAW_BOX, .lower = low < high ? low : high, .upper = low < high ? high : low};
    s->compliance[c->row] = -1 / (s->h * a->gear * a->gear * d.slope);
    s->bias[c->row] = d.force / (d.slope * a->gear) - s->v[a->v_index];
    s->lambda[c->row] = d.force > a->force_upper ? scale * a->force_upper : scale * a->force_lower;
}

static void begin_equalities(const kk_model *m, kk_simulator *s, const kki_constraint *c, const double *warm) {
    for (int r = 0; r < c->nrow; r++) {
        s->block[c->block + r] = (kki_block){.law = KKI_LAW_EQUALITY, .row = r};
        s->lambda[c->row + r] = s->h * warm[r];
    }
    if (c->kind == KKI_ON_LOOP) {
        const kki_model_loop *l = &m->loop[c->item];
        for (int r = 0; r < c->nrow; r++) {
            const double k = r < 3 ? l->stiffness : l->angular_stiffness, d = r < 3 ? l->damping : l->angular_damping;
            if (k < __builtin_inf()) {
                s->compliance[c->row + r] = 1 / (s->h * (s->h * k + d));
                s->bias[c->row + r] = k * c->gap[r] / (s->h * k + d);
            }
        }
    }
}

static void begin_constraint(const kk_model *m, kk_simulator *s, kki_constraint *c, const kki_warm_layout *w,
                             const double *warm) {
    for (int r = 0; r < c->nrow; r++) {
        s->bias[c->row + r] = s->lambda[c->row + r] = s->compliance[c->row + r] = 0;
    }
    if (c->kind == KKI_ON_CONTACT) {
        begin_contact(m, s, c);
    } else if (c->kind == KKI_ON_LIMIT || c->kind == KKI_ON_FRICTION) {
        begin_joint(m, s, c, w, warm);
    } else if (c->kind == KKI_ON_TENDON) {
        s->block[c->block] = (kki_block){.law = KKI_LAW_LIMIT};
        s->bias[c->row] = c->gap[0] > 0 ? c->gap[0] / (0.5 * s->h) : 0;
        s->lambda[c->row] = s->h * warm[w->first_tendon + 2 * c->item + c->side];
    } else if (c->kind == KKI_ON_MOTOR) {
        begin_motor(m, s, c);
    } else if (c->kind == KKI_ON_SPRING || c->kind == KKI_ON_SERVO) {
        s->block[c->block] = (kki_block){.law = KKI_LAW_EQUALITY}; // the paper's own file fills it
    } else {
        const int slot = c->kind == KKI_ON_COUPLING ? w->first_coupling + c->item : w->first_loop + 6 * c->item;
        begin_equalities(m, s, c, warm + slot);
    }
}

/// Blocks of all constraints with rows and contacts numbered in their island; padding of the rows is zeroed.
void kki_island_begin(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_warm_layout *w,
                      const double *warm) {
    for (int i = 0; i < I->nconstraint; i++) {
        kki_constraint *c = &s->constraint[s->order[I->first_constraint + i]];
        begin_constraint(m, s, c, w, warm);
        for (int b = 0; b < c->nblock; b++) {
            kki_block *block = &s->block[c->block + b];
            block->row += c->row - I->first_row;
            block->contact += c->block - I->first_block + (block->law == KKI_LAW_CONTACT ? 0 : b);
        }
    }
    for (int r = I->first_row + I->nrow; r < I->first_row + I->stride; r++) {
        s->bias[r] = s->lambda[r] = s->compliance[r] = s->g[r] = s->u[r] = 0;
    }
}

/// Rows `first` … `end` of a loop, all lengths or all angles.
static void free_dead(kk_simulator *s, const kki_island *I, const kki_constraint *c, int first, int end) {
    double size[KKI_MOST_ROWS], most = 0;
    for (int r = first; r < end; r++) {
        kki_rows_own(s, I, c->row - I->first_row + r, 1, &size[r]);
        most = size[r] > most ? size[r] : most;
    }
    for (int r = first; r < end; r++) {
        if (size[r] <= DEAD_ROW * most && s->compliance[c->row + r] == 0) {
            kki_block *b = &s->block[c->block + r];
            *b = (kki_block){.law = KKI_LAW_BOX, .row = b->row, .contact = b->contact};
            s->lambda[c->row + r] = 0;
        }
    }
}

void kki_island_free_dead_rows(kk_simulator *s, const kki_island *I) {
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraint[s->order[I->first_constraint + i]];
        if (c->kind == KKI_ON_LOOP) {
            free_dead(s, I, c, 0, c->nrow < 3 ? c->nrow : 3);
            free_dead(s, I, c, 3, c->nrow);
        }
    }
}
