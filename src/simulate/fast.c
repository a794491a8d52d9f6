/// Bodies so fast that they could pass through each other within a step.
///
/// Detection looks at the step's middle. That is enough as long as nothing moves further than it is thick; a pair that does is
/// followed along its motion (collision/impact.h), and where it would meet, the step is taken in parts: up to just before
/// the meeting, then in parts so short that the contact is seen, until nothing fast approaches any more. No speed is lost before
/// the impact, and nothing is frozen.
#include "collision/impact.h"
#include "geometry/convex.h"
#include "simulate/simulator.h"

/// Thickness of what has none, m.
static const double SHEET = 1e-3;

/// Radius of a ball that fits into the shape.
static double inner_radius(const kki_shape *s) {
    const double *h = s->half;
    switch (s->type) {
    case KK_SHAPE_PLANE: return __builtin_inf();
    case KK_SHAPE_SPHERE:
    case KK_SHAPE_CAPSULE: return h[0] + s->margin;
    case KK_SHAPE_CYLINDER: return (h[0] < h[1] ? h[0] : h[1]) + s->margin;
    case KK_SHAPE_CONE: return 0.4 * (h[0] < h[1] ? h[0] : h[1]) + s->margin;
    case KK_SHAPE_ELLIPSOID:
    case KK_SHAPE_BOX: {
        const double least = h[0] < h[1] ? h[0] : h[1];
        return (least < h[2] ? least : h[2]) + s->margin;
    }
    case KK_SHAPE_HULL: return s->convex->inner + s->margin;
    default: return SHEET + s->margin;
    }
}

/// What a pair may move against each other before detection could miss it. Nothing gets behind a plane.
static double thickness(const kk_model *m, int a, int b) {
    const double x = inner_radius(&m->shape[a].shape), y = inner_radius(&m->shape[b].shape);
    return x == __builtin_inf() || y == __builtin_inf() ? __builtin_inf() : x < y ? x : y;
}

/// Speed at which turning alone moves the surface.
static double turning(const kk_simulator *s, const kki_moving *x, int shape) {
    return kk_vec3_norm(x->velocity.angular) * s->ball[4 * (size_t)shape + 3];
}

/// The shape's motion through the step, from its pose and velocity in the middle.
static kki_moving motion_of(const kk_model *m, const kk_simulator *s, int shape) {
    const int node = m->shape[shape].node;
    const kki_rates *V = kki_rates_of(s->data, node);
    const kk_vec3 w = kki_vec3(V->w), arm = kk_vec3_sub(s->X_WS[shape].p, kki_vec3(kki_pose_of(s->data, node)->p));
    const kk_motion none = {{0, 0, 0}, {0, 0, 0}};
    kki_moving x = {&m->shape[shape].shape, s->X_WS[shape],
                    node ? kk_motion_make(w, kk_vec3_add(kki_vec3(V->u), kk_vec3_cross(w, arm))) : none};
    x.X_WS = kki_moving_pose(&x, -0.5 * s->h);
    return x;
}

static kk_vec3 velocity_at(const kki_moving *x, double time, kk_vec3 point) {
    const kk_transform X = kki_moving_pose(x, time);
    return kk_vec3_add(x->velocity.linear, kk_vec3_cross(x->velocity.angular, kk_vec3_sub(point, X.p)));
}

/// Speed at which two bodies approach where they meet.
static double approach(const kki_moving *a, const kki_moving *b, const kki_impact *hit) {
    const kk_vec3 u = velocity_at(a, hit->time, hit->at.on_a), v = velocity_at(b, hit->time, hit->at.on_b);
    return -kk_vec3_dot(hit->at.normal, kk_vec3_sub(v, u));
}

/// When a pair meets fast, from the step's start; −1: it does not. *instant: how long it takes to cross what may be missed.
static double meeting_of(const kk_model *m, const kk_simulator *s, const kki_near_pair *p, double *instant) {
    const double thick = thickness(m, p->first, p->second), target = 0.2 * thick;
    const double way = 2 * (s->reach[p->first] + s->reach[p->second]);
    if (!(way > 0.5 * thick)) {
        return -1;
    }
    const kki_moving a = motion_of(m, s, p->first), b = motion_of(m, s, p->second);
    kki_impact hit;
    if (!kki_impact_find(&a, &b, s->h, target, &hit) || hit.kind == KKI_IMPACT_NONE) {
        return -1;
    }
    // what comes from afar is met whatever its speed; what touches already matters if it can get on through
    const double turn = turning(s, &a, p->first) + turning(s, &b, p->second), near = approach(&a, &b, &hit);
    const double speed = near > turn ? near : turn;
    *instant = speed > 0 ? 2 * target / speed : s->h;
    return hit.time > *instant || speed * s->h > 0.25 * thick ? hit.time : -1;
}

void kki_first_meeting(const kk_model *model, kk_simulator *s, int count) {
    s->meeting = -1;
    for (int i = 0; i < count; i++) {
        double instant = 0;
        const double time = meeting_of(model, s, &s->near.list[i], &instant);
        if (time >= 0 && (s->meeting < 0 || time < s->meeting)) {
            s->meeting = time;
            s->instant = instant;
            s->meeting_shape[0] = s->near.list[i].first;
            s->meeting_shape[1] = s->near.list[i].second;
        }
    }
}
