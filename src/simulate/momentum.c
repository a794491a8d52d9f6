/// Robots in flight keep their momentum to rounding.
///
/// In reduced coordinates the midpoint rule keeps the momentum of a tree to second order only. Where nothing ties a floating
/// tree to the world, what its spatial momentum must be at the end of the step is known,
///     H_end = H_start + h (forces from outside, gravity),
/// and the velocity of its base is set so that it is: one 6 × 6 with the tree's composite inertia.
#include <string.h>

#include "math/dense.h"
#include "simulate/simulator.h"

typedef kki_whole whole;

enum { TIED = 1, MEETS = 2 }; ///< of a tree: to the world, others

static kk_sym3 moments_of(const kki_node *n) {
    return (kk_sym3){n->inertia[0][0], n->inertia[1][1], n->inertia[2][2],
                     n->inertia[1][0], n->inertia[2][0], n->inertia[2][1]};
}

static void add_node(whole *w, const kki_node *n, const kki_pose *x, const kki_rates *V, kk_vec3 base) {
    const kk_mat3 R = kki_mat3(x->R);
    const kk_vec3 o = kki_vec3(x->p), h = kk_mat3_mul_vec(R, kki_vec3(n->h)), omega = kki_vec3(V->w),
                  u = kki_vec3(V->u);
    const kk_sym3 J = kk_sym3_rotate(R, moments_of(n));
    const kk_vec3 p = kk_vec3_add(kk_vec3_scale(u, n->mass), kk_vec3_cross(omega, h));
    const kk_vec3 L = kk_vec3_add(kk_sym3_mul_vec(J, omega), kk_vec3_cross(h, u));
    w->momentum.linear = kk_vec3_add(w->momentum.linear, p);
    w->momentum.angular = kk_vec3_add(w->momentum.angular, kk_vec3_add(L, kk_vec3_cross(o, p)));
    // shift of the moments by r: J + 2 (h·r) 1 − h rᵀ − r hᵀ + m (r·r 1 − r rᵀ)
    const kk_vec3 r = kk_vec3_sub(o, base);
    const double hr = 2 * kk_vec3_dot(h, r);
    const kk_sym3 cross = {hr - 2 * h.x * r.x,       hr - 2 * h.y * r.y,       hr - 2 * h.z * r.z,
                           -(h.x * r.y + r.x * h.y), -(h.x * r.z + r.x * h.z), -(h.y * r.z + r.y * h.z)};
    w->mass += n->mass;
    w->first = kk_vec3_add(w->first, kk_vec3_add(h, kk_vec3_scale(r, n->mass)));
    w->second = kk_sym3_add(w->second, kk_sym3_add(kk_sym3_add(J, cross), kk_sym3_point_mass(n->mass, r)));
}

static whole gather(const kk_model *m, const kk_data *d, int root) {
    const int tree = m->node_tree[root];
    const kk_vec3 base = kki_vec3(kki_pose_of(d, root)->p);
    whole w = {.base = base};
    for (int i = root; i < m->nnode; i++) {
        if (m->node_tree[i] == tree) {
            add_node(&w, &m->node[i], kki_pose_of(d, i), kki_rates_of(d, i), base);
        }
    }
    return w;
}

/// Forces on the tree from outside, about the world's origin; poses are those of the middle.
static kk_force outside_of(const kk_model *m, const kk_simulator *s, int root) {
    kk_force sum = {{0, 0, 0}, {0, 0, 0}};
    for (int i = root; i < m->nnode; i++) {
        if (m->node_tree[i] == m->node_tree[root]) {
            const kk_vec3 o = kki_vec3(kki_pose_of(s->data, i)->p);
            const kk_force f = s->outside[i];
            sum.linear = kk_vec3_add(sum.linear, f.linear);
            sum.angular = kk_vec3_add(sum.angular, kk_vec3_add(f.angular, kk_vec3_cross(o, f.linear)));
        }
    }
    return sum;
}

/// Twist δ of the base, world axes about its origin, with the composite inertia I δ = ΔH.
static int base_change(const whole *w, kk_force dH, double delta[6]) {
    const kk_vec3 c = w->first;
    const kk_sym3 J = w->second;
    const double m = w->mass;
    double A[36] = {J.xx, J.xy, J.xz, 0, -c.z, c.y, J.xy, J.yy, J.yz, c.z, 0, -c.x, J.xz, J.yz, J.zz, -c.y, c.x, 0,
                    0,    c.z,  -c.y, m, 0,    0,   -c.z, 0,    c.x,  0,   m, 0,    c.y,  -c.x, 0,    0,    0,   m};
    const kk_vec3 n = kk_vec3_sub(dH.angular, kk_vec3_cross(w->base, dH.linear));
    const double b[6] = {n.x, n.y, n.z, dH.linear.x, dH.linear.y, dH.linear.z};
    memcpy(delta, b, sizeof b);
    if (kki_ldl_factor(6, A, 1e-14) != KK_OK) {
        return 0;
    }
    kki_ldl_solve(6, A, delta);
    return 1;
}

static kk_vec3 centre_of(const whole *w) {
    return kk_vec3_add(w->base, kk_vec3_scale(w->first, 1 / w->mass));
}

/// Moves the base so that the centre of mass has gone on with the mean of its velocities.
static void correct_position(const kk_model *m, kk_simulator *s, int root, const whole *before, kk_vec3 p_end) {
    const whole after = gather(m, s->view, root);
    const kk_vec3 mean = kk_vec3_scale(kk_vec3_add(before->momentum.linear, p_end), 0.5 * s->h / before->mass);
    const kk_vec3 d = kk_vec3_sub(kk_vec3_add(centre_of(before), mean), centre_of(&after));
    const kk_vec3 shift = kk_mat3_tmul_vec(kki_mat3(m->node[root].R), d);
    double *q = s->q + m->node[root].q_index + 4;
    for (int k = 0; k < 3; k++) {
        q[k] += (&shift.x)[k];
    }
}

static void correct_velocity(const kk_model *m, kk_simulator *s, int root, kk_force want) {
    const whole after = gather(m, s->view, root);
    double delta[6];
    if (!base_change(&after, kk_force_sub(want, after.momentum), delta)) {
        return;
    }
    const kk_mat3 R = kki_mat3(kki_pose_of(s->view, root)->R);
    const kk_vec3 w = kk_mat3_tmul_vec(R, kk_vec3_make(delta[0], delta[1], delta[2]));
    const kk_vec3 u = kk_mat3_tmul_vec(R, kk_vec3_make(delta[3], delta[4], delta[5]));
    double *v = s->v + m->node[root].v_index;
    for (int k = 0; k < 3; k++) {
        v[k] += (&w.x)[k];
        v[3 + k] += (&u.x)[k];
    }
}

/// Momentum at the end of the step. Gravity acts where the centre of mass is on its parabola, of which only the straight
/// part has a moment.
static kk_force momentum_after(const kk_model *m, const kk_simulator *s, int root) {
    const whole *w = &s->whole[root];
    const kk_vec3 weight = kk_vec3_scale(kk_vec3_make(m->gravity[0], m->gravity[1], m->gravity[2]), w->mass);
    const kk_vec3 centre = kk_vec3_add(centre_of(w), kk_vec3_scale(w->momentum.linear, 0.5 * s->h / w->mass));
    const kk_force f = kk_force_add(outside_of(m, s, root), kk_force_make(kk_vec3_cross(centre, weight), weight));
    return kk_force_make(kk_vec3_add(w->momentum.angular, kk_vec3_scale(f.angular, s->h)),
                         kk_vec3_add(w->momentum.linear, kk_vec3_scale(f.linear, s->h)));
}

/// Where a part of a row ties a tree to the world, or to another tree.
static void note_part(const kk_model *m, kk_simulator *s, const kki_row_part *p) {
    const int a = m->node_tree[p->i], b = m->node_tree[p->j];
    if (a < 0 || b < 0) {
        if (a >= 0 || b >= 0) {
            s->tie[a < 0 ? b : a] |= TIED;
        }
    } else {
        s->tie[a] |= MEETS;
        s->tie[b] |= MEETS;
    }
}

/// Which trees are in flight: floating ones that nothing ties to the world. True where there are some. A lone body keeps its momentum
/// by itself; only where an impact cuts a step has it met others elsewhere than rows are.
static int list_flying(const kk_model *m, kk_simulator *s) {
    int any = 0;
    memset(s->tie, 0, (size_t)m->ntree * sizeof *s->tie);
    for (int i = 0; i < s->nparts; i++) {
        note_part(m, s, &s->part[i]);
    }
    for (int i = 1; i < m->nnode; i++) {
        const kki_node *n = &m->node[i];
        const int tie = n->parent == 0 && n->type == KKI_NODE_FREE ? s->tie[m->node_tree[i]] : TIED;
        s->in_flight[i] = (int8_t)(!(tie & TIED) && (!n->is_leaf || (tie && s->report.events > 0)));
        any |= s->in_flight[i];
    }
    return any;
}

void kki_keep_momentum(const kk_model *model, kk_simulator *s, const kk_state *state) {
    if (!list_flying(model, s)) {
        return;
    }
    kk_kinematics_velocity(model, s->view, kk_state_q_const(state), kk_state_v_const(state));
    for (int i = 1; i < model->nnode; i++) {
        if (s->in_flight[i]) {
            s->whole[i] = gather(model, s->view, i);
        }
    }
    kk_kinematics_velocity(model, s->view, s->q, s->v);
    // where an impact has cut the step, the way moved is not that of a mean velocity
    for (int i = 1; i < model->nnode && s->report.events == 0; i++) {
        if (s->in_flight[i] && !model->node[i].is_leaf) {
            correct_position(model, s, i, &s->whole[i], momentum_after(model, s, i).linear);
        }
    }
    kk_kinematics_velocity(model, s->view, s->q, s->v);
    for (int i = 1; i < model->nnode; i++) {
        if (s->in_flight[i]) {
            correct_velocity(model, s, i, momentum_after(model, s, i));
        }
    }
}
