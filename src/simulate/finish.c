/// What the step did, for those who ask: impulses and velocities of contacts, joint forces by source, energy.
#include <string.h>

#include "simulate/simulator.h"
#include "simulate/tendons.h"

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
static void finish_contact(const kk_model *m, kk_simulator *s, const kki_constraint *c, double rate) {
    kki_contact *k = &s->contacts.list[c->item];
    const kki_contact_law *law = &m->law[k->law];
    const int is_plain = s->traits.has_plain_contacts; // then there is one line of memory less to look at
    const double *u = s->solution.u + c->row, *lambda = s->solution.lambda + c->row, *kept = s->solution.kept + c->row;
    const double surface[2] = {is_plain ? 0 : k->surface[0], is_plain ? 0 : k->surface[1]};
    const double across = u[2] - surface[1] * law->ratio;
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
    const double asked = s->solution.bias[c->row] - k->swing + s->solution.compliance[c->row] * lambda[0];
    k->velocity = kk_vec3_make(u[0] - asked, u[1] - surface[0], law->ratio == 1 ? across : across / law->ratio);
}

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
        } else if (c->kind == KKI_ON_LOOP || kki_is_spatial_row(s->model, c)) {
            add_outside(s, c, rate);
        }
    }
    s->readout.owes_outside = 0;
}

static double size_of(const double *lambda, int count) {
    double sum = 0;
    for (int k = 0; k < count; k++) {
        sum += lambda[k] * lambda[k];
    }
    return kk_sqrt(sum);
}

/// A loop that bore more than it can is off from the next step on.
static void break_loop(const kk_model *m, kk_simulator *s, const kki_constraint *c) {
    const kki_model_loop *l = &m->loop[c->item];
    const int forces = c->nrow < 3 ? c->nrow : 3;
    const double *lambda = s->solution.lambda + c->row;
    if (l->break_force == __builtin_inf() && l->break_moment == __builtin_inf()) {
        return;
    }
    if (size_of(lambda, forces) > s->h * l->break_force ||
        size_of(lambda + forces, c->nrow - forces) > s->h * l->break_moment) {
        s->constraints.loop_switch[c->item] = KKI_SWITCH_OFF;
        s->report.broken++;
    }
}

/// A fixed tendon's limit, friction or hold on its joints; what spatial ones do is among the forces on nodes.
static void finish_tendon(const kk_model *m, kk_simulator *s, const kki_constraint *c, double f) {
    if (kki_is_spatial_row(m, c)) {
        return;
    }
    kki_tendon_book(m, s, c->item, f,
                    c->kind == KKI_ON_TENDON_FRICTION   ? KK_FORCE_FRICTION
                    : c->kind == KKI_ON_TENDON_EQUALITY ? KK_FORCE_CONSTRAINT
                                                        : KK_FORCE_LIMIT);
    if (c->kind == KKI_ON_TENDON_EQUALITY && m->tendon[c->item].leader >= 0) {
        kki_tendon_book(m, s, m->tendon[c->item].leader, -c->weight * f, KK_FORCE_CONSTRAINT);
    }
}

static void finish_constraint(const kk_model *m, kk_simulator *s, const kki_constraint *c, double rate) {
    if (c->kind == KKI_ON_CONTACT) { // most are
        finish_contact(m, s, c, rate);
        return;
    }
    const double f = s->solution.lambda[c->row] / s->h;
    if (c->kind == KKI_ON_LOOP) {
        break_loop(m, s, c);
        return;
    }
    s->forces.has_bounded = 1;
    if (c->kind == KKI_ON_LIMIT) {
        s->forces.by_source[KK_FORCE_LIMIT][c->item] += c->side ? -f : f;
    } else if (c->kind == KKI_ON_JOINT_FRICTION) {
        s->forces.by_source[KK_FORCE_FRICTION][c->item] += f;
    } else if (c->kind == KKI_ON_TENDON_LIMIT || c->kind == KKI_ON_TENDON_FRICTION ||
               c->kind == KKI_ON_TENDON_EQUALITY) {
        finish_tendon(m, s, c, c->kind == KKI_ON_TENDON_LIMIT && c->side ? -f : f);
    } else if (c->kind == KKI_ON_TENDON_DRIVE) {
        kki_tendon_finish(m, s, c->item, s->solution.lambda[c->row]);
    } else if (c->kind == KKI_ON_MOTOR) {
        const double torque = f / c->weight;
        s->forces.by_source[KK_FORCE_ACTUATOR][m->actuator[c->item].v_index] += torque;
        s->forces.drive[c->item] = torque / m->actuator[c->item].gear;
    } else if (c->kind == KKI_ON_SPRING) {
        s->forces.by_source[KK_FORCE_PASSIVE][c->item] += f;
    } else if (c->kind == KKI_ON_SERVO) {
        const kki_model_actuator *a = &m->actuator[c->item];
        s->forces.drive[c->item] = f;
        s->forces.by_source[KK_FORCE_ACTUATOR][a->v_index] += a->gear * f;
    } else if (c->kind == KKI_ON_COUPLING) {
        s->forces.by_source[KK_FORCE_CONSTRAINT][m->coupling[c->item].follower_v] += f;
        s->forces.by_source[KK_FORCE_CONSTRAINT][m->coupling[c->item].leader_v] -= m->coupling[c->item].ratio * f;
    }
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
        finish_constraint(model, s, &s->constraints.list[i], rate);
    }
    kki_saturated_finish(model, s);
    s->readout.owes_energy = !s->rk4.is_used;
    s->readout.owes_outside = 1;
    if (s->traits.has_only_free_bodies || s->paper) { // which go on with what these are made of
        kki_settle_energies(s);
        kki_settle_outside(s);
    }
}
