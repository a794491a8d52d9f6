/// Moving without forces.
///
/// Joints inside a tree go on with q̇. A free root goes on with its velocity in world axes: its origin on a straight
/// line, its axes turning about a fixed direction. A lone body keeps its angular momentum L in the world, too: its
/// spin follows Euler's equations, Ṗ = P × I⁻¹P with P = RᵀL about the centre of mass, by the midpoint rule on the
/// rotation group (Lewis and Simo 1994),
///     θ = h I⁻¹ exp(−θ/2) P,    R ← R exp(θ),
/// which keeps L to rounding whatever h; fast spins are composed to fourth order (Yoshida 1990).
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

/// Brought back to unit length every time: a length that is off by rounding would pump the momentum turned by it.
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

static kk_vec3 turn(kk_quat q, kk_vec3 a) {
    return kk_mat3_mul_vec(kk_quat_to_mat3(q), a);
}

/// `a` with the length of `like`: turning must not change a length, and rounding does so with a bias that a million
/// steps would show.
static kk_vec3 with_length_of(kk_vec3 a, kk_vec3 like) {
    const double square = kk_vec3_dot(a, a);
    return square > 0 ? kk_vec3_scale(a, kk_sqrt(kk_vec3_dot(like, like) / square)) : a;
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
    store3(v, with_length_of(turn_back(turned, load3(v)), load3(v)));
    store3(v + 3, with_length_of(turn_back(turned, load3(v + 3)), load3(v + 3)));
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

/// ω with I ω = P. Refined once: the inverse's own rounding is the same in every step and would add up.
static kk_vec3 spin_of(const lone *b, kk_vec3 P) {
    const kk_vec3 w = kk_sym3_mul_vec(b->inverse, P);
    return kk_vec3_add(w, kk_sym3_mul_vec(b->inverse, kk_vec3_sub(P, kk_sym3_mul_vec(b->moment, w))));
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

/// Turns R and the momentum in its axes by one midpoint rule.
static void midpoint(const lone *b, double h, kk_quat *R, kk_vec3 *P) {
    const kk_quat turned = kk_quat_exp(midpoint_turn(b, *P, h));
    *R = kk_quat_mul(*R, turned);
    *P = turn_back(turned, *P);
}

/// Slow spins by one midpoint rule, fast ones by three, whose weights are 1/(2 − ∛2), −∛2/(2 − ∛2).
static void spin(const lone *b, double h, kk_quat *R, kk_vec3 *P) {
    const kk_vec3 theta = kk_vec3_scale(kk_sym3_mul_vec(b->inverse, *P), h);
    if (kk_vec3_dot(theta, theta) < 1e-12) {
        midpoint(b, h, R, P);
        return;
    }
    const double outer = 1.3512071919596578, inner = -1.7024143839193153;
    midpoint(b, outer * h, R, P);
    midpoint(b, inner * h, R, P);
    midpoint(b, outer * h, R, P);
}

/// Centre of mass straight on, momentum kept.
/// @param w  velocity to move with, in the axes at the start    @param v  velocity to carry along
static void drift_lone(const kki_node *n, double h, const double *w, double *q, double *v) {
    const lone b = lone_of(n);
    const kk_quat R0 = load_quat(q);
    const kk_vec3 omega = load3(w);
    const kk_vec3 centre_speed = turn(R0, kk_vec3_add(load3(w + 3), kk_vec3_cross(omega, b.c)));
    kk_quat R = R0;
    kk_vec3 P = kk_sym3_mul_vec(b.moment, omega);
    if (b.is_round) {
        R = kk_quat_mul(R0, kk_quat_exp(kk_vec3_scale(omega, h)));
    } else {
        spin(&b, h, &R, &P);
    }
    // the centre of mass moves on a straight line, and the origin with it
    const kk_vec3 centre = kk_vec3_add(kk_vec3_add(load3(q + 4), turn(R0, b.c)), kk_vec3_scale(centre_speed, h));
    // the velocity that is carried along keeps its momentum in the world, too
    const kk_vec3 P0 = kk_sym3_mul_vec(b.moment, load3(v)), L = turn(R0, P0);
    const kk_vec3 u0 = kk_vec3_add(load3(v + 3), kk_vec3_cross(load3(v), b.c)), speed = turn(R0, u0);
    store_quat(q, R);
    const kk_quat unit = load_quat(q);
    store3(q + 4, kk_vec3_sub(centre, turn(unit, b.c)));
    const kk_vec3 spun = spin_of(&b, with_length_of(turn_back(unit, L), P0));
    store3(v, spun);
    store3(v + 3, kk_vec3_sub(with_length_of(turn_back(unit, speed), u0), kk_vec3_cross(spun, b.c)));
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
