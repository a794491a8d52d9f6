/// The energy audit: E(after) − E(before) = work of all forces that are not conservative + integration error.
///
/// E is the kinetic energy and that of gravity at the state itself, and not at the step's middle where the certificate of the kick is made: what a drift along a wrong path
/// adds is seen here and nowhere else. Generalized forces are constant through a step and their kick changes the energy by h f·(v₀ + v₁)/2 exactly, so every work
/// is a product of numbers that are there, and what is left over is the error of the integration, signed. Springs, dampers and servos are counted as forces;
/// the potential that the report shows beside has the joints' springs in it.
#include "simulate/audit.h"

#include <string.h>

#include "simulate/balance.h"
#include "simulate/constraint.h"

/// Of a tree's joints' springs, whose ways kki_tree_energies leaves behind.
static double spring_energy(const kk_model *m, const kk_simulator *s, int tree) {
    double sum = 0;
    for (int k = m->tree_first_dof[tree]; k < m->tree_first_dof[tree + 1] && s->traits.has_stiffness; k++) {
        const double stretch = s->kick.dv[k] - m->dof[k].rest;
        sum += m->dof[k].stiffness * (stretch * stretch);
    }
    return 0.5 * sum;
}

/// Of each tree, and their sum.
static kki_audit_energy energy_at(const kk_model *m, kk_simulator *s, const double *q, const double *v,
                                  kki_audit_energy *tree) {
    kki_audit_energy sum = {0, 0, 0};
    s->energy.fastest = kki_tree_energies(m, s, q, v, s->energy.tree_energy);
    for (int t = 0; t < m->ntree; t++) {
        const kki_energy *e = &s->energy.tree_energy[t];
        tree[t] = (kki_audit_energy){e->kinetic, e->potential, spring_energy(m, s, t)};
        sum.kinetic += tree[t].kinetic;
        sum.potential += tree[t].potential;
        sum.springs += tree[t].springs;
    }
    return sum;
}

static int is_last(const kk_model *m, const kk_simulator *s, const kk_state *state) {
    return s->energy.audited.is_known &&
           memcmp(s->energy.audited.q, kk_state_q_const(state), (size_t)m->nq * sizeof *s->energy.audited.q) == 0 &&
           memcmp(s->energy.audited.v, kk_state_v_const(state), (size_t)m->nv * sizeof *s->energy.audited.v) == 0;
}

/// The energy that the step starts from: mostly what the last one ended with.
static kki_audit_energy energy_before(const kk_model *m, kk_simulator *s, const kk_state *state) {
    kki_audited *last = &s->energy.audited;
    if (is_last(m, s, state)) {
        memcpy(last->tree_before, last->tree, (size_t)m->ntree * sizeof *last->tree);
        return last->energy;
    }
    return energy_at(m, s, kk_state_q_const(state), kk_state_v_const(state), last->tree_before);
}

static kki_audit_energy energy_after(const kk_model *m, kk_simulator *s) {
    s->energy.audited.energy = energy_at(m, s, s->motion.q, s->motion.v, s->energy.audited.tree);
    s->energy.audited.is_known = 1;
    memcpy(s->energy.audited.q, s->motion.q, (size_t)m->nq * sizeof *s->motion.q);
    memcpy(s->energy.audited.v, s->motion.v, (size_t)m->nv * sizeof *s->motion.v);
    return s->energy.audited.energy;
}

/// h f·(v₀ + v₁)/2
static double work_of(const kk_model *m, const kk_simulator *s, kk_force_source source) {
    const double *f = s->forces.by_source[source], *v0 = s->motion.v_before, *v1 = s->motion.v_after;
    double sum = 0;
    for (int k = 0; k < m->nv; k++) {
        sum += f[k] * (v0[k] + v1[k]);
    }
    return 0.5 * s->h * sum;
}

/// Of surfaces that run, on what they carry: their friction times their way.
static double work_of_surfaces(const kk_simulator *s) {
    double sum = 0;
    for (int i = 0; i < s->constraints.count; i++) {
        const kki_constraint *c = &s->constraints.list[i];
        const kki_contact *k = &s->contacts.list[c->kind == KKI_ON_CONTACT ? c->item : 0];
        if (c->kind == KKI_ON_CONTACT && (k->surface[0] != 0 || k->surface[1] != 0)) {
            const double *l = s->solution.lambda + c->row;
            sum -= l[1] * k->surface[0] + l[2] * k->surface[1];
        }
    }
    return sum;
}

void kki_audit_pushes(const kk_model *m, kk_simulator *s) {
    s->energy.moved_work = work_of_surfaces(s);
    s->energy.pushed_work = 0;
    if (!s->forces.is_pushed) {
        return;
    }
    for (int k = 0; k < m->nv; k++) {
        s->readout.view_v[k] = 0.5 * (s->motion.v[k] + s->motion.v_after[k]);
    }
    kk_kinematics_velocity(m, s->readout.view, s->motion.q, s->readout.view_v);
    for (int i = 1; i < m->nnode; i++) {
        const kki_rates *V = kki_rates_of(s->readout.view, i);
        const kk_force *f = &s->readout.outside[i];
        s->energy.pushed_work +=
            s->h * (kk_vec3_dot(f->angular, kki_vec3(V->w)) + kk_vec3_dot(f->linear, kki_vec3(V->u)));
    }
}

static double greater(double a, double b) {
    return a > b ? a : b;
}

/// Whether the step moved positions by more than its velocities did, to take overlap back.
static int was_corrected(const kk_model *m, const kk_simulator *s) {
    return memcmp(s->motion.v_drift, s->motion.v_after, (size_t)m->nv * sizeof *s->motion.v_drift) != 0;
}

/// Most that taking overlap back can lift what is heavy: half a step of the change of velocity, with all of the weight.
static double most_correction(const kk_model *m, const kk_simulator *s) {
    const double g =
        kk_sqrt(m->gravity[0] * m->gravity[0] + m->gravity[1] * m->gravity[1] + m->gravity[2] * m->gravity[2]);
    double fastest = 0;
    for (int k = 0; k < m->nv; k++) {
        fastest = greater(fastest, __builtin_fabs(s->motion.v_drift[k] - s->motion.v_after[k]));
    }
    return m->total_mass * g * 0.5 * s->h * fastest;
}

/// |Δv|/|v| in the norm of the kinetic energy, which is |y|²/2: how fast the motion changes, in units of the step.
static double relative_change(const kk_model *m, const kk_simulator *s) {
    double change = 0, before = 0, after = 0;
    for (int k = 0; k < m->nv; k++) {
        const double a = s->kick.y[k], b = s->kick.y_end[k];
        before += a * a;
        after += b * b;
        change += (b - a) * (b - a);
    }
    const double most = greater(before, after);
    return most > 0 ? kk_sqrt(change / most) : 0;
}

/// The error of a rule of second order grows with (ω h)³, where ω is the fastest rate of the motion: up to that a step is as good as its rule.
static double accurate_share(const kk_model *m, const kk_simulator *s) {
    const double rate = greater(s->h * s->energy.fastest, relative_change(m, s)) / KKI_SMALL_RATE;
    return KKI_ACCURATE * (rate > 1 ? rate * rate * rate : 1);
}

/// Whether a step is off by more than its rule: of gains no more than may be certified, of losses what the rate of the motion explains.
static int is_rough(double error, double accurate, double scale) {
    const double gain = accurate < KKI_MOST_GAIN * scale ? accurate : KKI_MOST_GAIN * scale;
    return error > gain || -error > accurate;
}

/// What dampers of joints take by their law.
static double work_of_dampers(const kk_model *m, const kk_simulator *s) {
    const double *v0 = s->motion.v_before, *v1 = s->motion.v_after;
    double sum = 0;
    for (int k = 0; k < m->nv; k++) {
        sum += m->dof[k].damping * (v0[k] + v1[k]) * (v0[k] + v1[k]);
    }
    return 0.25 * s->h * sum;
}

/// Several parts of a step have one audit.
static void add_parts(const kk_audit *first, kk_audit *a) {
    a->kinetic[0] = first->kinetic[0];
    a->potential[0] = first->potential[0];
    a->actuators += first->actuators;
    a->applied += first->applied;
    a->correction += first->correction;
    a->moved += first->moved;
    a->dissipated += first->dissipated;
    a->damping += first->damping;
    a->error += first->error;
    a->scale = greater(a->scale, first->scale);
}

/// A step that could not be certified gains nothing: all that came from nowhere is taken, if there is so much, and what taking overlap back lifted.
static void take_gain(const kk_model *m, kk_simulator *s, double left) {
    const double most = s->report.audit.kinetic[1];
    if (left > 0 && most > 0) {
        const double taken = left < most ? left : most;
        kki_scale_velocities(s, 0, m->nv, kk_sqrt((most - taken) / most));
        kki_note_taken(m, s, taken);
    }
}

void kki_audit(const kk_model *m, kk_simulator *s, const kk_state *state) {
    const kk_audit parts = s->report.audit;
    kk_audit *a = &s->report.audit;
    const kki_audit_energy before = energy_before(m, s, state), after = energy_after(m, s);
    const double passive = s->traits.has_springs ? work_of(m, s, KK_FORCE_PASSIVE) : 0;
    const double constraints = s->report.constraint_work - s->energy.work_before;
    *a = (kk_audit){.kinetic = {before.kinetic, after.kinetic}, .potential = {before.potential, after.potential}};
    a->actuators = m->nactuator > 0 ? work_of(m, s, KK_FORCE_ACTUATOR) : 0;
    a->applied = (s->forces.has_applied ? work_of(m, s, KK_FORCE_APPLIED) : 0) + s->energy.pushed_work;
    const double works = a->actuators + a->applied + passive + constraints;
    const double fall = (after.potential - after.springs) - (before.potential - before.springs);
    const double left = (after.kinetic - before.kinetic) + fall - works;
    const double most = was_corrected(m, s) ? most_correction(m, s) : 0;
    a->correction = left > most ? most : left > -most ? left : -most;
    a->error = left - a->correction;
    const double spent = -(passive + (after.springs - before.springs)); // by springs and dampers
    a->moved = s->energy.moved_work;
    a->damping = s->traits.has_springs ? spent - work_of_dampers(m, s) : 0;
    a->dissipated = spent - a->damping + a->moved - constraints;
    a->scale = greater(greater(before.kinetic, after.kinetic), __builtin_fabs(fall));
    a->scale = greater(a->scale, __builtin_fabs(a->actuators) + __builtin_fabs(a->applied));
    a->scale = greater(a->scale, greater(__builtin_fabs(passive), __builtin_fabs(constraints)));
    a->scale = greater(a->scale, KKI_LEAST_ENERGY * m->total_mass);
    const double accurate = accurate_share(m, s) * a->scale;
    s->energy.balanced = 0;
    if (s->retry.degrades) {
        take_gain(m, s, left);
    } else if (s->energy.may_balance) {
        kki_balance_energy(m, s);
    }
    // a whole step is judged as the rule took it; of shares only what they leave is a gain
    const double gain = a->error - (s->retry.shares > 0 ? s->energy.balanced : 0);
    s->energy.verdict = gain > KKI_MOST_GAIN * a->scale          ? KKI_AUDIT_GAINS
                        : is_rough(a->error, accurate, a->scale) ? KKI_AUDIT_ROUGH
                                                                 : KKI_AUDIT_ACCURATE;
    if (parts.scale > 0) {
        add_parts(&parts, a);
    }
}

kki_verdict_of_audit kki_audit_verdict(const kk_simulator *s) {
    return (kki_verdict_of_audit)s->energy.verdict;
}
