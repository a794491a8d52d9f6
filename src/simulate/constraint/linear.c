/// Linear rows of papers: spring and damper of a degree of freedom, actuator of a joint. The paper's own file lists them and fills what they need.
#include "simulate/constraint.h"

static void law_of(const kk_model *m, kk_simulator *s, kki_constraint *c, const double *warm) {
    (void)m;
    (void)warm;
    s->solution.block[c->block] = (kki_block){.law = KKI_LAW_EQUALITY};
}

static void report_spring(const kk_model *m, kk_simulator *s, const kki_constraint *c, double rate) {
    (void)m;
    (void)rate;
    s->forces.by_source[KK_FORCE_PASSIVE][c->item] += s->solution.lambda[c->row] / s->h;
}

static void report_servo(const kk_model *m, kk_simulator *s, const kki_constraint *c, double rate) {
    const kki_model_actuator *a = &m->actuator[c->item];
    const double f = s->solution.lambda[c->row] / s->h;
    (void)rate;
    s->forces.drive[c->item] = f;
    s->forces.by_source[KK_FORCE_ACTUATOR][a->v_index] += a->gear * f;
}

const kki_constraint_type kki_constraint_spring = {
    .name = "spring", .kind = KKI_CLASS_LINEAR, .law = law_of, .report = report_spring};
const kki_constraint_type kki_constraint_servo = {
    .name = "servo", .kind = KKI_CLASS_LINEAR, .law = law_of, .report = report_servo};
