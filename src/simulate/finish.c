/// What the step did, for those who ask: impulses and velocities of contacts, joint forces by source, energy.
#include <string.h>

#include "simulate/constraint.h"
#include "simulate/tendons.h"

static void add_wrench(kk_simulator *s, int node, const double w[6]) {
    const kk_force F = kk_force_make(kk_vec3_make(w[0], w[1], w[2]), kk_vec3_make(w[3], w[4], w[5]));
    s->readout.outside[node] = kk_force_add(s->readout.outside[node], F);
}

/// The wrenches of `count` parts between the same two nodes on both of them; what the world feels nobody asks.
static void add_both(kk_simulator *s, const kki_row_part *p, int count, const double *lambda, double rate) {
    double wi[6] = {0}, wj[6] = {0};
    for (int r = 0; r < count; r++) {
        const double f = lambda[p[r].row] * rate;
        for (int k = 0; k < 6; k++) {
            wi[k] += f * p[r].wi[k];
            wj[k] += f * p[r].wj[k];
        }
    }
    if (p->i > 0) {
        add_wrench(s, p->i, wi);
    }
    if (p->j > 0) {
        add_wrench(s, p->j, wj);
    }
}

/// Forces of contacts and loops on nodes, mean over the step: of all parts between the same two at once.
static void add_outside(kk_simulator *s, const kki_constraint *c, double rate) {
    const kki_row_part *p = &s->constraints.part[c->first_part], *end = p + c->nparts;
    while (p < end) {
        int count = 1;
        while (p + count < end && p[count].i == p->i && p[count].j == p->j) {
            count++;
        }
        add_both(s, p, count, s->solution.lambda + c->row, rate);
        p += count;
    }
}

void kki_settle_outside(kk_simulator *s) {
    const double rate = 1 / s->h;
    for (int i = 0; i < s->constraints.count && s->readout.owes_outside; i++) {
        const kki_constraint *c = &s->constraints.list[i];
        if (c->kind == KKI_ON_CONTACT) { // all between two nodes
            add_both(s, &s->constraints.part[c->first_part], c->nparts, s->solution.lambda + c->row, rate);
        } else if (kki_type_of(c)->bodies || (kki_type_of(c)->is_spread && kki_is_spatial_row(s->model, c))) {
            add_outside(s, c, rate);
        }
    }
    s->readout.owes_outside = 0;
}

/// Kinetic energy of y: M̂ = M + impedance, so the impedance's share is taken off again.
static double kinetic(const kk_model *m, const kk_simulator *s, const double *y, const double *v) {
    const double *whole = s->forces.diagonal, *own = m->dof_armature;
    double sum[4] = {0}; // one sum would wait for itself
    int first = 0;
    for (; first + 4 <= m->nv; first += 4) { // side by side
        for (int k = 0; k < 4; k++) {
            const int i = first + k;
            sum[k] += y[i] * y[i] - (whole[i] - own[i]) * v[i] * v[i];
        }
    }
    for (int k = first; k < m->nv; k++) {
        sum[k & 3] += y[k] * y[k] - (whole[k] - own[k]) * v[k] * v[k];
    }
    return 0.5 * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

/// Kinetic energies before and after the kick; of a crowd they have been found body by body.
static void report_kinetic(const kk_model *m, const kk_simulator *s, kk_report *report) {
    if (!s->traits.has_only_free_bodies || !s->forces.only_touches) {
        report->kinetic_before = kinetic(m, s, s->kick.y, s->motion.v_before) + s->forces.tendon_kinetic[0];
        report->kinetic_after = kinetic(m, s, s->kick.y_end, s->motion.v_after) + s->forces.tendon_kinetic[1];
        return;
    }
    kki_kinetic sum = {0, 0};
    for (int i = 1; i < m->nnode; i++) {
        sum.before += s->only_free.kinetic[i].before;
        sum.after += s->only_free.kinetic[i].after;
    }
    report->kinetic_before = sum.before;
    report->kinetic_after = sum.after;
}

/// They take two passes over all joints and one over all links, and most steps nobody asks.
void kki_fill_energies(const kk_simulator *s, kk_report *report) {
    if (s->readout.owes_energy) {
        report_kinetic(s->model, s, report);
        report->potential_before = report->potential_after = kki_potential(s->model, s);
    }
}

void kki_settle_energies(kk_simulator *s) {
    kki_fill_energies(s, &s->report);
    s->readout.owes_energy = 0;
}

static void answer(int n, double h, const double *slope, const double *acceleration, double *restrict force) {
    for (int k = 0; k < n; k++) {
        force[k] -= slope[k] * (h * acceleration[k]);
    }
}

/// What implicit forces answered to the change of velocity; the other sources are gathered from the constraints.
static void begin_forces(const kk_model *m, kk_simulator *s) {
    double *const passive = s->forces.by_source[KK_FORCE_PASSIVE], *const actuator =
                                                                       s->forces.by_source[KK_FORCE_ACTUATOR];
    const double *acceleration = s->traits.has_springs || s->forces.has_servos ? kki_acceleration(s) : NULL;
    if (s->traits.has_springs) {
        answer(m->nv, s->h, s->forces.passive_slope, acceleration, passive);
    }
    if (s->forces.has_servos) {
        answer(m->nv, s->h, s->forces.servo_slope, acceleration, actuator);
    }
    if (s->forces.has_bounded) { // else they are zero
        const size_t bytes = (size_t)m->nv * sizeof(double);
        memset(s->forces.by_source[KK_FORCE_LIMIT], 0, bytes);
        memset(s->forces.by_source[KK_FORCE_FRICTION], 0, bytes);
        memset(s->forces.by_source[KK_FORCE_CONSTRAINT], 0, bytes);
    }
    s->forces.has_bounded = s->traits.has_dry_friction || s->paper;
}

void kki_finish(const kk_model *model, kk_simulator *s) {
    begin_forces(model, s);
    const double *acceleration = s->forces.has_servos ? kki_acceleration(s) : NULL;
    for (int i = 0; i < model->nactuator && s->forces.has_servos; i++) {
        const kki_model_actuator *a = &model->actuator[i];
        if (a->transmission == KK_TRANSMISSION_JOINT && s->forces.wanted[i].slope != 0 &&
            s->forces.servo_mode[i] == KKI_SERVO_FREE) {
            s->forces.drive[i] =
                s->forces.wanted[i].force + s->forces.wanted[i].slope * (a->gear * (s->h * acceleration[a->v_index]));
        }
    }
    s->readout.has_view = 0;
    const double rate = 1 / s->h;
    for (int i = 0; i < s->constraints.count; i++) {
        const kki_constraint *c = &s->constraints.list[i];
        const kki_constraint_type *t = kki_type_of(c);
        s->forces.has_bounded |= !t->bodies;
        t->report(model, s, c, rate);
    }
    kki_saturated_finish(model, s);
    s->readout.owes_energy = !s->rk4.is_used;
    s->readout.owes_outside = 1;
    if (s->traits.has_only_free_bodies || s->paper) { // which go on with what these are made of
        kki_settle_energies(s);
        kki_settle_outside(s);
    }
}
