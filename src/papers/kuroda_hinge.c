/// S1 6: a hinge of four springs of length zero, two on its axis and two beside it, whose ends on the first body follow the angle while it
/// turns freely and stay where they are while it is held, at a limit or by static friction.
///
/// The thesis does not say how far from the center springs sit (here the child's smallest radius of gyration, so that they are no stiffer against
/// turning than against moving), nor when friction of a joint begins
/// to hold and gives way (here as for contacts, 5.6, with the torque of the springs about the axis).
#include <karakuri/elementary.h>

#include "papers/kuroda.h"

/// ε for angles, rad a step.
static const double STILL = 1e-6;

// ---- making them

static kk_vec3 across(kk_vec3 axis) {
    const double x = __builtin_fabs(axis.x), y = __builtin_fabs(axis.y), z = __builtin_fabs(axis.z);
    const kk_vec3 e = x <= y && x <= z ? kk_vec3_make(1, 0, 0) : y <= z ? kk_vec3_make(0, 1, 0) : kk_vec3_make(0, 0, 1);
    const kk_vec3 t = kk_vec3_sub(e, kk_vec3_scale(axis, kk_vec3_dot(axis, e)));
    return kk_vec3_scale(t, 1 / kk_vec3_norm(t));
}

/// Smallest principal moment, from below: none is larger than half of the trace, and the three multiply to the determinant.
static double least_moment(kk_sym3 a) {
    const double half = 0.5 * (a.xx + a.yy + a.zz);
    const double xx = a.yy * a.zz - a.yz * a.yz, xy = a.xz * a.yz - a.xy * a.zz, xz = a.xy * a.yz - a.xz * a.yy;
    const double det = a.xx * xx + a.xy * xy + a.xz * xz;
    return det / (half * half);
}

static void make_hinge(kuroda *K, int node) {
    const kki_node *n = &K->model->node[node];
    const kuroda_body *b = &K->body[node];
    kuroda_hinge *h = &K->hinge[K->nhinge];
    *h = (kuroda_hinge){.body = {n->parent, node}, .dof = n->v_index, .first = 4 * K->nhinge, .rest = b->neutral};
    h->axis = kk_mat3_mul_vec(kk_quat_to_mat3(b->neutral), kk_vec3_make(0, 0, 1));
    h->across = across(h->axis);
    h->center[0] = kk_vec3_sub(b->neutral_place, K->body[n->parent].com);
    h->center[1] = kk_vec3_scale(b->com, -1);
    h->reach = __builtin_sqrt(least_moment(b->moment) / b->mass);
    const kk_vec3 z = kk_vec3_make(0, 0, 1), off = kk_vec3_cross(z, b->com);
    h->inertia = kk_vec3_dot(z, kk_sym3_mul_vec(b->moment, z)) + b->mass * kk_vec3_dot(off, off);
    K->nhinge++;
}

void kki_kuroda_make_hinges(kuroda *K) {
    K->nhinge = 0;
    for (int i = 1; i < K->model->nnode; i++) {
        if (K->model->node[i].type == KKI_NODE_HINGE) {
            make_hinge(K, i);
        }
    }
    K->first_contact = 4 * K->nhinge;
}

// ---- the angle

/// 6.3, 1.: between the reference and the line to the torque spring's end on the second body.
static double angle_of(const kuroda *K, const kuroda_hinge *h) {
    const kk_mat3 rest = kk_quat_to_mat3(h->rest);
    const kk_vec3 in_child = kk_mat3_tmul_vec(rest, h->across);
    const kk_vec3 world = kk_mat3_mul_vec(K->body[h->body[1]].turn, in_child);
    const kk_vec3 seen = kk_mat3_tmul_vec(K->body[h->body[0]].turn, world);
    return kk_atan2(kk_vec3_dot(h->axis, kk_vec3_cross(h->across, seen)), kk_vec3_dot(h->across, seen));
}

double kki_kuroda_angle_near(const kuroda *K, const kuroda_hinge *h, double near) {
    const double two_pi = 6.283185307179586, angle = angle_of(K, h), turns = (near - angle) / two_pi;
    return angle + two_pi * (double)(int64_t)(turns + (turns < 0 ? -0.5 : 0.5));
}

double kki_kuroda_rate(const kuroda *K, const kuroda_hinge *h) {
    const kk_vec3 axis = kk_mat3_mul_vec(K->body[h->body[0]].turn, h->axis);
    return kk_vec3_dot(axis, kk_vec3_sub(K->body[h->body[1]].w, K->body[h->body[0]].w));
}

void kki_kuroda_hinge_angles(kuroda *K) {
    for (int i = 0; i < K->nhinge; i++) {
        kuroda_hinge *h = &K->hinge[i];
        h->angle = kki_kuroda_angle_near(K, h, K->s->motion.q[K->model->node[h->body[1]].q_index]);
        h->rate = kki_kuroda_rate(K, h);
    }
}

// ---- springs

static kk_vec3 turned_about(kk_vec3 axis, double angle, kk_vec3 x) {
    return kk_mat3_mul_vec(kk_quat_to_mat3(kk_quat_exp(kk_vec3_scale(axis, angle))), x);
}

/// Ends of the four springs; those beside the axis stand on the first body at `angle`.
static void set_springs(kuroda *K, const kuroda_hinge *h, double angle) {
    const kk_mat3 rest = kk_quat_to_mat3(h->rest);
    const kk_vec3 beside = turned_about(h->axis, angle, h->across);
    const kk_vec3 in_parent[2] = {h->axis, beside};
    const kk_vec3 in_child[2] = {kk_mat3_tmul_vec(rest, h->axis), kk_mat3_tmul_vec(rest, h->across)};
    const double a = K->body[h->body[0]].mass, b = K->body[h->body[1]].mass;
    for (int i = 0; i < 4; i++) {
        kuroda_spring *s = &K->spring[h->first + i];
        const double side = i & 1 ? -h->reach : h->reach;
        *s = (kuroda_spring){.kind = KURODA_HINGE, .body = {h->body[0], h->body[1]}, .w = K->depth};
        s->arm[0] = kk_vec3_add(h->center[0], kk_vec3_scale(in_parent[i / 2], side));
        s->arm[1] = kk_vec3_add(h->center[1], kk_vec3_scale(in_child[i / 2], side));
        kki_kuroda_default_spring(K, a > 0 && a < b ? a : b, &s->k, &s->c);
        s->k = K->s->options.paper.spring_stiffness > 0 ? K->s->options.paper.spring_stiffness : s->k;
        s->c = K->s->options.paper.spring_damping > 0 ? K->s->options.paper.spring_damping : s->c;
    }
}

static kk_vec3 end_velocity(const kuroda *K, const kuroda_spring *s, int side) {
    const kuroda_body *b = &K->body[s->body[side]];
    return kk_vec3_add(b->v, kk_vec3_cross(b->w, kki_kuroda_arm(K, s, side)));
}

/// (2.30) and (2.33). The first ends of torque springs go round with the angle while it is free.
/// @param turn  angular velocity at which they do, world
static void pull(kuroda *K, const kuroda_hinge *h, kuroda_spring *s, kk_vec3 turn) {
    const kk_vec3 d = kk_vec3_sub(kki_kuroda_end(K, s, 1), kki_kuroda_end(K, s, 0));
    const kk_vec3 center = kk_mat3_mul_vec(K->body[h->body[0]].turn, h->center[0]);
    const kk_vec3 round = kk_vec3_cross(turn, kk_vec3_sub(kki_kuroda_arm(K, s, 0), center));
    const kk_vec3 v = kk_vec3_sub(kk_vec3_sub(end_velocity(K, s, 1), end_velocity(K, s, 0)), round);
    const double length = kk_vec3_norm(d);
    const kk_vec3 n_l = kk_vec3_scale(d, length > 0 ? 1 / length : 0);
    s->force = kk_vec3_scale(n_l, -s->k * length - s->c * kk_vec3_dot(v, n_l));
    kki_kuroda_add_force(&K->body[s->body[1]], kki_kuroda_arm(K, s, 1), s->force);
    kki_kuroda_add_force(&K->body[s->body[0]], kki_kuroda_arm(K, s, 0), kk_vec3_scale(s->force, -1));
}

/// Torque of the two springs beside the axis about it, on the second body.
static double spring_torque(const kuroda *K, const kuroda_hinge *h) {
    const kk_vec3 axis = kk_mat3_mul_vec(K->body[h->body[0]].turn, h->axis);
    const kk_vec3 center = kk_mat3_mul_vec(K->body[h->body[1]].turn, h->center[1]);
    double sum = 0;
    for (int i = 2; i < 4; i++) {
        const kuroda_spring *s = &K->spring[h->first + i];
        const kk_vec3 d = kk_vec3_sub(kki_kuroda_end(K, s, 1), kki_kuroda_end(K, s, 0));
        const kk_vec3 arm = kk_vec3_sub(kki_kuroda_arm(K, s, 1), center);
        sum -= s->k * kk_vec3_dot(axis, kk_vec3_cross(arm, d));
    }
    return sum;
}

/// 6.3, 3.: f_t = τ (n × r)/(2 r²) at both torque springs' ends.
static void twist(kuroda *K, const kuroda_hinge *h, double torque) {
    const kk_vec3 axis = kk_mat3_mul_vec(K->body[h->body[0]].turn, h->axis);
    for (int i = 2; i < 4; i++) {
        kuroda_spring *s = &K->spring[h->first + i];
        const kk_vec3 center = kk_mat3_mul_vec(K->body[h->body[1]].turn, h->center[1]);
        const kk_vec3 r = kk_vec3_sub(kki_kuroda_arm(K, s, 1), center);
        const kk_vec3 f = kk_vec3_scale(kk_vec3_cross(axis, r), torque / (2 * kk_vec3_dot(r, r)));
        kki_kuroda_add_force(&K->body[s->body[1]], kki_kuroda_arm(K, s, 1), f);
        kki_kuroda_add_force(&K->body[s->body[0]], kki_kuroda_arm(K, s, 0), kk_vec3_scale(f, -1));
    }
}

/// Where the first ends of the torque springs stand, and whether they are held there: 6.3, 2., and static friction.
static double hold(kuroda *K, kuroda_hinge *h, int *is_held) {
    const kk_dof_def *d = &K->model->dof[h->dof];
    const double limit = h->angle > d->upper ? d->upper : h->angle < d->lower ? d->lower : h->angle;
    *is_held = 1;
    if (limit != h->angle) {
        set_springs(K, h, limit);
        h->limit = spring_torque(K, h);
        return limit;
    }
    if (h->is_held) {
        set_springs(K, h, h->held);
        h->friction = spring_torque(K, h);
        h->is_held = __builtin_fabs(h->friction) <= d->friction;
        h->step = h->is_held ? h->step : 0;
    }
    *is_held = h->is_held;
    return h->is_held ? h->held : h->angle;
}

static void act(kuroda *K, kuroda_hinge *h, double tau) {
    const double friction = K->model->dof[h->dof].friction;
    int is_held = 0;
    h->limit = h->friction = 0;
    set_springs(K, h, hold(K, h, &is_held));
    if (!is_held) {
        h->friction = h->rate > 0 ? -friction : h->rate < 0 ? friction : 0;
    }
    const kk_vec3 axis = kk_mat3_mul_vec(K->body[h->body[0]].turn, h->axis);
    for (int i = 0; i < 4; i++) {
        pull(K, h, &K->spring[h->first + i], kk_vec3_scale(axis, is_held ? 0 : h->rate));
    }
    // beyond a limit no torque acts; what friction holds, the springs hold
    twist(K, h, h->limit != 0 ? 0 : is_held ? tau : tau + h->friction);
}

void kki_kuroda_hinge_forces(kuroda *K, const double *tau) {
    for (int i = 0; i < K->nhinge; i++) {
        act(K, &K->hinge[i], tau[K->hinge[i].dof]);
    }
}

/// 5.6 for angles: the way of this step against that of the last. A joint that something turns harder than friction could hold is let turn
/// round: the springs' own trembling would stop it otherwise.
void kki_kuroda_hinge_rest(kuroda *K) {
    for (int i = 0; i < K->nhinge; i++) {
        kuroda_hinge *h = &K->hinge[i];
        const double before = h->angle, last = h->step, friction = K->model->dof[h->dof].friction;
        const double torque = h->inertia * (kki_kuroda_rate(K, h) - h->rate) / K->s->h;
        h->angle = kki_kuroda_angle_near(K, h, before);
        const double way = h->angle - before;
        if (friction > 0 && !h->is_held && __builtin_fabs(torque) <= 2 * friction) {
            h->is_held = way * last < 0 || (last != 0 && __builtin_fabs(way) < STILL);
            h->held = h->angle;
        }
        h->step = way;
    }
}
