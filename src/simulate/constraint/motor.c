/// Motors: servos with a limit of force that they would exceed, as rows that find out.
#include <string.h>

#include "simulate/constraint/wrench.h"

/// A servo beyond its limits: its own joint, as far as the limits go. A weak one would ask for speeds that nothing has, r λ with r many times what its
/// joint gives way by, and all that touches would be judged by them; so the row is divided by what the two are to each other. 1/D is what the last kick has found.
static void add(const kk_model *m, kk_simulator *s, int actuator) {
    const kki_model_actuator *a = &m->actuator[actuator];
    const double own = 1 / kki_pivot_of(s->data, a->v_index)->inverse_D;
    const double weight = own / -(s->h * a->gear * a->gear * s->forces.wanted[actuator].slope);
    kki_constraint *c = kki_constraint_begin(s, KKI_ON_MOTOR, actuator);
    c->nrow = c->nblock = 1;
    c->dof[0] = a->v_index;
    c->weight = weight > 1 ? weight : 1;
    kki_constraint_dof_part(m, s, 0, a->v_index, 1 / c->weight);
    kki_constraint_end(s, c);
}

/// Few are, and mostly none.
static void assemble(const kk_model *m, kk_simulator *s) {
    for (int i = 0; i < m->nactuator; i++) {
        const int8_t *next = memchr(s->forces.servo_mode + i, KKI_SERVO_ROW, (size_t)(m->nactuator - i));
        if (!next) {
            return;
        }
        i = (int)(next - s->forces.servo_mode);
        add(m, s, i);
    }
}

/// A servo of force f = F + S gear (v' − v), within its limits. With λ = h gear f that is v' + r λ + b = 0,
///     r = −1/(h gear² S),   b = F/(S gear) − v;
/// the row divided by a weight w, λ is w times that, b/w and r/w².
static void law_of(const kk_model *m, kk_simulator *s, kki_constraint *c, const double *warm) {
    (void)warm; // none
    const kki_model_actuator *a = &m->actuator[c->item];
    const kki_drive d = s->forces.wanted[c->item];
    const double scale = c->weight * s->h * a->gear, low = scale * a->force_lower, high = scale * a->force_upper;
    s->solution.block[c->block] =
        (kki_block){.law = KKI_LAW_BOX, .lower = low < high ? low : high, .upper = low < high ? high : low};
    s->solution.compliance[c->row] = -1 / (s->h * a->gear * a->gear * d.slope) / (c->weight * c->weight);
    s->solution.bias[c->row] = (d.force / (d.slope * a->gear) - s->motion.v[a->v_index]) / c->weight;
    s->solution.lambda[c->row] = d.force > a->force_upper ? scale * a->force_upper : scale * a->force_lower;
}

static void report(const kk_model *m, kk_simulator *s, const kki_constraint *c, double rate) {
    const double torque = s->solution.lambda[c->row] / s->h / c->weight;
    (void)rate;
    s->forces.by_source[KK_FORCE_ACTUATOR][m->actuator[c->item].v_index] += torque;
    s->forces.drive[c->item] = torque / m->actuator[c->item].gear;
}

const kki_constraint_type kki_constraint_motor = {
    .name = "servo at its limit", .kind = KKI_CLASS_DRIVE, .assemble = assemble, .law = law_of, .report = report};
