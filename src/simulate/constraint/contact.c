/// Contacts: three rows at a point, and those of torsion and rolling where their law has them.
///
/// The bias of a gap is gap/(h/2), the speed at which it would just close in the half step that is left, and under a foot with one
/// point gap/h: at this speed it closes when contacts are looked at next, and no overlap has to be taken out of the joints then. Within the
/// dead band it is zero, so that what rests poses the same homogeneous problem in every step (contact.md, piles). A soft
/// row is an implicit spring, whose law is made where its mobility is known (reflect.c); here it is only told from a rigid one.
///
/// Creep is compliance of the two friction rows: inside the cone u = v + r λ vanishes with r = slip/h, so v = −slip · force; at its bound friction
/// opposes u, and so v. The certificate proves it as it proves what sticks. (ODE has it as slip1, slip2.)
#include "simulate/constraint/wrench.h"
#include "simulate/island.h"

static void add(const kk_model *m, kk_simulator *s, int i) {
    const kki_contact *k = &s->contacts.list[i];
    const kki_contact_law *law = &m->law[k->law];
    kki_constraint *c = kki_constraint_begin(s, KKI_ON_CONTACT, i);
    const int a = k->node[0], b = k->node[1];
    const lever at = lever_of(s, b, a, k->point);
    const triad d = triad_of(k->normal, k->tangent[0], kk_vec3_scale(k->tangent[1], law->ratio));
    force_parts(s, 0, &at, &d);
    c->nrow = 3;
    c->nblock = 1;
    if (law->torsion > 0) {
        moment_part(s, c->nrow, b, a, k->normal);
        c->nrow += 1;
        c->nblock += 1;
    }
    if (law->rolling > 0) {
        moment_part(s, c->nrow, b, a, k->tangent[0]);
        moment_part(s, c->nrow + 1, b, a, k->tangent[1]);
        c->nrow += 2;
        c->nblock += 1;
    }
    c->gap[0] = k->gap;
    c->npositions = 1;
    c->dof[0] = kki_last_dof(m, a);
    c->dof[1] = kki_last_dof(m, b);
    kki_constraint_end(s, c);
}

/// Whoever is not swept as a free body, and does not overlap deeply (overlap.c).
static void assemble(const kk_model *m, kk_simulator *s) {
    kki_list_deep_pairs(m, s);
    for (int i = 0; i < s->contacts.count && s->free_bodies.npoint < s->contacts.count; i++) {
        if (!kki_free_bodies_have_contact(s, i) && !kki_is_overlap(m, s, &s->contacts.list[i])) {
            add(m, s, i);
        }
    }
}

// ---- law

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

static void law_of(const kk_model *m, kk_simulator *s, kki_constraint *c, const double *warm) {
    (void)warm; // the contact itself has it
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
    kki_set_creep(law, s->h, soft);
    lambda[0] = kk_vec3_dot(k->impulse, k->normal);
    lambda[1] = kk_vec3_dot(k->impulse, k->tangent[0]);
    lambda[2] = kk_vec3_dot(k->impulse, k->tangent[1]);
    lambda[2] = law->ratio == 1 ? lambda[2] : lambda[2] / law->ratio;
    // what creeps has no moment at which it stops
    c->sticks = law->slip > 0 || kki_is_stuck(lambda + 1, law->friction * (lambda[0] + b->adhesion)) ||
                is_above(lambda + 1, law, lambda[0]);
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

// ---- what comes of it

/// Moment of torsion and rolling, whose rows follow the contact's three.
static kk_vec3 moment_of(const kki_contact_law *law, const kki_contact *k, const double *lambda) {
    kk_vec3 moment = kk_vec3_make(0, 0, 0);
    int row = 3;
    if (law->torsion > 0) {
        moment = kk_vec3_scale(k->normal, lambda[row++]);
    }
    if (law->rolling > 0) {
        moment = kk_vec3_add(moment, kk_vec3_add(kk_vec3_scale(k->tangent[0], lambda[row]),
                                                 kk_vec3_scale(k->tangent[1], lambda[row + 1])));
    }
    return moment;
}

static kk_vec3 force_of(const kki_contact_law *law, const kki_contact *k, const double *lambda) {
    return kk_vec3_add(
        kk_vec3_scale(k->normal, lambda[0]),
        kk_vec3_add(kk_vec3_scale(k->tangent[0], lambda[1]), kk_vec3_scale(k->tangent[1], lambda[2] * law->ratio)));
}

/// @param rate  one over the step
static void report(const kk_model *m, kk_simulator *s, const kki_constraint *c, double rate) {
    kki_contact *k = &s->contacts.list[c->item];
    const kki_contact_law *law = &m->law[k->law];
    const int is_plain = s->traits.has_plain_contacts; // then there is one line of memory less to look at
    const double *u = s->solution.u + c->row, *lambda = s->solution.lambda + c->row, *kept = s->solution.kept + c->row;
    const double surface[2] = {is_plain ? 0 : k->surface[0], is_plain ? 0 : k->surface[1]};
    const double *soft = s->solution.compliance + c->row;
    const double along = u[1] - surface[0] - soft[1] * lambda[1];
    const double across = u[2] - surface[1] * law->ratio - soft[2] * lambda[2];
    k->impulse = force_of(law, k, lambda);
    if (!s->islands.list[c->island].is_unchanged) { // else the force of the last step, to the bit
        const int all = memcmp(kept, lambda, 3 * sizeof *kept) == 0;
        k->kept = kk_vec3_scale(all ? k->impulse : force_of(law, k, kept), rate);
    }
    if (!is_plain) {
        k->moment = moment_of(law, k, lambda);
        k->kept_moment =
            s->islands.list[c->island].is_unchanged ? k->kept_moment : kk_vec3_scale(moment_of(law, k, kept), rate);
    }
    k->friction = s->solution.block[c->block].friction;
    // without what is asked of a gap, and what a spring gives way by; with what turning about the contact takes back in the second half of the step (reflect.c)
    const double asked = s->solution.bias[c->row] - k->swing + soft[0] * lambda[0];
    k->velocity = kk_vec3_make(u[0] - asked, along, law->ratio == 1 ? across : across / law->ratio);
}

static void bodies(const kk_model *m, const kk_simulator *s, const kki_constraint *c, int body[2]) {
    body[0] = m->shape[s->contacts.list[c->item].shape[0]].body;
    body[1] = m->shape[s->contacts.list[c->item].shape[1]].body;
}

const kki_constraint_type kki_constraint_contact = {.name = "contact",
                                                    .kind = KKI_CLASS_CONTACT,
                                                    .assemble = assemble,
                                                    .law = law_of,
                                                    .report = report,
                                                    .bodies = bodies};
