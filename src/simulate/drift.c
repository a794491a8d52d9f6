/// Moving without forces.
///
/// Joints inside a tree go on with q̇. A free root goes on with its velocity in world axes: its origin on a straight
/// line, its axes turning about a fixed direction. A lone body keeps its angular momentum L in the world, too: its
/// spin follows Euler's equations, Ṗ = P × I⁻¹P with P = RᵀL about the centre of mass, by the midpoint rule on the
/// rotation group (Lewis and Simo 1994),
///     θ = h I⁻¹ exp(−θ/2) P,    R ← R exp(θ),
/// which keeps L to rounding whatever h; fast spins are composed to fourth order (Suzuki 1990).
#include "simulate/drift.h"

#include <karakuri/elementary.h>

// ---- quaternions and vectors inside q and v

static kk_vec3 load3(const double *x) {
    return kk_vec3_make(x[0], x[1], x[2]);
}

static void store3(double *x, kk_vec3 a) {
    x[0] = a.x;
    x[1] = a.y;
    x[2] = a.z;
}

static kk_quat load_quat(const double *q) {
    return (kk_quat){q[0], q[1], q[2], q[3]};
}

/// Brought back to unit length every time: a length that is off by a few units stays so for many steps, and what is turned to
/// the world by one quaternion and back by the next would grow by as much in each of them.
static void store_quat(double *q, kk_quat a) {
    const kk_quat r = kk_quat_normalize(a);
    q[0] = r.w;
    q[1] = r.x;
    q[2] = r.y;
    q[3] = r.z;
}

static kk_vec3 turn_back(kk_quat q, kk_vec3 a) {
    return kk_mat3_tmul_vec(kk_quat_to_mat3(q), a);
}

/// What turning back adds to a: for a small turn a small vector with all its digits, where the difference of two turned vectors, or a
/// matrix whose rounding is the same in every step, would leave a bias.
static kk_vec3 turn_back_adds(kk_quat q, kk_vec3 a) {
    const kk_vec3 u = kk_vec3_make(-q.x, -q.y, -q.z), t = kk_vec3_scale(kk_vec3_cross(u, a), 2);
    return kk_vec3_add(kk_vec3_scale(t, q.w), kk_vec3_cross(u, t));
}

static kk_vec3 turn(kk_quat q, kk_vec3 a) {
    return kk_mat3_mul_vec(kk_quat_to_mat3(q), a);
}

// ---- free roots

/// R_WJ0 of the joint's placement: q's quaternion and position are seen from there. Lengths and world constancy do not
/// depend on it, so it can be left out of everything here.
///
/// Origin straight on, axes about ω; v stays as it is in the world.
static void drift_free(double h, const double *w, double *q, double *v) {
    const kk_quat R0 = load_quat(q);
    const kk_vec3 omega = load3(w), u = turn(R0, load3(w + 3));
    const kk_quat turned = kk_quat_exp(kk_vec3_scale(omega, h));
    store_quat(q, kk_quat_mul(R0, turned));
    store3(q + 4, kk_vec3_add(load3(q + 4), kk_vec3_scale(u, h)));
    store3(v, turn_back(turned, load3(v)));
    store3(v + 3, turn_back(turned, load3(v + 3)));
}

/// A lone body's constants: moments about its centre of mass, their inverse, and the centre from its origin.
typedef struct lone {
    kk_sym3 moment, inverse;
    kk_vec3 c;
    int is_round; ///< three equal moments: the spin stays
} lone;

static kk_sym3 invert(kk_sym3 a) {
    const double xx = a.yy * a.zz - a.yz * a.yz, xy = a.xz * a.yz - a.xy * a.zz, xz = a.xy * a.yz - a.xz * a.yy;
    const double i = 1 / (a.xx * xx + a.xy * xy + a.xz * xz);
    return (kk_sym3){xx * i, (a.xx * a.zz - a.xz * a.xz) * i, (a.xx * a.yy - a.xy * a.xy) * i, xy * i,
                     xz * i, (a.xy * a.xz - a.xx * a.yz) * i};
}

static lone lone_of(const kki_node *n) {
    const double im = 1 / n->mass;
    const kk_vec3 c = kk_vec3_make(n->h[0] * im, n->h[1] * im, n->h[2] * im);
    const kk_sym3 shift = kk_sym3_point_mass(n->mass, c);
    const kk_sym3 J = {n->inertia[0][0] - shift.xx, n->inertia[1][1] - shift.yy, n->inertia[2][2] - shift.zz,
                       n->inertia[1][0] - shift.xy, n->inertia[2][0] - shift.xz, n->inertia[2][1] - shift.yz};
    const double spread = __builtin_fabs(J.xx - J.yy) + __builtin_fabs(J.xx - J.zz) + __builtin_fabs(J.xy) +
                          __builtin_fabs(J.xz) + __builtin_fabs(J.yz);
    return (lone){J, invert(J), c, spread <= 1e-14 * J.xx};
}

/// θ of the midpoint rule by fixed-point iteration; each contracts by about |θ|/2.
static kk_vec3 midpoint_turn(const lone *b, kk_vec3 P, double h) {
    kk_vec3 theta = kk_vec3_scale(kk_sym3_mul_vec(b->inverse, P), h);
    for (int i = 0; i < 60; i++) {
        const kk_quat half = kk_quat_exp(kk_vec3_scale(theta, 0.5));
        const kk_vec3 next = kk_vec3_scale(kk_sym3_mul_vec(b->inverse, turn_back(half, P)), h);
        const kk_vec3 d = kk_vec3_sub(next, theta);
        const double change = kk_vec3_dot(d, d), size = kk_vec3_dot(next, next);
        theta = next;
        if (change <= 1e-32 * size) {
            break;
        }
    }
    return theta;
}

/// Adds one midpoint rule to the turn and turns the momentum, in the body's axes, with it.
static void midpoint(const lone *b, double h, kk_quat *turned, kk_vec3 *P) {
    const kk_quat more = kk_quat_exp(midpoint_turn(b, *P, h));
    *turned = kk_quat_mul(*turned, more);
    *P = kk_vec3_add(*P, turn_back_adds(more, *P));
}

/// The turn of a free spin. Slow ones by one midpoint rule, fast ones by five, whose weights are 1/(4 − ∛4) and the
/// rest to 1; three (Yoshida 1990) would do with an error some thirty times as large.
static kk_quat spin(const lone *b, double h, kk_vec3 omega) {
    kk_quat turned = kk_quat_identity();
    kk_vec3 P = kk_sym3_mul_vec(b->moment, omega);
    if (kk_vec3_dot(omega, omega) * h * h < 1e-12) {
        midpoint(b, h, &turned, &P);
        return turned;
    }
    const double outer = 0.41449077179437574, inner = -0.65796308717750295;
    midpoint(b, outer * h, &turned, &P);
    midpoint(b, outer * h, &turned, &P);
    midpoint(b, inner * h, &turned, &P);
    midpoint(b, outer * h, &turned, &P);
    midpoint(b, outer * h, &turned, &P);
    return turned;
}

/// What a turn adds to the spin ω of a body whose momentum stays. Its length stays, too: δ · (2P + δ) is what rounding has added to it.
static kk_vec3 spin_adds(const lone *b, kk_quat turned, kk_vec3 omega) {
    const kk_vec3 P = kk_sym3_mul_vec(b->moment, omega), delta = turn_back_adds(turned, P),
                  next = kk_vec3_add(P, delta);
    const double square = kk_vec3_dot(P, P), longer = kk_vec3_dot(delta, kk_vec3_add(P, next));
    const kk_vec3 kept = square > 0 ? kk_vec3_sub(delta, kk_vec3_scale(next, 0.5 * longer / square)) : delta;
    return kk_sym3_mul_vec(b->inverse, kept);
}

/// Centre of mass straight on, momentum kept. Momenta are turned by what the body turned in this step alone: to the world by one
/// quaternion and back by the next they would pick up the rounding of both lengths, which is not even on average.
/// @param w  velocity to move with, in the axes at the start    @param v  velocity to carry along
static void drift_lone(const kki_node *n, double h, const double *w, double *q, double *v) {
    const lone b = lone_of(n);
    const kk_quat R0 = load_quat(q);
    const kk_vec3 omega = load3(w), carried = load3(v);
    const kk_vec3 centre_speed = turn(R0, kk_vec3_add(load3(w + 3), kk_vec3_cross(omega, b.c)));
    const kk_quat turned = b.is_round ? kk_quat_exp(kk_vec3_scale(omega, h)) : spin(&b, h, omega);
    // the centre of mass moves on a straight line, and the origin with it
    const kk_vec3 centre = kk_vec3_add(kk_vec3_add(load3(q + 4), turn(R0, b.c)), kk_vec3_scale(centre_speed, h));
    store_quat(q, kk_quat_mul(R0, turned));
    store3(q + 4, kk_vec3_sub(centre, turn(load_quat(q), b.c)));
    // the velocity that is carried along keeps its momentum in the world, too
    const kk_vec3 u = kk_vec3_add(load3(v + 3), kk_vec3_cross(carried, b.c));
    const kk_vec3 speed = kk_vec3_add(u, turn_back_adds(turned, u));
    const kk_vec3 spun =
        kk_vec3_add(carried, b.is_round ? turn_back_adds(turned, carried) : spin_adds(&b, turned, carried));
    store3(v, spun);
    store3(v + 3, kk_vec3_sub(speed, kk_vec3_cross(spun, b.c)));
}

// ---- all joints

static int is_zero(const double *x, int n) {
    for (int i = 0; i < n; i++) {
        if (x[i] != 0) {
            return 0;
        }
    }
    return 1;
}

static void drift_node(const kki_node *n, int nv, double h, const double *w, double *q, double *v) {
    // what stands still keeps its bits
    if (nv > 1 && is_zero(w, nv)) {
        return;
    }
    if (n->type == KKI_NODE_FREE && n->parent == 0) {
        if (n->is_leaf && n->mass > 0) {
            drift_lone(n, h, w, q, v);
        } else {
            drift_free(h, w, q, v);
        }
    } else if (n->type == KKI_NODE_FREE) {
        const kk_vec3 u = turn(load_quat(q), load3(w + 3));
        store_quat(q, kk_quat_mul(load_quat(q), kk_quat_exp(kk_vec3_scale(load3(w), h))));
        store3(q + 4, kk_vec3_add(load3(q + 4), kk_vec3_scale(u, h)));
    } else if (n->type == KKI_NODE_BALL) {
        store_quat(q, kk_quat_mul(load_quat(q), kk_quat_exp(kk_vec3_scale(load3(w), h))));
    } else {
        q[0] += h * w[0];
    }
}

void kki_drift_along(const kk_model *model, double time, const double *w, double *q, double *v) {
    for (int i = 1; i < model->nnode; i++) {
        const kki_node *n = &model->node[i];
        drift_node(n, model->node_nv[i], time, w + n->v_index, q + n->q_index, v + n->v_index);
    }
}

void kki_drift(const kk_model *model, double time, double *q, double *v) {
    for (int i = 1; i < model->nnode; i++) {
        const kki_node *n = &model->node[i];
        double w[6];
        for (int k = 0; k < model->node_nv[i]; k++) {
            w[k] = v[n->v_index + k];
        }
        drift_node(n, model->node_nv[i], time, w, q + n->q_index, v + n->v_index);
    }
}
