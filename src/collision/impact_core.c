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
// A plane's own normal is the only direction it has, so there φ is the plane's angular velocity.
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
    const kki_core *core;
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
    return kk_vec3_dot(d_S, kki_core_support(t->core, d_S, &id));
}

static turning turning_of(const kki_moving_core *body) {
    return (turning){.core = body->core,
                     .omega = body->velocity.angular,
                     .extent = body->is_plane ? 0 : body->core->extent,
                     .is_plane = body->is_plane};
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

// A plane's supporting points are far away along every direction but its own, which turns with it.
static double safe_step(advance *v, double left) {
    const turning *plane = v->a.is_plane ? &v->a : v->b.is_plane ? &v->b : NULL;
    v->phi = plane ? plane->omega : kk_vec3_make(0, 0, 0);
    double best = step_with(v, left, 0);
    if (best < left && turns(&v->a) && !plane) {
        v->phi = v->a.omega;
        best = step_with(v, left, best);
    }
    if (best < left && turns(&v->b) && !plane) {
        v->phi = v->b.omega;
        best = step_with(v, left, best);
    }
    return best;
}

enum { MANY = 16 }; // steps, as few pairs need

// Where edges meet edges the plane between them turns with neither body, and steps under all three guesses stay short. Any
// turn makes a proof; that of the last step is a good one.
static double step_as_before(advance *v, kk_vec3 last, double time, double left, double best) {
    v->phi = kk_vec3_scale(kk_vec3_cross(last, v->n), 1 / time);
    return step_with(v, left, best);
}

static kk_transform pose_at(const kki_moving_core *body, double time) {
    const kki_moving m = {NULL, body->X_WS, body->velocity};
    return kki_moving_pose(&m, time);
}

// 0 where it is proved to be more than `most`.
static int distance_within(const kki_moving_core *a, const kk_transform *X_WA, const kki_moving_core *b,
                           const kk_transform *X_WB, double most, kki_pair_memory *memory, kki_separation *r) {
    if (a->is_plane) {
        kki_plane_separation(X_WA, a->core->radius, b->core, X_WB, r);
    } else if (b->is_plane) {
        kki_plane_separation(X_WB, b->core->radius, a->core, X_WA, r);
        kki_separation_turn(r);
    } else {
        return kki_core_separation_within(a->core, X_WA, b->core, X_WB, most, memory, r);
    }
    return 1;
}

static void distance_at(const kki_moving_core *a, const kk_transform *X_WA, const kki_moving_core *b,
                        const kk_transform *X_WB, kki_pair_memory *memory, kki_separation *r) {
    (void)distance_within(a, X_WA, b, X_WB, KKI_ANY_DISTANCE, memory, r);
}

// How near two bodies can come in so long a time, however they turn.
static double approach(const advance *v, double duration) {
    const double speed =
        kk_vec3_norm(v->v) + kk_vec3_norm(v->a.omega) * v->a.extent + kk_vec3_norm(v->b.omega) * v->b.extent;
    return speed * duration * (1 + 1e-12);
}

// Where bodies just touch, the search for the depth may end with a poor normal. The last one from outside is another: of
// two separations the larger is nearer to the truth.
static void prefer_last_normal(const kki_moving_core *a, const kk_transform *X_WA, const kki_moving_core *b,
                               const kk_transform *X_WB, kk_vec3 n, kki_separation *r) {
    if (a->is_plane || b->is_plane) {
        return;
    }
    int id = -1, other = -1;
    const kk_vec3 p = kk_transform_point(*X_WA, kki_core_support(a->core, kk_mat3_tmul_vec(X_WA->R, n), &id));
    const kk_vec3 d = kk_vec3_neg(kk_mat3_tmul_vec(X_WB->R, n));
    const kk_vec3 q = kk_transform_point(*X_WB, kki_core_support(b->core, d, &other));
    const double distance = kk_vec3_dot(n, kk_vec3_sub(q, p)) - (a->core->radius + b->core->radius);
    if (distance > r->distance) {
        r->normal = n;
        r->distance = distance;
        r->on_b = kk_vec3_add(r->on_a, kk_vec3_scale(n, distance));
    }
}

// So may a search that starts from the last simplex, which is then a sliver: one from the start has the say.
static void ask_again(const kki_moving_core *a, const kk_transform *X_WA, const kki_moving_core *b,
                      const kk_transform *X_WB, kki_separation *r) {
    kki_separation fresh;
    distance_at(a, X_WA, b, X_WB, NULL, &fresh);
    *r = fresh.distance > r->distance ? fresh : *r;
}

// A step never passes the target: what is less is the poor normal.
static void reach_target(double target, kki_separation *r) {
    if (r->distance < target) {
        r->distance = target;
        r->on_b = kk_vec3_add(r->on_a, kk_vec3_scale(r->normal, target));
    }
}

// A body stays inside the ball about its origin, however it turns.
static kki_moving_core ball_of(const kki_moving_core *body, kki_core *ball) {
    *ball = (kki_core){.type = KKI_CORE_POINT, .radius = body->core->extent + body->core->radius};
    return (kki_moving_core){.core = ball, .X_WS = body->X_WS, .velocity = {{0, 0, 0}, body->velocity.linear}};
}

static int turns_round(const kki_moving_core *body, double duration) {
    return !body->is_plane && kk_vec3_norm(body->velocity.angular) * duration > 1;
}

// Turn by turn a fast one would take for ever: the time up to which such bodies are clear as balls.
static double time_clear_as_balls(const kki_moving_core *a, const kki_moving_core *b, double from, double to,
                                  double target) {
    const int turns_a = turns_round(a, to - from), turns_b = turns_round(b, to - from);
    if (!turns_a && !turns_b) {
        return from;
    }
    kki_core room[2];
    const kki_moving_core ball_a = turns_a ? ball_of(a, &room[0]) : *a, ball_b = turns_b ? ball_of(b, &room[1]) : *b;
    kki_impact r;
    kki_impact_cores(&ball_a, &ball_b, from, to, target, 1, &r); // balls do not turn, so this goes no deeper
    return r.time;
}

void kki_impact_cores(const kki_moving_core *a, const kki_moving_core *b, double from, double to, double target,
                      int is_brief, kki_impact *impact) {
    kki_pair_memory memory = {0};
    advance v = {.a = turning_of(a), .b = turning_of(b)};
    const double size = v.a.extent + v.b.extent + a->core->radius + b->core->radius;
    v.v = kk_vec3_sub(b->velocity.linear, a->velocity.linear);
    double step = 0;
    impact->time = from;
    impact->kind = KKI_IMPACT_UNSURE;
    for (impact->iterations = 1; impact->iterations <= KKI_IMPACT_ITERATIONS; impact->iterations++) {
        const kk_transform X_WA = pose_at(a, impact->time), X_WB = pose_at(b, impact->time);
        const double near = target + 1e-9 * (size + target) + approach(&v, to - impact->time);
        const double most = is_brief ? near : KKI_ANY_DISTANCE;
        if (!distance_within(a, &X_WA, b, &X_WB, most, &memory, &impact->at)) {
            impact->kind = KKI_IMPACT_NONE;
            impact->time = to;
            return;
        }
        if (impact->iterations > 1 && impact->at.distance <= target) {
            ask_again(a, &X_WA, b, &X_WB, &impact->at);
            prefer_last_normal(a, &X_WA, b, &X_WB, v.n, &impact->at);
            reach_target(target, &impact->at);
        }
        v.gap = impact->at.distance - target;
        if (v.gap <= 1e-11 * (size + target)) {
            impact->kind = KKI_IMPACT_HIT;
            return;
        }
        if (impact->time >= to) {
            impact->kind = KKI_IMPACT_NONE;
            return;
        }
        if (impact->iterations == MANY) {
            const double clear = time_clear_as_balls(a, b, impact->time, to, target);
            if (clear > impact->time) {
                impact->time = clear;
                step = 0;
                continue;
            }
        }
        const kk_vec3 last = v.n;
        v.n = impact->at.normal;
        v.a.R = X_WA.R, v.b.R = X_WB.R;
        v.p = kk_vec3_sub(X_WB.p, X_WA.p);
        const double left = to - impact->time, before = step;
        step = safe_step(&v, left);
        if (impact->iterations > MANY && step < left && before > 0 && !a->is_plane && !b->is_plane) {
            step = step_as_before(&v, last, before, left, step);
        }
        impact->time = step < left ? impact->time + step : to;
    }
}
