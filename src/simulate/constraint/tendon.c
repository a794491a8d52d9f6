/// Tendons as rows: limits and dry friction, held lengths, and what drives them where it is stiff for the step's length (tendons.c has the forces).
#include "model/warm.h"
#include "simulate/constraint/wrench.h"
#include "simulate/tendons.h"

/// A force at the second point, its opposite at the first.
static void add_line(kk_simulator *s, const int node[2], const kk_vec3 at[2], kk_vec3 force) {
    kki_row_part *p = kki_constraint_part(s, 0, node[1], node[0]);
    put(p->wi, kk_vec3_cross(kk_vec3_sub(at[1], origin(s, node[1])), force), force, 1);
    put(p->wj, kk_vec3_cross(kk_vec3_sub(at[0], origin(s, node[0])), force), force, -1);
}

static void add_rows(const kk_model *m, kk_simulator *s, const kki_model_tendon *t, double sign) {
    for (int i = 0; i < t->term_count && t->type == KK_TENDON_FIXED; i++) {
        const kki_tendon_term *x = &m->tendon_term[t->first_term + i];
        kki_constraint_dof_part(m, s, 0, x->v_index, sign * x->coefficient);
    }
    kki_tendon_walk walk = {.share = 1};
    for (kki_tendon_leg leg; t->type == KK_TENDON_SPATIAL && kki_tendon_next(m, s->data, t, &walk, &leg);) {
        for (int k = 0; k < leg.count; k++) {
            const kki_tendon_piece *p = &leg.piece[k];
            if (p->node[0] != p->node[1]) {
                add_line(s, p->node, p->at, kk_vec3_scale(p->e, sign * leg.share));
            }
        }
    }
}

static void add_limit(const kk_model *m, kk_simulator *s, int tendon, int side, double gap) {
    int32_t branch[2];
    if (!kki_tendon_branches(m, &m->tendon[tendon], branch) || branch[0] < 0) {
        return;
    }
    kki_constraint *c = kki_constraint_begin(s, KKI_ON_TENDON_LIMIT, tendon);
    c->side = side;
    c->nrow = c->nblock = 1;
    c->gap[0] = gap;
    c->npositions = 1;
    c->dof[0] = branch[0];
    c->dof[1] = branch[1];
    add_rows(m, s, &m->tendon[tendon], side ? -1 : 1);
    kki_constraint_end(s, c);
}

/// A row along the tendon alone. NULL where nothing moves, or more than two trees do.
static kki_constraint *add_length(const kk_model *m, kk_simulator *s, kki_constraint_kind kind, int tendon) {
    int32_t branch[2];
    if (!kki_tendon_branches(m, &m->tendon[tendon], branch) || branch[0] < 0) {
        return NULL;
    }
    kki_constraint *c = kki_constraint_begin(s, kind, tendon);
    c->nrow = c->nblock = 1;
    c->dof[0] = branch[0];
    c->dof[1] = branch[1];
    add_rows(m, s, &m->tendon[tendon], 1);
    return c;
}

static void add_friction(const kk_model *m, kk_simulator *s, int tendon) {
    kki_constraint *c = add_length(m, s, KKI_ON_TENDON_FRICTION, tendon);
    if (c) {
        c->side = 2;
        kki_constraint_end(s, c);
    }
}

static void add_drive(const kk_model *m, kk_simulator *s, int tendon) {
    kki_constraint *c = add_length(m, s, KKI_ON_TENDON_DRIVE, tendon);
    if (c) {
        kki_constraint_end(s, c);
    }
}

/// L = p(L'): the row is J − p'(L') J'.
static void add_equality(const kk_model *m, kk_simulator *s, int tendon) {
    const kki_model_tendon *t = &m->tendon[tendon];
    const double x = t->leader < 0 ? 0 : kki_tendon_measure(m, s->data, t->leader, s->motion.q, NULL).length;
    const double *p = t->held, value = p[0] + x * (p[1] + x * (p[2] + x * (p[3] + x * p[4])));
    const double slope = p[1] + x * (2 * p[2] + x * (3 * p[3] + x * 4 * p[4]));
    int32_t branch[2];
    int fits = kki_tendon_branches(m, t, branch);
    fits = fits && (t->leader < 0 || kki_tendon_more_branches(m, &m->tendon[t->leader], branch));
    if (!fits || branch[0] < 0) {
        return;
    }
    kki_constraint *c = kki_constraint_begin(s, KKI_ON_TENDON_EQUALITY, tendon);
    c->nrow = c->nblock = c->npositions = 1;
    c->dof[0] = branch[0];
    c->dof[1] = branch[1];
    c->gap[0] = kki_tendon_measure(m, s->data, tendon, s->motion.q, NULL).length - value;
    c->weight = slope;
    add_rows(m, s, t, 1);
    if (t->leader >= 0) {
        add_rows(m, s, &m->tendon[t->leader], -slope);
    }
    kki_constraint_end(s, c);
}

static void assemble(const kk_model *model, kk_simulator *s) {
    for (int i = 0; i < model->ntendon; i++) {
        const kki_model_tendon *t = &model->tendon[i];
        if (kki_tendon_has_limits(t)) {
            const kki_tendon_motion x = kki_tendon_measure(model, s->data, i, s->motion.q, s->motion.v);
            const double reach = 0.01 + 2 * s->h * __builtin_fabs(x.rate);
            if (x.length - t->lower < reach) {
                add_limit(model, s, i, 0, x.length - t->lower);
            }
            if (t->upper - x.length < reach) {
                add_limit(model, s, i, 1, t->upper - x.length);
            }
        }
        if (t->friction > 0) {
            add_friction(model, s, i);
        }
        if (kki_tendon_is_driven(model, s, i)) {
            add_drive(model, s, i);
        }
        if (t->is_held) {
            add_equality(model, s, i);
        }
    }
}

/// Whether a constraint's forces are to be found on nodes.
int kki_is_spatial_row(const kk_model *m, const kki_constraint *c) {
    if (c->kind != KKI_ON_TENDON_LIMIT && c->kind != KKI_ON_TENDON_FRICTION && c->kind != KKI_ON_TENDON_EQUALITY &&
        c->kind != KKI_ON_TENDON_DRIVE) {
        return 0;
    }
    const kki_model_tendon *t = &m->tendon[c->item];
    return t->type == KK_TENDON_SPATIAL ||
           (c->kind == KKI_ON_TENDON_EQUALITY && t->leader >= 0 && m->tendon[t->leader].type == KK_TENDON_SPATIAL);
}

// ---- laws

/// Armature m of a tendon, and a force f + S (u − u₀) along it with S ≤ 0:  λ = h f + h S (u − u₀) − m (u − u₀ + turn). With M = m − h S that is
///     u + λ/M − u₀ − (h f − m turn)/M = 0.
static void drive_law(const kk_model *m, kk_simulator *s, kki_constraint *c, const double *warm) {
    (void)warm; // none
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

static void friction_law(const kk_model *m, kk_simulator *s, kki_constraint *c, const double *warm) {
    kki_dry_law(s, c, s->h * m->tendon[c->item].friction, warm[0]);
}

/// Lower, upper, friction.
static int slot_by_side(const kki_warm_layout *w, const kki_constraint *c) {
    return w->first_tendon + KKI_WARM_TENDON_SIZE * c->item + c->side;
}

static int equality_slot(const kki_warm_layout *w, const kki_constraint *c) {
    return w->first_held + c->item;
}

// ---- what comes of it; what spatial ones do is among the forces on nodes

static void report_limit(const kk_model *m, kk_simulator *s, const kki_constraint *c, double rate) {
    const double f = s->solution.lambda[c->row] / s->h;
    (void)rate;
    if (!kki_is_spatial_row(m, c)) {
        kki_tendon_book(m, s, c->item, c->side ? -f : f, KK_FORCE_LIMIT);
    }
}

static void report_friction(const kk_model *m, kk_simulator *s, const kki_constraint *c, double rate) {
    (void)rate;
    if (!kki_is_spatial_row(m, c)) {
        kki_tendon_book(m, s, c->item, s->solution.lambda[c->row] / s->h, KK_FORCE_FRICTION);
    }
}

static void report_equality(const kk_model *m, kk_simulator *s, const kki_constraint *c, double rate) {
    const double f = s->solution.lambda[c->row] / s->h;
    (void)rate;
    if (kki_is_spatial_row(m, c)) {
        return;
    }
    kki_tendon_book(m, s, c->item, f, KK_FORCE_CONSTRAINT);
    if (m->tendon[c->item].leader >= 0) {
        kki_tendon_book(m, s, m->tendon[c->item].leader, -c->weight * f, KK_FORCE_CONSTRAINT);
    }
}

static void report_drive(const kk_model *m, kk_simulator *s, const kki_constraint *c, double rate) {
    (void)rate;
    kki_tendon_finish(m, s, c->item, s->solution.lambda[c->row]);
}

/// All four are listed tendon by tendon, by the first.
const kki_constraint_type kki_constraint_tendon_limit = {.name = "tendon",
                                                         .kind = KKI_CLASS_STOP,
                                                         .is_spread = 1,
                                                         .assemble = assemble,
                                                         .law = kki_stop_law,
                                                         .slot = slot_by_side,
                                                         .report = report_limit};
const kki_constraint_type kki_constraint_tendon_friction = {.name = "dry friction of a tendon",
                                                            .kind = KKI_CLASS_DRY,
                                                            .is_spread = 1,
                                                            .law = friction_law,
                                                            .slot = slot_by_side,
                                                            .report = report_friction};
const kki_constraint_type kki_constraint_tendon_equality = {.name = "a tendon's held length",
                                                            .kind = KKI_CLASS_CLOSURE,
                                                            .is_spread = 1,
                                                            .law = kki_equality_law,
                                                            .slot = equality_slot,
                                                            .report = report_equality};
const kki_constraint_type kki_constraint_tendon_drive = {.name = "armature and springs of a tendon",
                                                         .kind = KKI_CLASS_DRIVE,
                                                         .is_spread = 1,
                                                         .law = drive_law,
                                                         .report = report_drive};
