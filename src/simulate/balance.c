/// What the rule is off by in a step is small, but in a minute it adds up, and of loops it is one way: closing them takes what the velocity has along their rows. A
/// mechanism on which no force from outside acts has the energy that its works say. So its velocities are given what is missing, or lose what is too much,
/// by a common factor next to 1; loops do not see that. (RK4 does the same, rk4.c.)
#include "simulate/balance.h"

#include <string.h>

#include "model/warm.h"
#include "simulate/audit.h"
#include "simulate/constraint.h"
#include "simulate/drift.h"

/// Most of the kinetic energy that is given or taken: where a mechanism turns back it has little, and near a loss of rank a step may lose a hundredth.
static const double MOST_SHARE = 0.1;
/// Rounding of energies, of their scale, of works, and of heights: what moves slowly falls by less than its height's last digit.
static const double ROUNDING = 1e-13, ROUNDING_OF_WORKS = 1e-15, ROUNDING_OF_HEIGHTS = 4e-15;

// ---- who

/// What is driven, or rubs dry, keeps the velocities that its forces give it: whoever asked for an acceleration gets it. What flies keeps its momentum.
static int is_left_alone(const kk_model *m, const kk_simulator *s, int tree) {
    const int first = m->tree_first_dof[tree], count = m->tree_first_dof[tree + 1] - first;
    const int root = m->dof_node[first];
    return !kki_is_flyer(m, root) && !kki_is_lone(m, root) &&
           kki_is_zero(s->forces.by_source[KK_FORCE_ACTUATOR] + first, count) &&
           kki_is_zero(s->forces.by_source[KK_FORCE_FRICTION] + first, count) &&
           (!s->forces.has_applied || kki_is_zero(s->forces.by_source[KK_FORCE_APPLIED] + first, count));
}

/// Whether nothing bears on an island but loops and couplings.
static int bears_nothing(const kk_simulator *s, const kki_island *I) {
    int free = 1;
    for (int i = 0; i < I->nconstraint && free; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        free =
            c->kind == KKI_ON_LOOP || c->kind == KKI_ON_COUPLING || kki_is_zero(s->solution.lambda + c->row, c->nrow);
    }
    return free;
}

static void find_group(const kk_model *m, kk_simulator *s, int island) {
    const kki_island *I = &s->islands.list[island];
    const int32_t *tree = s->islands.tree_order + I->first_tree;
    int32_t first = tree[0];
    int may = bears_nothing(s, I);
    for (int i = 0; i < I->ntree && may; i++) {
        may = is_left_alone(m, s, tree[i]);
        first = tree[i] < first ? tree[i] : first;
    }
    for (int i = 0; i < I->ntree; i++) {
        s->energy.balance.group[tree[i]] = may ? first : -1;
    }
    s->energy.balance.work[first] = s->islands.outcome[island].report.constraint_work;
    s->energy.may_balance |= may;
}

void kki_find_balanced(const kk_model *m, kk_simulator *s) {
    s->energy.may_balance = 0;
    if (s->traits.has_only_free_bodies || s->rk4.is_used || s->forces.is_pushed) {
        return;
    }
    for (int t = 0; t < m->ntree; t++) {
        const int is_alone = (s->islands.count == 0 || s->islands.tree_island[t] < 0) && is_left_alone(m, s, t);
        s->energy.balance.group[t] = is_alone ? t : -1;
        s->energy.balance.work[t] = 0;
        s->energy.may_balance |= is_alone;
    }
    for (int i = 0; i < s->islands.count; i++) {
        find_group(m, s, i);
    }
}

// ---- by how much

void kki_scale_velocities(kk_simulator *s, int from, int end, double factor) {
    for (int k = from; k < end; k++) {
        s->motion.v[k] *= factor;
    }
    s->energy.audited.is_known =
        0; // what the step ends with is its own to the last digit, as a restored state will find it
}

void kki_note_taken(const kk_model *m, kk_simulator *s, double energy) {
    (void)m;
    kk_audit *a = &s->report.audit;
    a->kinetic[1] -= energy;
    a->correction -= energy;
    s->energy.audited.energy.kinetic = a->kinetic[1];
}

/// What a group is off by.
typedef struct debt {
    double left, kinetic, scale,
        noise; ///< J; what heights are rounded by, and forces that answer velocities, small differences where they are stiff
} debt;

static double greater(double a, double b) {
    return a > b ? a : b;
}

static void add_tree(const kk_model *m, const kk_simulator *s, int tree, debt *d) {
    const kki_audit_energy *before = &s->energy.audited.tree_before[tree], *after = &s->energy.audited.tree[tree];
    const double *f = s->forces.by_source[KK_FORCE_PASSIVE], *v0 = s->motion.v_before, *v1 = s->motion.v_after;
    const double fall = (after->potential - after->springs) - (before->potential - before->springs);
    double passive = 0;
    for (int k = m->tree_first_dof[tree]; k < m->tree_first_dof[tree + 1] && s->traits.has_springs; k++) {
        const double slope = s->forces.passive_slope[k] + (s->forces.has_servos ? s->forces.servo_slope[k] : 0);
        passive += 0.5 * s->h * (f[k] * (v0[k] + v1[k]));
        d->noise += ROUNDING_OF_WORKS * s->h * slope * (v1[k] * v1[k] + v0[k] * v0[k]);
    }
    d->noise += ROUNDING_OF_HEIGHTS * (__builtin_fabs(before->potential) + __builtin_fabs(after->potential));
    d->left += (after->kinetic - before->kinetic) + fall - passive;
    d->kinetic += after->kinetic;
    d->scale +=
        greater(greater(before->kinetic, after->kinetic), greater(__builtin_fabs(fall), __builtin_fabs(passive)));
}

static void scale_group(const kk_model *m, kk_simulator *s, int group, double factor) {
    for (int t = group; t < m->ntree; t++) {
        if (s->energy.balance.group[t] == group) {
            kki_scale_velocities(s, m->tree_first_dof[t], m->tree_first_dof[t + 1], factor);
            s->energy.audited.tree[t].kinetic *= factor * factor;
        }
    }
}

static void balance_group(const kk_model *m, kk_simulator *s, int group) {
    const double work = s->energy.balance.work[group];
    debt d = {-work, 0, greater(__builtin_fabs(work), KKI_LEAST_ENERGY * m->total_mass), 0};
    for (int t = group; t < m->ntree; t++) {
        if (s->energy.balance.group[t] == group) {
            add_tree(m, s, t, &d);
        }
    }
    const double off = __builtin_fabs(d.left);
    if (off <= MOST_SHARE * d.kinetic && off > ROUNDING * d.scale + d.noise) {
        scale_group(m, s, group, kk_sqrt((d.kinetic - d.left) / d.kinetic));
        s->energy.balanced += d.left;
        kki_note_taken(m, s, d.left);
    }
}

void kki_balance_energy(const kk_model *m, kk_simulator *s) {
    for (int t = 0; t < m->ntree; t++) {
        if (s->energy.balance.group[t] == t) {
            balance_group(m, s, t);
        }
    }
}
