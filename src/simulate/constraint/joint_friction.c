/// Dry friction of joints: a row whose force stays within its bounds; or, where a joint slides through the whole step, a force that is known, and no row.
///
/// A joint that the last step left with its friction at the bound, and that still moves against it, is taken to slide on: its friction is saturated. Behind
/// the kick the law is looked at: a joint that does not move against its friction at the end of the step becomes a row after all, and the step is kicked again,
/// as with servos beyond their limits. What is left is Coulomb's law to the bit, for friction at its bound against the velocity has no residual. A robot in
/// motion has a dozen rows less to climb, to multiply and to judge.
#include "model/warm.h"
#include "simulate/constraint/wrench.h"

/// Friction that counts as at its bound: it has been divided and multiplied by the time step. And that of a joint that slides, but is to be a row.
static const double AT_BOUND = 1 - 1e-9, HAIR = 1 - 1e-7;
/// Slower than this nothing is taken to slide on, rad/s or m/s.
static const double SLOW = 1e-6;

static int is_at_bound(double force, double most) {
    return most > 0 && __builtin_fabs(force) >= AT_BOUND * most;
}

void kki_saturated_begin(const kk_model *m, kk_simulator *s, const kk_state *state) {
    const double *warm = kki_state_warm_const(state) + s->warm_start.layout.first_dof + KKI_WARM_FRICTION;
    for (int k = 0; k < m->nv && s->traits.has_dry_friction; k++) {
        const double most = m->dof[k].friction, last = warm[KKI_WARM_DOF_SIZE * k], v = s->motion.v[k];
        const int slides = is_at_bound(last, most) && last * v < 0 && __builtin_fabs(v) > SLOW;
        s->forces.saturated[k] = !slides ? 0 : last > 0 ? most : -most;
    }
}

int kki_find_unsaturated(const kk_model *m, kk_simulator *s) {
    int more = 0;
    for (int k = 0; k < m->nv && s->traits.has_dry_friction; k++) {
        if (s->forces.saturated[k] != 0 && !(s->forces.saturated[k] * s->motion.v_after[k] < 0)) {
            s->forces.saturated[k] = 0;
            more = 1;
        }
    }
    return more;
}

void kki_saturated_finish(const kk_model *m, kk_simulator *s) {
    for (int k = 0; k < m->nv && s->traits.has_dry_friction; k++) {
        s->forces.by_source[KK_FORCE_FRICTION][k] += s->forces.saturated[k];
        s->report.constraint_work +=
            s->h * s->forces.saturated[k] * (0.5 * (s->motion.v_before[k] + s->motion.v_after[k]));
    }
}

/// Where the joint would stop in one more step like this one, it keeps a hair less: it slides, but is a row next time.
void kki_saturated_store(const kk_model *m, kk_simulator *s) {
    double *warm = s->warm_start.value + s->warm_start.layout.first_dof + KKI_WARM_FRICTION;
    for (int k = 0; k < m->nv && s->traits.has_dry_friction; k++) {
        double *force = warm + KKI_WARM_DOF_SIZE * k;
        *force = s->forces.saturated[k] != 0 ? s->forces.saturated[k] : *force;
        const double now = s->motion.v_after[k], next = now + (now - s->motion.v_before[k]);
        const int stops = is_at_bound(*force, m->dof[k].friction) && now * *force < 0 && next * *force >= 0;
        *force *= stops ? HAIR : 1;
    }
}

// ---- rows

static void add(const kk_model *m, kk_simulator *s, int dof) {
    if (m->dof[dof].friction <= 0 || s->forces.saturated[dof] != 0) {
        return;
    }
    kki_constraint_on_dof(m, s, KKI_ON_JOINT_FRICTION, dof, dof, 1);
}

static void assemble(const kk_model *m, kk_simulator *s) {
    const int is_rk4 = m->options.integrator == KK_INTEGRATOR_RK4; // which knows no saturated friction
    for (int i = 0; i < m->nv && (s->traits.has_dry_friction || is_rk4); i++) {
        add(m, s, i);
    }
}

static int slot(const kki_warm_layout *w, const kki_constraint *c) {
    return w->first_dof + KKI_WARM_DOF_SIZE * c->item + KKI_WARM_FRICTION;
}

static void law_of(const kk_model *m, kk_simulator *s, kki_constraint *c, const double *warm) {
    kki_dry_law(s, c, s->h * m->dof[c->item].friction, warm[0]);
}

static void report(const kk_model *m, kk_simulator *s, const kki_constraint *c, double rate) {
    (void)m;
    (void)rate;
    s->forces.by_source[KK_FORCE_FRICTION][c->item] += s->solution.lambda[c->row] / s->h;
}

const kki_constraint_type kki_constraint_joint_friction = {
    .name = "dry friction", .kind = KKI_CLASS_DRY, .assemble = assemble, .law = law_of, .slot = slot, .report = report};
