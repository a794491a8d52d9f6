/// Forces one can read after a step, all of the same step.
///
/// The kick solves M a + c = τ + Jᵀ f at the step's middle, c those of the predicted mean velocity (predict.c), f being the mean forces of contacts and loops over the step. The
/// Newton-Euler recursion over the same q, v, a with the same forces from outside therefore gives what every joint
/// transmits, and its torque is the sum of the joint's own sources to rounding: action equals reaction at every joint.
#include <string.h>

#include "simulate/simulator.h"

const double *kk_simulator_velocity(const kk_simulator *simulator) {
    const kk_simulator *s = simulator;
    return s->traits.has_only_free_bodies || s->rk4.is_used || s->paper ? s->motion.v_before : s->motion.v_bias;
}

/// Acceleration in the coordinates of v: the kick keeps a free root's velocity in world axes, so that v̇ = a − ω × u; and
/// a lone body's spin is not felt by it.
static void coordinates(const kk_model *m, const kk_simulator *s, double *v, double *a) {
    memcpy(v, kk_simulator_velocity(s), (size_t)m->nv * sizeof *v);
    memcpy(a, kki_acceleration(s), (size_t)m->nv * sizeof *a);
    for (int i = 1; i < m->nnode; i++) {
        const kki_node *n = &m->node[i];
        if (n->type != KKI_NODE_FREE || n->parent != 0) {
            continue;
        }
        double *w = v + n->v_index, *x = a + n->v_index;
        const kk_vec3 turn = kk_vec3_cross(kk_vec3_make(w[0], w[1], w[2]), kk_vec3_make(w[3], w[4], w[5]));
        for (int k = 0; k < 3; k++) {
            x[3 + k] -= n->is_leaf ? 0 : kk_vec3_get(turn, k);
        }
        for (int k = 0; k < 6 && n->is_leaf; k++) {
            w[k] = 0;
        }
    }
}

/// The forces on nodes from outside, as wrenches on bodies in their frames. @param outside [nbody] result
static void outside_on_bodies(const kk_model *m, const kk_simulator *s, kk_force *outside) {
    memset(outside, 0, (size_t)m->nbody * sizeof *outside);
    for (int i = 1; i < m->nnode; i++) {
        const kk_force *f = &s->readout.outside[i];
        const kk_mat3 R = kki_mat3(kki_pose_of(s->readout.view, i)->R);
        const kk_force F_N = kk_force_make(kk_mat3_tmul_vec(R, f->angular), kk_mat3_tmul_vec(R, f->linear));
        const int body = m->node_body[i];
        // inner nodes of composite joints have no body of their own and nothing touches them
        if (m->body[body].node == i) {
            outside[body] = kk_force_from(m->body[body].X_NB, F_N);
        }
    }
}

/// A wrench in the world moves from one body of a node to another.
static void hand_over(const kk_simulator *s, int from, int to, kk_force f, kk_force *outside) {
    const kk_model *m = s->model;
    outside[from] = kk_force_sub(outside[from], kk_force_from(kk_body_pose(m, s->readout.view, from), f));
    outside[to] = kk_force_add(outside[to], kk_force_from(kk_body_pose(m, s->readout.view, to), f));
}

/// A foot that is fixed to its shank is another body of the same node: what touches it goes through the joint between them.
static void contacts_on_fixed_bodies(const kk_model *m, const kk_simulator *s, kk_force *outside) {
    for (int i = 0; i < s->contacts.count; i++) {
        const kki_contact *c = &s->contacts.list[i];
        for (int side = 0; side < 2; side++) {
            const int body = m->shape[c->shape[side]].body, first = m->node_body[c->node[side]];
            if (c->node[side] > 0 && body != first) {
                const kk_vec3 f = kk_vec3_scale(c->impulse, (side ? 1 : -1) / s->h);
                hand_over(s, first, body, kk_force_make(kk_vec3_cross(c->point, f), f), outside);
            }
        }
    }
}

static kk_sym3 moments_of(const kki_koenig *k) {
    return (kk_sym3){k->moments[0][0], k->moments[1][1], k->moments[2][2],
                     k->moments[0][1], k->moments[0][2], k->moments[1][2]};
}

/// ω̇ of a body that turns freely, in its axes: J ω̇ + ω × J ω = 0.
static kk_vec3 free_spin(kk_sym3 J, kk_vec3 w) {
    const kk_vec3 torque = kk_vec3_neg(kk_vec3_cross(w, kk_sym3_mul_vec(J, w)));
    const kk_vec3 x = {J.xx, J.xy, J.xz}, y = {J.xy, J.yy, J.yz}, z = {J.xz, J.yz, J.zz};
    const double det = kk_vec3_dot(x, kk_vec3_cross(y, z));
    return det > 0 ? kk_vec3_scale(kk_vec3_add(kk_vec3_scale(kk_vec3_cross(y, z), torque.x),
                                               kk_vec3_add(kk_vec3_scale(kk_vec3_cross(z, x), torque.y),
                                                           kk_vec3_scale(kk_vec3_cross(x, y), torque.z))),
                                   1 / det)
                   : kk_vec3_make(0, 0, 0);
}

/// What a lone body moves like, its spin included, which the drift turns it by and the kick does not see: its center of mass is accelerated by the
/// kick alone, the origin is carried round it.
static void spin_lone_bodies(const kk_model *m, kk_simulator *s) {
    const double *moving = kk_simulator_velocity(s);
    for (int i = 1; i < m->nnode; i++) {
        const kki_node *n = &m->node[i];
        if (n->type != KKI_NODE_FREE || n->parent != 0 || !n->is_leaf || !(n->mass > 0)) {
            continue;
        }
        double *v = s->readout.view_v + n->v_index, *a = s->readout.view_a + n->v_index;
        memcpy(v, moving + n->v_index, 6 * sizeof *v);
        const kk_vec3 w = {v[0], v[1], v[2]}, u = {v[3], v[4], v[5]}, kick = {a[0], a[1], a[2]};
        const kk_vec3 c = kk_vec3_scale(kki_vec3(n->h), 1 / n->mass);
        const kk_vec3 center = kk_vec3_add(kk_vec3_make(a[3], a[4], a[5]), kk_vec3_cross(kick, c));
        const kk_vec3 turn = kk_vec3_add(kick, free_spin(moments_of(&s->energy.koenig[i]), w));
        const kk_vec3 round = kk_vec3_add(kk_vec3_cross(turn, c), kk_vec3_cross(w, kk_vec3_cross(w, c)));
        const kk_vec3 origin = kk_vec3_sub(kk_vec3_sub(center, round), kk_vec3_cross(w, u));
        const double now[6] = {turn.x, turn.y, turn.z, origin.x, origin.y, origin.z};
        memcpy(a, now, sizeof now);
    }
}

/// q, v, a of the kick in the second data; once a step.
static void look(kk_simulator *s) {
    const kk_model *m = s->model;
    if (s->readout.has_view) {
        return;
    }
    s->readout.has_view = 1;
    s->forces.no_tau = 0; // from here on
    kki_settle_outside(s);
    coordinates(m, s, s->readout.view_v, s->readout.view_a);
    kk_kinematics(m, s->readout.view, s->motion.q_middle);
    outside_on_bodies(m, s, s->readout.body_force);
    contacts_on_fixed_bodies(m, s, s->readout.body_force);
    kk_inverse_dynamics(m, s->readout.view, s->motion.q_middle, s->readout.view_v, s->readout.view_a, s->forces.tau);
    for (int k = 0; k < m->nv; k++) {
        double others = 0;
        for (int i = 0; i < KK_FORCE_SOURCE_COUNT; i++) {
            others += i == KK_FORCE_CONTACT ? 0 : s->forces.by_source[i][k];
        }
        s->forces.by_source[KK_FORCE_CONTACT][k] = s->forces.tau[k] - others;
    }
    kk_inverse_dynamics_external(m, s->readout.view, s->motion.q_middle, s->readout.view_v, s->readout.view_a,
                                 s->readout.body_force, s->forces.tau);
    kki_joint_wrenches(m, s->readout.view, s->readout.wrench);
    spin_lone_bodies(m, s);
    kk_kinematics_acceleration(m, s->readout.view, s->motion.q_middle, s->readout.view_v, s->readout.view_a);
}

const kk_force *kk_simulator_joint_wrenches(kk_simulator *simulator) {
    look(simulator);
    return simulator->readout.wrench;
}

const double *kk_simulator_force(kk_simulator *simulator, kk_force_source source) {
    if (source < 0 || source >= KK_FORCE_SOURCE_COUNT) {
        return NULL;
    }
    if (source == KK_FORCE_CONTACT) {
        look(simulator);
    }
    return simulator->forces.by_source[source];
}

const kk_data *kki_simulator_view(kk_simulator *s) {
    look(s);
    return s->readout.view;
}

// ---- contacts

static int is_between(const kk_simulator *s, const kki_contact *c, int body, int other, double *sign) {
    const int a = s->model->shape[c->shape[0]].body, b = s->model->shape[c->shape[1]].body;
    *sign = b == body ? 1 : -1;
    return (b == body && (other < 0 || a == other)) || (a == body && (other < 0 || b == other));
}

kk_force kk_simulator_contact_wrench(const kk_simulator *simulator, int body, int other) {
    kk_force sum = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < simulator->contacts.count; i++) {
        const kki_contact *c = &simulator->contacts.list[i];
        double sign;
        if (is_between(simulator, c, body, other, &sign)) {
            const kk_vec3 f = kk_vec3_scale(c->impulse, sign / simulator->h);
            sum = kk_force_add(sum, kk_force_make(kk_vec3_cross(c->point, f), f));
        }
    }
    return sum;
}

kk_vec3 kk_simulator_center_of_pressure(const kk_simulator *simulator, int body, int other) {
    kk_vec3 sum = kk_vec3_make(0, 0, 0);
    double total = 0;
    for (int i = 0; i < simulator->contacts.count; i++) {
        const kki_contact *c = &simulator->contacts.list[i];
        double sign;
        if (is_between(simulator, c, body, other, &sign)) {
            const double f = kk_vec3_dot(c->impulse, c->normal);
            sum = kk_vec3_add(sum, kk_vec3_scale(c->point, f));
            total += f;
        }
    }
    return total > 0 ? kk_vec3_scale(sum, 1 / total) : kki_nowhere();
}
