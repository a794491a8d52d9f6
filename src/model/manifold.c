/// The configuration manifold: neutral and random points, q ⊕ v and its inverse.
///
/// Angles and travels add. Quaternions turn by the exponential, q' = q exp(v). A free joint's v is a twist in its own
/// frame, and moving along it for one unit of time is the exponential of SE(3):
///     R' = R exp(ω),  p' = p + R V(ω) u,  V(ω) = 1 + b ω× + c ω×²,  b = (1 − cos θ)/θ²,  c = (θ − sin θ)/θ³,
/// and back: ω = log(Rᵀ R'),  u = V(ω)⁻¹ Rᵀ (p' − p),  V⁻¹ = 1 − ω×/2 + d ω×²,  d = (1 − θ/2 cot θ/2)/θ².
/// b is taken as 2 (sin(θ/2)/θ)², in which nothing cancels, and d uses cot(θ/2) = w/|xyz| of the quaternion, which is
/// smooth up to θ = π. c and d cancel for small θ; below the thresholds their power series take over, with as many
/// terms as rounding can see.
///
/// References: Murray, Li, Sastry, A Mathematical Introduction to Robotic Manipulation, 1994, 2.3;
/// J. Solà, J. Deray, D. Atchuthan, A micro Lie theory for state estimation in robotics, arXiv:1812.01537.
#include <karakuri/elementary.h>
#include <karakuri/number.h>
#include <karakuri/random.h>
#include <string.h>

#include "base/error.h"
#include "base/float_bits.h"
#include "base/missing.h"
#include "model/compile.h"
#include "model/joint.h"

// ---- quaternions and positions inside q

static kk_quat load_quat(const double *q) {
    return (kk_quat){q[0], q[1], q[2], q[3]};
}

static void store_quat(double *q, kk_quat a) {
    q[0] = a.w;
    q[1] = a.x;
    q[2] = a.y;
    q[3] = a.z;
}

static kk_vec3 load_vec(const double *a) {
    return kk_vec3_make(a[0], a[1], a[2]);
}

static void store_vec(double *out, kk_vec3 a) {
    out[0] = a.x;
    out[1] = a.y;
    out[2] = a.z;
}

static double quat_square(kk_quat a) {
    return a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z;
}

// ---- SE(3)

/// Σ coefficient[k] xᵏ.
static double polynomial(const double *coefficient, int count, double x) {
    double sum = 0;
    for (int k = count - 1; k >= 0; k--) {
        sum = sum * x + coefficient[k];
    }
    return sum;
}

/// (θ − sin θ)/θ³. At θ = 1 the closed form has lost three bits; the series' first missing term there is 1/21! = 2e-20.
static double third_order_sine(double square) {
    static const double series[] = {1.0 / 6,
                                    -1.0 / 120,
                                    1.0 / 5040,
                                    -1.0 / 362880,
                                    1.0 / 39916800,
                                    -1.0 / 6227020800.0,
                                    1.0 / 1307674368000.0,
                                    -1.0 / 355687428096000.0,
                                    1.0 / 121645100408832000.0};
    if (square < 1) {
        return polynomial(series, 9, square);
    }
    const double angle = kk_sqrt(square);
    return (angle - kk_sin(angle)) / (angle * square);
}

/// (1 − θ/2 cot θ/2)/θ² from θ² and half of θ cot θ/2. Series |B₂ₖ|/(2k)!; at θ = 1/2 the first missing term
/// is 3e-18 of the sum.
static double second_order_cotangent(double square, double half_angle_cotangent) {
    static const double series[] = {1.0 / 12,
                                    1.0 / 720,
                                    1.0 / 30240,
                                    1.0 / 1209600,
                                    1.0 / 47900160,
                                    691.0 / 1307674368000.0,
                                    1.0 / 74724249600.0,
                                    3617.0 / 10670622842880000.0};
    return square < 0.25 ? polynomial(series, 8, square) : (1 - half_angle_cotangent) / square;
}

/// V(ω) u.
static kk_vec3 travel_of_twist(kk_vec3 omega, kk_vec3 u) {
    const kk_quat half = kk_quat_exp(omega);
    const double square = kk_vec3_dot(omega, omega);
    // 2 (sin(θ/2)/θ)²; sin² from the quaternion's vector
    const double sine_square = half.x * half.x + half.y * half.y + half.z * half.z;
    const double b = square < 0x1p-60 ? 0.5 : 2 * sine_square / square, c = third_order_sine(square);
    const kk_vec3 wu = kk_vec3_cross(omega, u), wwu = kk_vec3_cross(omega, wu);
    return kk_vec3_add(u, kk_vec3_add(kk_vec3_scale(wu, b), kk_vec3_scale(wwu, c)));
}

/// V(ω)⁻¹ p, with ω = log of the given quaternion.
static kk_vec3 twist_of_travel(kk_quat turn, kk_vec3 omega, kk_vec3 p) {
    const double square = kk_vec3_dot(omega, omega);
    const double sine = kk_sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
    const double cotangent = __builtin_fabs(turn.w) / sine; // not used where sine is 0
    const double d = second_order_cotangent(square, 0.5 * kk_sqrt(square) * cotangent);
    const kk_vec3 wp = kk_vec3_cross(omega, p), wwp = kk_vec3_cross(omega, wp);
    return kk_vec3_add(p, kk_vec3_sub(kk_vec3_scale(wwp, d), kk_vec3_scale(wp, 0.5)));
}

// ---- one node

/// q exp(v). Rounding lets the length drift; it is brought back as soon as it shows, but a q at rest keeps its bits.
static kk_quat turn_quat(kk_quat q, kk_vec3 v) {
    const kk_quat r = kk_quat_mul(q, kk_quat_exp(v));
    return __builtin_fabs(quat_square(r) - 1) > 0x1p-50 ? kk_quat_normalize(r) : r;
}

/// q⁻¹ r.
static kk_quat turn_between(kk_quat q, kk_quat r) {
    return kk_quat_mul(kk_quat_conjugate(q), r);
}

static void integrate_free(const double *q, const double *v, double *out) {
    const kk_quat turn = load_quat(q);
    const kk_vec3 omega = load_vec(v), travel = travel_of_twist(omega, load_vec(v + 3));
    store_vec(out + 4, kk_vec3_add(load_vec(q + 4), kk_mat3_mul_vec(kk_quat_to_mat3(turn), travel)));
    store_quat(out, turn_quat(turn, omega));
}

static void difference_free(const double *q0, const double *q1, double *v) {
    const kk_quat turn = turn_between(load_quat(q0), load_quat(q1));
    const kk_vec3 omega = kk_quat_log(turn);
    const kk_vec3 p = kk_vec3_sub(load_vec(q1 + 4), load_vec(q0 + 4));
    store_vec(v, omega);
    store_vec(v + 3, twist_of_travel(turn, omega, kk_mat3_tmul_vec(kk_quat_to_mat3(load_quat(q0)), p)));
}

void kk_integrate(const kk_model *m, const double *q, const double *v, double *q_out) {
    for (int i = 1; i < m->nnode; i++) {
        const kki_node *node = &m->node[i];
        const double *qi = q + node->q_index, *vi = v + node->v_index;
        double *out = q_out + node->q_index;
        if (node->type == KKI_NODE_FREE) {
            integrate_free(qi, vi, out);
        } else if (node->type == KKI_NODE_BALL) {
            store_quat(out, turn_quat(load_quat(qi), load_vec(vi)));
        } else {
            out[0] = qi[0] + vi[0];
        }
    }
}

void kki_node_difference(const kki_node *node, const double *q0, const double *q1, double *v) {
    const double *a = q0 + node->q_index, *b = q1 + node->q_index;
    double *out = v + node->v_index;
    if (node->type == KKI_NODE_FREE) {
        difference_free(a, b, out);
    } else if (node->type == KKI_NODE_BALL) {
        store_vec(out, kk_quat_log(turn_between(load_quat(a), load_quat(b))));
    } else {
        out[0] = b[0] - a[0];
    }
}

void kk_difference(const kk_model *m, const double *q0, const double *q1, double *v) {
    for (int i = 1; i < m->nnode; i++) {
        kki_node_difference(&m->node[i], q0, q1, v);
    }
}

static int has_quaternion(const kki_node *node) {
    return node->type == KKI_NODE_FREE || node->type == KKI_NODE_BALL;
}

void kk_normalize(const kk_model *m, double *q) {
    for (int i = 1; i < m->nnode; i++) {
        if (has_quaternion(&m->node[i])) {
            double *quat = q + m->node[i].q_index;
            store_quat(quat, kk_quat_normalize(load_quat(quat)));
        }
    }
}

// ---- points

void kk_model_neutral(const kk_model *m, double *q) {
    memset(q, 0, (size_t)m->nq * sizeof *q);
    for (int i = 1; i < m->nnode; i++) {
        if (has_quaternion(&m->node[i])) {
            q[m->node[i].q_index] = 1;
        }
    }
}

void kk_model_start(const kk_model *m, double *q) {
    kk_model_neutral(m, q);
    for (int i = 0; i < m->nstretch; i++) { // joints of one degree of freedom
        const kki_stretch *s = &m->stretch[i];
        for (int k = 0; k < s->count; k++) {
            q[s->q_index + k] = m->dof[s->v_index + k].start;
        }
    }
}

static kk_status check_node(const kk_model *m, int i, const double *q, kk_error *error) {
    const kki_node *node = &m->node[i];
    const kki_body *body = &m->body[m->node_body[i]];
    const char *joint = kki_model_name(m, body->joint_name);
    for (int k = 0; k < kki_node_type_nq((kki_node_type)node->type); k++) {
        const double x = q[node->q_index + k];
        if (!__builtin_isfinite(x)) {
            return kki_error_set(error, KK_NOT_FINITE, "joint \"%s\": coordinate %d (q[%d]) is %s; it must be finite",
                                 joint, (int)(node->q_index + k - body->q_index), (int)(node->q_index + k),
                                 KKI_NUMBER(x));
        }
    }
    const double length = has_quaternion(node) ? kk_sqrt(quat_square(load_quat(q + node->q_index))) : 1;
    if (__builtin_fabs(length - 1) > 1e-6) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "joint \"%s\": its quaternion q[%d..%d] has length %s; it must be 1, see kk_normalize",
                             joint, (int)node->q_index, (int)node->q_index + 3, KKI_NUMBER(length));
    }
    return KK_OK;
}

/// Whether all is surely as it should be; if not, and which of them is not, the others ask. Squares of lengths do, and nodes themselves are not looked at: there may
/// be thousands.
static int is_good(const kk_model *m, const double *q) {
    int good = kki_are_finite(q, m->nq);
    for (int i = 0; i < m->nbroad; i++) {
        good &= __builtin_fabs(quat_square(load_quat(q + m->angle_index[m->broad[i]])) - 1) <= 1.9e-6;
    }
    return good;
}

kk_status kk_model_check_q(const kk_model *m, const double *q, kk_error *error) {
    if (kki_is_missing(m, q)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_status status = KK_OK;
    if (is_good(m, q)) {
        return status;
    }
    for (int i = 1; i < m->nnode && status == KK_OK; i++) {
        status = check_node(m, i, q, error);
    }
    return status;
}

// ---- random points: coordinate i takes the random number of counter i, so that it does not depend on the others

static double within_limits(const kk_dof_def *dof, double half_range, double uniform) {
    const int has_lower = __builtin_isfinite(dof->lower), has_upper = __builtin_isfinite(dof->upper);
    const double lower = has_lower ? dof->lower : has_upper ? dof->upper - 2 * half_range : -half_range;
    const double upper = has_upper ? dof->upper : lower + 2 * half_range;
    const double x = lower + (upper - lower) * uniform;
    // rounding may step over the end
    return x > upper ? upper : x;
}

/// Uniform over all rotations (K. Shoemake, Graphics Gems III, 1992). @param u  [3] uniform in [0, 1)
static kk_quat random_quat(const double u[3]) {
    const double a = kk_sqrt(1 - u[0]), b = kk_sqrt(u[0]);
    double sine1, cosine1, sine2, cosine2;
    kk_sincos(KK_TWO_PI * u[1], &sine1, &cosine1);
    kk_sincos(KK_TWO_PI * u[2], &sine2, &cosine2);
    return kk_quat_normalize((kk_quat){b * cosine2, a * sine1, a * cosine1, b * sine2});
}

static void random_node(const kk_model *m, const kki_node *node, uint64_t seed, uint64_t stream, double *q) {
    double u[7] = {0};
    for (int k = 0; k < kki_node_type_nq((kki_node_type)node->type); k++) {
        u[k] = kk_random_uniform_at(seed, stream, (uint64_t)node->q_index + (uint64_t)k);
    }
    const kk_dof_def *dof = &m->dof[node->v_index];
    double *out = q + node->q_index;
    if (!has_quaternion(node)) {
        out[0] = within_limits(dof, node->type == KKI_NODE_SLIDE ? 1 : KK_PI, u[0]);
        return;
    }
    kk_quat turn = random_quat(u);
    if (node->type == KKI_NODE_BALL && dof->upper < KK_PI) {
        turn = kk_quat_exp(kk_vec3_scale(kk_quat_log(turn), dof->upper / KK_PI));
    }
    store_quat(out, turn);
    for (int k = 4; k < kki_node_type_nq((kki_node_type)node->type); k++) {
        out[k] = within_limits(dof + k - 1, 1, u[k]);
    }
}

void kk_model_random_q(const kk_model *m, uint64_t seed, uint64_t stream, double *q) {
    for (int i = 1; i < m->nnode; i++) {
        random_node(m, &m->node[i], seed, stream, q);
    }
}
