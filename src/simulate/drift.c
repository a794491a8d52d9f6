/// Moving without forces.
///
/// Joints inside a tree go on with q̇. A free root goes on with its velocity in world axes: its origin on a straight
/// line, its axes turning about a fixed direction. A lone body keeps its angular momentum L in the world, too: its
/// spin follows Euler's equations, Ṗ = P × I⁻¹P with P = RᵀL about the center of mass, by the midpoint rule on the
/// rotation group (Lewis and Simo 1994),
///     θ = h I⁻¹ exp(−θ/2) P,    R ← R exp(θ),
/// which keeps L to rounding whatever h; fast spins are composed to fourth order.
///
/// Where two moments are equal, or nearly, that implicit rule is not asked: a rod that spins about itself turns by far more about its length than it wobbles, and the rule
/// has other roots there. A body that is round about axis k turns about P as a whole and about k by the rest, for any time,
///     R ← R exp(h P/I) exp(h P_k (1/I_k − 1/I) k),
/// and what the second of two nearly equal moments differs by is half a turn about its axis before and half behind (Touma and Wisdom 1994).
#include "simulate/drift.h"

#include <karakuri/elementary.h>
#include <string.h>

/// Made anew wherever it is called.
#define QUICK static inline __attribute__((always_inline))

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

static inline void put_quat(double *q, kk_quat r) {
    q[0] = r.w;
    q[1] = r.x;
    q[2] = r.y;
    q[3] = r.z;
}

/// Brought back to unit length every time: a length that is off by rounding would pump the momentum turned by it.
static void store_quat(double *q, kk_quat a) {
    put_quat(q, kk_quat_normalize(a));
}

/// The same for a robot's joints, which are many and wait for it: next to one, 1/√square is a straight line to rounding, and takes no root and no
/// division.
static inline void store_turned(double *q, kk_quat a) {
    const double square = (a.w * a.w + a.x * a.x) + (a.y * a.y + a.z * a.z), off = square - 1, f = 1 - 0.5 * off;
    if (off * off < 1e-17) {
        put_quat(q, (kk_quat){f * a.w, f * a.x, f * a.y, f * a.z});
    } else {
        store_quat(q, a);
    }
}

QUICK kk_vec3 turn(kk_quat q, kk_vec3 a) {
    return kk_mat3_mul_vec(kk_quat_to_mat3(q), a);
}

/// exp(−θ) a − a, what a vector fixed in the world changes by in axes that turn by θ. As a difference it carries its own
/// rounding only, which is small where θ is; a million steps then add up to nothing.
/// @param q  the quaternion of θ, (cos θ/2, θ̂ sin θ/2)
static kk_vec3 turned_away(kk_quat q, kk_vec3 a) {
    const kk_vec3 e = kk_vec3_make(q.x, q.y, q.z), once = kk_vec3_cross(e, a), twice = kk_vec3_cross(e, once);
    return kk_vec3_scale(kk_vec3_sub(twice, kk_vec3_scale(once, q.w)), 2);
}

/// kk_quat_exp; angles below a quarter of a radian, as those of a step are, by the series of cosine and sine, whose first neglected
/// terms are below rounding.
QUICK kk_quat turn_of(kk_vec3 theta) {
    const double x = 0.25 * kk_vec3_dot(theta, theta); // half the angle, squared
    if (!(x < 1.0 / 64)) {
        return kk_quat_exp(theta);
    }
    double c = 1.0 / 720, s = 1.0 / 5040;
    if (x > 1e-4) {
        c -= x * (1.0 / 40320 - x / 3628800);
        s -= x * (1.0 / 362880 - x / 39916800);
    }
    c = 1 - x * (1.0 / 2 - x * (1.0 / 24 - x * c));
    s = 1 - x * (1.0 / 6 - x * (1.0 / 120 - x * s));
    const double f = 0.5 * s;
    return (kk_quat){c, f * theta.x, f * theta.y, f * theta.z};
}

// ---- free roots

/// R_WJ0 of the joint's placement: q's quaternion and position are seen from there. Lengths and world constancy do not
/// depend on it, so it can be left out of everything here.
///
/// Origin straight on, axes about ω; v stays as it is in the world.
static void drift_free(double h, const double *w, double *q, double *v) {
    const kk_quat R0 = load_quat(q);
    const kk_vec3 u = turn(R0, load3(w + 3));
    const kk_quat turned = turn_of(kk_vec3_scale(load3(w), h));
    store_turned(q, kk_quat_mul(R0, turned));
    store3(q + 4, kk_vec3_add(load3(q + 4), kk_vec3_scale(u, h)));
    store3(v, kk_vec3_add(load3(v), turned_away(turned, load3(v))));
    store3(v + 3, kk_vec3_add(load3(v + 3), turned_away(turned, load3(v + 3))));
}

/// A lone body's constants: moments about its center of mass, their inverse, and the center from its origin.
typedef struct lone {
    kk_sym3 moment, inverse;
    kk_vec3 c;
    int is_round; ///< three equal moments: the spin stays
    int nearly;   ///< number of the axis that it is round about, or nearly; −1: none
    int is_axial; ///< two equal moments `across` an axis, however that lies, and one `along` it
    kk_vec3 axis;
    double across, along;
} lone;

static kk_sym3 invert(kk_sym3 a) {
    const double xx = a.yy * a.zz - a.yz * a.yz, xy = a.xz * a.yz - a.xy * a.zz, xz = a.xy * a.yz - a.xz * a.yy;
    const double i = 1 / (a.xx * xx + a.xy * xy + a.xz * xz);
    return (kk_sym3){xx * i, (a.xx * a.zz - a.xz * a.xz) * i, (a.xx * a.yy - a.xy * a.xy) * i, xy * i,
                     xz * i, (a.xy * a.xz - a.xx * a.yz) * i};
}

/// Share by which two moments may differ that are nearly equal.
static const double NEARLY_EQUAL = 0.05;

/// The axis that two nearly equal moments are across, where the axes are the principal ones; −1: none.
static int near_axis_of(const kk_sym3 *J) {
    const double I[3] = {J->xx, J->yy, J->zz};
    double least = NEARLY_EQUAL;
    int axis = -1;
    for (int k = 0; k < 3; k++) {
        const double a = I[(k + 1) % 3], b = I[(k + 2) % 3], off = __builtin_fabs(a - b), most = a > b ? a : b;
        if (off <= least * most) {
            least = off / most;
            axis = k;
        }
    }
    return J->xy == 0 && J->xz == 0 && J->yz == 0 ? axis : -1;
}

/// An axis that it is exactly round about: J is then across · 1 + (along − across) a aᵀ, and without its mean d (3 a aᵀ − 1).
static void find_axis(lone *b) {
    const kk_sym3 *J = &b->moment;
    const double mean = (J->xx + J->yy + J->zz) / 3;
    const kk_mat3 D = kk_sym3_to_mat3((kk_sym3){J->xx - mean, J->yy - mean, J->zz - mean, J->xy, J->xz, J->yz});
    double square = 0, off = 0;
    for (int k = 0; k < 9; k++) {
        square += D.m[k] * D.m[k];
    }
    const kk_vec3 x = kk_mat3_column(D, 0), y = kk_mat3_column(D, 1), z = kk_mat3_column(D, 2);
    const double size = kk_sqrt(square / 6), d = kk_vec3_dot(x, kk_vec3_cross(y, z)) < 0 ? -size : size;
    int column = 0;
    for (int k = 1; k < 3; k++) {
        column = (D.m[4 * k] - D.m[4 * column]) * d > 0 ? k : column;
    }
    const kk_vec3 along = kk_mat3_column(D, column);
    kk_vec3 a =
        kk_vec3_make(along.x + (column == 0 ? d : 0), along.y + (column == 1 ? d : 0), along.z + (column == 2 ? d : 0));
    a = kk_vec3_scale(a, 1 / kk_vec3_norm(a));
    for (int k = 0; k < 9; k++) {
        off += __builtin_fabs(D.m[k] - d * (3 * kk_vec3_get(a, k / 3) * kk_vec3_get(a, k % 3) - (k % 4 == 0)));
    }
    b->axis = a;
    b->across = mean - d;
    b->along = kk_vec3_dot(a, kk_sym3_mul_vec(*J, a)); // of a rod as exact as J tells it
    b->is_axial = off <= 1e-13 * mean;
}

static lone lone_of(const kki_node *n) {
    const double im = 1 / n->mass;
    const kk_vec3 c = kk_vec3_make(n->h[0] * im, n->h[1] * im, n->h[2] * im);
    const kk_sym3 shift = kk_sym3_point_mass(n->mass, c);
    const kk_sym3 J = {n->inertia[0][0] - shift.xx, n->inertia[1][1] - shift.yy, n->inertia[2][2] - shift.zz,
                       n->inertia[1][0] - shift.xy, n->inertia[2][0] - shift.xz, n->inertia[2][1] - shift.yz};
    const double spread = __builtin_fabs(J.xx - J.yy) + __builtin_fabs(J.xx - J.zz) + __builtin_fabs(J.xy) +
                          __builtin_fabs(J.xz) + __builtin_fabs(J.yz);
    return (lone){.moment = J, .inverse = invert(J), .c = c, .is_round = spread <= 1e-14 * J.xx, .nearly = -1};
}

/// A vector in the body's axes: what it was at the start, and how it has changed since.
typedef struct carried {
    kk_vec3 start, change;
} carried;

static kk_vec3 value(carried x) {
    return kk_vec3_add(x.start, x.change);
}

static void carry(carried *x, kk_quat turned) {
    x->change = kk_vec3_add(x->change, turned_away(turned, value(*x)));
}

/// What turns with a lone body: its attitude, the momentum it turns with, and the momentum and speed it carries along.
typedef struct spinner {
    kk_quat R;
    carried P, L, u;
} spinner;

static void turn_by(spinner *x, kk_vec3 theta) {
    const kk_quat turned = turn_of(theta);
    x->R = kk_quat_mul(x->R, turned);
    carry(&x->P, turned);
    carry(&x->L, turned);
    carry(&x->u, turned);
}

/// r + g I⁻¹ (P × r): with g = h/2 how θ answers a change r of what it should be, to first order in θ.
static kk_vec3 answer(const lone *b, kk_vec3 P, double g, kk_vec3 r) {
    return kk_vec3_add(r, kk_vec3_scale(kk_sym3_mul_vec(b->inverse, kk_vec3_cross(P, r)), g));
}

/// θ of the midpoint rule. The plain iteration contracts by |θ|/2; corrected to first order in θ, by less than |θ|²/2, so it ends where the
/// next correction would be below rounding.
static kk_vec3 midpoint_turn(const lone *b, kk_vec3 P, double h) {
    const kk_vec3 free = kk_vec3_scale(kk_sym3_mul_vec(b->inverse, P), h);
    const int is_slow = kk_vec3_dot(free, free) < 0.25;
    const double g = is_slow ? 0.5 * h : 0;
    kk_vec3 theta = answer(b, P, g, free);
    for (int i = 0; i < 60; i++) {
        const kk_vec3 turned = kk_vec3_add(P, turned_away(turn_of(kk_vec3_scale(theta, 0.5)), P));
        const kk_vec3 next = kk_vec3_scale(kk_sym3_mul_vec(b->inverse, turned), h);
        const kk_vec3 d = answer(b, P, g, kk_vec3_sub(next, theta));
        const double change = kk_vec3_dot(d, d), size = kk_vec3_dot(next, next);
        theta = kk_vec3_add(theta, d);
        if (change * (is_slow ? 0.25 * size * size : 1) <= 1e-32 * size) {
            break;
        }
    }
    return theta;
}

static void midpoint(const lone *b, double h, spinner *x) {
    turn_by(x, midpoint_turn(b, value(x->P), h));
}

static void turn_about(spinner *x, int axis, double angle) {
    turn_by(x, kk_vec3_make(axis == 0 ? angle : 0, axis == 1 ? angle : 0, axis == 2 ? angle : 0));
}

static void spin_about_axis(const lone *b, double h, spinner *x) {
    const double own = kk_vec3_dot(value(x->P), b->axis);
    turn_by(x, kk_vec3_scale(value(x->P), h / b->across));
    turn_by(x, kk_vec3_scale(b->axis, h * own * (1 / b->along - 1 / b->across)));
}

/// A body that is nearly round about an axis.
static void spin_about_near_axis(const lone *b, double h, spinner *x) {
    const int k = b->nearly, second = (k + 2) % 3;
    const double I[3] = {b->moment.xx, b->moment.yy, b->moment.zz}, first = I[(k + 1) % 3];
    const double rest = 0.5 * h * (1 / I[second] - 1 / first);
    turn_about(x, second, rest * kk_vec3_get(value(x->P), second));
    const double own = kk_vec3_get(value(x->P), k);
    turn_by(x, kk_vec3_scale(value(x->P), h / first));
    turn_about(x, k, h * own * (1 / I[k] - 1 / first));
    turn_about(x, second, rest * kk_vec3_get(value(x->P), second));
}

static void one_turn(const lone *b, double h, spinner *x) {
    if (b->nearly >= 0) {
        spin_about_near_axis(b, h, x);
    } else {
        midpoint(b, h, x);
    }
}

/// Slow spins by one midpoint rule, fast ones by five, whose weights are 1/(4 − ∛4) and the rest to 1 (Suzuki 1990); three
/// would do with an error some thirty times as large.
static void spin(lone *b, double h, int is_rough, spinner *x) {
    const kk_vec3 theta = kk_vec3_scale(kk_sym3_mul_vec(b->inverse, x->P.start), h);
    if (is_rough) { // of second order; whatever θ is, the momentum stays
        turn_by(x, answer(b, x->P.start, 0.5 * h, theta));
        return;
    }
    if (kk_vec3_dot(theta, theta) < 1e-12) {
        midpoint(b, h, x);
        return;
    }
    find_axis(b);
    if (b->is_axial) {
        spin_about_axis(b, h, x);
        return;
    }
    b->nearly = near_axis_of(&b->moment);
    const double outer = 0.41449077179437574, inner = -0.65796308717750295;
    one_turn(b, outer * h, x);
    one_turn(b, outer * h, x);
    one_turn(b, inner * h, x);
    one_turn(b, outer * h, x);
    one_turn(b, outer * h, x);
}

int kki_drift_is_ball(const kki_node *n) {
    const double x = n->inertia[0][0];
    const double spread = __builtin_fabs(x - n->inertia[1][1]) + __builtin_fabs(x - n->inertia[2][2]) +
                          __builtin_fabs(n->inertia[1][0]) + __builtin_fabs(n->inertia[2][0]) +
                          __builtin_fabs(n->inertia[2][1]);
    return n->h[0] == 0 && n->h[1] == 0 && n->h[2] == 0 && spread <= 1e-14 * x;
}

/// drift_lone for such a body. @param from  velocity to carry along; w and v may be the same
QUICK void drift_ball(double h, const double *w, const double *from, double *q, double *v) {
    const kk_quat R0 = load_quat(q), turned = turn_of(kk_vec3_scale(load3(w), h));
    kk_vec3 spin = load3(from), u = load3(from + 3);
    store3(q + 4, kk_vec3_add(load3(q + 4), kk_vec3_scale(turn(R0, load3(w + 3)), h)));
    store_quat(q, kk_quat_mul(R0, turned));
    if (spin.x != w[0] || spin.y != w[1] ||
        spin.z != w[2]) { // the spin that it carries along is not the one it moves with
        spin = kk_vec3_add(spin, turned_away(turned, spin));
    }
    u = kk_vec3_add(u, turned_away(turned, u));
    store3(v, spin);
    store3(v + 3, u);
}

/// Center of mass straight on, momentum kept.
/// @param w  velocity to move with, in the axes at the start    @param v  velocity to carry along
static void drift_lone(const kki_node *n, double h, int is_rough, const double *w, double *q, double *v) {
    if (kki_is_zero(w, 3) && kki_is_zero(v, 3)) {
        store3(q + 4, kk_vec3_add(load3(q + 4), kk_vec3_scale(turn(load_quat(q), load3(w + 3)), h)));
        return; // it does not turn
    }
    if (kki_drift_is_ball(n)) {
        drift_ball(h, w, v, q, v);
        return;
    }
    lone b = lone_of(n);
    const kk_quat R0 = load_quat(q);
    const kk_vec3 omega = load3(w), none = {0, 0, 0};
    const kk_vec3 center_speed = turn(R0, kk_vec3_add(load3(w + 3), kk_vec3_cross(omega, b.c)));
    spinner x = {R0,
                 {kk_sym3_mul_vec(b.moment, omega), none},
                 {kk_sym3_mul_vec(b.moment, load3(v)), none},
                 {kk_vec3_add(load3(v + 3), kk_vec3_cross(load3(v), b.c)), none}};
    if (b.is_round) {
        turn_by(&x, kk_vec3_scale(omega, h));
    } else {
        spin(&b, h, is_rough, &x);
    }
    // the center of mass moves on a straight line, and the origin with it
    const kk_vec3 center = kk_vec3_add(kk_vec3_add(load3(q + 4), turn(R0, b.c)), kk_vec3_scale(center_speed, h));
    store_quat(q, x.R);
    store3(q + 4, kk_vec3_sub(center, turn(load_quat(q), b.c)));
    // the velocity that is carried along keeps its momentum in the world, too
    const kk_vec3 change = kk_sym3_mul_vec(b.inverse, x.L.change);
    store3(v, kk_vec3_add(load3(v), change));
    store3(v + 3, kk_vec3_add(load3(v + 3), kk_vec3_sub(x.u.change, kk_vec3_cross(change, b.c))));
}

// ---- all joints

/// Axes alone turn; w stays as it is.
static inline void drift_ball_joint(double h, const double *w, double *q) {
    if (!kki_is_zero(w, 3)) { // what stands still keeps its bits
        store_turned(q, kk_quat_mul(load_quat(q), turn_of(kk_vec3_scale(load3(w), h))));
    }
}

/// Free joints.
static void drift_node(const kki_node *n, double h, int is_rough, const double *w, double *q, double *v) {
    // what stands still keeps its bits
    if (kki_is_zero(w, 6)) {
        return;
    }
    if (n->parent == 0) {
        if (n->is_leaf && n->mass > 0) {
            drift_lone(n, h, is_rough, w, q, v);
        } else {
            drift_free(h, w, q, v);
        }
    } else {
        const kk_vec3 u = turn(load_quat(q), load3(w + 3));
        drift_ball_joint(h, w, q);
        store3(q + 4, kk_vec3_add(load3(q + 4), kk_vec3_scale(u, h)));
    }
}

void kki_drift_crowd(const kk_model *model, const int8_t *is_ball, double time, int is_rough, const double *w,
                     const double *from, double *q, double *v, int first, int end) {
    for (int i = first; i < end; i++) {
        const size_t dof = 6 * (size_t)(i - 1);
        double *at = q + 7 * (size_t)(i - 1);
        if (is_ball[i] && !kki_is_zero(w + dof, 3)) {
            drift_ball(time, w + dof, from + dof, at, v + dof);
        } else {
            memcpy(v + dof, from + dof, 6 * sizeof *v);
            drift_node(&model->node[i], time, is_rough, w + dof, at, v + dof);
        }
    }
}

/// Joints of one degree of freedom, side by side.
static void drift_along_line(int count, double time, const double *restrict w, double *restrict q) {
    for (int k = 0; k < count; k++) {
        q[k] += time * w[k];
    }
}

static void drift_broad(const kk_model *m, int node, double time, const double *w, double *q, double *v) {
    const int k = m->node[node].v_index;
    double *at = q + m->angle_index[node];
    if (m->node_nv[node] == 3) {
        drift_ball_joint(time, w + k, at);
    } else {
        const double own[6] = {w[k], w[k + 1], w[k + 2], w[k + 3], w[k + 4], w[k + 5]}; // w may be v
        drift_node(&m->node[node], time, 0, own, at, v + k);
    }
}

void kki_drift_along(const kk_model *model, double time, const double *w, double *q, double *v) {
    for (int i = 0; i < model->nstretch; i++) {
        const kki_stretch *s = &model->stretch[i];
        drift_along_line(s->count, time, w + s->v_index, q + s->q_index);
    }
    for (int i = 0; i < model->nbroad; i++) {
        drift_broad(model, model->broad[i], time, w, q, v);
    }
}

void kki_drift(const kk_model *model, double time, double *q, double *v) {
    kki_drift_along(model, time, v, q, v);
}
