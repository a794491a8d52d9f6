/// Couplings: a follower's coordinate is that of its leader times a ratio, and an offset.
#include "model/warm.h"
#include "simulate/constraint/wrench.h"

static double gap_of(const kk_simulator *s, const kki_coupling *k) {
    return s->motion.q[k->follower_q] - k->ratio * s->motion.q[k->leader_q] - k->offset;
}

static void add(const kk_model *m, kk_simulator *s, int i) {
    const kki_coupling *k = &m->coupling[i];
    kki_constraint *c = kki_constraint_begin(s, KKI_ON_COUPLING, i);
    c->nrow = c->nblock = 1;
    c->gap[0] = gap_of(s, k);
    c->npositions = 1;
    c->dof[0] = k->follower_v;
    c->dof[1] = k->leader_v;
    kki_constraint_dof_part(m, s, 0, k->follower_v, 1);
    kki_constraint_dof_part(m, s, 0, k->leader_v, -k->ratio);
    kki_constraint_end(s, c);
}

static void assemble(const kk_model *m, kk_simulator *s) {
    for (int i = 0; i < m->ncoupling; i++) {
        add(m, s, i);
    }
}

static double opening(const kk_model *m, const kk_simulator *s, const kk_data *poses) {
    double widest = 0;
    (void)poses;
    for (int i = 0; i < m->ncoupling; i++) {
        const double gap = __builtin_fabs(gap_of(s, &m->coupling[i]));
        widest = gap > widest ? gap : widest;
    }
    return widest;
}

static void gaps(const kk_model *m, const kk_simulator *s, const kk_data *poses, int item, double gap[KKI_MOST_ROWS]) {
    (void)poses;
    gap[0] = gap_of(s, &m->coupling[item]);
}

static int slot(const kki_warm_layout *w, const kki_constraint *c) {
    return w->first_coupling + c->item;
}

static void report(const kk_model *m, kk_simulator *s, const kki_constraint *c, double rate) {
    const double f = s->solution.lambda[c->row] / s->h;
    (void)rate;
    s->forces.by_source[KK_FORCE_CONSTRAINT][m->coupling[c->item].follower_v] += f;
    s->forces.by_source[KK_FORCE_CONSTRAINT][m->coupling[c->item].leader_v] -= m->coupling[c->item].ratio * f;
}

const kki_constraint_type kki_constraint_coupling = {.name = "coupling",
                                                     .kind = KKI_CLASS_CLOSURE,
                                                     .assemble = assemble,
                                                     .law = kki_equality_law,
                                                     .slot = slot,
                                                     .report = report,
                                                     .opening = opening,
                                                     .gaps = gaps};
