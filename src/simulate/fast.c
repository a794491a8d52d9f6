/// Bodies so fast that they could pass through each other within a step.
///
/// Detection looks at the step's middle. That is enough where no pair can have passed through by then, and what overlaps there does so by less than
/// a quarter of its thickness: its normal is then that of the side it came from. A pair that moves further than it is thick, or overlaps deeper,
/// is followed along its motion (collision/impact.h), and where it would meet, the step is taken in parts: up to just before the meeting, then in
/// parts so short that the contact is seen, until nothing fast approaches any more. No speed is lost before the impact, and nothing is frozen.
#include "collision/distance.h"
#include "collision/impact.h"
#include "geometry/convex.h"
#include "simulate/simulator.h"

/// Thickness of what has none, m.
static const double SHEET = 1e-3;

double kki_inner_radius(const kki_shape *s) {
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

static int is_sheet(const kki_shape *s) {
    return s->type == KK_SHAPE_MESH || s->type == KK_SHAPE_HEIGHT_FIELD;
}

/// What a pair may move against each other before detection could miss it. Nothing gets behind a plane; a triangle pushes to
/// the side on which a body's middle is, so of a body and a mesh the body's thickness counts.
double kki_thickness(const kk_model *m, int a, int b) {
    const kki_shape *s = &m->shape[a].shape, *t = &m->shape[b].shape;
    if (s->type == KK_SHAPE_PLANE || t->type == KK_SHAPE_PLANE) {
        return __builtin_inf();
    }
    const double x = kki_inner_radius(s), y = kki_inner_radius(t);
    if (is_sheet(s) != is_sheet(t)) {
        return is_sheet(s) ? y : x;
    }
    return x < y ? x : y;
}

/// Speed at which turning alone moves the surface.
static double turning(const kk_simulator *s, const kki_moving *x, int shape) {
    return kk_vec3_norm(x->velocity.angular) * s->shapes.sphere[4 * (size_t)shape + 3];
}

/// The shape's motion through the step, from its pose and velocity in the middle.
static kki_moving motion_of(const kk_model *m, const kk_simulator *s, int shape) {
    const int node = m->shape[shape].node;
    const kki_rates *V = kki_rates_of(s->data, node);
    const kk_vec3 w = kki_vec3(V->w),
                  arm = kk_vec3_sub(s->shapes.X_WS[shape].p, kki_vec3(kki_pose_of(s->data, node)->p));
    const kk_motion none = {{0, 0, 0}, {0, 0, 0}};
    kki_moving x = {&m->shape[shape].shape, s->shapes.X_WS[shape],
                    node ? kk_motion_make(w, kk_vec3_add(kki_vec3(V->u), kk_vec3_cross(w, arm))) : none};
    x.X_WS = kki_moving_pose(&x, -0.5 * s->h);
    return x;
}

static kk_vec3 velocity_at(const kki_moving *x, double time, kk_vec3 point) {
    const kk_transform X = kki_moving_pose(x, time);
    return kk_vec3_add(x->velocity.linear, kk_vec3_cross(x->velocity.angular, kk_vec3_sub(point, X.p)));
}

/// Speed at which two bodies approach where they meet; all of their speed where a graze counts.
static double approach(const kki_moving *a, const kki_moving *b, const kki_impact *hit, int grazes) {
    const kk_vec3 u = velocity_at(a, hit->time, hit->at.on_a), v = velocity_at(b, hit->time, hit->at.on_b);
    const kk_vec3 w = kk_vec3_sub(v, u);
    const double near = -kk_vec3_dot(hit->at.normal, w);
    return grazes && near > 0 ? kk_vec3_norm(w) : near;
}

/// For how long a shape's path may be taken as straight: its origin goes round the center of a lone body, or its joint, and leaves the
/// tangent by ω² r t²/2.
static double straight_for(const kk_model *m, const kk_simulator *s, int shape, double slack) {
    const int node = m->shape[shape].node;
    const kk_vec3 w = kki_vec3(kki_rates_of(s->data, node)->w);
    const kki_node *n = &m->node[node];
    const kki_pose *pose = kki_pose_of(s->data, node);
    const double im = n->is_leaf && n->mass > 0 && n->type == KKI_NODE_FREE ? 1 / n->mass : 0;
    const kk_vec3 h = kk_mat3_mul_vec(kki_mat3(pose->R), kki_vec3(n->h));
    const kk_vec3 center = kk_vec3_add(kki_vec3(pose->p), kk_vec3_scale(h, im));
    const double arm = kk_vec3_norm(kk_vec3_sub(s->shapes.X_WS[shape].p, center));
    const double pull = kk_vec3_dot(w, w) * arm;
    return node && pull * s->h * s->h > 2 * slack ? kk_sqrt(2 * slack / pull) : s->h;
}

static double both_straight_for(const kk_model *m, const kk_simulator *s, int a, int b, double target) {
    const double x = straight_for(m, s, a, 0.5 * target), y = straight_for(m, s, b, 0.5 * target);
    return x < y ? x : y;
}

/// How near each other a fast pair has met.
static double target_of(double thick) {
    return 0.2 * thick;
}

static kk_vec3 velocity_of_node_at(const kk_simulator *s, int node, kk_vec3 point) {
    const kki_rates *V = kki_rates_of(s->data, node);
    const kk_vec3 arm = kk_vec3_sub(point, kki_vec3(kki_pose_of(s->data, node)->p));
    return node ? kk_vec3_add(kki_vec3(V->u), kk_vec3_cross(kki_vec3(V->w), arm)) : (kk_vec3){0, 0, 0};
}

/// A shape's motion as seen from another shape's body.
typedef struct relative_motion {
    kk_vec3 v, w;  ///< of the center of its ball
    double radius; ///< of the ball
} relative_motion;

static relative_motion motion_against(const kk_model *m, const kk_simulator *s, int shape, int other) {
    const double *ball = s->shapes.sphere + 4 * (size_t)shape;
    const kk_vec3 center = {ball[0], ball[1], ball[2]}, zero = {0, 0, 0};
    const int a = m->shape[shape].node, b = m->shape[other].node;
    const kk_vec3 w = a ? kki_vec3(kki_rates_of(s->data, a)->w) : zero;
    const kk_vec3 w_other = b ? kki_vec3(kki_rates_of(s->data, b)->w) : zero;
    const kk_vec3 v = kk_vec3_sub(velocity_of_node_at(s, a, center), velocity_of_node_at(s, b, center));
    return (relative_motion){v, kk_vec3_sub(w, w_other), ball[3]};
}

/// How far any point of a shape gets in half a step as seen from another shape's body: links of an arm that is flung about move fast, and hardly against
/// each other.
static double relative_reach(const kk_model *m, const kk_simulator *s, int shape, int other) {
    const relative_motion x = motion_against(m, s, shape, other);
    return 0.5 * s->h * (kk_vec3_norm(x.v) + kk_vec3_norm(x.w) * x.radius);
}

/// The same along a unit vector.
static double relative_reach_along(const kk_model *m, const kk_simulator *s, int shape, int other, kk_vec3 n) {
    const relative_motion x = motion_against(m, s, shape, other);
    return 0.5 * s->h * (__builtin_fabs(kk_vec3_dot(x.v, n)) + kk_vec3_norm(kk_vec3_cross(x.w, n)) * x.radius);
}

/// Whether two shapes move against each other by more than `most` in half a step.
static int moves_further(const kk_model *m, const kk_simulator *s, int a, int b, double most) {
    return s->shapes.reach[a] + s->shapes.reach[b] > most && relative_reach(m, s, a, b) > most &&
           relative_reach(m, s, b, a) > most;
}

static int is_fast(const kk_model *m, const kk_simulator *s, int a, int b, double thick) {
    return moves_further(m, s, a, b, 0.25 * thick);
}

/// More than this in half a step, rad, and a turn is no straight path.
static const double SMALL_TURN = 0.25;

/// Whether two convex shapes cannot have passed each other by the middle: for that one of them must get through the other along the normal that separates
/// them there. What slides or spins on something thin moves far, and not along the normal. What bounces must not even have grazed the other.
static int is_on_its_side(const kk_model *m, const kk_simulator *s, int a, int b, double thick, int bounces) {
    const kki_shape *x = &m->shape[a].shape, *y = &m->shape[b].shape;
    kki_separation at;
    if (is_sheet(x) || is_sheet(y) || 0.5 * s->h * kk_vec3_norm(motion_against(m, s, a, b).w) > SMALL_TURN ||
        !kki_distance(x, &s->shapes.X_WS[a], y, &s->shapes.X_WS[b], NULL, &at)) {
        return 0;
    }
    const double most = bounces ? at.distance : thick;
    return relative_reach_along(m, s, a, b, at.normal) <= most || relative_reach_along(m, s, b, a, at.normal) <= most;
}

static int does_bounce(const kk_model *m, int law) {
    return m->law[law].restitution > 0;
}

/// Whether a pair may have passed through the thinner one by the middle: what is seen there says nothing about what was met on the way.
static int may_pass_through(const kk_model *m, const kk_simulator *s, int a, int b, double thick, int bounces) {
    return moves_further(m, s, a, b, bounces ? 0.25 * thick : thick) && !is_on_its_side(m, s, a, b, thick, bounces);
}

/// How far a shape may get from where it is in the middle, as motion_of has it: it turns about its origin, not about its ball's center.
static double way_of(const kk_simulator *s, int shape) {
    const kk_vec3 w = kki_vec3(kki_rates_of(s->data, s->near.owner[shape].node)->w);
    const double off = kk_vec3_norm(s->near.outline[shape].center);
    return s->shapes.reach[shape] + (off > 0 && s->near.owner[shape].node ? s->h * kk_vec3_norm(w) * off : 0);
}

int kki_passes_by(const kk_model *m, const kk_simulator *s, int a, int b, double apart) {
    const double thick = kki_thickness(m, a, b), target = target_of(thick);
    if (!is_fast(m, s, a, b, thick)) {
        return 1; // nobody follows it
    }
    return apart > way_of(s, a) + way_of(s, b) + 1.01 * target && !(both_straight_for(m, s, a, b, target) < s->h);
}

/// How far a link, all of it within a radius, may reach in half a step and still leave the path of a shape as straight as it must be: it turns by |ω| h ≤ 2 reach / radius. 0 where
/// the shape's origin is not the center of its ball.
static double straight_up_to(const kk_model *m, int shape, double radius, double target) {
    const kki_model_shape *x = &m->shape[shape];
    const kki_node *n = &m->node[x->node];
    const double im = n->is_leaf && n->mass > 0 && n->type == KKI_NODE_FREE ? 1 / n->mass : 0;
    const double arm = kk_vec3_norm(kk_vec3_sub(x->X_NS.p, kk_vec3_scale(kki_vec3(n->h), im)));
    const kk_vec3 off = kk_vec3_add(x->box.lower, x->box.upper);
    if (!(kk_vec3_norm(off) == 0)) {
        return 0;
    }
    return x->node ? 0.49 * radius * kk_sqrt(target / (arm + 1e-9 * radius)) : __builtin_inf();
}

double kki_passing_gap(const kk_model *m, int a, int b, const double radius[2], double *reach) {
    const double target = target_of(kki_thickness(m, a, b));
    const double x = straight_up_to(m, a, radius[0], target), y = straight_up_to(m, b, radius[1], target);
    *reach = x < y ? x : y;
    return 1.02 * target;
}

int kki_is_central_ball(const kk_model *m, int shape) {
    const kki_model_shape *x = &m->shape[shape];
    const kki_node *n = &m->node[x->node];
    const int is_central =
        x->X_NS.p.x == 0 && x->X_NS.p.y == 0 && x->X_NS.p.z == 0 && n->h[0] == 0 && n->h[1] == 0 && n->h[2] == 0;
    return x->shape.type == KK_SHAPE_SPHERE && (x->node == 0 || (is_central && kki_is_lone(m, x->node)));
}

/// Whether two balls that move on straight lines, their bodies turning about their centers, stay more than `target` apart all the step.
static int balls_pass(const kk_model *m, const kk_simulator *s, const int shape[2], double target) {
    kk_vec3 d = {0, 0, 0}, v = {0, 0, 0};
    double radii = 0;
    for (int i = 0; i < 2; i++) {
        const kki_model_shape *x = &m->shape[shape[i]];
        if (!kki_is_central_ball(m, shape[i])) {
            return 0;
        }
        const double sign = i ? 1 : -1;
        d = kk_vec3_add(d, kk_vec3_scale(s->shapes.X_WS[shape[i]].p, sign));
        v = x->node ? kk_vec3_add(v, kk_vec3_scale(kki_vec3(kki_rates_of(s->data, x->node)->u), sign)) : v;
        radii += x->shape.half[0] + x->shape.margin;
    }
    // nearest at t = −d·v/v², seen from the step's middle
    const double vv = kk_vec3_dot(v, v), dv = kk_vec3_dot(d, v), half = 0.5 * s->h;
    const double at = vv > 0 ? -dv / vv : 0, t = at < -half ? -half : at > half ? half : at;
    const kk_vec3 least = kk_vec3_add(d, kk_vec3_scale(v, t));
    const double apart = radii + 1.01 * target;
    return kk_vec3_dot(least, least) > apart * apart;
}

/// When a pair meets fast, from the step's start; −1: it does not. *instant: how long it takes to cross what may be missed.
static double meeting_of(const kk_model *m, const kk_simulator *s, const int shape[2], int bounces, double *instant) {
    const double thick = kki_thickness(m, shape[0], shape[1]), target = target_of(thick);
    if (balls_pass(m, s, shape, target)) {
        return -1;
    }
    const kki_moving a = motion_of(m, s, shape[0]), b = motion_of(m, s, shape[1]);
    const double straight = both_straight_for(m, s, shape[0], shape[1], target);
    kki_impact hit;
    if (!kki_impact_find(&a, &b, straight, target, &hit) || hit.kind == KKI_IMPACT_NONE) {
        *instant = straight;
        return straight < s->h ? straight : -1;
    }
    // what comes from afar is met whatever its speed; what touches already matters if it can get on through
    const double turn = turning(s, &a, shape[0]) + turning(s, &b, shape[1]), near = approach(&a, &b, &hit, bounces);
    const double speed = near > turn ? near : turn;
    *instant = speed > 0 ? 2 * target / speed : s->h;
    return hit.time > *instant || speed * s->h > 0.25 * thick ? hit.time : -1;
}

/// Whether a near pair is known to be slow without a look at its shapes, as nearly all are.
static int is_calm(const kk_simulator *s, int i) {
    const kki_near *n = &s->near;
    const kki_near_pair *p = &n->list[i];
    return n->outline[p->first].is_plane ||
           (!n->broad && s->shapes.reach[p->first] + s->shapes.reach[p->second] <= n->known[n->found[i]].calm);
}

/// Where the pair meets before all others, its meeting is the step's.
static void follow(const kk_model *m, kk_simulator *s, const int shape[2], int bounces) {
    double instant = 0;
    const double time = meeting_of(m, s, shape, bounces, &instant), part = time > instant ? time : instant;
    if (time >= 0 &&
        part < s->fast.meeting) { // one that touches and takes its time must not hide another that comes before that
        s->fast.meeting = part;
        s->fast.meeting_shape[0] = shape[0];
        s->fast.meeting_shape[1] = shape[1];
    }
}

/// What is seen in the whole step needs no part of it.
static void end_search(kk_simulator *s) {
    s->fast.meeting = s->fast.meeting == s->h ? -1 : s->fast.meeting;
}

void kki_first_meeting(const kk_model *model, kk_simulator *s, int count) {
    s->fast.meeting = s->h;
    s->fast.nmeeting = 0;
    for (int i = 0; i < count; i++) {
        const int shape[2] = {s->near.list[i].first, s->near.list[i].second};
        const int bounces = does_bounce(model, s->near.list[i].law);
        if (!is_calm(s, i) &&
            may_pass_through(model, s, shape[0], shape[1], kki_thickness(model, shape[0], shape[1]), bounces)) {
            follow(model, s, shape, bounces);
        }
    }
    end_search(s);
}

/// Deepest overlap of a pair in the step's middle.
static double overlap_of(const kk_simulator *s, const kki_touching *t) {
    double least = 0;
    for (int i = t->contact; i < t->contact + t->count; i++) {
        least = s->contacts.list[i].gap < least ? s->contacts.list[i].gap : least;
    }
    return -least;
}

void kki_first_deep_meeting(const kk_model *model, kk_simulator *s) {
    s->fast.meeting = s->h;
    for (int i = 0; i < s->contacts.ntouching; i++) {
        const kki_touching *t = &s->contacts.touching[i];
        const int shape[2] = {t->first, t->second};
        const double thick = kki_thickness(model, shape[0], shape[1]);
        const int bounces = does_bounce(model, t->law);
        if (is_fast(model, s, shape[0], shape[1], thick) &&
            !may_pass_through(model, s, shape[0], shape[1], thick, bounces) && overlap_of(s, t) > 0.25 * thick) {
            follow(model, s, shape, bounces);
        }
    }
    end_search(s);
}

/// When a fast pair meets in this step; −1: it does not.
static double time_of_impact(const kk_model *m, const kk_simulator *s, const int shape[2]) {
    const double target = target_of(kki_thickness(m, shape[0], shape[1]));
    const kki_moving a = motion_of(m, s, shape[0]), b = motion_of(m, s, shape[1]);
    kki_impact hit;
    const int meets = !balls_pass(m, s, shape, target) && kki_impact_find(&a, &b, s->h, target, &hit);
    return meets && hit.kind == KKI_IMPACT_HIT ? hit.time : -1;
}

void kki_strike(const kk_model *model, kk_simulator *s, int count) {
    int unseen = 0;
    for (int i = 0; i < count; i++) {
        const int shape[2] = {s->near.list[i].first, s->near.list[i].second};
        const double thick = kki_thickness(model, shape[0], shape[1]);
        if (is_calm(s, i) || !is_fast(model, s, shape[0], shape[1], thick)) {
            continue;
        }
        if (s->fast.nstruck ==
            s->contacts.max_touching) { // the rest is counted, so that there is room for all when the step is repeated
            unseen++;
            kki_room_ask(s->contacts.max_touching + unseen, s->contacts.max_touching, &s->lacking.room.contacts);
            continue;
        }
        const double time = time_of_impact(model, s, shape);
        s->fast.struck[s->fast.nstruck] = (kki_struck){i, time};
        s->fast.nstruck += time >= 0;
    }
}

const kki_struck *kki_struck_pair(const kk_simulator *s, int first, int second) {
    int low = 0, high = s->fast.nstruck;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        const kki_near_pair *p = &s->near.list[s->fast.struck[middle].pair];
        const int is_before = p->first < first || (p->first == first && p->second < second);
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    const kki_near_pair *p = low < s->fast.nstruck ? &s->near.list[s->fast.struck[low].pair] : NULL;
    return p && p->first == first && p->second == second ? &s->fast.struck[low] : NULL;
}

/// A point of a body that moved to a pose, where it is in the middle of the step.
static kk_vec3 carried_to_middle(const kk_simulator *s, int shape, kk_transform X_WS, kk_vec3 point) {
    return kk_transform_point(s->shapes.X_WS[shape], kk_transform_point(kk_transform_inverse(X_WS), point));
}

int kki_collide_struck(const kk_model *m, const kk_simulator *s, const kki_struck *hit, kki_manifold *manifold) {
    const kki_near_pair *p = &s->near.list[hit->pair];
    const kki_moving a = motion_of(m, s, p->first), b = motion_of(m, s, p->second);
    const kk_transform X_WA = kki_moving_pose(&a, hit->time), X_WB = kki_moving_pose(&b, hit->time);
    const double reach =
        target_of(kki_thickness(m, p->first, p->second)) + 2 * relative_reach(m, s, p->first, p->second);
    kki_pair_memory fresh = {0};
    const int count = kki_collide(a.shape, &X_WA, b.shape, &X_WB, reach, &fresh, manifold, 1);
    for (int i = 0; i < manifold->count && count != 0; i++) {
        kki_contact_point *c = &manifold->point[i];
        const kk_vec3 other = kk_vec3_add(c->position, kk_vec3_scale(manifold->normal, c->gap));
        const kk_vec3 on_b = carried_to_middle(s, p->second, X_WB, other);
        c->position = carried_to_middle(s, p->first, X_WA, c->position);
        c->gap = kk_vec3_dot(manifold->normal, kk_vec3_sub(on_b, c->position));
    }
    return count == 0 ? 0 : 1;
}
