// The energy of a run; see ledger.h.
#include "ledger.h"

static double largest(double a, double b) {
    return a > b ? a : b;
}

static double size_of(double x) {
    return x < 0 ? -x : x;
}

static double loop_gap(const cli_model *m, const kk_loop_def *loop) {
    kk_vec3 p[2];
    for (int i = 0; i < 2; i++) {
        p[i] = kk_transform_point(kk_body_pose(m->model, m->data, loop->body[i]), loop->placement[i].p);
    }
    return size_of(kk_vec3_norm(kk_vec3_sub(p[0], p[1])) - loop->distance);
}

double ledger_gap(const cli_model *m, const kk_state *state) {
    double widest = 0;
    const int n = kk_spec_loop_count(m->spec);
    if (n == 0 || kk_kinematics(m->model, m->data, kk_state_q_const(state)) != KK_OK) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        const bool is_on = kk_state_loop(m->model, state, i) == 1;
        widest = largest(widest, is_on ? loop_gap(m, kk_spec_loop_const(m->spec, i)) : 0);
    }
    return widest;
}

double ledger_overshoot(const cli_model *m, const kk_state *state, int *first_dof) {
    const double *q = kk_state_q_const(state);
    double most = 0;
    *first_dof = -1;
    for (int b = 1; b < kk_model_nbody(m->model); b++) {
        const kk_joint_info joint = kk_model_joint(m->model, b);
        if (joint.nq != 1 || joint.nv != 1) {
            continue;
        }
        const kk_dof_def dof = kk_model_dof(m->model, joint.v_index);
        const double x = q[joint.q_index], over = largest(x - dof.upper, dof.lower - x);
        *first_dof = over > most ? joint.v_index : *first_dof;
        most = largest(over, most);
    }
    return most;
}

static void look_at_limits(ledger *l, const cli_model *m, const kk_state *state) {
    int dof;
    const double over = ledger_overshoot(m, state, &dof);
    if (over > l->overshoot) {
        l->overshoot = over;
        l->overshoot_time = kk_state_time(state);
        l->overshoot_dof = dof;
    }
}

/// Steps of RK4 have no audit, but the energies of their start and their end.
static kk_audit audit_of(const kk_report *r) {
    kk_audit a = r->audit;
    if (!(a.scale > 0) && !(a.kinetic[0] > 0) && !(a.kinetic[1] > 0)) {
        a.kinetic[0] = r->kinetic_before;
        a.kinetic[1] = r->kinetic_after;
        a.potential[0] = r->potential_before;
        a.potential[1] = r->potential_after;
    }
    return a;
}

void ledger_add(ledger *l, const cli_model *m, const kk_state *state, const kk_report *report) {
    const kk_audit audit = audit_of(report), *a = &audit;
    if (l->steps++ == 0) {
        l->start = a->kinetic[0] + a->potential[0];
        l->overshoot_dof = -1;
    }
    l->end = a->kinetic[1] + a->potential[1];
    l->actuators += a->actuators;
    l->applied += a->applied;
    l->moved += a->moved;
    l->correction += a->correction;
    l->dissipated += a->dissipated;
    l->damping += a->damping;
    l->error += a->error;
    l->work += size_of(a->actuators) + size_of(a->applied) + size_of(a->moved);
    l->most_kinetic = largest(l->most_kinetic, largest(a->kinetic[0], a->kinetic[1]));
    look_at_limits(l, m, state);
    l->last_gap = ledger_gap(m, state);
    l->widest_gap = largest(l->widest_gap, l->last_gap);
}

bool ledger_has_gained(const ledger *l, double time) {
    const double minutes = 1 + (double)(int64_t)(time / 60);
    return l->error > 1e-3 * minutes * (l->most_kinetic + l->work);
}

const char *ledger_joint(const cli_model *m, int dof) {
    for (int b = 1; b < kk_model_nbody(m->model); b++) {
        const kk_joint_info joint = kk_model_joint(m->model, b);
        if (dof >= joint.v_index && dof < joint.v_index + joint.nv) {
            return joint.name;
        }
    }
    return "";
}
