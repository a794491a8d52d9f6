// Conservative advancement for convex bodies that translate and rotate, with a bound of second order.
//
// At a time t with normal n let s = sep(n) − target > 0. The direction may turn with an angular velocity φ of our choice:
// that of A or B, whose face it may belong to, or none. Seen from a body that turns by ω it turns by φ − ω = −ψ:
// n(τ) = n − τ ψ × n + r, |r| ≤ c τ² / 2. The support function h is convex and its slope is at most the body's
// radius ρ about its origin, so for 0 ≤ τ ≤ τ1
//     h(n(τ)) ≤ (1 − τ/τ1) h(n) + (τ/τ1) h(n − τ1 ψ × n) + ρ c τ² / 2,
// and the origins, p apart and moving by v, add (n + τ φ × n + r) · (p + τ v). So sep is bounded below by a parabola
// through s whose slope is that of the supporting points themselves as τ1 becomes small. The first zero of the parabola is
// a time up to which nothing touches: a proof. Steps are repeated with the new normal; they converge like Newton's.
// (Mirtich 1996 has the bound of first order, in which the slope is that of the farthest point of the body.)
#include "collision/gjk.h"
#include "collision/impact.h"

kk_transform kki_moving_pose(const kki_moving *body, double time) {
    const kk_quat turn = kk_quat_exp(kk_vec3_scale(body->velocity.angular, time));
    return kk_transform_make(kk_mat3_mul(kk_quat_to_mat3(turn), body->X_WS.R),
                             kk_vec3_add(body->X_WS.p, kk_vec3_scale(body->velocity.linear, time)));
}

// One body at a time: what its support function needs.
typedef struct turning {
    kki_core core;
    kk_mat3 R;
    kk_vec3 omega;
    double extent; // ρ
    int is_plane;
} turning;

typedef struct advance {
    turning a, b;
    kk_vec3 n, p, v; // p, v: from A's origin to B's, and its rate
    kk_vec3 phi;     // the direction's own angular velocity
    double gap;      // s
} advance;

// Support function of a core about its origin along a world direction; a plane is never asked but along its normal.
static double support(const turning *t, kk_vec3 d) {
    if (t->is_plane) {
        return 0;
    }
    int id = -1;
    const kk_vec3 d_S = kk_mat3_tmul_vec(t->R, d);
    return kk_vec3_dot(d_S, kki_core_support(&t->core, d_S, &id));
}

static turning turning_of(const kki_moving *body) {
    turning t = {.omega = body->velocity.angular, .is_plane = body->shape->type == KK_SHAPE_PLANE};
    if (!t.is_plane) {
        t.core = kki_core_of(body->shape);
        t.extent = t.core.extent;
    }
    return t;
}

// The direction after τ, to first order, as a body sees it that turns.
static kk_vec3 seen_after(const advance *v, const turning *t, double tau) {
    return kk_vec3_add(v->n, kk_vec3_scale(kk_vec3_cross(kk_vec3_sub(v->phi, t->omega), v->n), tau));
}

static double supports_after(const advance *v, double tau) {
    return support(&v->a, seen_after(v, &v->a, tau)) + support(&v->b, kk_vec3_neg(seen_after(v, &v->b, tau)));
}

static double bend_of(kk_vec3 psi, kk_vec3 n) {
    return kk_vec3_norm(psi) * kk_vec3_norm(kk_vec3_cross(psi, n));
}

// Bound of the second derivative of the direction as a body sees it, exp(−ω τ) exp(φ τ) n: turns about different axes
// do not commute, so it is ω × (ψ × m) + ψ × (φ × m) up to turns, with m = exp(φ τ) n.
static double seen_bend(const advance *v, const turning *t) {
    const kk_vec3 psi = kk_vec3_sub(t->omega, v->phi);
    const double own = kk_vec3_norm(kk_vec3_cross(v->phi, v->n));
    return kk_vec3_dot(v->phi, v->phi) > 0 ? kk_vec3_norm(psi) * (kk_vec3_norm(t->omega) + own) : bend_of(psi, v->n);
}

static double bend(const advance *v, double tau1) {
    const double sideways = kk_vec3_dot(kk_vec3_cross(v->phi, v->n), v->v);
    return v->a.extent * seen_bend(v, &v->a) + v->b.extent * seen_bend(v, &v->b) + (sideways < 0 ? -2 * sideways : 0) +
           bend_of(v->phi, v->n) * (kk_vec3_norm(v->p) + tau1 * kk_vec3_norm(v->v));
}

// The first zero in [0, τ1] of gap + m τ − k τ² / 2, or τ1.
static double first_zero(const advance *v, double h0, double tau1) {
    const double speed = kk_vec3_dot(v->n, v->v) + kk_vec3_dot(kk_vec3_cross(v->phi, v->n), v->p);
    const double m = speed - (supports_after(v, tau1) - h0) / tau1, k = bend(v, tau1);
    if (v->gap + m * tau1 - k * tau1 * tau1 / 2 > 0) {
        return tau1;
    }
    const double root = kk_sqrt(m * m + 2 * k * v->gap);
    const double tau = m < 0 ? 2 * v->gap / (root - m) : (m + root) / k;
    return tau < tau1 ? tau : tau1;
}

// The best of a few parabolas, each a proof; the first reaches over all that is left.
static double step_with(const advance *v, double left, double best) {
    const double h0 = supports_after(v, 0);
    double tau1 = left;
    for (int i = 0; i < 8; i++) {
        const double tau = first_zero(v, h0, tau1);
        best = tau > best ? tau : best;
        if (!(tau < tau1) && tau1 >= left) {
            break;
        }
        if (i > 0 && tau < 0.5 * tau1) {
            break;
        }
        tau1 = 3 * best < left ? 3 * best : left;
    }
    return best;
}

static int turns(const turning *t) {
    return !t->is_plane && kk_vec3_dot(t->omega, t->omega) > 0 && t->extent > 0;
}

static double safe_step(advance *v, double left) {
    v->phi = kk_vec3_make(0, 0, 0);
    double best = step_with(v, left, 0);
    if (best < left && turns(&v->a) && !v->b.is_plane) {
        v->phi = v->a.omega;
        best = step_with(v, left, best);
    }
    if (best < left && turns(&v->b) && !v->a.is_plane) {
        v->phi = v->b.omega;
        best = step_with(v, left, best);
    }
    return best;
}

static int is_allowed(const kki_moving *a) {
    const kk_vec3 w = a->velocity.angular;
    return a->shape->type != KK_SHAPE_PLANE || (w.x == 0 && w.y == 0 && w.z == 0);
}

int kki_impact_convex(const kki_moving *a, const kki_moving *b, double duration, double target, kki_impact *impact) {
    kki_pair_memory memory = {0};
    advance v = {.a = turning_of(a), .b = turning_of(b)};
    const double size = v.a.extent + v.b.extent + v.a.core.radius + v.b.core.radius;
    v.v = kk_vec3_sub(b->velocity.linear, a->velocity.linear);
    impact->time = 0;
    impact->kind = KKI_IMPACT_UNSURE;
    for (impact->iterations = 1; impact->iterations <= KKI_IMPACT_ITERATIONS; impact->iterations++) {
        const kk_transform X_WA = kki_moving_pose(a, impact->time), X_WB = kki_moving_pose(b, impact->time);
        if (!is_allowed(a) || !is_allowed(b) || !kki_distance(a->shape, &X_WA, b->shape, &X_WB, &memory, &impact->at)) {
            return 0;
        }
        v.gap = impact->at.distance - target;
        if (v.gap <= 1e-11 * (size + target)) {
            impact->kind = KKI_IMPACT_HIT;
            return 1;
        }
        if (impact->time >= duration) {
            impact->kind = KKI_IMPACT_NONE;
            return 1;
        }
        v.n = impact->at.normal;
        v.a.R = X_WA.R, v.b.R = X_WB.R;
        v.p = kk_vec3_sub(X_WB.p, X_WA.p);
        const double left = duration - impact->time, step = safe_step(&v, left);
        impact->time = step < left ? impact->time + step : duration;
    }
    return 1;
}
